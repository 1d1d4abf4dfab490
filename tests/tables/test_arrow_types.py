"""Columns of Arrow, wherever they are held, mean what they say: orders, dates, decimals."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shrinktest import change_point_test, independence_test, two_sample_test
from shrinktest.data.tables import read_table

RNG = np.random.default_rng(0)
FEW = {"n_resamples": 99, "rng": 0}


def of_pandas(table):
    return table.to_pandas(types_mapper=pd.ArrowDtype)


def column(data, **types):
    return read_table(data, "X", types).columns[0]


def test_an_order_of_categories_is_kept_in_frames_of_arrow():
    levels = ["low", "middle", "high"]
    rows = pd.DataFrame({"k": pd.Categorical(RNG.choice(levels, 30), categories=levels, ordered=True)})
    found = column(of_pandas(pa.Table.from_pandas(rows)))
    assert found.kind == "ordered" and found.levels == tuple(levels)
    assert np.array_equal(found.values, column(rows).values)


@pytest.mark.parametrize("held", [lambda table: table, of_pandas], ids=["pyarrow", "pandas"])
def test_dates_in_milliseconds_are_dates(held):
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(int(k)) for k in RNG.integers(0, 90, 30)]
    found, plain = (column(held(pa.table({"k": pa.array([*days, None], kind)}))) for kind in (pa.date64(), pa.date32()))
    assert found.kind == plain.kind == "date"
    assert np.array_equal(found.numbers(), plain.numbers(), equal_nan=True)


KINDS = [
    *(pa.float64(), pa.int16(), pa.uint64(), pa.bool_(), pa.string(), pa.decimal128(21, 2)),
    *(pa.timestamp("us"), pa.timestamp("us", "Asia/Tokyo"), pa.duration("us"), pa.time64("us")),
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_gaps_are_missing_in_frames_of_arrow(kind):
    values = [f"k{n}" for n in range(90, 120)] if kind == pa.string() else [*range(90, 120)]
    table = pa.table({"k": pa.array([*values, None]).cast(kind)})
    found, plain = column(of_pandas(table)), column(table)
    assert (found.kind, found.levels, found.whole, found.zoned) == (plain.kind, plain.levels, plain.whole, plain.zoned)
    assert found.missing().tolist() == [False] * 30 + [True]
    assert np.array_equal(found.values, plain.values, equal_nan=True)


@pytest.mark.parametrize(
    "held",
    [lambda k: pd.DataFrame({"k": k}), lambda k: pa.table({"k": k}), lambda k: pl.DataFrame({"k": k})],
    ids=["objects of pandas", "pyarrow", "polars"],
)
def test_decimals_of_many_digits_stay_apart(held):
    codes = RNG.integers(0, 30, size=30)
    many = [Decimal(10**17 + int(code)) for code in codes]
    with pytest.raises(ValueError, match="column 'k', holds whole numbers with too many digits"):
        two_sample_test(held(many), held(many[::-1]), **FEW)
    assert column(held(many), k="category").levels == tuple(str(10**17 + code) for code in np.unique(codes))
    cents = [(Decimal(int(code)) / 4).quantize(Decimal("0.01")) for code in codes]
    assert np.array_equal(column(held(cents)).numbers(), codes / 4)
    gaps = held([*many[:3], None])
    assert column(gaps, k="category").levels == tuple(str(10**17 + code) for code in np.unique(codes[:3]))


@pytest.mark.parametrize("odd", [Decimal("NaN"), Decimal("Infinity"), Decimal("1e999999"), Decimal("0.1")], ids=str)
def test_decimals_that_are_no_whole_numbers_are_none(odd):
    from shrinktest._check import as_integer

    assert as_integer(odd) is None
    assert as_integer(Decimal("1e20")) == 10**20


def test_labels_and_times_may_be_columns_of_tables_of_pyarrow():
    x, y = RNG.normal(size=(2, 12))
    table = pa.table({"block": ["a", "b"] * 6, "gap": [None, *range(10), None], "when": range(12)})
    by_list = independence_test(x, y, blocks=["a", "b"] * 6, **FEW)
    assert independence_test(x, y, blocks=table["block"], **FEW).pvalue == by_list.pvalue
    with pytest.raises(ValueError, match="blocks has no label for row 0"):
        independence_test(x, y, blocks=table["gap"], **FEW)
    assert list(change_point_test(x, times=table["when"], **FEW).times) == list(range(12))


def test_what_cannot_be_read_is_named_by_its_type():
    with pytest.raises(TypeError, match="got dtype month_day_nano_interval"):
        column(pa.table({"k": pa.array([pa.MonthDayNano([1, 2, 3]), None])}))
