"""Kernels given by their matrix: row numbers are no values, and say nothing of what was observed."""

import numpy as np
import pytest

from shrinktest import (
    Gaussian,
    Precomputed,
    change_point_test,
    change_points,
    closer_test,
    independence_test,
    joint_independence_test,
    two_sample_test,
)

RNG = np.random.default_rng(0)
SAMPLES = RNG.normal(size=(40, 2)), RNG.normal(size=(40, 1)), RNG.normal(size=(40, 1))
KERNEL = Gaussian(1.0)
MATRICES = [Precomputed(KERNEL(rows, rows)) for rows in SAMPLES]
PLACES = np.r_[20:40, 0:20]  # not sorted, but each beside the next one
CALLS = {
    "two samples": lambda: two_sample_test(np.r_[20:40, 0:5], np.r_[5:20], kernel=MATRICES[0], rng=0, n_resamples=99),
    "pairs": lambda: two_sample_test(np.r_[10:20, 0:10], np.r_[20:40], kernel=MATRICES[0], paired=True, rng=0),
    "stretches": lambda: two_sample_test(np.arange(20), np.arange(20, 40), kernel=MATRICES[0], shift=5, rng=0),
    "independence": lambda: independence_test(PLACES, PLACES, kernel_x=MATRICES[0], kernel_y=MATRICES[1], rng=0),
    "joint": lambda: joint_independence_test(*[PLACES] * 3, kernels=MATRICES, rng=0, n_resamples=99),
    "change": lambda: change_point_test(PLACES, kernel=MATRICES[0], confidence=None, rng=0, n_resamples=99),
    "changes": lambda: change_points(np.arange(40), kernel=MATRICES[0], shift=5, rng=0, n_resamples=99),
    "nearer": lambda: closer_test(PLACES, np.arange(20), np.arange(20, 40), kernel=MATRICES[0]),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_nothing_is_said_of_the_values_of_row_numbers(call):
    said = " ".join(call().notes)
    assert not any(word in said for word in ("Successive rows", "Stretches of", "the same values", "in both samples"))


def test_which_of_two_depends_more_by_matrices_of_the_same_rows():
    told = {"measure": "dependence"}
    plain, by_matrix = (
        closer_test(*SAMPLES, kernel=KERNEL, **told),
        closer_test(PLACES, PLACES, PLACES, kernel=MATRICES, **told),
    )
    assert by_matrix.difference == pytest.approx(plain.difference, rel=1e-9)
    assert by_matrix.pvalue == pytest.approx(plain.pvalue, rel=1e-9)
    first, second, _ = MATRICES
    same = closer_test(PLACES, PLACES, PLACES, kernel=[first, second, second], **told)
    assert same.pvalue == 1.0 and any("hold the same rows" in note for note in same.notes)
    with pytest.raises(ValueError, match="X and Y hold the same rows"):
        closer_test(PLACES, PLACES, PLACES, kernel=[first, first, second], **told)
