"""Effects of the data of a test: units, folds and features of its estimates, and notes on them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shrinktest.effects.dependence import FEWEST_GROUPS, dependence
from shrinktest.effects.distance import NORMS, VARIANCE, Pair, distance
from shrinktest.effects.jackknife import FEWEST, Estimate
from shrinktest.effects.separability import Area, CrossFit, combine_scores, fold_codes, roc_area
from shrinktest.fitted import EffectOptions, FittedStatistic, TestContext
from shrinktest.kernels.pooled import compares_differences, taken_anew
from shrinktest.notes import Note, note
from shrinktest.permutations.design import PermutationDesign
from shrinktest.results.effect import DependenceEffect, TwoSampleEffect
from shrinktest.results.result import FOLDS
from shrinktest.statistics.kernel_cache import features_at

#: Units of a sample from which the coverage of intervals was measured.
MEASURED = 20

_LONG = 60  # units of a sample below which intervals of separability are too long
#: Rows that differ from the most common one, in two samples or in both of two variables, from which
#: levels hold.
_FEWEST_RARE = 15
_FEWEST_RARE_TOGETHER = 10


def pair_of_samples(
    sizes: tuple[int, ...], which: tuple[int, int], design: PermutationDesign
) -> tuple[np.ndarray, Pair]:
    """Return the rows of two samples of a test among all observations, and their units."""
    starts = np.concatenate([[0], np.cumsum(sizes)])
    rows = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in which])
    second = np.repeat([False, True], [sizes[i] for i in which])
    units = np.arange(len(rows))
    blocks = None
    if design.paired:
        units %= sizes[which[0]]
    if design.groups is not None:
        units = np.unique(design.groups[rows], return_inverse=True)[1]
    if design.blocks is not None:
        blocks = np.unique(design.blocks[rows], return_inverse=True)[1]
    return rows, Pair(second, units, blocks, design.paired)


def _folds(pair: Pair, count: int, rng: np.random.Generator) -> np.ndarray | None:
    """Return the fold of every row: the units of every block and sample spread over all folds.

    None if too few.
    """
    fewest = min(pair.sizes)
    if fewest < FEWEST:
        return None
    count = min(count, fewest // (1 + pair.linked))  # every fold has two pairs to compare
    cells = (
        np.zeros(len(pair.units), dtype=np.int64) if pair.linked else pair.second.astype(np.int64)
    )
    if pair.blocks is None:
        return fold_codes(pair.units, cells, count, rng)
    return fold_codes(pair.units, 2 * pair.blocks + cells, count, rng, together=2)


def pair_effects(
    context: TestContext,
    design: PermutationDesign,
    which: Sequence[tuple[int, int]],
    names: Sequence[tuple[str, str]],
    options: EffectOptions,
) -> list[TwoSampleEffect]:
    """Return the effects of pairs of samples, without the z of the test.

    Every kernel is evaluated once.
    """
    pairs = [pair_of_samples(context.sizes, samples, design) for samples in which]
    relative_to = NORMS if context.leading.kernel.never_negative else VARIANCE
    folds = [
        _folds(pair, options.folds or FOLDS, options.rng) if options.scored else None
        for _, pair in pairs
    ]
    fits: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in pairs]
    distances: list[Estimate] = []
    for member in context.members:
        compared_by = member.features[0]
        if compares_differences(
            member.kernel
        ):  # it knows differences, and here compares the rows themselves
            compared_by = taken_anew(compared_by, context.pooled)
        features = features_at(compared_by, context.pooled)
        if member is context.leading:
            compared = features if relative_to == NORMS else features.residuals()
            distances = [distance(compared.taken(rows), pair, relative_to) for rows, pair in pairs]
        estimator = member.estimator
        if member.tuning == "pooled":
            kernel = member.features[0] if estimator.needs == "filter" else member.kernel
            estimator = estimator.tuned(kernel, context.pooled)
        for (rows, pair), fold, fitted in zip(pairs, folds, fits, strict=True):
            if fold is not None:
                fit = CrossFit(
                    estimator,
                    member.kernel,
                    features.taken(rows),
                    context.pooled[rows],
                    member.tuning,
                )
                weights = (
                    fit.evidence(pair.second, fold) if len(context.members) > 1 else np.ones(1)
                )
                fitted.append((fit.scores(pair.second, fold), weights))
    effects = []
    for (rows, pair), fold, fitted, estimate, labels in zip(
        pairs, folds, fits, distances, names, strict=True
    ):
        area = Area(np.nan, np.nan, pair.sizes, 1.0)
        if fold is not None:
            strata = fold if pair.blocks is None else fold + (fold.max() + 1) * pair.blocks
            scores = fitted[0][0] if len(fitted) == 1 else combine_scores(fitted, fold)
            area = roc_area(scores, pair.second, strata, pair.units, estimate.chance)
        if design.shifted:
            area = replace(area, variance=math.nan)
            estimate = replace(estimate, jackknife=math.nan)
            notes = [note("effect-in-time")]
        else:
            notes = _few(min(pair.sizes), "One sample has")
            notes += [note("effect-in-blocks")] if pair.blocks is not None else []
            notes += _area_notes(area)
            notes += _rare_in_samples(context.pooled[rows], pair, labels, design.groups is not None)
        notes += leading_notes(context, "The distance is")
        effect = two_sample_effect(area, estimate, relative_to, labels, options, notes)
        effects.append(replace(effect, within_blocks=pair.blocks is not None))
    return effects


def area_of_pair(
    member: FittedStatistic, points: np.ndarray, pair: Pair, rng: np.random.Generator
) -> Area:
    """Return how well a statistic tells two samples apart, rows of the first before the others."""
    fold = _folds(pair, FOLDS, rng)
    if fold is None:
        return Area(np.nan, np.nan, pair.sizes, 1.0)
    features = features_at(member.features[0], points)
    by_norms = member.kernel.never_negative
    compared = features if by_norms else features.residuals()
    estimate = distance(compared, pair, NORMS if by_norms else VARIANCE)
    fit = CrossFit(member.estimator, member.kernel, features, points, member.tuning)
    strata = fold if pair.blocks is None else fold + (fold.max() + 1) * pair.blocks
    scores = fit.scores(pair.second, fold)
    return roc_area(scores, pair.second, strata, pair.units, estimate.chance)


def two_sample_effect(
    area: Area,
    distance: Estimate,
    relative_to: str,
    names: tuple[str, str],
    options: EffectOptions,
    notes: Sequence[str],
) -> TwoSampleEffect:
    """Return the effect of two samples, without the z of the test."""
    return TwoSampleEffect(
        auc=area.value,
        auc_interval=area.interval(options.confidence),
        distance=distance.value,
        distance_interval=distance.interval(options.confidence),
        relative_to=relative_to,
        names=names,
        z=math.nan,
        confidence=options.confidence,
        notes=tuple(notes),
        estimates={"auc": area, "distance": distance},
    )


def dependence_effect(
    context: TestContext, design: PermutationDesign, options: EffectOptions
) -> DependenceEffect:
    """Return the dependence of two variables in memory."""
    points = [variable.points for variable in context.hypothesis.variables]
    x, y = (
        features_at(kernel, rows).residuals()
        for kernel, rows in zip(context.leading.features, points, strict=True)
    )
    if x.by_coordinates != y.by_coordinates:
        x = x.dense()
        y = y.dense()
    groups = None if design.groups is None else np.unique(design.groups, return_inverse=True)[1]
    estimate = dependence(x, y, groups)
    notes = (
        [note("dependence-of-blocks")] if design.blocks is not None and not design.shifted else []
    )
    notes += variance_notes(estimate)
    if design.shifted:
        estimate = replace(estimate, jackknife=math.nan)
        notes.append(note("effect-in-time"))
    else:
        notes += _few(estimate.units, "There are")
        if groups is not None and estimate.units < FEWEST_GROUPS:
            notes.append(note("dependence-few-groups", groups=FEWEST_GROUPS))
        notes += _rare_in_variables(points, groups)
    return effect_of_dependence(context, options, estimate, notes)


def effect_of_dependence(
    context: TestContext, options: EffectOptions, estimate: Estimate, notes: Sequence[str]
) -> DependenceEffect:
    """Return the effect of an estimated dependence."""
    if options.columns or options.folds is not None:
        raise ValueError("columns=True and folds= are for two samples; leave them out")
    return DependenceEffect(
        dependence=estimate.value,
        dependence_interval=estimate.interval(options.confidence),
        names=options.pair,
        z=options.z,
        confidence=options.confidence,
        notes=(*notes, *leading_notes(context, "The dependence is")),
        estimates={"dependence": estimate},
    )


# --- notes ----------------------------------------------------------------------------------------


def _few(units: int, where: str) -> list[Note]:
    """Return a note on few units."""
    what = f"coverage of intervals was measured only for {MEASURED} or more, and may be lower here"
    if units < FEWEST:
        what = f"no interval is computed from fewer than {FEWEST}"
    return [note("interval-few", where=where, units=units, what=what)] if units < MEASURED else []


def _area_notes(area: Area) -> list[Note]:
    """Return a note on an interval of separability that is missing, or too long."""
    if math.isnan(area.value) or min(area.units) < FEWEST:
        return []
    if not area.has_variance:
        return [note("no-area-interval")]
    return [note("long-area-interval", units=_LONG)] if MEASURED <= min(area.units) < _LONG else []


def variance_notes(estimate: Estimate) -> tuple[Note, ...]:
    """Return a note on the dependence of variables that hardly vary."""
    if estimate.units < FEWEST or not math.isnan(estimate.jackknife):
        return ()
    problem = "without one of its rows or groups it has no variance, so no interval can be computed"
    if math.isnan(estimate.value):
        problem = "all but one of its rows are equal, so the dependence cannot be estimated"
    return (note("hardly-varies", problem=problem),)


def leading_notes(context: TestContext, start: str) -> tuple[Note, ...]:
    """Return a note on the statistic of an ensemble whose effect is given."""
    if len(context.members) == 1:
        return ()
    kernel = context.leading.kernel
    label = " x ".join(each.label for each in (kernel if isinstance(kernel, tuple) else (kernel,)))
    return (note("effect-of-member", what=start, kernel=label),)


def _rare(points: np.ndarray) -> np.ndarray:
    """Return which rows differ from the one that more than half of all equal.

    Half or more if there is no such row.
    """
    return np.asarray((points != np.median(points, axis=0)).any(axis=1))


def _rare_in_samples(
    points: np.ndarray, pair: Pair, names: Sequence[str], grouped: bool
) -> list[Note]:
    """Return a note if few rows (groups) of two samples differ from all others."""
    rare = _rare(points)
    k, j = (np.unique(pair.units[rare & part]).size for part in (~pair.second, pair.second))
    m, n = pair.sizes
    if not 0.0 < rare.mean() < 0.5 or min(m, n) * (k / m + j / n) >= _FEWEST_RARE:
        return []
    return [_rare_note(f"{k} of {names[0]}, {j} of {names[1]}", grouped)]


def _rare_in_variables(points: Sequence[np.ndarray], groups: np.ndarray | None) -> list[Note]:
    """Return a note if few rows (groups) of two variables differ from most in both of them."""
    x, y = map(_rare, points)
    units = np.arange(len(x)) if groups is None else groups
    in_x, in_y, both, n = (np.unique(units[rows]).size for rows in (x, y, x & y, np.ones_like(x)))
    if min(x.mean(), y.mean()) >= 0.5 or max(both, in_x * in_y / n) >= _FEWEST_RARE_TOGETHER:
        return []
    where = "both variables" if max(x.mean(), y.mean()) < 0.5 else "one of the variables"
    return [_rare_note(f"{both} in {where}", groups is not None)]


def _rare_note(counts: str, grouped: bool) -> Note:
    return note(
        "rare-rows",
        units="groups" if grouped else "rows",
        row="row" if grouped else "one",
        counts=counts,
    )
