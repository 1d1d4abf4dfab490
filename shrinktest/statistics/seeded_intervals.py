"""Scans of a series and its seeded intervals, combined into one function of row order.

A scan of the whole series does not see changes that cancel, such as a pulse or a periodic level:
the rows before and after any cut are much alike.  Within a shorter interval they differ.  Seeded
intervals (Kovacs et al. 2023, Biometrika 110, 249-256, Definition 1) have lengths n/2, n/4, ... and
overlap by half or more.

The value of a cut within an interval is the unbiased squared distance of the rows on either side,
in units of its exact standard deviation over all orders of the whole series.  With the kernel
centered so that its sum over the others is zero for every row, products of kernel values at pairs
with one row in common have mean -v / (n - 2), at pairs with none 2 v / ((n - 2) (n - 3)), and v is
the mean square.  The weights of the distance sum to zero over the pairs of every row, so that its
variance for a and b rows is v (n - 1) / (n - 3) times 2 / (a (a - 1)) + 2 / (b (b - 1)) + 4 / (a
b).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from shrinktest._machine_code import compiled_loop
from shrinktest.permutations.design import PermutationDesign
from shrinktest.permutations.multiplicity import GammaTails
from shrinktest.permutations.null import TIE, CostHint, Statistic
from shrinktest.statistics import scan_arrays
from shrinktest.statistics.scan import SINGLE, Cuts, Within

_SHORTEST = 8  # rows of an interval
_CUTS = 16  # steps between the cuts of an interval at most; the place is looked for among all cuts
_SHARE = 0.1  # of the level for all lengths except the whole series
_STEEPNESS = (
    100.0  # bound on how fast the logarithm of a p-value changes, per standard deviation of a scan
)


@dataclass(frozen=True, eq=False)
class Intervals:
    """Seeded intervals of a series, the longest first, and the cuts within them."""

    ends: np.ndarray  # (k, 2): the first row of every interval, and the first row after it
    layers: np.ndarray  # (k,): intervals of the same length have the same number
    starts: np.ndarray  # (k + 1,): where the cuts of every interval begin in ``cuts``
    cuts: np.ndarray  # the first row after each cut

    @classmethod
    def of(cls, cuts: Cuts, shortest: int) -> Intervals:
        """Return the intervals with at least ``shortest`` rows; none in a short series."""
        n = cuts.n
        ends = []
        layers = []
        places = [np.empty(0, dtype=np.int64)]
        lengths = [
            n / 2.0**layer for layer in range(1, n.bit_length()) if n / 2.0**layer >= shortest
        ]
        for layer, length in enumerate(lengths):
            count = 2 * math.ceil(n / length) - 1
            for i in range(count):
                start = i * (n - length) / (count - 1)
                first = math.floor(start)
                end = min(n, math.ceil(start + length))
                fewest = _fewest(cuts, end - first)
                room = end - first - 2 * fewest
                ends.append((first, end))
                layers.append(layer)
                places.append(
                    np.arange(first + fewest, end - fewest + 1, max(1, -(-room // _CUTS)))
                )
        starts = np.cumsum([*map(len, places)])
        return cls(
            np.array(ends, int).reshape(-1, 2),
            np.array(layers, int),
            starts,
            np.concatenate(places),
        )

    @property
    def counts(self) -> np.ndarray:
        """Number of intervals of each length."""
        return np.bincount(self.layers)


def _fewest(cuts: Cuts, length: int) -> int:
    """Rows on either side of a cut in an interval, the same share as in the series."""
    return max(2, math.ceil(length * cuts.fewest / cuts.n - 1e-9))


@dataclass(frozen=True)
class Calibration:
    """Random row orders to compare interval scans with the scan of the series."""

    seed: int
    count: int

    def orders(self, n: int, restriction: PermutationDesign) -> np.ndarray:
        """Return the orders (count, n) of n rows, as a design allows them."""
        return restriction.pairings(n, alpha=1.0).draw(
            np.random.default_rng([self.seed, 0]), self.count
        )


@dataclass(frozen=True, eq=False)
class Scans:
    """Scans of a series and of intervals in it, for every order of its rows.

    Scans of intervals of the same length are combined by the root of their mean square.  Lengths
    are compared by the p-values of gamma distributions with moments over random orders, drawn apart
    from the orders of the test, which are exchangeable with the data given these, so that the test
    stays exact.
    """

    within: Within  # the whole series
    cuts: Cuts
    low: Within  # the same by few coordinates, for intervals
    intervals: Intervals
    calibrating: np.ndarray  # (orders, n): random orders

    @classmethod
    def of(
        cls, within: Within, cuts: Cuts, restriction: PermutationDesign, calibration: Calibration
    ) -> Scans | None:
        """Return the scans, or None without intervals.

        Return also None if permutations carry the intervals along.
        """
        if len(restriction.series(cuts.n)) == 1 or not within.spread > 0.0:
            return None
        length = restriction.block_length
        rows = 1 if length is None else length.rows or 1
        intervals = Intervals.of(cuts, max(_SHORTEST, 2 * rows))
        if not len(intervals.ends):
            return None
        low = within.by_few_coordinates(np.random.default_rng([calibration.seed, 1]))
        return (
            cls(within, cuts, low, intervals, calibration.orders(cuts.n, restriction))
            if low.spread > 0.0
            else None
        )

    @property
    def terms(self) -> float:
        """Size of the terms that cancel in a scan."""
        return max(self.within.terms, self.low.terms)

    @cached_property
    def weights(self) -> np.ndarray:
        """Weights (cuts, 3) of the sums of kernel values before, after and across every cut."""
        cuts = self.intervals.cuts
        n = self.cuts.n
        first, end = np.repeat(self.intervals.ends, np.diff(self.intervals.starts), axis=0).T
        a = (cuts - first).astype(float)
        b = (end - cuts).astype(float)
        means = np.stack([1.0 / (a * (a - 1.0)), 1.0 / (b * (b - 1.0)), -2.0 / (a * b)], axis=1)
        mean_square = self.low.spread**2 / (n * (n - 1.0))
        squares = 2.0 * (means[:, 0] + means[:, 1] - means[:, 2])
        return np.ascontiguousarray(
            means / np.sqrt(mean_square * (n - 1.0) / (n - 3.0) * squares)[:, None]
        )

    @cached_property
    def tails(self) -> GammaTails:
        """Distributions over random orders of each length, the whole series first."""
        lengths = self.intervals.counts.size
        shares = np.array([1.0 - _SHARE, *[_SHARE / lengths] * lengths])
        return GammaTails.fitted(
            self.by_length(self.calibrating), np.full(lengths + 1, TIE * self.terms), shares
        )

    def by_interval(self, orders: np.ndarray) -> np.ndarray:
        """Return the largest value (B, k) of every interval, in orders (B, n) of the rows."""
        low = self.low
        intervals = self.intervals
        orders = np.ascontiguousarray(orders, dtype=np.int64)
        largest = np.empty((len(orders), len(intervals.ends)))
        places = intervals.ends, intervals.starts, intervals.cuts
        seconds = 5e-5 + 2e-8 * (low.values.shape[1] + 2.0) * intervals.cuts.size
        loop = (
            compiled_loop("largest_in_intervals", len(orders), seconds)
            or scan_arrays.largest_in_intervals
        )
        loop(low.values, low.own, orders, *places, self.weights, largest)
        return largest

    def by_length(self, orders: np.ndarray) -> np.ndarray:
        """Return the combined scans (B, 1 + lengths), the whole series first."""
        squares = np.square(np.maximum(self.by_interval(orders), 0.0))
        starts = np.searchsorted(self.intervals.layers, np.arange(self.intervals.counts.size))
        means = np.add.reduceat(squares, starts, axis=1) / self.intervals.counts
        return np.column_stack([self.within.statistic(self.cuts)(orders)[:, 0], np.sqrt(means)])

    def statistic(self) -> Statistic:
        """Return -log10 of the smallest weighted p-value, and its term size, (B, 2)."""
        varies = self.tails.spread > 0.0
        size = _STEEPNESS * self.terms / self.tails.spread[varies].min(initial=np.inf)

        def statistic(orders: np.ndarray) -> np.ndarray:
            value = -self.tails.log10(self.by_length(orders)).min(axis=1, initial=np.inf)
            return np.stack([value, np.full(len(orders), size)], axis=1)

        return statistic

    def location(self) -> int:
        """Return the best cut of the interval, or of the series, with the most change.

        The rows as they are change most in this one.
        """
        order = np.arange(self.cuts.n)[None]
        first = 0
        end = self.cuts.n
        length = int(self.tails.log10(self.by_length(order))[0].argmin())
        if length > 0:
            values = np.where(
                self.intervals.layers == length - 1, self.by_interval(order)[0], -np.inf
            )
            first, end = self.intervals.ends[values.argmax()].tolist()
        cuts = Cuts(end - first, SINGLE, _fewest(self.cuts, end - first))
        return first + self.within.part(first, end).curve(cuts)[1]

    def cost(self, whole: CostHint | None) -> CostHint | None:
        """Return the cost of an order, if that of a scan of the ``whole`` series is known."""
        if whole is None:
            return None
        rank = self.low.values.shape[1]
        work = self.cuts.n * (5e-9 + 4e-10 * rank) + self.intervals.cuts.size * (4e-9 + 1e-9 * rank)
        return replace(whole, seconds=whole.seconds + work)
