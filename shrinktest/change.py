"""Does a series change, and where?  ``change_point_test``."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from shrinktest._check import choice, counted
from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest._series import read_series
from shrinktest._warn import warn_user
from shrinktest.estimators import MeanEstimator
from shrinktest.hypotheses.base import Hypothesis, Variable, places_of, require_values
from shrinktest.hypotheses.context import FittedStatistic
from shrinktest.hypotheses.place import Place, of_place
from shrinktest.hypotheses.settings import Settings
from shrinktest.kernels.bandwidths import require_in_range
from shrinktest.multiple.ensembles import KernelSpec
from shrinktest.multiple.run import run
from shrinktest.notes import note
from shrinktest.permutations.base import Permutations
from shrinktest.permutations.design import PermutationDesign
from shrinktest.permutations.serial_correlation import BY_STRETCHES, in_stretches, short, split_by_blocks
from shrinktest.results.change import AggregateChangeResult, ChangeResult
from shrinktest.results.conclude import NEVER
from shrinktest.results.info import CHANGE, TestInfo
from shrinktest.statistics.kernel_cache import KernelCache
from shrinktest.statistics.scan import CHANGES, SINGLE, Cuts, Within, fitted_features, prepare
from shrinktest.statistics.seeded_intervals import Calibration, Scans
from shrinktest.statistics.statistic import Prepared
from shrinktest.tables.pooled import is_unasked

_LEAST = 1e-150  # of kernel values that are squared
_SHIFTED = "shift='circular' moves the series as a whole (shift='stretches' has one)."
_OWN = "permutations of your own may not do that."
_FURTHER = (
    "A further change in the same series looks the same, and stretches can hide it: change_points looks for several"
)
_FEWEST = 2  # rows within which there is a pair


@dataclass(frozen=True, eq=False, kw_only=True)
class NoChange(Hypothesis):
    """The rows of a series have one distribution, so that their order may be any other.

    The one variable has the rows (n, d) in order of time.
    """

    kind: ClassVar[TestInfo] = CHANGE

    restriction: PermutationDesign = field(default_factory=PermutationDesign)  # which orders are allowed
    change: str = CHANGES[0]  # "single" or "epidemic": what is looked for, one cut or an interval
    # share of the rows at either end before and after which no cut is made; of an interval, its least length, and that
    # of what is outside
    trim: float = 0.05
    confidence: float | None = 0.95  # of the interval for the place; None: it is not computed
    times: tuple[Any, ...] = ()  # when the rows were observed, where that is known
    # how scans of intervals in the series are compared with that of the series; None: it alone is scanned
    intervals: Calibration | None = None
    noted: bool = True  # whether a result says what a reader should know of the memory of the rows, and of the place

    @classmethod
    def read(
        cls,
        X: Any,
        *,
        change: str = CHANGES[0],
        trim: Any = 0.05,
        nan_policy: str = "raise",
        blocks: Any = None,
        shift: Any = None,
        times: Any = None,
        scale: Any = None,
        column_types: Any = None,
        transform: Any = None,
        **options: Any,
    ) -> Self:
        """The hypothesis about a series as users give it; see :func:`~shrinktest._series.read_series`."""
        reading = {"scale": scale, "column_types": column_types, "transform": transform}
        choice(change, CHANGES, "change")
        trim = _share(trim)
        read = read_series(X, nan_policy, blocks=blocks, shift=shift, times=times, **reading)
        if change != SINGLE and len(read.restriction.series(len(read.values))) == 1:
            raise ValueError(
                "shift='circular' moves an interval along with the rows, where it is found again in every permutation, "
                "so that the p-value is 1: use shift='stretches', or look for one cut (change='single')"
            )
        n = len(read.values)
        ends = math.ceil(trim * n - 1e-9)
        if not read.missing and n >= 2 * _FEWEST and 2 * ends > n:
            raise ValueError(
                f"trim={trim:g} leaves no cut of {counted(n, 'row')}: {ends} at either end are no places of a change; "
                "take a smaller trim="
            )
        units_given = not is_unasked(scale)
        return cls(
            variables=(Variable(read.values, read.name, read.scale, read.encoding, units_given, places_of(read.kept)),),
            sizes=(len(read.values),),
            missing=read.missing,
            restriction=read.restriction,
            remarks=read.notes,
            change=change,
            trim=trim,
            times=read.times,
            **options,
        )

    @property
    def points(self) -> np.ndarray:
        """The rows (n, d)."""
        return self.variables[0].points

    @property
    def cuts(self) -> Cuts:
        """The parts that are compared with the rest."""
        n = self.sizes[0]
        return Cuts(n, self.change, max(_FEWEST, math.ceil(self.trim * n - 1e-9)))

    def part(self, first: int, end: int, **options: Any) -> Self:
        """Restrict the hypothesis to the rows from ``first`` to before ``end``."""
        rows = slice(first, end)
        restriction = self.restriction.of(np.arange(first, end))
        if restriction.stretch:
            restriction = in_stretches([self.points[rows]], restriction.stretch, restriction.blocks)
        return replace(
            self,
            variables=(self.variables[0].only(rows),),
            sizes=(end - first,),
            restriction=restriction,
            times=self.times[rows],
            **options,
        )

    def _allowed(self, n_resamples: float, alpha: float) -> Permutations:
        return self.restriction.pairings(self.sizes[0], alpha, self.least)

    @property
    def least(self) -> float:
        """A number that no p-value is below, because permutations can leave the parts of a cut as they are."""
        return 0.0 if self.restriction.shift else self.cuts.least(self.restriction.units(self.sizes[0]))

    def form(self, estimator: MeanEstimator, form: str) -> str:
        """Unbiased: the biased form would take the rows with the larger spread for the changed ones."""
        if form == "biased":
            raise ValueError(
                "form='biased' has another size in parts of other sizes, also where nothing changes, so that "
                "cuts could "
                "not be compared; leave form= out"
            )
        return "unbiased"

    def tuning(self, estimator: MeanEstimator) -> str:
        """Nothing may be tuned in parts of the series: raises ValueError for estimators that are."""
        n = self.sizes[0]
        apart = (n // 3, n - n // 3)
        tuning = estimator.tuning_for(apart)
        if estimator.needs == "function" or tuning not in ("fixed", "pooled") or not estimator.weighs_all_alike(apart):
            raise ValueError(
                f"{estimator!r} would be fitted anew on both sides of every cut, {self.sizes[0]} in every "
                "permutation, and its mean and spread there, by which cuts are compared, are not "
                "known: use estimator='kme', or 'mkme' or 'mmkme' whose noise is fixed or pooled; to compare two "
                "stretches that were fixed beforehand, two_sample_test takes every estimator"
            )
        return tuning

    def prepare(self, estimator: MeanEstimator, kernel: Any, form: str, cache: KernelCache, workers: int) -> Prepared:
        """The largest standardised distance over all cuts, or intervals, for every order of the rows."""
        require_in_range(kernel, self.points, self.variables[0].name, _LEAST)
        return prepare(estimator, kernel, self.points, self.cuts, cache=cache, workers=workers, scans_of=self._scans)

    def _scans(self, within: Within) -> Scans | None:
        """Return the scans of intervals, if these are looked at."""
        return Scans.of(within, self.cuts, self.restriction, self.intervals) if self.intervals else None

    def concluded(self, result: Any, member: FittedStatistic, cache: KernelCache, rng: np.random.Generator) -> Any:
        """The result with the place of the change."""
        if self.noted and self.own is None and result.n_resamples and self.least > result.alpha:
            warn_user(
                f"no p-value of all permutations of {counted(self.sizes[0], 'row')} is below {self.least:.3g}, "
                f"and alpha = {result.alpha:g}: the test {NEVER}, but by chance where permutations are random; "
                "collect more rows"
            )
        within = Within.of(fitted_features(member.features[0], self.points, cache, self.change))
        free = not self.interval_notes()
        several = len(getattr(result, "members", ())) > 1
        place = Place.of(within, self.cuts, self.restriction, self.confidence if free else None, rng, chosen=several)
        if not result.pvalue > result.alpha and (scans := self._scans(within)):
            place = replace(place, location=scans.location())
        notes = result.notes
        if self.noted:
            advice = f"{BY_STRETCHES}. {_FURTHER}"
            notes += (*self.serial_notes_between(place.edges, advice), *place.notes(result), *self.interval_notes())
        return replace(result, **place.shown(), times=self.times, notes=tuple(dict.fromkeys(notes)))

    def interval_notes(self) -> tuple[str, ...]:
        """Why there is no interval for the place where one is asked for."""
        if self.confidence is None or (self.own is None and not self.restriction.shift):
            return ()
        return (note("no-interval", why=_SHIFTED if self.own is None else _OWN),)

    def serial_notes_between(self, edges: list[int], advice: str = BY_STRETCHES) -> tuple[str, ...]:
        """Notes on how much successive rows have in common, those between two edges with a mean of their own."""
        if self.own is not None:
            return ()
        parts = np.split(np.arange(self.sizes[0]), edges)
        rows = self.variables[0].rows_of(*parts)
        by_block = self.variables[0].rows_of(*split_by_blocks(parts, self.restriction.blocks))
        name = self.variables[0].name
        correlation = by_block.correlated(name) if self.restriction.by_rows else None
        serial = () if correlation is None else (correlation.note(advice),)
        return (*serial, *short(rows, self.restriction, name))


def _share(trim: Any) -> float:
    if isinstance(trim, bool) or not isinstance(trim, int | float | np.number) or not 0.0 <= trim < 0.5:
        raise ValueError(
            f"trim must be a share of the rows, from 0 to below 0.5: no cut is nearer to either end; got {trim!r}"
        )
    return float(trim)


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
    shift: Any = None,
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
    """Test whether a series changes, and locate the change with a confidence interval.

    Parameters
    ----------
    X : array_like, shape (n, d) or (n,)
        Rows in order of time: an array, or a table, whose columns that tell the time are not tested (:doc:`/change`).
    change : {"single", "epidemic"}, default "single"
        "single" is one change point.  "epidemic" is an interval whose rows differ from those before and after it.
    estimator : str or MeanEstimator, list of these, Ensemble or "auto", default "kme"
        "kme", or a marginalized mean whose noise is fixed or pooled, whose distances are known for every change point
        from sums of kernel values.  Several are combined, as in :func:`two_sample_test`.
    form : {"auto", "unbiased"}, default "auto"
        Always unbiased.

    Returns
    -------
    ChangeResult
        ``result.location`` is the first row after the change, ``result.interval`` its confidence interval;
        ``result.plot()`` shows both.  An :class:`~shrinktest.AggregateChangeResult` for several estimators, kernels or
        bandwidths.

    See Also
    --------
    change_points : Several changes.
    two_sample_test : Whether the rows before and after a known time differ, and by how much.
    equivalence_test : Whether they are practically the same.
    independence_test : Whether one series depends on another, at several lags.
    solve_sample_size : Number of rows that a test needs.

    Notes
    -----
    The statistic is the largest unbiased squared distance between the rows before and after a change point,
    standardized by its exact standard deviation over all orders of the rows: the statistic of Song and Chen (2022,
    arXiv:2206.01853) with weights of least variance.  The test is exact if, without a change, rows are exchangeable
    (within blocks).  For autocorrelated rows use ``shift``, which is approximate (:doc:`/change`).

    The interval contains the locations that a test of "the change is here" does not reject.  With ``shift="circular"``
    intervals and epidemic changes need ``blocks`` whose rows alternate.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import change_point_test
    >>> rng = np.random.default_rng(1)
    >>> X = np.concatenate([rng.normal(size=(60, 2)), 2.0 * rng.normal(size=(60, 2))])
    >>> result = change_point_test(X, rng=0)
    >>> result.pvalue, result.location, result.interval
    (0.001, 60, (56, 61))

    A change that ends again (epidemic):

    >>> X[60:] = rng.normal(size=(60, 2))
    >>> X[40:70] += 1.0
    >>> spell = change_point_test(X, change="epidemic", rng=0)
    >>> spell.pvalue, spell.location, spell.until
    (0.001, 40, 70)
    """
    settings = Settings.read(
        form=form, n_resamples=n_resamples, alpha=alpha, stopping=stopping, workers=workers,
        progress=progress, gram=gram, rank=rank, max_memory=max_memory,
    )  # fmt: skip
    reading = {"nan_policy": nan_policy, "scale": scale, "column_types": column_types, "transform": transform}
    require_values(shift, kernel)
    hypothesis = NoChange.read(
        X, change=change, trim=trim, blocks=blocks, shift=shift, times=times, own=permutations,
        confidence=of_place(confidence), **reading,
    )  # fmt: skip
    return run(hypothesis, estimator, [KernelSpec(kernel, bandwidth)], settings, rng)  # type: ignore[return-value]
