"""Joint independence over shuffles: dHSIC, and Gram matrices of its centered features.

The shuffles are those of the variables.

``grams`` (d, n, n) are the Gram matrices K^l of the variables, ``rows`` (d, n) their row means
r^l_i and ``means`` (d,) the means s^l of all their entries.  A shuffle (d - 1, n) says which
observation of variable l + 1 stands in every row.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np


def product_sums(grams: np.ndarray, shuffles: np.ndarray, out: np.ndarray) -> None:
    """For every shuffle: ``out`` (B,), the sum of the entries of prod_l K^l."""
    for r, shuffle in enumerate(shuffles):
        out[r] = np.sum(prod(_placed(grams, shuffle)))


def feature_gram(
    grams: np.ndarray, rows: np.ndarray, means: np.ndarray, shuffle: np.ndarray
) -> np.ndarray:
    """The Gram matrix (n, n) of the features psi under a shuffle."""
    along = [rows[0], *(row[order] for row, order in zip(rows[1:], shuffle, strict=True))]
    return np.asarray(
        _products(_placed(grams, shuffle), [row[:, None] for row in along], along, means)
    )


def moments(
    grams: np.ndarray, rows: np.ndarray, means: np.ndarray, shuffles: np.ndarray, sums: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sum and trace of the features' Gram matrix, and cancellation size, (B,) each.

    The values are for every shuffle; the size is that of what cancels.

    The sum is n^2 dHSIC, mean_ij prod_l K^l_ij + prod_l s^l - 2 mean_i prod_l r^l_i; ``sums`` are
    of prod_l K^l.
    """
    n = rows.shape[1]
    identity = np.broadcast_to(np.arange(n), (len(shuffles), n))
    orders = [identity, *shuffles.swapaxes(0, 1)]
    along = [row[order] for row, order in zip(rows, orders, strict=True)]
    own = [np.diagonal(gram)[order] for gram, order in zip(grams, orders, strict=True)]
    crossed = prod(along)
    whole = n * n * float(prod(means))
    value = sums + whole - 2.0 * n * crossed.sum(axis=1)
    size = np.abs(sums) + np.abs(whole) + 2.0 * n * np.abs(crossed).sum(axis=1)
    return value, _products(own, along, along, means).sum(axis=1), size


def _placed(grams: np.ndarray, shuffle: np.ndarray) -> list[np.ndarray]:
    return [
        grams[0],
        *(gram[order][:, order] for gram, order in zip(grams[1:], shuffle, strict=True)),
    ]


def _products(
    k: Sequence[Any], left: Sequence[Any], right: Sequence[Any], means: np.ndarray
) -> Any:
    """Inner products <psi_i, psi_j> of features without main effects.

    psi_i = (x)_l phi_l(x_i) - sum_l phi_l(x_i) (x)_{m != l} mu_m + (d - 1) (x)_l mu_l.

    ``k``, ``left``, ``right`` are K^l_ij, r^l_i and r^l_j, for d variables.
    """
    d = len(k)
    out = prod(k) + (d - 1.0) * (prod(left) + prod(right)) + (d - 1.0) ** 2 * prod(means)
    for v in range(d):
        others = _without(means, v)
        out = out - k[v] * (_without(left, v) + _without(right, v) - others)
        out = out - (d - 1.0) * others * (left[v] + right[v])
        for u in range(d):
            if u != v:
                out = out + left[v] * (right[u] * _without(means, u, v))
    return out


def _without(values: Any, *left_out: int) -> Any:
    return prod(value for q, value in enumerate(values) if q not in left_out)
