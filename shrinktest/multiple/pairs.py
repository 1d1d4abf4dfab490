"""Run a test of independence in batches: what it cannot take is refused before any row is read."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from shrinktest._check import as_rng
from shrinktest._parallel import kernel_progress
from shrinktest.hypotheses.pair_features import RANK, PairPlan
from shrinktest.hypotheses.pairs import IndependenceInBatches
from shrinktest.hypotheses.settings import Settings
from shrinktest.hypotheses.supported import checked_policy, checked_scaled
from shrinktest.kernels import as_kernel
from shrinktest.multiple.binned import by_whom, check, refuse
from shrinktest.multiple.ensembles import KernelSpec, collect, is_several, spares
from shrinktest.multiple.run import independent_rng, run
from shrinktest.results.info import INDEPENDENCE
from shrinktest.results.result import TestResult

_FEATURES = (3, 5)  # uses of random numbers: features of x, and of y


def run_pairs(
    X: Any,
    Y: Any,
    estimator: Any,
    specs: Sequence[KernelSpec],
    settings: Settings,
    rng: Any,
    *,
    refused: Mapping[str, Any],
    scale: Any,
    nan_policy: str,
    column_types: Any = None,
) -> TestResult:
    """Test whether two variables in batches are independent.

    ``refused`` are arguments of the test that must not be given here, with what was given.  Raises ValueError,
    TypeError or FileNotFoundError for what is not supported or cannot be tested, and MemoryError if the sums of
    products would not fit.
    """
    refuse(refused)
    checked_policy(nan_policy)
    check(estimator, specs, settings, INDEPENDENCE.name, checked_scaled)
    drawn = settings.rank or RANK
    generator = as_rng(rng)
    with kernel_progress(settings.progress):
        hypothesis = IndependenceInBatches.in_batches(
            X, Y, scale=scale, nan_policy=nan_policy, column_types=column_types, drawn=drawn,
            rng=independent_rng(generator, 2), **by_whom(settings, rng),
        )  # fmt: skip
    sides = zip(specs, hypothesis.encodings, hypothesis.pairs.names, strict=True)
    specs = [spec.by_feature(encoding, names) for spec, encoding, names in sides]
    kept = copy.deepcopy(generator)
    plan = PairPlan(
        hypothesis.variables, settings.gram, settings.rank, hypothesis.blocks.groups, settings.memory,
        lambda side: independent_rng(kept, _FEATURES[side]),
    )  # fmt: skip
    test = hypothesis.kind.name
    if not is_several(estimator, specs):
        x, y = (as_kernel(spec.kernel, spec.bandwidth, spec.name) for spec in specs)
        plan.add([(x, y)], spare=False)
    else:
        ensemble = collect(estimator, specs, hypothesis.variables, plan.rng(0), test, hypothesis.n_observations)
        plan.add([member.kernel for member in ensemble.members], spare=spares(estimator, test))
        if not spares(estimator, test):  # those that are recommended are told by their name
            estimator, specs = ensemble, [KernelSpec("gaussian", "median", spec.name) for spec in specs]
    with kernel_progress(settings.progress):
        hypothesis = hypothesis.reading(plan)
    return run(hypothesis, estimator, specs, settings, generator)
