"""Two variables that are independent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from shrinktest.data.read import XY, read_variables
from shrinktest.estimators import MeanEstimator
from shrinktest.fitted import EffectOptions, TestContext
from shrinktest.hypothesis import Hypothesis
from shrinktest.kernels.bandwidths import require_in_range
from shrinktest.permutations.base import Permutations
from shrinktest.permutations.block_length import split_by_blocks
from shrinktest.permutations.serial_correlation import (
    BY_SHIFTS,
    SerialCorrelation,
    joint_correlation,
    short,
)
from shrinktest.results.effect import DependenceEffect
from shrinktest.results.info import INDEPENDENCE, TestInfo
from shrinktest.statistics.hsic import prepare, tuning_of
from shrinktest.statistics.kernel_cache import KernelCache
from shrinktest.statistics.statistic import Form, Prepared


@dataclass(frozen=True, eq=False, kw_only=True)
class Independence(Hypothesis):
    """Hypothesis that x (n, p) and y (n, q) are independent.

    The observations of y may then be permuted.
    """

    kind: ClassVar[TestInfo] = INDEPENDENCE
    serial_remedy: ClassVar[str] = BY_SHIFTS

    @classmethod
    def read(
        cls,
        X: Any,
        Y: Any,
        *,
        nan_policy: str = "raise",
        own: Any = None,
        **reading: Any,
    ) -> Self:
        """Read two variables as users give them.

        See :func:`~shrinktest.data.read.read_variables`.
        """
        read = read_variables((X, Y), XY, nan_policy, **reading)
        return cls(
            variables=read.variables,
            sizes=read.sizes,
            missing=read.missing,
            restriction=read.restriction,
            remarks=read.notes,
            called=read.called,
            own=own,
        )

    def lagged(self, lag: int) -> Self:
        """Match row t of x with row t + ``lag`` of y in every shifted series, whose ends meet."""
        x, y = self.variables
        order = np.arange(self.sizes[0])
        for rows in self.restriction.series(self.sizes[0]):
            order[rows] = np.roll(rows, -lag)
        return (
            replace(self, variables=(x, replace(y, points=np.ascontiguousarray(y.points[order]))))
            if lag
            else self
        )

    def serial_correlation(self) -> SerialCorrelation | None:
        """Return the serial correlation of both variables, within blocks."""
        if not self.restriction.by_rows:
            return None
        series = split_by_blocks([np.arange(self.sizes[0])], self.restriction.blocks)
        rows = [variable.rows_of(*series) for variable in self.variables]
        return joint_correlation(rows, [variable.name for variable in self.variables])

    def serial_notes(self) -> tuple[str, ...]:
        """Return notes on serial correlation, and on blocks of rows that are too short for it."""
        if self.restriction.block_length is None or self.restriction.shifted:
            return super().serial_notes()
        in_order = [variable.rows_of() for variable in self.variables]
        return short(in_order, self.restriction, "products of X and Y")

    def _allowed(self, alpha: float, symmetric: bool) -> Permutations:
        return self.restriction.pairings(self.sizes[0], alpha)

    def tuning(self, estimator: MeanEstimator) -> str:
        """Return what the estimator tunes for one sample of pairs."""
        return tuning_of(estimator, self.sizes[0])

    def effect(self, context: TestContext, options: EffectOptions) -> DependenceEffect:
        """Return how dependent the variables are."""
        from shrinktest.measured_effect import dependence_effect

        return dependence_effect(context, self.restriction, options)

    def prepare(
        self, estimator: MeanEstimator, kernel: Any, form: Form, cache: KernelCache
    ) -> Prepared:
        """Prepare the squared norm of the estimated cross-covariance operator for every pairing."""
        for variable, entry in zip(self.variables, kernel, strict=True):
            require_in_range(entry, variable.points, variable.name)
        x, y = (variable.points for variable in self.variables)
        series = self.restriction.series(len(x))
        return prepare(estimator, kernel, x, y, form=form, cache=cache, series=series)
