"""Aggregation: what the statistics of an ensemble on shared permutations say together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shrinktest.ensembles import Ensemble
from shrinktest.notes import has_code, note
from shrinktest.permutations.multiplicity import scores, step_down, tails
from shrinktest.permutations.null import Null
from shrinktest.permutations.stopping import Stopping
from shrinktest.results.aggregate_result import AggregateResult
from shrinktest.results.base import Setup, TestData, unique
from shrinktest.results.info import kind_of
from shrinktest.results.result import UNKNOWN, TestResult, rounding_notes

_ROUNDING = 1e-9  # of combined statistics that are equal but for rounding
_ENOUGH = 100  # permutations from which the tail of a statistic is judged by a gamma distribution


def refuse_stopping(stopping: Stopping | None) -> None:
    """Raise ValueError for a rule that would end the drawing of a combined test."""
    if stopping:
        raise ValueError(
            "stopping= does not apply to a combined test; leave it out, or test with a single "
            "statistic"
        )


def comparable_of(nulls: Sequence[Null], weights: ArrayLike) -> np.ndarray:
    """Log weighted p-values (rows, k) of all members on all permutations, the data first.

    From gamma distributions; with fewer than a hundred rows, which say too little about a tail,
    from ranks.
    """
    rows = [null.values if null.exact else np.append(null.observed, null.values) for null in nulls]
    values = np.stack(rows, axis=1)
    tolerances = [null.tolerance for null in nulls]
    if len(values) < _ENOUGH:
        return np.asarray(np.log10(scores(values, tolerances, weights) / len(values)))
    return tails(values, tolerances, weights)


def together(nulls: Sequence[Null], weights: ArrayLike) -> Null:
    """Return the null distribution of -log10 of the smallest weighted p-value."""
    if not nulls[0].values.size:
        return Null(float("nan"), np.empty(0), 0.0, exact=False)
    smallest = -comparable_of(nulls, weights).min(axis=1)
    exact = nulls[0].exact
    tolerance = _ROUNDING * (1.0 + float(np.abs(smallest).max()))
    return Null(float(smallest[0]), smallest if exact else smallest[1:], tolerance, exact)


def aggregated(
    ensemble: Ensemble,
    nulls: Sequence[Null],
    members: tuple[TestResult, ...],
    data: TestData,
    notes: tuple[str, ...] = (),
    **options: Any,
) -> AggregateResult:
    """Make the result of all members together from their null distributions.

    ``notes`` come before theirs.
    """
    form, tuning, route = (
        "/".join(dict.fromkeys(getattr(member, name) for member in members))
        for name in ("form", "tuning", "route")
    )
    shared: dict[str, Any] = {
        "data": data,
        "setup": Setup(ensemble, tuple(member.kernel for member in members), form, tuning, route),
        "members": members,
        **options,
    }
    kind = kind_of(data.test).load("combined")
    if not nulls or not nulls[0].values.size:
        notes = (*notes, note("undecided")) if nulls else notes
        return kind(null=UNKNOWN, adjusted=np.full(len(members), np.nan), notes=notes, **shared)  # type: ignore[no-any-return]
    comparable = comparable_of(nulls, ensemble.weights)

    def every() -> tuple[str, ...]:
        texts = [text for member in members for text in member.notes]
        others = [
            text for text in texts if not has_code(text, "rounding", "constant-statistic")
        ]  # on their p-values
        rounding = rounding_notes(
            nulls, shrunk=any(has_code(text, "shrunk-to-zero") for text in texts)
        )
        return unique((*notes, *others, *rounding))

    made: AggregateResult = kind(
        null=together(nulls, ensemble.weights),
        adjusted=step_down(comparable),
        decided=int(comparable[0].argmin()),
        notes=every,
        **shared,
    )
    return made
