"""How near several samples are to one, or how much one variable depends on several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shrinktest._check import as_rng, choice, counted, flag, level, rng_provenance
from shrinktest._parallel import memory_limit, n_workers
from shrinktest._read import read_samples, read_variables
from shrinktest.effects.relative import FEWEST, FEWEST_ROWS, JackknifeEstimates, dependences, distances
from shrinktest.hypotheses.base import Variable, places_of, resolve, variables_of
from shrinktest.kernels import as_kernel
from shrinktest.kernels.bandwidths import reach_notes, require_in_range
from shrinktest.kernels.user import takes_row_numbers
from shrinktest.permutations.serial_correlation import (
    BY_GROUPS,
    BY_ROWS_APART,
    BY_THINNING,
    WRONG_ERRORS,
    OrderedRows,
    SerialCorrelation,
    joint_correlation,
    strongest,
)
from shrinktest.results.closer import ALTERNATIVES, DEPENDENCE, DISTANCE, MEASURES, CloserResult
from shrinktest.statistics.features import Features
from shrinktest.statistics.kernel_cache import KernelCache, Limits, Request
from shrinktest.tables.labels import label_codes, pooled_labels
from shrinktest.tables.pooled import is_unasked

POLICIES = ("raise", "omit", "indicator")

#: Units of a sample below which the level was not measured.
FEW = 20
_LEAST = 1e-290  # of kernel values that keep their digits

#: Where one-sided levels were measured that are above what they should be: of Y and Z, one with more than twice as many
#: units as the other, which has fewer than this.
FEW_UNEVEN, TIMES = 200, 2.0

ASYMPTOTIC = (
    "The p-value and the interval are asymptotic, by Student's t distribution: they hold for many rows, and for the "
    "kernel as it is, bandwidth included."
)
UNEVEN = (
    "{first} and {second} have very different sizes, and one of them fewer than {few}: one-sided, the level may be "
    "exceeded somewhat; two-sided it is held."
)
SAME = "{first} and {second} hold the same rows: there is nothing to compare, and the p-value is 1."
NO_ERROR = (
    "The standard error of the difference is zero, because the kernel sees no difference between rows of one sample: "
    "there is no test, and the p-value is 1."
)


@dataclass(frozen=True, eq=False)
class Closeness:
    """Estimates of how near samples are to the first, or how much it depends on them."""

    deleted: JackknifeEstimates  # of every sample but the first
    measure: str
    names: tuple[str, ...]  # of all samples, or variables
    # their rows, or kernel values of these where they are row numbers of several matrices
    values: tuple[np.ndarray, ...]
    counts: tuple[int, ...]  # for every sample how many units it has
    about: dict[str, Any]  # what a result says of all of them

    @classmethod
    def read(
        cls,
        samples: Sequence[Any],
        names: Sequence[str],
        *,
        measure: str,
        kernel: Any,
        bandwidth: Any,
        paired: Any,
        groups: Any,
        nan_policy: str,
        rng: Any,
        workers: Any,
        gram: str,
        rank: int | None,
        max_memory: Any,
        **told: Any,
    ) -> Closeness:
        """The estimates of samples, or variables, as users give them; raises for what cannot be compared."""
        measure = choice(measure, MEASURES, "measure")
        choice(nan_policy, POLICIES, "nan_policy")
        generator = as_rng(rng)
        settings: dict[str, Any] = {"workers": n_workers(workers), "kernel": kernel, "bandwidth": bandwidth}
        provenance = rng_provenance(generator)
        cache = KernelCache(Limits(gram, rank, memory_limit(max_memory), generator))
        if measure == DISTANCE:
            labels = {"paired": paired, "groups": groups}
            found = _distances(samples, tuple(names), nan_policy, cache, generator, **labels, **settings, **told)
        else:
            if paired is not False or groups is not None:
                raise ValueError(
                    f"paired= and groups= are for measure='distance': with measure={measure!r} row i of every variable "
                    "is one observation, and rows vary independently; leave them out, or give one row for each group"
                )
            found = _dependences(samples, tuple(names), nan_policy, cache, generator, measure, **settings, **told)
        found.about["rng"] = provenance
        return found

    def estimates(self) -> tuple[float, ...]:
        """How far the first is from each of the others, or how much it depends on it."""
        return tuple(map(float, self.deleted.estimates))

    def test(self, first: int, second: int, alternative: str, alpha: float, confidence: float) -> CloserResult:
        """Whether the first of the samples is nearer to one of the others, counted from 1, than to another."""
        from scipy.special import stdtr, stdtrit

        alternative = choice(alternative, ALTERNATIVES, "alternative")
        alpha, confidence = level(alpha), level(confidence, "confidence")
        nearer = (first - 1, second - 1) if self.measure == DISTANCE else (second - 1, first - 1)
        difference, error, freedom = self.deleted.difference(*nearer)
        notes = [*self.about["notes"], ASYMPTOTIC]
        fewest = min(self.counts[i] for i in (0, first, second))
        if fewest < FEW:
            notes.append(
                f"There are {fewest} {self.about['units']} only: how well the level holds with fewer than {FEW} is not "
                "known, and the p-value is a rough one."
            )
        if alternative != "two-sided" and uneven(self.counts[first], self.counts[second]):
            notes.append(UNEVEN.format(first=self.names[first], second=self.names[second], few=FEW_UNEVEN))
        statistic, pvalue, interval = float("nan"), 1.0, (float("nan"), float("nan"))
        if np.array_equal(self.values[first], self.values[second]):
            notes.append(SAME.format(first=self.names[first], second=self.names[second]))
        elif error == 0.0:
            notes.append(NO_ERROR)
        else:
            statistic = difference / error
            below, above = (float(stdtr(freedom, sign * statistic)) for sign in (1.0, -1.0))
            pvalue = {"less": below, "greater": above}.get(alternative, 2.0 * min(below, above))
            pvalue = min(1.0, max(pvalue, float(np.finfo(float).tiny)))
            share = confidence if alternative != "two-sided" else 0.5 + confidence / 2.0
            reach = float(stdtrit(freedom, share)) * error
            interval = (
                -np.inf if alternative == "less" else difference - reach,
                np.inf if alternative == "greater" else difference + reach,
            )
        values = self.estimates()
        sizes = self.about["n_observations"]
        return CloserResult(
            **{
                **self.about,
                "statistic": statistic,
                "pvalue": pvalue,
                "difference": difference,
                "error": error,
                "freedom": freedom,
                "interval": interval,
                "distances": (values[first - 1], values[second - 1]),
                "measure": self.measure,
                "alternative": alternative,
                "confidence": confidence,
                "alpha": alpha,
                "names": tuple(self.names[i] for i in (0, first, second)),
                "n_observations": sizes if len(sizes) == 1 else tuple(sizes[i] for i in (0, first, second)),
                "notes": tuple(dict.fromkeys(notes)),
            }
        )


def uneven(first: int, second: int) -> bool:
    """Whether sizes of two samples differ so much that one tail of the difference is heavier than the other."""
    few, many = sorted((first, second))
    return few < FEW_UNEVEN and many > TIMES * few


# --- distances ----------------------------------------------------------------------------------------------


def _distances(
    samples: Sequence[Any],
    names: tuple[str, ...],
    nan_policy: str,
    cache: KernelCache,
    generator: np.random.Generator,
    *,
    kernel: Any,
    bandwidth: Any,
    workers: int,
    paired: Any,
    groups: Any,
    scale: Any,
    column_types: Any,
    transform: Any,
) -> Closeness:
    if flag(paired, "paired") and groups is not None:
        raise ValueError("paired=True says that row i of every sample belong together; leave out groups=, or paired=")
    told = {"scale": scale, "column_types": column_types, "transform": transform}
    read = read_samples(samples, names, nan_policy, paired=paired, same_units=False, **told)
    pooled, sizes = np.vstack(read.values), read.sizes
    if np.ptp(pooled, axis=0).max() == 0.0:
        raise ValueError(f"{_all(names)} have the same values in every row, so that there is nothing to compare")
    _refuse_itself(read.values, names, "sample is nearest to")
    units, called = np.arange(len(pooled)), "rows"
    if paired:
        units, called = np.concatenate([np.arange(size) for size in sizes]), "matched rows"
    elif groups is not None:
        kept = np.concatenate(read.kept)
        given = tuple(map(len, read.kept))
        together = f"{_all(names)} together (or give a list, a vector for each)"
        labels = pooled_labels(groups, "groups", samples, names, given, together)
        units, called = label_codes(labels, "groups", kept), "groups"
    counts = tuple(np.unique(one).size for one in np.split(units, np.cumsum(sizes)[:-1]))
    for name, many in zip(names, counts, strict=True):
        _enough(name, many, called, FEWEST)
    places = places_of(np.concatenate(read.kept))
    variable = Variable(
        pooled, _all(names), read.scale, read.encoding, not is_unasked(scale), places, takes_row_numbers(kernel)
    )
    chosen = resolve(as_kernel(kernel, by_feature(bandwidth, read.encoding), "kernel"), variable, generator)
    require_in_range(chosen, pooled, variable.name, _LEAST)
    with np.errstate(over="ignore", invalid="ignore"):  # after which what rounding may have made is no number
        gram = cache(chosen, pooled).about_mean(cache.limits.memory, workers)
        deleted = distances(gram, sizes, units, workers)
    if not np.isfinite(deleted.rounding):
        raise ValueError(
            f"{variable.name}: squares of the values of {chosen!r} are beyond the range of numbers; multiply the data "
            "by a constant, or use scale='sd'"
        )
    notes = (*read.notes, *variable.notes(chosen), *reach_notes(chosen, pooled, variable.name), *_noted(gram))
    if paired and not variable.numbers:
        notes += _remembered(_of_pairs(read.values, names, read.encoding), BY_THINNING)
    elif not paired and groups is None:
        rows = variable.rows_of(*np.split(np.arange(len(pooled)), np.cumsum(sizes)[:-1]))
        notes += _remembered(rows.correlated("a sample"), BY_GROUPS)
    about = {
        "kernel": chosen,
        "bandwidth": getattr(chosen, "bandwidth", None),
        "route": gram.name,
        "units": called,
        "n_observations": sizes,
        "columns": (read.columns,),
        "notes": notes,
    }
    return Closeness(deleted, DISTANCE, names, read.values, counts, about)


def _of_pairs(values: Sequence[np.ndarray], names: Sequence[str], encoding: Any) -> SerialCorrelation | None:
    """The memory of what the first of matched samples and another differ by, of the one that has most of it."""
    return strongest(
        OrderedRows.of([values[0] - one], encoding).correlated(f"what {names[0]} and {name} differ by")
        for one, name in zip(values[1:], names[1:], strict=True)
    )


# --- dependences --------------------------------------------------------------------------------------------


def _dependences(
    variables: Sequence[Any],
    names: tuple[str, ...],
    nan_policy: str,
    cache: KernelCache,
    generator: np.random.Generator,
    measure: str,
    *,
    kernel: Any,
    bandwidth: Any,
    workers: int,
    **told: Any,
) -> Closeness:
    read = read_variables(variables, names, nan_policy, **told)
    rows = len(read.values[0])
    _enough(_all(names), rows, "rows", FEWEST_ROWS)
    found = variables_of(read, names, said=not is_unasked(told["scale"]))
    for one in found:
        if np.ptp(one.points, axis=0).max() == 0.0:
            raise ValueError(f"{one.name} has the same value in every row, so that nothing depends on it")
    kernels, widths = _one_each(kernel, len(found), "kernel"), _one_each(bandwidth, len(found), "bandwidth")
    found = tuple(replace(one, numbers=takes_row_numbers(k)) for one, k in zip(found, kernels, strict=True))
    chosen = tuple(
        resolve(as_kernel(k, by_feature(width, one.encoding), "kernel"), one, generator)
        for k, width, one in zip(kernels, widths, found, strict=True)
    )
    values = tuple(k(one.points) if one.numbers else one.points for k, one in zip(chosen, found, strict=True))
    _refuse_itself(values, names, "variable depends most on")
    request = Request(kernels=len(found), large=300, rank=100, work="pairs")
    evaluated = [cache(k, one.points, request) for k, one in zip(chosen, found, strict=True)]
    with np.errstate(divide="ignore", invalid="ignore"):
        deleted = dependences(evaluated, normalised=measure == DEPENDENCE, workers=workers)
    lost = ~np.isfinite(np.vstack([deleted.estimates, deleted.without])).all(axis=0)
    if lost.any():
        which = names[0] if lost.all() else names[1 + int(lost.argmax())]
        raise ValueError(
            f"{which} hardly varies: without one of its rows nothing is left of its variance, by which the dependence "
            "is divided; compare other variables, or use measure='hsic'"
        )
    notes = (
        *read.notes,
        *(note for one, k in zip(found, chosen, strict=True) for note in one.notes(k)),
        *(note for one, k in zip(found, chosen, strict=True) for note in reach_notes(k, one.points, one.name)),
        *(note for one in evaluated for note in _noted(one)),
        *_remembered(_of_dependences(found), BY_ROWS_APART),
    )
    about = {
        "kernel": chosen,
        "bandwidth": tuple(getattr(k, "bandwidth", None) for k in chosen),
        "route": evaluated[0].name,
        "units": "rows",
        "n_observations": (rows,),
        "columns": read.columns,
        "notes": notes,
    }
    return Closeness(deleted, measure, names, values, (rows,) * len(names), about)


def _of_dependences(variables: Sequence[Variable]) -> SerialCorrelation | None:
    """The memory of the first variable and of another, of the two that have most of it, where both have some."""
    first, *others = variables
    return strongest(joint_correlation([first.series, one.series], [first.name, one.name]) for one in others)


# --- both ---------------------------------------------------------------------------------------------------


def _all(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _enough(name: str, many: int, what: str, fewest: int) -> None:
    if many < fewest:
        raise ValueError(
            f"{name}: {counted(many, what.removesuffix('s'))}; the standard error comes from leaving out one at a "
            f"time, which takes at least {fewest} (and says little with fewer than {FEW})"
        )


def _refuse_itself(values: Sequence[np.ndarray], names: Sequence[str], most: str) -> None:
    """Raise ValueError where the first is one of the others."""
    for one, name in zip(values[1:], names[1:], strict=True):
        if np.array_equal(values[0], one):
            raise ValueError(
                f"{names[0]} and {name} hold the same rows, and a {most} itself; give data that were observed or drawn "
                "separately"
            )


def by_feature(width: Any, encoding: Any) -> Any:
    """A bandwidth by names of columns as one for every column of numbers."""
    if encoding is not None:
        return encoding.by_feature(width, "bandwidth")
    if hasattr(width, "keys"):
        raise ValueError(
            "bandwidth has names of columns, which arrays do not have: give tables, or one number per column in their "
            "order"
        )
    return width


def _one_each(given: Any, count: int, name: str) -> list[Any]:
    if not isinstance(given, list):
        return [given] * count
    if len(given) != count:
        raise ValueError(f"{name} has {len(given)} entries for {count} variables; give one for each, or one for all")
    return given


def _remembered(found: SerialCorrelation | None, advice: str) -> tuple[str, ...]:
    """What a reader should know where rows that are taken as independent are not."""
    return () if found is None else (found.note(advice, WRONG_ERRORS),)


def _noted(gram: Features) -> tuple[str, ...]:
    """What a reader should know of how a kernel was evaluated; the level is not that of a permutation test."""
    return () if gram.note is None else (f"{gram.note.partition(';')[0]}.",)
