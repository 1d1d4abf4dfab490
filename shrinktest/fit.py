"""Fit a statistic to test data: kernels, null distribution, and what results keep of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from shrinktest._parallel import kernel_progress, single_blas_thread
from shrinktest.embedding import MeanEmbedding
from shrinktest.fitted import FittedStatistic
from shrinktest.hypothesis import Hypothesis
from shrinktest.kernels import Kernel
from shrinktest.permutations.base import Draws
from shrinktest.permutations.null import Null
from shrinktest.results.base import Setup
from shrinktest.settings import Settings
from shrinktest.statistics.kernel_cache import KernelCache
from shrinktest.statistics.statistic import Form

_NEGATIVE = 1e4  # times what counts as a tie, 1e-10 of the terms that cancel
_ROUNDING = 1e-12  # of the kernel's values


@dataclass(frozen=True, eq=False)
class Fit:
    """The null distribution of a statistic, and what results keep of it: no Gram matrix."""

    null: Null
    draws: Draws
    setup: Setup
    estimates: tuple[MeanEmbedding, ...]
    notes: Callable[[], tuple[str, ...]]
    statistic: FittedStatistic


def fit_statistic(
    hypothesis: Hypothesis,
    setup: Setup,
    form: Form,
    draws: Callable[[], Draws],
    settings: Settings,
    kernels: KernelCache,
    resolved: Callable[[int, Kernel], Kernel],
    *,
    weight: float = 1.0,
) -> Fit:
    """Compute a statistic on all permutations.

    ``resolved`` finds the bandwidth of the kernel of a variable; ``draws`` makes the permutations,
    which random numbers for kernels come before.
    """
    estimator = setup.estimator
    filters = form.by_kernel and estimator.needs == "filter"
    with single_blas_thread(sum(hypothesis.n_observations), decomposed=filters):
        with kernel_progress(settings.progress):
            if form.prepare is not None:
                prepared = form.prepare(hypothesis, settings.workers)
            else:
                kernel = setup.kernel
                if isinstance(kernel, tuple):
                    kernel = tuple(resolved(v, entry) for v, entry in enumerate(kernel))
                else:
                    kernel = resolved(0, kernel)
                prepared = hypothesis.prepare(estimator, kernel, form, kernels)
        permutations = draws()
        null = prepared.null(
            permutations,
            stopping=settings.stopping,
            workers=settings.workers,
            progress=settings.progress,
        )
    kernel = prepared.kernel
    computation = prepared.computation
    if setup.squared_norm:
        _require_kernel(null, kernel, hypothesis)
    statistic = FittedStatistic(
        estimator,
        kernel,
        computation.features,
        setup.form,
        setup.tuning,
        weight,
        computation.approximated,
    )
    remarks = prepared.notes  # notes are written later, and do not keep the Gram matrix until then
    return Fit(
        null,
        permutations,
        replace(setup, kernel=kernel, route=computation.route),
        prepared.estimates(),
        lambda: hypothesis.notes(kernel) + remarks,
        statistic,
    )


def _require_kernel(null: Null, kernel: Any, hypothesis: Hypothesis) -> None:
    """Raise ValueError where a squared norm is clearly negative.

    Then what it is a norm of belongs to no kernel.
    """
    least = min(null.observed, float(null.values.min(initial=null.observed)))
    if least >= -_NEGATIVE * null.tolerance:
        return
    kernels = kernel if isinstance(kernel, tuple) else (kernel,)
    if not all(each.is_definite for each in kernels):
        return
    # of features that do not vary nothing is left but rounding errors of k(x, x), of either sign
    units = (
        abs(each(v.points[:1])[0, 0]) for each, v in zip(kernels, hypothesis.variables, strict=True)
    )
    if least < -_ROUNDING * math.prod(units):
        raise ValueError(
            f"kernel: {kernel!r} gives a squared norm of {least:.3g}; from squared distances D, "
            "use exp(-D / (2 s^2))"
        )
