"""Samples and variables as numbers, with permutation restrictions and omitted rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from shrinktest._check import Array, Columns
from shrinktest.data.encoding import Encoding
from shrinktest.data.observed import Observed, Rows
from shrinktest.notes import note
from shrinktest.permutations.design import PermutationDesign
from shrinktest.units import Scale

# smallest indicator in pairs, as a share of its usual size: a smaller one would drown in rounding
_LEAST = 0.001


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of the same variables, as numbers."""

    values: tuple[
        Array, ...
    ]  # (n_i, d): the samples, float64 and C-contiguous; copies of what the user gave
    missing: bool  # whether values are missing, which they are under nan_policy="propagate" only
    restriction: PermutationDesign  # which relabellings the labels of the observations allow
    scale: Scale | None = (
        None  # units that a kernel is to compare the columns in; tables are in theirs already
    )
    encoding: Encoding | None = None  # how columns of tables became the numbers
    notes: tuple[str, ...] = ()  # what was left out, and by what units
    kept: tuple[Rows, ...] = ()  # for every one, which rows of what the user gave were not dropped
    # columns that are not tested, because they look as if they identified rows, and why
    left_out: Mapping[str, str] = field(default_factory=dict)
    observed: tuple[Observed, ...] = ()  # all rows of all samples, before any was dropped
    omits_values: bool = False  # True if a row that was dropped has a value in some column

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of observations."""
        return tuple(map(len, self.values))

    def matched(self) -> Samples:
        """Return pairs whose values are compared only if complete.

        Missing values are compared by themselves.

        If one row of a pair misses a value, both get the number that stands for a missing one, so
        that only the indicator differs.  The indicator becomes as large as the typical distance of
        two values in a pair (root mean square), and no larger than it was: beside pairs that are
        much alike, one gap would otherwise outweigh all values.  Exchanging the rows of a pair
        exchanges the results, and changes nothing else, so that permutation tests of pairs stay
        exact.
        """
        encoding = self.encoding
        if encoding is None or not any(code.indicated for code in encoding.codes):
            return self
        points = np.vstack(self.values)
        units = list(encoding.units.scale)
        gaps = []
        for code, group in zip(encoding.codes, encoding.groups, strict=True):
            if not code.indicated:
                continue
            gaps.append(code.name)
            values = slice(group.start, group.stop - 1)
            gap = group.stop - 1
            missing = points[:, gap] != 0.0
            incomplete = np.logical_or(*np.split(missing, 2))
            points[np.tile(incomplete, 2), values] = points[missing.argmax(), values]
            squares = np.square(np.subtract(*np.split(points[:, values], 2)))[~incomplete].sum(
                axis=1
            )
            if squares.any():
                share = float(np.clip(np.sqrt(squares.mean()) / points[:, gap].max(), _LEAST, 1.0))
                points[:, gap] *= share
                units[gap] = float(units[gap]) / share
        first, second = map(np.ascontiguousarray, np.split(points, 2))
        encoding = replace(encoding, units=replace(encoding.units, scale=tuple(units)))
        notes = (*self.notes, note("complete-pairs", columns=", ".join(gaps)))
        return replace(self, values=(first, second), encoding=encoding, notes=notes)


@dataclass(frozen=True, eq=False)
class Variables:
    """Variables observed together, as numbers: row i of every one is the same observation."""

    values: tuple[
        Array, ...
    ]  # (n, d_v): the variables, float64 and C-contiguous; copies of what the user gave
    missing: bool  # whether values are missing, which they are under nan_policy="propagate" only
    restriction: PermutationDesign  # which relabellings the labels of the observations allow
    # for every variable what :class:`Samples` has for all samples
    scales: tuple[Scale | None, ...] = ()
    encodings: tuple[Encoding | None, ...] = ()
    labels: tuple[
        str | None, ...
    ] = ()  # names of the variables, of those that are series or one column
    notes: tuple[str, ...] = ()  # what was left out, and by what units
    kept: tuple[Rows, ...] = ()  # for every one, which rows of what the user gave were not dropped
    observed: tuple[Observed, ...] = ()  # for every one, all rows, before any was dropped
    gaps: tuple[
        Rows, ...
    ] = ()  # for every one, which values of the rows that were dropped are missing
    left_out: tuple[Mapping[str, str], ...] = ()  # for every one what :class:`Samples` has

    @property
    def columns(self) -> tuple[Columns, ...]:
        """For every variable the names of its columns, or None."""
        return tuple(None if entry is None else entry.columns for entry in self.encodings)
