"""Which of several candidates is X nearer to: the test, several candidates at once, and what is refused."""

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
from shrinktest.relative import uneven

ROOT = Path(__file__).parents[1]
RNG = np.random.default_rng(5)
X, Y, Z = RNG.normal(size=(24, 2)), RNG.normal(0.4, 1.0, size=(22, 2)), RNG.normal(1.2, 1.0, size=(27, 2))
MODELS = {"far": Z, "near": Y, "nearer": RNG.normal(0.05, 1.0, size=(30, 2)), "farthest": Z + 1.0}
ALTERNATIVES = ("two-sided", "less", "greater")


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_p_value_is_that_of_students_t(alternative):
    found = closer_test(X, Y, Z, bandwidth=1.3, alternative=alternative)
    sizes = (24, 22, 27)
    rows = [list(range(end - size, end)) for end, size in zip(np.cumsum(sizes), sizes, strict=True)]
    expected = naive.nearer(Gaussian(1.3)(np.vstack([X, Y, Z])), rows, list(range(73)))
    pair = found.clearest
    assert (found.difference, pair.error**2, pair.freedom) == pytest.approx(expected, rel=1e-9)
    assert tuple(found) == pytest.approx((expected[0] / expected[1] ** 0.5, naive.pvalue(*expected, alternative)))
    assert found.difference == pytest.approx(found.estimates[0] - found.estimates[1])
    for confidence in (0.5, 0.9, 0.99, 0.999):
        low, high = closer_test(X, Y, Z, bandwidth=1.3, alternative=alternative, confidence=confidence).interval
        assert (low <= 0.0 <= high) == (found.pvalue > 1.0 - confidence)
        assert (low == -np.inf, high == np.inf) == (alternative == "less", alternative == "greater")


@pytest.mark.parametrize("measure", ["distance", "dependence", "hsic"])
def test_exchanging_the_candidates_changes_the_sign(measure):
    a, b, c = (X[:20], Y[:20], Z[:20])
    one, other = closer_test(a, b, c, measure=measure), closer_test(a, c, b, measure=measure)
    assert (other.difference, other.pvalue) == pytest.approx((-one.difference, one.pvalue))
    less = closer_test(a, b, c, measure=measure, alternative="less")
    assert less.pvalue == pytest.approx(closer_test(a, c, b, measure=measure, alternative="greater").pvalue)


def test_more_dependence_is_below_zero():
    rng = np.random.default_rng(20)
    x = rng.normal(size=(30, 1))
    y, z = x + 0.3 * rng.normal(size=(30, 1)), rng.normal(size=(30, 1))
    kernels = {"bandwidth": [1.0, 0.5, 2.0], "kernel": ["gaussian", "laplacian", "gaussian"]}
    for measure in ("dependence", "hsic"):
        found = closer_test(x, y, z, measure=measure, **kernels)
        assert found.difference < 0.0 and found.answer.startswith("X depends more on Y than on Z (p = ")
        assert found.bandwidth == (1.0, 0.5, 2.0) and found.n_observations == (30,)
        scaled = closer_test(x, y, z, measure=measure, kernel=[Gaussian(1.0), 3.0 * Gaussian(0.5), Gaussian(2.0)])
        plain = closer_test(x, y, z, measure=measure, kernel=[Gaussian(1.0), Gaussian(0.5), Gaussian(2.0)])
        factor = 1.0 if measure == "dependence" else 3.0
        assert scaled.estimates == pytest.approx((factor * plain.estimates[0], plain.estimates[1]))


# --------------------------------------------------------------------------------------------------- kinds of data


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
    x, y, z = (np.repeat(one, 5, axis=0) + 0.1 * rng.normal(size=(40, 1)) for one in batches)
    grouped = closer_test(x, y, z, groups=np.arange(120) // 5).clearest
    assert grouped.error > 1.5 * closer_test(x, y, z).clearest.error and grouped.freedom < 22.0


def test_missing_values():
    gaps, kept = X.copy(), np.delete(X, [3, 7], axis=0)
    gaps[[3, 7], 0] = np.nan
    assert closer_test(gaps, Y, Z, nan_policy="omit").pvalue == closer_test(kept, Y, Z).pvalue
    without = np.delete(np.arange(20), [3, 7])
    for more in ({"measure": "distance", "paired": True}, {"measure": "dependence"}):
        found = closer_test(gaps[:20], Y[:20], Z[:20], nan_policy="omit", **more)
        assert found.pvalue == closer_test(X[without], Y[without], Z[without], **more).pvalue
    labels = np.arange(73) // 2
    found = closer_test(gaps, Y, Z, groups=labels, nan_policy="omit")
    assert found.pvalue == closer_test(kept, Y, Z, groups=np.delete(labels, [3, 7])).pvalue
    assert closer_test(gaps, Y, Z, nan_policy="indicator").n_observations == (24, 22, 27)


def test_tables_are_matched_by_name_and_mixed():
    def table(shift, seed):
        rng = np.random.default_rng(seed)
        return pd.DataFrame({"weight": rng.normal(shift, 1.0, 40) * 1000.0, "place": rng.choice(["n", "s"], 40)})

    x, y, z = (table(shift, seed) for seed, shift in enumerate((0.0, 0.2, 2.0)))
    found = closer_test(x, y[["place", "weight"]], z)
    assert found.nearer == "Y" and found.pvalue == closer_test(x, y, z).pvalue
    assert closer_test(x, y, z, bandwidth={"weight": 1.0, "place": 2.0}).bandwidth != found.bandwidth


def test_ways_to_evaluate_the_kernel():
    x, y, z = (one[:20, :1] for one in (X, Y, Z))
    for measure in ("distance", "dependence"):
        dense = closer_test(x, y, z, measure=measure, gram="dense").pvalue
        assert closer_test(x, y, z, measure=measure, gram="factor").pvalue == pytest.approx(dense, rel=1e-5)
        landmarks = closer_test(x, y, z, measure=measure, gram="nystrom", rank=60, rng=0)
        assert landmarks.pvalue == pytest.approx(dense, rel=1e-3)
        assert "Nystrom approximation" in str(landmarks.notes) and "permutation" not in str(landmarks.notes)
        random = [closer_test(x, y, z, measure=measure, gram="rff", rank=9, rng=seed).pvalue for seed in (1, 1, 2)]
        assert random[0] == random[1] != random[2]
    assert closer_test(X, Y, Z, rng=0, workers=1) == closer_test(X, Y, Z, rng=0, workers=2)
    rng = np.random.default_rng(0)
    many = [rng.normal(shift, 1.0, size=(20000, 5)) for shift in (0.0, 0.05, 0.1)]
    assert closer_test(*many, gram="rff", rank=50, rng=0, max_memory=2e8).nearer == "Y"


def test_the_linear_kernel_compares_means():
    squares = [
        np.square(X.mean(axis=0) - one.mean(axis=0)).sum() - np.trace(np.cov(one.T)) / len(one) for one in (Y, Z)
    ]
    assert closer_test(X, Y, Z, kernel="linear").difference == pytest.approx(squares[0] - squares[1])


# ------------------------------------------------------------------------------------------------ several candidates


@pytest.mark.parametrize("method", ["holm", "fdr_bh"])
def test_every_two_candidates_are_compared(method):
    found = closer_test(X, MODELS, method=method, bandwidth=1.5, names="seen")
    for pair, (first, second) in zip(found.pairs, itertools.combinations(MODELS, 2), strict=True):
        alone = closer_test(X, MODELS[first], MODELS[second], bandwidth=1.5)
        assert (pair.first, pair.second) == (first, second) and pair.pvalue == pytest.approx(alone.pvalue)
        assert (pair.low, pair.high) == pytest.approx(alone.interval)
    adjusted = [pair.adjusted for pair in found.pairs]
    np.testing.assert_allclose(adjusted, multipletests([pair.pvalue for pair in found.pairs], method=method)[1])
    assert found.pvalue == min(adjusted) and found.names == ("seen", *MODELS)
    table = found.table
    assert table["adjusted"].is_monotonic_increasing and list(table["reject"]) == list(table["adjusted"] <= 0.05)
    beaten = {row.first if row.nearer == row.second else row.second for row in table[table["reject"]].itertuples()}
    assert set(found.best) == set(MODELS) - beaten == {"near", "nearer"}
    listed = closer_test(X, list(MODELS.values()), method=method, bandwidth=1.5, names=("seen", *MODELS))
    assert listed.pairs == found.pairs and closer_test(X, *MODELS.values()).names == ("X", "Y1", "Y2", "Y3", "Y4")
    assert found.bandwidth == 1.5 and len(closer_test(X, MODELS, bandwidth=1.5, alpha=1e-99).best) == 4


def test_designs_of_other_candidates_change_nothing():
    rng = np.random.default_rng(31)
    labels, models = np.arange(40) // 5, dict(zip("abc", rng.normal(size=(3, 40)), strict=True))
    x, groups = rng.normal(size=40), {"a": labels, "b": labels, "c": np.repeat([0, 1, 8, 9], 10)}
    found = closer_test(x, models, kernel=Gaussian(1.2), groups=[labels, *groups.values()])
    matched = closer_test(x, models, kernel=Gaussian(1.2), paired=True)
    for pair, of_pairs in zip(found.pairs, matched.pairs, strict=True):
        two = [models[pair.first], models[pair.second]]
        those = [labels, groups[pair.first], groups[pair.second]]
        alone = closer_test(x, *two, kernel=Gaussian(1.2), groups=those).clearest
        assert (pair.pvalue, pair.error, pair.freedom) == pytest.approx((alone.pvalue, alone.error, alone.freedom))
        assert of_pairs.pvalue == pytest.approx(closer_test(x, *two, kernel=Gaussian(1.2), paired=True).pvalue)


def test_answers_and_summaries():
    def answer(*data, **given):
        return closer_test(*data, **given).answer

    twins, rng = {"a": Y, "b": Y[::-1] + 0.01, "c": Y[::-1] - 0.01}, np.random.default_rng(26)
    assert answer(X, Y, Z, names=("seen", "a", "b")).startswith("seen is nearer to a than to b (p = ")
    assert answer(X, Y, Y[::-1] + 0.01).startswith("It is not clear whether X is nearer to Y or to Z (p = ")
    assert answer(X, Z, Y, alternative="less") == "It is not clear that X is nearer to Y than to Z (p = 1.00)."
    assert answer(X, Y, Z, alternative="greater") == "It is not clear that X is nearer to Z than to Y (p = 1.00)."
    far = {"near": Y, "far": Z, "farthest": Z + 1.0}
    assert answer(X, far) == "X is nearest to near; all others are clearly further away."
    assert "by the estimates; " in answer(X, twins) and "are not clearly further away." in answer(X, twins)
    x = rng.normal(size=40)
    variables = {"other": rng.normal(size=40), "same": x + 0.1 * rng.normal(size=40), "third": rng.normal(size=40)}
    clear = closer_test(x, variables, measure="hsic")
    assert clear.answer == "X depends most on same, and clearly less on all others." and clear.nearer == "same"
    found = closer_test(X, MODELS, names="seen")
    assert found.summary().startswith(found.answer) and all(note[:30] in found.summary() for note in found.notes)
    assert list(found.to_dict()["best"]) == list(found.best) and found.rows() == found.to_dict()["pairs"]


def test_pictures():
    from matplotlib.figure import Figure

    found = closer_test(X, MODELS)
    for result in (found, closer_test(X, Y, Z, alternative="less"), closer_test(X, Y, Y.copy())):
        ax = result.plot(Figure().subplots())
        assert ax.get_title().replace("\n", " ") == result.answer and ax.get_xlabel()
    ax = found.plot(Figure().subplots())
    assert [label.get_text() for label in ax.get_yticklabels()] == list(found.ranked)
    drawn = [line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 1]
    assert min(one[0] for one in drawn) == 0.0


# ---------------------------------------------------------------------------------------------------- what says nothing


def test_what_says_nothing_and_notes():
    for measure, alternative in itertools.product(("distance", "dependence"), ALTERNATIVES):
        found = closer_test(X[:20], Y[:20], Y[:20], measure=measure, alternative=alternative)
        assert found.pvalue == 1.0 and np.isnan(found.statistic) and found.notes[-1].code == "same-values"
    found = closer_test(np.zeros(30), np.ones(30), np.full(30, 3.0))
    assert (found.pvalue, found.clearest.error) == (1.0, 0.0) and "standard error" in found.notes[-1]
    x, y, z = np.random.default_rng(24).normal(size=(3, 2000))
    assert 0.0 < closer_test(x, y, z + 50.0).pvalue < 1e-200
    few = closer_test(X, Y, Z, groups=np.arange(73) // 6).notes
    assert "A sample has only 4 groups" in str(few) and "only" not in str(closer_test(X, Y, Z).notes)
    rng = np.random.default_rng(3)
    for first, second, noted in ((30, 61, True), (61, 30, True), (61, 801, True), (30, 30, False), (200, 801, False)):
        for alternative in ALTERNATIVES:
            data = (rng.normal(size=size) for size in (25, first, second))
            notes = str(closer_test(*data, alternative=alternative).notes)
            assert ("very different sizes" in notes) == (noted and alternative != "two-sided")


NINE = (X[:9], Y[:9], Z[:9])


@pytest.mark.parametrize(
    ("data", "given", "error", "said"),
    [
        ((X[:2], Y, Z), {}, ValueError, "X: 2 rows; the standard error"),
        ((X[:4], Y[:4], Z[:4]), {"measure": "hsic"}, ValueError, "4 rows; .* at least 5"),
        ((X, Y, Z), {"groups": np.repeat([0, 1, 2], [24, 22, 27])}, ValueError, "X: 1 group;"),
        ((X, Y, Z), {"groups": [0, 1]}, ValueError, "groups has 2 labels"),
        ((X, Y, Z), {"paired": True}, ValueError, "paired=True"),
        ((X, Y[:, :1], Z), {}, ValueError, "column"),
        ((X, Y, Z), {"measure": "mmd"}, ValueError, "measure must be one of"),
        ((X, Y, Z), {"alternative": "smaller"}, ValueError, "alternative must be one of"),
        ((X, MODELS), {"alternative": "less"}, ValueError, "alternative must be 'two-sided'"),
        ((X, MODELS), {"method": "westfall-young"}, ValueError, "method must be one of"),
        ((X, Y, Z), {"nan_policy": "propagate"}, ValueError, "nan_policy must be one of"),
        ((X, Y, Z), {"confidence": 95}, ValueError, "confidence"),
        ((X, Y), {}, ValueError, "candidates: give two or more"),
        ((X, {"a": Y}), {}, ValueError, "candidates: give two or more"),
        ((X, Y, Z), {"names": ("a", "b")}, TypeError, "names must be 3 texts"),
        ((X, {"X": Y, "b": Z}), {}, ValueError, "names must differ"),
        ((X, Y, Z), {"seed": 1}, TypeError, "it is rng= here"),
        ((np.ones(9), np.ones(9), np.ones(8)), {}, ValueError, "the same values in every row"),
        ((X[:20], Y[:20], X[:20]), {}, ValueError, "X and Z hold the same rows"),
        ((X[:9], np.ones(9), Z[:9]), {"measure": "hsic"}, ValueError, "Y has the same value"),
        ((X[:9, 0], np.eye(9)[0], Z[:9, 0]), {"measure": "dependence"}, ValueError, "Y hardly varies"),
        (NINE, {"measure": "dependence", "paired": True}, ValueError, "paired= and groups="),
        (NINE, {"paired": True, "groups": np.arange(27)}, ValueError, "groups= cannot be combined"),
        (NINE, {"measure": "hsic", "bandwidth": [1.0, 2.0]}, ValueError, "bandwidth has 2 entries"),
        ((1e300 * X, 1e300 * Y, 1e300 * Z), {"kernel": "linear"}, ValueError, "beyond the range of numbers"),
        ((1e-170 * X, 1e-170 * Y, 1e-170 * Z), {"kernel": "linear"}, ValueError, "beyond the range of numbers"),
        ((X, Y, Z), {"gram": "dense", "max_memory": 1e3}, MemoryError, "gram="),
    ],
)
def test_what_cannot_be_compared(data, given, error, said):
    with pytest.raises(error, match=said):
        closer_test(*data, **given)


# --------------------------------------------------------------------------------------------------------- the level


def test_the_level():
    """Of candidates on both sides of X, and of three samples of one distribution."""
    rng = np.random.default_rng(11)
    data = ([rng.normal(shift, 1.0, 30) for shift in (0.0, 0.8, -0.8)] for _ in range(500))
    rejected = sum(closer_test(*one, workers=1).reject() for one in data)
    low, high = stats.binom(500, 0.05).ppf([0.00005, 0.99995])
    assert low <= rejected <= high
    rejected = sum(closer_test(*rng.normal(size=(3, 25)), workers=1).reject() for _ in range(300))
    assert rejected <= stats.binom(300, 0.05).ppf(0.5)


def test_two_distributions_of_the_study_are_at_one_distance():
    deviation, rng = closer_levels.as_far_as(1.0), np.random.default_rng(13)
    x, y, z = rng.normal(size=4000), rng.normal(1.0, 1.0, 4000), rng.normal(0.0, deviation, 4000)
    found = closer_test(x, y, z, bandwidth=closer_levels.BANDWIDTH)
    assert abs(found.statistic) < 4.0 and found.clearest.error < 0.01 < found.estimates[0]


def test_the_published_levels_are_what_the_notes_say():
    rates = pd.read_csv(ROOT / "docs" / "data" / "closer_levels.csv")
    levels = rates[~rates["cell"].str.startswith("power: ")]
    assert set(levels["n"]) == {20, 50, 200, 1000} and levels["trials"].min() >= 2000
    above = levels["rejected"] * levels["trials"] > stats.binom(levels["trials"], 0.05).ppf(0.9995)
    assert not above[levels["alternative"] == "two-sided"].any()
    for row in levels[above].itertuples():  # where the result has a note
        _, y, z = closer_levels.SHAPES[row.sizes]
        assert uneven(*sorted((y * row.n, z * row.n)))
    low, high = proportion_confint(levels["rejected"] * levels["trials"], levels["trials"], method="beta")
    np.testing.assert_allclose(levels[["low", "high"]].to_numpy().T, (low, high))
