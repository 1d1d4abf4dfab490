"""Marks in pages: between ``<!-- name -->`` and ``<!-- /name -->`` stands a value that a script has computed.

``<!-- from source -->`` says which script the values of the following marks come from.  ``<!-- holds: name -->`` after
a sentence without numbers, or above a picture, says that the data must agree with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from numbers import Integral

MARK = re.compile(
    r"<!-- from (?P<source>\w+) -->"
    r"|<!-- holds: (?P<claim>\w+) -->"
    r"|<!-- (?P<name>\w[\w: ]*) -->(?P<text>.*?)<!-- /(?P=name) -->",
    re.DOTALL,
)


def filled(text: str, values_of: Callable[[str], dict]) -> tuple[str, list[str]]:
    """Return a page with its values, and its faults: claims that do not hold, and values without a mark.

    Parameters
    ----------
    text : str
        The page.
    values_of : callable
        From the name of a source to its values: True or False for claims, anything else for the text of a mark.
    """
    values: dict[str, dict] = {}
    marked: dict[str, set[str]] = {}
    source = ""
    faults: list[str] = []

    def put(mark: re.Match) -> str:
        nonlocal source
        if mark["source"]:
            source = mark["source"]
            values.setdefault(source, values_of(source))
            marked.setdefault(source, set())
            return mark[0]
        name = mark["claim"] or mark["name"]
        if name not in values.get(source, {}):
            faults.append(f"{source or 'no source'} has no value {name}")
            return mark[0]
        marked[source].add(name)
        value = values[source][name]
        if mark["claim"]:
            if not value:
                faults.append(f"{source}: {name} does not hold")
            return mark[0]
        content = f"\n\n{value}\n\n" if mark["text"].startswith("\n") else text_of(value)
        return f"<!-- {name} -->{content}<!-- /{name} -->"

    page = MARK.sub(put, text)
    for source, names in marked.items():
        faults += [f"{source}: {name} has no mark" for name in values[source] if name not in names]
    return page, faults


def text_of(value) -> str:
    """Return a value as text: whole numbers of four digits or more with commas, as in 4,000."""
    return f"{value:,}" if isinstance(value, Integral) else str(value)


def sources(text: str) -> list[str]:
    """Return the names of all sources of a page, in its order."""
    return list(dict.fromkeys(re.findall(r"<!-- from (\w+) -->", text)))
