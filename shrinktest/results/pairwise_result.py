"""PairwiseResult: which pairs of samples differ, with adjusted p-values and effects."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import percent
from shrinktest.permutations.equal_pairs import shaffer
from shrinktest.results.effect import TwoSampleEffect, shown_estimate
from shrinktest.results.plots.pvalues import plot_pairs_of_samples
from shrinktest.results.several import METHODS, MultipleTestsResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHAFFER = "shaffer"
#: Names of tests of pairs; a third name may say where they were made.
PAIR = ("first", "second")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PairwiseResult(MultipleTestsResult):
    """Tests of every pair of samples, or of levels of a factor, with adjusted p-values.

    Attributes
    ----------
    effects : mapping of tuple to TwoSampleEffect
        By the names of a pair, how different its samples are; empty if it was not estimated.
    method : str
        "shaffer", or a method of statsmodels' ``multipletests``.
    nulls, keys, alpha, data, setup, untested, rng, notes, shared
        As in a :class:`MultipleTestsResult`; names are (first, second), or those and a place.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import k_sample_test
    >>> rng = np.random.default_rng(1)
    >>> samples = {
    ...     "a": rng.normal(size=40),
    ...     "b": rng.normal(size=40),
    ...     "c": rng.normal(1.0, 1.0, size=40),
    ... }
    >>> pairs = k_sample_test(samples, rng=0).pairwise(rng=0)
    >>> pairs
    PairwiseResult(3 k-sample tests, method='shaffer', 2 rejected at 0.05)
    >>> round(pairs.effects["a", "c"].auc, 3)
    0.784
    """

    effects: Mapping[tuple[Any, ...], TwoSampleEffect] = field(default_factory=dict)

    methods = (SHAFFER, *METHODS)
    counted = ("pair", "pairs")

    def _adjusted(self, method: str, alpha: float) -> np.ndarray:
        if method == SHAFFER and not np.isnan(self.pvalues).any():
            return shaffer(self.pvalues, self.labels)
        return super()._adjusted(method, alpha)

    def rows(self) -> list[dict[str, Any]]:
        """Return rows of ``table``, one per pair.

        Columns: first, second, statistic, pvalue, adjusted, reject, reason; with effects auc, low
        and high before the last two.

        Pairs that were not tested come last, with NaN for numbers and the reason.
        """
        rows = super().rows()
        return [self._with_effect(row) for row in rows] if self.effects else rows

    def _with_effect(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a row with the AUC of its pair, after the p-values."""
        effect = self.effects.get(tuple(row[key] for key in self.keys))
        auc = math.nan
        low, high = math.nan, math.nan
        if effect is not None:
            auc = effect.auc
            low, high = effect.auc_interval
        last = {key: row.pop(key) for key in ("reject", "reason")}
        return row | {"auc": auc, "low": low, "high": high} | last

    @property
    def confidence(self) -> float | None:
        """Confidence of every interval by itself; None without effects."""
        return next((effect.confidence for effect in self.effects.values()), None)

    def _headers(self) -> tuple[str, ...]:
        return () if self.confidence is None else (f"AUC, {percent(self.confidence)} interval",)

    def _cells(self, row: Mapping[str, Any]) -> tuple[str, ...]:
        if self.confidence is None:
            return ()
        if math.isnan(row["auc"]):
            return ("-",)
        return (shown_estimate(row["auc"], (row["low"], row["high"]), spare=1),)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the AUC of every pair with its interval (matplotlib); p-values without effects."""
        return plot_pairs_of_samples(self, ax)
