"""Row numbers shuffled by a key: a permutation for every size, another one for every key."""

import numpy as np
import pytest
from scipy import stats

import naive_bijection
from shrinktest.batches.bijection import Bijection


@pytest.mark.parametrize("n", [*range(1, 70), 127, 128, 129, 1000, 4096, 4097, 99_991])
def test_every_number_comes_once(n):
    found = Bijection.drawn(n, np.random.default_rng(n))(np.arange(n))
    assert np.array_equal(np.sort(found), np.arange(n))


@pytest.mark.parametrize("n", [1, 2, 3, 10, 64, 101, 5000])
def test_numbers_go_where_the_slow_twin_takes_them(n):
    shuffled = Bijection.drawn(n, np.random.default_rng(n))
    numbers = np.arange(0, n, -(-n // 70))
    assert shuffled(numbers).tolist() == [naive_bijection.place(int(i), n, shuffled.keys) for i in numbers]


def test_large_numbers_stay_below_n_and_apart():
    n = 10**15 + 7
    numbers = np.arange(n - 100_000, n)
    found = Bijection.drawn(n, np.random.default_rng(0))(numbers)
    assert found.min() >= 0 and found.max() < n and np.unique(found).size == len(numbers)


def test_one_number_at_a_time_goes_where_it_goes_with_others():
    shuffled = Bijection.drawn(1000, np.random.default_rng(1))
    alone = [int(shuffled(np.array([i]))[0]) for i in range(50)]
    assert alone == shuffled(np.arange(50)).tolist()


def test_the_key_decides_alone():
    one, same, other = (Bijection.drawn(1000, np.random.default_rng(seed))(np.arange(1000)) for seed in (1, 1, 2))
    assert np.array_equal(one, same) and np.count_nonzero(one == other) < 20


@pytest.mark.parametrize("n", [5, 12])
def test_every_place_is_as_likely_as_any_other(n):
    rng = np.random.default_rng(3)
    found = np.array([Bijection.drawn(n, rng)(np.arange(n)) for _ in range(2000)])
    counts = np.array([np.bincount(found[:, i], minlength=n) for i in range(n)])
    assert stats.chisquare(counts, axis=1).pvalue.min() > 1e-4


def test_neighbours_are_scattered():
    found = Bijection.drawn(100_000, np.random.default_rng(4))(np.arange(100_000))
    assert abs(np.corrcoef(found[:-1], found[1:])[0, 1]) < 0.02
    # bins of 100 consecutive images hold rows from everywhere: row numbers of a bin have the mean of all
    means = np.array([np.flatnonzero(found // 1000 == j).mean() for j in range(100)])
    assert stats.kstest((means - 49_999.5) / (100_000 / np.sqrt(12 * 1000)), "norm").pvalue > 1e-3
