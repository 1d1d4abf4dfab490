"""How fast the tests are, as ratios to what one would write in numpy, and to another package.

Not part of the default run: `pytest tests/benchmarks/bench_core.py`.  Every contender gets 100 + 100 points in ten
dimensions and 999 permutations, and the answers must agree before their times are compared.  The package runs on one
core and, as it does by default, on all; the others do best on one.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from shrinktest import two_sample_test

SIZE, COLUMNS, RESAMPLES = 100, 10, 999
X, Y = (
    np.random.default_rng(0).normal(size=(SIZE, COLUMNS)),
    1.1 * np.random.default_rng(1).normal(size=(SIZE, COLUMNS)),
)
CORES = {1: "one core", None: "all cores"}


def run(estimator, workers=1):
    return two_sample_test(X, Y, estimator=estimator, n_resamples=RESAMPLES, rng=0, workers=workers)


# ------------------------------------------------------------------------------------------ F-KMSE in numpy

GRID = SIZE * np.logspace(-6.0, 3.0, 64)  # lam on the scale of a Gram matrix with ones on its diagonal


def decompose(gram):
    """Eigenvalues, eigenvectors, and the sum of all features in their coordinates."""
    values, vectors = np.linalg.eigh(gram)
    return np.maximum(values, 0.0), vectors, vectors.sum(axis=0)


def score(n, lam, sums):
    """Mean squared miss of every left-out point, from the ridge G = (K + lam)^-1 and b = e - lam G e.

    `sums` are diag G, diag G^2, b, K b, G b and b'K b; b is n times the weights.
    """
    leverage, square, b, kb, gb, norm = sums
    c = (1.0 - b) / leverage
    cross = (kb - 1.0 + c * (1.0 - lam * leverage)) / (n - 1)
    quad = norm + 1.0 + c**2 * (leverage - lam * square) - 2.0 * kb + 2.0 * c * (b - lam * gb)
    return (1.0 - 2.0 * cross + (quad - 2.0 * c * (1.0 - lam * leverage)) / (n - 1) ** 2).mean(axis=0)


def scores_in_a_loop(values, vectors, e):
    """The score of one lam after the other."""
    found = np.empty(GRID.size)
    squares = vectors**2
    for g, lam in enumerate(GRID):
        ridge = 1.0 / (values + lam)
        b = values * ridge * e
        sums = [squares @ ridge, squares @ ridge**2, *(vectors @ u for u in (b, values * b, ridge * b))]
        found[g] = score(len(values), lam, (*sums, b @ (values * b)))
    return found


def scores_at_once(values, vectors, e):
    """The same as five matrix products."""
    ridge = 1.0 / (values[:, None] + GRID)
    b = values[:, None] * ridge * e[:, None]
    squares = vectors**2
    norm = values @ b**2
    sums = [squares @ ridge, squares @ ridge**2, vectors @ b, vectors @ (values[:, None] * b), vectors @ (ridge * b)]
    return score(len(values), GRID, (*sums, norm))


def weights(gram, scores_of):
    """Retuned weights; the plain mean and the zero estimate are candidates, too."""
    n = len(gram)
    values, vectors, e = decompose(gram)
    plain = (n / (n - 1)) ** 2 * (1.0 - gram.mean())
    scores = np.concatenate([[plain], scores_of(values, vectors, e), [1.0]])
    best = int(np.flatnonzero(scores <= scores.min() + 1e-9)[0])
    if best in (0, GRID.size + 1):
        return np.full(n, (best == 0) / n)
    return vectors @ (values / (values + GRID[best - 1]) * e) / n


def naive(scores_of):
    """p-value of the test, an eigendecomposition per sample and split."""
    squares = pdist(np.vstack([X, Y]), "sqeuclidean")
    gram = squareform(np.exp(-squares / (2.0 * np.median(squares)))) + np.eye(2 * SIZE)
    observed = np.arange(2 * SIZE) < SIZE
    draws = np.random.default_rng(0).permuted(np.tile(observed, (RESAMPLES, 1)), axis=1)
    statistics = []
    for mask in (observed, *draws):
        xx, yy, xy = gram[mask][:, mask], gram[~mask][:, ~mask], gram[mask][:, ~mask]
        w, v = weights(xx, scores_of), weights(yy, scores_of)
        statistics.append(w @ xx @ w + v @ yy @ v - 2.0 * (w @ xy @ v))
    return np.array(statistics)


@pytest.mark.parametrize(
    ("scores_of", "workers", "least"),
    [
        (scores_in_a_loop, 1, 1.0),
        (scores_in_a_loop, None, 5.0),
        (scores_at_once, 1, 1.0),
        (scores_at_once, None, 1.0),
    ],
    ids=["loop, one core", "loop", "at once, one core", "at once"],
)
def test_fkmse_retuned_in_every_permutation(race, scores_of, workers, least):
    # more threads only slow numpy down on matrices this small, above all where cores are busy
    with pytest.importorskip("threadpoolctl").threadpool_limits(1):
        result, statistics = run("fkmse"), naive(scores_of)
        np.testing.assert_allclose(result.statistic, statistics[0], rtol=1e-7)
        np.testing.assert_allclose(result.null_distribution, statistics[1:], rtol=1e-5, atol=1e-9)
        ours = f"fkmse, {CORES[workers]}"
        ratio = race(ours, lambda: run("fkmse", workers), f"numpy, {scores_of.__name__}", lambda: naive(scores_of))
    assert ratio >= least


# ----------------------------------------------------------------------------------------- another package


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("workers", [1, None], ids=["one core", "all cores"])
def test_kme(race, workers):
    mmd = pytest.importorskip("hyppo.ksample").MMD

    def theirs():
        return mmd().test(X, Y, reps=RESAMPLES, auto=False, random_state=0)

    assert run("kme").pvalue == pytest.approx(theirs()[1], abs=0.03)
    assert race(f"kme, {CORES[workers]}", lambda: run("kme", workers), "hyppo, MMD", theirs) >= 50.0
