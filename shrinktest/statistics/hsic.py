"""HSIC and its shrinkage relatives for every estimator, as a function of pairings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import MeanEstimator
from shrinktest.kernels import Kernel
from shrinktest.kernels.distance import DistanceKernel
from shrinktest.kernels.inner import centred_product
from shrinktest.permutations.null import TIE, CostHint, Statistic
from shrinktest.statistics import tiles
from shrinktest.statistics.features import Centred, Features
from shrinktest.statistics.kernel_cache import KernelCache, Request
from shrinktest.statistics.pair_sums import unbiased
from shrinktest.statistics.refit import Moments, estimated_norm
from shrinktest.statistics.statistic import WORTH_THREADS, Prepared, margins, runs_compiled
from shrinktest.statistics.sums import weighted

#: Features of x and of y.
Both = tuple[Features, Features]
#: Pairings (B, n) to the sums and the traces (B, 2) of Kc o Lc.
PairingSums = Callable[[np.ndarray], np.ndarray]

_PLAIN = 64  # pairs up to which gathered products take less time than loading a compiler
_LOOKED_AT = 1000  # rows of a series, from its start: enough to see its autocorrelation
_EXCESS = 0.01  # of the statistic; from here on too many independent series give p <= .05


def prepare(
    estimator: MeanEstimator,
    kernels: tuple[Kernel, Kernel],
    x: np.ndarray,
    y: np.ndarray,
    *,
    form: str,
    cache: KernelCache,
    series: Sequence[np.ndarray] = (),
    workers: int = 1,
) -> Prepared:
    """Prepare the statistic of an estimator and a kernel for each of x (n, p) and y (n, q).

    ``series`` are the rows of those that are shifted in time; ``workers`` threads may make the Gram matrices.
    """
    tuned = margins(estimator, kernels, (x, y), workers)
    features, n = _features(tuned, kernels, (x, y), cache), len(x)
    tiled = features[0].name == "tiles"
    plain = n <= _PLAIN and estimator.needs == "sums" and features[0].columns is None  # gathered by numpy, all at once
    cost = CostHint(seconds=4e-9 * n**2, rows=4096) if plain else None
    if tiled:
        cost = CostHint(seconds=tiles.seconds(n, 1, pairings=True), whole=True)
    if estimator.needs in ("sums", "noise"):
        sums, traces, size = _sums(features, workers)
        statistic = scaled_norm(estimator, sums, traces, size, n, form)
    else:
        left, right = _centred(features, workers)
        statistic = refitted(estimator, left, right)

    def fit() -> tuple[np.ndarray, Any]:
        """Weights (n,) and amount of the estimate from the pairs as they are."""
        if estimator.needs in ("sums", "noise"):
            total, trace = sums(np.arange(n)[None])[0]
            return estimator._scaled((total, trace, n))  # type: ignore[attr-defined, no-any-return]
        return estimator._solve(left.values * right.values)

    return Prepared(
        statistic=statistic,
        estimates=lambda: (_estimate(tuned, kernels, features, fit),),
        kernel=kernels,
        route=features[0].name,
        notes=(
            *notes_on(estimator, n),
            *dict.fromkeys(one.note for one in features if one.note),
            *shift_notes(kernels, x, y, series),
        ),
        threads=runs_compiled(estimator) and not plain and not tiled,
        cost=cost,
        features=(features[0].kernel, features[1].kernel),
    )


def tuning_of(estimator: MeanEstimator, n: int) -> str:
    """Return when an estimator is tuned on n pairs, or raise ValueError if that makes no sense for pairs."""
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


# --- statistics ---------------------------------------------------------------------------------------------


def scaled_norm(
    estimator: MeanEstimator, sums: PairingSums, traces: tuple[float, float], size: float, n: int, form: str
) -> Statistic:
    """Return the statistic of an estimator that scales the mean of n pairs, as a function of permutations.

    ``traces`` are of the centred Gram matrices, and ``size`` is that of the terms that cancel.
    """

    def without_bias(permuted: np.ndarray) -> np.ndarray:
        total, trace = sums(permuted).T
        return np.stack([unbiased(total, trace, traces, n), np.full(len(total), size)], axis=1)

    def moments(permuted: np.ndarray) -> Moments:
        total, trace = sums(permuted).T
        return total, trace, size

    return without_bias if form == "unbiased" else estimated_norm(estimator, n, moments)


def refitted(estimator: MeanEstimator, x: Centred, y: Centred) -> Statistic:
    """Return the statistic of an estimator that is fitted to every pairing anew."""
    size = x.size * y.size

    def grams(rows: np.ndarray) -> np.ndarray:
        gathered = y.values[rows[:, :, None], rows[:, None, :]]
        gathered *= x.values
        return gathered

    return estimated_norm(estimator, len(x.values), None, grams, TIE * size, size - x.norm * y.norm)


def _sums(features: Both, workers: int) -> tuple[PairingSums, tuple[float, float], float]:
    """Return sums and traces as a function of pairings, the traces of Kc and Lc, and the size of what cancels."""
    if features[0].name == "tiles":
        left, right = (tiles.CentredStrips(one.plain.kernel, one.plain.points, workers) for one in features)
        return tiles.pairing_sums(left, right, workers), (left.trace, right.trace), left.size * right.size
    x, y = _centred(features, workers)
    if not (x.by_coordinates and y.by_coordinates):
        x, y = x.dense(), y.dense()
    u, v, n = x.values, y.values, len(x.values)
    loop: Any = _gathered
    integers: type = np.int64
    if x.by_coordinates:
        traces = float(np.square(u).sum()), float(np.square(v).sum())
        from shrinktest.statistics.sum_loops import cross_sums

        loop = cross_sums
    else:
        traces = float(np.trace(u)), float(np.trace(v))
        if n > _PLAIN:
            from shrinktest.statistics.sum_loops import pairing_sums

            loop = pairing_sums
            integers = np.uint16 if n <= 2**16 else np.uint32  # the shorter, the more of them stay in the cache

    def sums(pairings: np.ndarray) -> np.ndarray:
        out = np.empty((len(pairings), 2))
        loop(u, v, pairings.astype(integers, copy=False), out)
        return out

    return sums, traces, x.size * y.size


def _gathered(x: np.ndarray, y: np.ndarray, pairings: np.ndarray, out: np.ndarray) -> None:
    """Write the sums and the traces (B, 2) of Kc o Lc: row after row, the entries right of the diagonal."""
    flat, n = y.ravel(), len(x)
    out[:, 1] = weighted(np.diagonal(y)[pairings], np.diagonal(x))
    out[:, 0] = out[:, 1]
    rows = pairings * n
    for i in range(n - 1):
        out[:, 0] += weighted(flat[rows[:, i, None] + pairings[:, i + 1 :]], 2.0 * x[i, i + 1 :])


def _features(
    estimators: tuple[MeanEstimator, ...],
    kernels: tuple[Kernel, Kernel],
    points: tuple[np.ndarray, np.ndarray],
    cache: KernelCache,
) -> Both:
    """Return both margins in the same representation; a margin knows nothing of the pairing."""
    smoothed = [one.features(kernel, z) for one, kernel, z in zip(estimators, kernels, points, strict=True)]
    sums = estimators[0].needs == "sums"
    request = Request(by_coordinates=sums, tiled=sums, kernels=2, large=300, rank=100, work="pairs")

    def both(request: Request) -> Both:
        x, y = (cache(kernel, z, request) for kernel, z in zip(smoothed, points, strict=True))
        return x, y

    x, y = both(request)
    if x.columns is None and y.columns is None:
        return x, y
    # a gathered product costs as much as eight others
    low = x.columns is not None and y.columns is not None and x.columns * y.columns <= 4 * len(points[0])
    return (x, y) if low or cache.limits.gram != "auto" else both(replace(request, by_coordinates=False))


def _centred(features: Both, workers: int) -> tuple[Centred, Centred]:
    """Center both margins, at the same time if that pays and both kernels are ours, so that threads are safe."""
    first, second = features
    share = max(1, workers // 2)
    ours = all(isinstance(one.kernel, DistanceKernel) for one in features)
    if workers == 1 or len(first.points) < WORTH_THREADS or not ours:
        return first.centred(share), second.centred(share)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as other:
        waiting = other.submit(second.centred, share)
        return first.centred(share), waiting.result()


def _estimate(
    estimators: tuple[MeanEstimator, ...],
    kernels: tuple[Kernel, Kernel],
    features: Both,
    fit: Callable[[], tuple[np.ndarray, Any]],
) -> MeanEmbedding:
    (left, x), (right, y) = ((one.kernel, one.points) for one in features)
    points = np.hstack([x, y])
    pair = centred_product(left, right, points, x.shape[1])
    weights, amount = fit()
    if estimators[0].smooths:  # the features are smoothed already; their weights are equal
        amount = tuple(
            one.embed(z, kernel).shrinkage for one, z, kernel in zip(estimators, (x, y), kernels, strict=True)
        )
    return MeanEmbedding(points, weights, pair, amount)


# --- notes --------------------------------------------------------------------------------------------------


def notes_on(estimator: MeanEstimator, n: int, permuted: str = "pairing", plain: str = "HSIC") -> tuple[str, ...]:
    """Return notes on an estimator whose test of n observations is a test of the standard mean."""
    if estimator.scales_all_alike((n,)):
        return (
            f"One shrinkage amount for every {permuted} multiplies the statistic by a constant: the p-value is that of "
            f"estimator='kme' ({plain}).",
        )
    if estimator.smooths:
        margin, changes = ("margin", "pairing") if permuted == "pairing" else ("variable", f"{permuted}s")
        return (
            f"The noise of a {margin} does not change with the {changes}: this is the test of estimator='kme' with "
            "wider kernels, bandwidth^2 + 2 variance.",
        )
    return ()


def shift_notes(
    kernels: tuple[Kernel, Kernel], x: np.ndarray, y: np.ndarray, series: Sequence[np.ndarray]
) -> tuple[str, ...]:
    """Return a note if ``series``, rows (n,) within which y is shifted, are short for how slow they are.

    Each series is examined alone and circularly, so every shift gives the same note.
    """
    if not series or junction_excess(kernels, x, y, series) < _EXCESS:
        return ()
    return (
        "Shifts join the end of a series to its start, and these series are short for how slowly they change. Unless y "
        "is periodic, the p-value may be too small: of slow series that are independent, 6 to 14 % gave p <= .05. "
        "Observe longer, or test differences from one observation to the next.",
    )


def junction_excess(
    kernels: tuple[Kernel, Kernel], x: np.ndarray, y: np.ndarray, series: Sequence[np.ndarray]
) -> float:
    """Return about how much larger HSIC of independent series is as they are than shifted, as a share of it.

    Under independence its mean is the sum over pairs i, j of E Kc_ij E Lc_ij.  A shift of y parts the pairs across
    the place where its end meets its start, h (n - h) / n of those h apart.  The autocorrelation is taken to fall by
    the same factor g from one step to the next, in both series together.
    """
    length = round(float(np.mean([len(rows) for rows in series])))
    g = _autocorrelation(kernels[0], x, series) * _autocorrelation(kernels[1], y, series)
    h = np.arange(1, length)
    pairs = 2.0 * (length - h) * g**h
    return float(np.sum(pairs * h / length) / (length + np.sum(pairs)))


def _autocorrelation(kernel: Kernel, points: np.ndarray, series: Sequence[np.ndarray]) -> float:
    """Mean of Kc_ij over successive i, j, relative to that of Kc_ii, between 0 and 1."""
    same = successive = 0.0
    for rows in series:
        z = points[rows[:_LOOKED_AT]]
        gram = kernel(z)
        mean = gram.mean()
        same += float(np.trace(gram) - len(z) * mean)
        successive += float(np.trace(gram, 1) + gram[-1, 0] - len(z) * mean)
    return min(max(successive / same, 0.0), 1.0) if same > 0.0 else 0.0
