"""The file of a study: every number, and the arguments it belongs to.  Knows no statistics."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from shrinktest._check import as_path
from shrinktest._version import __version__
from shrinktest._warn import warn_user
from shrinktest.power.store_file import POWER, Kind, Row, check_file, kind_of

_SECONDS = 1.0  # between commits: what a kill can lose
_SHOWN = 160  # letters of a value in a message
_AND = " and "  # between versions
_PATIENCE = 60.0  # seconds to wait for another process that writes to the same store


class Store:
    """The rows of one study, in memory or in an SQLite file that survives being killed at any moment.

    A file that is not a store, is damaged, is read-only or belongs to another study is left as it is: ValueError for
    one that is no store, or damaged, and OSError for one that cannot be opened or written to.  With ``read_only`` it
    must exist and may be write-protected; otherwise it is made if it does not exist.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, kind: Kind = POWER, *, read_only: bool = False
    ) -> None:
        self.path = None if path is None else as_path(path, "store")
        self.kind = kind
        self._pending: list[Row] = []
        self._committed = time.monotonic()
        self._made_by = __version__  # or the versions that made what is added
        if self.path is not None:
            check_file(self.path, kind, read_only)
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
        return dict(stored)

    def estimators(self) -> dict[str, str]:
        """Labels and definitions of the estimators; empty for a new store."""
        with _explained(self.path):
            known = self._all("estimators")
        return dict(known)

    def rows(self) -> list[Row]:
        """All rows, in the order of their keys."""
        self.commit()
        with _explained(self.path):
            return [self.kind.row(values) for values in self._all("trials")]

    def claim(self, arguments: Mapping[str, Any], estimators: Mapping[str, str], made_by: str | None = None) -> None:
        """Make the store that of a study, or find that it is; more estimators extend it.

        Raises ValueError if it is that of another study, and warns if another version of the package wrote it.
        ``made_by`` are the versions that made its rows, where that is known and was told; by default this one.
        """
        self._made_by = made_by or __version__
        with self._transaction() as execute:  # also reads, or another process might claim it in between
            stored, known = self.arguments(), self.estimators()
            version = stored.pop("version", None)
            if stored:
                if made_by is None:
                    _warn_of_version(self.path, version)
                differences = _differences(stored, arguments, known, estimators)
                if differences:
                    raise ValueError(
                        f"store {self.path} is of another study: {'; '.join(differences)}; ask for what is stored, or "
                        "name another store"
                    )
            else:
                for statement in self.kind.schema():
                    execute(statement)
                for key, value in {**arguments, "version": self._made_by}.items():
                    execute("INSERT INTO meta VALUES (?, ?)", (key, json.dumps(value)))
            for label in sorted(estimators.keys() - known.keys()):
                execute("INSERT INTO estimators VALUES (?, ?)", (label, estimators[label]))

    def add(self, rows: Iterable[Row]) -> None:
        """Keep rows; they are on disk about a second later.  A key that is there already stays as it is."""
        self._pending.extend(rows)
        if time.monotonic() - self._committed >= _SECONDS:
            self.commit()

    def commit(self) -> None:
        """Write what is not on disk yet."""
        if self._pending:
            marks = ", ".join("?" * (len(self.kind.keys) + 2))
            with self._transaction() as execute:
                before = self._connection.total_changes
                self._connection.executemany(f"INSERT OR IGNORE INTO trials VALUES ({marks})", self._pending)
                if self._connection.total_changes > before:
                    self._note_versions(execute)
            self._pending = []
        self._committed = time.monotonic()

    def _note_versions(self, execute: Any) -> None:
        """The versions that made the rows are those that did and those that do."""
        before = str(self.arguments().get("version", self._made_by)).split(_AND)
        if made_by := set(self._made_by.split(_AND)) - set(before):
            execute(
                "UPDATE meta SET value = ? WHERE key = 'version'", (json.dumps(_AND.join(sorted({*before, *made_by}))),)
            )

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
    paths = [as_path(path, "every store to join") for path in sources]
    into = as_path(target, "target")
    if into.exists() and into.stat().st_size:
        paths.insert(0, into)
    study: dict[str, Any] = {}
    estimators: dict[str, str] = {}
    rows: dict[tuple[Any, ...], Row] = {}
    versions: set[str] = set()
    kind = kind_of(paths[0])
    for path in paths:
        with Store(path, kind, read_only=True) as shard:
            arguments, labels, found = shard.arguments(), shard.estimators(), shard.rows()
        if not arguments:
            raise ValueError(f"{path} is empty; nothing was merged")
        version = arguments.pop("version", None)
        _warn_of_version(path, version)
        versions |= set(str(version).split(_AND))  # of what was merged before, several
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
        store.claim(study, estimators, made_by=_AND.join(sorted(versions)))
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


def _warn_of_version(path: Path | None, version: str | None) -> None:
    if version != __version__:
        warn_user(
            f"store {path} was written by shrinktest {version}, and this is {__version__}: their numbers may differ"
        )


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
