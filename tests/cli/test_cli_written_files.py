"""Files that commands write: never two things into one, nor over what is read, and errors name them."""

from __future__ import annotations

import argparse
import os

import numpy as np
import pytest

from shrinktest.cli import files, main
from shrinktest.cli.commands import COMMANDS, parser

STUDY = ["power", "mean-shift", "--n", "8", "--trials", "3", "--resamples", "19", "--workers", "1", "--quiet"]
TWO = ["two-sample", "a.csv", "b.csv", "--resamples", "19", "--seed", "0", "--workers", "1"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for i, name in enumerate("ab"):
        (tmp_path / f"{name}.csv").write_text("u\n" + "\n".join(map(str, np.arange(20) % 7 + i)) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_options_and_arguments_that_name_files_are_known():
    (commands,) = (
        action for action in parser(tuple(COMMANDS))._actions if isinstance(action, argparse._SubParsersAction)
    )
    written, read = set(), set()
    for command in commands.choices.values():
        for action in command._actions:
            if action.metavar and (action.metavar.startswith("FILE.") or action.metavar.endswith(".csv")):
                (written if action.option_strings else read).add(action.dest)
    assert (written, read) == (set(files.WRITTEN), set(files.READ))


def test_a_store_is_not_written_over(folder, capsys):
    assert main([*STUDY, "--store", "s.sqlite"]) == 0
    kept = (folder / "s.sqlite").read_bytes()
    os.symlink("s.sqlite", "s.csv")
    capsys.readouterr()
    for name in ("s.sqlite", "./s.sqlite", str(folder / "s.sqlite"), "s.csv"):
        assert main([*STUDY, "--store", "s.sqlite", "--csv", name]) == 2
        assert f"error: --store and --csv both name {name}; give each a file of its own" in capsys.readouterr().err
    assert (folder / "s.sqlite").read_bytes() == kept


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("compare a.csv b.csv --html x.html --plot x.html", "--html and --plot both name x.html"),
        ("two-sample a.csv b.csv --plot new.png --witness ./new.png", "--plot and --witness both name ./new.png"),
        ("two-sample a.csv b.png --plot b.png", "--plot b.png would be written over b.png, which is read"),
        ("two-sample *.npy y.npy --store x.npy", "--store x.npy would be written over x.npy, which is read"),
        ("independence a.png --plot ./a.png", "--plot ./a.png would be written over a.png, which is read"),
        ("k-sample a.csv b.csv c.png --plot c.png", "--plot c.png would be written over c.png, which is read"),
        ("closer a.csv b.csv c.png --plot c.png", "--plot c.png would be written over c.png, which is read"),
    ],
)
def test_nor_is_what_is_read(folder, capsys, line, said):
    np.save("x.npy", np.arange(20.0))
    assert main(line.split()) == 2
    assert f"error: {said}; give " in capsys.readouterr().err


def test_devices_may_be_named_twice(folder, capsys):
    options = argparse.Namespace(store=os.devnull, csv=os.devnull, first=os.devnull, second="-", data="eckerle4")
    files.refuse_same(options)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no device that is always full")
def test_a_full_disk_has_the_name_of_the_file(folder, capsys):
    for ending in ("csv", "png", "html"):
        os.symlink("/dev/full", f"full.{ending}")
    compare = ["compare", "a.csv", "b.csv", "--estimator", "kme", "--resamples", "39", "--seed", "0", "--workers", "1"]
    for line, name in [
        ([*STUDY, "--csv"], "full.csv"),
        ([*STUDY, "--plot"], "full.png"),
        ([*TWO, "--plot"], "full.png"),
        ([*TWO, "--witness"], "full.png"),
        ([*compare, "--html"], "full.html"),
        ([*compare, "--plot"], "full.png"),
    ]:
        code, (_, err) = main([*line, name]), capsys.readouterr()
        assert (code, err) == (2, f"shrinktest: error: {name}: No space left on device\n"), line
