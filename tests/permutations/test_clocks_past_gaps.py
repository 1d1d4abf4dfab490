"""Which columns tell the time where some of their cells are missing."""

import numpy as np
import pytest

from shrinktest.permutations.memory import clocks_in

N = 120
ROWS = np.arange(N)
#: What goes up as a clock does, and what does not.
EVEN = {
    "hours": 0.1 * ROWS,
    "seconds": 1.5e9 + 1800.0 * ROWS,
    "years": (ROWS + 2) // 3 + 2000.0,
    "weeks": ROWS // 7 * 0.5,
}
RNG = np.random.default_rng(0)
OTHER = {
    "walk": np.cumsum(RNG.random(N) < 0.5) * 1.0,
    "counts": np.cumsum(RNG.poisson(1.0, size=N)) * 1.0,
    "sorted": np.sort(RNG.normal(size=N)),
    "ages": np.sort(RNG.integers(20, 70, size=N)) * 1.0,
    "bits": RNG.integers(0, 2, size=N) * 1.0,
    "down": -0.1 * ROWS,
    "one": np.ones(N),
    "again": ROWS % 24 * 1.0,
}


def with_gaps(values, share, rng):
    return np.where(rng.random(len(values)) < share, np.nan, values)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.6])
def test_missing_cells_hide_no_clock_and_make_none(share):
    rng = np.random.default_rng(1)
    for _ in range(20):
        for values in EVEN.values():
            assert [one.tolist() for one in clocks_in([with_gaps(values, share, rng)[:, None]])] == [[True], [True]]
        columns = np.column_stack([with_gaps(values, share, rng) for values in OTHER.values()])
        assert not np.any(clocks_in([columns]))


def test_every_other_cell_may_be_missing():
    values = np.where(ROWS % 2, np.nan, 0.1 * ROWS)
    assert clocks_in([values[:, None]])[1].all()
    values[N // 2] += 0.01
    assert not clocks_in([values[:, None]])[1].any()


def test_dates_go_up_whatever_their_pace():
    days = np.cumsum(RNG.integers(0, 5, size=N)).astype(float)
    days[[3, 50]] = np.nan
    dated = np.array([True])
    assert [one.tolist() for one in clocks_in([days[:, None]], dated)] == [[True], [True]]
    days[60] = 0.0
    assert [one.tolist() for one in clocks_in([days[:, None]], dated)] == [[True], [False]]


def test_few_cells_say_nothing():
    values = np.full(N, np.nan)
    assert not np.any(clocks_in([values[:, None]]))
    values[:8] = ROWS[:8]
    assert not np.any(clocks_in([values[:, None]]))
    values[8] = 8.0
    assert np.all(clocks_in([values[:, None]]))


def test_columns_without_gaps_are_read_as_ever_and_series_one_by_one():
    rng = np.random.default_rng(2)
    gaps = with_gaps(EVEN["years"], 0.1, rng)
    table = np.column_stack([EVEN["hours"], gaps, OTHER["walk"], with_gaps(OTHER["walk"], 0.1, rng)])
    for parts in ([table], np.split(table, [60])):
        assert [one.tolist() for one in clocks_in(parts)] == [[True, True, False, False]] * 2
    again = [table[:60], table[:60]]  # each from its own start
    assert clocks_in(again)[1].tolist() == [True, True, False, False]
    other = with_gaps(ROWS[:60] // 5 + 0.5 * (ROWS[:60] > 30), 0.1, rng)  # half a step too many
    assert not clocks_in([gaps[:60, None], other[:, None]])[0].any()
