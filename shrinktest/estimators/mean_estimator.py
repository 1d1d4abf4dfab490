"""Define what a kernel mean estimator is: weights of points from their Gram matrix."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from shrinktest._check import as_points, choice, real_values
from shrinktest.embedding import MeanEmbedding
from shrinktest.kernels import Kernel, as_kernel

#: How a test chooses the amount of shrinkage; see :class:`Tuned`.
TUNINGS = ("auto", "sample", "joint", "pooled")

#: What a fit uses of a sample: sum and trace of its Gram matrix ("sums"), a compiled loop over Gram matrix or
#: coordinates ("filter"), the points themselves ("noise"), or the Gram matrix, handed to ``weights`` ("function").
Needs = Literal["sums", "filter", "noise", "function"]


@dataclass(frozen=True, eq=False)
class Samples:
    """B samples of n points each: their Gram matrices (B, n, n), or the coordinates (B, n, r) of their features."""

    values: np.ndarray
    by_coordinates: bool = False


def as_gram(gram: object) -> np.ndarray:
    """Return a Gram matrix (n, n) as float64 in C order; raise ValueError unless it is finite and symmetric."""
    try:
        g = np.require(real_values(gram), requirements=["C", "W"])
    except TypeError as error:
        raise TypeError(f"gram must be a matrix of numbers: {error}") from None
    if g.ndim != 2 or g.shape[0] != g.shape[1] or not g.size:
        raise ValueError(f"gram must be a square Gram matrix (n, n) of at least one point; got shape {g.shape}")
    if not np.isfinite(g).all():
        i, j = np.argwhere(~np.isfinite(g))[0]
        raise ValueError(f"gram[{i}, {j}] is {g[i, j]}; every entry must be finite")
    gap = np.abs(g - g.T).max()
    if gap > 1e-8 * max(np.abs(g).max(), np.finfo(float).tiny):
        raise ValueError(f"gram must be symmetric; entries differ by {gap:.3g}: pass the Gram matrix of one sample")
    return g


def as_weights(values: object, estimator: MeanEstimator, n: int) -> np.ndarray:
    """Return a copy of the weights that an estimator gave n points; raise an error unless they are n finite numbers."""
    try:
        weights = real_values(values)
    except TypeError as error:
        raise TypeError(f"{estimator!r} must return {n} weights for {n} points: {error}") from None
    if weights.shape != (n,):
        raise ValueError(f"{estimator!r} must return {n} weights for {n} points; found shape {weights.shape}")
    if not np.isfinite(weights).all():
        raise ValueError(f"{estimator!r} returned weights that are not finite for a Gram matrix of {n} points")
    return weights.copy()


def weights_of(function: Callable[[np.ndarray], Any], gram: np.ndarray, estimator: MeanEstimator) -> np.ndarray:
    """Return the checked weights that a function gives a Gram matrix, which it cannot write into."""
    view = gram.view()
    view.setflags(write=False)
    try:
        return as_weights(function(view), estimator, len(gram))
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise ValueError(
            f"{estimator!r} modified its Gram matrix, which is read-only; copy it first, gram.copy()"
        ) from None


class MeanEstimator(ABC):
    """An estimator of the kernel mean mu_P = E k(X, .), the base class of every estimator and of your own.

    A subclass is immutable (a frozen dataclass, say) and has the method ``weights``, which turns a Gram matrix into one
    weight per point.  If the estimator changes the features and not the weights, override ``features``, which returns
    the kernel that makes the Gram matrix; it must treat the points as a set, because tests call it once, on the pooled
    sample.  Such a subclass works in every test, power study and application; see :func:`shrinktest.check_estimator`.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from shrinktest import MeanEstimator, check_estimator, two_sample_test
    >>> @dataclass(frozen=True, repr=False)
    ... class Central(MeanEstimator):
    ...     power: float = 1.0
    ...     def weights(self, gram):
    ...         return np.clip(np.mean(gram, axis=1), 0.0, None) ** self.power / len(gram)
    >>> check_estimator(Central())
    >>> result = two_sample_test([1.2, 0.3, 0.5, 0.8], [2.1, 1.9, 3.0, 2.6], estimator=Central(power=2.0))
    >>> round(result.pvalue, 4)
    0.0286
    """

    #: One line for lists and tables.
    summary: ClassVar[str] = "user-defined estimator"
    #: What the amount in ``MeanEmbedding.shrinkage`` is.
    amount: ClassVar[str] = "shrinkage"
    #: What a fit uses of a sample: "function" (its Gram matrix) for every estimator of your own.
    needs: ClassVar[Needs] = "function"
    #: True if an independence test has an unbiased form, which requires equal weights 1/n that are never shrunk.
    unbiased_pairs: ClassVar[bool] = False
    #: True if the features are averages over noise, as for marginalized means.
    smooths: ClassVar[bool] = False
    #: True if that noise has one variance for all columns.
    one_noise: ClassVar[bool] = False
    #: True if it projects, so that the estimate may be zero although the mean is not.
    projects: ClassVar[bool] = False

    @abstractmethod
    def weights(self, gram: Any) -> np.ndarray:
        """Weights (n,) on the points, from their Gram matrix (n, n)."""

    def checked_weights(self, gram: np.ndarray) -> np.ndarray:
        """Return the weights for a Gram matrix (n, n); raise an error unless they are n finite numbers."""
        return weights_of(self.weights, gram, self)

    def fit_samples(self, samples: Sequence[Samples], joint: bool = False) -> list[np.ndarray]:
        """Return the weights (B, n) of every stack of samples; ``joint``: one amount for the b-th of all stacks."""
        return [np.array([self.checked_weights(gram) for gram in stack.values]) for stack in samples]

    def features(self, kernel: Kernel, points: np.ndarray) -> Kernel:
        """The kernel whose Gram matrix ``weights`` is given; by default ``kernel`` itself."""
        return kernel

    @property
    def changes_features(self) -> bool:
        """True if ``features`` returns another kernel than the one it is given."""
        return type(self).features is not MeanEstimator.features

    @property
    def fixed(self) -> bool:
        """True if nothing is tuned on the data."""
        return True

    def tuned(self, kernel: Kernel, *samples: np.ndarray) -> Self:
        """Return the estimator with its amount fixed at the best one for these samples (n_i, d)."""
        return self

    def tuning_for(self, sizes: tuple[int, ...]) -> str:
        """Return how the amount is chosen for samples of these sizes: "fixed", "sample", "joint" or "pooled"."""
        return "fixed"

    @property
    def by_coordinates(self) -> bool:
        """True if a fit can use coordinates of the features in place of the Gram matrix."""
        return False

    @property
    def any_rank(self) -> bool:
        """True if gram='auto' may use a low-rank factor, which omits directions of next to no variance."""
        return True

    def check_size(self, n: int) -> None:  # noqa: B027 - most estimators take samples of any size
        """Raise ValueError if the estimator makes no sense for n points."""

    def scales_all_alike(self, sizes: tuple[int, ...]) -> bool:
        """Return whether samples of these sizes all get the standard mean times one fixed number."""
        return False

    def weighs_all_alike(self, sizes: tuple[int, ...]) -> bool:
        """Return whether the weights of samples of these sizes always have the same sum."""
        return self.scales_all_alike(sizes)

    def check_pairs(self) -> None:  # noqa: B027 - most estimators make sense there
        """Raise ValueError if the estimator makes no sense for the centered pairs of an independence test."""

    def __repr__(self) -> str:
        """Return the expression that rebuilds the value, without parameters at their defaults."""
        if not is_dataclass(self):
            return f"{type(self).__name__}()"
        shown = [(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default]
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown)})"

    def fit(self, X: Any, kernel: Any = "gaussian") -> MeanEmbedding:
        """Estimate the kernel mean of one sample.

        Parameters
        ----------
        X : array_like, shape (n, d) or (n,)
            The sample; one row per point.
        kernel : str, Kernel or callable, default "gaussian"
            A bandwidth of ``"median"`` is resolved on ``X``.

        Returns
        -------
        MeanEmbedding
            Points, weights, the resolved kernel and the tuned amount.

        Examples
        --------
        >>> from shrinktest import SKMSE
        >>> mean = SKMSE().fit([0.0, 1.0, 3.0], kernel="gaussian")
        >>> mean.weights.round(4)
        array([0.2512, 0.2512, 0.2512])
        """
        points = as_points(X, "X").values
        if np.isnan(points).any():
            raise ValueError("X contains missing values (NaN); drop or impute them before fitting an embedding")
        return self.embed(points, as_kernel(kernel).resolve(points, 0))

    def embed(self, points: np.ndarray, kernel: Kernel) -> MeanEmbedding:
        """Estimate the mean of validated points (n, d) with a resolved kernel."""
        weights, amount = self._solve(self.features(kernel, points)(points))
        return MeanEmbedding(points, weights, kernel, amount)

    def _solve(self, gram: np.ndarray) -> tuple[np.ndarray, Any]:
        """Return the weights and the amount of shrinkage in the estimator's own unit."""
        return self.checked_weights(gram), None


@dataclass(frozen=True, kw_only=True, repr=False)
class Tuned(ABC):
    """Add the option ``tuning`` to an estimator that chooses its amount of shrinkage from the data.

    ``tuning="sample"``: each sample by itself, again in every permutation; ``"joint"``: one amount for all samples,
    again in every permutation; ``"pooled"``: once, on the pooled sample.  ``"auto"`` is ``"sample"``, or ``"joint"``
    for samples of unequal sizes, of which the smaller one would be shrunk more and make the test one-sided.
    """

    tuning: str = "auto"

    def __post_init__(self) -> None:
        choice(self.tuning, TUNINGS, "tuning")
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, np.generic):  # shown as a plain number in reprs and JSON
                object.__setattr__(self, f.name, float(value) if isinstance(value, np.floating) else value.item())
        if self.fixed and self.tuning != "auto":
            raise ValueError(f"tuning={self.tuning!r} has nothing to tune: the amount of {self!r} is fixed")
        self._check()

    def _check(self) -> None:  # noqa: B027 - not every estimator has parameters to check
        """Raise an error for parameters out of range."""

    @property
    @abstractmethod
    def fixed(self) -> bool:
        """True if the amount was given, so that nothing is tuned."""

    @abstractmethod
    def tuned(self, kernel: Kernel, *samples: np.ndarray) -> Self:
        """Return the estimator with the amount that minimizes the summed score of these samples."""

    def tuning_for(self, sizes: tuple[int, ...]) -> str:
        """Return how the amount is chosen for samples of these sizes."""
        if self.fixed:
            return "fixed"
        if self.tuning != "auto":
            return self.tuning
        return "joint" if len(set(sizes)) > 1 else "sample"

    def at(self, **amount: Any) -> Self:
        """Return the same estimator with its amount fixed."""
        return replace(self, **{"tuning": "auto", **amount})
