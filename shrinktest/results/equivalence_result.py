"""EquivalenceResult: whether an effect is below a margin."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

from shrinktest._check import percent
from shrinktest.results.base import Decision, as_tuple, plain
from shrinktest.results.closer_result import kernels_in_words
from shrinktest.results.effect import Effect
from shrinktest.results.paragraph import (
    kernel_in_words,
    paragraph,
    seed_in_words,
    sources_of,
    sources_of_route,
)
from shrinktest.results.printing import WIDTH, Summary, Table, number, shown_pvalue, without_zero
from shrinktest.results.references import joined
from shrinktest.results.result import TestResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DISTANCE = "distance"
AUC = "auc"
DEPENDENCE = "dependence"
MEAN_DIFFERENCE = "mean_difference"
#: Name of each measure, its value without a difference, and what it means to be below the margin.
MEASURES = {
    DISTANCE: ("distance", 0.0, "they are practically the same on this scale"),
    AUC: ("separability", 0.5, "such a witness function barely distinguishes them"),
    DEPENDENCE: ("dependence", 0.0, "they are practically independent on this scale"),
    MEAN_DIFFERENCE: ("difference of means", 0.0, "they are practically equal on average"),
}


@dataclass(frozen=True, eq=False, repr=False)
class EquivalenceResult(Decision):
    """Result of a test that an effect is below a margin.

    ``statistic, pvalue = result`` unpacks it.

    Attributes
    ----------
    statistic, pvalue : float
        The estimate minus the margin, divided by the standard deviation that the estimate has if
        the effect equals the margin, and the p-value; NaN and 1 if there is no variance.
    estimate, upper, margin : float
        The effect, its upper limit with confidence 1 - alpha, and the margin.  A difference in
        means is signed (second sample minus first), and ``upper`` limits its absolute value.
    measure, alpha, names, folds, notes
        As in :func:`equivalence_test`.
    test : TestResult
        The ordinary test without permutations, which holds kernel, estimator, sizes, columns and
        versions.
    margin_words : str
        The change whose effect is the margin, such as "shift 0.2"; empty for a number.
    lower : float
        Lower limit of the effect with confidence 1 - alpha; NaN if there is no variance.
    unit : str
        The unit of a difference in means: "days" for dates and durations, "hours" for times of day,
        otherwise empty.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import equivalence_test
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 400, 2))
    >>> result = equivalence_test(X, Y, margin=0.03, measure="distance", rng=0)
    >>> result.equivalent, result.upper < result.margin
    (True, True)
    """

    statistic: float
    pvalue: float
    estimate: float
    upper: float
    margin: float
    measure: str
    alpha: float
    names: tuple[str, str]
    test: TestResult
    margin_words: str = ""
    folds: int | None = None
    notes: tuple[str, ...] = ()
    lower: float = math.nan
    unit: str = ""

    computed = ("answer", "reject")
    decision = "result.equivalent"

    def __repr__(self) -> str:
        return (
            f"EquivalenceResult(pvalue={self.pvalue:.6g}, {self.measure} {self.estimate:.6g} < "
            f"{self.margin:.6g})"
        )

    @property
    def equivalent(self) -> bool:
        """True if the effect was shown to be below the margin."""
        return self.reject()

    @property
    def differs(self) -> bool:
        """True if the effect was shown to be above the margin."""
        return self.lower > self.margin

    @property
    def difference(self) -> str:
        """Sentence on two samples that differ by more than the margin."""
        name = MEASURES[self.measure][0]
        first, second = self.names
        return (
            f"{second} differs from {first} by more than the margin {self._in_unit(self.margin)}: "
            f"{name} {_number(self.estimate)}, above {_number(self.lower)} with confidence "
            f"{1.0 - self.alpha:.4g}."
        )

    @property
    def answer(self) -> str:
        """The result in one sentence."""
        name, _, meaning = MEASURES[self.measure]
        what = f"the {name} of {self.names[0]} and {self.names[1]}"
        chance = f"p = {shown_pvalue(self.pvalue)}."
        limit = "no upper limit" if math.isnan(self.upper) else f"upper limit {_number(self.upper)}"
        margin = self._in_unit(self.margin)
        if self.reject():
            return f"T{what[1:]} is below {margin} ({limit}): {meaning}, {chance}"
        return f"It was not shown that {what} is below {margin} ({limit}), {chance}"

    def _in_unit(self, value: float) -> str:
        return f"{_number(value)} {self.unit}".rstrip()

    def rows(self) -> list[dict[str, Any]]:
        """Return the result as the one row of ``table``."""
        names = ("measure", "estimate", "upper", "margin", "statistic", "pvalue", "alpha")
        return [{name: getattr(self, name) for name in names} | {"equivalent": self.equivalent}]

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes, ``answer`` and ``reject`` as plain Python values.

        Those of the ordinary test are included.
        """
        names = (
            "test",
            "n_observations",
            "columns",
            "kernel",
            "bandwidth",
            "route",
            "rng",
            "estimator",
        )
        return super().to_dict() | {name: plain(getattr(self.test, name)) for name in names}

    def summary(self) -> Summary:
        """Return the answer, the estimate with its upper limit, the margin, and notes."""
        limit = "none" if math.isnan(self.upper) else _number(self.upper)
        rows = {
            MEASURES[self.measure][0]: self._in_unit(self.estimate),
            "upper limit": f"{limit} (with confidence {1.0 - self.alpha:.4g})",
            "margin": self._in_unit(self.margin)
            + (f", from {self.margin_words}" if self.margin_words else ""),
            "p-value": f"{self.pvalue:.4g}",
            "observations": " + ".join(map(str, self.test.n_observations)),
            "kernel": kernels_in_words(self.test.kernel),
        }
        if self.measure == MEAN_DIFFERENCE:
            del rows["kernel"]
        if self.folds is not None:
            rows["witness function"] = (
                f"{self.test.estimator!r}, cross-fitted on {self.folds} folds"
            )
        head = [fill(self.answer, WIDTH, break_on_hyphens=False)]
        return Summary.of(Table([*rows.items()], "ll", gap="  "), head=head, notes=self.notes)

    def paragraph(self) -> str:
        """Return two to four sentences for an article: method, answer, and software."""
        name, _, _ = MEASURES[self.measure]
        sizes = self.test.n_observations
        both = [f"{name} (n = {n})" for name, n in zip(self.names, sizes, strict=False)]
        if len(sizes) == 1:
            both = list(self.names)
        scale = Effect.called[self.measure]
        margin = f"margin {_number(self.margin)}"
        margin += f", the effect of {self.margin_words}" if self.margin_words else ""
        fitted = f"witness function by {self.test.estimator!r}, {self.folds} folds"
        rows = f" on {sizes[0]} pairs" if len(sizes) == 1 else ""
        return paragraph(
            f"The equivalence of {joined(both)} was tested{rows}",
            "an asymptotic test of a margin",
            [
                f"{scale}, {margin}",
                fitted if self.folds is not None else "",
                *dict.fromkeys(map(kernel_in_words, *self._kernels())),
                f"units: {self.test.restriction}" if self.test.restriction else "",
            ],
            [self._finding(name)],
            self.versions,
            seed_in_words(self.test.rng),
        )

    def _kernels(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return kernels as used and as given."""
        kernels = as_tuple(self.test.kernel)
        given = as_tuple(self.test.setup.given)
        return kernels, given if len(given) == len(kernels) else (None,) * len(kernels)

    def _finding(self, name: str) -> str:
        level = without_zero(f"{self.alpha:g}")
        limit = f"upper {percent(1.0 - self.alpha)} limit {_number(self.upper)}"
        limit = "no upper limit" if math.isnan(self.upper) else limit
        shown = f"z = {number(self.statistic)}, p = {shown_pvalue(self.pvalue)}"
        was = "was shown" if self.equivalent else "was not shown"
        return (
            f"equivalence {was} at the {level} level: the {name} was {_number(self.estimate)} "
            f"({limit}; {shown})"
        )

    def _sources(self) -> Iterator[str]:
        yield {AUC: "DDC88", DEPENDENCE: "Song12"}.get(self.measure, "G12")
        yield from sources_of(self.test.estimator)
        yield from sources_of(self.test.kernel)
        yield from sources_of_route(self.test.route)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the estimate with its upper limit, and the margin (matplotlib).

        Of a difference of means the absolute value is drawn.
        """
        from shrinktest.results.plots.axes import BLUE, GRAY, ORANGE, axes, ink, legend_below, title

        ax = axes(ax)
        color = BLUE if self.reject() else GRAY
        name, nothing, _ = MEASURES[self.measure]
        estimate = abs(self.estimate) if self.measure == MEAN_DIFFERENCE else self.estimate
        label = f"up to the upper limit, with confidence {1.0 - self.alpha:.4g}"
        if not math.isnan(self.upper):
            ax.plot([estimate, self.upper], [0.0, 0.0], color=color, linewidth=2.0, label=label)
        ax.plot([estimate], [0.0], "o", color=color, label="estimate")
        ax.axvline(nothing, color=ink(ax), linewidth=0.8, label="no effect")
        ax.axvline(self.margin, color=ORANGE, linestyle="--", label="margin")
        ax.set(yticks=[], xlabel=name)
        title(ax, self.answer)
        legend_below(ax)
        return ax


def _number(value: float) -> str:
    return without_zero(f"{value:.3g}")
