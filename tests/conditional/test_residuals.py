"""Independence given numbers, by residuals: four statistics, their inflation, and what changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

import naive_given
from shrinktest import independence_test
from shrinktest.conditional import hypothesis
from shrinktest.conditional.regressions import Regression, Residuals
from shrinktest.permutations.schemes import Signs
from shrinktest.power.designs import Confounded
from shrinktest.statistics.signs import Combined

RNG = np.random.default_rng(3)
N = 40
Z = RNG.normal(size=(N, 2))
X = Z.sum(axis=1, keepdims=True) + RNG.normal(size=(N, 1))
Y = Z.sum(axis=1, keepdims=True) + RNG.normal(size=(N, 1))
TIED = Y + X


@pytest.fixture
def combined(monkeypatch):
    kept = []
    monkeypatch.setattr(hypothesis, "Combined", lambda *told: kept.append(Combined(*told)) or kept[-1])
    return kept


@pytest.mark.parametrize("columns", [1, 2, 9])
def test_squares_of_one_times_lines_of_the_other(columns, combined):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(40, 1))
    x, y = z + rng.normal(size=(40, columns)), z**2 + rng.normal(size=(40, 1))
    independence_test(x, y, given=z, rng=0, n_resamples=19)
    regression = Regression.on(z)
    lines = [naive_given.bounded(regression.residuals(one, "X").values) for one in (x, y)]
    squares = map(naive_given.squared, lines)
    left = [[regression.residuals_of_lines(one).values for one in some] for some in (lines, squares)]
    part = next(part for part in combined[0].parts if part.name == "squares")
    np.testing.assert_allclose(part.products.gram, naive_given.crossed(*left), atol=1e-9)


def inflation(*regressions):
    """Factor by which squared sums exceed those with random signs, from what two regressions do to every row."""
    return naive_given.inflation(*(left.smoother.residuals(np.eye(len(left.values))) for left in regressions))


@pytest.mark.parametrize(("seed", "uneven"), [(1, False), (30, True)])
def test_parts_are_inflated_by_the_largest_that_any_of_their_regressions_needs(seed, uneven, combined):
    """Those of X and of Y themselves, and those of lines and squares of what these leave."""
    rng = np.random.default_rng(seed)
    z, x, y = rng.normal(size=(40, 1)), rng.normal(size=(40, 1)), 0.5 * rng.normal(size=(40, 1))
    x = np.exp(z) * x if uneven else z + x
    y += np.sin(3.0 * z) + z**3
    regression = Regression.on(z)
    independence_test(x, y, given=z, rng=0, n_resamples=19)
    left = [regression.residuals(one, "X") for one in (x, y)]
    bent = [naive_given.bounded(one.values) for one in left]
    lines, squares = (list(map(regression.residuals_of_lines, some)) for some in (bent, map(naive_given.squared, bent)))
    each = [inflation(*two) for two in (left, (squares[0], lines[1]), (lines[0], squares[1]))]
    found = {part.name: part.inflation for part in combined[-1].parts}
    assert found["means"] == found["turning"] == pytest.approx(max(each[0], inflation(*lines)))
    assert found["squares"] == pytest.approx(max(each))


def test_local_permutations_are_inflated_and_the_data_are_not(monkeypatch):
    told = {"given": Z, "given_method": "local", "n_resamples": 39, "rng": 0}
    found = independence_test(X, Y, **told)
    regression = Regression.on(Z)
    factor = inflation(*(regression.residuals(one, "X") for one in (X, Y)))
    monkeypatch.setattr(Residuals, "inflation", lambda self, other: 1.0)
    plain = independence_test(X, Y, **told)
    assert factor > 1.02 and found.statistic == plain.statistic
    np.testing.assert_allclose(found.null_distribution, factor * plain.null_distribution, rtol=1e-9)


def test_four_statistics_where_no_kernel_is_asked_for():
    rng = np.random.default_rng(0)
    z, noise, other = rng.normal(size=(3, 200))
    told = {"given": z, "rng": 0, "n_resamples": 199}
    effects = {"means": 0.3 * noise, "turning": noise * np.sign(z), "squares": np.abs(noise)}
    effects["shapes"] = 1.2 * np.sin(2.5 * noise)
    for part, y in effects.items():
        found = independence_test(z + noise, z + other + y, **told)
        assert found.pvalue < 0.05 and any(f"'{part}' stands out most" in note for note in found.notes)
    alone = independence_test(z + noise, z + other, kernel_x="laplacian", **told)
    assert not any("Four statistics" in note for note in alone.notes)


def test_groups_turn_together():
    rows = Signs(np.array([0, 0, 1, 2, 2])).draw(np.random.default_rng(0), 200)
    assert (rows[:, 0] == rows[:, 1]).all() and (rows[:, 3] == rows[:, 4]).all()
    assert independence_test(X, TIED, given=Z, groups=np.arange(N) // 2, rng=0).pvalue < 0.05


@pytest.mark.parametrize("told", [{}, {"given_method": "local"}, {"estimator": "auto"}, {"estimator": "skmse"}])
def test_regressions_find_what_is_there_and_nothing_else(told):
    assert independence_test(X, Y, given=Z, rng=0, **told).pvalue > 0.05
    assert independence_test(X, TIED, given=Z, rng=0, **told).pvalue < 0.05
    assert independence_test(X, Y, rng=0).pvalue < 0.05  # without Z
    assert independence_test(X, Y, given=np.ones(N), rng=0).pvalue < 0.05  # nothing is given


def test_any_regressor():
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.linear_model import Ridge

    for regressor in (RandomForestRegressor(n_estimators=20, min_samples_leaf=5, random_state=0), Ridge()):
        found = independence_test(X, TIED, given=Z, regressor=regressor, rng=0)
        assert found.pvalue < 0.05 and type(regressor).__name__ in found.assumption


def test_units_and_the_order_of_the_variables_change_nothing():
    plain = independence_test(X, Y, given=Z, rng=0)
    assert independence_test(100 * X + 5, Y, given=Z * [3.0, 0.01] + 7, rng=0).pvalue == plain.pvalue
    z = np.random.default_rng(0).normal(size=40)
    x, y = z + X[:, 0], np.sin(5.0 * z) + 0.2 * Y[:, 0]  # regressions of unlike wiggliness
    for told in ({}, {"kernel_x": "linear", "kernel_y": "linear"}, {"estimator": "skmse"}):
        one, other = (independence_test(*pair, given=z, n_resamples=99, rng=0, **told) for pair in ((x, y), (y, x)))
        np.testing.assert_allclose(one.null_distribution, other.null_distribution, rtol=1e-9)


def test_a_note_where_regressions_fail():
    rng = np.random.default_rng(0)
    z = rng.normal(size=300)
    steps = np.sign(np.sin(40 * z))
    found = independence_test(steps + 0.1 * rng.normal(size=300), steps + 0.1 * rng.normal(size=300), given=z, rng=0)
    assert found.pvalue < 0.05 and any("still alike" in note for note in found.notes)
    assert not any("The regressions" in note for note in independence_test(X, Y, given=Z, rng=0).notes)
    x, y, z = Confounded("smooth", columns=5, strength=5.0, effect=0.0).sample(1, 50)
    assert any("degrees of freedom more" in note for note in independence_test(x, y, given=z, rng=0).notes)


@pytest.mark.slow
def test_levels_where_the_assumption_holds():
    """p <= .05 for independent noise on a line: 400 data sets, within an exact binomial region at .001."""
    rejected = 0
    for trial in range(400):
        rng = np.random.default_rng(trial)
        z = rng.normal(size=(50, 3))
        x, y = (z.sum(axis=1) + rng.normal(size=50) for _ in range(2))
        rejected += independence_test(x, y, given=z, rng=rng, n_resamples=199).pvalue <= 0.05
    assert rejected <= 36
