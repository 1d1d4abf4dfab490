"""Sums over partitions and pairings: by coordinates, in compiled loops and by tiles, as of the whole matrix."""

from __future__ import annotations

import numpy as np
import pytest

from shrinktest import SKMSE, independence_test, k_sample_test, two_sample_test
from shrinktest.kernels import Gaussian, Linear
from shrinktest.statistics import kernel_cache, sums
from shrinktest.statistics.features import Features
from shrinktest.statistics.sum_loops import pairing_sums

RNG = np.random.default_rng(3)
X, Y, Z = RNG.normal(size=(70, 2)), RNG.normal(0.3, 1.0, size=(50, 2)), RNG.normal(size=(40, 2))
SQUARE = X[:, 0] ** 2 + RNG.normal(size=70)
LITTLE = 2e4  # bytes, less than any of the matrices takes


@pytest.mark.parametrize("sizes", [(40, 23), (20, 18, 30), (300, 220), (120, 100, 201)])
def test_block_sums_are_those_of_the_definition(sizes, monkeypatch):
    rng = np.random.default_rng(0)
    z = np.asfortranarray(rng.normal(size=(sum(sizes), 300)))
    ones, labels = z / np.linalg.norm(z, axis=1, keepdims=True), np.repeat(np.arange(len(sizes)), sizes)
    labels = np.stack([rng.permutation(labels) for _ in range(20)]).astype(np.uint16)
    member = np.stack([labels == part for part in range(len(sizes))], axis=1).astype(float)
    for copied in (2**23, 0):  # bytes
        monkeypatch.setattr(sums, "_COPIED", copied)
        for features in (
            Features("dense", Gaussian(3.0), z[:, :2]),
            Features("tiles", Gaussian(3.0), z[:, :2]),
            Features("factor", Linear(), z, known=z),
            Features("factor", Gaussian(1.0), ones, known=ones),  # squared norms that are all the same
        ):
            gram = features.known @ features.known.T if features.name == "factor" else features.matrix()
            blocks, traces = sums.block_sums(features, sizes)(labels)
            np.testing.assert_allclose(blocks, member @ gram @ member.transpose(0, 2, 1), rtol=1e-9, atol=1e-7)
            np.testing.assert_allclose(traces, member @ np.diagonal(gram), rtol=1e-12)


@pytest.mark.parametrize("integers", [np.uint16, np.uint32])
@pytest.mark.parametrize("n", [2, 65, 256, 300, 700])
def test_pairing_sums(n, integers):
    rng = np.random.default_rng(n)
    x, y = (z @ z.T for z in rng.normal(size=(2, n, 5)))
    permutations = rng.permuted(np.tile(np.arange(n, dtype=integers), (5, 1)), axis=1)
    out, cut = np.empty((2, 5, 2))
    pairing_sums(x, y, permutations, out)
    products = [x * y[np.ix_(pi, pi)] for pi in permutations]
    expected = [(product.sum(), np.trace(product)) for product in products]
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-14 * np.linalg.norm(x) * np.linalg.norm(y))
    for part in (slice(0, 1), slice(1, 5)):
        pairing_sums(x, y, permutations[part], cut[part])
    np.testing.assert_array_equal(cut, out)


# --- tiles, which are never stored --------------------------------------------------------------------------


def brownian(x, y):
    return np.minimum(np.abs(x[:, :1]), np.abs(y[:, 0]))


ALL = ["kme", "skmse", SKMSE(tuning="joint"), "mkme"]
CALLS = {  # with the estimators that go with them
    "two samples": (lambda **how: two_sample_test(X, Y, **how), ALL),
    "unbiased": (lambda **how: two_sample_test(X, Y, form="unbiased", **how), ["kme"]),
    "ranks": (lambda **how: two_sample_test(X, Y, scale="rank", **how), ALL[:3]),
    "a function": (lambda **how: two_sample_test(X, Y, kernel=brownian, **how), ALL[:3]),
    "three samples": (lambda **how: k_sample_test(X, Y, Z, comparison="pooled", **how), ALL),
    "pairs": (lambda **how: independence_test(X, SQUARE, **how), ["kme", "skmse", "mkme"]),
}


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(sums, "_TILE", 32)
    monkeypatch.setattr(sums, "_STRIP", 8 * 70 * 20)


@pytest.mark.parametrize("name", CALLS)
def test_tiles_give_the_answers_of_the_whole_matrix(small, name):
    call, estimators = CALLS[name]
    for estimator in estimators:
        how = {"estimator": estimator, "gram": "dense", "rng": 0, "n_resamples": 99}
        whole = call(**how)
        tiled = [call(max_memory=LITTLE, workers=workers, **how) for workers in (1, 2, 3)]
        assert (whole.route, tiled[0].route, tiled[0].pvalue) == ("dense", "tiles", whole.pvalue)
        np.testing.assert_allclose(tiled[0].null_distribution, whole.null_distribution, rtol=1e-10, atol=1e-12)
        assert len({result.null_distribution.tobytes() for result in tiled}) == 1


def test_early_stopping_goes_by_tiles(small):
    how = {"gram": "dense", "rng": 0, "stopping": "besag-clifford"}
    assert two_sample_test(X, Y, max_memory=LITTLE, **how).pvalue == two_sample_test(X, Y, **how).pvalue


def test_auto_takes_tiles_if_they_take_minutes(small, monkeypatch):
    samples = RNG.spawn(1)[0].normal(size=(2, 60, 8))
    assert two_sample_test(*samples, max_memory=LITTLE, n_resamples=19, rng=0).route == "tiles"
    monkeypatch.setattr(kernel_cache, "tile_seconds", lambda *_, **__: 3600.0)
    with pytest.raises(MemoryError, match=r"gram='dense' \(by tiles, about 60 min\)"):
        two_sample_test(*samples, max_memory=LITTLE, n_resamples=19, rng=0)
    with pytest.raises(MemoryError, match="max_memory"):  # filters need the whole matrix
        two_sample_test(X, Y, estimator="landweber", max_memory=LITTLE, gram="dense")
