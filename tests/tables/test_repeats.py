"""Repeats: samples with the same rows, copies of rows, and columns that name units; ordinary data get no note."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from _ci import some_wait
from shrinktest import compare, k_sample_test, two_sample_test, two_sample_test_columns
from shrinktest.notes import has_code

FEW = {"n_resamples": 19, "rng": 0}
CODES = ("same-rows", "repeated-rows", "unit-columns")
TESTS = [two_sample_test, two_sample_test_columns, k_sample_test, compare]
NAMES = {two_sample_test: ("X", "Y"), two_sample_test_columns: ("X", "Y"), compare: ("A", "B")}


def repeats(test, *samples, **options):
    """Notes on repeats, by their codes."""
    notes = test(*samples, **FEW, **options).notes
    return {text.code: str(text) for text in notes if has_code(text, *CODES)}


def shuffled(table, seed=0):
    return table.sample(frac=1.0, random_state=seed).reset_index(drop=True)


def as_table(values):
    return pd.DataFrame(values, columns=[f"c{j}" for j in range(values.shape[1])])


# --- samples that hold the same rows ------------------------------------------------------------------------

WHOLE = as_table(np.random.default_rng(0).integers(0, 5, size=(40, 2)))
FLAGS = pd.DataFrame({"flag": np.random.default_rng(1).random(60) < 0.4})
LEVELS = pd.DataFrame({"site": np.random.default_rng(2).choice(list("abcd"), 60)})
ROUNDED = as_table(np.random.default_rng(3).normal(size=(60, 1)).round(1))


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize(
    "table", [WHOLE, FLAGS, LEVELS, ROUNDED], ids=["whole", "flags", "categories", "rounded"]
)
def test_equal_tables_are_pointed_out(table, test):
    first, second = NAMES.get(test, ("samples[0]", "samples[1]"))
    expected = (
        f"{first} and {second} contain the same rows; pass data that were observed separately."
    )
    assert repeats(test, table, table.copy()) == {"same-rows": expected}


def test_equal_rows_in_another_order_and_one_pair_of_three_samples():
    assert "same-rows" in repeats(two_sample_test, WHOLE, shuffled(WHOLE))
    other = as_table(np.random.default_rng(9).integers(0, 5, size=(40, 2)))
    expected = (
        "samples[0] and samples[2] contain the same rows; pass data that were observed separately."
    )
    assert repeats(k_sample_test, WHOLE, other, WHOLE)["same-rows"] == expected


@pytest.mark.parametrize("rows", [4, 10])
def test_a_few_flags_are_equal_by_chance(rows):
    flags = pd.DataFrame({"flag": np.arange(rows) % 2 == 0})
    assert repeats(two_sample_test, flags, shuffled(flags)) == {}


# --- rows that occur more than once -------------------------------------------------------------------------


def resampled(seed, columns, size=400, rows=100, spread=1.0):
    """A sample, rows of a simulation drawn by weights, and the simulation."""
    rng = np.random.default_rng(seed)
    simulated, weights = rng.normal(size=(size, columns)), np.exp(spread * rng.normal(size=size))
    drawn = simulated[rng.choice(size, rows, p=weights / weights.sum())]
    return rng.normal(size=(rows, columns)), drawn, simulated


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "change",
    [
        lambda v: v,
        lambda v: v.round(4),
        as_table,
        lambda v: as_table(v).assign(site=np.where(v[:, 0] > 0, "a", "b")),
    ],
    ids=["array", "rounded", "table", "mixed"],
)
@pytest.mark.parametrize("columns", [1, 2, 4])
def test_rows_drawn_by_weights_are_pointed_out(columns, change, seed):
    X, Y, simulated = resampled(seed, columns)
    counts = pd.DataFrame(change(Y)).value_counts()
    share = counts[counts > 1].sum() / len(Y)
    start = (
        f"{share:.0%} of the rows of Y occur more than once, although the values look continuous."
    )
    for first in (X, simulated):
        assert repeats(two_sample_test, change(first), change(Y))["repeated-rows"].startswith(start)


@pytest.mark.parametrize("test", [two_sample_test_columns, k_sample_test, compare])
def test_other_tests_point_them_out_too(test):
    X, Y, _ = resampled(0, 2)
    assert "repeated-rows" in repeats(test, as_table(X), as_table(Y))


def test_rows_drawn_from_one_pool_are_exchangeable():
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(80, 2))
    X, Y = pool[rng.integers(80, size=(2, 100))]
    assert repeats(two_sample_test, X, Y) == {}


def test_permuting_copies_as_groups_needs_no_note():
    X, Y, _ = resampled(0, 2)
    copies = np.unique(Y, axis=0, return_inverse=True)[1].reshape(-1)
    assert repeats(two_sample_test, X, Y, groups=(-1 - np.arange(len(X)), copies)) == {}


# --- columns that name units --------------------------------------------------------------------------------


def visits(seed, names, patients=20, missed=0.0):
    """Five visits of each patient in two samples, with values that differ between patients."""
    rng = np.random.default_rng(seed)
    numbers = np.arange(2 * patients) if names == "sorted" else rng.permutation(2 * patients)
    tables = []
    for own in np.split(numbers, 2):
        patient = np.repeat(own, 5)
        values = np.repeat(rng.normal(size=patients), 5) + 0.5 * rng.normal(size=5 * patients)
        table = pd.DataFrame({"patient": patient, "value": values})
        if names == "text":
            table["patient"] = [f"p{number}" for number in patient]
        if names == "age":
            table["patient"] = np.repeat(rng.normal(50.0, 10.0, size=patients), 5).round(2)
        tables.append(table[rng.random(len(table)) >= missed])
    return tables


UNITS = (
    "Values of column 'patient' repeat within each of X and Y but never occur in more than one of them. If rows "
    "with the same value belong together, such as the visits of a patient, use it as groups=."
)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("missed", [0.0, 0.15], ids=["all", "some missed"])
@pytest.mark.parametrize("names", ["numbers", "sorted", "text", "age"])
def test_units_are_pointed_out_in_any_order_of_rows(names, missed, seed):
    tables = visits(seed, names, missed=missed)
    assert repeats(two_sample_test, *tables) == {"unit-columns": UNITS}
    assert repeats(two_sample_test, *map(shuffled, tables)) == {"unit-columns": UNITS}
    groups = tuple(table["patient"] for table in tables)
    assert repeats(two_sample_test, *tables, groups=groups) == {}


@pytest.mark.parametrize("test", [two_sample_test_columns, k_sample_test, compare])
@pytest.mark.parametrize("names", ["numbers", "sorted", "text"])
def test_other_tests_point_out_units_too(names, test):
    assert "column 'patient'" in repeats(test, *map(shuffled, visits(0, names)))["unit-columns"]


def test_units_in_arrays_and_several_columns():
    tables = [
        table.assign(birth=1900.0 + table["patient"] * 1.37) for table in visits(0, "numbers")
    ]
    assert (
        "Values of columns 'patient', 'birth' repeat"
        in repeats(two_sample_test, *tables)["unit-columns"]
    )
    arrays = [table.to_numpy() for table in tables]
    assert "Values of columns 0, 2 repeat" in repeats(two_sample_test, *arrays)["unit-columns"]


# --- ordinary data ------------------------------------------------------------------------------------------


def standardized(values):
    return (values - values.mean()) / values.std()


ORDINARY = {
    "normal": lambda rng, n, by: rng.normal(by, 1.0, n),
    "rounded": lambda rng, n, by: rng.normal(5.0 + by, 1.0, n).round(1),
    "zeros": lambda rng, n, by: np.where(rng.random(n) < 0.4, 0.0, rng.lognormal(by, 1.0, n)),
    "limit": lambda rng, n, by: np.minimum(rng.exponential(np.exp(by), n), 1.234567891),
    "single": lambda rng, n, by: rng.normal(by, 1.0, n).astype(np.float32),
    "counts": lambda rng, n, by: rng.poisson(3.0 * np.exp(by), n),
    "logarithms of counts": lambda rng, n, by: np.log1p(rng.poisson(8.0 * np.exp(by), n)),
    "counts in units of each sample": lambda rng, n, by: standardized(
        rng.poisson(5.0 * np.exp(by), n)
    ),
    "incomes": lambda rng, n, by: rng.lognormal(10.0 + by, 0.5, n) // 1000 * 1000,
    "proportions": lambda rng, n, by: rng.binomial(30, 0.4, n) / 30,
    "years": lambda rng, n, by: 2000 + rng.integers(0, 10, n) + int(10 * by),
    "categories": lambda rng, n, by: rng.choice([f"city{k}" for k in range(20)], n),
    "dates": lambda rng, n, by: (
        pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 60, n) + int(60 * by), "D")
    ),
}


@pytest.mark.parametrize("shift", some_wait([0.0, 1.0, 3.0], [0.0, 3.0]))
@pytest.mark.parametrize("kind", ORDINARY)
def test_ordinary_data_get_no_note(kind, shift):
    rng = np.random.default_rng([len(kind), int(shift)])
    for sizes in ((50, 50), (30, 150)):
        tables = [
            pd.DataFrame({"value": ORDINARY[kind](rng, n, by), "other": rng.integers(0, 4, n)})
            for n, by in zip(sizes, (0.0, shift), strict=True)
        ]
        assert repeats(two_sample_test, *tables, bandwidth=1.0) == {}
        assert (
            repeats(two_sample_test, *(table[["value"]] for table in tables), bandwidth=1.0) == {}
        )
