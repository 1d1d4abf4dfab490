"""``change_points`` finds changes that cancel: after every one that comes before, the rows are as they were."""

from __future__ import annotations

import numpy as np
import pytest

from shrinktest import change_point_test, change_points

FAST = {"rng": 0, "confidence": None, "workers": 1}


def steps(seed, lengths, means, spreads=None):
    """Normal rows in parts with these lengths, means and standard deviations."""
    rng = np.random.default_rng(seed)
    spreads = np.ones(len(lengths)) if spreads is None else spreads
    parts = [rng.normal(mean, spread, size=n) for n, mean, spread in zip(lengths, means, spreads, strict=True)]
    return np.concatenate(parts)


def test_periods_of_ten_low_and_ten_high_values():
    found = change_points(steps(0, [10] * 30, [0, 20] * 15), **FAST)
    assert np.abs(found.locations - np.arange(10, 300, 10)).max() <= 1 and len(found) == 29


@pytest.mark.parametrize("seed", range(5))
def test_one_pulse(seed):
    assert change_points(steps(seed, [40, 10, 40], [0, 20, 0]), **FAST).locations.tolist() == [40, 50]


@pytest.mark.parametrize("seed", range(3))
def test_two_opposite_pulses(seed):
    found = change_points(steps(seed, [30, 12, 40, 12, 30], [0, 8, 0, -8, 0]), **FAST)
    assert {30, 42, 82, 94} <= set(found.locations.tolist()) and len(found) <= 5  # one too many at level .05


@pytest.mark.parametrize("seed", range(3))
def test_a_spread_that_comes_and_goes(seed):
    found = change_points(steps(seed, [25] * 8, [0] * 8, [1, 8] * 4), n_resamples=499, **FAST)
    assert found.pvalue <= 0.05 and len(found) >= 5
    near = np.abs(found.locations[:, None] - np.arange(25, 200, 25)).min(axis=1)
    assert np.median(near) <= 3


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": "energy"},
        {"estimator": "auto", "n_resamples": 199},
        {"estimator": "mkme"},
        {"scale": "rank"},
        {"gram": "rff", "rank": 30},
        {"stopping": "besag-clifford"},
        {"blocks": np.arange(120) % 2},
        {"shift": 5},
        {"trim": 0.0},
    ],
    ids=lambda one: "-".join(map(str, one)),
)
def test_every_option_that_the_search_takes(options):
    x = steps(1, [20] * 6, [0, 9] * 3)[:, None] * [1.0, -1.0]
    found = change_points(x, n_changes=2, **(FAST | options))
    assert found.pvalue <= 0.05 and set(found.locations.tolist()) <= {20, 40, 60, 80, 100}
    again = change_points(x, n_changes=2, **(FAST | options | {"workers": 2}))
    assert again.to_json() == found.to_json()


def test_a_shifted_series_takes_its_intervals_along():
    x = steps(0, [40, 40], [0, 4])
    alone = change_point_test(x, shift="circular", n_resamples=np.inf, confidence=None)
    found = change_points(x, shift="circular", n_resamples=np.inf, n_changes=1, **FAST)
    assert found.pvalue == alone.pvalue


@pytest.mark.parametrize(("n", "draw"), [(40, "normal"), (60, "standard_cauchy")])
def test_noise_has_changes_at_the_stated_level(n, draw):
    options = {"n_resamples": 39, "alpha": 0.1, "n_changes": 1, "confidence": None, "workers": 1}
    rng = np.random.default_rng(3)
    series = (getattr(rng, draw)(size=n) for _ in range(150))
    found = sum(len(change_points(x, rng=seed, **options)) for seed, x in enumerate(series))
    assert 5 <= found <= 27  # 15 are expected; outside once in 300 times
