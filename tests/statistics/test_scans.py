"""Scans of seeded intervals against their slow twins."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from naive_change import gaussian, scans, seeded, smallest_of_lengths
from shrinktest import change_points
from shrinktest.kernels import Gaussian
from shrinktest.permutations.design import PermutationDesign
from shrinktest.statistics.features import Features
from shrinktest.statistics.scan import Cuts, Within
from shrinktest.statistics.seeded_intervals import Calibration, Intervals, Scans


@pytest.mark.parametrize(("n", "shortest"), [(16, 8), (33, 8), (100, 8), (301, 20)])
def test_intervals_are_those_of_the_paper(n, shortest):
    found = Intervals.of(Cuts(n, "single", 2), shortest)
    expected = seeded(n, shortest)
    assert found.counts.tolist() == list(map(len, expected))
    assert list(map(tuple, found.ends.tolist())) == list(itertools.chain(*expected))


@pytest.mark.parametrize("fewest", [2, 4])
def test_scans_equal_their_slow_twin(fewest):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(32, 3))
    within = Within.of(Features("dense", Gaussian(1.5), points))
    found = Scans.of(within, Cuts(32, "single", fewest), PermutationDesign(), Calibration(0, 19))
    orders = np.array([np.arange(32), *(rng.permutation(32) for _ in range(2))])
    gram, known = gaussian(points, 1.5), {}
    expected = np.array([scans(gram[np.ix_(order, order)], fewest, 8, known) for order in orders])
    np.testing.assert_allclose(found.by_length(orders), expected, rtol=1e-8)
    calibrating = found.by_length(Calibration(0, 19).orders(32, PermutationDesign()))
    smallest = smallest_of_lengths(expected, calibrating)
    np.testing.assert_allclose(found.statistic()(orders)[:, 0], -np.log10(smallest), rtol=1e-6)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_pvalues_are_those_of_the_slow_twin(seed):
    """All 256 orders within blocks; random orders that make lengths comparable move p-values in a small range."""
    swaps = np.array(list(itertools.product([0, 8], repeat=8)))
    orders = np.hstack([np.arange(8) + swaps, np.arange(8) + 8 - swaps])
    x = np.random.default_rng(seed).normal(size=(16, 1))
    x[6:11] += 1.5
    gram, known = gaussian(x, 1.0), {}
    values = np.array([scans(gram[np.ix_(order, order)], 2, 8, known) for order in orders])
    drawn = np.random.default_rng(1).integers(len(orders), size=(200, 499))
    smallest = [smallest_of_lengths(values, values[rows]) for rows in drawn]
    expected = [np.mean(one <= one[0] * (1.0 + 1e-9)) for one in smallest]
    options = {"bandwidth": 1.0, "trim": 0.0, "blocks": np.arange(16) % 8, "n_resamples": np.inf, "alpha": 0.5}
    for rng in range(4):
        pvalue = change_points(x, rng=rng, confidence=None, n_changes=1, **options).pvalue
        assert min(expected) - 0.01 <= pvalue <= max(expected) + 0.01
