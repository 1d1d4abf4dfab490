"""The scripts of the pages: outputs of code, marks and their values, the list for language models."""

from __future__ import annotations

import re
from pathlib import Path

import checks
import llms
import outputs
import pytest
import redraw
from marks import filled
from PIL import Image

DOCS = Path(__file__).parents[2]


def test_wrong_outputs_of_pages_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr(outputs, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nx = 2\n```\n\n```python\nprint(x + 1)\n```\n\n```text\n4\n```\n",
        encoding="utf-8",
    )
    assert outputs.written("page.md").endswith("```text\n3\n```\n")
    assert outputs.written("page.md", 1) == page.read_text(encoding="utf-8")
    page.write_text("<!-- run\nprint('a  b')\n-->\n\n> wrong\n> text\n\nafter\n", encoding="utf-8")
    assert outputs.written("page.md") == "<!-- run\nprint('a  b')\n-->\n\n> a b\n\nafter\n"
    for lost in ("```python\nprint(1)\n```\n", "```python\nx = 1\n```\n\n```text\n1\n```\n"):
        page.write_text(lost, encoding="utf-8")
        with pytest.raises(ValueError, match="this prints"):
            outputs.written("page.md")


VALUES = {"study": {"rate": "5%", "table": "| a |\n| --- |", "agrees": True}}
PAGE = """<!-- from study -->

The rate is <!-- rate -->7%<!-- /rate -->.<!-- holds: agrees -->

<!-- table -->
old

<!-- /table -->
"""


def test_marks_are_filled_with_values():
    page, faults = filled(PAGE, VALUES.get)
    assert faults == [] and page == filled(page, VALUES.get)[0]
    assert (
        "<!-- rate -->5%<!-- /rate -->." in page and "\n\n| a |\n| --- |\n\n<!-- /table -->" in page
    )


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"agrees": False}, "study: agrees does not hold"),
        ({"more": 1}, "study: more has no mark"),
    ],
    ids=["claim", "unused"],
)
def test_values_that_do_not_suit_a_page_are_faults(values, fault):
    assert filled(PAGE, {"study": VALUES["study"] | values}.get)[1] == [fault]


def test_a_mark_without_a_value_is_a_fault():
    assert filled("<!-- from study -->\n\n<!-- none -->1<!-- /none -->", {"study": {}}.get)[1] == [
        "study has no value none"
    ]


def test_a_rate_without_a_mark_or_a_source_is_a_fault(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    monkeypatch.setattr(checks, "DOCS", tmp_path)
    page.write_text("The test rejects in 12% of data sets.\n", encoding="utf-8")
    assert len([*checks.unguarded_numbers()]) == 1
    page.write_text(
        "It rejects in <!-- rate -->12%<!-- /rate --> of data sets.\n", encoding="utf-8"
    )
    assert not [*checks.unguarded_numbers()]


def test_a_picture_that_differs_from_its_data_is_stale(tmp_path, monkeypatch):
    monkeypatch.setattr(redraw, "DOCS", tmp_path / "docs")
    for folder in ("docs", "new"):
        (tmp_path / folder / "figures").mkdir(parents=True)
        for name in ("same", "other"):
            picture = Image.new("RGB", (50, 40), "white")
            if (folder, name) == ("new", "other"):
                picture.paste("black", (10, 10, 20, 20))
            picture.save(tmp_path / folder / "figures" / f"{name}.png")
    (fault,) = redraw.stale(tmp_path / "new")
    assert fault.startswith("other.png")


def test_the_list_for_language_models_has_every_page_and_six_calls():
    text = llms.contents(DOCS)
    linked = set(re.findall(r"\]\((\w+)\.html\)", text))
    others = {"index", "guide", "project", "references"}
    assert linked == {path.stem for path in [*DOCS.glob("*.md"), *DOCS.glob("*.rst")]} - others
    assert len(re.findall(r"(?m)^- `", text)) == 6 and "{" not in text
    assert max(map(len, text.splitlines())) < 400
