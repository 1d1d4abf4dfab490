"""Warnings: at the user's line, the last one outside of this package that led to it.

And none of what is in order.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])

_NOT_THE_USERS = (
    os.path.dirname(__file__) + os.sep,
    "<frozen ",
)  # this package, and Python's own imports and classes

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
    shown = _SAID.get()
    if shown is not None:
        if message in shown:
            return
        shown.add(message)
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_NOT_THE_USERS):
        frame = frame.f_back
    module = frame.f_globals
    registry = module.setdefault("__warningregistry__", {})
    name = module.get("__name__")
    warnings.warn_explicit(
        message, category, frame.f_code.co_filename, frame.f_lineno, name, registry
    )


def tiny_is_zero(function: Function) -> Function:
    """Decorator for kernel computations: kernel values of points far apart are 0.

    This holds whatever numpy is told.

    ``numpy.errstate(under="raise")`` would make an error of that.
    """

    @wraps(function)
    def called(*values: Any, **given: Any) -> Any:
        with np.errstate(under="ignore"):
            return function(*values, **given)

    return called  # type: ignore[return-value]  # it is called as the function is
