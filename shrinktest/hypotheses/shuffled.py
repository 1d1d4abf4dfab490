"""Samples in batches that have one distribution: their rows may change samples, one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn, cast

from shrinktest._validate import counted
from shrinktest.batches.blocks import Whole
from shrinktest.batches.labels import Labelling, bits_of, sums_by_label
from shrinktest.batches.shuffles import Shuffles
from shrinktest.batches.summands import summands_of
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import MeanEstimator
from shrinktest.estimators.scaled import ScaledMean
from shrinktest.hypotheses.bin_features import BinFeatures
from shrinktest.hypotheses.binned import Binned, TwoBinned
from shrinktest.hypotheses.kept_bins import BinnedPrepared
from shrinktest.kernels import Linear
from shrinktest.permutations.base import Permutations
from shrinktest.permutations.models import Numbered
from shrinktest.statistics.kernel_cache import KernelCache
from shrinktest.statistics.label_sums import LabelSums
from shrinktest.statistics.memory_limits import bytes_of
from shrinktest.statistics.mmd import notes_of
from shrinktest.statistics.statistic import Prepared

_COARSE = 0.02  # of the spread of features, which is the most that may be rounded


@dataclass(frozen=True, eq=False, kw_only=True)
class Shuffled(Binned):
    """All samples have one distribution, so that their rows, each a bin of its own, may change samples."""

    shuffles: Shuffles | None = None  # the permutations, once it is known how many there are

    def _allowed(self, n_resamples: float, alpha: float) -> Permutations:
        return Numbered(int(n_resamples))

    def prepare(self, estimator: MeanEstimator, kernel: Any, form: str, cache: KernelCache, workers: int) -> Prepared:
        """Read the samples again, and add up their features by sample for every permutation."""
        kept = next(one for one in self.features if one.kernel is kernel)
        used, tuning = cast(ScaledMean, estimator), self.tuning(estimator)
        sums = self._sums(kept, cache.limits.memory)
        factors, means = sums.factors(used, tuning), sums.means

        def estimates() -> tuple[MeanEmbedding, ...]:
            found = [
                MeanEmbedding(means[i : i + 1], factors[i : i + 1], Linear(), used._amount(float(factor)))
                for i, factor in enumerate(factors)
            ]
            return self.embeddings(found, kept.features)

        return BinnedPrepared(
            statistic=sums.statistic(used, self.contrast, tuning, form),
            estimates=estimates,
            kernel=kernel,
            route=kept.route,
            notes=(
                *notes_of(used, used, self.contrast, tuning, form),
                *kept.notes,
                *self._said(kept.kernel, kept.route),
            ),
            threads=False,
            features=(kept.features,),
            means=means,
        )

    def _sums(self, kept: BinFeatures, memory: float) -> LabelSums:
        """Sums by sample; raises MemoryError where they do not fit."""
        assert self.shuffles is not None
        crew, store = self.binning.crew, self.binning.store
        summands = summands_of(kept.features, self.survey.sample.shape[1])
        features = Whole.of(summands, self.survey.sample, self.survey.probe, bits_of(sum(self.sizes)))
        count, rank = len(self.shuffles.keys), len(features.exponents) - 1
        copies = 3 * len(self.sizes) + 2 * crew.size  # what was found, what is made of it, and what is on its way
        if (takes := 8.0 * copies * (count + 1) * (len(self.sizes) - 1) * (rank + 1)) > memory:
            raise MemoryError(
                f"sums of {counted(rank, 'feature')} for {counted(count, 'permutation')} take {bytes_of(takes)}, more "
                f"than max_memory={bytes_of(memory)}; give a smaller rank=, fewer n_resamples= or fewer workers="
            )
        labelling = Labelling(self.sizes, self.shuffles, features)
        sums, features = sums_by_label(self.rows, labelling, self.survey, crew, store)
        if features.lost(self.survey.sample) > _COARSE:
            raise ValueError(
                f"features of {kept.kernel!r} of the farthest rows are so much larger than others that whole numbers "
                f"of {features.bits} bits hold not both; use a Gaussian or Laplacian kernel with gram='rff', whose "
                "features are bounded"
            )
        return LabelSums(self.sizes, sums, features.centre)

    def _permuted(self) -> tuple[str, ...]:
        """What was permuted."""
        return ("Rows were permuted one by one, by shuffles of their numbers with random keys: the level is exact.",)

    def _apart(self, *given: Any, **asked: Any) -> NoReturn:
        """An effect takes bins, or rows, for its interval."""
        raise ValueError(
            "rows were permuted one by one (bins=None), and nothing was kept of which an effect has its interval; run "
            "the test with bins=2000 for that"
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class TwoShuffled(Shuffled, TwoBinned):
    """Two samples in batches have one distribution, and their rows are permuted one by one."""
