"""Designs with several factors: formulas, statistics, permutations, results."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shrinktest.data.formula import Formula, design_table, few_values_notes, projections, terms_of


def trial(n=48, seed=0):
    """A table with factors, covariates and nested labels."""
    rng = np.random.default_rng(seed)
    patients = np.repeat([f"p{i}" for i in range(n // 4)], 4)
    return pd.DataFrame(
        {
            "arm": np.where(np.repeat(np.arange(n // 4), 4) % 2, "drug", "placebo"),
            "visit": np.tile(["v1", "v2", "v3", "v4"], n // 4),
            "patient": patients,
            "site": np.repeat([f"s{i % 3}" for i in range(n // 4)], 4),
            "region": np.repeat([f"r{i % 3}" for i in range(n // 4)], 4),
            "smoker": rng.random(n) < 0.5,
            "age": rng.normal(50.0, 9.0, n),
            "dose": rng.integers(1, 4, n),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "pain score": rng.normal(size=n),
            "constant": 1.0,
        }
    )


# ----------------------------------------------------------------------------------------- formulas


def degrees_of_freedom(formula, table, typ=2):
    terms = terms_of(Formula.read(formula), design_table(table))
    parts = projections(terms, np.ones((len(table), 1)), typ)
    return {term.name: part.df for term, part in zip(terms, parts, strict=True)}


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("arm * visit + age", {"arm": 1, "visit": 3, "age": 1, "arm:visit": 3}),
        ("arm / visit", {"arm": 1, "arm:visit": 6}),
        ("C(dose) * age", {"C(dose)": 2, "age": 1, "C(dose):age": 2}),
        ("bs(age, 4) + dose", {"bs(age, 4)": 4, "dose": 1}),
        ("I(age**2) + smoker", {"I(age ** 2)": 1, "smoker": 1}),
        ("`pain score` + since", {"pain score": 1, "since": 1}),
        ("(arm + smoker)**2", {"arm": 1, "smoker": 1, "arm:smoker": 1}),
    ],
)
def test_terms_have_their_degrees_of_freedom(formula, expected):
    assert degrees_of_freedom(formula, trial()) == expected


def test_the_left_side_names_the_response():
    read = Formula.read("pain + mood ~ arm")
    assert (read.response, read.terms) == (("pain", "mood"), (("arm",),))
    assert Formula.read("arm").response == ()


def test_projections_are_those_of_least_squares():
    table = trial()
    terms = terms_of(Formula.read("arm * visit + age"), design_table(table))
    constant = np.ones((len(table), 1))
    response = np.random.default_rng(1).normal(size=(len(table), 3))

    def residual(columns):
        fit = np.linalg.lstsq(columns, response, rcond=None)[0]
        return np.square(response - columns @ fit).sum()

    by_name = {term.name: term.columns for term in terms}
    for typ, others in ((1, ["arm"]), (2, ["arm", "age"])):
        part = projections(terms, constant, typ)[1]
        before = np.hstack([constant, *(by_name[name] for name in others)])
        explained = residual(before) - residual(np.hstack([before, by_name["visit"]]))
        assert np.square(part.added.T @ response).sum() == pytest.approx(explained)
        model = part.model
        np.testing.assert_allclose(model.T @ model, np.eye(model.shape[1]), atol=1e-12)
        left = response - model @ (model.T @ response)
        assert np.square(left).sum() == pytest.approx(residual(np.hstack(list(by_name.values()))))


def test_levels_that_do_not_occur_have_no_column():
    table = trial()
    table["visit"] = pd.Categorical(table["visit"], categories=["v0", "v1", "v2", "v3", "v4"])
    assert degrees_of_freedom("visit", table) == {"visit": 3}


def test_every_library_gives_the_same_terms():
    import polars

    table = trial()
    formula = Formula.read("arm * smoker + since + age")
    plain = terms_of(formula, design_table(table))
    for other in (polars.from_pandas(table), {name: table[name] for name in table}):
        for term, twin in zip(plain, terms_of(formula, design_table(other)), strict=True):
            np.testing.assert_allclose(term.columns, twin.columns)


def test_numbers_with_few_values_have_a_note():
    terms = terms_of(Formula.read("dose + age + C(dose)"), design_table(trial()))
    (text,) = few_values_notes(terms)
    assert "dose has 3 different numbers" in text and "C(dose)" in text


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("arm *", "cannot be read: Operator"),
        ("arm + (1|patient)", "pass groups='patient'"),
        ("arm + Condition(age)", "write age without Condition"),
        ("arm - 1", "every design has a constant"),
        ("1", "no term to test"),
        ("~ arm", "nothing to the left"),
        ("arn", "'arn'. Did you mean 'arm'"),
        ("log(age - 1000)", "not finite"),
        ("arm + constant", "constant has the same value in every row"),
        ("site + patient", "site is determined by patient; leave one out, or use blocks='site'"),
        ("patient * visit", "no residual degrees of freedom"),
    ],
    ids=lambda value: value if "'" not in value else None,
)
def test_faults_of_formulas(formula, message):
    with pytest.raises(ValueError, match="formula") as error:
        degrees_of_freedom(formula, trial())
    assert message in str(error.value)


@pytest.mark.parametrize("data", [np.ones((4, 2)), [1, 2]], ids=["array", "list"])
def test_a_design_needs_a_table(data):
    with pytest.raises(TypeError, match="data must be a table"):
        design_table(data)
