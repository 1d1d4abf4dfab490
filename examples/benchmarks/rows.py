"""Ratios that benchmarks leave behind: a data file, and tables on the page that compares packages."""

from __future__ import annotations

import csv
import importlib.metadata
import os
import platform
import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
#: Groups of rows, in the order of the data file.
GROUPS = ("targets", "numpy", "peers", "cold", "floor", "scaling", "memory", "start")


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
        """Return True if the target is met, or if the row has none."""
        if not self.target:
            return True
        sign, bound = self.target.split()
        met = {
            ">=": self.value >= float(bound),
            "<=": self.value <= float(bound),
            "<": self.value < float(bound),
        }
        return bool(met[sign])  # and not numpy's, which is another object


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
        return [
            Row(**{key: convert[kinds[key]](text) for key, text in line.items()})
            for line in csv.DictReader(lines)
        ]


def merged(old: list[Row], new: list[Row]) -> list[Row]:
    """The new rows in the places of those they measure again, the others behind; groups in their order."""
    rows = {(row.group, row.name): row for row in old}
    rows.update({(row.group, row.name): row for row in new})
    order = list(GROUPS)
    return sorted(rows.values(), key=lambda row: order.index(row.group))


def write(rows: list[Row], folder: Path) -> None:
    """Write the data file."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    with (folder / "data" / "benchmarks.csv").open("w", encoding="utf-8", newline="") as lines:
        table = csv.DictWriter(lines, [field.name for field in fields(Row)], lineterminator="\n")
        table.writeheader()
        table.writerows(map(asdict, rows))


def values() -> dict[str, str]:
    """Return the tables of times on the page that compares packages."""
    rows = read(DOCS / "data" / "benchmarks.csv")
    groups = {group: [row for row in rows if row.group == group] for group in GROUPS}
    growth = [
        row for row in groups["scaling"] if row.measure == "exponent" and "workers" not in row.name
    ]
    memory = [row for row in groups["memory"] if row.measure == "GB"]
    floor = [row for row in groups["floor"] if row.name.endswith("10-d, B = 999, 1 core")]
    first = [row for row in groups["start"] if row.name.endswith("first call ever, empty cache")]
    machines: dict[str, list[str]] = {}
    for date, where in sorted({(row.date, row.environment) for row in rows}):
        machines.setdefault(where, []).append(date)
    return {
        "warm": by_size(groups["peers"]),
        "cold": markdown(
            ["other package", "times faster"],
            [[row.theirs, plain(row.value)] for row in groups["cold"]],
        ),
        "numpy": by_size(groups["numpy"]),
        "floor": markdown(
            ["rows", "ratio to the matrix product"],
            [[row.name.split(", ")[1], plain(row.value)] for row in floor],
        ),
        "growth": markdown(["test", "exponent"], [[row.name, plain(row.value)] for row in growth]),
        "memory": markdown(
            ["call", "peak"], [[row.name, f"{plain(row.value)} GB"] for row in memory]
        ),
        "first call": markdown(
            ["test", "seconds"],
            [
                [row.name.removesuffix(": first call ever, empty cache"), plain(row.value)]
                for row in first
            ],
        ),
        "machines": "\n".join(
            f"- {' and '.join(dates)}: {where}" for where, dates in machines.items()
        ),
    }


#: Names that say how many observations there are: what, n, columns, and against what.
SIZED = re.compile(r"(?P<what>.+), n = (?P<n>\d+), (?P<d>\d+)-d(?:, against (?P<other>.+))?")


def markdown(heads: list[str], lines: list[list[str]]) -> str:
    """Return a Markdown table."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [heads, ["---"] * len(heads), *lines])


def by_size(rows: list[Row]) -> str:
    """Return how many times faster the package is, with a column for each number of observations."""
    matches = [SIZED.fullmatch(row.name) for row in rows]
    sizes = sorted({int(match["n"]) for match in matches})
    lines: dict[tuple, dict] = {}
    for row, match in zip(rows, matches, strict=True):
        lines.setdefault((match["what"], match["other"] or "numpy loop"), {})[int(match["n"])] = (
            plain(row.value)
        )
    return markdown(
        ["test", "compared with", *(f"n = {n}" for n in sizes)],
        [[*key, *(values.get(n, "") for n in sizes)] for key, values in lines.items()],
    )


def plain(number: float) -> str:
    """A number as people say it: three figures, thousands with a comma, no exponent."""
    if abs(number) >= 100.0:
        return f"{int(float(f'{number:.3g}')):,}"
    return f"{number:.3g}"
