"""Two series at several lags: a test for each on the same shifts, and one p-value for all of them."""

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
from shrinktest.results.lags import LagsResult
from shrinktest.results.multiple import WESTFALL_YOUNG


def run_lags(
    hypothesis: Independence, lags: Any, estimator: Any, asked: list[Asked], settings: Settings, rng: Any
) -> LagsResult:
    """Test two series at every lag, each by itself and all together.

    A shift of y by one row more is what the next lag starts from: at all lags the statistic takes the same values
    over all shifts, in another order, so that they are comparable, and the shifts of all of them together are
    exchangeable where those of one are.

    Raises TypeError or ValueError for lags that are no whole numbers, come twice or are too long, and for series that
    are not shifted.
    """
    wanted = _checked(lags, hypothesis)
    refuse_stopping(settings.stopping)
    for one in asked:
        refuse_candidates("independence_test with lags=", one.kernel, one.bandwidth)
    if hypothesis.missing:
        raise ValueError(
            "lags= takes series without missing values: fill them in (interpolate), or test a part that has none"
        )
    generator = as_rng(rng)
    provenance = rng_provenance(generator)
    asked = [one.by_feature(variable.encoding) for one, variable in zip(asked, hypothesis.variables, strict=True)]
    _check_enough(wanted, hypothesis, settings)
    nulls, about = run_side_by_side(
        [hypothesis.lagged(lag) for lag in wanted], estimator, [asked] * len(wanted), settings, generator,
        WESTFALL_YOUNG,
    )  # fmt: skip
    longest = max(map(abs, wanted))
    if longest and isinstance(lags, Integral):  # which elsewhere means all lags up to it
        alone = (
            f"This is lag {wanted[0]} alone; lags=range({-longest}, {longest + 1}) looks at all lags up to {longest}."
        )
        about["notes"] = (*about["notes"], alone)
    if longest:
        about["notes"] = (*about["notes"], _come_round(wanted, longest))
    found = adjusted_tests(
        nulls, WESTFALL_YOUNG, kind=LagsResult, test=hypothesis.kind.name, keys=("lag",),
        labels=tuple((lag,) for lag in wanted), n_observations=hypothesis.sizes, alpha=settings.alpha, rng=provenance,
        **about,
    )  # fmt: skip
    assert isinstance(found, LagsResult)
    return found


def _come_round(lags: list[int], longest: int) -> str:
    """What a reader should know of rows that meet others from the far end of the series."""
    furthest = sorted(lag for lag in lags if abs(lag) == longest)
    rows, meet = ("row", "meets") if longest == 1 else (f"{longest} rows", "meet")
    less = ", less at others" if len(lags) > len(furthest) else ""
    return (
        f"At lag{'s' * (len(furthest) - 1)} {' and '.join(map(str, furthest))} the last {rows} of one series {meet} "
        f"the first of the other{less}."
    )


def _check_enough(lags: list[int], hypothesis: Independence, settings: Settings) -> None:
    """Raise ValueError where the test could never reject: as many shifts as lags bring the strongest one into view."""
    shifts = hypothesis.permutations(settings.n_resamples, settings.alpha).distinct
    if settings.n_resamples and len(lags) > settings.alpha * shifts:
        raise ValueError(
            f"lags: of {shifts} shifts of the series, {len(lags)} bring one lag or another into the place of "
            "any other, "
            f"so that no p-value is below {len(lags) / shifts:.3g} and the test can never reject at "
            f"alpha={settings.alpha:g}; take fewer lags, or observe longer series"
        )


def _checked(lags: Any, hypothesis: Independence) -> list[int]:
    given = [lags] if isinstance(lags, Integral) else lags
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"lags must be whole numbers of rows, such as range(-5, 6); got {lags!r}")
    found = list(given)
    if not found or not all(isinstance(lag, Integral) and not isinstance(lag, bool | np.bool_) for lag in found):
        raise TypeError(f"lags must be whole numbers of rows, such as range(-5, 6); got {lags!r}")
    wanted = [int(lag) for lag in found]
    if len(set(wanted)) < len(wanted):
        raise ValueError(f"lags must differ; got {wanted}")
    if isinstance(hypothesis, ConditionalIndependence):
        raise ValueError(
            "lags= shifts series as a whole, and given= says which rows may change places; leave one of them out"
        )
    if not hypothesis.restriction.shift:
        raise ValueError(
            "lags= are for time series, whose permutations are shifts: give shift='circular' as well, with rows "
            "in order "
            "of time"
        )
    shortest = min(map(len, hypothesis.restriction.series(hypothesis.sizes[0])))
    if 2 * max(map(abs, wanted)) >= shortest:
        raise ValueError(
            f"lags go up to {max(map(abs, wanted))}, and the shortest series has {shortest} rows, most of which would "
            "meet rows from its other end; take lags below half of that"
        )
    return wanted
