"""Trends: columns whose ranks go up or down within a batch, as in sorted files."""

from __future__ import annotations

import numpy as np

from shrinktest._check import Array

_APART = 4.9  # standard errors of a rank correlation with the number of the row, p < 1e-6
_FEWEST = 20  # rows


def trending(values: Array, places: np.ndarray) -> np.ndarray:
    """Return those of the columns in ``places`` of which ranks are correlated with the row.

    The correlation is Spearman's; missing values of ``values`` (n, d) rank lowest.
    """
    if len(values) < _FEWEST or not len(places):
        return places[:0]
    from scipy.stats import rankdata

    numbers = np.where(np.isnan(values[:, places]), -np.inf, values[:, places])
    ranks = rankdata(numbers, axis=0)
    ranks -= ranks.mean(axis=0)
    order = np.arange(len(values)) - (len(values) - 1) / 2.0
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = order @ ranks / len(values) / (ranks.std(axis=0) * order.std())
    return places[np.abs(correlation) * np.sqrt(len(values) - 1.0) > _APART]
