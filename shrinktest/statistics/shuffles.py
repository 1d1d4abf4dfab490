"""dHSIC and its shrinkage relatives for every estimator, as a function of shuffles of the variables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import KME, MeanEstimator
from shrinktest.kernels import Kernel
from shrinktest.kernels.inner import CentredProduct
from shrinktest.permutations.null import TIE, Statistic
from shrinktest.statistics.centred import LAST_BITS
from shrinktest.statistics.gram import Grams
from shrinktest.statistics.outlook import check_memory
from shrinktest.statistics.prepared import Prepared, margins, runs_compiled
from shrinktest.statistics.refit import refitted_norm


def prepare(
    estimator: MeanEstimator,
    kernels: tuple[Kernel, ...],
    variables: list[np.ndarray],
    grams: Grams,
) -> Prepared:
    """The statistic of an estimator and a kernel for each variable (n, p_l)."""
    tuned = margins(estimator, kernels, variables)
    features = tuple(one.features(kernel, z) for one, kernel, z in zip(tuned, kernels, variables, strict=True))
    check_memory(len(variables[0]), len(variables), grams.options["memory"])
    wishes = {"kernels": len(variables), "by_coordinates": False}
    found = [grams(kernel, z, **wishes) for kernel, z in zip(features, variables, strict=True)]
    if len(found) == 2:  # whose features without main effects do not depend on where those of the variables lie
        found = [gram.seen_from_mean(grams.options["memory"]) for gram in found]
    centre = _centre([gram.matrix() for gram in found])
    return Prepared(
        statistic=_shuffle_statistic(estimator, centre),
        estimates=lambda: (_estimate(tuned, kernels, features, variables, centre),),
        kernel=kernels,
        route="dense",
        notes=_notes(estimator, len(variables), len(variables[0])),
        threads=runs_compiled(estimator),
    )


def _centre(matrices: list[np.ndarray]) -> tuple[np.ndarray, ...]:
    """The Gram matrices (d, n, n), their row means (d, n) and the means (d,) of all their entries."""
    grams = np.ascontiguousarray(np.stack(matrices))
    rows = np.ascontiguousarray(grams.mean(axis=1))
    return grams, rows, rows.mean(axis=1)


def _shuffle_statistic(estimator: MeanEstimator, centre: tuple[np.ndarray, ...]) -> Statistic:
    """The statistic as a function of shuffles, (B, d - 1, n) permutations to (B, 2)."""
    if estimator.needs in ("sums", "noise"):  # noise was tuned on the margins
        return _of_sums(estimator, *centre)

    def grams(shuffles: np.ndarray) -> np.ndarray:
        return np.stack([_feature_gram(centre, shuffles, r) for r in range(len(shuffles))])

    return refitted_norm(estimator, grams, centre[1].shape[1], *_limits(centre[0]))


def _of_sums(estimator: Any, *centre: np.ndarray) -> Statistic:
    from shrinktest._compiled.joint import shuffle_sums

    n = centre[1].shape[1]

    def statistic(shuffles: np.ndarray) -> np.ndarray:
        out = np.empty((len(shuffles), 3))
        shuffle_sums(*centre, shuffles, out)
        total, trace, cancelling = out.T
        factor = estimator.scale((total, trace, n)) ** 2
        return np.stack([factor * total, np.maximum(factor, TIE) * cancelling], axis=1) / n**2

    return statistic


def _feature_gram(centre: tuple[np.ndarray, ...], shuffles: np.ndarray, r: int) -> np.ndarray:
    """The Gram matrix (n, n) of the features without main effects under shuffle r."""
    from shrinktest._compiled.joint import feature_gram

    gram = np.empty(centre[0].shape[1:])
    feature_gram(*centre, shuffles, r, gram)
    return gram


def _limits(grams: np.ndarray) -> tuple[float, float]:
    """``nothing`` and ``rounding`` of a squared norm, from the size of the products of kernel values that cancel."""
    size = float(np.prod([np.linalg.norm(gram) / len(gram) for gram in grams]))
    return TIE * size, LAST_BITS * size


def _estimate(
    estimators: tuple[MeanEstimator, ...],
    kernels: tuple[Kernel, ...],
    features: tuple[Kernel, ...],
    variables: list[np.ndarray],
    centre: tuple[np.ndarray, ...],
) -> MeanEmbedding:
    estimator, n = estimators[0], len(variables[0])
    points = np.hstack(variables)
    joint = CentredProduct(features, points, tuple(z.shape[1] for z in variables))
    if estimator.smooths:  # the features are smoothed already; their weights are equal
        amounts = tuple(
            one.embed(z, kernel).shrinkage for one, z, kernel in zip(estimators, variables, kernels, strict=True)
        )
        return replace(KME().embed(points, joint), shrinkage=amounts)
    if estimator.weighs_all_alike((n,)):
        return estimator.embed(points, joint)
    as_it_is = np.tile(np.arange(n), (1, len(variables) - 1, 1))
    weights, amount = estimator._solve(_feature_gram(centre, as_it_is, 0))
    return MeanEmbedding(points, weights, joint, amount)


def _notes(estimator: MeanEstimator, variables: int, n: int) -> tuple[str, ...]:
    if estimator.scales_all_alike((n,)):
        return (
            "One shrinkage amount for every shuffle multiplies the statistic by a constant: the p-value is that of "
            f"estimator='kme' ({'HSIC' if variables == 2 else 'dHSIC'}).",
        )
    if estimator.smooths:
        return (
            "The noise of a variable does not change with the shuffles: this is the test of estimator='kme' with wider "
            "kernels, bandwidth^2 + 2 variance.",
        )
    return ()
