"""Tests that are not of this package in power studies: what they get, what they may return, and the named ones."""

from __future__ import annotations

import importlib
import itertools
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from shrinktest import KME, calibrate, two_sample_test
from shrinktest.estimators import ALIASES, ESTIMATORS, FromFunction
from shrinktest.power import KNOWN_TESTS, AnyTest, designs, power_study, solve_sample_size
from shrinktest.power.any_test import is_test
from shrinktest.power.known_tests import known_tests

SHIFT = designs.MeanShift(dimension=1, shift=1.0)
WIDE = designs.MeanShift(dimension=3, shift=1.0)
LINE = designs.Linear()
THREE = designs.OneApart(dimension=1, shift=2.0)


def run(design=SHIFT, estimators="kme", sizes=8, **options):
    """A study of a moment."""
    given = {"alphas": 0.1, "n_trials": 6, "n_resamples": 19, "workers": 1, "progress": False}
    return power_study(design, estimators, sizes, **{**given, **options})


def values(result, label):
    return result.pvalues.query("estimator == @label")["pvalue"].tolist()


def data_of(design, trial=0, n=8, null=False, seed=0):
    """The data of a trial of a study."""
    stream = np.random.SeedSequence(seed, spawn_key=(n, int(null), trial, 0))
    return (design.null() if null else design).sample(np.random.default_rng(stream), n)


def generator(trial=0, n=8, null=False, seed=0):
    """What a test draws from in a trial."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(n, int(null), trial, 2)))


def t_test(X, Y):
    return stats.ttest_ind(X[:, 0], Y[:, 0])


def drawn(X, Y, rng):
    """As random as can be."""
    return rng.random()


def shuffled(X, Y, *, random_state=None):
    return random_state.random()


# ------------------------------------------------------------------------------------------- what they get


@pytest.mark.parametrize("design", [SHIFT, WIDE, LINE])
def test_a_test_sees_the_data_that_the_others_see(design):
    seen = []

    def recorded(X, Y):
        seen.append((X, Y))
        return 0.5

    run(design, {"kme": "kme", "mine": recorded}, with_null=True)
    cells = [*itertools.product(range(6), (False, True))]
    assert len(seen) == 2 + len(cells)  # the rehearsals come first
    for (trial, null), got in zip(cells, seen[2:], strict=True):
        for one, other in zip(got, data_of(design, trial, null=null), strict=True):
            np.testing.assert_array_equal(one, other)


def test_p_values_are_those_of_the_function_and_ours_do_not_change():
    alone = run(estimators="kme")
    among = run(estimators={"kme": "kme", "t": t_test, "KS": stats.ks_2samp})
    assert values(among, "kme") == values(alone, "kme")
    cells = [(null, trial) for null in (False, True) for trial in range(6)]
    samples = [data_of(SHIFT, trial, null=null) for null, trial in cells]
    assert values(among, "t") == [t_test(*pair).pvalue for pair in samples]
    assert values(among, "KS") == [stats.ks_2samp(*(one[:, 0] for one in pair)).pvalue for pair in samples]


@pytest.mark.parametrize("function", [drawn, shuffled, partial(drawn), AnyTest(drawn, name="mine")])
def test_random_numbers_come_from_a_stream_of_the_trial_whatever_else_is_compared(function):
    expected = [generator(trial).random() for trial in range(6)]
    alone = run(estimators={"mine": function}, with_null=False)
    among = run(estimators={"other": drawn, "kme": "kme", "mine": function}, with_null=False)
    assert values(alone, "mine") == values(among, "mine") == expected
    assert len(set(expected)) == 6


def test_a_test_that_changes_its_data_changes_nobody_elses():
    def sorts(X, Y):
        X.sort(axis=0)
        Y[:] = 0.0
        return 1.0

    assert values(run(estimators={"sorts": sorts, "t": t_test}), "t") == values(run(estimators={"t": t_test}), "t")


def test_any_number_of_samples_and_tables():
    def smallest(X, Y, Z):
        return min(stats.ttest_ind(X, Y).pvalue[0] * 2, 1.0)

    def of_tables(X, Y):
        assert list(X.columns) == ["size"]
        return stats.ks_2samp(X["size"], Y["size"])

    assert len(values(run(THREE, {"first two": smallest, "all": AnyTest(stats.kruskal)}), "all")) == 12

    def tables(rng, n):
        return tuple(pd.DataFrame({"size": rng.normal(size=n)}) for _ in range(2))

    assert len(values(run(tables, {"table": of_tables, "by name": "ks_2samp"}), "table")) == 12


def test_an_object_with_a_call_is_a_test_and_labels_are_names():
    class Sharp:
        def __call__(self, X, Y):
            return 0.01

    study = run(estimators=[stats.ks_2samp, AnyTest(t_test, name="Student"), Sharp(), partial(drawn), "mannwhitneyu"])
    assert list(study.estimators)[:2] == ["ks_2samp", "Student"]
    assert [label.split(".")[-1] for label in study.estimators][2:] == ["Sharp", "drawn()", "mannwhitneyu"]
    assert "0x" not in repr(study.estimators)
    assert list(run(estimators=t_test).estimators) == ["t_test"]


def test_tables_pictures_and_comparisons_have_them():

    study = run(estimators={"kme": "kme", "t": t_test}, n_trials=20)
    assert study.table["estimator"].tolist() == study.size_table["estimator"].tolist() == ["kme", "t"]
    both, only_t, only_kme, _ = study.compare("t", "kme")[["both", "only_a", "only_b", "neither"]].iloc[0]
    rejected = {label: np.array(values(study, label))[:20] <= 0.1 for label in ("t", "kme")}
    assert (both, only_t, only_kme) == (
        (rejected["t"] & rejected["kme"]).sum(),
        (rejected["t"] & ~rejected["kme"]).sum(),
        (~rejected["t"] & rejected["kme"]).sum(),
    )
    assert study.summary().startswith("Power of two-sample tests\n")
    assert "Permutations:  19; seed 0" in study.summary()
    assert run(n_trials=1).summary().startswith("Power of the kernel two-sample test\n")
    summary = run(estimators=["ks_2samp", t_test]).summary()
    assert "Seed:          0" in summary and "Permutations" not in summary
    labels = [text.get_text() for text in study.plot().get_legend().get_texts()]
    assert labels[:2] == ["kme", "t"]
    importlib.import_module("matplotlib.pyplot").close("all")


# ------------------------------------------------------------------------------------- workers and stores


def test_workers_change_nothing():
    tests = {"kme": "kme", "drawn": drawn, "KS": "ks_2samp", "closure": lambda X, Y: t_test(X, Y)}
    one, two = (run(estimators=tests, workers=workers) for workers in (1, 2))
    assert one.to_csv() == two.to_csv()
    assert values(one, "closure") == values(two, "closure")


def test_a_store_goes_on_with_functions_and_names(tmp_path):
    store, calls = tmp_path / "study.sqlite", []

    def counted(X, Y, rng):
        calls.append(1)
        return rng.random()

    tests = {"mine": counted, "KS": "ks_2samp"}
    run(estimators=tests, n_trials=3, store=store)
    before = len(calls)
    extended = run(estimators={**tests, "kme": "kme"}, n_trials=6, store=store)
    assert len(calls) - before == 2 + 2 * 3  # two rehearsals, three trials of the design and three of its twin
    assert extended.to_csv() == run(estimators={**tests, "kme": "kme"}).to_csv()
    with pytest.raises(ValueError, match=r"of another study.*KS"):
        run(estimators={"KS": t_test}, store=store)


def test_a_p_value_too_small_for_a_float_is_kept(tmp_path):
    study = run(estimators={"sure": lambda X, Y: 0.0}, store=tmp_path / "study.sqlite")
    assert 0.0 < max(values(study, "sure")) < 1e-300 and study.table["power"].item() == 1.0


# ---------------------------------------------------------------------------------- estimators and tests


@pytest.mark.parametrize(
    ("function", "test"),
    [
        (lambda X, Y: 0.5, True),
        (lambda X, Y, rng: 0.5, True),
        (lambda X, Y, Z, *, rng=None: 0.5, True),
        (lambda X, Y, *more: 0.5, True),
        (stats.ks_2samp, True),
        (stats.mannwhitneyu, True),
        (stats.ttest_ind, True),
        (stats.pearsonr, True),
        (two_sample_test, True),
        (lambda gram: 1 / len(gram), False),
        (lambda gram, amount=0.1: 1 / len(gram), False),
        (partial(lambda gram, amount: 1 / len(gram), amount=0.1), False),
    ],
)
def test_the_signature_tells_a_test_from_an_estimator(function, test):
    assert is_test(function) is test


@pytest.mark.parametrize(
    "function", [lambda *samples: 0.5, lambda first, *rest: 0.5, stats.kruskal, lambda X=None: 1, max]
)
def test_a_signature_that_does_not_tell_is_refused_with_both_ways_out(function):
    with pytest.raises(TypeError, match=r"AnyTest\(.*\) or shrinktest.estimators.FromFunction\("):
        run(estimators=function)


def test_estimators_are_estimators_as_before():
    plain = lambda gram: np.full(len(gram), 1 / len(gram))  # noqa: E731
    study = run(estimators={"mine": plain, "wrapped": FromFunction(lambda *gram: plain(*gram)), "kme": KME()})
    assert values(study, "mine") == values(study, "wrapped") == values(study, "kme")


def test_a_test_of_this_package_is_a_test_like_any_other():
    study = run(estimators={"ours": partial(two_sample_test, n_resamples=19, workers=1)}, with_null=False)
    expected = two_sample_test(*data_of(SHIFT), n_resamples=19, workers=1, rng=generator()).pvalue
    assert values(study, "ours")[0] == expected


# ------------------------------------------------------------------------------------------- named tests


def test_names_are_those_of_no_estimator():
    assert not {*KNOWN_TESTS} & {*ESTIMATORS, *ALIASES, "auto"}
    assert sum(len(known_tests(kind)) for kind in ("two-sample", "independence", "k-sample")) == len(KNOWN_TESTS)


@pytest.mark.parametrize("design", [SHIFT, WIDE])
@pytest.mark.parametrize("name", ["ks_2samp", "cramervonmises_2samp", "mannwhitneyu", "ttest_ind"])
def test_two_sample_tests_of_scipy_are_those_of_columns(design, name):
    X, Y = data_of(design)
    pvalues = [getattr(stats, name)(x, y).pvalue for x, y in zip(X.T, Y.T, strict=True)]
    assert values(run(design, name, n_trials=1, with_null=False), name) == [min(1.0, len(pvalues) * min(pvalues))]


@pytest.mark.parametrize("name", ["pearsonr", "spearmanr"])
def test_tests_of_correlation_are_those_of_pairs_of_columns(name):
    def pairs(rng, n):
        X = rng.normal(size=(n, 2))
        return X, np.column_stack([X[:, 1] + rng.normal(size=n), rng.normal(size=(n, 2))])

    design = designs.FromFunction(pairs, test="independence")
    X, Y = data_of(design)
    pvalues = [getattr(stats, name)(x, y).pvalue for x, y in itertools.product(X.T, Y.T)]
    assert values(run(design, name, n_trials=1, with_null=False), name) == [min(1.0, 6 * min(pvalues))]


def test_kruskal_is_that_of_scipy():
    samples = [one[:, 0] for one in data_of(THREE)]
    assert values(run(THREE, "kruskal", n_trials=1, with_null=False), "kruskal") == [stats.kruskal(*samples).pvalue]


def test_the_forest_learns_from_halves_and_ranks_the_others():
    from sklearn.ensemble import RandomForestClassifier

    X, Y = data_of(WIDE, n=20)
    rng = generator(n=20)
    forest = RandomForestClassifier(random_state=int(rng.integers(2**31)))
    X, Y = rng.permutation(X), rng.permutation(Y)
    forest.fit(np.vstack([X[:10], Y[:10]]), [0] * 10 + [1] * 10)
    scores = forest.predict_proba(np.vstack([Y[10:], X[10:]]))[:, 1]
    expected = stats.mannwhitneyu(scores[:10], scores[10:], alternative="greater").pvalue
    found = run(WIDE, "random_forest", 20, n_trials=1, with_null=False)
    assert values(found, "random_forest") == [expected]


@pytest.mark.parametrize(
    ("name", "design", "place"),
    [("energy_test", WIDE, "homogeneity"), ("distance_covariance_test", LINE, "independence")],
)
def test_tests_of_dcor_are_those_of_dcor(name, design, place):
    dcor = pytest.importorskip("dcor")
    test = getattr(getattr(dcor, place), name)
    expected = test(*data_of(design), num_resamples=19, random_state=generator()).pvalue
    assert values(run(design, name, n_trials=1, with_null=False), name) == [expected]


@pytest.mark.parametrize(
    ("package", "name", "message"),
    [
        ("dcor", "energy_test", "energy_test is of dcor, which is not installed: pip install dcor"),
        ("sklearn", "random-forest", r"is of scikit-learn, which is not installed: pip install 'shrinktest\[apps\]'"),
    ],
)
def test_a_missing_package_is_named_before_anything_is_stored(tmp_path, monkeypatch, package, name, message):
    def without(module):
        if module.startswith(package):
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)
        return imported(module)

    imported = importlib.import_module
    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(ModuleNotFoundError, match=message):
        run(estimators=name, store=tmp_path / "study.sqlite")
    assert not list(tmp_path.iterdir())


# ------------------------------------------------------------------------------------------------ refusals


def refusing(X, Y, Z):
    return 0.5


REFUSED = {
    "nan": (lambda X, Y: np.nan, ValueError, "test 'mine' must return a p-value.*returned nan.*return 1.0 where"),
    "two": (lambda X, Y: 2.0, ValueError, "test 'mine' must return a p-value, a number from 0 to 1; it returned 2.0"),
    "several": (lambda X, Y: np.array([0.1, 0.2]), TypeError, "returned array.*make one p-value of them.*Bonferroni"),
    "tuple": (lambda X, Y: (3.1, 0.2), TypeError, r"test 'mine'.*it returned \(3.1, 0.2\) \(tuple\)"),
    "bool": (lambda X, Y: True, TypeError, "it returned True"),
    "arguments": (refusing, TypeError, r"called with 2 arguments, \(X, Y\); found refusing\(X, Y, Z\)"),
    "no generator": (lambda X, Y, seed: 1.0, TypeError, "random numbers as rng= or random_state="),
    "kind": ("pearsonr", ValueError, "'pearsonr' is an independence test.*two-sample test.*'ks_2samp'"),
    "unknown": ("ks2samp", ValueError, "no estimator: 'kme'.*nor a two-sample test.*Did you mean 'ks_2samp'"),
    "options": ({"estimator": "ks_2samp", "bandwidth": 1.0}, ValueError, "a test with arguments of its own"),
    "combined": (["kme", stats.ks_2samp], TypeError, "an estimator is a function gram"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_test_is_refused_before_anything_is_stored(case, tmp_path):
    given, kind, message = REFUSED[case]
    with pytest.raises(kind, match=message):
        run(estimators={"mine": given}, store=tmp_path / "study.sqlite")
    assert not list(tmp_path.iterdir())


def test_an_error_names_the_trial():
    def late(X, Y):
        calls.append(1)
        return 0.5 if len(calls) < 6 else np.inf

    calls = []
    with pytest.raises(ValueError, match="test 'late' must return") as caught:
        run(estimators={"late": late}, with_null=False)
    assert "in trial 4 of MeanShift(" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test_options": {"bandwidth": 1.0}}, "test_options is for kernel tests, and there is none among 'ks_2samp'"),
        ({"stopping": "curtailed"}, "stopping is for kernel tests"),
    ],
)
def test_what_would_be_ignored_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        run(estimators="ks_2samp", **options)
    assert len(values(run(estimators=["kme", "ks_2samp"], **options), "ks_2samp")) == 12


def test_relabellings_matter_to_those_that_draw_them():
    assert run(estimators="ks_2samp", n_resamples=1).table["trials"].item() == 6
    with pytest.raises(ValueError, match="too small for alpha"):
        run(estimators="energy_test", n_resamples=1)
    with pytest.raises(ValueError, match="n_resamples=inf asks for all permutations, and 'energy_test' draws them"):
        run(estimators="energy_test", n_resamples=np.inf)


@pytest.mark.parametrize(
    ("given", "message"), [((3,), "function must be callable"), ((t_test, 3), "name must be text")]
)
def test_any_test_is_made_of_a_function_and_a_name(given, message):
    with pytest.raises(TypeError, match=message):
        AnyTest(*given)


# ---------------------------------------------------------------------------- sample sizes and calibration


def test_sample_sizes_of_any_test():
    found = solve_sample_size(SHIFT, estimator=t_test, n_trials=1200, workers=1)
    assert 15 <= found.n <= 19  # 17 by the noncentral t distribution
    assert found.estimator == "t_test" and "the t_test test finds the difference" in found.summary()
    named = solve_sample_size(SHIFT, estimator="ttest_ind", n_trials=100, workers=1)
    assert named.estimator == "ttest_ind"


def test_calibrations_take_names_and_give_wrapped_functions_a_generator():
    X, Y = data_of(SHIFT, n=12)
    named = calibrate("mannwhitneyu", X, Y, n_trials=50, workers=1)
    by_hand = calibrate(lambda X, Y: stats.mannwhitneyu(X[:, 0], Y[:, 0]), X, Y, n_trials=50, workers=1)
    np.testing.assert_array_equal(named.pvalues, by_hand.pvalues)
    assert named.name == "mannwhitneyu"
    one, two = (calibrate(AnyTest(drawn), X, Y, n_trials=50, workers=workers, rng=3).pvalues for workers in (1, 2))
    np.testing.assert_array_equal(one, two)
    assert len(set(one)) == 50
    with pytest.raises(TypeError, match=r"or one of 'ks_2samp'.*found 'nothing'"):
        calibrate("nothing", X, Y)
    with pytest.raises(ValueError, match="'pearsonr' is an independence test"):
        calibrate("pearsonr", X, Y)
