"""Designs with several factors: formulas, statistics, permutations, results."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

import naive_factors as naive
from factor_cases import response_of, statistic_of, trial
from shrinktest import (
    Distances,
    Precomputed,
    factor_test,
    independence_test,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
)
from shrinktest.cli import main
from shrinktest.data.formula import (
    Formula,
    basis,
    design_table,
    few_values_notes,
    projections,
    terms_of,
)
from shrinktest.factor_design import Design
from shrinktest.factors import aligned
from shrinktest.plans import plans
from shrinktest.statistics.features import Features
from shrinktest.statistics.projections import (
    adjusted_means,
    inverses,
    moved_labels,
    moved_predictor,
    moved_rows,
    share,
    term_statistic,
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
    assert "dose has 3 distinct values" in text and "C(dose)" in text


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


# -------------------------------------------------------------------------------------- projections


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


def test_a_row_that_the_model_fits_exactly_counts_with_the_mean_square():
    """The slope of the last level rests on one row, whose leverage is 1."""
    table = {"level": list("aaaabbbbccc"), "x": [1.0, 2, 3, 5, 2, 4, 7, 1, 3, 3, 4]}
    terms = terms_of(Formula.read("level * x"), design_table(table))
    part = projections(terms, np.ones((11, 1)), 2)[-1]
    response = np.random.default_rng(6).normal(size=(11, 2))
    start = np.hstack([np.ones((11, 1)), terms[0].columns, terms[1].columns])
    expected = naive.statistic(response, start, terms[2].columns, start)
    for features in both_features(response):
        term = term_statistic(features, part, part.rest, moved_predictor(part), part.df, True)
        assert term.statistic()(np.arange(11)[None])[0, 0] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("robust", [False, True], ids=["F", "robust"])
def test_a_moved_predictor_is_refitted(robust):
    _, parts = designed("arm * visit + age")
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
    moved = moved_labels([(labels, visit)], group)
    orders = np.array([[0, 1, 2, 3], [0, 2, 1, 3], [2, 0, 1, 3]])
    columns = moved.columns(orders)
    assert columns.shape == (moved.size, 3, 12) == (6, 3, 12)
    for b, order in enumerate(orders):
        expected = naive.products(labels[order][group], visit)
        np.testing.assert_allclose(columns[:, b].T, expected)
        left = naive.residuals(rest, expected)
        lengths = np.square(expected).sum(keepdims=True)[0] / 6
        inverse, rank = inverses((left.T @ left)[None], lengths)
        assert rank.tolist() == [2]
        np.testing.assert_allclose(left @ inverse[0] @ left.T, naive.hat(left), atol=1e-9)


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


# ---------------------------------------------------------------------------------------- the verb


def dune():
    """Species of 20 dune meadows and their management (Jongman et al. 1987)."""
    folder = Path(__file__).parent / "data"
    species = pd.read_csv(folder / "dune.csv", index_col=0)
    return species.to_numpy(dtype=float), pd.read_csv(folder / "dune_environment.csv", index_col=0)


def bray_curtis():
    species, environment = dune()
    return squareform(pdist(species, "braycurtis")), environment


@pytest.mark.parametrize(
    ("formula", "typ", "statistics", "r2"),
    [
        ("Management * A1", 1, [3.2629, 2.9387, 1.3090], [0.34161, 0.10256, 0.13705]),
        ("Management + A1", 2, [2.4828, 2.7676], [0.27600, 0.10256]),
    ],
)
def test_published_numbers_of_adonis2(formula, typ, statistics, r2):
    distances, environment = bray_curtis()
    result = factor_test(
        formula,
        environment,
        response=Distances(distances),
        statistic="F",
        typ=typ,
        n_resamples=99,
        rng=0,
    )
    np.testing.assert_allclose(result.table["statistic"], statistics, atol=5e-5)
    np.testing.assert_allclose(result.table["r2"], r2, atol=5e-6)


def test_published_pvalue_of_one_factor():
    distances, environment = bray_curtis()
    result = factor_test(
        "Management", environment, response=Distances(distances), statistic="F", rng=0
    )
    assert result["Management"].validity == "exact"
    assert result["Management"].pvalue == pytest.approx(0.002, abs=0.005)  # as adonis2 has it


@pytest.mark.parametrize("typ", [1, 2])
@pytest.mark.parametrize("formula", ["arm * visit", "arm + smoker + visit", "smoker + arm * age"])
def test_one_column_is_analysis_of_variance(formula, typ):
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    table = trial().assign(y=response_of(trial())[:, 0])
    expected = anova_lm(ols(f"y ~ {formula}", table).fit(), typ=typ)
    result = factor_test(
        f"y ~ {formula}", table, kernel="linear", statistic="F", typ=typ, n_resamples=199, rng=0
    )
    rows = result.table.set_index("term")
    for term in result.terms:
        assert rows["df"][term] == expected["df"][term]
        assert rows["statistic"][term] == pytest.approx(expected["F"][term], rel=1e-10)
        assert rows["pvalue"][term] == pytest.approx(expected["PR(>F)"][term], abs=0.11)


def test_one_factor_is_a_k_sample_test():
    table = trial()
    response = response_of(table)
    samples = [response[table["visit"] == level] for level in sorted(set(table["visit"]))]
    pooled = k_sample_test(*samples, comparison="pooled", form="biased", rng=0)
    result = factor_test("visit", table, response=response, statistic="F", rng=0)["visit"]
    between = len(table) * pooled.statistic
    total = len(table) * (1.0 - pooled.kernel(response).mean())
    df = len(table) - 4
    assert result.statistic == pytest.approx(between / 3 / ((total - between) / df), rel=1e-10)
    assert result.pvalue == pytest.approx(pooled.pvalue, abs=0.06)
    by_distance = k_sample_test(
        *np.split(np.argsort(table["visit"], kind="stable").to_numpy(), 4),
        kernel=Distances(squareform(pdist(response))),
        comparison="pooled",
        form="biased",
        n_resamples=0,
    )
    linear = k_sample_test(
        *samples, kernel="linear", comparison="pooled", form="biased", n_resamples=0
    )
    assert by_distance.statistic == pytest.approx(linear.statistic, rel=1e-10)


def test_row_order_names_and_coding_change_nothing():
    table = trial()
    response = response_of(table, shift=0.7)
    options = {"n_resamples": 99, "rng": 0}
    first = factor_test("arm * visit + age", table, response=response, **options)
    names = {"drug": "a placebo", "placebo": "z drug"}
    renamed = table.assign(arm=table["arm"].map(names))
    again = factor_test("arm * visit + age", renamed, response=response, **options)
    pd.testing.assert_frame_equal(first.table, again.table)
    coded = table.assign(arm=pd.Categorical(table["arm"], categories=["placebo", "drug", "no"]))
    contrast = factor_test(
        "C(arm, contr.sum) * visit + age", coded, response=response, **options
    ).table
    columns = ["df", "statistic", "pvalue", "share", "low", "high"]
    pd.testing.assert_frame_equal(first.table[columns], contrast[columns])
    order = np.random.default_rng(0).permutation(len(table))
    moved = factor_test(
        "arm * visit + age", table.iloc[order], response=response[order], **options
    ).table
    columns.remove("pvalue")  # another draw of permutations
    pd.testing.assert_frame_equal(first.table[columns], moved[columns])


@pytest.mark.parametrize("robust", [False, True], ids=["F", "robust"])
def test_small_designs_are_enumerated(robust):
    table = pd.DataFrame({"a": list("xxyyxxyyy"), "b": list("ppppqqqqq")})
    response = np.random.default_rng(3).normal(size=(9, 2))
    result = factor_test(
        "a + b",
        table,
        response=response,
        kernel="linear",
        statistic="robust" if robust else "F",
        alpha=0.2,
        rng=0,
    )["a"]
    ones = np.ones((9, 1))
    before = np.hstack([ones, naive.indicators(table["b"])])
    values = [
        naive.statistic(response, before, naive.indicators(labels), ones, robust)
        for labels in naive.relabeled(list(table["a"]), list(table["b"]))
    ]
    observed = naive.statistic(response, before, naive.indicators(table["a"]), ones, robust)
    assert result.exact and result.n_resamples == len(values) == 60
    assert result.statistic == pytest.approx(observed, rel=1e-9)
    np.testing.assert_allclose(np.sort(result.null_distribution), np.sort(values), rtol=1e-8)


def test_whole_groups_are_enumerated():
    """Groups of other sizes, a column that varies within them, against a loop over labels."""
    rng = np.random.default_rng(4)
    group = np.repeat(np.arange(8), [2, 3, 2, 4, 3, 2, 3, 2])
    n = len(group)
    arm = np.array(list("xyxyxyxy"))
    table = pd.DataFrame({"g": group, "arm": arm[group], "x": rng.normal(size=n)})
    response = rng.normal(size=(n, 2))
    result = factor_test(
        "arm + x", table, response=response, groups="g", kernel="linear", alpha=0.1, rng=0
    )["arm"]
    columns = np.hstack([naive.indicators(group), table[["x"]].to_numpy()])
    means = np.linalg.lstsq(columns, response, rcond=None)[0][:8]
    ones = np.ones((8, 1))
    values = [
        naive.statistic(means, ones, naive.indicators(labels), ones, robust=True)
        for labels in naive.relabeled(list(arm), [0] * 8)
    ]
    observed = naive.statistic(means, ones, naive.indicators(arm), ones, robust=True)
    assert result.permuted == "whole gs" and result.exact
    assert result.statistic == pytest.approx(observed, rel=1e-9)
    # a labeling and its mirror image have one value, which is enumerated once
    np.testing.assert_allclose(
        np.sort(np.repeat(result.null_distribution, 2)), np.sort(values), rtol=1e-8
    )


def test_rows_move_within_groups_and_labels_of_groups_within_blocks():
    table = trial()
    response = response_of(table)
    result = factor_test(
        "arm * visit", table, response=response, groups="patient", blocks="site", rng=0
    )
    assert result.table["permuted"].tolist() == [
        "whole patients within sites",
        "rows within patients",
        "arm labels of patients within sites",
    ]
    assert result.table["exact"].tolist() == [True, True, False]
    assert result.sizes == {"rows": 48, "patients": 12, "sites": 3}


def test_labels_of_groups_are_refitted_within_blocks():
    table = trial()
    response = response_of(table)
    parsed = Formula.read("arm * visit")
    terms = terms_of(parsed, design_table(table))
    group = pd.factorize(table["patient"])[0]
    block = pd.factorize(table["site"])[0]
    plan = plans(Design(terms, 2, group, block), 0.05)[2]
    orders = plan.permutations.draw(np.random.default_rng(0), 20)
    first = np.unique(group, return_index=True)[1]
    assert (block[first][orders] == block[first]).all()
    assert len(np.unique(orders, axis=0)) > 10
    statistic = statistic_of(plan, response)
    arm = naive.indicators(table["arm"])
    visit = naive.indicators(table["visit"])
    rest = np.hstack([naive.indicators(group), visit])
    for order, value in zip(orders, statistic(orders)[:, 0], strict=True):
        moved = naive.products(arm[first][order][group], visit)
        expected = naive.statistic(response, rest, moved, rest, robust=True)
        assert value == pytest.approx(expected, rel=1e-8)


def test_rows_of_a_group_stay_in_their_group():
    table = trial()
    terms = terms_of(Formula.read("arm * visit"), design_table(table))
    group = pd.factorize(table["patient"])[0]
    plan = plans(Design(terms, 2, group, pd.factorize(table["site"])[0]), 0.05)[1]
    labels = plan.permutations.draw(np.random.default_rng(0), 5)
    bases = plan.strata[0].moved.columns(labels)
    assert np.abs(bases[0, 0] - bases[0, 1]).max() > 0.1
    for code in range(12):
        rows = group == code
        # every visit of a patient keeps its row of the model, in another order
        sets = np.sort(np.round(bases[0][:, rows], 9), axis=1)
        assert (sets == sets[0]).all()


@pytest.mark.parametrize("groups", [None, "patient"], ids=["rows", "groups"])
@pytest.mark.parametrize("kernel", ["gaussian", "whitened", "energy", "linear"])
def test_seed_and_workers_decide_and_do_not_decide(kernel, groups):
    table = trial()
    options = {
        "response": response_of(table),
        "kernel": kernel,
        "groups": groups,
        "n_resamples": 99,
    }
    first = factor_test("arm * visit", table, rng=5, **options)
    again = factor_test("arm * visit", table, rng=5, workers=2, **options)
    other = factor_test("arm * visit", table, rng=6, **options)
    assert first == again
    assert first["visit"] != other["visit"]
    assert (first.pvalues > 0.0).all()


def test_coordinates_and_gram_matrices_agree():
    table = trial()
    response = response_of(table, shift=0.5)
    both = [
        factor_test("arm * visit + age", table, response=response, gram=gram, rng=0).table
        for gram in ("dense", "factor")
    ]
    pd.testing.assert_frame_equal(*both, rtol=1e-6)


@pytest.mark.parametrize("groups", [None, "patient"], ids=["rows", "groups"])
def test_tiles_and_gram_matrices_agree(groups, monkeypatch):
    table = trial()
    options = {"response": response_of(table, shift=0.5), "groups": groups, "gram": "dense"}
    dense = factor_test("arm * visit", table, n_resamples=99, rng=0, **options)
    monkeypatch.setattr("shrinktest.statistics.tiled._TILE", 13)
    tiled = factor_test("arm * visit", table, n_resamples=99, rng=0, max_memory=20_000, **options)
    assert [test.route for test in tiled.tests] == ["tiles"] * 3
    pd.testing.assert_frame_equal(dense.table, tiled.table, rtol=1e-6)
    spread = [result.dispersion(rng=0).table for result in (dense, tiled)]
    pd.testing.assert_frame_equal(*spread, rtol=1e-6)


def test_a_precomputed_matrix_is_compared_as_it_is():
    table = trial()
    response = response_of(table)
    options = {"rng": 0, "statistic": "robust"}
    plain = factor_test(
        "arm * visit", table, response=response, kernel="linear", location=None, **options
    )
    gram = factor_test("arm * visit", table, response=Precomputed(response @ response.T), **options)
    np.testing.assert_allclose(plain.table["statistic"], gram.table["statistic"], rtol=1e-9)
    np.testing.assert_allclose(plain.table["share"], gram.table["share"], rtol=1e-9)
    assert "For arm:visit, the null hypothesis is that effects add up in this kernel" in "".join(
        gram.notes
    )


def test_shifts_that_add_up_are_no_interaction():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": np.repeat(list("xy"), 40), "b": np.tile(list("pq"), 40)})
    shift = 3.0 * (table["a"] == "y").to_numpy() + 3.0 * (table["b"] == "q").to_numpy()
    response = rng.normal(size=(80, 2)) + shift[:, None]
    aligned_data = factor_test("a * b", table, response=response, rng=0)
    embeddings = factor_test("a * b", table, response=response, location=None, rng=0)
    assert aligned_data["a:b"].pvalue > 0.05
    assert embeddings["a:b"].pvalue == 0.001


def test_alignment_is_hubers_estimate():
    """Iterated weighted least squares has converged: the weighted residuals add up to zero."""
    rng = np.random.default_rng(1)
    cells = np.repeat([0, 1], 30)
    space = basis(np.hstack([np.ones((60, 1)), rng.normal(size=(60, 2))]))
    values = rng.standard_t(2, size=(60, 2)) + 5.0 * space[:, 1:2]
    left = aligned(values, space, cells)
    scale = np.empty_like(left)
    for cell in (0, 1):
        scale[cells == cell] = np.median(np.abs(left[cells == cell]), axis=0)
    influence = np.clip(left / scale, -1.0, 1.0) / scale
    assert np.abs(space.T @ influence).max() < 0.01 * np.abs(influence).sum()
    fitted = values - left
    np.testing.assert_allclose(fitted, space @ (space.T @ fitted), atol=1e-9)


def test_mixed_columns_are_compared_as_numbers_and_levels():
    table = trial(96)
    rng = np.random.default_rng(11)
    table["mood"] = np.where(rng.random(96) < 0.5, "good", "bad")
    table["pain"] = rng.normal(size=96)
    result = factor_test("pain + mood ~ arm * smoker", table, rng=0)
    assert result.response == "pain, mood"
    assert (result.pvalues > 0.05).all()


def test_missing_values_are_left_out_or_refused():
    table = trial()
    response = response_of(table)
    table.loc[3, "age"] = np.nan
    response[5, 1] = np.nan
    result = factor_test(
        "arm + age", table, response=response, nan_policy="omit", n_resamples=99, rng=0
    )
    keep = np.ones(len(table), dtype=bool)
    keep[[3, 5]] = False
    plain = factor_test("arm + age", table[keep], response=response[keep], n_resamples=99, rng=0)
    pd.testing.assert_frame_equal(result.table, plain.table)
    assert result.sizes["rows"] == 46


def test_several_kernels_are_combined():
    table = trial()
    result = factor_test(
        "arm + visit", table, response=response_of(table), estimator="auto", n_resamples=99, rng=0
    )
    assert [len(test.members) for test in result.tests] == [5, 5]
    assert result.table["share"].between(-1.0, 1.0).all()


def test_pvalues_are_adjusted_by_holm():
    table = trial()
    result = factor_test("arm * visit", table, response=response_of(table, shift=1.0), rng=0)
    expected = np.empty(3)
    running = 0.0
    for rank_, i in enumerate(np.argsort(result.pvalues, kind="stable")):
        running = max(running, (3 - rank_) * result.pvalues[i])
        expected[i] = min(running, 1.0)
    np.testing.assert_allclose(result.adjusted, expected)
    assert result.reject().tolist() == [True, False, False]


def test_summaries_name_what_matters():
    table = trial()
    result = factor_test(
        "arm * visit", table, response=response_of(table, shift=1.0), groups="patient", rng=0
    )
    text = str(result.summary())
    assert text.startswith("Effects on the response (48 rows, 12 patients)")
    assert "Arm matters (adjusted p = .0" in text
    assert "arm labels of patients" in text
    assert repr(result).startswith("FactorResult(arm: p=0.00")
    assert result["arm"].term.name == "arm"
    assert pickle.loads(pickle.dumps(result)) == result
    assert json.loads(result.to_json())["rows"][0]["term"] == "arm"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"formula": "arm + visti"}, "Did you mean 'visit'"),
        ({"formula": "age ~ arm"}, "leave one out"),
        ({"formula": "age ~ arm + age", "response": None}, "the response 'age' among its terms"),
        ({"response": None}, "response is missing"),
        ({"response": ["agee"]}, "Did you mean 'age'"),
        ({"response": np.ones((3, 2))}, "response has 3 rows and data has 48"),
        ({"typ": 3}, "typ=3 adjusts main effects"),
        ({"typ": "II"}, "typ must be 2 or 1"),
        ({"statistic": "t"}, "statistic must be one of"),
        ({"location": "mean"}, "location must be one of"),
        ({"estimator": "fkmse"}, "use estimator='kme'"),
        ({"groups": "patien"}, "Did you mean 'patient'"),
        ({"groups": [1, 2]}, "groups has 2 labels for 48 rows"),
        ({"groups": "site", "blocks": "patient"}, "more than one block"),
        ({"formula": "arm + site", "groups": "patient", "blocks": "site"}, "determined by"),
        ({"response": Distances(np.zeros((3, 3)))}, "response has 3 rows"),
        ({"response": Distances(np.zeros((48, 48))), "kernel": "energy"}, "leave it out"),
        ({"response": Distances(np.zeros((48, 48))), "estimator": "auto"}, "use 'kme'"),
        ({"formula": "region", "groups": "site"}, "no residual degrees of freedom"),
    ],
)
def test_faults_of_arguments(options, message):
    table = trial()
    options = {"formula": "arm + visit", "response": response_of(table), **options}
    with pytest.raises(ValueError, match=re.escape(message)):
        factor_test(options.pop("formula"), table, **options)


def test_too_few_groups_say_so():
    table = trial(24)
    with pytest.raises(ValueError, match=r"whole patients leave 10 different.*below 0\.1"):
        factor_test("arm", table, response=response_of(table), groups="patient")


@pytest.mark.parametrize(
    ("argument", "name"),
    [
        ("strata", "blocks"),
        ("by", "typ"),
        ("permutations", "n_resamples"),
        ("perm", "n_resamples"),
        ("method", "kernel"),
    ],
)
def test_names_of_other_packages_have_a_hint(argument, name):
    table = trial()
    with pytest.raises(TypeError, match=f"it is {name}="):
        factor_test("arm", table, response=response_of(table), **{argument: 1})


def test_methods_of_other_packages_are_distances_here():
    with pytest.raises(TypeError, match=r"kernel= here, or response=Distances\("):
        factor_test("arm", trial(), response=response_of(trial()), method="bray")
    with pytest.raises(TypeError, match="no argument method=; help"):
        two_sample_test([1.0, 2.0], [2.0, 3.0], method="bray")


# ------------------------------------------------------------------------------------ further tests


def test_columns_that_carry_an_effect():
    table = trial()
    response = response_of(table, seed=5)
    response[:, 1] += 2.0 * (table["arm"] == "drug").to_numpy()
    result = factor_test("arm * visit", table, response=response, rng=0)
    columns = result.columns("arm", rng=0)
    assert columns.labels == (("0",), ("1",), ("2",))
    assert columns.reject().tolist() == [False, True, False]
    alone = factor_test("arm * visit", table, response=response[:, 1], rng=0)["arm"]
    assert columns.statistics[1] == pytest.approx(alone.statistic, rel=1e-9)
    named = table.assign(p=response[:, 0], q=response[:, 1], mood=table["visit"])
    mixed = factor_test("p + q + mood ~ arm", named, rng=0).columns("arm", rng=0)
    assert mixed.labels == (("p",), ("q",), ("mood",))


def test_pairs_are_tests_of_their_rows():
    table = trial()
    response = response_of(table)
    response[table["visit"] == "v4"] += 2.0
    result = factor_test("arm * visit", table, response=response, rng=0)
    pairs = result.pairwise("visit", rng=0)
    assert len(pairs) == 6
    assert [label for label, small in zip(pairs.labels, pairs.reject(), strict=True) if small] == [
        ("v1", "v4"),
        ("v2", "v4"),
        ("v3", "v4"),
    ]
    keep = table["visit"].isin(["v2", "v4"]).to_numpy()
    alone = factor_test("visit + arm", table[keep], response=response[keep], rng=0)["visit"]
    statistic = dict(zip(pairs.labels, pairs.statistics, strict=True))[("v2", "v4")]
    assert statistic == pytest.approx(alone.statistic, rel=1e-9)
    within = result.pairwise("visit", within="arm", rng=0)
    assert within.keys == ("first", "second", "arm")
    assert len(within) == 12
    np.testing.assert_allclose(within.adjusted.min(), min(1.0, 12 * within.pvalues.min()))
    assert "for each test by itself" in str(pairs.summary())
    with pytest.raises(ValueError, match="needs permutations that all tests share"):
        pairs.with_method("westfall-young")


def test_pairs_are_told_apart_as_two_samples_are():
    table = trial(96)
    response = response_of(table, shift=0.8)
    result = factor_test("arm", table, response=response, kernel="energy", rng=0)
    pairs = result.pairwise("arm", rng=0)
    second = (table["arm"] == "placebo").to_numpy()
    area = result.trial._area(result["arm"], np.arange(96), second, np.random.default_rng(3))
    samples = response[~second], response[second]
    effect = two_sample_test(*samples, kernel="energy", n_resamples=0).effect(rng=3)
    assert area.value == pytest.approx(effect.auc)
    assert area.interval(0.95) == pytest.approx(effect.auc_interval)
    (row,) = pairs.rows()
    assert row["low"] < row["auc"] < row["high"]
    assert row["auc"] == pytest.approx(effect.auc, abs=0.05)
    assert "AUC, with 95% interval" in str(pairs.summary())
    assert pairs.to_dict()["tests"][0]["auc"] == row["auc"]


def test_groups_are_the_units_of_pairs():
    """Copies of rows tell nothing new; patients with one visit of two are left out."""
    table = trial(80).iloc[::4].reset_index(drop=True)
    response = response_of(table, shift=1.0)
    copies = table.loc[np.repeat(np.arange(20), 3)].reset_index(drop=True)
    options = {"kernel": "linear", "scale": None, "rng": 0}
    one = factor_test("arm", table, response=response, **options).pairwise("arm", rng=0)
    many = factor_test(
        "arm", copies, response=np.repeat(response, 3, axis=0), groups="patient", **options
    ).pairwise("arm", rng=0)
    assert one.areas[("drug", "placebo")] == pytest.approx(many.areas[("drug", "placebo")])
    visits = trial(96)[lambda rows: rows["visit"].isin(["v1", "v2"])].iloc[:-1]
    paired = factor_test("visit", visits, response=response_of(visits), groups="patient", **options)
    area = paired.trial._area(
        paired["visit"],
        np.arange(47),
        (visits["visit"] == "v2").to_numpy(),
        np.random.default_rng(0),
    )
    assert area.units == (23, 23)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda result: result.columns("visti"), "Did you mean 'visit'"),
        (lambda result: result.pairwise("age"), "term must be one of"),
        (lambda result: result.pairwise("visit", within="age"), "within must be one of"),
        (lambda result: pickle.loads(pickle.dumps(result)).columns("arm"), "without its data"),
    ],
    ids=["column", "covariate", "within", "pickled"],
)
def test_faults_of_further_tests(call, message):
    table = trial()
    result = factor_test(
        "arm * visit + age", table, response=response_of(table), n_resamples=99, rng=0
    )
    with pytest.raises(ValueError, match=message):
        call(result)


def test_shares_are_drawn():
    import matplotlib

    matplotlib.use("Agg")
    table = trial()
    result = factor_test("arm * visit", table, response=response_of(table), n_resamples=99, rng=0)
    ax = result.plot()
    drawn = [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 1]
    np.testing.assert_allclose(drawn, result.table["share"])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["arm", "visit", "arm:visit"]


def test_cells_are_drawn_at_their_means():
    import matplotlib

    matplotlib.use("Agg")
    table = trial()
    response = response_of(table, shift=2.0)
    result = factor_test(
        "arm * visit + age", table, response=response, kernel="linear", n_resamples=99, rng=0
    )
    ax = result.plot("cells")
    lines = [np.array(line.get_xydata()) for line in ax.lines]
    assert [line.shape for line in lines] == [(4, 2), (4, 2)]
    assert ax.get_legend_handles_labels()[1] == ["placebo", "drug"]
    means = pd.DataFrame(response).groupby([table["arm"], table["visit"]]).mean()
    drawn = {"placebo": lines[0], "drug": lines[1]}
    # the first coordinate of means in three columns, up to its sign
    centered = means - means.mean()
    axis = np.linalg.svd(centered.to_numpy(), full_matrices=False)[2][0]
    expected = np.abs(np.concatenate([centered.loc[arm] @ axis for arm in drawn]))
    np.testing.assert_allclose(np.abs(np.concatenate(list(drawn.values()))[:, 0]), expected)
    assert [len(line.get_xydata()) for line in result.plot("cells", along="arm").lines] == [2] * 4
    assert "along arm" in result.plot("cells", along="arm").get_title()


@pytest.mark.parametrize(
    ("formula", "arguments", "message"),
    [
        ("arm + age", {"what": "cell"}, "Did you mean 'cells'"),
        ("arm + age", {"along": "arm"}, "along= is for plot"),
        ("arm + age", {"what": "cells", "along": "age"}, "along must be one of"),
        ("age", {"what": "cells"}, "no factor and no cells"),
    ],
)
def test_faults_of_pictures(formula, arguments, message):
    table = trial()
    result = factor_test(formula, table, response=response_of(table), n_resamples=99, rng=0)
    with pytest.raises(ValueError, match=re.escape(message)):
        result.plot(**arguments)


# -------------------------------------------------------------------------------------- distances


def test_distances_are_inner_products_about_the_mean():
    points = np.random.default_rng(0).normal(size=(12, 2))
    kernel = Distances(squareform(pdist(points)))
    centered = points - points.mean(axis=0)
    np.testing.assert_allclose(kernel(np.arange(12)), centered @ centered.T, atol=1e-12)
    assert kernel.is_definite
    assert not Distances(bray_curtis()[0]).is_definite


def test_tests_of_means_take_distances_that_are_not_euclidean():
    distances, environment = bray_curtis()
    kernel = Distances(distances)
    rows = np.arange(20)
    samples = [rows[environment["Management"] == level] for level in ("SF", "NM", "BF", "HF")]
    assert k_sample_test(*samples, kernel=kernel, rng=0).pvalue < 0.05
    assert two_sample_test(samples[0], samples[1], kernel=kernel, rng=0).pvalue < 0.05
    assert independence_test(rows, environment["A1"], kernel_x=kernel, rng=0).pvalue < 0.5


def test_other_tests_name_a_remedy_for_such_distances():
    kernel = Distances(bray_curtis()[0])
    rows = np.arange(20)
    with pytest.raises(ValueError, match="needs Euclidean distances; use Precomputed"):
        two_sample_test(rows[:10], rows[10:], kernel=kernel, estimator="fkmse")
    with pytest.raises(ValueError, match="needs Euclidean distances; use Precomputed"):
        joint_independence_test(rows, rows, rows, kernels=kernel)


@pytest.mark.parametrize(
    ("distances", "message"),
    [
        (np.ones((2, 3)), "must be square"),
        (np.ones((3, 3)), "0 in the diagonal"),
        (np.array([[0.0, -1.0], [-1.0, 0.0]]), "at least 0"),
        (np.array([[0.0, 1.0], [2.0, 0.0]]), "not symmetric"),
    ],
)
def test_faults_of_distances(distances, message):
    with pytest.raises(ValueError, match=message):
        Distances(distances)


# ------------------------------------------------------------------------------------- the command


def table_file(folder):
    table = trial()
    response = response_of(table, shift=1.0)
    path = folder / "table.csv"
    table.assign(pain=response[:, 0], mood=response[:, 1]).to_csv(path, index=False)
    return path


def test_the_command_gives_the_result_of_the_library(tmp_path, capsys):
    path = table_file(tmp_path)
    words = ["--response", "pain,mood", "--groups", "patient", "--seed", "0", "--json"]
    assert main(["factors", str(path), "arm * visit", *words, "--exit-code"]) == 1
    shown = json.loads(capsys.readouterr().out)
    expected = factor_test("pain + mood ~ arm * visit", pd.read_csv(path), groups="patient", rng=0)
    assert [row["pvalue"] for row in shown["rows"]] == expected.pvalues.tolist()
    assert [row["term"] for row in shown["rows"]] == ["arm", "visit", "arm:visit"]


def test_the_command_tests_terms_together(tmp_path, capsys):
    path = table_file(tmp_path)
    words = ["pain ~ arm * visit", "--groups", "patient", "--within", "signs", "--seed", "0"]
    joint = ["--terms", "arm in any way=arm, arm:visit", "--terms", "time=visit,arm:visit"]
    assert main(["factors", str(path), *words, *joint, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["term"] for row in rows[3:]] == ["arm in any way", "time"]
    assert rows[4]["permuted"] == "signs of patients"
    assert main(["factors", str(path), *words, "--terms", "arm,visit"]) == 2
    assert "arm in any way=arm,arm:visit" in capsys.readouterr().err


def test_the_command_compares_pairs_of_levels(tmp_path, capsys):
    path = table_file(tmp_path)
    words = ["pain + mood ~ visit", "--pairwise", "visit", "--seed", "0", "--json"]
    assert main(["factors", str(path), *words]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert len(shown["tests"]) == 6


def test_pairs_and_columns_are_drawn(tmp_path, capsys):
    import matplotlib

    matplotlib.use("Agg")
    table = trial()
    result = factor_test("arm * visit", table, response=response_of(table), n_resamples=99, rng=0)
    for tests, names in (
        (result.pairwise("visit", rng=0), {"v1 and v2", "v3 and v4"}),
        (result.pairwise("arm", within="visit", rng=0), {"drug and placebo, v1"}),
        (result.columns("arm", rng=0), {"0", "1", "2"}),
    ):
        labels = tests.plot().get_yticklabels()
        drawn = {label.get_text().partition(" (p")[0] for label in labels}
        assert names <= drawn and len(drawn) == len(tests)
    assert "tests of 6 pairs of levels" in str(result.pairwise("visit", rng=0).summary())
    assert "tests of 3 columns" in str(result.columns("arm", rng=0).summary())
    path = table_file(tmp_path)
    words = ["pain + mood ~ visit", "--pairwise", "visit", "--plot", str(tmp_path / "pairs.png")]
    assert main(["factors", str(path), *words, "--resamples", "19", "--seed", "0"]) == 0
    assert (tmp_path / "pairs.png").stat().st_size > 0 and capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--exit-code"], 1),
        (["--fail-if", "pvalue < 0.05"], 1),
        (["--fail-if", "adjusted < 1e-9"], 0),
        (["--fail-if", "share > 0.05"], 1),
        (["--fail-if", "share > 0.9"], 0),
        (["--typ", "1", "--exit-code"], 1),
        (["--typ", "3"], 2),
        (["--pairwise", "visit", "--exit-code"], 0),
        (["--pairwise", "visit", "--fail-if", "adjusted < 1e-9"], 0),
        (["--fail-if", "speed > 1"], 2),
    ],
)
def test_exit_codes_of_the_command(words, code, tmp_path, capsys):
    shared = ["--response", "pain,mood", "--groups", "patient", "--seed", "0", "--resamples", "99"]
    assert main(["factors", str(table_file(tmp_path)), "arm + visit", *shared, *words]) == code
    shown = capsys.readouterr()
    said = code == 2 or (code == 1 and "--fail-if" in words)
    assert bool(shown.err) == said and ("arm" in shown.out or "--pairwise" in words or code)
    if said and code == 1:
        assert re.fullmatch(r"shrinktest: \w+ = \S+ [<>] \S+ \(\w+, \d of 2\)\n", shown.err)


def test_the_command_names_unknown_columns(tmp_path, capsys):
    path = table_file(tmp_path)
    assert main(["factors", str(path), "pain ~ arn"]) == 2
    assert "Did you mean 'arm'" in capsys.readouterr().err
