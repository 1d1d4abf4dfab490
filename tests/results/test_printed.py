"""What is printed: columns that line up, one line a row, few digits, and no numbers for what is not known."""

from __future__ import annotations

import numpy as np
import pandas as pd

from shrinktest import (
    calibrate,
    change_point_test,
    change_points,
    closer_test,
    compare,
    equivalence_test,
    independence_matrix,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.results.text import Table
from shrinktest.results.when import When
from shrinktest.risk import loss_path

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 2)), RNG.normal(1.0, 1.0, size=(30, 2))


def test_wide_letters_take_two_columns_and_marks_none():
    lines = Table([["对照组", "1"], ["e\u0301", "20"], ["control", "3"]], "lr").as_text().splitlines()
    assert lines == ["==========", "对照组   1", "e\u0301       20", "control  3", "=========="]


def test_a_name_of_several_lines_is_printed_in_one():
    assert Table([["two\nlines", "1"]], "lr", headers=["a\nb", ""]).as_text().splitlines()[1:4:2] == [
        "   a b     ",
        "two lines 1",
    ]


def test_numbers_of_times_have_as_many_digits_as_tell_them_apart():
    sevenths = np.arange(100) / 7.0
    series = np.repeat([0.0, 5.0], 50) + RNG.normal(size=100)
    result = change_point_test(series, times=sevenths, n_resamples=99, rng=0)
    assert result.named(50) == "7.1429" and "(7.1429)" in str(result.summary())
    assert When([1.7e9 + 0.5, 1.7e9 + 1.5]).of(0) == "1700000000.5"
    assert [When([1e-12, 2e-12]).of(0), When([0.1 + 0.2, 0.3]).of(0)] == ["1e-12", "0.30000000000000004"]
    assert [When([99e3, 1e5, 2e6]).of(row) for row in range(3)] == ["99000", "100000", "2000000"]
    assert When([0.5, 100000.5]).between((0, 1)) == "0.5 to 100000.5" and When([1.0, 1e300]).of(1) == "1e+300"


def test_without_permutations_nothing_is_said_to_be_critical():
    for options in ({}, {"estimator": "auto"}):
        text = str(two_sample_test(X, Y, n_resamples=0, **options).summary())
        assert "nan" not in text and "inf" not in text and "none" in text
    assert "nan" not in two_sample_test_columns(X, Y, n_resamples=0).summary()


def test_a_long_answer_is_printed_in_lines():
    names = ("what was observed", "a model with a long name, version 2.0.1", "another model, as of July")
    text = closer_test(X, Y, Y + 1.0, names=names).summary()
    said = text[: text.index("===")].splitlines()
    assert max(map(len, said)) <= 80


def test_amounts_are_printed_in_few_digits():
    path = loss_path("skmse", np.logspace(-2, -1, 4), n=6, d=2, n_trials=3, workers=1, progress=False)
    assert "0.0215443 " in path._report().as_text()


def test_calibrations_do_not_speak_python():
    def inner(x, y):
        return 0.5

    called = {name: calibrate(one, X, Y, n_trials=3, workers=1) for name, one in (("a", inner), ("b", lambda x, y: 1))}
    assert called["a"].name == "inner" and "Calibration of inner" in called["a"].summary()
    assert called["b"].name == "your test" and called["b"].plot().get_title() == "Calibration of your test"


def test_where_there_is_no_interval_none_is_printed():
    for result in (closer_test(X, Y, Y.copy()), closer_test(X, {"a": Y, "b": Y.copy()})):
        assert "(none)" in result.summary() and "nan" not in result.summary()


def test_changes_without_intervals_have_no_column_for_them():
    series = np.repeat([0.0, 5.0], 50) + RNG.normal(size=100)
    assert "\nrow when p-value adjusted\n" in change_points(series, confidence=None, n_resamples=99, rng=0).summary()


def test_texts_of_numpy_are_plain_ones_in_results():
    holm, few = np.str_("holm"), {"n_resamples": 99, "rng": 0}
    models = {"a": Y, "b": Y + 1.0, "c": Y + 2.0}
    tables = [pd.DataFrame(rows, columns=["a", "b"]) for rows in (X, Y)]
    closer = closer_test(X, Y, Y + 1.0, measure=np.str_("distance"), alternative=np.str_("two-sided"))
    compared = compare(*tables, method=holm, confidence=np.float64(0.9), **few)
    for one in (
        two_sample_test_columns(X, Y, method=holm, **few).method,
        independence_matrix(X, method=holm, **few).method,
        closer_test(X, models, method=holm).method,
        equivalence_test(X, Y, margin=0.5, measure=np.str_("distance"), rng=0).measure,
        calibrate(lambda x, y: 0.5, X, Y, kind=np.str_("two-sample"), n_trials=3, workers=1).kind,
        *(closer.measure, closer.alternative, compared.columns.method, compared.confidence),
    ):
        assert type(one) in (str, float)
