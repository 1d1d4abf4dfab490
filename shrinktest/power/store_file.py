"""The files of studies: what studies of each kind keep, and which files can be theirs."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shrinktest._check import as_path

#: What the number belongs to (for a power study n, null, trial, label of the estimator), the number, seconds
Row = tuple[Any, ...]

FORMAT = 1


@dataclass(frozen=True)
class Kind:
    """What studies of one kind keep."""

    # what it is and what it counts, in words
    study: str
    number: str
    application: int  # stands in the header of the file, by which SQLite files tell what they are for
    # columns that name a row, as SQL declares them; those whose names start with "is_" are true or false
    keys: tuple[str, ...]
    value: str  # the column of the number

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the key columns."""
        return tuple(key.split()[0] for key in self.keys)

    def schema(self) -> tuple[str, ...]:
        """Statements that make an empty store."""
        columns = ", ".join((*self.keys, self.value, "seconds REAL NOT NULL"))
        return (
            "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
            "CREATE TABLE estimators (label TEXT PRIMARY KEY, definition TEXT NOT NULL) WITHOUT ROWID",
            f"CREATE TABLE trials ({columns}, PRIMARY KEY ({', '.join(self.names)})) WITHOUT ROWID",
            f"PRAGMA application_id = {self.application}",
            f"PRAGMA user_version = {FORMAT}",
        )

    def row(self, values: Iterable[Any]) -> Row:
        """A row as it was before SQLite made numbers of its truth values."""
        keyed = zip((*self.names, "", ""), values, strict=True)
        return tuple(bool(value) if name.startswith("is_") else value for name, value in keyed)


POWER = Kind(
    "power study",
    "p-value",
    0x53686E6B,
    ("n INTEGER", "is_null INTEGER", "trial INTEGER", "estimator TEXT"),
    "pvalue REAL NOT NULL CHECK (pvalue > 0 AND pvalue <= 1)",
)
RISK = Kind(
    "risk study",
    "loss",
    0x53686E52,
    ("kernel TEXT", "n INTEGER", "d INTEGER", "trial INTEGER", "estimator TEXT"),
    "loss REAL NOT NULL CHECK (loss >= 0)",
)


def check_store(path: str | os.PathLike[str] | None, kind: Kind = POWER) -> None:
    """Raise what `Store` would for a file that cannot become, or is not, a store of this kind; touches nothing.

    So that a study says it before anything else takes time.
    """
    if path is not None:
        check_file(as_path(path, "store"), kind, read_only=False)


def check_file(path: Path, kind: Kind, read_only: bool) -> None:
    """Raise unless the file is a store, or can become one; SQLite, which might change it, has not touched it yet."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a directory; a store is a file", str(path))
    if not path.exists():
        if read_only:
            raise FileNotFoundError(errno.ENOENT, "there is no such store", str(path))
        if not path.absolute().parent.is_dir():
            said = f"there is no folder {path.parent} for the store; make it first, or name another store"
            raise FileNotFoundError(errno.ENOENT, said, str(path))
        _check_folder(path)
        return
    header = _header(path)
    if header and not (header.startswith(b"SQLite format 3\0") and _number(header, 68) == kind.application):
        raise ValueError(f"{path} is not the store of a {kind.study}; it is left as it is: name another file")
    if header and _number(header, 60) > FORMAT:
        raise ValueError(f"store {path} was written by a newer version of shrinktest; update this one")
    # the bits as well, because the superuser may write to everything
    if read_only:
        return
    if not (path.stat().st_mode & 0o222 and os.access(path, os.W_OK)):
        raise PermissionError(errno.EACCES, "is read-only; allow writing to the store, or name another one", str(path))
    _check_folder(path)


def _check_folder(path: Path) -> None:
    """Raise where nothing can be written beside a store, as SQLite does while it writes to one."""
    if not os.access(path.absolute().parent, os.W_OK):
        said = f"nothing can be written to its folder, {path.parent}; allow it, or name another store"
        raise PermissionError(errno.EACCES, said, str(path))


def kind_of(path: Path) -> Kind:
    """The kind of a store; that of power studies for what is none, which is then refused."""
    header = _header(path) if path.is_file() else b""
    return RISK if len(header) == 100 and _number(header, 68) == RISK.application else POWER


def _header(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(100)  # https://www.sqlite.org/fileformat.html, section 1.3


def _number(header: bytes, offset: int) -> int:
    return int.from_bytes(header[offset : offset + 4], "big")
