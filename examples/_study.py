"""What the study scripts share: their options, and where their tables and figures go."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PUBLISHED = Path(__file__).resolve().parent / "published"


def options(description: str, trials: int, quick: int) -> argparse.Namespace:
    """The command line of a study: how many trials, in how many processes, and where the results are written."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help=f"{quick} trials instead of {trials}; writes no docs")
    parser.add_argument("--trials", type=int, help="another number of trials")
    parser.add_argument("--workers", type=int, help="processes (default: all cores)")
    parser.add_argument("--store", type=Path, help="keep the trials in this folder, to go on after an interruption")
    parser.add_argument("--out", type=Path, help="folder for tables and figures (default: docs; with --quick: none)")
    args = parser.parse_args()
    args.trials = args.trials or (quick if args.quick else trials)
    args.out = args.out or (None if args.quick else ROOT / "docs")
    return args


def store(args: argparse.Namespace, name: str) -> Path | None:
    """The file that keeps the trials of one part of a study."""
    if args.store is None:
        return None
    args.store.mkdir(parents=True, exist_ok=True)
    return args.store / f"{name}.sqlite"


def write(args: argparse.Namespace, name: str, title: str, parts: list[str], table, figure=None) -> None:
    """Print the page; unless it is a quick run, write it with its CSV and its figure."""
    trials = f" --trials {args.trials}" if "--trials" in sys.argv else ""
    command = f"python examples/{Path(sys.argv[0]).name}{trials}"
    page = "\n\n".join([f"# {title}", *parts])
    print(page)
    if args.out is None:
        return
    for folder in ("data", "figures"):
        (args.out / folder).mkdir(parents=True, exist_ok=True)
    table.to_csv(args.out / "data" / f"{name}.csv", index=False, lineterminator="\n")
    if figure is not None:
        figure.savefig(args.out / "figures" / f"{name}.png", dpi=130)
        page += f"\n\n![{title}](figures/{name}.png)"
    page += f"\n\nWritten by `{command}`; the numbers are in [`data/{name}.csv`](data/{name}.csv).\n"
    (args.out / f"{name}.md").write_text(page, encoding="utf-8")


def markdown(frame) -> str:
    """A data frame as a Markdown table, numbers to three places."""

    def text(value) -> str:
        return f"{value:.3f}" if isinstance(value, float) else str(value)

    rows = [list(map(str, frame.columns)), ["---"] * len(frame.columns)]
    rows += [[text(v) for v in row] for row in frame.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
