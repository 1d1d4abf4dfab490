"""Reference sample: squared distance of data sets, drawn by a model, from a sample of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from shrinktest.estimators import MeanEstimator
from shrinktest.estimators.scaled import ScaledMean
from shrinktest.kernels import Kernel
from shrinktest.kernels.inner import FeatureMap
from shrinktest.permutations.schemes import sample_labels
from shrinktest.statistics.features import KernelFeatures
from shrinktest.statistics.kernel_cache import KernelCache, Request, check_memory
from shrinktest.statistics.mmd import (
    Contrast,
    estimates_of,
    estimator_notes,
    scaled_products,
    weighted_products,
)
from shrinktest.statistics.statistic import Computation, Form, Prepared

#: From the seed (1,) of a data set to its rows (n, d) and those of its reference sample (m, d).
Drawn = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


class ByReference:
    """Kernel values of data sets and reference samples, by a Gram matrix or coordinates.

    What belongs to the reference sample alone is computed once for as long as it stays the same.
    """

    def __init__(self, kernel: Kernel, center: np.ndarray | None, reference: np.ndarray) -> None:
        self.kernel = kernel
        self.center = center  # of the coordinates (r,); None for a kernel without
        self.reference = reference  # of the data
        self.known = reference  # the same rows, by which pooled kernels know them
        pooled = getattr(kernel, "points", None)
        if pooled is not None and np.array_equal(pooled, reference):
            self.known = pooled
        self._last: tuple[np.ndarray, np.ndarray] | None = None

    def _coordinates(self, rows: np.ndarray) -> np.ndarray:
        z = cast(FeatureMap, self.kernel).checked_coordinates(rows)
        return z if self.center is None else z - self.center

    def _rows(self, reference: np.ndarray) -> np.ndarray:
        return self.known if reference is self.reference else reference

    def _of_reference(self, reference: np.ndarray) -> np.ndarray:
        """Return the Gram matrix of a reference sample, or its coordinates."""
        if self._last is None or self._last[0] is not reference:
            if self.center is None:
                rows = self._rows(reference)
                values = self.kernel.block(rows, rows)
            else:
                values = self._coordinates(reference)
            self._last = (reference, values)
        return self._last[1]

    def sums(self, x: np.ndarray, reference: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Return sums (1, 2, 2), traces (1, 2), and the root mean square of the reference."""
        own = self._of_reference(reference)
        if self.center is None:
            gram = self.kernel.block(x, x)
            across = float(self.kernel.block(x, self._rows(reference)).sum())
            sums = [[gram.sum(), across], [across, own.sum()]]
            traces = [np.trace(gram), np.trace(own)]
            size = float(np.linalg.norm(own)) / len(own)
        else:
            z = self._coordinates(x)
            totals = np.stack([z.sum(axis=0), own.sum(axis=0)])
            sums = (totals @ totals.T).tolist()
            traces = [np.square(z).sum(), np.square(own).sum()]
            size = float(np.linalg.norm(own.T @ own)) / len(own)
        return np.array([sums]), np.array([traces]), size

    def features(self, x: np.ndarray, reference: np.ndarray) -> KernelFeatures:
        """Return the features of both, the data set first."""
        own = self._of_reference(reference)
        points = np.vstack([x, reference])
        if self.center is not None:
            z = np.vstack([self._coordinates(x), own])
            return KernelFeatures(self.kernel, points, "factor", values=z)
        n = len(x)
        gram = np.empty((len(points), len(points)))
        gram[:n, :n] = self.kernel.block(x, x)
        gram[:n, n:] = self.kernel.block(x, self._rows(reference))
        gram[n:, :n] = gram[:n, n:].T
        gram[n:, n:] = own
        return KernelFeatures(self.kernel, points, "dense", values=gram)


def distance_from_reference(
    estimator: MeanEstimator,
    kernel: Kernel,
    reference: np.ndarray,
    drawn: Drawn,
    sizes: tuple[int, int],
    form: Form,
    tuning: str,
    cache: KernelCache,
) -> Prepared:
    """Prepare the distance of data sets from their reference samples, by seeds (B, 1).

    The kernel was resolved on ``reference`` (m, d), on which estimators of the pooled sample are
    tuned, too.
    """
    used = estimator.tuned(kernel, reference) if tuning == "pooled" else estimator
    compared = used.features(kernel, reference)
    low, route, approximation = _coordinates_of(used, compared, reference, sizes[0], cache)
    by_sums = used.needs == "sums"
    center = None
    if low is not None:
        center = np.zeros(low.checked_coordinates(reference[:1]).shape[1])
        if by_sums and used.weighs_all_alike(sizes):  # the distance does not depend on the center
            center = low.checked_coordinates(reference).mean(axis=0)
    else:
        check_memory(sum(sizes), 1, cache.memory)
    values = ByReference(compared if low is None else low, center, reference)
    contrast = Contrast(sizes, "pairs", "sizes")
    labels = sample_labels(sizes)[None]
    combine = form.combine
    assert combine is not None

    def statistic(seeds: np.ndarray) -> np.ndarray:
        out = np.empty((len(seeds), 2))
        for row, seed in zip(out, seeds, strict=True):
            x, own = drawn(seed)
            if by_sums:
                sums, traces, size = values.sums(x, own)
                mean = cast(ScaledMean, used)
                parts: Any = scaled_products(mean, sums, traces, sizes, tuning, form, size)
                row[:] = combine(contrast, *parts, 0.0)[0]
            else:
                features = values.features(x, own)
                if not used.by_coordinates:
                    gram = features.gram
                    features = KernelFeatures(compared, features.points, "dense", values=gram)
                products, _ = weighted_products(used, features, contrast, tuning, form)
                row[:] = combine(contrast, *products(labels), 0.0)[0]
        return out

    def estimates() -> Any:
        x, own = drawn(np.zeros(1, dtype=np.uint64))
        return estimates_of(
            used, kernel if used.changes_features else values.kernel, [x, own], tuning
        )

    notes = estimator_notes(estimator, used, contrast, tuning, form)
    return Prepared(
        statistic=statistic,
        kernel=kernel,
        estimates=estimates,
        notes=notes if approximation is None else (*notes, approximation),
        computation=Computation(
            route=route, features=(values.kernel,), approximated=approximation is not None
        ),
    )


def _coordinates_of(
    estimator: MeanEstimator, kernel: Kernel, reference: np.ndarray, size: int, cache: KernelCache
) -> tuple[FeatureMap | None, str, str | None]:
    """Return coordinates of the kernel that hold for all rows, their route, and a note.

    They are found on the reference sample.  By default only kernels have them that are made of a
    few; a factor of the Gram matrix would fit no rows but its own.
    """
    mapped = isinstance(kernel, FeatureMap)
    if not cache.random and (cache.gram == "dense" or not mapped):
        if cache.gram == "factor":
            raise ValueError(
                "gram='factor' holds for given rows only, and a model draws others; use 'dense' or "
                "'nystrom'"
            )
        return None, "dense", None
    request = Request(estimator.by_coordinates, estimator.any_rank)
    features = cache(kernel, reference, request)
    if not isinstance(features.kernel, FeatureMap):
        return None, "dense", None
    if not cache.random and (features.columns or 0) > size:
        return None, "dense", None
    return features.kernel, features.route, features.note
