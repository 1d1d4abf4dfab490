"""Apportionment: whole numbers in proportion to counts."""

from __future__ import annotations

from functools import lru_cache

import numpy as np


@lru_cache(maxsize=64)
def apportioned(counts: tuple[int, ...], n: int) -> tuple[int, ...]:
    """Return n places in proportion to counts, at least one each, by Webster's method.

    Examples
    --------
    >>> apportioned((10, 10, 5), 10)
    (4, 4, 2)
    """
    shares = np.array(counts)[:, None] / (2.0 * np.arange(1, n + 1) + 1.0)
    order = np.argsort(-shares, axis=None, kind="stable")[: n - len(counts)]
    further = np.bincount(order // n, minlength=len(counts))
    return tuple((1 + further).tolist())
