"""Text files: delimiters, headers, types of cells, and the problems of a file, all in one run."""

from __future__ import annotations

import datetime
import gzip

import numpy as np
import pandas as pd
import pytest

from shrinktest.data.delimited import TextOptions
from shrinktest.data.files import Problems, frames_of, names_of, read_file, read_files


@pytest.fixture
def table(tmp_path, monkeypatch):
    """The data frame in a text."""
    monkeypatch.chdir(tmp_path)

    def table(text, types=None, **options):
        (tmp_path / "t.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
        file = read_file("t.csv", TextOptions(**options))
        return frames_of([file], [file.names], types or {})[0]

    return table


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_delimiters(table, mark):
    found = table(mark.join("ab") + "\n" + mark.join("12") + "\n\n" + mark.join("34") + "\n")
    assert found.to_dict("list") == {"a": [1, 3], "b": [2, 4]}


def test_how_a_file_is_read(table):
    assert table("a:b\n1:2\n", sep=":").to_dict("list") == {"a": [1], "b": [2]}
    assert table("a;b\n1,5;2\n", decimal=",").to_dict("list") == {"a": [1.5], "b": [2]}
    assert table("Report\n\na,b\n1,2\n", skip_rows=2).to_dict("list") == {"a": [1], "b": [2]}
    assert table("# x\na,b\n; y\n1,#2\n", comment=("#", ";"), sep=",").to_dict("list") == {"a": [1], "b": ["#2"]}
    assert list(table("é\n1\n".encode("latin-1"), encoding="latin-1")) == ["é"]
    assert list(table("\ufeffa\n1\n".encode())) == ["a"]
    assert list(table(gzip.compress(b"a\n1\n"))) == ["a"]
    assert table('a,b\n"1,5",x\n"line\nbreak",y\n', types={"a": "category"})["a"].tolist() == ["1,5", "line\nbreak"]
    assert table("a\n1\n-999.0\n", na=("-999",))["a"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b\n1,2\n", ["a", "b"]),
        ("1,2\n3,4\n", ["1", "2"]),
        ("1.5,x\n2.5,y\n", ["1", "2"]),
        ("id,1.5\n3,2.5\n4,3.5\n", None),
        ("a,\n1,2\n", ["a", "Unnamed: 1"]),
    ],
)
def test_headers(table, text, names):
    if names is None:
        assert list(table(text, header="yes")) == text.partition("\n")[0].split(",")
    else:
        assert list(table(text)) == names


def test_types_of_cells(table):
    found = table(
        "zip,n,x,flag,day,at,level,gap\n"
        "02134,1,1.5,true,2024-03-31,9:30,1.0,1\n10001,2,NA,FALSE,2024-04-01,14:45,b,\n94110,3,-1e3,True,,23:59,b,3\n"
    )
    assert found["zip"].tolist() == ["02134", "10001", "94110"]
    assert found["n"].dtype == np.int64 and found["x"].dtype == np.float64 and found["flag"].dtype == bool
    assert found["day"].tolist() == [pd.Timestamp("2024-03-31"), pd.Timestamp("2024-04-01"), pd.NaT]
    assert found["at"].tolist()[0] == datetime.time(9, 30)
    assert found["level"].tolist() == ["1", "b", "b"] and found["gap"].isna().tolist() == [False, True, False]


def test_types_on_request(table):
    types = {"amount": "number", "share": "number", "zip": "category"}
    found = table('amount,share,zip\n"$1,234.50",12%,2134\n($5),5 %,2135\n', types=types)
    assert found.to_dict("list") == {"amount": [1234.5, -5.0], "share": [12, 5], "zip": ["2134", "2135"]}
    assert table("n\n1.078.866\n921\n", thousands=".", decimal=",")["n"].tolist() == [1078866, 921]
    found = table("d\n03/04/2024\n25/12/2024\n", date_format="%d/%m/%Y")
    assert found["d"].tolist() == [pd.Timestamp("2024-04-03"), pd.Timestamp("2024-12-25")]
    assert table("d\n20240331\n", types={"d": "date"})["d"].tolist() == [pd.Timestamp("2024-03-31")]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a,b\n1,2\n3\n", ["line 3", "1 cell"]),
        ("a,a\n1,2\n", ["more than one column named 'a'"]),
        ("a,b\n", ["no rows"]),
        ("", ["is empty"]),
        ('a\n"1\n', ["line 2 has a quotation mark"]),
        ("a\n1\n2\nx\n", ["line 4, column 'a'", "'x' is not a number", "--types a=category"]),
        ("a\n1\n2\nn/a\n", ["--na n/a"]),
        ("a\n1\n2\ninf\n", ["infinite"]),
        ("a;b\n1,5;2\n2,5;3\n", ["--decimal ,"]),
        ('a,b\n"$1,200.50",2\n"$1.00",2\n', ["--types a=number"]),
        ("n;m\n921;a\n1.078;b\n866;c\n", ["'1.078'", "--thousands .", "--decimal ."]),
        ("d,e\n03/04/2024,1\n04/04/2024,2\n", ["'03/04/2024'", "--date-format"]),
        ("d\n2024-01-01\n2024-01-02\nlater\n", ["is not a date"]),
        (b"\xe9\n1\n", ["UTF-8", "--encoding"]),
        ("a,b\n0.5,1\n3,4\n1,2,3\n", ["line 4"]),
        ("2019,2020,2021\n1.5,2.5,3.5\n", ["2019, 2020, 2021", "--header yes"]),
        ("a,b\n1,x\nz,2\n3,4\n5,6\n", ["column 'a'", "column 'b'"]),
    ],
)
def test_problems_say_where_and_what_to_do(table, text, parts):
    with pytest.raises(ValueError, match=r"t\.csv") as raised:
        table(text)
    assert all(part in str(raised.value) for part in parts), raised.value


def test_all_problems_of_all_files_are_told_at_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("x,y,d\n1,$3,03/04/2024\nz,$4,04/04/2024\n2,$5,05/04/2024\n")
    files = read_files(["a.csv", "b.csv"], TextOptions())
    with pytest.raises(Problems, match=r"a\.csv") as raised:
        frames_of(files, [["x", "y", "d"]] * 2, {})
    message = str(raised.value)
    assert message.count("--date-format") == 2 and message.count("--types y=number") == 2 and "b.csv" in message


def test_names_of_files():
    assert names_of(["in/a.csv", "b.csv"]) == ["a", "b"]
    assert names_of(["in/a.csv", "out/a.csv"]) == ["in/a.csv", "out/a.csv"]
    assert names_of(["a.csv", "a.csv"]) == ["a.csv (1)", "a.csv (2)"]
    assert names_of(["-", "x/*.csv"]) == ["standard input", "x/*.csv"]
