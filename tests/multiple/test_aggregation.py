"""Several estimators, kernels and bandwidths in one test: its value, its level, its shape, and what it refuses."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from functools import partial

import matplotlib
import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import naive
import naive_kernels
import naive_multiplicity
from shrinktest import (
    FKMSE,
    KME,
    AggregateResult,
    Batches,
    Collection,
    Depth,
    Energy,
    Gaussian,
    Landweber,
    Laplacian,
    Linear,
    Member,
    SecondOrder,
    Whitened,
    independence_test,
    joint_independence_test,
    k_sample_test,
    power_study,
    two_sample_test,
)
from shrinktest.kernels import Rescaled, bandwidth_grid
from shrinktest.multiple.collection import recommended
from shrinktest.power import designs
from small import POINTS, WIDTHS, samples, values
from small import X as PAIRED_X
from small import Y as PAIRED_Y

FEW = {"n_resamples": 39, "rng": 0, "workers": 1}
LIST = {"estimator": ["kme", "skmse", FKMSE(lam_cov=0.3)], "bandwidth": ["median", "0.5 * median"]}


# --- the value ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(4, 4), (3, 5)])
def test_exhaustive_two_samples_agree_with_the_literal_definition(sizes):
    X, Y = samples(*sizes)
    estimators = [KME(), Landweber(t=1), FKMSE(lam_cov=0.5)]
    twins = [naive.kme, lambda K: naive.descent(K, 1)[-1], lambda K: naive.fkmse(K, lam_cov=0.5)]
    result = two_sample_test(
        X, Y, estimator=estimators, bandwidth=[0.4, 0.9, 2.5], form="biased", n_resamples=np.inf, alpha=0.2
    )
    pooled = POINTS[: sum(sizes)]
    grams = [naive_kernels.gaussian(pooled, pooled, width) for width in (0.4, 0.9, 2.5)]
    assert result.exact and len(result.members) == 9
    assert result.pvalue == pytest.approx(naive_multiplicity.combined_two_samples(grams, twins, sizes[0]))


def test_exhaustive_pairings_agree_with_the_literal_definition():
    x, y = PAIRED_X[:5], PAIRED_Y[:5]
    widths = ([0.4, 1.1, 3.0], [0.7, 1.7])
    result = independence_test(x, y, bandwidth_x=widths[0], bandwidth_y=widths[1], n_resamples=np.inf, alpha=0.2)
    grams = [[naive_kernels.gaussian(z, z, w) for w in some] for z, some in zip((x, y), widths, strict=True)]
    assert result.exact and len(result.members) == 6
    assert result.pvalue == pytest.approx(naive_multiplicity.combined_pairs(*grams))


@pytest.mark.parametrize(("size", "rows"), [(3, 10), (4, 35), (5, 126)])
def test_samples_that_do_not_overlap_have_the_smallest_pvalue(size, rows):
    """Also where there are few splits: the largest of few values of another statistic is no evidence."""
    sample = np.arange(float(size))
    found = two_sample_test(sample, sample + size + 2, estimator="auto", alpha=0.2)
    assert found.exact and found.pvalue == pytest.approx(1 / rows)


def test_members_are_the_single_tests_on_the_same_relabellings():
    X, Y = samples(6, 6)
    result = two_sample_test(X, Y, **LIST, **FEW)
    widths = [w for w in ("median", "0.5 * median") for _ in range(3)]
    for member, (estimator, width) in zip(result.members, zip(LIST["estimator"] * 2, widths, strict=True), strict=True):
        alone = two_sample_test(X, Y, estimator=estimator, bandwidth=width, **FEW)
        assert np.array_equal(values(member), values(alone)) and member.pvalue == alone.pvalue
        assert member.kernel == alone.kernel and repr(member.estimator) == repr(alone.estimator)
    pairs = independence_test(PAIRED_X, PAIRED_Y, estimator=["kme", "skmse"], bandwidth_x=[1.1, 2.0, "median"], **FEW)
    alone = independence_test(PAIRED_X, PAIRED_Y, estimator="skmse", bandwidth_x=2.0, **FEW)
    assert np.array_equal(values(pairs.members[3]), values(alone))


def test_one_candidate_is_the_single_test():
    X, Y = samples(5, 6)
    result, alone = (two_sample_test(X, Y, estimator=e, **FEW) for e in (["fkmse"], "fkmse"))
    assert result.pvalue == alone.pvalue == result.adjusted[0]


def test_workers_do_not_matter_and_a_generator_moves_on():
    X, Y = samples(6, 6)
    one, two = (two_sample_test(X, Y, **LIST, n_resamples=99, rng=3, workers=workers) for workers in (1, 2))
    assert np.array_equal(values(one), values(two)) and np.array_equal(one.adjusted, two.adjusted)
    generator = np.random.default_rng(3)
    first, second = (two_sample_test(X, Y, **LIST, n_resamples=99, rng=generator, workers=1) for _ in range(2))
    assert np.array_equal(values(first), values(one)) and not np.array_equal(values(second), values(one))


def test_approximate_routes_draw_apart_from_the_relabellings():
    X, Y = samples(6, 6)
    options = {"estimator": ["kme", "skmse"], "bandwidth": [0.5, 1.0, 2.0], "rank": 3, **FEW}
    dense = two_sample_test(X, Y, **{**options, "rank": None})
    for gram in ("nystrom", "rff"):
        result, again = (two_sample_test(X, Y, gram=gram, **options) for _ in range(2))
        assert result.route == gram and np.array_equal(values(result), values(again))
        assert not np.array_equal(values(result), values(dense))


def test_gram_matrices_are_shared_by_estimators():
    X, Y = samples(6, 6)
    calls = []

    def kernel(A, B):
        calls.append((len(A), len(B)))
        return np.exp(-np.abs(A[:, None] - B[None]).sum(axis=2))

    two_sample_test(X, Y, estimator=["kme", "skmse", "fkmse", "tsvd"], kernel=kernel, **FEW)
    assert calls.count((12, 12)) == 1
    calls.clear()
    independence_test(PAIRED_X[:, :1], PAIRED_Y[:, :1], estimator=["kme", "fkmse"], kernel_x=kernel, **FEW)
    before = len(calls)
    calls.clear()
    independence_test(PAIRED_X[:, :1], PAIRED_Y[:, :1], estimator=["kme"], kernel_x=kernel, **FEW)
    assert 0 < len(calls) <= before < 2 * len(calls)


# --- the level ------------------------------------------------------------------------------------------------


def assert_never_too_often(pvalues):
    """P(p <= a) <= a for every a, over equally likely data."""
    levels = np.unique(pvalues)
    assert all(np.mean(np.array(pvalues) <= a + 1e-12) <= a + 1e-12 for a in levels)


@pytest.mark.parametrize("candidates", [LIST, {"estimator": "auto"}, {"bandwidth": "grid"}])
def test_every_split_of_the_same_points_as_the_data(candidates):
    """Exactness by enumeration: given the points, every split is equally likely under equal distributions."""
    for m, N in ((3, 6), (2, 7)):
        pvalues = []
        for chosen in itertools.combinations(range(N), m):
            rest = [i for i in range(N) if i not in chosen]
            options = {**candidates, "n_resamples": np.inf, "alpha": 0.3, "workers": 1}
            pvalues.append(two_sample_test(POINTS[list(chosen)], POINTS[rest], **options).pvalue)
        assert_never_too_often(pvalues)
        assert min(pvalues) <= 2 / len(pvalues)  # a test of level 0 would pass as well


@pytest.mark.parametrize("estimator", ["auto", ["kme", "skmse"]])
def test_every_pairing_of_the_same_points_as_the_data(estimator):
    x, y = PAIRED_X[:4], PAIRED_Y[:4]
    pvalues = [
        independence_test(x, y[list(pi)], estimator=estimator, n_resamples=np.inf, alpha=0.3, workers=1).pvalue
        for pi in itertools.permutations(range(4))
    ]
    assert_never_too_often(pvalues)
    assert min(pvalues) <= 2 / 24


def test_every_swap_within_pairs_as_the_data():
    X, Y = samples(6, 6)
    pvalues = []
    for swaps in itertools.product((False, True), repeat=6):
        swapped = np.array(swaps)[:, None]
        data = np.where(swapped, Y, X), np.where(swapped, X, Y)
        pvalues.append(two_sample_test(*data, **LIST, paired=True, n_resamples=np.inf, workers=1).pvalue)
    assert_never_too_often(pvalues)
    assert min(pvalues) <= 2 / 32


def test_drawing_cannot_be_stopped():
    X, Y = samples(6, 6)
    with pytest.raises(ValueError, match="a combined test ranks every statistic among all permutations"):
        two_sample_test(X, Y, estimator="auto", stopping="curtailed")
    with pytest.raises(ValueError, match="leave out stopping="):
        independence_test(PAIRED_X, PAIRED_Y, bandwidth_x="grid", stopping="besag-clifford")


@pytest.mark.parametrize("form", ["biased", "unbiased"])
def test_level_in_simulation(form):
    rng = np.random.default_rng(5)
    trials = 400
    options = {"n_resamples": 59, "form": form, "workers": 1}
    widths = [f"{factor} * median" for factor in (0.1, 0.3, 1, 3)]
    split = [
        two_sample_test(*np.split(rng.exponential(size=(16, 2)), [6]), bandwidth=widths, rng=i, **options)
        for i in range(trials)
    ]
    pairs = [
        independence_test(
            rng.exponential(size=9), rng.integers(0, 4, 9), bandwidth_x=widths, bandwidth_y=["median"], rng=i, **options
        )
        for i in range(trials)
    ]
    low, high = binom.interval(0.999, trials, 0.05)
    for results in (split, pairs):
        assert low <= sum(result.reject() for result in results) <= high


# --- "auto" ---------------------------------------------------------------------------------------------------


def test_auto_is_fixed():
    near, wide, ranks = Gaussian("neighbours"), Gaussian("2 * median"), Rescaled(Energy(), "rank")
    fine, fast, wider = Whitened(Gaussian("median / 2"), 0.03), Whitened(Energy(), 0.001), Gaussian("4 * median")
    corners = Whitened(Laplacian(), 0.1)
    samples_ = [
        Member("kme", wide, weight=25),
        Member("kme", Rescaled(Gaussian(), "rank"), weight=9),
        Member("kme", Whitened(Gaussian(), 0.03), weight=10),
        Member("kme", Whitened(Gaussian("neighbours / 2"), 0.01), weight=4, grows=True),
        Member("kme", near, weight=4, grows=True),
        Member("kme", SecondOrder(wide), weight=2.5),
        Member("kme", Depth(near), weight=2),
        Member("kme", Rescaled(Gaussian(), "deviation"), weight=2),
    ]
    variables = [
        Member("kme", wide, weight=5),
        Member("kme", Whitened(Gaussian(), 0.1), weight=4),
        Member("kme", ranks, weight=2),
        Member("kme", Whitened(Gaussian("median / 2"), 0.1)),
        Member("kme", corners),
    ]
    pairs = [
        Member("kme", Energy(), weight=9),
        Member("kme", wider, weight=9),
        Member("kme", Whitened(Gaussian(), 0.1), weight=5),
        Member("kme", near),
        Member("kme", Depth(near)),
        Member("kme", SecondOrder(wide), weight=0.75),
        *(Member("kme", kernels, weight=1.5) for kernels in ((corners, ranks), (ranks, corners))),
        *(Member("kme", kernels, weight=1.25) for kernels in ((fine, wider), (wider, fine))),
        *(Member("kme", kernels) for kernels in ((fast, wider), (wider, fast))),
    ]
    expected = {
        "two-sample": samples_, "k-sample": samples_, "independence": pairs,
        "joint-independence": variables,
    }  # fmt: skip
    for name, members in expected.items():
        assert recommended(name) == Collection(members)


def test_auto_is_the_collection_that_is_recommended():
    X, Y = samples(6, 6)
    pairs = {"estimator": Collection([replace(m, kernel=m.kernels(2)) for m in recommended("independence").members])}
    for name, run in (
        ("two-sample", partial(two_sample_test, X, Y)),
        ("k-sample", partial(k_sample_test, X[:4], X[4:], Y)),
        ("independence", partial(independence_test, PAIRED_X, PAIRED_Y)),
        ("joint-independence", partial(joint_independence_test, PAIRED_X, PAIRED_Y, PAIRED_X[:, 0] ** 2)),
    ):
        auto, given = run(estimator="auto", **FEW), run(estimator=recommended(name), **FEW)
        assert values(auto).tolist() == values(given).tolist() and auto.adjusted.tolist() == given.adjusted.tolist()
        assert auto.estimator == given.estimator and len(auto.members) == len(recommended(name).members)
        assert auto.estimator.weights.tolist() == recommended(name).weights.tolist()
        if name == "independence":
            assert auto.estimator == pairs["estimator"]


@pytest.mark.parametrize(("rows", "more"), [(60, 1.0), (300, 3.0), (600, 6.0), (1500, 6.0)])
def test_weights_that_grow_with_the_rows(rows, more):
    fine, coarse = Member("kme", Gaussian("median / 8"), weight=2.0, grows=True), Member("kme", weight=5.0)
    points = np.random.default_rng(0).normal(size=(rows, 2))
    x, y = points[: rows // 3], points[rows // 3 :]
    given = Collection([coarse, fine])
    for run in (partial(two_sample_test, x, y), partial(independence_test, np.vstack([x, y]), np.vstack([y, x]))):
        result = run(estimator=given, **FEW)
        assert result.estimator.weights.tolist() == [5.0, 2.0 * more]
        assert result.table["weight"].tolist() == [5.0, 2.0 * more]
        same = Collection([coarse, replace(fine, weight=2.0 * more, grows=False)])
        assert values(run(estimator=same, **FEW)).tolist() == values(result).tolist()
    in_bins = two_sample_test(Batches(x, bins=20), Batches(y, bins=20), estimator=given, gram="rff", **FEW)
    assert in_bins.estimator.weights.tolist() == [5.0, 2.0 * more]


def test_whether_a_weight_grows_is_yes_or_no():
    with pytest.raises(TypeError, match="grows must be True or False, got 2"):
        Member("kme", grows=2)


def test_auto_does_not_depend_on_units():
    X, Y = samples(6, 5)
    one, other = (two_sample_test(c * X, c * Y, estimator="auto", **FEW) for c in (1.0, 1e3))
    np.testing.assert_allclose(values(one), values(other), rtol=1e-6)


def test_auto_finds_changes_of_scale_and_nearly_all_shifts():
    study = {"n_trials": 100, "n_resamples": 99, "with_null": False, "workers": 1, "progress": False}
    scale = power_study(designs.ScaleChange(dimension=20, scale=1.3), ["kme", "auto"], 25, **study).table["power"]
    shift = power_study(designs.MeanShift(dimension=20, shift=1.0), ["kme", "auto"], 25, **study).table["power"]
    assert scale[1] > scale[0] + 0.3
    assert shift[1] > shift[0] - 0.15


# --- bandwidths -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("median", "'median'"),
        ("1*median", "'median'"),
        ("0.5 * median", "'0.5 * median'"),
        ("median/4", "'0.25 * median'"),
        ("median * 2e1", "'20.0 * median'"),
        (".5median", "'0.5 * median'"),
    ],
)
def test_multiples_of_the_median(given, shown):
    assert repr(Gaussian(given)) == f"Gaussian(bandwidth={shown})"
    factor = Gaussian(given).resolve(POINTS).bandwidth / Gaussian().resolve(POINTS).bandwidth
    assert factor == pytest.approx({"'median'": 1.0}.get(shown) or float(shown[1:].split()[0]))
    assert eval(repr(Laplacian(given))) == Laplacian(given)


@pytest.mark.parametrize("bad", ["0 * median", "-1 * median", "median / 0", "mean", "median 2", "inf * median", ""])
def test_bad_multiples(bad):
    with pytest.raises(ValueError, match="bandwidth"):
        Gaussian(bad)


def test_grid_is_geometric_between_quantiles():
    distances = [np.linalg.norm(a - b) for a, b in itertools.combinations(POINTS, 2)]
    grid = bandwidth_grid(POINTS, number=4)
    assert grid[0] == pytest.approx(np.quantile(distances, 0.05) / 2)
    assert grid[-1] == pytest.approx(2 * np.quantile(distances, 0.95))
    np.testing.assert_allclose(np.diff(np.log(grid)), np.log(grid[1] / grid[0]))
    np.testing.assert_allclose(bandwidth_grid(1e200 * POINTS, number=4), 1e200 * np.array(grid))
    X, Y = samples(6, 6)
    assert two_sample_test(X, Y, bandwidth="grid", **FEW).bandwidth == bandwidth_grid(POINTS)
    both = independence_test(PAIRED_X, PAIRED_Y, bandwidth_x="grid", bandwidth_y="grid", **FEW)
    assert len(both.members) == 25
    assert {pair[1] for pair in both.bandwidth} == set(bandwidth_grid(PAIRED_Y))


def test_kernels_and_bandwidths_are_crossed():
    X, Y = samples(6, 6)
    result = two_sample_test(
        X, Y, kernel=["gaussian", "laplacian", Linear()], bandwidth=[0.5, "median", (1.0, 2.0)], **FEW
    )
    kinds = [type(kernel).__name__ for kernel in result.kernel]
    assert kinds == ["Gaussian"] * 3 + ["Laplacian"] * 3 + ["Linear"]
    assert result.bandwidth[0] == 0.5 and result.bandwidth[2] == (1.0, 2.0) and result.bandwidth[-1] is None
    per_column = two_sample_test(X, Y, bandwidth=(0.5, 2.0), **FEW)
    assert not isinstance(per_column, AggregateResult) and per_column.bandwidth == (0.5, 2.0)


# --- the result -----------------------------------------------------------------------------------------------


def test_the_result_is_a_test_result_and_more():
    X, Y = samples(6, 5)
    result = two_sample_test(X, Y, **LIST, **FEW)
    statistic, pvalue = result
    assert isinstance(result, AggregateResult) and (statistic, pvalue) == (result.statistic, result.pvalue)
    assert pvalue == (1 + (result.null_distribution >= statistic).sum()) / 40 == result.adjusted.min()
    assert result.reject(pvalue) and not result.reject(pvalue - 1e-9) and result.exceedances == round(40 * pvalue) - 1
    low, high = result.pvalue_interval()
    assert low <= pvalue <= high
    table = result.table
    assert list(table) == ["estimator", "kernel", "bandwidth", "form", "statistic", "pvalue", "adjusted", "weight"]
    assert table["pvalue"].tolist() == [member.pvalue for member in result.members]
    assert (table["adjusted"] >= table["pvalue"]).all() and result.best.pvalue == table["pvalue"].min()
    assert np.array_equal(result.witness(X), result.best.witness(X))
    text = str(result.summary())
    assert "combined" in text and text.count("FKMSE(lam_cov=0.3)") == 2 and f"{pvalue:.4g}" in text
    assert "<table" in result.summary().as_html()
    read = json.loads(result.to_json())
    assert read["pvalue"] == pvalue and len(read["members"]) == 6
    assert read["members"][2]["adjusted"] == result.adjusted[2] and read["members"][0]["weight"] == 1.0
    assert result.to_frame()["pvalue"].tolist() == [pvalue]
    best = result.best
    shown = f"AggregateResult(pvalue={pvalue:.6g}, 6 members, decided by member {result.decided}: "
    assert repr(result) == f"{shown}{best.estimator!r}, {best.kernel.label})"
    assert best.pvalue < pvalue and f"{best.pvalue:.6g}" not in repr(result)  # which is not adjusted
    nothing = two_sample_test(X, Y, estimator=["kme", "skmse"], n_resamples=0)
    assert repr(nothing) == "AggregateResult(pvalue=nan, 2 members)"


def test_the_best_member_is_the_one_that_decided_where_adjusted_p_values_are_tied():
    rng = np.random.default_rng(91)
    X, Y = rng.normal(size=(20, 2)), 1.4 * rng.normal(size=(20, 2)) + 0.2
    found = two_sample_test(X, Y, estimator="auto", n_resamples=999, rng=0, workers=1)
    tied = np.flatnonzero(found.adjusted == found.adjusted.min())
    assert len(tied) > 1 and found.best is found.members[found.decided]
    assert found.decided in tied and found.decided != tied[0] and found.to_dict()["decided"] == found.decided
    assert (
        two_sample_test(X, Y, estimator="AUTO", **FEW).pvalue == two_sample_test(X, Y, estimator="auto", **FEW).pvalue
    )


def test_independence_has_two_kernels_a_member():
    result = independence_test(PAIRED_X, PAIRED_Y, estimator="auto", **FEW)
    assert {"kernel_x", "kernel_y", "bandwidth_x", "bandwidth_y"} <= set(result.table)
    restricted = independence_test(
        PAIRED_X, PAIRED_Y, estimator="auto", shift="circular", n_resamples=np.inf, alpha=0.2
    )
    assert restricted.restriction == restricted.members[0].restriction != "" and restricted.n_planned == 9
    assert "Gaussian" in str(result.summary()) and " x " in str(result.summary())


def test_pictures():
    X, Y = samples(6, 6)
    result = two_sample_test(X, Y, **LIST, **FEW)
    ax = result.plot()
    assert len(ax.get_yticklabels()) == 6 and ax.get_xscale() == "log"
    assert "log10" in result.plot_null().get_xlabel()
    with pytest.raises(ValueError, match="n_resamples=0 leaves no p-values"):
        two_sample_test(X, Y, estimator=["kme", "skmse"], n_resamples=0).plot()
    matplotlib.pyplot.close("all")


def test_picture_of_many_members_shows_the_best():
    found = independence_test(
        PAIRED_X, PAIRED_Y, bandwidth_x="grid", bandwidth_y="grid", estimator=["kme", "skmse"], **FEW
    )
    ax = found.plot()
    assert "Gaussian x Gaussian)" in repr(found)
    assert len(found.members) == 50 and len(ax.get_yticklabels()) == 25 and "25 of 50 members shown" in ax.get_title()
    drawn = ax.lines[1].get_xdata()  # the adjusted ones
    assert len(drawn) == 25 and max(drawn) <= np.sort(found.adjusted)[25] and found.adjusted[found.decided] in drawn
    matplotlib.pyplot.close(ax.figure)


def test_missing_values_and_no_relabellings():
    X, Y = samples(6, 6)
    holes = X.copy()
    holes[0, 0] = np.nan
    for candidates in ({"estimator": "auto"}, {"bandwidth": "grid"}, LIST):
        result = two_sample_test(holes, Y, nan_policy="propagate", **candidates)
        assert np.isnan(result.pvalue) and np.isnan(result.adjusted).all() and not result.reject()
        assert "none" in str(result.summary()) and not any("is told of the first" in note for note in result.notes)
    none = two_sample_test(X, Y, estimator=["kme", "skmse"], n_resamples=0)
    assert np.isnan(none.pvalue) and none.members[0].statistic > 0
    assert any("is told of the first" in note for note in none.notes)


def test_too_few_relabellings_are_said_once():
    X, Y = samples(6, 6)
    with pytest.warns(UserWarning, match="can never reject") as said:
        two_sample_test(X, Y, **LIST, n_resamples=9, rng=0)
    assert len(said) == 1


# --- power studies and the command line -------------------------------------------------------------------------


def test_power_studies_take_combined_tests(tmp_path):
    tests = {
        "auto": "auto",
        "list": ["kme", FKMSE(lam_cov=0.3)],
        "widths": {"estimator": "kme", "bandwidth": ["0.5 * median", "median"]},
        "grid": {"bandwidth": "grid"},
    }
    study = {"n_trials": 3, "n_resamples": 19, "with_null": False, "workers": 1, "progress": False}
    kept = tmp_path / "kept.sqlite"
    first = power_study("mean-shift", tests, 8, store=kept, **study)
    again = power_study("mean-shift", tests, 8, store=kept, **study)
    assert first.pvalues["pvalue"].tolist() == again.pvalues["pvalue"].tolist()
    X, Y = designs.MeanShift().sample(np.random.default_rng(np.random.SeedSequence(0, spawn_key=(8, 0, 0, 0))), 8)
    seed = np.random.SeedSequence(0, spawn_key=(8, 0, 0, 1))
    alone = two_sample_test(X, Y, estimator="kme", bandwidth=["0.5 * median", "median"], n_resamples=19, rng=seed)
    found = first.pvalues[(first.pvalues["estimator"] == "widths") & (first.pvalues["trial"] == 0)]
    assert found["pvalue"].tolist() == [alone.pvalue]
    with pytest.raises(ValueError, match="estimator 'list'"):
        power_study("mean-shift", {"list": ["kme", "skmse"]}, 8, store=kept, **study)
    listed = power_study("mean-shift", ["kme", ["kme", "skmse"], "auto"], 8, **study)
    assert list(listed.estimators) == ["kme", "(KME(), SKMSE())", "auto"]


def test_auto_brings_its_kernels_to_designs_that_have_their_own():
    study = {"n_trials": 2, "n_resamples": 19, "with_null": False, "workers": 1, "progress": False}
    found = power_study("eckerle4", ["kme", "auto"], 9, **study)
    x, y = designs.EckerleSubsample().sample(
        np.random.default_rng(np.random.SeedSequence(0, spawn_key=(9, 0, 0, 0))), 9
    )
    seed = np.random.SeedSequence(0, spawn_key=(9, 0, 0, 1))
    alone = independence_test(x, y, estimator="auto", n_resamples=19, rng=seed)
    rows = found.pvalues[(found.pvalues["estimator"] == "auto") & (found.pvalues["trial"] == 0)]
    assert rows["pvalue"].tolist() == [alone.pvalue]


@pytest.mark.parametrize(
    ("tests", "message"),
    [
        ({"a": {"estimator": "kme", "width": 1.0}}, "a key of a member of estimators, for a two-sample test, must be"),
        ({"a": {"bandwidth_x": 1.0}}, "a key of a member of estimators"),
        ({"a": []}, "estimator is an empty list"),
        (["kme", ["kme", "kme"]], "estimator holds KME\\(\\) twice"),
        ({"a": {"estimator": "auto", "bandwidth": 2.0}}, "estimator='auto'|a Collection brings kernels"),
    ],
)
def test_studies_refuse(tests, message):
    with pytest.raises(ValueError, match=message):
        power_study("mean-shift", tests, 8, n_trials=1, progress=False)


def test_studies_of_collections_alone_refuse_kernels():
    with pytest.raises(ValueError, match="test_options has 'bandwidth', and all that is compared has kernels of"):
        power_study("mean-shift", ["auto"], 8, n_trials=1, test_options={"bandwidth": 2.0}, progress=False)


@pytest.mark.parametrize("design", ["one-apart", "parity"])
def test_studies_of_other_tests_take_combined_tests(design):
    study = {"n_trials": 2, "n_resamples": 19, "with_null": False, "workers": 1, "progress": False}
    found = power_study(design, [["kme", "skmse"], "auto"], 8, **study)
    samples = designs.as_design(design).sample(
        np.random.default_rng(np.random.SeedSequence(0, spawn_key=(8, 0, 0, 0))), 8
    )
    test = {"one-apart": k_sample_test, "parity": joint_independence_test}[design]
    for label, estimator in (("(KME(), SKMSE())", ["kme", "skmse"]), ("auto", "auto")):
        seed = np.random.SeedSequence(0, spawn_key=(8, 0, 0, 1))
        alone = test(*samples, estimator=estimator, n_resamples=19, rng=seed)
        rows = found.pvalues[(found.pvalues["estimator"] == label) & (found.pvalues["trial"] == 0)]
        assert rows["pvalue"].tolist() == [alone.pvalue]


def test_command_line(tmp_path, monkeypatch, capsys):
    from shrinktest.cli import main

    monkeypatch.chdir(tmp_path)
    X, Y = samples(6, 6)
    for name, sample in (("a.csv", X), ("b.csv", Y)):
        np.savetxt(name, sample, delimiter=",", header="u,v", comments="")

    def run(*arguments):
        code = main(["two-sample", "a.csv", "b.csv", "--seed", "0", "--resamples", "39", *arguments])
        return code, *capsys.readouterr()

    several = ("--estimator", "kme,fkmse:lam_cov=0.3", "--bandwidth", "median", "--bandwidth", "0.5*median", "--json")
    code, out, err = run(*several)
    tables = [pd.read_csv(name) for name in ("a.csv", "b.csv")]
    expected = two_sample_test(
        *tables, estimator=["kme", FKMSE(lam_cov=0.3)], bandwidth=["median", "0.5 * median"], **FEW
    )
    found, expected = json.loads(out), json.loads(expected.to_json())
    assert (code, err, found["names"]) == (0, "", ["a.csv", "b.csv"])
    for key in ("pvalue", "statistic", "null_distribution", "estimator", "bandwidth", "columns"):
        assert found[key] == expected[key]
    for one, other in zip(found["members"], expected["members"], strict=True):
        assert (one["pvalue"], one["adjusted"], one["estimator"]) == (
            other["pvalue"],
            other["adjusted"],
            other["estimator"],
        )
    code, out, _ = run("--bandwidth", "0.5", "--bandwidth", "2", "--kernel", "gaussian,laplacian", "--json")
    assert code == 0 and [m["bandwidth"] for m in json.loads(out)["members"]] == [0.5, 2.0, 0.5, 2.0]
    code, out, _ = run("--estimator", "auto", "--plot", "members.png")
    assert code == 0 and "combined" in out and (tmp_path / "members.png").stat().st_size > 1000
    code, _, err = run("--estimator", "kme,fkmse", "--set", "lam=1")
    assert code == 2 and "lam is set for one estimator, and kme,fkmse is several" in err
    power = "power mean-shift --estimators kme,auto,kme+skmse --n 8 --trials 2 --resamples 19 --workers 1 --quiet"
    code = main(power.split())
    assert code == 0 and "kme+skmse" in capsys.readouterr().out


# --- bad input --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"estimator": []}, "estimator is an empty list; name at least one"),
        ({"estimator": ["kme", "fkms"]}, "estimator must be one of .*Did you mean 'fkmse'"),
        ({"estimator": ["kme", KME()]}, r"estimator holds KME\(\) twice"),
        ({"estimator": ["kme", "auto"]}, "estimator='auto' is a collection already"),
        ({"estimator": "auto", "bandwidth": 2.0}, "estimator='auto' brings kernels .* leave out kernel and bandwidth"),
        ({"estimator": "auto", "kernel": Linear()}, "estimator='auto' brings kernels"),
        ({"estimator": Collection([Member("kme")]), "bandwidth": 2.0}, "^a Collection brings kernels"),
        ({"bandwidth": []}, "bandwidth is an empty list"),
        ({"bandwidth": [0.5, 1.0, 0.5]}, r"bandwidth holds Gaussian\(bandwidth=0.5\) twice"),
        ({"bandwidth": ["median", "1 * median"]}, "twice; a candidate counts once"),
        ({"bandwidth": [0.5, 2.0]}, r"may be 2 candidates or one bandwidth for each of 2 columns.*\(0.5, 2.0\)"),
        ({"bandwidth": [0.5, 2.0], "kernel": "laplacian"}, r"write kernel=\[Laplacian\(bandwidth=0.5\), Laplacian\("),
        ({"bandwidth": [0.5, -1.0, 2.0]}, "bandwidth must be a finite number > 0"),
        ({"kernel": []}, "kernel is an empty list"),
        ({"kernel": ["gaussian", "gauss"]}, "kernel must be one of"),
        ({"kernel": "linear", "bandwidth": "grid"}, "has no effect on kernel"),
        ({"kernel": Linear(), "bandwidth": [0.5, 1.0, 2.0]}, "has no effect on kernel"),
        (
            {"estimator": Collection([Member("kme", ("gaussian", "gaussian"))])},
            "the test has 1 variable, and Member.* has kernels for 2",
        ),
    ],
)
def test_bad_input(bad, message):
    X, Y = samples(6, 6)
    with pytest.raises(ValueError, match=message):
        two_sample_test(X, Y, **bad, **FEW)


def test_estimators_in_an_array_are_none():
    with pytest.raises(TypeError, match="estimator must be a name"):
        two_sample_test(*samples(6, 6), estimator=np.array(["kme", "skmse"]), **FEW)


def test_bad_input_for_pairs():
    with pytest.raises(ValueError, match=r"the test has 2 variables, and Member.* has kernels for 3; give one kernel"):
        independence_test(PAIRED_X, PAIRED_Y, estimator=Collection([Member("kme", ("gaussian",) * 3)]), **FEW)
    with pytest.raises(ValueError, match=r"bandwidth_y holds .* twice"):
        independence_test(PAIRED_X, PAIRED_Y, bandwidth_y=[WIDTHS[0], WIDTHS[0]], **FEW)
    with pytest.raises(ValueError, match="X: all observations are equal"):
        independence_test(np.ones(5), np.arange(5), bandwidth_x="grid", **FEW)


@pytest.mark.parametrize(
    ("members", "error", "message"),
    [
        ([], ValueError, "members is empty"),
        (["kme"], TypeError, "members must be Member values"),
        ("kme", TypeError, "members must be a list of Member values; got 'kme'"),
        (None, TypeError, "members must be a list of Member values; got None"),
        ([Member("kme"), Member("kme", weight=2.0)], ValueError, r"members holds KME\(\) twice"),
    ],
)
def test_collections_that_make_no_sense(members, error, message):
    with pytest.raises(error, match=message):
        Collection(members)


def test_members_that_make_no_sense():
    with pytest.raises(ValueError, match="weight must be a finite number > 0"):
        Member("kme", weight=0.0)
    with pytest.raises(ValueError, match="one kernel, or a tuple with one per variable; got 1"):
        Member("kme", ("gaussian",))
