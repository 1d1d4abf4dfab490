"""Ties count: equal statistics, however they are rounded, are no evidence."""

from __future__ import annotations

import numpy as np
import pytest

import refits
from cases import TUNED, tuned_by
from shrinktest import SKMSE, independence_test, two_sample_test
from shrinktest.estimators import ESTIMATORS
from small import X, Y, pair_test, split_test

# --- two samples --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tuning", ["sample", "joint", "pooled"])
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("m", [4, 3])
def test_when_all_splits_tie_the_p_value_is_one(name, tuning, m):
    estimator = tuned_by(name, tuning)
    corners = np.eye(8)  # all at the same distance from each other
    for options in ({"n_resamples": 70}, {"n_resamples": 19}, {"n_resamples": 70, "form": "biased"}):
        assert split_test(corners[:m], corners[m:], estimator, **options).pvalue == 1.0


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("n_resamples", [99, np.inf])
def test_constant_data_show_nothing(name, n_resamples):
    X, Y = np.full((4, 2), 0.1), np.full((3, 2), 0.1)
    result = split_test(X, Y, name, bandwidth=0.3, n_resamples=n_resamples)
    assert result.pvalue == 1.0
    assert result.statistic == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("tuning", ["sample", "joint"])
@pytest.mark.parametrize("cls", TUNED)
def test_splits_that_are_mirror_images_tie(cls, tuning):
    """Symmetries of a lattice turn splits into each other; rounding and tuning must not tell them apart."""
    lattice = [(i, j) for i in range(3) for j in range(3)]
    points = np.array(lattice, dtype=float)
    options = {"bandwidth": 1.3, "form": "biased", "n_resamples": np.inf}
    result = split_test(points[:4], points[4:], cls(tuning=tuning), **options)
    of = {tuple(S): value for (S, _), value in zip(refits.splits(9, 4), result.null_distribution, strict=True)}
    images = {tuple(sorted(lattice.index(turned(*point, flips)) for point in lattice[:4])) for flips in range(8)}
    assert len(images) == 8  # a corner with arms of different lengths
    for image in images:
        assert abs(of[image] - result.statistic) <= result.tolerance
    assert result.exceedances >= 8


def turned(i, j, flips):
    """One of the eight symmetries of the lattice."""
    i, j = (j, i) if flips & 1 else (i, j)
    return (2 - i if flips & 2 else i), (2 - j if flips & 4 else j)


def test_constant_data_have_no_median_bandwidth():
    with pytest.raises(ValueError, match=r"all observations are equal.*give bandwidth"):
        two_sample_test([1.0, 1.0, 1.0], [1.0, 1.0])


def test_an_estimate_clamped_to_zero_ties_with_the_others():
    X, Y = np.array([-1.0, 1.0, -2.0, 2.0]), np.array([-3.0, 3.0, -0.5, 0.5])
    result = split_test(X, Y, SKMSE(), kernel="linear", n_resamples=np.inf)
    G = np.outer(np.r_[X, Y], np.r_[X, Y])
    assert result.statistic == 0.0  # both off-diagonal means are negative
    assert result.pvalue == 1.0
    expected = refits.split_values(G, 4, refits.mmd2(SKMSE(), "sample", G))
    assert (expected > 1e-9).any()
    np.testing.assert_allclose(result.null_distribution, expected, atol=1e-12)


# --- independence -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("n_resamples", [24, 19])
def test_when_all_pairings_tie_the_p_value_is_one(name, n_resamples):
    corners = np.eye(4)  # all at the same distance from each other
    assert pair_test(corners, X[:4], name, n_resamples=n_resamples).pvalue == 1.0


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("constant", ["x", "y", "both"])
def test_a_constant_variable_shows_nothing(name, constant):
    x = np.full((9, 1), 0.1) if constant != "y" else X
    y = np.full((9, 2), 0.7) if constant != "x" else Y
    result = pair_test(x, y, name, bandwidth_x=0.3, bandwidth_y=0.3, n_resamples=99)
    assert result.pvalue == 1.0
    assert result.statistic == pytest.approx(0.0, abs=1e-12)


def test_a_constant_variable_has_no_median_bandwidth():
    with pytest.raises(ValueError, match="all observations are equal"):
        independence_test(X[:, 0], np.ones(9))


def test_an_operator_clamped_to_zero_ties_with_the_others():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 6))
    result = pair_test(x, y, "skmse", n_resamples=np.inf)
    zeros = np.mean(result.null_distribution == 0.0)
    assert 0.2 < zeros < 0.9
    assert result.statistic == 0.0
    assert result.pvalue == 1.0
