"""Bins of rows and what one reading finds, against loops over rows."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from shrinktest import Batches, Gaussian, Linear
from shrinktest.batches.bins import Binning
from shrinktest.batches.crew import Crew
from shrinktest.batches.rows import Rows
from shrinktest.batches.survey import Survey
from shrinktest.kernels import FeatureMap
from shrinktest.kernels.feature_maps import nystrom, random_fourier

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(107, 3)), RNG.gamma(2.0, size=(64, 3))


class Mapping:
    """An executor that has nothing but `map`."""

    map = staticmethod(map)


def rows(values, name="X"):
    return Rows(Batches(values), name, None, False)


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


def test_several_features_in_one_reading():
    binning = Binning.drawn((len(X), len(Y)), 40, np.random.default_rng(1))
    asked = [random_fourier(Gaussian(1.0), 3, 10, 0), Linear(), nystrom(Gaussian(2.0), X, 20, 0)]
    together = binning.means((rows(X), rows(Y, "Y")), asked)
    for features, means in zip(asked, together, strict=True):
        assert np.array_equal(binning.means((rows(X), rows(Y, "Y")), [features])[0], means)


class Readings:
    """Counts how often it is read."""

    def __init__(self, values):
        self.values, self.count = values, 0

    def __iter__(self):
        self.count += 1
        return iter([self.values])


@pytest.mark.parametrize("largest", [1.0, 1e6, 1e30, 1e200])
def test_rows_with_larger_features_than_foreseen_are_read_again(largest):
    values = np.vstack([X, [[largest, -1.0, 0.0]]])
    read = Readings(values)
    binning = Binning.drawn((108,), 20, np.random.default_rng(1), probe=X[:5])
    (means,) = binning.means((rows(read),), [Linear()])
    places = binning.shuffles[0](np.arange(108)) // binning.size
    expected = np.array([values[places == j].mean(axis=0) for j in range(binning.bins[0])])
    assert np.allclose(means, expected, rtol=1e-9, atol=1e-14 * largest)
    assert (read.count > 1) == (largest > 1e3)
    with pytest.raises(ValueError, match="are no finite numbers"):
        Binning.drawn((107,), 20, np.random.default_rng(1)).means((rows(X),), [Infinite()])


class Infinite(FeatureMap):
    def coordinates(self, X):
        return np.full_like(X, np.inf)


@pytest.mark.parametrize("workers", [2, 3, ThreadPoolExecutor, Mapping], ids=["two", "three", "submit", "map"])
def test_whoever_reads_the_sums_are_the_same(workers):
    values = [np.array_split(one, k) for one, k in ((np.tile(X, (50, 1)), 11), (Y, 3))]
    sizes, features = (50 * len(X), len(Y)), random_fourier(Gaussian(1.0), 3, 10, 0)
    samples = rows(values[0]), rows(values[1], "Y")

    def found(crew):
        survey = Survey.of(samples, 50, np.random.default_rng(0), crew)
        assert survey.sizes == sizes
        binning = Binning.drawn(sizes, 60, np.random.default_rng(1), counts=survey.counts, crew=crew)
        return survey.sample, survey.units, binning.means(samples, [features])[0]

    crew = Crew(workers if isinstance(workers, int) else workers())
    for one, other in zip(found(Crew()), found(crew), strict=True):
        assert np.array_equal(one, other)


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


def test_moments_are_exact_before_the_root():
    wild = np.concatenate([RNG.standard_cauchy(300) ** 5, [5e-324, -1e308, 1e308, 3e-310, -0.0, 2.0**-1022]])
    for values in (wild, 1e-200 * RNG.normal(size=50), 1e16 + np.arange(9.0)):
        exact = [Fraction(one) for one in values]
        mean = sum(exact) / len(exact)
        variance = sum((one - mean) ** 2 for one in exact) / len(exact)
        for parts in ([values], np.array_split(values[::-1], 7)):
            unit = Survey.of((rows([part[:, None] for part in parts]),), 5, np.random.default_rng(0)).units[0]
            assert abs(Fraction(unit) ** 2 / variance - 1) < 1e-15


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
