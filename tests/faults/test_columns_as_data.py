"""Columns that cannot be tested, arrive as text, hold the time, or are given as well."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from _ci import some_wait
from shrinktest import (
    Batches,
    change_point_test,
    change_points,
    check_level,
    compare,
    independence_matrix,
    independence_test,
    two_sample_test,
    two_sample_test_columns,
)

HOW = {"n_resamples": 19, "alpha": 0.1, "rng": 0, "workers": 1}
N = 30
X, Y, Z = np.random.default_rng(0).normal(size=(3, N))
GAP = np.full(N, np.nan)
ONE = np.r_[1.0, GAP[1:]]
WILD = np.r_[1e308, -1e308, X[2:]]
#: A bad column in two tables, the arguments under which it is bad, and the reason.
BAD = {
    "constant": (np.ones(N), np.ones(N), {}, "it has the same value in every row"),
    "constant text": (["a"] * N, ["a"] * N, {}, "it has the same value in every row"),
    "never known": (GAP, GAP, {"nan_policy": "omit"}, "all values are missing"),
    "not known in one": (GAP, Y, {"nan_policy": "omit"}, "all values are missing in"),
    "no text in one": (
        [None] * N,
        ["a", "b"] * (N // 2),
        {"nan_policy": "omit"},
        "all values are missing in",
    ),
    "known once": (ONE, Y, {"nan_policy": "omit"}, "all values but one are missing in"),
    "wild": (WILD, Y, {}, "values as large as 1e+308"),
    "tiny": (1e-310 * X, 1e-310 * Y, {}, "its values are nearly constant"),
    "rare": (
        np.r_[1.0, np.zeros(N - 1)],
        np.zeros(N),
        {"scale": "mad"},
        "more than half of its values are equal",
    ),
    "numbers of rows": (np.arange(N), np.arange(N), {}, "it numbers the rows"),
    "names of rows": (
        [f"u{i}" for i in range(N)],
        [f"v{i}" for i in range(N)],
        {},
        "text is different in every row",
    ),
}


def tables(bad):
    first, second, options, reason = BAD[bad]
    return (
        pd.DataFrame({"a": X, "bad": first, "z": Z}),
        pd.DataFrame({"a": Y, "bad": second, "z": Z + 3.0}),
        options,
        reason,
    )


def assert_row(result, tested, reason):
    """The bad column has a row with its reason, and the others are tested."""
    row = result.table.set_index("column").loc["bad"]
    assert np.isnan(row["pvalue"]) and np.isnan(row["adjusted"]) and not row["reject"]
    assert reason in row["reason"]
    assert f"not tested: {row['reason']}" in result.summary()
    others = result.table[result.table["column"] != "bad"]
    assert set(others["column"]) == {"a", "z"} and (others["reason"] == "").all()
    assert set(tested.labels) == {("a",), ("z",)} and len(tested) == 2


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_column_is_a_row_with_a_reason(bad):
    first, second, options, reason = tables(bad)
    columns = two_sample_test_columns(first, second, **options, **HOW)
    assert_row(columns, columns, reason)
    alone = two_sample_test_columns(first[["a", "z"]], second[["a", "z"]], **options, **HOW)
    assert columns.pvalues.tolist() == alone.pvalues.tolist()


@pytest.mark.parametrize(
    "bad", some_wait(BAD, BAD.keys() - {"constant", "known once", "rare", "names of rows"})
)
def test_a_bad_column_is_a_row_of_a_comparison_with_a_reason(bad):
    first, second, options, reason = tables(bad)
    report = compare(first, second, estimator="kme", **options, **HOW)
    assert_row(report, report.columns, reason)
    assert report.overall.pvalue <= 0.1 and report.changed()[0] == "z"
    assert f"not tested: {report.columns.untested['bad',]}".split(" in ")[0] in report.to_html()
    assert json.loads(report.to_json())["columns"][-1]["reason"]


@pytest.mark.parametrize(
    "bad", ["constant", "never known", "known once", "wild", "tiny", "numbers of rows"]
)
def test_a_bad_column_of_a_matrix_is_a_row_for_each_pair(bad):
    first, _, options, reason = tables(bad)
    result = independence_matrix(first, **options, **HOW)
    assert result.labels == (("a", "z"),)
    rows = result.table[result.table["reason"] != ""]
    assert (
        rows[["x", "y"]].to_numpy().tolist() == [["a", "bad"], ["z", "bad"]]
        and rows["pvalue"].isna().all()
    )
    assert (
        rows["reason"].str.startswith("column 'bad': ").all()
        and rows["reason"].str.contains(reason, regex=False).all()
    )
    assert f"not tested: {rows['reason'].iloc[0]}" in result.summary()
    against = independence_matrix(first[["bad", "a"]], first[["z"]], **options, **HOW)
    assert against.labels == (("a", "z"),) and list(against.untested) == [("bad", "z")]


def test_nothing_that_can_be_tested_is_an_error():
    table = pd.DataFrame({"a": GAP, "b": np.ones(N), "c": ONE})
    for call in (
        lambda: compare(table, table, nan_policy="omit", **HOW),
        lambda: two_sample_test_columns(
            table[["a", "c"]], table[["a", "c"]], nan_policy="omit", **HOW
        ),
        lambda: independence_matrix(table, nan_policy="omit", **HOW),
    ):
        with pytest.raises(ValueError, match=r"'a'|\ba\b|'b'"):
            call()


def test_files_in_batches(tmp_path):
    paths = [str(tmp_path / f"{name}.csv") for name in "AB"]
    for path, column, gap in zip(paths, (X, Y), (GAP, Z), strict=True):
        pd.DataFrame({"a": column, "bad": gap, "same": 1.0, "i": np.arange(N)}).to_csv(
            path, index=False
        )
    how = {"nan_policy": "omit", "gram": "rff", "rank": 5, **HOW}
    first, second = map(Batches, paths)
    result = two_sample_test_columns(first, second, **how)
    assert result.labels == (("a",),) and set(result.untested) == {("bad",), ("same",), ("i",)}
    assert result.untested["bad",] == "all values are missing in X"
    for call in (two_sample_test, independence_test):
        with pytest.raises(ValueError, match=r"column 'bad' of X.*: all values are missing"):
            call(first, second, **how)


RNG = np.random.default_rng(0)
AMOUNTS = RNG.lognormal(7.0, 1.0, N)
DAYS = pd.Series(pd.date_range("2024-01-01", periods=15).astype(str))
QUICK = {"n_resamples": 19, "rng": 0}
NUMBERS = {
    "thousands": ([f"{v:,.2f}" for v in AMOUNTS], AMOUNTS.round(2)),
    "dollars": ([f"${v:.2f}" for v in AMOUNTS], AMOUNTS.round(2)),
    "percentages": ([f"{v:.0f}%" for v in AMOUNTS], AMOUNTS.round()),
    "decimal commas": (
        [f"{v:,.2f}".translate(str.maketrans(",.", ".,")) for v in AMOUNTS],
        AMOUNTS.round(2),
    ),
    "millions": (
        [f"{1e4 * v:,.2f} €".translate(str.maketrans(",.", ".,")) for v in AMOUNTS],
        (1e4 * AMOUNTS).round(2),
    ),
    "accounts": ([f"({v:,.2f})" for v in AMOUNTS], -AMOUNTS.round(2)),
    "reals of Brazil": ([f"R$ {v:.2f}" for v in AMOUNTS], AMOUNTS.round(2)),
}
PLAIN_NUMBERS = {
    "digits": ([str(v) for v in np.tile([1, 2, 10], 10)], np.tile([1, 2, 10], 10)),
    "blanks": ([f" {v:.3f} " for v in AMOUNTS], AMOUNTS.round(3)),
    "numbers below one": ([f"{v:.2f}" for v in AMOUNTS / 1e4], (AMOUNTS / 1e4).round(2)),
}


def refused(call):
    with pytest.raises(ValueError, match="is not a number") as error:
        call()
    return str(error.value)


def table_of(text):
    return pd.DataFrame({"amount": text, "x": RNG.normal(size=len(text))})


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_as_text_are_refused_with_the_type_that_reads_them(name):
    text, numbers = NUMBERS[name]
    table = table_of(text)
    message = refused(lambda: compare(table, table, **QUICK))
    start = f"A, column 'amount': {text[0]!r} in row 0 is not a number; "
    refused(lambda: independence_test(table[["amount"]], table["x"], **QUICK))
    assert "{'amount': " in refused(
        lambda: two_sample_test(table["amount"], table["amount"], **QUICK)
    )
    assert message.startswith(start)
    as_labels = two_sample_test(table, table, column_types={"amount": "category"}, **QUICK)
    assert as_labels.pvalue > 0.5
    if name in ("decimal commas", "millions"):
        assert message.startswith(
            start + "convert it, or set column_types={'amount': 'category'} or 'drop'"
        )
    else:
        assert message.startswith(start + "set column_types={'amount': 'number'}, or to 'category'")
        shifted = table.assign(amount=numbers + numbers.std())
        as_numbers = two_sample_test(table, shifted, column_types={"amount": "number"}, **QUICK)
        assert (
            as_numbers.pvalue
            == two_sample_test(table.assign(amount=numbers), shifted, **QUICK).pvalue
        )


@pytest.mark.parametrize("name", PLAIN_NUMBERS)
def test_plain_numbers_as_text_are_numbers(name):
    text, numbers = PLAIN_NUMBERS[name]
    table = table_of(text)
    shifted = table.assign(amount=numbers + numbers.std())
    as_text = two_sample_test(table, shifted, **QUICK)
    assert as_text.pvalue == two_sample_test(table.assign(amount=numbers), shifted, **QUICK).pvalue


@pytest.mark.parametrize(
    "days", [DAYS, DAYS + "T10:00", pd.concat([DAYS[:7], DAYS[7:] + " 12:30:00"])]
)
def test_dates_as_text_are_dates(days):
    table = table_of(days.to_list())
    for types in (None, {"amount": "date"}):
        assert (
            two_sample_test(table, table, column_types=types, **QUICK).encodings[0].codes[0].kind
            == "date"
        )


def test_every_library_and_plain_numbers_by_their_type():
    table = table_of(["$1", "$2", "$10"] * 10)
    for given in (
        table,
        pl.from_pandas(table),
        pa.Table.from_pandas(table),
        table.astype({"amount": "string"}),
    ):
        assert "{'amount': 'number'}" in refused(
            lambda given=given: two_sample_test(given, given, **QUICK)
        )
        result = two_sample_test(given, given, column_types={"amount": "number"}, **QUICK)
        assert result.encodings[0].codes[0].kind == "number"
    declared = table.astype({"amount": "category"})
    assert two_sample_test(declared, declared, **QUICK).encodings[0].codes[0].kind == "category"


@pytest.mark.parametrize(("odd", "is_refused"), [(0, True), (3, True), (15, True), (16, False)])
def test_half_of_the_values_decide(odd, is_refused):
    table = table_of(
        ["unknown"] * odd + [None] * 5 + [f"${v:.2f}" for v in np.tile([5.0, 7.5, 10.0], 10)[odd:]]
    )
    if not is_refused:
        assert two_sample_test(table, table, nan_policy="indicator", **QUICK).pvalue > 0.5
        return
    refused(lambda: two_sample_test(table, table, nan_policy="indicator", **QUICK))
    if odd:
        with pytest.raises(ValueError, match="has 'unknown' in row 0"):
            compare(
                table, table, nan_policy="indicator", column_types={"amount": "number"}, **QUICK
            )


LONG = 60
AT = np.arange(LONG)
RANDOM = np.random.default_rng(0)
NOISE = RANDOM.normal(size=LONG)
DATES = pd.date_range("2024-01-01", periods=LONG)
SWAPPED = np.r_[0:30, 31, 30, 32:LONG]
OF_CHANGE = (change_point_test, change_points)
MORE = {"n_resamples": 99, "rng": 0}
UNSORTED = {
    "descending": DATES[::-1],
    "swapped": DATES[SWAPPED],
    "shuffled": DATES[RANDOM.permutation(LONG)],
    "two sensors": DATES[AT % 30],
    "one row late": DATES[np.r_[1:LONG, 0]],
    "with a zone": DATES.tz_localize("Europe/Zurich")[::-1],
    "with gaps": pd.Series(DATES[::-1]).where(AT % 7 != 3),
    "days of Python": list(DATES[::-1].date),
}
CLOCKS = {
    "dates": DATES,
    "dates that repeat": DATES[AT // 2],
    "dates with gaps": pd.Series(DATES).where(AT % 7 != 3),
    "row numbers down": AT[::-1] + 1,
    "years down": 2024 - AT // 4,
    "hours down": -0.5 * AT,
    "Unix seconds with gaps": 1_700_000_000 + np.cumsum(RANDOM.integers(1, 90, LONG)),
    "Unix seconds with gaps, down": 1_700_000_000 - np.cumsum(RANDOM.integers(1, 90, LONG)),
    "Unix minutes with lost rows": 1_700_000_000
    + 60 * np.sort(RANDOM.choice(90, LONG, replace=False)),
    "Unix seconds that are missing": pd.Series(
        1.7e9 + np.cumsum(RANDOM.integers(1, 90, LONG))
    ).where(AT % 7 != 3),
    "Unix nanoseconds": 10**9 * (1_700_000_000 + np.cumsum(RANDOM.integers(0, 5, LONG))),
    "order numbers": 1000 + np.cumsum(RANDOM.integers(1, 4, LONG)),
    "time since the start": pd.to_timedelta(np.cumsum(RANDOM.integers(1, 90, LONG)), unit="s"),
}


@pytest.mark.parametrize("dates", UNSORTED.values(), ids=UNSORTED)
def test_dates_that_are_not_in_order_are_refused(dates):
    table = pd.DataFrame({"date": dates, "v": NOISE})
    for test in OF_CHANGE:
        with pytest.raises(
            ValueError, match=r"column 'date'.*not sorted: .* in row \d+ .*column_types="
        ):
            test(table, **MORE)
    assert change_point_test(table, column_types={"date": "drop"}, **MORE).pvalue > 0.05
    complete = table.dropna()
    assert change_point_test(complete.sort_values("date"), **MORE).columns == (("v",),)
    with pytest.raises(ValueError, match=r"not sorted|repeat"):  # the rule of an index
        change_point_test(
            pd.Series(complete["v"].to_numpy(), pd.DatetimeIndex(complete["date"])), **MORE
        )


@pytest.mark.parametrize("clock", CLOCKS.values(), ids=CLOCKS)
def test_columns_that_count_or_tell_the_time_are_left_out(clock):
    table = pd.DataFrame({"t": clock, "v": NOISE})
    for test in OF_CHANGE:
        result, alone = test(table, **MORE), test(table[["v"]], **MORE)
        assert result.pvalue == alone.pvalue
        assert any(
            "Column 't' is not tested: it numbers rows or gives the time" in note
            for note in result.notes
        )


def test_dates_alone_hold_nothing_to_test():
    for alone in (
        pd.Series(DATES),
        pd.DataFrame({"date": DATES}),
        pd.DataFrame({"a": DATES, "b": DATES}),
    ):
        for test in OF_CHANGE:
            with pytest.raises(ValueError, match="X holds only dates"):
                test(alone, **MORE)


def test_values_are_still_tested():
    stairs = np.sort(RANDOM.integers(0, 9, LONG))
    population = 1000 + np.cumsum(RANDOM.integers(1, 90, LONG))
    for values in (np.cumsum(NOISE + 1.0), np.repeat([0, 1], 30), stairs, RANDOM.permutation(LONG)):
        assert change_point_test(pd.DataFrame({"a": values, "b": NOISE}), **MORE).columns == (
            ("a", "b"),
        )
    assert change_point_test(
        pd.DataFrame({"year": 1960 + AT, "people": population}), **MORE
    ).columns == (("people",),)
    assert change_point_test(pd.DataFrame({"people": population}), **MORE).pvalue == 0.01
    declared = change_point_test(
        pd.DataFrame({"t": DATES[::-1], "v": NOISE}), column_types={"t": "date"}, **MORE
    )
    assert declared.pvalue == 0.01 and declared.columns == (("t", "v"),)


M = 40
DRAWS = np.random.default_rng(0)
A, B, C = DRAWS.normal(size=(3, M))
TABLE = pd.DataFrame({"a": A, "b": B, "c": C, "site": list("xyzy" * (M // 4)), "old": A > 0})
OTHER = TABLE.assign(a=B, b=C, c=A)
HOLED = TABLE.assign(a=np.where(np.arange(M) % 9 == 4, np.nan, A))
STUDY = partial(check_level, "pearsonr", kind="independence", n_trials=2, workers=1, rng=0)
CALLS = {
    "tables": lambda: independence_test(
        TABLE[["a"]], TABLE[["b", "c"]], given=TABLE[["c"]], **QUICK
    ),
    "categories": lambda: independence_test(
        TABLE[["a", "site"]], TABLE["b"], given=TABLE["site"], **QUICK
    ),
    "categories in a list": lambda: independence_test(
        TABLE["site"], TABLE["b"], given=TABLE["site"].tolist(), **QUICK
    ),
    "True and False": lambda: independence_test(
        TABLE["old"], TABLE["b"], given=TABLE[["old"]], **QUICK
    ),
    "libraries": lambda: independence_test(
        TABLE["a"], B, given=pl.DataFrame({"z": A, "c": C}), **QUICK
    ),
    "gaps": lambda: independence_test(
        HOLED[["a"]], B, given=HOLED["a"].to_numpy(), nan_policy="omit", **QUICK
    ),
    "one array": lambda: independence_test(A, B, given=A, **QUICK),
    "part of an array": lambda: independence_test(A, np.c_[B, C], given=np.c_[A + B, C], **QUICK),
    "a model": lambda: independence_test(
        A, B, given=A, x_given_z=lambda z, rng: rng.normal(size=z.shape), **QUICK
    ),
    "matrix": lambda: independence_matrix(TABLE[["a", "b"]], given=TABLE[["b", "c"]], **QUICK),
    "matrix of arrays": lambda: independence_matrix(np.c_[A, B], np.c_[C, A + B], given=C, **QUICK),
    "matrix by name": lambda: independence_matrix(TABLE, TABLE[["b", "c"]], given="c", **QUICK),
    "check_level": lambda: STUDY(A, B, given=A),
    "check_level given labels": lambda: STUDY(A, B, given=pd.DataFrame({"z": B})),
    "samples": lambda: two_sample_test(
        TABLE, OTHER, covariates=(TABLE[["b"]], OTHER[["b"]]), **QUICK
    ),
    "strata": lambda: two_sample_test(
        TABLE, OTHER, covariates=(TABLE["site"], OTHER["site"]), **QUICK
    ),
    "arrays": lambda: two_sample_test(np.c_[A, B], np.c_[B, C], covariates=(B, C), **QUICK),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_it_is_one_error(call):
    with pytest.raises(
        ValueError, match=r"column .* of (given|covariates)= is also tested; leave it out of one"
    ):
        call()


def test_what_is_not_the_same_is_taken():
    pvalues = [
        independence_test(
            TABLE["a"], TABLE["b"], given=TABLE["a"].shift(1).fillna(0.0), **QUICK
        ).pvalue,
        independence_test(
            TABLE[["a"]], TABLE[["b"]], given=pd.DataFrame({"one": np.ones(M), "c": C}), **QUICK
        ).pvalue,
        independence_test(np.c_[A, np.ones(M)], B, given=np.ones(M), **QUICK).pvalue,
        two_sample_test(
            TABLE, OTHER, covariates=(TABLE["c"], OTHER["c"]), column_types={"c": "drop"}, **QUICK
        ).pvalue,
        *independence_matrix(TABLE[["a", "b", "c"]], given="others", **QUICK).pvalues,
        *independence_matrix(TABLE[["a", "b", "c"]], given="c", **QUICK).pvalues,
    ]
    assert all(0.0 < pvalue <= 1.0 for pvalue in pvalues)
