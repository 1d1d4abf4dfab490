"""What a comparison looks like: in words, as JSON and frames, as a page, in pictures."""

from __future__ import annotations

import json
import math
import pickle
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from shrinktest import compare
from shrinktest.results.effects import Effects
from shrinktest.tables.changes import MEDIAN, MISSING, POSITION, SHARE, SPREAD, Change

VOID = {"meta", "br", "link", "img", "input", "hr"}
RUDE = '<b>"income" & $x$</b>'


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    start = pd.Timestamp("2024-03-01")
    found = []
    for rows, change in ((50, 0.0), (45, 1.0)):
        income = rng.lognormal(8.0 + change, 0.4, rows)
        income[: int(5 + 8 * change)] = np.nan
        found.append(
            pd.DataFrame(
                {
                    RUDE: income,
                    "age": rng.normal(40.0, 9.0, rows),
                    "region": rng.choice(["<script>alert(1)</script>", "south", "east"], rows),
                    "smokes": rng.random(rows) < 0.3,
                    "visit": start + pd.to_timedelta(rng.integers(0, 30, rows), unit="D"),
                    "unit": 1.0,
                }
            )
        )
    return found


@pytest.fixture(scope="module")
def result(tables):
    return compare(*tables, names=("<i>March</i>", "April"), n_resamples=99, rng=0, workers=1)


@pytest.fixture(scope="module")
def page(result):
    return result.to_html()


# --- words --------------------------------------------------------------------------------------------------


def test_the_answer_says_what_changed(result):
    assert result.verdict == f"These tables differ (p = .010). 1 of 5 columns changed: {RUDE}.".replace(".010", ".01")
    assert repr(result) == "ComparisonResult(<i>March</i> and April, pvalue=0.01, 1 of 5 columns changed)"


@pytest.mark.parametrize(
    "overall, columns, answer",
    [
        (0.2, 1.0, "No difference was found between these tables (p = .20)."),
        (0.02, 1.0, "These tables differ (p = .02). No column is clear by itself: small changes may add up, or the "
         "dependence of columns changed."),
        (0.2, 0.001, "5 of 5 columns changed: {}; taken as a whole, the tables do not differ clearly (p = .20)."),
        (math.nan, math.nan, "No p-value was computed, because there are no permutations (n_resamples=0)."),
    ],
)  # fmt: skip
def test_the_answer_claims_no_more_than_was_found(result, overall, columns, answer):
    tests = replace(result.columns, adjusted=np.full(5, columns))
    other = replace(result, overall=replace(result.overall, pvalue=overall), columns=tests)
    assert other.verdict == answer.format(", ".join(other.changed()))


def test_the_answer_says_how_different_the_tables_are(result):
    effect = result.overall.effect()
    assert result.effect == effect and effect.names == ("<i>March</i>", "April")
    assert result.answer == f"{result.verdict} {effect.lines()[0]}"
    assert "Of one observation of <i>March</i> and one of April, the witness function tells" in result.answer
    assert result.answer in " ".join(result.summary().split())
    assert json.loads(result.to_json())["effect"] == json.loads(effect.to_json())
    unknown = replace(result, effect=replace(effect, auc=math.nan))
    assert unknown.answer == replace(result, effect=None).answer == result.verdict
    assert replace(result, effect=None).to_dict()["effect"] is None and "which is which" not in unknown.to_html()
    assert pickle.loads(pickle.dumps(result)).effect == effect


def test_the_report_notes_what_the_probability_needs_and_no_distance(tables):
    few = compare(tables[0][:9], tables[1], estimator=["kme", "fkmse"], n_resamples=99, confidence=0.8, rng=0)
    assert few.effect == few.overall.effect(confidence=0.8) != few.overall.effect()
    assert any("One sample has 9 independent" in note for note in few.notes)
    assert few.effect.notes[-1].startswith("The distance") and few.effect.notes[-1] not in few.notes


def test_no_permutations_leave_no_pvalues(tables):
    found = compare(*tables, n_resamples=0, rng=0)
    assert found.answer.startswith("No p-value was computed") and not found.reject() and found.changed() == ()
    assert "effect" in found.to_frame() and found.to_html().count("<svg") > 4


def test_the_summary_has_the_answer_the_columns_and_the_notes(result):
    text = result.summary()
    lines = text.splitlines()
    assert lines[0] == "Comparison of <i>March</i> (50 rows) and April (45 rows)"
    assert " ".join(lines[1:3]).startswith(result.answer[:60])
    for name in ("age", "region", "smokes", "visit"):
        assert any(line.startswith(f"{name} ") for line in lines)
    assert any("not tested: it has the same value in every row" in line for line in lines)
    assert "[1] " in text and len({len(line) for line in lines[3:-6] if line.startswith(("=", "-"))}) == 1


def test_the_clearest_column_comes_first(result):
    table = result.table
    assert table["column"].iloc[0] == RUDE and table["column"].iloc[-1] == "unit"
    adjusted = table["adjusted"].dropna().tolist()
    assert adjusted == sorted(adjusted)


def test_another_level_decides_anew(result):
    assert result.reject(0.01) and not result.reject(0.005)
    assert result.changed(0.005) == () and set(result.changed(0.9999)) >= {RUDE}
    with pytest.raises(ValueError, match="alpha"):
        result.reject(2.0)


@pytest.mark.parametrize(
    "kind, change, said",
    [
        ("number", Change(MEDIAN, "", 41.23, 4512.3, 0.814, 0.62, 0.9), "median 41.2 → 4,512 (AUC .81 [.62, .90])"),
        ("number", Change(MEDIAN, "", 1e12 - 0.3, 1e12 + 1.4, 0.71, 0.6, 0.8),
         "median 999,999,999,999.7 → 1,000,000,000,001 (AUC .71 [.60, .80])"),
        ("number", Change(MEDIAN, "", 1e12 - 2e9, 1e12, 0.5),
         "median 9.98e+11 → 1e+12 (AUC .50, interval not estimated)"),
        ("number", Change(MEDIAN, "", 123456.2, 123456.4, 0.5),
         "median 123,456.2 → 123,456.4 (AUC .50, interval not estimated)"),
        ("number", Change(MEDIAN, "", 12.31, 12.34, 0.5), "median 12.31 → 12.34 (AUC .50, interval not estimated)"),
        ("number", Change(SPREAD, "", 0.1 + 0.2, 0.3, 1.0), "IQR 0.3 → 0.3 (× 1, interval not estimated)"),
        ("category", Change(SHARE, "north", 0.5004, 0.5001, -0.0003),
         "north 50.04% → 50.01% (-0.0 points, interval not estimated)"),
        ("number", Change(SPREAD, "", 2.0, 3.0, 1.5, 1.2, 1.875), "IQR 2 → 3 (× 1.5 [1.2, 1.88])"),
        ("number", Change(MEDIAN, "", 1.0, 2.0, 0.5), "median 1 → 2 (AUC .50, interval not estimated)"),
        ("number", Change(MEDIAN, "", 1.0, 2.0, math.nan), "median 1 → 2 (effect not estimated)"),
        ("number", Change(MISSING, "", 0.02, 0.1, 0.08, 0.04, 0.12), "missing 2% → 10% (+8.0 points [+4.0, +12.0])"),
        ("category", Change(SHARE, "north", 0.5, 0.25, -0.25, -0.4, -0.1),
         "north 50% → 25% (-25.0 points [-40.0, -10.0])"),
        ("date", Change(MEDIAN, "", 19783.4, 19784.5, 0.6, 0.5, 0.7),
         "median 2024-03-01 → 2024-03-02 (AUC .60 [.50, .70])"),
        ("date", Change(SPREAD, "", 2.0, 4.0, 2.0, 1.0, 4.0), "IQR 2 days → 4 days (× 2 [1, 4])"),
        ("time", Change(MEDIAN, "", 9.5, 13.26, 1.0, 0.9, 1.0), "median 09:30 → 13:16 (AUC 1.00 [.90, 1.00])"),
        ("time", Change(MEDIAN, "", 1.0 + 2.0 / 3.0, 23.9999, 1.0, 0.9, 1.0),
         "median 01:40 → 00:00 (AUC 1.00 [.90, 1.00])"),
        ("duration", Change(MEDIAN, "", 0.5, 1.0, 1.0, 0.9, 1.0), "median 0.5 days → 1 days (AUC 1.00 [.90, 1.00])"),
        ("ordered", Change(POSITION, "", 0.5, 1.0, 1.0, 0.9, 1.0), "mean position 0.5 → 1 (AUC 1.00 [.90, 1.00])"),
    ],
)  # fmt: skip
def test_effects_in_words(kind, change, said):
    assert Effects("c", kind, (change,)).said(change) == said


def test_frames_have_the_times_of_pandas(result):
    frame = result.to_frame().query("effect != 'share'").set_index(["column", "effect"])
    median, spread = frame.loc[("visit", "median")], frame.loc[("visit", "spread")]
    assert pd.Timestamp("2024-03-01") < median["first"] < pd.Timestamp("2024-03-30")
    assert pd.Timedelta(days=5) < spread["second"] < pd.Timedelta(days=20)
    assert all(isinstance(frame.loc[("age", what)]["first"], float) for what in ("median", "spread"))

    def row(kind, what, number):
        return Effects("c", kind, ()).to_row(Change(what, "", number, math.nan, 0.0))

    assert row("time", MEDIAN, 1.0 + 2.0 / 3.0)["first"] == "01:40"
    assert row("time", SPREAD, 1.5)["first"] == pd.Timedelta(minutes=90)
    assert row("duration", MEDIAN, 0.25)["first"] == pd.Timedelta(hours=6) and math.isnan(
        row("date", MEDIAN, 1.0)["second"]
    )
    assert row("date", MISSING, 0.5)["first"] == 0.5 and row("date", MEDIAN, 1e15)["first"] == 1e15
    assert row("date", MEDIAN, -2e5)["first"].year == 1422


def test_words_follow_the_test():
    clear, unclear = Change(SPREAD, "", 1, 2, 2.0, 1.5, 2.5), Change(MEDIAN, "", 0, 1, 0.6, 0.4, 0.8)
    both = Effects("c", "number", (unclear, clear))
    assert both.lines(changed=True) == both.lines(changed=False) == (both.said(clear),)
    assert Effects("c", "number", (unclear,)).lines(changed=True) == ("no single effect is clear", both.said(unclear))
    assert Effects("c", "number", ()).words(changed=False) == "not estimated"
    many = tuple(Change(SHARE, f"l{i}", 0.1, 0.5, 0.4, 0.1 + i / 100, 0.7) for i in range(6))
    assert len(Effects("c", "category", many).lines(changed=True)) == 3


# --- plain values -------------------------------------------------------------------------------------------


def test_json_comes_back_as_it_was(result):
    found = json.loads(result.to_json())
    assert found["answer"] == result.answer and found["pvalue"] == result.pvalue and found["changed"] == [RUDE]
    assert [row["column"] for row in found["columns"]] == result.table["column"].tolist()
    effects = pd.DataFrame(found["effects"]).astype({name: float for name in ("estimate", "low", "high")})
    every = pd.DataFrame([one.to_dict(change) for one in result.effects for change in one.changes])
    pd.testing.assert_frame_equal(effects, every, check_dtype=False)
    rest = result.to_frame()[["column", "effect", "level", "estimate", "low", "high"]]
    pd.testing.assert_frame_equal(effects[rest.columns], rest, check_dtype=False)
    assert found["overall"]["members"] and "null_distribution" not in found["overall"]
    assert found["columns"][-1]["pvalue"] is None  # not tested


def test_it_can_be_pickled(result):
    again = pickle.loads(pickle.dumps(result))
    assert again == result and again.to_html() == result.to_html()


# --- the page -----------------------------------------------------------------------------------------------


class Tree(HTMLParser):
    """Reads a page, and fails where an element is not closed, or closed twice."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.ids, self.links, self.text = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        self.links += [value for name, value in attrs if name in ("src", "href", "xlink:href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open[-3:])
        self.open.pop()

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def tree(page):
    found = Tree()
    found.feed(page)
    assert found.open == []
    return found


def test_the_page_is_well_formed_and_begins_with_the_answer(result, page, tree):
    assert page.startswith('<!DOCTYPE html>\n<html lang="en">')
    headings = [tag for tag, _ in tree.seen if re.fullmatch(r"h\d", tag)]
    assert headings[0] == "h1" and headings.count("h1") == 1
    text = "".join(tree.text)
    order = [result.verdict, result.effect.lines()[0], "The columns", "How this was computed"]
    assert [text.index(one) for one in order] == sorted(text.index(one) for one in order)
    assert len(set(tree.ids)) == len(tree.ids)


def test_the_page_needs_nothing_else(page, tree):
    assert {tag for tag, _ in tree.seen} & {"script", "link", "img", "iframe"} == set()
    assert tree.links and all(link.startswith(("#", "data:image/png;base64,")) for link in tree.links)
    assert "@import" not in page and set(re.findall(r"url\((.)", page)) <= {"#"}
    assert "http://" not in page and "https://" not in page


def test_the_page_can_be_read_by_everybody(page, tree):
    tags = [tag for tag, _ in tree.seen]
    pictures = [attrs for tag, attrs in tree.seen if tag == "svg"]
    assert len(pictures) == 6  # five columns, and two together
    assert all(attrs["role"] == "img" and len(attrs["aria-label"]) > 20 for attrs in pictures)
    scopes = [attrs.get("scope") for tag, attrs in tree.seen if tag == "th"]
    assert scopes.count("col") == 5 and scopes.count("row") == 6 and "caption" in tags
    names = [attrs.get("name") for tag, attrs in tree.seen if tag == "meta"]
    assert "viewport" in names and "color-scheme" in names
    assert "prefers-color-scheme: dark" in page and "max-width: 40rem" in page


def test_names_of_any_kind_are_text(page, tree):
    assert "<b>" not in page and "<script" not in page and "<i>" not in page
    text = "".join(tree.text)
    for name in (RUDE, "<i>March</i>", "<script>alert("):
        assert name in text


def test_pictures_take_the_colours_of_the_page(page):
    drawn = page[page.index("<svg") :]
    assert "var(--first)" in drawn and "var(--second)" in drawn and "currentColor" in drawn
    assert "#0072b2" not in drawn.lower() and "#d55e00" not in drawn.lower() and "#000000" not in drawn


def test_the_page_says_how_it_was_computed(result, tree):
    text = "".join(tree.text)
    for piece in ("50 + 45", "99 (random)", "westfall-young", "0.05", "shrinktest", *result.notes):
        assert piece in text
    assert len(result.notes) >= 2


def test_the_page_is_written_and_the_same_every_time(result, page, tmp_path):
    path = tmp_path / "report.html"
    assert result.to_html(path) == page and path.read_text(encoding="utf-8") == page


def test_a_notebook_shows_the_answer_and_the_table(result):
    shown = result._repr_html_()
    tree = Tree()
    tree.feed(shown)
    assert tree.open == [] and " ".join(result.answer.split()) in " ".join("".join(tree.text).split())
    assert "<style" not in shown and "<svg" not in shown and "<table" in shown and "<b>" not in shown


# --- pictures -----------------------------------------------------------------------------------------------


def test_the_columns_that_changed_are_drawn(result):
    assert [ax.get_title() for ax in result.plot()] == [RUDE]
    several = result.plot(["age", "region", "visit", "smokes"])
    assert [ax.get_title() for ax in several] == ["age", "region", "visit", "smokes"]
    assert [text.get_text() for text in several[0].figure.legends[0].get_texts()] == ["<i>March</i>", "April"]
    figure = Figure()
    (ax,) = result.plot("age", figure=figure)
    assert ax.figure is figure
    heights = [patch.get_data().values for patch in ax.patches]
    assert [values.sum() for values in heights] == pytest.approx([100.0, 100.0])
    with pytest.raises(ValueError, match=r"a column must be one of .* Did you mean 'age'"):
        result.plot("agee")
    with pytest.raises(ValueError, match="columns is empty"):
        result.plot([])
    with pytest.raises(ValueError, match=r"a column must be one of .*; got 0"):
        result.plot(0)
    assert len(result.plot(["age", "age"])) == 1
    for method in (result.pvalues_of, result.distribution):
        with pytest.raises(ValueError, match=r"a column must be one of .*; got 'nope'"):
            method("nope")


def test_bars_are_shares_of_categories(result, tables):
    (ax,) = result.plot("smokes")
    widths = [bar.get_width() for bar in ax.patches]
    shares = [100.0 * table["smokes"].mean() for table in tables]
    assert widths == pytest.approx([100.0 - shares[0], shares[0], 100.0 - shares[1], shares[1]])


def test_where_two_columns_differ(result):
    where = result.where
    assert where.columns[0] == RUDE and where.columns[1] in ("age", "visit") and not where.sampled
    assert where.heights.shape == where.outside.shape == (31, 31) and len(where.points[0]) == 45
    top = where.lines[0][np.unravel_index(where.heights.argmax(), (31, 31))[0]]
    low = where.lines[0][np.unravel_index(where.heights.argmin(), (31, 31))[0]]
    assert top > low  # incomes have gone up


def test_one_column_of_numbers_has_no_picture_of_two():
    rng = np.random.default_rng(0)
    a, b = (pd.DataFrame({"x": rng.normal(size=20), "g": rng.choice(["u", "v"], 20)}) for _ in range(2))
    found = compare(a, b, n_resamples=19, rng=0)
    assert found.where is None and "Where two columns" not in found.to_html()


def test_letters_of_any_script_and_no_matplotlib(tables, monkeypatch):
    a, b = (table[["age", "smokes"]].rename(columns={"age": "年齢"}) for table in tables)
    found = compare(a, b, n_resamples=19, rng=0)
    assert found.to_html().count("年齢") > 2
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'shrinktest\[plot\]'"):
        found.to_html()
    assert "年齢" in found._repr_html_()
