"""More than two samples: statistics, partitions, and what the test says of bad input."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cases import tuned_by
from naive_several import dispersion, labellings, p_k_sample
from shrinktest import (
    FKMSE,
    KME,
    SKMSE,
    Collection,
    Gaussian,
    IteratedTikhonov,
    Member,
    k_sample_test,
    two_sample_test,
)
from shrinktest.estimators import ESTIMATORS
from shrinktest.permutations.design import ExchangeableUnits, UnitLabels
from shrinktest.permutations.schemes import Labels

RNG = np.random.default_rng(5)
POINTS = RNG.normal(size=(40, 2)) * [1.0, 0.5]
POINTS[:6] += [1.0, 0.0]
PAIR = Collection([Member("kme", ("gaussian", "laplacian"))])


def split(*sizes):
    return np.split(POINTS[: sum(sizes)], np.cumsum(sizes)[:-1])


def halved(gram):
    """A user's estimator."""
    return gram.mean(axis=1) / len(gram)


# ------------------------------------------------------------------------------------------------- partitions


@given(st.lists(st.integers(1, 3), min_size=2, max_size=4).filter(lambda sizes: sum(sizes) <= 7))
def test_enumerated_partitions_are_all_labellings_without_their_duplicates(sizes):
    found = Labels(tuple(sizes))
    rows = np.array(list(found.all()))
    assert len(rows) == found.distinct
    assert np.array_equal(rows[0], np.repeat(np.arange(len(sizes)), sizes))

    def unnamed(labels):
        return frozenset(frozenset(np.flatnonzero(np.asarray(labels) == p).tolist()) for p in range(len(sizes)))

    kept = [unnamed(row) for row in rows]
    assert len(set(kept)) == len(kept)
    assert set(kept) == {unnamed(labels) for labels in labellings(sizes)}
    assert all(np.array_equal(np.bincount(row), sizes) for row in rows)


# -------------------------------------------------------------------------------------------------- statistics


@pytest.mark.parametrize("comparison", ["pairs", "pooled"])
@pytest.mark.parametrize("weights", ["sizes", "equal"])
@pytest.mark.parametrize(
    "estimator", [KME(), SKMSE(tuning="sample"), FKMSE(tuning="sample"), IteratedTikhonov(tuning="sample"), halved]
)
def test_statistic_of_every_partition_is_its_twin(estimator, comparison, weights):
    sizes = (3, 4, 2)
    result = k_sample_test(
        *split(*sizes), estimator=estimator, comparison=comparison, weights=weights, form="biased",
        kernel=Gaussian(0.9), n_resamples=np.inf, alpha=0.5, workers=1,
    )  # fmt: skip
    K = Gaussian(0.9)(POINTS[:9])
    weigh = estimator if callable(estimator) else estimator.weights
    rows = np.array(list(Labels(sizes).all()))
    assert result.exact and len(rows) == result.n_resamples == 1260
    for b in range(0, len(rows), 90):
        parts = [np.flatnonzero(rows[b] == p).tolist() for p in range(3)]
        expected = dispersion(K, parts, weigh, comparison, weights == "sizes")
        assert np.isclose(result.null_distribution[b], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("estimator", [KME(), SKMSE(tuning="sample"), FKMSE(tuning="sample")])
def test_unbiased_form_is_its_twin(estimator):
    result = k_sample_test(*split(5, 4, 6), estimator=estimator, kernel=Gaussian(0.9), n_resamples=9, alpha=0.2, rng=0)
    assert result.form == "unbiased"  # sizes differ
    parts = [list(range(5)), list(range(5, 9)), list(range(9, 15))]
    expected = dispersion(Gaussian(0.9)(POINTS[:15]), parts, estimator.weights, unbiased=True)
    assert np.isclose(result.statistic, expected, rtol=1e-9)


@pytest.mark.parametrize("estimator", ["skmse", "fkmse", "landweber", "tsvd"])
def test_statistic_with_one_amount_for_all_is_that_of_the_estimates(estimator):
    result = k_sample_test(*split(4, 9, 6), estimator=estimator, form="biased", n_resamples=9, alpha=0.2, rng=0)
    assert result.tuning == "joint"
    n, e = result.n_observations, result.estimates
    pairs = [(0, 1), (0, 2), (1, 2)]
    total = sum(n[i] * n[j] * e[i].distance2(e[j]) for i, j in pairs)
    assert np.isclose(result.statistic, total / sum(n[i] * n[j] for i, j in pairs), rtol=1e-8)


@pytest.mark.parametrize("estimator", [*ESTIMATORS, halved])
@pytest.mark.parametrize("sizes", [(8, 8), (7, 10)])
@pytest.mark.parametrize("form", ["biased", "unbiased"])
def test_two_samples_are_the_two_sample_test(estimator, sizes, form):
    given = {"estimator": estimator, "form": form, "n_resamples": 39, "rng": 2, "workers": 1}
    one, other = two_sample_test(*split(*sizes), **given), k_sample_test(*split(*sizes), **given)
    assert one.pvalue == other.pvalue
    assert np.allclose(one.null_distribution, other.null_distribution, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("estimator", ["kme", "skmse", "mkme"])
@pytest.mark.parametrize("count", [3, 150])  # a tile of the compiled sums has 64 columns
def test_coordinates_and_gram_matrix_give_one_answer(estimator, count):
    rng = np.random.default_rng(1)
    samples = [rng.normal(size=n) for n in (count, count + 1, 2 * count)]
    dense, factor = (
        k_sample_test(*samples, estimator=estimator, gram=gram, n_resamples=19, rng=0) for gram in ("dense", "factor")
    )
    assert np.allclose(dense.null_distribution, factor.null_distribution, rtol=1e-6, atol=1e-10)
    assert dense.pvalue == factor.pvalue and factor.route == "factor"


def test_pairs_and_pooled_are_one_test_for_the_standard_mean_weighted_by_sizes():
    given = {"form": "biased", "n_resamples": 99, "rng": 0}
    pairs, pooled = (k_sample_test(*split(6, 9, 5), comparison=c, **given) for c in ("pairs", "pooled"))
    ratio = pairs.null_distribution / pooled.null_distribution
    assert np.ptp(ratio) < 1e-9 and pairs.pvalue == pooled.pvalue


# ---------------------------------------------------------------------------------------------------- p-values


@pytest.mark.parametrize("sizes", [(2, 2, 2), (2, 2, 3), (3, 2, 2)])
@pytest.mark.parametrize("estimator", ["kme", "fkmse"])
def test_exhaustive_null_agrees_with_brute_force(sizes, estimator):
    samples = split(*sizes)
    tuned = tuned_by(estimator, "sample")
    result = k_sample_test(
        *samples, estimator=tuned, kernel=Gaussian(0.8), form="biased", n_resamples=np.inf, alpha=0.5
    )
    K = Gaussian(0.8)(POINTS[: sum(sizes)])
    expected = p_k_sample(K, sizes, lambda K, parts: dispersion(K, parts, tuned.weights), 1e-11)
    assert result.exact and np.isclose(result.pvalue, expected)


# --- restricted -----------------------------------------------------------------------------------------------

CASES = [  # sizes, blocks, groups
    ((2, 2, 2), "ababab", "012345"),
    ((3, 2, 2), "aabbaab", "0123456"),
    ((4, 2, 2), "aaaaaaaa", "00112233"),
    ((3, 3, 1), "aabaabb", "0123456"),
    ((3, 3, 3), "abcabcabc", "012345678"),
    ((3, 1, 3), "aaabbbb", "0012334"),
]


def allowed(sizes, blocks, groups):
    """All labellings that moving whole groups to places of groups as large in their block can give."""
    units = [[i for i, name in enumerate(groups) if name == group] for group in dict.fromkeys(groups)]
    labels = [p for p, n in enumerate(sizes) for _ in range(n)]
    kinds = [(blocks[unit[0]], len(unit)) for unit in units]
    found = set()
    for order in itertools.permutations(range(len(units))):
        if all(kinds[u] == kinds[v] for u, v in enumerate(order)):
            moved = [0] * len(labels)
            for u, v in enumerate(order):
                for i in units[u]:
                    moved[i] = labels[units[v][0]]
            found.add(tuple(moved))
    return found


def restricted(case):
    sizes, blocks, groups = case
    units = ExchangeableUnits.of(np.array([ord(name) for name in blocks]), np.array([ord(name) for name in groups]))
    return UnitLabels(units, "as told", sizes)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_restricted_partitions_are_all_there_are_up_to_names_of_samples(case):
    scheme, every = restricted(case), allowed(*case)
    rows = [tuple(row.tolist()) for row in scheme.all()]
    assert rows[0] == tuple(np.repeat(np.arange(3), case[0]))
    assert len(rows) == len(set(rows)) == scheme.distinct and set(rows) <= every
    renamed = {
        tuple(names[p] for p in row) for row in rows for names in itertools.permutations(range(3))
    } & every  # fmt: skip
    assert renamed == every


@pytest.mark.parametrize("case", CASES, ids=str)
def test_random_restricted_partitions_are_uniform(case):
    every = sorted(allowed(*case))
    rows = restricted(case).draw(np.random.default_rng(0), len(every) * 200)
    counts = {row: 0 for row in every}
    for row in rows.tolist():
        counts[tuple(row)] += 1
    assert len(every) == 1 or stats.chisquare(list(counts.values())).pvalue > 1e-4


@pytest.mark.parametrize("case", CASES[:5:2], ids=str)
@pytest.mark.parametrize("options", [{}, {"comparison": "pooled", "estimator": "fkmse"}], ids=str)
def test_every_restricted_partition_as_the_data_is_rejected_as_often_as_it_may(case, options):
    sizes, blocks, groups = case
    points, found = POINTS[: sum(sizes)], []
    for row in allowed(*case):
        places = [np.flatnonzero(np.array(row) == p) for p in range(len(sizes))]
        told = {
            name: [[text[i] for i in at] for at in places] for name, text in (("blocks", blocks), ("groups", groups))
        }
        result = k_sample_test(*(points[at] for at in places), **told, n_resamples=np.inf, alpha=0.6, **options)
        found.append(result.pvalue)
    for level in np.unique(found):
        assert np.mean(np.array(found) <= level) <= level + 1e-12
    assert result.restriction and result.exact


def test_two_restricted_samples_are_the_two_sample_test():
    x, y, _ = split(12, 9, 2)
    for design in ({"blocks": np.arange(21) % 3}, {"groups": np.r_[np.arange(12) // 2, 10 + np.arange(9) // 2]}):
        one, two = (test(x, y, **design, rng=0, n_resamples=99) for test in (k_sample_test, two_sample_test))
        assert one.pvalue == two.pvalue and one.restriction == two.restriction
        assert np.allclose(one.null_distribution, two.null_distribution)


def test_labels_of_samples_in_any_form():
    samples = split(6, 5, 7)
    blocks = list("abcabc" + "abcab" + "abcabca")
    options = {"n_resamples": 99, "rng": 0}
    expected = k_sample_test(*samples, blocks=blocks, **options)
    apart = [blocks[:6], np.array(blocks[6:11]), pd.Series(blocks[11:])]
    assert k_sample_test(*samples, blocks=apart, **options).pvalue == expected.pvalue
    holed = np.vstack([samples[0], [[np.nan, 1.0]]])
    kept = k_sample_test(holed, *samples[1:], blocks=[*blocks[:6], None, *blocks[6:]], nan_policy="omit", **options)
    assert kept.pvalue == expected.pvalue and "within 3 blocks" in str(kept.summary())
    stopped = k_sample_test(*samples, blocks=blocks, stopping="curtailed", **options)
    assert stopped.reject() == expected.reject() and stopped.n_resamples < 99


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"blocks": [0] * 14}, ValueError, "blocks has 14 labels, and there are 15 rows in all samples together"),
        ({"blocks": [[0] * 5, [0] * 5, [0] * 4]}, ValueError, r"4 labels, and there are 5 rows in samples\[2\]"),
        ({"blocks": [0] * 14 + [None]}, ValueError, "blocks has no label for row 14"),
        ({"groups": [0] * 15}, ValueError, "groups: some groups have observations in more than one sample"),
        ({"blocks": list(range(15))}, ValueError, "leaves 1 different permutation, .* use fewer and larger blocks"),
        ({"blocks": "ab"}, TypeError, "blocks must be a vector of labels"),
    ],
)
def test_labels_that_make_no_sense(given, error, message):
    with pytest.raises(error, match=message):
        k_sample_test(*split(5, 5, 5), **given)


def test_order_of_the_samples_does_not_matter():
    x, y, z = split(2, 2, 3)
    results = [k_sample_test(*s, n_resamples=np.inf, alpha=0.5) for s in ((x, y, z), (y, x, z), (z, x, y))]
    assert len({round(result.pvalue, 12) for result in results}) == 1
    assert np.allclose([r.statistic for r in results], results[0].statistic)


def test_workers_do_not_change_the_result():
    samples = split(12, 9, 15)
    one, two = (k_sample_test(*samples, estimator="fkmse", n_resamples=79, rng=4, workers=w) for w in (1, 2))
    assert np.array_equal(one.null_distribution, two.null_distribution)


def test_stopping_draws_fewer():
    result = k_sample_test(*split(7, 7, 7), stopping="besag-clifford", rng=0, n_resamples=9999)
    assert result.n_resamples < result.n_planned == 9999


def test_frames_are_matched_by_name_and_missing_rows_left_out():
    import pandas as pd

    x, y, z = (pd.DataFrame(s, columns=["u", "v"]) for s in split(5, 6, 7))
    plain = k_sample_test(x, y, z, n_resamples=19, rng=0)
    assert k_sample_test(x, y[["v", "u"]], z.to_numpy(), n_resamples=19, rng=0).pvalue == plain.pvalue
    z.loc[7] = [np.nan, 1.0]
    assert k_sample_test(x, y, z, nan_policy="omit", n_resamples=19, rng=0).pvalue == plain.pvalue
    assert np.isnan(k_sample_test(x, y, z, nan_policy="propagate", n_resamples=19, rng=0).pvalue)
    assert k_sample_test(x, y, z, nan_policy="propagate").summary()


@pytest.mark.parametrize(
    ("samples", "options", "message"),
    [
        (split(5, 5)[:1], {}, "give two samples or more, each as an argument of its own .* found 1"),
        ((), {}, "found 0"),
        ([[1.0, 2.0], [3.0]], {}, r"samples\[1\] has 1 row; a test needs at least 2"),
        ([[1.0, 2.0], [[3.0, 4.0], [5.0, 6.0]]], {}, r"samples\[0\] has 1 column and samples\[1\] has 2 columns"),
        ([[1.0, np.nan, 2.0], [3.0, 4.0]], {}, r"samples\[0\] has 1 missing value"),
        ([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]], {}, "the samples: all observations are equal"),
        (split(5, 5, 5), {"comparison": "pair"}, "comparison must be one of 'pairs', 'pooled'.*mean 'pairs'"),
        (split(5, 5, 5), {"weights": "size"}, "weights must be one of 'sizes', 'equal'"),
        (split(5, 5, 5), {"estimator": "auto", "bandwidth": 2.0}, "leave out kernel and bandwidth"),
        (split(5, 5, 5), {"estimator": "auto", "stopping": "curtailed"}, "leave out stopping="),
        (split(5, 5, 5), {"estimator": PAIR}, "the test has 1 variable, and Member.* has kernels for 2"),
        (split(5, 5, 5), {"bandwidth": [0.5, 1.0]}, r"may be 2 candidates or one bandwidth for each of 2 columns"),
        (split(5, 5, 5), {"kernel": ["gaussian", "gaussian"]}, "a candidate counts once"),
        (split(5, 5, 5), {"comparison": "pooled", "form": "unbiased"}, "exists for comparison='pairs'"),
    ],
)
def test_bad_input_says_what_to_do(samples, options, message):
    with pytest.raises(ValueError, match=message):
        k_sample_test(*samples, **options)


def test_frames_with_other_columns_say_which():
    import pandas as pd

    x, y = pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]}), pd.DataFrame({"a": [1.0, 2.0], "c": [0.0, 1.0]})
    with pytest.raises(ValueError, match=r"different columns \(only in samples\[0\]: 'b'; only in samples\[1\]: 'c'\)"):
        k_sample_test(x, y)


def test_noise_tuned_in_every_partition_is_refused():
    from shrinktest import MKME

    with pytest.raises(ValueError, match="use tuning='pooled', or fix the variance"):
        k_sample_test(*split(5, 5, 5), estimator=MKME(tuning="joint"))
