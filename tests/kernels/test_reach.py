"""A bandwidth with which a kernel sees nothing, or no difference, has a note."""

from __future__ import annotations

import numpy as np
import pytest

from shrinktest import (
    Gaussian,
    Laplacian,
    closer_test,
    independence_test,
    two_sample_test,
)
from shrinktest.kernels.bandwidths import reach_notes

X, Y = np.random.default_rng(0).normal(size=(2, 30, 3))


@pytest.mark.parametrize("kind", [Gaussian, Laplacian])
def test_far_too_small_and_far_too_large(kind):
    (small,) = reach_notes(kind(1e-3), X, "X and Y")
    assert small.startswith("X and Y: the bandwidth 0.001 is so small that the kernel is 0") and "larger" in small
    (large,) = reach_notes(kind(1e14), X, "X and Y")
    assert "so large that the kernel is 1, up to rounding" in large and "smaller" in large
    assert reach_notes(kind(1.0), X, "X and Y") == ()


def test_results_have_the_note():
    assert any("so small" in note for note in two_sample_test(X, Y, bandwidth=1e-3, n_resamples=39, rng=0).notes)
    found = independence_test(X, Y, bandwidth_y=1e12, n_resamples=39, rng=0).notes
    assert any(note.startswith("Y: the bandwidth") for note in found)
    assert not any("bandwidth" in note for note in two_sample_test(X, Y, n_resamples=39, rng=0).notes)


def test_values_beyond_the_range_of_numbers_are_an_error():
    rng = np.random.default_rng(0)
    x, y, z = (rng.normal(at, 1.0, (20, 2)) for at in (0.0, 0.5, 1.5))
    with pytest.raises(ValueError, match="beyond the range of numbers"):
        closer_test(1e-170 * x, 1e-170 * y, 1e-170 * z, kernel="linear")
