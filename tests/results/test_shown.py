"""Effects, ensembles and names of samples in what results print."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import replace
from functools import partial

import matplotlib
import numpy as np
import pandas as pd
import pytest

from shrinktest import (
    Batches,
    Gaussian,
    closer_test,
    equivalence_test,
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
    "series": lambda: independence_test(X[:, 0], X[:, 1], block_length="whole", **FEW),
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
    assert (
        pickle.loads(pickle.dumps(effect))
        == effect
        == pickle.loads(pickle.dumps(result.with_data())).effect()
    )


# --- words --------------------------------------------------------------------------------------------------


def two(**values):
    defaults = {
        "auc": 0.62,
        "auc_interval": (0.5, 0.7),
        "distance": 0.03,
        "distance_interval": (0.01, 0.08),
        "z": 3.14,
    }
    return TwoSampleEffect(**{**defaults, "relative_to": "norms", "names": ("A", "B"), **values})


def test_summaries():
    effect = two(
        shares={"age": 0.2, "1": 0.5, "sex": -0.1}, distance=-0.002, distance_interval=(0.0, 0.01)
    )
    assert (
        effect.summary()
        == """\
Given one observation from A and one from B, the witness function assigns them
correctly with probability .62 [.50, .70] (.5 is guessing).
Their distance is -.002 [.000, .010] (0: the same, 1: nothing in common); below
0 means none was found.
Permuting a single column lowers the statistic by 50% (column 1), 20% (age).

==================================
measure    estimate   95% interval
----------------------------------
auc            .620   [.500, .700]
distance      -.002   [.000, .010]
==================================

[1] Interval limits below 0, the smallest possible value, are set to 0; an
    unbiased estimate may be below 0 and thus outside its interval."""
    )
    unknown = two(
        auc=math.nan, auc_interval=NOTHING, distance=math.nan, distance_interval=NOTHING, z=math.nan
    )
    assert [line.split(" was ")[-1] for line in unknown.lines()][:2] == ["not estimated."] * 2
    assert "[no interval]" in two(auc_interval=NOTHING).lines()[0] and repr(two()).startswith(
        "TwoSampleEffect(auc=.62"
    )
    dependence = DependenceEffect(
        dependence=0.02, dependence_interval=(0.0, 0.05), names=("age", "size"), z=-1.14
    )
    assert dependence.lines() == [
        "The dependence of age and size is .020 [.000, .050] (0: none, 1: complete).",
    ]
    assert repr(RESULTS["k samples"]().effect()).startswith("KSampleEffect(3 samples, auc up to .")


# --- methods of a combined test: they answer for the member that decided, and say so ---

ENSEMBLE_RNG = np.random.default_rng(3)
ENSEMBLE_X, ENSEMBLE_Y = (
    ENSEMBLE_RNG.normal(size=(30, 2)),
    ENSEMBLE_RNG.normal((0.9, 0.0), size=(25, 2)),
)
ENSEMBLE_FEW = {"n_resamples": 99, "rng": 0, "workers": 1}
COMBINED = {
    "estimators": {"estimator": ["kme", "fkmse"]},
    "bandwidths": {"bandwidth": ["median", "0.5 * median"]},
    "auto": {"estimator": "auto"},
}


@pytest.mark.parametrize("name", COMBINED)
def test_questions_are_answered_by_the_member_that_decided(name):
    result = two_sample_test(ENSEMBLE_X, ENSEMBLE_Y, **COMBINED[name], **ENSEMBLE_FEW)
    best, label = result.best, repr(result).split(f"member {result.decided}: ")[1].removesuffix(")")
    assert best.pvalue == result.members[result.decided].pvalue
    np.testing.assert_array_equal(result.witness(ENSEMBLE_X), best.witness(ENSEMBLE_X))
    band, own = result.witness_band(ENSEMBLE_X), best.witness_band(ENSEMBLE_X)
    np.testing.assert_allclose(band.values, result.witness(ENSEMBLE_X), rtol=1e-9)
    np.testing.assert_array_equal(band.half_width, own.half_width)
    assert label in band.notes[0] and label in " ".join(band.summary().split()) and own.notes == ()
    contributions = result.contributions(n_repeats=2)
    assert contributions.attrs["member"] == label and contributions.equals(
        best.contributions(n_repeats=2)
    )
    assert label.split(",")[0] in result.plot_witness(grid=5).get_title()
    decided = [line for line in result.summary().splitlines() if line.rstrip().endswith("decided")]
    assert len(decided) == 1 and best.kernel.label in decided[0]


def test_a_member_is_the_test_of_its_statistic():
    alone = two_sample_test(ENSEMBLE_X, ENSEMBLE_Y, estimator="kme", bandwidth=1.5, **ENSEMBLE_FEW)
    result = two_sample_test(
        ENSEMBLE_X, ENSEMBLE_Y, kernel=[Gaussian(1.5), Gaussian(1.5e6)], **ENSEMBLE_FEW
    )
    result = replace(result, decided=0)
    np.testing.assert_array_equal(
        result.witness_band(ENSEMBLE_X).half_width, alone.witness_band(ENSEMBLE_X).half_width
    )


def test_pickles_have_the_data_on_request():
    result = two_sample_test(ENSEMBLE_X, ENSEMBLE_Y, **COMBINED["estimators"], **ENSEMBLE_FEW)
    complete, bare = (pickle.loads(pickle.dumps(each)) for each in (result.with_data(), result))
    assert result == complete == bare
    np.testing.assert_allclose(
        complete.witness_band(ENSEMBLE_X).values, result.witness(ENSEMBLE_X), rtol=1e-9
    )
    np.testing.assert_array_equal(bare.witness(ENSEMBLE_X), result.witness(ENSEMBLE_X))
    with pytest.raises(ValueError, match="pickled without its data"):
        bare.witness_band(ENSEMBLE_X)


def test_two_variables_have_no_witness():
    result = independence_test(
        ENSEMBLE_X[:, 0], ENSEMBLE_X[:, 1], estimator=["kme", "skmse"], **ENSEMBLE_FEW
    )
    for ask in (result.witness_band, result.contributions, result.plot_witness):
        with pytest.raises(AttributeError, match="an independence test has none"):
            ask()
    missing = two_sample_test(
        [1.0, np.nan], [2.0, 3.0], estimator=["kme", "skmse"], nan_policy="propagate"
    )
    with pytest.raises(ValueError, match="missing values"):
        missing.witness_band()


# --- names of samples: what users call them is what results, effects, pictures, notes and errors call them ---

NAMED_RNG = np.random.default_rng(0)
A, B = (
    pd.DataFrame(NAMED_RNG.normal(shift, 1.0, (40, 2)), columns=["a", "b"]) for shift in (0.0, 0.5)
)
HOLES = A.mask(A["a"] == A["a"].iloc[0])
SITES = pd.DataFrame({"site": NAMED_RNG.choice(["north", "south"], 40)})
HALF = (np.full(40, 0.5), np.full(40, 0.5))
NAMED = {"names": ("before", "after"), "n_resamples": 99, "rng": 0, "workers": 1}
ROUTES = {
    "tables": (A, B, {}),
    "arrays": (A.to_numpy(), B.to_numpy(), {}),
    "pairs": (A, B, {"paired": True}),
    "blocks": (A, B, {"blocks": np.arange(80) % 4}),
    "groups": (A, B, {"groups": np.arange(80) // 2}),
    "stretches": (A, B, {"block_length": 4}),
    "strata": (A, B, {"covariates": (SITES, SITES)}),
    "propensity": (A[["b"]], B[["b"]], {"covariates": (A[["a"]], B[["a"]]), "propensity": HALF}),
    "several": (A, B, {"estimator": ["kme", "fkmse"]}),
    "auto": (A, B, {"estimator": "auto"}),
    "left out": (HOLES, B, {"nan_policy": "omit"}),
    "unknown": (HOLES, B, {"nan_policy": "propagate"}),
    "batches": (Batches([A]), Batches([B]), {"gram": "rff", "rank": 20}),
    "batches in memory": (Batches([A]), Batches([B]), {}),
}


@pytest.mark.parametrize("route", ROUTES)
def test_samples_are_called_what_the_user_calls_them(route):
    x, y, given = ROUTES[route]
    named, plain = (
        two_sample_test(x, y, **given, **NAMED),
        two_sample_test(x, y, **given, **{**NAMED, "names": None}),
    )
    assert named.names == ("before", "after") and plain.names == ()
    np.testing.assert_equal((named.pvalue, named.statistic), (plain.pvalue, plain.statistic))
    words = " ".join((str(named.summary()), *named.notes)).split()
    assert not {"X", "Y", "X."} & set(words)
    if hasattr(named, "members"):
        return
    assert {"before", "after"} <= set(words) or route == "unknown"


def test_effects_and_pictures_use_them():
    result = two_sample_test(A, B, **NAMED)
    assert result.effect().names == ("before", "after")
    assert "given one observation from before and one from after" in " ".join(
        str(result.summary(effect=True)).lower().split()
    )
    ax = result.plot_witness(coordinates="a", grid=5)
    assert "Where before and after differ" in ax.get_title()
    matplotlib.pyplot.close(ax.figure)


def test_errors_use_them():
    with pytest.raises(ValueError, match="after has 1 row"):
        two_sample_test(A, B[:1], **NAMED)
    with pytest.raises(ValueError, match="covariates= for after has 3 rows"):
        two_sample_test(A, B, covariates=(A[["a"]], B[["a"]][:3]), **NAMED)
    with pytest.raises(MemoryError, match="before and after have 80 observations"):
        two_sample_test(Batches([A]), Batches([B]), max_memory=1000.0, **NAMED)


@pytest.mark.parametrize(
    "names, error, message",
    [
        ("ab", TypeError, "names must be two texts"),
        (("a",), TypeError, "names must be two texts"),
        (("a", ""), TypeError, "names must be two texts"),
        (("a", "a"), ValueError, "names must differ"),
    ],
)
def test_names_tell_samples_apart(names, error, message):
    with pytest.raises(error, match=message):
        two_sample_test(A, B, names=names)


def test_groups_of_pandas_are_given_by_name():
    table = pd.concat([A.assign(time="before"), B.assign(time="after")])
    with pytest.raises(TypeError, match=r"dict\(list\(df\.groupby"):
        k_sample_test(table.groupby("time"))
    groups = dict(list(table.groupby("time")[["a", "b"]]))
    assert k_sample_test(groups, n_resamples=19, rng=0).names == ("after", "before")


BOTH = np.random.default_rng(0).normal(size=(2, 40, 2))


@pytest.mark.parametrize(
    ("result", "remedy"),
    [
        (partial(equivalence_test, *BOTH, margin=0.3, measure="distance"), "EquivalenceResult is neither true nor "
         "false; use result.equivalent"),
        (partial(equivalence_test, *BOTH, margin=1e-6, measure="distance"), "use result.equivalent"),
        (partial(two_sample_test, *BOTH, n_resamples=19), "use result.reject"),
        (partial(independence_test, *BOTH, n_resamples=19), "use result.reject"),
        (partial(closer_test, *BOTH, BOTH[0] + 1.0), "use result.reject"),
    ],
    ids=["equivalent", "not shown", "two-sample", "independence", "closer"],
)  # fmt: skip
def test_results_are_neither_true_nor_false(result, remedy):
    with pytest.raises(ValueError, match=remedy):
        bool(result())
