"""CalibrationResult: rejection rates of a pipeline under the null hypothesis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import percent
from shrinktest.results.base import TABLE, Result
from shrinktest.results.info import kind_of
from shrinktest.results.printing import Summary, Table
from shrinktest.results.result import clopper_pearson

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationResult(Result):
    """Rejection rates of a pipeline under the null hypothesis, with exact intervals.

    Attributes
    ----------
    pvalues : ndarray, shape (n_trials,)
        One for every permuted data set.
    alphas, confidence
        Levels, ascending, and the confidence of their intervals.
    kind, restriction : str
        How the data were permuted: "two-sample" or "independence", and in words which permutations were allowed.
    name : str
        Name of the pipeline.
    n_observations : tuple of int
        Sizes of the samples, or the number of pairs.
    seed : int
        ``calibrate(..., rng=seed)`` repeats it.
    notes : tuple of str
        Caveats, for example that the null hypothesis is an estimate.

    Examples
    --------
    >>> from scipy import stats
    >>> from shrinktest import calibrate
    >>> def t_test(X, Y):
    ...     return stats.ttest_ind(X, Y).pvalue
    >>> result = calibrate(t_test, [1.2, 0.3, 0.5, 0.8], [2.1, 1.9, 3.0, 2.6], n_trials=100, workers=1)
    >>> result.pvalues.shape, result.kind, result.anti_conservative
    ((100,), 'two-sample', False)
    """

    pvalues: np.ndarray
    alphas: tuple[float, ...]
    confidence: float
    kind: str
    name: str
    n_observations: tuple[int, ...]
    seed: int
    restriction: str = ""
    notes: tuple[str, ...] = ()

    table = TABLE

    def __repr__(self) -> str:
        worst = ", ".join(f"{row['alpha']:g}" for row in self.rows() if row["verdict"] == "anti-conservative")
        verdict = f"flagged at {worst}" if worst else "nothing flagged"
        return f"CalibrationResult({self.name}, {len(self.pvalues)} trials, {verdict})"

    def rows(self) -> list[dict[str, Any]]:
        """Return rows of ``table``: alpha, level (share of p <= alpha), low, high, rejections, trials, verdict.

        ``low`` and ``high`` are the Clopper-Pearson interval of the level.  The verdict is "anti-conservative" if
        all of it is above alpha, "conservative" if all of it is below, and empty otherwise.
        """
        rows, trials = [], len(self.pvalues)
        for alpha in self.alphas:
            rejections = int((self.pvalues <= alpha).sum())
            low, high = clopper_pearson(rejections, trials, self.confidence)
            verdict = "anti-conservative" if low > alpha else "conservative" if high < alpha else ""
            level = {"alpha": alpha, "level": rejections / trials, "low": low, "high": high}
            rows.append({**level, "rejections": rejections, "trials": trials, "verdict": verdict})
        return rows

    @property
    def anti_conservative(self) -> bool:
        """True if the pipeline rejects too often at any of the levels."""
        return any(row["verdict"] == "anti-conservative" for row in self.rows())

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values under the attribute names; ``levels`` has the rows of ``table``."""
        more = {"anti_conservative": self.anti_conservative, "n_trials": len(self.pvalues), "levels": self.rows()}
        return super().to_dict() | more

    def summary(self) -> Summary:
        """Return the settings, and the levels with their intervals."""
        rows = [
            [f"{row['alpha']:g}", f"{row['level']:.4f}", f"[{row['low']:.4f}, {row['high']:.4f}]", row["verdict"]]
            for row in self.rows()
        ]
        how = kind_of(self.kind).permuted + (f" ({self.restriction})" if self.restriction else "")
        head = (
            f"Calibration of {self.name}",
            f"Data:       {' + '.join(map(str, self.n_observations))} observations, {how}",
            f"Trials:     {len(self.pvalues)}; seed {self.seed}",
            f"Intervals:  {percent(self.confidence)} Clopper-Pearson",
        )
        return Summary.of(Table(rows, "r", ["alpha", "level", "interval", ""], below="-"), head=head, notes=self.notes)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the share of p-values up to every level, with the band of uniform ones (matplotlib)."""
        from shrinktest.plots.pvalues import plot_calibration

        return plot_calibration(self, ax)
