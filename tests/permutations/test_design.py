"""Designs: within blocks and pairs, of whole groups, by shifts; p-values by brute force, and exact levels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import naive_permutations
import naive_tests
from permutations.test_schemes import PAIRINGS, SHIFTS, SPLITS
from shrinktest import FKMSE, independence_test, two_sample_test
from shrinktest.conditional.given import read_given
from shrinktest.data.read import XY, read_variables

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(12, 2)), RNG.normal(size=(12, 2))


def naive_pairings(case):
    if case in SHIFTS:
        return naive_permutations.all_shifts(*SHIFTS[case])
    return naive_permutations.all_pairings(*PAIRINGS[case])


def gaussian_gram(z, width):
    return np.exp(-((z[:, None] - z[None]) ** 2).sum(axis=2) / (2 * width**2))


def average(gram):
    return np.full(len(gram), 1 / len(gram))


def ridge(gram):
    """Weights (K + lam I)^-1 K u."""
    return np.linalg.solve(gram + 0.7 * np.eye(len(gram)), gram @ average(gram))


ESTIMATED = {
    "kme": (average, "kme"),
    "fkmse": (ridge, FKMSE(lam=0.7 / 5)),
    "function": (ridge, ridge),
}


def arguments(m, labels, case):
    blocks, groups = labels
    given = {}
    if case == "pairs":
        return {"paired": True}
    if blocks is not None:
        given["blocks"] = blocks
    if groups is not None:
        given["groups"] = (groups[:m], groups[m:])
    return given


@pytest.mark.parametrize("case", SPLITS)
@pytest.mark.parametrize("weights", ["kme", "function"])
def test_two_sample_p_values_are_those_of_brute_force(case, weights):
    m, n, *labels = SPLITS[case]
    naive, estimator = ESTIMATED[weights]
    z = np.random.default_rng(8).normal(size=(m + n, 2))
    z[:m] += 0.5
    gram = gaussian_gram(z, 1.1)
    allowed = naive_permutations.all_splits(m, n, *labels)
    values = [
        naive_tests.mmd2_of_split(gram, list(S), [i for i in range(m + n) if i not in S], naive)
        for S in allowed
    ]
    result = two_sample_test(
        z[:m],
        z[m:],
        estimator=estimator,
        bandwidth=1.1,
        form="biased",
        n_resamples=np.inf,
        alpha=0.6,
        **arguments(m, labels, case),
    )
    assert result.exact and result.statistic == pytest.approx(values[0], rel=1e-9)
    assert result.pvalue == np.mean(np.array(values) >= values[0] - 1e-12)


@pytest.mark.parametrize("case", [*PAIRINGS, *SHIFTS])
@pytest.mark.parametrize("weights", ["kme", "function"])
def test_independence_p_values_are_those_of_brute_force(case, weights):
    naive, estimator = ESTIMATED[weights]
    n = (PAIRINGS.get(case) or SHIFTS[case])[0]
    x = np.random.default_rng(2).normal(size=(n, 1))
    y = x**2 + np.random.default_rng(3).normal(size=(n, 1))
    allowed = naive_pairings(case)
    values = [
        naive_tests.cose(gaussian_gram(x, 0.9), gaussian_gram(y, 1.3), naive, pi) for pi in allowed
    ]
    blocks, groups = PAIRINGS[case][1:] if case in PAIRINGS else (SHIFTS[case][1], None)
    result = independence_test(
        x,
        y,
        estimator=estimator,
        bandwidth_x=0.9,
        bandwidth_y=1.3,
        blocks=blocks,
        groups=groups,
        block_length="whole" if case in SHIFTS else None,
        n_resamples=np.inf,
        alpha=0.6,
    )
    assert result.exact and result.n_resamples == len(allowed)
    observed = values[allowed.index(tuple(range(n)))]
    assert result.statistic == pytest.approx(observed, rel=1e-9)
    assert result.pvalue == np.mean(np.array(values) >= observed - 1e-12)


def block_effects(rng):
    """Two samples whose shares of the blocks differ, and blocks that differ in location."""
    effect = 2.0 * rng.normal(size=6)
    blocks = np.concatenate(
        [np.repeat(np.arange(6), [1, 2, 3, 1, 2, 3]), np.repeat(np.arange(6), [3, 2, 1, 3, 2, 1])]
    )
    order = np.argsort(effect)  # low effects are frequent in one sample, high ones in the other
    return effect[order][np.array([0, 2, 4, 1, 3, 5])[blocks]] + rng.normal(size=24), blocks


def two_blocks(rng, **_):
    z, blocks = block_effects(rng)
    return (z[:12], z[12:]), {"blocks": blocks}


def two_groups(rng):
    """Clusters of three, alike within."""
    groups = np.arange(30) // 3
    z = rng.normal(size=10)[groups] + 0.5 * rng.normal(size=30)
    return (z[:15], z[15:]), {"groups": groups}


def pairs_alike(rng):
    """Pairs that have much in common: the unrestricted test hardly ever rejects."""
    common = 2.0 * rng.normal(size=12)
    return (common + rng.normal(size=12), common + rng.normal(size=12)), {"paired": True}


def both_depend_on_blocks(rng):
    effects, blocks = rng.normal(size=(2, 4)) * 1.5, np.arange(24) // 6
    return tuple(effects[:, blocks] + rng.normal(size=(2, 24))), {"blocks": blocks}


def variables_in_clusters(rng):
    groups = np.arange(30) // 3
    return tuple(rng.normal(size=(2, 10))[:, groups] + 0.5 * rng.normal(size=(2, 30))), {
        "groups": groups
    }


def periodic_series(rng):
    """Gaussian noise smoothed around a circle: stationary, and the end joins the start."""
    kernel = np.exp(-0.5 * (np.minimum(np.arange(40), 40 - np.arange(40)) / 2.0) ** 2)
    noise = rng.normal(size=(2, 40))
    return tuple(np.fft.ifft(np.fft.fft(noise) * np.fft.fft(kernel)).real), {
        "block_length": "whole"
    }


NULLS = {
    "blocks": (two_sample_test, two_blocks, "high"),
    "groups": (two_sample_test, two_groups, "high"),
    "pairs": (two_sample_test, pairs_alike, "low"),
    "blocks of pairs": (independence_test, both_depend_on_blocks, "high"),
    "groups of pairs": (independence_test, variables_in_clusters, "high"),
    "series": (independence_test, periodic_series, "high"),
}


def check_level(case, draws):
    test, data, fails = NULLS[case]
    restricted = free = 0
    attainable = None
    for trial in range(draws):
        samples, given = data(np.random.default_rng([11, trial]))
        options = {"n_resamples": 199, "rng": trial, "workers": 1, "stopping": "curtailed"}
        result = test(*samples, **given, **options)
        rows = result.n_planned + (not result.exact)
        attainable = np.floor(0.05 * rows + 1e-9) / rows
        restricted += result.reject()
        free += test(*samples, **options).reject()
    low, high = stats.binom.ppf([0.0005, 0.9995], draws, attainable)
    print(
        f"\n{case}: {restricted / draws:.4f} of {attainable:.4f}, region {low / draws:.4f} to {high / draws:.4f}; "
        f"unrestricted {free / draws:.4f}"
    )
    assert low <= restricted <= high
    assert free > high if fails == "high" else free < low


@pytest.mark.ci
@pytest.mark.parametrize("case", NULLS)
def test_level_where_the_restriction_is_meant(case):
    check_level(case, 150)


@pytest.mark.slow
@pytest.mark.parametrize("case", NULLS)
def test_level_in_many_data_sets(case):
    check_level(case, 1000)


@pytest.mark.parametrize(
    ("test", "given"),
    [
        (two_sample_test, {"paired": True}),
        (two_sample_test, {"blocks": [0, 1, 2, 3, 4] * 2}),
        (two_sample_test, {"groups": np.arange(10) // 5}),
        (independence_test, {"block_length": "whole"}),
        (independence_test, {"groups": np.arange(5) // 2}),
        (independence_test, {"block_length": "whole", "groups": np.arange(5)}),
    ],
)
def test_designs_that_can_never_reject_are_errors(test, given):
    with pytest.raises(ValueError, match=r"permuting|leave one of them out"):
        test(X[:5], Y[:5], **given)


GROUPS, LENGTH = 12, 4
GROUP, PLACE = np.repeat(np.arange(GROUPS), LENGTH), np.tile(np.arange(LENGTH), GROUPS)
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
    yield read_given(
        X, Y, STRATA, nan_policy="omit", groups=GROUP, kernels=("gaussian", "gaussian")
    ).restriction


def test_rows_stay_in_step():
    X, Y = curves(gaps=0.2)
    complete = ~np.isnan(X)
    group, place = GROUP[complete], PLACE[complete]
    for restriction in restrictions(X, Y):
        moved = restriction.pairings(int(complete.sum()), 0.05).draw(np.random.default_rng(1), 200)
        assert (moved != np.arange(complete.sum())).any()
        assert (place[moved] == place).all()
        assert all(
            len(set(group[order][group == label])) == 1
            for order in moved[:20]
            for label in set(group)
        )
        if restriction.blocks is not None:
            assert (STRATA[complete][moved] == STRATA[complete]).all()


def test_false_alarms_are_few():
    rejected = [
        independence_test(X, Y, groups=GROUP, **FEW).pvalue <= 0.05
        for X, Y in (curves(s, 0.15) for s in range(40))
    ]
    assert sum(rejected) <= 7  # all by all, half of them


def test_nothing_changes_where_groups_are_whole():
    X, Y = curves()
    complete = independence_test(X, Y, groups=GROUP, **{**FEW, "nan_policy": "raise"})
    assert independence_test(X, Y, groups=GROUP, **FEW).pvalue == complete.pvalue
    X[GROUP < 2] = np.nan
    assert read_variables((X, Y), XY, "omit", groups=GROUP).restriction.places is None
    fewer = independence_test(X[GROUP > 1], Y[GROUP > 1], groups=GROUP[GROUP > 1], **FEW)
    result = independence_test(X, Y, groups=GROUP, **FEW)
    assert (result.pvalue, result.restriction) == (fewer.pvalue, "10 whole groups")
