"""Labels of rows, such as blocks and groups, and names of samples and variables."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shrinktest._check import Array, listed, loaded_pandas
from shrinktest.data.all_rows import checked_types
from shrinktest.data.column import DROP, Table, in_microseconds
from shrinktest.data.scale import ScaleOption
from shrinktest.data.summary import FEW
from shrinktest.data.tables import check_same_index, columns_at, is_table, names_in
from shrinktest.data.texts import number_level, text_level
from shrinktest.notes import note

_MANY = 5  # times as many different values as labels have
_VARIABLE = re.compile(r"[A-Za-z_]\w*(\[\d+\])?")


def as_labels(labels: Any, name: str, size: int, table: str) -> list[Any]:
    """Return a vector of labels, one for each of the ``size`` rows of ``table``.

    ``table`` is the name used in messages.
    """
    needed = f"{name} must be a vector of labels, one for each observation; got"
    if isinstance(labels, str) or not (
        isinstance(labels, Sequence) or hasattr(labels, "__array__")
    ):
        column = (
            f" (pass the column itself, such as table[{labels!r}])"
            if isinstance(labels, str)
            else ""
        )
        raise TypeError(f"{needed} {type(labels).__name__}{column}")
    if getattr(labels, "ndim", 1) != 1:
        raise ValueError(f"{needed} shape {labels.shape}")
    if len(labels) != size:
        raise ValueError(f"{name} has {len(labels)} labels, and there are {size} rows in {table}")
    if (
        isinstance(labels, np.ndarray) and labels.dtype.kind == "M"
    ):  # dates of all units are compared
        labels = in_microseconds(labels)
    to_list = getattr(labels, "tolist", None) or getattr(labels, "to_pylist", None)  # of pyarrow
    return [*map(_plain_label, to_list() if to_list else labels)]


def _plain_label(label: Any) -> Any:
    """Return a date as a moment, a text as it looks, and other labels unchanged."""
    if type(label) is datetime.date:
        return datetime.datetime.combine(label, datetime.time())
    return text_level(label) if isinstance(label, str) else label


def labels_in_order(labels: Any, argument: str, names: Sequence[str]) -> Any:
    """Return labels that are given by the names of samples as a list in the order of these.

    Others unchanged.
    """
    if not isinstance(labels, Mapping):
        return labels
    by_name = {str(name): own for name, own in labels.items()}
    if by_name.keys() != {*names}:
        raise ValueError(
            f"{argument} has labels for {listed(by_name)}; the samples are {listed(names)}"
        )
    return [by_name[name] for name in names]


def pooled_labels(
    labels: Any,
    name: str,
    samples: Sequence[Any],
    names: Sequence[str],
    sizes: tuple[int, ...],
    together: str,
) -> list[Any]:
    """Return the labels of all rows of several samples.

    They are given as one vector or as one for each sample.

    These are in a list, or in a mapping from names of samples.  Messages call the samples
    ``names``, and all of them ``together``.
    """
    labels = labels_in_order(labels, name, names)
    parts = labels if isinstance(labels, tuple | list) and len(labels) == len(sizes) else [None]
    if all(hasattr(part, "__len__") and not isinstance(part, str | bytes) for part in parts):
        pooled: list[Any] = []
        for part, sample, sample_name, size in zip(parts, samples, names, sizes, strict=True):
            check_same_index(sample, part, sample_name, name)
            pooled += as_labels(part, name, size, sample_name)
        return pooled
    pandas = loaded_pandas()
    if pandas and all(isinstance(x, pandas.DataFrame | pandas.Series) for x in (labels, *samples)):
        index = samples[0].index.append([sample.index for sample in samples[1:]])
        if Counter(labels.index) == Counter(index) and not labels.index.equals(index):
            every = " and ".join(names)
            raise ValueError(
                f"{name} has the row labels of {every} in another order; put it in the order of "
                f"{every}"
            )
    return as_labels(labels, name, sum(sizes), together)


def label_codes(labels: Sequence[Any], name: str, keep: NDArray[np.bool_]) -> np.ndarray:
    """Return integers from 0 for the labels of the rows to ``keep``, in order of appearance."""
    pandas = loaded_pandas()
    codes: dict[Any, int] = {}
    out = np.empty(int(keep.sum()), dtype=np.int64)
    for place, row in enumerate(np.flatnonzero(keep).tolist()):
        label = labels[row]
        if label is None or (pandas is not None and label is pandas.NA) or label != label:
            raise ValueError(
                f"{name} has no label for row {row} (counting from 0); every observation needs one"
            )
        out[place] = codes.setdefault(label, len(codes))
    return out


def patterns_kept(labels: Sequence[Any], keep: NDArray[np.bool_]) -> np.ndarray | None:
    """Return an integer for each row to ``keep``, equal for groups that keep the same places.

    Return None if all rows keep all places.

    Examples
    --------
    >>> patterns_kept(
    ...     ["a", "a", "b", "b", "c", "c"], np.array([True, True, True, False, False, True])
    ... )
    array([0, 0, 1, 2])
    """
    if keep.all():
        return None
    places: dict[Any, list[bool]] = {}
    for label, stays in zip(labels, keep.tolist(), strict=True):
        places.setdefault(label, []).append(stays)
    patterns = [tuple(places[labels[row]]) for row in np.flatnonzero(keep).tolist()]
    if all(map(all, patterns)):
        return None
    numbers = {pattern: i for i, pattern in enumerate(dict.fromkeys(patterns))}
    return np.array([numbers[pattern] for pattern in patterns])


def note_on_labels(samples: Sequence[Array], names: Sequence[str]) -> tuple[str, ...]:
    """Note on a sample of few different numbers that may be the group labels of another sample.

    The other sample has as many rows.

    Such are two numbers, or a few whole ones, and the other sample has many more.  The note holds
    the call to type.  ``samples`` (n_i,) have one column of numbers.
    """
    levels = [np.unique(values[~np.isnan(values)]) for values in samples]
    for own, values, name in zip(levels, samples, names, strict=True):
        if not 2 <= own.size <= FEW or (own.size > 2 and (own != np.rint(own)).any()):
            continue
        for others, data, of in zip(levels, samples, names, strict=True):
            if len(data) == len(values) and others.size >= _MANY * own.size:
                call = _call(own, name, of)
                return (
                    note(
                        "looks-like-labels",
                        name=name,
                        few=own.size,
                        data=of,
                        many=others.size,
                        call=call,
                    ),
                )
    return ()


def _call(levels: Array, labels: str, data: str) -> str:
    """The call that compares the rows with each label."""
    if not (_VARIABLE.fullmatch(labels) and _VARIABLE.fullmatch(data)):
        return "pass the rows with each label as a sample"
    if levels.size > 2:
        return (
            f"type k_sample_test(*[{data}[{labels} == label] for label in numpy.unique({labels})])"
        )
    return "type two_sample_test({}, {})".format(
        *(f"{data}[{labels} == {number_level(x)}]" for x in levels.tolist())
    )


def columns_of_labels(
    given: Mapping[str, Any], tables: Sequence[Any], column_types: Any, scale: ScaleOption
) -> tuple[Any, tuple[str, ...]]:
    """Return how to read tables without the label columns of their rows, with notes on these.

    ``given`` has for "blocks" and "groups" labels for every table, or None; ``column_types`` is
    as users give it.  Columns with a type are read, and units for each column are
    for all of them.
    """
    types = checked_types(column_types)
    notes = []
    if not scale.single:
        return types, ()
    for argument, labels in given.items():
        if not isinstance(labels, tuple | list) or len(labels) != len(tables):
            continue
        first, *others = (
            _columns_equal(table, own) for table, own in zip(tables, labels, strict=True)
        )
        shared = [name for name in first if all(name in other for other in others)]
        if len(shared) == 1 and shared[0] not in types:
            types = {**types, shared[0]: DROP}
            reason = (
                f"it holds the labels of {argument}= (column_types={{{shared[0]!r}: 'category'}} "
                f"tests it)"
            )
            notes.append(
                note("untested-column", column=shared[0], what="is not tested", reason=reason)
            )
    return types, tuple(notes)


def _columns_equal(table: Any, labels: Any) -> list[str]:
    """Return the data frame columns that hold these labels.

    It is the column with their name, or for pyarrow all columns that are equal.
    """
    shape: Sequence[int] = getattr(table, "shape", ())
    if not hasattr(labels, "equals") or isinstance(table, Table) or len(shape) != 2 or shape[1] < 2:
        return []
    names = list(getattr(table, "column_names", table.columns)) if is_table(table) else []
    if hasattr(labels, "name"):
        names = [labels.name] if names.count(labels.name) == 1 else []
    names = [name for name in names if names.count(name) == 1]
    return [
        str(name)
        for name in names
        if type(table[name]) is type(labels) and labels.equals(table[name])
    ]


# --- names that users give ------------------------------------------------------------------------


def numbered(word: str, count: int) -> tuple[str, ...]:
    """Return names for messages: "samples[0]", "samples[1]", ..."""
    return tuple(f"{word}[{i}]" for i in range(count))


def named_samples(
    samples: Sequence[Any], things: str = "samples"
) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """Samples, and their names if they are given as one mapping from names to samples.

    Or other ``things``.
    """
    if len(samples) == 1 and isinstance(samples[0], Mapping):
        names = tuple(map(str, samples[0]))
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two {things} have the name {listed(twice)} as text; use other names")
        return tuple(samples[0].values()), names
    if len(samples) == 1 and hasattr(samples[0], "ngroups"):
        raise TypeError(
            "samples are grouped by pandas; pass them by name: "
            "dict(list(df.groupby('group')[columns]))"
        )
    return tuple(samples), ()


def two_names(
    given: Any, things: str = "samples", such: tuple[str, str] = ("before", "after")
) -> tuple[str, str]:
    """Check the names a user gives to two samples or other things.

    Raise an error unless they differ.
    """
    if (
        not isinstance(given, tuple | list)
        or len(given) != 2
        or not all(isinstance(x, str) and x for x in given)
    ):
        raise TypeError(f"names must be two texts, such as {such}; got {given!r}")
    if given[0] == given[1]:
        raise ValueError(
            f"names must differ, so that a reader can tell the {things} apart; both are "
            f"{given[0]!r}"
        )
    return given[0], given[1]


def named_variables(
    variables: Sequence[Any], column_types: Any
) -> tuple[tuple[Any, ...], tuple[str, ...], dict[str, Any]]:
    """Variables, their names if they are given as one mapping, and how to read them.

    The columns of one table.
    """
    given, names = named_samples(variables, "variables")
    types = checked_types(column_types)
    if len(given) == 1 and not names and (columns := names_in(given[0])):
        given = tuple(
            columns_at(given[0], [j]) for j, name in enumerate(columns) if types.get(name) != DROP
        )
        types = {key: kind for key, kind in types.items() if key not in columns or kind != DROP}
    return given, names, types
