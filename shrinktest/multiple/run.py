"""Run a test of a hypothesis: with one estimator and kernel, with several combined, or several tests side by side."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from shrinktest._check import as_rng, rng_provenance
from shrinktest._parallel import kernel_progress, single_blas_thread
from shrinktest.estimators import as_estimator
from shrinktest.hypotheses.base import Hypothesis, resolve
from shrinktest.hypotheses.context import FittedStatistic
from shrinktest.hypotheses.settings import Settings
from shrinktest.kernels import Kernel, as_kernel
from shrinktest.kernels.distance import DistanceKernel
from shrinktest.kernels.pooled import PooledKernel
from shrinktest.multiple.aggregation import aggregated, refuse_stopping, together
from shrinktest.multiple.ensembles import Ensemble, KernelSpec, collect, is_several, spares
from shrinktest.multiple.stack import stacked
from shrinktest.notes import Note
from shrinktest.permutations.base import Draws
from shrinktest.permutations.null import Null
from shrinktest.results.conclude import conclude, is_shrunk, of_rounding, warn_too_few
from shrinktest.results.multiple import factor_of
from shrinktest.results.result import TestResult
from shrinktest.statistics.kernel_cache import KernelCache


class Resolved:
    """Kernels with their bandwidths found on the data, every distinct kernel of a variable once.

    With ``fresh`` every call resolves anew, for kernels whose coordinates are drawn for each of them.
    """

    def __init__(self, rng: np.random.Generator, *, fresh: bool) -> None:
        self.rng, self.fresh = rng, fresh
        self._known: list[tuple[np.ndarray, Kernel, Kernel]] = []

    def __call__(self, hypothesis: Hypothesis, kernel: Any) -> Any:
        """The kernel, or the tuple with one for every variable."""
        if not isinstance(kernel, tuple):
            return self.one(hypothesis, 0, kernel)
        return tuple(self.one(hypothesis, v, one) for v, one in enumerate(kernel))

    def one(self, hypothesis: Hypothesis, v: int, kernel: Kernel) -> Kernel:
        """The kernel of one variable."""
        variable = hypothesis.variables[v]
        for points, asked, resolved in self._known:
            if points is variable.points and not self.fresh and (asked is kernel or asked == kernel):
                return resolved
        before = hypothesis.found_before(kernel, v)
        resolved = before or resolve(self._by_shared(hypothesis, v, kernel), variable, self.rng)
        self._known.append((variable.points, kernel, resolved))
        return resolved

    def _by_shared(self, hypothesis: Hypothesis, v: int, kernel: Kernel) -> Kernel:
        """A kernel with what it takes of another, its features or its bandwidth, from that one, resolved once for all.

        Not in units of the columns, which are found with each kernel.
        """
        if self.fresh or hypothesis.variables[v].scale is not None:
            return kernel
        if isinstance(kernel, PooledKernel):
            return replace(kernel, kernel=self.one(hypothesis, v, kernel.kernel))
        if isinstance(kernel, DistanceKernel) and kernel.multiple:
            factor, by_rule = kernel.multiple
            found = cast(DistanceKernel, self.one(hypothesis, v, by_rule))
            return replace(kernel, bandwidth=factor * cast(float, found.bandwidth))
        return kernel


_NEGATIVE = 1e4  # times what counts as a tie, 1e-10 of the terms that cancel
_ROUNDING = 1e-12  # of the kernel's values
_NAMED = 5  # tests at most that a note on some of many names


def run(
    hypothesis: Hypothesis,
    estimator: Any,
    asked: Sequence[KernelSpec],
    settings: Settings,
    rng: Any,
) -> TestResult:
    """Test a hypothesis with what was asked for: one estimator with its kernels, or a combination of several.

    ``estimator`` and, for every variable, ``asked`` are as users give them; ``rng`` is seed or source of the
    permutations.
    """
    generator = as_rng(rng)
    asked = [one.by_feature(variable.encoding) for one, variable in zip(asked, hypothesis.variables, strict=True)]
    hypothesis = hypothesis.compared_by([one.kernel for one in asked])
    common: dict[str, Any] = {
        "test": hypothesis.kind.name,
        "n_observations": hypothesis.n_observations,
        "alpha": settings.alpha,
        "rng": rng_provenance(generator),
        **hypothesis.labels(),
    }
    if is_several(estimator, asked):
        ensemble = collect(
            estimator, asked, hypothesis.variables, generator, hypothesis.kind.name, hypothesis.n_observations,
            paired=hypothesis.paired,
        )  # fmt: skip
        spare = spares(estimator, hypothesis.kind.name)
        return _combined(hypothesis, ensemble, settings, generator, common, spare=spare)
    one = as_estimator(estimator)
    kernels = tuple(as_kernel(each.kernel, each.bandwidth, each.name) for each in asked)
    kernel = kernels if len(kernels) > 1 else kernels[0]
    described = hypothesis.described(one, settings.form)
    if hypothesis.missing:
        return conclude(None, kernel=kernel, **described, **common)
    permutations = hypothesis.permutations(settings.n_resamples, settings.alpha)
    cache = KernelCache(settings.limits(generator))
    with single_blas_thread(sum(hypothesis.n_observations)):
        with kernel_progress(settings.progress):
            resolved = hypothesis.resolved(kernel, generator)
            prepared = hypothesis.prepare(one, resolved, described["form"], cache, settings.workers)
        member = hypothesis.member(one, prepared, described["form"])
        draws = Draws.of(permutations, settings.n_resamples, generator)
        context = hypothesis.context((member,), draws)
        how: dict[str, Any] = {"workers": settings.workers, "progress": settings.progress}
        null = prepared.null(draws, stopping=settings.stopping, **how)
    _require_kernel(null, described["form"], prepared.kernel, hypothesis)
    told = {**prepared.about(hypothesis.notes(prepared.kernel)), **described, **common, "context": context}
    result = conclude(null, restriction=permutations.restriction, **told)
    return _concluded(hypothesis, result, member, cache, generator)


def _combined(
    hypothesis: Hypothesis,
    ensemble: Ensemble,
    settings: Settings,
    generator: np.random.Generator,
    common: dict[str, Any],
    *,
    spare: bool,
) -> TestResult:
    """Every member of an ensemble on the same permutations, and what they say together.

    What is kept of a member is its statistic over the permutations; Gram matrices only as long as there is room.  With
    ``spare``, members that take more memory than there is are left out.
    """
    refuse_stopping(settings.stopping)
    members = ensemble.members
    described = [hypothesis.described(member.estimator, settings.form) for member in members]
    if hypothesis.missing:
        nothing = (conclude(None, kernel=m.kernel, **d, **common) for m, d in zip(members, described, strict=True))
        return aggregated(ensemble, (), tuple(nothing), **common)
    # kernels draw first, from a source of their own: permutations must not depend on what a statistic was made of
    for_kernels = beside(generator, 1)
    draws = Draws.of(hypothesis.permutations(settings.n_resamples, settings.alpha), settings.n_resamples, generator)
    cache = KernelCache(settings.limits(for_kernels))
    resolved = Resolved(for_kernels, fresh=cache.limits.random)
    common["restriction"] = draws.permutations.restriction
    found, left_out = _nulls(hypothesis, ensemble, described, settings, cache, resolved, draws, spare=spare)
    used = [i for i, one in enumerate(found) if one is not None]
    there = [one for one in found if one is not None]
    nulls = [one.null for one in there]
    results = [
        conclude(one.null, warn=False, **one.about, **described[i], **common)
        for i, one in zip(used, there, strict=True)
    ]
    warn_too_few(nulls[0].values.size + (not nulls[0].exact), settings.alpha, exact=nulls[0].exact)
    kept_members = Ensemble([members[i] for i in used]) if left_out else ensemble
    common["context"] = hypothesis.context(tuple(one.member for one in there), draws)
    result = aggregated(kept_members, tuple(nulls), tuple(results), notes=left_out, **common)
    return _concluded(hypothesis, result, there[result.decided].member, cache, generator)


def _concluded(
    hypothesis: Hypothesis,
    result: TestResult,
    member: FittedStatistic,
    cache: KernelCache,
    generator: np.random.Generator,
) -> TestResult:
    """The result with what the hypothesis says besides, by random numbers apart from those of the test."""
    found: TestResult = hypothesis.concluded(result, member, cache, setup_generator(generator))
    more = [note for note in hypothesis.serial_notes() if note not in found.notes]
    return replace(found, notes=(*found.notes, *more)) if more else found


@dataclass(frozen=True, eq=False)
class _Found:
    """What was found of a member: its null distribution, what a result says of it, and how to compute it again."""

    null: Null
    about: dict[str, Any]
    member: FittedStatistic


def _nulls(
    hypothesis: Hypothesis,
    ensemble: Ensemble,
    described: Sequence[dict[str, Any]],
    settings: Settings,
    cache: KernelCache,
    resolved: Resolved,
    draws: Draws,
    *,
    spare: bool,
) -> tuple[list[_Found | None], tuple[str, ...]]:
    """For every member what was found, and notes on those that are left out."""
    members = ensemble.members
    found: list[_Found | None] = [None] * len(members)
    without: list[str] = []
    order = range(len(members)) if cache.limits.random else _by_kernel([member.kernel for member in members])
    for left, i in enumerate(order, start=1):
        estimator, form = members[i].estimator, described[i]["form"]
        try:
            with single_blas_thread(sum(hypothesis.n_observations)):
                with kernel_progress(settings.progress):
                    kernel = resolved(hypothesis, members[i].kernel)
                    prepared = hypothesis.prepare(estimator, kernel, form, cache, settings.workers)
                null = prepared.null(draws, workers=settings.workers, progress=settings.progress)
        except MemoryError as error:
            if not spare or (left == len(members) and not any(found)):
                raise
            without.append(f"{members[i].kernel!r} is left out of the combination: {error}")
            continue
        _require_kernel(null, form, prepared.kernel, hypothesis)
        about = prepared.about(hypothesis.notes(prepared.kernel))
        found[i] = _Found(null, about, hypothesis.member(estimator, prepared, form, members[i].weight))
    return found, tuple(without)


def _by_kernel(kernels: list[Any]) -> list[int]:
    """The places of kernels, those of equal ones side by side."""
    return sorted(range(len(kernels)), key=lambda i: kernels.index(kernels[i]))


def run_side_by_side(
    hypotheses: Sequence[Hypothesis],
    estimator: Any,
    asked: Sequence[Sequence[KernelSpec]],
    settings: Settings,
    generator: np.random.Generator,
    method: str,
) -> tuple[list[Null | str], dict[str, Any]]:
    """The null distributions of several tests, or why one of them cannot be made, and what a result says of all.

    If none can be made, the first error is raised.  Each is on permutations from a generator in the same state; of
    several estimators it is that of what they say together.  ``asked`` has for every hypothesis one entry per variable,
    and ``method`` is how p-values will be adjusted.
    """
    several, test, setup = is_several(estimator), hypotheses[0].kind.name, setup_generator(generator)

    def ensemble_of(i: int) -> Ensemble:
        one, hypothesis, sizes = estimator if several else [estimator], hypotheses[i], hypotheses[i].n_observations
        return collect(one, asked[i], hypothesis.variables, generator, test, sizes, paired=hypothesis.paired)

    ensemble = ensemble_of(0)
    described = [hypotheses[0].described(member.estimator, settings.form) for member in ensemble.members]
    first = Draws.of(hypotheses[0].permutations(settings.n_resamples, settings.alpha), settings.n_resamples, generator)
    warn_too_few(first.count, settings.alpha, factor_of(method, len(hypotheses), first.count), exact=first.exact)
    single = ensemble.members[0].estimator
    made, made_notes = ({}, ()) if several else stacked(hypotheses, single, asked, settings, first)
    ensembles = {i: ensemble_of(i) for i in range(len(hypotheses)) if i not in made}
    cache = KernelCache(settings.limits(setup))
    resolved = Resolved(setup, fresh=False)
    nulls: list[Null | str] = []
    errors: dict[int, ValueError] = {}
    notes: list[str] = []
    rounded: dict[str, list[str]] = {}
    for v in range(len(hypotheses[0].variables)):  # in the order of the columns, first those of X
        for i, each in ensembles.items():
            try:
                for member in each.members:
                    kernel = member.kernel[v] if isinstance(member.kernel, tuple) else member.kernel
                    resolved.one(hypotheses[i], v, kernel)
            except ValueError as error:
                errors.setdefault(i, error)
    for i, hypothesis in enumerate(hypotheses):
        if i in errors:
            nulls.append(str(errors[i]))
            continue
        if i in made:
            each_null, shrunk = [made[i]], is_shrunk(made[i], described[0]["form"], single)
            nulls.append(made[i])
            notes += made_notes
        else:
            used = KernelCache(settings.limits(setup)) if cache.limits.random else cache
            allowed = hypothesis.permutations(settings.n_resamples, settings.alpha)
            draws, spare = Draws(allowed, settings.n_resamples, first.seed), spares(estimator, test)
            try:
                found, without = _nulls(
                    hypothesis, ensembles[i], described, settings, used, resolved, draws, spare=spare
                )
            except ValueError as error:
                errors[i] = error
                nulls.append(str(error))
                continue
            parts = [one for one in found if one is not None]
            weights = [
                member.weight for member, one in zip(ensembles[i].members, found, strict=True) if one is not None
            ]
            each_null = [one.null for one in parts]
            nulls.append(together(each_null, weights) if several else each_null[0])
            notes += (*without, *(note for one in parts for note in one.about["notes"]))
            shrunk = any(is_shrunk(one.null, one.member.form, one.member.estimator) for one in parts)
        for said in of_rounding(each_null, shrunk=shrunk):
            rounded.setdefault(said, []).append(" and ".join(variable.name for variable in hypothesis.variables))
    if len(errors) == len(hypotheses):
        raise errors[0]
    for said, of in rounded.items():
        which = f"{', '.join(of[:_NAMED])}{', and others' if len(of) > _NAMED else ''}"
        notes.append(Note(f"{which}: {said}", getattr(said, "code", "")))
    names = ("form", "tuning")
    shared = {name: "/".join(dict.fromkeys(one[name] for one in described)) for name in names}
    shown = ensemble if several else single
    about = {"estimator": shown, **shared, "restriction": first.permutations.restriction}
    about["notes"] = tuple(dict.fromkeys(notes))
    return nulls, about


def _require_kernel(null: Null, form: str, kernel: Any, hypothesis: Hypothesis) -> None:
    """Raise ValueError where a squared norm is clearly negative: then what it is a norm of is no kernel's."""
    least = min(null.observed, float(null.values.min(initial=null.observed)))
    if form != "biased" or least >= -_NEGATIVE * null.tolerance:
        return
    kernels = kernel if isinstance(kernel, tuple) else (kernel,)
    # of features that do not vary nothing is left but rounding errors of k(x, x), of either sign
    units = (abs(one(v.points[:1])[0, 0]) for one, v in zip(kernels, hypothesis.variables, strict=True))
    if least < -_ROUNDING * math.prod(units):
        raise ValueError(
            f"kernel: {kernel!r} is not a kernel, because a squared norm came out as {least:.3g}: a kernel is positive "
            "semi-definite; instead of squared distances D, say, give exp(-D / (2 s^2))"
        )


def beside(generator: np.random.Generator, use: int) -> np.random.Generator:
    """Random numbers for one use that are independent of others, and of those that ``generator`` goes on to draw."""
    return np.random.default_rng([*copy.deepcopy(generator).integers(2**63, size=2).tolist(), use])


def setup_generator(generator: np.random.Generator) -> np.random.Generator:
    """Random numbers for bandwidths and landmarks, apart from those of the permutations that ``generator`` draws."""
    words = copy.deepcopy(generator).integers(2**63, size=4)
    return np.random.default_rng(np.random.SeedSequence([int(word) for word in words]))  # hashes them
