"""Columns of two tables with blocks or covariates, for which tests and effects are adjusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import choice
from shrinktest.data.all_rows import checked_types
from shrinktest.data.column import DROP, Table
from shrinktest.data.labels import label_codes
from shrinktest.data.tables import check_same_index, columns_at, names_in
from shrinktest.effects.differences import Adjustment
from shrinktest.kernel_spec import KernelSpec, asks_for_none, kernels_for
from shrinktest.notes import note

if TYPE_CHECKING:
    from shrinktest.conditional.given_samples import GivenSamples

_PLAIN = KernelSpec("gaussian", "median")
_NAMED = 4  # covariates that a line names


def read_covariates(
    A: Any, B: Any, names: tuple[str, str], covariates: Any, column_types: Any
) -> tuple[Any, Any]:
    """Return the covariates of both tables, or None, and the types of the other columns.

    Columns that are covariates by their names are left out of the tables.
    """
    named = [covariates] if isinstance(covariates, str) else covariates
    by_name = isinstance(named, list | tuple) and all(isinstance(name, str) for name in named)
    if covariates is None or not by_name:
        if isinstance(covariates, list | tuple) and len(covariates) == 2:
            for i, (table, own) in enumerate(zip((A, B), covariates, strict=True)):
                check_same_index(table, own, names[i], f"covariates[{i}]")
        return covariates, column_types
    tables = []
    for table, name in zip((A, B), names, strict=True):
        columns = names_in(table)
        for column in named:
            choice(column, dict.fromkeys(columns), f"a column of {name} in covariates")
        tables.append(columns_at(table, [columns.index(column) for column in named]))
    return tuple(tables), {**checked_types(column_types), **dict.fromkeys(named, DROP)}


def read_given(
    first: Table, second: Table, covariates: Any, estimator: Any, **options: Any
) -> GivenSamples:
    """Read two tables and their covariates; ``options`` are those of samples."""
    from shrinktest.conditional.given_samples import GivenSamples

    specs = [_PLAIN]
    return GivenSamples.read(
        first,
        second,
        covariates,
        covariate_method="auto",
        propensity=None,
        combined=asks_for_none(estimator, specs),
        kernel=kernels_for(estimator, specs)[0],
        **options,
    )


def adjustment_of(blocks: Any, given: GivenSamples | None, rows: np.ndarray) -> Adjustment | None:
    """Return what the effects of columns are adjusted for, in the ``rows`` that were tested.

    ``blocks`` are the labels of all rows, or None.
    """
    codes = None if blocks is None else label_codes(blocks, "blocks", rows)
    if given is None:
        return None if codes is None else Adjustment("blocks", codes)
    words = ", ".join(given.names[:_NAMED]) + (", ..." if len(given.names) > _NAMED else "")
    words = words or "covariates"
    if codes is not None:
        words = f"blocks and {words}"
    if given.test.method != "strata":
        return Adjustment(words, codes, given.covariates)
    columns = [given.covariates] if codes is None else [given.covariates, codes[:, None]]
    strata = np.unique(np.hstack(columns), axis=0, return_inverse=True)[1].reshape(-1)
    return Adjustment(words, strata)


def adjustment_notes(adjustment: Adjustment | None) -> list[str]:
    """Return a note on effects that are adjusted beside others that are not."""
    if adjustment is None:
        return []
    within = adjustment.covariates is None
    code = "effect-across-blocks" if within else "effect-across-covariates"
    return [note(code, words=adjustment.words)]
