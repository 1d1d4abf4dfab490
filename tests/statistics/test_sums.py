"""Sums over partitions, pairings and signs, scans of intervals, and series at their junctions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import naive_given
from naive_change import gaussian, scans, seeded, smallest_of_lengths
from naive_permutations import junction_excess as naive
from shrinktest import (
    SKMSE,
    Gaussian,
    Laplacian,
    change_points,
    independence_test,
    k_sample_test,
    two_sample_test,
)
from shrinktest.estimators import ESTIMATORS, as_estimator
from shrinktest.kernels import Linear
from shrinktest.permutations.design import PermutationDesign
from shrinktest.permutations.schemes import Signs
from shrinktest.statistics import kernel_cache, sums
from shrinktest.statistics.features import Features, KernelFeatures
from shrinktest.statistics.hsic import junction_excess
from shrinktest.statistics.scan import Cuts, Within
from shrinktest.statistics.seeded_intervals import Calibration, Intervals, Scans
from shrinktest.statistics.signs import (
    Combined,
    Component,
    moments_over_signs,
    products_of,
    sign_statistic,
    signed_norms,
)
from shrinktest.statistics.sum_loops import pairing_sums

RNG = np.random.default_rng(3)
X, Y, Z = RNG.normal(size=(70, 2)), RNG.normal(0.3, 1.0, size=(50, 2)), RNG.normal(size=(40, 2))
SQUARE = X[:, 0] ** 2 + RNG.normal(size=70)
LITTLE = 2e4  # bytes, less than any of the matrices takes


@pytest.mark.parametrize("sizes", [(40, 23), (20, 18, 30), (300, 220), (120, 100, 201)])
def test_block_sums_are_those_of_the_definition(sizes, monkeypatch):
    rng = np.random.default_rng(0)
    z = np.asfortranarray(rng.normal(size=(sum(sizes), 300)))
    ones, labels = (
        z / np.linalg.norm(z, axis=1, keepdims=True),
        np.repeat(np.arange(len(sizes)), sizes),
    )
    labels = np.stack([rng.permutation(labels) for _ in range(20)]).astype(np.uint16)
    member = np.stack([labels == part for part in range(len(sizes))], axis=1).astype(float)
    for copied in (2**23, 0):  # bytes
        monkeypatch.setattr(sums, "_COPIED", copied)
        for features in (
            KernelFeatures(Gaussian(3.0), z[:, :2], "dense"),
            KernelFeatures(Gaussian(3.0), z[:, :2], "tiles"),
            KernelFeatures(Linear(), z, values=z),
            KernelFeatures(
                Gaussian(1.0), ones, "factor", values=ones
            ),  # squared norms that are all the same
        ):
            gram = features.gram
            blocks, traces = sums.block_sums(features, sizes)(labels)
            np.testing.assert_allclose(
                blocks, member @ gram @ member.transpose(0, 2, 1), rtol=1e-9, atol=1e-7
            )
            np.testing.assert_allclose(traces, member @ np.diagonal(gram), rtol=1e-12)


@pytest.mark.parametrize("integers", [np.uint16, np.uint32])
@pytest.mark.parametrize("n", [2, 65, 256, 300, 700])
def test_pairing_sums(n, integers):
    rng = np.random.default_rng(n)
    x, y = (z @ z.T for z in rng.normal(size=(2, n, 5)))
    permutations = rng.permuted(np.tile(np.arange(n, dtype=integers), (5, 1)), axis=1)
    out, cut = np.empty((2, 5, 2))
    pairing_sums(x, y, permutations, out)
    products = [x * y[np.ix_(pi, pi)] for pi in permutations]
    expected = [(product.sum(), np.trace(product)) for product in products]
    np.testing.assert_allclose(
        out, expected, rtol=0, atol=1e-14 * np.linalg.norm(x) * np.linalg.norm(y)
    )
    for part in (slice(0, 1), slice(1, 5)):
        pairing_sums(x, y, permutations[part], cut[part])
    np.testing.assert_array_equal(cut, out)


def brownian(x, y):
    return np.minimum(np.abs(x[:, :1]), np.abs(y[:, 0]))


ALL = ["kme", "skmse", SKMSE(tuning="joint"), "mkme"]
CALLS = {  # with the estimators that go with them
    "two samples": (lambda **how: two_sample_test(X, Y, **how), ALL),
    "unbiased": (lambda **how: two_sample_test(X, Y, form="unbiased", **how), ["kme"]),
    "ranks": (lambda **how: two_sample_test(X, Y, scale="rank", **how), ALL[:3]),
    "a function": (lambda **how: two_sample_test(X, Y, kernel=brownian, **how), ALL[:3]),
    "three samples": (lambda **how: k_sample_test(X, Y, Z, comparison="pooled", **how), ALL),
    "pairs": (lambda **how: independence_test(X, SQUARE, **how), ["kme", "skmse", "mkme"]),
}


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(sums, "_TILE", 32)
    monkeypatch.setattr(sums, "_STRIP", 8 * 70 * 20)


@pytest.mark.parametrize("name", CALLS)
def test_tiles_give_the_answers_of_the_whole_matrix(small, name):
    call, estimators = CALLS[name]
    for estimator in estimators:
        how = {"estimator": estimator, "gram": "dense", "rng": 0, "n_resamples": 99}
        whole = call(**how)
        tiled = [call(max_memory=LITTLE, workers=workers, **how) for workers in (1, 2, 3)]
        assert (whole.route, tiled[0].route, tiled[0].pvalue) == ("dense", "tiles", whole.pvalue)
        np.testing.assert_allclose(
            tiled[0].null_distribution, whole.null_distribution, rtol=1e-10, atol=1e-12
        )
        assert len({result.null_distribution.tobytes() for result in tiled}) == 1


def test_early_stopping_goes_by_tiles(small):
    how = {"gram": "dense", "rng": 0, "stopping": "besag-clifford"}
    assert (
        two_sample_test(X, Y, max_memory=LITTLE, **how).pvalue
        == two_sample_test(X, Y, **how).pvalue
    )


def test_auto_takes_tiles_unless_they_take_hours(small, monkeypatch):
    samples = RNG.spawn(1)[0].normal(size=(2, 60, 8))
    assert two_sample_test(*samples, max_memory=LITTLE, n_resamples=19, rng=0).route == "tiles"
    monkeypatch.setattr(kernel_cache, "_BY_TILES", 1.0)
    with pytest.raises(MemoryError, match=r"gram='dense' \(in tiles, which is slow\)"):
        two_sample_test(*samples, max_memory=LITTLE, n_resamples=19, rng=0)
    with pytest.raises(MemoryError, match="max_memory"):  # filters need the whole matrix
        two_sample_test(X, Y, estimator="landweber", max_memory=LITTLE, gram="dense")


# --- signs ---------------------------------------------------------------------------------------------------------


def test_signs_are_all_there_are():
    gram = np.random.default_rng(0).normal(size=(5, 5))
    gram = gram @ gram.T
    rows = np.array(list(Signs(np.arange(5), symmetric=True).all()))
    assert len(rows) == 16 and len({tuple(row * row[-1]) for row in rows}) == 16
    for name in ESTIMATORS:
        estimator = as_estimator(name)
        if estimator.smooths:
            continue
        statistics = sign_statistic(estimator, Features(gram))(rows)[:, 0]
        turned = [gram * np.outer(row, row) for row in rows]
        weights = [5 * estimator.weights(matrix) for matrix in turned]
        expected = [
            naive_given.signed(gram, row * each) for row, each in zip(rows, weights, strict=True)
        ]
        np.testing.assert_allclose(statistics, expected, atol=1e-10)


def test_products_are_those_of_their_gram_matrix():
    rng = np.random.default_rng(0)
    first, second, third = (
        rng.normal(size=(12, 2)),
        rng.normal(size=(12, 1)),
        rng.normal(size=(12, 3)),
    )
    gram = (first @ first.T) * (second @ second.T)
    few, many = products_of(first, second), products_of(first, second, np.hstack([third, third**2]))
    assert few.by_coordinates and not many.by_coordinates
    np.testing.assert_allclose(few.gram, gram, atol=1e-12)
    np.testing.assert_allclose(
        many.gram, gram * (third @ third.T + third**2 @ (third**2).T), atol=1e-12
    )
    signs = np.sign(rng.normal(size=(7, 12)))
    for products in (few, many):
        twins = [144 * naive_given.signed(products.gram, row) for row in signs]
        np.testing.assert_allclose(signed_norms(products, signs), twins, atol=1e-9)
        np.testing.assert_allclose(
            signed_norms(products, signs[2:3]), signed_norms(products, signs)[2:3], rtol=0.0
        )


@pytest.mark.parametrize("unit", [np.arange(8), np.array([0, 0, 1, 1, 2, 3, 4, 5])])
def test_moments_are_those_of_all_signs(unit):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(8, 2))
    rows = np.array(list(Signs(unit, symmetric=True).all()))
    for products in (Features(values, True), Features(values @ values.T)):
        every = signed_norms(products, rows)
        np.testing.assert_allclose(moments_over_signs(products, unit), (every.mean(), every.var()))


@pytest.mark.ci
def test_the_smallest_chance_of_several():
    rng = np.random.default_rng(1)
    first, second, third = rng.normal(size=(8, 1)), rng.normal(size=(8, 1)), rng.normal(size=(8, 3))
    grams = [first @ first.T, second @ second.T, third @ third.T]
    shares, factors = (4.0, 1.0, 2.0), (1.0, 1.3, 1.1)
    parts = [
        Component("", *arguments)
        for arguments in zip(shares, map(Features, grams), factors, strict=True)
    ]
    parts.append(Component("nothing to see", 1.0, Features(np.zeros((8, 0)), True), 1.0))
    rows = np.array(list(Signs(np.arange(8), symmetric=True).all()))
    combined = Combined(parts, as_estimator("kme"), np.arange(8))
    expected = [naive_given.combined(grams, shares, factors, row) for row in rows]
    np.testing.assert_allclose(combined(rows)[:, 0], expected, atol=1e-9)
    assert (
        len({int(smallest) for smallest in combined.chances(rows).argmin(axis=1)}) == 3
    )  # each decides somewhere


# --- scans of seeded intervals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "shortest"), [(16, 8), (33, 8), (100, 8), (301, 20)])
def test_intervals_are_those_of_the_paper(n, shortest):
    intervals = Intervals.of(Cuts(n, "single", 2), shortest)
    expected = seeded(n, shortest)
    assert intervals.counts.tolist() == list(map(len, expected))
    assert list(map(tuple, intervals.ends.tolist())) == list(itertools.chain(*expected))


@pytest.mark.parametrize("fewest", [2, 4])
def test_scans_equal_their_slow_twin(fewest):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(32, 3))
    within = Within.of(KernelFeatures(Gaussian(1.5), points, "dense"))
    scan = Scans.of(within, Cuts(32, "single", fewest), PermutationDesign(), Calibration(0, 19))
    orders = np.array([np.arange(32), *(rng.permutation(32) for _ in range(2))])
    gram, known = gaussian(points, 1.5), {}
    expected = np.array([scans(gram[np.ix_(order, order)], fewest, 8, known) for order in orders])
    np.testing.assert_allclose(scan.by_length(orders), expected, rtol=1e-8)
    calibrating = scan.by_length(Calibration(0, 19).orders(32, PermutationDesign()))
    smallest = smallest_of_lengths(expected, calibrating)
    np.testing.assert_allclose(scan.statistic()(orders)[:, 0], -np.log10(smallest), rtol=1e-6)


@pytest.mark.parametrize("seed", [0, 2])
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
    expected = [np.mean(chances <= chances[0] * (1.0 + 1e-9)) for chances in smallest]
    options = {
        "bandwidth": 1.0,
        "trim": 0.0,
        "blocks": np.arange(16) % 8,
        "n_resamples": np.inf,
        "alpha": 0.5,
    }
    for rng in range(4):
        pvalue = change_points(x, rng=rng, confidence=None, n_changes=1, **options).pvalue
        assert min(expected) - 0.01 <= pvalue <= max(expected) + 0.01


# --- shifts of series that cannot be trusted -----------------------------------------------------------------------


def walks(seed, n, columns=1):
    return np.cumsum(np.random.default_rng(seed).normal(size=(2, n, columns)), axis=1)


@pytest.mark.parametrize("length, number", [(2, 1), (7, 1), (20, 1), (6, 3), (8, 2)])
@pytest.mark.parametrize("kind", [Gaussian, Laplacian])
def test_excess(length, number, kind):
    kernels = kind(2.0), kind(3.0)
    series = np.random.default_rng(number).permutation(length * number).reshape(number, length)
    around = 2.0 * np.pi * np.tile(np.arange(length), number)[:, None] / length
    x, y = np.empty((2, length * number, 2))
    for z, noise in zip(
        (x, y), np.random.default_rng(length).normal(size=(2, *x.shape)), strict=True
    ):
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
        assert junction_excess(kernels, x, np.roll(y, shift, axis=0), whole) == pytest.approx(
            excess, rel=1e-12
        )


def test_long_series_are_trusted_and_short_ones_noted():
    x, y = walks(0, 40)
    assert len(independence_test(x, y, block_length="whole").notes) == 1
    assert "test differences" in independence_test(x, y, block_length="whole").notes[0]
    assert (
        independence_test(np.diff(x, axis=0), np.diff(y, axis=0), block_length="whole").notes == ()
    )
    assert not any(
        note.code == "short-series" for note in independence_test(x, y, rng=0).notes
    )  # nothing is shifted
    fading = np.random.default_rng(1).normal(size=(2, 2500))
    for t in range(1, 2500):
        fading[:, t] += 0.8 * fading[:, t - 1]
    assert independence_test(*fading, block_length="whole", n_resamples=99, rng=0).notes == ()
    assert len(independence_test(*fading[:, :30], block_length="whole").notes) == 1
