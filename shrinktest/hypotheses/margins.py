"""Margins of equivalence tests: numbers, or the difference that a change of the pooled sample makes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from shrinktest._check import check_signature, choice, real, real_values
from shrinktest.hypotheses.again import Again
from shrinktest.hypotheses.base import Variable
from shrinktest.hypotheses.effects import pair_estimates
from shrinktest.kernels import Linear, Precomputed
from shrinktest.kernels.base import Scaled
from shrinktest.kernels.pooled import PooledKernel, Rescaled
from shrinktest.permutations.design import PermutationDesign
from shrinktest.results.equivalence import AUC, DEPENDENCE, DISTANCE, SCALES

#: What a margin means on every scale, and where it lies.
MEANT = {
    DISTANCE: "a squared distance (MMD^2 relative to the norms of the kernel means) between 0 and 1, such as 0.05",
    AUC: "the probability with which an observation of X ranks above one of Y, between .5 and 1, such as 0.6",
    DEPENDENCE: "a kernel correlation of X and Y, which are observed together, between 0 and 1, such as 0.05",
}
_LEAST = {DISTANCE: 0.0, AUC: 0.5, DEPENDENCE: 0.0}
_NAMED = "'shift 0.2' (of 0.2 standard deviations in every column) or a function of the pooled rows"
_MOST = 2000  # rows that are changed
_FEWEST = 20
_HEAVY = 2.0  # times the standard deviation that the middle half of a normal column tells

Change = Callable[[np.ndarray], Any]


def scale_of(given: Any) -> str:
    """The scale, which has to be named; raises ValueError with what a margin means on each."""
    if isinstance(given, str) and given in SCALES:
        return choice(given, SCALES, "scale")
    found = "" if given is None else f"; got {given!r}"
    meant = "; ".join(f"{name!r}: the margin is {what}" for name, what in MEANT.items())
    raise ValueError(f"scale says on which scale X and Y are to be alike{found}. {meant}. Units of columns are units=")


@dataclass(frozen=True)
class Margin:
    """A margin: a number, or the difference that a change makes."""

    value: float = math.nan  # NaN where it takes the data
    change: Change | None = None  # changes rows (N, d)
    shift: float = 0.0  # of every column, in standard deviations of the pooled sample
    words: str = ""  # how it was given; empty for a number

    @classmethod
    def read(cls, given: Any, scale: str) -> Margin:
        """The margin as users give it; raises TypeError or ValueError that says what it means on this scale."""
        meaning = f"with scale={scale!r} it is {MEANT[scale]}"
        if given is None:
            raise ValueError(f"margin says how large a difference may be and not matter; {meaning}")
        if isinstance(given, str) or callable(given):
            if scale == DEPENDENCE:
                raise ValueError(f"margin must be a number where variables are observed together: {meaning}")
            if callable(given):
                said = "margin as a function takes the pooled rows and returns changed ones"
                check_signature(given, ("rows",), said)
                return cls(change=given, words=getattr(given, "__name__", type(given).__name__))
            return cls(shift=_shift_in(given), words=given)
        if not isinstance(given, Real) or isinstance(given, bool | np.bool_):
            raise TypeError(f"margin must be a number, {_NAMED}; got {given!r} ({type(given).__name__})")
        value = real(given, "margin")
        if not _LEAST[scale] < value < 1.0:
            low = f"{_LEAST[scale]:g}"
            what = f"a margin of {low} or below" if value <= _LEAST[scale] else "a margin of 1 or above"
            why = "is below what chance alone gives" if value <= _LEAST[scale] else "denies nothing"
            found = "a margin that is NaN" if math.isnan(value) else f"{what} {why}"
            raise ValueError(f"margin={value:g}: {found}; {meaning}")
        return cls(value)

    def found(
        self, again: Again, scale: str, folds: int, rng: np.random.Generator, memory: float
    ) -> tuple[float, tuple[str, ...]]:
        """The margin as a number on the scale, and notes on it.

        What a change makes of the pooled sample: rows and changed rows are two samples in pairs, whose difference is
        estimated as that of the test is, with its kernel.  No label goes into it.  There are no more rows than their
        Gram matrix and another like it fit into ``memory`` bytes.
        """
        if not math.isnan(self.value):
            return self.value, ()
        pooled = again.pooled
        encoding = again.hypothesis.variables[0].encoding
        if self.shift and encoding is not None:
            fixed = [one.name for one in encoding.codes if one.categorical or one.indicated]
            if fixed:
                raise ValueError(
                    f"margin={self.words!r}: categories and missing values cannot be shifted, and column {fixed[0]!r} "
                    "has some; give the margin as a number, or leave such columns out"
                )
        most = min(_MOST, max(_FEWEST, int((memory / 64.0) ** 0.5)))
        rows = pooled if len(pooled) <= most else pooled[np.sort(rng.choice(len(pooled), most, replace=False))]
        member = again.leading
        kernel: Any = member.kernel
        units, unit = again.hypothesis.variables[0].scale, np.ones(pooled.shape[1])
        if units is not None and not self.shift:  # which has units of its own
            if isinstance(kernel, Rescaled):
                kernel, rows = kernel.kernel, kernel.moved(rows)
            else:  # its bandwidths have the units
                unit = Rescaled(Linear(), units, pooled).units()
        both = np.vstack([rows, unit * self._changed(rows / unit, pooled)])
        if _of_pooled(kernel):  # has a Gram matrix of the pooled sample only, and values anywhere
            kernel, both = Precomputed(kernel(both)), np.arange(float(len(both)))[:, None]
        variable = Variable(both, "the pooled and the changed rows")
        twice = replace(again.hypothesis, variables=(variable,), sizes=(len(rows), len(rows)))
        pairs = Again(twice, (replace(member, kernel=kernel, features=(kernel,)),))
        design = PermutationDesign(paired=True)
        ((area, away, _, _),) = pair_estimates(pairs, design, [(0, 1)], folds, rng, scored=scale == AUC)
        value = area.value if scale == AUC else away.value
        if not _LEAST[scale] < value < 1.0:
            other = "smaller" if value >= 1.0 else "larger"
            raise ValueError(
                f"margin={self.words!r}: the change makes a difference of {value:.3g} with scale={scale!r}, and a "
                f"margin lies between {_LEAST[scale]:g} and 1; give a {other} change, or the margin as a number"
            )
        said = f"The margin {value:.3g} is the difference that {self.words!r} makes to the pooled sample"
        some = f" ({most} rows of it, at random)" if len(pooled) > most else ""
        notes = [f"{said}{some}, with the same kernel; the p-value takes this number as given."]
        if self.shift:
            notes += self._heavy(pooled)
        return value, tuple(notes)

    def _changed(self, rows: np.ndarray, pooled: np.ndarray) -> np.ndarray:
        if self.change is None:
            return rows + self.shift * pooled.std(axis=0, ddof=1)
        try:
            changed = real_values(self.change(rows.copy()))
        except (TypeError, ValueError) as error:
            raise ValueError(f"margin: the function {self.words!r} failed on the pooled rows: {error}") from error
        changed = changed[:, None] if changed.ndim == 1 and rows.shape[1] == 1 else changed
        if changed.shape != rows.shape or not np.isfinite(changed).all():
            raise ValueError(
                f"margin: the function {self.words!r} must return as many rows and columns as it gets, "
                f"{rows.shape}, of finite numbers; it returned shape {changed.shape}"
            )
        return changed

    def _heavy(self, pooled: np.ndarray) -> list[str]:
        """A note where few rows make the standard deviation, and with it the margin, large."""
        quarters = np.quantile(pooled, [0.25, 0.75], axis=0)
        usual = (quarters[1] - quarters[0]) / 1.349
        large = np.flatnonzero((usual > 0.0) & (pooled.std(axis=0, ddof=1) > _HEAVY * usual))
        if not large.size:
            return []
        return [
            f"Few rows far out make the standard deviation of column {large[0]} more than {_HEAVY:g} times what its "
            "middle half tells, and the margin is larger for it: consider a number, or a function that shifts by less."
        ]


def _of_pooled(kernel: Any) -> bool:
    """Whether a kernel takes features about their mean over the pooled sample."""
    if isinstance(kernel, Rescaled | Scaled):
        return _of_pooled(kernel.kernel)
    return isinstance(kernel, PooledKernel)


def _shift_in(words: str) -> float:
    name, _, size = words.strip().partition(" ")
    try:
        found = float(size)
    except ValueError:
        found = math.nan
    if name != "shift" or not math.isfinite(found) or found == 0.0:
        raise ValueError(f"margin={words!r} is neither a number nor {_NAMED}")
    return found
