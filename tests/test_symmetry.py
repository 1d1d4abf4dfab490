"""Symmetry about a point: enumeration of all sign flips, exact level, and peers."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest

from cases import ROWS
from shrinktest import AggregateResult, symmetry_test, two_sample_test
from shrinktest.cli import main
from shrinktest.power import power_study
from shrinktest.power.designs import SkewNormal

RNG = np.random.default_rng(3)
SKEWED = RNG.exponential(size=(7, 2)) - np.log(2.0)
ESTIMATORS = [estimator for row in ROWS.values() for estimator in row.tuned]


def naive_pvalue(rows, bandwidth):
    """Share of sign patterns with a distance of kernel means at least as large as that of the rows themselves."""

    def distance(signs):
        z = signs[:, None] * rows
        apart, reflected = (np.sum((z[:, None] - other[None]) ** 2, axis=2) for other in (z, -z))
        gap = np.exp(-apart / (2.0 * bandwidth**2)) - np.exp(-reflected / (2.0 * bandwidth**2))
        return 2.0 * gap.mean()

    values = [distance(np.array(signs)) for signs in itertools.product([1.0, -1.0], repeat=len(rows))]
    return np.mean(np.array(values) >= values[0] - 1e-10), values[0]


def test_enumerated_pvalue_is_that_of_all_sign_patterns():
    pvalue, statistic = naive_pvalue(SKEWED, 1.3)
    result = symmetry_test(SKEWED, bandwidth=1.3, n_resamples=np.inf)
    assert result.exact
    assert result.pvalue == pytest.approx(pvalue, abs=1e-12)
    assert result.statistic == pytest.approx(statistic, rel=1e-9)


def test_every_estimator_keeps_its_level_over_all_sign_patterns():
    signs = np.array(list(itertools.product([1.0, -1.0], repeat=6)))[:32]  # the others are their opposites
    for estimator in ESTIMATORS:
        pvalues = np.array(
            [symmetry_test(s[:, None] * SKEWED[:6], estimator=estimator, n_resamples=np.inf).pvalue for s in signs]
        )
        for alpha in np.unique(pvalues):
            assert (pvalues <= alpha).mean() <= alpha + 1e-12, estimator


def test_equals_the_test_of_pairs_of_rows_and_their_reflections():
    rows = RNG.exponential(size=(25, 2))
    for estimator in (*ESTIMATORS, ["kme", "skmse"]):
        result = symmetry_test(rows, about=[0.7, 1.0], estimator=estimator, rng=0)
        z = rows - [0.7, 1.0]
        assert result.pvalue == two_sample_test(z, -z, paired=True, estimator=estimator, rng=0).pvalue
        assert result.n_observations == (25,)


def test_auto_and_tables():
    table = pd.DataFrame(RNG.exponential(size=(80, 2)) - 1.0, columns=["pH", "flow"])
    result = symmetry_test(table, estimator="auto", rng=0)
    assert isinstance(result, AggregateResult)
    assert result.reject()
    scaled = symmetry_test(table * [1.0, 1e6], rng=0)  # columns of a table are in units of their spread
    assert scaled.pvalue == symmetry_test(table, rng=0).pvalue
    table.iloc[3, 0] = np.nan
    left = symmetry_test(table, nan_policy="omit", rng=0)
    assert left.n_observations == (79,)
    assert left.pvalue == symmetry_test(table.drop(3), rng=0).pvalue
    assert np.isnan(symmetry_test(table, nan_policy="propagate").pvalue)


@pytest.mark.parametrize(
    "X, options, error, named",
    [
        (SKEWED, {"about": [0.0, 1.0, 2.0]}, ValueError, "about"),
        (SKEWED, {"about": np.nan}, ValueError, "about"),
        (SKEWED, {"nan_policy": "indicator"}, ValueError, "nan_policy"),
        (np.where(SKEWED > 1.0, np.nan, SKEWED), {}, ValueError, "X"),
        (pd.DataFrame({"a": ["x", "y", "x"], "b": [1.0, 2.0, 3.0]}), {}, TypeError, "'a'"),
        (SKEWED[:4], {}, ValueError, "alpha"),
    ],
)
def test_bad_input_names_the_argument(X, options, error, named):
    with pytest.raises(error, match=named):
        symmetry_test(X, **options)


def test_command_line(tmp_path, capsys):
    path = tmp_path / "skewed.csv"
    pd.DataFrame(SKEWED, columns=["a", "b"]).to_csv(path, index=False)
    assert main(["symmetry", str(path), "--about", "0.1,0.2", "--scale", "none", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    expected = symmetry_test(pd.DataFrame(SKEWED, columns=["a", "b"]), about=[0.1, 0.2], scale=None)
    assert shown["pvalue"] == expected.pvalue


def test_power_study_compares_skewed_with_symmetric_rows():
    options = {"n_trials": 20, "n_resamples": 99, "rng": 0, "workers": 1, "progress": False}
    result = power_study(SkewNormal(delta=1.0), ["kme", "auto"], [150], **options)
    assert (result.table.power > result.size_table.level + 0.3).all()
