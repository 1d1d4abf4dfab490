"""Sources of rows, each an ordered sequence of chunks.

Sources are files, arrays, dask collections, lazy tables and iterables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._check import as_points, count, listed, refuse_sparse, tensors_to_numpy
from shrinktest.data.on_disk.storage import (
    KINDS,
    Chunk,
    file_chunks,
    is_dask,
    is_paths,
    is_polars,
    lazy_parts,
    lazy_schema,
    names_in,
    partitions,
    paths_in,
    whole_columns,
    whole_in_file,
)

BINS = 2000
_FIRST = 1000  # rows that tell whether whole numbers may identify the rows


def in_batches(*samples: Any) -> bool:
    """Return True if one of the samples is read in batches.

    These are files, dask collections, lazy tables, and ``Batches``.
    """
    return any(type(data) is not np.ndarray and _is_in_batches(data) for data in samples)


def _is_in_batches(data: Any) -> bool:
    return isinstance(data, Batches) or _ends_as_files(data) or is_dask(data) or is_lazy(data)


def _ends_as_files(data: Any) -> bool:
    several = data if isinstance(data, list | tuple) else [data]
    ends = tuple(KINDS)
    return is_paths(data) and all(
        not isinstance(path, str) or path.lower().endswith(ends) for path in several
    )


def is_lazy(data: Any) -> bool:
    """Return True for a lazy frame of polars or a dataset of pyarrow."""
    return is_polars(data) or (
        type(data).__module__ == "pyarrow._dataset" and hasattr(data, "to_batches")
    )


@dataclass(frozen=True, eq=False)
class Batches:
    """A sample read in batches, which need not fit in memory.

    It is accepted by tests of two or more samples, or of pairs.

    Parameters
    ----------
    data : path, list of paths, array, dask collection, lazy table or iterable of arrays
        Files whose names end in .npy, .csv or .parquet, as text or ``Path``, perhaps with wildcards
        such as ``"before/*.parquet"`` (Parquet requires pyarrow); an array (n, d), such as a memory
        map; a dask array or data frame; or a polars lazy frame or pyarrow dataset, whose rows must
        come in the same order at every read.  It may also be any object that yields arrays (n_i, d)
        or data frames each time it is iterated over, such as a list (but not a generator), or a
        torch DataLoader without shuffling.  Tensors that come
        together in one batch are put side by side, so that ``columns`` can choose among them.
    columns : sequence, optional
        Columns to read: their names in CSV and Parquet files and in tables, else their numbers;
        default all.
    bins : int, default 2000
        Approximate number of bins for the rows of all samples of a test; pass the same number to
        each of them.  More are used if a sample of 20 rows or more would have fewer than 20 bins.
    size : int, default 65536
        Number of rows to read at a time from arrays, files and lazy tables; batches of other
        objects are not divided.

    Notes
    -----
    Without ``gram``, samples that fit in memory are read whole and tested as arrays are.
    If ``gram="rff"`` or "nystrom", ``rank``, ``store``, a kernel of finite rank, a number of bins
    other than 2000, or a client or executor as ``workers`` is passed, they are read in batches.

    The test then reads the rows twice: first to count them and to draw a sample for the bandwidth
    and landmarks, and then to add up their features in bins.  Bins are of equal size and contain
    rows chosen at random; the few rows left over in every sample are dropped.  Then bins are
    permuted instead of rows, and the test remains exact, because bins of rows are exchangeable if
    rows are.  The statistic is the squared distance of the means of these rows; its unbiased form
    omits the products of bins with themselves, as it does for rows.

    As in tables, columns with names are compared in units of their standard deviations over all
    rows unless ``scale`` is set, whereas numbers of arrays are not scaled.  Tables with categories,
    dates and text are encoded as in memory, after an extra pass that finds the levels of their
    categories, 1000 at most; CSV files and tables with a column that may count rows need it, too.
    Memory must hold, for every worker, one batch and the sums of the bins, and a sample of 2000
    rows.
    The result does not depend on the workers, and other batch sizes change only its last
    digits.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import Batches, two_sample_test
    >>> class Simulated:
    ...     def __init__(self, seed, scale):
    ...         self.seed, self.scale = seed, scale
    ...
    ...     def __iter__(self):
    ...         rng = np.random.default_rng(self.seed)
    ...         return (rng.normal(0.0, self.scale, size=(1000, 3)) for _ in range(20))
    >>> X, Y = Batches(Simulated(1, 1.0), bins=400), Batches(Simulated(2, 1.02), bins=400)
    >>> result = two_sample_test(X, Y, gram="rff", rank=60, rng=0)
    >>> result.pvalue, result.n_observations
    (0.004, (20000, 20000))
    """

    data: Any
    columns: Sequence[Any] | None = None
    bins: int = BINS
    size: int = 2**16

    def __post_init__(self) -> None:
        count(self.bins, "bins", minimum=20)
        count(self.size, "size", minimum=1)
        if self.columns is not None:
            if (
                isinstance(self.columns, str)
                or not isinstance(self.columns, Sized)
                or not len(self.columns)
            ):
                raise ValueError(
                    f"columns must be a list of names or numbers of columns; got {self.columns!r}"
                )
            if repeated := [name for name, times in Counter(self.columns).items() if times > 1]:
                raise ValueError(
                    f"columns has {repeated[0]!r} more than once; name every column once"
                )
        if (
            is_paths(self.data)
            or is_dask(self.data)
            or is_lazy(self.data)
            or isinstance(self.data, np.ndarray)
        ):
            return
        if hasattr(self.data, "columns") or not isinstance(self.data, Iterable):
            kind = type(self.data).__name__
            raise TypeError(
                f"data must be paths, an array or an iterable of arrays, not {kind}; pass a table "
                "as Batches([table])"
            )
        if type(getattr(self.data, "sampler", None)).__name__ == "RandomSampler":
            raise ValueError(
                "data must return its rows in the same order again; make the loader with "
                "shuffle=False"
            )
        if isinstance(self.data, Iterator):
            kind = type(self.data).__name__
            raise TypeError(
                f"a {kind} can be read once only; pass a list, or an object whose __iter__ starts "
                "anew"
            )

    def called(self, name: str) -> str:
        """Return the name of the sample in messages, such as its first file."""
        return str(paths_in(self.data, name)[0]) if is_paths(self.data) else name

    def names(self, name: str) -> tuple[str, ...] | None:
        """Return the names of the columns that are read; None if they have none."""
        known = self._known_names(name)
        if known is None:
            return None
        if not known:
            raise ValueError(f"{self.called(name)} has no columns")
        columns = known if self.columns is None else tuple(self.columns)
        if lacking := [column for column in columns if column not in known]:
            raise ValueError(
                f"{self.called(name)} has no column {listed(lacking)}; it has {listed(known)}"
            )
        if repeated := sorted({column for column in columns if known.count(column) > 1}):
            raise ValueError(
                f"{self.called(name)} has {listed(repeated)} more than once; rename or leave out"
            )
        return columns

    def _known_names(self, name: str) -> tuple[str, ...] | None:
        from shrinktest.data.tables import is_table, read_names

        if is_dask(self.data):
            return tuple(map(str, self.data.columns)) if hasattr(self.data, "columns") else None
        if is_lazy(self.data):
            return tuple(
                self.data.collect_schema().names()
                if is_polars(self.data)
                else self.data.schema.names
            )
        if is_paths(self.data):
            return names_in(paths_in(self.data, name)[0])
        if isinstance(self.data, np.ndarray) or not is_table(first := next(iter(self.data), None)):
            return None
        return read_names(first)

    def mixed(self, name: str, names: tuple[str, ...] | None) -> bool:
        """Return True if columns may hold other than numbers, or count the rows.

        To know, all rows must be read; for other tables this is not necessary.
        """
        if names is None:
            return False
        if is_dask(self.data):
            kinds = {
                str(label): getattr(kind, "kind", "O") for label, kind in self.data.dtypes.items()
            }
            whole = {
                column: kinds[column] in "iu" if kinds[column] in "iuf" else None
                for column in names
            }
        elif is_lazy(self.data) or is_paths(self.data):
            paths = paths_in(self.data, name) if is_paths(self.data) else []
            several = [whole_in_file(path, names, self.size) for path in paths]
            several = several or [whole_columns(lazy_schema(self.data, name, names), names)]
            whole = (
                several[0]
                if all(None not in each.values() for each in several)
                else dict.fromkeys(names)
            )
        else:
            return True
        if None in whole.values():
            return True
        if len(names) == 1:
            return False
        chunk = next(self.chunks(name, names), None)
        part = None if chunk is None else next(chunk.computed().parts(), None)
        first = (
            np.empty((0, len(names)))
            if part is None
            else np.asarray(part[:_FIRST], dtype=np.float64)
        )
        return any(map(_may_count, first.T))

    @property
    def counted(self) -> bool:
        """True if chunks know how many rows they have."""
        if is_dask(self.data):
            return not hasattr(self.data, "columns") and not np.isnan(self.data.shape[0])
        return True

    def signature(self, name: str) -> list[Any] | None:
        """Return an identity of files without reading them; None for other data."""
        if not is_paths(self.data):
            return None
        files = [(path, path.stat()) for path in paths_in(self.data, name)]
        return [[str(path), about.st_size, about.st_mtime_ns] for path, about in files]

    def chunks(
        self, name: str, names: tuple[str, ...] | None, types: Mapping[str, Any] | None = None
    ) -> Iterator[Chunk]:
        """Yield all rows in order.

        They are tables, whose columns are read as ``types`` says, or else numbers.
        """
        tables = types is not None
        if is_dask(self.data):
            yield from partitions(self.data, name, names)
        elif is_paths(self.data):
            for path in paths_in(self.data, name):
                where = f"{path}," if name == str(path) else f"{name}, {path},"
                yield from file_chunks(path, where, names, self.size, types)
        elif isinstance(self.data, np.ndarray):
            values = np.atleast_1d(self.data)
            for first in range(0, len(values), self.size):
                part = values[first : first + self.size]
                yield Chunk(name, part, first=first, rows=len(part))
        else:
            yield from self._given(name, names, tables=tables)

    def _given(self, name: str, names: tuple[str, ...] | None, *, tables: bool) -> Iterator[Chunk]:
        from shrinktest.data.tables import is_table

        first = 0
        parts = (
            lazy_parts(self.data, name, names or (), self.size, tables=tables)
            if is_lazy(self.data)
            else self.data
        )
        for i, given in enumerate(parts):
            where = f"{name}, batch {i} (counting from 0),"
            values = side_by_side(given, where.rstrip(","))
            refuse_sparse(values, where.rstrip(","))
            if not is_table(values) and np.ndim(values) != 2:
                raise ValueError(
                    f"{where} must have two dimensions, rows and columns; found shape "
                    f"{np.shape(values)}"
                )
            yield Chunk(where, values, first=first, rows=len(values))
            first += len(values)


def side_by_side(batch: Any, name: str) -> Any:
    """Return tensors, or several of as many rows, as one array of rows; anything else unchanged."""
    arrays = tensors_to_numpy(batch, name)
    if arrays is batch:
        return batch
    if isinstance(arrays, np.ndarray):
        arrays = [arrays]
    tables = [array[:, None] if array.ndim == 1 else array for array in arrays]
    if any(table.ndim != 2 or len(table) != len(tables[0]) for table in tables):
        shapes = [np.shape(array) for array in arrays]
        raise ValueError(
            f"{name} must have two-dimensional tensors with equal numbers of rows; found shapes "
            f"{shapes}"
        )
    return np.hstack(tables)


def _may_count(values: np.ndarray) -> bool:
    """Return True if numbers go up by one a row, as far as they are known."""
    rows = np.flatnonzero(~np.isnan(values))
    return bool((np.diff(values[rows]) == np.diff(rows)).all())


def as_batches(samples: Sequence[Any], names: Sequence[str]) -> tuple[Batches, ...]:
    """Return all samples in batches, with as many bins.

    Arrays in memory may stand beside others.
    """
    bins = {data.bins for data in samples if isinstance(data, Batches)} or {BINS}
    if len(bins) > 1:
        raise ValueError(f"bins= must be the same for all samples of a test; found {sorted(bins)}")
    out = []
    for data, name in zip(samples, names, strict=True):
        if isinstance(data, Batches):
            out.append(data)
        elif is_paths(data) or is_dask(data) or is_lazy(data) or isinstance(data, np.ndarray):
            out.append(Batches(data, bins=min(bins)))
        elif isinstance(data, list | tuple):
            out.append(Batches(as_points(data, name).values, bins=min(bins)))
        else:
            kind = type(data).__name__
            raise TypeError(
                f"{name} next to a sample in batches must be an array, a path or Batches(...), not "
                f"{kind}"
            )
    return tuple(out)
