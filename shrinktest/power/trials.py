"""Trials of studies: numbers, seeds, the workers that run them, and the SQLite file."""

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
from numbers import Integral
from pathlib import Path
from typing import Any, Self

from shrinktest._check import MAX_SIZE, as_path, count, flag
from shrinktest._parallel import n_workers
from shrinktest._random import as_rng
from shrinktest._version import __version__
from shrinktest._warn import warn_user

#: The data set and the label that a number belongs to, the number, and the seconds it took.
Row = tuple[Any, ...]

_FORMAT = 2  # of the file
_SECONDS = 1.0  # between commits: what a kill can lose
_PATIENCE = 60.0  # seconds to wait for another process that writes to the same store
_AT_ONCE = 8  # tasks per process, if joblib returns their rows together
_AND = " and "  # between versions
_LABEL = "estimator "  # begins the names of settings of which a study may get more


@dataclass(frozen=True)
class Kind:
    """Columns and names of the studies of one kind."""

    study: str
    number: str
    application: int  # identifies SQLite files of this kind
    cell: tuple[str, ...]  # columns that identify a data set
    label: tuple[str, ...]  # columns that identify what was applied to it
    value: str

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the columns that identify a row."""
        return tuple(column.split()[0] for column in (*self.cell, *self.label))


POWER = Kind(
    "power study",
    "p-value",
    0x53686E6B,
    ("n INTEGER", "is_null INTEGER", "trial INTEGER"),
    ("estimator TEXT",),
    "pvalue REAL NOT NULL CHECK (pvalue > 0 AND pvalue <= 1)",
)
RISK = Kind(
    "risk study",
    "loss",
    0x53686E52,
    ("n INTEGER", "d INTEGER", "trial INTEGER"),
    ("kernel TEXT", "estimator TEXT"),
    "loss REAL NOT NULL CHECK (loss >= 0)",
)


# --- arguments that studies share -----------------------------------------------------------------


def trial_numbers(n_trials: Any) -> range:
    """Return the numbers of the trials, from a count or a range."""
    trials = (
        n_trials if isinstance(n_trials, range) else range(count(n_trials, "n_trials", 1, MAX_SIZE))
    )
    if not trials or trials[0] < 0 or trials[-1] < 0:
        raise ValueError(f"n_trials={n_trials!r} must hold numbers of trials from 0 on")
    return trials


def as_run(workers: Any, progress: Any) -> dict[str, Any]:
    """Return the number of processes, None for the default, and whether to show a bar."""
    return {
        "workers": None if workers is None else n_workers(workers),
        "progress": flag(progress, "progress"),
    }


def seed_from(rng: Any) -> int:
    """Return the seed of a study: the number given, or 128 bits from another source."""
    generator = as_rng(rng)
    return int(rng) if isinstance(rng, Integral) else int.from_bytes(generator.bytes(16), "little")


# --- the store ------------------------------------------------------------------------------------


def check_store(path: str | os.PathLike[str] | None, kind: Kind, read_only: bool = False) -> None:
    """Raise an error unless the file is a store of this kind, or can become one.

    Nothing is written.
    """
    if path is None:
        return
    path = as_path(path, "store")
    if not path.exists() and not read_only:
        if not path.absolute().parent.is_dir():
            raise FileNotFoundError(
                errno.ENOENT, "store has no folder; name another store", str(path)
            )
        return
    # the mode as well, because root may write to everything
    if not (read_only or (os.access(path, os.W_OK) and path.stat().st_mode & 0o222)):
        raise PermissionError(
            errno.EACCES, "store cannot be written to; name another store", str(path)
        )
    with path.open("rb") as file:  # which raises for a directory and for a file that is missing
        header = file.read(100)  # https://www.sqlite.org/fileformat.html, section 1.3
    version, application = (int.from_bytes(header[at : at + 4], "big") for at in (60, 68))
    if header and not (
        header.startswith(b"SQLite format 3\0")
        and (version, application) == (_FORMAT, kind.application)
    ):
        raise ValueError(
            f"{path} is not the store of a {kind.study}, or is from another version; name another "
            "file"
        )


class Store:
    """Rows of one study, in memory or in an SQLite file.

    The file survives being killed at any moment.
    """

    def __init__(self, path: str | os.PathLike[str] | None, kind: Kind) -> None:
        self.path = None if path is None else as_path(path, "store")
        self.kind = kind
        self._pending: list[Row] = []
        self._committed = time.monotonic()
        where = (
            "file::memory:" if self.path is None else f"{self.path.absolute().as_uri()}?mode=rwc"
        )
        with self._explained():
            self._connection = sqlite3.connect(
                where, uri=True, timeout=_PATIENCE, isolation_level=None
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self.commit()  # also on Ctrl-C
        finally:
            self._connection.close()

    def settings(self) -> dict[str, Any]:
        """Return the settings of the study by name; empty for a new store."""
        with self._explained():
            return {name: json.loads(value) for name, value in self._all("settings")}

    def rows(self) -> list[Row]:
        """Return all rows, in the order of their keys."""
        self.commit()
        with self._explained():
            return self._all("trials")

    def claim(self, settings: Mapping[str, Any]) -> None:
        """Assign the store to a study; raise ValueError if it belongs to another one.

        Settings that are new estimators extend it.
        """
        with (
            self._transaction() as execute
        ):  # also reads, or another process might claim it in between
            stored = self.settings()
            if stored:
                if "version" not in settings:  # which merged studies have, and were warned of
                    _warn_of_version(self.path, stored)
                if differences := _differences(stored, settings):
                    raise ValueError(
                        f"store {self.path} is of another study: {differences}; name another store"
                    )
            else:
                columns = ", ".join(
                    (*self.kind.cell, *self.kind.label, self.kind.value, "seconds REAL NOT NULL")
                )
                execute(
                    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT "
                    "ROWID"
                )
                execute(
                    f"CREATE TABLE trials ({columns}, PRIMARY KEY ({', '.join(self.kind.keys)})) "
                    "WITHOUT ROWID"
                )
                execute(f"PRAGMA application_id = {self.kind.application}")
                execute(f"PRAGMA user_version = {_FORMAT}")
            versions = _AND.join(
                which.get("version", __version__) for which in (settings, stored)
            ).split(_AND)
            for name, value in {**settings, "version": _AND.join(sorted(set(versions)))}.items():
                if stored.get(name) != value:
                    execute(
                        "INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, json.dumps(value))
                    )

    def add(self, rows: Iterable[Row]) -> None:
        """Keep rows, on disk about a second later.

        A key that is stored already keeps its number.
        """
        self._pending.extend(rows)
        if time.monotonic() - self._committed >= _SECONDS:
            self.commit()

    def commit(self) -> None:
        """Write what is not on disk yet."""
        if self._pending:
            marks = ", ".join("?" * (len(self.kind.keys) + 2))
            with self._transaction():
                self._connection.executemany(
                    f"INSERT OR IGNORE INTO trials VALUES ({marks})", self._pending
                )
            self._pending = []
        self._committed = time.monotonic()

    def _all(self, table: str) -> list[Row]:
        exists = self._connection.execute(
            "SELECT 1 FROM sqlite_master WHERE name = ?", (table,)
        ).fetchone()
        return self._connection.execute(f"SELECT * FROM {table}").fetchall() if exists else []

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        with self._explained():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection.execute
            except BaseException:
                if (
                    self._connection.in_transaction
                ):  # SQLite rolls back by itself when the disk is full
                    self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Convert SQLite errors to OSError or ValueError.

        OSError is for a file that cannot be used, and ValueError for a damaged one.
        """
        try:
            yield
        except sqlite3.OperationalError as error:  # locked, full, read-only, gone
            raise OSError(errno.EIO, str(error), str(self.path)) from error
        except (sqlite3.DatabaseError, json.JSONDecodeError) as error:
            raise ValueError(
                f"store {self.path} is damaged ({error}); restore a copy, or name another store"
            ) from error


def merge(target: str | os.PathLike[str], *sources: str | os.PathLike[str]) -> None:
    """Join the stores of one study that ran in parts, perhaps on several machines.

    The parts share their arguments except for their trials (``n_trials=range(100)`` on one
    machine and ``n_trials=range(100, 200)`` on the other), estimators, sample sizes or
    ``with_null``.  The whole study, ``power_study(..., n_trials=200, store=target)``, then finds
    all trials done.  Risk studies are merged likewise.

    Parameters
    ----------
    target : str or path
        The store to write; if it exists, its rows remain.
    *sources : str or path
        The stores to join, which are not changed.

    Returns
    -------
    None
        The result is the file ``target``, which a study reads with ``store=target``.

    Raises
    ------
    ValueError
        If no store is named, or the stores differ in anything but their parts; nothing is merged
        then.
    OSError
        If a file cannot be read or written.

    Examples
    --------
    >>> import os, tempfile
    >>> from shrinktest.power import merge, power_study
    >>> def part(trials, store):
    ...     return power_study(
    ...         "mean-shift", "kme", 10, n_trials=trials, store=store, workers=1, rng=0
    ...     )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first, second, both = (
    ...         os.path.join(folder, name) for name in ("1.sqlite", "2.sqlite", "both.sqlite")
    ...     )
    ...     parts = part(range(3), first), part(range(3, 6), second)
    ...     merge(both, first, second)
    ...     part(6, both).to_csv() == part(6, None).to_csv()
    True
    """
    paths = [as_path(path, "a source") for path in sources]
    into = as_path(target, "target")
    if into.exists() and into.stat().st_size:
        paths.insert(0, into)
    if not paths:
        raise ValueError("merge needs at least one store to join: merge(target, source, ...)")
    with paths[0].open("rb") as file:
        kind = RISK if int.from_bytes(file.read(100)[68:72], "big") == RISK.application else POWER
    settings: dict[str, Any] = {}
    rows: dict[Row, Row] = {}
    versions: list[str] = []
    for path in paths:
        check_store(path, kind, read_only=True)
        with Store(path, kind) as part:
            stored = part.settings()
            numbers = part.rows()
        fault = _differences(settings or stored, stored) if stored else "it is empty"
        for row in numbers:
            known = rows.setdefault(row[:-2], row)
            if known[-2] != row[-2]:
                key = ", ".join(
                    f"{name}={value}" for name, value in zip(kind.keys, row[:-2], strict=True)
                )
                fault = fault or f"{kind.number} {row[-2]:g}, stored {known[-2]:g}, for {key}"
        if fault:
            raise ValueError(
                f"{path} cannot be merged with {paths[0]}: {fault}; nothing was merged"
            )
        _warn_of_version(path, stored)
        versions.append(stored["version"])
        settings |= stored
    with Store(target, kind) as store:
        store.claim({**settings, "version": _AND.join(versions)})
        store.add(rows.values())


def _differences(stored: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """Describe settings that differ, without digests of data.

    Estimators of one study only are no difference.
    """
    shown = []
    for name in {**stored, **settings}:
        values = [which.get(name) for which in (stored, settings)]
        if (
            values[0] == values[1]
            or name == "version"
            or (name.startswith(_LABEL) and None in values)
        ):
            continue
        before, now = (
            "the default"
            if value is None
            else re.sub(r", (sha256 )?[0-9a-f]{8,12}\b", "", str(value))
            for value in values
        )
        text = f"stored {before}, got {now}"
        shown.append(
            f"{name}: {text}" if before != now and len(text) <= 320 else f"{name} has other values"
        )
    return "; ".join(shown)


def _warn_of_version(path: Path | None, settings: Mapping[str, Any]) -> None:
    if (version := settings["version"]) != __version__:
        warn_user(
            f"store {path} was written by shrinktest {version}; numbers of version {__version__} "
            "may differ"
        )


# --- the runner -----------------------------------------------------------------------------------


def run_study(
    kind: Kind,
    run: Callable[..., Iterable[Row]],
    cells: list[Row],
    labels: Iterable[Row],
    *,
    settings: Mapping[str, Any],
    definitions: Mapping[str, str],
    store: str | os.PathLike[str] | None,
    rng: Any,
    workers: int | None,
    progress: bool,
) -> tuple[list[Row], int]:
    """Run what a store lacks of a study; return the rows of the study and its seed.

    ``run(*cell, labels, seed)`` returns the rows of one data set, which depend on nothing else.
    """
    with Store(store, kind) as trials_done:
        stored = trials_done.settings().get("seed")
        seed = seed_from(rng) if rng is not None or stored is None else stored
        estimators = {f"{_LABEL}{label!r}": definition for label, definition in definitions.items()}
        trials_done.claim({**settings, "seed": seed, **estimators})
        done = {row[:-2] for row in trials_done.rows()}
        missing = [
            (cell, [label for label in labels if (*cell, *label) not in done]) for cell in cells
        ]
        tasks = [(*cell, members, seed) for cell, members in missing if members]
        run_trials(
            run, tasks, trials_done.add, total=len(cells), workers=workers, progress=progress
        )
        in_study = {(*cell, *label) for cell in cells for label in labels}
        return [row for row in trials_done.rows() if row[:-2] in in_study], seed


def run_trials(
    run: Callable[..., Any],
    tasks: list[tuple[Any, ...]],
    keep: Callable[[Any], Any],
    *,
    total: int,
    workers: int | None,
    progress: bool,
) -> None:
    """Call ``run(*task)`` for every task on joblib workers, and ``keep`` each result.

    Results are kept as they come.

    ``total`` counts tasks done earlier as well.  Without ``workers`` joblib decides if it is
    configured; otherwise every core is used.
    """
    with (
        bar("trials", progress, total, total - len(tasks)) as shown,
        closing(_spread(run, tasks, workers)) as results,
    ):
        for result in results:
            keep(result)
            shown.update()


def _spread(
    run: Callable[..., Any], tasks: list[tuple[Any, ...]], workers: int | None
) -> Generator[Any]:
    """Yield results in about the order in which they are finished."""
    from joblib import Parallel, delayed, effective_n_jobs, parallel_config
    from joblib.parallel import BACKENDS, DEFAULT_BACKEND, get_active_backend

    backend, configured = get_active_backend()
    if configured is None and isinstance(backend, BACKENDS[DEFAULT_BACKEND]):
        # nobody configured joblib: one process per core with one thread each, if processes are
        # allowed
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


def bar(what: str, show: bool, total: int | None = None, done: int = 0) -> Any:
    """Return a progress bar (tqdm), which leaves a line behind unless another bar is above it."""
    from tqdm.auto import tqdm

    show = show and sys.stderr is not None  # None: a program without a console
    return tqdm(
        total=total, initial=done, desc=what, unit="", smoothing=0.0, disable=not show, leave=None
    )
