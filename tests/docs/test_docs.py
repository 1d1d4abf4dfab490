"""The pages: outputs from their code, marks and their values; public names, their docstrings and examples."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import llms
import outputs
import pytest
from marks import filled

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MODULES = [
    "shrinktest",
    *(f"shrinktest.{name}" for name in ("estimators", "kernels", "datasets", "power", "risk", "applications")),
    "shrinktest.power.designs",
]
PUBLIC = {
    f"{module}.{name}": getattr(importlib.import_module(module), name)
    for module in MODULES
    for name in importlib.import_module(module).__all__
    if callable(getattr(importlib.import_module(module), name))
}
# Objects under the first of their names, which is the shortest.
OBJECTS = {id(member): name for name, member in reversed(PUBLIC.items())}


def text_of(path):
    return path.read_text(encoding="utf-8")


@pytest.mark.ci
@pytest.mark.parametrize("page", outputs.PAGES)
def test_pages_show_what_their_code_prints(page):
    assert outputs.written(page) == text_of(ROOT / page)


def test_wrong_outputs_of_pages_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr(outputs, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 2\n```\n\n```python\nprint(x + 1)\n```\n\n```text\n4\n```\n", encoding="utf-8")
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
    assert "<!-- rate -->5%<!-- /rate -->." in page and "\n\n| a |\n| --- |\n\n<!-- /table -->" in page


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


#: The functions that return or take these have the example; designs are shown by their module.
EXAMPLE_ELSEWHERE = {
    *(f"shrinktest.risk.{name}" for name in ("Oracle", "RandomMixture", "FromFunction")),
    *(f"shrinktest.{name}Result" for name in ("AggregateChange", "LevelCheck", "Change", "Changes", "Closer")),
    *("shrinktest.ComparisonResult", "shrinktest.WitnessBand"),
}


def test_every_public_name_has_a_docstring_with_an_example():
    assert len(OBJECTS) > 80
    without = {name for name in OBJECTS.values() if "\n>>> " not in (inspect.getdoc(PUBLIC[name]) or "")}
    assert {name for name in without if not name.startswith("shrinktest.power.designs.")} == EXAMPLE_ELSEWHERE


def test_every_public_method_has_a_docstring():
    without = []
    for name in OBJECTS.values():
        if not inspect.isclass(PUBLIC[name]):
            continue
        for key, value in vars(PUBLIC[name]).items():
            described = callable(value) or isinstance(value, property | classmethod | staticmethod)
            if described and not key.startswith("_") and not inspect.getdoc(getattr(PUBLIC[name], key)):
                without.append(f"{name}.{key}")
    assert without == []


def test_the_api_page_lists_every_public_name_once():
    listed, module = [], ""
    for line in (DOCS / "api.rst").read_text(encoding="utf-8").splitlines():
        module = line.removeprefix(".. currentmodule:: ") if line.startswith(".. currentmodule::") else module
        if re.fullmatch(r"   [A-Za-z_]\w*", line):
            listed.append(f"{module}.{line.strip()}")
    assert len(set(listed)) == len(listed)
    missing = [name for key, name in OBJECTS.items() if key not in {id(PUBLIC[other]) for other in listed}]
    assert missing == [], "add them to docs/api.rst"
    assert len(listed) == len(OBJECTS), "the same object twice"


def test_the_list_for_language_models_has_every_page_and_six_calls():
    text = llms.contents(DOCS)
    linked = set(re.findall(r"\]\((\w+)\.html\)", text))
    others = {"index", "guide", "background", "changelog", "contributing", "references"}
    assert linked == {path.stem for path in [*DOCS.glob("*.md"), *DOCS.glob("*.rst")]} - others
    assert len(re.findall(r"(?m)^- `", text)) == 6 and "{" not in text
    assert max(map(len, text.splitlines())) < 400
