"""Groups of which rows are left out: those that kept the same rows change places, and rows stay in step."""

from __future__ import annotations

import numpy as np
import pytest

from shrinktest import independence_matrix, independence_test
from shrinktest._read import XY, read_variables
from shrinktest.hypotheses.given import read_given
from shrinktest.tables.labels import patterns_kept

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


def test_results_say_what_stays():
    X, Y = curves()
    X[[0, 5]] = np.nan
    words = "12 whole groups (2 stay where they are: no other kept the same rows)"
    assert independence_test(X, Y, groups=GROUP, **FEW).restriction == words
    X[9] = np.nan  # the second row of the third group, as of the second
    found = independence_test(X, Y, groups=GROUP, blocks=np.zeros(48), **FEW).restriction
    assert found == "12 whole groups within 1 block (1 stays where it is: no other kept the same rows)"


@pytest.mark.parametrize("test", [independence_test, independence_matrix])
def test_too_few_groups_that_kept_the_same_rows(test):
    X, Y = curves()
    X[np.arange(48) == GROUP * PLACES + GROUP % PLACES] = np.nan
    X, Y, groups = X[:24], Y[:24], GROUP[:24]
    message = (
        r"permuting 6 whole groups \(2 stay where they are: no other kept the same rows\) leaves 4 different "
        "permutations.*rows with missing values were left out.*same rows are exchangeable: leave out whole groups, use "
        "nan_policy='indicator'"
    )
    with pytest.raises(ValueError, match=message):
        test(X[:, None], Y[:, None], groups=groups, **FEW)
    assert test(X[:, None], Y[:, None], groups=groups, **{**FEW, "nan_policy": "indicator"})


def test_numbers_of_places():
    keep = np.array([True, True, False, True, True, False, True, False])
    labels = ["a", "b", "a", "b", "c", None, "c", ["no label"]]
    assert patterns_kept(labels, keep).tolist() == [0, 1, 1, 1, 1]
    assert patterns_kept(labels[:5], np.array([False, True, False, True, True])) is None
