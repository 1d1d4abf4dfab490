"""Columns that only one table has are the first thing that a comparison says, and a difference."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from shrinktest import compare
from shrinktest.cli import main

FAST = {"n_resamples": 99, "workers": 1, "rng": 0, "names": ("March", "April")}


@pytest.fixture(scope="module")
def table():
    return pd.DataFrame(np.random.default_rng(0).normal(size=(40, 4)), columns=list("abcd"))


@pytest.mark.parametrize(
    "first, second, sentences",
    [
        ("ab", "b", "Only March has the column a."),
        ("b", "ba", "Only April has the column a."),
        ("abc", "c", "Only March has the columns a, b."),
        ("ac", "cbd", "Only March has the column a. Only April has the columns b, d."),
    ],
)
def test_they_come_first(table, first, second, sentences):
    result = compare(table[list(first)], table[list(second)], **FAST)
    assert result.answer.startswith(f"{sentences} No difference was found in the columns that both have (p = ")
    summary = " ".join(result.summary().split())
    assert summary.startswith(f"Comparison of March (40 rows) and April (40 rows) {sentences}")
    assert result.to_html().partition("<h1>")[2].startswith(sentences)
    assert json.loads(result.to_json())["answer"] == result.answer and not result.reject()


def test_they_come_first_beside_columns_that_changed(table):
    result = compare(table[["a", "b"]], table[["b"]] + 5.0, **FAST)
    assert result.answer.startswith(
        "Only March has the column a. The columns that both have differ (p = .01). 1 of 1 column changed: b."
    )


def test_tables_with_the_same_columns_have_no_such_sentence(table):
    for column_types in (None, {"a": "drop"}):
        first = table if column_types else table[["b", "c", "d"]]
        result = compare(first, table[["d", "c", "b"]], column_types=column_types, **FAST)
        assert result.answer.startswith("No difference was found between these tables")


@pytest.mark.parametrize("first, second, code", [("ab", "b", 1), ("c", "cd", 1), ("abc", "bcd", 1), ("ab", "ba", 0)])
def test_they_are_a_difference_for_the_exit_code(table, tmp_path, monkeypatch, capsys, first, second, code):
    monkeypatch.chdir(tmp_path)
    table[list(first)].to_csv("march.csv", index=False)
    table[list(second)].to_csv("april.csv", index=False)
    line = ["compare", "march.csv", "april.csv", "--resamples", "99", "--seed", "0"]
    assert main([*line, "--exit-code"]) == code
    assert ("has the column" in capsys.readouterr().out) == (code == 1)
    assert main(line) == 0
