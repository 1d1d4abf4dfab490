"""Ranks, scores and adjusted p-values over the same permutations; several lags; rows left out of all columns."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import gamma

import naive_multiplicity as naive
from shrinktest import (
    MultipleTestsResult,
    compare,
    independence_matrix,
    independence_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.permutations.multiplicity import (
    overall_pvalue,
    scores,
    step_down,
    tail_ranks,
    tails,
)


def draws(seed, rows=60, k=5):
    """Correlated statistics with scales and skewness of their own."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(rows, k)) + rng.normal(size=(rows, 1))
    return np.exp(z * rng.uniform(0.2, 1.5, k)) * rng.uniform(1e-6, 1e6, k)


def test_ranks_and_pvalues_agree_with_the_literal_definition():
    for seed in range(4):
        statistics = draws(seed)
        assert np.array_equal(tail_ranks(statistics), naive.tail_ranks(statistics))
        assert overall_pvalue(scores(statistics)) == pytest.approx(naive.overall(statistics))
        np.testing.assert_allclose(step_down(scores(statistics)), naive.step_down(statistics))


@pytest.mark.parametrize("judged", [scores, tails])
def test_tied_statistics_have_equal_scores(judged):
    rng = np.random.default_rng(1)
    statistics = rng.integers(0, 6, size=(40, 3)).astype(float)
    noisy = statistics + 1e-10 * rng.uniform(-1, 1, size=statistics.shape)
    noisy_scores = judged(noisy, 1e-9)
    for column, value in zip(noisy_scores.T, statistics.T, strict=True):
        assert len(np.unique(column)) == len(np.unique(value))
        assert (np.diff(column[np.argsort(value, kind="stable")]) <= 0).all()


def test_tails_agree_with_the_literal_definition():
    for seed in range(3):
        rng, statistics = np.random.default_rng(seed), draws(seed, rows=40, k=3)
        statistics[:, 2] = rng.integers(0, 4, size=40)
        noisy = statistics + 1e-10 * rng.uniform(-1, 1, size=statistics.shape)
        weights, tolerance = np.array([5.0, 1.0, 2.0]), np.full(3, 1e-9)
        expected, log_tails = (
            naive.weighted_tails(noisy, weights, tolerance),
            tails(noisy, tolerance, weights),
        )
        np.testing.assert_allclose(log_tails, np.log10(expected), rtol=1e-7, atol=1e-9)
        best = expected.min(axis=1)
        assert overall_pvalue(log_tails) == (best <= best[0] * (1 + 1e-9)).mean()


def test_tails_are_those_of_gamma_distributions():
    rng = np.random.default_rng(0)
    for shape in (2.0, 8.0, 50.0):  # Wilson and Hilferty: the larger the shape, the closer
        sample = rng.gamma(shape, size=(200_000, 1))
        above = gamma(shape).sf(sample[:, 0])
        estimated = 10.0 ** tails(sample)[:, 0]
        far = (above > 1e-4) & (above < 0.2)
        assert np.abs(np.log(estimated[far] / above[far])).max() < 0.35, shape


def test_columns_in_which_little_varies():
    rng = np.random.default_rng(1)
    assert (
        tails(np.ones((5, 2)) + 1e-12 * rng.normal(size=(5, 2)), 1e-9) == 0.0
    ).all()  # p-values of 1
    assert (tails(np.ones((1, 2))) == 0.0).all()
    # where the data alone differ, they are what the moments are taken from
    alone = tails(np.vstack([[2.0], np.ones((9, 1))]))
    assert overall_pvalue(alone) == 0.1


def test_one_column_and_equal_columns_give_the_permutation_pvalue():
    for seed in (3, 5):
        statistics = draws(seed, k=1)
        expected = (statistics >= statistics[0]).mean()
        assert overall_pvalue(scores(statistics)) == expected == step_down(scores(statistics))[0]
        repeated = scores(np.repeat(statistics, 4, axis=1))
        assert overall_pvalue(repeated) == expected and np.array_equal(
            step_down(repeated), np.full(4, expected)
        )


def test_smallest_adjusted_pvalue_is_the_overall_one_and_order_is_kept():
    for seed in range(20):
        ranked = scores(draws(seed, rows=100, k=7))
        adjusted = step_down(ranked)
        raw = tail_ranks(draws(seed, rows=100, k=7))[0] / 100
        assert adjusted.min() == overall_pvalue(ranked)
        assert (adjusted >= raw - 1e-12).all() and (
            adjusted <= np.minimum(1.0, 7 * raw + 1e-12)
        ).all()
        assert (np.diff(adjusted[np.argsort(ranked[0])]) >= 0).all()


def test_weights_divide_ranks():
    statistics, weights = draws(6, k=3), np.array([4.0, 1.0, 1.0])
    weighted = scores(statistics, weights=weights)
    np.testing.assert_allclose(weighted, scores(statistics) / (weights / weights.mean()))
    assert np.array_equal(scores(statistics, weights=10 * weights), weighted)
    alone = overall_pvalue(
        scores(statistics[:, :1])
    )  # a dominating weight leaves the test of its column
    assert overall_pvalue(scores(statistics, weights=[1e9, 1.0, 1.0])) == alone


def test_every_row_as_the_observed_one_gives_uniform_pvalues():
    """Exactness by enumeration: over all choices of the row of the data, P(p <= a) <= a, for p and for any subset."""
    for seed, ties in itertools.product(range(4), (False, True)):
        statistics = draws(seed, rows=24, k=4)
        if ties:
            statistics = np.round(np.log(np.abs(statistics)))
        for weights in (None, [5.0, 1.0, 1.0, 0.3]):
            overall, smallest = [], []
            for row in range(24):
                rolled = scores(np.roll(statistics, -row, axis=0), weights=weights)
                overall.append(overall_pvalue(rolled))
                smallest.append(step_down(rolled).min())
            levels = np.arange(1, 25) / 24
            rejected = np.array([np.mean(np.array(overall) <= a + 1e-12) for a in levels])
            assert (rejected <= levels + 1e-12).all()
            assert np.array_equal(overall, smallest)
            if not ties and weights is None:  # at most a tie between columns is lost
                assert rejected.mean() > 0.9 * levels.mean()


def test_step_down_controls_the_family_with_false_hypotheses_among_true_ones():
    rng = np.random.default_rng(8)
    errors = 0
    for _ in range(400):
        statistics = rng.normal(size=(100, 6))
        statistics[0, :3] += 6.0  # three false hypotheses
        adjusted = step_down(scores(statistics))
        assert (adjusted[:3] <= 0.05).all()
        errors += (adjusted[3:] <= 0.05).any()
    assert (
        8 <= errors <= 35
    )  # 20 expected if the level is used up; beyond these bounds with chance 2e-3


def test_any_row_may_be_that_of_the_data():
    """Exact level of tails: over all rows as data, at most a share of alpha has a p-value of at most alpha."""
    statistics = draws(8, rows=50)
    pvalues = [overall_pvalue(tails(np.roll(statistics, -b, axis=0))) for b in range(50)]
    assert sorted(pvalues) == pytest.approx([(i + 1) / 50 for i in range(50)])


def test_results_say_that_permutations_are_too_few_for_the_number_of_tests():
    rng = np.random.default_rng(0)
    a, b = (pd.DataFrame(rng.normal(size=(20, 30))).add_prefix("c") for _ in range(2))
    b[["c0", "c1"]] += 5.0
    given = {"rng": 0, "estimator": "kme"}
    with pytest.warns(UserWarning, match="can never reject"):
        comparison = compare(a, b, method="holm", n_resamples=99, **given)
    assert "is unclear" in comparison.answer and any(
        "99 permutations the smallest" in note for note in comparison.notes
    )
    enough = compare(a, b, method="holm", n_resamples=599, **given)
    assert set(enough.changed()) == {"c0", "c1"} and not any(
        "permutations the smallest possible" in note for note in enough.notes
    )
    with pytest.warns(UserWarning, match="can never reject"):
        few = two_sample_test_columns(a, b, method="holm", n_resamples=99, **given)
    again = few.with_method("fdr_bh")  # which has notes of its own
    assert "99 permutations the smallest" in few.notes[-1] and "2 of 30 p-values" in again.notes[-1]
    assert not again.reject().any() and again.with_method("holm").notes == few.notes
    more = two_sample_test_columns(a, b, method="fdr_bh", n_resamples=399, **given)
    by_permutations = two_sample_test_columns(
        a, b, n_resamples=99, **given
    )  # adjusted by the permutations themselves
    for sure in (more, by_permutations):
        assert sure.reject().sum() == 2 and not any("may reject" in note for note in sure.notes)


# --- lags ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    return x, np.roll(x, 2) + rng.normal(size=200)


@pytest.fixture(scope="module")
def result(data):
    return independence_test(*data, lags=range(-3, 4), block_length="whole")


def test_every_lag_has_the_values_of_the_others(result):
    ordered = np.sort(result.null_distributions, axis=0)
    assert np.allclose(ordered, ordered[:, :1], rtol=1e-9, atol=1e-15)


def test_pvalues_are_those_of_the_largest_over_shifts(result):
    assert (
        result.exact
        and result.labels[result.pvalues.argmin()] == (2,)
        and isinstance(result, MultipleTestsResult)
    )
    largest = result.null_distributions.max(axis=1)
    assert result.pvalue == pytest.approx(np.mean(largest >= result.statistics.max() - 1e-12))
    assert result.pvalue == pytest.approx(7 / 200)
    assert [row["lag"] for row in result.rows() if row["reject"]] == [2]


def test_a_lag_is_a_test_of_rolled_rows(data, result):
    x, y = data
    alone = independence_test(x, np.roll(y, -2), block_length="whole")
    assert result.pvalues[5] == alone.pvalue and result.statistics[5] == pytest.approx(
        alone.statistic
    )


def test_series_roll_by_themselves():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3, 40))
    y = np.roll(x, 1, axis=1) + 0.5 * rng.normal(size=(3, 40))
    result = independence_test(
        x.ravel(),
        y.ravel(),
        lags=[0, 1],
        block_length="whole",
        blocks=np.repeat([0, 1, 2], 40),
        rng=0,
        n_resamples=199,
    )
    assert result.pvalues.argmin() == 1 and result.pvalue <= 0.01


def test_several_estimators_and_rows_that_come_round(data):
    result = independence_test(
        *data, lags=[1, 2], block_length="whole", estimator=["kme", "mkme"], rng=0
    )
    assert result.pvalues.argmin() == 1 and [
        row["lag"] for row in json.loads(result.to_json())["tests"]
    ] == [1, 2]
    alone = independence_test(*data, lags=-1, block_length="whole", n_resamples=0)
    assert alone.notes[-2].startswith(
        "Only lag -1 was tested; lags=range(-1, 2) tests all lags up to 1."
    )
    assert (
        "at a lag of 2 the last 2 rows of one series are paired with the first" in result.notes[-1]
    )


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"lags": [0], "block_length": None}, ValueError, "block_length='whole'"),
        ({"lags": [0, 0]}, ValueError, "must differ"),
        ({"lags": "all"}, TypeError, "whole numbers"),
        ({"lags": [0.5]}, TypeError, "whole numbers"),
        ({"lags": [120]}, ValueError, "below half"),
        ({"lags": range(-10, 11)}, ValueError, "can never reject"),
        ({"lags": [0], "kernel_x": ["gaussian", "laplacian"]}, ValueError, "candidates"),
        ({"lags": [0], "stopping": "curtailed"}, ValueError, "stopping"),
    ],
)
def test_what_cannot_be(data, given, error, message):
    with pytest.raises(error, match=message):
        independence_test(*data, **{"block_length": "whole", **given})


@pytest.mark.parametrize("estimator", ["kme", "auto", ["kme", "skmse"]])
@pytest.mark.parametrize(
    "n", [30, 102]
)  # rows by which ranks and gamma distributions compare statistics
def test_no_pvalue_is_below_lags_over_rows_and_turning_time_round_changes_nothing(estimator, n):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    y = x + 0.3 * rng.normal(size=n)
    options = {
        "lags": range(-1, 2),
        "block_length": "whole",
        "estimator": estimator,
        "n_resamples": np.inf,
        "alpha": 0.1,
    }
    for first, second in ((x, y), (y, x), (x[::-1], y[::-1])):
        assert independence_test(
            first, second, rng=0, workers=1, **options
        ).pvalue == pytest.approx(3 / n)


# --- rows left out of all columns ----------------------------------------------------------------------------------
FEW = {"n_resamples": 19, "rng": 0, "alpha": 0.5}
OMIT = {"nan_policy": "omit", **FEW}


def table(seed, columns="abc", n=30, gaps=()):
    frame = pd.DataFrame(
        np.random.default_rng(seed).normal(size=(n, len(columns))), columns=list(columns)
    )
    for rows, column in gaps:
        frame.loc[rows, column] = np.nan
    return frame


def lost(result):
    """Return the number of rows left out, as the note states it."""
    notes = [
        note for note in result.notes if getattr(note, "code", "") == "missing-left-out-of-all"
    ]
    return notes[0].partition("(")[2].partition(")")[0] if notes else None


X, Y = table(0, gaps=[([1, 2, 3], "b")]), table(1, gaps=[([4], "c"), ([5], "b")])
OTHER, Z = table(1, "de"), table(2, "z")
AC = table(0, gaps=[([1, 2], "c")])


def test_columns_that_lose_rows_to_others_have_a_note():
    for tests, expected in (
        (two_sample_test_columns(X, Y, **OMIT), "5 of 60"),
        (two_sample_test_columns(X.to_numpy(), Y.to_numpy(), **OMIT), "5 of 60"),
        (compare(X, Y, estimator="kme", **OMIT), "5 of 60"),
        (two_sample_test_columns(X, Y, paired=True, **OMIT), "10 of 60"),
        (two_sample_test(X, Y, **OMIT), None),
        (two_sample_test_columns(X, Y, nan_policy="indicator", **FEW), None),
        (two_sample_test_columns(X[["b"]], Y[["b"]], **OMIT), None),
        (two_sample_test_columns(X[["a"]], Y[["a"]], **OMIT), None),
    ):
        assert lost(tests) == expected


def test_rows_that_miss_all_columns_are_no_loss():
    x, y = table(0, "ab", gaps=[([1, 2], "a"), ([1, 2], "b")]), table(1, "ab")
    assert not lost(two_sample_test_columns(x, y, **OMIT))
    x.loc[[3], "a"], y.loc[[3], "b"] = (
        np.nan,
        np.nan,
    )  # of one pair, which has no value in either column then
    assert lost(two_sample_test_columns(x, y, **OMIT)) and not lost(
        two_sample_test_columns(x, y, paired=True, **OMIT)
    )


@pytest.mark.parametrize(("data", "given", "expected"), [
    ((AC,), {}, "2 of 30"),
    ((AC, OTHER), {}, "2 of 30"),
    ((AC[["a", "c"]],), {}, None),  # its only pair misses these
    ((AC[["c"]], OTHER), {}, None),
    ((AC,), {"given": "others", "given_method": "residuals"}, None),  # all columns are in every test
    ((AC[["a"]], OTHER), {"given": AC["c"], "given_method": "residuals"}, None),  # as is what is given
    ((AC, OTHER), {"given": Z, "given_method": "residuals"}, "2 of 30"),
])  # fmt: skip
def test_pairs_that_lose_rows_to_others_have_a_note(data, given, expected):
    assert lost(independence_matrix(*data, **given, **OMIT)) == expected
