"""CSV files of a pattern are read as single files are, and columns of Parquet files are named as theirs."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shrinktest import two_sample_test
from shrinktest.batches.lines import delimiter_of
from shrinktest.cli import main
from shrinktest.cli.batches import in_batches
from shrinktest.cli.table import parse_table


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command line in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*argv):
        code = main([*argv])
        return code, *capsys.readouterr()

    return run


def answer(run, *words):
    code, out, error = run("two-sample", *words, "--seed", "0", "--resamples", "99", "--workers", "1", "--json")
    assert code == 0, error
    found = json.loads(out)
    return found["columns"], found["pvalue"], found["n_observations"]


def tables(seeds=(0, 1)):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        yield pd.DataFrame({"a": rng.integers(0, 3, 30), "b": rng.binomial(4, 0.3 + 0.2 * seed, 30)})


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_what_is_between_cells_is_found(run, mark):
    for name, table in zip("mk", tables(), strict=True):
        table.to_csv(f"{name}1.csv", sep=mark, index=False)
        table.to_csv(f"{name}[1].csv", sep=mark, index=False)
    expected = answer(run, "m1.csv", "k1.csv")
    assert expected[0] == [["a", "b"]]
    assert answer(run, "m1*.csv", "k1*.csv") == answer(run, "m[1].csv", "k1.csv") == expected
    assert not in_batches(["m[1].csv", "k1.csv"]) and in_batches(["m[2].csv"])


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("a;b\n1;2", ";"),
        ("\n\r\na\tb,c;d\n1\t2", "\t"),
        ('"a;b",c\n1,2', ","),
        ("a\n1", ","),
        ("a|b\n1|2", "|"),
        ('"x, y"|z\n1,5|2', "|"),
    ],
)
def test_files_in_batches_have_the_delimiter_of_others(tmp_path, text, mark):
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    assert delimiter_of(path) == mark
    (row,) = parse_table(text, "x.csv", "yes").rows
    assert list(row) == text.splitlines()[-1].split(mark)


def test_an_empty_file_has_a_delimiter(tmp_path):
    (tmp_path / "x.csv").touch()
    assert delimiter_of(tmp_path / "x.csv") == ","


def test_the_same_words_are_missing(run):
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        words = rng.choice(["null", "N/A", "nA", "", " z", "z "], 40)
        numbers = [f"{v:.2f}" if i % 5 else " NA" for i, v in enumerate(rng.normal(size=40))]
        rows = "".join(f"{word},{number}\n" for word, number in zip(words, numbers, strict=True))
        Path(f"c{seed}.csv").write_text(f"g,v\n{rows}")
    options = ["--nan-policy", "omit"]
    whole = answer(run, "c0.csv", "c1.csv", *options)
    assert answer(run, "c0*.csv", "c1*.csv", *options) == whole and whole[2][0] < 40


def test_text_among_numbers_is_an_error(run):
    for name, table in zip("mk", tables(), strict=True):
        table.assign(b=table["b"] + 0.5).to_csv(f"{name}.csv", sep=";", decimal=",", index=False)
    code, out, error = run("two-sample", "m*.csv", "k*.csv")
    assert (code, out) == (2, "") and "column 'b': " in error and "is not a number, and at least half" in error
    assert "--types b=category" in error


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a,g\n1,ä\n2,o\n".encode("latin-1"), "is not text in UTF-8"),
        ("ä,g\n1,1\n2,2\n".encode("latin-1"), "is not text in UTF-8"),
        (b"a,g\n1,x\n2,y\n" * 10 + b"3,\xe4\n", "is not text in UTF-8"),
        ("a,g\n1,2\n".encode("utf-16"), "is not text in UTF-8"),
        (b"\x1f\x8b\x08\x00 and so on", "is compressed (gzip), and CSV files that are read in batches must not be"),
        (b"PK\x03\x04 and so on", "is an archive (zip)"),
    ],
    ids=["cells", "names", "further down", "utf-16", "gzip", "zip"],
)
def test_files_that_are_no_text_are_named(run, content, said):
    Path("l0.csv").write_bytes(content)
    code, out, error = run("two-sample", "l0*.csv", "l0*.csv")
    assert (code, out) == (2, "") and f"error: l0.csv {said}" in error


def test_columns_of_parquet_are_named_as_those_of_other_files(run):
    for i in (0, 1):
        rng = np.random.default_rng(i)
        pd.DataFrame({"a, b": rng.normal(size=30), "c": rng.normal(size=30)}).to_parquet(f"p{i}.parquet")
    files = ["p0.parquet", "p1.parquet"]
    assert answer(run, *files, "--columns", '"a, b"') == answer(run, *files, "--columns", "1")
    assert answer(run, *files, "--columns", "1:2") == answer(run, *files)
    words = ["independence", "p0.parquet", "--seed", "0", "--resamples", "99", "--json"]
    code, out, error = run(*words)
    assert code == 0, error
    assert out == run(*words, "--x", '"a, b"', "--y", "2")[1]
    np.save("z.npy", np.random.default_rng(0).normal(size=(30, 2)))
    words[1] = "z.npy"
    assert run(*words)[1] == run(*words, "--x", "0", "--y", "1")[1] != ""


def test_numbers_among_text_are_one_category_however_they_are_written(run):
    for i, one in enumerate(("1", "1.0")):
        Path(f"u{i}.csv").write_text("v\n" + f"{one}\nx\ny\nz\n 1e0 \n007\nx\n" * 10)
    whole = answer(run, "u0.csv", "u1.csv")
    assert answer(run, "[u]0.csv", "[u]1.csv") == whole and whole[1] == 1.0


def columns_of(cell):
    for i in (0, 1):
        rng = np.random.default_rng(i)
        cells = [cell(*(int(one) for one in rng.integers(10, [20, 60], 2))) for _ in range(40)]
        Path(f"t{i}.csv").write_text("v\n" + "\n".join(cells))


@pytest.mark.parametrize(
    "cell",
    [
        lambda h, m: f" {h - 10}:{m}",
        lambda h, m: f"{h}:{m}:05.{m}",
        lambda h, m: f"{h}:{m}" if m % 2 else f"{h - 10}:{m}:01.5",
        lambda h, m: f"20{h}-01-01 10:{m}:00.123456789",
        lambda h, m: f"20{h}-01-01" if m % 2 else f"20{h}-01-01 10:{m}:00.123456789",
        lambda h, m: f"20{h}-01-01T10:{m}+01:00" if m % 2 else f"20{h}-01-01T10:{m}Z",
    ],
    ids=["one-digit hours", "fractions", "some of each", "nanoseconds", "days and times", "zones"],
)
@pytest.mark.parametrize("head", [2**20, 40])
def test_times_are_read_as_in_single_files_wherever_they_stand(run, monkeypatch, cell, head):
    monkeypatch.setattr("shrinktest.batches.delimited.HEAD", head)
    columns_of(cell)
    for path in Path().glob("t?.csv"):  # the first bytes hold what pyarrow takes for times, or for days
        first = "" if "Z" in (text := path.read_text()) else "2020-01-01\n" * 3 if "-" in text else "09:00\n" * 6
        path.write_text(text.replace("v\n", f"v\n{first}"))
    expected = answer(run, "t0.csv", "t1.csv")
    assert answer(run, "[t]0.csv", "[t]1.csv") == expected
    assert two_sample_test("t0.csv", "t1.csv", rng=0, n_resamples=99, workers=1).pvalue == expected[1]


def test_days_without_hyphens_are_dates_where_these_are_asked_for(run):
    columns_of(lambda month, day: f"2024{month - 9:02d}{day // 3 + 1:02d}")
    dates, numbers = (answer(run, "t0.csv", "t1.csv", *words) for words in (["--types", "v=date"], []))
    assert answer(run, "[t]0.csv", "[t]1.csv", "--types", "v=date") == dates != numbers


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (lambda h, m: f"{h}:{m}" if m % 3 else "late", "column 'v': 'late' is not a time such as 14:30"),
        (lambda h, m: f"20{h}-01-01" if m % 3 else "soon", "column 'v': 'soon' is not a date such as 2024-03-31"),
        (lambda h, m: f"20{h}-01-01T10:00" + "Z" * (m % 3 > 0), "a time zone, unlike others before"),
    ],
    ids=["times", "dates", "zones"],
)
def test_what_is_no_time_among_times_is_an_error(run, cell, said):
    columns_of(cell)
    for words in (["t0.csv", "t1.csv"], ["[t]0.csv", "[t]1.csv"]):
        code, out, error = run("two-sample", *words)
        assert (code, out) == (2, "") and said in error and "--types v=category" in error


def test_a_time_further_down_that_is_none_is_named(run, monkeypatch):
    monkeypatch.setattr("shrinktest.batches.delimited.HEAD", 8)
    columns_of(lambda h, m: f"{h}:{m}" if m % 3 else "late")
    Path("t0.csv").write_text("v\n09:00\n10:00\n" + Path("t0.csv").read_text()[2:])
    with pytest.raises(
        ValueError, match=r"t0.csv, line 6, column 'v': 'late' is not a time such as 14:30; what a column"
    ):
        two_sample_test("t0.csv", "t0.csv")


@pytest.mark.parametrize("words", [[], ["--gram", "rff", "--rank", "5"], ["--nan-policy", "omit"]], ids=" ".join)
@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("x,y,", "{0},{1},"),
        ("x,y,,", "{0},{1},,"),
        ("\ufeff,x,y", "{i},{0},{1}"),
        (" x ,y ", "{0},{1}"),
        ("\nx,,y", "{0},{1},{1}"),
    ],
    ids=["comma at the end", "two commas", "index", "blanks", "no name"],
)
def test_columns_are_named_as_in_single_files(run, header, row, words):
    """Those without a name are called Unnamed; where they count rows or have no values, they are not tested."""
    for i in (0, 1):
        values = np.random.default_rng(i).normal(size=(40, 2)).round(3)
        rows = [row.format(*both, i=j) for j, both in enumerate(values)]
        Path(f"n{i}.csv").write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    whole = answer(run, "n0.csv", "n1.csv")
    found = answer(run, "[n]0.csv", "[n]1.csv", *words)
    assert found[0] == whole[0] and found[2] == [40, 40] and (found == whole or "--gram" in words)
    code, _, error = run("two-sample", "[n]0.csv", "[n]1.csv", "--columns", "x", "--seed", "0")
    assert code == 0, error


def test_python_leaves_out_a_column_without_a_name_and_values(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("x,y,\n" + "1.5,2.5,\n3.5,1.5,\n" * 20)
    for how in ({}, {"gram": "rff", "rank": 5}):
        found = two_sample_test(path, path, rng=0, n_resamples=19, workers=1, **how)
        assert found.columns == (("x", "y"),) and "neither a name nor values" in found.notes[0]
    path.write_text("x,y,\n" + "1.5,2.5,\n3.5,1.5,1\n" * 20)
    with pytest.raises(ValueError, match="has a column '', which looks as if it numbered the rows"):
        two_sample_test(path, path)


@pytest.mark.parametrize("cells", [["0x7", "0X1f"], ["0x7", "5", "0x8"]], ids=" ".join)
def test_hexadecimal_text_is_categories(run, cells):
    for i in (0, 1):
        rng = np.random.default_rng(i)
        rows = [f"{rng.choice(cells)},{rng.integers(0, 9)}\n" for _ in range(40)]
        Path(f"x{i}.csv").write_text("v,z\n" + "".join(rows))
    expected = answer(run, "x0.csv", "x1.csv")
    assert answer(run, "[x]0.csv", "[x]1.csv") == expected
    assert two_sample_test("x0.csv", "x1.csv", rng=0, n_resamples=99, workers=1).pvalue == expected[1]
    Path("x0.csv").write_text("v,z\n" + "5,1\n0x7,2\n" * 20)
    for words in (["x0.csv", "x1.csv"], ["[x]0.csv", "[x]1.csv"]):
        code, _, error = run("two-sample", *words)
        assert code == 2 and "'0x7' is not a number" in error
