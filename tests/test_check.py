"""Arguments: what is accepted, what is refused, and what the error says."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array

from shrinktest._check import (
    as_points,
    choice,
    complete_points,
    count,
    level,
    positive,
    resample_count,
)
from shrinktest._parallel import n_workers, usable_cores
from shrinktest._random import as_rng
from shrinktest.data.read import XY, read_samples, read_variables

NAN = float("nan")


def test_one_column_of_anything_numeric():
    array = np.array([1, 0, 2])
    for x in (
        *(
            [1, 0, 2],
            (1.0, 0.0, 2.0),
            range(3),
            np.array([True, False, True]),
            np.ma.array([1.0, 0.0, 2.0]),
        ),
        *(
            array.astype(dtype)
            for dtype in (np.int8, np.uint64, np.float32, np.float16, np.longdouble, ">f8")
        ),
        *(pd.Series(array), pd.Series(array, dtype="Int64"), pd.Series(array, dtype="Float32")),
        pd.Series([True, False, True], dtype="boolean"),
        pd.Series([1.0, 0.0, 2.0], dtype="Sparse[float]"),
        *(pd.Index(array), pd.DataFrame({"a": array}, index=[7, 8, 9])),
    ):
        values = as_points(x, "X").values
        assert values.shape == (3, 1) and values.dtype == np.float64 and values.flags.c_contiguous
        np.testing.assert_array_equal(values[:, 0], np.asarray(x, dtype=float).ravel())


@settings(deadline=None)
@given(
    hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=2, max_dims=2),
        elements=st.floats(allow_infinity=False),
    )
)
def test_values_come_through_unchanged_in_any_memory_layout(values):
    for x in (
        values,
        np.asfortranarray(values),
        values[::-1][::-1],
        values.tolist(),
        pd.DataFrame(values),
    ):
        points = as_points(x, "X").values
        np.testing.assert_array_equal(points, values)
        assert points.flags.c_contiguous
        assert not np.shares_memory(points, x)


def test_names_are_texts_and_missing_values_nan():
    assert as_points(pd.DataFrame([[1, 2]], columns=["a", 5]), "X").columns == ("a", "5")
    assert as_points(pd.Series([1, 2], name="a"), "X").columns is None
    masked = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    np.testing.assert_array_equal(as_points(masked, "X").values, [[1, NAN], [3, 4]])
    for x in (pd.Series([1, None], dtype="Int64"), pd.Series([1, None]), [1.0, NAN]):
        np.testing.assert_array_equal(as_points(x, "X").values, [[1], [NAN]])


FRAME = pd.DataFrame({"good": [1.0, 2.0], "bad": [1.0, 2.0]})


def test_what_is_no_table_of_numbers_is_refused_with_its_place():
    sparse, times, two = (
        csr_array([[0.0, 1.0]]),
        np.array(["2020-01-01"], dtype="M8[D]"),
        pd.DataFrame([[1, 2]]),
    )
    for x, error, place in (
        *(
            (x, TypeError, "X must be a list")
            for x in (None, "abc", {"a": [1]}, (i for i in range(3)))
        ),
        (["1.5", "n/a"], TypeError, "row 1"),
        ([[1, None], [2, 3]], TypeError, "row 0, column 1"),
        (np.array([1, 2], dtype=object), TypeError, "object"),
        (sparse, TypeError, "sparse"),
        (np.array([b"a"]), TypeError, "X"),
        ([1 + 2j, 3], TypeError, "complex128"),
        (times, TypeError, "datetime64"),
        (np.array([3], dtype="m8[D]"), TypeError, "timedelta64"),
        (np.zeros(2, [("a", int), ("b", float)]), TypeError, "'a'"),
        (FRAME.assign(bad=["u", "v"]), TypeError, "'bad',.*row 0"),
        (FRAME.assign(bad=np.array([1.0, "v"], dtype=object)), TypeError, "'bad'.*row 1"),
        (FRAME.assign(bad=pd.Categorical([1, 2])), TypeError, "'bad'.*category"),
        (
            FRAME.assign(bad=pd.to_datetime(["2020", "2021"], utc=True)),
            TypeError,
            "'bad'.*datetime64",
        ),
        (FRAME.assign(bad=pd.to_timedelta([1, 2])), TypeError, "'bad'.*timedelta64"),
        (FRAME.assign(bad=pd.period_range("2020", periods=2)), TypeError, "'bad'.*period"),
        (FRAME.assign(bad=[1j, 2j]), TypeError, "'bad'.*complex128"),
        (3.0, ValueError, "X must be an array with one row per observation"),
        (np.zeros((2, 3, 4)), ValueError, "3 dimensions"),
        *(
            (x, ValueError, "X is empty")
            for x in ([], np.zeros((5, 0)), pd.DataFrame(index=[1, 2]))
        ),
        ([[1, 2], [3]], ValueError, "X has rows of different lengths"),
        ([[0.0, 1.0], [2.0, -np.inf], [np.inf, 0.0]], ValueError, "row 1, column 1"),
        (pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, np.inf]}), ValueError, "row 1, column 'b'"),
        (two.set_axis(["a", "a"], axis=1), ValueError, "'a'"),
    ):
        with pytest.raises(error, match=f"(?s){place}"):
            as_points(x, "X")
    assert complete_points([1.0, 2.0], "points").values.shape == (2, 1)
    with pytest.raises(ValueError, match="points has 1 missing value"):
        complete_points([1.0, NAN], "points")


MANY = 2**60 + np.random.default_rng(1).integers(0, 20, size=(40, 2))


def test_integers_that_are_equal_as_floats_are_refused_and_no_others():
    first = "X, column 0"
    for x, where in (
        (MANY, first),
        (-MANY[:, 0], "X"),
        (MANY.astype(np.uint64) + np.uint64(2**63), first),
        (MANY % [[9, 2**62]], "X, column 1"),
        (np.ma.array(MANY, mask=MANY % 7 == 0), first),
        (MANY.astype(object), first),
        (MANY.tolist(), first),
        ([*(2**60 + i for i in range(9)), 0.5], "X"),
        ([-1, *(2**10 * MANY[:, 0].astype(object) + MANY[:, 1] % 20)], "X"),
        (pd.Series(MANY[:, 0]), "X"),
        (
            pd.DataFrame({"a": MANY[:, 0]}, dtype="Int64").replace(MANY[0, 0], pd.NA),
            "X, column 'a'",
        ),
    ):
        with pytest.raises(ValueError, match=f"^{where}.*too many digits"):
            as_points(x, "X")
    for x in (
        *(MANY - 2**60, MANY.astype(np.float64), MANY.astype(np.float64).tolist()),
        np.arange(400) * 10**9 + 1_600_000_000 * 10**9,  # times in nanoseconds
        *([2**53, 2**53 + 2, 2**53 + 4], np.full(9, 2**60 + 1), np.array([-(2**63), 1, 2])),
        np.ma.array([2**60, 2**60 + 1, 1, 2], mask=[True, True, False, False]),
        *([[1.5, 2**60 + 1], [1e300, 3]], [2**64 - 1, 2**40], [1e17, 2.0, 3.5]),
    ):
        expected = np.ma.filled(np.ma.array(x, dtype=float), NAN)
        assert np.array_equal(
            as_points(x, "X").values.reshape(np.shape(x)), expected, equal_nan=True
        )


def two_samples(X, Y, nan_policy, **labels):
    """(X, Y, names of the columns, whether values are missing)."""
    read = read_samples((X, Y), XY, nan_policy, **labels)
    return (*read.values, read.all_rows[0].columns, read.missing)


def paired_samples(X, Y, nan_policy, **labels):
    """(X, Y, whether values are missing)."""
    read = read_variables((X, Y), XY, nan_policy, **labels)
    return (*read.values, read.missing)


def test_two_samples_match_columns_by_name():
    X = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    x, y, columns, missing = two_samples(
        X, pd.DataFrame({"b": [30, 40, 50], "a": [10, 20, 30]}), "raise"
    )
    np.testing.assert_array_equal(x, [[1, 3], [2, 4]])
    np.testing.assert_array_equal(y, [[10, 30], [20, 40], [30, 50]])
    assert y.flags.c_contiguous and columns == ("a", "b") and missing is False
    table, array = pd.DataFrame({"a": [1, 2]}), np.array([3, 4])
    assert two_samples(table, array, "raise")[2] == two_samples(array, table, "raise")[2] == ("a",)
    before, after = pd.Series([1, 2], name="before"), pd.Series([1, 2], name="after")
    assert (
        two_samples(before, after, "raise")[2] is None
    )  # two names of one variable are no contradiction
    for Y, where in (
        (X.rename(columns={"a": "c"}), "only in X: 'a'; only in Y: 'c'"),
        ([1, 2], "2 columns and Y has 1"),
    ):
        with pytest.raises(ValueError, match=where):
            two_samples(X, Y, "raise")


def test_one_nan_cell_cannot_reach_a_p_value_unnoticed():
    X, Y = np.arange(8.0).reshape(4, 2), np.arange(6.0).reshape(3, 2)
    Y[1, 0] = Y[2, 1] = NAN
    for policy, where in (
        ("raise", "Y has 2 missing values.*row 1, column 0"),
        ("omit", "Y has 1 row"),
        ("omitt", "omit"),
    ):
        with pytest.raises(ValueError, match=where):
            two_samples(X, Y, policy)
    x, y, _, missing = two_samples(X, Y, "propagate")
    assert missing is True and (len(x), len(y)) == (4, 3)
    x, y, _, missing = two_samples(np.vstack([X, [NAN, 1]]), X, "omit")
    assert missing is False and np.array_equal(x, X)
    for read in (two_samples, paired_samples):
        with pytest.raises(ValueError, match="1 row"):
            read([[1.0, 2.0]], [[1.0, 2.0]], "raise")


def test_pairs_are_dropped_together_and_have_equal_labels():
    x, y, missing = paired_samples([1, NAN, 3, 4], [[1, 1], [2, 2], [3, NAN], [4, 4]], "omit")
    assert x.tolist() == [[1], [4]] and y.tolist() == [[1, 1], [4, 4]] and missing is False
    assert paired_samples([1, NAN, 3], [1, 2, 3], "propagate")[2] is True
    X, Y = pd.DataFrame({"a": [1, 2, 3]}), pd.Series([1, 2, 3], index=[0, 2, 1])
    for same in (
        Y.loc[X.index],
        Y.to_numpy(),
        Y.reset_index(drop=True),
        pd.DataFrame({"b": [4, 5, 6]}),
    ):
        x, y, _ = paired_samples(X, same, "raise")  # names of two variables may differ
        assert x.tolist() == [[1], [2], [3]] and len(y) == 3
    for pair, policy, where in (
        (([1, 2], [1, NAN]), "raise", "Y has 1 missing value"),
        (([1, NAN, 3], [1, 2, NAN]), "omit", "X and Y have 1 row"),
        (([1, 2, 3], [1, 2]), "raise", "X has 3 rows and Y has 2 rows"),
        ((X, Y), "raise", "row 1: 1 and 2"),
    ):
        with pytest.raises(ValueError, match=where):
            paired_samples(*pair, policy)


def test_pandas_is_not_imported_for_arrays():
    code = "import sys, shrinktest.data.read as r; r.read_samples(([1, 2], [3, 4]), r.XY, 'raise'); print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"pandas", "scipy", "numba"} & set(loaded)


def test_seeds_and_generators():
    for seed in (7, np.int64(7), np.random.SeedSequence(7), np.random.PCG64(7)):
        assert as_rng(seed).random() == np.random.default_rng(7).random()
    generator = np.random.default_rng(0)
    assert as_rng(generator) is generator and as_rng(None).random() != as_rng(None).random()
    for rng, error in (
        *((rng, TypeError) for rng in (np.random.RandomState(0), True, "0", 0.0)),
        (-1, ValueError),
    ):
        with pytest.raises(error, match=r"rng|default_rng"):
            as_rng(rng)


def test_names_and_numbers_are_refused_by_the_name_of_their_argument():
    known = ("gaussian", "laplacian")
    assert choice("gaussian", known, "kernel") == "gaussian"
    assert (
        type(choice(np.str_("gaussian"), known, "kernel")) is str
    )  # results that hold it are equal
    with pytest.raises(
        ValueError, match=r"kernel must be one of 'gaussian', 'laplacian'.*Did you mean 'gaussian'"
    ):
        choice("Gausian", known, "kernel")
    assert all(level(alpha) == alpha for alpha in (0.05, np.float32(0.5), 1e-300))
    assert positive(2, "eta") == 2.0 and isinstance(positive(np.float32(2), "eta"), float)
    assert positive(0, "eta", allow_zero=True) == 0.0
    assert (
        count(np.int32(3), "t", minimum=1) == 3 and type(count(np.int32(3), "t", minimum=1)) is int
    )
    assert count(10**400, "t", minimum=1) == 10**400 and count(5, "t", minimum=1, maximum=5) == 5
    assert resample_count(0) == 0 and resample_count(np.int64(999)) == 999
    assert resample_count(np.inf) == resample_count(np.float64("inf")) == float("inf")
    for read, error, name, wrong in (
        (lambda v: choice(v, known, "kernel"), ValueError, "kernel", ("zzz", None)),
        (
            lambda v: level(v, "confidence"),
            ValueError,
            "confidence",
            (0, 1, 0.0, 1.0, -0.1, 5, NAN, np.inf),
        ),
        (lambda v: positive(v, "eta"), ValueError, "eta", (0, -1, NAN, np.inf)),
        (lambda v: positive(v, "eta"), TypeError, "eta", ("1", None, True, np.True_, [1.0], 1j)),
        (lambda v: positive(v, "eta", allow_zero=True), ValueError, "eta", (-1,)),
        (lambda v: count(v, "t", minimum=1, maximum=5), ValueError, "t", (0, 6)),
        (lambda v: count(v, "t", minimum=1), TypeError, "t", (3.0, True, np.True_, "3", None)),
        (resample_count, ValueError, "n_resamples", (-1,)),
        (resample_count, TypeError, "n_resamples", (99.0, NAN, -np.inf, True)),
        (n_workers, ValueError, "workers", (0, -2)),
        (n_workers, TypeError, "workers", (2.0, True, "all")),
    ):
        for value in wrong:
            with pytest.raises(error, match=name):
                read(value)


def test_cores_by_affinity_and_the_quota_of_a_container(tmp_path, monkeypatch):
    assert n_workers(3) == 3 and n_workers(None) == n_workers(-1) == usable_cores() >= 1
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    for k, (files, cores) in enumerate(
        (
            ({}, 8),
            ({"cpu.max": "max 100000\n"}, 8),
            ({"cpu.max": "250000 100000\n"}, 3),
            ({"cpu.max": "50000 100000\n"}, 1),
            ({"cpu.max": "nonsense"}, 8),
            ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 8),
            ({"cpu/cpu.cfs_quota_us": "200000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 2),
        )
    ):
        for name, text in files.items():
            (tmp_path / str(k) / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / str(k) / name).write_text(text)
        assert usable_cores(tmp_path / str(k)) == cores
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert n_workers(None) == 1
