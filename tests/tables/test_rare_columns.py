"""Rare columns: signed durations, zones, orders, huge numbers, single columns of identifiers."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shrinktest import compare, independence_test, two_sample_test
from shrinktest.data.tables import pooled, read_table

SHORT = {"n_resamples": 99, "rng": 0}


def column(values, **types):
    """What becomes of a column of a data frame."""
    return read_table(pd.DataFrame({"c": values}), "X", types).columns[0]


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("02:30:00", 2.5),
        ("-02:30:00", -2.5),
        ("-00:30", -0.5),
        ("1 days 02:00:00", 26.0),
        ("-1 day, 2:00:00", -22.0),
        ("-1 days +23:30:00", -0.5),
        ("3 days", 72.0),
        ("00:00:01.5", 1.5 / 3600.0),
    ],
)
def test_the_sign_of_a_duration_is_that_of_its_parts(text, hours):
    assert column([text, text], c="duration").numbers()[0] == pytest.approx(hours / 24.0)


@pytest.mark.parametrize("text", ["1:02:30:00", "inf", "1:-2:3", "nan:3", "a day", "1e400 days"])
def test_what_is_no_duration_is_an_error(text):
    with pytest.raises(ValueError, match=r"in row 0 .* cannot be read so"):
        column([text, "02:00:00"], c="duration")


def test_dates_of_every_library_are_the_same():
    dates = [datetime.date(2024, 1, 1) + datetime.timedelta(days=3 * i) for i in range(9)]
    expected = column(pd.to_datetime(dates)).numbers()
    for table in (
        pd.DataFrame({"c": pd.to_datetime(dates)}).astype("date32[pyarrow]"),
        pd.DataFrame({"c": dates}),
        pl.DataFrame({"c": dates}),
        pa.table({"c": dates}),
    ):
        found = read_table(table, "X").columns[0]
        assert found.kind == "date" and np.array_equal(found.numbers(), expected)


@pytest.mark.parametrize("zone", ["America/New_York", "Europe/Berlin", "UTC"])
def test_dates_in_a_zone_are_in_universal_time(zone):
    local = pd.date_range("2024-01-01", periods=9, freq="h", tz=zone)
    expected = column(local.tz_convert("UTC").tz_localize(None)).numbers()
    for table in (pd.DataFrame({"c": local}), pd.Series(local)):
        assert np.array_equal(read_table(table, "X").columns[0].numbers(), expected)


def test_dates_with_and_without_a_zone_are_not_pooled():
    dates = pd.date_range("2024-01-01", periods=9)
    with pytest.raises(ValueError, match="'t' holds dates without a time zone in A and with a time zone in B"):
        compare(pd.DataFrame({"t": dates}), pd.DataFrame({"t": dates.tz_localize("UTC")}), rng=0)


def test_a_table_without_dates_changes_no_zone():
    zoned = read_table(pd.DataFrame({"t": pd.date_range("2024-01-01", periods=3, tz="UTC")}), "X").columns[0]
    nothing = read_table(pd.DataFrame({"t": [None, None, None]}), "Y").columns[0]
    assert pooled([nothing, zoned], "XY").zoned and pooled([pooled([nothing, zoned], "XY"), zoned], "XZ").zoned


def test_an_ordered_dictionary_keeps_its_order():
    frame = pd.DataFrame({"c": pd.Categorical(list("bca"), list("cba"), ordered=True)})
    found = read_table(pa.Table.from_pandas(frame), "X").columns[0]
    assert (found.kind, found.levels, found.values.tolist()) == ("ordered", ("c", "b", "a"), [1, 0, 2])


def test_levels_may_be_given_as_values():
    assert column([2.0, 10.0, 1.5], c=[1.5, 2.0, 10.0]).values.tolist() == [1, 2, 0]
    days = [pd.Timestamp("2020-01-01"), pd.Timestamp("2021-01-01")]
    assert column(days[::-1], c=days).values.tolist() == [1, 0]


def test_codes_with_many_digits_are_told_apart():
    assert column([10**17 + 1, 10**17 + 2], c="category").levels == ("100000000000000001", "100000000000000002")


@pytest.mark.parametrize("value", [10**400, "sNaN"])
def test_numbers_beyond_floating_point_are_an_error_that_names_the_column(value):
    import decimal

    entries = [value, 1] if isinstance(value, int) else [decimal.Decimal(value), decimal.Decimal(1)]
    with pytest.raises(ValueError, match="X, column 'c', holds numbers that cannot be read"):
        column(pd.Series(entries, dtype=object))


@pytest.mark.parametrize(("factor", "why"), [(1e200, "beyond the range of numbers"), (1e-175, "its unit is 0")])
@pytest.mark.parametrize("beside", [False, True])
def test_units_beyond_the_range_of_numbers_are_an_error(factor, why, beside):
    rng = np.random.default_rng(0)
    x, y = factor * rng.normal(size=20), factor * rng.normal(3.0, size=20)
    tables = [pd.DataFrame({"v": v} | ({"w": rng.normal(size=20)} if beside else {})) for v in (x, y)]
    with pytest.raises(ValueError, match=why):
        two_sample_test(*tables, **SHORT)


def test_a_single_column_of_identifiers_is_an_error():
    one, other = (pd.DataFrame({"t": [f"{name}{i}" for i in range(30)]}) for name in ("user", "guest"))
    with pytest.raises(ValueError, match="another text in every row"):
        two_sample_test(one, other, **SHORT)
    with pytest.raises(ValueError, match="another text in every row"):
        two_sample_test(one["t"], other["t"], **SHORT)
    assert two_sample_test(one, other, column_types={"t": "category"}, **SHORT).pvalue > 0.0
    many = pd.DataFrame({"since": [f"2024-01-{1 + i % 28:02d} {i % 24:02d}" for i in range(300)]})
    with pytest.raises(ValueError, match="too many for categories; read dates"):
        two_sample_test(many, many, **SHORT)


def test_labels_that_are_given_may_be_many():
    rng = np.random.default_rng(0)
    site = np.array([f"site {k % 130}" for k in range(400)])
    for given in (site, pd.DataFrame({"site": site})):
        found = independence_test(*rng.normal(size=(2, 400)), given=given, **SHORT)
        assert found.method == "permutations within strata"
    assert two_sample_test(*rng.normal(size=(2, 400)), covariates=(site, site), **SHORT).pvalue > 0.0


def test_a_category_with_a_line_break_stays_on_one_line():
    tables = [pd.DataFrame({"note": [text] * 10 + ["none"] * 10, "x": range(20)}) for text in ("two\nlines", "one")]
    shown = compare(*tables, rng=0, n_resamples=99).summary()
    assert "two lines 50% → 0%" in shown
