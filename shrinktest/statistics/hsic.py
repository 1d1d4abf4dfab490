"""HSIC and its shrinkage relatives for every estimator, as a function of pairings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import MeanEstimator
from shrinktest.estimators.base import Tuned
from shrinktest.estimators.marginalized import Marginalized
from shrinktest.estimators.spectral import SpectralEstimator
from shrinktest.estimators.standard import SKMSE, ScaledMean
from shrinktest.kernels import Kernel
from shrinktest.kernels.base import FiniteRank
from shrinktest.kernels.distance import OfDistance
from shrinktest.kernels.pairs import Centred, CentredCoordinates, Tensor, TensorCoordinates
from shrinktest.nulls.permutation import Statistic
from shrinktest.statistics.configuration import WORTH_THREADS, Configuration, of_margins, runs_compiled
from shrinktest.statistics.memory import shift_notes
from shrinktest.statistics.route import Route, Routes

#: Weights (n,) and amount of an estimate.
Fitted = Callable[[], tuple[np.ndarray, Any]]


def configure(
    estimator: MeanEstimator,
    kernels: tuple[Kernel, Kernel],
    x: np.ndarray,
    y: np.ndarray,
    *,
    form: str,
    series: Sequence[np.ndarray] = (),
    workers: int = 1,
    routes: Routes | None = None,
    **route: Any,
) -> Configuration:
    """The statistic of an estimator and a kernel for each of x (n, p) and y (n, q).

    ``series`` are the rows of those that are shifted in time, ``workers`` threads may make the Gram matrices,
    ``routes`` is given to all statistics of an aggregate, and ``route`` holds the arguments ``gram``, ``rank``,
    ``memory`` and ``rng`` of :func:`shrinktest.statistics.route.choose_route`.
    """
    margins = of_margins(estimator, kernels, (x, y), workers)
    chosen = _routes(margins, kernels, (x, y), routes or Routes(), **route)
    statistic, fitted = _pairing_statistic(estimator, chosen, x, y, form, workers)
    return Configuration(
        statistic=statistic,
        estimates=lambda: (_estimate(margins, kernels, (chosen[0].kernel, chosen[1].kernel), x, y, fitted),),
        kernel=kernels,
        route=chosen[0].name,
        notes=_notes(estimator)
        + tuple(dict.fromkeys(route.note for route in chosen if route.note))
        + shift_notes(kernels, x, y, series),
        threads=runs_compiled(estimator),
    )


def _routes(
    estimators: tuple[MeanEstimator, ...],
    kernels: tuple[Kernel, Kernel],
    points: tuple[np.ndarray, np.ndarray],
    choose: Routes,
    *,
    gram: str,
    memory: float,
    **options: Any,
) -> tuple[Route, Route]:
    """One route for both margins, each with features of its own; a margin knows nothing of the pairing."""
    margins = [one.features(kernel, z) for one, kernel, z in zip(estimators, kernels, points, strict=True)]
    common = {
        "memory": memory,
        "kernels": 2,
        "by_coordinates": isinstance(estimators[0], ScaledMean),
        "default_rank": 100,
        **options,
    }

    def both(gram: str) -> tuple[Route, Route]:
        left, right = (
            choose(kernel, z, gram=gram, large=300, **common) for kernel, z in zip(margins, points, strict=True)
        )
        return left, right

    routes = both(gram)
    if gram == "auto" and routes[0].name + routes[1].name != "densedense":
        low = [route.kernel for route in routes if isinstance(route.kernel, FiniteRank)]
        ranks = [kernel.coordinates(z[:1]).shape[1] for kernel, z in zip(low, points, strict=False)]
        if len(low) < 2 or ranks[0] * ranks[1] > 4 * len(points[0]):  # a gathered product costs as much as eight others
            return both("dense")
    return routes


def tuning_of(estimator: MeanEstimator, n: int) -> str:
    """What the estimator tunes when, on n pairs; raises ValueError for what makes no sense with pairs."""
    if isinstance(estimator, SKMSE) and estimator.target is not None:
        raise ValueError(
            "target= is a point of one sample's RKHS; an independence test has a sample of centred pairs, whose "
            "natural target is zero, that is, independence: leave it out"
        )
    if not isinstance(estimator, Tuned):
        return "fixed"
    tuning = estimator.tuning_for((n,))
    if tuning == "joint":
        raise ValueError(
            "tuning='joint' shares one amount between two samples, and an independence test has one sample of pairs; "
            "use tuning='sample'"
        )
    if isinstance(estimator, Marginalized):
        return tuning
    if tuning == "pooled":
        raise ValueError(
            "tuning='pooled' tunes once on what relabelling cannot change; in an independence test these are "
            "all n^2 pairs, whose mean is exactly zero, so that every amount would shrink to nothing; use "
            "tuning='sample', or fix the amount"
        )
    return tuning


def _pairing_statistic(
    estimator: MeanEstimator, routes: tuple[Route, Route], x: np.ndarray, y: np.ndarray, form: str, workers: int
) -> tuple[Statistic, Fitted]:
    """The statistic as a function of pairings, (B, n) permutations to (B, 2), and the fit to the pairs as they are."""
    if isinstance(estimator, ScaledMean):
        return _scaled(estimator, routes, x, y, form, workers)
    centred_x, centred_y = _centred(routes, x, y, workers)
    if isinstance(estimator, SpectralEstimator):
        statistic = _spectral(estimator, centred_x, centred_y)
    else:
        statistic = _by_function(estimator, centred_x, centred_y)
    return statistic, lambda: estimator._solve(centred_x * centred_y)


def _centred(routes: tuple[Route, Route], x: np.ndarray, y: np.ndarray, workers: int) -> tuple[np.ndarray, np.ndarray]:
    """The centred Gram matrices of both margins, at the same time where that pays."""

    def one(route: Route, z: np.ndarray) -> np.ndarray:
        gram = route.matrix(z, max(1, workers // 2))
        rows = gram.mean(axis=0)
        out = gram - rows[:, None]
        out -= rows
        out += rows.mean()
        return out

    # users' kernels need not be fit for threads
    if workers == 1 or len(x) < WORTH_THREADS or not all(isinstance(route.kernel, OfDistance) for route in routes):
        return one(routes[0], x), one(routes[1], y)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as other:
        second = other.submit(one, routes[1], y)
        return one(routes[0], x), second.result()


def _sums_of(
    routes: tuple[Route, Route], x: np.ndarray, y: np.ndarray, workers: int
) -> tuple[Statistic, tuple[float, float], float]:
    """A function from pairings to (B, 2), sum and trace of Kc o Lc; traces of Kc and Lc; size of what cancels."""
    from shrinktest._compiled.sums import cross_sums, pairing_sums

    u, v = (route.coordinates(z) for route, z in zip(routes, (x, y), strict=True))
    if u is not None and v is not None:
        u, v = (np.ascontiguousarray(w - w.mean(axis=0)) for w in (u, v))
        traces = float(np.square(u).sum()), float(np.square(v).sum())
        norms = float(np.linalg.norm(u.T @ u)), float(np.linalg.norm(v.T @ v))
        loop: Any = cross_sums
        integers: type = np.int64
    else:
        u, v = _centred(routes, x, y, workers)
        traces = float(np.trace(u)), float(np.trace(v))
        norms = float(np.linalg.norm(u)), float(np.linalg.norm(v))
        loop = pairing_sums
        integers = np.uint16 if len(x) <= 2**16 else np.uint32  # the shorter, the more of them stay in the cache

    def sums_of(permutations: np.ndarray) -> np.ndarray:
        out = np.empty((len(permutations), 2))
        loop(u, v, permutations.astype(integers, copy=False), out)
        return out

    return sums_of, traces, norms[0] * norms[1] / len(x) ** 2


def _scaled(
    estimator: ScaledMean, routes: tuple[Route, Route], x: np.ndarray, y: np.ndarray, form: str, workers: int
) -> tuple[Statistic, Fitted]:
    sums_of, traces, size = _sums_of(routes, x, y, workers)
    n = len(x)

    def statistic(permutations: np.ndarray) -> np.ndarray:
        total, trace = sums_of(permutations).T
        if form == "unbiased":
            # [Song12] in terms of centred matrices, whose rows off the diagonal add up to minus the diagonal
            value = total - trace * n / (n - 2) + traces[0] * traces[1] / ((n - 1) * (n - 2))
            value /= n * (n - 3)
        else:
            value = estimator.scale((total, trace, n)) ** 2 * total / n**2
        return np.stack([value, np.full(len(value), size)], axis=1)

    def fitted() -> tuple[np.ndarray, Any]:
        total, trace = sums_of(np.arange(n)[None])[0]
        return estimator._scaled((total, trace, n))

    return statistic, fitted


def _spectral(estimator: SpectralEstimator, centred_x: np.ndarray, centred_y: np.ndarray) -> Statistic:
    from shrinktest._compiled.pairing import pairings

    n = len(centred_x)
    estimator.check_size(n)
    theta, amounts, loops = estimator.theta(), estimator.amounts(n), estimator.loops()

    def statistic(permutations: np.ndarray) -> np.ndarray:
        out = np.empty((len(permutations), 2))
        pairings(centred_x, centred_y, permutations, theta, amounts, *loops, out)
        return out

    return statistic


def _by_function(estimator: MeanEstimator, centred_x: np.ndarray, centred_y: np.ndarray) -> Statistic:
    def one(permutation: np.ndarray) -> tuple[float, float]:
        gram = centred_x * centred_y[np.ix_(permutation, permutation)]
        w = estimator.weights(gram)
        return w @ gram @ w, np.abs(w) @ np.abs(gram) @ np.abs(w)

    return lambda permutations: np.array([one(p) for p in permutations])


def _estimate(
    estimators: tuple[MeanEstimator, ...],
    kernels: tuple[Kernel, Kernel],
    margins: tuple[Kernel, Kernel],
    x: np.ndarray,
    y: np.ndarray,
    fitted: Fitted,
) -> MeanEmbedding:
    left, right = margins
    points, split = np.hstack([x, y]), x.shape[1]
    pair: Kernel
    if isinstance(left, FiniteRank) and isinstance(right, FiniteRank):
        pair = TensorCoordinates(
            CentredCoordinates(left, points, slice(split)), CentredCoordinates(right, points, slice(split, None)), split
        )
    else:
        pair = Tensor(Centred(left, points, slice(split)), Centred(right, points, slice(split, None)), split)
    weights, amount = fitted()
    if isinstance(estimators[0], Marginalized):  # the features are smoothed already; their weights are equal
        amount = tuple(
            one.embed(z, kernel).shrinkage for one, z, kernel in zip(estimators, (x, y), kernels, strict=True)
        )
    return MeanEmbedding(points, weights, pair, amount)


def _notes(estimator: MeanEstimator) -> tuple[str, ...]:
    if isinstance(estimator, SKMSE) and estimator.fixed:
        return (
            "One shrinkage amount for every pairing multiplies the statistic by a constant: the p-value is that of "
            "estimator='kme' (HSIC).",
        )
    if isinstance(estimator, Marginalized):
        return (
            "The noise of a margin does not change with the pairing: this is the test of estimator='kme' with wider "
            "kernels, bandwidth^2 + 2 variance.",
        )
    return ()
