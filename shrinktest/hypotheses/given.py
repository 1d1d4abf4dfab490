"""Two variables that are independent given others: what all methods share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from shrinktest.conditional.regression import Left, Regression
from shrinktest.estimators import MeanEstimator
from shrinktest.hypotheses.again import Again, EffectOptions
from shrinktest.hypotheses.base import Hypothesis, Variable
from shrinktest.hypotheses.independence import Independence
from shrinktest.permutations.serial_correlation import BY_GIVEN
from shrinktest.results.kinds import CONDITIONAL, Kind
from shrinktest.units import far_apart

#: Where readers find what was measured.
STUDY = "see the page on levels given Z"
#: What strata do to the data.
LESS_MEANS = "Kernels compare what is left of the data once the means of every stratum are taken off."


@dataclass(frozen=True, eq=False, kw_only=True)
class GivenOthers(Hypothesis):
    """A hypothesis given other variables: what is done about these, and what must be true for a valid p-value."""

    method: str
    assumption: str

    def labels(self) -> dict[str, Any]:
        """As without given variables, and what was done about these."""
        return {**super().labels(), "method": self.method, "assumption": self.assumption}

    def notes(self, kernel: Any) -> tuple[str, ...]:
        """What a reader should know, first of all what must be true."""
        return (f"{self.method[:1].upper()}{self.method[1:]}: {self.assumption}", *super().notes(kernel))


@dataclass(frozen=True, eq=False, kw_only=True)
class ConditionalIndependence(GivenOthers, Independence):
    """Two variables are independent given others: within their values, so that rows may change places there.

    The variables are x (n, p) and y (n, q), or what is left of them once what others say of them is taken off.
    """

    kind: ClassVar[Kind] = CONDITIONAL
    in_time: ClassVar[str] = BY_GIVEN

    def form(self, estimator: MeanEstimator, form: str) -> str:
        """A squared norm."""
        if form == "unbiased":
            raise ValueError("form='unbiased' is for tests without given=; leave it out")
        return "biased"

    def effect(self, again: Again, options: EffectOptions) -> Any:
        """There is no scale for it."""
        raise ValueError(self.kind.no_effect)

    def with_rows(self, kept: np.ndarray, **changes: Any) -> Self:
        """The same with these rows only."""
        variables = tuple(one.only(kept) for one in self.variables)
        return replace(self, variables=variables, sizes=(int(kept.sum()),), **changes)


def residual(variable: Variable, left: Left, name: str) -> Variable:
    """What is left of a variable, in the same units, with the names of its columns."""
    return _less(variable, left.values, f"what is left of {name}")


def _less(variable: Variable, left: np.ndarray, name: str) -> Variable:
    """What is left of a variable; of units it is silent unless those of the variable are why columns count for little.

    Little may be left of a column because of what is given, and then other units would change nothing.
    """
    said = variable.said or not far_apart(variable.points, name)
    return replace(variable, points=np.ascontiguousarray(left), name=name, said=said)


def less_means(variable: Variable, codes: np.ndarray, argument: str) -> Variable:
    """A variable less its mean within each stratum, so that strata do not differ.

    What strata differ in would stay in the statistic of every permutation within them, and hide what runs against it.
    The means are those of the same rows in every permutation, so that it is as exact as without.  Raises ValueError,
    which names the ``argument`` that made the strata, if the variable has one value only in every one.
    """
    points, counts = variable.points, np.bincount(codes)
    starts = points[np.unique(codes, return_index=True)[1]]  # what is far from 0 loses no digits
    moved = points - starts[codes]
    if not moved.any():
        raise ValueError(
            f"{argument} determines {variable.name}: every stratum has one value only, so that there is nothing to "
            f"test; leave out of {argument} what {variable.name} is computed from"
        )
    sums = np.zeros((counts.size, points.shape[1]))
    np.add.at(sums, codes, moved)
    return _less(variable, moved - (sums / counts[:, None])[codes], f"{variable.name} less its means within strata")


def distilled(variable: Variable, z: np.ndarray, name: str) -> Variable:
    """A variable less what z says of it; as it is where a regression would need more rows, or leaves nothing."""
    try:
        left = Regression.on(z).left_of(variable.points, name)
    except ValueError:
        return variable
    return residual(variable, left, name)
