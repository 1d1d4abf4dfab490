"""Conformal martingales agree with their definitions, computed row by row."""

from __future__ import annotations

import numpy as np
from _martingales import JUMP, LEAST, conformal, jumper, plug_in
from scipy.integrate import trapezoid
from scipy.stats import gaussian_kde


def test_pvalues_count_larger_scores():
    scores = np.random.default_rng(0).poisson(2.0, size=40).astype(float)
    ties = np.random.default_rng(1).random(40)
    for t, pvalue in enumerate(conformal(scores, np.random.default_rng(1))):
        larger = np.count_nonzero(scores[:t] > scores[t])
        equal = np.count_nonzero(scores[:t] == scores[t]) + 1
        assert pvalue == (larger + ties[t] * equal) / (t + 1)


def test_the_jumper_spreads_its_wealth_and_bets():
    pvalues = np.random.default_rng(2).random((30, 2))
    for own, logs in zip(pvalues.T, jumper(pvalues).T, strict=True):
        wealth = {-1: 1.0 / 3.0, 0: 1.0 / 3.0, 1: 1.0 / 3.0}
        for t, p in enumerate(own):
            total = sum(wealth.values())
            wealth = {
                e: ((1.0 - JUMP) * share + JUMP * total / 3.0) * (1.0 + e * (p - 0.5))
                for e, share in wealth.items()
            }
            np.testing.assert_allclose(logs[t], np.log(sum(wealth.values())), atol=1e-12)


def test_the_plug_in_bets_on_a_reflected_density():
    pvalues = np.random.default_rng(3).beta(1.0, 2.0, size=LEAST + 60)
    logs = plug_in(pvalues[:, np.newaxis])[:, 0]
    assert (logs[: LEAST + 1] == 0.0).all()
    grid = np.linspace(0.0, 1.0, 2001)
    for t in range(LEAST + 1, len(pvalues), 7):
        before = pvalues[:t]
        density = gaussian_kde(np.concatenate([-before, before, 2.0 - before]), "silverman")
        value = density(pvalues[t])[0] / trapezoid(density(grid), grid)
        bet = (1.0 - LEAST / t) * value + LEAST / t
        np.testing.assert_allclose(logs[t] - logs[t - 1], np.log(bet), atol=1e-5)
