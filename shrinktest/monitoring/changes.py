"""Effects of named columns: rows since the estimated change against the reference."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from shrinktest._check import Array
from shrinktest.monitoring.scores import OfColumns, OfLevels
from shrinktest.monitoring.stream import Stream
from shrinktest.results.columns import MEDIAN, MISSING, POSITION, SHARE, Change, ColumnEffects
from shrinktest.results.monitor_result import Recent

_MOST = 3  # levels of a category


def effects_of(stream: Stream, named: Sequence[int]) -> tuple[ColumnEffects, ...]:
    """Return the effects of columns, by the places of their scores, without intervals.

    The alarm chose the moment, so that intervals would be wrong.
    """
    return tuple(_effects(stream, place) for place in named)


def recent_of(stream: Stream, place: int) -> Recent:
    """Return the last values of a column by the place of its score.

    Those of a category are the indicator of the level that changed most.
    """
    score = stream.scores[place]
    kind = stream.layout.kinds[score.place]
    values = stream.recent[:, score.place]
    if stream.alarms[place].label != score.name:
        return Recent(score.name, kind, stream.places, np.isnan(values).astype(float), "missing")
    levels = stream.layout.levels[score.place]
    if kind not in ("boolean", "category"):
        return Recent(score.name, kind, stream.places, values)
    changes = _effects(stream, place).changes
    level = changes[0].level if changes else ""
    code = levels.index(level) if level in levels else len(levels)
    shown = level or "missing"
    indicator = values == code if level else np.isnan(values)
    return Recent(score.name, kind, stream.places, indicator.astype(float), shown)


def _effects(stream: Stream, place: int) -> ColumnEffects:
    score = stream.scores[place]
    alarm = stream.alarms[place]
    kind = stream.layout.kinds[score.place]
    new = stream.recent[stream.places >= (alarm.change or 0), score.place]
    start = 0
    for bank in stream.banks:
        function = bank.function
        if isinstance(function, OfColumns) and place < start + len(function.places):
            old = bank.urns.values[place - start]
            missing = alarm.label != score.name
            return ColumnEffects(score.name, kind, _of_numbers(old, new, kind, missing=missing))
        if isinstance(function, OfLevels) and function.place == score.place:
            changes = _of_levels(function.counts, new, stream.layout.levels[score.place])
            return ColumnEffects(score.name, kind, changes)
        start += len(bank.urns.values)
    return ColumnEffects(score.name, kind, ())


def _of_numbers(old: Array, new: Array, kind: str, *, missing: bool) -> tuple[Change, ...]:
    """Return the change of the median, or of the share of missing values."""
    known = old[~np.isinf(old)]
    present = new[~np.isnan(new)]
    if missing:
        before = float(np.isinf(old).mean())
        after = float(np.isnan(new).mean())
        return (Change(MISSING, "", before, after, after - before),)
    if not known.size or not present.size:
        return ()
    below = np.searchsorted(known, present, "left") + np.searchsorted(known, present, "right")
    area = float((below / (2.0 * len(known))).mean())
    ordered = kind == "ordered"
    center = np.mean if ordered else np.median
    what = POSITION if ordered else MEDIAN
    return (Change(what, "", float(center(known)), float(center(present)), area),)


def _of_levels(counts: Array, new: Array, levels: tuple[str, ...]) -> tuple[Change, ...]:
    """Return the largest changes of shares: of levels, new ones, and missing values."""
    names = [*levels, "new levels"]
    places = np.where(np.isnan(new), len(names), new).astype(np.intp)
    after = np.bincount(places, minlength=len(names) + 1) / max(len(new), 1)
    before = counts / max(counts.sum(), 1.0)
    if levels == ("False", "True"):
        names[0] = ""
    changes = [
        Change(SHARE, name, float(before[i]), float(after[i]), float(after[i] - before[i]))
        for i, name in enumerate(names)
        if name
    ]
    changes.append(
        Change(MISSING, "", float(before[-1]), float(after[-1]), float(after[-1] - before[-1]))
    )
    moved = [change for change in changes if not math.isclose(change.estimate, 0.0)]
    return tuple(sorted(moved, key=lambda change: -abs(change.estimate))[:_MOST])
