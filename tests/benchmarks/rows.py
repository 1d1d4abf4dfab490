"""What a benchmark leaves behind: rows of ratios, kept in a data file and shown as one page."""

from __future__ import annotations

import csv
import importlib.metadata
import os
import platform
from dataclasses import asdict, dataclass, fields
from pathlib import Path

#: Sections of the page, in order: the group of a row, its heading, and what the numbers in it are.
GROUPS = {
    "targets": "Targets: what the package promises about its speed, one row a promise.",
    "numpy": "Estimators against numpy: one core each, the loop one would write in numpy, refitted in every split; "
    "the loop runs over a few relabellings and its time is scaled to the same number.",
    "peers": "Other packages, warm: all code compiled and loaded, on the same data with as many relabellings.",
    "cold": "Other packages, cold: a whole process that starts, imports and tests once, compiled code cached on disk.",
    "floor": "The floor: the bare matrix product that the answer needs, in the same precision, on the same cores.",
    "scaling": "Scaling: the exponent p of time ~ size^p, fitted to the medians on logarithmic axes.",
    "memory": "Memory: the peak of a process that does nothing else.",
    "start": "Start-up: processes from their start to their end, or an import inside one.",
}
#: What stands in the way where a target is missed, by a word in the name of the row; shown below the table.
BOUNDS = {
    "two workers against one": "Two workers share the relabellings and, from about 1500 points, the kernel. The rest "
    "of a call runs in one thread: with 1000 points about half of a call of `kme` or `skmse` by `dense`, and nearly "
    "all of one by `factor`, whose relabellings take three milliseconds. What is shared takes each thread five "
    "milliseconds then, and on this host threads that run for so short a time hardly overlap, whatever they do: see "
    "the two threads that hash, under The floor. Independence by `dense` takes a sixth of the call before the "
    "relabellings begin; its two kernels are made at the same time, in short steps that wait for each other. For two "
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
    "cost": "times the other",
    "share": "of the other's time",
    "GB": "GB",
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
        return {">=": self.value >= float(bound), "<=": self.value <= float(bound), "<": self.value < float(bound)}[
            sign
        ]


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
    """The table as Markdown: one section a group, with machine, versions, date and command."""
    places = sorted({(row.environment, row.date) for row in rows}, key=lambda place: place[1])
    parts = [
        "# Benchmarks",
        "Every number is a ratio of two times measured in one run, the contenders taking turns, and the median of the "
        "rounds; beside it, in brackets, the smallest and the largest ratio of a single round. The answers were "
        "compared before the times were. Times are whole public calls, in seconds.",
        "\n".join(f"- {date}: {where}" for where, date in places),
    ]
    for group, words in GROUPS.items():
        chosen = [row for row in rows if row.group == group]
        if not chosen:
            continue
        heading, _, explained = words.partition(": ")
        parts.append(f"## {heading}")
        parts.append(f"{explained[0].upper()}{explained[1:]}")
        lines = ["| what | ours | against | measured | target |", "| --- | --- | --- | --- | --- |"]
        for row in chosen:
            lines.append("| " + " | ".join(cells(row)) + " |")
        parts.append("\n".join(lines))
        missed = [row.name for row in chosen if not row.met]
        parts += [text for word, text in BOUNDS.items() if any(word in name for name in missed)]
    parts.append(
        "Written by `pytest tests/benchmarks --write docs`; the numbers are in "
        "[`data/benchmarks.csv`](data/benchmarks.csv).\n"
    )
    return "\n\n".join(parts)


def cells(row: Row) -> list[str]:
    """What a row shows: what, ours, the other, the value, the target and whether it is met."""

    def timed(label: str, seconds: float) -> str:
        return label if seconds != seconds else f"{label}: {seconds:.3g} s"

    value = f"{row.value:.3g} {MEASURES[row.measure]}"
    if row.rounds > 1:
        value += f" [{row.low:.3g}, {row.high:.3g}]"
    target = (
        f"{row.target.replace('>=', 'at least').replace('<=', 'at most').replace('<', 'under')}" if row.target else ""
    )
    if target:
        target += ": met" if row.met else ": **missed**"
    return [row.name, timed(row.ours, row.ours_seconds), timed(row.theirs, row.theirs_seconds), value, target]
