"""TwoSampleResult: what a two-sample test found, and where and in which coordinates the samples differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._warn import tiny_is_zero
from shrinktest.results.result import TestResult

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from shrinktest.results.band import WitnessBand


@dataclass(frozen=True, eq=False, repr=False)
class TwoSampleResult(TestResult):
    """Result of a two-sample test: all of a :class:`TestResult`, and where the two samples differ.

    Attributes
    ----------
    statistic, pvalue, null_distribution, n_resamples, exact, tolerance, restriction, stopping, n_planned, stopped
        As in a :class:`TestResult`.
    test, form, estimator, tuning, kernel, bandwidth, route, n_observations, alpha, estimates, rng, versions, notes
        As in a :class:`TestResult`, too.
    names, columns, encodings, method, assumption, again, stored, keeps_data
        As there.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import two_sample_test
    >>> rng = np.random.default_rng(0)
    >>> result = two_sample_test(rng.normal(size=60), rng.normal(1.0, 1.0, size=60), rng=0)
    >>> result.witness([-1.0, 2.0]).round(2)  # there are more of the first sample at the left
    array([ 0.3, -0.3])
    """

    def witness(self, points: Any) -> np.ndarray:
        """Where the two samples differ: the witness function mu_X - mu_Y at ``points`` (m, d), shape (m,).

        Positive where the first sample has more mass.  For samples that were tables, the points are a table with the
        same columns, or an array if all of these are numbers.

        Raises
        ------
        ValueError, TypeError
            If the data contained missing values, for other columns than those that were tested, or if covariates were
            taken off.
        """
        self._require_estimates()
        first, second = self.estimates
        points = first.read(self._encoded(points), "points")
        return first.embedding(points) - second.embedding(points)

    def _encoded(self, points: Any) -> Any:
        """Points as the numbers that the kernel compares."""
        self._refuse_covariates()
        encoding = self.encodings[0] if self.encodings else None
        return points if encoding is None else encoding.read(points, "points")

    def _require_estimates(self) -> None:
        if not self.estimates:
            raise ValueError(
                "the data contained missing values, so nothing was estimated, and there is neither a witness function "
                "nor an effect"
            )

    def _recomputed(self) -> Any:
        self._require_estimates()
        return super()._recomputed()

    def _refuse_covariates(self) -> None:
        """Raise ValueError where kernels compared what covariates leave, which points of a user's have none of."""
        if self.method:
            raise ValueError(
                "with covariates= kernels compare what is left of the samples once covariates are taken off, and the "
                "witness function is of that; points and columns as they were given have no place in it: use "
                "witness_band() without points, or contributions()"
            )

    @tiny_is_zero
    def witness_band(self, points: Any = None, *, confidence: float = 0.95, studentize: bool = True) -> WitnessBand:
        """The witness function at ``points`` (g, d) with a simultaneous permutation band around zero.

        Parameters
        ----------
        points : array_like or table, shape (g, d), or (g, r, d), optional
            Where; with three dimensions, the average over each group of r points (given as the kernel compares them:
            in units, and with indicators of categories, if the samples were tables).  They must not depend on which
            observation is in which sample, see the notes.  By default the distinct observations of both samples, in
            the order of their columns; of more than 256 as many, evenly spaced in that order, which for one column are
            quantiles.
        confidence : float, default 0.95
            The chance that the whole function stays within the band if the samples have one distribution.
        studentize : bool, default True
            Whether the band is proportional to the spread of the function over the permutations; otherwise it has one
            width, so that small differences in the tails stay within it.

        Returns
        -------
        WitnessBand
            ``values``, ``half_width``, ``outside``, ``pvalue``, ``to_frame()``.

        Raises
        ------
        ValueError
            Without permutations, or if the result was pickled without its data.

        Notes
        -----
        The functions of the same permutations as in the test, each with its estimates fitted again, are compared by
        their largest height over the points, in units of their root mean square at every point if ``studentize``.  If
        the function leaves the band anywhere, equality is rejected at level 1 - confidence, exactly.  The points where
        it does show where the evidence is; they are not proven one by one, because the permutations are made under the
        hypothesis that there is no difference at all (weak control).  A rule that stopped the test early is not used
        here.

        All this holds for points that are fixed beforehand, or taken from the pooled sample without regard to the
        labels, as the default points and those of ``plot_witness`` are.  At points that depend on the labels the band
        is not simultaneous: the mean of X, for example, is where X happens to have much mass, which is not so in the
        permuted data, and the function may leave the band there twice as often as stated.

        Examples
        --------
        >>> import numpy as np
        >>> from shrinktest import two_sample_test
        >>> rng = np.random.default_rng(0)
        >>> result = two_sample_test(rng.normal(size=60), rng.normal(1.0, 1.0, size=60), rng=0)
        >>> band = result.witness_band([-2.0, -1.0, 0.5, 2.0, 3.0])
        >>> band.outside
        array([ True,  True, False,  True,  True])
        >>> result.witness_band()  # at all observations
        WitnessBand(120 points, 86 outside the 95% band)
        """
        again = self._recomputed()
        given = points is None or len(getattr(points, "shape", ())) == 3
        at = points if given else self._encoded(points)
        return again.band(self.estimates, at, confidence=confidence, studentize=studentize)

    @tiny_is_zero
    def plot_witness(self, ax: Axes | None = None, **options: Any) -> Axes:
        """The witness function over one or two coordinates, with its band (matplotlib).

        Parameters
        ----------
        ax : Axes, optional
        **options
            ``coordinates``: names (of tables) or numbers of one or two columns (needed with more than two); ``others``:
            "median" holds the other columns at the medians of all observations, and categories at the most frequent
            level, "marginal" averages over their values (the partial dependence of J. H. Friedman, Annals of Statistics
            29 (2001), 1189-1232); ``confidence``, ``studentize`` as in :meth:`witness_band`; ``grid``: points along
            each coordinate; ``names`` of all columns.
        """
        self._recomputed()
        self._refuse_covariates()
        from shrinktest.plots.witness import plot_witness

        return plot_witness(self, ax, **options)

    @tiny_is_zero
    def contributions(self, *, n_repeats: int = 20, rng: Any = 0) -> pd.DataFrame:
        """What each coordinate contributes to the statistic of a two-sample test (pandas).

        Parameters
        ----------
        n_repeats : int, default 20
            Exchanges to average over.
        rng : None, int, SeedSequence, BitGenerator or Generator, default 0
            Source of the exchanges.

        Returns
        -------
        DataFrame
            coordinate (the name of a column of tables, else its number), drop, error (standard error of the drop over
            the repeats), share (drop over statistic).

        Notes
        -----
        The drop is the statistic of the data less that of data in which the values of the coordinate have been
        exchanged among all observations of both samples, so that they carry no information on the sample or the other
        coordinates: the permutation importance of L. Breiman, Random forests, Machine Learning 45 (2001), 5-32.  The
        bandwidth stays, and so do the coordinates of a kernel that the test approximated (``gram="rff"`` or "nystrom");
        estimators are fitted again, and kernels of the pooled sample such as `Whitened` take the changed observations
        for it.  Shares do not add up to 1, because what two coordinates show together counts for
        both; they are NaN where the statistic is not above zero.  Where a coordinate does not differ, its drop may be
        below zero by chance.
        """
        return self._recomputed().contributions(n_repeats=n_repeats, rng=rng)
