"""Blocks of successive pairs, in groups within which y is shifted, and the sums of products for every shift.

Features are rounded to whole numbers of 20 bits.  Sums of 2^13 products of two of these are whole numbers below 2^53:
matrix products are exact in any order, and so are the sums of these, whatever was read by whom.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from shrinktest.batches.bijection import Bijection
from shrinktest.batches.crew import Crew
from shrinktest.batches.gather import gathered
from shrinktest.batches.pair_survey import PairSurvey
from shrinktest.batches.pairs import Pairs
from shrinktest.batches.store import DATA, FEATURES, SEED, Store, digest
from shrinktest.batches.summands import Summands
from shrinktest.batches.tasks import KeptReading
from shrinktest.kernels.feature_maps import steps, tiles

LENGTH = 8  # rows of a block
GROUPS = 100
_BITS = 20
_TILE = 2**13  # rows
_SUMS = ("xy", "own", "sums")
_SPARE = 6  # powers of two by which features may be larger than in the rows that were looked at
_FAR = 1e-2  # of the squared norms of features: where they differ by less, what they share would take their digits
_SHIFTED = (np.arange(LENGTH)[:, None] + np.arange(LENGTH)) % LENGTH  # places (m, m) in y, by those in x and by shifts


@dataclass(frozen=True, eq=False)
class Blocks:
    """Which pair is in which block, and which block in which group."""

    rows: int  # pairs in all
    shuffle: Bijection  # of the numbers of blocks, which makes groups of those that come next to each other

    @classmethod
    def drawn(cls, rows: int, rng: np.random.Generator) -> Blocks:
        """Of as many rows as there are, in some 100 groups."""
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
        return min(GROUPS, self.count)

    @property
    def pairs(self) -> np.ndarray:
        """How many pairs (groups,) are in every group."""
        first = -(-np.arange(self.groups + 1) * self.count // self.groups)  # among the shuffled numbers of blocks
        return np.diff(first) * LENGTH

    @property
    def bits(self) -> int:
        """Of whole numbers, the products of which add up to less than 2^62 in a group."""
        most = -(-self.count // self.groups) * LENGTH
        return min(_BITS, (62 - most.bit_length()) // 2)

    def group_of(self, blocks: np.ndarray) -> np.ndarray:
        """The groups (k,) of blocks."""
        return self.shuffle(blocks) * self.groups // self.count


@dataclass(frozen=True, eq=False)
class Whole:
    """Features of rows and, in the last column, their squared norm, as whole numbers."""

    summands: Summands
    exponents: np.ndarray  # (r + 1,): powers of two that features and norm do not reach
    bits: int  # of the whole numbers
    # (r,) or (1,): what features are taken less, which lie far from zero; else 0
    centre: np.ndarray = field(default_factory=lambda: np.zeros(1))

    @classmethod
    def of(cls, summands: Summands, sample: np.ndarray, probe: np.ndarray, bits: int) -> Whole:
        """With room for features larger than those of the rows in ``probe``, far ones less the mean of a sample."""
        plain = cls(summands, np.zeros(0), bits)
        plain = replace(plain, centre=_centre(plain.features(sample)[:, :-1]))
        exponents = np.frexp(np.abs(plain.features(probe)).max(axis=0))[1] + _SPARE
        if plain.linear is None and not plain.centre.any():
            exponents[:-1] = summands.exponents(probe)
        return replace(plain, exponents=exponents)

    @cached_property
    def linear(self) -> np.ndarray | None:
        """What summands are multiplied by to be features, in tiles; None where they are features themselves."""
        matrix = self.summands.features(np.eye(self.summands.width))
        return None if np.array_equal(matrix, np.eye(len(matrix))) else tiles(matrix)

    @property
    def units(self) -> np.ndarray:
        """What the whole numbers (r + 1,) are multiples of."""
        return np.ldexp(1.0, self.exponents - self.bits)

    def features(self, rows: np.ndarray) -> np.ndarray:
        """Features and squared norms (n, r + 1) of rows."""
        width = self.summands.width
        out = np.empty((len(rows), width + 1))
        for some in steps(len(rows), width):
            values = self.summands.of(np.ascontiguousarray(rows[some], dtype=np.float64))
            if self.linear is not None:
                from shrinktest.kernels.kernel_loops import products

                plain, values = values, np.empty_like(values)
                products(plain, self.linear, values)
            if self.centre.any():
                values = values - self.centre
            out[some, :-1] = values
            with np.errstate(over="ignore", invalid="ignore"):  # which is said once all is read
                out[some, -1] = np.square(values).sum(axis=1)
        return out

    def numbers(self, rows: np.ndarray) -> np.ndarray:
        """The same as whole numbers."""
        with np.errstate(over="ignore"):  # which is said once all is read
            return np.rint(self.features(rows) / self.units)

    def wider(self, most: np.ndarray) -> Whole:
        """With room for whole numbers as large as ``most`` (r + 1,)."""
        more = np.maximum(0, np.frexp(most)[1] - self.bits)
        return replace(self, exponents=self.exponents + more)

    def lost(self, sample: np.ndarray) -> float:
        """The standard deviation of what is rounded, relative to that of the features of a sample of rows."""
        spread = float(self.features(sample)[:, :-1].var(axis=0).sum())
        return float(np.square(self.units[:-1]).sum() / 12.0 / spread) ** 0.5 if spread > 0.0 else 0.0


def _centre(features: np.ndarray) -> np.ndarray:
    """The mean of features (n, r) that hardly differ beside their lengths; 0 of others."""
    with np.errstate(over="ignore", invalid="ignore"):  # which is said once all is read
        far = features.var(axis=0).sum() < _FAR * np.square(features).mean(axis=0).sum()
    return np.asarray(features.mean(axis=0)) if far else np.zeros(1)


@dataclass(eq=False)
class Products:
    """Sums of products of whole numbers (int64), by group."""

    # (G, r, m, s): for every two maps that meet, of x and of y shifted by 0, ..., m - 1 places within its block
    xy: list[np.ndarray]
    own: list[np.ndarray]  # (G, r, r): of every map with itself, those of x and then those of y
    sums: list[np.ndarray]  # (G, r): of every map
    most: list[np.ndarray]  # the largest whole numbers, of every map
    # by the number of a block that was cut, the places and rows of its parts
    loose: dict[int, list[tuple[int, np.ndarray]]] = field(default_factory=dict)
    other: bool = False  # whether these are of features with more room

    @classmethod
    def nothing(cls, groups: int, widths: Sequence[int], meets: Sequence[tuple[int, int]]) -> Products:
        """Sums of no rows, of maps that are so wide."""
        return cls(
            [np.zeros((groups, widths[i], LENGTH, widths[j]), dtype=np.int64) for i, j in meets],
            [np.zeros((groups, r, r), dtype=np.int64) for r in widths],
            [np.zeros((groups, r), dtype=np.int64) for r in widths],
            [np.zeros(r) for r in widths],
        )

    def merge(self, other: Products) -> None:
        """Add those of other rows."""
        for name in _SUMS:
            for mine, theirs in zip(getattr(self, name), getattr(other, name), strict=True):
                mine += theirs
        self.most = [np.maximum(a, b) for a, b in zip(self.most, other.most, strict=True)]
        for block, parts in other.loose.items():
            self.loose.setdefault(block, []).extend(parts)

    def complete(self) -> tuple[np.ndarray, np.ndarray]:
        """The numbers (k,) and rows (k m, d) of blocks that were cut and whose parts are all there; they are taken."""
        whole = sorted(i for i, parts in self.loose.items() if sum(len(rows) for _, rows in parts) == LENGTH)
        found = [rows for i in whole for _, rows in sorted(self.loose.pop(i), key=lambda part: part[0])]
        return np.array(whole, dtype=np.int64), np.vstack(found) if found else np.empty((0, 0))


@dataclass(frozen=True, eq=False)
class Multiplying(KeptReading):
    """What is added up of pairs."""

    name = "products of pairs"

    blocks: Blocks
    widths: tuple[int, int]  # columns of x and of y
    maps: tuple[Whole, ...]  # the features of x, and then those of y
    # which of x are multiplied with which of y, by their places among all maps
    meets: tuple[tuple[int, int], ...]

    @property
    def cut(self) -> int:
        """How many maps are of x."""
        return min(j for _, j in self.meets)

    def start(self, sample: int) -> Products:
        return Products.nothing(self.blocks.groups, [len(one.exponents) for one in self.maps], self.meets)

    def add(self, found: Products, sample: int, first: int, values: np.ndarray) -> None:
        values = values[: max(0, self.blocks.used - first)]
        head = min(-first % LENGTH, len(values))
        tail = head + (len(values) - head) // LENGTH * LENGTH
        for start, end in ((0, head), (tail, len(values))):
            if start < end:
                block, place = divmod(first + start, LENGTH)
                found.loose.setdefault(block, []).append((place, values[start:end].copy()))
        blocks = np.arange((first + head) // LENGTH, (first + tail) // LENGTH)
        self.multiply(found, blocks, values[head:tail])
        self.multiply(found, *found.complete())

    def merge(self, found: Products, other: Products) -> None:
        found.merge(other)
        self.multiply(found, *found.complete())

    def in_vain(self, found: Products) -> bool:
        return found.other

    def of(self, survey: PairSurvey, size: int) -> dict[str, str]:
        """Texts that stand for all that sums depend on, but for the room of features, which is found while reading.

        ``size`` is that of the batches in which pieces are read.
        """
        probes = [survey.probe(k) for k in (0, 1)]
        return {
            SEED: digest(self.blocks.shuffle),
            DATA: digest(self.blocks.rows, probes, size, [side.check for side in survey.sides]),
            FEATURES: digest([(one.summands, one.centre) for one in self.maps], self.meets),
        }

    def packed(self, found: Sequence[Products]) -> dict[str, np.ndarray]:
        (one,) = found
        parts = [(block, place, rows) for block, some in one.loose.items() for place, rows in some]
        return {
            **{f"{name} {k}": values for name in _SUMS for k, values in enumerate(getattr(one, name))},
            **{f"most {k}": most for k, most in enumerate(one.most)},
            **{f"exponents {k}": each.exponents for k, each in enumerate(self.maps)},
            "loose": np.array([(block, place, len(rows)) for block, place, rows in parts], dtype=np.int64),
            "rows": np.vstack([rows for _, _, rows in parts]) if parts else np.empty((0, 0)),
        }

    def unpacked(self, arrays: Mapping[str, np.ndarray]) -> list[Products] | None:
        more = [arrays[f"exponents {k}"] - one.exponents for k, one in enumerate(self.maps)]
        if min(one.min() for one in more) < 0:
            return None
        numbers = range(len(self.maps))
        xy = [arrays[f"xy {k}"] for k in range(len(self.meets))]
        own, sums, most = ([arrays[f"{name} {k}"] for k in numbers] for name in ("own", "sums", "most"))
        found = Products(xy, own, sums, most)
        if max(one.max() for one in more) > 0:  # these had more room, which this reading asks for when it ends
            found.most = [np.ldexp(0.5, each.bits + one) for each, one in zip(self.maps, more, strict=True)]
            found.other = True
        start = 0
        for block, place, size in arrays["loose"].tolist():
            found.loose.setdefault(block, []).append((place, arrays["rows"][start : start + size]))
            start += size
        return [found]

    def multiply(self, found: Products, blocks: np.ndarray, rows: np.ndarray) -> None:
        """Add whole blocks by their numbers (k,) and rows (k m, d)."""
        step = _TILE // LENGTH
        for start in range(0, len(blocks), step):
            some = rows[start * LENGTH : (start + step) * LENGTH]
            self._tile(found, self.blocks.group_of(blocks[start : start + step]), some)

    def _tile(self, found: Products, groups: np.ndarray, rows: np.ndarray) -> None:
        sides = rows[:, : self.widths[0]], rows[:, self.widths[0] :]
        numbers = [one.numbers(sides[k >= self.cut]) for k, one in enumerate(self.maps)]
        for k, values in enumerate(numbers):
            found.most[k] = np.maximum(found.most[k], np.abs(values).max(axis=0))
        if not all((most < 2.0**one.bits).all() for most, one in zip(found.most, self.maps, strict=True)):
            return  # then the sums are of no use
        order = np.argsort(groups, kind="stable")
        numbers = [values.reshape(len(groups), LENGTH, -1)[order] for values in numbers]
        there, starts = np.unique(groups[order], return_index=True)
        for g, start, end in zip(there, starts, [*starts[1:], len(groups)], strict=True):
            here = [values[start:end] for values in numbers]
            plain = [values.reshape(-1, values.shape[2]) for values in here]
            for k, values in enumerate(plain):
                found.sums[k][g] += values.sum(axis=0).astype(np.int64)
                found.own[k][g] += (values.T @ values).astype(np.int64)
            shifted = {j: here[j][:, _SHIFTED].reshape(len(plain[j]), -1) for j in {j for _, j in self.meets}}
            for xy, (i, j) in zip(found.xy, self.meets, strict=True):
                xy[g] += (plain[i].T @ shifted[j]).reshape(xy.shape[1:]).astype(np.int64)


def products_of(
    pairs: Pairs,
    blocks: Blocks,
    maps: Sequence[Whole],
    meets: Sequence[tuple[int, int]],
    survey: PairSurvey,
    crew: Crew,
    store: Store | None = None,
) -> tuple[Products, tuple[Whole, ...]]:
    """Sums over all pairs, and the features with as much room as they took; read twice where they had too little.

    ``maps`` are the features of x, and then those of y; ``meets`` says which of x are multiplied with which of y, by
    their places among all maps.  ``survey`` is what the first reading found, and ``store`` has what has been read
    before.  Raises ValueError where another reading finds other rows, or features are no finite numbers.
    """
    n, name, maps = blocks.rows, pairs.rows.name, tuple(maps)
    while True:
        reading = Multiplying(blocks, pairs.widths, maps, tuple(meets))
        of = {} if store is None else reading.of(survey, pairs.rows.batches.size)
        total = gathered((pairs.rows,), reading, crew, survey.counts, store, of)
        (found,), (again,) = total.found, total.sizes
        if again != n and not found.other:
            raise ValueError(
                f"{name} had {n} rows when they were read first, and {'more' if again > n else again} the second time: "
                "they must give the same rows in the same order whenever they are iterated over"
            )
        if not all(np.isfinite(most).all() for most in found.most):
            raise ValueError(f"features of {name} are no finite numbers for some rows")
        wider = tuple(one.wider(most) for one, most in zip(maps, found.most, strict=True))
        if all(np.array_equal(a.exponents, b.exponents) for a, b in zip(maps, wider, strict=True)):
            return found, maps
        maps = wider
