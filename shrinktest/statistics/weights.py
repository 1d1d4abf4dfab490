"""Weights of the observations in the estimates of all parts of a partition, each fitted to its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from shrinktest.estimators import Landweber, MeanEstimator
from shrinktest.estimators.spectral import SpectralEstimator
from shrinktest.estimators.standard import ScaledMean
from shrinktest.statistics.block_sums import sums_of
from shrinktest.statistics.gram import Gram
from shrinktest.statistics.products import members_of, times


def weights_of(
    estimator: MeanEstimator, gram: Gram, sizes: tuple[int, ...], tuning: str, workers: int = 1
) -> Callable[[np.ndarray], np.ndarray]:
    """A function from labels (B, N) to the weights (B, N) of the estimates of all parts, each fitted to its own."""
    return _WEIGHTS[estimator.needs](estimator, gram, sizes, tuning == "joint", workers)


def _equal(
    estimator: ScaledMean, gram: Gram, sizes: tuple[int, ...], joint: bool, workers: int
) -> Callable[[np.ndarray], np.ndarray]:
    blocks_of, n = sums_of(gram, sizes, workers), np.asarray(sizes, dtype=np.float64)

    def weigh(labels: np.ndarray) -> np.ndarray:
        factors = scales(estimator, *blocks_of(labels), sizes, "joint" if joint else "sample") / n
        return np.take_along_axis(factors, labels.astype(np.intp), axis=1)

    return weigh


def _by_function(
    estimator: MeanEstimator, gram: Gram, sizes: tuple[int, ...], joint: bool, workers: int
) -> Callable[[np.ndarray], np.ndarray]:
    matrix = gram.matrix(workers)

    def weigh(labels: np.ndarray) -> np.ndarray:
        out = np.empty(labels.shape)
        for row, found in zip(labels, out, strict=True):
            for p in range(len(sizes)):
                members = np.flatnonzero(row == p)
                found[members] = estimator.checked_weights(matrix[members[:, None], members])
        return out

    return weigh


def _filtered(
    estimator: SpectralEstimator, gram: Gram, sizes: tuple[int, ...], joint: bool, workers: int
) -> Callable[[np.ndarray], np.ndarray]:
    for size in sizes:
        estimator.check_size(size)
    z = gram.few_coordinates()
    if z is not None and not z.shape[1]:  # the features are all zero
        z = None
    if z is None and estimator.few_steps:
        return _stepped(cast(Landweber, estimator), gram.matrix(workers), sizes)
    from shrinktest._compiled.partitions import part_weights

    each = [estimator.amounts(size) for size in ((max(sizes),) if joint else sizes)]
    starts = np.concatenate([[0], np.cumsum([len(amounts) for amounts in each])]).astype(np.int64)
    fixed = np.array(sizes), estimator.theta(), np.concatenate(each), starts, joint, *estimator.loops()
    none = np.empty((len(gram.points), 0))
    if z is None:
        matrix = gram.matrix(workers)

        def dense(labels: np.ndarray) -> np.ndarray:
            out = np.empty(labels.shape)
            sums = np.empty((len(sizes) - 1, len(labels), 0))
            part_weights(matrix, none, sums, np.empty(0), labels, *fixed, out)
            return out

        return dense
    from shrinktest._compiled.sums import octets_of, product_sums

    z, rank = np.ascontiguousarray(z), z.shape[1]
    # all products of coordinates, and the coordinates themselves as their products with 1
    with_one = np.hstack([z, np.ones((len(z), 1))])
    left, right = (index[:-1].astype(np.uint64) for index in np.tril_indices(rank + 1))
    whole = np.concatenate([(z.T @ z)[np.tril_indices(rank)], z.sum(axis=0)])

    def by_coordinates(labels: np.ndarray) -> np.ndarray:
        out, sums = np.empty(labels.shape), np.empty((len(sizes) - 1, len(labels), left.size))
        for p, packed in enumerate(sums):
            product_sums(with_one, left, right, octets_of(labels == p), packed)
        part_weights(np.empty((0, 0)), z, sums, whole, labels, *fixed, out)
        return out

    return by_coordinates


def _stepped(estimator: Landweber, matrix: np.ndarray, sizes: tuple[int, ...]) -> Callable[[np.ndarray], np.ndarray]:
    """Weights of a few gradient steps, which are products with the Gram matrix for all relabellings at once."""
    diagonal = np.diagonal(matrix)

    def weigh(labels: np.ndarray) -> np.ndarray:
        out = np.empty(labels.shape)
        for p, n in enumerate(sizes):
            members = members_of(labels, p)
            largest = (members * diagonal).max(axis=1, keepdims=True)

            def image(rows: np.ndarray, members: np.ndarray = members) -> np.ndarray:
                return members * times(rows, matrix)

            found = estimator.descend(image, members / n, n, largest)
            np.copyto(out, found, where=labels == p)
        return out

    return weigh


def scales(
    estimator: ScaledMean, sums: np.ndarray, traces: np.ndarray, sizes: tuple[int, ...], tuning: str
) -> np.ndarray:
    """The factors (B, k) by which the estimator scales the means of the parts."""
    own = [(sums[:, p, p], traces[:, p], size) for p, size in enumerate(sizes)]
    joint = estimator.scale(*own) if tuning == "joint" else None
    return np.stack([estimator.scale(one) if joint is None else joint for one in own], axis=1)


#: By what a fit needs of a sample.
_WEIGHTS: dict[str, Callable[..., Callable[[np.ndarray], np.ndarray]]] = {
    "sums": _equal,
    "filter": _filtered,
    "function": _by_function,
}
