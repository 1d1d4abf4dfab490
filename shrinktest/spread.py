"""Hypothesis that a term of a design has no effect on the spread of the response."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shrinktest.estimators import MeanEstimator
from shrinktest.factors import NoEffect, of_groups
from shrinktest.fitted import FittedStatistic
from shrinktest.results.factor_result import TestedTerm
from shrinktest.statistics.features import Features
from shrinktest.statistics.kernel_cache import KernelCache
from shrinktest.statistics.projections import ROBUST, share
from shrinktest.statistics.spread import SpreadStatistic
from shrinktest.statistics.statistic import Computation, Form, Prepared


@dataclass(frozen=True, eq=False, kw_only=True)
class EqualSpread(NoEffect):
    """Rows are as far from their fitted means whatever the value of a term.

    Its variable holds the response without the effects of all terms, and its plan moves residuals.
    """

    def prepare(
        self, estimator: MeanEstimator, kernel: Any, form: Form, cache: KernelCache
    ) -> Prepared:
        """Prepare the statistic of a resolved kernel."""
        features, gram = self.features(kernel, cache)
        units = of_groups(features, self.plan.groups)
        return Prepared(
            statistic=SpreadStatistic.of(units, self.plan.part, form is ROBUST).statistic(),
            kernel=kernel,
            notes=(gram.note,) if gram.note else (),
            computation=Computation(
                route=gram.route,
                features=(gram.kernel,),
                approximated=gram.note is not None,
                threads=True,
            ),
        )

    def concluded(
        self, result: Any, member: FittedStatistic, cache: KernelCache, rng: np.random.Generator
    ) -> Any:
        """Return the result with the share of the spread that the term explains."""
        plan = self.plan
        features, _ = self.features(member.kernel, cache)
        statistic = SpreadStatistic.of(of_groups(features, plan.groups), plan.part, robust=True)
        distances, _ = statistic.distances(np.arange(len(plan.part.added))[None])
        column = Features(np.ascontiguousarray(distances.T), by_coordinates=True)
        effect = share(column, plan.part, plan.unit)
        return replace(
            result, term=TestedTerm(plan.term, plan.part.df, plan.permuted, "approximate", effect)
        )
