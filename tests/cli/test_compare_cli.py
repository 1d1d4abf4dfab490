"""``shrinktest compare``: the library's result, a page, a picture, and what it refuses."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from shrinktest import compare
from shrinktest.cli import main
from typed import typed

FAST = ["--seed", "0", "--resamples", "99", "--workers", "1"]
GIVEN = {"rng": 0, "n_resamples": 99, "workers": 1, "names": ("march", "april")}


def as_typed_in(expected):
    """The comparison as a command has it, with the tests and effects that it holds."""
    held = {name: typed(one) for name in ("stored", "overall") if hasattr(one := vars(expected).get(name), "notes")}
    return replace(typed(expected), **held)


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command line in a folder with march.csv and april.csv, whose column v has changed."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, shift in (("march", 0.0), ("april", 1.5)):
        table = pd.DataFrame(rng.normal([0.0, shift, 0.0], 1.0, size=(30, 3)), columns=list("uvw"))
        table["team"] = np.arange(30) // 3 + (100 if shift else 0)
        table.to_csv(f"{name}.csv", index=False)

    def run(*argv):
        code = main(["compare", *argv])
        return code, *capsys.readouterr()

    return run


def tables(columns):
    return (pd.read_csv(f"{name}.csv")[list(columns)] for name in ("march", "april"))


def test_it_is_the_library(run):
    expected = compare(*tables(["u", "v", "w", "team"]), **GIVEN)
    assert run("march.csv", "april.csv", *FAST) == (0, f"{typed(expected).summary()}\n", "")
    code, out, _ = run("march.csv", "april.csv", "--columns", "u,v", "--json", "--exit-code", *FAST)
    found = json.loads(out)
    assert code == 1 and found["changed"] == ["v"]
    assert found["pvalue"] == compare(*tables("uv"), **GIVEN).pvalue


def test_options_reach_the_library(run):
    options = ["--estimator", "kme", "--method", "holm", "--alpha", "0.1", "--confidence", "0.8", "--scale", "rank"]
    expected = compare(
        *tables("uv"), estimator="kme", method="holm", alpha=0.1, confidence=0.8, scale="rank", **GIVEN
    )  # fmt: skip
    assert run("march.csv", "april.csv", "--columns", "u,v", *options, *FAST)[1] == f"{typed(expected).summary()}\n"
    groups = tuple(table["team"].astype(str).tolist() for table in tables(["team"]))
    expected = compare(*tables("uvw"), groups=groups, **GIVEN)
    assert run("march.csv", "april.csv", "--groups", "team", *FAST)[1] == f"{typed(expected).summary()}\n"


def test_missing_cells_count(run, tmp_path):
    table = pd.read_csv("march.csv")
    table.loc[:14, "u"] = np.nan
    table.to_csv("march.csv", index=False)
    expected = compare(*tables("uv"), **GIVEN)
    assert run("march.csv", "april.csv", "--columns", "u,v", *FAST)[1] == f"{typed(expected).summary()}\n"
    assert "missing 50% → 0%" in expected.summary()
    code, _, err = run("march.csv", "april.csv", "--columns", "u,v", "--nan-policy", "raise", *FAST)
    assert code == 2 and "march has 15 missing values" in err


def test_the_page_and_the_picture_are_saved(run, tmp_path):
    code, out, _ = run("march.csv", "april.csv", "--html", "report.html", "--plot", "p.png", "--columns", "u,v", *FAST)
    assert code == 0 and out.startswith("Comparison of march (30 rows) and april (30 rows)\n")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    expected = as_typed_in(compare(*tables("uv"), **GIVEN)).to_html()
    # Old matplotlib names clips at random.
    shown, wanted = (re.sub("p[0-9a-f]{10}", "", one) for one in (page, expected))
    assert shown == wanted and "scale=None" not in page
    assert (tmp_path / "p.png").read_bytes()[1:4] == b"PNG"


def test_files_of_one_name_are_told_apart(run, tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "march.csv").write_text((tmp_path / "april.csv").read_text())
    out = run("march.csv", "old/march.csv", "--columns", "u", *FAST)[1]
    assert out.startswith("Comparison of march.csv (30 rows) and old/march.csv (30 rows)\n")


@pytest.mark.parametrize(
    "options, message",
    [
        (["--html", "report.txt"], "--html: report.txt is no name for a page; it must end in .html"),
        (
            ["--html", "none/report.html"],
            "--html: none/report.html cannot be saved, because there is no directory none",
        ),
        (["--form", "biased"], "--form is not for compare; leave it out"),
        (["--stopping", "curtailed"], "--stopping is not for compare; leave it out"),
        (["--confidence", "95"], "--confidence must lie strictly between 0 and 1, got 95"),
        (["--method", "holms"], "--method must be one of"),
        (["--nan-policy", "propagate"], "--nan-policy must be one of 'indicator', 'omit', 'raise'"),
    ],
)
def test_wrong_options_are_named(run, options, message):
    code, out, err = run("march.csv", "april.csv", *options, *FAST)
    assert (code, out) == (2, "") and message in err


def test_a_page_without_matplotlib_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, _, err = run("march.csv", "april.csv", "--html", "r.html", *FAST)
    assert code == 2 and "--html: r.html has pictures, which need matplotlib: pip install 'shrinktest[plot]'" in err
