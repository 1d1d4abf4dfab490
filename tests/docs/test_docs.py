"""The pages show what their code prints; public names, their docstrings and examples."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import outputs
import pytest

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
