"""Two series at several lags: independence tests side by side, on the same shifts."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np

from shrinktest._random import as_rng
from shrinktest.aggregation import refuse_stopping
from shrinktest.conditional.conditional_independence import ConditionalIndependence
from shrinktest.independent_variables import Independence
from shrinktest.kernel_spec import KernelSpec, refuse_candidates
from shrinktest.many import run_many
from shrinktest.notes import note
from shrinktest.results.multiple_tests_result import WESTFALL_YOUNG, MultipleTestsResult
from shrinktest.settings import Settings


def run_lags(
    hypothesis: Independence,
    lags: Any,
    estimator: Any,
    specs: list[KernelSpec],
    settings: Settings,
    rng: Any,
) -> MultipleTestsResult:
    """Test two series at every lag.

    At all lags the statistic takes the same values over all shifts, in another order.  The lags are
    comparable, and the shifts of all of them together are exchangeable if the shifts of one are.
    """
    chosen = _checked(lags, hypothesis)
    refuse_stopping(settings.stopping)
    for each in specs:
        refuse_candidates("independence_test with lags=", each.kernel, each.bandwidth)
    specs = [
        each.by_feature(variable.encoding)
        for each, variable in zip(specs, hypothesis.variables, strict=True)
    ]
    shifts = hypothesis.permutations(
        settings.n_resamples, settings.alpha, hypothesis.form(settings.form)
    ).distinct
    if settings.n_resamples and len(chosen) > settings.alpha * shifts:
        raise ValueError(
            f"lags: {len(chosen)} lags with {shifts} shifts can never reject at "
            f"alpha={settings.alpha:g}; use fewer lags or longer series"
        )
    longest = max(map(abs, chosen))
    notes = []
    if longest and isinstance(lags, Integral):
        notes.append(
            note("single-lag", lag=chosen[0], low=-longest, high=longest + 1, longest=longest)
        )
    if longest:
        last, verb = (
            ("row", "is paired with") if longest == 1 else (f"{longest} rows", "are paired with")
        )
        notes.append(note("ends-meet", longest=longest, rows=last, meet=verb))
    return run_many(
        [hypothesis.lagged(lag) for lag in chosen],
        [(lag,) for lag in chosen],
        ("lag",),
        [specs] * len(chosen),
        estimator,
        settings,
        as_rng(rng),
        WESTFALL_YOUNG,
        notes=notes,
    )


def _checked(lags: Any, hypothesis: Independence) -> list[int]:
    given = [lags] if isinstance(lags, Integral) else lags
    chosen = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else []
    if not chosen or not all(
        isinstance(lag, Integral) and not isinstance(lag, bool | np.bool_) for lag in chosen
    ):
        raise TypeError(f"lags must be whole numbers of rows, such as range(-5, 6); got {lags!r}")
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"lags must differ; got {chosen}")
    if isinstance(hypothesis, ConditionalIndependence):
        raise ValueError("lags= cannot be combined with given=; leave one of them out")
    if not hypothesis.restriction.shifted:
        raise ValueError("lags= requires block_length='whole', with rows in order of time")
    if hypothesis.missing:
        raise ValueError(
            "lags= requires series without missing values; impute them, or test a part without gaps"
        )
    shortest = min(map(len, hypothesis.restriction.series(hypothesis.sizes[0])))
    if 2 * max(map(abs, chosen)) >= shortest:
        raise ValueError(
            f"lags must be below half the length of the shortest series, {shortest} rows; got "
            f"{chosen}"
        )
    return list(map(int, chosen))
