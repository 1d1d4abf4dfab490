"""Largest standardized distance over cuts or intervals of a series, by its order.

All cuts, or all intervals, are considered.

For rows in two parts, the unbiased squared distance of the kernel means is a multiple of the sum of
k(x_i, x_j) over pairs within the first part, if the kernel is centered so that its sum over the
others is zero for every row: adding u_i + u_j to all k(x_i, x_j), i != j, does not change the
distance.  Over all orders of the rows, that sum has mean zero and variance 2 A t (t - 1) (n - t) (n
- t - 1) / (n (n - 1) (n - 2) (n - 3)), with A the sum of all squared values and t the rows of the
part.  In these units it is the same as the within-sample statistic of Song and Chen (2022) with the
weights of least variance, and as the standardized unbiased distance.  An interval is one part, what
is outside the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shrinktest._machine_code import compiled_loop
from shrinktest.estimators import MeanEstimator
from shrinktest.kernels import Kernel
from shrinktest.permutations.design import ExchangeableUnits
from shrinktest.permutations.null import TIE, CostHint, Statistic
from shrinktest.statistics import scan_arrays
from shrinktest.statistics.features import KernelFeatures
from shrinktest.statistics.kernel_cache import KernelCache, Request
from shrinktest.statistics.mmd import estimates_of
from shrinktest.statistics.statistic import Computation, Form, Prepared

if TYPE_CHECKING:
    from shrinktest.statistics.seeded_intervals import Scans

SINGLE = "single"
EPIDEMIC = "epidemic"
CHANGES = (SINGLE, EPIDEMIC)

_FACTOR = 150  # observations from which few coordinates pay for being found
_DIRECTIONS = 32  # of larger series
#: Loops by whether a part has the first rows, and whether coordinates are known.
_LOOPS = {
    (True, True): "largest_of_coordinates",
    (True, False): "before",
    (False, True): "largest_interval_of_coordinates",
    (False, False): "largest_interval_of_gram",
}

_TOGETHER = 64  # permutations that share a row of the Gram matrix

#: The only form: another would take the rows with the larger spread for the changed ones.
UNBIASED = Form(name="unbiased")


@dataclass(frozen=True)
class Cuts:
    """Parts of n rows that a scan compares with the rest."""

    n: int
    change: str  # "single" or "epidemic": the first rows, or any that follow one another
    fewest: int  # rows that a part, and the rest, have at least

    def least(self, strata: ExchangeableUnits) -> float:
        """Share of orders of the units that give the same parts as some cut.

        No p-value can be smaller.

        Of intervals among units of several rows, or in several strata, nothing is known: 0.
        """
        counts = strata.counts
        free = counts.size == 1
        if self.change == EPIDEMIC:
            if not free or len(strata.rows) < self.n:
                return 0.0
            half = (
                self.n // 2
            )  # rows that have as many places as there are, their end coming round to their start
            parts = math.lgamma(half + 1) + math.lgamma(self.n - half + 1) - math.lgamma(self.n + 1)
            return self.n * math.exp(parts)
        stratum = np.repeat(np.arange(counts.size), counts)
        begins = strata.rows[:, 0]
        ends = strata.rows[:, -1]
        earlier = (
            np.arange(len(stratum)) - strata.starts[:-1][stratum]
        )  # units that begin, or end, before
        share = np.zeros(self.n)
        within = np.zeros(self.n, dtype=np.int64)
        np.add.at(share, begins, -np.log(counts[stratum] - earlier))
        np.add.at(share, ends[np.lexsort((ends, stratum))], np.log(earlier + 1.0))
        np.add.at(within, begins, 1)
        np.add.at(within, ends, -1)
        mirrored = np.where(free & (np.cumsum(within) == 0), math.log(2.0), 0.0)
        return float(
            np.exp(
                (np.cumsum(share) + mirrored)[self.fewest - 1 : self.n - self.fewest].min(
                    initial=0.0
                )
            )
        )


@dataclass(frozen=True, eq=False)
class Within:
    """Sums of centered kernel values within parts of the rows, standardized over orders.

    The units are their standard deviation over all orders.
    """

    # (n, n) or (n, rank): the centered kernel with a diagonal of zeros, or coordinates of the
    # features less their mean
    values: np.ndarray
    own: np.ndarray  # (n,): the squared norms of the coordinates; none for the kernel
    by_coordinates: bool
    units: (
        np.ndarray
    )  # (n + 1,): one over the standard deviation for each number of rows; zero if nothing varies
    terms: float  # the size of the terms that cancel, in these units
    spread: float  # the root of the sum of the squared values

    @classmethod
    def of(cls, features: KernelFeatures) -> Within:
        """Scan the kernel of the rows."""
        moved = features.residuals()
        return cls.from_values(moved.values, moved.size, moved.by_coordinates)

    @classmethod
    def from_values(cls, values: np.ndarray, size: float, by_coordinates: bool) -> Within:
        """Scan coordinates (n, rank) or kernel values (n, n).

        ``size`` is the size of their terms that cancel.
        """
        n = len(values)
        if by_coordinates:
            z = np.ascontiguousarray(values - values.mean(axis=0))
            own = np.square(z).sum(axis=1)
            shift = (own - own.sum() / (2.0 * (n - 1))) / (
                n - 2
            )  # what makes the sums over the others zero
            squares = (
                float(np.square(z.T @ z).sum())
                - float(np.square(own).sum())
                - 4.0 * float(shift @ own)
            )
            squares += 2.0 * (n - 2) * float(shift @ shift) + 2.0 * float(shift.sum()) ** 2
            return cls(z, own, True, *_units(n, max(squares, 0.0) ** 0.5, size))
        rows = (values.sum(axis=1) - np.diagonal(values)) / (n - 2)
        rows = rows - rows.sum() / (2.0 * (n - 1))
        z = values - rows[:, None]
        z -= rows
        np.fill_diagonal(z, 0.0)
        return cls(z, np.empty(0), False, *_units(n, float(np.linalg.norm(z)), size))

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.values)

    @property
    def size(self) -> float:
        """Size of the terms that cancel, in units of kernel values."""
        return self.terms * self.spread / self.n

    @property
    def _fixed(self) -> tuple[np.ndarray, np.ndarray]:
        """Factor of row norms, and constant, that reduce squared norms of coordinate sums.

        The squared norms are those of sums of coordinates.
        """
        t = np.arange(self.n + 1, dtype=np.float64)
        n = self.n
        return 1.0 - 2.0 * (t - 1.0) / (n - 2.0), t * (t - 1.0) * self.own.sum() / (
            (n - 1.0) * (n - 2.0)
        )

    def statistic(self, cuts: Cuts) -> Statistic:
        """Largest value by orders (B, n), and the size of the terms that cancel, (B, 2)."""
        low = cuts.fewest
        high = cuts.n - cuts.fewest
        single = cuts.change == SINGLE
        name = _LOOPS[single, self.by_coordinates]
        columns = self.values.shape[1] + 5.0
        seconds = 3e-5 + 3e-9 * self.n * (
            columns if single or not self.by_coordinates else columns + 5.0 * self.n
        )

        def statistic(orders: np.ndarray) -> np.ndarray:
            orders = np.ascontiguousarray(orders, dtype=np.int64)
            largest = np.empty(len(orders))
            scan = compiled_loop(name, len(orders), seconds) or getattr(scan_arrays, name)
            if self.by_coordinates:
                scan(self.values, self.own, orders, *self._fixed, self.units, low, high, largest)
            elif single:
                places = np.empty(orders.shape, dtype=np.int16 if self.n < 2**15 else np.int32)
                np.put_along_axis(
                    places, orders, np.arange(self.n, dtype=places.dtype)[None], axis=1
                )
                sums = np.empty(orders.shape)
                scan(self.values, places, sums)
                sums = np.cumsum(2.0 * sums, axis=1)[:, low - 1 : high]  # within the first rows
                largest = (sums * self.units[low : high + 1]).max(axis=1, initial=-np.inf)
            else:
                scan(self.values, orders, self.units, low, high, largest)
            return np.stack([largest, np.full(len(orders), self.terms)], axis=1)

        return statistic

    def curve(self, cuts: Cuts) -> tuple[np.ndarray, int, int | None]:
        """The values (n + 1,) at every cut of the rows as they are, and where the largest is.

        Value t belongs to the cut before row t, or is the largest among intervals that begin there;
        NaN if there is none.  The place is the first row of the later part or of the interval, and
        the first row behind the interval.  Of intervals that split the rows in the same two parts,
        it is the one that does not begin with row 0.
        """
        low = cuts.fewest
        high = cuts.n - cuts.fewest
        curve = np.full(self.n + 1, np.nan)
        if cuts.change == SINGLE:
            t = np.arange(low, high + 1)
            if self.by_coordinates:
                sums = self._between()(0, t)
            else:
                sums = np.cumsum([2.0 * row[:i].sum() for i, row in enumerate(self.values)])[t - 1]
            curve[t] = sums * self.units[t]
            return curve, int(np.nanargmax(curve)), None
        ends = np.zeros(self.n + 1, dtype=np.int64)
        totals = self._between()
        for start in range(self.n - low + 1):
            end = np.arange(start + low, min(start + high, self.n) + 1)
            values = totals(start, end) * self.units[end - start]
            curve[start] = values.max()
            ends[start] = end[(values >= curve[start] - TIE * self.terms).argmax()]
        largest = (
            curve >= np.nanmax(curve) - TIE * self.terms
        )  # rounding must not choose among equal ones
        first = int(np.flatnonzero(largest)[-1])
        return curve, first, int(ends[first])

    def _between(self) -> Callable[[int, np.ndarray], np.ndarray]:
        """Function (start, ends) -> sums within the rows from start to before each end."""
        if not self.by_coordinates:
            area = np.zeros((self.n + 1, self.n + 1))
            np.cumsum(np.cumsum(self.values, axis=0), axis=1, out=area[1:, 1:])
            return lambda start, ends: (
                area[ends, ends] - 2.0 * area[start, ends] + area[start, start]
            )
        totals = np.vstack([np.zeros(self.values.shape[1]), np.cumsum(self.values, axis=0)])
        norms = np.concatenate([[0.0], np.cumsum(self.own)])
        linear, constant = self._fixed

        def sums(start: int, ends: np.ndarray) -> np.ndarray:
            length = ends - start
            squared = np.square(totals[ends] - totals[start]).sum(axis=1)
            return np.asarray(
                squared - linear[length] * (norms[ends] - norms[start]) - constant[length]
            )

        return sums

    def part(self, first: int, end: int) -> Within:
        """Return the sums within the rows from ``first`` to before ``end``."""
        if (first, end) == (0, self.n):
            return self
        values = (
            self.values[first:end] if self.by_coordinates else self.values[first:end, first:end]
        )
        return Within.from_values(values, self.size, self.by_coordinates)

    def by_few_coordinates(self, rng: np.random.Generator) -> Within:
        """Return the sums by coordinates.

        All are used for few rows, and for more the directions in which these vary most.

        Subspace iteration finds these from random vectors, which do not depend on the order of the
        rows.
        """
        if self.by_coordinates:
            if self.values.shape[1] <= _DIRECTIONS:
                return self
            z = self.values @ np.linalg.eigh(self.values.T @ self.values)[1][:, -_DIRECTIONS:]
        elif (
            self.n <= _DIRECTIONS
        ):  # sums over pairs do not depend on the diagonal, which makes all lengths positive
            lengths, turned = np.linalg.eigh(self.values)
            z = turned * np.sqrt(lengths - lengths[0])
        else:
            basis = rng.standard_normal((self.n, min(self.n, _DIRECTIONS + 8)))
            for _ in range(2):
                basis = np.linalg.qr(self.values @ basis)[0]
            lengths, turned = np.linalg.eigh(basis.T @ (self.values @ basis))
            leading = np.flatnonzero(lengths > 0.0)[-_DIRECTIONS:]
            z = (basis @ turned[:, leading]) * np.sqrt(lengths[leading])
        return Within.from_values(z, self.size, by_coordinates=True)


def _units(n: int, spread: float, size: float) -> tuple[np.ndarray, float, float]:
    """Return 1 / standard deviation by number of rows, the size of terms, and ``spread``.

    The size of terms is in these units.
    """
    t = np.arange(n + 1, dtype=np.float64)
    pairs = t * (t - 1.0) * (n - t) * (n - t - 1.0) / (n * (n - 1.0) * (n - 2.0) * (n - 3.0))
    units = np.zeros(n + 1)
    inside = pairs > 0.0
    if not spread > n * n * TIE * size:
        return units, 1.0, 0.0
    units[inside] = 1.0 / (spread * np.sqrt(2.0 * pairs[inside]))
    return units, n * size / spread, spread


def series_features(
    kernel: Kernel, points: np.ndarray, cache: KernelCache, change: str
) -> KernelFeatures:
    """Features of the rows: few coordinates if these are enough, for intervals only on request."""
    return cache(kernel, points, Request(any_rank=change == SINGLE, large=_FACTOR))


def prepare(
    estimator: MeanEstimator,
    kernel: Kernel,
    points: np.ndarray,
    cuts: Cuts,
    *,
    cache: KernelCache,
    scans_of: Callable[[Within], Scans | None] | None = None,
) -> Prepared:
    """Prepare the statistic of rows (n, d) in order of time.

    ``scans_of`` adds scans of intervals.
    """
    used = estimator.tuned(kernel, points) if estimator.smooths else estimator
    gram = series_features(used.features(kernel, points), points, cache, cuts.change)
    within = Within.of(gram)
    low = kernel if used.changes_features else gram.kernel
    scans = scans_of(within) if scans_of else None
    _, first, end = within.curve(cuts)
    inside = np.zeros(len(points), dtype=bool)
    inside[first : len(points) if end is None else end] = True
    cost = None
    if cuts.change == SINGLE and within.by_coordinates:
        cost = CostHint(seconds=1e-7 + cuts.n * (5e-9 + 4e-10 * within.values.shape[1]))
    elif cuts.change == SINGLE:
        cost = CostHint(seconds=1e-7 + 2.5e-10 * cuts.n**2, rows=_TOGETHER)
    computation = Computation(
        route=gram.route,
        features=(gram.kernel,),
        approximated=gram.note is not None,
        threads=True,
        cost=scans.cost(cost) if scans else cost,
    )
    return Prepared(
        statistic=scans.statistic() if scans else within.statistic(cuts),
        kernel=kernel,
        estimates=lambda: estimates_of(used, low, [points[~inside], points[inside]], "fixed"),
        notes=(gram.note,) if gram.note else (),
        computation=computation,
    )
