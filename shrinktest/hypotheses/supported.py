"""Checks of what tests of samples in batches support, made before any row is read."""

from __future__ import annotations

from typing import Any

import numpy as np

from shrinktest._check import choice
from shrinktest.data.observed import is_unasked
from shrinktest.estimators import MeanEstimator
from shrinktest.kernels import Kernel, Rescaled
from shrinktest.kernels.feature_maps import has_spectrum, no_spectrum
from shrinktest.kernels.inner import FeatureMap
from shrinktest.kernels.pooled import PooledKernel
from shrinktest.units import SCALES


def without_data(kernel: Kernel) -> Kernel:
    """The kernel without what is taken from the pooled sample: units of the columns, means, covariances."""
    while isinstance(kernel, PooledKernel | Rescaled):
        kernel = kernel.kernel
    return kernel


def checked_route(kernel: Kernel, gram: str) -> str:
    """Return the route to features of rows; raise ValueError if there is none of this name."""
    if gram == "rff" and not has_spectrum(without_data(kernel)):
        raise no_spectrum(kernel)
    if gram in ("rff", "nystrom"):
        return gram
    finite = isinstance(without_data(kernel), FeatureMap)
    if gram in ("auto", "factor") and finite:
        return "factor"
    raise ValueError(
        f"gram={gram!r}: samples in batches are compared by the mean features of their rows, of which {kernel!r} has "
        f"{'a few' if finite else 'none by itself'}; give gram={'auto' if finite else 'rff'!r}"
        + ("" if finite else " (Gaussian and Laplacian kernels) or gram='nystrom', with rank= features")
    )


def checked_estimator(estimator: MeanEstimator) -> MeanEstimator:
    """The estimator; raises ValueError for one that takes more than the mean features of bins."""
    if estimator.changes_features or estimator.smooths or not estimator.by_coordinates:
        raise ValueError(
            f"{estimator!r} needs rows, and samples in batches keep only mean features; use estimator='kme', 'skmse', "
            "'fkmse' or another filter"
        )
    return estimator


def checked_scaled(estimator: MeanEstimator) -> MeanEstimator:
    """The estimator; raises ValueError for one that takes more than sums of products of features of pairs."""
    if estimator.changes_features or estimator.smooths or estimator.needs != "sums":
        raise ValueError(
            f"{estimator!r} needs rows, and pairs in batches keep only sums; use estimator='kme' or 'skmse'"
        )
    return estimator


def checked_policy(nan_policy: Any) -> None:
    """Raise ValueError for what cannot be done about missing values here."""
    if nan_policy not in ("raise", "omit", "indicator"):
        raise ValueError(
            f"nan_policy={nan_policy!r} is not for what is read in batches; use 'raise', 'omit' or 'indicator'"
        )


def checked_units(scale: Any) -> Any:
    """The argument ``scale`` with what it may be here; raises ValueError for others."""
    if is_unasked(scale):
        return None
    if isinstance(scale, str):
        return choice(scale, SCALES, "scale")
    if hasattr(scale, "keys") or (np.ndim(scale) == 1 and any(isinstance(entry, str) for entry in scale)):
        raise ValueError(
            "scale: samples in batches of numbers have one name for all columns, such as 'sd', or one number per column"
        )
    return scale
