"""Whether the difference of two samples, or the dependence of two variables, is below a margin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._check import as_rng, choice, count, counted, rng_provenance
from shrinktest._parallel import memory_limit, n_workers
from shrinktest.effects.distance import NORMS
from shrinktest.effects.inner_products import never_negative
from shrinktest.effects.interval import FEWEST, Estimate
from shrinktest.effects.separability import Area
from shrinktest.estimators import as_estimator
from shrinktest.hypotheses.again import Again
from shrinktest.hypotheses.base import Hypothesis
from shrinktest.hypotheses.closeness import by_feature
from shrinktest.hypotheses.effects import MEASURED, apart, bound
from shrinktest.hypotheses.equality import TwoEqualDistributions
from shrinktest.hypotheses.independence import Independence
from shrinktest.hypotheses.margins import Margin, scale_of
from shrinktest.hypotheses.rare import said_of_samples
from shrinktest.kernels import Kernel, as_kernel
from shrinktest.kernels.bandwidths import largest_distance
from shrinktest.permutations.memory import BY_GROUPS, BY_THINNING, WRONG_ERRORS
from shrinktest.results.equivalence import AUC, DEPENDENCE, DISTANCE, EquivalenceResult
from shrinktest.results.result import FOLDS
from shrinktest.statistics.kernel_cache import KernelCache, Limits

POLICIES = ("raise", "omit", "indicator")

MANY_GAPS = 1.0 / 3.0  # share of the values of a column, in both samples

ASYMPTOTIC = (
    "The p-value and the upper limit are asymptotic, and hold for the kernel as it is, bandwidth included: another "
    "kernel sees other differences."
)
ATTAINED = (
    "The separability is what a witness function attains that was fitted to {fitted} rows: a small p-value says "
    "that such a function tells X and Y apart less well than the margin, and not that no function does better."
)
NO_BLOCK = (
    "No block holds two observations or more of both samples, so that nothing was compared, and the p-value is 1: use "
    "larger blocks."
)
NOTHING = "These data have no variance, and so there is no upper limit: nothing was shown, and the p-value is 1."


@dataclass(frozen=True, eq=False)
class Equivalence:
    """An estimate of the difference of two samples, or of the dependence of two variables, beside its margin."""

    estimate: Estimate | Area
    margin: float
    about: dict[str, Any]  # what a result says of both

    @classmethod
    def read(
        cls,
        X: Any,
        Y: Any,
        names: Sequence[str],
        *,
        on: Any,
        margin: Any,
        estimator: Any,
        kernel: Any,
        bandwidth: Any,
        folds: Any,
        paired: Any,
        nan_policy: str,
        rng: Any,
        workers: Any,
        gram: str,
        rank: int | None,
        max_memory: Any,
        **told: Any,
    ) -> Equivalence:
        """The estimate of data as users give them; raises for what cannot be compared."""
        on = scale_of(on)
        wanted = Margin.read(margin, on)
        choice(nan_policy, POLICIES, "nan_policy")
        given, generator = folds is not None, as_rng(rng)
        folds = count(folds if given else FOLDS, "folds", minimum=2)
        if estimator is not None and on != AUC:
            raise ValueError(
                f"estimator= is for scale='auc', whose witness function it fits; with scale={on!r} the estimate is "
                "unbiased, and shrinkage would make differences look smaller: leave it out"
            )
        if given and on != AUC:
            raise ValueError(
                f"folds= is for scale='auc', whose witness function is fitted to all folds but one; scale={on!r} has "
                "none: leave it out"
            )
        about: dict[str, Any] = {"rng": rng_provenance(generator), "scale": on, "margin_words": wanted.words}
        hypothesis = _read(X, Y, tuple(names), on, paired, nan_policy, told)
        _refuse(hypothesis, tuple(names), on)
        fitted = as_estimator("kme" if estimator is None else estimator)
        chosen = _kernels(kernel, bandwidth, hypothesis)
        hypothesis = hypothesis.compared_by(chosen if isinstance(chosen, tuple) else (chosen,))
        cache = KernelCache(Limits(gram, rank, memory_limit(max_memory), generator))
        form = hypothesis.described(fitted, "auto")["form"]
        resolved = hypothesis.resolved(chosen, generator)
        prepared = hypothesis.prepare(fitted, resolved, form, cache, n_workers(workers))
        again = hypothesis.again((hypothesis.member(fitted, prepared, form),))
        found, notes = _estimated(again, on, folds, generator, tuple(names))
        value, said = wanted.found(again, on, folds, generator, cache.limits.memory)
        if on == DISTANCE:
            _require_reach(again, value)
        remarks = (*_of_gaps(hypothesis, tuple(names)), *_of_memory(hypothesis))
        routes = (
            note.partition(";")[0] + "." for note in prepared.notes if note.startswith("The statistic is that of")
        )
        kernels = resolved if isinstance(resolved, tuple) else (resolved,)
        widths = tuple(getattr(one, "bandwidth", None) for one in kernels)
        about |= {
            "kernel": resolved,
            "bandwidth": widths if isinstance(resolved, tuple) else widths[0],
            "route": prepared.route,
            "names": tuple(names),
            "n_observations": hypothesis.sizes,
            "columns": hypothesis.labels()["columns"],
            "notes": (*hypothesis.notes(resolved), *remarks, *routes, *notes, *said, ASYMPTOTIC),
            "estimator": None if on != AUC else fitted,
            "folds": min(folds, *found.units) if isinstance(found, Area) else None,
        }
        return cls(found, value, about)

    def test(self, alpha: float) -> EquivalenceResult:
        """Whether the difference is below the margin."""
        z, pvalue = self.estimate.below(self.margin)
        upper = self.estimate.interval(1.0 - 2.0 * alpha)[1]
        notes = self.about["notes"]
        if np.isnan(pvalue):
            found = self.estimate
            alone = np.isnan(found.value) if isinstance(found, Area) else found.units == 0
            said = NO_BLOCK if alone else NOTHING
            z, pvalue, upper, notes = float("nan"), 1.0, float("nan"), (*notes, said)
        pvalue = min(1.0, max(pvalue, float(np.finfo(float).tiny)))
        return EquivalenceResult(
            **{
                **self.about,
                "statistic": z,
                "pvalue": pvalue,
                "estimate": float(self.estimate.value),
                "upper": upper,
                "margin": self.margin,
                "alpha": alpha,
                "notes": tuple(dict.fromkeys(notes)),
            }
        )


# --- reading ------------------------------------------------------------------------------------------------


def _read(
    X: Any, Y: Any, names: tuple[str, ...], scale: str, paired: Any, nan_policy: str, told: dict[str, Any]
) -> Hypothesis:
    if scale != DEPENDENCE:
        options = {"nan_policy": nan_policy, "paired": paired, "exchanges": False, **told}
        return TwoEqualDistributions.read(X, Y, called=names, **options)
    if paired is not False:
        raise ValueError(
            "paired= is for samples; with scale='dependence' row i of X and row i of Y belong together: leave it out"
        )
    return Independence.read(X, Y, nan_policy=nan_policy, **told)


def _of_memory(hypothesis: Hypothesis) -> tuple[str, ...]:
    """What a reader should know where rows that are taken as independent are not."""
    found = hypothesis.memory()
    restriction = getattr(hypothesis, "restriction", None)
    advice = BY_THINNING if restriction is not None and restriction.paired else BY_GROUPS
    return () if found is None else (found.note(advice, WRONG_ERRORS),)


def _of_gaps(hypothesis: Hypothesis, names: tuple[str, ...]) -> tuple[str, ...]:
    """What a reader should know where many rows of both samples are alike, because they miss the same value."""
    encoding = hypothesis.variables[0].encoding
    if encoding is None or not isinstance(hypothesis, TwoEqualDistributions):
        return ()
    found = []
    for code, group in zip(encoding.codes, encoding.groups, strict=True):
        if code.indicated:
            gone = np.split(hypothesis.pooled[:, group.stop - 1] != 0.0, [hypothesis.sizes[0]])
            shares = [float(part.mean()) for part in gone]
            if min(shares) >= MANY_GAPS:
                called = repr(code.name) if encoding.named else code.name
                each = " and ".join(f"{share:.0%} of {name}" for share, name in zip(shares, names, strict=True))
                found.append(f"column {called} ({each})")
    if not found:
        return ()
    return (
        f"Values are missing in {', '.join(found)}: rows that miss a value are alike, and the answer is about the "
        "columns with their gaps. nan_policy='omit' compares what is there.",
    )


def _refuse(hypothesis: Hypothesis, names: tuple[str, ...], scale: str) -> None:
    """Raise ValueError for data that say nothing of how different they are."""
    both = " and ".join(names)
    for name, variable in zip(names if scale == DEPENDENCE else (both,), hypothesis.variables, strict=True):
        if np.ptp(variable.points, axis=0).max() == 0.0:
            has = "has the same value" if name in names else "have the same values"
            raise ValueError(f"{name} {has} in every row, so that there is nothing to compare")
    if scale == DEPENDENCE:
        values = [one.points for one in hypothesis.variables]
    else:
        values = np.split(hypothesis.variables[0].points, [hypothesis.sizes[0]])
    if scale != DEPENDENCE and np.array_equal(values[0], values[1]):
        raise ValueError(
            f"{both} hold the same rows, which are equivalent whatever they were drawn from; give data that were "
            "observed or drawn separately"
        )


def _require_reach(again: Again, margin: float) -> None:
    """Raise ValueError if no two distributions on the pooled rows could differ by the margin."""
    kernel = again.leading.kernel
    assert isinstance(kernel, Kernel)
    if never_negative(kernel) and (largest := largest_distance(kernel, again.pooled)) < margin:
        raise ValueError(
            f"margin={margin:.3g} cannot be reached: with this bandwidth, no two distributions on these rows differ by "
            f"more than {largest:.2g}; give a smaller bandwidth or margin"
        )


def _kernels(kernel: Any, bandwidth: Any, hypothesis: Hypothesis) -> Any:
    """The kernel, or one for each variable, not resolved yet."""
    several = len(hypothesis.variables) > 1
    each = zip(
        *(_one_each(given, several, name) for given, name in ((kernel, "kernel"), (bandwidth, "bandwidth"))),
        hypothesis.variables,
        strict=True,
    )
    found = tuple(as_kernel(k, by_feature(width, variable.encoding), "kernel") for k, width, variable in each)
    return found if several else found[0]


def _one_each(given: Any, several: bool, name: str) -> list[Any]:
    if not isinstance(given, list):
        return [given] * (2 if several else 1)
    if not several:
        raise ValueError(f"{name} must be one, because a margin is about one kernel; got a list of {len(given)}")
    if len(given) != 2:
        raise ValueError(f"{name} has {len(given)} entries for 2 variables; give one for each, or one for both")
    return given


# --- estimates ----------------------------------------------------------------------------------------------


def _estimated(
    again: Again, scale: str, folds: int, rng: np.random.Generator, names: tuple[str, ...]
) -> tuple[Estimate | Area, tuple[str, ...]]:
    """The estimate on a scale, and notes on it; raises ValueError for too few units."""
    restriction = again.hypothesis.restriction  # type: ignore[attr-defined]  # these two have one
    if scale == DEPENDENCE:
        _enough(
            again.sizes[0] if restriction.groups is None else np.unique(restriction.groups).size, names, restriction
        )
        return bound(again, restriction)
    if restriction.groups is None:
        fewest = min(again.sizes)
    else:
        parts = np.split(restriction.groups, [again.sizes[0]])
        fewest = min(np.unique(part).size for part in parts)
    _enough(fewest, names, restriction)
    ((area, away, relative_to, notes),) = apart(again, restriction, [(0, 1)], folds, rng, scored=scale == AUC)
    if scale == DISTANCE:
        if relative_to != NORMS:
            notes += (
                "With this kernel the distance is relative to the variance: the share of the variance in feature space "
                "that lies between the samples.",
            )
        return away, (*notes, *said_of_samples(again, restriction, (0, 1), names))
    many = [size - -(-size // min(folds, fewest)) for size in again.sizes]
    return area, (*notes, ATTAINED.format(fitted=f"{many[0]} + {many[1]}"))


def _enough(units: int, names: tuple[str, ...], restriction: Any) -> None:
    if units < FEWEST:
        what = "group" if restriction.groups is not None else "pair" if restriction.paired else "row"
        raise ValueError(
            f"{' and '.join(names)}: there is a sample with {counted(units, what)}; an upper limit takes at least "
            f"{FEWEST} in each (and how often it holds was measured from {MEASURED} on)"
        )
