"""Spread of the response in designs with several factors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import naive_factors as naive
from factor_cases import response_of, trial
from shrinktest import factor_test
from shrinktest.data.formula import Formula, design_table, projections, terms_of
from shrinktest.notes import has_code
from shrinktest.statistics.features import Features
from shrinktest.statistics.spread import SpreadStatistic, distances, spread_pvalue


@pytest.mark.parametrize("robust", [False, True], ids=["F", "robust"])
def test_the_model_is_fitted_to_permuted_residuals(robust):
    table = trial(40)
    terms = terms_of(Formula.read("arm * visit + age"), design_table(table))
    parts = projections(terms, np.ones((40, 1)), 2)
    response = np.random.default_rng(4).normal(size=(40, 3))
    orders = np.random.default_rng(5).permuted(np.tile(np.arange(40), (4, 1)), axis=1)
    orders[0] = np.arange(40)
    none = np.zeros((40, 0))
    for part in parts:
        left = naive.robust_residuals(part.model, response)
        for features in (Features(response @ response.T), Features(response, by_coordinates=True)):
            values = SpreadStatistic.of(features, part, robust).statistic()(orders)[:, 0]
            for order, value in zip(orders, values, strict=True):
                model = part.model[order]
                again = naive.residuals(model, left)
                free = 1.0 - np.diag(naive.hat(model))
                distances = np.sqrt((again**2).sum(axis=1) / free)[:, None]
                rest = part.rest[order]
                expected = naive.statistic(distances, rest, part.added[order], none, robust)
                assert value == pytest.approx(expected, rel=1e-8)


def test_distances_are_those_of_a_robust_fit():
    table = trial(40)
    terms = terms_of(Formula.read("arm * visit"), design_table(table))
    model = projections(terms, np.ones((40, 1)), 2)[0].model
    response = np.random.default_rng(6).standard_t(2, size=(40, 3))
    left = naive.robust_residuals(model, response)
    expected = np.sqrt((left**2).sum(axis=1) / (1.0 - np.diag(naive.hat(model))))
    for features in (Features(response @ response.T), Features(response, by_coordinates=True)):
        assert distances(features, model) == pytest.approx(expected, rel=1e-8)


def test_the_test_of_distances_is_that_of_statsmodels():
    """With one direction T is a squared t, by HC2."""
    from statsmodels.regression.linear_model import OLS

    table = trial(40)
    terms = terms_of(Formula.read("arm + age"), design_table(table))
    values = np.random.default_rng(7).exponential(size=40)
    for part in projections(terms, np.ones((40, 1)), 2):
        fitted = OLS(values, part.model).fit(cov_type="HC2", use_t=True)
        assert spread_pvalue(values, part) == pytest.approx(fitted.pvalues[0], rel=1e-8)


def noted(formula, table, response, **options):
    """Terms whose tests have a note on unequal spread."""
    result = factor_test(formula, table, response=response, n_resamples=199, rng=0, **options)
    return [
        test.term.name
        for test in result.tests
        if any(has_code(text, "spread-differs") for text in test.notes)
    ]


def test_approximate_terms_have_a_note_on_unequal_spread():
    table = trial(96)
    response = response_of(table)
    assert noted("arm * visit", table, response) == []
    late = (table["visit"] == "v4").to_numpy()
    response[late] *= 4.0
    assert noted("arm * visit", table, response) == ["arm:visit"]
    assert noted("arm + visit", table, response) == []  # exact
    assert noted("arm * visit", table, response, estimator="auto") == ["arm:visit"]


def test_spread_of_the_units_that_change_places_counts():
    """Labels of patients move, so that their spread matters and that of visits does not."""
    table = trial(96)
    late = (table["visit"] == "v4").to_numpy()
    drug = (table["arm"] == "drug").to_numpy()
    for rows, expected in ((drug, ["arm:visit"]), (late, [])):
        response = response_of(table)
        response[rows] *= 4.0
        assert noted("arm * visit", table, response, groups="patient") == expected


def test_spread_is_found_and_shifts_are_not():
    table = trial(96)
    response = response_of(table, shift=2.0)
    late = (table["visit"] == "v4").to_numpy()
    response[late] *= 2.5
    result = factor_test("arm * visit", table, response=response, rng=0)
    spread = result.dispersion(rng=0)
    assert spread.terms == result.terms
    assert spread.reject().tolist() == [False, True, False]
    assert spread.table["exact"].tolist() == [False] * 3
    assert spread["visit"].share.omega2 > 0.1
    assert str(spread.summary()).startswith("Effects on the spread of the response (96 rows)")
    assert spread == result.dispersion(rng=0)


def test_units_of_residuals():
    table = trial()
    options = {"response": response_of(table), "groups": "patient", "rng": 0}
    for within in ("rows", "signs"):
        result = factor_test("arm * visit", table, within=within, blocks="site", **options)
        assert result.dispersion(rng=0).table["permuted"].tolist() == [
            "residuals of patients within sites",
            "residual rows within patients",
            "residual rows within patients",
        ]


@pytest.mark.parametrize("n", [48, 96])
def test_residuals_leave_small_cells_and_no_blocks(n):
    table = trial(n)
    options = {"response": response_of(table), "blocks": "site", "rng": 0}
    test = factor_test("arm + smoker", table, **options).dispersion(rng=0)["arm"]
    small = n == 48
    within = "" if small else ", within cells of smoker"
    assert test.permuted == f"residual rows within sites{within}"
    orders = test.context.hypothesis.plan.permutations.draw(np.random.default_rng(0), 20)
    for name, stays in (("site", True), ("smoker", not small)):
        labels = table[name].to_numpy()
        assert (labels[orders] == labels).all() == stays


def test_small_cells_have_a_note():
    table = trial()
    options = {"response": response_of(table), "rng": 0}
    small = factor_test("arm * visit", table, **options).dispersion(rng=0)
    assert "as few as 6 observations" in "".join(small["arm"].notes)
    large = factor_test("arm", table, **options).dispersion(rng=0)
    assert "as few as" not in "".join(large["arm"].notes)


def test_spread_has_no_further_tests():
    table = trial()
    spread = factor_test("arm", table, response=response_of(table), rng=0).dispersion(rng=0)
    with pytest.raises(ValueError, match="use the result that they were made from"):
        spread.columns("arm")


@pytest.mark.ci
@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_the_level_of_tests_of_spread(kernel):
    """300 data sets with a shift, 12 rows a cell: a level of .05 rejects in .01 to .11 of them."""
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"a": np.repeat(list("xy"), 24), "b": np.tile(list("pq"), 24)})
    shift = 2.0 * (table["b"] == "q").to_numpy()[:, None]
    rejected = np.zeros(3)
    for seed in range(300):
        response = rng.normal(size=(48, 2)) + shift
        result = factor_test(
            "a * b", table, response=response, kernel=kernel, n_resamples=99, rng=seed
        )
        rejected += result.dispersion(rng=seed).pvalues <= 0.05
    assert (rejected / 300 >= 0.01).all()
    assert (rejected / 300 <= 0.11).all()
