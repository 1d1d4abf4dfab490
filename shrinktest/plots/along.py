"""Along: a column to draw along, in the units of the data; matplotlib is imported when a picture is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_LETTERS = 16  # of a category beside an axis
_OFFSET = 11.0  # points
_LEVELS = 8  # that fit along an axis
#: What the numbers of a kind of column are.
UNITS = {"duration": "days", "time": "hour of the day"}


@dataclass(frozen=True)
class Along:
    """A column to draw along."""

    feature: int | None  # its place among the numbers that the kernel compares; None for categories
    label: str
    # what one of these numbers is in the data, and where zero is there; dates in days since 1970
    unit: float = 1.0
    origin: float = 0.0
    kind: str = "number"  # of the column: "number", "date", "ordered", ...
    levels: tuple[str, ...] = ()  # of an ordered column

    def drawn(self, numbers: Any) -> Any:
        """Numbers that the kernel compares as they are drawn."""
        return numbers * self.unit + self.origin

    def ticks(self, axis: Any) -> None:
        """Ticks that are dates or levels where the numbers stand for these."""
        if self.kind == "ordered" and self.levels:
            every = -(-len(self.levels) // _LEVELS)
            axis.set_ticks(range(0, len(self.levels), every), [*map(short, self.levels[::every])], parse_math=False)
        elif self.kind == "date":
            ticks(axis, self.kind)


def ticks(axis: Any, kind: str, zone: Any = None) -> None:
    """Few ticks, which are dates, in a time zone, where the numbers are days since 1970."""
    if kind == "date":
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        locator = AutoDateLocator(zone, minticks=2, maxticks=5)
        axis.set_major_locator(locator)
        axis.set_major_formatter(ConciseDateFormatter(locator, zone))
    else:
        from matplotlib.ticker import MaxNLocator

        axis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 2.5, 5, 10]))


def below_offset(ax: Any) -> None:
    """Put the label of the x axis below what stands at its end, such as 1e9 or a year, if something does."""
    ax.xaxis.get_majorticklabels()  # which finds it
    if ax.xaxis.get_major_formatter().get_offset():
        ax.xaxis.labelpad += _OFFSET


def short(label: str, letters: int = _LETTERS) -> str:
    """A label that fits beside an axis, on one line; a longer one keeps its end, where names tend to differ."""
    line, end = " ".join(label.split()), letters // 3 if letters > _LETTERS else 0
    return line if len(line) <= letters else f"{line[: letters - 1 - end]}…{line[len(line) - end :]}"
