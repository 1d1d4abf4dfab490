"""PairwiseResult: which pairs of samples differ, with adjusted p-values and effects."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import percent
from shrinktest.permutations.equal_pairs import shaffer
from shrinktest.results.effect import TwoSampleEffect, shown_shares
from shrinktest.results.multiple_tests_result import METHODS, MultipleTestsResult
from shrinktest.results.paragraph import estimated
from shrinktest.results.plots.pvalues import plot_pairs_of_samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHAFFER = "shaffer"
#: Names of tests of pairs; a third name may say where they were made.
PAIR = ("first", "second")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PairwiseResult(MultipleTestsResult):
    """Tests of every pair of samples, or of levels of a factor.

    Attributes
    ----------
    areas : mapping of tuple to tuple of float
        By pair, the AUC with the limits of its interval; empty if it was not estimated.
    confidence : float
        Confidence level of each interval, which is not adjusted for their number.
    effects : mapping of tuple to TwoSampleEffect
        The full effect size of every pair of samples.
    method : str
        "shaffer", or a method of statsmodels' ``multipletests``.
    nulls, keys, alpha, data, setup, untested, rng, notes, shared
        As in a :class:`MultipleTestsResult`, but names are (first, second), or those and a level of
        another factor.

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

    areas: Mapping[tuple[Any, ...], tuple[float, float, float]] = field(default_factory=dict)
    confidence: float = 0.95
    effects: Mapping[tuple[Any, ...], TwoSampleEffect] = field(default_factory=dict)

    methods = (SHAFFER, *METHODS)

    def _adjusted(self, method: str, alpha: float) -> np.ndarray:
        if method == SHAFFER and not np.isnan(self.pvalues).any():
            return shaffer(self.pvalues, self.labels)
        return super()._adjusted(method, alpha)

    def rows(self) -> list[dict[str, Any]]:
        """Return rows of ``table``, one per pair, with its AUC and the interval."""
        rows = super().rows()
        if not self.areas:
            return rows
        labels = (*self.labels, *self.untested)
        areas = [self.areas.get(label, (math.nan,) * 3) for label in labels]
        names = ("auc", "low", "high")
        return [
            row | dict(zip(names, area, strict=True)) for row, area in zip(rows, areas, strict=True)
        ]

    def _sizes(self, row: dict[str, Any]) -> list[str]:
        if not self.areas:
            return []
        if math.isnan(row["auc"]):
            return ["-"]
        shown, *limits = shown_shares(row["auc"], (row["low"], row["high"]), spare=0, least=2)
        return [shown if math.isnan(row["low"]) else f"{shown} [{', '.join(limits)}]"]

    def _tested(self) -> str:
        pair, pairs = self.several
        name = pair if len(self) == 1 else pairs
        of = "" if " of " in name else " of samples"
        compared = "was compared" if len(self) == 1 else "were compared"
        return f"{len(self)} {name}{of} {compared}"

    def _sizes_in_words(self, row: dict[str, Any]) -> list[str]:
        if not self.areas or math.isnan(row["auc"]):
            return []
        shown, *limits = shown_shares(row["auc"], (row["low"], row["high"]), spare=0, least=2)
        return [f"AUC {estimated(shown, limits, self.confidence, within=True)}"]

    def _sources(self) -> Iterator[str]:
        yield from super()._sources()
        if self.areas:
            yield "DDC88"

    def _of_sizes(self) -> list[str]:
        return [f"AUC, with {percent(self.confidence)} interval"] if self.areas else []

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values under the attribute names."""
        return super().to_dict() | {"confidence": self.confidence}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the AUC of every pair with its interval (matplotlib).

        Without effects, it draws p-values.
        """
        return plot_pairs_of_samples(self, ax)
