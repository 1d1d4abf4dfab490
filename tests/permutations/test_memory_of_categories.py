"""Memory of categories, of rare events, and of rows in blocks: seen where it is, and not where it is not."""

import numpy as np
import pandas as pd
import pytest

from shrinktest import change_point_test, independence_test, k_sample_test, two_sample_test
from shrinktest.permutations.memory import Rows, in_blocks

FEW = {"n_resamples": 19, "rng": 0}


def cities(rng, n, levels, stay=0.0):
    """Names drawn alike, or the name of the row before with probability ``stay``."""
    codes = rng.integers(levels, size=n)
    for i in np.flatnonzero(rng.random(n) < stay):
        codes[i] = codes[i - 1]
    return pd.DataFrame({"city": pd.Categorical.from_codes(codes, [f"c{i}" for i in range(levels)])})


def noted(result):
    return any(note.startswith("Successive rows") for note in result.notes)


@pytest.mark.parametrize("stay", [0.0, 0.4])
@pytest.mark.parametrize(
    "test",
    [
        lambda x, y: two_sample_test(x, y, **FEW),
        lambda x, y: k_sample_test(x, y, x[::-1], **FEW),
        lambda x, y: independence_test(x, y, **FEW),
        lambda x, y: change_point_test(pd.concat([x, y]), confidence=None, **FEW),
    ],
    ids=["two samples", "k samples", "independence", "change"],
)
def test_categories_of_one_variable_are_looked_at_together(test, stay):
    """Of sixty names some stand twice in successive rows by chance."""
    rng = np.random.default_rng(0)
    found = [noted(test(cities(rng, 150, 60, stay), cities(rng, 150, 60, stay))) for _ in range(12)]
    assert all(found) if stay else not any(found)


def test_rare_events():
    """A few next to each other say nothing; those that last do."""
    rng = np.random.default_rng(1)
    rare = [Rows.of([(rng.random((150, 30)) < 0.03) * 1.0 for _ in range(2)]) for _ in range(20)]
    assert not any(rows.remembers() for rows in rare)
    alarms = np.zeros((200, 1))
    alarms[40:50] = alarms[120:132] = 1.0
    assert Rows.of([alarms]).remembers() > 0.5
    usual = rng.normal(size=(50, 3))
    looked_at = np.hstack([usual, np.abs(usual - usual.mean(axis=0))])
    looked_at -= looked_at.mean(axis=0)
    each = (looked_at[1:] * looked_at[:-1]).sum(axis=0) / (looked_at**2).sum(axis=0)
    assert Rows.of([usual]).correlation == pytest.approx(each.max())


@pytest.mark.parametrize("kind", [two_sample_test, k_sample_test])
def test_blocks_have_means_of_their_own(kind):
    """Rows sorted by their block are alike within it, which permutations within blocks allow for."""
    rng, block = np.random.default_rng(2), np.repeat(np.arange(5), 20)
    level = np.array([0.0, 2.0, -1.0, 4.0, 1.0])[block]
    samples = [level + rng.normal(size=100) + shift for shift in (0.0, 0.7)]
    assert noted(kind(*samples, **FEW)) and not noted(kind(*samples, blocks=(block, block), **FEW))
    drift = [level + np.cumsum(rng.normal(size=100)) for _ in range(2)]
    assert noted(kind(*drift, blocks=(block, block), **FEW))
    mixed = rng.permutation(100)
    assert not noted(change_point_test((level + rng.normal(size=100))[mixed], blocks=block[mixed], **FEW))


def test_pieces_of_series_in_blocks():
    pieces = in_blocks([np.arange(4), np.arange(4, 7)], np.array([1, 0, 1, 0, 0, 0, 2]))
    assert [piece.tolist() for piece in pieces] == [[1, 3], [0, 2], [4, 5], [6]]
    assert in_blocks([np.arange(3)], None)[0].tolist() == [0, 1, 2]
