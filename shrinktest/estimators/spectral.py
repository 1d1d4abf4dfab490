"""The seam of the estimators that shrink along the eigenvectors of the Gram matrix: filters of the mean."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from shrinktest._validate import positive
from shrinktest.estimators.base import MeanEstimator, Tuned, as_gram
from shrinktest.kernels import Kernel


def check_amount(value: float | None, name: str) -> None:
    """Raise unless the amount is None, a number from 0 on, or infinity, the zero estimate."""
    if value is not None and value != np.inf:
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
