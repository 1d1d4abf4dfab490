"""Bandwidths and units: near neighbors, bandwidths that see nothing, units of the columns."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import median_abs_deviation, rankdata

import naive_kernels as naive
from shrinktest import (
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    Whitened,
    closer_test,
    independence_test,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
)
from shrinktest.kernels import Rescaled
from shrinktest.kernels.bandwidths import neighbor_bandwidth, reach_notes

# --- near neighbors -----------------------------------------------------------------------------------------------
rng = np.random.default_rng(0)
OPTIONS = {"n_resamples": 59, "rng": 0, "workers": 1}
X, Y = rng.normal(size=(12, 2)), rng.normal(size=(9, 2))


def city(x, y):
    return float(np.sum(np.abs(np.subtract(x, y))))


@pytest.mark.parametrize("n", [2, 3, 10, 11, 12, 21, 22, 45])
@pytest.mark.parametrize("d", [1, 3])
def test_the_literal_definition(n, d):
    Z = np.random.default_rng(n).normal(size=(n, d))
    assert neighbor_bandwidth(Z) == pytest.approx(naive.neighbor_bandwidth(Z), rel=1e-12)
    assert neighbor_bandwidth(Z, distance="cityblock") == pytest.approx(
        naive.neighbor_bandwidth(Z, city), rel=1e-12
    )
    assert Gaussian("neighbors").resolve(Z).bandwidth == neighbor_bandwidth(Z)
    assert Laplacian("neighbors").resolve(Z).bandwidth == neighbor_bandwidth(
        Z, distance="cityblock"
    )


@pytest.mark.parametrize(
    "values",
    [
        np.repeat([0.0, 1.0, 5.0], [20, 3, 2]),  # most rows equal more than a tenth of the others
        np.repeat([0.0, 1.0], 10),
        np.append(np.zeros(30), 4.0),
        np.concatenate([np.zeros(4), np.arange(1.0, 28.0) ** 1.5]),  # few do
        np.random.default_rng(1).integers(0, 4, size=40).astype(float),
    ],
)
def test_ties(values):
    bandwidth = neighbor_bandwidth(values)
    assert bandwidth > 0.0 and bandwidth == pytest.approx(
        naive.neighbor_bandwidth(values[:, None]), rel=1e-12
    )


@pytest.mark.parametrize("unit", [1e-200, 1e-3, 7.0, 1e200])
def test_units(unit):
    assert neighbor_bandwidth(unit * X) == pytest.approx(unit * neighbor_bandwidth(X), rel=1e-12)
    plain, scaled = (
        two_sample_test(c * X, c * Y, bandwidth="neighbors", **OPTIONS) for c in (1.0, unit)
    )
    assert scaled.pvalue == plain.pvalue


def test_many_rows_are_drawn_from():
    Z = rng.normal(size=(2001, 1))
    drawn = np.random.default_rng(5).choice(2001, 1000, replace=False)
    assert (
        neighbor_bandwidth(Z, rng=5) == neighbor_bandwidth(Z[drawn]) != neighbor_bandwidth(Z, rng=6)
    )
    generator = np.random.default_rng(0)
    before = generator.bit_generator.state
    neighbor_bandwidth(Z[:2000], generator)
    assert generator.bit_generator.state == before


@pytest.mark.parametrize(
    ("given", "factor", "shown"),
    [
        ("neighbors", 1.0, "'neighbors'"),
        ("Neighbors", 1.0, "'neighbors'"),
        ("1 * neighbors", 1.0, "'neighbors'"),
        ("0.5 * neighbors", 0.5, "'0.5 * neighbors'"),
        ("neighbors/4", 0.25, "'0.25 * neighbors'"),
        ("neighbors * 2e1", 20.0, "'20.0 * neighbors'"),
        (".5neighbors", 0.5, "'0.5 * neighbors'"),
    ],
)
def test_multiples(given, factor, shown):
    kernel = Gaussian(given)
    assert repr(kernel) == f"Gaussian(bandwidth={shown})" and eval(repr(kernel)) == kernel
    assert kernel.resolve(X).bandwidth == pytest.approx(factor * neighbor_bandwidth(X), rel=1e-15)
    assert kernel != Gaussian(shown.replace("neighbors", "median").strip("'"))


# --- bandwidths that see nothing -----------------------------------------------------------------------------------
FIRST, SECOND = np.random.default_rng(0).normal(size=(2, 30, 3))


@pytest.mark.parametrize("kind", [Gaussian, Laplacian])
def test_far_too_small_and_far_too_large(kind):
    (small,) = reach_notes(kind(1e-3), FIRST, "X and Y")
    assert (
        small.startswith("X and Y: the bandwidth 0.001 is so small that the kernel is 0")
        and "larger" in small
    )
    (large,) = reach_notes(kind(1e14), FIRST, "X and Y")
    assert "so large that the kernel is 1, up to rounding" in large and "smaller" in large
    assert reach_notes(kind(1.0), FIRST, "X and Y") == ()


def test_values_beyond_the_range_of_numbers_are_an_error():
    rng = np.random.default_rng(0)
    x, y, z = (rng.normal(at, 1.0, (20, 2)) for at in (0.0, 0.5, 1.5))
    with pytest.raises(ValueError, match="beyond the range of numbers"):
        closer_test(1e-170 * x, 1e-170 * y, 1e-170 * z, kernel="linear")


# --- units of the columns ------------------------------------------------------------------------------------------
units_rng = np.random.default_rng(0)
UNITS = np.array([1e6, 1.0, 1e-3])
XS, YS, THIRD = (units_rng.normal(size=(n, 3)) * UNITS for n in (12, 9, 7))
YS[:, 1] += 2.0
QUICK = {"n_resamples": 99, "rng": 0, "workers": 1}
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


def same(first, second):
    assert first.pvalue == second.pvalue
    assert first.statistic == pytest.approx(second.statistic, rel=1e-9, abs=1e-14)
    np.testing.assert_allclose(
        first.null_distribution, second.null_distribution, rtol=1e-7, atol=1e-12
    )


@pytest.mark.parametrize("scale", BY_HAND, ids=str)
@pytest.mark.parametrize(
    "kernel", [Gaussian(), Laplacian(), Linear(), Polynomial(2), Whitened()], ids=lambda k: k.label
)
def test_two_and_more_samples_are_scaled_together(scale, kernel):
    options = {**QUICK, "kernel": kernel}
    same(
        two_sample_test(XS, YS, scale=scale, **options),
        two_sample_test(*by_hand(scale, XS, YS), **options),
    )
    three = by_hand(scale, XS, YS, THIRD)
    same(k_sample_test(XS, YS, THIRD, scale=scale, **options), k_sample_test(*three, **options))


@pytest.mark.parametrize(
    ("scale", "factor"),
    [("mad", 1.4826), ("rank", 12**-0.5), ("deviation", (np.pi / 2 - 1) ** 0.5)],
)
def test_units_that_differ_give_a_typical_column_the_standard_deviation_one(scale, factor):
    hands = [np.column_stack([u[:, 0] / factor, v[:, 1], w[:, 2] / 1e-3])
             for u, v, w in zip(by_hand(scale, XS, YS), by_hand("sd", XS, YS), (XS, YS), strict=True)]  # fmt: skip
    for kernel in (Gaussian(2.0), Linear(), Whitened(Gaussian(2.0))):
        options = {**QUICK, "kernel": kernel}
        same(
            two_sample_test(XS, YS, scale=[scale, "sd", 1e-3], **options),
            two_sample_test(*hands, **options),
        )
        same(
            two_sample_test(XS, YS, scale=[scale] * 3, **options),
            two_sample_test(XS, YS, scale=scale, **options),
        )
    normal = np.random.default_rng(1).normal(5.0, 3.0, size=(4000, 2))
    rescaled = Rescaled(Linear(), (f"{scale} in sd", "sd"), normal)
    assert rescaled.moved(normal).std(axis=0) == pytest.approx([1.0, 1.0], rel=0.03)
    assert rescaled.label == Rescaled(Linear(), (scale, "sd")).label


@pytest.mark.parametrize("scale", ["sd", "mad", "rank", "deviation"])
def test_variables_are_scaled_by_themselves(scale):
    x, y = XS[:9], YS
    hands = [by_hand(scale, z)[0] for z in (x, y)]
    same(independence_test(x, y, scale=scale, **QUICK), independence_test(*hands, **QUICK))
    same(
        joint_independence_test(x, y, scale=scale, **QUICK),
        joint_independence_test(*hands, **QUICK),
    )
    result = independence_test(x, y, scale=[scale, None], **QUICK)
    same(result, independence_test(hands[0], y, **QUICK))


@pytest.mark.parametrize("gram", ["dense", "factor", "nystrom", "rff"])
@pytest.mark.parametrize("scale", ["sd", "rank", "deviation"])
def test_every_route(gram, scale):
    given = {**QUICK, "gram": gram, **({"rank": 5} if gram in ("nystrom", "rff") else {})}
    x, y = XS[:, :1], YS[:, :1]
    result, expected = (
        two_sample_test(x, y, scale=scale, **given),
        two_sample_test(*by_hand(scale, x, y), **given),
    )
    assert result.route == gram
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-6)


@pytest.mark.parametrize("scale", ["sd", "rank", "deviation"])
def test_level_is_exact_over_all_splits(scale):
    points, pvalues = np.random.default_rng(3).normal(size=(8, 2)) * [1.0, 100.0], []
    for others in itertools.combinations(range(1, 8), 3):  # X and Y may change names
        members = [0, *others]
        rest = [i for i in range(8) if i not in members]
        result = two_sample_test(
            points[members], points[rest], scale=scale, n_resamples=np.inf, alpha=0.5
        )
        pvalues.append(result.pvalue)
    assert [sum(p <= k / 35 + 1e-12 for p in pvalues) for k in range(1, 36)] == list(range(1, 36))


def test_a_constant_column_has_no_weight_and_a_note():
    constant = [np.column_stack([sample, np.full(len(sample), 7.0)]) for sample in (XS, YS)]
    for scale in ("sd", "mad", "rank", "deviation"):
        result = two_sample_test(*constant, scale=scale, **QUICK)
        same(result, two_sample_test(XS, YS, scale=scale, **QUICK))
        assert (
            f"X and Y: column 3 has only one value and thus no weight (scale={scale!r})."
            in result.notes
        )
    pytest.importorskip("pandas")
    import pandas as pd

    tables = [pd.DataFrame(sample, columns=list("abcd")) for sample in constant]
    assert "X and Y: column d has" in two_sample_test(*tables, scale="sd", **QUICK).notes[0]


def test_the_witness_takes_points_in_the_units_of_the_data():
    points = np.vstack([XS[:2], YS[:2]])
    for scale in ("sd", "rank", "deviation"):
        result = two_sample_test(XS, YS, scale=scale, **QUICK)
        hands = by_hand(scale, XS, YS)
        expected = two_sample_test(*hands, **QUICK).witness(np.vstack([hands[0][:2], hands[1][:2]]))
        np.testing.assert_allclose(result.witness(points), expected, rtol=1e-9)
        assert scale == "deviation" or result.contributions(rng=0)["share"].idxmax() == 1


def test_ranks_and_deviations_off_the_sample():
    sample = np.array(
        [[0.0], [1.0], [2.0], [7.0]]
    )  # median 1.5, distances 1.5, 0.5, 0.5, 5.5 with mean 2
    moved = Rescaled(Linear(), "deviation").resolve(sample).moved(np.array([[1.5], [-0.5], [11.5]]))
    np.testing.assert_allclose(moved[:, 0], [0.0, 1.0, 5.0])
    kernel = Rescaled(Linear(), "rank").resolve(np.array([0.0, 1.0, 1.0, 3.0]))
    np.testing.assert_allclose(
        kernel.moved(np.array([[-1.0], [0.0], [0.5], [1.0], [3.0], [9.0]]))[:, 0] * 8,
        [0, 1, 2, 4, 7, 8],
    )
