"""What does not fit into memory is said at once, with what does and how long it takes; notes claim what was done."""

from __future__ import annotations

import time

import numpy as np
import pytest

from shrinktest import Gaussian, two_sample_test
from shrinktest.kernels.feature_maps import TOLERANCE, _is_full, factorized
from shrinktest.statistics.kernel_cache import seconds


@pytest.mark.parametrize(("size", "columns"), [(50_000, 50), (60_000, 3)])
def test_a_gram_matrix_that_cannot_be_is_said_at_once(size, columns):
    X, Y = np.random.default_rng(0).normal(size=(2, size, columns))
    with pytest.raises(MemoryError):
        two_sample_test(X[:3000], Y[:3000], max_memory=1e7, n_resamples=10**7)  # loads what is to be loaded
    start = time.process_time()
    with pytest.raises(MemoryError, match=r"use gram='(rff|nystrom)', rank=\d+ \(about \d+ s on one core\) or gram="):
        two_sample_test(X, Y, max_memory=5e8, n_resamples=99_999)
    assert time.process_time() - start < 2.0  # seconds, on a machine that does much else; it was 13


def test_few_points_prove_what_all_would_show():
    rng = np.random.default_rng(1)
    wide, narrow = rng.normal(size=(1200, 30)), rng.normal(size=(1200, 1)) @ rng.normal(size=(1, 30))
    for points, full in ((wide, True), (narrow, False)):
        kernel = Gaussian("median").resolve(points)
        allowed = TOLERANCE * len(points)
        assert _is_full(kernel, points, 120, allowed) is full
        assert (factorized(kernel, points, 120) is None) is full
    eigenvalues = np.linalg.eigvalsh(Gaussian("median").resolve(wide)(wide))
    assert eigenvalues[:-120].sum() > TOLERANCE * len(wide)  # what no 120 landmarks can reach


@pytest.mark.parametrize("name", ["rff", "nystrom"])
def test_times_grow_as_much_as_what_there_is_to_do(name):
    """In proportion to rows, and what a permutation adds to permutations and to products of coordinates."""

    def added(size, rank, permutations, work):
        return seconds(name, size, 5, rank, permutations, work) - seconds(name, size, 5, rank, 0, work)

    for work, power in (("sums", 1), ("pairs", 2)):
        assert seconds(name, 3 * 10**4, 5, 80, 99, work) == pytest.approx(3.0 * seconds(name, 10**4, 5, 80, 99, work))
        assert added(10**4, 80, 990, work) == pytest.approx(10.0 * added(10**4, 80, 99, work))
        # With many coordinates, beside which labels and rows of features cost nothing.
        many = added(10**4, 10**5, 99, work)
        assert added(10**4, 2 * 10**5, 99, work) == pytest.approx(2.0**power * many, rel=0.01)
    columns = [seconds(name, 10**4, d, 80, 0, "sums") for d in (1, 11, 21)]
    assert columns[1] - columns[0] == pytest.approx(columns[2] - columns[1])
