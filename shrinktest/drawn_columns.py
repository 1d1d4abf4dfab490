"""DrawnColumns: columns of tables that a model draws, as rows of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shrinktest._check import choice, counted
from shrinktest.data.column import WORDS, Column, Table
from shrinktest.data.encoding import Code, Encoding
from shrinktest.data.scale import ScaleOption
from shrinktest.data.summary import ColumnSummary
from shrinktest.data.tables import is_table, read_table
from shrinktest.data.variable import Variable

#: Level of a category, in place of all that the reference sample lacks.
OTHER = "another level"
_LABELED = ("category", "boolean")


@dataclass(frozen=True, eq=False)
class DrawnColumns:
    """Names and kinds of the columns of X, and the numbers that stand for levels in rows (n, d).

    A level that a data set is the first to have gets the next number, which has no meaning.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    numbers: tuple[dict[str, int], ...]  # of the levels of every column; empty for numbers

    @classmethod
    def of(cls, columns: Sequence[Column], *, named: bool) -> DrawnColumns:
        """Check the columns of X: numbers, and in tables with names also categories."""
        allowed = ("number", *(_LABELED if named else ()))
        for column in columns:
            if column.kind not in allowed:
                raise TypeError(
                    f"X: column {column.name!r} has {WORDS[column.kind]}, which a model does not "
                    "draw; drop it by column_types="
                )
        names = tuple(column.name for column in columns)
        return cls(names, tuple(column.kind for column in columns), tuple({} for _ in columns))

    @property
    def labeled(self) -> bool:
        """True if a column has categories."""
        return any(kind != "number" for kind in self.kinds)

    def rows_of(self, columns: Sequence[Column]) -> np.ndarray:
        """Return columns of these kinds as rows (n, d); NaN if missing."""
        return np.stack(list(map(self._numbered, columns, self.numbers)), axis=1)

    def drawn(self, table: Any) -> np.ndarray:
        """Return the rows of a table that the model drew, which may have further columns."""
        if not is_table(table):
            raise TypeError("simulate must return a table with the columns of X, as X has text")
        types = {n: k for n, k in zip(self.names, self.kinds, strict=True) if k in _LABELED}
        read = read_table(table, "simulate", types)
        columns = dict(zip(read.names, read.columns, strict=True))
        for name, kind in zip(self.names, self.kinds, strict=True):
            column = columns[choice(name, read.names, "a column of simulate")]
            if column.kind != kind:
                raise TypeError(
                    f"simulate: column {name!r} has {WORDS[column.kind]}, and {WORDS[kind]} in X; "
                    "return these"
                )
        rows = self.rows_of([columns[name] for name in self.names])
        if gaps := int(np.isnan(rows).sum()):
            raise ValueError(f"simulate drew {counted(gaps, 'missing value')}; return none")
        return rows

    def frame(self, rows: np.ndarray) -> Any:
        """Return rows as a data frame with numbers, text and booleans."""
        import pandas as pd

        frame = {}
        for column in self._columns(rows):
            values: Any = column.values
            if column.kind != "number":
                values = np.array(column.levels, dtype=object)[column.values]
            frame[column.name] = values == "True" if column.kind == "boolean" else values
        return pd.DataFrame(frame)

    def encoding(self, reference: np.ndarray, scale: Any) -> tuple[Variable, tuple[str, ...]]:
        """Return the reference sample, with a level for all that it lacks, and notes on it."""
        option = ScaleOption.of(scale)
        table = Table(self._columns(reference))
        summaries = [[ColumnSummary.of(column)] for column in table.columns]
        encoding = Encoding.of(summaries, option.settled(table=True))
        encoding = replace(encoding, codes=tuple(map(_with_other, encoding.codes)))
        encoding, points = encoding.fitted(table, whose="the reference sample")
        chosen = not option.automatic
        notes = encoding.notes("the reference sample", unasked=not chosen)
        variable = Variable(points, "the reference sample", encoding=encoding, units_chosen=chosen)
        return variable, notes

    def encoded(self, rows: np.ndarray, encoding: Encoding) -> np.ndarray:
        """Return rows as features of the reference sample."""
        columns = map(_known_to, self._columns(rows), encoding.codes)
        return encoding.points(Table(tuple(columns)))

    def _numbered(self, column: Column, numbers: dict[str, int]) -> np.ndarray:
        if column.kind == "number":
            return column.numbers()
        places = [numbers.setdefault(level, len(numbers)) for level in column.levels]
        return np.append(np.array(places, dtype=np.float64), np.nan)[column.values]

    def _columns(self, rows: np.ndarray) -> tuple[Column, ...]:
        """Return rows as columns, whose levels are all that were met so far."""
        return tuple(
            Column(name, kind, values if kind == "number" else values.astype(np.int64), (*levels,))
            for name, kind, levels, values in zip(
                self.names, self.kinds, self.numbers, rows.T, strict=True
            )
        )


def _with_other(code: Code) -> Code:
    """Return a code with one level more, in an order that does not depend on the data."""
    if not code.categorical:
        return code
    return replace(code, levels=tuple(dict.fromkeys([*sorted(code.levels), OTHER])))


def _known_to(column: Column, code: Code) -> Column:
    """Return a column with the name of the other level for those that the code lacks."""
    if not code.categorical:
        return column
    levels = tuple(level if level in code.levels else OTHER for level in column.levels)
    return replace(column, levels=levels)
