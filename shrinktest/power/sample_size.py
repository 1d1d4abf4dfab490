"""How many observations a test needs: solve_sample_size."""

from __future__ import annotations

import math
import os
import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._renamed import renamed
from shrinktest._validate import count, level, positive
from shrinktest.nulls.stopping import as_stopping
from shrinktest.power.arguments import as_compared, options_of
from shrinktest.power.designs import Design, as_design
from shrinktest.power.result import PowerStudyResult
from shrinktest.power.study import power_study, relabellings_of
from shrinktest.power.work import bar
from shrinktest.results.base import Result
from shrinktest.results.kinds import INDEPENDENCE, JOINT, TWO_SAMPLE
from shrinktest.results.text import Report, Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_SCOUTS = 60  # trials at each size while looking for the region
_ROUNDS = 4
_SPREAD = (-0.45, 0.0, 0.45)  # where a round looks, in standard normal units of power around the one asked for


@dataclass(frozen=True, eq=False)
class SampleSizeResult(Result):
    """The sample size that reaches a power, with its uncertainty and the trials behind it.

    Attributes
    ----------
    n : int
        Least size of the first sample (or number of pairs) with the power asked for, by the fitted curve.
    low, high : float
        Confidence interval for it; ``high`` is infinite where the trials cannot tell.
    confidence : float
        Of the interval.
    power, alpha : float
        As asked for.
    estimator : str
        The estimator's label.
    design : Design
    table : pandas.DataFrame
        Power and interval at every size that was tried: the trials behind the answer.
    check : pandas.DataFrame
        Power and level (``null``), each with its interval, of fresh trials at the answer.
    coefficients : tuple of float
        (a, b) of the fitted power curve, Phi(a + b log n).

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
    table: pd.DataFrame
    check: pd.DataFrame
    coefficients: tuple[float, float]

    def __repr__(self) -> str:
        return f"SampleSizeResult(n={self.n}, low={self.low:.4g}, high={self.high:.4g}, power={self.power:g})"

    def fitted_power(self, n: Any) -> np.ndarray:
        """Power at sizes ``n`` by the fitted curve."""
        from scipy.stats import norm

        a, b = self.coefficients
        return np.asarray(norm.cdf(a + b * np.log(np.asarray(n, dtype=np.float64))))

    def summary(self) -> str:
        """The answer in words and the trials behind it, as text."""
        return self._report().as_text()

    def _report(self) -> Report:
        reached, level_row = (self.check.loc[self.check["null"] == null].iloc[0] for null in (False, True))
        ratio = "" if self.design.test != TWO_SAMPLE.name else f", {round(self.n * self.design.ratio)} in the second"
        unit = {INDEPENDENCE.name: "pairs", JOINT.name: "rows"}.get(
            self.design.test, "observations in the first sample"
        )
        answer = (
            f"{self.n} {unit}{ratio} give the {self.estimator} test power {self.power:g} at level {self.alpha:g} "
            f"({self.confidence:.0%} interval [{self.low:.4g}, {self.high:.4g}], from "
            f"{int(self.table['trials'].sum())} simulated data sets of {self.design!r})."
        )
        check = (
            f"At n = {self.n}, {int(reached['trials'])} further data sets each: power {reached['power']:.3f} "
            f"[{reached['low']:.3f}, {reached['high']:.3f}], level {level_row['power']:.3f} "
            f"[{level_row['low']:.3f}, {level_row['high']:.3f}]."
        )
        rows = [
            [str(row.n), *(f"{share:.3f}" for share in (row.power, row.low, row.high)), str(row.trials)]
            for row in self.table.itertuples()
        ]
        text = (fill(part, width=80, break_long_words=False, break_on_hyphens=False) for part in (answer, check))
        return Report([*text, ""], Table(rows, "r", ["n", "power", "low", "high", "trials"], gap="  ", heads="r"))

    def plot(self, ax: Axes | None = None) -> Axes:
        """The fitted power curve, the trials, and the solution with its interval (matplotlib)."""
        from shrinktest.power.plots import plot_sample_size

        return plot_sample_size(self, ax)


@renamed(kernels="test_options")
def solve_sample_size(
    design: Any,
    *,
    estimator: Any = "kme",
    power: float = 0.8,
    alpha: float = 0.05,
    ratio: float | None = None,
    n_trials: int = 2000,
    n_resamples: int = 199,
    stopping: Any = None,
    test_options: Mapping[str, Any] | None = None,
    largest: int = 5000,
    confidence: float = 0.95,
    rng: int = 0,
    store: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: bool = False,
) -> SampleSizeResult:
    """Sample size at which a test reaches a given power: ``solve_power`` of statsmodels, for kernel tests.

    Parameters
    ----------
    design : str, Design or callable
        What the data will look like; ``FromData(X, Y)`` for pilot data.
    estimator : str, MeanEstimator, callable, list of these, or dict, default "kme"
    power : float, default 0.8
    alpha : float, default 0.05
    ratio : float, optional
        Size of the second sample over that of the first, for designs of two samples; default the design's own.
    n_trials : int, default 2000
        Simulated data sets that the answer is fitted to, besides those that look for the region.
    n_resamples : int, default 199
        Relabellings in every test.
    stopping : {None, "besag-clifford", "curtailed"} or Stopping
        When a test may draw fewer; "curtailed" gives the same answer in less time.  See :func:`power_study`.
    test_options : mapping, optional
        Keyword arguments for the test, such as ``{"bandwidth": 1.5}``.
    largest : int, default 5000
        Sizes that are not looked beyond.
    confidence : float, default 0.95
        Of the interval.
    rng : int, default 0
        Seed.
    store : path, optional
        Keeps the trials, so that an interrupted search goes on where it was; see :func:`power_study`.
    workers : int, optional
        Processes; default all usable cores.  The result is the same for any number.
    progress : bool, default False
        Show progress bars.

    Returns
    -------
    SampleSizeResult

    Raises
    ------
    ValueError
        If the power is not above the level, or not reached at ``largest``; the message says how far it got.

    Notes
    -----
    The size is doubled until the power asked for is passed.  Then, in four rounds, trials go to the sizes where the
    power is a little below, at and a little above the one asked for, according to a probit regression on log n of all
    trials so far (statsmodels).  The interval is Fieller's for the size where the fitted curve crosses.  Fresh trials
    at the answer, of the design and of its null twin, check it.

    Examples
    --------
    >>> from shrinktest.power import solve_sample_size
    >>> from shrinktest.power.designs import MeanShift
    >>> found = solve_sample_size(MeanShift(dimension=2, shift=1.0), n_trials=300, n_resamples=99, workers=1)
    >>> found.low < found.n < found.high
    True
    """
    d = as_design(design)
    level(alpha)
    level(power, "power")
    level(confidence, "confidence")
    count(n_trials, "n_trials", 100)
    count(largest, "largest", d.smallest())
    if power <= alpha:
        raise ValueError(f"power={power:g} must be above the level alpha={alpha:g}, which no data at all reach")
    if ratio is not None:
        one_sample = {INDEPENDENCE.name: "an independence test has one sample of pairs"}
        one_sample[JOINT.name] = "a joint-independence test has one sample of rows"
        if d.test in one_sample:
            raise ValueError(f"ratio compares the sizes of two samples; {one_sample[d.test]}")
        d = replace(d, ratio=positive(ratio, "ratio"))  # type: ignore[type-var]  # designs of two samples are dataclasses
    options = options_of(test_options or {}, d.test, "test_options")
    smallest = _smallest(d, largest, alpha, n_resamples, options)
    compared, rule = as_compared(estimator, d.test), as_stopping(stopping, alpha)
    label = estimator if isinstance(estimator, str) else repr(compared)
    with tempfile.TemporaryDirectory() as folder, bar("studies of one size", progress) as studies:
        where = Path(folder) / "trials.sqlite" if store is None else store

        def run(sizes: list[int], trials: Any, with_null: bool = False) -> PowerStudyResult:
            found = power_study(
                d,
                {label: compared},
                sizes,
                alphas=(alpha,),
                n_trials=trials,
                n_resamples=n_resamples,
                stopping=rule,
                with_null=with_null,
                test_options=options,
                rng=rng,
                store=where,
                workers=workers,
                progress=progress,
            )
            studies.update()
            return found

        rejections = _Rejections()
        _scout(run, rejections, smallest, largest, power)
        share = -(-n_trials // (_ROUNDS * len(_SPREAD)))
        for _ in range(_ROUNDS):
            for n in sorted({_solve(rejections.fit()[0], power, s, smallest, largest) for s in _SPREAD}):
                start = rejections.trials(n)
                rejections.add(n, run([n], range(start, start + share)))
        coefficients, covariance = rejections.fit()
        n = _solve(coefficients, power, 0.0, smallest, largest)
        low, high = _fieller(coefficients, covariance, power, confidence)
        start = rejections.trials(n)
        fresh = run([n], range(start, start + max(200, n_trials // 4)), with_null=True)
    return SampleSizeResult(
        n=n,
        low=max(low, smallest),
        high=high,
        confidence=confidence,
        power=power,
        alpha=alpha,
        estimator=label,
        design=d,
        table=rejections.table(),
        check=fresh.frame()[["n", "null", "power", "low", "high", "trials"]],
        coefficients=(float(coefficients[0]), float(coefficients[1])),
    )


def _smallest(design: Design, largest: int, alpha: float, n_resamples: int, options: Mapping[str, Any]) -> int:
    """The first size at which the relabellings that the design and the tests allow are enough to reject."""
    sizes = range(design.smallest(), min(largest, design.smallest() + math.ceil(1.0 / alpha)) + 1)
    for n in sizes:
        try:
            relabellings_of(design, n, alpha, n_resamples, options)
        except ValueError:
            if n == sizes[-1]:
                raise
        else:
            return n
    raise AssertionError("there is a size")


class _Rejections:
    """Trials and rejections by sample size."""

    def __init__(self) -> None:
        self._counts: dict[int, tuple[int, int]] = {}

    def add(self, n: int, result: PowerStudyResult) -> float:
        row = result.table.iloc[0]
        trials, rejected = self._counts.get(n, (0, 0))
        self._counts[n] = trials + int(row["trials"]), rejected + round(float(row["power"]) * int(row["trials"]))
        return self._counts[n][1] / self._counts[n][0]

    def trials(self, n: int) -> int:
        return self._counts.get(n, (0, 0))[0]

    def sizes(self) -> int:
        """Number of sizes that were tried."""
        return len(self._counts)

    def fit(self) -> tuple[np.ndarray, np.ndarray]:
        """(a, b) of the probit curve in log n and their covariance."""
        import statsmodels.api as sm
        from statsmodels.tools.sm_exceptions import PerfectSeparationWarning

        sizes = np.array(sorted(self._counts), dtype=np.float64)
        counts = np.array([self._counts[int(n)] for n in sizes], dtype=np.float64)
        # half a rejection and half an acceptance more at each size keep the fit finite where all trials agree
        outcomes = np.column_stack([counts[:, 1] + 0.5, counts[:, 0] - counts[:, 1] + 0.5])
        family = sm.families.Binomial(link=sm.families.links.Probit())
        with warnings.catch_warnings():  # sizes that agree exactly, such as where every test rejects, are no mistake
            warnings.simplefilter("ignore", PerfectSeparationWarning)
            model = sm.GLM(outcomes, sm.add_constant(np.log(sizes), has_constant="add"), family=family).fit()
        return np.asarray(model.params), np.asarray(model.cov_params())

    def table(self) -> pd.DataFrame:
        import pandas as pd
        from statsmodels.stats.proportion import proportion_confint

        rows = []
        for n, (trials, rejected) in sorted(self._counts.items()):
            low, high = proportion_confint(rejected, trials, method="beta")
            rows.append({"n": n, "power": rejected / trials, "low": low, "high": high, "trials": trials})
        return pd.DataFrame(rows)


def _scout(run: Any, rejections: _Rejections, smallest: int, largest: int, power: float) -> None:
    """Double the size until the power is passed; then have at least three sizes, which the fit needs."""
    n = max(smallest, min(8, largest))
    while True:
        reached = rejections.add(n, run([n], range(_SCOUTS)))
        if n >= largest and reached < power - 0.15:
            raise ValueError(
                f"power {power:g} is not reached: at n = {n}, the largest size allowed, {reached:.0%} of {_SCOUTS} "
                "tests reject; raise largest=, or choose another estimator or bandwidth"
            )
        if n >= largest or reached > min(power + 0.1, 0.5 + power / 2.0):
            break
        n = min(2 * n, largest)
    for other in (n // 2, n // 4, 3 * n // 4, n + 1, n + 2):
        if rejections.sizes() < 3 and other >= smallest and rejections.trials(other) == 0:
            rejections.add(other, run([other], range(_SCOUTS)))


def _solve(coefficients: np.ndarray, power: float, shift: float, smallest: int, largest: int) -> int:
    """Least n at which the fitted curve is ``shift`` standard normal units past the power."""
    from scipy.stats import norm

    a, b = coefficients
    if not b > 0.0:  # flat: reached everywhere or nowhere
        return smallest if a + b * np.log(smallest) >= norm.ppf(power) + shift else largest
    exponent = (norm.ppf(power) + shift - a) / b
    return int(np.clip(np.ceil(np.exp(min(exponent, 50.0)) - 1e-9), smallest, largest))


def _fieller(coefficients: np.ndarray, covariance: np.ndarray, power: float, confidence: float) -> tuple[float, float]:
    """Fieller's interval for exp((z - a) / b): the sizes whose fitted probit is not significantly off z."""
    from scipy.stats import norm

    a, b = coefficients
    z, q = norm.ppf(power), norm.ppf(0.5 + confidence / 2.0) ** 2
    # (z - a - b x)^2 <= q (V_aa + 2 x V_ab + x^2 V_bb), a quadratic in x = log n
    square = b * b - q * covariance[1, 1]
    linear = b * (z - a) + q * covariance[0, 1]
    constant = (z - a) ** 2 - q * covariance[0, 0]
    if square <= 0.0:  # the slope itself is uncertain: no bound above
        return 0.0, float("inf")
    root = np.sqrt(max(linear * linear - square * constant, 0.0))
    return float(np.exp((linear - root) / square)), float(np.exp((linear + root) / square))
