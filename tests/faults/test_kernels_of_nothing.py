"""Kernels that are none, bandwidths that see nothing, and bandwidths of rare values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from shrinktest import (
    Batches,
    Gaussian,
    Kernel,
    Laplacian,
    Precomputed,
    change_point_test,
    change_points,
    closer_test,
    equivalence_test,
    independence_matrix,
    independence_test,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.kernels import bandwidth_grid, median_bandwidth, neighbor_bandwidth

# --- distances in the place of kernels -----------------------------------------------------------------------------
RNG = np.random.default_rng(0)
ROWS = np.concatenate([RNG.normal(size=(15, 1)), 3.0 + RNG.normal(size=(20, 1))])
OTHERS = RNG.normal(size=(35, 1))
RUN = {"rng": 0}


@dataclass(frozen=True)
class Own(Kernel):
    """A user's class that returns distances."""

    def evaluate(self, X, Y):
        return cdist(X, Y)


FALSE = {
    "distances": cdist,
    "squared": lambda X, Y: cdist(X, Y) ** 2,
    "minus distances": lambda X, Y: -cdist(X, Y),
    "minus a kernel": lambda X, Y: -np.exp(-cdist(X, Y)),
    "growing": lambda X, Y: np.exp(-cdist(X, Y)) + 2.0 * (cdist(X, Y) > 1.0),
}
TRUE = {
    "similarities": lambda X, Y: np.exp(-(cdist(X, Y) ** 2) / 2.0),
    "single precision": lambda X, Y: (1e3 + (X @ Y.T).astype("float32")).astype("float32"),
    "nothing": lambda X, Y: np.zeros((len(X), len(Y))),
}
REMEDY = r"is not a kernel: .*; turn distances D into exp\(-D\*\*2 / \(2 \* s\*\*2\)\)"


@pytest.mark.parametrize("function", FALSE.values(), ids=FALSE)
def test_a_matrix_is_refused(function):
    with pytest.raises(ValueError, match=REMEDY):
        two_sample_test(
            np.arange(15), np.arange(15, 35), kernel=Precomputed(function(ROWS, ROWS)), **RUN
        )


@pytest.mark.parametrize("form", ["biased", "unbiased"])
@pytest.mark.parametrize("kernel", [Own(), Own() + Gaussian(1.0), *FALSE.values()])
def test_a_function_is_refused_in_both_forms(kernel, form):
    with pytest.raises(ValueError, match=REMEDY):
        two_sample_test(ROWS[:15], ROWS[15:], kernel=kernel, form=form, **RUN)


@pytest.mark.parametrize("kernel", [Own(), cdist])
def test_every_test_refuses(kernel):
    many = np.random.default_rng(1).normal(size=(1600, 1))
    for call in (
        lambda: two_sample_test(many[:800], many[800:], kernel=kernel, **RUN),
        lambda: two_sample_test(many[:800], many[800:], kernel=kernel, gram="nystrom", **RUN),
        lambda: two_sample_test(ROWS[:15], ROWS[15:], kernel=[kernel, "gaussian"], **RUN),
        lambda: two_sample_test_columns(ROWS[:15], ROWS[15:], kernel=kernel, **RUN),
        lambda: k_sample_test(ROWS[:12], ROWS[12:20], ROWS[20:], kernel=kernel, **RUN),
        lambda: independence_test(ROWS, OTHERS, kernel_x=kernel, **RUN),
        lambda: independence_test(ROWS, OTHERS, kernel_y=kernel, form="unbiased", **RUN),
        lambda: joint_independence_test(ROWS, OTHERS, kernels=[kernel, "gaussian"], **RUN),
        lambda: independence_matrix(ROWS, OTHERS, kernel_x=kernel, kernel_y="gaussian", **RUN),
        lambda: change_point_test(ROWS, kernel=kernel, **RUN),
        lambda: change_points(ROWS, kernel=kernel, **RUN),
        lambda: closer_test(ROWS[:12], ROWS[12:20], ROWS[20:], kernel=kernel),
        lambda: equivalence_test(
            ROWS[:15], ROWS[15:], kernel=kernel, margin=0.05, measure="distance", rng=0
        ),
    ):
        with pytest.raises(ValueError, match=REMEDY):
            call()


@pytest.mark.parametrize("function", TRUE.values(), ids=TRUE)
def test_kernels_are_taken(function):
    Precomputed(function(ROWS, ROWS))
    assert two_sample_test(ROWS[:15], ROWS[15:], kernel=function, **RUN).pvalue <= 1.0


# --- bandwidths that are too wide ----------------------------------------------------------------------------------
WIDE_RNG = np.random.default_rng(0)
X, Y = WIDE_RNG.normal(size=(2, 60))
WIDE, PLANE = WIDE_RNG.normal(size=(2, 60, 3)), WIDE_RNG.normal(size=(2, 60, 2)) * [1.0, 100.0]
QUICK = {"n_resamples": 39, "rng": 0}


@pytest.mark.parametrize(
    ("samples", "options"),
    [
        ((X, Y + 5.0), {"bandwidth": 1e6}),
        ((X, Y + 5.0), {"bandwidth": 1e9}),
        ((X, Y + 5.0), {"bandwidth": 100.0}),
        ((X, Y), {"bandwidth": "40 * median"}),
        ((X, Y), {"kernel": Laplacian(1e3)}),
        ((X, Y), {"kernel": Gaussian(1e3) + Gaussian(1e4)}),
        ((X, Y), {"bandwidth": 1e3, "scale": "rank"}),
        (WIDE, {"bandwidth": 1e3}),
        (PLANE, {"bandwidth": (1e3, 1e5), "scale": None}),
    ],
)
def test_no_equivalence_where_no_difference_could_be_seen(samples, options):
    with pytest.raises(ValueError, match=r"margin=0\.05 must lie between"):
        equivalence_test(*samples, margin=0.05, measure="distance", **options)


def test_equivalence_with_bandwidths_that_see_the_margin():
    for width in ("median", 1.0, 5.0, 10.0):
        equivalence_test(X, Y, margin=0.05, measure="distance", bandwidth=width, rng=0)
    assert not equivalence_test(X, Y + 5.0, margin=0.05, measure="distance", rng=0).equivalent
    assert not equivalence_test(
        X, Y + 5.0, margin=0.6, measure="auc", bandwidth=1e6, rng=0
    ).equivalent  # has no unit
    equivalence_test(
        X, Y, margin="shift 0.5", measure="distance", bandwidth=1e3, rng=0
    )  # the margin has the same kernel


@pytest.mark.parametrize("width", [200.0, 1e6])
def test_other_tests_have_a_note(width):
    tests = [
        lambda **k: two_sample_test(X, Y, **QUICK, **k),
        lambda **k: k_sample_test(X, Y, X + Y, **QUICK, **k),
        lambda bandwidth: independence_test(X, Y, bandwidth_x=bandwidth, **QUICK),
        lambda **k: joint_independence_test(X, Y, X * Y, bandwidths=list(k.values()) * 3, **QUICK),
        lambda **k: change_point_test(X, **QUICK, **k),
        lambda **k: closer_test(X, Y, X + Y, **k),
        lambda **k: equivalence_test(X, Y, margin=0.6, measure="auc", **k),
        lambda **k: equivalence_test(X, X + Y, margin=0.9, measure="dependence", **k),
    ]
    for test in tests:
        notes = " ".join(test(bandwidth=width).notes)
        assert (
            "so large that the kernel is nearly linear: it detects differences in means and correlations only"
            in notes
        )
        assert "so large" not in " ".join(test(bandwidth="median").notes)


# --- rare values ---------------------------------------------------------------------------------------------------
RULES = {"median": median_bandwidth, "neighbors": neighbor_bandwidth, "grid": bandwidth_grid}
FEW = {"n_resamples": 19, "alpha": 0.1, "workers": 1}


def rare(n, values):
    column = np.zeros(n)
    column[np.random.default_rng(len(values)).choice(n, len(values), replace=False)] = values
    return column


def batches(column, size=3000):
    return Batches([column[i : i + size, None] for i in range(0, len(column), size)])


@pytest.mark.parametrize("rule", RULES.values())
@pytest.mark.parametrize(
    "column",
    [
        rare(50_000, np.ones(5)),
        rare(6000, np.ones(3)),
        rare(2500, [7.0]),
        1.0 - rare(9000, np.ones(2)),
    ],
)
def test_two_values_give_the_bandwidth_whatever_the_seed(rule, column):
    bandwidths = {rule(column, rng=seed) for seed in range(8)}
    assert len(bandwidths) == 1
    assert bandwidths == {rule(np.r_[column.min(), np.repeat(column.max(), 9)])}


@pytest.mark.filterwarnings("ignore:more than half of the distances")
@pytest.mark.parametrize("rule", RULES.values())
@pytest.mark.parametrize(
    "others", [20, 200, 3000, 11_700, 20_000]
)  # of 40,000 numbers, the rest is zero
def test_numbers_with_many_zeros_have_one_bandwidth(rule, others):
    column = rare(40_000, np.random.default_rng(1).lognormal(0.0, 2.0, others))
    bandwidths = np.array([rule(column, rng=seed) for seed in range(6)])
    assert (bandwidths.max(axis=0) < 1.5 * bandwidths.min(axis=0)).all()
    if rule is median_bandwidth:  # the distances from zero
        assert bandwidths[0] == pytest.approx(
            np.median(column[column > 0.0]), rel=0.25 if others < 11_700 else 0.8
        )


@pytest.mark.parametrize("bandwidth", ["median", "grid"])
def test_every_test_takes_a_rare_flag(bandwidth):
    x, y = rare(1100, [1.0]), rare(1100, [1.0, 1.0])
    long, other = np.r_[x, y], np.random.default_rng(0).normal(size=2200)
    how = {**FEW, "rng": 0, "gram": "nystrom", "rank": 5}
    assert 0.0 < two_sample_test(x, y, bandwidth=bandwidth, **how).pvalue <= 1.0
    assert 0.0 < k_sample_test(x, y, rare(100, []), bandwidth=bandwidth, **how).pvalue <= 1.0
    assert 0.0 < change_point_test(long, bandwidth=bandwidth, **how).pvalue <= 1.0
    assert 0.0 < independence_test(other, long, bandwidth_y=bandwidth, **how).pvalue <= 1.0
    if bandwidth != "grid":
        assert (
            0.0
            < joint_independence_test(other, long, bandwidths=bandwidth, rng=0, **FEW).pvalue
            <= 1.0
        )
        assert len(two_sample_test_columns(x, y, bandwidth=bandwidth, **how)) == 1
        result = independence_matrix(other, pd.DataFrame({"f": long}), bandwidth_y=bandwidth, **how)
        assert len(result) == 1


@pytest.mark.filterwarnings("ignore:more than half of the distances")
@pytest.mark.parametrize("values", [np.ones(4), np.random.default_rng(4).lognormal(0.0, 2.0, 20)])
def test_samples_in_batches(values):
    how = {**FEW, "gram": "rff", "rank": 5}
    first, second = (batches(sample) for sample in np.split(rare(12_000, values), 2))
    column = rare(12_000, values)
    for rule in ("median", "neighbors"):
        bandwidths = {
            two_sample_test(first, second, bandwidth=rule, rng=seed, **how).bandwidth
            for seed in range(2)
        }
        assert bandwidths == {RULES[rule](column, rng=0)}
    number = batches(np.random.default_rng(0).normal(size=12_000))
    bandwidths = {
        independence_test(number, batches(column), rng=seed, **how).bandwidth[1]
        for seed in range(2)
    }
    assert bandwidths == {median_bandwidth(column, rng=0)}
