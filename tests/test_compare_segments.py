"""Comparisons by segment: one report each, p-values adjusted over all, order, words, and files."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure
from statsmodels.stats.multitest import multipletests

from shrinktest import ComparisonResult, SegmentsResult, compare
from shrinktest.cli import main

FAST = {"estimator": "kme", "n_resamples": 199, "workers": 1, "rng": 0}
COUNTRIES = ["Norway", "Spain", "Chile"]


def visits(seed, shift=0.0):
    """Visits of three countries; the minutes of Spain shift."""
    rng = np.random.default_rng(seed)
    country = np.repeat(COUNTRIES, [30, 40, 25])
    return pd.DataFrame(
        {
            "minutes": rng.normal(size=95) + shift * (country == "Spain"),
            "country": country,
            "pages": rng.normal(size=95),
        }
    )


A, B = visits(1), visits(2, 2.0)


@pytest.fixture(scope="module")
def result():
    return compare(A, B, by="country", **FAST)


def test_every_segment_has_its_report(result):
    assert isinstance(result, SegmentsResult) and list(result.reports) == sorted(COUNTRIES)
    for country in COUNTRIES:
        parts = [t[t["country"] == country].drop(columns="country") for t in (A, B)]
        seed = result[country].overall.rng["entropy"]
        alone = compare(*parts, **(FAST | {"rng": seed}))
        assert isinstance(result[country], ComparisonResult)
        assert alone.pvalue == result[country].pvalue
        assert alone.columns.pvalues.tolist() == result[country].columns.pvalues.tolist()
    assert result.different() == ("Spain",) and result.changed() == (("Spain", "minutes"),)
    assert result.reject().tolist() == [False, False, True]


def test_p_values_are_adjusted_for_all(result):
    pvalues = np.array([report.pvalue for report in result.reports.values()])
    adjusted = np.array(list(result.adjusted.values()))
    holm = multipletests(pvalues, method="holm")[1]
    assert (adjusted >= pvalues).all() and (adjusted <= holm + 0.05).all()
    assert result.pvalue == adjusted.min()
    by_holm = compare(A, B, by="country", method="holm", **FAST)
    assert list(by_holm.adjusted.values()) == pytest.approx(holm)
    columns = [p for report in by_holm.reports.values() for p in report.columns.pvalues]
    expected = multipletests(columns, method="holm")[1]
    assert list(by_holm.adjusted_columns.values()) == pytest.approx(expected)


@pytest.mark.ci
def test_the_familywise_error_is_kept():
    """Without any change, one of three segments rejects in at most about a tenth of the trials."""
    rejected = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        tables = [
            pd.DataFrame({"x": rng.normal(size=36), "by": np.repeat(list("abc"), 12)})
            for _ in range(2)
        ]
        options = FAST | {"n_resamples": 39, "rng": seed, "alpha": 0.1}
        rejected += compare(*tables, by="by", **options).reject().any()
    assert 6 <= rejected <= 33  # 200 trials at level .1: below 34 with probability .999


def test_segments_that_are_enumerated_and_segments_that_are_not():
    few = pd.concat([A, pd.DataFrame({"minutes": [0.0, 1, 2], "country": "Peru", "pages": 1.0})])
    more = pd.concat([B, pd.DataFrame({"minutes": [9.0, 8, 7], "country": "Peru", "pages": 1.0})])
    result = compare(few, more, by="country", **FAST)
    assert result["Peru"].overall.exact and not result["Spain"].overall.exact
    assert result.adjusted["Peru"] >= result["Peru"].pvalue == 0.1


def test_labels_of_rows_follow_their_segments():
    site = np.arange(95) % 5
    for blocks in ((site, site), {"A": site, "B": site}, [*site, *site]):
        result = compare(A, B, by="country", blocks=blocks, **FAST)
        assert "blocks" in result["Norway"].overall.restriction
        parts = [t[t["country"] == "Norway"].drop(columns="country") for t in (A, B)]
        own = site[:30]
        seed = result["Norway"].overall.rng["entropy"]
        alone = compare(*parts, blocks=(own, own), **(FAST | {"rng": seed}))
        assert alone.pvalue == result["Norway"].pvalue
    pairs = compare(A, B, by="country", paired=True, **FAST)
    assert "pairs" in pairs["Chile"].overall.restriction
    with pytest.raises(ValueError, match="by='country' differs within pairs"):
        compare(A, B[::-1].reset_index(drop=True), by="country", paired=True, **FAST)


def test_rows_and_segments_that_are_missing():
    first, second = A.copy(), B[B["country"] != "Chile"].copy()
    first.loc[:2, "country"] = None
    second.loc[second.index[-1], "country"] = "Peru"
    result = compare(first, second, by="country", sample_ratio=1, **FAST)
    assert result.only == (("Chile",), ("Peru",))
    assert result.untested == {"Chile": "B has 0 rows", "Peru": "A has 0 rows and B has 1 row"}
    assert result.notes == ("Left out, because country is missing: 3 rows of A.",)
    assert "Only A has country = Chile. Only B has country = Peru." in result.answer
    table = result.table.set_index("country")
    assert list(table.index[-2:]) == ["Chile", "Peru"] and table.loc["Peru", "B"] == 1
    assert table.loc["Chile", "reason"] == "B has 0 rows"
    off = compare(A, pd.concat([B] * 3), by="country", sample_ratio=1, **FAST)
    assert "95 rows in A and 285 rows in B" in off.notes[0]
    assert "75 rows in B" in off["Chile"].notes[0]


def test_tables_of_other_libraries():
    result = compare(pl.from_pandas(A), pl.from_pandas(B), by="country", **FAST)
    assert result.adjusted == compare(A, B, by="country", **FAST).adjusted


def test_words_and_tables(result):
    text = str(result.summary())
    assert text.startswith("Comparison of A and B by country\nA and B differ in 1 of 3 segments (")
    assert "p = .005): Spain." in " ".join(text.split())
    assert "for 3 segments, those of columns for 6 tests" in " ".join(text.split())
    frame = result.to_frame()
    assert (
        list(frame["country"]) == ["Spain"] * 2 + ["Norway"] * 2 + ["Chile"] * 2 or len(frame) == 6
    )
    spain = frame[frame["country"] == "Spain"].set_index("column")
    assert spain.loc["minutes", "adjusted"] == result.adjusted_columns["Spain", "minutes"]
    values = json.loads(result.to_json())
    assert values["different"] == ["Spain"] and set(values["reports"]) == set(COUNTRIES)
    assert repr(result) == "SegmentsResult(3 reports by 'country', 1 different)"
    with pytest.raises(ValueError, match="Did you mean 'Spain'"):
        result["Spein"]
    none = compare(A, B, by="country", **(FAST | {"n_resamples": 0}))
    assert "No p-values were computed" in none.answer and not none.reject().any()


def test_order_and_number_of_rows(result):
    by_name = result.with_order("column").table["country"].tolist()
    assert by_name == sorted(COUNTRIES)
    assert result.with_order(top=1).table["country"].tolist() == ["Spain"]
    assert "... and 2 more segments" in result.with_order(top=1).summary()
    areas = result.with_order("effect").table["auc"]
    assert areas.is_monotonic_decreasing


def test_order_and_number_of_columns_of_a_report():
    report = compare(A, B, **FAST)
    assert report.table["column"].tolist()[0] == "minutes"
    assert report.with_order("column").table["column"].tolist() == ["country", "minutes", "pages"]
    top = compare(A, B, sort="effect", top=1, **FAST)
    assert top.table["column"].tolist() == ["minutes"]
    assert "... and 2 more columns, none changed" in top.summary()
    assert top.to_html().count("<tr") < report.to_html().count("<tr")
    assert top.changed() == report.changed() and top.with_order() == report
    sizes = [column.size for column in report.with_order("effect").listed]
    assert sizes == sorted(sizes, reverse=True) and min(sizes) >= 0.0 and max(sizes) <= 1.0


def test_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    A.to_csv("a.csv", index=False)
    B.to_csv("b.csv", index=False)
    text = "compare a.csv b.csv --estimator kme --resamples 199 --seed 0 --by country"
    line = text.split()
    expected = compare(A, B, by="country", names=("a", "b"), **FAST)
    assert main(line) == 0 and capsys.readouterr().out.strip() == str(expected.summary()).strip()
    main([*line, "--top", "1", "--sort", "effect", "--plot", "s.png", "--html", "r.html"])
    assert "... and 2 more segments" in capsys.readouterr().out
    pages = ["r-1-Chile.html", "r-2-Norway.html", "r-3-Spain.html"]
    assert sorted(path.name for path in tmp_path.glob("*.html")) == pages
    assert main([*line, "--exit-code"]) == 1 == main([*line, "--fail-if", "adjusted < 0.01"])
    plain = "compare a.csv b.csv --estimator kme --resamples 19 --seed 0 --top 1 --sort column"
    capsys.readouterr()
    main(plain.split())
    assert "... and 2 more columns" in capsys.readouterr().out


def test_a_picture(result):
    ax = result.plot(Figure().subplots())
    assert next(label.get_text()[:5] for label in ax.get_yticklabels()) == "Spain"


@pytest.mark.parametrize(
    ("options", "error", "named"),
    [
        ({"by": "land"}, ValueError, "by"),
        ({"by": 3}, TypeError, "by must be the name of a column"),
        ({"by": "minutes"}, ValueError, "no value with 2 rows"),
        ({"sort": "size"}, ValueError, "sort"),
        ({"top": 0}, ValueError, "top"),
        ({"by": "country", "estimator": "kmee"}, ValueError, "kmee"),
    ],
)
def test_errors_name_the_argument(options, error, named):
    with pytest.raises(error, match=named):
        compare(A, B, **(FAST | options))
