"""Make the result of a test from its null distribution."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
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

#: How a statistic of the user's is computed is not known.
OWN = Setup()

#: Part of warnings and notes on too few permutations.
NEVER = "can never reject"


def make_result(
    null: Null | None,
    data: TestData,
    setup: Setup = OWN,
    *,
    alpha: float,
    rng: dict[str, Any],
    estimates: tuple[MeanEmbedding, ...] = (),
    notes: Callable[[], tuple[str, ...]] = tuple,
    context: Any = None,
) -> TestResult:
    """Make the result of a null distribution; ``None`` if missing values propagate.

    ``notes`` returns those on the data, and is called when they are first read.
    """
    kind = _class_of(data.test)
    if null is None:
        return kind(UNKNOWN, data, setup, alpha, rng=rng, context=context)
    shrunk = (note("shrunk-to-zero"),) if is_shrunk(null, setup) else ()
    every = partial(_notes, null, notes, shrunk)
    return kind(null, data, setup, alpha, estimates, rng, every, context)


def _notes(null: Null, notes: Callable[[], tuple[str, ...]], shrunk: tuple[str, ...]) -> tuple[str, ...]:
    return (*notes(), *rounding_notes([null], shrunk=bool(shrunk)), *shrunk)


def is_shrunk(null: Null, setup: Setup) -> bool:
    """True if the statistic is 0 because the estimate was shrunk to that."""
    return null.observed == 0.0 and setup.form == "biased" and not isinstance(setup.estimator, KME)


def rounding_notes(nulls: Sequence[Null], *, shrunk: bool = False) -> tuple[str, ...]:
    """Note on rounding that decides the p-value of one statistic, or of several together.

    A statistic that is constant takes nothing from the others; one that was ``shrunk`` to zero has another note.
    """
    drawn = [null for null in nulls if null.values.size]
    varying = [null for null in drawn if not null.constant]
    if varying:
        return (note("rounding"),) if all(null.lost for null in varying) else ()
    return (note("constant-statistic"),) if drawn and not shrunk else ()


def _class_of(test: str) -> type[TestResult]:
    """Return the class of results of a test."""
    if test == CHANGE.name:
        from shrinktest.results.change import ChangeResult

        return ChangeResult
    return TwoSampleResult if test == TWO_SAMPLE.name else TestResult


def too_few(rows: int, alpha: float, factor: float = 1.0, *, exact: bool = False) -> str:
    """Return a message if no p-value can be as small as ``alpha``; empty if permutations are enough.

    An adjustment multiplies the smallest p-value by ``factor``.
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
    """Warn if no p-value can be as small as ``alpha``: see `too_few`."""
    if message := too_few(rows, alpha, factor, exact=exact):
        warn_user(message)


def enough(alpha: float, factor: float = 1.0) -> str:
    """Return the remedy for random permutations that are too few to reject at ``alpha``."""
    rows = factor / alpha
    return f"use n_resamples >= {max(1, math.ceil(rows) - 1)}" if rows < _TOO_MANY else "give a larger alpha"
