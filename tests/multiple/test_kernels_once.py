"""A combined test evaluates every distinct kernel once, and finds its bandwidth once."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from shrinktest import Gaussian, independence_test, two_sample_test
from shrinktest.kernels.distance import DistanceKernel

RNG = np.random.default_rng(4)
X, Y = RNG.normal(size=(12, 2)), RNG.normal(size=(12, 2))
OPTIONS = {"n_resamples": 19, "rng": 0, "workers": 1}


def half(gram):
    return np.full(len(gram), 0.5 / len(gram))


CASES = {
    "list": (lambda: two_sample_test(X, Y, estimator=["kme", "skmse", half, "landweber"], **OPTIONS), 1),
    "bandwidths": (lambda: two_sample_test(X, Y, estimator=["kme", "skmse"], bandwidth=["median", 0.7], **OPTIONS), 2),
    "one kernel twice": (lambda: two_sample_test(X, Y, estimator=["kme", half], kernel=Gaussian(), **OPTIONS), 1),
    "auto": (lambda: two_sample_test(X, Y, estimator="auto", **OPTIONS), 3),
    "pairs": (lambda: independence_test(X, Y, estimator=["kme", "skmse", half], **OPTIONS), 2),
    "auto of pairs": (lambda: independence_test(X, Y, estimator="auto", **OPTIONS), 6),
}


@pytest.mark.parametrize("case", CASES)
def test_every_distinct_kernel_is_evaluated_and_resolved_once(case, monkeypatch):
    counted = Counter()
    evaluate, resolve = DistanceKernel._in_threads, DistanceKernel.resolve

    def in_threads(kernel, points, threads):
        counted["Gram matrices"] += 1
        return evaluate(kernel, points, threads)

    def resolved(kernel, points, rng=None):
        counted["bandwidths"] += 1
        return resolve(kernel, points, rng)

    monkeypatch.setattr(DistanceKernel, "_in_threads", in_threads)
    monkeypatch.setattr(DistanceKernel, "resolve", resolved)
    run, kernels = CASES[case]
    run()
    assert counted == {"Gram matrices": kernels, "bandwidths": kernels}
