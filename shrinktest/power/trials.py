"""Trials of studies: run by any number of workers, kept in one SQLite file, resumed and merged."""

from __future__ import annotations

import errno
import json
import os
import re
import sqlite3
import sys
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

from shrinktest._check import as_path
from shrinktest._parallel import n_workers
from shrinktest._version import __version__
from shrinktest._warn import warn_user

#: What a number belongs to (n, null, trial and label in a power study), the number, and the seconds it took.
Row = tuple[Any, ...]

_FORMAT = 1  # of the file
_SECONDS = 1.0  # between commits: what a kill can lose
_PATIENCE = 60.0  # seconds to wait for another process that writes to the same store
_AND = " and "  # between versions
_AT_ONCE = 8  # tasks per process, if joblib returns their rows together


@dataclass(frozen=True)
class Kind:
    """Columns and names of the studies of one kind."""

    study: str
    number: str
    application: int  # by which SQLite files tell what they are for
    keys: tuple[str, ...]  # columns that name a row; those that start with "is_" are true or false
    value: str

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the key columns."""
        return tuple(key.split()[0] for key in self.keys)


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


# --- the store ----------------------------------------------------------------------------------------------


def check_store(path: str | os.PathLike[str] | None, kind: Kind, read_only: bool = False) -> None:
    """Raise unless the file is a store of this kind, or can become one; nothing is written."""
    if path is None:
        return
    path = as_path(path, "store")
    folder, exists = path.absolute().parent, path.exists()  # once, as another process may make it meanwhile
    if not read_only and not (exists and path.stat().st_mode & 0o222 and os.access(path, os.W_OK)):
        # the mode as well, because root may write to everything
        if exists or not os.access(folder, os.W_OK):
            missing = not folder.is_dir()
            code, fault = (errno.ENOENT, "has no folder") if missing else (errno.EACCES, "cannot be written to")
            raise OSError(code, f"store {fault}; name another store", str(path))
        return
    with path.open("rb") as file:  # which raises for a directory and for a file that is missing
        header = file.read(100)  # https://www.sqlite.org/fileformat.html, section 1.3
    number = {at: int.from_bytes(header[at : at + 4], "big") for at in (60, 68)}
    if header and not (
        header.startswith(b"SQLite format 3\0") and number[68] == kind.application and number[60] <= _FORMAT
    ):
        raise ValueError(f"{path} is not the store of a {kind.study}, or is from a newer version; name another file")


class Store:
    """The rows of one study, in memory or in an SQLite file that survives being killed at any moment."""

    def __init__(self, path: str | os.PathLike[str] | None, kind: Kind, read_only: bool = False) -> None:
        self.path = None if path is None else as_path(path, "store")
        self.kind = kind
        self._pending: list[Row] = []
        self._committed = time.monotonic()
        self._made_by = __version__
        check_store(path, kind, read_only)
        where = "file::memory:" if self.path is None else f"{self.path.absolute().as_uri()}?mode=rwc"
        with _explained(self.path):
            self._connection = sqlite3.connect(where, uri=True, timeout=_PATIENCE, isolation_level=None)
            try:
                fault = self._connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
                if fault != "ok":
                    raise sqlite3.DatabaseError(fault)
            except BaseException:
                self._connection.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self.commit()  # also on Ctrl-C
        finally:
            self._connection.close()

    def arguments(self) -> dict[str, Any]:
        """Arguments of the study; empty for a new store."""
        with _explained(self.path):
            return {key: json.loads(value) for key, value in self._all("meta")}

    def estimators(self) -> dict[str, str]:
        """Labels and definitions of the estimators; empty for a new store."""
        with _explained(self.path):
            return dict(self._all("estimators"))

    def rows(self) -> list[Row]:
        """All rows, in the order of their keys."""
        self.commit()
        boolean = [name.startswith("is_") for name in (*self.kind.names, "", "")]
        with _explained(self.path):
            return [
                tuple(bool(value) if truth else value for value, truth in zip(row, boolean, strict=True))
                for row in self._all("trials")
            ]

    def claim(self, arguments: Mapping[str, Any], estimators: Mapping[str, str], made_by: str | None = None) -> None:
        """Assign the store to a study; raise ValueError if it belongs to another study.

        More estimators extend it.  ``made_by`` are the versions that computed its rows, by default this one.
        """
        self._made_by = made_by or __version__
        with self._transaction() as execute:  # also reads, or another process might claim it in between
            stored, known = self.arguments(), self.estimators()
            version = stored.pop("version", None)
            if stored:
                if made_by is None:
                    _warn_of_version(self.path, version)
                if differences := _differences(stored, arguments, known, estimators):
                    raise ValueError(f"store {self.path} is of another study: {differences}; name another store")
            else:
                columns = ", ".join((*self.kind.keys, self.kind.value, "seconds REAL NOT NULL"))
                execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
                execute("CREATE TABLE estimators (label TEXT PRIMARY KEY, definition TEXT NOT NULL) WITHOUT ROWID")
                key = ", ".join(self.kind.names)
                execute(f"CREATE TABLE trials ({columns}, PRIMARY KEY ({key})) WITHOUT ROWID")
                execute(f"PRAGMA application_id = {self.kind.application}")
                execute(f"PRAGMA user_version = {_FORMAT}")
                for name, value in {**arguments, "version": self._made_by}.items():
                    execute("INSERT INTO meta VALUES (?, ?)", (name, json.dumps(value)))
            for label in sorted(estimators.keys() - known.keys()):
                execute("INSERT INTO estimators VALUES (?, ?)", (label, estimators[label]))

    def add(self, rows: Iterable[Row]) -> None:
        """Keep rows, on disk about a second later; a key that is stored already keeps its number."""
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
                versions = str(self.arguments().get("version", self._made_by)).split(_AND)
                if self._connection.total_changes > before and set(self._made_by.split(_AND)) - set(versions):
                    both = _AND.join(sorted({*versions, *self._made_by.split(_AND)}))
                    execute("UPDATE meta SET value = ? WHERE key = 'version'", (json.dumps(both),))
            self._pending = []
        self._committed = time.monotonic()

    def _all(self, table: str) -> list[Row]:
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
    """Join the stores of one study that ran in parts, for example on several machines.

    The parts have the same arguments except for their trials (``n_trials=range(100)`` on one machine and
    ``n_trials=range(100, 200)`` on the other), estimators, sample sizes or ``with_null``.  The whole study,
    ``power_study(..., n_trials=200, store=target)``, then finds everything done.  Risk studies are merged likewise.

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
    shrinktest.risk.risk_study : Studies of risk.

    Examples
    --------
    >>> import os, tempfile
    >>> from shrinktest.power import merge, power_study
    >>> def part(trials, store):
    ...     return power_study("mean-shift", "kme", 10, n_trials=trials, store=store, workers=1, progress=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first, second, both = (os.path.join(folder, name) for name in ("1.sqlite", "2.sqlite", "both.sqlite"))
    ...     parts = part(range(3), first), part(range(3, 6), second)
    ...     merge(both, first, second)
    ...     part(6, both).to_csv() == part(6, None).to_csv()
    True
    """
    paths, into = [as_path(path, "a source") for path in sources], as_path(target, "target")
    if into.exists() and into.stat().st_size:
        paths.insert(0, into)
    if not paths:
        raise ValueError("merge needs at least one store to join: merge(target, source, ...)")
    study: dict[str, Any] = {}
    estimators: dict[str, str] = {}
    rows: dict[Row, Row] = {}
    versions: set[str] = set()
    kind = _kind_of(paths[0])
    for path in paths:
        with Store(path, kind, read_only=True) as part:
            arguments, labels, stored = part.arguments(), part.estimators(), part.rows()
        version = arguments.pop("version", None)
        if arguments:
            _warn_of_version(path, version)
        versions |= set(str(version).split(_AND))
        differences = _differences(study or arguments, arguments, estimators, labels) if arguments else "it is empty"
        for row in stored:
            known = rows.setdefault(row[:-2], row)
            if known[-2] != row[-2] and not differences:
                key = ", ".join(f"{n.removeprefix('is_')}={v}" for n, v in zip(kind.names, row[:-2], strict=True))
                differences = f"{kind.number} {row[-2]:g}, stored {known[-2]:g}, for {key}"
        if differences:
            raise ValueError(f"{path} cannot be merged with {paths[0]}: {differences}; nothing was merged")
        study = arguments
        estimators |= labels
    with Store(target, kind) as store:
        store.claim(study, estimators, made_by=_AND.join(sorted(versions)))
        store.add(rows.values())


def _kind_of(path: Path) -> Kind:
    with path.open("rb") as file:
        return RISK if int.from_bytes(file.read(100)[68:72], "big") == RISK.application else POWER


def _differences(
    stored: Mapping[str, Any], arguments: Mapping[str, Any], known: Mapping[str, str], estimators: Mapping[str, str]
) -> str:
    """Arguments, and estimators with the same label, that differ, in words and without digests of data."""
    pairs = {key: (stored.get(key), arguments.get(key)) for key in {**stored, **arguments}}
    pairs |= {f"estimator {label!r}": (known[label], estimators[label]) for label in known if label in estimators}
    shown = []
    for key, values in pairs.items():
        if values[0] != values[1]:
            before, now = ("the default" if v is None else re.sub(r", (sha256 )?[0-9a-f]{8,12}\b", "", str(v))
                           for v in values)  # fmt: skip
            text = f"stored {before}, asked {now}"
            shown.append(f"{key}: {text}" if before != now and len(text) <= 320 else f"{key} has other values")
    return "; ".join(shown)


def _warn_of_version(path: Path | None, version: str | None) -> None:
    if version != __version__:
        warn_user(f"store {path} was written by shrinktest {version}; numbers of version {__version__} may differ")


@contextmanager
def _explained(path: Path | None) -> Iterator[None]:
    """Turn SQLite's errors into OSError for a file that cannot be used, and ValueError for a damaged one."""
    try:
        yield
    except (sqlite3.DatabaseError, json.JSONDecodeError, UnicodeDecodeError) as error:
        # operational is: locked, full, read-only, gone; and text that Python cannot read, without a code of SQLite's
        if isinstance(error, sqlite3.OperationalError) and hasattr(error, "sqlite_errorcode"):
            raise OSError(errno.EIO, str(error), str(path)) from error
        raise ValueError(f"store {path} is damaged ({error}); restore a copy, or name another store") from error


# --- the runner ---------------------------------------------------------------------------------------------


def run_trials(
    run: Callable[..., Any],
    tasks: list[tuple[Any, ...]],
    keep: Callable[[Any], Any],
    *,
    total: int,
    workers: int | None,
    progress: bool,
) -> None:
    """Call ``run(*task)`` for every task, on the workers of joblib, and ``keep`` every result as it comes.

    ``run`` draws from the seeds in its task only, so that results depend neither on workers nor on their order.
    ``total`` counts tasks done earlier as well.  Without ``workers`` joblib decides if it is configured; otherwise
    every core is used.
    """
    with bar("trials", progress, total, total - len(tasks)) as shown, closing(_spread(run, tasks, workers)) as results:
        for result in results:
            keep(result)
            shown.update()


def _spread(run: Callable[..., Any], tasks: list[tuple[Any, ...]], workers: int | None) -> Generator[Any]:
    """Results in about the order in which they are finished."""
    from joblib import Parallel, delayed, effective_n_jobs, parallel_config
    from joblib.parallel import BACKENDS, DEFAULT_BACKEND, get_active_backend

    backend, configured = get_active_backend()
    if configured is None and isinstance(backend, BACKENDS[DEFAULT_BACKEND]):
        # nobody configured joblib: one process per core with one thread each, if processes are allowed
        threads = {"inner_max_num_threads": 1} if backend.supports_inner_max_num_threads else {}
        with parallel_config(DEFAULT_BACKEND, n_jobs=workers or n_workers(None), **threads):
            parallel = Parallel(return_as="generator_unordered")
    elif not backend.supports_return_generator:  # multiprocessing, and what is built on it
        step = _AT_ONCE * effective_n_jobs(workers)
        with Parallel(n_jobs=workers) as parallel:
            for k in range(0, len(tasks), step):
                yield from parallel(delayed(run)(*task) for task in tasks[k : k + step])
        return
    else:
        parallel = Parallel(n_jobs=workers, return_as="generator_unordered")
    running = parallel(delayed(run)(*task) for task in tasks)  # sent in batches of about a second
    try:
        for result in running:  # noqa: UP028 - `yield from` would close `running` before we get to warnings
            yield result
    finally:
        with warnings.catch_warnings():  # joblib warns that work is cancelled
            warnings.simplefilter("ignore")
            running.close()


def once_heard(run: Callable[..., Any], *task: Any) -> Callable[..., Any]:
    """Run one task, and return the function for the others without the warnings that this one raised."""
    with warnings.catch_warnings(record=True) as heard:
        run(*task)
    for warning in heard:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    messages = tuple(dict.fromkeys(str(warning.message) for warning in heard))
    return partial(_without_warnings, run, messages) if messages else run


def _without_warnings(run: Callable[..., Any], messages: tuple[str, ...], *task: Any) -> Any:
    with warnings.catch_warnings():
        for message in messages:
            warnings.filterwarnings("ignore", re.escape(message))
        return run(*task)


def bar(what: str, show: bool, total: int | None = None, done: int = 0) -> Any:
    """Progress bar (tqdm), which leaves a line behind unless another bar is above it."""
    from tqdm.auto import tqdm

    show = show and sys.stderr is not None  # None: a program without a console
    return tqdm(total=total, initial=done, desc=what, unit="", smoothing=0.0, disable=not show, leave=None)
