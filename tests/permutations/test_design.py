"""Designs: within blocks and pairs, of whole groups, by shifts; p-values by brute force, and exact levels.

`pytest -m slow -s tests/permutations/test_design.py` runs the large version of the levels and prints its rates.
"""

from __future__ import annotations

import itertools
import json
from math import comb, factorial

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import naive_restricted
import naive_tests
from permutations.test_schemes import PAIRINGS, SHIFTS, SPLITS
from shrinktest import FKMSE, independence_test, two_sample_test
from shrinktest._read import XY, read_samples, read_variables
from shrinktest.estimators import ESTIMATORS

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(12, 2)), RNG.normal(size=(12, 2))


def naive_pairings(case):
    if case in SHIFTS:
        return naive_restricted.all_shifts(*SHIFTS[case])
    return naive_restricted.all_pairings(*PAIRINGS[case])


# --- p-values -----------------------------------------------------------------------------------------------


def gaussian_gram(z, width):
    return np.exp(-((z[:, None] - z[None]) ** 2).sum(axis=2) / (2 * width**2))


def average(gram):
    return np.full(len(gram), 1 / len(gram))


def ridge(gram):
    """Weights (K + lam I)^-1 K u."""
    return np.linalg.solve(gram + 0.7 * np.eye(len(gram)), gram @ average(gram))


ESTIMATED = {"kme": (average, "kme"), "fkmse": (ridge, FKMSE(lam=0.7 / 5)), "function": (ridge, ridge)}


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
    allowed = naive_restricted.all_splits(m, n, *labels)
    values = [naive_tests.mmd2_of_split(gram, list(S), [i for i in range(m + n) if i not in S], naive) for S in allowed]
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
    values = [naive_tests.cose(gaussian_gram(x, 0.9), gaussian_gram(y, 1.3), naive, pi) for pi in allowed]
    blocks, groups = PAIRINGS[case][1:] if case in PAIRINGS else (SHIFTS[case][1], None)
    result = independence_test(
        x,
        y,
        estimator=estimator,
        bandwidth_x=0.9,
        bandwidth_y=1.3,
        blocks=blocks,
        groups=groups,
        shift="circular" if case in SHIFTS else None,
        n_resamples=np.inf,
        alpha=0.6,
    )
    assert result.exact and result.n_resamples == len(allowed)
    observed = values[allowed.index(tuple(range(n)))]
    assert result.statistic == pytest.approx(observed, rel=1e-9)
    assert result.pvalue == np.mean(np.array(values) >= observed - 1e-12)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_and_any_number_of_workers(name):
    blocks = np.arange(24) % 12 // 3
    for test, options in (
        (two_sample_test, {"blocks": blocks}),
        (two_sample_test, {"paired": True}),
        (independence_test, {"groups": np.arange(12) // 2}),
        (independence_test, {"shift": "circular", "alpha": 0.1}),
    ):
        one, many = (test(X, Y, estimator=name, rng=4, n_resamples=49, workers=w, **options) for w in (1, 3))
        assert one.pvalue == many.pvalue
        np.testing.assert_array_equal(one.null_distribution, many.null_distribution)


def test_statistics_are_those_of_the_unrestricted_test():
    """A restriction changes which permutations there are, and nothing else."""
    free = two_sample_test(X, Y, estimator="fkmse", rng=0)
    paired = two_sample_test(X, Y, estimator="fkmse", rng=0, paired=True)
    assert (paired.statistic, paired.bandwidth, paired.notes) == (free.statistic, free.bandwidth, free.notes)
    assert paired.null_distribution.max() != free.null_distribution.max()


def test_trivial_labels_change_nothing_but_the_draws():
    everything = two_sample_test(X[:4], Y[:4], n_resamples=np.inf)
    for given in ({"blocks": [7] * 8}, {"groups": list("abcdefgh")}, {"blocks": [7] * 8, "groups": range(8)}):
        labelled = two_sample_test(X[:4], Y[:4], n_resamples=np.inf, **given)
        np.testing.assert_allclose(np.sort(labelled.null_distribution), np.sort(everything.null_distribution))
        assert labelled.pvalue == everything.pvalue and labelled.n_resamples == comb(8, 4) // 2
    pairs = independence_test(X[:5], Y[:5], n_resamples=np.inf)
    for given in ({"blocks": ["a"] * 5}, {"groups": range(5)}):
        labelled = independence_test(X[:5], Y[:5], n_resamples=np.inf, **given)
        assert labelled.pvalue == pairs.pvalue and labelled.n_resamples == factorial(5)


def test_paired_is_blocks_of_two():
    paired = two_sample_test(X, Y, rng=3, paired=True)
    blocks = two_sample_test(X, Y, rng=3, blocks=(range(12), range(12)))
    np.testing.assert_array_equal(paired.null_distribution, blocks.null_distribution)


def test_stopping_goes_with_it():
    for test, options in ((two_sample_test, {"paired": True}), (independence_test, {"blocks": np.arange(12) // 4})):
        full = test(X, Y, rng=1, **options)
        short = test(X, Y, rng=1, stopping="curtailed", **options)
        assert short.n_resamples < 999 and short.reject() == full.reject()
        np.testing.assert_array_equal(short.null_distribution, full.null_distribution[: short.n_resamples])


# --- labels -------------------------------------------------------------------------------------------------


def restriction_of(labels, m=4, n=4, policy="raise", x=None, y=None):
    x, y = X[:m] if x is None else x, Y[:n] if y is None else y
    return read_samples((x, y), XY, policy, blocks=labels).restriction.blocks.tolist()


def test_labels_in_any_form():
    expected = [0, 0, 1, 1, 0, 1, 0, 1]
    flat = ["a", "a", "b", "b", "a", "b", "a", "b"]
    series = pd.Series(flat)
    for labels in (
        flat,
        tuple(flat),
        np.array(flat),
        series,
        series.astype("category"),
        pd.Categorical(flat),
        pd.Index(flat),
        (flat[:4], flat[4:]),
        [flat[:4], np.array(flat[4:])],
        (series[:4], series[4:]),
        [bool(c == "b") for c in flat],
        [1.5 if c == "b" else 2 for c in flat],
        pd.to_datetime(["2020-01-01" if c == "a" else "2020-01-02" for c in flat]),
        [("site", c) for c in flat],
    ):
        assert restriction_of(labels) == expected


def test_labels_go_with_their_rows_when_these_are_dropped():
    x, y = X.copy(), Y.copy()
    x[3, 1], y[0, 0], y[7] = np.nan, np.nan, np.nan
    keep_x, keep_y = ~np.isnan(x).any(axis=1), ~np.isnan(y).any(axis=1)
    labels = np.arange(24) % 4
    for given in (
        {"blocks": (labels[:12], labels[12:])},
        {"groups": np.arange(24) // 2},
        {"blocks": np.arange(24) // 12 * 0, "groups": np.arange(24) // 2},
    ):
        both = np.concatenate([keep_x, keep_y])
        kept = {name: np.hstack(value)[both] for name, value in given.items()}
        omitted = two_sample_test(x, y, nan_policy="omit", rng=0, **given)
        complete = two_sample_test(x[keep_x], y[keep_y], rng=0, **kept)
        np.testing.assert_array_equal(omitted.null_distribution, complete.null_distribution)
        assert omitted.restriction == complete.restriction
    both = keep_x & keep_y
    omitted = two_sample_test(x, y, nan_policy="omit", paired=True, rng=0)
    complete = two_sample_test(x[both], y[both], paired=True, rng=0)
    assert omitted.n_observations == (9, 9)
    np.testing.assert_array_equal(omitted.null_distribution, complete.null_distribution)
    omitted = independence_test(x, y, nan_policy="omit", blocks=labels[:12], rng=0)
    complete = independence_test(x[both], y[both], blocks=labels[:12][both], rng=0)
    np.testing.assert_array_equal(omitted.null_distribution, complete.null_distribution)


def test_a_label_may_be_missing_where_its_row_is_dropped():
    x = X[:4].copy()
    x[1, 0] = np.nan
    labels = ["a", None, "b", "b", "a", "b", "a", "b"]
    assert restriction_of(labels, policy="omit", x=x) == [0, 1, 1, 0, 1, 0, 1]
    with pytest.raises(ValueError, match="blocks has no label for row 1"):
        restriction_of(labels)


def test_missing_values_that_propagate_ask_for_no_permutations():
    x = X.copy()
    x[0] = np.nan
    result = two_sample_test(x, Y, nan_policy="propagate", paired=True)
    assert np.isnan(result.pvalue) and result.restriction == ""
    assert np.isnan(independence_test(x, Y, nan_policy="propagate", shift="circular").pvalue)


HOLE = np.where(np.arange(12)[:, None] == 3, np.nan, X)
FOUR = list("aabb")


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            {"blocks": FOUR},
            ValueError,
            r"4 labels, and there are 24 rows in X and Y together \(or give a pair",
        ),
        ({"blocks": (FOUR, FOUR * 3)}, ValueError, "blocks has 4 labels, and there are 12 rows in X"),
        ({"groups": (FOUR * 3, FOUR)}, ValueError, "groups has 4 labels, and there are 12 rows in Y"),
        ({"blocks": "abab"}, TypeError, "blocks must be a vector of labels, .*; got str"),
        ({"blocks": 3}, TypeError, "blocks must be a vector of labels, .*; got int"),
        ({"blocks": np.zeros((12, 2))}, ValueError, r"got shape \(12, 2\)"),
        ({"blocks": [0.0] * 23 + [np.nan]}, ValueError, r"blocks has no label for row 23 \(counting from 0\)"),
        ({"blocks": [0] * 23 + [None]}, ValueError, "blocks has no label for row 23"),
        ({"blocks": pd.array([0] * 23 + [None], dtype="Int64")}, ValueError, "blocks has no label for row 23"),
        ({"blocks": [[0]] * 24}, TypeError, r"blocks must hold labels such as numbers or text; row 0 has \[0\]"),
        ({"blocks": [np.zeros(2)] * 24}, TypeError, "blocks must hold labels such as numbers or text; row 0 has array"),
        ({"blocks": [(0, [1])] * 24}, TypeError, "blocks must hold labels such as numbers or text; row 0 has"),
        ({"paired": 1}, TypeError, "paired must be True or False, got 1"),
        ({"paired": True, "blocks": [0] * 24}, ValueError, "so that blocks= has nothing to say"),
        (
            {"paired": True, "groups": [0] * 24},
            ValueError,
            "matched groups: blocks= names the match, groups= the group",
        ),
        ({"groups": [0] * 24}, ValueError, "groups: some groups have observations in both X and Y.*blocks= instead"),
        (
            {"groups": np.arange(24) // 3, "blocks": np.arange(24) // 4},
            ValueError,
            "groups: some groups have observations in more than one block",
        ),
    ],
)
def test_labels_that_make_no_sense_for_two_samples(given, error, message):
    with pytest.raises(error, match=message):
        two_sample_test(X, Y, **given)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"blocks": FOUR}, ValueError, "blocks has 4 labels, and there are 12 rows in X and Y"),
        ({"blocks": (FOUR, FOUR)}, ValueError, "blocks has 2 labels"),
        ({"shift": "linear"}, ValueError, "shift must be one of 'circular'; got 'linear'"),
        ({"shift": True}, ValueError, "shift must be one of 'circular'"),
        ({"shift": "circular", "groups": range(12)}, ValueError, "groups= moves several at once"),
        (
            {"groups": np.arange(12) // 3, "blocks": np.arange(12) // 4},
            ValueError,
            "groups: some groups have observations in more than one block",
        ),
    ],
)
def test_labels_that_make_no_sense_for_pairs(given, error, message):
    with pytest.raises(error, match=message):
        independence_test(X, Y, **given)


def test_what_cannot_be_paired_or_shifted():
    with pytest.raises(ValueError, match=r"paired=True needs as many rows in X as in Y, .*; found 12, 11"):
        two_sample_test(X, Y[:11], paired=True)
    with pytest.raises(ValueError, match="X and Y have different row labels"):
        two_sample_test(pd.DataFrame(X), pd.DataFrame(Y, index=range(12, 0, -1)), paired=True)
    with pytest.raises(ValueError, match="nan_policy must be one of"):
        two_sample_test(X, Y, paired=True, nan_policy="drop")
    with pytest.raises(ValueError, match=r"all values but one are missing, so nan_policy=.omit. leaves 1 row"):
        two_sample_test(HOLE[2:4], Y[2:4], paired=True, nan_policy="omit")
    with pytest.raises(ValueError, match="series without gaps, and nan_policy='omit' would cut out 1 row"):
        independence_test(HOLE, Y, shift="circular", nan_policy="omit")


def test_labels_of_other_rows():
    frame, labels = pd.DataFrame(X), pd.Series(np.arange(12) // 4, index=range(12, 0, -1))
    for call in (
        lambda: independence_test(frame, Y, blocks=labels),
        lambda: two_sample_test(Y, frame, blocks=(labels.to_numpy(), labels)),
    ):
        with pytest.raises(ValueError, match=r". and blocks have different row labels.*blocks\.set_axis"):
            call()
    independence_test(frame, Y, blocks=labels.to_numpy(), n_resamples=19)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: two_sample_test(X[:5], Y[:5], paired=True),
            "within 5 pairs leaves 16 different permutations, so that no p-value is below 0.0625 and the test can "
            "never reject at alpha=0.05; collect 6 pairs or more",
        ),
        (lambda: two_sample_test(X[:7], Y[:7], paired=True, alpha=0.01), "leaves 64 .* collect 8 pairs or more"),
        (
            lambda: two_sample_test(X[:3], Y[:3], blocks=[0, 1, 2, 0, 1, 2]),
            "within 3 blocks leaves 4 different permutations.*use fewer and larger blocks",
        ),
        (
            lambda: two_sample_test(X[:4], Y[:4], groups=[0, 0, 1, 1, 2, 2, 2, 3]),
            "permuting 4 whole groups leaves 1 different permutation, .*more groups; only groups of equal sizes",
        ),
        (lambda: two_sample_test(X[:4], Y[:4], groups=np.arange(8) // 2), "leaves 3 .* collect more groups$"),
        (lambda: independence_test(X, Y, shift="circular"), "circular shifts leaves 12 .*observe longer series"),
        (lambda: independence_test(X, Y, groups=np.arange(12) // 4), "permuting 3 whole groups leaves 6"),
        (lambda: independence_test(X[:6], Y[:6], blocks=np.arange(6) // 2), "within 3 blocks leaves 8"),
    ],
)
def test_too_few_permutations_are_an_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_enough_permutations_are_not():
    assert two_sample_test(X[:6], Y[:6], paired=True).n_resamples == 32
    assert independence_test(X, Y, shift="circular", alpha=1 / 12).n_resamples == 12
    assert independence_test(X, Y, shift="circular", n_resamples=0).statistic > 0.0


def test_results_say_what_was_allowed():
    for result, words in (
        (two_sample_test(X, Y, paired=True, rng=0), "within 12 pairs"),
        (two_sample_test(X, Y, blocks=np.arange(24) % 3, rng=0), "within 3 blocks"),
        (two_sample_test(X, Y, groups=np.arange(24) // 2, rng=0), "12 whole groups"),
        (two_sample_test(X, Y, groups=np.arange(24) // 2, blocks=[0] * 24, rng=0), "12 whole groups within 1 block"),
        (independence_test(X, Y, shift="circular", alpha=0.1, rng=0), "circular shifts"),
        (independence_test(X, Y, shift="circular", blocks=np.arange(12) % 2, rng=0), "circular shifts of 2 series"),
        (two_sample_test(X, Y, rng=0), ""),
    ):
        assert result.restriction == json.loads(result.to_json())["restriction"] == words
        shown = str(result.summary())
        assert ("PermutationDesign: " in shown) == bool(words) and words in shown


# --- level --------------------------------------------------------------------------------------------------


def block_effects(rng):
    """Two samples whose shares of the blocks differ, and blocks that differ in location."""
    effect = 2.0 * rng.normal(size=6)
    blocks = np.concatenate([np.repeat(np.arange(6), [1, 2, 3, 1, 2, 3]), np.repeat(np.arange(6), [3, 2, 1, 3, 2, 1])])
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
    return tuple(rng.normal(size=(2, 10))[:, groups] + 0.5 * rng.normal(size=(2, 30))), {"groups": groups}


def periodic_series(rng):
    """Gaussian noise smoothed around a circle: stationary, and the end joins the start."""
    kernel = np.exp(-0.5 * (np.minimum(np.arange(40), 40 - np.arange(40)) / 2.0) ** 2)
    noise = rng.normal(size=(2, 40))
    return tuple(np.fft.ifft(np.fft.fft(noise) * np.fft.fft(kernel)).real), {"shift": "circular"}


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


@pytest.mark.parametrize("case", NULLS)
def test_level_where_the_restriction_is_meant(case):
    check_level(case, 250)


@pytest.mark.slow
@pytest.mark.parametrize("case", NULLS)
def test_level_in_many_data_sets(case):
    check_level(case, 4000)


def test_pairs_read_without_labels_are_not_restricted():
    assert not read_variables((X, Y), XY, "raise").restriction
    assert not read_samples((X, Y), XY, "raise").restriction
    assert all(
        read_samples((X, Y), XY, "raise", **given).restriction for given in ({"paired": True}, {"blocks": [0] * 24})
    )


def test_every_pair_of_halves_is_one_test():
    """Exchanging all pairs gives the same statistic: p-values are multiples of 1 / 2^(n - 1)."""
    seen = {two_sample_test(X[:6] + shift, Y[:6], paired=True).pvalue * 32 for shift in np.linspace(0, 1, 9)}
    assert all(rank == pytest.approx(round(rank)) for rank in seen)
    for signs in itertools.product([True, False], repeat=3):
        flip = np.array([*signs, False, False, False])[:, None]
        x, y = np.where(flip, Y[:6], X[:6]), np.where(flip, X[:6], Y[:6])
        other = two_sample_test(x, y, paired=True)
        np.testing.assert_allclose(
            np.sort(other.null_distribution), np.sort(two_sample_test(X[:6], Y[:6], paired=True).null_distribution)
        )
