"""Reading of users' data: samples of the same variables or variables observed together, with labels of their rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shrinktest._check import NAN_POLICIES, Array, Columns, choice, counted, flag
from shrinktest.data.column import DROP
from shrinktest.data.encoding import Encoding
from shrinktest.data.labels import (
    as_labels,
    columns_of_labels,
    label_codes,
    note_on_labels,
    patterns_kept,
    pooled_labels,
)
from shrinktest.data.observed import (
    Observed,
    at_least_two_rows,
    check_column_types,
    check_pairs,
    checked_types,
    observed,
)
from shrinktest.data.tables import check_same_index, label_of
from shrinktest.notes import note
from shrinktest.permutations.design import PermutationDesign, check_shift, design_of
from shrinktest.units import Scale

Rows = NDArray[np.bool_]

_LEAST = 0.001  # smallest indicator in pairs, as a share of its usual size: a smaller one would drown in rounding

#: What messages call two samples, or two variables.
XY = ("X", "Y")


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of the same variables, as numbers."""

    values: tuple[Array, ...]  # (n_i, d): the samples, float64 and C-contiguous; copies of what the user gave
    missing: bool  # whether values are missing, which they are under nan_policy="propagate" only
    restriction: PermutationDesign  # which relabellings the labels of the observations allow
    scale: Scale | None = None  # units that a kernel is to compare the columns in; tables are in theirs already
    encoding: Encoding | None = None  # how columns of tables became the numbers
    notes: tuple[str, ...] = ()  # what was left out, and by what units
    kept: tuple[Rows, ...] = ()  # for every one, which rows of what the user gave were not dropped
    # columns that are not tested, because they look as if they identified rows, and why
    left_out: Mapping[str, str] = field(default_factory=dict)
    observed: tuple[Observed, ...] = ()  # all rows of all samples, before any was dropped
    with_values: int = 0  # how many of the rows that were dropped have a value in some column

    @property
    def columns(self) -> Columns:
        """Names of the columns of tables."""
        return None if self.encoding is None else self.encoding.columns

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of observations."""
        return tuple(map(len, self.values))

    def matched(self) -> Samples:
        """Return pairs of which only complete ones are compared by their values; see :func:`_matched`."""
        gaps = [] if self.encoding is None else [code.name for code in self.encoding.codes if code.indicated]
        if self.encoding is None or not gaps:
            return self
        encoding, points = _matched(self.encoding, np.vstack(self.values))
        first, second = map(np.ascontiguousarray, np.split(points, 2))
        return replace(
            self,
            values=(first, second),
            encoding=encoding,
            notes=(*self.notes, note("complete-pairs", columns=", ".join(gaps))),
        )


@dataclass(frozen=True, eq=False)
class Variables:
    """Variables observed together, as numbers: row i of every one is the same observation."""

    values: tuple[Array, ...]  # (n, d_v): the variables, float64 and C-contiguous; copies of what the user gave
    missing: bool  # whether values are missing, which they are under nan_policy="propagate" only
    restriction: PermutationDesign  # which relabellings the labels of the observations allow
    # for every variable what :class:`Samples` has for all samples
    scales: tuple[Scale | None, ...] = ()
    encodings: tuple[Encoding | None, ...] = ()
    labels: tuple[str | None, ...] = ()  # names of the variables, of those that are series or one column
    notes: tuple[str, ...] = ()  # what was left out, and by what units
    kept: tuple[Rows, ...] = ()  # for every one, which rows of what the user gave were not dropped
    observed: tuple[Observed, ...] = ()  # for every one, all rows, before any was dropped
    gaps: tuple[Rows, ...] = ()  # for every one, which values of the rows that were dropped are missing
    left_out: tuple[Mapping[str, str], ...] = ()  # for every one what :class:`Samples` has

    @property
    def columns(self) -> tuple[Columns, ...]:
        """For every variable the names of its columns, or None."""
        return tuple(None if entry is None else entry.columns for entry in self.encodings)


def _matched(encoding: Encoding, points: Array) -> tuple[Encoding, Array]:
    """Compare the values of complete pairs only, and missing values by themselves.

    ``points`` (2n, number of features) are encoded rows; row i and row n + i are a pair.  If one of the two misses a
    value, both get the number that stands for a missing one, so that only the indicator differs.  The indicator becomes
    as large as the typical distance of two values in a pair (root mean square), and no larger than it was: beside pairs
    that are much alike, one gap would otherwise outweigh all values.  Exchanging the rows of a pair exchanges the
    results, and changes nothing else, so that permutation tests of pairs stay exact.

    Returns the encoding with these sizes of indicators, and the points.
    """
    points, units = points.copy(), list(encoding.units.scale)
    for code, group in zip(encoding.codes, encoding.groups, strict=True):
        if not code.indicated:
            continue
        values, gap = slice(group.start, group.stop - 1), group.stop - 1
        missing = points[:, gap] != 0.0
        incomplete = np.logical_or(*np.split(missing, 2))
        points[np.tile(incomplete, 2), values] = points[missing.argmax(), values]
        first, second = np.split(points[:, values], 2)
        squares = np.square(first - second)[~incomplete].sum(axis=1)
        if squares.any():
            size = points[:, gap].max()
            share = float(np.clip(np.sqrt(squares.mean()) / size, _LEAST, 1.0))
            points[:, gap] *= share
            units[gap] = float(units[gap]) / share
    return replace(encoding, units=replace(encoding.units, scale=tuple(units))), points


# --- the two readers ----------------------------------------------------------------------------------------


def read_samples(
    samples: Sequence[Any],
    names: Sequence[str],
    nan_policy: str,
    *,
    scale: Any = None,
    column_types: Any = None,
    transform: Any = None,
    blocks: Any = None,
    paired: Any = False,
    groups: Any = None,
    covariates: Sequence[Rows] | None = None,
    labels: bool = False,
    same_units: bool = True,
) -> Samples:
    """Numbers and restriction of samples of the same variables.

    Columns of tables are matched by name, in the order of the first.  Messages call the samples as ``names`` says, see
    :data:`XY` and :func:`numbered`.  By ``nan_policy`` "omit" rows with missing values are dropped with their labels;
    of a pair, all its observations.  ``scale``, ``column_types`` and ``transform`` are as users give them; the last is
    done to all rows before, without their labels.

    ``blocks`` and ``groups`` are labels: a vector for the pooled observations, sample after sample, or a vector for
    every sample.  Where samples are ``paired``, row i of all of them belong together.  For every sample ``covariates``
    says which of its rows have complete covariates.  With ``labels`` a column alone says which rows belong together,
    and is not compared.  With ``same_units`` it is said where the same units may be in all samples; `blocks` can take
    account of that.

    Raises TypeError or ValueError for what cannot be tested; the message names the argument and says what to do.
    """
    flag(paired, "paired")
    given_labels = {"blocks": blocks, "groups": groups}
    for name, given in given_labels.items():
        if paired and given is not None:
            raise ValueError(
                f"{name}= does not apply to paired=True; leave out one of them (for matched groups, blocks= names the "
                "match and groups= the group)"
            )
    _check_number(samples, "samples", nan_policy)
    of_labels_in: tuple[str, ...] = ()
    if transform is None:
        column_types, of_labels_in = columns_of_labels(given_labels, samples, column_types, scale)
    data = observed(samples, names, nan_policy, column_types, transform, labels=labels)
    check_column_types(column_types, [data])
    complete, omit = data.complete(nan_policy, given=labels), nan_policy == "omit"
    if covariates is not None:
        for rows, size, name in zip(covariates, data.sizes, names, strict=True):
            if len(rows) != size:
                raise ValueError(
                    f"covariates of {name} have {counted(len(rows), 'row')}, and {name} has {counted(size, 'row')}; "
                    "give them for the same rows"
                )
        complete = [rows & others for rows, others in zip(complete, covariates, strict=True)]
    if paired:
        check_pairs(samples, data, names, complete, omit)
        matched = [np.logical_and.reduce(complete)] * len(complete)
        keep = matched if omit else [np.ones(size, dtype=bool) for size in data.sizes]
    else:
        keep = complete if omit else [np.ones(size, dtype=bool) for size in data.sizes]
        for i, (rows, name) in enumerate(zip(keep, names, strict=True)):
            at_least_two_rows(int(rows.sum()), name, rows, missing=data.missing_in(i) if omit else None)
    taken = data.taken(np.concatenate(keep), scale, "scale", indicate=nan_policy == "indicator")
    ends = np.cumsum([int(rows.sum()) for rows in keep])[:-1]
    values = tuple(np.ascontiguousarray(part) for part in np.split(taken.values, ends))
    missing = not omit and not all(rows.all() for rows in complete)
    restriction = PermutationDesign(paired=True) if paired else PermutationDesign()
    if not paired and (blocks is not None or groups is not None):
        block, group = (
            None
            if given is None
            else label_codes(
                pooled_labels(given, name, samples, names, data.sizes, _together(names, name)),
                name,
                np.concatenate(keep),
            )
            for name, given in given_labels.items()
        )
        sample = np.repeat(np.arange(len(values)), tuple(map(len, values)))
        restriction = design_of(block, group, sample, "both X and Y" if _two(names) else "more than one sample")
    notes: tuple[str, ...] = (*of_labels_in, *data.omitted(keep), *taken.notes)
    if paired or (same_units and blocks is None and groups is None and covariates is None):
        notes += data.units(paired=bool(paired))
    if not labels:
        notes += note_on_labels(data.as_columns(), data.sizes, names)
    full = data.with_values(keep, together=bool(paired))
    return Samples(
        values, missing, restriction, taken.scale, taken.encoding, notes, tuple(keep), data.left_out, (data,), full
    )


def read_variables(
    variables: Sequence[Any],
    names: Sequence[str],
    nan_policy: str,
    *,
    scale: Any = None,
    column_types: Any = None,
    transform: Any = None,
    blocks: Any = None,
    groups: Any = None,
    shift: Any = None,
    labels: Sequence[str] = (),
    dropped: Mapping[str, Collection[str]] = {},
) -> Variables:
    """Numbers and restriction of variables observed together.

    There are as many rows in each.  Messages call the variables as ``names`` says, see :data:`XY` and
    :func:`numbered`.  By ``nan_policy`` "omit" a row is dropped, with its labels, when any variable misses a value.
    ``scale``, the units of the columns, and ``transform``, what is done to the rows before, are one for all variables,
    or a list with one for each; ``column_types`` says how columns of tables are read.

    ``blocks`` and ``groups`` have a label for every row; with the ``shift`` "circular" relabellings are shifts in
    time.  ``labels`` are names of variables that say which rows belong together, or are taken as given, and are not
    compared.  ``dropped`` has, by the names of variables, columns to leave out.

    Raises TypeError or ValueError for what cannot be tested; the message names the argument and says what to do.
    """
    _check_number(variables, "variables", nan_policy)
    transforms = _one_each(transform, names, "transform")
    data: list[Observed] = []
    of_labels_in: tuple[str, ...] = ()
    units = scale if isinstance(scale, list | tuple) and len(scale) == len(variables) else [scale] * len(variables)
    for variable, name, change, unit in zip(variables, names, transforms, units, strict=True):
        types, label_sets = column_types, {"blocks": [blocks], "groups": [groups]}
        if change is None and name not in labels:
            types, more = columns_of_labels(label_sets, [variable], column_types, unit)
            of_labels_in += more
        if dropped.get(name):
            types = {**checked_types(types), **dict.fromkeys(dropped[name], DROP)}
        data.append(observed([variable], [name], nan_policy, types, change, labels=name in labels))
    check_column_types(column_types, data)
    every, size = "X and Y" if _two(names) else "every variable", data[0].sizes[0]
    for variable, entry, name in zip(variables[1:], data[1:], names[1:], strict=True):
        if entry.sizes[0] != size:
            rows = "row i of X and row i of Y" if _two(names) else "row i of every variable"
            raise ValueError(
                f"{names[0]} has {counted(size, 'row')} and {name} has {counted(entry.sizes[0], 'row')}; "
                f"{rows} must be the same observation"
            )
        check_same_index(variables[0], variable, names[0], name)
    conditions = [id(variable) for variable, name in zip(variables, names, strict=True) if name in labels]
    as_given = [id(variable) in conditions for variable in variables]
    complete = np.all([entry.complete(nan_policy, given=z)[0] for entry, z in zip(data, as_given, strict=True)], axis=0)
    keep = complete if nan_policy == "omit" else np.ones(size, dtype=bool)
    gaps = {name: entry for each in data for name, entry in each.missing_in(0).items()}
    at_least_two_rows(int(keep.sum()), every, keep, missing=gaps if nan_policy == "omit" else None)
    scales = scales_of(scale, [entry.columns for entry in data], names)
    taken = [
        rows.taken(keep, *unit, indicate=nan_policy == "indicator") for rows, unit in zip(data, scales, strict=True)
    ]
    omitted = _omitted_together(variables, data, keep)
    found = Variables(
        values=tuple(entry.values for entry in taken),
        missing=nan_policy != "omit" and not bool(complete.all()),
        restriction=PermutationDesign(),
        scales=tuple(entry.scale for entry in taken),
        encodings=tuple(entry.encoding for entry in taken),
        labels=tuple(_label(variable, entry.columns) for variable, entry in zip(variables, data, strict=True)),
        notes=tuple(dict.fromkeys((*of_labels_in, *omitted, *(note for entry in taken for note in entry.notes)))),
        kept=(keep,) * len(data),
        observed=tuple(data),
        gaps=tuple(entry.missing()[~keep] for entry in data),
        left_out=tuple(entry.left_out for entry in data),
    )  # fmt: skip
    if blocks is None and groups is None and shift is None:
        return found
    if shift is not None:
        check_shift(shift, groups, keep)
    read_labels, places = [], None
    for given, name in ((blocks, "blocks"), (groups, "groups")):
        if given is not None:
            check_same_index(variables[0], given, names[0], name)
            whole = as_labels(given, name, size, every)
            given = label_codes(whole, name, keep)
            places = patterns_kept(whole, keep) if name == "groups" else None
        read_labels.append(given)
    restriction = design_of(*read_labels, shift=shift is not None)
    return replace(found, restriction=restriction if places is None else replace(restriction, places=places))


def _omitted_together(given: Sequence[Any], read: Sequence[Observed], keep: Rows) -> tuple[str, ...]:
    """Return notes on rows of variables that were left out, and for which columns.

    A table that is ``given`` for several variables is spoken of once.
    """
    if keep.all():
        return ()
    once = [entry for v, entry in enumerate(read) if not any(given[v] is before for before in given[:v])]
    why = " and ".join(f"{holes} of {entry.names[0]}" for entry in once if (holes := entry.holes()))
    rows = f"{int((~keep).sum())} of {counted(len(keep), 'row')}"
    return (note("missing-left-out", rows=rows, where=f"; missing in {why}"),)


def scales_of(scale: Any, columns: Sequence[Columns], names: Sequence[str]) -> list[tuple[Any, str]]:
    """For every variable its units, and what messages call them: one for all, or a list with one for each."""
    if scale is None or isinstance(scale, str):
        return [(scale, "scale")] * len(names)
    if hasattr(scale, "keys"):
        known = [name for entry in columns for name in entry or ()]
        if not known:
            raise ValueError("scale gives units by names of columns, which arrays do not have; give a list of them")
        for key in scale.keys():  # noqa: SIM118  # a series iterates over its values
            choice(str(key), known, "a column in scale")
        each = [{key: scale[key] for key in scale.keys() if str(key) in (entry or ())} for entry in columns]  # noqa: SIM118
        return [(found if entry else None, "scale") for entry, found in zip(columns, each, strict=True)]
    if (
        not isinstance(scale, list | tuple)
        or len(scale) != len(names)
        or not all(unit is None or isinstance(unit, str) or np.ndim(unit) or hasattr(unit, "keys") for unit in scale)
    ):
        raise ValueError(
            f"scale must be one name, or a list with a name, None or numbers for each of {len(names)} variables; got "
            f"{scale!r}"
        )
    return [(entry, f"scale[{v}]") for v, entry in enumerate(scale)]


# --- what messages call them, and what must fit together ----------------------------------------------------


def _two(names: Sequence[str]) -> bool:
    """Return True if messages speak of X and Y rather than of several samples."""
    return tuple(names) == XY


def _together(names: Sequence[str], labels: str) -> str:
    """Return the words of messages for the samples together, and for how to give their labels."""
    if _two(names):
        return f"X and Y together (or give a pair, {labels}=(those of X, those of Y))"
    return "all samples together (or give a list, a vector for each sample)"


def _check_number(tables: Sequence[Any], things: str, nan_policy: str) -> None:
    """Raise ValueError for fewer than two ``things``, that is samples or variables, and for unknown policies."""
    check_nan_policy(nan_policy)
    if len(tables) < 2:
        all_in_one = "a dict or a DataFrame" if things == "variables" else "a dict"
        raise ValueError(
            f"give two {things} or more, each as its own argument, or {all_in_one} of them; got {len(tables)}"
        )


def check_nan_policy(nan_policy: str) -> None:
    """Raise ValueError for policies that are not known, or for another test."""
    choice(nan_policy, NAN_POLICIES, "nan_policy")


def _one_each(given: Any, names: Sequence[str], argument: str) -> list[Any]:
    if not isinstance(given, list | tuple):
        return [given] * len(names)
    if len(given) != len(names):
        raise ValueError(f"{argument} has {len(given)} entries for {len(names)} variables; give one for each, or one")
    return list(given)


def _label(variable: Any, columns: Columns) -> str | None:
    """The name of a variable: of a series, or of the one column of a table."""
    return columns[0] if columns is not None and len(columns) == 1 else label_of(variable)
