"""Labels: sums of features by sample, for every permutation of all rows, from one reading.

Features, less their centre where they lie far from zero, are rounded to whole numbers of at most 43 bits.  Sums of 2^10
of these are whole numbers below 2^53, which floating point holds exactly in any order, and so are the sums of these,
whatever was read by whom.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shrinktest.batches.blocks import Whole
from shrinktest.batches.crew import Crew
from shrinktest.batches.gather import gathered
from shrinktest.batches.rows import Rows
from shrinktest.batches.shuffles import Shuffles
from shrinktest.batches.store import DATA, FEATURES, RESAMPLES, SEED, Store, digest
from shrinktest.batches.survey import Survey
from shrinktest.batches.tasks import KeptReading

_TILE = 2**10  # rows
_BITS = 43


def bits_of(rows: int) -> int:
    """Of whole numbers, so many of which add up to less than 2^62."""
    return min(_BITS, 62 - rows.bit_length())


@dataclass(eq=False)
class Sums:
    """Sums of the whole numbers of one sample."""

    sums: np.ndarray  # (B, k - 1, r + 1), int64: of its rows that are in each sample but the last, by permutation
    whole: np.ndarray  # (r + 1,), int64: of all its rows
    most: np.ndarray  # (r + 1,): the largest whole numbers
    other: bool = False  # whether these are of features with more room

    def merge(self, other: Sums) -> None:
        """Add those of other rows."""
        self.sums += other.sums
        self.whole += other.whole
        self.most = np.maximum(self.most, other.most)


@dataclass(frozen=True, eq=False)
class Labelling(KeptReading):
    """What is added up of rows, for every permutation."""

    name = "labels"
    least = 16 * _TILE

    sizes: tuple[int, ...]  # of the samples
    shuffles: Shuffles  # of all rows, which are numbered sample after sample
    features: Whole

    def start(self, sample: int) -> Sums:
        width = len(self.features.exponents)
        sums = np.zeros((len(self.shuffles.keys), len(self.sizes) - 1, width), dtype=np.int64)
        return Sums(sums, np.zeros(width, dtype=np.int64), np.zeros(width))

    def add(self, found: Sums, sample: int, first: int, values: np.ndarray) -> None:
        from shrinktest.statistics.sum_loops import feature_sums

        values = values[: max(0, self.sizes[sample] - first)]  # what is beyond is an error once all is read
        number = sum(self.sizes[:sample]) + first
        out = np.empty((len(found.sums), len(found.whole)))
        for start in range(0, len(values), _TILE):
            some = self.features.numbers(values[start : start + _TILE])
            found.most = np.maximum(found.most, np.abs(some).max(axis=0))
            if not (found.most < 2.0**self.features.bits).all():  # then the sums are of no use
                continue
            found.whole += some.sum(axis=0).astype(np.int64)
            for s, octets in enumerate(self.shuffles.octets(number + start, len(some), self.sizes)):
                feature_sums(some, octets, out)
                found.sums[:, s] += out.astype(np.int64)

    def merge(self, found: Sums, other: Sums) -> None:
        found.merge(other)

    def in_vain(self, found: Sums) -> bool:
        return found.other

    def packed(self, found: Sequence[Sums]) -> dict[str, np.ndarray]:
        arrays = {
            f"{i} {name}": getattr(one, name) for i, one in enumerate(found) for name in ("sums", "whole", "most")
        }
        return {"exponents": self.features.exponents, **arrays}

    def unpacked(self, arrays: Mapping[str, np.ndarray]) -> list[Sums] | None:
        more = arrays["exponents"] - self.features.exponents
        if more.min() < 0:
            return None
        found = [Sums(arrays[f"{i} sums"], arrays[f"{i} whole"], arrays[f"{i} most"]) for i in range(len(self.sizes))]
        if more.max() > 0:  # these had more room, which this reading asks for when it ends
            most = np.ldexp(0.5, self.features.bits + more)
            found = [replace(one, most=most, other=True) for one in found]
        return found


def sums_by_label(
    samples: Sequence[Rows], labelling: Labelling, survey: Survey, crew: Crew, store: Store | None = None
) -> tuple[np.ndarray, Whole]:
    """Sums (B + 1, k, r + 1) of features and squared norms, first of the samples as they are; read again if need be.

    With them come the features, with as much room as they took, and with what the sums are of features less.  Raises
    ValueError where another reading finds other rows, or features are no finite numbers.
    """
    sizes, shuffles, features = labelling.sizes, labelling.shuffles, labelling.features
    of = {
        RESAMPLES: digest(len(shuffles.keys)),  # which the keys tell, too
        SEED: digest(shuffles),
        DATA: digest(sizes, survey.probe, [rows.batches.size for rows in samples], survey.checks),
        FEATURES: digest(features.summands, features.centre),
    }
    while True:
        total = gathered(samples, replace(labelling, features=features), crew, survey.counts, store, of)
        found: list[Sums] = total.found
        if not any(one.other for one in found):
            total.require(samples, sizes)
        most = np.max([one.most for one in found], axis=0)
        if not np.isfinite(most).all():
            raise ValueError(
                f"features of {' and '.join(rows.name for rows in samples)} are no finite numbers for some rows"
            )
        wider = features.wider(most)
        if np.array_equal(wider.exponents, features.exponents):
            break
        features = wider
    own = np.array([one.whole for one in found])
    inside = np.sum([one.sums for one in found], axis=0)
    last = own.sum(axis=0) - inside.sum(axis=1)
    sums = np.concatenate([own[None], np.concatenate([inside, last[:, None]], axis=1)])
    return sums * features.units, features
