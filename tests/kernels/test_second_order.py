"""SecondOrder by a few coordinates: covariances of the leading principal components."""

from __future__ import annotations

import numpy as np
import pytest

from shrinktest import Gaussian, Linear, SecondOrder, two_sample_test
from shrinktest.kernels.inner import FeatureMap

rng = np.random.default_rng(0)
Z, NEW = rng.normal(size=(30, 4)) * [3.0, 2.0, 1.0, 0.1], rng.normal(size=(5, 4))


class Columns(FeatureMap):
    """The linear kernel by its coordinates, which are the columns."""

    def coordinates(self, X):
        return np.asarray(X)


@pytest.fixture
def kernel():
    return SecondOrder(Linear()).resolve(Z)


@pytest.mark.parametrize("most", [10, 11, 14, 1000])
def test_with_room_for_all_it_is_the_kernel_itself(kernel, most):
    features, coordinates, share = kernel.shortened(Columns(), Z, most)
    whole, squares = kernel.of_features(Columns(), Z)
    assert share == pytest.approx(1.0) and coordinates.shape == squares.shape == (30, 10)
    np.testing.assert_allclose(coordinates @ coordinates.T, squares @ squares.T, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(features(NEW, Z), whole(NEW, Z), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(features(NEW, Z), kernel(NEW, Z), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("most", "kept"), [(1, 1), (2, 1), (3, 2), (5, 2), (6, 3), (9, 3)])
def test_with_less_it_is_that_of_the_leading_principal_components(kernel, most, kept):
    features, coordinates, share = kernel.shortened(Columns(), Z, most)
    assert coordinates.shape == (30, kept * (kept + 1) // 2) and coordinates.shape[1] <= most
    centre = Z.mean(axis=0)
    _, singular, axes = np.linalg.svd(Z - centre)
    assert share == pytest.approx((singular[:kept] ** 2).sum() / (singular**2).sum())
    leading, new = ((P - centre) @ axes[:kept].T for P in (Z, NEW))
    np.testing.assert_allclose(coordinates @ coordinates.T, (leading @ leading.T) ** 2, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(features(NEW, Z), (new @ leading.T) ** 2, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(features.coordinates(Z), coordinates, rtol=1e-9, atol=1e-9)


def test_the_order_of_rows_changes_no_value(kernel):
    order = rng.permutation(len(Z))
    here, there = (kernel.shortened(Columns(), P, 3)[1] for P in (Z, Z[order]))
    np.testing.assert_allclose(there @ there.T, (here @ here.T)[np.ix_(order, order)], rtol=1e-8, atol=1e-8)


def test_large_samples_take_the_leading_components_and_say_so():
    one, other = np.random.default_rng(0).normal(size=(2, 2600, 2))
    kernel = SecondOrder(Gaussian("neighbours"))
    found = two_sample_test(one, 1.3 * other, kernel=kernel, n_resamples=99, rng=0, workers=1)
    (note,) = found.notes
    assert found.route == "factor" and found.pvalue == 0.01
    assert "SecondOrder(Gaussian) on the leading principal components, with " in note and "exact level" in note
    share = float(note.split("with ")[1].split(" %")[0])
    assert 50.0 < share <= 100.0
    again = two_sample_test(one[::-1], 1.3 * other[::-1], kernel=kernel, n_resamples=0, rng=0, workers=1)
    assert again.statistic == pytest.approx(found.statistic, rel=0.05)  # the bandwidth is of rows that are drawn
