"""HSIC and its shrinkage relatives for every estimator, as a function of pairings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import MeanEstimator
from shrinktest.estimators.scaled import ScaledMean
from shrinktest.kernels import Kernel
from shrinktest.kernels.distance import DistanceKernel
from shrinktest.kernels.inner import centred_product
from shrinktest.permutations.null import TIE, CostHint, Statistic
from shrinktest.statistics import tiles
from shrinktest.statistics.centred import Centred
from shrinktest.statistics.gram import Gram, Grams
from shrinktest.statistics.pair_sums import unbiased
from shrinktest.statistics.prepared import WORTH_THREADS, Prepared, margins, runs_compiled
from shrinktest.statistics.products import weighted
from shrinktest.statistics.refit import refitted_norm
from shrinktest.statistics.shift_check import shift_notes

#: Weights (n,) and amount of an estimate.
Fitted = Callable[[], tuple[np.ndarray, Any]]

_PLAIN = 64  # pairs up to which gathered products take less time than loading a compiler


def prepare(
    estimator: MeanEstimator,
    kernels: tuple[Kernel, Kernel],
    x: np.ndarray,
    y: np.ndarray,
    *,
    form: str,
    grams: Grams,
    series: Sequence[np.ndarray] = (),
    workers: int = 1,
) -> Prepared:
    """The statistic of an estimator and a kernel for each of x (n, p) and y (n, q).

    ``series`` are the rows of those that are shifted in time, ``workers`` threads may make the Gram matrices.
    """
    tuned = margins(estimator, kernels, (x, y), workers)
    both = _grams(tuned, kernels, (x, y), grams)
    # rows that are drawn in step and gathered by numpy, best all at once and in one thread
    plain = len(x) <= _PLAIN and tuned[0].needs == "sums" and both[0].columns is None
    statistic, fitted = pairing_statistic(estimator, both, form, workers)
    return Prepared(
        statistic=statistic,
        estimates=lambda: (_estimate(tuned, kernels, both, fitted),),
        kernel=kernels,
        route=both[0].name,
        notes=notes_on(estimator, len(x))
        + tuple(dict.fromkeys(gram.note for gram in both if gram.note))
        + shift_notes(kernels, x, y, series),
        threads=runs_compiled(estimator) and not plain and both[0].name != "tiles",
        cost=_cost(both[0], plain),
        features=(both[0].kernel, both[1].kernel),
    )


def _cost(gram: Gram, plain: bool) -> CostHint | None:
    """Cost of a pairing that is evaluated by tiles, or by numpy."""
    n = len(gram.points)
    if gram.name == "tiles":
        return CostHint(seconds=tiles.seconds(n, 1, pairings=True), whole=True)
    return CostHint(seconds=4e-9 * n**2, rows=4096) if plain else None


def _grams(
    estimators: tuple[MeanEstimator, ...],
    kernels: tuple[Kernel, Kernel],
    points: tuple[np.ndarray, np.ndarray],
    grams: Grams,
) -> tuple[Gram, Gram]:
    """Both margins in one way, each with features of its own; a margin knows nothing of the pairing."""
    features = [one.features(kernel, z) for one, kernel, z in zip(estimators, kernels, points, strict=True)]
    wishes: dict[str, Any] = {
        "kernels": 2,
        "by_coordinates": estimators[0].needs == "sums",
        "default_rank": 100,
        "large": 300,
        "tiled": estimators[0].needs == "sums",
    }
    wishes["work"] = "pairs"

    def both(**more: Any) -> tuple[Gram, Gram]:
        left, right = (grams(kernel, z, **wishes, **more) for kernel, z in zip(features, points, strict=True))
        return left, right

    found = both()
    if "tiles" in (found[0].name, found[1].name):  # pairs of rows meet in both
        return both(gram="dense") if found[0].name != found[1].name else found
    ranks = [gram.columns for gram in found]
    if grams.options["gram"] != "auto" or ranks == [None, None]:
        return found
    # a gathered product costs as much as eight others
    low = ranks[0] is not None and ranks[1] is not None and ranks[0] * ranks[1] <= 4 * len(points[0])
    return found if low else both(gram="dense")


def tuning_of(estimator: MeanEstimator, n: int) -> str:
    """What the estimator tunes when, on n pairs; raises ValueError for what makes no sense with pairs."""
    estimator.check_pairs()
    tuning = estimator.tuning_for((n,))
    if tuning == "joint":
        raise ValueError(
            "tuning='joint' shares one amount between two samples, and an independence test has one sample of pairs; "
            "use tuning='sample'"
        )
    if tuning == "pooled" and not estimator.smooths:
        raise ValueError(
            "tuning='pooled' tunes once on what permuting cannot change; in an independence test these are "
            "all n^2 pairs, whose mean is exactly zero, so that every amount would shrink to nothing; use "
            "tuning='sample', or fix the amount"
        )
    return tuning


def pairing_statistic(
    estimator: MeanEstimator, grams: tuple[Gram, Gram], form: str, workers: int
) -> tuple[Statistic, Fitted]:
    """The statistic as a function of pairings, (B, n) permutations to (B, 2), and the fit to the pairs as they are."""
    if estimator.needs in ("sums", "noise"):  # whose noise was tuned on the margins
        return _of_sums(cast(ScaledMean, estimator), grams, form, workers)
    x, y = _centred(grams, workers)
    return refitted(estimator, x, y), lambda: estimator._solve(x.values * y.values)


def refitted(estimator: MeanEstimator, x: Centred, y: Centred) -> Statistic:
    """The statistic of an estimator that is fitted to every pairing anew, from two Gram matrices."""
    size = x.size * y.size

    def grams(rows: np.ndarray) -> np.ndarray:
        gathered = y.values[rows[:, :, None], rows[:, None, :]]
        gathered *= x.values
        return gathered

    return refitted_norm(estimator, grams, len(x.values), TIE * size, size - x.norm * y.norm)


def _centred(grams: tuple[Gram, Gram], workers: int) -> tuple[Centred, Centred]:
    """The centred features of both margins, at the same time where that pays."""

    def one(gram: Gram) -> Centred:
        return gram.centred(max(1, workers // 2))

    first, second = grams
    # users' kernels need not be fit for threads
    own = all(isinstance(gram.kernel, DistanceKernel) for gram in grams)
    if workers == 1 or len(first.points) < WORTH_THREADS or not own:
        return one(first), one(second)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as other:
        waiting = other.submit(one, second)
        return one(first), waiting.result()


def _sums_of(grams: tuple[Gram, Gram], workers: int) -> tuple[Statistic, tuple[float, float], float]:
    """A function from pairings to (B, 2), sum and trace of Kc o Lc; traces of Kc and Lc; size of what cancels."""
    if grams[0].name == "tiles":
        left, right = (
            tiles.CentredStrips(one.kernel, one.points, workers) for one in (gram.of or gram for gram in grams)
        )
        return tiles.pairing_sums(left, right, workers), (left.trace, right.trace), left.size * right.size
    x, y = _centred(grams, workers)
    if not (x.by_coordinates and y.by_coordinates):
        x, y = x.dense(), y.dense()
    u, v = x.values, y.values
    n = len(u)
    loop: Any = _gathered
    integers: type = np.int64
    if x.by_coordinates:
        traces = float(np.square(u).sum()), float(np.square(v).sum())
        from shrinktest._compiled.sums import cross_sums

        loop = cross_sums
    else:
        traces = float(np.trace(u)), float(np.trace(v))
        if n > _PLAIN:
            from shrinktest._compiled.sums import pairing_sums

            loop = pairing_sums
            integers = np.uint16 if n <= 2**16 else np.uint32  # the shorter, the more of them stay in the cache

    def sums_of(permutations: np.ndarray) -> np.ndarray:
        out = np.empty((len(permutations), 2))
        loop(u, v, permutations.astype(integers, copy=False), out)
        return out

    return sums_of, traces, x.size * y.size


def _gathered(x: np.ndarray, y: np.ndarray, permutations: np.ndarray, out: np.ndarray) -> None:
    """Sum and trace (B, 2) of Kc o Lc for every pairing: row after row, what lies right of the diagonal."""
    flat, n = y.ravel(), len(x)
    out[:, 1] = weighted(np.diagonal(y)[permutations], np.diagonal(x))
    out[:, 0] = out[:, 1]
    rows = permutations * n
    for i in range(n - 1):
        out[:, 0] += weighted(flat[rows[:, i, None] + permutations[:, i + 1 :]], 2.0 * x[i, i + 1 :])


def _of_sums(estimator: ScaledMean, grams: tuple[Gram, Gram], form: str, workers: int) -> tuple[Statistic, Fitted]:
    sums_of, traces, size = _sums_of(grams, workers)
    n = len(grams[0].points)

    def fitted() -> tuple[np.ndarray, Any]:
        total, trace = sums_of(np.arange(n)[None])[0]
        return estimator._scaled((total, trace, n))

    return of_sums(estimator, sums_of, traces, size, n, form), fitted


def of_sums(
    estimator: ScaledMean,
    sums_of: Callable[[np.ndarray], np.ndarray],
    traces: tuple[float, float],
    size: float,
    n: int,
    form: str,
) -> Statistic:
    """The statistic of an estimator that scales the mean of n pairs.

    ``sums_of`` gives for relabellings the sum and the trace of Kc o Lc, (B, 2); ``traces`` are of Kc and Lc, and
    ``size`` is that of what cancels.
    """

    def statistic(permutations: np.ndarray) -> np.ndarray:
        total, trace = sums_of(permutations).T
        factor = np.ones(len(total))
        if form == "unbiased":
            value = unbiased(total, trace, traces, n)
        else:
            factor = estimator.scale((total, trace, n)) ** 2
            value = factor * total / n**2
        return np.stack([value, np.maximum(factor, TIE) * size], axis=1)

    return statistic


def _estimate(
    estimators: tuple[MeanEstimator, ...], kernels: tuple[Kernel, Kernel], grams: tuple[Gram, Gram], fitted: Fitted
) -> MeanEmbedding:
    (left, x), (right, y) = ((gram.kernel, gram.points) for gram in grams)
    points = np.hstack([x, y])
    pair = centred_product(left, right, points, x.shape[1])
    weights, amount = fitted()
    if estimators[0].smooths:  # the features are smoothed already; their weights are equal
        amount = tuple(
            one.embed(z, kernel).shrinkage for one, z, kernel in zip(estimators, (x, y), kernels, strict=True)
        )
    return MeanEmbedding(points, weights, pair, amount)


def notes_on(estimator: MeanEstimator, n: int) -> tuple[str, ...]:
    """What a reader should know of an estimator with n pairs."""
    if estimator.scales_all_alike((n,)):
        return (
            "One shrinkage amount for every pairing multiplies the statistic by a constant: the p-value is that of "
            "estimator='kme' (HSIC).",
        )
    if estimator.smooths:
        return (
            "The noise of a margin does not change with the pairing: this is the test of estimator='kme' with wider "
            "kernels, bandwidth^2 + 2 variance.",
        )
    return ()
