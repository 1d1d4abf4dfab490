"""NormalMixture: a mixture of Gaussians whose kernel means are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._check import Array, as_rng, count, counted, real_values

_ROUNDING = 1e-8  # by which weights may miss 1, and covariances symmetry
_SINGULAR = 1e-12  # smallest over largest eigenvalue of a covariance matrix


@dataclass(frozen=True, eq=False, repr=False)
class NormalMixture:
    """The distribution P = sum_c pi_c N(m_c, S_c).

    Parameters
    ----------
    weights : array_like, shape (k,)
        Positive, with sum 1.
    means : array_like, shape (k, d)
    covariances : array_like, shape (k, d, d)
        Symmetric and positive definite.

    Raises
    ------
    TypeError, ValueError
        For arrays that make no mixture; the message names the component.

    Examples
    --------
    >>> mixture = NormalMixture([0.5, 0.5], [[0.0], [4.0]], [[[1.0]], [[2.0]]])
    >>> mixture
    NormalMixture(2 components in 1 dimension)
    >>> mixture.sample(0, 3).shape
    (3, 1)
    """

    weights: Array
    means: Array
    covariances: Array

    def __post_init__(self) -> None:
        weights = _numbers(self.weights, "weights", "(k,)", 1)
        means = _numbers(self.means, "means", "(k, d)", 2)
        covariances = _numbers(self.covariances, "covariances", "(k, d, d)", 3)
        k, d = means.shape
        if weights.shape != (k,) or covariances.shape != (k, d, d):
            raise ValueError(
                "a mixture needs weights (k,), means (k, d) and covariances (k, d, d) of the same k and d; found "
                f"shapes {weights.shape}, {means.shape} and {covariances.shape}"
            )
        if not (weights > 0.0).all():
            c = int(np.argmin(weights))
            raise ValueError(f"weights must be positive: that of component {c} is {weights[c]:g}; drop the component")
        if abs(weights.sum() - 1.0) > _ROUNDING:
            raise ValueError(f"weights must have sum 1, and theirs is {weights.sum():.10g}; divide them by it")
        _check_covariances(covariances)
        for name, value in (("weights", weights), ("means", means), ("covariances", covariances)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        k, d = self.means.shape
        return f"NormalMixture({counted(k, 'component')} in {counted(d, 'dimension')})"

    @property
    def dimension(self) -> int:
        """The number of variables d."""
        return self.means.shape[1]

    def sample(self, rng: Any, n: int) -> Array:
        """Draw n points, shape (n, d), from a seed or a generator."""
        rng = as_rng(rng)
        component = rng.choice(len(self.weights), size=count(n, "n", minimum=1), p=self.weights / self.weights.sum())
        points = rng.standard_normal((n, self.dimension))
        for c, factor in enumerate(np.linalg.cholesky(self.covariances)):
            chosen = component == c
            points[chosen] = points[chosen] @ factor.T + self.means[c]
        return points

    def blurred(self, variances: Any) -> NormalMixture:
        """The distribution of X + N(0, diag(variances)), variances (d,) >= 0."""
        return NormalMixture(self.weights, self.means, self.covariances + np.diag(variances))


def as_mixture(mixture: Any) -> NormalMixture:
    """A mixture from a value or from a triple (weights, means, covariances); raises TypeError for anything else."""
    if isinstance(mixture, NormalMixture):
        return mixture
    if not isinstance(mixture, tuple | list) or len(mixture) != 3:
        raise TypeError(
            "mixture must be a NormalMixture or a triple (weights (k,), means (k, d), covariances (k, d, d)); found "
            f"{type(mixture).__name__}"
        )
    return NormalMixture(*mixture)


def _numbers(values: Any, name: str, shape: str, dimensions: int) -> Array:
    """A copy as float64 with this many dimensions, none of them empty, all entries finite."""
    try:
        found = real_values(values).copy()
    except TypeError as error:
        raise TypeError(f"{name} must be an array of numbers, shape {shape}: {error}") from None
    if found.ndim != dimensions or found.size == 0:
        raise ValueError(f"{name} must have shape {shape} and at least one entry; found shape {found.shape}")
    if not np.isfinite(found).all():
        raise ValueError(f"{name} must be finite; entry {tuple(np.argwhere(~np.isfinite(found))[0].tolist())} is not")
    return found


def _check_covariances(covariances: Array) -> None:
    for c, matrix in enumerate(covariances):
        gap = np.abs(matrix - matrix.T)
        if gap.max() > _ROUNDING * np.abs(matrix).max():
            i, j = np.unravel_index(int(gap.argmax()), matrix.shape)
            raise ValueError(
                f"covariances[{c}] is not symmetric: entries [{i}, {j}] and [{j}, {i}] differ by {gap[i, j]:.3g}"
            )
        matrix[:] = 0.5 * (matrix + matrix.T)
        values = np.linalg.eigvalsh(matrix)
        if values[0] <= _SINGULAR * values[-1]:
            raise ValueError(
                f"covariances[{c}] is not positive definite: its eigenvalues are {values[0]:.3g} to {values[-1]:.3g}; "
                "add a small multiple of the identity, or drop the direction in which nothing varies"
            )
