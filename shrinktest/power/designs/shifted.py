"""Shifted: pilot rows whose second sample is shifted by standard deviations."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import Array, positive
from shrinktest.power.designs.base import Design, Twin, parameter
from shrinktest.power.designs.data_sets import FromData
from shrinktest.results.info import TWO_SAMPLE


@dataclass(frozen=True, repr=False)
class Shifted(Twin):
    """Pilot data with equal means, and columns of Y shifted by standard deviations.

    Parameters
    ----------
    design : FromData
        Pilot data of two samples, perhaps with pairs, groups or blocks.
    shift : float, default 0.5
        Added to every column of Y, in standard deviations of the column within the pilot samples.
        Columns with one or two different values, such as categories, are not shifted.

    Notes
    -----
    The means of both pilot samples become equal in the columns that are shifted.  Rows are then
    drawn as in the null twin of the pilot data, from both samples, and Y is shifted.  Unlike
    :class:`FromData`, this design does not treat chance differences in the pilot data as real.

    Examples
    --------
    >>> from shrinktest.power.designs import FromData, Shifted
    >>> design = Shifted(FromData([1.0, 2.0, 4.0, 5.0], [2.0, 3.0, 4.0, 6.0]), shift=1.0)
    >>> design, design.null()
    (Shifted(FromData(<X 4 x 1, Y 4 x 1>, test='two-sample'), shift=1.0),
     Shifted(FromData(<X 4 x 1, Y 4 x 1>, test='two-sample'), shift=0.0))
    """

    name = "shifted pilot data"
    neutral: ClassVar[dict[str, Any]] = {"shift": 0.0}
    shift: float = parameter(0.5, positive, allow_zero=True)
    pooled: Design = field(init=False, compare=False)
    steps: Array = field(init=False, compare=False)  # (d,): a standard deviation of each column

    def _check(self) -> None:
        if not isinstance(self.design, FromData) or self.design.test != TWO_SAMPLE.name:
            raise ValueError(f"design must be FromData(X, Y) of two samples; got {self.design!r}")
        rows = np.vstack([self.design.X, self.design.Y])
        several = np.array([len(np.unique(column[~np.isnan(column)])) > 2 for column in rows.T])
        if not several.any():
            raise ValueError("design has no column with more than two values, which can be shifted")
        center = np.nanmean(rows, axis=0)
        parts = [
            np.where(several, values - np.nanmean(values, axis=0) + center, values)
            for values in (self.design.X, self.design.Y)
        ]
        sd = np.nanstd(np.vstack(parts), axis=0)
        object.__setattr__(self, "steps", np.where(several, sd, 0.0))
        object.__setattr__(self, "pooled", replace(self.design, X=parts[0], Y=parts[1]).null())

    def trial(
        self, rng: Any, n: int, m: int | None = None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        (x, y), labels = self.pooled.trial(rng, n, m)
        return (x, y + self.shift * self.steps), labels

    def null(self) -> Design:
        return self if self.shift == 0.0 else Shifted(self.design, 0.0)

    @property
    def unit(self) -> str:
        return self.design.unit

    @property
    def described(self) -> str:
        return f"{self.design.described} and shifted"

    @property
    def assumption(self) -> str:
        return "This assumes that rows vary as in the pilot study."

    def _text(self, digests: bool) -> str:
        return f"Shifted({self.design._text(digests)}, shift={self.shift!r})"
