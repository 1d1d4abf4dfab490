"""Given variables and covariates of users: how they are read, and the method for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from numbers import Real
from typing import Any

import numpy as np

from shrinktest._check import choice, complete_points, counted, tensors_to_numpy
from shrinktest.conditional.conditional_independence import (
    ConditionalIndependence,
    LabelGivenCovariates,
    TwoByPropensity,
    TwoGivenCovariates,
    codes_of,
    conditional,
    distilled,
    within_strata,
)
from shrinktest.conditional.model_x import by_model
from shrinktest.conditional.regressions import Regressions, neighborhoods, standardized
from shrinktest.data.all_rows import AllRows, checked_types
from shrinktest.data.column import DROP, Column, Table, read_column, recoded
from shrinktest.data.encoding import Encoding
from shrinktest.data.kept_rows import KeptRows
from shrinktest.data.read import XY, read_samples, read_variables
from shrinktest.data.scale import AUTO, ScaleOption
from shrinktest.data.tables import check_same_index, is_table, names_for, names_in
from shrinktest.data.variable import Variable
from shrinktest.hypothesis import repeated_column_notes
from shrinktest.notes import has_code, note
from shrinktest.permutations.design import PermutationDesign
from shrinktest.results.info import BY_PROPENSITY

GIVEN = ("X", "Y", "given")
METHODS = ("auto", "strata", "residuals", "local")

#: Notes on covariates that say which rows and columns count.
_ABOUT_ROWS = ("missing-left-out", "missing-is-information", "untested-column")
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
    _refuse_designs("given", block_length=block_length, permutations=own)
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
        _refuse_tested(read.all_rows[:2], read.all_rows[2], "given")
    _refuse_indicated(read.encodings[2], read.values[2], f"given={others!r}" if others else "given")
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


# --- two samples with covariates ------------------------------------------------------------------


def read_covariates(
    X: Any,
    Y: Any,
    covariates: Any,
    *,
    covariate_method: str,
    propensity: Any,
    nan_policy: str,
    combined: bool,
    paired: Any = False,
    block_length: Any = None,
    own: Any = None,
    scale: Any = AUTO,
    column_types: Any = None,
    called: tuple[str | None, ...] = (),
    kernel: Any,
    **options: Any,
) -> TwoGivenCovariates | ConditionalIndependence:
    """Read the test that the sample of a row does not depend on its values given covariates.

    ``kernel`` is the user's argument.
    """
    _refuse_designs(
        "covariates", paired=paired or None, block_length=block_length, permutations=own
    )
    if not isinstance(covariates, tuple | list) or len(covariates) != 2:
        raise ValueError("covariates must be a pair: (covariates of X, covariates of Y)")
    names = names_for((X, Y), XY, called)
    names_of_z = tuple(f"covariates of {name}" for name in called or XY)
    for argument, pair in (("covariates", covariates), ("propensity", propensity)):
        _check_index_of_pair((X, Y), pair, names, argument)
    tables = [with_labels(table, name) for table, name in zip(covariates, names_of_z, strict=True)]
    types, types_of_z = _types_apart((X, Y), tables, column_types)
    given = read_samples(
        tables, names_of_z, nan_policy, scale=AUTO, labels=True, column_types=types_of_z or None
    )
    if propensity is None:  # known chances hold for rows without covariates, too
        for name, values in zip(names_of_z, given.values, strict=True):
            _refuse_indicated(given.encodings[0], values, name)
    read = read_samples(
        (X, Y),
        names,
        nan_policy,
        scale=scale,
        covariates=_complete_rows(given),
        column_types=types or None,
        **options,
    )
    _refuse_tested(read.all_rows, given.all_rows[0], "covariates")
    test = TwoGivenCovariates._of(read, called=called)
    variable, unit_notes = test.variables[0].compared_by(kernel).in_units()
    about_z = tuple(text for text in given.notes if has_code(text, *_ABOUT_ROWS))
    method = _covariate_method(covariate_method, propensity, given.encodings[0])
    test = replace(
        test,
        variables=(variable,),
        remarks=(*test.remarks, *about_z, *unit_notes),
        method=method,
    )
    retained = np.concatenate(read.kept)
    z = given.variables[0].points[retained[np.concatenate(given.kept)]]
    if method == "strata":
        return _by_strata(test, z)
    if method == "residuals":
        return _by_residuals(test, z, combined)
    return _by_propensity(test, z, propensity, read.kept)


def _check_index_of_pair(
    samples: tuple[Any, Any], pair: Any, names: Sequence[str], argument: str
) -> None:
    """Raise ValueError if both samples and a ``pair`` of tables have different row labels."""
    if isinstance(pair, tuple | list) and len(pair) == 2:
        for i, (sample, rows) in enumerate(zip(samples, pair, strict=True)):
            check_same_index(sample, rows, names[i], f"{argument}[{i}]")


def _types_apart(
    samples: Sequence[Any], covariates: Sequence[Any], column_types: Any
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the types of the columns of samples, and of their covariates.

    A column that both have is dropped from the samples only.  Names that neither has count as
    columns of the samples, which are refused where these are read.
    """
    types = _types_of(samples, column_types)
    types_of_z = {
        name: kind
        for name, kind in _types_of(covariates, column_types).items()
        if kind != DROP or name not in types
    }
    types = {
        name: kind
        for name, kind in (column_types or {}).items()
        if name in types or name not in types_of_z
    }
    return types, types_of_z


def _complete_rows(given: KeptRows) -> tuple[np.ndarray, ...]:
    """Return which rows of both samples have complete covariates."""
    if not given.missing:
        return given.kept
    return tuple(np.asarray(np.isfinite(values).all(axis=1)) for values in given.values)


def _covariate_method(method: str, propensity: Any, encoding: Encoding | None) -> str:
    """Return the method for covariates; ValueError if it does not go with ``propensity``."""
    if method == "auto":
        by_covariates = "strata" if all_labels(encoding) else "residuals"
        method = by_covariates if propensity is None else "propensity"
    if (propensity is None) == (method == "propensity"):
        raise ValueError(
            "propensity= requires covariate_method='propensity'; pass both, or leave both out"
        )
    return method


def _by_strata(test: TwoGivenCovariates, z: np.ndarray) -> TwoGivenCovariates:
    """Return the test within strata of rows that have the same covariates."""
    if not test.missing:
        test = within_strata(test, z, _sample_of_rows(test), "covariates")
    if min(test.sizes) < 2:
        raise ValueError(
            "covariates: a sample has only one row with values in the other sample; use larger "
            "strata"
        )
    return test


def _by_residuals(
    test: TwoGivenCovariates, z: np.ndarray, combined: bool
) -> ConditionalIndependence:
    """Return the test that the sample of a row is independent of its values given covariates."""
    if test.restriction.blocks is not None:
        raise ValueError(
            "blocks= requires covariates that are labels; for numbers use factor_test with blocks="
        )
    label = _sample_of_rows(test)
    both = ConditionalIndependence(
        variables=(
            *test.variables,
            Variable(label[:, None].astype(np.float64), "the sample"),
        ),
        sizes=(len(label),),
        missing=test.missing,
        restriction=test.restriction,
        remarks=test.remarks,
        method=test.method,
    )
    if test.missing:
        return both
    tested = conditional(both, "residuals", z, Regressions.on(z), combined)
    return tested.as_kind(LabelGivenCovariates, samples=test.sizes)


def _by_propensity(
    test: TwoGivenCovariates, z: np.ndarray, propensity: Any, kept: tuple[np.ndarray, ...]
) -> TwoByPropensity:
    """Return the test of residuals by known chances, of the rows that are ``kept``."""
    if test.restriction:
        raise ValueError(
            "blocks= and groups= cannot be combined with propensity=; use covariate_method='strata'"
        )
    (variable,) = test.variables
    residuals = variable if test.missing else distilled(variable, z)
    about = () if residuals is variable else (note("residuals"),)
    odds = _known_odds(propensity, tuple(map(len, kept)))
    return replace(test, variables=(residuals,), remarks=(*test.remarks, *about)).as_kind(
        TwoByPropensity,
        odds=odds[np.concatenate(kept)],
        method=BY_PROPENSITY,
        assumption=(
            "the p-value is exact if every row was put into the second sample with the chance in "
            "propensity=."
        ),
    )


def _sample_of_rows(test: TwoGivenCovariates) -> np.ndarray:
    """Return the number of the sample, 0 or 1, of every row."""
    return np.repeat([0, 1], test.sizes)


def _known_odds(propensity: Any, sizes: tuple[int, ...]) -> np.ndarray:
    """Log odds (N,) of known chances: one for all rows, one of each row, or a vector a sample."""
    if isinstance(propensity, Real):
        propensity = np.full(sum(sizes), float(propensity))
    pair = (
        isinstance(propensity, tuple | list)
        and len(propensity) == 2
        and all(map(np.ndim, propensity))
    )
    parts = [
        complete_points(part, "propensity").values
        for part in (propensity if pair else [propensity])
    ]
    chances = np.concatenate(parts)
    lengths = list(map(len, parts))
    inside = bool(((chances > 0.0) & (chances < 1.0)).all())
    if lengths != (list(sizes) if pair else [sum(sizes)]) or chances.shape[1] != 1 or not inside:
        raise ValueError(
            f"propensity must be a chance between 0 and 1, one for each of {sum(sizes)} rows, or a "
            "pair of vectors"
        )
    return np.asarray(np.log(chances) - np.log1p(-chances))[:, 0]


def _types_of(tables: Sequence[Any], column_types: Any) -> dict[str, str]:
    """Types of the columns that tables have."""
    names = {name for table in tables for name in names_in(table)}
    return {name: kind for name, kind in checked_types(column_types or {}).items() if name in names}


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
    _refuse_tested(tested, read.all_rows[1], "given")
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


def _refuse_designs(argument: str, **designs: Any) -> None:
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


def _refuse_tested(tested: Sequence[AllRows], given: AllRows, argument: str) -> None:
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


def _refuse_indicated(encoding: Encoding | None, z: np.ndarray, argument: str) -> None:
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
