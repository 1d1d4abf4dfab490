"""Cells of files that the library reads in batches: which are missing, and whole numbers that floats do not have."""

import numpy as np
import pandas as pd
import pytest

from shrinktest import Batches, two_sample_test

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.mark.parametrize("mark", [",", ";"])
def test_the_words_of_pandas_are_missing(tmp_path, mark):
    rng, tables = np.random.default_rng(0), []
    for i in (0, 1):
        g = rng.choice(["None", "<NA>", "null", "x", "nA"], 40)
        pd.DataFrame({"v": rng.normal(size=40).round(2), "g": g}).to_csv(tmp_path / f"{i}.csv", index=False, sep=mark)
        tables.append(pd.read_csv(tmp_path / f"{i}.csv", sep=mark))
    how = {"rng": 0, "n_resamples": 99, "nan_policy": "omit"}
    found = two_sample_test(*(str(tmp_path / f"{i}*.csv") for i in (0, 1)), **how)
    expected = two_sample_test(*tables, **how)
    assert found.n_observations == expected.n_observations and found.pvalue == expected.pvalue


@pytest.mark.parametrize("kind", ["parquet", "csv", "npy", "uint64.npy", "dataset"])
@pytest.mark.parametrize("gram", [None, "nystrom"])
def test_whole_numbers_that_floats_do_not_tell_apart_are_refused(tmp_path, kind, gram):
    """Among rows that repeat, so that the column does not identify them."""
    rng, samples = np.random.default_rng(1), []
    for i in (0, 1):
        k = 2**60 + rng.integers(0, 20, 60)
        table, path = arrow.table({"k": k, "z": rng.integers(0, 9, 60)}), tmp_path / f"{i}.{kind}"
        if kind in ("parquet", "dataset"):
            parquet.write_table(table, path)
        elif kind == "csv":
            table.to_pandas().to_csv(path, index=False)
        else:
            np.save(path, np.column_stack([k, k]).astype("uint64" if kind[0] == "u" else "int64"))
        samples.append(pytest.importorskip("pyarrow.dataset").dataset(path) if kind == "dataset" else str(path))
    how = {} if gram is None else {"gram": gram, "rank": 20}
    with pytest.raises(ValueError, match=r"column '?[k0]'?.* holds whole numbers with too many digits") as error:
        two_sample_test(*samples, rng=0, **how)
    assert "cannot be read" not in str(error.value)


@pytest.mark.parametrize("held", [np.asarray, lambda rows: [rows[:30], rows[30:]], lambda rows: [rows.tolist()]])
@pytest.mark.parametrize("gram", [None, "nystrom"])
def test_those_of_arrays_are_refused_unless_their_column_is_left_out(held, gram):
    rng = np.random.default_rng(1)
    rows = np.column_stack([rng.integers(0, 9, 60), 2**60 + rng.integers(0, 20, 60)])
    how = {"rng": 0, "n_resamples": 19, "workers": 1} | ({} if gram is None else {"gram": gram, "rank": 20})
    with pytest.raises(ValueError, match=r"X.*, column 1 \(counting from 0\), holds whole numbers with too many"):
        two_sample_test(Batches(held(rows)), Batches(held(rows)), **how)
    if held is np.asarray:
        one = Batches(rows, columns=[0])
        assert two_sample_test(one, one, **how).pvalue > 0.0


@pytest.fixture
def in_blocks(monkeypatch):
    """Blocks of a few rows, and columns by the first of these."""
    monkeypatch.setattr("shrinktest.batches.delimited.HEAD", 60)
    monkeypatch.setattr("shrinktest.batches.delimited.block_of", lambda size: 100)


def column(path, first, later):
    """A column of which 20 rows are in the first blocks; another is text, so that rows are read as tables."""
    rows = [f"{i % 3 + 0.5},{'ab'[i % 2]},{cell}\n" for i, cell in enumerate([*first] * 10 + [*later])]
    path.write_text("z,g,k\n" + "".join(rows))
    return str(path)


LONG = [2**60 + i % 20 for i in range(40)]


@pytest.mark.parametrize("first", [["1", "2"], ["1.5", "2"], ["", "NaN"], ["7"], [str(2**60 + 1024), "1.5"]])
@pytest.mark.parametrize("later", [LONG, [-i for i in LONG], [i * 10**9 for i in LONG], ["", *LONG]])
@pytest.mark.parametrize("asked", ["numbers", "tables", "typed"])
def test_whole_numbers_of_many_digits_are_refused_wherever_they_stand(tmp_path, in_blocks, first, later, asked):
    given = Batches(column(tmp_path / "x.csv", first, later))
    names, types = (
        (("z", "k"), None) if asked == "numbers" else (("k", "g"), {"k": "number"} if asked == "typed" else {})
    )
    (piece,) = given.pieces("X", names, types)
    with pytest.raises(ValueError, match=r"X, .*x\.csv, column 'k', holds whole numbers with too many digits"):
        list(piece.read(10))


@pytest.mark.parametrize(
    "later",
    [
        [f"{i}.5" for i in LONG],
        [f"{i}e12" for i in range(40)],
        [2**60 + 4096 * i for i in range(40)],
        [1e300, "inf", "-inf", 2**53],
        [LONG[0], "1.5", LONG[1], "2.5"] * 9,
    ],
    ids=["fractions", "exponents", "apart", "largest", "a fraction among them"],
)
def test_other_large_numbers_are_not(tmp_path, in_blocks, later):
    given = Batches(column(tmp_path / "x.csv", ["1", "2.0"], later))
    for types in (None, {}):
        (piece,) = given.pieces("X", ("k",), types)
        read = [table if types is None else table.column("k").to_numpy() for table in piece.read(10)]
        assert len(read) > 2 and np.concatenate([np.ravel(one) for one in read]).tolist() == [
            float(one) for one in ["1", "2.0"] * 10 + [*later]
        ]


def test_few_digits_more_are_numbers(tmp_path):
    """A number in a hundred may be rounded; and what other batches hold does not matter."""
    values = np.r_[np.arange(400), 2**53, 2**53 + 1, 2**53 + 2, 2**53 + 4]
    np.save(tmp_path / "x.npy", values)
    parquet.write_table(arrow.table({"v": values}), tmp_path / "x.parquet")
    for name in ("x.npy", "x.parquet"):
        (piece,) = (given := Batches(tmp_path / name)).pieces("X", given.names("X"))
        assert np.concatenate(list(piece.read(1000))).ravel().tolist() == pytest.approx(values.tolist())


def test_errors_name_a_file_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"l": [[1.0]] * 9, "v": range(9)}).to_parquet("x.parquet")
    parquet.write_table(arrow.table({}), "none.parquet")
    given = Batches("x.parquet")
    assert [piece.where for piece in given.pieces("x.parquet", ("l",), {})] == ["x.parquet,"]
    assert [piece.where for piece in given.pieces("X", ("l",), {})] == ["X, x.parquet,"]
    with pytest.raises(ValueError, match=r"none.parquet has no columns to test"):
        two_sample_test("none.parquet", "none.parquet")


@pytest.mark.parametrize(
    ("first", "cell", "said"),
    [
        (["1", "2"], "0x7", "'0x7' is not a number; what a column holds is seen in the first"),
        (["1.5", "2"], "0x7", "'0x7' is not a number; what a column holds is seen in the first"),
        (["True", "False"], "maybe", "'maybe' is not True or False; what a column holds is seen in the first"),
        (["2024-01-01"], "soon", "'soon' is not a date such as 2024-03-31; what a column holds is seen in the first"),
        (["09:00"], "late", "'late' is not a time such as 14:30; what a column holds is seen in the first"),
    ],
)
def test_cells_below_the_first_that_are_something_else_have_their_line(tmp_path, in_blocks, first, cell, said):
    path = column(tmp_path / "x.csv", first, [*first * 9, cell])
    line = 2 + 19 * len(first)
    with pytest.raises(ValueError, match=rf"x\.csv, line {line}, column 'k': {said}"):
        two_sample_test(path, path)
    with pytest.raises(ValueError, match=rf"x\.csv, line {line}, column 'k': {said}"):
        list(next(Batches(path).pieces("X", ("k", "g"), {})).read(10))


@pytest.mark.parametrize("first", [1, 40])
def test_rows_of_other_lengths_have_their_line(tmp_path, in_blocks, first):
    path = tmp_path / "x.csv"
    path.write_text("\n\nz,k\n" + "1.5,2\n" * first + "1,5,2\n" + "1.5,2\n" * 9)
    with pytest.raises(ValueError, match=rf"x\.csv: line {first + 4} has 3 cells, line 3 has 2$"):
        two_sample_test(str(path), str(path))


def test_lines_within_cells_are_read_wherever_blocks_end(tmp_path, in_blocks):
    cells = ["u\nx", "v,y", '"q"\n\n', "w"] * 100
    table = pd.DataFrame({"g": cells, "v": np.arange(400) % 7})
    table.to_csv(tmp_path / "x.csv", index=False)
    (piece,) = Batches(tmp_path / "x.csv").pieces("X", ("g", "v"), {})
    read = [part.to_pandas() for part in piece.read(10)]
    assert len(read) > 10 and pd.concat(read)["g"].tolist() == cells


@pytest.mark.parametrize("cell", ['"u', '"u""', '"'])
@pytest.mark.parametrize("row", [0, 7, 399])
def test_a_quotation_mark_that_is_not_closed_is_an_error(tmp_path, row, cell):
    """All rows behind it were one cell."""
    rows = [f"{i % 7},{'uv'[i % 2]}" for i in range(400)]
    path = tmp_path / "x.csv"
    path.write_text("v,g\n" + "\n".join(rows))
    assert two_sample_test(str(path), str(path), rng=0, n_resamples=99).n_observations == (400, 400)
    rows[row] = f"1,{cell}"
    path.write_text("v,g\n" + "\n".join(rows) + "\n")
    with pytest.raises(ValueError, match=f"x.csv: line {row + 2} has a quotation mark that is not closed"):
        two_sample_test(str(path), str(path))


def test_other_quotation_marks_are_text(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("v,g\n" + '1,5" u\n2,"u" x\n3,u\n' * 9 + '1,5" u\n')
    assert two_sample_test(str(path), str(path), rng=0, n_resamples=99).n_observations == (28, 28)
