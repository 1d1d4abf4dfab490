"""Comparisons of tables as people have them: lost columns, dates, outliers, paths; and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shrinktest import (
    Batches,
    compare,
    two_sample_test,
)
from shrinktest.cli import main

NAMED = {"estimator": "kme", "n_resamples": 99, "workers": 1, "rng": 0, "names": ("March", "April")}


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
    result = compare(table[list(first)], table[list(second)], **NAMED)
    assert result.answer.startswith(
        f"{sentences} No difference was found in the common columns (p = "
    )
    summary = " ".join(result.summary().split())
    assert summary.startswith(f"Comparison of March (40 rows) and April (40 rows) {sentences}")
    assert result.to_html().partition("<h1>")[2].startswith(sentences)
    assert json.loads(result.to_json())["answer"] == result.answer and not result.reject()


@pytest.mark.parametrize(
    "first, second, code", [("ab", "b", 1), ("c", "cd", 1), ("abc", "bcd", 1), ("ab", "ba", 0)]
)
def test_they_are_a_difference_for_the_exit_code(
    table, tmp_path, monkeypatch, capsys, first, second, code
):
    monkeypatch.chdir(tmp_path)
    table[list(first)].to_csv("march.csv", index=False)
    table[list(second)].to_csv("april.csv", index=False)
    line = [
        "compare",
        "march.csv",
        "april.csv",
        "--estimator",
        "kme",
        "--resamples",
        "99",
        "--seed",
        "0",
    ]
    assert main([*line, "--exit-code"]) == code
    assert ("has the column" in capsys.readouterr().out) == (code == 1)
    assert main(line) == 0


KME = {"n_resamples": 99, "workers": 1, "rng": 0, "estimator": "kme"}


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
                    "time": (pd.Timestamp("2024-03-01") + pd.to_timedelta(days, unit="D")).as_unit(
                        "s"
                    ),
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
    result = compare(a, b, **KME)
    others = [table.drop(columns=column) for table in (a, b)]
    assert result.pvalue == two_sample_test(*others, nan_policy="indicator", **KME).pvalue > 0.05
    assert result.changed() == (column,) and result.successive == (column,)
    assert result.effect.auc < 0.8 and not result.reject()
    assert any(column in note and "left out of the overall test" in note for note in result.notes)
    assert not any("alone tells" in note for note in result.notes)
    assert f"without {column}, the tables do not differ significantly" in result.answer


def test_several_of_them_and_gaps():
    a, b = exports(2)
    a.loc[3, "day"] = b.loc[5, "amount"] = None
    for policy in ("indicator", "omit"):
        result = compare(a, b, nan_policy=policy, **KME)
        assert result.successive == ("day", "time", "order") and not result.reject()
        assert result.where is None or not set(result.where.columns) & set(result.successive)


def test_a_type_that_is_named_keeps_a_column():
    a, b = exports(3)
    a, b = a[["day", "amount"]], b[["day", "amount"]]
    assert not compare(a, b, **KME).reject()
    assert compare(a, b, column_types={"day": "date"}, **KME).reject()


@pytest.mark.parametrize("second_day, rows", [(0, 40), (10, 40), (31, 8)])
def test_dates_that_overlap_and_few_rows_are_compared_as_before(second_day, rows):
    a, b = (table[["day", "amount"]] for table in exports(4, second_day, rows=rows))
    result = compare(a, b, **KME)
    assert result.successive == ()
    assert result.pvalue == two_sample_test(a, b, nan_policy="indicator", **KME).pvalue


FAST = {"n_resamples": 99, "workers": 1, "rng": 0}


def columns(first, second, outlier, in_first, *, whole=False):
    """Two columns of 80 values, and the same with an outlier in the place of one value."""
    rng = np.random.default_rng(1)
    x, y = (
        rng.normal(50.0, 10.0, 80) * first[1] + first[0],
        rng.normal(50.0, 10.0, 80) * second[1] + second[0],
    )
    x, y = (np.rint(x), np.rint(y)) if whole else (x, y)
    clean = pd.DataFrame({"v": x}), pd.DataFrame({"v": y})
    spoiled = clean[0].copy(), clean[1].copy()
    spoiled[0 if in_first else 1].loc[3, "v"] = outlier
    return clean, spoiled


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("in_first", [True, False])
@pytest.mark.parametrize("outlier", [999999999.0, -1e30, 1e12])
def test_a_shift_is_told_beside_one_value_that_is_far_away(outlier, in_first, whole):
    _, spoiled = columns((0.0, 1.0), (30.0, 1.0), outlier, in_first, whole=whole)
    result = compare(*spoiled, **FAST)
    row = result.table.iloc[0]
    assert result.changed() == ("v",) and row["effect"] == "median" and row["low"] > 0.9
    assert "no single effect" not in row["change"] and row["change"].startswith("median ")
    assert len(row["change"]) < 65  # no number as large as the value


@pytest.mark.parametrize("outlier", [999999999.0, -1e30])
def test_every_effect_stays_where_it_was(outlier):
    clean, result = (
        compare(*tables, **FAST).to_frame().set_index("effect")
        for tables in columns((0.0, 1.0), (5.0, 1.5), outlier, True)
    )
    clean, result = (frame.drop(index="mean_difference") for frame in (clean, result))
    assert {"median", "spread", "median_difference"} == set(clean.index)
    differences = (frame.loc["median_difference", "estimate"] for frame in (clean, result))
    assert abs(np.subtract(*differences)) < 3.0
    clean, result = (frame.drop(index="median_difference") for frame in (clean, result))
    for name, most in {"first": 3.0, "second": 3.0, "estimate": 0.2}.items():
        assert (clean[name] - result[name]).abs().max() < most


def test_dates_far_away_and_gaps_in_pairs():
    rng = np.random.default_rng(2)
    days = rng.uniform(0.0, 20.0, 60)
    tables = []
    for shift in (0.0, 5.0):
        dates = pd.Series(
            pd.Timestamp("2024-03-01")
            + pd.to_timedelta(days + shift + rng.normal(size=60), unit="D")
        )
        tables.append(pd.DataFrame({"day": dates, "v": rng.normal(size=60)}))
    tables[0].loc[0, "day"], tables[1].loc[7, "day"] = pd.Timestamp("1900-01-01"), pd.NaT
    result = compare(*tables, paired=True, **FAST)
    row = result.to_frame().set_index(["column", "effect"]).sort_index().loc[("day", "median")]
    assert row["low"] > 0.5 and pd.Timedelta(days=3) < row["second"] - row["first"] < pd.Timedelta(
        days=7
    )


rng = np.random.default_rng(0)
RUN = {"n_resamples": 39, "rng": 0}


def customers(n, income):
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n), unit="D")
    amounts = np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(income, 0.4, n).round(2))
    return pd.DataFrame(
        {"income": amounts, "region": rng.choice(["north", "south"], n), "since": days}
    )


A, B = customers(60, 8.0), customers(70, 8.4).assign(points=1.5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("tables")
    for name, table in {"a": A, "b": B}.items():
        table.to_csv(where / f"{name}.csv", index=False)
        table.to_parquet(where / f"{name}.parquet")
    (where / "a.xlsx").write_text("")
    return where


@pytest.fixture(scope="module")
def expected():
    return compare(A, B, **RUN)


@pytest.mark.parametrize(
    ("kinds", "called"),
    [
        (("parquet", "parquet"), str),
        (("csv", "csv"), Path),
        (("csv", "parquet"), Batches),
        (("parquet", "csv"), lambda path: [path]),
    ],
    ids=["text", "path", "batches", "list"],
)
def test_files_are_compared_as_tables_are(folder, kinds, called, expected):
    from_files = compare(called(folder / f"a.{kinds[0]}"), called(folder / f"b.{kinds[1]}"), **RUN)
    assert from_files.table.equals(expected.table) and from_files.answer == expected.answer


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("none.csv", FileNotFoundError, "A: there is no file '.*none.csv'"),
        ("none.parquet", FileNotFoundError, "A: there is no file '.*none.parquet'"),
        ("none", FileNotFoundError, "A: there is no file '.*none'"),
        (
            "a.xlsx",
            ValueError,
            "A must be files of one kind of '.npy', '.csv', '.parquet'; found '.xlsx'",
        ),
        ("", ValueError, "A: '.*' is a folder; name its files"),
    ],
)
@pytest.mark.parametrize("kind", [str, Path])
def test_paths_that_cannot_be_read(folder, name, error, message, kind):
    for other in (str(folder / "b.csv"), B):
        with pytest.raises(error, match=message):
            compare(kind(folder / name), other, **RUN)


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a command in a folder of tables: two alike, one shifted, one with a missing value."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, shift in {"a": 0.0, "b": 0.0, "shifted": 3.0, "gaps": 0.0}.items():
        table = pd.DataFrame(rng.normal(shift, 1.0, size=(60, 2)).round(4), columns=["u", "v"])
        if name == "gaps":
            table.iloc[0, 0] = np.nan
        table.to_csv(f"{name}.csv", index=False)

    def run(line):
        code = main(line.split())
        return code, *capsys.readouterr()

    return run


TESTS = [
    "two-sample a.csv b.csv",
    "k-sample a.csv b.csv shifted.csv",
    "independence a.csv --x u --y v",
    "joint a.csv --variable u --variable v",
    "change a.csv",
    "change a.csv --several",
    "columns a.csv b.csv",
    "matrix a.csv",
    "compare a.csv b.csv",
    "check-level a.csv b.csv --trials 5",
]


@pytest.mark.parametrize("command", TESTS)
def test_without_permutations_there_is_no_answer(run, command):
    code, out, err = run(f"{command} --resamples 0 --exit-code")
    assert (code, out) == (2, "") and err.startswith("shrinktest: error: ") and err.count("\n") == 1


@pytest.mark.parametrize(
    "margin", ["0.3 --measure distance", "0.8 --measure auc", "0.3 --measure distance --paired"]
)
def test_equivalence_is_good_news(run, margin):
    shown, _, _ = run(f"equivalence a.csv b.csv --margin {margin} --exit-code")
    assert shown == 0
    assert run(f"equivalence a.csv shifted.csv --margin {margin} --exit-code")[0] == 1
    assert run(f"equivalence a.csv shifted.csv --margin {margin}")[0] == 0


def test_a_difference_is_found(run):
    for command in ("two-sample", "columns", "compare"):
        assert run(f"{command} a.csv shifted.csv --resamples 99 --exit-code")[0] == 1
        assert run(f"{command} a.csv b.csv --resamples 99 --seed 0 --exit-code")[0] == 0
