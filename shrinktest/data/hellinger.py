"""Hellinger transform of a table of abundances: square roots of the shares of every row."""

from __future__ import annotations

from typing import Any

import numpy as np

from shrinktest._check import Array, counted, real_values


def hellinger(rows: Any) -> Array:
    """Return the square roots of the shares that counts have of the sum of their row.

    The distance of two rows is then their Hellinger distance times the square root of 2.
    Rows with a missing value are missing.

    Parameters
    ----------
    rows : array_like or table, shape (N, d)
        Abundances, such as counts of species; at least 0, and not all 0 in a row.

    Examples
    --------
    >>> hellinger([[9.0, 0.0], [2.0, 6.0]]).round(3)
    array([[1.   , 0.   ],
           [0.5  , 0.866]])
    """
    try:
        counts = real_values(rows)
    except TypeError:
        raise TypeError("transform='hellinger' requires numbers; leave other columns out") from None
    counts = counts.reshape(len(counts), -1)
    if (counts < 0.0).any():
        raise ValueError(
            f"transform='hellinger' requires abundances of at least 0; found {np.nanmin(counts):g}"
        )
    sums = counts.sum(axis=1, keepdims=True)
    if empty := int(np.count_nonzero(sums == 0.0)):
        raise ValueError(
            f"transform='hellinger': {counted(empty, 'row')} without any abundance; leave such "
            "rows out"
        )
    return np.asarray(np.sqrt(counts / sums))
