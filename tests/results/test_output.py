"""Output of results: printed, as JSON or a table row."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

import shrinktest
from shrinktest import (
    FKMSE,
    SKMSE,
    Gaussian,
    change_point_test,
    change_points,
    check_level,
    closer_test,
    independence_test,
    permutation_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.estimators import ESTIMATORS
from shrinktest.results.change import between_times
from shrinktest.results.plots.change import shown_times
from shrinktest.results.printing import Table

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(10, 2)), RNG.normal((0.9, 0.0), size=(8, 2))
PAIR = X[:, 0] ** 2 + 0.2 * RNG.normal(size=10)
SERIES = np.repeat([0.0, 5.0], 20) + np.sin(np.arange(40.0))
FEW = {"n_resamples": 99, "rng": 0, "workers": 1}


# --- printing -----------------------------------------------------------------------------------------------


def test_the_summary_has_all_that_matters():
    result = two_sample_test(X, Y, estimator="fkmse", **FEW)
    text = str(result.summary())
    low, high = result.pvalue_interval()
    assert text.strip().startswith("Kernel two-sample test (MMD)")
    for label, value in {
        "Null hypothesis:": "equal distributions",
        "Estimator:": "FKMSE()",
        "Tuning:": "joint",
        "Kernel:": "Gaussian",
        "Bandwidth:": f"{result.bandwidth:.4g}",
        "No. observations:": "10 + 8",
        "Statistic:": f"{result.statistic:.6g}",
        "Form:": "unbiased",
        "p-value:": f"{result.pvalue:.4g}",
        "95% Monte Carlo:": f"[{low:.4g}, {high:.4g}]",
        "Critical (0.05):": f"{result.critical_value():.6g}",
        "Decision:": "reject" if result.reject() else "do not reject",
        "Permutations:": "99 (random)",
    }.items():
        assert value in text.split(label)[1].split("\n")[0], label
    for label, estimate in zip(("X ", "Y "), result.estimates, strict=True):
        row = next(line for line in text.splitlines() if line.startswith(label))
        assert row.split()[1:] == [str(len(estimate.points)), f"{estimate.shrinkage:.4g}"]
    assert result.summary().as_html().count("<table") == 2


def test_the_summary_of_special_cases():
    exhaustive = str(two_sample_test(X[:4], Y[:4], n_resamples=np.inf, alpha=0.5).summary())
    assert "exact" in exhaustive and "35 (all)" in exhaustive
    noted = two_sample_test(X, Y, estimator=SKMSE(alpha=0.2), n_resamples=0)
    flat = " ".join(noted.summary().split())
    assert "[1]" in flat and all(" ".join(note.split())[:60] in flat for note in noted.notes)
    several = two_sample_test(X, Y, kernel=Gaussian((0.5, 2.0)), estimator="mkme", n_resamples=0)
    assert "(0.5, 2)" in str(several.summary())
    own = permutation_test(lambda labels: float(labels[:3].sum()), (7, 5), name="median", **FEW)
    assert own.summary().strip().startswith("Permutation test") and own.to_frame()[
        "test"
    ].tolist() == ["median"]
    assert repr(own) == f"TestResult(statistic={own.statistic:.6g}, pvalue={own.pvalue:.6g})"
    plain = independence_test(X, PAIR, kernel_x="linear", n_resamples=0)
    assert (
        plain.bandwidth[0] is None
        and " - " in plain.summary().split("Bandwidth X:")[1].split("\n")[0]
    )
    for options in ({}, {"estimator": "auto"}):
        text = str(two_sample_test(X, Y, n_resamples=0, **options).summary())
        assert "nan" not in text and "inf" not in text and "none" in text
    assert "nan" not in two_sample_test_columns(X, Y, n_resamples=0).summary()
    for result in (
        closer_test(X, Y, Y.copy()),
        closer_test(X, {"a": Y, "b": Y.copy(), "c": X + 1.0}),
    ):
        assert "(no interval)" in result.summary() and "nan" not in result.summary()


def test_every_estimator_prints_in_a_terminal():
    for name in ESTIMATORS:
        for result in (
            two_sample_test(X, Y, estimator=name, n_resamples=0),
            independence_test(X, PAIR, estimator=name, n_resamples=0),
        ):
            text = str(result.summary())
            assert repr(result.estimator) in text and max(map(len, text.splitlines())) < 100


def test_tables_are_aligned_by_what_terminals_show():
    lines = (
        Table([["对照组", "1"], ["e\u0301", "20"], ["two\nlines", "3"]], "lr")
        .as_text()
        .splitlines()
    )
    assert lines == [
        "============",
        "对照组     1",
        "e\u0301         20",
        "two lines  3",
        "============",
    ]


def test_changes_are_printed_with_their_times():
    result = change_point_test(SERIES, times=np.arange(40) / 7.0, **FEW)
    assert "(2.86)" in result.summary()
    assert shown_times([99e3, 1e5, 2e6]) == ["99000", "100000", "2000000"]
    assert between_times(shown_times([0.5, 100000.5]), (0, 1)) == "0.5 to 100000.5"
    assert between_times(["Monday", "Tuesday"], (1, 2)) == "Tuesday to after the last row"
    assert (
        "\nrow when p-value adjusted\n" in change_points(SERIES, confidence=None, **FEW).summary()
    )


def test_calibrations_do_not_speak_python():
    def inner(x, y):
        return 0.5

    called = {
        name: check_level(test, X, Y, n_trials=3, workers=1, rng=0)
        for name, test in (("a", inner), ("b", lambda x, y: 1))
    }
    assert called["a"].name == "inner" and "Level of inner" in called["a"].summary()
    assert (
        called["b"].name == "your test" and called["b"].plot().get_title() == "Level of your test"
    )


# --- JSON and frames ----------------------------------------------------------------------------------------


def refuse(constant):
    raise AssertionError(f"{constant} is no JSON")


def test_json_has_the_attributes():
    for name in ESTIMATORS:
        for result in (
            two_sample_test(X, Y, estimator=name, **FEW),
            independence_test(X, PAIR, estimator=name, **FEW),
        ):
            read = json.loads(result.to_json(), parse_constant=refuse)
            assert (
                read == json.loads(json.dumps(result.to_dict()))
                and read["result"] == type(result).__name__
            )
            same = (
                "statistic",
                "pvalue",
                "alpha",
                "n_resamples",
                "exact",
                "form",
                "test",
                "tuning",
                "rng",
                "versions",
            )
            assert {key: read[key] for key in same} == {key: getattr(result, key) for key in same}
            assert read["null_distribution"] == result.null_distribution.tolist()
            assert read["reject"] == result.reject() and read["n_observations"] == list(
                result.n_observations
            )
            assert (
                eval(
                    read["estimator"],
                    {name: getattr(shrinktest, name) for name in shrinktest.__all__},
                )
                == result.estimator
            )
            assert [e["norm2"] for e in read["estimates"]] == [e.norm2() for e in result.estimates]


def count_nulls(value):
    if isinstance(value, dict | list):
        return sum(map(count_nulls, value.values() if isinstance(value, dict) else value))
    return value is None


def test_json_holds_no_columns_of_nulls():
    for result in (
        two_sample_test(X, Y, estimator="auto", **FEW),
        change_point_test(SERIES, trim=0.3, **FEW),
        change_points(SERIES, trim=0.3, **FEW),
        change_point_test(SERIES, change="epidemic", **FEW),
        two_sample_test_columns(X, Y, **FEW),
        independence_test(X, PAIR, **FEW),
    ):
        assert count_nulls(json.loads(result.to_json(), parse_constant=refuse)) <= 10
    curve = change_point_test(SERIES, trim=0.3, **FEW).to_dict()["curve"]
    assert len(curve["rows"]) == len(curve["values"]) < 30


def test_json_knows_finite_numbers_only_and_is_written(tmp_path):
    assert (
        json.loads(two_sample_test(X, Y, n_resamples=0).to_json(), parse_constant=refuse)["pvalue"]
        is None
    )
    nothing = two_sample_test(X, Y, estimator=FKMSE(lam=np.inf), **FEW)
    path = tmp_path / "a.json"
    text = nothing.to_json(path, indent=1)
    assert path.read_text(encoding="utf-8") == text and text.count("\n") > 20
    assert [e["shrinkage"] for e in json.loads(text)["estimates"]] == ["inf", "inf"]
    with pytest.raises(TypeError, match=r"path must be a path, a text or a pathlib\.Path; got 5"):
        nothing.to_json(5)
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*missing'; make it first"):
        nothing.to_json(tmp_path / "missing" / "a.json")


def test_json_says_how_every_column_was_read():
    table = pd.DataFrame(
        {
            "age": [31.0, np.nan, 45.0, 52.5, 28.0, 39.0, 61.0],
            "city": ["Rome", "Oslo", "Oslo", "Bonn", None, "Rome", "Oslo"],
            "size": list("SMLSMLM"),
            "seen": pd.date_range("2024-03-05", periods=7, freq="36h"),
        }
    )
    types = {"size": ["S", "M", "L"]}
    options = {"scale": {"age": 10.0}, "nan_policy": "indicator", "n_resamples": 19, "alpha": 0.1}
    result = two_sample_test(table, table[::-1], column_types=types, **options)
    (read,) = json.loads(result.to_json())["encodings"]
    age, city, size, seen = read["columns"]
    assert [column["kind"] for column in read["columns"]] == [
        "number",
        "category",
        "ordered",
        "date",
    ]
    assert (
        age["features"] == ["age", "age is missing"]
        and age["fill"] == 42.0
        and age["units"][0] == 10.0
    )
    assert sorted(city["levels"]) == ["Bonn", "Oslo", "Rome"] and size["levels"] == ["S", "M", "L"]
    assert seen["origin"].startswith("2024-03-05")


def test_one_row_for_a_table_of_results():
    results = two_sample_test(X, Y, **FEW), independence_test(X, PAIR, estimator="skmse", **FEW)
    combined = two_sample_test(X, Y, estimator=["kme", "skmse"], **FEW)
    table = pd.concat([result.to_frame() for result in (*results, combined)], ignore_index=True)
    assert table["pvalue"].tolist() == [result.pvalue for result in (*results, combined)]
    assert table["n_observations"].tolist() == ["10 + 8", "10", "10 + 8"]
    assert (
        table["estimator"].tolist()[:2] == ["KME()", "SKMSE()"]
        and table["statistic"].dtype == np.float64
    )
    assert not {"null_distribution", "rng", "versions", "result"} & set(table.columns)
    assert len(combined.table) == len(combined.rows()) == 2


def test_texts_of_numpy_are_plain_ones_in_results():
    holm = np.str_("holm")
    closer = closer_test(
        X, Y, Y + 1.0, measure=np.str_("distance"), alternative=np.str_("two-sided")
    )
    for choice in (
        two_sample_test_columns(X, Y, method=holm, **FEW).method,
        closer.measure,
        closer.alternative,
    ):
        assert type(choice) is str
    result = two_sample_test(
        X, Y, n_resamples=np.int64(19), alpha=np.float32(0.25), rng=np.uint32(3)
    )
    assert json.loads(result.to_json())["alpha"] == 0.25 and not math.isnan(result.pvalue)
