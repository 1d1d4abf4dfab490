"""``change_points``: places, adjusted p-values, and when the search ends."""

from __future__ import annotations

import numpy as np
import pytest

from naive_change import hierarchical
from shrinktest import ChangesResult, change_points


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


def test_nothing_changes():
    found = change_points(stairs(60, (0.0,)), rng=0, n_resamples=99)
    assert len(found) == 0 and len(found.tests) == 1 and "none" in found.summary()


def test_at_most_so_many():
    assert len(change_points(stairs(), rng=0, n_resamples=99, n_changes=1)) == 1
    with pytest.raises(ValueError, match="n_changes"):
        change_points(stairs(), n_changes=0)


def test_times_blocks_and_stretches():
    x = stairs(200, (0.0, 3.0))
    found = change_points(x, rng=0, n_resamples=99, times=range(1900, 2100), shift=10)
    assert found.when == (2000,) and found.restriction == "stretches of 10 rows"
    assert change_points(x, rng=0, n_resamples=99, blocks=np.arange(200) % 2, confidence=None).intervals == (None,)


def test_json_table_and_pictures():
    found = change_points(stairs(), rng=0, n_resamples=99)
    again = ChangesResult.from_json(found.to_json())
    assert again.to_json() == found.to_json() and again.summary() == found.summary()
    assert found.table["location"].tolist() == found.locations.tolist()
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    for one in (found, again):
        plt.close(one.plot().figure)


def test_auto_and_missing_values():
    x = stairs(90, (0.0, 3.0))
    assert change_points(x, estimator="auto", rng=0, n_resamples=99, confidence=None).locations.tolist() == [45]
    x[4] = np.nan
    with pytest.raises(ValueError, match="missing"):
        change_points(x, nan_policy="propagate")
