"""Variable: observations as the numbers that one kernel compares, with their units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shrinktest.data.encoding import Encoding
from shrinktest.kernels import Energy, Kernel, Linear, Polynomial, Rescaled, compares_as_given
from shrinktest.kernels.distance_kernel import DistanceKernel
from shrinktest.kernels.user import is_from_user, takes_row_numbers
from shrinktest.notes import note
from shrinktest.permutations.serial_correlation import OrderedRows
from shrinktest.units import Scale, Units, constant_columns, far_apart


@dataclass(frozen=True, eq=False)
class Variable:
    """Observations that one kernel compares."""

    points: np.ndarray  # (n, d)
    name: str  # in messages
    scale: Scale | None = None  # units in which the kernel compares columns; see `Rescaled`
    encoding: Encoding | None = (
        None  # how columns of a table became numbers, which are in their units already
    )
    units_chosen: bool = True  # True if the user chose the units, so that no note is needed
    numbers: bool = False  # True if they are row numbers of a precomputed matrix
    keeps_values: bool = (
        False  # True if a kernel of the user compares them, so that nothing is subtracted from them
    )

    def rows_of(self, *series: np.ndarray) -> OrderedRows:
        """Observations of several series, each given by its rows, or of all rows as one series."""
        parts = [self.points[rows] for rows in series] or [self.points]
        return (
            OrderedRows([np.zeros_like(part) for part in parts])
            if self.numbers
            else OrderedRows.of(parts, self.encoding)
        )

    def only(self, rows: np.ndarray | slice) -> Variable:
        """Keep some of the rows, in their order."""
        return replace(self, points=np.ascontiguousarray(self.points[rows]))

    def compared_by(self, kernel: Any) -> Variable:
        """Return the variable as a kernel, or one of several, has to see it."""
        variable = replace(
            self, numbers=takes_row_numbers(kernel), keeps_values=is_from_user(kernel)
        )
        automatic = self.encoding is not None and not self.units_chosen
        return variable.as_given() if automatic and compares_as_given(kernel) else variable

    def as_given(self) -> Variable:
        """Return the variable with the numbers of its table in no units."""
        assert self.encoding is not None
        units = self.encoding.units.units()
        plain = replace(self.encoding, units=Units((1.0,) * len(units), self.points[:0]))
        return replace(self, points=self.points * units, encoding=plain)

    def compared(self) -> np.ndarray:
        """Return the observations as a kernel compares them, without those with missing values."""
        rows = self.points[~np.isnan(self.points).any(axis=1)]
        return rows if self.scale is None else Rescaled(Linear(), self.scale, rows).moved(rows)

    def in_units(self) -> tuple[Variable, tuple[str, ...]]:
        """Return the variable with numbers in table units, and notes on these units.

        The units of the numbers are chosen as in a table.
        """
        if self.scale is None or np.isnan(self.points).any():
            return self, ()
        return replace(self, points=self.compared(), scale=None), self.notes(None)

    def notes(self, kernel: Any) -> tuple[str, ...]:
        """Return notes on constant and badly scaled columns."""
        if self.encoding is not None:  # has notes of its own
            return ()
        if self.scale is None:
            return (
                far_apart(self.points, self.name)
                if not self.units_chosen and in_one_unit(kernel)
                else ()
            )
        if not (constant := constant_columns(self.points)).any():
            return ()
        names = [str(j) for j in np.flatnonzero(constant)]
        many = len(names) > 1
        which = f"{self.name}: column{'s' * many} {', '.join(names)} {'have' if many else 'has'}"
        return (note("no-weight", which=which, unit=f" (scale={self.scale!r})"),)


def in_one_unit(kernel: Any) -> bool:
    """Return True if a resolved kernel uses distances or inner products as they are.

    These are distances or inner products over columns.
    """
    inner = getattr(kernel, "kernel", None)
    if isinstance(inner, Kernel) and not isinstance(kernel, Rescaled):
        return in_one_unit(inner)
    if isinstance(kernel, DistanceKernel):
        return np.ndim(kernel.bandwidth) == 0
    return isinstance(kernel, Linear | Polynomial | Energy)
