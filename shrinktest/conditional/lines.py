"""Lines: what regressions leave, nearly as it is, but bounded, so that no row outweighs the others; and squares."""

from __future__ import annotations

import numpy as np

_BOUND = 4.0  # mean sizes, to which numbers are bent
_NOTHING = 1e-9  # standard deviation of the squares of a column that has two values, as far from the mean


def bounded(values: np.ndarray) -> np.ndarray:
    """Columns (n, p) bent to a bound, with mean 0 and variance 1; those that do not vary are left out.

    A number u, in mean sizes of its column, becomes u / (1 + u^2 / 16)^0.5: nearly u where it is small, never above 4.
    """
    less = values - values.mean(axis=0)
    size = np.abs(less).mean(axis=0)
    less = less[:, size > 0.0] / size[size > 0.0]
    bent = less / np.sqrt(1.0 + np.square(less / _BOUND))
    bent -= bent.mean(axis=0)
    return np.asarray(bent / bent.std(axis=0))


def squared(lines: np.ndarray) -> np.ndarray:
    """Squares (n, p) of columns with variance 1, less their means; those that do not vary are left out."""
    squares = np.square(lines)
    squares -= squares.mean(axis=0)
    return np.asarray(squares[:, squares.std(axis=0) > _NOTHING])
