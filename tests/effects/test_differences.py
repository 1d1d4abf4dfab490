"""Differences of means and medians, and adjusted effects: slow twins, peers, and coverage."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.regression.linear_model import OLS

import naive_effects as naive
from shrinktest.effects.differences import (
    Adjustment,
    SampleContrast,
    adjusted_area,
    difference_of_medians,
)
from shrinktest.effects.row_units import RowUnits

RNG = np.random.default_rng(5)
M, N = 14, 19
VALUES = RNG.normal(size=M + N) + np.repeat([0.0, 0.7], [M, N])
SECOND = np.repeat([0, 1], [M, N])
BLOCKS = np.concatenate([np.arange(M) % 4, np.arange(N) % 5])
Z = RNG.normal(size=(M + N, 2)) + 0.5 * SECOND[:, None]
ROWS = RowUnits.rows((M, N))
GROUPS = RowUnits((M, N), np.concatenate([np.arange(M) // 2, 7 + np.arange(N) // 3]))


def test_without_adjustment_it_is_the_test_of_welch():
    expected = stats.ttest_ind(VALUES[M:], VALUES[:M], equal_var=False).confidence_interval(0.9)
    value, low, high = SampleContrast(ROWS).estimate(VALUES, 0.9)
    assert value == pytest.approx(VALUES[M:].mean() - VALUES[:M].mean())
    assert (low, high) == pytest.approx((expected.low, expected.high))


def test_pairs_are_the_paired_test():
    pairs = RowUnits.rows((M, M), paired=True)
    expected = stats.ttest_rel(VALUES[M : 2 * M], VALUES[:M]).confidence_interval(0.95)
    _, low, high = SampleContrast(pairs).estimate(VALUES[: 2 * M], 0.95)
    assert (low, high) == pytest.approx((expected.low, expected.high))


def test_pairs_as_blocks_are_the_paired_test_too():
    blocks = Adjustment("blocks", blocks=np.arange(2 * M) % M)
    expected = stats.ttest_rel(VALUES[M : 2 * M], VALUES[:M]).confidence_interval(0.95)
    _, low, high = SampleContrast(RowUnits.rows((M, M)), blocks).estimate(VALUES[: 2 * M], 0.95)
    assert (low, high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("units", [ROWS, GROUPS], ids=["rows", "groups"])
@pytest.mark.parametrize(
    ("blocks", "z"), [(None, None), (BLOCKS, None), (None, Z), (BLOCKS, Z)], ids=str
)
def test_it_is_its_slow_twin(units, blocks, z):
    expected = naive.sample_coefficient(
        VALUES,
        SECOND,
        units.codes,
        np.zeros(M + N) if blocks is None else blocks,
        np.empty((M + N, 0)) if z is None else z,
        0.95,
    )
    given = None if blocks is None and z is None else Adjustment("it", blocks, z)
    assert SampleContrast(units, given).estimate(VALUES, 0.95) == pytest.approx(expected)


def test_covariates_are_those_of_least_squares():
    design = np.column_stack([SECOND, np.ones(M + N), Z])
    fitted = OLS(VALUES, design).fit(cov_type="HC2")
    value, low, high = SampleContrast(ROWS, Adjustment("z", covariates=Z)).estimate(VALUES, 0.95)
    assert value == pytest.approx(fitted.params[0])
    degrees = stats.t.isf(0.025, [5.0, 60.0]) * fitted.bse[0]
    assert degrees[1] < high - value < degrees[0] and value - low == pytest.approx(high - value)


@pytest.mark.parametrize("factor", [1e-200, 1.0, 1e200])
def test_units_of_numbers_do_not_matter(factor):
    given = Adjustment("it", blocks=BLOCKS)
    expected = SampleContrast(ROWS, given).estimate(VALUES, 0.95)
    scaled = SampleContrast(ROWS, given).estimate(factor * VALUES, 0.95)
    assert np.array(scaled) / factor == pytest.approx(np.array(expected))


def test_what_is_not_identified_has_no_estimate():
    apart = Adjustment("blocks", blocks=SECOND)
    assert all(map(math.isnan, SampleContrast(ROWS, apart).estimate(VALUES, 0.95)))
    assert all(map(math.isnan, adjusted_area(VALUES, SampleContrast(ROWS, apart), 0.95)))
    few = SampleContrast(RowUnits.rows((4, N))).estimate(VALUES[: 4 + N], 0.95)
    assert math.isfinite(few[0]) and math.isnan(few[1])


def test_medians_are_their_slow_twin():
    x, y = VALUES[:M], VALUES[M:]
    value, low, high = difference_of_medians(x, y, ROWS, 0.95)
    assert value == pytest.approx(np.median(y) - np.median(x))
    assert (low, high) == pytest.approx(naive.median_limits(x, y, stats.norm.isf(0.025)), rel=0.01)
    _, down, up = difference_of_medians(y, x, RowUnits.rows((N, M)), 0.95)
    assert (down, up) == pytest.approx((-high, -low))


def test_repeated_rows_in_groups_say_nothing_new():
    x, y = np.repeat(VALUES[:M], 3), np.repeat(VALUES[M:], 3)
    codes = np.repeat(np.arange(M + N), 3)
    groups = RowUnits((3 * M, 3 * N), codes)
    single = difference_of_medians(VALUES[:M], VALUES[M:], ROWS, 0.95)
    value, low, high = difference_of_medians(x, y, groups, 0.95)
    assert value == pytest.approx(single[0])
    assert high - low == pytest.approx(single[2] - single[1], rel=0.25)
    expected = SampleContrast(ROWS).estimate(VALUES, 0.95)
    grouped = SampleContrast(groups).estimate(np.concatenate([x, y]), 0.95)
    assert grouped == pytest.approx(expected)


def test_areas_within_blocks_are_those_of_pairs_within_blocks():
    rounded = np.round(VALUES, 1)
    contrast = SampleContrast(ROWS, Adjustment("blocks", blocks=BLOCKS))
    value, low, high = adjusted_area(rounded, contrast, 0.95)
    assert value == pytest.approx(
        naive.area_within(rounded[:M], rounded[M:], BLOCKS[:M], BLOCKS[M:])
    )
    assert low < value < high


def test_areas_given_covariates_are_those_of_values_less_their_slopes():
    slopes = np.linalg.lstsq(np.column_stack([SECOND, np.ones(M + N), Z]), VALUES, rcond=None)[0]
    left = VALUES - Z @ slopes[2:]
    contrast = SampleContrast(ROWS, Adjustment("z", covariates=Z))
    value, low, high = adjusted_area(VALUES, contrast, 0.95)
    assert value == pytest.approx(np.mean(left[:M, None] < left[M:]))
    constant = Adjustment("z", covariates=np.ones((M + N, 1)))
    plain = adjusted_area(VALUES, SampleContrast(ROWS, constant), 0.95)
    assert plain == pytest.approx(adjusted_area(VALUES, SampleContrast(ROWS), 0.95))
    assert high - low > 0.9 * (plain[2] - plain[1])


@pytest.mark.parametrize("adjusted", [False, True])
def test_intervals_cover(adjusted):
    rng = np.random.default_rng(3)
    z = rng.normal(size=(60, 1)) + np.repeat([0.0, 0.8], 30)[:, None]
    contrast = SampleContrast(RowUnits.rows((30, 30)), Adjustment("z", covariates=z))
    if not adjusted:
        contrast = SampleContrast(RowUnits.rows((30, 30)))
    truth = 0.5
    covered = 0
    for _ in range(400):
        values = rng.normal(size=60) * np.repeat([1.0, 2.0], 30) + np.repeat([0.0, truth], 30)
        _, low, high = contrast.estimate(values + adjusted * z[:, 0], 0.95)
        covered += low <= truth <= high
    assert covered >= stats.binom.ppf(1e-4, 400, 0.95)


def test_dates_are_in_days():
    days = pd.to_datetime(["2024-03-01", "2024-03-03", "2024-03-05"] * 5)
    from test_changes import changed

    differences = {change.what: change for change in changed(days, days + pd.Timedelta("36h"))}
    assert differences["mean_difference"].estimate == pytest.approx(1.5)
    assert differences["median_difference"].estimate == pytest.approx(1.5)
