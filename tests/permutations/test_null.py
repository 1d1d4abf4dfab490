"""The null distribution, its p-value, and sequential stopping: ties count, p-values are valid, workers change nothing.

`pytest -m slow -s tests/permutations/test_null.py` runs the large version and prints what it measured.
"""

from __future__ import annotations

import json
import threading
from fractions import Fraction
from math import comb, isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import naive_permutations
import naive_tests
from shrinktest import FKMSE, BesagClifford, Curtailed, independence_test, two_sample_test
from shrinktest.permutations.base import Draws
from shrinktest.permutations.null import CostHint, Null, null_distribution
from shrinktest.permutations.schemes import Labels, Pairings
from shrinktest.permutations.stopping import as_stopping

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(11, 3)), RNG.normal(size=(8, 3)) * 1.3
TWIN = X[:, :1] ** 2 + RNG.normal(size=(11, 1))


def splits(m, n, n_resamples, seed=0):
    return Draws.of(Labels((m, n)), n_resamples, np.random.default_rng(seed))


def pairings(n, n_resamples, seed=0):
    return Draws.of(Pairings(n), n_resamples, np.random.default_rng(seed))


DRAWS = [
    lambda: splits(6, 5, 40),
    lambda: splits(3, 2, 10),
    lambda: pairings(9, 40),
    lambda: pairings(4, 24),
]


def weighted(rows):
    """A statistic that tells every permutation from every other."""
    value = (rows * np.sqrt(np.arange(1.0, rows.shape[1] + 1))).sum(
        axis=1
    )  # BLAS would round by chunk
    return np.stack([value, np.abs(value)], axis=1)


def test_the_observed_value_belongs_to_an_exhaustive_null_only():
    random, everything = (null_distribution(weighted, splits(6, 5, B)) for B in (40, np.inf))
    rows = splits(6, 5, 40).rows()
    np.testing.assert_array_equal(random.values, weighted(rows)[1:, 0])
    assert random.observed == weighted(rows)[0, 0]
    assert everything.values.size == comb(11, 5)
    assert everything.values[0] == everything.observed


def test_p_values_count_ties_and_the_observed_labeling():
    values = np.array([0.0, 1.0, 2.0, 2.0, 3.0])
    for observed, reached in ((2.0, 3), (2.0 + 1e-12, 3), (2.1, 1), (9.0, 0), (-1.0, 5)):
        random = Null(observed, values, 1e-10, exact=False)
        assert random.exceedances == reached
        assert (
            random.pvalue == (1 + reached) / 6 == naive_tests.p_monte_carlo(observed, values, 1e-10)
        )
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


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("n_resamples", [99, np.inf])
def test_a_progress_bar_counts_to_the_end(capsys, workers, n_resamples):
    result = two_sample_test(
        X[:6], Y[:5], n_resamples=n_resamples, workers=workers, progress=True, rng=0
    )
    shown = capsys.readouterr()
    total = result.n_resamples + (not result.exact)
    assert "permutations: 100%" in shown.err
    assert f"{total}/{total}" in shown.err
    assert shown.out == ""


# --- stopping ------------------------------------------------------------------------------------------------------
RULES = [BesagClifford(h=4), BesagClifford(), Curtailed((0.05,)), Curtailed((0.01, 0.05, 0.3))]
STOPPING_RNG = np.random.default_rng(3)
U, V = STOPPING_RNG.normal(size=(12, 2)), STOPPING_RNG.normal(size=(13, 2)) * 1.2


def ended(rule, reached):
    """(p-value, draws) by the package of a run of draws."""
    cumulative = np.cumsum(reached)
    drawn = rule.stop(cumulative, len(reached)) or len(reached)
    return rule.pvalue(int(cumulative[drawn - 1]), drawn, len(reached)), drawn


def first_sum(points, rows):
    """A statistic that numpy computes at once: the sum of the points that are in the first sample."""
    value = np.where(rows, points, 0.0).sum(axis=1)
    return np.stack([value, np.abs(value)], axis=1)


RUNS = st.lists(st.booleans(), min_size=1, max_size=120)


@settings(max_examples=200, deadline=None)
@given(RUNS, st.integers(1, 30))
def test_besag_clifford_is_its_twin(reached, h):
    assert ended(BesagClifford(h), reached) == naive_permutations.besag_clifford(reached, h)


@settings(max_examples=200, deadline=None)
@given(RUNS, st.lists(st.sampled_from([0.01, 0.05, 0.1, 0.3, 0.7]), min_size=1, max_size=3))
def test_decision_is_its_twin(reached, alphas):
    attainable = [alpha for alpha in alphas if alpha >= 1 / (len(reached) + 1)]
    if len(attainable) < len(alphas):  # the twin need not draw for a level that can never reject
        alphas = attainable or [1 / (len(reached) + 1)]
    pvalue, drawn = ended(Curtailed(tuple(alphas)), reached)
    decisions, needed = naive_permutations.curtailed(reached, alphas)
    assert drawn == needed
    assert [pvalue <= alpha for alpha in alphas] == decisions
    assert pvalue == naive_permutations.curtailed_pvalue(reached, alphas)


@settings(max_examples=100, deadline=None)
@given(RUNS, st.sampled_from(RULES), st.data())
def test_least_is_how_soon_a_run_can_stop(reached, rule, data):
    """A rule never stops earlier than its bound, and the best or the worst draws make it stop there."""
    B = data.draw(st.integers(len(reached), len(reached) + 60))
    so_far = np.cumsum(reached)
    if rule.stop(so_far, B) is not None:
        return
    least = rule.least(int(so_far[-1]), len(reached), B)
    futures = [reached + [exceeds] * (B - len(reached)) for exceeds in (True, False)]
    stops = [rule.stop(np.cumsum(run), B) or B for run in futures]
    assert min(stops) >= len(reached) + least
    if len(getattr(rule, "alphas", ())) < 2:
        assert min(stops) == len(reached) + least


@pytest.mark.parametrize(("h", "B"), [(1, 9), (2, 9), (3, 10), (10, 10), (12, 8)])
def test_besag_clifford_is_exact_at_every_attainable_value(h, B):
    def outcome(reached):
        return ended(BesagClifford(h), reached)[0]

    law = naive_permutations.law(outcome, B)
    assert sum(law.values()) == 1
    for x in law:
        assert float(sum(p for value, p in law.items() if value <= x)) == pytest.approx(
            x, abs=1e-12
        )


@pytest.mark.parametrize(
    ("alphas", "B"),
    [
        ((0.2,), 9),
        ((0.3,), 11),
        ((0.1, 0.4), 10),
        ((0.2, 0.3, 0.7), 12),
        ((0.1, 0.5), 11),
        ((0.01,), 9),
        ((0.95,), 8),
    ],
)
def test_p_values_of_a_decision_are_valid(alphas, B):
    law = naive_permutations.law(lambda reached: ended(Curtailed(alphas), reached)[0], B)
    for x in law:
        valid = float(sum(p for value, p in law.items() if value <= x))
        assert valid <= x + 1e-12
        if x <= min(alphas):  # nor does a rejection lose anything
            assert valid == pytest.approx(x, abs=1e-12)
    for alpha in alphas:
        level = sum(p for value, p in law.items() if value <= alpha)
        assert level == Fraction(int(alpha * (B + 1) + 1e-9), B + 1)  # the level of all draws


def null(points, rule, seed, workers=1, B=999, cost=None, seen=None, generator=None):
    def statistic(rows):
        if seen is not None:
            seen.append(len(rows))
        return first_sum(points, rows)

    rng = generator or np.random.default_rng(seed)
    split = Draws.of(Labels((len(points) // 2, len(points) - len(points) // 2)), B, rng)
    return null_distribution(statistic, split, stopping=rule, workers=workers, cost=cost)


@pytest.mark.parametrize(
    "cost", [None, CostHint(1e-7), CostHint(1e-3, rows=64)], ids=["alone", "small", "dear"]
)
@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_it_ends_where_all_draws_say_for_any_number_of_workers(rule, workers, cost):
    for seed in range(8):
        points = np.random.default_rng([seed, 1]).normal(size=25)
        full = null(points, None, seed)
        run, generator = [], np.random.default_rng(seed)
        stopped = null(points, rule, seed, workers, cost=cost, seen=run, generator=generator)
        reached = list(full.values >= full.observed - full.tolerance)
        pvalue, drawn = ended(rule, reached)
        assert (stopped.pvalue, stopped.values.size, stopped.n_planned) == (pvalue, drawn, 999)
        assert stopped.observed == full.observed
        np.testing.assert_array_equal(stopped.values, full.values[:drawn])
        # what is computed ahead is little: a quarter of what counts, or a handful of rows
        assert sum(run) <= 1 + drawn * 1.25 + 2 * 16


def test_all_permutations_are_enumerated_whatever_the_rule():
    points = np.array([0.3, 2.0, -1.0, 0.4, 0.9, 1.7, -0.2])
    for rule in RULES:
        result, full = null(points, rule, 0, B=35), null(points, None, 0, B=35)
        np.testing.assert_array_equal(result.values, full.values)
        assert result.exact and not result.stopped and result.stopping is None
        assert result.pvalue == full.pvalue


@pytest.mark.parametrize(("rule", "drawn"), [(BesagClifford(h=3), 3), (Curtailed((0.05,)), 10)])
def test_rounding_below_the_observed_statistic_is_a_tie_where_to_stop_too(rule, drawn):
    """All draws are as large as the data but for rounding: so they count for the p-value, and so they must before."""

    def statistic(labels):
        moved = (labels != np.repeat([0, 1], 10)).any(axis=1)
        return np.column_stack([1.0 - 5e-11 * moved, np.ones(len(labels))])

    null = null_distribution(
        statistic, Draws.of(Labels((10, 10)), 199, np.random.default_rng(0)), stopping=rule
    )
    assert (null.values.size, null.exceedances, null.pvalue) == (drawn, drawn, 1.0)


CASES = {
    "two samples, kme": lambda **o: two_sample_test(U, V, **o),
    "two samples, fkmse": lambda **o: two_sample_test(U, V, estimator=FKMSE(lam_cov=0.1), **o),
    "two samples, function": lambda **o: two_sample_test(
        U, V, estimator=lambda G: G.mean(axis=1) / len(G), **o
    ),
    "independence, kme": lambda **o: independence_test(U, U[:, ::-1] ** 2 + V[:12], **o),
    "independence, fkmse": lambda **o: independence_test(
        U, U[:, ::-1] ** 2 + V[:12], estimator="fkmse", **o
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("rule", ["besag-clifford", "curtailed", BesagClifford(5)], ids=str)
def test_tests_stop_where_their_null_distribution_says(case, rule):
    for seed in (0, 1):
        full = CASES[case](rng=seed)
        results = [CASES[case](rng=seed, stopping=rule, workers=workers) for workers in (1, 3)]
        reached = list(full.null_distribution >= full.statistic - full.tolerance)
        pvalue, drawn = ended(as_stopping(rule, 0.05), reached)
        for result in results:
            assert (result.pvalue, result.n_resamples, result.n_planned) == (pvalue, drawn, 999)
            assert result.statistic == full.statistic
            np.testing.assert_array_equal(result.null_distribution, full.null_distribution[:drawn])
            assert result.stopping == as_stopping(rule, 0.05)
            assert rule != "curtailed" or result.reject() == full.reject()


def runs(count, rules, points=24, seed=0):
    """p-values and draws of null data sets, by all draws and by every rule: {rule: (p-values, draws)}."""
    outcomes = {rule: ([], []) for rule in (None, *rules)}
    for trial in range(count):
        data = np.random.default_rng([seed, trial]).normal(size=points)
        for rule, (pvalues, draws) in outcomes.items():
            result = null(data, rule, [seed, trial, 1])
            pvalues.append(result.pvalue)
            draws.append(result.values.size)
    return {
        rule: (np.array(pvalues), np.array(draws)) for rule, (pvalues, draws) in outcomes.items()
    }


def uniform_on_attainable_values(pvalues, h, B=999, expected=8.0):
    """Chi-square p-value: attainable values in groups in which so many runs are expected."""
    attainable = np.array(
        [(g + 1) / (B + 1) for g in range(h)] + [h / draw for draw in range(B, h - 1, -1)]
    )
    edges, last = [], 0.0
    for x in attainable:
        if (x - last) * len(pvalues) >= expected:
            edges.append(x)
            last = x
    edges[-1] = 1.0
    assert np.isin(pvalues, attainable).all()
    counts = np.histogram(pvalues, np.nextafter([-1.0, *edges], 2.0))[0]  # groups (a, b]
    return stats.chisquare(counts, np.diff([0.0, *edges]) * len(pvalues)).pvalue, len(edges)


def check_runs(count):
    rules = (BesagClifford(10), BesagClifford(), Curtailed((0.05,)))
    outcomes = runs(count, rules)
    for rule in rules[:2]:
        pvalue, groups = uniform_on_attainable_values(outcomes[rule][0], rule.h)
        print(
            f"\n{rule}: chi-square p = {pvalue:.3f} over {groups} groups, {outcomes[rule][1].mean():.1f} draws of 999"
        )
        assert pvalue > 1e-3
        expected = rule.h * (1 + (1 / np.arange(rule.h + 1, 1000)).sum())
        assert outcomes[rule][1].mean() == pytest.approx(
            expected, abs=4 * outcomes[rule][1].std() / np.sqrt(count)
        )
    full, (pvalues, draws) = outcomes[None][0], outcomes[rules[2]]
    np.testing.assert_array_equal(pvalues <= 0.05, full <= 0.05)
    print(
        f"{rules[2]}: {(full <= 0.05).sum()} rejections of {count}, the same; {draws.mean():.1f} draws of 999"
    )
    assert draws.mean() < 333
    for alpha in (0.01, 0.05, 0.3):  # valid at every level
        assert (pvalues <= alpha).sum() <= stats.binom.ppf(0.9995, count, alpha)


@pytest.mark.ci
def test_null_runs():
    check_runs(300)


@pytest.mark.slow
def test_ten_thousand_null_runs():
    check_runs(10_000)
