"""Sums of products for every shift, against loops over rows; pairs from one source and from two."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import naive_pairs
from shrinktest import Batches, Gaussian, Linear
from shrinktest.batches.blocks import LENGTH, Blocks, Multiplying, Whole, products_of
from shrinktest.batches.crew import Crew
from shrinktest.batches.pair_survey import PairSurvey
from shrinktest.batches.pairs import Pairs
from shrinktest.batches.summands import summands_of
from shrinktest.hypotheses.multiplied import Multiplied
from shrinktest.kernels import FeatureMap
from shrinktest.kernels.feature_maps import nystrom, random_fourier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(101, 2))
Y = 0.3 * X[:, :1] + RNG.gamma(2.0, size=(101, 3))
FEATURES = {
    "rff": (random_fourier(Gaussian(1.0), 2, 6, 0), random_fourier(Gaussian(2.0), 3, 4, 1)),
    "nystrom": (nystrom(Gaussian(1.0), X, 5, 0), nystrom(Gaussian(2.0), Y, 4, 0)),
    "linear": (Linear(), Linear()),
}


def cut(values, *sizes):
    """Batches of odd sizes, over and over."""
    ends = np.cumsum(np.resize(sizes, len(values)))
    return Batches(np.split(values, ends[ends < len(values)]))


def added(x, y, features, crew=None, *, omit=False):
    """Pairs in batches with all that is added up of them."""
    crew = crew or Crew()
    pairs = Pairs.of(x, y, ("X", "Y"), omit=omit)
    survey = PairSurvey.of(pairs, 50, np.random.default_rng(0), crew, (True, True))
    blocks = Blocks.drawn(survey.size, np.random.default_rng(1))
    maps = [
        Whole.of(summands_of(one, pairs.widths[k]), survey.sides[k].rows, survey.probe(k), blocks.bits)
        for k, one in enumerate(features)
    ]
    found, maps = products_of(pairs, blocks, maps, [(0, 1)], survey, crew)
    return blocks, maps, found, Multiplied(blocks, found, maps, ((0, 1),)).shifted(0)


@pytest.mark.parametrize("kind", FEATURES)
def test_sums_are_those_of_loops_over_rows(kind):
    features = FEATURES[kind]
    blocks, sides, _, sums = added(Batches(X), Batches(Y), features)
    assert (blocks.count, blocks.used, blocks.groups) == (12, 96, 12)
    groups = [int(blocks.group_of(np.array([i]))[0]) for i in range(12)]
    assert blocks.pairs.tolist() == [LENGTH] * 12
    assert sorted(groups) == list(range(12))
    shifts = np.vstack([np.zeros((1, 12), dtype=int), RNG.integers(LENGTH, size=(3, 12))])
    found = sums(shifts)
    for values, here in zip(found, shifts, strict=True):
        y = naive_pairs.shifted(Y, LENGTH, groups, here)
        phi, psi = features[0].coordinates(X[:96]), features[1].coordinates(y)
        assert values == pytest.approx(naive_pairs.sum_and_trace(phi, psi), rel=1e-3)
        phi, psi = (s.numbers(v)[:, :-1] * s.units[:-1] for s, v in zip(sides, (X[:96], y), strict=True))
        total, trace = naive_pairs.sum_and_trace(phi, psi)
        assert values[0] == pytest.approx(total, rel=1e-10) and values[1] == pytest.approx(trace, rel=1e-3)
    phi, psi = features[0].coordinates(X[:96]), features[1].coordinates(Y[:96])
    assert sums.traces == pytest.approx([len(z) * z.var(axis=0).sum() for z in (phi, psi)], rel=1e-3)


def test_groups_have_as_many_pairs_as_they_say():
    for rows in (101, 880, 3999):
        blocks = Blocks.drawn(rows, np.random.default_rng(rows))
        counts = np.bincount(blocks.group_of(np.arange(blocks.count)), minlength=blocks.groups)
        assert blocks.pairs.tolist() == (LENGTH * counts).tolist()


def same(one, other):
    return all(
        np.array_equal(a, b)
        for name in ("xy", "own", "sums")
        for a, b in zip(getattr(one, name), getattr(other, name), strict=True)
    )


@pytest.mark.parametrize("kind", ["rff", "nystrom"])
def test_sums_do_not_depend_on_how_rows_are_cut_or_who_reads(kind):
    x, y, features = np.tile(X, (40, 1)), np.tile(Y, (40, 1)), FEATURES[kind]
    expected = added(Batches(x), Batches(y), features)[2]
    assert expected.loose == {}
    for first, second in ((cut(x, 1, 3, 90), cut(y, 7)), (x, cut(y, 999)), (cut(x, 500), cut(y, 37, 600))):
        assert same(added(first, second, features)[2], expected)
    pool = ThreadPoolExecutor(2)
    for workers in (2, pool):
        assert same(added(cut(x, 433), cut(y, 601), features, Crew(workers))[2], expected)
    both = np.hstack([x, y])
    one = Batches(both, columns=[0, 1]), Batches(both, columns=[2, 3, 4])
    assert same(added(*one, features)[2], expected)


def test_what_goes_to_workers_has_no_rows_and_comes_back_the_same():
    x, y, features = np.tile(X, (40, 1)), np.tile(Y, (40, 1)), FEATURES["nystrom"]
    blocks, sides, expected, _ = added(Batches(x), Batches(y), features)
    reading = pickle.loads(pickle.dumps(Multiplying(blocks, (2, 3), sides, ((0, 1),))))
    assert len(pickle.dumps(reading)) < 30_000 < x.nbytes
    found, both = reading.start(0), np.hstack([x, y])
    for start, end in ((1001, 4040), (0, 13), (13, 1001)):
        part = reading.start(0)
        reading.add(part, 0, start, both[start:end])
        (part,) = reading.unpacked(reading.packed([pickle.loads(pickle.dumps(part))]))
        reading.merge(found, part)
    assert same(found, expected) and found.loose == {}


def test_pairs_with_missing_values_are_left_out_on_both_sides():
    x, y = X.copy(), Y.copy()
    x[3, 0] = y[50, 1] = y[51, 2] = np.nan
    kept = ~(np.isnan(x).any(axis=1) | np.isnan(y).any(axis=1))
    found = added(cut(x, 10), cut(y, 33), FEATURES["rff"], omit=True)[2]
    assert same(found, added(Batches(X[kept]), Batches(Y[kept]), FEATURES["rff"])[2])
    with pytest.raises(ValueError, match=r"X and Y has a missing value \(NaN\) in row 3, column 0"):
        added(Batches(x), Batches(y), FEATURES["rff"])


class Far(FeatureMap):
    """Features that the rows that are looked at do not foresee."""

    def coordinates(self, X):
        return np.where(X.max() == X, 1e6, X)


def test_larger_features_than_foreseen_are_read_again():
    y = Y[:, :1].copy()
    y[77] = 9.0 + y.max()
    blocks, sides, found, _ = added(Batches(X), Batches(y, size=8), (Linear(), Far()))
    expected = np.append(X[:96].sum(axis=0), np.square(X[:96]).sum())
    assert np.abs(found.sums[0].sum(axis=0) * sides[0].units - expected).max() < 0.01
    assert all((most < 2.0**blocks.bits).all() for most in found.most)


def test_sources_of_other_lengths():
    for x, y in ((X[:-1], Y), (cut(X[:-1], 9), cut(Y, 13))):
        with pytest.raises(ValueError, match="X has 100 rows, and Y has more; row i of both belongs together"):
            added(Batches(x.data if isinstance(x, Batches) else x), y, FEATURES["rff"])
    with pytest.raises(ValueError, match=r"Y has .* rows, and X has more"):
        added(cut(X, 9), cut(Y[:-20], 13), FEATURES["rff"])


def test_samples_of_variables_are_drawn_apart():
    """A y is in the sample of y as often where its x is in that of x as elsewhere."""
    numbers = np.arange(40.0)
    rng, together = np.random.default_rng(3), 0
    for _ in range(300):
        pairs = Pairs.of(Batches(numbers), Batches(numbers.copy()), ("X", "Y"), omit=False)
        x, y = (side.rows.ravel() for side in PairSurvey.of(pairs, 10, rng, Crew(), (False, False)).sides)
        assert len(set(x)) == len(set(y)) == 10
        together += len(set(x) & set(y))
    assert abs(together / 300 - 2.5) < 4 * (10 * 0.25 * 0.75 * 30 / 39 / 300) ** 0.5  # hypergeometric
