"""Kernel of a distance of scipy, such as Bray-Curtis, between rows of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shrinktest._check import Array, choice, complete_points, positive
from shrinktest._random import as_rng
from shrinktest.kernels.base import Kernel

#: Distances of scipy.spatial.distance that need nothing from the other rows.
METRICS = (
    *("braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "dice"),
    *("euclidean", "hamming", "jaccard", "jensenshannon", "minkowski", "rogerstanimoto"),
    *("sokalsneath", "sqeuclidean", "yule"),
)
_OF_PRESENCE = ("dice", "jaccard", "rogerstanimoto", "sokalsneath", "yule")
_SYNONYMS = {"bray": "braycurtis", "bray-curtis": "braycurtis", "manhattan": "cityblock"}
_MEDIAN = "median"
_MOST = 2000  # rows whose distances give the median
_EUCLIDEAN = ("euclidean", "jensenshannon")  # distances in a Hilbert space, whatever the rows


@dataclass(frozen=True, eq=False, repr=False)
class MetricKernel(Kernel):
    """Kernel of a distance of scipy, which :meth:`Distances.of` makes.

    Distances of presence, such as "jaccard", interpret every number but 0 as present.  Without a
    bandwidth the kernel is -D^2 / 2 about the mean of the pooled sample, as
    :class:`~shrinktest.Distances`, but with a bandwidth it is exp(-D / bandwidth).

    Parameters
    ----------
    metric : str
        Name of a distance in :mod:`scipy.spatial.distance`.
    bandwidth : float or "median", optional
        Unit of the distances; "median" is their median in the pooled sample.
    options : dict, optional
        Keyword arguments of the distance, such as ``p``.
    points : ndarray, shape (N, d), optional
        The pooled sample, which is set by a test (see :meth:`resolve`).

    Examples
    --------
    >>> from shrinktest.kernels import MetricKernel
    >>> MetricKernel("braycurtis", bandwidth=1.0)([[1.0, 3.0]], [[1.0, 3.0], [3.0, 1.0]]).round(4)
    array([[1.    , 0.6065]])
    """

    as_given = True
    points_are = None  # type: ignore[assignment]  # nothing is subtracted from the numbers

    metric: str
    bandwidth: float | str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    points: Array | None = None

    def __post_init__(self) -> None:
        name = self.metric
        if isinstance(name, str):
            name = _SYNONYMS.get(name.lower(), name.lower())
        object.__setattr__(self, "metric", choice(name, METRICS, "metric"))
        if self.bandwidth is not None and self.bandwidth != _MEDIAN:
            object.__setattr__(self, "bandwidth", positive(self.bandwidth, "bandwidth"))

    @property
    def never_negative(self) -> bool:  # type: ignore[override]
        return self.bandwidth is not None

    @property
    def is_definite(self) -> bool:  # type: ignore[override]
        """True with a bandwidth, or for distances that are Euclidean for all rows."""
        return self.bandwidth is not None or self.metric in _EUCLIDEAN

    def resolve(self, Z: ArrayLike, rng: Any = None) -> Kernel:
        """Return the kernel with the pooled sample Z (N, d), or with its median distance."""
        rows = complete_points(Z, "Z").values
        if self.bandwidth is None:
            return self if self.points is not None else replace(self, points=rows)
        if self.bandwidth != _MEDIAN:
            return self
        if len(rows) > _MOST:
            rows = rows[as_rng(rng).choice(len(rows), _MOST, replace=False)]
        apart = self.distances(rows, rows)[np.triu_indices(len(rows), 1)]
        apart = apart[apart > 0.0]
        if not apart.size:
            raise ValueError("all rows are equal, so that bandwidth='median' is 0; use a number")
        return replace(self, bandwidth=float(np.median(apart)))

    def distances(self, X: Array, Y: Array) -> Array:
        """Return the distances (n, m) of rows X (n, d) and Y (m, d)."""
        from scipy.spatial.distance import cdist

        if self.metric in _OF_PRESENCE:
            X = X != 0.0
            Y = Y != 0.0
        with np.errstate(all="ignore"):
            apart = np.asarray(cdist(X, Y, self.metric, **self.options))
        if not np.isfinite(apart).all():
            raise ValueError(
                f"kernel: some rows have no {self.metric} distance; leave out rows of zeros, or "
                "constant rows"
            )
        return apart

    def evaluate(self, X: Array, Y: Array) -> Array:
        if isinstance(self.bandwidth, str):
            raise ValueError(f"{self!r} has no number yet: call .resolve(Z) with all the data")
        apart = self.distances(X, Y)
        if self.bandwidth is not None:
            return np.asarray(np.exp(-apart / self.bandwidth))
        values = -0.5 * np.square(apart)
        values += self._of_pooled[1]
        values -= self._mean(X)[:, None]
        values -= self._mean(Y)
        return values

    def diagonal(self, X: Array) -> Array:
        if self.bandwidth is not None:
            return np.ones(len(X))
        return self._of_pooled[1] - 2.0 * self._mean(X)

    @cached_property
    def _of_pooled(self) -> tuple[Array, float]:
        """The mean of -D^2 / 2 to the pooled sample, of each of its rows, and their mean."""
        if self.points is None:
            raise ValueError(
                f"{self!r} has no pooled sample yet: call .resolve(Z) with all the data"
            )
        means = np.square(self.distances(self.points, self.points)).mean(axis=1) * -0.5
        return means, float(means.mean())

    def _mean(self, X: Array) -> Array:
        """Return the mean of -D^2 / 2 from each row (n,) to the pooled sample."""
        if X is self.points:
            return self._of_pooled[0]
        assert self.points is not None
        return np.asarray(np.square(self.distances(X, self.points)).mean(axis=1) * -0.5)

    @property
    def _settings(self) -> tuple[Any, ...]:
        return self.metric, self.bandwidth, tuple(sorted(self.options.items()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MetricKernel) or self._settings != other._settings:
            return False
        if self.points is None or other.points is None:
            return self.points is other.points
        return np.array_equal(self.points, other.points)

    def __hash__(self) -> int:
        return hash(self.metric)

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields, without what was computed on the pooled sample."""
        names = ("metric", "bandwidth", "options", "points")
        return {name: getattr(self, name) for name in names}

    @property
    def label(self) -> str:
        """Name of the kernel in tables, such as "Distances of braycurtis"."""
        return f"Distances of {self.metric}"

    def __repr__(self) -> str:
        given = {} if self.bandwidth is None else {"bandwidth": self.bandwidth}
        words = [f"{name}={value!r}" for name, value in {**given, **self.options}.items()]
        return f"Distances.of({', '.join([repr(self.metric), *words])})"
