"""Urns: fair bets in every path, the same numbers as counted by hand, and the same bits in every way of computing."""

from __future__ import annotations

import itertools

import numba
import numpy as np
import pytest

import naive_monitor as naive
from shrinktest._machine_code import always
from shrinktest.monitoring import bets, starts
from shrinktest.monitoring.urn import Urns, projected


def tilted(size):
    return bets.tilts(size, bets.SHIFTS, bets.SPREADS)


def urns_of(reference, ties, rate=False):
    urns = Urns.of(np.asarray(reference)[:, None], np.asarray(ties), tilted(len(reference)))

    def update(scores, numbers, first=0):
        rows = first + np.arange(len(scores))
        begin = np.ones(len(rows)) if rate else starts.weights(rows)
        later = np.zeros(len(rows)) if rate else starts.remaining(rows)
        scores = np.asarray(scores, dtype=float)[:, None]
        return urns.update(scores, np.asarray(numbers), rows, begin, later)

    return urns, update


def of_path(path, size, rate=False):
    """Evidence and changes when the cells are this path: references are 1, 2, ..., and scores between them."""
    _, update = urns_of(np.arange(1.0, size + 1.0), np.full(size, 0.5), rate)
    evidence, changes = update(np.array(path) + 0.5, np.full(len(path), 0.5))
    return evidence[:, 0], changes[:, 0]


def test_bets_are_ratios_of_densities():
    np.testing.assert_allclose(tilted(7), naive.tilts(7), rtol=1e-12)


@pytest.mark.parametrize(("size", "rows"), [(3, 5), (2, 6)])
def test_evidence_has_mean_one_over_all_paths(size, rows):
    mean = np.zeros(rows)
    above = {2.0: 0.0, 5.0: 0.0}
    for path in itertools.product(range(size + 1), repeat=rows):
        p = naive.probability(path, size + 1)
        evidence, _ = of_path(path, size)
        mean += p * evidence
        for level in above:
            above[level] += p * (evidence.max() >= level)
    np.testing.assert_allclose(mean, 1.0, rtol=1e-12)
    assert all(share <= 1.0 / level for level, share in above.items())


def test_sum_over_starts_has_mean_t_over_all_paths():
    mean = np.zeros(5)
    for path in itertools.product(range(4), repeat=5):
        mean += naive.probability(path, 4) * of_path(path, 3, rate=True)[0]
    np.testing.assert_allclose(mean, np.arange(1.0, 6.0), rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_evidence_and_change_as_counted(seed):
    path = np.random.default_rng(seed).integers(0, 6, size=12).tolist()
    f = naive.tilts(5)
    evidence, changes = of_path(path, 5)
    rate, _ = of_path(path, 5, rate=True)
    for t in range(1, 13):
        assert evidence[t - 1] == pytest.approx(naive.evidence(path[:t], f), rel=1e-12)
        assert rate[t - 1] == pytest.approx(naive.run_evidence(path[:t], f), rel=1e-12)
        assert changes[t - 1] == naive.change(path[:t], f)


def test_cells_break_ties_by_uniform_numbers(monkeypatch):
    rng = np.random.default_rng(0)
    reference = rng.integers(0, 3, size=9).astype(float)
    ties = rng.random(9)
    scores = rng.integers(-1, 4, size=30).astype(float)
    numbers = rng.random(30)
    for compiled in (False, True):
        urns, _ = urns_of(reference, ties)
        cells = np.empty((30, 1), dtype=np.int64)
        with always(compiled=compiled and not numba.config.DISABLE_JIT):
            from shrinktest.monitoring.urn import _loop

            _loop("cells", 30)(scores[:, None], numbers, urns.values, urns.numbers, cells)
        pairs = zip(scores, numbers, strict=True)
        assert cells[:, 0].tolist() == [naive.cell(reference, ties, *pair) for pair in pairs]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled here")
def test_compiled_loops_have_the_same_bits():
    rng = np.random.default_rng(1)
    answers = []
    for compiled in (False, True):
        with always(compiled=compiled):
            urns, update = urns_of(rng.normal(size=20) * 0.0 + np.arange(20), np.full(20, 0.5))
            answers.append((*update(np.arange(200) % 23 + 0.3, np.full(200, 0.5)), urns.runs))
            points = np.random.default_rng(2).normal(size=(40, 7))
            answers[-1] += (projected(points, points[:7, :3].copy()),)
    for plain, fast in zip(*answers, strict=True):
        assert np.array_equal(plain, fast)


def test_cut_into_batches_changes_no_bit():
    scores = np.random.default_rng(3).normal(size=60)
    ties = np.full(60, 0.5)
    reference = np.linspace(-2.0, 2.0, 11)
    at_once = urns_of(reference, ties[:11])[1](scores, ties)[0]
    _, update = urns_of(reference, ties[:11])
    parts = [update(scores[i : i + 7], ties[i : i + 7], i)[0] for i in range(0, 60, 7)]
    assert np.array_equal(at_once, np.concatenate(parts))


def test_odds_of_levels_are_changed_in_their_cells():
    shares = np.array([0.5, 0.3, 0.2])
    f = bets.odds(9, shares)  # ten cells: five, three, two
    assert f[:, 0].tolist() == [0.25] * 5 + [1.0] * 5
    assert f[:, 1].tolist() == [1.0] * 5 + [0.25] * 3 + [1.0] * 2
    assert (f > 0.0).all() and f.shape == (10, 3 * len(bets.ODDS) + 2 * len(bets.RARE))


def test_prior_weights_sum_to_one():
    rows = np.arange(100_000.0)
    assert starts.weights(rows).sum() + starts.remaining(rows)[-1] == pytest.approx(1.0, abs=1e-9)
    assert starts.weights(rows)[0] == pytest.approx(starts.FIRST)
    assert (np.diff(starts.weights(rows)[1:]) < 0.0).all()
    shares = [starts.share_of_witness(k) for k in range(10_000)]
    assert 0.75 < sum(shares) < 1.0
    assert min(shares) > 0.0


def test_ever_alarms_in_urns_stay_below_the_level():
    """Cells of 200 rows after 25 reference rows, drawn from the urn itself."""
    rng = np.random.default_rng(5)
    reference = np.arange(1.0, 26.0)
    alarms = 0
    for _ in range(300):
        cells = []
        for t in range(200):
            place = int(rng.integers(26 + t))
            cells.append(place if place < 26 else cells[place - 26])
        evidence, _ = urns_of(reference, np.full(25, 0.5))[1](
            np.array(cells) + 0.5, np.full(200, 0.5)
        )
        alarms += evidence.max() >= 20.0
    assert alarms <= 24  # binomial(300, .05): above with probability .01
