"""Tasks: consecutive pieces of a sample that one worker reads, and what comes back of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import counted
from shrinktest.batches.pieces import Piece
from shrinktest.batches.rows import Reader, Rows

_MOST = 2**22  # rows of a task, which takes some seconds
_SHARE = 4  # tasks a worker, where there are rows enough


class Reading(ABC):
    """What is found by reading samples: a value that goes to any worker, with no rows in it.

    What is found of some rows adds up to what is found of all, to the last bit and in any order.
    """

    #: What a store calls it.
    name: ClassVar[str]
    #: Rows of a sample at least that make a task of their own worth while.
    least = 2**16

    @abstractmethod
    def start(self, sample: int) -> Any:
        """What is found of no rows of a sample."""

    @abstractmethod
    def add(self, found: Any, sample: int, first: int, values: Any) -> None:
        """Add rows (k, d), the first of which has the number ``first`` in its sample.

        They are float32 or float64, or a Table where it is not known yet how its columns become numbers.
        """

    @abstractmethod
    def merge(self, found: Any, other: Any) -> None:
        """Add what was found of other rows of the same sample."""

    def in_vain(self, found: Any) -> bool:
        """Whether nothing is to be gained by reading on."""
        return False


class KeptReading(Reading):
    """A reading of which a store keeps what was found."""

    @abstractmethod
    def packed(self, found: Sequence[Any]) -> dict[str, np.ndarray]:
        """What was found of all samples, as arrays that a file can keep."""

    @abstractmethod
    def unpacked(self, arrays: Mapping[str, np.ndarray]) -> list[Any] | None:
        """What was found, from such arrays; None where that is of no use."""


@dataclass(frozen=True, eq=False)
class Task:
    """Consecutive pieces of a sample."""

    sample: int
    reader: Reader
    pieces: tuple[Piece, ...]
    place: int  # number of the first piece in its sample
    # for every piece the number of its first row, among those that are kept of the sample; 0 where it is not wanted
    firsts: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Done:
    """What was found in a task."""

    # those of the task
    sample: int
    place: int
    # rows of every piece
    kept: tuple[int, ...]
    omitted: tuple[int, ...]
    columns: int | None  # of the rows; None where there were none
    where: str  # what messages call the piece in which columns were counted
    found: Any  # what the reading found


class Stopped(Exception):
    """Nobody waits any longer for what is being read."""


def run(reading: Reading, task: Task, stopped: Callable[[], bool] = lambda: False) -> Done:
    """Read the pieces of a task.

    Raises ValueError or TypeError, which says where, for rows that cannot be read, and Stopped soon after ``stopped``
    says so.
    """
    found = reading.start(task.sample)
    columns, where = None, ""
    kept, omitted = [], []
    for piece, first in zip(task.pieces, task.firsts, strict=True):
        number, left = first, 0
        for values, out in task.reader.rows_of(piece):
            if stopped():
                raise Stopped
            left += out
            if len(values) == 0:
                continue
            if columns is None:
                columns, where = values.shape[1], piece.where
            require_columns(piece.where, values.shape[1], task.reader.name, columns)
            reading.add(found, task.sample, number, values)
            number += len(values)
        kept.append(number - first)
        omitted.append(left)
    return Done(task.sample, task.place, tuple(kept), tuple(omitted), columns, where, found)


def require_columns(where: str, columns: int, name: str, before: int) -> None:
    """Raise ValueError where a piece has other columns than those before."""
    if columns != before:
        raise ValueError(f"{where.rstrip(',')} has {counted(columns, 'column')}, and {name} had {before} before")


def tasks_of(
    rows: Rows,
    sample: int,
    counts: Sequence[int] | None,
    before: Mapping[int, int],
    workers: int,
    least: int,
    *,
    numbered: bool = True,
) -> Iterator[Task]:
    """A sample, by its rows and its number, in tasks.

    ``counts`` says how many rows are kept of every piece, where that is known and pieces do not know it; ``before``,
    how many rows were kept of the pieces, by their numbers, that are in no task, because they have been read.  Tasks
    are for so many ``workers``, and have ``least`` rows where a sample has as many.  ``numbered`` says whether rows
    have their numbers, so that all of these must be known.
    """
    pieces: Any = rows.pieces()
    size = least
    if rows.there:
        pieces = list(pieces)
        known = counts if counts is not None else [piece.rows or 0 for piece in pieces]
        size = min(max(least, -(-sum(known) // (_SHARE * workers))), _MOST)
    reader = rows.reader
    taken: list[Piece] = []
    firsts: list[int] = []
    place, first, held = -1, 0, 0
    for place, piece in enumerate(pieces):
        number = piece.rows if counts is None else counts[place] if place < len(counts) else 0
        assert number is not None or not numbered
        if place not in before:
            taken.append(piece)
            firsts.append(first)
            held += size if number is None else number
        if taken and (held >= size or place in before):
            yield Task(sample, reader, tuple(taken), place + (place not in before) - len(taken), tuple(firsts))
            held, taken, firsts = 0, [], []
        first += before.get(place, number or 0)
    if taken:
        yield Task(sample, reader, tuple(taken), place + 1 - len(taken), tuple(firsts))
