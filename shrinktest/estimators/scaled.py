"""Scale the plain average: the standard mean and simple shrinkage."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from shrinktest._check import as_points, choice, counted, numbers_or_nan
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators.mean_estimator import MeanEstimator, Samples, Tuned, as_gram
from shrinktest.kernels import Kernel
from shrinktest.kernels.inner import FeatureMap

#: Sum of the entries and trace of one sample's Gram matrix (numbers, or arrays over permutations), and its size.
Sums = tuple[Any, Any, int]


_ENTRIES = 2**26  # entries of a Gram matrix that are in memory at a time where its sum is all that matters


class ScaledMean(MeanEstimator):
    """Base class of estimators s (1/n) sum_i phi_i."""

    needs = "sums"

    @property
    def by_coordinates(self) -> bool:
        return self.needs == "sums"

    @abstractmethod
    def scale(self, *sums: Sums) -> Any:
        """Return the factor s of one sample, or of several together, from the sums of their Gram matrices."""

    def weights(self, gram: Any) -> np.ndarray:
        """Equal weights s/n, shape (n,), for a Gram matrix (n, n)."""
        return self._solve(as_gram(gram))[0]

    def fit_samples(self, samples: Sequence[Samples], joint: bool = False) -> list[np.ndarray]:
        sums = [_stack_sums(stack) for stack in samples]
        factors = [self.scale(*sums)] * len(sums) if joint else [self.scale(one) for one in sums]
        return [np.repeat(s[:, None] / n, n, axis=1) for s, (_, _, n) in zip(factors, sums, strict=True)]

    def embed(self, points: np.ndarray, kernel: Kernel) -> MeanEmbedding:
        weights, amount = self._scaled(_sums(self.features(kernel, points), points))
        return MeanEmbedding(points, weights, kernel, amount)

    def _solve(self, gram: np.ndarray) -> tuple[np.ndarray, Any]:
        return self._scaled((gram.sum(), np.trace(gram), gram.shape[0]))

    def _scaled(self, sums: Sums) -> tuple[np.ndarray, Any]:
        s = float(self.scale(sums))
        return np.full(sums[2], s / sums[2]), self._amount(s)

    def _amount(self, s: float) -> Any:
        return None


def _stack_sums(stack: Samples) -> Sums:
    values = stack.values
    if stack.by_coordinates:
        return np.square(values.sum(axis=1)).sum(axis=1), np.square(values).sum(axis=(1, 2)), values.shape[1]
    return values.sum(axis=(1, 2)), np.trace(values, axis1=1, axis2=2), values.shape[1]


def _sums(kernel: Kernel, points: np.ndarray) -> Sums:
    if isinstance(kernel, FeatureMap):  # no Gram matrix
        total = kernel.combination(points, np.ones(len(points)))
        return float(total @ total), float(kernel.diagonal(points).sum()), len(points)
    rows = max(1, _ENTRIES // max(1, len(points)))
    if rows >= len(points):
        gram = kernel(points)
        return gram.sum(), np.trace(gram), len(points)
    entries = math.fsum(kernel.block(points[i : i + rows], points).sum() for i in range(0, len(points), rows))
    return entries, float(kernel.diagonal(points).sum()), len(points)


def _constant(value: float, sums: tuple[Sums, ...]) -> np.ndarray:
    return np.full_like(np.asarray(sums[0][0], dtype=np.float64), value)


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
        "loocv": the minimizer of the leave-one-out score ([M14] Theorem 3), 1 - alpha = (n-1) r / ((n-2) r + v) with r
        the off-diagonal and v the diagonal mean of the Gram matrix; "plugin": the oracle formula of [M14] Theorem 1
        with unbiased estimates at size n, which shrinks slightly less.
    alpha : float in [0, 1], optional
        Fixed amount, in place of a rule.
    decay : (c, beta), optional
        Data-free amount lam = c n^-beta, both >= 0, 1 - alpha = 1 / (1 + lam) ([S14] Theorem 1).
    target : (points, weights), optional
        f* = sum_a weights_a k(points_a, .), fixed beforehand (not built from the sample).
    tuning : {"auto", "sample", "joint", "pooled"}
        "sample" chooses an amount for each sample and "joint" one for all, again in every permutation; "pooled"
        chooses once, on all observations.  "auto" is "sample", or "joint" for samples of unequal sizes.

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
            pair = numbers_or_nan(self.decay)
            if pair.shape != (2,) or not (np.isfinite(pair).all() and (pair >= 0.0).all()):
                raise ValueError(f"decay must be a pair (c, beta) of finite numbers >= 0; found {self.decay!r}")
        if self.target is not None:
            if not isinstance(self.target, tuple | list) or len(self.target) != 2:
                raise ValueError(f"target must be a pair (points, weights); found {self.target!r}")
            z, w = as_points(self.target[0], "target points").values, np.atleast_1d(numbers_or_nan(self.target[1]))
            if w.shape != (len(z),) or not (np.isfinite(w).all() and np.isfinite(z).all()):
                raise ValueError(f"target needs one finite weight for each of {counted(len(z), 'point')}; found {w!r}")
            # hashable, so that equal targets make equal estimators
            object.__setattr__(self, "target", (tuple(map(tuple, z.tolist())), tuple(w.tolist())))

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
        slope, curvature = np.asarray(sum(slopes), dtype=np.float64), np.asarray(sum(curvatures), dtype=np.float64)
        usable = curvature > 0.0  # else there is nothing to shrink
        return np.where(usable, np.clip(slope / np.where(usable, curvature, 1.0), 0.0, 1.0), 1.0)

    def _score(self, total: Any, trace: Any, n: int) -> tuple[Any, Any]:
        """Return (r, A) of the score v - 2 s r + s^2 A: r the off-diagonal mean, A that of |mu^(-i)|^2, or plug-in."""
        diagonal = trace / n
        off_diagonal = (total - trace) / (n * (n - 1.0))
        if self.rule == "loocv":
            return off_diagonal, ((n - 2.0) * off_diagonal + diagonal) / (n - 1.0)
        return off_diagonal, ((n - 1.0) * off_diagonal + diagonal) / n

    def features(self, kernel: Kernel, points: np.ndarray) -> Kernel:
        return kernel if self.target is None else Target(kernel, *self._target(points.shape[1]))

    @property
    def changes_features(self) -> bool:
        return self.target is not None

    def scales_all_alike(self, sizes: tuple[int, ...]) -> bool:
        return self.fixed and (self.decay is None or len(set(sizes)) == 1)

    def check_pairs(self) -> None:
        if self.target is not None:
            raise ValueError("target= is not for an independence test, whose natural target is zero; leave it out")

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
        both = np.vstack([points, z]), np.concatenate([fitted.weights, fitted.shrinkage * w])
        return MeanEmbedding(*both, kernel, fitted.shrinkage)

    def _amount(self, s: float) -> float:
        return 1.0 - s

    def tuned(self, kernel: Kernel, *samples: np.ndarray) -> Self:
        if self.fixed:
            return self
        s = float(self.scale(*(_sums(self.features(kernel, x), x) for x in samples)))
        return self.at(alpha=1.0 - s, rule="loocv")
