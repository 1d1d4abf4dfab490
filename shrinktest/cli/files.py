"""Files as tables: CSV, Parquet, npy, standard input and packaged data; columns chosen by name or position."""

from __future__ import annotations

import csv
import re
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import choice, counted
from shrinktest.cli.cells import OddCell, column_of, problem
from shrinktest.cli.delimited import Rows, parsed, text_in
from shrinktest.tables.text import is_missing, level_of

if TYPE_CHECKING:
    import pandas as pd

#: Data sets that stand for themselves in place of a file.
PACKAGED = ("eckerle4",)

_LISTED = 5  # problems of a file


@dataclass(frozen=True)
class Table:
    """A file whose columns are read when they are asked for."""

    source: str
    names: list[str]
    frame: pd.DataFrame | None = None  # of Parquet and npy
    rows: Rows | None = None  # of text
    lines: Sequence[int] = ()
    mark: str = ","
    array: bool = False  # an .npy file, whose columns have numbers from 0

    def select(self, wanted: str) -> list[str]:
        """Return names of columns from a list such as ``a,b`` or ``2:5``; a number that is no name is a position."""
        chosen: list[str] = []
        for item in next(csv.reader([wanted], skipinitialspace=True), []):
            first, colon, last = item.strip().partition(":")
            if item.strip() in self.names or not colon:
                first = last = item.strip()
            chosen += self.names[self._place(first) : self._place(last) + 1]
        if not chosen or len(set(chosen)) < len(chosen):
            raise ValueError(f"{wanted!r} must name one or more columns of {self.source}, each once")
        return chosen

    def one(self, wanted: str, option: str) -> str:
        """Return the name of the one column of an option."""
        names = [wanted] if wanted in self.names else self.select(wanted)
        if len(names) > 1:
            raise ValueError(f"{option} is one column; {wanted!r} names {', '.join(names)}")
        return names[0]

    def labels(self, name: str) -> list[Any]:
        """Return the cells of a column as labels, so that 1.0 is 1; None if missing."""
        if self.rows is None:
            assert self.frame is not None
            return [None if missing else label for label, missing in zip(*_values(self.frame[name]), strict=True)]
        place = self.names.index(name)
        return [None if is_missing(row[place]) else level_of(row[place]) for row in self.rows]

    def columns(self, names: Sequence[str], types: Mapping[str, Any], args: Namespace) -> pd.DataFrame:
        """Return columns as a data frame; raise ValueError with all cells that cannot be read."""
        import pandas as pd

        if self.frame is not None:
            return self.frame[list(names)]
        assert self.rows is not None
        series, problems = {}, []
        for name in names:
            place = self.names.index(name)
            cells = [row[place] for row in self.rows]
            try:
                series[name] = column_of(cells, types.get(name), self.mark, args)
            except OddCell as odd:
                problems.append(problem(odd, name, self.lines[cells.index(odd.cell)]))
        if problems:
            more = f"; and {len(problems) - _LISTED} more" if len(problems) > _LISTED else ""
            raise ValueError(f"{self.source}: {'; '.join(problems[:_LISTED])}{more}")
        return pd.DataFrame(series)

    def _place(self, item: str) -> int:
        first = 0 if self.array else 1
        if item not in self.names and item.isdecimal():
            if first <= int(item) < len(self.names) + first:
                return int(item) - first
            raise ValueError(
                f"{self.source} has {counted(len(self.names), 'column')}; there is none at position {item}, counted "
                f"from {first}"
            )
        return self.names.index(choice(item, self.names, f"a column of {self.source}"))


def _values(series: pd.Series) -> tuple[list[Any], list[bool]]:
    return series.tolist(), series.isna().tolist()


def is_pattern(path: str) -> bool:
    """Return whether a path stands for several files."""
    return has_magic(path) and not Path(path).exists()


def read(path: str, args: Namespace) -> Table:
    """Return the table in a file, in all files of a pattern, on standard input (-), or of a packaged data set."""
    import pandas as pd

    if path in PACKAGED:
        text = resources.files("shrinktest.datasets").joinpath(f"{path}.csv").read_text(encoding="utf-8")
        return _table(parsed(text, path, args), path)
    if is_pattern(path):
        if not (paths := sorted(glob(path))):
            raise ValueError(f"{path} matches no file")
        frames = [_whole(read(one, args), args) for one in paths]
        for one, frame in zip(paths, frames, strict=True):
            if list(frame) != list(frames[0]):
                raise ValueError(f"{one} has other columns than {paths[0]}: {', '.join(map(str, frame))}")
        frame = pd.concat(frames, ignore_index=True)
        return Table(path, list(frame), frame=frame, array=path.lower().endswith(".npy"))
    if path.lower().endswith(".parquet"):
        try:
            frame = pd.read_parquet(path)
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise ValueError(f"{path} is no Parquet file: {error}") from None
        return Table(path, [str(name) for name in frame], frame=frame.set_axis([str(name) for name in frame], axis=1))
    if path.lower().endswith(".npy"):
        try:
            array = np.load(path, allow_pickle=False)
        except ValueError as error:
            raise ValueError(f"{path} is no array of numbers: {error}") from None
        frame = pd.DataFrame(array.reshape(len(array), -1)).rename(columns=str)
        return Table(path, list(frame), frame=frame, array=True)
    source = "standard input" if path == "-" else path
    return _table(parsed(text_in(path, args.encoding), source, args), source)


def _table(found: tuple[list[str], Rows, list[int], str], source: str) -> Table:
    names, rows, lines, mark = found
    return Table(source, names, rows=rows, lines=lines, mark=mark)


def _whole(table: Table, args: Namespace) -> pd.DataFrame:
    return table.columns(table.names, args.types or {}, args)


def read_all(paths: Sequence[str], args: Namespace) -> list[Table]:
    """Return the tables in several files; only one of them may be standard input."""
    if list(paths).count("-") > 1:
        raise ValueError("standard input (-) can be only one of the files")
    return [read(path, args) for path in paths]


def frames(tables: Sequence[Table], names: Sequence[Sequence[str]], args: Namespace) -> list[Any]:
    """Return the columns of several tables; raise ValueError with the problems of all of them."""
    out, problems = [], []
    for table, own in zip(tables, names, strict=True):
        try:
            out.append(table.columns(own, args.types or {}, args))
        except ValueError as error:
            problems.append(str(error))
    if problems:
        raise ValueError("; ".join(problems))
    return out


def names_of(paths: Sequence[str]) -> list[str]:
    """Return short names of files: without folder and ending, or whole or numbered if these do not tell them apart."""
    whole = ["standard input" if path == "-" else re.sub("[\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", path)
             for path in paths]  # fmt: skip
    short = [path if is_pattern(path) else Path(path).stem for path in whole]
    for names in (short, whole):
        if len(set(names)) == len(names):
            return names
    return [f"{name} ({i + 1})" for i, name in enumerate(whole)]
