"""Tests that are provably the same, the default form and tuning, and invariance to units."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import refits
from cases import POINTS, SIZES, X, Y, notes, pair_test, samples, split_test, values
from cases import TUNED_BY_GRAM as TUNED
from shrinktest import (
    FKMSE,
    KME,
    MKME,
    MMKME,
    SKMSE,
    Gaussian,
    compare,
    independence_matrix,
    independence_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.results.base import same
from shrinktest.results.columns import DIFFERENCES
from shrinktest.units import deviations, means, near_one

FORMS = ["biased", "unbiased"]


def test_forms_and_tunings_by_default():
    uniform = lambda G: np.full(len(G), 1 / len(G))  # noqa: E731
    for estimator, sizes, form, tuning in (
        ("kme", (5, 5), "biased", "fixed"),
        ("kme", (6, 4), "unbiased", "fixed"),
        ("skmse", (5, 5), "biased", "sample"),
        ("skmse", (6, 4), "unbiased", "joint"),
        (FKMSE(lam=1.0), (6, 4), "unbiased", "fixed"),
        (FKMSE(tuning="sample"), (6, 4), "unbiased", "sample"),
        ("mkme", (5, 5), "biased", "pooled"),
        ("mmkme", (6, 4), "unbiased", "pooled"),
        (MKME(tuning="joint"), (6, 4), "unbiased", "joint"),
        (MKME(variance=0.1), (6, 4), "unbiased", "fixed"),
        (uniform, (6, 4), "unbiased", "fixed"),
    ):
        result = split_test(*samples(*sizes), estimator, n_resamples=0)
        assert (result.form, result.tuning) == (form, tuning), estimator
    for estimator, tuning in (
        *(("kme", "fixed"), ("skmse", "sample"), (FKMSE(lam=1.0), "fixed"), (uniform, "fixed")),
        *(("mkme", "pooled"), (MMKME(tuning="sample"), "sample")),
    ):
        result = pair_test(X, Y, estimator, n_resamples=0)
        assert (result.form, result.tuning) == ("biased", tuning), estimator


def test_auto_is_one_of_the_tunings():
    for cls, sizes in itertools.product([*TUNED, MKME, MMKME], SIZES):
        auto = split_test(*samples(*sizes), cls())
        explicit = split_test(*samples(*sizes), cls(tuning=auto.tuning))
        np.testing.assert_array_equal(values(auto), values(explicit))


def proportional(a, b):
    """Check that two tests order the relabelings alike because one statistic is a multiple of the other."""
    ratio = values(a) / values(b)
    return np.ptp(ratio) < 1e-8 * abs(ratio[0])


def test_one_amount_of_simple_shrinkage_changes_nothing():
    given = [SKMSE(tuning="pooled"), SKMSE(alpha=0.4)]
    for estimator, sizes, seed, form in itertools.product(given, SIZES, range(2), FORMS):
        options = {"form": form, "n_resamples": 99, "rng": seed}
        result, standard = (
            split_test(*samples(*sizes), each, **options) for each in (estimator, "kme")
        )
        s = 1 - (
            0.4 if estimator.alpha else refits.amount(SKMSE(), result.kernel(POINTS[:10]))["alpha"]
        )
        np.testing.assert_allclose(values(result), s**2 * values(standard), rtol=1e-9)
        assert result.pvalue == standard.pvalue and "estimator='kme'" in notes(result)
        assert ("(form='biased')" in notes(result)) == (sizes[0] != sizes[1] and form == "biased")
    for estimator, s in ((SKMSE(alpha=0.4), 0.6), (SKMSE(decay=(2.0, 1.0)), 1 / (1 + 2.0 / 9))):
        result, standard = (pair_test(X, Y, each, n_resamples=99) for each in (estimator, "kme"))
        np.testing.assert_allclose(values(result), s**2 * values(standard), rtol=1e-11)
        assert result.pvalue == standard.pvalue and "estimator='kme'" in notes(result)


def test_shrinkage_that_depends_on_the_size_only_is_one_amount_for_equal_sizes():
    for sizes, alike in zip(SIZES, (True, False), strict=True):
        result = split_test(*samples(*sizes), SKMSE(decay=(2.0, 1.0)), n_resamples=30)
        assert proportional(result, split_test(*samples(*sizes), n_resamples=30)) == alike
        assert ("estimator='kme'" in notes(result)) == alike


def test_other_shrinkage_is_a_test_of_its_own():
    for estimator in (SKMSE(), SKMSE(tuning="joint"), FKMSE(tuning="pooled")):
        result = split_test(*samples(5, 5), estimator, n_resamples=30)
        assert (
            not proportional(result, split_test(*samples(5, 5), n_resamples=30))
            and result.notes == ()
        )
    for tuning in ("sample", "joint"):  # noise that is tuned in every relabeling
        result = split_test(*samples(5, 5), MKME(tuning=tuning), n_resamples=30)
        assert not proportional(result, split_test(*samples(5, 5), MKME(), n_resamples=30))
        assert "wider kernel" not in notes(result) and ("unequal noise" in notes(result)) == (
            tuning == "sample"
        )
    result = pair_test(X, Y, "skmse", n_resamples=30)
    assert not proportional(result, pair_test(X, Y, n_resamples=30)) and result.notes == ()


def test_one_noise_for_both_samples_is_a_wider_kernel():
    given = [MKME(), MMKME(), MKME(variance=0.5), MMKME(variances=(0.5, 0.2))]
    for estimator, sizes, form in itertools.product(given, SIZES, FORMS):
        result = split_test(*samples(*sizes), estimator, form=form, n_resamples=39)
        noise = np.array(result.estimates[0].smoothing)
        assert result.estimates[1].smoothing == result.estimates[0].smoothing and (noise > 0).all()
        wider = np.sqrt(result.bandwidth**2 + 2 * noise)
        standard = split_test(*samples(*sizes), kernel=Gaussian(wider), form=form, n_resamples=39)
        factor = np.prod(result.bandwidth / wider)
        np.testing.assert_allclose(values(result), factor * values(standard), rtol=1e-9, atol=1e-15)
        assert result.pvalue == standard.pvalue and "wider kernel" in notes(result)


def test_noise_on_the_margins_is_a_wider_kernel():
    given = [MKME(), MMKME(), MKME(tuning="sample"), MKME(variance=0.5)]
    for estimator, form in itertools.product(given, FORMS):
        result = pair_test(X, Y, estimator, form=form, n_resamples=39)
        kernels, factor = {}, 1.0
        for v, Z, width, noise in zip(
            "xy", (X, Y), result.bandwidth, result.estimates[0].shrinkage, strict=True
        ):
            wider = np.sqrt(width**2 + 2 * np.array(noise))
            assert (wider > width).all()
            kernels[f"kernel_{v}"] = Gaussian(wider)
            factor *= np.prod(np.broadcast_to(width / wider, Z.shape[1]))
        standard = pair_test(X, Y, form=form, n_resamples=39, **kernels)
        np.testing.assert_allclose(values(result), factor * values(standard), rtol=1e-9, atol=1e-15)
        assert result.pvalue == standard.pvalue and "wider kernels" in notes(result)


def test_both_forms_are_one_test_for_equal_sizes_only():
    for estimator, seed in itertools.product((KME(), MKME()), range(2)):
        both = [
            split_test(*samples(6, 6), estimator, form=form, n_resamples=99, rng=seed)
            for form in FORMS
        ]
        assert both[0].pvalue == both[1].pvalue
        shift = values(both[1]) - 11 / 10 * values(both[0])  # (2m - 1) / (2m - 2)
        np.testing.assert_allclose(shift, shift[0], rtol=1e-9)
    both = [split_test(*samples(8, 4), form=form, n_resamples=99) for form in FORMS]
    assert (np.argsort(both[0].null_distribution) != np.argsort(both[1].null_distribution)).any()


# --- huge and tiny values ------------------------------------------------------------------------------------------
RNG = np.random.default_rng(0)
FIRST, SECOND = RNG.normal(size=(2, 30, 2))
Z = RNG.normal(size=30) + 0.2 * FIRST[:, 0]
FEW = {"n_resamples": 39, "rng": 0}
FACTORS = [2.0**-1030, 1e-170, 2.0**500, 1e160, 1e300]


def test_given_variables_and_covariates():
    wide, both = np.column_stack([Z, SECOND[:, 1]]), (Z, Z + 0.5 * SECOND[:, 1])
    for test in (
        lambda f: independence_test(FIRST[:, 0], SECOND[:, 0], given=f * Z, **FEW).pvalue,
        lambda f: (
            independence_test(
                FIRST[:, 0], SECOND[:, 0], given=f * Z, given_method="local", **FEW
            ).pvalue
        ),
        lambda f: independence_test(FIRST[:, 0], SECOND[:, 0], given=f * wide, **FEW).pvalue,
        lambda f: independence_matrix(FIRST, given=f * Z, **FEW).pvalues,
        lambda f: (
            two_sample_test(
                FIRST, SECOND, covariates=tuple(f * covariate for covariate in both), **FEW
            ).pvalue
        ),
    ):
        assert all(test(factor) == test(1.0) for factor in FACTORS)


@pytest.mark.parametrize(
    ("factor", "scale"), [*zip(FACTORS, ["rank", "mad", None, None, "rank"], strict=True)]
)
def test_comparisons(factor, scale):
    plain, scaled = (compare(f * FIRST, f * SECOND, scale=scale, **FEW) for f in (1.0, factor))
    assert scaled.overall.pvalue == plain.overall.pvalue
    for effect, other in zip(plain.effects, scaled.effects, strict=True):
        for before, after in zip(effect.changes, other.changes, strict=True):
            assert (after.first, after.second) == pytest.approx(
                (before.first * factor, before.second * factor)
            )
            unit = factor if before.what in DIFFERENCES else 1.0
            assert (after.estimate, after.low, after.high) == pytest.approx(
                (before.estimate * unit, before.low * unit, before.high * unit), rel=1e-6, abs=0.0
            )
    assert plain.where is not None
    assert (scaled.where is None) == (factor != 2.0**500)


def test_the_largest_numbers():
    least, most = np.full((12, 1), -1e306), np.full((12, 1), 1e306)
    result = compare(least, most, **FEW)
    assert result.overall.pvalue == 0.025
    assert result.effects[0].changes[0].first == pytest.approx(-1e306)
    assert (two_sample_test_columns(least, most, **FEW).pvalues == 0.025).all()
    with pytest.raises(ValueError, match="scale='rank'"):
        compare(160.0 * least, 160.0 * most, **FEW)
    assert compare(160.0 * least, 160.0 * most, scale="rank", **FEW).overall.pvalue == 0.025


def test_moments():
    for factor in (1.0, *FACTORS):
        values = 3.0 * factor * FIRST
        assert 0.5 <= np.abs(near_one(values)).max() <= 1.0
        np.testing.assert_allclose(means(values) / factor, 3.0 * FIRST.mean(axis=0))
        np.testing.assert_allclose(
            deviations(values, ddof=1) / factor, 3.0 * FIRST.std(axis=0, ddof=1)
        )
    assert not near_one(np.zeros((3, 2))).any()


def test_kernels_of_points_far_apart_are_zero_whatever_numpy_is_told():
    wild, other = np.random.default_rng(1).standard_cauchy(size=(2, 24, 2)) * 5.0
    calls = (
        lambda: two_sample_test(wild, other, bandwidth=0.05, **FEW),
        lambda: two_sample_test(wild, other, covariates=(other, wild), **FEW),
        lambda: compare(wild, other, **FEW),
    )
    printed = lambda result: (result.to_json(), str(result.summary()))  # noqa: E731
    looks = (
        lambda result: result.effect(),
        lambda result: result.witness_band(),
        lambda result: result.contributions(n_repeats=2),
    )
    plain = [call() for call in calls]
    expected = [printed(result) for result in plain], [look(plain[0]) for look in looks]
    with np.errstate(all="raise"):
        results = [call() for call in calls]
        seen = [printed(result) for result in results], [look(results[0]) for look in looks]
        assert np.geterr()["under"] == "raise"
    assert same(expected, seen)
