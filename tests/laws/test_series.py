"""Rows in order of time: columns with the time, notes on serial correlation, and what to do about it."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from shrinktest import (
    change_point_test,
    change_points,
    closer_test,
    compare,
    equivalence_test,
    independence_matrix,
    independence_test,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.permutations.block_length import BlockLength
from shrinktest.permutations.design import PermutationDesign
from shrinktest.permutations.serial_correlation import OrderedRows, joint_correlation

# --- columns that tell the time ------------------------------------------------------------------------------------
RNG = np.random.default_rng(0)
LENGTH = 60
VALUE = RNG.normal(size=LENGTH)
MORE = {"n_resamples": 99, "rng": 0}
ROWS = np.arange(LENGTH)
DATES = pd.date_range("2020-01-01", periods=LENGTH)
CLOCKS = {
    "date": pd.Series(DATES),
    "hours": pd.Series(0.5 * ROWS),
    "years": pd.Series(1960.0 + ROWS),
    "quarters": pd.Series(2000.0 + ROWS // 4),
    "seconds": pd.Series(1.5e9 + 1800.0 * ROWS),
}
ALONE = pd.DataFrame({"v": VALUE})


def untested(result):
    return any("'t' is not tested" in note for note in result.notes)


def test_a_series_is_tested_without_the_columns_that_tell_the_time():
    tests = itertools.cycle((change_point_test, change_points))
    for (name, clock), test in zip(CLOCKS.items(), tests, strict=False):
        table = pd.DataFrame({"t": clock, "v": VALUE})
        result = test(table, **MORE)
        assert untested(result) and result.pvalue == test(ALONE, **MORE).pvalue, name
        declared = test(table, column_types={"t": "date" if name == "date" else "number"}, **MORE)
        assert declared.pvalue == 0.01 and not untested(declared), name
    few = pd.DataFrame({"t": np.sort(RNG.integers(0, 9, LENGTH)), "v": VALUE})
    assert not untested(change_point_test(few, **MORE))
    table = pd.DataFrame({"t": CLOCKS["quarters"], "v": VALUE})
    for scale in (
        {"t": 1.0, "v": "sd"},
        [1.0, "sd"],
    ):  # a column with units of its own is asked for
        assert change_point_test(table, scale=scale, **MORE).pvalue == 0.01
    assert change_point_test(table, scale="rank", **MORE).pvalue > 0.05
    assert change_point_test(table[["t"]], **MORE).pvalue == 0.01  # the time alone is tested


def test_a_clock_that_misses_cells_or_stands_beside_such_a_column_is_not_tested():
    value = pd.Series(VALUE).where(ROWS % 20 != 7)
    alone = change_point_test(ALONE, **MORE)
    for clock, policy in itertools.product(
        CLOCKS.values(), ("raise", "omit", "indicator", "propagate")
    ):
        table = pd.DataFrame({"t": clock.where(ROWS % 20 != 7), "v": VALUE})
        result = change_point_test(table, nan_policy=policy, **MORE)
        assert (
            result.n_observations == (LENGTH,)
            and untested(result)
            and result.pvalue == alone.pvalue
        )
    for clock, policy in itertools.product(CLOCKS.values(), ("omit", "indicator")):
        result = change_point_test(
            pd.DataFrame({"t": clock, "v": value}), nan_policy=policy, **MORE
        )
        without = change_point_test(pd.DataFrame({"v": value}), nan_policy=policy, **MORE)
        assert untested(result) and (result.pvalue, result.location) == (
            without.pvalue,
            without.location,
        )


def test_places_among_rows_that_are_left():
    x = np.r_[np.full(10, np.nan), VALUE + 5.0 * (ROWS >= 30)]
    result = change_point_test(x, nan_policy="omit", **MORE)
    assert result.location == 30 and any(
        "Locations count only the rows that were kept" in note for note in result.notes
    )
    assert change_point_test(x, nan_policy="omit", times=np.arange(len(x)), **MORE).when == 40
    notes = change_points(pd.Series(x), nan_policy="omit", **MORE).notes
    assert any("Locations count only the rows that were kept" in note for note in notes)
    assert not any(
        "Locations count" in note
        for note in change_point_test(VALUE, nan_policy="omit", **MORE).notes
    )


def test_series_of_one_sample_only_have_no_shifts():
    """Their labels are the same wherever they go."""
    sizes = (20, 20)
    apart = PermutationDesign(np.repeat([0, 1], sizes), block_length=BlockLength(None))
    with pytest.raises(ValueError, match="1 different permutation"):
        apart.labels(sizes, 0.05, symmetric=True)
    half = PermutationDesign(
        np.r_[np.zeros(10), np.ones(30)].astype(int), block_length=BlockLength(None)
    )
    half = half.labels(sizes, 0.05, symmetric=True)
    rows = np.array(list(half.all()))
    assert half.distinct == 30 == len(np.unique(rows, axis=0)) and (rows[:, :10] == 0).all()
    assert np.array_equal(rows[0], np.repeat([0, 1], sizes))
    whole = PermutationDesign(np.zeros(40, dtype=int), block_length=BlockLength(None)).labels(
        sizes, 0.05, symmetric=True
    )
    assert whole.distinct == 20  # half a turn exchanges the samples


# --- serial correlation --------------------------------------------------------------------------------------------
N = 120
FEW = {"n_resamples": 39, "rng": 0, "workers": 1}


def fading(seed, carried=0.8, n=N, columns=1):
    """Series in which every row carries over a share of the previous row."""
    z = np.random.default_rng(seed).normal(size=(n + 30, columns))
    for t in range(1, n + 30):
        z[t] += carried * z[t - 1]
    return z[30:]


def dated(seed, **columns):
    table = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=N)})
    return table.assign(
        **{name: fading(seed + i)[:, 0] for i, name in enumerate(columns or {"u": 0, "v": 0})}
    )


def serial_notes(result):
    """Notes on serial correlation in a result."""
    return [note for note in result.notes if note.startswith("Successive rows")]


A, B, C = (fading(seed) for seed in (1, 2, 3))
STILL = np.random.default_rng(4).normal(size=(N, 1))
MODEL = {"given": np.arange(N) % 2, "x_given_z": lambda z, rng: rng.normal(size=(len(z), 1))}
TESTS = {
    "two samples": (lambda: two_sample_test(A, B, **FEW), "of a sample", "use block_length='auto'"),
    "three samples": (lambda: k_sample_test(A, B, C, **FEW), "of a sample", "use groups="),
    "pairs": (
        lambda: two_sample_test(A, B, paired=True, **FEW),
        "of differences within pairs",
        "omit paired=True",
    ),
    "columns": (
        lambda: two_sample_test_columns(
            fading(1, columns=2), fading(2, columns=2), **FEW, method="holm", alpha=0.5
        ),
        "of a sample",
        "use groups=",
    ),
    "independence": (
        lambda: independence_test(A, B, **FEW),
        "of X and of Y",
        "use block_length='whole'",
    ),
    "joint": (
        lambda: joint_independence_test(A, np.sort(B, axis=0), C, **FEW),
        "of variables[0] and of variables[2]",
        "two variables at a time",
    ),
    "matrix": (
        lambda: independence_matrix(np.hstack([A, B]), **FEW),
        "of column 'x0' of X and of column 'x1' of X",
        "against others, Y, with block_length='whole'",
    ),
    "given": (
        lambda: independence_test(A, B, given=np.random.default_rng(0).normal(size=N), **FEW),
        "of residuals of X and of residuals of Y",
        "values to given=",
    ),
    "covariates": (
        lambda: two_sample_test(A, B, covariates=(np.arange(N) % 3, np.arange(N) % 3), **FEW),
        "of a sample",
        "values to covariates=",
    ),
    "equivalence": (
        lambda: equivalence_test(A, B, margin=0.1, measure="distance", rng=0),
        "of a sample",
        "standard errors that assume independent rows are too small: use groups=",
    ),
    "equivalence of pairs": (
        lambda: equivalence_test(A, B, margin=0.1, measure="distance", paired=True, rng=0),
        "of differences within pairs",
        "pairs that are far enough apart",
    ),
    "closer": (lambda: closer_test(A, B, C, rng=0), "of a sample", "standard errors"),
    "closer in pairs": (
        lambda: closer_test(A, B, C, paired=True, rng=0),
        "of differences between X and Z",
        "standard errors that assume independent rows are too small: use pairs that are far enough apart",
    ),
    "which depends more": (
        lambda: closer_test(A, B, C, measure="dependence", rng=0),
        "of X and of ",
        "standard errors that assume independent rows are too small: use rows that are far enough apart",
    ),
    "change": (lambda: change_point_test(A, **FEW), "of X", "use block_length='auto'"),
    "changes": (lambda: change_points(A, **FEW), "of X", "use block_length='auto'"),
}


def test_every_test_says_so_once():
    for name, (test, of_what, advice) in TESTS.items():
        notes = serial_notes(test())
        assert len(notes) == 1 and of_what in notes[0] and advice in notes[0], name


def test_none_where_rows_do_not_move_one_by_one_or_a_model_draws_them():
    for test in (
        lambda: independence_test(A, B, block_length="whole", **FEW),
        lambda: independence_test(A, B, groups=np.arange(N) // 10, alpha=0.5, **FEW),
        lambda: independence_test(A, B, lags=[0, 1], block_length="whole", n_resamples=np.inf),
        lambda: independence_matrix(A, B, block_length="whole", **FEW),
        lambda: two_sample_test(A, B, block_length="auto", **FEW),
        lambda: k_sample_test(
            A, B, C, groups=[np.arange(N) // 10 + 100 * k for k in range(3)], **FEW
        ),
        lambda: independence_test(A, B, **MODEL, **FEW),
        lambda: closer_test(A, B, C, groups=[np.arange(N) // 10 + 100 * k for k in range(3)]),
        lambda: closer_test(A + STILL, A + STILL[::-1], A - STILL, paired=True),
        lambda: closer_test(STILL, A, B, measure="dependence"),
        lambda: closer_test(A, STILL, np.roll(STILL, 5), measure="hsic"),
    ):
        assert not serial_notes(test())


def test_one_variable_without_memory_one_that_explains_it_or_an_order_by_a_variable_is_enough():
    noise, x = np.random.default_rng(9).normal(size=(N, 1)), np.linspace(0.0, 1.0, N)[:, None]
    for pair in ((A, noise), (noise, A), (x, np.sin(6.0 * x) + 0.1 * noise)):
        assert not serial_notes(independence_test(*pair, **FEW))
    level = 3.0 * fading(5, 0.95)
    x, y = (level + np.random.default_rng(seed).normal(size=(N, 1)) for seed in (6, 7))
    assert serial_notes(independence_test(x, y, **FEW)) and not serial_notes(
        independence_test(x, y, given=level, **FEW)
    )


def test_memory_within_blocks():
    """Successive persons have levels of their own, which is no serial correlation."""
    person = np.repeat(np.arange(6), N // 6)
    x, y = (3.0 * np.random.default_rng(seed).normal(size=6)[person] for seed in (0, 1))
    noise = np.random.default_rng(2).normal(size=(2, N))
    assert not serial_notes(independence_test(x + noise[0], y + noise[1], blocks=person, **FEW))
    assert serial_notes(independence_test(A, B, blocks=person, **FEW))


def test_dates_in_order_neither_hide_it_nor_are_taken_for_it():
    rng = np.random.default_rng(0)
    free = [dated(1).assign(u=rng.normal(size=N), v=rng.normal(size=N)) for _ in range(2)]
    for test in (
        lambda a, b: two_sample_test(a, b, **FEW),
        lambda a, b: two_sample_test_columns(a, b, method="holm", alpha=0.5, **FEW),
        lambda a, b: compare(a, b, **FEW),
        lambda a, b: independence_test(a[["date", "u"]], a[["v"]], **FEW),
        lambda a, b: independence_matrix(a, alpha=0.5, **FEW),
        lambda a, b: change_point_test(a, **FEW),
        lambda a, b: change_points(a, **FEW),
    ):
        assert len(serial_notes(test(dated(1), dated(5)))) == 1 and not serial_notes(test(*free))


@pytest.mark.ci
def test_how_often_it_is_found():
    """Nearly always for pairs of series with factors of .8; next to never if one or both are free."""
    counts = {
        carried: sum(
            joint_correlation(
                [OrderedRows.of([fading(2 * s + k, carried[k], 60)]) for k in (0, 1)], "xy"
            )
            is not None
            for s in range(200)
        )
        for carried in ((0.0, 0.0), (0.0, 0.8), (0.5, 0.5), (0.8, 0.8))
    }
    assert (
        counts[0.0, 0.0] == 0
        and counts[0.0, 0.8] <= 10
        and counts[0.5, 0.5] >= 100
        and counts[0.8, 0.8] >= 190
    )
