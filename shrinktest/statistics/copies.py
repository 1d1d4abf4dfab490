"""HSIC for every estimator, as a function of copies of the first variable."""

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
from shrinktest.statistics.kernel_cache import KernelCache, Request, check_memory

_LOW = 8  # observations per coordinate, from which coordinates take less time than a Gram matrix
_SAFE = 1e-2  # share of what landmarks may miss elsewhere that they may miss where they are found


@dataclass(frozen=True)
class CopiedKernel:
    """The kernel of the first variable at copies of it, found without looking at those that are compared."""

    kernel: Kernel  # resolved
    reference: np.ndarray  # (n, p): the copy on which it was
    # coordinates: of an approximation; or of the kernel, or of that whose features it takes, up to rounding
    low: FeatureMap | None
    limit: int  # number of coordinates up to which copies may take more of them; 0 for an approximation
    memory: float  # bytes
    note: str | None = None  # on an approximation
    name: str = "factor"  # "factor", "nystrom" or "rff": of the coordinates

    @classmethod
    def of(
        cls, kernel: Kernel, reference: np.ndarray, others: np.ndarray, request: Request, cache: KernelCache
    ) -> CopiedKernel:
        """Build from rows (m, p) of the reference and of other copies, which cover the rows of all copies as a rule."""
        size, gram, memory = len(reference), cache.limits.gram, cache.limits.memory
        if gram not in ("auto", "dense"):  # refuses what is impossible
            features = cache(kernel, reference, request)
            if cache.limits.random or cache.limits.rank is not None:
                low = features.kernel if isinstance(features.kernel, FeatureMap) else None
                return cls(kernel, reference, low, 0, memory, features.note, features.name)
        limit = size if gram == "factor" else size // _LOW
        by_coordinates = gram != "dense" and request.by_coordinates
        low = _few_coordinates(kernel, reference, others, limit) if by_coordinates else None
        if low is None:
            check_memory(size, 3, memory)
        return cls(kernel, reference, low, limit, memory)

    def centred(self, x: np.ndarray) -> Centred:
        """The features of a copy less their mean."""
        low, z = self.low, None
        if isinstance(low, Landmarks) and self.limit:
            low, z = factorized(low.kernel, x, self.limit, start=low) or (None, None)
        if low is None:
            check_memory(len(x), 3, self.memory)
            return Features("dense", self.kernel, x).centred()
        if isinstance(self.kernel, PooledKernel) and self.limit:
            low, z = self.kernel.transform_features(low, low.checked_coordinates(self.reference))[0], None
        return Centred.from_coordinates(low.checked_coordinates(x) if z is None else z)


def _few_coordinates(kernel: Kernel, reference: np.ndarray, others: np.ndarray, limit: int) -> FeatureMap | None:
    """At most ``limit`` coordinates of the kernel, or of that whose features it takes, up to rounding."""
    inner = kernel.kernel if isinstance(kernel, PooledKernel) else kernel
    if isinstance(inner, Rescaled) and isinstance(inner.kernel, PooledKernel):
        return None  # whose values at other points than the reference take long
    if isinstance(inner, FeatureMap):
        low, z = inner, inner.checked_coordinates(reference)
    else:
        factor = factorized(inner, others, limit, missing=_SAFE * TOLERANCE) if limit else None
        if factor is None:
            return None
        low, z = factor
        if alike(np.square(z).sum(), np.square(z.sum(axis=0)).sum(), len(z)):
            return None  # too coarse for the differences of the features
    columns = kernel.columns(z.shape[1]) if isinstance(kernel, PooledKernel) else z.shape[1]
    return low if columns <= limit else None


def copies_statistic(
    estimator: MeanEstimator,
    features: tuple[Kernel, ...],
    copy: Callable[[int], np.ndarray],
    reference: np.ndarray,
    others: np.ndarray,
    y: np.ndarray,
    cache: KernelCache,
) -> tuple[Statistic, str, tuple[str, ...]]:
    """Return the statistic as a function of seeds (B, 1), from which ``copy`` makes x (n, p); its route; and notes.

    The kernel was resolved on ``reference``, a copy; ``others`` (m, p) are rows of it and of other copies.
    """
    by_sums = estimator.needs in ("sums", "noise")
    request = Request(by_coordinates=by_sums, kernels=2, rank=100, work="pairs")
    copied = CopiedKernel.of(features[0], reference, others, request, cache)
    fixed = cache(features[1], y, Request(by_coordinates=by_sums, kernels=2, large=300, rank=100, work="pairs"))
    right, unpermuted = fixed.centred(), np.arange(len(y))[None]

    def statistic(seeds: np.ndarray) -> np.ndarray:
        out = np.empty((len(seeds), 2))
        for row, seed in zip(out, seeds[:, 0], strict=True):
            left = copied.centred(copy(int(seed)))
            norm = _matched(estimator, left, right) if by_sums else refitted(estimator, left, right)
            row[:] = norm(unpermuted)[0]
        return out

    notes = (*notes_on(estimator, len(y)), *(note for note in (copied.note, fixed.note) if note))
    return statistic, "dense" if copied.low is None else copied.name, tuple(dict.fromkeys(notes))


def _matched(estimator: MeanEstimator, x: Centred, y: Centred) -> Statistic:
    """The statistic of pairs as they are, from the sum and the trace of Kc o Lc."""
    if x.by_coordinates and y.by_coordinates:
        total = np.square(x.values.T @ y.values).sum()
    elif x.by_coordinates or y.by_coordinates:
        z, gram = (x.values, y.values) if x.by_coordinates else (y.values, x.values)
        total = np.vdot(z, gram @ z)
    else:
        total = np.vdot(x.values, y.values)
    sums = np.array([[float(total), float(x.diagonal() @ y.diagonal())]])
    return scaled_norm(estimator, lambda _: sums, (0.0, 0.0), x.size * y.size, len(x.values), "biased")
