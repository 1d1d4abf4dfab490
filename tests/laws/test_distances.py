"""Distances in every test: the statistic of distances, or an error in words."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

from shrinktest import (
    Distances,
    Precomputed,
    change_point_test,
    change_points,
    closer_test,
    equivalence_test,
    factor_test,
    independence_test,
    joint_independence_test,
    k_sample_test,
    symmetry_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.estimators import ESTIMATORS

mpl.use("Agg")

SIZE = 24
ROWS = np.arange(SIZE)
X, Y, Z = ROWS[:8], ROWS[8:16], ROWS[16:]
HALF, REST = ROWS[:12], ROWS[12:]
LABELS = np.resize(["a", "b"], SIZE)
NUMBERS = np.random.default_rng(1).normal(size=SIZE)
FEW = {"n_resamples": 39, "rng": 0}


def odd_distances():
    """Distances that violate the triangle inequality, so that no Euclidean space holds them."""
    exponents = np.random.default_rng(0).uniform(1.0, 2.5, size=(SIZE, SIZE))
    upper = np.triu(PLAIN**exponents, 1)
    return upper + upper.T


POINTS = np.random.default_rng(0).normal(size=(SIZE, 3)) + (ROWS >= 12)[:, None]
PLAIN = np.sqrt(np.square(POINTS[:, None] - POINTS).sum(axis=2))
D = odd_distances()
KERNEL = Distances(D)
WITHIN = -0.5 * D**2


def mean(first, second):
    return WITHIN[np.ix_(first, second)].mean()


def gap(first, second):
    """Squared distance of two means: mean squared distance between, less half of that within."""
    return mean(first, first) + mean(second, second) - 2.0 * mean(first, second)


def unbiased(first, second):
    within = sum(
        WITHIN[np.ix_(rows, rows)].sum() / (len(rows) * (len(rows) - 1)) for rows in (first, second)
    )
    return within - 2.0 * mean(first, second)


def covariance(values):
    """HSIC of distances, in the biased form, with a linear kernel of numbers."""
    centering = np.eye(SIZE) - 1.0 / SIZE
    other = centering @ np.outer(values, values) @ centering
    return (centering @ WITHIN @ centering * other).sum() / SIZE**2


#: Tests that need no positive definite kernel, by a call, and what their statistic is.
MEANS = {
    "two samples": (lambda k: two_sample_test(HALF, REST, kernel=k, **FEW), gap(HALF, REST)),
    "unequal sizes": (lambda k: two_sample_test(X, REST, kernel=k, **FEW), unbiased(X, REST)),
    "unbiased": (
        lambda k: two_sample_test(HALF, REST, kernel=k, form="unbiased", **FEW),
        unbiased(HALF, REST),
    ),
    "pairs": (
        lambda k: two_sample_test(HALF, REST, kernel=k, paired=True, **FEW),
        gap(HALF, REST),
    ),
    "groups": (
        lambda k: two_sample_test(HALF, REST, kernel=k, groups=ROWS // 2, **FEW),
        gap(HALF, REST),
    ),
    "propensity": (
        lambda k: two_sample_test(
            HALF,
            REST,
            kernel=k,
            covariates=(NUMBERS[:12], NUMBERS[12:]),
            propensity=np.full(SIZE, 0.5),
            **FEW,
        ),
        gap(HALF, REST),
    ),
    "columns": (
        lambda k: two_sample_test_columns(HALF[:, None], REST[:, None], kernel=k, **FEW),
        None,
    ),
    "several samples": (
        lambda k: k_sample_test(X, Y, Z, kernel=k, form="biased", **FEW),
        None,
    ),
    "pooled": (lambda k: k_sample_test(X, Y, Z, kernel=k, comparison="pooled", **FEW), None),
    "independence": (
        lambda k: independence_test(
            ROWS, NUMBERS, kernel_x=k, kernel_y="linear", scale=None, form="biased", **FEW
        ),
        covariance(NUMBERS),
    ),
    "strata": (lambda k: independence_test(ROWS, NUMBERS, given=LABELS, kernel_x=k, **FEW), None),
    "change": (lambda k: change_point_test(ROWS, kernel=k, **FEW), None),
    "changes": (lambda k: change_points(ROWS, kernel=k, **FEW), None),
    "factors": (lambda k: factor_test("arm", {"arm": LABELS}, response=k, **FEW)["arm"], None),
    "equivalence": (
        lambda k: equivalence_test(HALF, REST, kernel=k, margin=0.9, measure="auc", rng=0),
        None,
    ),
    "closer": (lambda k: closer_test(X, Y, Z, kernel=k, rng=0), None),
}


@pytest.mark.parametrize("name", MEANS)
def test_tests_of_means_have_the_statistic_of_distances(name):
    call, expected = MEANS[name]
    result = call(KERNEL)
    if expected is not None:
        assert result.statistic == pytest.approx(expected)
    # Euclidean distances are a linear kernel
    first = call(Distances(PLAIN))
    second = call(Precomputed(POINTS @ POINTS.T))
    for attribute in ("pvalue", "pvalues", "statistic"):
        if hasattr(first, attribute):
            same = np.asarray(getattr(second, attribute))
            np.testing.assert_allclose(getattr(first, attribute), same, rtol=1e-6)


#: Calls that cannot work, and a part of the error, which has a remedy.
REFUSED = {
    "joint": (
        lambda: joint_independence_test(ROWS, ROWS, ROWS, kernels=KERNEL),
        "needs Euclidean distances; use Precomputed",
    ),
    "symmetry": (lambda: symmetry_test(ROWS, kernel=KERNEL), "no reflection; pass a kernel of X"),
    "covariates": (
        lambda: two_sample_test(HALF, REST, kernel=KERNEL, covariates=(NUMBERS[:12], NUMBERS[12:])),
        "have no residuals; use strata",
    ),
    "given": (
        lambda: independence_test(ROWS, NUMBERS, given=NUMBERS**2, kernel_x=KERNEL),
        "have no residuals; use strata",
    ),
    "auto": (
        lambda: two_sample_test(HALF, REST, kernel=KERNEL, estimator="auto"),
        "leave out kernel and bandwidth",
    ),
    "rff": (lambda: two_sample_test(HALF, REST, kernel=KERNEL, gram="rff"), "use gram='dense'"),
    "factor": (
        lambda: two_sample_test(HALF, REST, kernel=KERNEL, gram="factor"),
        "use gram='dense'",
    ),
    "nystrom": (
        lambda: two_sample_test(HALF, REST, kernel=KERNEL, gram="nystrom", rank=5),
        "use gram='dense'",
    ),
    "columns": (
        lambda: factor_test("arm", {"arm": LABELS}, response=KERNEL, **FEW).columns("arm"),
        "pass the response as a table",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_calls_name_a_remedy(name):
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message) as raised:
        call()
    assert len(str(raised.value).split()) <= 20


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name != "kme"])
@pytest.mark.parametrize("test", ["samples", "pairs"])
def test_weights_of_other_estimators_need_euclidean_distances(name, test):
    with pytest.raises(ValueError, match="needs Euclidean distances; use Precomputed"):
        if test == "samples":
            two_sample_test(HALF, REST, kernel=KERNEL, estimator=name)
        else:
            independence_test(ROWS, NUMBERS, kernel_x=KERNEL, estimator=name)


def test_results_of_distances():
    result = two_sample_test(HALF, REST, kernel=KERNEL, **FEW)
    witness = result.witness(ROWS)
    gram = KERNEL.gram
    np.testing.assert_allclose(witness, gram[:, HALF].mean(axis=1) - gram[:, REST].mean(axis=1))
    assert 0.5 < result.effect().auc <= 1.0
    result.plot_null()
    for ask in (result.contributions, result.plot_witness):
        with pytest.raises(ValueError, match="in place of columns; use witness"):
            ask()
    k_sample_test(X, Y, Z, kernel=KERNEL, **FEW).effect()
    independence_test(ROWS, NUMBERS, kernel_x=KERNEL, **FEW).effect()
    change_point_test(ROWS, kernel=KERNEL, **FEW).plot()


@pytest.mark.ci
def test_many_rows_are_not_taken_for_points_of_a_euclidean_space():
    """From 1500 rows on, a test looks for few coordinates of a kernel; these distances have none."""
    rng = np.random.default_rng(0)
    kind = rng.integers(SIZE, size=1600)
    kernel = Distances(D[np.ix_(kind, kind)])
    rows = np.arange(1600)
    result = two_sample_test(rows[:800], rows[800:], kernel=kernel, n_resamples=1, alpha=0.6)
    values = -0.5 * kernel.distances**2
    expected = (
        values[:800, :800].mean() + values[800:, 800:].mean() - 2.0 * values[:800, 800:].mean()
    )
    assert result.statistic == pytest.approx(expected, rel=1e-8)
