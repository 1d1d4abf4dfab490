"""Files as they come: other encodings, compressed, other separators, titles, and other words for missing cells."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import sys

import numpy as np
import pandas as pd
import pytest

from shrinktest.cli import main
from shrinktest.cli.table import parse_table

FAST = ["--seed", "0", "--resamples", "39", "--workers", "1"]
ROWS = np.random.default_rng(0).normal(size=(2, 25, 2)).round(3)


def text_of(rows, separator=",", missing=None, head="größe,b"):
    cells = [head.split(","), *(map(str, row) for row in rows.tolist())]
    lines = [separator.join(one) for one in cells]
    if missing is not None:
        lines[4] = separator.join([missing, "0.5"])
    return "\n".join(lines) + "\n"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a command in a folder with the files a.csv, which is plain, and b.csv, which holds the given bytes."""
    monkeypatch.chdir(tmp_path)

    def run(second, *options, name="b.csv", first=None):
        for path, content in (("a.csv", first or text_of(ROWS[0])), (name, second)):
            (tmp_path / path).write_bytes(content if isinstance(content, bytes) else content.encode())
        code = main(["two-sample", "a.csv", name, *FAST, *options])
        return code, *capsys.readouterr()

    return run


def pvalue(answer):
    code, out, _ = answer
    assert code == 0, answer
    return json.loads(out)["pvalue"]


@pytest.fixture
def expected(run):
    return pvalue(run(text_of(ROWS[1]), "--json"))


# --- what they are in ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("encoding", "advice"), [("latin-1", "latin-1"), ("cp1252", "cp1252"), ("utf-16", "utf-16")])
def test_other_encodings(run, expected, encoding, advice):
    plain, other = (text_of(rows).encode(encoding) for rows in ROWS)
    _, _, said = run(other)
    assert "b.csv is not text in UTF-8" in said
    assert advice in said.partition("--encoding ")[2]
    assert pvalue(run(other, "--encoding", encoding, "--json", first=plain)) == expected


ONE = "--encoding is for all files: leave it out, or save them all in one encoding"


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-16", "b.csv is not text in UTF-16: "),
        ("utf-16", f", but in UTF-8; {ONE}"),
        ("latin-1", f"b.csv is text in UTF-8, which LATIN-1 would misread; {ONE}"),
        ("cp1252", f"b.csv is text in UTF-8, which CP1252 would misread; {ONE}"),
    ],
)
def test_a_second_file_in_another_encoding_is_named(run, encoding, said):
    code, out, error = run(text_of(ROWS[1]), "--encoding", encoding, first=text_of(ROWS[0]).encode(encoding))
    assert (code, out) == (2, "") and said in error


@pytest.mark.parametrize("given", ["utf-8", "latin-1"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_text_with_two_bytes_a_letter_is_called_so(run, encoding, given):
    first, second = (text_of(rows, head="a,b") for rows in ROWS)
    code, _, error = run(second.encode(encoding), "--encoding", given, first=first)
    assert code == 2 and f"; say what it is in, such as --encoding {encoding}\n" in error
    misread = f"b.csv is text in {encoding.upper()}, which {given.upper()} would misread"
    assert misread in error or "b.csv is not text in UTF-8" in error


def test_compressed_files(run, expected):
    packed = gzip.compress(text_of(ROWS[1]).encode())
    assert pvalue(run(packed, "--json", name="b.csv.gz")) == expected
    assert pvalue(run(packed, "--json")) == expected  # whatever its name
    code, _, said = run(packed[:60], name="b.csv.gz")
    assert code == 2
    assert "b.csv.gz is compressed (gzip), and cannot be read" in said


def test_what_is_no_text(run):
    assert "b.xlsx is an archive (zip), as those of spreadsheets are; save" in run(b"PK\x03\x04\xff", name="b.xlsx")[2]
    assert "--encoding must be the name of an encoding, such as" in run(text_of(ROWS[1]), "--encoding", "klingon")[2]
    assert (
        "b.csv is not text in UTF-16"
        in run(text_of(ROWS[1]), "--encoding", "utf-16", first=b"\xff\xfea\0\n\0001\0\n\0")[2]
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PAR1\xff\xfePAR1", "b.csv is a Parquet file; save it as CSV, or name it so that it ends in .parquet"),
        (b"\x93NUMPY\x01", "b.csv is a numpy file; save it as CSV, or name it so that it ends in .npy"),
        (b"ARROW1\0\0\xff\xffARROW1", "b.csv is an Arrow (Feather) file; save the table as CSV"),
        (bz2.compress(text_of(ROWS[1]).encode()), "b.csv is compressed (bzip2); decompress it, or compress it by gzip"),
        (lzma.compress(text_of(ROWS[1]).encode()), "b.csv is compressed (xz); decompress it, or compress it by gzip"),
        (pickle.dumps(ROWS), "b.csv is pickled; save the table as CSV"),
    ],
)
def test_what_is_no_text_by_how_it_begins(run, content, said):
    code, _, error = run(content)
    assert code == 2 and said in error and "--encoding" not in error
    assert "b.csv is not text in UTF-8" in run(b"PAR1,\xff\n1,2\n")[2]  # which is a name


def test_standard_input(run, expected, monkeypatch, tmp_path):
    for packed in (text_of(ROWS[1]).encode(), gzip.compress(text_of(ROWS[1]).replace("\n", "\r\n").encode())):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed), encoding="ascii"))
        (tmp_path / "-").unlink(missing_ok=True)
        assert main(["two-sample", "a.csv", "-", *FAST, "--json"]) == 0


# --- what is between cells ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("mark", "options"), [("|", ()), (":", ("--separator", ":")), (" ", ("--separator", "space"))])
def test_other_separators(run, expected, mark, options):
    first = text_of(ROWS[0], mark)
    assert pvalue(run(text_of(ROWS[1], mark), *options, "--json", first=first)) == expected
    tabs = (text_of(rows, "\t") for rows in ROWS)
    assert pvalue(run(next(tabs), "--separator", "tab", "--json", first=next(tabs))) is not None


def test_commas_are_looked_for_before_bars():
    assert parse_table("a|b,c\n1,2\n", "t").names == ("a|b", "c")
    assert parse_table("a|b\n1|2\n", "t").names == ("a", "b")
    assert parse_table("a;b|c\n1;2\n", "t").names == ("a", "b|c")
    assert parse_table("a,b;c,d\n1,2;3,4\n", "t", separator=",").names == ("a", "b;c", "d")


def test_titles(run, expected):
    titled = "Report of March\n" + text_of(ROWS[1])
    said = run(titled)[2]
    assert "line 2 has 2 cells, line 1 has 1; if line 1 is a title, skip it with --comment 'Report of March'" in said
    assert pvalue(run(titled, "--comment", "Report of March", "--json")) == expected
    with pytest.raises(ValueError, match=r"line 2 has 3 cells, line 1 has 2$"):
        parse_table("a,b\n1,2,3\n", "t")


def test_blanks_between_cells_are_said(run):
    first, second = (text_of(rows, " ") for rows in ROWS)
    for head in (True, False):
        if not head:
            first, second = (text.partition("\n")[2] for text in (first, second))
        code, _, said = run(second, first=first)
        assert code == 2 and "if blanks are between cells, say --separator space" in said
    assert "--separator space" in run(second, "--columns", "2", first=first)[2]


def test_lines_of_blanks_are_skipped_as_pandas_does():
    text = "  \na,b\n1,2\n \t \n3,4\n   \n"
    found = parse_table(text, "t")
    assert (found.names, found.rows, found.lines) == (("a", "b"), [["1", "2"], ["3", "4"]], [3, 5])
    assert pd.read_csv(io.StringIO(text)).to_numpy().tolist() == [[1, 2], [3, 4]]
    text = 'a\n1\n  \n""\n" "\n2\n'
    assert parse_table(text, "t").rows == [["1"], [""], [""], ["2"]]
    assert len(pd.read_csv(io.StringIO(text))) == 4
    assert parse_table("\ta\n\t\n1\t2\n", "t").rows == [["", ""], ["1", "2"]]  # of two cells


@pytest.mark.parametrize("mark", ["ab", "", '"'])
def test_what_is_no_separator(run, mark):
    assert "--separator must be one character, tab or space" in run("a,b\n", "--separator", mark)[2]


# --- missing cells and columns ------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["n/a", "NULL", "-", "-999.0"])
def test_other_words_for_missing_cells(run, missing):
    second = text_of(ROWS[1], missing=missing)
    if missing != "-999.0":
        assert f"or that such cells are missing with --na {missing}" in run(second)[2]
    empty = pvalue(run(text_of(ROWS[1], missing=""), "--nan-policy", "omit", "--json"))
    assert pvalue(run(second, "--na", "?", "--na", missing, "--nan-policy", "omit", "--json")) == empty
    assert "is missing; fill it in" in run(second, "--na", missing)[2]


@pytest.mark.parametrize("word", ["-999", "-999.0", "-9.99e2"])
def test_numbers_that_stand_for_missing_cells_are_numbers_as_in_pandas(word):
    text = "a,zip\n-999.0,007\n-999,-999\n1.5,\n-999.00,7\n"
    found = parse_table(text, "t", na=[word])
    assert found.rows == [["", "007"], ["", ""], ["1.5", ""], ["", "7"]]
    assert pd.read_csv(io.StringIO(text), na_values=[word])["a"].isna().tolist() == [True, True, False, True]
    assert parse_table("a;b\n-999,0;1\n2,5;-999\n", "t", decimal=",", na=[word]).rows == [["", "1"], ["2,5", ""]]
    assert parse_table("zip\n007\n7\n", "t", "yes", na=["7.0"]).rows == [["007"], [""]]


def test_two_dashes_that_stand_for_missing_cells(run):
    second = text_of(ROWS[1], missing="--")
    assert "or that such cells are missing with --na=--" in run(second)[2]
    found = pvalue(run(second, "--na=--", "--nan-policy", "omit", "--json"))
    assert found == pvalue(run(text_of(ROWS[1], missing=""), "--nan-policy", "omit", "--json"))
    assert pvalue(run(second.replace("\n--", "\n--x\n1"), "--comment=--", "--json")) is not None


def test_a_number_that_is_no_position(run):
    said = run(text_of(ROWS[1]), "--columns", "²")[2]
    assert "a column of a.csv must be one of 'größe', 'b'; got '²'" in said


def test_names_of_columns_are_no_missing_cells():
    table = parse_table("id,NULL\n1,2\nNULL,3\n", "t", na=["NULL"])
    assert (table.names, table.rows) == (("id", "NULL"), [["1", "2"], ["", "3"]])
    assert parse_table("-,1\n2,-\n", "t", "no", na=["-"]).rows == [["", "1"], ["2", ""]]


def test_columns_behind_a_comma_at_the_end_of_lines(run, expected):
    first, second = (text_of(rows).replace("\n", ",\n") for rows in ROWS)
    answer = run(second, "--json", first=first)
    assert pvalue(answer) == expected
    assert "it has neither a name nor values, as behind a comma at the end of every line" in answer[1]


# --- options that have other names --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["matrix", "a.csv", "--columns", "a,b"], "matrix has no option --columns; it has --x"),
        (["joint", "a.csv", "--columns", "a,b"], "joint has no option --columns; it has --variable"),
        (
            ["two-sample", "a.csv", "b.csv", "--delimiter", ";"],
            "two-sample has no option --delimiter; it has --separator",
        ),
        (["two-sample", "a.csv", "b.csv", "--missing", "?"], "two-sample has no option --missing; it has --na"),
    ],
)
def test_options_by_another_name(words, meant, capsys):
    assert main(words) == 2
    assert meant in capsys.readouterr().err
