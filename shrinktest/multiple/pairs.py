"""Run a test of independence in batches: what it cannot take is refused before any row is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shrinktest._progress import preparing
from shrinktest._validate import as_rng, choice, count
from shrinktest.estimators import as_estimator
from shrinktest.hypotheses.pairs import RANK, IndependenceInBatches
from shrinktest.hypotheses.settings import Settings
from shrinktest.hypotheses.supported import checked_route, checked_scaled
from shrinktest.kernels import as_kernel
from shrinktest.multiple.binned import beside, by_whom, refuse
from shrinktest.multiple.collection import Asked, is_several
from shrinktest.multiple.run import run
from shrinktest.results.result import TestResult
from shrinktest.statistics.gram import GRAMS


def run_pairs(
    X: Any,
    Y: Any,
    estimator: Any,
    asked: Sequence[Asked],
    settings: Settings,
    rng: Any,
    *,
    refused: Mapping[str, Any],
    scale: Any,
    nan_policy: str,
) -> TestResult:
    """Test whether two variables in batches are independent.

    Parameters
    ----------
    X, Y, estimator, scale, nan_policy
        As users give them.
    asked : sequence of Asked
        The kernel and the bandwidth for each variable.
    settings : Settings
    rng
        Seed or source of blocks, features and permutations.
    refused : mapping
        Arguments of the test that must not be given here, with what was given.

    Raises
    ------
    ValueError, TypeError, FileNotFoundError
        For what is not supported or cannot be tested; the message names the argument.
    MemoryError
        If the sums of products would not fit.
    """
    refuse(refused)
    if nan_policy not in ("raise", "omit"):
        raise ValueError(f"nan_policy={nan_policy!r} is not for pairs in batches; use 'raise' or 'omit'")
    if is_several(estimator, *(given for one in asked for given in (one.kernel, one.bandwidth))):
        raise ValueError(
            "pairs in batches take one estimator, and one kernel and one bandwidth for each variable: run a test for "
            "each, with its level divided by their number"
        )
    checked_scaled(as_estimator(estimator))
    asked = [one.by_feature(None) for one in asked]
    gram = choice(settings.gram, GRAMS, "gram")
    for one in asked:
        kernel = as_kernel(one.kernel, one.bandwidth, one.name)
        if checked_route(kernel, gram) == "factor" and settings.rank is not None:
            raise ValueError(f"rank={settings.rank} is for gram='nystrom' or 'rff'; {kernel!r} has features of its own")
    drawn = RANK if settings.rank is None else count(settings.rank, "rank", minimum=1)
    generator = as_rng(rng)
    with preparing(settings.progress):
        hypothesis = IndependenceInBatches.in_batches(
            X, Y, scale=scale, nan_policy=nan_policy, drawn=drawn, rng=beside(generator, 2),
            **by_whom(settings, rng),
        )  # fmt: skip
    return run(hypothesis, estimator, asked, settings, generator)
