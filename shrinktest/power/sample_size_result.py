"""SampleSizeResult: how many observations a test needs, and how well that is known."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from shrinktest._check import percent
from shrinktest.power.designs import Design, FromData
from shrinktest.power.study_result import rate_words
from shrinktest.results.base import Result
from shrinktest.results.info import CHANGE, FACTOR, KINDS, SYMMETRY
from shrinktest.results.paragraph import software
from shrinktest.results.plots.studies import plot_sample_size
from shrinktest.results.printing import Summary, Table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class PowerCurve:
    """Curve Phi(a + b sqrt(n)) with its uncertainty.

    The power of tests whose statistic is a mean grows like this.
    """

    coefficients: np.ndarray  # (2,): (a, b)
    covariance: np.ndarray  # (2, 2): of their estimates

    @classmethod
    def of(cls, counts: Mapping[Any, tuple[int, int]], power: float) -> Self:
        """Fit a probit regression on sqrt(n) to (trials, rejections) at each size (statsmodels).

        One more trial at each size, which rejects with the target ``power``, keeps the fit finite
        if all trials agree, and does not move the size at which that power is reached.
        """
        import statsmodels.api as sm
        from statsmodels.tools.sm_exceptions import PerfectSeparationWarning

        sizes = np.array(sorted(counts), dtype=np.float64)
        trials, rejected = np.array([counts[n] for n in sizes.tolist()], dtype=np.float64).T
        outcomes = np.column_stack([rejected + power, trials - rejected + 1.0 - power])
        family = sm.families.Binomial(link=sm.families.links.Probit())
        # sizes may agree exactly, as when every test rejects; two sizes leave no degree of freedom
        with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
            warnings.simplefilter("ignore", PerfectSeparationWarning)
            model = sm.GLM(
                outcomes, sm.add_constant(np.sqrt(sizes), has_constant="add"), family=family
            ).fit()
        return cls(np.asarray(model.params), np.asarray(model.cov_params()))

    def power(self, n: Any) -> np.ndarray:
        """Return the power at sizes ``n``."""
        from scipy.stats import norm

        a, b = self.coefficients
        return np.asarray(norm.cdf(a + b * np.sqrt(np.asarray(n, dtype=np.float64))))

    def band(self, n: float, confidence: float) -> tuple[float, float]:
        """Return the interval for the power at one size."""
        from scipy.stats import norm

        row = np.array([1.0, np.sqrt(n)])
        margin = norm.ppf(0.5 + confidence / 2.0) * np.sqrt(row @ self.covariance @ row)
        center = row @ self.coefficients
        return float(norm.cdf(center - margin)), float(norm.cdf(center + margin))

    def goes_up(self) -> bool:
        """Return True if power grows with size by more than three standard errors."""
        return bool(self.coefficients[1] > 3.0 * np.sqrt(self.covariance[1, 1]))

    def size(self, power: float, shift: float, smallest: int, largest: int) -> int:
        """Return the smallest n at which the curve is ``shift`` past the power.

        The shift is in standard normal units.
        """
        from scipy.stats import norm

        a, b = self.coefficients
        if not b > 0.0:  # flat: reached everywhere or nowhere
            return smallest if a + b * np.sqrt(smallest) >= norm.ppf(power) + shift else largest
        root = float(np.clip((norm.ppf(power) + shift - a) / b, 0.0, 2.0 * largest))
        return int(np.clip(np.ceil(root**2 - 1e-9), smallest, largest))

    def interval(self, power: float, confidence: float) -> tuple[float, float]:
        """Return Fieller's interval for ((z - a) / b)^2.

        It holds sizes whose fitted probit is not significantly off z.
        """
        from scipy.stats import norm

        (a, b), covariance = self.coefficients, self.covariance
        z = norm.ppf(power)
        q = norm.ppf(0.5 + confidence / 2.0) ** 2
        # (z - a - b x)^2 <= q (V_aa + 2 x V_ab + x^2 V_bb), a quadratic in x = sqrt(n)
        square = b * b - q * covariance[1, 1]
        linear = b * (z - a) + q * covariance[0, 1]
        constant = (z - a) ** 2 - q * covariance[0, 0]
        if square <= 0.0:  # the slope itself is uncertain: no bound above
            return 0.0, float("inf")
        root = np.sqrt(max(linear * linear - square * constant, 0.0))
        ends = np.maximum([linear - root, linear + root], 0.0) / square
        return float(ends[0] ** 2), float(ends[1] ** 2)


@dataclass(frozen=True, eq=False)
class SampleSizeResult(Result):
    """The sample size that reaches a power, with its interval and its trials.

    Attributes
    ----------
    n : int
        Smallest size of the first sample (or number of pairs) with the required power, by the
        fitted curve.
    low, high : float
        Confidence interval for the size at which the curve reaches the power; ``high`` is infinite
        if the trials cannot bound it.  Both are ``n`` if that is the smallest size that can be
        tested.
    confidence, power, alpha : float
        Confidence level of the intervals, required power, and significance level of the test.
    estimator : str
        The label of the estimator or the test.
    design : Design
        The source of the data, as it was passed to the search.
    sizes : tuple of int
        Sizes of all samples, or the number of rows of each variable, if the first has ``n``.
    table : pandas.DataFrame
        Power and interval at every size that was tried: the trials behind the answer.
    check : pandas.DataFrame
        Power and Type I error rate (``null``), each with its interval, of fresh trials at the
        answer, which the curve was not fitted to.
    checks : int
        How often an answer was checked.  Trials of checks that did not agree are in ``table``.
    agrees : bool
        True if the last check agreed, that is, if its interval contains the power by the curve.
    curve : PowerCurve
        The fitted power curve, Phi(a + b sqrt(n)).
    n_resamples : int or inf
        Permutations per test; 0 for a test that draws none.
    seed : int
        Seed of the search; ``rng=seed`` repeats it.
    shown : str
        The conclusion that an equivalence test shows, and empty for other tests.

    Examples
    --------
    >>> from shrinktest.power import solve_sample_size
    >>> from shrinktest.power.designs import MeanShift
    >>> answer = solve_sample_size(
    ...     MeanShift(dimension=1, shift=1.0), n_trials=100, n_resamples=39, workers=1, rng=0
    ... )
    >>> answer.power, answer.alpha, bool(answer.fitted_power(answer.n) >= 0.8)
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
    n_resamples: float
    seed: int
    shown: str = ""

    plot = plot_sample_size

    def __repr__(self) -> str:
        return (
            f"SampleSizeResult(n={self.n}, low={self.low:.4g}, high={self.high:.4g}, "
            f"power={self.power:g})"
        )

    def fitted_power(self, n: Any) -> np.ndarray:
        """Return the power at sizes ``n`` by the fitted curve, as an array."""
        return self.curve.power(n)

    def summary(self) -> Summary:
        """Return the answer in words, the check, and the trials behind both, as text."""
        words = self._words()
        effect = found_by(self.design)
        finds = f"shows {self.shown} if there is no effect" if self.shown else f"finds the {effect}"
        low, high = self.curve.band(self.n, self.confidence)
        power = 100 * float(self.fitted_power(self.n))
        goal = percent(self.power)
        source = words["source"].partition(" (")[0] if self.design.assumption else words["source"]
        sources = f"{words['trials']} data sets {source}"
        size = f"The smallest sample size with {goal} power is {self.n} ({sources}). "
        size += f"Its {percent(self.confidence)} interval is {words['interval']}."
        if self.low == self.high:
            size = (
                f"This is the smallest size that can be tested, and it has {goal} power already "
                f"({sources})."
            )
        check = (
            f"Check with {words['checked']} further data sets of this size: the test rejects in "
            f"{words['reached']}, "
            f"and {words['without']} in {words['level']}."
        )
        if self.agrees and self.checks > 1:
            earlier = (
                "An earlier check did not; its data"
                if self.checks == 2
                else "Earlier checks did not; their data"
            )
            check += f" The check agrees. {earlier} were added and the size was fitted again."
        doubt = (
            f"This does not agree with the {power:.0f}% above, nor did the {self.checks - 1} "
            "checks before. "
            "Do not rely on this size; look at the power around it with power_study."
        )
        parts = [
            f"{size} With {words['sizes']} the {self.estimator} test {finds}, at level "
            f"{self.alpha:g}, in about "
            f"{power:.0f}% of studies [{100 * low:.0f}%, {100 * high:.0f}%].",
            check,
            *([] if self.agrees else [doubt]),
            *filter(None, [recruits(self.design, self.n, words["sizes"])]),
            *([self.design.assumption] if self.design.assumption else []),
        ]
        rows = [
            [
                str(row.n),
                *(f"{share:.3f}" for share in (row.power, row.low, row.high)),
                str(row.trials),
            ]
            for row in self.table.itertuples()
        ]
        table = Table(rows, "r", ["n", "power", "low", "high", "trials"], gap="  ", heads="r")
        text = [fill(part, 80, break_long_words=False, break_on_hyphens=False) for part in parts]
        return Summary.of(table, head=[*text, ""])

    def _sources(self) -> tuple[str, ...]:
        return ("CP34",)

    def paragraph(self) -> str:
        """Return two to four sentences for a protocol.

        They name design, test, level, power with interval, and software.
        """
        words = self._words()
        permuted = f", {self.n_resamples:g} permutations" if self.n_resamples else ""
        interval = (
            ""
            if self.low == self.high
            else f" ({percent(self.confidence)} interval {words['interval']})"
        )
        claimed = f" to show {self.shown}" if self.shown else ""
        sentences = [recruits(self.design, self.n, words["sizes"]), self.design.assumption]
        assumed = "".join(f"{sentence} " for sentence in sentences if sentence)
        return (
            f"The sample size was determined by simulation: {words['trials']} data sets "
            f"{words['source'].replace('your pilot', 'pilot')} were tested by "
            f"{KINDS[self.design.test].described} "
            f"({self.estimator}{permuted}, level {self.alpha:g}){claimed}. "
            f"The smallest size with {percent(self.power)} power is {words['sizes']}{interval}. "
            f"In {words['checked']} further data sets of this size the power was "
            f"{words['reached']} and, "
            f"{words['without']}, the rejection rate {words['level']} (95% intervals). "
            f"{assumed}{software(self.versions, f'seed {self.seed}')}."
        )

    def _words(self) -> dict[str, str]:
        """Return what the summary and the paragraph share."""
        null = self.check["null"]
        reached = self.check.loc[~null].iloc[0]
        level = self.check.loc[null].iloc[0]
        design = self.design.null() if self.shown else self.design
        resampled = "resampled" if design.assumption else "drawn"
        upper = f"to {math.ceil(self.high)}" if self.high < math.inf else "or more"
        return {
            "trials": str(int(self.table["trials"].sum())),
            "source": (
                f"{resampled} from {'the null twin of ' if self.shown else ''}{design.described}"
            ),
            "sizes": sizes_in_words(self.design, self.n, self.sizes),
            "interval": f"{math.ceil(self.low)} {upper}",
            "checked": str(int(reached["trials"])),
            "reached": rate_words(reached),
            "level": rate_words(level),
            "without": "in the design itself" if self.shown else "without an effect",
        }


def sizes_in_words(design: Design, n: int, sizes: tuple[int, ...]) -> str:
    """Return numbers of observations in words, such as "20 observations in each sample"."""
    kind = KINDS[design.test]
    unit = design.unit or kind.unit
    if not kind.several_samples:
        return f"{n} {unit}"
    if len(set(sizes)) == 1:
        return f"{n} {unit} in each sample"
    return f"{' + '.join(map(str, sizes))} {unit}"


def found_by(design: Design) -> str:
    """Return what the test of a design finds, such as "difference"."""
    kind = KINDS[design.test]
    effects = {CHANGE.name: "change", SYMMETRY.name: "asymmetry", FACTOR.name: "effect"}
    return "difference" if kind.several_samples else effects.get(kind.name, "dependence")


def recruits(design: Design, n: int, sizes: str) -> str:
    """Return a sentence on the rows to recruit, if the size counts incomplete ones.

    Empty if not.  ``sizes`` are the numbers of observations in words.
    """
    data = getattr(design, "design", design)  # of a null twin
    if (
        not isinstance(data, FromData)
        or data.nan_policy != "omit"
        or min(data.complete_shares) == 1.0
    ):
        return ""
    shares = [_shown_share(1.0 - share) for share in data.complete_shares]
    incomplete = shares[0] if len(set(shares)) == 1 else f"{shares[0]} (X) and {shares[1]} (Y)"
    recruited = f"{n} pairs" if data.paired else sizes
    which = f"of which about {incomplete}"
    if data.unit:
        which = f"and about {incomplete} of their rows"
    return (
        f"{recruited} are recruited, {which} are expected to be incomplete, as in the pilot "
        "data, and left out of the test."
    )


def _shown_share(share: float) -> str:
    """Return a share above 0 in whole percent."""
    return "less than 1%" if share < 0.005 else f"{100.0 * share:.0f}%"
