"""Units of the columns: values on hand-scaled data, invariance, what no label may change, and errors."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import median_abs_deviation, rankdata

import naive_kernels as naive
from shrinktest import (
    Depth,
    Energy,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    Whitened,
    independence_test,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
)
from shrinktest.kernels import Rescaled

rng = np.random.default_rng(0)
UNITS = np.array([1e6, 1.0, 1e-3])
X, Y, THIRD = (rng.normal(size=(n, 3)) * UNITS for n in (12, 9, 7))
Y[:, 1] += 2.0
OPTIONS = {"n_resamples": 99, "rng": 0, "workers": 1}

BY_HAND = {
    "sd": lambda Z: Z / Z.std(axis=0),
    "mad": lambda Z: Z / median_abs_deviation(Z, axis=0),
    "rank": lambda Z: (rankdata(Z, axis=0) - 0.5) / len(Z),
    "deviation": naive.deviation,
    (1e6, 1.0, 1e-3): lambda Z: Z / UNITS,
}


def by_hand(scale, *samples):
    """The samples, scaled together."""
    return np.split(BY_HAND[scale](np.vstack(samples)), np.cumsum([len(s) for s in samples])[:-1])


def same(one, other):
    assert one.pvalue == other.pvalue
    assert one.statistic == pytest.approx(other.statistic, rel=1e-9, abs=1e-14)
    np.testing.assert_allclose(one.null_distribution, other.null_distribution, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("scale", BY_HAND, ids=str)
@pytest.mark.parametrize(
    "kernel", [Gaussian(), Laplacian(), Linear(), Polynomial(2), Whitened()], ids=lambda k: k.label
)
def test_two_and_more_samples_are_scaled_together(scale, kernel):
    options = {**OPTIONS, "kernel": kernel}
    same(two_sample_test(X, Y, scale=scale, **options), two_sample_test(*by_hand(scale, X, Y), **options))
    three = by_hand(scale, X, Y, THIRD)
    same(k_sample_test(X, Y, THIRD, scale=scale, **options), k_sample_test(*three, **options))


@pytest.mark.parametrize(
    ("scale", "factor"), [("mad", 1.4826), ("rank", 12**-0.5), ("deviation", (np.pi / 2 - 1) ** 0.5)]
)
def test_units_that_differ_give_a_typical_column_the_standard_deviation_one(scale, factor):
    hands = [np.column_stack([u[:, 0] / factor, v[:, 1], w[:, 2] / 1e-3])
             for u, v, w in zip(by_hand(scale, X, Y), by_hand("sd", X, Y), (X, Y), strict=True)]  # fmt: skip
    for kernel in (Gaussian(2.0), Linear(), Whitened(Gaussian(2.0))):
        options = {**OPTIONS, "kernel": kernel}
        same(two_sample_test(X, Y, scale=[scale, "sd", 1e-3], **options), two_sample_test(*hands, **options))
        same(two_sample_test(X, Y, scale=[scale] * 3, **options), two_sample_test(X, Y, scale=scale, **options))
    normal = np.random.default_rng(1).normal(5.0, 3.0, size=(4000, 2))
    found = Rescaled(Linear(), (f"{scale} in sd", "sd"), normal)
    assert found.moved(normal).std(axis=0) == pytest.approx([1.0, 1.0], rel=0.03)
    assert found.label == Rescaled(Linear(), (scale, "sd")).label


@pytest.mark.parametrize("scale", ["sd", "mad", "rank", "deviation"])
def test_variables_are_scaled_by_themselves(scale):
    x, y = X[:9], Y
    hands = [by_hand(scale, z)[0] for z in (x, y)]
    same(independence_test(x, y, scale=scale, **OPTIONS), independence_test(*hands, **OPTIONS))
    same(joint_independence_test(x, y, scale=scale, **OPTIONS), joint_independence_test(*hands, **OPTIONS))
    one = independence_test(x, y, scale=[scale, None], **OPTIONS)
    same(one, independence_test(hands[0], y, **OPTIONS))


@pytest.mark.parametrize("gram", ["dense", "factor", "nystrom", "rff"])
@pytest.mark.parametrize("scale", ["sd", "rank", "deviation"])
def test_every_route(gram, scale):
    given = {**OPTIONS, "gram": gram, **({"rank": 5} if gram in ("nystrom", "rff") else {})}
    x, y = X[:, :1], Y[:, :1]
    found, expected = two_sample_test(x, y, scale=scale, **given), two_sample_test(*by_hand(scale, x, y), **given)
    assert found.route == gram
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-6)


@pytest.mark.parametrize("scale", ["sd", "rank", "deviation"])
def test_level_is_exact_over_all_splits(scale):
    points, pvalues = np.random.default_rng(3).normal(size=(8, 2)) * [1.0, 100.0], []
    for members in itertools.combinations(range(8), 4):
        rest = [i for i in range(8) if i not in members]
        result = two_sample_test(points[list(members)], points[rest], scale=scale, n_resamples=np.inf, alpha=0.5)
        pvalues.append(result.pvalue)
    counts = np.array([sum(p <= k / 70 + 1e-12 for p in pvalues) for k in range(1, 71)])
    assert (counts <= np.arange(1, 71)).all()
    assert np.array_equal(counts[1::2], np.arange(2, 71, 2))  # X and Y may change names, which ties all in twos


def test_a_constant_column_has_no_weight_and_a_note():
    constant = [np.column_stack([sample, np.full(len(sample), 7.0)]) for sample in (X, Y)]
    for scale in ("sd", "mad", "rank", "deviation"):
        found = two_sample_test(*constant, scale=scale, **OPTIONS)
        same(found, two_sample_test(X, Y, scale=scale, **OPTIONS))
        assert f"X and Y: column 3 has one value only, and no weight (scale={scale!r})." in found.notes
    pytest.importorskip("pandas")
    import pandas as pd

    tables = [pd.DataFrame(sample, columns=list("abcd")) for sample in constant]
    assert "X and Y: column d has" in two_sample_test(*tables, scale="sd", **OPTIONS).notes[0]


def test_the_witness_takes_points_in_the_units_of_the_data():
    points = np.vstack([X[:2], Y[:2]])
    for scale in ("sd", "rank", "deviation"):
        found = two_sample_test(X, Y, scale=scale, **OPTIONS)
        hands = by_hand(scale, X, Y)
        expected = two_sample_test(*hands, **OPTIONS).witness(np.vstack([hands[0][:2], hands[1][:2]]))
        np.testing.assert_allclose(found.witness(points), expected, rtol=1e-9)
        assert scale == "deviation" or found.contributions(rng=0)["share"].idxmax() == 1


def test_ranks_and_deviations_off_the_sample():
    sample = np.array([[0.0], [1.0], [2.0], [7.0]])  # median 1.5, distances 1.5, 0.5, 0.5, 5.5 with mean 2
    moved = Rescaled(Linear(), "deviation").resolve(sample).moved(np.array([[1.5], [-0.5], [11.5]]))
    np.testing.assert_allclose(moved[:, 0], [0.0, 1.0, 5.0])
    kernel = Rescaled(Linear(), "rank").resolve(np.array([0.0, 1.0, 1.0, 3.0]))
    np.testing.assert_allclose(
        kernel.moved(np.array([[-1.0], [0.0], [0.5], [1.0], [3.0], [9.0]]))[:, 0] * 8, [0, 1, 2, 4, 7, 8]
    )


@pytest.mark.parametrize("kernel", [Gaussian(), Gaussian("neighbours"), Laplacian(), Energy(), Whitened(), Depth()])
def test_deviations_that_are_all_equal_tell_nothing_and_break_nothing(kernel):
    half = np.repeat([0.0, 1.0], 4)
    found = two_sample_test(half, half[::-1], kernel=kernel, scale="deviation", **OPTIONS)
    assert found.statistic == pytest.approx(0.0, abs=1e-12) and found.pvalue == 1.0
    beside = np.random.default_rng(0).normal(size=(16, 1)) * np.repeat([1.0, 9.0], 8)[:, None]
    both = np.hstack([np.tile([0.0, 1.0], 8)[:, None], beside])
    with_it, without = (two_sample_test(Z[:8], Z[8:], scale="deviation", **OPTIONS) for Z in (both, beside))
    same(with_it, without)  # the column has no weight
    pairs = independence_test(half, np.arange(8.0), kernel_x=kernel, scale=["deviation", None], **OPTIONS)
    assert pairs.pvalue == 1.0
