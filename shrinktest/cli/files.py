"""Files as tables: CSV, Parquet, npy, standard input and packaged data.

All problems of all files in one error.
"""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import choice, counted
from shrinktest.data.cells import OddCell, OddCells, labels_of, read_column
from shrinktest.data.delimited import Delimited, TextFault, TextOptions, TextSource
from shrinktest.data.summary import ColumnSummary, identifies
from shrinktest.data.texts import DURATION, THOUSANDS, as_series, floats_in, people_write

if TYPE_CHECKING:
    import pandas as pd

#: Data sets that stand for themselves in place of a file.
PACKAGED = ("eckerle4",)
#: What may help for a fault of a text, by the name of an option.
_ADVICE = {
    "sep": "use --sep, --skip-rows or --comment",
    "header": "use --header yes or --header no",
    "encoding": "use --encoding, such as {}",
}


class Problems(ValueError):
    """All that keeps files from being read, each problem with its file and what to do about it."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(dict.fromkeys(problems))
        super().__init__("; ".join(self.problems))


@dataclass(frozen=True, eq=False)
class File:
    """A file whose columns get their types when they are asked for."""

    source: str
    names: list[str]
    table: Any = (
        None  # data frame, of text files of their cells; None if the library reads the rows
    )
    text: Delimited | None = None
    array: bool = False  # an .npy file, whose columns have numbers from 0

    def select(self, text: str) -> list[str]:
        """Return names of columns from a list such as ``a,b`` or ``2:5``.

        A number that is not a name is a position.
        """
        chosen: list[str] = []
        for item in next(csv.reader([text], skipinitialspace=True), []):
            first, colon, last = item.strip().partition(":")
            if item.strip() in self.names or not colon:
                first = last = item.strip()
            chosen += self.names[self._place(first) : self._place(last) + 1]
        if not chosen or len(set(chosen)) < len(chosen):
            raise ValueError(f"{text!r} must name one or more columns of {self.source}, each once")
        return chosen

    def single(self, text: str, option: str) -> str:
        """Return the name of the one column of an option."""
        names = [text] if text in self.names else self.select(text)
        if len(names) > 1:
            raise ValueError(f"{option} is one column; {text!r} names {', '.join(names)}")
        return names[0]

    def labels(self, name: str) -> list[Any]:
        """Return the cells of a column as labels, so that 1.0 is 1; None if missing."""
        column = self.table[name]
        if self.text is not None:
            return labels_of(column, self.text.source.options)
        return list(column.astype(object).where(column.notna(), None))

    def columns(
        self, names: Sequence[str], types: Mapping[str, Any]
    ) -> tuple[pd.DataFrame, list[str]]:
        """Return columns as a data frame, without those that have problems, and these."""
        import pandas as pd

        if self.text is None:
            return self.table[list(names)], []
        series: dict[str, Any] = {}
        problems = []
        for name in names:
            try:
                series[name] = read_column(
                    self.table[name], types.get(name), self.text.mark, self.text.source.options
                )
            except OddCells as error:
                for odd in error.cells:
                    place = self.text.place(name, odd.text)
                    problems.append(f"{place}: {odd.text!r} {odd.fault}; {remedy_for(odd, name)}")
        return pd.DataFrame(series), problems

    def _place(self, item: str) -> int:
        first = 0 if self.array else 1
        if item not in self.names and item.isdecimal():
            if first <= int(item) < len(self.names) + first:
                return int(item) - first
            columns = counted(len(self.names), "column")
            raise ValueError(
                f"{self.source} has {columns}; there is none at position {item}, counted from "
                f"{first}"
            )
        return self.names.index(choice(item, self.names, f"a column of {self.source}"))


def is_pattern(path: str) -> bool:
    """Return whether a path stands for several files."""
    return has_magic(path) and not Path(path).exists()


def read_file(path: str, options: TextOptions, types: Mapping[str, Any] | None = None) -> File:
    """Return the file, or all files of a pattern, as one table; ``-`` is standard input.

    ``types`` of columns are those that the files of a pattern need for their cells.
    """
    import pandas as pd

    if path in PACKAGED:
        content = resources.files("shrinktest.datasets").joinpath(f"{path}.csv").read_bytes()
        return _text_file(TextSource(path, content, options))
    if is_pattern(path):
        if not (paths := sorted(glob(path))):
            raise ValueError(f"{path} matches no file")
        files = read_files(paths, options)
        for file in files[1:]:
            if file.names != files[0].names:
                raise ValueError(
                    f"{file.source} has other columns than {paths[0]}: {', '.join(file.names)}"
                )
        frames = frames_of(files, [file.names for file in files], types or {})
        _refuse_other_types(paths, frames)
        return File(
            path, files[0].names, table=pd.concat(frames, ignore_index=True), array=files[0].array
        )
    if path.lower().endswith(".parquet"):
        try:
            frame = pd.read_parquet(path)
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise ValueError(f"{path} is not a Parquet file: {error}") from None
        names = [str(name) for name in frame]
        return File(path, names, table=frame.set_axis(names, axis=1))
    if path.lower().endswith(".npy"):
        try:
            array = np.load(path, allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise ValueError(f"{path} is not an array of numbers: {error}") from None
        frame = pd.DataFrame(array.reshape(len(array), -1)).rename(columns=str)
        return File(path, list(frame), table=frame, array=True)
    return _text_file(TextSource.at(path, options))


def _text_file(source: TextSource) -> File:
    """Return a file of text; errors advise options of the command line."""
    try:
        text = Delimited.of(source)
        table = text.cells()
    except TextFault as error:
        raise ValueError(f"{error.fault}; {_ADVICE[error.option].format(error.such)}") from None
    return File(source.name, list(text.names), table, text)


def read_files(
    paths: Sequence[str], options: TextOptions, types: Mapping[str, Any] | None = None
) -> list[File]:
    """Return several files; raise Problems with all that keeps any of them from being read."""
    if list(paths).count("-") > 1:
        raise ValueError("standard input (-) can be only one of the files")
    files: list[File] = []
    problems: list[str] = []
    for path in paths:
        try:
            files.append(read_file(path, options, types))
        except Problems as error:
            problems += error.problems
        except OSError as error:
            problems.append(f"{path}: {error.strerror or error}")
        except ValueError as error:
            problems.append(str(error))
    if not problems:
        return files
    names = [[name for name in file.names if (types or {}).get(name) != "drop"] for file in files]
    try:
        frames_of(files, names, types or {})  # the cells of the others as well
    except Problems as error:
        problems += error.problems
    raise Problems(problems)


def frames_of(
    files: Sequence[File],
    names: Sequence[Sequence[str]],
    types: Mapping[str, Any],
    remedies: Sequence[str] = (),
) -> list[pd.DataFrame]:
    """Return columns of several files; raise Problems with the problems of all of them.

    Among other problems are gaps and text that is not a category, if ``remedies`` have what to do
    about these: the library finds them by itself, but only in files that can be read.
    """
    read = [file.columns(own, types) for file, own in zip(files, names, strict=True)]
    frames = [frame for frame, _ in read]
    if not (problems := [problem for _, own in read for problem in own]):
        return frames
    for remedy, find in zip(remedies, (_gaps, _free_text), strict=False):
        problems += [f"{place}; {remedy}" for place in find(files, frames, types) if remedy]
    raise Problems(problems)


def _gaps(
    files: Sequence[File], frames: Sequence[pd.DataFrame], types: Mapping[str, Any]
) -> list[str]:
    gaps = [
        (file.source, list(frame.columns[frame.isna().any()]))
        for file, frame in zip(files, frames, strict=True)
    ]
    return [
        f"{source}: values are missing in {', '.join(names)}" for source, names in gaps if names
    ]


def _free_text(
    files: Sequence[File], frames: Sequence[pd.DataFrame], types: Mapping[str, Any]
) -> list[str]:
    """Return columns of text that has too many values for categories, and is not an identifier."""
    problems = []
    for name in dict.fromkeys(name for frame in frames for name in frame if name not in types):
        columns = [frame[name] for frame in frames if name in frame and hasattr(frame[name], "cat")]
        try:
            if columns:
                identifies(name, [ColumnSummary.of(column) for column in columns])
        except ValueError as error:
            problems.append(str(error).partition(", too many for categories")[0])
    return problems


def names_of(paths: Sequence[str]) -> list[str]:
    """Return short names of files.

    Folder and ending are left out; names are whole or numbered if the short ones are not unique.
    """
    whole = [
        re.sub("[\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", path)
        if path != "-"
        else "standard input"
        for path in paths
    ]
    for names in ([path if is_pattern(path) else Path(path).stem for path in whole], whole):
        if len(set(names)) == len(names):
            return names
    return [f"{name} ({i + 1})" for i, name in enumerate(whole)]


def _refuse_other_types(paths: Sequence[str], frames: Sequence[pd.DataFrame]) -> None:
    """Raise ValueError for a column that is numeric in only some files of a pattern."""
    import pandas as pd

    numeric = pd.api.types.is_numeric_dtype
    for name in frames[0]:
        kinds = [numeric(frame[name]) for frame in frames if frame[name].notna().any()]
        if len(set(kinds)) > 1:
            other = next(
                path
                for path, frame in zip(paths, frames, strict=True)
                if frame[name].notna().any() and numeric(frame[name]) != kinds[0]
            )
            raise ValueError(
                f"{other}: column {name!r} holds {'text or dates' if kinds[0] else 'numbers'}, "
                "unlike that of "
                f"{paths[0]}; use --types {name}=category, or correct it"
            )


def remedy_for(odd: OddCell, name: str) -> str:
    """Return the options to choose from for a cell of the column ``name``."""
    cell = as_series([odd.text])
    if odd.grouped:
        return "use --thousands . or --decimal ."
    if odd.forms:
        return f"use --date-format {' or '.join(odd.forms)}"
    comma = [] if odd.pointed or np.isnan(floats_in(cell, ",")[0]) else ["--decimal ,"]
    comma += ["--thousands ,"] if re.fullmatch(THOUSANDS["."], odd.text) else []
    if "," in odd.text and comma:
        return f"use {' or '.join(comma)}"
    if "," in odd.text and re.fullmatch(THOUSANDS[","], odd.text):
        return "use --decimal , --thousands ."
    if np.isfinite(people_write(cell)[0]):
        return f"use --types {shlex.quote(f'{name}=number')}"
    if re.fullmatch(DURATION, odd.text):
        return f"use --types {shlex.quote(f'{name}=duration')}"
    joint = "=" if odd.text.startswith("-") else " "  # -inf alone would be an option
    missing = "--na ' --'" if odd.text == "--" else f"--na{joint}{shlex.quote(odd.text)}"
    return f"correct it, or use --types {shlex.quote(f'{name}=category')} or {missing}"
