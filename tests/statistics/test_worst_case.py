"""nan_policy="worst": never less than the p-value of the complete data, whatever the unknown rows are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import naive_tests
import small
from shrinktest import (
    BesagClifford,
    Gaussian,
    Laplacian,
    TestResult,
    calibrate,
    compare,
    independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.kernels import Polynomial
from shrinktest.nulls.relabellings import Partitions

RNG = np.random.default_rng(5)
ALL = {"n_resamples": np.inf, "alpha": 0.5, "bandwidth": 1.0, "workers": 1}
FEW = {"n_resamples": 99, "bandwidth": 1.0, "workers": 1, "rng": 0}


def data(m, n, unknown, columns=2, shift=1.0, rng=RNG):
    """Complete samples, and the same with the rows `unknown` (of the pooled ones) missing a value."""
    whole = rng.normal(size=(m + n, columns))
    whole[:m] += shift
    gaps = whole.copy()
    gaps[unknown, 0] = np.nan
    return whole, gaps


def completions(whole, unknown, number, rng):
    """The data with other values in the rows that are unknown: near, far, and copies of known rows."""
    known = np.setdiff1d(np.arange(len(whole)), unknown)
    for i in range(number):
        values = whole.copy()
        if i % 2:
            values[unknown] = whole[rng.choice(known, len(unknown))]
        else:
            values[unknown] = rng.normal(size=(len(unknown), whole.shape[1])) * rng.choice([0.3, 1.0, 3.0, 100.0])
        yield values


# ------------------------------------------------------------------------------------------ the mathematics


@pytest.mark.parametrize("form", ["biased", "unbiased"])
@pytest.mark.parametrize("kernel", [Gaussian(0.8), Laplacian((1.0, 2.0))])
@pytest.mark.parametrize(("m", "n", "unknown"), [(4, 4, [1]), (5, 3, [0, 7]), (4, 6, [3, 4, 9])])
def test_the_null_distribution_is_the_naive_one(form, kernel, m, n, unknown):
    whole, gaps = data(m, n, unknown)
    options = {**ALL, "bandwidth": "median", "kernel": kernel, "form": form}
    result = two_sample_test(gaps[:m], gaps[m:], nan_policy="worst", **options)
    labels = list(Partitions(np.inf, RNG, (m, n)).every())
    known = ~np.isnan(gaps).any(axis=1)
    K = kernel(np.where(known[:, None], whole, 1e3))  # of unknown rows nothing is looked at
    expected = [naive_tests.worst_statistic(K, known, labels[0], one, form) for one in labels]
    assert result.null_distribution == pytest.approx(expected, abs=1e-6)  # norms have a slack for rounding
    assert (result.null_distribution >= np.array(expected) - 1e-12).all()
    assert result.statistic == pytest.approx(expected[0], abs=1e-12)
    assert result.pvalue == np.mean(np.array(expected) >= expected[0] - 1e-9)


@pytest.mark.parametrize("form", ["biased", "unbiased"])
@pytest.mark.parametrize("columns", [1, 2])
def test_no_values_of_the_unknown_rows_give_more(form, columns):
    rng, below = np.random.default_rng(columns), 0
    for _ in range(6):
        m, n = rng.integers(4, 6, size=2)
        unknown = np.array([rng.integers(m), m + rng.integers(n)])[: rng.integers(1, 3)]
        whole, gaps = data(m, n, unknown, columns, shift=3.0, rng=rng)
        worst = two_sample_test(gaps[:m], gaps[m:], nan_policy="worst", form=form, **ALL)
        below += worst.pvalue < 1.0
        for values in completions(whole, unknown, 20, rng):
            complete = two_sample_test(values[:m], values[m:], form=form, **ALL)
            risen = complete.null_distribution - complete.statistic
            bounds = worst.null_distribution - worst.statistic
            assert (risen <= bounds + 1e-12).all()
            assert complete.pvalue <= worst.pvalue
    assert below  # else nothing was shown


DESIGNS = {
    "free": lambda m: {},
    "blocks": lambda m: {"blocks": (np.arange(m) % 2, np.arange(m) % 2)},
    "paired": lambda m: {"paired": True},
    "groups": lambda m: {"groups": (np.arange(m) // 2, 100 + np.arange(m) // 2)},
}


@pytest.mark.parametrize("stopping", [None, BesagClifford(3), "curtailed"])
@pytest.mark.parametrize("design", DESIGNS)
def test_in_every_design_and_with_every_rule_for_stopping(design, stopping):
    rng, m, unknown = np.random.default_rng(1), 12, [2, 17]
    whole, gaps = data(m, m, unknown, 1, shift=1.5, rng=rng)
    options = {**FEW, **DESIGNS[design](m), "stopping": stopping}
    worst = two_sample_test(gaps[:m], gaps[m:], nan_policy="worst", **options)
    for values in completions(whole, unknown, 10, rng):
        assert two_sample_test(values[:m], values[m:], **options).pvalue <= worst.pvalue


def test_both_of_a_pair_stay_when_one_is_unknown():
    _, gaps = data(20, 20, [3], 1, shift=2.0)
    result = two_sample_test(gaps[:20], gaps[20:], nan_policy="worst", paired=True, **FEW)
    assert result.n_observations == (20, 20)
    assert [one.n for one in result.estimates] == [19, 20]


def test_the_level_holds_where_values_are_missing_by_their_size():
    omitted, worst = 0, 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, Y = rng.normal(size=(2, 60))
        X[np.argsort(X)[-12:]] = np.nan  # the largest of one sample
        options = {"n_resamples": 39, "bandwidth": 1.0, "workers": 1, "rng": seed}
        omitted += two_sample_test(X, Y, nan_policy="omit", **options).reject()
        worst += two_sample_test(X, Y, nan_policy="worst", **options).reject()
    assert omitted > 15
    assert worst == 0


def test_power_falls_as_the_page_says():
    found = {}
    for share in (0.0, 0.03, 0.12):
        rng, found[share] = np.random.default_rng(0), 0
        for _ in range(10):
            X, Y = rng.normal(size=200), rng.normal(1.0, 1.0, size=200)
            X[: int(200 * share)] = Y[: int(200 * share)] = np.nan
            found[share] += two_sample_test(X, Y, nan_policy="worst", **FEW).reject()
    assert (found[0.0], found[0.03], found[0.12]) == (10, 10, 0)


# -------------------------------------------------------------------------------------------- the result


def test_the_result_is_consistent_and_says_what_it_is():
    _, gaps = data(30, 20, [0, 1, 40], 1, shift=2.0)
    result = two_sample_test(gaps[:30], gaps[30:], nan_policy="worst", **FEW)
    assert result.pvalue == (1 + result.exceedances) / 100
    assert result.reject() == (result.statistic > result.critical_value())
    assert result.plot_null().get_xlabel()
    assert result.n_observations == (30, 20)
    assert [one.n for one in result.estimates] == [28, 19]
    assert "Unknown for missing values: 2 of 30 rows of X and 1 of 20 rows of Y" in result.notes[0]
    assert "whatever made them missing" in small.notes(result)
    assert "The statistic and the estimates are those of the complete rows" in small.notes(result)
    assert result.witness([0.0]).shape == (1,)
    with pytest.raises(ValueError, match="nothing but a bound"):
        result.witness_band()
    again = TestResult.from_json(result.to_json())
    assert (again.pvalue, again.exceedances, again.notes) == (result.pvalue, result.exceedances, result.notes)


def test_without_missing_values_it_is_the_ordinary_test():
    whole, _ = data(12, 10, [])
    worst, plain = (two_sample_test(whole[:12], whole[12:], nan_policy=p, **FEW) for p in ("worst", "raise"))
    assert (worst.pvalue, worst.statistic, worst.notes) == (plain.pvalue, plain.statistic, plain.notes)
    assert (worst.null_distribution == plain.null_distribution).all()
    assert worst.witness_band([[0.0, 0.0]]).values.shape == (1,)


def test_neither_workers_nor_the_route_change_it():
    _, gaps = data(40, 40, [0, 50], 1)
    dense, threads, factor = (
        two_sample_test(gaps[:40], gaps[40:], nan_policy="worst", **{**FEW, "n_resamples": 999, **more})
        for more in ({"gram": "dense"}, {"gram": "dense", "workers": 3}, {"gram": "factor"})
    )
    assert (dense.null_distribution == threads.null_distribution).all()
    assert factor.route == "factor"
    assert factor.pvalue == dense.pvalue
    assert factor.null_distribution == pytest.approx(dense.null_distribution, abs=1e-7)


def test_tables_with_categories():
    rng = np.random.default_rng(0)
    tables = [
        pd.DataFrame({"age": rng.normal(40.0 + 30.0 * i, 10.0, 60), "city": rng.choice(["Rome", "Oslo"], 60)})
        for i in range(2)
    ]
    tables[0].loc[3, "city"] = None
    tables[1].loc[5, "age"] = np.nan
    options = {
        **FEW,
        "nan_policy": "worst",
        "scale": {"age": 10.0, "city": 1.0},
        "bandwidth": {"age": 1.0, "city": 2.0},
    }
    result = two_sample_test(*tables, **options)
    assert result.reject()
    assert result.columns == (("age", "city"),)


# -------------------------------------------------------------------------------------------- what it refuses


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"bandwidth": "median"}, "not 'median': what is computed from the data depends on which"),
        ({"bandwidth": "0.5 * neighbours"}, "fixed before the data are seen"),
        ({"scale": "sd"}, "scale=None, or a number for each column"),
        ({"scale": (1.0, "rank")}, "scale=None, or a number for each column"),
        ({"transform": lambda table: table}, "takes no transform="),
        ({"estimator": "skmse"}, "is for estimator='kme'"),
        ({"estimator": "auto"}, "is for one statistic"),
        ({"bandwidth": [1.0, 2.0]}, "is for one statistic"),
        ({"kernel": Polynomial(2), "bandwidth": "median"}, "'gaussian' and 'laplacian'"),
        ({"kernel": lambda x, y: x @ y.T, "bandwidth": "median"}, "'gaussian' and 'laplacian'"),
        ({"gram": "rff"}, "approximated kernel"),
    ],
)
def test_what_is_found_on_the_data_or_has_no_bound_is_refused(given, message):
    _, gaps = data(8, 8, [0])
    with pytest.raises(ValueError, match=message):
        two_sample_test(gaps[:8], gaps[8:], nan_policy="worst", **{**FEW, **given})


def test_the_units_of_tables_and_columns_that_are_left_out_are_refused():
    rng = np.random.default_rng(0)
    frames = [pd.DataFrame({"a": rng.normal(size=8), "id": [f"{s}{i}" for i in range(8)]}) for s in "xy"]
    frames[0].loc[0, "a"] = np.nan
    with pytest.raises(ValueError, match="the default for tables"):
        two_sample_test(*frames, nan_policy="worst", **FEW)
    with pytest.raises(ValueError, match=r"'id' looks as if .* column_types=\{'id': 'drop'\}"):
        two_sample_test(*frames, nan_policy="worst", scale=None, **FEW)
    result = two_sample_test(*frames, nan_policy="worst", scale=None, column_types={"id": "drop"}, **FEW)
    assert result.columns == (("a",),)


def test_too_few_complete_rows_and_too_little_memory():
    _, gaps = data(8, 8, [0, 1, 2, 3, 4, 5, 6])
    with pytest.raises(ValueError, match="X has 1 row without missing values"):
        two_sample_test(gaps[:8], gaps[8:], nan_policy="worst", **FEW)
    never = pd.DataFrame({"a": [1.0, np.nan, 3.0, np.nan], "b": [np.nan, 2.0, np.nan, 3.0]})
    for scale in ("auto", None, "rank"):
        with pytest.raises(ValueError, match=r"^X has 0 rows without .* leave out columns .* nan_policy='indicator'$"):
            two_sample_test(never, never + 1.0, nan_policy="worst", scale=scale)
    _, gaps = data(100, 100, [0])
    for gram in ("auto", "dense"):
        with pytest.raises(MemoryError, match="use a random part of the data, or raise max_memory"):
            two_sample_test(gaps[:100], gaps[100:], nan_policy="worst", max_memory=1e4, gram=gram, **FEW)


@pytest.mark.parametrize(
    "test",
    [
        lambda X, Y, **options: independence_test(X, Y, **options),
        lambda X, Y, **options: k_sample_test(X, Y, X, **options),
        lambda X, Y, **options: two_sample_test_columns(X, Y, **options),
        lambda X, Y, **options: calibrate(lambda X, Y: 0.5, X, Y, **options),
    ],
    ids=["independence", "k-sample", "columns", "calibrate"],
)
def test_other_tests_have_no_worst_case(test):
    X, Y = RNG.normal(size=(2, 10, 2))
    with pytest.raises(ValueError, match="nan_policy='worst' is for two_sample_test"):
        test(X, Y, nan_policy="worst")


def test_nor_has_a_comparison():
    frame = pd.DataFrame({"a": RNG.normal(size=10)})
    with pytest.raises(ValueError, match="nan_policy must be"):
        compare(frame, frame, nan_policy="worst")
