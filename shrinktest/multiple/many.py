"""Several tests on shared permutations, adjusted for their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shrinktest.permutations.null import Null
from shrinktest.results.base import Setup, TestData
from shrinktest.results.multiple import MultipleTestsResult


def adjusted_tests(
    nulls: Sequence[Null | str],
    method: str,
    *,
    labels: Sequence[tuple[Any, ...]],
    keys: tuple[str, ...],
    test: str,
    n_observations: tuple[int, ...],
    alpha: float,
    rng: dict[str, Any],
    estimator: Any,
    form: str,
    tuning: str,
    restriction: str,
    notes: tuple[str, ...],
    untested: Mapping[tuple[str, ...], str] | None = None,
) -> MultipleTestsResult:
    """Make the result of several tests on shared permutations.

    In place of a null distribution there may be the reason why there is none; ``untested`` has further reasons.
    """
    both = list(zip(labels, nulls, strict=True))
    return MultipleTestsResult(
        nulls={label: null for label, null in both if isinstance(null, Null)},
        keys=keys,
        method=method,
        alpha=alpha,
        data=TestData(test, n_observations, restriction=restriction),
        setup=Setup(estimator, form=form, tuning=tuning),
        rng=rng,
        untested={**{label: null for label, null in both if isinstance(null, str)}, **(untested or {})},
        notes=notes,
    ).with_method(method)
