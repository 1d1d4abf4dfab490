"""Other packages' tests, one function each: (X, Y, resamples, workers) -> (statistic, p-value)."""

from __future__ import annotations

import importlib
from functools import partial

import loops
import numpy as np
from scipy import stats
from scipy.spatial.distance import pdist


def hyppo_mmd(X, Y, resamples, workers):
    from hyppo.ksample import MMD

    result = MMD(bias=True).test(X, Y, reps=resamples, workers=workers, auto=False, random_state=0)
    return result[0], result[1]


def hyppo_hsic(X, Y, resamples, workers):
    from hyppo.independence import Hsic

    result = Hsic(bias=True).test(X, Y, reps=resamples, workers=workers, auto=False, random_state=0)
    return result[0], result[1]


def dcor_energy(X, Y, resamples, workers):
    import dcor

    result = dcor.homogeneity.energy_test(X, Y, num_resamples=resamples, random_state=0, n_jobs=workers)
    return float(result.statistic), result.pvalue


def dcor_covariance(X, Y, resamples, workers):
    import dcor

    result = dcor.independence.distance_covariance_test(X, Y, num_resamples=resamples, random_state=0, n_jobs=workers)
    return float(result.statistic), result.pvalue


def frouros_mmd(X, Y, resamples, workers):
    from frouros.callbacks import PermutationTestDistanceBased
    from frouros.detectors.data_drift import MMD
    from frouros.utils.kernels import rbf_kernel

    permutations = PermutationTestDistanceBased(
        num_permutations=resamples, num_jobs=workers, method="conservative", random_state=0
    )
    sigma = float(np.sqrt(np.median(pdist(np.vstack([X, Y]), "sqeuclidean"))))  # the median heuristic, as ours
    detector = MMD(kernel=partial(rbf_kernel, sigma=sigma), callbacks=permutations)
    detector.fit(X)
    found, logs = detector.compare(Y)
    return found.distance, logs["PermutationTestDistanceBased"]["p_value"]


def mmdagg():
    """MMDAgg of the leaderboard, with as many permutations again for its level; it decides, and has no p-value."""
    import _rivals

    def decide(X, Y, resamples, workers):
        rejected = _rivals.mmdagg(X, Y, 0.05, np.random.default_rng(0), resamples)
        return float(rejected), 0.05 if rejected else 1.0

    return decide


def scipy_mmd(X, Y, resamples, workers):
    m, gram = len(X), loops.gaussian(np.vstack([X, Y]))

    def statistic(i, j):
        i, j = i.astype(int), j.astype(int)
        return gram[np.ix_(i, i)].mean() + gram[np.ix_(j, j)].mean() - 2.0 * gram[np.ix_(i, j)].mean()

    rows = np.arange(m), np.arange(m, m + len(Y))
    return _scipy(rows, statistic, resamples, "independent")


def scipy_hsic(X, Y, resamples, workers):
    left, right = loops.centred(loops.gaussian(X)), loops.centred(loops.gaussian(Y))

    def statistic(i):
        i = i.astype(int)
        return (left * right[np.ix_(i, i)]).sum() / len(i) ** 2

    return _scipy((np.arange(len(X)),), statistic, resamples, "pairings")


def _scipy(rows, statistic, resamples, kind):
    result = stats.permutation_test(
        rows,
        statistic,
        permutation_type=kind,
        n_resamples=resamples,
        alternative="greater",
        vectorized=False,
        random_state=0,
    )
    return result.statistic, result.pvalue


#: Name: (the function, the package it needs, the test of ours, the form with which statistics are equal).
PEERS = {
    "hyppo MMD": (hyppo_mmd, "hyppo", "two-sample", None),
    "dcor energy_test": (dcor_energy, "dcor", "two-sample", None),
    "frouros MMD": (frouros_mmd, "frouros", "two-sample", "unbiased"),
    "scipy permutation_test, MMD": (scipy_mmd, "scipy", "two-sample", "biased"),
    "hyppo Hsic": (hyppo_hsic, "hyppo", "independence", None),
    "dcor distance_covariance_test": (dcor_covariance, "dcor", "independence", None),
    "scipy permutation_test, HSIC": (scipy_hsic, "scipy", "independence", "biased"),
}


def peer(name):
    """The function of a peer; ImportError where its package is not installed (extra `benchmark`)."""
    run, package, _, _ = PEERS[name]
    importlib.import_module(package)
    return run
