"""Threads for parts of one piece of work, and how many of them linear algebra takes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

from shrinktest._progress import advancing

_LINKED = ("scipy.linalg", "scipy.special")  # modules that load a BLAS library beside that of numpy
_HELD = range(80, 2001)  # observations whose matrices gain less by threads of BLAS than waking these takes
_HOLDING = Lock()


def each(work: Callable[[Any], object], parts: Sequence[Any], workers: int) -> None:
    """Run ``work`` on each part in at most ``workers`` threads; re-raise the first error.

    Of w threads, thread k takes the parts k, k + w, ..: parts that grow or shrink in order are shared out about
    equally, and no thread waits for the next one to be handed to it.
    """
    threads, advance = max(1, min(workers, len(parts))), advancing(len(parts))

    def some(k: int) -> None:
        for part in parts[k::threads]:
            work(part)
            advance()

    if threads == 1:
        some(0)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(some, range(threads)):
            pass


@contextmanager
def blas_held(observations: int) -> Iterator[None]:
    """Hold matrix products and factorisations of few observations to one thread while what is within is computed.

    There are many of them, each so short that threads which have to wake up first take longer than one alone: 1.2 to 4
    times, measured from 100 to 1000 observations.  More observations gain by threads, and keep them.

    The setting is that of the whole process: who comes first makes it and puts back what was, others go along.
    """
    if observations not in _HELD or not _HOLDING.acquire(blocking=False):
        yield
        return
    try:
        with _libraries(tuple(module in sys.modules for module in _LINKED)).limit(limits=1):
            yield
    finally:
        _HOLDING.release()


@lru_cache(maxsize=1)
def _libraries(linked: tuple[bool, ...]) -> Any:
    """The BLAS libraries of the process, looked for again when modules that bring one along have been imported."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
