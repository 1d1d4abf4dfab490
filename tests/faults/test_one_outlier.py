"""One value that is far away hides no change of a column: the effects that are printed do not break at it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shrinktest import compare

FAST = {"n_resamples": 99, "workers": 1, "rng": 0}


def report(first, second, outlier, in_first, *, whole=False):
    """Compare two columns of 80 values, with one value in place of another, and other values without it."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(50.0, 10.0, 80) * first[1] + first[0], rng.normal(50.0, 10.0, 80) * second[1] + second[0]
    x, y = (np.rint(x), np.rint(y)) if whole else (x, y)
    clean = compare(pd.DataFrame({"v": x}), pd.DataFrame({"v": y}), **FAST)
    (x if in_first else y)[3] = outlier
    return clean, compare(pd.DataFrame({"v": x}), pd.DataFrame({"v": y}), **FAST)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("in_first", [True, False])
@pytest.mark.parametrize("outlier", [999999999.0, -1e30, 1e12])
def test_a_shift_is_told_beside_one_value_that_is_far_away(outlier, in_first, whole):
    _, result = report((0.0, 1.0), (30.0, 1.0), outlier, in_first, whole=whole)
    row = result.table.iloc[0]
    assert result.changed() == ("v",) and row["effect"] == "median" and row["low"] > 0.9
    assert "no single effect" not in row["change"] and row["change"].startswith("median ")
    assert len(row["change"]) < 50  # no number as large as the value


@pytest.mark.parametrize("outlier", [999999999.0, -1e30])
def test_every_effect_stays_where_it_was(outlier):
    clean, result = (one.to_frame().set_index("effect") for one in report((0.0, 1.0), (5.0, 1.5), outlier, True))
    assert {"median", "spread"} == set(clean.index)
    for name, most in {"first": 3.0, "second": 3.0, "estimate": 0.2}.items():
        assert (clean[name] - result[name]).abs().max() < most


def test_a_change_of_spread_is_told_too():
    _, result = report((25.0, 0.5), (-50.0, 2.0), 1e12, True)
    assert "IQR" in result.table.iloc[0]["change"] and 2.5 < result.to_frame()["estimate"].iloc[1] < 7.0


def test_dates_far_away_and_gaps_in_pairs():
    rng = np.random.default_rng(2)
    days = rng.uniform(0.0, 20.0, 60)
    tables = []
    for shift in (0.0, 5.0):
        dates = pd.Series(pd.Timestamp("2024-03-01") + pd.to_timedelta(days + shift + rng.normal(size=60), unit="D"))
        tables.append(pd.DataFrame({"day": dates, "v": rng.normal(size=60)}))
    tables[0].loc[0, "day"], tables[1].loc[7, "day"] = pd.Timestamp("1900-01-01"), pd.NaT
    result = compare(*tables, paired=True, **FAST)
    row = result.to_frame().set_index(["column", "effect"]).sort_index().loc[("day", "median")]
    assert row["low"] > 0.5 and pd.Timedelta(days=3) < row["second"] - row["first"] < pd.Timedelta(days=7)
