"""Separability: folds, scores that have not seen their rows, the area under the curve and its interval."""

import numpy as np
import pytest

import naive_effects as naive
from shrinktest import FKMSE, KME, MKME, SKMSE, TSVD, Gaussian, Landweber, equivalence_test, two_sample_test
from shrinktest.effects.inner_products import InnerProducts
from shrinktest.effects.separability import FEWEST, Area, Fit, _apart, area_of, combined, comparisons, fold_codes
from shrinktest.statistics.mmd import estimates_of

RNG = np.random.default_rng(11)
M, N = 13, 17
Z = RNG.normal(size=(M + N, 2)) + np.repeat([0.0, 0.6], [M, N])[:, None]
SECOND = np.repeat([False, True], [M, N])
KERNEL = Gaussian(1.1)
DENSE = InnerProducts.of(KERNEL, Z)
FOLDS = fold_codes(np.arange(M + N), SECOND.astype(int), 4, np.random.default_rng(0))


def by_coordinates(features):
    values, vectors = np.linalg.eigh(features.values)
    return InnerProducts(vectors * np.sqrt(np.maximum(values, 0.0)), True)


@pytest.mark.parametrize(
    ("estimator", "tuning"),
    [
        (KME(), "fixed"),
        (SKMSE(), "sample"),
        (SKMSE(), "joint"),
        (FKMSE(), "sample"),
        (FKMSE(lam=0.2), "fixed"),
        (TSVD(m=3), "fixed"),
        (Landweber(t=4), "fixed"),
        (MKME(), "sample"),
    ],
    ids=repr,
)
def test_scores_are_those_of_functions_fitted_to_the_other_folds(estimator, tuning):
    found = Fit(estimator, KERNEL, DENSE, Z, tuning).scores(SECOND, FOLDS)
    for k in range(4):
        rest, held = k != FOLDS, k == FOLDS
        one, other = estimates_of(estimator, KERNEL, [Z[rest & ~SECOND], Z[rest & SECOND]], tuning)
        expected = one.embedding(Z[held]) - other.embedding(Z[held])
        np.testing.assert_allclose(found[held], expected, rtol=1e-6, atol=1e-9)
    if estimator.by_coordinates:
        low = Fit(estimator, KERNEL, by_coordinates(DENSE), Z, tuning).scores(SECOND, FOLDS)
        np.testing.assert_allclose(low, found, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "gaussian", "energy", "whitened", "auto"])
def test_rows_with_one_value_have_one_score(kernel):
    """A column of 0 and 1: whatever the kernel, its function has two values, and the pairs of equal rows are ties."""
    rng = np.random.default_rng(12)
    x, y = ((rng.random((n, 1)) < 0.5).astype(float) for n in (40, 47))
    told = {"estimator": "auto"} if kernel == "auto" else {"kernel": kernel}
    test = two_sample_test(x, y, scale="sd", rng=0, n_resamples=99 if told.get("estimator") else 0, **told)
    effect = test.effect(rng=0)
    plain = two_sample_test(x, y, rng=0, n_resamples=0).effect(rng=0)
    assert (effect.auc, effect.auc_interval) == (pytest.approx(plain.auc), pytest.approx(plain.auc_interval, abs=1e-3))
    assert abs(effect.auc - 0.5) < 0.5 * abs(x.mean() - y.mean()) + 0.02


@pytest.mark.parametrize("estimator", [KME(), FKMSE(), TSVD(m=1), MKME()], ids=repr)
def test_functions_that_are_rounding_tell_nothing_apart(estimator):
    """Both samples have the same rows: every function of all folds but one is as good as none."""
    points = np.repeat([0.0, 1.0, 3.0], 4)[:, None] + 1e3
    both, second, folds = np.vstack([points, points]), np.repeat([False, True], 12), np.tile(np.arange(4), 6)
    scores = Fit(estimator, KERNEL, InnerProducts.of(KERNEL, both), both, "sample").scores(second, folds)
    assert (scores == 0.0).all()


def test_scores_that_differ_by_a_billionth_of_the_largest_are_ties():
    """Also where rounding by itself would make them differ by less; what differs by more is left as it is."""
    scores = np.array([2.0, 1.0, 2.0 - 1e-9, -1.0, 1.0 + 1e-9, 1.0 + 4e-9])
    np.testing.assert_array_equal(_apart(scores, 1.0), [2.0 - 1e-9, 1.0, 2.0 - 1e-9, -1.0, 1.0, 1.0 + 4e-9])


def test_folds_hold_whole_units_and_as_many_of_each_cell_as_can_be():
    units = np.repeat(np.arange(40), 3)
    cells = (units >= 22).astype(int)
    folds = fold_codes(units, cells, 5, np.random.default_rng(1))
    assert all(np.unique(folds[units == u]).size == 1 for u in range(40))
    for cell in (0, 1):
        counts = np.bincount(folds[cells == cell][::3], minlength=5)
        assert np.ptp(counts) <= 1
    assert not np.array_equal(folds, fold_codes(units, cells, 5, np.random.default_rng(2)))


@pytest.mark.parametrize("rows", [(2, 2), (2, 10), (3, 7), (1, 1)])
def test_both_samples_of_a_block_are_in_the_same_folds(rows):
    """As far as they go; folds have about as many rows, and what is compared is what all folds allow."""
    least, blocks = min(rows), np.repeat(np.arange(20), sum(rows))
    second = np.tile(np.repeat([False, True], rows), 20)
    folds = fold_codes(np.arange(second.size), 2 * blocks + second, 5, np.random.default_rng(0), together=2)
    for block in range(20):
        one, other = (np.unique(folds[(blocks == block) & part]) for part in (~second, second))
        assert np.intersect1d(one, other).size == min(least, 5)
    assert all(np.ptp(np.bincount(folds[part], minlength=5)) <= 20 * part.mean() / 2 + 1 for part in (~second, second))


def test_small_blocks_have_an_area():
    rng, blocks = np.random.default_rng(0), np.repeat(np.arange(20), 2)
    x, y = rng.normal(size=40), rng.normal(1.5, size=40)
    effect = two_sample_test(x, y, blocks=(blocks, blocks), n_resamples=0).effect()
    assert 0.7 < effect.auc < 1.0 and not np.isnan(effect.auc_interval).any()
    found = equivalence_test(x, y, margin=0.6, measure="auc", blocks=(blocks, blocks))
    assert found.folds == 5 and found.estimate > 0.7


def test_areas_and_their_variance_are_those_of_loops():
    scores = RNG.integers(0, 6, size=M + N) - SECOND  # with ties
    strata = RNG.integers(0, 3, size=M + N)
    found = area_of(scores.astype(float), SECOND, strata, np.arange(M + N), 0.3)
    assert found.value == pytest.approx(naive.area(scores, SECOND, strata)[0])
    assert found.variance == pytest.approx(naive.area_variance(scores, SECOND, strata))
    assert found.units == (M, N) and found.chance == 0.3
    won, compared = comparisons(scores.astype(float), SECOND, strata)
    assert compared[~SECOND].sum() == compared[SECOND].sum() == naive.area(scores, SECOND, strata)[1]
    assert won[~SECOND].sum() + won[SECOND].sum() == pytest.approx(compared[SECOND].sum())


def test_units_that_are_compared_with_none_are_not_counted():
    strata = np.where(np.arange(M + N) < 3, 7, 0)  # where no row of the second sample is
    assert area_of(RNG.normal(size=M + N), SECOND, strata, np.arange(M + N), 0.3).units == (M - 3, N)


def test_an_area_over_one_stratum_is_that_of_scipy():
    from scipy.stats import mannwhitneyu

    scores = RNG.normal(size=M + N)
    found = area_of(scores, SECOND, np.zeros(M + N, dtype=int), np.arange(M + N), 0.0)
    assert found.value == pytest.approx(mannwhitneyu(scores[~SECOND], scores[SECOND]).statistic / (M * N))


def test_units_add_up_their_rows():
    scores = RNG.normal(size=20) + np.repeat([0.5, 0.0], 10)
    second = np.repeat([False, True], 10)
    one = np.zeros(20, dtype=int)
    alone = area_of(scores, second, one, np.arange(20), 0.0)
    tripled = area_of(np.repeat(scores, 3), np.repeat(second, 3), np.repeat(one, 3), np.repeat(np.arange(20), 3), 0.0)
    assert tripled.value == pytest.approx(alone.value) and tripled.units == (10, 10)
    assert tripled.variance == pytest.approx(alone.variance, rel=0.05)


def test_rows_of_a_pair_are_not_compared_with_each_other():
    scores = RNG.integers(0, 6, size=40).astype(float)  # with ties, some of them within pairs
    second, pairs = np.repeat([False, True], 20), np.arange(40) % 20
    strata = RNG.integers(0, 3, size=20)[pairs]
    found = area_of(scores, second, strata, pairs, 0.3)
    assert found.value == pytest.approx(naive.area(scores, second, strata, pairs)[0]) and found.units == (20, 20)
    assert found.variance == pytest.approx(naive.area_variance(scores, second, strata, pairs))
    assert found.value != pytest.approx(naive.area(scores, second, strata)[0])


@pytest.mark.parametrize("pairs", [5, 6, 9, 20])
@pytest.mark.parametrize("folds", [None, 25])
def test_few_pairs_in_many_folds_are_compared(pairs, folds):
    x = RNG.normal(size=pairs)
    effect = two_sample_test(x, x + 2.0 + RNG.normal(size=pairs), paired=True, n_resamples=0).effect(folds=folds)
    assert 0.0 <= effect.auc <= 1.0 and not np.isnan(effect.auc_interval).any()
    assert not any("do not tell rows from each other" in note for note in effect.notes)


def test_pairs_that_resemble_each_other_have_an_interval_that_holds_the_area():
    """Rows of a pair in the same order as themselves in every data set: they say nothing of rows of different pairs."""
    held, areas = 0, []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=40)
        y = 0.97 * x + 0.97 * (1.0 - 0.97**2) ** 0.5 * rng.normal(size=40) + 0.5
        given = {"kernel": "linear", "scale": None, "n_resamples": 0, "workers": 1, "rng": seed}
        effect = two_sample_test(x, y, paired=True, **given).effect()
        held += effect.auc_interval[0] <= 0.638 <= effect.auc_interval[1]
        areas.append(effect.auc)
    assert held >= 34 and abs(np.mean(areas) - 0.638) < 0.012  # with pairs compared .67


@pytest.mark.parametrize("value", [0.5, 0.62, 0.9, 0.44])
def test_limits_are_as_many_standard_deviations_away_as_the_confidence_says(value):
    from scipy.stats import norm

    found = Area(value, 0.003, (25, 40), 0.4)
    limits = found.interval(0.9)
    least = 0.25 / 1000.0
    size = (0.003 + least) / (naive.hanley(value, 25, 40) + least)
    for limit in limits:
        noise = 1.0
        if value > 0.5:
            noise = 1.0 / (1.0 + 1.5 * ((limit - 0.5) / (value - 0.5)) ** 2)
        spread = np.sqrt(size * (1.0 + noise) * naive.hanley(limit, 25, 40))
        assert abs(limit - value) / spread == pytest.approx(norm.ppf(0.95), rel=1e-6)
    assert limits[0] < value < limits[1]


def test_intervals_at_the_ends_of_the_scale_and_without_data():
    low, high = Area(1.0, 0.0, (20, 20), 0.01).interval(0.95)
    assert 0.6 < low < 1.0 == high
    narrow = Area(0.731, 1e-7, (10**6, 10**6), 0.0).interval(0.95)
    assert 0.0 < narrow[1] - narrow[0] < 0.005
    assert np.isnan(Area(0.7, 0.01, (FEWEST - 1, 30), 0.1).interval(0.95)).all()
    assert np.isnan(Area(np.nan, np.nan, (20, 20), 1.0).interval(0.95)).all()
    tied = area_of(np.zeros(M + N), SECOND, np.zeros(M + N, dtype=int), np.arange(M + N), 1.0)
    assert tied.value == 0.5 and np.isnan(tied.interval(0.95)).all()


def test_functions_are_added_up_in_units_of_their_own_by_the_evidence_for_each():
    scores = [RNG.normal(size=M + N), RNG.normal(size=M + N)]
    evidence = [np.array([1.0, 2.0, -1.0, 0.0]), np.array([3.0, -1.0, -2.0, 1.0])]
    found = combined(scores, evidence, FOLDS)
    np.testing.assert_allclose(combined([1e6 * scores[0], 1e-3 * scores[1]], evidence, FOLDS), found, rtol=1e-9)
    expected = np.empty(M + N)
    for k, weights in enumerate([(1.0, 9.0), (4.0, 0.0), (1.0, 1.0), (0.0, 1.0)]):
        held = k == FOLDS
        expected[held] = sum(w * one[held] / one[held].std() for w, one in zip(weights, scores, strict=True))
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(combined([np.ones(M + N)], [np.ones(4)], FOLDS), 0.0, atol=1e-12)


@pytest.mark.parametrize("change", [lambda one: one, by_coordinates], ids=["dense", "coordinates"])
def test_evidence_is_the_distance_in_the_rows_of_the_other_folds(change):
    found = Fit(KME(), KERNEL, change(DENSE), Z, "fixed").evidence(SECOND, FOLDS)
    gram = DENSE.values
    for k in range(4):
        x, y = (np.flatnonzero((k != FOLDS) & part) for part in (~SECOND, SECOND))
        own = [gram[np.ix_(r, r)] for r in (x, y)]
        squared = sum((one.sum() - np.trace(one)) / (len(one) * (len(one) - 1)) for one in own)
        squared -= 2.0 * gram[np.ix_(x, y)].mean()
        assert found[k] == pytest.approx(squared / np.sqrt(naive.u_product(gram, gram)), rel=1e-8)
