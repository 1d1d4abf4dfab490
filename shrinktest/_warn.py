"""A warning that shows the user's line: the last one outside of this package that led to it."""

from __future__ import annotations

import os
import sys
import warnings

_NOT_THE_USERS = (os.path.dirname(__file__) + os.sep, "<frozen ")  # this package, and Python's own imports and classes


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn of something at the user's line, however many functions of this package lie between."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_NOT_THE_USERS):
        frame = frame.f_back
    module = frame.f_globals
    told = module.setdefault("__warningregistry__", {})
    name = module.get("__name__")
    warnings.warn_explicit(message, category, frame.f_code.co_filename, frame.f_lineno, name, told)
