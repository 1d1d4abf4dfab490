"""The command ``monitor`` is the library on files, one after the other, and keeps its state."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from shrinktest import DriftMonitor
from shrinktest.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("days")
    rng = np.random.default_rng(0)
    for name, shift, rows in (
        ("reference", 0.0, 150),
        ("day1", 0.0, 60),
        ("day2", 0.0, 60),
        ("day3", 2.0, 60),
    ):
        table = pd.DataFrame({"u": rng.normal(shift, 1.0, rows).round(4)})
        table["site"] = rng.choice(list("xyz"), rows)
        table.to_csv(path / f"{name}.csv", index=False)
        table[["u"]].to_parquet(path / f"{name}.parquet")
    return path


@pytest.fixture
def run(folder, tmp_path, monkeypatch, capsys):
    """Run the command line: (exit code, standard output, standard error)."""
    monkeypatch.chdir(folder)

    def run(line):
        code = main(["monitor", *line.replace("STATE", str(tmp_path / "m.npz")).split()])
        return code, *capsys.readouterr()

    return run


def test_days_one_by_one_are_the_library(run, folder):
    code, _, err = run("reference.csv --state STATE --seed 0")
    assert (code, err) == (0, "")
    for day in (1, 2):
        code, out, err = run(f"day{day}.csv --state STATE --exit-code")
        assert (code, err) == (0, "")
    code, out, _ = run("day3.csv --state STATE --exit-code --json")
    assert code == 1
    read = [pd.read_csv(folder / f"{name}.csv") for name in ("reference", "day1", "day2", "day3")]
    monitor = DriftMonitor(read[0], rng=0)
    for i, table in enumerate(read[1:], 1):
        monitor.update(table, times=f"day{i}")
    assert json.loads(out) == json.loads(monitor.result.to_json())
    assert json.loads(out)["when"] == "day3"


def test_a_pattern_is_taken_by_name(run):
    code, out, _ = run("reference.parquet day*.parquet --fail-if n_rows>100")
    assert code == 1
    assert "Alarm at row 1" in out and "(day3)" in out


def test_files_are_taken_once(run):
    assert run("reference.csv day1.csv --state STATE")[0] == 0
    code, _, err = run("day2.csv day1.csv --state STATE")
    assert (code, err) == (
        2,
        "shrinktest: error: day1.csv was already processed; use --again to process it again\n",
    )
    assert "120 rows seen" in run("day1.csv --state STATE --again")[1]
    assert "180 rows seen" in run("day2.csv --state STATE")[1]
    code, _, err = run("reference.csv --state STATE")
    assert code == 2 and "reference.csv has the rows of the reference" in err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("reference.csv", "pass the reference and another file, or keep the monitor with --state"),
        ("day1.csv --state STATE --alpha 0.1", "--alpha is for a new monitor"),
        ("day1.parquet --state STATE", "day1.parquet has other columns than the reference"),
        ("nothing*.csv --state STATE", "nothing*.csv matches no file"),
        (
            "reference.csv day1.csv --alpha 0.1 --run-length 10",
            "alpha and run_length cannot be combined",
        ),
    ],
)
def test_mistakes_are_one_line(run, line, message):
    run("reference.csv --state STATE")
    code, out, err = run(line)
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1


def test_pictures_and_pages(run, tmp_path):
    page = tmp_path / "r.html"
    picture = tmp_path / "p.png"
    code, *_ = run(f"reference.csv day3.csv --unordered --html {page} --plot {picture} --exit-code")
    assert code == 1
    assert "<svg" in page.read_text() and picture.stat().st_size > 5000


def test_run_length(run):
    code, out, _ = run("reference.csv day1.csv --run-length 1000 --exit-code")
    assert code == 0 and "run length 1,000" in out
