"""Terms of a formula that are tested together."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import naive_factors as naive
from factor_cases import response_of, trial
from shrinktest import factor_test

ARM = {"arm in any way": ["arm", "arm:visit"]}
VISIT = {"visit in any way": ["visit", "arm:visit"]}


@pytest.mark.parametrize("typ", [1, 2])
def test_one_column_compares_two_models(typ):
    from statsmodels.formula.api import ols

    table = trial().assign(y=response_of(trial())[:, 0])
    result = factor_test(
        "y ~ arm * visit + age", table, kernel="linear", statistic="F", terms=ARM, typ=typ, rng=0
    )["arm in any way"]
    full = ols("y ~ arm * visit + age", table).fit()
    reduced = ols("y ~ visit + age", table).fit()
    expected = full.compare_f_test(reduced)
    assert result.df == expected[2]
    assert result.statistic == pytest.approx(expected[0], rel=1e-9)
    assert result.pvalue == pytest.approx(expected[1], abs=0.08)


def test_labels_in_cells_are_enumerated():
    table = pd.DataFrame({"a": list("xxyyxxyyy"), "b": list("ppppqqqqq")})
    response = np.random.default_rng(3).normal(size=(9, 2))
    result = factor_test(
        "a * b",
        table,
        response=response,
        kernel="linear",
        terms={"a in any way": ["a", "b:a"]},
        alpha=0.3,
        rng=0,
    )["a in any way"]
    ones = np.ones((9, 1))
    other = naive.indicators(table["b"])
    before = np.hstack([ones, other])

    def value(labels):
        own = naive.indicators(labels)
        return naive.statistic(response, before, np.hstack([own, naive.products(own, other)]), ones)

    values = [value(labels) for labels in naive.relabeled(list(table["a"]), list(table["b"]))]
    assert result.permuted == "rows within cells of b" and result.validity == "exact"
    assert result.exact and result.n_resamples == 60
    assert result.statistic == pytest.approx(value(list(table["a"])), rel=1e-9)
    np.testing.assert_allclose(np.sort(result.null_distribution), np.sort(values), rtol=1e-8)


def test_all_terms_together_are_one_factor_of_cells():
    table = trial()
    response = response_of(table)
    joint = {"anything": ["arm", "smoker", "arm:smoker"]}
    result = factor_test("arm * smoker", table, response=response, terms=joint, rng=0)["anything"]
    cells = table["arm"] + table["smoker"].astype(str)
    single = factor_test("cell", {"cell": cells}, response=response, rng=0)["cell"]
    assert result.permuted == single.permuted == "rows"
    assert result.statistic == pytest.approx(single.statistic, rel=1e-9)
    assert result.share.omega2 == pytest.approx(single.share.omega2, rel=1e-9)
    assert result.pvalue == pytest.approx(single.pvalue, abs=0.06)


def test_means_of_groups_and_rows_within_them_are_averaged():
    """Every label of the groups, in both strata, against refitting."""
    rng = np.random.default_rng(5)
    group = np.repeat(np.arange(8), [2, 3, 3, 2, 3, 2, 3, 3])
    visit = np.concatenate([np.arange(np.sum(group == code)) for code in range(8)])
    arm = np.array(list("xyxyxyxy"))
    table = pd.DataFrame({"g": group, "arm": arm[group], "visit": np.array(list("abc"))[visit]})
    response = rng.normal(size=(len(group), 2))
    result = factor_test(
        "arm * visit",
        table,
        response=response,
        groups="g",
        kernel="linear",
        location=None,
        terms=ARM,
        alpha=0.1,
        n_resamples=np.inf,
        rng=0,
    )["arm in any way"]
    within = naive.indicators(table["visit"])
    rest = np.hstack([naive.indicators(group), within])
    means = np.linalg.lstsq(rest, response, rcond=None)[0]
    means = means[:8] - means[:8].mean(axis=0)  # contrasts of groups alone are determined
    ones = np.ones((8, 1))

    def value(labels):
        own = naive.indicators(labels)
        upper = naive.statistic(means, ones, own, ones, robust=True)
        moved = naive.products(own[group], within)
        return (upper + 2.0 * naive.statistic(response, rest, moved, rest, robust=True)) / 3.0

    values = [value(labels) for labels in naive.relabeled(list(arm), [0] * 8)]
    assert result.permuted == "whole gs" and result.validity == "exact"
    assert result.statistic == pytest.approx(value(arm), rel=1e-8)
    assert result.df == 3
    # each labeling of the groups is that of 4! 4! of their orders
    expected = np.sort(np.repeat(values, 576))
    np.testing.assert_allclose(np.sort(result.null_distribution), expected, rtol=1e-8)


@pytest.mark.parametrize(
    ("formula", "joint", "permuted"),
    [
        ("arm * visit", ARM, "whole patients within sites exact"),
        ("arm * visit", VISIT, "rows within patients exact"),
        ("arm * visit + region", {"t": ["arm", "region"]}, None),
        ("arm * visit + old", ARM, "whole patients within sites, within cells of old exact"),
        ("arm * visit + weight", ARM, "arm labels of patients within sites approximate"),
        (
            "(arm + old) * visit",
            {"t": ["arm:visit", "old:visit"]},
            "arm and old labels of patients within sites approximate",
        ),
        (
            "(arm + old) * visit",
            {"t": ["old", "arm:visit"]},
            "old and arm labels of patients within sites approximate",
        ),
    ],
)
def test_units_of_terms_that_are_tested_together(formula, joint, permuted):
    table = trial(96)
    patient = pd.factorize(table["patient"])[0]
    rng = np.random.default_rng(0)
    table["old"] = np.array(["old", "young"])[rng.integers(2, size=24)][patient]
    table["weight"] = rng.normal(size=24)[patient]
    options = {"response": response_of(table), "groups": "patient", "terms": joint}
    if permuted is None:
        result = factor_test(formula, table, n_resamples=99, rng=0, **options)
        row = result.table.iloc[-1]
        assert (row["term"], row["permuted"], row["exact"]) == ("t", "whole patients", True)
        return
    result = factor_test(formula, table, blocks="site", n_resamples=99, rng=0, **options)
    last = result.tests[-1].term
    assert f"{last.permuted} {last.validity}" == permuted


def test_other_terms_are_as_without_joint_ones():
    table = trial()
    options = {"response": response_of(table), "groups": "patient", "n_resamples": 99, "rng": 0}
    plain = factor_test("arm * visit", table, **options)
    joint = factor_test("arm * visit", table, terms=ARM, **options)
    columns = ["term", "df", "statistic", "pvalue", "share", "permuted"]
    pd.testing.assert_frame_equal(plain.table[columns], joint.table[columns].iloc[:3])
    assert joint.terms == ("arm", "visit", "arm:visit", "arm in any way")
    assert len(joint.columns("arm in any way", rng=0)) == 3


def test_both_strata_carry_an_effect():
    """Neither a difference in level nor one in profile alone escapes the test of both."""
    table = trial(96)
    level = response_of(table, shift=1.2)
    late = (table["visit"] == "v4").to_numpy() & (table["arm"] == "drug").to_numpy()
    profile = response_of(table) + 2.0 * late[:, None]
    for response in (level, profile):
        result = factor_test(
            "arm * visit", table, response=response, groups="patient", terms=ARM, rng=0
        )
        assert result["arm in any way"].pvalue <= 0.01


@pytest.mark.ci
def test_the_level_of_both_strata_holds():
    """300 data sets: with probability .999 an exact level of .05 rejects in .01 to .1 of them."""
    rng = np.random.default_rng(6)
    table = trial(40)
    patient = pd.factorize(table["patient"])[0]
    rejected = 0
    for seed in range(300):
        response = rng.normal(size=(40, 2)) + 2.0 * rng.normal(size=(10, 2))[patient]
        result = factor_test(
            "arm * visit",
            table,
            response=response,
            groups="patient",
            kernel="linear",
            location=None,
            terms=ARM,
            n_resamples=99,
            rng=seed,
        )
        rejected += result["arm in any way"].pvalue <= 0.05
    assert 0.01 <= rejected / 300 <= 0.1


@pytest.mark.parametrize(
    ("joint", "error", "message"),
    [
        (["arm", "visit"], TypeError, "terms must be a dict"),
        ({"t": "arm"}, TypeError, "'t' must be a list of terms"),
        ({"t": ["arm"]}, ValueError, "two different terms"),
        ({"t": ["arm", "arm"]}, ValueError, "two different terms"),
        ({"arm": ["arm", "visit"]}, ValueError, "use a name that no term has"),
        ({"t": ["arm", "visti"]}, ValueError, "Did you mean 'visit'"),
        ({"t": ["arm", "visit"]}, ValueError, "need different permutations; list them apart"),
    ],
)
def test_faults_of_joint_terms(joint, error, message):
    table = trial()
    with pytest.raises(error, match=re.escape(message)):
        factor_test(
            "arm * visit", table, response=response_of(table), groups="patient", terms=joint
        )
