"""Memory beside a column that tells the time, where rows are left out or values are filled."""

import numpy as np
import pandas as pd
import pytest

from shrinktest import change_point_test, closer_test, independence_test, two_sample_test

OPTIONS = {"n_resamples": 19, "rng": 0, "workers": 1}


def fading(rng, memory, n=80):
    """A series that remembers so much of the row before."""
    noise = rng.normal(size=n)
    for i in range(1, n):
        noise[i] = memory * noise[i - 1] + np.sqrt(1.0 - memory**2) * noise[i]
    return noise


def with_clock(seed, memory, missing, place="t"):
    """A table with a column that counts rows, and gaps in one of the two."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"t": np.arange(80.0), "x": fading(rng, memory)})
    table.loc[rng.permutation(80)[:missing], place] = np.nan
    return table


def says(result):
    """Whether the result speaks of memory."""
    return any(note.startswith("Successive rows") for note in result.notes)


@pytest.mark.parametrize("policy", ["omit", "indicator"])
@pytest.mark.parametrize("place", ["t", "x"])
def test_of_samples(policy, place):
    """A clock is one also where rows, or values, are missing: of rows with memory there is a note, of others none."""
    for memory in (0.7, 0.0):
        for seed in range(5):
            pair = [with_clock(2 * seed + k, memory, 8, place) for k in (0, 1)]
            result = two_sample_test(*pair, nan_policy=policy, column_types={"t": "number"}, **OPTIONS)
            assert says(result) == (memory > 0.0)


def test_of_samples_in_blocks():
    """Every block has a clock of its own."""
    for memory in (0.8, 0.0):
        pair = [with_clock(k, memory, 8).assign(t=lambda table: table["t"] % 40) for k in (0, 1)]
        said = {"blocks": [np.arange(80) // 40] * 2, "column_types": {"t": "number"}}
        assert says(two_sample_test(*pair, nan_policy="omit", **said, **OPTIONS)) == (memory > 0.0)


def test_of_variables():
    """The same of two variables, one with a clock beside it."""
    for memory in (0.85, 0.0):
        x, y = with_clock(0, memory, 8, "x"), fading(np.random.default_rng(1), memory)
        assert says(independence_test(x, y, nan_policy="omit", **OPTIONS)) == (memory > 0.0)


def test_of_distances_between_samples():
    """The same of samples of which one is nearer."""
    tables = [with_clock(k, 0.8, 8) for k in range(3)]
    assert says(closer_test(*tables, nan_policy="omit", column_types={"t": "number"}))


def test_of_a_series():
    """A clock that is tested, by itself and in parts of the series, is one where rows are left out."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([np.arange(80.0), fading(rng, 0.7)])
    rows[rng.permutation(80)[:8], 1] = np.nan
    assert says(change_point_test(rows, nan_policy="omit", **OPTIONS))
