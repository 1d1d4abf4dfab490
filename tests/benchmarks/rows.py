"""What a benchmark leaves behind: rows of ratios, kept in a data file and shown as one page."""

from __future__ import annotations

import csv
import importlib.metadata
import os
import platform
import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path

#: Sections of the page, in order: the group of a row, its heading, and what the numbers in it are.
GROUPS = {
    "targets": "Promises: what the package promises about its speed, the promises that it misses first.",
    "numpy": "Estimators against numpy: one core each, the loop one would write in numpy, refitted in every split; "
    "the loop runs over a few permutations and its time is scaled to the same number.",
    "peers": "Other packages, warm: all code compiled and loaded, on the same data with as many permutations.",
    "cold": "Other packages, cold: a whole process that starts, imports and tests once, compiled code cached on disk.",
    "floor": "The floor: the bare matrix product that the answer needs, in the same precision, on the same cores.",
    "scaling": "Scaling: the exponent p of time ~ size^p, fitted to the medians on logarithmic axes; and the times "
    "that error messages for too little memory predict for one core, beside the processor time that the tests then "
    "took.",
    "memory": "Memory: the peak of a process that does nothing else.",
    "start": "Start-up: processes from their start to their end, or an import inside one.",
}
#: What stands in the way where a target is missed, by a word in the name of the row; shown below the table.
BOUNDS = {
    "two workers against one": "Two workers share the permutations and, from about 1500 points, the kernel. The rest "
    "of a call runs in one thread: with 1000 points about half of a call of `kme` or `skmse` by `dense`, and nearly "
    "all of one by `factor`, whose permutations take three milliseconds. What is shared takes each thread five "
    "milliseconds then, and on this host threads that run for so short a time hardly overlap, whatever they do: see "
    "the two threads that hash, under The floor. Independence by `dense` takes a sixth of the call before the "
    "permutations begin; its two kernels are made at the same time, in short steps that wait for each other. For two "
    "samples the marginalised means tune their variances on the pooled sample in one thread, by scores of about a "
    "millisecond one after the other, which takes about two thirds of the call or more.",
    "first call ever": "Compiling: numba types and optimises a function again in every function that it is put into. "
    "Fewer functions between two others, one score at a time and no array expressions took off nearly half.",
    "loo='deletion', against kme": "Deletion takes 3.2e10 multiplications: every point along 92 eigenvectors, and four "
    "sums over these for each of 64 amounts. The product of large matrices, the fastest thing there is, would take as "
    "long for so many on these cores as 19 calls of `kme`, without the eigenvectors; numba's vectors are half as wide. "
    "`loo='averaged'` needs one sum for each amount.",
    "import": "numpy itself is a third of it; the rest is the package's own modules, one file read for each.",
}
#: What the value of a row is.
MEASURES = {
    "faster": "times faster",
    "cost": "times as long",
    "share": "of the time",
    "GB": "GB",
    "MB": "MB",
    "s": "s",
    "exponent": "exponent",
    "difference": "difference",
}


@dataclass(frozen=True)
class Row:
    """One comparison: ``value`` with the range of its rounds, measured in one run, and the target if it has one."""

    group: str
    name: str
    ours: str
    theirs: str
    value: float
    measure: str
    low: float
    high: float
    target: str = ""
    ours_seconds: float = float("nan")
    theirs_seconds: float = float("nan")
    rounds: int = 1
    date: str = ""
    environment: str = ""

    @property
    def met(self) -> bool:
        """Whether the target is met; a row without one has nothing to miss."""
        if not self.target:
            return True
        sign, bound = self.target.split()
        kept = {">=": self.value >= float(bound), "<=": self.value <= float(bound), "<": self.value < float(bound)}
        return bool(kept[sign])  # and not numpy's, which is another object


def environment() -> str:
    """Machine and versions, as one line."""
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    versions = [f"Python {platform.python_version()}"]
    for name in ("shrinktest", "numpy", "scipy", "numba", "hyppo", "dcor", "frouros"):
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return f"{model}, {os.cpu_count()} cores, {platform.system()}; {', '.join(versions)}"


def read(file: Path) -> list[Row]:
    """The rows of a data file; none if it is not there yet."""
    if not file.exists():
        return []
    kinds = {field.name: field.type for field in fields(Row)}
    convert = {"float": float, "int": int, "str": str}
    with file.open(encoding="utf-8", newline="") as lines:
        return [Row(**{key: convert[kinds[key]](text) for key, text in line.items()}) for line in csv.DictReader(lines)]


def merged(old: list[Row], new: list[Row]) -> list[Row]:
    """The new rows in the places of those they measure again, the others behind; groups in their order."""
    rows = {(row.group, row.name): row for row in old}
    rows.update({(row.group, row.name): row for row in new})
    order = list(GROUPS)
    return sorted(rows.values(), key=lambda row: order.index(row.group))


def write(rows: list[Row], folder: Path) -> None:
    """The data file and the page made of it."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    with (folder / "data" / "benchmarks.csv").open("w", encoding="utf-8", newline="") as lines:
        table = csv.DictWriter(lines, [field.name for field in fields(Row)], lineterminator="\n")
        table.writeheader()
        table.writerows(map(asdict, rows))
    (folder / "benchmarks.md").write_text(page(rows), encoding="utf-8")


def page(rows: list[Row]) -> str:
    """The page: a picture, the promises met and missed, and a section for every group."""
    places = sorted({(row.environment, row.date) for row in rows}, key=lambda place: place[1])
    promised = [row for row in rows if row.target]
    kept = sum(row.met for row in promised)
    first = max((row for row in promised if row.measure == "faster"), key=lambda row: row.value, default=None)
    parts = ["# Benchmarks"]
    said = f"The package makes {len(promised)} promises about its speed and memory, and keeps {kept}."
    if first is not None:
        said += f" Of the promised ratios the largest is that of {first.name}: {value(first)}."
    parts += [
        said,
        "![Time of a test against the number of observations, on logarithmic axes: two samples and independence beside "
        "other packages, and the plain two-sample test beside the bare matrix product that it needs]"
        "(figures/benchmarks.png)",
        "Where two times are compared, the number is the ratio of those of whole public calls, measured in one run, "
        "the contenders taking turns: the median of the rounds. The answers were compared before the times were. B is "
        "the number of permutations, d the number of columns. The smallest and the largest ratio of a single round "
        "are in the data.",
        "\n".join(f"- {date}: {where}" for where, date in places),
    ]
    for group, words in GROUPS.items():
        chosen = [row for row in rows if row.group == group]
        if not chosen:
            continue
        heading, _, explained = words.partition(": ")
        parts += [f"## {heading}", f"{explained[0].upper()}{explained[1:]}"]
        missed, others = ([row for row in chosen if row.met is met] for met in (False, True))
        if missed:
            parts += [f"Missed, {len(missed)} of {sum(bool(row.target) for row in chosen)}:", "\n".join(table(missed))]
            parts += [text for word, text in BOUNDS.items() if any(word in row.name for row in missed)]
            parts.append("Kept, and others:" if any(not row.target for row in others) else "Kept:")
        if others:
            parts.append(table_by_size(others) or folded(table(others)))
    parts.append(
        "Written by `pytest tests/benchmarks --write docs`, the picture by `python examples/front_pictures.py`; the "
        "numbers are in [`data/benchmarks.csv`](data/benchmarks.csv).\n"
    )
    return "\n\n".join(parts)


#: Tables with more rows are folded.
LONG = 12
#: Names that say how many observations there are: what, n, columns, and against what.
SIZED = re.compile(r"(?P<what>.+), n = (?P<n>\d+), (?P<d>\d+)-d(?:, against (?P<other>.+))?")


def folded(lines: list[str]) -> str:
    """A table, which a click or a key opens if it is long."""
    if len(lines) - 2 <= LONG:
        return "\n".join(lines)
    return "\n".join(
        ["<details>", f"<summary>The table: {len(lines) - 2} rows</summary>", "", *lines, "", "</details>"]
    )


def table(rows: list[Row]) -> list[str]:
    """One line a row."""
    heads = ["what", "ours", "against", "measured", "promised"][: 5 if any(row.target for row in rows) else 4]
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    for row in rows:
        lines.append(f"| {' | '.join(cells(row)[: len(heads)])} |")
    return lines


def table_by_size(rows: list[Row]) -> str:
    """How many times faster, with a column for every number of observations; nothing if names do not say it."""
    found = [SIZED.fullmatch(row.name) for row in rows]
    if not all(found) or len(rows) <= LONG or any(row.measure != "faster" for row in rows):
        return ""
    sizes = sorted({int(match["n"]) for match in found})
    lines: dict[tuple, dict] = {}
    for row, match in zip(rows, found, strict=True):
        key = match["what"], match["other"] or "numpy loop"
        lines.setdefault(key, {})[int(match["n"])] = plain(row.value)
    heads = ["what", "against", *(f"n = {n}" for n in sizes)]
    text = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    for key, values in lines.items():
        text.append(f"| {' | '.join([*key, *(values.get(n, '') for n in sizes)])} |")
    return "How many times faster, by the number of observations in each sample:\n\n" + folded(text)


def plain(number: float) -> str:
    """A number as people say it: three figures, thousands with a comma, no exponent."""
    if abs(number) >= 100.0:
        return f"{int(float(f'{number:.3g}')):,}"
    return f"{number:.3g}"


def seconds(time: float) -> str:
    """A time in seconds, milliseconds or minutes."""
    if time < 1.0:
        return f"{plain(1000.0 * time)} ms"
    return f"{plain(time)} s" if time < 120.0 else f"{plain(time / 60.0)} min"


def value(row: Row) -> str:
    """The value with its unit."""
    if row.measure == "share":
        return f"{plain(100.0 * row.value)} % of the time"
    if row.measure == "s":
        return seconds(row.value)
    return f"{plain(row.value)} {MEASURES[row.measure]}"


def cells(row: Row) -> list[str]:
    """What a row shows: what, ours, the other, the value, and what was promised."""

    def timed(label: str, time: float) -> str:
        return label if time != time else f"{label}: {seconds(time)}"

    words = {">=": "at least", "<=": "at most", "<": "under"}
    promised = ""
    if row.target:
        sign, bound = row.target.split()
        bound = f"{plain(100.0 * float(bound))} %" if row.measure == "share" else plain(float(bound))
        promised = f"{words[sign]} {bound}"
    ours, theirs = timed(row.ours, row.ours_seconds), timed(row.theirs, row.theirs_seconds)
    return [row.name, ours, theirs, value(row), promised]
