"""The distance of two samples from 0 to 1: against slow twins, by every route, and its interval."""

import numpy as np
import pytest
from scipy import stats

import naive_effects as naive
from shrinktest import Gaussian
from shrinktest.effects.distance import NORMS, VARIANCE, Sides, distance
from shrinktest.effects.inner_products import InnerProducts, never_negative
from shrinktest.effects.interval import FEWEST, Estimate, by_leaving_out
from shrinktest.kernels import Energy, Laplacian, Linear, Rescaled, Whitened

RNG = np.random.default_rng(3)
M, N = 7, 9
Z = RNG.normal(size=(M + N, 2)) + np.repeat([0.0, 0.7], [M, N])[:, None]
KERNEL = Gaussian(1.3)
DENSE = InnerProducts.of(KERNEL, Z)
GRAM = DENSE.values
ROWS = Sides((np.arange(M), np.arange(N)))


def by_coordinates(features):
    values, vectors = np.linalg.eigh(features.values)
    return InnerProducts(vectors * np.sqrt(np.maximum(values, 0.0)), True)


ROUTES = {"dense": DENSE, "coordinates": by_coordinates(DENSE)}
ONES = np.full(M, 1.0 / M), np.full(N, 1.0 / N)


def without(k, own=()):
    """Shares without row k of the pooled sample."""
    keep = np.delete(np.arange(M + N), k)
    m = M - (k < M)
    return naive.shares(
        GRAM[np.ix_(keep, keep)], np.full(m, 1.0 / m), np.full(M + N - 1 - m, 1.0 / (M + N - 1 - m)), own
    )


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(("relative", "which"), [(NORMS, 0), (VARIANCE, 1)])
def test_value_and_variance_are_those_of_loops(route, relative, which):
    found = distance(ROUTES[route], ROWS, relative)
    assert found.value == pytest.approx(naive.shares(GRAM, *ONES)[which], rel=1e-10)
    left = [without(k)[which] for k in range(M + N)]
    expected = naive.jackknife(left[:M]) + naive.jackknife(left[M:])
    assert found.jackknife == pytest.approx(expected, rel=1e-9)
    mean = GRAM - np.diag(np.diag(GRAM))
    a, b = mean[:M, :M].sum() / (M * (M - 1)), mean[M:, M:].sum() / (N * (N - 1))
    unit = a + b if which == 0 else 4.0 * (1.0 - (a + b + 2.0 * GRAM[:M, M:].mean()) / 4.0)
    assert found.second == pytest.approx(naive.second_order(GRAM, *ONES) / unit**2, rel=1e-8)
    assert found.units == M


@pytest.mark.parametrize("route", ["dense", "coordinates"])
def test_pairs_do_not_count_with_themselves_and_leave_together(route):
    size = M
    gram = GRAM[: 2 * size, : 2 * size]
    features = InnerProducts(gram, False) if route == "dense" else by_coordinates(InnerProducts(gram, False))
    found = distance(features, Sides((np.arange(size), np.arange(size)), linked=True), NORMS)
    ones = np.full(size, 1.0 / size)
    own = {(i, size + i) for i in range(size)}
    assert found.value == pytest.approx(naive.shares(gram, ones, ones, own)[0], rel=1e-10)
    left = []
    for k in range(size):
        keep = np.delete(np.arange(2 * size), [k, size + k])
        fewer = np.full(size - 1, 1.0 / (size - 1))
        own = {(i, size - 1 + i) for i in range(size - 1)}
        left.append(naive.shares(gram[np.ix_(keep, keep)], fewer, fewer, own)[0])
    assert found.jackknife == pytest.approx(naive.jackknife(left), rel=1e-9)
    x, y = slice(0, size), slice(size, None)
    apart = gram[x, x] + gram[y, y] - gram[x, y] - gram[y, x]
    off = gram - np.diag(np.diag(gram))
    unit = (off[x, x].sum() + off[y, y].sum()) / (size * (size - 1))
    second = 2.0 * naive.u_product(apart, apart) / (size * (size - 1)) / unit**2
    assert found.second == pytest.approx(second, rel=1e-8)


def test_rows_of_a_group_do_not_count_with_each_other():
    codes = np.array([0, 0, 1, 1, 1, 2, 3]), np.array([0, 1, 1, 2, 2, 3, 3, 4, 4])
    found = distance(DENSE, Sides(codes), NORMS)
    own = {(i, j) for i in range(M) for j in range(M) if codes[0][i] == codes[0][j]}
    own |= {(M + i, M + j) for i in range(N) for j in range(N) if codes[1][i] == codes[1][j]}
    assert found.value == pytest.approx(naive.shares(GRAM, *ONES, own)[0], rel=1e-10)
    assert found.units == 4
    left = []
    for side, start in ((0, 0), (1, M)):
        parts = []
        for k in range(int(codes[side].max()) + 1):
            gone = start + np.flatnonzero(codes[side] == k)
            keep = np.delete(np.arange(M + N), gone)
            where = {old: new for new, old in enumerate(keep)}
            inside = {(where[i], where[j]) for i, j in own if i in where and j in where}
            m = int((keep < M).sum())
            fewer = np.full(m, 1.0 / m), np.full(len(keep) - m, 1.0 / (len(keep) - m))
            parts.append(naive.shares(GRAM[np.ix_(keep, keep)], *fewer, inside)[0])
        left.append(naive.jackknife(parts))
    assert found.jackknife == pytest.approx(sum(left), rel=1e-9)
    assert distance(ROUTES["coordinates"], Sides(codes), NORMS).second == pytest.approx(found.second, rel=1e-8)
    shares = [np.bincount(code) / len(code) for code in codes]
    every = np.concatenate([codes[0], 4 + codes[1]])
    over = (every == np.arange(9)[:, None]) / np.bincount(every)[:, None]  # from rows to means of groups
    means = over @ GRAM @ over.T
    parts = means[:4, :4], means[4:, 4:]
    unit = sum((p @ part @ p - p**2 @ np.diag(part)) / (1.0 - p @ p) for p, part in zip(shares, parts, strict=True))
    assert found.second == pytest.approx(naive.second_order(means, *shares) / unit**2, rel=1e-8)


@pytest.mark.parametrize("route", ["dense", "coordinates"])
@pytest.mark.parametrize("design", ["rows", "pairs", "groups"])
def test_shares_of_variance_count_the_lengths_of_the_rows_that_are_there(design, route):
    """A kernel whose rows are of unlike lengths, which leave with their unit; those of a group count each by itself."""
    m, n = (M, M) if design == "pairs" else (M, N)
    lines = InnerProducts.of(Linear(), Z[: m + n] * [1.0, 3.0] + 1.0).centred()
    gram = lines.dense().values
    units = (np.array([0, 0, 1, 1, 1, 2, 3]), np.array([0, 1, 1, 2, 2, 3, 3, 4, 4]))
    codes = units if design == "groups" else (np.arange(m), np.arange(n))
    features = lines if route == "coordinates" else lines.dense()
    found = distance(features, Sides(codes, linked=design == "pairs"), VARIANCE)
    leaving = np.concatenate([codes[0], codes[1] + (0 if design == "pairs" else codes[0].max() + 1)])

    def share(keep):
        first = int((keep < m).sum())
        size = len(keep)
        own = {(i, j) for i in range(size) for j in range(size) if leaving[keep[i]] == leaving[keep[j]]}
        equal = np.full(first, 1.0 / first), np.full(size - first, 1.0 / (size - first))
        return naive.shares(gram[np.ix_(keep, keep)], *equal, own)[1]

    assert found.value == pytest.approx(share(np.arange(m + n)), rel=1e-9)
    left = [share(np.flatnonzero(leaving != one)) for one in range(leaving.max() + 1)]
    split = len(left) if design == "pairs" else int(codes[0].max()) + 1
    expected = sum(naive.jackknife(part) for part in (left[:split], left[split:]) if part)
    assert found.jackknife == pytest.approx(expected, rel=1e-8)


def test_blocks_count_as_if_both_samples_had_them_in_the_same_shares():
    blocks = np.array([0, 0, 0, 1, 1, 1, 2]), np.array([0, 0, 1, 1, 1, 1, 1, 1, 3])
    sides = Sides((np.arange(M), np.arange(N)), blocks)
    p, q = sides.weights()
    for k in (0, 1):
        assert p[blocks[0] == k].sum() == pytest.approx(q[blocks[1] == k].sum())
    assert p[blocks[0] == 2].sum() == 0.0 == q[blocks[1] == 3].sum() and p.sum() == pytest.approx(1.0)
    assert distance(DENSE, sides, NORMS).units == 6
    # one block that is far away, and in one sample more often, is no difference
    far = np.repeat([0.0, 50.0, 0.0, 50.0], [30, 10, 10, 30])[:, None] + RNG.normal(size=(80, 1))
    labels = np.repeat([0, 1], [30, 10]), np.repeat([0, 1], [10, 30])
    features = InnerProducts.of(Gaussian(5.0), far)
    rows = np.arange(40), np.arange(40)
    assert distance(features, Sides(rows), NORMS).value > 0.2
    found = distance(features, Sides(rows, labels), NORMS)
    # within blocks, pairs of different rows; across, all of them
    gram, inside = features.values, [np.flatnonzero(far[:, 0] < 25.0), np.flatnonzero(far[:, 0] > 25.0)]
    norms = []
    for sample in (np.arange(40), np.arange(40, 80)):
        parts = [np.intersect1d(sample, rows) for rows in inside]
        own = [gram[np.ix_(r, r)] for r in parts]
        means = [(one.sum() - np.trace(one)) / (len(one) * (len(one) - 1)) for one in own]
        norms.append(0.25 * sum(means) + 0.5 * gram[np.ix_(*parts)].mean())
    cross = 0.25 * sum(gram[np.ix_(*(np.intersect1d(s, r) for s in (np.arange(40), np.arange(40, 80))))].mean()
                       for r in inside)  # fmt: skip
    assert found.value == pytest.approx(1.0 - 2.0 * cross / sum(norms), rel=1e-9)
    assert distance(by_coordinates(features), Sides(rows, labels), NORMS).value == pytest.approx(found.value, rel=1e-6)
    assert abs(found.value) < 0.02
    lonely = np.arange(40), np.arange(40)
    assert np.isnan(distance(features, Sides(rows, lonely), NORMS).interval(0.95)).all()


@pytest.mark.parametrize("size", [400, 4000])
def test_the_share_of_variance_of_a_linear_kernel_is_that_of_analysis_of_variance(size):
    """Of samples of one size; of others it is that of as many of each."""
    x, y = RNG.normal(size=400), RNG.normal(0.8, 1.0, size=size)
    features = InnerProducts.of(Linear(), np.concatenate([x, y])[:, None]).centred()
    found = distance(features, Sides((np.arange(400), np.arange(size))), VARIANCE)
    between = (x.mean() - y.mean()) ** 2 / 4.0
    assert found.value == pytest.approx(between / (between + (x.var() + y.var()) / 2.0), abs=3e-3)


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (Gaussian(1.0), True),
        (Rescaled(Laplacian(1.0), "sd"), True),
        (2.0 * Gaussian(1.0) + Gaussian(2.0) * Laplacian(1.0), True),
        (Gaussian(1.0) + Linear(), False),
        (Energy(), False),
        (Whitened(Gaussian(1.0)), False),
    ],
)
def test_which_kernels_are_never_negative(kernel, expected):
    assert never_negative(kernel) is expected
    values = kernel.resolve(Z)(Z)
    assert (values.min() >= 0.0) or not expected


# --- the interval -----------------------------------------------------------------------------------------------


def test_limits_are_as_many_standard_deviations_away_as_the_confidence_says():
    from scipy.stats import t

    found = Estimate(0.12, 0.004, 0.0005, 30)
    low, high = found.interval(0.9)
    slope = (0.004 - 0.001 + 0.001) / (0.12 + np.sqrt(0.001))
    for limit in (low, high):
        assert abs(limit - 0.12) / np.sqrt(0.0005 + slope * limit) == pytest.approx(t.ppf(0.95, 29))
    assert found.interval(0.99)[0] < low < 0.12 < high < found.interval(0.99)[1]


@pytest.mark.parametrize("confidence", [0.95, 0.99, 0.999])
def test_lower_limits_are_above_zero_as_often_as_the_square_of_a_normal_variable_allows(confidence):
    """Where nothing differs a linear kernel in one column has such a square; no more of these are above zero."""
    for share, above in ((confidence - 1e-4, False), (confidence + 1e-4, True)):
        value = (stats.chi2(1).ppf(share) - 1.0) / np.sqrt(2.0)
        low, _ = Estimate(1e-3 * value, 2e-6, 1e-6, 10_000).interval(confidence)
        assert (low > 0.0) == above


def test_intervals_stay_within_the_scale_and_claim_nothing_without_data():
    assert Estimate(0.01, 0.004, 0.002, 30).interval(0.95)[0] == 0.0
    assert Estimate(0.97, 0.04, 0.002, 30).interval(0.95)[1] == 1.0
    assert np.isnan(Estimate(0.1, 0.004, 0.001, FEWEST - 1).interval(0.95)).all()
    assert np.isnan(Estimate(0.1, np.nan, 0.001, 30).interval(0.95)).all()
    assert np.isnan(Estimate(0.0, 0.0, 0.0, 30).interval(0.95)).all()
    assert Estimate(0.1, 0.001, 0.002, 30).chance == 1.0 and 0.0 < Estimate(0.1, 0.01, 0.002, 30).chance < 1.0


def test_leaving_out_within_cells():
    """Sums of means of cells: their variance is that of stratified samples, from what is left without each unit."""
    values, cells = RNG.normal(size=9), np.array([0, 0, 0, 1, 1, 2, 2, 2, 2])
    sizes, weight = np.bincount(cells), np.array([0.3, 0.5, 0.2])
    expected = sum(weight[k] ** 2 * np.var(values[cells == k], ddof=1) / sizes[k] for k in range(3))
    without = -(weight / sizes)[cells] * values
    assert by_leaving_out(without, cells) == pytest.approx(expected)
    assert by_leaving_out(values) == pytest.approx(naive.jackknife(values))


@pytest.mark.parametrize("blocks", [(20, 2, 2), (10, 2, 10), (2, 6, 6)], ids=["small", "unequal", "few"])
def test_distances_within_blocks_vary_as_their_variance_says(blocks):
    """Blocks of few rows: the standard deviation of the estimates, and the mean of those that the intervals take."""
    count, m, n = blocks
    rng, found = np.random.default_rng(0), []
    cells = np.repeat(np.arange(count), m), np.repeat(np.arange(count), n)
    sides = Sides((np.arange(count * m), np.arange(count * n)), cells)
    for _ in range(300):
        x, y = (rng.normal(size=(one.size, 1)) + shift for one, shift in zip(cells, (0.0, 1.5), strict=True))
        found.append(distance(InnerProducts.of(Gaussian(1.0), np.vstack([x, y])), sides, NORMS))
    spread = np.var([one.value for one in found])
    used = np.mean([one.first + one.second for one in found])
    assert 0.75 < used / spread < 1.6
