"""Batches: a sample that is read some rows at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import as_points, count, listed, refuse_sparse
from shrinktest.batches.delimited import AS_PANDAS, Cells
from shrinktest.batches.files import found_paths, indices_in, kinds_of, names_in, pieces_in
from shrinktest.batches.files import whole_numbers as whole_of_file
from shrinktest.batches.lazy import columns_of, parts_of
from shrinktest.batches.lazy import whole_numbers as whole_of_lazy
from shrinktest.batches.partitions import first_rows, has_names, partitions_of
from shrinktest.batches.partitions import whole_numbers as whole_of_dask
from shrinktest.batches.pieces import Held, Piece
from shrinktest.batches.recognized import is_dask, is_lazy, is_paths
from shrinktest.data.tables import is_table, read_names
from shrinktest.tables.identifiers import are_whole, has_no_name, known

BINS = 2000
_FIRST = 1000  # rows by which a column of numbers is found to have equal ones
_INDEX = "__index_level_"  # what pandas calls a column of a Parquet file that was an index


@dataclass(frozen=True, eq=False)
class Batches:
    """A sample that comes in parts, with more rows than memory or not, for tests of two or more samples, or of pairs.

    Parameters
    ----------
    data : path, list of paths, array, dask collection, lazy table or iterable of arrays
        Files whose names end in .npy, .csv or .parquet, as text or ``Path``, also with wildcards such as
        ``"before/*.parquet"`` (CSV and Parquet take pyarrow); an array (n, d), such as a memory map; an array or a data
        frame of dask; a lazy frame of polars or a dataset of pyarrow, which must give its rows in the same order
        whenever it is read; or any object that gives arrays (n_i, d) or data frames whenever it is iterated over anew,
        as a list does and a generator does not.
    columns : sequence, optional
        Which columns to read: their names in CSV and Parquet files and in tables, else their numbers; default all, also
        those that only number the rows, unless they have no name of their own, which is an error.
    bins : int, default 2000
        About how many bins there are of the rows of all samples of a test, and the same for all of these; more where a
        sample of 20 rows or more would have fewer than 20.
    size : int, default 65536
        Rows to read at a time from arrays, files and lazy tables; batches that are given are as large as they are.

    Notes
    -----
    Without ``gram``, samples that fit in memory are read whole and tested as they would be there. With ``gram="rff"``
    or "nystrom", ``rank``, ``store``, a kernel of finite rank, another number of bins than 2000, or a client or
    executor as ``workers``, they are read in batches.

    The test then reads the rows twice: to count them and to draw a sample for the bandwidth and landmarks, and to add
    up their features in bins. Bins are of equally many rows, chosen at random by a key, and the few rows left over in
    every sample are dropped. Then bins are permuted in place of rows, with exact level: where rows are exchangeable,
    bins of rows are exchangeable, too. The statistic is the squared distance of the means of the same rows; its
    unbiased form leaves out the products of bins with themselves, as that of rows does those of rows.

    As in tables, columns that have names are compared in units of their standard deviations over all rows unless
    ``scale`` says otherwise; those of arrays as they are.  Tables with categories, dates and text are encoded as in
    memory, and read once more before, to find the levels of their categories, 1000 at most; so are tables with whole
    numbers that differ in the first rows, which may identify these.  The first batch of an iterable is read once more,
    to see whether it is a table.  Memory is, for every worker, that of a batch and of the sums of bins; and that of the
    sample of 2000 rows, whose distances take 32 MB where a bandwidth is found on them.  The result does not depend on
    how the rows are cut into batches, nor on which process reads them.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import Batches, two_sample_test
    >>> class Simulated:
    ...     def __init__(self, seed, scale):
    ...         self.seed, self.scale = seed, scale
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

    _cells: ClassVar[Cells] = AS_PANDAS

    def __post_init__(self) -> None:
        count(self.bins, "bins", minimum=20)
        count(self.size, "size", minimum=1)
        if self.columns is not None:
            if isinstance(self.columns, str) or not isinstance(self.columns, Sized) or not len(self.columns):
                raise ValueError(f"columns must be a list of names or numbers of columns; got {self.columns!r}")
            if twice := [one for one, times in Counter(self.columns).items() if times > 1]:
                raise ValueError(f"columns has {twice[0]!r} more than once; name every column once")
        if is_paths(self.data) or is_dask(self.data) or is_lazy(self.data) or isinstance(self.data, np.ndarray):
            return
        if hasattr(self.data, "columns") or not isinstance(self.data, Iterable):
            raise TypeError(
                "Batches takes paths of files, an array, or an iterable of arrays; found "
                f"{type(self.data).__name__}, which is none of these (a table in memory: Batches([table]))"
            )
        if isinstance(self.data, Iterator):
            raise TypeError(
                f"Batches takes what can be read twice, and a {type(self.data).__name__} can be read once only: give a "
                "list of arrays, or an object whose __iter__ starts anew"
            )

    def names(self, name: str) -> tuple[str, ...] | None:
        """Names of the columns that are read; None where they have none."""
        there = self._there(name)
        if there is None:
            return None
        if not there:
            raise ValueError(f"{self.called(name)} has no columns to test")
        choose = "choose the columns to test: Batches(..., columns=[...])"
        if self.columns is None and (saved := [one for one in there if not one or one.startswith(_INDEX)]):
            raise ValueError(
                f"{self.called(name)} has a column {saved[0]!r}, which looks as if it numbered the rows (the index of "
                f"a table that was saved with it); {choose}"
            )
        paths = found_paths(self.data, name) if self.columns is None and is_paths(self.data) else []
        if paths and (indices := [one for one in indices_in(paths[0]) if one in there]):
            raise ValueError(
                f"{self.called(name)} has a column {indices[0]!r} that was the index of a table, not one of its "
                f"columns; {choose}"
            )
        wanted = there if self.columns is None else tuple(self.columns)
        if lacking := [one for one in wanted if one not in there]:
            raise ValueError(f"{self.called(name)} has no column {listed(lacking)}; it has {listed(there)}")
        if twice := sorted({one for one in wanted if wanted.count(one) > 1 or there.count(one) > 1}):
            raise ValueError(
                f"{self.called(name)} has {listed(twice)} more than once; rename such columns, or choose others"
            )
        return wanted

    def called(self, name: str) -> str:
        """What messages about columns call it: the file whose columns they are, where there is one."""
        return str(found_paths(self.data, name)[0]) if is_paths(self.data) else name

    def _there(self, name: str) -> tuple[str, ...] | None:
        """Names of all columns."""
        if is_dask(self.data):
            return tuple(map(str, self.data.columns)) if has_names(self.data) else None
        if is_lazy(self.data):
            return columns_of(self.data)
        if is_paths(self.data):
            return names_in(found_paths(self.data, name)[0], self._cells)
        if isinstance(self.data, np.ndarray) or not is_table(first := next(iter(self.data), None)):
            return None
        return read_names(first)

    def mixed(self, name: str, names: tuple[str, ...] | None) -> bool:
        """Whether columns may hold something else than numbers, or numbers that identify rows, by the first of these.

        Such are whole numbers, also of another type, as missing values make them.

        All rows must be read to know; of other tables the first reading can be spared.
        """
        if names is None:
            return False
        if is_lazy(self.data):
            each = [whole_of_lazy(self.data, name, names)]
        elif is_dask(self.data):
            each = [whole_of_dask(self.data, names)]
        elif is_paths(self.data):
            each = [whole_of_file(path, names, self._cells) for path in found_paths(self.data, name)]
        else:
            return True
        if None in each:
            return True
        by_type = each[0] or {}
        if len(names) == 1 or not by_type:
            return False
        if any(map(has_no_name, by_type)):
            return True
        first = self._first_rows(name, tuple(by_type)).T
        return any(_may_identify(*one) for one in zip(first, *zip(*by_type.items(), strict=True), strict=True))

    def _first_rows(self, name: str, names: tuple[str, ...]) -> np.ndarray:
        """Some rows (k, d) of columns of numbers."""
        if is_dask(self.data):
            return first_rows(self.data, names, _FIRST)
        if is_lazy(self.data):
            found = parts_of(self.data, name, names, _FIRST)
        else:
            found = (rows for piece in self.pieces(name, names) for rows in piece.read(_FIRST))
        return np.asarray(next(found, np.empty((0, len(names)))))

    @property
    def counted(self) -> bool:
        """Whether all pieces know how many rows they have."""
        if is_dask(self.data):
            return not has_names(self.data) and not np.isnan(self.data.shape[0])
        return not is_paths(self.data) or kinds_of(self.data) != {"csv"}

    @property
    def by_dask(self) -> bool:
        """Whether it is a collection of dask, which only dask computes."""
        return is_dask(self.data)

    @property
    def there(self) -> bool:
        """Whether all pieces are there before they are read, and are not made one after the other."""
        return is_paths(self.data) or is_dask(self.data) or isinstance(self.data, np.ndarray | list | tuple)

    def signature(self, name: str) -> list[Any] | None:
        """What identifies files without reading them; None where the data are not in files."""
        if not is_paths(self.data):
            return None
        read = [] if self.counted or self._cells == AS_PANDAS else [repr(self._cells)]
        files = found_paths(self.data, name)
        return [[str(path), path.stat().st_size, path.stat().st_mtime_ns, *read] for path in files]

    def pieces(
        self, name: str, names: tuple[str, ...] | None, column_types: Mapping[str, Any] | None = None
    ) -> Iterator[Piece]:
        """The rows in their order, piece after piece.

        Messages call the sample ``name``; ``names`` are the columns of files that have names, in the order in which
        they are wanted.  ``column_types`` says how columns are read, by name, where the pieces are to be tables; by
        default they are numbers.
        """
        if is_dask(self.data):
            yield from partitions_of(self.data, name, names, tables=column_types is not None)
        elif is_paths(self.data):
            for path in found_paths(self.data, name):
                where = f"{path}," if name == str(path) else f"{name}, {path},"
                yield from pieces_in(path, where, names, self.size, column_types, self._cells)
        elif isinstance(self.data, np.ndarray):
            for first in range(0, len(self.data) if self.data.ndim else 1, self.size):
                yield Held(name, first, self.data[first : first + self.size] if self.data.ndim else self.data)
        else:
            first = 0
            parts = self.data
            if is_lazy(parts):
                parts = parts_of(parts, name, names or (), self.size, tables=column_types is not None)
            for i, values in enumerate(parts):
                where = f"{name}, batch {i} (counting from 0),"
                refuse_sparse(values, where.rstrip(","))
                if not is_table(values) and np.ndim(values) != 2:
                    raise ValueError(
                        f"{where} must have two dimensions, rows and columns; found shape {np.shape(values)}"
                    )
                yield Held(where, first, values)
                first += len(values)


def as_batches(samples: Sequence[Any], names: Sequence[str]) -> tuple[Batches, ...]:
    """All samples in batches, with as many bins; arrays in memory may stand beside others."""
    bins = list(dict.fromkeys(one.bins for one in samples if isinstance(one, Batches)))
    if len(bins) > 1:
        raise ValueError(f"bins= is the same for all samples of a test, whose bins change places; found {sorted(bins)}")
    out = []
    for given, name in zip(samples, names, strict=True):
        known = isinstance(given, Batches | np.ndarray | str | Path | list | tuple)
        if not (known or is_dask(given) or is_lazy(given)):
            raise TypeError(
                f"{name} stands beside a sample in batches and must be an array, a path, or Batches(...); found "
                f"{type(given).__name__}"
            )
        out.append(given if isinstance(given, Batches) else _wrapped(given, name, bins[0] if bins else BINS))
    return tuple(out)


def _may_identify(first: np.ndarray, name: str, whole: bool) -> bool:
    """Whether a column of numbers may be one of whole numbers that identify rows, by the first of its rows."""
    there = known(first)
    return (whole or (len(first) > 0 and are_whole(there))) and (
        has_no_name(name) or np.unique(there).size == there.size
    )


def _wrapped(given: Any, name: str, bins: int) -> Batches:
    plain = is_paths(given) or is_dask(given) or is_lazy(given) or isinstance(given, np.ndarray)
    return Batches(given if plain else as_points(given, name).values, bins=bins)
