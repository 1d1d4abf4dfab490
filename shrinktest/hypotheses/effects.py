"""Effects of the data of a test: its units, folds and features, and notes on what was estimated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shrinktest.effects.dependence import FEWEST_GROUPS, dependence
from shrinktest.effects.distance import NORMS, VARIANCE, Pair, distance
from shrinktest.effects.inner_products import InnerProducts, never_negative
from shrinktest.effects.jackknife import FEWEST, Estimate
from shrinktest.effects.separability import Area, CrossFit, combine_scores, fold_codes, roc_area
from shrinktest.hypotheses.context import EffectOptions, TestContext
from shrinktest.hypotheses.rare import said_of_samples, said_of_variables
from shrinktest.notes import Note, note
from shrinktest.permutations.design import PermutationDesign
from shrinktest.results.effect import DependenceEffect, TwoSampleEffect
from shrinktest.results.result import FOLDS

#: Units of a sample from which the coverage of intervals was measured.
MEASURED = 20

_LONG = 60  # units of a sample below which intervals of separability are too long


def pair_of_samples(
    sizes: tuple[int, ...], which: tuple[int, int], design: PermutationDesign
) -> tuple[np.ndarray, Pair]:
    """Return the rows of two samples of a test among all observations, and their units."""
    starts = np.concatenate([[0], np.cumsum(sizes)])
    rows = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in which])
    second = np.repeat([False, True], [sizes[i] for i in which])
    units, blocks = np.arange(len(rows)), None
    if design.paired:
        units %= sizes[which[0]]
    if design.groups is not None:
        units = np.unique(design.groups[rows], return_inverse=True)[1]
    if design.blocks is not None:
        blocks = np.unique(design.blocks[rows], return_inverse=True)[1]
    return rows, Pair(second, units, blocks, design.paired)


def _folds(pair: Pair, count: int, rng: np.random.Generator) -> np.ndarray | None:
    """The fold of every row, with the units of every block and sample spread over all folds; None with too few units.

    There are two pairs to compare in every fold.
    """
    fewest = min(pair.sizes)
    if fewest < FEWEST:
        return None
    count = min(count, fewest // (1 + pair.linked))
    cells = np.zeros(len(pair.units), dtype=np.int64) if pair.linked else pair.second.astype(np.int64)
    if pair.blocks is None:
        return fold_codes(pair.units, cells, count, rng)
    return fold_codes(pair.units, 2 * pair.blocks + cells, count, rng, together=2)


def pair_estimates(
    context: TestContext,
    design: PermutationDesign,
    which: Sequence[tuple[int, int]],
    folds: int,
    rng: np.random.Generator,
    *,
    scored: bool = True,
) -> list[tuple[Area, Estimate, str, tuple[str, ...]]]:
    """Return for pairs of samples: separability, distance, what this is relative to, and notes.

    The kernel of every statistic is evaluated once for all pairs, and forgotten before that of the next.  Without
    ``scored`` separability, which takes longest, is not estimated.
    """
    pairs = [pair_of_samples(context.sizes, samples, design) for samples in which]
    relative_to = NORMS if never_negative(context.leading.kernel) else VARIANCE
    held = [_folds(pair, folds, rng) if scored else None for _, pair in pairs]
    scores: list[list[np.ndarray]] = [[] for _ in pairs]
    evidence: list[list[np.ndarray]] = [[] for _ in pairs]
    distances: list[Estimate] = []
    for member in context.members:
        features = InnerProducts.of(member.features[0], context.pooled)
        if member is context.leading:
            own = features if relative_to == NORMS else features.centred()
            distances = [distance(own.taken(rows), pair, relative_to) for rows, pair in pairs]
        estimator = member.estimator
        if member.tuning == "pooled":
            kernel = member.features[0] if estimator.needs == "filter" else member.kernel
            estimator = estimator.tuned(kernel, context.pooled)
        for (rows, pair), fold, out, weights in zip(pairs, held, scores, evidence, strict=True):
            if fold is not None:
                fit = CrossFit(estimator, member.kernel, features.taken(rows), context.pooled[rows], member.tuning)
                out.append(fit.scores(pair.second, fold))
                if len(context.members) > 1:
                    weights.append(fit.evidence(pair.second, fold))
    estimates = []
    for (_, pair), fold, out, weights, found in zip(pairs, held, scores, evidence, distances, strict=True):
        area = Area(np.nan, np.nan, pair.sizes, 1.0)
        if fold is not None:
            strata = fold if pair.blocks is None else fold + folds * pair.blocks
            values = out[0] if len(out) == 1 else combine_scores(out, weights, fold)
            area = roc_area(values, pair.second, strata, pair.units, found.chance)
        if design.shift:
            area, found = replace(area, variance=math.nan), replace(found, jackknife=math.nan)
        estimates.append((area, found, relative_to, _pair_notes(pair, series=bool(design.shift))))
    return estimates


def pair_effects(
    context: TestContext,
    design: PermutationDesign,
    which: Sequence[tuple[int, int]],
    names: Sequence[tuple[str, str]],
    options: EffectOptions,
) -> list[TwoSampleEffect]:
    """Return the effects of pairs of samples, without the z of the test."""
    estimates = pair_estimates(context, design, which, options.folds or FOLDS, options.rng)
    member = leading_notes(context, "The distance is")
    return [
        TwoSampleEffect(
            auc=area.value,
            auc_interval=area.interval(options.confidence),
            distance=found.value,
            distance_interval=found.interval(options.confidence),
            relative_to=relative_to,
            names=labels,
            z=math.nan,
            confidence=options.confidence,
            notes=(*notes, *area_notes(area, design),
                   *(() if design.shift else said_of_samples(context, design, pair, labels)), *member),
        )
        for pair, labels, (area, found, relative_to, notes) in zip(which, names, estimates, strict=True)
    ]  # fmt: skip


def dependence_estimate(context: TestContext, design: PermutationDesign) -> tuple[Estimate, tuple[str, ...]]:
    """Estimate the dependence of two variables; and return notes on it."""
    points = [variable.points for variable in context.hypothesis.variables]
    x, y = (
        InnerProducts.of(kernel, rows).centred() for kernel, rows in zip(context.leading.features, points, strict=True)
    )
    if x.by_coordinates != y.by_coordinates:
        x, y = x.dense(), y.dense()
    groups = None if design.groups is None else np.unique(design.groups, return_inverse=True)[1]
    found = dependence(x, y, groups)
    notes: list[str] = []
    if design.blocks is not None and not design.shift:
        notes.append(note("dependence-of-blocks"))
    notes += variance_notes(found)
    if design.shift:
        return replace(found, jackknife=math.nan), (*notes, note("effect-in-time"))
    if found.units < MEASURED:
        notes.append(_few(found.units, "There are"))
    if groups is not None and found.units < FEWEST_GROUPS:
        notes.append(note("dependence-few-groups", groups=FEWEST_GROUPS))
    return found, (*notes, *said_of_variables(context, design))


def dependence_effect(
    context: TestContext, options: EffectOptions, found: Estimate, notes: Sequence[str], names: tuple[str, str]
) -> DependenceEffect:
    """Return the effect of an estimated dependence; raises ValueError for options of two samples."""
    if options.columns:
        raise ValueError("columns=True is for two samples; independence_matrix compares columns one by one")
    if options.folds is not None:
        raise ValueError("folds= are those of the witness function of two samples; leave it out")
    return DependenceEffect(
        dependence=found.value,
        dependence_interval=found.interval(options.confidence),
        names=names,
        z=options.z,
        confidence=options.confidence,
        notes=(*notes, *leading_notes(context, "The dependence is")),
    )


# --- notes ----------------------------------------------------------------------------------------------------------


def _pair_notes(pair: Pair, *, series: bool) -> tuple[str, ...]:
    """Notes on series, few units, and blocks."""
    if series:
        return (note("effect-in-time"),)
    few = (_few(min(pair.sizes), "One sample has"),) if min(pair.sizes) < MEASURED else ()
    return few if pair.blocks is None else (*few, note("effect-in-blocks"))


def _few(units: int, where: str) -> Note:
    what = f"there is no interval from fewer than {FEWEST}"
    if units >= FEWEST:
        what = f"coverage of intervals was measured from {MEASURED} on, and may be smaller here"
    return note("interval-few", where=where, units=units, what=what)


def area_notes(area: Area, design: PermutationDesign) -> tuple[str, ...]:
    """A note on intervals of separability that are on the safe side, or missing."""
    if design.shift:
        return ()
    if min(area.units) >= FEWEST and not (area.has_variance or math.isnan(area.value)):
        return (note("no-area-interval"),)
    if not MEASURED <= min(area.units) < _LONG:
        return ()
    return (note("long-area-interval", units=_LONG),)


def variance_notes(found: Estimate) -> tuple[str, ...]:
    """A note on the dependence of variables that hardly vary."""
    if found.units < FEWEST or not math.isnan(found.jackknife):
        return ()
    problem = "without one of its rows or groups it has no variance left, so there is no interval"
    if math.isnan(found.value):
        problem = "no two of its rows differ from the others, so the dependence was not estimated"
    return (note("hardly-varies", problem=problem),)


def leading_notes(context: TestContext, start: str) -> tuple[str, ...]:
    """A note on the statistic of an ensemble whose effect is given."""
    if len(context.members) == 1:
        return ()
    kernel = context.leading.kernel
    label = " x ".join(one.label for one in (kernel if isinstance(kernel, tuple) else (kernel,)))
    return (note("effect-of-member", what=start, kernel=label),)
