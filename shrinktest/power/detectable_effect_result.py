"""DetectableEffectResult: the smallest effect that a test detects, and how well it is known."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import counted, percent
from shrinktest.power.designs import Design
from shrinktest.power.sample_size_result import (
    PowerCurve,
    found_by,
    recruits,
    sizes_in_words,
)
from shrinktest.power.strengths import Strengths
from shrinktest.power.study_result import rate_words
from shrinktest.results.base import Result
from shrinktest.results.info import KINDS
from shrinktest.results.plots.studies import plot_detectable_effect
from shrinktest.results.printing import Summary, Table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class DetectableEffectResult(Result):
    """Smallest effect that a test detects with a given power, with its trials.

    Attributes
    ----------
    effect : float
        Value of the parameter at which the fitted curve reaches the power.
    low, high : float
        Confidence interval for the value at which the curve reaches the power; a limit is infinite
        if the trials do not bound it.
    confidence, power, alpha : float
        Confidence of the intervals, required power, and level.
    estimator : str
        The label of the estimator or the test.
    parameter : str
        The parameter of the design that stands for the effect, such as "shift".
    design : Design
        The design with this effect.
    n : int
        Size of the first sample, or number of pairs, rows or groups.
    sizes : tuple of int
        Sizes of all samples, or the number of rows of each variable.
    table : pandas.DataFrame
        Power and interval at every effect that was tried: the trials behind the answer.
    check : pandas.DataFrame
        Power and Type I error rate (``null``), each with its interval, of fresh trials at the
        answer, which the curve was not fitted to.
    checks : int
        How often an answer was checked.  Trials of checks that did not agree are in ``table``.
    agrees : bool
        True if the last check did: the power by the curve is in its interval.
    curve : PowerCurve
        The fitted power curve, Phi(a + b strength), as a function of the squared strength.
    strengths : Strengths
        Values of the parameter by strength, which is 1 in the design that was given.
    n_resamples : int or inf
        Permutations per test; 0 for a test that draws none.
    seed : int
        Seed of the search; ``rng=seed`` repeats it.

    Examples
    --------
    >>> from shrinktest import minimum_detectable_effect
    >>> from shrinktest.power.designs import MeanShift
    >>> answer = minimum_detectable_effect(
    ...     MeanShift(dimension=1), 20, n_trials=200, n_resamples=39, workers=1, rng=0
    ... )
    >>> answer.parameter, answer.n, bool(answer.fitted_power(answer.effect) > 0.79)
    ('shift', 20, True)
    """

    effect: float
    low: float
    high: float
    confidence: float
    power: float
    alpha: float
    estimator: str
    parameter: str
    design: Design
    n: int
    sizes: tuple[int, ...]
    table: pd.DataFrame = field()  # without the property of the base class as its default
    check: pd.DataFrame
    checks: int
    agrees: bool
    curve: PowerCurve
    strengths: Strengths
    n_resamples: float
    seed: int

    plot = plot_detectable_effect

    def __repr__(self) -> str:
        return (
            f"DetectableEffectResult({self.parameter}={self.effect:.4g}, low={self.low:.4g}, "
            f"high={self.high:.4g}, n={self.n}, power={self.power:g})"
        )

    def fitted_power(self, effect: Any) -> np.ndarray:
        """Return the power at values of the parameter by the fitted curve."""
        return self.curve.power(np.square(self.strengths.strength(effect)))

    def summary(self) -> Summary:
        """Return the answer in words, the check, and the trials behind it, as text."""
        words = self._words()
        check = (
            f"Check with {words['checked']} further data sets with this effect: the test rejects "
            f"in {words['reached']}, and without an effect in {words['level']}."
        )
        if self.agrees and self.checks > 1:
            check += (
                f" The check agrees, but {counted(self.checks - 1, 'earlier check')} did not, so "
                "the data were added and the effect was fitted again."
            )
        doubt = (
            f"This does not agree with the {percent(self.power)} above, nor did the "
            f"{self.checks - 1} checks before. Do not rely on this effect; look at the power "
            "around it with power_study."
        )
        parts = [
            f"The smallest effect that {words['sizes']} detect with {percent(self.power)} power is "
            f"{words['effect']} ({words['trials']} data sets {words['source'].partition(' (')[0]})."
            f" Its {percent(self.confidence)} interval is {words['interval']}. The "
            f"{self.estimator} test then finds the {found_by(self.design)} at level "
            f"{self.alpha:g}.",
            check,
            "" if self.agrees else doubt,
            *self._assumed(words),
        ]
        rows = [
            [
                f"{row.effect:.4g}",
                *(f"{share:.3f}" for share in (row.power, row.low, row.high)),
                str(row.trials),
            ]
            for row in self.table.itertuples()
        ]
        headers = [self.parameter, "power", "low", "high", "trials"]
        table = Table(rows, "r", headers, gap="  ", heads="r")
        text = [
            fill(part, 80, break_long_words=False, break_on_hyphens=False) for part in parts if part
        ]
        return Summary.of(table, head=[*text, ""])

    def paragraph(self) -> str:
        """Return two to four sentences for a protocol.

        They give design, test, level, power, effect with interval, and software.
        """
        words = self._words()
        permuted = f", {self.n_resamples:g} permutations" if self.n_resamples else ""
        assumed = "".join(f"{sentence} " for sentence in self._assumed(words))
        return (
            f"The minimum detectable effect was determined by simulation: {words['trials']} data "
            f"sets {words['source'].replace('your pilot', 'pilot')} were tested by "
            f"{KINDS[self.design.test].described} "
            f"({self.estimator}{permuted}, level {self.alpha:g}). With {words['sizes']}, the "
            f"smallest effect detected with {percent(self.power)} power is {words['effect']} "
            f"({percent(self.confidence)} interval {words['interval']}). In {words['checked']} "
            f"further data sets with this effect the power was {words['reached']} and, without an "
            f"effect, the rejection rate {words['level']} (95% intervals). "
            f"{assumed}Software: shrinktest {self.versions['shrinktest']}, seed {self.seed}."
        )

    def _assumed(self, words: dict[str, str]) -> list[str]:
        """Return sentences on what the answer assumes."""
        sentences = [recruits(self.design, self.n, words["sizes"]), self.design.assumption]
        return [sentence for sentence in sentences if sentence]

    def _words(self) -> dict[str, str]:
        """Return what the summary and the paragraph share."""
        null = self.check["null"]
        reached = self.check.loc[~null].iloc[0]
        resampled = "resampled" if self.design.assumption else "drawn"
        source = self.strengths.design.described
        unit = " standard deviations" if self.design.assumption else ""
        high = f"to {self.high:.3g}" if self.high < math.inf else "or more"
        return {
            "trials": str(int(self.table["trials"].sum())),
            "source": f"{resampled} from {source}",
            "sizes": sizes_in_words(self.design, self.n, self.sizes),
            "effect": f"{self.parameter} = {self.effect:.3g}{unit}",
            "interval": f"{self.low:.3g} {high}",
            "checked": str(int(reached["trials"])),
            "reached": rate_words(reached),
            "level": rate_words(self.check.loc[null].iloc[0]),
        }
