"""Tables inside pages that are written by hand: every number between two marks comes from a script."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path

from _study import ROOT

DOCS = ROOT / "docs"


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- /{re.escape(name)} -->)", re.DOTALL)


def block(page: str, name: str) -> str:
    """Return the text between the marks `name` of a page."""
    match = _pattern(name).search((DOCS / f"{page}.md").read_text(encoding="utf-8"))
    if match is None:
        raise ValueError(f"docs/{page}.md has no marks <!-- {name} --> and <!-- /{name} -->")
    return match[0][len(match[1]) : -len(match[2])].strip("\n")


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


def run(description: str, page: str, blocks: Callable[[], dict[str, str]]) -> None:
    """Run the command line of a script that fills a page from data files and simulates nothing."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="print the tables and write nothing")
    parser.add_argument("--out", type=Path, default=DOCS, help="folder of the page (default: docs)")
    args = parser.parse_args()
    contents = blocks()
    show(contents)
    if not args.quick:
        args.out.mkdir(parents=True, exist_ok=True)
        fill(args.out, page, contents)
