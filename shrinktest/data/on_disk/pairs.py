"""Pairs of rows on disk: joint reading, blocks of pairs, and sums of products of features.

Two variables are read together.

Blocks have eight successive pairs and are in about 100 groups, by a keyed permutation of their
numbers.  Within the blocks of a group y is shifted by as many places; the sums of products are kept
for every group and every shift.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from shrinktest._check import listed
from shrinktest.data.all_rows import subject_has
from shrinktest.data.column import Table
from shrinktest.data.on_disk.bins import Bijection
from shrinktest.data.on_disk.chunks import Key, digest, reduce, stored
from shrinktest.data.on_disk.on_disk import OnDisk, Part
from shrinktest.data.on_disk.rows import Reader, Rows
from shrinktest.data.on_disk.sources import BINS, Batches
from shrinktest.data.on_disk.storage import Chunk, is_dask, is_paths
from shrinktest.data.on_disk.survey import DATA, FEATURES, SEED, numbered, same_rows
from shrinktest.kernels.inner import FeatureMap

BothSides = tuple[Rows, tuple[Part, ...]]  # of pairs, and the columns of x and of y

LENGTH = 8  # pairs of a block
_GROUPS = 100  # of blocks
_ROWS = 2**13
_VALUES = 2**22  # rows whose features are computed at a time, at least, and features
_SHIFTED = (
    np.arange(LENGTH)[:, None] + np.arange(LENGTH)
) % LENGTH  # places (m, m) in y, by those in x and by shifts


# --- reading --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TwoSources(Rows):
    """The rows of two sources, row i of one beside row i of the other."""

    sides: tuple[Rows, Rows]

    def chunks(self) -> Iterator[Chunk]:
        """Yield all of them in order; both sources are read by this process."""
        streams = [_parts(side) for side in self.sides]
        held: list[Any] = [None, None]
        first = 0
        while True:
            x, y = (
                next(stream, None) if part is None else part
                for stream, part in zip(streams, held, strict=True)
            )
            if x is None and y is None:
                return
            if x is None or y is None:
                names = [side.name for side in self.sides]
                short, long = names if x is None else names[::-1]
                raise ValueError(
                    f"{short} has {first} rows, and {long} has more; row i of both belongs together"
                )
            n = min(len(x), len(y))
            yield Chunk(f"{self.name},", _beside(_cut(x, 0, n), _cut(y, 0, n)), first=first, rows=n)
            first += n
            held = [_cut(part, n, len(part)) if len(part) > n else None for part in (x, y)]

    @property
    def counted(self) -> bool:
        return True

    @property
    def signature(self) -> Any:
        known = [side.signature for side in self.sides]
        return None if None in known else known

    def only(self, columns: Sequence[int]) -> Rows:
        (x, y), width = self.sides, len(self.names or ())
        cut = width - len(y.names) if x.names is None and y.names else len(x.names or ())
        places = [j for j in columns if j < cut], [j - cut for j in columns if j >= cut]
        widths = cut, width - cut
        sides = tuple(
            side if len(some) == every else side.only(some)
            for side, some, every in zip((x, y), places, widths, strict=True)
        )
        return replace(super().only(columns), sides=sides)  # type: ignore[call-arg]


def _parts(rows: Rows) -> Iterator[Any]:
    for chunk in rows.chunks():
        yield from (part for _, _, part in rows.reader.parts(chunk))


def _cut(rows: Any, start: int, stop: int) -> Any:
    return rows.taken(slice(start, stop)) if isinstance(rows, Table) else rows[start:stop]


def _beside(x: Any, y: Any) -> Any:
    if not isinstance(x, Table):
        return np.hstack([x, y])
    sources = list(dict.fromkeys(table.source for table in (x, y) if table.source))
    return Table((*x.columns, *y.columns), named=x.named or y.named, source=" and ".join(sources))


def pairs_of(
    x: Batches, y: Batches, called: tuple[str, str], *, nan_policy: str, types: Any
) -> BothSides:
    """Put two variables side by side, from one or two sources.

    ``called`` names them in messages.

    ``types`` says how columns of tables are read.
    """
    if x.bins != BINS:
        raise ValueError(
            f"bins={x.bins} is for tests of samples, because pairs are not binned; leave it out"
        )
    name = " and ".join(called)
    omit = nan_policy == "omit"
    tables = nan_policy == "indicator" or bool(types)
    if x.data is y.data or (is_paths(x.data) and is_paths(y.data) and x.data == y.data):
        if x.columns is None or y.columns is None:
            raise ValueError(
                f"{name} are one source; pass Batches(..., columns=[...]) for each of them"
            )
        if shared := [column for column in x.columns if column in y.columns]:
            raise ValueError(
                f"{name} have the same column {listed(list(map(str, shared)))}; columns must differ"
            )
        both = replace(x, columns=[*x.columns, *y.columns], size=min(x.size, y.size))
        widths = (len(x.columns), len(y.columns))
        names = both.names(name)
        read = types if tables or both.mixed(name, names) else None
        split = (None, None) if names is None else (names[: widths[0]], names[widths[0] :])
        return Rows.of(both, name, names, omit, read), _parts_of(called, split, widths)
    if is_dask(x.data) or is_dask(y.data):
        raise ValueError(
            f"{name} are two sources, one of dask; put both into one collection, and use columns="
        )
    known = [each.names(has) for each, has in zip((x, y), called, strict=True)]
    sides = list(zip((x, y), called, known, strict=True))
    read = types if tables or any(each.mixed(has, names) for each, has, names in sides) else None
    first, second = (Rows.of(each, has, names, omit, read) for each, has, names in sides)
    widths = _width(first), _width(second)
    joint = None
    if all(known) or (read is not None and any(known)):
        joint = tuple(
            entry
            for names, d in zip(known, widths, strict=True)
            for entry in names or map(str, range(d))
        )
    rows = TwoSources(x, Reader(name, joint, None, omit, read), (first, second))
    return rows, _parts_of(called, known, widths)


def _parts_of(
    called: Sequence[str], names: Sequence[Any], widths: Sequence[int]
) -> tuple[Part, ...]:
    return tuple(Part(*each) for each in zip(called, names, widths, strict=True))


def _width(rows: Rows) -> int:
    if rows.names is not None or rows.reader.columns is not None:
        return len(rows.names or rows.reader.columns or ())
    part = next(_parts(rows), None)
    if part is None:
        raise ValueError(f"{subject_has(rows.name)} no rows")
    return int(part.shape[1])


# --- blocks ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Blocks:
    """Assignment of pairs to blocks, and of blocks to groups."""

    rows: int  # pairs in all
    shuffle: Bijection  # of the numbers of blocks; those that come next to each other make a group

    @classmethod
    def drawn(cls, rows: int, rng: np.random.Generator) -> Blocks:
        """Make about 100 groups."""
        return cls(rows, Bijection.drawn(rows // LENGTH, rng))

    @property
    def count(self) -> int:
        """Number of blocks."""
        return self.rows // LENGTH

    @property
    def used(self) -> int:
        """Pairs that are in blocks."""
        return self.count * LENGTH

    @property
    def groups(self) -> int:
        """Number of groups, which have as many blocks as each other, or one more."""
        return min(_GROUPS, self.count)

    @property
    def pairs(self) -> np.ndarray:
        """Pairs (groups,) of every group."""
        first = -(
            -np.arange(self.groups + 1) * self.count // self.groups
        )  # among the shuffled numbers of blocks
        return np.diff(first) * LENGTH

    def group_of(self, blocks: np.ndarray) -> np.ndarray:
        """Return the groups (k,) of blocks."""
        return self.shuffle(blocks) * self.groups // self.count


@stored
@dataclass(eq=False)
class Products:
    """Sums of products of features, the last of which is their squared norm, by group."""

    # (G, r, m, s): for every two maps that meet, of x and of y shifted by 0, ..., m - 1 places
    # within its block
    xy: list[np.ndarray]
    own: list[np.ndarray]  # (G, r, r): of every map with itself, maps of x, then of y
    sums: list[np.ndarray]  # (G, r): of every map
    head: np.ndarray  # (0 to m - 1, d): pairs before the first whole block
    tail: np.ndarray  # (0 to m - 1, d): pairs after the last whole block
    meets: Sequence[
        tuple[int, int]
    ]  # which of x are multiplied with which of y, by their places among all maps
    rows: int = 0  # pairs in all


@dataclass(frozen=True, eq=False)
class Multiplying:
    """Rule by which products of features are summed.

    ``maps`` has the feature maps of x, then of y.
    """

    blocks: Blocks
    widths: tuple[int, int]
    maps: Sequence[FeatureMap]
    centers: Sequence[
        np.ndarray
    ]  # of every map, which features are taken less: their mean in the random sample
    meets: Sequence[tuple[int, int]]  # as of `Products`

    def nothing(self) -> Products:
        """Return sums of no pairs."""
        groups = self.blocks.groups
        ranks = [len(center) + 1 for center in self.centers]
        return Products(
            [np.zeros((groups, ranks[i], LENGTH, ranks[j])) for i, j in self.meets],
            [np.zeros((groups, r, r)) for r in ranks],
            [np.zeros((groups, r)) for r in ranks],
            *2 * (np.empty((0, sum(self.widths))),),
            self.meets,
        )

    def read(self, reader: Reader, chunk: Chunk, _: int, first: int, n: int) -> Products:
        """Return the sums of the whole blocks of a chunk, and its pairs before and after these."""
        total = self.nothing()
        missing = -first % LENGTH
        stop = min(first + n, self.blocks.used)
        held = total.head
        number = first
        for values in same_rows(reader, chunk, n):
            held = np.vstack([held, values[: max(0, stop - number)]])
            number = min(number + len(values), stop)
            if missing and len(held) >= missing:
                total.head = held[:missing]
                held = held[missing:]
                missing = 0
            if not missing:
                whole = len(held) // LENGTH * LENGTH
                self.multiply(total, (number - len(held)) // LENGTH, held[:whole])
                held = held[whole:].copy()
        if missing:
            total.head = held
            held = held[:0]
        total.tail = held
        total.rows = max(0, number - first)
        return total

    def fold(self, total: Products, other: Products) -> Products:
        """Add the next chunk, and the block that the chunk completes."""
        ours = (*total.xy, *total.own, *total.sums)
        theirs = (*other.xy, *other.own, *other.sums)
        block = np.vstack([total.tail, other.head])
        for mine, others in zip(ours, theirs, strict=True):
            mine += others
        if len(block) == LENGTH:
            self.multiply(total, total.rows // LENGTH, block)
            block = block[:0]
        total.tail = other.tail if len(other.tail) else block
        total.rows += other.rows
        return total

    def multiply(self, total: Products, first: int, rows: np.ndarray) -> None:
        """Add whole blocks (k m, d) in their order; ``first`` is the number of the first."""
        step = max(_ROWS, _VALUES // sum(map(len, self.centers)) // LENGTH * LENGTH)
        for start in range(0, len(rows), step):
            self._tile(total, first + start // LENGTH, rows[start : start + step])

    def _tile(self, total: Products, first: int, rows: np.ndarray) -> None:
        groups = self.blocks.group_of(np.arange(first, first + len(rows) // LENGTH))
        order = np.argsort(groups, kind="stable")
        cut = min(j for _, j in self.meets)  # maps of x
        sides = [
            np.ascontiguousarray(side)
            for side in (rows[:, : self.widths[0]], rows[:, self.widths[0] :])
        ]
        features = []
        for k, (each, center) in enumerate(zip(self.maps, self.centers, strict=True)):
            z = np.empty((len(rows), len(center) + 1))
            z[:, :-1] = each.coordinates(sides[k >= cut]) - center
            z[:, -1] = np.square(z[:, :-1]).sum(axis=1)
            features.append(z.reshape(len(groups), LENGTH, -1))
        present, starts = np.unique(groups[order], return_index=True)
        for g, start, end in zip(present, starts, [*starts[1:], len(groups)], strict=True):
            here = [z[order[start:end]] for z in features]
            plain = [z.reshape(-1, z.shape[2]) for z in here]
            for k, z in enumerate(plain):
                total.sums[k][g] += z.sum(axis=0)
                total.own[k][g] += z.T @ z
            shifted = {
                j: here[j][:, _SHIFTED].reshape(len(plain[j]), -1)
                for j in {j for _, j in self.meets}
            }
            for xy, (i, j) in zip(total.xy, self.meets, strict=True):
                xy[g] += (plain[i].T @ shifted[j]).reshape(xy.shape[1:])


def products_of(
    source: OnDisk,
    blocks: Blocks,
    statistics: Sequence[tuple[FeatureMap, FeatureMap]],
    most: float = math.inf,
) -> Products:
    """Return the sums over all pairs, in one reading; ``most`` chunks are under way at a time.

    ``statistics`` have a feature map of x and one of y each.
    """
    sides = [list({id(maps[k]): maps[k] for maps in statistics}.values()) for k in (0, 1)]
    first, second = (
        {id(each): i for i, each in enumerate(side)} for side in sides
    )  # x and y may share a map
    meets = [(first[id(x)], len(first) + second[id(y)]) for x, y in statistics]
    samples = [pooled.rows for pooled in source.survey.pooled]
    centers = [each.coordinates(samples[k]).mean(axis=0) for k in (0, 1) for each in sides[k]]
    widths = samples[0].shape[1], samples[1].shape[1]
    about, (rows,) = (
        Multiplying(blocks, widths, [*sides[0], *sides[1]], centers, meets),
        source.samples,
    )
    depends = {
        SEED: digest(blocks.shuffle),
        DATA: source.survey.digest(),
        FEATURES: digest(about.maps, centers, meets),
    }
    work = partial(about.read, rows.reader)
    jobs = numbered([rows], source.survey.counts)
    key = Key("products of pairs", depends)
    total: Products = reduce(
        work,
        jobs,
        about.fold,
        about.nothing(),
        source.workers,
        most=most,
        store=source.store,
        key=key,
    )
    if not all(np.isfinite(sums).all() for sums in total.own):
        raise ValueError(f"features of {rows.name} are not finite numbers for some rows")
    return total
