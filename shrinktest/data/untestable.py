"""Columns that cannot be tested, and reading without them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from shrinktest._check import counted

T = TypeVar("T")

#: Why a column with one value is not tested.
CONSTANT = "it has the same value in every row"

#: Reasons by the name of the table that they are about, and the name or number of a column.
Reasons = Mapping[tuple[str, str], str]


class Untestable(ValueError):
    """Raised for a column, of the table called ``whose``, that cannot be tested for a reason."""

    def __init__(self, message: str, whose: str, column: str, reason: str) -> None:
        super().__init__(message, whose, column, reason)
        self.whose = whose
        self.column = column
        self.reason = reason

    def __str__(self) -> str:
        return str(self.args[0])


def refuse_empty(values: Sequence[tuple[str, str, int]], left: int) -> None:
    """Raise Untestable for the first column with fewer than two values.

    A column is given as (table, name, number of values).
    """
    for whose, column, number in values:
        if number < 2:
            alone = column.isdigit() and sum(other == whose for other, *_ in values) == 1
            where = (
                whose
                if alone
                else f"column {column if column.isdigit() else repr(column)} of {whose}"
            )
            reason = f"all values {'but one ' if number else ''}are missing"
            raise Untestable(
                f"{where}: {reason}, so nan_policy='omit' leaves {counted(left, 'row')}; leave "
                "this column out",
                whose,
                column,
                f"{reason} in {whose}",
            )


def without_untestable(read: Callable[[Reasons], T]) -> tuple[T, Reasons]:
    """Return the result of ``read`` without the columns it cannot take, and the reasons."""
    reasons: dict[tuple[str, str], str] = {}
    first: Untestable | None = None
    while True:
        try:
            return read(reasons), reasons
        except Untestable as error:
            first = first or error
            if (error.whose, error.column) in reasons:
                raise first from None
            reasons[error.whose, error.column] = error.reason
        except ValueError:
            if first is not None:
                raise first from None
            raise
