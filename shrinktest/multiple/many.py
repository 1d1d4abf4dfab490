"""Several tests on shared permutations, adjusted for their number."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from shrinktest._validate import counted
from shrinktest.nulls.permutation import Null
from shrinktest.results.conclude import NEVER
from shrinktest.results.multiple import WESTFALL_YOUNG, MultipleTestsResult


def adjusted_tests(
    nulls: list[Null], method: str, *, alpha: float, kind: type[MultipleTestsResult] = MultipleTestsResult, **about: Any
) -> MultipleTestsResult:
    """The result of several tests on shared permutations, of a class that says what they are."""
    found = kind(
        statistics=np.array([null.observed for null in nulls]),
        pvalues=np.array([null.pvalue for null in nulls]),
        adjusted=np.empty(0),
        method=method,
        null_distributions=np.stack([null.values for null in nulls], axis=1),
        tolerances=np.array([null.tolerance for null in nulls]),
        exact=nulls[0].exact,
        alpha=alpha,
        **about,
    )
    found = found.with_method(method)
    return replace(found, notes=(*found.notes, *_at_the_end(found, nulls[0])))


def _at_the_end(found: MultipleTestsResult, null: Null) -> tuple[str, ...]:
    """What a reader should know where nothing is rejected, and p-values are as small as permutations can make them."""
    least = 1.0 / (null.values.size + (not null.exact))
    count = int((found.pvalues <= least * (1.0 + 1e-9)).sum())
    told = found.method == WESTFALL_YOUNG or null.exact or any(NEVER in note for note in found.notes)
    if told or not count or least > found.alpha or found.reject().any():
        return ()
    return (
        f"{counted(count, 'p-value')} of {len(found)} {'is' if count == 1 else 'are'} as small as {null.values.size} "
        f"permutations can make {'it' if count == 1 else 'them'}, {least:.3g}, and none is small enough once adjusted "
        f"for {len(found)} tests: more permutations (n_resamples=) may reject.",
    )
