"""Survey: sizes, moments and a random sample of the rows of all samples, by one reading.

The sample has the rows with the smallest keys, which are random by the number of a row: they depend
neither on labels nor on how rows are cut into chunks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from shrinktest._check import counted
from shrinktest._rounding import SINGLE, rounded, single_columns
from shrinktest.data.on_disk.chunks import Key, Store, digest, reduce, stored
from shrinktest.data.on_disk.rows import Rows
from shrinktest.data.on_disk.storage import Chunk
from shrinktest.kernels.bandwidths import distinct, repeats, stratified

SAMPLE = 2000  # rows from which bandwidths are found, all pairs of which are compared
DATA = "data (or size= of batches)"
SEED = "random numbers (rng=)"
FEATURES = "features or bins"
_FIRST = np.uint64(0xFF51AFD7ED558CCD)
_SECOND = np.uint64(0xC4CEB9FE1A85EC53)  # as in MurmurHash3
_SHIFT = np.uint64(32)
_DISTINCT = 2000  # distinct rows that are kept


def hashed(numbers: np.ndarray, keys: Iterable[Any]) -> np.ndarray:
    """Return random bits (k,) by numbers and keys, all of them uint64.

    Different ones for different numbers.
    """
    for key in keys:
        numbers = (numbers ^ key) * _FIRST
        numbers ^= numbers >> _SHIFT
        numbers *= _SECOND
        numbers ^= numbers >> _SHIFT
    return numbers


@stored
@dataclass(eq=False)
class Seen:
    """Range, moments and a random sample of some columns in some rows.

    NaN is left out of moments.
    """

    low: np.ndarray  # (d,)
    high: np.ndarray
    known: (
        np.ndarray
    )  # (d,): values that are not NaN, with their mean and their squared distances from it
    mean: np.ndarray
    squares: np.ndarray
    keys: np.ndarray  # (s,): the smallest, in order
    rows: np.ndarray  # (s, d)
    single: np.ndarray  # (d,): all values fit in single precision
    long: np.ndarray  # (d,): some of these are no short decimal numbers

    @classmethod
    def of(cls, values: np.ndarray, keys: np.ndarray, drawn: int) -> Seen:
        """Look at rows (k, d), of which there is one at least."""
        least = np.argpartition(keys, drawn)[:drawn] if drawn < len(keys) else np.arange(len(keys))
        least = least[np.argsort(keys[least])]
        values = np.asarray(values, dtype=np.float64)
        missing = np.isnan(values)
        known = (len(values) - missing.sum(axis=0)).astype(np.float64)
        plain = np.where(missing, 0.0, values) if missing.any() else values
        mean = plain.sum(axis=0) / np.maximum(known, 1.0)
        apart = plain - mean
        apart[missing] = 0.0
        squares = np.einsum("ij,ij->j", apart, apart)
        ends = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
        return cls(*ends, known, mean, squares, keys[least], values[least], *single_columns(values))

    def merged(self, other: Seen, drawn: int) -> Seen:
        """Add what was seen of other rows (Chan, Golub and LeVeque, 1983)."""
        keys = np.concatenate([self.keys, other.keys])
        least = np.argsort(keys, kind="stable")[:drawn]
        known = self.known + other.known
        apart = other.mean - self.mean
        share = other.known / np.maximum(known, 1.0)
        return Seen(
            np.fmin(self.low, other.low),
            np.fmax(self.high, other.high),
            known,
            self.mean + apart * share,
            self.squares + other.squares + np.square(apart) * self.known * share,
            keys[least],
            np.vstack([self.rows, other.rows])[least],
            self.single & other.single,
            self.long | other.long,
        )

    def filled(self, holes: Sequence[int], size: int) -> tuple[Seen, dict[int, float]]:
        """Put medians of the sample in place of NaN in some columns; return also these."""
        fills = {}
        rows = self.rows.copy()
        for j in holes:
            known_values = rows[:, j][~np.isnan(rows[:, j])]
            ends = np.nan_to_num([self.low[j], self.high[j]])  # 0 if all values are missing
            fills[j] = float(np.median(known_values if known_values.size else ends))
            rows[np.isnan(rows[:, j]), j] = fills[j]
        places = list(fills)
        empty = np.full(len(self.low), np.nan)
        some = empty.copy()
        counts = np.zeros(len(self.low))
        some[places], counts[places] = [fills[j] for j in places], size - self.known[places]
        means = np.nan_to_num(some)
        precision = (self.single, self.long)
        others = Seen(
            some, some, counts, means, 0.0 * counts, self.keys[:0], self.rows[:0], *precision
        )
        return replace(self.merged(others, len(self.keys)), keys=self.keys, rows=rows), fills

    @property
    def constant(self) -> np.ndarray:
        """Return which columns (d,) are constant."""
        return np.asarray(self.low == self.high)

    def in_single(self, columns: np.ndarray) -> Seen:
        """Round some of the columns to single precision."""
        low, high, rows = (
            np.where(columns, rounded(values, SINGLE), values)
            for values in (self.low, self.high, self.rows)
        )
        return replace(self, low=low, high=high, rows=rows)

    @property
    def deviations(self) -> np.ndarray:
        """Standard deviations (d,), over n; 1 for constant columns."""
        return np.where(self.constant, 1.0, np.sqrt(self.squares / np.maximum(self.known, 1.0)))


@stored
@dataclass(eq=False)
class Survey:
    """Result of one pass over all samples."""

    counts: list[list[int]]  # for every sample the rows that are kept of each of its chunks
    read: list[int]  # rows of every sample, with those that are left out because of missing values
    seen: list[list[Seen | None]]  # for every sample and every group of columns
    pooled: list[Seen] = field(default_factory=list)  # of every group, from all samples
    fills: list[Mapping[int, float]] = field(
        default_factory=list
    )  # what replaces missing values, by columns

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows of the samples."""
        return tuple(map(sum, self.counts))

    @property
    def omitted(self) -> list[int]:
        """Rows of the samples that were left out because of missing values."""
        return [n - size for n, size in zip(self.read, self.sizes, strict=True)]

    @property
    def single(self) -> list[np.ndarray]:
        """Return which columns (d,) of each group were originally single precision.

        A column counts if it was so in some sample.
        """
        groups = []
        for samples in zip(*self.seen, strict=True):
            before = [entry.single & entry.long for entry in samples if entry is not None]
            groups.append(np.any(before, axis=0))
        return groups

    def in_single(self) -> Survey:
        """Round columns that were in single precision to it, in all samples."""
        pooled = [
            seen.in_single(columns) for seen, columns in zip(self.pooled, self.single, strict=True)
        ]
        return replace(self, pooled=pooled)

    def digest(self) -> str:
        """Return a text that tells these data, and how they were cut, from others."""
        return digest(self.counts, self.seen)


def survey(
    samples: Sequence[Rows],
    drawn: int,
    rng: np.random.Generator,
    workers: Any = 1,
    *,
    groups: Sequence[slice] = (slice(None),),
    holes: Sequence[Sequence[int]] = ((),),
    store: Store | None = None,
) -> Survey:
    """Read all samples once, and draw ``drawn`` rows of each group of columns.

    They are drawn by keys that ``rng`` draws.

    In the columns ``holes`` of a group NaN stands for missing values.  Raises ValueError for
    samples with other columns than the first.
    """
    keys = rng.integers(2**64, size=(len(groups), len(samples), 2), dtype=np.uint64)
    signatures = [rows.signature for rows in samples]
    key = None
    sizes = None
    total = Survey(
        [[] for _ in samples], [0] * len(samples), [[None] * len(groups) for _ in samples]
    )
    if not all(rows.counted for rows in samples):
        sizes = _counted(samples, workers)
    elif None not in signatures:  # data that nothing tells from others are read once more
        key = Key("survey", {SEED: digest(keys), DATA: digest(signatures, drawn)})
    work = partial(_look, [rows.reader for rows in samples], drawn, groups)
    jobs = _jobs(samples, keys, sizes)
    total = reduce(work, jobs, partial(_add, samples, drawn), total, workers, store=store, key=key)
    pooled: list[tuple[Seen, dict[int, float]]] = []
    for g, gaps in enumerate(holes) if min(total.sizes) else ():
        first, *others = (seen[g] for seen in total.seen)
        assert first is not None
        for other in others:
            assert other is not None
            first = first.merged(other, drawn)
        pooled.append(first.filled(gaps, sum(total.sizes)))
    # a copy: the store keeps what was read
    return replace(total, pooled=[seen for seen, _ in pooled], fills=[fills for _, fills in pooled])


def _jobs(samples: Sequence[Rows], keys: np.ndarray, sizes: Any) -> Iterator[tuple[Any, ...]]:
    """Yield chunks with their sample, the keys, and the number of the first row."""
    for i, rows in enumerate(samples):
        first = 0
        for k, chunk in enumerate(rows.chunks()):
            yield chunk, i, keys[:, i], first
            first += sizes[i][k] if sizes else chunk.rows or 0


def _counted(samples: Sequence[Rows], workers: Any) -> list[list[int]]:
    """Count the rows of all chunks."""
    readers = [rows.reader for rows in samples]
    jobs = ((chunk, i) for i, rows in enumerate(samples) for chunk in rows.chunks())
    counts = reduce(
        partial(_count, readers),
        jobs,
        lambda total, chunk_result: [*total, chunk_result],
        [],
        workers,
    )
    return [[rows for j, rows in counts if j == i] for i in range(len(samples))]


def _count(readers: Any, chunk: Chunk, i: int) -> tuple[int, int]:
    return i, sum(len(part) for _, _, part in readers[i].parts(chunk))


def _look(
    readers: Any,
    drawn: int,
    groups: Sequence[slice],
    chunk: Chunk,
    i: int,
    keys: np.ndarray,
    first: int,
) -> tuple[int, int, int, list[Seen], str, int]:
    """Return the sample, its rows, the kept rows, their summary, and the column counts.

    The summary is what was seen of the kept rows; the counts say how many columns are where.
    """
    seen: list[Seen] = []
    rows = columns = 0
    place = first
    for values, complete in readers[i].numbers(chunk):
        places = np.arange(place, place + len(complete), dtype=np.uint64)[complete]
        place += len(complete)
        rows += len(values)
        if not len(values):
            continue
        columns = columns or values.shape[1]
        if values.shape[1] != columns:
            raise ValueError(
                f"{chunk.where} has {counted(values.shape[1], 'column')}, and {columns} before"
            )
        both = zip(groups, keys, strict=True)
        part = [Seen.of(values[:, group], hashed(places, key), drawn) for group, key in both]
        seen = (
            [entry.merged(other, drawn) for entry, other in zip(seen, part, strict=True)]
            if seen
            else part
        )
    return i, place - first, rows, seen, chunk.where, columns


def _add(samples: Sequence[Rows], drawn: int, total: Survey, chunk_result: Any) -> Survey:
    i, read, rows, seen, where, columns = chunk_result
    total.counts[i].append(rows)
    total.read[i] += read
    if seen:
        before = total.seen[i]
        known = next(
            (sum(len(each.low) for each in some if each) for some in total.seen if some[0]), columns
        )
        if columns != known:
            raise ValueError(
                f"{where.rstrip(',')} has {counted(columns, 'column')}, and {samples[0].name} has "
                f"{known}; samples "
                "must have the same columns"
            )
        total.seen[i] = [
            new if old is None else old.merged(new, drawn)
            for old, new in zip(before, seen, strict=True)
        ]
    return total


def numbered(
    samples: Sequence[Rows], counts: Sequence[Sequence[int]]
) -> Iterator[tuple[Chunk, int, int, int]]:
    """Yield all chunks once more, with their sample, the number of their first row, and their rows.

    Raises ValueError if a sample has other chunks than before.
    """
    for i, (rows, known) in enumerate(zip(samples, counts, strict=True)):
        chunks = rows.chunks()
        firsts = accumulate(known, initial=0)
        for n, first in zip(known, firsts, strict=False):
            if (chunk := next(chunks, None)) is None:
                raise _changed(rows.name)
            yield chunk, i, first, n
        if next(chunks, None) is not None:
            raise _changed(rows.name)


def same_rows(reader: Any, chunk: Chunk, n: int) -> Iterator[np.ndarray]:
    """Yield the rows of a chunk, of which there were ``n`` before."""
    rows = 0
    for values, _ in reader.numbers(chunk):
        rows += len(values)
        if rows > n:
            raise _changed(reader.name)
        yield values
    if rows != n:
        raise _changed(reader.name)


def _changed(name: str) -> ValueError:
    return ValueError(
        f"{name} had other rows when it was read again; it must return the same rows in the same "
        "order"
    )


# --- rows that repeat -----------------------------------------------------------------------------


def representative(
    samples: Sequence[Rows],
    whole: Survey,
    groups: Sequence[slice],
    sample: Sequence[np.ndarray],
    workers: Any,
    store: Store | None = None,
) -> list[np.ndarray]:
    """Return, for each group of columns, rows that represent all samples.

    These are the random ``sample``, unless more than a tenth of the pairs of its rows are equal.
    Then the samples are read once more, and every value gets its share of rows, rare values
    included.
    """
    total = sum(whole.sizes)
    often = [g for g, rows in enumerate(sample) if len(rows) < total and repeats(rows)]
    out = list(sample)
    if not often:
        return out
    columns = [groups[g] for g in often]
    frequent = [_frequent(sample[g]) for g in often]
    key = Key(
        "distinct rows", {DATA: digest(whole.digest(), [str(group) for group in columns], frequent)}
    )
    work = partial(_distinct_in, [rows.reader for rows in samples], columns, frequent)
    jobs = numbered(samples, whole.counts)
    distinct = reduce(work, jobs, _both, None, workers, store=store, key=key)
    for g, (_, counts, rows), first in zip(often, distinct, frequent, strict=True):
        counts = counts.astype(np.float64)
        if len(counts) == _DISTINCT:  # the others are a random part of all distinct rows
            counts[len(first) :] = (total - counts[: len(first)].sum()) / (_DISTINCT - len(first))
        order = np.lexsort(rows.T[::-1])
        out[g] = stratified(rows[order], counts[order], len(sample[g]))
    return out


Distinct = tuple[
    np.ndarray, np.ndarray, np.ndarray
]  # hashes in order, how often their rows occur, and these (k, d)


def _distinct_in(
    readers: Any,
    columns: Sequence[slice],
    frequent: Sequence[np.ndarray],
    chunk: Chunk,
    i: int,
    first: int,
    n: int,
) -> list[Distinct] | None:
    total = None
    for values in same_rows(readers[i], chunk, n):
        part = [
            _distinct(values[:, group], known)
            for group, known in zip(columns, frequent, strict=True)
        ]
        total = _both(total, part)
    return total


def _distinct(rows: np.ndarray, frequent: np.ndarray) -> Distinct:
    """Return the distinct rows with the smallest hashes, those with ``frequent`` hashes first."""
    rows = np.asarray(rows, dtype=np.float64)
    hashes = _hash(rows)
    if len(frequent):
        places = np.minimum(np.searchsorted(frequent, hashes), len(frequent) - 1)
        hashes = np.where(frequent[places] == hashes, places.astype(np.uint64), hashes)
    distinct, first, counts = np.unique(hashes, return_index=True, return_counts=True)
    return distinct[:_DISTINCT], counts[:_DISTINCT], rows[first[:_DISTINCT]]


def _both(total: list[Distinct] | None, other: list[Distinct] | None) -> list[Distinct] | None:
    if total is None or other is None:
        return total or other
    return [_merged(*pair) for pair in zip(total, other, strict=True)]


def _merged(a: Distinct, b: Distinct) -> Distinct:
    """Return the merged distinct rows of two parts, with exact counts.

    A row with one of the smallest hashes of all has one of the smallest in every part it is in.
    """
    distinct, first, place = np.unique(np.r_[a[0], b[0]], return_index=True, return_inverse=True)
    counts = np.bincount(place, weights=np.r_[a[1], b[1]]).astype(np.int64)
    return distinct[:_DISTINCT], counts[:_DISTINCT], np.vstack([a[2], b[2]])[first[:_DISTINCT]]


def _frequent(sample: np.ndarray) -> np.ndarray:
    rows, counts = distinct(sample)
    return np.sort(_hash(rows[counts > 1.0]))


def _hash(rows: np.ndarray) -> np.ndarray:
    """Return a number (n,) for each of the rows (n, d), the same for equal rows."""
    bits = np.ascontiguousarray(rows + 0.0).view(np.uint64)
    keys = (np.uint64(3), np.uint64(4))  # -0 is 0
    places = hashed(np.arange(bits.shape[1], dtype=np.uint64), keys)
    return hashed(hashed(bits ^ places, keys).sum(axis=1), keys)
