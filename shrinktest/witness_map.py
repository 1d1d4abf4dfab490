"""Witness function of two columns of compared tables, as a map."""

from __future__ import annotations

from typing import Any

import numpy as np

from shrinktest.equal_distributions import TwoEqualDistributions
from shrinktest.kernel_spec import KernelSpec
from shrinktest.results.columns import MEDIAN, SPREAD
from shrinktest.results.comparison import ComparisonResult, WitnessMap
from shrinktest.run import run
from shrinktest.settings import Settings
from shrinktest.units import constant_columns

_PLAIN = KernelSpec("gaussian", "median")
_GRID = 31  # points of the witness function along each of two columns
_ROWS = 500  # of each table that it is computed from
_RESAMPLES = 199  # of its band


def witness_map(result: ComparisonResult) -> WitnessMap | None:
    """Return the witness function of the two numeric columns with the clearest changes.

    Return None if there are no two such columns.
    """
    numeric = [
        column
        for column in result.ordered
        if column.kind not in ("", "boolean", "category", "ordered")
        and not column.constant
        and column.name not in result.successive
    ]
    if len(numeric) < 2:
        return None

    def order(column: Any) -> tuple[float, float]:
        strengths = (
            change.strength for change in column.changes if change.what in (MEDIAN, SPREAD)
        )
        return column.adjusted, -max(strengths, default=0.0)

    first, second = sorted(numeric, key=order)[:2]
    places = [
        [column.name for column in result.effects].index(column.name) for column in (first, second)
    ]
    rows = [
        np.column_stack([table.columns[j].numbers() for j in places]) for table in result.tables
    ]
    rows = [points[~np.isnan(points).any(axis=1)] for points in rows]
    if min(map(len, rows)) < 10:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.vstack(rows).std(axis=0)
    if not (np.isfinite(spread) & (spread > 0.0)).all() or constant_columns(np.vstack(rows)).any():
        return None  # units of the picture are standard deviations, also where the test has others
    chance = np.random.default_rng(0)
    sampled = max(map(len, rows)) > _ROWS
    rows = [points[np.sort(chance.permutation(len(points))[:_ROWS])] for points in rows]
    hypothesis = TwoEqualDistributions.read(*rows, scale="sd")
    settings = Settings.read(
        n_resamples=_RESAMPLES, alpha=1.0 - result.confidence, workers=1, progress=False
    )
    test = run(hypothesis, "kme", [_PLAIN], settings, 0)
    low, high = np.quantile(np.vstack(rows), (0.005, 0.995), axis=0)
    east, north = np.linspace(low, high, _GRID, axis=1)
    grid = np.stack([axis.ravel() for axis in np.meshgrid(east, north, indexing="ij")], axis=1)
    band = test.witness_band(grid, confidence=result.confidence)
    outside = (
        None
        if result.overall.restriction or result.overall.method
        else band.outside.reshape(_GRID, _GRID)
    )
    return WitnessMap(
        (first.name, second.name),
        (first.kind, second.kind),
        (east, north),
        -band.values.reshape(_GRID, _GRID),
        outside,
        (rows[0], rows[1]),
        result.confidence,
        sampled,
    )
