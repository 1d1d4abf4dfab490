"""Place: where a series changes, with the places that the data do not rule out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._check import level
from shrinktest.permutations.base import random_orders
from shrinktest.permutations.block_length import successive_blocks
from shrinktest.permutations.design import ExchangeableUnits, PermutationDesign
from shrinktest.permutations.null import TIE, Statistic
from shrinktest.permutations.stopping import allowed_rows
from shrinktest.results.change import Place
from shrinktest.statistics.scan import SINGLE, Cuts, Within

_ORDERS = 99  # orders of the rows within both sides, for every place that is tried, or more:
_REACHED = (
    2  # so many statistics, the observed one included, may be as large as it in a rejected place
)
# times fewer places are missed by each statistic, where the data choose one of several: measured
_CHOSEN = 1.5
_AT_ONCE = 33  # of them; a place that is kept needs only the first few
_SUREST = (
    0.9999  # confidence at most: permutations for every place go as one over what is missing to 1
)
_FEW_ROWS = 300  # of which a pass over the Gram matrix needs no longer than one over coordinates
# places at first; of longer series every so many, and then the ends of what is found by halving
_TRIED = 48


def place_confidence(confidence: Any) -> float | None:
    """Return the confidence of an interval for a place, or None for no interval."""
    if confidence is not None and level(confidence, "confidence") > _SUREST:
        raise ValueError(
            f"confidence={confidence!r} needs too many permutations; use at most {_SUREST:g}"
        )
    return None if confidence is None else float(confidence)


def locate(
    within: Within,
    cuts: Cuts,
    restriction: PermutationDesign,
    confidence: float | None,
    rng: np.random.Generator,
    *,
    chosen: bool = False,
) -> Place:
    """Return the cut or interval with the largest standardized distance, and its interval.

    The last is the confidence interval.

    The interval is wider if the data have ``chosen`` the statistic, one of several.
    """
    curve, location, until = within.curve(cuts)
    interval = until_interval = None
    if confidence is not None:
        alpha = (1.0 - confidence) / (_CHOSEN if chosen else 1.0)
        moved = within if within.n <= _FEW_ROWS else within.by_few_coordinates(rng)
        sides = _Sides(moved, cuts.fewest, restriction, alpha, rng)
        interval = sides.interval(location, 0, cuts.n if until is None else until)
        until_interval = None if until is None else sides.interval(until, location, cuts.n)
    return Place(location, interval, until, until_interval, confidence, curve)


@dataclass(frozen=True, eq=False)
class _Sides:
    """Tests of every place: if the change is there, the rows on either side may take any order.

    Under the hypothesis that rows of one distribution come before a cut and rows of another after
    it, all orders within both sides are as likely as the one observed.  It is the statistic of the
    test, the largest standardized distance over all cuts: the distance at the cut itself stays what
    it is, and the others are compared with what they are where the rows of both sides are mixed.
    Of long series it is taken of a few directions in feature space.
    """

    within: Within
    fewest: int  # rows on either side
    restriction: PermutationDesign  # what may change places within the sides
    alpha: float  # level of the test of a place
    rng: np.random.Generator

    def interval(self, best: int, first: int, end: int) -> tuple[int, int]:
        """Return the first and last non-rejected cut of rows ``first`` to before ``end``.

        ``best`` is among them; it may be ``first`` or ``end`` if an interval reaches as far as the
        rows.
        """
        seed = self.rng.integers(2**63)
        cuts = np.arange(first + self.fewest, end - self.fewest + 1)
        if not cuts.size:
            return best, best
        step = -(-cuts.size // _TRIED)
        known = {best: True}
        statistic = self.within.part(first, end).statistic(Cuts(end - first, SINGLE, self.fewest))

        def accepted(cut: int) -> bool:
            if cut not in known:
                known[cut] = self._accepts(
                    statistic, cut, first, end, np.random.default_rng([int(seed), cut])
                )
            return known[cut]

        places = [
            cut
            for cut in (*map(int, cuts[::step]), *([best] if best in cuts else []))
            if accepted(cut)
        ]
        if not places:
            return best, best
        # the ends are between accepted places and the rejected ones tried next to them
        low = min(places)
        high = max(places)
        low = _end(accepted, low, max(int(cuts[0]) - 1, low - step))
        high = _end(accepted, high, min(int(cuts[-1]) + 1, high + step))
        return min(best, low), max(best, high)

    def _accepts(
        self, statistic: Statistic, cut: int, first: int, end: int, rng: np.random.Generator
    ) -> bool:
        """Return True if a change at ``cut`` is not rejected."""
        orders = max(_ORDERS, math.ceil(_REACHED / self.alpha) - 1)
        allowed = allowed_rows(self.alpha, orders + 1)
        observed, spread = statistic(np.arange(end - first)[None])[0, :2]
        reached = 1
        for start in range(0, orders, _AT_ONCE):
            values = statistic(self._orders(cut, first, end, rng, min(_AT_ONCE, orders - start)))
            reached += int((values[:, 0] >= observed - TIE * spread).sum())
            if reached > allowed:
                return True  # p > alpha
        return False

    def _orders(
        self, cut: int, first: int, end: int, rng: np.random.Generator, count: int
    ) -> np.ndarray:
        """Draw orders (count, end - first) of the rows within both sides."""
        size = end - first
        if not self.restriction:
            return random_orders(rng, count, np.array([0, cut - first, size]))
        sides = (np.arange(first, end) >= cut).astype(np.int64)
        blocks = self.restriction.blocks
        units = np.arange(size)
        within = sides if blocks is None else 2 * blocks[first:end] + sides
        length = self.restriction.block_length
        if length is not None and length.rows is not None:
            units = successive_blocks([sides[sides == 0], sides[sides == 1]], length.rows, within)
        return ExchangeableUnits.of(within, units).draw(rng, count)


def _end(accepted: Callable[[int], bool], inside: int, outside: int) -> int:
    """Return the last accepted place between an accepted and a rejected one, by bisection."""
    while abs(outside - inside) > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if accepted(middle) else (inside, middle)
    return inside
