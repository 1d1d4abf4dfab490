"""Properties of all results: equality by value, and a table in a notebook."""

from __future__ import annotations

import copy
import pickle
import re
from dataclasses import fields, replace
from functools import cache, partial
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.weightstats import ttest_ind

from shrinktest import (
    FKMSE,
    SKMSE,
    DriftMonitor,
    Precomputed,
    change_point_test,
    change_points,
    check_level,
    closer_test,
    compare,
    equivalence_test,
    factor_test,
    goodness_of_fit_test,
    independence_matrix,
    independence_test,
    joint_independence_test,
    k_sample_test,
    minimum_detectable_effect,
    permutation_test,
    power_study,
    solve_sample_size,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.power.designs import MeanShift
from shrinktest.results.base import Result, same
from shrinktest.risk import loss_path, risk_study

RNG = np.random.default_rng(7)
X, Y = RNG.normal(size=(14, 2)), RNG.normal((0.8, 0.0), size=(11, 2))
PAIR = X[:, 0] ** 2 + 0.2 * RNG.normal(size=14)
TABLE = pd.DataFrame({"weight": np.concatenate([X, Y])[:, 0], "color": list("abcde") * 5})
DAYS = TABLE.assign(day=pd.date_range("2024-03-01", periods=25).where(np.arange(25) % 5 > 0))
FEW = {"n_resamples": 39, "rng": 0, "workers": 1}
WHOLE = {"block_length": "whole"}
STUDY = {"n_trials": 10, "workers": 1}
SIMULATED = {"n_simulations": 39, "n_reference": 20}
PERMUTED = {"n_resamples": 39, "rng": 0}


def t_test(X, Y):
    return float(np.min(ttest_ind(X, Y)[1]))


def normal_model(rng, n):
    return rng.normal(size=(n, 2))


def first_three(labels):
    return float(labels[:3].sum())


MADE = {
    "two-sample": lambda: two_sample_test(X, Y, estimator="fkmse", **FEW),
    "tables": lambda: two_sample_test(TABLE[:14], TABLE[14:], **FEW),
    "missing": lambda: two_sample_test([1.0, np.nan], [2.0, 3.0], nan_policy="propagate"),
    "no relabelings": lambda: two_sample_test(X, Y, n_resamples=0),
    "k-sample": lambda: k_sample_test(X, Y, X + 1.0, **FEW),
    "k-sample, combined": lambda: k_sample_test(X, Y, X + 1.0, estimator="auto", **FEW),
    "pairs": lambda: k_sample_test(X, Y, X + 1.0, **FEW).pairwise(rng=0),
    "fit to a model": lambda: goodness_of_fit_test(X, normal_model, rng=0, **SIMULATED),
    "fit to a model, combined": lambda: goodness_of_fit_test(
        X, normal_model, estimator=["kme", "skmse"], rng=0, **SIMULATED
    ),
    "independence": lambda: independence_test(X, PAIR, stopping="besag-clifford", **FEW),
    "joint": lambda: joint_independence_test(X[:, 0], X[:, 1], PAIR, **FEW),
    "term": lambda: factor_test("color", TABLE, response=TABLE[["weight"]], **FEW)["color"],
    "combined term": lambda: factor_test(
        "color", TABLE, response=["weight"], estimator="auto", **FEW
    )["color"],
    "factors": lambda: factor_test("color", TABLE, response=["weight"], **FEW),
    "own": lambda: permutation_test(first_three, (10, 9), **FEW),
    "combined": lambda: two_sample_test(X, Y, estimator="auto", **FEW),
    "combined, by coordinates": lambda: two_sample_test(
        X, Y, estimator="auto", gram="factor", **FEW
    ),
    "columns": lambda: two_sample_test_columns(X, Y, **FEW),
    "matrix": lambda: independence_matrix(
        X, PAIR, estimator=["kme", SKMSE(alpha=0.3)], method="holm", **FEW
    ),
    "comparison": lambda: compare(DAYS[:14], DAYS[14:], names=("<i>", "B"), **FEW),
    "closer": lambda: closer_test(X, Y, X + 1.0),
    "closer, with nothing to tell": lambda: closer_test(X, Y, Y, alternative="less"),
    "closer, of several": lambda: closer_test(X, {"a <i>": Y, "b": X + 1.0, "c": Y - 1.0}),
    "equivalence": lambda: equivalence_test(
        X, Y, margin=0.2, measure="distance", names=("a <i>", "b"), rng=0
    ),
    "equivalence, of functions": lambda: equivalence_test(
        X, Y, margin=0.9, measure="auc", estimator="skmse", rng=0
    ),
    "change": lambda: change_point_test(X, times=list("abcdefghijklmn"), **FEW),
    "change, combined": lambda: change_point_test(X, bandwidth="grid", **FEW),
    "changes": lambda: change_points(np.vstack([X, Y + 5.0]), **FEW),
    "lags": lambda: independence_test(
        np.arange(60.0) % 7, np.arange(60.0) % 5, lags=[0, 1], block_length="whole", **FEW
    ),
    "monitor": lambda: DriftMonitor(pd.concat([TABLE] * 3), rng=0).update(TABLE),
    "given": lambda: independence_test(X, PAIR, given=list("ab" * 7), **FEW),
    "effect": lambda: two_sample_test(X, Y, **FEW).effect(columns=True),
    "effect of several": lambda: k_sample_test(X, Y, X + 1.0, **FEW).effect(),
    "effect of dependence": lambda: independence_test(X, PAIR, **FEW).effect(),
    "band": lambda: two_sample_test(X, Y, **FEW).witness_band(X),
    "regions": lambda: two_sample_test(
        np.arange(30.0), 20.0 + np.arange(30.0), names=("a <i>", "b"), **FEW
    ).regions(),
    "calibration": lambda: check_level(t_test, X, Y, **STUDY),
    "power": lambda: power_study(
        "mean-shift", {"plain <b>": "kme", "f & k": FKMSE(lam=0.5)}, 10, **STUDY, **PERMUTED
    ),
    "segments": lambda: compare(
        TABLE.assign(half=list("ab") * 12 + ["a"]),
        TABLE.assign(half="a"),
        by="half",
        estimator="kme",
        **FEW,
    ),
    "detectable effect": lambda: minimum_detectable_effect(
        MeanShift(dimension=1), 20, n_trials=100, n_resamples=19, workers=1, rng=0
    ),
    "sample size": lambda: solve_sample_size(
        MeanShift(dimension=1), estimator="ttest_ind", n_trials=100, workers=1, progress=False
    ),
    "risk": lambda: risk_study("mixture", "skmse", n=[5, 8], d=2, progress=False, **STUDY),
    "path": lambda: loss_path("skmse", [0.0, 0.1], n=5, d=2, progress=False, **STUDY),
}


@cache
def result_of(name):
    return MADE[name]()


@pytest.fixture(scope="module", params=MADE)
def made(request):
    return result_of(request.param)


def test_every_class_of_results_is_tested_here():
    made = {
        type(result_of(name)).__name__ for name in MADE
    }  # some modules are imported when they are used

    def below(kind):
        return {kind}.union(*map(below, kind.__subclasses__()))

    ours = {kind.__name__ for kind in below(Result) if kind.__module__.startswith("shrinktest.")}
    assert ours - {"Result", "Decision", "Effect", "StudyResult"} == made


# --- equality -------------------------------------------------------------------------------------------------


def test_a_result_and_its_pickle_and_copies_are_equal_and_have_one_hash(made):
    for other in (pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made)):
        assert other is not made and (other == made) is True and (other != made) is False
        assert hash(other) == hash(made) and len({made, other}) == 1


def test_any_other_value_of_a_field_is_another_result(made):
    for field in (field for field in fields(made) if field.compare):
        value = getattr(made, field.name)
        other = (
            value + 1.0 if isinstance(value, float | np.ndarray) and np.size(value) else object()
        )
        if isinstance(value, float) and np.isnan(value):
            other = 0.5
        if not (
            field.name == "alphas" and "stopping" in vars(made)
        ):  # a power study looks at its levels
            assert replace(made, **{field.name: other}) != made, field.name


def test_values_that_python_compares_otherwise():
    gram = np.eye(3)
    assert same(np.array(["a", "b"]), np.array(["a", "b"])) and not same(gram, gram[:2])
    assert same(float("nan"), np.float64("nan")) and not same(0.0, float("nan")) and same(1, 1.0)
    assert same(Precomputed(gram), Precomputed(gram.copy())) and not same([1], (1,))
    target = ([[0.0], [1.0]], np.array([0.5, 0.5]))
    assert same(SKMSE(target=target), copy.deepcopy(SKMSE(target=target)))
    first = partial(np.dot, gram)
    assert same(first, partial(np.dot, gram.copy())) and not same(first, partial(np.dot))
    assert same({"a": gram}, {"a": gram.copy()}) and not same({"a": gram}, {"b": gram})


# --- in a notebook --------------------------------------------------------------------------------------------


class Read(HTMLParser):
    """The tags of a page, which must be closed in order, and its text."""

    def __init__(self, page):
        super().__init__()
        self.open, self.seen, self.text = [], [], ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.text += " "
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag != "br":
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def words(text):
    return re.sub(r"[=\-]{5,}", "", text).split()


def test_a_notebook_shows_the_table_of_the_summary(made):
    read = Read(made._repr_html_())
    assert read.open == [] and "table" in read.seen
    assert {"table", "caption", "tr", "td", "th", "pre"} >= set(
        read.seen
    )  # no tag that is text of the user
    assert sorted(words(read.text)) == sorted(words(made.summary()))
    assert len(made.to_frame()) > 0 and len(made.rows()) > 0
    if not type(made).__name__.startswith(("CloserResult", "Comparison", "PowerStudy")):
        assert len(made.to_frame()) == len(made.rows()) or "members" in vars(made)


def test_text_is_escaped_in_a_notebook():
    result = two_sample_test(
        X, Y, estimator=lambda gram: np.full(len(gram), 1.0 / len(gram)), **FEW
    )
    result = replace(result, notes=("a<b",))
    page = result._repr_html_()
    assert "&lt;lambda&gt;" in page and "a&lt;b" in page and "<lambda>" in str(result.summary())
    study = MADE["power"]()._repr_html_()
    assert "plain &lt;b&gt;" in study and "f &amp; k" in study


def test_a_notebook_shows_the_first_rows_of_a_long_table():
    band = two_sample_test(X, Y, **FEW).witness_band(RNG.normal(size=(100, 2)))
    read = Read(band._repr_html_())
    assert read.seen.count("tr") == 61 and "... and 40 more rows" in read.text
    assert f"{band.values[59]:.4g}" in read.text and f"{band.points[60, 0]:.4g}" not in read.text
