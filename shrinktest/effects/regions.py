"""Boxes in which the share of one sample differs from that of another: tests, and a choice of few.

The count of the first sample in every box is compared over the permutations of a test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shrinktest.data.column import Column
from shrinktest.effects.columns import difference_of_shares
from shrinktest.effects.row_units import RowUnits
from shrinktest.notes import note
from shrinktest.permutations.base import Draws
from shrinktest.permutations.design import PermutationDesign
from shrinktest.permutations.multiplicity import step_down
from shrinktest.permutations.stopping import allowed_rows
from shrinktest.results.regions_result import Region, RegionsResult
from shrinktest.statistics.boxes import Boxes

_SIDE = 0.25  # by how much a box with one more side must be clearer
_MOST = 6  # regions that are named
_OUTSIDE = 0.5  # of the rows of a region, at least, that are in none before it
_CONSIDERED = 300  # clear boxes that are considered for that
_SPREAD = 200  # permutations from which the spread outside named regions is estimated
_WORK = 5e9  # counts of rows in families of boxes, in all permutations
_VALUES = 2**24  # of labels at a time, and of counts of all boxes
_ENOUGH = 1000  # permutations that are used in any case
_ROWS = 500  # of each sample in a picture
_TIE = 1e-9
_DIGITS = 9  # of heights: a box and its complement are equal, and the smaller comes first


@dataclass(frozen=True, eq=False)
class ComparedBoxes:
    """Differences of all boxes in units of their spread over the permutations, and p-values."""

    heights: np.ndarray  # (K,): above zero if the first sample has more
    pvalues: np.ndarray  # (K,)
    adjusted: np.ndarray  # (K,): by step-down
    largest: np.ndarray  # (B,): largest absolute difference in each permutation

    @classmethod
    def of(cls, boxes: Boxes, draws: Draws) -> ComparedBoxes:
        """Compare the counts of the first sample, of all permutations (B, N)."""
        rows = permutations_used(boxes, draws)
        step = max(1, _VALUES // max(1, draws.permutations.size))
        parts = [
            boxes.counts(draws.rows(start, min(start + step, rows)) == 0)
            for start in range(0, rows, step)
        ]
        halves = boxes.pooled / 2.0 if _is_half(draws) else None
        heights = standardized(np.concatenate(parts, axis=1).T.astype(np.float64), halves)
        away = np.abs(heights)
        reached = (away >= away[0] * (1.0 - _TIE)).mean(axis=0)
        adjusted = step_down(-away) if len(boxes) else np.empty(0)
        return cls(heights[0], reached, adjusted, away.max(axis=1, initial=0.0))

    def critical(self, alpha: float) -> float:
        """Return the height that no box reaches with probability 1 - alpha if nothing differs."""
        allowed = allowed_rows(alpha, len(self.largest))
        return float(np.sort(self.largest)[::-1][allowed]) if allowed else math.inf


def permutations_used(boxes: Boxes, draws: Draws) -> int:
    """Return how many permutations, the data among them, the counts of all boxes have room for.

    An enumeration is used whole.
    """
    return (
        draws.count
        if draws.exact
        else min(draws.count, max(_ENOUGH, _VALUES // max(1, len(boxes))))
    )


def _is_half(draws: Draws) -> bool:
    """Return True if permutations that exchange the whole samples were not enumerated."""
    permutations = draws.permutations
    if not draws.exact or not getattr(permutations, "symmetric", False):
        return False
    whole = replace(permutations, symmetric=False)  # type: ignore[type-var]
    return bool(whole.distinct == 2 * permutations.distinct)


def standardized(counts: np.ndarray, center: np.ndarray | None = None) -> np.ndarray:
    """Return counts (B, K) less their means over the rows, in units of their spread.

    Zero for counts that do not vary.  All rows are treated alike, the data among them.
    """
    away = counts - (counts.mean(axis=0) if center is None else center)
    spread = np.sqrt(np.square(away).mean(axis=0))
    varies = spread > _TIE * (1.0 + np.abs(counts).max(axis=0, initial=0.0))
    return np.where(varies, away / np.where(varies, spread, 1.0), 0.0)


def find_regions(
    columns: Sequence[Column],
    labels: Sequence[str],
    sizes: tuple[int, int],
    draws: Draws,
    design: PermutationDesign,
    *,
    names: tuple[str, str],
    alpha: float,
    confidence: float,
    own: bool,
) -> RegionsResult:
    """Return where two samples differ, by the permutations of their test.

    ``labels`` are what the columns are called, ``own`` tells whether the permutations are a user's.
    """
    if design.paired:
        columns = [_complete_pairs(column) for column in columns]
    work = _WORK / (sum(sizes) * draws.count)
    boxes = Boxes.of(columns, labels, work, gaps=not design.paired)
    compared = ComparedBoxes.of(boxes, draws)
    clear = np.flatnonzero(compared.adjusted <= alpha)
    chosen = _few(boxes, compared, clear, draws, compared.critical(alpha))
    units = None if design.shifted else _units(sizes, design)
    regions = []
    for box in chosen:
        inside = boxes.inside(box)
        low, high = math.nan, math.nan
        if units is not None:
            _, low, high = difference_of_shares(inside, units, confidence)
        regions.append(
            Region(
                conditions=boxes.conditions(box),
                over=names[0] if compared.heights[box] > 0.0 else names[1],
                first=float(inside[: sizes[0]].mean()),
                second=float(inside[sizes[0] :].mean()),
                low=low,
                high=high,
                pvalue=float(compared.pvalues[box]),
                adjusted=float(compared.adjusted[box]),
            )
        )
    return RegionsResult(
        regions=tuple(regions),
        names=names,
        n_boxes=len(boxes),
        n_clear=len(clear),
        smallest=float(compared.adjusted.min(initial=1.0)),
        alpha=alpha,
        confidence=confidence,
        n_resamples=len(compared.largest) - (not draws.exact),
        exact=draws.exact,
        drawn=_drawn(columns, labels, sizes, regions),
        notes=_notes(boxes, len(columns), regions, design, own),
    )


def _complete_pairs(column: Column) -> Column:
    """Return a column without the values of pairs of which one is missing."""
    return column.without(np.tile(column.missing().reshape(2, -1).any(axis=0), 2))


def _few(
    boxes: Boxes, compared: ComparedBoxes, clear: np.ndarray, draws: Draws, critical: float
) -> list[int]:
    """Choose few of the clear boxes.

    The clearest comes first; the next is the clearest without the rows of those before, as long as
    it reaches the critical height by these rows alone, and at least half of its rows are such.
    """
    further = np.array([len(boxes.conditions(box)) - 1 for box in clear], dtype=np.float64)
    heights = np.round(np.abs(compared.heights[clear]) - _SIDE * further, _DIGITS)
    order = clear[np.lexsort((boxes.pooled[clear], -heights))][:_CONSIDERED]
    if not len(order):
        return []
    first = (draws.rows(0, _SPREAD) == 0).astype(np.float32)
    chosen = [int(order[0])]
    inside = np.stack([boxes.inside(box) for box in order])
    left = ~inside[0]
    while len(chosen) < _MOST and left.any():
        rest = inside & left
        share = rest.sum(axis=1) / left.sum()
        # the count in the rest of a box, less what its share of the remaining rows makes expect
        counts = first @ rest.T.astype(np.float32) - np.outer(first[:, left].sum(axis=1), share)
        halves = np.zeros(len(order)) if _is_half(draws) else None
        heights = standardized(counts.astype(np.float64), halves)[0]
        heights *= np.sign(compared.heights[order])
        heights[rest.sum(axis=1) < _OUTSIDE * inside.sum(axis=1)] = -math.inf
        best = int(heights.argmax())
        if heights[best] < critical:
            break
        chosen.append(int(order[best]))
        left &= ~inside[best]
    return chosen


def _units(sizes: tuple[int, int], design: PermutationDesign) -> RowUnits:
    """Return the independent units: rows, pairs or groups."""
    if design.groups is None:
        return RowUnits.rows(sizes, paired=design.paired)
    return RowUnits(sizes, np.unique(design.groups, return_inverse=True)[1])


def _notes(
    boxes: Boxes,
    n_columns: int,
    regions: Sequence[Region],
    design: PermutationDesign,
    own: bool,
) -> tuple[str, ...]:
    notes = []
    if regions:
        notes.append(note("regions-chosen"))
        if design.blocks is not None:
            notes.append(note("regions-across-blocks"))
        if design.shifted:
            notes.append(note("effect-in-time"))
        if own:
            notes.append(note("effect-without-design", design="your permutations"))
    if boxes.most < min(n_columns, 2):
        notes.append(note("regions-by-column", columns=n_columns))
    return tuple(notes)


def _drawn(
    columns: Sequence[Column],
    labels: Sequence[str],
    sizes: tuple[int, int],
    regions: Sequence[Region],
) -> tuple[tuple[Column, ...], tuple[Column, ...]]:
    """Return some rows of both samples, in the columns of regions, or the first columns."""
    used = [condition.column for region in regions for condition in region.conditions]
    shown = [*dict.fromkeys([*used, *labels[:2]])]
    shown = shown[: max(2, len(set(used)))]
    chance = np.random.default_rng(0)
    samples = []
    for start, size in ((0, sizes[0]), (sizes[0], sizes[1])):
        rows = start + np.sort(chance.permutation(size)[:_ROWS])
        samples.append(
            tuple(replace(columns[labels.index(name)].taken(rows), name=name) for name in shown)
        )
    return samples[0], samples[1]
