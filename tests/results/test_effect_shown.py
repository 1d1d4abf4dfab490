"""Effects where users look: in summaries, in JSON, and in words."""

from __future__ import annotations

import json
import math
import pickle

import numpy as np
import pandas as pd
import pytest

from shrinktest import (
    independence_test,
    k_sample_test,
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


@pytest.fixture(scope="module", params=RESULTS)
def result(request):
    return RESULTS[request.param]()


# --- summaries ----------------------------------------------------------------------------------------------


def test_a_summary_with_the_effect_has_its_table_and_sentences_below_that_of_the_test(result):
    plain, text, effect = str(result.summary()), str(result.summary(effect=True)), result.effect()
    assert text.startswith(plain.rsplit("\n\n[1]", 1)[0].rsplit("\n", 1)[0])
    words = " ".join(text.split())
    assert words.index(effect.lines()[0]) > words.index("interval") > 0
    assert all(line in words for line in effect.lines()) and effect.printed().as_text() in text
    assert all(f"] {note}" in words for note in (*result.notes, *effect.notes))
    assert max(map(len, text.split("\n\n", 1)[1].splitlines())) <= 80


# --- JSON ---------------------------------------------------------------------------------------------------


def test_json_has_the_effect_on_request(result):
    effect = result.effect()
    read = json.loads(result.to_json(effect=True))
    assert read["effect"] == json.loads(effect.to_json()) and "effect" not in result.to_dict()
    assert str(result.summary(effect=effect)) == str(result.summary(effect=True))
    assert pickle.loads(pickle.dumps(effect)) == effect == pickle.loads(pickle.dumps(result.with_data())).effect()


# --- words --------------------------------------------------------------------------------------------------


def two(**values):
    defaults = {"auc": 0.62, "auc_interval": (0.5, 0.7), "distance": 0.03, "distance_interval": (0.01, 0.08), "z": 3.14}
    return TwoSampleEffect(**{**defaults, "relative_to": "norms", "names": ("A", "B"), **values})


def test_summaries():
    effect = two(shares={"age": 0.2, "1": 0.5, "sex": -0.1}, distance=-0.002, distance_interval=(0.0, 0.01))
    assert (
        effect.summary()
        == """\
Shown one observation of A and one of B, the witness function assigns them
correctly with probability .62 [.50, .70] (.5 is guessing).
Their distance is -.002 [.000, .010] (0: the same, 1: nothing in common); below
0 means none was found.
The statistic is 3.1 standard deviations above its mean under permutations.
Permuting a single column lowers the statistic by 50% (column 1), 20% (age).

==================================
measure    estimate   95% interval
----------------------------------
auc            .620   [.500, .700]
distance      -.002   [.000, .010]
==================================

[1] Intervals are cut at 0, the least that the quantity can be; an estimate may
    be below 0, outside its interval."""
    )
    unknown = two(auc=math.nan, auc_interval=NOTHING, distance=math.nan, distance_interval=NOTHING, z=math.nan)
    assert [line.split(" was ")[-1] for line in unknown.lines()][:2] == ["not estimated."] * 2
    assert "[no interval]" in two(auc_interval=NOTHING).lines()[0] and repr(two()).startswith("TwoSampleEffect(auc=.62")
    dependence = DependenceEffect(dependence=0.02, dependence_interval=(0.0, 0.05), names=("age", "size"), z=-1.14)
    assert dependence.lines() == [
        "The dependence of age and size is .020 [.000, .050] (0: none, 1: complete).",
        "The statistic is 1.1 standard deviations below its mean under permutations.",
    ]
    assert repr(RESULTS["k samples"]().effect()).startswith("KSampleEffect(3 samples, auc up to .")
