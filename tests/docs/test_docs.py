"""The pages show what their code prints; public names, their docstrings and examples."""

from __future__ import annotations

import importlib
import inspect
import re
from dataclasses import fields, is_dataclass
from pathlib import Path

import outputs
import pytest

from shrinktest.results.references import bibliography

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MODULES = [
    "shrinktest",
    *(
        f"shrinktest.{name}"
        for name in (
            *("adapters", "estimators", "kernels", "datasets"),
            *("power", "risk", "applications", "testing"),
        )
    ),
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


#: The functions that return or take these have the example; designs are shown by their module.
EXAMPLE_ELSEWHERE = {
    *(f"shrinktest.risk.{name}" for name in ("Oracle", "RandomMixture", "FromFunction")),
    *(
        f"shrinktest.{name}Result"
        for name in ("AggregateChange", "LevelCheck", "Change", "Changes", "Closer")
    ),
    *("shrinktest.ComparisonResult", "shrinktest.WitnessBand"),
}


def test_every_public_name_has_a_docstring_with_an_example():
    assert len(OBJECTS) > 80
    without = {
        name for name in OBJECTS.values() if "\n>>> " not in (inspect.getdoc(PUBLIC[name]) or "")
    }
    assert {
        name for name in without if not name.startswith("shrinktest.power.designs.")
    } == EXAMPLE_ELSEWHERE


def described():
    """Public names with their docstrings, and methods and properties of classes with theirs."""
    for name in OBJECTS.values():
        yield name, inspect.getdoc(PUBLIC[name]) or ""
        members = vars(PUBLIC[name]) if inspect.isclass(PUBLIC[name]) else {}
        for key, value in members.items():
            method = callable(value) or isinstance(value, property | classmethod | staticmethod)
            if method and not key.startswith("_"):
                yield f"{name}.{key}", inspect.getdoc(getattr(PUBLIC[name], key)) or ""


def test_papers_that_docstrings_cite_are_in_their_references():
    known = bibliography()
    cited = 0
    for name, text in described():
        body, _, references = text.partition("References\n----------\n")
        references = re.split(r"\n\n", references)[0]
        keys = {key for key in re.findall(r"\[(\w+)\]", body) if key in known}
        entries = dict(re.findall(r"(?ms)^\.\. \[(\w+)\] (.*?)(?=^\.\.|\Z)", references))
        assert keys <= set(entries), name
        for key, entry in entries.items():
            words = " ".join(entry.split())
            assert known[key]["title"] in words, (name, key)
            assert words.startswith(known[key]["author"].partition(", ")[0]), (name, key)
            assert words.endswith(f"{known[key]['year']}."), (name, key)
        cited += len(entries)
    assert cited > 50


def test_first_lines_fit_and_functions_say_what_they_return_and_raise():
    for name, text in described():
        first, _, rest = text.partition("\n")
        assert len(first) < 80 and not rest.partition("\n")[0].strip(), name
        if inspect.isfunction(PUBLIC.get(name)):
            titles = re.findall(r"(?m)^(\w+)\n-+$", text)
            assert {"Returns", "Raises", "Examples"} <= set(titles), name


def test_designs_describe_every_parameter():
    for name in OBJECTS.values():
        if not name.startswith("shrinktest.power.designs.") or not is_dataclass(PUBLIC[name]):
            continue
        text = inspect.getdoc(PUBLIC[name])
        heads = re.findall(r"(?m)^([\w, ]+) : ", text)
        entries = {entry for head in heads for entry in head.split(", ")}
        assert {field.name for field in fields(PUBLIC[name]) if field.init} <= entries, name


def test_every_public_method_has_a_docstring():
    without = []
    for name in OBJECTS.values():
        if not inspect.isclass(PUBLIC[name]):
            continue
        for key, value in vars(PUBLIC[name]).items():
            described = callable(value) or isinstance(value, property | classmethod | staticmethod)
            if (
                described
                and not key.startswith("_")
                and not inspect.getdoc(getattr(PUBLIC[name], key))
            ):
                without.append(f"{name}.{key}")
    assert without == []


def test_the_api_pages_list_every_public_name_once():
    listed, module = [], ""
    pages = [path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("api*.rst"))]
    for line in "\n".join(pages).splitlines():
        module = (
            line.removeprefix(".. currentmodule:: ")
            if line.startswith(".. currentmodule::")
            else module
        )
        if re.fullmatch(r"   (?!api_)[A-Za-z_]\w*", line):
            listed.append(f"{module}.{line.strip()}")
    assert len(set(listed)) == len(listed)
    missing = [
        name for key, name in OBJECTS.items() if key not in {id(PUBLIC[other]) for other in listed}
    ]
    assert missing == [], "add them to docs/api*.rst"
    assert len(listed) == len(OBJECTS), "the same object twice"
