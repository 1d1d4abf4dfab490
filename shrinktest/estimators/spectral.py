"""The seam of the estimators that shrink along the eigenvectors of the Gram matrix: filters of the mean."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np

from shrinktest._validate import count, positive
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators.base import MeanEstimator, Tuned, as_gram
from shrinktest.kernels import Kernel
from shrinktest.kernels.inner import FeatureMap

_TINY = 1e-150  # of kernel values: products of such do not fit

#: Amounts relative to the mean of K_ii below which an estimate sees directions that a factor of K may leave out.
SMALLEST = 1e-7

#: A compiled ``score`` and ``weigh``.
Loops = tuple[Callable[..., None], Callable[..., None]]


@dataclass(frozen=True, eq=False)
class Sample:
    """What a filter needs to know of n points: their Gram matrix, or Z'Z for coordinates Z (n, r)."""

    matrix: np.ndarray
    n: int
    coordinates: np.ndarray | None = None

    def given(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """How the loops take it: matrix, start, coordinates and members."""
        z = self.coordinates
        if z is None:
            return self.matrix, np.ones(self.n), np.empty((0, 0)), np.arange(self.n)
        return self.matrix, z.sum(axis=0), z, np.arange(self.n)

    @property
    def scale(self) -> float:
        """The mean of K_ii."""
        return float(np.trace(self.matrix)) / self.n


#: Steps of an iteration at most: the estimate is the plain mean by then, nearly, and more steps would take hours.
MOST_STEPS = 10**7


def check_steps(value: Any, name: str) -> None:
    """Raise unless it is a number of steps."""
    if isinstance(value, Integral) and int(value) > MOST_STEPS:
        raise ValueError(
            f"{name} must be an integer <= {MOST_STEPS}; got a larger one: what many steps come to is the plain mean, "
            "estimator='kme'"
        )
    count(value, name, minimum=1)


def check_amount(value: float | None, name: str) -> None:
    """Raise unless the amount is None, a number from 0 on, or infinity, the zero estimate."""
    if value is not None and not (isinstance(value, float) and value == np.inf):
        positive(value, name, allow_zero=True)


def _out_of_range(gram: np.ndarray) -> bool:
    """Whether products of the values of a Gram matrix that is not zero do not fit."""
    largest = float(np.abs(gram).max())
    return largest > 0.0 and not _TINY < largest < 1.0 / _TINY


class SpectralEstimator(Tuned, MeanEstimator):
    """A filter q(K/n) applied to the plain mean; compiled, refitted in every permutation.

    Subclasses say which compiled pair (``score``, ``weigh``) they use, with which parameters ``theta`` and amounts.
    """

    needs = "filter"

    @abstractmethod
    def loops(self) -> Loops:
        """The compiled ``score`` and ``weigh`` (imports numba)."""

    @property
    def by_coordinates(self) -> bool:
        """Whether the loops take a sample by coordinates as well as by its Gram matrix."""
        return True

    @property
    def few_steps(self) -> bool:
        """Whether the weights are so few products with the Gram matrix that nothing need be compiled for them."""
        return False

    @abstractmethod
    def theta(self) -> np.ndarray:
        """Parameters of the loops."""

    @abstractmethod
    def amounts(self, n: int) -> np.ndarray:
        """Amounts to compare for a sample of n points, least shrinkage first (a single one: nothing is tuned)."""

    @abstractmethod
    def _unit(self, amount: float, matrix: np.ndarray) -> Any:
        """An amount in the unit of the estimator's own parameter; trace and spectrum of a sample are its matrix's."""

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

    def embed(self, points: np.ndarray, kernel: Kernel) -> MeanEmbedding:
        weights, amount = self._amount_and_weights(self._sample(points, kernel))
        return MeanEmbedding(points, weights, kernel, amount)

    def _sample(self, points: np.ndarray, kernel: Kernel) -> Sample:
        if isinstance(kernel, FeatureMap) and self.by_coordinates:
            z = np.ascontiguousarray(kernel.checked_coordinates(points))
            if 0 < z.shape[1] < len(z):
                return Sample(np.ascontiguousarray(z.T @ z), len(z), z)
        return Sample(self.features(kernel, points)(points), len(points))

    def _solve(self, gram: np.ndarray) -> tuple[np.ndarray, Any]:
        return self._amount_and_weights(Sample(gram, len(gram)))

    def _amount_and_weights(self, sample: Sample) -> tuple[np.ndarray, Any]:
        self.check_size(sample.n)
        self._check_sample(sample)
        weights, amount = self._run(sample)
        if not np.isfinite(weights).all() or _out_of_range(sample.matrix):
            raise ValueError(self._failure(sample.matrix))
        # NaN: one point or a zero Gram matrix, where there is nothing to tune
        return weights, None if np.isnan(amount) else self._unit(float(amount), sample.matrix)

    def _check_sample(self, sample: Sample) -> None:
        """Raise ValueError if the estimate would diverge."""

    def _run(self, sample: Sample) -> tuple[np.ndarray, float]:
        from shrinktest._compiled.choice import smallest
        from shrinktest._compiled.tridiagonal import workspace

        amounts, theta, given = self.amounts(sample.n), self.theta(), sample.given()
        if amounts.size > 1 and (sample.n == 1 or sample.scale == 0.0):
            return np.full(sample.n, 1.0 / sample.n), np.nan
        score, weigh = self.loops()
        weights, scores, work = np.empty(sample.n), np.empty(amounts.size), workspace(len(sample.matrix))
        score(*given, theta, amounts, work, scores)
        best = smallest(scores, 1e-9 * sample.scale) if amounts.size > 1 else 0
        if best < 0:
            return np.full(sample.n, np.nan), np.nan
        weigh(*given, theta, amounts[best], work, weights)
        return weights, amounts[best]

    def _failure(self, gram: np.ndarray) -> str:
        if _out_of_range(gram):
            largest = np.abs(gram).max()
            return (
                f"{self!r} could not be computed: the largest kernel value is {largest:.3g}, near the end of the range "
                "of numbers; multiply the data (or the kernel) by a constant, or use scale='sd'"
            )
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
        if self.fixed:
            raise ValueError(f"{self!r} has a fixed amount, and nothing to compare; scores are of what is tuned")
        sample = Sample(as_gram(gram), len(gram))
        amounts = self.amounts(sample.n)
        return amounts, self._score(sample, amounts)

    def _score(self, sample: Sample, amounts: np.ndarray) -> np.ndarray:
        from shrinktest._compiled.tridiagonal import workspace

        scores, work = np.zeros(amounts.size), workspace(len(sample.matrix))
        self.loops()[0](*sample.given(), self.theta(), amounts, work, scores)
        return scores

    def tuned(self, kernel: Kernel, *samples: np.ndarray) -> Self:
        from shrinktest._compiled.choice import smallest

        given = [self._sample(x, kernel) for x in samples]
        if self.fixed or any(sample.n == 1 or sample.scale == 0.0 for sample in given):
            return self
        amounts = self.amounts(max(sample.n for sample in given))
        total = sum(self._score(sample, amounts) for sample in given)
        best = smallest(total, 1e-9 * sum(sample.scale for sample in given))
        if best < 0:
            raise ValueError(self._failure(given[0].matrix))
        return self._at(float(amounts[best]))
