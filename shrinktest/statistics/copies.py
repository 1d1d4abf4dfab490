"""HSIC and its shrinkage relatives for every estimator, as a function of copies of the first variable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shrinktest.estimators import MeanEstimator
from shrinktest.kernels import Kernel
from shrinktest.kernels.feature_maps import TOLERANCE, Landmarks, factorized
from shrinktest.kernels.inner import FeatureMap
from shrinktest.kernels.pooled import PooledKernel, Rescaled
from shrinktest.permutations.null import Statistic
from shrinktest.statistics.features import Centred, Features, alike
from shrinktest.statistics.hsic import notes_on, refitted, scaled_norm
from shrinktest.statistics.kernel_cache import KernelCache, Request
from shrinktest.statistics.memory_limits import check_memory

_LOW = 8  # observations per coordinate, from which coordinates take less time than a Gram matrix
_SAFE = 1e-2  # as much of what others may miss is allowed to miss where landmarks are found
_SUMS = ("sums", "noise")  # what estimators need who can do without the Gram matrix


@dataclass(frozen=True)
class Drawn:
    """The kernel of the first variable at copies of it, found without looking at those that are compared."""

    kernel: Kernel  # resolved
    reference: np.ndarray  # (n, p): the copy on which it was
    # coordinates: of an approximation; or of the kernel, or of that whose features it takes, up to rounding
    low: FeatureMap | None
    limit: int  # number of coordinates up to which copies may take more of them; 0 for an approximation
    memory: float  # bytes
    note: str | None = None  # what is said of an approximation
    name: str = "factor"  # "factor", "nystrom" or "rff": of the coordinates

    @classmethod
    def of(cls, kernel: Kernel, reference: np.ndarray, others: np.ndarray, by_sums: bool, cache: KernelCache) -> Drawn:
        """From rows (m, p) of the reference and of other copies, among which those of all lie as a rule."""
        size, gram, memory = len(reference), cache.limits.gram, cache.limits.memory
        if gram not in ("auto", "dense"):  # and what cannot be is said
            found = cache(kernel, reference, Request(by_coordinates=by_sums, kernels=2, rank=100, work="pairs"))
            if cache.limits.random or cache.limits.rank is not None:
                assert isinstance(found.kernel, FeatureMap)
                return cls(kernel, reference, found.kernel, 0, memory, found.note, found.name)
        low, limit = None, size if gram == "factor" else size // _LOW
        if gram != "dense" and by_sums:
            low = _few(kernel, reference, others, limit)
        if low is None:
            check_memory(size, 3, memory)
        return cls(kernel, reference, low, limit, memory)

    @property
    def route(self) -> str:
        """Representation of the kernel."""
        return "dense" if self.low is None else self.name

    def centred(self, x: np.ndarray) -> Centred:
        """The features of a copy less their mean."""
        z = self._coordinates(x)
        if z is not None:
            return Centred.of_coordinates(z)
        check_memory(len(x), 3, self.memory)
        return Features("dense", self.kernel, x).centred()

    def _coordinates(self, x: np.ndarray) -> np.ndarray | None:
        low, z = self.low, None
        if low is None:
            return None
        if not self.limit:
            return low.checked_coordinates(x)
        if isinstance(low, Landmarks):
            found = factorized(low.kernel, x, self.limit, start=low)
            if found is None:
                return None
            low, z = found
        if isinstance(self.kernel, PooledKernel):
            low, z = self.kernel.of_features(low, low.checked_coordinates(self.reference))[0], None
        return low.checked_coordinates(x) if z is None else z


def _few(kernel: Kernel, reference: np.ndarray, others: np.ndarray, limit: int) -> FeatureMap | None:
    """At most ``limit`` coordinates of the kernel, or of that whose features it takes, up to rounding."""
    inner = kernel.kernel if isinstance(kernel, PooledKernel) else kernel
    if isinstance(inner, Rescaled) and isinstance(inner.kernel, PooledKernel):
        return None  # whose values at other points than the reference take long
    if isinstance(inner, FeatureMap):
        low, z = inner, inner.checked_coordinates(reference)
    else:
        found = factorized(inner, others, limit, missing=_SAFE * TOLERANCE) if limit else None
        if found is None:
            return None
        low, z = found
    columns = kernel.columns(z.shape[1]) if isinstance(kernel, PooledKernel) else z.shape[1]
    # what is missing must be small beside the differences of the features
    coarse = isinstance(low, Landmarks) and alike(np.square(z).sum(), np.square(z.sum(axis=0)).sum(), len(z))
    return None if columns > limit or coarse else low


def copies_statistic(
    estimator: MeanEstimator,
    features: tuple[Kernel, ...],
    copy: Callable[[int], np.ndarray],
    reference: np.ndarray,
    others: np.ndarray,
    y: np.ndarray,
    cache: KernelCache,
) -> tuple[Statistic, str, tuple[str, ...]]:
    """The statistic as a function of seeds (B, 1), from which ``copy`` makes x (n, p); its route; and notes on it.

    The kernel was resolved on ``reference``, a copy; ``others`` (m, p) are rows of it and of other copies.
    """
    by_sums = estimator.needs in _SUMS
    drawn = Drawn.of(features[0], reference, others, by_sums, cache)
    still = cache(features[1], y, Request(by_coordinates=by_sums, kernels=2, large=300, rank=100, work="pairs"))
    right, as_it_is = still.centred(), np.arange(len(y))[None]

    def one(seed: int) -> np.ndarray:
        left = drawn.centred(copy(seed))
        if by_sums:
            return _matched(estimator, left, right)
        return np.asarray(refitted(estimator, left, right)(as_it_is)[0])

    def statistic(seeds: np.ndarray) -> np.ndarray:
        return np.array([one(int(seed)) for seed in seeds[:, 0]]).reshape(len(seeds), 2)

    notes = (*notes_on(estimator, len(y)), *(note for note in (drawn.note, still.note) if note))
    return statistic, drawn.route, tuple(dict.fromkeys(notes))


def _matched(estimator: MeanEstimator, x: Centred, y: Centred) -> np.ndarray:
    """The statistic of pairs as they are, from the sum and the trace of Kc o Lc."""
    if y.by_coordinates and not x.by_coordinates:
        x, y = y, x
    if not x.by_coordinates:
        total = np.vdot(x.values, y.values)
    elif y.by_coordinates:
        total = np.square(x.values.T @ y.values).sum()
    else:
        total = np.vdot(x.values, y.values @ x.values)
    n, trace = len(x.values), float(x.diagonal() @ y.diagonal())
    sums = np.array([[float(total), trace]])
    return scaled_norm(estimator, lambda _: sums, (0.0, 0.0), x.size * y.size, n, "biased")(np.empty((1, n)))[0]
