"""Dependence from 0 to 1: against slow twins and other definitions, by every route."""

import numpy as np
import pytest

import naive_effects as naive
from shrinktest import Batches, Gaussian, independence_test
from shrinktest.effects import dependence as module
from shrinktest.effects.dependence import dependence, dependence_in_groups, hsic, noise_of_groups
from shrinktest.effects.inner_products import InnerProducts
from shrinktest.kernels import Linear
from shrinktest.statistics.sums import PairSums

RNG = np.random.default_rng(5)
SIZE = 12
X = RNG.normal(size=(SIZE, 2))
Y = X[:, :1] ** 2 + 0.5 * RNG.normal(size=(SIZE, 1))
LEFT, RIGHT = InnerProducts.of(Gaussian(1.5), X), InnerProducts.of(Gaussian(0.8), Y)


def by_coordinates(features):
    values, vectors = np.linalg.eigh(features.values)
    return InnerProducts(vectors * np.sqrt(np.maximum(values, 0.0)), True)


@pytest.mark.parametrize("change", [lambda one: one, by_coordinates], ids=["dense", "coordinates"])
def test_value_and_variance_are_those_of_loops(change):
    found = dependence(change(LEFT), change(RIGHT))
    assert found.value == pytest.approx(naive.correlation(LEFT.values, RIGHT.values), rel=1e-10)
    left = []
    for k in range(SIZE):
        keep = np.delete(np.arange(SIZE), k)
        left.append(naive.correlation(*(one.values[np.ix_(keep, keep)] for one in (LEFT, RIGHT))))
    assert found.jackknife == pytest.approx(naive.jackknife(left), rel=1e-8)
    assert found.second == pytest.approx(2.0 / (SIZE * (SIZE - 3))) and found.units == SIZE


GROUPS = np.array([3, 0, 1, 1, 1, 2, 3, 0, 4, 4, 5, 5])


def centred(features):
    """InnerProducts less their mean."""
    if features.by_coordinates:
        return InnerProducts(features.values - features.values.mean(axis=0), True)
    return InnerProducts(features.values - naive.margins(features.values), False)


@pytest.mark.parametrize("change", [lambda one: one, by_coordinates], ids=["dense", "coordinates"])
def test_of_groups_pairs_of_different_ones_are_compared(change):
    """Value, jackknife and variance under independence by loops; groups in any order, of any sizes."""
    grams = [centred(one).values for one in (LEFT, RIGHT)]
    found = dependence(*(change(InnerProducts(one, False)) for one in grams), GROUPS)
    assert found.value == pytest.approx(naive.correlation_of_groups(*grams, GROUPS), rel=1e-9)
    left = []
    for k in range(6):
        keep = np.flatnonzero(k != GROUPS)
        left.append(naive.correlation_of_groups(*(one[np.ix_(keep, keep)] for one in grams), GROUPS[keep]))
    assert found.jackknife == pytest.approx(naive.jackknife(left), rel=1e-8) and found.units == 6
    expected = naive.noise_of_groups(*grams, GROUPS)
    assert found.second == pytest.approx(max(expected, 2.0 / (SIZE * (SIZE - 3.0))), rel=1e-9)
    alone = dependence(centred(LEFT), centred(RIGHT), np.arange(SIZE)[::-1])
    assert alone.value == pytest.approx(dependence(LEFT, RIGHT).value, rel=1e-9)  # groups of one pair are no groups
    assert hsic(centred(LEFT), centred(RIGHT), np.arange(SIZE))[0] == pytest.approx(hsic(LEFT, RIGHT)[0])


def test_some_groups_stand_for_all(monkeypatch):
    """Every second of 13, where the products of all take too much room; by both routes."""
    rng = np.random.default_rng(3)
    codes = np.repeat(np.arange(13), 3)
    pair = [centred(InnerProducts.of(Linear(), rng.normal(size=(39, 1)))) for _ in range(2)]
    x, y = (one.dense().values for one in pair)
    some = codes % 2 == 0
    sums = np.add.reduceat(np.add.reduceat((x * y)[np.ix_(some, some)], np.arange(0, 21, 3)), np.arange(0, 21, 3), 1)
    expected = 2.0 / 39.0**4 * 13.0 / 10.0 * (np.square(sums).sum() - np.square(np.diagonal(sums)).sum())
    for both, most in ((pair, 7), ([one.dense() for one in pair], 21.5**2)):
        monkeypatch.setattr(module, "_MOST_PRODUCTS", most)
        assert noise_of_groups(*both, codes) == pytest.approx(expected * (13.0 * 12.0) / (7.0 * 6.0), rel=1e-9)


@pytest.mark.parametrize("kernel", ["gaussian", "linear"])
def test_intervals_of_groups_cover(kernel):
    """Where pairs of a group are independent of each other, and where they are nearly the same; of 200 data sets."""
    codes, covered, lengths = np.repeat(np.arange(15), 4), [], []
    for own in (0.0, 0.95):
        hits, length = 0, []
        for seed in range(200):
            rng = np.random.default_rng(seed)
            x, y = (own**0.5 * rng.normal(size=15)[codes] + (1.0 - own) ** 0.5 * rng.normal(size=60) for _ in range(2))
            made = Gaussian(1.0) if kernel == "gaussian" else Linear()
            found = dependence(*(centred(InnerProducts.of(made, one[:, None])) for one in (x, y)), codes)
            low, high = found.interval(0.95)
            hits += low <= 0.0
            length.append(high - low)
        covered.append(hits / 200)
        lengths.append(np.median(length))
    assert min(covered) > 0.88  # an interval that covers in 93 % of data sets is below that once in a hundred
    assert lengths[0] < 0.4 * lengths[1]


def test_of_a_variable_without_variance_there_is_none():
    """With one row that differs HSIC(X, X) is zero but for rounding; with two, it is without one of them."""
    for n, batches in ((30, False), (60, False), (1000, True)):
        rare, y = np.zeros((n, 1)), np.random.default_rng(n).normal(size=(n, 1))
        for ones in (1, 2):
            rare[ones] = 1.0
            data = [Batches([one[: n // 2], one[n // 2 :]]) if batches else one for one in (rare, y)]
            effect = independence_test(
                *data, n_resamples=0, **({"gram": "rff", "rank": 30} if batches else {})
            ).effect()
            assert np.isnan(effect.dependence_interval).all() and np.isnan(effect.dependence) == (ones == 1)
            assert "A variable hardly varies" in effect.notes[0]


def test_under_independence_its_variance_is_that_of_second_order():
    rng = np.random.default_rng(8)
    values = [
        dependence(
            InnerProducts.of(Gaussian(1.0), rng.normal(size=(25, 2))),
            InnerProducts.of(Gaussian(1.0), rng.random((25, 1))),
        )
        for _ in range(400)
    ]
    spread = np.var([one.value for one in values])
    assert 0.7 < spread / values[0].second < 1.4
    assert abs(np.mean([one.value for one in values])) < 4.0 * np.sqrt(spread / 400)


def test_sums_by_group_give_the_same():
    """But for the part of second order, which is that of single pairs: groups are chosen at random."""
    groups = np.array([0, 0, 1, 1, 1, 2, 3, 3, 4, 4, 5, 5])
    left, right = by_coordinates(LEFT).values, by_coordinates(RIGHT).values
    z, w = (np.hstack([one, np.square(one).sum(axis=1, keepdims=True)]) for one in (left, right))
    each = [np.flatnonzero(groups == g) for g in range(6)]
    n, xy, xx, yy, x, y = zip(
        *((len(k), z[k].T @ w[k], z[k].T @ z[k], w[k].T @ w[k], z[k].sum(axis=0), w[k].sum(axis=0)) for k in each),
        strict=True,
    )
    found = dependence_in_groups(PairSums(*map(np.array, (n, xy, xx, yy, x, y))))
    without = []
    for k in range(6):
        keep = np.flatnonzero(groups != k)
        without.append(naive.correlation(*(one.values[np.ix_(keep, keep)] for one in (LEFT, RIGHT))))
    assert found.value == pytest.approx(naive.correlation(LEFT.values, RIGHT.values), rel=1e-8)
    assert found.jackknife == pytest.approx(naive.jackknife(without), rel=1e-6)
    assert found.second == pytest.approx(2.0 / (SIZE * (SIZE - 3))) and found.units == 6
