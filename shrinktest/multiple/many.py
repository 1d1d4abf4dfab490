"""Many tests on shared relabellings: run one after the other, and adjusted for their number."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from shrinktest.nulls.permutation import Null
from shrinktest.nulls.relabellings import Relabellings
from shrinktest.results.conclude import warn_too_few
from shrinktest.results.multiple import MultipleTestsResult
from shrinktest.statistics.configuration import Configuration


def conclude_many(
    configurations: Iterator[tuple[Configuration, Relabellings]],
    *,
    method: str,
    workers: int,
    progress: bool,
    **about: Any,
) -> MultipleTestsResult:
    """Run the tests one after the other, each on relabellings from a generator in the same state, and adjust."""
    nulls: list[Null] = []
    notes: list[str] = []
    for configuration, relabellings in configurations:
        nulls.append(configuration.null(relabellings, workers=workers, progress=progress))
        notes += configuration.notes
    return _gathered(nulls, method, notes=tuple(dict.fromkeys(notes)), **about)


def _gathered(nulls: list[Null], method: str, *, alpha: float, **about: Any) -> MultipleTestsResult:
    found = MultipleTestsResult(
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
    return found.with_method(method)


def warn_if_hopeless(relabellings: Relabellings, method: str, tests: int, alpha: float) -> None:
    """Warn when not even the smallest p-value there can be, adjusted, is as small as ``alpha``.

    Methods that step up reject what they would not by itself when all others are small, too.
    """
    rows, factor = relabellings.count, 1.0
    if method in ("bonferroni", "holm"):
        factor = float(tests)
    elif method in ("sidak", "holm-sidak"):
        factor = rows * (1.0 - (1.0 - 1.0 / rows) ** tests)
    warn_too_few(rows, alpha, factor, exact=relabellings.exact, stacklevel=4)


def same_state(generator: np.random.Generator) -> Callable[[], np.random.Generator]:
    """A function that returns generators which draw what ``generator`` will draw next; it is moved on once."""
    kept = copy.deepcopy(generator)
    generator.bytes(8)  # so that the next test of the caller's does not see these relabellings again
    return lambda: copy.deepcopy(kept)


def setup_generator(generator: np.random.Generator) -> np.random.Generator:
    """Random numbers for bandwidths and landmarks, apart from those of the relabellings that ``generator`` draws."""
    words = copy.deepcopy(generator).integers(2**63, size=4)
    return np.random.default_rng(np.random.SeedSequence([int(word) for word in words]))  # hashes them
