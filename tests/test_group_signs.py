"""Signs of a group's residual rows, for terms that vary within groups."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import naive_factors as naive
from factor_cases import response_of, statistic_of, trial
from shrinktest import factor_test
from shrinktest.data.formula import Formula, design_table, terms_of
from shrinktest.factor_design import Design
from shrinktest.plans import plans


def test_signs_of_groups_are_enumerated():
    """Every sign of every group, against a fit of the signed predictor next to all other terms."""
    table = trial(24).assign(x=np.random.default_rng(0).normal(size=24))
    response = response_of(table)
    options = {"response": response, "groups": "patient", "within": "signs", "kernel": "linear"}
    result = factor_test("visit + x", table, location=None, alpha=0.2, rng=0, **options)["visit"]
    groups = naive.indicators(table["patient"])
    rest = np.hstack([groups, table[["x"]].to_numpy()])
    added = naive.residuals(rest, naive.indicators(table["visit"]))
    group = pd.factorize(table["patient"])[0]
    none = np.zeros((24, 0))
    values = [
        naive.statistic(response, rest, np.array((1.0, *signs))[group][:, None] * added, none, True)
        for signs in itertools.product((1.0, -1.0), repeat=5)
    ]
    assert result.permuted == "signs of patients" and result.validity == "approximate"
    assert result.exact and result.n_resamples == 32
    assert result.statistic == pytest.approx(values[0], rel=1e-9)
    np.testing.assert_allclose(np.sort(result.null_distribution), np.sort(values), rtol=1e-8)


@pytest.mark.parametrize("robust", [False, True], ids=["F", "robust"])
def test_drawn_signs_are_refitted(robust):
    table = trial()
    response = response_of(table)
    terms = terms_of(Formula.read("arm * visit"), design_table(table))
    group = pd.factorize(table["patient"])[0]
    design = Design(terms, 2, group, np.zeros(48, dtype=int), within="signs")
    plan = plans(design, 0.2)[1]
    signs = plan.permutations.draw(np.random.default_rng(0), 20)
    values = statistic_of(plan, response, robust)(signs)[:, 0]
    none = np.zeros((48, 0))
    for own, value in zip(signs, values, strict=True):
        moved = own[:, None] * plan.part.added
        expected = naive.statistic(response, plan.part.rest, moved, none, robust)
        assert value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_signs_of_pairs_are_exchanges_of_their_rows(kernel):
    table = trial(32)
    table["visit"] = np.tile(["v1", "v2"], 16)
    table["pair"] = np.repeat(np.arange(16), 2)
    options = {"response": response_of(table), "groups": "pair", "kernel": kernel, "rng": 0}
    options |= {"location": None, "n_resamples": np.inf}
    rows, signs = (
        factor_test("visit", table, within=within, **options)["visit"]
        for within in ("rows", "signs")
    )
    assert rows.n_resamples in (2**15, 2**16)
    assert signs.n_resamples == 2**15
    assert signs.statistic == pytest.approx(rows.statistic, rel=1e-9)
    assert signs.pvalue == pytest.approx(rows.pvalue, rel=1e-9)


def test_groups_without_a_choice_have_no_sign():
    table = trial(24)
    table.loc[[0, 1, 2, 3], "visit"] = "v1"
    terms = terms_of(Formula.read("visit"), design_table(table))
    group = pd.factorize(table["patient"])[0]
    design = Design(terms, 2, group, np.zeros(24, dtype=int), within="signs")
    (plan,) = plans(design, 0.2)
    assert plan.permutations.distinct == 2**4
    signs = plan.permutations.draw(np.random.default_rng(0), 5)
    values = statistic_of(plan, response_of(table))(signs)[:, 0]
    assert len(np.unique(values.round(12))) > 1


def test_only_terms_within_groups_have_signs():
    table = trial()
    result = factor_test(
        "arm * visit", table, response=response_of(table), groups="patient", within="signs", rng=0
    )
    assert result.table["permuted"].tolist() == [
        "whole patients",
        "signs of patients",
        "arm labels of patients",
    ]


def correlated_visits(rng, patients=14, visits=4, correlation=0.8):
    """Rows of an autoregressive series in each patient."""
    rows = np.empty((patients, visits, 2))
    rows[:, 0] = rng.normal(size=(patients, 2))
    for t in range(1, visits):
        noise = rng.normal(size=(patients, 2))
        rows[:, t] = correlation * rows[:, t - 1] + (1 - correlation**2) ** 0.5 * noise
    names = [f"visit {t:02}" for t in range(visits)]
    table = {"id": np.repeat(np.arange(patients), visits), "visit": names * patients}
    return table, rows.reshape(-1, 2)


def test_serial_correlation_names_signs_as_its_remedy():
    table, response = correlated_visits(np.random.default_rng(0), patients=20, visits=16)
    options = {"response": response, "groups": "id", "rng": 0}
    text = "".join(factor_test("visit", table, **options)["visit"].notes)
    assert "are correlated" in text and "use within='signs'" in text
    signs = factor_test("visit", table, within="signs", **options)["visit"]
    assert "are correlated" not in "".join(signs.notes)


@pytest.mark.ci
def test_the_level_holds_under_serial_correlation():
    """400 data sets: with probability .999 a level of .05 rejects in .017 to .09 of them."""
    rng = np.random.default_rng(1)
    rejected = 0
    for seed in range(400):
        table, response = correlated_visits(rng)
        result = factor_test(
            "visit",
            table,
            response=response,
            groups="id",
            within="signs",
            kernel="linear",
            location=None,
            n_resamples=99,
            rng=seed,
        )
        rejected += result.pvalues[0] <= 0.05
    assert 0.017 <= rejected / 400 <= 0.09


def test_signs_need_groups():
    table = trial()
    with pytest.raises(ValueError, match="use groups="):
        factor_test("visit", table, response=response_of(table), within="signs")
    with pytest.raises(ValueError, match="within must be one of"):
        factor_test("visit", table, response=response_of(table), groups="patient", within="sign")


def test_too_few_groups_for_signs_say_so():
    table = trial(16)
    with pytest.raises(ValueError, match="signs of patients leave 8 different permutations"):
        factor_test("visit", table, response=response_of(table), groups="patient", within="signs")
