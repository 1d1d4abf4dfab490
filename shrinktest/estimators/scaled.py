"""Scale the plain average: the standard mean and simple shrinkage."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from shrinktest._check import complete_points, counted, numbers_or_nan
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators.mean_estimator import (
    BuiltIn,
    Check,
    SampleStack,
    Tuned,
    non_negative,
    one_of,
)
from shrinktest.kernels import Kernel
from shrinktest.kernels.inner import FeatureMap

#: Sum of the entries and trace of one sample's Gram matrix (numbers, or arrays over permutations),
#: and its size.
Sums = tuple[Any, Any, int]

_ENTRIES = 2**26  # entries of a Gram matrix that are in memory at a time if only its sum matters


class ScaledMean(BuiltIn):
    """Base class of estimators s (1/n) sum_i phi_i, with s = 1 unless a subclass scales."""

    needs = "sums"
    by_coordinates = True

    def scale(self, *sums: Sums) -> Any:
        """Return the factor s of one or several samples from their Gram matrix sums.

        Several samples are treated together.
        """
        return np.ones_like(np.asarray(sums[0][0], dtype=np.float64))

    def weighs_all_alike(self, sizes: tuple[int, ...]) -> bool:
        return self.unbiased_pairs or self.scales_all_alike(sizes)

    def fit_samples(self, samples: Sequence[SampleStack], joint: bool = False) -> list[np.ndarray]:
        sums: list[Sums] = []
        for stack in samples:
            z = stack.values
            total = (
                np.square(z.sum(axis=1)).sum(axis=1) if stack.by_coordinates else z.sum(axis=(1, 2))
            )
            sums.append((total, stack.diagonal.sum(axis=1), stack.n))
        factors = (
            [self.scale(*sums)] * len(sums) if joint else [self.scale(sample) for sample in sums]
        )
        return [
            np.repeat(s[:, None] / n, n, axis=1) for s, (_, _, n) in zip(factors, sums, strict=True)
        ]

    def embed(self, points: np.ndarray, kernel: Kernel) -> MeanEmbedding:
        weights, amount = self._scaled(_sums(self.features(kernel, points), points))
        return MeanEmbedding(points, weights, kernel, amount)

    def _solve(self, gram: np.ndarray) -> tuple[np.ndarray, Any]:
        return self._scaled((gram.sum(), np.trace(gram), len(gram)))

    def _scaled(self, sums: Sums) -> tuple[np.ndarray, Any]:
        s = float(self.scale(sums))
        return np.full(sums[2], s / sums[2]), None if self.unbiased_pairs else 1.0 - s


def _sums(kernel: Kernel, points: np.ndarray) -> Sums:
    n = len(points)
    rows = max(1, _ENTRIES // n)
    if isinstance(kernel, FeatureMap):  # no Gram matrix
        combination = kernel.combination(points, np.ones(n))
        total: Any = combination @ combination
    elif rows >= n:
        gram = kernel(points)
        return gram.sum(), np.trace(gram), n
    else:
        total = math.fsum(
            kernel.block(points[i : i + rows], points).sum() for i in range(0, n, rows)
        )
    return total, kernel.diagonal(points).sum(), n


@dataclass(frozen=True, repr=False)
class KME(ScaledMean):
    """Standard kernel mean, the plain average (1/n) sum_i k(x_i, .).

    This estimator has no parameters.

    Examples
    --------
    >>> KME().weights([[1.0, 0.5], [0.5, 1.0]])
    array([0.5, 0.5])
    """

    summary = "standard kernel mean (plain average)"
    unbiased_pairs = True

    def embed(self, points: np.ndarray, kernel: Kernel) -> MeanEmbedding:
        if not isinstance(kernel, FeatureMap):
            kernel.check(points)
        return MeanEmbedding(points, np.full(len(points), 1.0 / len(points)), kernel)


@dataclass(frozen=True, eq=False)
class Target(Kernel):
    """Kernel of the features phi(x) - f*, f* = sum_a w_a k(z_a, .).

    Shrinking to f* is shrinking these features to 0.
    """

    kernel: Kernel
    points: np.ndarray
    weights: np.ndarray

    def evaluate(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        norm = float(self.weights @ self.kernel(self.points) @ self.weights)
        at_x, at_y = (self.kernel(Z, self.points) @ self.weights for Z in (X, Y))
        return self.kernel(X, Y) - at_x[:, None] - at_y[None, :] + norm


@dataclass(frozen=True, repr=False)
class SKMSE(Tuned, ScaledMean):
    """Kernel mean with simple shrinkage: (1 - alpha) mu_hat + alpha f*.

    The target f* is 0 by default.  1 - alpha is clamped to [0, 1], because alpha exceeds 1 exactly
    when the off-diagonal mean is negative (erratum E8 in :doc:`/errata`).  For two samples, any
    *common* amount that is not retuned leaves the p-value of the standard mean unchanged.

    Parameters
    ----------
    rule : {"loocv", "plugin"}, default "loocv"
        "loocv" minimizes the leave-one-out score ([M14] Theorem 3), so that 1 - alpha = (n-1) r /
        ((n-2) r + v), where r is the off-diagonal and v the diagonal mean of the Gram matrix;
        "plugin" estimates the optimum of [M14] Theorem 1 at size n, which shrinks slightly less.
    alpha : float in [0, 1], optional
        Fixed amount of shrinkage (not a significance level), which replaces the rule.
    decay : (c, beta), optional
        Data-free amount lam = c n^-beta, both >= 0, so that 1 - alpha = 1 / (1 + lam) ([S14]
        Theorem 1).
    target : (points, weights), optional
        f* = sum_a weights_a k(points_a, .), which must not be computed from the sample.
    tuning : {"auto", "sample", "joint", "pooled"}, default "auto"
        "sample" chooses an amount for each sample and "joint" one for all, anew in every
        permutation, whereas "pooled" chooses once, on all observations.  "auto" is "sample", but
        "joint" for samples of unequal sizes.

    References
    ----------
    .. [M14] Muandet et al., "Kernel mean estimation and Stein effect", ICML, 2014.
    .. [S14] Muandet et al., "Kernel mean estimation via spectral filtering", NeurIPS, 2014.

    Examples
    --------
    >>> SKMSE().weights([[1.0, 0.5], [0.5, 1.0]])
    array([0.25, 0.25])
    """

    summary = "simple shrinkage towards zero or a target"
    sources = ("M14",)
    amount = "alpha"

    _amounts = ("alpha", "decay")
    _options = ("tuning", "rule")
    _checks: ClassVar[dict[str, Check]] = {
        "rule": one_of("loocv", "plugin"),
        "alpha": lambda value, name: _numbers(value, name, 1, 1.0)[0],
        "decay": lambda value, name: _numbers(value, name, 2),
        "target": lambda value, name: _as_target(value, name),
    }

    rule: str = "loocv"
    alpha: float | None = None
    decay: tuple[float, float] | None = None
    target: Any = None

    def scale(self, *sums: Sums) -> Any:
        plain = super().scale(*sums)
        if self.alpha is not None:
            return plain * (1.0 - self.alpha)
        if self.decay is not None:
            c, beta = self.decay
            return plain / (1.0 + c * float(sums[0][2]) ** -beta)
        if min(n for _, _, n in sums) == 1:  # a single point cannot be left out
            return plain
        slope = curvature = np.zeros(())
        for (
            total,
            trace,
            n,
        ) in sums:  # the score is v - 2 s r + s^2 A, A the mean of |mu^(-i)|^2, or plug-in
            diagonal = trace / n
            off_diagonal = (total - trace) / (n * (n - 1.0))
            size = n if self.rule == "plugin" else n - 1.0
            slope = slope + off_diagonal
            curvature = curvature + ((size - 1.0) * off_diagonal + diagonal) / size
        usable = curvature > 0.0  # else there is nothing to shrink
        return np.where(usable, np.clip(slope / np.where(usable, curvature, 1.0), 0.0, 1.0), 1.0)

    def features(self, kernel: Kernel, points: np.ndarray) -> Kernel:
        if self.target is None:
            return kernel
        z, w = map(np.array, self.target)
        if z.shape[1] != points.shape[1]:
            raise ValueError(
                f"target points have {counted(z.shape[1], 'column')}, the sample has "
                f"{points.shape[1]}"
            )
        return Target(kernel, z, w)

    @property
    def changes_features(self) -> bool:
        return self.target is not None

    def scales_all_alike(self, sizes: tuple[int, ...]) -> bool:
        return self.fixed and (self.decay is None or len(set(sizes)) == 1)

    def check_pairs(self) -> None:
        if self.target is not None:
            raise ValueError(
                "target= is not for an independence test, whose natural target is zero; leave it "
                "out"
            )

    def embed(self, points: np.ndarray, kernel: Kernel) -> MeanEmbedding:
        fitted = super().embed(points, kernel)
        if self.target is None:
            return fitted
        z, w = map(np.array, self.target)
        weights = np.concatenate([fitted.weights, fitted.shrinkage * w])
        return MeanEmbedding(np.vstack([points, z]), weights, kernel, fitted.shrinkage)

    def tuned(self, kernel: Kernel, *samples: np.ndarray) -> Self:
        if self.fixed:
            return self
        return self.at(
            alpha=1.0 - float(self.scale(*(_sums(self.features(kernel, x), x) for x in samples)))
        )


def _numbers(values: Any, name: str, count: int, most: float = math.inf) -> tuple[float, ...]:
    numbers = non_negative(values, name)
    if len(numbers) != count or max(numbers) > most or (count == 1 and np.ndim(values)):
        raise ValueError(
            f"{name} must be {'a number' if count == 1 else 'a pair'} from 0 to {most:g}; got "
            f"{values!r}"
        )
    return numbers


def _as_target(target: Any, name: str) -> tuple[tuple[tuple[float, ...], ...], tuple[float, ...]]:
    """Return points and weights as tuples, so that equal targets make equal estimators."""
    if not isinstance(target, tuple | list) or len(target) != 2:
        raise ValueError(f"{name} must be a pair (points, weights); got {target!r}")
    z = complete_points(target[0], "target points").values
    w = np.atleast_1d(numbers_or_nan(target[1]))
    if w.shape != (len(z),) or not np.isfinite(w).all():
        raise ValueError(
            f"{name} needs one finite weight for each of {counted(len(z), 'point')}; got {w!r}"
        )
    return tuple(map(tuple, z.tolist())), tuple(w.tolist())
