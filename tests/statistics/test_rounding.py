"""Differences that rounding would hide, and statistics that no permutation changes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shrinktest import (
    FKMSE,
    KME,
    MKME,
    SKMSE,
    Gaussian,
    Laplacian,
    compare,
    independence_matrix,
    independence_test,
    k_sample_test,
    permutation_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.kernels import Linear, Polynomial
from shrinktest.notes import has_code, note
from shrinktest.statistics.kernel_cache import KernelCache, Request

START = 1e6  # of a clock, say
X, Y = np.random.default_rng(1).integers(-40, 40, (2, 12, 2)) / 8.0  # exact at any offset
Y[:, 0] += 8.0
Z = np.random.default_rng(2).integers(-40, 40, (9, 2)) / 8.0
QUICK = {"n_resamples": 99, "rng": 0, "workers": 1}


def lost(result):
    return any(has_code(note, "rounding") for note in result.notes)


def two(x=X, y=Y, **options):
    return two_sample_test(x, y, **QUICK | options)


@pytest.mark.parametrize("form", ["biased", "unbiased"])
@pytest.mark.parametrize("gram", ["dense", "factor"])
@pytest.mark.parametrize("estimator", [KME(), SKMSE(alpha=0.3)], ids=repr)
@pytest.mark.parametrize("rows", [9, 12])
def test_a_shift_is_seen_wherever_the_data_start(form, gram, estimator, rows):
    options = {"kernel": Linear(), "estimator": estimator, "form": form, "gram": gram}
    near, far = (two(X + start, Y[:rows] + start, **options) for start in (0.0, START))
    assert far.pvalue == near.pvalue == 0.01
    np.testing.assert_allclose(far.null_distribution, near.null_distribution, rtol=1e-9, atol=1e-9)
    assert not lost(far)


@pytest.mark.parametrize("form", ["biased", "unbiased"])
@pytest.mark.parametrize("width", [1e4, 1e6, 1e9])
def test_a_wide_gaussian_kernel_is_a_linear_one(form, width):
    linear = two(kernel=Linear(), form=form)
    for kernel, rows in ((Gaussian(width), 12), (Gaussian((width, width)), 12)):
        wide = two(X[:rows], Y[:rows], kernel=kernel, form=form)
        assert wide.pvalue == linear.pvalue and not lost(wide)
        np.testing.assert_allclose(
            wide.null_distribution * width**2, linear.null_distribution, rtol=1e-5, atol=1e-5
        )


@pytest.mark.parametrize("estimator", ["kme", "skmse", FKMSE(lam=1e-12), MKME()], ids=repr)
def test_independence_with_wide_kernels(estimator):
    x, y = X[:, :1], X[:, :1] ** 2 + X
    wide = {"bandwidth_x": 1e5, "bandwidth_y": 1e5}
    result = independence_test(x, y, estimator=estimator, **wide, **QUICK)
    if estimator == "kme":
        linear = independence_test(x, y, kernel_x=Linear(), kernel_y=Linear(), **QUICK)
        assert result.pvalue == linear.pvalue
        np.testing.assert_allclose(
            result.null_distribution * 1e20, linear.null_distribution, rtol=1e-6, atol=1e-6
        )
    assert not lost(result)


@pytest.mark.parametrize("start", [0.0, START])
def test_ties_are_ties_wherever_the_data_start(start):
    """Tenths are rounded more at an offset; ties of their sums must not be broken by that."""
    tenths = np.array([1.0, 4.0, 2.0, 3.0, 7.0, 8.0, 9.0, 6.0])
    whole, rounded = (
        two_sample_test(values[:4], values[4:], kernel=Linear(), n_resamples=np.inf, workers=1)
        for values in (tenths, tenths / 10.0 + start)
    )
    assert rounded.pvalue == whole.pvalue
    whole, rounded = (
        independence_test(
            values[:6], values[2:] ** 0, kernel_x=Linear(), kernel_y=Linear(), n_resamples=np.inf
        )
        for values in (tenths, tenths / 10.0 + start)
    )
    assert rounded.pvalue == whole.pvalue == 1.0


@pytest.mark.parametrize("width", [30.0, 1e4, 1e6])
def test_ties_are_ties_for_wide_kernels(width):
    x, y = np.array([0, 1, 2, 3, 4, 5.0]), np.array([1, 0, 2, 2, 1, 3.0])
    options = {"n_resamples": np.inf, "workers": 1}
    wide = independence_test(x, y, bandwidth_x=width, bandwidth_y=width, **options)
    again = independence_test(x[::-1], y[::-1], bandwidth_x=width, bandwidth_y=width, **options)
    assert wide.pvalue == again.pvalue
    if width >= 1e6:
        assert (
            wide.pvalue
            == independence_test(x, y, kernel_x=Linear(), kernel_y=Linear(), **options).pvalue
        )


def gram_of(kernel, points, by_coordinates=True, gram="auto"):
    cache = KernelCache(gram, None, 1e9, np.random.default_rng(0))
    return cache(kernel, points, Request(by_coordinates=by_coordinates))


@pytest.mark.parametrize(
    "kernel", [Linear(), Gaussian(1.5), Gaussian(1e5), Laplacian(1e5), Polynomial(2)], ids=repr
)
@pytest.mark.parametrize("by_coordinates", [True, False])
def test_centered_features(kernel, by_coordinates):
    matrix = kernel(X)
    matrix = matrix - (kernel.bandwidth > 1e3 if hasattr(kernel, "bandwidth") else 0.0)
    centering = np.eye(12) - 1 / 12
    expected = centering @ matrix @ centering
    gram = gram_of(kernel, X, by_coordinates)
    centered = gram.residuals()
    assert centered.by_coordinates == (by_coordinates and kernel == Linear())
    values = centered.values @ centered.values.T if centered.by_coordinates else centered.values
    scale = np.abs(expected).max()
    np.testing.assert_allclose(values, expected, atol=1e-5 * scale)
    np.testing.assert_allclose(centered.diagonal(), np.diag(expected), atol=1e-5 * scale)
    assert centered.norm == pytest.approx(np.sqrt(np.square(expected).mean()), rel=1e-5)
    np.testing.assert_array_equal(centered.dense().values, values)
    assert centered.norm < centered.size < 1.1 * centered.norm


def test_differences_keep_their_digits():
    distances = np.square(X[:, None] - X[None]).sum(axis=2)
    np.testing.assert_allclose(Gaussian(1e7).differences(X), -distances / 2e14, rtol=1e-9)
    np.testing.assert_allclose(Gaussian(2.0).differences(X), Gaussian(2.0)(X) - 1.0, atol=1e-15)
    np.testing.assert_allclose((2.0 * Gaussian(1e7)).differences(X), -distances / 1e14, rtol=1e-9)
    assert Polynomial(2).differences(X) is (Polynomial(2) + Polynomial(3)).differences(X) is None
    less = X - X.mean(axis=0)
    np.testing.assert_allclose(Linear().differences(X + 2.0**40), less @ less.T, atol=1e-3)
    both = (3.0 * Linear() + Polynomial(2)).differences(X)
    np.testing.assert_allclose(both, 3.0 * less @ less.T + Polynomial(2)(X))
    np.testing.assert_allclose(Laplacian(2.0).differences(X), Laplacian(2.0)(X) - 1.0, atol=1e-15)


def averaging(gram):
    """A user's estimator: less for points far from the others."""
    return gram.mean(axis=1) / len(gram)


@pytest.mark.parametrize("estimator", ["skmse", "fkmse", "landweber", "tsvd", averaging])
def test_what_shrinks_a_long_mean_says_that_the_rest_is_lost(estimator):
    if callable(estimator):
        near, far = (two(X, Y, estimator=estimator, bandwidth=width) for width in (2.0, 1e6))
    else:
        near, far = (
            two(X + start, Y + start, estimator=estimator, kernel=Linear())
            for start in (0.0, START)
        )
    assert not lost(near) and lost(far)
    assert far.pvalue > near.pvalue
    assert "Center the columns" in " ".join(str(far.summary()).split())


def test_every_kind_of_test_says_so():
    for run in (
        lambda start: two(X + start, Y + start, kernel=Polynomial(2), estimator="fkmse"),
        lambda start: k_sample_test(
            X + start, Y + start, Z + start, kernel=Linear(), estimator="fkmse", **QUICK
        ),
        lambda start: independence_test(X + 100 * start, Y, kernel_x=Polynomial(2), **QUICK),
        lambda start: two(X + start, Y + start, estimator=["skmse", "fkmse"], kernel=Linear()),
        lambda start: two_sample_test_columns(
            X + start, Y + start, kernel=Linear(), estimator="fkmse", **QUICK
        ),
        lambda start: independence_matrix(X + 100 * start, Y, kernel_x=Polynomial(2), **QUICK),
        lambda start: permutation_test(
            lambda labels: 1e6 * start + X[labels == 0].mean(), (6, 6), **QUICK
        ),
    ):
        assert not lost(run(0.0)) and lost(run(START))


DRAWS = np.random.default_rng(0)
Z_100 = DRAWS.normal(size=(100, 3))
FEW = {"n_resamples": 99, "rng": 0}
LOST, CONSTANT, SHRUNK = map(note, ("rounding", "constant-statistic", "shrunk-to-zero"))


def test_nothing_changes():
    for result in (
        two_sample_test(Z_100[:9], Z_100[9:17], bandwidth=1e200, **FEW),
        permutation_test(lambda labels: 1.0, 6, **FEW),
    ):
        assert (
            result.pvalue == 1.0
            and CONSTANT in result.notes
            and not any(LOST in note for note in result.notes)
        )
    assert CONSTANT not in independence_test(Z_100[:, 0], Z_100[:, 1], **FEW).notes


@pytest.mark.parametrize("estimator", ["kme", "skmse", "auto"])
def test_what_stays_within_blocks_and_pairs_is_not_lost_in_rounding(estimator):
    site, labels = np.repeat([0.0, 1.0, 2.3, 3.7], 10), np.repeat(list("abcd"), 10)
    again = {"estimator": estimator, **FEW}
    sites, other = (
        pd.DataFrame({"site": site, "x": Z_100[:40, 0]}),
        pd.DataFrame({"site": site, "x": Z_100[40:80, 0]}),
    )
    for how in ({"blocks": (labels, labels)}, {"paired": True}):
        result = two_sample_test(site, site, **how, **again)
        assert result.pvalue == 1.0 and CONSTANT in result.notes and LOST not in result.notes
        columns = two_sample_test_columns(sites, other, **how, **again)
        assert (
            columns.pvalues[0] == 1.0 and f"column 'site' of X and Y: {CONSTANT}" in columns.notes
        )
        assert not any(LOST in note for note in columns.notes)
    result = independence_test(site, Z_100[:40, 0], blocks=labels, **again)
    assert (
        SHRUNK if estimator == "skmse" else CONSTANT
    ) in result.notes and LOST not in result.notes


@pytest.mark.parametrize("estimator", ["skmse", ["skmse", "fkmse"]])
def test_what_is_shrunk_to_zero_is_not_said_to_be_the_same(estimator):
    site = np.repeat([0.0, 1.0, 2.0, 3.0], 10)
    result = independence_test(site, Z_100[:40, 0], blocks=site, estimator=estimator, **FEW)
    assert result.statistic == 0.0 and SHRUNK in result.notes and CONSTANT not in result.notes


def shared(result):
    return [note for note in result.notes if "rows are in both samples" in note]


def test_rows_in_both_samples():
    assert shared(two_sample_test(Z_100[:80], Z_100[20:], **FEW))[0].startswith(
        "60 rows are in both samples, and none of them is"
    )
    assert shared(compare(pd.DataFrame(Z_100[:60]), pd.DataFrame(Z_100[40:]), **FEW))
    assert not shared(two_sample_test(Z_100[:50], Z_100[50:], **FEW))
    assert not shared(
        two_sample_test(Z_100[:80], Z_100[:80], paired=True, **FEW)
    )  # pairs that did not change
    counts = DRAWS.poisson(3.0, size=(2, 60))
    assert not shared(
        two_sample_test(*counts, **FEW)
    )  # equal by chance, as others are within each sample
