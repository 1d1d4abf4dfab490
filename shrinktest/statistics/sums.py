"""Sums of a Gram matrix over pairs of parts, which is all that scaled means need of a partition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from shrinktest.permutations.null import TIE
from shrinktest.statistics import tiles
from shrinktest.statistics.features import LAST_BITS, Features

#: Labels (B, N) to the sums (B, k, k) of K over pairs of parts, and its trace (B, k) over each.
BlockSums = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]

PLAIN = 256  # observations up to which plain matrix products take less time than loading a compiler

_COPIED = 2**23  # bytes up to which coordinates are copied row by row; more are read as they lie, which is faster there


def sums_of(gram: Features, sizes: tuple[int, ...], workers: int = 1) -> BlockSums:
    """The sums as a function of partitions into parts of these sizes."""
    if gram.name == "tiles":
        return tiles.block_sums(gram.plain.kernel, gram.plain.points, len(sizes), workers)
    z = gram.coordinates()
    if z is not None:
        return _by_coordinates(z, gram.diagonal(), sizes)
    matrix = gram.matrix(workers)
    if len(matrix) <= PLAIN:
        return _plain(matrix, len(sizes))
    return _of_two(matrix) if len(sizes) == 2 else _compiled(matrix, len(sizes))


def _by_coordinates(z: np.ndarray, diagonal: np.ndarray, sizes: tuple[int, ...]) -> BlockSums:
    parts, rank = len(sizes), z.shape[1]
    constant = float(diagonal[0]) if np.ptp(diagonal) == 0.0 else None
    features = z if constant is not None else np.hstack([z, diagonal[:, None]])
    if features.nbytes <= _COPIED or not features.flags.f_contiguous:
        features = np.ascontiguousarray(features)
    whole = features.sum(axis=0)

    def sums_of_features(labels: np.ndarray, part: int, out: np.ndarray) -> None:
        if features.size <= PLAIN**2:
            out[:] = times(members_of(labels, part), features)
            return
        from shrinktest.statistics.sum_loops import feature_sums, octets_of

        feature_sums(features, octets_of(labels == part), out)

    def blocks_of(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sums = np.empty((parts, len(labels), features.shape[1]))
        for p in range(parts - 1):
            sums_of_features(labels, p, sums[p])
        sums[-1] = whole - sums[:-1].sum(axis=0)
        means = np.ascontiguousarray(sums[:, :, :rank].transpose(1, 0, 2))
        traces = sums[:, :, -1].T
        if constant is not None:
            traces = np.repeat(constant * np.array([sizes]), len(labels), axis=0)
        return means @ means.transpose(0, 2, 1), traces

    return blocks_of


def _plain(matrix: np.ndarray, parts: int) -> BlockSums:
    diagonal, everything, trace = np.diagonal(matrix).copy(), float(matrix.sum()), float(np.trace(matrix))

    def blocks_of(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        members = [members_of(labels, p) for p in range(parts)]
        sums, traces = np.zeros((len(labels), parts, parts)), np.empty((len(labels), parts))
        for p in range(parts - 1):
            image = times(members[p], matrix)
            for q in range(p, parts):
                sums[:, p, q] = sums[:, q, p] = along(image, members[q])
            traces[:, p] = weighted(members[p], diagonal)
        sums[:, -1, -1] = everything - sums.sum(axis=(1, 2))
        traces[:, -1] = trace - traces[:, :-1].sum(axis=1)
        return sums, traces

    return blocks_of


def _of_two(matrix: np.ndarray) -> BlockSums:
    """Two parts: the sum over one and its sum with everything tell the rest."""
    from shrinktest.statistics.sum_loops import octets_of, split_sums

    rows = matrix.sum(axis=1)
    everything, trace = float(rows.sum()), float(np.trace(matrix))

    def blocks_of(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        out = np.empty((len(labels), 3))
        split_sums(matrix, rows, octets_of(labels == 0), out)
        inside, total, first = out.T
        cross = total - inside
        sums = np.stack([inside, cross, cross, everything - inside - 2.0 * cross], axis=1)
        return sums.reshape(-1, 2, 2), np.stack([first, trace - first], axis=1)

    return blocks_of


def _compiled(matrix: np.ndarray, parts: int) -> BlockSums:
    from shrinktest.statistics.sum_loops import block_sums, octets_of

    def blocks_of(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        members = np.stack([octets_of(labels == p) for p in range(parts - 1)])
        out, traces = np.empty((len(labels), parts, parts)), np.empty((len(labels), parts))
        block_sums(matrix, members, labels, out, traces)
        return out, traces

    return blocks_of


def times(rows: np.ndarray, matrix: np.ndarray, block: int = 128) -> np.ndarray:
    """``rows @ matrix``, (B, N) times (N, r), a row of which does not depend on the others.

    A matrix product rounds differently for blocks of different shapes, so that all blocks here have one: the bits of
    a statistic must not depend on how relabellings are shared out among threads.  A ``block`` has few rows where few
    come at a time.
    """
    out = np.empty((len(rows), matrix.shape[1]))
    if rows.shape[1] == 0:
        out[:] = 0.0
        return out
    for start in range(0, len(rows), block):
        some = rows[start : start + block]
        if len(some) < block:
            some = np.vstack([some, np.zeros((block - len(some), rows.shape[1]))])
        out[start : start + block] = (some @ matrix)[: len(out) - start]
    return out


def left_over(plain: Any, nothing: float) -> Any:
    """Return the factor, from 1 to 1e5, by which rounding grows in a number made of a mean whose terms cancel.

    ``plain`` is the squared norm of the mean, of which ``nothing`` is zero: 1e-10 of the size of its terms, of which
    1e-15 is rounded.
    """
    return 1.0 + LAST_BITS * nothing / TIE / np.maximum(plain, max(nothing, np.finfo(np.float64).tiny))


def without_specks(out: np.ndarray, size: float) -> np.ndarray:
    """Statistics (B, 2) of projections: squared norms of rounding errors, though not of the mean's, become zero."""
    out[np.abs(out[:, 0]) <= TIE**2 * size, 0] = 0.0
    return out


def along(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The inner product (B,) of every row of one matrix with that row of another."""
    return np.einsum("bi,bi->b", first, second)


def weighted(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The inner product (B,) of every row with one vector; ``rows @ weights`` would round by the number of rows."""
    return np.einsum("bi,i->b", rows, weights)


def members_of(labels: np.ndarray, part: int) -> np.ndarray:
    """1.0 for the observations that a relabelling (a row of labels) puts into a part, else 0.0."""
    return (labels == part).astype(np.float64)
