"""Names: what messages and results call samples and variables, as users give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shrinktest._check import listed
from shrinktest.tables.column import DROP
from shrinktest.tables.pooled import checked_types
from shrinktest.tables.reading import columns_at, names_in


def numbered(word: str, count: int) -> tuple[str, ...]:
    """What messages call several: "samples[0]", "samples[1]", ..."""
    return tuple(f"{word}[{i}]" for i in range(count))


def named_samples(samples: Sequence[Any], things: str = "samples") -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """Samples, and their names if they are given as one mapping from names to samples; or other ``things``."""
    if len(samples) == 1 and isinstance(samples[0], Mapping):
        names = tuple(map(str, samples[0]))
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two {things} have the name {listed(twice)} as text; give other names")
        return tuple(samples[0].values()), names
    if len(samples) == 1 and hasattr(samples[0], "ngroups"):
        raise TypeError("samples are grouped by pandas; give them by name: dict(list(df.groupby('group')[columns]))")
    return tuple(samples), ()


def two_names(given: Any, things: str = "samples", such: tuple[str, str] = ("before", "after")) -> tuple[str, str]:
    """What a user calls two samples, or other things; raises an error for what tells nobody which is which."""
    if not isinstance(given, tuple | list) or len(given) != 2 or not all(isinstance(one, str) and one for one in given):
        raise TypeError(f"names must be two texts, such as {such}; got {given!r}")
    if given[0] == given[1]:
        raise ValueError(f"names must differ, so that a reader can tell the {things} apart; both are {given[0]!r}")
    return given[0], given[1]


def named_variables(
    variables: Sequence[Any], column_types: Any
) -> tuple[tuple[Any, ...], tuple[str, ...], dict[str, Any]]:
    """Variables, their names if they are given as one mapping, and how to read them; the columns of one table."""
    given, names = named_samples(variables, "variables")
    types = checked_types(column_types)
    if len(given) == 1 and not names and (there := names_in(given[0])):
        given = tuple(columns_at(given[0], [j]) for j, name in enumerate(there) if types.get(name) != DROP)
        types = {key: kind for key, kind in types.items() if key not in there or kind != DROP}
    return given, names, types
