"""Where permutations are too few for the number of tests, the result says so, and not only a warning."""

import numpy as np
import pandas as pd
import pytest

from shrinktest import compare, two_sample_test_columns

RNG = np.random.default_rng(0)
A, B = (pd.DataFrame(RNG.normal(size=(20, 30))).add_prefix("c") for _ in range(2))
B[["c0", "c1"]] += 5.0


def test_no_column_can_be_clear():
    with pytest.warns(UserWarning, match="the smallest p-value that 99 permutations can give, adjusted .* can never"):
        found = compare(A, B, method="holm", n_resamples=99, rng=0, estimator="kme")
    assert "Its columns cannot tell: there are too few permutations for so many tests (see the notes)." in found.answer
    assert any(note.startswith("The smallest p-value that 99 permutations can give") for note in found.notes)
    assert not any("never reject" in note for note in found.columns.with_method("fdr_bh").notes)
    enough = compare(A, B, method="holm", n_resamples=599, rng=0, estimator="kme")
    assert set(enough.changed()) == {"c0", "c1"} and not any("permutations can" in note for note in enough.notes)


def test_nothing_is_rejected_though_no_permutation_is_as_large():
    found = two_sample_test_columns(A, B, method="fdr_bh", n_resamples=99, rng=0)
    said = [note for note in found.notes if note.startswith("2 p-values of 30 are as small as 99 permutations")]
    assert not found.reject().any() and len(said) == 1 and "more permutations (n_resamples=) may reject" in said[0]
    more = two_sample_test_columns(A, B, method="fdr_bh", n_resamples=399, rng=0)
    assert more.reject().sum() == 2 and not any("may reject" in note for note in more.notes)
    by_permutations = two_sample_test_columns(A, B, n_resamples=99, rng=0)  # adjusted by the permutations themselves
    assert by_permutations.reject().sum() == 2 and not any("may reject" in note for note in by_permutations.notes)


def test_another_method_has_its_own_notes():
    with pytest.warns(UserWarning, match="can never reject"):
        few = two_sample_test_columns(A, B, method="holm", n_resamples=99, rng=0)
    again = few.with_method("fdr_bh")
    assert [note[:27] for note in few.notes[-1:]] == ["The smallest p-value that 9"]
    assert [note[:21] for note in again.notes[-1:]] == ["2 p-values of 30 are "]
    assert again.with_method("holm").notes == few.notes
    enough = two_sample_test_columns(A, B, method="fdr_bh", n_resamples=399, rng=0)
    assert not any("permutations can" in note for note in enough.notes)
    assert enough.with_method("holm").notes[-1].endswith("can never reject; use n_resamples >= 599.")
