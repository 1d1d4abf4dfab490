"""Tables inside pages that are written by hand: every number between two marks comes from a script."""

from __future__ import annotations

import re
from pathlib import Path

from _study import ROOT

DOCS = ROOT / "docs"


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- /{re.escape(name)} -->)", re.DOTALL)


def block(page: str, name: str) -> str:
    """What stands between the marks `name` of a page."""
    found = _pattern(name).search((DOCS / f"{page}.md").read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"docs/{page}.md has no marks <!-- {name} --> and <!-- /{name} -->")
    return found[0][len(found[1]) : -len(found[2])].strip("\n")


def fill(out: Path, page: str, blocks: dict[str, str]) -> None:
    """Replace what stands between the marks of each block; the page in `out` is made from the one in docs."""
    path = out / f"{page}.md"
    text = (path if path.exists() else DOCS / f"{page}.md").read_text(encoding="utf-8")
    for name, content in blocks.items():
        text, count = _pattern(name).subn(lambda m, c=content: f"{m[1]}\n{c}\n\n{m[2]}", text)
        if count != 1:
            raise ValueError(f"{page}.md needs the marks <!-- {name} --> and <!-- /{name} --> once; found {count}")
    path.write_text(text, encoding="utf-8")


def show(blocks: dict[str, str]) -> None:
    """Print the blocks."""
    for name, content in blocks.items():
        print(f"## {name}\n\n{content}\n")
