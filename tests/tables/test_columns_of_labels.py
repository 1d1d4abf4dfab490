"""A column that is given as blocks= or groups= says which rows belong together, and is not compared."""

import numpy as np
import pandas as pd
import pytest

from shrinktest import compare, independence_test, k_sample_test, two_sample_test, two_sample_test_columns

RNG = np.random.default_rng(0)
FEW = {"n_resamples": 99, "rng": 0}


def classes(first):
    """Twenty classes of five, whose numbers go on from one sample to the next."""
    of_class = np.repeat(np.arange(20), 5)
    return pd.DataFrame({"score": RNG.normal(size=100), "age": RNG.normal(size=100), "class_id": first + of_class})


A, B = classes(0), classes(20)
LABELS = A["class_id"], B["class_id"]


@pytest.mark.parametrize("test", [two_sample_test, k_sample_test])
def test_samples(test):
    found = test(A, B, groups=LABELS, **FEW)
    without = test(A[["score", "age"]], B[["score", "age"]], groups=LABELS, **FEW)
    assert found.pvalue == without.pvalue and found.statistic == without.statistic
    assert found.notes[0].startswith("Column 'class_id' is not tested: it holds the labels of groups= (column_types={'")
    assert found.columns == without.columns and not any("class_id" in note for note in found.notes[1:])


def test_what_is_asked_for_is_tested():
    asked = two_sample_test(A, B, groups=LABELS, column_types={"class_id": "number"}, **FEW)
    assert asked.columns == (("score", "age", "class_id"),) and not any("labels of groups=" in n for n in asked.notes)
    other = (LABELS[0] + 100, LABELS[1])  # no column
    assert two_sample_test(A, B, groups=other, **FEW).columns == (("score", "age", "class_id"),)
    alone = two_sample_test(A[["class_id"]], B[["class_id"]], groups=LABELS, **FEW)
    assert alone.columns == (("class_id",),)


def test_columns_and_comparisons():
    found = two_sample_test_columns(A, B, groups=LABELS, **FEW)
    assert [label for (label,) in found.labels] == ["score", "age"]
    both = compare(A, B, groups=LABELS, estimator="kme", **FEW)
    assert both.changed() == () and set(both.table["column"]) == {"score", "age"}
    assert any("it holds the labels of groups=" in note for note in both.notes)


def test_variables():
    site = pd.Series(np.tile([0, 1], 50), name="site")
    x, y = A[["score"]].assign(site=site), B[["age"]]
    found, without = (independence_test(one, y, blocks=site, **FEW) for one in (x, x[["score"]]))
    assert found.pvalue == without.pvalue
    assert any(note.startswith("Column 'site' is not tested: it holds the labels of blocks=") for note in found.notes)
