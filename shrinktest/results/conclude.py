"""What a test returns: its result, made of the null distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from shrinktest._warn import warn_user
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import KME
from shrinktest.notes import note
from shrinktest.permutations.null import Null
from shrinktest.results.base import Setup, TestData
from shrinktest.results.info import CHANGE, TWO_SAMPLE
from shrinktest.results.result import TestResult
from shrinktest.results.witness import TwoSampleResult

_TOO_MANY = 1e15  # permutations that nobody draws

#: The null distribution of a statistic that was not computed.
UNKNOWN = Null(math.nan, np.empty(0), 0.0, exact=False)

#: What is said where permutations are too few, in warnings and in notes.
NEVER = "can never reject"


def conclude(
    null: Null | None,
    *,
    test: str,
    alpha: float,
    n_observations: tuple[int, ...],
    estimator: Any = None,
    kernel: Any = None,
    form: str = "",
    tuning: str = "",
    route: str = "",
    estimates: tuple[MeanEmbedding, ...] = (),
    rng: dict[str, Any] | None = None,
    notes: tuple[str, ...] = (),
    context: Any = None,
    warn: bool = True,
    **about: Any,
) -> TestResult:
    """Make the result of a null distribution; ``None`` if missing values propagate.

    ``about`` are further fields of `TestData`.  A statistic of one's own has no estimator, kernel, form and so on.
    """
    data, setup = TestData(test, n_observations, **about), Setup(estimator, kernel, form, tuning, route)
    rest: dict[str, Any] = {"data": data, "setup": setup, "alpha": alpha, "rng": rng or {}, "context": context}
    kind = _class_of(test)
    if null is None:
        return kind(UNKNOWN, notes=notes, **rest)
    shrunk = is_shrunk(null, form, estimator)
    if warn and null.n_planned:
        warn_too_few(null.n_planned + (not null.exact), alpha, exact=null.exact)
    notes = (*notes, *of_rounding([null], shrunk=shrunk), *([note("shrunk-to-zero")] if shrunk else ()))
    return kind(null, estimates=estimates, notes=notes, **rest)


def is_shrunk(null: Null, form: str, estimator: Any) -> bool:
    """Whether the statistic is 0 because the estimate was shrunk to that."""
    return null.observed == 0.0 and form == "biased" and not isinstance(estimator, KME)


def of_rounding(nulls: Sequence[Null], *, shrunk: bool = False) -> tuple[str, ...]:
    """What is said where rounding decides the p-value of one statistic, or that of several together.

    One of several of which nothing is left takes nothing from the others.  ``shrunk`` says that nothing is left of one
    because it was shrunk to zero, which is said instead.
    """
    drawn = [null for null in nulls if null.values.size]
    varying = [null for null in drawn if not null.constant]
    if varying:
        return (note("rounding"),) if all(null.lost for null in varying) else ()
    return (note("constant-statistic"),) if drawn and not shrunk else ()


def _class_of(test: str) -> type[TestResult]:
    """Some tests have results that say more than a p-value."""
    if test == CHANGE.name:
        from shrinktest.results.change import ChangeResult

        return ChangeResult
    return TwoSampleResult if test == TWO_SAMPLE.name else TestResult


def too_few(rows: int, alpha: float, factor: float = 1.0, *, exact: bool = False) -> str:
    """What to say when no p-value can be as small as ``alpha``; ``factor`` is what an adjustment does to the smallest.

    Empty where permutations are enough.
    """
    smallest = min(1.0, factor / rows) if rows else 1.0
    if rows <= 1 or smallest <= alpha:
        return ""
    adjusted = ", adjusted for the number of tests," if factor > 1.0 else ""
    return (
        f"the smallest p-value that {rows - (not exact)} permutations can give{adjusted} is {smallest:.3g}, above "
        f"alpha = {alpha:g}: the test {NEVER}; " + ("collect more observations" if exact else enough(alpha, factor))
    )


def warn_too_few(rows: int, alpha: float, factor: float = 1.0, *, exact: bool = False) -> None:
    """Warn when no p-value can be as small as ``alpha``: see `too_few`."""
    said = too_few(rows, alpha, factor, exact=exact)
    if said:
        warn_user(said)


def enough(alpha: float, factor: float = 1.0) -> str:
    """What to do where random permutations are too few to reject at ``alpha``."""
    rows = factor / alpha
    return f"use n_resamples >= {max(1, math.ceil(rows) - 1)}" if rows < _TOO_MANY else "give a larger alpha"
