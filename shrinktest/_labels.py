"""Labels of observations, as users give them: vectors of anything that can be told apart become whole numbers."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shrinktest._validate import loaded_pandas


def pooled_labels(
    labels: Any, name: str, samples: Sequence[Any], names: Sequence[str], sizes: tuple[int, ...], together: str
) -> list[Any]:
    """Labels of the pooled observations, from one vector or one for each sample.

    ``names`` are what messages call the samples, and ``together`` all of them.
    """
    if not (isinstance(labels, tuple | list) and len(labels) == len(sizes) and all(map(is_vector, labels))):
        _same_order_as_all(labels, name, samples, names)
        return vector(labels, name, sum(sizes), together)
    found: list[Any] = []
    for one, sample, which, size in zip(labels, samples, names, sizes, strict=True):
        same_order(one, name, sample, which)
        found += vector(one, name, size, which)
    return found


def is_vector(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes)


def vector(labels: Any, name: str, size: int, what: str) -> list[Any]:
    """As many labels as there are observations."""
    if isinstance(labels, str):
        raise TypeError(
            f"{name} must be a vector of labels, one for each observation; got str (of a table, give the column "
            f"itself, such as table[{labels!r}])"
        )
    if not (isinstance(labels, Sequence) or hasattr(labels, "__array__")):
        raise TypeError(f"{name} must be a vector of labels, one for each observation; got {type(labels).__name__}")
    if getattr(labels, "ndim", 1) != 1:
        raise ValueError(f"{name} must be a vector of labels, one for each observation; got shape {labels.shape}")
    if len(labels) != size:
        raise ValueError(f"{name} has {len(labels)} labels, and there are {size} rows in {what}")
    if isinstance(labels, np.ndarray) and labels.dtype.kind == "M":  # whatever their unit
        labels = labels.astype("datetime64[us]")
    plain = getattr(labels, "tolist", None) or getattr(labels, "to_pylist", None)  # pyarrow calls it so
    found = list(plain() if plain else labels)
    midnight = datetime.time()
    return [datetime.datetime.combine(one, midnight) if type(one) is datetime.date else one for one in found]


def same_order(labels: Any, name: str, table: Any, which: str) -> None:
    """What pandas holds for the rows of a table must have its index."""
    pandas = loaded_pandas()
    both = () if pandas is None else (pandas.DataFrame, pandas.Series)
    if not (isinstance(labels, both) and isinstance(table, both)):
        return
    if len(labels) == len(table) and not labels.index.equals(table.index):
        same = table.index.is_unique and set(labels.index) == set(table.index)
        align = f"align them (such as {name}.loc[{which}.index]), or " if same else ""
        raise ValueError(
            f"{name} and {which} have different row labels, so that labels would belong to other rows; {align}pass "
            f"{name}.to_numpy() to go by position"
        )


def _same_order_as_all(labels: Any, name: str, samples: Sequence[Any], names: Sequence[str]) -> None:
    """Labels of all samples in one Series must not have the index of these in another order."""
    pandas = loaded_pandas()
    both = () if pandas is None else (pandas.DataFrame, pandas.Series)
    if pandas is None or not isinstance(labels, pandas.Series) or not all(isinstance(one, both) for one in samples):
        return
    whole = samples[0].index.append([one.index for one in samples[1:]])
    if labels.index.equals(whole) or Counter(labels.index) != Counter(whole):
        return
    raise ValueError(
        f"{name} has the row labels of {' and '.join(names)} in another order, so that labels would belong to other "
        f"rows; put them in the order of {', then '.join(names)}, or pass {name}.to_numpy() to go by position"
    )


def codes(labels: list[Any], name: str, keep: NDArray[np.bool_]) -> np.ndarray:
    """Whole numbers from 0 for the labels of the rows that are kept, in the order in which they are met."""
    pandas = loaded_pandas()
    codes: dict[Any, int] = {}
    out = np.empty(int(keep.sum()), dtype=np.int64)
    for place, row in enumerate(np.flatnonzero(keep)):
        label = labels[row]
        try:
            hash(label)
        except TypeError:
            raise TypeError(f"{name} must hold labels such as numbers or text; row {row} has {label!r}") from None
        if label is None or (pandas is not None and label is pandas.NA) or label != label:
            raise ValueError(f"{name} has no label for row {row} (counting from 0); every observation needs one")
        out[place] = codes.setdefault(label, len(codes))
    return out


def kept_places(labels: list[Any], keep: NDArray[np.bool_]) -> np.ndarray | None:
    """A whole number for every row that is kept: that of the places that its group kept; None if all kept every one.

    Labels of rows that are left out need not be there.

    Examples
    --------
    >>> kept_places(["a", "a", "b", "b", "c", "c"], np.array([True, True, True, False, False, True]))
    array([0, 0, 1, 2])
    """
    known = {labels[row] for row in np.flatnonzero(keep)}
    places: dict[Any, list[bool]] = {label: [] for label in known}
    for label, kept in zip(labels, keep.tolist(), strict=True):
        try:
            places[label].append(kept)
        except (KeyError, TypeError):  # all of its rows are left out, or its label is none
            continue
    if all(all(kept) for kept in places.values()):
        return None
    numbers: dict[tuple[bool, ...], int] = {}
    return np.array([numbers.setdefault(tuple(places[labels[row]]), len(numbers)) for row in np.flatnonzero(keep)])
