"""Two samples with covariates: exact within strata and for chances that are known, nearly by a logistic regression."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import naive_given
from shrinktest import two_sample_test
from shrinktest.permutations.schemes import LabelsByChance

RNG = np.random.default_rng(8)
N = 80
Z = RNG.normal(size=N)
SECOND = RNG.uniform(size=N) < 1.0 / (1.0 + np.exp(-1.5 * Z))
OUTCOME = 2.0 * Z + 0.5 * RNG.normal(size=N)
X, Y = OUTCOME[~SECOND], OUTCOME[SECOND]
PAIR = (Z[~SECOND], Z[SECOND])
APART = (np.zeros(len(X)), np.ones(len(Y)))
SITES = (np.array(list("aabbcc")), np.array(list("abbccc")))


def test_what_covariates_explain_is_no_difference():
    assert two_sample_test(X, Y, rng=0).pvalue < 0.01
    found = two_sample_test(X, Y, covariates=PAIR, rng=0)
    assert found.pvalue > 0.05
    assert found.method == "labels drawn by propensity" and "logistic regression" in found.assumption
    assert two_sample_test(X, Y + 1.0, covariates=PAIR, rng=0).pvalue < 0.01


def test_labels_are_strata():
    x, y = X[:6], Y[:6]
    found = two_sample_test(x, y, covariates=SITES, rng=0)
    assert found.method == "permutations within strata"
    left = np.split(naive_given.centred(np.concatenate([x, y]), np.concatenate(SITES)), [6])
    assert found.pvalue == two_sample_test(*left, blocks=SITES, rng=0).pvalue
    tables = tuple(pd.DataFrame({"site": site}) for site in SITES)
    assert two_sample_test(x, y, covariates=tables, rng=0).pvalue == found.pvalue
    codes = tuple(np.unique(site, return_inverse=True)[1] for site in SITES)
    assert two_sample_test(x, y, covariates=codes, covariate_method="strata", rng=0).pvalue == found.pvalue


def test_a_difference_within_strata_is_found_also_where_samples_are_of_other_strata():
    """Simpson's paradox: more of the second sample is from the stratum with low values, and all of it is higher."""
    rng = np.random.default_rng(3)
    sites = np.repeat([0, 1], [40, 10]), np.repeat([0, 1], [10, 40])
    x, y = rng.normal(-2.0 * sites[0]), rng.normal(1.2 - 2.0 * sites[1])
    names = tuple(site.astype(str) for site in sites)
    assert abs(x.mean() - y.mean()) < 0.5
    assert two_sample_test(x, y, covariates=names, rng=0).pvalue < 0.01
    assert two_sample_test(x, y - 1.2, covariates=names, rng=0).pvalue > 0.05


@pytest.mark.parametrize("covariates", [SITES, (np.arange(6.0) % 4, np.arange(6.0) % 3)])
def test_the_witness_function_is_of_what_is_left(covariates):
    tables = tuple(pd.DataFrame({"value": one[:6].ravel(), "kind": list("ababab")}) for one in (X, Y))
    result = two_sample_test(*tables, covariates=covariates, rng=0)
    for shown in (
        lambda: result.witness(tables[0]),
        lambda: result.witness_band([[0.0, 1.0, 0.0]]),
        result.plot_witness,
    ):
        with pytest.raises(ValueError, match="what is left of the samples once covariates are taken off"):
            shown()
    assert len(result.witness_band().values) == 12 and len(result.contributions())


def test_columns_keep_their_names_within_strata():
    tables = tuple(pd.DataFrame({"value": one[:6].ravel(), "kind": list("ababab")}) for one in (X, Y))
    found = two_sample_test(*tables, covariates=SITES, rng=0).contributions()
    assert found["coordinate"].tolist() == ["value", "kind"]


def test_strata_of_one_sample_are_left_out():
    sites = tuple(np.append(site, one) for site, one in zip(SITES, ("only here", "only there"), strict=True))
    found = two_sample_test(X[:7], Y[:7], covariates=sites, rng=0)
    assert found.n_observations == (6, 6)
    assert found.pvalue == two_sample_test(X[:6], Y[:6], covariates=SITES, rng=0).pvalue
    assert any("2 rows of 14 have covariates that the other sample does not have" in note for note in found.notes)


@pytest.mark.parametrize("form", ["biased", "unbiased"])
def test_strata_leave_samples_with_two_rows_at_least(form):
    sites = list("abb"), list("aaaa")
    why = (
        "before has 1 row once the 2 rows with covariates that the other sample does not have are dropped; a test needs"
    )
    for x, y, z in ((X[:3], Y[:4], sites), (np.append(X[:3], np.nan), Y[:4], (list("abba"), list("aaaa")))):
        with pytest.raises(ValueError, match=why):
            two_sample_test(x, y, covariates=z, alpha=0.5, form=form, nan_policy="omit", names=("before", "after"))
    with pytest.raises(ValueError, match="Y has 1 row once the 3 rows"):
        two_sample_test(X[:4], Y[:4], covariates=(list("aaaa"), list("abbb")), alpha=0.5, form=form)


def test_known_chances_are_drawn_exactly():
    """The p-value is near that of all labellings, weighted by their chances, as a twin finds it."""
    chance = np.array([0.2, 0.4, 0.5, 0.6, 0.7, 0.8])
    x, y = np.array([0.0, 1.0, 4.0]), np.array([2.0, 3.0, 5.0])
    z = np.zeros(6)  # nothing to take off
    told = {"covariates": (z[:3], z[3:]), "propensity": (chance[:3], chance[3:]), "kernel": "linear"}
    found = two_sample_test(x, y, **told, n_resamples=9999, rng=0, alpha=0.5)
    pooled = np.concatenate([x, y])
    every = naive_given.chances_of_labels(chance / (1.0 - chance), 3)
    observed = (x.mean() - y.mean()) ** 2
    exact = sum(
        p
        for labels, p in every.items()
        if (pooled[np.array(labels) == 0].mean() - pooled[np.array(labels) == 1].mean()) ** 2 >= observed - 1e-9
    )
    assert found.pvalue == pytest.approx(exact, abs=0.02)
    assert "exact" in found.assumption and not found.exact


def test_equal_chances_are_free_permutations():
    rows = LabelsByChance((5, 4), np.zeros(9)).draw(np.random.default_rng(0), 200)
    assert (rows.sum(axis=1) == 4).all()
    assert abs(rows.mean(axis=0) - 4 / 9).max() < 0.15


def test_any_classifier():
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(n_estimators=20, min_samples_leaf=10, random_state=0)
    found = two_sample_test(X, Y + 1.0, covariates=PAIR, propensity=forest, rng=0)
    assert found.pvalue < 0.05 and "RandomForest" in found.assumption


def test_omitted_rows_take_their_covariates_along():
    x = X.copy()
    x[2] = np.nan
    keep = np.arange(len(X)) != 2
    found = two_sample_test(x, Y, covariates=PAIR, nan_policy="omit", rng=0)
    assert found.pvalue == two_sample_test(X[keep], Y, covariates=(PAIR[0][keep], PAIR[1]), rng=0).pvalue


def test_several_estimators_and_effects():
    assert two_sample_test(X, Y + 1.0, covariates=PAIR, estimator=["kme", "fkmse"], rng=0, n_resamples=99).pvalue < 0.05
    signs = tuple((part > 0).tolist() for part in PAIR)
    assert 0.0 < two_sample_test(X, Y, covariates=signs, rng=0).effect().auc < 1.0
    with pytest.raises(ValueError, match="no effect that is adjusted"):
        two_sample_test(X, Y, covariates=PAIR, rng=0).effect()


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"covariates": PAIR[0]}, "must be a pair"),
        ({"covariates": PAIR[::-1]}, "give them for the same rows"),
        ({"covariates": PAIR, "paired": True}, "leave one of them out"),
        ({"covariates": PAIR, "shift": "stretches"}, "leave one of them out"),
        ({"covariates": PAIR, "propensity": 3.0}, "propensity"),
        ({"covariates": PAIR, "propensity": np.full(3, 0.5)}, "propensity has 3 numbers for 80 rows"),
        ({"covariates": PAIR, "propensity": np.ones(N)}, "must lie between 0 and 1"),
        ({"covariates": (np.zeros(len(X)), np.ones(len(Y)))}, "tell the samples apart"),
        (
            {"covariates": (np.zeros(len(X)), np.ones(len(Y))), "covariate_method": "strata"},
            "no value occurs in both",
        ),
        ({"covariates": PAIR, "blocks": np.arange(N) % 2}, "covariate_method='strata'"),
        ({"covariates": PAIR, "covariate_method": "matching"}, "covariate_method"),
        ({"propensity": np.full(N, 0.5)}, "and there are none; give covariates= as well"),
    ],
)
def test_what_cannot_be_tested(told, message):
    with pytest.raises((ValueError, TypeError), match=message):
        two_sample_test(X, Y, **told)


@pytest.mark.slow
def test_levels_by_logistic_regression():
    """p <= .05 in 400 data sets with a logistic propensity and an outcome that bends: within a binomial region."""
    rejected = 0
    for trial in range(400):
        rng = np.random.default_rng(trial)
        z = rng.normal(size=100)
        second = rng.uniform(size=100) < 1.0 / (1.0 + np.exp(-z))
        outcome = np.sin(2 * z) + z + 0.5 * rng.normal(size=100)
        told = {"covariates": (z[~second], z[second]), "rng": rng, "n_resamples": 199}
        rejected += two_sample_test(outcome[~second], outcome[second], **told).pvalue <= 0.05
    assert rejected <= 36


@pytest.mark.parametrize(
    ("covariates", "told"),
    [
        (PAIR, {}),
        ((PAIR[0] > 0.0, PAIR[1] > 0.0), {"covariate_method": "strata"}),
        (PAIR, {"propensity": (np.full(len(X), 0.4), np.full(len(Y), 0.4))}),
    ],
)
def test_missing_covariates_are_what_nan_policy_says(covariates, told):
    x, (first, second) = X.copy(), (np.array(one, dtype=float) for one in covariates)
    x[2] = first[5] = np.nan
    told = {"rng": 0, "n_resamples": 99, **told}
    with pytest.raises(ValueError, match=r"covariates of X has 1 missing value .* pass nan_policy='omit'"):
        two_sample_test(X, Y, covariates=(first, second), **told)
    found = two_sample_test(x, Y, covariates=(first, second), nan_policy="omit", **told)
    complete = np.isfinite(x) & np.isfinite(first)
    if "propensity" in told:
        told["propensity"] = (told["propensity"][0][complete], told["propensity"][1])
    without = two_sample_test(x[complete], Y, covariates=(first[complete], second), **told)
    assert (found.pvalue, found.statistic) == (without.pvalue, without.statistic)
    assert any("1 of" in note and "rows of covariates of X" in note for note in found.notes)
    if "propensity" in told:
        told["propensity"] = tuple(np.full(len(one), 0.4) for one in (X, Y))
    assert np.isnan(two_sample_test(X, Y, covariates=(first, second), nan_policy="propagate", **told).pvalue)
    told["nan_policy"] = "indicator"
    if "propensity" in told:  # the chances are known, also those of rows that miss covariates
        found = two_sample_test(X, Y, covariates=(first, second), **told)
        assert found.pvalue > 0.0 and found.n_observations == (len(X), len(Y))
        return
    with pytest.raises(ValueError, match=r"covariates of X: 1 row misses a value, in column 0 \(1\)"):
        two_sample_test(X, Y, covariates=(first, second), **told)
