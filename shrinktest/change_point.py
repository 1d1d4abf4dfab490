"""Does a series change, and where?  ``change_point_test``."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from shrinktest._check import choice, counted
from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest._random import setup_rng
from shrinktest._warn import warn_user
from shrinktest.change_location import locate, place_confidence
from shrinktest.data.series import read_series
from shrinktest.estimators import MeanEstimator
from shrinktest.fitted import FittedStatistic
from shrinktest.hypothesis import Hypothesis, require_values
from shrinktest.kernel_spec import KernelSpec
from shrinktest.kernels.bandwidths import require_in_range
from shrinktest.kernels.inner import FeatureMap
from shrinktest.notes import note
from shrinktest.permutations.base import Permutations
from shrinktest.permutations.block_length import split_by_blocks
from shrinktest.permutations.multiplicity import NEVER
from shrinktest.permutations.serial_correlation import BY_BLOCKS, in_blocks, short
from shrinktest.results.change import AggregateChangeResult, ChangeResult
from shrinktest.results.info import CHANGE, TestInfo
from shrinktest.run import run
from shrinktest.settings import Settings
from shrinktest.statistics.features import KernelFeatures
from shrinktest.statistics.kernel_cache import KernelCache
from shrinktest.statistics.scan import CHANGES, SINGLE, Cuts, Within, prepare, series_features
from shrinktest.statistics.seeded_intervals import Calibration, Scans
from shrinktest.statistics.statistic import Form, Prepared

_LEAST = 1e-150  # of kernel values that are squared
_FEWEST = 2  # rows within which there is a pair
_SHIFTED = "block_length='whole' shifts the whole series (block_length='auto' gives an interval)."
_OWN = "your own permutations need not include such exchanges."
_FURTHER = (
    "A further change looks like autocorrelation, and permuted blocks can hide it: "
    "try change_points"
)


@dataclass(frozen=True, eq=False, kw_only=True)
class NoChange(Hypothesis):
    """The rows of a series have one distribution, so that their order may be any other.

    The one variable has the rows (n, d) in order of time.
    """

    kind: ClassVar[TestInfo] = CHANGE

    change: str = SINGLE  # or "epidemic": one cut or an interval
    trim: float = 0.05  # share of the rows that a part, and the rest, have at least
    confidence: float | None = 0.95  # of the interval for the place; None: it is not computed
    times: tuple[Any, ...] = ()  # when the rows were observed, if known
    intervals: Calibration | None = (
        None  # how scans of seeded intervals are compared; None: only the series is scanned
    )
    noted: bool = True  # False: a part of a search, whose result carries no notes

    @classmethod
    def read(
        cls,
        X: Any,
        *,
        change: str = SINGLE,
        trim: Any = 0.05,
        confidence: Any = None,
        own: Any = None,
        nan_policy: str = "raise",
        **reading: Any,
    ) -> Self:
        """Read a series as users give it; see :func:`~shrinktest.data.series.read_series`."""
        choice(change, CHANGES, "change")
        series = read_series(X, nan_policy, **reading)
        n = len(series.variable.points)
        share = (
            isinstance(trim, int | float | np.number)
            and not isinstance(trim, bool)
            and 0.0 <= trim < 0.5
        )
        if not share or (n >= 2 * _FEWEST and 2 * math.ceil(trim * n - 1e-9) > n):
            raise ValueError(
                f"trim must be a fraction >= 0 and < 0.5 that leaves a cut of {n} rows; got "
                f"{trim!r}"
            )
        if change != SINGLE and len(series.restriction.series(n)) == 1:
            raise ValueError(
                "block_length='whole' shifts an interval together with the rows, so p is 1; use "
                "block_length='auto'"
            )
        return cls(
            variables=(series.variable,),
            sizes=(n,),
            missing=series.missing,
            restriction=series.restriction,
            remarks=series.notes,
            change=change,
            trim=float(trim),
            confidence=place_confidence(confidence),
            times=series.times,
            own=own,
        )

    @property
    def points(self) -> np.ndarray:
        """Rows (n, d)."""
        return self.variables[0].points

    @property
    def cuts(self) -> Cuts:
        """Parts that are compared with the rest."""
        n = self.sizes[0]
        return Cuts(n, self.change, max(_FEWEST, math.ceil(self.trim * n - 1e-9)))

    def part(self, first: int, end: int, **options: Any) -> Self:
        """Restrict the hypothesis to the rows from ``first`` to before ``end``."""
        rows = slice(first, end)
        restriction = self.restriction.of(np.arange(first, end))
        if restriction.block_length is not None:
            restriction = in_blocks(
                restriction.block_length, [self.points[rows]], restriction.blocks
            )
        variables = (self.variables[0].only(rows),)
        times = self.times[rows]
        return replace(
            self,
            variables=variables,
            sizes=(end - first,),
            restriction=restriction,
            times=times,
            **options,
        )

    def _allowed(self, alpha: float, symmetric: bool) -> Permutations:
        return self.restriction.pairings(self.sizes[0], alpha, self.least)

    @property
    def least(self) -> float:
        """Lower bound of all p-values: the share of permutations that keep a cut's parts."""
        return (
            0.0
            if self.restriction.shifted
            else self.cuts.least(self.restriction.units(self.sizes[0]))
        )

    @property
    def automatic(self) -> str:
        """Unbiased, the only form."""
        return "unbiased"

    def tuning(self, estimator: MeanEstimator) -> str:
        """Return what is tuned.

        Raises ValueError for estimators that are tuned in parts of the series.
        """
        n = self.sizes[0]
        apart = (n // 3, n - n // 3)
        tuning = estimator.tuning_for(apart)
        if (
            estimator.needs == "function"
            or tuning not in ("fixed", "pooled")
            or not estimator.weighs_all_alike(apart)
        ):
            raise ValueError(
                f"estimator={estimator!r} would be refitted at every cut; use 'kme', or 'mkme' "
                "with fixed noise"
            )
        return tuning

    def prepare(
        self, estimator: MeanEstimator, kernel: Any, form: Form, cache: KernelCache
    ) -> Prepared:
        """Prepare the largest standardized distance over cuts or intervals, for any row order."""
        require_in_range(kernel, self.points, self.variables[0].name, _LEAST)
        return prepare(estimator, kernel, self.points, self.cuts, cache=cache, scans_of=self._scans)

    def _scans(self, within: Within) -> Scans | None:
        return (
            Scans.of(within, self.cuts, self.restriction, self.intervals)
            if self.intervals
            else None
        )

    def concluded(
        self, result: Any, member: FittedStatistic, cache: KernelCache, rng: np.random.Generator
    ) -> Any:
        """Return the result with the place of the change."""
        if self.noted and self.own is None and result.n_resamples and self.least > result.alpha:
            warn_user(
                f"with {counted(self.sizes[0], 'row')} the smallest possible p-value is "
                f"{self.least:.3g}, "
                f"so the test {NEVER} at alpha = {result.alpha:g}; collect more rows"
            )
        kernel = member.features[0]
        if isinstance(kernel, FeatureMap):  # its coordinates were drawn before
            within = Within.of(KernelFeatures(kernel, self.points))
        else:
            within = Within.of(series_features(kernel, self.points, cache, self.change))
        confidence = None if self.interval_notes() else self.confidence
        several = hasattr(result, "members")
        chosen = several and len(result.members) > 1
        place = locate(
            within, self.cuts, self.restriction, confidence, setup_rng(rng), chosen=chosen
        )
        if not result.pvalue > result.alpha and (scans := self._scans(within)):
            place = replace(place, location=scans.location())
        notes = result.notes
        if self.noted:
            notes += self.serial_notes_between(
                [row for row, _ in place.ends], f"{BY_BLOCKS}. {_FURTHER}"
            )
            if place.interval is not None and result.pvalue == result.pvalue:
                unsure = {
                    "no-rejection": not result.reject(),
                    "interval-ends": place.until is not None,
                }
                notes += tuple(
                    note(code)
                    for code, holds in {**unsure, "interval-chosen": several}.items()
                    if holds
                )
            notes += self.interval_notes()
        return replace(result, place=place, times=self.times, notes=tuple(dict.fromkeys(notes)))

    def interval_notes(self) -> tuple[str, ...]:
        """Say why the place has no interval although one is asked for."""
        if self.confidence is None or (self.own is None and not self.restriction.shifted):
            return ()
        return (note("no-interval", why=_SHIFTED if self.own is None else _OWN),)

    def serial_notes_between(self, edges: list[int], advice: str = BY_BLOCKS) -> tuple[str, ...]:
        """Notes on the correlation of successive rows, with a separate mean between edges."""
        if self.own is not None:
            return ()
        parts = np.split(np.arange(self.sizes[0]), edges)
        variable = self.variables[0]
        by_block = variable.rows_of(*split_by_blocks(parts, self.restriction.blocks))
        correlation = by_block.correlated(variable.name) if self.restriction.by_rows else None
        serial = () if correlation is None else (correlation.note(advice),)
        return (*serial, *short([variable.rows_of(*parts)], self.restriction, variable.name))


@hinted
@documented
def change_point_test(
    X: Any,
    *,
    change: str = "single",
    trim: float = 0.05,
    confidence: float | None = 0.95,
    times: Any = None,
    estimator: Any = "kme",
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    scale: Any = "auto",
    form: str = "auto",
    n_resamples: float = 999,
    alpha: float = 0.05,
    stopping: Any = None,
    blocks: Any = None,
    block_length: Any = None,
    permutations: Any = None,
    column_types: Any = None,
    transform: Any = None,
    nan_policy: str = "raise",
    rng: Any = None,
    workers: int | None = None,
    progress: bool = False,
    gram: str = "auto",
    rank: int | None = None,
    max_memory: float | None = None,
) -> ChangeResult | AggregateChangeResult:
    """Test whether a series changes, and locate the change with an interval.

    Parameters
    ----------
    X : array_like, shape (n, d) or (n,)
        Rows in order of time: an array or a table.  Columns of a table that contain times are not
        tested (:doc:`/change`).
    change : {"single", "epidemic"}, default "single"
        "single" is one change point, whereas "epidemic" is an interval whose rows differ from those
        before and after it.
    estimator : str or MeanEstimator, list of these, Ensemble or "auto", default "kme"
        "kme", or a marginalized mean with fixed or pooled noise; only for these can the distances
        at all change points be computed from sums of kernel values.  Several are combined, as in
        :func:`two_sample_test`.
    form : {"auto", "unbiased"}, default "auto"
        Both are the unbiased form, which is the only one.

    Returns
    -------
    ChangeResult
        ``result.location`` is the first row after the change, ``result.interval`` its confidence
        interval; ``result.plot()`` shows both.  Several estimators, kernels or bandwidths give an
        :class:`~shrinktest.AggregateChangeResult`.

    See Also
    --------
    change_points : Several changes.
    two_sample_test : Whether the rows before and after a known time differ, and by how much.
    equivalence_test : Whether they are practically equivalent.
    independence_test : Whether one series depends on another, at several lags.
    solve_sample_size : Number of rows that a test needs.

    Notes
    -----
    The statistic is the largest unbiased squared distance between the rows before and after a
    change point, standardized by its exact standard deviation over all orders of the rows: the
    statistic of Song and Chen (2022, arXiv:2206.01853) with minimum-variance weights.  The test is
    exact if rows are exchangeable (within blocks) when there is no change.  For autocorrelated
    rows, however, use ``block_length``, which is approximate (:doc:`/change`).

    The interval contains the locations that a test of "the change is here" does not reject.  If
    ``block_length="whole"``, intervals and epidemic changes require ``blocks`` with interleaved
    rows.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import change_point_test
    >>> rng = np.random.default_rng(1)
    >>> X = np.concatenate([rng.normal(size=(60, 2)), 2.0 * rng.normal(size=(60, 2))])
    >>> result = change_point_test(X, rng=0)
    >>> result.pvalue, result.location, result.interval
    (0.001, 60, (56, 61))

    A change that later ends (epidemic):

    >>> X[60:] = rng.normal(size=(60, 2))
    >>> X[40:70] += 1.0
    >>> spell = change_point_test(X, change="epidemic", rng=0)
    >>> spell.pvalue, spell.location, spell.until
    (0.001, 40, 70)
    """
    settings = Settings.read(
        form=form,
        n_resamples=n_resamples,
        alpha=alpha,
        stopping=stopping,
        workers=workers,
        progress=progress,
        gram=gram,
        rank=rank,
        max_memory=max_memory,
    )
    require_values(block_length, kernel)
    hypothesis = NoChange.read(
        X,
        change=change,
        trim=trim,
        confidence=confidence,
        own=permutations,
        nan_policy=nan_policy,
        scale=scale,
        column_types=column_types,
        transform=transform,
        blocks=blocks,
        block_length=block_length,
        times=times,
    )
    return run(hypothesis, estimator, [KernelSpec(kernel, bandwidth)], settings, rng)  # type: ignore[return-value]
