"""Reading of users' data: samples of the same variables or variables observed together, with labels of their rows."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shrinktest._labels import codes, pooled_labels, same_order, vector
from shrinktest._validate import (
    NAN_POLICIES,
    Array,
    Columns,
    Points,
    as_points,
    choice,
    counted,
    listed,
    missing_values,
)
from shrinktest.nulls.restriction import SHIFTS, Restriction

Rows = NDArray[np.bool_]

#: What messages call two samples, or two variables.
XY = ("X", "Y")


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of the same variables, as numbers.

    Parameters
    ----------
    values : tuple of ndarray, shape (n_i, d)
        The samples, float64 and C-contiguous; copies of what the user gave.
    columns : tuple of str, optional
        Names of the d columns, from the first data frame.
    missing : bool
        Whether values are missing, which they are under nan_policy="propagate" only.
    restriction : Restriction
        Which relabellings the labels of the observations allow.
    """

    values: tuple[Array, ...]
    columns: Columns
    missing: bool
    restriction: Restriction

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of observations."""
        return tuple(map(len, self.values))


@dataclass(frozen=True, eq=False)
class Variables:
    """Variables observed together, as numbers: row i of every one is the same observation.

    Parameters
    ----------
    values : tuple of ndarray, shape (n, d_v)
        The variables, float64 and C-contiguous; copies of what the user gave.
    columns : tuple
        For every variable the names of its columns, or None.
    missing : bool
        Whether values are missing, which they are under nan_policy="propagate" only.
    restriction : Restriction
        Which relabellings the labels of the observations allow.
    """

    values: tuple[Array, ...]
    columns: tuple[Columns, ...]
    missing: bool
    restriction: Restriction


def numbered(word: str, count: int) -> tuple[str, ...]:
    """What messages call several: "samples[0]", "samples[1]", ..."""
    return tuple(f"{word}[{i}]" for i in range(count))


# --- the two readers ----------------------------------------------------------------------------------------


def read_samples(
    samples: Sequence[Any],
    names: Sequence[str],
    nan_policy: str,
    *,
    blocks: Any = None,
    paired: Any = False,
    groups: Any = None,
) -> Samples:
    """Numbers and restriction of samples of the same variables.

    Parameters
    ----------
    samples : sequence of array_like
        The columns of data frames are matched by name, in the order of the first.
    names : sequence of str
        What messages call the samples: :data:`XY`, or :func:`numbered`.
    nan_policy : {"raise", "omit", "propagate"}
        Under "omit", rows with missing values are dropped with their labels; of a pair, both observations.
    blocks, groups : array_like, optional
        Labels: a vector for the pooled observations, sample after sample, or a vector for every sample.
    paired : bool
        Whether row i of both samples is a pair.

    Raises
    ------
    TypeError, ValueError
        For what cannot be tested; the message names the argument and says what to do.
    """
    if not isinstance(paired, bool | np.bool_):
        raise TypeError(f"paired must be True or False, got {paired!r}")
    labels = {"blocks": blocks, "groups": groups}
    for name, given in labels.items():
        if paired and given is not None:
            raise ValueError(
                f"paired=True exchanges the two observations of a pair only, so that {name}= has nothing to say; leave "
                "it out, or leave out paired=True (matched groups: blocks= names the match, groups= the group)"
            )
    read = _points(samples, names, "samples", nan_policy)
    columns = next((points.columns for points in read if points.columns is not None), None)
    matched = _same_variables(read, names)
    complete = _complete_rows(matched, names, nan_policy)
    omit, missing = nan_policy == "omit", not all(rows.all() for rows in complete)
    if paired:
        values = _pairs(samples, names, matched, complete, omit)
        return Samples(values, columns, missing and not omit, Restriction(paired=True))
    values = tuple(
        points.values[rows] if omit else points.values for points, rows in zip(matched, complete, strict=True)
    )
    for found, name, rows in zip(values, names, complete, strict=True):
        _at_least_two_rows(found, name, rows)
    if blocks is None and groups is None:
        return Samples(values, columns, missing and not omit, Restriction())
    keep = np.concatenate(complete) if omit else np.ones(sum(map(len, complete)), dtype=bool)
    sizes = tuple(map(len, complete))
    block, group = (
        None
        if given is None
        else codes(pooled_labels(given, name, samples, names, sizes, _together(names, name)), name, keep)
        for name, given in labels.items()
    )
    sample = np.repeat(np.arange(len(values)), tuple(map(len, values)))
    where = "both X and Y" if _two(names) else "more than one sample"
    return Samples(values, columns, missing and not omit, _checked(block, group, sample, where))


def read_variables(
    variables: Sequence[Any],
    names: Sequence[str],
    nan_policy: str,
    *,
    blocks: Any = None,
    groups: Any = None,
    shift: Any = None,
) -> Variables:
    """Numbers and restriction of variables observed together.

    Parameters
    ----------
    variables : sequence of array_like
        As many rows in each.
    names : sequence of str
        What messages call the variables: :data:`XY`, or :func:`numbered`.
    nan_policy : {"raise", "omit", "propagate"}
        Under "omit", a row is dropped, with its labels, when any variable misses a value.
    blocks, groups : array_like, optional
        A label for every row.
    shift : {"circular"}, optional
        That relabellings are shifts in time.

    Raises
    ------
    TypeError, ValueError
        For what cannot be tested; the message names the argument and says what to do.
    """
    read = _points(variables, names, "variables", nan_policy)
    columns, every = tuple(points.columns for points in read), "X and Y" if _two(names) else "every variable"
    size = len(read[0].values)
    for variable, points, name in zip(variables[1:], read[1:], names[1:], strict=True):
        if len(points.values) != size:
            rows = "row i of X and row i of Y" if _two(names) else "row i of every variable"
            raise ValueError(
                f"{names[0]} has {counted(size, 'row')} and {name} has {counted(len(points.values), 'row')}; "
                f"{rows} must be the same observation"
            )
        _check_same_index(variables[0], variable, names[0], name)
    complete = np.all(_complete_rows(read, names, nan_policy), axis=0)
    keep = complete if nan_policy == "omit" else np.ones(size, dtype=bool)
    values = tuple(points.values[keep] if nan_policy == "omit" else points.values for points in read)
    _at_least_two_rows(values[0], every, complete)
    missing = nan_policy != "omit" and not bool(complete.all())
    if blocks is None and groups is None and shift is None:
        return Variables(values, columns, missing, Restriction())
    if shift is not None:
        _check_shift(shift, groups, keep)
    read_labels = []
    for given, name in ((blocks, "blocks"), (groups, "groups")):
        if given is not None:
            same_order(given, name, variables[0], names[0])
            given = codes(vector(given, name, size, every), name, keep)
        read_labels.append(given)
    return Variables(values, columns, missing, _checked(*read_labels, shift=shift is not None))


# --- values -------------------------------------------------------------------------------------------------


def _two(names: Sequence[str]) -> bool:
    """Whether messages speak of two, X and Y, rather than of several."""
    return tuple(names) == XY


def _together(names: Sequence[str], labels: str) -> str:
    """What messages call the samples one after the other, and how their labels may be given."""
    if _two(names):
        return f"X and Y together (or give a pair, {labels}=(those of X, those of Y))"
    return "all samples together (or give a list, a vector for each sample)"


def _points(tables: Sequence[Any], names: Sequence[str], things: str, nan_policy: str) -> list[Points]:
    """The numbers of two or more ``things``, that is samples or variables."""
    choice(nan_policy, NAN_POLICIES, "nan_policy")
    if len(tables) < 2:
        raise ValueError(
            f"give two {things} or more, each as an argument of its own (such as *{things}); found {len(tables)}"
        )
    return [as_points(table, name) for table, name in zip(tables, names, strict=True)]


def _same_variables(read: list[Points], names: Sequence[str]) -> list[Points]:
    """The samples with their columns in one order, that of the first data frame."""
    every = "both" if _two(names) else "all"
    first = next((i for i, points in enumerate(read) if points.columns is not None), 0)
    columns, width, found = read[first].columns, read[0].values.shape[1], []
    for points, name in zip(read, names, strict=True):
        if points.columns is not None and columns is not None and points is not read[first]:
            lacking = [label for label in columns if label not in points.columns]
            extra = [label for label in points.columns if label not in columns]
            if lacking or extra:
                differences = [
                    f"only in {where}: {listed(labels)}"
                    for where, labels in ((names[first], lacking), (name, extra))
                    if labels
                ]
                raise ValueError(
                    f"{names[first]} and {name} have different columns ({'; '.join(differences)}); "
                    f"select the same in {every}"
                )
            order = [points.columns.index(label) for label in columns]
            points = Points(np.ascontiguousarray(points.values[:, order]), columns)
        if points.values.shape[1] != width:
            raise ValueError(
                f"{names[0]} has {counted(width, 'column')} and {name} has "
                f"{counted(points.values.shape[1], 'column')}; "
                f"{every} samples must hold the same variables, one per column"
            )
        found.append(points)
    return found


def _complete_rows(read: list[Points], names: Sequence[str], nan_policy: str) -> list[Rows]:
    """For every table, which rows miss nothing."""
    found = []
    for points, name in zip(read, names, strict=True):
        missing = np.isnan(points.values)
        if nan_policy == "raise" and missing.any():
            raise ValueError(
                f"{name} has {missing_values(points, missing)}; remove or impute them, or pass nan_policy='omit' "
                "to drop their rows (nan_policy='propagate' gives a p-value of nan)"
            )
        found.append(np.asarray(~missing.any(axis=1)))
    return found


def _at_least_two_rows(values: Array, name: str, complete: Rows) -> None:
    if len(values) >= 2:
        return
    dropped = len(complete) - len(values)
    why = f" once the {counted(dropped, 'row')} with missing values are dropped" if dropped else ""
    raise ValueError(f"{name} has {counted(len(values), 'row')}{why}; a test needs at least 2 (one per observation)")


def _pairs(
    samples: Sequence[Any], names: Sequence[str], read: list[Points], complete: list[Rows], omit: bool
) -> tuple[Array, ...]:
    """Two samples of which row i and row i are a pair, without pairs that miss a value if these are to be dropped."""
    x, y = (points.values for points in read)
    for values, name, rows in zip((x, y), names, complete, strict=True):
        _at_least_two_rows(values, name, rows)
    if len(x) != len(y):
        raise ValueError(f"paired=True needs as many rows in X as in Y, row i of each a pair; found {len(x)}, {len(y)}")
    _check_same_index(*samples, *names)
    keep = complete[0] & complete[1]
    if not omit or keep.all():
        return x, y
    _at_least_two_rows(x[keep], "X and Y", keep)
    return x[keep], y[keep]


def _check_same_index(X: Any, Y: Any, x: str, y: str) -> None:
    """Two tables whose labels differ were cut or sorted differently: their rows are not pairs."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not all(isinstance(z, (pandas.DataFrame, pandas.Series)) for z in (X, Y)):
        return
    if not X.index.equals(Y.index):
        row = next((i for i, (a, b) in enumerate(zip(X.index, Y.index, strict=True)) if a != b), 0)
        raise ValueError(
            f"{x} and {y} have different row labels (row {row} is {X.index[row]} in {x}, {Y.index[row]} in {y}), "
            f"so their rows would be mispaired; align them (such as {y}.loc[{x}.index]), "
            f"or pass {x}.to_numpy() and {y}.to_numpy() to pair them by position"
        )


# --- labels of observations ---------------------------------------------------------------------------------


def _check_shift(shift: Any, groups: Any, keep: Rows) -> None:
    choice(shift, SHIFTS, "shift")
    if groups is not None:
        raise ValueError(
            f"shift={shift!r} moves single observations along in time, and groups= moves several at once; leave "
            "one of them out (series that are shifted apart from each other: blocks=)"
        )
    if not keep.all():
        raise ValueError(
            f"shift={shift!r} needs series without gaps, and nan_policy='omit' would cut out "
            f"{int((~keep).sum())} rows; fill them in (interpolate), or test a part without missing values"
        )


def _checked(
    blocks: np.ndarray | None,
    groups: np.ndarray | None,
    sample: np.ndarray | None = None,
    where: str = "",
    *,
    shift: bool = False,
) -> Restriction:
    """A restriction whose groups lie each in one block and in one sample."""

    def cut_by(labels: np.ndarray | None) -> bool:
        if groups is None or labels is None:
            return False
        return len(np.unique(np.column_stack([groups, labels]), axis=0)) > np.unique(groups).size

    if cut_by(sample):
        raise ValueError(
            f"groups: some groups have observations in {where}, so that they cannot move as a whole; where the "
            "samples differ within groups, relabel within them: blocks= instead of groups="
        )
    if cut_by(blocks):
        raise ValueError(
            "groups: some groups have observations in more than one block, which they would leave when they move as a "
            "whole; make blocks of whole groups, or leave one of the two out"
        )
    return Restriction(blocks, groups, shift=shift)
