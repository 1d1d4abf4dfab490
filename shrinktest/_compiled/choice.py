"""Which of the amounts compared is taken."""

from __future__ import annotations

import numpy as np

from shrinktest._jit import compiled


def smallest(scores, tolerance):
    """Position of the smallest amount whose score is within ``tolerance`` of the least; -1 if a score is NaN."""
    least = np.inf
    for g in range(scores.size):
        if np.isnan(scores[g]):
            return -1
        if scores[g] < least:
            least = scores[g]
    for g in range(scores.size):
        if scores[g] <= least + tolerance:
            return g
    return -1


choose = compiled()(smallest)
