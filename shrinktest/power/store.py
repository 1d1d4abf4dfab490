"""The file of a study: every number, and the arguments it belongs to.  Knows no statistics."""

from __future__ import annotations

import errno
import json
import os
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from shrinktest._validate import path_of
from shrinktest._version import __version__
from shrinktest._warn import warn_user

#: What the number belongs to (for a power study n, null, trial, label of the estimator), the number, seconds
Row = tuple[Any, ...]

_FORMAT = 1


@dataclass(frozen=True)
class Kind:
    """What studies of one kind keep.

    Parameters
    ----------
    study, number : str
        What it is and what it counts, in words.
    application : int
        Stands in the header of the file, by which SQLite files tell what they are for.
    keys : tuple of str
        Columns that name a row, as SQL declares them; those whose names start with "is_" are true or false.
    value : str
        The column of the number.
    """

    study: str
    number: str
    application: int
    keys: tuple[str, ...]
    value: str

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
            f"PRAGMA user_version = {_FORMAT}",
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
_SECONDS = 1.0  # between commits: what a kill can lose
_SHOWN = 160  # letters of a value in a message
_PATIENCE = 60.0  # seconds to wait for another process that writes to the same store


class Store:
    """The rows of one study, in memory or in an SQLite file that survives being killed at any moment.

    A file that is not a store, is damaged, is read-only or belongs to another study is left as it is.

    Parameters
    ----------
    path : str or path, optional
        The file; None keeps the rows in memory.
    kind : Kind, default POWER
        What the study keeps.
    read_only : bool, default False
        The file must exist and may be write-protected; otherwise it is made if it does not exist.

    Raises
    ------
    ValueError
        For a file that is not a store, or a damaged one.
    OSError
        For a file that cannot be opened or written to.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, kind: Kind = POWER, *, read_only: bool = False
    ) -> None:
        self.path = None if path is None else path_of(path, "store")
        self.kind = kind
        self._pending: list[Row] = []
        self._committed = time.monotonic()
        if self.path is not None:
            _check_file(self.path, kind, read_only)
        self._connection = _connect(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self.commit()  # also on Ctrl-C
        finally:
            self._connection.close()

    def arguments(self) -> dict[str, Any]:
        """The arguments of the study; empty for a new store."""
        with _explained(self.path):
            stored = [(key, json.loads(value)) for key, value in self._all("meta")]
        return {_by_new_names(key): _by_new_names(value) for key, value in stored}

    def estimators(self) -> dict[str, str]:
        """Labels and definitions of the estimators; empty for a new store."""
        with _explained(self.path):
            known = self._all("estimators")
        return {label: _by_new_names(definition) for label, definition in known}

    def rows(self) -> list[Row]:
        """All rows, in the order of their keys."""
        self.commit()
        with _explained(self.path):
            return [self.kind.row(values) for values in self._all("trials")]

    def claim(self, arguments: Mapping[str, Any], estimators: Mapping[str, str]) -> None:
        """Make the store that of a study, or find that it is; more estimators extend it.

        Raises
        ------
        ValueError
            If it is the store of another study; the message lists the differences.

        Warns
        -----
        UserWarning
            If another version of the package wrote it.
        """
        stored, known = self.arguments(), self.estimators()
        if stored:
            _warn_of_version(self.path, stored.pop("version", None))
            differences = _differences(stored, arguments, known, estimators)
            if differences:
                raise ValueError(
                    f"store {self.path} is of another study: {'; '.join(differences)}; ask for what is stored, or name "
                    "another store"
                )
        new = sorted((label, text) for label, text in estimators.items() if label not in known)
        if stored and not new:
            return
        with self._transaction() as execute:
            if not stored:
                for statement in self.kind.schema():
                    execute(statement)
                for key, value in {**arguments, "version": __version__}.items():
                    execute("INSERT INTO meta VALUES (?, ?)", (key, json.dumps(value)))
            for pair in new:
                execute("INSERT INTO estimators VALUES (?, ?)", pair)

    def add(self, rows: Iterable[Row]) -> None:
        """Keep rows; they are on disk about a second later.  A key that is there already stays as it is."""
        self._pending.extend(rows)
        if time.monotonic() - self._committed >= _SECONDS:
            self.commit()

    def commit(self) -> None:
        """Write what is not on disk yet."""
        if self._pending:
            marks = ", ".join("?" * (len(self.kind.keys) + 2))
            with self._transaction():
                self._connection.executemany(f"INSERT OR IGNORE INTO trials VALUES ({marks})", self._pending)
            self._pending = []
        self._committed = time.monotonic()

    def _all(self, table: str) -> list[tuple[Any, ...]]:
        exists = self._connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        return self._connection.execute(f"SELECT * FROM {table}").fetchall() if exists else []

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        with _explained(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection.execute
            except BaseException:
                if self._connection.in_transaction:  # SQLite rolls back by itself when the disk is full
                    self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")


def merge(target: str | os.PathLike[str], *sources: str | os.PathLike[str]) -> None:
    """Join the stores of one study that ran in parts, such as on several machines.

    Run the parts with the same arguments but for their trials, such as ``n_trials=range(100)`` on one machine and
    ``n_trials=range(100, 200)`` on the other, or for their estimators, sample sizes or ``with_null``.  The study that
    asks for all, ``power_study(..., n_trials=200, store=target)``, then finds everything done.  Risk studies likewise.

    Parameters
    ----------
    target : str or path
        The store to write; if it exists, its rows are kept.
    *sources : str or path
        The stores to join; they stay as they are.

    Raises
    ------
    ValueError
        If the stores are not of one study, or disagree about a number; the target is then left as it is.
    OSError
        If a file cannot be read or written.

    See Also
    --------
    shrinktest.power_study : The study itself.
    shrinktest.risk.risk_study : Studies of risk, whose stores are joined in the same way.

    Examples
    --------
    >>> import os, tempfile
    >>> from shrinktest.power import merge, power_study
    >>> def one(trials, store):
    ...     return power_study("mean-shift", "kme", 10, n_trials=trials, store=store, workers=1, progress=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first, second, both = (os.path.join(folder, name) for name in ("1.sqlite", "2.sqlite", "both.sqlite"))
    ...     parts = one(range(3), first), one(range(3, 6), second)
    ...     merge(both, first, second)
    ...     one(6, both).to_csv() == one(6, None).to_csv()
    True
    """
    if not sources:
        raise ValueError("merge needs at least one store to join: merge(target, source, ...)")
    paths = [path_of(path, "every store to join") for path in sources]
    into = path_of(target, "target")
    if into.exists() and into.stat().st_size:
        paths.insert(0, into)
    study: dict[str, Any] = {}
    estimators: dict[str, str] = {}
    rows: dict[tuple[Any, ...], Row] = {}
    kind = _kind_of(paths[0])
    for path in paths:
        with Store(path, kind, read_only=True) as shard:
            arguments, labels, found = shard.arguments(), shard.estimators(), shard.rows()
        if not arguments:
            raise ValueError(f"{path} is empty; nothing was merged")
        _warn_of_version(path, arguments.pop("version", None))
        differences = _differences(study or arguments, arguments, estimators, labels, str(paths[0]), str(path))
        if differences:
            raise ValueError(f"these stores are of different studies: {'; '.join(differences)}; nothing was merged")
        for row in found:
            keys, number = row[:-2], row[-2]
            known = rows.setdefault(keys, row)
            if known[-2] != number:
                where = dict(zip(kind.names, keys, strict=True))
                label = where.pop("estimator")
                at = ", ".join(f"{name.removeprefix('is_')}={value}" for name, value in where.items())
                raise ValueError(
                    f"{path} has {kind.number} {number:g} for {label}, {at}, another store has {known[-2]:g}: "
                    "different code made them; nothing was merged"
                )
        study = arguments
        estimators |= labels
    with Store(target, kind) as store:
        store.claim(study, estimators)
        store.add(rows.values())


def _differences(
    stored: Mapping[str, Any],
    asked: Mapping[str, Any],
    known: Mapping[str, str],
    estimators: Mapping[str, str],
    one: str = "stored",
    other: str = "asked",
) -> list[str]:
    """Arguments, and estimators of one label, that differ; in words."""
    pairs = [(key, stored.get(key), asked.get(key)) for key in {**stored, **asked}]
    pairs += [(f"estimator {label!r}", known[label], estimators[label]) for label in known if label in estimators]
    return [
        f"{key}: {one} {'the default' if a is None else _short(a)}, {other} {'the default' if b is None else _short(b)}"
        for key, a, b in pairs
        if a != b
    ]


def _short(value: Any) -> str:
    """As messages show a value, which may be an array of many numbers."""
    text = str(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]} ... {text[-_SHOWN // 2 :]}"


def _by_new_names(stored: Any) -> Any:
    """What is stored, with the names that have changed since: a study of the version before goes on."""
    if not isinstance(stored, str):
        return stored
    for old, new in ((r"^statistic$|(?<=')statistic(?=': )", "form"), (r"^Decision(?=\()", "Curtailed")):
        stored = re.sub(old, new, stored)
    return stored


def _warn_of_version(path: Path | None, version: str | None) -> None:
    if version != __version__:
        warn_user(
            f"store {path} was written by shrinktest {version}, and this is {__version__}: their numbers may differ"
        )


def _check_file(path: Path, kind: Kind, read_only: bool) -> None:
    """Raise unless the file is a store, or can become one; SQLite, which might change it, has not touched it yet."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a directory; a store is a file", str(path))
    if not path.exists():
        if read_only:
            raise FileNotFoundError(errno.ENOENT, "there is no such store", str(path))
        if not path.absolute().parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "there is no such directory", str(path.parent))
        return
    header = _header(path)
    if header and not (header.startswith(b"SQLite format 3\0") and _number(header, 68) == kind.application):
        raise ValueError(f"{path} is not the store of a {kind.study}; it is left as it is: name another file")
    if header and _number(header, 60) > _FORMAT:
        raise ValueError(f"store {path} was written by a newer version of shrinktest; update this one")
    # the bits as well, because the superuser may write to everything
    if not read_only and not (path.stat().st_mode & 0o222 and os.access(path, os.W_OK)):
        raise PermissionError(errno.EACCES, "is read-only; allow writing to the store, or name another one", str(path))


def _kind_of(path: Path) -> Kind:
    """The kind of a store; that of power studies for what is none, which is then refused."""
    header = _header(path) if path.is_file() else b""
    return RISK if len(header) == 100 and _number(header, 68) == RISK.application else POWER


def _header(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(100)  # https://www.sqlite.org/fileformat.html, section 1.3


def _number(header: bytes, offset: int) -> int:
    return int.from_bytes(header[offset : offset + 4], "big")


def _connect(path: Path | None) -> sqlite3.Connection:
    with _explained(path):
        where = "file::memory:" if path is None else f"{path.absolute().as_uri()}?mode=rwc"
        connection = sqlite3.connect(where, uri=True, timeout=_PATIENCE, isolation_level=None)
        try:
            complaint = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if complaint != "ok":
                raise sqlite3.DatabaseError(complaint)
        except BaseException:
            connection.close()
            raise
    return connection


@contextmanager
def _explained(path: Path | None) -> Iterator[None]:
    """Turn SQLite's errors into ours."""
    try:
        yield
    except (sqlite3.DatabaseError, json.JSONDecodeError, UnicodeDecodeError) as error:
        # operational is: locked, full, read-only, gone; and text that Python cannot read, without a code of SQLite's
        if isinstance(error, sqlite3.OperationalError) and hasattr(error, "sqlite_errorcode"):
            raise OSError(errno.EIO, str(error), str(path)) from error
        raise ValueError(
            f"store {path} is damaged ({error}); it is left as it is: restore a copy, or name another store"
        ) from error
