"""Rows that a test is about, as numbers, with permutation restrictions and omitted rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from shrinktest._check import Array, Columns
from shrinktest.data.all_rows import AllRows, Rows
from shrinktest.data.encoding import Encoding
from shrinktest.data.variable import Variable
from shrinktest.notes import note
from shrinktest.permutations.design import PermutationDesign

# smallest indicator in pairs, as a share of its usual size: a smaller one would drown in rounding
_LEAST = 0.001


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Rows of samples or of joint variables, without those that were dropped.

    Samples are one variable, sample after sample, and joint variables are one sample.
    """

    # points are float64, C-contiguous, and copies of what the user gave
    variables: tuple[Variable, ...]
    sizes: tuple[int, ...]  # numbers of observations of every sample
    missing: bool  # whether values are missing, which they are under nan_policy="propagate" only
    restriction: PermutationDesign  # which relabelings the labels of the observations allow
    kept: tuple[Rows, ...]  # rows that were not dropped, for every sample or variable
    all_rows: tuple[AllRows, ...]  # of all samples together, or of every variable
    notes: tuple[str, ...] = ()  # what was left out, and by what units
    # names of the variables, of those that are series or one column
    called: tuple[str | None, ...] = ()

    @property
    def values(self) -> tuple[Array, ...]:
        """Numbers of every sample (n_i, d), or of every variable (n, d_v)."""
        if len(self.variables) > 1:
            return tuple(variable.points for variable in self.variables)
        return tuple(np.split(self.variables[0].points, np.cumsum(self.sizes)[:-1]))

    @property
    def encodings(self) -> tuple[Encoding | None, ...]:
        """For every variable, how columns of tables became its numbers."""
        return tuple(variable.encoding for variable in self.variables)

    @property
    def columns(self) -> tuple[Columns, ...]:
        """For every variable the names of its columns, or None."""
        return tuple(None if entry is None else entry.columns for entry in self.encodings)

    @property
    def left_out(self) -> tuple[Mapping[str, str], ...]:
        """For every variable, reasons for columns that seem to identify rows."""
        return tuple(rows.left_out for rows in self.all_rows)

    @property
    def gaps(self) -> tuple[Rows, ...]:
        """Missing values of dropped rows, for every variable."""
        kept = self.kept if len(self.variables) > 1 else (np.concatenate(self.kept),)
        pairs = zip(self.all_rows, kept, strict=True)
        return tuple(rows.missing()[~keep] for rows, keep in pairs)

    @property
    def omitted(self) -> int:
        """Number of dropped rows of samples; 0 if none of them has a value in some column."""
        dropped = sum(int((~keep).sum()) for keep in self.kept)
        if not dropped:
            return 0
        (rows,) = self.all_rows
        return dropped * rows.omits_values(self.kept, together=self.restriction.paired)

    def matched(self) -> KeptRows:
        """Return pairs whose values are compared only if complete.

        Missing values are compared by themselves.

        If one row of a pair misses a value, both get the number that stands for a missing one, so
        that only the indicator differs.  The indicator becomes as large as the typical distance of
        two values in a pair (root mean square), and no larger than it was: beside pairs that are
        much alike, one gap would otherwise outweigh all values.  Exchanging the rows of a pair
        exchanges the results, and changes nothing else, so that permutation tests of pairs stay
        exact.
        """
        (variable,) = self.variables
        encoding = variable.encoding
        if encoding is None or not any(code.indicated for code in encoding.codes):
            return self
        points = variable.points.copy()
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
        encoding = replace(encoding, units=replace(encoding.units, scale=tuple(units)))
        notes = (*self.notes, note("complete-pairs", columns=", ".join(gaps)))
        return replace(
            self, variables=(replace(variable, points=points, encoding=encoding),), notes=notes
        )
