"""Kernels of the pooled sample: they take from all observations, whatever their labels, more than a bandwidth.

Such a kernel is a value until it is resolved on the observations; the test does that, once, before any permutation.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from shrinktest._validate import Array, complete_points
from shrinktest.kernels.base import FiniteRank, Kernel

_BLOCK = 2**20  # kernel values computed at a time
_NEAR = 2**15  # values that stay in the cache


@dataclass(frozen=True, eq=False)
class PooledKernel(Kernel):
    """A kernel of the features of another one about their mean over the pooled sample."""

    #: Whether its features are those of the other kernel, moved and turned, so that means of these give means of those.
    affine: ClassVar[bool] = False

    kernel: Kernel  # whose features are taken
    # (N, d): the pooled sample, as `resolve` puts it in
    points: Array | None = field(default=None, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        require_plain(self.kernel, type(self).__name__)
        read = self.points is None or (isinstance(self.points, np.ndarray) and self.points.ndim == 2)
        if not read:
            object.__setattr__(self, "points", complete_points(self.points, "points").values)

    @property
    def points_are(self) -> frozenset[str]:
        return self.kernel.points_are

    @property
    def bandwidth(self) -> Any:
        """That of the other kernel."""
        return getattr(self.kernel, "bandwidth", None)

    @property
    def label(self) -> str:
        """Such as "Whitened(Gaussian, lam=0.1)"."""
        rest = [f"{name}={value!r}" for name, value in self._settings.items() if name != "kernel"]
        return f"{type(self).__name__}({', '.join([self.kernel.label, *rest])})"

    def resolve(self, Z: ArrayLike, rng: Any = None) -> Kernel:
        """The kernel of the pooled sample Z (N, d)."""
        rows = complete_points(Z, "Z").values
        if self.points is None:
            return replace(self, kernel=self.kernel.resolve(rows, rng), points=rows)
        if not np.array_equal(self.points, rows):
            raise ValueError(
                f"{self!r} was resolved on other observations ({len(self.points)} of them, these are {len(rows)}); "
                "give the test the kernel as it was before, which it resolves on all observations itself"
            )
        return self

    def check(self, X: Array) -> None:
        self.kernel.check(X)

    @abstractmethod
    def of_gram(self, gram: Array) -> Array:
        """Its Gram matrix of the pooled sample, from that of the other kernel, which is left as it is."""

    def few(self, gram: Array) -> tuple[FiniteRank, Array] | None:
        """A few coordinates of the pooled sample, as by :meth:`of_features`, if it has them for every other kernel."""
        return None

    @abstractmethod
    def of_features(self, features: FiniteRank, coordinates: Array) -> tuple[FiniteRank, Array]:
        """The same from coordinates (N, r) of the pooled sample: as a kernel of finite rank, with its coordinates."""

    def columns(self, rank: int) -> int:
        """How many coordinates it has where the other kernel has ``rank``."""
        return rank

    def shortened(self, features: FiniteRank, coordinates: Array, most: int) -> tuple[FiniteRank, Array, float] | None:
        """The same by ``most`` coordinates at most, with the share of the variance that they see; None: it cannot."""
        return None

    def _pooled(self) -> Array:
        if self.points is None:
            raise ValueError(
                f"{self!r} has no pooled sample yet: call .resolve(Z) with all the data (a test does that itself)"
            )
        return self.points

    def _centred_gram(self, gram: Array) -> Array:
        """Inner products of the features of the pooled sample about their mean, a new array."""
        rows = gram.mean(axis=1)
        means, whole = self._known.setdefault("means", (rows, float(rows.mean())))
        values, others, step = np.empty_like(gram), means - whole, max(1, _NEAR // len(gram))
        for k in range(0, len(gram), step):  # some rows at a time, which stay in the cache
            some = slice(k, k + step)
            np.subtract(gram[some], means[some, None], out=values[some])
            values[some] -= others
        return values

    def _centred(self, X: Array, Y: Array) -> Array:
        """The same for X and Y."""
        means, whole = self._means()
        at_x, at_y = (means if Z is self.points else self._mean_at(Z) for Z in (X, Y))
        values = (self.kernel(X) if X is Y else self.kernel(X, Y)) - at_x[:, None]  # which may be the user's own array
        values -= at_y - whole
        return values

    def _means(self) -> tuple[Array, float]:
        """Mean of the kernel between every pooled point and all of them (N,), and the mean of these."""
        if "means" not in self._known:
            rows = self._mean_at(self._pooled())
            self._known["means"] = rows, float(rows.mean())
        found: tuple[Array, float] = self._known["means"]
        return found

    def _mean_at(self, X: Array) -> Array:
        pooled = self._pooled()
        step = max(1, _BLOCK // len(pooled))
        return np.concatenate([self.kernel(X[k : k + step], pooled).mean(axis=1) for k in range(0, len(X), step)])

    @property
    def _settings(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "points"}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PooledKernel) or type(self) is not type(other):
            return False
        same = self.points is other.points or (
            self.points is not None and other.points is not None and np.array_equal(self.points, other.points)
        )
        return same and self._settings == other._settings

    def __hash__(self) -> int:
        return hash((type(self), *self._settings.values()))

    @property
    def _known(self) -> dict[str, Any]:
        """What was computed on the pooled sample; not copied and not pickled with the kernel."""
        return self.__dict__.setdefault("_cache", {})

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_cache"}

    def _both_pooled(self, X: Array, Y: Array) -> bool:
        pooled = self._pooled()
        return all(Z is pooled or (Z.shape == pooled.shape and np.array_equal(Z, pooled)) for Z in (X, Y))


def require_plain(kernel: Any, name: str) -> None:
    """Raise TypeError for what is no kernel, and ValueError for a kernel of the pooled sample."""
    if not isinstance(kernel, Kernel):
        raise TypeError(f"{name} takes a kernel such as Gaussian(); got {kernel!r} ({type(kernel).__name__})")
    if isinstance(kernel, PooledKernel):
        raise ValueError(
            f"{name}({kernel!r}): kernels of the pooled sample are not taken one of another; give {name} the kernel "
            f"itself, {kernel.kernel!r}"
        )
