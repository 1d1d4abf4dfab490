"""Results read back from the text of ``to_json``: what stands in for kernels, estimators and embeddings there."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, fields
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np

from shrinktest._version import __version__
from shrinktest.results.base import Result

#: The layout of the JSON of results; a higher number is written by later versions.
SCHEMA = 1

_INFINITE = {"inf": np.inf, "-inf": -np.inf}
_KINDS: dict[str, Callable[[Any], bool]] = {
    "float": lambda entry: entry is None or type(entry) in (int, float) or (type(entry) is str and entry in _INFINITE),
    "alpha": lambda entry: type(entry) in (int, float),  # never unknown
    "int": lambda entry: type(entry) is int,
    "bool": lambda entry: type(entry) is bool,
    "str": lambda entry: type(entry) is str,
    "None": lambda entry: entry is None,
}
_SAME = {"np.ndarray": "tuple[float, ...]", "Interval": "tuple[float, float]"}
_SHARES = ("pvalue", "pvalues", "adjusted", "alpha", "confidence")


@dataclass(frozen=True, repr=False)
class Shown:
    """A kernel, an estimator or a rule as JSON holds it: its text and what summaries say of it; it computes nothing."""

    text: str  # what ``repr`` showed, and shows
    label: str = ""  # what tables of results call it
    bandwidth: Any = None  # bandwidth of a kernel
    amount: str = "amount"  # what an estimator's amount of shrinkage is
    weight: float = 1.0  # of a member of a collection
    members: tuple[Shown, ...] = ()  # of a collection

    def __repr__(self) -> str:
        return self.text

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"{vars(self).get('text', 'this')} was read from JSON, which holds its text and no {name!r}; make it anew"
        )


@dataclass(frozen=True)
class Fitted:
    """A fitted embedding as JSON holds it: its size, amount of shrinkage and squared norm."""

    n: int  # points
    shrinkage: Any  # the amount, in the estimator's own unit
    squared_norm: float  # in the RKHS

    def norm2(self) -> float:
        """Squared RKHS norm."""
        return self.squared_norm

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ValueError(
            "this result was read from JSON, which holds the size and the norm of its embeddings, no points and no "
            "weights, and so no witness function; pickle the result to keep them, or run the test again"
        )


def read_json(text: Any, within: type) -> Any:
    """The result in the text of ``to_json``, if it is one of the class ``within``; else it raises ValueError.

    It raises TypeError for what is no text.
    """
    if not isinstance(text, str | bytes | bytearray):
        raise TypeError(f"text must be what to_json() returned; got {text!r} ({type(text).__name__})")
    try:
        read = json.loads(text)
    except ValueError as error:
        raise ValueError(
            f"text must be what to_json() returned, and is no JSON ({error}); of a file give the contents, "
            "such as pathlib.Path(name).read_text()"
        ) from error
    if not isinstance(read, dict) or not isinstance(read.get("schema"), int) or "result" not in read:
        raise ValueError("text is JSON, but not of a test's result: it has no entries 'result' and 'schema'")
    if read["schema"] > SCHEMA:
        versions = read.get("versions")
        writer = versions.get("shrinktest", "a later one") if isinstance(versions, dict) else "a later one"
        raise ValueError(
            f"text was written by a later version of shrinktest ({writer}, layout {read['schema']}); this is "
            f"{__version__}, which knows layouts up to {SCHEMA}: install a later version to read it"
        )
    found = _class_of(read["result"])
    if not issubclass(found, within):
        raise ValueError(
            f"text is the JSON of class {found.__name__}, which is no {within.__name__}; TestResult.from_json reads all"
        )
    try:
        return rebuilt(read)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        what = f"there is no entry {error}" if isinstance(error, KeyError) else error
        raise ValueError(f"text is not what to_json() returned, but incomplete or changed: {what}") from error


def rebuilt(read: Mapping[str, Any]) -> Any:
    """The result of the entries of its JSON, of the class that they name."""
    kind = _class_of(read["result"])
    for one in fields(kind):
        if one.name in read and not _fits(one.name if one.name in _KINDS else str(one.type), read[one.name]):
            raise ValueError(f"the entry {one.name!r} must be of type {one.type}; got {read[one.name]!r:.200}")
    found = kind._of_json(read)
    for name in _SHARES:
        shares = np.ravel(np.asarray(getattr(found, name, np.nan), dtype=np.float64))
        beyond = shares[(shares < 0.0) | (shares > 1.0)]
        if beyond.size:
            raise ValueError(f"the entry {name!r} must lie between 0 and 1; got {beyond[0]:g}")
    return found


def _fits(kind: str, entry: Any) -> bool:
    """Whether an entry of JSON may stand for a field of a type in words; any may for types that are not known here."""
    kind = _SAME.get(kind, kind)
    if kind.endswith("] | None"):
        return entry is None or _fits(kind.removesuffix(" | None"), entry)
    if kind.endswith(", ...]"):
        return isinstance(entry, list) and all(_fits(kind[6:-6], one) for one in entry)
    if kind.startswith("tuple["):
        parts = kind[6:-1].split(", ")
        return isinstance(entry, list) and len(entry) == len(parts) and all(map(_fits, parts, entry))
    if kind.startswith("dict["):
        return isinstance(entry, dict)
    known = [_KINDS.get(part) for part in kind.split(" | ")]
    return None in known or any(fits(entry) for fits in known if fits)


def _class_of(name: Any) -> Any:
    _import_all()
    known: dict[Any, Any] = {one.__name__: one for one in _below(Result) if hasattr(one, "_of_json")}
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"text is the JSON of {name!r}, and from_json reads {', '.join(sorted(known))}")
    return known[name]


@cache
def _import_all() -> None:
    """Import every kind of result: only what was imported is found below `Result`."""
    for module in iter_modules(sys.modules[__package__].__path__):
        import_module(f"{__package__}.{module.name}")


def _below(kind: type) -> Iterator[type]:
    one: type
    for one in kind.__subclasses__():
        yield one
        yield from _below(one)


def value_of(entry: Any) -> Any:
    """An entry of JSON as results hold it: lists as tuples, and infinite numbers, which have a text there, as numbers.

    Examples
    --------
    >>> value_of([1.0, ["inf", "median"]]), value_of({"key": [1]})
    ((1.0, (inf, 'median')), {'key': [1]})
    """
    if isinstance(entry, list):
        return tuple(map(value_of, entry))
    return _INFINITE.get(entry, entry) if isinstance(entry, str) else entry


def entry_of(field: Field[Any], entry: Any) -> Any:
    """An entry of JSON as a field of a result holds it: among numbers null is NaN, among texts "inf" is a name."""
    kind = str(field.type)
    if kind in _NUMBERS:
        return _NUMBERS[kind](entry)
    kinds = set(re.findall(r"\w+", kind))
    texts = "str" in kinds and not kinds & {"float", "Any"}
    return _as_tuples(entry) if texts else value_of(entry)


def fields_of(kind: type, read: Mapping[str, Any]) -> dict[str, Any]:
    """What the fields of a result hold by the entries of its JSON, in which those with ``compare=False`` are not."""
    return {one.name: entry_of(one, read[one.name]) for one in fields(kind) if one.compare}


def _as_tuples(entry: Any) -> Any:
    return tuple(map(_as_tuples, entry)) if isinstance(entry, list) else entry


def number_of(entry: Any) -> float:
    """A number, which JSON has as null where it is NaN."""
    if not _fits("float", entry):
        raise ValueError(f"{entry!r:.200} is no number")
    return np.nan if entry is None else float(value_of(entry))


def numbers_of(entries: Any) -> np.ndarray:
    """Numbers, shape (k,)."""
    return np.array([number_of(entry) for entry in entries], dtype=np.float64)


def _interval_of(entries: Any) -> tuple[float, ...]:
    return tuple(map(number_of, entries))


#: How numbers are read, by the type of the field that holds them.
_NUMBERS: dict[str, Callable[[Any], Any]] = {
    "float": number_of,
    "np.ndarray": numbers_of,
    "Interval": _interval_of,
    "tuple[float, float]": _interval_of,
    "Mapping[str, float]": lambda entries: {key: number_of(entry) for key, entry in entries.items()},
}


def shown_of(text: Any, label: Any = "", bandwidth: Any = None, **about: Any) -> Any:
    """What stands in for a kernel or an estimator, or for each of a list of kernels; None for None."""
    if isinstance(text, list):
        return tuple(shown_of(*one) for one in zip(text, label, bandwidth, strict=True))
    if not isinstance(text, str | None):
        raise ValueError(f"{text!r:.200} is no text that shows a kernel, an estimator or a rule")
    return None if text is None else Shown(text, label, value_of(bandwidth), **about)
