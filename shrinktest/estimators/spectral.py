"""The seam of the estimators that shrink along the eigenvectors of the Gram matrix: filters of the mean."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from shrinktest._validate import positive
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators.base import MeanEstimator, Tuned, as_gram
from shrinktest.kernels import Kernel
from shrinktest.kernels.base import FiniteRank

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


def check_amount(value: float | None, name: str) -> None:
    """Raise unless the amount is None, a number from 0 on, or infinity, the zero estimate."""
    if value is not None and value != np.inf:
        positive(value, name, allow_zero=True)


class SpectralEstimator(Tuned, MeanEstimator):
    """A filter q(K/n) applied to the plain mean; compiled, refitted in every relabelling.

    Subclasses say which compiled pair (``score``, ``weigh``) they use, with which parameters ``theta`` and amounts.
    """

    needs = "filter"

    @abstractmethod
    def loops(self) -> Loops:
        """The compiled ``score`` and ``weigh`` of a Gram matrix (imports numba)."""

    def loops_inside(self) -> Loops | None:
        """Those of a sample that is given by coordinates, for estimators that have them."""
        return None

    @property
    def any_rank(self) -> bool:
        """Whether directions of the data that hardly exist do not matter, so that they can be left out unasked."""
        return True

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
        if isinstance(kernel, FiniteRank) and self.loops_inside() is not None:
            z = np.ascontiguousarray(kernel.coordinates(points))
            if z.shape[1] < len(z):
                return Sample(np.ascontiguousarray(z.T @ z), len(z), z)
        return Sample(self.features(kernel, points)(points), len(points))

    def _solve(self, gram: np.ndarray) -> tuple[np.ndarray, Any]:
        return self._amount_and_weights(Sample(gram, len(gram)))

    def _amount_and_weights(self, sample: Sample) -> tuple[np.ndarray, Any]:
        self.check_size(sample.n)
        self._check_sample(sample)
        weights, amount = self._run(sample)
        if not np.isfinite(weights).all():
            raise ValueError(self._failure(sample.matrix))
        # NaN: one point or a zero Gram matrix, where there is nothing to tune
        return weights, None if np.isnan(amount) else self._unit(amount, sample.matrix)

    def _check_sample(self, sample: Sample) -> None:
        """Raise ValueError if the estimate would diverge."""

    def _run(self, sample: Sample) -> tuple[np.ndarray, float]:
        from shrinktest._compiled.tridiagonal import workspace

        amounts = self.amounts(sample.n)
        scores, work, z = np.empty(amounts.size), workspace(len(sample.matrix)), sample.coordinates
        inside = self.loops_inside()
        if z is None or inside is None:
            from shrinktest._compiled.engine import fit

            weights = np.empty(sample.n)
            amount = fit(sample.matrix, self.theta(), amounts, work, scores, weights, *self.loops())
            return weights, amount
        from shrinktest._compiled.inside import fit_inside

        out = np.empty(z.shape[1] + 1)
        about = sample.matrix, z.sum(axis=0), z, np.arange(sample.n)
        amount = fit_inside(*about, self.theta(), amounts, work, scores, out, *inside)
        return z @ out[:-1] + out[-1] / sample.n, amount

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
        sample = Sample(as_gram(gram), len(gram))
        amounts = self.amounts(sample.n)
        return amounts, self._score(sample, amounts)

    def _score(self, sample: Sample, amounts: np.ndarray) -> np.ndarray:
        from shrinktest._compiled.tridiagonal import workspace

        scores, work, z = np.zeros(amounts.size), workspace(len(sample.matrix)), sample.coordinates
        inside = self.loops_inside()
        if z is None or inside is None:
            self.loops()[0](sample.matrix, self.theta(), amounts, work, scores)
        else:
            about = sample.matrix, z.sum(axis=0), z, np.arange(sample.n)
            inside[0](*about, self.theta(), amounts, work, scores)
        return scores

    def tuned(self, kernel: Kernel, *samples: np.ndarray) -> Self:
        from shrinktest._compiled.choice import choose

        given = [self._sample(x, kernel) for x in samples]
        if self.fixed or any(sample.n == 1 or np.trace(sample.matrix) == 0.0 for sample in given):
            return self
        amounts = self.amounts(max(sample.n for sample in given))
        total = sum(self._score(sample, amounts) for sample in given)
        best = choose(total, 1e-9 * sum(float(np.trace(sample.matrix)) / sample.n for sample in given))
        if best < 0:
            raise ValueError(self._failure(given[0].matrix))
        return self._at(float(amounts[best]))
