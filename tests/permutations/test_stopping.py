"""Sequential stopping: the p-values are valid, decisions are those of all draws, and workers change nothing.

`pytest -m slow -s tests/permutations/test_stopping.py` runs the large version and prints what it measured.
"""

from __future__ import annotations

import itertools
import json
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import naive_stopping
from shrinktest import FKMSE, BesagClifford, Curtailed, independence_test, two_sample_test
from shrinktest.permutations.base import Draws
from shrinktest.permutations.null import CostHint, Null, null_distribution
from shrinktest.permutations.schemes import Labels, Pairings
from shrinktest.permutations.stopping import allowed_rows, as_stopping

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
    assert ended(BesagClifford(h), reached) == naive_stopping.besag_clifford(reached, h)


@settings(max_examples=200, deadline=None)
@given(RUNS, st.lists(st.sampled_from([0.01, 0.05, 0.1, 0.3, 0.7]), min_size=1, max_size=3))
def test_decision_is_its_twin(reached, alphas):
    attainable = [alpha for alpha in alphas if alpha >= 1 / (len(reached) + 1)]
    if len(attainable) < len(alphas):  # the twin need not draw for a level that can never reject
        alphas = attainable or [1 / (len(reached) + 1)]
    pvalue, drawn = ended(Curtailed(tuple(alphas)), reached)
    decisions, needed = naive_stopping.curtailed(reached, alphas)
    assert drawn == needed
    assert [pvalue <= alpha for alpha in alphas] == decisions
    assert pvalue == naive_stopping.curtailed_pvalue(reached, alphas)


@settings(max_examples=200, deadline=None)
@given(RUNS, st.lists(st.floats(0.001, 0.999), min_size=1, max_size=3))
def test_decisions_are_those_of_all_draws(reached, alphas):
    full = (1 + sum(reached)) / (1 + len(reached))
    rule = Curtailed(tuple(alphas))
    pvalue, _ = ended(rule, reached)
    assert [pvalue <= alpha for alpha in alphas] == [full <= alpha for alpha in alphas]


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

    law = naive_stopping.law(outcome, B)
    assert sum(law.values()) == 1
    for x in law:
        assert float(sum(p for value, p in law.items() if value <= x)) == pytest.approx(x, abs=1e-12)


@pytest.mark.parametrize(
    ("alphas", "B"),
    [((0.2,), 9), ((0.3,), 11), ((0.1, 0.4), 10), ((0.2, 0.3, 0.7), 12), ((0.1, 0.5), 11), ((0.01,), 9), ((0.95,), 8)],
)
def test_p_values_of_a_decision_are_valid(alphas, B):
    law = naive_stopping.law(lambda reached: ended(Curtailed(alphas), reached)[0], B)
    for x in law:
        valid = float(sum(p for value, p in law.items() if value <= x))
        assert valid <= x + 1e-12
        if x <= min(alphas):  # nor does a rejection lose anything
            assert valid == pytest.approx(x, abs=1e-12)
    for alpha in alphas:
        level = sum(p for value, p in law.items() if value <= alpha)
        assert level == Fraction(int(alpha * (B + 1) + 1e-9), B + 1)  # the level of all draws


@pytest.mark.parametrize("rows", [1, 20, 100, 1000])
def test_allowed_rows_agree_with_the_p_values_themselves(rows):
    attainable = np.arange(1, rows + 1) / rows
    for alpha in [0.05, 0.01, 0.1, 1 / 3, 0.999, *attainable[:50:7] * 0.999999]:
        assert allowed_rows(alpha, rows) == (attainable <= alpha).sum()


def test_rules_are_values():
    for rule in RULES:
        assert pickle.loads(pickle.dumps(rule)) == rule == eval(repr(rule))
    assert Curtailed(np.array(0.05)) == Curtailed(np.array([0.05])) == Curtailed(0.05)
    assert Curtailed(0.05) == Curtailed([0.05, 0.05]) == as_stopping("curtailed", 0.05)
    assert as_stopping("besag_clifford") == as_stopping("besag-clifford", 0.05) == BesagClifford()
    assert as_stopping(None, 0.05) is None
    assert as_stopping(RULES[0], 0.05) is RULES[0]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: BesagClifford(0), ValueError, "h must be an integer >= 1, got 0"),
        (lambda: BesagClifford(2.5), TypeError, "h must be an integer"),
        (lambda: Curtailed(()), TypeError, r"alphas must be one or more levels, such as \(0.05, 0.01\)"),
        (lambda: Curtailed("0.05"), TypeError, "alphas must be one or more levels"),
        (lambda: Curtailed(np.array("0.05")), TypeError, "alphas must be one or more levels"),
        (lambda: Curtailed((0.05, 1.0)), ValueError, "alphas must lie strictly between 0 and 1, got 1.0"),
        (lambda: as_stopping("curtaild", 0.05), ValueError, "Did you mean 'curtailed'"),
        (lambda: as_stopping(10, 0.05), TypeError, r"a rule such as BesagClifford\(h=10\); got 10"),
        (lambda: two_sample_test(X, Y, stopping="early"), ValueError, "stopping must be one of 'besag-clifford'"),
    ],
)
def test_what_is_no_rule(make, error, message):
    with pytest.raises(error, match=message):
        make()


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


def test_a_generator_goes_on_as_after_all_draws():
    full, short = np.random.default_rng(5), np.random.default_rng(5)
    for generator, rule in ((full, None), (short, "besag-clifford")):
        two_sample_test(X, Y, rng=generator, stopping=rule)
        independence_test(X, X[::-1], rng=generator, stopping=rule)
    assert full.random() == short.random()


def test_all_permutations_are_enumerated_whatever_the_rule():
    points = np.array([0.3, 2.0, -1.0, 0.4, 0.9, 1.7, -0.2])
    for rule in RULES:
        found, full = null(points, rule, 0, B=35), null(points, None, 0, B=35)
        np.testing.assert_array_equal(found.values, full.values)
        assert found.exact and not found.stopped and found.stopping is None
        assert found.pvalue == full.pvalue


def test_ties_count_as_exceedances_when_they_decide_where_to_stop():
    points = np.ones(20)
    assert null(points, BesagClifford(5), 0).values.size == 5
    assert null(points, BesagClifford(5), 0).pvalue == 1.0


@pytest.mark.parametrize(("rule", "drawn"), [(BesagClifford(h=3), 3), (Curtailed((0.05,)), 10)])
def test_rounding_below_the_observed_statistic_is_a_tie_where_to_stop_too(rule, drawn):
    """All draws are as large as the data but for rounding: so they count for the p-value, and so they must before."""

    def statistic(labels):
        moved = (labels != np.repeat([0, 1], 10)).any(axis=1)
        return np.column_stack([1.0 - 5e-11 * moved, np.ones(len(labels))])

    null = null_distribution(statistic, Draws.of(Labels((10, 10)), 199, np.random.default_rng(0)), stopping=rule)
    assert (null.values.size, null.exceedances, null.pvalue) == (drawn, drawn, 1.0)


def test_the_statistic_need_not_be_finite_beyond_the_end():
    points = np.random.default_rng(0).normal(size=30)
    end = null(points, BesagClifford(3), 0).values.size

    def null_failing_from(bad):
        evaluated = 0

        def fails(rows):
            nonlocal evaluated
            out = first_sum(points, rows)
            out[max(0, bad - evaluated) :] = np.nan
            evaluated += len(rows)
            return out

        return null_distribution(
            fails, Draws.of(Labels((15, 15)), 999, np.random.default_rng(0)), stopping=BesagClifford(3)
        )

    assert null_failing_from(end + 1).values.size == end
    with pytest.raises(ValueError, match=f"the statistic of permutation {end} is not finite"):
        null_failing_from(end)


def test_stopped_is_whether_the_rule_gave_the_p_value():
    values = np.array([0.0, 3.0, 0.0, 3.0])
    assert Null(1.0, values, 0.0, False, BesagClifford(2), 4).stopped  # at the last draw: 2/4, and not 3/5
    assert Null(1.0, values, 0.0, False, BesagClifford(2), 4).pvalue == 0.5
    assert not Null(1.0, values, 0.0, False, BesagClifford(3), 4).stopped
    assert Null(1.0, values, 0.0, False, Curtailed(0.4), 9).stopped
    assert not Null(1.0, values, 0.0, False).stopped
    assert Null(1.0, values, 0.0, False).n_planned == 4
    assert np.isnan(Null(1.0, values[:0], 0.0, False, BesagClifford(3), 0).pvalue)


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


def test_a_decision_is_for_the_level_of_the_test():
    shifted = X[:, 0] + 0.6
    for alpha in (0.01, 0.05, 0.2):
        full, short = (two_sample_test(X[:, 0], shifted, alpha=alpha, rng=2, stopping=s) for s in (None, "curtailed"))
        assert short.stopping == Curtailed(alpha)
        assert short.reject() == full.reject()
        assert short.n_resamples < 999


def test_results_say_how_many_were_drawn():
    result = two_sample_test(X, Y, stopping="besag-clifford", rng=0)
    assert 20 < result.n_resamples < 999 and result.stopped
    assert f"Permutations:    {result.n_resamples} of 999 (random)" in str(result.summary())
    assert "Critical (0.05):          not known" in str(result.summary())
    assert np.isnan(result.critical_value())
    shown = json.loads(result.to_json())
    assert shown["n_planned"] == 999 and shown["stopped"] is True
    assert eval(shown["stopping"]) == result.stopping
    frame = result.to_frame()
    assert frame["n_resamples"].item() == result.n_resamples and frame["n_planned"].item() == 999
    low, high = result.pvalue_interval()
    assert low < result.pvalue < high
    assert f"{result.n_resamples} of 999 random permutations" in result.plot_null().get_legend_handles_labels()[1]


def test_a_rule_that_did_not_end_the_drawing_leaves_the_result_as_it_is():
    full = two_sample_test(X, Y + 3.0, rng=0)
    waited = two_sample_test(X, Y + 3.0, rng=0, stopping="besag-clifford")
    assert (waited.pvalue, waited.n_resamples, waited.stopped) == (full.pvalue, 999, False)
    assert waited.critical_value() == full.critical_value()
    decided = two_sample_test(X, Y + 3.0, rng=0, stopping="curtailed")
    assert decided.n_resamples == 950 and decided.pvalue == 1 / 951  # what it takes to be certain


def test_without_a_rule_results_say_nothing_of_it():
    result = two_sample_test(X, Y, rng=0)
    assert (result.stopping, result.stopped, result.n_planned) == (None, False, 999)
    everything = two_sample_test(X[:4], Y[:4], rng=0, stopping="curtailed")
    assert everything.exact and everything.stopping is None
    assert everything.n_planned == everything.n_resamples == 35


def test_too_few_permutations_are_judged_by_those_planned():
    with pytest.warns(UserWarning, match="that 18 permutations can give is 0.0526, above alpha = 0.05"):
        two_sample_test(X, Y, n_resamples=18, stopping=BesagClifford(2), rng=0)
    assert np.isnan(two_sample_test(X, Y, n_resamples=0, stopping="curtailed").pvalue)


def test_intervals_cover_when_a_rule_stopped():
    """Clopper and Pearson's limits, as if the number of draws had been fixed, are wide enough."""
    rng = np.random.default_rng(0)
    for rule in (BesagClifford(5), Curtailed((0.05,))):
        covered = 0
        for truth in rng.uniform(0.005, 0.5, size=400):
            reached = list(rng.random(199) < truth)
            _, drawn = ended(rule, reached)
            limits = stats.binomtest(sum(reached[:drawn]), drawn).proportion_ci(0.9, "exact")
            covered += limits.low <= truth <= limits.high
        assert covered >= stats.binom.ppf(1e-4, 400, 0.9)


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


@pytest.mark.slow
@pytest.mark.parametrize("test", [two_sample_test, independence_test])
def test_ten_thousand_null_runs_of_the_tests(test):
    pvalues, draws, same = [], [], 0
    for trial in range(10_000):
        rng = np.random.default_rng([7, trial])
        x, y = rng.normal(size=(15, 2)), rng.normal(size=(15, 2))
        full, short, sequential = (
            test(x, y, rng=trial, stopping=s, workers=1) for s in (None, "curtailed", "besag-clifford")
        )
        same += full.reject() == short.reject()
        draws.append(short.n_resamples)
        pvalues.append(sequential.pvalue)
    pvalue, groups = uniform_on_attainable_values(np.array(pvalues), 20)
    print(
        f"\n{test.__name__}: {same} equal decisions, {np.mean(draws):.1f} draws; chi-square p = {pvalue:.3f}, {groups}"
    )
    assert same == 10_000
    assert np.mean(draws) < 333
    assert pvalue > 1e-3


def test_the_uniformity_test_sees_wrong_p_values():
    found = runs(800, [BesagClifford(10)])[BesagClifford(10)]
    wrong = np.where(found[0] > 0.01, (found[0] * found[1] + 1) / (found[1] + 1), found[0])  # (h + 1) / (l + 1)
    counts = np.histogram(wrong, np.linspace(0.0, 1.0, 21))[0]
    assert stats.chisquare(counts).pvalue < 1e-3


def test_independence_permutations_are_cut_alike():
    for workers in (1, 4):
        drawn = Draws.of(Pairings(9), 500, np.random.default_rng(0))

        def statistic(rows):
            value = (rows * np.arange(9.0)).sum(axis=1)
            return np.stack([value, value], axis=1)

        found = null_distribution(statistic, drawn, stopping=BesagClifford(7), workers=workers)
        rows = drawn.rows()
        reached = list(statistic(rows)[1:, 0] >= statistic(rows)[0, 0])
        assert (found.pvalue, found.values.size) == naive_stopping.besag_clifford(reached, 7)


def test_every_short_run_is_decided_like_all_draws():
    for reached in itertools.product([True, False], repeat=9):
        for alpha in (0.05, 0.1, 0.2, 0.35, 0.9):
            pvalue, _ = ended(Curtailed((alpha,)), list(reached))
            assert (pvalue <= alpha) == ((1 + sum(reached)) / 10 <= alpha)
