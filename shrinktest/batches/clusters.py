"""Clusters: tasks that dask runs, on the machines of a client or by its own schedulers."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from shrinktest.batches.partitions import Partition
from shrinktest.batches.pieces import Held
from shrinktest.batches.tasks import Done, Reading, Task, run


def to_client(client: Any, reading: Reading, task: Task) -> Any:
    """A task that runs on the cluster of a client, and what it will find."""
    if isinstance(task.pieces[0], Partition):
        return client.compute(_delayed(reading, task))
    return client.submit(run, reading, task, pure=False)


def computed(reading: Reading, tasks: Iterator[Task], most: int) -> Generator[Done, None, None]:
    """What comes of tasks, those of partitions by the scheduler of dask that is active."""
    from dask import compute

    while some := list(islice(tasks, most)):
        parts = [task for task in some if isinstance(task.pieces[0], Partition)]
        yield from compute(*(_delayed(reading, task) for task in parts))
        yield from (run(reading, task) for task in some if not isinstance(task.pieces[0], Partition))


def _delayed(reading: Reading, task: Task) -> Any:
    """What a task finds, as a value that dask has not computed yet; partitions meet nothing but the sums of others."""
    from dask import delayed

    about, total = delayed(reading, traverse=False), None
    for i, (piece, first) in enumerate(zip(task.pieces, task.firsts, strict=True)):
        assert isinstance(piece, Partition)
        alone = replace(task, pieces=(replace(piece, value=None),), place=task.place + i, firsts=(first,))
        part = delayed(_of_part)(about, alone, piece.value)
        total = part if total is None else delayed(_joined)(about, total, part)
    return total


def _of_part(reading: Reading, task: Task, values: Any) -> Done:
    (piece,) = task.pieces
    return run(reading, replace(task, pieces=(Held(piece.where, piece.first, values),)))


def _joined(reading: Reading, one: Done, other: Done) -> Done:
    """Both, one after the other; neither is changed, for dask may ask for them once more."""
    found = reading.start(one.sample)
    reading.merge(found, one.found)
    reading.merge(found, other.found)
    columns, where = (one.columns, one.where) if one.columns is not None else (other.columns, other.where)
    return Done(one.sample, one.place, one.kept + other.kept, one.omitted + other.omitted, columns, where, found)
