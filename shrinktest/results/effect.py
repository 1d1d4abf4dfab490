"""Effects of two samples or two variables, with intervals, in numbers and words.

They say how different samples are, and how dependent variables are.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from shrinktest._check import percent
from shrinktest.notes import note
from shrinktest.results.base import Result
from shrinktest.results.paragraph import estimated
from shrinktest.results.plots.comparison import plot_pairs
from shrinktest.results.printing import WIDTH, Summary, Table, signed, without_zero

if TYPE_CHECKING:
    import pandas as pd

Interval = tuple[float, float]

_LEADING = 3  # columns that a sentence names

# the distance of two samples, in words
_RELATIVE = {
    "norms": "0: the same, 1: nothing in common",
    "variance": "the proportion of the variance in feature space that lies between the samples",
}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Effect(Result, ABC):
    """Base class of effects.

    Attributes
    ----------
    z : float
        Distance of the test's statistic from its mean under permutations, in standard deviations.
        Because null distributions are skewed, this is no number of sigmas, unlike
        ``result.tail_pvalue()``.
    confidence : float
        Confidence level of each interval, which is not adjusted for their number.
    notes : tuple of str
        Limitations of the estimates or their intervals.
    estimates : mapping of str to object
        By measure, the estimate with its variance, for tests that invert the interval.
    resamples : str
        Reference of ``z``: "permutations", or "simulations" of a model.
    """

    z: float
    confidence: float = 0.95
    notes: tuple[str, ...] = ()
    estimates: Mapping[str, Any] = field(default_factory=dict, compare=False)
    resamples: str = "permutations"

    measures: ClassVar[tuple[str, ...]]

    def __repr__(self) -> str:
        shown = []
        for name in self.measures:
            interval = getattr(self, f"{name}_interval")
            estimate = shown_estimate(getattr(self, name), interval, spare=name == "auc")
            shown.append(f"{name}={estimate}")
        return f"{type(self).__name__}({', '.join(shown)})"

    @abstractmethod
    def lines(self) -> list[str]:
        """Return the result in sentences."""

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of ``table``: measure, estimate, low, high."""
        keys = ("measure", "estimate", "low", "high")
        rows = [
            (name, getattr(self, name), *getattr(self, f"{name}_interval"))
            for name in self.measures
        ]
        return [dict(zip(keys, row, strict=True)) for row in rows]

    def summary(self) -> Summary:
        """Return the effect in sentences and as a table."""
        return Summary.of(
            self.printed(),
            head=[*(fill(line, WIDTH) for line in self.lines()), ""],
            notes=self.remarks,
        )

    def printed(self) -> Table:
        """Return ``table`` as summaries print it."""
        cells = []
        for row in self.rows():
            *labels, estimate, low, _ = row.values()
            shown, *limits = self._shown(row)
            interval = "-" if math.isnan(low) else f"[{', '.join(limits)}]"
            cells.append([*labels, "-" if math.isnan(estimate) else shown, interval])
        headers = [*list(row)[:-3], "estimate", f"{percent(self.confidence)} interval"]
        return Table(cells, "l" * (len(headers) - 2) + "r", headers, gap="   ")

    #: What articles call a measure.
    called: ClassVar[Mapping[str, str]] = {
        "auc": "AUC of the cross-fitted witness function",
        "distance": "relative squared distance of the kernel means",
        "dependence": "kernel correlation",
    }

    def reported(self) -> str:
        """Return the estimates with their intervals in a clause; empty without any."""
        texts = []
        for row in self.rows():
            if not math.isnan(row["estimate"]):
                name = self._called(row["measure"])
                texts.append(f"the {name} was {estimated(*self._reported(row), self.confidence)}")
        return ", and ".join(texts)

    def _called(self, measure: str) -> str:
        """Return what articles call the measure of a row."""
        return self.called[measure]

    def _reported(self, row: dict[str, Any]) -> tuple[str, list[str]]:
        """Return the estimate of a row and its limits, as paragraphs print them."""
        shown, *limits = shown_shares(row["estimate"], (row["low"], row["high"]))
        return shown, limits

    def _sources(self) -> tuple[str, ...]:
        """Return keys of the papers of the estimates."""
        by_measure = {"auc": "DDC88", "dependence": "Song12"}
        return tuple(by_measure[name] for name in self.measures if name in by_measure)

    def _shown(self, row: dict[str, Any]) -> list[str]:
        """Return the estimate of a row and its limits, as summaries print them."""
        interval = (row["low"], row["high"])
        return [*shown_shares(row["estimate"], interval, spare=0, least=3)]

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes, and why an estimate that is shown lies outside its interval."""
        outside = any(row["estimate"] < 0.0 <= row["low"] for row in self.rows())
        return (*self.notes, note("interval-cut")) if outside else self.notes

    def _amount(self, what: str, measure: str, scale: str) -> str:
        """Return a sentence on an estimate that is 0 without an effect."""
        value = getattr(self, measure)
        if math.isnan(value):
            return f"{what} was not estimated."
        shown = shown_estimate(value, getattr(self, f"{measure}_interval"))
        below = "; below 0 means none was found" if shown.startswith("-") else ""
        return f"{what} is {shown} ({scale}){below}."


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TwoSampleEffect(Effect):
    """Effect size of two samples, on scales that do not depend on their sizes.

    Attributes
    ----------
    auc : float
        Separability: the probability that an observation of the first sample has a higher value of
        the witness function than one of the second, for functions that were fitted without them
        (cross-fitting).  0.5 is no better than chance, whereas 1 means complete separation.
        A combination uses a weighted sum of its members' functions.
    distance : float
        The squared distance between the kernel means divided by the sum of their squared norms.
        For kernels with negative values it is instead a quarter of the squared distance divided by
        the variance of an even mixture of both samples (for a linear kernel and samples of equal
        size, the R^2 of analysis of variance).  It lies between 0 and 1, but its unbiased estimate
        may be below 0.
    auc_interval, distance_interval : tuple of float
        Score intervals, with the variance of DeLong et al. (1988), the jackknife variance and the
        second-order variance of a U-statistic.
    relative_to : str
        Meaning of distance 1: "norms" (the means have nothing in common), or "variance" (all
        variance is between the samples).
    shares : mapping of str to float
        By column, the share of the statistic that is lost when its values are exchanged; empty
        unless ``columns=True``.
    within_blocks : bool
        Whether rows are compared only with rows of their own block.
    differences : tuple of dict
        Differences in means and medians, second sample minus first, of the only numeric column or,
        with ``columns=True``, of every one: ``column``, ``unit`` (days for dates and durations,
        hours for times of day, otherwise empty), ``measure``, ``estimate``, ``low``, ``high``.
        Within blocks only differences in means are given.
    names, z, confidence, notes, estimates, resamples
        Names of the samples, and entries as in every effect.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import two_sample_test
    >>> rng = np.random.default_rng(0)
    >>> effect = two_sample_test(
    ...     rng.normal(size=(200, 2)), rng.normal(0.5, 1.0, size=(200, 2)), rng=0
    ... ).effect()
    >>> round(effect.auc, 3), [round(limit, 3) for limit in effect.auc_interval]
    (0.692, [0.635, 0.742])
    >>> print(effect.lines()[0])
    Given one observation from X and one from Y, the witness function assigns them correctly with probability .69 [.64, .74]
    (.5 is guessing).
    """  # noqa: E501  # printed lines

    auc: float
    auc_interval: Interval
    distance: float
    distance_interval: Interval
    relative_to: str
    names: tuple[str, str] = ("X", "Y")
    shares: Mapping[str, float] = field(default_factory=dict)
    within_blocks: bool = False
    differences: tuple[dict[str, Any], ...] = ()

    measures = ("auc", "distance")

    def lines(self) -> list[str]:
        first, second = self.names
        block = " from the same block" if self.within_blocks else ""
        separable = (
            f"Given one observation from {first} and one from {second}{block}, {self.assignment()}."
        )
        return [
            "The AUC of the witness function was not estimated."
            if math.isnan(self.auc)
            else separable,
            self._amount("Their distance", "distance", _RELATIVE[self.relative_to]),
            *([_contributed(self.shares)] if self.shares else []),
        ]

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of ``table``: measure, estimate, low, high.

        Differences follow; those of several columns have the column in the name of the measure.
        """
        several = len({row["column"] for row in self.differences}) > 1
        rows = super().rows()
        for row in self.differences:
            measure = f"{row['measure']} of {row['column']}" if several else row["measure"]
            rows.append(
                {"measure": measure, **{name: row[name] for name in ("estimate", "low", "high")}}
            )
        return rows

    def _shown(self, row: dict[str, Any]) -> list[str]:
        if row["measure"] in self.measures:
            return super()._shown(row)
        shown, *limits = signed([row["estimate"], row["low"], row["high"]])
        units = {each["unit"] for each in self.differences if each["estimate"] == row["estimate"]}
        return [f"{shown} {min(units)}".rstrip(), *limits]

    def _called(self, measure: str) -> str:
        name, _, column = measure.partition("_difference")
        if name in self.called:
            return self.called[name]
        return f"difference in {name}s{column}"

    def _reported(self, row: dict[str, Any]) -> tuple[str, list[str]]:
        if row["measure"] in self.measures:
            return super()._reported(row)
        shown, *limits = self._shown(row)
        return shown, limits

    def assignment(self) -> str:
        """Return the AUC and its interval in words."""
        scale = "(.5 is guessing)" if self.auc >= 0.5 else "(no better than guessing, .5)"
        area = shown_estimate(self.auc, self.auc_interval, spare=1)
        return f"the witness function assigns them correctly with probability {area} {scale}"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class KSampleEffect(Effect):
    """Effect sizes of several samples: how different every two of them are.

    Attributes
    ----------
    pairs : mapping of (int, int) to TwoSampleEffect
        Effects of every two samples i < j, whose ``z`` is NaN, because the test has one statistic.
    names, z, confidence, notes, estimates, resamples
        Names of the samples, and entries as in every effect.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import k_sample_test
    >>> rng = np.random.default_rng(0)
    >>> samples = {
    ...     "a": rng.normal(size=40),
    ...     "b": rng.normal(size=40),
    ...     "c": rng.normal(1.0, 1.0, size=40),
    ... }
    >>> effect = k_sample_test(samples, rng=0).effect()
    >>> effect.auc.round(2)
          a     b     c
    a   NaN  0.66  0.81
    b  0.66   NaN  0.66
    c  0.81  0.66   NaN
    """

    names: tuple[str, ...]
    pairs: Mapping[tuple[int, int], TwoSampleEffect]

    plot = plot_pairs

    def __repr__(self) -> str:
        areas = [pair.auc for pair in self._estimated()]
        return (
            f"KSampleEffect({len(self.names)} "
            f"samples{f', auc up to {_number(max(areas))}' if areas else ''})"
        )

    def _estimated(self) -> list[TwoSampleEffect]:
        return [pair for pair in self.pairs.values() if not math.isnan(pair.auc)]

    auc = property(
        lambda self: self._matrix("auc"),
        doc="Separability of every two samples (k, k), a pandas table.",
    )
    distance = property(
        lambda self: self._matrix("distance"),
        doc="Distance of every two samples (k, k), as ``auc``.",
    )

    def _matrix(self, measure: str) -> pd.DataFrame:
        import pandas as pd

        out = pd.DataFrame(np.nan, index=list(self.names), columns=list(self.names))
        for (i, j), pair in self.pairs.items():
            out.iloc[i, j] = out.iloc[j, i] = getattr(pair, measure)
        return out

    def lines(self) -> list[str]:
        lines = []
        if estimated := self._estimated():
            apart = max(estimated, key=lambda pair: pair.auc)
            which = f"Furthest apart are {' and '.join(apart.names)}"
            block = " from the same block" if apart.within_blocks else ""
            lines.append(f"{which}: given one observation from each{block}, {apart.assignment()}.")
        return lines

    def reported(self) -> str:
        """Return the AUC of the samples that are furthest apart, in a clause.

        It is empty without any.
        """
        known = self._estimated()
        if not known:
            return ""
        apart = max(known, key=lambda pair: pair.auc)
        shown, *limits = shown_shares(apart.auc, apart.auc_interval)
        area = estimated(shown, limits, self.confidence)
        return f"the largest {self.called['auc']} was that of {' and '.join(apart.names)}, {area}"

    def _sources(self) -> tuple[str, ...]:
        return ("DDC88",)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of ``table``, two for every pair.

        The columns are first, second, measure, estimate, low and high.
        """
        both = ((pair.names, row) for pair in self.pairs.values() for row in pair.rows())
        return [{"first": names[0], "second": names[1], **row} for names, row in both]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values under the attribute names.

        ``pairs`` is a list, with numbers of both samples.
        """
        pairs = [{"first": i, "second": j, **pair.to_dict()} for (i, j), pair in self.pairs.items()]
        for pair in pairs:
            del pair["result"], pair["versions"]
        return super().to_dict() | {"pairs": pairs}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class DependenceEffect(Effect):
    """Effect size of two variables: how dependent they are, from 0 to 1.

    The scale does not depend on the number of pairs.

    Attributes
    ----------
    dependence : float
        Kernel correlation: HSIC divided by the HSIC of each variable with itself, whose unbiased
        estimate may be below 0.  1 means that both have one Gram matrix.  If ``kernel="energy"``,
        it is the squared distance correlation with its bias removed.
    dependence_interval : tuple of float
        Score interval, as for a distance.
    names, z, confidence, notes, estimates, resamples
        Names of the variables, and entries as in every effect.

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

    measures = ("dependence",)

    def lines(self) -> list[str]:
        what = f"The dependence of {self.names[0]} and {self.names[1]}"
        return [self._amount(what, "dependence", "0: none, 1: complete")]


# --- numbers and sentences ------------------------------------------------------------------------


def shown_shares(
    value: float, interval: Interval, spare: int = 1, least: int = 2
) -> tuple[str, str, str]:
    """Return a share and its limits without leading zeros.

    Decimals are those that tell the limits apart, less ``spare``.
    """
    width = interval[1] - interval[0]
    places = min(max(2, 1 - math.floor(math.log10(width))), 6) if width > 0.0 else 2
    form = f".{max(least, places - spare)}f"
    return _number(value, form), _number(interval[0], form), _number(interval[1], form)


def shown_estimate(value: float, interval: Interval, spare: int = 0) -> str:
    """Return an estimate with its interval as text."""
    shown, *limits = shown_shares(value, interval, spare)
    return f"{shown} [{'no interval' if math.isnan(interval[0]) else ', '.join(limits)}]"


def _number(value: float, form: str = ".2f") -> str:
    text = format(value, form)
    return without_zero(text if float(text) != 0.0 else text.removeprefix("-"))


def _contributed(shares: Mapping[str, float]) -> str:
    """Return a sentence on the columns that contribute most."""
    if any(map(math.isnan, shares.values())):
        return (
            "Contributions of columns were not estimated, because the statistic is not above zero."
        )
    leading = sorted(
        ((share, name) for name, share in shares.items() if share > 0.0), reverse=True
    )[:_LEADING]
    if not leading:
        return "No column contributes: permuting any of them does not lower the statistic."
    parts = ", ".join(
        f"{share:.0%} ({f'column {name}' if name.isdecimal() else name})" for share, name in leading
    )
    return f"Permuting a single column lowers the statistic by {parts}."
