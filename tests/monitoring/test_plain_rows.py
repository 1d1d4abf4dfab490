"""Plain rows: the numbers of the general reader, which also has all others, and its errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shrinktest import DriftMonitor
from shrinktest.monitoring.plain_rows import of_frame, of_mapping


def table(rng, rows):
    return pd.DataFrame(
        {
            "number": np.where(rng.random(rows) < 0.2, np.nan, rng.normal(size=rows)),
            "count": rng.poisson(2.0, rows),
            "kind": rng.choice(["a", "b ", None], rows),
            "flag": rng.random(rows) < 0.5,
            "grade": rng.choice(["low", "high"], rows),
            "day": pd.date_range("2024-01-01", periods=rows),
        }
    )


@pytest.fixture(scope="module")
def layout():
    types = {"grade": ["low", "high"]}
    reference = table(np.random.default_rng(0), 80)
    return DriftMonitor(reference, column_types=types, rng=0)._stream.layout


@pytest.fixture
def rows():
    return table(np.random.default_rng(1), 30)


def generally(layout, x):
    return layout.matrix(layout._table(x, "rows"))


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x,
        lambda x: x[x.columns[::-1]],
        lambda x: x.drop(columns="day"),
        lambda x: x.assign(kind="new"),
        lambda x: x.assign(kind=x["kind"].astype(object), number=x["number"].astype("float32")),
        lambda x: x.assign(kind=None),
        lambda x: x.assign(count=x["count"].astype("uint8"), number=3),
    ],
)
def test_plain_tables_have_the_numbers_of_all_tables(layout, rows, change):
    x = change(rows)
    np.testing.assert_array_equal(of_frame(x, layout), generally(layout, x))
    for i in range(5):
        np.testing.assert_array_equal(layout.read(x[i : i + 1], "rows"), of_frame(x, layout)[[i]])


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.assign(count=x["count"].astype("Int64")),
        lambda x: x.assign(count=2**53),
        lambda x: x.assign(number=x["number"].astype(str)),
        lambda x: x.assign(flag=x["flag"].astype(int)),
        lambda x: x.assign(kind=7),
        lambda x: x.assign(kind=[7, *x["kind"][1:]]),
        lambda x: x.assign(kind=x["kind"].astype("category")),
        lambda x: x.assign(grade=pd.Categorical(x["grade"], ["high", "low"])),
    ],
)
def test_other_tables_are_read_generally(layout, rows, change):
    x = change(rows)
    assert of_frame(x, layout) is None
    try:
        expected = generally(layout, x)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)) as caught:
            layout.read(x, "rows")
        assert str(caught.value) == str(error)
    else:
        np.testing.assert_array_equal(layout.read(x, "rows"), expected)
        for i in range(3):
            np.testing.assert_array_equal(layout.read(x[i : i + 1], "rows"), expected[[i]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: x.assign(number=np.inf), "'number', has an infinite value in row 0"),
        (lambda x: x.assign(grade="middle"), "'middle'"),
        (lambda x: x.drop(columns="flag"), "it lacks 'flag'"),
        (lambda x: x.assign(more=1), "it adds 'more'"),
        (lambda x: pd.concat([x, x["flag"]], axis=1), "more than one column named 'flag'"),
        (lambda x: x[:0], "rows is empty"),
    ],
)
@pytest.mark.parametrize("size", [1, 30])
def test_errors_are_those_of_the_general_reader(layout, rows, change, message, size):
    x = change(rows[:size])
    with pytest.raises(ValueError, match=message):
        layout.read(x, "rows")


@pytest.mark.parametrize("flag", [True, 1, "true", None, pd.NA, 0.0])
@pytest.mark.parametrize("number", [0.5, 3, None, pd.NA, "3", 2**60])
def test_a_dict_is_a_row_of_a_table(flag, number):
    rng = np.random.default_rng(2)
    layout = DriftMonitor(table(rng, 60)[["number", "flag"]], rng=0)._stream.layout
    row = {"number": number, "flag": flag}
    expected = generally(layout, pd.DataFrame([row]))
    np.testing.assert_array_equal(layout.read(row, "rows"), expected)


def test_rows_of_other_names_are_not_plain(layout):
    assert of_mapping({"number": 1.0}, layout) is None
