"""Threads for parts of one piece of work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def each(work: Callable[[Any], object], parts: Sequence[Any], workers: int) -> None:
    """Call ``work`` on every part, in so many threads that end with the call; raises what a part raises.

    Thread k takes the parts k, k + ``workers``, ..: parts that grow or shrink in order are shared out about equally,
    and no thread waits for the next one to be handed to it.
    """

    def some(k: int) -> None:
        for part in parts[k::workers]:
            work(part)

    if workers == 1:
        some(0)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(some, range(workers)):
            pass
