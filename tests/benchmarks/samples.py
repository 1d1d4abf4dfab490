"""The data of the benchmarks, and the relabellings that a test draws of them."""

from __future__ import annotations

import numpy as np

from shrinktest.nulls.relabellings import Pairings, Partitions


def two(n, columns, shift=0.0, spread=1.1):
    """Two samples of n points that differ in spread and perhaps in place."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, columns)), shift + spread * rng.normal(size=(n, columns))


def pair(n, columns=1):
    """Two dependent variables, (n, columns) each."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, columns))
    return x, 0.35 * x**2 + rng.normal(size=(n, columns))


def splits(n, rows, resamples=999):
    """The first rows of the splits that a two-sample test of n and n points draws with rng=0, observed one first.

    As (rows, 2 n) masks of the first sample.
    """
    return Partitions(resamples, np.random.default_rng(0), (n, n)).rows()(rows) == 0


def pairings(n, rows, resamples=999):
    """The first rows of the pairings that an independence test draws with rng=0."""
    return Pairings(resamples, np.random.default_rng(0), n).rows()(rows)
