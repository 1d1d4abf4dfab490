"""Labels that are given as a sample are noticed, with the call to type instead."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shrinktest import compare, equivalence_test, k_sample_test, two_sample_test

RNG = np.random.default_rng(0)
X = RNG.normal(size=60)
THREE = np.repeat([1, 2, 3], 20)
QUICK = {"n_resamples": 99, "rng": 0, "workers": 1}
GROUPS = "type two_sample_test(X[Y == {}], X[Y == {}])."


def notes_on_labels(result):
    return [note for note in result.notes if "looks like labels" in note]


@pytest.mark.parametrize(
    ("labels", "call"),
    [
        ((X > 0) * 1, GROUPS.format(0, 1)),
        (X > 0, GROUPS.format(0, 1)),
        (pd.Series(X > 0), GROUPS.format(0, 1)),
        (np.where(X > 0, 2.5, -1.0), GROUPS.format(-1, 2.5)),
        (THREE, "type k_sample_test(*[X[Y == label] for label in numpy.unique(Y)])."),
        (RNG.integers(0, 6, 60), "type k_sample_test(*[X[Y == label] for label in numpy.unique(Y)])."),
    ],
)
def test_labels_beside_values_are_noticed(labels, call):
    values = pd.Series(X) if isinstance(labels, pd.Series) else X
    (note,) = notes_on_labels(two_sample_test(values, labels, **QUICK))
    assert note.startswith("Y looks like labels: it has ") and note.endswith(call) and len(note.split()) <= 40
    (note,) = notes_on_labels(two_sample_test(labels, values, **QUICK))
    assert note.startswith("X looks like labels")


def test_every_test_of_samples_notices_them():
    (note,) = notes_on_labels(k_sample_test(X, THREE, **QUICK))
    assert "k_sample_test(*[samples[0][samples[1] == label] for label in numpy.unique(samples[1])])" in note
    (note,) = notes_on_labels(k_sample_test({"income": X, "group": (X > 0) * 1}, **QUICK))
    assert note.endswith("type two_sample_test(income[group == 0], income[group == 1]).")
    (note,) = notes_on_labels(two_sample_test(X, THREE, names=("the values", "the labels"), **QUICK))
    assert note.endswith("give the rows with each label as a sample.")
    assert notes_on_labels(compare(pd.Series(X), pd.Series(THREE), **QUICK))
    assert notes_on_labels(equivalence_test(X, THREE, measure="auc", margin=0.6, rng=0))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (X[:30], X[30:]),
        (RNG.integers(0, 2, 60), RNG.integers(0, 2, 60)),
        (RNG.poisson(2.0, 60), RNG.poisson(5.0, 60)),
        (X, THREE[:50]),
        (X, np.round(2.0 * RNG.normal(size=60)) / 2.0),
        (np.column_stack([X, X]), np.column_stack([THREE, THREE])),
    ],
)
def test_data_are_not_taken_for_labels(first, second):
    assert not notes_on_labels(two_sample_test(first, second, **QUICK))
