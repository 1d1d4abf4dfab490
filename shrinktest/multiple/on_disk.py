"""Run tests of rows on disk: those that fit are read whole, the others by features, in two passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from shrinktest._check import as_rng, count, counted
from shrinktest._parallel import kernel_progress
from shrinktest.data.bins import Bins
from shrinktest.data.chunks import Store
from shrinktest.data.observed import checked_types, is_unasked
from shrinktest.data.on_disk import OnDisk, Part, checked_units
from shrinktest.data.pairs import LENGTH, Blocks, pairs_of, products_of
from shrinktest.data.read import XY, scales_of
from shrinktest.data.rows import rows_of_samples
from shrinktest.data.sources import BINS, as_batches
from shrinktest.data.whole import read_whole
from shrinktest.estimators import MeanEstimator
from shrinktest.hypotheses.base import Variable
from shrinktest.hypotheses.on_disk import (
    Binned,
    OnDiskHypothesis,
    PairsOnDisk,
    RowFeatures,
    TwoBinned,
    checked_route,
    plain,
)
from shrinktest.hypotheses.settings import Settings
from shrinktest.kernels import Gaussian, Kernel, as_kernel
from shrinktest.kernels.inner import FeatureMap
from shrinktest.multiple.ensembles import Ensemble, KernelSpec, collect, estimators_of, is_auto, is_several, spares
from shrinktest.multiple.many import ColumnsToTest, dropping
from shrinktest.multiple.run import independent_rng, run
from shrinktest.results.info import INDEPENDENCE
from shrinktest.results.result import TestResult
from shrinktest.statistics.kernel_cache import advised, bytes_of
from shrinktest.units import without_untestable

AnyOnDisk = TypeVar("AnyOnDisk", bound=OnDiskHypothesis)
AnyBinned = TypeVar("AnyBinned", bound=Binned)
Statistic = tuple[RowFeatures, ...]  # features of every variable

RANK, RANK_OF_COLUMN, RANK_OF_PAIRS = 1000, 100, 50  # features of a kernel if nobody says how many,
_PRODUCTS = 1000, 3000  # and products of features at most, for samples and for pairs
_PART = 16.0  # of the memory that kernel values may take: what the rows themselves may


def in_memory(
    samples: Sequence[Any],
    names: Sequence[str],
    estimator: Any,
    specs: Sequence[KernelSpec],
    settings: Settings,
    column_types: Mapping[str, Any] | None,
    work: str = "sums",
) -> tuple[Any, ...]:
    """Return the samples as arrays or tables, so that rows are tested; unchanged if features are wanted.

    These are wanted by whoever gives ``gram``, ``rank``, ``store``, an executor, or a number of bins; and kernels with
    a few features of their own lose nothing by them.  Raises MemoryError for more rows than fit.
    """
    batches = as_batches(samples, names)
    requested = settings.gram != "auto" or settings.rank is not None or settings.store is not None
    if requested or not isinstance(settings.readers, int) or any(source.bins != BINS for source in batches):
        return tuple(samples)
    kernels = [] if is_auto(estimator) else _statistics(estimator, specs, "")[1]
    if kernels and all(isinstance(plain(kernel), FeatureMap) for kernel in kernels):
        return tuple(samples)
    most = settings.memory / _PART
    whole, rows, columns = read_whole(batches, names, column_types, most)
    if whole:
        return tuple(whole)
    advice = advised([*kernels, Gaussian()][0], rows, columns, RANK, settings.n_resamples, work)
    raise MemoryError(
        f"{' and '.join(names)} have {rows} observations or more, which take more than {bytes_of(most)}, a "
        f"sixteenth of max_memory={bytes_of(settings.memory)}; {advice}, or raise max_memory"
    )


def run_samples(
    kind: type[Binned],
    samples: Sequence[Any],
    names: Sequence[str],
    estimator: Any,
    spec: KernelSpec,
    settings: Settings,
    rng: Any,
    *,
    refused: Mapping[str, Any],
    reading: Mapping[str, Any],
    **options: Any,
) -> TestResult:
    """Test whether samples have one distribution; ``refused`` are arguments that must not be given here.

    ``options`` go to the hypothesis.
    """
    if len(samples) < 2:
        raise ValueError(f"a test takes two samples or more, got {len(samples)}")
    _check(estimator, [spec], settings, kind.kind.name, refused, reading)
    generator = as_rng(rng)
    whole = _read_samples(kind, samples, names, settings, rng, generator, RANK, **reading, **options)
    with kernel_progress(settings.progress):
        (points,) = whole.source.representative()
    (variable,) = whole.variables
    whole = replace(whole, variables=(replace(variable, points=points),))
    specs = [spec.by_feature(variable.encoding)]
    whole, estimator, specs, spare = _with_features(whole, estimator, specs, settings, generator, RANK)
    (hypothesis,) = _in_bins([whole], settings, spare=spare)
    return run(hypothesis, estimator, specs, settings, generator)


def read_columns(
    samples: Sequence[Any],
    spec: KernelSpec,
    estimator: Any,
    settings: Settings,
    rng: Any,
    generator: np.random.Generator,
    *,
    refused: Mapping[str, Any],
    reading: Mapping[str, Any],
) -> tuple[TwoBinned, ColumnsToTest, list[TwoBinned]]:
    """Return two samples, their columns, and hypotheses about those columns that can be tested, from one reading."""
    _check(estimator, [replace(spec, bandwidth="median")], settings, TwoBinned.kind.name, refused, reading)
    whole, unread = without_untestable(
        lambda reasons: _read_samples(
            TwoBinned, samples, XY, settings, rng, generator, RANK_OF_COLUMN,
            **{**reading, "column_types": dropping(reading["column_types"], reasons)},
        )
    )  # fmt: skip
    (table,) = whole.variables
    constant = whole.source.survey.pooled[0].constant
    columns = ColumnsToTest.read(table, spec, "x", unread=unread, left_out=whole.untested, constant=constant)
    groups = [slice(j, j + 1) for j in range(len(constant))] if table.encoding is None else table.encoding.groups
    groups = [groups[column.place] for column in columns.tested]
    with kernel_progress(settings.progress):
        points = whole.source.representative(groups)
    hypotheses, errors = [], {}
    for column, group, rows in zip(columns.tested, groups, points, strict=True):
        single = replace(whole, variables=(replace(column.values, points=rows),))
        try:
            single, _, _, spare = _with_features(
                single, estimator, [column.spec], settings, generator, RANK_OF_COLUMN, group
            )
            hypotheses.append(single)
        except ValueError as error:
            errors[column.label] = error
    if not hypotheses:
        raise next(iter(errors.values()))
    columns = columns.without({label: str(error) for label, error in errors.items()})
    return whole, columns, _in_bins(hypotheses, settings, spare=spare)


def run_pairs(
    X: Any,
    Y: Any,
    estimator: Any,
    specs: Sequence[KernelSpec],
    settings: Settings,
    rng: Any,
    *,
    refused: Mapping[str, Any],
    reading: Mapping[str, Any],
) -> TestResult:
    """Test whether two variables are independent; ``refused`` are arguments that must not be given here."""
    _check(estimator, specs, settings, INDEPENDENCE.name, refused, reading)
    generator, (x, y) = as_rng(rng), as_batches((X, Y), XY)
    keys, scale, policy = independent_rng(generator, 2), reading["scale"], reading["nan_policy"]
    with kernel_progress(settings.progress):
        rows, parts = pairs_of(x, y, XY, nan_policy=policy, types=checked_types(reading["column_types"]))
        scales = [entry for entry, _ in scales_of(scale, [part.names for part in parts], XY)]
        source = OnDisk.read(
            [rows], parts, scales, nan_policy=policy, drawn=settings.rank or RANK_OF_PAIRS, rng=keys,
            workers=settings.readers, store=_store(settings, rng),
        )  # fmt: skip
        (size,) = source.survey.sizes
        if size < 2 * LENGTH:
            raise ValueError(
                f"{rows.name} have {counted(size, 'pair')}, fewer than {2 * LENGTH}; give arrays in memory"
            )
        points = source.representative()
    blocks, each = Blocks.drawn(size, keys), zip(points, XY, source.units, source.encodings, scales, strict=True)
    variables = tuple(
        Variable(rows, name, units, encoding, not is_unasked(given)) for rows, name, units, encoding, given in each
    )
    hypothesis = PairsOnDisk(
        variables=variables, sizes=(blocks.used,), remarks=source.notes, source=source, blocks=blocks
    )
    specs = [spec.by_feature(encoding) for spec, encoding in zip(specs, source.encodings, strict=True)]
    hypothesis, estimator, specs, spare = _with_features(
        hypothesis, estimator, specs, settings, generator, RANK_OF_PAIRS
    )

    def cells(some: Sequence[Statistic]) -> tuple[float, float]:
        """Return the bytes that statistics store, and the bytes that the computation of one takes."""
        products = [LENGTH * (x.rank + 1) * (y.rank + 1) for x, y in some]
        squares = [(each.rank + 1) ** 2 for each in dict.fromkeys(each for both in some for each in both)]
        return 8.0 * blocks.groups * (sum(products) + sum(squares)), 32.0 * blocks.groups * max(products)

    def takes(some: Sequence[Statistic]) -> float:
        stored, working = cells(some)
        return 2.0 * stored + working

    (hypothesis,), features = _fitting([hypothesis], takes, "sums of products", settings, spare=spare)
    stored, working = cells(features)
    with kernel_progress(settings.progress):
        maps = [(x.features, y.features) for x, y in features]
        products = products_of(source, blocks, maps, (settings.memory - stored - working) / stored)
    return run(replace(hypothesis, products=products), estimator, specs, settings, generator)


# --- before rows are read -----------------------------------------------------------------------------------


def _statistics(estimator: Any, specs: Sequence[KernelSpec], test: str) -> tuple[list[MeanEstimator], list[Kernel]]:
    """Return all estimators and kernels that the arguments of a test ask for."""
    if isinstance(estimator, Ensemble) or is_auto(estimator):
        members = collect(estimator, specs, (), np.random.default_rng(0), test, ()).members
        each = [member.kernel if isinstance(member.kernel, tuple) else (member.kernel,) for member in members]
        return [member.estimator for member in members], [kernel for kernels in each for kernel in kernels]
    pairs = [(spec.kernel if isinstance(spec.kernel, list | tuple) else [spec.kernel], spec.name) for spec in specs]
    return estimators_of(estimator), [as_kernel(kernel, name=name) for kernels, name in pairs for kernel in kernels]


def _check(
    estimator: Any,
    specs: Sequence[KernelSpec],
    settings: Settings,
    test: str,
    refused: Mapping[str, Any],
    reading: Mapping[str, Any],
) -> None:
    """Raise ValueError for arguments that take all rows at once."""
    for argument, value in refused.items():
        if value is not None and value is not False:
            raise ValueError(f"{argument}= is not available for rows on disk; leave it out")
    if (policy := reading["nan_policy"]) not in ("raise", "omit", "indicator"):
        raise ValueError(f"nan_policy={policy!r} is not available for rows on disk; use 'raise', 'omit' or 'indicator'")
    checked_types(reading["column_types"])
    if isinstance(reading["scale"], str):
        checked_units(reading["scale"])
    estimators, kernels = _statistics(estimator, specs, test)
    for each in estimators:
        sums_suffice = each.needs == "sums" if test == INDEPENDENCE.name else each.by_coordinates
        if each.changes_features or each.smooths or not sums_suffice:
            raise ValueError(
                f"{each!r} needs rows, and is not available for rows on disk; use estimator='kme' or 'skmse'"
            )
    if settings.rank is not None:
        count(settings.rank, "rank", minimum=1)
    for kernel in kernels:
        if checked_route(kernel, settings.gram) == "factor" and settings.rank is not None:
            raise ValueError(f"rank={settings.rank} is for gram='nystrom' or 'rff'; {kernel!r} has features of its own")


def _store(settings: Settings, rng: Any) -> Store | None:
    if settings.store is None:
        return None
    if rng is None:
        raise ValueError("store= takes a seed (rng=0, say), so that a run that goes on draws the same bins")
    return Store.at(settings.store)


# --- what both passes read ----------------------------------------------------------------------------------


def _read_samples(
    kind: type[AnyBinned],
    samples: Sequence[Any],
    names: Sequence[str],
    settings: Settings,
    rng: Any,
    generator: np.random.Generator,
    rank: int,
    *,
    scale: Any,
    nan_policy: str,
    column_types: Any,
    **options: Any,
) -> AnyBinned:
    """Read samples once; ``rank`` is the default number of features."""
    batches, keys = as_batches(samples, names), independent_rng(generator, 2)
    with kernel_progress(settings.progress):
        rows, columns = rows_of_samples(batches, names, nan_policy, checked_types(column_types))
        name = " and ".join(names) if kind is TwoBinned else "the samples"
        source = OnDisk.read(
            rows, [Part(name, columns)], [scale], nan_policy=nan_policy, drawn=settings.rank or rank, rng=keys,
            workers=settings.readers, store=_store(settings, rng),
        )  # fmt: skip
    seen, bins = source.survey, Bins.drawn(source.survey.sizes, batches[0].bins, keys)
    points, (units,), (encoding,) = seen.pooled[0].rows, source.units, source.encodings
    return kind(
        variables=(Variable(points, name, units, encoding, not is_unasked(scale)),),
        sizes=bins.counts,
        remarks=source.notes,
        source=source,
        bins=bins,
        untested=source.left_out,
        listwise=sum(seen.omitted) if len(columns or seen.pooled[0].low) > 1 else 0,
        **options,
    )


def _with_features(
    hypothesis: AnyOnDisk,
    estimator: Any,
    specs: Sequence[KernelSpec],
    settings: Settings,
    generator: np.random.Generator,
    rank: int,
    columns: slice | None = None,
) -> tuple[AnyOnDisk, Any, list[KernelSpec], bool]:
    """Return a hypothesis with the features of every statistic, what :func:`run` takes, and what may be left out.

    ``rank`` is the default number of features; those of a kernel do not depend on what it is combined with.
    """
    variables, test = hypothesis.variables, hypothesis.kind.name
    spare, several = spares(estimator, test), is_several(estimator, specs)
    if several:
        draw = independent_rng(generator, 3)
        ensemble = collect(estimator, specs, variables, draw, test, hypothesis.n_observations)
        each = [member.kernel for member in ensemble.members]
        statistics = [kernels if isinstance(kernels, tuple) else (kernels,) for kernels in each]
        estimator = estimator if spare else ensemble  # those that are recommended are known by their name
        specs = [KernelSpec("gaussian", "median", spec.name) for spec in specs]  # the ensemble has the kernels
    else:
        statistics = [tuple(as_kernel(spec.kernel, spec.bandwidth, spec.name) for spec in specs)]
        specs = [KernelSpec(kernel, "median", spec.name) for kernel, spec in zip(statistics[0], specs, strict=True)]
    products = _PRODUCTS[len(variables) - 1]
    known: list[list[RowFeatures]] = []
    for v, use in zip(range(len(variables)), (3, 5), strict=False):  # uses of random numbers
        options: dict[str, Any] = {"gram": settings.gram, "rank": settings.rank or rank, "products": products}
        kernels = [statistic[v] for statistic in statistics]
        distinct = [kernel for i, kernel in enumerate(kernels) if kernel not in kernels[:i]]
        draws = partial(independent_rng, generator, use)
        distinct_features = [RowFeatures.of(kernel, variables[v], columns, rng=draws, **options) for kernel in distinct]
        known.append([distinct_features[distinct.index(kernel)] for kernel in kernels])
    features = list(dict.fromkeys(zip(*known, strict=True)))
    return replace(hypothesis, features=features), estimator, list(specs), spare and several


def _fitting(
    hypotheses: Sequence[AnyOnDisk],
    takes: Callable[[list[Statistic]], float],
    what: str,
    settings: Settings,
    *,
    spare: bool,
) -> tuple[list[AnyOnDisk], list[Statistic]]:
    """Return hypotheses with the statistics that fit into memory, and all of these statistics.

    Raises MemoryError if the first does not fit or, without ``spare``, if any does not.
    """
    selected: list[Statistic] = []
    lacking = ""
    for features in [features for hypothesis in hypotheses for features in hypothesis.features]:
        if (needed := takes([*selected, features])) <= settings.memory:
            selected.append(features)
            continue
        limit = f"more than max_memory={bytes_of(settings.memory)}"
        lacking = f"{what} take {bytes_of(needed)}, {limit}; give a smaller rank="
        if not spare or not selected:
            raise MemoryError(lacking)
    fitting = [
        replace(each, features=[features for features in each.features if features in selected], lacking=lacking)
        for each in hypotheses
    ]
    return fitting, selected


def _in_bins(hypotheses: Sequence[AnyBinned], settings: Settings, *, spare: bool) -> list[AnyBinned]:
    """Return hypotheses about the same samples with the means of their features in bins, from one reading."""
    source, bins = hypotheses[0].source, hypotheses[0].bins
    total = sum(bins.counts)

    def takes(some: Sequence[Statistic]) -> float:
        ranks = [features.rank for (features,) in some]
        return 8.0 * total * (sum(ranks) + max(sum(ranks), 2 * max(ranks)))

    fitting, selected = _fitting(hypotheses, takes, f"features in {counted(total, 'bin')}", settings, spare=spare)
    with kernel_progress(settings.progress):
        means = bins.means(source, [features.features for (features,) in selected], settings.memory)
    known = dict(zip(selected, means, strict=True))
    return [replace(each, means=[known[features] for features in each.features]) for each in fitting]
