"""Run tests of samples in batches: what they cannot take is refused before any row is read."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shrinktest._check import as_rng, choice, count
from shrinktest._parallel import kernel_progress
from shrinktest.data.chunks import Store
from shrinktest.data.sources import as_batches
from shrinktest.estimators import as_estimator
from shrinktest.hypotheses.base import Variable
from shrinktest.hypotheses.bin_features import Plan
from shrinktest.hypotheses.binned import Binned, TwoBinned
from shrinktest.hypotheses.settings import Settings
from shrinktest.hypotheses.supported import checked_estimator, checked_route
from shrinktest.kernels import Kernel, as_kernel
from shrinktest.multiple.ensembles import (
    Ensemble,
    KernelSpec,
    collect,
    estimators_of,
    is_auto,
    is_several,
    spares,
)
from shrinktest.multiple.run import independent_rng, run
from shrinktest.results.result import TestResult
from shrinktest.statistics.kernel_cache import GRAMS

RANK = 1000  # features of a kernel where nobody says how many,
RANK_OF_COLUMN = 100  # and where it is of a single column


def run_binned(
    samples: Sequence[Any],
    names: Sequence[str],
    estimator: Any,
    spec: KernelSpec,
    settings: Settings,
    rng: Any,
    *,
    refused: Mapping[str, Any],
    two: bool,
    **options: Any,
) -> TestResult:
    """Test whether samples in batches have one distribution; ``two`` says whether it is a two-sample test.

    ``refused`` are arguments of the test that must not be given here, with what was given, and ``options`` go to
    the hypothesis, such as ``scale``.  Raises ValueError, TypeError or FileNotFoundError for what is not supported or
    cannot be tested, and MemoryError if the mean features of bins would not fit.
    """
    if len(samples) < 2:
        raise ValueError(f"a test takes two samples or more, got {len(samples)}")
    kind = TwoBinned if two else Binned
    refuse(refused)
    check(estimator, [spec], settings, kind.kind.name, checked_estimator)
    samples = as_batches(samples, names)
    generator = as_rng(rng)
    with kernel_progress(settings.progress):
        how = {"drawn": settings.rank or RANK, "rng": independent_rng(generator, 2), **by_whom(settings, rng)}
        hypothesis = kind.in_batches(samples, names, **how, **options).with_rare_rows()
    spec = spec.by_feature(hypothesis.encoding, hypothesis.columns)
    plan = planned(hypothesis, settings, generator, RANK)
    estimator, kernels, spare = collected(estimator, spec, hypothesis, plan)
    hypothesis = hypothesis.reading(kernels, plan, spare=spare)
    with kernel_progress(settings.progress):
        hypothesis = replace(hypothesis, means=hypothesis.bin_means(plan))
    spec = KernelSpec("gaussian", "median") if is_several(estimator) else spec  # an ensemble has the kernels
    return run(hypothesis, estimator, [spec], settings, generator)


def columns_in_bins(
    whole: TwoBinned,
    groups: Sequence[slice],
    columns: Sequence[Variable],
    estimator: Any,
    specs: Sequence[KernelSpec],
    settings: Settings,
    generator: np.random.Generator,
) -> list[TwoBinned | ValueError]:
    """Hypotheses about single columns of two samples in batches, whose bins are read all at once.

    A column of which the kernel cannot be found has the error instead.

    ``groups`` are, for each column, the columns of numbers that it became.  The columns belong to the sample of
    their rows; ``generator`` is the generator of the test, which is left as it is.
    """
    plan = planned(whole, settings, generator, RANK_OF_COLUMN)
    tests: list[TwoBinned | ValueError] = []
    for group, column, spec in zip(groups, columns, specs, strict=True):
        hypothesis = replace(whole, variables=(column,))
        _, kernels, spare = collected(estimator, spec, hypothesis, plan)
        try:
            tests.append(hypothesis.reading(kernels, plan, tuple(range(group.start, group.stop)), spare=spare))
        except ValueError as error:
            tests.append(error)
    if all(isinstance(test, ValueError) for test in tests):
        raise tests[0]  # type: ignore[misc]
    with kernel_progress(settings.progress):
        means = whole.bin_means(plan)
    return [test if isinstance(test, ValueError) else replace(test, means=means) for test in tests]


def by_whom(settings: Settings, rng: Any) -> dict[str, Any]:
    """Who reads samples in batches, and what was kept of an earlier run; ``rng`` is as users give it.

    Raises ValueError for a store without a seed, and a file that is not a store.
    """
    if settings.store is None:
        return {"workers": settings.readers, "store": None}
    if rng is None:
        raise ValueError("store= takes a seed (rng=0, say), so that a run that goes on draws the same bins")
    return {"workers": settings.readers, "store": Store.at(settings.store)}


def refuse(arguments: Mapping[str, Any]) -> None:
    """Raise ValueError for an argument that was given and takes all rows at once."""
    for argument, given in arguments.items():
        if given is not None and given is not False:
            raise ValueError(f"{argument}= takes all rows at once, and is not for samples in batches; leave it out")


def check(
    estimator: Any, specs: Sequence[KernelSpec], settings: Settings, test: str, checked: Callable[[Any], Any]
) -> None:
    """Raise ValueError for kernels that take more than features, and by ``checked`` for estimators.

    This comes before any row is read.
    """
    members: Sequence[Any] = ()
    if isinstance(estimator, Ensemble) or is_auto(estimator):
        members = collect(estimator, specs, (), np.random.default_rng(0), test, ()).members
    for one in [member.estimator for member in members] or estimators_of(estimator):
        checked(one)
    gram = choice(settings.gram, GRAMS, "gram")
    if members:
        kernels = [kernel for member in members for kernel in _each(member.kernel)]
    elif is_several(estimator, specs):
        kernels = [as_kernel(kernel, name=spec.name) for spec in specs for kernel in _each(spec.kernel)]
    else:
        kernels = [spec.alone() for spec in specs]
    for kernel in kernels:
        if checked_route(kernel, gram) == "factor" and settings.rank is not None:
            raise ValueError(f"rank={settings.rank} is for gram='nystrom' or 'rff'; {kernel!r} has features of its own")
    if settings.rank is not None:
        count(settings.rank, "rank", minimum=1)


def _each(kernel: Any) -> Sequence[Any]:
    return kernel if isinstance(kernel, list | tuple) else [kernel]


def planned(hypothesis: Binned, settings: Settings, generator: np.random.Generator, rank: int) -> Plan:
    """Plan what will be read; ``rank`` is the number of features unless a kernel sets it."""
    kept = copy.deepcopy(generator)
    bins = hypothesis.sizes
    return Plan(
        settings.gram, settings.rank or rank, sum(bins), max(bins), settings.memory, lambda: independent_rng(kept, 3)
    )


def collected(estimator: Any, spec: KernelSpec, hypothesis: Binned, plan: Plan) -> tuple[Any, list[Kernel], bool]:
    """The estimator, or the ensemble of several statistics; its kernels; and whether some may be left out."""
    if not is_several(estimator, [spec]):
        return as_estimator(estimator), [as_kernel(spec.kernel, spec.bandwidth, spec.name)], False
    test = hypothesis.kind.name
    ensemble = collect(estimator, [spec], hypothesis.variables, plan.rng(), test, hypothesis.n_observations)
    spare = spares(estimator, test)  # those that are recommended are told by their name
    return estimator if spare else ensemble, [member.kernel for member in ensemble.members], spare
