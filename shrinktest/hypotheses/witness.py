"""The witness function of two samples under the permutations of a test, its band, and contributions of columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from shrinktest._check import as_rng, complete_points, count, counted, flag, level
from shrinktest._parallel import memory_limit
from shrinktest.embedding import MeanEmbedding
from shrinktest.hypotheses.base import Variable
from shrinktest.hypotheses.context import TestContext
from shrinktest.kernels import Kernel
from shrinktest.kernels.differences import seen
from shrinktest.kernels.inner import FeatureMap
from shrinktest.kernels.pooled import taken_anew
from shrinktest.permutations.base import Draws
from shrinktest.results.witness import WitnessBand
from shrinktest.statistics.features import Features
from shrinktest.statistics.kernel_cache import KernelCache, Limits
from shrinktest.statistics.mmd import estimates_of
from shrinktest.statistics.statistic import part_weights

if TYPE_CHECKING:
    import pandas as pd

    from shrinktest.hypotheses.equality import EqualDistributions

_MOST = 256  # observations at which the witness function is shown
_FEW = 5  # exchanges of a column for its share
_NO_LIMIT = 1e18  # bytes: the test has already made a Gram matrix of the same size
_VALUES = 2**22  # of the kernel at a time


@dataclass(frozen=True, eq=False)
class Witness(TestContext):
    """Data, statistics and permutations of a two-sample test, to compute its estimates again.

    Bands and contributions are those of a single member; see `TestContext.only`.
    """

    hypothesis: EqualDistributions
    draws: Draws

    def only(self, i: int) -> Self:
        """Keep one of the statistics; of differences within pairs, with these for the rows."""
        member, kept = self.members[i], super().only(i)
        kernel, _ = seen(member.kernel, self.pooled)
        hypothesis = self.hypothesis.by_differences(member.kernel)
        return replace(kept, hypothesis=hypothesis, members=(replace(member, kernel=kernel),))

    def band(
        self, estimates: tuple[MeanEmbedding, ...], points: Any, *, confidence: float, studentize: bool
    ) -> WitnessBand:
        """Return the witness function at ``points`` (g, d), or averaged over r points each (g, r, d), with its band.

        Without ``points`` it is evaluated at the distinct observations in the order of their columns, or 256 of them
        evenly spaced.
        """
        confidence, studentize = level(confidence, "confidence"), flag(studentize, "studentize")
        if points is None:
            points = np.unique(self.pooled, axis=0)
            points = points[np.linspace(0, len(points) - 1, min(len(points), _MOST)).round().astype(np.intp)]
        shape = np.shape(points)
        groups = len(shape) == 3 and 0 not in shape
        flat = complete_points(np.reshape(points, (-1, shape[2])) if groups else points, "points").values
        at = flat.reshape(shape if groups else (len(flat), 1, -1))
        if at.shape[2] != self.pooled.shape[1]:
            raise ValueError(f"points has {counted(at.shape[2], 'column')}, the samples have {self.pooled.shape[1]}")
        if self.draws.count < 2:
            raise ValueError("n_resamples=0 leaves no permutations for a band; run the test with some")
        rows = self._functions(estimates, at, self.draws.rows())
        options: dict[str, Any] = {"exact": self.draws.exact, "confidence": confidence, "studentize": studentize}
        return WitnessBand.of(at.mean(axis=1), rows, **options)

    def _functions(self, estimates: tuple[MeanEmbedding, ...], at: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """The witness functions (rows, g) of all permutations, with the estimator fitted again in each."""
        kernel, estimator, tuning = estimates[0].kernel, self.leading.estimator, self.leading.tuning
        if tuning == "pooled":
            estimator = estimator.tuned(kernel, self.pooled)
        if estimator.needs == "noise" or (estimator.changes_features and not estimator.smooths):
            flat, out = at.reshape(-1, at.shape[2]), []
            for first in labels == 0:
                x, y = estimates_of(estimator, kernel, [self.pooled[first], self.pooled[~first]], tuning)
                out.append((x.embedding(flat) - y.embedding(flat)).reshape(at.shape[:2]).mean(axis=1))
            return np.stack(out)
        form = "factor" if isinstance(kernel, FeatureMap) and estimator.by_coordinates else "dense"
        gram = Features(form, kernel, self.pooled)
        weights = part_weights(estimator, gram, self.hypothesis.sizes, tuning)(labels)
        if not np.isfinite(weights).all():
            raise ValueError("the estimator could not be computed on a permuted sample; use more shrinkage")
        if estimates[0].smoothing is not None:
            kernel = kernel.smoothed(np.asarray(estimates[0].smoothing), self.pooled.shape[1])
        return np.where(labels == 0, weights, -weights) @ _averaged(kernel, self.pooled, at)

    def contributions(self, *, n_repeats: int, rng: Any) -> pd.DataFrame:
        """Return how much of the statistic goes when a column's values are exchanged among all observations."""
        import pandas as pd

        repeats, generator = count(n_repeats, "n_repeats", minimum=2), as_rng(rng)
        encoding = self.hypothesis.variables[0].encoding
        columns: list[tuple[Any, Any]] = [(j, j) for j in range(self.pooled.shape[1])]
        if encoding is not None:
            names = encoding.names if encoding.named else range(len(encoding.names))
            columns = list(zip(names, encoding.groups, strict=True))
        whole, rows = self._statistic(self.pooled), []
        for name, places in columns:
            drops = np.empty(repeats)
            for r in range(repeats):
                changed = self.pooled.copy()
                changed[:, places] = generator.permutation(changed[:, places])
                drops[r] = whole - self._statistic(changed)
            share = drops.mean() / whole if whole > 0.0 else np.nan
            rows.append((name, drops.mean(), drops.std(ddof=1) / np.sqrt(repeats), share))
        return pd.DataFrame(rows, columns=["coordinate", "drop", "error", "share"])

    def shares(self, rng: np.random.Generator) -> dict[str, float]:
        """Return what each column contributes to the statistic, as a share of it."""
        if len(self.members) > 1:
            return super().shares(rng)
        table = self.contributions(n_repeats=_FEW, rng=rng)
        return dict(zip(map(str, table["coordinate"]), map(float, table["share"]), strict=True))

    def _statistic(self, pooled: np.ndarray) -> float:
        """The statistic of other observations by the route of the test: without a Gram matrix if it made none."""
        changed = replace(self.hypothesis, variables=(Variable(pooled, self.hypothesis.variables[0].name),))
        member, gram, memory = self.leading, "dense", _NO_LIMIT
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
