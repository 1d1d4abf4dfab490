"""Reading of users' data: samples of the same variables or joint variables, with row labels.

Joint variables are observed together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shrinktest._check import NAN_POLICIES, Columns, choice, counted, flag
from shrinktest.data.all_rows import (
    AllRows,
    Rows,
    at_least_two_rows,
    check_column_types,
    checked_types,
    read_rows,
)
from shrinktest.data.arrays import plain_arrays, samples_of, variables_of
from shrinktest.data.column import DROP
from shrinktest.data.kept_rows import KeptRows
from shrinktest.data.labels import (
    as_labels,
    columns_of_labels,
    label_codes,
    labels_in_order,
    note_on_labels,
    patterns_kept,
    pooled_labels,
)
from shrinktest.data.scale import ScaleOption
from shrinktest.data.tables import check_same_index, label_of
from shrinktest.notes import note
from shrinktest.permutations.design import PermutationDesign, design_of
from shrinktest.permutations.serial_correlation import OrderedRows, moved_in_time

#: What messages call two samples, or two variables.
XY = ("X", "Y")


@dataclass(frozen=True)
class ReadOptions:
    """Arguments of tests about columns and labels of rows, as users give them."""

    scale: ScaleOption
    column_types: Any = None
    transform: Any = None  # done to all rows before, without their labels
    blocks: Any = None
    groups: Any = None

    @classmethod
    def of(cls, *, scale: Any = None, **options: Any) -> ReadOptions:
        """Read the arguments of a test."""
        return cls(ScaleOption.of(scale), **options)

    def read(
        self,
        tables: Sequence[Any],
        names: Sequence[str],
        nan_policy: str,
        labels: Mapping[str, Any],
        *,
        apart: bool,
    ) -> tuple[AllRows, tuple[str, ...]]:
        """Read tables without the ``labels`` columns of their rows.

        Return also notes on these.

        Columns that are read ``apart`` say which rows belong together, or are taken as given, and
        are not compared.
        """
        types: Any = self.column_types
        notes: tuple[str, ...] = ()
        if self.transform is None and not apart:
            types, notes = columns_of_labels(labels, tables, types, self.scale)
        return read_rows(tables, names, nan_policy, types, self.transform, labels=apart), notes


# --- the two readers ------------------------------------------------------------------------------


def read_samples(
    samples: Sequence[Any],
    names: Sequence[str],
    nan_policy: str,
    *,
    paired: Any = False,
    covariates: Sequence[Rows] | None = None,
    labels: bool = False,
    same_units: bool = True,
    **options: Any,
) -> KeptRows:
    """Numbers and restriction of samples of the same variables.

    Columns of tables are matched by name, in the order of the first.  Messages call the samples
    ``names``.  By ``nan_policy`` "omit" rows with missing values are dropped with their labels; of
    a pair, all its observations.  ``options`` are those of :class:`ReadOptions`; ``blocks`` and
    ``groups`` are a vector of labels for the pooled observations, sample after sample, or a vector
    for every sample.

    Where samples are ``paired``, row i of all of them belong together.  For every sample
    ``covariates`` says which of its rows have complete covariates.  With ``labels`` columns are
    taken as given, and not compared.  With ``same_units`` a note says if the same units may be in
    all samples.

    Raises TypeError or ValueError for what cannot be tested; the message names the argument and
    says what to do.
    """
    if paired is False and covariates is None and not labels:
        arrays = plain_arrays(samples, nan_policy, options)
        if arrays is not None and len({array.shape[1] for array in arrays}) == 1:
            return samples_of(arrays, names, options.get("scale"))
    flag(paired, "paired")
    how = ReadOptions.of(**options)
    labels_of_rows = _labels_of_rows(how, names, paired)
    _check_number(samples, "samples", nan_policy)
    data, notes = how.read(samples, names, nan_policy, labels_of_rows, apart=labels)
    check_column_types(how.column_types, [data])
    complete = data.complete(nan_policy, given=labels)
    omit = nan_policy == "omit"
    if covariates is not None:
        complete = _with_covariates(complete, covariates, names)
    keep = (
        _pairs_kept(data, samples, names, complete, omit)
        if paired
        else _rows_kept(data, names, complete, omit)
    )
    pooled = np.concatenate(keep)
    variable, unit_notes = data.taken(pooled, how.scale, indicate=nan_policy == "indicator")
    sizes = tuple(int(rows.sum()) for rows in keep)
    restriction = PermutationDesign(paired=bool(paired))
    if how.blocks is not None or how.groups is not None:
        codes = [
            _codes(given, name, samples, names, data.sizes, pooled)
            for name, given in labels_of_rows.items()
        ]
        restriction = design_of(
            codes[0], codes[1], np.repeat(np.arange(len(sizes)), sizes), "more than one sample"
        )
    notes = (*notes, *data.omitted(keep), *unit_notes)
    if paired or (same_units and not restriction and covariates is None):
        notes += data.units(paired=bool(paired))
    columns = data.as_columns()
    if not labels and len(columns) == 1 and columns[0].kind == "number":
        notes += note_on_labels(np.split(columns[0].values, np.cumsum(data.sizes)[:-1]), names)
    return KeptRows(
        variables=(replace(variable, name=" and ".join(names)),),
        sizes=sizes,
        missing=not omit and not all(rows.all() for rows in complete),
        restriction=restriction,
        kept=tuple(keep),
        all_rows=(data,),
        notes=notes,
    )


def _labels_of_rows(how: ReadOptions, names: Sequence[str], paired: bool) -> dict[str, Any]:
    """Return blocks and groups in the order of samples; ValueError if they are ``paired``."""
    labels = {
        argument: labels_in_order(given, argument, names)
        for argument, given in (("blocks", how.blocks), ("groups", how.groups))
    }
    for argument, given in labels.items():
        if paired and given is not None:
            raise ValueError(
                f"{argument}= does not apply to paired=True; leave out one of them, or use blocks= "
                "with groups= labels"
            )
    return labels


def _with_covariates(
    complete: Sequence[Rows], covariates: Sequence[Rows], names: Sequence[str]
) -> list[Rows]:
    """Return which rows of every sample are complete and have complete covariates."""
    for rows, others, name in zip(complete, covariates, names, strict=True):
        _check_same_size(
            (f"covariates= for {name}", name),
            (len(others), len(rows)),
            "pass them for the same rows",
        )
    return [rows & others for rows, others in zip(complete, covariates, strict=True)]


def _rows_kept(
    data: AllRows, names: Sequence[str], complete: Sequence[Rows], omit: bool
) -> list[Rows]:
    """Return which rows of every sample are kept; raise ValueError if these are too few."""
    keep = list(complete) if omit else [np.ones(size, dtype=bool) for size in data.sizes]
    for i, (rows, name) in enumerate(zip(keep, names, strict=True)):
        at_least_two_rows(name, rows, data.missing_in(i) if omit else None)
    return keep


def _pairs_kept(
    data: AllRows,
    samples: Sequence[Any],
    names: Sequence[str],
    complete: Sequence[Rows],
    omit: bool,
) -> list[Rows]:
    """Return which pairs are kept, once for every sample.

    Raise ValueError if these are too few, or are none.
    """
    for size, name in zip(data.sizes, names, strict=True):
        at_least_two_rows(name, np.ones(size, dtype=bool))
    _check_same_rows(samples, names, data.sizes, "with paired=True row i of each is a pair")
    together = np.logical_and.reduce(complete)
    keep = together if omit else np.ones_like(together)
    at_least_two_rows(" and ".join(names), keep, data.missing_in())
    return [keep] * len(names)


def _codes(
    labels: Any,
    argument: str,
    samples: Sequence[Any],
    names: Sequence[str],
    sizes: tuple[int, ...],
    keep: Rows,
) -> np.ndarray | None:
    """Return the labels of rows of all samples that are kept as integers; None without labels."""
    if labels is None:
        return None
    every = " and ".join(names) if len(names) == 2 else "all samples"
    pooled = pooled_labels(labels, argument, samples, names, sizes, f"{every} together")
    return label_codes(pooled, argument, keep)


def read_variables(
    variables: Sequence[Any],
    names: Sequence[str],
    nan_policy: str,
    *,
    block_length: Any = None,
    labels: Sequence[str] = (),
    dropped: Mapping[str, Collection[str]] = {},
    **options: Any,
) -> KeptRows:
    """Numbers and restriction of variables observed together.

    There are as many rows in each.  Messages call the variables ``names``.  By ``nan_policy``
    "omit" a row is dropped, with its labels, when any variable misses a value.  ``options`` are
    those of :class:`ReadOptions`: ``scale`` and ``transform`` are one for all variables, or a list
    with one for each; ``blocks`` and ``groups`` have a label for every row.  ``block_length`` says
    how many successive rows of a series move together.

    ``labels`` are names of variables that say which rows belong together, or are taken as given,
    and are not compared. ``dropped`` has, by the names of variables, columns to leave out.

    Raises TypeError or ValueError for what cannot be tested; the message names the argument and
    says what to do.
    """
    if block_length is None and not labels and not dropped:
        arrays = plain_arrays(variables, nan_policy, options)
        if arrays is not None and len({len(array) for array in arrays}) == 1:
            return variables_of(arrays, names, options.get("scale"))
    how = ReadOptions.of(**options)
    _check_number(variables, "variables", nan_policy)
    data, notes = _read_each(variables, names, nan_policy, how, labels, dropped)
    check_column_types(how.column_types, data)
    every = " and ".join(names) if len(names) == 2 else "every variable"
    size = data[0].sizes[0]
    _check_same_rows(
        variables,
        names,
        [entry.sizes[0] for entry in data],
        "row i of each must be the same observation",
    )
    complete = _complete_together(variables, names, data, nan_policy, labels)
    omit = nan_policy == "omit"
    keep = complete if omit else np.ones(size, dtype=bool)
    gaps = {name: missing for entry in data for name, missing in entry.missing_in(0).items()}
    at_least_two_rows(every, keep, gaps if omit else None)
    taken = [
        rows.taken(keep, scale, indicate=nan_policy == "indicator")
        for rows, scale in zip(
            data, how.scale.of_variables([entry.columns for entry in data]), strict=True
        )
    ]
    notes += (
        *_omitted_together(variables, data, keep),
        *(text for _, texts in taken for text in texts),
    )
    restriction = _design(variables[0], names[0], every, how, keep)
    if block_length is not None:
        in_order = [OrderedRows.of([entry.points], entry.encoding) for entry, _ in taken]
        restriction = moved_in_time(block_length, in_order, restriction, keep)
    chosen = not how.scale.automatic
    return KeptRows(
        variables=tuple(
            replace(entry, name=name, units_chosen=chosen)
            for (entry, _), name in zip(taken, names, strict=True)
        ),
        sizes=(int(keep.sum()),),
        missing=not omit and not bool(complete.all()),
        restriction=restriction,
        kept=(keep,) * len(data),
        all_rows=tuple(data),
        notes=tuple(dict.fromkeys(notes)),
        called=tuple(
            _label(variable, entry.columns) for variable, entry in zip(variables, data, strict=True)
        ),
    )


def _read_each(
    variables: Sequence[Any],
    names: Sequence[str],
    nan_policy: str,
    how: ReadOptions,
    labels: Sequence[str],
    dropped: Mapping[str, Collection[str]],
) -> tuple[list[AllRows], tuple[str, ...]]:
    """Read every variable with its own units and transform; return also notes on labels of rows."""
    transforms = _one_each(how.transform, names, "transform")
    scales = how.scale.entries(len(variables))
    labels_of_rows = {"blocks": [how.blocks], "groups": [how.groups]}
    data: list[AllRows] = []
    notes: tuple[str, ...] = ()
    for variable, name, change, scale in zip(variables, names, transforms, scales, strict=True):
        types = how.column_types
        if dropped.get(name):
            types = {**checked_types(types), **dict.fromkeys(dropped[name], DROP)}
        own = replace(how, transform=change, scale=scale, column_types=types)
        entry, more = own.read([variable], [name], nan_policy, labels_of_rows, apart=name in labels)
        data.append(entry)
        notes += more
    return data, notes


def _complete_together(
    variables: Sequence[Any],
    names: Sequence[str],
    data: Sequence[AllRows],
    nan_policy: str,
    labels: Sequence[str],
) -> Rows:
    """Return which rows are complete in all variables; those in ``labels`` are conditions."""
    conditions = [
        id(variable) for variable, name in zip(variables, names, strict=True) if name in labels
    ]
    complete = np.ones(data[0].sizes[0], dtype=bool)
    for variable, entry in zip(variables, data, strict=True):
        complete &= entry.complete(nan_policy, given=id(variable) in conditions)[0]
    return complete


def _design(first: Any, name: str, every: str, how: ReadOptions, keep: Rows) -> PermutationDesign:
    """Return which rows may be exchanged, by labels of the ``first`` variable and the others.

    The labels are those of the rows.
    """
    codes: list[Any] = []
    places = None
    for argument, labels in (("blocks", how.blocks), ("groups", how.groups)):
        if labels is not None:
            check_same_index(first, labels, name, argument)
            entries = as_labels(labels, argument, len(keep), every)
            labels = label_codes(entries, argument, keep)
            places = patterns_kept(entries, keep) if argument == "groups" else None
        codes.append(labels)
    return replace(design_of(codes[0], codes[1]), places=places)


def _omitted_together(given: Sequence[Any], read: Sequence[AllRows], keep: Rows) -> tuple[str, ...]:
    """Return notes on rows of variables that were left out, and for which columns.

    A table that is ``given`` for several variables is spoken of once.
    """
    if keep.all():
        return ()
    once = [
        entry for v, entry in enumerate(read) if not any(given[v] is before for before in given[:v])
    ]
    why = " and ".join(f"{holes} of {entry.names[0]}" for entry in once if (holes := entry.holes()))
    rows = f"{int((~keep).sum())} of {counted(len(keep), 'row')}"
    return (note("missing-left-out", rows=rows, where=f"; missing in {why}"),)


# --- what messages call them, and what must fit together ------------------------------------------


def _check_number(tables: Sequence[Any], things: str, nan_policy: str) -> None:
    """Raise ValueError for fewer than two ``things``, and for unknown policies.

    The things are samples or variables.
    """
    check_nan_policy(nan_policy)
    if len(tables) < 2:
        all_in_one = "a dict or a DataFrame" if things == "variables" else "a dict"
        raise ValueError(
            f"pass two {things} or more, each as its own argument, or {all_in_one} of them; got "
            f"{len(tables)}"
        )


def _check_same_rows(
    tables: Sequence[Any], names: Sequence[str], sizes: Sequence[int], why: str
) -> None:
    """Raise ValueError for tables whose rows do not match those of the first.

    They must be as many, in the same order.
    """
    for table, name, size in zip(tables[1:], names[1:], sizes[1:], strict=True):
        _check_same_size((names[0], name), (sizes[0], size), why)
        check_same_index(tables[0], table, names[0], name)


def _check_same_size(names: tuple[str, str], sizes: tuple[int, int], why: str) -> None:
    if sizes[0] != sizes[1]:
        first, second = (
            f"{name} has {counted(size, 'row')}" for name, size in zip(names, sizes, strict=True)
        )
        raise ValueError(f"{first} and {second}; {why}")


def check_nan_policy(nan_policy: str) -> None:
    """Raise ValueError for policies that are not known, or for another test."""
    choice(nan_policy, NAN_POLICIES, "nan_policy")


def _one_each(given: Any, names: Sequence[str], argument: str) -> list[Any]:
    if not isinstance(given, list | tuple):
        return [given] * len(names)
    if len(given) != len(names):
        raise ValueError(
            f"{argument} has {len(given)} entries for {len(names)} variables; pass one for each, "
            "or one"
        )
    return list(given)


def _label(variable: Any, columns: Columns) -> str | None:
    """The name of a variable: of a series, or of the one column of a table."""
    return columns[0] if columns is not None and len(columns) == 1 else label_of(variable)
