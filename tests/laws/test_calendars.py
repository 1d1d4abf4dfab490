"""Series in order of time: columns that tell it are not tested, and texts that cannot tell it are errors."""

import numpy as np
import pandas as pd
import pytest

from shrinktest import change_point_test, change_points, independence_test, two_sample_test
from shrinktest.permutations.design import PermutationDesign

RNG = np.random.default_rng(0)
N = 60
VALUE = RNG.normal(size=N)
FEW = {"n_resamples": 99, "rng": 0}
ROWS = np.arange(N)


@pytest.mark.parametrize(
    "time",
    [pd.date_range("2020-01-01", periods=N), 2000 + ROWS // 4, 1.5e9 + 1800.0 * ROWS, np.sort(RNG.integers(0, 9, N))],
    ids=["dates", "years", "seconds", "sorted"],
)
def test_a_series_is_tested_without_the_columns_that_tell_the_time(time):
    table, alone = pd.DataFrame({"t": time, "v": VALUE}), pd.DataFrame({"v": VALUE})
    for test in (change_point_test, change_points):
        found = test(table, **FEW)
        told = any("'t' is not tested: it counts rows or tells the time" in note for note in found.notes)
        assert told == (len(set(time)) > 9)
        if told:
            assert found.pvalue == test(alone, **FEW).pvalue
            kind = "date" if isinstance(time, pd.DatetimeIndex) else "number"
            asked = test(table, column_types={"t": kind}, **FEW)
            assert asked.pvalue == 0.01 and not any("not tested" in note for note in asked.notes)


def test_a_column_that_has_units_of_its_own_is_asked_for():
    table = pd.DataFrame({"t": 2000 + ROWS // 4, "v": VALUE})
    for scale in ({"t": 1.0, "v": "sd"}, [1.0, "sd"]):
        assert change_point_test(table, scale=scale, **FEW).pvalue == 0.01
    assert change_point_test(table, scale="rank", **FEW).pvalue > 0.05


def test_the_time_alone_is_tested():
    assert change_point_test(pd.DataFrame({"t": 2000.0 + ROWS // 4}), **FEW).pvalue == 0.01


def test_an_interval_is_not_shifted_around():
    spell = VALUE + 4.0 * ((ROWS >= 20) & (ROWS < 40))
    with pytest.raises(ValueError, match="found again in every permutation"):
        change_point_test(spell, change="epidemic", shift="circular", **FEW)
    assert change_point_test(spell, change="epidemic", **FEW).pvalue == 0.01


def test_places_among_rows_that_are_left():
    x = np.r_[np.full(10, np.nan), VALUE + 5.0 * (ROWS >= 30)]
    found = change_point_test(x, nan_policy="omit", **FEW)
    assert found.location == 30 and any("Places count the rows that are left" in note for note in found.notes)
    named = change_point_test(x, nan_policy="omit", times=np.arange(len(x)), **FEW)
    assert named.when == 40
    assert any("not among them (times stay those of their rows)" in note for note in named.notes)
    dated = pd.Series(x, pd.date_range("2020-01-01", periods=len(x)))
    for test in (change_point_test, change_points):
        notes = test(dated, nan_policy="omit", **FEW).notes
        assert any("Places count the rows that are left" in note for note in notes)
    assert not any("Places count" in note for note in change_point_test(VALUE, nan_policy="omit", **FEW).notes)


CLOCKS = {
    "dates": pd.Series(pd.date_range("2020-01-01", periods=N)),
    "hours": pd.Series(0.5 * ROWS),
    "years": pd.Series(1960.0 + ROWS),
    "quarters": pd.Series(2000.0 + ROWS // 4),
}


@pytest.mark.parametrize("policy", ["raise", "omit", "indicator", "propagate"])
@pytest.mark.parametrize("clock", CLOCKS.values(), ids=CLOCKS)
def test_a_clock_that_misses_a_cell_is_not_tested(clock, policy):
    table = pd.DataFrame({"t": clock.where(ROWS % 20 != 7), "v": VALUE})
    alone = change_point_test(pd.DataFrame({"v": VALUE}), **FEW)
    for test in (change_point_test, change_points):
        found = test(table, nan_policy=policy, **FEW)
        assert found.n_observations == (N,)  # no row is left out for what is not tested
        assert any("Column 't' is not tested: it" in note for note in found.notes)
    assert change_point_test(table, nan_policy=policy, **FEW).pvalue == alone.pvalue


@pytest.mark.parametrize("policy", ["omit", "indicator"])
@pytest.mark.parametrize("clock", CLOCKS.values(), ids=CLOCKS)
def test_a_clock_beside_a_column_that_misses_cells_is_not_tested(clock, policy):
    value = pd.Series(VALUE).where(ROWS % 20 != 7)
    found = change_point_test(pd.DataFrame({"t": clock, "v": value}), nan_policy=policy, **FEW)
    alone = change_point_test(pd.DataFrame({"v": value}), nan_policy=policy, **FEW)
    assert any("Column 't' is not tested: it" in note for note in found.notes)
    assert (found.pvalue, found.location) == (alone.pvalue, alone.location)


def test_a_clock_that_misses_a_cell_is_tested_where_somebody_asks_for_it():
    table = pd.DataFrame({"t": CLOCKS["hours"].where(ROWS != 7), "v": VALUE})
    for asked in ({"column_types": {"t": "number"}}, {"scale": {"t": "sd", "v": "sd"}}):
        assert change_point_test(table, nan_policy="omit", **asked, **FEW).pvalue == 0.01
        with pytest.raises(ValueError, match="1 missing value"):
            change_point_test(table, **asked, **FEW)


def test_columns_that_are_no_clock_are_tested_and_what_they_miss_counts():
    table = pd.DataFrame({"t": pd.Series(np.sort(VALUE)).where(ROWS != 7), "v": VALUE})
    found = change_point_test(table, nan_policy="omit", **FEW)
    assert found.pvalue == 0.01 and found.n_observations == (N - 1,)
    with pytest.raises(ValueError, match="1 missing value"):
        change_point_test(table, **FEW)


def test_text_is_in_no_order_of_time():
    with pytest.raises(ValueError, match=r"row 10 is at 10, .*Text is compared letter by letter.*give dates"):
        change_point_test(VALUE[:20], times=[str(i) for i in range(20)])
    with pytest.raises(ValueError, match="Sort the rows first"):
        change_point_test(VALUE[:20], times=np.arange(20)[::-1])


def test_series_of_one_sample_only_have_no_shifts():
    """Their labels are the same wherever they go."""
    sizes = (20, 20)
    apart = PermutationDesign(np.repeat([0, 1], sizes), shift=True)
    with pytest.raises(ValueError, match="1 different permutation"):
        two_sample_test(VALUE[:20], VALUE[20:40], shift="circular", blocks=np.repeat([0, 1], sizes), **FEW)
    with pytest.raises(ValueError, match="1 different permutation"):
        apart.labels(sizes, 0.05)
    half = PermutationDesign(np.r_[np.zeros(10), np.ones(30)].astype(int), shift=True).labels(sizes, 0.05)
    rows = np.array(list(half.all()))
    assert half.distinct == 30 == len(np.unique(rows, axis=0)) and (rows[:, :10] == 0).all()
    assert np.array_equal(rows[0], np.repeat([0, 1], sizes))
    whole = PermutationDesign(np.zeros(40, dtype=int), shift=True).labels(sizes, 0.05)
    assert whole.distinct == 20  # half a turn exchanges the samples


def test_confidence_has_an_end():
    with pytest.raises(ValueError, match=r"confidence=0\.999999 takes more permutations than there is time for"):
        change_point_test(VALUE, confidence=0.999999)


def test_lags_have_no_rule_for_stopping():
    with pytest.raises(ValueError, match="one estimator, kernel, bandwidth and lag"):
        independence_test(VALUE, VALUE[::-1], lags=[0, 1], shift="circular", stopping="curtailed")


def test_what_is_left_of_a_series_must_vary():
    table = pd.DataFrame({"t": pd.date_range("2020-01-01", periods=N), "same": 1.0})
    with pytest.raises(ValueError, match="one value in every row of every column but 't', which tell the time"):
        change_point_test(table, **FEW)


def test_intervals_of_several_series_may_be_shifted():
    blocks = ROWS % 2
    found = change_point_test(VALUE, change="epidemic", shift="circular", blocks=blocks, **FEW)
    assert 0.0 < found.pvalue <= 1.0
