"""Choose between a numpy loop and its compiled twin without importing the compiler early.

The compiler is imported only when it is used.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

#: Modules of compiled loops, and the seconds that each loop and those that it calls take to
#: compile.
LOOPS = {
    "kernels.kernel_loops": {"between": 2.0, "among": 2.0, "waves": 5.0, "bells": 5.0},
    "permutations.draw_loops": {"shuffle": 2.0},
    "estimators.filter_loops": {
        "tikhonov_deletion": 8.0,
        "gradient_deletion": 8.0,
        "gradient_path": 3.0,
    },
    "estimators.noise_loops": {"tune": 10.0, "smoothed_splits": 15.0},
    "statistics.sum_loops": {
        "split_sums": 6.0,
        "partition_sums": 7.0,
        "feature_sums": 4.0,
        "pairing_sums": 4.0,
        "strip_sums": 3.0,
        "cross_sums": 4.0,
    },
    "statistics.dhsic_loops": {"product_sums": 4.0},
    "monitoring.urn_loops": {
        "projections": 1.0,
        "projection": 1.0,
        "cells": 1.0,
        "bet": 1.5,
    },
    "statistics.scan_loops": {
        "before": 2.0,
        "largest_of_coordinates": 2.0,
        "largest_interval_of_gram": 2.0,
        "largest_interval_of_coordinates": 3.0,
        "largest_in_intervals": 4.0,
    },
}

_HERE = Path(__file__).parent
_MODULES = {name: module for module, loops in LOOPS.items() for name in loops}
_SECONDS = {name: seconds for loops in LOOPS.values() for name, seconds in loops.items()}
_ALWAYS: ContextVar[bool | None] = ContextVar("always", default=None)  # None: the rule chooses
_RUN: ContextVar[_Run | None] = ContextVar("run", default=None)


class _Run:
    """A null distribution: the number of its permutations, and the loops chosen for all of them."""

    def __init__(self, permutations: int) -> None:
        self.permutations = permutations
        self.chosen: dict[str, Any] = {}


@contextmanager
def one_run(permutations: int) -> Iterator[None]:
    """Keep to one choice for all permutations of a null distribution.

    The permutations are evaluated inside the block.
    """
    token = _RUN.set(_Run(permutations))
    try:
        yield
    finally:
        _RUN.reset(token)


@contextmanager
def always(compiled: bool) -> Iterator[None]:
    """Use compiled loops only, as studies do, or loops in numpy only."""
    token = _ALWAYS.set(compiled)
    try:
        yield
    finally:
        _ALWAYS.reset(token)


def compiled_loop(name: str, rows: int, seconds: float) -> Callable[..., Any] | None:
    """Return a compiled loop; None if numpy is to be used.

    Machine code on disk is used.  Otherwise numpy is used if it needs less time than the compiler.

    Parameters
    ----------
    name : str
        A loop of `LOOPS`.
    rows : int
        Permutations in this call; all permutations of the null distribution count.
    seconds : float
        Time of numpy for each of them.
    """
    run = _RUN.get()
    if run is None:
        return _choose(name, rows * seconds)
    if name not in run.chosen:
        run.chosen[name] = _choose(name, max(rows, run.permutations) * seconds)
    return run.chosen[name]  # type: ignore[no-any-return]


def _choose(name: str, seconds: float) -> Callable[..., Any] | None:
    always_compiled = _ALWAYS.get()
    if always_compiled:
        _IN_USE.add(name)
    elif always_compiled is False or not (
        name in _IN_USE or seconds >= _SECONDS[name] or _on_disk(name)
    ):
        return None
    return _loaded(name)


@cache
def _loaded(name: str) -> Callable[..., Any]:
    return getattr(import_module(f"shrinktest.{_MODULES[name]}"), name)  # type: ignore[no-any-return]


_IN_USE: set[str] = set()  # loops that were compiled on request


@cache  # the same call gives the same bits again, whatever other processes compile meanwhile
def _on_disk(name: str) -> bool:
    # A loop may be compiled from a plain function of another module, after which its file is named.
    return any(folder().glob(f"*.{name}-*.nbi"))


@cache
def folder() -> Path:
    """Return the folder of machine code: in ``NUMBA_CACHE_DIR``, or in the user's cache folder."""
    if where := os.environ.get("NUMBA_CACHE_DIR"):
        parent = Path(where)
    elif sys.platform == "win32":
        parent = Path(
            os.environ.get("LOCALAPPDATA", os.path.expanduser("~")), "shrinktest", "Cache"
        )
    elif sys.platform == "darwin":
        parent = Path(os.path.expanduser("~"), "Library", "Caches", "shrinktest")
    else:
        parent = Path(
            os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "shrinktest"
        )
    return parent / f"{sys.implementation.cache_tag}-numba{version('numba')}-{stamp()[:16]}"


@cache
def stamp() -> str:
    """Return a digest of the text of all loops, as machine code contains functions that it calls.

    "" in archives.
    """
    texts = sorted(
        path for name in ("_jit.py", "noise.py", "*_loops.py") for path in _HERE.rglob(name)
    )
    digest = sha256(b"".join(path.name.encode() + path.read_bytes() for path in texts))
    return digest.hexdigest() if texts else ""
