"""The data of the benchmarks, and the relabellings that a test draws of them."""

from __future__ import annotations

import numpy as np

from shrinktest.permutations.base import Draws
from shrinktest.permutations.schemes import Labels, Pairings


def two(n, columns, shift=0.0, spread=1.1):
    """Two samples of n points that differ in spread and perhaps in place."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, columns)), shift + spread * rng.normal(size=(n, columns))


def pair(n, columns=1):
    """Two dependent variables, (n, columns) each."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, columns))
    return x, 0.35 * x**2 + rng.normal(size=(n, columns))


def tables(n):
    """Two tables of n rows: ten columns of numbers, three of counts, four of categories, two flags and a date."""
    import pandas as pd

    rng = np.random.default_rng(0)

    def one():
        columns = {f"number {j}": rng.normal(size=n) for j in range(10)}
        columns |= {f"count {j}": rng.poisson(50.0, size=n) for j in range(3)}
        columns |= {f"category {j}": rng.choice(["alpha", "beta", "gamma", "delta"], n) for j in range(4)}
        columns |= {f"flag {j}": rng.random(n) < 0.3 for j in range(2)}
        columns["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, n), unit="D")
        return pd.DataFrame(columns)

    return one(), one()


def splits(n, rows, resamples=999):
    """The first rows of the splits that a two-sample test of n and n points draws with rng=0, observed one first.

    As (rows, 2 n) masks of the first sample.
    """
    return Draws.of(Labels((n, n)), resamples, np.random.default_rng(0)).rows(0, rows) == 0


def pairings(n, rows, resamples=999):
    """The first rows of the pairings that an independence test draws with rng=0."""
    return Draws.of(Pairings(n), resamples, np.random.default_rng(0)).rows(0, rows)
