"""Base classes of kernel mean estimators: weights of points from their Gram matrix."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from shrinktest._check import choice, complete_points, numbers_or_nan, positive, real_values
from shrinktest.embedding import MeanEmbedding
from shrinktest.kernels import Kernel, as_kernel

#: Parts of a sample that a fit uses: sum and trace of its Gram matrix ("sums"), a compiled loop
#: over Gram matrix or coordinates ("filter"), the points themselves ("noise"), or the Gram matrix,
#: handed to ``weights`` ("function").
Needs = Literal["sums", "filter", "noise", "function"]

#: Check of a parameter by its value and name: returns the plain value, or raises an error.
Check = Callable[[Any, str], Any]


@dataclass(frozen=True, eq=False)
class SampleStack:
    """B samples of n points: Gram matrices (B, n, n), or feature coordinates (B, n, r)."""

    values: np.ndarray
    by_coordinates: bool = False

    @property
    def n(self) -> int:
        """Number of points of a sample."""
        return self.values.shape[1]

    @property
    def matrices(self) -> np.ndarray:
        """Gram matrices K, or Z'Z for coordinates Z."""
        z = self.values
        return np.asarray(z.transpose(0, 2, 1) @ z) if self.by_coordinates else z

    @property
    def diagonal(self) -> np.ndarray:
        """Diagonals (B, n) of the Gram matrices."""
        z = self.values
        return (
            np.square(z).sum(axis=2)
            if self.by_coordinates
            else np.diagonal(z, axis1=1, axis2=2).copy()
        )


def as_gram(gram: object) -> np.ndarray:
    """Return a Gram matrix (n, n) as float64 in C order.

    Raise an error unless it is finite and symmetric.
    """
    try:
        g = np.require(real_values(gram), requirements=["C", "W"])
    except TypeError as error:
        raise TypeError(f"gram must be a matrix of numbers: {error}") from None
    if g.ndim != 2 or g.shape[0] != g.shape[1] or not g.size:
        raise ValueError(
            f"gram must be a square Gram matrix (n, n) of at least one point; got shape {g.shape}"
        )
    if not np.isfinite(g).all():
        i, j = np.argwhere(~np.isfinite(g))[0]
        raise ValueError(f"gram[{i}, {j}] is {g[i, j]}; every entry must be finite")
    gap = np.abs(g - g.T).max()
    if gap > 1e-8 * max(np.abs(g).max(), np.finfo(float).tiny):
        raise ValueError(
            f"gram must be symmetric; entries differ by {gap:.3g}: pass the Gram matrix of one "
            "sample"
        )
    return g


class MeanEstimator(ABC):
    """An estimator of the kernel mean mu_P = E k(X, .).

    Derive estimators of your own from this class, the base of all estimators.  A subclass is
    immutable (a frozen dataclass, for example) and has the method ``weights``, which turns a Gram
    matrix into one weight per point.  To change the features instead of the weights, override
    ``features``, which returns the kernel of the Gram matrix; tests call it once, on the pooled
    sample, whose order must not matter.  A subclass works in every test, power study and
    application; see :func:`shrinktest.check_estimator`.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from shrinktest import MeanEstimator, check_estimator, two_sample_test
    >>> @dataclass(frozen=True, repr=False)
    ... class Central(MeanEstimator):
    ...     power: float = 1.0
    ...
    ...     def weights(self, gram):
    ...         return np.clip(np.mean(gram, axis=1), 0.0, None) ** self.power / len(gram)
    >>> check_estimator(Central())
    >>> result = two_sample_test(
    ...     [1.2, 0.3, 0.5, 0.8], [2.1, 1.9, 3.0, 2.6], estimator=Central(power=2.0)
    ... )
    >>> round(result.pvalue, 4)
    0.0286
    """

    summary: ClassVar[str] = "user-defined estimator"  #: One line for lists and tables.
    sources: ClassVar[tuple[str, ...]] = ()  #: Keys of the papers that it comes from.
    amount: ClassVar[str] = "shrinkage"  #: Name of the amount in ``MeanEmbedding.shrinkage``.
    needs: ClassVar[Needs] = "function"  #: Parts of a sample that a fit uses.
    by_coordinates: ClassVar[bool] = (
        False  #: True if a fit can use coordinates in place of the Gram matrix.
    )
    any_rank: ClassVar[bool] = (
        True  #: True if gram='auto' may omit directions of next to no variance.
    )
    fixed: ClassVar[bool] = True  #: True if nothing is tuned on the data.
    unbiased_pairs: ClassVar[bool] = (
        False  #: True if all weights are 1/n, as the unbiased form of HSIC requires.
    )
    smooths: ClassVar[bool] = (
        False  #: True if the features are averages over noise, as for marginalized means.
    )
    one_noise: ClassVar[bool] = False  #: True if that noise has one variance for all columns.
    projects: ClassVar[bool] = (
        False  #: True if it projects: the estimate may be zero although the mean is not.
    )

    @abstractmethod
    def weights(self, gram: Any) -> np.ndarray:
        """Return the weights (n,) of the points, from their Gram matrix (n, n)."""

    def checked_weights(self, gram: np.ndarray) -> np.ndarray:
        """Return the weights for a read-only Gram matrix (n, n).

        Raises an error unless they are n finite numbers.
        """
        n = len(gram)
        view = gram.view()
        view.setflags(write=False)
        try:
            values = self._weigh(view)
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            raise ValueError(
                f"{self!r} changed its Gram matrix, which is read-only; copy it first, gram.copy()"
            ) from None
        try:
            weights = real_values(values)
        except TypeError as error:
            raise TypeError(f"{self!r} must return {n} weights for {n} points: {error}") from None
        if weights.shape != (n,):
            raise ValueError(
                f"{self!r} must return {n} weights for {n} points; found shape {weights.shape}"
            )
        if not np.isfinite(weights).all():
            raise ValueError(
                f"{self!r} returned weights that are not finite for a Gram matrix of {n} points"
            )
        return weights.copy()

    def _weigh(self, gram: np.ndarray) -> Any:
        return self.weights(gram)

    def fit_samples(self, samples: Sequence[SampleStack], joint: bool = False) -> list[np.ndarray]:
        """Return the weights (B, n) of every stack of samples.

        If ``joint``, the b-th samples of all stacks share one amount.
        """
        return [
            np.array([self.checked_weights(gram) for gram in stack.values]) for stack in samples
        ]

    def features(self, kernel: Kernel, points: np.ndarray) -> Kernel:
        """Return the kernel whose Gram matrix is passed to ``weights``.

        The default is ``kernel`` itself.
        """
        return kernel

    @property
    def changes_features(self) -> bool:
        """True if ``features`` returns a kernel other than its argument."""
        return type(self).features is not MeanEstimator.features

    def tuned(self, kernel: Kernel, *samples: np.ndarray) -> Self:
        """Return the estimator with its amount fixed at the best for these samples."""
        return self

    def tuning_for(self, sizes: tuple[int, ...]) -> str:
        """Return how the amount is chosen: "fixed", "sample", "joint" or "pooled".

        The answer is for samples of these sizes.
        """
        return "fixed"

    def check_size(self, n: int) -> None:  # noqa: B027 - most estimators take samples of any size
        """Raise ValueError if the estimator makes no sense for n points."""

    def scales_all_alike(self, sizes: tuple[int, ...]) -> bool:
        """Return True if all samples get one fixed multiple of the standard mean."""
        return False

    def weighs_all_alike(self, sizes: tuple[int, ...]) -> bool:
        """Return True if the weights of all samples of these sizes have equal sums."""
        return self.scales_all_alike(sizes)

    def check_pairs(self) -> None:  # noqa: B027 - most estimators make sense there
        """Raise ValueError if the estimator is invalid for an independence test.

        It must be meaningful for the centered pairs of the test.
        """

    def __repr__(self) -> str:
        """Return the expression that rebuilds the value, without parameters at their defaults."""
        if not is_dataclass(self):
            return f"{type(self).__name__}()"
        shown = [
            (f.name, getattr(self, f.name))
            for f in fields(self)
            if getattr(self, f.name) != f.default
        ]
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown)})"

    def fit(self, X: Any, kernel: Any = "gaussian") -> MeanEmbedding:
        """Estimate the kernel mean of one sample.

        Parameters
        ----------
        X : array_like, shape (n, d) or (n,)
            The sample, with one row per point.
        kernel : str, Kernel or callable, default "gaussian"
            Kernel of the points, of which a bandwidth of ``"median"`` is resolved on ``X``.

        Returns
        -------
        MeanEmbedding
            The estimate, with its points, weights and amount of shrinkage.

        Examples
        --------
        >>> from shrinktest import SKMSE
        >>> mean = SKMSE().fit([0.0, 1.0, 3.0], kernel="gaussian")
        >>> mean.weights.round(4)
        array([0.2512, 0.2512, 0.2512])
        """
        points = complete_points(X, "X").values
        return self.embed(points, as_kernel(kernel).resolve(points, 0))

    def embed(self, points: np.ndarray, kernel: Kernel) -> MeanEmbedding:
        """Estimate the mean of validated points (n, d) with a resolved kernel."""
        weights, amount = self._solve(self.features(kernel, points)(points))
        return MeanEmbedding(points, weights, kernel, amount)

    def _solve(self, gram: np.ndarray) -> tuple[np.ndarray, Any]:
        """Return the weights and the amount of shrinkage in the estimator's own unit."""
        return self.checked_weights(gram), None


class BuiltIn(MeanEstimator):
    """Base class of estimators that solve for the weights of a Gram matrix once it is checked."""

    def weights(self, gram: Any) -> np.ndarray:
        """Weights (n,) of the estimate, for a Gram matrix (n, n).

        Raises ValueError if the matrix is not square, symmetric and finite, or has no estimate.
        """
        return self._solve(as_gram(gram))[0]


@dataclass(frozen=True, kw_only=True, repr=False)
class Tuned(BuiltIn):
    """Base class of estimators that choose their shrinkage from the data, unless given.

    ``tuning="auto"`` is "sample", or "joint" for samples of unequal sizes, of which the smaller one
    would be shrunk more and make the test one-sided.
    """

    tuning: str = "auto"

    _checks: ClassVar[dict[str, Check]] = {}  # of every parameter that is given, not None
    _amounts: ClassVar[
        tuple[str, ...]
    ]  # parameters that fix the amount, one at most; tuning gives the first
    _options: ClassVar[tuple[str, ...]] = (
        "tuning",
    )  # parameters that say how the amount is chosen

    def __post_init__(self) -> None:
        for name, check in {
            "tuning": one_of("auto", "sample", "joint", "pooled"),
            **self._checks,
        }.items():
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, check(value, name))
        given = [name for name in self._amounts if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(
                f"{' and '.join(given)} both fix the amount of shrinkage; pass one of them"
            )
        unused = [
            name for name, default in self._defaults().items() if getattr(self, name) != default
        ]
        if given and unused:
            option = f"{unused[0]}={getattr(self, unused[0])!r}"
            raise ValueError(
                f"{option} has nothing to tune: {given[0]}= fixes the amount; drop one of them"
            )

    def _defaults(self) -> dict[str, Any]:
        return {field.name: field.default for field in fields(self) if field.name in self._options}

    @property
    def fixed(self) -> bool:  # type: ignore[override]
        """True if the amount was given, so that nothing is tuned."""
        return any(getattr(self, name) is not None for name in self._amounts)

    def tuning_for(self, sizes: tuple[int, ...]) -> str:
        if self.fixed:
            return "fixed"
        if self.tuning != "auto":
            return self.tuning
        return "joint" if len(set(sizes)) > 1 else "sample"

    def at(self, **amount: Any) -> Self:
        """Return the same estimator with its amount fixed."""
        return replace(self, **{**self._defaults(), **amount})


def one_of(*names: str) -> Check:
    """Return a check that a parameter is one of these names."""
    return lambda value, name: choice(value, names, name)


def penalty(value: Any, name: str) -> float:
    """Return an amount of shrinkage, a number >= 0 or infinity."""
    return (
        value
        if isinstance(value, float) and value == np.inf
        else positive(value, name, allow_zero=True)
    )


def non_negative(values: Any, name: str) -> tuple[float, ...]:
    """Return finite numbers >= 0, in a sequence or alone, as a tuple."""
    array = np.atleast_1d(numbers_or_nan(values))
    wrong = array.ndim > 1 or not array.size or not ((array >= 0.0) & np.isfinite(array)).all()
    if wrong or isinstance(values, bool):
        raise ValueError(f"{name} must be finite numbers >= 0; got {values!r}")
    return tuple(array.tolist())
