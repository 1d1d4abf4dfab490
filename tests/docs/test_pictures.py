"""The pictures of the reference: every page of what can be drawn has one, made by the call that it shows."""

from __future__ import annotations

import importlib
import inspect
import types

import docstrings
import pictures
import pytest
from PIL import Image

MODULES = [f"shrinktest{name}" for name in ("", ".power", ".risk")]
PAGES = {f"{m}.{name}".removeprefix("shrinktest."): f"{m}.{name}" for m in MODULES
         for name in importlib.import_module(m).__all__}  # fmt: skip


def found(page):
    module, _, name = PAGES[page].rpartition(".")
    return getattr(importlib.import_module(module), name)


def shown(page, folder):
    """A page as its docstring becomes it."""
    obj, lines = found(page), inspect.getdoc(found(page)).splitlines()
    what = "class" if inspect.isclass(obj) else "function"
    docstrings.simplest(types.SimpleNamespace(srcdir=folder), what, PAGES[page], obj, None, lines)
    return lines[: lines.index("Examples")]


def test_whatever_can_be_drawn_has_a_picture():
    assert pictures.DRAWN.keys() <= PAGES.keys()
    kinds = {page for page in PAGES if inspect.isclass(found(page)) and hasattr(found(page), "plot")}
    drawn = {page for page in kinds if "Examples\n" in inspect.getdoc(found(page))}  # others have it at their function
    assert len(drawn) >= 10 and drawn <= pictures.DRAWN.keys()


@pytest.mark.parametrize("page", pictures.DRAWN)
def test_pages_begin_with_the_simplest_call_and_its_picture(page, tmp_path):
    lines = shown(page, tmp_path)
    (place,) = [i for i, line in enumerate(lines) if line == f">>> {pictures.DRAWN[page][0]}"]
    assert lines[2].startswith(">>>") and "" not in lines[2 : place + 1]
    assert lines[place + 2] == f".. image:: /api/pictures/{page}.png"
    file = tmp_path / "api" / "pictures" / f"{page}.png"
    assert 2_000 < file.stat().st_size < 60_000
    with Image.open(file) as image:
        width, height = image.size
    assert width == 720 and 300 < height < 600


def test_pages_without_a_picture_begin_with_their_simplest_call(tmp_path):
    lines = shown("equivalence_test", tmp_path)
    assert lines[2].startswith(">>>") and not any("image::" in line for line in lines) and not any(tmp_path.iterdir())


def test_an_example_that_returns_something_else_fails(monkeypatch, tmp_path):
    monkeypatch.setitem(pictures.DRAWN, "two_sample_test", ("other.plot()", "nothing"))
    with pytest.raises(NameError, match="other"):
        shown("two_sample_test", tmp_path)
