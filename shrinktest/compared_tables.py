"""Two tables that are compared: their common columns and the labels of their rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import as_points, choice, listed
from shrinktest.adjusted_columns import read_covariates, read_given
from shrinktest.data.all_rows import AllRows, Rows, checked_types, pooled_tables
from shrinktest.data.column import DROP, Table
from shrinktest.data.labels import columns_of_labels, labels_in_order, pooled_labels
from shrinktest.data.scale import ScaleOption
from shrinktest.data.tables import check_same_index, is_table, names_in, read_table, table_of
from shrinktest.data.untestable import Reasons
from shrinktest.equal_distributions import TwoEqualDistributions

if TYPE_CHECKING:
    from shrinktest.conditional.given_samples import GivenSamples


@dataclass(frozen=True, eq=False)
class ComparedTables:
    """Two tables that are compared, pooled, with the labels of their rows."""

    pooled: AllRows
    names: tuple[str, str]
    types: dict[str, Any]
    only: tuple[tuple[str, ...], tuple[str, ...]]  # columns that only one of the tables has
    blocks: Any
    groups: Any
    covariates: Any  # None, or those of both tables
    paired: bool
    notes: tuple[str, ...]

    @classmethod
    def read(
        cls,
        A: Any,
        B: Any,
        names: tuple[str, str],
        column_types: Any,
        *,
        blocks: Any,
        groups: Any,
        covariates: Any,
        paired: bool,
        scale: Any,
    ) -> ComparedTables:
        """Read the tables and the labels of their rows."""
        covariates, column_types = read_covariates(A, B, names, covariates, column_types)
        tables, types, only = _read(A, B, names, column_types)
        if paired and len(A) == len(B):
            check_same_index(A, B, *names)
        labels = {
            "blocks": labels_in_order(blocks, "blocks", names),
            "groups": labels_in_order(groups, "groups", names),
        }
        types, notes = columns_of_labels(labels, (A, B), types, ScaleOption.of(scale))
        pooled = pooled_tables(tables, names, types)
        if not paired:
            both = " and ".join(names)
            for name, given in labels.items():
                if given is not None:
                    labels[name] = pooled_labels(given, name, (A, B), names, pooled.sizes, both)
        notes += pooled.notes
        if labels["blocks"] is None and labels["groups"] is None:
            notes += pooled.units(paired=paired)
        rows = {**labels, "covariates": covariates, "paired": paired}
        return cls(pooled=pooled, names=names, types=types, only=only, notes=notes, **rows)

    def tested_without(
        self, reasons: Reasons, estimator: Any, *, nan_policy: str, scale: Any
    ) -> tuple[ComparedTables, GivenSamples | None, Any]:
        """Leave out columns for which there are reasons.

        Return also the samples with their covariates, if there are any, and the hypothesis on the
        other columns.
        """
        part = self.pooled.without([name for _, name in reasons])
        options: dict[str, Any] = dict(
            nan_policy=nan_policy,
            scale=scale,
            column_types={
                name: self.types[name] for name in part.table.names if name in self.types
            },
            called=self.names,
            paired=self.paired,
            blocks=self.blocks,
            groups=self.groups,
        )
        if self.covariates is None:
            whole = TwoEqualDistributions.read(*split(part), **options)
            return replace(self, pooled=part), None, whole
        given = read_given(*split(part), self.covariates, estimator, **options)
        return replace(self, pooled=part), given, given.hypothesis()


def _read(
    A: Any, B: Any, names: tuple[str, str], column_types: Any
) -> tuple[list[Table], dict[str, Any], tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the tables with their common columns, their reading, and the other names.

    The other names are those of the columns that are not common.
    """
    types = checked_types(column_types)
    first = names_in(A)
    second = names_in(B)
    only: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    if first and second:
        only = (
            tuple(name for name in first if name not in second and types.get(name) != DROP),
            tuple(name for name in second if name not in first and types.get(name) != DROP),
        )
        if not {*first} & {*second}:
            raise ValueError(
                f"{names[0]} and {names[1]} have no column in common: {listed(first)}; "
                f"{listed(second)}; rename columns"
            )
    tables = [  # what only one of them has may be anything
        read_table(
            x if is_table(x) else table_of(as_points(x, name, tables=True)),
            name,
            {**types, **dict.fromkeys(extra, DROP)},
        )
        for x, name, extra in zip((A, B), names, only, strict=True)
    ]
    for key in types:
        choice(
            key,
            dict.fromkeys(name for t in tables for name in (*t.names, *t.dropped)),
            "a column in column_types",
        )
    return tables, types, only


def split(pooled: AllRows, rows: Rows | bool = True) -> tuple[Table, Table]:
    """Return some rows of both tables, with common levels."""
    first = np.arange(sum(pooled.sizes)) < pooled.sizes[0]
    return pooled.table.taken(first & rows), pooled.table.taken(~first & rows)
