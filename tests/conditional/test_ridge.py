"""Kernel ridge regressions: leaving one out, and what residuals of different rows share."""

from __future__ import annotations

import numpy as np
import pytest

import naive_given
from shrinktest.conditional.ridge import Basis, Smoother, bases, inflation, smoother


def test_leaving_one_out_in_closed_form():
    rng = np.random.default_rng(0)
    z, y = rng.normal(size=(15, 2)), rng.normal(size=(15, 2))
    gram = naive_given.gaussian(z, 1.0)
    basis = Basis.of_gram(gram)
    fit = Smoother(basis.vectors, basis.values / (basis.values + 0.3))
    np.testing.assert_allclose(fit.residuals(y), y - naive_given.ridge(gram, y, 0.3), atol=1e-10)
    np.testing.assert_allclose(fit.of_gram(y @ y.T), fit.residuals(y) @ fit.residuals(y).T, atol=1e-10)
    noise = rng.normal(size=(15, 40_000))
    linear = Basis.of_coordinates(z - z.mean(axis=0))
    line = Smoother(linear.vectors, np.ones(2))
    what, other = fit.residuals(np.eye(15)), line.residuals(np.eye(15))
    np.testing.assert_allclose(what @ what.T, np.cov(fit.residuals(noise), bias=True), atol=0.05)
    assert inflation(fit, line) == pytest.approx(naive_given.inflation(what, other))
    # leaving a row out of the centred features: the same weights for the others
    left = line.residuals(y) / (1.0 - line.own)[:, None]
    for i in range(15):
        others = np.arange(15) != i
        design = np.column_stack([np.ones(15), z])
        beta = np.linalg.lstsq(design[others], y[others], rcond=None)[0]
        np.testing.assert_allclose(left[i], y[i] - design[i] @ beta, atol=1e-10)


def test_the_regression_is_chosen_that_predicts_best_what_is_left_out():
    """Among two kernels, all amounts by which no row is its own prediction, and the mean alone."""
    chosen, binds = [], 0
    amounts = 10.0 ** np.arange(-4.0, 1.6, 0.5)
    for seed in range(16):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=(12, 1))
        noise = rng.normal(size=(12, 2)) if seed % 4 < 3 else 0.0
        y = (seed % 4) * np.hstack([0.2 * z, 0.4 * np.sin(2.0 * z)]) + noise
        grams = naive_given.gaussian(z, 0.8), z @ z.T
        fit = smoother([Basis.of_gram(gram) for gram in grams], y)
        left, number = naive_given.best_left(grams, y, amounts, 0.99)
        np.testing.assert_allclose(fit.residuals(y), left, atol=5e-3)
        chosen.append(number)
        if seed % 4 == 3:  # without noise
            binds += naive_given.best_left(grams, y, amounts, 2.0)[1] != number
    assert chosen.count(0) > 1 and len(set(chosen)) > 3 and binds > 0


def test_inflation_is_that_of_least_squares():
    z = np.random.default_rng(0).normal(size=(30, 6))
    basis = Basis.of_coordinates(z)
    line = Smoother(basis.vectors, np.ones(6))
    M = line.residuals(np.eye(30))
    assert inflation(line, line) == pytest.approx((M * M).sum() / np.square(np.diag(M)).sum())
    assert inflation(line, line) == pytest.approx(30 / 23, abs=0.05)  # rows over degrees of freedom that are left


@pytest.mark.parametrize("rows", [40, 350])
def test_regressions_find_lines_and_curves(rows):
    rng = np.random.default_rng(1)
    z = rng.normal(size=(rows, 2))
    for truth in (z[:, :1] - z[:, 1:], np.sin(2 * z[:, :1])):
        fit = smoother(bases(z), truth + 0.1 * rng.normal(size=truth.shape))
        assert fit.residuals(truth).std() < 0.3 * truth.std()
