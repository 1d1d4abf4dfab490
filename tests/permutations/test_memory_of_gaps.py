"""Memory of series of which values are missing: found from the pairs of rows that are there."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shrinktest import change_point_test, two_sample_test
from shrinktest._read import XY, read_samples
from shrinktest.hypotheses.equality import TwoEqualDistributions
from shrinktest.permutations.memory import Rows, stretch_length

FEW = {"n_resamples": 19, "rng": 0, "workers": 1, "nan_policy": "indicator"}


def autoregressive(n, memory, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    for t in range(1, n):
        x[t] = memory * x[t - 1] + np.sqrt(1.0 - memory**2) * x[t]
    return x


def with_gaps(x, share, seed=1):
    return np.where(np.random.default_rng(seed).random(len(x)) < share, np.nan, x)


def rows_of(*tables):
    read = read_samples(tables, XY, "indicator")
    return Rows.of(read.values, read.encoding)


def by_pairs(*series):
    """The correlation pair by pair, each series with a mean of its own."""
    series = [one - np.nanmean(one) for one in series]
    pairs = [one[t] * one[t + 1] for one in series for t in range(len(one) - 1)]
    return np.nanmean(pairs) / np.nanmean(np.concatenate(series) ** 2)


@pytest.mark.parametrize("share", [0.01, 0.3, 0.6])
def test_correlation_is_that_of_pairs_that_are_there(share):
    x = with_gaps(autoregressive(2000, 0.8), share)
    halves = x[:900], x[900:] + 5.0
    assert rows_of(*halves).correlation == pytest.approx(by_pairs(*halves))
    assert by_pairs(*halves) == pytest.approx(0.8, abs=0.05)


def test_stretches_are_as_long_as_without_gaps():
    x = autoregressive(800, 0.8)
    whole = stretch_length("stretches", Rows.of([x[:400, None], x[400:, None]]))
    found = stretch_length("stretches", rows_of(*np.split(with_gaps(x, 0.5), 2)))
    assert 0.75 * whole < found < 1.35 * whole
    test = two_sample_test(*np.split(with_gaps(x, 0.5), 2), shift="stretches", **FEW)
    assert test.restriction == f"stretches of {found} rows"
    one = change_point_test(with_gaps(x, 0.5), shift="stretches", confidence=None, **FEW)
    assert 0.6 * whole < int(one.restriction.split()[2]) < 1.4 * whole


def test_chance_is_no_memory():
    """Pairs are few where much is missing, and their correlation is large by chance."""
    rng = np.random.default_rng(3)
    found = [rows_of(*(with_gaps(rng.normal(size=100), 0.8, s + k) for k in (0, 50))) for s in range(40)]
    assert sum(rows.remembers() is not None for rows in found) <= 1
    assert np.mean([rows.correlation for rows in found]) < 0.15


def test_other_columns_are_as_they_were():
    x = autoregressive(400, 0.7)
    table = pd.DataFrame({"a": np.random.default_rng(0).normal(size=400), "b": x})
    table.loc[7, "a"] = np.nan
    rows = rows_of(table[:200], table[200:])
    assert rows.correlation == pytest.approx(Rows.of([x[:200, None], x[200:, None]]).correlation)
    assert [gone.sum(axis=0).tolist() for gone in rows.absent] == [[1, 0, 0], [0, 0, 0]]


def test_categories_with_gaps():
    codes = np.random.default_rng(0).integers(4, size=600)
    lasting = codes[np.maximum.accumulate(np.where(np.random.default_rng(1).random(600) < 0.3, np.arange(600), 0))]
    names = pd.Series(np.array(["a", "b", "c", "d"])[lasting])
    whole = rows_of(names[:300], names[300:])
    names[np.random.default_rng(2).random(600) < 0.5] = None
    rows = rows_of(names[:300], names[300:])
    assert rows.correlation == pytest.approx(whole.correlation, abs=0.1)
    assert whole.absent is None and rows.absent[0].all(axis=1).sum() > 100


def test_note_of_a_sorted_column_and_of_memory():
    x = autoregressive(300, 0.8)
    table = pd.DataFrame({"x": x, "income": np.cumsum(np.random.default_rng(0).uniform(0.1, 1.0, 300))})
    table.loc[::9, "income"] = np.nan
    assert rows_of(table[:150], table[150:]).remembers() is None  # sorted by income
    read = TwoEqualDistributions.read(*np.split(with_gaps(x, 0.5), 2), nan_policy="indicator")
    assert read.memory().correlations[0] == pytest.approx(0.8, abs=0.1)
