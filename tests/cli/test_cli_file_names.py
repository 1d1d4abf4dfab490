"""Names of files that are not in UTF-8 stand in pictures, pages and JSON, without what is no letter."""

from __future__ import annotations

import json
import os
import shutil

import numpy as np
import pytest

from shrinktest.cli import main
from shrinktest.cli.compare import _names
from shrinktest.cli.input import told_apart

FEW = ["--resamples", "39", "--seed", "0", "--workers", "1", "--estimator", "kme"]
OF_LATIN_1 = os.fsdecode("b\N{LATIN SMALL LETTER U WITH DIAERESIS}.csv".encode("latin-1"))
SHOWN = "b\N{REPLACEMENT CHARACTER}"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("u\n" + "\n".join(map(str, np.arange(20) % 7)) + "\n")
    try:
        shutil.copy("a.csv", OF_LATIN_1)
    except (OSError, ValueError):
        pytest.skip("the system has no such names")
    return tmp_path


def test_pages_and_pictures(folder, capsys):
    assert main(["compare", "a.csv", OF_LATIN_1, *FEW, "--html", "x.html", "--plot", "x.png"]) == 0
    assert SHOWN in (folder / "x.html").read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["two-sample", "a.csv", OF_LATIN_1, *FEW, "--json", "--witness", "y.png"]) == 0
    assert json.loads(capsys.readouterr().out)["names"] == ["a.csv", f"{SHOWN}.csv"]


def test_names_stay_apart():
    alike = ["b\udcfc.csv", "b\udcfd.csv"]
    assert told_apart(alike, lambda path: path.stem) == (f"{SHOWN}.csv (1)", f"{SHOWN}.csv (2)")
    assert _names(alike) == (f"{SHOWN}.csv (1)", f"{SHOWN}.csv (2)")
