"""Deletion scores of Tikhonov where their blocks end: few and many points, coordinates and amounts."""

import numpy as np
import pytest

import naive
from shrinktest._compiled import tikhonov, tridiagonal


def scores(Z, lams, t, by_coordinates):
    """On the Gram matrix of the rows of Z, or from the coordinates of some rows of a larger sample."""
    n, r = Z.shape
    out, theta = np.empty(lams.size), np.array([t, 1.0])
    if not by_coordinates:
        given = Z @ Z.T, np.ones(n), np.empty((0, 0)), np.arange(n)
        tikhonov.score_by_deletion(*given, theta, lams, tridiagonal.workspace(n), out)
        return out
    members = np.random.default_rng(1).permutation(2 * n)[:n]
    among = np.full((2 * n, r), np.nan)
    among[members] = Z
    work = tridiagonal.workspace(r)
    tikhonov.score_by_deletion(Z.T @ Z, Z.sum(axis=0), among, members, theta, lams, work, out)
    return out


@pytest.mark.parametrize("by_coordinates", [False, True])
@pytest.mark.parametrize(("n", "r"), [(2, 1), (3, 2), (5, 5), (6, 3), (9, 70), (67, 4), (80, 66)])
@pytest.mark.parametrize(("t", "count"), [(1, 1), (1, 64), (1, 150), (3, 65)])
def test_scores_are_those_of_the_refits(n, r, t, count, by_coordinates):
    Z = np.random.default_rng(n).normal(loc=0.3, size=(n, r)) / np.arange(1, r + 1)
    lams = np.logspace(-2, 3, count)
    few = np.unique(np.linspace(0, count - 1, 5).astype(int))  # a refit of every point is slow
    expected = naive.iterated_tikhonov_scores(Z @ Z.T, lams[few], t=t)
    np.testing.assert_allclose(scores(Z, lams, t, by_coordinates)[few], expected, rtol=1e-9)


@pytest.mark.parametrize("by_coordinates", [False, True])
def test_scores_of_what_is_not_positive_definite_are_missing(by_coordinates):
    lams, theta, out = np.logspace(-2, 1, 5), np.array([1.0, 1.0]), np.empty(5)
    work, matrix = tridiagonal.workspace(2), np.array([[1.0, 2.0], [2.0, 1.0]])
    z = np.eye(2) if by_coordinates else np.empty((0, 0))
    tikhonov.score_by_deletion(matrix, np.ones(2), z, np.arange(2), theta, lams, work, out)
    assert np.isnan(out).all()
