"""What a result looks like: printed, as JSON or a table row, and plotted."""

from __future__ import annotations

import dataclasses
import json
import re

import matplotlib
import numpy as np
import pandas as pd
import pytest
import statsmodels.iolib.summary

import shrinktest
from shrinktest import FKMSE, SKMSE, Gaussian, change_point_test, independence_test, two_sample_test
from shrinktest.estimators import ESTIMATORS
from shrinktest.permutations.null import Null
from shrinktest.results.conclude import conclude
from shrinktest.results.result import TestResult

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(10, 2)), RNG.normal((0.9, 0.0), size=(8, 2))
PAIR = X[:, 0] ** 2 + 0.2 * RNG.normal(size=10)


@pytest.fixture(scope="module")
def result():
    return two_sample_test(X, Y, n_resamples=199, rng=0)


@pytest.fixture(scope="module")
def shrunken():
    return two_sample_test(X, Y, estimator="fkmse", n_resamples=199, rng=0)


@pytest.fixture(scope="module")
def paired():
    return independence_test(X, PAIR, estimator="skmse", n_resamples=99, rng=0)


# --- printing -----------------------------------------------------------------------------------------------


def test_the_summary_has_all_that_matters(shrunken):
    text = str(shrunken.summary())
    low, high = shrunken.pvalue_interval()
    assert text.strip().startswith("Kernel two-sample test (MMD)")
    for label, value in {
        "Null hypothesis:": "equal distributions",
        "Estimator:": "FKMSE()",
        "Tuning:": "joint",
        "Kernel:": "Gaussian",
        "Bandwidth:": f"{shrunken.bandwidth:.4g}",
        "No. observations:": "10 + 8",
        "Statistic:": f"{shrunken.statistic:.6g}",
        "Form:": "biased",
        "p-value:": f"{shrunken.pvalue:.4g}",
        "95% Monte Carlo:": f"[{low:.4g}, {high:.4g}]",
        "Critical (0.05):": f"{shrunken.critical_value():.6g}",
        "Decision:": "reject" if shrunken.reject() else "do not reject",
        "Permutations:": "199 (random)",
    }.items():
        assert value in text.split(label)[1].split("\n")[0], label
    for label, estimate in zip(("X ", "Y "), shrunken.estimates, strict=True):
        row = next(line for line in text.splitlines() if line.startswith(label))
        assert row.split()[1:] == [
            str(len(estimate.points)),
            f"{estimate.shrinkage:.4g}",
            f"{estimate.norm2():.6g}",
        ]


def test_the_summary_of_an_independence_test(paired):
    text = str(paired.summary())
    assert text.strip().startswith("Kernel independence test (HSIC)")
    for label, value in {
        "Null hypothesis:": "independence",
        "Bandwidth X:": f"{paired.bandwidth[0]:.4g}",
        "Bandwidth Y:": f"{paired.bandwidth[1]:.4g}",
        "No. pairs:": "10",
    }.items():
        assert value in text.split(label)[1].split("\n")[0], label


def test_the_summary_of_special_cases():
    exhaustive = two_sample_test(X[:4], Y[:4], n_resamples=np.inf, alpha=0.5)
    assert "exact" in str(exhaustive.summary())
    assert "35 (all)" in str(exhaustive.summary())
    noted = two_sample_test(X, Y, estimator=SKMSE(alpha=0.2), n_resamples=0)
    flat = " ".join(str(noted.summary()).split())
    assert "[1]" in flat
    assert all(" ".join(note.split())[:60] in flat for note in noted.notes)
    assert "none" in str(noted.summary()).split("Decision:")[1].split("\n")[0]
    several = two_sample_test(X, Y, kernel=Gaussian((0.5, 2.0)), estimator="mkme", n_resamples=0)
    assert "(0.5, 2)" in str(several.summary())
    assert "(0.5, 2)" in str(several.to_frame()["bandwidth"].iloc[0]).replace(".0)", ")")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_result_prints_in_a_terminal_and_in_a_notebook(name):
    for result in (
        two_sample_test(X, Y, estimator=name, n_resamples=0),
        independence_test(X, PAIR, estimator=name, n_resamples=0),
    ):
        text = str(result.summary())
        assert repr(result.estimator) in text
        assert max(map(len, text.splitlines())) < 100
        assert repr(result.estimator) in result.summary().as_html()


def test_the_text_is_that_of_statsmodels(result, shrunken, paired):
    combined = two_sample_test(X, Y, estimator=["kme", "skmse"], bandwidth=["median", 0.5], n_resamples=99, rng=0)
    noted = two_sample_test(X, Y, estimator=SKMSE(alpha=0.2), n_resamples=0)
    for one in (result, shrunken, paired, combined, noted):
        ours, theirs = one.summary(), statsmodels.iolib.summary.Summary()
        theirs.tables, theirs.extra_txt = ours.tables, ours.extra_txt
        assert str(ours) == ours.as_text() == theirs.as_text()
        assert ours._repr_html_() == ours.as_html() == theirs.as_html()
        assert ours._repr_latex_() == theirs.as_latex() and ours.as_csv() == theirs.as_csv()
        assert repr(ours).endswith(f'"""\n{ours}\n"""')


def test_narrow_tables_and_signs_that_mean_something_to_latex_are_in_the_latex_of_a_summary(shrunken):
    series = np.repeat([0.0, 3.0], 12) + np.sin(np.arange(24))
    named = dataclasses.replace(shrunken, names=("a_1", "100%"))
    for one in (change_point_test(series, n_resamples=99, rng=0).summary(), named.summary(effect=True)):
        latex = one._repr_latex_()
        assert latex == one.as_latex() and latex.count("tabular") == 2
        for label in [row[0] for table in one.tables for row in table.data if row[0]]:
            assert str(label).replace("_", r"\_").replace("%", r"\%") in latex
    below = latex.split(r"\end{center}")[1]
    assert r"a\_1 and one of 100\%" in below and not re.search(r"(?<!\\)[%_]", below)


def test_a_statistic_of_ones_own_has_a_full_result():
    null = Null(2.0, np.arange(-50.0, 49.0) / 10.0, 0.0, False)
    own = conclude(null, test="median", alpha=0.05, n_observations=(7, 5))
    text = str(own.summary())
    assert text.strip().startswith("Permutation test") and "99 (random)" in text and "No. observations:" in text
    assert repr(own) == f"TestResult(statistic=2, pvalue={own.pvalue:.6g})"
    assert json.loads(own.to_json())["estimator"] is None and own.to_frame()["test"].tolist() == ["median"]
    ax = own.plot_null()
    assert (ax.get_title(), ax.get_xlabel()) == ("median test", "statistic")


# --- serialising --------------------------------------------------------------------------------------------


def refuse(constant):
    raise AssertionError(f"{constant} is no JSON")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_json_round_trip(name):
    for result in (
        two_sample_test(X, Y, estimator=name, n_resamples=30, rng=0),
        independence_test(X, PAIR, estimator=name, n_resamples=30, rng=0),
    ):
        read = json.loads(result.to_json(), parse_constant=refuse)
        assert read == json.loads(json.dumps(result.to_dict()))
        for key in ("statistic", "pvalue", "alpha", "n_resamples", "exact", "form", "test", "tuning"):
            assert read[key] == getattr(result, key), key
        assert read["null_distribution"] == result.null_distribution.tolist()
        assert read["n_observations"] == list(result.n_observations)
        assert read["reject"] == result.reject()
        assert read["estimator"] == repr(result.estimator)
        assert eval(read["estimator"], vars(shrinktest)) == result.estimator
        assert read["rng"] == result.rng
        assert read["versions"] == result.versions
        assert [e["n"] for e in read["estimates"]] == [len(e.points) for e in result.estimates]
        assert [e["norm2"] for e in read["estimates"]] == [e.norm2() for e in result.estimates]
    attributes = {field.name for field in dataclasses.fields(TestResult)} - {"again", "stored", "keeps_data"}
    for_reading = {"result", "schema", "kernel_label"}
    assert set(read) - {"reject"} - for_reading == attributes


def test_json_knows_finite_numbers_only():
    unknown = two_sample_test(X, Y, n_resamples=0)
    assert json.loads(unknown.to_json(), parse_constant=refuse)["pvalue"] is None
    nothing = two_sample_test(X, Y, estimator=FKMSE(lam=np.inf), n_resamples=19, rng=0)
    read = json.loads(nothing.to_json(), parse_constant=refuse)
    assert [e["shrinkage"] for e in read["estimates"]] == ["inf", "inf"]
    assert (nothing.statistic, nothing.pvalue) == (0.0, 1.0)


def test_json_options_and_numbers_of_numpy():
    result = two_sample_test(X, Y, n_resamples=np.int64(19), alpha=np.float32(0.25), rng=np.uint32(3))
    assert result.to_json(indent=1).count("\n") > 20
    assert json.loads(result.to_json())["alpha"] == 0.25


def test_paths_of_files_to_write(result, tmp_path):
    with pytest.raises(TypeError, match=r"path must be a path, a text or a pathlib\.Path; got 5"):
        result.to_json(5)
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*missing'; make it first"):
        result.to_json(tmp_path / "missing" / "a.json")


def test_one_row_for_a_table_of_results(result, paired):
    table = pd.concat([result.to_frame(), paired.to_frame()], ignore_index=True)
    assert table.shape[0] == 2
    assert table["pvalue"].tolist() == [result.pvalue, paired.pvalue]
    assert table["statistic"].dtype == np.float64
    assert table["n_observations"].tolist() == ["10 + 8", "10"]
    assert table["estimator"].tolist() == ["KME()", "SKMSE()"]
    assert table["reject"].tolist() == [result.reject(), paired.reject()]
    assert not {"null_distribution", "rng", "versions", "result", "schema", "kernel_label"} & set(table.columns)


# --- plotting -----------------------------------------------------------------------------------------------


def test_the_plot_shows_the_null_the_observed_and_the_critical_value(result):
    ax = result.plot_null()
    assert sum(patch.get_height() for patch in ax.patches) == result.n_resamples
    at = sorted(line.get_xdata()[0] for line in ax.lines)
    assert at == sorted([result.statistic, result.critical_value()])
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == [
        "199 random permutations",
        "critical value at level 0.05",
        f"observed: {result.statistic:.4g}, p = {result.pvalue:.4g}",
    ]
    assert ax.get_xlabel() == "MMD² statistic (unbiased form)"
    assert ax.get_ylabel() == "number of permutations"
    assert ax.get_title() == "two-sample test, KME()"


def test_the_plot_of_an_independence_test_on_given_axes(paired):
    _, ax = matplotlib.pyplot.subplots()
    assert paired.plot_null(ax) is ax
    assert ax.get_xlabel() == "HSIC statistic (biased form)"
    assert ax.get_title() == "independence test, SKMSE()"


def test_the_plot_of_special_cases():
    exhaustive = two_sample_test(X[:4], Y[:4], n_resamples=np.inf, alpha=0.5)
    assert exhaustive.plot_null().get_legend().get_texts()[0].get_text() == "all 35 permutations"
    tied = two_sample_test(np.eye(6)[:3], np.eye(6)[3:], n_resamples=10, alpha=0.2)
    assert len(tied.plot_null().lines) == 2
    with pytest.warns(UserWarning, match="above alpha"):
        few = two_sample_test(X, Y, n_resamples=3, rng=0)
    assert len(few.plot_null().lines) == 1  # no critical value
    with pytest.raises(ValueError, match="no null distribution to plot"):
        two_sample_test(X, Y, n_resamples=0).plot_null()
