"""Differences of means and medians of the columns of two samples, as effects of a test."""

from __future__ import annotations

from typing import Any

import numpy as np

from shrinktest.data.column import Column
from shrinktest.effects.differences import (
    Adjustment,
    MeanDifference,
    SampleContrast,
    difference_of_medians,
)
from shrinktest.effects.row_units import RowUnits
from shrinktest.fitted import TestContext
from shrinktest.measured_effect import pair_of_samples
from shrinktest.permutations.design import PermutationDesign
from shrinktest.results.columns import MEAN_DIFFERENCE, MEDIAN_DIFFERENCE, ColumnEffects


def numeric_columns(context: TestContext) -> tuple[Column, ...]:
    """Return the columns of numbers, dates, durations and times of two samples, in their units.

    Empty if the test is about something else, such as residuals or row numbers.
    """
    return tuple(
        column
        for column in _columns(context)
        if not column.categorical and column.kind != "ordered"
    )


def only_column(context: TestContext) -> Column | None:
    """Return the column of samples of one column; None for others, and if it has no numbers."""
    columns = numeric_columns(context)
    return columns[0] if len(columns) == len(_columns(context)) == 1 else None


def _columns(context: TestContext) -> tuple[Column, ...]:
    """Return all columns of two samples, in their units."""
    hypothesis = context.hypothesis
    variable = hypothesis.variables[0]
    if len(hypothesis.variables) > 1 or variable.numbers or hypothesis.data().method:
        return ()
    if variable.encoding is not None:
        return variable.encoding.decoded(variable.points)
    return tuple(
        Column(f"x{j}", "number", values) for j, values in enumerate(variable.points.T.copy())
    )


def mean_difference(
    column: Column, context: TestContext, design: PermutationDesign
) -> MeanDifference:
    """Return the mean of the second sample less that of the first, within blocks if there are any.

    Pairs and rows that miss a value are left out.
    """
    values, contrast, _ = _contrast(column, context, design)
    return contrast.difference(values)


def differences(
    context: TestContext, design: PermutationDesign, confidence: float
) -> tuple[dict[str, Any], ...]:
    """Return rows on the differences of means and medians of all columns of numbers."""
    rows: list[dict[str, Any]] = []
    for column in numeric_columns(context):
        values, contrast, blocks = _contrast(column, context, design)
        if not len(values):
            continue
        unit = ColumnEffects(column.name, column.kind, ()).unit
        named = {"column": column.name, "unit": unit}
        estimates = {MEAN_DIFFERENCE: contrast.estimate(values, confidence)}
        if not blocks:  # medians are not adjusted
            first, second = np.split(values, [contrast.units.sizes[0]])
            estimates[MEDIAN_DIFFERENCE] = difference_of_medians(
                first, second, contrast.units, confidence
            )
        for measure, (estimate, low, high) in estimates.items():
            if design.shifted:  # rows follow each other in time
                low = high = np.nan
            rows.append(
                {**named, "measure": measure, "estimate": estimate, "low": low, "high": high}
            )
    return tuple(rows)


def _contrast(
    column: Column, context: TestContext, design: PermutationDesign
) -> tuple[np.ndarray, SampleContrast, bool]:
    """Return the values of a column, the contrast of the samples, and if it is within blocks."""
    _, pair = pair_of_samples(context.sizes, (0, 1), design)
    first, second = context.sizes
    missing = column.missing()
    if design.paired:
        missing = np.tile(np.logical_or(*np.split(missing, 2)), 2)
    values = column.taken(~missing)
    origin = values.values.min() if column.kind == "date" and len(values) else None
    units = RowUnits((first, second), pair.units, design.paired).taken(~missing)
    within = pair.blocks is not None
    blocks = Adjustment("blocks", pair.blocks[~missing]) if pair.blocks is not None else None
    return values.numbers(origin), SampleContrast(units, blocks), within
