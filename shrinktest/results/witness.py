"""TwoSampleResult and WitnessBand: whether two samples differ, where, and in which coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import percent
from shrinktest._warn import tiny_is_zero
from shrinktest.kernels.user import takes_row_numbers
from shrinktest.permutations.stopping import allowed_rows
from shrinktest.results.base import Result
from shrinktest.results.plots import witness as pictures
from shrinktest.results.printing import Summary, Table
from shrinktest.results.regions_result import regions_of
from shrinktest.results.result import NO_DATA, TestResult

if TYPE_CHECKING:
    import pandas as pd

_TIE = 1e-10  # relative


@dataclass(frozen=True, eq=False, repr=False)
class TwoSampleResult(TestResult):
    """Result of a two-sample test, which shows where the samples differ, too.

    Attributes
    ----------
    null, data, setup, alpha, estimates, rng, notes, context
        As in a :class:`TestResult`, whose methods it has.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import two_sample_test
    >>> rng = np.random.default_rng(0)
    >>> result = two_sample_test(rng.normal(size=60), rng.normal(1.0, 1.0, size=60), rng=0)
    >>> result.witness([-1.0, 2.0]).round(2)  # there are more of the first sample at the left
    array([ 0.3, -0.3])
    >>> result.witness_band([-2.0, -1.0, 0.5, 2.0, 3.0]).outside
    array([ True,  True, False,  True,  True])
    >>> result.witness_band()  # at all observations
    WitnessBand(120 points, 86 outside the 95% band)
    """

    def witness(self, points: Any) -> np.ndarray:
        """Return the witness function mu_X - mu_Y at ``points`` (m, d), shape (m,).

        It is positive if X has more mass there.  For tables, the points are a table with these
        columns, or an array if all columns are numbers.  Raises ValueError if the data contained
        missing values or covariates were adjusted for.
        """
        if not self.estimates:
            if self.context is not None:
                self.require_data().require_features()
            raise ValueError(NO_DATA)
        first, second = self.estimates
        points = first.read(self._encoded(points), "points")
        return first.embedding(points) - second.embedding(points)

    def _encoded(self, points: Any) -> Any:
        """Return points as the kernel compares them."""
        self.require_columns()
        encoding = self.encodings[0] if self.encodings else None
        return points if encoding is None else encoding.read(points, "points")

    def require_columns(self) -> None:
        """Raise ValueError if the kernel compares residuals instead of the columns."""
        if self.method:
            raise ValueError(
                "points: with covariates= the witness function is of the residuals; use "
                "witness_band() without points"
            )

    def require_values(self) -> None:
        """Raise ValueError if the kernel compares row numbers of a matrix."""
        if takes_row_numbers(self.kernel):
            raise ValueError(
                "kernel: a matrix has row numbers in place of columns; use witness(row numbers)"
            )

    @tiny_is_zero
    def witness_band(
        self, points: Any = None, *, confidence: float = 0.95, studentize: bool = True
    ) -> WitnessBand:
        """Return the witness function at ``points`` (g, d), with a permutation band.

        The band is simultaneous and around zero: it corrects for looking at all points at once, as
        the look-elsewhere correction of physics does.

        Parameters
        ----------
        points : array_like or table, shape (g, d), or (g, r, d), optional
            Points at which the function is evaluated; with three dimensions, it is averaged over
            each group of r points, in the units that the kernel compares.  They must not depend on
            which observation is in which sample.  The default is the distinct observations of both
            samples, at most 256.
        confidence : float, default 0.95
            Probability that the whole function remains within the band if the samples have one
            distribution.
        studentize : bool, default True
            Whether the band is proportional to the spread of the function over the permutations;
            otherwise it has one width, so that small differences in the tails remain within it.

        Returns
        -------
        WitnessBand
            The function and its band at every point.

        Raises
        ------
        ValueError
            If the result does not hold its data, or ``points`` do not match them.

        Notes
        -----
        The function is fitted again in every permutation, and all these functions are compared by
        their largest height over the points, in units of their root mean square at every point if
        ``studentize``.  If the function leaves the band anywhere, equality is rejected at level 1 -
        confidence, exactly.  The points at which it leaves the band show the evidence, but they are
        not individually significant (weak control).

        At points that depend on the labels, such as the mean of X, the function may leave the band
        twice as often as stated, whereas the default points, from the pooled sample, avoid this.
        """
        context = self.require_data()
        if points is not None and len(getattr(points, "shape", ())) != 3:
            points = self._encoded(points)
        band: WitnessBand = context.band(
            self.estimates, points, confidence=confidence, studentize=studentize
        )
        return band

    plot_witness = pictures.plot_witness
    regions = regions_of

    @tiny_is_zero
    def contributions(self, *, n_repeats: int = 20, rng: Any = None) -> pd.DataFrame:
        """Return the contribution of each coordinate to the statistic (pandas).

        Parameters
        ----------
        n_repeats : int, default 20
            Number of exchanges to average over.
        rng : None, int, SeedSequence, BitGenerator or Generator
            Seed or generator of the exchanges; if it is None, every call draws identical ones.

        Returns
        -------
        DataFrame
            coordinate (the name of a column of tables, else its number), drop, error (standard
            error of the drop over the repeats), share (drop over statistic).

        Raises
        ------
        ValueError
            If the result does not hold its data, or the kernel does not compare columns.

        Notes
        -----
        The drop is the statistic minus its value after the values of the coordinate have been
        exchanged among all observations of both samples: the permutation importance of L. Breiman,
        Random forests, Machine Learning 45 (2001), 5-32.  The bandwidth remains fixed, as do the
        coordinates of a kernel that the test approximated, but estimators are fitted again.  Shares
        do not add up to 1, because evidence that two coordinates show together counts for both;
        they are NaN if the statistic is not above zero.
        """
        self.require_values()
        table: pd.DataFrame = self.require_data().contributions(
            n_repeats=n_repeats, rng=0 if rng is None else rng
        )
        return table


@dataclass(frozen=True, eq=False, repr=False)
class WitnessBand(Result):
    """The witness function at some points with a permutation band around zero.

    Attributes
    ----------
    points : ndarray, shape (g, d)
        Points at which the function was evaluated.
    values, half_width : ndarray, shape (g,)
        The witness function mu_X - mu_Y of the data, and half the width of the band, which is
        symmetric about zero; it is infinite if there are too few permutations for this confidence.
    confidence : float
        Under equal distributions the whole function remains within the band with at least this
        probability.
    pvalue : float
        p-value of the test that rejects if the function leaves its band anywhere.
    n_resamples, exact, studentized
        As in the test, and as passed to :meth:`TwoSampleResult.witness_band`.
    notes : tuple of str
        For a combined test, the member whose function it is.
    """

    points: np.ndarray
    values: np.ndarray
    half_width: np.ndarray
    confidence: float
    pvalue: float
    n_resamples: int
    exact: bool
    studentized: bool
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        points: np.ndarray,
        functions: np.ndarray,
        *,
        exact: bool,
        confidence: float,
        studentize: bool,
    ) -> WitnessBand:
        """Make the band of the functions of all permutations, the observed one first."""
        # over all rows, the observed one among them, so that rows stay exchangeable
        spread = (
            np.sqrt(np.square(functions).mean(axis=0))
            if studentize
            else np.ones(functions.shape[1])
        )
        usable = spread > 1e-12 * np.abs(functions).max(initial=0.0)
        heights = np.where(usable, np.abs(functions) / np.where(usable, spread, 1.0), 0.0).max(
            axis=1
        )
        reached = int((heights >= heights[0] * (1.0 - _TIE)).sum())
        allowed = allowed_rows(
            round(1.0 - confidence, 12), len(heights)
        )  # 1 - .9 is a little less than .1
        # as many rows as allowed are above; if the observed one is among them, it is outside the
        # band
        limit = float(np.sort(heights)[::-1][allowed]) if 0 < allowed < len(heights) else np.inf
        half_width = np.where(usable, limit * spread, np.inf) * (1.0 + _TIE)
        pvalue = reached / len(heights)
        drawn = len(heights) - (not exact)
        return cls(points, functions[0], half_width, confidence, pvalue, drawn, exact, studentize)

    def __repr__(self) -> str:
        outside = int(self.outside.sum())
        return (
            f"WitnessBand({len(self.values)} points, {outside} outside the "
            f"{percent(self.confidence)} band)"
        )

    @property
    def outside(self) -> np.ndarray:
        """True at points where the function leaves the band, one boolean per point."""
        return np.abs(self.values) > self.half_width

    @property
    def table(self) -> pd.DataFrame:
        """Coordinates, witness, lower, upper and outside at every point (pandas)."""
        import pandas as pd

        table = pd.DataFrame(self.points).add_prefix("x")
        return table.assign(
            witness=self.values, lower=-self.half_width, upper=self.half_width, outside=self.outside
        )

    def summary(self) -> Summary:
        """Return the function and its band at every point."""
        table = self.table
        rows = [
            [*(f"{value:.4g}" for value in values), "outside" if outside else ""]
            for *values, outside in table.itertuples(index=False)
        ]
        headers = [*table.columns[:-1], ""]
        return Summary.of(Table(rows, "r", headers, heads="r"), head=[repr(self)], notes=self.notes)
