"""Are two variables independent?  ``independence_test`` and the HSIC statistic over pairings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shrinktest._validate import as_rng, choice, level, n_workers, paired_samples, resamples, rng_provenance
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import MeanEstimator, as_estimator
from shrinktest.estimators.base import Tuned
from shrinktest.estimators.marginalized import Marginalized
from shrinktest.estimators.spectral import SpectralEstimator
from shrinktest.estimators.standard import KME, SKMSE, ScaledMean
from shrinktest.kernels import Kernel, as_kernel
from shrinktest.kernels.base import Checked, FiniteRank
from shrinktest.permutation import Pairings, Statistic, null_distribution
from shrinktest.result import TestResult, conclude
from shrinktest.route import Route, choose_route, memory_limit
from shrinktest.two_sample import FORMS, form_of, resolve, runs_compiled


def independence_test(
    X: Any,
    Y: Any,
    *,
    estimator: Any = "kme",
    kernel_x: Any = "gaussian",
    kernel_y: Any = "gaussian",
    bandwidth_x: Any = "median",
    bandwidth_y: Any = "median",
    statistic: str = "auto",
    n_resamples: float = 999,
    alpha: float = 0.05,
    nan_policy: str = "raise",
    rng: Any = None,
    workers: int | None = None,
    progress: bool = False,
    gram: str = "auto",
    rank: int | None = None,
    max_memory: float | None = None,
) -> TestResult:
    """Kernel independence permutation test: squared norm (HSIC) of the estimated cross-covariance operator.

    Parameters
    ----------
    X, Y : array_like, shape (n, p) and (n, q), or (n,)
        The variables, row i of both belonging together.
    estimator : str, MeanEstimator or callable, default "kme"
        How the mean of the centred pair features is estimated: "kme" is HSIC, "skmse" and "fkmse" are the shrinkage
        estimators of the covariance operator S-COSE and F-COSE; see :func:`two_sample_test`.
    kernel_x, kernel_y : str, Kernel or callable, default "gaussian"
        One kernel per variable.
    bandwidth_x, bandwidth_y : float, sequence of float or "median"
        One bandwidth per variable, so that the test does not depend on units.
    statistic : {"auto", "biased", "unbiased"}
        "biased" ("auto"): the squared norm of the estimate.  "unbiased": for the standard and the marginalised means.
    n_resamples, alpha, nan_policy, rng, workers, progress
        As in :func:`two_sample_test`; all n! pairings are enumerated when they are no more than ``n_resamples``.
    gram, rank, max_memory
        As in :func:`two_sample_test`, for both kernels; an approximation has 100 coordinates unless ``rank`` says more.

    Returns
    -------
    TestResult
        Its one estimate is the embedding of the centred pairs, points (n, p + q).

    Raises
    ------
    ValueError, TypeError
        For input that cannot be tested; the message names the argument and says what to do.
    MemoryError
        If the kernels' values would not fit ``max_memory``; says how much they take, and what fits.

    Warns
    -----
    UserWarning
        When there are too few relabellings to reject at ``alpha``.

    Notes
    -----
    HSIC = tr(Kc Lc) / n^2 with centred Gram matrices is the V form ([X20] (32), (33), which the paper calls unbiased:
    erratum E25); the unbiased one is that of Song et al. (2012).  Other estimators are applied to the Gram matrix
    Kc o Lc of the centred pairs ([M14] section 4.4, COSE) and refitted for every pairing.

    Examples
    --------
    >>> from shrinktest import independence_test
    >>> from shrinktest.datasets import load_eckerle4
    >>> data = load_eckerle4()
    >>> independence_test(data.wavelength, data.transmittance, estimator="fkmse", rng=0).pvalue
    0.001
    """
    est = as_estimator(estimator)
    alpha = level(alpha)
    choice(statistic, FORMS, "statistic")
    threads = n_workers(workers)
    n_resamples = resamples(n_resamples)
    x, y, missing = paired_samples(X, Y, nan_policy)
    generator = as_rng(rng)
    provenance = rng_provenance(generator)
    n = len(x)
    form = form_of(est, statistic, (n,))
    if form == "unbiased" and n < 4:
        raise ValueError(f"statistic='unbiased' needs at least 4 pairs; found {n}")
    tuning = _tuning(est, n)
    common: dict[str, Any] = {
        "test": "independence",
        "form": form,
        "estimator": est,
        "tuning": tuning,
        "n_observations": (n,),
        "alpha": alpha,
        "rng": provenance,
    }
    kernels = as_kernel(kernel_x, bandwidth_x, "kernel_x"), as_kernel(kernel_y, bandwidth_y, "kernel_y")
    if missing:
        return conclude(None, kernel=kernels, **common)
    resolved = resolve(kernels[0], x, generator, "X"), resolve(kernels[1], y, generator, "Y")
    routes = _routes(est, resolved, (x, y), gram=gram, rank=rank, memory=memory_limit(max_memory), rng=generator)
    margins = routes[0].kernel, routes[1].kernel
    null = null_distribution(
        pairing_statistic(est, routes, x, y, form),
        Pairings(n_resamples=n_resamples, rng=generator, n=n),
        workers=threads if runs_compiled(est) else 1,
        progress=progress,
    )
    notes = _notes(est) + tuple(dict.fromkeys(route.note for route in routes if route.note))
    estimate = _estimate(est, resolved, margins, x, y)
    return conclude(null, kernel=resolved, estimates=(estimate,), notes=notes, route=routes[0].name, **common)


def _routes(
    estimator: MeanEstimator,
    kernels: tuple[Kernel, Kernel],
    points: tuple[np.ndarray, np.ndarray],
    *,
    gram: str,
    memory: float,
    **options: Any,
) -> tuple[Route, Route]:
    """One route for both margins, each with features of its own; a margin knows nothing of the pairing."""
    margins = [estimator.features(kernel, z) for kernel, z in zip(kernels, points, strict=True)]
    common = {
        "memory": memory,
        "kernels": 2,
        "sums_only": isinstance(estimator, ScaledMean),
        "default_rank": 100,
        **options,
    }

    def both(gram: str) -> tuple[Route, Route]:
        left, right = (
            choose_route(kernel, z, gram=gram, large=300, **common) for kernel, z in zip(margins, points, strict=True)
        )
        return left, right

    routes = both(gram)
    if gram == "auto" and routes[0].name + routes[1].name != "densedense":
        low = [route.kernel for route in routes if isinstance(route.kernel, FiniteRank)]
        ranks = [kernel.coordinates(z[:1]).shape[1] for kernel, z in zip(low, points, strict=False)]
        if len(low) < 2 or ranks[0] * ranks[1] > 4 * len(points[0]):  # a gathered product costs as much as eight others
            return both("dense")
    return routes


def _tuning(estimator: MeanEstimator, n: int) -> str:
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


@dataclass(frozen=True, eq=False)
class Centred(Checked):
    """The kernel of features centred at the mean of ``points``: phi(x) - (1/n) sum_i phi(x_i)."""

    kernel: Kernel
    points: np.ndarray

    def evaluate(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        at_x, at_y = (self.kernel(Z, self.points).mean(axis=1) for Z in (X, Y))
        return self.kernel(X, Y) - at_x[:, None] - at_y[None, :] + self.kernel(self.points).mean()


@dataclass(frozen=True, eq=False)
class Tensor(Checked):
    """The product of a kernel on the first ``columns`` coordinates and one on the others."""

    left: Kernel
    right: Kernel
    columns: int

    def evaluate(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        c = self.columns
        return self.left(X[:, :c], Y[:, :c]) * self.right(X[:, c:], Y[:, c:])


@dataclass(frozen=True, eq=False)
class CentredCoordinates(FiniteRank):
    """`Centred` for kernels of finite rank."""

    kernel: FiniteRank
    points: np.ndarray

    def coordinates(self, X: np.ndarray) -> np.ndarray:
        return self.kernel.coordinates(X) - self.kernel.coordinates(self.points).mean(axis=0)


@dataclass(frozen=True, eq=False)
class TensorCoordinates(FiniteRank):
    """`Tensor` for kernels of finite rank."""

    left: FiniteRank
    right: FiniteRank
    columns: int

    def coordinates(self, X: np.ndarray) -> np.ndarray:
        u, v = self._both(X)
        return (u[:, :, None] * v[:, None, :]).reshape(len(X), -1)

    def combination(self, X: np.ndarray, weights: np.ndarray) -> np.ndarray:
        u, v = self._both(X)
        return ((u * weights[:, None]).T @ v).ravel()

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        u, v = (np.square(z).sum(axis=1) for z in self._both(X))
        return u * v

    def _both(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.left.coordinates(X[:, : self.columns]), self.right.coordinates(X[:, self.columns :])


def pairing_statistic(
    estimator: MeanEstimator, routes: tuple[Route, Route], x: np.ndarray, y: np.ndarray, form: str
) -> Statistic:
    """The statistic as a function of pairings, (B, n) permutations to (B, 2)."""
    if isinstance(estimator, ScaledMean):
        return _scaled(estimator, routes, x, y, form)
    centred_x, centred_y = (_centred(route.kernel(z)) for route, z in zip(routes, (x, y), strict=True))
    if isinstance(estimator, SpectralEstimator):
        return _spectral(estimator, centred_x, centred_y)
    return _by_function(estimator, centred_x, centred_y)


def _centred(gram: np.ndarray) -> np.ndarray:
    rows = gram.mean(axis=0)
    return np.ascontiguousarray(gram - rows[:, None] - rows[None, :] + rows.mean())


def _sums_of(routes: tuple[Route, Route], x: np.ndarray, y: np.ndarray) -> tuple[Statistic, tuple[float, float], float]:
    """A function from pairings to (B, 2), sum and trace of Kc o Lc; traces of Kc and Lc; size of what cancels."""
    from shrinktest._compiled.sums import cross_sums, pairing_sums

    u, v = (route.coordinates(z) for route, z in zip(routes, (x, y), strict=True))
    if u is not None and v is not None:
        u, v = (np.ascontiguousarray(w - w.mean(axis=0)) for w in (u, v))
        traces = float(np.square(u).sum()), float(np.square(v).sum())
        norms = float(np.linalg.norm(u.T @ u)), float(np.linalg.norm(v.T @ v))
        loop: Any = cross_sums
    else:
        u, v = (_centred(route.kernel(z)) for route, z in zip(routes, (x, y), strict=True))
        traces = float(np.trace(u)), float(np.trace(v))
        norms = float(np.linalg.norm(u)), float(np.linalg.norm(v))
        loop = pairing_sums

    def sums_of(permutations: np.ndarray) -> np.ndarray:
        out = np.empty((len(permutations), 2))
        loop(u, v, permutations, out)
        return out

    return sums_of, traces, norms[0] * norms[1] / len(x) ** 2


def _scaled(estimator: ScaledMean, routes: tuple[Route, Route], x: np.ndarray, y: np.ndarray, form: str) -> Statistic:
    sums_of, traces, size = _sums_of(routes, x, y)
    n = len(x)

    def statistic(permutations: np.ndarray) -> np.ndarray:
        total, trace = sums_of(permutations).T
        if form == "unbiased":
            # Song et al. (2012) in terms of centred matrices, whose rows off the diagonal add up to minus the diagonal
            value = total - trace * n / (n - 2) + traces[0] * traces[1] / ((n - 1) * (n - 2))
            value /= n * (n - 3)
        else:
            value = estimator.scale((total, trace, n)) ** 2 * total / n**2
        return np.stack([value, np.full(len(value), size)], axis=1)

    return statistic


def _spectral(estimator: SpectralEstimator, centred_x: np.ndarray, centred_y: np.ndarray) -> Statistic:
    from shrinktest._compiled.engine import pairings

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
    estimator: MeanEstimator,
    kernels: tuple[Kernel, Kernel],
    margins: tuple[Kernel, Kernel],
    x: np.ndarray,
    y: np.ndarray,
) -> MeanEmbedding:
    left, right = margins
    pair: Kernel
    if isinstance(left, FiniteRank) and isinstance(right, FiniteRank):
        pair = TensorCoordinates(CentredCoordinates(left, x), CentredCoordinates(right, y), x.shape[1])
    else:
        pair = Tensor(Centred(left, x), Centred(right, y), x.shape[1])
    points = np.hstack([x, y])
    if isinstance(estimator, Marginalized):  # the features are smoothed already; their weights are equal
        amounts = tuple(estimator.embed(z, kernel).shrinkage for z, kernel in zip((x, y), kernels, strict=True))
        return replace(KME().embed(points, pair), shrinkage=amounts)
    if isinstance(estimator, ScaledMean):
        return estimator.embed(points, pair)
    weights, amount = estimator._solve(pair(points))
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
