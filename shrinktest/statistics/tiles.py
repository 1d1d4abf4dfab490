"""Sums over a Gram matrix by tiles, which are made when needed and never stored together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from shrinktest._parallel import parallel_for
from shrinktest.kernels import Kernel
from shrinktest.kernels.bandwidths import spread_rows
from shrinktest.statistics.features import LAST_BITS

_TILE = 2048  # rows and columns of a tile
_STRIP = 2**27  # bytes of the rows of a Gram matrix that are made at a time for pairings
_SAMPLE = 1000  # rows whose kernel values stand for all where only their size matters

#: Seconds on one core for a kernel value, for adding it to the sums of one permutation, and for gathering it.
_VALUE, _ADDED, _GATHERED = 1.2e-8, 4e-11, 8e-10


def seconds(size: int, permutations: float, pairings: bool) -> float:
    """Time of a test by tiles on one core, roughly."""
    pairs = size**2 / 2.0
    if pairings:
        strips = len(_edges(size, _strip(size))) - 1
        return pairs * ((2.0 * strips + 6.0) * _VALUE + permutations * _GATHERED)
    return pairs * (_VALUE + permutations * _ADDED)


def typical_size(kernel: Kernel, points: np.ndarray) -> float:
    """Root mean square of the kernel values, from evenly spread rows."""
    some = np.ascontiguousarray(points[spread_rows(len(points), _SAMPLE)])
    return float(np.linalg.norm(kernel.block(some, some))) / len(some)


def block_sums(
    kernel: Kernel, points: np.ndarray, parts: int, workers: int
) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return a function from labels (B, N) to sums (B, k, k) of K over pairs of parts, and its traces (B, k).

    Each tile on or below the diagonal is made once for all labels.  Sums of tiles are added in the order of tiles, so
    the result does not depend on the number of threads.
    """
    edges = _edges(len(points), _TILE)
    rows = [np.ascontiguousarray(points[start:stop]) for start, stop in pairwise(edges)]
    tiles = [(a, b) for a in range(len(rows)) for b in range(a + 1)]
    diagonal = kernel.diagonal(points)

    def sums_of(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        from shrinktest.statistics.sum_loops import feature_sums, octets_of

        traces = np.stack([np.einsum("bi,i->b", labels == p, diagonal) for p in range(parts)], axis=1)
        if not len(labels):
            return np.empty((0, parts, parts)), traces
        columns = [labels[:, start:stop] for start, stop in pairwise(edges)]
        found = np.zeros((len(tiles), len(labels), parts, parts))

        def add(index: int) -> None:
            a, b = tiles[index]
            tile = kernel.block(rows[a], rows[b])
            left = np.repeat(tile.sum(axis=0)[None], len(labels), axis=0)  # of the rows in the last part
            image = np.empty_like(left)
            for p in range(parts):
                if p < parts - 1:
                    feature_sums(tile, octets_of(columns[a] == p), image)
                    left -= image
                sums = image if p < parts - 1 else left
                for q in range(parts):
                    found[index, :, p, q] = np.einsum("bi,bi->b", sums, columns[b] == q)
            if a != b:
                found[index] += found[index].transpose(0, 2, 1).copy()

        parallel_for(add, range(len(tiles)), workers)
        return found.sum(axis=0), traces

    return sums_of


class CentredStrips:
    """Rows of a Gram matrix centred by the mean of all features, some at a time."""

    def __init__(self, kernel: Kernel, points: np.ndarray, workers: int) -> None:
        self.kernel, self.points, self.workers = kernel, points, workers
        self.edges = _edges(len(points), _strip(len(points)))
        self.means, squares = np.empty(len(points)), 0.0
        for start, stop in pairwise(self.edges):
            values = kernel.block(points[start:stop], points, workers)
            self.means[start:stop] = values.mean(axis=1)
            squares += float(np.vdot(values, values))
        n, mean = len(points), float(self.means.mean())
        diagonal = kernel.diagonal(points) - 2.0 * self.means + mean
        self.trace, before = float(diagonal.sum()), squares**0.5 / n
        after = max(squares / n**2 - 2.0 * float(np.square(self.means).mean()) + mean**2, 0.0) ** 0.5
        self.size = after + LAST_BITS * before

    def __call__(self, start: int, stop: int) -> np.ndarray:
        """Return centred rows ``start`` to before ``stop``, (stop - start, n)."""
        values = self.kernel.block(self.points[start:stop], self.points, self.workers)
        values -= self.means[start:stop, None]
        values -= self.means
        values += self.means.mean()
        return values


def pairing_sums(x: CentredStrips, y: CentredStrips, workers: int) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function from pairings (B, n) to (B, 2): the sum and the trace of the product of centred matrices."""
    strips = list(pairwise(x.edges))

    def sums_of(pairings: np.ndarray) -> np.ndarray:
        from shrinktest.statistics.sum_loops import strip_sums

        out = np.zeros((len(pairings), 2))
        if not len(pairings):
            return out
        rows = np.ascontiguousarray(pairings, dtype=np.uint32)
        groups: Sequence[slice] = [slice(start, start + 16) for start in range(0, len(rows), 16)]
        for first, last in strips:
            left = x(first, last)
            for low, high in strips:
                right = y(low, high)

                def gather(some: slice, left: np.ndarray = left, right: np.ndarray = right) -> None:
                    strip_sums(left, first, right, low, rows[some], out[some])  # noqa: B023

                parallel_for(gather, groups, workers)
        return out

    return sums_of


def _strip(size: int) -> int:
    """Rows of a strip."""
    return max(1, min(size, _STRIP // (8 * size)))


def _edges(size: int, step: int) -> list[int]:
    """Starts of parts of equal size, and the end of the last."""
    return [*range(0, size, step), size]
