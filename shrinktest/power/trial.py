"""One trial: data are drawn once and tested with every estimator and every other test.  What workers run."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from shrinktest.power.any_test import AnyTest
from shrinktest.power.arguments import Compared, brings_kernels
from shrinktest.power.designs import Design
from shrinktest.power.designs.base import sizes_of
from shrinktest.power.store_file import Row
from shrinktest.results.info import KINDS

_ANY = 0.999  # a level decides nothing here, and at this one no test warns that it has too few relabellings to reject


def run_trial(
    design: Design,
    n: int,
    null: bool,
    trial: int,
    estimators: Mapping[str, Compared],
    seed: int,
    n_resamples: float,
    options: Mapping[str, Any],
) -> list[Row]:
    """p-values of one data set, one for every estimator; the same on any machine and in any order of trials.

    (seed, n, null, trial) has a stream of random numbers for the data, one for the relabellings, which is the same
    for every estimator, and one for tests of others, which each of them begins anew: the p-values of a trial are
    paired, and do not depend on what else is in the study.  ``options`` for the test prevail over those of the design.

    The rows are (n, null, trial, label, p-value, seconds).
    """
    twin = design.null() if null else design
    if not isinstance(twin, Design):
        raise TypeError(f"null() of {design!r} must return a design; found {twin!r}")
    info = KINDS[twin.test]
    test = info.load("verb")
    for_data, for_relabellings, for_others = (
        np.random.SeedSequence(seed, spawn_key=(n, int(null), trial, stream)) for stream in (0, 1, 2)
    )
    rows: list[Row] = []
    try:
        data = twin.sample(np.random.default_rng(for_data), n)
        given = {**twin.options(), **twin.options_for(*sizes_of(data)), **options}
        values = () if info.named_data else data
        named = dict(zip(info.named_data, data, strict=False))
        keywords = {**named, **given, "n_resamples": n_resamples, "workers": 1, "alpha": _ANY}
        for label, estimator in estimators.items():
            start = time.perf_counter()
            if isinstance(estimator, AnyTest):
                pvalue = estimator.pvalue(data, np.random.default_rng(for_others), n_resamples, label)
            else:
                pvalue = float(test(*values, rng=for_relabellings, **_arguments(estimator, keywords)).pvalue)
                if np.isnan(pvalue):
                    raise ValueError(
                        f"test {label!r} has no p-value, because values are missing and nan_policy='propagate'; use "
                        "'omit' or 'indicator'"
                    )
            rows.append((n, null, trial, label, pvalue, time.perf_counter() - start))
    except Exception as error:
        error.add_note(f"in trial {trial} of {twin!r} with n={n} and seed {seed}")
        raise
    return rows


def _arguments(compared: Compared, keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of the test: its own prevail over those of the study, and an ensemble brings its kernels."""
    if brings_kernels(compared):
        keywords = {key: value for key, value in keywords.items() if not key.startswith(("kernel", "bandwidth"))}
    return {**keywords, **(compared if isinstance(compared, dict) else {"estimator": compared})}
