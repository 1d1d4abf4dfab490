"""Permutations of rows by keys: the labels of a slow twin, any part of them by itself, each as likely as another."""

import numpy as np
import pytest
from scipy import stats

import naive_shuffles
from shrinktest.batches.shuffles import Shuffles


def labels_of(shuffles, first, count, sizes):
    """The sample (B, count) of every row."""
    inside = np.unpackbits(shuffles.octets(first, count, sizes), axis=1, bitorder="little")
    assert not inside[:, count:].any()
    members = inside[:, :count].transpose(0, 2, 1).astype(int)
    assert members.sum(axis=0).max() <= 1
    return np.where(members.any(axis=0), members.argmax(axis=0), len(sizes) - 1)


@pytest.mark.parametrize("sizes", [(1, 1), (2, 1), (3, 2, 4), (60, 40), (64, 64), (10, 7, 1, 83), (200, 301)])
def test_labels_are_those_of_the_slow_twin(sizes):
    n = sum(sizes)
    shuffles = Shuffles.drawn(n, 4, np.random.default_rng(n))
    expected = naive_shuffles.labels(sizes, shuffles.start.keys, shuffles.keys)[1:]
    assert np.array_equal(labels_of(shuffles, 0, n, sizes), expected)
    for first, count in ((0, 1), (n - 1, 1), (n // 3, n - n // 3)):
        assert np.array_equal(labels_of(shuffles, first, count, sizes), np.array(expected)[:, first : first + count])


def test_as_many_rows_as_samples_have_are_in_them():
    shuffles = Shuffles.drawn(99_991, 3, np.random.default_rng(0))
    found = labels_of(shuffles, 0, 99_991, (50_000, 1, 49_990))
    assert [np.bincount(one).tolist() for one in found] == [[50_000, 1, 49_990]] * 3
    assert not np.array_equal(found[0], found[1])
    assert stats.kstest(np.flatnonzero(found[0] == 0) / 99_991, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(found[0][1:] == 0, found[0][:-1] == 0)[0, 1]) < 0.02
    assert abs(np.corrcoef(found[0] == 0, found[1] == 0)[0, 1]) < 0.02


def test_large_numbers_are_shuffled_too():
    n = 10**15 + 7
    shuffles = Shuffles.drawn(n, 50, np.random.default_rng(0))
    found = labels_of(shuffles, n - 1000, 1000, (n - n // 4, n // 4))
    assert found.mean() == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize("sizes", [(2, 3), (6, 6)])
def test_every_row_is_in_every_sample_as_often_as_by_chance(sizes):
    n, times = sum(sizes), 4000
    rng = np.random.default_rng(1)
    found = np.array([labels_of(Shuffles.drawn(n, 1, rng), 0, n, sizes)[0] for _ in range(times)])
    each = (found == 0).sum(axis=0)
    low, high = stats.binom(times, sizes[0] / n).interval(1 - 1e-4)
    assert low <= each.min() and each.max() <= high
