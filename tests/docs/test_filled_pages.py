"""Pages written by hand: their tables come from files, the tests they point to exist, their figures of levels hold."""

from __future__ import annotations

import re
from pathlib import Path

import _blocks
import _overview
import fill_reproduction
import front_pictures
import numpy as np
import pandas as pd
import pytest
import rows
import shortcuts
from scipy.stats import binom

ROOT = Path(__file__).parents[2]
SHORTCUTS = pd.read_csv(ROOT / "docs" / "data" / "shortcuts.csv")
FILLED = {
    "validity": shortcuts.blocks(SHORTCUTS),
    "reproduction": fill_reproduction.blocks(),
    "comparison": rows.blocks(rows.read(ROOT / "docs" / "data" / "benchmarks.csv")),
    **{page: said() for page, said in front_pictures.PAGES.items()},
}


@pytest.mark.parametrize(("page", "name"), [(page, name) for page, blocks in FILLED.items() for name in blocks])
def test_tables_come_from_their_files(page, name):
    """If not, the script that fills the page has not run since its data changed."""
    assert _blocks.block(page, name) == FILLED[page][name]


@pytest.mark.parametrize("page", FILLED)
def test_every_mark_is_filled(page):
    marks = re.findall(r"(?m)^<!-- (?!/)(.+) -->$", (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"))
    assert sorted(mark for mark in marks if "first screen" not in mark) == sorted(FILLED[page])


def test_every_published_table_has_a_row():
    """With what came of it, and with links that lead to pages that are there."""
    files = [item.file for item in _overview.ITEMS if item.file]
    assert sorted(files) == sorted(path.stem for path in (ROOT / "examples" / "published").glob("*.csv"))
    rows = _blocks.block("reproduction", "overview").splitlines()[2:]
    assert len(rows) == len(_overview.ITEMS)
    for row, item in zip(rows, _overview.ITEMS, strict=True):
        assert item.where in row and item.link in row
        assert item.verdicts and all(said for _, said in item.verdicts)
        assert all("because " in said for verdict, said in item.verdicts if verdict == _overview.NOT)
        verdicts = [verdict for verdict, _ in item.verdicts]
        assert verdicts == [_overview.NOTHING] or re.search(r"\*(reproduces|does not|refuted by)\*", row)
        for page in re.findall(r"\((\w+)\.md", item.link):
            assert (ROOT / "docs" / f"{page}.md").exists()


def test_no_item_of_the_papers_is_left_out():
    """Tables and figures by number: 3 and 2, 4 and 2, 3 and 4."""
    named = " ".join(item.where for item in _overview.ITEMS)
    for paper, figures, tables in (("M14", 3, 2), ("S14", 4, 2), ("X20", 3, 4)):
        for kind, count in (("Fig.", figures), ("Table", tables)):
            found = re.findall(rf"\[{paper}\](?:, \[M13\])? {re.escape(kind)} (\d)", named)
            assert found == [str(number) for number in range(1, count + 1)]
    assert "Not taken up" not in (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")


def test_filling_replaces_what_stands_between_the_marks(tmp_path):
    page = tmp_path / "comparison.md"
    page.write_text("before\n<!-- a -->\nold | 1 |\n<!-- /a -->\n<!-- b -->\n<!-- /b -->\nafter", encoding="utf-8")
    for _ in range(2):
        _blocks.fill(tmp_path, "comparison", {"a": r"new \1", "b": "| 2 |"})
    expected = "before\n<!-- a -->\n\nnew \\1\n\n<!-- /a -->\n<!-- b -->\n\n| 2 |\n\n<!-- /b -->\nafter"
    assert page.read_text(encoding="utf-8") == expected
    with pytest.raises(ValueError, match=r"needs the marks <!-- c -->.*found 0"):
        _blocks.fill(tmp_path, "comparison", {"c": ""})
    with pytest.raises(ValueError, match="has no marks <!-- c -->"):
        _blocks.block("comparison", "c")


@pytest.mark.parametrize("page", ["comparison", "validity", "theory"])
def test_the_tests_that_a_page_names_exist(page):
    """A file is named by its path from the root, or by its own name, of which there is only one."""
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    files = {path.name: path for path in (ROOT / "tests").rglob("test_*.py")}
    named = set(re.findall(r"`((?:tests/(?:\w+/)*)?test_\w+\.py)`", text))
    assert named
    assert {name for name in named if "/" in name} <= {path.relative_to(ROOT).as_posix() for path in files.values()}
    defined = {name: set(re.findall(r"(?m)^def (test_\w+)", path.read_text())) for name, path in files.items()}
    used = set().union(*(defined[Path(name).name] for name in named))
    assert set(re.findall(r"`(test_\w+)`", text)) <= used
    for file, names in re.findall(r"`(test_\w+\.py)`: ((?:`test_\w+`(?:, )?)+)", text):
        assert set(re.findall(r"`(\w+)`", names)) <= defined[file]


def test_the_theory_has_all_errata_that_the_code_cites():
    text = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
    numbered = [int(n) for n in re.findall(r"(?m)^### E(\d+) \([HML]\)\. ", text)]
    assert numbered == list(range(1, 32))
    for path in [*ROOT.glob("shrinktest/**/*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("examples/*.py")]:
        cited = re.findall(r"\b(?:erratum|errata) ((?:E\d+(?:, | and )?)+)", path.read_text(encoding="utf-8"))
        assert {int(n) for group in cited for n in re.findall(r"\d+", group)} <= set(numbered)


@pytest.mark.parametrize("row", list(SHORTCUTS.itertuples()), ids=lambda row: f"{row.what}, {row.where}")
def test_levels_are_what_the_page_says(row):
    """The valid test's never lies above its exact 99.9 % region; harmless shortcuts lie inside theirs."""
    low, high = binom(row.trials, row.alpha).interval(0.999)
    assert row.valid * row.trials <= high
    if row.kind == "harmless":
        assert low <= row.level * row.trials <= high


@pytest.mark.parametrize("name", ["eckerle4_power", "eckerle4_power_protocol", "mixture_power", "which_estimator"])
def test_every_published_level_is_what_the_test_can_attain(name):
    """It lies inside the exact 99.9 % region; four pairs have 24 permutations, and p-values are multiples of 1/24."""
    rates = pd.read_csv(ROOT / "docs" / "data" / f"{name}.csv")
    levels = rates[rates["null"]]
    assert len(levels) >= 72
    for row in levels.itertuples():
        attained = (
            np.floor(24 * row.alpha + 1e-9) / 24 if row.design == "EckerleSubsample()" and row.n == 4 else row.alpha
        )
        low, high = binom(row.trials, attained).interval(0.999)
        assert low <= row.power * row.trials <= high, row


EXACT = {  # what a shortcut's level is by calculation
    ("p = b/B", 0.05): 2 / 21,  # b is uniform on 0, ..., 20, and b <= 1 rejects
    ("p = b/B", 0.001): 1 / 101,  # only b = 0 does
    ("rejecting when p < alpha", 0.05): 0.0,
}


@pytest.mark.parametrize("case", EXACT, ids=str)
def test_levels_that_can_be_calculated(case):
    (row,) = SHORTCUTS[(SHORTCUTS["what"] == case[0]) & (SHORTCUTS["alpha"] == case[1])].itertuples()
    low, high = binom(row.trials, EXACT[case]).interval(0.999) if EXACT[case] else (0, 0)
    assert low <= row.level * row.trials <= high


def test_a_shortcut_differs_from_the_valid_test_in_one_thing():
    """Row 0 is the observed split, p-values count it and ties, and block means are those of the Gram matrix."""
    rng = np.random.default_rng(0)
    x, y = shortcuts.two(rng, 6, 5, 2)
    gram, bandwidth = shortcuts.pooled_gram(x, y)
    masks = shortcuts.labels(rng, 6, 5, rows=30)
    assert masks.shape == (31, 11) and (masks.sum(axis=1) == 6).all()
    np.testing.assert_array_equal(masks[0], np.arange(11) < 6)
    for mask, *found in zip(masks.astype(bool), *shortcuts.means(gram, masks), strict=True):
        expected = [gram[np.ix_(a, b)].mean() for a, b in ((mask, mask), (~mask, ~mask), (mask, ~mask))]
        assert found == pytest.approx(expected, rel=1e-12)
    ours = shortcuts.two_sample_test(x, y, bandwidth=bandwidth, form="biased", n_resamples=0)
    assert shortcuts.mmd(gram, masks)[0] == pytest.approx(ours.statistic, rel=1e-10)
    assert shortcuts.p_value(np.array([1.0, 1.0, 0.5, 2.0])) == 0.75
