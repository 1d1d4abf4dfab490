"""Columns that tell the time are never data in tests of change, whatever their order."""

import numpy as np
import pandas as pd
import pytest

from shrinktest import change_point_test, change_points
from shrinktest.cli.entry import main

N = 60
ROWS = np.arange(N)
RNG = np.random.default_rng(0)
NOISE = RNG.normal(size=N)
DAYS = pd.date_range("2024-01-01", periods=N)
SWAPPED = np.r_[0:30, 31, 30, 32:N]
TESTS = (change_point_test, change_points)
FEW = {"n_resamples": 99, "rng": 0}

UNSORTED = {
    "descending": DAYS[::-1],
    "swapped": DAYS[SWAPPED],
    "shuffled": DAYS[RNG.permutation(N)],
    "two sensors": DAYS[ROWS % 30],
    "one row late": DAYS[np.r_[1:N, 0]],
    "with a zone": DAYS.tz_localize("Europe/Zurich")[::-1],
    "with gaps": pd.Series(DAYS[::-1]).where(ROWS % 7 != 3),
    "days of Python": list(DAYS[::-1].date),
}
CLOCKS = {
    "dates": DAYS,
    "dates that repeat": DAYS[ROWS // 2],
    "dates with gaps": pd.Series(DAYS).where(ROWS % 7 != 3),
    "row numbers down": ROWS[::-1] + 1,
    "years down": 2024 - ROWS // 4,
    "hours down": -0.5 * ROWS,
    "Unix seconds with gaps": 1_700_000_000 + np.cumsum(RNG.integers(1, 90, N)),
    "Unix seconds with gaps, down": 1_700_000_000 - np.cumsum(RNG.integers(1, 90, N)),
    "Unix minutes with lost rows": 1_700_000_000 + 60 * np.sort(RNG.choice(90, N, replace=False)),
    "Unix seconds that are missing": pd.Series(1.7e9 + np.cumsum(RNG.integers(1, 90, N))).where(ROWS % 7 != 3),
    "Unix nanoseconds": 10**9 * (1_700_000_000 + np.cumsum(RNG.integers(0, 5, N))),
    "order numbers": 1000 + np.cumsum(RNG.integers(1, 4, N)),
    "time since the start": pd.to_timedelta(np.cumsum(RNG.integers(1, 90, N)), unit="s"),
}


@pytest.mark.parametrize("dates", UNSORTED.values(), ids=UNSORTED)
def test_dates_that_are_not_in_order_are_refused(dates):
    table = pd.DataFrame({"date": dates, "v": NOISE})
    for test in TESTS:
        with pytest.raises(ValueError, match=r"column 'date'.*not sorted: .* in row \d+ .*column_types=\{'date': 'drop'\}"):
            test(table, **FEW)
    assert change_point_test(table, column_types={"date": "drop"}, **FEW).pvalue > 0.05
    complete = table.dropna()
    assert change_point_test(complete.sort_values("date"), **FEW).columns == (("v",),)
    with pytest.raises(ValueError, match=r"not sorted|repeat"):  # the rule of an index
        change_point_test(pd.Series(complete["v"].to_numpy(), pd.DatetimeIndex(complete["date"])), **FEW)


@pytest.mark.parametrize("clock", CLOCKS.values(), ids=CLOCKS)
def test_columns_that_count_or_tell_the_time_are_left_out(clock):
    table = pd.DataFrame({"t": clock, "v": NOISE})
    for test in TESTS:
        found, alone = test(table, **FEW), test(table[["v"]], **FEW)
        assert found.pvalue == alone.pvalue
        assert any("Column 't' is not tested: it counts rows or tells the time" in note for note in found.notes)


def test_dates_alone_hold_nothing_to_test():
    for alone in (pd.Series(DAYS), pd.DataFrame({"date": DAYS}), pd.DataFrame({"a": DAYS, "b": DAYS})):
        for test in TESTS:
            with pytest.raises(ValueError, match="X holds only dates"):
                test(alone, **FEW)


def test_values_are_still_tested():
    stairs = np.sort(RNG.integers(0, 9, N))
    population = 1000 + np.cumsum(RNG.integers(1, 90, N))
    for values in (np.cumsum(NOISE + 1.0), np.repeat([0, 1], 30), stairs, RNG.permutation(N)):
        assert change_point_test(pd.DataFrame({"a": values, "b": NOISE}), **FEW).columns == (("a", "b"),)
    assert change_point_test(pd.DataFrame({"year": 1960 + ROWS, "people": population}), **FEW).columns == (("people",),)
    assert change_point_test(pd.DataFrame({"people": population}), **FEW).pvalue == 0.01
    told = change_point_test(pd.DataFrame({"t": DAYS[::-1], "v": NOISE}), column_types={"t": "date"}, **FEW)
    assert told.pvalue == 0.01 and told.columns == (("t", "v"),)


@pytest.mark.parametrize("more", [[], ["--several"]])
def test_the_command_has_the_same_rule(tmp_path, capsys, more):
    path = str(tmp_path / "series.csv")
    words = ["change", path, "--seed", "0", "--resamples", "99", *more]
    for name in ("descending", "swapped", "two sensors"):
        pd.DataFrame({"date": UNSORTED[name], "v": NOISE}).to_csv(path, index=False)
        assert main(words) == 2
        assert "column 'date': dates are not sorted" in capsys.readouterr().err
    for name in ("row numbers down", "Unix seconds with gaps", "Unix minutes with lost rows"):
        pd.DataFrame({"t": CLOCKS[name], "v": NOISE}).to_csv(path, index=False)
        assert main(words) == 0
        assert "Column 't' is not tested: it counts rows" in " ".join(capsys.readouterr().out.split())
