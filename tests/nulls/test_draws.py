"""Draws in step, and by compiled loops: one stream, the same numbers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from shrinktest._compiled import draws as compiled
from shrinktest.nulls import draws

SEEDS = np.random.default_rng(0).integers(0, 2**64, 50, dtype=np.uint64)


@pytest.fixture
def in_step(monkeypatch):
    """As in a process that has not loaded the compiled loops."""
    monkeypatch.setattr(draws, "_COMPILED", "not loaded")
    monkeypatch.setattr(draws, "_PATIENCE", draws._Patience())


@pytest.mark.parametrize(("size", "first"), [(1, 1), (2, 1), (17, 4), (64, 32), (65, 60), (200, 100)])
def test_subsets(in_step, monkeypatch, size, first):
    found = draws.subsets(SEEDS, size, first)
    monkeypatch.undo()
    np.testing.assert_array_equal(draws.subsets(SEEDS, size, first), found)
    assert set(found.sum(axis=1)) == {first}


@pytest.mark.parametrize("starts", [[0, 1], [0, 9], [0, 3, 3, 10], [0, 1, 2, 3], [0, 140]])
def test_permutations(in_step, monkeypatch, starts):
    found = draws.permutations(SEEDS, np.array(starts))
    monkeypatch.undo()
    np.testing.assert_array_equal(draws.permutations(SEEDS, np.array(starts)), found)
    for begin, end in pairwise(starts):
        np.testing.assert_array_equal(np.sort(found[:, begin:end]), np.tile(np.arange(begin, end), (50, 1)))


@pytest.mark.parametrize("places", [[1], [2, 3, 4], [2**31 + 1, 5, 2**31 + 12345, 3 * 2**30 + 7]])
def test_numbers_also_where_half_of_them_are_refused(places):
    places, expected = np.array(places), np.empty((50, len(places)), dtype=np.int64)
    for row, counter in zip(expected, SEEDS, strict=True):
        for s, place in enumerate(places):
            row[s], counter = compiled.below(np.uint64(counter), np.uint64(place))
    np.testing.assert_array_equal(draws.numbers(SEEDS, places), expected)
    assert (expected < places).all() and (expected >= 0).all()


@pytest.mark.parametrize("rows", [0, 1])
def test_few_rows(in_step, rows):
    assert draws.subsets(SEEDS[:rows], 7, 3).shape == (rows, 7)
    assert draws.permutations(SEEDS[:rows], np.array([0, 4, 7])).shape == (rows, 7)


def test_many_small_draws_load_the_compiled_loops(in_step, monkeypatch):
    drawn = [draws.permutations(SEEDS, np.array([0, 9])), draws.subsets(SEEDS, 9, 4)]
    assert 0.0 < draws._PATIENCE.spent < draws._LOADING and not draws._PATIENCE.ended
    draws._PATIENCE.spent = 2.0 * draws._LOADING
    for name in ("_permutations_in_step", "_subsets_in_step"):
        monkeypatch.delattr(draws, name)
    np.testing.assert_array_equal(draws.permutations(SEEDS, np.array([0, 9])), drawn[0])
    np.testing.assert_array_equal(draws.subsets(SEEDS, 9, 4), drawn[1])


def test_coins_are_fair_and_independent():
    rows = draws.coins(np.arange(5000, dtype=np.uint64), 70)
    assert set(np.unique(rows)) == {0, 1}
    assert np.abs(rows.mean(axis=0) - 0.5).max() < 4.5 * 0.5 / 5000**0.5
    assert np.abs(np.corrcoef(rows.T) - np.eye(70)).max() < 5.0 / 5000**0.5
    np.testing.assert_array_equal(draws.coins(np.arange(3, 4, dtype=np.uint64), 65), rows[3:4, :65])
