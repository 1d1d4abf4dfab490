"""Independence given other variables: within strata, by a function that draws X, and what all methods share."""

from __future__ import annotations

import copy
import itertools
import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest

import naive_given
from shrinktest import (
    Candidate,
    Ensemble,
    check_level,
    independence_matrix,
    independence_test,
    two_sample_test,
)
from shrinktest.conditional.regressions import candidate_bases, tuned_smoother
from shrinktest.kernels import (
    Custom,
    Gaussian,
    Laplacian,
    Linear,
    Precomputed,
    Rescaled,
    SecondOrder,
    Whitened,
)
from shrinktest.notes import has_code
from shrinktest.permutations.base import Draws
from shrinktest.permutations.schemes import LabelsByChance

RNG = np.random.default_rng(3)
N = 40
Z = RNG.normal(size=(N, 2))
X = Z.sum(axis=1, keepdims=True) + RNG.normal(size=(N, 1))
Y = Z.sum(axis=1, keepdims=True) + RNG.normal(size=(N, 1))
TIED = Y + X
SITE = np.array(list("aabbbcccdd"))
FEW = {"n_resamples": 99, "rng": 0}


def test_strata_are_every_permutation_within_them():
    rng = np.random.default_rng(0)
    x, y, site = rng.normal(size=(7, 1)), rng.normal(size=(7, 1)), list("aabbbcc")
    result = independence_test(x, y, given=site, bandwidth_x=1.0, bandwidth_y=1.0, alpha=0.5)
    K, L = (naive_given.gaussian(naive_given.centered(sample, site), 1.0) for sample in (x, y))
    values = [naive_given.hsic(K, L[np.ix_(pi, pi)]) for pi in naive_given.within(site)]
    assert result.exact and result.n_resamples == len(values) == 24
    assert result.pvalue == np.mean([value >= values[0] - 1e-12 for value in values])
    np.testing.assert_allclose(np.sort(result.null_distribution), np.sort(values), atol=1e-12)


def test_labels_are_strata_by_themselves_and_numbers_where_asked_for():
    left = [naive_given.centered(sample[:10], SITE) for sample in (X, Y)]
    expected = independence_test(*left, blocks=SITE, rng=1).pvalue
    for given in (SITE, SITE.tolist(), pd.Series(SITE), pd.Series(SITE, dtype="category")):
        result = independence_test(X[:10], Y[:10], given=given, rng=1)
        assert result.method == "permutations within strata" and "exact" in result.assumption
        assert result.test == "conditional-independence" and result.pvalue == expected
    codes = np.unique(SITE, return_inverse=True)[1]
    assert (
        independence_test(X[:10], Y[:10], given=codes, given_method="strata", rng=1).pvalue
        == expected
    )


@pytest.mark.parametrize("estimator", ["kme", "skmse", "auto"])
def test_dependence_within_strata_is_found_also_where_that_between_them_runs_against_it(estimator):
    """Simpson's paradox: permutations within strata would all have more of what strata differ in."""
    rng = np.random.default_rng(8)
    site = np.repeat(np.arange(4), 30)
    x = rng.normal(size=120)
    y = 3.0 * site - 0.6 * x + rng.normal(size=120)
    x = x + 3.0 * site
    options = {"given": site.astype(str), "estimator": estimator, "n_resamples": 199, "rng": 0}
    assert independence_test(x, y, **options).pvalue < 0.02
    assert independence_test(x, 3.0 * site + rng.normal(size=120), **options).pvalue > 0.05


def test_rows_alone_in_their_stratum_are_left_out_and_counted():
    result = independence_test(X[:12], Y[:12], given=np.append(SITE, ["x", "y"]), rng=1)
    assert result.n_observations == (10,)
    assert result.pvalue == independence_test(X[:10], Y[:10], given=SITE, rng=1).pvalue
    assert any("2 of 12 rows were left out" in note for note in result.notes)


def predicted_and_noise(z, rng):
    return z.sum(axis=1) + rng.normal(size=len(z))


def test_copies_are_compared_with_the_data():
    """The p-value counts copies whose HSIC with the residuals of y reaches that of the data."""
    drawn = []

    def draw(z, rng):
        drawn.append(z.sum(axis=1, keepdims=True) + rng.normal(size=(N, 1)))
        return drawn[-1]

    result = independence_test(
        X, TIED, given=Z, x_given_z=draw, bandwidth_x=1.0, bandwidth_y=1.0, n_resamples=39, rng=0
    )
    middle = np.mean(drawn[:50], axis=0)
    left = tuned_smoother(candidate_bases(Z), TIED / TIED.std(axis=0)).residuals(TIED)
    L = naive_given.gaussian(left, 1.0)
    copies = [copy - middle for copy in (X, *drawn[51:])]
    values = [naive_given.hsic(naive_given.gaussian(x, 1.0), L) for x in copies]
    np.testing.assert_allclose([result.statistic, *result.null_distribution], values, atol=1e-12)
    assert result.pvalue == np.mean(np.array(values) >= values[0])
    assert result.method == "conditional randomization test"


def test_a_model_finds_what_is_there_and_results_keep_it():
    options = {"given": Z, "x_given_z": predicted_and_noise, "n_resamples": 199, "rng": 1}
    assert independence_test(X, Y, **options).pvalue > 0.05
    result = independence_test(X, TIED, **options).with_data()
    assert result.pvalue < 0.05 and pickle.loads(pickle.dumps(result)) == result == copy.deepcopy(
        result
    )


def test_a_model_gets_rows_as_they_were_given():
    """Labels as an array of columns, tables as tables, without rows that miss something; it may write into them."""
    site, seen = np.where(Z[:, 0] > 0.0, "a", "b"), []

    def look(z, rng):
        seen.append(z)
        return rng.normal(size=len(z))

    independence_test(X, Y, given=site, x_given_z=look, **FEW)
    assert seen[0].shape == (N, 1) and (seen[0][:, 0] == site).all()
    some, other, given = (
        np.where(np.arange(N) == row, np.nan, v[:, 0]) for row, v in ((3, X), (7, Y), (11, Z))
    )

    def in_place(z, rng):
        z += rng.normal(size=z.shape)
        return z

    options = {"given": given, "nan_policy": "omit", **FEW}
    result = independence_test(some, other, x_given_z=in_place, **options)
    assert result.n_observations == (N - 3,)
    for table in (pd.Series(some), pd.DataFrame({"x": some})):
        plain = independence_test(
            table, other, x_given_z=lambda z, rng: z + rng.normal(size=z.shape), **options
        )
        assert plain.pvalue == result.pvalue


def test_results_keep_the_method():
    result = independence_test(X, Y, given=Z, rng=0)
    assert result.method in str(result.summary()) and any(
        result.assumption in note for note in result.notes
    )
    with pytest.raises(ValueError, match=r"effect\(\) is not available with given="):
        result.effect()


def test_matrix_given_others_is_every_test():
    rng = np.random.default_rng(0)
    chain = np.cumsum(rng.normal(size=(90, 4)) * [1.0, 0.6, 0.6, 0.6], axis=1)
    result = independence_matrix(chain, given="others", rng=1, n_resamples=199)
    for (i, j), pvalue in zip(itertools.combinations(range(4), 2), result.pvalues, strict=True):
        rest = np.delete(chain, [i, j], axis=1)
        assert (
            pvalue
            == independence_test(
                chain[:, i], chain[:, j], given=rest, rng=1, n_resamples=199
            ).pvalue
        )
    rejected = [
        label for label, rejects in zip(result.labels, result.reject(), strict=True) if rejects
    ]
    assert rejected == [("x0", "x1"), ("x1", "x2"), ("x2", "x3")]
    assert any("approximately valid" in note for note in result.notes)
    assert not any("stands out most" in note for note in result.notes)


@pytest.mark.parametrize("scale", [None, "sd", "rank"])
@pytest.mark.parametrize(
    "options",
    [{"given": Z}, {"given": Z, "given_method": "local"}, {"given": Z[:, 0] > 0}],
    ids=str,
)
def test_matrices_and_tables_in_any_units_are_the_single_tests(options, scale):
    """All computations before the kernels use the requested units."""
    a, b = np.hstack([X, np.exp(TIED)]), np.hstack([Y, TIED])
    for table in (np.asarray, pd.DataFrame):
        matrix = independence_matrix(
            table(a), table(b), scale=scale, kernel_x="laplacian", **options, **FEW
        )
        for k, (i, j) in enumerate(itertools.product(range(2), repeat=2)):
            kernels = {"kernel_x": "laplacian", "kernel_y": "laplacian"}
            pair = independence_test(a[:, i], b[:, j], scale=scale, **kernels, **options, **FEW)
            assert (
                matrix.statistics[k] == pytest.approx(pair.statistic, rel=1e-9)
                and matrix.pvalues[k] == pair.pvalue
            )


@pytest.mark.ci
def test_calibration_given_numbers_and_labels():
    rng = np.random.default_rng(0)
    z = rng.normal(size=60)
    x, y = z + 0.5 * rng.normal(size=60), z + 0.5 * rng.normal(size=60)
    site, options = (
        np.where(z > 0, "a", "b"),
        {"kind": "independence", "n_trials": 100, "workers": 1},
    )
    for given in (z, site):
        ours = partial(independence_test, given=given, n_resamples=99, rng=0, workers=1)
        assert not check_level(ours, x, y, given=given, **options).anti_conservative
        result = check_level("pearsonr", x, y, given=given, **options)  # which knows of no z
        assert result.anti_conservative and len(result.notes) == (
            given is z
        )  # the null hypothesis is an estimate


def test_labels_by_chance_are_exact():
    odds = np.array([0.3, 2.0, 1.0, 0.7, 4.0])
    rows = Draws.of(LabelsByChance((3, 2), np.log(odds)), 6000, np.random.default_rng(2)).rows(1)
    counts = dict.fromkeys(expected := naive_given.chances_of_labels(odds, 2), 0)
    for row in rows.tolist():
        counts[tuple(row)] += 1
    assert all(
        abs(counts[key] - 6000 * p) < 4.0 * np.sqrt(6000 * p * (1 - p))
        for key, p in expected.items()
    )


def gaps(values, policy="indicator"):
    holes = np.arange(len(values)) % 8 == 0
    return {"nan_policy": policy, "given": pd.DataFrame({"z": np.where(holes, np.nan, values)})}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"given": list(range(N)), "given_method": "strata"},
            ValueError,
            "given: no two rows can be exchanged",
        ),
        ({"given": 2.0 * X}, ValueError, "X is determined by"),
        ({"given": Y + 1.0}, ValueError, "Y is determined by"),
        ({"given": (Y > 0).ravel(), "Y": (Y > 0) + 1e9}, ValueError, "given determines Y"),
        ({"given": Z, "X": np.ones(N)}, ValueError, "X is constant"),
        ({"given": Z[:-1]}, ValueError, "X has 40 rows and given has 39 rows"),
        ({"given": Z[:9], "X": X[:9], "Y": Y[:9]}, ValueError, "need at least 10 rows"),
        ({"given": Z, "block_length": "whole"}, ValueError, "block_length= and given="),
        ({"given": Z, "lags": [0, 1]}, ValueError, "lags="),
        ({"given": Z, "blocks": np.arange(N) % 2}, ValueError, "blocks="),
        ({"given": Z, "given_method": "kci"}, ValueError, "given_method"),
        ({"given": Z, "given_method": "local", "groups": np.arange(N) // 2}, ValueError, "groups="),
        ({"given": Z, "scale": ["sd"] * 3}, ValueError, "scale has 3 entries"),
        (
            {"given": Z, "form": "unbiased"},
            ValueError,
            "form of a conditional-independence test must be one of 'auto', 'biased'",
        ),
        ({"given": Z, "gram": "nystrom"}, ValueError, "gram='nystrom'"),
        ({"given": Z, "regressor": 3}, TypeError, "regressor must be a scikit-learn regressor"),
        (
            {"given": Z[:, 0] > 0, "given_method": "strata", "regressor": 3},
            ValueError,
            "regressor=",
        ),
        ({"regressor": 3}, ValueError, "regressor= says how given="),
        ({"given_method": "local"}, ValueError, "given_method= says how given="),
        ({"given": Z, "x_given_z": 3}, TypeError, "x_given_z must be a function"),
        ({"given": Z, "x_given_z": lambda z: z}, TypeError, "x_given_z must be a function"),
        (
            {"given": Z, "x_given_z": lambda z, rng: z},
            ValueError,
            "x_given_z must draw finite numbers",
        ),
        ({"given": Z, "x_given_z": lambda z, rng: ["a"] * N}, TypeError, "found an array of dtype"),
        (
            {"given": Z, "x_given_z": lambda z, rng: z[:, 0]},
            ValueError,
            "x_given_z drew the same X 50 times",
        ),
        (
            {"given": Z, "x_given_z": predicted_and_noise, "given_method": "local"},
            ValueError,
            "x_given_z= cannot",
        ),
        (
            {"given": Z, "x_given_z": predicted_and_noise, "n_resamples": np.inf},
            ValueError,
            "equally likely",
        ),
        (
            {"given": Z, "x_given_z": predicted_and_noise, "X": pd.Series(["a", "b"] * 20)},
            TypeError,
            "X must hold real",
        ),
        (
            gaps(Z[:, 0]),
            ValueError,
            "given: 5 rows without a value of column 'z'.*use nan_policy='omit'",
        ),
        (gaps(Z[:, 0], "raise"), ValueError, "given has 5 missing values.*pass nan_policy='omit'"),
    ],
)
def test_what_cannot_be_tested(options, error, message):
    with pytest.raises(error, match=message):
        independence_test(**{"X": X, "Y": Y, **options})


def test_rows_that_miss_something():
    """Missing values of X and Y may be information; rows that miss what is given are left out."""
    holes = np.arange(N) % 8 == 0
    for given in (Z, np.where(Z[:, 0] > 0, "a", "b")):
        indicated = independence_test(
            np.where(holes, np.nan, X[:, 0]), Y, given=given, nan_policy="indicator", **FEW
        )
        assert 0.0 < indicated.pvalue <= 1.0
        complete = independence_test(X[~holes], Y[~holes], given=given[~holes], **FEW)
        table = pd.DataFrame(given).mask(pd.Series(holes))
        omitted = independence_test(X, Y, given=table, nan_policy="omit", **FEW)
        assert (
            omitted.pvalue == complete.pvalue and omitted.n_observations == complete.n_observations
        )
        assert np.isnan(independence_test(X, Y, given=table, nan_policy="propagate", **FEW).pvalue)


# --- copies of X given Z -------------------------------------------------------------------------------------------
COPIES_RNG = np.random.default_rng(3)
ROWS = 80
GIVEN = COPIES_RNG.normal(size=ROWS)
FIRST = np.sin(GIVEN) + COPIES_RNG.standard_t(5, size=ROWS)
SECOND = np.sin(GIVEN) + 0.3 * FIRST + COPIES_RNG.normal(size=ROWS)


def MODEL(z, rng):
    return np.sin(z) + rng.standard_t(5, size=z.shape)


COPIES = {"given": GIVEN, "x_given_z": MODEL, "n_resamples": 39, "rng": 1}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"estimator": "skmse"},
        {"estimator": "mkme"},
        {"scale": "rank"},
        {"kernel_x": Linear()},
        {"kernel_x": Laplacian()},
        {"kernel_x": Whitened(Gaussian())},
        {"kernel_x": SecondOrder(Gaussian())},
        {"kernel_x": Whitened(Rescaled(Gaussian(), "rank"))},
        {"kernel_x": Whitened(Gaussian()), "scale": "rank"},
        {"kernel_x": Gaussian(1e6)},
    ],
    ids=str,
)
def test_coordinates_and_gram_matrices_say_the_same(options):
    dense = independence_test(FIRST, SECOND, gram="dense", **options, **COPIES)
    for gram in ("auto", "factor"):
        result = independence_test(FIRST, SECOND, gram=gram, **options, **COPIES)
        size = np.abs(dense.null_distribution).max()
        np.testing.assert_allclose(
            result.null_distribution, dense.null_distribution, rtol=0.0, atol=1e-8 * size
        )
        assert result.pvalue == dense.pvalue


@pytest.mark.ci
def test_many_rows_need_no_gram_matrix():
    n = 12_000
    z = COPIES_RNG.normal(size=n)
    options = {
        "given": z,
        "x_given_z": lambda z, rng: z + rng.normal(size=z.shape),
        "n_resamples": 19,
        "rng": 0,
    }
    x, y = z + COPIES_RNG.normal(size=n), z + COPIES_RNG.normal(size=n)
    assert independence_test(x, y, max_memory=2e8, **options).pvalue > 0.05
    assert independence_test(x, y + 0.1 * x, max_memory=2e8, **options).pvalue == 0.05
    with pytest.raises(MemoryError, match="max_memory"):
        independence_test(x, y, max_memory=2e8, gram="dense", **options)


@pytest.mark.ci
@pytest.mark.parametrize(
    "options", [{"gram": "nystrom", "rank": 4}, {"gram": "rff", "rank": 4}, {"gram": "factor"}]
)
def test_approximations_are_exact_tests(options):
    """Nine copies and the data: every rank is as likely."""
    ranks = []
    for trial in range(120):
        rng = np.random.default_rng(trial)
        z, settings = rng.normal(size=12), {"rng": trial, "n_resamples": 9, "alpha": 0.5, **options}
        x, y = np.sin(z) + rng.standard_t(5, size=12), z + rng.normal(size=12)
        ranks.append(
            round(10 * independence_test(x, y, given=z, x_given_z=MODEL, **settings).pvalue)
        )
    counts = np.bincount(ranks, minlength=11)[1:]
    assert ((counts - 12) ** 2 / 12).sum() < 27.9  # chi square with 9 degrees of freedom at .001


# --- kernels of users within strata -------------------------------------------------------------------------

COUNTS = np.random.default_rng(11).poisson(3.0, size=(N, 4)).astype(float)
PLACES = np.arange(N)[:, None]
STRATA = np.array(list("abcd") * 10)


def bray_curtis(A, B):
    """exp(-dissimilarity), for counts only."""
    assert A.min() >= 0.0
    assert B.min() >= 0.0
    apart = np.abs(A[:, None] - B[None]).sum(axis=2)
    return np.exp(-apart / np.maximum((A[:, None] + B[None]).sum(axis=2), 1.0))


def shared(A, B):
    """Sum of the smaller counts of each column."""
    assert A.min() >= 0.0
    assert B.min() >= 0.0
    return np.minimum(A[:, None], B[None]).sum(axis=2)


def of_row_numbers(kernel):
    return Precomputed(kernel(COUNTS, COUNTS))


@pytest.mark.parametrize("kernel", [bray_curtis, shared], ids=["bray-curtis", "minimum"])
@pytest.mark.parametrize("design", ["given", "covariates", "propensity", "x_given_z"])
def test_kernels_of_users_see_values_as_they_are_given(kernel, design):
    """A function of counts, its class, and its Gram matrix at row numbers give the same test."""

    def tested(values, chosen):
        def draw(z, rng):
            return values[rng.permutation(N)]

        both, strata, numbers = (
            (values[:20], values[20:]),
            (STRATA[:20], STRATA[20:]),
            (Z[:20], Z[20:]),
        )
        if design == "covariates":
            return two_sample_test(*both, kernel=chosen, covariates=strata, **FEW)
        if design == "propensity":
            return two_sample_test(
                *both, kernel=chosen, covariates=numbers, propensity=np.full(N, 0.5), **FEW
            )
        how = {"given": STRATA} if design == "given" else {"given": Z, "x_given_z": draw}
        return independence_test(values, Y, kernel_x=chosen, **how, **FEW)

    results = [
        tested(COUNTS, kernel),
        tested(COUNTS, Custom(kernel)),
        tested(PLACES, of_row_numbers(kernel)),
    ]
    assert len({result.pvalue for result in results}) == 1
    statistics = [result.statistic for result in results]
    np.testing.assert_allclose(statistics, statistics[0], rtol=1e-9, atol=1e-12)


def test_a_kernel_of_the_user_is_permuted_within_strata_without_their_means():
    counts, y, site = COUNTS[:7], Y[:7], list("aabbbcc")
    options = {"bandwidth_y": 1.0, "alpha": 0.5}
    K, L = bray_curtis(counts, counts), naive_given.gaussian(naive_given.centered(y, site), 1.0)
    values = [naive_given.hsic(K, L[np.ix_(pi, pi)]) for pi in naive_given.within(site)]
    for x, kernel in ((counts, bray_curtis), (np.arange(7), Precomputed(K))):
        result = independence_test(x, y, given=site, kernel_x=kernel, **options)
        assert result.exact
        assert result.pvalue == np.mean([value >= values[0] - 1e-12 for value in values])
        np.testing.assert_allclose(np.sort(result.null_distribution), np.sort(values), atol=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {"kernel_x": Custom(bray_curtis) + Gaussian()},
        {"kernel_x": ["gaussian", bray_curtis]},
        {
            "estimator": Ensemble(
                [Candidate("kme", (Custom(bray_curtis), Gaussian())), Candidate("kme")]
            )
        },
    ],
    ids=["sum", "candidates", "ensemble"],
)
def test_parts_of_kernels_and_candidates_see_counts_too(options):
    result = independence_test(COUNTS, Y, given=STRATA, **options, **FEW)
    assert "except your own kernels" in str(
        next(text for text in result.notes if has_code(text, "strata-means"))
    )


def test_a_matrix_gives_kernels_of_users_the_values():
    result = independence_matrix(COUNTS[:, :3], given=STRATA, kernel_x=bray_curtis, **FEW)
    single = independence_test(
        COUNTS[:, 0], COUNTS[:, 1], given=STRATA, kernel_x=bray_curtis, kernel_y=bray_curtis
    )
    assert result.table["statistic"][0] == pytest.approx(single.statistic)
    assert not any(has_code(text, "strata-means") for text in result.notes)


@pytest.mark.parametrize(
    "options",
    [{"given": Z}, {"given": Z[:, 0], "given_method": "local"}, {"covariates": (Z[:20], Z[20:])}],
    ids=["given", "local", "covariates"],
)
def test_row_numbers_have_no_residuals(options):
    kernel = of_row_numbers(bray_curtis)
    with pytest.raises(
        ValueError,
        match="a matrix as kernel has row numbers, which have no residuals; use strata",
    ):
        if "given" in options:
            independence_test(PLACES, Y, kernel_x=kernel, **options)
        else:
            two_sample_test(PLACES[:20], PLACES[20:], kernel=kernel, **options)
