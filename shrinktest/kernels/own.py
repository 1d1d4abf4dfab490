"""Own: kernels and estimators of a user's, whose methods must leave the rows that they get as they are."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import isabstract
from types import FunctionType
from typing import Any

import numpy as np

from shrinktest._validate import real_values

_OF_ROWS = ("evaluate", "coordinates", "diagonal", "resolve", "features")
#: Those that say which kernel or estimator it is.
_DEFINING = {"evaluate", "coordinates", "weights"}
#: Those that return a kernel, and which one where there is no other.
_KERNELS = {
    "resolve": "itself where nothing is taken from the data",
    "features": "the one that it gets where nothing is changed",
}


def watch(kind: type, base: type) -> None:
    """Watch what the methods of a kernel or an estimator of a user's do; ``base`` is the class of all kernels.

    Raises TypeError for one that changes what a class of this package computes; its other methods would do so still.
    """
    near = next(one for one in kind.__mro__ if not is_users(one))
    own = kind.__mro__[: kind.__mro__.index(near)]  # with what is mixed in
    for name in _DEFINING if not isabstract(near) else ():
        changed = hasattr(near, name) and any(name in vars(one) for one in own)
        if changed and not near.__module__.endswith(".custom"):  # which know no more than a user does
            first = [one for one in kind.__mro__ if name in vars(one)][-1]
            raise TypeError(
                f"{kind.__name__}: {name} of {near.__name__} cannot be changed, for tests have shorter ways to what it "
                f"computes, and would not call yours; make a subclass of {first.__name__}"
            )
    for name in _OF_ROWS:
        method = vars(kind).get(name)
        if hasattr(near, name) and isinstance(method, FunctionType):  # else a helper of the user's
            setattr(kind, name, _watched(method, base))


def is_users(kind: type) -> bool:
    """Whether a class is not of this package."""
    return not kind.__module__.startswith("shrinktest.")


def left_alone(function: Callable[..., Any], named: Callable[[], str], rows: tuple[Any, ...], **told: Any) -> Any:
    """What a function returns; raises ValueError if it has changed rows that it was given, which are used further."""
    before = [(one, one.copy()) for one in rows if isinstance(one, np.ndarray)]
    found = function(*rows, **told)
    for one, as_it_was in before:
        if not (np.array_equal(one, as_it_was) or np.array_equal(one, as_it_was, equal_nan=True)):
            raise ValueError(
                f"{named()} changes the rows that it is given, which are used further; change a copy, X.copy()"
            )
    return found


def _watched(method: FunctionType, base: type) -> Callable[..., Any]:
    @wraps(method)
    def watched(self: Any, *rows: Any, **told: Any) -> Any:
        def named() -> str:  # only where it is said, for it may be long
            return f"{method.__name__} of {self!r}"

        found = left_alone(method.__get__(self), named, rows, **told)
        if method.__name__ in _KERNELS and not isinstance(found, base):
            raise TypeError(f"{named()} must return a kernel, {_KERNELS[method.__name__]}; got {found!r}")
        return _one_each(found, named, len([*rows, *told.values()][0])) if method.__name__ == "diagonal" else found

    return watched


def _one_each(found: Any, named: Callable[[], str], rows: int) -> np.ndarray:
    """A diagonal, if it is one number for every row."""
    try:
        values = real_values(found)
    except TypeError as error:
        raise TypeError(f"{named()} must return real numbers, k(X[i], X[i]) for every row: {error}") from None
    if values.shape != (rows,):
        raise ValueError(
            f"{named()} must return k(X[i], X[i]) for every row, shape ({rows},); got shape {values.shape}"
        )
    return values
