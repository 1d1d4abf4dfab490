"""Every test with every form of its statistic: the number of the slow twin, or an error that names the forms it has.

Two forms are registered here as a new file of the package would be: a distance in units of its standard error
("welch"), and a rank correlation ("xi"), which has neither kernel nor estimator.
"""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

import naive_change
import naive_given
import naive_tests
from shrinktest import (
    MMKME,
    Batches,
    Ensemble,
    Gaussian,
    Linear,
    change_point_test,
    independence_matrix,
    independence_test,
    k_sample_test,
    symmetry_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.ensembles import Candidate
from shrinktest.joint_independence import JointIndependence
from shrinktest.kernel_spec import KernelSpec
from shrinktest.results.info import INDEPENDENCE, KINDS, TWO_SAMPLE
from shrinktest.run import run
from shrinktest.settings import Settings
from shrinktest.statistics.statistic import Form, Prepared

# --- two statistics in a file of their own ---------------------------------------------------------------------------


def welch(contrast, inner, excess, pull, terms, norm2):
    """Divide squared distances by what chance adds to them: a Welch t statistic of distances (Alekseyenko 2016)."""
    plain = contrast(inner, np.zeros_like(excess), pull, terms, norm2)
    without = contrast(inner, excess, pull, terms, norm2)
    return plain / (plain[:, 0] - without[:, 0])[:, None]


WELCH = Form(name="welch", combine=welch, excess=True, symmetric=True)


def rank_correlation(hypothesis, workers):
    """Prepare the rank correlation of Chatterjee (2021) of two columns without ties, for every pairing."""
    x, y = (variable.points[:, 0] for variable in hypothesis.variables)
    order, ranks = np.argsort(x), np.argsort(np.argsort(y)) + 1.0

    def statistic(pairings):
        steps = np.abs(np.diff(ranks[pairings][:, order], axis=1)).sum(axis=1)
        xi = 1.0 - 3.0 * steps / (len(x) ** 2 - 1.0)
        return np.stack([xi, np.ones(len(xi))], axis=1)

    return Prepared(statistic)


XI = Form(name="xi", prepare=rank_correlation)


def mean_difference(hypothesis, workers):
    """Prepare the difference of two means, which exchanging the samples changes."""
    values = hypothesis.pooled[:, 0]

    def statistic(labels):
        means = [(values * (labels == p)).sum(axis=1) / hypothesis.sizes[p] for p in (0, 1)]
        return np.stack([means[0] - means[1], np.ones(len(labels))], axis=1)

    return Prepared(statistic)


DIFFERENCE = Form(name="difference", prepare=mean_difference)
PRODUCT = Form(name="product", combine=lambda *parts: None)


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(TWO_SAMPLE.statistics, "welch", f"{__name__}:WELCH")
    monkeypatch.setitem(INDEPENDENCE.statistics, "xi", f"{__name__}:XI")


# --- slow twins ------------------------------------------------------------------------------------------------------


def gaussian(points):
    return naive_given.gaussian(np.asarray(points, dtype=float), 1.0)


def samples(form, *parts, gram=gaussian, comparison="pairs"):
    """The statistic of samples by the sums of `naive_tests`."""
    K, ends = gram(np.vstack(parts)), np.cumsum([0, *map(len, parts)])
    members = [list(range(*ends[i : i + 2])) for i in range(len(parts))]

    def plain(K):
        return np.full(len(K), 1.0 / len(K))

    biased = naive_tests.dispersion(K, members, plain, comparison)
    if form == "biased":
        return biased
    unbiased = naive_tests.dispersion(K, members, plain, comparison, unbiased=True)
    return unbiased if form == "unbiased" else biased / (biased - unbiased)


def chatterjee(x, y):
    """1 - 3 sum |r_(i+1) - r_i| / (n^2 - 1), with the ranks of y in the order of x."""
    ranks = [sum(other <= value for other in y) for _, value in sorted(zip(x, y, strict=True))]
    steps = sum(abs(after - before) for before, after in itertools.pairwise(ranks))
    return 1.0 - 3.0 * steps / (len(x) ** 2 - 1)


def pairs(form, x, y, gram=gaussian):
    if form == "xi":
        return chatterjee(x[:, 0].tolist(), y[:, 0].tolist())
    twin = naive_tests.hsic_biased if form == "biased" else naive_tests.hsic_unbiased
    return twin(gram(x), gram(y))


def linear(points):
    return points @ points.T


RNG = np.random.default_rng(3)
X, Y, THIRD = RNG.normal(size=(8, 2)), RNG.normal(0.5, 1.3, size=(6, 2)), RNG.normal(size=(5, 2))
U, V = RNG.normal(size=(2, 10, 1))
LONG = RNG.normal(size=(2, 64, 1))
SITE, STRATA = np.array(list("aabbaabb")), np.array(list("ababab"))
CODES = np.concatenate([SITE, STRATA])
Z = RNG.normal(size=(10, 2))
OTHERS = RNG.normal(size=(14, 1))
OPTIONS = {"n_resamples": 9, "rng": 0, "alpha": 0.5, "workers": 1}
WIDE = {"bandwidth_x": 1.0, "bandwidth_y": 1.0}


def joint(form):
    specs = [KernelSpec("gaussian", 1.0, f"kernels[{v}]") for v in range(3)]
    settings = Settings.read(form=form, n_resamples=9, alpha=0.5, workers=1, progress=False)
    return run(JointIndependence.read(U, V, Z), "kme", specs, settings, 0)


def drawn(given, rng):
    return rng.normal(size=(10, 1))


OF_SAMPLES = ("biased", "unbiased", "welch")
OF_PAIRS = ("biased", "unbiased", "xi")
SQUARED = ("biased",)

#: Name: the forms that the test has, the test, and its twin from the form and the rows that the kernels compare.
TESTS = {
    "two samples": (
        OF_SAMPLES,
        lambda form: two_sample_test(X, Y, bandwidth=1.0, form=form, **OPTIONS),
        lambda form, rows: samples(form, X, Y),
    ),
    "equal sizes": (
        OF_SAMPLES,
        lambda form: two_sample_test(X[:6], Y, bandwidth=1.0, form=form, gram="factor", **OPTIONS),
        lambda form, rows: samples(form, X[:6], Y),
    ),
    "paired": (
        OF_SAMPLES,
        lambda form: two_sample_test(X[:6], Y, bandwidth=1.0, form=form, paired=True, **OPTIONS),
        lambda form, rows: samples(form, X[:6], Y),
    ),
    "k samples": (
        OF_SAMPLES,
        lambda form: k_sample_test(X, Y, THIRD, bandwidth=1.0, form=form, **OPTIONS),
        lambda form, rows: samples(form, X, Y, THIRD),
    ),
    "pooled": (
        SQUARED,
        lambda form: k_sample_test(
            X, Y, THIRD, bandwidth=1.0, form=form, comparison="pooled", **OPTIONS
        ),
        lambda form, rows: samples(form, X, Y, THIRD, comparison="pooled"),
    ),
    "columns": (
        OF_SAMPLES,
        lambda form: two_sample_test_columns(X, Y, bandwidth=1.0, form=form, **OPTIONS),
        lambda form, rows: [samples(form, X[:, [j]], Y[:, [j]]) for j in (0, 1)],
    ),
    "columns by coordinates": (
        OF_SAMPLES,
        lambda form: two_sample_test_columns(
            X, Y, bandwidth=1.0, form=form, gram="factor", **OPTIONS
        ),
        lambda form, rows: [samples(form, X[:, [j]], Y[:, [j]]) for j in (0, 1)],
    ),
    "symmetry": (
        OF_SAMPLES,
        lambda form: symmetry_test(X, bandwidth=1.0, form=form, **OPTIONS),
        lambda form, rows: samples(form, X, -X),
    ),
    "covariates, strata": (
        OF_SAMPLES,
        lambda form: two_sample_test(
            X, Y, covariates=(SITE, STRATA), bandwidth=1.0, form=form, **OPTIONS
        ),
        lambda form, rows: samples(
            form, *np.split(naive_given.centered(np.vstack([X, Y]), CODES), [8])
        ),
    ),
    "covariates, propensity": (
        OF_SAMPLES,
        lambda form: two_sample_test(
            X,
            Y,
            covariates=(OTHERS[:8], OTHERS[8:]),
            covariate_method="propensity",
            propensity=np.full(14, 0.4),
            bandwidth=1.0,
            form=form,
            **OPTIONS,
        ),
        lambda form, rows: samples(form, *np.split(rows[0], [8])),
    ),
    "covariates, residuals": (
        SQUARED,
        lambda form: two_sample_test(
            LONG[0, :30],
            LONG[1, :30],
            covariates=(LONG[0, 30:60], LONG[1, 30:60]),
            form=form,
            **OPTIONS,
        ),
        None,
    ),
    "independence": (
        OF_PAIRS,
        lambda form: independence_test(
            U, V, form=form, **OPTIONS, **({} if form == "xi" else WIDE)
        ),
        lambda form, rows: pairs(form, U, V),
    ),
    "matrix": (
        OF_PAIRS,
        lambda form: independence_matrix(
            np.hstack([U, V, Z[:, :1]]),
            form=form,
            **OPTIONS,
            **({} if form == "xi" else {"bandwidth_x": 1.0}),
        ),
        lambda form, rows: [
            pairs(form, *pair) for pair in itertools.combinations((U, V, Z[:, :1]), 2)
        ],
    ),
    "given, strata": (
        SQUARED,
        lambda form: independence_test(
            U, V, given=list("abbabaabba"), form=form, **OPTIONS, **WIDE
        ),
        lambda form, rows: naive_given.hsic(
            *(gaussian(naive_given.centered(x, list("abbabaabba"))) for x in (U, V))
        ),
    ),
    "given, local": (
        SQUARED,
        lambda form: independence_test(
            LONG[0],
            LONG[1],
            given=np.arange(64.0),
            given_method="local",
            form=form,
            **OPTIONS,
            **WIDE,
        ),
        lambda form, rows: naive_given.hsic(*map(gaussian, rows)),
    ),
    "given, residuals": (
        SQUARED,
        lambda form: independence_test(
            LONG[0], LONG[1], given=np.arange(64.0), form=form, **OPTIONS
        ),
        None,
    ),
    "given, copies": (
        SQUARED,
        lambda form: independence_test(U, V, given=Z, x_given_z=drawn, form=form, **OPTIONS),
        None,
    ),
    "joint": (
        SQUARED,
        joint,
        lambda form, rows: naive_tests.dhsic([gaussian(x) for x in (U, V, Z)]),
    ),
    "change": (
        ("unbiased",),
        lambda form: change_point_test(
            V, bandwidth=1.0, trim=0.2, form=form, confidence=None, **OPTIONS
        ),
        lambda form, rows: naive_change.largest(gaussian(V), 2, "single", {})[0],
    ),
    "batches of samples": (
        OF_SAMPLES,
        lambda form: two_sample_test(Batches(X), Y, kernel="linear", form=form, **OPTIONS),
        lambda form, rows: samples(form, X, Y, gram=linear),
    ),
    "batches, pooled": (
        SQUARED,
        lambda form: k_sample_test(
            Batches(X), Y, THIRD, kernel="linear", comparison="pooled", form=form, **OPTIONS
        ),
        lambda form, rows: samples(form, X, Y, THIRD, comparison="pooled", gram=linear),
    ),
    "batches of columns": (
        OF_SAMPLES,
        lambda form: two_sample_test_columns(Batches(X), Y, kernel="linear", form=form, **OPTIONS),
        lambda form, rows: [samples(form, X[:, [j]], Y[:, [j]], gram=linear) for j in (0, 1)],
    ),
    "batches of pairs": (
        ("biased", "unbiased"),
        lambda form: independence_test(
            Batches(LONG[0]),
            Batches(LONG[1]),
            form=form,
            kernel_x=Linear(),
            kernel_y=Linear(),
            **OPTIONS,
        ),
        lambda form, rows: pairs(form, *LONG, gram=linear),
    ),
}
NAMES = ("biased", "unbiased", "welch", "xi", "median")


@pytest.mark.parametrize("form", NAMES)
@pytest.mark.parametrize("test", TESTS)
def test_the_right_statistic_or_an_error_that_names_the_others(test, form):
    has, call, twin = TESTS[test]
    if form not in has:
        with pytest.raises(ValueError, match="must be one of 'auto'") as refused:
            call(form)
        names = str(refused.value).partition("must be one of")[2].partition("; got")[0]
        known = re.findall(r"'(\w+)'", names)
        assert {"auto", *has} == set(known) or (test == "batches, pooled" and set(has) < set(known))
        return
    result = call(form)
    assert result.setup.form == form
    if twin is None:  # of a regression, or of copies: tests of their own have these
        assert result == call("auto")
        return
    several = hasattr(result, "statistics")
    rows = [] if several else [variable.points for variable in result.context.hypothesis.variables]
    statistics = result.statistics if several else [result.statistic]
    np.testing.assert_allclose(statistics, np.ravel(twin(form, rows)), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("form", OF_SAMPLES)
def test_members_of_an_ensemble_have_the_form(form):
    several = Ensemble([Candidate("kme", Gaussian(1.0)), Candidate("skmse", Gaussian(1.0))])
    result = two_sample_test(X, Y, estimator=several, form=form, **OPTIONS)
    assert result.form == form and result.members[0].form == form
    assert result.members[0].statistic == pytest.approx(samples(form, X, Y), rel=1e-9)


def test_every_form_that_the_table_lists_is_one():
    for kind in KINDS.values():
        assert kind.statistics
        for name in kind.statistics:
            form = kind.form(name)
            assert isinstance(form, Form) and form.name == name


# --- a form is one file ----------------------------------------------------------------------------------------------


def test_a_normalized_distance_on_all_splits():
    rows = np.vstack([X[:4], Y[:4]])
    splits = [list(part) for part in itertools.combinations(range(8), 4)]
    values = np.array(
        [samples("welch", rows[part], np.delete(rows, part, axis=0)) for part in splits]
    )
    for gram in ("dense", "factor"):
        result = two_sample_test(
            X[:4], Y[:4], bandwidth=1.0, form="welch", gram=gram, n_resamples=np.inf, alpha=0.5
        )
        assert (
            result.exact and result.n_resamples == 35
        )  # half of them: exchanging the samples changes nothing
        assert result.pvalue == pytest.approx(np.mean(values >= values[0] - 1e-10))
        assert " welch" in str(result.summary())


@pytest.mark.parametrize("estimator", ["skmse", "fkmse", "landweber", "mkme"])
def test_a_normalized_distance_of_other_estimates(estimator):
    plain, without, result = (
        two_sample_test(X, Y, estimator=estimator, form=form, **OPTIONS) for form in OF_SAMPLES
    )
    for value, biased, unbiased in zip(
        [result.statistic, *result.null_distribution],
        [plain.statistic, *plain.null_distribution],
        [without.statistic, *without.null_distribution],
        strict=True,
    ):
        assert value == pytest.approx(biased / (biased - unbiased), rel=1e-8)


def test_a_normalized_distance_needs_features_that_stay():
    with pytest.raises(
        ValueError, match=r"form='welch' is not available with MMKME.*tuning='pooled'"
    ):
        two_sample_test(X, Y, estimator=MMKME(tuning="sample"), form="welch", **OPTIONS)


def test_a_statistic_without_kernel_and_estimator():
    x, y = U[:5], V[:5]
    result = independence_test(x, y, form="xi", n_resamples=np.inf, alpha=0.5)
    orders = list(itertools.permutations(range(5)))
    values = [chatterjee(x[:, 0].tolist(), y[list(order), 0].tolist()) for order in orders]
    assert result.exact and result.pvalue == np.mean(np.array(values) >= values[0] - 1e-12)
    assert (result.estimator, result.kernel, result.bandwidth, result.estimates) == (
        None,
        None,
        None,
        (),
    )
    shown = str(result.summary())
    assert "xi" in shown and "Estimator:" not in shown and "Bandwidth" not in shown
    assert "Independence test" in shown and "HSIC" not in shown
    assert result.plot_null().get_xlabel() == "xi statistic"
    assert result.to_dict()["form"] == "xi" and repr(result).endswith(")")
    with pytest.raises(
        ValueError, match=r"form='xi' has no kernel features, so no effect size.*use form='auto'"
    ):
        result.effect()


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"estimator": "skmse"}, "estimator"),
        ({"estimator": ["kme"]}, "estimator"),
        ({"kernel_x": "laplacian"}, "kernel_x"),
        ({"bandwidth_y": 2.0}, "kernel_y"),
        ({"gram": "nystrom"}, "gram"),
        ({"rank": 3}, "rank"),
    ],
)
def test_a_kernel_or_an_estimator_of_a_statistic_without_them_is_refused(options, name):
    with pytest.raises(
        ValueError, match=f"form='xi' has no kernel and no estimator; leave out.*{name}"
    ):
        independence_test(U, V, form="xi", **OPTIONS, **options)


def test_a_form_that_is_not_for_estimators_that_are_refitted(monkeypatch):
    monkeypatch.setitem(INDEPENDENCE.statistics, "product", f"{__name__}:PRODUCT")
    with pytest.raises(ValueError, match=r"form='product' is not available with FKMSE"):
        independence_test(U, V, form="product", estimator="fkmse", **OPTIONS)


def test_exchanges_of_equal_samples_count_for_a_statistic_that_sees_them(monkeypatch):
    monkeypatch.setitem(TWO_SAMPLE.statistics, "difference", f"{__name__}:DIFFERENCE")
    x, y = X[:4, :1], Y[:4, :1]
    values = np.vstack([x, y])[:, 0]
    splits = [list(part) for part in itertools.combinations(range(8), 4)]
    differences = np.array(
        [values[part].mean() - np.delete(values, part).mean() for part in splits]
    )
    options = {"form": "difference", "n_resamples": np.inf, "alpha": 0.5}
    for first, second, sign in ((x, y, 1.0), (y, x, -1.0)):
        result = two_sample_test(first, second, **options)
        assert result.n_resamples == 70
        assert result.pvalue == np.mean(sign * differences >= sign * differences[0] - 1e-12)
    paired = two_sample_test(x, y, paired=True, **options)
    assert paired.n_resamples == 16
    assert two_sample_test(x, y, paired=True, **(options | {"form": "auto"})).n_resamples == 8
    many = two_sample_test_columns(X[:4], Y[:4], **options)
    assert many.n_resamples == 70 and many.pvalues[0] == two_sample_test(x, y, **options).pvalue
    for refused in (
        result.effect,
        result.witness_band,
        result.contributions,
        lambda: result.witness([[0.0]]),
    ):
        with pytest.raises(ValueError, match="form='difference' has no kernel features"):
            refused()
