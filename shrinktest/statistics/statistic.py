"""Statistics as functions of permutations, and estimators refitted in every permutation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from shrinktest._parallel import kernel_progress, parallel_for
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import MeanEstimator
from shrinktest.estimators.mean_estimator import SampleStack
from shrinktest.estimators.scaled import ScaledMean
from shrinktest.kernels import Kernel
from shrinktest.permutations.base import Draws
from shrinktest.permutations.null import TIE, CostHint, Null, Statistic, null_distribution
from shrinktest.permutations.stopping import Stopping
from shrinktest.statistics.features import Features, few_coordinates
from shrinktest.statistics.sums import block_sums, left_over

WORTH_THREADS = (
    300  # observations of a variable from which starting a thread takes less time than it saves
)

#: Sum and trace (B,) of Gram matrices, and the size of the terms that cancel in the sum, over n^2.
Moments = tuple[np.ndarray, np.ndarray, np.ndarray | float]

_ROOM = 2**16  # numbers of the samples that are fitted at a time: few enough to stay in the cache


@dataclass(frozen=True, eq=False, kw_only=True)
class Form:
    """A statistic that tests have under a name: what it needs, and how it is computed.

    ``TestInfo.statistics`` lists the forms of every test.  A form of kernel means has ``combine``,
    which takes the parts that the test computes: for samples as `Contrast` does, for pairs as
    `hsic.squared_norm` does.  A form without kernel and estimator has ``prepare``, from the
    hypothesis and a number of threads.
    """

    name: str  # as in ``form=`` and ``result.form``
    combine: Callable[..., Any] | None = None
    prepare: Callable[[Any, int], Prepared] | None = None
    excess: bool = False  # True if it takes what chance adds to the squared norms of estimates
    squared_norm: bool = (
        False  # True if it is never negative, and larger the smaller the samples are
    )
    symmetric: bool = (
        False  # True if exchanging samples of equal size, or flipping all signs, does not change it
    )
    #: raises ValueError for an estimator, and numbers of observations, with which it does not exist
    check: Callable[[MeanEstimator, tuple[int, ...]], None] | None = None

    @property
    def by_kernel(self) -> bool:
        """True if it needs a kernel and an estimator."""
        return self.prepare is None


@dataclass(frozen=True, eq=False)
class Computation:
    """How a statistic is computed fast; by default in one thread, without features."""

    route: str = ""  # how the kernel is evaluated
    features: tuple[
        Kernel, ...
    ] = ()  # of every variable, as the estimator uses them; feature maps for coordinates
    approximated: bool = (
        False  # True if these stand for other features, so that they give another statistic
    )
    # not for functions of the user, which hold the interpreter lock and may not be thread-safe
    threads: bool = False
    cost: CostHint | None = None  # for statistics that are cheap per row only in large batches


@dataclass(frozen=True, eq=False)
class Prepared:
    """A statistic as a function of permutations, and what its result shows."""

    # permutations (B, N) to (B, 2); what it closes over does not depend on the labels
    statistic: Statistic
    kernel: Any = None  # with the bandwidths that are used
    estimates: Callable[[], tuple[MeanEmbedding, ...]] = (
        tuple  # the embeddings of the data as they are labeled
    )
    notes: tuple[str, ...] = ()  # on this combination of estimator and kernel
    computation: Computation = Computation()

    def null(
        self,
        draws: Draws,
        *,
        stopping: Stopping | None = None,
        workers: int,
        progress: bool = False,
    ) -> Null:
        """Null distribution of the statistic."""
        computation = self.computation
        tiled = computation.route == "tiles"  # which show their own progress
        with kernel_progress(progress and tiled):
            return null_distribution(
                self.statistic,
                draws,
                stopping=stopping,
                workers=workers if computation.threads else 1,
                progress=progress and not tiled,
                cost=computation.cost,
            )


def margins(
    estimator: MeanEstimator,
    kernels: Sequence[Kernel],
    variables: Sequence[np.ndarray],
    workers: int = 1,
) -> tuple[MeanEstimator, ...]:
    """Return an estimator for each variable, tuned once if it smooths the features.

    Permuting leaves margins alone.
    """
    estimators = [estimator] * len(kernels)
    if estimator.smooths:

        def tune(v: int) -> None:
            estimators[v] = estimator.tuned(kernels[v], variables[v])

        parallel_for(
            tune, range(len(kernels)), workers if len(variables[0]) >= WORTH_THREADS else 1
        )
    return tuple(estimators)


def refit(
    estimator: MeanEstimator,
    samples: Callable[[np.ndarray], Sequence[SampleStack]],
    permuted: np.ndarray,
    entries: int,
    joint: bool = False,
) -> Iterator[tuple[slice, Sequence[SampleStack], list[np.ndarray]]]:
    """Fit an estimator to the samples of every permutation.

    Yield some rows, their samples, and the weights (B, n).

    ``samples`` makes the samples of rows of ``permuted``, ``entries`` numbers for each row.
    ``joint``: one amount of shrinkage for all samples of a row.
    """
    step = max(1, _ROOM // entries)
    for start in range(0, len(permuted), step):
        rows = slice(start, start + step)
        stacks = samples(permuted[rows])
        yield rows, stacks, estimator.fit_samples(stacks, joint)


def part_weights(
    estimator: MeanEstimator, gram: Features, sizes: tuple[int, ...], tuning: str
) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function from labels (B, N) to the weights (B, N) of the estimates.

    These are estimates of all parts of a partition.
    """
    if estimator.needs == "sums":  # without the samples themselves, which may be large
        sums = block_sums(gram, sizes)

        def scaled(labels: np.ndarray) -> np.ndarray:
            factors = scales(cast(ScaledMean, estimator), *sums(labels), sizes, tuning)
            return np.take_along_axis(factors / np.array(sizes), labels.astype(np.intp), axis=1)

        return scaled
    for size in sizes:
        estimator.check_size(size)
    z = few_coordinates(gram) if estimator.by_coordinates else None
    z = None if z is None or not z.shape[1] else z  # without columns, all features are zero
    values = gram.gram if z is None else np.ascontiguousarray(z)
    ends = np.cumsum(sizes)

    def samples(order: np.ndarray) -> list[SampleStack]:
        members = np.split(order, ends[:-1], axis=1)
        if z is not None:
            return [SampleStack(values[rows], by_coordinates=True) for rows in members]
        return [SampleStack(values[rows[:, :, None], rows[:, None, :]]) for rows in members]

    entries = sum(size * (size if z is None else z.shape[1]) for size in sizes)

    def weigh(labels: np.ndarray) -> np.ndarray:
        order = np.argsort(labels, axis=1, kind="stable")
        out = np.empty(labels.shape)
        for rows, _, weights in refit(estimator, samples, order, entries, tuning == "joint"):
            np.put_along_axis(out[rows], order[rows], np.concatenate(weights, axis=1), axis=1)
        return out

    return weigh


def scales(
    estimator: ScaledMean, sums: np.ndarray, traces: np.ndarray, sizes: tuple[int, ...], tuning: str
) -> np.ndarray:
    """Return the factors (B, k) by which an estimator scales the means of the parts."""
    parts = [(sums[:, p, p], traces[:, p], size) for p, size in enumerate(sizes)]
    factors = (
        [estimator.scale(*parts)] * len(parts)
        if tuning == "joint"
        else [*map(estimator.scale, parts)]
    )
    return np.stack(factors, axis=1)


def estimated_norm(
    estimator: MeanEstimator,
    n: int,
    moments: Callable[[np.ndarray], Moments] | None,
    grams: Callable[[np.ndarray], np.ndarray] | None = None,
    nothing: float = 0.0,
    rounding: float = 0.0,
) -> Statistic:
    """Return the squared norm w'Gw of the estimated mean of n features.

    It is a function of permutations.

    Scaled means need only ``moments`` of the Gram matrices G; other estimators are fitted anew to
    ``grams`` (B, n, n).  A plain mean up to ``nothing``, and its estimates, are zero except for
    rounding.  ``rounding`` is what rounding may change in an entry of G, in units of what a tie is
    relative to.
    """

    def scaled(permuted: np.ndarray) -> np.ndarray:
        assert moments is not None
        total, trace, size = moments(permuted)
        factor = cast(ScaledMean, estimator).scale((total, trace, n)) ** 2
        return np.stack([factor * total / n**2, np.maximum(factor, TIE) * size], axis=1)

    def refitted(permuted: np.ndarray) -> np.ndarray:
        assert grams is not None
        out = np.empty((len(permuted), 2))
        for rows, (stack,), (weights,) in refit(
            estimator, lambda part: (SampleStack(grams(part)),), permuted, n * n
        ):
            lengths = np.abs(weights)
            plain = np.abs(stack.values.mean(axis=(1, 2)))
            value = ((stack.values @ weights[:, :, None])[:, :, 0] * weights).sum(axis=1)
            value[(plain <= nothing) & (np.abs(value) <= nothing)] = 0.0
            terms = ((np.abs(stack.values) @ lengths[:, :, None])[:, :, 0] * lengths).sum(axis=1)
            terms *= left_over(plain, nothing)
            out[rows, 0], out[rows, 1] = value, terms + rounding * lengths.sum(axis=1) ** 2
        if (
            estimator.projects
        ):  # squared norms of rounding errors, though not of the mean's, become zero
            out[np.abs(out[:, 0]) <= TIE * nothing, 0] = 0.0
        return out

    if estimator.needs in (
        "sums",
        "noise",
    ):  # noise was tuned before, on what no permutation changes
        return scaled
    estimator.check_size(n)
    return refitted
