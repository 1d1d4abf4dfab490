"""Bets: likelihood ratios on the cells between the ordered scores of reference rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from shrinktest._check import Array

#: Shifts of normal scores, in standard deviations.
SHIFTS = (-2.0, -1.25, -0.75, -0.4, 0.4, 0.75, 1.25, 2.0)
#: A shift by less than this, times the root of the reference size, is hardly ever found.
_LEAST = 6.3
# Times the root of the reference size, the shift from the first row on that 80 of 100 streams of 20
# times as many normal rows found at evidence 200, by the size; and more for ten times the evidence.
_SIZES = (50, 100, 200, 500, 1000, 2000, 5000)
_FACTORS = (5.6, 5.7, 6.4, 7.9, 7.8, 7.8, 7.0)
_MORE = 0.5
#: Standard deviations of normal scores.
SPREADS = (0.5, 0.7, 1.35, 1.8, 2.5)
#: Shifts of a witness, which is larger where the stream has more rows.
UPWARD = (0.25, 0.5, 0.9, 1.5, 2.5)
#: Factors of the odds of one level, and of the rarest levels together.
ODDS = (0.25, 0.5, 2.0, 4.0)
ODDS_OF_RARE = (2.0, 5.0)
RARE = (0.01, 0.02, 0.04, 0.08)  # shares of the rarest levels
MOST_LEVELS = 8  # levels that have bets of their own


def places(size: int) -> Array:
    """Return the middle of every cell between ``size`` ordered scores, as shares (size + 1,)."""
    return np.asarray((np.arange(size + 1) + 0.5) / (size + 1))


def tilts(size: int, shifts: Sequence[float], spreads: Sequence[float] = ()) -> Array:
    """Return bets (size + 1, bets) that normal scores have another mean or standard deviation.

    They are ratios of normal densities: exp(m z - m^2 / 2) for a shift m, and
    exp(z^2 (1 - s^-2) / 2) / s for a standard deviation s.
    """
    from scipy.special import ndtri

    z = ndtri(places(size))[:, np.newaxis]
    m = np.asarray(shifts, dtype=np.float64)
    s = np.asarray(spreads, dtype=np.float64)
    shifted = np.exp(m * z - m**2 / 2.0)
    spread = np.exp(z**2 / 2.0 * (1.0 - s**-2.0)) / s
    return np.ascontiguousarray(np.hstack([shifted, spread]))


def shifts_for(size: int) -> tuple[float, ...]:
    """Return the shifts to bet on with a reference of this size: smaller ones if it is large."""
    smallest = min(map(abs, SHIFTS))
    halves = []
    while smallest / 2.0 >= _LEAST / np.sqrt(size):
        smallest /= 2.0
        halves += [-smallest, smallest]
    return (*SHIFTS, *halves)


@lru_cache
def smallest_shift(size: int, evidence: float) -> float:
    """Return the shift of a normal column that is found at this evidence in 4 of 5 streams.

    It begins with the first row, and is in standard deviations.
    """
    factor = np.interp(np.log(size), np.log(_SIZES), _FACTORS)
    return float((factor + _MORE * np.log10(evidence / 200.0)) / np.sqrt(size))


def odds(size: int, shares: Array) -> Array:
    """Return bets (size + 1, bets) that the odds of some levels have changed.

    ``shares`` (k,) are those of the levels, the most frequent first.  A score counts levels in this
    order, so that a level is an interval of cells, and those that no share counts are the last.
    """
    middle = places(size)[:, np.newaxis]
    ends = np.cumsum(shares)[:MOST_LEVELS]
    starts = np.concatenate([[0.0], ends[:-1]])
    levels = (middle > starts) & (middle <= ends)
    rarest = middle > 1.0 - np.asarray(RARE)
    parts = [np.where(levels, factor, 1.0) for factor in ODDS]
    parts += [np.where(rarest, factor, 1.0) for factor in ODDS_OF_RARE]
    return np.ascontiguousarray(np.hstack(parts))
