"""Plain arrays are read by a function of their own, which gives what the reader of all tables gives."""

from __future__ import annotations

import numpy as np
import pytest

from shrinktest import independence_test, two_sample_test
from shrinktest._check import NAN_POLICIES
from shrinktest.data import read
from shrinktest.data.arrays import plain_arrays

RNG = np.random.default_rng(20)
X = RNG.normal(size=(24, 3))
Y = RNG.normal(0.3, 1.0, size=(24, 3))
GAPS = X.copy()
GAPS[[2, 9], [0, 2]] = np.nan
INFINITE = X.copy()
INFINITE[4, 1] = np.inf
TENTHS = np.tile([0.3, 0.1 + 0.2, 0.6, 0.7], 6)  # the first two are one value but for rounding

#: Pairs that the function for plain arrays reads.
PLAIN = {
    "one column": (X[:, 0], Y[:, 1]),
    "one column of a matrix": (X[:, :1], Y[:, 1]),
    "columns": (X, Y),
    "Fortran order": (np.asfortranarray(X), np.asfortranarray(Y)),
    "reversed": (X[::-1], Y[:, ::-1]),
    "every second row": (X[::2], Y[::2]),
    "two rows": (X[:2], Y[:2]),
    "constant column": (np.c_[X, np.ones(24)], np.c_[Y, np.ones(24)]),
    "all equal": (np.ones((24, 2)), np.ones((24, 2))),
    "columns far apart": (X * [1.0, 1e4, 1.0], Y * [1.0, 1e4, 1.0]),
    "shared rows": (X, X[::-1]),
    "equal but for rounding": (TENTHS, TENTHS[::-1] - 0.1),
    "single precision before": (X.astype(np.float32).astype(float), Y),
    "labels": (X[:, 0], np.arange(24) % 2.0),
    "large": (X * 1e200, Y * 1e200),
    "not writeable": (np.broadcast_to(X[:1], X.shape), Y),
}
#: Pairs, with the policy for missing values, that only the reader of all tables reads.
OTHER = {
    "integers": (np.arange(24), np.arange(24) ** 2),
    "booleans": (X > 0.0, Y > 0.0),
    "single precision": (X.astype(np.float32), Y),
    "lists": (X.tolist(), Y.tolist()),
    "list beside array": (X[:, 0].tolist(), Y[:, 0]),
    "missing": (GAPS, Y),
    "infinite": (X, INFINITE),
    "empty": (X[:0], Y[:0]),
    "no columns": (X[:, :0], Y),
    "one row": (X[:1], Y[:1]),
    "three dimensions": (X[None], Y),
    "a number": (1.0, Y),
    "complex": (X + 0j, Y),
    "masked": (np.ma.masked_less(X, -1.0), Y),
}
#: Pairs of plain arrays that do not fit together.
UNEQUAL = {"fewer columns": (X, Y[:, :2]), "fewer rows": (X, Y[:20])}


def outcome(test, x, y, **options):
    """All that a result says, or its error; the level is one that two rows can reach."""
    try:
        result = test(x, y, n_resamples=19, alpha=0.9, rng=0, **options)
    except (ValueError, TypeError) as error:
        return type(error), str(error)
    return result.to_dict(), tuple(result.notes), result.null_distribution.tobytes()


def both_roads(monkeypatch, test, x, y, **options):
    """Outcomes by the function for plain arrays, if it reads them, and by the reader of all tables."""
    first = outcome(test, x, y, **options)
    with monkeypatch.context() as patch:
        patch.setattr(read, "plain_arrays", lambda *_: None)
        return first, outcome(test, x, y, **options)


@pytest.mark.parametrize("test", [two_sample_test, independence_test])
@pytest.mark.parametrize("name", [*PLAIN, *OTHER, *UNEQUAL])
def test_plain_arrays_are_read_as_tables_are(monkeypatch, test, name):
    x, y = (PLAIN | OTHER | UNEQUAL)[name]
    for scale in ("auto", None):
        first, second = both_roads(monkeypatch, test, x, y, scale=scale)
        assert first == second
    for policy in (*NAN_POLICIES, "drop"):
        first, second = both_roads(monkeypatch, test, x, y, nan_policy=policy)
        assert first == second


@pytest.mark.parametrize("reader", [read.read_samples, read.read_variables])
@pytest.mark.parametrize("name", PLAIN)
def test_both_roads_give_the_same_rows(monkeypatch, reader, name):
    for scale in ("auto", None):
        rows = [reader(PLAIN[name], read.XY, "raise", scale=scale)]
        with monkeypatch.context() as patch:
            patch.setattr(read, "plain_arrays", lambda *_: None)
            rows.append(reader(PLAIN[name], read.XY, "raise", scale=scale))
        for part in ("sizes", "missing", "notes", "columns", "left_out"):
            first, second = (getattr(each, part) for each in rows)
            assert first == second, part
        assert not any(each.restriction for each in rows)
        for part in ("values", "kept", "gaps"):
            for first, second in zip(*(getattr(each, part) for each in rows), strict=True):
                assert first.tobytes() == second.tobytes() and first.shape == second.shape, part
        for first, second in zip(*(each.variables for each in rows), strict=True):
            assert first.points.flags.c_contiguous and first.points.dtype == np.float64
            assert vars(first) | {"points": None} == vars(second) | {"points": None}


def test_the_function_for_plain_arrays_reads_these_and_no_others():
    options = {"scale": "auto", "blocks": None}
    for name, pair in PLAIN.items():
        assert plain_arrays(pair, "raise", options) is not None, name
        assert plain_arrays(pair, "omit", options) is None
        assert plain_arrays(pair, "raise", {**options, "scale": "sd"}) is None
        assert plain_arrays(pair, "raise", {**options, "blocks": [0] * 24}) is None
    for name, pair in OTHER.items():
        assert plain_arrays(pair, "raise", options) is None, name


def test_what_the_user_gave_stays_as_it_is():
    for x, y in PLAIN.values():
        before = x.copy(), y.copy()
        outcome(independence_test, x, y)
        outcome(two_sample_test, x, y)
        assert np.array_equal(x, before[0]) and np.array_equal(y, before[1])
