"""Gaussian mixtures with known kernel means, and the designs of risk studies that draw them."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import (
    Array,
    check_signature,
    choice,
    count,
    counted,
    flag,
    positive,
    real_values,
)
from shrinktest._random import as_rng
from shrinktest.power.designs.base import function_name
from shrinktest.power.designs.literature import GaussianMixture, optional

_ROUNDING = 1e-8  # by which weights may miss 1, and covariances symmetry
_SINGULAR = 1e-12  # smallest over largest eigenvalue of a covariance matrix


class MixtureDesign(ABC):
    """Base class of designs of risk studies, which draw a mixture for each trial.

    A subclass is immutable and has ``draw`` and a repr that identifies it in stores.

    Examples
    --------
    >>> import numpy as np
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Round(MixtureDesign):
    ...     spread: float
    ...
    ...     def draw(self, rng, dimension):
    ...         means = rng.normal(scale=self.spread, size=(2, dimension))
    ...         return NormalMixture([0.5, 0.5], means, [np.eye(dimension)] * 2)
    >>> Round(spread=3.0).draw(np.random.default_rng(0), dimension=4)
    NormalMixture(2 components in 4 dimensions)
    """

    @abstractmethod
    def draw(self, rng: np.random.Generator, dimension: int) -> NormalMixture:
        """Return the mixture of one trial, in this many dimensions."""

    def identity(self) -> str:
        """Return the text by which stores know the design."""
        return repr(self)


@dataclass(frozen=True, eq=False, repr=False)
class NormalMixture(MixtureDesign):
    """The mixture of Gaussians sum_c pi_c N(m_c, S_c), equal in every trial.

    Parameters
    ----------
    weights : array_like, shape (k,)
        Positive probabilities pi_c of the components, with sum 1.
    means : array_like, shape (k, d)
        Means m_c of the components.
    covariances : array_like, shape (k, d, d)
        Covariance matrices S_c, symmetric and positive definite.

    Examples
    --------
    >>> mixture = NormalMixture([0.5, 0.5], [[0.0], [4.0]], [[[1.0]], [[2.0]]])
    >>> mixture, mixture.sample(0, 3).shape
    (NormalMixture(2 components in 1 dimension), (3, 1))
    """

    weights: Array
    means: Array
    covariances: Array

    def __post_init__(self) -> None:
        weights, means, covariances = (
            real_values(values).copy() for values in (self.weights, self.means, self.covariances)
        )
        k, d = means.shape if means.ndim == 2 else (0, 0)
        if k == 0 or weights.shape != (k,) or covariances.shape != (k, d, d):
            shapes = f"{weights.shape}, {means.shape} and {covariances.shape}"
            raise ValueError(
                "weights (k,), means (k, d) and covariances (k, d, d) are needed; got shapes "
                f"{shapes}"
            )
        if not (weights > 0.0).all() or abs(weights.sum() - 1.0) > _ROUNDING:
            raise ValueError(f"weights must be positive with sum 1; got {weights.tolist()}")
        for c, matrix in enumerate(covariances):
            fault = (
                "symmetric"
                if np.abs(matrix - matrix.T).max() > _ROUNDING * np.abs(matrix).max()
                else ""
            )
            matrix[:] = 0.5 * (matrix + matrix.T)
            spectrum = np.linalg.eigvalsh(matrix)
            if fault or spectrum[0] <= _SINGULAR * spectrum[-1]:
                raise ValueError(f"covariances[{c}] is not {fault or 'positive definite'}")
        for name, values in (("weights", weights), ("means", means), ("covariances", covariances)):
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    def __repr__(self) -> str:
        k, d = self.means.shape
        return f"NormalMixture({counted(k, 'component')} in {counted(d, 'dimension')})"

    def identity(self) -> str:
        digest = hashlib.sha256(
            self.weights.tobytes() + self.means.tobytes() + self.covariances.tobytes()
        )
        return f"{self!r}, {digest.hexdigest()[:8]}"

    def draw(self, rng: np.random.Generator, dimension: int) -> NormalMixture:
        return self

    @property
    def dimension(self) -> int:
        """The number of variables d."""
        return self.means.shape[1]

    def sample(self, rng: Any, n: int) -> Array:
        """Draw n points, shape (n, d), from a seed or a generator."""
        rng = as_rng(rng)
        component = rng.choice(
            len(self.weights), size=count(n, "n", minimum=1), p=self.weights / self.weights.sum()
        )
        points = rng.standard_normal((n, self.dimension))
        for c, factor in enumerate(np.linalg.cholesky(self.covariances)):
            chosen = component == c
            points[chosen] = points[chosen] @ factor.T + self.means[c]
        return points

    def blurred(self, variances: Any) -> NormalMixture:
        """Return the distribution of X + N(0, diag(variances)), variances (d,) >= 0."""
        return NormalMixture(self.weights, self.means, self.covariances + np.diag(variances))


def as_mixture(mixture: Any) -> NormalMixture:
    """Return a mixture from a value or from a triple (weights, means, covariances)."""
    return mixture if isinstance(mixture, NormalMixture) else NormalMixture(*mixture)


@dataclass(frozen=True, repr=False)
class RandomMixture(MixtureDesign):
    """The papers' mixture of four Gaussians, drawn anew in every trial.

    See :class:`~shrinktest.power.designs.Mixture`.

    Parameters
    ----------
    wishart_scale : float, default 2.0
        Scale c of the covariances, which is 2 in [M14] and [X20] but 3 in [S14].
    diagonal : bool, default False
        Whether to keep only the diagonals of the covariances, as the Laplacian kernel's closed form
        requires.
    mixture_seed : int, optional
        Seed of the mixtures, which are then the same in every trial (of one dimension).

    References
    ----------
    .. [M14] Muandet et al., "Kernel mean estimation and Stein effect", ICML, 2014.
    .. [S14] Muandet et al., "Kernel mean estimation via spectral filtering", NeurIPS, 2014.
    .. [X20] Xia et al., "Kernel mean estimation by marginalized corrupted distributions",
       arXiv:2107.04855, 2021.
    """

    name: ClassVar[str] = "mixture"

    wishart_scale: float = 2.0
    diagonal: bool = False
    mixture_seed: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "wishart_scale", positive(self.wishart_scale, "wishart_scale"))
        object.__setattr__(self, "diagonal", flag(self.diagonal, "diagonal"))
        object.__setattr__(
            self, "mixture_seed", optional(self.mixture_seed, "mixture_seed", count, minimum=0)
        )

    def __repr__(self) -> str:
        shown = [
            f"{f.name}={getattr(self, f.name)!r}"
            for f in fields(self)
            if getattr(self, f.name) != f.default
        ]
        return f"RandomMixture({', '.join(shown)})"

    def draw(self, rng: np.random.Generator, dimension: int) -> NormalMixture:
        source = rng if self.mixture_seed is None else np.random.default_rng(self.mixture_seed)
        drawn = GaussianMixture.draw(source, dimension, self.wishart_scale)
        covariances = drawn.factors @ drawn.factors.transpose(0, 2, 1) + drawn.noise * np.eye(
            dimension
        )
        if self.diagonal:
            covariances = covariances * np.eye(dimension)
        return NormalMixture(drawn.weights, drawn.means, covariances)


@dataclass(frozen=True, repr=False)
class FromFunction(MixtureDesign):
    """Mixtures from a function, which stores know by its name.

    Parameters
    ----------
    function : callable
        ``function(rng, d) -> (weights, means, covariances)``, called with a numpy Generator and the
        dimension.
    """

    function: Callable[[np.random.Generator, int], Any]

    def __post_init__(self) -> None:
        check_signature(
            self.function,
            ("rng", "d"),
            "function must be (rng, d) -> (weights, means, covariances)",
        )

    def __repr__(self) -> str:
        return f"FromFunction({function_name(self.function)})"

    def draw(self, rng: np.random.Generator, dimension: int) -> NormalMixture:
        return as_mixture(self.function(rng, dimension))


def as_mixture_design(design: Any) -> MixtureDesign:
    """Return a design from "mixture", a design, a mixture, or ``(rng, d) -> mixture``.

    "mixture" is a name; the last is a function.
    """
    if isinstance(design, MixtureDesign):
        return design
    if isinstance(design, str):
        choice(design, (RandomMixture.name,), "design")
        return RandomMixture()
    if isinstance(design, tuple | list):
        return as_mixture(design)
    if callable(design) and not isinstance(design, type):
        return FromFunction(design)
    raise TypeError(
        "design must be 'mixture', a design, a mixture, or a function (rng, d) -> mixture; got "
        f"{design!r}"
    )
