"""Prior weights of the row at which a change may begin, and of the witnesses of a stream."""

from __future__ import annotations

import numpy as np

from shrinktest._check import Array

FIRST = 0.3  # weight of a change before the first row
_SHIFT = 50.0  # rows, up to which later starts have about equal weights
_WITNESSES = 8.0  # the same for the numbers of witnesses


def remaining(rows: Array) -> Array:
    """Return the prior weight of all starts after each of these rows, counting from 0.

    A start at row t > 0 has the difference to the row before, which is about proportional to
    1 / ((t + 50) log(t + 50)^2): the sum is finite, and log(1 / weight) grows hardly faster than
    log(t).
    """
    later = np.log(_SHIFT + 0.5) / np.log(np.maximum(rows, 0.0) + _SHIFT + 0.5)
    return np.asarray(np.where(rows < 0, 1.0, (1.0 - FIRST) * later))


def weights(rows: Array) -> Array:
    """Return the prior weights of starts at these rows; all weights sum to 1."""
    return remaining(rows - 1.0) - remaining(rows)


def share_of_witness(number: int) -> float:
    """Return the share of alpha of a witness by its number from 0; all shares sum to 1."""
    first = np.log(number + _WITNESSES - 0.5)
    second = np.log(number + 1.0 + _WITNESSES - 0.5)
    whole = np.log(_WITNESSES - 0.5)
    return float(whole / first - whole / second)
