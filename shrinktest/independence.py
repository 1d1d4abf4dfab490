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
from shrinktest.kernels.base import Checked
from shrinktest.permutation import Pairings, Statistic, null_distribution
from shrinktest.result import TestResult, conclude
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

    Returns
    -------
    TestResult
        Its one estimate is the embedding of the centred pairs, points (n, p + q).

    Raises
    ------
    ValueError, TypeError
        For input that cannot be tested; the message names the argument and says what to do.

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
    grams = centred_grams(est, resolved, x, y)
    null = null_distribution(
        pairing_statistic(est, *grams, form),
        Pairings(n_resamples=n_resamples, rng=generator, n=n),
        workers=threads if runs_compiled(est) else 1,
        progress=progress,
    )
    return conclude(null, kernel=resolved, estimates=(_estimate(est, resolved, x, y),), notes=_notes(est), **common)


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


def centred_grams(
    estimator: MeanEstimator, kernels: tuple[Kernel, Kernel], x: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gram matrices of the two margins, each of features of its own, centred; a margin knows nothing of the pairing."""

    def one(kernel: Kernel, points: np.ndarray) -> np.ndarray:
        gram = estimator.features(kernel, points)(points)
        rows = gram.mean(axis=0)
        return np.ascontiguousarray(gram - rows[:, None] - rows[None, :] + rows.mean())

    return one(kernels[0], x), one(kernels[1], y)


def pairing_statistic(estimator: MeanEstimator, centred_x: np.ndarray, centred_y: np.ndarray, form: str) -> Statistic:
    """The statistic as a function of pairings, (B, n) permutations to (B, 2)."""
    if isinstance(estimator, ScaledMean):
        return _scaled(estimator, centred_x, centred_y, form)
    if isinstance(estimator, SpectralEstimator):
        return _spectral(estimator, centred_x, centred_y)
    return _by_function(estimator, centred_x, centred_y)


def _scaled(estimator: ScaledMean, centred_x: np.ndarray, centred_y: np.ndarray, form: str) -> Statistic:
    from shrinktest._compiled.sums import pairing_sums

    n = len(centred_x)
    left = _u_centred(centred_x) if form == "unbiased" else centred_x
    size = float((np.abs(centred_x) * np.abs(centred_y)).mean())

    def statistic(permutations: np.ndarray) -> np.ndarray:
        sums = np.empty((len(permutations), 2))
        pairing_sums(left, centred_y, permutations, sums)
        total, trace = sums.T
        if form == "unbiased":
            value = total / (n * (n - 3))
        else:
            value = estimator.scale((total, trace, n)) ** 2 * total / n**2
        return np.stack([value, np.full(len(value), size)], axis=1)

    return statistic


def _u_centred(gram: np.ndarray) -> np.ndarray:
    """The matrix A with HSIC_u = sum_ij A_ij L_ij / (n (n - 3)): zero diagonal, off-diagonal row sums zero."""
    n = len(gram)
    hollow = gram - np.diag(np.diag(gram))
    rows = hollow.sum(axis=0)
    out = hollow - (rows[:, None] + rows[None, :]) / (n - 2) + rows.sum() / ((n - 1) * (n - 2))
    np.fill_diagonal(out, 0.0)
    return out


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


def _estimate(estimator: MeanEstimator, kernels: tuple[Kernel, Kernel], x: np.ndarray, y: np.ndarray) -> Any:
    margins = estimator.features(kernels[0], x), estimator.features(kernels[1], y)
    pair = Tensor(Centred(margins[0], x), Centred(margins[1], y), x.shape[1])
    points = np.hstack([x, y])
    if isinstance(estimator, Marginalized):  # the features are smoothed already; their weights are equal
        amounts = tuple(estimator.embed(z, kernel).shrinkage for z, kernel in zip((x, y), kernels, strict=True))
        return replace(KME().embed(points, pair), shrinkage=amounts)
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
