"""Several tests on shared permutations, adjusted for their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shrinktest.permutations.null import Null
from shrinktest.results.multiple import MultipleTestsResult


def adjusted_tests(
    nulls: Sequence[Null | str],
    method: str,
    *,
    labels: Sequence[tuple[Any, ...]],
    alpha: float,
    kind: type[MultipleTestsResult] = MultipleTestsResult,
    untested: Mapping[tuple[str, ...], str] | None = None,
    **about: Any,
) -> MultipleTestsResult:
    """The result of several tests on shared permutations, of a class that says what they are.

    In place of a null distribution there may be the reason why there is none; ``untested`` has further reasons.
    """
    both = list(zip(labels, nulls, strict=True))
    reasons = {label: null for label, null in both if isinstance(null, str)}
    labels = tuple(label for label, null in both if not isinstance(null, str))
    made = [null for null in nulls if not isinstance(null, str)]
    return kind(
        labels=labels,
        untested={**reasons, **(untested or {})},
        statistics=np.array([null.observed for null in made]),
        pvalues=np.array([null.pvalue for null in made]),
        adjusted=np.empty(0),
        method=method,
        null_distributions=np.stack([null.values for null in made], axis=1),
        tolerances=np.array([null.tolerance for null in made]),
        exact=made[0].exact,
        alpha=alpha,
        **about,
    ).with_method(method)
