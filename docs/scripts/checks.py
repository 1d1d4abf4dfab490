"""What pages, tables and figures must have besides values that come from their data."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd
import references
import sentences
from folders import DOCS, ROOT, STUDIES
from marks import MARK, sources
from overview import ITEMS, NOT, NOTHING

# isort: split
import equivalence_levels
from _study import CONTRADICTED, read
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

PAGES = [*sorted(DOCS.glob("*.md")), *sorted(ROOT.glob("*.md"))]


def other_faults() -> list[str]:
    """Return the faults of all checks."""
    checks = (
        sections(),
        contradictions(),
        studies_without_a_page(),
        files_without_a_page(),
        sentences.faults(),
        unguarded_numbers(),
        overview(),
        references.faults(),
        levels_of_shortcuts(),
        levels_of_power_studies(),
        levels_of_equivalence(),
    )
    return [fault for check in checks for fault in check]


def text_of(path) -> str:
    return path.read_text(encoding="utf-8")


def studies() -> list[str]:
    """Return the names of all studies."""
    return sorted(path.stem for path in STUDIES.glob("[a-z]*.py"))


# --- pages ---------------------------------------------------------------------------------------------------------


def sections() -> Iterator[str]:
    """Every section of a study begins with two or three sentences whose numbers are its values, and a picture."""
    for path in PAGES:
        for source, section in re.findall(
            r"(?s)<!-- from (\w+) -->\n(.*?)(?=<!-- from |\Z)", text_of(path)
        ):
            picture = re.search(rf"(?m)^!\[(.+)\]\(figures/{source}\.png\)$", section)
            if source not in studies() or source == "shortcuts":
                continue
            opening = section[: picture.start()] if picture else ""
            said = re.sub(r"<!--.*?-->", "", opening).strip()
            number = len(re.split(r"(?<=[.;]) (?=[A-Z`])", said))
            if not (
                2 <= number <= 3
                and re.search(r"<!-- (?!from|holds)", opening)
                and (DOCS / "figures" / f"{source}.png").exists()
            ):
                yield f"{path.name}: the section of {source} needs two sentences with numbers, then its figure"


def contradictions() -> Iterator[str]:
    """No sentence is one that its table contradicts."""
    for path in PAGES:
        if CONTRADICTED in text_of(path):
            yield f"{path.name} says: {CONTRADICTED}"


def studies_without_a_page() -> Iterator[str]:
    """Every study has one section, which names its script."""
    named = [
        name
        for path in DOCS.glob("*.md")
        for name in re.findall(r"(?m)^Written by `python examples/studies/(\w+)\.py", text_of(path))
    ]
    filled = [source for path in PAGES for source in sources(text_of(path))]
    for study in studies():
        if named.count(study) != 1 or filled.count(study) != 1:
            yield f"{study} needs one section with its marks and its script"


def files_without_a_page() -> Iterator[str]:
    """Every data file and every figure belongs to a page."""
    text = "".join(text_of(path) for path in PAGES)
    for path in [*(DOCS / "data").iterdir(), *(DOCS / "figures").iterdir()]:
        name = path.relative_to(DOCS).as_posix()
        if f"({name})" not in text and f"(docs/{name})" not in text:
            yield f"docs/{name} is on no page"


#: Numbers that are no measurements: levels, shares of intervals, sizes in designs that the page sets itself.
CONSTANT = re.compile(
    r"\b95 ?%|0?\.05\b|\b5 ?%|\$[^$]*\$|`[^`]*`|\]\([^)]*\)|\[[A-Z]\w*\d\d\w*\]|Eckerle4|E\d+\b|\bd = 1\b"
)


#: Results of simulations, which sentences state on any page.
RATE = re.compile(
    r"\d ?%? of (?:all |such |the )?(?:data sets|series|streams|references|tables|simulations)|"
    r"reject(?:s|ed) in [^.]*\d ?%|power of \.?\d|\d percentage points"
)


def unguarded_numbers() -> Iterator[str]:
    """A number in a sentence with a link to a study, or with a rate, is in ``sentences`` or between marks."""
    of_studies = {
        path.stem for path in DOCS.glob("*.md") if set(sources(text_of(path))) & {*studies()}
    } - {"validity"}
    linked = re.compile(rf"\]\((?:{'|'.join(of_studies)})\.md")
    for path in DOCS.glob("*.md"):
        guarded = [
            sentences.plain(text)
            for text, _ in sentences.SENTENCES.get(f"docs/{path.name}", tuple)()
        ]
        text = MARK.sub("", re.sub(r"(?ms)^```.*?^```$", "", text_of(path)))
        text = re.sub(r"(?ms)^<!--.*?-->", "", text)
        for block in re.split(r"\n\s*\n|\n(?=[|*#-])", text):
            for said in re.split(r"(?<=[.:;]) (?=[A-Z`*\[])", sentences.plain(block)):
                measured = RATE.search(said)
                if path.stem not in of_studies:
                    measured = measured or linked.search(said)
                numbers = re.search(r"\d", CONSTANT.sub("", said))
                if (
                    measured
                    and numbers
                    and not any(known in said or said in known for known in guarded)
                ):
                    yield f"{path.name}: a number without a mark: {said}"


def overview() -> Iterator[str]:
    """Every published table and figure has its outcome: three and two, four and two, three and four by paper."""
    published = sorted(path.stem for path in (STUDIES / "published").glob("*.csv"))
    if sorted(item.file for item in ITEMS if item.file) != published:
        yield "overview: the items do not name every published table"
    named = " ".join(item.where for item in ITEMS)
    for paper, figures, tables in (("M14", 3, 2), ("S14", 4, 2), ("X20", 3, 4)):
        for kind, count in (("Fig.", figures), ("Table", tables)):
            numbers = re.findall(rf"\[{paper}\](?:, \[M13\])? {re.escape(kind)} (\d)", named)
            if numbers != [str(number) for number in range(1, count + 1)]:
                yield f"overview: [{paper}] has {count} of {kind}, the items have {numbers}"
    for item in ITEMS:
        verdicts = [verdict for verdict, _ in item.verdicts]
        unexplained = any(
            verdict == NOT and "because " not in rest for verdict, rest in item.verdicts
        )
        if not verdicts or (NOTHING in verdicts and len(verdicts) > 1) or unexplained:
            yield f"overview: {item.where} needs an outcome, with a reason where it does not reproduce"
        for page in re.findall(r"\((\w+)\.md", item.link):
            if not (DOCS / f"{page}.md").exists():
                yield f"overview: {item.where} links to {page}.md, which does not exist"


# --- levels in the data files --------------------------------------------------------------------------------------

#: The level of a shortcut by calculation, by what is done and the nominal level.
EXACT = {
    ("p = b/B", 0.05): 2 / 21,  # b is uniform on 0, ..., 20, and b <= 1 rejects
    ("p = b/B", 0.001): 1 / 101,  # only b = 0 does
    ("rejecting when p < alpha", 0.05): 0.0,
}


def levels_of_shortcuts() -> Iterator[str]:
    """The valid test never lies above its exact 99.9% region; harmless shortcuts and known levels lie inside."""
    for row in read(DOCS / "data" / "shortcuts.csv").itertuples():
        low, high = binom(row.trials, row.alpha).interval(0.999)
        harmful = row.kind == "harmless" and not low <= row.level * row.trials <= high
        level = EXACT.get((row.what, row.alpha))
        if level is not None:
            low, high = binom(row.trials, level).interval(0.999) if level else (0, 0)
        wrong = level is not None and not low <= row.level * row.trials <= high
        if (
            row.valid * row.trials > binom(row.trials, row.alpha).interval(0.999)[1]
            or harmful
            or wrong
        ):
            yield f"shortcuts: {row.what}, {row.where} has an impossible level"


def levels_of_power_studies() -> Iterator[str]:
    """Levels lie in the exact 99.9% region; four pairs have 24 permutations, and p-values are multiples of 1/24."""
    for name in ("eckerle4_power", "eckerle4_power_protocol", "mixture_power", "which_estimator"):
        rates = read(DOCS / "data" / f"{name}.csv")
        levels = rates[rates["null"]]
        if len(levels) < 72:
            yield f"{name}: there are only {len(levels)} levels"
        for row in levels.itertuples():
            few = row.design == "EckerleSubsample()" and row.n == 4
            attained = np.floor(24 * row.alpha + 1e-9) / 24 if few else row.alpha
            low, high = binom(row.trials, attained).interval(0.999)
            if not low <= row.power * row.trials <= high:
                yield f"{name}: an impossible level, {row.design}, {row.estimator}, n = {row.n}"


def levels_of_equivalence() -> Iterator[str]:
    """Sizes, numbers of data sets, intervals and levels are those of the page."""
    rates = pd.read_csv(DOCS / "data" / "equivalence_levels.csv").fillna({"reading": ""})
    enough = rates.loc[rates["n"] < 1000, "trials"].min() >= 2000 and rates["trials"].min() >= 1000
    if set(rates["n"]) != {20, 50, 200, 1000} or not enough:
        yield "equivalence_levels: a size is missing, or data sets are too few"
    low, high = proportion_confint(
        (rates["rejected"] * rates["trials"]).round(), rates["trials"], method="beta"
    )
    if not np.allclose(rates[["low", "high"]].to_numpy().T, (low, high)):
        yield "equivalence_levels: the intervals are not those of the rates"
    margin = rates["what"] == "at the margin"
    best = rates["reading"] == equivalence_levels.BEST
    if (
        rates.loc[margin & ~best, "rejected"].max() > 0.08
        or rates.loc[margin & best, "rejected"].max() < 0.9
    ):
        yield "equivalence_levels: the levels are not what the pages say"
