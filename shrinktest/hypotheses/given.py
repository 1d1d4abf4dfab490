"""Two variables that are independent given others: what all methods share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from shrinktest.conditional.regression import Left, Regression
from shrinktest.estimators import MeanEstimator
from shrinktest.hypotheses.again import Again, EffectAsked
from shrinktest.hypotheses.base import Variable
from shrinktest.hypotheses.independence import Independence
from shrinktest.results.kinds import CONDITIONAL, Kind

#: Where readers find what was measured.
STUDY = "see the page on levels given Z"


@dataclass(frozen=True, eq=False, kw_only=True)
class ConditionalIndependence(Independence):
    """Two variables are independent given others: within their values, so that rows may change places there.

    Parameters
    ----------
    variables : tuple of Variable
        Those of x (n, p) and of y (n, q), or what is left of them once what others say of them is taken off.
    method, assumption : str
        What is done about the given variables, and what must be true for the p-value to be valid.
    """

    kind: ClassVar[Kind] = CONDITIONAL

    method: str
    assumption: str

    def form(self, estimator: MeanEstimator, form: str) -> str:
        """A squared norm."""
        if form == "unbiased":
            raise ValueError("form='unbiased' is for tests without given=; leave it out")
        return "biased"

    def labels(self) -> dict[str, Any]:
        """As without given variables, and what was done about these."""
        return {**super().labels(), "method": self.method, "assumption": self.assumption}

    def notes(self, kernel: Any) -> tuple[str, ...]:
        """What a reader should know, first of all what must be true."""
        return (f"{self.method[:1].upper()}{self.method[1:]}: {self.assumption}", *super().notes(kernel))

    def effect(self, again: Again, asked: EffectAsked) -> Any:
        """There is no scale for it."""
        raise ValueError(
            "there is no scale for the dependence of two variables given others; without given=, independence_test has "
            "one, for what is not taken off"
        )

    def with_rows(self, kept: np.ndarray, **changes: Any) -> Self:
        """The same with these rows only."""
        variables = tuple(replace(one, points=np.ascontiguousarray(one.points[kept])) for one in self.variables)
        return replace(self, variables=variables, sizes=(int(kept.sum()),), **changes)


def residual(variable: Variable, left: Left, name: str) -> Variable:
    """What is left of a variable, in the same units."""
    return Variable(np.ascontiguousarray(left.values), f"what is left of {name}", variable.scale, None, variable.said)


def distilled(variable: Variable, z: np.ndarray, name: str) -> Variable:
    """A variable less what z says of it; as it is where a regression would need more rows, or leaves nothing."""
    try:
        left = Regression.on(z).left_of(variable.points, name)
    except ValueError:
        return variable
    return residual(variable, left, name)
