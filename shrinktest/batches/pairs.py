"""Pairs: two variables that are read together, row by row, from one source or from two."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from shrinktest._check import listed
from shrinktest.batches.columns import Found, Part
from shrinktest.batches.crew import Crew
from shrinktest.batches.pieces import Piece
from shrinktest.batches.recognized import is_paths
from shrinktest.batches.rows import Reader, Rows, TableReader
from shrinktest.batches.source import BINS, Batches, as_batches
from shrinktest.batches.store import Store
from shrinktest.data.column import Table
from shrinktest.data.encoding import Encoding


@dataclass(frozen=True, eq=False)
class Side:
    """Some rows of one of two sources."""

    reader: Reader
    source: Any  # all of it, or the pieces that these rows are in
    skip: int = 0  # rows of the first piece that come before them

    def values(self) -> Iterator[Any]:
        """The rows in order, numbers (k, d) or a table, with missing values where there are some."""
        skip = self.skip
        for piece in self.source.pieces() if isinstance(self.source, Rows) else self.source:
            first = piece.first
            for given in piece.read(self.reader.size):
                if (size := len(given)) > skip:
                    yield _some(self.reader.read(given, piece.where, first), skip, size)
                skip, first = max(0, skip - size), first + size


@dataclass(frozen=True, eq=False)
class Both(Piece):
    """Consecutive rows of two sources, beside each other."""

    where: str
    first: int
    rows: int | None
    sides: tuple[Side, Side]

    def read(self, size: int) -> Iterator[Any]:
        """Rows (k, p + q) in order; raises ValueError where one source has more than the other."""
        streams = [side.values() for side in self.sides]
        held: list[Any] = [None, None]
        done = 0
        while self.rows is None or done < self.rows:
            held = [next(s, None) if h is None else h for s, h in zip(streams, held, strict=True)]
            x, y = held
            if x is None and y is None:
                return
            if x is None or y is None:
                raise _unequal(self.sides, shorter=0 if x is None else 1, rows=self.first + done)
            some = min(len(x), len(y), len(x) if self.rows is None else self.rows - done)
            yield _beside(_some(x, 0, some), _some(y, 0, some))
            held = [_some(one, some, len(one)) if len(one) > some else None for one in (x, y)]
            done += some


def _some(rows: Any, start: int, stop: int) -> Any:
    """Consecutive rows."""
    return rows.taken(slice(start, stop)) if isinstance(rows, Table) else rows[start:stop]


def _beside(x: Any, y: Any) -> Any:
    """As many rows beside each other."""
    if not isinstance(x, Table):
        return np.hstack([x, y])
    sources = list(dict.fromkeys(one.source for one in (x, y) if one.source))
    return Table((*x.columns, *y.columns), named=x.named or y.named, source=" and ".join(sources))


def _unequal(sides: tuple[Any, Any], shorter: int, rows: int) -> ValueError:
    names = [getattr(side, "reader", side).name for side in sides]
    return ValueError(
        f"{names[shorter]} has {rows} rows, and {names[1 - shorter]} has more; row i of both belongs together, so that "
        "they must have as many"
    )


@dataclass(frozen=True, eq=False)
class TwoSources(Rows):
    """The rows of two sources, beside each other; the other fields are those of the first, and of what both give."""

    sides: tuple[Rows, Rows] = field(kw_only=True)  # the sources

    @property
    def reader(self) -> Reader:
        how = self.name, self.names, None, self.omit, self.batches.size
        return Reader(*how) if self.types is None else TableReader(*how, self.types, self.code)

    @property
    def _known(self) -> bool:
        return all(side.batches.counted for side in self.sides)

    @property
    def counted(self) -> bool:
        return self._known and not self.omit

    @property
    def there(self) -> bool:
        return all(side.there for side in self.sides)

    @property
    def signature(self) -> Any:
        known = [side.signature for side in self.sides]
        return None if None in known else known

    def without(self, places: Collection[int]) -> Rows:
        """The same without some of the columns of both."""
        x, y = self.sides
        cut = len(self.names or ()) - len(y.names or ()) if y.names else len(x.names or ())
        sides = x.without([j for j in places if j < cut]), y.without([j - cut for j in places if j >= cut])
        return replace(super().without(places), sides=sides)  # type: ignore[call-arg]

    def pieces(self) -> Iterator[Piece]:
        """Those of the first source with what stands beside them; all as one where these do not know their rows."""
        where, (left, right) = f"{self.name},", (side.reader for side in self.sides)
        if not self._known:
            yield Both(where, 0, None, (Side(left, self.sides[0]), Side(right, self.sides[1])))
            return
        others = self.sides[1].pieces()
        first = skip = beside = 0  # rows before this piece; of the piece beside it, before it; and from it on
        taken: list[Piece] = []
        for piece in self.sides[0].pieces():
            assert piece.rows is not None
            while beside < piece.rows:
                if (other := next(others, None)) is None:
                    raise _unequal(self.sides, shorter=1, rows=first + beside)
                assert other.rows is not None
                taken.append(other)
                beside += other.rows
            if piece.rows:
                yield Both(where, first, piece.rows, (Side(left, (piece,)), Side(right, tuple(taken), skip)))
            first, beside = first + piece.rows, beside - piece.rows
            taken = taken[-1:] if beside else []
            skip = (taken[0].rows or 0) - beside if taken else 0
        if beside or any(other.rows for other in others):
            raise _unequal(self.sides, shorter=0, rows=first)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Two variables in batches."""

    rows: Rows  # the columns of x, and then those of y
    widths: tuple[int, int]  # how many there are of each
    names: tuple[tuple[str, ...] | None, ...]  # their names
    # how columns of tables became numbers, which are not in their units yet
    encodings: tuple[Encoding | None, ...] = (None, None)
    notes: tuple[str, ...] = ()  # which of these are not tested, and why

    @classmethod
    def of(
        cls,
        X: Any,
        Y: Any,
        called: tuple[str, str],
        *,
        omit: bool,
        types: Mapping[str, Any] | None = None,
        tables: bool = False,
    ) -> Pairs:
        """The variables as users give them; raises TypeError or ValueError for what cannot be read together.

        Messages call them as ``called`` says.  With ``omit`` pairs with missing values are left out.  ``types`` says by
        name as what columns of tables are read; with ``tables`` they are read as tables even if all columns are
        numbers.
        """
        x, y = as_batches((X, Y), called)
        if x.bins != BINS:
            raise ValueError(f"bins={x.bins} is for tests of samples; pairs are not put into bins: leave it out")
        name = " and ".join(called)
        if x.data is y.data or (is_paths(x.data) and is_paths(y.data) and x.data == y.data):
            return cls._of_one(x, y, name, omit, types or {}, tables or bool(types))
        if x.by_dask or y.by_dask:
            raise ValueError(
                f"{name} are two sources, of which dask computes one: put both into one collection, and choose columns "
                "for each of them, Batches(data, columns=[...])"
            )
        known = [one.names(has) for one, has in zip((x, y), called, strict=True)]
        mixed = tables or types or any(b.mixed(has, n) for b, has, n in zip((x, y), called, known, strict=True))
        read = (types or {}) if mixed else None
        sides = tuple(Rows(one, has, n, omit, read) for one, has, n in zip((x, y), called, known, strict=True))
        widths = tuple(_width(side) for side in sides)
        both = None
        if all(known) or (mixed and any(known)):
            both = tuple(one for n, width in zip(known, widths, strict=True) for one in n or map(str, range(width)))
        rows = TwoSources(x, name, both, omit, read, sides=(sides[0], sides[1]))
        return cls(rows, (widths[0], widths[1]), tuple(known))

    @classmethod
    def _of_one(cls, x: Batches, y: Batches, name: str, omit: bool, types: Mapping[str, Any], tables: bool) -> Pairs:
        if x.columns is None or y.columns is None:
            raise ValueError(
                f"{name} are one source: say which columns are which, Batches(..., columns=[...]) for each of them"
            )
        if shared := [one for one in x.columns if one in y.columns]:
            raise ValueError(f"{name} have the same column {listed(list(map(str, shared)))}; columns must differ")
        together = Batches(x.data, columns=[*x.columns, *y.columns], size=min(x.size, y.size))
        p, names = len(x.columns), together.names(name)
        split = (None, None) if names is None else (names[:p], names[p:])
        read = types if tables or together.mixed(name, names) else None
        return cls(Rows(together, name, names, omit, read), (p, len(y.columns)), split)

    def encoded(self, crew: Crew, called: tuple[str, str], *, indicate: bool, store: Store | None) -> Pairs:
        """The same as numbers, where columns may be something else: tables are read once more, before.

        Messages call the variables as ``called`` says.  With ``indicate`` missing values have an indicator; ``store``
        has what has been read before.
        """
        if self.rows.types is None:
            return self
        parts = [Part(name, has is not None, n) for name, has, n in zip(called, self.names, self.widths, strict=True)]
        return self._knowing(Found.of((self.rows,), crew, parts, indicate=indicate, store=store))

    def filled(self, fills: Sequence[Mapping[int, float]]) -> Pairs:
        """The same with what stands in place of missing values, for each variable by its columns of numbers."""
        if not any(fills):
            return self
        encodings = tuple(one for one in self.encodings if one is not None)
        return self._knowing(Found((self.rows,), encodings, self.notes).filled(fills))

    def _knowing(self, found: Found) -> Pairs:
        x, y = (len(one.features) for one in found.encodings)
        names = tuple(one.columns for one in found.encodings)
        return Pairs(found.rows[0], (x, y), names, found.encodings, found.notes)


def _width(rows: Rows) -> int:
    """How many columns there are; looks at the first rows where nobody said."""
    if rows.names is not None:
        return len(rows.names)
    if rows.batches.columns is not None:
        return len(rows.batches.columns)
    values = next(Side(rows.reader, rows).values(), None)
    if values is None:
        raise ValueError(f"{rows.name} has no rows")
    return int(values.shape[1])
