"""What is added up of rows: the features that it gives, and that it does not depend on other rows."""

from dataclasses import dataclass

import numpy as np
import pytest

from shrinktest import Energy, Gaussian, Laplacian, Linear
from shrinktest.batches.summands import summands_of
from shrinktest.kernels import FeatureMap, Rescaled
from shrinktest.kernels.feature_maps import nystrom, random_fourier

RNG = np.random.default_rng(0)
X = RNG.normal(3.0, 1.0, size=(90, 3))


@dataclass(frozen=True)
class MeanAndSquare(FeatureMap):
    def coordinates(self, X):
        return np.hstack([X, X**2])


def kinds():
    units = Rescaled(Linear(), (1.0, 2.0, 4.0)).resolve(X)
    return {
        "rff": random_fourier(Laplacian(1.0), 3, 10, 0),
        "nystrom": nystrom(Gaussian((1.0, 2.0, 0.5)), X, 30, 0),
        "energy": nystrom(Energy().resolve(X), X, 30, 0),
        "linear": Linear(),
        "own": MeanAndSquare(),
        "units": units.of_features(Linear()),
    }


@pytest.mark.parametrize("kind", kinds())
def test_the_features_of_means_are_the_means_of_features(kind):
    features = kinds()[kind]
    summands = summands_of(features, 3)
    values = summands.of(X)
    assert values.shape == (90, summands.width)
    assert np.all(np.abs(values) < np.ldexp(1.0, summands.exponents(X)))
    means = np.array([values[:40].mean(axis=0), values[40:].mean(axis=0)])
    z = features.coordinates(X)
    expected = np.array([z[:40].mean(axis=0), z[40:].mean(axis=0)])
    assert np.allclose(summands.features(means), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", kinds())
def test_a_row_is_the_same_beside_any_others(kind):
    summands = summands_of(kinds()[kind], 3)
    whole = summands.of(X)
    for order in (np.arange(90)[::-1], np.array([7]), RNG.permutation(90)[:41]):
        assert np.array_equal(summands.of(np.ascontiguousarray(X[order])), whole[order])
