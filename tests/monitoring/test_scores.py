"""Scores, encoded rows and witnesses are the formulas, learned from half A and ranked among half B."""

from __future__ import annotations

import numpy as np
import pytest

import naive_monitor as naive
from shrinktest import DriftMonitor
from shrinktest.monitoring import bets
from shrinktest.monitoring.encoder import Curved, Encoder
from shrinktest.monitoring.scores import OfLevels, OfNovelty, OfPairs, Rows, shares_of_levels
from shrinktest.monitoring.witnesses import Witnesses

NAN = float("nan")
CATEGORICAL = np.array([False, True, False])


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    x = np.column_stack(
        [rng.normal(5.0, 2.0, 30), rng.integers(0, 3, 30), rng.exponential(size=30)]
    )
    x[::5, 2] = NAN
    x[3, 1] = NAN
    return x


def test_encoded_rows(rows):
    encoder = Encoder.of(rows[:20], CATEGORICAL)
    new = np.vstack([rows, [1e300, 7.0, 0.0]])  # a level that half A has not
    expected = [naive.encoded(row, rows[:20], CATEGORICAL) for row in new]
    expected[-1][0] = 1e6
    np.testing.assert_allclose(encoder(new), expected, rtol=1e-12)


def test_curved_features(rows):
    points = Encoder.of(rows, CATEGORICAL)(rows)
    curved = Curved.of(points, np.random.default_rng(1))
    expected = [naive.curved(row, curved.frequencies, curved.phases) for row in points]
    np.testing.assert_allclose(curved(points), expected, rtol=1e-10, atol=1e-12)


def test_novelty(rows):
    points = Encoder.of(rows, CATEGORICAL)(rows)
    score = OfNovelty.of(points[:20])
    values = score(Rows(rows, points, np.empty((30, 0))))[:, 0]
    assert values == pytest.approx([naive.novelty(row, points[:20]) for row in points])


def test_levels_are_ordered_by_half_a():
    half = np.array([2.0, 2.0, 0.0, 0.0, 0.0, NAN])
    new = np.array([0.0, 1.0, 2.0, 3.0, NAN, 4.0])  # 1 and 3 are in half B alone, 4 is new
    score = OfLevels.of(0, 4, half, np.append(half, [1.0, 3.0]))
    ranks = score(Rows(new[:, None], new[:, None], np.empty((6, 0))))[:, 0]
    assert naive.order_of_levels([2, 2, 0, 0, 0, 9]) == [0, 2, 9]
    assert ranks.tolist() == [0.0, 3.0, 1.0, 3.0, 2.0, 3.0]
    assert shares_of_levels(half, 4).tolist() == [3 / 6, 2 / 6, 1 / 6]


def test_products_of_pairs(rows):
    pairs = OfPairs.of(np.array([0, 2]), np.array([5.0, 1.0]), 3)
    values = pairs(Rows(rows, rows, np.empty((30, 0))))[:, 0]
    expected = [0.0 if np.isnan(x[2]) else (x[0] - 5.0) * (x[2] - 1.0) for x in rows]
    assert values == pytest.approx(expected)


def test_witnesses_are_learned_from_earlier_rows():
    rng = np.random.default_rng(2)
    reference, stream = rng.normal(size=(12, 3)), rng.normal(0.8, 1.0, size=(70, 3))
    numbers = np.sort(rng.random(12))
    witnesses = Witnesses.of(reference + 0.1, reference, numbers, 8, curved=False, rate=False)
    evidence = witnesses.update(stream, np.full(70, 0.5), 0, reference.T.copy(), numbers)
    f = bets.tilts(12, bets.UPWARD)
    assert witnesses.stride == 32
    # the first windows end where a stride ends: rows 24 to 32, and 56 to 64
    expected = naive.witness_evidence(
        stream[24:], reference, (reference + 0.1).mean(axis=0), 8, 32, f
    )
    np.testing.assert_allclose(evidence[24:], expected, rtol=1e-10)
    assert (evidence[:32] == 0.0).all()


def test_old_witnesses_go_and_shares_depend_on_the_number_alone():
    rng = np.random.default_rng(3)
    reference, stream = rng.normal(size=(20, 2)), rng.normal(size=(32 * 12, 2))
    numbers = np.sort(rng.random(20))
    shares = []
    for scale in (1.0, 5.0):
        witnesses = Witnesses.of(reference, reference, numbers, 64, curved=False, rate=False)
        for start in range(0, len(stream), 32):
            part = scale * stream[start : start + 32]
            witnesses.update(part, np.full(32, 0.5), start, reference.T.copy(), numbers)
            shares.append(witnesses.priors[witnesses.newest] if witnesses.born else 0.0)
        assert len(witnesses.priors) == 6 and witnesses.born == 11
    assert shares[:12] == shares[12:]


def test_only_ranks_come_from_half_b():
    """Other rows in half B change no function of rows, and no bet."""
    rng = np.random.default_rng(4)
    reference = np.column_stack([rng.normal(size=(80, 2)), rng.integers(0, 3, 80)])
    kinds = {"2": "category"}
    seeds = np.random.default_rng(1).integers(2**63, size=4).tolist()
    half = np.zeros(80, dtype=bool)
    half[np.random.default_rng(seeds).permutation(80)[:40]] = True
    other = reference.copy()
    other[~half] = np.column_stack([rng.normal(3.0, 2.0, (40, 2)), rng.integers(0, 3, 40)])
    a, b = (DriftMonitor(x, column_types=kinds, rng=1)._stream for x in (reference, other))
    for first, second in zip(a.banks, b.banks, strict=True):
        assert np.array_equal(first.urns.bets, second.urns.bets)
        for name, value in vars(first.function).items():
            if name != "counts":  # for effects alone
                assert np.array_equal(value, getattr(second.function, name)), name
    assert np.array_equal(a.encoder.units, b.encoder.units)
    assert np.array_equal(a.curved.frequencies, b.curved.frequencies)
    assert all(
        np.array_equal(v.mean, w.mean) for v, w in zip(a.witnesses, b.witnesses, strict=True)
    )
