"""A statistic that is larger on the data than relabelled, by a factor that is known."""

from __future__ import annotations

import numpy as np

from shrinktest.permutations.null import Statistic


def inflated(statistic: Statistic, first: np.ndarray, factor: float) -> Statistic:
    """The same statistic, times the factor for all relabellings but ``first`` (N,), the data as they are."""

    def found(relabellings: np.ndarray) -> np.ndarray:
        out = statistic(relabellings)
        out[(relabellings != first).any(axis=1), 0] *= factor
        return out

    return found
