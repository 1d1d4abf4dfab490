"""Estimators that scale the plain average: the standard mean and simple shrinkage."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from shrinktest._validate import as_points, choice, counted, numbers
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators.base import MeanEstimator, Tuned, as_gram
from shrinktest.kernels import Kernel
from shrinktest.kernels.inner import FeatureMap

#: Sum of the entries and trace of one sample's Gram matrix (numbers, or arrays over relabellings), and its size.
Sums = tuple[Any, Any, int]


class ScaledMean(MeanEstimator):
    """Base class of estimators that scale the plain average: s (1/n) sum_i phi_i."""

    needs = "sums"

    @property
    def by_coordinates(self) -> bool:
        return self.needs == "sums"

    @abstractmethod
    def scale(self, *sums: Sums) -> Any:
        """The factor s that one sample, or several together, get from the sums of their Gram matrices."""

    def weights(self, gram: Any) -> np.ndarray:
        """Equal weights s/n, shape (n,), for a Gram matrix (n, n)."""
        return self._solve(as_gram(gram))[0]

    def embed(self, points: np.ndarray, kernel: Kernel) -> MeanEmbedding:
        weights, amount = self._scaled(_sums(self.features(kernel, points), points))
        return MeanEmbedding(points, weights, kernel, amount)

    def _solve(self, gram: np.ndarray) -> tuple[np.ndarray, Any]:
        return self._scaled((gram.sum(), np.trace(gram), gram.shape[0]))

    def _scaled(self, sums: Sums) -> tuple[np.ndarray, Any]:
        n = sums[2]
        s = float(self.scale(sums))
        return np.full(n, s / n), self._amount(s)

    def _amount(self, s: float) -> Any:
        return None


def _sums(kernel: Kernel, points: np.ndarray) -> Sums:
    """Sum and trace of a Gram matrix, which is not formed where the kernel has coordinates."""
    if isinstance(kernel, FeatureMap):
        total = kernel.combination(points, np.ones(len(points)))
        return float(total @ total), float(kernel.diagonal(points).sum()), len(points)
    gram = kernel(points)
    return gram.sum(), np.trace(gram), len(points)


@dataclass(frozen=True, repr=False)
class KME(ScaledMean):
    """Standard kernel mean, the plain average (1/n) sum_i k(x_i, .).

    Examples
    --------
    >>> import numpy as np
    >>> KME().weights(np.eye(4))
    array([0.25, 0.25, 0.25, 0.25])
    """

    summary: ClassVar[str] = "standard kernel mean (plain average)"
    unbiased_pairs: ClassVar[bool] = True

    def scale(self, *sums: Sums) -> Any:
        return _constant(1.0, sums)

    def weighs_all_alike(self, sizes: tuple[int, ...]) -> bool:
        return True

    def embed(self, points: np.ndarray, kernel: Kernel) -> MeanEmbedding:
        if not isinstance(kernel, FeatureMap):
            kernel.check(points)
        return MeanEmbedding(points, np.full(len(points), 1.0 / len(points)), kernel)


def _constant(value: float, sums: tuple[Sums, ...]) -> np.ndarray:
    return np.full_like(np.asarray(sums[0][0], dtype=np.float64), value)


def _ratio(numerator: Any, denominator: Any) -> np.ndarray:
    """Numerator / denominator clamped to [0, 1]; 1 where the denominator leaves nothing to shrink."""
    numerator, denominator = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    usable = denominator > 0.0
    return np.where(usable, np.clip(numerator / np.where(usable, denominator, 1.0), 0.0, 1.0), 1.0)


@dataclass(frozen=True, eq=False)
class Target(Kernel):
    """Kernel of the features phi(x) - f*, f* = sum_a w_a k(z_a, .): shrinking to f* is shrinking these to 0."""

    kernel: Kernel
    points: np.ndarray
    weights: np.ndarray

    def evaluate(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        norm = float(self.weights @ self.kernel(self.points) @ self.weights)
        at_x, at_y = (self.kernel(Z, self.points) @ self.weights for Z in (X, Y))
        return self.kernel(X, Y) - at_x[:, None] - at_y[None, :] + norm


@dataclass(frozen=True, repr=False)
class SKMSE(Tuned, ScaledMean):
    """Kernel mean with simple shrinkage: (1 - alpha) mu_hat + alpha f*, with f* = 0 unless a target is given.

    Parameters
    ----------
    rule : {"loocv", "plugin"}
        "loocv": the minimiser of the leave-one-out score ([M14] Theorem 3), 1 - alpha = (n-1) r / ((n-2) r + v) with r
        the off-diagonal and v the diagonal mean of the Gram matrix; "plugin": the oracle formula of [M14] Theorem 1
        with unbiased estimates at size n, which shrinks slightly less.
    alpha : float in [0, 1], optional
        Fixed amount instead of a rule.
    decay : (c, beta), optional
        Data-free amount lam = c n^-beta, both >= 0, 1 - alpha = 1 / (1 + lam) ([S14] Theorem 1).
    target : (points, weights), optional
        f* = sum_a weights_a k(points_a, .), fixed beforehand (not built from the sample).
    tuning : {"auto", "sample", "joint", "pooled"}
        What the amount is chosen for, again in every permutation: "sample", each sample by itself; "joint", one amount
        for both.  "pooled": once, for both together.  "auto" is "sample", or "joint" for samples of unequal sizes.

    Notes
    -----
    1 - alpha is clamped to [0, 1]: alpha exceeds 1 exactly when the off-diagonal mean is negative (erratum E8).  For
    two samples, any *common* amount that is not retuned leaves the p-value of the standard mean unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> SKMSE().weights(np.array([[1.0, 0.5], [0.5, 1.0]]))
    array([0.25, 0.25])
    """

    summary: ClassVar[str] = "simple shrinkage towards zero or a target"
    amount: ClassVar[str] = "alpha"

    rule: str = "loocv"
    alpha: float | None = None
    decay: tuple[float, float] | None = None
    target: Any = None

    def _check(self) -> None:
        choice(self.rule, ("loocv", "plugin"), "rule")
        if self.alpha is not None:
            if not (isinstance(self.alpha, Real) and 0 <= self.alpha <= 1) or isinstance(self.alpha, bool):
                raise ValueError(f"alpha must be a number from 0 (no shrinkage) to 1 (all); found {self.alpha!r}")
            if self.decay is not None:
                raise ValueError("alpha and decay both fix the amount of shrinkage; give one of them")
        if self.fixed and self.rule != "loocv":
            raise ValueError(f"rule={self.rule!r} is not used when alpha or decay fixes the amount; drop one of them")
        if self.decay is not None:
            c, beta = map(numbers, self._pair(self.decay, "decay", "(c, beta)"))
            if c.ndim or beta.ndim or not all(np.isfinite(number) and number >= 0.0 for number in (c, beta)):
                raise ValueError(f"decay=(c, beta) needs a finite c >= 0 and a finite beta >= 0; found {self.decay!r}")
        if self.target is not None:
            points, weights = self._pair(self.target, "target", "(points, weights)")
            z = as_points(points, "target points").values
            w = np.atleast_1d(numbers(weights))
            if w.shape != (z.shape[0],) or not (np.isfinite(w).all() and np.isfinite(z).all()):
                raise ValueError(
                    f"target=(points, weights): {counted(len(z), 'point')} must have as many finite weights; found "
                    f"{weights!r}"
                )
            hashable = (tuple(map(tuple, z.tolist())), tuple(w.tolist()))
            object.__setattr__(self, "target", hashable)  # a value: two equal targets make equal estimators

    @staticmethod
    def _pair(value: Any, name: str, form: str) -> Any:
        if not isinstance(value, tuple | list) or len(value) != 2:
            raise ValueError(f"{name} must be a pair {form}; found {value!r}")
        return value

    @property
    def fixed(self) -> bool:
        return self.alpha is not None or self.decay is not None

    def scale(self, *sums: Sums) -> Any:
        if self.alpha is not None:
            return _constant(1.0 - self.alpha, sums)
        if self.decay is not None:
            c, beta = self.decay
            return _constant(1.0 / (1.0 + c * float(sums[0][2]) ** -beta), sums)
        if min(n for _, _, n in sums) == 1:  # a single point cannot be left out
            return _constant(1.0, sums)
        slopes, curvatures = zip(*(self._score(*one) for one in sums), strict=True)
        return _ratio(sum(slopes), sum(curvatures))

    def _score(self, total: Any, trace: Any, n: int) -> tuple[Any, Any]:
        """(r, A) of the score v - 2 s r + s^2 A: r the off-diagonal mean, A that of |mu^(-i)|^2 (or its plug-in)."""
        diagonal = trace / n
        off_diagonal = (total - trace) / (n * (n - 1.0))
        if self.rule == "loocv":
            return off_diagonal, ((n - 2.0) * off_diagonal + diagonal) / (n - 1.0)
        return off_diagonal, ((n - 1.0) * off_diagonal + diagonal) / n

    def features(self, kernel: Kernel, points: np.ndarray) -> Kernel:
        if self.target is None:
            return kernel
        return Target(kernel, *self._target(points.shape[1]))

    @property
    def changes_features(self) -> bool:
        return self.target is not None

    def scales_all_alike(self, sizes: tuple[int, ...]) -> bool:
        return self.fixed and (self.decay is None or len(set(sizes)) == 1)

    def check_pairs(self) -> None:
        if self.target is not None:
            raise ValueError(
                "target= is a point of one sample's RKHS; an independence test has a sample of centred pairs, whose "
                "natural target is zero, that is, independence: leave it out"
            )

    def _target(self, columns: int) -> tuple[np.ndarray, np.ndarray]:
        z, w = np.array(self.target[0]), np.array(self.target[1])
        if z.shape[1] != columns:
            raise ValueError(f"target points have {counted(z.shape[1], 'column')}, the sample has {columns}")
        return z, w

    def embed(self, points: np.ndarray, kernel: Kernel) -> MeanEmbedding:
        fitted = super().embed(points, kernel)
        if self.target is None:
            return fitted
        z, w = self._target(points.shape[1])
        alpha = fitted.shrinkage
        both = np.vstack([points, z]), np.concatenate([fitted.weights, alpha * w])
        return MeanEmbedding(*both, kernel, alpha)

    def _amount(self, s: float) -> float:
        return 1.0 - s

    def tuned(self, kernel: Kernel, *samples: np.ndarray) -> Self:
        if self.fixed:
            return self
        s = float(self.scale(*(_sums(self.features(kernel, x), x) for x in samples)))
        return self.at(alpha=1.0 - s, rule="loocv")
