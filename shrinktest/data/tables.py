"""Tables of any library as data frames of pandas, and these as typed columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import (
    Points,
    check_signature,
    counted,
    listed,
    loaded_pandas,
    refuse_sparse,
    tensors_to_numpy,
)
from shrinktest._rounding import coarsest
from shrinktest.data.column import DROP, Column, Table, as_kind, in_one_unit, read_column
from shrinktest.data.summary import ColumnSummary, as_common, common

if TYPE_CHECKING:
    import pandas as pd

#: Name of the one column of a series, unless it has a name.
ALONE = "0"
_ARRAYS = (
    "builtins",
    "numpy",
    "torch",
    "array",
)  # types that are no tables, for which narwhals is not imported
_LARGEST = 2**31  # bytes of a sparse matrix that is made dense
_LEAST_INTEGER = -(2**63)  # of 64 bits
_LARGEST_INTEGER = 2**63 - 1


def is_table(x: Any) -> bool:
    """Return True for a data frame or a series of a library, and not for arrays and lists."""
    if isinstance(x, Table) or _is_pandas(x) or _arrow_names(x) is not None:
        return True
    return type(x).__module__.partition(".")[0] not in _ARRAYS and _narwhals_of(x) is not None


def _is_pandas(x: Any) -> bool:
    pandas = loaded_pandas()
    return pandas is not None and isinstance(x, pandas.DataFrame | pandas.Series)


def _arrow_names(x: Any) -> list[str] | None:
    """Return the names of the columns of a table of pyarrow, which may repeat.

    None for anything else.
    """
    is_arrow = type(x).__module__.startswith("pyarrow") and type(x).__name__ == "Table"
    return list(x.column_names) if is_arrow else None


def _narwhals_of(x: Any) -> Any:
    """Return a data frame or series in the words of narwhals; None for what is neither."""
    import narwhals as nw

    given = nw.from_native(x, allow_series=True, pass_through=True)
    if isinstance(given, nw.LazyFrame):
        raise TypeError(
            f"a lazy table ({type(x).__module__.partition('.')[0]}) has no rows yet; pass "
            "x.collect()"
        )
    return given if isinstance(given, nw.DataFrame | nw.Series) else None


# --- any library to pandas ------------------------------------------------------------------------


def frame_of(x: Any) -> pd.DataFrame:
    """Return a table or series as a pandas data frame with numbered columns.

    The names of the columns may repeat.

    No other module asks which library a table comes from.
    """
    import pandas as pd

    if isinstance(x, pd.Series):
        return _plain(x).to_frame(0)
    if isinstance(x, pd.DataFrame):
        return pd.DataFrame({j: _plain(x.iloc[:, j]) for j in range(x.shape[1])}, index=x.index)
    given = _narwhals_of(x)
    if not hasattr(given, "iter_columns"):
        return _from_narwhals(given).to_frame(0)
    return pd.DataFrame(
        {j: _from_narwhals(series) for j, series in enumerate(given.iter_columns())}
    )


def _plain(series: pd.Series) -> pd.Series:
    """Return a series of pandas without sparse values and without pyarrow dtypes."""
    import narwhals as nw
    import pandas as pd

    if isinstance(series.dtype, pd.SparseDtype):
        return series.sparse.to_dense()
    if not isinstance(series.dtype, pd.ArrowDtype):
        return series
    array = series.array.__arrow_array__()
    return _from_narwhals(nw.from_native(array, series_only=True)).set_axis(series.index)


def _from_narwhals(series: Any) -> pd.Series:
    """Return a series of polars, pyarrow and other libraries as one of pandas.

    Pyarrow need not be installed.
    """
    import narwhals as nw
    import pandas as pd

    dtype = series.dtype
    native = series.to_native()
    if dtype == nw.Unknown and "date64" in str(
        getattr(native, "type", "")
    ):  # which narwhals does not know
        return pd.Series(native.cast("timestamp[ms]").to_numpy())
    if dtype == nw.Date:
        return pd.Series(series.cast(nw.Datetime("us")).to_numpy())
    if dtype == nw.Datetime and dtype.time_zone is not None:
        universal = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return pd.Series(universal.to_numpy()).dt.tz_localize("UTC")
    whole = dtype.is_integer() and not series.null_count()
    if whole and str(dtype).endswith("128"):  # which numpy does not have
        entries = series.to_list()
        fits = (
            min(entries, default=0) >= _LEAST_INTEGER
            and max(entries, default=0) <= _LARGEST_INTEGER
        )
        return pd.Series(entries, dtype="int64" if fits else object)
    if whole or dtype.is_float() or dtype in (nw.Duration, nw.Datetime):
        return pd.Series(series.to_numpy())
    entries = pd.Series(series.to_list(), dtype=object)
    if isinstance(dtype, nw.Enum):
        return entries.astype(pd.CategoricalDtype([*dict.fromkeys(dtype.categories)], ordered=True))
    if dtype == nw.Categorical:
        order = (
            native.unify_dictionaries().chunks
            if getattr(getattr(native, "type", None), "ordered", False)
            else []
        )
        levels = order[0].dictionary.to_pylist() if order else None
        return entries.astype(pd.CategoricalDtype(levels, ordered=levels is not None))
    return entries


# --- data frames to columns -----------------------------------------------------------------------


def read_table(
    x: Any, name: str, column_types: Mapping[Any, Any] | None = None, *, compared: bool = True
) -> Table:
    """Read the columns of a table, or the single column of a series.

    The column of a series without a name is called "0".

    Messages call it ``name``; ``column_types`` has a kind, levels in their order, or "drop" for
    names of columns.  Columns that are not ``compared`` label rows, or are taken as given.  Raises
    TypeError for columns that hold no variable (lists, mixtures, complex numbers), and ValueError
    without rows or columns, for several columns of one name, and for infinite values.
    """
    labels = read_names(x) or (x.names if isinstance(x, Table) else (label_of(x) or ALONE,))
    named = read_names(x) is not None
    types = dict(column_types or {})
    if not named and len(labels) == 1 and ALONE in types:
        types.setdefault(labels[0], types[ALONE])
    stays = [j for j, label in enumerate(labels) if types.get(label) != DROP]
    if labels and not stays:
        raise ValueError(f"column_types drops every column of {name}; keep one to test")
    dropped = tuple(label for label in labels if types.get(label) == DROP)
    where = {j: f"{name}, column {labels[j]!r}," if named else name for j in stays}
    if isinstance(x, Table):
        columns = [
            as_kind(x.columns[j], types[labels[j]], where[j])
            if labels[j] in types
            else x.columns[j]
            for j in stays
        ]
        return Table(tuple(columns), named, (*x.dropped, *dropped))
    refuse_repeated(labels, name)
    frame = frame_of(x)
    if not frame.size:
        sizes = f"{counted(len(frame), 'row')} and {counted(len(labels), 'column')}"
        raise ValueError(f"{name} is empty: it has {sizes}")
    columns = [
        read_column(frame[j], labels[j], where[j], types.get(labels[j]), compared=compared)
        for j in stays
    ]
    return Table(tuple(columns), named, dropped)


def refuse_repeated(labels: Sequence[str], name: str) -> None:
    """Raise ValueError if several columns of a table have one name."""
    if repeated := sorted(label for label, times in Counter(labels).items() if times > 1):
        raise ValueError(
            f"{name} has more than one column named {listed(repeated)}; rename or drop them"
        )


def table_of(points: Points) -> Table:
    """Return the columns of an array of numbers, which have no names."""
    columns = (
        Column(str(j), "number", np.ascontiguousarray(entry), precision=points.precision)
        for j, entry in enumerate(points.values.T)
    )
    return Table(tuple(columns), named=False)


def pooled(
    columns: Sequence[Column], tables: Sequence[str], summaries: Sequence[ColumnSummary] = ()
) -> Column:
    """Return the values of a column in several tables, one after the other, with the levels of all.

    Raises ValueError if they hold different kinds of values; ``summaries`` of the columns may be
    known.
    """
    kind, levels = common(summaries or [ColumnSummary.of(column) for column in columns], tables)
    if kind == "category":  # of which summaries may lack some
        present = (column.levels for column in columns if not column.missing().all())
        levels = tuple(sorted({level for names in present for level in names}))
    alike = in_one_unit([as_common(column, kind, levels) for column in columns])
    return Column(
        columns[0].name,
        kind,
        np.concatenate([column.values for column in alike]),
        levels,
        all(column.whole for column in alike),
        any(column.zoned for column in alike),
        coarsest(column.precision for column in alike),
    )


# --- names ----------------------------------------------------------------------------------------


def read_names(x: Any) -> tuple[str, ...] | None:
    """Return the names of the columns of a table as text.

    None for a series, whose column has none, and for arrays.
    """
    if isinstance(x, Table):
        return x.names if x.named else None
    columns = _arrow_names(x)
    if columns is None and is_table(x):
        columns = getattr(x if _is_pandas(x) else _narwhals_of(x), "columns", None)
    return None if columns is None else tuple(map(str, columns))


def names_in(x: Any) -> tuple[str, ...]:
    """Return the names of the columns of a table as text; none of an array or a series."""
    return read_names(x) or ()


def names_for(
    samples: Sequence[Any], names: Sequence[str], called: Sequence[str | None] = ()
) -> tuple[str, ...]:
    """Return what messages call samples: user names, file names, or these names.

    File names are used if all samples are from files.
    """
    if given := tuple(entry for entry in called if entry):
        return given
    sources = [sample.source for sample in samples if isinstance(sample, Table) and sample.source]
    return tuple(sources if len(sources) == len(samples) else names)


def label_of(x: Any) -> str | None:
    """Return the name of a series, if it has one; a number is not a name."""
    name = getattr(x, "name", None)
    return name if isinstance(name, str) and name and not name.isdigit() and is_table(x) else None


def shown_names(names: Sequence[str], *, named: bool) -> tuple[str, ...] | None:
    """Return the column names of a table or a series as messages show them; None for numbers."""
    return tuple(names) if named or not all(map(str.isdigit, names)) else None


# --- rows and columns in the library that they come from ------------------------------------------


def columns_at(x: Any, places: Sequence[int]) -> Any:
    """Return the columns of a data frame at these places, as a data frame of the same library."""
    if isinstance(x, Table):
        return replace(x, columns=tuple(x.columns[j] for j in places))
    if _is_pandas(x):
        return x.iloc[:, list(places)]
    if _arrow_names(x) is not None:
        return x.select(list(places))
    given = _narwhals_of(x)
    return given.select([given.columns[j] for j in places]).to_native()


def taken(table: Any, rows: np.ndarray) -> Any:
    """Return the rows with these numbers, of an array, or of a table without row labels."""
    if isinstance(table, Table):
        return table.taken(rows)
    if not is_table(table):
        return np.ascontiguousarray(np.asarray(table)[rows])
    if _is_pandas(table):
        return table.iloc[rows].reset_index(drop=True)
    return _narwhals_of(table)[rows.tolist()].to_native()


def stacked(tables: Sequence[Any], names: Sequence[str]) -> Any:
    """Return all rows as one table of the library of the first, or as an array.

    An array is returned if one is not a table.

    Messages call the tables ``names``.  Raises ValueError or TypeError for other columns, or types
    of them.
    """
    if len(tables) == 1:
        return tables[0]
    if not all(map(is_table, tables)):
        return np.concatenate([np.asarray(table) for table in tables])
    labels = [read_names(table) or (ALONE,) for table in tables]
    for own, name in zip(labels, names, strict=True):
        refuse_repeated(own, name)
        if sorted(own) != sorted(labels[0]):
            raise ValueError(
                f"{names[0]} and {name} have different columns; select the same in all"
            )
    places = [[own.index(label) for label in labels[0]] for own in labels]
    if all(isinstance(table, Table) for table in tables):
        each = zip(
            *([table.columns[j] for j in at] for table, at in zip(tables, places, strict=True)),
            strict=True,
        )
        return replace(tables[0], columns=tuple(pooled(columns, names) for columns in each))
    try:
        if all(map(_is_pandas, tables)):
            return _stacked_pandas(tables, places)
        import narwhals as nw

        if not hasattr(tables[0], "columns"):
            frames = [_narwhals_of(table).alias(ALONE).to_frame() for table in tables]
            return nw.concat(frames, how="vertical")[ALONE].to_native()
        frames = [
            _narwhals_of(columns_at(table, at)) for table, at in zip(tables, places, strict=True)
        ]
        return nw.concat(frames, how="vertical").to_native()
    except (
        Exception
    ) as error:  # the libraries have errors of their own for columns of different types
        raise TypeError(f"{' and '.join(names)} cannot be stacked: {error}") from None


def _stacked_pandas(tables: Sequence[Any], places: Sequence[Sequence[int]]) -> Any:
    import pandas as pd

    series = isinstance(tables[0], pd.Series)
    frames = [
        table.to_frame() if series else table.iloc[:, at]
        for table, at in zip(tables, places, strict=True)
    ]
    columns = {}
    for j in range(frames[0].shape[1]):
        parts = [frame.iloc[:, j] for frame in frames]
        dtypes = [part.dtype for part in parts if isinstance(part.dtype, pd.CategoricalDtype)]
        if len(dtypes) == len(parts):
            longest = max(dtypes, key=lambda dtype: (bool(dtype.ordered), len(dtype.categories)))
            levels = dict.fromkeys(level for dtype in dtypes for level in dtype.categories)
            parts = [
                part.astype(longest if longest.ordered else pd.CategoricalDtype([*levels]))
                for part in parts
            ]
        columns[j] = pd.concat(parts, ignore_index=True)
    whole = pd.DataFrame(columns)
    return whole[0].rename(ALONE) if series else whole.set_axis(tables[0].columns, axis=1)


def categories(tables: Sequence[Any]) -> dict[str, str]:
    """Return the text columns of typed tables, as ``column_types``.

    These may have any number of values.
    """
    columns = [column for table in tables if isinstance(table, Table) for column in table.columns]
    return {column.name: "category" for column in columns if column.kind == "category"}


def check_same_index(first: Any, second: Any, first_name: str, second_name: str) -> None:
    """Raise ValueError if two pandas objects of equal length have different row labels.

    Their rows belong together.
    """
    if not (_is_pandas(first) and _is_pandas(second)) or len(first) != len(second):
        return
    a = first.index
    b = second.index
    if not a.equals(b):
        row = next(
            (i for i, (label, other) in enumerate(zip(a, b, strict=True)) if label != other), 0
        )
        same = a.is_unique and set(a) == set(b)
        align = (
            f"reorder: {second_name}.loc["
            if same
            else f"to match them by position: {second_name}.set_axis("
        )
        raise ValueError(
            f"{first_name} and {second_name} have different row labels (row {row}: {a[row]} and "
            f"{b[row]}); "
            f"{align}{first_name}.index{']' if same else ')'}"
        )


# --- transform= -----------------------------------------------------------------------------------


def transformed(tables: Sequence[Any], transform: Any, names: Sequence[str]) -> list[Any]:
    """Return the tables after a transformation of all their rows together, without their labels.

    ``transform`` is "hellinger", a function, or has ``fit_transform``; it gives as many rows as it
    gets.  Raises TypeError or ValueError if it does not; messages call the tables ``names``.
    """
    if isinstance(transform, str) and transform == "hellinger":
        from shrinktest.data.hellinger import hellinger

        transform = hellinger
    function = getattr(transform, "fit_transform", transform)
    meaning = "transform must be a scikit-learn transformer or a function of the pooled rows (N, d)"
    if not callable(function) or isinstance(transform, type):
        made = (
            " (an object, not a class: write it with parentheses)"
            if isinstance(transform, type)
            else ""
        )
        if isinstance(transform, str):
            made = ", or 'hellinger'"
        raise TypeError(f"{meaning}{made}; got {transform!r}")
    check_signature(function, ("rows",), meaning)
    tables = [tensors_to_numpy(table, name) for table, name in zip(tables, names, strict=True)]
    for table, name in zip(tables, names, strict=True):
        refuse_sparse(table, name)
    ends = np.cumsum([0, *map(len, tables)]).tolist()
    rows = (
        deepcopy(tables[0]) if len(tables) == 1 else stacked(tables, names)
    )  # the user's own stay as they are
    values = tensors_to_numpy(function(rows), "the output of transform")
    if hasattr(values, "toarray"):
        if (size := 8.0 * np.prod(values.shape)) > _LARGEST:
            raise MemoryError(
                f"transform gives a sparse matrix {values.shape}, {size / 1e9:.3g} GB when dense; "
                "reduce its columns"
            )
        values = values.toarray()
    if not hasattr(values, "__len__") or len(values) != ends[-1]:
        gave = counted(len(values), "row") if hasattr(values, "__len__") else repr(values)
        raise ValueError(
            f"transform must return as many rows as it gets, {ends[-1]}; it gave {gave}"
        )
    if _is_pandas(rows) and _is_pandas(values) and not values.index.equals(rows.index):
        anew = (values.index == np.arange(len(rows))).all()
        if not anew and rows.index.is_unique and values.index.isin(rows.index).all():
            raise ValueError(
                "transform must return the rows in their order, with the same index; use "
                ".reset_index(drop=True) "
                "if only the index differs"
            )
    return [values[start:end] for start, end in pairwise(ends)]
