"""Serial correlation: when there is a note, how long blocks of rows are, and tests by blocks and shifts."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import naive_permutations
from naive_change import gaussian, unbiased
from naive_tests import hsic_biased
from shrinktest import change_point_test, independence_test, k_sample_test, two_sample_test
from shrinktest.data.read import XY, read_samples
from shrinktest.permutations.block_length import BlockLength, successive_blocks
from shrinktest.permutations.design import PermutationDesign
from shrinktest.permutations.serial_correlation import (
    OrderedRows,
    joint_correlation,
    lost,
    read_block_length,
)

FEW = {"n_resamples": 19, "rng": 0, "workers": 1}


def autoregressive(n, memory, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    for t in range(1, n):
        x[t] = memory * x[t - 1] + np.sqrt(1.0 - memory**2) * x[t]
    return x[:, None]


def noted(result):
    return any(note.startswith("Successive rows") for note in result.notes)


def rows_of(*tables, policy="indicator"):
    read = read_samples(tables, XY, policy)
    return OrderedRows.of(read.values, read.encodings[0])


def test_correlation_is_the_largest_of_values_and_distances_from_the_mean():
    values = np.random.default_rng(0).normal(size=(50, 3))
    looked_at = np.hstack([values, np.abs(values - values.mean(axis=0))])
    looked_at -= looked_at.mean(axis=0)
    each = (looked_at[1:] * looked_at[:-1]).sum(axis=0) / (looked_at**2).sum(axis=0)
    assert OrderedRows.of([values]).correlation == pytest.approx(each.max())
    x = autoregressive(2000, 0.6)
    assert OrderedRows.of([x[:1000], x[1000:] + 50.0]).correlation == pytest.approx(0.6, abs=0.06)
    spread = np.repeat(np.random.default_rng(0).uniform(0.1, 3.0, 40), 50)[:, None]
    assert (
        OrderedRows.of([spread * np.random.default_rng(1).normal(size=(2000, 1))]).correlation > 0.2
    )


@pytest.mark.parametrize("columns", [1, 50])
def test_more_columns_need_more_correlation(columns):
    def beside_constants(seed, n=100, memory=0.35):
        return OrderedRows.of(
            [np.hstack([autoregressive(n, memory, seed), np.zeros((n, columns - 1))])]
        )

    least = naive_permutations.surely(100, 2 * columns)
    for seed in range(30):
        rows = beside_constants(seed)
        assert (rows.correlated("x") is not None) == (rows.correlation > least)
        both = [beside_constants(2 * seed + k, 60, 0.5) for k in range(2)]
        enough = naive_permutations.surely_both(
            60, [rows.correlation for rows in both], [2 * columns] * 2
        )
        assert (joint_correlation(both, "xy") is not None) == enough


def test_rare_values_next_to_each_other_may_be_chance():
    values = np.zeros(40)
    values[[3, 4, 5, 20, 33]] = 1.0, 1.0, 2.0, 1.0, 3.0
    missing = np.arange(40) % 4 == 1
    for gone in (missing, np.zeros(40, dtype=bool)):
        rows = OrderedRows([np.where(gone, np.nan, values)[:, None]])
        expected = naive_permutations.by_rare_values(values, ~gone, 2)
        assert rows._by_chance(np.array([True])) == pytest.approx(expected)
    rng = np.random.default_rng(1)
    rare = [
        OrderedRows.of([(rng.random((150, 30)) < 0.03) * 1.0 for _ in range(2)]) for _ in range(20)
    ]
    assert not any(rows.correlated("x") for rows in rare)
    alarms = np.zeros((200, 1))
    alarms[40:50] = alarms[120:132] = 1.0
    assert OrderedRows.of([alarms]).correlation > 0.5


@pytest.mark.parametrize("share", [0.01, 0.3, 0.6])
def test_correlation_is_that_of_pairs_that_are_there(share):
    x = np.where(
        np.random.default_rng(1).random(2000) < share, np.nan, autoregressive(2000, 0.8)[:, 0]
    )
    series = [x[:900] - np.nanmean(x[:900]), x[900:] - np.nanmean(x[900:])]
    pairs = np.concatenate([part[1:] * part[:-1] for part in series])
    expected = np.nanmean(pairs) / np.nanmean(np.concatenate(series) ** 2)
    assert rows_of(x[:900], x[900:] + 5.0).correlation == pytest.approx(expected)


@pytest.mark.parametrize("test", [two_sample_test, k_sample_test])
def test_blocks_have_their_own_means(test):
    rng, block = np.random.default_rng(2), np.repeat(np.arange(5), 20)
    level = np.array([0.0, 2.0, -1.0, 4.0, 1.0])[block]
    samples = [level + rng.normal(size=100) for _ in range(2)]
    assert noted(test(*samples, **FEW)) and not noted(test(*samples, blocks=(block, block), **FEW))


def test_sorted_rows_and_columns_that_count_them():
    rng = np.random.default_rng(0)
    x, year = autoregressive(200, 0.8), 1959.0 + np.arange(200)[:, None]
    table = np.hstack([x, x + rng.normal(size=(200, 1))])[np.argsort(x[:, 0])]
    assert OrderedRows.of([table]).correlated("x") is None and OrderedRows.of(
        [table[:, 1:]]
    ).correlated("x")
    assert OrderedRows.of([np.hstack([year, x])]).correlation == OrderedRows.of([x]).correlation
    dates = pd.to_datetime("2024-01-01") + pd.to_timedelta(
        np.cumsum(rng.integers(0, 5, size=200)), "D"
    )
    table = pd.DataFrame({"date": dates, "x": x[:, 0]})
    assert rows_of(table[:100], table[100:], policy="raise").correlation == pytest.approx(
        OrderedRows.of(np.split(x, 2)).correlation
    )


def test_blocks_keep_nearly_all_of_the_variance():
    x = autoregressive(4000, 0.8)
    length = read_block_length("auto", [OrderedRows.of([x[:2000], x[2000:]])]).rows
    assert 80 <= length <= 130 and lost(0.8, length) <= 0.06
    assert (
        read_block_length("auto", [OrderedRows.of([x[:80], x[80:160]])]).rows <= 25
    )  # eight of them
    assert "over about 89 rows" in two_sample_test(x[:2000], x[2000:], **FEW).notes[0]


def test_blocks_stay_in_their_part_and_block():
    parts = [np.zeros((5, 1)), np.zeros((4, 1))]
    assert successive_blocks(parts, 2).tolist() == [0, 0, 1, 1, 2, 3, 3, 4, 4]
    blocks = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0])
    assert successive_blocks(parts, 2, blocks).tolist() == [0, 2, 0, 2, 1, 4, 3, 4, 3]


def test_blocks_of_rows_and_shifts_by_enumeration():
    x = autoregressive(20, 0.5)
    gram, options = gaussian(x, 1.0), {"bandwidth": 1.0, "n_resamples": np.inf, "alpha": 0.2}
    labels = {
        4: [np.isin(np.arange(20) // 4, chosen) for chosen in itertools.combinations(range(5), 2)],
        "whole": [np.roll(np.arange(20) < 8, s) for s in range(20)],
    }
    for block_length, masks in labels.items():
        result = two_sample_test(x[:8], x[8:], block_length=block_length, **options)
        values = np.array([unbiased(gram, mask) for mask in masks])
        assert result.n_resamples == len(masks)
        assert result.pvalue == pytest.approx(np.mean(values >= values[0] - 1e-12))


def test_blocks_of_rows_of_one_variable_by_enumeration():
    x, y = autoregressive(20, 0.5), autoregressive(20, 0.6)
    options = {"bandwidth_x": 1.0, "bandwidth_y": 1.0, "n_resamples": np.inf, "alpha": 0.2}
    result = independence_test(x, y, block_length=5, **options)
    orders = [np.concatenate(order) for order in itertools.permutations(np.split(np.arange(20), 4))]
    values = [hsic_biased(gaussian(x, 1.0), gaussian(y[order], 1.0)) for order in orders]
    assert result.restriction == "blocks of 5 successive rows" and result.n_resamples == len(orders)
    assert result.pvalue == pytest.approx(np.mean(np.array(values) >= values[0] - 1e-12))


@pytest.mark.parametrize(
    ("sizes", "blocks", "distinct"),
    [
        ((10, 10), None, 10),
        ((10, 9), None, 19),
        ((4, 4), [0, 0, 1, 1, 0, 0, 1, 1], 8),
        ((4, 4), [0, 0, 0, 1, 0, 1, 1, 1], 16),
        ((3, 3, 3), None, 3),
        ((2, 1, 2, 1), None, 3),
    ],
)
def test_shifts_that_exchange_whole_samples_are_counted_once(sizes, blocks, distinct):
    design = PermutationDesign(
        blocks=None if blocks is None else np.array(blocks), block_length=BlockLength(None)
    )
    scheme = design.labels(sizes, 1.0, symmetric=True)
    labels = list(scheme.all())
    names = {
        tuple(np.unique(row, return_index=True)[1][row]) for row in labels
    }  # of a sample: its first row
    drawn = {
        tuple(np.unique(row, return_index=True)[1][row])
        for row in scheme.draw(np.random.default_rng(0), 500)
    }
    assert scheme.distinct == len(labels) == len(names) == distinct and names == drawn
    assert (labels[0] == np.repeat(np.arange(len(sizes)), sizes)).all()
    ordered = design.labels(sizes, 1.0, symmetric=False)
    rows = {tuple(row.tolist()) for row in ordered.all()}
    drawn = {tuple(row.tolist()) for row in ordered.draw(np.random.default_rng(0), 500)}
    assert ordered.distinct == len(rows) and rows == drawn and len(rows) >= distinct


def test_blocks_of_rows_are_the_remedy_and_short_series_have_a_note():
    x = autoregressive(400, 0.8)
    free = two_sample_test(x[:200], x[200:], rng=0, n_resamples=99)
    moved = two_sample_test(x[:200], x[200:], rng=0, n_resamples=99, block_length="auto")
    assert any("block_length='auto'" in note for note in free.notes) and not moved.notes
    assert moved.pvalue > free.pvalue and moved.restriction.startswith("blocks of")
    for n, memory, is_short in ((60, 0.95, True), (400, 0.3, False)):
        y = autoregressive(n, memory)
        for result in (
            two_sample_test(y[: n // 2], y[n // 2 :], block_length="whole", rng=0),
            change_point_test(y, block_length="whole", n_resamples=99, rng=0),
        ):
            assert any("series is too short" in note for note in result.notes) == is_short
