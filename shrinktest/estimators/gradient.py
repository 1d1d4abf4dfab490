"""Gradient methods stopped early: Landweber iteration and the nu-method."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any, ClassVar, Self

import numpy as np

from shrinktest._validate import choice, positive
from shrinktest.estimators.spectral import Loops, Sample, SpectralEstimator, check_steps

_FEW = 4  # steps up to which products with the whole Gram matrix are the quickest way


@dataclass(frozen=True, repr=False)
class _Gradient(SpectralEstimator):
    t: int | None = None
    eta: float | None = None
    max_iter: int | None = None
    loo: str = "deletion"

    amount: ClassVar[str] = "iterations"
    _largest: ClassVar[float] = 1.0  # eta times the largest eigenvalue of K/n must stay below or at this

    def _check(self) -> None:
        choice(self.loo, ("deletion", "paper"), "loo")
        for name in ("t", "max_iter"):
            if getattr(self, name) is not None:
                check_steps(getattr(self, name), name)
        if self.eta is not None:
            positive(self.eta, "eta")
        if self.fixed and (self.max_iter is not None or self.loo != "deletion"):
            raise ValueError("max_iter and loo are for choosing t; they are not used when t is given: drop one of them")

    @property
    def fixed(self) -> bool:
        return self.t is not None

    def loops(self) -> Loops:
        from shrinktest._compiled import gradient as compiled

        scores = {"deletion": compiled.score_by_deletion, "paper": compiled.score_by_paper}
        return compiled.reduce_only if self.fixed else scores[self.loo], compiled.gradient_weigh

    def theta(self) -> np.ndarray:
        accelerated, nu = self._polynomial()
        return np.array([accelerated, nu, self.eta or 0.0], dtype=np.float64)

    @abstractmethod
    def _polynomial(self) -> tuple[bool, float]:
        """Whether it is the nu-method, and nu."""

    @abstractmethod
    def _default_iterations(self, n: int) -> int:
        """Largest number of iterations that tuning compares."""

    def amounts(self, n: int) -> np.ndarray:
        if self.t is not None:
            return np.array([self.t], dtype=np.float64)
        return np.arange(1.0, (self.max_iter or self._default_iterations(n)) + 1.0)

    def _check_sample(self, sample: Sample) -> None:
        if self.eta is not None:
            speed = self.eta * np.linalg.eigvalsh(sample.matrix)[-1] / sample.n
            if speed > self._largest:
                raise ValueError(
                    f"eta={self.eta!r} diverges: eta times the largest eigenvalue of K/n is {speed:.3g} and may be at "
                    f"most {self._largest:g}; use eta=None for the safe step 1 / max K_ii, or a smaller one"
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
        Fixed number of iterations, 10 million at most; tuned by a leave-one-out score when not given.
    eta : float, optional
        Step size on K/n, below 2 over its largest eigenvalue; default 1 / max K_ii, which is always safe.
    max_iter : int, optional
        Largest t that tuning compares, default max(50, 2n).
    loo : {"deletion", "paper"}
        Leave-one-out score: each point left out exactly, or the filter analogue of [M14] Theorem 4 (erratum E1).
    tuning : {"auto", "sample", "joint", "pooled"}
        What the amount is chosen for, again in every permutation: "sample", each sample by itself; "joint", one amount
        for both.  "pooled": once, for both together.  "auto" is "sample", or "joint" for samples of unequal sizes.

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
    _largest: ClassVar[float] = 2.0

    @property
    def few_steps(self) -> bool:
        return self.t is not None and self.t <= _FEW

    def descend(self, image: Callable[[np.ndarray], np.ndarray], start: np.ndarray, n: int, largest: Any) -> np.ndarray:
        """Weights after ``t`` steps, of one sample of n points or of a row for each of many.

        ``image`` takes weights to their products with the Gram matrix, within the sample; ``start`` is 1/n for its
        points, (n,) or (B, N), and ``largest`` its largest K_ii, a number or (B, 1).
        """
        step = np.divide(1.0, largest, where=np.greater(largest, 0.0), out=np.zeros_like(np.asarray(largest, float)))
        weights = np.zeros_like(start)
        for _ in range(self.t or 0):
            weights = weights + (self.eta or step) / n * image(start - weights)
        return weights

    def _run(self, sample: Sample) -> tuple[np.ndarray, float]:
        if sample.coordinates is not None or not self.few_steps:
            return super()._run(sample)
        k, n = sample.matrix, sample.n
        return self.descend(lambda weights: k @ weights, np.full(n, 1.0 / n), n, np.diagonal(k).max()), float(
            self.t or 0
        )

    def _polynomial(self) -> tuple[bool, float]:
        return False, 1.0

    def _default_iterations(self, n: int) -> int:
        return max(50, 2 * n)


@dataclass(frozen=True, repr=False)
class NuMethod(_Gradient):
    """Kernel mean by the nu-method (accelerated L2 boosting), stopped early.

    Parameters
    ----------
    t : int, optional
        Fixed number of iterations, 10 million at most; tuned by a leave-one-out score when not given.
    nu : float, default 1.0
        Qualification of the method, positive.
    eta : float, optional
        Step size on K/n, at most 1 over its largest eigenvalue; default 1 / max K_ii.
    max_iter : int, optional
        Largest t that tuning compares, default max(50, 4 sqrt(n)): t iterations do what t^2 of Landweber's do.
    loo : {"deletion", "paper"}
        As for :class:`Landweber`.
    tuning : {"auto", "sample", "joint", "pooled"}
        What the amount is chosen for, again in every permutation: "sample", each sample by itself; "joint", one amount
        for both.  "pooled": once, for both together.  "auto" is "sample", or "joint" for samples of unequal sizes.

    Notes
    -----
    [S14] Table 1; the coefficients, which the paper does not print (erratum E20), are those of the normalised Jacobi
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

    def _polynomial(self) -> tuple[bool, float]:
        return True, float(self.nu)

    def _default_iterations(self, n: int) -> int:
        return max(50, 4 * ceil(sqrt(n)))
