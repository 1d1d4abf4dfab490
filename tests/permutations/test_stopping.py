"""Sequential stopping: the p-values are valid, decisions are those of all draws, and workers change nothing.

`pytest -m slow -s tests/permutations/test_stopping.py` runs the large version and prints what it measured.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import naive_permutations
from shrinktest import FKMSE, BesagClifford, Curtailed, independence_test, two_sample_test
from shrinktest.permutations.base import Draws
from shrinktest.permutations.null import CostHint, null_distribution
from shrinktest.permutations.schemes import Labels
from shrinktest.permutations.stopping import as_stopping

RULES = [BesagClifford(h=4), BesagClifford(), Curtailed((0.05,)), Curtailed((0.01, 0.05, 0.3))]
RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(12, 2)), RNG.normal(size=(13, 2)) * 1.2


def ended(rule, reached):
    """(p-value, draws) by the package of a run of draws."""
    cumulative = np.cumsum(reached)
    drawn = rule.stop(cumulative, len(reached)) or len(reached)
    return rule.pvalue(int(cumulative[drawn - 1]), drawn, len(reached)), drawn


def first_sum(points, rows):
    """A statistic that numpy computes at once: the sum of the points that are in the first sample."""
    value = np.where(rows, points, 0.0).sum(axis=1)
    return np.stack([value, np.abs(value)], axis=1)


# --- the rules ----------------------------------------------------------------------------------------------

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
    """Whatever comes, a rule stops no earlier; and the best or the worst that can come makes it stop just then."""
    B = data.draw(st.integers(len(reached), len(reached) + 60))
    so_far = np.cumsum(reached)
    if rule.stop(so_far, B) is not None:
        return
    least = rule.least(int(so_far[-1]), len(reached), B)
    futures = [reached + [one] * (B - len(reached)) for one in (True, False)]
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
        assert float(sum(p for value, p in law.items() if value <= x)) == pytest.approx(x, abs=1e-12)


@pytest.mark.parametrize(
    ("alphas", "B"),
    [((0.2,), 9), ((0.3,), 11), ((0.1, 0.4), 10), ((0.2, 0.3, 0.7), 12), ((0.1, 0.5), 11), ((0.01,), 9), ((0.95,), 8)],
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


# --- in a null distribution ---------------------------------------------------------------------------------


def null(points, rule, seed, workers=1, B=999, cost=None, seen=None, generator=None):
    def statistic(rows):
        if seen is not None:
            seen.append(len(rows))
        return first_sum(points, rows)

    rng = generator or np.random.default_rng(seed)
    split = Draws.of(Labels((len(points) // 2, len(points) - len(points) // 2)), B, rng)
    return null_distribution(statistic, split, stopping=rule, workers=workers, cost=cost)


@pytest.mark.parametrize("cost", [None, CostHint(1e-7), CostHint(1e-3, rows=64)], ids=["alone", "small", "dear"])
@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_it_ends_where_all_draws_say_for_any_number_of_workers(rule, workers, cost):
    for seed in range(8):
        points = np.random.default_rng([seed, 1]).normal(size=25)
        full = null(points, None, seed)
        run, generator = [], np.random.default_rng(seed)
        one = null(points, rule, seed, workers, cost=cost, seen=run, generator=generator)
        reached = list(full.values >= full.observed - full.tolerance)
        pvalue, drawn = ended(rule, reached)
        assert (one.pvalue, one.values.size, one.n_planned) == (pvalue, drawn, 999)
        assert one.observed == full.observed
        np.testing.assert_array_equal(one.values, full.values[:drawn])
        # what is computed ahead is little: a quarter of what counts, or a handful of rows
        assert sum(run) <= 1 + drawn * 1.25 + 2 * 16


def test_all_permutations_are_enumerated_whatever_the_rule():
    points = np.array([0.3, 2.0, -1.0, 0.4, 0.9, 1.7, -0.2])
    for rule in RULES:
        found, full = null(points, rule, 0, B=35), null(points, None, 0, B=35)
        np.testing.assert_array_equal(found.values, full.values)
        assert found.exact and not found.stopped and found.stopping is None
        assert found.pvalue == full.pvalue


@pytest.mark.parametrize(("rule", "drawn"), [(BesagClifford(h=3), 3), (Curtailed((0.05,)), 10)])
def test_rounding_below_the_observed_statistic_is_a_tie_where_to_stop_too(rule, drawn):
    """All draws are as large as the data but for rounding: so they count for the p-value, and so they must before."""

    def statistic(labels):
        moved = (labels != np.repeat([0, 1], 10)).any(axis=1)
        return np.column_stack([1.0 - 5e-11 * moved, np.ones(len(labels))])

    null = null_distribution(statistic, Draws.of(Labels((10, 10)), 199, np.random.default_rng(0)), stopping=rule)
    assert (null.values.size, null.exceedances, null.pvalue) == (drawn, drawn, 1.0)


# --- in the tests -------------------------------------------------------------------------------------------

CASES = {
    "two samples, kme": lambda **o: two_sample_test(X, Y, **o),
    "two samples, fkmse": lambda **o: two_sample_test(X, Y, estimator=FKMSE(lam_cov=0.1), **o),
    "two samples, function": lambda **o: two_sample_test(X, Y, estimator=lambda G: G.mean(axis=1) / len(G), **o),
    "independence, kme": lambda **o: independence_test(X, X[:, ::-1] ** 2 + Y[:12], **o),
    "independence, fkmse": lambda **o: independence_test(X, X[:, ::-1] ** 2 + Y[:12], estimator="fkmse", **o),
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


# --- many null runs -----------------------------------------------------------------------------------------


def runs(count, rules, points=24, seed=0):
    """p-values and draws of null data sets, by all draws and by every rule: {rule: (p-values, draws)}."""
    found = {rule: ([], []) for rule in (None, *rules)}
    for trial in range(count):
        data = np.random.default_rng([seed, trial]).normal(size=points)
        for rule, (pvalues, draws) in found.items():
            one = null(data, rule, [seed, trial, 1])
            pvalues.append(one.pvalue)
            draws.append(one.values.size)
    return {rule: (np.array(pvalues), np.array(draws)) for rule, (pvalues, draws) in found.items()}


def uniform_on_attainable_values(pvalues, h, B=999, expected=8.0):
    """Chi-square p-value: attainable values in groups in which so many runs are expected."""
    attainable = np.array([(g + 1) / (B + 1) for g in range(h)] + [h / draw for draw in range(B, h - 1, -1)])
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
    found = runs(count, rules)
    for rule in rules[:2]:
        pvalue, groups = uniform_on_attainable_values(found[rule][0], rule.h)
        print(f"\n{rule}: chi-square p = {pvalue:.3f} over {groups} groups, {found[rule][1].mean():.1f} draws of 999")
        assert pvalue > 1e-3
        expected = rule.h * (1 + (1 / np.arange(rule.h + 1, 1000)).sum())
        assert found[rule][1].mean() == pytest.approx(expected, abs=4 * found[rule][1].std() / np.sqrt(count))
    full, (pvalues, draws) = found[None][0], found[rules[2]]
    np.testing.assert_array_equal(pvalues <= 0.05, full <= 0.05)
    print(f"{rules[2]}: {(full <= 0.05).sum()} rejections of {count}, the same; {draws.mean():.1f} draws of 999")
    assert draws.mean() < 333
    for alpha in (0.01, 0.05, 0.3):  # valid at every level
        assert (pvalues <= alpha).sum() <= stats.binom.ppf(0.9995, count, alpha)


def test_null_runs():
    check_runs(800)


@pytest.mark.slow
def test_ten_thousand_null_runs():
    check_runs(10_000)
