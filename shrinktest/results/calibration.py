"""CalibrationResult: how often a pipeline rejected when there was nothing to find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import percent
from shrinktest.results.as_json import written
from shrinktest.results.base import Result
from shrinktest.results.kinds import kind_of
from shrinktest.results.result import versions
from shrinktest.results.text import Report, Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationResult(Result):
    """How often a pipeline rejected when there was nothing to find.

    Attributes
    ----------
    pvalues : ndarray, shape (n_trials,)
        One of every permuted data set.
    alphas : tuple of float
        Levels, ascending.
    confidence : float
        Confidence of the intervals.
    kind : str
        "two-sample" or "independence": how the data were permuted.
    restriction : str
        In words, where the design of the data allowed some permutations only.
    name : str
        What the pipeline is called.
    n_observations : tuple of int
        Sizes of the samples, or the number of pairs.
    seed : int
        ``calibrate(..., rng=seed)`` repeats it.
    notes : tuple of str
        What a reader should know, such as that the null hypothesis is an estimate.

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

    def __repr__(self) -> str:
        worst = ", ".join(
            f"{alpha:g}" for alpha, flag in zip(self.alphas, self.table["verdict"], strict=True) if "anti" in flag
        )
        verdict = f"flagged at {worst}" if worst else "nothing flagged"
        return f"CalibrationResult({self.name}, {len(self.pvalues)} trials, {verdict})"

    @property
    def table(self) -> pd.DataFrame:
        """One row a level (pandas): alpha, level (how often p <= alpha), low, high, rejections, trials, verdict.

        ``low`` and ``high`` are the Clopper-Pearson interval of the level.  The verdict is "anti-conservative" where
        all of it is above alpha, "conservative" where all of it is below, and empty otherwise.
        """
        import pandas as pd
        from statsmodels.stats.proportion import proportion_confint

        rows, trials = [], len(self.pvalues)
        for alpha in self.alphas:
            rejections = int((self.pvalues <= alpha).sum())
            low, high = proportion_confint(rejections, trials, alpha=1.0 - self.confidence, method="beta")
            verdict = "anti-conservative" if low > alpha else "conservative" if high < alpha else ""
            rows.append((alpha, rejections / trials, float(low), float(high), rejections, trials, verdict))
        return pd.DataFrame(rows, columns=["alpha", "level", "low", "high", "rejections", "trials", "verdict"])

    @property
    def anti_conservative(self) -> bool:
        """Whether the pipeline rejects too often at any of the levels."""
        return bool((self.table["verdict"] == "anti-conservative").any())

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values under the attribute names; ``levels`` has the rows of ``table``."""
        return {
            "name": self.name,
            "kind": self.kind,
            "restriction": self.restriction,
            "notes": list(self.notes),
            "n_observations": list(self.n_observations),
            "n_trials": len(self.pvalues),
            "seed": self.seed,
            "confidence": self.confidence,
            "anti_conservative": self.anti_conservative,
            "levels": self.table.to_dict("records"),
            "versions": versions(),
            "pvalues": self.pvalues.tolist(),
        }

    def to_json(self, path: Any = None, **options: Any) -> str:
        """``to_dict`` as JSON, also written to ``path``; ``options`` go to :func:`json.dumps`."""
        return written(self.to_dict(), path, **options)

    def summary(self) -> str:
        """What was done, and the levels with their intervals."""
        return self._report().as_text()

    def _report(self) -> Report:
        how = kind_of(self.kind).permuted
        how += f" ({self.restriction})" if self.restriction else ""
        rows = [
            [f"{row.alpha:g}", f"{row.level:.4f}", f"[{row.low:.4f}, {row.high:.4f}]", row.verdict]
            for row in self.table.itertuples()
        ]
        head = (
            f"Calibration of {self.name}",
            f"Data:       {' + '.join(map(str, self.n_observations))} observations, {how}",
            f"Trials:     {len(self.pvalues)}; seed {self.seed}",
            f"Intervals:  {percent(self.confidence)} Clopper-Pearson",
        )
        return Report(head, Table(rows, "r", ["alpha", "level", "interval", ""], below="-"), self.notes)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Share of p-values up to every level, with the band in which uniform ones would be (matplotlib)."""
        from shrinktest.plots.calibration import plot_calibration

        return plot_calibration(self, ax)
