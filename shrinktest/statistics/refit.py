"""Fit an estimator anew in every permutation: the one road for all estimators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import cast

import numpy as np

from shrinktest.estimators import MeanEstimator
from shrinktest.estimators.mean_estimator import Samples
from shrinktest.estimators.scaled import ScaledMean
from shrinktest.permutations.null import TIE, Statistic
from shrinktest.statistics.block_sums import sums_of
from shrinktest.statistics.gram import Gram
from shrinktest.statistics.products import left_over, without_specks

_ROOM = 2**16  # numbers of the samples that are fitted at a time: few enough to stay in the cache


def refit(
    estimator: MeanEstimator,
    samples: Callable[[np.ndarray], Sequence[Samples]],
    permuted: np.ndarray,
    entries: int,
    joint: bool = False,
) -> Iterator[tuple[slice, Sequence[Samples], list[np.ndarray]]]:
    """Fit an estimator to the samples of every permutation; yield some rows, their samples, and the weights (B, n).

    ``samples`` turns rows of ``permuted`` into the samples, which have ``entries`` numbers for each row.  ``joint``:
    one amount of shrinkage for all samples of a row.
    """
    step = max(1, _ROOM // entries)
    for start in range(0, len(permuted), step):
        rows = slice(start, start + step)
        stacks = samples(permuted[rows])
        yield rows, stacks, estimator.fit_samples(stacks, joint)


def part_weights(
    estimator: MeanEstimator, gram: Gram, sizes: tuple[int, ...], tuning: str, workers: int = 1
) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function from labels (B, N) to the weights (B, N) of the estimates of all parts of a partition."""
    if estimator.needs == "sums":  # without the samples themselves, which may be large
        blocks_of = sums_of(gram, sizes, workers)

        def scaled(labels: np.ndarray) -> np.ndarray:
            factors = scales(cast(ScaledMean, estimator), *blocks_of(labels), sizes, tuning)
            return np.take_along_axis(factors / np.array(sizes), labels.astype(np.intp), axis=1)

        return scaled
    for size in sizes:
        estimator.check_size(size)
    z = gram.few_coordinates() if estimator.by_coordinates else None
    if z is not None and not z.shape[1]:  # all features are zero
        z = None
    values, ends = gram.matrix(workers) if z is None else np.ascontiguousarray(z), np.cumsum(sizes)

    def samples(order: np.ndarray) -> list[Samples]:
        members = np.split(order, ends[:-1], axis=1)
        if z is not None:
            return [Samples(values[rows], by_coordinates=True) for rows in members]
        return [Samples(values[rows[:, :, None], rows[:, None, :]]) for rows in members]

    entries = sum(size * (size if z is None else z.shape[1]) for size in sizes)

    def weigh(labels: np.ndarray) -> np.ndarray:
        order, out = np.argsort(labels, axis=1, kind="stable"), np.empty(labels.shape)
        for rows, _, weights in refit(estimator, samples, order, entries, tuning == "joint"):
            np.put_along_axis(out[rows], order[rows], np.concatenate(weights, axis=1), axis=1)
        return out

    return weigh


def refitted_norm(
    estimator: MeanEstimator,
    grams: Callable[[np.ndarray], np.ndarray],
    n: int,
    nothing: float = 0.0,
    rounding: float = 0.0,
) -> Statistic:
    """Return the squared norm w'Gw of the estimated mean of n features as a function of permutations.

    ``grams`` turns permutations (B, ...) into Gram matrices (B, n, n).  The plain mean of features that cancel is zero
    but for rounding errors, up to ``nothing``, and so are its estimates.  ``rounding`` is what rounding may change in
    an entry of G, in units of what a tie is relative to.
    """
    estimator.check_size(n)

    def statistic(permuted: np.ndarray) -> np.ndarray:
        out = np.empty((len(permuted), 2))
        for rows, (stack,), (weights,) in refit(estimator, lambda some: (Samples(grams(some)),), permuted, n * n):
            lengths, plain = np.abs(weights), np.abs(stack.values.mean(axis=(1, 2)))
            value = _quadratic(stack.values, weights)
            value[(plain <= nothing) & (np.abs(value) <= nothing)] = 0.0
            terms = _quadratic(np.abs(stack.values), lengths) * left_over(plain, nothing)
            out[rows, 0], out[rows, 1] = value, terms + rounding * lengths.sum(axis=1) ** 2
        return without_specks(out, nothing / TIE) if estimator.projects else out

    return statistic


def _quadratic(grams: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return np.asarray(((grams @ weights[:, :, None])[:, :, 0] * weights).sum(axis=1))


def scales(
    estimator: ScaledMean, sums: np.ndarray, traces: np.ndarray, sizes: tuple[int, ...], tuning: str
) -> np.ndarray:
    """Return the factors (B, k) by which an estimator scales the means of the parts."""
    own = [(sums[:, p, p], traces[:, p], size) for p, size in enumerate(sizes)]
    joint = estimator.scale(*own) if tuning == "joint" else None
    return np.stack([estimator.scale(one) if joint is None else joint for one in own], axis=1)
