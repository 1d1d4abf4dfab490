"""Matrices and functions that cannot be kernels are refused, in every test and in every form."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from shrinktest import (
    Gaussian,
    Kernel,
    Precomputed,
    change_point_test,
    change_points,
    closer_test,
    equivalence_test,
    independence_matrix,
    independence_test,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)

rng = np.random.default_rng(0)
ROWS = np.concatenate([rng.normal(size=(15, 1)), 3.0 + rng.normal(size=(20, 1))])
OTHERS = rng.normal(size=(35, 1))
RUN = {"rng": 0}


@dataclass(frozen=True)
class Own(Kernel):
    """A user's class that returns distances."""

    def evaluate(self, X, Y):
        return cdist(X, Y)


FALSE = {
    "distances": cdist,
    "squared": lambda X, Y: cdist(X, Y) ** 2,
    "minus distances": lambda X, Y: -cdist(X, Y),
    "minus a kernel": lambda X, Y: -np.exp(-cdist(X, Y)),
    "growing": lambda X, Y: np.exp(-cdist(X, Y)) + 2.0 * (cdist(X, Y) > 1.0),
}
TRUE = {
    "similarities": lambda X, Y: np.exp(-(cdist(X, Y) ** 2) / 2.0),
    "single precision": lambda X, Y: (1e3 + (X @ Y.T).astype("float32")).astype("float32"),
    "nothing": lambda X, Y: np.zeros((len(X), len(Y))),
}
REMEDY = r"is not a kernel: .*; turn distances D into exp\(-D\*\*2 / \(2 \* s\*\*2\)\)"


@pytest.mark.parametrize("function", FALSE.values(), ids=FALSE)
def test_a_matrix_is_refused(function):
    with pytest.raises(ValueError, match=REMEDY):
        two_sample_test(np.arange(15), np.arange(15, 35), kernel=Precomputed(function(ROWS, ROWS)), **RUN)


@pytest.mark.parametrize("form", ["biased", "unbiased"])
@pytest.mark.parametrize("kernel", [Own(), Own() + Gaussian(1.0), *FALSE.values()])
def test_a_function_is_refused_in_both_forms(kernel, form):
    with pytest.raises(ValueError, match=REMEDY):
        two_sample_test(ROWS[:15], ROWS[15:], kernel=kernel, form=form, **RUN)


@pytest.mark.parametrize("kernel", [Own(), cdist])
def test_every_test_refuses(kernel):
    many = np.random.default_rng(1).normal(size=(1600, 1))
    for call in (
        lambda: two_sample_test(many[:800], many[800:], kernel=kernel, **RUN),
        lambda: two_sample_test(many[:800], many[800:], kernel=kernel, gram="nystrom", **RUN),
        lambda: two_sample_test(ROWS[:15], ROWS[15:], kernel=[kernel, "gaussian"], **RUN),
        lambda: two_sample_test_columns(ROWS[:15], ROWS[15:], kernel=kernel, **RUN),
        lambda: k_sample_test(ROWS[:12], ROWS[12:20], ROWS[20:], kernel=kernel, **RUN),
        lambda: independence_test(ROWS, OTHERS, kernel_x=kernel, **RUN),
        lambda: independence_test(ROWS, OTHERS, kernel_y=kernel, form="unbiased", **RUN),
        lambda: joint_independence_test(ROWS, OTHERS, kernels=[kernel, "gaussian"], **RUN),
        lambda: independence_matrix(ROWS, OTHERS, kernel_x=kernel, kernel_y="gaussian", **RUN),
        lambda: change_point_test(ROWS, kernel=kernel, **RUN),
        lambda: change_points(ROWS, kernel=kernel, **RUN),
        lambda: closer_test(ROWS[:12], ROWS[12:20], ROWS[20:], kernel=kernel),
        lambda: equivalence_test(ROWS[:15], ROWS[15:], kernel=kernel, margin=0.05, measure="distance"),
    ):
        with pytest.raises(ValueError, match=REMEDY):
            call()


@pytest.mark.parametrize("function", TRUE.values(), ids=TRUE)
def test_kernels_are_taken(function):
    Precomputed(function(ROWS, ROWS))
    assert two_sample_test(ROWS[:15], ROWS[15:], kernel=function, **RUN).pvalue <= 1.0


def test_the_remedy_finds_the_difference():
    distances = cdist(ROWS, ROWS)
    kernel = Precomputed(np.exp(-(distances**2) / (2 * np.median(distances) ** 2)))
    assert two_sample_test(np.arange(15), np.arange(15, 35), kernel=kernel, **RUN).pvalue == 0.001
