"""dHSIC and its shrinkage relatives for every estimator, as a function of shuffles of the variables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import KME, MeanEstimator
from shrinktest.kernels import Kernel
from shrinktest.kernels.inner import CentredProduct
from shrinktest.permutations.null import TIE
from shrinktest.statistics.features import LAST_BITS
from shrinktest.statistics.hsic import notes_on
from shrinktest.statistics.kernel_cache import KernelCache, Request
from shrinktest.statistics.memory_limits import check_memory
from shrinktest.statistics.refit import Moments, estimated_norm
from shrinktest.statistics.statistic import Prepared, margins, runs_compiled

#: Gram matrices (d, n, n), their row means (d, n), and the means (d,) of all entries.
Centre = tuple[np.ndarray, np.ndarray, np.ndarray]


def prepare(
    estimator: MeanEstimator, kernels: tuple[Kernel, ...], variables: list[np.ndarray], cache: KernelCache
) -> Prepared:
    """Prepare the statistic of an estimator and a kernel for each variable (n, p_l), of shuffles (B, d - 1, n)."""
    tuned, n = margins(estimator, kernels, variables), len(variables[0])
    smoothed = tuple(one.features(kernel, z) for one, kernel, z in zip(tuned, kernels, variables, strict=True))
    check_memory(n, len(variables), cache.limits.memory)
    request = Request(by_coordinates=False, kernels=len(variables))
    features = [cache(kernel, z, request) for kernel, z in zip(smoothed, variables, strict=True)]
    if len(features) == 2:  # without main effects, they do not depend on where the features of the variables lie
        features = [one.about_mean(cache.limits.memory) for one in features]
    grams = np.ascontiguousarray(np.stack([one.matrix() for one in features]))
    rows = np.ascontiguousarray(grams.mean(axis=1))
    centre: Centre = (grams, rows, rows.mean(axis=1))
    size = float(np.prod([np.linalg.norm(gram) / n for gram in grams]))  # of the products of kernel values that cancel

    def moments(shuffles: np.ndarray) -> Moments:
        from shrinktest.statistics.dhsic_loops import shuffle_sums

        out = np.empty((len(shuffles), 3))
        shuffle_sums(*centre, shuffles, out)
        return out[:, 0], out[:, 1], out[:, 2] / n**2

    def gram_matrices(shuffles: np.ndarray) -> np.ndarray:
        return np.stack([_gram(centre, shuffles, r) for r in range(len(shuffles))])

    return Prepared(
        statistic=estimated_norm(estimator, n, moments, gram_matrices, TIE * size, LAST_BITS * size),
        estimates=lambda: (_estimate(tuned, kernels, smoothed, variables, centre),),
        kernel=kernels,
        route="dense",
        notes=notes_on(estimator, n, "shuffle", "HSIC" if len(variables) == 2 else "dHSIC"),
        threads=runs_compiled(estimator),
    )


def _gram(centre: Centre, shuffles: np.ndarray, r: int) -> np.ndarray:
    """Gram matrix (n, n) of the features without main effects under shuffle r."""
    from shrinktest.statistics.dhsic_loops import feature_gram

    gram = np.empty(centre[0].shape[1:])
    feature_gram(*centre, shuffles, r, gram)
    return gram


def _estimate(
    estimators: tuple[MeanEstimator, ...],
    kernels: tuple[Kernel, ...],
    smoothed: tuple[Kernel, ...],
    variables: list[np.ndarray],
    centre: Centre,
) -> MeanEmbedding:
    estimator, n = estimators[0], len(variables[0])
    points = np.hstack(variables)
    joint = CentredProduct(smoothed, points, tuple(z.shape[1] for z in variables))
    if estimator.smooths:  # the features are smoothed already; their weights are equal
        amounts = tuple(
            one.embed(z, kernel).shrinkage for one, z, kernel in zip(estimators, variables, kernels, strict=True)
        )
        return replace(KME().embed(points, joint), shrinkage=amounts)
    if estimator.weighs_all_alike((n,)):
        return estimator.embed(points, joint)
    weights, amount = estimator._solve(_gram(centre, np.tile(np.arange(n), (1, len(variables) - 1, 1)), 0))
    return MeanEmbedding(points, weights, joint, amount)
