"""Largest sums of a permuted series within first rows or intervals.

`scan_loops` compiles these.
"""

from __future__ import annotations

import numpy as np


def before(matrix: np.ndarray, places: np.ndarray, out: np.ndarray) -> None:
    """``out`` (B, n): for the row at every place, the sum of its entries for all rows before it.

    ``matrix`` (n, n) has a diagonal of zeros, ``places`` (B, n) say where a permutation puts each
    row.
    """
    for b, order in enumerate(np.argsort(places, axis=1)):
        out[b] = np.tril(matrix[order][:, order]).sum(axis=1)


def largest_of_coordinates(
    z: np.ndarray,
    own: np.ndarray,
    orders: np.ndarray,
    linear: np.ndarray,
    constant: np.ndarray,
    units: np.ndarray,
    low: int,
    high: int,
    out: np.ndarray,
) -> None:
    """Largest standardized sum (B,) within the first rows, by coordinates z (n, r).

    Their squared norms are ``own``.

    The sum within t rows is the squared norm of the sum of their coordinates, less ``linear[t]``
    times the sum of their own norms, less ``constant[t]``.
    """
    t = slice(low, high + 1)
    for b, order in enumerate(orders):
        totals, norms = _cumulated(z, own, order)
        values = np.square(totals[t]).sum(axis=1) - linear[t] * norms[t] - constant[t]
        out[b] = (values * units[t]).max(initial=-np.inf)


def largest_interval_of_gram(
    matrix: np.ndarray, orders: np.ndarray, units: np.ndarray, low: int, high: int, out: np.ndarray
) -> None:
    """The largest standardized sum (B,) within any stretch of ``low`` to ``high`` rows."""
    n = len(matrix)
    lengths, allowed = _stretches(n, low, high)
    area = np.zeros((n + 1, n + 1))
    for b, order in enumerate(orders):
        np.cumsum(np.cumsum(matrix[order][:, order], axis=0), axis=1, out=area[1:, 1:])
        corners = np.diagonal(area)
        values = (corners[None, :] - 2.0 * area + corners[:, None]) * units[lengths]
        out[b] = values[allowed].max(initial=-np.inf)


def largest_interval_of_coordinates(
    z: np.ndarray,
    own: np.ndarray,
    orders: np.ndarray,
    linear: np.ndarray,
    constant: np.ndarray,
    units: np.ndarray,
    low: int,
    high: int,
    out: np.ndarray,
) -> None:
    """Compute the same from coordinates."""
    lengths, allowed = _stretches(len(z), low, high)
    for b, order in enumerate(orders):
        totals, norms = _cumulated(z, own, order)
        squares = np.square(totals).sum(axis=1)
        values = squares[None, :] - 2.0 * (totals @ totals.T) + squares[:, None]
        values -= linear[lengths] * (norms[None, :] - norms[:, None]) + constant[lengths]
        out[b] = (values * units[lengths])[allowed].max(initial=-np.inf)


def largest_in_intervals(
    z: np.ndarray,
    own: np.ndarray,
    orders: np.ndarray,
    ends: np.ndarray,
    starts: np.ndarray,
    cuts: np.ndarray,
    weights: np.ndarray,
    out: np.ndarray,
) -> None:
    """Largest value (B, k) over the cuts of every interval, by coordinates z (n, r).

    Their squared norms are ``own``.

    Interval k has the rows ``ends[k]`` and the cuts from ``starts[k]`` on, each with ``weights`` of
    the sums before, after and across it.
    """
    first, end = np.repeat(ends, np.diff(starts), axis=0).T
    for b, order in enumerate(orders):
        totals, norms = _cumulated(z, own, order)
        apart = totals[cuts] - totals[first]
        whole = totals[end] - totals[first]
        squared = np.square(apart).sum(axis=1)
        across = (apart * whole).sum(axis=1)
        before_cut = squared - (norms[cuts] - norms[first])
        after_cut = (
            np.square(whole).sum(axis=1) - 2.0 * across + squared - (norms[end] - norms[cuts])
        )
        values = (
            weights[:, 0] * before_cut
            + weights[:, 1] * after_cut
            + weights[:, 2] * (across - squared)
        )
        out[b] = np.maximum.reduceat(values, starts[:-1])


def _cumulated(z: np.ndarray, own: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums (n + 1, r) of coordinates and of squared norms over the first rows of an order."""
    totals = np.zeros((len(z) + 1, z.shape[1]))
    norms = np.zeros(len(z) + 1)
    np.cumsum(z[order], axis=0, out=totals[1:])
    np.cumsum(own[order], out=norms[1:])
    return totals, norms


def _stretches(n: int, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
    """Lengths (n + 1, n + 1) of stretches from one row to before another, and those allowed."""
    lengths = np.arange(n + 1)[None, :] - np.arange(n + 1)[:, None]
    return np.maximum(lengths, 0), (lengths >= low) & (lengths <= high)
