"""Decompose many samples into eigenvectors, on which a filter acts one by one, and score filters on them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from shrinktest.estimators.mean_estimator import Samples

_ROUNDING = 1e-10  # of the largest eigenvalue: negative ones up to this are zero
_ROOM = 2**20  # powers of the residuals at a time


@dataclass(frozen=True, eq=False)
class Tridiagonal:
    """B samples of n points in bases in which their Gram matrices K, or Z'Z for coordinates Z, are tridiagonal."""

    samples: Samples
    values: np.ndarray  # (B, r): the diagonal
    off: np.ndarray  # (B, r): the entries beside it, and a zero
    points: np.ndarray  # (B, r, n): the axes e_i, or the coordinates of the points, in the basis

    @classmethod
    def of(cls, samples: Samples) -> Self:
        """Decompose each sample."""
        z = samples.values
        matrices = z.transpose(0, 2, 1) @ z if samples.by_coordinates else z
        values, off, vectors = np.empty(matrices.shape[:2]), np.zeros(matrices.shape[:2]), np.empty(matrices.shape)
        cls._decompose(matrices, values, off, vectors)
        points = np.ascontiguousarray(vectors @ z.transpose(0, 2, 1)) if samples.by_coordinates else vectors
        return cls(samples, values, off, points)

    @staticmethod
    def _decompose(*arrays: np.ndarray) -> None:
        from shrinktest.estimators.filter_loops import tridiagonalize

        tridiagonalize(*arrays)

    @property
    def by_coordinates(self) -> bool:
        """True if the matrices are Z'Z."""
        return self.samples.by_coordinates

    @property
    def n(self) -> int:
        """Number of points of a sample."""
        return self.points.shape[2]

    @cached_property
    def along(self) -> np.ndarray:
        """Sum (B, r) of the points."""
        return self.points.sum(axis=2)

    @cached_property
    def trace(self) -> np.ndarray:
        """Trace (B, 1) of K."""
        return self.values.sum(axis=1, keepdims=True)

    @property
    def diagonal(self) -> np.ndarray:
        """Diagonal (B, n) of K."""
        z = self.samples.values
        return np.square(z).sum(axis=2) if self.by_coordinates else np.diagonal(z, axis1=1, axis2=2).copy()

    @property
    def rows(self) -> np.ndarray:
        """Row sums (B, n) of K."""
        z = self.samples.values
        return np.asarray((z @ z.sum(axis=1)[:, :, None])[:, :, 0] if self.by_coordinates else z.sum(axis=2))

    def product(self, vectors: np.ndarray) -> np.ndarray:
        """Return the products (B, r) of the matrices with vectors in the metric of the feature space."""
        if self.by_coordinates:
            return vectors
        out, side = self.values * vectors, self.off[:, :-1]
        out[:, 1:] += side * vectors[:, :-1]
        out[:, :-1] += side * vectors[:, 1:]
        return np.asarray(out)

    def weights(self, gains: np.ndarray) -> np.ndarray:
        """Return the weights (B, n) of filters with these gains times ``along``, (B, r)."""
        return np.asarray((self.product(gains)[:, None, :] @ self.points)[:, 0] / self.n)


@dataclass(frozen=True, eq=False)
class Spectra(Tridiagonal):
    """B samples along the eigenvectors of their matrices: ``values`` are the eigenvalues D, ascending.

    A filter turns the mean into sum_k q_k <mu_hat, v_k> v_k.  Its *gain* is g = q / D, so that the weights are
    ``points.T @ (metric * g * along) / n`` for both kinds of samples.
    """

    @staticmethod
    def _decompose(*arrays: np.ndarray) -> None:
        from shrinktest.estimators.filter_loops import decompose

        decompose(*arrays)
        values = arrays[1]
        values[(values < 0.0) & (values >= -_ROUNDING * values[:, -1:])] = 0.0

    @property
    def metric(self) -> np.ndarray:
        """Squared lengths (B, r) of the axes in the feature space."""
        return np.ones_like(self.values) if self.by_coordinates else self.values

    @cached_property
    def norm(self) -> np.ndarray:
        """Sum (B, 1) of the entries of K."""
        return (self.metric * self.along**2).sum(axis=1, keepdims=True)

    def weights(self, gains: np.ndarray) -> np.ndarray:
        """Return the weights (B, n) of filters with these gains (B, r); infinite ones stand for the plain mean."""
        plain = np.isinf(gains).all(axis=1)
        with np.errstate(invalid="ignore", over="ignore"):
            filtered = self.metric * gains * self.along / self.n
            weights = (filtered[:, None, :] @ self.points)[:, 0]
        weights[plain] = 1.0 / self.n
        return weights

    def filter_scores(self, factors: np.ndarray) -> np.ndarray:
        """Return LOO_filter (B, g) of factors q (B, g, r): mean |phi_i - A mu^(-i)|^2, the smoother A not refitted."""
        n = self.n
        shares = (self.metric * self.along**2)[:, None, :]
        a = factors / (n - 1.0)
        return (self.values[:, None, :] * (1.0 + a) ** 2 + shares * a * (n * a - 2.0 * (1.0 + a))).sum(axis=2) / n

    def plain_score(self) -> np.ndarray:
        """Return the leave-one-out score (B, 1) of the plain mean."""
        return (self.n / (self.n - 1.0)) ** 2 * (self.trace / self.n - self.norm / self.n**2)

    def deletion_scores(self, lams: np.ndarray, t: int) -> np.ndarray:
        """Return the scores (B, g) of t steps of Tikhonov, each point really left out, at penalties ``lams`` (B, g)."""
        from shrinktest.estimators.filter_loops import tikhonov_deletion

        n, scale, moved = self.n, 1.0 / (self.n - 1.0), np.empty(lams.shape)
        block = max(1, _ROOM // (n * t))  # lams whose powers fit
        for start in range(0, lams.shape[1], block):
            some = np.ascontiguousarray(lams[:, start : start + block])
            out = np.empty(some.shape)
            tikhonov_deletion(self.values, self.points, self.along, self.by_coordinates, some, t, out)
            moved[:, start : start + block] = out
        fixed = self.trace - 2.0 * scale * (self.norm - self.trace)
        return (fixed + scale**2 * ((n - 2.0) * self.norm + self.trace) + lams * moved) / n

    def residuals(self, lams: np.ndarray) -> np.ndarray:
        """Return lam / (D + lam), (B, g, r), for lams (B, g)."""
        return lams[:, :, None] / (self.values[:, None, :] + lams[:, :, None])

    def averaged_scores(self, lams: np.ndarray) -> np.ndarray:
        """Return the deletion scores (B, g) of Tikhonov with every leverage replaced by the mean of them."""
        n, r = self.n, self.residuals(lams)
        rest = n - r.shape[2] if self.by_coordinates else 0  # directions with R = I
        first, second = ((power.sum(axis=2) + rest) / n for power in (r, r**2))
        e1, e2, e3 = ((r**j @ self.along[:, :, None] ** 2)[:, :, 0] for j in (1, 2, 3))  # e'R^j e
        if self.by_coordinates:  # R^j = R^(j-1) - Z S^j Z' / lam with S = lam (Z'Z + lam I)^-1
            e1 = n - e1 / lams
            e2 = e1 - e2 / lams
            e3 = e2 - e3 / lams
        # sums over i of the deletion algebra with beta_i = -(Re)_i / first
        beta, square, beta_one, beta_two = -e1 / first, e2 / first**2, -e2 / first, -e3 / first
        at_i = lams * (n + beta)
        along_e = lams * (n * (n - e1) + beta - beta_one)
        along_x = lams * (n * (e1 - e2) + 2.0 * (beta_one - beta_two) + square * (first - second))
        cross = self.norm - self.trace - at_i
        quad = n * self.norm - 2.0 * self.norm + self.trace - 2.0 * (along_e - at_i) + along_x
        return (self.trace - 2.0 * cross / (n - 1.0) + quad / (n - 1.0) ** 2) / n


def least_shrinkage(scores: np.ndarray, tolerance: np.ndarray) -> np.ndarray:
    """Return the first amount (B,) whose score (B, g) is within ``tolerance`` (B,) of the least; -1 for NaN scores."""
    least = scores.min(axis=1, keepdims=True)
    return np.where(np.isnan(least[:, 0]), -1, (scores <= least + tolerance[:, None]).argmax(axis=1))
