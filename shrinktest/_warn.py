"""A warning that shows the user's line: the last one outside of this package that led to it."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_NOT_THE_USERS = (os.path.dirname(__file__) + os.sep, "<frozen ")  # this package, and Python's own imports and classes

_SAID: ContextVar[set[str] | None] = ContextVar("said", default=None)


@contextmanager
def each_once() -> Iterator[None]:
    """Within it nothing is warned of twice, as where several tests of one call are run."""
    token = _SAID.set(set())
    try:
        yield
    finally:
        _SAID.reset(token)


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn of something at the user's line, however many functions of this package lie between."""
    said = _SAID.get()
    if said is not None:
        if message in said:
            return
        said.add(message)
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_NOT_THE_USERS):
        frame = frame.f_back
    module = frame.f_globals
    told = module.setdefault("__warningregistry__", {})
    name = module.get("__name__")
    warnings.warn_explicit(message, category, frame.f_code.co_filename, frame.f_lineno, name, told)
