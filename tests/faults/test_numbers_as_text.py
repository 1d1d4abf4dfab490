"""Numbers and dates that arrive as text are refused, with the type that reads them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shrinktest import compare, independence_test, two_sample_test
from shrinktest.cli import main

RNG = np.random.default_rng(0)
N = 30
AMOUNTS = RNG.lognormal(7.0, 1.0, N)
DAYS = pd.Series(pd.date_range("2024-01-01", periods=15).astype(str))
QUICK = {"n_resamples": 19, "rng": 0}

NUMBERS = {
    "thousands": ([f"{v:,.2f}" for v in AMOUNTS], AMOUNTS.round(2)),
    "dollars": ([f"${v:.2f}" for v in AMOUNTS], AMOUNTS.round(2)),
    "percentages": ([f"{v:.0f}%" for v in AMOUNTS], AMOUNTS.round()),
    "decimal commas": ([f"{v:,.2f}".translate(str.maketrans(",.", ".,")) for v in AMOUNTS], AMOUNTS.round(2)),
    "millions": ([f"{1e4 * v:,.2f} €".translate(str.maketrans(",.", ".,")) for v in AMOUNTS], (1e4 * AMOUNTS).round(2)),
    "accounts": ([f"({v:,.2f})" for v in AMOUNTS], -AMOUNTS.round(2)),
    "digits": ([str(v) for v in np.tile([1, 2, 10], 10)], np.tile([1, 2, 10], 10)),
    "blanks": ([f" {v:.3f} " for v in AMOUNTS], AMOUNTS.round(3)),
    "numbers below one": ([f"{v:.2f}" for v in AMOUNTS / 1e4], (AMOUNTS / 1e4).round(2)),
}


def refused(call):
    with pytest.raises(ValueError, match="as text") as error:
        call()
    return str(error.value)


def table_of(text):
    return pd.DataFrame({"amount": text, "x": RNG.normal(size=len(text))})


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_as_text_are_refused_with_the_type_that_reads_them(name):
    text, numbers = NUMBERS[name]
    table = table_of(text)
    message = refused(lambda: compare(table, table, **QUICK))
    start = f"A, column 'amount', holds numbers as text ({text[0]!r} in row 0); set column_types={{'amount': "
    refused(lambda: independence_test(table[["amount"]], table["x"], **QUICK))
    assert "{'amount': " in refused(lambda: two_sample_test(table["amount"], table["amount"], **QUICK))
    as_labels = compare(table, table, column_types={"amount": "category"}, **QUICK)
    assert as_labels.overall.pvalue > 0.5
    if name in ("decimal commas", "millions"):
        assert message == start + "'category'}, or convert it first"
    else:
        assert message == start + "'number'}, or to 'category'"
        shifted = table.assign(amount=numbers + numbers.std())
        as_numbers = compare(table, shifted, column_types={"amount": "number"}, **QUICK).overall
        assert as_numbers.pvalue == compare(table.assign(amount=numbers), shifted, **QUICK).overall.pvalue


@pytest.mark.parametrize("days", [DAYS, DAYS + "T10:00", pd.concat([DAYS[:7], DAYS[7:] + " 12:30:00"])])
def test_dates_as_text_are_refused(days):
    table = table_of(days.to_list())
    message = refused(lambda: compare(table, table, **QUICK))
    assert "holds dates as text ('2024-01-01" in message and "column_types={'amount': 'date'}" in message
    assert compare(table, table, column_types={"amount": "date"}, **QUICK).overall.encodings[0].codes[0].kind == "date"


def test_every_library_and_plain_numbers_by_their_type():
    table = table_of(["1", "2", "10"] * 10)
    for given in (table, pl.from_pandas(table), pa.Table.from_pandas(table), table.astype({"amount": "string"})):
        assert "{'amount': 'number'}" in refused(lambda given=given: two_sample_test(given, given, **QUICK))
        result = two_sample_test(given, given, column_types={"amount": "number"}, **QUICK)
        assert result.encodings[0].codes[0].kind == "number"
    declared = table.astype({"amount": "category"})
    assert two_sample_test(declared, declared, **QUICK).encodings[0].codes[0].kind == "category"


def test_whole_numbers_as_text_may_be_labels():
    site = pd.Series(np.tile([1, 2, 10], 10)).astype(str)
    words = site.map({"1": "a", "10": "b", "2": "c"})  # in the same order, which decides the draws
    x, y = np.random.default_rng(1).normal(size=(2, N))
    by_digits, by_words = (independence_test(x, y, given=labels, **QUICK).pvalue for labels in (site, words))
    assert by_digits == by_words
    refused(lambda: independence_test(x, y, given=pd.Series(NUMBERS["dollars"][0]), **QUICK))


@pytest.mark.parametrize(("odd", "is_refused"), [(0, True), (3, True), (4, False)])
def test_nine_in_ten_values_decide(odd, is_refused):
    table = table_of(["unknown"] * odd + [None] * 5 + [f"${v:.2f}" for v in np.tile([5.0, 7.5, 10.0], 10)[odd:]])
    if not is_refused:
        assert two_sample_test(table, table, nan_policy="indicator", **QUICK).pvalue > 0.5
        return
    refused(lambda: two_sample_test(table, table, nan_policy="indicator", **QUICK))
    if odd:
        with pytest.raises(ValueError, match="has 'unknown' in row 0"):
            compare(table, table, nan_policy="indicator", column_types={"amount": "number"}, **QUICK)


@pytest.mark.parametrize(
    "text",
    [
        ["02134", "10001", "94110", "60601", "33101", "73301"],
        ["18-25", "26-40", "41+"],
        ["1.2.3", "1.2.4", "10.0.0.1"],
        ["a1", "a2", "b7"],
        ["3 kg", "5 kg"],
        ["31.3.2024 at noon", "1.4.2024 at noon"],
    ],
)
def test_other_text_is_still_categories(text):
    table = table_of((text * N)[:N])
    result = two_sample_test(table, table, **QUICK)
    assert result.encodings[0].codes[0].kind == "category" and not any("numbers" in note for note in result.notes[:-1])


def test_codes_are_text_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        table_of((["02134", "10001", "94110"] * N)[:N]).to_csv(f"{name}.csv", index=False)
    for given in (["a.csv", "b.csv"], ["[a].csv", "[b].csv", "--gram", "rff", "--rank", "20"]):
        assert main(["two-sample", *given, "--seed", "0", "--resamples", "19", "--json"]) == 0
        assert '"amount = 02134"' in capsys.readouterr().out
    assert main(["two-sample", "a.csv", "b.csv", "--seed", "0", "--types", "amount=number", "--json"]) == 0
    assert '"amount = 02134"' not in capsys.readouterr().out


@pytest.mark.parametrize("name", ["thousands", "dollars", "percentages", "decimal commas", "accounts"])
def test_the_command_line_refuses_what_python_refuses(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table_of(NUMBERS[name][0]).to_csv("a.csv", index=False)
    assert main(["compare", "a.csv", "a.csv"]) == 2
    assert f"column 'amount': {NUMBERS[name][0][0]!r} is not a number; give --" in capsys.readouterr().err
