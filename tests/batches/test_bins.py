"""Bins of rows and what one reading finds, against loops over rows."""

import numpy as np
import pytest
from scipy import stats

from shrinktest import Batches, Gaussian, Laplacian, Linear
from shrinktest.batches.bins import Binning
from shrinktest.batches.blocks import Rows
from shrinktest.batches.survey import Survey
from shrinktest.batches.waves import quick
from shrinktest.kernels.finite_rank import random_fourier

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(107, 3)), RNG.gamma(2.0, size=(64, 3))


def rows(values, name="X"):
    return Rows(Batches(values), name, None, False)


@pytest.mark.parametrize("kernel", [Gaussian(1.3), Gaussian((0.5, 1.0, 2.0)), Laplacian(0.7), 2.0 * Gaussian(3.0)])
def test_quick_features_are_the_features(kernel):
    plain = random_fourier(kernel, 3, 51, 0)
    far = np.vstack([X, 1e3 * X, [[np.pi, 0.0, 0.0], [0.0, 0.0, 0.0], [1e9, -1e9, 0.0]]])
    assert np.allclose(quick(plain).coordinates(far), plain.coordinates(far), rtol=0.0, atol=1e-13)
    assert type(quick(plain)) is not type(plain) and quick(Linear()) == Linear()


@pytest.mark.parametrize("bins", [20, 40, 1000])
def test_bin_means_are_those_of_a_loop_over_rows(bins):
    binning = Binning.drawn((len(X), len(Y)), bins, np.random.default_rng(1))
    features = random_fourier(Gaussian(1.0), 3, 10, 0)
    expected = []
    for values, shuffled in zip((X, Y), binning.shuffles, strict=True):
        members = {}
        for i, row in enumerate(values):
            place = int(shuffled(np.array([i]))[0])
            members.setdefault(place // binning.size, []).append(features.coordinates(row[None])[0])
        whole = sorted(j for j, found in members.items() if len(found) == binning.size)
        assert whole == list(range(len(values) // binning.size))
        expected += [np.mean(members[j], axis=0) for j in whole]
    (means,) = binning.means((rows(X), rows(Y, "Y")), [features])
    assert np.allclose(means, expected, rtol=0.0, atol=1e-14)


def test_numbers_of_bins():
    def size_and_bins(sizes, bins):
        found = Binning.drawn(sizes, bins, np.random.default_rng(0))
        return found.size, found.bins, found.used

    assert size_and_bins((1_000_000, 1_000_000), 2000) == (1000, (1000, 1000), (1_000_000, 1_000_000))
    assert size_and_bins((1_000_003, 500_000), 2000) == (751, (1331, 665), (999_581, 499_415))
    assert size_and_bins((100, 50), 2000) == (1, (100, 50), (100, 50))  # rows themselves
    assert size_and_bins((1_000_000, 1000), 2000) == (50, (20_000, 20), (1_000_000, 1000))  # 20 of the smaller
    assert size_and_bins((1000, 5), 20) == (1, (1000, 5), (1000, 5))


class Changing:
    """Gives other rows when it is read again."""

    def __init__(self, *readings):
        self.readings = list(readings)

    def __iter__(self):
        return iter([self.readings.pop(0)])


@pytest.mark.parametrize(("second", "said"), [(X[:-1], "and 106 the second time"), (np.vstack([X, X]), "and more")])
def test_rows_that_change_between_readings_are_an_error(second, said):
    binning = Binning.drawn((len(X),), 20, np.random.default_rng(1))
    with pytest.raises(ValueError, match=f"X had 107 rows when it was read first, {said}.*the same rows"):
        binning.means((rows(Changing(second)),), [Linear()])


def test_survey_counts_and_measures_all_rows():
    found = Survey.of((rows(X), rows(Y, "Y")), 50, np.random.default_rng(0))
    pooled = np.vstack([X, Y])
    assert found.sizes == (107, 64) and found.omitted == (0, 0) and not found.constant.any()
    assert np.allclose(found.units, pooled.std(axis=0), rtol=1e-13)
    assert found.sample.shape == (50, 3) and np.unique(found.sample, axis=0).shape == (50, 3)
    assert {tuple(row) for row in found.sample} <= {tuple(row) for row in pooled}


def test_units_of_columns_that_do_not_vary_or_lie_far_from_zero():
    values = np.column_stack([np.full(40_000, 0.1), 1e8 + np.arange(40_000) % 2])
    found = Survey.of((rows(values),), 5, np.random.default_rng(0))
    assert found.constant.tolist() == [True, False] and found.units.tolist() == pytest.approx([1.0, 0.5], rel=1e-7)


def test_every_row_is_as_likely_to_be_drawn():
    values = np.arange(30.0)[:, None]
    rng = np.random.default_rng(5)
    counts = np.zeros(30)
    first = np.zeros(30)
    for _ in range(1500):
        drawn = Survey.of((rows(values[:12]), rows(values[12:], "Y")), 6, rng).sample[:, 0].astype(int)
        counts[drawn] += 1
        first[drawn[0]] += 1
    assert stats.chisquare(counts).pvalue > 1e-3 and stats.chisquare(first).pvalue > 1e-3


def test_samples_without_rows_or_with_other_columns():
    with pytest.raises(ValueError, match="Y has 1 row; a sample needs at least 2"):
        Survey.of((rows(X), rows(Y[:1], "Y")), 5, np.random.default_rng(0))
    with pytest.raises(ValueError, match="X has 0 rows; a sample needs at least 2"):
        Survey.of((rows([]),), 5, np.random.default_rng(0))
    with pytest.raises(ValueError, match="Y has 2 columns, and X has 3; samples must have the same columns"):
        Survey.of((rows(X), rows(Y[:, :2], "Y")), 5, np.random.default_rng(0))
