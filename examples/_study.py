"""What the study scripts share: their options, and where their tables and figures go.

A study that has run leaves data files and a page, and the page is a function of the data files: every study has a
``NAME``, a ``TITLE`` and ``page(tables)``, and ``python examples/_study.py`` writes all pages again without running
anything.  A page starts with a picture and two sentences: ``opening(tables)`` are the sentences, and ``chart(tables)``
draws the picture where the study itself does not.  What ``alt(tables)`` says, or else the docstring of the chart,
stands for the picture where that cannot be seen.  Long tables are folded.  Numbers in sentences are computed from the
tables, and a sentence without numbers that says what the data show is a ``claim``.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import re
import sys
from functools import partial
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
PUBLISHED = Path(__file__).resolve().parent / "published"
#: Tables with more rows are folded.
LONG = 12
#: What stands before a sentence that the data contradict.
CONTRADICTED = "Not in these data: "


def options(
    description: str, trials: int, quick: int, data: bool = False, only: tuple[str, ...] = ()
) -> argparse.Namespace:
    """The command line of a study: how many trials, in how many processes, and where the results are written.

    With ``data`` also the folder of the data sets that are not part of the project, and with names in ``only`` which
    part of the methods is run now.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help=f"{quick} trials instead of {trials}; writes no docs")
    parser.add_argument("--trials", type=int, help="another number of trials")
    parser.add_argument("--workers", type=int, help="processes (default: all cores)")
    parser.add_argument("--store", type=Path, help="keep the trials in this folder, to go on after an interruption")
    parser.add_argument("--out", type=Path, help="folder for tables and figures (default: docs; with --quick: none)")
    if data:
        parser.add_argument("--data", type=Path, help="folder of data sets that are not part of the project")
    if only:
        parser.add_argument("--only", choices=only, help="run these and keep them in --store; the page is not written")
    args = parser.parse_args()
    if only and args.only and not args.store:
        parser.error("--only needs --store, where the next run finds what this one kept")
    args.trials = args.trials or (quick if args.quick else trials)
    args.out = args.out or (None if args.quick else ROOT / "docs")
    return args


def store(args: argparse.Namespace, name: str) -> Path | None:
    """The file that keeps the trials of one part of a study."""
    if args.store is None:
        return None
    args.store.mkdir(parents=True, exist_ok=True)
    return args.store / f"{name}.sqlite"


def parts(args: argparse.Namespace, name: str, jobs: list[partial]) -> pd.DataFrame:
    """The rows of all jobs of a study, each a function that returns some; those that are stored are not run again."""
    folder = None if args.store is None else args.store / f"{name}-{args.trials}"
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)

    def done(number: int, job: partial) -> pd.DataFrame:
        path = None if folder is None else folder / f"{number}.csv"
        if path is not None and path.exists():
            return read(path)
        found = pd.DataFrame(job())
        if path is not None:
            found.to_csv(path, index=False)
        return found

    from joblib import Parallel, delayed

    workers = args.workers or len(os.sched_getaffinity(0))
    frames = Parallel(n_jobs=workers)(delayed(done)(number, job) for number, job in enumerate(jobs))
    return pd.concat(frames, ignore_index=True)


def write(args: argparse.Namespace, name: str, title: str, parts: list[str], tables, figure=None) -> None:
    """Print the page; unless it is a quick run, write it with its data files and its figure.

    ``tables`` is what the page is made of: a data frame, which goes to ``data/name.csv``, or a dict of such, with the
    key "" for that file and others for ``data/name_key.csv``.
    """
    trials = f" --trials {args.trials}" if "--trials" in sys.argv else ""
    data = " --data DIR" if getattr(args, "data", None) is not None else ""
    command = f"python examples/{Path(sys.argv[0]).name}{data}{trials}"
    tables = tables if isinstance(tables, dict) else {"": tables}
    study = importlib.import_module(name)
    if hasattr(study, "chart"):
        figure = study.chart(tables)
    page = text(name, title, parts, tables, command, study)
    print(page)
    if args.out is None:
        return
    for folder in ("data", "figures"):
        (args.out / folder).mkdir(parents=True, exist_ok=True)
    for key, table in tables.items():
        table.to_csv(args.out / file(name, key), index=False, lineterminator="\n")
    if figure is not None:
        figure.savefig(args.out / "figures" / f"{name}.png", dpi=130)
    (args.out / f"{name}.md").write_text(page, encoding="utf-8")


def text(name: str, title: str, parts: list[str], tables, command: str, study) -> str:
    """The page of a study: what came out, the picture, the parts, and where the numbers are."""
    files = [f"[`{file(name, key)}`]({file(name, key)})" for key in sorted(tables)]
    alt = study.alt(tables) if hasattr(study, "alt") else inspect.getdoc(study.chart).splitlines()[0].rstrip(".")
    picture = f"![{alt}](figures/{name}.png)"
    where = f"Written by `{command}`; the numbers are in {' and '.join(files)}.\n"
    return folded("\n\n".join([f"# {title}", study.opening(tables), picture, *parts, where]))


def folded(page: str) -> str:
    """The page with its long tables folded: a click, or a key, opens them."""

    def fold(found: re.Match) -> str:
        rows = found[0].count("\n") - 2
        if rows <= LONG:
            return found[0]
        return f"<details>\n<summary>The table: {rows} rows</summary>\n\n{found[0]}\n</details>\n"

    return re.sub(r"(?m)(?:^\|.*\n)+", fold, page)


def claim(sentence: str, holds: bool) -> str:
    """A sentence without numbers, marked where the data contradict it, which no published page may have."""
    return sentence if holds else CONTRADICTED + sentence


def file(name: str, key: str) -> str:
    """Where a table of a study is kept, below the folder of its page."""
    return f"data/{name}_{key}.csv" if key else f"data/{name}.csv"


def tables_of(name: str, folder: Path = ROOT / "docs") -> dict[str, pd.DataFrame]:
    """The tables that a study has left, by key."""
    paths = [folder / file(name, ""), *sorted((folder / "data").glob(f"{name}_*.csv"))]
    return {path.stem[len(name) + 1 :]: read(path) for path in paths}


def read(path: Path) -> pd.DataFrame:
    """A table as it was written, numbers to the last bit (which older readers of pandas lose)."""
    cells = pd.read_csv(path, dtype=str, keep_default_na=False)
    return cells.apply(_typed)


def _typed(column: pd.Series) -> pd.Series:
    values = list(column)
    if set(values) <= {"True", "False"}:
        return column == "True"
    for kind in (int, float):
        try:
            return pd.Series([kind(value) if value else float("nan") for value in values], index=column.index)
        except ValueError:
            continue
    return column


def rebuilt(name: str, folder: Path = ROOT / "docs") -> str:
    """The page of a study, made again from its data files and its script."""
    study = importlib.import_module(name)
    tables = tables_of(name, folder)
    old = (folder / f"{name}.md").read_text(encoding="utf-8")
    command = re.search(rf"(?m)^Written by `(python examples/{name}\.py(?: --data DIR)?(?: --trials \d+)?)`;", old)[1]
    return text(name, study.TITLE, study.page(tables), tables, command, study)


def studies(folder: Path = ROOT / "docs") -> list[str]:
    """The names of the pages that are made of data files by a script of the same name."""
    here = Path(__file__).resolve().parent
    return sorted(path.stem for path in folder.glob("*.md") if (here / path.name).with_suffix(".py").exists())


def markdown(frame) -> str:
    """A data frame as a Markdown table, numbers to three places; these stay on one line with their errors and stars."""

    def text(value) -> str:
        if isinstance(value, float):
            return f"{value:.3f}"
        return re.sub(r"(?<=[]\d]) \*(?= \(|$)", "\u00a0*", str(value)).replace(" ± ", "\u00a0±\u00a0")

    rows = [list(map(str, frame.columns)), ["---"] * len(frame.columns)]
    rows += [[text(v) for v in row] for row in frame.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    for study in sys.argv[1:] or studies():
        if chart := getattr(importlib.import_module(study), "chart", None):
            chart(tables_of(study)).savefig(ROOT / "docs" / "figures" / f"{study}.png", dpi=130)
        (ROOT / "docs" / f"{study}.md").write_text(rebuilt(study), encoding="utf-8")
        print(f"docs/{study}.md")
