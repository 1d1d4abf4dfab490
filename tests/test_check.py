"""Arguments: what is accepted, what is refused, and what the error says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array

import shrinktest
from shrinktest import two_sample_test
from shrinktest._check import (
    as_points,
    as_rng,
    choice,
    complete_points,
    count,
    level,
    numbers_or_nan,
    percent,
    positive,
    real_values,
    resample_count,
    rng_provenance,
)
from shrinktest._names import numbered
from shrinktest._parallel import n_workers, usable_cores
from shrinktest._read import XY, read_samples, read_variables

NAN = float("nan")


def says(*words):
    """A pattern for pytest.raises: the words, in this order."""
    return "(?s)" + ".*".join(map(re.escape, words))


# --- points -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "x",
    [
        [1, 0, 2],
        (1.0, 0.0, 2.0),
        range(3),
        np.array([1, 0, 2], dtype=np.int8),
        np.array([1, 0, 2], dtype=np.uint64),
        np.array([1, 0, 2], dtype=np.float32),
        np.array([1, 0, 2], dtype=np.float16),
        np.array([1, 0, 2], dtype=np.longdouble),
        np.array([1, 0, 2], dtype=">f8"),
        np.array([True, False, True]),
        np.ma.array([1.0, 0.0, 2.0]),
        pd.Series([1, 0, 2]),
        pd.Series([1, 0, 2], dtype="Int64"),
        pd.Series([1, 0, 2], dtype="Float32"),
        pd.Series([True, False, True], dtype="boolean"),
        pd.Series([1.0, 0.0, 2.0], dtype="Sparse[float]"),
        pd.Index([1, 0, 2]),
        pd.DataFrame({"a": [1, 0, 2]}, index=[7, 8, 9]),
    ],
    ids=lambda x: f"{type(x).__name__}-{getattr(x, 'dtype', '')}",
)
def test_one_column_of_anything_numeric(x):
    points = as_points(x, "X")
    assert points.values.shape == (3, 1)
    assert points.values.dtype == np.float64
    assert points.values.flags.c_contiguous
    np.testing.assert_array_equal(points.values[:, 0], np.asarray(x, dtype=float).ravel())


@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2), elements=st.floats(allow_infinity=False)))
def test_values_come_through_unchanged_in_any_memory_layout(values):
    for x in (values, np.asfortranarray(values), values[::-1][::-1], values.tolist(), pd.DataFrame(values)):
        points = as_points(x, "X").values
        np.testing.assert_array_equal(points, values)
        assert points.flags.c_contiguous
        assert not np.shares_memory(points, x)


def test_column_names_are_kept_as_text():
    assert as_points(pd.DataFrame([[1, 2]], columns=["a", 5]), "X").columns == ("a", "5")
    assert as_points(pd.Series([1, 2], name="a"), "X").columns is None
    assert as_points([[1, 2]], "X").columns is None


def test_missing_values_of_every_kind_become_nan():
    masked = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    np.testing.assert_array_equal(as_points(masked, "X").values, [[1, NAN], [3, 4]])
    np.testing.assert_array_equal(as_points(pd.Series([1, None], dtype="Int64"), "X").values, [[1], [NAN]])
    np.testing.assert_array_equal(as_points(pd.Series([1, None]), "X").values, [[1], [NAN]])
    np.testing.assert_array_equal(as_points([1.0, NAN], "X").values, [[1], [NAN]])


FRAME = pd.DataFrame({"good": [1.0, 2.0], "bad": [1.0, 2.0]})


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (None, ("X must be a list, an array", "NoneType")),
        ("abc", ("X must be a list", "str")),
        ({"a": [1]}, ("X must be a list", "dict")),
        ((i for i in range(3)), ("X must be a list", "generator")),
        (["1.5", "n/a"], ("X must hold real numbers", "'n/a' in row 1", "convert it")),
        ([[1, None], [2, 3]], ("X", "object", "'None' in row 0, column 1")),
        (np.array([1, 2], dtype=object), ("X", "dtype object", "astype(float)")),
        (csr_array([[0.0, 1.0]]), ("X is a sparse matrix of shape (1, 2); pass a dense array (.toarray())",)),
        (np.array([b"a"]), ("X must hold real numbers",)),
        ([1 + 2j, 3], ("complex128", "one column per real-valued part")),
        (np.array(["2020-01-01"], dtype="M8[D]"), ("datetime64", "turn times into numbers")),
        (np.array([3], dtype="m8[D]"), ("timedelta64", "turn times into numbers")),
        (np.zeros(2, [("a", int), ("b", float)]), ("'a'", "give a plain array")),
        (FRAME.assign(bad=["u", "v"]), ("X, column 'bad',", "'u' in row 0")),
        (FRAME.assign(bad=np.array([1.0, "v"], dtype=object)), ("column 'bad'", "object", "'v' in row 1")),
        (FRAME.assign(bad=pd.Categorical([1, 2])), ("column 'bad'", "category", "convert it")),
        (FRAME.assign(bad=pd.to_datetime(["2020", "2021"], utc=True)), ("'bad'", "datetime64", "times")),
        (FRAME.assign(bad=pd.to_timedelta([1, 2])), ("column 'bad'", "timedelta64", "turn times")),
        (FRAME.assign(bad=pd.period_range("2020", periods=2)), ("column 'bad'", "period")),
        (FRAME.assign(bad=[1j, 2j]), ("column 'bad'", "complex128")),
        (pd.Series(["u", "v"]), ("X must hold real numbers", "'u' in row 0")),
    ],
)
def test_what_is_not_a_number_is_a_type_error(x, words):
    with pytest.raises(TypeError, match=says(*words)):
        as_points(x, "X")


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (3.0, ("X is a single number",)),
        (np.zeros((2, 3, 4)), ("X has 3 dimensions, shape (2, 3, 4)", "one row per observation")),
        ([], ("X is empty", "0 rows and 1 column")),
        (np.zeros((5, 0)), ("X is empty", "5 rows and 0 columns")),
        (pd.DataFrame(index=[1, 2]), ("X is empty", "2 rows and 0 columns")),
        ([[1, 2], [3]], ("X has rows of different lengths",)),
        ([[0.0, 1.0], [2.0, -np.inf], [np.inf, 0.0]], ("X has an infinite value in row 1, column 1",)),
        (pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, np.inf]}), ("row 1, column 'b'",)),
        (pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]), ("more than one column named 'a'",)),
    ],
)
def test_what_has_the_wrong_shape_or_is_infinite_is_a_value_error(x, words):
    with pytest.raises(ValueError, match=says(*words)):
        as_points(x, "X")


def test_complete_points_refuses_nan():
    assert complete_points([1.0, 2.0], "points").values.shape == (2, 1)
    with pytest.raises(ValueError, match=says("points has 1 missing value (NaN), in row 1, column 0")):
        complete_points([1.0, NAN], "points")


MANY = 2**60 + np.random.default_rng(1).integers(0, 20, size=(40, 2))


@pytest.mark.parametrize(
    ("x", "where"),
    [
        (MANY, "X, column 0 (counting from 0),"),
        (-MANY[:, 0], "X"),
        (MANY.astype(np.uint64) + np.uint64(2**63), "X, column 0 (counting from 0),"),
        (MANY % [[9, 2**62]], "X, column 1 (counting from 0),"),
        (np.ma.array(MANY, mask=MANY % 7 == 0), "X, column 0 (counting from 0),"),
        (MANY.astype(object), "X, column 0 (counting from 0),"),
        (MANY.tolist(), "X, column 0 (counting from 0),"),
        ([-1, *(2**10 * MANY[:, 0].astype(object) + MANY[:, 1] % 20)], "X"),
        (pd.Series(MANY[:, 0]), "X"),
        (pd.DataFrame({"a": MANY[:, 0]}, dtype="Int64").replace(MANY[0, 0], pd.NA), "X, column 'a',"),
    ],
    ids=lambda x: x[:2] if isinstance(x, str) else type(x).__name__,
)
def test_integers_that_are_equal_as_floats_are_refused(x, where):
    words = " holds whole numbers with too many digits for floats, such as "
    with pytest.raises(ValueError, match=f"^{re.escape(where + words)}.*; subtract a constant"):
        as_points(x, "X")


@pytest.mark.parametrize(
    "x",
    [
        MANY - 2**60,
        MANY.astype(np.float64),
        MANY.astype(np.float64).tolist(),
        np.arange(400) * 10**9 + 1_600_000_000 * 10**9,  # times in nanoseconds
        [2**53, 2**53 + 2, 2**53 + 4],
        np.full(9, 2**60 + 1),
        np.array([-(2**63), 1, 2]),
        np.ma.array([2**60, 2**60 + 1, 1, 2], mask=[True, True, False, False]),
        [[1.5, 2**60 + 1], [1e300, 3]],
        [2**64 - 1, 2**40],
    ],
    ids=range(10),
)
def test_large_integers_that_floats_hold_are_points(x):
    assert np.array_equal(
        as_points(x, "X").values.reshape(np.shape(x)), np.ma.filled(np.ma.array(x, dtype=float), NAN), equal_nan=True
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda x, z: shrinktest.two_sample_test(x, z),
        lambda x, z: shrinktest.two_sample_test_columns(x, z),
        lambda x, z: shrinktest.independence_test(z, x),
        lambda x, z: shrinktest.independence_test(z, z, given=x),
        lambda x, z: shrinktest.independence_matrix(x),
        lambda x, z: shrinktest.joint_independence_test(z, z, x),
        lambda x, z: shrinktest.k_sample_test(z, z, x),
        lambda x, z: shrinktest.change_point_test(x),
        lambda x, z: shrinktest.closer_test(z, x, z),
        lambda x, z: shrinktest.equivalence_test(x, z, margin=0.1, measure="distance"),
        lambda x, z: shrinktest.compare(x, z),
        lambda x, z: shrinktest.calibrate("ks_2samp", x, z, workers=1),
    ],
)
def test_every_test_refuses_integers_that_are_equal_as_floats(call):
    with pytest.raises(ValueError, match="holds whole numbers with too many digits"):
        call(MANY, MANY % 9)


# --- two samples --------------------------------------------------------------------------------------------


def two_samples(X, Y, nan_policy, **labels):
    """(X, Y, names of the columns, whether values are missing)."""
    read = read_samples((X, Y), XY, nan_policy, **labels)
    return (*read.values, read.columns, read.missing)


def paired_samples(X, Y, nan_policy, **labels):
    """(X, Y, whether values are missing)."""
    read = read_variables((X, Y), XY, nan_policy, **labels)
    return (*read.values, read.missing)


def test_two_samples_match_columns_by_name():
    X = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    Y = pd.DataFrame({"b": [30, 40, 50], "a": [10, 20, 30]})
    x, y, columns, has_nan = two_samples(X, Y, "raise")
    np.testing.assert_array_equal(x, [[1, 3], [2, 4]])
    np.testing.assert_array_equal(y, [[10, 30], [20, 40], [30, 50]])
    assert y.flags.c_contiguous
    assert columns == ("a", "b")
    assert has_nan is False


def test_two_samples_take_the_names_of_either_table():
    table, array = pd.DataFrame({"a": [1, 2]}), np.array([3, 4])
    assert two_samples(table, array, "raise")[2] == two_samples(array, table, "raise")[2] == ("a",)
    assert two_samples(array, array, "raise")[2] is None
    before, after = pd.Series([1, 2], name="before"), pd.Series([1, 2], name="after")
    assert two_samples(before, after, "raise")[2] is None  # two names of one variable are no contradiction


def test_two_samples_of_different_variables():
    X, Y = pd.DataFrame(np.eye(2), columns=["a", "b"]), pd.DataFrame(np.eye(2), columns=["b", "c"])
    with pytest.raises(ValueError, match=says("different columns", "only in X: 'a'", "only in Y: 'c'")):
        two_samples(X, Y, "raise")
    with pytest.raises(ValueError, match=says("only in X: 'a')")):
        two_samples(X, Y[["b"]], "raise")
    with pytest.raises(ValueError, match=says("(only in Y: 'c')")):
        two_samples(X[["b"]], Y, "raise")
    with pytest.raises(ValueError, match=says("X has 2 columns and Y has 1 column")):
        two_samples(np.eye(2), [1, 2], "raise")


def test_one_nan_cell_cannot_reach_a_p_value_unnoticed():
    X, Y = np.arange(8.0).reshape(4, 2), np.arange(6.0).reshape(3, 2)
    Y[1, 0] = Y[2, 1] = NAN
    with pytest.raises(ValueError, match=says("Y has 2 missing values", "first in row 1, column 0", "'omit'")):
        two_samples(X, Y, "raise")
    with pytest.raises(ValueError, match=says("Y has 1 row once the 2 rows with missing values are dropped")):
        two_samples(X, Y, "omit")
    x, y, _, has_nan = two_samples(X, Y, "propagate")
    assert has_nan is True
    assert (len(x), len(y)) == (4, 3)
    x, y, _, has_nan = two_samples(np.vstack([X, [NAN, 1]]), X, "omit")
    assert has_nan is False
    np.testing.assert_array_equal(x, X)
    with pytest.raises(ValueError, match=says("X has 1 missing value (NaN), in row 1, column 'b'")):
        two_samples(pd.DataFrame({"a": [1, 2], "b": [1, None]}), X, "raise")


@pytest.mark.parametrize("read", [two_samples, paired_samples])
def test_two_rows_at_least_and_a_known_nan_policy(read):
    with pytest.raises(ValueError, match=says("1 row; a test needs at least 2")):
        read([[1.0, 2.0]], [[1.0, 2.0]], "raise")
    with pytest.raises(ValueError, match=says("nan_policy must be one of", "Did you mean 'omit'?")):
        read([1, 2], [1, 2], "omitt")


# --- pairs --------------------------------------------------------------------------------------------------


def test_pairs_are_dropped_together():
    x, y, has_nan = paired_samples([1, NAN, 3, 4], [[1, 1], [2, 2], [3, NAN], [4, 4]], "omit")
    np.testing.assert_array_equal(x, [[1], [4]])
    np.testing.assert_array_equal(y, [[1, 1], [4, 4]])
    assert has_nan is False
    assert paired_samples([1, NAN, 3], [1, 2, 3], "propagate")[2] is True
    with pytest.raises(ValueError, match=says("Y has 1 missing value")):
        paired_samples([1, 2], [1, NAN], "raise")
    with pytest.raises(ValueError, match=says("X and Y has 1 row once the 2 rows with missing")):
        paired_samples([1, NAN, 3], [1, 2, NAN], "omit")


def test_pairs_need_equal_length():
    with pytest.raises(ValueError, match=says("X has 3 rows and Y has 2 rows", "the same observation")):
        paired_samples([1, 2, 3], [1, 2], "raise")


def test_mispaired_row_labels_are_refused():
    X, Y = pd.DataFrame({"a": [1, 2, 3]}), pd.Series([1, 2, 3], index=[0, 2, 1])
    with pytest.raises(ValueError, match=says("different row labels (row 1: 1 and 2); reorder: Y.loc[X.index]")):
        paired_samples(X, Y, "raise")
    paired_samples(X, Y.loc[X.index], "raise")
    paired_samples(X, Y.to_numpy(), "raise")
    paired_samples(X, Y.reset_index(drop=True), "raise")
    x, y, _ = paired_samples(X, pd.DataFrame({"b": [4, 5, 6]}), "raise")  # names of two variables may differ
    np.testing.assert_array_equal(np.hstack([x, y]), [[1, 4], [2, 5], [3, 6]])


def test_a_table_is_read_once(monkeypatch):
    read = []
    monkeypatch.setattr(
        "shrinktest.tables.observed.as_points", lambda table, name, **_: read.append(name) or as_points(table, name)
    )
    for labels in ({}, {"blocks": [0, 1, 0, 1, 0, 1]}, {"paired": True}):
        read_samples(([1, 2, 3], [4, 5, NAN]), XY, "propagate", **labels)
    read_variables(([1, 2, 3], [4, 5, 6]), XY, "raise", blocks=[0, 0, 1], shift="circular")
    assert read == ["X", "Y"] * 4


def test_several_of_one_kind():
    tables = [pd.DataFrame({"a": [1, 2], "b": [3, 4]}), np.eye(2), pd.DataFrame({"b": [30, 40, NAN], "a": [1, 2, 3]})]
    samples = read_samples(tables, numbered("samples", 3), "omit", blocks=[0, 1, 0, 1, 1, 0, None])
    assert samples.columns == ("a", "b") and samples.sizes == (2, 2, 2) and not samples.missing
    np.testing.assert_array_equal(samples.values[2], [[1, 30], [2, 40]])
    np.testing.assert_array_equal(samples.restriction.blocks, [0, 1, 0, 1, 1, 0])
    variables = read_variables(tables[:2], numbered("variables", 2), "raise")
    assert variables.columns == (("a", "b"), None) and not variables.missing and not variables.restriction
    with pytest.raises(ValueError, match=says("give two samples or more", "(such as *samples); found 1")):
        read_samples(tables[:1], numbered("samples", 1), "raise")
    with pytest.raises(ValueError, match=says("samples[0] and samples[2] have different columns", "the same in all")):
        read_samples([*tables[:2], tables[2][["a"]]], numbered("samples", 3), "omit")
    with pytest.raises(ValueError, match=says("samples[0] has 2 columns and samples[1] has 1 column; all samples")):
        read_samples([tables[0], [1, 2]], numbered("samples", 2), "raise")


def test_pandas_is_not_imported_for_arrays():
    code = "import sys, shrinktest._read as r; r.read_samples(([1, 2], [3, 4]), r.XY, 'raise'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"pandas", "scipy", "numba"} & set(loaded)


# --- random numbers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "seed", [7, np.int64(7), np.random.SeedSequence(7), np.random.PCG64(7)], ids=lambda seed: type(seed).__name__
)
def test_every_form_of_a_seed_gives_the_same_numbers(seed):
    assert as_rng(seed).random() == np.random.default_rng(7).random()


def test_a_generator_is_used_as_it_is_and_none_is_fresh():
    generator = np.random.default_rng(0)
    assert as_rng(generator) is generator
    assert as_rng(None).random() != as_rng(None).random()


@pytest.mark.parametrize(
    ("rng", "error", "words"),
    [
        (np.random.RandomState(0), TypeError, ("RandomState", "default_rng(seed)")),
        (True, TypeError, ("rng must be None, an integer seed", "True (bool)")),
        ("0", TypeError, ("rng must be None", "'0' (str)")),
        (0.0, TypeError, ("rng must be None", "float")),
        (-1, ValueError, ("rng must be a seed >= 0", "-1")),
    ],
)
def test_other_values_are_not_seeds(rng, error, words):
    with pytest.raises(error, match=says(*words)):
        as_rng(rng)


@pytest.mark.parametrize("bits", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_provenance_survives_json_and_draws_the_same_numbers(bits):
    seed = np.random.SeedSequence([5, 2**70], spawn_key=(3,))
    generator = np.random.Generator(getattr(np.random, bits)(seed))
    told = json.loads(json.dumps(rng_provenance(generator)))
    drawn = generator.random(5)

    again = getattr(np.random, told["bit_generator"])()
    again.state = told["state"]
    np.testing.assert_array_equal(np.random.Generator(again).random(5), drawn)
    rebuilt = np.random.SeedSequence(told["entropy"], spawn_key=told["spawn_key"])
    fresh = np.random.Generator(getattr(np.random, bits)(rebuilt))
    np.testing.assert_array_equal(fresh.random(5), drawn)


def test_provenance_of_fresh_entropy_and_of_a_generator_in_use():
    assert rng_provenance(as_rng(None))["entropy"] > 0
    generator = as_rng(1)
    generator.random()
    told = rng_provenance(generator)
    assert told["entropy"] == 1
    assert told["state"] == generator.bit_generator.state
    legacy = rng_provenance(np.random.Generator(np.random.RandomState(0)._bit_generator))
    assert json.dumps(legacy)


# --- names and numbers --------------------------------------------------------------------------------------


def test_choice_lists_what_there_is_and_suggests_the_nearest():
    known = ("gaussian", "laplacian")
    assert choice("gaussian", known, "kernel") == "gaussian"
    assert type(choice(np.str_("gaussian"), known, "kernel")) is str  # results that hold it are equal
    with pytest.raises(ValueError, match=says("kernel must be one of 'gaussian', 'laplacian'; got 'Gausian'")):
        choice("Gausian", known, "kernel")
    with pytest.raises(ValueError, match=says("Did you mean 'gaussian'?")):
        choice("Gausian", known, "kernel")
    with pytest.raises(ValueError, match=r"got 'zzz'$"):
        choice("zzz", known, "kernel")
    with pytest.raises(ValueError, match=says("got None")):
        choice(None, known, "kernel")


@pytest.mark.parametrize("alpha", [0.05, np.float32(0.5), 1e-300])
def test_levels(alpha):
    assert level(alpha) == alpha


@pytest.mark.parametrize("alpha", [0, 1, 0.0, 1.0, -0.1, 5, NAN, np.inf])
def test_levels_lie_inside_the_unit_interval(alpha):
    with pytest.raises(ValueError, match=says("confidence must lie strictly between 0 and 1")):
        level(alpha, "confidence")


def test_positive():
    assert positive(2, "eta") == 2.0
    assert isinstance(positive(np.float32(2), "eta"), float)
    assert positive(0, "eta", allow_zero=True) == 0.0
    for value in (0, -1, NAN, np.inf):
        with pytest.raises(ValueError, match=says("eta must be a finite number > 0")):
            positive(value, "eta")
    with pytest.raises(ValueError, match=says(">= 0", "-1")):
        positive(-1, "eta", allow_zero=True)
    for value in ("1", None, True, np.True_, [1.0], 1j):
        with pytest.raises(TypeError, match=says("eta must be a number")):
            positive(value, "eta")


def test_count():
    assert count(np.int32(3), "t", minimum=1) == 3
    assert type(count(np.int32(3), "t", minimum=1)) is int
    with pytest.raises(ValueError, match=says("t must be an integer >= 1, got 0")):
        count(0, "t", minimum=1)
    for value in (3.0, True, np.True_, "3", None):
        with pytest.raises(TypeError, match=says("t must be an integer >= 1, got")):
            count(value, "t", minimum=1)


def test_real_values():
    given = np.arange(3.0)
    assert real_values(given) is given
    for values in (
        [0, 1, 2],
        np.arange(3, dtype=">f4"),
        np.array([0, 1, 2], dtype=object),
        [Fraction(i) for i in range(3)],
    ):
        assert real_values(values).dtype == np.float64
        np.testing.assert_array_equal(real_values(values), given)
        np.testing.assert_array_equal(numbers_or_nan(values), given)
    assert real_values(Fraction(1, 2)) == real_values(0.5) == 0.5
    for values, words in (
        (None, "found NoneType"),
        ("1", "found str"),
        (["1"], "found an array of dtype <U1"),
        (np.array([1j]), "found an array of dtype complex128"),
        ([[1.0], [1.0, 2.0]], "inhomogeneous"),
        (np.array([1j], dtype=object), "'complex'"),
        ([10**400], "too large"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "found an array of dtype datetime64[D]"),
    ):
        with pytest.raises(TypeError, match=says(words)):
            real_values(values)
        assert np.isnan(numbers_or_nan(values)).all()


def test_resamples():
    assert resample_count(0) == 0
    assert resample_count(np.int64(999)) == 999
    assert resample_count(np.inf) == resample_count(np.float64("inf")) == float("inf")
    for value, error in (
        (-1, ValueError),
        (99.0, TypeError),
        (NAN, TypeError),
        (-np.inf, TypeError),
        (True, TypeError),
    ):
        with pytest.raises(error, match=says("n_resamples must be an integer >= 0", "numpy.inf")):
            resample_count(value)


def test_percent_has_all_digits():
    shares = {0.95: "95%", 0.975: "97.5%", 0.999: "99.9%", 0.9999: "99.99%", 0.5: "50%", 0.07: "7%", 1.0 - 0.7: "30%"}
    assert [percent(share) for share in shares] == list(shares.values())
    assert percent(np.float64(0.99)) == "99%"


def test_workers(monkeypatch):
    assert n_workers(3) == 3
    assert n_workers(None) == n_workers(-1) == usable_cores() >= 1
    for value, error in (
        (0, ValueError),
        (-2, ValueError),
        (2.0, TypeError),
        (True, TypeError),
        ("all", TypeError),
    ):
        with pytest.raises(error, match=says("workers must be an integer >= 1", "None or -1")):
            n_workers(value)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert n_workers(None) == 1


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({}, 8),
        ({"cpu.max": "max 100000\n"}, 8),
        ({"cpu.max": "250000 100000\n"}, 3),
        ({"cpu.max": "50000 100000\n"}, 1),
        ({"cpu.max": "10000000 100000\n"}, 8),
        ({"cpu.max": "nonsense"}, 8),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 8),
        ({"cpu/cpu.cfs_quota_us": "200000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 2),
    ],
)
def test_affinity_and_the_quota_of_a_container_are_respected(files, cores, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert usable_cores(tmp_path) == cores


class Named(np.ndarray):
    """An array with attributes as those of sparse matrices and of categories have."""

    dictionary = toarray = nnz = categories = codes = None


def test_names_of_attributes_do_not_matter():
    x = np.random.default_rng(0).normal(size=(9, 2))
    assert two_sample_test(x.view(Named), x + 1.0, rng=0).pvalue == two_sample_test(x, x + 1.0, rng=0).pvalue


def test_long_integers_beside_a_float_are_an_error():
    ids = [2**60 + i for i in range(9)]
    for sample in ([*ids, 0.5], [[number, 0.5] for number in ids]):
        with pytest.raises(ValueError, match="too many digits"):
            shrinktest.two_sample_test(sample, sample)
    shrinktest.two_sample_test([1e17, 2.0, 3.5], [1.0, 2.0, 1e18], n_resamples=0)
