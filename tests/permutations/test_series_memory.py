"""What rows remember: correlations, lengths of stretches, and restrictions of two stretches of one series."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

import naive_memory
from naive_change import gaussian, unbiased
from shrinktest import two_sample_test
from shrinktest.permutations.design import PermutationDesign
from shrinktest.permutations.memory import Rows, lost, of_variables, stretch_length, stretches


def autoregressive(n, memory, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    for t in range(1, n):
        x[t] = memory * x[t - 1] + np.sqrt(1.0 - memory**2) * x[t]
    return x[:, None]


def test_correlation_is_found_whatever_the_means():
    x = autoregressive(2000, 0.6)
    assert Rows.of([x]).correlation == pytest.approx(0.6, abs=0.05)
    assert Rows.of([x[:1000], x[1000:] + 50.0]).correlation == pytest.approx(0.6, abs=0.06)
    assert Rows.of([np.random.default_rng(0).normal(size=(500, 3))]).remembers() is None
    assert Rows.of([x]).remembers() is not None


def beside_constants(x, columns):
    """Rows of a series (n, 1) with so many columns in all, of which the others have one value."""
    return Rows.of([np.hstack([x, np.zeros((len(x), columns - 1))])])


@pytest.mark.parametrize("columns", [1, 50])
def test_of_many_columns_more_is_asked(columns):
    """Values of every column are looked at, and their distances from the mean; of 100 rows."""
    found = [beside_constants(autoregressive(100, 0.35, seed), columns) for seed in range(30)]
    least = naive_memory.surely(100, 2 * columns)
    assert [rows.remembers() is None for rows in found] == [rows.correlation <= least for rows in found]
    assert any(0.3 < rows.correlation <= least for rows in found) and any(rows.correlation > least for rows in found)


@pytest.mark.parametrize("columns", [1, 3])
def test_of_two_variables_with_many_columns_more_is_asked(columns):
    """Of each of the two, and of the product of their correlations; of 60 rows."""
    said, expected, product = [], [], []
    for seed in range(60):
        both = [beside_constants(autoregressive(60, 0.5, 2 * seed + k), columns) for k in range(2)]
        correlations = [rows.correlation for rows in both]
        said.append(of_variables(both, "xy") is not None)
        expected.append(naive_memory.surely_both(60, correlations, [2 * columns] * 2))
        looked = all(one > np.sqrt((4.0 + 2.0 * np.log(2 * columns)) / 60) for one in correlations)
        product.append(looked and np.prod(correlations) > 0.1 and not expected[-1])
    assert said == expected and any(said) and any(product)


def test_few_values_next_to_each_other_may_be_chance_more_so_where_some_are_missing():
    values = np.zeros(40)
    values[[3, 4, 5, 20, 33]] = 1.0, 1.0, 2.0, 1.0, 3.0
    gone = np.arange(40) % 4 == 1  # among them rows 5 and 33
    rows = Rows([values[:, None]], absent=[gone[:, None]])
    assert rows._by_chance(np.array([True])) == pytest.approx(naive_memory.by_rare_values(values, ~gone, 2))
    assert Rows([values[:, None]])._by_chance(np.array([True])) == pytest.approx(
        naive_memory.by_rare_values(values, np.ones(40, dtype=bool), 2)
    )


def test_rows_that_are_sorted_by_a_column_say_nothing_of_time():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 1))
    table = np.hstack([x, x + rng.normal(size=(300, 1))])
    in_order = table[np.argsort(x[:, 0])]
    assert Rows.of([in_order]).remembers() is None and Rows.of([in_order[::-1]]).remembers() is None
    assert Rows.of([in_order[:, 1:]]).remembers() is not None  # nothing shows what they were sorted by


def test_spread_that_lasts_is_memory():
    rng = np.random.default_rng(0)
    assert Rows.of([np.repeat(rng.uniform(0.1, 3.0, 40), 50)[:, None] * rng.normal(size=(2000, 1))]).correlation > 0.2


def test_stretches_keep_nearly_all_of_the_variance():
    x = autoregressive(4000, 0.8)
    length = stretch_length("stretches", Rows.of([x[:2000], x[2000:]]))
    assert 80 <= length <= 130 and lost(0.8, length) <= 0.06
    assert stretch_length("stretches", Rows.of([x[:80], x[80:160]])) <= 25  # eight of them


def test_stretches_stay_in_their_part_and_block():
    parts = [np.zeros((5, 1)), np.zeros((4, 1))]
    assert stretches(parts, 2).tolist() == [0, 0, 1, 1, 2, 3, 3, 4, 4]
    blocks = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0])
    found = stretches(parts, 2, blocks)
    assert all(len(set(blocks[found == one])) == 1 for one in set(found))


def masks(labels_of_stretches, length, first):
    count = len(labels_of_stretches) // length
    for chosen in itertools.combinations(range(count), first // length):
        yield np.isin(np.arange(count * length) // length, chosen)


def test_stretches_by_enumeration():
    x = autoregressive(20, 0.5)
    found = two_sample_test(x[:8], x[8:], shift=4, bandwidth=1.0, n_resamples=np.inf, alpha=0.2)
    gram = gaussian(x, 1.0)
    values = [unbiased(gram, mask) for mask in masks(x, 4, 8)]
    assert found.n_resamples == 10
    assert found.pvalue == pytest.approx(np.mean(np.array(values) >= values[0] - 1e-12))


def test_circular_labels_by_enumeration():
    x = autoregressive(20, 0.5, 1)
    found = two_sample_test(x[:8], x[8:], shift="circular", bandwidth=1.0, n_resamples=np.inf, alpha=0.2)
    gram = gaussian(x, 1.0)
    values = [unbiased(gram, np.roll(np.arange(20) < 8, s)) for s in range(20)]
    assert found.pvalue == pytest.approx(np.mean(np.array(values) >= values[0] - 1e-12))
    drawn = two_sample_test(x[:8], x[8:], shift="circular", bandwidth=1.0, n_resamples=19, rng=0, alpha=0.2)
    assert set(drawn.null_distribution.round(9)) <= set(np.round(values, 9))


def test_circular_labels_of_several_series():
    x = autoregressive(24, 0.5, 2)
    blocks = (np.repeat([0, 1], 6), np.repeat([0, 1], 6))
    found = two_sample_test(x[:12], x[12:], shift="circular", blocks=blocks, n_resamples=np.inf)
    assert found.n_resamples == 72 and found.restriction == "circular shifts of 2 series"


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
    restriction = PermutationDesign(blocks=None if blocks is None else np.array(blocks), shift=True)
    found = restriction.labels(sizes, 1.0)
    labels = list(found.all())
    names = {tuple(np.unique(one, return_index=True)[1][one]) for one in labels}  # of a sample: its first row
    everything = {tuple(np.unique(one, return_index=True)[1][one]) for one in found.draw(np.random.default_rng(0), 500)}
    assert found.distinct == len(labels) == len(names) and names == everything
    assert (labels[0] == np.repeat(np.arange(len(sizes)), sizes)).all()
    assert found.distinct == distinct


def test_two_stretches_of_one_length_need_shifts_enough_to_reject():
    x = autoregressive(20, 0.5)
    with pytest.raises(ValueError, match=r"leaves 10 different permutations, so that no p-value is below 0\.1"):
        two_sample_test(x[:10], x[10:], shift="circular")


def test_note_and_remedy():
    x = autoregressive(400, 0.8)
    free = two_sample_test(x[:200], x[200:], rng=0, n_resamples=99)
    assert any("shift='stretches'" in note for note in free.notes)
    moved = two_sample_test(x[:200], x[200:], rng=0, n_resamples=99, shift="stretches")
    assert moved.pvalue > free.pvalue and not moved.notes and moved.restriction.startswith("stretches of")
    rng = np.random.default_rng(0)
    assert not two_sample_test(rng.normal(size=300), rng.normal(size=300), n_resamples=19, rng=0).notes


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"shift": "circular", "paired": True}, ValueError, "does not go with"),
        ({"shift": 3, "groups": (np.arange(30), 30 + np.arange(30))}, ValueError, "does not go with"),
        ({"shift": 0}, ValueError, "from 1 to half"),
        ({"shift": True}, TypeError, "shift must be"),
        ({"shift": "back"}, ValueError, "shift"),
        ({"shift": 28}, ValueError, "can never reject"),
    ],
)
def test_what_cannot_be(given, error, message):
    x = autoregressive(60, 0.5)
    with pytest.raises(error, match=message):
        two_sample_test(x[:30], x[30:], **given)


def test_a_column_that_counts_the_rows_tells_the_time():
    """Years, quarter by quarter, in any units: they neither hide what the rows remember nor are taken for it."""
    year = (1959 + np.arange(200) // 4)[:, None] / 7.0
    x, free = autoregressive(200, 0.8), np.random.default_rng(0).normal(size=(200, 1))
    assert Rows.of([np.hstack([year, x])]).remembers() == pytest.approx(Rows.of([x]).correlation)
    assert Rows.of([np.hstack([year, free])]).remembers() is None
    assert Rows.of([year]).remembers() is None
    halves = np.split(np.hstack([free, year, x]), 2)
    assert Rows.of(halves).remembers() == pytest.approx(Rows.of(np.split(x, 2)).correlation, abs=0.02)
    income = np.sort(np.random.default_rng(3).integers(1, 25, 200))[:, None].astype(float)  # sorted by it, at no pace
    assert Rows.of([np.hstack([income, income + x])]).remembers() is None
    grid = np.linspace(0.0, 1.0, 200)[:, None]
    assert (
        Rows.of([np.hstack([grid**2, x])]).remembers() is None
    )  # rows are sorted by what was measured, in uneven steps
    assert stretch_length("stretches", Rows.of([np.hstack([year, x])])) == stretch_length("stretches", Rows.of([x]))


def test_where_a_column_tells_the_time_sorted_ones_do_not_hide_memory():
    """Population grows all the time; without the years, rows may have been sorted by it."""
    growing = np.cumsum(np.random.default_rng(0).uniform(0.1, 1.0, 200))[:, None]
    x, year = autoregressive(200, 0.8), (1959.0 + np.arange(200) // 4)[:, None]
    assert Rows.of([np.hstack([growing, x])]).remembers() is None
    assert Rows.of([np.hstack([growing, x, year])]).remembers() is not None
    dated = SimpleNamespace(dated=np.array([False, False, True]), together=np.arange(3), beside=np.full(3, -1))
    assert Rows.of([np.hstack([growing, x, year**3])], dated).remembers() is not None
    shuffled = np.random.default_rng(1).permutation(year)
    assert Rows.of([np.hstack([growing, x, shuffled])], dated).remembers() is None
