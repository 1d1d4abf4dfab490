"""Statistics of signs: all of them, products of features, and several statistics combined."""

from __future__ import annotations

import numpy as np
import pytest

import naive_given
from shrinktest.estimators import ESTIMATORS, as_estimator
from shrinktest.permutations.schemes import Signs
from shrinktest.statistics.signs import Combined, Part, Products, sign_statistic


def test_signs_are_all_there_are():
    gram = np.random.default_rng(0).normal(size=(5, 5))
    gram = gram @ gram.T
    rows = np.array(list(Signs(np.arange(5)).all()))
    assert len(rows) == 16 and len({tuple(row * row[-1]) for row in rows}) == 16
    for name in ESTIMATORS:
        estimator = as_estimator(name)
        if estimator.smooths:
            continue
        found = sign_statistic(estimator, Products(gram))(rows)[:, 0]
        turned = [gram * np.outer(row, row) for row in rows]
        weights = [5 * estimator.weights(one) for one in turned]
        expected = [naive_given.signed(gram, row * each) for row, each in zip(rows, weights, strict=True)]
        np.testing.assert_allclose(found, expected, atol=1e-10)


def test_products_are_those_of_their_gram_matrix():
    rng = np.random.default_rng(0)
    one, other, third = rng.normal(size=(12, 2)), rng.normal(size=(12, 1)), rng.normal(size=(12, 3))
    gram = (one @ one.T) * (other @ other.T)
    few, many = Products.of(one, other), Products.of(one, other, np.hstack([third, third**2]))
    assert not few.by_gram and many.by_gram
    np.testing.assert_allclose(few.gram, gram, atol=1e-12)
    np.testing.assert_allclose(many.gram, gram * (third @ third.T + third**2 @ (third**2).T), atol=1e-12)
    signs = np.sign(rng.normal(size=(7, 12)))
    for products in (few, many):
        twins = [144 * naive_given.signed(products.gram, row) for row in signs]
        np.testing.assert_allclose(products.totals(signs), twins, atol=1e-9)
        np.testing.assert_allclose(products.totals(signs[2:3]), products.totals(signs)[2:3], rtol=0.0)


@pytest.mark.parametrize("unit", [np.arange(8), np.array([0, 0, 1, 1, 2, 3, 4, 5])])
def test_moments_are_those_of_all_signs(unit):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(8, 2))
    rows = np.array(list(Signs(unit).all()))
    for products in (Products(values, by_gram=False), Products(values @ values.T)):
        every = products.totals(rows)
        np.testing.assert_allclose(products.moments(unit), (every.mean(), every.var()))


def test_the_smallest_chance_of_several():
    rng = np.random.default_rng(1)
    first, second, third = rng.normal(size=(8, 1)), rng.normal(size=(8, 1)), rng.normal(size=(8, 3))
    grams = [first @ first.T, second @ second.T, third @ third.T]
    shares, factors = (4.0, 1.0, 2.0), (1.0, 1.3, 1.1)
    parts = [Part("", *told) for told in zip(shares, map(Products, grams), factors, strict=True)]
    parts.append(Part("nothing to see", 1.0, Products(np.zeros((8, 0)), by_gram=False), 1.0))
    rows = np.array(list(Signs(np.arange(8)).all()))
    found = Combined(parts, as_estimator("kme"), np.arange(8))
    expected = [naive_given.combined(grams, shares, factors, row) for row in rows]
    np.testing.assert_allclose(found(rows)[:, 0], expected, atol=1e-9)
    assert len({int(one) for one in found.chances(rows).argmin(axis=1)}) == 3  # each decides somewhere
