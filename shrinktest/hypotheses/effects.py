"""Effects of the data of a test: units, folds and features put together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shrinktest._check import counted
from shrinktest.effects.dependence import OF_DIFFERENT, dependence
from shrinktest.effects.distance import NORMS, VARIANCE, Sides, distance
from shrinktest.effects.inner_products import InnerProducts, never_negative
from shrinktest.effects.interval import Estimate
from shrinktest.effects.separability import FEWEST, Area, Fit, area_of, combined, fold_codes
from shrinktest.hypotheses.again import Again, Member
from shrinktest.hypotheses.rare import said_of_variables
from shrinktest.permutations.design import PermutationDesign

#: Units of a sample from which it was measured how often intervals cover.
MEASURED = 20
_IN_TIME = "The observations follow each other in time: there is no interval, which would be too short."

#: Units of a sample up to which intervals of separability were found too long.
LONG = 60


@dataclass(frozen=True, eq=False)
class Pair:
    """Two of the samples of a test, and what of them varies independently."""

    rows: np.ndarray  # where they are among all observations
    second: np.ndarray  # which of these rows are of the second
    units: np.ndarray  # what varies independently, a code 0, 1, ... for every row
    blocks: np.ndarray | None  # within which rows are compared
    linked: bool  # whether a unit has a row in each sample

    @classmethod
    def of(cls, sizes: tuple[int, ...], which: tuple[int, int], restriction: PermutationDesign) -> Pair:
        """Two samples of a test, by their numbers."""
        starts = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in which])
        second = np.repeat([False, True], [sizes[i] for i in which])
        units, blocks = np.arange(len(rows)), None
        if restriction.paired:
            units %= sizes[which[0]]
        if restriction.groups is not None:
            units = np.unique(restriction.groups[rows], return_inverse=True)[1]
        if restriction.blocks is not None:
            blocks = np.unique(restriction.blocks[rows], return_inverse=True)[1]
        return cls(rows, second, units, blocks, restriction.paired)

    @property
    def sides(self) -> Sides:
        """The units of both."""
        codes, cells = [], []
        for part in (~self.second, self.second):
            _, first, code = np.unique(self.units[part], return_index=True, return_inverse=True)
            codes.append(code)
            if self.blocks is not None:
                cells.append(self.blocks[part][first])
        return Sides((codes[0], codes[1]), (cells[0], cells[1]) if cells else None, self.linked)

    def folds(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """The fold of every row, with the units of every block and sample in all of them as far as they go."""
        cells = np.zeros(len(self.rows), dtype=np.int64) if self.linked else self.second.astype(np.int64)
        if self.blocks is None:
            return fold_codes(self.units, cells, count, rng)
        return fold_codes(self.units, 2 * self.blocks + cells, count, rng, together=2)


def apart(
    again: Again,
    restriction: PermutationDesign,
    pairs: Sequence[tuple[int, int]],
    folds: int,
    rng: np.random.Generator,
    *,
    scored: bool = True,
) -> list[tuple[Area, Estimate, str, tuple[str, ...]]]:
    """For pairs of samples: separability, distance, what this is relative to, and notes.

    The kernel of every statistic is evaluated once for all pairs, and forgotten before that of the next.  Without
    ``scored`` there is no separability, which takes longest.
    """
    found = [Pair.of(again.sizes, which, restriction) for which in pairs]
    sides = [pair.sides for pair in found]
    leading = again.leading
    relative_to = NORMS if never_negative(leading.kernel) else VARIANCE
    held = [
        pair.folds(min(folds, min(side.units) // (1 + pair.linked)), rng)  # with two pairs to compare in each
        if scored and min(side.units) >= FEWEST
        else None
        for pair, side in zip(found, sides, strict=True)
    ]
    scores: list[list[np.ndarray]] = [[] for _ in found]
    evidence: list[list[np.ndarray]] = [[] for _ in found]
    away: list[Estimate] = []
    for member in again.members:
        features = InnerProducts.of(member.features[0], again.pooled)
        if member is leading:
            own = features if relative_to == NORMS else features.centred()
            away = [distance(own.taken(p.rows), side, relative_to) for p, side in zip(found, sides, strict=True)]
        estimator = member.estimator
        if member.tuning == "pooled":
            low = member.features[0] if estimator.needs == "filter" else member.kernel
            estimator = estimator.tuned(low, again.pooled)
        for pair, fold, out, weights in zip(found, held, scores, evidence, strict=True):
            if fold is not None:
                points = again.pooled[pair.rows]
                fit = Fit(estimator, member.kernel, features.taken(pair.rows), points, member.tuning)
                out.append(fit.scores(pair.second, fold))
                if len(again.members) > 1:
                    weights.append(fit.evidence(pair.second, fold))
    areas = [
        Area(np.nan, np.nan, side.units, 1.0)
        if fold is None
        else area_of(
            every[0] if len(every) == 1 else combined(every, weights, fold),
            pair.second,
            fold if pair.blocks is None else fold + folds * pair.blocks,
            pair.units,
            one.chance,
        )
        for pair, side, fold, every, weights, one in zip(found, sides, held, scores, evidence, away, strict=True)
    ]
    if restriction.shift:
        areas = [replace(area, variance=math.nan) for area in areas]
        away = [replace(one, jackknife=math.nan) for one in away]
    return [
        (area, one, relative_to, (_IN_TIME,) if restriction.shift else _notes(side))
        for area, one, side in zip(areas, away, sides, strict=True)
    ]


def _notes(side: Sides) -> tuple[str, ...]:
    units, blocks = min(side.units), side.cells is not None
    notes = []
    if units < MEASURED:
        notes.append(f"One sample has {_few(units)}")
    if blocks:
        notes.append(
            "Observations are compared within blocks, and both samples count as if they had the blocks in the same "
            "shares; blocks with fewer than two observations of a sample are left out of the distance (matched "
            "pairs: paired=True)."
        )
    return tuple(notes)


def said_of_area(area: Area) -> tuple[str, ...]:
    """A note on intervals of separability that are on the safe side, or that there is none."""
    if min(area.units) >= FEWEST and not (area.has_variance or math.isnan(area.value)):
        return (
            "There is no interval of the auc: the fitted witness functions do not tell rows from each other (shrinkage "
            "that leaves nothing, say).",
        )
    if not MEASURED <= min(area.units) < LONG:
        return ()
    return (
        f"With fewer than {LONG} independent observations in a sample the interval of the auc covers at least about as "
        "often as it says (in 94 to 99 % of data sets for 95 %), so that it tends to be too long.",
    )


def _few(units: int) -> str:
    """What a reader should know of intervals from so few units."""
    if units < FEWEST:
        return f"{counted(units, 'independent observation')}: there is no interval from fewer than {FEWEST}."
    return (
        f"{units} independent observations: how often intervals cover was measured from {MEASURED} on, and they may "
        "cover less often than they say."
    )


def bound(again: Again, restriction: PermutationDesign) -> tuple[Estimate, tuple[str, ...]]:
    """The dependence of two variables, and notes."""
    points = [variable.points for variable in again.hypothesis.variables]
    x, y = (InnerProducts.of(kernel, one).centred() for kernel, one in zip(again.leading.features, points, strict=True))
    if x.by_coordinates != y.by_coordinates:
        x, y = x.dense(), y.dense()
    notes = []
    groups = None if restriction.groups is None else np.unique(restriction.groups, return_inverse=True)[1]
    if restriction.blocks is not None and not restriction.shift:
        notes.append("Differences between blocks are part of the dependence, which the test does not count.")
    found = dependence(x, y, groups)
    notes.extend(said_of_variance(found))
    if restriction.shift:
        found = replace(found, jackknife=math.nan)
        notes.append(_IN_TIME)
    elif found.units < MEASURED:
        notes.append(f"There are {_few(found.units)}")
    if groups is not None and found.units < OF_DIFFERENT:
        notes.append(
            f"The dependence is estimated from pairs of {OF_DIFFERENT} different groups; with fewer there is none."
        )
    if not restriction.shift:
        notes.extend(said_of_variables(again, restriction))
    return found, tuple(notes)


def said_of_variance(found: Estimate) -> tuple[str, ...]:
    """A note on dependences of variables that hardly vary."""
    if found.units < FEWEST:
        return ()
    if math.isnan(found.value):
        return (
            "A variable hardly varies: no two of its rows differ from the others, so that it has no variance by which "
            "the dependence could be divided, and it was not estimated.",
        )
    if math.isnan(found.jackknife):
        return (
            "A variable hardly varies: without one of its rows (or groups) nothing is left of its variance, by which "
            "the dependence is divided, so that there is no interval.",
        )
    return ()


def said_of_members(members: Sequence[Member], leading: Member, what: str) -> tuple[str, ...]:
    """A note on which of several statistics an effect is about."""
    if len(members) == 1:
        return ()
    kernels = leading.kernel if isinstance(leading.kernel, tuple) else (leading.kernel,)
    label = " x ".join(kernel.label for kernel in kernels)
    return (f"{what} that of the member with the largest weight, which no data choose: {label}.",)
