"""Columns from cells of text: what they are taken for, and the cells that are odd."""

from __future__ import annotations

import numpy as np
import pytest

from shrinktest.tables.text import OddCell, from_cells, kind_of_cell


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2.5", "", "NA", "-1e3"], "number"),
        (["", "nan"], "number"),
        (["True", "FALSE", "true", "na"], "boolean"),
        (["2024-03-31", "2024-04-01T12:30", "2024-04-01 12:30:15.5", ""], "date"),
        (["2024-03-31T10:00Z", "2024-03-31T12:00+02:00"], "date"),
        (["9:30", "14:05:30.5", ""], "time"),
        (["a", "b", "a"], "category"),
        (["a", "b", "1"], "category"),  # one number among more text is a category like others
        (["True", "False", "unknown"], "category"),
        (["1.2.3", "1.2.4"], "category"),
        (["2024-02-30", "a", "b"], "category"),
    ],
)
def test_what_cells_are(cells, kind):
    assert from_cells("c", cells).kind == kind


def test_values():
    assert np.array_equal(from_cells("c", ["1", "", "2.5"]).values, [1.0, np.nan, 2.5], equal_nan=True)
    assert from_cells("c", ["1,5", "2"], decimal=",").values.tolist() == [1.5, 2.0]
    assert from_cells("c", ["9:30", "14:45"]).values.tolist() == [9.5, 14.75]
    found = from_cells("c", ["TRUE", "false", ""])
    assert (found.values.tolist(), found.levels) == ([1, 0, -1], ("False", "True"))
    found = from_cells("c", ["2024-03-31T10:00Z", "2024-03-31T12:00+02:00"]).values
    assert found[0] == found[1] == np.datetime64("2024-03-31T10:00")
    assert from_cells("c", ["1", "2"]).whole and not from_cells("c", ["1", "2."]).whole
    assert not from_cells("c", ["1", ""]).whole  # as pandas, which has no whole numbers beside missing ones


@pytest.mark.parametrize(
    ("cells", "row", "why"),
    [
        (["1", "2", "x"], 2, "is not a number"),
        (["1", "x"], 1, "is not a number"),  # half of them are
        (["x", "", "3", "1"], 0, "is not a number"),
        (["1,5", "2,5"], 0, "is not a number"),  # decimal commas throughout
        (["$5", "$1,000"], 0, "is not a number"),
        (["5%", "7 %"], 0, "is not a number"),
        (["<0.5", "3"], 0, "is not a number"),
        (["1", "1_000"], 1, "is not a number"),
        (["1", "inf"], 1, "is an infinite value"),
        (["2024-03-31", "31.3.2024"], 1, "is not a date such as 2024-03-31"),
        (["2024-03-31T10:00Z", "2024-03-31"], 1, "is a date without a time zone, unlike others before"),
        (["9:30", "25:00"], 1, "is not a time such as 14:30"),
    ],
)
def test_odd_cells_are_no_categories(cells, row, why):
    with pytest.raises(OddCell, match=why) as found:
        from_cells("c", cells)
    assert found.value.row == row


def test_fewer_than_half_are_categories():
    assert from_cells("c", ["1", "x", "y"]).levels == ("1", "x", "y")


def test_what_is_wanted():
    assert from_cells("c", ["02134", "2134", "2134.0"], wanted="category").levels == ("02134", "2134")
    assert from_cells("c", ["S", "L"], wanted=["S", "M", "L"]).values.tolist() == [0, 2]
    assert from_cells("c", ["3", "1"], wanted=["1", "3"]).values.tolist() == [1, 0]
    assert from_cells("c", ["1", "0", ""], wanted="boolean").kind == "boolean"
    assert from_cells("c", ["20240331", ""], wanted="date").values[0] == np.datetime64("2024-03-31")
    assert from_cells("c", ["1 days 02:00:00"], wanted="duration").values[0] == np.timedelta64(26, "h")
    with pytest.raises(OddCell, match="is not a number") as found:
        from_cells("c", ["a", "b", "1"], wanted="number")
    assert found.value.row == 0
    with pytest.raises(OddCell, match="is not True or False"):
        from_cells("c", ["True", "yes"], wanted="boolean")
    with pytest.raises(ValueError, match="lacks levels that the column has: 'XL'"):
        from_cells("c", ["S", "XL"], wanted=["S", "M"], where="the column")


def test_long_numbers_stay_apart_as_categories():
    assert len(set(from_cells("c", ["1234567890123456", "1234567890123457"], wanted="category").levels)) == 2


def test_single_cells():
    kinds = [kind_of_cell(cell) for cell in ("1", "true", "2024-03-31", "14:30", "a", "NA")]
    assert kinds == ["number", "boolean", "date", "time", "category", None]


@pytest.mark.parametrize("cells", [[10**18 + k for k in (0, 1, 2, 4)], [10**18, "", 10**18 + 1], [10**25, 10**25 + 1]])
def test_whole_numbers_that_floats_would_merge_are_refused(cells):
    cells, said = list(map(str, cells)), r"^a.csv, column 'c', holds whole numbers with too many .* as 10+ and 10+1;"
    for wanted in (None, "number", "ordered"):
        with pytest.raises(ValueError, match=said):
            from_cells("c", cells, wanted=wanted, where="a.csv, column 'c',")
    assert len(from_cells("c", cells, wanted="category").levels) == sum(map(bool, cells))


def test_whole_numbers_of_many_digits_that_stay_apart():
    nanoseconds = [str(1700000000000000000 + 10**6 * k) for k in range(5)]
    assert len(np.unique(from_cells("c", nanoseconds).values)) == 5
    assert from_cells("c", ["1000000000000000001.5", "1000000000000000000"]).kind == "number"  # no whole numbers
