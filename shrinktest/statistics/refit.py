"""Fit an estimator anew in every permutation: the one road for all estimators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import cast

import numpy as np

from shrinktest.estimators import MeanEstimator
from shrinktest.estimators.mean_estimator import Samples
from shrinktest.estimators.scaled import ScaledMean
from shrinktest.permutations.null import TIE, Statistic
from shrinktest.statistics.features import Features
from shrinktest.statistics.sums import left_over, sums_of, without_specks

#: Sum and trace (B,) of Gram matrices, and the size of the terms that cancel in the sum, over n^2.
Moments = tuple[np.ndarray, np.ndarray, np.ndarray | float]

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
    estimator: MeanEstimator, gram: Features, sizes: tuple[int, ...], tuning: str, workers: int = 1
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


def estimated_norm(
    estimator: MeanEstimator,
    n: int,
    moments: Callable[[np.ndarray], Moments] | None,
    grams: Callable[[np.ndarray], np.ndarray] | None = None,
    nothing: float = 0.0,
    rounding: float = 0.0,
) -> Statistic:
    """Return the squared norm w'Gw of the estimated mean of n features, as a function of permutations.

    Scaled means need only ``moments``: sum and trace (B,) of the Gram matrices G of permutations (B, ...), and the size
    of the terms that cancel in the sum, over n^2.  Other estimators are fitted anew to ``grams`` (B, n, n).  The plain
    mean of features that cancel is zero except for rounding, up to ``nothing``, and so are its estimates.  ``rounding``
    is what rounding may change in an entry of G, in units of what a tie is relative to.
    """
    if estimator.needs not in ("sums", "noise"):  # noise was tuned before, on what no permutation changes
        assert grams is not None
        return _refitted_norm(estimator, n, grams, nothing, rounding)

    def statistic(permuted: np.ndarray) -> np.ndarray:
        assert moments is not None
        total, trace, size = moments(permuted)
        factor = cast(ScaledMean, estimator).scale((total, trace, n)) ** 2
        return np.stack([factor * total / n**2, np.maximum(factor, TIE) * size], axis=1)

    return statistic


def _refitted_norm(
    estimator: MeanEstimator, n: int, grams: Callable[[np.ndarray], np.ndarray], nothing: float, rounding: float
) -> Statistic:
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
