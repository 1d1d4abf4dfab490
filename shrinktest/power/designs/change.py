"""Series that change: the rows of one sample, and from some row on those of another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import Array
from shrinktest.power.designs.base import Design, TwoSampleDesign, parameter, up_to
from shrinktest.power.designs.two_sample import MeanShift
from shrinktest.results.info import CHANGE

_SHIFT = MeanShift()


@dataclass(frozen=True, repr=False)
class Changed(Design):
    """A series of independent rows: those of the first sample of a design, and after a change those of the second.

    Parameters
    ----------
    design : TwoSampleDesign, default MeanShift()
        What changes; its null twin makes the series without a change.
    at : float, default 0.5
        Share of the rows before the change.
    until : float, default 1.0
        Share of the rows before the end of the change; below 1 the change is an epidemic one, and tests are told.

    Examples
    --------
    >>> from shrinktest.power.designs import MeanShift
    >>> design = Changed(MeanShift(dimension=2, shift=3.0), at=0.4)
    >>> (X,) = design.sample(0, n=50)
    >>> X.shape, float(X[:20].mean().round(1)), float(X[20:].mean().round(1)), design.null()
    ((50, 2), -0.1, 1.7, Changed(design=MeanShift(dimension=2, shift=0.0), at=0.4))
    """

    name: ClassVar[str] = "change"
    summary: ClassVar[str] = "a series of rows whose distribution changes"
    test: ClassVar[str] = CHANGE.name  # type: ignore[assignment]

    design: TwoSampleDesign = _SHIFT
    at: float = parameter(0.5, up_to, high=1.0, included=False)
    until: float = parameter(1.0, up_to, high=1.0)

    def _check(self) -> None:
        if not isinstance(self.design, TwoSampleDesign):
            raise TypeError(
                "design must be one of two samples, such as MeanShift(), whose rows make the series; got "
                f"{self.design!r}"
            )
        if not self.at < self.until:
            raise ValueError(f"until={self.until:g} must be above at={self.at:g}, where the change begins")

    def places(self, n: int) -> tuple[int, int]:
        """The first row of the change, and the first one after it, of n rows."""
        first = min(max(round(self.at * n), 2), n - 2)
        return first, n if self.until == 1.0 else min(max(round(self.until * n), first + 2), n)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        first, end = self.places(n)
        outside, inside = self.design.sample(rng, n - (end - first), end - first)
        return (np.concatenate([outside[:first], inside, outside[first:]]),)

    def null(self) -> Design:
        twin = Changed(self.design.null(), self.at, self.until)  # type: ignore[arg-type]  # twins are of their kind
        return self if twin == self else twin

    def options(self) -> dict[str, Any]:
        """That the change is an epidemic one, where it is."""
        return {**self.design.options(), **({"change": "epidemic"} if self.until < 1.0 else {})}

    def smallest(self) -> int:
        return max(8, 2 * self.design.smallest())
