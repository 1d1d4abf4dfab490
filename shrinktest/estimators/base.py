"""The base class of kernel mean estimators: weights on a Gram matrix, and a kernel to make it with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from shrinktest._validate import as_points, choice, real_values
from shrinktest.embedding import MeanEmbedding
from shrinktest.kernels import Kernel, as_kernel

#: How the amount of shrinkage is chosen in a test; see :class:`Tuned`.
TUNINGS = ("auto", "sample", "joint", "pooled")

#: What a fit needs of a sample, by which a test chooses how it fits the estimator to relabelled data: "sums" (the sum
#: and the trace of its Gram matrix), "filter" (compiled loops over the Gram matrix or coordinates), "noise" (the
#: points themselves, which get other features in every relabelling), "function" (the Gram matrix, handed to
#: ``weights``).
Needs = Literal["sums", "filter", "noise", "function"]


def as_gram(gram: object) -> np.ndarray:
    """A Gram matrix as (n, n) float64 in C order; raises ValueError if it is not square, finite and symmetric."""
    try:
        g = np.require(real_values(gram), requirements=["C", "W"])  # a read-only one is copied
    except TypeError as error:
        raise TypeError(f"gram must be a matrix of numbers: {error}") from None
    if g.ndim != 2 or g.shape[0] != g.shape[1]:
        raise ValueError(f"gram must be a square Gram matrix, shape (n, n); found shape {g.shape}")
    if g.shape[0] == 0:
        raise ValueError("gram is empty; an estimate needs at least one point")
    if not np.isfinite(g).all():
        i, j = np.argwhere(~np.isfinite(g))[0]
        raise ValueError(f"gram[{i}, {j}] is {g[i, j]}; every entry must be finite")
    gap = np.abs(g - g.T)
    if gap.max() > 1e-8 * max(np.abs(g).max(), np.finfo(float).tiny):
        i, j = np.unravel_index(int(gap.argmax()), g.shape)
        raise ValueError(
            f"gram must be symmetric: entries [{i}, {j}] and [{j}, {i}] differ by {gap.max():.3g}; "
            "pass the Gram matrix of one sample, not a cross-Gram matrix"
        )
    return g


def as_weights(found: object, estimator: MeanEstimator, n: int) -> np.ndarray:
    """What an estimator made of a Gram matrix of n points, if it is n finite numbers; an error that says so if not."""
    try:
        weights = real_values(found)
    except TypeError as error:
        raise TypeError(f"{estimator!r} must return {n} weights for {n} points: {error}") from None
    if weights.shape != (n,):
        raise ValueError(f"{estimator!r} must return {n} weights for {n} points; found shape {weights.shape}")
    if not np.isfinite(weights).all():
        raise ValueError(f"{estimator!r} returned weights that are not finite for a Gram matrix of {n} points")
    return weights.copy()  # should one array be filled anew for every sample


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
    #: What a fit needs of a sample: "function" (its Gram matrix) for every estimator that is not built in.
    needs: ClassVar[Needs] = "function"
    #: Whether an independence test has an unbiased form with it: only where equal weights 1/n are never shrunk.
    unbiased_pairs: ClassVar[bool] = False

    #: Whether the features are averages over noise, which their kernel knows: those of marginalised means.
    smooths: ClassVar[bool] = False
    #: Whether that noise has one variance for all columns.
    one_noise: ClassVar[bool] = False

    #: Whether it projects, so that what it makes of a mean may be zero where the mean is not.
    projects: ClassVar[bool] = False

    @abstractmethod
    def weights(self, gram: Any) -> np.ndarray:
        """Weights (n,) on the points, from their Gram matrix (n, n)."""

    def checked_weights(self, gram: np.ndarray) -> np.ndarray:
        """The weights that tests take, if they are one finite number for each point of this Gram matrix (n, n).

        Raises
        ------
        TypeError, ValueError
            For others; the message says what ``weights`` returned.
        """
        return weights_of(self.weights, gram, self)

    def features(self, kernel: Kernel, points: np.ndarray) -> Kernel:
        """The kernel whose Gram matrix ``weights`` is given; by default ``kernel`` itself."""
        return kernel

    @property
    def changes_features(self) -> bool:
        """Whether ``features`` returns another kernel than the one it is given."""
        return type(self).features is not MeanEstimator.features

    @property
    def fixed(self) -> bool:
        """Whether nothing is tuned on the data: so for every estimator without an amount of shrinkage to choose."""
        return True

    def tuned(self, kernel: Kernel, *samples: np.ndarray) -> Self:
        """The estimator with its amount fixed at the best one for these samples (n_i, d); itself if it is fixed."""
        return self

    def tuning_for(self, sizes: tuple[int, ...]) -> str:
        """How the amount is chosen for samples of these sizes: "fixed", "sample", "joint" or "pooled"."""
        return "fixed"

    @property
    def by_coordinates(self) -> bool:
        """Whether a fit can be made from coordinates of the points, without their Gram matrix."""
        return False

    @property
    def any_rank(self) -> bool:
        """Whether gram='auto' may use a low-rank factor, which leaves out directions that hardly exist in the data."""
        return True

    def scales_all_alike(self, sizes: tuple[int, ...]) -> bool:
        """Whether samples of these sizes all get the standard mean times one fixed number, which tests nothing new."""
        return False

    def weighs_all_alike(self, sizes: tuple[int, ...]) -> bool:
        """Whether samples of these sizes get weights of one sum, whatever is in them.

        Then the distances of their means do not depend on where the features lie.
        """
        return self.scales_all_alike(sizes)

    def check_pairs(self) -> None:  # noqa: B027 - most estimators make sense there
        """Raise ValueError if the estimator makes no sense for the centred pairs of an independence test."""

    def __repr__(self) -> str:
        """The expression that rebuilds the value; parameters at their defaults are left out."""
        if not is_dataclass(self):
            return f"{type(self).__name__}()"
        shown = [(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default]
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown)})"

    def fit(self, X: Any, kernel: Any = "gaussian") -> MeanEmbedding:
        """Estimate the kernel mean of one sample.

        Parameters
        ----------
        X : array_like, shape (n, d) or (n,)
            The sample; one row a point.
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
        """``fit`` for validated points (n, d) and a resolved kernel."""
        weights, amount = self._solve(self.features(kernel, points)(points))
        return MeanEmbedding(points, weights, kernel, amount)

    def _solve(self, gram: np.ndarray) -> tuple[np.ndarray, Any]:
        """Weights and the amount of shrinkage in the estimator's own unit."""
        return self.checked_weights(gram), None


@dataclass(frozen=True, kw_only=True, repr=False)
class Tuned(ABC):
    """The option ``tuning`` of estimators that choose their amount of shrinkage from the data.

    To stand before :class:`MeanEstimator` among the base classes.

    ``tuning="sample"``: every sample is tuned by itself, again in every permutation; ``"joint"``: one amount for both
    samples, again in every permutation; ``"pooled"``: once, on the pooled sample, which no permutation changes.
    ``"auto"`` is ``"sample"``, except for two samples of unequal sizes, where tuning each by itself would shrink the
    smaller one more and make the test one-sided: ``"joint"`` there.
    """

    tuning: str = "auto"

    def __post_init__(self) -> None:
        choice(self.tuning, TUNINGS, "tuning")
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, np.generic):  # which the repr, summaries and JSON would show as a type of numpy
                object.__setattr__(self, f.name, float(value) if isinstance(value, np.floating) else value.item())
        if self.fixed and self.tuning != "auto":
            raise ValueError(
                f"tuning={self.tuning!r} has nothing to tune: the amount of {self!r} is fixed; drop one of the two"
            )
        self._check()

    def _check(self) -> None:  # noqa: B027 - not every estimator has parameters to check
        """Raise on parameters that cannot be."""

    @property
    @abstractmethod
    def fixed(self) -> bool:
        """Whether the amount was given, so that nothing is tuned."""

    @abstractmethod
    def tuned(self, kernel: Kernel, *samples: np.ndarray) -> Self:
        """The estimator with its amount fixed at the one that minimises the summed score of these samples."""

    def tuning_for(self, sizes: tuple[int, ...]) -> str:
        """How the amount is chosen for samples of these sizes, which is what "auto" depends on."""
        if self.fixed:
            return "fixed"
        if self.tuning != "auto":
            return self.tuning
        return "joint" if len(set(sizes)) > 1 else "sample"

    def at(self, **amount: Any) -> Self:
        """The same estimator with its amount fixed."""
        return replace(self, **{"tuning": "auto", **amount})


def weights_of(function: Callable[[np.ndarray], Any], gram: np.ndarray, estimator: MeanEstimator) -> np.ndarray:
    """Weights that a function returns for a Gram matrix, which it cannot write into: others read it, too."""
    view = gram.view()
    view.setflags(write=False)
    try:
        found = function(view)
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise ValueError(
            f"{estimator!r} modified its Gram matrix, which is read-only; copy it first, gram.copy()"
        ) from None
    return as_weights(found, estimator, len(gram))
