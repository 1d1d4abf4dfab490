"""Series in order of time: columns that tell it are not tested, and texts that cannot tell it are errors."""

import itertools

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
DATES = pd.date_range("2020-01-01", periods=N)
CLOCKS = {
    "date": pd.Series(DATES),
    "hours": pd.Series(0.5 * ROWS),
    "years": pd.Series(1960.0 + ROWS),
    "quarters": pd.Series(2000.0 + ROWS // 4),
    "seconds": pd.Series(1.5e9 + 1800.0 * ROWS),
}
ALONE = pd.DataFrame({"v": VALUE})


def untested(found):
    return any("'t' is not tested" in note for note in found.notes)


def test_a_series_is_tested_without_the_columns_that_tell_the_time():
    for (name, clock), test in itertools.product(CLOCKS.items(), (change_point_test, change_points)):
        table = pd.DataFrame({"t": clock, "v": VALUE})
        found = test(table, **FEW)
        assert untested(found) and found.pvalue == test(ALONE, **FEW).pvalue, name
        as_told = test(table, column_types={"t": "date" if name == "date" else "number"}, **FEW)
        assert as_told.pvalue == 0.01 and not untested(as_told), name
    few = pd.DataFrame({"t": np.sort(RNG.integers(0, 9, N)), "v": VALUE})
    assert not untested(change_point_test(few, **FEW))
    table = pd.DataFrame({"t": CLOCKS["quarters"], "v": VALUE})
    for scale in ({"t": 1.0, "v": "sd"}, [1.0, "sd"]):  # a column with units of its own is asked for
        assert change_point_test(table, scale=scale, **FEW).pvalue == 0.01
    assert change_point_test(table, scale="rank", **FEW).pvalue > 0.05
    assert change_point_test(table[["t"]], **FEW).pvalue == 0.01  # the time alone is tested


def test_a_clock_that_misses_cells_or_stands_beside_such_a_column_is_not_tested():
    value = pd.Series(VALUE).where(ROWS % 20 != 7)
    alone = change_point_test(ALONE, **FEW)
    for clock, policy in itertools.product(CLOCKS.values(), ("raise", "omit", "indicator", "propagate")):
        table = pd.DataFrame({"t": clock.where(ROWS % 20 != 7), "v": VALUE})
        found = change_point_test(table, nan_policy=policy, **FEW)
        assert found.n_observations == (N,) and untested(found) and found.pvalue == alone.pvalue
    for clock, policy in itertools.product(CLOCKS.values(), ("omit", "indicator")):
        found = change_point_test(pd.DataFrame({"t": clock, "v": value}), nan_policy=policy, **FEW)
        without = change_point_test(pd.DataFrame({"v": value}), nan_policy=policy, **FEW)
        assert untested(found) and (found.pvalue, found.location) == (without.pvalue, without.location)


def test_columns_that_are_tested_must_be_complete():
    clock = pd.DataFrame({"t": CLOCKS["hours"].where(ROWS != 7), "v": VALUE})
    sorted_values = pd.DataFrame({"t": pd.Series(np.sort(VALUE)).where(ROWS != 7), "v": VALUE})  # no clock
    as_number, as_scaled = {"column_types": {"t": "number"}}, {"scale": {"t": "sd", "v": "sd"}}
    for table, told in ((clock, as_number), (clock, as_scaled), (sorted_values, {})):
        found = change_point_test(table, nan_policy="omit", **told, **FEW)
        assert found.pvalue == 0.01 and found.n_observations == (N - 1,)
        with pytest.raises(ValueError, match="missing value"):
            change_point_test(table, **told, **FEW)


def test_places_among_rows_that_are_left():
    x = np.r_[np.full(10, np.nan), VALUE + 5.0 * (ROWS >= 30)]
    found = change_point_test(x, nan_policy="omit", **FEW)
    assert found.location == 30 and any("Places count the rows that are left" in note for note in found.notes)
    assert change_point_test(x, nan_policy="omit", times=np.arange(len(x)), **FEW).when == 40
    notes = change_points(pd.Series(x), nan_policy="omit", **FEW).notes
    assert any("Places count the rows that are left" in note for note in notes)
    assert not any("Places count" in note for note in change_point_test(VALUE, nan_policy="omit", **FEW).notes)


def test_series_of_one_sample_only_have_no_shifts():
    """Their labels are the same wherever they go."""
    sizes = (20, 20)
    apart = PermutationDesign(np.repeat([0, 1], sizes), shift=True)
    with pytest.raises(ValueError, match="1 different permutation"):
        apart.labels(sizes, 0.05)
    half = PermutationDesign(np.r_[np.zeros(10), np.ones(30)].astype(int), shift=True).labels(sizes, 0.05)
    rows = np.array(list(half.all()))
    assert half.distinct == 30 == len(np.unique(rows, axis=0)) and (rows[:, :10] == 0).all()
    assert np.array_equal(rows[0], np.repeat([0, 1], sizes))
    whole = PermutationDesign(np.zeros(40, dtype=int), shift=True).labels(sizes, 0.05)
    assert whole.distinct == 20  # half a turn exchanges the samples


def test_what_cannot_be_in_order_of_time():
    same = pd.DataFrame({"t": DATES, "same": 1.0})
    split = {"shift": "circular", "blocks": np.repeat([0, 1], 20), **FEW}
    for call, argument in (
        (lambda: change_point_test(VALUE[:20], times=[str(i) for i in range(20)]), "Text is compared letter by"),
        (lambda: change_point_test(VALUE[:20], times=np.arange(20)[::-1]), "Sort"),
        (lambda: change_point_test(VALUE, confidence=0.999999), "confidence"),
        (lambda: change_point_test(same, **FEW), "every row of every column"),
        (lambda: two_sample_test(VALUE[:20], VALUE[20:40], **split), "1 different permutation"),
        (lambda: independence_test(VALUE, VALUE, lags=[0, 1], shift="circular", stopping="curtailed"), "stopping="),
    ):
        with pytest.raises(ValueError, match=argument):
            call()
