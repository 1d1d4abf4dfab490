"""Encoding of columns: by hand, in every library, in chunks, with gaps, and columns that cannot be encoded."""

from __future__ import annotations

import datetime
import decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shrinktest import equivalence_test, independence_test, two_sample_test
from shrinktest.data.all_rows import pooled_tables
from shrinktest.data.column import read_column
from shrinktest.data.encoding import Encoding
from shrinktest.data.read import XY, read_samples
from shrinktest.data.scale import ScaleOption
from shrinktest.data.summary import MOST_LEVELS, ColumnSummary
from shrinktest.data.tables import read_table

DAY = pd.Timedelta(days=1)


def mixed(n, seed=0, gaps=False):
    """Numbers of different sizes, a flag, categories, ordered ones, dates, durations, perhaps with missing values."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "income": rng.normal(1e6, 1e5, n),
            "count": rng.integers(0, 9, n),
            "flag": rng.random(n) < 0.5,
            "color": rng.choice(["red", "green", "blue"], n),
            "size": pd.Categorical(rng.choice(["S", "M", "L"], n), ["S", "M", "L"], ordered=True),
            "day": pd.Timestamp("2020-01-01") + DAY * rng.integers(0, 100, n),
            "wait": pd.to_timedelta(rng.integers(0, 10**6, n), unit="s"),
        }
    )
    return table.mask(rng.random(table.shape) < 0.2) if gaps else table


def by_hand(table, gaps):
    """Encode value by value, in units of 1; missing values become the median and an indicator."""
    columns = []
    for name in table:
        values = [None if pd.isna(value) else value for value in table[name]]
        known = [value for value in values if value is not None]
        if name in ("flag", "color"):
            for level in sorted({str(value) for value in known}):
                columns.append([float(str(value) == level) for value in values])
        else:
            number = {
                "size": lambda value: "SML".index(value),
                "day": lambda value: (value - table["day"].min()) / DAY,
                "wait": lambda value: value / DAY,
            }.get(name, float)
            middle = float(np.median([number(value) for value in known]))
            columns.append([middle if value is None else number(value) for value in values])
        if gaps and len(known) < len(values):
            size = 1.0 if name in ("flag", "color") else 2.0**0.5 * np.std(columns[-1])
            columns.append([size * (value is None) for value in values])
    return np.transpose(columns)


def pieces(table, cuts):
    return [table.iloc[start:stop] for start, stop in pairwise([0, *cuts, len(table)])]


def rows(*tables, policy="indicator", scale=None, **options):
    read = read_samples(tables, XY, policy, scale=scale, **options)
    return np.vstack(read.values), read.encodings[0]


@pytest.mark.parametrize("gaps", [False, True])
def test_numbers_are_those_found_by_hand(gaps):
    A, B = mixed(30, 0, gaps), mixed(20, 1, gaps)
    values, encoding = rows(A, B)
    expected = by_hand(pd.concat([A, B]), gaps)
    np.testing.assert_allclose(values, expected, rtol=1e-12)
    scaled, _ = rows(A, B, scale="sd")
    for j, name in enumerate(encoding.features):
        if name in A:
            np.testing.assert_allclose(
                scaled[:, j], expected[:, j] / expected[:, j].std(), rtol=1e-9
            )


@pytest.mark.parametrize("gaps", [False, True])
def test_every_library_gives_the_same_numbers(gaps):
    tables = [mixed(30, seed, gaps) for seed in (0, 1)]
    plain = [table.assign(size=table["size"].astype(object)) for table in tables]
    types = {"size": ["S", "M", "L"]}
    expected, encoding = rows(*tables, scale="sd")
    libraries = {
        "polars": pl.from_pandas,
        "pyarrow": lambda table: pa.Table.from_pandas(table, preserve_index=False),
        "pandas of pyarrow": lambda table: table.convert_dtypes(dtype_backend="pyarrow"),
        "pandas with NA": lambda table: table.convert_dtypes(),
        "objects": lambda table: table.astype(object).where(table.notna(), None),
    }
    for library, convert in libraries.items():
        values, other = rows(*map(convert, plain), scale="sd", column_types=types)
        np.testing.assert_allclose(values, expected, rtol=1e-12, err_msg=library)
        assert other.features == encoding.features, library


def test_objects_are_read_by_what_they_are():
    day = datetime.date(2021, 3, 1)
    table = pd.DataFrame(
        {
            "b": np.array([True, None, False], dtype=object),
            "d": np.array([day, day + datetime.timedelta(days=2), None], dtype=object),
            "t": [datetime.time(6), None, datetime.time(18, 30)],
            "n": [decimal.Decimal("1.5"), None, decimal.Decimal(2)],
            "w": pd.to_timedelta([12, 24, 36], unit="h"),
            "z": pd.to_datetime(["2021-03-01", "2021-03-02", "2021-03-03"]).tz_localize(
                "Europe/Berlin"
            ),
        }
    )
    values, encoding = rows(table, table, policy="propagate")
    assert [code.kind for code in encoding.codes] == [
        "boolean",
        "date",
        "time",
        "number",
        "duration",
        "date",
    ]
    nan = np.nan
    expected = [
        [0, 1, 0, 6, 1.5, 0.5, 0],
        [nan, nan, 2, nan, nan, 1.0, 1],
        [1, 0, nan, 18.5, 2, 1.5, 2],
    ]
    np.testing.assert_array_equal(values[:3], expected)


def test_equal_times_are_equal_whatever_their_unit():
    days = pd.Series(pd.date_range("2024-01-01", periods=5, freq="36h"))
    columns = [
        read_column(days.astype(f"datetime64[{unit}]"), "t", "X")
        for unit in ("s", "ms", "us", "ns")
    ]
    assert {column.values.tobytes() for column in columns} == {columns[0].values.tobytes()}


@pytest.mark.parametrize("gaps", [False, True])
def test_summaries_of_chunks_are_the_summary_of_all_rows(gaps):
    table = mixed(60, 3, gaps).assign(row=np.arange(60), id=[f"k{i}" for i in range(60)])
    table["none"] = pd.Series([None] * 60, dtype=object)
    whole = [ColumnSummary.of(table[name]) for name in table]
    for cuts in ([20], [1, 2, 59], [30, 31, 40]):
        parts = [[ColumnSummary.of(part[name]) for name in table] for part in pieces(table, cuts)]
        merged = parts[0]
        for part in parts[1:]:
            merged = [summary.merge(other) for summary, other in zip(merged, part, strict=True)]
        for summary, expected in zip(merged, whole, strict=True):
            keys = (
                "kind",
                "size",
                "known",
                "whole",
                "low",
                "high",
                "offset",
                "differ",
                "counts_rows",
            )
            assert [getattr(summary, key) for key in keys] == [
                getattr(expected, key) for key in keys
            ], summary.name
            assert dict(summary.counts) == dict(expected.counts) and (
                gaps or summary.levels == expected.levels
            )
        encoding = Encoding.of([[summary] for summary in merged[:7]], None, indicate=gaps)
        assert (
            encoding.codes
            == Encoding.of([[summary] for summary in whole[:7]], None, indicate=gaps).codes
            or gaps
        )
    assert whole[-3].counts_rows and whole[-2].differ


def test_an_encoding_reads_chunks_as_it_reads_all_rows():
    table = mixed(60, 4)
    encoding = Encoding.of([[ColumnSummary.of(table[name])] for name in table], None)
    encoding, values = encoding.fitted(read_table(table, "X"))
    parts = [encoding(part) for part in pieces(table, [7, 30])]
    np.testing.assert_array_equal(np.vstack(parts), values)


def test_too_many_levels_keep_a_sample_that_knows_repetitions():
    texts = pd.Series([f"k{i}" for i in range(4 * MOST_LEVELS)], name="id")
    halves = [
        ColumnSummary.of(texts[: 2 * MOST_LEVELS]),
        ColumnSummary.of(texts[2 * MOST_LEVELS :]),
    ]
    apart, twice = halves[0].merge(halves[1]), halves[0].merge(halves[0])
    assert apart.differ and not twice.differ and len(apart.counts) == MOST_LEVELS + 1


@pytest.mark.ci
def test_mixed_tables_keep_the_level():
    rejected = 0
    for seed in range(100):
        both = mixed(24, seed, gaps=True)[["income", "color", "day"]]
        rejected += (
            two_sample_test(
                both[:12], both[12:], nan_policy="indicator", n_resamples=19, rng=seed
            ).pvalue
            <= 0.05
        )
    assert rejected <= 13  # P(more) < 0.001 at level 0.05


@pytest.mark.parametrize(
    ("a", "b", "error", "words"),
    [
        ([1, "x", 2.5], [1, 2, 3], TypeError, "X, column 'a', must hold real numbers"),
        ([[1], [2], [3]], [1, 2, 3], TypeError, "X, column 'a', must hold"),
        ([1j, 2, 3], [1, 2, 3], TypeError, "X, column 'a', must hold"),
        (["x", "y", "x"], [1, 2, 3], ValueError, "holds categories in X and numbers in Y"),
        ([1.0, np.inf, 2], [1, 2, 3], ValueError, "X, column 'a', has an infinite value in row 1"),
        ([], [1, 2], ValueError, "X is empty: it has 0 rows and 1 column"),
        (["1", "2", "ND"], [1, 2, 3], ValueError, "'ND' in row 2 is not a number; replace it .* 'category'"),
        (["$1,200", "$7", "$12"], [1, 2, 3], ValueError, "in row 0 is not a number; .* 'number'}, or to 'category'"),
        (["2024-01-01"] * 3, ["x"] * 3, ValueError, "holds dates in X and categories in Y"),
        ([2**53, 2**53 + 1, 1], [1, 2, 3], ValueError, "too many digits"),
        (pd.to_datetime(["2024-01-01"] * 3).tz_localize("UTC"), pd.to_datetime(["2024-01-01"] * 3), ValueError,
         "with a time zone in X and dates without a time zone in Y"),
    ],
)  # fmt: skip
def test_columns_that_cannot_be_tested(a, b, error, words):
    with pytest.raises(error, match=words):
        two_sample_test(pd.DataFrame({"a": a}), pd.DataFrame({"a": b}))


def test_codes_with_zeros_are_text():
    codes = pd.DataFrame({"zip": ["02134", "10001", "02134", "94110"] * 5})
    assert rows(codes, codes)[1].codes[0].levels == ("02134", "10001", "94110")


# --- units of columns with missing values: the indicator says as much as its column does ---


def incomes(seed, missing, n=40):
    rng = np.random.default_rng(seed)
    values = rng.normal(30000.0, 8000.0, size=(n, 2))
    values[rng.random(n) < missing, 0] = np.nan
    return values


X, Y = incomes(0, 0.05), incomes(1, 0.35)


def points(x, y, scale):
    pooled = pooled_tables((x, y), ("X", "Y"), {})
    keep = np.ones(len(x) + len(y), dtype=bool)
    return pooled.taken(keep, ScaleOption.of(scale), indicate=True)[0].points


def test_a_unit_of_one_is_no_unit():
    for x, y in (
        (X, Y),
        (pd.DataFrame(X, columns=["a", "b"]), pd.DataFrame(Y, columns=["a", "b"])),
    ):
        plain = points(x, y, None)
        assert np.array_equal(points(x, y, [1.0, 1.0]), plain)
        unscaled = two_sample_test(x, y, scale=None, nan_policy="indicator", n_resamples=19, rng=0)
        scaled = two_sample_test(
            x, y, scale=[1.0, 1.0], nan_policy="indicator", n_resamples=19, rng=0
        )
        assert unscaled.statistic == scaled.statistic
    named = points(
        *(pd.DataFrame(sample, columns=["a", "b"]) for sample in (X, Y)), {"a": None, "b": 1.0}
    )
    assert np.array_equal(named, plain)
    alone = [sample[:, :1] for sample in (X, Y)]
    same = [
        equivalence_test(
            *alone, margin=0.2, measure="distance", scale=units, nan_policy="indicator", rng=0
        )
        for units in (None, [1.0])
    ]
    assert same[0].upper == same[1].upper


@pytest.mark.parametrize("unit", [8000.0, 0.25, 3.0])
def test_a_number_is_what_dividing_the_column_by_it_is(unit):
    divided = [sample / [unit, 1.0] for sample in (X, Y)]
    np.testing.assert_allclose(points(X, Y, [unit, 1.0]), points(*divided, None), rtol=1e-12)
    tables = [pd.DataFrame(sample, columns=["a", "b"]) for sample in (X, Y)]
    mixed, by_name = points(*tables, {"a": unit, "b": "sd"}), points(*tables, "sd")
    spread = mixed[:, 0].std()
    np.testing.assert_allclose(mixed[:, :2] / spread, by_name[:, :2], rtol=1e-12)


def test_the_indicator_of_a_constant_column_is_as_under_sd():
    gone = [np.where(sample > 34000.0, np.nan, 5.0)[:, :1] for sample in (X, Y)]
    for scale in ("sd", None, [1.0], [5.0]):
        assert points(*gone, scale)[:, 1].max() == pytest.approx(2.0**0.5)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "scale", ["auto", "sd", "mad", "rank", "deviation", {"a": 1.0, "b": "rank"}]
)
def test_where_no_row_is_complete_missing_values_propagate(scale):
    never = pd.DataFrame({"a": [1.0, np.nan, 3.0, np.nan], "b": [np.nan, 2.0, np.nan, 3.0]})
    for test in (two_sample_test, independence_test):
        assert np.isnan(test(never, never + 1.0, nan_policy="propagate", scale=scale).pvalue)
