"""SampleSizeResult: how many observations a test needs, and how well that is known."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import percent
from shrinktest.power.curve import PowerCurve
from shrinktest.power.designs import Design
from shrinktest.results.base import Result
from shrinktest.results.info import CHANGE, KINDS
from shrinktest.results.printing import Summary, Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class SampleSizeResult(Result):
    """The sample size that reaches a power, with its uncertainty and the trials behind it.

    Attributes
    ----------
    n : int
        Least size of the first sample (or number of pairs) with the power asked for, by the fitted curve.
    low, high : float
        Confidence interval for where the curve reaches the power, of which ``n`` is the next whole number; ``high`` is
        infinite where the trials cannot tell.  Both are ``n`` where that is the smallest size that can be tested, and
        it has the power already by the lower limit of its interval.
    confidence : float
        Confidence of the intervals.
    power, alpha : float
        As asked for.
    estimator : str
        The label of the estimator or the test.
    design : Design
    sizes : tuple of int
        Sizes of all samples, or the number of rows of each variable, where the first has ``n``.
    table : pandas.DataFrame
        Power and interval at every size that was tried: the trials behind the answer.
    check : pandas.DataFrame
        Power and level (``null``), each with its interval, of fresh trials at the answer, which the curve has not seen.
    checks : int
        How often an answer was checked.  Where a check did not agree, its trials are in ``table``, and ``n`` is the
        answer with them.
    agrees : bool
        Whether the last check did: the power by the curve is in its interval.
    curve : PowerCurve
        The fitted power curve, Phi(a + b sqrt(n)).
    shown : str
        What an equivalence test is to show; empty for other tests.

    Examples
    --------
    >>> from shrinktest.power import solve_sample_size
    >>> from shrinktest.power.designs import MeanShift
    >>> found = solve_sample_size(MeanShift(dimension=1, shift=1.0), n_trials=100, n_resamples=39, workers=1)
    >>> found.power, found.alpha, bool(found.fitted_power(found.n) >= 0.8)
    (0.8, 0.05, True)
    """

    n: int
    low: float
    high: float
    confidence: float
    power: float
    alpha: float
    estimator: str
    design: Design
    sizes: tuple[int, ...]
    table: pd.DataFrame = field()  # without the property of the base class as its default
    check: pd.DataFrame
    checks: int
    agrees: bool
    curve: PowerCurve
    shown: str = ""

    def __repr__(self) -> str:
        return f"SampleSizeResult(n={self.n}, low={self.low:.4g}, high={self.high:.4g}, power={self.power:g})"

    @property
    def coefficients(self) -> tuple[float, float]:
        """(a, b) of the fitted power curve, Phi(a + b sqrt(n))."""
        a, b = self.curve.coefficients
        return float(a), float(b)

    def fitted_power(self, n: Any) -> np.ndarray:
        """Power at sizes ``n`` by the fitted curve."""
        return self.curve.power(n)

    def summary(self) -> Summary:
        """The answer in words, the check, and the trials behind the answer, as text."""
        text = (
            fill(part, 80, break_long_words=False, break_on_hyphens=False)
            for part in (self._answer(), *self._checked())
        )
        rows = [
            [str(row.n), *(f"{share:.3f}" for share in (row.power, row.low, row.high)), str(row.trials)]
            for row in self.table.itertuples()
        ]
        table = Table(rows, "r", ["n", "power", "low", "high", "trials"], gap="  ", heads="r")
        return Summary.of(table, head=[*text, ""])

    def _answer(self) -> str:
        kind, interval = KINDS[self.design.test], f"{percent(self.confidence)} interval"
        if not kind.several_samples:
            size = f"{self.n} {kind.unit}"
        elif len(set(self.sizes)) == 1:
            size = f"{self.n} observations in each sample"
        else:
            size = f"{' + '.join(map(str, self.sizes))} observations"
        sought = "difference" if kind.several_samples else "change" if kind is CHANGE else "dependence"
        finds, source = f"finds the {sought}", repr(self.design)
        if self.shown:
            finds, source = f"shows {self.shown} where there is none", f"the null twin of {self.design.null()!r}"
        found, (low, high) = float(self.fitted_power(self.n)), self.curve.band(self.n, self.confidence)
        end = f"to {math.ceil(self.high)}" if self.high < math.inf else "or more"  # whole numbers, as the answer is
        least = f"The least size with power {self.power:g} is {self.n} ({interval} {math.ceil(self.low)} {end})"
        if self.low == self.high:
            least = f"This is the smallest size that can be tested, and it has power {self.power:g} already"
        return (
            f"With {size} the {self.estimator} test {finds}, at level {self.alpha:g}, in about "
            f"{100 * found:.0f} of 100 studies ({interval} {100 * low:.0f} to {100 * high:.0f}). {least}, by "
            f"{int(self.table['trials'].sum())} simulated data sets of {source}."
        )

    @property
    def _elsewhere(self) -> str:
        """Where the check looks for the level."""
        return f"in data of {self.design.null()!r}" if self.shown else "where there is nothing to find"

    def _checked(self) -> list[str]:
        reached, level = (self.check.loc[self.check["null"] == null].iloc[0] for null in (False, True))
        said = (
            f"Check with {int(reached['trials'])} further data sets of this size: the test rejects in "
            f"{_shares(reached)}, and {self._elsewhere} in {_shares(level)}."
        )
        if not self.agrees:
            doubt = (
                f"This does not agree with the {100 * float(self.fitted_power(self.n)):.0f} of 100 above, nor did the "
                f"{self.checks - 1} checks before, whose data sets are among those: do not rely on this size, and look "
                "at the power around it with power_study."
            )
            return [said, doubt]
        if self.checks > 1:
            earlier = "one check before" if self.checks == 2 else f"{self.checks - 1} checks before"
            said += f" This agrees; {earlier} did not, and the answer takes those data sets into account."
        return [said]

    def plot(self, ax: Axes | None = None) -> Axes:
        """The fitted power curve, the trials, and the solution with its interval (matplotlib)."""
        from shrinktest.power.plots import plot_sample_size

        return plot_sample_size(self, ax)


def _shares(rate: Any) -> str:
    return f"{100 * rate['power']:.1f} of 100 [{100 * rate['low']:.1f}, {100 * rate['high']:.1f}]"
