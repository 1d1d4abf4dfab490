"""Tests that are not of this package in power studies: what they get, what they may return, and the known ones."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from shrinktest import KME, check_level, two_sample_test
from shrinktest.estimators import ALIASES, ESTIMATORS, FromFunction
from shrinktest.power import KNOWN_TESTS, AnyTest, designs, power_study
from shrinktest.power.compared import is_test, known_tests

SHIFT = designs.MeanShift(dimension=1, shift=1.0)
WIDE = designs.MeanShift(dimension=3, shift=1.0)
THREE = designs.OneApart(dimension=1, shift=2.0)


def run(design=SHIFT, estimators="kme", sizes=8, **options):
    """A study of a moment."""
    given = {"alphas": 0.1, "n_trials": 6, "n_resamples": 19, "workers": 1, "rng": 0}
    return power_study(design, estimators, sizes, **{**given, **options})


def values(result, label):
    return result.pvalues.query("estimator == @label")["pvalue"].tolist()


def stream(number, trial=0, n=8, null=False):
    return np.random.default_rng(np.random.SeedSequence(0, spawn_key=(n, int(null), trial, number)))


def data_of(design, trial=0, n=8, null=False):
    """The data of a trial of a study."""
    return (design.null() if null else design).sample(stream(0, trial, n, null), n)


def t_test(X, Y):
    return stats.ttest_ind(X[:, 0], Y[:, 0])


def drawn(X, Y, rng):
    return rng.random()


def shuffled(X, Y, *, random_state=None):
    return random_state.random()


def sorting(X, Y):
    X.sort(axis=0)
    Y[:] = 0.0
    return 1.0


def test_tests_see_the_data_of_the_others_and_draw_from_a_stream_of_their_own():
    alone = run(estimators="kme")
    tests = {
        "sorting": sorting,
        "kme": "kme",
        "t": t_test,
        "KS": stats.ks_2samp,
        "a": drawn,
        "b": shuffled,
    }
    among = run(estimators=tests)
    assert values(among, "kme") == values(alone, "kme")
    cells = [(trial, 8, null) for null in (False, True) for trial in range(6)]
    assert values(among, "t") == [t_test(*data_of(SHIFT, *cell)).pvalue for cell in cells]
    assert values(among, "KS") == [
        stats.ks_2samp(*(z[:, 0] for z in data_of(SHIFT, *cell))).pvalue for cell in cells
    ]
    assert values(among, "a") == values(among, "b") == [stream(2, *cell).random() for cell in cells]
    assert values(run(estimators={"a": AnyTest(drawn)}), "a") == values(among, "a")
    assert list(run(estimators=[t_test, partial(drawn), "ttest_ind"]).estimators) == [
        "t_test",
        "drawn()",
        "ttest_ind",
    ]
    assert among.summary().startswith("Power of two-sample tests\n")
    assert "Permutations" not in run(estimators=["ks_2samp", t_test], n_trials=2).summary()
    ours = partial(two_sample_test, n_resamples=19, workers=1)
    expected = ours(*data_of(SHIFT), rng=stream(2)).pvalue
    assert values(run(estimators={"ours": ours}, n_trials=1), "ours")[0] == expected


def test_any_number_of_samples_and_tables():
    def tables(rng, n):
        return tuple(pd.DataFrame({"size": rng.normal(size=n)}) for _ in range(2))

    def compared(X, Y):
        return stats.ks_2samp(X["size"], Y["size"])

    three_samples = run(
        THREE, {"all": AnyTest(stats.kruskal), "two": lambda X, Y, Z: 0.5}, n_trials=2
    )
    assert (
        values(three_samples, "all")[0] == stats.kruskal(*(z[:, 0] for z in data_of(THREE))).pvalue
    )
    study = run(tables, {"table": compared, "name": "ks_2samp"}, n_trials=2)
    assert values(study, "table") == values(study, "name")


def test_the_signature_tells_a_test_from_an_estimator():
    for function in (
        drawn,
        lambda X, Y, Z, *, rng=None: 1,
        lambda X, Y, *more: 1,
        stats.mannwhitneyu,
        two_sample_test,
    ):
        assert is_test(function)
    for function in (
        lambda gram: 1,
        lambda gram, amount=0.1: 1,
        partial(lambda gram, amount: 1, amount=0.1),
    ):
        assert not is_test(function)
    for function in (
        lambda *samples: 1,
        lambda first, *rest: 1,
        stats.kruskal,
        lambda X=None: 1,
        max,
    ):
        with pytest.raises(
            TypeError, match=r"AnyTest\(.*\) or shrinktest.estimators.FromFunction\("
        ):
            run(estimators=function)
    plain = lambda gram: np.full(len(gram), 1 / len(gram))  # noqa: E731
    study = run(
        estimators={
            "mine": plain,
            "wrapped": FromFunction(lambda *gram: plain(*gram)),
            "kme": KME(),
        }
    )
    assert values(study, "mine") == values(study, "wrapped") == values(study, "kme")


@pytest.mark.filterwarnings("ignore:An input array is constant", "ignore:Precision loss")
def test_tests_of_scipy_are_those_of_columns():
    assert not {*KNOWN_TESTS} & {*ESTIMATORS, *ALIASES, "auto"}
    assert sum(
        len(known_tests(kind)) for kind in ("two-sample", "independence", "k-sample")
    ) == len(KNOWN_TESTS)
    rng, (X, Y) = np.random.default_rng(0), data_of(WIDE, n=20)
    for name in ("ks_2samp", "cramervonmises_2samp", "mannwhitneyu", "ttest_ind"):
        pvalues = [getattr(stats, name)(x, y).pvalue for x, y in zip(X.T, Y.T, strict=True)]
        assert KNOWN_TESTS[name].pvalue([X, Y], rng, 99) == min(1.0, 3 * min(pvalues))
    for name in ("pearsonr", "spearmanr"):
        pvalues = [getattr(stats, name)(x, y).pvalue for x, y in itertools.product(X.T, Y.T[:2])]
        assert KNOWN_TESTS[name].pvalue([X, Y[:, :2]], rng, 99) == min(1.0, 6 * min(pvalues))
    assert (
        KNOWN_TESTS["kruskal"].pvalue([X[:, :1], Y[:, :1]], rng, 9)
        == stats.kruskal(X[:, 0], Y[:, 0]).pvalue
    )
    constant = [np.c_[np.zeros(20), z[:, 0]] for z in (X, Y + 5.0)]  # hides no other column
    assert (
        KNOWN_TESTS["ttest_ind"].pvalue(constant, rng, 9)
        == 2 * stats.ttest_ind(X[:, 0], Y[:, 0] + 5.0).pvalue
    )


@pytest.mark.ci
def test_the_forest_learns_from_halves_and_ranks_the_others():
    from sklearn.ensemble import RandomForestClassifier

    (X, Y), rng = data_of(WIDE, n=20), stream(2, n=20)
    forest = RandomForestClassifier(random_state=int(rng.integers(2**31)))
    X, Y = rng.permutation(X), rng.permutation(Y)
    forest.fit(np.vstack([X[:10], Y[:10]]), [0] * 10 + [1] * 10)
    scores = forest.predict_proba(np.vstack([Y[10:], X[10:]]))[:, 1]
    expected = stats.mannwhitneyu(scores[:10], scores[10:], alternative="greater").pvalue
    assert values(run(WIDE, "random_forest", 20, n_trials=1, with_null=False), "random_forest") == [
        expected
    ]


@pytest.mark.parametrize(
    ("name", "design", "place"),
    [
        ("energy_test", WIDE, "homogeneity"),
        ("distance_covariance_test", designs.Linear(), "independence"),
    ],
)
def test_tests_of_dcor_are_those_of_dcor(name, design, place):
    dcor = pytest.importorskip("dcor")
    expected = getattr(getattr(dcor, place), name)(
        *data_of(design), num_resamples=19, random_state=stream(2)
    ).pvalue
    assert values(run(design, name, n_trials=1, with_null=False), name) == [expected]


@pytest.mark.parametrize(
    ("given", "error", "named"),
    [
        (lambda X, Y: np.nan, ValueError, "test 'mine'.*return 1.0 if"),
        (lambda X, Y: 2.0, ValueError, "test 'mine'.*from 0 to 1"),
        (lambda X, Y: np.array([0.1, 0.2]), TypeError, "Bonferroni"),
        (lambda X, Y, Z: 0.5, TypeError, r"\(X, Y\)"),
        ("pearsonr", ValueError, "'pearsonr' is an independence test.*'ks_2samp'"),
        ("ks2samp", ValueError, "Did you mean 'ks_2samp'"),
        ({"estimator": "ks_2samp", "bandwidth": 1.0}, ValueError, "pass it alone"),
    ],
)
def test_errors_name_the_test_before_anything_is_stored(given, error, named, tmp_path):
    with pytest.raises(error, match=named):
        run(estimators={"mine": given}, store=tmp_path / "study.sqlite")
    assert not list(tmp_path.iterdir())


def test_calibrations_take_names_and_give_wrapped_functions_a_generator():
    X, Y = data_of(SHIFT, n=12)
    named = check_level("mannwhitneyu", X, Y, n_trials=30, workers=1, rng=0)
    by_hand = check_level(
        lambda X, Y: stats.mannwhitneyu(X[:, 0], Y[:, 0]), X, Y, n_trials=30, workers=1, rng=0
    )
    np.testing.assert_array_equal(named.pvalues, by_hand.pvalues)
    first, second = (
        check_level(AnyTest(drawn), X, Y, n_trials=30, workers=1, rng=3).pvalues for _ in range(2)
    )
    assert np.array_equal(first, second) and len(set(first)) == 30 and named.name == "mannwhitneyu"
    for test, error in (("nothing", TypeError), ("pearsonr", ValueError)):
        with pytest.raises(error, match="ks_2samp"):
            check_level(test, X, Y, rng=0)
