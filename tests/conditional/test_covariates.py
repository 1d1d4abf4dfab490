"""Two samples with covariates: the test that the label of a row is independent of its values given these."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import naive_given
from shrinktest import independence_test, two_sample_test

RNG = np.random.default_rng(8)
N = 80
Z = RNG.normal(size=N)
CHANCE = 1.0 / (1.0 + np.exp(-1.5 * Z))
SECOND = RNG.uniform(size=N) < CHANCE
OUTCOME = 2.0 * Z + 0.5 * RNG.normal(size=N)
X, Y = OUTCOME[~SECOND], OUTCOME[SECOND]
PAIR = (Z[~SECOND], Z[SECOND])
KNOWN = (CHANCE[~SECOND], CHANCE[SECOND])
SITES = (np.array(list("aabbcc")), np.array(list("abbccc")))
FEW = {"n_resamples": 99, "rng": 0}


def test_what_covariates_explain_is_no_difference():
    assert two_sample_test(X, Y, rng=0).pvalue < 0.01
    methods = {
        "residuals": "signs of residual products",
        "propensity": "labels drawn by propensity",
    }
    for name, method in methods.items():
        options = {
            "covariates": PAIR,
            "propensity": KNOWN if name == "propensity" else None,
            "rng": 0,
        }
        result = two_sample_test(X, Y, **options)
        assert result.pvalue > 0.05 and result.method == method
        assert two_sample_test(X, Y + 1.0, covariate_method=name, **options).pvalue < 0.01


@pytest.mark.parametrize("kernel", [None, "laplacian"])
def test_numbers_are_given_to_the_label(kernel):
    """The pooled sample and the label are the two variables."""
    options = {} if kernel is None else {"kernel_x": kernel, "kernel_y": "linear"}
    label = np.repeat([0.0, 1.0], [len(X), len(Y)])
    expected = independence_test(
        np.append(X, Y), label, given=np.concatenate(PAIR), **options, **FEW
    )
    result = two_sample_test(
        X, Y, covariates=PAIR, **({} if kernel is None else {"kernel": kernel}), **FEW
    )
    assert result.test == "conditional-independence" and result.n_observations == (len(X), len(Y))
    np.testing.assert_array_equal(result.null_distribution, expected.null_distribution)


def test_labels_are_strata():
    x, y = X[:6], Y[:6]
    result = two_sample_test(x, y, covariates=SITES, rng=0)
    assert result.method == "permutations within strata" and "exact" in result.assumption
    left = np.split(naive_given.centered(np.concatenate([x, y]), np.concatenate(SITES)), [6])
    assert result.pvalue == two_sample_test(*left, blocks=SITES, rng=0).pvalue
    codes = tuple(np.unique(site, return_inverse=True)[1] for site in SITES)
    for options in (
        {"covariates": tuple(pd.DataFrame({"site": site}) for site in SITES)},
        {"covariates": codes, "covariate_method": "strata"},
        {
            "covariates": tuple(pd.DataFrame({"s": code}) for code in codes),
            "column_types": {"s": "category"},
        },
    ):
        assert two_sample_test(x, y, **options, rng=0).pvalue == result.pvalue


def test_a_difference_within_strata_is_found_also_where_samples_are_of_other_strata():
    """Simpson's paradox: more of the second sample is from the stratum with low values, and all of it is higher."""
    rng = np.random.default_rng(3)
    sites = np.repeat([0, 1], [40, 10]), np.repeat([0, 1], [10, 40])
    x, y = rng.normal(-2.0 * sites[0]), rng.normal(1.2 - 2.0 * sites[1])
    names = tuple(site.astype(str) for site in sites)
    assert two_sample_test(x, y, covariates=names, rng=0).pvalue < 0.01
    assert two_sample_test(x, y - 1.2, covariates=names, rng=0).pvalue > 0.05


def test_strata_of_one_sample_are_left_out():
    sites = tuple(
        np.append(site, label)
        for site, label in zip(SITES, ("only here", "only there"), strict=True)
    )
    result = two_sample_test(X[:7], Y[:7], covariates=sites, rng=0)
    assert result.n_observations == (6, 6)
    assert result.pvalue == two_sample_test(X[:6], Y[:6], covariates=SITES, rng=0).pvalue
    assert any("2 of 14 rows were left out" in note for note in result.notes)


def test_effects_exist_within_strata_only():
    signs = tuple((part > 0).tolist() for part in PAIR)
    assert 0.0 < two_sample_test(X, Y, covariates=signs, rng=0).effect().auc < 1.0
    for options in ({}, {"propensity": KNOWN}):
        with pytest.raises(ValueError, match=r"effect\(\) is not available"):
            two_sample_test(X, Y, covariates=PAIR, **options, **FEW).effect()


def test_one_chance_of_all_rows_may_be_a_number():
    x, y = np.random.default_rng(0).normal(size=(2, 12, 1))
    options = {"covariates": (x, y), "n_resamples": 99, "rng": 0}
    coin = two_sample_test(x, y + 1.0, propensity=0.5, **options)
    rows = two_sample_test(x, y + 1.0, propensity=np.full(24, 0.5), **options)
    assert (coin.statistic, coin.pvalue) == (rows.statistic, rows.pvalue)


def test_known_chances_are_drawn_exactly():
    """The p-value is near that of all labelings, weighted by their probabilities in a naive twin."""
    chance = np.array([0.2, 0.4, 0.5, 0.6, 0.7, 0.8])
    x, y, z = (
        np.array([0.0, 1.0, 4.0]),
        np.array([2.0, 3.0, 5.0]),
        np.zeros(6),
    )  # nothing to take off
    options = {"covariates": (z[:3], z[3:]), "propensity": chance, "kernel": "linear", "alpha": 0.5}
    result = two_sample_test(x, y, **options, n_resamples=9999, rng=0)
    pooled, observed = np.concatenate([x, y]), (x.mean() - y.mean()) ** 2
    exact = sum(
        p
        for labels, p in naive_given.chances_of_labels(chance / (1.0 - chance), 3).items()
        if (pooled[np.array(labels) == 0].mean() - pooled[np.array(labels) == 1].mean()) ** 2
        >= observed - 1e-9
    )
    assert result.pvalue == pytest.approx(exact, abs=0.02)
    assert "exact" in result.assumption and not result.exact


@pytest.mark.parametrize(
    "options", [{}, {"covariate_method": "strata"}, {"propensity": KNOWN}], ids=str
)
def test_missing_values(options):
    first, second = (
        (part > 0.0).astype(float) if "covariate_method" in options else part.copy()
        for part in PAIR
    )
    x = X.copy()
    x[2] = first[5] = np.nan
    complete = np.isfinite(x) & np.isfinite(first)
    result = two_sample_test(x, Y, covariates=(first, second), nan_policy="omit", **options, **FEW)
    known = {"propensity": (KNOWN[0][complete], KNOWN[1])} if "propensity" in options else options
    without = two_sample_test(x[complete], Y, covariates=(first[complete], second), **known, **FEW)
    assert (result.pvalue, result.statistic) == (without.pvalue, without.statistic)
    assert any("1 of" in note and "rows of covariates of X" in note for note in result.notes)
    assert np.isnan(
        two_sample_test(
            X, Y, covariates=(first, second), nan_policy="propagate", **options, **FEW
        ).pvalue
    )
    if "propensity" in options:  # the chances are known, also those of rows that miss covariates
        assert (
            two_sample_test(
                X, Y, covariates=(first, second), nan_policy="indicator", **options, **FEW
            ).pvalue
            > 0.0
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"covariates": PAIR[0]}, "covariates must be a pair"),
        ({"covariates": PAIR[::-1]}, "pass them for the same rows"),
        ({"covariates": PAIR, "paired": True}, "paired= and covariates="),
        ({"covariates": PAIR, "block_length": "auto"}, "block_length= and covariates="),
        ({"covariates": PAIR, "propensity": 3.0}, "propensity must be a chance between 0 and 1"),
        (
            {"covariates": PAIR, "propensity": np.full(3, 0.5)},
            "propensity must be a chance.* each of 80 rows",
        ),
        (
            {"covariates": PAIR, "propensity": np.ones(N)},
            "propensity must be a chance between 0 and 1",
        ),
        (
            {"covariates": PAIR, "propensity": (np.full(7, 0.5), np.full(73, 0.5))},
            "propensity must be a chance",
        ),
        ({"covariates": PAIR, "covariate_method": "propensity"}, "propensity= requires"),
        (
            {"covariates": PAIR, "propensity": KNOWN, "blocks": np.arange(N) % 2},
            "covariate_method='strata'",
        ),
        ({"covariates": PAIR, "blocks": np.arange(N) % 2}, "for numbers use factor_test"),
        (
            {
                "covariates": (np.resize(["a", "b"], len(X)), np.resize(["a", "b"], len(Y))),
                "groups": (np.arange(len(X)) // 2, 50 + np.arange(len(Y)) // 2),
            },
            "different values of covariates; use factor_test",
        ),
        ({"covariates": (X, Y)}, "is also tested"),
        ({"covariates": (np.zeros(len(X)), np.ones(len(Y)))}, "the sample is determined by"),
        ({"covariates": ([True] * len(X), [False] * len(Y))}, "no two rows can be exchanged"),
        (
            {"covariates": (["a"] + ["b"] * (len(X) - 1), ["a"] * len(Y))},
            "covariates: a sample has only one row",
        ),
        ({"covariates": PAIR, "covariate_method": "matching"}, "covariate_method"),
        ({"propensity": KNOWN}, "propensity= says how covariates="),
        (
            {"covariates": (np.append(PAIR[0][1:], np.nan), PAIR[1]), "nan_policy": "indicator"},
            "covariates of X: 1 row",
        ),
    ],
)
def test_what_cannot_be_tested(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        two_sample_test(X, Y, **options)


@pytest.mark.slow
def test_levels_given_numbers():
    """p <= .05 in 1000 data sets with a logistic propensity and an outcome that bends: within a binomial region."""
    rejected = 0
    for trial in range(1000):
        rng = np.random.default_rng(trial)
        z = rng.normal(size=100)
        second = rng.uniform(size=100) < 1.0 / (1.0 + np.exp(-z))
        outcome = np.sin(2 * z) + z + 0.5 * rng.normal(size=100)
        options = {"covariates": (z[~second], z[second]), "rng": rng, "n_resamples": 199}
        rejected += two_sample_test(outcome[~second], outcome[second], **options).pvalue <= 0.05
    assert rejected <= binom(1000, 0.05).ppf(0.999)
