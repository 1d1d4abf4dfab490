"""Many columns or pairs: the single tests, shared relabellings, adjustment, tables and pictures."""

from __future__ import annotations

import itertools

import matplotlib
import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests

from shrinktest import (
    FKMSE,
    ManyTests,
    independence_matrix,
    independence_test,
    joint_independence_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.multiple.many import METHODS
from shrinktest.multiple.multiplicity import scores, step_down

matplotlib.use("Agg")

RNG = np.random.default_rng(3)
X = RNG.normal(size=(14, 4)) + RNG.normal(size=(14, 1))
Y = RNG.normal(size=(14, 4)) + RNG.normal(size=(14, 1))
Y[:, 2] += 2.5
PAIRED = RNG.normal(size=(14, 2))
PAIRED[:, 1] += X[:, 0] ** 2
FEW = {"n_resamples": 59, "rng": 5, "workers": 1}


# ------------------------------------------------------------------------------------------------ single tests


@pytest.mark.parametrize("estimator", ["kme", "skmse", FKMSE(lam=0.1), "mkme"])
def test_every_column_is_the_test_of_that_column(estimator):
    found = two_sample_test_columns(X, Y[:11], estimator=estimator, **FEW)
    for j in range(4):
        one = two_sample_test(X[:, j], Y[:11, j], estimator=estimator, **FEW)
        assert (one.statistic, one.pvalue) == (found.statistics[j], found.pvalues[j])
        assert np.array_equal(one.null_distribution, found.null_distributions[:, j])


@pytest.mark.parametrize("estimator", ["kme", "fkmse"])
def test_every_pair_is_the_test_of_that_pair(estimator):
    found = independence_matrix(X, PAIRED, estimator=estimator, **FEW)
    assert found.labels == tuple((f"x{i}", f"y{j}") for i in range(4) for j in range(2))
    for k, (i, j) in enumerate(itertools.product(range(4), range(2))):
        one = independence_test(X[:, i], PAIRED[:, j], estimator=estimator, **FEW)
        assert (one.statistic, one.pvalue) == (found.statistics[k], found.pvalues[k])


def test_pairs_within_a_table_see_the_shuffles_of_a_joint_test():
    found = independence_matrix(X[:, :3], **FEW)
    assert found.labels == (("x0", "x1"), ("x0", "x2"), ("x1", "x2"))
    for k, (i, j) in enumerate(itertools.combinations(range(3), 2)):
        assert np.isclose(found.statistics[k], independence_test(X[:, i], X[:, j], n_resamples=0).statistic)
    # of the first column and another, the shuffles that a joint test of all three draws
    shuffles = []
    joint_independence_test(*X[:, :3].T, estimator=lambda gram: np.ones(len(gram)) / len(gram), **FEW)
    from shrinktest.kernels import Gaussian, median_bandwidth
    from shrinktest.nulls.shuffles import Shuffles

    shuffles = Shuffles(59, np.random.default_rng(5), 14, 3).rows()(60)[1:]
    H = np.eye(14) - 1 / 14
    K = [Gaussian(median_bandwidth(X[:, v]))(X[:, v]) for v in range(3)]
    first = [np.trace(H @ K[0] @ H @ K[1][np.ix_(s[0], s[0])]) / 14**2 for s in shuffles]
    last = [np.trace(H @ K[1][np.ix_(s[0], s[0])] @ H @ K[2][np.ix_(s[1], s[1])]) / 14**2 for s in shuffles]
    assert np.allclose(found.null_distributions[:, 0], first, rtol=1e-8)
    assert np.allclose(found.null_distributions[:, 2], last, rtol=1e-8)


def test_exhaustive_nulls_of_few_rows():
    columns = two_sample_test_columns(X[:3], Y[:4], n_resamples=np.inf, alpha=0.5)
    one = two_sample_test(X[:3, 1], Y[:4, 1], n_resamples=np.inf, alpha=0.5)
    assert columns.exact and len(columns.null_distributions) == 35 and columns.pvalues[1] == one.pvalue
    inside = independence_matrix(X[:3, :3], n_resamples=np.inf, alpha=0.5)
    assert inside.exact and len(inside.null_distributions) == 36
    pair = independence_test(X[:3, 1], X[:3, 2], n_resamples=np.inf, alpha=0.5)
    assert np.isclose(inside.pvalues[2], pair.pvalue)  # every pairing occurs equally often


# -------------------------------------------------------------------------------------------------- adjustment


def test_default_is_the_step_down_on_the_shared_relabellings():
    found = two_sample_test_columns(X, Y, **FEW)
    rows = np.vstack([found.statistics, found.null_distributions])
    assert np.array_equal(found.adjusted, step_down(scores(rows, found.tolerances)))
    assert (found.adjusted >= found.pvalues - 1e-12).all() and found.pvalue == found.adjusted.min()
    assert found.reject().tolist() == [False, False, True, False]


@pytest.mark.parametrize("method", METHODS[1:])
def test_methods_of_statsmodels(method):
    given = {**FEW, "n_resamples": 99}
    found = two_sample_test_columns(X, Y, method=method, **given)
    rejected, adjusted = multipletests(found.pvalues, alpha=0.05, method=method)[:2]
    assert np.allclose(found.adjusted, adjusted) and np.array_equal(found.reject(), rejected)
    at = multipletests(found.pvalues, alpha=0.2, method=method)[0]
    assert np.array_equal(found.reject(0.2), at)
    again = two_sample_test_columns(X, Y, **given).with_method(method)
    assert np.array_equal(again.adjusted, found.adjusted) and again.method == method


def test_tests_that_say_the_same_cost_nothing():
    copies = np.repeat(X[:, :1], 5, axis=1), np.repeat(Y[:, :1], 5, axis=1)
    found = two_sample_test_columns(*copies, **FEW)
    assert np.allclose(found.adjusted, found.pvalues[0])
    assert np.allclose(found.with_method("bonferroni").adjusted, np.minimum(5 * found.pvalues[0], 1.0))


def test_without_relabellings_nothing_is_known():
    found = two_sample_test_columns(X, Y, n_resamples=0)
    assert np.isnan(found.pvalues).all() and np.isnan(found.adjusted).all() and not found.reject().any()
    with pytest.raises(ValueError, match="n_resamples=0 leaves no p-values"):
        found.plot()


# --------------------------------------------------------------------------------------------------- reporting


def test_table_is_tidy_and_names_columns_of_frames():
    names = list("abcd")
    x, y = pd.DataFrame(X, columns=names), pd.DataFrame(Y, columns=names)[list("dbca")]
    y = pd.DataFrame(Y, columns=names)[list("dbca")]
    found = two_sample_test_columns(x, y, **FEW)
    plain = two_sample_test_columns(X, Y, **FEW)
    assert found.table.columns.tolist() == ["column", "statistic", "pvalue", "adjusted", "reject"]
    assert found.table["column"].tolist() == names
    assert np.array_equal(found.table["pvalue"], plain.pvalues)
    assert "  c " in found.summary() and "1 of 4 rejected" in found.summary()
    matrix = independence_matrix(x, pd.DataFrame(PAIRED, columns=["u", "v"]), **FEW)
    assert matrix.table.columns.tolist() == ["x", "y", "statistic", "pvalue", "adjusted", "reject"]
    assert matrix.table["y"].tolist() == ["u", "v"] * 4
    assert repr(matrix).startswith("ManyTests(8 independence tests") and len(matrix) == 8


def test_heat_map_holds_the_adjusted_pvalues():
    for found in (two_sample_test_columns(X, Y, **FEW), independence_matrix(X, PAIRED, **FEW)):
        ax = found.plot()
        image = ax.images[0].get_array()
        assert np.allclose(np.sort(image.ravel()), np.sort(np.log10(found.adjusted)))
        stars = sum("*" in text.get_text() for text in ax.texts)
        assert stars == found.reject().sum()
        matplotlib.pyplot.close(ax.figure)
    within = independence_matrix(X, **FEW).plot()
    assert np.isnan(np.ma.filled(within.images[0].get_array(), np.nan)).sum() == 3  # below the diagonal
    matplotlib.pyplot.close(within.figure)


def test_same_seed_same_answer_and_a_generator_moves_on():
    generator = np.random.default_rng(5)
    first = two_sample_test_columns(X, Y, n_resamples=59, rng=generator)
    second = two_sample_test_columns(X, Y, n_resamples=59, rng=generator)
    assert np.array_equal(first.pvalues, two_sample_test_columns(X, Y, **FEW).pvalues)
    assert not np.array_equal(first.null_distributions, second.null_distributions)
    assert isinstance(first, ManyTests)


# --------------------------------------------------------------------------------------------------- bad input


def constant():
    changed = X.copy()
    changed[:, [1, 3]] = 2.0
    return changed


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: two_sample_test_columns(constant(), constant()), "columns 'x1', 'x3' have the same value"),
        (lambda: independence_matrix(constant()[:, :2]), "X: column 'x1' has the same value in every row"),
        (lambda: independence_matrix(X, constant()[:, [1]]), "Y: column 'y0' has the same value"),
        (lambda: two_sample_test_columns(X, Y[:, :3]), "X has 4 columns and Y has 3 columns"),
        (lambda: two_sample_test_columns(X[:1], Y), "X has 1 row"),
        (lambda: independence_matrix(X[:, 0]), "X has 1 column; without Y two columns or more"),
        (lambda: independence_matrix(X, PAIRED[:9]), "X has 14 rows and Y has 9 rows"),
        (lambda: independence_matrix(X[:1], PAIRED[:1]), "X and Y has 1 row"),
        (lambda: independence_matrix(X, kernel_y="linear"), "for the columns of Y, which was not given"),
        (lambda: two_sample_test_columns(X, Y, method="holms"), "method must be one of .* Did you mean 'holm'"),
        (lambda: independence_matrix(X, bandwidth_x=[1.0, 2.0]), "bandwidth_x has 2 entries for 4 columns"),
        (lambda: two_sample_test_columns(np.where(X > 2, np.nan, X), Y), "missing value"),
        (lambda: two_sample_test_columns(np.where(X > 1, np.nan, X), Y, nan_policy="propagate"), "nan_policy='omit'"),
    ],
)  # fmt: skip
def test_bad_input_says_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_omitted_rows_are_left_out_of_every_column():
    holes = X.copy()
    holes[4, 1] = np.nan
    found = two_sample_test_columns(holes, Y, nan_policy="omit", **FEW)
    assert np.array_equal(found.pvalues, two_sample_test_columns(np.delete(X, 4, axis=0), Y, **FEW).pvalues)


def test_too_few_relabellings_for_the_number_of_tests_are_warned_of():
    with pytest.warns(UserWarning, match="can give, adjusted for the number of tests, is 0.0667.*n_resamples >= 79"):
        two_sample_test_columns(X, Y, method="holm", **FEW)
    with pytest.warns(UserWarning, match="collect more observations"):
        two_sample_test_columns(X[:3], Y[:3], n_resamples=np.inf)
