"""Pairs with a missing value: their values are not compared, and that values are missing is compared separately."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shrinktest import compare, two_sample_test, two_sample_test_columns

N = 30
GAPS = {"nan_policy": "indicator", "paired": True, "n_resamples": 199, "workers": 1, "rng": 0}


def pairs(seed, shift=1.0, between=10.0, gaps=(2, 2), kind="number"):
    """Tables before and after, with gaps in rows of each; pairs differ by noise with standard deviation 1."""
    rng = np.random.default_rng(seed)
    levels = rng.normal(0.0, between, N)
    tables = []
    for change, count in zip((0.0, shift), gaps, strict=True):
        values = levels + change + rng.normal(0.0, 0.5**0.5, N)
        values[rng.choice(N, count, replace=False)] = np.nan
        if kind == "date":
            values = pd.Timestamp("2024-01-01") + pd.to_timedelta(values, unit="D")
        tables.append(pd.DataFrame({"v": values}))
    return tables


@pytest.mark.parametrize("kind", ["number", "date"])
@pytest.mark.parametrize("between", [3.0, 10.0, 300.0])
def test_a_shift_is_found_although_pairs_have_gaps(kind, between):
    found = [two_sample_test(*pairs(i, 1.3, between, kind=kind), estimator="auto", **GAPS).reject() for i in range(6)]
    assert sum(found) >= 5


def test_a_report_finds_the_shift_and_names_the_gaps():
    a, b = pairs(0)
    result = compare(a, b, **GAPS)
    assert result.reject() and result.changed() == ("v",)
    assert any("complete pairs" in note and note.endswith("v.") for note in result.notes)
    assert two_sample_test_columns(a, b, estimator="auto", **GAPS).adjusted[0] <= 0.05


@pytest.mark.parametrize("estimator", ["kme", "auto"])
@pytest.mark.parametrize("between", [0.0, 10.0])
def test_more_missing_values_are_found_without_a_change_of_values(estimator, between):
    found = [two_sample_test(*pairs(i, 0.0, between, (0, 9)), estimator=estimator, **GAPS).reject() for i in range(5)]
    assert sum(found) >= 4


def test_values_beside_gaps_do_not_count():
    a, b = pairs(1, 0.0, gaps=(0, 0))
    a.loc[:4, "v"] = np.nan
    other = b.copy()
    other.loc[:4, "v"] += [3.0, -40.0, 7.0, 8.0, -1.0]  # the median stays almost where it was, and so does the scale
    complete = b.assign(w=0.0)
    pvalues = [two_sample_test(a, one, scale={"v": 1.0}, bandwidth=2.0, **GAPS).pvalue for one in (b, other)]
    assert abs(pvalues[0] - pvalues[1]) <= 0.02
    assert "complete pairs" not in " ".join(two_sample_test(complete, complete + 0.1, **GAPS).notes)


@pytest.mark.parametrize("categories", [False, True])
def test_exchanging_the_rows_of_pairs_changes_no_set_of_results(categories):
    """The statistics of all exchanges are the same, whichever of them was observed."""
    rng = np.random.default_rng(3)
    a, b = (one.iloc[:7].copy() for one in pairs(2))
    a.loc[2, "v"] = b.loc[4, "v"] = np.nan
    if categories:
        a["c"], b["c"] = (pd.Series(rng.choice(["p", "q", None], 7), dtype=object) for _ in range(2))
    swapped = rng.random(7) < 0.5
    c, d = (one.where(np.tile(~swapped, (len(one.columns), 1)).T, other) for one, other in ((a, b), (b, a)))
    options = GAPS | {"n_resamples": np.inf}
    nulls = [np.sort(two_sample_test(*two, **options).null_distribution) for two in ((a, b), (c, d))]
    assert len(nulls[0]) >= 64
    np.testing.assert_allclose(*nulls, rtol=1e-9)
