"""What samples in batches are read from: arrays, memory maps, objects that start anew, and files."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shrinktest import Batches
from shrinktest.batches.crew import Crew
from shrinktest.batches.recognized import in_batches
from shrinktest.batches.rows import Rows
from shrinktest.batches.source import as_batches
from shrinktest.batches.survey import Counting

VALUES = np.random.default_rng(0).normal(size=(1003, 3)).round(6)
TABLE = pd.DataFrame(VALUES, columns=["a", "b", "c"])


class Again:
    """Batches of random sizes, anew whenever somebody asks."""

    def __init__(self, values, sizes):
        self.values, self.sizes = values, sizes

    def __iter__(self):
        return iter(np.split(self.values, np.cumsum(self.sizes)))


def read(data, *, omit=False, **options):
    batches = Batches(data, **options)
    rows = Rows(batches, "X", batches.names("X"), omit)
    return [np.array(values) for piece in rows.pieces() for values, _ in rows.reader.rows_of(piece) if len(values)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for i, part in enumerate(np.split(np.arange(1003), [400, 401])):
        np.save(f"{i}.npy", VALUES[part])
        TABLE.iloc[part].to_csv(f"{i}.csv", index=False)
        TABLE.iloc[part].to_parquet(f"{i}.parquet", index=False)
    return tmp_path


@pytest.mark.parametrize(
    "data",
    [VALUES, [VALUES], list(np.array_split(VALUES, 17)), Again(VALUES, [0, 1, 7, 500, 0])],
    ids=["array", "one", "seventeen", "object"],
)
@pytest.mark.parametrize("size", [1, 100, 100_000])
def test_arrays_give_their_rows_in_order(data, size):
    assert np.array_equal(np.vstack(read(data, size=size)), VALUES)
    pieces = list(Rows(Batches(data, size=size), "X", None, False).pieces())
    assert sum(piece.rows for piece in pieces) == len(VALUES)


@pytest.mark.parametrize("size", [1, 99, 100_000])
@pytest.mark.parametrize("kind", ["npy", "csv", "parquet"])
def test_files_give_their_rows_in_order(folder, kind, size):
    for data in (f"*.{kind}", [f"{i}.{kind}" for i in range(3)], [folder / f"{i}.{kind}" for i in range(3)]):
        assert np.array_equal(np.vstack(read(data, size=size)), VALUES)


def test_memory_maps_single_columns_and_other_numbers(folder):
    np.save("whole.npy", VALUES)
    assert np.array_equal(np.vstack(read(np.load("whole.npy", mmap_mode="r"))), VALUES)
    assert np.array_equal(np.vstack(read(VALUES[:, 0])), VALUES[:, :1])
    single = np.vstack(read([VALUES[:400].astype(np.float32), VALUES[400:].astype(np.float32)]))
    assert single.dtype == np.float32 and np.array_equal(single, VALUES.astype(np.float32))
    assert np.array_equal(np.vstack(read([np.arange(6).reshape(3, 2)])), np.arange(6.0).reshape(3, 2))


def test_columns_are_chosen_by_name_or_number(folder):
    for kind in ("csv", "parquet"):
        assert np.array_equal(np.vstack(read(f"*.{kind}", columns=["c", "a"])), VALUES[:, [2, 0]])
    assert np.array_equal(np.vstack(read("*.npy", columns=[2, 0])), VALUES[:, [2, 0]])
    with pytest.raises(ValueError, match=r"^0\.csv has no column 'd'; it has 'a', 'b', 'c'"):
        read("*.csv", columns=["d"])
    with pytest.raises(ValueError, match=r"^X has no column 'd'; it has 'a', 'b', 'c'"):
        read([TABLE], columns=["d"])
    with pytest.raises(ValueError, match=r"^X, 0\.npy, has 3 columns without names, and no column 7"):
        read("*.npy", columns=[7])
    with pytest.raises(ValueError, match="3 columns without names, and no column 'a'; give numbers from 0 on"):
        read(VALUES, columns=["a"])
    with pytest.raises(ValueError, match="and no column 3"):
        read(VALUES, columns=[3])
    with pytest.raises(ValueError, match="columns must be a list of names"):
        Batches("a.csv", columns="a")


def test_files_of_one_sample_may_have_their_columns_in_another_order(folder):
    TABLE[["c", "b", "a"]].to_parquet("3.parquet", index=False)
    assert np.array_equal(np.vstack(read("*.parquet")), np.vstack([VALUES, VALUES]))
    TABLE[["c", "b"]].to_parquet("4.parquet", index=False)
    with pytest.raises(ValueError, match=r"4\.parquet has no column 'a'"):
        read("*.parquet")


def test_integers_and_truth_values_with_gaps_are_numbers(folder):
    table = pd.DataFrame({"n": pd.array([1, None, 3], "Int64"), "t": pd.array([True, False, None], "boolean")})
    table.to_parquet("gaps.parquet", index=False)
    assert np.array_equal(np.vstack(read("gaps.parquet", omit=True)), [[1.0, 1.0]])


def test_other_types_are_an_error_that_says_so(folder):
    TABLE.assign(d="text").to_parquet("text.parquet", index=False)
    with pytest.raises(TypeError, match=r"text\.parquet, column 'd', must hold numbers, found .*string.*columns="):
        read("text.parquet")
    assert len(np.vstack(read("text.parquet", columns=["a"]))) == 1003
    TABLE.assign(d="text").to_csv("text.csv", index=False)
    with pytest.raises(ValueError, match=r"text\.csv, line 2, column 'd': .*'text'.*column_types="):
        read("text.csv")
    assert len(np.vstack(read("text.csv", columns=["a"]))) == 1003
    with pytest.raises(TypeError, match=r"batch 1 .* must hold real numbers"):
        read([VALUES, np.array([["a", "b", "c"]])])


def test_missing_values_name_file_and_row_or_are_left_out(folder):
    holes = VALUES.copy()
    holes[[3, 700], [1, 2]] = np.nan
    pd.DataFrame(holes[:400], columns=["a", "b", "c"]).to_parquet("0.parquet", index=False)
    pd.DataFrame(holes[401:], columns=["a", "b", "c"]).to_csv("2.csv", index=False)
    with pytest.raises(ValueError, match=r"X, 0\.parquet has a missing value \(NaN\) in row 3, column 'b'"):
        read("*.parquet")
    with pytest.raises(ValueError, match=r"X, 2\.csv has a missing value \(NaN\) in row 299, column 'c'"):
        read("2.csv", size=50)
    with pytest.raises(ValueError, match=r"X, batch 1 .* has a missing value \(NaN\) in row 700, column 2 .*omit"):
        read([VALUES[:600], holes[600:]])
    rows = Rows(Batches([holes[:5], holes[5:]]), "X", None, omit=True)
    kept, told = zip(*(found for piece in rows.pieces() for found in rows.reader.rows_of(piece)), strict=True)
    assert np.array_equal(np.vstack(kept), np.delete(VALUES, [3, 700], axis=0)) and sum(told) == 2


def test_infinite_values_name_file_and_row(folder):
    wild = VALUES.copy()
    wild[500, 1] = np.inf
    np.save("wild.npy", wild)
    with pytest.raises(ValueError, match=r"X, wild\.npy, has an infinite value in row 500, column 1"):
        read("wild.npy", omit=True, size=300)


def test_what_can_be_read_once_only_is_an_error():
    with pytest.raises(TypeError, match=r"generator can be read once only: give a list of arrays, or an object"):
        Batches(VALUES[i : i + 10] for i in range(0, 1000, 10))
    with pytest.raises(TypeError, match="Batches takes paths of files, an array, or an iterable of arrays; found int"):
        Batches(3)
    with pytest.raises(TypeError, match="DataFrame, which is none of these"):
        Batches(TABLE)


def test_batches_have_two_dimensions_and_the_same_columns():
    with pytest.raises(ValueError, match=r"batch 0 .* two dimensions, rows and columns; found shape \(2,\)"):
        read([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(ValueError, match=r"batch 1 \(counting from 0\) has 2 columns, and X had 3 before"):
        list(Crew().read([Rows(Batches([VALUES, VALUES[:, :2]]), "X", None, False)], Counting()))


def test_files_that_are_not_there_or_of_another_kind(folder):
    with pytest.raises(FileNotFoundError, match=r"X: there is no file 'before/\*\.parquet'"):
        read("before/*.parquet")
    with pytest.raises(ValueError, match=r"files of one kind of '\.npy', '\.csv', '\.parquet'; found '\.csv', '\.npy'"):
        read(["0.csv", "1.npy"])
    Path("sub").mkdir()
    with pytest.raises(ValueError, match=r"'sub' is a folder; name its files, such as 'sub/\*\.parquet'"):
        read("sub")


def test_columns_that_are_there_twice(folder):
    Path("twice.csv").write_text("a,b,a\n1,2,3\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"^twice\.csv has 'a' more than once; rename such columns, or choose others"):
        read("twice.csv")
    assert np.vstack(read("twice.csv", columns=["b"])).tolist() == [[2.0]]
    with pytest.raises(ValueError, match="columns has 'b' more than once; name every column once"):
        read("0.csv", columns=["b", "b"])
    with pytest.raises(ValueError, match="columns has 0 more than once"):
        Batches(np.eye(3), columns=[0, 0])
    with pytest.raises(ValueError, match="columns must be a list of names"):
        Batches(np.eye(3), columns=3)


def test_files_without_names_and_saved_indices(folder):
    np.savetxt("plain.csv", VALUES, delimiter=",")
    with pytest.raises(ValueError, match=r"plain\.csv has numbers in its first row, which is to name the columns"):
        read("plain.csv")
    TABLE.to_csv("index.csv")
    TABLE.sort_values("a").to_parquet("index.parquet")
    for name, column in (("index.csv", "''"), ("index.parquet", "'__index_level_0__'")):
        with pytest.raises(ValueError, match=f"^{name} has a column {column}, which looks as if it numbered the rows"):
            read(name)
        assert len(np.vstack(read(name, columns=["a", "b"]))) == 1003


def test_an_index_with_a_name_is_no_column(folder):
    TABLE.rename_axis("subject").sort_values("a").to_parquet("named.parquet")
    with pytest.raises(
        ValueError, match=r"^named.parquet has a column 'subject' that was the index of a table, not one"
    ):
        read("named.parquet")
    assert read("named.parquet", columns=["subject", "a"])[0].shape[1] == 2
    TABLE.to_parquet("counted.parquet")  # whose index is no column
    assert read("counted.parquet")[0].shape[1] == TABLE.shape[1]


def test_bins_and_size_are_checked():
    with pytest.raises(ValueError, match="bins must be an integer >= 20, got 3"):
        Batches(VALUES, bins=3)
    with pytest.raises(TypeError, match="bins must be an integer >= 20, got None"):
        Batches(VALUES, bins=None)
    with pytest.raises(ValueError, match="size must be an integer >= 1, got 0"):
        Batches(VALUES, size=0)


def test_which_samples_are_in_batches():
    assert in_batches("a.csv", VALUES) and in_batches(Path("a.npy")) and in_batches(["a.csv", "b.csv"])
    assert in_batches(VALUES, Batches(VALUES))
    assert not in_batches(VALUES, TABLE, "text", ["x", "y"], [1.0, 2.0])


def test_all_samples_have_as_many_bins():
    X, Y, Z = as_batches([Batches(VALUES, bins=50), VALUES, "a.csv"], "XYZ")
    assert (X.bins, Y.bins, Z.bins) == (50, 50, 50)
    with pytest.raises(ValueError, match=r"bins= is the same for all samples .* found \[50, 60\]"):
        as_batches([Batches(VALUES, bins=50), Batches(VALUES, bins=60)], "XY")
    with pytest.raises(ValueError, match="Y has rows of different lengths"):
        as_batches([Batches(VALUES), [VALUES, VALUES[:, :2]]], "XY")
    with pytest.raises(TypeError, match=r"Y stands beside a sample in batches .* found DataFrame"):
        as_batches([Batches(VALUES), TABLE], "XY")
