"""Stop a gradient iteration early: Landweber iteration and the nu-method."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import ceil, sqrt
from typing import ClassVar, Self

import numpy as np

from shrinktest._check import choice, count, positive
from shrinktest.estimators.filters import MOST_STEPS, Filter
from shrinktest.estimators.mean_estimator import Samples
from shrinktest.estimators.spectrum import Spectra, Tridiagonal


@dataclass(frozen=True, repr=False)
class _Gradient(Filter):
    t: int | None = None
    eta: float | None = None
    max_iter: int | None = None
    loo: str = "deletion"

    amount: ClassVar[str] = "iterations"
    _fastest: ClassVar[float] = 1.0  # eta times the largest eigenvalue of K/n may not exceed it

    def _check(self) -> None:
        choice(self.loo, ("deletion", "paper"), "loo")
        for name in ("t", "max_iter"):
            if getattr(self, name) is not None:
                count(getattr(self, name), name, 1, MOST_STEPS)
        if self.eta is not None:
            positive(self.eta, "eta")
        if self.fixed and (self.max_iter is not None or self.loo != "deletion"):
            raise ValueError("max_iter and loo choose t; they are not used when t is given: drop one of them")

    @property
    def fixed(self) -> bool:
        return self.t is not None

    @abstractmethod
    def _coefficients(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return momenta and steps of the iterations t = 1, 2, ..."""

    @abstractmethod
    def _default_iterations(self, n: int) -> int:
        """Return the largest number of iterations that tuning compares."""

    def amounts(self, n: int) -> np.ndarray:
        if self.t is not None:
            return np.array([self.t], dtype=np.float64)
        return np.arange(1.0, (self.max_iter or self._default_iterations(n)) + 1.0)

    def _steps(self, largest: np.ndarray, n: int, iterations: int) -> tuple[np.ndarray, np.ndarray]:
        """Return momenta (T,) and steps (B, T) on K; ``largest`` (B, 1) is max K_ii, and n divides the step."""
        momenta, factors = self._coefficients(np.arange(1.0, iterations + 1.0))
        eta = np.where(largest > 0.0, 1.0 / largest, 0.0) if self.eta is None else np.full_like(largest, self.eta)
        return momenta, eta / n * factors

    def _decompose(self, stack: Samples) -> Tridiagonal:
        return Tridiagonal.of(stack)

    def _path(self, basis: Tridiagonal, start: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return the iterates (B, c, r) after numbers of iterations (B, c)."""
        from shrinktest.estimators.filter_loops import gradient_path

        out = np.empty((*counts.shape, start.shape[1]))
        steps = self._steps(basis.diagonal.max(axis=1, keepdims=True), basis.n, int(counts.max()))
        gradient_path(basis.values, basis.off, start, *steps, counts.astype(np.int64), out)
        return out

    def _scores(self, spectra: Tridiagonal, amounts: np.ndarray) -> np.ndarray:
        if self.loo == "paper":
            full = Spectra.of(spectra.samples)
            gains = self._path(full, np.ones_like(full.values), np.tile(amounts, (len(full.values), 1)))
            return full.filter_scores(full.values[:, None, :] * gains)
        from shrinktest.estimators.filter_loops import gradient_deletion

        diagonal, start = spectra.diagonal, spectra.product(spectra.along)
        momenta, steps = self._steps(diagonal.max(axis=1, keepdims=True), spectra.n - 1, amounts.size)
        scores, arrays = np.empty(steps.shape), (spectra.values, spectra.off, spectra.points, spectra.along, start)
        gradient_deletion(*arrays, diagonal, spectra.rows, spectra.by_coordinates, momenta, steps, scores)
        return scores

    def _gains(self, spectra: Tridiagonal, amounts: np.ndarray) -> np.ndarray:
        return self._path(spectra, spectra.along, amounts)[:, 0]

    def _directly(self, grams: np.ndarray) -> np.ndarray | None:
        n, t = grams.shape[1], self.t or 0
        if t > max(4, n // 4):  # then the eigenvectors cost less than the products
            return None
        momenta, steps = self._steps(np.diagonal(grams, axis1=1, axis2=2).max(axis=1)[:, None], n, t)
        weights = before = np.zeros((len(grams), n, 1))
        for momentum, step in zip(momenta, steps.T[:, :, None, None], strict=True):
            change = momentum * (weights - before) + step * (grams @ (1.0 / n - weights))
            weights, before = weights + change, weights
        return weights[:, :, 0]

    def _check_step(self, matrix: np.ndarray, n: int) -> None:
        if self.eta is not None and (speed := self.eta * np.linalg.eigvalsh(matrix)[-1] / n) > self._fastest:
            raise ValueError(
                f"eta={self.eta!r} diverges: eta times the largest eigenvalue of K/n is {speed:.3g}, at most "
                f"{self._fastest:g}; use eta=None"
            )

    def _unit(self, amount: float, matrix: np.ndarray) -> int:
        return int(amount)

    def _at(self, amount: float) -> Self:
        return self.at(t=int(amount), max_iter=None, loo="deletion")


@dataclass(frozen=True, repr=False)
class Landweber(_Gradient):
    """Kernel mean by Landweber iteration (L2 boosting), stopped early: b <- b + (eta/n) (K 1/n - K b), t times.

    Parameters
    ----------
    t : int, optional
        Fixed number of iterations, 10 million at most; tuned by a leave-one-out score if not given.
    eta : float, optional
        Step size on K/n, below 2 over its largest eigenvalue; default 1 / max K_ii, which is always safe.
    max_iter : int, optional
        Largest t that tuning compares, default max(50, 2n).
    loo : {"deletion", "paper"}
        Leave-one-out score: each point left out exactly, or the filter analogue of [M14] Theorem 4 (erratum E1).
    tuning : {"auto", "sample", "joint", "pooled"}
        "sample" chooses an amount for each sample and "joint" one for all, again in every permutation; "pooled"
        chooses once, on all observations.  "auto" is "sample", or "joint" for samples of unequal sizes.

    Notes
    -----
    [S14] Table 1 with erratum E19: the step refers to K/n, on K itself the iteration diverges.

    Examples
    --------
    >>> import numpy as np
    >>> Landweber(t=1).weights(np.eye(2))
    array([0.25, 0.25])
    """

    summary: ClassVar[str] = "Landweber iteration (L2 boosting) with early stopping"
    _fastest: ClassVar[float] = 2.0

    def _coefficients(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros_like(t), np.ones_like(t)

    def _default_iterations(self, n: int) -> int:
        return max(50, 2 * n)


@dataclass(frozen=True, repr=False)
class NuMethod(_Gradient):
    """Kernel mean by the nu-method (accelerated L2 boosting), stopped early.

    Parameters
    ----------
    t : int, optional
        Fixed number of iterations, 10 million at most; tuned by a leave-one-out score if not given.
    nu : float, default 1.0
        Qualification of the method, positive.
    eta : float, optional
        Step size on K/n, at most 1 over its largest eigenvalue; default 1 / max K_ii.
    max_iter : int, optional
        Largest t that tuning compares, default max(50, 4 sqrt(n)): t iterations do what t^2 of Landweber's do.
    loo : {"deletion", "paper"}
        As for :class:`Landweber`.
    tuning : {"auto", "sample", "joint", "pooled"}
        "sample" chooses an amount for each sample and "joint" one for all, again in every permutation; "pooled"
        chooses once, on all observations.  "auto" is "sample", or "joint" for samples of unequal sizes.

    Notes
    -----
    [S14] Table 1; the coefficients, which the paper does not print (erratum E20), are those of the normalized Jacobi
    polynomials.  The filter overshoots slightly (for nu = 1 factors up to 6/5): not a pure shrinkage.

    Examples
    --------
    >>> import numpy as np
    >>> NuMethod(t=1).weights(np.eye(2))
    array([0.3, 0.3])
    """

    summary: ClassVar[str] = "nu-method (accelerated L2 boosting) with early stopping"

    nu: float = 1.0

    def _check(self) -> None:
        super()._check()
        positive(self.nu, "nu")

    def _coefficients(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        nu, first = float(self.nu), t == 1.0
        common = (t + 2 * nu - 1) * (2 * t + 4 * nu - 1)
        below = np.where(first, 1.0, common * (2 * t + 2 * nu - 3))  # 0 / 0 at t = 1 if nu = 1/2
        momenta = (t - 1.0) * (2 * t - 3) * (2 * t + 2 * nu - 1) / below
        steps = 4.0 * (2 * t + 2 * nu - 1) * (t + nu - 1) / common
        return momenta, np.where(first, (4 * nu + 2) / (4 * nu + 1), steps)

    def _default_iterations(self, n: int) -> int:
        return max(50, 4 * ceil(sqrt(n)))
