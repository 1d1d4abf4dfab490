"""Where two samples differ: the witness function over the relabelings, its band, pictures, and contributions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from cases import samples
from naive_tests import band as naive_band
from shrinktest import (
    FKMSE,
    KME,
    MKME,
    MMKME,
    SKMSE,
    TSVD,
    Depth,
    Gaussian,
    Landweber,
    SecondOrder,
    Whitened,
    two_sample_test,
)
from shrinktest.kernels.distance_kernel import DistanceKernel

AT = np.array([[0.0, 0.0], [1.0, -0.5], [-1.0, 0.3], [2.0, 2.0]])


def halved(gram):
    """A user's estimator."""
    return gram.mean(axis=1) / len(gram)


ESTIMATORS = [
    KME(),
    SKMSE(),
    SKMSE(tuning="pooled"),
    SKMSE(target=([[0.5, 0.5]], [0.7])),
    FKMSE(),
    Landweber(tuning="pooled"),
    TSVD(),
    MKME(),
    MMKME(),
    MKME(variance=0.2),
    MKME(tuning="sample"),
    MKME(tuning="joint"),
    halved,
]


def run(m=6, n=5, estimator="kme", **options):
    given = {"n_resamples": 39, "rng": 3, "workers": 1, "kernel": Gaussian(0.9), **options}
    return two_sample_test(*samples(m, n), estimator=estimator, **given)


def functions(result, x, y, estimator, at):
    """The witness functions of the data and all relabelings, by tests of relabeled data that relabel nothing."""
    masks = result.context.draws.rows() == 0
    pooled, rows = np.vstack([x, y]), []
    for mask in masks:
        relabeled = two_sample_test(
            pooled[mask], pooled[~mask], estimator=estimator, kernel=Gaussian(0.9), n_resamples=0
        )
        rows.append(relabeled.witness(at))
    return np.array(rows)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("sizes", [pytest.param((5, 5), marks=pytest.mark.ci), (6, 5)])
def test_band_is_that_of_estimates_fitted_again_in_every_relabeling(estimator, sizes):
    result = run(*sizes, estimator=estimator, n_resamples=19)
    rows = functions(result, *samples(*sizes), estimator, AT)
    for studentize in (True, False):
        band = result.witness_band(AT, confidence=0.8, studentize=studentize)
        pvalue, limits = naive_band(rows, 0.8, studentize)
        assert np.allclose(band.values, result.witness(AT), atol=1e-12)
        assert np.isclose(band.pvalue, pvalue)
        assert np.allclose(
            band.half_width, limits, rtol=1e-5, atol=1e-9
        )  # descents of the noise end near the optimum


@pytest.mark.parametrize("shift", [0.0, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("studentize", [True, False])
def test_leaving_the_band_anywhere_is_rejecting(shift, studentize):
    rng = np.random.default_rng(int(shift))
    result = two_sample_test(
        rng.normal(size=9), rng.normal(shift, 1.0, size=11), n_resamples=99, rng=0
    )
    for confidence in (0.5, 0.9, 0.95, 0.99):
        band = result.witness_band(
            np.linspace(-2, 4, 9), confidence=confidence, studentize=studentize
        )
        assert band.outside.any() == (band.pvalue <= 1.0 - confidence + 1e-12)


@pytest.mark.ci
def test_the_band_is_left_as_often_as_it_says_at_points_that_do_not_depend_on_the_labels():
    rng = np.random.default_rng(3)
    tests, left = 600, np.zeros(2, dtype=int)
    for _ in range(tests):
        x, y = rng.normal(size=(2, 4))
        result = two_sample_test(x, y, n_resamples=np.inf, workers=1)
        bands = result.witness_band(confidence=0.9), result.witness_band([x.mean()], confidence=0.9)
        left += [band.outside.any() for band in bands]
    level = 6 / 70  # of 70 splits 7 may be above the band, and mirror images come in twos
    low, high = binom.ppf([1e-5, 1 - 1e-5], tests, level)
    assert low <= left[0] <= high
    assert binom.sf(left[1], tests, level) < 1e-3  # the mean of one sample knows the labels


def wide():
    rng = np.random.default_rng(1)
    return rng.normal(size=(15, 3)), rng.normal(size=(14, 3)) + np.array([2.0, 0.0, 0.0])


# ----------------------------------------------------------------------------------------------- contributions


def drops_of(statistic, x, y, repeats=3):
    """Decreases (d, repeats) of the statistic of (x, y) when the values of a column are permuted."""
    generator, pooled = np.random.default_rng(8), np.vstack([x, y])
    drops = np.empty((pooled.shape[1], repeats))
    for j, r in np.ndindex(drops.shape):
        changed = pooled.copy()
        changed[:, j] = generator.permutation(pooled[:, j])
        drops[j, r] = statistic(x, y) - statistic(changed[: len(x)], changed[len(x) :])
    return drops


@pytest.mark.parametrize("estimator", ["kme", "fkmse", "mkme"])
def test_contributions_are_drops_of_the_statistic(estimator):
    x, y = wide()
    result = two_sample_test(x, y, estimator=estimator, n_resamples=19, rng=0)
    table = result.contributions(n_repeats=3, rng=8)
    given = {"kernel": result.kernel, "estimator": estimator, "n_resamples": 0}
    drops = drops_of(lambda x, y: two_sample_test(x, y, **given).statistic, x, y)
    np.testing.assert_allclose(table["drop"], drops.mean(axis=1), rtol=1e-6, atol=1e-10)
    np.testing.assert_allclose(
        table["error"], drops.std(axis=1, ddof=1) / np.sqrt(3), rtol=1e-5, atol=1e-10
    )
    np.testing.assert_allclose(table["share"], table["drop"] / result.statistic, rtol=1e-5)
    assert table["drop"].idxmax() == 0 and table["coordinate"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("scale", [None, "sd", "rank"])
@pytest.mark.parametrize("kind", [Depth, SecondOrder, Whitened])
def test_contributions_take_changed_observations_for_the_pooled_sample(kind, scale):
    x, y = wide()
    options = {
        "kernel": kind(Gaussian(2.0)),
        "scale": scale,
        "n_resamples": 0,
    }  # ranks and units stay what they are
    result = two_sample_test(x, y, **options)
    before = result.witness(x)
    table = result.contributions(n_repeats=3, rng=8)
    assert np.array_equal(result.witness(x), before)
    drops = drops_of(lambda x, y: two_sample_test(x, y, **options).statistic, x, y)
    np.testing.assert_allclose(table["drop"], drops.mean(axis=1), rtol=1e-6, atol=1e-10)


@pytest.fixture
def without_gram_matrix(monkeypatch):
    """Kernels of more than a thousand observations cannot be evaluated at all pairs."""
    evaluated = DistanceKernel.block

    def block(self, X, Y, *options):
        assert min(len(X), len(Y)) <= 1000, "a Gram matrix was made"
        return evaluated(self, X, Y, *options)

    monkeypatch.setattr(DistanceKernel, "block", block)


@pytest.mark.parametrize(
    ("gram", "estimator"),
    [({"gram": "rff", "rank": 40}, "kme"), ({"gram": "nystrom", "rank": 40}, "skmse")],
)
def test_contributions_take_the_way_of_the_test(without_gram_matrix, gram, estimator):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(10_000, 3)), rng.normal((0.0, 0.2, 0.0), 1.0, size=(10_000, 3))
    result = two_sample_test(x, y, estimator=estimator, n_resamples=9, alpha=0.1, rng=0, **gram)
    table = result.contributions(n_repeats=2, rng=8)
    generator, features = np.random.default_rng(8), result.context.leading.features[0]
    moved = np.vstack([x, y])
    moved[:, 0] = generator.permutation(moved[:, 0])
    given = {
        "kernel": features,
        "estimator": estimator,
        "n_resamples": 0,
        "gram": "factor",
        "form": result.form,
    }
    changed = two_sample_test(moved[:10_000], moved[10_000:], **given).statistic
    moved[:, 0] = generator.permutation(np.vstack([x, y])[:, 0])
    other = two_sample_test(moved[:10_000], moved[10_000:], **given).statistic
    assert table["drop"][0] == pytest.approx(
        result.statistic - (changed + other) / 2.0, rel=1e-6, abs=1e-12
    )
    shares = result.effect(columns=True).shares
    assert max(shares, key=shares.get) == "1" and 0.9 < shares["1"] < 1.1
