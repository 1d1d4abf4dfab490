"""Which form and tuning a test takes by default, and which tests are provably the same."""

from __future__ import annotations

import numpy as np
import pytest

import refits
from shrinktest import FKMSE, KME, MKME, MMKME, SKMSE, Gaussian, Landweber
from small import POINTS, SIZES, TUNED, X, Y, notes, pair_test, samples, split_test, values

FORMS = ["biased", "unbiased"]


# --- two samples --------------------------------------------------------------------------------------------


def test_forms_and_tunings_by_default():
    cases = [
        ("kme", (5, 5), "biased", "fixed"),
        ("kme", (6, 4), "unbiased", "fixed"),
        ("skmse", (5, 5), "biased", "sample"),
        ("skmse", (6, 4), "unbiased", "joint"),
        (FKMSE(lam=1.0), (6, 4), "unbiased", "fixed"),
        (FKMSE(tuning="sample"), (6, 4), "unbiased", "sample"),
        ("landweber", (6, 4), "unbiased", "joint"),
        ("mkme", (5, 5), "biased", "pooled"),
        ("mmkme", (6, 4), "unbiased", "pooled"),
        (MKME(tuning="joint"), (6, 4), "unbiased", "joint"),
        (MKME(variance=0.1), (6, 4), "unbiased", "fixed"),
        (lambda G: np.full(len(G), 1 / len(G)), (6, 4), "unbiased", "fixed"),
    ]
    for estimator, sizes, form, tuning in cases:
        result = split_test(*samples(*sizes), estimator, n_resamples=0)
        assert (result.form, result.tuning) == (form, tuning), estimator


@pytest.mark.parametrize("cls", [*TUNED, MKME, MMKME])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_auto_is_one_of_the_tunings(cls, sizes):
    auto = split_test(*samples(*sizes), cls())
    explicit = split_test(*samples(*sizes), cls(tuning=auto.tuning))
    np.testing.assert_array_equal(values(auto), values(explicit))


def proportional(a, b):
    """Whether two tests order the relabellings alike because one statistic is a multiple of the other."""
    ratio = values(a) / values(b)
    return np.ptp(ratio) < 1e-8 * abs(ratio[0])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("estimator", [SKMSE(tuning="pooled"), SKMSE(alpha=0.4)], ids=repr)
@pytest.mark.parametrize("form", FORMS)
def test_one_amount_of_simple_shrinkage_changes_nothing(estimator, sizes, seed, form):
    result, standard = (
        split_test(*samples(*sizes), each, form=form, n_resamples=99, rng=seed) for each in (estimator, "kme")
    )
    s = 1 - (0.4 if estimator.alpha else refits.amount(SKMSE(), result.kernel(POINTS[:10]))["alpha"])
    np.testing.assert_allclose(values(result), s**2 * values(standard), rtol=1e-9)
    assert result.pvalue == standard.pvalue
    assert "the p-value is that of estimator='kme'" in notes(result)
    assert ("with form='biased'" in notes(result)) == (sizes[0] != sizes[1] and form == "biased")


def test_shrinkage_that_depends_on_the_size_only_is_one_amount_for_equal_sizes():
    estimator = SKMSE(decay=(2.0, 1.0))
    equal, unequal = (split_test(*samples(*sizes), estimator, n_resamples=30) for sizes in SIZES)
    assert proportional(equal, split_test(*samples(5, 5), n_resamples=30))
    assert "the p-value is that of estimator='kme'" in notes(equal)
    assert not proportional(unequal, split_test(*samples(6, 4), n_resamples=30))
    assert "the p-value is that of" not in notes(unequal)


@pytest.mark.parametrize("estimator", [SKMSE(), SKMSE(tuning="joint"), FKMSE(tuning="pooled")], ids=repr)
def test_other_shrinkage_is_a_test_of_its_own(estimator):
    result = split_test(*samples(5, 5), estimator, n_resamples=30)
    assert not proportional(result, split_test(*samples(5, 5), n_resamples=30))
    assert result.notes == ()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("estimator", [MKME(), MMKME(), MKME(variance=0.5), MMKME(variances=(0.5, 0.2))], ids=repr)
def test_one_noise_for_both_samples_is_a_wider_kernel(estimator, sizes, form):
    result = split_test(*samples(*sizes), estimator, form=form, n_resamples=99)
    noise = np.array(result.estimates[0].smoothing)
    assert result.estimates[1].smoothing == result.estimates[0].smoothing
    assert (noise > 0).all()
    wider = np.sqrt(result.bandwidth**2 + 2 * noise)
    standard = split_test(*samples(*sizes), kernel=Gaussian(wider), form=form, n_resamples=99)
    factor = np.prod(result.bandwidth / wider)
    np.testing.assert_allclose(values(result), factor * values(standard), rtol=1e-9, atol=1e-15)
    assert result.pvalue == standard.pvalue
    assert "wider kernel" in notes(result)


@pytest.mark.parametrize("tuning", ["sample", "joint"])
def test_noise_retuned_in_every_relabelling_is_a_test_of_its_own(tuning):
    result = split_test(*samples(5, 5), MKME(tuning=tuning), n_resamples=30)
    assert not proportional(result, split_test(*samples(5, 5), MKME(), n_resamples=30))
    assert "wider kernel" not in notes(result)
    assert ("unequal noise" in notes(result)) == (tuning == "sample")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("estimator", [KME(), MKME()], ids=repr)
def test_for_equal_sizes_both_forms_are_one_test(estimator, seed):
    both = [split_test(*samples(6, 6), estimator, form=form, n_resamples=99, rng=seed) for form in FORMS]
    assert both[0].pvalue == both[1].pvalue
    shift = values(both[1]) - 11 / 10 * values(both[0])  # (2m - 1) / (2m - 2)
    np.testing.assert_allclose(shift, shift[0], rtol=1e-9)


def test_for_unequal_sizes_the_forms_are_two_tests():
    both = [split_test(*samples(8, 4), form=form, n_resamples=99) for form in ("biased", "unbiased")]
    assert (np.argsort(both[0].null_distribution) != np.argsort(both[1].null_distribution)).any()


def test_one_sided_forms_are_pointed_out():
    said = "favors one direction of a change of scale"
    for estimator in (SKMSE(tuning="sample"), FKMSE(tuning="sample"), Landweber(tuning="sample")):
        assert said in notes(split_test(*samples(6, 4), estimator, n_resamples=0))
        assert said not in notes(split_test(*samples(5, 5), estimator, n_resamples=0))
    assert said in notes(split_test(*samples(6, 4), form="biased", n_resamples=0))
    assert said not in notes(split_test(*samples(6, 4), n_resamples=0))
    assert said in notes(split_test(*samples(6, 4), "fkmse", form="biased", n_resamples=0))
    assert said not in notes(split_test(*samples(6, 4), "fkmse", n_resamples=0))


# --- independence -------------------------------------------------------------------------------------------


def test_form_and_tuning_of_an_independence_test_by_default():
    for estimator, tuning in (
        ("kme", "fixed"),
        ("skmse", "sample"),
        (FKMSE(tuning="sample"), "sample"),
        (FKMSE(lam=1.0), "fixed"),
        ("mkme", "pooled"),
        (MMKME(tuning="sample"), "sample"),
        (lambda G: np.full(len(G), 1 / len(G)), "fixed"),
    ):
        result = pair_test(X, Y, estimator, n_resamples=0)
        assert (result.form, result.tuning) == ("biased", tuning), estimator


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("estimator", [SKMSE(alpha=0.4), SKMSE(decay=(2.0, 1.0))], ids=repr)
def test_a_fixed_amount_of_simple_shrinkage_changes_nothing(estimator, seed):
    result = pair_test(X, Y, estimator, n_resamples=99, rng=seed)
    standard = pair_test(X, Y, n_resamples=99, rng=seed)
    s = 0.6 if estimator.alpha else 1 / (1 + 2.0 / 9)
    np.testing.assert_allclose(values(result), s**2 * values(standard), rtol=1e-11)
    assert result.pvalue == standard.pvalue
    assert "the p-value is that of estimator='kme' (HSIC)" in notes(result)


def test_a_retuned_amount_is_a_test_of_its_own():
    result, standard = (pair_test(X, Y, name, n_resamples=30) for name in ("skmse", "kme"))
    assert np.ptp(values(result) / values(standard)) > 0.1
    assert result.notes == ()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("estimator", [MKME(), MMKME(), MKME(tuning="sample"), MKME(variance=0.5)], ids=repr)
def test_noise_on_the_margins_is_a_wider_kernel(estimator, form):
    result = pair_test(X, Y, estimator, form=form, n_resamples=99)
    noise = [np.array(amount) for amount in result.estimates[0].shrinkage]
    assert all((e > 0).all() for e in noise)
    wider = [np.sqrt(width**2 + 2 * e) for width, e in zip(result.bandwidth, noise, strict=True)]
    kernels = {f"kernel_{v}": Gaussian(width) for v, width in zip("xy", wider, strict=True)}
    standard = pair_test(X, Y, form=form, n_resamples=99, **kernels)
    factor = np.prod(
        [
            np.prod(np.broadcast_to(width / w, Z.shape[1]))
            for width, w, Z in zip(result.bandwidth, wider, (X, Y), strict=True)
        ]
    )
    np.testing.assert_allclose(values(result), factor * values(standard), rtol=1e-9, atol=1e-15)
    assert result.pvalue == standard.pvalue
    assert "wider kernels" in notes(result)
