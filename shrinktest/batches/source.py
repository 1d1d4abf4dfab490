"""Batches: a sample that is read some rows at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shrinktest._validate import as_points, count, counted, listed
from shrinktest.batches.files import ends_as_files, found_paths, is_paths, names_in, rows_of

BINS = 2000
_INDEX = "__index_level_"  # what pandas calls a column of a Parquet file that was an index


class Part(NamedTuple):
    """Some rows of a sample: where they are from, the number of the first there, and their values (k, d)."""

    where: str
    first: int
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Batches:
    """A sample with more rows than memory, for :func:`two_sample_test` and :func:`k_sample_test`.

    Parameters
    ----------
    data : path, list of paths, array or iterable of arrays
        Files whose names end in .npy, .csv or .parquet, as text or ``Path``, also with wildcards such as
        ``"before/*.parquet"`` (CSV and Parquet take pyarrow); an array (n, d), such as a memory map; or any object that
        gives arrays (n_i, d) whenever it is iterated over anew, as a list does and a generator does not.
    columns : sequence, optional
        Which columns to read: their names in CSV and Parquet files, else their numbers; default all, also those that
        only number the rows, unless they have no name of their own, which is an error.
    bins : int, default 2000
        About how many bins there are of the rows of all samples of a test, and the same for all of these; more where a
        sample of 20 rows or more would have fewer than 20.  See the notes.
    size : int, default 65536
        Rows to read at a time from arrays and files; batches that are given are as large as they are.

    Notes
    -----
    The test reads the rows twice: to count them and to draw a sample for the bandwidth and landmarks, and to add up
    their features in bins.  Bins are of equally many rows, chosen at random by a key, and the few rows left over in
    every sample are dropped.  Then bins are permuted in place of rows, which has exact level: rows that may change
    places may do so in bins, too.  The statistic is the squared distance of the means of the same rows; its unbiased
    form leaves out the products of bins with themselves, as that of rows does those of rows.

    As in tables, columns that have names are compared in units of their standard deviations over all rows unless
    ``scale`` says otherwise; those of arrays as they are.  Memory is for a batch, a block of features (some MB), the
    bins, and the sample of 2000 rows, whose distances take 32 MB where a bandwidth is found on them.  The result does
    not depend on how the rows are cut into batches.

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
    (0.002, (20000, 20000))
    """

    data: Any
    columns: Sequence[Any] | None = None
    bins: int = BINS
    size: int = 2**16

    def __post_init__(self) -> None:
        count(self.bins, "bins", minimum=20)
        count(self.size, "size", minimum=1)
        if isinstance(self.columns, str) or (self.columns is not None and not len(self.columns)):
            raise ValueError(f"columns must be a list of names or numbers of columns; got {self.columns!r}")
        if is_paths(self.data) or isinstance(self.data, np.ndarray):
            return
        if hasattr(self.data, "columns") or not isinstance(self.data, Iterable):
            raise TypeError(
                "Batches takes paths of files, an array, or an iterable of arrays; found "
                f"{type(self.data).__name__}, which is none of these (a table in memory: give its values, to_numpy())"
            )
        if isinstance(self.data, Iterator):
            raise TypeError(
                f"Batches takes what can be read twice, and a {type(self.data).__name__} can be read once only: give a "
                "list of arrays, or an object whose __iter__ starts anew"
            )

    def names(self, name: str) -> tuple[str, ...] | None:
        """Names of the columns that are read; None where they have none."""
        if not is_paths(self.data) or (there := names_in(found_paths(self.data, name)[0])) is None:
            return None
        if self.columns is None and (saved := [one for one in there if not one or one.startswith(_INDEX)]):
            raise ValueError(
                f"{name} has a column {saved[0]!r}, which looks as if it numbered the rows (the index of a table that "
                "was saved with it); choose the columns to test: Batches(..., columns=[...])"
            )
        wanted = there if self.columns is None else tuple(self.columns)
        if lacking := [one for one in wanted if one not in there]:
            raise ValueError(f"{name} has no column {', '.join(map(repr, lacking))}; it has {listed(there)}")
        if twice := sorted({one for one in wanted if wanted.count(one) > 1 or there.count(one) > 1}):
            raise ValueError(f"{name} has {listed(twice)} more than once; rename such columns, or choose others")
        return wanted

    def parts(self, name: str, names: tuple[str, ...] | None) -> Iterator[Part]:
        """The rows in their order, float64 with NaN for missing values; infinite ones are an error.

        Parameters
        ----------
        name : str
            What messages call the sample.
        names : tuple of str, optional
            The columns of files that have names, in the order in which they are wanted.
        """
        if is_paths(self.data):
            for path in found_paths(self.data, name):
                first = 0
                for values in rows_of(path, names, self.size):
                    yield self._part(f"{name}, {path},", first, values, named=names is not None)
                    first += len(values)
        elif isinstance(self.data, np.ndarray):
            for first in range(0, len(self.data) if self.data.ndim else 1, self.size):
                yield self._part(name, first, self.data[first : first + self.size] if self.data.ndim else self.data)
        else:
            first = 0
            for i, values in enumerate(self.data):
                where = f"{name}, batch {i} (counting from 0),"
                if np.ndim(values) != 2:
                    raise ValueError(
                        f"{where} must have two dimensions, rows and columns; found shape {np.shape(values)}"
                    )
                yield self._part(where, first, values)
                first += len(values)

    def _part(self, where: str, first: int, given: Any, *, named: bool = False) -> Part:
        plain = type(given) in (np.ndarray, np.memmap) and given.dtype.kind in "biuf"
        if plain and given.ndim in (1, 2) and given.size:
            values = np.asarray(given, dtype=np.float64).reshape(len(given), -1)
        elif len(given := given if np.ndim(given) else [given]) == 0:
            values = np.empty((0, given.shape[1] if np.ndim(given) == 2 else 1))
        else:
            values = as_points(given, where).values
        if self.columns is not None and not named:
            values = self._selected(values, where)
        if (infinite := np.isinf(values)).any():
            row, column = np.argwhere(infinite)[0]
            raise ValueError(f"{where} has an infinite value in row {first + row}, column {column} (counting from 0)")
        return Part(where, first, values)

    def _selected(self, values: np.ndarray, where: str) -> np.ndarray:
        assert self.columns is not None
        for one in self.columns:
            if not isinstance(one, int | np.integer) or not 0 <= one < values.shape[1]:
                raise ValueError(
                    f"columns: {where.rstrip(',')} has {counted(values.shape[1], 'column')} without names, and no "
                    f"column {one!r}; give numbers from 0 on"
                )
        return values[:, list(self.columns)]


def in_batches(*samples: Any) -> bool:
    """Whether the samples of a test are read in batches: those of files are, and all beside ``Batches``."""
    return any(isinstance(one, Batches) or ends_as_files(one) for one in samples)


def as_batches(samples: Sequence[Any], names: Sequence[str]) -> tuple[Batches, ...]:
    """All samples in batches, with as many bins; arrays in memory may stand beside others."""
    bins = {one.bins for one in samples if isinstance(one, Batches)}
    if len(bins) > 1:
        raise ValueError(f"bins= is the same for all samples of a test, whose bins change places; found {sorted(bins)}")
    out = []
    for given, name in zip(samples, names, strict=True):
        if not isinstance(given, Batches | np.ndarray | str | Path | list | tuple):
            raise TypeError(
                f"{name} stands beside a sample in batches and must be an array, a path, or Batches(...); found "
                f"{type(given).__name__}"
            )
        out.append(given if isinstance(given, Batches) else _wrapped(given, name, max(bins, default=BINS)))
    return tuple(out)


def _wrapped(given: Any, name: str, bins: int) -> Batches:
    plain = is_paths(given) or isinstance(given, np.ndarray)
    return Batches(given if plain else as_points(given, name).values, bins=bins)
