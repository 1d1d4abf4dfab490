"""Text files: delimiters, headers, types of cells, and the problems of a file, all in one run."""

from __future__ import annotations

import datetime
import gzip

import numpy as np
import pandas as pd
import pytest

from shrinktest.cli.files import Problems, frames_of, names_of, read_file, read_files
from shrinktest.data.delimited import TextOptions


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
    frame = table(mark.join("ab") + "\n" + mark.join("12") + "\n\n" + mark.join("34") + "\n")
    assert frame.to_dict("list") == {"a": [1, 3], "b": [2, 4]}


def test_how_a_file_is_read(table):
    assert table("a:b\n1:2\n", sep=":").to_dict("list") == {"a": [1], "b": [2]}
    assert table("a;b\n1,5;2\n", decimal=",").to_dict("list") == {"a": [1.5], "b": [2]}
    assert table("Report\n\na,b\n1,2\n", skip_rows=2).to_dict("list") == {"a": [1], "b": [2]}
    assert table("# x\na,b\n; y\n1,#2\n", comment=("#", ";"), sep=",").to_dict("list") == {
        "a": [1],
        "b": ["#2"],
    }
    assert list(table("é\n1\n".encode("latin-1"), encoding="latin-1")) == ["é"]
    assert list(table("\ufeffa\n1\n".encode())) == ["a"]
    assert list(table(gzip.compress(b"a\n1\n"))) == ["a"]
    assert table('a,b\n"1,5",x\n"line\nbreak",y\n', types={"a": "category"})["a"].tolist() == [
        "1,5",
        "line\nbreak",
    ]
    assert table("a\n1\n-999.0\n", na=("-999",))["a"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b\n1,2\n", "a b"),
        ("1,2\n3,4\n5,6\n", "1 2"),
        ("5\n1.5\n2.5\n", "1"),
        ("1,2.5\n1.5,2\n0.5,1.5\n", "1 2"),
        ("1,NA\n3,4\n", "1 2"),
        ("1.5,good\n2.5,\n3.5,bad\n", "1 2"),  # a missing cell below is no sign of a header
        ("height,grade\n2.5,bad\n", "height grade"),
        ("2019,2020,grade\n1,2,3\n", "2019 2020 grade"),
        ("year,2019,2020\na,1.5,2.5\nb,3,4\n", "year 2019 2020"),
        ("2020-01-01\n2020-01-02\n", "1"),
        ("2020-01-01,2020-01-02\n1,2\n3,4\n", "2020-01-01 2020-01-02"),
        ("True,1\nFalse,3\n", "1 2"),
        (",b\n1,2\n", "Unnamed:0 b"),
        ("a|b,c\n1,2\n", "a|b c"),
        ("a;b|c\n1;2\n", "a b|c"),
        ("2019,2020,2021\n5,7,9\n6,8,3\n", None),
        ("2020,2021\n1.5,2.5\n3.5,0.5\n", None),
        ("0,1\n1.5,2.5\n3.5,0.5\n", None),  # as pandas writes columns without names
        ("0,1,2,3\n1,5,3,2\n4,2,5,1\n", None),
        ("1,2,3\n100,250,300\n120,300,280\n", None),
        ("2020\n0.5\n1.5\n", None),
        ("1.5,x\n2,3\n4,5\n", None),  # a header, or a first row with a slip
    ],
)
def test_headers(table, text, names):
    if names is not None:
        assert [name.replace(" ", "") for name in table(text)] == names.split()
        return
    with pytest.raises(ValueError, match="use --header yes or --header no"):
        table(text)
    assert list(table(text, header="yes")) == text.partition("\n")[0].split(",")
    assert len(table(text, {str(j + 1): "category" for j in range(4)}, header="no")) == text.count(
        "\n"
    )


def test_blank_lines_and_quoted_comments(table):
    assert table("  \na,b\n1,2\n \n3,4\n   \n").to_dict("list") == {"a": [1, 3], "b": [2, 4]}
    assert table('a\n1\n""\n2\n')["a"].isna().tolist() == [False, True, False]
    text = '# "by hand\nu;v\n1,5;"x\n# y"\n  # more\n2,5;z\n'
    assert table(text, decimal=",", comment=["#"]).to_dict("list") == {
        "u": [1.5, 2.5],
        "v": ["x\n# y", "z"],
    }


@pytest.mark.parametrize("word", ["-999", "-999.0", "-9.99e2"])
def test_numbers_that_stand_for_missing_cells(table, word):
    frame = table("a,zip\n-999.0,007\n-999,-999\n1.5,\n-999.00,7\n", na=[word])
    assert frame["a"].isna().tolist() == [True, True, False, True]
    assert frame["zip"].isna().tolist() == [False, True, True, False]
    assert table("a;b\n-999,0;1\n2,5;-999\n", decimal=",", na=[word]).isna().to_numpy().tolist() == [
        [True, False], [False, True]]  # fmt: skip


def test_words_that_stand_for_missing_cells_are_no_names(table):
    frame = table("id,NULL\n1,2\nNULL,3\n", na=["NULL"])
    assert list(frame) == ["id", "NULL"] and frame["id"].isna().tolist() == [False, True]


def test_columns_by_name_and_by_position(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c:d,e\n1,2,3,x\n")
    file = read_file(str(tmp_path / "t.csv"), TextOptions())
    for wanted, names in {
        "1:3": ["a", "b", "c:d"],
        "4,a": ["e", "a"],
        "b:4": ["b", "c:d", "e"],
        "c:d, a": ["c:d", "a"],
    }.items():
        assert file.select(wanted) == names
    for wanted in ("1:5", "0", "a,a", "f", "²"):
        with pytest.raises(ValueError, match=r"t\.csv"):
            file.select(wanted)


def test_numbers_and_dates_are_those_of_pandas(table):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=200), "n": rng.integers(-9, 9, 200), "big": 2**53 + np.arange(200),
                          "day": pd.date_range("2024-01-01", periods=200)})  # fmt: skip
    frame.loc[3, "x"] = np.nan
    pd.testing.assert_frame_equal(table(frame.to_csv(index=False)), frame, check_dtype=False)
    gaps = table('big\n9007199254740993\n""\n9007199254740995\n')["big"]
    assert gaps.dtype == "Int64" and gaps[0] == 2**53 + 1


def test_types_of_cells(table):
    frame = table(
        "zip,n,x,flag,day,at,level,gap\n"
        "02134,1,1.5,true,2024-03-31,9:30,1.0,1\n10001,2,NA,FALSE,2024-04-01,14:45,b,\n94110,3,-1e3,True,,23:59,b,3\n"
    )
    assert frame["zip"].tolist() == ["02134", "10001", "94110"]
    assert (
        frame["n"].dtype == np.int64
        and frame["x"].dtype == np.float64
        and frame["flag"].dtype == bool
    )
    assert frame["day"].tolist() == [pd.Timestamp("2024-03-31"), pd.Timestamp("2024-04-01"), pd.NaT]
    assert frame["at"].tolist()[0] == datetime.time(9, 30)
    assert frame["level"].tolist() == ["1", "b", "b"] and frame["gap"].isna().tolist() == [
        False,
        True,
        False,
    ]


def test_types_on_request(table):
    types = {"amount": "number", "share": "number", "zip": "category"}
    frame = table('amount,share,zip\n"$1,234.50",12%,2134\n($5),5 %,2135\n', types=types)
    assert frame.to_dict("list") == {
        "amount": [1234.5, -5.0],
        "share": [12, 5],
        "zip": ["2134", "2135"],
    }
    assert table("n\n1.078.866\n921\n", thousands=".", decimal=",")["n"].tolist() == [1078866, 921]
    frame = table("d\n03/04/2024\n25/12/2024\n", date_format="%d/%m/%Y")
    assert frame["d"].tolist() == [pd.Timestamp("2024-04-03"), pd.Timestamp("2024-12-25")]
    assert table("d\n20240331\n", types={"d": "date"})["d"].tolist() == [pd.Timestamp("2024-03-31")]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a,b\n1,2\n3\n", ["line 3", "1 cell"]),
        ("a,a\n1,2\n", ["more than one column named 'a'"]),
        ("a,b\n", ["no rows"]),
        ("", ["is empty"]),
        ('a\n"1\n', ["line 2 has an unclosed quotation mark"]),
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
        (tmp_path / f"{name}.csv").write_text(
            "x,y,d\n1,$3,03/04/2024\nz,$4,04/04/2024\n2,$5,05/04/2024\n"
        )
    files = read_files(["a.csv", "b.csv"], TextOptions())
    with pytest.raises(Problems, match=r"a\.csv") as raised:
        frames_of(files, [["x", "y", "d"]] * 2, {})
    message = str(raised.value)
    assert (
        message.count("--date-format") == 2
        and message.count("--types y=number") == 2
        and "b.csv" in message
    )


def test_names_of_files():
    assert names_of(["in/a.csv", "b.csv"]) == ["a", "b"]
    assert names_of(["in/a.csv", "out/a.csv"]) == ["in/a.csv", "out/a.csv"]
    assert names_of(["a.csv", "a.csv"]) == ["a.csv (1)", "a.csv (2)"]
    assert names_of(["-", "x/*.csv"]) == ["standard input", "x/*.csv"]


# --- first lines ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sep=;\na;b\n1,x;2\n3,y;4\n", {"a": ["1,x", "3,y"], "b": [2, 4]}),
        ("SEP=,\r\na,b\r\n1,2\r\n", {"a": [1], "b": [2]}),
        ("\ufeffsep=\t\na\tb\n1\t2\n", {"a": [1], "b": [2]}),
        ('"sep=|"\na|b\n1;0|2\n', {"a": ["1;0"], "b": [2]}),
        ("sep=:\n1.5:2\n2.5:3\n", {"1": [1.5, 2.5], "2": [2, 3]}),
    ],
)
def test_a_first_line_for_excel_names_the_mark(table, text, expected):
    assert table(text).to_dict("list") == expected


def test_a_mark_that_is_given_counts_and_lines_are_those_of_the_file(table):
    assert table("sep=;\na,b\n1,2\n", sep=",").to_dict("list") == {"a": [1], "b": [2]}
    assert table("sep=;\nReport\na;b\n1;2\n", skip_rows=2).to_dict("list") == {"a": [1], "b": [2]}
    with pytest.raises(ValueError, match=r"t\.csv: line 5, column 'a': 'z' is not a number"):
        table("sep=;\na;b\n1;2\n3;4\nz;5\n")
    with pytest.raises(ValueError, match=r"line 4 has 3 cells, line 2 has 2"):
        table("sep=;\na;b\n1;2\n3;4;5\n")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("red\nblue\nred\n", "1"),
        ("red,north\nblue,south\nred,south\nblue,north\n", "1 2"),
        ("yes|no\nno|no\nyes|yes\n", "1 2"),
        ("13/02/1931,a\n14/02/1931,b\n15/02/1931,a\n", "1 2"),
        ("$5\n$6.50\n$7\n", "1"),
        ("color,part\nred,north\nblue,south\n", "color part"),
        (
            "red,n\nred,1\nblue,2\n",
            "red n",
        ),  # text above numbers names them, and so does what is beside it
        ("day,price\n13/02/1931,$5\n14/02/1931,$6\n", "day price"),
        ("50%,90%\n1,2\n3,4\n", "50% 90%"),
        ("u1,north\nu2,south\nu3,north\n", None),  # an identifier beside a group, or names
        ("other,reason\nill,other\nother,tired\n", None),
    ],
)
def test_text_that_occurs_again_is_no_name(table, text, names):
    types = {str(j): "category" for j in (1, 2)} | {name: "category" for name in ("price", "day")}
    if names is not None:
        assert [*table(text, types)] == names.split()
        return
    with pytest.raises(
        ValueError,
        match="may be names of columns or an observation; use --header yes or --header no",
    ):
        table(text, types)
    assert [*table(text, types, header="yes")] == text.partition("\n")[0].split(",")
    assert len(table(text, types, header="no")) == text.count("\n")


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1e"])
def test_lines_end_where_the_file_ends_them(table, sign):
    text = f"Report{sign}of March\na,b\n1,u{sign}w\n# a{sign}# b\n2,v{sign}# x\n"
    frame = table(text, skip_rows=1, comment=("#",))
    assert frame["a"].tolist() == [1, 2] and frame["b"].tolist() == [f"u{sign}w", f"v{sign}# x"]
    assert table("Report\ra,b\r1,2\r", skip_rows=1).to_dict("list") == {"a": [1], "b": [2]}


def test_byte_85_is_no_end_of_a_line(table):
    content = b"Report \x85\na,b\n1,wait\x85 or go\n2,go\n"
    for encoding, sign in (("latin-1", "\x85"), ("cp1252", "\u2026")):
        frame = table(content, skip_rows=1, comment=("#",), encoding=encoding)
        assert frame["b"].tolist() == [f"wait{sign} or go", "go"]
