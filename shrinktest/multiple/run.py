"""Run tests: a statistic or several, of one hypothesis or of many, on shared permutations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, cast

import numpy as np

from shrinktest._check import as_rng, listed, rng_provenance
from shrinktest._parallel import kernel_progress, single_blas_thread
from shrinktest.embedding import MeanEmbedding
from shrinktest.hypotheses.base import Hypothesis, resolve
from shrinktest.hypotheses.context import FittedStatistic
from shrinktest.hypotheses.settings import Settings
from shrinktest.kernels import Kernel, as_kernel
from shrinktest.kernels.distance import DistanceKernel
from shrinktest.kernels.pooled import PooledKernel
from shrinktest.multiple.aggregation import aggregated, refuse_stopping, together
from shrinktest.multiple.ensembles import Candidate, Ensemble, KernelSpec, collect, is_several, spares
from shrinktest.multiple.stack import stacked
from shrinktest.notes import Note
from shrinktest.permutations.base import Draws
from shrinktest.permutations.multiplicity import factor_of, warn_too_few
from shrinktest.permutations.null import Null
from shrinktest.results.base import Setup, unique
from shrinktest.results.result import TestResult, is_shrunk, make_result, rounding_notes
from shrinktest.statistics.kernel_cache import KernelCache

_NEGATIVE = 1e4  # times what counts as a tie, 1e-10 of the terms that cancel
_ROUNDING = 1e-12  # of the kernel's values
_NAMED = 5  # tests at most that a note on some of many names


class Resolved:
    """Kernels with their bandwidths found on the data, every distinct kernel of a variable once.

    With ``fresh`` every call resolves anew, for kernels whose coordinates are drawn for each of them.
    """

    def __init__(self, rng: np.random.Generator, *, fresh: bool) -> None:
        self.rng, self.fresh = rng, fresh
        self._known: list[tuple[np.ndarray, Kernel, Kernel]] = []

    def __call__(self, hypothesis: Hypothesis, kernel: Any) -> Any:
        """Return a resolved kernel, or a tuple with one for every variable."""
        if not isinstance(kernel, tuple):
            return self.variable(hypothesis, 0, kernel)
        return tuple(self.variable(hypothesis, v, each) for v, each in enumerate(kernel))

    def variable(self, hypothesis: Hypothesis, v: int, kernel: Kernel) -> Kernel:
        """Return the resolved kernel of one variable."""
        variable = hypothesis.variables[v]
        for points, unresolved, resolved in self._known:
            if points is variable.points and not self.fresh and (unresolved is kernel or unresolved == kernel):
                return resolved
        resolved = hypothesis.found_before(kernel, v) or resolve(
            self._by_shared(hypothesis, v, kernel), variable, self.rng
        )
        self._known.append((variable.points, kernel, resolved))
        return resolved

    def _by_shared(self, hypothesis: Hypothesis, v: int, kernel: Kernel) -> Kernel:
        """Take inner features, or the bandwidth of which this one is a multiple, from the kernel that has them."""
        if self.fresh or hypothesis.variables[v].scale is not None:
            return kernel
        if isinstance(kernel, PooledKernel):
            return replace(kernel, kernel=self.variable(hypothesis, v, kernel.kernel))
        if isinstance(kernel, DistanceKernel) and kernel.multiple:
            factor, by_rule = kernel.multiple
            median = cast(DistanceKernel, self.variable(hypothesis, v, by_rule))
            return kernel.with_bandwidth(factor * cast(float, median.bandwidth))
        return kernel


@dataclass(frozen=True, eq=False)
class Fit:
    """The null distribution of a candidate, and what results keep of it: no Gram matrix."""

    candidate: Candidate
    null: Null
    setup: Setup
    estimates: tuple[MeanEmbedding, ...]
    notes: Callable[[], tuple[str, ...]]
    statistic: FittedStatistic


def run(
    hypothesis: Hypothesis, estimator: Any, specs: Sequence[KernelSpec], settings: Settings, rng: Any
) -> TestResult:
    """Test a hypothesis with one estimator and its kernels, or with several combined."""
    generator = as_rng(rng)
    specs = [spec.by_feature(variable.encoding) for spec, variable in zip(specs, hypothesis.variables, strict=True)]
    hypothesis = hypothesis.compared_by([spec.kernel for spec in specs])
    several, data = is_several(estimator, specs), hypothesis.data()
    options: dict[str, Any] = {"alpha": settings.alpha, "rng": rng_provenance(generator)}
    ensemble = _candidates(hypothesis, estimator, specs, generator, settings.form)
    if several:
        refuse_stopping(settings.stopping)
    setups = [hypothesis.setup(member, settings.form) for member in ensemble.members]
    if hypothesis.missing:
        empty = tuple(make_result(None, data, setup, **options) for setup in setups)
        return aggregated(ensemble, (), empty, data, **options) if several else empty[0]
    permutations = hypothesis.permutations(settings.n_resamples, settings.alpha, settings.form)
    data = replace(data, restriction=permutations.restriction, simulated=permutations.simulated)
    # the permutations of several statistics must not depend on what these draw for their kernels
    source = independent_rng(generator, 1) if several else generator
    draws = cache(lambda: Draws.of(permutations, settings.n_resamples, generator))
    kernels = settings.kernels(source)
    fits, left_out = _fit(
        hypothesis, ensemble.members, setups, draws, settings, kernels,
        Resolved(source, fresh=several and kernels.random), spare=spares(estimator, hypothesis.kind.name),
    )  # fmt: skip
    nulls = [fit.null for fit in fits]
    warn_too_few(nulls[0].n_planned + (not nulls[0].exact), settings.alpha, exact=nulls[0].exact)
    context = hypothesis.context(tuple(fit.statistic for fit in fits), draws())
    own = None if several else context
    results = tuple(
        make_result(fit.null, data, fit.setup, estimates=fit.estimates, notes=fit.notes, context=own, **options)
        for fit in fits
    )
    result, decided = results[0], fits[0].statistic
    if several:
        whole = Ensemble([fit.candidate for fit in fits]) if left_out else ensemble
        result = combined = aggregated(whole, nulls, results, data, left_out, context=context, **options)
        decided = fits[combined.decided].statistic
    concluded = hypothesis.concluded(result, decided, kernels, setup_generator(generator))
    return replace(concluded, notes=lambda: unique((*concluded.notes, *hypothesis.serial_notes())))


def _candidates(
    hypothesis: Hypothesis, estimator: Any, specs: Sequence[KernelSpec], rng: np.random.Generator, form: str
) -> Ensemble:
    """Return the statistics that the arguments of a test stand for: one, or several to combine."""
    if not hypothesis.form(form).by_kernel:
        _refuse_kernels(form, estimator, specs)
    if is_several(estimator, specs):
        kind, sizes = hypothesis.kind.name, hypothesis.n_observations
        return collect(estimator, specs, hypothesis.variables, rng, kind, sizes, paired=hypothesis.paired)
    kernels = tuple(as_kernel(spec.kernel, spec.bandwidth, spec.name) for spec in specs)
    return Ensemble([Candidate(estimator, kernels if len(kernels) > 1 else kernels[0])])


def _refuse_kernels(form: str, estimator: Any, specs: Sequence[KernelSpec]) -> None:
    """Raise ValueError for an estimator or a kernel of a statistic that has none."""
    names = [spec.name for spec in specs if spec.given()]
    if not (isinstance(estimator, str) and estimator == "kme"):
        names.insert(0, "estimator")
    if names:
        raise ValueError(f"form={form!r} has no kernel and no estimator; leave out {listed(names)}")


def _fit(
    hypothesis: Hypothesis,
    candidates: Sequence[Candidate],
    setups: Sequence[Setup],
    draws: Callable[[], Draws],
    settings: Settings,
    kernels: KernelCache,
    resolved: Resolved,
    *,
    spare: bool,
) -> tuple[list[Fit], tuple[str, ...]]:
    """Fit every candidate on the same permutations; return also notes on those that do not fit in memory."""
    fits: dict[int, Fit] = {}
    left_out: list[str] = []
    order = list(range(len(candidates)))
    if not resolved.fresh:  # equal kernels side by side
        kernel_of = [member.kernel for member in candidates]
        order.sort(key=lambda i: kernel_of.index(kernel_of[i]))
    for position, i in enumerate(order, start=1):
        try:
            fits[i] = _fit_one(hypothesis, candidates[i], setups[i], draws, settings, kernels, resolved)
        except MemoryError as error:
            if not spare or (position == len(candidates) and not fits):
                raise
            left_out.append(f"{candidates[i].kernel!r} is left out of the combination: {error}")
    return [fits[i] for i in sorted(fits)], tuple(left_out)


def _fit_one(
    hypothesis: Hypothesis,
    candidate: Candidate,
    setup: Setup,
    draws: Callable[[], Draws],
    settings: Settings,
    kernels: KernelCache,
    resolved: Resolved,
) -> Fit:
    """Fit a candidate on all permutations."""
    form, workers = hypothesis.form(setup.form), settings.workers
    filters = form.prepare is None and candidate.estimator.needs == "filter"
    with single_blas_thread(sum(hypothesis.n_observations), decomposed=filters):
        with kernel_progress(settings.progress):
            if form.prepare is None:
                kernel = resolved(hypothesis, candidate.kernel)
                prepared = hypothesis.prepare(candidate.estimator, kernel, form, kernels)
            else:
                prepared = form.prepare(hypothesis, workers)
        null = prepared.null(draws(), stopping=settings.stopping, workers=settings.workers, progress=settings.progress)
    kernel, notes, computation = prepared.kernel, prepared.notes, prepared.computation
    if setup.squared_norm:
        _require_kernel(null, kernel, hypothesis)
    statistic = FittedStatistic(
        setup.estimator, kernel, computation.features, setup.form, setup.tuning, candidate.weight,
        computation.approximated,
    )  # fmt: skip
    setup = replace(setup, kernel=kernel, route=computation.route)
    return Fit(candidate, null, setup, prepared.estimates(), lambda: hypothesis.notes(kernel) + notes, statistic)


def run_side_by_side(
    hypotheses: Sequence[Hypothesis],
    estimator: Any,
    specs: Sequence[Sequence[KernelSpec]],
    settings: Settings,
    generator: np.random.Generator,
    method: str,
) -> tuple[list[Null | str], Setup, str, tuple[str, ...]]:
    """Return null distributions of tests, or error messages; their setup, restriction and notes."""
    several, spare = is_several(estimator), spares(estimator, hypotheses[0].kind.name)
    ensemble = _candidates(hypotheses[0], estimator, specs[0], generator, settings.form)
    setups = [hypotheses[0].setup(member, settings.form) for member in ensemble.members]
    source = setup_generator(generator)
    permutations = hypotheses[0].permutations(settings.n_resamples, settings.alpha, settings.form)
    first = Draws.of(permutations, settings.n_resamples, generator)
    warn_too_few(first.count, settings.alpha, factor_of(method, len(hypotheses), first.count), exact=first.exact)
    in_stack, stack_notes = ({}, ()) if several else stacked(hypotheses, setups[0].estimator, specs, settings, first)
    ensembles = {
        i: _candidates(hypothesis, estimator, specs[i], generator, settings.form)
        for i, hypothesis in enumerate(hypotheses)
        if i not in in_stack
    }
    shared = settings.kernels(source)
    resolved = Resolved(source, fresh=False)
    nulls: list[Null | str] = []
    errors: dict[int, ValueError] = {}
    notes: list[str] = []
    rounded: dict[str, list[str]] = {}
    by_kernel = hypotheses[0].form(settings.form).by_kernel
    for v in range(len(hypotheses[0].variables)):  # in the order of the columns, X first
        for i, candidates in ensembles.items() if by_kernel else ():
            try:
                for member in candidates.members:
                    kernel = member.kernel[v] if isinstance(member.kernel, tuple) else member.kernel
                    resolved.variable(hypotheses[i], v, kernel)
            except ValueError as error:
                errors.setdefault(i, error)
    for i, hypothesis in enumerate(hypotheses):
        if i in in_stack:
            fitted, shrunk = [in_stack[i]], is_shrunk(in_stack[i], setups[0])
            nulls.append(in_stack[i])
            notes += stack_notes
        else:
            kernels = settings.kernels(source) if shared.random else shared
            permutations = hypothesis.permutations(settings.n_resamples, settings.alpha, settings.form)
            draws = partial(Draws, permutations, settings.n_resamples, first.seed)
            try:
                if i in errors:
                    raise errors[i]
                fits, left_out = _fit(
                    hypothesis, ensembles[i].members, setups, cache(draws), settings, kernels, resolved, spare=spare
                )
            except ValueError as error:
                errors[i] = error
                nulls.append(str(error))
                continue
            fitted = [fit.null for fit in fits]
            nulls.append(together(fitted, [fit.candidate.weight for fit in fits]) if several else fitted[0])
            notes += (*left_out, *(text for fit in fits for text in fit.notes()))
            shrunk = any(is_shrunk(fit.null, fit.setup) for fit in fits)
        for text in rounding_notes(fitted, shrunk=shrunk):
            rounded.setdefault(text, []).append(" and ".join(variable.name for variable in hypothesis.variables))
    if len(errors) == len(hypotheses):
        raise errors[0]
    for text, names in rounded.items():
        which = f"{', '.join(names[:_NAMED])}{', and others' if len(names) > _NAMED else ''}"
        notes.append(Note(f"{which}: {text}", getattr(text, "code", "")))
    form, tuning = ("/".join(dict.fromkeys(getattr(setup, name) for setup in setups)) for name in ("form", "tuning"))
    setup = Setup(ensemble if several else setups[0].estimator, form=form, tuning=tuning)
    return nulls, setup, first.permutations.restriction, unique(notes)


def _require_kernel(null: Null, kernel: Any, hypothesis: Hypothesis) -> None:
    """Raise ValueError where a squared norm is clearly negative: then what it is a norm of belongs to no kernel."""
    least = min(null.observed, float(null.values.min(initial=null.observed)))
    if least >= -_NEGATIVE * null.tolerance:
        return
    kernels = kernel if isinstance(kernel, tuple) else (kernel,)
    # of features that do not vary nothing is left but rounding errors of k(x, x), of either sign
    units = (abs(each(v.points[:1])[0, 0]) for each, v in zip(kernels, hypothesis.variables, strict=True))
    if least < -_ROUNDING * math.prod(units):
        raise ValueError(
            f"kernel: {kernel!r} gives a squared norm of {least:.3g}; from squared distances D, use exp(-D / (2 s^2))"
        )


def independent_rng(generator: np.random.Generator, use: int) -> np.random.Generator:
    """Random numbers for one use that are independent of others, and of those that ``generator`` goes on to draw."""
    return np.random.default_rng([*_copy(generator).integers(2**63, size=2).tolist(), use])


def setup_generator(generator: np.random.Generator) -> np.random.Generator:
    """Return random numbers for bandwidths and landmarks, apart from the permutations that ``generator`` draws."""
    return np.random.default_rng(_copy(generator).integers(2**63, size=4).tolist())


def _copy(generator: np.random.Generator) -> np.random.Generator:
    bits = type(generator.bit_generator)(0)
    bits.state = generator.bit_generator.state
    return np.random.Generator(bits)
