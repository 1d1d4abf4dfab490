"""Separability and the intervals of effects: by hand, by simulation, and at their limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

import naive_closer
import naive_effects
from cases import by_coordinates
from shrinktest import FKMSE, KME, MKME, SKMSE, TSVD, Gaussian, Landweber, two_sample_test
from shrinktest.effects.columns import difference_of_shares, larger, ratio_of_widths
from shrinktest.effects.row_units import RowUnits
from shrinktest.effects.separability import (
    Area,
    CrossFit,
    combine_scores,
    comparisons,
    fold_codes,
    roc_area,
)
from shrinktest.statistics.features import KernelFeatures
from shrinktest.statistics.mmd import estimates_of

RNG = np.random.default_rng(11)
M, N = 13, 17
Z = RNG.normal(size=(M + N, 2)) + np.repeat([0.0, 0.6], [M, N])[:, None]
SECOND = np.repeat([False, True], [M, N])
KERNEL = Gaussian(1.1)
DENSE = KernelFeatures(KERNEL, Z)
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
        first, second = estimates_of(
            estimator, KERNEL, [Z[rest & ~SECOND], Z[rest & SECOND]], tuning
        )
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
    test = two_sample_test(
        x, y, scale="sd", rng=0, n_resamples=99 if options.get("estimator") else 0, **options
    )
    effect = test.effect(rng=0)
    plain = two_sample_test(x, y, rng=0, n_resamples=0).effect(rng=0)
    assert (effect.auc, effect.auc_interval) == (
        pytest.approx(plain.auc),
        pytest.approx(plain.auc_interval, abs=1e-3),
    )
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
    size = (0.003 + least) / (naive_effects.hanley(value, 25, 40) + least)
    for limit in limits:
        noise = 1.0
        if value > 0.5:
            noise = 1.0 / (1.0 + 1.5 * ((limit - 0.5) / (value - 0.5)) ** 2)
        spread = np.sqrt(size * (1.0 + noise) * naive_effects.hanley(limit, 25, 40))
        assert abs(limit - value) / spread == pytest.approx(norm.ppf(0.95), rel=1e-6)
    assert limits[0] < value < limits[1]


def test_functions_are_added_up_in_units_of_their_own_by_the_evidence_for_each():
    scores = [RNG.normal(size=M + N), RNG.normal(size=M + N)]
    evidence = [np.array([1.0, 2.0, -1.0, 0.0]), np.array([3.0, -1.0, -2.0, 1.0])]
    combined = combine_scores(list(zip(scores, evidence, strict=True)), FOLDS)
    np.testing.assert_allclose(
        combine_scores([(1e6 * scores[0], evidence[0]), (1e-3 * scores[1], evidence[1])], FOLDS),
        combined,
        rtol=1e-9,
    )
    expected = np.empty(M + N)
    for k, weights in enumerate([(1.0, 9.0), (4.0, 0.0), (1.0, 1.0), (0.0, 1.0)]):
        held = k == FOLDS
        expected[held] = sum(
            w * score[held] / score[held].std() for w, score in zip(weights, scores, strict=True)
        )
    np.testing.assert_allclose(combined, expected)
    np.testing.assert_allclose(
        combine_scores([(np.ones(M + N), np.ones(4))], FOLDS), 0.0, atol=1e-12
    )


@pytest.mark.parametrize(
    "change", [lambda features: features, by_coordinates], ids=["dense", "coordinates"]
)
def test_evidence_is_the_distance_in_the_rows_of_the_other_folds(change):
    evidence = CrossFit(KME(), KERNEL, change(DENSE), Z, "fixed").evidence(SECOND, FOLDS)
    gram = DENSE.values
    for k in range(4):
        x, y = (np.flatnonzero((k != FOLDS) & part) for part in (~SECOND, SECOND))
        own = [gram[np.ix_(r, r)] for r in (x, y)]
        squared = sum(
            (block.sum() - np.trace(block)) / (len(block) * (len(block) - 1)) for block in own
        )
        squared -= 2.0 * gram[np.ix_(x, y)].mean()
        assert evidence[k] == pytest.approx(
            squared / np.sqrt(naive_effects.u_product(gram, gram)), rel=1e-8
        )


@pytest.mark.parametrize("pairs", [False, True])
def test_areas_and_their_variance_are_those_of_loops(pairs):
    """Rows of a pair are not compared with each other; some are tied."""
    second = np.repeat([False, True], [20, 20]) if pairs else SECOND
    units = np.arange(40) % 20 if pairs else np.arange(M + N)
    scores = RNG.integers(0, 6, size=len(second)) - 1.0 * second
    strata = RNG.integers(0, 3, size=units.max() + 1)[units]
    given = (scores, second, strata, *([units] if pairs else []))
    area = roc_area(scores, second, strata, units, 0.3)
    assert area.value == pytest.approx(naive_effects.area(*given)[0])
    assert area.variance == pytest.approx(naive_effects.area_variance(*given))
    won, compared, _ = comparisons(scores, second, strata)
    assert (
        compared[~second].sum()
        == compared[second].sum()
        == naive_effects.area(scores, second, strata)[1]
    )
    assert won.sum() == pytest.approx(compared[second].sum())


# --- intervals of effects: against slow twins and statsmodels, and how often they cover the truth ---

DRAWS = np.random.default_rng(3)
X, Y = DRAWS.gamma(2.0, 1.5, size=14), DRAWS.gamma(2.5, 2.0, size=11)


@pytest.mark.parametrize("digits", [9, 0])
@pytest.mark.parametrize("design", ["rows", "pairs", "groups"])
def test_ratios_of_widths_are_those_of_a_slow_computation(digits, design):
    x, y = (
        DRAWS.gamma(2.0, 1.5, size=44).round(digits),
        DRAWS.gamma(2.5, 2.0, size=(44 if design == "pairs" else 36)),
    )
    y = y.round(digits)
    of_x = np.arange(44) // (3 if design == "groups" else 1)
    of_y = of_x if design == "pairs" else 100 + np.arange(36) // (3 if design == "groups" else 1)
    units = RowUnits((len(x), len(y)), np.concatenate([of_x, of_y]), paired=design == "pairs")
    expected = np.log(naive_closer.ratio_of_widths(x, y, of_x, of_y, 0.9))
    estimate, low, high = np.log(ratio_of_widths(x, y, units, 0.9))
    assert estimate == pytest.approx(expected[0], abs=1e-12)
    # the package takes fewer points of the ellipsoid
    reaches = np.array([low - estimate, high - estimate]) / (expected[1:] - expected[0])
    assert (reaches > 0.85).all() and (reaches < 1.02).all()


#: Values with their shares, whose quantile function has a kink at a quartile.
KINKS = {
    "flag": ((0.0, 1.0), (0.5, 0.5)),
    "flag, other values": ((3.0, 1000.0), (0.52, 0.48)),
    "half zeros": ((0.0, 1.0, 2.0, 3.0), (0.5, 0.2, 0.2, 0.1)),
    "one far": ((0.0, 1.0, 500.0), (0.25, 0.25, 0.5)),
}


@pytest.mark.parametrize("kink", KINKS)
def test_ratios_of_widths_cover_where_quartiles_have_a_kink(kink):
    values, shares = KINKS[kink]
    rng = np.random.default_rng(4)
    units = RowUnits.rows((60, 60))
    held = 0
    for _ in range(60):
        x, y = (rng.choice(values, size=60, p=shares) for _ in range(2))
        _, low, high = ratio_of_widths(x, y, units, 0.95)
        held += low <= 1.0 + 1e-9 and high >= 1.0 - 1e-9
    assert held >= 55


@pytest.mark.parametrize("second", [0.5, 0.4, 0.55])
def test_a_flag_that_hardly_changed_has_no_clear_spread(second):
    """Halves of 60 rows are at the kink, where the width is largest."""
    x, y = (np.repeat([0.0, 1.0], [round(60 * (1.0 - p)), round(60 * p)]) for p in (0.5, second))
    _, low, high = ratio_of_widths(x, y, RowUnits.rows((60, 60)), 0.95)
    assert low < 0.9 and high > 1.0


def test_ratios_of_widths_of_many_smooth_values_have_the_length_of_the_delta_method():
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(2, 4000))
    _, low, high = ratio_of_widths(x, y, RowUnits.rows((4000, 4000)), 0.95)
    density, width = 0.3178, 1.349  # at a quartile, and between both, of a normal variable
    deviation = math.sqrt(2.0 * (2.0 * 0.25 * 0.75 - 2.0 * 0.25**2) / 4000.0) / density / width
    assert math.log(high / low) == pytest.approx(2.0 * 1.96 * deviation, rel=0.1)


@pytest.mark.parametrize("shift", [1e9, -1e9])
def test_numbers_far_from_zero_lose_no_digits(shift):
    units = RowUnits.rows((14, 11))
    for effect in (larger, ratio_of_widths):
        assert effect(X + shift, Y + shift, units, 0.95) == pytest.approx(
            effect(X, Y, units, 0.95), rel=1e-5
        )


@pytest.mark.parametrize(
    "x, y, estimated",
    [
        ([1.0] * 12, [1.0] * 12, False),  # no spread at all
        ([1.0] * 12, [3.0] * 12, False),
        ([1.0, 2.0, 3.0], [2.0, 3.0, 5.0], True),  # an effect and no interval
    ],
)
def test_nothing_is_claimed_where_there_is_too_little(x, y, estimated):
    estimate, low, high = ratio_of_widths(
        np.array(x), np.array(y), RowUnits.rows((len(x), len(y))), 0.95
    )
    assert math.isnan(low) and math.isnan(high) and math.isnan(estimate) != estimated


def test_a_constant_column_in_one_table_has_a_location_and_no_ratio():
    x, y, units = np.full(12, 2.0), DRAWS.normal(size=12), RowUnits.rows((12, 12))
    assert math.isfinite(larger(x, y, units, 0.95)[1]) and math.isnan(
        ratio_of_widths(x, y, units, 0.95)[0]
    )


def test_samples_apart_have_an_interval_that_ends_at_one():
    estimate, low, high = larger(
        np.arange(20.0), 100.0 + np.arange(20.0), RowUnits.rows((20, 20)), 0.95
    )
    assert estimate == high == 1.0 and 0.7 < low < 1.0


@pytest.mark.parametrize(
    "counts", [(3, 10, 9, 12), (0, 8, 0, 9), (8, 8, 0, 9), (50, 200, 80, 210), (1, 1, 0, 1)]
)
def test_shares_of_rows_have_newcombes_interval(counts):
    a, m, b, n = counts
    is_so = np.concatenate([np.arange(m) < a, np.arange(n) < b])
    expected = confint_proportions_2indep(b, n, a, m, method="newcomb", compare="diff", alpha=0.1)
    estimate, *limits = difference_of_shares(is_so, RowUnits.rows((m, n)), 0.9)
    assert estimate == pytest.approx(b / n - a / m) and limits == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_shares_of_pairs_have_newcombes_interval(seed):
    rng = np.random.default_rng(seed)
    x = rng.random(30) < 0.4
    y = np.where(rng.random(30) < 0.6, x, rng.random(30) < 0.6)
    interval = difference_of_shares(
        np.concatenate([x, y]), RowUnits.rows((30, 30), paired=True), 0.95
    )
    assert interval == pytest.approx(
        naive_closer.paired_shares(x.astype(int), y.astype(int), 0.95), abs=1e-12
    )


def test_groups_of_equal_rows_count_once():
    x, y = DRAWS.random(20) < 0.3, DRAWS.random(30) < 0.6
    single = difference_of_shares(np.concatenate([x, y]), RowUnits.rows((20, 30)), 0.95)
    codes = np.concatenate([np.repeat(np.arange(20), 4), 20 + np.repeat(np.arange(30), 4)])
    grouped = difference_of_shares(
        np.concatenate([x.repeat(4), y.repeat(4)]), RowUnits((80, 120), codes), 0.95
    )
    free = difference_of_shares(
        np.concatenate([x.repeat(4), y.repeat(4)]), RowUnits.rows((80, 120)), 0.95
    )
    assert grouped[0] == pytest.approx(single[0])
    assert grouped[2] - grouped[1] == pytest.approx(single[2] - single[1], rel=0.05)
    assert free[2] - free[1] < 0.6 * (grouped[2] - grouped[1])


def test_few_groups_and_empty_tables_have_no_interval():
    codes = np.array([0] * 5 + [1] * 5 + [2] * 10)
    estimate, low, high = difference_of_shares(
        np.arange(20) % 3 == 0, RowUnits((10, 10), codes), 0.95
    )
    assert math.isfinite(estimate) and math.isnan(low) and math.isnan(high)
    assert all(
        map(math.isnan, difference_of_shares(np.ones(4, dtype=bool), RowUnits.rows((4, 0)), 0.95))
    )


@pytest.mark.ci
@pytest.mark.parametrize("draw", ["normal", "exponential", "uniform"])
def test_intervals_cover_about_as_often_as_they_say(draw):
    rng, trials, hits = np.random.default_rng(11), 150, np.zeros(3)
    x, y = getattr(rng, draw)(size=100_000), 1.5 * np.sort(getattr(rng, draw)(size=100_000)) + 0.5
    truth = 1.0 - np.searchsorted(y, x).mean() / len(y)
    for _ in range(trials):
        x, y = getattr(rng, draw)(size=40), 1.5 * getattr(rng, draw)(size=40) + 0.5
        units = RowUnits.rows((40, 40))
        _, low, high = larger(x, y, units, 0.95)
        hits[0] += low <= truth <= high
        _, low, high = ratio_of_widths(x, y, units, 0.95)
        hits[1] += low <= 1.5 <= high
        is_so = rng.random(80) < np.repeat([0.1, 0.3], 40)
        _, low, high = difference_of_shares(is_so, units, 0.95)
        hits[2] += low <= 0.2 <= high
    assert (hits / trials >= 0.9).all() and hits[[0, 2]].max() / trials <= 0.995


@pytest.mark.ci
def test_intervals_of_pairs_and_groups_cover_where_those_of_rows_do_not():
    rng, trials, hits, lengths = np.random.default_rng(5), 100, np.zeros(3), np.zeros(2)
    for _ in range(trials):
        shared = rng.normal(size=20)
        x, y = (shared + 0.3 * rng.normal(size=20) for _ in range(2))
        paired, free = (
            larger(x, y, units, 0.95)
            for units in (RowUnits.rows((20, 20), paired=True), RowUnits.rows((20, 20)))
        )
        hits[0] += paired[1] <= 0.5 <= paired[2]
        lengths += paired[2] - paired[1], free[2] - free[1]
        x, y = np.split(np.repeat(rng.normal(size=40), 5) + 0.3 * rng.normal(size=200), 2)
        groups = RowUnits((100, 100), np.repeat(np.arange(40), 5))
        grouped, free = (larger(x, y, units, 0.95) for units in (groups, RowUnits.rows((100, 100))))
        hits[1] += grouped[1] <= 0.5 <= grouped[2]
        hits[2] += free[1] <= 0.5 <= free[2]
    share = hits / trials
    assert share[0] >= 0.89 and lengths[0] < 0.6 * lengths[1]
    assert 0.89 <= share[1] <= 0.99 and share[2] < 0.8  # without the groups far too short
