"""The numpy loops compute what the literal twins compute, and what the package computes: a race is between equals."""

from __future__ import annotations

import contenders
import numpy as np
import pytest
import samples

import refits
from shrinktest import FKMSE, independence_test, two_sample_test
from shrinktest.estimators import ESTIMATORS

X, Y = samples.two(8, 2)
GRAM = contenders.gaussian(np.vstack([X, Y]))[:9, :9]
PAIRS = contenders.centered(contenders.gaussian(X)) * contenders.centered(contenders.gaussian(Y))
CASES = [
    (name, "fkmse, averaged" if loo == "averaged" else name, loo)
    for name in ESTIMATORS
    for loo in ("deletion",)
]
CASES.append(("fkmse", "fkmse, averaged", "averaged"))


def estimator(name, loo):
    return FKMSE(loo="averaged") if loo == "averaged" else ESTIMATORS[name]()


@pytest.mark.parametrize("gram", [GRAM, PAIRS], ids=["sample", "pairs"])
@pytest.mark.parametrize(("name", "loop", "loo"), [case for case in CASES if "mkme" not in case[0]])
def test_loops_agree_with_their_twins(name, loop, loo, gram):
    np.testing.assert_allclose(
        contenders.WEIGHTS[loop](gram),
        refits.weights(estimator(name, loo), gram),
        rtol=1e-5,
        atol=1e-9,
    )


@pytest.mark.parametrize(("name", "loop", "loo"), CASES)
def test_loops_agree_with_the_package(name, loop, loo):
    est, options = estimator(name, loo), {"n_resamples": 39, "rng": 0, "workers": 1}
    for verb, loop_of, drawn in (
        (two_sample_test, contenders.two_sample, samples.splits),
        (independence_test, contenders.independence, samples.pairings),
    ):
        result = verb(X, Y, estimator=est, **options)
        expected = loop_of(X, Y, drawn(8, 40, 39), loop)
        np.testing.assert_allclose(result.statistic, expected[0], rtol=1e-4, atol=1e-9)
        np.testing.assert_allclose(result.null_distribution, expected[1:], rtol=1e-4, atol=1e-8)
