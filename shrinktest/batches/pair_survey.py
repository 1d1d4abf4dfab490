"""Survey of pairs: what one reading of two variables finds, and a random sample of each, apart from the other.

Rows of x and of y are drawn by keys of their own: a sample of pairs would tell which y belong to the x in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shrinktest._check import counted
from shrinktest.batches.columns import holes
from shrinktest.batches.crew import Crew
from shrinktest.batches.pairs import Pairs
from shrinktest.batches.sights import refuse_empty_columns
from shrinktest.batches.store import Store
from shrinktest.batches.survey import Looking, Seen, surveyed, unsigned
from shrinktest.batches.tasks import KeptReading


@dataclass(frozen=True, eq=False)
class PairSurvey:
    """Number, units and random samples of pairs."""

    # pairs; and those that were left out because of missing values
    size: int
    omitted: int
    sides: tuple[Seen, Seen]  # what was seen of each variable, with its sample
    counts: tuple[tuple[int, ...], ...]  # the rows that are kept of each piece, as readings of one sample take it
    # what stands in place of missing values of each variable, by columns: medians of its sample
    fills: tuple[Mapping[int, float], ...] = ({}, {})

    @classmethod
    def of(
        cls,
        pairs: Pairs,
        drawn: int,
        rng: np.random.Generator,
        crew: Crew,
        units: tuple[bool, bool],
        store: Store | None = None,
    ) -> PairSurvey:
        """Read all pairs once, and draw ``drawn`` rows of each variable, by keys that ``rng`` draws.

        ``units`` says of which variables standard deviations are wanted; ``store`` has what has been read before.
        """
        keys = rng.integers(2**64, size=(2, 1, 2), dtype=np.uint64)
        gaps = [holes(one) for one in pairs.encodings]
        checked = unsigned((pairs.rows,), store)
        each = tuple(Looking(drawn, keys[k], units[k], bool(gaps[k]), checked) for k in (0, 1))
        looking = LookingAtBoth(pairs.widths[0], each)
        total = surveyed((pairs.rows,), looking, crew, store, keys, drawn, units)
        if total.sizes[0] < 2 and total.omitted[0]:
            refuse_empty_columns((pairs.rows,), crew, total.sizes[0])
        (x, in_x), (y, in_y) = (seen.filled(some) for seen, some in zip(total.found[0], gaps, strict=True))
        return cls(total.sizes[0], total.omitted[0], (x, y), total.counts, (in_x, in_y))

    def units(self, side: int) -> np.ndarray:
        """Standard deviations (d,) of the columns of a variable over all rows."""
        return self.sides[side].units(self.size)

    def probe(self, side: int) -> np.ndarray:
        """Rows that tell how large the values of features are: the sample, and the corners of all rows."""
        seen = self.sides[side]
        return np.vstack([seen.rows, seen.low, seen.high, np.maximum(np.abs(seen.low), np.abs(seen.high))])

    def require(self, least: int, name: str) -> None:
        """Raise ValueError for fewer pairs than these."""
        if self.size < least:
            raise ValueError(
                f"{name} have {counted(self.size, 'pair')}, and what is read in batches is permuted in blocks, which "
                f"takes at least {least}; give arrays in memory, which are permuted freely"
            )


@dataclass(frozen=True, eq=False)
class LookingAtBoth(KeptReading):
    """What is seen of two variables."""

    name = "survey of pairs"

    cut: int  # columns of the first
    sides: tuple[Looking, ...]

    def start(self, sample: int) -> tuple[Seen, Seen]:
        return Seen(), Seen()

    def add(self, found: tuple[Seen, Seen], sample: int, first: int, values: np.ndarray) -> None:
        for looking, seen, some in zip(self.sides, found, (values[:, : self.cut], values[:, self.cut :]), strict=True):
            looking.add(seen, 0, first, some)

    def merge(self, found: tuple[Seen, Seen], other: tuple[Seen, Seen]) -> None:
        for looking, mine, theirs in zip(self.sides, found, other, strict=True):
            looking.merge(mine, theirs)

    def packed(self, found: Sequence[tuple[Seen, Seen]]) -> dict[str, np.ndarray]:
        both = [looking.packed([seen]) for looking, seen in zip(self.sides, found[0], strict=True)]
        return {f"{k} {name}": values for k, one in enumerate(both) for name, values in one.items()}

    def unpacked(self, arrays: Mapping[str, np.ndarray]) -> list[tuple[Seen, Seen]]:
        x, y = (
            looking.unpacked({name[2:]: values for name, values in arrays.items() if name.startswith(str(k))})[0]
            for k, looking in enumerate(self.sides)
        )
        return [(x, y)]
