"""The index of all notes by their codes, from the module that holds their texts."""

from __future__ import annotations

import inspect
import re
from string import Formatter

import folders  # noqa: F401 - makes the package importable

from shrinktest import notes


def values() -> dict[str, str]:
    """Return the tables of notes, with a heading for every group of them."""
    lines = inspect.getsource(notes).splitlines()
    start = lines.index(next(line for line in lines if line.startswith("TEXTS")))
    parts: list[str] = []
    for line in lines[start + 1 :]:
        if line == "}":
            break
        if heading := re.fullmatch(r"    # (.+)", line):
            title = heading[1][0].upper() + heading[1][1:]
            parts += ["", f"**{title}**", "", "| code | text |", "| --- | --- |"]
        elif entry := re.match(r'    "([\w-]+)":', line):
            parts.append(f"| `{entry[1]}` | {readable(notes.TEXTS[entry[1]])} |")
    return {"index": "\n".join(parts).strip()}


def readable(text: str) -> str:
    """Return the text of a note with an ellipsis for whatever differs between data sets."""
    parts = [
        literal + ("" if field is None else "…") for literal, field, _, _ in Formatter().parse(text)
    ]
    return "".join(parts).replace("|", "\\|").replace("*", "\\*")
