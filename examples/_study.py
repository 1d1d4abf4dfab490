"""Options, data files, figures and pages of the study scripts.

A study leaves data files, and its section of a page is a function of these: every study has a ``NAME``, a ``TITLE`` and
``page(tables)``; ``PAGES`` says which studies make up a page, and ``python examples/_study.py`` writes all pages again
without running a study.  A section starts with two sentences (``opening(tables)``) and a figure (``chart(tables)``,
with ``alt(tables)`` or the chart's docstring as alternative text).  Long tables are in the data files only.  Numbers in
sentences are computed from the tables; a sentence without numbers that says what the data show is a ``claim``.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import re
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
PUBLISHED = Path(__file__).resolve().parent / "published"
#: Tables with more rows are in the data files only.
LONG = 12
#: What stands before a sentence that the data contradict.
CONTRADICTED = "Not in these data: "


class Page(NamedTuple):
    """A page of studies: its title, what it is about, and for each study the title of its section."""

    title: str
    opening: str
    sections: dict[str, str]


PAGES = {
    "levels": Page(
        "Level of the tests",
        "A test at the 5% level should reject a true null hypothesis in 5% of data sets: its Type I error rate. Each "
        "section counts false positives of one family of tests on thousands of simulated data sets.",
        {
            "kernel_levels": "Kernels and auto",
            "new_tests_levels": "Several samples, variables and columns",
            "restricted_levels": "Blocks, pairs, clusters and series",
            "mixed_tables": "Mixed tables",
            "closer_levels": "Which sample is closer",
            "given_levels": "Conditional independence",
            "equivalence_levels": "Equivalence",
            "rare_levels": "Equivalence of rare values",
            "change_levels": "Change points and autocorrelated rows",
            "large_pairs": "Pairs on disk",
        },
    ),
    "coverage": Page(
        "Coverage of confidence intervals",
        "A 95% interval should contain the true effect in 95% of data sets.",
        {
            "effect_intervals": "Effects of two samples",
            "effect_coverage": "Differences and dependences",
            "group_coverage": "Groups and blocks",
            "limit_coverage": "Few values, effects near 1, and blocks",
        },
    ),
    "leaderboard": Page(
        "Power compared with other tests",
        "The share of data sets in which each test finds a difference that exists, on the same data for all tests.",
        {"leaderboard": "Two samples and independence", "change_power": "Change points"},
    ),
    "which": Page(
        "Which estimator, which kernel",
        "Power of each kernel mean estimator and each kernel, and what combining them gains and costs.",
        {
            "which_estimator": "Estimators",
            "which_kernel": "Kernels",
            "aggregation": "Combining statistics",
        },
    ),
    "shortcut_costs": Page(
        "What early stopping and approximations cost",
        "Stopping permutations early and testing rows on disk keep the level. These studies measure power and time.",
        {
            "sequential_tests": "Stopping early",
            "large_power": "Bins and rank",
            "large_demo": "Time and memory of rows on disk",
        },
    ),
    "reproduced_tests": Page(
        "Reproduction: tests",
        "The published powers of tests with shrunken and marginalized kernel means.",
        {"mixture_power": "Mixtures of Gaussians", "eckerle4_power": "Eckerle4"},
    ),
    "reproduced_risk": Page(
        "Reproduction: risk of the estimators",
        "How close each estimator comes to the true kernel mean, and how fast.",
        {
            "risk_study": "Risk",
            "filter_rates": "Rates of convergence",
            "paper_figures": "The papers' figures",
        },
    ),
    "reproduced_densities": Page(
        "Reproduction: density estimation",
        "Densities fitted by kernel mean matching, scored on held-out rows.",
        {"density_nll": "Data sets of the papers", "t_density": "Heavy tails"},
    ),
    "reproduced_machines": Page(
        "Reproduction: kernel PCA and support measure machines",
        "Learning with shrunken kernel means in place of averages.",
        {
            "kpca_reconstruction": "Kernel PCA",
            "smm_digits": "Digits",
            "group_anomaly": "Unusual groups",
        },
    ),
}


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
        frame = pd.DataFrame(job())
        if path is not None:
            frame.to_csv(path, index=False)
        return frame

    from joblib import Parallel, delayed

    workers = args.workers or len(os.sched_getaffinity(0))
    frames = Parallel(n_jobs=workers)(delayed(done)(number, job) for number, job in enumerate(jobs))
    return pd.concat(frames, ignore_index=True)


def write(args: argparse.Namespace, name: str, title: str, parts: list[str], tables, figure=None) -> None:
    """Print the section of a study; unless it is a quick run, write its data files, its figure and its page.

    ``tables`` is a data frame, which goes to ``data/name.csv``, or a dict of data frames, with the key "" for that
    file and others for ``data/name_key.csv``.
    """
    trials = f" --trials {args.trials}" if "--trials" in sys.argv else ""
    data = " --data DIR" if getattr(args, "data", None) is not None else ""
    command = f"python examples/{Path(sys.argv[0]).name}{data}{trials}"
    tables = tables if isinstance(tables, dict) else {"": tables}
    study = importlib.import_module(name)
    if hasattr(study, "chart"):
        figure = study.chart(tables)
    print(section(name, title, parts, tables, command, study))
    if args.out is None:
        return
    for folder in ("data", "figures"):
        (args.out / folder).mkdir(parents=True, exist_ok=True)
    for key, table in tables.items():
        table.to_csv(args.out / file(name, key), index=False, lineterminator="\n")
    if figure is not None:
        figure.savefig(args.out / "figures" / f"{name}.png", dpi=130)
    page = page_of(name)
    if all((args.out / file(other, "")).exists() for other in PAGES[page].sections):
        (args.out / f"{page}.md").write_text(rebuilt(page, args.out, {name: command}), encoding="utf-8")


def section(name: str, title: str, parts: list[str], tables, command: str, study) -> str:
    """Return the section of a study: headline result, picture, parts, and where the numbers are."""
    files = [f"[`{file(name, key)}`]({file(name, key)})" for key in sorted(tables)]
    alt = study.alt(tables) if hasattr(study, "alt") else inspect.getdoc(study.chart).splitlines()[0].rstrip(".")
    picture = f"![{alt}](figures/{name}.png)"
    where = f"Written by `{command}`; the numbers are in {' and '.join(files)}.\n"
    lower = [re.sub(r"(?m)^#", "##", part) for part in parts]  # headings, below that of the study
    return without_long_tables("\n\n".join([f"## {title}", study.opening(tables), picture, *lower, where]))


def without_long_tables(text: str) -> str:
    """Return the text with the number of rows in place of each table of more than ``LONG`` rows."""

    def shorten(match: re.Match) -> str:
        rows = match[0].count("\n") - 2
        return match[0] if rows <= LONG else f"(A table of {rows} rows, in the data.)\n"

    return re.sub(r"(?m)(?:^\|.*\n)+", shorten, text)


def claim(sentence: str, holds: bool) -> str:
    """A sentence without numbers, marked where the data contradict it, which no published page may have."""
    return sentence if holds else CONTRADICTED + sentence


def file(name: str, key: str) -> str:
    """Return the path of a table of a study, below the folder of its page."""
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


def rebuilt(page: str, folder: Path = ROOT / "docs", commands: Mapping[str, str] | None = None) -> str:
    """Return a page made again from its data files; ``commands`` has those of studies that were run just now."""
    path = folder / f"{page}.md"
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    texts = [f"# {PAGES[page].title}\n\n{PAGES[page].opening}\n"]
    for name, title in PAGES[page].sections.items():
        study, tables = importlib.import_module(name), tables_of(name, folder)
        written = re.search(rf"(?m)^Written by `(python examples/{name}\.py(?: --data DIR)?(?: --trials \d+)?)`;", old)
        command = (commands or {}).get(name) or (written[1] if written else f"python examples/{name}.py")
        texts.append(section(name, title, study.page(tables), tables, command, study))
    return "\n".join(texts)


def page_of(study: str) -> str:
    """Return the page that has the section of a study."""
    return next(page for page, contents in PAGES.items() if study in contents.sections)


def studies() -> list[str]:
    """Return the names of all studies."""
    return [name for contents in PAGES.values() for name in contents.sections]


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
    for page in sys.argv[1:] or PAGES:
        for study in PAGES[page].sections:
            if chart := getattr(importlib.import_module(study), "chart", None):
                chart(tables_of(study)).savefig(ROOT / "docs" / "figures" / f"{study}.png", dpi=130)
        text = rebuilt(page)
        (ROOT / "docs" / f"{page}.md").write_text(text, encoding="utf-8")
        print(f"docs/{page}.md")
