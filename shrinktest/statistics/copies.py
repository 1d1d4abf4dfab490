"""HSIC for every estimator, as a function of copies of the first variable."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shrinktest.estimators import MeanEstimator
from shrinktest.kernels import Kernel
from shrinktest.kernels.feature_maps import TOLERANCE, Landmarks, factorized
from shrinktest.kernels.inner import FeatureMap
from shrinktest.kernels.pooled import PooledKernel, Rescaled
from shrinktest.permutations.null import Statistic
from shrinktest.permutations.schemes import Copies
from shrinktest.statistics.features import Features, KernelFeatures, alike
from shrinktest.statistics.hsic import notes_on, refitted, squared_norm
from shrinktest.statistics.kernel_cache import KernelCache, Request, check_memory

_LOW = 8  # observations per coordinate, from which coordinates take less time than a Gram matrix
_SAFE = 1e-2  # share of what landmarks may miss elsewhere that they may miss where they are found


def _centered_copies(
    kernel: Kernel, reference: np.ndarray, others: np.ndarray, request: Request, cache: KernelCache
) -> tuple[Callable[[np.ndarray], Features], str, str | None]:
    """Return the centered features of a copy, as a function of it.

    Return also their representation and a note on it.

    Coordinates are found on rows ``others`` (m, p), never on the copies that are compared.
    """
    size = len(reference)
    gram = cache.gram
    memory = cache.memory
    limit = 0
    low = None
    name = "factor"
    approximation = None
    if gram not in ("auto", "dense"):  # refuses what is impossible
        features = cache(kernel, reference, request)
    if cache.random or (gram == "factor" and cache.rank is not None):
        name = features.route
        approximation = features.note
        low = features.kernel if isinstance(features.kernel, FeatureMap) else None
    else:
        limit = size if gram == "factor" else size // _LOW  # copies may take as many coordinates
        low = (
            _few_coordinates(kernel, reference, others, limit)
            if gram != "dense" and request.by_coordinates
            else None
        )
        if low is None:
            check_memory(size, 3, memory)

    def centered(x: np.ndarray) -> Features:
        copied = low
        z = None
        if isinstance(low, Landmarks) and limit:
            copied, z = factorized(low.kernel, x, limit, start=low) or (None, None)
        if copied is None:
            check_memory(len(x), 3, memory)
            return KernelFeatures(kernel, x, "dense").residuals()
        if isinstance(kernel, PooledKernel) and limit:
            copied = kernel.transform_features(copied, copied.checked_coordinates(reference))[0]
            z = None
        return Features(copied.checked_coordinates(x) if z is None else z, True).residuals()

    return centered, "dense" if low is None else name, approximation


def _few_coordinates(
    kernel: Kernel, reference: np.ndarray, others: np.ndarray, limit: int
) -> FeatureMap | None:
    """At most ``limit`` coordinates of the kernel, up to rounding.

    If it takes its features from another kernel, they are those of that kernel.
    """
    inner = kernel.kernel if isinstance(kernel, PooledKernel) else kernel
    if isinstance(inner, Rescaled) and isinstance(inner.kernel, PooledKernel):
        return None  # whose values at other points than the reference take long
    if isinstance(inner, FeatureMap):
        low = inner
        z = inner.checked_coordinates(reference)
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
    copies: Copies,
    reference: np.ndarray,
    others: np.ndarray,
    y: np.ndarray,
    cache: KernelCache,
) -> tuple[Statistic, str, tuple[str, ...]]:
    """Return the statistic of copies of x (n, p), its route, and notes.

    It is a function of seeds (B, 1) of copies.

    The kernel was resolved on ``reference``, a copy; ``others`` (m, p) are rows of it and of other
    copies.
    """
    by_sums = estimator.needs in ("sums", "noise")
    request = Request(by_coordinates=by_sums, kernels=2, rank=100)
    centered, name, approximation = _centered_copies(features[0], reference, others, request, cache)
    fixed = cache(features[1], y, Request(by_coordinates=by_sums, kernels=2, large=300, rank=100))
    right = fixed.residuals()
    unpermuted = np.arange(len(y))[None]

    def statistic(seeds: np.ndarray) -> np.ndarray:
        out = np.empty((len(seeds), 2))
        for row, seed in zip(out, seeds, strict=True):
            left = centered(copies.copy(seed))
            norm = _matched(estimator, left, right) if by_sums else refitted(estimator, left, right)
            row[:] = norm(unpermuted)[0]
        return out

    notes = (*notes_on(estimator, len(y)), *(note for note in (approximation, fixed.note) if note))
    return statistic, name, tuple(dict.fromkeys(notes))


def _matched(estimator: MeanEstimator, x: Features, y: Features) -> Statistic:
    """The statistic of pairs as they are, from the sum and the trace of Kc o Lc."""
    if x.by_coordinates and y.by_coordinates:
        total = np.square(x.values.T @ y.values).sum()
    elif x.by_coordinates or y.by_coordinates:
        z, gram = (x.values, y.values) if x.by_coordinates else (y.values, x.values)
        total = np.vdot(z, gram @ z)
    else:
        total = np.vdot(x.values, y.values)
    sums = np.array([[float(total), float(x.diagonal() @ y.diagonal())]])
    return squared_norm(estimator, lambda _: sums, (0.0, 0.0), x.size * y.size, len(x.values))
