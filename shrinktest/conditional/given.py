"""Given variables and covariates of users: how they are read, and the method for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np

from shrinktest._check import choice, complete_points, counted, tensors_to_numpy
from shrinktest.conditional.conditional_independence import (
    ConditionalIndependence,
    codes_of,
    conditional,
)
from shrinktest.conditional.model_x import by_model
from shrinktest.conditional.regressions import Regressions, neighborhoods, standardized
from shrinktest.data.all_rows import AllRows
from shrinktest.data.column import Column, Table, read_column, recoded
from shrinktest.data.encoding import Encoding
from shrinktest.data.kept_rows import KeptRows
from shrinktest.data.read import read_variables
from shrinktest.data.scale import AUTO, ScaleOption
from shrinktest.data.tables import is_table
from shrinktest.hypothesis import repeated_column_notes
from shrinktest.permutations.design import PermutationDesign

GIVEN = ("X", "Y", "given")
METHODS = ("auto", "strata", "residuals", "local")

#: Notes on covariates that say which rows and columns count.
ABOUT_ROWS = ("missing-left-out", "missing-is-information", "untested-column")
_LABELS = "OUSb"  # kinds of numpy arrays of text and of True and False
_NEIGHBORS = 10  # rows of a neighborhood at least, for calibration


# --- independence given others --------------------------------------------------------------------


def read_given(
    X: Any,
    Y: Any,
    given: Any,
    *,
    given_method: str = "auto",
    x_given_z: Any = None,
    regressor: Any = None,
    combined: bool = False,
    nan_policy: str = "raise",
    block_length: Any = None,
    own: Any = None,
    scale: Any = AUTO,
    transform: Any = None,
    kernels: Sequence[Any],
    **options: Any,
) -> ConditionalIndependence:
    """Read the test as users give it; ``combined`` is for four statistics of residuals.

    ``kernels`` are the user's arguments, one for each variable.
    """
    refuse_designs("given", block_length=block_length, permutations=own)
    read = read_three(X, Y, given, nan_policy, scale=scale, transform=transform, **options)
    z = read.values[2]
    pair = zip(read.variables[:2], kernels, strict=True)
    variables = tuple(variable.compared_by(kernel) for variable, kernel in pair)
    test = ConditionalIndependence(
        variables=variables,
        sizes=read.sizes,
        missing=read.missing,
        restriction=read.restriction,
        remarks=(*read.notes, *repeated_column_notes(variables)),
        called=read.called[:2],
    )
    if x_given_z is not None:
        transformed = transform[0] if isinstance(transform, list) else transform
        if read.restriction or given_method != "auto" or (regressor, transformed) != (None, None):
            raise ValueError(
                "x_given_z= cannot be combined with given_method=, regressor=, blocks=, groups= or "
                "transform= of X"
            )
        return by_model(X, given, x_given_z, read, test)
    method = method_for(given_method, regressor, read.encodings[2])
    (x, x_notes), (y, y_notes) = (variable.in_units() for variable in variables)
    test = replace(
        test, variables=(x, y), remarks=(*test.remarks, *x_notes, *y_notes), method=method
    )
    return (
        test
        if read.missing
        else conditional(test, method, z, regression_for(method, z, regressor), combined)
    )


def read_three(
    X: Any,
    Y: Any,
    given: Any,
    nan_policy: str,
    *,
    others: str = "",
    scale: Any,
    transform: Any = None,
    **options: Any,
) -> KeptRows:
    """Read X, Y and the given variables.

    ``others`` is the word by which users give all columns but two.
    """
    pair = transform if isinstance(transform, list) else [transform, transform]
    both = scale if isinstance(scale, list | tuple) else [scale, scale]
    if len(pair) != 2 or len(both) != 2:
        raise ValueError(
            f"scale has {len(both)} entries, transform {len(pair)}; with given= both have one for "
            "X and Y"
        )
    units = ScaleOption.of(scale)
    shared = units.automatic or units.named is not None
    read = read_variables(
        (X, Y, with_labels(given, "given")),
        GIVEN,
        nan_policy,
        labels=("given",),
        scale=scale if shared else [*both, AUTO],
        transform=None if transform is None else [*pair, None],
        **options,
    )
    if not others:
        refuse_tested(read.all_rows[:2], read.all_rows[2], "given")
    refuse_indicated(read.encodings[2], read.values[2], f"given={others!r}" if others else "given")
    return read


def method_for(given_method: Any, regressor: Any, encoding: Encoding | None) -> str:
    """Return the method that was asked for, or "strata" if all given variables are labels."""
    choice(given_method, METHODS, "given_method")
    if given_method == "auto":
        given_method = "strata" if all_labels(encoding) and regressor is None else "residuals"
    if regressor is not None and given_method == "strata":
        raise ValueError(
            "regressor= is for given_method='residuals' or 'local'; leave it out for strata"
        )
    return str(given_method)


def regression_for(method: str, z: np.ndarray, regressor: Any = None) -> Regressions | None:
    """Return regressions on given variables z (n, d), for all methods but strata."""
    return None if method == "strata" else Regressions.on(z, regressor)


# --- calibration ----------------------------------------------------------------------------------


def null_given(
    Y: Any, given: Any, tested: Sequence[AllRows]
) -> tuple[np.ndarray | None, PermutationDesign]:
    """Return the prediction of Y (n, q) by the given variables, and the permutation design.

    The design says among which rows the rest of Y may be permuted.

    Labels predict nothing and are strata; numbers predict by kernel ridge regression and have
    neighborhoods.
    """
    read = read_variables(
        (Y, with_labels(given, "given")), GIVEN[1:], "raise", scale=[None, AUTO], labels=GIVEN
    )
    refuse_tested(tested, read.all_rows[1], "given")
    z = read.values[1]
    if all_labels(read.encodings[1]):
        codes = codes_of(z)
        if np.bincount(codes).max() == 1:
            raise ValueError(
                "given: every row is its own stratum; use fewer and larger strata, or numbers"
            )
        return None, PermutationDesign(blocks=codes)
    if is_table(Y):
        raise TypeError("given= numbers needs Y as an array of numbers, such as Y.to_numpy()")
    y = complete_points(Y, "Y").values
    design = PermutationDesign(blocks=neighborhoods(standardized(z), _NEIGHBORS))
    return y - Regressions.on(z).residuals(y, "Y").values, design


# --- checks ---------------------------------------------------------------------------------------


def refuse_designs(argument: str, **designs: Any) -> None:
    """Raise ValueError for designs that restrict permutations in another way."""
    for name, value in designs.items():
        if value is not None:
            raise ValueError(
                f"{name}= and {argument}= both restrict which rows are permuted; leave one of "
                "them out"
            )


def refuse_without(argument: str, **others: Any) -> None:
    """Raise ValueError for arguments about variables that are not given."""
    for name, value in others.items():
        if value is not None and not (isinstance(value, str) and value == "auto"):
            raise ValueError(
                f"{name}= says how {argument}= is taken into account; pass {argument}= as well"
            )


def with_labels(given: Any, name: str) -> Any:
    """Return arrays and lists of text, or of True and False, as tables; anything else as it is."""
    if is_table(given):
        return given
    try:
        values = np.asarray(tensors_to_numpy(given, name))
    except ValueError:  # ragged lists, refused where numbers are read
        return given
    if values.dtype.kind not in _LABELS or values.ndim not in (1, 2) or not values.size:
        return given
    columns = values.reshape(len(values), -1).T
    import pandas as pd

    column_type = "category" if values.dtype.kind in "US" else None
    read = (
        read_column(
            pd.Series(column.tolist(), dtype=object), str(j), f"{name}, column {j},", column_type
        )
        for j, column in enumerate(columns)
    )
    return Table(tuple(read), named=False)


def all_labels(encoding: Encoding | None) -> bool:
    """Return True if every column has levels, which rows share, and not numbers."""
    return encoding is not None and all(
        code.kind in ("boolean", "category", "ordered") for code in encoding.codes
    )


def refuse_tested(tested: Sequence[AllRows], given: AllRows, argument: str) -> None:
    """Raise ValueError if a column of what is given has the values of a column that is tested."""
    values = {_digest(column) for data in tested for column in data.as_columns()} - {None}
    for place, column in enumerate(given.as_columns()):
        if _digest(column) in values:
            name = repr(column.name) if given.shown else place
            raise ValueError(
                f"column {name} of {argument}= is also tested; leave it out of one of the two"
            )


def _digest(column: Column) -> bytes | None:
    """Return a digest of the values, the same for equal columns of any library.

    None if all are equal or missing.
    """
    numbers = column.values
    present = ()
    if column.kind == "category":
        present = tuple(
            sorted(column.levels[code] for code in np.unique(column.values) if code >= 0)
        )
        numbers = recoded(column.values, column.levels, present)
    elif column.kind not in ("boolean", "ordered"):
        numbers = column.numbers() + 0.0  # so that -0.0 is 0
    complete = numbers[~column.missing()]
    varied = complete.size > 0 and complete.min() < complete.max()
    return (
        sha256("\0".join(present).encode() + numbers.astype(np.float64).tobytes()).digest()
        if varied
        else None
    )


def refuse_indicated(encoding: Encoding | None, z: np.ndarray, argument: str) -> None:
    """Raise ValueError if rows miss a given value.

    X and Y may still depend on each other through that value.
    """
    for code, group in (
        () if encoding is None else zip(encoding.codes, encoding.groups, strict=True)
    ):
        missing = int(np.count_nonzero(z[:, group][:, -1]))  # the indicator is the last
        if code.indicated and missing:
            raise ValueError(
                f"{argument}: {counted(missing, 'row')} without a value of column {code.name!r}; "
                "use nan_policy='omit'"
            )
