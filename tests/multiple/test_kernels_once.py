"""A combined test evaluates every distinct kernel once, and finds every bandwidth once."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from shrinktest import Gaussian, independence_test, k_sample_test, two_sample_test
from shrinktest.kernels.distance import DistanceKernel

RNG = np.random.default_rng(4)
X, Y = RNG.normal(size=(12, 2)), RNG.normal(size=(12, 2))
OPTIONS = {"n_resamples": 19, "rng": 0, "workers": 1}


def half(gram):
    return np.full(len(gram), 0.5 / len(gram))


#: A test, the rows whose Gram matrix it takes, and how many kernels there are, and bandwidths to be found: multiples of
#: one share it.
CASES = {
    "list": (lambda: two_sample_test(X, Y, estimator=["kme", "skmse", half, "landweber"], **OPTIONS), 24, 1, 1),
    "bandwidths": (
        lambda: two_sample_test(X, Y, estimator=["kme", "skmse"], bandwidth=["median", 0.7], **OPTIONS), 24, 2, 1,
    ),
    "multiples": (
        lambda: two_sample_test(X, Y, bandwidth=["0.5 * median", "median", "2 * median"], **OPTIONS), 24, 3, 1,
    ),
    "one kernel twice": (
        lambda: two_sample_test(X, Y, estimator=["kme", half], kernel=Gaussian(), **OPTIONS), 24, 1, 1,
    ),
    "auto": (lambda: two_sample_test(X, Y, estimator="auto", **OPTIONS), 24, 6, 4),
    "auto of three": (lambda: k_sample_test(X[:6], X[6:], Y, estimator="auto", **OPTIONS), 24, 6, 4),
    "pairs": (lambda: independence_test(X, Y, estimator=["kme", "skmse", half], **OPTIONS), 12, 2, 2),
    "auto of pairs": (lambda: independence_test(X, Y, estimator="auto", **OPTIONS), 12, 12, 6),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_every_distinct_kernel_is_evaluated_and_resolved_once(case, monkeypatch):
    run, rows, kernels, bandwidths = CASES[case]
    counted = Counter()
    evaluate, resolve = DistanceKernel.block, DistanceKernel.resolve

    def values(kernel, points, others, *threads):
        counted["Gram matrices"] += points is others and len(points) == rows
        return evaluate(kernel, points, others, *threads)

    def resolved(kernel, points, rng=None):
        counted["bandwidths"] += isinstance(kernel.bandwidth, str)
        return resolve(kernel, points, rng)

    monkeypatch.setattr(DistanceKernel, "block", values)
    monkeypatch.setattr(DistanceKernel, "resolve", resolved)
    run()
    assert counted == {"Gram matrices": kernels, "bandwidths": bandwidths}
