"""Run several statistics of a hypothesis on shared permutations, and combine them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, cast

import numpy as np

from shrinktest._random import independent_rng, rng_provenance
from shrinktest.aggregation import aggregated, refuse_stopping
from shrinktest.auto import collect, spares
from shrinktest.ensembles import Candidate, Ensemble
from shrinktest.fit import Fit, fit_statistic
from shrinktest.hypothesis import Hypothesis
from shrinktest.kernel_spec import KernelSpec
from shrinktest.kernels import Kernel
from shrinktest.kernels.distance_kernel import DistanceKernel
from shrinktest.kernels.pooled import PooledKernel
from shrinktest.permutations.base import Draws
from shrinktest.permutations.multiplicity import warn_too_few
from shrinktest.results.base import Setup, unique
from shrinktest.results.result import TestResult, make_result
from shrinktest.settings import Settings
from shrinktest.statistics.kernel_cache import KernelCache
from shrinktest.statistics.statistic import Form


class ResolvedKernels:
    """Kernels with their bandwidths found on the data, every distinct kernel of a variable once.

    With ``fresh`` every call resolves anew, for kernels whose coordinates are drawn for each of
    them.
    """

    def __init__(self, rng: np.random.Generator, *, fresh: bool) -> None:
        self.rng = rng
        self.fresh = fresh
        self._resolved: list[tuple[np.ndarray, Kernel, Kernel]] = []

    def __call__(self, hypothesis: Hypothesis, v: int, kernel: Kernel) -> Kernel:
        """Return the resolved kernel of one variable."""
        points = hypothesis.variables[v].points
        for where, unresolved, resolved in self._resolved:
            if (
                where is points
                and not self.fresh
                and (unresolved is kernel or unresolved == kernel)
            ):
                return resolved
        resolved = hypothesis.resolve(v, self._by_shared(hypothesis, v, kernel), self.rng)
        self._resolved.append((points, kernel, resolved))
        return resolved

    def _by_shared(self, hypothesis: Hypothesis, v: int, kernel: Kernel) -> Kernel:
        """Take inner features, or the bandwidth this one is a multiple of, from their kernel."""
        if self.fresh or hypothesis.resolved_before or hypothesis.variables[v].scale is not None:
            return kernel
        if isinstance(kernel, PooledKernel):
            return replace(kernel, kernel=self(hypothesis, v, kernel.kernel))
        if isinstance(kernel, DistanceKernel) and kernel.multiple:
            factor, by_rule = kernel.multiple
            median = cast(DistanceKernel, self(hypothesis, v, by_rule))
            return kernel.with_bandwidth(factor * cast(float, median.bandwidth))
        return kernel


def run_several(
    hypothesis: Hypothesis,
    estimator: Any,
    specs: Sequence[KernelSpec],
    form: Form,
    settings: Settings,
    generator: np.random.Generator,
) -> TestResult:
    """Combine statistics on the same permutations."""
    data = hypothesis.data()
    options: dict[str, Any] = {"alpha": settings.alpha, "rng": rng_provenance(generator)}
    ensemble = candidates_of(hypothesis, estimator, specs, generator)
    refuse_stopping(settings.stopping)
    setups = [
        hypothesis.setup(member.estimator, member.kernel, form) for member in ensemble.members
    ]
    if hypothesis.missing:
        empty = tuple(make_result(None, data, setup, **options) for setup in setups)
        return aggregated(ensemble, (), empty, data, **options)
    permutations = hypothesis.permutations(settings.n_resamples, settings.alpha, form)
    data = replace(data, restriction=permutations.restriction, simulated=permutations.simulated)
    # the permutations must not depend on what statistics draw for their kernels
    source = independent_rng(generator, 1)
    draws = cache(lambda: Draws.of(permutations, settings.n_resamples, generator))
    kernels = settings.kernels(source)
    resolved = ResolvedKernels(source, fresh=kernels.random)
    spare = spares(estimator, hypothesis.kind.name)
    fits, left_out = fit_all(
        hypothesis, ensemble.members, setups, form, draws, settings, kernels, resolved, spare=spare
    )
    used = [fit for fit in fits if fit is not None]
    nulls = [fit.null for fit in used]
    warn_too_few(nulls[0].n_planned + (not nulls[0].exact), settings.alpha, exact=nulls[0].exact)
    context = hypothesis.context(tuple(fit.statistic for fit in used), draws())
    members = tuple(
        make_result(
            fit.null,
            data,
            fit.setup,
            estimates=fit.estimates,
            notes=fit.notes,
            context=None,
            **options,
        )
        for fit in used
    )
    if left_out:
        pairs = zip(ensemble.members, fits, strict=True)
        ensemble = Ensemble([member for member, fit in pairs if fit is not None])
    combined = aggregated(ensemble, nulls, members, data, left_out, context=context, **options)
    decided = used[combined.decided].statistic
    result = hypothesis.concluded(combined, decided, kernels, generator)
    return replace(result, notes=lambda: unique((*result.notes, *hypothesis.serial_notes())))


def candidates_of(
    hypothesis: Hypothesis, estimator: Any, specs: Sequence[KernelSpec], rng: np.random.Generator
) -> Ensemble:
    """Return the statistics to combine that the arguments of a test stand for."""
    kind = hypothesis.kind.name
    sizes = hypothesis.n_observations
    return collect(
        estimator, specs, hypothesis.variables, rng, kind, sizes, paired=hypothesis.paired
    )


def fit_all(
    hypothesis: Hypothesis,
    candidates: Sequence[Candidate],
    setups: Sequence[Setup],
    form: Form,
    draws: Callable[[], Draws],
    settings: Settings,
    kernels: KernelCache,
    resolved: ResolvedKernels,
    *,
    spare: bool,
) -> tuple[list[Fit | None], tuple[str, ...]]:
    """Fit every candidate on the same permutations.

    None and a note for those that do not fit in memory.
    """
    fits: list[Fit | None] = [None] * len(candidates)
    left_out: list[str] = []
    order = list(range(len(candidates)))
    if not resolved.fresh:  # equal kernels side by side
        kernel_of = [member.kernel for member in candidates]
        order.sort(key=lambda i: kernel_of.index(kernel_of[i]))
    for position, i in enumerate(order, start=1):
        try:
            fits[i] = fit_statistic(
                hypothesis,
                setups[i],
                form,
                draws,
                settings,
                kernels,
                partial(resolved, hypothesis),
                weight=candidates[i].weight,
            )
        except MemoryError as error:
            if not spare or (position == len(candidates) and not any(fits)):
                raise
            left_out.append(f"{candidates[i].kernel!r} is left out of the combination: {error}")
    return fits, tuple(left_out)
