"""Dependence from 0 to 1: against slow twins and other definitions, by every route."""

import numpy as np
import pytest

import naive_effects as naive
from cases import by_coordinates
from shrinktest import Batches, Gaussian, independence_test
from shrinktest.effects import dependence as module
from shrinktest.effects.dependence import dependence, dependence_in_groups, hsic, noise_of_groups
from shrinktest.kernels import Linear
from shrinktest.statistics.features import Features, KernelFeatures
from shrinktest.statistics.sums import PairSums

RNG = np.random.default_rng(5)
SIZE = 12
X = RNG.normal(size=(SIZE, 2))
Y = X[:, :1] ** 2 + 0.5 * RNG.normal(size=(SIZE, 1))
LEFT, RIGHT = KernelFeatures(Gaussian(1.5), X), KernelFeatures(Gaussian(0.8), Y)


@pytest.mark.parametrize(
    "change", [lambda gram: gram, by_coordinates], ids=["dense", "coordinates"]
)
def test_value_and_variance_are_those_of_loops(change):
    estimate = dependence(change(LEFT), change(RIGHT))
    assert estimate.value == pytest.approx(naive.correlation(LEFT.values, RIGHT.values), rel=1e-10)
    left = []
    for k in range(SIZE):
        keep = np.delete(np.arange(SIZE), k)
        left.append(naive.correlation(*(gram.values[np.ix_(keep, keep)] for gram in (LEFT, RIGHT))))
    assert estimate.jackknife == pytest.approx(naive.jackknife(left), rel=1e-8)
    assert estimate.second == pytest.approx(2.0 / (SIZE * (SIZE - 3))) and estimate.units == SIZE


GROUPS = np.array([3, 0, 1, 1, 1, 2, 3, 0, 4, 4, 5, 5])


def centered(features):
    """Features less their mean."""
    if features.by_coordinates:
        return Features(features.values - features.values.mean(axis=0), True)
    return Features(features.values - naive.margins(features.values), False)


@pytest.mark.parametrize(
    "change", [lambda gram: gram, by_coordinates], ids=["dense", "coordinates"]
)
def test_of_groups_pairs_of_different_ones_are_compared(change):
    """Value, jackknife and variance under independence by loops; groups in any order, of any sizes."""
    grams = [centered(gram).values for gram in (LEFT, RIGHT)]
    estimate = dependence(*(change(Features(gram, False)) for gram in grams), GROUPS)
    assert estimate.value == pytest.approx(naive.correlation_of_groups(*grams, GROUPS), rel=1e-9)
    left = []
    for k in range(6):
        keep = np.flatnonzero(k != GROUPS)
        left.append(
            naive.correlation_of_groups(*(gram[np.ix_(keep, keep)] for gram in grams), GROUPS[keep])
        )
    assert (
        estimate.jackknife == pytest.approx(naive.jackknife(left), rel=1e-8) and estimate.units == 6
    )
    expected = naive.noise_of_groups(*grams, GROUPS)
    assert estimate.second == pytest.approx(max(expected, 2.0 / (SIZE * (SIZE - 3.0))), rel=1e-9)
    alone = dependence(centered(LEFT), centered(RIGHT), np.arange(SIZE)[::-1])
    assert alone.value == pytest.approx(
        dependence(LEFT, RIGHT).value, rel=1e-9
    )  # groups of one pair are no groups
    assert hsic(centered(LEFT), centered(RIGHT), np.arange(SIZE))[0] == pytest.approx(
        hsic(LEFT, RIGHT)[0]
    )


def test_some_groups_stand_for_all(monkeypatch):
    """Every second of 13 groups, if the products of all take too much memory; by both routes."""
    rng = np.random.default_rng(3)
    codes = np.repeat(np.arange(13), 3)
    pair = [centered(KernelFeatures(Linear(), rng.normal(size=(39, 1)))) for _ in range(2)]
    x, y = (gram.dense().values for gram in pair)
    some = codes % 2 == 0
    sums = np.add.reduceat(
        np.add.reduceat((x * y)[np.ix_(some, some)], np.arange(0, 21, 3)), np.arange(0, 21, 3), 1
    )
    expected = (
        2.0 / 39.0**4 * 13.0 / 10.0 * (np.square(sums).sum() - np.square(np.diagonal(sums)).sum())
    )
    for both, most in ((pair, 7), ([gram.dense() for gram in pair], 21.5**2)):
        monkeypatch.setattr(module, "_MOST_PRODUCTS", most)
        assert noise_of_groups(*both, codes) == pytest.approx(
            expected * (13.0 * 12.0) / (7.0 * 6.0), rel=1e-9
        )


@pytest.mark.ci
@pytest.mark.parametrize("kernel", ["gaussian", "linear"])
def test_intervals_of_groups_cover(kernel):
    """Coverage in 200 data sets, with the pairs of a group independent or nearly the same."""
    codes, covered, lengths = np.repeat(np.arange(15), 4), [], []
    for own in (0.0, 0.95):
        hits, length = 0, []
        for seed in range(200):
            rng = np.random.default_rng(seed)
            x, y = (
                own**0.5 * rng.normal(size=15)[codes] + (1.0 - own) ** 0.5 * rng.normal(size=60)
                for _ in range(2)
            )
            made = Gaussian(1.0) if kernel == "gaussian" else Linear()
            estimate = dependence(
                *(centered(KernelFeatures(made, sample[:, None])) for sample in (x, y)), codes
            )
            low, high = estimate.interval(0.95)
            hits += low <= 0.0
            length.append(high - low)
        covered.append(hits / 200)
        lengths.append(np.median(length))
    assert (
        min(covered) > 0.88
    )  # an interval that covers in 93 % of data sets is below that once in a hundred
    assert lengths[0] < 0.4 * lengths[1]


def test_of_a_variable_without_variance_there_is_none():
    """With one different row HSIC(X, X) is zero up to rounding; with two, it is zero if one of them is left out."""
    for n, batches in ((30, False), (60, False), (1000, True)):
        rare, y = np.zeros((n, 1)), np.random.default_rng(n).normal(size=(n, 1))
        for ones in (1, 2):
            rare[ones] = 1.0
            data = [
                Batches([column[: n // 2], column[n // 2 :]]) if batches else column
                for column in (rare, y)
            ]
            effect = independence_test(
                *data, n_resamples=0, **({"gram": "rff", "rank": 30} if batches else {})
            ).effect()
            assert np.isnan(effect.dependence_interval).all() and np.isnan(effect.dependence) == (
                ones == 1
            )
            assert "A variable is nearly constant" in effect.notes[0]


def test_under_independence_its_variance_is_that_of_second_order():
    rng = np.random.default_rng(8)
    values = [
        dependence(
            KernelFeatures(Gaussian(1.0), rng.normal(size=(25, 2))),
            KernelFeatures(Gaussian(1.0), rng.random((25, 1))),
        )
        for _ in range(400)
    ]
    spread = np.var([estimate.value for estimate in values])
    assert 0.7 < spread / values[0].second < 1.4
    assert abs(np.mean([estimate.value for estimate in values])) < 4.0 * np.sqrt(spread / 400)


def test_sums_by_group_give_the_same():
    """Except for the second-order part, which is that of single pairs: groups are chosen at random."""
    groups = np.array([0, 0, 1, 1, 1, 2, 3, 3, 4, 4, 5, 5])
    left, right = by_coordinates(LEFT).values, by_coordinates(RIGHT).values
    z, w = (np.hstack([rows, np.square(rows).sum(axis=1, keepdims=True)]) for rows in (left, right))
    each = [np.flatnonzero(groups == g) for g in range(6)]
    n, xy, xx, yy, x, y = zip(
        *(
            (
                len(k),
                z[k].T @ w[k],
                z[k].T @ z[k],
                w[k].T @ w[k],
                z[k].sum(axis=0),
                w[k].sum(axis=0),
            )
            for k in each
        ),
        strict=True,
    )
    estimate = dependence_in_groups(PairSums(*map(np.array, (n, xy, xx, yy, x, y))))
    without = []
    for k in range(6):
        keep = np.flatnonzero(groups != k)
        without.append(
            naive.correlation(*(gram.values[np.ix_(keep, keep)] for gram in (LEFT, RIGHT)))
        )
    assert estimate.value == pytest.approx(naive.correlation(LEFT.values, RIGHT.values), rel=1e-8)
    assert estimate.jackknife == pytest.approx(naive.jackknife(without), rel=1e-6)
    assert estimate.second == pytest.approx(2.0 / (SIZE * (SIZE - 3))) and estimate.units == 6


# --- near 1 ---

EQUAL = {
    "two flags": np.repeat([0.0, 1.0], 25),
    "rare flag": np.repeat([0.0, 1.0], [40, 10]),
    "three grades": np.repeat([0.0, 1.0, 2.0], [20, 15, 15]),
    "numbers": np.linspace(0.0, 1.0, 50),
}


@pytest.mark.parametrize("variable", EQUAL)
def test_equal_variables_may_differ_in_as_many_rows_as_a_binomial_of_fifty_allows(variable):
    """None of 50 pairs differs: up to 7.1% may.  Where pairs are exchanged at random, only different rows show."""
    values = EQUAL[variable]
    effect = independence_test(
        values, values, kernel_x="linear", kernel_y="linear", n_resamples=0
    ).effect()
    low, high = effect.dependence_interval
    differing = 1.0 - 0.025 ** (1.0 / 50.0)
    shares = np.unique(values, return_counts=True)[1] / 50.0
    exchanged = differing / (1.0 - np.square(shares).sum())
    assert effect.dependence == pytest.approx(1.0) and high == pytest.approx(1.0)
    assert (1.0 - exchanged) ** 2 - 0.2 < low < (1.0 - exchanged) ** 2


def test_more_equal_rows_have_a_shorter_interval():
    lows = []
    for n in (25, 50, 100, 400):
        flag = np.arange(2 * n) % 2.0
        lows.append(independence_test(flag, flag, n_resamples=0).effect().dependence_interval[0])
    assert lows == sorted(lows) and lows[-1] > 0.97


JOINT = {
    "flags": [[0.75, 0.01], [0.01, 0.23]],
    "flags in halves": [[0.48, 0.02], [0.02, 0.48]],
    "one way": [[0.6, 0.03], [0.0, 0.37]],
}


@pytest.mark.parametrize("joint", JOINT)
def test_intervals_of_variables_that_rarely_differ_cover(joint):
    shares = np.array(JOINT[joint])
    x, y = shares.sum(axis=1), shares.sum(axis=0)
    truth = (shares[1, 1] - x[1] * y[1]) ** 2 / (x.prod() * y.prod())
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(100):
        pair = np.divmod(rng.choice(4, size=50, p=shares.ravel()), 2)
        coordinates = [Features((code - code.mean())[:, None], True) for code in pair]
        low, high = dependence(*coordinates).interval(0.95)
        held += low <= truth <= high
    assert held >= 95
