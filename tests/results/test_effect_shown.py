"""Effects where users look: in summaries, in JSON, and in words."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from shrinktest import (
    independence_test,
    joint_independence_test,
    k_sample_test,
    permutation_test,
    two_sample_test,
)
from shrinktest.results.effect import DependenceEffect, TwoSampleEffect

RNG = np.random.default_rng(7)
X, Y = RNG.normal(size=(24, 2)), RNG.normal((0.9, 0.0), size=(30, 2))
AGES = pd.DataFrame({"age": X[:, 0], "size <cm>": X[:, 0] ** 2 + 0.2 * X[:, 1]})
FEW = {"n_resamples": 59, "rng": 0, "workers": 1}
NOTHING = (math.nan, math.nan)

RESULTS = {
    "two samples": lambda: two_sample_test(X, Y, **FEW),
    "energy": lambda: two_sample_test(X, Y, kernel="energy", **FEW),
    "few": lambda: two_sample_test(X[:4], Y, **FEW),
    "combined": lambda: two_sample_test(X, Y, estimator=["kme", "fkmse"], **FEW),
    "k samples": lambda: k_sample_test({"a": X, "b": Y, "c": X + 1.0}, **FEW),
    "independence": lambda: independence_test(AGES["age"], AGES["size <cm>"], **FEW),
    "series": lambda: independence_test(X[:, 0], X[:, 1], shift="circular", **FEW),
}
WITHOUT = {
    "joint": (lambda: joint_independence_test(X[:, 0], X[:, 1], X[:, 0], **FEW), "no scale for the effect"),
    "own": (lambda: permutation_test(lambda labels: float(labels[:3].sum()), (10, 9), **FEW), "run a kernel test"),
}


@pytest.fixture(scope="module", params=RESULTS)
def result(request):
    return RESULTS[request.param]()


# --- summaries ----------------------------------------------------------------------------------------------


def test_a_summary_with_the_effect_has_its_table_and_sentences_below_that_of_the_test(result):
    plain, text, effect = str(result.summary()), str(result.summary(effect=True)), result.effect()
    assert text.startswith(plain.rsplit("\n\n[1]", 1)[0].rsplit("\n", 1)[0])
    said = " ".join(text.split())
    assert said.index(effect.lines()[0]) > said.index("interval") > 0
    assert all(line in said for line in effect.lines()) and effect.printed().as_text() in text
    assert all(f"] {note}" in said for note in (*result.notes, *effect.notes))
    assert max(map(len, text.split("\n\n", 1)[1].splitlines())) <= 80


def test_a_summary_with_the_effect_is_html_too():
    html = RESULTS["independence"]().summary(effect=True).as_html()
    assert html.count("<table") == 2 and "dependence of age and size &lt;cm&gt; is" in html


@pytest.mark.parametrize("name", WITHOUT)
@pytest.mark.parametrize("ask", ["summary", "to_dict", "to_json"])
def test_what_has_no_effect_says_so(name, ask):
    run, message = WITHOUT[name]
    with pytest.raises(ValueError, match=message):
        getattr(run(), ask)(effect=True)


# --- JSON ---------------------------------------------------------------------------------------------------


def test_json_has_the_effect_on_request(result):
    effect = result.effect()
    read = json.loads(result.to_json(effect=True))
    assert read["effect"] == json.loads(effect.to_json()) and "effect" not in result.to_dict()
    assert str(result.summary(effect=effect)) == str(result.summary(effect=True))
    assert pickle.loads(pickle.dumps(effect)) == effect == pickle.loads(pickle.dumps(result.with_data())).effect()


# --- words --------------------------------------------------------------------------------------------------


def two(**values):
    found = {"auc": 0.62, "auc_interval": (0.5, 0.7), "distance": 0.03, "distance_interval": (0.01, 0.08), "z": 3.14}
    return TwoSampleEffect(**{**found, "relative_to": "norms", "names": ("A", "B"), **values})


@pytest.mark.parametrize(
    ("values", "line", "said"),
    [
        ({}, 0, "Of one observation of A and one of B, the witness function tells which is which with probability "
            ".62 [.50, .70] (.5: by chance, 1: always)."),
        (
            {"auc": 0.481, "auc_interval": (0.4, 0.55)},
            0,
            "Of one observation of A and one of B, the witness function tells which is which with probability "
            ".48 [.40, .55], no more than by chance (.5).",
        ),
        ({"auc": 1.0, "auc_interval": (0.99, 1.0)}, 0, "probability 1.00 [.99, 1.00] (.5"),
        ({"auc": 0.5081, "auc_interval": (0.5063, 0.51)}, 0, "probability .508 [.506, .510] (.5"),
        ({"auc": 0.7, "auc_interval": NOTHING}, 0, "with probability .70 [no interval] (.5"),
        ({"auc": math.nan}, 0, "How well the samples can be told apart was not estimated."),
        ({}, 1, "Their distance is .030 [.010, .080] (0: the same, 1: nothing in common)."),
        ({"distance_interval": (0.011, 0.034)}, 1, "Their distance is .030 [.011, .034] (0"),
        (
            {"distance": -0.002, "distance_interval": (0.0, 0.01)},
            1,
            "Their distance is -.002 [.000, .010] (0: the same, 1: nothing in common); an estimate below 0 says that "
            "none was found.",
        ),
        ({"distance": -0.002, "distance_interval": (0.0, 0.2)}, 1, "Their distance is .00 [.00, .20] (0"),
        ({"distance": math.nan}, 1, "Their distance was not estimated."),
        ({"relative_to": "variance"}, 1, "(the share of the variance in feature space that lies between the samples)."),
        ({}, 2, "The statistic is 3.1 standard deviations above its mean under permutations."),
        ({"z": -1.14}, 2, "The statistic is 1.1 standard deviations below its mean under permutations."),
        ({"z": -0.04}, 2, "The statistic is as large as its mean under permutations."),
        ({"z": math.nan}, 2, "was not computed."),
        (
            {"shares": {"age": 0.2, "1": 0.5, "sex": -0.1, "b": 0.1, "c": 0.05}},
            3,
            "Exchanging the values of a column takes from the statistic: 50% (column 1), 20% (age), 10% (b).",
        ),
        ({"shares": {"age": -0.2}}, 3, "Exchanging the values of any column takes nothing from the statistic."),
        ({"shares": {"age": math.nan}}, 3, "was not estimated, for the statistic is not above zero."),
    ],
)  # fmt: skip
def test_effects_in_words(values, line, said):
    assert said in two(**values).lines()[line]


def test_effects_in_short():
    assert repr(two()) == "TwoSampleEffect(auc=.62 [.50, .70], distance=.030 [.010, .080])"
    effect = DependenceEffect(dependence=0.0004, dependence_interval=(0.0, 0.0009), z=0.2)
    assert repr(effect) == "DependenceEffect(dependence=.00040 [.00000, .00090])"
    assert repr(RESULTS["k samples"]().effect()).startswith("KSampleEffect(3 samples, auc up to .")
    few = replace(RESULTS["k samples"]().effect(), pairs={(0, 1): two(auc=math.nan)}, names=("A", "B"))
    assert repr(few) == "KSampleEffect(2 samples)"


def test_the_dependence_in_words():
    effect = DependenceEffect(dependence=-0.02, dependence_interval=(0.0, 0.05), names=("age", "size"), z=0.2)
    start = "The dependence of age and size is -.020 [.000, .050] (0: none, 1: complete)"
    assert effect.lines()[0] == f"{start}; an estimate below 0 says that none was found."
    assert replace(effect, dependence=math.nan).lines()[0] == "The dependence of age and size was not estimated."


def test_estimates_outside_their_intervals_are_explained():
    effect = DependenceEffect(dependence=-0.02, dependence_interval=(0.0, 0.05), z=0.2, notes=("A note.",))
    assert effect.notes == ("A note.",) and "[2] Intervals are cut at 0, the least" in effect.summary()
    for inside in (replace(effect, dependence=0.02), replace(effect, dependence_interval=(math.nan, math.nan))):
        assert "cut at 0" not in inside.summary()
    same = replace(two(distance=-0.01, distance_interval=(0.0, 0.015)), notes=())
    assert "cut at 0" in same.summary()
    assert "Intervals are cut at 0" in str(RESULTS["two samples"]().summary(effect=same))


def test_what_few_observations_leave_is_noted():
    none, short = RESULTS["few"]().effect(), two_sample_test(X[:9], Y, **FEW).effect()
    assert none.notes[0] == "One sample has 4 independent observations: there is no interval from fewer than 5."
    assert math.isnan(none.distance_interval[0]) and "measured from 20 on" in short.notes[0]
    assert "largest of several differences" in RESULTS["k samples"]().effect().notes[-1]
