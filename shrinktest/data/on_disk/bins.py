"""Bins of rows, chosen by keyed permutations, and the means of features in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from shrinktest._check import Array
from shrinktest._machine_code import compiled_loop, one_run
from shrinktest.data.on_disk.chunks import Key, digest, reduce
from shrinktest.data.on_disk.on_disk import OnDisk
from shrinktest.data.on_disk.storage import Chunk
from shrinktest.data.on_disk.survey import DATA, FEATURES, SEED, numbered, same_rows
from shrinktest.kernels.base import Kernel
from shrinktest.kernels.distance_kernel import Gaussian
from shrinktest.kernels.feature_maps import AffineFeatures, Derived, Landmarks, OfColumns, tiles
from shrinktest.kernels.inner import FeatureMap
from shrinktest.kernels.pooled import RescaledFeatures

_FEWEST = 20  # bins of the smallest sample, if it has as many rows
_ROUNDS = 6
_VALUES = 2**20  # features computed at a time
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_15 = np.uint64(15)
_MULTIPLIERS = np.uint64(0x85EBCA6B), np.uint64(0xC2B2AE35)  # as in MurmurHash3


@dataclass(frozen=True, eq=False)
class Bijection:
    """A permutation of 0, ..., n - 1 that takes no memory: a Feistel network with cycle walking.

    A number is a row and a column of a table, each of which is changed in turn by a function of the
    other; that can be undone, whatever the function.  What comes out beyond n goes in again (J.
    Black and P. Rogaway, Ciphers with arbitrary finite domains, CT-RSA 2002).

    Examples
    --------
    >>> shuffled = Bijection.drawn(10, np.random.default_rng(0))
    >>> sorted(shuffled(np.arange(10)).tolist())
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """

    n: int  # less than 2^63
    keys: np.ndarray  # (rounds,), uint64: numbers of 32 bits

    @classmethod
    def drawn(cls, n: int, rng: np.random.Generator) -> Bijection:
        """Draw random keys."""
        return cls(n, rng.integers(2**32, size=_ROUNDS, dtype=np.uint64))

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        """Return where these numbers (k,) go, as int64."""
        high = math.isqrt(self.n - 1) + 1  # a table with a cell for each number, and hardly more
        low = -(-self.n // high)
        out = self._once(numbers.astype(np.uint64), np.uint64(high), np.uint64(low))
        while (beyond := np.flatnonzero(out >= np.uint64(self.n))).size:
            out[beyond] = self._once(out[beyond], np.uint64(high), np.uint64(low))
        return out.astype(np.int64)

    def _once(self, numbers: np.ndarray, high: np.uint64, low: np.uint64) -> np.ndarray:
        row, column = np.divmod(numbers, low)
        for turn in range(0, _ROUNDS, 2):
            row = (row + _moved(column, self.keys[turn], high)) % high
            column = (column + _moved(row, self.keys[turn + 1], low)) % low
        return np.asarray(row * low + column)


def _moved(number: np.ndarray, key: np.uint64, size: np.uint64) -> np.ndarray:
    """Return numbers below ``size``, by others and a key."""
    mixed = ((number ^ key) * _MULTIPLIERS[0]) & _LOW
    mixed = ((mixed ^ (mixed >> _15)) * _MULTIPLIERS[1]) & _LOW
    return np.asarray((mixed * size) >> _HALF)


# --- features -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class _LandmarkValues(FeatureMap):
    """Values of a kernel and its landmarks, of which the coordinates are a linear map."""

    kernel: Kernel
    points: Array

    @cached_property
    def _centered(self) -> tuple[Array, Array, Array, Array]:
        """Mean and bandwidths of the landmarks; these in units of them, in tiles; half squares."""
        bandwidths = np.asarray(self.kernel.bandwidth, dtype=np.float64)  # type: ignore[attr-defined]
        widths = np.broadcast_to(bandwidths, self.points.shape[1:])
        mean = self.points.mean(axis=0)
        points = (self.points - mean) / widths
        return mean, widths, tiles(points.T), 0.5 * np.square(points).sum(axis=1)

    def coordinates(self, X: Array) -> Array:
        if not isinstance(self.kernel, Gaussian):
            return self.kernel.block(X, self.points)
        bells = compiled_loop("bells", len(X), 1.5e-8 * len(self.points))
        if bells is None:
            return self.kernel.block(X, self.points)
        mean, widths, points, halves = self._centered
        out = np.empty((len(X), len(self.points)))
        with np.errstate(over="ignore", invalid="ignore"):
            bells(np.ascontiguousarray((X - mean) / widths), points, halves, out)
        return out


def halves(features: FeatureMap) -> tuple[FeatureMap, Callable[[Array], Array]]:
    """Split features into those computed of every row and a linear map that sums pass through."""
    if isinstance(features, RescaledFeatures | OfColumns):
        inner, after = halves(features.features)
        return replace(features, features=inner), after
    if isinstance(features, Derived) and isinstance(features.after, AffineFeatures):
        inner, before = halves(features.features)
        return inner, lambda means: features.after.coordinates(before(means))
    if type(features) is Landmarks:
        return _LandmarkValues(features.kernel, features.points), features.projected
    return features, lambda means: means


def _features(features: FeatureMap, rows: Array, width: int, total: int) -> Any:
    """Yield features (k, width) of rows (n, d), some of ``total``, and which rows these are."""
    step = max(1024, _VALUES // width + 1)
    for start in range(0, len(rows), step):
        some = slice(start, start + step)
        with one_run(total):
            values = features.coordinates(np.ascontiguousarray(rows[some], dtype=np.float64))
        yield np.ascontiguousarray(values), some


# --- means of bins --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Bins:
    """Assignment of the rows of all samples to bins."""

    rows: tuple[int, ...]  # of the samples
    size: int  # rows of a bin
    shuffles: tuple[
        Bijection, ...
    ]  # of the rows of every sample; those that come next to each other make a bin

    @classmethod
    def drawn(cls, rows: tuple[int, ...], bins: int, rng: np.random.Generator) -> Bins:
        """Make about so many bins in all; more if a sample would have fewer than 20."""
        size = max(1, min(-(-sum(rows) // bins), min(rows) // _FEWEST))
        return cls(rows, size, tuple(Bijection.drawn(n, rng) for n in rows))

    @property
    def counts(self) -> tuple[int, ...]:
        """Numbers of bins of the samples."""
        return tuple(n // self.size for n in self.rows)

    @property
    def used(self) -> tuple[int, ...]:
        """Rows of the samples that are in bins."""
        return tuple(n * self.size for n in self.counts)

    def of(self, sample: int, first: int, rows: int) -> np.ndarray:
        """Return the bins (rows,) of successive rows.

        The last one holds rows that are left over.
        """
        numbers = np.arange(first, first + rows)
        return np.minimum(self.shuffles[sample](numbers) // self.size, self.counts[sample])

    def means(
        self, source: OnDisk, features: Sequence[FeatureMap], memory: float = math.inf
    ) -> list[np.ndarray]:
        """Return mean features (M, rank) of all bins for several maps, in one reading.

        The bins are listed sample after sample.

        What several maps compute of the rows is computed once.  Sums take ``memory`` bytes at most,
        including chunks under way, of which there is at least one.
        """
        columns = source.survey.pooled[0].low.size
        whole = source.survey
        split = [halves(each) for each in features]
        keys = [digest(per_row) for per_row, _ in split]
        raw = {key: per_row for key, (per_row, _) in zip(keys, split, strict=True)}
        widths = [each.coordinates(np.ones((1, columns))).shape[1] for each in raw.values()]
        bins = [n + 1 for n in self.counts]
        total = [[np.zeros((n, width)) for width in widths] for n in bins]
        depends = {
            SEED: digest(self.shuffles),
            DATA: whole.digest(),
            FEATURES: digest(self.size, features),
        }
        most = (memory - 8.0 * sum(widths) * sum(bins)) / (8.0 * sum(widths) * max(bins))
        work = partial(
            _add_up, [rows.reader for rows in source.samples], self, list(raw.values()), widths
        )
        jobs = numbered(source.samples, whole.counts)
        stored = Key("sums", depends)
        total = reduce(
            work, jobs, _into, total, source.workers, most=most, store=source.store, key=stored
        )
        sums = {key: np.vstack([each[k][:-1] for each in total]) for k, key in enumerate(raw)}
        for each, key in zip(features, keys, strict=True):
            if not np.isfinite(sums[key]).all():
                raise ValueError(f"features of {each!r} are not finite numbers for some rows")
        return [after(sums[key] / self.size) for key, (_, after) in zip(keys, split, strict=True)]


def _add_up(
    readers: Any,
    bins: Bins,
    features: Any,
    widths: Any,
    chunk: Chunk,
    sample: int,
    first: int,
    n: int,
) -> tuple[int, np.ndarray, list[np.ndarray]]:
    """Return the bins that rows of a chunk are in, and the sums of their features."""
    total = [np.zeros((bins.counts[sample] + 1, width)) for width in widths]
    reached = np.zeros(len(total[0]), dtype=bool)
    for values in same_rows(readers[sample], chunk, n):
        places = bins.of(sample, first, len(values))
        first += len(values)
        reached[places] = True
        order = np.argsort(places, kind="stable")  # sums of a bin stay in the cache
        rows = values[order]
        places = places[order]
        for each, width, sums in zip(features, widths, total, strict=True):
            for z, some in _features(each, rows, width, sum(bins.rows)):
                starts = np.flatnonzero(np.diff(places[some], prepend=-1))
                sums[places[some][starts]] += np.add.reduceat(z, starts, axis=0)
    return (
        sample,
        np.flatnonzero(reached),
        total if reached.all() else [sums[reached] for sums in total],
    )


def _into(
    total: list[list[np.ndarray]], added: tuple[int, np.ndarray, list[np.ndarray]]
) -> list[list[np.ndarray]]:
    sample, places, parts = added
    for sums, part in zip(total[sample], parts, strict=True):
        if len(part) == len(sums):
            sums += part
        else:
            sums[places] += part
    return total
