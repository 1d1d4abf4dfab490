"""Dates and counters that come one after the other in two tables do not decide the overall test of a comparison."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shrinktest import compare, two_sample_test
from shrinktest.cli import main

FAST = {"n_resamples": 99, "workers": 1, "rng": 0, "estimator": "kme"}


def exports(seed, second_day=31, *, rows=40):
    """Two tables of orders, with dates in the 30 days from the first day of each, times, and increasing numbers."""
    rng = np.random.default_rng(seed)
    tables = []
    for start in (0, second_day):
        days = np.sort(rng.uniform(0.0, 30.0, rows)) + start
        numbers = 1000 + (50 * days).astype(int) * 3 + np.arange(rows)
        tables.append(
            pd.DataFrame(
                {
                    "day": pd.Timestamp("2024-03-01") + pd.to_timedelta(days.astype(int), unit="D"),
                    "time": (pd.Timestamp("2024-03-01") + pd.to_timedelta(days, unit="D")).as_unit("s"),
                    "order": rng.permutation(numbers),
                    "amount": rng.normal(size=rows),
                    "region": rng.choice(["north", "south"], rows),
                }
            )
        )
    return tables


@pytest.mark.parametrize("column", ["day", "time", "order"])
@pytest.mark.parametrize("second_day", [31, 28, 400])
def test_they_are_left_out_of_the_overall_test_and_keep_their_row(column, second_day):
    a, b = (table[["amount", column, "region"]] for table in exports(1, second_day))
    result = compare(a, b, **FAST)
    others = [table.drop(columns=column) for table in (a, b)]
    assert result.pvalue == two_sample_test(*others, nan_policy="indicator", **FAST).pvalue > 0.05
    assert result.changed() == (column,) and result.successive == (column,)
    assert result.effect.auc < 0.8 and not result.reject()
    assert any(column in note and "left out of the overall test" in note for note in result.notes)
    assert not any("alone tells" in note for note in result.notes)
    assert f"without {column}, the tables do not differ clearly" in result.answer


def test_several_of_them_and_gaps():
    a, b = exports(2)
    a.loc[3, "day"] = b.loc[5, "amount"] = None
    for policy in ("indicator", "omit"):
        result = compare(a, b, nan_policy=policy, **FAST)
        assert result.successive == ("day", "time", "order") and not result.reject()
        assert result.where is None or not set(result.where.columns) & set(result.successive)


def test_a_type_that_is_named_keeps_a_column():
    a, b = exports(3)
    a, b = a[["day", "amount"]], b[["day", "amount"]]
    assert not compare(a, b, **FAST).reject()
    assert compare(a, b, column_types={"day": "date"}, **FAST).reject()


@pytest.mark.parametrize("second_day, rows", [(0, 40), (10, 40), (31, 8)])
def test_dates_that_overlap_and_few_rows_are_compared_as_before(second_day, rows):
    a, b = (table[["day", "amount"]] for table in exports(4, second_day, rows=rows))
    result = compare(a, b, **FAST)
    assert result.successive == ()
    assert result.pvalue == two_sample_test(a, b, nan_policy="indicator", **FAST).pvalue


def test_a_table_of_nothing_else_is_still_compared():
    a, b = (table[["day", "order"]] for table in exports(5))
    assert compare(a, b, **FAST).reject()


def test_the_command_line_says_so(tmp_path, capsys):
    paths = [str(tmp_path / f"{name}.csv") for name in ("march", "april")]
    for path, table in zip(paths, exports(6), strict=True):
        table[["day", "amount", "region"]].to_csv(path, index=False)
    assert main(["compare", *paths, "--resamples", "99", "--seed", "0", "--exit-code"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Column 'day' is left out of the overall test" in text
