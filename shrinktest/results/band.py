"""WitnessBand: the difference of two kernel means at some points, and how large it is when there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shrinktest._check import percent
from shrinktest.permutations.stopping import allowed_rows
from shrinktest.results.base import Result
from shrinktest.results.text import Report, Table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class WitnessBand(Result):
    """The witness function at some points with a simultaneous permutation band around zero.

    Attributes
    ----------
    points : ndarray, shape (g, d)
        Where it was evaluated.
    values : ndarray, shape (g,)
        The witness function mu_X - mu_Y of the data.
    half_width : ndarray, shape (g,)
        Half the width of the band, which is symmetric about zero; infinite with too few permutations for this
        confidence.
    confidence : float
        Under equal distributions the whole function stays within the band with at least this probability.
    pvalue : float
        p-value of the test that rejects when the function leaves its band anywhere.
    n_resamples : int
        Number of permutations from which the band was computed.
    exact : bool
        Whether these are all permutations.
    studentized : bool
        Whether the band follows the spread of the function over the permutations, or has one width.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import two_sample_test
    >>> rng = np.random.default_rng(0)
    >>> result = two_sample_test(rng.normal(size=40), rng.normal(2.0, 1.0, size=40), rng=0)
    >>> band = result.witness_band([-1.0, 3.0])
    >>> np.sign(band.values).tolist(), (abs(band.values) > band.half_width).tolist()
    ([1.0, -1.0], [True, True])
    """

    points: np.ndarray
    values: np.ndarray
    half_width: np.ndarray
    confidence: float
    pvalue: float
    n_resamples: int
    exact: bool
    studentized: bool

    @classmethod
    def of(
        cls, points: np.ndarray, rows: np.ndarray, *, exact: bool, confidence: float, studentize: bool
    ) -> WitnessBand:
        """The band of the functions of all permutations, (rows, g), the observed one first."""
        # over all rows, the observed one among them, so that rows stay exchangeable
        spread = np.sqrt(np.square(rows).mean(axis=0)) if studentize else np.ones(rows.shape[1])
        usable = spread > 1e-12 * np.abs(rows).max(initial=0.0)
        heights = np.where(usable, np.abs(rows) / np.where(usable, spread, 1.0), 0.0).max(axis=1)
        reached = int((heights >= heights[0] * (1.0 - _TIE)).sum())
        allowed = allowed_rows(round(1.0 - confidence, 12), len(rows))  # 1 - .9 is a little less than .1
        # as many rows as may be above are; where the observed one is among them, it is outside the band
        limit = float(np.sort(heights)[::-1][allowed]) if 0 < allowed < len(rows) else np.inf
        return cls(
            points=points,
            values=rows[0],
            half_width=np.where(usable, limit * spread, np.inf) * (1.0 + _TIE),
            confidence=confidence,
            pvalue=reached / len(rows),
            n_resamples=len(rows) - (not exact),
            exact=exact,
            studentized=studentize,
        )

    def __repr__(self) -> str:
        outside = int(self.outside.sum())
        return f"WitnessBand({len(self.values)} points, {outside} outside the {percent(self.confidence)} band)"

    @property
    def outside(self) -> np.ndarray:
        """At which points the function leaves the band, shape (g,)."""
        return np.abs(self.values) > self.half_width

    def to_frame(self) -> pd.DataFrame:
        """One row a point (pandas): its coordinates, witness, lower, upper, outside."""
        import pandas as pd

        coordinates = {f"x{j}": column for j, column in enumerate(self.points.T)}
        band = {"witness": self.values, "lower": -self.half_width, "upper": self.half_width, "outside": self.outside}
        return pd.DataFrame({**coordinates, **band})

    def _report(self) -> Report:
        columns = zip(self.points, self.values, -self.half_width, self.half_width, self.outside, strict=True)
        rows = [
            [*(f"{number:.4g}" for number in (*point, *numbers)), "outside" if outside else ""]
            for point, *numbers, outside in columns
        ]
        names = [f"x{j}" for j in range(self.points.shape[1])]
        return Report([repr(self)], Table(rows, "r", [*names, "witness", "lower", "upper", ""], heads="r"))


_TIE = 1e-10  # relative
