"""Independence given other variables: within strata, by models, and what all methods have in common."""

from __future__ import annotations

import copy
import inspect
import itertools
import json
import pickle
import typing
from functools import partial

import numpy as np
import pandas as pd
import pytest

import naive_given
from shrinktest import XGivenZ, calibrate, independence_matrix, independence_test
from shrinktest.conditional.ridge import bases, smoother
from shrinktest.permutations import base
from shrinktest.permutations.base import Draws
from shrinktest.permutations.schemes import LabelsByChance, WeightedPairings
from shrinktest.power.designs import Confounded

RNG = np.random.default_rng(3)
N = 40
Z = RNG.normal(size=(N, 2))
X = Z.sum(axis=1, keepdims=True) + RNG.normal(size=(N, 1))
Y = Z.sum(axis=1, keepdims=True) + RNG.normal(size=(N, 1))
TIED = Y + X
SITE = np.array(list("aabbbcccdd"))


# --- strata -------------------------------------------------------------------------------------------------


def test_strata_are_every_permutation_within_them():
    rng = np.random.default_rng(0)
    x, y, site = rng.normal(size=(7, 1)), rng.normal(size=(7, 1)), list("aabbbcc")
    found = independence_test(x, y, given=site, bandwidth_x=1.0, bandwidth_y=1.0, alpha=0.5)
    K, L = (naive_given.gaussian(naive_given.centred(one, site), 1.0) for one in (x, y))
    values = [naive_given.hsic(K, L[np.ix_(pi, pi)]) for pi in naive_given.within(site)]
    assert found.exact and found.n_resamples == len(values) == 24
    assert found.pvalue == np.mean([value >= values[0] - 1e-12 for value in values])
    np.testing.assert_allclose(np.sort(found.null_distribution), np.sort(values), atol=1e-12)


@pytest.mark.parametrize("given", [SITE, SITE.tolist(), pd.Series(SITE), pd.Series(SITE, dtype="category")])
def test_labels_are_strata_by_themselves(given):
    found = independence_test(X[:10], Y[:10], given=given, rng=1)
    assert found.method == "permutations within strata" and "exact" in found.assumption
    assert found.test == "conditional-independence"
    left = [naive_given.centred(one[:10], SITE) for one in (X, Y)]
    assert found.pvalue == independence_test(*left, blocks=SITE, rng=1).pvalue
    assert any(found.assumption in note for note in found.notes)


def test_numbers_are_strata_where_asked_for():
    codes = np.arange(10) % 3
    asked = independence_test(X[:10], Y[:10], given=codes, given_method="strata", rng=1)
    left = [naive_given.centred(one[:10], codes) for one in (X, Y)]
    assert asked.pvalue == independence_test(*left, blocks=codes, rng=1).pvalue


@pytest.mark.parametrize("estimator", ["kme", "skmse", "auto"])
def test_dependence_within_strata_is_found_also_where_that_between_them_runs_against_it(estimator):
    """Simpson's paradox: permutations within strata would all have more of what strata differ in."""
    rng = np.random.default_rng(8)
    site = np.repeat(np.arange(4), 30)
    x = rng.normal(size=120)
    y = 3.0 * site - 0.6 * x + rng.normal(size=120)
    x = x + 3.0 * site
    assert np.corrcoef(x, y)[0, 1] > 0.5
    told = {"given": site.astype(str), "estimator": estimator, "n_resamples": 199, "rng": 0}
    assert independence_test(x, y, **told).pvalue < 0.02
    assert independence_test(x, 3.0 * site + rng.normal(size=120), **told).pvalue > 0.05


def test_nothing_is_left_where_strata_have_one_value():
    with pytest.raises(ValueError, match="given determines Y: every stratum has one value only"):
        independence_test(X[:10], (SITE == "a") + 1e9, given=SITE)


def test_rows_alone_in_their_stratum_are_left_out_and_counted():
    site = np.append(SITE, ["x", "y"])
    found = independence_test(X[:12], Y[:12], given=site, rng=1)
    assert found.n_observations == (10,)
    assert found.pvalue == independence_test(X[:10], Y[:10], given=SITE, rng=1).pvalue
    assert any("2 of 12 rows have a value of" in note for note in found.notes)


def test_strata_within_blocks():
    site, block = list("aaaabbbb"), np.array([0, 0, 1, 1] * 2)
    both = [f"{name}{one}" for name, one in zip(site, block, strict=True)]
    crossed, alone = (
        independence_test(X[:8], Y[:8], alpha=0.5, **told)
        for told in ({"given": site, "blocks": block}, {"given": both})
    )
    assert crossed.exact and crossed.n_resamples == 16
    assert crossed.pvalue == alone.pvalue


# --- models -------------------------------------------------------------------------------------------------


def frequencies(rows, expected):
    """Largest standardised difference of frequencies from chances."""
    counts = dict.fromkeys(expected, 0)
    for row in rows.tolist():
        counts[tuple(row)] += 1
    total = len(rows)
    return max(abs(counts[key] - total * p) / np.sqrt(total * p * (1 - p)) for key, p in expected.items())


def drawn(scheme, rows, seed):
    """Random rows of a scheme."""
    return Draws.of(scheme, rows, np.random.default_rng(seed)).rows(1)


def test_weighted_pairings_are_as_likely_as_the_model_says():
    chances = np.log(np.random.default_rng(1).uniform(0.2, 1.0, size=(4, 4)))
    rows = drawn(WeightedPairings(chances), 6000, 2)
    at = np.argsort(rows, axis=1)  # the x at every z
    assert frequencies(at, naive_given.chances_of_pairings(chances)) < 4.0


def test_the_data_are_one_of_their_draws():
    """From x drawn by the model, rank among draws is uniform, however few steps the chains take."""
    rng = np.random.default_rng(0)
    chances = np.log(rng.uniform(0.05, 1.0, size=(5, 5)))
    expected = naive_given.chances_of_pairings(chances)
    orders, p = list(expected), np.array(list(expected.values()))
    ranks = []
    for trial in range(800):
        order = np.array(orders[rng.choice(len(orders), p=p)])
        moved = drawn(WeightedPairings(chances[order]), 9, trial)
        # the statistic is the number of the x at the first z, with a coin for ties
        at = order[np.argsort(moved, axis=1)[:, 0]] + rng.uniform(size=9)
        ranks.append((at < order[0] + rng.uniform()).sum())
    counts = np.bincount(ranks, minlength=10)
    assert ((counts - 80) ** 2 / 80).sum() < 27.9  # chi square with 9 degrees of freedom at .001


def test_chains_from_the_data_go_the_way_back(monkeypatch):
    """Exchanges of the draws in the opposite order, without which data and draws are not exchangeable."""
    schedules, moved = [], WeightedPairings._moved
    monkeypatch.setattr(
        WeightedPairings,
        "_moved",
        lambda self, state, schedule, rng: schedules.append(schedule) or moved(self, state, schedule, rng),
    )
    drawn(WeightedPairings(np.zeros((6, 6))), 5, 0)
    back, forward = schedules
    assert len(back) > 1 and not np.array_equal(back, back[::-1])
    assert np.array_equal(forward, back[::-1])


def test_all_chunks_start_from_one_state_in_the_middle(monkeypatch):
    """Otherwise draws of different chunks, and the data, would not be exchangeable."""
    starts, moved = [], WeightedPairings._moved
    monkeypatch.setattr(
        WeightedPairings,
        "_moved",
        lambda self, state, schedule, rng: starts.append(state[0].tolist()) or moved(self, state, schedule, rng),
    )
    monkeypatch.setattr(base, "_CHUNK", 16 * 6)
    Draws.of(WeightedPairings(np.zeros((6, 6))), 40, np.random.default_rng(0)).rows()
    assert len(starts) == 6 and starts[1] == starts[3] == starts[5] != starts[0]


def test_labels_by_chance_are_exact():
    odds = np.array([0.3, 2.0, 1.0, 0.7, 4.0])
    rows = drawn(LabelsByChance((3, 2), np.log(odds)), 6000, 2)
    assert (rows.sum(axis=1) == 2).all()
    assert frequencies(rows, naive_given.chances_of_labels(odds, 2)) < 4.0


def test_copies_are_compared_with_the_data():
    """The p-value counts copies whose HSIC with what is left of y reaches that of the data, as a twin finds it."""
    drawn = []

    def draw(z, rng):
        drawn.append(z.sum(axis=1, keepdims=True) + rng.normal(size=(N, 1)))
        return drawn[-1]

    found = independence_test(X, TIED, given=Z, x_given_z=draw, bandwidth_x=1.0, bandwidth_y=1.0, n_resamples=39, rng=0)
    middle = np.mean(drawn[:50], axis=0)
    copies = [copy - middle for copy in drawn[51:]]
    left = smoother(bases(Z), TIED / TIED.std(axis=0)).residuals(TIED)
    L = naive_given.gaussian(left, 1.0)
    values = [naive_given.hsic(naive_given.gaussian(x, 1.0), L) for x in (X - middle, *copies)]
    np.testing.assert_allclose([found.statistic, *found.null_distribution], values, atol=1e-12)
    assert found.pvalue == np.mean(np.array(values) >= values[0])
    assert found.method == "conditional randomisation test"


@pytest.mark.parametrize(
    "model",
    [
        lambda z, rng: z.sum(axis=1) + rng.normal(size=len(z)),
        XGivenZ(log_density=lambda x, z: -0.5 * (x[:, 0] - z.sum(axis=1)) ** 2),
    ],
)
def test_models_find_what_is_there_and_nothing_else(model):
    told = {"given": Z, "x_given_z": model, "n_resamples": 199, "rng": 1}
    assert independence_test(X, Y, **told).pvalue > 0.05
    assert independence_test(X, TIED, **told).pvalue < 0.05


def test_workers_and_batches_change_nothing():
    model = XGivenZ(log_density=lambda x, z: -0.5 * (x[:, 0] - z.sum(axis=1)) ** 2)
    for told in ({"x_given_z": model}, {}, {"estimator": "auto", "x_given_z": model}):
        one, two = (independence_test(X, Y, given=Z, n_resamples=99, rng=5, workers=w, **told) for w in (1, 2))
        np.testing.assert_array_equal(one.null_distribution, two.null_distribution)


def predicted_and_noise(z, rng):
    return z[:, 0] + rng.normal(size=len(z))


def test_results_of_models_are_pickled_with_their_data():
    found = independence_test(X, Y, given=Z, x_given_z=XGivenZ(predicted_and_noise), n_resamples=99, rng=0).with_data()
    assert pickle.loads(pickle.dumps(found)) == found == copy.deepcopy(found)


def test_a_fitted_regressor_is_a_model():
    from sklearn.linear_model import LinearRegression

    model = LinearRegression().fit(Z, X)
    found = independence_test(X, TIED, given=Z, x_given_z=model, rng=0)
    assert found.pvalue < 0.05 and "fitted on other data" in found.assumption
    assert independence_test(X, Y, given=Z, x_given_z=model, rng=0).pvalue > 0.05


# --- the function, and its results ---------------------------------------------------------------------------


def test_overloads_have_the_arguments_of_the_function():
    shown = [inspect.signature(one).parameters for one in typing.get_overloads(independence_test)]
    assert len(shown) == 2 and all(list(one) == list(inspect.signature(independence_test).parameters) for one in shown)


def test_results_keep_the_method():
    found = independence_test(X, Y, given=Z, rng=0)
    read = json.loads(found.to_json())
    assert (read["method"], read["assumption"]) == (found.method, found.assumption)
    assert found.method in str(found.summary())
    with pytest.raises(ValueError, match="no scale for the dependence of two variables given others"):
        found.effect()


# --- what cannot be tested ----------------------------------------------------------------------------------


@pytest.mark.parametrize("one", [np.ones(N), 1e-200 * np.arange(N)])
def test_a_variable_without_a_variance(one):
    with pytest.raises(ValueError, match="X has one value only, or values that differ by so little"):
        independence_test(one, Y, given=Z, scale=None)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"given": list(range(N)), "given_method": "strata"}, "each of 40 rows has a value of its own"),
        ({"given": 2.0 * X}, "given determines X"),
        ({"given": Y + 1.0}, "given determines Y"),
        ({"given": Z[:-1]}, "X has 40 rows and given has 39 rows"),
        ({"given": Z, "shift": "circular"}, "shift= says which rows of Y may change places"),
        ({"given": Z, "blocks": np.arange(N) % 2}, "add the label to given"),
        ({"given": Z, "given_method": "kci"}, "given_method"),
        ({"given": Z, "x_given_z": 3}, "x_given_z must be a function"),
        ({"given": Z, "x_given_z": lambda z, rng: z}, "drew shape"),
        ({"given": Z, "x_given_z": XGivenZ(log_density=lambda x, z: 1.0)}, "one number a row"),
        ({"given": Z, "x_given_z": lambda z, rng: X, "given_method": "local"}, "a method by itself"),
        ({"given": Z, "regressor": 3}, "regressor must be a regressor"),
        ({"given": SITE[np.arange(N) % 10], "given_method": "strata", "regressor": 3}, "leave it out"),
        ({"regressor": 3}, "give these, given=Z"),
        ({"given": Z, "form": "unbiased"}, "form='unbiased'"),
        (
            {"given": Z, "x_given_z": lambda z, rng: rng.normal(size=N), "n_resamples": np.inf},
            "needs equally likely permutations",
        ),
        ({"given": Z, "gram": "nystrom"}, "what regressions leave of X and Y is compared by Gram matrices"),
    ],
)
def test_what_cannot_be_tested(told, message):
    with pytest.raises((ValueError, TypeError), match=message):
        independence_test(X, Y, **told)


def test_fewer_rows_than_a_regression_needs():
    with pytest.raises(ValueError, match="a regression needs 10 rows or more, found 9"):
        independence_test(X[:9], Y[:9], given=Z[:9])


def test_missing_values():
    z = Z.copy()
    z[3, 0] = np.nan
    with pytest.raises(ValueError, match="given has"):
        independence_test(X, Y, given=z)
    keep = np.arange(N) != 3
    found = independence_test(X, Y, given=z, nan_policy="omit", rng=0)
    assert found.pvalue == independence_test(X[keep], Y[keep], given=Z[keep], rng=0).pvalue
    assert np.isnan(independence_test(X, Y, given=z, nan_policy="propagate").pvalue)


# --- many -----------------------------------------------------------------------------------------------------


def test_matrix_given_others_is_every_test():
    rng = np.random.default_rng(0)
    chain = np.cumsum(rng.normal(size=(90, 4)) * [1.0, 0.6, 0.6, 0.6], axis=1)
    found = independence_matrix(chain, given="others", rng=1, n_resamples=199)
    for (i, j), pvalue in zip(itertools.combinations(range(4), 2), found.pvalues, strict=True):
        rest = np.delete(chain, [i, j], axis=1)
        assert pvalue == independence_test(chain[:, i], chain[:, j], given=rest, rng=1, n_resamples=199).pvalue
    rejected = [label for label, one in zip(found.labels, found.reject(), strict=True) if one]
    assert rejected == [("x0", "x1"), ("x1", "x2"), ("x2", "x3")]
    assert any("approximately valid" in note for note in found.notes)


@pytest.mark.parametrize("told", [{"given": Z}, {"given": np.arange(N) % 3, "given_method": "strata"}])
def test_matrix_given_the_same_for_all(told):
    both = np.column_stack([X, TIED])
    for other in (None, np.column_stack([Y, Y + 0.1 * TIED])):
        found = independence_matrix(both, other, **told, rng=1, n_resamples=99)
        right = both if other is None else other
        alone = independence_test(both[:, 0], right[:, 1], **told, rng=1, n_resamples=99)
        assert found.pvalues[0 if other is None else 1] == alone.pvalue


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"given": "others", "Y": Y}, "leave out Y"),
        ({"given": "all"}, "given"),
        ({"given": "others"}, "two columns, and no other"),
        ({"given": Z, "Y": Y, "shift": "circular"}, "leave one of them out"),
        ({"given_method": "local"}, "give these"),
    ],
)
def test_matrices_that_cannot_be(told, message):
    with pytest.raises(ValueError, match=message):
        independence_matrix(np.column_stack([X, TIED]), **told)


def test_power_studies():
    from shrinktest.power import power_study

    design = Confounded("smooth", columns=2, effect=1.0)
    study = power_study(design, ["kme", "skmse"], 40, n_trials=10, n_resamples=49, workers=1, progress=False)
    assert study.table["power"].min() > 0.4
    null = power_study(design.null(), ["kme"], 40, n_trials=10, n_resamples=49, workers=1, progress=False)
    assert null.table["power"].max() < 0.5
    assert all(np.isfinite(part).all() for part in Confounded("rough", how="turning").sample(0, 20))


# --- calibration ------------------------------------------------------------------------------------------------


def test_calibration_given_numbers_and_labels():
    rng = np.random.default_rng(0)
    z = rng.normal(size=60)
    x, y = z + 0.5 * rng.normal(size=60), z + 0.5 * rng.normal(size=60)
    site = np.where(z > 0, "a", "b")
    ours = partial(independence_test, given=z, n_resamples=99, rng=0, workers=1)
    told = {"kind": "independence", "n_trials": 100, "workers": 1}
    assert not calibrate(ours, x, y, given=z, **told).anti_conservative
    assert calibrate("pearsonr", x, y, given=z, **told).anti_conservative  # which knows of no z
    assert calibrate("pearsonr", x, y, given=site, **told).anti_conservative
    inside = partial(independence_test, given=site, n_resamples=99, rng=0, workers=1)
    assert not calibrate(inside, x, y, given=site, **told).anti_conservative
    for wrong in ({"kind": "two-sample"}, {"blocks": site}):
        with pytest.raises(ValueError, match="given= is for kind='independence'"):
            calibrate(inside, x, y, given=z, **{**told, **wrong})
    with pytest.raises(TypeError, match="given= numbers needs Y in numbers"):
        calibrate(inside, x, pd.DataFrame({"y": y}), given=z, **told)


def test_calibration_given_numbers_says_that_its_null_is_an_estimate():
    rng = np.random.default_rng(0)
    x, y, z = rng.normal(size=(3, 40))
    told = {"kind": "independence", "n_trials": 5, "workers": 1}
    found = calibrate("pearsonr", x, y, given=z, **told)
    assert found.restriction == "residuals of a regression, within 4 blocks"
    assert "rows of Y permuted (residuals of a regression, within 4 blocks)" in found.summary()
    (note,) = found.notes
    assert "the null hypothesis is an estimate" in note and note in " ".join(found.summary().split())
    assert found.to_dict()["notes"] == [note]
    labels = calibrate("pearsonr", x, y, given=np.where(z > 0, "a", "b"), **told)
    assert (labels.restriction, labels.notes) == ("within 2 blocks", ())


def test_calibration_keeps_what_the_given_explains():
    z, seen = np.linspace(-1.0, 1.0, 40), []

    def look(x, y):
        seen.append(y)
        return 0.5

    quiet = np.where(z > 0, 1.0, 0.01) * RNG.normal(size=40)
    for y, given in ((X[:40, 0], np.ones(40)), (50.0 * z + RNG.normal(size=40), z), (X[:40, 0], z > 0), (quiet, z)):
        calibrate(look, z**3, y, given=given, kind="independence", n_trials=3, workers=1)
    alone, explained, strata, near = np.array(seen).reshape(4, 4, 40)  # the first trial is tried out before all are run
    np.testing.assert_allclose(np.sort(alone), np.tile(np.sort(X[:40, 0]), (4, 1)))  # a constant explains nothing
    assert len({tuple(y) for y in alone}) == 3 and np.abs(explained - 50.0 * z).max() < 12.0
    assert np.abs(near[:, z < 0]).max() < 0.2  # noise stays where the given is alike
    for part in (z <= 0, z > 0):
        np.testing.assert_array_equal(np.sort(strata[:, part]), np.tile(np.sort(X[:40, 0][part]), (4, 1)))
