"""A bar for what is computed in blocks before the permutations begin: kernels and their factors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_BAR: ContextVar[list[Any] | None] = ContextVar("bar", default=None)  # of one bar, once there is something to show


@contextmanager
def preparing(show: bool) -> Iterator[None]:
    """Show how far kernels are while what is within is computed, if there is anything that takes blocks."""
    if not show or sys.stderr is None:  # as where a program has no console
        yield
        return
    bars: list[Any] = []
    token = _BAR.set(bars)
    try:
        yield
    finally:
        _BAR.reset(token)
        for bar in bars:
            bar.close()


def advancing(blocks: int) -> Callable[..., object]:
    """A function that says that one of so many blocks is done, or several; it does nothing where no bar is shown."""
    bars = _BAR.get()
    if bars is None:
        return _nothing
    if not bars:
        from tqdm.auto import tqdm

        bars.append(tqdm(total=0, desc="kernels", unit=" blocks"))
    bars[0].total += blocks
    bars[0].refresh()
    advance: Callable[..., object] = bars[0].update
    return advance


def _nothing(blocks: int = 1) -> None:
    """No bar to move."""
