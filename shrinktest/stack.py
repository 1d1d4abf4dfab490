"""Tests of single columns of two samples whose kernel values are stacked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from shrinktest._parallel import kernel_progress
from shrinktest.equal_distributions import TwoEqualDistributions
from shrinktest.estimators import MeanEstimator
from shrinktest.estimators.scaled import ScaledMean
from shrinktest.hypothesis import Hypothesis
from shrinktest.kernel_spec import KernelSpec
from shrinktest.kernels import Gaussian, Kernel, Laplacian, as_kernel
from shrinktest.kernels.bandwidths import parsed
from shrinktest.kernels.distance_kernel import DistanceKernel
from shrinktest.permutations.base import Draws
from shrinktest.permutations.null import Null
from shrinktest.settings import Settings
from shrinktest.statistics.features import needed
from shrinktest.statistics.mmd import estimator_notes
from shrinktest.statistics.stacked import stacked_nulls
from shrinktest.statistics.sums import PLAIN

_LONGEST = 2**26  # entries of all permutations


def stacked(
    hypotheses: Sequence[Hypothesis],
    estimator: MeanEstimator,
    specs: Sequence[Sequence[KernelSpec]],
    settings: Settings,
    draws: Draws,
) -> tuple[dict[int, Null], tuple[str, ...]]:
    """Null distributions of jointly testable columns, by their places, and notes on each.

    These are single columns of numbers, of few rows, with a kernel of distance and the plain mean
    or one that is scaled.  Larger samples take more time for arithmetic than for calls.
    """
    first = hypotheses[0]
    size = sum(hypotheses[0].sizes)
    if (
        not isinstance(estimator, ScaledMean)
        or type(first) is not TwoEqualDistributions
        or size > PLAIN
    ):
        return {}, ()
    tuning = first.tuning(estimator)
    form = first.form(settings.form)
    plain = estimator.needs == "sums" and tuning != "pooled" and not estimator.changes_features
    exact = (
        settings.gram in ("auto", "dense")
        and settings.rank is None
        and needed(size, 1) <= settings.memory
    )
    if not form.by_kernel or not plain or not exact or draws.count * size > _LONGEST:
        return {}, ()
    kernels = [as_kernel(spec.kernel, spec.bandwidth, spec.name) for (spec,) in specs]
    widths = [_width(kernel) for kernel in kernels]
    single = [hypothesis.variables[0].points.shape[1] == 1 for hypothesis in hypotheses]
    alike = [
        width is not None and type(kernel) is type(kernels[0])
        for kernel, width in zip(kernels, widths, strict=True)
    ]
    places = np.flatnonzero(np.logical_and(single, alike)).tolist()
    if not places:
        return {}, ()
    columns = np.array([hypotheses[i].variables[0].compared()[:, 0] for i in places])
    factors, by_median = np.array([widths[i] for i in places]).T
    with kernel_progress(settings.progress):
        nulls = stacked_nulls(
            estimator,
            cast(DistanceKernel, kernels[0]),
            factors,
            by_median.astype(bool),
            columns,
            first.contrast,
            draws,
            form=form,
            tuning=tuning,
            workers=settings.workers,
        )
    notes = (
        *first.remarks,
        *first.repeats(),
        *estimator_notes(estimator, estimator, first.contrast, tuning, form),
    )
    return {i: null for i, null in zip(places, nulls, strict=True) if null is not None}, notes


def _width(kernel: Kernel) -> tuple[float, bool] | None:
    """Bandwidth of a kernel of distance, and whether in units of the median.

    None for kernels that are not stacked.
    """
    if type(kernel) not in (Gaussian, Laplacian):
        return None
    width = cast(DistanceKernel, kernel).bandwidth
    if isinstance(width, str):
        factor, rule = parsed(width)
        return (factor, True) if rule == "median" else None
    return (width, False) if isinstance(width, float) else None
