"""Comparison of two tables: the p-values are those of the tests, and tables of every library are read."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

import naive_closer as naive
import naive_effects
from shrinktest import AggregateResult, compare, two_sample_test, two_sample_test_columns

FAST = {"n_resamples": 99, "workers": 1}


def table(rows, change=0.0, seed=0):
    """A table of mixed columns, with a few missing values."""
    rng = np.random.default_rng([seed, rows])
    income = rng.lognormal(8.0 + change, 0.4, rows)
    income[rng.random(rows) < 0.1] = np.nan
    start = pd.Timestamp("2024-03-01")
    return pd.DataFrame(
        {
            "income": income,
            "age": rng.normal(40.0, 9.0, rows),
            "region": rng.choice(["north", "south", "east"], rows),
            "smokes": rng.random(rows) < 0.3,
            "visit": start + pd.to_timedelta(rng.integers(0, 30, rows), unit="D"),
        }
    )


A, B = table(40), table(36, 1.0)


@pytest.fixture(scope="module")
def result():
    return compare(A, B, rng=0, **FAST)


@pytest.mark.parametrize("policy", ["indicator", "omit"])
@pytest.mark.parametrize("estimator", ["auto", "kme"])
def test_pvalues_are_those_of_the_two_tests(policy, estimator):
    given = {"estimator": estimator, "nan_policy": policy, "rng": 4, **FAST}
    result = compare(A, B, **given)
    assert result.pvalue == two_sample_test(A, B, **given).pvalue
    expected = two_sample_test_columns(A, B, **given)
    assert result.columns.pvalues.tolist() == expected.pvalues.tolist()
    assert result.columns.adjusted.tolist() == expected.adjusted.tolist()
    assert result.columns.labels == expected.labels
    assert isinstance(result.overall, AggregateResult) == (estimator == "auto")


@pytest.mark.parametrize("design", ["blocks", "groups", "paired"])
def test_designs_are_passed_on(design):
    a, b = A.iloc[:36], B.reset_index(drop=True)
    labels = (np.arange(36) // 3, np.arange(36) // 3 + (100 if design == "groups" else 0))
    given = {design: True if design == "paired" else labels, "estimator": "kme", "rng": 1, **FAST}
    result = compare(a, b, **given)
    given |= {"nan_policy": "indicator"}
    assert result.pvalue == two_sample_test(a, b, **given).pvalue
    assert (
        result.columns.pvalues.tolist() == two_sample_test_columns(a, b, **given).pvalues.tolist()
    )
    assert (
        result.where is not None and result.where.outside is None
    )  # a band of free permutations would be wrong
    assert "simultaneous" not in result.to_html()
    assert result.overall.restriction and (design == "blocks") == any(
        "blocks" in note for note in result.notes
    )


@pytest.mark.parametrize("rows", [(15, 15), (20, 30), (36, 36)])
def test_effects_under_blocks_say_what_they_compare(rows):
    """Effects of columns are of all rows, the one of the tables of rows of one block; both say so."""
    a, b = table(rows[0], seed=3), table(rows[1], seed=4)
    a["income"] = a["income"] + 4.0 * (np.arange(rows[0]) % 5)
    b["income"] = b["income"] + 4.0 * (np.arange(rows[1]) % 5)
    result = compare(
        a, b, blocks=tuple(np.arange(n) % 5 for n in rows), estimator="kme", rng=0, **FAST
    )
    text = " ".join(str(result.summary()).split())
    assert "change across all blocks, with 95% interval" in text
    assert (
        "Effects of columns compare all rows, so differences between blocks are part of them"
        in text
    )
    assert (
        "one from B from the same block" in text
        and "may include the null value although the test rejects" in text
    )
    assert "How across all blocks, with 95% interval" in result.to_html()
    plain = compare(a, b, estimator="kme", rng=0, **FAST)
    assert "block" not in plain.summary()
    crude = result.to_frame().query("adjusted_for == ''").reset_index(drop=True)
    pd.testing.assert_frame_equal(crude, plain.to_frame())


def sites(rows, share, seed):
    """A column that a site and an age determine, but for noise; no table has more of it."""
    rng = np.random.default_rng(seed)
    site = np.where(rng.random(rows) < share, "a", "b")
    age = rng.normal(40.0, 9.0, rows) + 5.0 * (site == "a")
    dose = age + 10.0 * (site == "a") + rng.normal(size=rows)
    wait = pd.to_timedelta(dose + 30.0, unit="D")
    return pd.DataFrame({"dose": dose, "wait": wait, "high": dose > 50.0, "site": site, "age": age})


SITES = sites(60, 0.3, 1), sites(50, 0.7, 2)
BY_SITE = tuple(table["site"] for table in SITES)


@pytest.mark.parametrize("given", [["site"], ["age"], ["site", "age"]], ids=str)
@pytest.mark.parametrize("estimator", ["kme", "auto"])
def test_pvalues_given_covariates_are_those_of_the_test(given, estimator):
    first, second = SITES
    options = {"estimator": estimator, "rng": 3, **FAST}
    result = compare(first, second, covariates=given, **options)
    pair = (first[given], second[given])
    rest = [table.drop(columns=given) for table in SITES]
    assert result.pvalue == two_sample_test(*rest, covariates=pair, **options).pvalue
    column = [table[["dose"]] for table in SITES]
    tested = dict(zip(result.table["column"], result.table["pvalue"], strict=True))
    assert tested["dose"] == two_sample_test(*column, covariates=pair, **options).pvalue
    assert tested.keys() == {*first.columns} - {*given}
    by_pair = compare(*rest, covariates=pair, **options)
    assert by_pair.effects == result.effects and by_pair.pvalue == result.pvalue


def test_adjusted_effects_are_those_of_slow_computations():
    x, y = (table["dose"].to_numpy() for table in SITES)
    pooled = np.concatenate([x, y])
    second = np.repeat([0, 1], [60, 50])
    blocks = np.concatenate([site == "a" for site in BY_SITE])
    ages = np.concatenate([table["age"] for table in SITES])
    by_blocks = compare(*SITES, blocks=BY_SITE, estimator="kme", rng=0, **FAST).to_frame()
    by_age = compare(*SITES, covariates="age", estimator="kme", rng=0, **FAST).to_frame()
    nothing = np.empty((110, 0))
    for frame, words, codes, z in (
        (by_blocks, "blocks", blocks, nothing),
        (by_age, "age", np.zeros(110), ages[:, None]),
        (by_age, "", np.zeros(110), nothing),
    ):
        own = frame[frame["adjusted_for"] == words].set_index(["column", "effect"])
        row = own.loc[("dose", "mean_difference")]
        expected = naive_effects.sample_coefficient(pooled, second, np.arange(110), codes, z, 0.95)
        assert tuple(row[["estimate", "low", "high"]]) == pytest.approx(expected)
        assert (row["first"], row["second"]) == pytest.approx((x.mean(), y.mean()))
        days = own.loc[("wait", "mean_difference")]
        assert days["estimate"] == pytest.approx(row["estimate"])
        high = np.concatenate([table["high"] for table in SITES]).astype(float)
        expected = naive_effects.sample_coefficient(high, second, np.arange(110), codes, z, 0.95)
        assert own.loc[("high", "share"), "estimate"] == pytest.approx(expected[0])
    area = by_blocks.query("adjusted_for == 'blocks' and effect == 'median'").set_index("column")
    expected = naive_effects.area_within(x, y, *(site.tolist() for site in BY_SITE))
    assert area.loc["dose", "estimate"] == pytest.approx(expected)


@pytest.mark.parametrize(
    "adjusted", [{"blocks": BY_SITE}, {"covariates": "site"}, {"covariates": ["site", "age"]}]
)
def test_adjusted_effects_of_a_confounded_column_are_smaller(adjusted):
    plain, result = (
        compare(*SITES, estimator="kme", rng=0, **given, **FAST).table.set_index("column")
        for given in ({}, adjusted)
    )
    words = {"blocks": "blocks", "covariates": "site"}[next(iter(adjusted))]
    assert (plain["adjusted_for"] == "").all()
    assert result["adjusted_for"].str.startswith(words).all()
    assert result.loc["wait", "unit"] == "days" and result.loc["dose", "unit"] == ""
    for column in ("dose", "wait"):
        assert plain.loc[column, "mean_difference_low"] > 0.0
        assert result.loc[column, "mean_difference_low"] < 0.0
        assert abs(result.loc[column, "estimate"] - 0.5) < plain.loc[column, "estimate"] - 0.5


def test_lines_on_adjusted_effects():
    result = compare(*SITES, covariates="site", estimator="kme", rng=0, **FAST)
    text = str(result.summary())
    assert "adjusted for site: mean +" in text and "days [" in text and "AUC ." in text
    assert "effects adjusted for site, compare rows within" in " ".join(text.split())
    assert "adjusted for site" in result.to_html()
    assert '"adjusted_for": "site"' in result.to_json()
    residuals = compare(*SITES, covariates="age", estimator="kme", rng=0, **FAST)
    assert residuals.effect is None and "linear regression" in " ".join(residuals.notes)


NEWCOMERS = {
    "mean": lambda: compare(A, B, rng=0, **FAST).table["mean_difference"],
    "median": lambda: compare(A, B, rng=0, **FAST).table["median_difference_low"],
    "pairs": lambda: compare(A[:36], B, paired=True, rng=0, **FAST).table["mean_difference_high"],
    "blocks": lambda: compare(*SITES, blocks=BY_SITE, rng=0, **FAST).table["mean_difference"],
    "name": lambda: compare(*SITES, covariates="age", rng=0, **FAST).table["mean_difference"],
    "names": lambda: compare(*SITES, covariates=["age", "site"], rng=0, **FAST).to_frame()["low"],
}


@pytest.mark.parametrize("call", NEWCOMERS.values(), ids=NEWCOMERS)
def test_one_call_answers(call):
    assert call().notna().any()


def test_it_finds_what_changed_and_nothing_else(result):
    assert result.reject() and result.changed() == ("income",)
    same = compare(A, table(40, seed=9), rng=0, **FAST)
    assert not same.reject() and same.changed() == ()


def test_effects_are_those_of_slow_computations(result):
    frame = (
        result.to_frame()
        .fillna({"level": ""})
        .set_index(["column", "effect", "level"])
        .sort_index()
    )
    x, y = A["age"].to_numpy(), B["age"].to_numpy()
    row = frame.loc[("age", "median", "")]
    assert (
        row["estimate"] == pytest.approx(np.mean(x[:, None] < y))
        and row["low"] < row["estimate"] < row["high"]
    )
    assert row[["first", "second"]].tolist() == pytest.approx([np.median(x), np.median(y)])
    row = frame.loc[("age", "spread", "")]
    expected = naive.ratio_of_widths(x, y, range(40), range(40, 76), 0.95)
    assert row["estimate"] == pytest.approx(expected[0])
    assert row[["low", "high"]].tolist() == pytest.approx(expected[1:], rel=0.1)
    counts = [int((table["region"] == "north").sum()) for table in (B, A)]
    row = frame.loc[("region", "share", "north")]
    expected = confint_proportions_2indep(
        counts[0], 36, counts[1], 40, method="newcomb", compare="diff"
    )
    assert [float(row["low"]), float(row["high"])] == pytest.approx(expected)
    counts = [int(table["income"].isna().sum()) for table in (B, A)]
    row = frame.loc[("income", "missing", "")]
    expected = confint_proportions_2indep(
        counts[0], 36, counts[1], 40, method="newcomb", compare="diff"
    )
    assert [row["low"], row["high"]] == pytest.approx(expected)


def test_every_library_gives_the_same(result):
    expected = result.to_frame()
    for convert in (pl.from_pandas, pa.Table.from_pandas):
        converted = compare(convert(A), convert(B), rng=0, **FAST)
        assert converted.pvalue == result.pvalue
        pd.testing.assert_frame_equal(converted.to_frame(), expected, check_dtype=False)


def test_columns_of_one_table_only_are_named_and_not_compared(result):
    compared = compare(
        A.assign(old=1.0), B.assign(new=2.0, other="z"), names=("March", "April"), rng=0, **FAST
    )
    assert compared.only == (("old",), ("new", "other")) and compared.pvalue == result.pvalue
    assert compared.answer.startswith(
        "Only March has the column old. Only April has the columns new, other. "
    )


def test_small_tables_have_effects_without_intervals():
    a, b = (
        pd.DataFrame({"x": x, "g": list(g)})
        for x, g in (([1.0, 2.0, 4.0], "uvu"), ([8.0, 9.0, 7.5], "vvv"))
    )
    with pytest.warns(UserWarning, match="the test can never reject") as warned:
        result = compare(a, b, rng=0, workers=1)
    assert len({str(warning.message) for warning in warned}) == len(warned)
    median = result.to_frame().set_index(["column", "effect"]).sort_index().loc[("x", "median")]
    assert median["estimate"] > 0.5 and math.isnan(median["low"]) and result.where is None


@pytest.mark.parametrize(
    "given, error, named",
    [
        ({"names": ("A", "A")}, ValueError, "names"),
        ({"names": "AB"}, TypeError, "names"),
        ({"nan_policy": "propagate"}, ValueError, "nan_policy"),
        ({"nan_policy": "raise"}, ValueError, "^A has .* missing values"),
        ({"method": "holms"}, ValueError, "method"),
        ({"confidence": 95}, ValueError, "confidence"),
        (
            {"column_types": {"incme": "number"}},
            ValueError,
            "column_types .* Did you mean 'income'",
        ),
        ({"paired": True}, ValueError, "A has 40 rows and B has 36 rows"),
        ({"blocks": [1, 2]}, ValueError, "blocks has 2 labels"),
        ({"kernel": "gaussian"}, TypeError, "kernel"),
        ({"covariates": "aeg"}, ValueError, "covariates .* Did you mean 'age'"),
        ({"covariates": 3}, ValueError, "covariates must be a pair"),
        ({"covariates": A}, ValueError, "covariates must be a pair"),
        (
            {"B": B[["age"]].rename(columns={"age": "years"})},
            ValueError,
            "A and B have no column in common",
        ),
        ({"B": B.assign(age="old")}, ValueError, "numbers in A and categories in B"),
        (
            {"A": 0 * A[["age"]], "B": 0 * B[["age"]]},
            ValueError,
            "A and B: column 'age' has the same value",
        ),
    ],
)
def test_wrong_input_is_named(given, error, named):
    with pytest.raises(error, match=named):
        compare(**{"A": A, "B": B, **FAST, **given})
