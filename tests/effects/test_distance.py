"""The distance of two samples from 0 to 1: against slow twins, by every route, and its interval."""

import numpy as np
import pytest
from scipy import stats

import naive_effects as naive
from cases import by_coordinates
from shrinktest import Gaussian
from shrinktest.effects.distance import NORMS, VARIANCE, Pair, distance
from shrinktest.effects.jackknife import Estimate
from shrinktest.kernels import Linear
from shrinktest.statistics.features import Features, KernelFeatures

RNG = np.random.default_rng(3)
M, N = 7, 9
Z = RNG.normal(size=(M + N, 2)) + np.repeat([0.0, 0.7], [M, N])[:, None]
CHANGES = {"dense": Features.dense, "coordinates": by_coordinates}
UNITS = {
    "rows": (M, N, np.arange(M + N)),
    "pairs": (M, M, np.tile(np.arange(M), 2)),
    "groups": (M, N, np.array([0, 0, 1, 1, 1, 2, 3, 4, 5, 5, 6, 6, 7, 7, 8, 8])),
}


def pair_of(m, n, units=None, blocks=None):
    units = np.arange(m + n) if units is None else units
    linked = np.intersect1d(units[:m], units[m:]).size > 0
    return Pair(np.repeat([False, True], [m, n]), units, blocks, linked)


@pytest.mark.parametrize("route", CHANGES)
@pytest.mark.parametrize("design", UNITS)
@pytest.mark.parametrize(("relative", "which"), [(NORMS, 0), (VARIANCE, 1)])
def test_value_and_variance_are_those_of_loops(route, design, relative, which):
    """Rows of a unit do not count with each other and leave together; a linear kernel has rows of unlike lengths."""
    m, n, units = UNITS[design]
    features = KernelFeatures(Gaussian(1.3), Z[: m + n])
    if relative == VARIANCE:
        features = KernelFeatures(Linear(), Z[: m + n] * [1.0, 3.0] + 1.0).residuals()
    gram = features.dense().values
    estimate = distance(CHANGES[route](features), pair_of(m, n, units), relative)

    def share(rows):
        first = int((rows < m).sum())
        own = {
            (i, j)
            for i in range(len(rows))
            for j in range(len(rows))
            if units[rows[i]] == units[rows[j]]
        }
        equal = np.full(first, 1.0 / first), np.full(len(rows) - first, 1.0 / (len(rows) - first))
        return naive.shares(gram[np.ix_(rows, rows)], *equal, own)[which]

    assert estimate.value == pytest.approx(share(np.arange(m + n)), rel=1e-9)
    left = [share(np.flatnonzero(units != unit)) for unit in range(units.max() + 1)]
    split = len(left) if design == "pairs" else int(units[:m].max()) + 1
    expected = sum(naive.jackknife(part) for part in (left[:split], left[split:]) if part)
    assert estimate.jackknife == pytest.approx(expected, rel=1e-8) and estimate.units == split
    if relative == NORMS:
        means = (
            units + (units.max() + 1) * (np.arange(m + n) >= m)
            == np.arange(2 * units.max() + 2)[:, None]
        ) * 1.0
        means = means[means.any(axis=1)] / means.sum(axis=1)[means.any(axis=1), None]
        points, size = (
            means @ gram @ means.T,
            [np.bincount(units[:m]), np.bincount(units[m:])[units[m:].min() :]],
        )
        x, y = points[:split, :split], points[split:, split:]
        p, q = (counts / counts.sum() for counts in size)
        scale = sum(
            (w @ block @ w - w**2 @ np.diag(block)) / (1.0 - w @ w) for w, block in ((p, x), (q, y))
        )
        second = naive.second_order(points, p, q)
        if design == "pairs":
            apart = x + y - points[:split, split:] - points[split:, :split]
            second = 2.0 * naive.u_product(apart, apart) / (m * (m - 1))
        assert estimate.second == pytest.approx(second / scale**2, rel=1e-8)


@pytest.mark.parametrize("route", CHANGES)
def test_blocks_count_as_if_both_samples_had_them_in_the_same_shares(route):
    blocks = np.array([0, 0, 0, 1, 1, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 3])
    pair = pair_of(M, N, blocks=blocks)
    weights = pair.weights()
    for k in (0, 1):
        assert weights[blocks == k, 0].sum() == pytest.approx(weights[blocks == k, 1].sum())
    assert weights[blocks >= 2].sum() == 0.0 and weights.sum() == pytest.approx(2.0)
    # one block that is far away, and in one sample more often, is no difference
    labels = np.repeat([0, 1, 0, 1], [30, 10, 10, 30])
    features = CHANGES[route](
        KernelFeatures(Gaussian(5.0), 50.0 * labels[:, None] + RNG.normal(size=(80, 1)))
    )
    assert distance(features, pair_of(40, 40), NORMS).value > 0.2
    estimate, gram = (
        distance(features, pair_of(40, 40, blocks=labels), NORMS),
        features.dense().values,
    )
    samples = [
        [np.flatnonzero(labels[:40] == k) for k in (0, 1)],
        [40 + np.flatnonzero(labels[40:] == k) for k in (0, 1)],
    ]
    norms = []
    for parts in samples:  # within blocks, pairs of different rows; across, all of them
        own = [gram[np.ix_(rows, rows)] for rows in parts]
        means = [(block.sum() - np.trace(block)) / (len(block) * (len(block) - 1)) for block in own]
        norms.append(0.25 * sum(means) + 0.5 * gram[np.ix_(*parts)].mean())
    cross = 0.25 * sum(gram[np.ix_(*rows)].mean() for rows in zip(*samples, strict=True))
    expected = 1.0 - 2.0 * cross / sum(norms)
    assert (
        estimate.value == pytest.approx(expected, rel=1e-6, abs=1e-9) and abs(estimate.value) < 0.02
    )
    assert np.isnan(
        distance(features, pair_of(40, 40, blocks=np.tile(np.arange(40), 2)), NORMS).interval(0.95)
    ).all()


# --- the interval -----------------------------------------------------------------------------------------------


def test_limits_are_as_many_standard_deviations_away_as_the_confidence_says():
    estimate = Estimate(0.12, 0.004, 0.0005, 30)
    low, high = estimate.interval(0.9)
    slope = (0.004 - 0.001 + 0.001) / (0.12 + np.sqrt(0.001))
    for limit in (low, high):
        assert abs(limit - 0.12) / np.sqrt(0.0005 + slope * limit) == pytest.approx(
            stats.t.ppf(0.95, 29)
        )
    assert estimate.interval(0.99)[0] < low < 0.12 < high < estimate.interval(0.99)[1]
    assert estimate.below(high)[1] == pytest.approx(0.05)


@pytest.mark.ci
def test_lower_limits_are_above_zero_as_often_as_the_square_of_a_normal_variable_allows():
    """A linear kernel in one column has such a square under the null hypothesis; no more of these exceed zero."""
    for confidence in (0.95, 0.999):
        for share, above in ((confidence - 1e-4, False), (confidence + 1e-4, True)):
            value = (stats.chi2(1).ppf(share) - 1.0) / np.sqrt(2.0)
            low, _ = Estimate(1e-3 * value, 2e-6, 1e-6, 10_000).interval(confidence)
            assert (low > 0.0) == above


@pytest.mark.ci
@pytest.mark.parametrize("blocks", [(20, 2, 2), (2, 6, 6)], ids=["small", "few"])
def test_distances_within_blocks_vary_as_their_variance_says(blocks):
    """Blocks of few rows: the variance of the estimates, and the mean of the variances that the intervals use."""
    count, m, n = blocks
    rng, estimates = np.random.default_rng(0), []
    cells = np.concatenate([np.repeat(np.arange(count), m), np.repeat(np.arange(count), n)])
    pair, shift = (
        pair_of(count * m, count * n, blocks=cells),
        1.5 * (np.arange(count * (m + n)) >= count * m),
    )
    for _ in range(300):
        z = rng.normal(size=cells.size) + shift
        estimates.append(distance(KernelFeatures(Gaussian(1.0), z[:, None]), pair, NORMS))
    spread = np.var([estimate.value for estimate in estimates])
    assert (
        0.75
        < np.mean([max(each.jackknife - each.second, each.second) for each in estimates]) / spread
        < 1.6
    )


# --- near 1 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.5, 0.8, 0.97, 1.0])
def test_towards_one_the_lower_limit_is_that_of_fay_and_feuer(value):
    estimate = Estimate(value, 0.002, 1e-6, 50, event=0.03)
    missing, variance = 1.0 - value + 0.03, 0.002 + 0.03**2
    most = variance / (2.0 * missing) * stats.chi2(2.0 * missing**2 / variance).ppf(0.975)
    before, _ = Estimate(value, 0.002, 1e-6, 50).interval(0.95)
    assert estimate.interval(0.95)[0] == pytest.approx(min(1.0 - most, before), abs=1e-9)


def test_small_quantities_do_not_regard_what_is_missing_to_one():
    small = Estimate(0.2, 0.002, 1e-4, 50)
    assert Estimate(0.2, 0.002, 1e-4, 50, event=0.5).interval(0.95) == small.interval(0.95)


SEPARATE = {
    "clusters": (lambda rng, at: at + 0.2 * rng.normal(size=50), Gaussian(1.0), NORMS),
    "clusters, linear": (lambda rng, at: at + 0.2 * rng.normal(size=50), Linear(), VARIANCE),
    "constants": (lambda rng, at: np.full(50, at), Gaussian(1.0), NORMS),
    "constants, linear": (lambda rng, at: np.full(50, at), Linear(), VARIANCE),
}


@pytest.mark.parametrize("samples", SEPARATE)
def test_separate_samples_may_share_as_many_rows_as_a_binomial_of_fifty_allows(samples):
    """None of 50 rows is in the other cluster: up to 7.1% may be, and then the distance is about .93 or .86."""
    draw, kernel, relative_to = SEPARATE[samples]
    rng = np.random.default_rng(2)
    points = np.concatenate([draw(rng, 0.0), draw(rng, 20.0)])[:, None]
    features = KernelFeatures(kernel, points)
    features = features if relative_to == NORMS else features.residuals()
    low, high = distance(features, pair_of(50, 50), relative_to).interval(0.95)
    foreign = 1.0 - 0.025 ** (1.0 / 50.0)
    remaining = 1.0 - foreign if relative_to == NORMS else (1.0 - foreign) ** 2
    assert 0.8 < low < remaining + 0.005 and high > 0.999


def test_an_interval_by_few_rows_shows_no_equivalence():
    assert np.isnan(Estimate(1.0, 0.0, 0.0, 50, event=0.02).below(0.5)).all()
