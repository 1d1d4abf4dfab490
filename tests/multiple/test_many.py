"""Many columns or pairs: the single tests, shared permutations, adjustment, tables."""

from __future__ import annotations

import itertools
import json
import warnings
from dataclasses import fields, replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests

from shrinktest import (
    FKMSE,
    SKMSE,
    Candidate,
    Ensemble,
    MultipleTestsResult,
    compare,
    independence_matrix,
    independence_test,
    joint_independence_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.permutations.multiplicity import scores, step_down
from shrinktest.permutations.null import Null
from shrinktest.results.multiple_tests_result import METHODS
from shrinktest.statistics import stacked

RNG = np.random.default_rng(3)
X = RNG.normal(size=(14, 4)) + RNG.normal(size=(14, 1))
Y = RNG.normal(size=(14, 4)) + RNG.normal(size=(14, 1))
Y[:, 2] += 2.5
PAIRED = RNG.normal(size=(14, 2))
PAIRED[:, 1] += X[:, 0] ** 2
FEW = {"n_resamples": 59, "rng": 5, "workers": 1}
COMBINED = [
    "auto",
    ["kme", "fkmse"],
    Ensemble([Candidate("kme"), Candidate("skmse", "laplacian", 2.0)]),
]


def assert_single_tests(result, x, y, **options):
    for j in range(x.shape[1]):
        single = two_sample_test(x[:, j], y[:, j], **options)
        assert single.pvalue == result.pvalues[j]
        assert np.allclose(
            single.statistic, result.statistics[j], rtol=1e-9, atol=1e-5 * result.tolerances[j]
        )
        assert np.allclose(
            single.null_distribution, result.null_distributions[:, j], rtol=1e-9, atol=1e-15
        )


@pytest.mark.parametrize(
    "estimator", ["kme", "skmse", SKMSE(tuning="joint"), FKMSE(lam=0.1), "mkme", *COMBINED]
)
def test_every_column_is_the_test_of_that_column(estimator):
    result = two_sample_test_columns(X, Y[:11], estimator=estimator, **FEW)
    assert_single_tests(result, X, Y[:11], estimator=estimator, **FEW)


@pytest.mark.parametrize("options", [
    {}, {"kernel": "laplacian", "form": "biased"}, {"bandwidth": 3.0}, {"scale": "rank", "estimator": "skmse"},
    {"bandwidth": "neighbors"}, {"n_resamples": np.inf, "alpha": 0.1, "paired": True},
], ids=str)  # fmt: skip
def test_columns_with_ties_outliers_and_any_unit_beside_each_other(options):
    """Most columns are computed as a stack; columns with many ties or a doubtful bandwidth, one at a time."""
    rng, units = (
        np.random.default_rng(8),
        np.array([1.0, 1e-9, 1e9, 1e150, 1e-150, 1.0, 1.0, 1.0, 1.0]),
    )
    x, y = rng.normal(size=(2, 9, 9)) * units
    x[:, 5:7], y[:, 5:7] = rng.integers(3, size=(9, 2)), rng.integers(4, size=(9, 2))
    x[:, 7], y[:, 7] = np.arange(9) == 0, np.arange(9) < 2
    x[:, 8] += 1e6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of ties
        result = two_sample_test_columns(x, y, **{**FEW, **options})
        assert_single_tests(result, x, y, **{**FEW, **options})


def test_blocks_and_threads_change_nothing(monkeypatch):
    x, y = np.random.default_rng(9).normal(size=(2, 9, 50))
    whole = two_sample_test_columns(x, y, **FEW)
    monkeypatch.setattr(stacked, "_PAIRS", 1000)
    monkeypatch.setattr(stacked, "_STATISTICS", 40)
    for workers in (1, 3):
        result = two_sample_test_columns(x, y, **{**FEW, "workers": workers})
        assert np.array_equal(result.pvalues, whole.pvalues)
        assert np.allclose(
            result.null_distributions, whole.null_distributions, rtol=1e-9, atol=1e-15
        )


@pytest.mark.parametrize("estimator", ["kme", "fkmse", *COMBINED])
def test_every_pair_is_the_test_of_that_pair(estimator):
    result = independence_matrix(X[:, :2], PAIRED, estimator=estimator, **FEW)
    assert result.labels == tuple((f"x{i}", f"y{j}") for i in range(2) for j in range(2))
    for k, (i, j) in enumerate(itertools.product(range(2), range(2))):
        single = independence_test(X[:, i], PAIRED[:, j], estimator=estimator, **FEW)
        assert (single.statistic, single.pvalue) == (result.statistics[k], result.pvalues[k])
        assert np.array_equal(single.null_distribution, result.null_distributions[:, k])


def test_pairs_within_a_table_see_the_shuffles_of_a_joint_test():
    result = independence_matrix(X[:, :3], **FEW)
    assert result.labels == (("x0", "x1"), ("x0", "x2"), ("x1", "x2"))
    for k, (i, j) in enumerate(itertools.combinations(range(3), 2)):
        assert np.isclose(
            result.statistics[k], independence_test(X[:, i], X[:, j], n_resamples=0).statistic
        )
    # of the first column and another, the shuffles that a joint test of all three draws
    shuffles = []
    joint_independence_test(
        *X[:, :3].T, estimator=lambda gram: np.ones(len(gram)) / len(gram), **FEW
    )
    from shrinktest.kernels import Gaussian, median_bandwidth
    from shrinktest.permutations.base import Draws
    from shrinktest.permutations.schemes import Shuffles

    shuffles = Draws.of(Shuffles(14, 3), 59, np.random.default_rng(5)).rows(1)
    H = np.eye(14) - 1 / 14
    K = [Gaussian(median_bandwidth(X[:, v]))(X[:, v]) for v in range(3)]
    first = [np.trace(H @ K[0] @ H @ K[1][np.ix_(s[0], s[0])]) / 14**2 for s in shuffles]
    last = [
        np.trace(H @ K[1][np.ix_(s[0], s[0])] @ H @ K[2][np.ix_(s[1], s[1])]) / 14**2
        for s in shuffles
    ]
    assert np.allclose(result.null_distributions[:, 0], first, rtol=1e-8)
    assert np.allclose(result.null_distributions[:, 2], last, rtol=1e-8)


def test_exhaustive_nulls_of_few_rows():
    columns = two_sample_test_columns(X[:3], Y[:4], n_resamples=np.inf, alpha=0.5)
    single = two_sample_test(X[:3, 1], Y[:4, 1], n_resamples=np.inf, alpha=0.5)
    assert (
        columns.exact
        and len(columns.null_distributions) == 35
        and columns.pvalues[1] == single.pvalue
    )
    inside = independence_matrix(X[:3, :3], n_resamples=np.inf, alpha=0.5)
    assert inside.exact and len(inside.null_distributions) == 36
    pair = independence_test(X[:3, 1], X[:3, 2], n_resamples=np.inf, alpha=0.5)
    assert np.isclose(inside.pvalues[2], pair.pvalue)  # every pairing occurs equally often


def test_default_is_the_step_down_on_the_shared_relabelings():
    result = two_sample_test_columns(X, Y, **FEW)
    rows = np.vstack([result.statistics, result.null_distributions])
    assert np.array_equal(result.adjusted, step_down(scores(rows, result.tolerances)))
    assert (
        result.adjusted >= result.pvalues - 1e-12
    ).all() and result.pvalue == result.adjusted.min()
    assert result.reject().tolist() == [False, False, True, False]


@pytest.mark.parametrize("method", METHODS[1:])
def test_methods_of_statsmodels(method):
    given = {**FEW, "n_resamples": 99}
    result = two_sample_test_columns(X, Y, method=method, **given)
    rejected, adjusted = multipletests(result.pvalues, alpha=0.05, method=method)[:2]
    assert np.allclose(result.adjusted, adjusted) and np.array_equal(result.reject(), rejected)
    at = multipletests(result.pvalues, alpha=0.2, method=method)[0]
    assert np.array_equal(result.reject(0.2), at)
    again = two_sample_test_columns(X, Y, **given).with_method(method)
    assert np.array_equal(again.adjusted, result.adjusted) and again.method == method


@pytest.mark.parametrize("method", ["fdr_tsbh", "fdr_tsbky"])
def test_the_pvalue_of_all_is_that_of_simes_where_two_stages_adjust(method):
    """The smallest adjusted p-value would lie below all p-values and reject far too often under the null."""
    result = independence_matrix(X, PAIRED, **FEW)
    reached = [33, 34, 35, 36, 37, 38, 39, 899]  # of 999 permutations
    nulls = [
        Null(1.0, np.r_[np.ones(count), np.zeros(999 - count)], 0.0, False) for count in reached
    ]
    result = replace(result, nulls=dict(zip(result.labels, nulls, strict=False))).with_method(
        method
    )
    assert result.adjusted.min() < 0.02
    simes = (result.pvalues * 8 / np.arange(1, 9)).min()
    assert (
        result.pvalue == pytest.approx(simes)
        and simes > result.pvalues.min() > result.adjusted.min()
    )
    assert result.to_dict()["pvalue"] == result.pvalue
    assert np.isnan(two_sample_test_columns(X, Y, n_resamples=0, method=method).pvalue)


def test_results_name_columns_of_frames_and_json_has_all_but_the_null_distributions():
    x, y = (
        pd.DataFrame(X, columns=list("abcd")),
        pd.DataFrame(Y, columns=list("abcd"))[list("dbca")],
    )
    generator = np.random.default_rng(5)
    named = two_sample_test_columns(x, y, **{**FEW, "rng": generator})
    plain = two_sample_test_columns(X, Y, **FEW)
    again = two_sample_test_columns(x, y, **{**FEW, "rng": generator})
    assert named.table.columns.tolist() == [
        "column",
        "statistic",
        "pvalue",
        "adjusted",
        "reject",
        "reason",
    ]
    assert named.table["column"].tolist() == list("abcd") and np.array_equal(
        named.pvalues, plain.pvalues
    )
    assert not np.array_equal(
        named.null_distributions, again.null_distributions
    )  # a generator moves on
    assert "  c " in named.summary() and "1 of 4 rejected" in named.summary()
    matrix = independence_matrix(x, pd.DataFrame(PAIRED, columns=["u", "v"]), **FEW)
    assert matrix.table["y"].tolist() == ["u", "v"] * 4
    assert repr(matrix).startswith("MultipleTestsResult(8 independence tests") and len(matrix) == 8
    read = json.loads(matrix.to_json())
    assert read == matrix.to_dict() and read["tests"][0] == matrix.table.iloc[0].to_dict()
    elsewhere = {"keys", "nulls", "data", "setup", "untested"}
    assert {field.name for field in fields(MultipleTestsResult)} - elsewhere <= set(read)


@pytest.mark.parametrize("design", [
    {"paired": True},
    {"blocks": np.tile([0, 1, 2, 3, 4, 5, 6], 4)},
    {"groups": np.arange(28) // 2},
    {"groups": np.arange(28) // 2, "blocks": np.arange(28) // 2 % 2},
], ids=lambda design: "+".join(design))  # fmt: skip
def test_columns_are_permuted_as_the_design_allows(design):
    result = two_sample_test_columns(X, Y, estimator="skmse", **design, **FEW)
    single = [
        two_sample_test(X[:, j], Y[:, j], estimator="skmse", **design, **FEW) for j in range(4)
    ]
    assert result.pvalues.tolist() == [alone.pvalue for alone in single]
    assert (
        result.restriction == single[0].restriction != ""
        and result.to_dict()["restriction"] == result.restriction
    )
    assert f"59 (random), {result.restriction}, shared by all tests" in result.summary()


@pytest.mark.parametrize("design", [
    {"blocks": np.tile([0, 1], 7)},
    {"groups": np.arange(14) // 2},
    {"block_length": "whole", "blocks": np.tile([0, 1], 7)},
], ids=lambda design: "+".join(design))  # fmt: skip
def test_pairs_are_permuted_as_the_design_allows(design):
    options = {**FEW, "n_resamples": 39}
    result = independence_matrix(X[:, :2], PAIRED, **design, **options)
    single = [
        independence_test(X[:, i], PAIRED[:, j], **design, **options)
        for i in range(2)
        for j in range(2)
    ]
    assert result.pvalues.tolist() == [alone.pvalue for alone in single]
    assert result.restriction == single[0].restriction != ""


def test_every_swap_within_pairs_as_the_data_is_rejected_as_often_as_it_may():
    pairs = np.random.default_rng(5).normal(size=(5, 2, 3)) + np.random.default_rng(6).normal(
        size=(5, 1, 3)
    )
    smallest = []
    for swapped in itertools.product((0, 1), repeat=5):
        x, y = pairs[np.arange(5), swapped], pairs[np.arange(5), 1 - np.array(swapped)]
        smallest.append(
            two_sample_test_columns(x, y, paired=True, n_resamples=np.inf, alpha=0.1).pvalue
        )
    for level in np.unique(smallest):
        assert np.mean(np.array(smallest) <= level) <= level + 1e-12


def test_every_shift_as_the_data_is_rejected_as_often_as_it_may():
    x, y = np.random.default_rng(7).normal(size=(2, 8, 2))
    rolled = [np.roll(y, step, axis=0) for step in range(8)]
    p_values = [
        independence_matrix(x, z, block_length="whole", n_resamples=np.inf, alpha=0.2).pvalue
        for z in rolled
    ]
    for level in np.unique(p_values):
        assert np.mean(np.array(p_values) <= level) <= level + 1e-12


def constant(values=X):
    changed = values.copy()
    changed[:, [1, 3]] = 2.0
    return changed


def test_columns_with_one_value_only_are_not_tested():
    """They are not adjusted for; bandwidths and the given columns refer to all columns."""
    widths, varied, options = np.arange(1.0, 5.0), [0, 2], {"n_resamples": 99, "rng": 0}
    first, second = (pd.DataFrame(constant(values)).rename(columns=str) for values in (X, Y))
    given = {"given": "others", **options}
    alone = two_sample_test_columns(first, second, **options)
    matrix = independence_matrix(first, first, **options)
    for result, expected in (
        (two_sample_test_columns(constant(), constant(Y), bandwidth=widths, **options),
         two_sample_test_columns(X[:, varied], Y[:, varied], bandwidth=widths[varied], **options)),
        (independence_matrix(constant(), bandwidth_x=widths, **options),
         independence_matrix(X[:, varied], bandwidth_x=widths[varied], **options)),
        (independence_matrix(np.column_stack([constant(), PAIRED[:, :1]]), **given),
         independence_matrix(np.column_stack([X[:, varied], PAIRED[:, :1]]), **given)),
        (compare(first, second, estimator="kme", **options).columns, alone),
    ):  # fmt: skip
        assert np.array_equal(result.adjusted, expected.adjusted)
    assert alone.labels == (("0",), ("2",)) and [y for _, y in matrix.labels] == ["0", "2"] * 2
    assert [note.code for note in alone.notes] == ["units-sd", "constant-columns"]
    codes = [note.code for note in matrix.notes]
    assert codes.count("constant-columns") == 2 and "no-weight" not in codes
    matrix = independence_matrix(
        first, first[["0"]], given=pd.DataFrame({"z": PAIRED[:, 0], "w": 5.0}), **options
    )
    assert "given: column w has only one value and thus no weight." in matrix.notes


columns, matrix = two_sample_test_columns, independence_matrix


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (
            partial(columns, 0.0 * X[:, :2], 0.0 * X[:, :2]),
            "columns 'x0', 'x1' have the same value",
        ),
        (partial(columns, X, Y[:, :3]), "X has 4 columns and Y has 3 columns"),
        (partial(columns, X[:1], Y), "X has 1 row"),
        (partial(columns, X, Y, method="holms"), "method .* Did you mean 'holm'"),
        (partial(columns, np.where(X > 2, np.nan, X), Y), "missing value"),
        (
            partial(columns, np.where(X > 1, np.nan, X), Y, nan_policy="propagate"),
            "nan_policy='omit'",
        ),
        (partial(columns, X[:3], Y[:3], paired=True), "leaves 4 different permutations"),
        (partial(columns, X, Y, bandwidth=2.0, estimator="auto"), "leave out kernel"),
        (partial(columns, X, Y, bandwidth="grid"), "not accept candidates"),
        (columns(X, Y, n_resamples=0).plot, "n_resamples=0"),
        (partial(matrix, constant()[:, :2]), "X has 1 column to test"),
        (
            partial(matrix, constant()[:, [1, 3]]),
            "X: columns 'x0', 'x1' have the same value in every row",
        ),
        (partial(matrix, X, constant()[:, [1]]), "Y: column 'y0' has the same value"),
        (partial(matrix, X[:, 0]), "X has 1 column to test"),
        (partial(matrix, X, PAIRED[:9]), "X has 14 rows and Y has 9 rows"),
        (partial(matrix, X, kernel_y="linear"), "are for Y, which was not given"),
        (partial(matrix, X, blocks=np.zeros(14)), "blocks= permutes rows of Y"),
        (partial(matrix, X, block_length="whole"), "block_length= permutes rows of Y"),
        (partial(matrix, X, bandwidth_x=[1.0, 2.0]), "bandwidth_x has 2 entries for 4 columns"),
        (partial(matrix, X, PAIRED, bandwidth_y=[0.0, 0.0]), "bandwidth_y"),
        (partial(matrix, X, PAIRED, kernel_y=["gaussian"]), "not accept candidates"),
        (partial(matrix, X, PAIRED, given="others"), "given='others'"),
        (
            partial(matrix, X, PAIRED, given=X[:, 0], block_length="whole"),
            "block_length= and given=",
        ),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            partial(columns, X, Y, method="holm", **FEW),
            "adjusted for the number of tests, is 0.0667.*n_resamples >= 79",
        ),
        (partial(columns, X[:3], Y[:3], n_resamples=np.inf), "collect more observations"),
    ],
)
def test_too_few_permutations_are_warned_of_and_noted_until_the_method_changes(call, message):
    with pytest.warns(UserWarning, match=message):
        result = call()
    assert result.notes[-1].code == "too-few-permutations"
    (changed,) = result.with_method("fdr_bh").notes
    assert changed.code == "too-few-permutations" and ("may reject" in changed) == (
        result.method == "holm"
    )
