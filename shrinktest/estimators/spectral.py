"""Spectral filters: Tikhonov, iterated Tikhonov, Landweber, nu-method, and truncated SVD."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import count, positive
from shrinktest._machine_code import compiled_loop
from shrinktest.estimators import filter_arrays
from shrinktest.estimators.filters import Filter, Spectra
from shrinktest.estimators.mean_estimator import Check, SampleStack, one_of, penalty

_MOST_STEPS = 10**7  # of an iteration
_MOST_TUNED = 1000  # steps if the amount is tuned by deletion, in time proportional to their square
_ROOM = 2**18  # powers of the residuals at a time

# Amounts that tuning compares, relative to the mean of K_ii and on the covariance scale, so that
# one grid serves every sample size and unit.  The endpoints are the plain mean and the zero
# estimate.
_LAM_COV_GRID = np.concatenate([[0.0], np.logspace(-6.0, 3.0, 64), [np.inf]])
_STEP = 2e-5  # seconds of an iteration in numpy, however small
_THRESHOLD_GRID = np.concatenate([[0.0], np.logspace(-6.0, 0.0, 64), [np.inf]])


def _steps(value: Any, name: str) -> int:
    return count(value, name, 1, _MOST_STEPS)


@dataclass(frozen=True, repr=False)
class _Tikhonov(Filter):
    lam: float | None = None
    lam_cov: float | None = None
    loo: str = "deletion"

    amount = "lam"
    _amounts = ("lam_cov", "lam")
    _options = ("tuning", "loo")
    _checks: ClassVar[dict[str, Check]] = {
        "lam": penalty,
        "lam_cov": penalty,
        "loo": one_of("deletion", "paper"),
    }
    t: ClassVar[int] = 1  # steps

    def _grid(self, n: int) -> np.ndarray:
        return _LAM_COV_GRID

    def _penalty(self, amounts: np.ndarray, trace: np.ndarray) -> np.ndarray:
        """Return lam on the scale of the Gram matrix."""
        return np.where(np.isinf(amounts) | (self.lam is not None), amounts, amounts * trace)

    def _scores(self, spectra: Spectra, amounts: np.ndarray) -> np.ndarray:
        inner = (amounts > 0.0) & np.isfinite(amounts)
        lams = amounts[inner] * spectra.trace
        scores = np.where(
            amounts == 0.0, spectra.filter_scores(np.ones((1, 1, 1))), spectra.trace / spectra.n
        )
        if self.loo == "paper":
            larger = (lams * (spectra.n / (spectra.n - 1.0)))[:, :, None]
            scores[:, inner] = spectra.filter_scores(
                1.0 - (larger / (spectra.values[:, None, :] + larger)) ** self.t
            )
        else:
            scores[:, inner] = self._deletion_scores(spectra, lams)
        scores[spectra.values[:, 0] + lams[:, 0] <= 0.0] = np.nan  # not positive definite
        return scores

    def _deletion_scores(self, spectra: Spectra, lams: np.ndarray) -> np.ndarray:
        """Return the scores (B, g), each point left out exactly or with the mean leverage."""
        n = spectra.n
        axes = spectra.points
        along = spectra.along
        trace = spectra.trace
        scale = 1.0 / (n - 1.0)
        norm = (spectra.values * along**2).sum(axis=1, keepdims=True)  # sum of the entries of K
        inside = np.concatenate(
            [np.square(axes).sum(axis=1, keepdims=True), along[:, None, :] @ axes], axis=1
        )
        # products (B, 2, n) of e_i with itself and with e outside of the axes
        outside = 1.0 - inside if spectra.samples.by_coordinates else np.zeros_like(inside)
        if self.loo == "averaged":
            moved = spectra.averaged_deletion(lams, outside)
        else:
            step = max(1, _ROOM // (n * self.t))
            parts = [
                np.ascontiguousarray(lams[:, k : k + step]) for k in range(0, lams.shape[1], step)
            ]
            arrays = (spectra.values, axes, along, outside)
            seconds = 1e-9 * n * lams.shape[1] * self.t * (spectra.values.shape[1] + 10.0 * self.t)
            loop = (
                compiled_loop("tikhonov_deletion", len(lams), seconds)
                or filter_arrays.tikhonov_deletion
            )
            moved = np.hstack([loop(*arrays, part, self.t) for part in parts])
        fixed = trace - 2.0 * scale * (norm - trace)
        return np.asarray((fixed + scale**2 * ((n - 2.0) * norm + trace) + lams * moved) / n)

    def _filtered(self, spectra: Spectra, amounts: np.ndarray) -> np.ndarray:
        lam = self._penalty(amounts, spectra.trace)
        values = spectra.values
        gains = 1.0 / (values + lam)
        if self.t > 1:  # (1 - r^t) / D, which is t / lam for D = 0
            log = self.t * np.log1p(-values * gains)
            gains = np.where(values > 1e-12 * lam, -np.expm1(log) / values, self.t * gains)
        out = np.where(np.isinf(lam), 0.0, gains) * spectra.along
        out[values[:, 0] + lam[:, 0] <= 0.0] = np.nan
        out[lam[:, 0] == 0.0] = np.inf
        return out

    def _directly(self, grams: np.ndarray) -> np.ndarray | None:
        lam = self._penalty(self.amounts(0), np.trace(grams, axis1=1, axis2=2)[:, None, None])
        if self.t > 1 or not ((lam > 0.0) & np.isfinite(lam)).all():
            return None
        matrices = grams + lam * np.eye(grams.shape[1])
        try:
            np.linalg.cholesky(matrices)
        except np.linalg.LinAlgError:  # one is not positive definite
            return None
        return np.linalg.solve(matrices, grams.mean(axis=2, keepdims=True))[:, :, 0]

    def _unit(self, amount: float, matrix: np.ndarray) -> float:
        return float(self._penalty(np.array(amount), np.trace(matrix)))


@dataclass(frozen=True, repr=False)
class FKMSE(_Tikhonov):
    """Kernel mean with flexible (Tikhonov) shrinkage: weights (K + lam I)^-1 K 1/n.

    Every eigenvector of the Gram matrix K has a factor of its own.  Because the score may have two
    minima, tuning compares a grid of lam_cov from 1e-6 to 1e3 with the plain mean and zero.

    Parameters
    ----------
    lam : float, optional
        Fixed amount on the scale of the Gram matrix ([M14] eq. (8)).
    lam_cov : float, optional
        Fixed amount for samples of any size, lam = n * lam_cov * mean(K_ii).
    loo : {"deletion", "averaged", "paper"}, default "deletion"
        Leave-one-out score if no amount is fixed: exact ("deletion"), exact with mean leverages
        ("averaged"), or the closed form of [M14] Theorem 4, which leaves the deleted point in the
        basis and therefore shrinks too much (erratum E1 in :doc:`/errata`).
    tuning : {"auto", "sample", "joint", "pooled"}, default "auto"
        Samples for which an amount is chosen, as for :class:`SKMSE`.

    References
    ----------
    .. [M14] Muandet et al., "Kernel mean estimation and Stein effect", ICML, 2014.

    Examples
    --------
    >>> FKMSE(lam=1.0).weights([[1.0, 0.0], [0.0, 1.0]])
    array([0.25, 0.25])
    """

    summary = "flexible shrinkage (Tikhonov), one factor per eigenvector"
    sources = ("M14",)
    _checks: ClassVar[dict[str, Check]] = {
        **_Tikhonov._checks,
        "loo": one_of("deletion", "averaged", "paper"),
    }


@dataclass(frozen=True, repr=False)
class IteratedTikhonov(_Tikhonov):
    """Kernel mean by iterated Tikhonov: t steps of (K + lam I) b <- K 1/n + lam b.

    An eigenvector of K with eigenvalue D has the factor 1 - (lam / (D + lam))^t.  The filter is
    that of [S14] Table 1, corrected (erratum E21 in :doc:`/errata`): the update needs K 1/n, and
    the printed filter has lambda and gamma exchanged.

    Parameters
    ----------
    lam : float, optional
        Fixed amount on the scale of the Gram matrix, as for :class:`FKMSE`, which is the case t =
        1.
    lam_cov : float, optional
        Fixed amount for samples of any size, as for :class:`FKMSE`.
    loo : {"deletion", "paper"}, default "deletion"
        Leave-one-out score if no amount is fixed, as for :class:`FKMSE`.
    t : int, default 3
        Number of steps, at most 10 million, or 1000 if the amount is tuned by "deletion", which
        takes time proportional to t^2.
    tuning : {"auto", "sample", "joint", "pooled"}, default "auto"
        Samples for which an amount is chosen, as for :class:`SKMSE`.

    References
    ----------
    .. [S14] Muandet et al., "Kernel mean estimation via spectral filtering", NeurIPS, 2014.

    Examples
    --------
    >>> IteratedTikhonov(lam=1.0, t=2).weights([[1.0, 0.0], [0.0, 1.0]])
    array([0.375, 0.375])
    """

    summary = "iterated Tikhonov, t steps of flexible shrinkage"
    sources = ("S14",)
    _checks: ClassVar[dict[str, Check]] = {**_Tikhonov._checks, "t": _steps}

    t: int = 3  # type: ignore[misc]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.t > _MOST_TUNED and not self.fixed and self.loo == "deletion":
            raise ValueError(
                f"t must be at most {_MOST_TUNED} to tune by deletion, got {self.t}; use "
                "loo='paper'"
            )


@dataclass(frozen=True, repr=False)
class _Gradient(Filter):
    t: int | None = None
    eta: float | None = None
    max_iter: int | None = None
    loo: str = "deletion"

    amount = "iterations"
    _amounts = ("t",)
    _options = ("tuning", "max_iter", "loo")
    _checks: ClassVar[dict[str, Check]] = {
        "loo": one_of("deletion", "paper"),
        "t": _steps,
        "max_iter": _steps,
        "eta": positive,
    }
    _kind = int
    _fastest = 1.0  # eta times the largest eigenvalue of K/n may not exceed it

    def _coefficients(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return momenta and steps of the iterations t = 1, 2, ..."""
        return np.zeros_like(t), np.ones_like(t)

    def _grid(self, n: int) -> np.ndarray:
        return np.arange(1.0, (self.max_iter or max(50, 2 * n)) + 1.0)

    def _step_sizes(
        self, diagonal: np.ndarray, n: int, iterations: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return momenta (T,) and steps (B, T) on K.

        1 / max K_ii is always safe, and n divides the step.
        """
        momenta, factors = self._coefficients(np.arange(1.0, iterations + 1.0))
        largest = diagonal.max(axis=1, keepdims=True)
        eta = (
            np.where(largest > 0.0, 1.0 / largest, 0.0)
            if self.eta is None
            else np.full_like(largest, self.eta)
        )
        return momenta, eta / n * factors

    def _decompose(self, stack: SampleStack) -> Spectra:
        iterations = 1 if self.fixed else int(self._grid(stack.n)[-1])
        seconds = iterations * (
            _STEP / len(stack.values) + 1e-8 * stack.n * stack.matrices.shape[1]
        )
        loop = compiled_loop("gradient_deletion", len(stack.values), seconds)
        return Spectra.of(stack, tridiagonal=self.loo == "deletion" and loop is not None)

    def _path(self, spectra: Spectra, start: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return the iterates (B, c, r) after numbers of iterations (B, c)."""
        iterations = int(counts.max())
        steps = self._step_sizes(spectra.samples.diagonal, spectra.n, iterations)
        seconds = iterations * (_STEP / len(counts) + 1e-8 * spectra.values.shape[1])
        loop = compiled_loop("gradient_path", len(counts), seconds) or filter_arrays.gradient_path
        return loop(spectra.values, spectra.off, start, *steps, counts.astype(np.int64))

    def _scores(self, spectra: Spectra, amounts: np.ndarray) -> np.ndarray:
        values = spectra.values
        if self.loo == "paper":
            gains = self._path(spectra, np.ones_like(values), np.tile(amounts, (len(values), 1)))
            return spectra.filter_scores(values[:, None, :] * gains)
        diagonal = spectra.samples.diagonal
        start = spectra.times(spectra.along)
        steps = self._step_sizes(diagonal, spectra.n - 1, amounts.size)
        if not spectra.tridiagonal:
            return filter_arrays.gradient_deletion(
                spectra.values, spectra.points, spectra.along, *steps
            )
        from shrinktest.estimators.filter_loops import gradient_deletion

        rows = (start[:, None, :] @ spectra.points)[:, 0]
        return gradient_deletion(
            spectra.values,
            spectra.off,
            spectra.points,
            spectra.along,
            start,
            spectra.scaled,
            diagonal,
            rows,
            *steps,
        )

    def _filtered(self, spectra: Spectra, amounts: np.ndarray) -> np.ndarray:
        return self._path(spectra, spectra.along, amounts)[:, 0]

    def _directly(self, grams: np.ndarray) -> np.ndarray | None:
        n = grams.shape[1]
        t = self.t or 0
        if t > max(4, n // 4):  # then the eigenvectors cost less than the products
            return None
        momenta, steps = self._step_sizes(np.diagonal(grams, axis1=1, axis2=2), n, t)
        weights = before = np.zeros((len(grams), n, 1))
        for momentum, step in zip(momenta, steps.T[:, :, None, None], strict=True):
            change = momentum * (weights - before) + step * (grams @ (1.0 / n - weights))
            weights, before = weights + change, weights
        return weights[:, :, 0]

    def _fit_one(self, sample: SampleStack) -> tuple[np.ndarray, Any]:
        if self.eta is not None:
            speed = self.eta * np.linalg.eigvalsh(sample.matrices[0])[-1] / sample.n
            if speed > self._fastest:
                most = self._fastest / speed * self.eta
                raise ValueError(
                    f"eta={self.eta!r} diverges: it must be at most {most:.3g}; use eta=None"
                )
        return super()._fit_one(sample)


@dataclass(frozen=True, repr=False)
class Landweber(_Gradient):
    """Kernel mean by early-stopped Landweber iteration (L2 boosting).

    The step is b <- b + (eta/n) (K 1/n - K b), t times.  It is that of [S14] Table 1, corrected
    (erratum E19 in :doc:`/errata`): the step size is for K/n, and the iteration can diverge on K
    itself.

    Parameters
    ----------
    t : int, optional
        Fixed number of iterations, 10 million at most; by default tuned by a leave-one-out score.
    eta : float, optional
        Step size on K/n, below 2 over its largest eigenvalue; default 1 / max K_ii, which is always
        safe.
    max_iter : int, optional
        Largest t that tuning compares, default max(50, 2n).
    loo : {"deletion", "paper"}, default "deletion"
        Leave-one-out score: with each point deleted exactly, or the filter analogue of [M14]
        Theorem 4 (erratum E1 in :doc:`/errata`).
    tuning : {"auto", "sample", "joint", "pooled"}, default "auto"
        Samples for which a number of iterations is chosen, as for :class:`SKMSE`.

    References
    ----------
    .. [M14] Muandet et al., "Kernel mean estimation and Stein effect", ICML, 2014.
    .. [S14] Muandet et al., "Kernel mean estimation via spectral filtering", NeurIPS, 2014.

    Examples
    --------
    >>> Landweber(t=1).weights([[1.0, 0.0], [0.0, 1.0]])
    array([0.25, 0.25])
    """

    summary = "Landweber iteration (L2 boosting) with early stopping"
    sources = ("S14",)
    _fastest = 2.0


@dataclass(frozen=True, repr=False)
class NuMethod(_Gradient):
    """Kernel mean by the nu-method (accelerated L2 boosting), stopped early.

    The method is that of [S14] Table 1, but the coefficients, which the paper does not print
    (erratum E20 in :doc:`/errata`), come from the normalized Jacobi polynomials.  Because the
    filter overshoots slightly (for nu = 1 factors up to 6/5), it is not pure shrinkage.

    Parameters
    ----------
    t : int, optional
        Fixed number of iterations, as for :class:`Landweber`, of which t^2 iterations correspond to
        t of this method.
    nu : float, default 1.0
        Qualification of the method, a positive number.
    eta : float, optional
        Step size on K/n, at most 1 over its largest eigenvalue; default 1 / max K_ii.
    max_iter : int, optional
        Largest t that tuning compares, default max(50, 4 sqrt(n)).
    loo : {"deletion", "paper"}, default "deletion"
        Leave-one-out score, as for :class:`Landweber`.
    tuning : {"auto", "sample", "joint", "pooled"}, default "auto"
        Samples for which a number of iterations is chosen, as for :class:`SKMSE`.

    References
    ----------
    .. [S14] Muandet et al., "Kernel mean estimation via spectral filtering", NeurIPS, 2014.

    Examples
    --------
    >>> NuMethod(t=1).weights([[1.0, 0.0], [0.0, 1.0]])
    array([0.3, 0.3])
    """

    summary = "nu-method (accelerated L2 boosting) with early stopping"
    sources = ("S14",)
    _checks: ClassVar[dict[str, Check]] = {**_Gradient._checks, "nu": positive}

    nu: float = 1.0

    def _coefficients(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        nu = self.nu
        first = t == 1.0
        common = (t + 2 * nu - 1) * (2 * t + 4 * nu - 1)
        below = np.where(first, 1.0, common * (2 * t + 2 * nu - 3))  # 0 / 0 at t = 1 if nu = 1/2
        momenta = (t - 1.0) * (2 * t - 3) * (2 * t + 2 * nu - 1) / below
        steps = 4.0 * (2 * t + 2 * nu - 1) * (t + nu - 1) / common
        return momenta, np.where(first, (4 * nu + 2) / (4 * nu + 1), steps)

    def _grid(self, n: int) -> np.ndarray:
        return np.arange(1.0, (self.max_iter or max(50, 4 * ceil(sqrt(n)))) + 1.0)


@dataclass(frozen=True, repr=False)
class TSVD(Filter):
    """Kernel mean projected onto the leading eigenvectors of the Gram matrix.

    This is truncated SVD in the kernel-PCA basis ([S14] Table 1).  Tuning compares thresholds
    instead of numbers of components, because samples of different sizes can share a threshold.

    Parameters
    ----------
    m : int, optional
        Number of components, not counting those in the null space of K, which do not contribute.
    threshold : float, optional
        Threshold for the eigenvalues of K/n: those that are at least threshold * mean(K_ii) are
        used.
    rule : {"loo", "gcv"}, default "loo"
        Score if neither is fixed: leave-one-out, or generalized cross-validation, which rarely
        truncates (erratum E24 in :doc:`/errata`).
    tuning : {"auto", "sample", "joint", "pooled"}, default "auto"
        Samples for which a threshold is chosen, as for :class:`SKMSE`.

    References
    ----------
    .. [S14] Muandet et al., "Kernel mean estimation via spectral filtering", NeurIPS, 2014.

    Examples
    --------
    >>> TSVD(m=1).weights([[1.0, 0.5], [0.5, 1.0]])
    array([0.5, 0.5])
    """

    projects = True
    summary = "truncated SVD (projection on leading eigenvectors)"
    sources = ("S14",)
    amount = "components"
    _amounts = ("threshold", "m")
    _options = ("tuning", "rule")
    _checks: ClassVar[dict[str, Check]] = {
        "m": lambda value, name: count(value, name, 1),
        "threshold": penalty,
        "rule": one_of("loo", "gcv"),
    }

    m: int | None = None
    threshold: float | None = None
    rule: str = "loo"

    def check_size(self, n: int) -> None:
        if self.m is not None and self.m > n:
            raise ValueError(
                f"m={self.m} components cannot be kept from a sample of {n} points; use m <= {n}"
            )

    def _grid(self, n: int) -> np.ndarray:
        return _THRESHOLD_GRID

    def _cutoff(self, amounts: np.ndarray, trace: Any) -> np.ndarray:
        """Return the least eigenvalue kept.

        The slack keeps those that equal the threshold up to rounding.
        """
        return np.asarray(amounts * trace * (1.0 - 1e-9))

    def _scores(self, spectra: Spectra, amounts: np.ndarray) -> np.ndarray:
        n = spectra.n
        values = spectra.values
        a = 1.0 / (spectra.n - 1.0)
        leading = (values[:, None, :] >= self._cutoff(amounts, spectra.trace)[:, :, None]).astype(
            np.float64
        )
        shares = values * spectra.along**2
        if self.rule == "loo":  # ``filter_scores`` of factors 0 and 1
            parts = a * (values * (2.0 + a) + shares * (n * a - 2.0 * (1.0 + a)))
            return (spectra.trace + (leading @ parts[:, :, None])[:, :, 0]) / n
        number = leading.sum(axis=2)
        lost = ((1.0 - leading) @ (values * shares)[:, :, None])[:, :, 0]
        scores = (
            lost / n / (n - number) ** 2 / spectra.trace
        )  # in the unit of K, like the other scores
        return np.where((number == 0) | (number == n) | (amounts == 0.0), np.inf, scores)

    def _filtered(self, spectra: Spectra, amounts: np.ndarray) -> np.ndarray:
        values = spectra.values
        if self.m is None:
            leading = values >= self._cutoff(amounts, spectra.trace)
        else:
            leading = (values >= 1e-12 * values[:, -1:]) & (
                np.arange(values.shape[1]) >= values.shape[1] - self.m
            )
        out = np.where(leading & (values > 0.0), spectra.along / values, 0.0)
        out[amounts[:, 0] == 0.0] = np.inf
        return out

    def _unit(self, amount: float, matrix: np.ndarray) -> int:
        if self.m is not None:
            return self.m
        values = np.linalg.eigvalsh(matrix)
        floor = np.maximum(self._cutoff(np.array(amount), np.trace(matrix)), 1e-12 * values[-1])
        return int((values >= floor).sum())
