"""Options, stored trials, data files and tables of the study scripts.

A study has ``measured(args)``, its simulation, which returns data frames; ``values(tables)``, the numbers, tables and
claims of its section of a page; and ``chart(tables)``, its figure.  The prose is in the page, ``docs/*.md``, and
``docs/scripts/fill.py`` puts the values between its marks.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = Path(__file__).resolve().parent / "published"
#: What stands before a sentence that the data contradict.
CONTRADICTED = "Not in these data: "


def options(
    description: str, trials: int, quick: int, data: bool = False, only: tuple[str, ...] = ()
) -> argparse.Namespace:
    """Read the command line of a study: how many trials, in how many processes, and where results are written.

    With ``data`` also the folder of the data sets that are not part of the project, and with names in ``only`` which
    part of the methods is run now.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--quick", action="store_true", help=f"{quick} trials instead of {trials}; writes nothing"
    )
    parser.add_argument("--trials", type=int, help="another number of trials")
    parser.add_argument("--workers", type=int, help="processes (default: all cores)")
    parser.add_argument(
        "--store", type=Path, help="keep the trials in this folder, to go on after an interruption"
    )
    parser.add_argument(
        "--out", type=Path, help="folder for tables and figures (default: docs; with --quick: none)"
    )
    if data:
        parser.add_argument(
            "--data", type=Path, help="folder of data sets that are not part of the project"
        )
    if only:
        parser.add_argument(
            "--only", choices=only, help="run these and keep them in --store; no table is written"
        )
    args = parser.parse_args()
    if only and args.only and not args.store:
        parser.error("--only needs --store, where the next run finds what this one kept")
    args.trials = args.trials or (quick if args.quick else trials)
    args.out = args.out or (None if args.quick else ROOT / "docs")
    return args


def run(
    description: str,
    name: str,
    measured: Callable,
    values: Callable,
    chart: Callable | None,
    **numbers,
) -> None:
    """Run a study from the command line; ``numbers`` are the further arguments of ``options``.

    ``measured(args)`` returns a data frame, or several by key.
    """
    args = options(description.splitlines()[0], **numbers)
    save(args, name, measured(args), values, chart)


def save(
    args: argparse.Namespace, name: str, tables, values: Callable, chart: Callable | None
) -> None:
    """Print the values of a study and write its tables and its figure to ``args.out``, unless that is None."""
    tables = tables if isinstance(tables, dict) else {"": tables}
    for key, value in values(tables).items():
        print(f"{key}: {value}")
    drawn = figures(name, tables, chart)
    if args.out is None:
        return
    for folder in ("data", "figures"):
        (args.out / folder).mkdir(parents=True, exist_ok=True)
    for key, table in tables.items():
        table.to_csv(args.out / file(name, key), index=False, lineterminator="\n")
    for file_name, figure in drawn.items():
        figure.savefig(args.out / "figures" / file_name, dpi=130)


def figures(name: str, tables, chart: Callable | None) -> dict:
    """Return the figures of a study by the names of their files.

    ``chart(tables)`` returns a figure, or several by what follows the name of the study in that of the file.
    """
    if chart is None:
        return {}
    drawn = chart(tables)
    parts = drawn if isinstance(drawn, dict) else {"": drawn}
    return {f"{name}{part}.png": figure for part, figure in parts.items()}


def write(args: argparse.Namespace, name: str, title: str, parts: list[str], tables) -> None:
    """Print the section of a study that writes all of its prose, and save its tables and its figure."""
    study = importlib.import_module(name)
    save(args, name, tables, lambda tables: {title: "\n\n".join(parts)}, study.chart)


def store(args: argparse.Namespace, name: str) -> Path | None:
    """Return the file that keeps the trials of one part of a study."""
    if args.store is None:
        return None
    args.store.mkdir(parents=True, exist_ok=True)
    return args.store / f"{name}.sqlite"


def parts(args: argparse.Namespace, name: str, jobs: list[partial]) -> pd.DataFrame:
    """Return the rows of all jobs of a study, functions that return some; those that are stored are not run again."""
    folder = None if args.store is None else args.store / f"{name}-{args.trials}"
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)

    def done(number: int, job: partial) -> pd.DataFrame:
        path = None if folder is None else folder / f"{number}.csv"
        if path is not None and path.exists():
            return read(path)
        frame = pd.DataFrame(job())
        if path is not None:  # a killed run leaves no half of a file
            part = path.with_suffix(".part")
            frame.to_csv(part, index=False)
            part.replace(path)
        return frame

    return pd.concat(in_processes(args, done, enumerate(jobs)), ignore_index=True)


def in_processes(args: argparse.Namespace, function: Callable, arguments) -> list:
    """Return what a function gives for each tuple of arguments, in order."""
    from joblib import Parallel, delayed

    workers = args.workers or len(os.sched_getaffinity(0))
    return Parallel(n_jobs=workers)(delayed(function)(*some) for some in arguments)


def claim(sentence: str, holds: bool) -> str:
    """Return a sentence without numbers, marked where the data contradict it, which no page may have."""
    return sentence if holds else CONTRADICTED + sentence


def file(name: str, key: str) -> str:
    """Return the path of a table of a study, below the folder of its page."""
    return f"data/{name}_{key}.csv" if key else f"data/{name}.csv"


def tables_of(name: str, folder: Path = ROOT / "docs") -> dict[str, pd.DataFrame]:
    """Return the tables that a study has left, by key."""
    paths = [folder / file(name, ""), *sorted((folder / "data").glob(f"{name}_*.csv"))]
    return {path.stem[len(name) + 1 :]: read(path) for path in paths}


def read(path: Path) -> pd.DataFrame:
    """Read a table as it was written, numbers to the last bit (which older readers of pandas lose)."""
    cells = pd.read_csv(path, dtype=str, keep_default_na=False)
    return cells.apply(_typed)


def _typed(column: pd.Series) -> pd.Series:
    values = list(column)
    if set(values) <= {"True", "False"}:
        return column == "True"
    for kind in (int, float):
        try:
            return pd.Series(
                [kind(value) if value else float("nan") for value in values], index=column.index
            )
        except ValueError:
            continue
    return column


def percent(value) -> str:
    """Return a proportion as a percentage that agrees with its three places in a table: it is rounded once."""
    return f"{round(float(value), 3):.1%}"


def span(values, form: str = ".1%") -> str:
    """Return the range of some numbers."""
    if form == ".1%":
        return f"{percent(values.min())} to {percent(values.max())}"
    return f"{values.min():{form}} to {values.max():{form}}"


def markdown(frame) -> str:
    """Return a Markdown table, numbers to three places; these stay on one line with their errors and stars."""

    def text(value) -> str:
        if isinstance(value, float):
            return f"{value:.3f}"
        return re.sub(r"(?<=[]\d]) \*(?= \(|$)", "\u00a0*", str(value)).replace(
            " ± ", "\u00a0±\u00a0"
        )

    rows = [list(map(str, frame.columns)), ["---"] * len(frame.columns)]
    rows += [[text(v) for v in row] for row in frame.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
