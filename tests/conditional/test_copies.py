"""Copies of X given Z: by coordinates as by Gram matrices, and exact whatever stands for the kernel."""

import numpy as np
import pytest

from shrinktest import independence_test
from shrinktest.kernels import Gaussian, Kernel, Laplacian, Linear, Rescaled, SecondOrder, Whitened

RNG = np.random.default_rng(3)
N = 160
Z = RNG.normal(size=N)
X = np.sin(Z) + RNG.standard_t(5, size=N)
Y = np.sin(Z) + 0.3 * X + RNG.normal(size=N)


def MODEL(z, rng):
    return np.sin(z) + rng.standard_t(5, size=z.shape)


FEW = {"given": Z, "x_given_z": MODEL, "n_resamples": 39, "rng": 1}
MORE = FEW | {"n_resamples": 99}


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"estimator": "skmse"},
        {"estimator": "mkme"},
        {"scale": "rank"},
        {"kernel_x": Linear()},
        {"kernel_x": Laplacian()},
        {"kernel_x": Whitened(Gaussian())},
        {"kernel_x": SecondOrder(Gaussian())},
        {"kernel_x": Whitened(Rescaled(Gaussian(), "rank"))},
        {"kernel_x": Whitened(Gaussian()), "scale": "rank"},
        {"kernel_x": Gaussian(1e6)},
    ],
    ids=str,
)
def test_coordinates_and_gram_matrices_say_the_same(told):
    dense = independence_test(X, Y, gram="dense", **told, **FEW)
    for gram in ("auto", "factor"):
        found = independence_test(X, Y, gram=gram, **told, **FEW)
        size = np.abs(dense.null_distribution).max()
        np.testing.assert_allclose(found.null_distribution, dense.null_distribution, rtol=0.0, atol=1e-8 * size)
        assert found.pvalue == dense.pvalue


def test_coordinates_are_found_once_for_all_copies():
    counted = []

    class Counting(Kernel):
        def evaluate(self, X, Y):
            counted.append(len(X) * len(Y))
            return Gaussian(4.0).evaluate(X, Y)

    independence_test(X, Y, kernel_x=Counting(), **MORE)
    by_coordinates = sum(counted)
    counted.clear()
    independence_test(X, Y, kernel_x=Counting(), gram="dense", **MORE)
    assert by_coordinates < sum(counted) / 3


def test_many_rows_need_no_gram_matrix():
    n = 12_000
    z = RNG.normal(size=n)
    told = {"given": z, "x_given_z": lambda z, rng: z + rng.normal(size=z.shape), "n_resamples": 19, "rng": 0}
    x, y = z + RNG.normal(size=n), z + RNG.normal(size=n)
    assert independence_test(x, y, max_memory=2e8, **told).pvalue > 0.05
    assert independence_test(x, y + 0.1 * x, max_memory=2e8, **told).pvalue == 0.05
    with pytest.raises(MemoryError, match="max_memory"):
        independence_test(x, y, max_memory=2e8, gram="dense", **told)


@pytest.mark.parametrize("told", [{"gram": "nystrom", "rank": 4}, {"gram": "rff", "rank": 4}, {"gram": "factor"}])
def test_approximations_are_exact_tests(told):
    """Nine copies and the data: every rank is as likely."""
    ranks = []
    for trial in range(120):
        rng = np.random.default_rng(trial)
        z, told_z = rng.normal(size=12), {"rng": trial, "n_resamples": 9, "alpha": 0.5, **told}
        x, y = np.sin(z) + rng.standard_t(5, size=12), z + rng.normal(size=12)
        ranks.append(round(10 * independence_test(x, y, given=z, x_given_z=MODEL, **told_z).pvalue))
    counts = np.bincount(ranks, minlength=11)[1:]
    assert ((counts - 12) ** 2 / 12).sum() < 27.9  # chi square with 9 degrees of freedom at .001
