"""Several estimators, kernels and bandwidths in one test: value, level, shape and errors."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

import naive
import naive_kernels
import naive_multiplicity
from cases import POINTS, half, samples, values
from cases import X as PAIRED_X
from cases import Y as PAIRED_Y
from shrinktest import (
    FKMSE,
    KME,
    AggregateResult,
    Batches,
    Candidate,
    Ensemble,
    Gaussian,
    Landweber,
    Linear,
    independence_test,
    k_sample_test,
    power_study,
    two_sample_test,
)
from shrinktest.kernels import bandwidth_grid
from shrinktest.kernels.distance_kernel import DistanceKernel

FEW = {"n_resamples": 39, "rng": 0, "workers": 1}
LIST = {"estimator": ["kme", "skmse", FKMSE(lam_cov=0.3)], "bandwidth": ["median", "0.5 * median"]}


def test_exhaustive_two_samples_agree_with_the_literal_definition():
    estimators = [KME(), Landweber(t=1), FKMSE(lam_cov=0.5)]
    twins = [naive.kme, lambda K: naive.descent(K, 1)[-1], lambda K: naive.fkmse(K, lam_cov=0.5)]
    options = {
        "estimator": estimators,
        "bandwidth": [0.4, 0.9, 2.5],
        "form": "biased",
        "alpha": 0.2,
    }
    for m, n in ((4, 4), (3, 5)):
        result = two_sample_test(*samples(m, n), **options, n_resamples=np.inf)
        grams = [
            naive_kernels.gaussian(POINTS[: m + n], POINTS[: m + n], width)
            for width in (0.4, 0.9, 2.5)
        ]
        assert result.exact and len(result.members) == 9
        assert result.pvalue == pytest.approx(
            naive_multiplicity.combined_two_samples(grams, twins, m)
        )


def test_exhaustive_pairings_agree_with_the_literal_definition():
    x, y, widths = PAIRED_X[:5], PAIRED_Y[:5], ([0.4, 1.1, 3.0], [0.7, 1.7])
    result = independence_test(
        x, y, bandwidth_x=widths[0], bandwidth_y=widths[1], n_resamples=np.inf, alpha=0.2
    )
    grams = [
        [naive_kernels.gaussian(z, z, w) for w in some]
        for z, some in zip((x, y), widths, strict=True)
    ]
    assert result.exact and len(result.members) == 6
    assert result.pvalue == pytest.approx(naive_multiplicity.combined_pairs(*grams))


def test_members_are_the_single_tests_on_the_same_relabelings():
    X, Y = samples(6, 6)
    result = two_sample_test(X, Y, **LIST, **FEW)
    for member, (width, estimator) in zip(
        result.members, itertools.product(LIST["bandwidth"], LIST["estimator"]), strict=True
    ):
        alone = two_sample_test(X, Y, estimator=estimator, bandwidth=width, **FEW)
        assert np.array_equal(values(member), values(alone)) and member.pvalue == alone.pvalue
        assert member.kernel == alone.kernel and repr(member.estimator) == repr(alone.estimator)
    pairs = independence_test(
        PAIRED_X, PAIRED_Y, estimator=["kme", "skmse"], bandwidth_x=[1.1, 2.0, "median"], **FEW
    )
    alone = independence_test(PAIRED_X, PAIRED_Y, estimator="skmse", bandwidth_x=2.0, **FEW)
    assert np.array_equal(values(pairs.members[3]), values(alone))
    result, alone = (two_sample_test(X, Y, estimator=e, **FEW) for e in (["fkmse"], "fkmse"))
    assert result.pvalue == alone.pvalue == result.adjusted[0]  # one candidate is the single test


def test_every_distinct_kernel_is_evaluated_and_resolved_once(monkeypatch):
    """Count kernels and bandwidths: multiples of a bandwidth share it."""
    counted, (X, Y) = Counter(), np.random.default_rng(4).normal(size=(2, 12, 2))
    evaluate, resolve = DistanceKernel.block, DistanceKernel.resolve

    def block(kernel, points, others, *threads):
        counted["Gram matrices"] += points is others and len(points) == rows
        return evaluate(kernel, points, others, *threads)

    def resolved(kernel, points, rng=None):
        counted["bandwidths"] += isinstance(kernel.bandwidth, str)
        return resolve(kernel, points, rng)

    monkeypatch.setattr(DistanceKernel, "block", block)
    monkeypatch.setattr(DistanceKernel, "resolve", resolved)
    for test, data, options, kernels, bandwidths in (
        (two_sample_test, (X, Y), {"estimator": ["kme", "skmse", half, "landweber"]}, 1, 1),
        (
            two_sample_test,
            (X, Y),
            {"estimator": ["kme", "skmse"], "bandwidth": ["median", 0.7]},
            2,
            1,
        ),
        (two_sample_test, (X, Y), {"bandwidth": ["0.5 * median", "median", "2 * median"]}, 3, 1),
        (two_sample_test, (X, Y), {"estimator": ["kme", half], "kernel": Gaussian()}, 1, 1),
        (two_sample_test, (X, Y), {"estimator": "auto"}, 5, 3),
        (k_sample_test, (X[:6], X[6:], Y), {"estimator": "auto"}, 5, 3),
        (independence_test, (X, Y), {"estimator": ["kme", "skmse", half]}, 2, 2),
        (independence_test, (X, Y), {"estimator": "auto"}, 12, 6),
    ):
        rows = 12 if test is independence_test else 24
        counted.clear()
        test(*data, **options, **FEW)
        assert counted == {"Gram matrices": kernels, "bandwidths": bandwidths}, (test, options)


def assert_never_too_often(pvalues):
    """P(p <= a) <= a for every a, over equally likely data; a test of level 0 would be too."""
    assert all(np.mean(np.array(pvalues) <= a + 1e-12) <= a + 1e-12 for a in np.unique(pvalues))
    assert min(pvalues) <= 2 / len(pvalues) + 1e-12


def test_every_split_of_the_same_points_as_the_data():
    """Exactness by enumeration: given the points, every split is equally likely under equal distributions."""
    for candidates, (m, N) in itertools.product((LIST, {"bandwidth": "grid"}), ((3, 6), (2, 7))):
        pvalues = []
        for chosen in itertools.combinations(range(N), m):
            rest = [i for i in range(N) if i not in chosen]
            options = {**candidates, "n_resamples": np.inf, "alpha": 0.3, "workers": 1}
            pvalues.append(two_sample_test(POINTS[list(chosen)], POINTS[rest], **options).pvalue)
        assert_never_too_often(pvalues)


def test_every_pairing_and_every_swap_of_the_same_points_as_the_data():
    x, y, options = PAIRED_X[:4], PAIRED_Y[:4], {"n_resamples": np.inf, "alpha": 0.3, "workers": 1}
    orders = map(list, itertools.permutations(range(4)))
    assert_never_too_often(
        [independence_test(x, y[pi], estimator=["kme", "skmse"], **options).pvalue for pi in orders]
    )
    (X, Y), pvalues = samples(6, 6), []
    for swaps in itertools.product((False, True), repeat=6):
        swapped = np.array(swaps)[:, None]
        data = np.where(swapped, Y, X), np.where(swapped, X, Y)
        pvalues.append(
            two_sample_test(*data, **LIST, paired=True, n_resamples=np.inf, workers=1).pvalue
        )
    assert_never_too_often([*pvalues[:32]])  # the others are those with the names exchanged


@pytest.mark.ci
def test_level_in_simulation():
    rng, trials, (low, high) = np.random.default_rng(5), 300, binom.interval(0.999, 300, 0.05)
    options = {"n_resamples": 59, "workers": 1}
    widths = [f"{factor} * median" for factor in (0.1, 0.3, 1, 3)]
    split = [
        two_sample_test(
            *np.split(rng.exponential(size=(16, 2)), [6]), bandwidth=widths, rng=i, **options
        )
        for i in range(trials)
    ]
    options["bandwidth_y"] = ["median"]
    pairs = [
        independence_test(
            rng.exponential(size=9), rng.permutation(9) // 3, bandwidth_x=widths, rng=i, **options
        )
        for i in range(trials)
    ]
    for results in (split, pairs):
        assert low <= sum(result.reject() for result in results) <= high


def test_weights_that_grow_with_the_rows():
    fine, coarse = (
        Candidate("kme", Gaussian("median / 8"), weight=2.0, grows=True),
        Candidate("kme", weight=5.0),
    )
    given = Ensemble([coarse, fine])
    for rows, more in ((60, 1.0), (300, 3.0), (600, 6.0), (900, 6.0)):
        points = np.random.default_rng(0).normal(size=(rows, 2))
        x, y = points[: rows // 3], points[rows // 3 :]
        result = two_sample_test(x, y, estimator=given, **FEW)
        assert (
            result.estimator.weights.tolist()
            == result.table["weight"].tolist()
            == [5.0, 2.0 * more]
        )
        same = Ensemble([coarse, replace(fine, weight=2.0 * more, grows=False)])
        assert (
            values(two_sample_test(x, y, estimator=same, **FEW)).tolist() == values(result).tolist()
        )
        pairs = independence_test(points, points[::-1], estimator=given, **FEW)
        assert pairs.estimator.weights.tolist() == [5.0, 2.0 * more]
    in_bins = two_sample_test(
        Batches(x, bins=20), Batches(y, bins=20), estimator=given, gram="rff", **FEW
    )
    assert in_bins.estimator.weights.tolist() == [5.0, 2.0 * more]


def test_grid_is_geometric_between_quantiles():
    distances = [np.linalg.norm(a - b) for a, b in itertools.combinations(POINTS, 2)]
    grid = bandwidth_grid(POINTS, number=4)
    assert grid[0] == pytest.approx(np.quantile(distances, 0.05) / 2)
    assert grid[-1] == pytest.approx(2 * np.quantile(distances, 0.95))
    np.testing.assert_allclose(np.diff(np.log(grid)), np.log(grid[1] / grid[0]))
    np.testing.assert_allclose(bandwidth_grid(1e200 * POINTS, number=4), 1e200 * np.array(grid))
    assert two_sample_test(*samples(6, 6), bandwidth="grid", **FEW).bandwidth == bandwidth_grid(
        POINTS
    )
    both = independence_test(PAIRED_X, PAIRED_Y, bandwidth_x="grid", bandwidth_y="grid", **FEW)
    assert len(both.members) == 25 and {pair[1] for pair in both.bandwidth} == set(
        bandwidth_grid(PAIRED_Y)
    )


def test_kernels_and_bandwidths_are_crossed():
    options = {
        "kernel": ["gaussian", "laplacian", Linear()],
        "bandwidth": [0.5, "median", (1.0, 2.0)],
    }
    result = two_sample_test(*samples(6, 6), **options, **FEW)
    kinds = [type(kernel).__name__ for kernel in result.kernel]
    assert kinds == ["Gaussian"] * 3 + ["Laplacian"] * 3 + ["Linear"]
    assert (
        result.bandwidth[0] == 0.5
        and result.bandwidth[2] == (1.0, 2.0)
        and result.bandwidth[-1] is None
    )
    per_column = two_sample_test(*samples(6, 6), bandwidth=(0.5, 2.0), **FEW)
    assert not isinstance(per_column, AggregateResult) and per_column.bandwidth == (0.5, 2.0)


def test_the_result_is_a_test_result_and_more():
    X, Y = samples(6, 5)
    result = two_sample_test(X, Y, **LIST, **FEW)
    statistic, pvalue = result
    assert isinstance(result, AggregateResult) and (statistic, pvalue) == (
        result.statistic,
        result.pvalue,
    )
    assert (
        pvalue == (1 + (result.null_distribution >= statistic).sum()) / 40 == result.adjusted.min()
    )
    assert (
        result.reject(pvalue)
        and not result.reject(pvalue - 1e-9)
        and result.exceedances == round(40 * pvalue) - 1
    )
    low, high = result.pvalue_interval()
    assert low <= pvalue <= high
    table, text, best = result.table, str(result.summary()), result.best
    assert list(table) == [
        "estimator",
        "kernel",
        "bandwidth",
        "form",
        "statistic",
        "pvalue",
        "adjusted",
        "weight",
    ]
    assert table["pvalue"].tolist() == [member.pvalue for member in result.members]
    assert (table["adjusted"] >= table["pvalue"]).all() and best.pvalue == table["pvalue"].min()
    assert np.array_equal(result.witness(X), best.witness(X))
    assert "combined" in text and text.count("FKMSE(lam_cov=0.3)") == 2 and f"{pvalue:.4g}" in text
    assert "<table" in result.summary().as_html()
    read = json.loads(result.to_json())
    assert (
        read["pvalue"] == pvalue
        and len(read["members"]) == 6
        and read["members"][0]["weight"] == 1.0
    )
    assert read["members"][2]["adjusted"] == result.adjusted[2]
    assert result.to_frame()["pvalue"].tolist() == [pvalue]
    shown = f"AggregateResult(pvalue={pvalue:.6g}, 6 members, decided by member {result.decided}: "
    assert repr(result) == f"{shown}{best.estimator!r}, {best.kernel.label})"


def test_the_best_member_is_the_one_that_decided_where_adjusted_p_values_are_tied():
    rng = np.random.default_rng(91)
    X, Y = rng.normal(size=(20, 2)), 1.4 * rng.normal(size=(20, 2)) + 0.2
    result = two_sample_test(X, Y, estimator="auto", n_resamples=999, rng=0, workers=1)
    tied = np.flatnonzero(result.adjusted == result.adjusted.min())
    assert len(tied) > 1 and result.best.statistic == result.members[result.decided].statistic
    assert (
        result.decided in tied
        and result.decided != tied[0]
        and result.to_dict()["decided"] == result.decided
    )


def study(tests, **options):
    return lambda: power_study("mean-shift", tests, 8, n_trials=1, progress=False, **options)


def two(**options):
    return lambda: two_sample_test(*samples(6, 6), **options, **FEW)


def pair(x=PAIRED_X, y=PAIRED_Y, **options):
    return lambda: independence_test(x, y, **options, **FEW)


def test_refusals_name_the_argument():
    auto, twice = {"estimator": "auto"}, [Candidate("kme"), Candidate("kme", weight=2.0)]
    for call, error, name in (
        (two(estimator=[]), ValueError, "estimator"),
        (two(estimator=["kme", KME()]), ValueError, "twice"),
        (two(estimator=["kme", "auto"]), ValueError, "'auto'"),
        (two(estimator=np.array(["kme", "skmse"])), TypeError, "estimator"),
        (two(**auto, bandwidth=2.0), ValueError, "bandwidth"),
        (two(**auto, stopping="curtailed"), ValueError, "stopping"),
        (two(estimator=Ensemble([Candidate("kme")]), bandwidth=2.0), ValueError, "^an Ensemble"),
        (
            two(estimator=Ensemble([Candidate("kme", ("gaussian", "gaussian"))])),
            ValueError,
            "has 2 kernels",
        ),
        (two(bandwidth=[]), ValueError, "bandwidth"),
        (two(bandwidth=["median", "1 * median"]), ValueError, "twice"),
        (two(bandwidth=[0.5, 2.0]), ValueError, "candidates"),
        (two(bandwidth=[0.5, 2.0], kernel="laplacian"), ValueError, "Laplacian"),
        (two(kernel=[]), ValueError, "kernel"),
        (two(kernel="linear", bandwidth="grid"), ValueError, "no effect"),
        (
            pair(estimator=Ensemble([Candidate("kme", ("gaussian",) * 3)])),
            ValueError,
            "has 3 kernels",
        ),
        (pair(np.ones(5), np.arange(5), bandwidth_x="grid"), ValueError, "X"),
        (study({"a": {"estimator": "kme", "width": 1.0}}), ValueError, "estimators"),
        (study({"a": []}), ValueError, "empty"),
        (study({"a": {"estimator": "auto", "bandwidth": 2.0}}), ValueError, "has its own kernels"),
        (study(["auto"], test_options={"bandwidth": 2.0}), ValueError, "test_options"),
        (lambda: Ensemble([]), ValueError, "members"),
        (lambda: Ensemble(["kme"]), TypeError, "members"),
        (lambda: Ensemble(twice), ValueError, "members"),
        (lambda: Candidate("kme", weight=0.0), ValueError, "weight"),
        (lambda: Candidate("kme", grows=2), TypeError, "grows"),
        (lambda: Candidate("kme", ("gaussian",)), ValueError, "kernel"),
    ):
        with pytest.raises(error, match=name):
            call()
