"""Regressions on given variables, and independence by residuals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.linear_model import LinearRegression

import naive_given
from shrinktest import independence_test
from shrinktest.conditional import conditional_independence
from shrinktest.conditional.regressions import (
    Basis,
    Regressions,
    Residuals,
    Smoother,
    bounded,
    candidate_bases,
    inflation,
    neighborhoods,
    squared,
    standardized,
    tuned_smoother,
)
from shrinktest.permutations.schemes import Signs
from shrinktest.power.designs import Confounded
from shrinktest.statistics.signs import Combined

# --- regressions ---------------------------------------------------------------------------------------------------
N = 25
RNG = np.random.default_rng(0)
Z = RNG.normal(size=(N, 2))
Y = Z[:, :1] + RNG.normal(size=(N, 1))


def test_leaving_one_out_in_closed_form():
    rng = np.random.default_rng(0)
    z, y = rng.normal(size=(15, 2)), rng.normal(size=(15, 2))
    gram = naive_given.gaussian(z, 1.0)
    basis = Basis.from_gram(gram)
    fit = Smoother(basis.vectors, basis.values / (basis.values + 0.3))
    np.testing.assert_allclose(fit.residuals(y), y - naive_given.ridge(gram, y, 0.3), atol=1e-10)
    np.testing.assert_allclose(
        fit.residual_gram(y @ y.T), fit.residuals(y) @ fit.residuals(y).T, atol=1e-10
    )
    line = Smoother(Basis.from_coordinates(z - z.mean(axis=0)).vectors, np.ones(2))
    what, other = fit.residuals(np.eye(15)), line.residuals(np.eye(15))
    assert inflation(fit, line) == pytest.approx(naive_given.inflation(what, other))
    left = line.residuals(y) / (1.0 - line.own)[:, None]
    for i in range(15):
        others = np.arange(15) != i
        design = np.column_stack([np.ones(15), z])
        beta = np.linalg.lstsq(design[others], y[others], rcond=None)[0]
        np.testing.assert_allclose(left[i], y[i] - design[i] @ beta, atol=1e-10)


def test_the_regression_is_chosen_that_predicts_best_what_is_left_out():
    """Among two kernels, all amounts with which no row is its own prediction, and the mean alone."""
    chosen, binds = [], 0
    amounts = 10.0 ** np.arange(-4.0, 1.6, 0.5)
    for seed in range(16):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=(12, 1))
        noise = rng.normal(size=(12, 2)) if seed % 4 < 3 else 0.0
        y = (seed % 4) * np.hstack([0.2 * z, 0.4 * np.sin(2.0 * z)]) + noise
        grams = naive_given.gaussian(z, 0.8), z @ z.T
        left, number = naive_given.best_left(grams, y, amounts, 0.99)
        fit = tuned_smoother(list(map(Basis.from_gram, grams)), y)
        np.testing.assert_allclose(fit.residuals(y), left, atol=5e-3)
        chosen.append(number)
        if seed % 4 == 3:  # without noise
            binds += naive_given.best_left(grams, y, amounts, 2.0)[1] != number
    assert chosen.count(0) > 1 and len(set(chosen)) > 3 and binds > 0


@pytest.mark.parametrize("rows", [40, 350])
def test_lines_and_curves_are_found(rows):
    rng = np.random.default_rng(1)
    z = rng.normal(size=(rows, 2))
    for truth in (z[:, :1] - z[:, 1:], np.sin(2 * z[:, :1])):
        fit = tuned_smoother(candidate_bases(z), truth + 0.1 * rng.normal(size=truth.shape))
        assert fit.residuals(truth).std() < 0.3 * truth.std()


def by_hand(targets, learned, rows):
    """Predictions of a linear regression at some rows, from others."""
    lines = np.column_stack([np.ones(N), Z])
    return lines[rows] @ np.linalg.lstsq(lines[learned], targets[learned], rcond=None)[0]


def test_residuals_of_residuals_have_not_seen_the_rows_that_are_predicted():
    regression = Regressions.on(Z, LinearRegression())
    left, folds = regression.residuals(Y, "Y"), regression._folds
    assert sorted(np.concatenate(folds)) == list(range(N)) and len(left.held_out) == len(folds)
    bent = bounded(left.values)
    twice = regression.residuals_of_lines(bent, [bounded(values) for values in left.held_out])
    for i, rows in enumerate(folds):
        others = np.setdiff1d(np.arange(N), rows)
        np.testing.assert_allclose(left.values[rows], Y[rows] - by_hand(Y, others, rows))
        for j, more in enumerate(folds):
            np.testing.assert_allclose(
                left.held_out[i][more], Y[more] - by_hand(Y, np.setdiff1d(others, more), more)
            )
            assert i != j or np.array_equal(left.held_out[i][rows], left.values[rows])
        expected = bent[rows] - by_hand(bounded(left.held_out[i]), others, rows)
        np.testing.assert_allclose(twice.values[rows], expected, atol=1e-12)


def test_how_much_noise_is_shared_is_estimated_by_leaving_out_folds():
    regression = Regressions.on(Z, LinearRegression())
    left, folds, everything = regression.residuals(Y, "Y"), regression._folds, np.arange(N)
    spread, weights = 0.0, np.zeros((N, N))
    for rows in folds:
        others = np.setdiff1d(everything, rows)
        weights[rows] = np.column_stack(
            [by_hand(np.eye(N)[:, [i]], others, rows) for i in everything]
        )
        predicted = [
            by_hand(Y, np.setdiff1d(others, more), rows) for more in folds if more is not rows
        ]
        middle, count = sum(predicted) / len(predicted), len(predicted)
        spread += (
            (count - 1)
            / count
            * sum(float(np.sum((prediction - middle) ** 2)) for prediction in predicted)
        )
    share = spread / float(np.sum(left.values**2))
    assert left.noise == pytest.approx(share / (1.0 - share))
    residual_maker = np.eye(N) - weights
    exact = np.sum((residual_maker.T @ residual_maker) ** 2) / np.sum(
        np.sum(residual_maker**2, axis=1) ** 2
    )
    alike = Residuals(left.values, noise=float(np.mean(np.sum(weights**2, axis=1))))
    assert alike.inflation(alike) == pytest.approx(exact, abs=0.11) and exact > 1.2


def test_lines_are_bounded_and_squares_leave_out_what_has_two_values():
    values = np.column_stack([np.random.default_rng(0).normal(size=(30, 2)), np.full(30, 2.0)])
    values[3, 0] = 1e9
    np.testing.assert_allclose(bounded(values), naive_given.bounded(values[:, :2]))
    lines = bounded(
        np.column_stack([np.random.default_rng(0).normal(size=(30, 2)), np.tile([1.0, -1.0], 15)])
    )
    np.testing.assert_allclose(squared(lines), naive_given.squared(lines[:, :2]), atol=1e-12)


def test_neighborhoods_lie_along_the_longest_axis():
    sizes = np.bincount(neighborhoods(np.random.default_rng(0).normal(size=(103, 3)), 10))
    assert sizes.sum() == 103 and sizes.min() >= 10 and sizes.max() < 20
    z = np.column_stack([100.0 + np.arange(40) % 2, np.arange(40.0)])
    np.testing.assert_array_equal(neighborhoods(z, 10), np.repeat(range(4), 10))
    assert standardized(np.column_stack([np.arange(5.0), np.full(5, 2.0)])).shape == (5, 1)


# --- independence by residuals -------------------------------------------------------------------------------------
DRAWS = np.random.default_rng(3)
ROWS = 40
GIVEN = DRAWS.normal(size=(ROWS, 2))
FIRST = GIVEN.sum(axis=1, keepdims=True) + DRAWS.normal(size=(ROWS, 1))
SECOND = GIVEN.sum(axis=1, keepdims=True) + DRAWS.normal(size=(ROWS, 1))
TIED = SECOND + FIRST


@pytest.fixture
def combined(monkeypatch):
    created = []
    monkeypatch.setattr(
        conditional_independence,
        "Combined",
        lambda *args: created.append(Combined(*args)) or created[-1],
    )
    return created


@pytest.mark.parametrize("columns", [1, 2, 9])
def test_squares_of_one_times_lines_of_the_other(columns, combined):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(40, 1))
    x, y = z + rng.normal(size=(40, columns)), z**2 + rng.normal(size=(40, 1))
    independence_test(x, y, given=z, rng=0, n_resamples=19)
    regression = Regressions.on(z)
    lines = [naive_given.bounded(regression.residuals(variable, "X").values) for variable in (x, y)]
    squares = map(naive_given.squared, lines)
    left = [
        [regression.residuals_of_lines(values).values for values in some]
        for some in (lines, squares)
    ]
    part = next(part for part in combined[0].parts if part.name == "squares")
    np.testing.assert_allclose(part.features.gram, naive_given.crossed(*left), atol=1e-9)


def inflation_of_two(*regressions):
    """Factor by which squared sums exceed those with random signs, from what two regressions do to every row."""
    return naive_given.inflation(
        *(left.smoother.residuals(np.eye(len(left.values))) for left in regressions)
    )


@pytest.mark.parametrize(("seed", "uneven"), [(1, False), (30, True)])
def test_parts_are_inflated_by_the_largest_that_any_of_their_regressions_needs(
    seed, uneven, combined
):
    """Regressions of X and Y, and of the lines and squares of their residuals."""
    rng = np.random.default_rng(seed)
    z, x, y = rng.normal(size=(40, 1)), rng.normal(size=(40, 1)), 0.5 * rng.normal(size=(40, 1))
    x = np.exp(z) * x if uneven else z + x
    y += np.sin(3.0 * z) + z**3
    regression = Regressions.on(z)
    independence_test(x, y, given=z, rng=0, n_resamples=19)
    left = [regression.residuals(variable, "X") for variable in (x, y)]
    bent = [naive_given.bounded(residuals.values) for residuals in left]
    lines, squares = (
        list(map(regression.residuals_of_lines, some))
        for some in (bent, map(naive_given.squared, bent))
    )
    each = [
        inflation_of_two(*two) for two in (left, (squares[0], lines[1]), (lines[0], squares[1]))
    ]
    inflations = {part.name: part.inflation for part in combined[-1].parts}
    assert (
        inflations["means"]
        == inflations["turning"]
        == pytest.approx(max(each[0], inflation_of_two(*lines)))
    )
    assert inflations["squares"] == pytest.approx(max(each))


def test_local_permutations_are_inflated_and_the_data_are_not(monkeypatch):
    options = {"given": GIVEN, "given_method": "local", "n_resamples": 39, "rng": 0}
    inflated = independence_test(FIRST, SECOND, **options)
    regression = Regressions.on(GIVEN)
    factor = inflation_of_two(
        *(regression.residuals(variable, "X") for variable in (FIRST, SECOND))
    )
    monkeypatch.setattr(Residuals, "inflation", lambda self, other: 1.0)
    plain = independence_test(FIRST, SECOND, **options)
    assert factor > 1.02 and inflated.statistic == plain.statistic
    np.testing.assert_allclose(
        inflated.null_distribution, factor * plain.null_distribution, rtol=1e-9
    )


def test_four_statistics_where_no_kernel_is_asked_for():
    rng = np.random.default_rng(0)
    z, noise, other = rng.normal(size=(3, 200))
    options = {"given": z, "rng": 0, "n_resamples": 199}
    effects = {"means": 0.3 * noise, "turning": noise * np.sign(z), "squares": np.abs(noise)}
    effects["shapes"] = 1.2 * np.sin(2.5 * noise)
    for part, y in effects.items():
        result = independence_test(z + noise, z + other + y, **options)
        assert result.pvalue < 0.05 and any(
            f"'{part}' stands out most" in note for note in result.notes
        )
    alone = independence_test(z + noise, z + other, kernel_x="laplacian", **options)
    assert not any("Four statistics" in note for note in alone.notes)


def test_groups_turn_together():
    rows = Signs(np.array([0, 0, 1, 2, 2])).draw(np.random.default_rng(0), 200)
    assert (rows[:, 0] == rows[:, 1]).all() and (rows[:, 3] == rows[:, 4]).all()
    assert (
        independence_test(FIRST, TIED, given=GIVEN, groups=np.arange(ROWS) // 2, rng=0).pvalue
        < 0.05
    )


@pytest.mark.parametrize(
    "options", [{}, {"given_method": "local"}, {"estimator": "auto"}, {"estimator": "skmse"}]
)
def test_regressions_find_what_is_there_and_nothing_else(options):
    assert independence_test(FIRST, SECOND, given=GIVEN, rng=0, **options).pvalue > 0.05
    assert independence_test(FIRST, TIED, given=GIVEN, rng=0, **options).pvalue < 0.05
    assert independence_test(FIRST, SECOND, rng=0).pvalue < 0.05  # without Z
    assert (
        independence_test(FIRST, SECOND, given=np.ones(ROWS), rng=0).pvalue < 0.05
    )  # nothing is given


@pytest.mark.ci
def test_any_regressor():
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.linear_model import Ridge

    for regressor in (
        RandomForestRegressor(n_estimators=20, min_samples_leaf=5, random_state=0),
        Ridge(),
    ):
        result = independence_test(FIRST, TIED, given=GIVEN, regressor=regressor, rng=0)
        assert result.pvalue < 0.05 and type(regressor).__name__ in result.assumption


def test_units_and_the_order_of_the_variables_change_nothing():
    plain = independence_test(FIRST, SECOND, given=GIVEN, rng=0)
    assert (
        independence_test(100 * FIRST + 5, SECOND, given=GIVEN * [3.0, 0.01] + 7, rng=0).pvalue
        == plain.pvalue
    )
    z = np.random.default_rng(0).normal(size=40)
    x, y = z + FIRST[:, 0], np.sin(5.0 * z) + 0.2 * SECOND[:, 0]  # regressions of unlike wiggliness
    for options in ({}, {"kernel_x": "linear", "kernel_y": "linear"}, {"estimator": "skmse"}):
        result, swapped = (
            independence_test(*pair, given=z, n_resamples=99, rng=0, **options)
            for pair in ((x, y), (y, x))
        )
        np.testing.assert_allclose(result.null_distribution, swapped.null_distribution, rtol=1e-9)


def test_a_note_where_regressions_fail():
    rng = np.random.default_rng(0)
    z = rng.normal(size=300)
    steps = np.sign(np.sin(40 * z))
    result = independence_test(
        steps + 0.1 * rng.normal(size=300), steps + 0.1 * rng.normal(size=300), given=z, rng=0
    )
    assert result.pvalue < 0.05 and any("still similar" in note for note in result.notes)
    assert not any(
        "The regressions" in note
        for note in independence_test(FIRST, SECOND, given=GIVEN, rng=0).notes
    )
    x, y, z = Confounded("smooth", columns=5, strength=5.0, effect=0.0).sample(1, 50)
    assert any(
        "degrees of freedom more" in note for note in independence_test(x, y, given=z, rng=0).notes
    )


@pytest.mark.slow
def test_levels_where_the_assumption_holds():
    """p <= .05 for independent noise on a line: 1000 data sets, within an exact binomial region at .001."""
    rejected = 0
    for trial in range(1000):
        rng = np.random.default_rng(trial)
        z = rng.normal(size=(50, 3))
        x, y = (z.sum(axis=1) + rng.normal(size=50) for _ in range(2))
        rejected += independence_test(x, y, given=z, rng=rng, n_resamples=199).pvalue <= 0.05
    assert rejected <= binom(1000, 0.05).ppf(0.999)
