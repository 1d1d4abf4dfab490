"""A statistic of one's own: permutations within blocks and pairs, against all of them listed."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from shrinktest import Copies, permutation_test

RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=8)
SITE = [0, 0, 1, 1, 0, 0, 1, 1]


def gap(labels):
    """Difference of the sums of two samples, whose ties are exact enough."""
    return float(VALUES[labels == 0].sum() - VALUES[labels == 1].sum())


def product_of(order):
    """Sum of the products of values with their reordering."""
    return float(VALUES @ VALUES[order])


def share_as_large(statistic, rows):
    """p-value of the first row among all of them."""
    values = np.array([statistic(np.array(row)) for row in rows])
    return np.mean(values >= values[0] - 1e-9)


def test_pairs_swap_their_rows():
    swaps = product((0, 1), repeat=4)
    rows = [np.concatenate([swap, 1 - np.array(swap)]) for swap in swaps]
    result = permutation_test(gap, (4, 4), paired=True, alpha=0.5)
    assert "within 4 pairs" in result.summary()
    assert result.pvalue == pytest.approx(share_as_large(gap, rows))


@pytest.mark.parametrize("blocks", [SITE, [SITE[:4], SITE[4:]], np.array(list("nnssnnss"))])
def test_labels_change_places_within_blocks(blocks):
    observed = np.repeat([0, 1], 4)
    every = {tuple(row) for row in permutations(observed.tolist())}
    within = [row for row in every if sum(row[:2] + row[4:6]) == 2]
    rows = [tuple(observed), *(row for row in within if row != tuple(observed))]
    result = permutation_test(gap, (4, 4), blocks=blocks, alpha=0.5)
    assert result.pvalue == pytest.approx(share_as_large(gap, rows))
    assert "within 2 blocks" in result.summary()


def test_orders_of_one_number_stay_within_blocks():
    rows = [
        order
        for order in permutations(range(8))
        if all(SITE[place] == SITE[row] for place, row in enumerate(order))
    ]
    result = permutation_test(product_of, 8, blocks=SITE, alpha=0.5)
    assert result.pvalue == pytest.approx(share_as_large(product_of, rows))


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ((4, 5), {"paired": True}, "paired=True needs two samples of the same size"),
        (8, {"paired": True}, "paired=True needs two samples of the same size"),
        ((4, 4), {"paired": True, "blocks": SITE}, "blocks= does not apply to paired=True"),
        ((4, 4), {"blocks": SITE[:5]}, "blocks has 5 labels, and there are 8 rows"),
        ((4, 4), {"blocks": range(8)}, "can never reject"),
        (Copies(VALUES, lambda rng: VALUES + 1.0), {"blocks": SITE}, "replaces blocks="),
    ],
)
def test_designs_that_do_not_fit_are_refused(given, options, message):
    with pytest.raises(ValueError, match=message):
        permutation_test(gap, given, **options)
