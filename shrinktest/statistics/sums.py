"""Sums of a Gram matrix over pairs of parts and over pairings, in memory or by tiles.

Tiles are never stored together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from shrinktest._machine_code import compiled_loop
from shrinktest._parallel import parallel_for
from shrinktest.permutations.null import TIE
from shrinktest.statistics.features import LAST_BITS, Features, KernelFeatures

#: Labels (B, N) to the sums (B, k, k) of K over pairs of parts, and its trace (B, k) over each.
BlockSums = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]

PLAIN = 256  # observations up to which plain matrix products take less time than loading a compiler
ROWS = 128  # permutations whose members, or cross-covariances, are in memory

_COPIED = (
    2**23
    # bytes up to which coordinates are copied row by row; larger ones are read in place
    # there
)
_TILE = 2048  # rows and columns of a tile
_STRIP = 2**27  # bytes of the rows of a Gram matrix that are made at a time for pairings
_GATHERED = 8e-10  # seconds for a kernel value that a pairing gathers
_MULTIPLIED = 1e-10  # seconds for a product of a matrix product


# --- rows that do not depend on each other --------------------------------------------------------


def times(rows: np.ndarray, matrix: np.ndarray, block: int = 128) -> np.ndarray:
    """``rows @ matrix``, (B, N) times (N, r), in blocks of one shape.

    A matrix product rounds differently for blocks of different shapes, and the bits of a statistic
    must not depend on how permutations are shared among threads.
    """
    out = np.empty((len(rows), matrix.shape[1]))
    for start in range(0, len(rows), block):
        stack = rows[start : start + block]
        if len(stack) == block:
            np.matmul(stack, matrix, out=out[start : start + block])
        else:
            stack = np.vstack([stack, np.zeros((block - len(stack), rows.shape[1]))])
            out[start:] = (stack @ matrix)[: len(out) - start]
    return out


def weighted(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Inner product (B,) of every row with one vector.

    ``rows @ weights`` would round by the number of rows.
    """
    return np.einsum("bi,i->b", rows, weights)


def members_of(labels: np.ndarray, part: int) -> np.ndarray:
    """1.0 for the observations that a permutation (a row of labels) puts into a part, else 0.0."""
    return (labels == part).astype(np.float64)


def left_over(plain: Any, nothing: float) -> Any:
    """Return the factor, from 1 to 1e5, by which rounding grows in a canceling mean.

    The number is made of a mean whose terms cancel.

    ``plain`` is the squared norm of the mean; up to ``nothing``, 1e-10 of the size of its terms, it
    is zero.
    """
    return 1.0 + LAST_BITS * nothing / TIE / np.maximum(
        plain, max(nothing, np.finfo(np.float64).tiny)
    )


# --- partitions -----------------------------------------------------------------------------------


def block_sums(features: Features, sizes: tuple[int, ...]) -> BlockSums:
    """Return the sums over pairs of parts of these sizes as a function of labels."""
    if isinstance(features, KernelFeatures) and features.route == "tiles":
        return _tile_sums(features.plain, len(sizes), features.workers)
    if features.by_coordinates:
        return _coordinate_sums(features.values, features.kernel_diagonal(), sizes)
    matrix = features.values
    parts = len(sizes)
    diagonal = np.diagonal(matrix).copy()
    everything = float(matrix.sum())
    trace = float(np.trace(matrix))

    def plain_sums(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sums = np.zeros((len(labels), parts, parts))
        traces = np.empty((len(labels), parts))
        for start in range(0, len(labels), ROWS):  # few enough for the cache of a core
            rows = slice(start, start + ROWS)
            members = [members_of(labels[rows], p) for p in range(parts)]
            for p in range(parts - 1):
                image = times(members[p], matrix)
                for q in range(p, parts):
                    products = np.einsum("bi,bi->b", image, members[q])
                    sums[rows, p, q] = products
                    sums[rows, q, p] = products
                traces[rows, p] = weighted(members[p], diagonal)
        sums[:, -1, -1] = everything - sums.sum(axis=(1, 2))
        traces[:, -1] = trace - traces[:, :-1].sum(axis=1)
        return sums, traces

    if len(matrix) <= PLAIN:
        return plain_sums
    compiled_sums = _compiled_sums(matrix, parts)
    name = "split_sums" if parts == 2 else "partition_sums"
    seconds = _MULTIPLIED * (parts - 1) * matrix.size

    def matrix_sums(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        loop = compiled_loop(name, len(labels), seconds)
        return plain_sums(labels) if loop is None else compiled_sums(labels)

    return matrix_sums


def _coordinate_sums(z: np.ndarray, diagonal: np.ndarray, sizes: tuple[int, ...]) -> BlockSums:
    parts = len(sizes)
    rank = z.shape[1]
    constant = float(diagonal[0]) if np.ptp(diagonal) == 0.0 else None
    features = z if constant is not None else np.hstack([z, diagonal[:, None]])
    if features.nbytes <= _COPIED or not features.flags.f_contiguous:
        features = np.ascontiguousarray(features)
    whole = features.sum(axis=0)

    def coordinate_sums(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sums = np.empty((parts, len(labels), features.shape[1]))
        for p in range(parts - 1):
            rows = len(labels) * (parts - 1)
            sums[p] = _feature_sums(features, labels == p, 0 if features.size <= PLAIN**2 else rows)
        sums[-1] = whole - sums[:-1].sum(axis=0)
        means = np.ascontiguousarray(sums[:, :, :rank].transpose(1, 0, 2))
        traces = sums[:, :, -1].T
        if constant is not None:
            traces = np.repeat(constant * np.array([sizes]), len(labels), axis=0)
        return means @ means.transpose(0, 2, 1), traces

    return coordinate_sums


def _feature_sums(features: np.ndarray, members: np.ndarray, rows: int) -> np.ndarray:
    """Sums (B, r) of the features (N, r) of the members (B, N).

    ``rows`` in all, 0 if they are few.
    """
    seconds = _MULTIPLIED * features.size
    loop = compiled_loop("feature_sums", rows, seconds) if rows else None
    if loop is None:
        return times(members.astype(np.float64), features)
    from shrinktest.statistics.sum_loops import octets_of

    out = np.empty((len(members), features.shape[1]))
    loop(features, octets_of(members), out)
    return out


def _compiled_sums(matrix: np.ndarray, parts: int) -> BlockSums:
    rows = matrix.sum(axis=1)
    everything = float(rows.sum())
    trace = float(np.trace(matrix))

    def several(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        from shrinktest.statistics.sum_loops import octets_of, partition_sums

        members = np.stack([octets_of(labels == p) for p in range(parts - 1)])
        out = np.empty((len(labels), parts, parts))
        traces = np.empty((len(labels), parts))
        partition_sums(matrix, members, labels, out, traces)
        return out, traces

    def split(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        from shrinktest.statistics.sum_loops import octets_of, split_sums

        out = np.empty((len(labels), 3))
        split_sums(matrix, rows, octets_of(labels == 0)[None], out)
        inside, total, first = out.T
        cross = total - inside
        sums = np.stack([inside, cross, cross, everything - inside - 2.0 * cross], axis=1)
        return sums.reshape(-1, 2, 2), np.stack([first, trace - first], axis=1)

    return split if parts == 2 else several


def _tile_sums(gram: KernelFeatures, parts: int, workers: int) -> BlockSums:
    """Sums of tiles on and below the diagonal, each made once for all labels.

    They are in the order of tiles.
    """
    kernel = gram.kernel
    points = gram.points
    edges = [*range(0, len(gram.points), _TILE), len(gram.points)]
    rows = [np.ascontiguousarray(points[start:stop]) for start, stop in pairwise(edges)]
    tiles = [(a, b) for a in range(len(rows)) for b in range(a + 1)]
    diagonal = kernel.diagonal(points)

    def tile_sums(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        traces = np.stack(
            [np.einsum("bi,i->b", labels == p, diagonal) for p in range(parts)], axis=1
        )
        columns = [labels[:, start:stop] for start, stop in pairwise(edges)]
        sums = np.zeros((len(tiles), len(labels), parts, parts))

        def add(index: int) -> None:
            a, b = tiles[index]
            tile = kernel.block(rows[a], rows[b])
            images = np.empty((parts, len(labels), tile.shape[1]))
            for p in range(parts - 1):
                images[p] = _feature_sums(
                    tile, columns[a] == p, len(labels) * (parts - 1) * len(tiles)
                )
            images[-1] = tile.sum(axis=0) - images[:-1].sum(axis=0)
            for p, q in np.ndindex(parts, parts):
                sums[index, :, p, q] = np.einsum("bi,bi->b", images[p], columns[b] == q)
            if a != b:
                sums[index] += sums[index].transpose(0, 2, 1).copy()

        parallel_for(add, range(len(tiles)) if len(labels) else (), workers)
        return sums.sum(axis=0), traces

    return tile_sums


# --- pairings by tiles ----------------------------------------------------------------------------


class CenteredStrips:
    """Rows of a Gram matrix centered by the mean of all features, some at a time."""

    def __init__(self, features: KernelFeatures) -> None:
        kernel = features.plain.kernel
        points = features.plain.points
        workers = features.workers
        self.kernel = kernel
        self.points = points
        self.workers = workers
        self.edges = [*range(0, len(points), _strip(len(points))), len(points)]
        self.means = np.empty(len(points))
        squares = 0.0
        for start, stop in pairwise(self.edges):
            values = kernel.block(points[start:stop], points, workers)
            self.means[start:stop] = values.mean(axis=1)
            squares += float(np.vdot(values, values))
        n = len(points)
        mean = float(self.means.mean())
        diagonal = kernel.diagonal(points) - 2.0 * self.means + mean
        self.trace = float(diagonal.sum())
        before = squares**0.5 / n
        after = (
            max(squares / n**2 - 2.0 * float(np.square(self.means).mean()) + mean**2, 0.0) ** 0.5
        )
        self.size = after + LAST_BITS * before

    def __call__(self, start: int, stop: int) -> np.ndarray:
        """Return centered rows ``start`` to before ``stop``, (stop - start, n)."""
        values = self.kernel.block(self.points[start:stop], self.points, self.workers)
        values -= self.means[start:stop, None]
        values -= self.means
        values += self.means.mean()
        return values


def pairing_sums_by_tiles(
    x: CenteredStrips, y: CenteredStrips
) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function from pairings (B, n) to sums and traces (B, 2).

    They are those of the product of centered matrices.
    """
    strips = list(pairwise(x.edges))

    def pairing_sums(pairings: np.ndarray) -> np.ndarray:
        seconds = 4.0 * _GATHERED * len(x.points) ** 2
        strip_sums = compiled_loop("strip_sums", len(pairings), seconds) or _strip_sums
        out = np.zeros((len(pairings), 2))
        rows = np.ascontiguousarray(pairings, dtype=np.uint32)
        groups: Sequence[slice] = [slice(start, start + 16) for start in range(0, len(rows), 16)]
        for first, last in strips if groups else ():
            left = x(first, last)
            for low, high in strips:
                right = y(low, high)

                def gather(
                    group: slice, left: np.ndarray = left, right: np.ndarray = right
                ) -> None:
                    strip_sums(left, first, right, low, rows[group], out[group])  # noqa: B023

                parallel_for(gather, groups, x.workers)
        return out

    return pairing_sums


def _strip_sums(
    x: np.ndarray, first: int, y: np.ndarray, low: int, pairings: np.ndarray, out: np.ndarray
) -> None:
    """Add to ``out`` (B, 2) what rows of x from ``first`` on contribute.

    These meet rows of y from ``low`` on.
    """
    for i, row in enumerate(x, start=first):
        places = pairings[:, i].astype(np.int64) - low
        here = np.flatnonzero((places >= 0) & (places < len(y)))
        values = y[places[here, None], pairings[here, : i + 1]]
        diagonal = row[i] * values[:, i]
        out[here, 0] += 2.0 * weighted(values[:, :i], row[:i]) + diagonal
        out[here, 1] += diagonal


def _strip(size: int) -> int:
    """Rows of a strip."""
    return max(1, min(size, _STRIP // (8 * size)))


# --- pairs by sums of products of features --------------------------------------------------------


def unbiased(total: Any, trace: Any, traces: tuple[Any, Any], n: Any) -> Any:
    """Unbiased HSIC [Song12] from sum and trace of Kc o Lc, and the traces of Kc and Lc.

    In terms of centered matrices, whose rows off the diagonal add up to minus the diagonal.
    """
    value = total - trace * n / (n - 2) + traces[0] * traces[1] / ((n - 1) * (n - 2))
    return value / (n * (n - 3))


def _norms(sums: np.ndarray, n: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return weights (..., r) of features and squared norms, and a constant.

    They give squared norms about the mean.

    ``sums`` are over n rows.
    """
    mean = sums[..., :-1] / np.asarray(n)[..., None]
    return np.concatenate([-2.0 * mean, np.ones((*mean.shape[:-1], 1))], axis=-1), np.square(
        mean
    ).sum(axis=-1)


def _centered_trace(sums: np.ndarray, n: Any) -> np.ndarray:
    """Sum (...) of the squared norms about the mean."""
    return np.asarray(sums[..., -1] - np.square(sums[..., :-1]).sum(axis=-1) / n)


def centered_sums(
    xy: np.ndarray, x: np.ndarray, y: np.ndarray, n: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of products (..., r - 1, s - 1) of centered features and of their squared norms.

    The products of squared norms are (...), and features are about their means.

    ``xy`` (..., r, s) are sums over n pairs of products of features, the last of which are their
    squared norms.
    """
    (u, c), (v, d) = _norms(x, n), _norms(y, n)
    trace = (
        np.einsum("...r,...rs,...s->...", u, xy, v)
        + d * (u * x).sum(axis=-1)
        + c * (v * y).sum(axis=-1)
    )
    mean = x[..., :-1] / np.asarray(n)[..., None]
    return xy[..., :-1, :-1] - mean[..., :, None] * y[..., None, :-1], np.asarray(trace + n * c * d)


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums over observed pairs of products of features.

    The last of the features are their squared norms.
    """

    n: np.ndarray  # (G,): pairs of every group
    xy: np.ndarray  # (G, r, s)
    xx: np.ndarray  # (G, r, r)
    yy: np.ndarray  # (G, s, s)
    x: np.ndarray  # (G, r): of the features themselves
    y: np.ndarray  # (G, s)

    @property
    def whole(self) -> PairSums:
        """Sums over all groups together."""
        return PairSums(*(sums.sum(axis=0, keepdims=True) for sums in vars(self).values()))

    @property
    def without(self) -> PairSums:
        """Sums without each group in turn."""
        return PairSums(*(sums.sum(axis=0) - sums for sums in vars(self).values()))

    def unbiased(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """HSIC (G,) of x and y, of x with itself, and of y with itself, all without bias."""
        left = _centered_trace(self.x, self.n)
        right = _centered_trace(self.y, self.n)

        def hsic(
            xy: np.ndarray, x: np.ndarray, y: np.ndarray, traces: tuple[Any, Any]
        ) -> np.ndarray:
            covariance, trace = centered_sums(xy, x, y, self.n)
            return np.asarray(
                unbiased(np.square(covariance).sum(axis=(-2, -1)), trace, traces, self.n)
            )

        return (
            hsic(self.xy, self.x, self.y, (left, right)),
            hsic(self.xx, self.x, self.x, (left, left)),
            hsic(self.yy, self.y, self.y, (right, right)),
        )


@dataclass(frozen=True, eq=False)
class ShiftedSums:
    """Sums over n pairs of products of features, the last of which are their squared norms."""

    n: int
    xy: (
        np.ndarray
    )  # (G, r, m, s): of features of x and of y, by groups and by the places that y was shifted
    xx: np.ndarray  # (r, r)
    yy: np.ndarray  # (s, s)
    x: np.ndarray  # (r,): of the features themselves
    y: np.ndarray  # (s,)

    @cached_property
    def traces(self) -> tuple[float, float]:
        """Traces of the centered Gram matrices."""
        return float(_centered_trace(self.x, self.n)), float(_centered_trace(self.y, self.n))

    @property
    def size(self) -> float:
        """Size of the terms that cancel, as for features in memory."""
        size = 1.0
        for products, total in ((self.xx[:-1, :-1], self.x[:-1]), (self.yy[:-1, :-1], self.y[:-1])):
            centered = products - np.outer(total, total) / self.n
            before, after = (float(np.linalg.norm(sums)) / self.n for sums in (products, centered))
            size *= after + LAST_BITS * (before * after) ** 0.5
        return size

    def __call__(self, shifts: np.ndarray) -> np.ndarray:
        """Sum and trace (B, 2) of the product of centered Gram matrices, by shifts (B, G).

        The product is entrywise.
        """
        fixed, moving = self._parts
        groups, _, length, _ = self.xy.shape
        out = np.empty((len(shifts), 2))
        for start in range(0, len(shifts), ROWS):
            rows = shifts[start : start + ROWS]
            chosen = (
                (rows[:, :, None] == np.arange(length))
                .astype(np.float64)
                .reshape(len(rows), groups * length)
            )
            sums = times(chosen, moving) + fixed
            out[start : start + ROWS, 0] = np.square(sums[:, :-1]).sum(axis=1)
            out[start : start + ROWS, 1] = sums[:, -1]
        return out

    @cached_property
    def _parts(self) -> tuple[np.ndarray, np.ndarray]:
        """Parts (k,) shared by all shifts and (G m, k) added by each.

        These are cross-covariance, then trace.
        """
        mean = self.xy.mean(axis=2)  # over shifts, which is the overall mean
        moving = (
            (self.xy - mean[:, :, None, :])
            .transpose(0, 2, 1, 3)
            .reshape(-1, len(self.x), len(self.y))
        )
        covariance, trace = centered_sums(mean.sum(axis=0), self.x, self.y, self.n)
        fixed = np.append(covariance.ravel(), trace)
        along = np.einsum(
            "r,grs,s->g", _norms(self.x, self.n)[0], moving, _norms(self.y, self.n)[0]
        )
        return fixed, np.column_stack([moving[:, :-1, :-1].reshape(len(moving), -1), along])
