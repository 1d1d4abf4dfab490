"""Checks of user arguments: arrays, functions, seeds, paths, names and numbers."""

from __future__ import annotations

import math
import os
import sys
from collections import Counter
from collections.abc import Iterable
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shrinktest._rounding import DOUBLE, precision_of

Array = NDArray[np.float64]
Columns = tuple[str, ...] | None

NAN_POLICIES = ("raise", "omit", "indicator", "propagate")
MAX_SIZE = sys.maxsize // 8  # numbers that an array can hold
EXACT = 2**53  # integers up to this size are exact as floats


def counted(number: int, thing: str) -> str:
    """Return a number of things in words: "1 row", "2 rows"."""
    return f"{number} {thing}{'s' * (number != 1)}"


def percent(share: float) -> str:
    """Return a share as a percentage with all its digits: "95%", "97.5%"."""
    return f"{100.0 * share:.15g}%"


def listed(names: Iterable[str]) -> str:
    """Return names in quotes, separated by commas."""
    return ", ".join(map(repr, names))


def did_you_mean(value: Any, known: Iterable[str]) -> str:
    """Return a question that suggests the most similar known name; empty if none is similar."""
    from shrinktest._spelling import nearest

    similar = nearest(value.lower(), known) if isinstance(value, str) else None
    return f". Did you mean {similar!r}?" if similar else ""


def describe_missing(missing: NDArray[np.bool_], columns: Columns) -> str:
    """Return the number of missing values and the place of the first, in words."""
    total = int(missing.sum())
    cell = _first_cell(missing, columns)
    return (
        f"{counted(total, 'missing value')} (NaN), {'in' if total == 1 else 'the first in'} {cell}"
    )


def _first_cell(mask: NDArray[np.bool_], columns: Columns) -> str:
    row, column = np.argwhere(mask)[0].tolist()
    return (
        f"row {row}, column {column if columns is None else repr(columns[column])} (counting from "
        f"0)"
    )


# --- arrays ---------------------------------------------------------------------------------------


class Points(NamedTuple):
    """Observations in rows, with the column names of a table."""

    values: Array  # (n, d), C-contiguous
    columns: Columns
    precision: np.dtype[Any] = DOUBLE  # of the numbers before they became float64


def loaded_pandas() -> Any:
    """Return pandas if it has been imported, as by anyone who passes a pandas table; else None."""
    pandas = sys.modules.get("pandas")
    return pandas if hasattr(pandas, "DataFrame") else None  # another thread may be importing it


def as_points(x: Any, name: str, *, tables: bool = False) -> Points:
    """Read numbers from a list, array, pandas Series or DataFrame.

    One dimension means one column.

    The values are a copy, in which missing values (NaN, NA, masked) are NaN. If ``tables``, errors
    about text and dates advise to pass a table. Raises TypeError for anything but real numbers, and
    ValueError for other faults.
    """
    pandas = loaded_pandas()
    columns: Columns = None
    if pandas is not None and isinstance(x, pandas.DataFrame):
        columns = tuple(map(str, x.columns))
        if repeated := sorted(label for label, times in Counter(columns).items() if times > 1):
            raise ValueError(
                f"{name} has more than one column named {listed(repeated)}; rename or drop them"
            )
        parts = [
            _series_values(x.iloc[:, j], f"{name}, column {label!r},")
            for j, label in enumerate(columns)
        ]
        values = np.stack(parts, axis=1) if parts else np.empty((len(x), 0))
    elif pandas is not None and isinstance(x, pandas.Series):
        values = _series_values(x, name)
    else:
        values = _array_values(x, name, tables)
    if values.ndim == 0:
        raise ValueError(
            f"{name} must be an array with one row per observation; got a single number"
        )
    if values.ndim > 2:
        shape = f"{values.ndim} dimensions, shape {values.shape}"
        raise ValueError(
            f"{name} has {shape}; reshape it to one row per observation, one column per variable"
        )
    if values.ndim == 1:
        values = values[:, np.newaxis]
    if values.size == 0:
        raise ValueError(
            f"{name} is empty: it has {' and '.join(map(counted, values.shape, ('row', 'column')))}"
        )
    points = Points(
        np.array(values, dtype=np.float64, order="C"), columns, precision_of(values.dtype)
    )
    if values.dtype.kind == "f" and (infinite := np.isinf(points.values)).any():
        raise ValueError(
            f"{name} has an infinite value in {_first_cell(infinite, columns)}; remove or replace "
            "it"
        )
    return points


def complete_points(x: Any, name: str) -> Points:
    """Read points as :func:`as_points` does; raise ValueError if values are missing."""
    points = as_points(x, name)
    missing = np.isnan(points.values)
    if missing.any():
        raise ValueError(
            f"{name} has {describe_missing(missing, points.columns)}; remove those rows first"
        )
    return points


def _array_values(x: Any, name: str, tables: bool) -> NDArray[Any]:
    refuse_sparse(x, name)
    x = tensors_to_numpy(x, name)
    categorical = hasattr(x, "dictionary") or (hasattr(x, "categories") and hasattr(x, "codes"))
    if categorical and type(x).__module__.partition(".")[0] in (
        "pandas",
        "pyarrow",
    ):  # numpy would take their codes
        raise TypeError(
            f"{name} must hold real numbers, got categories ({type(x).__name__}); "
            f"{_advice('O', tables)}"
        )
    masked = np.ma.getmaskarray(x) if isinstance(x, np.ma.MaskedArray) else None
    try:
        values = np.asarray(x)
    except ValueError as error:
        raise ValueError(f"{name} has rows of different lengths ({error})") from None
    if values.ndim == 0 and values.dtype.kind not in "biuf":
        got = type(x).__name__
        if isinstance(x, str | os.PathLike) and os.path.splitext(x)[1]:
            got += f" (read a file first, such as pandas.read_csv({str(x)!r}))"
        raise TypeError(
            f"{name} must be a list, an array, or a pandas Series or DataFrame; got {got}"
        )
    if isinstance(x, list | tuple) and values.dtype.kind == "f" and (np.abs(values) > EXACT).any():
        check_digits(
            np.array(x, dtype=object), name
        )  # integers that numpy has made floats, beside a float
    if values.dtype.kind != "f":
        check_digits(values if masked is None else np.where(masked, 0, values), name)
    if values.dtype.kind not in "biuf":
        raise _not_numbers(values, values.dtype, name, _advice(values.dtype.kind, tables))
    if masked is None:
        return values
    return np.where(
        masked, np.nan, values if values.dtype.kind == "f" else values.astype(np.float64)
    )


def _series_values(series: Any, name: str) -> NDArray[Any]:
    types = sys.modules["pandas"].api.types
    kind = series.dtype.kind
    if not types.is_numeric_dtype(series.dtype) or types.is_complex_dtype(series.dtype):
        raise _not_numbers(series.to_numpy(dtype=object), series.dtype, name, _advice(kind))
    if kind in "iu":
        check_digits(series.dropna().to_numpy(dtype=f"{kind}8"), name)
    return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))


def _not_numbers(values: NDArray[Any], dtype: object, name: str, advice: str) -> TypeError:
    """Return an error that shows an entry that is not a number.

    An entry that does not read as a number is preferred.
    """
    odd = [place for place in np.ndindex(values.shape) if not isinstance(values[place], Real)]
    shown = ""
    if odd:
        place = next((place for place in odd if not _reads_as_number(values[place])), odd[0])
        shown = f" ({str(values[place])!r} in row {', column '.join(map(str, place))})"
    return TypeError(f"{name} must hold real numbers, got dtype {dtype}{shown}; {advice}")


def _reads_as_number(entry: Any) -> bool:
    try:
        return isinstance(entry, str) and not math.isnan(float(entry))
    except ValueError:
        return False


def _advice(kind: str, tables: bool = False) -> str:
    """Return advice on converting values of a numpy kind to numbers.

    With ``tables``, return how to have them read as they are.
    """
    if kind in "mM":
        return (
            "pass a pandas Series or DataFrame: dates are read"
            if tables
            else "turn times into numbers (hours)"
        )
    if kind == "c":
        return "pass one column per real-valued part"
    if kind == "V":  # structured arrays
        return "pass pandas.DataFrame(x)" if tables else "pass a plain array"
    return "convert it (astype(float))" + (
        " or pass a pandas Series or DataFrame: text is read as categories" * tables
    )


def refuse_sparse(x: Any, name: str) -> None:
    """Raise TypeError for a sparse matrix of scipy or torch.

    numpy takes a sparse matrix of scipy for one object.
    """
    scipy = (
        hasattr(x, "toarray")
        and hasattr(x, "nnz")
        and not hasattr(x, "columns")
        and not hasattr(x, "__array__")
    )
    if scipy or (
        _is_tensor(x)
        and (getattr(x, "is_sparse", False) or "sparse" in str(getattr(x, "layout", "")))
    ):
        method = "toarray" if scipy else "to_dense"
        raise TypeError(
            f"{name} is a sparse matrix of shape {tuple(x.shape)}; pass a dense array (.{method}())"
        )


def tensors_to_numpy(x: Any, name: str) -> Any:
    """Return a torch tensor, or each of a list of them, as a numpy array.

    Anything else unchanged.
    """
    if isinstance(x, list | tuple) and len(x) and _is_tensor(x[0]):
        return [tensors_to_numpy(part, name) for part in x]
    if not _is_tensor(x):
        return x
    refuse_sparse(x, name)
    tensor = x.detach().cpu()
    try:
        return tensor.numpy()
    except TypeError:
        return tensor.float().numpy()  # numpy has no bfloat16


def _is_tensor(x: Any) -> bool:
    return hasattr(x, "detach") and hasattr(x, "cpu") and hasattr(x, "numpy")


def real_values(values: Any) -> Array:
    """Return numbers as float64, without a copy if they are.

    Raise TypeError for text and complex numbers, too.
    """
    try:
        array = np.asarray(tensors_to_numpy(values, "it"))
        if array.dtype.kind in "biuf" or (
            array.dtype.kind == "O" and (array.ndim or isinstance(values, Real))
        ):
            return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(str(error)) from None
    raise TypeError(
        f"found {f'an array of dtype {array.dtype}' if array.ndim else type(values).__name__}"
    )


def numbers_or_nan(values: Any) -> Array:
    """Return numbers as :func:`real_values` does, or one NaN for anything else.

    For checks that refuse NaN.
    """
    try:
        return real_values(values)
    except TypeError:
        return np.array(np.nan)


def n_dimensions(values: Any, name: str) -> int:
    """Return the number of dimensions of an array or of nested lists.

    Raise ValueError for ragged lists.
    """
    try:
        return np.ndim(values)
    except ValueError:
        raise ValueError(f"{name} has entries of different lengths; got {values!r}") from None


def as_integer(entry: Any) -> int | None:
    """Return the integer that equals a Python or numpy integer, a decimal or a fraction.

    None for all else.
    """
    if isinstance(entry, float | np.floating):
        return None
    try:
        number = (
            int(entry) if abs(entry) < 10**80 else None
        )  # not all digits of Decimal("1e999999")
    except (TypeError, ValueError, ArithmeticError):  # text, or a decimal NaN
        return None
    return number if number == entry else None


def check_digits(values: Any, where: str, column: Any = None) -> None:
    """Raise ValueError if many integers in a column differ but are equal as floats.

    The values are one column (n,), or columns (n, d).

    Messages call the values ``where``, and advise to drop the ``column`` with this name, if any.
    """
    if isinstance(values, np.ndarray) and values.ndim == 2:
        for j, entries in enumerate(values.T):
            check_digits(entries, f"{where.rstrip(',')}, column {j} (counting from 0),")
        return
    if not isinstance(values, np.ndarray) or values.dtype.kind == "O":
        values = np.array(
            [number for entry in values if (number := as_integer(entry)) is not None], dtype=object
        )
    if (
        values.dtype.kind not in "iuO"
        or not values.size
        or (values.min() >= -EXACT and values.max() <= EXACT)
    ):
        return
    distinct = np.unique(values)
    equal = np.diff(distinct.astype(np.float64)) == 0.0
    if equal.sum() > 0.01 * equal.size:  # times in nanoseconds hardly coincide
        first = int(equal.argmax())
        pair = f"such as {distinct[first]} and {distinct[first + 1]}"
        advice = (
            "subtract a constant"
            if column is None
            else f"leave it out: column_types={{{column!r}: 'drop'}}"
        )
        raise ValueError(
            f"{where} holds whole numbers with too many digits for floats, {pair}; {advice}"
        )


# --- functions, seeds and paths -------------------------------------------------------------------


def check_signature(
    function: Any, arguments: tuple[str, ...], meaning: str, keywords: tuple[str, ...] = ()
) -> None:
    """Raise TypeError if a function cannot be called with these arguments.

    ``meaning`` says what it must be.
    """
    import inspect

    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some functions written in C have none
        return
    try:
        signature.bind(*arguments, **dict.fromkeys(keywords))
    except TypeError:
        name = getattr(function, "__name__", repr(function))
        call = (*arguments, *(f"{keyword}=" for keyword in keywords))
        called = f"{counted(len(call), 'argument')}, ({', '.join(call)})"
        raise TypeError(
            f"{meaning}, and is called with {called}; found {name}{signature}"
        ) from None


def to_plain(value: Any) -> Any:
    """Return arrays and tables, also inside dicts, lists and tuples, as plain Python values."""
    if isinstance(value, dict):
        return {key: to_plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(entry) for entry in value]
    if hasattr(value, "columns") and hasattr(value, "to_dict"):
        return {str(name): to_plain(value[name]) for name in value.columns}
    return value.tolist() if hasattr(value, "tolist") else value


def as_path(path: Any, name: str) -> Path:
    """Return a path with "~" expanded; raise TypeError for anything but text and paths."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"{name} must be a path, a text or a pathlib.Path; got {path!r} ({type(path).__name__})"
        )
    return Path(path).expanduser()


def output_path(path: Any, name: str) -> Path:
    """Return the path of a file to write.

    Raise an OSError for a folder, and for a file in a missing folder.
    """
    path = as_path(path, name)
    if path.is_dir():
        raise IsADirectoryError(f"{name}={str(path)!r} is a folder; pass the name of a file in it")
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"{name}={str(path)!r}: there is no folder {str(path.parent)!r}; make it first"
        )
    return path


# --- choices and numbers --------------------------------------------------------------------------


def flag(value: Any, name: str) -> bool:
    """Return True or False; raise TypeError for anything else."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def choice(value: Any, known: Iterable[str], name: str) -> str:
    """Return the known name that equals the value, as plain text; raise ValueError if none does."""
    known = tuple(known)
    if isinstance(value, str) and value in known:
        return known[known.index(value)]
    raise ValueError(
        f"{name} must be one of {listed(known)}; got {value!r}{did_you_mean(value, known)}"
    )


def real(value: Any, name: str) -> float:
    """Return a number as a float."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, got {value!r} ({type(value).__name__})")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(
            f"{name} must be a number below 1e308; got an integer of more digits"
        ) from None


def positive(value: Any, name: str, allow_zero: bool = False) -> float:
    """Return a finite number > 0 (or >= 0) as a float."""
    number = real(value, name)
    if not math.isfinite(number) or number < 0 or (number == 0 and not allow_zero):
        raise ValueError(
            f"{name} must be a finite number {'>=' if allow_zero else '>'} 0, got {value}"
        )
    return number


def level(value: Any, name: str = "alpha") -> float:
    """Return a level of significance or confidence, strictly between 0 and 1."""
    number = real(value, name)
    if not 0 < number < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value}")
    return number


def count(
    value: Any, name: str, minimum: int, maximum: int | None = None, *, hint: str = ""
) -> int:
    """Return an integer within limits.

    3.0 and True are not counts. Messages end with the ``hint``.
    """
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(
            f"{name} must be an integer >= {minimum}, got {value!r} ({type(value).__name__}){hint}"
        )
    if value < minimum:
        raise ValueError(f"{name} must be an integer >= {minimum}, got {value}{hint}")
    if maximum is not None and int(value) > maximum:
        raise ValueError(f"{name} must be an integer <= {maximum}; got a larger one{hint}")
    return int(value)


def resample_count(value: Any) -> int | float:
    """Return a number of permutations: an integer >= 0, or numpy.inf for all of them."""
    if isinstance(value, float) and value == math.inf:  # numpy.float64 is a float
        return math.inf
    return count(value, "n_resamples", 0, hint="; numpy.inf asks for all permutations")
