"""``in_bins``: samples in memory as batches, if their features are better added up in bins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shrinktest.auto import estimators_of
from shrinktest.data.on_disk.sources import Batches, as_batches, in_batches
from shrinktest.ensembles import Ensemble
from shrinktest.kernel_spec import is_auto

MANY = 100_000  # rows of samples from which their features are added up in bins

_APPROXIMATE = ("rff", "nystrom")


def in_bins(
    samples: Sequence[Any],
    names: Sequence[str],
    bins: int | None,
    *,
    gram: str,
    estimator: Any,
    nan_policy: str,
    refused: Mapping[str, Any],
) -> tuple[Any, ...]:
    """Return samples in memory as batches whose rows are added up in ``bins``, if that is better.

    Without a number these are arrays of many rows, for which bins give the same statistic; what
    decides are sizes and arguments, not the labels.
    """
    samples = tuple(samples)
    if bins == 0:  # rows, however many
        return samples
    if in_batches(*samples):
        if bins is None:
            return samples
        return tuple(replace(each, bins=bins) for each in as_batches(samples, names))
    if bins is not None:
        if gram not in _APPROXIMATE:
            raise ValueError(f"bins is for gram='rff' or 'nystrom'; got gram={gram!r}")
        return tuple(Batches([data], bins=bins) for data in samples)
    arrays = all(isinstance(data, np.ndarray) and data.dtype.kind in "fiu" for data in samples)
    if gram not in _APPROXIMATE or not arrays or nan_policy == "propagate":
        return samples
    if any(value is not None and value is not False for value in refused.values()):
        return samples
    if sum(map(len, samples)) < MANY or not _by_sums(estimator):
        return samples
    return tuple(Batches([data]) for data in samples)


def _by_sums(estimator: Any) -> bool:
    """Return True for a single estimator that is about the same for rows and for bins."""
    if isinstance(estimator, Ensemble) or is_auto(estimator):
        return False
    return all(
        each.needs == "sums" and not each.changes_features and not each.smooths
        for each in estimators_of(estimator)
    )
