"""Which of several candidates is X closer to: the test, several candidates at once, and what is refused."""

from __future__ import annotations

import itertools
from pathlib import Path

import closer_levels
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

import naive_closer as naive
from shrinktest import Gaussian, closer_test
from shrinktest.closer import uneven

ROOT = Path(__file__).parents[1]
RNG = np.random.default_rng(5)
X, Y, Z = (
    RNG.normal(size=(24, 2)),
    RNG.normal(0.4, 1.0, size=(22, 2)),
    RNG.normal(1.2, 1.0, size=(27, 2)),
)
MODELS = {"far": Z, "near": Y, "closer": RNG.normal(0.05, 1.0, size=(30, 2)), "farthest": Z + 1.0}
SUMMARY = [
    "X is closer to Y than to Z (p = .0026).",
    "Squared distance (MMD²) from X: Y 0.1467, Z 0.4912",
    "24 + 22 + 27 observations, rows vary independently; Gaussian, bandwidth 1.3",
    "==========================================================================",
    "first  second   difference, 95% interval     t       df   p-value   closer",
    "--------------------------------------------------------------------------",
    "Y      Z       -0.3445 [-0.5641, -0.1249]  -3.131  67.61  0.002577  Y     ",
]
ALTERNATIVES = ("two-sided", "less", "greater")


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_p_value_is_that_of_students_t(alternative):
    result = closer_test(X, Y, Z, bandwidth=1.3, alternative=alternative)
    sizes = (24, 22, 27)
    rows = [list(range(end - size, end)) for end, size in zip(np.cumsum(sizes), sizes, strict=True)]
    expected = naive.closer(Gaussian(1.3)(np.vstack([X, Y, Z])), rows, list(range(73)))
    pair = result.clearest
    assert (result.difference, pair.error**2, pair.freedom) == pytest.approx(expected, rel=1e-9)
    assert tuple(result) == pytest.approx(
        (expected[0] / expected[1] ** 0.5, naive.pvalue(*expected, alternative))
    )
    assert result.difference == pytest.approx(result.estimates[0] - result.estimates[1])
    for confidence in (0.5, 0.9, 0.99, 0.999):
        low, high = closer_test(
            X, Y, Z, bandwidth=1.3, alternative=alternative, confidence=confidence
        ).interval
        assert (low <= 0.0 <= high) == (result.pvalue > 1.0 - confidence)
        assert (low == -np.inf, high == np.inf) == (alternative == "less", alternative == "greater")


@pytest.mark.parametrize("measure", ["distance", "dependence", "hsic"])
def test_exchanging_the_candidates_changes_the_sign(measure):
    a, b, c = (X[:20], Y[:20], Z[:20])
    result, exchanged = closer_test(a, b, c, measure=measure), closer_test(a, c, b, measure=measure)
    assert (exchanged.difference, exchanged.pvalue) == pytest.approx(
        (-result.difference, result.pvalue)
    )
    less = closer_test(a, b, c, measure=measure, alternative="less")
    assert less.pvalue == pytest.approx(
        closer_test(a, c, b, measure=measure, alternative="greater").pvalue
    )


def test_more_dependence_is_below_zero():
    rng = np.random.default_rng(20)
    x = rng.normal(size=(30, 1))
    y, z = x + 0.3 * rng.normal(size=(30, 1)), rng.normal(size=(30, 1))
    kernels = {"bandwidth": [1.0, 0.5, 2.0], "kernel": ["gaussian", "laplacian", "gaussian"]}
    for measure in ("dependence", "hsic"):
        result = closer_test(x, y, z, measure=measure, **kernels)
        assert result.difference < 0.0 and result.answer.startswith(
            "X depends more on Y than on Z (p = "
        )
        assert result.bandwidth == (1.0, 0.5, 2.0) and result.n_observations == (30,)
        scaled = closer_test(
            x, y, z, measure=measure, kernel=[Gaussian(1.0), 3.0 * Gaussian(0.5), Gaussian(2.0)]
        )
        plain = closer_test(
            x, y, z, measure=measure, kernel=[Gaussian(1.0), Gaussian(0.5), Gaussian(2.0)]
        )
        factor = 1.0 if measure == "dependence" else 3.0
        assert scaled.estimates == pytest.approx((factor * plain.estimates[0], plain.estimates[1]))


def test_rows_that_belong_together():
    rng = np.random.default_rng(22)
    shared = rng.normal(size=(25, 1)) * 3.0
    x, y, z = (shared + shift + 0.3 * rng.normal(size=(25, 1)) for shift in (0.0, 0.5, 1.0))
    free, paired = closer_test(x, y, z), closer_test(x, y, z, paired=True)
    assert paired.clearest.error < 0.5 * free.clearest.error and paired.units == "matched rows"
    for groups in (np.tile(np.arange(25), 3), [list("abcdefghijklmnopqrstuvwxy")] * 3):
        other = closer_test(x, y, z, groups=groups)
        assert (other.difference, other.pvalue) == pytest.approx((paired.difference, paired.pvalue))
    batches = rng.normal(size=(3, 8, 1)) * 2.0
    x, y, z = (np.repeat(batch, 5, axis=0) + 0.1 * rng.normal(size=(40, 1)) for batch in batches)
    grouped = closer_test(x, y, z, groups=np.arange(120) // 5).clearest
    assert grouped.error > 1.5 * closer_test(x, y, z).clearest.error and grouped.freedom < 22.0


def test_missing_values():
    gaps, complete = X.copy(), np.delete(X, [3, 7], axis=0)
    gaps[[3, 7], 0] = np.nan
    assert closer_test(gaps, Y, Z, nan_policy="omit").pvalue == closer_test(complete, Y, Z).pvalue
    without = np.delete(np.arange(20), [3, 7])
    for more in ({"measure": "distance", "paired": True}, {"measure": "dependence"}):
        result = closer_test(gaps[:20], Y[:20], Z[:20], nan_policy="omit", **more)
        assert result.pvalue == closer_test(X[without], Y[without], Z[without], **more).pvalue
    labels = np.arange(73) // 2
    result = closer_test(gaps, Y, Z, groups=labels, nan_policy="omit")
    assert result.pvalue == closer_test(complete, Y, Z, groups=np.delete(labels, [3, 7])).pvalue
    assert closer_test(gaps, Y, Z, nan_policy="indicator").n_observations == (24, 22, 27)


@pytest.mark.parametrize("method", ["holm", "fdr_bh"])
def test_every_two_candidates_are_compared(method):
    result = closer_test(X, MODELS, method=method, bandwidth=1.5, names="seen")
    for pair, (first, second) in zip(result.pairs, itertools.combinations(MODELS, 2), strict=True):
        alone = closer_test(X, MODELS[first], MODELS[second], bandwidth=1.5)
        assert (pair.first, pair.second) == (first, second) and pair.pvalue == pytest.approx(
            alone.pvalue
        )
        assert (pair.low, pair.high) == pytest.approx(alone.interval)
    adjusted = [pair.adjusted for pair in result.pairs]
    np.testing.assert_allclose(
        adjusted, multipletests([pair.pvalue for pair in result.pairs], method=method)[1]
    )
    assert result.pvalue == min(adjusted) and result.names == ("seen", *MODELS)
    table = result.table
    assert table["adjusted"].is_monotonic_increasing and list(table["reject"]) == list(
        table["adjusted"] <= 0.05
    )
    beaten = {
        row.first if row.closer == row.second else row.second
        for row in table[table["reject"]].itertuples()
    }
    assert set(result.best) == set(MODELS) - beaten == {"near", "closer"}
    listed = closer_test(
        X, list(MODELS.values()), method=method, bandwidth=1.5, names=("seen", *MODELS)
    )
    assert listed.pairs == result.pairs and closer_test(X, *MODELS.values()).names == (
        "X",
        "Y1",
        "Y2",
        "Y3",
        "Y4",
    )
    assert (
        result.bandwidth == 1.5
        and len(closer_test(X, MODELS, bandwidth=1.5, alpha=1e-99).best) == 4
    )


def test_answers_and_a_summary():
    def answer(*data, **options):
        return closer_test(*data, **options).answer

    twins, rng = {"a": Y, "b": Y[::-1] + 0.01, "c": Y[::-1] - 0.01}, np.random.default_rng(26)
    assert answer(X, Y, Z, names=("seen", "a", "b")).startswith(
        "seen is closer to a than to b (p = "
    )
    assert answer(X, Y, Y[::-1] + 0.01).startswith(
        "It is not clear whether X is closer to Y or to Z (p = "
    )
    assert (
        answer(X, Z, Y, alternative="less")
        == "It is not clear that X is closer to Y than to Z (p = 1.00)."
    )
    assert (
        answer(X, {"near": Y, "far": Z, "far 2": Z + 1.0})
        == "X is closest to near; all others are clearly further away."
    )
    assert "according to the estimates; " in answer(
        X, twins
    ) and "are not clearly further away." in answer(X, twins)
    x = rng.normal(size=40)
    variables = {
        "other": rng.normal(size=40),
        "same": x + 0.1 * rng.normal(size=40),
        "third": rng.normal(size=40),
    }
    assert (
        answer(x, variables, measure="hsic")
        == "X depends most on same, and clearly less on all others."
    )
    result = closer_test(X, Y, Z, bandwidth=1.3)
    assert (
        str(result.summary()).splitlines()[:7] == SUMMARY
        and result.rows() == result.to_dict()["pairs"]
    )


def test_what_says_nothing_and_notes():
    for measure, alternative in itertools.product(("distance", "dependence"), ALTERNATIVES):
        result = closer_test(X[:20], Y[:20], Y[:20], measure=measure, alternative=alternative)
        assert (
            result.pvalue == 1.0
            and np.isnan(result.statistic)
            and result.notes[-1].code == "same-values"
        )
    result = closer_test(np.zeros(30), np.ones(30), np.full(30, 3.0))
    assert (result.pvalue, result.clearest.error) == (
        1.0,
        0.0,
    ) and "no evidence either way" in result.notes[-1]
    x, y, z = np.random.default_rng(24).normal(size=(3, 2000))
    assert 0.0 < closer_test(x, y, z + 50.0).pvalue < 1e-200
    few = closer_test(X, Y, Z, groups=np.arange(73) // 6).notes
    assert "A sample has only 4 groups" in str(few) and "only" not in str(
        closer_test(X, Y, Z).notes
    )
    rng = np.random.default_rng(3)
    for first, second, noted in (
        (30, 61, True),
        (61, 30, True),
        (61, 801, True),
        (30, 30, False),
        (200, 801, False),
    ):
        for alternative in ALTERNATIVES:
            data = (rng.normal(size=size) for size in (25, first, second))
            notes = str(closer_test(*data, alternative=alternative).notes)
            assert ("very different sizes" in notes) == (noted and alternative != "two-sided")


NINE = (X[:9], Y[:9], Z[:9])


@pytest.mark.parametrize(
    ("data", "given", "error", "message"),
    [
        ((X[:2], Y, Z), {}, ValueError, "X: 2 rows; the standard error"),
        ((X, Y, Z), {"groups": np.repeat([0, 1, 2], [24, 22, 27])}, ValueError, "X: 1 group;"),
        ((X, Y, Z), {"measure": "mmd"}, ValueError, "measure must be one of"),
        (
            (X, MODELS),
            {"alternative": "less"},
            ValueError,
            "alternative must be one of 'two-sided'",
        ),
        ((X, MODELS), {"method": "westfall-young"}, ValueError, "method must be one of"),
        ((X, Y, Z), {"nan_policy": "propagate"}, ValueError, "nan_policy must be one of"),
        ((X, Y), {}, ValueError, "candidates: pass two or more"),
        ((X, Y, Z), {"names": ("a", "b")}, ValueError, "names must be 3 different texts"),
        ((X, {"X": Y, "b": Z}), {}, ValueError, "names must be 3"),
        ((np.ones(9), np.ones(9), np.ones(8)), {}, ValueError, "the same values in every row"),
        ((X[:20], Y[:20], X[:20]), {}, ValueError, "X and Z hold the same rows"),
        (
            (X[:9], np.ones(9), Z[:9]),
            {"measure": "hsic"},
            ValueError,
            "Y: .* all observations are equal",
        ),
        (
            (X[:9, 0], np.eye(9)[0], Z[:9, 0]),
            {"measure": "dependence"},
            ValueError,
            "Y has no variance",
        ),
        (NINE, {"measure": "dependence", "paired": True}, ValueError, "paired=, groups="),
        (NINE, {"paired": True, "groups": np.arange(27)}, ValueError, "paired=, groups="),
        (NINE, {"measure": "hsic", "bandwidth": [1.0, 2.0]}, ValueError, "kernel and bandwidth"),
        (
            (1e300 * X, 1e300 * Y, 1e300 * Z),
            {"kernel": "linear"},
            ValueError,
            "beyond the range of numbers",
        ),
    ],
)
def test_what_cannot_be_compared(data, given, error, message):
    with pytest.raises(error, match=message):
        closer_test(*data, **given)


@pytest.mark.ci
def test_the_level():
    """Of candidates on both sides of X, and of three samples of one distribution."""
    rng = np.random.default_rng(11)
    data = ([rng.normal(shift, 1.0, 30) for shift in (0.0, 0.8, -0.8)] for _ in range(250))
    rejected = sum(closer_test(*samples, workers=1).reject() for samples in data)
    low, high = stats.binom(250, 0.05).ppf([0.00005, 0.99995])
    assert low <= rejected <= high
    rejected = sum(closer_test(*rng.normal(size=(3, 25)), workers=1).reject() for _ in range(300))
    assert rejected <= stats.binom(300, 0.05).ppf(0.5)


def test_the_published_levels_are_what_the_notes_say():
    rates = pd.read_csv(ROOT / "docs" / "data" / "closer_levels.csv")
    levels = rates[~rates["cell"].str.startswith("power: ")]
    assert set(levels["n"]) == {20, 50, 200, 1000} and levels["trials"].min() >= 2000
    above = levels["rejected"] * levels["trials"] > stats.binom(levels["trials"], 0.05).ppf(0.9995)
    assert not above[levels["alternative"] == "two-sided"].any()
    for row in levels[above].itertuples():  # where the result has a note
        _, y, z = closer_levels.SHAPES[row.sizes]
        assert uneven(*sorted((y * row.n, z * row.n)))
    low, high = proportion_confint(
        levels["rejected"] * levels["trials"], levels["trials"], method="beta"
    )
    np.testing.assert_allclose(levels[["low", "high"]].to_numpy().T, (low, high))
