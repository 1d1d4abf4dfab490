"""Witness: where two samples differ, recomputed over the permutations of a test, and which coordinates it is due to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import as_rng, complete_points, count, counted, flag, level
from shrinktest._parallel import memory_limit
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import MeanEstimator
from shrinktest.hypotheses.again import Again
from shrinktest.hypotheses.base import Variable
from shrinktest.kernels import Kernel
from shrinktest.kernels.inner import FeatureMap
from shrinktest.kernels.pooled import taken_anew
from shrinktest.permutations.base import Draws
from shrinktest.results.witness import WitnessBand
from shrinktest.statistics.features import Features
from shrinktest.statistics.kernel_cache import KernelCache, Limits
from shrinktest.statistics.mmd import estimates_of
from shrinktest.statistics.refit import part_weights

if TYPE_CHECKING:
    import pandas as pd

    from shrinktest.hypotheses.equality import EqualDistributions

_MOST = 256  # observations at which the witness function is shown
_FEW = 5  # exchanges of a column where only its share is asked for
_ROOM = 1e18  # bytes: the test has made a Gram matrix of the same size, and looked whether it fits
_VALUES = 2**22  # of the kernel at a time


@dataclass(frozen=True, eq=False)
class Witness(Again):
    """Data, statistics and permutations of a two-sample test, to compute its estimates again.

    Bands and contributions are those of a single member; see `Again.only`.
    """

    hypothesis: EqualDistributions
    draws: Draws  # the permutations of the test

    def band(
        self, estimates: tuple[MeanEmbedding, ...], points: Any, *, confidence: float, studentize: bool
    ) -> WitnessBand:
        """The witness function at ``points`` (g, d), or averaged over r points each (g, r, d), with its band.

        Without ``points``, at the observations, whatever their labels.
        """
        confidence, studentize = level(confidence, "confidence"), flag(studentize, "studentize")
        points = self._observations() if points is None else points
        shape = np.shape(points)
        groups = len(shape) == 3 and 0 not in shape
        flat = complete_points(np.reshape(points, (-1, shape[2])) if groups else points, "points").values
        at = flat.reshape(shape if groups else (len(flat), 1, -1))
        if at.shape[2] != self.pooled.shape[1]:
            raise ValueError(f"points has {counted(at.shape[2], 'column')}, the samples have {self.pooled.shape[1]}")
        if self.draws.count < 2:
            raise ValueError("n_resamples=0 leaves no permutations for a band; run the test with some")
        rows = self._functions(estimates, at, self.draws.rows())
        return WitnessBand.of(
            at.mean(axis=1), rows, exact=self.draws.exact, confidence=confidence, studentize=studentize
        )

    def _observations(self) -> np.ndarray:
        """The distinct observations in the order of their columns, or ``_MOST`` of them evenly spaced."""
        distinct = np.unique(self.pooled, axis=0)
        return distinct[np.linspace(0, len(distinct) - 1, min(len(distinct), _MOST)).round().astype(np.intp)]

    def _functions(self, estimates: tuple[MeanEmbedding, ...], at: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """The witness functions (rows, g) of all relabellings; estimators are fitted again in each."""
        kernel, used, tuning = estimates[0].kernel, self.leading.estimator, self.leading.tuning
        if tuning == "pooled":
            used = used.tuned(kernel, self.pooled)
        if used.needs == "noise" or (used.changes_features and not used.smooths):
            return np.stack([self._one(used, kernel, at, row == 0) for row in labels])
        gram = Features(
            "factor" if isinstance(kernel, FeatureMap) and used.by_coordinates else "dense", kernel, self.pooled
        )
        weights = part_weights(used, gram, self.hypothesis.sizes, tuning)(labels)
        if not np.isfinite(weights).all():
            raise ValueError("the estimator could not be computed on a permuted sample; use more shrinkage")
        smoothing = estimates[0].smoothing
        if smoothing is not None:
            kernel = kernel.smoothed(np.asarray(smoothing), self.pooled.shape[1])
        return np.where(labels == 0, weights, -weights) @ _averaged(kernel, self.pooled, at)

    def _one(self, estimator: MeanEstimator, kernel: Kernel, at: np.ndarray, first: np.ndarray) -> np.ndarray:
        """The function of one relabelling, for estimates that are no combination of the observations' features."""
        one, other = estimates_of(estimator, kernel, [self.pooled[first], self.pooled[~first]], self.leading.tuning)
        flat = at.reshape(-1, at.shape[2])
        return (one.embedding(flat) - other.embedding(flat)).reshape(at.shape[:2]).mean(axis=1)

    def contributions(self, *, n_repeats: int, rng: Any) -> pd.DataFrame:
        """How much of the statistic goes when a coordinate's values are exchanged among all observations."""
        import pandas as pd

        repeats, generator = count(n_repeats, "n_repeats", minimum=2), as_rng(rng)
        whole = self._statistic(self.pooled)
        rows = []
        for name, columns in self._coordinates():
            drops = np.empty(repeats)
            for r in range(repeats):
                changed = self.pooled.copy()
                changed[:, columns] = generator.permutation(changed[:, columns])
                drops[r] = whole - self._statistic(changed)
            share = drops.mean() / whole if whole > 0.0 else np.nan
            rows.append((name, drops.mean(), drops.std(ddof=1) / np.sqrt(repeats), share))
        return pd.DataFrame(rows, columns=["coordinate", "drop", "error", "share"])

    def shares(self, rng: np.random.Generator) -> dict[str, float]:
        """What each column contributes to the statistic, as a share of it."""
        if len(self.members) > 1:
            return super().shares(rng)
        found = self.contributions(n_repeats=_FEW, rng=rng)
        return dict(zip(map(str, found["coordinate"]), map(float, found["share"]), strict=True))

    def _coordinates(self) -> list[tuple[int | str, Any]]:
        """The columns as users know them: by name or number, and where they are among the columns of numbers."""
        encoding = self.hypothesis.variables[0].encoding
        if encoding is None:
            return [(j, j) for j in range(self.pooled.shape[1])]
        return list(zip(encoding.names if encoding.named else range(len(encoding.names)), encoding.groups, strict=True))

    def _statistic(self, pooled: np.ndarray) -> float:
        """The statistic of other observations, by the way that the test took: no Gram matrix where it made none."""
        changed = replace(self.hypothesis, variables=(Variable(pooled, self.hypothesis.variables[0].name),))
        member, gram, memory = self.leading, "dense", _ROOM
        kernel = taken_anew(member.kernel, pooled)
        if isinstance(member.features[0], FeatureMap):
            if member.approximated and not member.estimator.changes_features:
                kernel, gram = member.features[0], "factor"
            else:  # coordinates that are exact for these observations need not be so for others
                gram, memory = "auto", memory_limit(None)
        cache = KernelCache(Limits(gram, None, memory, np.random.default_rng(self.draws.seed)))
        try:
            prepared = changed.prepare(member.estimator, kernel, member.form, cache, 1)
        except MemoryError as error:
            raise MemoryError(
                f"what columns contribute is found on changed observations, whose kernel does not fit: {error}"
            ) from None
        identity = np.repeat(np.arange(2, dtype=np.uint16), changed.sizes)
        return float(prepared.statistic(identity[None])[0, 0])


def _averaged(kernel: Kernel, points: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The kernel between points (N, d) and groups of points (g, r, d), averaged over each group: (N, g)."""
    groups, many, columns = at.shape
    step = max(1, _VALUES // (len(points) * many))
    blocks = [
        kernel(points, at[start : start + step].reshape(-1, columns)).reshape(len(points), -1, many).mean(axis=2)
        for start in range(0, groups, step)
    ]
    return np.concatenate(blocks, axis=1)
