"""When the shifts of a series cannot be trusted, and that no shift changes the answer."""

import numpy as np
import pytest

from naive_memory import junction_excess as naive
from shrinktest import Gaussian, Laplacian, independence_test
from shrinktest.statistics.hsic import junction_excess


def walks(seed, n, columns=1):
    return np.cumsum(np.random.default_rng(seed).normal(size=(2, n, columns)), axis=1)


@pytest.mark.parametrize("length, number", [(2, 1), (7, 1), (20, 1), (6, 3), (8, 2)])
@pytest.mark.parametrize("kind", [Gaussian, Laplacian])
def test_excess(length, number, kind):
    kernels = kind(2.0), kind(3.0)
    series = np.random.default_rng(number).permutation(length * number).reshape(number, length)
    around = 2.0 * np.pi * np.tile(np.arange(length), number)[:, None] / length
    x, y = np.empty((2, length * number, 2))
    for z, noise in zip((x, y), np.random.default_rng(length).normal(size=(2, *x.shape)), strict=True):
        z[series.ravel()] = np.hstack([np.sin(around), np.cos(around)]) + 0.2 * noise
    want = naive(kernels[0](x), kernels[1](y), series)
    assert want > 0.0 or length == 2
    assert junction_excess(kernels, x, y, series) == pytest.approx(want, rel=1e-12)


def test_no_shift_changes_it():
    x, y = walks(3, 30)
    kernels = Gaussian(2.0), Gaussian(1.0)
    whole = [np.arange(30)]
    excess = junction_excess(kernels, x, y, whole)
    assert excess > 0.01
    for shift in range(30):
        assert junction_excess(kernels, x, np.roll(y, shift, axis=0), whole) == pytest.approx(excess, rel=1e-12)


def test_long_series_are_trusted_and_short_ones_noted():
    x, y = walks(0, 40)
    assert len(independence_test(x, y, shift="circular").notes) == 1
    assert "test differences" in independence_test(x, y, shift="circular").notes[0]
    assert independence_test(np.diff(x, axis=0), np.diff(y, axis=0), shift="circular").notes == ()
    assert not any(note.code == "short-series" for note in independence_test(x, y, rng=0).notes)  # nothing is shifted
    fading = np.random.default_rng(1).normal(size=(2, 2500))
    for t in range(1, 2500):
        fading[:, t] += 0.8 * fading[:, t - 1]
    assert independence_test(*fading, shift="circular", n_resamples=99, rng=0).notes == ()
    assert len(independence_test(*fading[:, :30], shift="circular").notes) == 1
