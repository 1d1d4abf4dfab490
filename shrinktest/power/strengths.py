"""Strengths: a design with any effect between none, its own, and more."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from shrinktest.power.designs import Design, FromData, Shifted
from shrinktest.results.info import INDEPENDENCE

_MOST = 1024.0  # times the effect of the design
_STEPS = 40  # halvings until the largest strength is found


@dataclass(frozen=True)
class Strengths:
    """A parameter of a design, whose value depends on a strength.

    The strength 0 stands for no effect, and 1 for the effect of the design.
    """

    design: Design
    parameter: str
    none: float  # value without an effect, which may be infinite
    own: float  # value in the design

    @classmethod
    def of(cls, design: Design) -> Strengths:
        """Return the strengths of a design; pilot data are shifted.

        ValueError if no parameter stands for the effect.
        """
        if isinstance(design, FromData):
            if design.test == INDEPENDENCE.name:
                raise ValueError("design has two variables; pilot data need two samples to shift")
            design = Shifted(design)
        neutral = dict(design.neutral)
        if len(neutral) != 1:
            raise ValueError(
                f"design {design!r} has no parameter that stands for its effect (neutral=); pass "
                "one such as MeanShift()"
            )
        ((name, none),) = neutral.items()
        own = getattr(design, name)
        if isinstance(own, Integral) or not isinstance(own, Real):
            raise ValueError(f"design has the effect {name}={own!r}, which is no real number")
        if own == none:
            raise ValueError(f"design has no effect at {name}={own!r}; use another {name}")
        return cls(design, name, float(none), float(own))

    def value(self, strength: float) -> float:
        """Return the value of the parameter at a strength above 0."""
        if math.isinf(self.none):
            return self.own / strength
        return self.none + strength * (self.own - self.none)

    def strength(self, value: Any) -> np.ndarray:
        """Return the strengths of values of the parameter."""
        values = np.asarray(value, dtype=np.float64)
        if math.isinf(self.none):
            return self.own / values
        return (values - self.none) / (self.own - self.none)

    def at(self, strength: float) -> Design:
        """Return the design of a strength above 0."""
        changed: dict[str, Any] = {self.parameter: self.value(strength)}
        return replace(self.design, **changed)  # type: ignore[type-var]  # a dataclass, as it has parameters

    def largest(self) -> float:
        """Return the largest strength that the design allows, up to 1024."""
        if self._allows(_MOST):
            return _MOST
        low = 1.0
        high = _MOST
        for _ in range(_STEPS):
            middle = (low + high) / 2.0
            if self._allows(middle):
                low = middle
            else:
                high = middle
        return low

    def _allows(self, strength: float) -> bool:
        try:
            self.at(strength)
        except ValueError:
            return False
        return True
