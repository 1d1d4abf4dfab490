"""Rare rows: where most rows are the same, intervals of effects hold only if enough of them are not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shrinktest.hypotheses.context import TestContext
from shrinktest.notes import Note, note
from shrinktest.permutations.design import PermutationDesign

#: Rows that differ from the most common one, in samples of one size together, from which levels were found to hold.
FEWEST_APART = 15

#: Rows in which both of two variables do, found or expected, from which levels were found to hold.
FEWEST_TOGETHER = 10


def said_of_samples(
    context: TestContext, restriction: PermutationDesign, which: tuple[int, int], names: Sequence[str]
) -> tuple[str, ...]:
    """A note where few rows (pairs, groups) of two samples of a test are not the same as all others."""
    starts = np.concatenate([[0], np.cumsum(context.sizes)])
    rows = [np.arange(starts[i], starts[i + 1]) for i in which]
    rare = _rare(context.pooled[np.concatenate(rows)])
    parts = zip(rows, np.split(rare, [len(rows[0])]), strict=True)
    (k, m), (j, n) = (_units(restriction, own, part) for own, part in parts)
    if not 0.0 < rare.mean() < 0.5 or min(m, n) * (k / m + j / n) >= FEWEST_APART:
        return ()
    return (_note(f"{k} of {names[0]}, {j} of {names[1]}", restriction),)


def said_of_variables(context: TestContext, restriction: PermutationDesign) -> tuple[str, ...]:
    """A note where few rows (groups) of two variables are not the same as most others in both of them."""
    x, y = (_rare(variable.points) for variable in context.hypothesis.variables)
    rows = np.arange(len(x))
    (one, n), (other, _), (both, _) = (_units(restriction, rows, rare) for rare in (x, y, x & y))
    if min(x.mean(), y.mean()) >= 0.5 or max(both, one * other / n) >= FEWEST_TOGETHER:
        return ()
    who = "both variables" if max(x.mean(), y.mean()) < 0.5 else "one of the variables"
    return (_note(f"{both} in {who}", restriction),)


def _rare(points: np.ndarray) -> np.ndarray:
    """Which rows differ from the one that more than half of all are the same as; half or more, if there is no such."""
    return np.asarray((points != np.median(points, axis=0)).any(axis=1))


def _units(restriction: PermutationDesign, rows: np.ndarray, rare: np.ndarray) -> tuple[int, int]:
    """How many rows, or groups, are rare, and how many there are."""
    codes = rows if restriction.groups is None else restriction.groups[rows]
    return np.unique(codes[rare]).size, np.unique(codes).size


def _note(counts: str, restriction: PermutationDesign) -> Note:
    grouped = restriction.groups is not None
    return note("rare-rows", units="groups" if grouped else "rows", row="row" if grouped else "one", counts=counts)
