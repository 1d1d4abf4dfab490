"""TestContext: the data of a test and the statistics it took of them, for what is asked of its result later."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from shrinktest._parallel import single_blas_thread
from shrinktest.estimators import MeanEstimator
from shrinktest.kernels import Kernel
from shrinktest.kernels.differences import of_differences

if TYPE_CHECKING:
    from shrinktest.hypotheses.base import Hypothesis

_NOT_IN_PICKLE = (
    "this result was pickled without its data, from which effects, the band, the contributions and the picture of the "
    "witness function are computed; pickle result.with_data(), or compute them before"
)


@dataclass(frozen=True, eq=False)
class FittedStatistic:
    """One statistic of a test."""

    estimator: MeanEstimator  # as it was given
    kernel: Any  # with its bandwidth; a tuple of several
    features: tuple[Kernel, ...]  # of the features that the estimator works with, one for every variable
    form: str
    tuning: str
    weight: float = 1.0  # within a combination
    approximated: bool = False  # whether the features stand for those of the kernel


@dataclass(frozen=True, eq=False)
class EffectOptions:
    """Arguments of ``result.effect()``, with the z and the names of the result."""

    z: float
    confidence: float
    folds: int | None
    rng: np.random.Generator
    columns: bool
    names: tuple[str | None, ...] = ()  # of the samples or variables


@dataclass(frozen=True, eq=False)
class TestContext:
    """Data and fitted statistics kept for effects and witness bands; a text in pickles, unless ``keep``."""

    hypothesis: Hypothesis  # the data
    members: tuple[FittedStatistic, ...]  # the statistics: one, or those of a combination
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
        """The statistic with the largest weight, which no data choose; of differences within pairs only if alone."""
        return max(self.members, key=lambda member: (not of_differences(member.kernel), member.weight))

    def effect(self, **options: Any) -> Any:
        """Return how large the effect is; the arguments are those of :class:`EffectOptions`."""
        with single_blas_thread(sum(self.hypothesis.n_observations)):
            return self.hypothesis.effect(self, EffectOptions(**options))

    def shares(self, rng: np.random.Generator) -> dict[str, float]:
        """What each column contributes to the statistic, where there is one statistic."""
        raise ValueError(
            "columns=True takes the statistic apart, and this test combined several; run two_sample_test with one "
            "estimator and one bandwidth"
        )
