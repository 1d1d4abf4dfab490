"""Ordered reduction of chunks of rows by threads, an executor or a cluster.

A store can continue it.

``reduce`` calls a function on every chunk, in threads, an executor or a cluster, and folds what it
returns in the order of the chunks.  The bits of the total therefore do not depend on the workers.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar
from zipfile import BadZipFile

import numpy as np

from shrinktest._check import output_path
from shrinktest._parallel import progress_steps

_UNKNOWN = 8  # workers of an executor that does not tell
_EVERY = 20.0  # seconds between writings of a store

T = TypeVar("T")


# --- ordered reduction ----------------------------------------------------------------------------


def reduce(
    work: Callable[..., Any],
    jobs: Iterable[tuple[Any, ...]],
    fold: Callable[[Any, Any], Any],
    total: Any,
    workers: Any = 1,
    *,
    most: float = math.inf,
    store: Store | None = None,
    key: Key | None = None,
) -> Any:
    """Fold ``work(*job)`` of all jobs, in order, into ``total``.

    At most ``most`` jobs are under way at a time.

    The first element of a job is a chunk.  ``workers`` is a number of threads, an executor, a dask
    client, or has ``map``.  ``store`` has the total of an earlier run that was stopped, if it was
    of the same ``key``.
    """
    done = 0
    complete = True
    if store is not None and key is not None and (known := store.get(key)) is not None:
        done, total = known
    try:
        with closing(_in_order(work, islice(jobs, done, None), workers, most)) as results:
            for result in results:
                complete = False  # an interrupt may leave half of a result in the total
                total = fold(total, result)
                done = done + 1
                complete = True
                progress_steps(1)(1)
                if store is not None and key is not None:
                    store.put(key, done, total)
    finally:
        if store is not None and key is not None and complete:
            store.put(key, done, total, now=True)
    return total


def workers_in(workers: Any) -> int:
    """Return how many workers there are."""
    if isinstance(workers, int):
        return workers
    if hasattr(workers, "nthreads"):  # a dask client
        return max(1, sum(workers.nthreads().values()))
    return int(getattr(workers, "_max_workers", None) or _UNKNOWN)


def _in_order(
    work: Callable[..., Any], jobs: Iterator[tuple[Any, ...]], workers: Any, most: float
) -> Generator[Any, None, None]:
    """Yield results in the order of jobs; what is under way at an end is given up."""
    ahead = int(max(1.0, min(2.0 * workers_in(workers), most)))
    if isinstance(workers, int):
        if workers == 1:
            yield from (_run(work, job) for job in jobs)
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(workers) as pool:
            yield from _submitted(lambda job: pool.submit(_run, work, job), jobs, ahead)
    elif hasattr(workers, "scatter"):
        yield from _submitted(partial(_to_client, workers, work), jobs, ahead)
    elif hasattr(workers, "submit"):
        yield from _submitted(lambda job: workers.submit(_run, work, job), jobs, ahead)
    else:
        while some := list(islice(jobs, ahead)):
            yield from workers.map(partial(_run, work), some)


def _submitted(
    submit: Callable[[Any], Any], jobs: Iterator[Any], ahead: int
) -> Generator[Any, None, None]:
    under_way: deque[Any] = deque()
    try:
        for job in jobs:
            under_way.append(submit(job))
            if len(under_way) == ahead:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        for future in under_way:
            future.cancel()


def _run(work: Callable[..., Any], job: tuple[Any, ...]) -> Any:
    return _delayed(work, job).compute() if job[0].delayed else work(*job)


def _to_client(client: Any, work: Callable[..., Any], job: tuple[Any, ...]) -> Any:
    return (
        client.compute(_delayed(work, job))
        if job[0].delayed
        else client.submit(_run, work, job, pure=False)
    )


def _delayed(work: Callable[..., Any], job: tuple[Any, ...]) -> Any:
    """Return the result as a value that dask has not computed yet, next to the partition."""
    from dask import delayed

    rest = replace(job[0], source=None, delayed=False), *job[1:]
    return delayed(_work_on_partition, pure=False)(
        delayed((work, rest), traverse=False), job[0].source
    )


def _work_on_partition(known: tuple[Callable[..., Any], tuple[Any, ...]], rows: Any) -> Any:
    work, (chunk, *rest) = known
    return work(replace(chunk, source=rows), *rest)


# --- store ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Key:
    """Digests of everything a total depends on, by name; ``name`` names the reduction."""

    name: str
    depends: Mapping[str, str]


@dataclass(eq=False)
class Store:
    """A file with the totals of reductions, so that a run that was killed goes on.

    It is an .npz file of plain arrays, and a text (JSON) that says which of them is what.
    """

    path: Path
    known: dict[str, tuple[Key, int, Any]] = field(
        default_factory=dict
    )  # chunks that were read, and their total
    written: float = 0.0

    @classmethod
    def at(cls, path: Any) -> Store:
        """Return the store in a file, which need not exist."""
        store = cls(output_path(path, "store"))
        if not store.path.exists():
            return store
        try:
            with store.path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            for name, (depends, done, total) in json.loads(str(arrays["index"])).items():
                store.known[name] = Key(name, depends), done, _from_plain(total, arrays)
        except (
            OSError,
            ValueError,
            TypeError,
            LookupError,
            EOFError,
            AttributeError,
            NotImplementedError,
            BadZipFile,
        ):
            raise ValueError(
                f"store={str(path)!r} does not keep the sums of a test; use another path"
            ) from None
        return store

    def get(self, key: Key) -> tuple[int, Any] | None:
        """Return how many chunks were read, and their total.

        Raises ValueError if it was of something else.
        """
        if key.name not in self.known:
            return None
        before, done, total = self.known[key.name]
        for what, text in key.depends.items():
            if before.depends.get(what) != text:
                raise ValueError(
                    f"store={str(self.path)!r} was begun with other {what}; remove it, or use "
                    "another path"
                )
        return done, total

    def put(self, key: Key, done: int, total: Any, *, now: bool = False) -> None:
        """Keep a total; the file is written every 20 seconds, and ``now``."""
        if not now and time.monotonic() - self.written < _EVERY:
            return
        self.known[key.name] = key, done, total
        arrays: dict[str, Any] = {}
        index = {
            name: (key.depends, done, _as_plain(total, arrays))
            for name, (key, done, total) in self.known.items()
        }
        part = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
        try:
            with part.open("wb") as file:
                np.savez(file, index=np.array(json.dumps(index)), **arrays)
                os.fsync(file.fileno())
            part.replace(self.path)
        finally:
            part.unlink(missing_ok=True)
        self.written = time.monotonic()


_STORED: dict[str, type] = {}  # dataclasses of which totals are made


def stored(cls: type[T]) -> type[T]:
    """Let a store keep values of a dataclass."""
    _STORED[cls.__name__] = cls
    return cls


def _as_plain(value: Any, arrays: dict[str, Any]) -> Any:
    """Return a value as JSON has it; arrays, which it has not, are put beside it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray | np.generic):
        name = str(len(arrays))
        arrays[name] = np.asarray(value)
        return {"array": name, "scalar": isinstance(value, np.generic)}
    if isinstance(value, np.dtype):
        return {"dtype": value.str}
    if isinstance(value, tuple | list):
        return {type(value).__name__: [_as_plain(each, arrays) for each in value]}
    if isinstance(value, Mapping):
        return {"dict": [[_as_plain(each, arrays) for each in pair] for pair in value.items()]}
    values = {each.name: _as_plain(getattr(value, each.name), arrays) for each in fields(value)}
    return {"class": type(value).__name__, "values": values}


def _from_plain(value: Any, arrays: Mapping[str, Any]) -> Any:
    if not isinstance(value, dict):
        return value
    if "array" in value:
        array = arrays[value["array"]]
        return array[()] if value["scalar"] else array
    if "dtype" in value:
        return np.dtype(value["dtype"])
    if "class" in value:
        return _STORED[value["class"]](
            **{name: _from_plain(each, arrays) for name, each in value["values"].items()}
        )
    if "dict" in value:
        return {_from_plain(key, arrays): _from_plain(each, arrays) for key, each in value["dict"]}
    ((kind, parts),) = value.items()
    values = [_from_plain(each, arrays) for each in parts]
    return tuple(values) if kind == "tuple" else values


def digest(*parts: Any) -> str:
    """Return a short text that identifies arrays, numbers, texts, and dataclasses of these."""
    hashed = sha256()
    _feed(hashed, parts)
    return hashed.hexdigest()[:32]


def _feed(hashed: Any, value: Any) -> None:
    if isinstance(value, np.ndarray):
        hashed.update(
            f"{value.dtype.str}{value.shape}".encode() + np.ascontiguousarray(value).tobytes()
        )
    elif isinstance(value, list | tuple):
        hashed.update(f"({len(value)}".encode())
        for each in value:
            _feed(hashed, each)
    elif is_dataclass(value) and not isinstance(value, type):
        _feed(
            hashed,
            [type(value).__qualname__, *(getattr(value, each.name) for each in fields(value))],
        )
    elif hasattr(value, "__dict__") and not callable(value):
        _feed(hashed, [type(value).__qualname__, *map(list, sorted(vars(value).items()))])
    else:
        hashed.update(repr(getattr(value, "__qualname__", value)).encode())
