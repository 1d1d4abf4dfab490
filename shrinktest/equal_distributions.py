"""Samples that have one distribution."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from shrinktest.data.kept_rows import KeptRows
from shrinktest.data.labels import named_samples, numbered
from shrinktest.data.read import XY, read_samples
from shrinktest.data.repeats import repeat_notes
from shrinktest.data.tables import names_for
from shrinktest.estimators import KME, MeanEstimator
from shrinktest.fitted import EffectOptions, FittedStatistic, TestContext, Witness
from shrinktest.hypothesis import Hypothesis
from shrinktest.kernels import Rescaled
from shrinktest.kernels.pooled import Differences, seen
from shrinktest.notes import note
from shrinktest.permutations.base import Draws, Permutations
from shrinktest.permutations.block_length import split_by_blocks
from shrinktest.permutations.null import null_distribution
from shrinktest.permutations.serial_correlation import (
    BY_BLOCKS_OR_GROUPS,
    BY_GROUPS,
    OrderedRows,
    SerialCorrelation,
    moved_in_time,
    short,
)
from shrinktest.results.info import K_SAMPLE, TWO_SAMPLE, TestInfo
from shrinktest.statistics.kernel_cache import KernelCache
from shrinktest.statistics.mmd import POOLED, Contrast, mean_difference, prepare
from shrinktest.statistics.statistic import Form, Prepared

if TYPE_CHECKING:
    from shrinktest.results.effect import KSampleEffect, TwoSampleEffect


@dataclass(frozen=True, eq=False, kw_only=True)
class EqualDistributions(Hypothesis):
    """All samples have one distribution, so that observations may change samples.

    The one variable has the pooled observations (N, d), sample after sample.
    """

    kind: ClassVar[TestInfo] = K_SAMPLE
    serial_remedy: ClassVar[str] = BY_GROUPS

    # how the distances of the samples' means add up; see `Contrast`
    comparison: str = "pairs"
    weights: str = "sizes"
    untested: Mapping[str, str] = field(
        default_factory=dict
    )  # reasons for columns that are left out
    listwise: int = 0  # rows left out for missing values that have values in other columns

    @classmethod
    def read(
        cls,
        *samples: Any,
        nan_policy: str = "raise",
        own: Any = None,
        comparison: str = "pairs",
        weights: str = "sizes",
        **reading: Any,
    ) -> Self:
        """Read the samples as users give them; see :func:`~shrinktest.data.read.read_samples`."""
        given, called = named_samples(samples)
        names = names_for(given, called or numbered("samples", len(given)))
        read = read_samples(given, names, nan_policy, **reading)
        variable = replace(read.variables[0], name="the samples")
        return cls._of(
            replace(read, variables=(variable,)),
            repeats_in=names,
            called=called,
            own=own,
            comparison=comparison,
            weights=weights,
        )

    @classmethod
    def _of(
        cls,
        samples: KeptRows,
        *,
        own: Any = None,
        repeats_in: Sequence[str] = (),
        **options: Any,
    ) -> Self:
        """Make the hypothesis.

        Notes on repeated rows in samples of these names are found when they are read; they are also
        on the independence of rows, if these are permuted one by one.
        """
        repeats: Callable[[], tuple[str, ...]] = tuple
        if repeats_in and not samples.restriction.paired:
            repeats = partial(
                repeat_notes,
                samples.values,
                repeats_in,
                samples.encodings[0],
                independent=not samples.restriction and own is None,
            )
        return cls(
            variables=samples.variables,
            sizes=samples.sizes,
            missing=samples.missing,
            restriction=samples.restriction,
            own=own,
            remarks=samples.notes,
            repeats=repeats,
            untested=samples.left_out[0],
            listwise=samples.omitted,
            **options,
        )

    @property
    def pooled(self) -> np.ndarray:
        """All observations (N, d), sample after sample."""
        return self.variables[0].points

    def _rows(self, blocks: np.ndarray | None = None) -> OrderedRows:
        """Return the rows of each sample or block, to check for serial correlation."""
        samples = np.split(np.arange(len(self.pooled)), np.cumsum(self.sizes)[:-1])
        return self.variables[0].rows_of(*split_by_blocks(samples, blocks))

    def serial_correlation(self) -> SerialCorrelation | None:
        """Return the serial correlation of the samples, or of the differences of pairs."""
        if (
            len(self.pooled) != sum(self.sizes) or self.variables[0].numbers
        ):  # places, or values, are not known
            return None
        if self.restriction.paired:
            matched = self.pooled.reshape(len(self.sizes), self.sizes[0], -1)
            differences = OrderedRows.of(
                list(matched - matched.mean(axis=0)), self.variables[0].encoding
            )
            return differences.correlated("differences within pairs")
        if not self.restriction.by_rows:
            return None
        return self._rows(self.restriction.blocks).correlated("a sample")

    @property
    def contrast(self) -> Contrast:
        """Sum of distances that the statistic is."""
        return Contrast(self.sizes, self.comparison, self.weights)

    def _allowed(self, alpha: float, symmetric: bool) -> Permutations:
        return self.restriction.labels(self.sizes, alpha, symmetric=symmetric)

    @property
    def described(self) -> str:
        """The test with its article, and with what restricts its statistics."""
        pooled = f" with comparison={POOLED!r}" if self.comparison == POOLED else ""
        return f"{super().described}{pooled}"

    @property
    def forms(self) -> tuple[str, ...]:
        """All statistics, or the squared norm: the pooled sample shares rows with all samples."""
        names = super().forms
        if self.comparison == POOLED:
            return tuple(name for name in names if self.kind.form(name).squared_norm)
        return names

    @property
    def automatic(self) -> str:
        """Return "unbiased" if sizes differ and this form exists.

        The biased form is one-sided if sizes differ.
        """
        return "unbiased" if len(set(self.sizes)) > 1 and self.comparison != POOLED else "biased"

    def tuning(self, estimator: MeanEstimator) -> str:
        """Return what the estimator tunes for samples of these sizes."""
        tuning = estimator.tuning_for(self.sizes)
        two = len(self.sizes) == 2 and self.comparison == "pairs"
        if estimator.smooths and tuning not in ("pooled", "fixed") and not two:
            raise ValueError(
                f"tuning={tuning!r} gives samples different noise, so that equal distributions "
                "would have different "
                "estimates; use tuning='pooled', or fix the variance"
            )
        return tuning

    def effect(self, context: TestContext, options: EffectOptions) -> KSampleEffect:
        """Return how different every two samples are."""
        from shrinktest.results.effect import KSampleEffect

        if options.columns:
            raise ValueError("columns=True is for two samples; test the pair in question by itself")
        names = tuple(map(str, options.names)) or self.kind.estimate_names(len(self.sizes))
        which = list(combinations(range(len(self.sizes)), 2))
        effects = self.pair_effects(
            context, which, [(names[i], names[j]) for i, j in which], options
        )
        notes = [text for effect in effects for text in effect.notes]
        if len(which) > 1:
            notes.append(note("effect-of-pair"))
        return KSampleEffect(
            names=names,
            pairs=dict(zip(which, effects, strict=True)),
            z=options.z,
            confidence=options.confidence,
            notes=tuple(dict.fromkeys(notes)),
        )

    def pair_effects(
        self,
        context: TestContext,
        which: Sequence[tuple[int, int]],
        names: Sequence[tuple[str, str]],
        options: EffectOptions,
    ) -> list[TwoSampleEffect]:
        """Return how different pairs of samples are, without the z of the test."""
        from shrinktest.measured_effect import pair_effects

        effects = pair_effects(context, self.restriction, which, names, options)
        if self.own is None:
            return effects
        design = note("effect-without-design", design="your permutations")
        return [replace(effect, notes=(*effect.notes, design)) for effect in effects]

    def prepare(
        self, estimator: MeanEstimator, kernel: Any, form: Form, cache: KernelCache
    ) -> Prepared:
        """Prepare the distances of the estimates for every partition."""
        tuning = self.tuning(estimator)
        compared = kernel
        rows = self.pooled
        if isinstance(kernel, Differences | Rescaled):
            compared, rows = seen(kernel, self.pooled)
        if rows is not self.pooled and not self.paired:
            raise ValueError(
                f"kernel: {kernel!r} compares differences within pairs, and needs paired=True"
            )
        prepared = prepare(
            estimator,
            compared,
            rows,
            self.contrast,
            form=form,
            tuning=tuning,
            cache=cache,
            bins=not self.restriction and self.own is None,
        )
        return prepared if compared is kernel else replace(prepared, kernel=kernel)


@dataclass(frozen=True, eq=False, kw_only=True)
class TwoEqualDistributions(EqualDistributions):
    """Two samples have one distribution."""

    kind: ClassVar[TestInfo] = TWO_SAMPLE
    serial_remedy: ClassVar[str] = BY_BLOCKS_OR_GROUPS

    @classmethod
    def read(  # type: ignore[override]  # these are two
        cls,
        X: Any,
        Y: Any,
        *,
        nan_policy: str = "raise",
        block_length: Any = None,
        called: tuple[str | None, ...] = (),
        own: Any = None,
        **reading: Any,
    ) -> Self:
        """Read two samples as users give them; ``called`` are their names."""
        names = names_for((X, Y), XY, called)
        read = read_samples((X, Y), names, nan_policy, **reading)
        if block_length is not None:
            rows = OrderedRows.of(read.values, read.encodings[0])
            keep = np.concatenate(read.kept)
            read = replace(
                read, restriction=moved_in_time(block_length, [rows], read.restriction, keep)
            )
        if read.restriction.paired:
            read = read.matched()
        return cls._of(read, called=called, own=own, repeats_in=names)

    def serial_notes(self) -> tuple[str, ...]:
        """Return notes on serial correlation, and on blocks or series too short for it.

        The blocks are blocks of rows.
        """
        if self.restriction.block_length is not None:
            return short([self._rows()], self.restriction, "a sample")
        return super().serial_notes()

    def effect(self, context: TestContext, options: EffectOptions) -> TwoSampleEffect:  # type: ignore[override]  # of these two
        """Return how different the samples are."""
        from shrinktest.measured_differences import differences, only_column

        (effect,) = self.pair_effects(context, [(0, 1)], [options.pair], options)
        measured: tuple[dict[str, Any], ...] = ()
        if options.columns or only_column(context) is not None:
            measured = differences(context, self.restriction, options.confidence)
        return replace(
            effect,
            z=options.z,
            shares=context.shares(options.rng) if options.columns else {},
            differences=measured,
        )

    def concluded(
        self, result: Any, member: FittedStatistic, cache: KernelCache, rng: np.random.Generator
    ) -> Any:
        """Return the result, with a note if the mean difference within pairs would reject.

        The note uses the same permutations.
        """
        single = self.paired and not self.variables[0].numbers and isinstance(result.estimator, KME)
        if not single or not result.null.values.size or result.pvalue <= result.alpha:
            return result
        statistic = mean_difference(*np.split(self.variables[0].compared(), 2))
        pvalue = null_distribution(
            statistic, result.context.draws, stopping=result.null.stopping
        ).pvalue
        if pvalue > result.alpha:
            return result
        return replace(result, notes=(*result.notes, note("differences-alone", pvalue=pvalue)))

    def context(self, members: tuple[FittedStatistic, ...], draws: Draws) -> TestContext:
        """Return what results carry, with permutations of a single statistic for bands.

        The bands are witness bands.
        """
        return Witness(self, members, draws)
