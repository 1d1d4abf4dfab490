"""Regressions on given variables: kernel ridge in closed form, regressors, functions of residuals, neighbors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import naive_given
from shrinktest.conditional.regressions import (
    Basis,
    Regression,
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
    np.testing.assert_allclose(fit.residual_gram(y @ y.T), fit.residuals(y) @ fit.residuals(y).T, atol=1e-10)
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


# --- regressors ---------------------------------------------------------------------------------------------


def by_hand(targets, learned, rows):
    """Predictions of a linear regression at some rows, from others."""
    lines = np.column_stack([np.ones(N), Z])
    return lines[rows] @ np.linalg.lstsq(lines[learned], targets[learned], rcond=None)[0]


def test_residuals_of_residuals_have_not_seen_the_rows_that_are_predicted():
    regression = Regression.on(Z, LinearRegression())
    left, folds = regression.residuals(Y, "Y"), regression._folds
    assert sorted(np.concatenate(folds)) == list(range(N)) and len(left.held_out) == len(folds)
    bent = bounded(left.values)
    twice = regression.residuals_of_lines(bent, [bounded(one) for one in left.held_out])
    for i, rows in enumerate(folds):
        others = np.setdiff1d(np.arange(N), rows)
        np.testing.assert_allclose(left.values[rows], Y[rows] - by_hand(Y, others, rows))
        for j, more in enumerate(folds):
            np.testing.assert_allclose(left.held_out[i][more], Y[more] - by_hand(Y, np.setdiff1d(others, more), more))
            assert i != j or np.array_equal(left.held_out[i][rows], left.values[rows])
        expected = bent[rows] - by_hand(bounded(left.held_out[i]), others, rows)
        np.testing.assert_allclose(twice.values[rows], expected, atol=1e-12)


def test_how_much_noise_is_shared_is_estimated_by_leaving_out_folds():
    regression = Regression.on(Z, LinearRegression())
    left, folds, everything = regression.residuals(Y, "Y"), regression._folds, np.arange(N)
    spread, weights = 0.0, np.zeros((N, N))
    for rows in folds:
        others = np.setdiff1d(everything, rows)
        weights[rows] = np.column_stack([by_hand(np.eye(N)[:, [i]], others, rows) for i in everything])
        predicted = [by_hand(Y, np.setdiff1d(others, more), rows) for more in folds if more is not rows]
        middle, count = sum(predicted) / len(predicted), len(predicted)
        spread += (count - 1) / count * sum(float(np.sum((one - middle) ** 2)) for one in predicted)
    share = spread / float(np.sum(left.values**2))
    assert left.noise == pytest.approx(share / (1.0 - share))
    kept = np.eye(N) - weights
    exact = np.sum((kept.T @ kept) ** 2) / np.sum(np.sum(kept**2, axis=1) ** 2)
    alike = Residuals(left.values, noise=float(np.mean(np.sum(weights**2, axis=1))))
    assert alike.inflation(alike) == pytest.approx(exact, abs=0.11) and exact > 1.2


# --- functions of residuals, and neighbors ------------------------------------------------------------------


def test_lines_are_bounded_and_squares_leave_out_what_has_two_values():
    values = np.column_stack([np.random.default_rng(0).normal(size=(30, 2)), np.full(30, 2.0)])
    values[3, 0] = 1e9
    np.testing.assert_allclose(bounded(values), naive_given.bounded(values[:, :2]))
    lines = bounded(np.column_stack([np.random.default_rng(0).normal(size=(30, 2)), np.tile([1.0, -1.0], 15)]))
    np.testing.assert_allclose(squared(lines), naive_given.squared(lines[:, :2]), atol=1e-12)


def test_neighborhoods_lie_along_the_longest_axis():
    sizes = np.bincount(neighborhoods(np.random.default_rng(0).normal(size=(103, 3)), 10))
    assert sizes.sum() == 103 and sizes.min() >= 10 and sizes.max() < 20
    z = np.column_stack([100.0 + np.arange(40) % 2, np.arange(40.0)])
    np.testing.assert_array_equal(neighborhoods(z, 10), np.repeat(range(4), 10))
    assert standardized(np.column_stack([np.arange(5.0), np.full(5, 2.0)])).shape == (5, 1)
