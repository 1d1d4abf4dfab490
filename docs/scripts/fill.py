"""Fill the marks of the pages with the values of their scripts; nothing is simulated here.

``python docs/scripts/fill.py`` writes all pages.  ``--check`` writes nothing and fails where a page differs from its
data, or says what the data do not hold.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
import sys
from functools import cache
from pathlib import Path

from folders import DOCS, ROOT
from marks import filled, sources


def pages() -> list[Path]:
    """Return the pages with marks."""
    paths = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
    return [path for path in paths if sources(path.read_text(encoding="utf-8"))]


@cache
def values_of(source: str) -> dict:
    """Return the values of a script: from the data files that it has left, if it is a study."""
    from _study import tables_of

    module = importlib.import_module(source)
    if hasattr(module, "page"):
        return {"section": section(module, tables_of(source))}
    if not (DOCS / "data" / f"{source}.csv").exists():
        return module.values()
    return module.values(tables_of(source))


def section(study, tables) -> str:
    """Return the section of a study that writes all of its prose."""
    alt = (
        study.alt(tables)
        if hasattr(study, "alt")
        else inspect.getdoc(study.chart).splitlines()[0].rstrip(".")
    )
    picture = f"![{alt}](figures/{study.NAME}.png)"
    parts = [
        re.sub(r"(?m)^#", "##", part) for part in study.page(tables)
    ]  # headings, below that of the study
    return "\n\n".join([study.opening(tables), picture, *parts])


def page_with_values(path: Path) -> tuple[str, list[str]]:
    """Return a page with its values, and its faults."""
    return filled(path.read_text(encoding="utf-8"), values_of)


def faults() -> list[str]:
    """Return what is wrong with the pages."""
    from checks import other_faults

    lines = []
    for path in pages():
        page, wrong = page_with_values(path)
        lines += [f"{path.name}: {fault}" for fault in wrong]
        if page != path.read_text(encoding="utf-8"):
            lines.append(f"{path.name} differs from its data: run docs/scripts/fill.py")
    return lines + other_faults()


def draw(folder: Path) -> None:
    """Draw the figures of all studies into a folder."""
    from _study import figures, tables_of

    for path in pages():
        for source in sources(path.read_text(encoding="utf-8")):
            chart = getattr(importlib.import_module(source), "chart", None)
            for name, figure in figures(source, tables_of(source) if chart else {}, chart).items():
                figure.savefig(folder / name, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; fail where a page differs from its data",
    )
    args = parser.parse_args()
    if args.check:
        wrong = faults()
        print("\n".join(wrong))
        sys.exit(bool(wrong))
    for path in pages():
        page, wrong = page_with_values(path)
        path.write_text(page, encoding="utf-8")
        print(path.relative_to(ROOT), *wrong, sep="\n    ")


if __name__ == "__main__":
    main()
