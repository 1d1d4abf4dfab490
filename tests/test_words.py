"""What other packages call it, and functions of the user's that take other arguments: errors that say what is meant."""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
import pytest

from shrinktest import (
    calibrate,
    compare,
    independence_matrix,
    independence_test,
    joint_independence_test,
    k_sample_test,
    permutation_test,
    power_study,
    solve_sample_size,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest._check import check_signature
from shrinktest._parallel import kernel_progress, progress_steps
from shrinktest.risk import loss_path, risk_study

X, Y = np.random.default_rng(0).normal(size=(2, 12, 2))
VERBS = [
    *(partial(test, X, Y) for test in (two_sample_test, k_sample_test, independence_test, joint_independence_test)),
    *(partial(test, X, Y) for test in (two_sample_test_columns, independence_matrix)),
    partial(calibrate, lambda x, y: 0.5, X, Y),
    partial(permutation_test, lambda row: 0.0, 12),
    partial(compare, X, Y),
]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.func.__name__)
def test_what_arguments_are_called_elsewhere(verb):
    name = verb.func.__name__
    for other in ("seed", "random_state"):
        with pytest.raises(TypeError, match=f"{name} has no argument {other}=; it is rng= here"):
            verb(**{other: 1})
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        verb(nonsense=1)
    if name != "calibrate":
        with pytest.raises(TypeError, match=f"{name} has no argument n_permutations=; it is n_resamples= here"):
            verb(n_permutations=99)


@pytest.mark.parametrize(
    ("verb", "given", "meant"),
    [
        (partial(power_study, "mean-shift"), "alpha", "alphas"),
        (partial(power_study, "mean-shift"), "level", "alphas"),
        (partial(solve_sample_size, "mean-shift"), "alphas", "alpha"),
        (partial(risk_study, "mixture"), "estimator", "estimators"),
        (partial(risk_study, "mixture"), "random_state", "rng"),
        (partial(loss_path, "skmse", [0.1]), "kernels", "kernel"),
        (partial(two_sample_test, X, Y), "estimators", "estimator"),
        (partial(joint_independence_test, X, Y), "bandwidth", "bandwidths"),
    ],
)
def test_one_of_several_and_several_of_one(verb, given, meant):
    with pytest.raises(TypeError, match=f"{verb.func.__name__} has no argument {given}=; it is {meant}= here"):
        verb(**{given: 0.05})


def test_samples_have_no_name():
    with pytest.raises(TypeError, match="unexpected keyword argument 'sample'"):
        k_sample_test(X, Y, sample=X)


def test_what_kernels_are_called_elsewhere():
    with pytest.raises(ValueError, match="kernel 'rbf' is called 'gaussian' here"):
        two_sample_test(X, Y, kernel="rbf")
    with pytest.raises(ValueError, match="kernel_y 'RBF' is called 'gaussian' here"):
        independence_test(X, Y, kernel_y="RBF")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: two_sample_test(X, Y, estimator=lambda: 1),
            r"-> weights \(n,\), and is called with 1 argument",
        ),
        (lambda: two_sample_test(X, Y, kernel=lambda x: 1), r"\(X, Y\) -> Gram matrix, and is called with 2 arguments"),
        (lambda: permutation_test(lambda a, b: 1, 9), r"permutation \(n,\) -> number, and is called with 1 argument"),
        (lambda: permutation_test(lambda: 1, 9, vectorized=True), r"permutations \(B, n\) -> numbers \(B,\), and"),
        (lambda: calibrate(lambda x: 1, X, Y), r"test must be a function \(X, Y\) -> p-value, and is called with 2"),
        (
            lambda: two_sample_test(X, Y, transform=lambda: X),
            r"rows \(N, d\), and is called with 1 argument",
        ),
    ],
)
def test_functions_with_other_arguments(call, said):
    with pytest.raises(TypeError, match=said + r".*; found <lambda>\("):
        call()


def test_functions_that_can_be_called():
    for function in (max, np.add, lambda x, y=1, *more: 0, partial(lambda a, x, y: 0, 1)):
        check_signature(function, ("X", "Y"), "it")


def test_kernels_move_a_bar(capsys):
    wide = np.random.default_rng(1).normal(size=(2, 400, 3))
    two_sample_test(*wide, n_resamples=19, rng=0, progress=True)
    found = capsys.readouterr().err
    assert found.index("kernels:") < found.index("permutations:") and "kernels: 100%" in found
    two_sample_test(*wide, n_resamples=19, rng=0, gram="rff", rank=10, progress=True)
    assert "kernels: 100%" in capsys.readouterr().err
    two_sample_test(*wide, n_resamples=19, rng=0)
    assert capsys.readouterr().err == ""


def test_a_bar_is_there_only_where_something_is_to_be_shown(capsys):
    with kernel_progress(True):
        pass
    with kernel_progress(False):
        progress_steps(3)()
    progress_steps(3)()
    assert capsys.readouterr().err == ""
    with kernel_progress(True):
        advance = progress_steps(2)
        advance(), advance()
    assert "2/2" in capsys.readouterr().err


def test_no_bar_where_there_is_nothing_to_write_to(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with kernel_progress(True):
        progress_steps(2)()
