"""Run tests of rows on disk, in memory if they fit, else by features in two passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from shrinktest._check import choice, count, counted
from shrinktest._parallel import kernel_progress
from shrinktest._random import as_rng, independent_rng
from shrinktest.auto import collect, estimators_of, spares
from shrinktest.data.all_rows import checked_types
from shrinktest.data.on_disk.bins import Bins
from shrinktest.data.on_disk.chunks import Store
from shrinktest.data.on_disk.on_disk import OnDisk, Part, checked_units
from shrinktest.data.on_disk.pairs import LENGTH, Blocks, pairs_of, products_of
from shrinktest.data.on_disk.rows import rows_of_samples
from shrinktest.data.on_disk.sources import BINS, Batches, as_batches
from shrinktest.data.on_disk.whole import read_whole
from shrinktest.data.read import XY
from shrinktest.data.scale import ScaleOption, is_automatic
from shrinktest.data.untestable import without_untestable
from shrinktest.data.variable import Variable
from shrinktest.ensembles import Ensemble
from shrinktest.estimators import MeanEstimator
from shrinktest.kernel_spec import KernelSpec, is_auto, is_several
from shrinktest.kernels import Gaussian, Kernel, as_kernel, compares_as_given
from shrinktest.kernels.inner import FeatureMap
from shrinktest.many import ColumnsToTest, dropping
from shrinktest.on_disk.hypotheses import (
    Binned,
    OnDiskHypothesis,
    PairsOnDisk,
    RowFeatures,
    TwoBinned,
    checked_route,
    plain,
)
from shrinktest.results.info import INDEPENDENCE, KINDS
from shrinktest.results.result import TestResult
from shrinktest.run import run
from shrinktest.settings import Settings
from shrinktest.statistics.kernel_cache import advised, bytes_of

AnyOnDisk = TypeVar("AnyOnDisk", bound=OnDiskHypothesis)
AnyBinned = TypeVar("AnyBinned", bound=Binned)
Statistic = tuple[RowFeatures, ...]  # features of every variable

RANK = 1000
RANK_OF_COLUMN = 100
RANK_OF_PAIRS = 50  # features of a kernel if nobody says how many,
_PRODUCTS = 1000, 3000  # and products of features at most, for samples and for pairs
_PART = 16.0  # of the memory that kernel values may take: what the rows themselves may


@dataclass(frozen=True, eq=False)
class OnDiskTest:
    """Test of rows on disk, by its arguments.

    Rows that fit in memory are read whole, others by features.
    """

    estimator: Any
    specs: Sequence[KernelSpec]
    settings: Settings
    rng: Any
    refused: Mapping[str, Any]  # arguments that take all rows at once, by name
    scale: Any
    nan_policy: str
    column_types: Any

    @cached_property
    def units(self) -> ScaleOption:
        """Units of columns, as the user gives them."""
        plain = all(compares_as_given(spec.kernel) for spec in self.specs)
        return ScaleOption.of(None if plain and is_automatic(self.scale) else self.scale)

    @cached_property
    def generator(self) -> np.random.Generator:
        """Source of all random numbers."""
        return as_rng(self.rng)

    def in_memory(self, samples: Sequence[Any], names: Sequence[str]) -> tuple[Any, ...]:
        """Return the samples as arrays or tables, so that rows are tested.

        They are unchanged if features are wanted.

        These are wanted by whoever gives ``gram``, ``rank``, ``store``, an executor, or a number of
        bins; and kernels with a few features of their own lose nothing by them.  Raises MemoryError
        for more rows than fit.
        """
        settings = self.settings
        batches = as_batches(samples, names)
        requested = (
            settings.gram != "auto" or settings.rank is not None or settings.store is not None
        )
        if (
            requested
            or not isinstance(settings.readers, int)
            or any(source.bins != BINS for source in batches)
        ):
            return tuple(samples)
        kernels = [] if is_auto(self.estimator) else self._statistics("")[1]
        if kernels and all(isinstance(plain(kernel), FeatureMap) for kernel in kernels):
            return tuple(samples)
        whole, rows, _ = read_whole(batches, names, self.column_types, settings.memory / _PART)
        if whole:
            return tuple(whole)
        advice = advised([*kernels, Gaussian()][0], RANK)
        raise MemoryError(
            f"{' and '.join(names)} have {rows} observations or more, which need more than "
            f"{bytes_of(settings.memory / _PART)}, a sixteenth of "
            f"max_memory={bytes_of(settings.memory)}; {advice}, or "
            "raise max_memory"
        )

    def run_samples(
        self, kind: type[Binned], samples: Sequence[Any], names: Sequence[str], **options: Any
    ) -> TestResult:
        """Test whether samples have one distribution; ``options`` go to the hypothesis."""
        if len(samples) < 2:
            raise ValueError(f"a test requires two or more samples, got {len(samples)}")
        self._check(kind.kind.name)
        whole = self._read_samples(kind, samples, names, RANK, self.column_types, **options)
        with kernel_progress(self.settings.progress):
            (points,) = whole.source.representative()
        (variable,) = whole.variables
        whole = replace(whole, variables=(replace(variable, points=points),))
        specs = [spec.by_feature(variable.encoding) for spec in self.specs]
        whole, estimator, specs, spare = self._with_features(whole, specs, RANK)
        (hypothesis,) = self._in_bins([whole], spare=spare)
        return run(hypothesis, estimator, specs, self.settings, self.generator)

    def read_columns(
        self, samples: Sequence[Any], spec: KernelSpec
    ) -> tuple[TwoBinned, ColumnsToTest, list[TwoBinned]]:
        """Return two samples, columns, and testable hypotheses about them, in one reading.

        The hypotheses are about those columns that can be tested.
        """
        self._check(TwoBinned.kind.name)
        whole, unread = without_untestable(
            lambda reasons: self._read_samples(
                TwoBinned, samples, XY, RANK_OF_COLUMN, dropping(self.column_types, reasons)
            )
        )
        (table,) = whole.variables
        constant = whole.source.survey.pooled[0].constant
        columns = ColumnsToTest.read(
            table, spec, "x", unread=unread, left_out=whole.untested, constant=constant
        )
        groups = (
            [slice(j, j + 1) for j in range(len(constant))]
            if table.encoding is None
            else table.encoding.groups
        )
        groups = [groups[column.place] for column in columns.tested]
        with kernel_progress(self.settings.progress):
            points = whole.source.representative(groups)
        hypotheses = []
        errors = {}
        for column, group, rows in zip(columns.tested, groups, points, strict=True):
            single = replace(whole, variables=(replace(column.values, points=rows),))
            try:
                single, _, _, spare = self._with_features(
                    single, [column.spec], RANK_OF_COLUMN, group
                )
                hypotheses.append(single)
            except ValueError as error:
                errors[column.label] = error
        if not hypotheses:
            raise next(iter(errors.values()))
        columns = columns.without({label: str(error) for label, error in errors.items()})
        return whole, columns, self._in_bins(hypotheses, spare=spare)

    def run_pairs(self, X: Any, Y: Any) -> TestResult:
        """Test whether two variables are independent."""
        self._check(INDEPENDENCE.name)
        settings = self.settings
        x, y = as_batches((X, Y), XY)
        keys = independent_rng(self.generator, 2)
        source, scales = self._read_pairs(x, y, keys)
        with kernel_progress(settings.progress):
            points = source.representative()
        blocks = Blocks.drawn(source.survey.sizes[0], keys)
        each = zip(points, XY, source.units, source.encodings, scales, strict=True)
        variables = tuple(
            Variable(rows, name, units, encoding, not scale.automatic)
            for rows, name, units, encoding, scale in each
        )
        hypothesis = PairsOnDisk(
            variables=variables,
            sizes=(blocks.used,),
            remarks=source.notes,
            source=source,
            blocks=blocks,
        )
        specs = [
            spec.by_feature(encoding)
            for spec, encoding in zip(self.specs, source.encodings, strict=True)
        ]
        hypothesis, estimator, specs, spare = self._with_features(hypothesis, specs, RANK_OF_PAIRS)

        def takes(some: Sequence[Statistic]) -> float:
            stored, working = _bytes_of_products(some, blocks.groups)
            return 2.0 * stored + working

        (hypothesis,), features = _fitting(
            [hypothesis], takes, "sums of products", settings.memory, spare=spare
        )
        stored, working = _bytes_of_products(features, blocks.groups)
        with kernel_progress(settings.progress):
            maps = [(x.features, y.features) for x, y in features]
            products = products_of(
                source, blocks, maps, (settings.memory - stored - working) / stored
            )
        return run(
            replace(hypothesis, products=products), estimator, specs, settings, self.generator
        )

    # --- before rows are read ---------------------------------------------------------------------

    def _statistics(self, test: str) -> tuple[list[MeanEstimator], list[Kernel]]:
        """Return all estimators and kernels of a test."""
        estimator = self.estimator
        specs = self.specs
        if isinstance(estimator, Ensemble) or is_auto(estimator):
            members = collect(estimator, specs, (), np.random.default_rng(0), test, ()).members
            each = [
                member.kernel if isinstance(member.kernel, tuple) else (member.kernel,)
                for member in members
            ]
            return [member.estimator for member in members], [
                kernel for kernels in each for kernel in kernels
            ]
        pairs = [
            (spec.kernel if isinstance(spec.kernel, list | tuple) else [spec.kernel], spec.name)
            for spec in specs
        ]
        kernels = [as_kernel(kernel, name=name) for kernels, name in pairs for kernel in kernels]
        return estimators_of(estimator), kernels

    def _check(self, test: str) -> None:
        """Raise ValueError for in-memory arguments and unavailable statistics.

        These are arguments that take all rows at once, and statistics that the test does not have.
        """
        kind = KINDS[test]
        forms = [name for name in kind.statistics if kind.form(name).by_kernel]
        choice(self.settings.form, ("auto", *forms), f"form of {kind.described}")
        for argument, value in self.refused.items():
            if value is not None and value is not False:
                raise ValueError(f"{argument}= is not available for data in batches; leave it out")
        if self.nan_policy not in ("raise", "omit", "indicator"):
            raise ValueError(
                f"nan_policy={self.nan_policy!r} is not available for data in batches; use "
                "'raise', "
                "'omit' or 'indicator'"
            )
        checked_types(self.column_types)
        if self.units.single:
            checked_units(self.units)
        estimators, kernels = self._statistics(test)
        for each in estimators:
            sums_suffice = (
                each.needs == "sums" if test == INDEPENDENCE.name else each.by_coordinates
            )
            if each.changes_features or each.smooths or not sums_suffice:
                raise ValueError(
                    f"{each!r} needs rows, and is not available for data in batches; use "
                    "estimator='kme' or 'skmse'"
                )
        rank = self.settings.rank
        if rank is not None:
            count(rank, "rank", minimum=1)
        for kernel in kernels:
            if checked_route(kernel, self.settings.gram) == "factor" and rank is not None:
                raise ValueError(
                    f"rank={rank} is for gram='nystrom' or 'rff'; {kernel!r} has its own features"
                )

    # --- what both passes read --------------------------------------------------------------------

    def _read(
        self,
        rows: Sequence[Any],
        parts: Sequence[Part],
        scales: Sequence[ScaleOption],
        rank: int,
        keys: np.random.Generator,
    ) -> OnDisk:
        """Read rows once; ``rank`` is the default number of features."""
        store = None
        if self.settings.store is not None:
            if self.rng is None:
                raise ValueError(
                    "store= requires a seed, such as rng=0, so that a resumed run draws the same "
                    "bins"
                )
            store = Store.at(self.settings.store)
        return OnDisk.read(
            rows,
            parts,
            scales,
            nan_policy=self.nan_policy,
            drawn=self.settings.rank or rank,
            rng=keys,
            workers=self.settings.readers,
            store=store,
        )

    def _read_pairs(
        self, x: Batches, y: Batches, keys: np.random.Generator
    ) -> tuple[OnDisk, list[ScaleOption]]:
        """Read pairs once; return also the units of both variables as users give them."""
        with kernel_progress(self.settings.progress):
            rows, parts = pairs_of(
                x, y, XY, nan_policy=self.nan_policy, types=checked_types(self.column_types)
            )
            scales = self.units.of_variables([part.names for part in parts])
            source = self._read([rows], parts, scales, RANK_OF_PAIRS, keys)
        (size,) = source.survey.sizes
        if size < 2 * LENGTH:
            raise ValueError(
                f"{rows.name} have {counted(size, 'pair')}, fewer than {2 * LENGTH}; pass "
                "arrays in memory"
            )
        return source, scales

    def _read_samples(
        self,
        kind: type[AnyBinned],
        samples: Sequence[Any],
        names: Sequence[str],
        rank: int,
        types: Any,
        **options: Any,
    ) -> AnyBinned:
        """Read samples once; ``rank`` is the default number of features."""
        batches = as_batches(samples, names)
        keys = independent_rng(self.generator, 2)
        with kernel_progress(self.settings.progress):
            rows, columns = rows_of_samples(batches, names, self.nan_policy, checked_types(types))
            name = " and ".join(names) if kind is TwoBinned else "the samples"
            source = self._read(rows, [Part(name, columns)], [self.units], rank, keys)
        seen = source.survey
        bins = Bins.drawn(source.survey.sizes, batches[0].bins, keys)
        points, (units,), (encoding,) = seen.pooled[0].rows, source.units, source.encodings
        return kind(
            variables=(Variable(points, name, units, encoding, not self.units.automatic),),
            sizes=bins.counts,
            remarks=source.notes,
            source=source,
            bins=bins,
            untested=source.left_out,
            listwise=sum(seen.omitted) if len(columns or seen.pooled[0].low) > 1 else 0,
            **options,
        )

    def _with_features(
        self,
        hypothesis: AnyOnDisk,
        specs: Sequence[KernelSpec],
        rank: int,
        columns: slice | None = None,
    ) -> tuple[AnyOnDisk, Any, list[KernelSpec], bool]:
        """Return a hypothesis with features of every statistic, and :func:`run` arguments.

        Return also if some statistics may be left out.
        """
        estimator = self.estimator
        variables = hypothesis.variables
        test = hypothesis.kind.name
        spare = spares(estimator, test)
        several = is_several(estimator, specs)
        if several:
            draw = independent_rng(self.generator, 3)
            ensemble = collect(estimator, specs, variables, draw, test, hypothesis.n_observations)
            each = [member.kernel for member in ensemble.members]
            statistics = [kernels if isinstance(kernels, tuple) else (kernels,) for kernels in each]
            estimator = (
                estimator if spare else ensemble
            )  # those that are recommended are known by their name
            specs = [
                KernelSpec("gaussian", "median", spec.name) for spec in specs
            ]  # the ensemble has the kernels
        else:
            statistics = [
                tuple(as_kernel(spec.kernel, spec.bandwidth, spec.name) for spec in specs)
            ]
            specs = [
                KernelSpec(kernel, "median", spec.name)
                for kernel, spec in zip(statistics[0], specs, strict=True)
            ]
        gram = self.settings.gram
        rank = self.settings.rank or rank
        products = _PRODUCTS[len(variables) - 1]
        known: list[list[RowFeatures]] = []
        for v, use in zip(range(len(variables)), (3, 5), strict=False):  # uses of random numbers
            kernels = [statistic[v] for statistic in statistics]
            distinct = [kernel for i, kernel in enumerate(kernels) if kernel not in kernels[:i]]
            draws = partial(independent_rng, self.generator, use)
            features = [
                RowFeatures.of(
                    kernel,
                    variables[v],
                    columns,
                    gram=gram,
                    rank=rank,
                    products=products,
                    rng=draws,
                )
                for kernel in distinct
            ]
            known.append([features[distinct.index(kernel)] for kernel in kernels])
        every = list(dict.fromkeys(zip(*known, strict=True)))
        return replace(hypothesis, features=every), estimator, list(specs), spare and several

    def _in_bins(self, hypotheses: Sequence[AnyBinned], *, spare: bool) -> list[AnyBinned]:
        """Return hypotheses about the same samples with binned mean features, in one reading."""
        source = hypotheses[0].source
        bins = hypotheses[0].bins
        memory = self.settings.memory
        total = sum(bins.counts)

        def takes(some: Sequence[Statistic]) -> float:
            ranks = [features.rank for (features,) in some]
            return 8.0 * total * (sum(ranks) + max(sum(ranks), 2 * max(ranks)))

        fitting, selected = _fitting(
            hypotheses, takes, f"features in {counted(total, 'bin')}", memory, spare=spare
        )
        with kernel_progress(self.settings.progress):
            means = bins.means(source, [features.features for (features,) in selected], memory)
        known = dict(zip(selected, means, strict=True))
        return [
            replace(each, means=[known[features] for features in each.features]) for each in fitting
        ]


def _bytes_of_products(statistics: Sequence[Statistic], groups: int) -> tuple[float, float]:
    """Return the bytes stored by statistics of pairs, and those used to compute one of them."""
    products = [LENGTH * (x.rank + 1) * (y.rank + 1) for x, y in statistics]
    margins = dict.fromkeys(margin for both in statistics for margin in both)
    squares = [(margin.rank + 1) ** 2 for margin in margins]
    stored = 8.0 * groups * (sum(products) + sum(squares))
    return stored, 32.0 * groups * max(products)


def _fitting(
    hypotheses: Sequence[AnyOnDisk],
    takes: Callable[[list[Statistic]], float],
    what: str,
    memory: float,
    *,
    spare: bool,
) -> tuple[list[AnyOnDisk], list[Statistic]]:
    """Return hypotheses with the statistics that fit into memory, and these.

    With ``spare`` others may not fit.
    """
    selected: list[Statistic] = []
    lacking = ""
    for features in [features for hypothesis in hypotheses for features in hypothesis.features]:
        if (needed := takes([*selected, features])) <= memory:
            selected.append(features)
            continue
        allowed = f"more than max_memory={bytes_of(memory)}"
        lacking = f"{what} need {bytes_of(needed)}, {allowed}; use a smaller rank="
        if not spare or not selected:
            raise MemoryError(lacking)
    fitting = [
        replace(
            each,
            features=[features for features in each.features if features in selected],
            lacking=lacking,
        )
        for each in hypotheses
    ]
    return fitting, selected
