"""CloserResult: whether one sample is nearer to a second than to a third, or depends more on it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING, Any

from shrinktest._check import level, percent
from shrinktest.results.base import Result
from shrinktest.results.column_effects import shown_pvalue
from shrinktest.results.printing import WIDTH, Summary, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DISTANCE, DEPENDENCE, HSIC = "distance", "dependence", "hsic"
MEASURES = (DISTANCE, DEPENDENCE, HSIC)
ALTERNATIVES = ("two-sided", "less", "greater")

#: What an estimate of each measure is called.
ESTIMATES = {
    DISTANCE: "squared distance (MMD²)",
    DEPENDENCE: "kernel correlation",
    HSIC: "HSIC",
}


@dataclass(frozen=True, eq=False, repr=False)
class CloserResult(Result):
    """Whether X is nearer to Y than to Z, or depends more on it: the difference with its interval and p-value.

    ``statistic, pvalue = result`` works.

    Attributes
    ----------
    statistic : float
        The difference over its standard error; NaN where that is zero.
    pvalue : float
        From Student's t distribution with ``freedom`` degrees of freedom: asymptotic and not exact.  1 where the data
        allow no test.
    difference : float
        Below zero where X is nearer to Y: the squared distance from X to Y less that from X to Z; for dependences,
        that on Z less that on Y.
    error : float
        Standard error of the difference, by the jackknife.
    freedom : float
        Its degrees of freedom.
    interval : tuple of float
        For the difference; one limit is infinite with a one-sided alternative.
    distances : tuple of float
        Unbiased estimates of the squared distance from X to Y and from X to Z, which may be below zero; or of the
        dependence of X on Y and on Z.
    measure : str
        "distance", "dependence" or "hsic".
    alternative : str
        "two-sided", "less" or "greater".
    confidence : float
        Confidence of the interval.
    alpha : float
        Level at which ``nearer``, ``answer`` and ``reject`` decide.
    names : tuple of str
        What X, Y and Z are called.
    n_observations : tuple of int
        Sizes of the samples, or the number of rows.
    units : str
        What varies independently: "rows", "matched rows" or "groups".
    kernel : Kernel or tuple of Kernel
        With the bandwidths that were used; one per variable for dependences.
    bandwidth : float, tuple or None
        Bandwidth of the kernel or kernels.
    route : str
        How the kernel was evaluated: "dense" or "factor", or "nystrom" or "rff", which approximate it.
    columns : tuple
        The names of the columns of tables, of all samples or of every variable; None for arrays.
    rng : dict
        Where random coordinates came from.
    notes : tuple of str
        What a reader should know.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import closer_test
    >>> rng = np.random.default_rng(0)
    >>> X, Y, Z = (rng.normal(shift, 1.0, size=(100, 2)) for shift in (0.0, 0.3, 1.0))
    >>> result = closer_test(X, Y, Z)
    >>> result.nearer, result.reject(), result.interval[1] < 0.0
    ('Y', True, True)
    """

    statistic: float
    pvalue: float
    difference: float
    error: float
    freedom: float
    interval: tuple[float, float]
    distances: tuple[float, float]
    measure: str
    alternative: str
    confidence: float
    alpha: float
    names: tuple[str, str, str]
    n_observations: tuple[int, ...]
    units: str
    kernel: Any
    bandwidth: Any
    route: str
    columns: tuple[tuple[str, ...] | None, ...] = ()
    rng: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    def __repr__(self) -> str:
        return (
            f"CloserResult(statistic={self.statistic:.6g}, pvalue={self.pvalue:.6g}, "
            f"difference={self.difference:.6g}, nearer={self.nearer!r})"
        )

    def reject(self, alpha: float | None = None) -> bool:
        """Whether the test rejects at ``alpha`` (default: the result's): p <= alpha."""
        return bool(self.pvalue <= (self.alpha if alpha is None else level(alpha)))

    @property
    def nearer(self) -> str | None:
        """The one of Y and Z, by its name, that X is nearer to (or depends more on) by this test; None if not clear."""
        return self.names[1 if self.difference < 0.0 else 2] if self.reject() else None

    @property
    def answer(self) -> str:
        """The result in one sentence."""
        x, *both = self.names
        more, to = ("is nearer", "to") if self.measure == DISTANCE else ("depends more", "on")
        chance = f"(p = {shown_pvalue(self.pvalue)})."
        if self.alternative == "two-sided" and not self.reject():
            return f"It is not clear whether {x} {more} {to} {both[0]} or {to} {both[1]} {chance}"
        if self.alternative == "greater" or self.nearer == both[1]:
            both.reverse()
        clear = "" if self.reject() else "It is not clear that "
        return f"{clear}{x} {more} {to} {both[0]} than {to} {both[1]} {chance}"

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values under the attribute names, with ``answer``, ``nearer`` and ``reject``."""
        return super().to_dict() | {"answer": self.answer, "nearer": self.nearer, "reject": self.reject()}

    def summary(self) -> Summary:
        """The answer, both estimates, their difference with its interval, how they were computed, and notes."""
        to = "to" if self.measure == DISTANCE else "on"
        shown = f"t = {self.statistic:.4g}, {self.freedom:.4g} degrees of freedom"
        rows = [
            *([f"{to} {name}", f"{value:.4g}"] for name, value in zip(self.names[1:], self.distances, strict=True)),
            ["difference", f"{self.difference:.4g} {interval_in_words(self.interval)}"],
            ["standard error", f"{self.error:.4g}"],
            ["statistic", "none" if math.isnan(self.statistic) else shown],
            ["p-value", f"{self.pvalue:.4g} ({self.alternative})"],
            ["observations", f"{' + '.join(map(str, self.n_observations))}, {self.units} vary independently"],
            ["kernel", kernel_in_words(self.kernel, self.bandwidth)],
        ]
        x = self.names[0]
        what = ESTIMATES[self.measure]
        said = f"{what[0].upper()}{what[1:]} {'from' if self.measure == DISTANCE else 'of'} {x}, "
        beside = f"{said}with {percent(self.confidence)} interval of the difference"
        lines = [fill(line, WIDTH, break_on_hyphens=False) for line in (self.answer, beside)]
        return Summary.of(Table(rows, "ll", gap="  ", below="="), head=lines, notes=self.notes)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Both estimates, and their difference with its interval (matplotlib)."""
        from shrinktest.plots.closer import plot_closer

        return plot_closer(self, ax)


def interval_in_words(interval: tuple[float, float]) -> str:
    """An interval in brackets; where there is none, that."""
    low, high = interval
    return "(no interval)" if math.isnan(low) else f"[{low:.4g}, {high:.4g}]"


def kernel_in_words(kernel: Any, width: Any) -> str:
    """A kernel with its bandwidth, or several, in a few words."""
    if isinstance(kernel, tuple):
        return "; ".join(map(kernel_in_words, kernel, width))
    if width is None:
        return str(kernel.label)
    numbers = width if isinstance(width, tuple) else (width,)
    return f"{kernel.label}, bandwidth {', '.join(f'{one:.4g}' for one in numbers)}"
