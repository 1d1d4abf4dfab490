"""Calls of a first hour, as people of six fields type them, each with what it must answer."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import shrinktest
from shrinktest import (
    Batches,
    FromData,
    compare,
    equivalence_test,
    independence_test,
    k_sample_test,
    minimum_detectable_effect,
    permutation_test,
    solve_sample_size,
    two_sample_test,
)
from shrinktest.cli import main
from shrinktest.kernels import Distances
from shrinktest.on_disk import in_bins
from shrinktest.statistics import kernel_cache

RNG = np.random.default_rng(8)
X, Y = RNG.normal(size=(60, 2)), RNG.normal(0.9, 1.0, size=(60, 2))
COUNTS = RNG.poisson(3.0, size=(40, 6))
FEW = {"n_resamples": 99, "rng": 0}


def orders(seed, rows=80):
    """Return a table of orders: money, a category, sites, and weeks."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "spend": rng.normal(50.0 + 6.0 * seed, 10.0, size=rows),
            "plan": rng.choice(["free", "paid"], size=rows),
            "site": np.tile(["north", "south"], rows // 2),
            "week": np.repeat([1, 2, 3, 4], rows // 4),
            "age": rng.normal(40.0, 8.0, size=rows),
        }
    )


A, B = orders(0), orders(1)


@pytest.fixture
def typed(tmp_path, monkeypatch, capsys):
    """Run a command in a folder with the files of both tables: (exit code, output, errors)."""
    monkeypatch.chdir(tmp_path)
    A.to_csv("a.csv", index=False)
    B.to_csv("b.csv", index=False)
    pd.concat([A, B]).to_csv("both.csv", index=False)

    def typed(line, *more):
        code = main([*line.split(), "--seed", "0", "--resamples", "99", *more])
        return code, *capsys.readouterr()

    return typed


def measures(result):
    return list(result.effect().table["measure"])


# --- small p-values, and large arrays -------------------------------------------------------------


@pytest.mark.parametrize("estimator", ["kme", "auto"])
def test_a_small_pvalue_has_a_tail(estimator):
    tail = two_sample_test(X, Y, estimator=estimator, rng=0).tail_pvalue()
    assert 0.0 < tail.interval[0] < tail.pvalue < tail.interval[1] < 1e-3
    assert tail.sigma > 3.0 and "approximate" in str(tail)


def test_no_summary_counts_standard_deviations_of_a_skewed_distribution():
    assert "standard deviations above" not in str(two_sample_test(X, Y, **FEW).summary())


def test_features_of_large_arrays_use_bins(monkeypatch):
    monkeypatch.setattr(in_bins, "MANY", 100)
    features = {"gram": "rff", "rank": 20, **FEW}
    result = two_sample_test(X, Y, **features)
    batches = two_sample_test(Batches([X]), Batches([Y]), **features)
    assert result.pvalue == batches.pvalue and result.statistic == batches.statistic


def test_a_gram_matrix_that_does_not_fit_names_bins_and_seconds(monkeypatch):
    monkeypatch.setattr(kernel_cache, "_BY_TILES", 0.0)
    with pytest.raises(MemoryError, match=r"gram='rff', bins=2000 \(about 1 s"):
        two_sample_test(X, Y, max_memory=1e3)


def test_a_rank_that_does_not_fit_is_lowered_with_a_note():
    result = two_sample_test(X, Y, gram="rff", max_memory=1e5, **FEW)
    assert any("because 1000 coordinates need" in text for text in result.notes)


# --- effects in the unit of the column ------------------------------------------------------------


def test_effects_are_in_the_unit_of_the_column():
    result = two_sample_test(A["spend"], B["spend"], **FEW)
    assert measures(result)[-2:] == ["mean_difference", "median_difference"]
    difference = B["spend"].mean() - A["spend"].mean()
    rows = result.effect().table.set_index("measure")
    assert rows.loc["mean_difference", "estimate"] == pytest.approx(difference)
    rows = compare(A, B, **FEW).table.set_index("column")
    assert rows.loc["spend", "mean_difference"] == pytest.approx(difference)
    low, high = rows.loc["spend", ["median_difference_low", "median_difference_high"]]
    assert low < rows.loc["spend", "median_difference"] < high
    columns = two_sample_test(A[["spend", "age"]], B[["spend", "age"]], **FEW)
    assert "mean_difference of age" in list(columns.effect(columns=True).table["measure"])


@pytest.mark.parametrize("design", ["blocks", "covariates"])
def test_effects_are_adjusted_as_the_pvalue_is(design):
    given = {"blocks": (A["plan"], B["plan"]), "covariates": ["age"]}[design]
    result = compare(A, B, **{design: given}, **FEW)
    assert result.table.set_index("column").loc["spend", "adjusted_for"] in ("blocks", "age")
    assert "adjusted for" in str(result.summary())


def test_equivalence_of_means():
    result = equivalence_test(A["spend"], B["spend"], margin=20.0, measure="mean_difference", rng=0)
    assert result.equivalent


# --- compare, and samples in one table ------------------------------------------------------------


def test_compare_by_segments_with_covariates():
    result = compare(A, B, by="site", covariates=["age"], **FEW)
    assert list(result.table["site"]) == ["north", "south"]
    assert (result.table["adjusted"] >= result.table["pvalue"]).all()


def test_compare_on_the_command_line_by_segments_sorted_and_cut(typed):
    code, out, _ = typed("compare a.csv b.csv --by site --sort effect --top 1")
    assert code == 0 and "... and 1 more segment" in out


def test_a_label_column_splits_a_table(typed):
    result = k_sample_test(A, by="week", **FEW)
    code, out, _ = typed("k-sample a.csv --by week --json")
    assert code == 0 and json.loads(out)["pvalue"] == result.pvalue
    assert result.n_observations == (20, 20, 20, 20)


def test_sizes_that_should_be_equal_have_a_note():
    result = compare(A, B[:30], sample_ratio=(1, 1), **FEW)
    assert "sample-ratio" in [note.code for note in result.notes]


# --- planning -------------------------------------------------------------------------------------


def test_the_smallest_effect_that_a_size_shows():
    pilot = FromData(A[["spend"]], B[["spend"]])
    result = minimum_detectable_effect(pilot, 60, power=0.8, n_trials=100, rng=0, workers=1)
    assert 0.0 < result.low < result.effect < result.high


def test_pilot_data_with_blocks_and_incomplete_rows():
    incomplete = A["spend"].where(A.index % 5 > 0)
    sites = (A["site"], B["site"])
    pilot = FromData(incomplete, B["spend"], blocks=sites, nan_policy="omit")
    result = solve_sample_size(pilot, n_trials=100, rng=0, workers=1)
    words = " ".join(str(result.summary()).split())
    assert "are recruited" in words and "expected to be incomplete" in words


# --- results speak and cite -----------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ["kme", "auto"])
def test_a_result_has_a_paragraph_and_references(estimator):
    result = two_sample_test(X, Y, estimator=estimator, rng=0)
    text = result.paragraph()
    assert "999 random permutations" in text and "seed 0" in text
    assert "@article" in result.references.bibtex and "Gretton" in result.references.text
    assert result.to_latex().startswith(r"\begin{tabular}")


def test_output_for_articles_and_pull_requests(typed):
    line = "two-sample a.csv b.csv --columns spend"
    assert "99 random permutations" in typed(f"{line} --paragraph")[1]
    assert typed(f"{line} --markdown")[1].count("|") > 10
    code, _, err = typed(line, "--fail-if", "auc > .55")
    assert code == 1 and "auc = ." in err


# --- names that people type -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "answer"),
    [
        ("alternative", "have no direction"),
        ("by", "k_sample_test"),
        ("weights", "rows have equal weight"),
        ("device", "tests run on the CPU"),
        ("bandwith", "did you mean bandwidth=?"),
    ],
)
def test_an_unknown_keyword_is_answered(argument, answer):
    with pytest.raises(TypeError, match=answer.replace("?", r"\?")):
        two_sample_test(X, Y, **{argument: None})


def test_an_own_statistic_takes_blocks():
    pooled = np.concatenate([A["spend"], B["spend"]])
    site = np.concatenate([A["site"], B["site"]])

    def difference(order):
        return abs(pooled[order[:80]].mean() - pooled[order[80:]].mean())

    result = permutation_test(difference, len(pooled), blocks=site, n_resamples=99, rng=0)
    assert result.pvalue < 0.05 and "2 blocks" in result.restriction


def test_suggestions_on_the_command_line_are_near_or_known(typed):
    assert "did you mean --bandwidth?" in typed("two-sample a.csv b.csv --bandwith 2")[2]
    assert "--delimiter" not in typed("two-sample a.csv b.csv --device cpu")[2]


@pytest.mark.parametrize(
    "arguments",
    [
        {"kernel": "cosine"},
        {"kernel": Distances.of("braycurtis")},
        {"transform": "hellinger"},
    ],
    ids=str,
)
def test_kernels_and_transforms_of_other_fields(arguments):
    assert (
        two_sample_test(COUNTS[:20], COUNTS[20:] + np.arange(6) * 4, **arguments, **FEW).pvalue
        <= 0.05
    )


@pytest.mark.parametrize("estimator", ["scose", "fcose"])
def test_estimators_of_independence_have_the_names_of_the_paper(estimator):
    assert independence_test(X[:, 0], X[:, 0] ** 2, estimator=estimator, **FEW).pvalue <= 0.05


def test_a_propensity_is_one_number():
    ages = (A[["age"]], B[["age"]])
    result = two_sample_test(
        A["spend"],
        B["spend"],
        covariates=ages,
        covariate_method="propensity",
        propensity=0.5,
        **FEW,
    )
    assert result.pvalue <= 0.05


class Loader:
    """Batches of tensors, as a loader of another library yields them, once for every loop."""

    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        return iter(np.array_split(self.rows, 5))


def test_a_loader_goes_into_batches():
    features = {"gram": "rff", "rank": 20, **FEW}
    result = two_sample_test(Batches(Loader(X)), Batches(Loader(Y)), **features)
    arrays = two_sample_test(Batches([X]), Batches([Y]), **features)
    assert result.pvalue == arrays.pvalue


def test_missing_values_have_one_default_on_the_command_line(typed, tmp_path):
    A.assign(spend=A["spend"].where(A.index > 3)).to_csv(tmp_path / "holes.csv", index=False)
    for line in (
        "two-sample holes.csv b.csv",
        "compare holes.csv b.csv",
        "k-sample holes.csv b.csv",
    ):
        code, _, err = typed(line)
        assert code == 2 and "nan_policy='omit'" in err


def test_the_readme_import_works():
    assert shrinktest.FromData is FromData
