"""Estimators that shrink along the eigenvectors of the Gram matrix: filters of the mean."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any, ClassVar, Self

import numpy as np

from shrinktest._validate import choice, count, positive
from shrinktest.estimators.base import MeanEstimator, Tuned, as_gram
from shrinktest.kernels import Kernel

# The amounts that tuning compares.  They are relative to the mean of K_ii and on the covariance scale, so that one grid
# serves every sample size and unit.  Below the grid an estimate cannot be told from the plain mean (its squared
# distance is at most amount/4 of the mean of K_ii), above it nothing is left; the two endpoints stand for both.
LAM_COV_GRID = np.concatenate([[0.0], np.logspace(-6.0, 3.0, 64), [np.inf]])
THRESHOLD_GRID = np.concatenate([[0.0], np.logspace(-6.0, 0.0, 64), [np.inf]])


def _check_amount(value: float | None, name: str) -> None:
    if value is not None and value != np.inf:  # infinity is the zero estimate
        positive(value, name, allow_zero=True)


class SpectralEstimator(MeanEstimator, Tuned):
    """A filter q(K/n) applied to the plain mean; compiled, refitted in every relabelling.

    Subclasses say which compiled pair (``score``, ``weigh``) they use, with which parameters ``theta`` and amounts.
    """

    @abstractmethod
    def loops(self) -> tuple[Callable[..., None], Callable[..., None]]:
        """The compiled ``score`` and ``weigh`` (imports numba)."""

    @abstractmethod
    def theta(self) -> np.ndarray:
        """Parameters of the loops."""

    @abstractmethod
    def amounts(self, n: int) -> np.ndarray:
        """Amounts to compare for a sample of n points, least shrinkage first (a single one: nothing is tuned)."""

    @abstractmethod
    def _unit(self, amount: float, gram: np.ndarray) -> Any:
        """An amount in the unit of the estimator's own parameter."""

    @abstractmethod
    def _at(self, amount: float) -> Self:
        """The estimator with this amount fixed, for samples of any size."""

    def weights(self, gram: Any) -> np.ndarray:
        """Weights (n,) of the estimate, for a positive semi-definite Gram matrix (n, n).

        Raises
        ------
        ValueError
            If the matrix is not square, symmetric and finite, or too indefinite for the filter.
        """
        return self._solve(as_gram(gram))[0]

    def check_size(self, n: int) -> None:
        """Raise ValueError if the estimator makes no sense for n points."""

    def _solve(self, gram: np.ndarray) -> tuple[np.ndarray, Any]:
        weights, amount = self._run(gram)
        # NaN: one point or a zero Gram matrix, where there is nothing to tune
        return weights, None if np.isnan(amount) else self._unit(amount, gram)

    def _run(self, gram: np.ndarray) -> tuple[np.ndarray, float]:
        from shrinktest._compiled.engine import fit
        from shrinktest._compiled.tridiagonal import workspace

        n = gram.shape[0]
        self.check_size(n)
        amounts = self.amounts(n)
        weights, scores = np.empty(n), np.empty(amounts.size)
        amount = fit(gram, self.theta(), amounts, workspace(n), scores, weights, *self.loops())
        if not np.isfinite(weights).all():
            raise ValueError(self._failure(gram))
        return weights, amount

    def _failure(self, gram: np.ndarray) -> str:
        smallest = np.linalg.eigvalsh(gram)[0]
        return (
            f"{self!r} could not be computed: the smallest eigenvalue of the Gram matrix is {smallest:.3g}; "
            "use a positive semi-definite kernel, or a larger amount of shrinkage"
        )

    def scores(self, gram: Any) -> tuple[np.ndarray, np.ndarray]:
        """Leave-one-out score of every amount that tuning compares.

        Returns
        -------
        amounts, scores : ndarray, shape (g,)
            Amounts as the tuning grid has them (see the class) and their scores.
        """
        g = as_gram(gram)
        amounts = self.amounts(g.shape[0])
        return amounts, self._score(g, amounts)

    def _score(self, gram: np.ndarray, amounts: np.ndarray) -> np.ndarray:
        from shrinktest._compiled.tridiagonal import workspace

        scores = np.zeros(amounts.size)
        self.loops()[0](gram, self.theta(), amounts, workspace(gram.shape[0]), scores)
        return scores

    def tuned(self, kernel: Kernel, *samples: np.ndarray) -> Self:
        from shrinktest._compiled.engine import choose, degenerate

        grams = [self.features(kernel, x)(x) for x in samples]
        if self.fixed or any(degenerate(gram) for gram in grams):
            return self
        amounts = self.amounts(max(gram.shape[0] for gram in grams))
        total = sum(self._score(gram, amounts) for gram in grams)
        best = choose(total, 1e-9 * sum(float(np.trace(gram)) / gram.shape[0] for gram in grams))
        if best < 0:
            raise ValueError(self._failure(grams[0]))
        return self._at(float(amounts[best]))


@dataclass(frozen=True, repr=False)
class _Tikhonov(SpectralEstimator):
    lam: float | None = None
    lam_cov: float | None = None
    loo: str = "deletion"

    _loo: ClassVar[tuple[str, ...]] = ("deletion", "paper")
    _iterations: ClassVar[int] = 1

    def _check(self) -> None:
        choice(self.loo, self._loo, "loo")
        if self.lam is not None and self.lam_cov is not None:
            raise ValueError(
                "lam (scale of the Gram matrix) and lam_cov (covariance scale, lam = n lam_cov mean K_ii) "
                "are two ways to say the same; give one of them"
            )
        _check_amount(self.lam, "lam")
        _check_amount(self.lam_cov, "lam_cov")
        if self.fixed and self.loo != "deletion":
            raise ValueError(f"loo={self.loo!r} is not used when lam or lam_cov is given; drop one of them")

    @property
    def fixed(self) -> bool:
        return self.lam is not None or self.lam_cov is not None

    def loops(self) -> tuple[Callable[..., None], Callable[..., None]]:
        from shrinktest._compiled.tikhonov import tikhonov_score, tikhonov_weigh

        return tikhonov_score, tikhonov_weigh

    def theta(self) -> np.ndarray:
        score = ("deletion", "paper", "averaged").index(self.loo)
        return np.array([self._iterations, score, self.lam is not None], dtype=np.float64)

    def amounts(self, n: int) -> np.ndarray:
        if self.fixed:
            return np.array([self.lam if self.lam is not None else self.lam_cov], dtype=np.float64)
        return LAM_COV_GRID

    def _unit(self, amount: float, gram: np.ndarray) -> float:
        return amount if self.lam is not None or amount == 0.0 else amount * float(np.trace(gram))

    def _at(self, amount: float) -> Self:
        return self.at(lam_cov=amount, loo="deletion")


@dataclass(frozen=True, repr=False)
class FKMSE(_Tikhonov):
    """Flexible shrinkage (Tikhonov): weights (K + lam I)^-1 K 1/n.

    Parameters
    ----------
    lam : float, optional
        Fixed amount on the scale of the Gram matrix ([M14] eq. (8)).
    lam_cov : float, optional
        Fixed amount on the covariance scale, relative to the mean of K_ii: lam = n * lam_cov * mean(K_ii).  A common
        amount for samples of any size.
    loo : {"deletion", "averaged", "paper"}
        Leave-one-out score when neither is given.  "deletion": every point really left out.  "averaged": the same with
        mean leverages, cheaper.  "paper": the closed form of [M14] Theorem 4, which keeps the left-out point in the
        basis and over-shrinks (erratum E1).
    tuning : {"auto", "sample", "joint", "pooled"}
        See :class:`~shrinktest.estimators.base.Tuned`.

    Notes
    -----
    The score is not unimodal, so tuning evaluates it on a fixed grid of lam_cov, 1e-6 to 1e3, with the plain mean and
    the zero estimate as endpoints; the same grid in every relabelling.

    Examples
    --------
    >>> import numpy as np
    >>> FKMSE(lam=1.0).weights(np.eye(2))
    array([0.25, 0.25])
    """

    summary: ClassVar[str] = "flexible shrinkage (Tikhonov), one factor per eigenvector"
    _loo: ClassVar[tuple[str, ...]] = ("deletion", "averaged", "paper")


@dataclass(frozen=True, repr=False)
class IteratedTikhonov(_Tikhonov):
    """Iterated Tikhonov: t steps of (K + lam I) b <- K 1/n + lam b; factors 1 - (lam / (D + lam))^t.

    Parameters
    ----------
    lam, lam_cov : float, optional
        Fixed amount, as for :class:`FKMSE`, which is the case t = 1.
    t : int, default 3
        Number of steps.
    loo : {"deletion", "paper"}
        Leave-one-out score when neither amount is given; "paper" is the analogue of [M14] Theorem 4.
    tuning : {"auto", "sample", "joint", "pooled"}
        See :class:`~shrinktest.estimators.base.Tuned`.

    Notes
    -----
    [S14] Table 1 with erratum E21: the update needs K 1/n, and the printed filter has lambda and gamma exchanged.

    Examples
    --------
    >>> import numpy as np
    >>> IteratedTikhonov(lam=1.0, t=2).weights(np.eye(2))
    array([0.375, 0.375])
    """

    summary: ClassVar[str] = "iterated Tikhonov, t steps of flexible shrinkage"

    t: int = 3

    def _check(self) -> None:
        super()._check()
        count(self.t, "t", 1)

    @property
    def _iterations(self) -> int:  # type: ignore[override]
        return self.t


@dataclass(frozen=True, repr=False)
class _Gradient(SpectralEstimator):
    t: int | None = None
    eta: float | None = None
    max_iter: int | None = None
    loo: str = "deletion"

    _largest: ClassVar[float] = 1.0  # eta times the largest eigenvalue of K/n must stay below or at this

    def _check(self) -> None:
        choice(self.loo, ("deletion", "paper"), "loo")
        for name in ("t", "max_iter"):
            if getattr(self, name) is not None:
                count(getattr(self, name), name, 1)
        if self.eta is not None:
            positive(self.eta, "eta")
        if self.fixed and (self.max_iter is not None or self.loo != "deletion"):
            raise ValueError("max_iter and loo are for choosing t; they are not used when t is given: drop one of them")

    @property
    def fixed(self) -> bool:
        return self.t is not None

    def loops(self) -> tuple[Callable[..., None], Callable[..., None]]:
        from shrinktest._compiled.gradient import gradient_score, gradient_weigh

        return gradient_score, gradient_weigh

    def theta(self) -> np.ndarray:
        accelerated, nu = self._polynomial()
        return np.array([accelerated, nu, self.eta or 0.0, self.loo == "paper"], dtype=np.float64)

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

    def _run(self, gram: np.ndarray) -> tuple[np.ndarray, float]:
        if self.eta is not None:
            speed = self.eta * np.linalg.eigvalsh(gram)[-1] / gram.shape[0]
            if speed > self._largest:
                raise ValueError(
                    f"eta={self.eta!r} diverges: eta times the largest eigenvalue of K/n is {speed:.3g} and may be at "
                    f"most {self._largest:g}; use eta=None for the safe step 1 / max K_ii, or a smaller one"
                )
        return super()._run(gram)

    def _unit(self, amount: float, gram: np.ndarray) -> int:
        return int(amount)

    def _at(self, amount: float) -> Self:
        return self.at(t=int(amount), max_iter=None, loo="deletion")


@dataclass(frozen=True, repr=False)
class Landweber(_Gradient):
    """Landweber iteration (L2 boosting), stopped early: b <- b + (eta/n) (K 1/n - K b), t times from 0.

    Parameters
    ----------
    t : int, optional
        Fixed number of iterations; tuned by a leave-one-out score when not given.
    eta : float, optional
        Step size on K/n, below 2 over its largest eigenvalue; default 1 / max K_ii, which is always safe.
    max_iter : int, optional
        Largest t that tuning compares, default max(50, 2n).
    loo : {"deletion", "paper"}
        Leave-one-out score: every point really left out, or the filter analogue of [M14] Theorem 4 (erratum E1).
    tuning : {"auto", "sample", "joint", "pooled"}
        See :class:`~shrinktest.estimators.base.Tuned`.

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

    def _polynomial(self) -> tuple[bool, float]:
        return False, 1.0

    def _default_iterations(self, n: int) -> int:
        return max(50, 2 * n)


@dataclass(frozen=True, repr=False)
class NuMethod(_Gradient):
    """The nu-method (accelerated L2 boosting), stopped early.

    Parameters
    ----------
    t : int, optional
        Fixed number of iterations; tuned by a leave-one-out score when not given.
    nu : float, default 1.0
        Qualification of the method, positive.
    eta : float, optional
        Step size on K/n, at most 1 over its largest eigenvalue; default 1 / max K_ii.
    max_iter : int, optional
        Largest t that tuning compares, default max(50, 4 sqrt(n)): t iterations do what t^2 of Landweber's do.
    loo : {"deletion", "paper"}
        As for :class:`Landweber`.
    tuning : {"auto", "sample", "joint", "pooled"}
        See :class:`~shrinktest.estimators.base.Tuned`.

    Notes
    -----
    [S14] Table 1; the coefficients, which the paper does not print (erratum E20), are those of the normalised Jacobi
    polynomials.  The filter overshoots slightly (factors up to about 1.12 for nu = 1): not a pure shrinkage.

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


@dataclass(frozen=True, repr=False)
class TSVD(SpectralEstimator):
    """Truncated SVD: the plain mean projected on leading eigenvectors of the Gram matrix (the kernel-PCA basis).

    Parameters
    ----------
    m : int, optional
        Number of components kept (those in the null space of K carry nothing and are not counted).
    threshold : float, optional
        Keep the eigenvalues of K/n that are at least threshold * mean(K_ii).
    rule : {"loo", "gcv"}
        How the threshold is tuned when neither is given: the leave-one-out score of the filter, or generalised
        cross-validation, which is here for replication: it has no noise to trade off and hardly ever truncates (E24).
    tuning : {"auto", "sample", "joint", "pooled"}
        See :class:`~shrinktest.estimators.base.Tuned`.

    Notes
    -----
    [S14] Table 1.  Tuning compares thresholds rather than numbers of components, so that equal eigenvalues stay
    together and samples of different sizes can share one.

    Examples
    --------
    >>> import numpy as np
    >>> TSVD(m=1).weights(np.array([[1.0, 0.5], [0.5, 1.0]]))
    array([0.5, 0.5])
    """

    summary: ClassVar[str] = "truncated SVD (projection on leading eigenvectors)"

    m: int | None = None
    threshold: float | None = None
    rule: str = "loo"

    def _check(self) -> None:
        choice(self.rule, ("loo", "gcv"), "rule")
        if self.m is not None and self.threshold is not None:
            raise ValueError("m and threshold both fix what is kept; give one of them")
        if self.m is not None:
            count(self.m, "m", 1)
        _check_amount(self.threshold, "threshold")
        if self.fixed and self.rule != "loo":
            raise ValueError(f"rule={self.rule!r} is not used when m or threshold is given; drop one of them")

    @property
    def fixed(self) -> bool:
        return self.m is not None or self.threshold is not None

    def check_size(self, n: int) -> None:
        if self.m is not None and self.m > n:
            raise ValueError(f"m={self.m} components cannot be kept from a sample of {n} points; use m <= {n}")

    def loops(self) -> tuple[Callable[..., None], Callable[..., None]]:
        from shrinktest._compiled.truncation import truncation_score, truncation_weigh

        return truncation_score, truncation_weigh

    def theta(self) -> np.ndarray:
        return np.array([self.m or 0, self.rule == "gcv"], dtype=np.float64)

    def amounts(self, n: int) -> np.ndarray:
        if self.m is not None:
            return np.array([self.m], dtype=np.float64)
        return THRESHOLD_GRID if self.threshold is None else np.array([self.threshold], dtype=np.float64)

    def _unit(self, amount: float, gram: np.ndarray) -> int:
        if self.m is not None:
            return self.m
        values = np.linalg.eigvalsh(gram)
        floor = max(amount * (1.0 - 1e-9) * float(np.trace(gram)), 1e-12 * values[-1])
        return int((values >= floor).sum())

    def _at(self, amount: float) -> Self:
        return self.at(threshold=amount, rule="loo")
