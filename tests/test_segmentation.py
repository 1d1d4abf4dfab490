"""``change_points``: places, adjusted p-values, and when the search ends."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from naive_change import hierarchical
from shrinktest import change_point_test, change_points


def stairs(n=160, values=(0.0, 4.0, 0.0), seed=1):
    return np.random.default_rng(seed).normal(size=n) + np.repeat(values, -(-n // len(values)))[:n]


def test_changes_are_found_and_adjusted():
    found = change_points(stairs(150), rng=0, n_resamples=199)
    assert found.locations.tolist() == [50, 100] and found.reject() and len(found) == 2
    assert found.segments == ((0, 50), (50, 100), (100, 150))
    root, *others = found.tests
    assert root.adjusted == root.pvalue == found.pvalue
    for one in others:
        parent = min(
            (two for two in found.tests if two.first <= one.first and one.end <= two.end and two != one),
            key=lambda two: two.end - two.first,
        )
        assert one.adjusted == hierarchical(one.pvalue, one.end - one.first, 150, parent.adjusted)
    assert all(low <= at <= high for at, (low, high) in zip(found.locations, found.intervals, strict=True))


@pytest.mark.parametrize("told", [{}, {"kernel": "energy"}])
def test_each_of_four_changes_is_where_the_rows_between_those_beside_it_change_most(told):
    moved = 0
    for seed in range(12):
        x = stairs(150, (0.0, 1.5, 0.0, 1.5, 0.0), seed)
        found = change_points(x, rng=0, n_resamples=199, confidence=None, workers=1, **told)
        edges = [0, *found.locations.tolist(), len(x)]
        for first, at, end in zip(edges, edges[1:], edges[2:], strict=False):
            alone = change_point_test(x[first:end], n_resamples=0, confidence=None, **told)
            if len(found) == 4:  # of fewer, others may be between those that were found
                assert at == first + alone.location
        moved += found.tests[0].location not in edges
    assert moved > 0  # the first place that is found is often beside the change


def test_rows_on_the_wrong_side_of_a_cut_are_no_changes():
    """A first cut that misses leaves a few rows of another distribution, which 1 series in 8 had as a third change."""
    too_many = 0
    for seed in range(80):
        x = np.random.default_rng(seed).normal(size=120)
        x[50:65] += 3.0
        too_many += len(change_points(x, rng=0, n_resamples=199, confidence=None, workers=1)) > 2
    assert too_many <= 8  # at .05 that is exceeded once in 70 times


def test_several_statistics_are_compared_for_places_too():
    x = np.random.default_rng(3).normal(size=(100, 5))
    x[60:] *= 1.8  # which the first member hardly sees
    found = change_points(x, estimator="auto", rng=0, n_resamples=199)
    alone = change_point_test(x, estimator="auto", rng=0, n_resamples=199)
    wide = [note.startswith("The interval is wider than that of a single statistic") for note in found.notes]
    assert sum(wide) == 1 and not any("is wider" in note for note in change_points(x, rng=0, n_resamples=99).notes)
    assert found.locations.tolist() == [alone.location] and abs(alone.location - 60) <= 2
    low, high = found.intervals[0]
    assert 50 <= low <= 60 <= high <= 70


def test_nothing_changes():
    found = change_points(stairs(60, (0.0,)), rng=0, n_resamples=99)
    assert len(found) == 0 and len(found.tests) == 1 and "none" in found.summary()


def test_at_most_so_many():
    assert len(change_points(stairs(), rng=0, n_resamples=99, n_changes=1)) == 1
    with pytest.raises(ValueError, match="n_changes"):
        change_points(stairs(), n_changes=0)


def test_without_permutations_nothing_tells_whether_there_is_a_change():
    with pytest.raises(ValueError, match=r"n_resamples=0 gives no p-values.*n_resamples >= 99, or change_point_test"):
        change_points(stairs(), n_resamples=0, alpha=0.01)


def test_times_blocks_and_stretches():
    x = stairs(200, (0.0, 3.0))
    found = change_points(x, rng=0, n_resamples=99, times=range(1900, 2100), shift=10)
    assert found.when == (2000,) and found.restriction == "stretches of 10 rows"
    assert change_points(x, rng=0, n_resamples=99, blocks=np.arange(200) % 2, confidence=None).intervals == (None,)


def test_json_table_and_pictures():
    found = change_points(stairs(), rng=0, n_resamples=99)
    locations = [row["location"] for row in found.rows()]
    assert json.loads(found.to_json())["locations"] == locations
    assert found.table["location"].tolist() == found.locations.tolist()
    pytest.importorskip("matplotlib")
    import matplotlib.pyplot as plt

    of_days = change_points(stairs(), rng=0, n_resamples=99, times=pd.timedelta_range("1D", periods=len(stairs())))
    assert of_days.plot().get_xlabel() == "time, in days"
    plt.close(found.plot().figure)
    plt.close("all")


def test_shifted_as_a_whole_there_are_no_intervals():
    told = {"rng": 0, "n_resamples": 99, "shift": "circular", "n_changes": 1}
    found = change_points(stairs(60, (0.0, 4.0)), alpha=0.2, **told)
    assert found.intervals == (None,) and "no interval for the place" in " ".join(found.notes)


def test_times_of_intervals_and_the_name_of_a_column():
    pd = pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    days = pd.date_range("2020", periods=120)
    values = np.random.default_rng(0).normal(size=120) + np.repeat([0.0, 3.0], 60)
    found = change_points(pd.DataFrame({"$score": values}, index=days), n_resamples=99, rng=0)
    assert len(found) == 1 and found.columns == ("$score",)
    (ends,) = found.when_intervals
    assert ends == tuple(days[row] for row in found.intervals[0])
    text = found.summary()
    assert f"{ends[0].date()} to {ends[1].date()}" in text and "00:00:00" not in text
    assert found.plot().get_ylabel() == "$score"
    plain = change_points(values, n_resamples=99, rng=0)
    assert plain.when_intervals == plain.intervals and "in time" not in plain.summary()
    assert plain.plot().get_ylabel() == "rows" and plain.columns is None
    assert plain.plot().get_title() == "1 change at level 0.05" and "(1 change at" in repr(plain)


def test_auto_and_missing_values():
    x = stairs(90, (0.0, 3.0))
    assert change_points(x, estimator="auto", rng=0, n_resamples=99, confidence=None).locations.tolist() == [45]
    x[4] = np.nan
    with pytest.raises(ValueError, match="missing"):
        change_points(x, nan_policy="propagate")


@pytest.mark.parametrize(
    ("x", "place"),
    [
        (np.r_[np.random.default_rng(0).normal(size=60), np.zeros(40)], 60),  # a sensor got stuck
        (np.repeat([0.0, 1.0], 50), 50),
        (np.repeat([True, False], 50), 50),
    ],
    ids=["stuck", "steps", "booleans"],
)
@pytest.mark.parametrize("told", [{}, {"estimator": "auto"}, {"scale": "rank"}, {"n_changes": 1}])
def test_stretches_with_one_value_change_no_more(x, place, told):
    assert change_points(x, rng=0, n_resamples=99, **told).locations.tolist() == [place]
