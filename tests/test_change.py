"""``change_point_test`` and ``change_points``: exact by enumeration, with places, adjusted p-values and intervals."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy.stats import binom

from _ci import some_wait
from naive_change import (
    gaussian,
    hierarchical,
    largest,
    orders_beside,
    pvalue,
    smallest_pvalue,
    unbiased,
    within_sample,
)
from shrinktest import AggregateChangeResult, change_point_test, change_points
from shrinktest.change_location import _Sides
from shrinktest.kernels import Gaussian, Linear
from shrinktest.permutations.block_length import BlockLength
from shrinktest.permutations.design import PermutationDesign
from shrinktest.permutations.serial_correlation import in_blocks
from shrinktest.statistics.features import KernelFeatures
from shrinktest.statistics.scan import Cuts, Within


@pytest.fixture
def series():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(6, 2))
    x[3:] += 1.0
    return x


def shifted(n=60, at=30, by=2.0, seed=1, columns=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, columns))
    x[at:] += by
    return x


def test_all_orders_by_enumeration(series):
    options = {
        "trim": 0.0,
        "confidence": None,
        "alpha": 0.3,
        "n_resamples": np.inf,
        "bandwidth": 1.3,
    }
    changes = ("single", "epidemic")
    naive = {
        change: pvalue(gaussian(series, 1.3), 2, change, itertools.permutations(range(6)))
        for change in changes
    }
    for change, gram in itertools.product(changes, ("dense", "factor")):
        result = change_point_test(series, change=change, gram=gram, **options)
        p, values = naive[change]
        assert result.exact and result.n_resamples == 720 and result.pvalue == pytest.approx(p)
        assert np.allclose(np.sort(result.null_distribution), np.sort(values), rtol=1e-9)
        value, start, end = largest(gaussian(series, 1.3), 2, change, {})
        assert result.statistic == pytest.approx(value)
        if change == "single":  # either part names the cut
            assert result.location in (start, end)
        else:
            assert (result.location, result.until) == (start, end)


def test_blocks_and_stretches_by_enumeration(series):
    options = {"n_resamples": np.inf, "trim": 0.0, "confidence": None, "alpha": 0.2}
    result = change_point_test(series, bandwidth=1.3, blocks=[0, 1, 0, 1, 0, 1], **options)
    orders = [
        [a[0], b[0], a[1], b[1], a[2], b[2]]
        for a in itertools.permutations([0, 2, 4])
        for b in itertools.permutations([1, 3, 5])
    ]
    assert result.pvalue == pytest.approx(pvalue(gaussian(series, 1.3), 2, "single", orders)[0])
    assert result.n_resamples == 36
    x = shifted(8, 4, 1.0, 1)
    result = change_point_test(x, bandwidth=1.0, block_length=2, **options)
    orders = [
        [2 * unit + i for unit in units for i in (0, 1)]
        for units in itertools.permutations(range(4))
    ]
    assert result.pvalue == pytest.approx(pvalue(gaussian(x, 1.0), 2, "single", orders)[0])
    assert result.restriction == "blocks of 2 successive rows"


def test_the_statistic_is_that_of_song_and_chen_and_of_the_unbiased_distance(series):
    gram = gaussian(series, 1.3)
    orders = [list(order) for order in itertools.permutations(range(6))][:120]
    distance = [unbiased(gram[np.ix_(o, o)], np.arange(6) < 2) for o in orders]
    within = [within_sample(gram[np.ix_(o, o)], 2) for o in orders]
    assert np.corrcoef(distance, within)[0, 1] == pytest.approx(1.0, abs=1e-12)


def test_the_spread_is_that_over_all_orders(series):
    within = Within.of(KernelFeatures(Gaussian(1.3), series))
    statistic = within.statistic(Cuts(6, "single", 3))  # one cut
    values = statistic(np.array(list(itertools.permutations(range(6)))))[:, 0]
    assert values.mean() == pytest.approx(0.0, abs=1e-12)
    assert values.std() == pytest.approx(1.0)


def test_no_pvalue_is_below_the_share_of_orders_that_leave_parts_as_they_are():
    for n, change, options, reached in (
        (6, "single", {}, True),
        (7, "single", {}, True),
        (6, "epidemic", {}, True),
        (8, "single", {"blocks": np.repeat([0, 1], 4)}, True),
        (8, "single", {"groups": np.repeat(np.arange(4), 2)}, True),
        (9, "single", {"groups": np.array([0, 0, 1, 1, 2, 2, 3, 3, 4])}, True),
        (7, "single", {"blocks": np.array([0, 0, 1, 1, 0, 0, 1])}, False),
    ):
        restriction = PermutationDesign(**options)
        naive = smallest_pvalue(n, 2, change, map(np.array, restriction.pairings(n, 1.0).all()))
        least = Cuts(n, change, 2).least(restriction.units(n))
        assert least == pytest.approx(naive) if reached else 0.0 < least < naive


def test_notes_on_serial_correlation():
    rng = np.random.default_rng(0)
    walk, few = np.cumsum(rng.normal(size=200)) * 0.3, {"n_resamples": 19, "rng": 0}
    assert any(
        "are too short" in note
        for note in change_point_test(walk, block_length=5, alpha=0.1, **few).notes
    )
    assert not change_point_test(rng.normal(size=200), alpha=0.99, confidence=None, **few).notes
    assert not any("Successive" in note for note in change_point_test(shifted(by=5.0), **few).notes)
    steps = rng.normal(size=120) + np.repeat(
        [0.0, 3.0, 0.0, 3.0], 30
    )  # a further change looks like correlation
    for change in ("single", "epidemic"):
        noted = [
            note
            for note in change_point_test(steps, change=change, **few).notes
            if "Successive rows" in note
        ]
        assert len(noted) == 1 and "change_points" in noted[0]
    several = change_points(steps, n_resamples=199, rng=0)
    assert len(several.locations) == 3 and not any(
        "Successive rows" in note for note in several.notes
    )


def test_route_workers_and_origin_change_nothing():
    x = shifted(120, 50, 0.7)
    for left, right in (({"gram": "dense"}, {"gram": "factor"}), ({"workers": 1}, {"workers": 2})):
        first, second = (
            change_point_test(x, n_resamples=49, rng=0, **options) for options in (left, right)
        )
        assert np.allclose(first.null_distribution, second.null_distribution, rtol=1e-6)
        assert (first.location, first.pvalue, first.interval) == (
            second.location,
            second.pvalue,
            second.interval,
        )
    near, far = (
        change_point_test(x + add, kernel="linear", n_resamples=49, rng=0) for add in (0.0, 1e6)
    )
    assert (near.pvalue, near.location) == (far.pvalue, far.location)
    assert change_point_test(np.ones((12, 1)), kernel="linear", n_resamples=19, rng=0).pvalue == 1.0


def test_estimators_and_stopping():
    result = change_point_test(
        shifted(60, 30, 0.0), rng=0, stopping="besag-clifford", confidence=None
    )
    assert result.stopped and result.n_resamples < 999
    result = change_point_test(shifted(40, 20, 2.0), estimator="mkme", rng=0, n_resamples=99)
    assert result.pvalue == 0.01 and result.tuning == "pooled"
    result = change_point_test(
        shifted(60, 24, 2.0, columns=2), estimator="auto", rng=0, n_resamples=99
    )
    assert isinstance(result, AggregateChangeResult) and len(result.members) == 6
    assert result.pvalue <= 0.02 and abs(result.location - 24) <= 2
    assert result.interval[0] <= result.location <= result.interval[1]
    assert "interval-chosen" in [note.code for note in result.notes]


def test_missing_values():
    x = shifted()
    x[3] = np.nan
    result = change_point_test(x, nan_policy="propagate")
    assert (
        np.isnan(result.pvalue) and result.location is None and "First row" not in result.summary()
    )
    result = change_point_test(x, nan_policy="omit", rng=0, n_resamples=99, times=np.arange(60))
    assert result.n_observations == (59,) and result.when == result.location + 1


def test_rows_too_few_to_reject():
    with pytest.warns(
        UserWarning,
        match=r"with 7 rows the smallest possible p-value is 0\.0571, .* can never reject",
    ):
        assert change_point_test(
            shifted(7, 4, 50.0), n_resamples=np.inf, confidence=None
        ).pvalue == pytest.approx(2 / 35)
    with pytest.raises(ValueError, match=r"same parts so often that no p-value is below 0\.167"):
        change_point_test(shifted(8, 4, 50.0), blocks=np.repeat([0, 1], 4), rng=0)


def test_messages_name_the_argument():
    x, gap = shifted(), [np.nan, *range(20)]
    for test, data, options, error, name in (
        (change_point_test, x, {"times": [1, 2, 2, *range(3, 60)]}, ValueError, "times repeat"),
        (change_point_test, x, {"times": range(59)}, ValueError, "59 labels"),
        (change_point_test, x, {"trim": 0.5}, ValueError, "trim"),
        (change_point_test, np.arange(5.0) ** 2, {"trim": 0.45, "alpha": 0.5}, ValueError, "trim"),
        (change_point_test, x, {"change": "twice"}, ValueError, "change"),
        (change_point_test, x, {"form": "biased"}, ValueError, "form"),
        (change_point_test, x, {"estimator": "fkmse"}, ValueError, "estimator"),
        (change_point_test, x, {"block_length": 25}, ValueError, "can never reject"),
        (
            change_point_test,
            x,
            {"block_length": "whole", "change": "epidemic"},
            ValueError,
            "block_length='whole'",
        ),
        (change_point_test, x, {"block_length": 2.5}, TypeError, "block_length"),
        (change_point_test, x, {"confidence": 0.99999}, ValueError, "confidence"),
        (change_point_test, [1.0, 2.0, 3.0], {}, ValueError, "X"),
        (change_points, x, {"n_changes": 0}, ValueError, "n_changes"),
        (change_points, x, {"n_resamples": 0}, ValueError, "n_resamples"),
        (change_points, gap, {"nan_policy": "propagate"}, ValueError, "nan_policy"),
    ):
        with pytest.raises(error, match=name):
            test(data, **options)


def test_results_and_pictures():
    days = pd.date_range("2020", periods=60)
    for options, names in (
        ({}, "before"),
        ({"change": "epidemic"}, "outside"),
        ({"estimator": ["kme", "mkme"]}, "b"),
    ):
        result = change_point_test(shifted(), rng=0, n_resamples=49, times=days, **options)
        read, text = json.loads(result.to_json()), str(result.summary())
        assert (read["location"], read["until"]) == (result.location, result.until)
        assert tuple(read["interval"]) == result.interval and read["times"][0].startswith(
            "2020-01-01"
        )
        assert result.to_frame()["location"][0] == result.location
        assert result.when_interval == tuple(days[row] for row in result.interval)
        assert "interval:" in text and "00:00:00" not in text and str(result.when.date()) in text
        ax = result.plot(Figure().subplots())
        assert ax.get_xlabel() == "time" and len(ax.lines) >= 2 and names in ax.get_ylabel()
    with pytest.raises(ValueError, match="no location of a change"):
        result.members[0].plot()
    with pytest.raises(ValueError, match="change point was chosen"):
        result.summary(effect=True)


def test_a_summary():
    assert str(change_point_test(shifted(), rng=0, n_resamples=49).summary()).splitlines()[
        -3:-1
    ] == [
        "First row after the change:         30",
        "95% interval:                 30 to 32",
    ]
    assert str(change_points(stairs(150), rng=0, n_resamples=99).summary()).splitlines()[:9] == [
        "Kernel change points: 2 found at level 0.05",
        "Estimator:     KME()",
        "Rows:          150",
        "Tests:         5, p-values adjusted for all of them",
        "======================================",
        "row when 95% interval p-value adjusted",
        "--------------------------------------",
        " 50   50     50 to 50    0.01     0.01",
        "100  100   100 to 100    0.01    0.015",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{}, {"change": "epidemic"}, {"blocks": np.arange(30) % 3}, {"kernel": "whitened"}]
)
def test_level(options):
    """p <= .05 in 1000 series without a change, as often as in 99.9% of a test of this exact level."""
    how = {"n_resamples": 19, "confidence": None, "workers": 1, **options}
    rejected = 0
    for trial in range(1000):
        rng = np.random.default_rng([5, trial])
        rejected += change_point_test(rng.standard_t(3, size=30), rng=rng, **how).pvalue <= 0.05
    low, high = binom(1000, 0.05).interval(0.999)
    assert low <= rejected <= high


def sides(alpha=0.05, restriction=None, n=20):
    """Tests of the places of a series in which nothing happens."""
    within = Within.of(KernelFeatures(Linear(), np.arange(float(n))[:, None] % 3))
    return _Sides(
        within,
        2,
        PermutationDesign() if restriction is None else restriction,
        alpha,
        np.random.default_rng(0),
    )


def test_rows_beside_a_place_move_within_their_side_and_block():
    """Of rows 3 to 11, with a place before row 6."""
    many, few = [1, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1], [1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 0, 0]
    for blocks, length in ((None, 1), (None, 2), (many, 1), (few, 2)):
        given = None if blocks is None else np.array(blocks)
        stretches = in_blocks(BlockLength(length), [np.zeros((12, 1))], given)
        restriction, end = (PermutationDesign(blocks=given), 10) if length == 1 else (stretches, 12)
        result = sides(restriction=restriction, n=12)._orders(
            6, 3, end, np.random.default_rng(1), 3000
        )
        expected = set(
            orders_beside(3, [0] * (end - 3) if given is None else blocks[3:end], length)
        )
        assert set(map(tuple, result.tolist())) == expected and len(expected) > 1


def test_an_interval_has_all_places_that_are_not_rejected(monkeypatch):
    for low, high in ((2, 298), (2, 2), (298, 298), (100, 101), (97, 203), (3, 296), (150, 150)):
        accepts = lambda self, statistic, cut, *options, low=low, high=high: low <= cut <= high  # noqa: E731
        monkeypatch.setattr(_Sides, "_accepts", accepts)
        for best in (low, high, (low + high) // 2):
            assert sides(n=300).interval(best, 0, 300) == (low, high)


def stairs(n=160, values=(0.0, 4.0, 0.0), seed=1):
    return np.random.default_rng(seed).normal(size=n) + np.repeat(values, -(-n // len(values)))[:n]


def test_changes_are_found_and_adjusted():
    result = change_points(stairs(150), rng=0, n_resamples=199)
    assert result.locations.tolist() == [50, 100] and result.reject() and len(result) == 2
    root, *others = result.tests
    assert root.adjusted == root.pvalue == result.pvalue
    for child in others:
        parent = min(
            (
                test
                for test in result.tests
                if test.first <= child.first and child.end <= test.end and test != child
            ),
            key=lambda test: test.end - test.first,
        )
        assert child.adjusted == hierarchical(
            child.pvalue, child.end - child.first, 150, parent.adjusted
        )
    assert all(
        low <= at <= high
        for at, (low, high) in zip(result.locations, result.intervals, strict=True)
    )


def test_no_change_at_most_so_many_and_shifts():
    none = change_points(stairs(60, (0.0,)), rng=0, n_resamples=99)
    assert len(none) == 0 and len(none.tests) == 1 and "none" in none.summary()
    assert len(change_points(stairs(), rng=0, n_resamples=99, n_changes=1)) == 1
    x = stairs(200, (0.0, 3.0))
    result = change_points(x, rng=0, n_resamples=99, times=range(1900, 2100), block_length=10)
    assert result.when == (2000,) and result.restriction == "blocks of 10 successive rows"
    assert change_points(
        x, rng=0, n_resamples=99, blocks=np.arange(200) % 2, confidence=None
    ).intervals == (None,)
    turned = change_points(
        stairs(60, (0.0, 4.0)), alpha=0.2, rng=0, n_resamples=99, block_length="whole", n_changes=1
    )
    assert turned.intervals == (None,) and "No interval could be computed" in " ".join(turned.notes)
    with pytest.raises(ValueError, match="nan_policy"):
        change_points(x, nan_policy="propagate")


def test_stretches_with_one_value_change_no_more():
    stuck = np.r_[np.random.default_rng(0).normal(size=60), np.zeros(40)]  # a sensor
    for options in ({}, {"estimator": "auto"}, {"scale": "rank"}):
        assert change_points(stuck, rng=0, n_resamples=99, **options).locations.tolist() == [60]


# --- changes that cancel -------------------------------------------------------------------------------------------
FAST = {"rng": 0, "confidence": None, "workers": 1}


def steps(seed, lengths, means, spreads=None):
    """Normal rows in parts with these lengths, means and standard deviations."""
    rng = np.random.default_rng(seed)
    spreads = np.ones(len(lengths)) if spreads is None else spreads
    parts = [
        rng.normal(mean, spread, size=n)
        for n, mean, spread in zip(lengths, means, spreads, strict=True)
    ]
    return np.concatenate(parts)


def test_periods_of_ten_low_and_ten_high_values():
    result = change_points(steps(0, [10] * 12, [0, 20] * 6), **FAST)
    assert np.abs(result.locations - np.arange(10, 120, 10)).max() <= 1 and len(result) == 11


@pytest.mark.parametrize("seed", some_wait(range(5), range(1, 5)))
def test_one_pulse(seed):
    assert change_points(steps(seed, [40, 10, 40], [0, 20, 0]), **FAST).locations.tolist() == [
        40,
        50,
    ]


@pytest.mark.parametrize("seed", some_wait(range(3), range(1, 3)))
def test_two_opposite_pulses(seed):
    result = change_points(steps(seed, [30, 12, 40, 12, 30], [0, 8, 0, -8, 0]), **FAST)
    assert {30, 42, 82, 94} <= set(result.locations.tolist()) and len(
        result
    ) <= 5  # one too many at level .05


@pytest.mark.parametrize("seed", some_wait(range(3), range(1, 3)))
def test_a_spread_that_comes_and_goes(seed):
    result = change_points(steps(seed, [25] * 8, [0] * 8, [1, 8] * 4), n_resamples=499, **FAST)
    assert result.pvalue <= 0.05 and len(result) >= 5
    near = np.abs(result.locations[:, None] - np.arange(25, 200, 25)).min(axis=1)
    assert np.median(near) <= 3


@pytest.mark.ci
@pytest.mark.parametrize(("n", "draw"), [(40, "normal"), (60, "standard_cauchy")])
def test_noise_has_changes_at_the_stated_level(n, draw):
    options = {"n_resamples": 39, "alpha": 0.1, "n_changes": 1, "confidence": None, "workers": 1}
    rng = np.random.default_rng(3)
    series = (getattr(rng, draw)(size=n) for _ in range(150))
    detected = sum(len(change_points(x, rng=seed, **options)) for seed, x in enumerate(series))
    assert 5 <= detected <= 27  # 15 are expected; outside once in 300 times
