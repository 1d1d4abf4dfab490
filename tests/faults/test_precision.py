"""Numbers that were shortened, subtracted or measured in nanoseconds on their way are what they stand for."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shrinktest import (
    Batches,
    change_point_test,
    closer_test,
    compare,
    independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest._rounding import merged

RNG = np.random.default_rng(3)
K1, K2, K3 = RNG.integers(1, 5, size=(3, 60))
FEW = {"n_resamples": 99, "rng": 0, "workers": 1}
SOURCE = np.repeat([0.0, 1.0], 60)


def single(values):
    """Numbers in single precision that arrive in double precision."""
    return values.astype(np.float32).astype(float)


#: A call with a sample X and a sample Y, by what it tests.
CALLS = {
    "two samples": lambda x, y: two_sample_test(x, y, **FEW).pvalue,
    "ranks": lambda x, y: two_sample_test(x, y, scale="rank", **FEW).pvalue,
    "auto": lambda x, y: two_sample_test(x, y, estimator="auto", **FEW).pvalue,
    "tables": lambda x, y: (
        two_sample_test(pd.DataFrame({"x": x}), pd.DataFrame({"x": y}), **FEW).pvalue
    ),
    "columns": lambda x, y: two_sample_test_columns(x, y, estimator="auto", **FEW).pvalue,
    "effect": lambda x, y: two_sample_test(x, y, **FEW).effect().auc,
    "k samples": lambda x, y: k_sample_test(x, y, K3 / 10, estimator="auto", **FEW).pvalue,
    "source and value": lambda x, y: (
        independence_test(SOURCE, np.append(x, y), estimator="auto", **FEW).pvalue
    ),
    "change": lambda x, y: (
        change_point_test(np.append(x, y), scale="rank", confidence=None, **FEW).pvalue
    ),
    "closer": lambda x, y: closer_test(K3 / 10, x, y).pvalue,
}

#: Two samples as they arrive, and as they were.
SHORTENED = {
    "sums": (single(3.0 * single(K1 / 10)), single(K2 * 3 / 10), K1 * 3 / 10, K2 * 3 / 10),
    "tenths": (single(K1 / 10), K2 / 10, K1 / 10, K2 / 10),
    "hundredths, the other sample": (K1 / 100, single(K2 / 100), K1 / 100, K2 / 100),
    "sevenths": (single(K1 / 7), K2 / 7, K1 / 7, K2 / 7),
    "half of a sample": (np.where(K3 > 2, single(K1 / 10), K1 / 10), K2 / 10, K1 / 10, K2 / 10),
}
ZEROS = np.where(K1 > 2, 0.0, K1), np.where(K2 > 2, 0.0, K2)
SUBTRACTED = {
    "remainders of tenths": (ZEROS[0], np.where(K2 > 2, 0.1 + 0.2 - 0.3, K2), *ZEROS),
    "less than 0": (ZEROS[0], np.where(K2 > 2, 1.0 - 0.9 - 0.1, K2), *ZEROS),
    "percentages": (np.where(K1 > 2, 100.0 * 1.1 - 110.0, K1), ZEROS[1], *ZEROS),
    "tens": (
        np.where(K1 > 2, 11.0 + 22.3 - 33.3, 10.0 * K1),
        10.0 * ZEROS[1],
        10.0 * ZEROS[0],
        10.0 * ZEROS[1],
    ),
}
CASES = SHORTENED | SUBTRACTED


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("case", CASES)
def test_samples_are_what_they_were(case, call):
    x, y, before_x, before_y = CASES[case]
    assert CALLS[call](x, y) == pytest.approx(CALLS[call](before_x, before_y), rel=1e-4)


def test_nothing_but_a_remainder_is_nothing():
    nothing, remainder = np.zeros(60), np.full(60, 0.1 + 0.2 - 0.3)
    reason = two_sample_test_columns(
        pd.DataFrame({"x": nothing, "k": K1}), pd.DataFrame({"x": remainder, "k": K2}), **FEW
    ).table.set_index("column")["reason"]
    assert reason["x"] == "it has the same value in every row"


@pytest.mark.parametrize(
    "values",
    [
        RNG.normal(size=(40, 2)),
        RNG.normal(size=(40, 2))
        * np.array([1e-18, 1e18]),  # small numbers and large ones are not remainders
        np.exp(20.0 * RNG.normal(size=(40, 2))),
        RNG.integers(0, 9, size=(40, 2)) * 1.602176634e-19,
        RNG.integers(0, 2**40, size=(40, 2)).astype(float),
        RNG.integers(0, 9, size=(40, 2)) / 8,
        RNG.integers(0, 999, size=(40, 2)) / 100,
        np.append(RNG.integers(0, 9, size=38) / 2, [1e20, 1e20])[:, None],
        0.5 ** np.arange(40.0)[:, None],
        np.append(RNG.normal(size=38), [0.5, 0.30000001192092896])[:, None],
    ],
    ids=[
        "normal",
        "units",
        "heavy tails",
        "charges",
        "large integers",
        "eighths",
        "hundredths",
        "a fill value",
        "dilutions",
        "by chance",
    ],
)
def test_other_numbers_stay_as_they_are(values):
    assert np.array_equal(merged(values), values)


@pytest.mark.parametrize(
    "order", [np.arange(120), np.random.default_rng(1).permutation(120)], ids=["as is", "mixed"]
)
def test_labels_have_no_part_in_it(order):
    pooled = np.append(single(K1 / 10), K2 / 10)[:, None]
    assert np.array_equal(merged(pooled[order]), merged(pooled)[order])


@pytest.mark.parametrize(
    "options",
    [{}, {"scale": "rank"}, pytest.param({"estimator": "auto"}, marks=pytest.mark.ci)],
    ids=["plain", "ranks", "auto"],
)
@pytest.mark.parametrize(
    "wrap", [lambda x: x[:, None], lambda x: pd.DataFrame({"x": x})], ids=["array", "table"]
)
def test_rows_on_disk_are_what_they_were(wrap, options):
    x, y = RNG.integers(1, 5, size=(2, 3000)) / 10

    def pvalue(first):
        samples = (Batches([wrap(part) for part in np.split(sample, 2)]) for sample in (first, y))
        result = two_sample_test(
            *samples, gram="nystrom", rank=20, max_memory=2e5, **FEW, **options
        )
        return result.pvalue

    assert pvalue(x.astype(np.float32)) == pvalue(single(x)) == pvalue(x)


LIBRARIES = {
    "pandas": lambda table: table,
    "polars": pl.from_pandas,
    "arrow": lambda table: pa.Table.from_pandas(table, preserve_index=False),
}
MOMENT = np.datetime64("2024-01-01T08:00:00", "ns")


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("start", [np.timedelta64(0, "ns"), MOMENT], ids=["durations", "dates"])
@pytest.mark.parametrize("unit", [1, 100])
def test_nanoseconds_are_told_apart(library, start, unit):
    nanoseconds = np.timedelta64(unit, "ns")
    x, y = (pd.DataFrame({"t": start + low * nanoseconds + nanoseconds * K1}) for low in (100, 500))
    numbers = two_sample_test(100.0 + K1, 500.0 + K1, **FEW)
    result = two_sample_test(*map(LIBRARIES[library], (x, y)), **FEW)
    assert result.pvalue == numbers.pvalue == 0.01


def test_dates_beyond_the_range_of_nanoseconds_stay():
    moments = pd.Series(MOMENT + np.timedelta64(100, "ns") * K1)
    last = pd.Series(np.full(60, np.datetime64("9999-12-31", "us")))
    result = compare(pd.DataFrame({"t": moments}), pd.DataFrame({"t": last}), **FEW)
    assert "9999-12-31" in result.summary()


def test_dates_in_nanoseconds_are_ordered():
    first, second = (
        pd.DataFrame({"t": MOMENT + np.timedelta64(100, "ns") * (2 * K1 + more)}) for more in (0, 1)
    )
    assert (
        two_sample_test(first, second, **FEW).effect().auc
        == two_sample_test(2.0 * K1, 2.0 * K1 + 1, **FEW).effect().auc
    )


def test_short_durations_have_a_fitting_unit():
    x, y = (pd.DataFrame({"t": pd.to_timedelta(low + K1, unit="ns")}) for low in (100, 500))
    assert "ns → 50" in compare(x, y, **FEW).summary()
    x, y = (pd.DataFrame({"t": pd.to_timedelta(low + K1, unit="min")}) for low in (100, 500))
    assert re.search(r"1\.7\d* hours → 8\.3\d* hours", compare(x, y, **FEW).summary())
