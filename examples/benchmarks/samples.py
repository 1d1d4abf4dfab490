"""The data of the benchmarks, the permutations that a test draws of them, and when two answers agree."""

from __future__ import annotations

import numpy as np

from shrinktest.permutations.base import Draws
from shrinktest.permutations.schemes import Labels, Pairings

# --- data ----------------------------------------------------------------------------------------------------------


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

    def frame():
        columns = {f"number {j}": rng.normal(size=n) for j in range(10)}
        columns |= {f"count {j}": rng.poisson(50.0, size=n) for j in range(3)}
        columns |= {
            f"category {j}": rng.choice(["alpha", "beta", "gamma", "delta"], n) for j in range(4)
        }
        columns |= {f"flag {j}": rng.random(n) < 0.3 for j in range(2)}
        columns["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(
            rng.integers(0, 1000, n), unit="D"
        )
        return pd.DataFrame(columns)

    return frame(), frame()


def splits(n, rows, resamples=999):
    """The first rows of the splits that a two-sample test of n and n points draws with rng=0, observed one first.

    As (rows, 2 n) masks of the first sample.
    """
    return Draws.of(Labels((n, n)), resamples, np.random.default_rng(0)).rows(0, rows) == 0


def pairings(n, rows, resamples=999):
    """The first rows of the pairings that an independence test draws with rng=0."""
    return Draws.of(Pairings(n), resamples, np.random.default_rng(0)).rows(0, rows)


# --- agreement -----------------------------------------------------------------------------------------------------


def same(ours, theirs):
    """Check for equal statistics, and p-values within Monte Carlo error."""
    statistic, pvalue = ours
    np.testing.assert_allclose(statistic, theirs[0], rtol=1e-8, atol=1e-12)
    close(pvalue, theirs[1], ours.n_resamples)


def akin(ours, theirs):
    """Another statistic of the same hypothesis, on data where the hypothesis is plainly false: both say so."""
    assert ours.pvalue <= 2.0 / (ours.n_resamples + 1) or ours.n_resamples < 100
    assert theirs[1] <= 0.05 or ours.n_resamples < 100


def close(first, second, resamples):
    """Two p-values within four standard errors of one that both estimate."""
    middle = max((first + second) / 2.0, 2.0 / resamples)
    assert (
        abs(first - second)
        <= 4.0 * np.sqrt(2.0 * middle * (1.0 - min(middle, 1.0)) / resamples) + 2.0 / resamples
    )


def identical(ours, theirs):
    """Two routes, or numbers of threads, of one test: the same relabelings, the same p-value."""
    np.testing.assert_allclose(ours.statistic, theirs.statistic, rtol=1e-6, atol=1e-12)
    assert ours.pvalue == theirs.pvalue


def unequal_work(ours, theirs):
    """Contenders of different size or method, whose answers cannot be equal: both must be p-values."""
    assert all(0.0 < pvalue <= 1.0 for _, pvalue in (ours, theirs))


def all_rows(ours, read):
    """Check that a test used all rows of the two tables."""
    assert 0.0 < ours.pvalue <= 1.0
    assert ours.n_observations == tuple(map(len, read))


def block_sums(gram, X, Y):
    """Answer and bare product of the same work: the first column is the observed split's."""
    m, n = len(X), len(Y)

    def agree(ours, product):
        column, inside = product[:, 0], np.arange(m + n) < m
        xx, yx = column[inside].sum(), column[~inside].sum()
        yy = gram[m:, m:].sum()
        np.testing.assert_allclose(
            ours.statistic, xx / m**2 + yy / n**2 - 2.0 * yx / (m * n), rtol=1e-6, atol=1e-10
        )

    return agree


def factor_sums(m, n):
    """Answer and product of a factor (r, N): the observed mean difference is one column."""

    def agree(ours, product):
        whole, inside = product[:, 0], product[:, 1]
        difference = inside / m - (whole - inside) / n
        np.testing.assert_allclose(ours.statistic, difference @ difference, rtol=1e-5, atol=1e-9)

    return agree
