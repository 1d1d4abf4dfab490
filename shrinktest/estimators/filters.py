"""Filter the spectrum of a sample: the base class of filters, and truncated SVD."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from shrinktest._check import choice, count, positive
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators.mean_estimator import MeanEstimator, Samples, Tuned, as_gram
from shrinktest.estimators.spectrum import Spectra, least_shrinkage
from shrinktest.kernels import Kernel
from shrinktest.kernels.inner import FeatureMap

#: Relative amounts below which an estimate sees directions that a low-rank factor may omit.
SMALLEST = 1e-7
#: Steps of an iteration at most.
MOST_STEPS = 10**7

_TIE = 1e-9  # scores that differ by less, in units of the mean of K_ii, are equal
_TINY = 1e-150  # kernel values whose products do not fit

# Amounts that tuning compares, relative to the mean of K_ii; the endpoints keep everything and nothing.
THRESHOLD_GRID = np.concatenate([[0.0], np.logspace(-6.0, 0.0, 64), [np.inf]])


def check_amount(value: float | None, name: str) -> None:
    """Raise an error unless the amount is None, a number >= 0, or infinity."""
    if value is not None and not (isinstance(value, float) and value == np.inf):
        positive(value, name, allow_zero=True)


class Filter(Tuned, MeanEstimator):
    """Base class of filters q(K/n) of the plain mean, fitted again in every permutation.

    A subclass gives the amounts that tuning compares, their scores, and the gains q / D at one amount.
    """

    needs = "filter"

    @abstractmethod
    def amounts(self, n: int) -> np.ndarray:
        """Amounts to compare for a sample of n points, least shrinkage first; a single one if the amount is fixed."""

    @abstractmethod
    def _scores(self, spectra: Any, amounts: np.ndarray) -> np.ndarray:
        """Return the leave-one-out score (B, g) of every amount (g,)."""

    @abstractmethod
    def _gains(self, spectra: Any, amounts: np.ndarray) -> np.ndarray:
        """Return q / D (B, r) at the amounts (B, 1): infinite for the plain mean, NaN if there is no estimate."""

    @abstractmethod
    def _unit(self, amount: float, matrix: np.ndarray) -> Any:
        """Return an amount in the unit of the estimator's own parameter; ``matrix`` is K or Z'Z."""

    @abstractmethod
    def _at(self, amount: float) -> Self:
        """Return the estimator with this amount fixed, for samples of any size."""

    def _directly(self, grams: np.ndarray) -> np.ndarray | None:
        """Return the weights (B, n) at a fixed amount, if they need no eigenvectors."""
        return None

    def _decompose(self, stack: Samples) -> Any:
        """Return the samples in bases that suit the filter, such as their eigenvectors."""
        return Spectra.of(stack)

    def _check_step(self, matrix: np.ndarray, n: int) -> None:
        """Raise ValueError if the estimate diverges."""

    @property
    def by_coordinates(self) -> bool:
        return True

    def fit_samples(self, samples: Sequence[Samples], joint: bool = False) -> list[np.ndarray]:
        return [weights for weights, _ in self._fit(samples, joint)]

    def _fit(self, samples: Sequence[Samples], joint: bool = False) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return weights (B, n) and amounts (B,) of every stack; the amount is NaN if there was nothing to tune."""
        with np.errstate(all="ignore"):  # NaN is how a failure is reported
            if joint:
                return list(self._fit_group([self._decompose(stack) for stack in samples]))
            return [self._fit_stack(stack) for stack in samples]

    def _fit_stack(self, stack: Samples) -> tuple[np.ndarray, np.ndarray]:
        direct = self._directly(stack.values) if self.fixed and not stack.by_coordinates else None
        if direct is not None:
            return direct, np.repeat(self.amounts(direct.shape[1]), len(direct))
        return next(self._fit_group([self._decompose(stack)]))

    def _fit_group(self, group: Sequence[Any]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Fit stacks that share the amount of their b-th samples."""
        amounts = self.amounts(max(one.n for one in group))
        best = plain = np.zeros(len(group[0].values), dtype=np.intp)
        if amounts.size > 1:
            plain = np.any([(one.trace[:, 0] == 0.0) | (one.n == 1) for one in group], axis=0)
            best = best if plain.all() else np.where(plain, 0, self._best(group, amounts))
        chosen = amounts[best]
        for one in group:
            weights = one.weights(self._gains(one, chosen[:, None]))
            weights[best < 0] = np.nan
            weights[plain > 0] = 1.0 / one.n
            yield weights, np.where((best < 0) | (plain > 0), np.nan, chosen)

    def _best(self, group: Sequence[Any], amounts: np.ndarray) -> np.ndarray:
        """Return the position (B,) of the amount with the least sum of scores, and of ties the first; -1 if NaN."""
        scores = np.sum([self._scores(one, amounts) for one in group], axis=0)
        return least_shrinkage(scores, _TIE * np.sum([one.trace[:, 0] / one.n for one in group], axis=0))

    def weights(self, gram: Any) -> np.ndarray:
        """Weights (n,) of the estimate, for a positive semi-definite Gram matrix (n, n).

        Raises
        ------
        ValueError
            If the matrix is not square, symmetric and finite, or too indefinite for the filter.
        """
        return self._solve(as_gram(gram))[0]

    def embed(self, points: np.ndarray, kernel: Kernel) -> MeanEmbedding:
        weights, amount = self._fit_one(self._sample(points, kernel))
        return MeanEmbedding(points, weights, kernel, amount)

    def _sample(self, points: np.ndarray, kernel: Kernel) -> Samples:
        if isinstance(kernel, FeatureMap):
            z = np.ascontiguousarray(kernel.checked_coordinates(points))
            if z.shape[1] < len(z):
                return Samples(z[None], by_coordinates=True)
        return Samples(self.features(kernel, points)(points)[None])

    def _solve(self, gram: np.ndarray) -> tuple[np.ndarray, Any]:
        return self._fit_one(Samples(gram[None]))

    def _fit_one(self, sample: Samples) -> tuple[np.ndarray, Any]:
        values = sample.values[0]
        n, matrix = len(values), values.T @ values if sample.by_coordinates else values
        self.check_size(n)
        self._check_step(matrix, n)
        ((weights, amount),) = self._fit([sample])
        self._check_result(weights, matrix)
        return weights[0], None if np.isnan(amount[0]) else self._unit(float(amount[0]), matrix)

    def _check_result(self, result: np.ndarray, matrix: np.ndarray) -> None:
        scale = float(np.abs(matrix).max())
        if scale > 0.0 and not _TINY < scale < 1.0 / _TINY:
            raise ValueError(
                f"{self!r}: kernel values up to {scale:.3g} are near the end of the range of numbers; multiply the "
                "data by a constant"
            )
        if not np.isfinite(result).all():
            raise ValueError(
                f"{self!r}: the smallest eigenvalue of the Gram matrix is {np.linalg.eigvalsh(matrix)[0]:.3g}; use a "
                "positive semi-definite kernel or more shrinkage"
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
        matrix = as_gram(gram)
        amounts = self.amounts(len(matrix))
        with np.errstate(all="ignore"):
            return amounts, self._scores(self._decompose(Samples(matrix[None])), amounts)[0]

    def tuned(self, kernel: Kernel, *samples: np.ndarray) -> Self:
        if self.fixed:
            return self
        stacks = [self._sample(x, kernel) for x in samples]
        with np.errstate(all="ignore"):
            spectra = [self._decompose(stack) for stack in stacks]
            if any(one.n == 1 or one.trace[0, 0] == 0.0 for one in spectra):
                return self
            amounts = self.amounts(max(one.n for one in spectra))
            best = self._best(spectra, amounts)[0]
        z = stacks[0].values[0]
        self._check_result(np.array(best if best >= 0 else np.nan), z.T @ z if stacks[0].by_coordinates else z)
        return self._at(float(amounts[best]))


@dataclass(frozen=True, repr=False)
class TSVD(Filter):
    """Kernel mean projected on the leading eigenvectors of the Gram matrix (truncated SVD, the kernel-PCA basis).

    Parameters
    ----------
    m : int, optional
        Number of components kept (those in the null space of K carry nothing and are not counted).
    threshold : float, optional
        Keep the eigenvalues of K/n that are at least threshold * mean(K_ii).
    rule : {"loo", "gcv"}
        How the threshold is tuned if neither is given: the leave-one-out score of the filter, or generalized
        cross-validation, which is for replication only: without noise to trade off it hardly ever truncates
        (erratum E24).
    tuning : {"auto", "sample", "joint", "pooled"}
        "sample" chooses an amount for each sample and "joint" one for all, again in every permutation; "pooled"
        chooses once, on all observations.  "auto" is "sample", or "joint" for samples of unequal sizes.

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

    projects: ClassVar[bool] = True
    summary: ClassVar[str] = "truncated SVD (projection on leading eigenvectors)"
    amount: ClassVar[str] = "components"

    m: int | None = None
    threshold: float | None = None
    rule: str = "loo"

    def _check(self) -> None:
        choice(self.rule, ("loo", "gcv"), "rule")
        if self.m is not None and self.threshold is not None:
            raise ValueError("m and threshold both fix what is kept; give one of them")
        if self.m is not None:
            count(self.m, "m", 1)
        check_amount(self.threshold, "threshold")
        if self.fixed and self.rule != "loo":
            raise ValueError(f"rule={self.rule!r} is not used when m or threshold is given; drop one of them")

    @property
    def fixed(self) -> bool:
        return self.m is not None or self.threshold is not None

    @property
    def any_rank(self) -> bool:
        return self.m is None and (self.threshold is None or self.threshold > SMALLEST)

    def check_size(self, n: int) -> None:
        if self.m is not None and self.m > n:
            raise ValueError(f"m={self.m} components cannot be kept from a sample of {n} points; use m <= {n}")

    def amounts(self, n: int) -> np.ndarray:
        if self.fixed:
            return np.array([self.threshold if self.m is None else self.m], dtype=np.float64)
        return THRESHOLD_GRID

    def _cutoff(self, amounts: np.ndarray, trace: Any) -> np.ndarray:
        """Return the least eigenvalue kept; the slack keeps those that equal the threshold up to rounding."""
        with np.errstate(invalid="ignore"):
            return np.asarray(amounts * trace * (1.0 - 1e-9))

    def _scores(self, spectra: Spectra, amounts: np.ndarray) -> np.ndarray:
        n, values = spectra.n, spectra.values[:, ::-1]
        number = (values[:, None, :] >= self._cutoff(amounts, spectra.trace)[:, :, None]).sum(axis=2)
        shares, a = (spectra.metric * spectra.along**2)[:, ::-1] / n, 1.0 / (n - 1.0)

        def kept(parts: np.ndarray) -> np.ndarray:
            """Sum (B, g) of the parts (B, r) of the components that an amount keeps."""
            sums = np.hstack([np.zeros((len(parts), 1)), parts.cumsum(axis=1)])
            return np.take_along_axis(sums, number, axis=1)

        if self.rule == "loo":  # LOO_filter of factors 0 and 1
            return (spectra.trace + kept(values * a * (2.0 + a) + n * a * shares * (n * a - 2.0 * (1.0 + a)))) / n
        residual = (values * shares).sum(axis=1, keepdims=True) - kept(values * shares)
        scores = residual / (n - number) ** 2 / spectra.trace  # in the unit of K, like the other scores
        return np.where((number == 0) | (number == n) | (amounts == 0.0), np.inf, scores)

    def _gains(self, spectra: Spectra, amounts: np.ndarray) -> np.ndarray:
        values = spectra.values
        if self.m is None:
            kept = values >= self._cutoff(amounts, spectra.trace)
        else:
            kept = (values >= 1e-12 * values[:, -1:]) & (np.arange(values.shape[1]) >= values.shape[1] - self.m)
        gains = np.where(kept & (values > 0.0), 1.0 / values, 0.0)
        gains[amounts[:, 0] == 0.0] = np.inf
        return gains

    def _unit(self, amount: float, matrix: np.ndarray) -> int:
        if self.m is not None:
            return self.m
        values = np.linalg.eigvalsh(matrix)
        floor = np.maximum(self._cutoff(np.array(amount), np.trace(matrix)), 1e-12 * values[-1])
        return int((values >= floor).sum())

    def _at(self, amount: float) -> Self:
        return self.at(threshold=amount, rule="loo")
