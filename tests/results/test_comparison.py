"""Output of a comparison: in words, as JSON and frames, as a page, in pictures."""

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
from shrinktest.results.columns import (
    MEDIAN,
    MISSING,
    POSITION,
    SHARE,
    SPREAD,
    Change,
    ColumnEffects,
)

VOID = {"meta", "br", "link", "img", "input", "hr"}
RUDE = '<b>"income" & $x$</b>'


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    start = pd.Timestamp("2024-03-01")
    frames = []
    for rows, change in ((50, 0.0), (45, 1.0)):
        income = rng.lognormal(8.0 + change, 0.4, rows)
        income[: int(5 + 8 * change)] = np.nan
        frames.append(
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
    return frames


@pytest.fixture(scope="module")
def result(tables):
    return compare(*tables, names=("<i>March</i>", "April"), n_resamples=99, rng=0, workers=1)


@pytest.fixture(scope="module")
def page(result):
    return result.to_html()


# --- words --------------------------------------------------------------------------------------------------


SUMMARY = """\
Comparison of <i>March</i> (50 rows) and April (45 rows)
These tables differ (p = .01). 1 of 5 columns changed: <b>"income" & $x$</b>.
Given one observation from <i>March</i> and one from April, the witness function
assigns them correctly with probability .92 [.82, .96] (.5 is guessing).

        column           type    p-value  adjusted  changed                           change, with 95% interval

<b>"income" & $x$</b>  number       0.01      0.01  yes      median 3,095 → 6,686 (+3,591 [+2,672, +5,189]; AUC .93 [.84, .97])
                                                             missing 10% → 28.9% (+18.9 points [+3.0, +34.4])
visit                  date         0.12      0.39           median 2024-03-18 → 2024-03-14 (-4.0 days [-10.6, +1.0]; AUC .39 [.28, .51])
region                 category     0.49      0.83           south 26% → 37.8% (+11.8 points [-6.8, +29.5])
age                    number       0.61      0.83           median 40.5 → 36.9 (-3.57 [-8.45, +3.53]; AUC .45 [.33, .56])
smokes                 boolean      0.68      0.83           True 26% → 31.1% (+5.1 points [-12.7, +22.8])
unit                   number          -         -           not tested: it has the same value in every row
"""


def test_the_summary(result):
    text = "\n".join(line.rstrip().strip("-=") for line in result.summary().splitlines())
    assert text.startswith(SUMMARY) and "\n\n[1] " in text
    assert (
        repr(result)
        == "ComparisonResult(<i>March</i> and April, pvalue=0.01, 1 of 5 columns changed)"
    )


def test_the_answer_says_how_different_the_tables_are(result):
    effect = result.overall.effect()
    assert result.effect == effect and effect.names == ("<i>March</i>", "April")
    assert result.answer == f"{result.verdict} {effect.lines()[0]}"
    assert json.loads(result.to_json())["effect"] == json.loads(effect.to_json())
    unknown = replace(result, effect=replace(effect, auc=math.nan))
    assert unknown.answer == replace(result, effect=None).answer == result.verdict
    assert (
        replace(result, effect=None).to_dict()["effect"] is None
        and "assigns them" not in unknown.to_html()
    )
    assert pickle.loads(pickle.dumps(result)).effect == effect


@pytest.mark.parametrize(
    "kind, change, expected",
    [
        (
            "number",
            Change(MEDIAN, "", 41.23, 4512.3, 0.814, 0.62, 0.9),
            "median 41.2 → 4,512 (AUC .81 [.62, .90])",
        ),
        (
            "number",
            Change(MEDIAN, "", 1e12 - 2e9, 1e12, 0.5),
            "median 9.98e+11 → 1e+12 (AUC .50, interval not estimated)",
        ),
        (
            "number",
            Change(MEDIAN, "", 12.31, 12.34, math.nan),
            "median 12.31 → 12.34 (effect not estimated)",
        ),
        ("number", Change(SPREAD, "", 2.0, 3.0, 1.5, 1.2, 1.875), "IQR 2 → 3 (× 1.5 [1.2, 1.88])"),
        (
            "number",
            Change(MISSING, "", 0.02, 0.1, 0.08, 0.04, 0.12),
            "missing 2% → 10% (+8.0 points [+4.0, +12.0])",
        ),
        (
            "category",
            Change(SHARE, "n", 0.5, 0.25, -0.25, -0.4, -0.1),
            "n 50% → 25% (-25.0 points [-40.0, -10.0])",
        ),
        (
            "date",
            Change(MEDIAN, "", 19783.4, 19784.5, 0.6, 0.5, 0.7),
            "median 2024-03-01 → 2024-03-02 (AUC .60 [.50, .70])",
        ),
        ("date", Change(SPREAD, "", 2.0, 4.0, 2.0, 1.0, 4.0), "IQR 2 days → 4 days (× 2 [1, 4])"),
        (
            "time",
            Change(MEDIAN, "", 9.5, 23.9999, 1.0, 0.9, 1.0),
            "median 09:30 → 00:00 (AUC 1.00 [.90, 1.00])",
        ),
        (
            "ordered",
            Change(POSITION, "", 0.5, 1.0, 1.0, 0.9, 1.0),
            "mean position 0.5 → 1 (AUC 1.00 [.90, 1.00])",
        ),
    ],
)
def test_effects_in_words(kind, change, expected):
    assert ColumnEffects("c", kind, (change,)).text(change) == expected


def test_words_follow_the_test():
    clear, unclear = (
        Change(SPREAD, "", 1, 2, 2.0, 1.5, 2.5),
        Change(MEDIAN, "", 0, 1, 0.6, 0.4, 0.8),
    )
    both = ColumnEffects("c", "number", (unclear, clear))
    assert replace(both, reject=True).lines == both.lines == (both.text(clear),)
    only = ColumnEffects("c", "number", (unclear,), reject=True)
    assert only.lines == ("no single effect is clear", only.text(unclear))
    assert ColumnEffects("c", "number", ()).lines == ("not estimated",)


def test_the_answer_claims_no_more_than_was_found(result, tables):
    none = compare(*tables, n_resamples=0, rng=0)
    assert (
        none.answer.startswith("No p-value was computed")
        and not none.reject()
        and none.changed() == ()
    )
    same = compare(tables[0], tables[0].iloc[::-1], n_resamples=19, rng=0)
    assert same.verdict.startswith("No difference was found between these tables (p = ")
    strict = replace(result.columns, method="bonferroni", alpha=0.001)
    alone = "No single column is significant: small changes may add up, or the dependence between columns changed."
    assert replace(result, columns=strict).verdict == f"These tables differ (p = .01). {alone}"
    assert (
        result.reject(0.01) and not result.reject(0.005) and set(result.changed(0.9999)) >= {RUDE}
    )


# --- plain values -------------------------------------------------------------------------------------------


def test_json_and_frames_have_what_the_summary_has(result):
    document, frame = json.loads(result.to_json()), result.to_frame()
    assert (
        document["answer"] == result.answer
        and document["pvalue"] == result.pvalue
        and document["changed"] == [RUDE]
    )
    assert [row["column"] for row in document["columns"]] == result.table["column"].tolist()
    adjusted = result.table["adjusted"].dropna().tolist()
    assert result.table["column"].iloc[0] == RUDE and adjusted == sorted(adjusted)
    assert (
        len(document["effects"]) == len(frame) and document["columns"][-1]["pvalue"] is None
    )  # not tested
    assert document["overall"]["members"] and "null_distribution" not in document["overall"]
    times = frame.query("effect != 'share'").set_index(["column", "effect"])
    assert (
        pd.Timestamp("2024-03-01")
        < times.loc[("visit", "median")]["first"]
        < pd.Timestamp("2024-03-30")
    )
    assert pd.Timedelta(days=5) < times.loc[("visit", "spread")]["second"] < pd.Timedelta(days=20)
    assert ColumnEffects("c", "time", ()).as_pandas(MEDIAN, 1.0 + 2.0 / 3.0) == "01:40"
    assert pickle.loads(pickle.dumps(result)) == result


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
    parser = Tree()
    parser.feed(page)
    assert parser.open == []
    return parser


def test_the_page_is_well_formed_complete_and_begins_with_the_answer(result, page, tree, tmp_path):
    assert page.startswith('<!DOCTYPE html>\n<html lang="en">')
    headings = [tag for tag, _ in tree.seen if re.fullmatch(r"h\d", tag)]
    assert headings[0] == "h1" and headings.count("h1") == 1
    text = "".join(tree.text)
    order = [result.verdict, result.effect.lines()[0], "The columns", "How this was computed"]
    assert [text.index(passage) for passage in order] == sorted(
        text.index(passage) for passage in order
    )
    assert len(set(tree.ids)) == len(tree.ids)
    path = tmp_path / "report.html"
    assert result.to_html(path) == page and path.read_text(encoding="utf-8") == page
    assert {tag for tag, _ in tree.seen} & {"script", "link", "img", "iframe", "b", "i"} == set()
    assert tree.links and all(
        link.startswith(("#", "data:image/png;base64,")) for link in tree.links
    )
    assert "@import" not in page and "http://" not in page and "https://" not in page
    drawn = page[page.index("<svg") :]
    assert "var(--first)" in drawn and "currentColor" in drawn and "#0072b2" not in drawn.lower()
    for piece in (
        "50 + 45",
        "99 (random)",
        "westfall-young",
        "0.05",
        "<script>alert(",
        *result.notes,
    ):
        assert piece in text
    tags = [tag for tag, _ in tree.seen]
    pictures = [attrs for tag, attrs in tree.seen if tag == "svg"]
    assert len(pictures) == 7  # five columns, regions, and two together
    assert all(attrs["role"] == "img" and len(attrs["aria-label"]) > 20 for attrs in pictures)
    scopes = [attrs.get("scope") for tag, attrs in tree.seen if tag == "th"]
    assert scopes.count("col") == 5 and scopes.count("row") == 6 and "caption" in tags
    names = [attrs.get("name") for tag, attrs in tree.seen if tag == "meta"]
    assert "viewport" in names and "color-scheme" in names
    assert "prefers-color-scheme: dark" in page and "max-width: 40rem" in page


# --- pictures -----------------------------------------------------------------------------------------------


def test_the_columns_that_changed_are_drawn(result):
    assert [ax.get_title() for ax in result.plot()] == [RUDE]
    several = result.plot(["age", "region", "visit", "smokes"])
    assert [ax.get_title() for ax in several] == ["age", "region", "visit", "smokes"]
    assert [text.get_text() for text in several[0].figure.legends[0].get_texts()] == [
        "<i>March</i>",
        "April",
    ]
    figure = Figure()
    (ax,) = result.plot("age", figure=figure)
    heights = [patch.get_data().values.sum() for patch in ax.patches]
    assert ax.figure is figure and heights == pytest.approx([100.0, 100.0])
    for wrong, message in (("agee", "Did you mean 'age'"), ([], "columns is empty"), (0, "got 0")):
        with pytest.raises(ValueError, match=message):
            result.plot(wrong)


def test_where_two_columns_differ(result):
    where = result.where
    assert where.columns[0] == RUDE and where.columns[1] in ("age", "visit") and not where.sampled
    assert where.heights.shape == where.outside.shape == (31, 31) and len(where.points[0]) == 45
    top = where.lines[0][np.unravel_index(where.heights.argmax(), (31, 31))[0]]
    low = where.lines[0][np.unravel_index(where.heights.argmin(), (31, 31))[0]]
    assert top > low  # incomes have gone up
