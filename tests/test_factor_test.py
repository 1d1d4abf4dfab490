"""Designs with several factors: formulas, statistics, permutations, results."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import naive_factors as naive
from shrinktest.data.formula import (
    Formula,
    basis,
    design_table,
    few_values_notes,
    projections,
    terms_of,
)
from shrinktest.statistics.features import Features
from shrinktest.statistics.projections import (
    adjusted_means,
    moved_labels,
    moved_predictor,
    moved_rows,
    share,
    term_statistic,
)


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


# --------------------------------------------------------------------------------------- projections


def designed(formula, n=40, typ=2, seed=0):
    """The columns of all terms, and their projections."""
    table = trial(n, seed)
    terms = terms_of(Formula.read(formula), design_table(table))
    return terms, projections(terms, np.ones((n, 1)), typ)


def both_features(response):
    return [Features(response @ response.T), Features(response, by_coordinates=True)]


@pytest.mark.parametrize("robust", [False, True], ids=["F", "robust"])
@pytest.mark.parametrize("typ", [1, 2])
def test_statistics_are_those_of_refitting(robust, typ):
    terms, parts = designed("arm * visit + age", typ=typ)
    response = np.random.default_rng(3).normal(size=(40, 3)) * np.linspace(0.5, 2.0, 40)[:, None]
    columns = [term.columns for term in terms]
    constant = np.ones((40, 1))
    for i, part in enumerate(parts):
        after = [j for j in range(len(terms)) if j != i]
        before = [j for j in after if j < i]
        if typ == 2:
            before = [j for j in after if not terms[i].variables <= terms[j].variables]
        start = np.hstack([constant, *(columns[j] for j in before)])
        rest = np.hstack([constant, *(columns[j] for j in after)])
        expected = naive.statistic(response, start, columns[i], rest, robust)
        for features in both_features(response):
            for space, moved in (
                (part.rest, moved_predictor(part)),
                (part.adjusted, moved_rows(part)),
            ):
                term = term_statistic(features, part, space, moved, part.df, robust)
                value = term.statistic()(np.arange(40)[None])[0, 0]
                assert value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("robust", [False, True], ids=["F", "robust"])
def test_a_moved_predictor_is_refitted(robust):
    terms, parts = designed("arm * visit + age")
    response = np.random.default_rng(4).normal(size=(40, 2))
    orders = np.random.default_rng(5).permuted(np.tile(np.arange(40), (3, 1)), axis=1)
    for part in parts:
        statistic = term_statistic(
            Features(response @ response.T),
            part,
            part.rest,
            moved_predictor(part),
            part.df,
            robust,
        ).statistic()
        values = statistic(orders)[:, 0]
        for order, value in zip(orders, values, strict=True):
            moved = part.added[order]
            none = np.zeros((40, 0))
            expected = naive.statistic(response, part.rest, moved, none, robust)
            assert value == pytest.approx(expected, rel=1e-9)


def test_exact_rows_move_the_response():
    terms, parts = designed("arm + smoker")
    part = parts[0]
    cells = terms[1].factors[0].codes
    response = np.random.default_rng(6).normal(size=(40, 2))
    order = np.arange(40)
    for cell in (0, 1):
        where = np.flatnonzero(cells == cell)
        order[where] = np.random.default_rng(cell).permutation(where)
    features = Features(response @ response.T)
    statistic = term_statistic(features, part, part.adjusted, moved_rows(part), 1, True)
    before = np.hstack([np.ones((40, 1)), terms[1].columns])
    back = np.argsort(order)  # row i of the model is moved to the row of the response it stands by
    expected = naive.statistic(response[back], before, terms[0].columns, before, True)
    assert statistic.statistic()(order[None])[0, 0] == pytest.approx(expected, rel=1e-9)


def test_adjusted_means_are_those_of_a_regression():
    rng = np.random.default_rng(7)
    group = np.repeat(np.arange(5), [2, 3, 4, 2, 3])
    within = rng.normal(size=(14, 2))
    response = rng.normal(size=14)
    columns = np.hstack([naive.indicators(group), within])
    fitted = np.linalg.lstsq(columns, response, rcond=None)[0]
    np.testing.assert_allclose(adjusted_means(group, within) @ response, fitted[:5])


def test_lost_directions_do_not_count():
    labels = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    group = np.repeat(np.arange(4), 3)
    visit = naive.indicators([0, 1, 2] * 4)
    rest = basis(np.hstack([naive.indicators(group), visit]))
    moved = moved_labels(labels, group, visit, rest)
    orders = np.array([[0, 1, 2, 3], [0, 2, 1, 3], [2, 0, 1, 3]])
    bases, rank = moved(orders)
    assert bases.shape == (6, 3, 12)
    assert rank.tolist() == [2, 2, 2]
    for b, order in enumerate(orders):
        columns = naive.products(labels[order][group], visit)
        left = naive.residuals(rest, columns)
        span = naive.hat(left)
        np.testing.assert_allclose(bases[:, b].T @ bases[:, b], span, atol=1e-9)


@pytest.mark.parametrize("units", ["rows", "patient"])
def test_share_and_its_jackknife_are_those_of_refitting(units):
    terms, parts = designed("arm + age + smoker")
    table = trial(40)
    response = np.random.default_rng(8).normal(size=(40, 2)) + terms[0].columns[:, :1]
    codes = np.arange(40) if units == "rows" else pd.factorize(table["patient"])[0]
    others = np.hstack([np.ones((40, 1)), terms[1].columns, terms[2].columns])
    for features in both_features(response):
        effect = share(features, parts[0], codes)
        expected = naive.omega2(response, others, terms[0].columns)
        assert effect.omega2 == pytest.approx(expected, rel=1e-9)
        error = naive.omega2_error(response, others, terms[0].columns, codes)
        assert effect.error == pytest.approx(error, rel=1e-6)


def test_bits_do_not_depend_on_how_permutations_are_shared():
    _, parts = designed("arm * visit + age")
    part = parts[1]
    response = np.random.default_rng(9).normal(size=(40, 3))
    features = Features(response @ response.T)
    term = term_statistic(features, part, part.rest, moved_predictor(part), part.df, True)
    statistic = term.statistic()
    orders = np.random.default_rng(5).permuted(np.tile(np.arange(40), (33, 1)), axis=1)
    parts = np.concatenate([statistic(orders[:1]), statistic(orders[1:8]), statistic(orders[8:])])
    assert np.array_equal(statistic(orders), parts)
