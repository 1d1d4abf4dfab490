"""Survey: what one reading of all samples finds, before bins can be made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from shrinktest._validate import counted
from shrinktest.batches.blocks import Rows

_BLOCK = 2**14


@dataclass(frozen=True, eq=False)
class Survey:
    """Sizes, units and a random sample of the rows of all samples.

    Parameters
    ----------
    sizes : tuple of int
        Rows of the samples.
    omitted : tuple of int
        Rows that were left out because of missing values.
    sample : ndarray, shape (s, d)
        Drawn without replacement from the rows of all samples, in random order: no label goes into it.
    units : ndarray, shape (d,)
        Standard deviations of the columns over all rows; 1 where a column has one value only.
    constant : ndarray of bool, shape (d,)
        Which columns have one value only.
    """

    sizes: tuple[int, ...]
    omitted: tuple[int, ...]
    sample: np.ndarray
    units: np.ndarray
    constant: np.ndarray

    @classmethod
    def of(cls, samples: Sequence[Rows], drawn: int, rng: np.random.Generator) -> Survey:
        """Read all samples once, and draw so many of their rows."""
        sizes, omitted = [], []
        some, moments = _Drawn(drawn, rng), _Moments()
        for rows in samples:
            before, left = moments.n, [0]
            for block in rows.blocks(_BLOCK, left.append):
                if moments.n and block.shape[1] != len(moments.mean):
                    raise ValueError(
                        f"{rows.name} has {counted(block.shape[1], 'column')}, and {samples[0].name} has "
                        f"{len(moments.mean)}; samples must have the same columns"
                    )
                some.add(block)
                moments.add(block)
            sizes.append(moments.n - before)
            omitted.append(sum(left))
            if sizes[-1] < 2:
                raise ValueError(f"{rows.name} has {counted(sizes[-1], 'row')}; a sample needs at least 2")
        constant = moments.low == moments.high
        units = np.where(constant, 1.0, np.sqrt(moments.squares / moments.n))
        return cls(tuple(sizes), tuple(omitted), some.rows, units, constant)


@dataclass
class _Drawn:
    """The rows with the smallest of random keys, of all that were added; the keys are drawn in the order of rows."""

    most: int
    rng: np.random.Generator
    keys: np.ndarray = field(default_factory=lambda: np.empty(0))
    rows: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))

    def add(self, block: np.ndarray) -> None:
        keys = self.rng.random(len(block))
        low = keys < self.keys[-1] if len(self.keys) == self.most else np.ones(len(block), dtype=bool)
        if not low.any():
            return
        rows = block[low] if not self.rows.size else np.vstack([self.rows, block[low]])
        keys = np.concatenate([self.keys, keys[low]])
        order = np.argsort(keys, kind="stable")[: self.most]
        self.keys, self.rows = keys[order], rows[order]


@dataclass
class _Moments:
    """Number, means, sums of squares about them, and range of rows that are added in blocks.

    T. F. Chan, G. H. Golub and R. J. LeVeque, The American Statistician 37 (1983), 242-247.
    """

    n: int = 0
    mean: np.ndarray = field(default_factory=lambda: np.empty(0))
    squares: np.ndarray = field(default_factory=lambda: np.empty(0))
    low: np.ndarray = field(default_factory=lambda: np.empty(0))
    high: np.ndarray = field(default_factory=lambda: np.empty(0))

    def add(self, block: np.ndarray) -> None:
        n, mean = len(block), block.mean(axis=0)
        squares = np.square(block - mean).sum(axis=0)
        low, high = block.min(axis=0), block.max(axis=0)
        if self.n:
            away, total = mean - self.mean, self.n + n
            squares = self.squares + squares + np.square(away) * (self.n * n / total)
            mean = self.mean + away * (n / total)
            low, high = np.minimum(self.low, low), np.maximum(self.high, high)
        self.n, self.mean, self.squares, self.low, self.high = self.n + n, mean, squares, low, high
