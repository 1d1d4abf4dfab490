"""Results of tests of every pair of levels, with how well rows of each pair are told apart."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shrinktest._check import percent
from shrinktest.results.effect import shown_shares
from shrinktest.results.several import MultipleTestsResult


@dataclass(frozen=True, eq=False, repr=False)
class PairwiseResult(MultipleTestsResult):
    """Result of ``result.pairwise(term)``: a test of every pair of levels, with its AUC.

    Attributes
    ----------
    areas : mapping of tuple to tuple of float
        By pair, the AUC with the limits of its interval: how often a row of the first level has a
        higher value than one of the second of a witness function that was fitted without them.
        NaN if rows are too few.
    confidence : float
        Confidence of each interval by itself.
    nulls, keys, method, alpha, data, setup, untested, rng, notes, shared
        As in a :class:`MultipleTestsResult`.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import factor_test
    >>> rng = np.random.default_rng(0)
    >>> table = {"dose": ["none", "half", "full"] * 20}
    >>> response = rng.normal(size=(60, 2))
    >>> response[2::3] += 1.5
    >>> effects = factor_test("dose", table, response=response, rng=0)
    >>> result = effects.pairwise("dose", rng=0)
    >>> result.table[["first", "second", "adjusted", "auc", "low", "high"]].round(3)
      first second  adjusted    auc    low   high
    0  full   half     0.003  0.988  0.880  0.999
    1  full   none     0.003  0.962  0.824  0.992
    2  half   none     0.297  0.462  0.219  0.728
    """

    areas: Mapping[tuple[Any, ...], tuple[float, float, float]] = field(default_factory=dict)
    confidence: float = 0.95

    def rows(self) -> list[dict[str, Any]]:
        """Return rows of ``table``, one per pair, with its AUC and the limits of its interval."""
        rows = []
        for row, label in zip(super().rows(), (*self.labels, *self.untested), strict=True):
            area = self.areas.get(label, (math.nan,) * 3)
            rows.append({**row, **dict(zip(("auc", "low", "high"), area, strict=True))})
        return rows

    def _sizes(self, row: dict[str, Any]) -> list[str]:
        if math.isnan(row["auc"]):
            return ["-"]
        shown, *limits = shown_shares(row["auc"], (row["low"], row["high"]), spare=0, least=2)
        return [shown if math.isnan(row["low"]) else f"{shown} [{', '.join(limits)}]"]

    def _of_sizes(self) -> list[str]:
        return [f"AUC, with {percent(self.confidence)} interval"]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values under the attribute names."""
        return super().to_dict() | {"confidence": self.confidence}
