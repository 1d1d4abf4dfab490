"""Groups of which rows are left out: those that kept the same rows change places, and rows stay in step."""

from __future__ import annotations

import numpy as np

from shrinktest import independence_test
from shrinktest.conditional.given import read_given
from shrinktest.data.read import XY, read_variables

GROUPS, PLACES = 12, 4
GROUP, PLACE = np.repeat(np.arange(GROUPS), PLACES), np.tile(np.arange(PLACES), GROUPS)
STRATA = np.array(["a", "b"])[GROUP % 2]
FEW = {"n_resamples": 19, "rng": 0, "workers": 1, "nan_policy": "omit"}


def curves(seed=0, gaps=0.0):
    """X and Y that both grow with the place, and are independent."""
    rng = np.random.default_rng(seed)
    X, Y = PLACE + rng.normal(size=(2, PLACE.size))
    X[rng.random(PLACE.size) < gaps] = np.nan
    return X, Y


def restrictions(X, Y):
    yield read_variables((X, Y), XY, "omit", groups=GROUP).restriction
    yield read_variables((X, Y), XY, "omit", groups=GROUP, blocks=STRATA).restriction
    yield read_given(X, Y, STRATA, nan_policy="omit", groups=GROUP).restriction


def test_rows_stay_in_step():
    X, Y = curves(gaps=0.2)
    kept = ~np.isnan(X)
    group, place = GROUP[kept], PLACE[kept]
    for restriction in restrictions(X, Y):
        moved = restriction.pairings(int(kept.sum()), 0.05).draw(np.random.default_rng(1), 200)
        assert (moved != np.arange(kept.sum())).any()
        assert (place[moved] == place).all()
        assert all(len(set(group[order][group == one])) == 1 for order in moved[:20] for one in set(group))
        if restriction.blocks is not None:
            assert (STRATA[kept][moved] == STRATA[kept]).all()


def test_false_alarms_are_few():
    rejected = [
        independence_test(X, Y, groups=GROUP, **FEW).pvalue <= 0.05 for X, Y in (curves(s, 0.15) for s in range(40))
    ]
    assert sum(rejected) <= 7  # all by all, half of them


def test_nothing_changes_where_groups_are_whole():
    X, Y = curves()
    complete = independence_test(X, Y, groups=GROUP, **{**FEW, "nan_policy": "raise"})
    assert independence_test(X, Y, groups=GROUP, **FEW).pvalue == complete.pvalue
    X[GROUP < 2] = np.nan
    assert read_variables((X, Y), XY, "omit", groups=GROUP).restriction.places is None
    fewer = independence_test(X[GROUP > 1], Y[GROUP > 1], groups=GROUP[GROUP > 1], **FEW)
    found = independence_test(X, Y, groups=GROUP, **FEW)
    assert (found.pvalue, found.restriction) == (fewer.pvalue, "10 whole groups")
