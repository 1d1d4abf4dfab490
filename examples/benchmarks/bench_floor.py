"""Against the bare matrix product of the same work, by size: kernel, bandwidth and relabellings are ours alone."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import agreement
import floors
import numpy as np
import pytest
import samples

from shrinktest import Gaussian, two_sample_test


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("n", [50, 150, 500, 1000, 2000, 4000])
def test_dense(race, threads, tiny, n, workers):
    points, resamples = tiny(n), tiny(999, 39)
    X, Y = samples.two(points, 10)

    def ours():
        return two_sample_test(X, Y, n_resamples=resamples, rng=0, workers=workers, gram="dense")

    gram = Gaussian(ours().bandwidth)(np.vstack([X, Y]))
    columns = floors.indicators(samples.splits(points, resamples + 1, resamples))
    threads(workers)
    race(
        "floor",
        f"kme, {n} + {n} points, 10-d, B = 999, {workers} core{'s' * (workers > 1)}",
        ("gram='dense'", ours),
        ("bare N x N by N x 1000 product", floors.dense(gram, columns)),
        agreement.block_sums(gram, X, Y),
        measure="cost",
    )


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("n", [2000, 10_000, 50_000])
def test_factor(race, threads, tiny, n, columns):
    points, resamples = tiny(n, 40), tiny(999, 39)
    X, Y = samples.two(points, columns)

    def ours():
        return two_sample_test(X, Y, n_resamples=resamples, rng=0, workers=2, gram="factor")

    factors = floors.cholesky(np.vstack([X, Y]), ours().bandwidth)
    masks = samples.splits(points, min(99, resamples), resamples)
    block = floors.indicators(np.vstack([np.ones((1, 2 * points), dtype=bool), masks]))
    threads(2)
    race(
        "floor",
        f"kme, {n} + {n} points, {columns}-d, B = 999, 2 cores",
        ("gram='factor'", ours),
        (f"bare {len(factors)} x N by N x 1000 product", floors.factor(factors, block, resamples + 1)),
        agreement.factor_sums(points, points),
        measure="cost",
    )


@pytest.mark.parametrize("milliseconds", [2, 5, 10, 20, 100])
def test_two_threads(race, milliseconds):
    """What a second worker can give at most: hashes, which wait for no lock and hardly for memory."""
    text = bytes(10**6)
    start = perf_counter()
    hashlib.sha256(text)
    text *= max(1, round(milliseconds * 1e-3 / (perf_counter() - start)))

    def digest(_):
        return hashlib.sha256(text).digest()

    def two():
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(digest, range(2)))

    def agree(first, second):
        assert first == second

    name = f"two threads that hash for {milliseconds} ms each"
    race("floor", name, ("two threads", two), ("one after the other", lambda: [digest(0), digest(1)]), agree)
