"""Tables of any library, as columns: pandas, polars, pyarrow and whatever else narwhals knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shrinktest._check import EXACT, Points, check_digits, counted, listed, loaded_pandas
from shrinktest._rounding import precision_of
from shrinktest.tables.column import (
    DROP,
    Column,
    as_kind,
    from_booleans,
    from_hours,
    from_numbers,
    from_times,
    level_of_object,
)
from shrinktest.tables.objects import from_objects, from_text
from shrinktest.tables.text import require_categories

_SHORT = {"Float16": np.float16, "Float32": np.float32}  # names that narwhals has for types of fewer digits
_ARRAYS = ("builtins", "numpy", "torch", "array")  # whose types are no tables; asking narwhals would load it


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of as many rows each."""

    columns: tuple[Column, ...]
    named: bool = True  # whether the columns have names of the user's, and not only their numbers from 0
    dropped: tuple[str, ...] = ()  # columns that the user left out
    source: str | None = None  # what messages call it: its file

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.columns[0])

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.size, len(self.columns)

    def taken(self, rows: Any) -> Table:
        """The table with these rows only."""
        return replace(self, columns=tuple(column.taken(rows) for column in self.columns))

    def __len__(self) -> int:
        return self.size


def is_table(x: Any) -> bool:
    """Whether this is a data frame or a series of a library, and not an array or a list."""
    if isinstance(x, Table):
        return True
    return type(x).__module__.partition(".")[0] not in _ARRAYS and _narwhals_of(x) is not None


def names_for(samples: Sequence[Any], names: Sequence[str], called: Sequence[str | None] = ()) -> tuple[str, ...]:
    """What messages call samples: what the user calls them, their files, where all are from some, or these names."""
    if given := tuple(one for one in called if one):
        return given
    sources = [sample.source if isinstance(sample, Table) else None for sample in samples]
    return tuple(source for source in sources if source) if all(sources) else tuple(names)


def read_table(x: Any, name: str, column_types: Mapping[Any, Any] | None = None, *, compared: bool = True) -> Table:
    """The columns of a data frame; of a series its one column, which is called "0".

    Messages call it ``name``; ``column_types`` has for names of columns the kind that they are read as, or "drop".
    Columns that are not ``compared`` are labels of rows, or are taken as given.
    Raises TypeError for columns that hold no variable (lists, mixtures, complex numbers), which it names, and
    ValueError without rows or columns, for several columns of one name, and for infinite values.
    """
    types = column_types or {}
    if isinstance(x, Table):
        typed = [_typed(column, types, name, column.name) for column in x.columns]
        table = _of_columns(typed, x.names, x.named, name, x.names)
        return replace(table, dropped=x.dropped + table.dropped)
    labels, found, named = _series_of(x)
    repeated = sorted(label for label, times in Counter(labels).items() if times > 1)
    if repeated:
        raise ValueError(f"{name} has more than one column named {listed(repeated)}; rename or drop them")
    if not labels or not len(found[0]):
        raise ValueError(
            f"{name} is empty: it has {counted(len(found[0]) if found else len(x), 'row')} and "
            f"{counted(len(labels), 'column')}"
        )
    shown = labels if named else [series_label([x]) or labels[0]]  # in messages
    places = [f"{name}, column {label!r}," if named else name for label in labels]
    columns = [
        None
        if types.get(label) == DROP
        else _typed(_column(series, label, own, where, types.get(label), compared=compared), types, name, own)
        for label, where, series, own in zip(labels, places, found, shown, strict=True)
    ]
    return _of_columns(columns, labels, named, name, shown)


def _typed(column: Column, types: Mapping[Any, Any], name: str, shown: str) -> Column | None:
    """The column, which messages call ``shown``, as the kind that was asked for; None if it is to be dropped."""
    wanted = types.get(column.name)
    if wanted is None or wanted == DROP:
        return None if wanted == DROP else column
    asked = replace(column, name=shown) if shown in types else column  # as messages name the argument
    return replace(as_kind(asked, wanted, f"{name}, column {shown!r},"), name=column.name)


def _of_columns(
    columns: Sequence[Column | None], labels: Sequence[str], named: bool, name: str, shown: Sequence[str]
) -> Table:
    kept = tuple(column for column in columns if column is not None)
    if not kept:
        raise ValueError(f"column_types drops every column of {name}; leave one to test")
    for column, own in zip(columns, shown, strict=True):
        if column is None:
            continue
        if column.values.dtype.kind == "f" and (infinite := np.isinf(column.values)).any():
            row, label = int(np.flatnonzero(infinite)[0]), repr(own) if named or own != column.name else own
            raise ValueError(
                f"{name} has an infinite value in row {row}, column {label} (counting from 0); remove or replace it"
            )
    return Table(kept, named, tuple(label for label, column in zip(labels, columns, strict=True) if column is None))


def table_of(points: Points) -> Table:
    """The columns of an array of numbers, which have no names."""
    columns = (from_numbers(str(j), one, precision=points.precision) for j, one in enumerate(points.values.T))
    return Table(tuple(columns), named=False)


def read_names(x: Any) -> tuple[str, ...] | None:
    """Names of the columns of a table as text; None for a series, whose column has none."""
    labels, _, named = _series_of(x)
    return tuple(labels) if named else None


def names_in(x: Any) -> tuple[str, ...]:
    """Names of the columns of a table as text; none of an array or a series."""
    if isinstance(x, Table):
        return x.names if x.named else ()
    return (read_names(x) or ()) if is_table(x) else ()


def columns_at(x: Any, places: Sequence[int]) -> Any:
    """The columns of a data frame at these places, as a data frame of the same library."""
    pandas = loaded_pandas()
    if isinstance(x, Table):
        return replace(x, columns=tuple(x.columns[j] for j in places))
    if pandas is not None and isinstance(x, pandas.DataFrame):  # whose labels may be no text
        return x.iloc[:, list(places)]
    found = _narwhals_of(x)
    return found.select([found.columns[j] for j in places]).to_native()


def label_of(x: Any) -> str | None:
    """The name of a series, if it has one."""
    name = getattr(x, "name", None)
    return name if isinstance(name, str) and name and is_table(x) else None


def series_label(tables: Sequence[Any]) -> str | None:
    """The name of the series among these, unless they have several; a number is no name."""
    labels = {label for x in tables if (label := label_of(x)) is not None}
    return labels.pop() if len(labels) == 1 and not next(iter(labels)).isdigit() else None


def shown_names(names: Sequence[str], *, named: bool) -> tuple[str, ...] | None:
    """Names of columns as messages show them: those of a table or a series; None for numbers."""
    return tuple(names) if named or not all(map(str.isdigit, names)) else None


def _series_of(x: Any) -> tuple[list[str], list[Any], bool]:
    """The names of the columns, the columns as narwhals sees them, and whether the names are names: not of a series."""
    found = _narwhals_of(x)
    if hasattr(found, "iter_columns"):
        return _labels(x, found), list(found.iter_columns()), True
    return ["0"], [found], False


def _labels(x: Any, found: Any) -> list[str]:
    pandas = loaded_pandas()
    return [str(label) for label in (x.columns if pandas and isinstance(x, pandas.DataFrame) else found.columns)]


def _narwhals_of(x: Any) -> Any:
    """The data frame or series as narwhals sees it; None for what is neither."""
    pandas = loaded_pandas()
    if pandas is not None and isinstance(x, pandas.DataFrame):  # whose labels may be no text, and the same twice
        x = x.set_axis([str(j) for j in range(x.shape[1])], axis=1)
    if pandas is not None and isinstance(x, pandas.DataFrame | pandas.Series):  # zones with "_" are unknown to narwhals
        x = _dense(_in_universal_time(x, pandas), pandas)
    import narwhals as nw

    found = nw.from_native(x, allow_series=True, pass_through=True)
    if isinstance(found, nw.LazyFrame):
        raise TypeError(f"a lazy table ({type(x).__module__.partition('.')[0]}) has no rows yet; give x.collect()")
    return found if isinstance(found, nw.DataFrame | nw.Series) else None


def _in_universal_time(x: Any, pandas: Any) -> Any:
    """A data frame or series of pandas with its dates in universal time where they have a time zone."""
    if isinstance(x, pandas.Series):
        return x.dt.tz_convert("UTC") if isinstance(x.dtype, pandas.DatetimeTZDtype) else x
    zoned = [name for name, dtype in x.dtypes.items() if isinstance(dtype, pandas.DatetimeTZDtype)]
    return x.assign(**{name: x[name].dt.tz_convert("UTC") for name in zoned}) if zoned else x


def _dense(x: Any, pandas: Any) -> Any:
    """A data frame or series of pandas without sparse columns, which narwhals does not know."""
    if isinstance(x, pandas.Series):
        return x.sparse.to_dense() if isinstance(x.dtype, pandas.SparseDtype) else x
    sparse = [name for name, dtype in x.dtypes.items() if isinstance(dtype, pandas.SparseDtype)]
    return x.assign(**{name: x[name].sparse.to_dense() for name in sparse}) if sparse else x


def _has_many_digits(series: Any) -> bool:
    """Whether whole numbers are so large that floating-point numbers would not tell them apart."""
    if series.null_count() == len(series):  # of which pandas says that the least is NA
        return False
    return bool(series.min() < -EXACT or series.max() > EXACT)


def _of_many_digits(series: Any, label: str, where: str, wanted: Any) -> Column:
    if wanted == "category":
        return from_text(label, series.to_list())
    whole = series.dtype.is_integer()
    check_digits(series.drop_nulls().to_numpy() if whole else series.to_list(), where, label)
    values = [np.nan if code is None else float(code) for code in series.to_list()] if series.is_null().any() else None
    floats = series.to_numpy().astype(np.float64) if values is None else np.array(values)
    return from_numbers(label, floats, whole=whole)


def _arrow_of(native: Any) -> Any:
    """The chunked array of pyarrow that a series is, or that a column of pandas holds; None for others."""
    if hasattr(getattr(native, "dtype", None), "pyarrow_dtype"):
        native = native.array.__arrow_array__()
    return native if hasattr(native, "unify_dictionaries") else None


def _order_of(native: Any) -> list[str] | None:
    """The levels of a dictionary of pyarrow that has an order; None for other series."""
    found = _arrow_of(native)
    if not getattr(getattr(found, "type", None), "ordered", False):
        return None
    chunks = found.unify_dictionaries().chunks
    return [level_of_object(level) for level in chunks[0].dictionary.to_pylist()] if chunks else None


def _column(series: Any, label: str, shown: str, where: str, wanted: Any, *, compared: bool) -> Column:
    import narwhals as nw

    arrow = _arrow_of(series.to_native())
    if arrow is not None:  # of which pandas may make objects, with NA in gaps
        series = nw.from_native(arrow, series_only=True)
    dtype = series.dtype
    if (dtype.is_integer() or dtype == nw.Decimal) and _has_many_digits(series):
        return _of_many_digits(series, label, where, wanted)
    if dtype.is_numeric():
        floats = series if dtype == nw.Float64 else series.cast(nw.Float64)
        precision = precision_of(_SHORT.get(str(dtype)))
        return from_numbers(label, floats.to_numpy(), whole=dtype.is_integer(), precision=precision)
    if dtype == nw.Boolean:
        return from_booleans(label, series.cast(nw.Float64).to_numpy())
    if isinstance(dtype, nw.Enum):
        called = map(level_of_object, getattr(series.to_native().dtype, "categories", dtype.categories))
        return as_kind(from_text(label, series.to_list()), list(dict.fromkeys(called)), where)
    if dtype in (nw.String, nw.Categorical):
        entries = series.to_list()
        if dtype == nw.String and wanted is None:
            require_categories(entries, shown, where, compared=compared)
        column, order = from_text(label, entries), _order_of(series.to_native())
        return column if order is None else as_kind(column, order, where)
    if dtype == nw.Datetime:
        zoned = dtype.time_zone is not None
        if zoned:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return from_times(label, series.to_numpy(), zoned=zoned)
    if dtype == nw.Date:
        return from_times(label, series.cast(nw.Datetime("us")).to_numpy())
    if dtype == nw.Duration:
        return from_times(label, series.to_numpy())
    if dtype == nw.Time:
        return from_hours(label, series.to_list())
    if dtype == nw.Object or (dtype == nw.Unknown and series.is_null().all()):
        column = from_objects(label, entries := series.to_list(), where, wanted)
        if column.kind == "category" and wanted is None:
            require_categories(entries, shown, where, compared=compared)
        return column
    if str(getattr(arrow, "type", None)) == "date64[ms]":  # which narwhals does not know
        return from_times(label, arrow.cast("timestamp[ms]").to_numpy())
    found = getattr(arrow, "type", getattr(series.to_native(), "dtype", dtype)) if dtype == nw.Unknown else dtype
    raise TypeError(
        f"{where} must hold real numbers, text, dates, or True and False; got dtype {found}; convert it, or leave it "
        f"out: column_types={{{label!r}: 'drop'}}"
    )
