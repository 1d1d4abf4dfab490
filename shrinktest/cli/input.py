"""Tables as the arguments of the command line name them, and their columns of data and of labels."""

from __future__ import annotations

import argparse
import codecs
import gzip
import io
import re
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from shrinktest._check import choice, counted
from shrinktest.cli.streams import named
from shrinktest.cli.table import TextTable, matched_columns, parse_table
from shrinktest.data.column import DROP, Table
from shrinktest.data.observed import pooled_tables
from shrinktest.data.storage import KINDS

#: Data sets that stand for themselves where a file is expected.
PACKAGED = ("eckerle4",)

#: How files are read where nobody says it.
READING: dict[str, Any] = {
    **{"header": "auto", "decimal": ".", "comment": None, "separator": None, "encoding": "utf-8", "na": None}
}

#: How files begin that are compressed by gzip, and text in UTF-16.
_GZIP, _UTF_16 = b"\x1f\x8b", (b"\xff\xfe", b"\xfe\xff")
#: Names of encodings in which nearly any bytes are text, a letter each.
_BY_BYTES = ("iso8859", "cp125", "cp437", "cp85", "koi8", "mac")
_BATCHED = "two-sample, k-sample, columns and independence read"
#: How files begin and end that are no text, what they are, and what to do.
_NO_TEXT: tuple[tuple[bytes, bytes, str, str], ...] = (
    (b"PK\x03\x04", b"", "an archive (zip), as those of spreadsheets are", "save the table as CSV"),
    (b"\xd0\xcf\x11\xe0", b"", "a spreadsheet or a document", "save the table as CSV"),
    (b"PAR1", b"PAR1", "a Parquet file", f"save it as CSV, or name it so that it ends in .parquet, which {_BATCHED}"),
    (b"\x93NUMPY", b"", "a numpy file", f"save it as CSV, or name it so that it ends in .npy, which {_BATCHED}"),
    (b"ARROW1\0\0", b"", "an Arrow (Feather) file", "save the table as CSV"),
    (b"FEA1", b"FEA1", "a Feather file", "save the table as CSV"),
    (b"BZh", b"", "compressed (bzip2)", "decompress it, or compress it by gzip"),
    (b"\xfd7zXZ\0", b"", "compressed (xz)", "decompress it, or compress it by gzip"),
    (b"\x28\xb5\x2f\xfd", b"", "compressed (zstd)", "decompress it, or compress it by gzip"),
    (b"\x80", b".", "pickled", "save the table as CSV"),
)


def read_table(path: str, args: argparse.Namespace) -> TextTable:
    """The table in a file, on standard input (-), or of a packaged data set."""
    if path in PACKAGED:
        from importlib import resources

        for option, unasked in READING.items():
            if getattr(args, option) != unasked:
                raise ValueError(f"--{option} says how a file is read, and {path} comes with the package; leave it out")
        text = resources.files("shrinktest.datasets").joinpath(f"{path}.csv").read_text(encoding="utf-8")
        return parse_table(text, path)
    if path != "-":
        with named(path):
            raw = Path(path).read_bytes()
        text = _text(raw, path, args.encoding)
    else:
        path, text = "standard input", _piped(args.encoding)
    return parse_table(
        text, path, args.header, decimal=args.decimal, comment=args.comment, separator=args.separator, na=args.na or ()
    )


def _piped(encoding: str) -> str:
    """What is on standard input."""
    if sys.stdin is None or sys.stdin.closed:
        raise ValueError("standard input (-) is closed; give a file, or let something write to it")
    bytes_of = getattr(sys.stdin, "buffer", None)
    with named("standard input"):
        return sys.stdin.read() if bytes_of is None else _text(bytes_of.read(), "standard input", encoding)


def _text(raw: bytes, path: str, encoding: str) -> str:
    """What is in a file, which may be compressed by gzip; raises ValueError for what is no text."""
    if raw.startswith(_GZIP):
        try:
            raw = gzip.decompress(raw)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{path} is compressed (gzip), and cannot be read: {error}") from None
    likely = _likely(raw)
    way = f"say what it is in, such as --encoding {likely or 'latin-1 or cp1252'}"
    if likely == "utf-8":
        way = "--encoding is for all files: leave it out, or save them all in one encoding"
    try:
        text = io.TextIOWrapper(io.BytesIO(raw), encoding=encoding).read()
    except LookupError:
        raise ValueError(
            f"--encoding must be the name of an encoding, such as utf-8, utf-16 or latin-1; got {encoding!r}"
        ) from None
    except UnicodeError as error:
        if KINDS.get(Path(path).suffix.lower()) in ("array", "parquet"):
            raise ValueError(
                f"{path}: this command reads text (CSV); {_BATCHED} Parquet and numpy files, too; use one of these, or "
                "save the table as CSV"
            ) from None
        for begins, ends, what, advice in _NO_TEXT:
            if raw.startswith(begins) and raw.endswith(ends):
                raise ValueError(f"{path} is {what}; {advice}") from None
        where = f": {error.reason}, byte {error.start}" if isinstance(error, UnicodeDecodeError) else f": {error}"
        but = ", but in UTF-8" if likely == "utf-8" else ""
        raise ValueError(f"{path} is not text in {encoding.upper()}{where}{but}; {way}") from None
    by_bytes = codecs.lookup(encoding).name.startswith(_BY_BYTES) and not raw.isascii()
    if likely is not None and (by_bytes if likely == "utf-8" else "\0" in text[:8]):
        raise ValueError(f"{path} is text in {likely.upper()}, which {encoding.upper()} would misread; {way}")
    return text


def _likely(raw: bytes) -> str | None:
    """The encoding that text is in where that can be seen; None where it cannot."""
    if raw.startswith(_UTF_16):
        return "utf-16"
    if b"\0" in raw[:2]:
        return "utf-16-be" if raw[:1] == b"\0" else "utf-16-le"
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return "utf-8"


def read_samples(paths: Sequence[str], args: argparse.Namespace, what: str) -> list[TextTable]:
    """The tables of several samples, one of which may be on standard input."""
    if list(paths).count("-") > 1:
        raise ValueError(f"standard input (-) can be only one of the {what}")
    return [read_table(path, args) for path in paths]


def names_of(tables: Sequence[TextTable]) -> tuple[str, ...]:
    """What results call samples: their files without folders, where that tells them apart."""
    return told_apart([table.source for table in tables], lambda path: path.name)


def names_without_endings(files: Sequence[TextTable]) -> tuple[str, ...]:
    """What the answer calls the files: by their names without folder and ending, as far as these tell them apart."""
    return told_apart([file.source for file in files], lambda path: path.stem)


def told_apart(sources: Sequence[str], shorter: Callable[[Path], str]) -> tuple[str, ...]:
    """Short names of files, or whole ones where these are not the same, or these with numbers."""
    sources = [writable(source) for source in sources]
    for names in ([shorter(Path(source)) for source in sources], sources):
        if len(set(names)) == len(names):
            return tuple(names)
    again = [sources.count(source) > 1 for source in sources]
    return tuple(f"{source} ({i + 1})" if again[i] else source for i, source in enumerate(sources))


def writable(name: str) -> str:
    """A name of a file without what is no letter in it, and cannot be drawn or written in UTF-8."""
    return re.sub("[\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", name)


# --- what each variable has of what is typed for all columns ------------------------------------------------


def units_by_variable(units: Any, sizes: Sequence[int]) -> Any:
    """One number per column, as ``--scale`` has them of all variables, cut up by the number of columns of each."""
    return _cut_up(units, sizes, "--scale") if isinstance(units, tuple) else units


def widths_by_variable(width: Any, tables: Sequence[Table], sizes: Sequence[int]) -> list[Any]:
    """The bandwidth of each variable: of those by the names of columns, or in their order, its own; others as they are.

    Of several that are combined, a list for each variable.  ``sizes``: how many columns of each are tested.
    """
    if isinstance(width, list):
        return [list(own) for own in zip(*(widths_by_variable(one, tables, sizes) for one in width), strict=True)]
    if isinstance(width, tuple) and len(sizes) > 1:
        return _cut_up(width, sizes, "--bandwidth")
    if not isinstance(width, dict):
        return [width] * len(tables)
    for name in width:
        choice(name, [name for table in tables for name in table.names], "a column in --bandwidth")
    return [{name: width[name] for name in table.names if name in width} or "median" for table in tables]


def _cut_up(numbers: tuple[float, ...], sizes: Sequence[int], option: str) -> list[tuple[float, ...]]:
    """The numbers of each variable; raises ValueError where there is not one for each column."""
    if len(numbers) != sum(sizes):
        raise ValueError(
            f"{option} has {counted(len(numbers), 'number')} for {counted(sum(sizes), 'column')} of the variables; "
            "give one for each in their order, or a word for all"
        )
    return [numbers[first:end] for first, end in pairwise(accumulate(sizes, initial=0))]


# --- which columns ------------------------------------------------------------------------------------------


def column_of(table: TextTable, wanted: str, option: str) -> str:
    """The one column that an option names, by its name or position."""
    if wanted in table.names:
        return wanted
    found = table.select(wanted)
    if len(found) > 1:
        raise ValueError(f"{option} is one column; {wanted!r} names {len(found)}: {', '.join(found)}")
    return found[0]


def labels_of(args: argparse.Namespace, table: TextTable) -> dict[str, str]:
    """The columns that hold labels, by the argument of the test they are for; positions are those of a table."""
    given = {name: getattr(args, name, None) for name in ("blocks", "groups")}
    return {name: column_of(table, one, f"--{name}") for name, one in given.items() if one is not None}


def labels_in(tables: Sequence[TextTable], labels: dict[str, str]) -> dict[str, Any]:
    """The labels of samples, for each argument of the test those in every table."""
    return {name: tuple(table.labels(column) for table in tables) for name, column in labels.items()}


def apart(labels: dict[str, str], names: list[str], option: str) -> None:
    """Raise where labels are among the columns that were asked for."""
    for label, column in labels.items():
        if column in names:
            raise ValueError(f"column {column!r} is in both --{label} and {option}; labels are not data")


def given_columns(table: TextTable, args: argparse.Namespace) -> list[str]:
    """The columns that ``--given`` names."""
    return [] if args.given is None else table.select(args.given)


def different(x: Sequence[Any], y: Sequence[Any], other: str = "--y") -> None:
    """Raise where a column is in both of two variables, of ``--x`` and of the ``other`` option."""
    for name in x:
        if name in y:
            raise ValueError(f"column {name!r} is in both --x and {other}: a variable is never independent of itself")


def sample_columns(
    tables: Sequence[TextTable], wanted: str | None, labels: dict[str, str], types: Mapping[str, Any]
) -> list[str]:
    """The columns of samples that are tested: those named by ``--columns``, or all but the labels and the dropped."""
    if wanted is None:
        return matched_columns(tables, [*labels.values(), *dropped(types)])
    names = tables[0].select(wanted)
    apart(labels, names, "--columns")
    return without_dropped(names, types)


def variables_in(table: TextTable, labels: dict[str, str], types: Mapping[str, Any]) -> list[str]:
    """The columns of a table but for the labels and those that are dropped."""
    return [name for name in table.names if name not in (*labels.values(), *dropped(types))]


def dropped(types: Mapping[str, Any]) -> list[str]:
    """The columns that ``--types`` leaves out."""
    return [name for name, kind in types.items() if kind == DROP]


def without_dropped(names: Sequence[str], types: Mapping[str, Any]) -> list[str]:
    """Those of some columns that ``--types`` does not leave out; raises ValueError where it leaves out all of them."""
    left = [name for name in names if name not in dropped(types)]
    if names and not left:
        raise ValueError(f"--types drops all of the columns asked for ({', '.join(names)}); leave one of them")
    return left


# --- what is in them ----------------------------------------------------------------------------------------


def types_of(args: argparse.Namespace, tables: Sequence[TextTable]) -> dict[str, Any]:
    """What ``--types`` says of the columns; raises ValueError for columns that no table has."""
    types: dict[str, Any] = dict(args.types or {})
    known = list(dict.fromkeys(name for table in tables for name in table.names))
    for name in types:
        choice(name, known, "a column in --types")
    return types


@dataclass(frozen=True, eq=False)
class Data:
    """What a test is given."""

    tables: tuple[Table, ...]  # of samples or variables
    column_types: dict[str, Any]  # how their columns are to be read
    tested: tuple[Table, ...]  # the same without columns that identify rows

    @property
    def sizes(self) -> list[int]:
        """How many columns of each are tested."""
        return [len(table.columns) for table in self.tested]


def samples_from(
    files: Sequence[TextTable], names: Sequence[str], types: Mapping[str, Any], args: argparse.Namespace
) -> Data:
    """The columns ``names`` of several files.

    Raises ValueError for cells, or whole columns, that cannot be tested; the message says where they are.
    """
    return Data(*_read(files, names, types, args))


def samples_in(
    paths: Sequence[str], args: argparse.Namespace, what: str
) -> tuple[list[TextTable], Data, dict[str, Any]]:
    """The files of several samples, the columns that are tested, and the labels for each argument of the test.

    It raises as `samples_from`.
    """
    files = read_samples(paths, args, what)
    labels, types = labels_of(args, files[0]), types_of(args, files)
    data = samples_from(files, sample_columns(files, args.columns, labels, types), types, args)
    return files, data, labels_in(files, labels)


def variables_from(
    file: TextTable, variables: Sequence[Sequence[str]], types: Mapping[str, Any], args: argparse.Namespace
) -> Data:
    """The columns of several variables in one file; raises as `samples_from`."""
    read = [_read([file], names, types, args) for names in variables]
    asked = {name: kind for one in read for name, kind in one[1].items()}
    return Data(tuple(one[0][0] for one in read), asked, tuple(one[2][0] for one in read))


def variables_asked(path: str, args: argparse.Namespace, sides: Sequence[str]) -> tuple[TextTable, Data]:
    """A file, and the variables in it that options name; the first shares no column with the others."""
    file = read_table(path, args)
    types, (first, *others) = types_of(args, [file]), [file.select(getattr(args, side)) for side in sides]
    for side, other in zip(sides[1:], others, strict=True):
        different(first, other, f"--{side}")
    return file, variables_from(file, [first, *others], types, args)


def _read(
    files: Sequence[TextTable], names: Sequence[str], types: Mapping[str, Any], args: argparse.Namespace
) -> tuple[tuple[Table, ...], dict[str, Any], tuple[Table, ...]]:
    """The tables, the types of their columns, and the tables without columns that identify rows."""
    if not names:
        raise ValueError(f"no column of {files[0].source} is left to test")
    names = without_dropped(names, types)
    own = {name: kind for name, kind in types.items() if name in names}
    tables = tuple(file.columns(names, own) for file in files)
    # what cannot be tested together is told by the names of the files, before the test calls them X and Y
    try:
        tested = pooled_tables(tables, [file.source for file in files], own).table.names
    except ValueError as error:
        raise ValueError(f"{error}{files[0].parted()}") from None
    if args.nan_policy == "raise":
        given = any(getattr(args, name, None) is not None for name in ("given", "covariates"))
        for file, table in zip(files, tables, strict=True):
            file.require_complete(table, tested, given=given)
    kept = (tuple(column for column in table.columns if column.name in tested) for table in tables)
    return tables, own, tuple(replace(table, columns=columns) for table, columns in zip(tables, kept, strict=True))
