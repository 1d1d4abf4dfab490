"""Names that have changed: for one version the old ones do what the new ones do, and a warning says which these are."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

from shrinktest._warn import warn_user

Function = TypeVar("Function", bound=Callable[..., Any])


def renamed(**names: str) -> Callable[[Function], Function]:
    """A decorator for functions whose keyword arguments have changed their names: ``@renamed(old="new")``."""

    def decorate(function: Function) -> Function:
        @wraps(function)
        def called(*values: Any, **given: Any) -> Any:
            return function(*values, **by_new_names(given, names, function.__name__))

        return called  # type: ignore[return-value]  # it is called as the function is

    return decorate


def by_new_names(given: Mapping[str, Any], names: Mapping[str, str], what: str) -> dict[str, Any]:
    """Arguments of ``what`` by the names that they have now; ``names`` has the new one of every old one.

    Raises
    ------
    TypeError
        If something is given by both names.

    Warns
    -----
    DeprecationWarning
        For every old name.
    """
    for old, new in names.items():
        if old in given:
            if new in given:
                raise TypeError(f"{what}: {old}= is now called {new}=; both are given, leave out {old}=")
            warn_renamed(f"{what}: {old}=", f"{new}=")
    return {names.get(name, name): value for name, value in given.items()}


def renamed_attribute(module: str, name: str, names: Mapping[str, str]) -> Any:
    """What a module has under the new name of ``name``, for its ``__getattr__``."""
    if name not in names:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    warn_renamed(name, names[name])
    return getattr(sys.modules[module], names[name])


def warn_renamed(old: str, new: str) -> None:
    """Say what something is called now."""
    warn_user(f"{old} is now called {new}", DeprecationWarning)
