"""Several tests on shared permutations, adjusted for their number."""

from __future__ import annotations

from typing import Any

import numpy as np

from shrinktest.nulls.permutation import Null
from shrinktest.results.multiple import MultipleTestsResult


def adjusted_tests(
    nulls: list[Null], method: str, *, alpha: float, kind: type[MultipleTestsResult] = MultipleTestsResult, **about: Any
) -> MultipleTestsResult:
    """The result of several tests on shared permutations, of a class that says what they are."""
    return kind(
        statistics=np.array([null.observed for null in nulls]),
        pvalues=np.array([null.pvalue for null in nulls]),
        adjusted=np.empty(0),
        method=method,
        null_distributions=np.stack([null.values for null in nulls], axis=1),
        tolerances=np.array([null.tolerance for null in nulls]),
        exact=nulls[0].exact,
        alpha=alpha,
        **about,
    ).with_method(method)
