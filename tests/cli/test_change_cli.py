"""``shrinktest change``, and lags and stretches on the command line."""

from __future__ import annotations

import datetime
import json

import numpy as np
import pytest

from shrinktest.cli.entry import main


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    values = rng.normal(size=60) + 6.0 * (np.arange(60) >= 40)
    first = datetime.date(2020, 1, 1)
    lines = [f"{first + datetime.timedelta(days=i)},{value:.6f},{'ab'[i % 2]}" for i, value in enumerate(values)]
    path = tmp_path / "series.csv"
    path.write_text("\n".join(["date,value,machine", *lines]) + "\n")
    return path


def written(file, order, name):
    head, *lines = file.read_text().splitlines()
    path = file.parent / name
    path.write_text("\n".join([head, *(lines[i] for i in order)]) + "\n")
    return str(path)


BASE = ["--columns", "value", "--seed", "0", "--resamples", "99"]


def test_the_place_has_its_date(file, capsys):
    assert main(["change", str(file), "--time", "date", *BASE, "--exit-code"]) == 1
    assert "40 (2020-02-10)" in capsys.readouterr().out


def test_sorted_first(file, capsys):
    path = written(file, range(59, -1, -1), "back.csv")
    assert main(["change", path, "--time", "date", *BASE]) == 2
    assert "lines 2 and 3 are not in the order" in capsys.readouterr().err
    assert main(["change", path, "--time", "date", "--sort", *BASE, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["location"] == 40


def test_times_that_repeat(file, capsys):
    path = written(file, [*range(60), 59], "again.csv")
    assert main(["change", path, "--time", "date", *BASE]) == 2
    assert "lines 61 and 62 have the same time" in capsys.readouterr().err


def test_notes_and_errors_name_the_file(file, capsys, monkeypatch):
    monkeypatch.chdir(file.parent)
    head, *lines = file.read_text().splitlines()
    lines[3] = lines[3].replace(lines[3].split(",")[1], "")
    for name, kept in (("gap.csv", lines), ("few.csv", lines[:3])):
        (file.parent / name).write_text("\n".join([head, *kept]) + "\n")
    for more, said in ((["omit"], "1 of 60 rows of gap.csv"), (["indicator", "--several"], "gap.csv: that a value is")):
        assert main(["change", "gap.csv", *BASE, "--nan-policy", *more]) == 0
        assert said in " ".join(capsys.readouterr().out.split())
    for line, said in (
        (["few.csv"], "few.csv has 3 rows; a"),
        (["gap.csv", "--several"], "--nan-policy must be one of"),
    ):
        assert main(["change", *line, *BASE, "--nan-policy", "propagate"]) == 2
        assert said in capsys.readouterr().err


def test_sort_needs_a_time(file, capsys):
    assert main(["change", str(file), "--sort", *BASE]) == 2
    assert "--time" in capsys.readouterr().err


def test_several_with_blocks(file, capsys):
    words = ["--several", "--blocks", "machine", "--time", "date", "--seed", "0", "--resamples", "99", "--json"]
    assert main(["change", str(file), *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["locations"] == [40] and found["times"][40] == "2020-02-10"
    assert main(["change", str(file), "--several", "--change", "epidemic", *BASE]) == 2


def test_at_most_so_many(tmp_path, capsys):
    stairs = np.random.default_rng(0).normal(size=120) + np.repeat([0.0, 4.0, 0.0], 40)
    path = tmp_path / "stairs.csv"
    path.write_text("value\n" + "\n".join(map(str, stairs)))
    for told, found in ((["--several"], 2), (["--several", "--n-changes", "1"], 1)):
        assert main(["change", str(path), *told, *BASE]) == 0
        assert f"{found} found at level" in capsys.readouterr().out
    for told, message in ((["--n-changes", "1"], "--several"), (["--several", "--n-changes", "0"], "--n-changes")):
        assert main(["change", str(path), *told, *BASE]) == 2
        assert message in capsys.readouterr().err


def test_epidemic_stretches_and_a_picture(file, capsys, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "change.png"
    words = ["--change", "epidemic", "--shift", "4", "--plot", str(picture), *BASE]
    assert main(["change", str(file), *words]) == 0
    assert "stretches of 4 rows" in capsys.readouterr().out and picture.exists()


def test_lags(tmp_path, capsys):
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    path = tmp_path / "pairs.csv"
    np.savetxt(
        path, np.column_stack([x, np.roll(x, 1) + rng.normal(size=120)]), delimiter=",", header="x,y", comments=""
    )
    assert main(["independence", str(path), "--shift", "circular", "--lags", "-1:1", "--seed", "0", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["lag"] for one in found["tests"]] == [-1, 0, 1] and found["pvalue"] == pytest.approx(3 / 120)
    assert main(["independence", str(path), "--lags", "a:b"]) == 2


def test_two_stretches(file, tmp_path, capsys):
    halves = [written(file, part, name) for part, name in ((range(30), "a.csv"), (range(30, 60), "b.csv"))]
    assert main(["two-sample", *halves, "--columns", "value", "--shift", "5", "--resamples", "99", "--seed", "0"]) == 0
    assert "stretches of 5 rows" in capsys.readouterr().out


def test_text_is_not_sorted(file, capsys):
    head, *lines = file.read_text().splitlines()
    quarters = [f"Q{i % 4 + 1} {1990 + i // 4}{line[10:]}" for i, line in enumerate(lines)]
    path = file.parent / "quarters.csv"
    path.write_text("\n".join([head, *quarters]) + "\n")
    assert main(["change", str(path), "--time", "date", *BASE]) == 2
    assert "(Q4 1990 before Q1 1991); write dates as 2024-01-31, or leave --time out" in capsys.readouterr().err
    assert main(["change", str(path), "--time", "date", "--sort", *BASE]) == 2
    assert "--sort: column 'date' of" in capsys.readouterr().err


def test_dates_that_nobody_calls_the_time(file, capsys):
    assert main(["change", str(file), "--seed", "0", "--resamples", "99"]) == 0
    assert "Column 'date' is not tested: it counts rows or tells the time" in " ".join(capsys.readouterr().out.split())


@pytest.fixture
def timed(tmp_path):
    """A function that writes a file with these times, whose values change at row 20."""

    def write(times, name="t", file="timed.csv"):
        values = np.random.default_rng(0).normal(size=30) + 6.0 * (np.arange(30) >= 20)
        path = tmp_path / file
        lines = [f"{time},{value}" for time, value in zip(times, values, strict=True)]
        path.write_text("\n".join([f"{name},value", *lines]) + "\n")
        return str(path)

    return write


@pytest.mark.parametrize("more", [[], ["--several"]])
def test_a_time_by_its_place_or_in_quotation_marks_is_not_tested(timed, capsys, more):
    path, found = timed(range(30), name='"a, b"'), []
    for typed in ("a, b", '"a, b"', "1"):
        assert main(["change", path, "--time", typed, "--seed", "0", "--resamples", "99", "--json", *more]) == 0
        found.append(json.loads(capsys.readouterr().out))
        assert found[-1]["columns"] == (["value"] if more else [["value"]])
    assert found[0] == found[1] == found[2]
    assert main(["change", path, "--time", "1", "--columns", "1,2", *more]) == 2
    assert "column 'a, b' is in both --time and --columns" in capsys.readouterr().err


def test_times_of_day_go_by_the_clock(timed, capsys):
    clock = [f"{8 + i // 4}:{i % 4 * 15:02d}" for i in range(30)]
    assert main(["change", timed(clock), "--time", "t", *BASE, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["times"][:9:8] == ["08:00", "10:00"]
    back = [*clock[:7], clock[8], clock[7], *clock[9:]]
    assert main(["change", timed(back), "--time", "t", *BASE]) == 2
    assert "(10:00 before 09:45); sort the rows with --sort" in capsys.readouterr().err
    assert main(["change", timed(back), "--time", "t", "--sort", *BASE, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["times"][7:9] == ["09:45", "10:00"]
