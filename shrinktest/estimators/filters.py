"""Spectral filters of many samples: decompositions, leave-one-out scores, and base class."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators.mean_estimator import SampleStack, Tuned, as_gram
from shrinktest.kernels import Kernel
from shrinktest.kernels.inner import FeatureMap

_SMALLEST = (
    1e-7  # relative amounts below which an estimate sees directions that a low-rank factor may omit
)
_TIE = 1e-9  # scores that differ by less, in units of the mean of K_ii, are equal
_TINY = 1e-150  # kernel values whose products do not fit
_ROUNDING = 1e-10  # of the largest eigenvalue: negative ones up to this are zero
# of the largest eigenvalue of Z'Z: the coordinates along smaller ones are rounding errors
_NULL = 1e-14


@dataclass(frozen=True, eq=False)
class Spectra:
    """B samples of n points in bases that make their Gram matrices T (tri)diagonal.

    The bases are orthonormal bases of the weights.

    A filter turns the mean into sum_k q_k <mu_hat, zeta_k> zeta_k.  Coordinates span r directions
    only; all that lies outside of them is in the null space of the Gram matrix.
    """

    samples: SampleStack
    values: np.ndarray  # (B, r): the diagonal of T, or the eigenvalues D, ascending
    off: np.ndarray  # (B, r): the entries beside it, and a zero
    points: np.ndarray  # (B, r, n): the axes e_i
    tridiagonal: bool = False
    scaled: bool = (
        False  # coordinates instead of axes: products with T are products with the coordinates
    )

    @classmethod
    def of(cls, samples: SampleStack, *, tridiagonal: bool = False) -> Self:
        """Decompose each sample."""
        matrices = samples.matrices
        off = np.zeros(matrices.shape[:2])
        if tridiagonal:
            from shrinktest.estimators.filter_loops import tridiagonalize

            values = np.empty(off.shape)
            points = np.empty(matrices.shape)
            tridiagonalize(matrices, values, off, points)
        else:
            values, points = _eigenvectors(matrices)
            largest = values[:, -1:]
            values[(values < 0.0) & (values >= -_ROUNDING * largest)] = 0.0
        if samples.by_coordinates:
            points = points @ samples.values.transpose(0, 2, 1)
            if not tridiagonal:
                points /= np.sqrt(np.where(values > _NULL * largest, values, np.inf))[:, :, None]
        return cls(
            samples,
            values,
            off,
            np.ascontiguousarray(points),
            tridiagonal,
            tridiagonal and samples.by_coordinates,
        )

    @property
    def n(self) -> int:
        """Number of points of a sample."""
        return self.samples.n

    @cached_property
    def along(self) -> np.ndarray:
        """Sum e (B, r) of the axes."""
        return self.points.sum(axis=2)

    @cached_property
    def trace(self) -> np.ndarray:
        """Trace (B, 1) of K."""
        return self.values.sum(axis=1, keepdims=True)

    def times(self, vectors: np.ndarray) -> np.ndarray:
        """Return the products (B, r) of T with vectors."""
        if self.scaled:
            return vectors
        out = self.values * vectors
        side = self.off[:, :-1]
        out[:, 1:] += side * vectors[:, :-1]
        out[:, :-1] += side * vectors[:, 1:]
        return np.asarray(out)

    def weights(self, solutions: np.ndarray) -> np.ndarray:
        """Return the weights (B, n) of filters g(T) e, (B, r).

        Infinite ones stand for the plain mean.
        """
        weights = (self.times(solutions)[:, None, :] @ self.points)[:, 0] / self.n
        weights[np.isinf(solutions).all(axis=1)] = 1.0 / self.n
        return np.asarray(weights)

    def filter_scores(self, factors: np.ndarray) -> np.ndarray:
        """Return mean |phi_i - A mu^(-i)|^2 (B, g) for factors q (B, g, r).

        The smoother A is not refitted.
        """
        n = self.n
        a = factors / (self.n - 1.0)
        values, shares = (part[:, None, :] for part in (self.values, self.values * self.along**2))
        return (values * (1.0 + a) ** 2 + shares * a * (n * a - 2.0 * (1.0 + a))).sum(axis=2) / n

    def averaged_deletion(self, lams: np.ndarray, outside: np.ndarray) -> np.ndarray:
        """Return the change by a Tikhonov step.

        It comes from e'R^j e and means of e_i'R^j e_i, R = lam (K + lam I)^-1.
        """
        n = self.n
        scale = 1.0 / (self.n - 1.0)
        beyond = outside[:, 1].sum(axis=1)
        r = lams[:, :, None] / (self.values[:, None, :] + lams[:, :, None])
        m1, m2 = ((power.sum(axis=2) + n - r.shape[2]) / n for power in (r, r**2))
        e1, e2, e3 = (
            (r**j @ self.along[:, :, None] ** 2)[:, :, 0] + beyond[:, None] for j in (1, 2, 3)
        )
        exact = (
            n * (3.0 * e1 - e2 - 2.0 * n) + e2 * (m1 - m2) / m1**2 + 2.0 * (e1 - 2.0 * e2 + e3) / m1
        )
        return np.asarray(2.0 * scale * (1.0 + scale) * (n - e1 / m1) + scale**2 * exact)


def _eigenvectors(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues (B, r), ascending, and eigenvectors (B, r, r), one per row.

    NaN if a matrix is not finite.
    """
    finite = np.isfinite(np.abs(matrices).sum(axis=(1, 2)))
    if not finite.all():
        matrices = np.where(finite[:, None, None], matrices, np.eye(matrices.shape[1]))
    values, columns = np.linalg.eigh(matrices)
    values[~finite] = np.nan
    columns[~finite] = np.nan
    return values, columns.transpose(0, 2, 1)


class Filter(Tuned):
    """Base class of filters q(K/n) of the plain mean, fitted again in every permutation.

    A subclass gives the amounts that tuning compares, their scores, and the filtered mean at one
    amount.
    """

    needs = "filter"
    by_coordinates = True
    _kind: ClassVar[type] = float  # of the amount that tuning gives

    @abstractmethod
    def _grid(self, n: int) -> np.ndarray:
        """Return the amounts that tuning compares for n points, least shrinkage first."""

    @abstractmethod
    def _scores(self, spectra: Spectra, amounts: np.ndarray) -> np.ndarray:
        """Return the leave-one-out score (B, g) of every amount (g,)."""

    @abstractmethod
    def _filtered(self, spectra: Spectra, amounts: np.ndarray) -> np.ndarray:
        """Return g(T) e (B, r) with g = q / D, at amounts (B, 1).

        An infinite amount is the plain mean, and NaN is no estimate.
        """

    def _unit(self, amount: float, matrix: np.ndarray) -> Any:
        """Return an amount in the unit of the estimator's own parameter; ``matrix`` is K or Z'Z."""
        return self._kind(amount)

    def _directly(self, grams: np.ndarray) -> np.ndarray | None:
        """Return the weights (B, n) at a fixed amount, if they need no eigenvectors."""
        return None

    def _decompose(self, stack: SampleStack) -> Spectra:
        return Spectra.of(stack)

    @property
    def any_rank(self) -> bool:  # type: ignore[override]
        """True if next to no variance does not matter: a relative amount that is not tiny."""
        relative, *others = (getattr(self, name) for name in self._amounts)
        return (relative is None or relative > _SMALLEST) and all(other is None for other in others)

    def amounts(self, n: int) -> np.ndarray:
        """Amounts to compare for a sample of n points, least shrinkage first.

        A single one if the amount is fixed.
        """
        given = [value for name in self._amounts if (value := getattr(self, name)) is not None]
        return np.array(given, dtype=np.float64) if given else self._grid(n)

    def fit_samples(self, samples: Sequence[SampleStack], joint: bool = False) -> list[np.ndarray]:
        return [weights for weights, _ in self._fit(samples, joint)]

    def _fit(
        self, samples: Sequence[SampleStack], joint: bool = False
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return weights (B, n) and amounts (B,) of every stack.

        The amount is NaN if there was nothing to tune.
        """
        groups = [samples] if joint and not self.fixed else [[stack] for stack in samples]
        with np.errstate(all="ignore"):  # NaN is how a failure is reported
            return [fit for group in groups for fit in self._fit_group(group)]

    def _fit_group(self, group: Sequence[SampleStack]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Fit stacks that share the amount of their b-th samples."""
        amounts = self.amounts(max(stack.n for stack in group))
        if (
            self.fixed
            and not group[0].by_coordinates
            and (weights := self._directly(group[0].values)) is not None
        ):
            yield weights, np.repeat(amounts, len(weights))
            return
        spectra = [self._decompose(stack) for stack in group]
        size = len(group[0].values)
        best = np.zeros(size, dtype=np.intp)
        plain = np.zeros(size, dtype=bool)
        if (
            amounts.size > 1
        ):  # of ties the least shrinkage; if a point cannot be left out, the plain mean
            plain = np.any(
                [(spectrum.trace[:, 0] == 0.0) | (spectrum.n == 1) for spectrum in spectra], axis=0
            )
            if not plain.all():
                scores = np.sum([self._scores(spectrum, amounts) for spectrum in spectra], axis=0)
                least = scores.min(axis=1, keepdims=True)
                ties = scores <= least + _TIE * np.sum(
                    [spectrum.trace / spectrum.n for spectrum in spectra], axis=0
                )
                best = np.where(plain, 0, np.where(np.isnan(least[:, 0]), -1, ties.argmax(axis=1)))
        chosen = amounts[best]
        for spectrum in spectra:
            weights = spectrum.weights(self._filtered(spectrum, chosen[:, None]))
            weights[best < 0] = np.nan
            weights[plain] = 1.0 / spectrum.n
            yield weights, np.where((best < 0) | plain, np.nan, chosen)

    def embed(self, points: np.ndarray, kernel: Kernel) -> MeanEmbedding:
        weights, amount = self._fit_one(self._sample(points, kernel))
        return MeanEmbedding(points, weights, kernel, amount)

    def _sample(self, points: np.ndarray, kernel: Kernel) -> SampleStack:
        if isinstance(kernel, FeatureMap):
            z = np.ascontiguousarray(kernel.checked_coordinates(points))
            if z.shape[1] < len(z):
                return SampleStack(z[None], by_coordinates=True)
        return SampleStack(kernel(points)[None])

    def _solve(self, gram: np.ndarray) -> tuple[np.ndarray, Any]:
        return self._fit_one(SampleStack(gram[None]))

    def _fit_one(self, sample: SampleStack) -> tuple[np.ndarray, Any]:
        matrix = sample.matrices[0]
        self.check_size(sample.n)
        ((weights, amount),) = self._fit([sample])
        self._check_result(weights, matrix)
        with np.errstate(invalid="ignore"):  # infinity times zero
            return weights[0], None if np.isnan(amount[0]) else self._unit(float(amount[0]), matrix)

    def _check_result(self, weights: np.ndarray, matrix: np.ndarray) -> None:
        scale = float(np.abs(matrix).max())
        if scale > 0.0 and not _TINY < scale < 1.0 / _TINY:
            raise ValueError(
                f"{self!r}: kernel values up to {scale:.3g} are out of range; multiply the data by "
                "a constant"
            )
        if not np.isfinite(weights).all():
            least = np.linalg.eigvalsh(matrix)[0]
            raise ValueError(
                f"{self!r}: the Gram matrix has an eigenvalue {least:.3g}; use a positive definite "
                "kernel"
            )

    def scores(self, gram: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the amounts (g,) that tuning compares, and their leave-one-out scores (g,)."""
        if self.fixed:
            raise ValueError(f"{self!r} has a fixed amount and no scores; leave the amount out")
        sample = SampleStack(as_gram(gram)[None])
        amounts = self.amounts(sample.n)
        with np.errstate(all="ignore"):
            return amounts, self._scores(self._decompose(sample), amounts)[0]

    def tuned(self, kernel: Kernel, *samples: np.ndarray) -> Self:
        if self.fixed:
            return self
        stacks = [self._sample(x, kernel) for x in samples]
        fits = self._fit(stacks, joint=True)
        for stack, (weights, _) in zip(stacks, fits, strict=True):
            self._check_result(weights, stack.matrices[0])
        amount = fits[0][1][0]
        return self if np.isnan(amount) else self.at(**{self._amounts[0]: self._kind(amount)})
