"""CSV files in blocks: a file is the same table, or has the same fault, for all blocks and on the command line."""

import numpy as np
import pandas as pd
import pytest

from _ci import some_wait
from shrinktest import Batches, two_sample_test
from shrinktest.cli.entry import main
from shrinktest.cli.files import frames_of, read_file
from shrinktest.data.delimited import TextOptions
from shrinktest.data.tables import pooled, read_table


def rows(text, *cells, n=40):
    """A header and n rows, in which i is their number."""
    return text + "".join(",".join(str(cell(i)) for cell in cells) + "\n" for i in range(n))


FILES = {
    "codes": rows("zip,n\n", lambda i: f"{i % 7:05d}", lambda i: i * i),
    "a code below": rows("a,b\n", lambda i: i % 9, lambda i: i * 1.5) + "007,2.5\n",
    "gaps": rows("a,b\n", lambda i: i % 9 if i % 5 else "", lambda i: i / 4 if i % 3 else "NA"),
    "a fraction below": rows("a,b\n", lambda i: i % 9, lambda i: i * i) + f"0.5,1\n{2**60},2\n",
    "types": rows("t,d,z,h\n", lambda i: str(i % 2 == 0).lower(), lambda i: f"2024-03-{i % 9 + 11}",
                  lambda i: f"2024-03-11T{i % 9 + 10}:00+02:00", lambda i: f"{i % 10}:30"),
    "words": rows("w,v\n", lambda i: ["a", "1.0", "z ", "None", "null"][i % 5], lambda i: i / 8),
    "a word in numbers that are few": rows("w\n", lambda i: f"x{i % 3}") + "7\n8\n",
    "quotes": rows('a,b\n', lambda i: f'"u{i % 2}\n""x"", y"', lambda i: i % 7),
    "other quotes": 'v,g\n' + '1,5" u\n2,"u" x\n3,u\n' * 9 + '1,5" u\n',
    "marks": rows("a;b\n", lambda i: f"{i}.25;{i % 3}"),
    "blank lines": "\n\n  \na,b\n" + "1,2\n\n3,4\n   \n" * 9,
    "Windows": "a,b\r\n" + "1,x\r\n2,y\r\n" * 9,
    "no names": "1.5,2\n2.5,3\n0.5,7\n" * 9,
    "an index": rows(",b\n", lambda i: i, lambda i: i % 3),
    "a mark": "\ufeffa,b\n1,2\n3,4\n",
    "a line for Excel": "sep=;\na;b\n" + "1;x\n2;y\n" * 20,
    "a line for Excel, with a mark": "\ufeffsep=|\r\na|b\r\n" + "u,v|x\r\n2;3|y\r\n" * 20,
    "a line for Excel, no names": 'sep=\t\n' + '1.5\t"x\n"\n2.5\ty\n' * 20,
    "text without names": "red,north\nblue,south\n" * 20,
    "days": rows("d,e\n", lambda i: f"{i % 28 + 1:02d}/02/1931", lambda i: f"2/{i % 28 + 1}/1931 8:15"),
    "minus signs": rows("a,b\n", lambda i: f"\u2212{i}", lambda i: f"{i}-"),
    "levels that look alike": rows("a,b\n", lambda i: ["Bonn", "Bonn\u00a0"][i % 2],
                                  lambda i: ["u\u0308", "\u00fc"][i % 2]),
}  # fmt: skip
FAULTS = {
    "a word below": (rows("a\n", lambda i: i) + "soon\n", "line 42, column 'a': 'soon' is not a number"),
    "infinite": (rows("a\n", lambda i: i) + "inf\n", "line 42, column 'a': 'inf' is an infinite value"),
    "no day": ("d\n" + "2024-02-28\n" * 9 + "2024-02-30\n", "line 11, column 'd': '2024-02-30' is not a date"),
    "days first": ("d\n" + "05/12/2024\n" * 9, "line 2, column 'd': '05/12/2024' may have the day or the month"),
    "no such day": ("d\n" + "25/12/2024\n" * 9 + "30/02/2024\n", "line 11, column 'd': '30/02/2024' is not a date of"),
    "below a line for Excel": ("sep=;\nd;e\n" + "25;x\n" * 9 + "many;x\n", "line 12, column 'd': 'many' is not a"),
    "several": (rows("a\n", lambda i: i) + "n/a\n$5\nR$ 5\n", "line 44, column 'a': 'R$ 5' is not a number"),
    "zones": ("d\n" + "2024-01-01T10:00Z\n" * 9 + "2024-01-02T10:00\n", "line 11, column 'd': '2024-01-02T10:00' is a"),
    "decimal commas": ("a;b\n" + "1,5;x\n" * 9, "line 2, column 'a': '1,5' is not a number"),
    "points": ("a;b\n" + "1.078;x\n921;y\n" * 9, "line 2, column 'a': '1.078' may have points between thousands"),
    "uneven": ("\n\nz,k\n" + "1.5,2\n" * 9 + "1,5,2\n" + "1.5,2\n" * 9, "line 13 has 3 cells, line 3 has 2"),
    "short": ("z,k\n" + "1.5,2\n" * 9 + "1\n" + "1.5,2\n" * 9, "line 11 has 1 cell, line 1 has 2"),
    "open": ('v,g\n' + "1,u\n" * 9 + '2,"u\n' + "3,w\n" * 9, "line 11 has an unclosed quotation mark"),
    "long": (rows("a,b\n", lambda i: 2**60 + i, lambda i: "x"), "'a', holds whole numbers with too many digits"),
    "long beside gaps": (rows("a,b\n", lambda i: 2**60 + i if i % 2 else "", lambda i: "x"), "too many digits"),
    "names twice": ("a,a\n1,2\n", "has more than one column named 'a'"),
    "no rows": ("a,b\n", "has a header but no rows"),
    "another encoding": ("a\n\u00df\n".encode("latin-1"), "is not text in UTF-8"),
    "two encodings": (("a\n" + "u\n" * 99).encode() + "\u00df\n".encode("latin-1"), "is not text in UTF-8"),
}  # fmt: skip


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda text: (tmp_path / "t.csv").write_bytes(
        text if isinstance(text, bytes) else text.encode()
    )


def whole():
    file = read_file("t.csv", TextOptions())
    (frame,) = frames_of([file], [file.names], {})
    return read_table(frame, "t.csv")


def blocks_of(types, size=1):
    batches = Batches("t.csv", size=size)
    return [
        part for chunk in batches.chunks("X", batches.names("X"), types) for part in chunk.parts()
    ]


def in_blocks(size):
    parts = [read_table(part, "t.csv").columns for part in blocks_of({}, size)]
    return len(parts), [pooled(columns, [""] * len(parts)) for columns in zip(*parts, strict=True)]


#: Files like others of the table, which wait for CI.
LATER = (
    "a line for Excel, with a mark",
    "a line for Excel, no names",
    "minus signs",
    "Windows",
    "other quotes",
)


@pytest.mark.parametrize("name", some_wait(FILES, LATER))
def test_blocks_are_the_whole_file(stored, name):
    stored(FILES[name])
    expected = whole().columns
    for size in (1, 10**6):
        number, columns = in_blocks(size)
        assert number > 1 or size > 1 or len(FILES[name]) < 130
        for from_blocks, from_file in zip(columns, expected, strict=True):
            about = [
                (each.name, each.kind, each.levels, each.zoned, each.missing().tolist())
                for each in (from_blocks, from_file)
            ]
            assert about[0] == about[1]
            assert (
                from_blocks.values[~from_blocks.missing()].tolist()
                == from_file.values[~from_file.missing()].tolist()
            )


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_those_of_the_whole_file(stored, name):
    text, words = FAULTS[name]
    stored(text)
    for read in (
        whole,
        lambda: in_blocks(4),
        lambda: in_blocks(10**6),
        lambda: two_sample_test("t.csv", "t.csv"),
    ):
        with pytest.raises(ValueError, match=r"t\.csv") as error:
            read()
        assert words in str(error.value)
    assert "--" not in str(error.value)  # options that functions have not


@pytest.mark.parametrize(
    "types", [{"zip": "category"}, {"zip": "number"}, {"zip": ["1", "2", "3"]}, {"zip": "drop"}]
)
def test_types_on_request(stored, types):
    stored(rows("zip,v\n", lambda i: i % 3 + 1, lambda i: (i * 7) % 11 / 3))
    frame = pd.read_csv("t.csv")
    frame = frame.assign(zip=frame["zip"].astype(str)) if types["zip"] == "category" else frame
    how = {"rng": 0, "n_resamples": 99, "column_types": types}
    expected, features = two_sample_test(frame, frame[::2], **how), {"gram": "rff", "rank": 5}
    frame[::2].to_csv("u.csv", index=False)
    from_files = two_sample_test("t.csv", "u.csv", **how)
    assert (from_files.statistic, from_files.pvalue) == (expected.statistic, expected.pvalue)
    few, many = (
        two_sample_test(Batches("t.csv", size=n), Batches("u.csv"), **how, **features)
        for n in (2, 10**6)
    )
    assert few.pvalue == many.pvalue and few.statistic == pytest.approx(many.statistic, rel=1e-9)


@pytest.mark.parametrize(
    "kind", ["number", "category", "date", "duration", "boolean", ["u", "w"], None]
)
def test_columns_that_begin_late(stored, kind):
    cell = {"date": "2024-03-31", "duration": "1 days", "boolean": "true", "number": "1"}.get(
        str(kind), "u"
    )
    stored("a,b\n" + "".join(f"{cell if i > 120 else ''},{i % 7}\n" for i in range(160)))
    types = {"a": kind} if kind else {}
    tables = [read_table(part, "X", types) for part in blocks_of(types)]
    assert sum(map(len, tables)) == 160 and len(tables) > 3
    column = pooled([table.columns[0] for table in tables], [""] * len(tables))
    assert column.missing().tolist() == [True] * 121 + [False] * 39


def test_files_patterns_and_the_command_line_agree(stored, capsys):
    rng = np.random.default_rng(0)
    for name, shift in (("x", 0.0), ("y", 0.5)):
        table = pd.DataFrame(
            {"zip": rng.choice(["02134", "10001"], 60), "v": rng.normal(shift, 1.0, 60).round(3)}
        )
        for i, part in enumerate((table[:25], table[25:])):
            part.to_csv(f"{name}{i}.csv", index=False)
        table.to_csv(f"{name}.csv", index=False)
    result = two_sample_test("x.csv", "y.csv", rng=0, n_resamples=99)
    parts = two_sample_test("x?.csv", "y?.csv", rng=0, n_resamples=99)
    assert result.encodings[0].features == ("zip = 02134", "zip = 10001", "v")
    assert (result.statistic, result.pvalue) == (parts.statistic, parts.pvalue)
    for files in (("x.csv", "y.csv"), ("x?.csv", "y?.csv")):
        assert main(["two-sample", *files, "--seed", "0", "--resamples", "99"]) == 0
        assert f"{result.statistic:.6g}" in capsys.readouterr().out


def test_files_that_differ_in_a_column(stored):
    pd.DataFrame({"a": [1.0, 2.0] * 9, "b": 1.5}).to_csv("m1.csv", index=False)
    pd.DataFrame({"a": ["u", "w"] * 9, "b": 2.5}).to_csv("m2.csv", index=False)
    with pytest.raises(ValueError, match=r"column 'a' holds numbers .*m1.* and categories .*m2"):
        two_sample_test("m?.csv", "m?.csv")
    stored("a,b\n" + "1,2\n" * 9)
    with pytest.raises(ValueError, match=r"t\.csv has no column 'c'"):
        two_sample_test(Batches("t.csv", columns=["a", "c"]), Batches("t.csv"))
