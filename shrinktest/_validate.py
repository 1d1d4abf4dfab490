"""User input: tables, seeds, names and numbers become plain values, or an error that says what to do."""

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

from shrinktest._digits import are_large, require_apart, require_columns_apart
from shrinktest._rounding import DOUBLE, precision_of
from shrinktest._tensors import refuse_sparse, without_tensors

Array = NDArray[np.float64]
Columns = tuple[str, ...] | None

NAN_POLICIES = ("raise", "omit", "indicator", "propagate")
MOST = sys.maxsize // 8  # numbers that an array can hold


class Points(NamedTuple):
    """Observations in rows: values (n, d), float64 and C-contiguous, and the column names of a table."""

    values: Array
    columns: Columns
    precision: np.dtype[Any] = DOUBLE  # of the numbers as they were given


# --- arrays and tables --------------------------------------------------------------------------------------


def loaded_pandas() -> Any:
    """pandas, which whoever passes a table of its own has imported; None without it, or while it is being imported."""
    pandas = sys.modules.get("pandas")
    return pandas if hasattr(pandas, "DataFrame") else None  # another thread may have begun to import it


def is_frame(x: Any) -> bool:
    """Whether this is a pandas DataFrame."""
    pandas = loaded_pandas()
    return pandas is not None and isinstance(x, pandas.DataFrame)


def as_points(x: Any, name: str, *, tables: bool = False) -> Points:
    """Read numbers from a list, an array, or a pandas Series or DataFrame; one-dimensional means one column.

    Missing values (NaN, pandas' NA, masked entries) come out as NaN. The values are always a copy.  With ``tables`` the
    advice on text and dates is to give a table, which is read elsewhere.

    Raises TypeError for values that are not real numbers (text, objects, categories, dates, complex numbers), and
    ValueError for a wrong number of dimensions, no rows or no columns, duplicate column names, infinite values, and
    whole numbers that are not told apart as floats.
    """
    pandas = loaded_pandas()
    columns: Columns = None
    if is_frame(x):
        columns = tuple(str(label) for label in x.columns)
        repeated = sorted(label for label, times in Counter(columns).items() if times > 1)
        if repeated:
            raise ValueError(f"{name} has more than one column named {listed(repeated)}; rename or drop them")
        read = [_read_series(x.iloc[:, j], f"{name}, column {label!r},") for j, label in enumerate(columns)]
        values = np.stack(read, axis=1) if read else np.empty((len(x), 0))
    elif pandas is not None and isinstance(x, pandas.Series):
        values = _read_series(x, name)
    else:
        values = _read_array(x, name, tables)
    if values.ndim == 0:
        raise ValueError(f"{name} is a single number; a sample has one row per observation")
    if values.ndim > 2:
        raise ValueError(
            f"{name} has {values.ndim} dimensions, shape {values.shape}; "
            "reshape it to two: one row per observation, one column per variable"
        )
    if values.ndim == 1:
        values = values[:, np.newaxis]
    if values.size == 0:
        raise ValueError(
            f"{name} is empty: it has {counted(len(values), 'row')} and {counted(values.shape[1], 'column')}"
        )
    points = Points(np.array(values, dtype=np.float64, order="C"), columns, precision_of(values.dtype))
    infinite = np.isinf(points.values) if values.dtype.kind == "f" else None
    if infinite is not None and infinite.any():
        raise ValueError(f"{name} has an infinite value in {_cell(infinite, columns)}; remove or replace it")
    return points


def complete_points(x: Any, name: str) -> Points:
    """Points without missing values, for code that no nan_policy reaches."""
    points = as_points(x, name)
    missing = np.isnan(points.values)
    if missing.any():
        raise ValueError(f"{name} has {missing_values(missing, points.columns)}; remove those rows first")
    return points


def _read_array(x: Any, name: str, tables: bool) -> NDArray[Any]:
    refuse_sparse(x, name)
    x = without_tensors(x, name)
    coded = hasattr(x, "dictionary") or (hasattr(x, "categories") and hasattr(x, "codes"))
    if coded and type(x).__module__.partition(".")[0] in ("pandas", "pyarrow"):  # numpy takes their numbers
        raise TypeError(f"{name} must hold real numbers, got categories ({type(x).__name__}); {_advice('O', tables)}")
    masked = np.ma.getmaskarray(x) if isinstance(x, np.ma.MaskedArray) else None
    try:
        values = np.asarray(x)
    except ValueError as error:  # numpy's word for it is "inhomogeneous"
        raise ValueError(f"{name} has rows of different lengths ({error})") from None
    if values.ndim == 0 and values.dtype.kind not in "biuf":
        path = ""
        if isinstance(x, str | os.PathLike) and os.path.splitext(x)[1]:
            path = f" (read a file first, such as pandas.read_csv({str(x)!r}))"
        raise TypeError(
            f"{name} must be a list, an array, or a pandas Series or DataFrame of numbers; got {type(x).__name__}{path}"
        )
    if values.dtype.kind in "iuO" or isinstance(x, list | tuple):
        require_columns_apart(values if masked is None else np.where(masked, 0, values), name, given=x)
    if values.dtype.names:
        fields = f"structured array with the fields {listed(values.dtype.names)}"
        table = "a pandas DataFrame (pandas.DataFrame(x)), or " if tables else ""
        raise TypeError(
            f"{name} must hold real numbers, got a {fields}; give {table}a plain array with a column for each "
            "(numpy.lib.recfunctions.structured_to_unstructured)"
        )
    if values.dtype.kind not in "biuf":
        said = _advice(values.dtype.kind, tables)
        raise TypeError(f"{name} must hold real numbers, {_found(values, values.dtype)}; {said}")
    if masked is None:
        return values
    return np.where(masked, np.nan, values if values.dtype.kind == "f" else values.astype(np.float64))


def _read_series(series: Any, name: str) -> NDArray[Any]:
    types = sys.modules["pandas"].api.types
    if types.is_numeric_dtype(series.dtype) and not types.is_complex_dtype(series.dtype):
        if series.dtype.kind in "iu" and are_large(there := series.dropna().to_numpy(dtype=f"{series.dtype.kind}8")):
            require_apart(there, name, name, named=False)
        values: NDArray[Any] = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return values
    found = _found(series.to_numpy(dtype=object), series.dtype)
    raise TypeError(f"{name} must hold real numbers, {found}; {_advice(series.dtype.kind)}")


def _found(values: NDArray[Any], dtype: object) -> str:
    """The dtype and the first entry, if any, that is no number: rather a word than a number that became text."""
    found = [where for where in np.ndindex(values.shape) if not isinstance(values[where], Real)]
    if not found:
        return f"got dtype {dtype}"
    where = next((where for where in found if not _spells_number(values[where])), found[0])
    column = f", column {where[1]}" if len(where) > 1 else ""
    return f"got dtype {dtype} ({str(values[where])!r} in row {where[0]}{column})"


def _spells_number(entry: Any) -> bool:
    try:
        return isinstance(entry, str) and not math.isnan(float(entry))
    except ValueError:
        return False


def _advice(kind: str, tables: bool = False) -> str:
    if kind in "mM":
        table = ", or give a pandas Series or DataFrame, of which dates are read" if tables else ""
        return f"turn times into numbers first (such as hours since a start){table}"
    if kind in "cV":
        return "pass one column per real-valued part"
    table = " or give a pandas Series or DataFrame, of which text is read as categories," if tables else ""
    return f"convert it (astype(float), pandas.to_numeric), encode categories as numbers,{table} or leave it out"


def missing_values(missing: NDArray[np.bool_], columns: Columns) -> str:
    """How many values are missing and where the first is, in words."""
    total = int(missing.sum())
    first = "in" if total == 1 else "the first in"
    return f"{total} missing value{'s' * (total > 1)} (NaN), {first} {_cell(missing, columns)}"


def _cell(where: NDArray[np.bool_], columns: Columns) -> str:
    """The first true cell, in words."""
    row, column = (int(i) for i in np.argwhere(where)[0])
    label = f"{columns[column]!r}" if columns is not None else str(column)
    return f"row {row}, column {label} (counting from 0)"


def counted(number: int, thing: str) -> str:
    """A number of things in words: "1 row", "2 rows"."""
    return f"{number} {thing}{'s' * (number != 1)}"


def percent(share: float) -> str:
    """A share as percent, with all digits that it has: "95%", "97.5%"."""
    return f"{100.0 * share:.15g}%"


def listed(names: Iterable[str]) -> str:
    """Names in quotes, with commas."""
    return ", ".join(repr(name) for name in names)


# --- functions ----------------------------------------------------------------------------------------------


def takes(function: Any, arguments: tuple[str, ...], said: str, keywords: tuple[str, ...] = ()) -> None:
    """Raise TypeError for a function that cannot be called with these arguments; ``said`` is what it must be."""
    import inspect

    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of some functions written in C nobody knows
        return
    try:
        signature.bind(*arguments, **dict.fromkeys(keywords))
    except TypeError:
        name = getattr(function, "__name__", repr(function))
        called = (*arguments, *(f"{keyword}=" for keyword in keywords))
        many = counted(len(called), "argument")
        raise TypeError(f"{said}, and is called with {many}, ({', '.join(called)}); found {name}{signature}") from None


# --- random numbers -----------------------------------------------------------------------------------------


def as_rng(rng: Any) -> np.random.Generator:
    """A numpy Generator from None (fresh entropy), a seed, a SeedSequence, a BitGenerator, or a Generator."""
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None or isinstance(rng, (np.random.SeedSequence, np.random.BitGenerator)):
        return np.random.default_rng(rng)
    if isinstance(rng, np.random.RandomState):
        raise TypeError(
            "rng is a legacy numpy RandomState; pass a seed (rng=0) or numpy.random.default_rng(seed) instead"
        )
    if isinstance(rng, Integral) and not isinstance(rng, bool):
        if rng < 0:
            raise ValueError(f"rng must be a seed >= 0, got {rng}")
        return np.random.default_rng(int(rng))
    raise TypeError(
        "rng must be None, an integer seed, or a numpy SeedSequence, BitGenerator or Generator, "
        f"got {rng!r} ({type(rng).__name__})"
    )


def rng_provenance(generator: np.random.Generator) -> dict[str, Any]:
    """Where the random numbers come from, ready for JSON; call it before the first draw.

    `state` alone is enough to draw the same numbers again; `entropy` and `spawn_key` rebuild the SeedSequence
    (None for a bit generator that was not seeded by one).
    """
    bits = generator.bit_generator
    seed = bits.seed_seq if isinstance(bits.seed_seq, np.random.SeedSequence) else None
    return {
        "bit_generator": type(bits).__name__,
        "entropy": _plain(seed.entropy) if seed else None,
        "spawn_key": _plain(seed.spawn_key) if seed else None,
        "state": _plain(bits.state),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if hasattr(value, "columns") and hasattr(value, "to_dict"):
        return {str(name): _plain(value[name]) for name in value.columns}
    return value.tolist() if hasattr(value, "tolist") else value  # of numpy, and series of pandas


# --- paths --------------------------------------------------------------------------------------------------


def path_of(given: Any, name: str) -> Path:
    """A path as users give it, "~" being their folder; raises TypeError for what is none."""
    if not isinstance(given, str | os.PathLike):
        raise TypeError(f"{name} must be a path, a text or a pathlib.Path; got {given!r} ({type(given).__name__})")
    return Path(given).expanduser()


def path_to_write(given: Any, name: str) -> Path:
    """The path of a file to write; raises FileNotFoundError without its folder, IsADirectoryError for a folder."""
    path = path_of(given, name)
    if path.is_dir():
        raise IsADirectoryError(f"{name}={str(path)!r} is a folder; give the name of a file in it")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{name}={str(path)!r}: there is no folder {str(path.parent)!r}; make it first")
    return path


# --- names and numbers --------------------------------------------------------------------------------------


def flag(value: Any, name: str) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def choice(value: Any, known: Iterable[str], name: str) -> str:
    """The value, if it is one of the known names; as it is known, where it was a text of numpy or of an enumeration."""
    known = tuple(known)
    if isinstance(value, str) and value in known:
        return known[known.index(value)]
    raise ValueError(f"{name} must be one of {listed(known)}; got {value!r}{nearest(value, known)}")


def nearest(value: Any, known: Iterable[str]) -> str:
    """A question whether the nearest of the known names was meant; empty where none is near."""
    import difflib

    near = difflib.get_close_matches(value.lower(), known, n=1) if isinstance(value, str) else []
    return f". Did you mean {near[0]!r}?" if near else ""


def positive(value: Any, name: str, allow_zero: bool = False) -> float:
    """A finite number > 0 (or >= 0), as a float."""
    number = real(value, name)
    if not math.isfinite(number) or number < 0 or (number == 0 and not allow_zero):
        raise ValueError(f"{name} must be a finite number {'>=' if allow_zero else '>'} 0, got {value}")
    return number


def count(value: Any, name: str, minimum: int, maximum: int | None = None) -> int:
    """A whole number of things; 3.0 and True are not counts."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer >= {minimum}, got {value!r} ({type(value).__name__})")
    if value < minimum:
        raise ValueError(f"{name} must be an integer >= {minimum}, got {value}")
    if maximum is not None and int(value) > maximum:
        raise ValueError(f"{name} must be an integer <= {maximum}; got a larger one")
    return int(value)


def level(value: Any, name: str = "alpha") -> float:
    """A level (of significance, of confidence) strictly between 0 and 1."""
    number = real(value, name)
    if not 0 < number < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value}")
    return number


def real(value: Any, name: str) -> float:
    """A number, as a float."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, got {value!r} ({type(value).__name__})")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} must be a number below 1e308; got an integer of more digits") from None


def numbers(values: Any) -> NDArray[np.float64]:
    """Values as an array, or a single NaN where they are no numbers: for a check that refuses what is not finite."""
    try:
        return real_values(values)
    except TypeError:
        return np.array(np.nan)


def real_values(values: Any) -> NDArray[np.float64]:
    """What a function returned, or a user gave, as float64, without a copy where it is that.

    Raises TypeError with what was found instead: numpy would drop imaginary parts, and read numbers from text.
    """
    try:
        found = np.asarray(without_tensors(values, "it"))
        if found.dtype.kind in "biuf" or (found.dtype.kind == "O" and (found.ndim or isinstance(values, Real))):
            return found.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(str(error)) from None
    raise TypeError(f"found {f'an array of dtype {found.dtype}' if found.ndim else type(values).__name__}")


def dimensions(values: Any, name: str) -> int:
    """How many dimensions numbers have, as users give them: in an array, or in lists of one length."""
    try:
        return np.ndim(values)
    except ValueError:  # numpy's word for it is "inhomogeneous"
        raise ValueError(f"{name} has entries of different lengths; got {values!r}") from None


def resamples(n: Any) -> int | float:
    """A number of relabellings: an integer >= 0, or numpy.inf for all of them."""
    if isinstance(n, float) and n == math.inf:  # numpy.float64 is a float
        return math.inf
    try:
        return count(n, "n_resamples", minimum=0)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{error}; numpy.inf asks for all permutations") from None
