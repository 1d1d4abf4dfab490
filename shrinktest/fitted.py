"""Data and fitted statistics of a result for effects, witness bands and column contributions."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from shrinktest._check import Points, complete_points, count, counted, flag, level
from shrinktest._parallel import memory_limit, single_blas_thread
from shrinktest._random import as_rng
from shrinktest.data.tables import table_of
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import MeanEstimator
from shrinktest.kernels import Kernel
from shrinktest.kernels.inner import FeatureMap
from shrinktest.kernels.pooled import compares_differences, seen, taken_anew
from shrinktest.permutations.base import Draws
from shrinktest.results.witness import WitnessBand
from shrinktest.statistics.features import KernelFeatures
from shrinktest.statistics.kernel_cache import KernelCache
from shrinktest.statistics.mmd import estimates_of
from shrinktest.statistics.statistic import part_weights

if TYPE_CHECKING:
    import pandas as pd

    from shrinktest.equal_distributions import EqualDistributions
    from shrinktest.hypothesis import Hypothesis
    from shrinktest.results.regions_result import RegionsResult

_NOT_IN_PICKLE = (
    "this result was pickled without its data, which effects and witness functions need; pickle "
    "result.with_data()"
)
_MOST = 256  # observations at which the witness function is shown
_FEW = 5  # exchanges of a column for its share
_VALUES = 2**22  # of the kernel at a time


@dataclass(frozen=True, eq=False)
class FittedStatistic:
    """A statistic of a test, with its kernels and estimator."""

    estimator: MeanEstimator  # as it was given; None, as the kernel, if the statistic has none
    kernel: Any  # with its bandwidth; a tuple of several
    features: tuple[
        Kernel, ...
    ]  # of the features that the estimator works with, one for every variable
    form: str
    tuning: str
    weight: float = 1.0  # within a combination
    approximated: bool = False  # whether the features approximate the kernel


@dataclass(frozen=True, eq=False)
class EffectOptions:
    """Arguments of ``result.effect()``, with the z and the names of the result."""

    z: float
    confidence: float
    folds: int | None
    rng: np.random.Generator
    columns: bool
    names: tuple[str | None, ...] = ()  # of the samples or variables
    scored: bool = True  # whether to estimate separability, which takes longest

    @property
    def pair(self) -> tuple[str, str]:
        """Names of two samples or variables; X and Y if they have none."""
        first, second = self.names or (None, None)
        return first or "X", second or "Y"


@dataclass(frozen=True, eq=False)
class TestContext:
    """Data and fitted statistics kept for effects and witness bands.

    A text in pickles, unless ``keep``.
    """

    __test__: ClassVar[bool] = False  # not a test class for pytest

    hypothesis: Hypothesis  # the data
    members: tuple[FittedStatistic, ...]  # the statistics: one, or several that are combined
    keep: bool = field(default=False, kw_only=True)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return super().__reduce_ex__(protocol) if self.keep else (str, (_NOT_IN_PICKLE,))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def only(self, i: int) -> Self:
        """Keep one of the statistics."""
        return replace(self, members=self.members[i : i + 1])

    @property
    def pooled(self) -> np.ndarray:
        """The observations (N, d) of the first variable; of samples, one after the other."""
        return self.hypothesis.variables[0].points

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of observations."""
        return self.hypothesis.sizes

    @property
    def leading(self) -> FittedStatistic:
        """The statistic with the largest weight, which no data choose.

        Of differences within pairs only if alone.
        """
        return max(
            self.members,
            key=lambda member: (not compares_differences(member.kernel), member.weight),
        )

    def effect(self, **options: Any) -> Any:
        """Return how large the effect is; the arguments are fields of :class:`EffectOptions`."""
        self.require_features()
        with single_blas_thread(sum(self.hypothesis.n_observations)):
            return self.hypothesis.effect(self, EffectOptions(**options))

    def require_features(self) -> None:
        """Raise ValueError if a statistic has no features of a kernel."""
        for member in self.members:
            if not member.features:
                raise ValueError(
                    f"form={member.form!r} has no kernel features, so no effect size and no "
                    "witness function; "
                    "use form='auto'"
                )

    def regions(self, names: tuple[str, str], alpha: float, confidence: float) -> RegionsResult:
        """Return where two samples differ."""
        raise ValueError("regions: rows in batches were not kept; test a random subset in memory")

    def shares(self, rng: np.random.Generator) -> dict[str, float]:
        """Return what each column contributes to the statistic, as a share of it."""
        raise ValueError(
            "columns=True: this test combined several statistics; use one estimator and one "
            "bandwidth"
        )


@dataclass(frozen=True, eq=False)
class Witness(TestContext):
    """Data, statistics and permutations of a two-sample test.

    Bands and contributions belong to a single member.
    """

    hypothesis: EqualDistributions
    draws: Draws

    def only(self, i: int) -> Self:
        """Keep one of the statistics; of differences within pairs, with these for the rows."""
        member, (variable,) = self.members[i], self.hypothesis.variables
        kernel, rows = seen(member.kernel, variable.points)
        hypothesis = replace(self.hypothesis, variables=(replace(variable, points=rows),))
        return replace(self, hypothesis=hypothesis, members=(replace(member, kernel=kernel),))

    def band(
        self,
        estimates: tuple[MeanEmbedding, ...],
        points: Any,
        *,
        confidence: float,
        studentize: bool,
    ) -> WitnessBand:
        """Return the witness function at ``points`` (g, d), with its band.

        For points (g, r, d), it is averaged over r points each.

        Without ``points`` it is evaluated at the distinct observations in the order of their
        columns, or 256 of them evenly spaced.
        """
        self.require_features()
        confidence = level(confidence, "confidence")
        studentize = flag(studentize, "studentize")
        if points is None:
            points = np.unique(self.pooled, axis=0)
            points = points[
                np.linspace(0, len(points) - 1, min(len(points), _MOST)).round().astype(np.intp)
            ]
        shape = np.shape(points)
        averaged = len(shape) == 3 and 0 not in shape
        flat = complete_points(
            np.reshape(points, (-1, shape[2])) if averaged else points, "points"
        ).values
        at = flat.reshape(shape if averaged else (len(flat), 1, -1))
        if at.shape[2] != self.pooled.shape[1]:
            raise ValueError(
                f"points has {counted(at.shape[2], 'column')}, the samples have "
                f"{self.pooled.shape[1]}"
            )
        if self.draws.count < 2:
            raise ValueError("n_resamples=0: the band needs permutations; use n_resamples > 0")
        functions = self._functions(estimates, at, self.draws.rows())
        return WitnessBand.of(
            at.mean(axis=1),
            functions,
            exact=self.draws.exact,
            confidence=confidence,
            studentize=studentize,
        )

    def regions(self, names: tuple[str, str], alpha: float, confidence: float) -> RegionsResult:
        """Return in which boxes of columns two samples differ, by the permutations of the test."""
        from shrinktest.effects.regions import find_regions

        (variable,) = self.hypothesis.variables
        if variable.numbers:
            raise ValueError(
                "kernel: a precomputed matrix has no columns; test the rows themselves"
            )
        if self.draws.count < 2:
            raise ValueError("n_resamples=0: regions need permutations; use n_resamples > 0")
        encoding = variable.encoding
        if encoding is None:
            columns = table_of(Points(variable.points, None)).columns
        else:
            columns = encoding.decoded(variable.points)
        named = encoding is not None and encoding.named
        return find_regions(
            columns,
            [column.name if named else f"column {column.name}" for column in columns],
            (self.sizes[0], self.sizes[1]),
            self.draws,
            self.hypothesis.restriction,
            names=names,
            alpha=alpha,
            confidence=confidence,
            own=self.hypothesis.own is not None,
        )

    def _functions(
        self, estimates: tuple[MeanEmbedding, ...], at: np.ndarray, labels: np.ndarray
    ) -> np.ndarray:
        """Return the witness functions (rows, g) of all permutations.

        The estimator is fitted again in each permutation.
        """
        kernel = estimates[0].kernel
        estimator = self.leading.estimator
        tuning = self.leading.tuning
        if tuning == "pooled":
            estimator = estimator.tuned(kernel, self.pooled)
        if estimator.needs == "noise" or (estimator.changes_features and not estimator.smooths):
            flat = at.reshape(-1, at.shape[2])
            out = []
            for first in labels == 0:
                x, y = estimates_of(
                    estimator, kernel, [self.pooled[first], self.pooled[~first]], tuning
                )
                out.append(
                    (x.embedding(flat) - y.embedding(flat)).reshape(at.shape[:2]).mean(axis=1)
                )
            return np.stack(out)
        form = "factor" if isinstance(kernel, FeatureMap) and estimator.by_coordinates else "dense"
        weights = part_weights(
            estimator, KernelFeatures(kernel, self.pooled, form), self.sizes, tuning
        )(labels)
        if not np.isfinite(weights).all():
            raise ValueError(
                "the estimator could not be computed on a permuted sample; use more shrinkage"
            )
        if estimates[0].smoothing is not None:
            kernel = kernel.smoothed(np.asarray(estimates[0].smoothing), self.pooled.shape[1])
        step = max(1, _VALUES // (len(self.pooled) * at.shape[1]))
        averages = [  # of the kernel over each group of points, (N, groups)
            kernel(self.pooled, part.reshape(-1, at.shape[2]))
            .reshape(len(self.pooled), *part.shape[:2])
            .mean(axis=2)
            for part in np.split(at, range(step, len(at), step))
        ]
        return np.where(labels == 0, weights, -weights) @ np.concatenate(averages, axis=1)

    def contributions(self, *, n_repeats: int, rng: Any) -> pd.DataFrame:
        """Return how much the statistic drops when a column's values are exchanged.

        They are exchanged among all observations.
        """
        import pandas as pd

        self.require_features()
        repeats = count(n_repeats, "n_repeats", minimum=2)
        generator = as_rng(rng)
        encoding = self.hypothesis.variables[0].encoding
        columns: list[tuple[Any, Any]] = [(j, j) for j in range(self.pooled.shape[1])]
        if encoding is not None:
            names = encoding.names if encoding.named else range(len(encoding.names))
            columns = list(zip(names, encoding.groups, strict=True))
        whole = self._statistic(self.pooled)
        rows = []
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
        """Return the statistic of other observations by the route of the test.

        No Gram matrix is used if the test had none.
        """
        changed = replace(
            self.hypothesis, variables=(replace(self.hypothesis.variables[0], points=pooled),)
        )
        member = self.leading
        gram = "dense"
        memory = math.inf
        kernel = taken_anew(member.kernel, pooled)
        if isinstance(member.features[0], FeatureMap):
            if member.approximated and not member.estimator.changes_features:
                kernel = member.features[0]
                gram = "factor"
            else:  # coordinates that are exact for these observations need not be so for others
                gram = "auto"
                memory = memory_limit(None)
        cache = KernelCache(gram, None, memory, np.random.default_rng(self.draws.seed))
        prepared = changed.prepare(member.estimator, kernel, changed.form(member.form), cache)
        identity = np.repeat(np.arange(2, dtype=np.uint16), changed.sizes)
        return float(prepared.statistic(identity[None])[0, 0])
