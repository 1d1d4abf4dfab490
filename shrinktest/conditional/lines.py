"""Lines: what regressions leave, nearly as it is, but bounded, so that no row outweighs the others."""

from __future__ import annotations

import numpy as np

_BOUND = 4.0  # mean sizes, to which numbers are bent


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
