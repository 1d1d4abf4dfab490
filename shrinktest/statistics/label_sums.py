"""Distances of scaled means from sums of features by sample, which were added up for every relabelling."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from shrinktest.estimators.scaled import ScaledMean
from shrinktest.permutations.null import Statistic
from shrinktest.statistics.features import LAST_BITS
from shrinktest.statistics.mmd import Contrast, products_of_sums
from shrinktest.statistics.refit import scales


@dataclass(frozen=True, eq=False)
class LabelSums:
    """Sums of features by sample, the last of which are their squared norms."""

    sizes: tuple[int, ...]  # of the samples
    sums: np.ndarray  # (B + 1, k, r + 1): for every relabelling, first of the data as they are
    centre: np.ndarray = field(default_factory=lambda: np.zeros(1))  # (r,) or (1,): what the features were taken less

    @property
    def means(self) -> np.ndarray:
        """The mean features (k, r) of the samples as they are."""
        return np.asarray(self.sums[0, :, :-1] / np.array(self.sizes)[:, None] + self.centre)

    def statistic(self, estimator: ScaledMean, contrast: Contrast, tuning: str, form: str) -> Statistic:
        """The statistic as a function of the numbers (B, 1) of relabellings."""
        alike = estimator.weighs_all_alike(contrast.estimated)
        seen = self if alike else self._from_zero
        moved = self._less_mean if alike else seen
        inner, traces = moved._blocks
        before, after = seen._spread, moved._spread
        rounded = before + float(np.linalg.norm(seen.centre)) * after**0.5
        # features less their mean add up to sums that are small themselves; others cancel in the statistic
        size = (after / (self.sums.shape[2] - 1) ** 0.5 + LAST_BITS * rounded) / (min(self.sizes) if alike else 1.0)
        found, norm2 = products_of_sums(
            estimator, lambda numbers: (inner[numbers[:, 0]], traces[numbers[:, 0]]), size, np.zeros((1, 1), dtype=int),
            contrast, tuning, form,
        )  # fmt: skip
        return lambda numbers: contrast(*found(numbers), norm2)

    def factors(self, estimator: ScaledMean, tuning: str) -> np.ndarray:
        """By how much (k,) the estimator scales the means of the samples as they are."""
        inner, traces = self._from_zero._blocks
        return scales(estimator, inner[:1], traces[:1], self.sizes, tuning)[0]

    @cached_property
    def _blocks(self) -> tuple[np.ndarray, np.ndarray]:
        """Sums (B + 1, k, k) of the Gram matrix over pairs of samples, and its trace (B + 1, k) over each."""
        features = np.ascontiguousarray(self.sums[:, :, :-1])
        return features @ features.transpose(0, 2, 1), self.sums[:, :, -1]

    @cached_property
    def _less_mean(self) -> LabelSums:
        """The same of features less the mean of all."""
        return self._less(self.sums[0].sum(axis=0)[:-1] / sum(self.sizes))

    @cached_property
    def _from_zero(self) -> LabelSums:
        """The same of the features themselves."""
        return self._less(-self.centre) if self.centre.any() else self

    def _less(self, mean: np.ndarray) -> LabelSums:
        """The same of features less this (r,)."""
        features, norms, n = self.sums[:, :, :-1], self.sums[:, :, -1], np.array(self.sizes)
        norms = np.maximum(norms - 2.0 * features @ mean + n * (mean @ mean), 0.0)
        return LabelSums(self.sizes, np.concatenate([features - n[:, None] * mean, norms[:, :, None]], axis=2))

    @property
    def _spread(self) -> float:
        """The mean squared norm of the features."""
        return float(self.sums[0, :, -1].sum()) / sum(self.sizes)
