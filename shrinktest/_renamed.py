"""Names that have changed, and names that others use: a warning or an error says what something is called here."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

from shrinktest._warn import tiny_is_zero, warn_user

Function = TypeVar("Function", bound=Callable[..., Any])

#: What arguments are called in other packages.
_ELSEWHERE = {
    **dict.fromkeys(("seed", "random_state", "random_seed"), "rng"),
    **dict.fromkeys(("n_permutations", "n_perms", "num_permutations", "permutation_count", "reps", "B"), "n_resamples"),
    **dict.fromkeys(("n_jobs", "n_workers", "num_workers", "threads"), "workers"),
    **dict.fromkeys(("significance_level", "level"), "alpha"),
    **dict.fromkeys(("verbose",), "progress"),
}


def renamed(**names: str) -> Callable[[Function], Function]:
    """A decorator for functions whose keyword arguments have changed their names: ``@renamed(old="new")``.

    For one version the old ones do what the new ones do.  What other packages call an argument, or one of it where
    there are several, is an error that names it as it is called here.
    """

    def decorate(function: Function) -> Function:
        from inspect import signature

        parameters, computed = signature(function).parameters.values(), tiny_is_zero(function)
        known = {one.name for one in parameters if one.kind is not one.VAR_POSITIONAL}

        @wraps(function)
        def called(*values: Any, **given: Any) -> Any:
            for name in given:
                word = _ELSEWHERE.get(name, name)
                meant = [one for one in (word, f"{word}s", word.removesuffix("s")) if one in known]
                if name not in known and name not in names and meant:
                    raise TypeError(f"{function.__name__} has no argument {name}=; it is {meant[0]}= here")
            return computed(*values, **by_new_names(given, names, function.__name__))

        return called  # type: ignore[return-value]  # it is called as the function is

    return decorate


def by_new_names(given: Mapping[str, Any], names: Mapping[str, str], what: str) -> dict[str, Any]:
    """Arguments of ``what`` by the names that they have now; ``names`` has the new one of every old one.

    Warns of old names (DeprecationWarning), and raises TypeError if something is given by both.
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
