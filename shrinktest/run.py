"""Run a test: one statistic of a hypothesis on its permutations, or several that are combined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from shrinktest._random import as_rng, rng_provenance
from shrinktest.combination import run_several
from shrinktest.estimators import as_estimator
from shrinktest.fit import fit_statistic
from shrinktest.hypothesis import Hypothesis
from shrinktest.kernel_spec import KernelSpec, as_kernels, is_several, refuse_kernels
from shrinktest.permutations.base import Draws
from shrinktest.permutations.multiplicity import warn_too_few
from shrinktest.results.base import unique
from shrinktest.results.result import TestResult, make_result
from shrinktest.settings import Settings
from shrinktest.statistics.kernel_cache import KernelCache


def run(
    hypothesis: Hypothesis,
    estimator: Any,
    specs: Sequence[KernelSpec],
    settings: Settings,
    rng: Any,
    *,
    kernels: KernelCache | None = None,
) -> TestResult:
    """Test a hypothesis with one estimator and its kernels, or with several combined.

    ``kernels`` are those of earlier tests of the same points, with one estimator.
    """
    generator = as_rng(rng)
    specs = [
        spec.by_feature(variable.encoding)
        for spec, variable in zip(specs, hypothesis.variables, strict=True)
    ]
    hypothesis = hypothesis.compared_by([spec.kernel for spec in specs])
    form = hypothesis.form(settings.form)
    if not form.by_kernel:
        refuse_kernels(form, estimator, specs, settings)
    if is_several(estimator, specs):
        return run_several(hypothesis, estimator, specs, form, settings, generator)
    provenance = rng_provenance(generator)
    data = hypothesis.data()
    kernel = as_kernels(specs)
    setup = hypothesis.setup(as_estimator(estimator), kernel, form)
    if hypothesis.missing:
        return make_result(None, data, setup, alpha=settings.alpha, rng=provenance)
    permutations = hypothesis.permutations(settings.n_resamples, settings.alpha, form)
    data = replace(data, restriction=permutations.restriction, simulated=permutations.simulated)
    kernels = settings.kernels(generator) if kernels is None else kernels
    fit = fit_statistic(
        hypothesis,
        setup,
        form,
        lambda: Draws.of(permutations, settings.n_resamples, generator),
        settings,
        kernels,
        lambda v, kernel: hypothesis.resolve(v, kernel, generator),
    )
    null = fit.null
    warn_too_few(null.n_planned + (not null.exact), settings.alpha, exact=null.exact)
    context = hypothesis.context((fit.statistic,), fit.draws)
    result = make_result(
        null,
        data,
        fit.setup,
        estimates=fit.estimates,
        notes=fit.notes,
        context=context,
        alpha=settings.alpha,
        rng=provenance,
    )
    result = hypothesis.concluded(result, fit.statistic, kernels, generator)
    return replace(result, notes=lambda: unique((*result.notes, *hypothesis.serial_notes())))
