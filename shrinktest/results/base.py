"""Result: what all results have in common, equality by value and a table in a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from numbers import Real
from types import MethodType
from typing import Any

import numpy as np


class Result:
    """Base class of results, which are frozen dataclasses: equal if what they hold is, and shown as their summary.

    Examples
    --------
    >>> import pickle
    >>> from shrinktest import two_sample_test
    >>> result = two_sample_test([1.2, 0.3, 0.5, 0.8], [2.1, 1.9, 3.0, 2.6])
    >>> pickle.loads(pickle.dumps(result)) == result
    True
    """

    def __eq__(self, other: object) -> bool:
        return same(self, other) if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        # frozen values that are equal by value are hashable in Python, and results serve as keys; texts and numbers are
        # enough to tell most of them apart, while arrays, data frames and dictionaries have no hash; nor does NaN have
        # one that equal results share
        told = (getattr(self, field.name) for field in _compared(self))
        return hash((type(self), *(one for one in told if isinstance(one, str | Real) and one == one)))

    def _repr_html_(self) -> str:
        """What a notebook shows where a result is the last line of a cell: its summary."""
        return str(self._report().as_html())

    def _report(self) -> Any:
        return self.summary()  # type: ignore[attr-defined]  # of those whose summary is more than text


def label_of(one: Any) -> str:
    """What an estimator or a kernel is called in summaries."""
    return str(getattr(one, "label", repr(one)))


def same(one: Any, other: Any) -> bool:
    """Whether two values hold the same: arrays entry by entry, NaN equal to NaN, dataclasses field by field.

    Fields with ``compare=False`` do not count.

    Examples
    --------
    >>> import numpy as np
    >>> same({"a": np.array([1.0, np.nan])}, {"a": np.array([1.0, np.nan])}), same((0.0, [1]), (0.0, [2]))
    (True, False)
    """
    if one is other:
        return True
    if isinstance(one, Real) and isinstance(other, Real):
        return bool(one == other or (one != one and other != other))
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind in "fcmM")
    if is_dataclass(one):
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in _compared(one))
    if isinstance(one, partial | MethodType):  # features hold such functions, which Python compares by identity
        return same(_parts(one), _parts(other))
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if hasattr(one, "equals"):  # of pandas, to whom missing values in one place are equal
        return bool(one.equals(other))
    return bool(one == other)


def _parts(function: Any) -> tuple[Any, ...]:
    if isinstance(function, partial):
        return function.func, function.args, function.keywords
    return function.__func__, function.__self__


def _compared(value: Any) -> list[Any]:
    return [field for field in fields(value) if field.compare]
