"""Many columns or pairs: the single tests, shared relabellings, adjustment, tables and pictures."""

from __future__ import annotations

import itertools
import json
from dataclasses import fields, replace
from functools import partial

import matplotlib
import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests

from shrinktest import (
    FKMSE,
    Collection,
    Member,
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
from shrinktest.results.multiple import METHODS

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
    from shrinktest.permutations.base import Draws
    from shrinktest.permutations.schemes import Shuffles

    shuffles = Draws.of(Shuffles(14, 3), 59, np.random.default_rng(5)).rows(1)
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


@pytest.mark.parametrize("method", ["fdr_tsbh", "fdr_tsbky"])
def test_the_pvalue_of_all_is_that_of_simes_where_two_stages_adjust(method):
    """The smallest adjusted one lay below every p-value, and rejected far too often where all hypotheses are true."""
    found = independence_matrix(X, PAIRED, **FEW)
    reached = [33, 34, 35, 36, 37, 38, 39, 899]  # of 999 permutations
    nulls = [Null(1.0, np.r_[np.ones(count), np.zeros(999 - count)], 0.0, False) for count in reached]
    found = replace(found, nulls=dict(zip(found.labels, nulls, strict=False))).with_method(method)
    assert found.adjusted.min() < 0.02
    simes = (found.pvalues * 8 / np.arange(1, 9)).min()
    assert found.pvalue == pytest.approx(simes) and simes > found.pvalues.min() > found.adjusted.min()
    assert found.to_dict()["pvalue"] == found.pvalue
    assert np.isnan(two_sample_test_columns(X, Y, n_resamples=0, method=method).pvalue)


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
    assert found.table.columns.tolist() == ["column", "statistic", "pvalue", "adjusted", "reject", "reason"]
    assert found.table["column"].tolist() == names
    assert np.array_equal(found.table["pvalue"], plain.pvalues)
    assert "  c " in found.summary() and "1 of 4 rejected" in found.summary()
    matrix = independence_matrix(x, pd.DataFrame(PAIRED, columns=["u", "v"]), **FEW)
    assert matrix.table.columns.tolist() == ["x", "y", "statistic", "pvalue", "adjusted", "reject", "reason"]
    assert matrix.table["y"].tolist() == ["u", "v"] * 4
    assert repr(matrix).startswith("MultipleTestsResult(8 independence tests") and len(matrix) == 8


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


def test_heat_map_of_many_columns_names_those_that_differ_or_some():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(8, 30)), rng.normal(size=(8, 30))
    shown = [label.get_text() for label in two_sample_test_columns(first, second, **FEW).plot().get_xticklabels()]
    assert shown == [f"x{j}" for j in range(0, 30, 2)]
    second[:, [3, 24]] += 9.0
    ax = two_sample_test_columns(first, second, **FEW).plot()
    assert [label.get_text() for label in ax.get_xticklabels()] == ["x3", "x24"] and ax.get_xticks().tolist() == [3, 24]
    matplotlib.pyplot.close("all")


def test_wide_tables_show_the_smallest_pvalues():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(12, 400)), rng.normal(size=(12, 400))
    found = two_sample_test_columns(first, second, **FEW)
    lines = found.summary().splitlines()
    listed = found.table.sort_values(["adjusted", "pvalue"], kind="stable")["column"]
    where = next(i for i, line in enumerate(lines) if line.startswith("column")) + 2
    assert [line.split()[0] for line in lines[where : where + 30]] == listed[:30].tolist()
    assert lines[where + 31] == "... and 370 more, none rejected" and "370 more" in found._repr_html_()
    ax = found.plot()
    assert [label.get_text() for label in ax.get_xticklabels()] == listed[:36].tolist()
    assert "the 36 smallest p-values of 400" in ax.get_title()
    ax.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert not any(one.overlaps(other) for one, other in itertools.pairwise(boxes))
    second[:, :35] += 9.0
    assert "... and 370 more, 5 rejected" in two_sample_test_columns(first, second, **FEW).summary()
    assert "... and 370 more\n" in two_sample_test_columns(first, second, n_resamples=0).summary() + "\n"
    matplotlib.pyplot.close("all")


def test_same_seed_same_answer_and_a_generator_moves_on():
    generator = np.random.default_rng(5)
    first = two_sample_test_columns(X, Y, n_resamples=59, rng=generator)
    second = two_sample_test_columns(X, Y, n_resamples=59, rng=generator)
    assert np.array_equal(first.pvalues, two_sample_test_columns(X, Y, **FEW).pvalues)
    assert not np.array_equal(first.null_distributions, second.null_distributions)
    assert isinstance(first, MultipleTestsResult)


# ------------------------------------------------------------------------------------------- restricted designs


@pytest.mark.parametrize(
    "design",
    [
        {"paired": True},
        {"blocks": np.tile([0, 1, 2, 3, 4, 5, 6], 4)},
        {"groups": np.arange(28) // 2},
        {"groups": np.arange(28) // 2, "blocks": np.arange(28) // 2 % 2},
    ],
    ids=lambda design: "+".join(design),
)
def test_columns_are_relabelled_as_the_design_allows(design):
    found = two_sample_test_columns(X, Y, estimator="skmse", **design, **FEW)
    single = [two_sample_test(X[:, j], Y[:, j], estimator="skmse", **design, **FEW) for j in range(4)]
    assert found.pvalues.tolist() == [one.pvalue for one in single]
    assert found.restriction == single[0].restriction != "" and found.to_dict()["restriction"] == found.restriction
    assert f"59 (random), {found.restriction}, shared by all tests" in found.summary()
    assert not np.array_equal(found.pvalues, two_sample_test_columns(X, Y, estimator="skmse", **FEW).pvalues)


@pytest.mark.parametrize(
    "design",
    [
        {"blocks": np.tile([0, 1], 7)},
        {"groups": np.arange(14) // 2},
        {"shift": "circular", "blocks": np.tile([0, 1], 7)},
    ],
    ids=lambda design: "+".join(design),
)
def test_pairs_are_relabelled_as_the_design_allows(design):
    options = {**FEW, "n_resamples": 39}
    found = independence_matrix(X[:, :2], PAIRED, **design, **options)
    single = [independence_test(X[:, i], PAIRED[:, j], **design, **options) for i in range(2) for j in range(2)]
    assert found.pvalues.tolist() == [one.pvalue for one in single]
    assert found.restriction == single[0].restriction != ""


def test_every_swap_within_pairs_as_the_data_is_rejected_as_often_as_it_may():
    pairs = np.random.default_rng(5).normal(size=(5, 2, 3)) + np.random.default_rng(6).normal(size=(5, 1, 3))
    smallest = []
    for swapped in itertools.product((0, 1), repeat=5):
        x, y = pairs[np.arange(5), swapped], pairs[np.arange(5), 1 - np.array(swapped)]
        smallest.append(two_sample_test_columns(x, y, paired=True, n_resamples=np.inf, alpha=0.1).pvalue)
    for level in np.unique(smallest):
        assert np.mean(np.array(smallest) <= level) <= level + 1e-12


def test_every_shift_as_the_data_is_rejected_as_often_as_it_may():
    x, y = np.random.default_rng(7).normal(size=(2, 8, 2))
    rolled = [np.roll(y, step, axis=0) for step in range(8)]
    found = [independence_matrix(x, z, shift="circular", n_resamples=np.inf, alpha=0.2).pvalue for z in rolled]
    for level in np.unique(found):
        assert np.mean(np.array(found) <= level) <= level + 1e-12


def test_columns_among_themselves_have_no_restrictions():
    for design in ({"blocks": np.zeros(14)}, {"groups": np.zeros(14)}, {"shift": "circular"}):
        with pytest.raises(ValueError, match=r"Y .* was not given .* independence_matrix\(X, Y\)"):
            independence_matrix(X, **design, **FEW)
    with pytest.raises(ValueError, match=r"leaves 4 different permutations.* collect 6 pairs or more"):
        two_sample_test_columns(X[:3], Y[:3], paired=True)


def constant(values=X):
    changed = values.copy()
    changed[:, [1, 3]] = 2.0
    return changed


def test_columns_with_one_value_only_are_not_tested():
    """As in compare: they are no tests to adjust for, and widths go by all columns."""
    widths, there, options = np.arange(1.0, 5.0), [0, 2], {"n_resamples": 99, "rng": 0}
    found = two_sample_test_columns(constant(), constant(Y), bandwidth=widths, **options)
    expected = two_sample_test_columns(X[:, there], Y[:, there], bandwidth=widths[there], **options)
    assert found.labels == tuple((f"x{j}",) for j in there)
    assert np.array_equal(found.adjusted, expected.adjusted)
    assert found.notes[-1] == "Columns 'x1', 'x3' are not tested: they have the same value in every row."
    one, other = (pd.DataFrame(constant(values)).rename(columns=str) for values in (X, Y))
    tests = compare(one, other, estimator="kme", **options).columns
    alone = two_sample_test_columns(one, other, **options)
    assert not any("no weight" in note for note in alone.notes)
    assert tests.labels == alone.labels == tuple((str(j),) for j in there)
    assert np.array_equal(tests.adjusted, alone.adjusted)


def test_columns_with_one_value_only_are_not_tested_against_others():
    """Widths and other given columns are those of all columns."""
    widths, there, options = np.arange(1.0, 5.0), [0, 2], {"n_resamples": 99, "rng": 0}
    found = independence_matrix(constant(), bandwidth_x=widths, **options)
    expected = independence_matrix(X[:, there], bandwidth_x=widths[there], **options)
    assert found.labels == (("x0", "x2"),)
    assert np.array_equal(found.pvalues, expected.pvalues)
    assert found.notes[-1] == "Columns 'x1', 'x3' are not tested: they have the same value in every row."
    table = pd.DataFrame(constant()).rename(columns=str)
    beside = independence_matrix(table, table, **options)
    assert [y for _, y in beside.labels] == ["0", "2"] * 2
    assert not any("no weight" in note for note in beside.notes)
    assert beside.notes[-2:] == tuple(
        f"Columns '1', '3' of {name} are not tested: they have the same value in every row." for name in "XY"
    )
    beside = independence_matrix(table, table[["0"]], given=pd.DataFrame({"z": PAIRED[:, 0], "w": 5.0}), **options)
    assert "given: column w has one value only, and no weight." in beside.notes
    given = independence_matrix(np.column_stack([constant(), PAIRED[:, :1]]), given="others", **options)
    without = independence_matrix(np.column_stack([X[:, there], PAIRED[:, :1]]), given="others", **options)
    assert np.array_equal(given.pvalues, without.pvalues)


# --------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: two_sample_test_columns(0.0 * X[:, :2], 0.0 * X[:, :2]), "columns 'x0', 'x1' have the same value"),
        (lambda: independence_matrix(constant()[:, :2]), "X has 1 column that can be tested; without Y two or more"),
        (lambda: independence_matrix(constant()[:, [1, 3]]), "X: columns 'x0', 'x1' have the same value in every row"),
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


COMBINED = ["auto", "Auto", ["kme", "fkmse"], Collection([Member("kme"), Member("skmse", "laplacian", 2.0)])]


@pytest.mark.parametrize("estimator", COMBINED, ids=["auto", "Auto", "list", "collection"])
def test_combined_tests_of_columns_are_the_combined_tests_of_each(estimator):
    found = two_sample_test_columns(X, Y[:11], estimator=estimator, **FEW)
    for j in range(4):
        one = two_sample_test(X[:, j], Y[:11, j], estimator=estimator, **FEW)
        assert (one.statistic, one.pvalue) == (found.statistics[j], found.pvalues[j])
        assert np.array_equal(one.null_distribution, found.null_distributions[:, j])


@pytest.mark.parametrize("estimator", COMBINED, ids=["auto", "Auto", "list", "collection"])
def test_combined_tests_of_pairs_are_the_combined_tests_of_each(estimator):
    found = independence_matrix(X[:, :2], PAIRED, estimator=estimator, **FEW)
    for k, (i, j) in enumerate(itertools.product(range(2), range(2))):
        one = independence_test(X[:, i], PAIRED[:, j], estimator=estimator, **FEW)
        assert (one.statistic, one.pvalue) == (found.statistics[k], found.pvalues[k])
        assert np.array_equal(one.null_distribution, found.null_distributions[:, k])


def test_one_estimator_in_a_list_is_that_estimator():
    listed, alone = (two_sample_test_columns(X, Y, estimator=one, **FEW) for one in (["fkmse"], "fkmse"))
    np.testing.assert_array_equal(listed.pvalues, alone.pvalues)


def test_a_combination_brings_its_kernels():
    for call in (
        partial(two_sample_test_columns, X, Y, bandwidth=2.0),
        partial(two_sample_test_columns, X, Y, kernel="laplacian"),
        partial(independence_matrix, X, kernel_x="laplacian"),
        partial(independence_matrix, X, PAIRED, bandwidth_y=1.0),
    ):
        with pytest.raises(ValueError, match="brings kernels and bandwidths of its own: leave out kernel"):
            call(estimator="auto", **FEW)


def test_no_candidates_of_kernels_and_bandwidths():
    for call in (
        partial(two_sample_test_columns, X, Y, kernel=["gaussian", "laplacian"]),
        partial(two_sample_test_columns, X, Y, bandwidth="grid"),
        partial(independence_matrix, X, kernel_x=["gaussian"]),
        partial(independence_matrix, X, bandwidth_x="grid"),
        partial(independence_matrix, PAIRED, PAIRED, kernel_y=["gaussian"]),
        partial(independence_matrix, PAIRED, PAIRED, bandwidth_y="grid"),
    ):
        with pytest.raises(ValueError, match="takes no candidates for kernels and bandwidths"):
            call()


def test_bandwidths_of_the_second_table_are_heeded():
    for wrong in (0.0, [0.0] * PAIRED.shape[1]):
        with pytest.raises(ValueError, match="bandwidth_y must be a finite number > 0"):
            independence_matrix(X, PAIRED, bandwidth_y=wrong)
    widths = np.linspace(0.5, 2.0, PAIRED.shape[1])
    found = independence_matrix(X, PAIRED, bandwidth_y=widths, **FEW)
    assert np.array_equal(
        found.statistics, independence_matrix(X, PAIRED, bandwidth_y=widths.tolist(), **FEW).statistics
    )
    assert not np.array_equal(found.statistics, independence_matrix(X, PAIRED, **FEW).statistics)


def test_notes_of_the_single_tests_are_kept_once():
    found = two_sample_test_columns(X, Y[:9], estimator=FKMSE(tuning="sample"), **FEW)
    single = two_sample_test(X[:, 0], Y[:9, 0], estimator=FKMSE(tuning="sample"), **FEW)
    assert found.notes == single.notes and len(found.notes) == 1
    assert (found.form, found.tuning) == (single.form, single.tuning) == ("unbiased", "sample")
    assert " ".join(found.summary().split()).endswith(f"[1] {found.notes[0]}")
    approximate = independence_matrix(X[:, :2], PAIRED, gram="nystrom", rank=3, **FEW)
    assert approximate.notes == independence_test(X[:, 0], PAIRED[:, 0], gram="nystrom", rank=3, **FEW).notes != ()


def test_json_says_all_but_the_null_distributions():
    found = independence_matrix(X[:, :3], **FEW)
    read = json.loads(found.to_json())
    assert read == found.to_dict() and [row["adjusted"] for row in read["tests"]] == found.adjusted.tolist()
    assert read["tests"][0] == found.table.iloc[0].to_dict() and read["n_resamples"] == FEW["n_resamples"]
    elsewhere = {"keys", "nulls", "data", "setup", "untested"}
    assert {field.name for field in fields(MultipleTestsResult)} - elsewhere <= set(read)
    assert json.loads(two_sample_test_columns(X, Y, n_resamples=0).to_json())["pvalue"] is None


def test_without_permutations_there_are_no_decisions():
    summary = str(two_sample_test_columns(X, Y, n_resamples=0).summary())
    assert "no decisions at level 0.05" in summary and "rejected" not in summary


def test_no_p_value_is_said_to_be_larger_than_one():
    with pytest.warns(UserWarning, match="adjusted for the number of tests, is 1, above"):
        two_sample_test_columns(np.tile(X, 20), np.tile(Y, 20), method="holm", n_resamples=9, rng=0)


def test_too_few_relabellings_for_the_number_of_tests_are_warned_of():
    with pytest.warns(UserWarning, match="can give, adjusted for the number of tests, is 0.0667.*n_resamples >= 79"):
        two_sample_test_columns(X, Y, method="holm", **FEW)
    with pytest.warns(UserWarning, match="collect more observations"):
        two_sample_test_columns(X[:3], Y[:3], n_resamples=np.inf)
