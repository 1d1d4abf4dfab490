"""Effects: how different two samples are, and how dependent two variables, with intervals, in numbers and in words."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from shrinktest._check import percent
from shrinktest.results.as_json import AsJson, entries_of
from shrinktest.results.base import Result
from shrinktest.results.reading import fields_of
from shrinktest.results.text import WIDTH, Report, Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Interval = tuple[float, float]

_CUT = "Intervals are cut at 0, the least that the quantity can be; an estimate may be below 0, outside its interval."
_LEADING = 3  # columns that a sentence names

#: What the distance of two samples is relative to, in words.
RELATIVE = {
    "norms": "0: the same, 1: nothing in common",
    "variance": "the share of the variance in feature space that lies between the samples",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Effect(AsJson, Result, ABC):
    """Base class of effects.

    Attributes
    ----------
    z : float
        How far the test's statistic is above its mean under permutations, in standard deviations.
    confidence : float
        Confidence of each interval by itself.
    notes : tuple of str
        What a reader should know.
    """

    z: float
    confidence: float = 0.95
    notes: tuple[str, ...] = ()

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """The rows of ``table``."""

    @abstractmethod
    def lines(self) -> list[str]:
        """The result in sentences."""

    @property
    def table(self) -> pd.DataFrame:
        """What was estimated, with intervals (pandas)."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def to_frame(self) -> pd.DataFrame:
        """``table``, under the name that it has for other results (pandas)."""
        return self.table

    def summary(self) -> str:
        """What was found, in sentences and as a table."""
        return self._report().as_text()

    def printed(self) -> Table:
        """``table`` as summaries print it."""
        rows = self.rows()
        names = [name for name in rows[0] if name not in ("low", "high")]
        cells = []
        for row in rows:
            reach = row["low"], row["high"]
            form = f".{max(3, _places(reach))}f"
            shown = "-" if math.isnan(row["estimate"]) else _number(row["estimate"], form)
            labels = [row[name] for name in names if name != "estimate"]
            cells.append([*labels, shown, "-" if math.isnan(reach[0]) else _interval(reach, form)])
        aligns = "".join("l" if isinstance(rows[0][name], str) else "r" for name in names) + "r"
        return Table(cells, aligns, [*names, f"{percent(self.confidence)} interval"], gap="   ", heads="c")

    def _report(self) -> Report:
        return Report([*(fill(line, WIDTH) for line in self.lines()), ""], self.printed(), self.remarks)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes, and why an estimate that is shown lies outside its interval."""
        outside = any(row["estimate"] < 0.0 <= row["low"] for row in self.rows())
        return (*self.notes, _CUT) if outside else self.notes


@dataclass(frozen=True, eq=False, kw_only=True)
class TwoSampleEffect(Effect):
    """Effect size of two samples: how different they are, on scales that do not depend on their sizes.

    Attributes
    ----------
    auc : float
        Separability: the probability that an observation of the first sample has a higher value of the witness function
        than one of the second, for functions that were fitted without them.  .5: no better than chance; 1: apart.
    auc_interval : tuple of float
    distance : float
        The squared distance of the kernel means from 0 to 1.  Its parts are estimated without bias, so that it may come
        out below 0; the ratio of these is only nearly unbiased.
    distance_interval : tuple of float
    relative_to : str
        What 1 is: "norms" (the means have nothing in common), or "variance" (all variance is between the samples).
    names : tuple of str
        What the samples are called.
    shares : mapping of str to float
        By column, the share of the statistic that is gone when its values are exchanged; empty if not asked for.
    z, confidence, notes
        As in every effect.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import two_sample_test
    >>> rng = np.random.default_rng(0)
    >>> effect = two_sample_test(rng.normal(size=(200, 2)), rng.normal(0.5, 1.0, size=(200, 2)), rng=0).effect()
    >>> round(effect.auc, 3), [round(limit, 3) for limit in effect.auc_interval]
    (0.692, [0.635, 0.742])
    >>> print(effect.lines()[0])
    Of one observation of X and one of Y, the witness function tells which is which with probability .69 [.64, .74]
    (.5: by chance, 1: always).
    """

    auc: float
    auc_interval: Interval
    distance: float
    distance_interval: Interval
    relative_to: str
    names: tuple[str, str] = ("X", "Y")
    shares: Mapping[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"TwoSampleEffect(auc={_area(self)}, distance={_estimate(self.distance, self.distance_interval)})"

    def lines(self) -> list[str]:
        """The result in sentences."""
        first, second = self.names
        said = [
            f"Of one observation of {first} and one of {second}, {_told(self)}."
            if not math.isnan(self.auc)
            else "How well the samples can be told apart was not estimated."
        ]
        said.append(_amount("Their distance", self.distance, self.distance_interval, RELATIVE[self.relative_to]))
        said.append(_above(self.z))
        return [*said, _contributed(self.shares)] if self.shares else said

    def rows(self) -> list[dict[str, Any]]:
        """The rows of ``table``."""
        return [_row("auc", self.auc, self.auc_interval), _row("distance", self.distance, self.distance_interval)]


@dataclass(frozen=True, eq=False, kw_only=True)
class KSampleEffect(Effect):
    """Effect sizes of several samples: how different every two of them are.

    Attributes
    ----------
    names : tuple of str
        What the samples are called.
    pairs : mapping of (int, int) to TwoSampleEffect
        For every two samples i < j; their ``z`` is NaN, for the test has one statistic.
    z, confidence, notes
        As in every effect.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import k_sample_test
    >>> rng = np.random.default_rng(0)
    >>> samples = {"a": rng.normal(size=40), "b": rng.normal(size=40), "c": rng.normal(1.0, 1.0, size=40)}
    >>> effect = k_sample_test(samples, rng=0).effect()
    >>> effect.auc.round(2)
          a     b     c
    a   NaN  0.66  0.81
    b  0.66   NaN  0.66
    c  0.81  0.66   NaN
    """

    names: tuple[str, ...]
    pairs: Mapping[tuple[int, int], TwoSampleEffect]

    def __repr__(self) -> str:
        found = [one.auc for one in self.pairs.values() if not math.isnan(one.auc)]
        return f"KSampleEffect({len(self.names)} samples{f', auc up to {_number(max(found))}' if found else ''})"

    @property
    def auc(self) -> pd.DataFrame:
        """Separability of every two samples (k, k), NaN on the diagonal (pandas)."""
        return self._matrix("auc")

    @property
    def distance(self) -> pd.DataFrame:
        """Distance of every two samples (k, k), NaN on the diagonal (pandas)."""
        return self._matrix("distance")

    def plot(self, ax: Axes | None = None, *, measure: str = "auc") -> Axes:
        """``measure`` ("auc" or "distance") of every two samples with its interval, largest first (matplotlib)."""
        from shrinktest.plots.effects import plot_pairs

        return plot_pairs(self, ax, measure)

    def _matrix(self, name: str) -> pd.DataFrame:
        import pandas as pd

        out = np.full((len(self.names), len(self.names)), np.nan)
        for (i, j), one in self.pairs.items():
            out[i, j] = out[j, i] = getattr(one, name)
        return pd.DataFrame(out, index=list(self.names), columns=list(self.names))

    def lines(self) -> list[str]:
        """The result in sentences."""
        found = [one for one in self.pairs.values() if not math.isnan(one.auc)]
        if not found:
            return [_above(self.z)]
        apart = max(found, key=lambda one: one.auc)
        return [
            f"Furthest apart are {apart.names[0]} and {apart.names[1]}: of one observation of each, {_told(apart)}.",
            _above(self.z),
        ]

    def rows(self) -> list[dict[str, Any]]:
        """The rows of ``table``: two for every pair of samples."""
        return [
            {"first": one.names[0], "second": one.names[1], **row} for one in self.pairs.values() for row in one.rows()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values under the attribute names; ``pairs`` is a list."""
        pairs = [{"first": i, "second": j, **entries_of(one)} for (i, j), one in self.pairs.items()]
        return super().to_dict() | {"pairs": pairs}

    @classmethod
    def _of_json(cls, read: Mapping[str, Any]) -> Self:
        pairs = {(one["first"], one["second"]): TwoSampleEffect._of_json(one) for one in read["pairs"]}
        return cls(**fields_of(cls, read) | {"pairs": pairs})


@dataclass(frozen=True, eq=False, kw_only=True)
class DependenceEffect(Effect):
    """Effect size of two variables: how dependent they are, from 0 to 1, whatever the number of pairs.

    Attributes
    ----------
    dependence : float
        Kernel correlation: HSIC relative to that of each variable with itself, every part estimated without bias, so
        that it may come out below 0; their ratio is only nearly unbiased.  1: one variable has the same Gram matrix as
        the other.  For distances (``kernel="energy"``) it is the squared distance correlation with its bias removed.
    dependence_interval : tuple of float
    names : tuple of str
        What the variables are called.
    z, confidence, notes
        As in every effect.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import independence_test
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=100)
    >>> effect = independence_test(x, x**2 + rng.normal(size=100), rng=0).effect()
    >>> print(effect.lines()[0])
    The dependence of X and Y is .23 [.13, .39] (0: none, 1: complete).
    """

    dependence: float
    dependence_interval: Interval
    names: tuple[str, str] = ("X", "Y")

    def __repr__(self) -> str:
        return f"DependenceEffect(dependence={_estimate(self.dependence, self.dependence_interval)})"

    def lines(self) -> list[str]:
        """The result in sentences."""
        what = f"The dependence of {self.names[0]} and {self.names[1]}"
        return [_amount(what, self.dependence, self.dependence_interval, "0: none, 1: complete"), _above(self.z)]

    def rows(self) -> list[dict[str, Any]]:
        """The rows of ``table``."""
        return [_row("dependence", self.dependence, self.dependence_interval)]


# --- how they are written -------------------------------------------------------------------------------------------


def _row(measure: str, estimate: float, interval: Interval) -> dict[str, Any]:
    return {"measure": measure, "estimate": estimate, "low": interval[0], "high": interval[1]}


def _number(value: float, form: str = ".2f") -> str:
    """A number between 0 and 1 as papers print it."""
    text = format(value, form)
    text = text if float(text) != 0.0 else text.removeprefix("-")
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def _interval(interval: Interval, form: str = ".2f") -> str:
    if math.isnan(interval[0]):
        return "[no interval]"
    return f"[{_number(interval[0], form)}, {_number(interval[1], form)}]"


def _places(interval: Interval) -> int:
    """As many decimals as tell the limits of an interval apart."""
    width = interval[1] - interval[0]
    return 2 if math.isnan(width) or width <= 0.0 else min(max(2, 1 - math.floor(math.log10(width))), 6)


def _estimate(value: float, interval: Interval, spare: int = 0) -> str:
    """An estimate with its interval, with as many decimals as tell the limits apart, or ``spare`` less."""
    form = f".{max(2, _places(interval) - spare)}f"
    return f"{_number(value, form)} {_interval(interval, form)}"


def shown_shares(value: float, interval: Interval) -> tuple[str, str, str]:
    """A probability and the limits of its interval, with as many decimals as tell the limits apart, less one."""
    form = f".{max(2, _places(interval) - 1)}f"
    low, high = interval
    return _number(value, form), _number(low, form), _number(high, form)


def _area(effect: TwoSampleEffect) -> str:
    return _estimate(effect.auc, effect.auc_interval, spare=1)


def _told(effect: TwoSampleEffect) -> str:
    """What an area is the probability of, with its interval and what it is to be compared with."""
    beside = " (.5: by chance, 1: always)" if effect.auc >= 0.5 else ", no more than by chance (.5)"
    return f"the witness function tells which is which with probability {_area(effect)}{beside}"


def _amount(what: str, value: float, interval: Interval, scale: str) -> str:
    """A sentence on an estimate that is 0 where there is no effect."""
    if math.isnan(value):
        return f"{what} was not estimated."
    shown = _estimate(value, interval)
    below = "; an estimate below 0 says that none was found" if shown.startswith("-") else ""
    return f"{what} is {shown} ({scale}){below}."


def _above(z: float) -> str:
    if math.isnan(z):
        return "How far the statistic is from its values under permutations was not computed."
    if abs(z) < 0.05:  # would be shown as 0.0
        return "The statistic is as large as its mean under permutations."
    side = "above its mean" if z > 0.0 else "below its mean"
    return f"The statistic is {abs(z):.1f} standard deviations {side} under permutations."


def _contributed(shares: Mapping[str, float]) -> str:
    """A sentence on the columns that contribute most."""
    if any(map(math.isnan, shares.values())):
        return "What columns contribute was not estimated, for the statistic is not above zero."
    leading = sorted(((share, name) for name, share in shares.items() if share > 0.0), reverse=True)[:_LEADING]
    if not leading:
        return "Exchanging the values of any column takes nothing from the statistic."
    parts = ", ".join(f"{share:.0%} ({f'column {name}' if name.isdecimal() else name})" for share, name in leading)
    return f"Exchanging the values of a column takes from the statistic: {parts}."
