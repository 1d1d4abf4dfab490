"""MixtureDesign: where the mixture of each trial of a risk study comes from."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import check_signature, choice, count, flag, positive
from shrinktest.power.designs.mixture import GaussianMixture
from shrinktest.risk.mixture import NormalMixture, as_mixture


class MixtureDesign(ABC):
    """Base class of designs of risk studies, which draw a mixture of Gaussians for each trial.

    A subclass is immutable and has ``draw`` and a repr that identifies it, by which trials are kept.

    Examples
    --------
    >>> import numpy as np
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Round(MixtureDesign):
    ...     spread: float
    ...     def draw(self, rng, dimension):
    ...         means = rng.normal(scale=self.spread, size=(2, dimension))
    ...         return NormalMixture([0.5, 0.5], means, [np.eye(dimension)] * 2)
    >>> Round(spread=3.0).draw(np.random.default_rng(0), dimension=4)
    NormalMixture(2 components in 4 dimensions)
    """

    @abstractmethod
    def draw(self, rng: np.random.Generator, dimension: int) -> NormalMixture:
        """The mixture of one trial, in this many dimensions."""


@dataclass(frozen=True, repr=False)
class RandomMixture(MixtureDesign):
    """The papers' mixture of four Gaussians, drawn anew in every trial.

    Parameters
    ----------
    wishart_scale : float, default 2.0
        c of the covariances: 2 in [M14] and [X20], 3 in [S14].
    diagonal : bool, default False
        Keep the diagonals of the covariances only, which is what the Laplacian kernel's closed form needs.
    mixture_seed : int, optional
        Seed of the mixtures, which are then the same in every trial (of one dimension).

    Notes
    -----
    Weights (.05, .3, .4, .25), means U(-10, 10)^d, covariances Wishart(c I, 7) + 0.2 I.

    Examples
    --------
    >>> import numpy as np
    >>> RandomMixture(wishart_scale=3.0).draw(np.random.default_rng(0), dimension=30)
    NormalMixture(4 components in 30 dimensions)
    """

    name: ClassVar[str] = "mixture"

    wishart_scale: float = 2.0
    diagonal: bool = False
    mixture_seed: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "wishart_scale", positive(self.wishart_scale, "wishart_scale"))
        object.__setattr__(self, "diagonal", flag(self.diagonal, "diagonal"))
        if self.mixture_seed is not None:
            object.__setattr__(self, "mixture_seed", count(self.mixture_seed, "mixture_seed", minimum=0))

    def __repr__(self) -> str:
        shown = [(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default]
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown)})"

    def draw(self, rng: np.random.Generator, dimension: int) -> NormalMixture:
        source = rng if self.mixture_seed is None else np.random.default_rng(self.mixture_seed)
        drawn = GaussianMixture.draw(source, dimension, self.wishart_scale)
        covariances = drawn.factors @ drawn.factors.transpose(0, 2, 1) + drawn.noise * np.eye(dimension)
        if self.diagonal:
            covariances = covariances * np.eye(dimension)
        return NormalMixture(drawn.weights, drawn.means, covariances)


@dataclass(frozen=True, eq=False, repr=False)
class FixedMixture(MixtureDesign):
    """The same mixture in every trial.

    Parameters
    ----------
    mixture : NormalMixture or (weights, means, covariances)

    Examples
    --------
    >>> FixedMixture(NormalMixture([1.0], [[0.0]], [[[1.0]]]))
    FixedMixture(NormalMixture(1 component in 1 dimension), 68f962b4)
    """

    mixture: NormalMixture

    def __post_init__(self) -> None:
        object.__setattr__(self, "mixture", as_mixture(self.mixture))

    def __repr__(self) -> str:
        numbers = (self.mixture.weights, self.mixture.means, self.mixture.covariances)
        digest = hashlib.sha256(b"".join(one.astype("<f8").tobytes() for one in numbers)).hexdigest()
        return f"{type(self).__name__}({self.mixture!r}, {digest[:8]})"

    def draw(self, rng: np.random.Generator, dimension: int) -> NormalMixture:
        if dimension != self.mixture.dimension:
            raise ValueError(f"d={dimension} is not the dimension of the mixture, {self.mixture.dimension}")
        return self.mixture


@dataclass(frozen=True, repr=False)
class FromFunction(MixtureDesign):
    """Mixtures from a function ``(rng, d) -> (weights, means, covariances)``.

    Parameters
    ----------
    function : callable
        Stores know it by its name only.

    Examples
    --------
    >>> import numpy as np
    >>> def single(rng, d):
    ...     return [1.0], rng.normal(size=(1, d)), [np.eye(d)]
    >>> FromFunction(single).draw(np.random.default_rng(0), dimension=3)
    NormalMixture(1 component in 3 dimensions)
    """

    function: Callable[[np.random.Generator, int], Any]

    def __post_init__(self) -> None:
        said = "function must be (rng, d) -> (weights, means, covariances)"
        if not callable(self.function):
            raise TypeError(f"{said}; found {self.function!r}")
        check_signature(self.function, ("rng", "d"), said)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({getattr(self.function, '__qualname__', repr(self.function))})"

    def draw(self, rng: np.random.Generator, dimension: int) -> NormalMixture:
        mixture = as_mixture(self.function(rng, dimension))
        if mixture.dimension != dimension:
            raise ValueError(f"{self!r} was asked for d={dimension} and gave dimension {mixture.dimension}")
        return mixture


def as_mixture_design(design: Any) -> MixtureDesign:
    """A design from the name "mixture", a design, a mixture, or a function ``(rng, d) -> mixture``.

    Raises ValueError for another name, and TypeError for anything else.
    """
    if isinstance(design, MixtureDesign):
        return design
    if isinstance(design, str):
        choice(design, (RandomMixture.name,), "design")
        return RandomMixture()
    if isinstance(design, type) and issubclass(design, MixtureDesign):
        raise TypeError(f"design must be a value, not the class: write {design.__name__}(...)")
    if isinstance(design, NormalMixture | tuple | list):
        return FixedMixture(as_mixture(design))
    if callable(design):
        return FromFunction(design)
    raise TypeError(
        "design must be 'mixture', a design such as RandomMixture(wishart_scale=3.0), a mixture (weights, means, "
        f"covariances), or a function (rng, d) -> mixture; found {design!r}"
    )
