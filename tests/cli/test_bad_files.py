"""Faulty files: one run lists all problems with the options to add, and the next run answers."""

from __future__ import annotations

import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest

from _ci import some_wait
from shrinktest.cli import main


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command line in an empty folder: (exit code, standard output, lines of standard error)."""
    monkeypatch.chdir(tmp_path)

    def run(line, *more):
        code = main([*line.split(), *more])
        out, err = capsys.readouterr()
        return code, out, err.splitlines()

    return run


def write_orders(path, seed, growth):
    """Write a shop's export: 1100 orders, 14 columns, 30 % gaps in all but the first ones."""
    rng, n = np.random.default_rng(seed), 1100
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n), unit="D")
    words = np.array(
        [
            "red",
            "blue",
            "wool",
            "cotton",
            "large",
            "small",
            "soft",
            "warm",
            "new",
            "old",
            "light",
            "heavy",
            "thin",
        ]
    )
    orders = pd.DataFrame(
        {
            "order": np.arange(n) + 10_000 * seed,
            "date": ["03/04/2024", *days[1:].strftime("%d/%m/%Y")],
            "comment": [" ".join(rng.choice(words, 15)) for _ in range(n)],
            "price": [f"${price:,.2f}" for price in np.exp(rng.normal(6.0 + growth, 1.2, n))],
            "discount": [f"{share}%" for share in rng.integers(0, 30, n)],
            "postcode": [f"{code:05d}" for code in rng.integers(0, 90, n) * 100 + 2134],
            "quantity": rng.integers(1, 9, n),
            "weight": rng.gamma(2.0, 1.0, n).round(3),
            "channel": rng.choice(["web", "shop", "phone"], n),
            "country": rng.choice(["US", "CA", "MX"], n),
            "rating": rng.integers(1, 6, n),
            "returned": rng.choice(["true", "false"], n),
            "shipped": days.strftime("%Y-%m-%d"),
            "age": rng.normal(40.0, 12.0, n).round(0),
        }
    )
    for name in orders.columns[3:]:
        orders[name] = orders[name].astype(object).where(rng.random(n) > 0.3, "")
    orders.to_csv(path, index=False)


def test_a_shops_export_is_compared_in_two_runs(run):
    write_orders("march.csv", 1, 0.0)
    write_orders("april.csv", 2, 0.6)
    line = "compare march.csv april.csv --estimator kme --resamples 99 --seed 0 --workers 1"
    code, out, problems = run(line)
    assert (code, out) == (2, "") and len(problems) == 7
    (text,) = (problem for problem in problems if "column 'comment' holds text" in problem)
    assert "more than 1000 different values" in text and "--types" in text
    gaps = [problem for problem in problems if "values are missing in" in problem]
    assert len(gaps) == 2 and all("use --nan-policy omit or" in problem for problem in gaps)
    for file in ("march.csv", "april.csv"):
        own = [problem for problem in problems if f"{file}: line " in problem]
        assert "column 'price': '$" in own[0] and own[0].endswith("use --types price=number")
        assert "column 'discount': '" in own[1] and own[1].endswith("use --types discount=number")
    options = ["--types", "price=number", "--types", "discount=number,comment=drop"]
    options += ["--nan-policy", "indicator"]
    code, out, problems = run(line, *options, "--json")
    assert (code, problems) == (0, [])
    result = json.loads(out)
    types = {row["column"]: row["type"] for row in result["columns"]}
    assert result["changed"] == ["price"] and types["date"] == types["shipped"] == "date"
    assert (
        types["postcode"] == "category"
        and types["discount"] == "number"
        and types["returned"] == "boolean"
    )


def test_problems_of_structure_and_of_cells_are_told_together(run, tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n3\n")
    (tmp_path / "b.csv").write_text("x,y\n1,2\nz,4\n5,6\n")
    code, _, problems = run("k-sample a.csv b.csv nope.csv")
    assert code == 2 and len(problems) == 3
    for part in (
        "a.csv: line 3 has 1 cell",
        "nope.csv: No such file",
        "b.csv: line 3, column 'x': 'z'",
    ):
        assert sum(part in problem for problem in problems) == 1


def test_missing_values_are_told_with_the_other_problems(run, tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,$2\n,$4\n5,$6\n")
    code, _, problems = run("two-sample a.csv a.csv")
    assert code == 2 and len(problems) == 2
    assert problems[-1].endswith(
        "a.csv: values are missing in x; use --nan-policy omit or indicator"
    )
    assert len(run("two-sample a.csv a.csv --nan-policy omit")[2]) == 1


@pytest.fixture
def bad(tmp_path):
    """Unusable files, and good.csv and good.parquet."""
    table = pd.DataFrame({"u": np.arange(20.0) % 7, "v": np.arange(20.0) % 3})
    table.to_csv(tmp_path / "good.csv", index=False)
    table.to_parquet(tmp_path / "good.parquet")
    table.rename(columns={"v": "w"}).to_csv(tmp_path / "other.csv", index=False)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("u,v\n")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "good.parquet").read_bytes()[:-40])
    (tmp_path / "latin.csv").write_bytes("u,v\n1,é\n2,e\n".encode("latin-1"))
    (tmp_path / "book.xlsx").write_bytes(b"PK\x03\x04\xff\x00")
    (tmp_path / "cut.npy").write_bytes(b"\x93NUMPY")
    (tmp_path / "many_1.csv").write_text("u,v\n1,2\n2,3\n3,3\n")
    (tmp_path / "many_2.csv").write_text("u,v\n1,a\n2,b\n3,a\n")
    (tmp_path / "more_1.csv").write_text("u,v\n1,2\n2,3\n3,3\n")
    (tmp_path / "more_2.csv").write_text("u,w\n1,2\n2,3\n3,3\n")


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("compare good.csv nope.csv", ["nope.csv", "No such file"]),
        ("two-sample good.csv other.csv", ["other", "w"]),
        ("compare good.csv empty.csv", ["empty.csv is empty"]),
        ("compare good.csv header.csv", ["header.csv has a header but no rows"]),
        ("compare good.parquet cut.parquet", ["cut.parquet is not a Parquet file"]),
        ("two-sample good.parquet cut.parquet", ["cut.parquet"]),
        ("compare good.csv latin.csv", ["latin.csv", "--encoding, such as latin-1"]),
        ("compare good.csv cut.npy", ["cut.npy is not an array of numbers"]),
        (
            "compare good.csv many_*.csv",
            ["many_2.csv: column 'v' holds text", "many_1.csv", "--types v=category"],
        ),
        ("compare good.csv more_*.csv", ["more_2.csv has other columns than more_1.csv: u, w"]),
        ("compare good.csv none_*.csv", ["none_*.csv matches no file"]),
        ("compare good.csv - -", ["unexpected argument"]),
        ("k-sample - -", ["only one"]),
        ("compare good.csv good.csv --html good.csv", ["--html good.csv would overwrite"]),
        ("compare good.csv good.csv --html page.txt", [".html"]),
        (
            "two-sample good.csv good.csv --plot new.png --witness ./new.png",
            ["--witness ./new.png would overwrite"],
        ),
        (
            "two-sample good.parquet good.parquet --store good.parquet",
            ["--store good.parquet would overwrite"],
        ),
        ("compare good.csv book.xlsx", ["book.xlsx is not text; save the table as CSV"]),
        ("compare good.csv good.csv --columns u,z", ["'z'", "good.csv"]),
        ("compare good.csv good.csv --types z=drop", ["'z'", "--types"]),
        ("compare good.csv good.csv --columns 3", ["2 columns", "position 3"]),
        (
            "compare good.csv good.csv --encoding klingon",
            ["encoding klingon is unknown; use --encoding, such as utf-8"],
        ),
    ],
)
def test_bad_input_is_one_line(run, bad, line, parts):
    code, out, problems = run(line)
    assert (code, out) == (2, "") and len(problems) == 1, problems
    assert problems[0].startswith("shrinktest: error: ") and all(
        part in problems[0] for part in parts
    ), problems


# --- advice that is followed ------------------------------------------------------------------------------------

PLAIN = ["1.5", "2.5", "0.5", "3.5", "1.25", "-2", "0.75", "4"] * 5
ADVISED = {
    "inf": ["inf"],
    "-inf": ["-inf"],
    "Infinity": ["Infinity", "-Infinity"],
    "too large": ["1e400"],
    "too large below zero": ["-1e400"],
    "codes": ["885E01003"],
    "n/a, R$ and $": ["n/a", "R$ 5", "$5"],
    "a dash": ["-"],
    "two dashes": ["--", "---"],
    "a long dash": ["\u2014"],
    "not detected": ["ND", "< LOD"],
    "blanks and quotes": ["not known", "don't know"],
    "percent": ["5%", "n.d."],
    "euro": ["5,5 \u20ac", "missing"],
    "decimal comma": ["1,5"],
    "thousands": ["1,500"],
    "decimal comma beside a word": ["n.d.", "1,5"],
    "dates": ["13/02/1931", "unknown"],
}


def advice(problems):
    """The options that problems of a run advise, the last of those to choose from."""
    options = []
    for problem in problems:
        assert "; " in problem and "use --" in problem, problem
        *_, last = re.findall(r"--[a-z-]+[ =].*?(?= or --|$)", problem.rpartition("; ")[2])
        options += shlex.split(last)
    return options


#: Cells like others of the table, which wait for CI.
LATER = (
    "-inf",
    "Infinity",
    "too large below zero",
    "two dashes",
    "a long dash",
    "percent",
    "euro",
    "thousands",
)


@pytest.mark.parametrize("name", some_wait(ADVISED, LATER))
def test_a_run_that_follows_all_advice_succeeds(run, tmp_path, name):
    for file in ("a.csv", "b.csv"):
        frame = pd.DataFrame({"x y": [*PLAIN[:20], *ADVISED[name], *PLAIN[20:]]})
        frame.to_csv(tmp_path / file, index=False)
    line = "two-sample a.csv b.csv --resamples 19 --alpha 0.5 --seed 0 --nan-policy omit"
    code, out, problems = run(line)
    assert (code, out, len(problems)) == (2, "", 2 * len(ADVISED[name])), problems
    assert all(
        f"column 'x y': {cell!r}" in problem
        for cell, problem in zip(ADVISED[name] * 2, problems, strict=True)
    )
    code, _, problems = run(line, *advice(problems))
    assert (code, problems) == (0, [])


@pytest.mark.parametrize("name", ["codes", "too large", "inf"])
def test_a_column_of_such_cells_is_read_or_advised(run, tmp_path, name):
    pd.DataFrame({"x": ADVISED[name] * 40, "y": np.arange(40) % 7}).to_csv(
        tmp_path / "a.csv", index=False
    )
    line = "two-sample a.csv a.csv --resamples 19 --alpha 0.5 --seed 0 --nan-policy indicator"
    code, _, problems = run(line)
    assert code == (2 if name == "inf" else 0)
    assert code == 0 or run(line, *advice(problems))[0] == 0


def test_a_run_names_a_few_kinds_of_cells_of_each_column(run, tmp_path):
    others = ["n/a", "R$ 5", "$5", "$6.50", "R$ 7.25", "n/a", "none", "unknown"]
    for file in ("a.csv", "b.csv"):
        pd.DataFrame({"x": [*PLAIN, *others], "y": [*PLAIN, *others[::-1]]}).to_csv(
            tmp_path / file, index=False
        )
    _, _, problems = run("two-sample a.csv b.csv")
    cells = [re.search(r"column '.': ('.*?') is not", problem)[1] for problem in problems]
    assert cells == ["'n/a'", "'R$ 5'", "'$5'", "'unknown'", "'none'", "'n/a'"] * 2
