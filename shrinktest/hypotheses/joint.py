"""Several variables that are jointly independent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from shrinktest._names import numbered
from shrinktest._read import read_variables
from shrinktest.estimators import MeanEstimator
from shrinktest.hypotheses.base import Hypothesis, variables_of
from shrinktest.permutations.base import Permutations
from shrinktest.permutations.schemes import Shuffles
from shrinktest.permutations.serial_correlation import SerialCorrelation, joint_correlation
from shrinktest.results.kinds import JOINT, Kind
from shrinktest.statistics.hsic import prepare_joint, tuning_of
from shrinktest.statistics.kernel_cache import KernelCache
from shrinktest.statistics.statistic import Prepared
from shrinktest.tables.pooled import is_unasked


@dataclass(frozen=True, eq=False, kw_only=True)
class JointIndependence(Hypothesis):
    """Several variables are jointly independent, so that all but the first may be permuted, each by itself."""

    kind: ClassVar[Kind] = JOINT
    in_time: ClassVar[str] = "test two variables at a time, with shift='circular'"

    @classmethod
    def read(
        cls,
        *variables: Any,
        nan_policy: str = "raise",
        scale: Any = None,
        column_types: Any = None,
        transform: Any = None,
        called: tuple[str, ...] = (),
        **options: Any,
    ) -> Self:
        """The hypothesis about variables as users give them; see :func:`~shrinktest._read.read_variables`.

        ``called`` are names of the variables.
        """
        names = called or numbered("variables", len(variables))
        told = {"scale": scale, "column_types": column_types, "transform": transform}
        read = read_variables(variables, names, nan_policy, **told)
        found = variables_of(read, names, said=not is_unasked(scale))
        return cls(
            variables=found,
            sizes=(len(read.values[0]),),
            missing=read.missing,
            remarks=read.notes,
            called=called or read.labels,
            **options,
        )

    def _allowed(self, n_resamples: float, alpha: float) -> Permutations:
        return Shuffles(self.sizes[0], len(self.variables))

    @property
    def identity(self) -> np.ndarray:
        """Places of the rows of all variables but the first."""
        return np.tile(np.arange(self.sizes[0]), (len(self.variables) - 1, 1))

    def memory(self) -> SerialCorrelation | None:
        """What successive rows of two of the variables have in common."""
        return joint_correlation([one.series for one in self.variables], [one.name for one in self.variables])

    def form(self, estimator: MeanEstimator, form: str) -> str:
        """There is the biased form only."""
        return "biased"

    def tuning(self, estimator: MeanEstimator) -> str:
        """As the estimator says for one sample of rows."""
        return tuning_of(estimator, self.sizes[0])

    def prepare(self, estimator: MeanEstimator, kernel: Any, form: str, cache: KernelCache, workers: int) -> Prepared:
        """Squared norm of the estimated mean of the features without main effects, for every shuffle."""
        values = [variable.points for variable in self.variables]
        return prepare_joint(estimator, kernel, values, cache)
