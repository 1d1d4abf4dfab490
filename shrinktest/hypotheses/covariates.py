"""Two samples that have one distribution given covariates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import choice, counted
from shrinktest._read import XY, read_samples
from shrinktest.conditional.given import (
    all_labels,
    crossed,
    refuse_cut,
    refuse_indicated,
    refuse_tested,
    values_of,
    with_labels,
)
from shrinktest.conditional.propensity import fitted_odds, known_odds
from shrinktest.hypotheses.again import Again, EffectOptions
from shrinktest.hypotheses.equality import TwoEqualDistributions
from shrinktest.hypotheses.given import LESS_MEANS, GivenOthers, distilled, less_means
from shrinktest.permutations.base import Permutations
from shrinktest.permutations.design import PermutationDesign
from shrinktest.permutations.schemes import LabelsByChance
from shrinktest.permutations.serial_correlation import BY_COVARIATES
from shrinktest.results.effect import TwoSampleEffect
from shrinktest.results.kinds import BY_PROPENSITY, NO_EFFECT_BY_PROPENSITY
from shrinktest.tables.aligned import at_least_two_rows, check_same_index
from shrinktest.tables.column import DROP
from shrinktest.tables.pooled import UNASKED, checked_types, is_unasked
from shrinktest.tables.reading import names_for, names_in

METHODS = ("auto", "strata", "propensity")


@dataclass(frozen=True, eq=False, kw_only=True)
class TwoGivenCovariates(GivenOthers, TwoEqualDistributions):
    """Two samples have one distribution given covariates, so that rows of one stratum may change samples."""

    in_time: ClassVar[str] = BY_COVARIATES


@dataclass(frozen=True, eq=False, kw_only=True)
class TwoByPropensity(TwoGivenCovariates):
    """The same, where every row has a chance of its own to be in the second sample."""

    odds: np.ndarray  # (N,): logarithms of the odds to be in the second

    def _allowed(self, n_resamples: float, alpha: float) -> Permutations:
        first, second = self.sizes
        return LabelsByChance((first, second), self.odds)

    def effect(self, again: Again, options: EffectOptions) -> TwoSampleEffect:  # type: ignore[override]  # of these two
        """None that is adjusted."""
        raise ValueError(NO_EFFECT_BY_PROPENSITY)


def read_with_covariates(
    X: Any,
    Y: Any,
    covariates: Any,
    *,
    covariate_method: str,
    propensity: Any,
    nan_policy: str,
    blocks: Any = None,
    paired: Any = False,
    groups: Any = None,
    shift: Any = None,
    own: Any = None,
    scale: Any = UNASKED,
    called: tuple[str | None, ...] = (),
    **told: Any,
) -> TwoGivenCovariates:
    """The hypothesis about two samples as users give them, with the method that goes with their covariates.

    ``covariates`` are a pair, of X and of Y, and ``propensity`` is a classifier, or chances that are known; the other
    arguments are those of :meth:`TwoEqualDistributions.read`.
    """
    for name, given in (("paired", paired or None), ("shift", shift), ("permutations", own)):
        if given is not None:
            raise ValueError(f"{name}= and covariates= both say which rows may change samples; leave one of them out")
    if not isinstance(covariates, tuple | list) or len(covariates) != 2:
        raise ValueError("covariates must be a pair, (those of the rows of X, those of the rows of Y)")
    names = names_for((X, Y), XY, called)
    names_of_z = tuple(f"covariates of {name}" for name in called or XY)
    told_by_row = {"covariates": covariates}
    if isinstance(propensity, tuple | list) and len(propensity) == 2:
        told_by_row["propensity"] = propensity
    for argument, pair in told_by_row.items():
        for i, (one, sample) in enumerate(zip(pair, (X, Y), strict=True)):
            check_same_index(sample, one, names[i], f"{argument}[{i}]")
    known_or_labels = [with_labels(one, name) for one, name in zip(covariates, names_of_z, strict=True)]
    types, told["column_types"] = _types_of(known_or_labels, (X, Y), told.get("column_types"))
    given = read_samples(known_or_labels, names_of_z, nan_policy, scale=UNASKED, labels=True, column_types=types)
    learns = callable(propensity) or hasattr(propensity, "fit") or hasattr(propensity, "predict_proba")
    known = propensity is not None and not learns
    if not known:  # chances that are known are those of rows that miss covariates, too
        for name, values in zip(names_of_z, given.values, strict=True):
            refuse_indicated(given.encoding, values, name)
    there = given.kept
    if given.missing:
        there = tuple(np.logical_not(np.isnan(values).any(axis=1)) for values in given.values)
    told |= {"blocks": blocks, "groups": groups, "scale": scale, "covariates": there}
    read = read_samples((X, Y), names, nan_policy, **told)
    refuse_tested(read.observed, given.observed[0], "covariates")
    told_of_them = (note for note in given.notes if "missing" in note or "is left out" in note)
    read = replace(read, notes=(*read.notes, *told_of_them))
    kept = np.concatenate(read.kept)
    z = np.vstack(given.values)[kept[np.concatenate(given.kept)]]
    said = not is_unasked(scale)

    def found(kind: type[Any], **options: Any) -> Any:
        hypothesis = kind._of(read, " and ".join(names), said, called=called, **options)
        variable, of_units = hypothesis.variables[0].in_units()
        return replace(hypothesis, variables=(variable,), remarks=(*hypothesis.remarks, *of_units))

    if covariate_method == "auto":
        labels = all_labels(given.encoding) and propensity is None
        covariate_method = "strata" if labels else "propensity"
    if covariate_method == "strata":
        if propensity is not None:
            raise ValueError("propensity= is a method by itself; leave out covariate_method='strata', or propensity=")
        method = "permutations within strata"
        assumption = (
            "the p-value is exact if rows with the same covariates are independent of each other; nothing else is "
            "assumed."
        )
        hypothesis = found(TwoGivenCovariates, method=method, assumption=assumption)
        return hypothesis if hypothesis.missing else _within(hypothesis, z, names)
    if read.restriction:
        raise ValueError(
            "blocks= and groups= say which rows may change samples, and so do chances to be in one; use "
            "covariate_method='strata', or leave them out"
        )
    if known:
        odds = known_odds(propensity, tuple(map(len, read.kept)))[kept]
        assumption = (
            "the p-value is exact if every row was put into the second sample with the chance that propensity= says."
        )
    else:
        odds = np.zeros(len(z)) if read.missing else fitted_odds(z, read.sizes, propensity)
        by = "a logistic regression" if propensity is None else repr(propensity)
        assumption = (
            f"the p-value is approximately valid if {by} on the covariates has the form of the chance of a row to be "
            f"in {(called or XY)[1]}, and all that matters for it is among the covariates."
        )
    hypothesis = found(TwoByPropensity, method=BY_PROPENSITY, assumption=assumption, odds=odds)
    if hypothesis.missing:
        return hypothesis
    left = distilled(hypothesis.variables[0], z, "the samples")
    note = "Kernels compare the residuals of the samples after a regression on the covariates, without labels."
    remarks = (*hypothesis.remarks, note) if left is not hypothesis.variables[0] else hypothesis.remarks
    return replace(hypothesis, variables=(left,), remarks=remarks)


def _types_of(covariates: Sequence[Any], samples: Sequence[Any], column_types: Any) -> tuple[Any, Any]:
    """How to read the columns of the covariates, and those of the samples, which may drop what they have in common."""
    if column_types is None:
        return None, None
    types = checked_types(column_types)
    own, others = ({name for x in given for name in names_in(x)} for given in (covariates, samples))
    return (
        {key: kind for key, kind in types.items() if key in own and not (kind == DROP and key in others)},
        {key: kind for key, kind in types.items() if key not in own or key in others},
    )


def _within(hypothesis: TwoGivenCovariates, z: np.ndarray, names: Sequence[str]) -> TwoGivenCovariates:
    """Permutations within the values of the covariates that both samples have."""
    restriction, first = hypothesis.restriction, hypothesis.sizes[0]
    codes = crossed(values_of(z), restriction.blocks)
    refuse_cut(restriction.groups, codes, "covariates")
    second = np.arange(len(codes)) >= first
    count = int(codes.max()) + 1
    both = (np.bincount(codes[~second], minlength=count) > 0) & (np.bincount(codes[second], minlength=count) > 0)
    kept = both[codes]
    if not kept.any():
        raise ValueError(
            "covariates: no value occurs in both samples, so that no row can change samples; use fewer and larger "
            "strata, or covariate_method='propensity' for numbers"
        )
    for own, name in zip((~second, second), names, strict=True):
        at_least_two_rows(int(kept[own].sum()), name, kept[own], "with covariates that the other sample does not have")
    notes: tuple[str, ...] = ()
    if not kept.all():
        lonely = int((~kept).sum())
        have, carry, are = ("has", "carries", "is") if lonely == 1 else ("have", "carry", "are")
        notes = (
            f"{counted(lonely, 'row')} of {len(kept)} {have} covariates that the other sample does not have, {carry} "
            f"no information, and {are} left out.",
        )
    only, strata = hypothesis.variables[0], np.unique(codes[kept], return_inverse=True)[1]
    only = less_means(only.only(kept), strata, "covariates")
    return replace(
        hypothesis,
        variables=(only,),
        sizes=(int((kept & ~second).sum()), int((kept & second).sum())),
        restriction=PermutationDesign(
            blocks=strata,
            groups=None if restriction.groups is None else restriction.groups[kept],
        ),
        remarks=(*hypothesis.remarks, *notes, LESS_MEANS),
    )


def check_asked(covariates: Any, covariate_method: Any, propensity: Any) -> None:
    """Raise ValueError for a method that there is not, and for what says what to do about covariates without any."""
    choice(covariate_method, METHODS, "covariate_method")
    for name, asked in {"covariate_method": covariate_method != "auto", "propensity": propensity is not None}.items():
        if asked and covariates is None:
            raise ValueError(f"{name}= says what to do about covariates, and there are none; give covariates= as well")
