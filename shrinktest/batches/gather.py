"""Gathering: what a reading finds of all samples, from what its tasks send back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from shrinktest._warn import warn_user
from shrinktest.batches.crew import Crew
from shrinktest.batches.rows import Rows
from shrinktest.batches.store import Store
from shrinktest.batches.tasks import Done, KeptReading, Reading


@dataclass(eq=False)
class Gathered:
    """What a reading has found so far."""

    found: list[Any]  # for every sample what was found of its rows
    # for every sample, by the number of a piece: how many of its rows are kept, and how many were left out
    pieces: list[dict[int, tuple[int, int]]] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)  # of every sample

    @property
    def counts(self) -> tuple[tuple[int, ...], ...]:
        """Rows that are kept of each piece of every sample."""
        return tuple(tuple(one[i][0] for i in sorted(one)) for one in self.pieces)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows of the samples that are kept."""
        return tuple(map(sum, self.counts))

    @property
    def omitted(self) -> tuple[int, ...]:
        """Rows of the samples that were left out."""
        return tuple(sum(left for _, left in one.values()) for one in self.pieces)

    def require(self, samples: Sequence[Rows], sizes: Sequence[int]) -> None:
        """Raise ValueError where samples have not as many rows as when they were read first."""
        for rows, n, again in zip(samples, sizes, self.sizes, strict=True):
            if again != n:
                raise ValueError(
                    f"{rows.name} had {n} rows when it was read first, and {'more' if again > n else again} the second "
                    "time: it must give the same rows in the same order whenever it is iterated over"
                )

    def add(self, reading: Reading, done: Done) -> None:
        """Add what was found in a task."""
        reading.merge(self.found[done.sample], done.found)
        both = zip(done.kept, done.omitted, strict=True)
        self.pieces[done.sample].update(enumerate(both, start=done.place))
        self.columns[done.sample] = done.columns or self.columns[done.sample]


def gathered(
    samples: Sequence[Rows],
    reading: Reading,
    crew: Crew,
    counts: Sequence[Sequence[int]] | None = None,
    store: Store | None = None,
    of: Mapping[str, str] | None = None,
    *,
    numbered: bool = True,
) -> Gathered:
    """Read all samples, or what a store does not have of them; only some of it where the reading is in vain.

    ``store`` has what was found before, and keeps what is found from time to time, of readings that can be kept; the
    texts in ``of`` stand for all that what is found depends on.  The other arguments are those of :meth:`Crew.read`.
    """
    total = Gathered([reading.start(i) for i in range(len(samples))], [{} for _ in samples], [0] * len(samples))
    if (
        store is not None
        and isinstance(reading, KeptReading)
        and (known := store.asked(reading.name, of or {})) is not None
    ):
        found = reading.unpacked(known["arrays"]) if known["arrays"] else total.found
        if found is not None:
            total.found = found
            for sample, place, kept, left, columns in known["read"]:
                total.pieces[sample][place] = kept, left
                total.columns[sample] = columns
        if any(map(reading.in_vain, total.found)):
            return total
    before = [{place: kept for place, (kept, _) in one.items()} for one in total.pieces]

    def keep(now: bool) -> None:
        if store is None or not isinstance(reading, KeptReading):
            return
        read = [
            (i, place, kept, left, total.columns[i])
            for i, one in enumerate(total.pieces)
            for place, (kept, left) in sorted(one.items())
        ]
        store.keep(reading.name, of or {}, read, reading.packed(total.found), now=now)

    try:
        with closing(crew.read(samples, reading, counts, before, numbered=numbered)) as parts:
            for done in parts:
                total.add(reading, done)
                if reading.in_vain(total.found[done.sample]):
                    store = None
                    return total
                keep(now=False)
    finally:
        try:
            keep(now=True)
        except OSError as error:  # what was found is more than a file of it
            warn_user(f"{error}: nothing more is kept")
    return total
