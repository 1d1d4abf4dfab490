"""More than two samples, and more than two variables: statistics, permutations, and what the tests refuse."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cases import tuned_by
from naive_tests import dhsic, dispersion, labelings, p_joint, p_k_sample, without_main_effects
from shrinktest import (
    FKMSE,
    KME,
    MKME,
    SKMSE,
    Candidate,
    Ensemble,
    Gaussian,
    IteratedTikhonov,
    Linear,
    independence_test,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
)
from shrinktest.estimators import ESTIMATORS
from shrinktest.kernels.inner import CenteredProduct
from shrinktest.permutations.base import Draws
from shrinktest.permutations.design import ExchangeableUnits, UnitLabels
from shrinktest.permutations.schemes import Labels, Shuffles

RNG = np.random.default_rng(5)
POINTS = RNG.normal(size=(40, 2)) * [1.0, 0.5]
POINTS[:6] += [1.0, 0.0]


def split(*sizes):
    return np.split(POINTS[: sum(sizes)], np.cumsum(sizes)[:-1])


def halved(gram):
    """A user's estimator."""
    return gram.mean(axis=1) / len(gram)


@settings(deadline=None)
@given(st.lists(st.integers(1, 3), min_size=2, max_size=4).filter(lambda sizes: sum(sizes) <= 7))
def test_enumerated_partitions_are_all_labelings_without_their_duplicates(sizes):
    scheme = Labels(tuple(sizes), symmetric=True)
    rows = np.array(list(scheme.all()))
    assert len(rows) == scheme.distinct and np.array_equal(
        rows[0], np.repeat(np.arange(len(sizes)), sizes)
    )

    def unnamed(labels):
        return frozenset(
            frozenset(np.flatnonzero(np.asarray(labels) == p).tolist()) for p in range(len(sizes))
        )

    partitions = [unnamed(row) for row in rows]
    assert len(set(partitions)) == len(partitions)
    assert set(partitions) == {unnamed(labels) for labels in labelings(sizes)}
    assert all(np.array_equal(np.bincount(row), sizes) for row in rows)


def test_statistic_of_every_partition_is_its_twin():
    sizes, K = (3, 4, 2), Gaussian(0.9)(POINTS[:9])
    estimators = [
        KME(),
        SKMSE(tuning="sample"),
        FKMSE(tuning="sample"),
        IteratedTikhonov(tuning="sample"),
        halved,
    ]
    rows = np.array(list(Labels(sizes, symmetric=True).all()))
    for estimator, comparison, weights in itertools.product(
        estimators, ("pairs", "pooled"), ("sizes", "equal")
    ):
        options = {
            "estimator": estimator,
            "comparison": comparison,
            "weights": weights,
            "form": "biased",
            "workers": 1,
        }
        result = k_sample_test(
            *split(*sizes), **options, kernel=Gaussian(0.9), n_resamples=np.inf, alpha=0.5
        )
        assert result.exact and len(rows) == result.n_resamples == 1260
        weigh = estimator if callable(estimator) else estimator.weights
        for b in range(0, len(rows), 180):
            parts = [np.flatnonzero(rows[b] == p).tolist() for p in range(3)]
            expected = dispersion(K, parts, weigh, comparison, weights == "sizes")
            assert np.isclose(result.null_distribution[b], expected, rtol=1e-9, atol=1e-12), options


def test_unbiased_form_is_its_twin():
    parts = [list(range(5)), list(range(5, 9)), list(range(9, 15))]
    for estimator in (KME(), SKMSE(tuning="sample"), FKMSE(tuning="sample")):
        options = {"kernel": Gaussian(0.9), "n_resamples": 9, "alpha": 0.2, "rng": 0}
        result = k_sample_test(*split(5, 4, 6), estimator=estimator, **options)
        assert result.form == "unbiased"  # sizes differ
        expected = dispersion(Gaussian(0.9)(POINTS[:15]), parts, estimator.weights, unbiased=True)
        assert np.isclose(result.statistic, expected, rtol=1e-9)


def test_statistic_with_one_amount_for_all_is_that_of_the_estimates():
    for estimator in ("skmse", "fkmse", "landweber", "tsvd"):
        result = k_sample_test(
            *split(4, 9, 6), estimator=estimator, form="biased", n_resamples=9, alpha=0.2, rng=0
        )
        assert result.tuning == "joint"
        n, e = result.n_observations, result.estimates
        pairs = [(0, 1), (0, 2), (1, 2)]
        total = sum(n[i] * n[j] * e[i].distance2(e[j]) for i, j in pairs)
        assert np.isclose(result.statistic, total / sum(n[i] * n[j] for i, j in pairs), rtol=1e-8)


def test_two_samples_are_the_two_sample_test():
    for estimator, form in itertools.product([*ESTIMATORS, halved], ("biased", "unbiased")):
        options = {"estimator": estimator, "form": form, "n_resamples": 19, "rng": 2, "workers": 1}
        for sizes in ((8, 8), (7, 10)):
            two_sample, k_sample = (
                two_sample_test(*split(*sizes), **options),
                k_sample_test(*split(*sizes), **options),
            )
            assert two_sample.pvalue == k_sample.pvalue, options
            assert np.allclose(
                two_sample.null_distribution, k_sample.null_distribution, rtol=1e-9, atol=1e-12
            )
    x, y = split(12, 9)
    for design in (
        {"blocks": np.arange(21) % 3},
        {"groups": np.r_[np.arange(12) // 2, 10 + np.arange(9) // 2]},
    ):
        k_sample, two_sample = (
            test(x, y, **design, rng=0, n_resamples=99) for test in (k_sample_test, two_sample_test)
        )
        assert (
            k_sample.pvalue == two_sample.pvalue and k_sample.restriction == two_sample.restriction
        )
        assert np.allclose(k_sample.null_distribution, two_sample.null_distribution)


def test_coordinates_and_gram_matrix_give_one_answer():
    rng = np.random.default_rng(1)
    for estimator, count in itertools.product(
        ("kme", "skmse", "mkme"), (3, 150)
    ):  # a tile of sums has 64 columns
        samples = [rng.normal(size=n) for n in (count, count + 1, 2 * count)]
        dense, factor = (
            k_sample_test(*samples, estimator=estimator, gram=gram, n_resamples=19, rng=0)
            for gram in ("dense", "factor")
        )
        assert np.allclose(dense.null_distribution, factor.null_distribution, rtol=1e-6, atol=1e-10)
        assert dense.pvalue == factor.pvalue and factor.route == "factor"


def test_pairs_and_pooled_are_one_test_for_the_standard_mean_weighted_by_sizes():
    options = {"form": "biased", "n_resamples": 99, "rng": 0}
    pairs, pooled = (
        k_sample_test(*split(6, 9, 5), comparison=c, **options) for c in ("pairs", "pooled")
    )
    assert (
        np.ptp(pairs.null_distribution / pooled.null_distribution) < 1e-9
        and pairs.pvalue == pooled.pvalue
    )


def test_exhaustive_null_agrees_with_brute_force():
    for sizes, name in itertools.product([(2, 2, 2), (3, 2, 2)], ("kme", "fkmse")):
        tuned, K = tuned_by(name, "sample"), Gaussian(0.8)(POINTS[: sum(sizes)])
        options = {"kernel": Gaussian(0.8), "form": "biased", "n_resamples": np.inf, "alpha": 0.5}
        result = k_sample_test(*split(*sizes), estimator=tuned, **options)
        expected = p_k_sample(
            K, sizes, lambda K, parts, tuned=tuned: dispersion(K, parts, tuned.weights), 1e-11
        )
        assert result.exact and np.isclose(result.pvalue, expected)


CASES = [  # sizes, blocks, groups
    ((2, 2, 2), "ababab", "012345"),
    ((3, 2, 2), "aabbaab", "0123456"),
    ((4, 2, 2), "aaaaaaaa", "00112233"),
    ((3, 3, 1), "aabaabb", "0123456"),
    ((3, 3, 3), "abcabcabc", "012345678"),
    ((3, 1, 3), "aaabbbb", "0012334"),
]


def allowed(sizes, blocks, groups):
    """All labelings that moving whole groups to places of groups as large in their block can give."""
    units = [
        [i for i, name in enumerate(groups) if name == group] for group in dict.fromkeys(groups)
    ]
    labels = [p for p, n in enumerate(sizes) for _ in range(n)]
    kinds = [(blocks[unit[0]], len(unit)) for unit in units]
    every = set()
    for order in itertools.permutations(range(len(units))):
        if all(kinds[u] == kinds[v] for u, v in enumerate(order)):
            moved = [0] * len(labels)
            for u, v in enumerate(order):
                for i in units[u]:
                    moved[i] = labels[units[v][0]]
            every.add(tuple(moved))
    return every


def restricted(case):
    sizes, blocks, groups = case
    units = ExchangeableUnits.of(
        np.array([ord(name) for name in blocks]), np.array([ord(name) for name in groups])
    )
    return UnitLabels(units, "as told", sizes, symmetric=True)


def test_restricted_partitions_are_all_there_are_up_to_names_of_samples_and_uniform():
    for case in CASES:
        scheme, every = restricted(case), allowed(*case)
        rows = [tuple(row.tolist()) for row in scheme.all()]
        assert rows[0] == tuple(np.repeat(np.arange(3), case[0]))
        assert len(rows) == len(set(rows)) == scheme.distinct and set(rows) <= every
        named = {
            tuple(names[p] for p in row)
            for row in rows
            for names in itertools.permutations(range(3))
        }
        assert named & every == every
        counts = dict.fromkeys(sorted(every), 0)
        for row in scheme.draw(np.random.default_rng(0), len(every) * 200).tolist():
            counts[tuple(row)] += 1
        assert len(every) == 1 or stats.chisquare(list(counts.values())).pvalue > 1e-4


@pytest.mark.parametrize("case", CASES[:4:2], ids=str)
@pytest.mark.parametrize("options", [{}, {"comparison": "pooled", "estimator": "fkmse"}], ids=str)
def test_every_restricted_partition_as_the_data_is_rejected_as_often_as_it_may(case, options):
    sizes, *labels = case
    points, pvalues = POINTS[: sum(sizes)], []
    for row in allowed(*case):
        places = [np.flatnonzero(np.array(row) == p) for p in range(len(sizes))]
        design = {
            k: [[text[i] for i in at] for at in places]
            for k, text in zip(("blocks", "groups"), labels, strict=True)
        }
        result = k_sample_test(
            *(points[at] for at in places), **design, n_resamples=np.inf, alpha=0.6, **options
        )
        pvalues.append(result.pvalue)
    for level in np.unique(pvalues):
        assert np.mean(np.array(pvalues) <= level) <= level + 1e-12
    assert result.restriction and result.exact


def test_neither_the_order_of_the_samples_nor_workers_matter():
    x, y, z = split(2, 2, 3)
    results = [
        k_sample_test(*s, n_resamples=np.inf, alpha=0.5) for s in ((x, y, z), (y, x, z), (z, x, y))
    ]
    assert len({round(result.pvalue, 12) for result in results}) == 1
    assert np.allclose([r.statistic for r in results], results[0].statistic)
    serial, parallel = (
        k_sample_test(*split(12, 9, 15), estimator="fkmse", n_resamples=79, rng=4, workers=w)
        for w in (1, 2)
    )
    assert np.array_equal(serial.null_distribution, parallel.null_distribution)


def test_refusals_name_the_argument():
    three, pair = split(5, 5, 5), Ensemble([Candidate("kme", ("gaussian", "laplacian"))])
    frames = (
        pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]}),
        pd.DataFrame({"a": [1.0, 2.0], "c": [0.0, 1.0]}),
    )
    for samples, options, name in (
        (three[:1], {}, "two samples"),
        ([[1.0, 2.0], [3.0]], {}, r"samples\[1\]"),
        ([[1.0, 2.0], [[3.0, 4.0], [5.0, 6.0]]], {}, r"samples\[1\]"),
        ([[1.0, np.nan, 2.0], [3.0, 4.0]], {}, r"samples\[0\]"),
        ([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]], {}, "the samples"),
        (frames, {}, r"only in samples\[1\]: 'c'"),
        (three, {"comparison": "pair"}, "comparison"),
        (three, {"weights": "size"}, "weights"),
        (three, {"estimator": "auto", "bandwidth": 2.0}, "bandwidth"),
        (three, {"estimator": "auto", "stopping": "curtailed"}, "stopping"),
        (three, {"estimator": MKME(tuning="joint")}, "tuning='pooled'"),
        (three, {"estimator": pair}, "has 2 kernels"),
        (three, {"bandwidth": [0.5, 1.0]}, "candidates"),
        (three, {"kernel": ["gaussian", "gaussian"]}, "twice"),
        (three, {"comparison": "pooled", "form": "unbiased"}, "comparison"),
        (three, {"blocks": [0] * 14}, "blocks has 14 labels"),
        (three, {"blocks": [[0] * 5, [0] * 5, [0] * 4]}, r"samples\[2\]"),
        (three, {"blocks": [0] * 14 + [None]}, "blocks has no label for row 14"),
        (three, {"groups": [0] * 15}, "groups"),
        (three, {"blocks": list(range(15))}, "blocks"),
    ):
        with pytest.raises(ValueError, match=name):
            k_sample_test(*samples, **options)


DRAWS = np.random.default_rng(8)
X, Y = DRAWS.normal(size=(12, 2)), DRAWS.normal(size=12)
Z = np.sign(Y) * np.abs(DRAWS.normal(size=12)) + 0.3 * X[:, 0]
WIDTHS = [1.1, 0.8, 0.9]


def grams(n=12):
    return [Gaussian(width)(v[:n]) for width, v in zip(WIDTHS, (X, Y, Z), strict=True)]


def test_statistic_of_the_standard_mean_is_dhsic():
    result = joint_independence_test(X, Y, Z, bandwidths=WIDTHS, n_resamples=7, alpha=0.2, rng=0)
    assert np.isclose(result.statistic, dhsic(grams()), rtol=1e-10)
    shuffles = Draws.of(Shuffles(12, 3), 7, np.random.default_rng(0)).rows()
    K = grams()
    for value, (second, third) in zip(result.null_distribution, shuffles[1:], strict=True):
        moved = [K[0], K[1][np.ix_(second, second)], K[2][np.ix_(third, third)]]
        assert np.isclose(value, dhsic(moved), rtol=1e-9)


def test_features_are_tensors_without_main_effects():
    n = 6
    for count in (2, 3, 4):
        variables = [DRAWS.normal(size=(n, 2)) for _ in range(count)]
        psi = without_main_effects(variables)
        kernel = CenteredProduct((Linear(),) * count, np.hstack(variables), (2,) * count)
        assert np.allclose(kernel(np.hstack(variables)), psi @ psi.T, atol=1e-12)
        # and their mean is that whose squared norm dHSIC is
        assert np.isclose(np.square(psi.mean(axis=0)).sum(), dhsic([z @ z.T for z in variables]))


def test_every_estimator_is_applied_to_the_features():
    variables = [DRAWS.normal(size=(7, 1)) for _ in range(3)]
    shuffles = Draws.of(Shuffles(7, 3), 5, np.random.default_rng(1)).rows()
    for estimator in (KME(), SKMSE(), SKMSE(alpha=0.3), FKMSE(), IteratedTikhonov(), halved):
        options = {"kernels": Linear(), "n_resamples": 5, "alpha": 0.2, "rng": 1, "workers": 1}
        result, values = joint_independence_test(*variables, estimator=estimator, **options), []
        weigh = estimator if callable(estimator) else estimator.weights
        for second, third in shuffles:
            psi = without_main_effects([variables[0], variables[1][second], variables[2][third]])
            values.append(np.square(weigh(psi @ psi.T) @ psi).sum())
        assert np.allclose(
            [result.statistic, *result.null_distribution], values, rtol=1e-7, atol=1e-12
        )
        assert callable(estimator) or np.isclose(
            result.estimates[0].norm2(), result.statistic, atol=1e-12
        )


def test_two_variables_are_the_independence_test():
    for estimator in (*ESTIMATORS, halved):
        options = {"estimator": estimator, "n_resamples": 39, "rng": 2, "workers": 1}
        pair, joint = independence_test(X, Y, **options), joint_independence_test(X, Y, **options)
        assert pair.pvalue == joint.pvalue
        assert np.allclose(pair.null_distribution, joint.null_distribution, rtol=1e-6, atol=1e-11)
    rng = np.random.default_rng(0)  # features may lie as far from zero as they like
    x = rng.normal(size=40)
    y = x + 0.1 * rng.normal(size=40)
    for kernel, offset in (
        ("linear", 0.0),
        ("linear", 1e6),
        ("polynomial", 0.0),
        ("polynomial", 1e3),
    ):
        options = {"rng": 0, "n_resamples": 199, "max_memory": float("inf")}
        joint = joint_independence_test(x + offset, y + offset, kernels=kernel, **options)
        pair = independence_test(
            x + offset, y + offset, kernel_x=kernel, kernel_y=kernel, **options
        )
        assert joint.pvalue == pair.pvalue == 0.005
        assert joint.statistic == pytest.approx(pair.statistic, rel=1e-6)


def test_exhaustive_null_of_variables():
    for estimator in (KME(), FKMSE()):
        options = {
            "bandwidths": WIDTHS,
            "estimator": estimator,
            "n_resamples": np.inf,
            "alpha": 0.5,
        }
        result = joint_independence_test(X[:3], Y[:3], Z[:3], **options)

        def statistic(K, estimator=estimator):
            if isinstance(estimator, KME):
                return dhsic(K)
            roots = [np.linalg.cholesky(k + 1e-14 * np.eye(3)) for k in K]
            psi = without_main_effects(roots)
            return np.square(estimator.weights(psi @ psi.T) @ psi).sum()

        assert result.exact and result.n_resamples == 36
        assert np.isclose(result.pvalue, p_joint(grams(3), statistic, 1e-9))


def test_parity_is_found_where_pairs_see_nothing():
    x, y = np.random.default_rng(0).choice([-1.0, 1.0], size=(2, 80))
    assert (
        joint_independence_test(x, y, x * y, rng=0, kernels="gaussian", n_resamples=99).pvalue
        == 0.01
    )


def test_workers_units_and_missing_rows():
    options = {"estimator": "fkmse", "n_resamples": 79, "rng": 4}
    serial, parallel = (joint_independence_test(X, Y, Z, workers=w, **options) for w in (1, 2))
    assert np.array_equal(serial.null_distribution, parallel.null_distribution)
    assert joint_independence_test(X, 1e3 * Y, 1e-3 * Z, **options).pvalue == serial.pvalue
    rows = np.arange(12) != 3
    holed = np.where(rows, Y, np.nan)
    omitted = joint_independence_test(X, holed, Z, nan_policy="omit", **options)
    assert omitted.pvalue == joint_independence_test(X[rows], Y[rows], Z[rows], **options).pvalue
    assert np.isnan(joint_independence_test(X, holed, Z, nan_policy="propagate", **options).pvalue)


def test_refusals_of_variables_name_the_argument():
    three, pair = (X, Y, Z), Ensemble([Candidate("kme", ("gaussian", "laplacian"))])
    for variables, options, name in (
        ((X,), {}, "two variables"),
        ((X, Y[:5]), {}, r"variables\[1\]"),
        ((X[:1], Y[:1]), {}, "1 row"),
        ((X, Y, np.ones(12)), {}, r"variables\[2\]"),
        ((X, np.where(Y > 1, np.nan, Y)), {}, r"variables\[1\]"),
        ((pd.Series(Y), pd.Series(Z, index=range(1, 13))), {}, "row labels"),
        (three, {"kernels": ["gaussian", "linear"]}, "kernels"),
        (three, {"kernels": ["gaussian", "linar", "linear"]}, r"kernels\[1\]"),
        (three, {"estimator": MKME(), "kernels": "laplacian"}, "Gaussian"),
        (three, {"estimator": SKMSE(tuning="pooled")}, "tuning='pooled'"),
        (three, {"max_memory": 100}, "max_memory"),
        (three, {"estimator": "auto", "kernels": "laplacian"}, r"kernels\[0\]"),
        (three, {"estimator": "auto", "stopping": "curtailed"}, "stopping"),
        (three, {"estimator": pair}, "has 2 kernels"),
        (three, {"estimator": ["kme", "kme"]}, "twice"),
        (three, {"bandwidths": ["median", "grid", "median"]}, "candidates"),
        (three, {"bandwidths": [1.0, 0.0, 1.0]}, r"bandwidths\[1\]"),
    ):
        with pytest.raises((ValueError, MemoryError), match=name):
            joint_independence_test(*variables, **options)
