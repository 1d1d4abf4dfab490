"""User input for more than two: samples of the same variables, variables observed together, and columns that vary."""

from __future__ import annotations

from typing import Any

import numpy as np

from shrinktest._validate import (
    NAN_POLICIES,
    Array,
    Columns,
    Points,
    _at_least_two_rows,
    _check_same_index,
    _counted,
    _kept_rows,
    _listed,
    as_points,
    choice,
)
from shrinktest.nulls.restriction import Restriction, _checked, _codes, _is_vector, _kept, _same_order, _vector


def several_samples(samples: tuple[Any, ...], nan_policy: str) -> tuple[list[Array], Columns, bool]:
    """Samples of the same variables: (values of each, column names, whether missing values remain).

    The columns of data frames are matched by name, in the order of the first.

    Raises
    ------
    ValueError
        Fewer than two samples, different columns, fewer than two rows.
    """
    choice(nan_policy, NAN_POLICIES, "nan_policy")
    if len(samples) < 2:
        raise ValueError(
            f"give two samples or more, each as an argument of its own (such as *samples); found {len(samples)}"
        )
    names = [f"samples[{i}]" for i in range(len(samples))]
    read = [as_points(sample, name) for sample, name in zip(samples, names, strict=True)]
    first = next((i for i, points in enumerate(read) if points.columns is not None), 0)
    columns, width = read[first].columns, read[0].values.shape[1]
    values, missing = [], False
    for points, name in zip(read, names, strict=True):
        if points.columns is not None and columns is not None:
            points = _matched(points, columns, name, names[first])
        if points.values.shape[1] != width:
            raise ValueError(
                f"{names[0]} has {_counted(columns=width)} and {name} has {_counted(columns=points.values.shape[1])}; "
                "all samples must hold the same variables, one per column"
            )
        kept, remain = _without_missing(points, name, nan_policy)
        values.append(kept)
        missing = missing or remain
    return values, columns, missing


def read_several(
    samples: tuple[Any, ...], nan_policy: str, *, blocks: Any = None, groups: Any = None
) -> tuple[list[Array], bool, Restriction]:
    """Samples of the same variables, whether missing values remain, and the restriction of their partitions.

    Labels are a vector for the pooled observations, sample after sample, or a list with a vector for every sample.
    Under nan_policy="omit" the labels of rows with missing values are dropped with them.
    """
    values, _, missing = several_samples(samples, nan_policy)
    if blocks is None and groups is None:
        return values, missing, Restriction()
    whole = [as_points(sample, f"samples[{i}]").values for i, sample in enumerate(samples)]
    keep = _kept(np.vstack(whole), nan_policy)
    read = [
        None if labels is None else _codes(_of_all(labels, name, samples, whole), name, keep)
        for labels, name in ((blocks, "blocks"), (groups, "groups"))
    ]
    sample = np.repeat(np.arange(len(values)), [len(rows) for rows in values])
    return values, missing, _checked(read[0], read[1], sample, "more than one sample")


def _of_all(labels: Any, name: str, samples: tuple[Any, ...], whole: list[Array]) -> list[Any]:
    """Labels of the pooled observations, from one vector or one for each sample."""
    if not (isinstance(labels, tuple | list) and len(labels) == len(whole) and all(map(_is_vector, labels))):
        total = sum(len(rows) for rows in whole)
        return _vector(labels, name, total, "all samples together (or give a list, a vector for each sample)")
    found: list[Any] = []
    for i, (one, rows) in enumerate(zip(labels, whole, strict=True)):
        _same_order(one, name, samples[i], f"samples[{i}]")
        found += _vector(one, name, len(rows), f"samples[{i}]")
    return found


def joint_variables(variables: tuple[Any, ...], nan_policy: str) -> tuple[list[Array], bool]:
    """Variables observed together, row by row: (values of each, whether missing values remain).

    nan_policy="omit" drops a row when any variable misses a value.
    """
    choice(nan_policy, NAN_POLICIES, "nan_policy")
    if len(variables) < 2:
        raise ValueError(
            f"give two variables or more, each as an argument of its own (such as *variables); found {len(variables)}"
        )
    names = [f"variables[{i}]" for i in range(len(variables))]
    read = [as_points(variable, name) for variable, name in zip(variables, names, strict=True)]
    for variable, points, name in zip(variables[1:], read[1:], names[1:], strict=True):
        if len(points.values) != len(read[0].values):
            raise ValueError(
                f"{names[0]} has {_counted(len(read[0].values))} and {name} has {_counted(len(points.values))}; "
                "row i of every variable must be the same observation"
            )
        _check_same_index(variables[0], variable, names[0], name)
    keep = np.all([_kept_rows(points, name, nan_policy) for points, name in zip(read, names, strict=True)], axis=0)
    values = [points.values for points in read]
    if nan_policy == "omit":
        values = [found[keep] for found in values]
    _at_least_two_rows(values[0], "every variable", ~keep)
    return values, nan_policy != "omit" and not bool(keep.all())


def labelled(columns: Columns, count: int, prefix: str) -> tuple[str, ...]:
    """Names of columns: those of a table, or ``prefix`` and their number from 0."""
    return columns if columns is not None else tuple(f"{prefix}{j}" for j in range(count))


def require_variation(values: Array, labels: tuple[str, ...], name: str) -> None:
    """Raise if a column has one value only: no statistic can say anything about it, and it counts as a test."""
    constant = [label for label, column in zip(labels, values.T, strict=True) if np.ptp(column) == 0.0]
    if constant:
        several = len(constant) > 1
        raise ValueError(
            f"{name}: column{'s' * several} {_listed(constant)} {'have' if several else 'has'} the same value in every "
            f"row, so that there is nothing to test; leave {'them' if several else 'it'} out"
        )


def _matched(points: Points, columns: tuple[str, ...], name: str, reference: str) -> Points:
    assert points.columns is not None
    lacking = [label for label in columns if label not in points.columns]
    extra = [label for label in points.columns if label not in columns]
    if lacking or extra:
        differences = [
            f"only in {where}: {_listed(labels)}" for where, labels in ((reference, lacking), (name, extra)) if labels
        ]
        raise ValueError(
            f"{reference} and {name} have different columns ({'; '.join(differences)}); select the same in all"
        )
    order = [points.columns.index(label) for label in columns]
    return Points(np.ascontiguousarray(points.values[:, order]), columns)


def _without_missing(points: Points, name: str, nan_policy: str) -> tuple[Array, bool]:
    keep = _kept_rows(points, name, nan_policy)
    values = points.values[keep] if nan_policy == "omit" else points.values
    _at_least_two_rows(values, name, ~keep)
    return values, nan_policy != "omit" and not bool(keep.all())
