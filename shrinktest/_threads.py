"""Threads for parts of one piece of work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from shrinktest._progress import advancing


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
