"""The null distribution and its p-value: ties count, and it is the same for any number of workers."""

from __future__ import annotations

import json
import threading
from math import comb, isnan

import numba
import numpy as np
import pytest

import naive_tests
from shrinktest import FKMSE, independence_test, two_sample_test
from shrinktest.estimators import ESTIMATORS, Compiled
from shrinktest.permutations.base import Draws
from shrinktest.permutations.null import Null, null_distribution
from shrinktest.permutations.schemes import Labels, Pairings

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(11, 3)), RNG.normal(size=(8, 3)) * 1.3
TWIN = X[:, :1] ** 2 + RNG.normal(size=(11, 1))


def splits(m, n, n_resamples, seed=0):
    return Draws.of(Labels((m, n)), n_resamples, np.random.default_rng(seed))


def pairings(n, n_resamples, seed=0):
    return Draws.of(Pairings(n), n_resamples, np.random.default_rng(seed))


DRAWS = [lambda: splits(6, 5, 40), lambda: splits(3, 2, 10), lambda: pairings(9, 40), lambda: pairings(4, 24)]


def weighted(rows):
    """A statistic that tells every permutation from every other."""
    value = (rows * np.sqrt(np.arange(1.0, rows.shape[1] + 1))).sum(axis=1)  # BLAS would round by chunk
    return np.stack([value, np.abs(value)], axis=1)


# --- the null distribution and its p-value ------------------------------------------------------------------


def test_the_observed_value_belongs_to_an_exhaustive_null_only():
    random, everything = (null_distribution(weighted, splits(6, 5, B)) for B in (40, np.inf))
    rows = splits(6, 5, 40).rows()
    np.testing.assert_array_equal(random.values, weighted(rows)[1:, 0])
    assert random.observed == weighted(rows)[0, 0]
    assert everything.values.size == comb(11, 5)
    assert everything.values[0] == everything.observed


def test_p_values_count_ties_and_the_observed_labelling():
    values = np.array([0.0, 1.0, 2.0, 2.0, 3.0])
    for observed, reached in ((2.0, 3), (2.0 + 1e-12, 3), (2.1, 1), (9.0, 0), (-1.0, 5)):
        random = Null(observed, values, 1e-10, exact=False)
        assert random.exceedances == reached
        assert random.pvalue == (1 + reached) / 6 == naive_tests.p_monte_carlo(observed, values, 1e-10)
    assert Null(2.0, values, 1e-10, exact=True).pvalue == 3 / 5
    assert Null(2.0, np.append(values, 2.0 - 1e-9), 1e-10, exact=True).pvalue == 3 / 6


def test_without_resamples_there_is_no_p_value():
    null = null_distribution(weighted, splits(6, 5, 0))
    assert isnan(null.pvalue)
    assert null.values.size == 0
    for result in (two_sample_test(X, Y, n_resamples=0), independence_test(X, TWIN, n_resamples=0)):
        assert isnan(result.pvalue)
        assert np.isfinite(result.statistic)
        assert (result.n_resamples, result.exact) == (0, False)
        assert not result.reject(0.99)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_statistic_that_is_not_finite_is_an_error(workers):
    def fails(rows):
        out = weighted(rows)
        out[(rows != np.arange(9)).any(axis=1) & (rows[:, 0] == 4), 0] = np.nan
        return out

    rows = pairings(9, 200).rows()
    first = np.flatnonzero(rows[:, 0] == 4)[0]
    with pytest.raises(ValueError, match=f"the statistic of permutation {first} is not finite"):
        null_distribution(fails, pairings(9, 200), workers=workers)


# --- workers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("make", DRAWS)
def test_every_row_is_evaluated_once_and_in_its_place(workers, make):
    seen = []

    def counted(rows):
        seen.extend(map(tuple, rows))
        return weighted(rows)

    null = null_distribution(counted, make(), workers=workers)
    expected = make().rows()
    assert sorted(seen) == sorted(map(tuple, expected)) and seen[0] == tuple(expected[0])
    np.testing.assert_array_equal(null.values, weighted(expected)[not make().exact :, 0])


def test_an_error_in_a_thread_comes_through_and_leaves_no_thread_behind():
    def fails(rows):
        if (rows != np.arange(9)).any():
            raise ArithmeticError("in a thread")
        return weighted(rows)

    before = threading.active_count()
    with pytest.raises(ArithmeticError, match="in a thread"):
        null_distribution(fails, pairings(9, 500), workers=4)
    assert threading.active_count() == before


@numba.njit
def uniform(gram, theta, out):
    out[:] = 1.0 / out.size


@pytest.mark.parametrize("name", [*ESTIMATORS, "fixed", "compiled", "own"])
@pytest.mark.parametrize("test", ["two samples", "equal sizes", "independence"])
def test_the_number_of_workers_changes_nothing(test, name):
    own = {"fixed": FKMSE(lam_cov=0.2), "compiled": Compiled(uniform), "own": lambda G: G[0] / len(G) ** 2}
    estimator = own.get(name, name)
    results = []
    for workers in (1, 2, 5):
        options = {"estimator": estimator, "n_resamples": 60, "rng": 5, "workers": workers}
        if test == "independence":
            results.append(independence_test(X, TWIN, **options))
        else:
            results.append(two_sample_test(X[:8] if test == "equal sizes" else X, Y, **options))
    for other in results[1:]:
        assert other.statistic == results[0].statistic
        np.testing.assert_array_equal(other.null_distribution, results[0].null_distribution)
        assert other.pvalue == results[0].pvalue
        assert other.rng == results[0].rng


# --- seeds --------------------------------------------------------------------------------------------------


def p_and_null(test, rng):
    data = (X, Y) if test is two_sample_test else (X, TWIN)
    result = test(*data, n_resamples=50, rng=rng)
    return result.pvalue, tuple(result.null_distribution)


@pytest.mark.parametrize("test", [two_sample_test, independence_test])
def test_a_seed_fixes_the_null_distribution_in_any_form(test):
    expected = p_and_null(test, 7)
    for rng in (
        7,
        np.int64(7),
        np.random.SeedSequence(7),
        np.random.PCG64(7),
        np.random.default_rng(7),
    ):
        assert p_and_null(test, rng) == expected
    assert p_and_null(test, 8)[1] != expected[1]
    assert p_and_null(test, None)[1] != p_and_null(test, None)[1]


@pytest.mark.parametrize("bits", ["PCG64", "MT19937", "Philox", "SFC64"])
@pytest.mark.parametrize("test", [two_sample_test, independence_test])
def test_the_provenance_draws_the_same_permutations_again(test, bits):
    rng = np.random.Generator(getattr(np.random, bits)(11))
    rng.normal(size=5)  # not at the start of its stream
    data = (X, Y) if test is two_sample_test else (X, TWIN)
    result = test(*data, n_resamples=50, rng=rng)
    noted = json.loads(json.dumps(result.rng))
    assert (noted["bit_generator"], noted["entropy"]) == (bits, 11)
    again = getattr(np.random, bits)()
    again.state = arrays(noted["state"])
    repeated = test(*data, n_resamples=50, rng=again)
    np.testing.assert_array_equal(repeated.null_distribution, result.null_distribution)


def arrays(state):
    """The lists of a state as arrays again, which some bit generators insist on."""
    if isinstance(state, dict):
        return {key: arrays(value) for key, value in state.items()}
    return np.array(state, dtype=np.uint64) if isinstance(state, list) else state


# --- progress -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("n_resamples", [99, np.inf])
def test_a_progress_bar_counts_to_the_end(capsys, workers, n_resamples):
    result = two_sample_test(X[:6], Y[:5], n_resamples=n_resamples, workers=workers, progress=True, rng=0)
    shown = capsys.readouterr()
    total = result.n_resamples + (not result.exact)
    assert "permutations: 100%" in shown.err
    assert f"{total}/{total}" in shown.err
    assert shown.out == ""
