"""Rare values: a few rows that differ from all others give the bandwidth, whatever the seed."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from shrinktest import (
    Batches,
    change_point_test,
    compare,
    independence_matrix,
    independence_test,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.kernels import bandwidth_grid, median_bandwidth, neighbour_bandwidth

RULES = {"median": median_bandwidth, "neighbours": neighbour_bandwidth, "grid": bandwidth_grid}
FEW = {"n_resamples": 19, "alpha": 0.1, "workers": 1}
draws = np.random.default_rng(0)


def rare(n, values):
    column = np.zeros(n)
    column[np.random.default_rng(len(values)).choice(n, len(values), replace=False)] = values
    return column


def batches(column, size=3000):
    return Batches([column[i : i + size, None] for i in range(0, len(column), size)])


@pytest.mark.parametrize("rule", RULES.values())
@pytest.mark.parametrize(
    "column",
    [rare(50_000, np.ones(5)), rare(6000, np.ones(3)), rare(2500, [7.0]), 1.0 - rare(9000, np.ones(2))],
)
def test_two_values_give_the_bandwidth_whatever_the_seed(rule, column):
    found = {rule(column, rng=seed) for seed in range(8)}
    assert len(found) == 1
    assert found == {rule(np.r_[column.min(), np.repeat(column.max(), 9)])}


@pytest.mark.filterwarnings("ignore:more than half of the distances")
@pytest.mark.parametrize("rule", RULES.values())
@pytest.mark.parametrize("others", [20, 200, 3000, 11_700, 20_000])  # of 40,000 numbers, the rest is zero
def test_numbers_with_many_zeros_have_one_bandwidth(rule, others):
    column = rare(40_000, np.random.default_rng(1).lognormal(0.0, 2.0, others))
    found = np.array([rule(column, rng=seed) for seed in range(6)])
    assert (found.max(axis=0) < 1.5 * found.min(axis=0)).all()
    if rule is median_bandwidth:  # the distances from zero
        assert found[0] == pytest.approx(np.median(column[column > 0.0]), rel=0.25 if others < 11_700 else 0.8)


@pytest.mark.filterwarnings("ignore:more than half of the distances")
def test_rows_of_several_columns():
    rows = np.column_stack([rare(8000, np.ones(2)), rare(8000, np.ones(3))])
    assert {median_bandwidth(rows, rng=seed) for seed in range(6)} == {1.0}


def test_numbers_that_hardly_repeat_are_drawn_as_before():
    column = np.random.default_rng(2).normal(size=2500)
    chosen = np.random.default_rng(3).choice(2500, 1000, replace=False)
    assert median_bandwidth(column, rng=3) == median_bandwidth(column[chosen])


@pytest.mark.parametrize("bandwidth", ["median", "neighbours", "grid", "0.5 * median"])
def test_every_test_takes_a_rare_flag(bandwidth):
    x, y = rare(1100, [1.0]), rare(1100, [1.0, 1.0])
    long, other = np.r_[x, y], np.random.default_rng(0).normal(size=2200)
    for seed in range(2):
        how = {**FEW, "rng": seed, "gram": "nystrom", "rank": 5}
        assert 0.0 < two_sample_test(x, y, bandwidth=bandwidth, **how).pvalue <= 1.0
        assert 0.0 < k_sample_test(x, y, rare(100, []), bandwidth=bandwidth, **how).pvalue <= 1.0
        assert 0.0 < change_point_test(long, bandwidth=bandwidth, **how).pvalue <= 1.0
        assert 0.0 < independence_test(other, long, bandwidth_y=bandwidth, **how).pvalue <= 1.0
        if bandwidth != "grid":
            assert 0.0 < joint_independence_test(other, long, bandwidths=bandwidth, rng=seed, **FEW).pvalue <= 1.0
            assert len(two_sample_test_columns(x, y, bandwidth=bandwidth, **how)) == 1
            found = independence_matrix(other, pd.DataFrame({"f": long}), bandwidth_y=bandwidth, **how)
            assert len(found) == 1


@pytest.mark.parametrize("seed", [1, 3, 5])
def test_a_report_with_a_rare_flag(seed):
    def table(shift):
        return pd.DataFrame({"flag": rare(1200, [1.0]), "text": np.where(rare(1200, [1.0]) > 0, "u", "v"),
                             "number": np.random.default_rng(shift).normal(shift, size=1200)})  # fmt: skip

    result = compare(table(0), table(1), estimator="kme", gram="nystrom", rank=20, rng=seed, **FEW)
    assert set(result.table["column"]) == {"flag", "text", "number"}
    assert result.table["pvalue"].notna().all() and result.changed() == ("number",)


def test_a_rare_flag_that_is_given():
    x, flag = np.random.default_rng(0).normal(size=(2, 500))
    flag = rare(500, [1.0])
    for seed in range(3):
        found = independence_test(x, x**2, given=flag, given_method="residuals", rng=seed, **FEW)
        assert 0.0 < found.pvalue <= 1.0


@pytest.mark.filterwarnings("ignore:more than half of the distances")
@pytest.mark.parametrize("values", [np.ones(4), np.random.default_rng(4).lognormal(0.0, 2.0, 20)])
def test_samples_in_batches(values):
    how = {**FEW, "gram": "rff", "rank": 5}
    first, second = (batches(one) for one in np.split(rare(40_000, values), 2))
    column = rare(40_000, values)
    for rule in ("median", "neighbours"):
        found = {two_sample_test(first, second, bandwidth=rule, rng=seed, **how).bandwidth for seed in range(3)}
        assert found == {RULES[rule](column, rng=0)}
    number = batches(np.random.default_rng(0).normal(size=40_000))
    found = {independence_test(number, batches(column), rng=seed, **how).bandwidth[1] for seed in range(3)}
    assert found == {median_bandwidth(column, rng=0)}


def test_columns_in_batches(tmp_path):
    number = np.random.default_rng(0).normal([[0.0], [1.0]], size=(2, 9000))
    paths = []
    for i in range(2):
        paths.append(tmp_path / f"{i}.csv")
        word = np.where(rare(9000, [1.0]) > 0, "rare", "usual")
        table = pd.DataFrame({"flag": rare(9000, [1.0, 1.0]), "number": number[i].round(3), "word": word})
        table.to_csv(paths[-1], index=False)
    how = {**FEW, "gram": "rff", "rank": 5, "store": tmp_path / "store"}
    for _ in range(2):  # the second time from the store
        found = two_sample_test_columns(Batches(paths[0]), Batches(paths[1]), rng=0, **how)
        assert found.pvalues[0] == found.pvalues[2] == 1.0 and found.pvalues[1] == 0.05


def test_the_numbers_of_workers_change_nothing():
    first, second = batches(rare(30_000, np.arange(1.0, 15.0)), 2000), batches(rare(30_000, [5.0, 6.0]), 2000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, other = (
            two_sample_test(first, second, gram="rff", rank=5, n_resamples=19, rng=0, alpha=0.1, workers=w)
            for w in (1, 2)
        )
    assert (one.bandwidth, one.pvalue) == (other.bandwidth, other.pvalue)
