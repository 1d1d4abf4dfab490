"""Hypothesis that a term of a design has no effect on the spread of the response."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shrinktest._check import counted
from shrinktest.data.formula import basis
from shrinktest.estimators import MeanEstimator
from shrinktest.factor_design import Design, coded
from shrinktest.factors import NoEffect, of_groups, prepared
from shrinktest.fitted import FittedStatistic
from shrinktest.notes import note
from shrinktest.plans import Plan, orders_within
from shrinktest.results.factor_result import TestedTerm
from shrinktest.statistics.features import Features
from shrinktest.statistics.kernel_cache import KernelCache
from shrinktest.statistics.projections import ROBUST, share
from shrinktest.statistics.spread import SpreadStatistic
from shrinktest.statistics.statistic import Form, Prepared

_FEW_RESIDUALS = 10  # in a cell of the design


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
        statistic = SpreadStatistic.of(units, self.plan.part, form is ROBUST).statistic()
        return prepared(statistic, kernel, gram)

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


def residual_plan(design: Design, plan: Plan) -> Plan:
    """Return the plan in which residuals change places where the units of a term do.

    In small cells they leave the cells of other factors, in which too few rows are exchanged for
    the approximation; the robust statistic allows for an effect of these on the spread.  The
    response is aligned for all terms.
    """
    whole = plan.groups is not None
    model = plan.part.model[design.rows_group] if whole else plan.part.model
    units = f"residuals of {design.group_name}" if whole else "residual rows"
    factors = {factor.name: factor for term in design.terms for factor in term.factors}
    rows = design.first if whole else np.arange(design.size)
    codes = [factor.codes[rows] for factor in factors.values() if factor.categorical]
    fewest = int(np.bincount(coded(*codes)).min()) if codes else len(rows)
    notes = plan.notes
    within = plan.within
    where = plan.where
    if fewest < _FEW_RESIDUALS:
        within = plan.block
        where = plan.where_block
        notes = (*notes, note("few-residuals", fewest=counted(fewest, "observation")))
    return replace(
        plan,
        permutations=orders_within(within),
        permuted=f"{units}{where}",
        exact=False,
        alignment=basis(np.hstack([model, plan.alignment])),
        interaction=False,
        notes=notes,
    )
