"""The external links of the pages, the bibliography and the docstrings, listed in docs/links.csv with their last check.

``python docs/scripts/links.py`` writes the list again and keeps the dates; ``--check`` fetches every address and dates
those that answer.  Some sites refuse programs: what they answer is in the list, and a person has to look.
"""

from __future__ import annotations

import argparse
import csv
import re
import urllib.error
import urllib.request
from datetime import UTC, datetime
from pathlib import Path

from folders import ROOT

LIST = ROOT / "docs" / "links.csv"
ADDRESS = re.compile(r"https?://[\w.-]+\.[a-z]{2,}[^\s<>\"'`{}|\\]*")


def external_links() -> dict[str, str]:
    """Return every external address, and the first file that has it."""
    sources = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").glob("*.md"),
        ROOT / "shrinktest" / "references.bib",
        ROOT / "CITATION.cff",
    ]
    sources += [
        *(ROOT / "shrinktest").rglob("*.py"),
        *(ROOT / "examples" / "gallery").rglob("plot_*.py"),
    ]
    places: dict[str, str] = {}
    for path in sorted(sources):
        text = path.read_text(encoding="utf-8")
        addresses = [match.rstrip(".,;:)") for match in ADDRESS.findall(text)]
        if path.suffix == ".bib":
            addresses += [
                f"https://doi.org/{doi}" for doi in re.findall(r"(?m)^\s*doi = \{(.+)\}", text)
            ]
        for address in addresses:
            places.setdefault(address, path.relative_to(ROOT).as_posix())
    return dict(sorted(places.items()))


def listed(path: Path = LIST) -> dict[str, dict[str, str]]:
    """Return the list, by address; empty if it does not exist yet."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as lines:
        return {row["address"]: row for row in csv.DictReader(lines)}


def answer(address: str) -> str:
    """Return the answer of a site: ``ok``, a status such as 404, or what went wrong."""
    request = urllib.request.Request(address, headers={"User-Agent": "Mozilla/5.0 (link check)"})
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            return "ok" if response.status < 400 else str(response.status)
    except urllib.error.HTTPError as error:
        return str(error.code)
    except OSError as error:
        return f"no answer: {error}".split("\n")[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fetch every address")
    args = parser.parse_args()
    old, rows = listed(), []
    for address, place in external_links().items():
        known = old.get(address, {"checked": "", "answer": "not checked yet"})
        row = {
            "address": address,
            "in": place,
            "checked": known["checked"],
            "answer": known["answer"],
        }
        if args.check:
            row["answer"] = answer(address)
            if row["answer"] == "ok":
                row["checked"] = datetime.now(UTC).date().isoformat()
            print(row["answer"], address, flush=True)
        rows.append(row)
    with LIST.open("w", encoding="utf-8", newline="") as lines:
        table = csv.DictWriter(lines, ["address", "in", "checked", "answer"], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
