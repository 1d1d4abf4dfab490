"""Every estimator, both tests, by size: compiled against the numpy loop, one core each, per relabelling."""

from __future__ import annotations

import loops
import numpy as np
import pytest
import samples

from shrinktest import FKMSE, independence_test, two_sample_test
from shrinktest.estimators import ESTIMATORS

LOOPS = [*ESTIMATORS, "fkmse, averaged"]
TESTS = {
    "two-sample": (two_sample_test, samples.two, loops.two_sample, samples.splits),
    "independence": (independence_test, samples.pair, loops.independence, samples.pairings),
}
#: Relabellings that the numpy loop takes, by size: those by deletion decompose n matrices in each.  With more than 2000
#: points the package takes the median over some of them, which the loop does not.
QUICK = {10: 200, 30: 200, 100: 100, 300: 20, 1000: 10}
SLOW = {10: 20, 30: 10, 100: 2, 300: 1}
BY_DELETION = ("landweber", "nu", "iterated_tikhonov")
SIZES = [(name, n) for name in LOOPS for n in QUICK if n <= 300 or name == "kme"]


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize(("name", "n"), SIZES)
def test_against_numpy(race, threads, tiny, test, name, n):
    verb, data, loop, drawn = TESTS[test]
    resamples = tiny(999 if n <= 100 or name in ("kme", "skmse") else 99, 39)
    points, rows = tiny(n), tiny((SLOW if name in BY_DELETION else QUICK)[n], 2)
    rows = min(rows, resamples + 1)
    X, Y = data(points, 2)
    estimator = FKMSE(loo="averaged") if name == "fkmse, averaged" else ESTIMATORS[name]()
    chosen = drawn(points, rows, resamples)
    threads(1)

    def agree(ours, theirs):
        rtol = 1e-3 if name == "mmkme" else 1e-4  # amounts of many coordinates, where the score is flat
        np.testing.assert_allclose(ours.statistic, theirs[0], rtol=rtol, atol=1e-9)
        np.testing.assert_allclose(ours.null_distribution[: rows - 1], theirs[1:], rtol=rtol, atol=1e-8)

    race(
        "numpy",
        f"{name}, {test}, n = {n}, 2-d",
        (f"B = {resamples}", lambda: verb(X, Y, estimator=estimator, n_resamples=resamples, rng=0, workers=1)),
        (f"numpy loop, {rows} relabellings, scaled", lambda: loop(X, Y, chosen, name)),
        agree,
        scale=(resamples + 1) / rows,
    )
