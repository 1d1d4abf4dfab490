"""Separability: folds, scores that have not seen their rows, the area under the curve and its interval."""

import numpy as np
import pytest

import naive_effects as naive
from cases import by_coordinates
from shrinktest import FKMSE, KME, MKME, SKMSE, TSVD, Gaussian, Landweber, two_sample_test
from shrinktest.effects.inner_products import InnerProducts
from shrinktest.effects.separability import (
    Area,
    CrossFit,
    combine_scores,
    comparisons,
    fold_codes,
    roc_area,
)
from shrinktest.statistics.mmd import estimates_of

RNG = np.random.default_rng(11)
M, N = 13, 17
Z = RNG.normal(size=(M + N, 2)) + np.repeat([0.0, 0.6], [M, N])[:, None]
SECOND = np.repeat([False, True], [M, N])
KERNEL = Gaussian(1.1)
DENSE = InnerProducts.of(KERNEL, Z)
FOLDS = fold_codes(np.arange(M + N), SECOND.astype(int), 4, np.random.default_rng(0))


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
    scores = CrossFit(estimator, KERNEL, DENSE, Z, tuning).scores(SECOND, FOLDS)
    for k in range(4):
        rest, held = k != FOLDS, k == FOLDS
        first, second = estimates_of(estimator, KERNEL, [Z[rest & ~SECOND], Z[rest & SECOND]], tuning)
        expected = first.embedding(Z[held]) - second.embedding(Z[held])
        np.testing.assert_allclose(scores[held], expected, rtol=1e-6, atol=1e-9)
    if estimator.by_coordinates:
        low = CrossFit(estimator, KERNEL, by_coordinates(DENSE), Z, tuning).scores(SECOND, FOLDS)
        np.testing.assert_allclose(low, scores, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "gaussian", "energy", "whitened", "auto"])
def test_rows_with_one_value_have_one_score(kernel):
    """With a column of 0 and 1 the function of any kernel has two values, and pairs of equal rows are ties."""
    rng = np.random.default_rng(12)
    x, y = ((rng.random((n, 1)) < 0.5).astype(float) for n in (40, 47))
    options = {"estimator": "auto"} if kernel == "auto" else {"kernel": kernel}
    test = two_sample_test(x, y, scale="sd", rng=0, n_resamples=99 if options.get("estimator") else 0, **options)
    effect = test.effect(rng=0)
    plain = two_sample_test(x, y, rng=0, n_resamples=0).effect(rng=0)
    assert (effect.auc, effect.auc_interval) == (pytest.approx(plain.auc), pytest.approx(plain.auc_interval, abs=1e-3))
    assert abs(effect.auc - 0.5) < 0.5 * abs(x.mean() - y.mean()) + 0.02


def test_folds_hold_whole_units_and_as_many_of_each_cell_as_can_be():
    units = np.repeat(np.arange(40), 3)
    cells = (units >= 22).astype(int)
    folds = fold_codes(units, cells, 5, np.random.default_rng(1))
    assert all(np.unique(folds[units == u]).size == 1 for u in range(40))
    for cell in (0, 1):
        counts = np.bincount(folds[cells == cell][::3], minlength=5)
        assert np.ptp(counts) <= 1
    assert not np.array_equal(folds, fold_codes(units, cells, 5, np.random.default_rng(2)))


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

    area = Area(value, 0.003, (25, 40), 0.4)
    limits = area.interval(0.9)
    least = 0.25 / 1000.0
    size = (0.003 + least) / (naive.hanley(value, 25, 40) + least)
    for limit in limits:
        noise = 1.0
        if value > 0.5:
            noise = 1.0 / (1.0 + 1.5 * ((limit - 0.5) / (value - 0.5)) ** 2)
        spread = np.sqrt(size * (1.0 + noise) * naive.hanley(limit, 25, 40))
        assert abs(limit - value) / spread == pytest.approx(norm.ppf(0.95), rel=1e-6)
    assert limits[0] < value < limits[1]


def test_functions_are_added_up_in_units_of_their_own_by_the_evidence_for_each():
    scores = [RNG.normal(size=M + N), RNG.normal(size=M + N)]
    evidence = [np.array([1.0, 2.0, -1.0, 0.0]), np.array([3.0, -1.0, -2.0, 1.0])]
    combined = combine_scores(list(zip(scores, evidence, strict=True)), FOLDS)
    np.testing.assert_allclose(
        combine_scores([(1e6 * scores[0], evidence[0]), (1e-3 * scores[1], evidence[1])], FOLDS), combined, rtol=1e-9
    )
    expected = np.empty(M + N)
    for k, weights in enumerate([(1.0, 9.0), (4.0, 0.0), (1.0, 1.0), (0.0, 1.0)]):
        held = k == FOLDS
        expected[held] = sum(w * score[held] / score[held].std() for w, score in zip(weights, scores, strict=True))
    np.testing.assert_allclose(combined, expected)
    np.testing.assert_allclose(combine_scores([(np.ones(M + N), np.ones(4))], FOLDS), 0.0, atol=1e-12)


@pytest.mark.parametrize("change", [lambda features: features, by_coordinates], ids=["dense", "coordinates"])
def test_evidence_is_the_distance_in_the_rows_of_the_other_folds(change):
    evidence = CrossFit(KME(), KERNEL, change(DENSE), Z, "fixed").evidence(SECOND, FOLDS)
    gram = DENSE.values
    for k in range(4):
        x, y = (np.flatnonzero((k != FOLDS) & part) for part in (~SECOND, SECOND))
        own = [gram[np.ix_(r, r)] for r in (x, y)]
        squared = sum((block.sum() - np.trace(block)) / (len(block) * (len(block) - 1)) for block in own)
        squared -= 2.0 * gram[np.ix_(x, y)].mean()
        assert evidence[k] == pytest.approx(squared / np.sqrt(naive.u_product(gram, gram)), rel=1e-8)


@pytest.mark.parametrize("pairs", [False, True])
def test_areas_and_their_variance_are_those_of_loops(pairs):
    """Rows of a pair are not compared with each other; some are tied."""
    second = np.repeat([False, True], [20, 20]) if pairs else SECOND
    units = np.arange(40) % 20 if pairs else np.arange(M + N)
    scores = RNG.integers(0, 6, size=len(second)) - 1.0 * second
    strata = RNG.integers(0, 3, size=units.max() + 1)[units]
    given = (scores, second, strata, *([units] if pairs else []))
    area = roc_area(scores, second, strata, units, 0.3)
    assert area.value == pytest.approx(naive.area(*given)[0])
    assert area.variance == pytest.approx(naive.area_variance(*given))
    won, compared, _ = comparisons(scores, second, strata)
    assert compared[~second].sum() == compared[second].sum() == naive.area(scores, second, strata)[1]
    assert won.sum() == pytest.approx(compared[second].sum())
