"""Run a test of samples in batches: what it cannot take is refused before any row is read."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shrinktest._validate import as_rng, choice, count
from shrinktest.estimators import as_estimator
from shrinktest.hypotheses.binned import Binned, TwoBinned
from shrinktest.hypotheses.settings import Settings
from shrinktest.hypotheses.supported import checked_estimator, checked_kernel, checked_route
from shrinktest.kernels import as_kernel
from shrinktest.multiple.collection import Asked, is_several
from shrinktest.multiple.run import run
from shrinktest.results.result import TestResult
from shrinktest.statistics.gram import GRAMS


def run_binned(
    samples: Sequence[Any],
    names: Sequence[str],
    estimator: Any,
    asked: Asked,
    settings: Settings,
    rng: Any,
    *,
    refused: Mapping[str, Any],
    two: bool,
    **options: Any,
) -> TestResult:
    """Test whether samples in batches have one distribution.

    Parameters
    ----------
    samples, names
        As users give them, and what messages call them.
    estimator
        As users give it: one.
    asked : Asked
        One kernel and bandwidth.
    settings : Settings
    rng
        Seed or source of bins, features and permutations.
    refused : mapping
        Arguments of the test that must not be given here, with what was given.
    two : bool
        Whether it is a two-sample test, and no k-sample test of two.
    **options
        Of the hypothesis: ``scale``, ``nan_policy`` and others.

    Raises
    ------
    ValueError, TypeError, FileNotFoundError
        For what is not supported or cannot be tested; the message names the argument.
    """
    if len(samples) < 2:
        raise ValueError(f"a test takes two samples or more, got {len(samples)}")
    for argument, given in refused.items():
        if given is not None and given is not False:
            raise ValueError(f"{argument}= takes all rows at once, and is not for samples in batches; leave it out")
    if is_several(estimator, asked.kernel, asked.bandwidth):
        raise ValueError(
            "samples in batches take one estimator, one kernel and one bandwidth: run a test for each, with its level "
            "divided by their number"
        )
    checked_estimator(as_estimator(estimator))
    asked = asked.by_feature(None)
    kernel = checked_kernel(as_kernel(asked.kernel, asked.bandwidth, asked.name))
    route = checked_route(kernel, choice(settings.gram, GRAMS, "gram"))
    if route == "factor" and settings.rank is not None:
        raise ValueError(f"rank={settings.rank} is for gram='nystrom' or 'rff'; {kernel!r} has features of its own")
    drawn = 1000 if settings.rank is None else count(settings.rank, "rank", minimum=1)
    generator = as_rng(rng)
    kind = TwoBinned if two else Binned
    hypothesis = kind.in_batches(samples, names, drawn=drawn, rng=_beside(generator), **options)
    return run(hypothesis, estimator, [asked], settings, generator)


def _beside(generator: np.random.Generator) -> np.random.Generator:
    """Random numbers for bins and samples of rows, independent of those that ``generator`` goes on to draw."""
    return np.random.default_rng([*copy.deepcopy(generator).integers(2**63, size=2).tolist(), 2])
