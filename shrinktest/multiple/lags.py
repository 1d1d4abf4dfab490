"""Two series at several lags: independence tests side by side, on the same shifts."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np

from shrinktest._check import as_rng, rng_provenance
from shrinktest.hypotheses.conditional import ConditionalIndependence
from shrinktest.hypotheses.independence import Independence
from shrinktest.hypotheses.settings import Settings
from shrinktest.multiple.aggregation import refuse_stopping
from shrinktest.multiple.collection import Asked, refuse_candidates
from shrinktest.multiple.many import adjusted_tests
from shrinktest.multiple.run import run_side_by_side
from shrinktest.results.multiple import WESTFALL_YOUNG, MultipleTestsResult


def run_lags(
    hypothesis: Independence, lags: Any, estimator: Any, asked: list[Asked], settings: Settings, rng: Any
) -> MultipleTestsResult:
    """Test two series at every lag.

    At all lags the statistic takes the same values over all shifts, in another order, so the lags are comparable, and
    the shifts of all of them together are exchangeable if those of one are.
    """
    wanted = _checked(lags, hypothesis)
    refuse_stopping(settings.stopping)
    for one in asked:
        refuse_candidates("independence_test with lags=", one.kernel, one.bandwidth)
    generator = as_rng(rng)
    provenance = rng_provenance(generator)
    asked = [one.by_feature(variable.encoding) for one, variable in zip(asked, hypothesis.variables, strict=True)]
    shifts = hypothesis.permutations(settings.n_resamples, settings.alpha).distinct
    if settings.n_resamples and len(wanted) > settings.alpha * shifts:
        raise ValueError(
            f"lags: {len(wanted)} lags of {shifts} shifts can never reject at alpha={settings.alpha:g}; take fewer "
            "lags, or longer series"
        )
    nulls, about = run_side_by_side(
        [hypothesis.lagged(lag) for lag in wanted], estimator, [asked] * len(wanted), settings, generator,
        WESTFALL_YOUNG,
    )  # fmt: skip
    return adjusted_tests(
        nulls, WESTFALL_YOUNG, test=hypothesis.kind.name, keys=("lag",), labels=[(lag,) for lag in wanted],
        n_observations=hypothesis.sizes, alpha=settings.alpha, rng=provenance,
        **about | {"notes": (*about["notes"], *_notes(lags, wanted))},
    )  # fmt: skip


def _notes(lags: Any, wanted: list[int]) -> tuple[str, ...]:
    longest = max(map(abs, wanted))
    if not longest:
        return ()
    single = f"This is lag {wanted[0]} alone; lags=range({-longest}, {longest + 1}) tests all lags up to {longest}."
    rows = "row" if longest == 1 else f"{longest} rows"
    joined = f"At a lag of {longest} the last {rows} of one series {'meets' if longest == 1 else 'meet'} the first of "
    return (*((single,) if isinstance(lags, Integral) else ()), f"{joined}the other, because shifts are circular.")


def _checked(lags: Any, hypothesis: Independence) -> list[int]:
    listed = [lags] if isinstance(lags, Integral) else lags
    wanted = list(listed) if isinstance(listed, Iterable) and not isinstance(listed, str) else []
    if not wanted or not all(isinstance(lag, Integral) and not isinstance(lag, bool | np.bool_) for lag in wanted):
        raise TypeError(f"lags must be whole numbers of rows, such as range(-5, 6); got {lags!r}")
    wanted = [int(lag) for lag in wanted]
    if len(set(wanted)) < len(wanted):
        raise ValueError(f"lags must differ; got {wanted}")
    if isinstance(hypothesis, ConditionalIndependence):
        raise ValueError("lags= cannot be combined with given=; leave one of them out")
    if not hypothesis.restriction.shift:
        raise ValueError("lags= are for time series: give shift='circular', with rows in order of time")
    if hypothesis.missing:
        raise ValueError("lags= takes series without missing values; fill them in, or test a part without gaps")
    shortest = min(map(len, hypothesis.restriction.series(hypothesis.sizes[0])))
    if 2 * max(map(abs, wanted)) >= shortest:
        raise ValueError(f"lags must be below half the length of the shortest series, {shortest} rows; got {wanted}")
    return wanted
