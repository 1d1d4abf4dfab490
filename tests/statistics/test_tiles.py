"""Gram matrices by tiles, which are never stored: the answers are those of the whole matrix."""

import numpy as np
import pytest

from shrinktest import SKMSE, independence_test, k_sample_test, two_sample_test
from shrinktest.statistics import tiles

RNG = np.random.default_rng(3)
X, Y, Z = RNG.normal(size=(70, 2)), RNG.normal(0.3, 1.0, size=(50, 2)), RNG.normal(size=(40, 2))
SQUARE = X[:, 0] ** 2 + RNG.normal(size=70)
LITTLE = 2e4  # bytes, less than any of the matrices takes


def brownian(x, y):
    return np.minimum(np.abs(x[:, :1]), np.abs(y[:, 0]))


CALLS = {
    "two samples": lambda **how: two_sample_test(X, Y, **how),
    "unbiased": lambda **how: two_sample_test(X, Y, form="unbiased", **how),
    "ranks": lambda **how: two_sample_test(X, Y, scale="rank", **how),
    "a function": lambda **how: two_sample_test(X, Y, kernel=brownian, **how),
    "three samples": lambda **how: k_sample_test(X, Y, Z, comparison="pooled", **how),
    "pairs": lambda **how: independence_test(X, SQUARE, **how),
}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(tiles, "_TILE", 32)
    monkeypatch.setattr(tiles, "_STRIP", 8 * 70 * 20)


@pytest.mark.parametrize("estimator", ["kme", "skmse", SKMSE(tuning="joint"), "mkme"])
@pytest.mark.parametrize("name", CALLS)
def test_tiles_give_the_answers_of_the_whole_matrix(name, estimator):
    if (name in ("a function", "ranks") and estimator == "mkme") or (name == "pairs" and isinstance(estimator, SKMSE)):
        pytest.skip("the estimator does not go with the test")
    if name == "unbiased" and estimator != "kme":
        pytest.skip("only the standard mean has an unbiased form in every test")
    how = {"estimator": estimator, "gram": "dense", "rng": 0, "n_resamples": 99}
    whole, tiled = CALLS[name](**how), CALLS[name](max_memory=LITTLE, workers=2, **how)
    assert (whole.route, tiled.route) == ("dense", "tiles")
    assert tiled.pvalue == whole.pvalue
    np.testing.assert_allclose(tiled.null_distribution, whole.null_distribution, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["two samples", "three samples", "pairs"])
def test_bits_do_not_depend_on_the_number_of_workers(name):
    results = [CALLS[name](max_memory=LITTLE, gram="dense", rng=0, n_resamples=99, workers=w) for w in (1, 2, 3)]
    assert len({result.null_distribution.tobytes() for result in results}) == 1


def test_early_stopping_goes_by_tiles():
    how = {"gram": "dense", "rng": 0, "stopping": "besag-clifford"}
    assert two_sample_test(X, Y, max_memory=LITTLE, **how).pvalue == two_sample_test(X, Y, **how).pvalue


def test_auto_takes_tiles_if_they_take_minutes(monkeypatch):
    samples = RNG.spawn(1)[0].normal(size=(2, 60, 8))
    assert two_sample_test(*samples, max_memory=LITTLE, n_resamples=19, rng=0).route == "tiles"
    monkeypatch.setattr(tiles, "seconds", lambda *_, **__: 3600.0)
    with pytest.raises(MemoryError, match=r"gram='dense' \(by tiles, about 60 min\)"):
        two_sample_test(*samples, max_memory=LITTLE, n_resamples=19, rng=0)


def test_filters_need_the_whole_matrix():
    with pytest.raises(MemoryError, match="max_memory"):
        two_sample_test(X, Y, estimator="landweber", max_memory=LITTLE, gram="dense")
