"""Is one sample nearer to a second than to a third: the test, several models at once, and what is refused."""

from __future__ import annotations

import itertools
from pathlib import Path

import closer_levels
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

import naive_closer as naive
from shrinktest import Gaussian, closer_matrix, closer_test
from shrinktest.hypotheses.closeness import uneven

ROOT = Path(__file__).parents[1]

RNG = np.random.default_rng(5)
X, Y, Z = RNG.normal(size=(24, 2)), RNG.normal(0.4, 1.0, size=(22, 2)), RNG.normal(1.2, 1.0, size=(27, 2))
ALTERNATIVES = ("two-sided", "less", "greater")
ASYMPTOTIC = "The p-value and the interval are asymptotic"


# --------------------------------------------------------------------------------------------------- the test


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_p_value_is_that_of_students_t(alternative):
    found = closer_test(X, Y, Z, bandwidth=1.3, alternative=alternative)
    sizes = (24, 22, 27)
    rows = [list(range(end - size, end)) for end, size in zip(np.cumsum(sizes), sizes, strict=True)]
    expected = naive.nearer(Gaussian(1.3)(np.vstack([X, Y, Z])), rows, list(range(73)))
    assert (found.difference, found.error**2, found.freedom) == pytest.approx(expected, rel=1e-9)
    assert found.statistic == pytest.approx(expected[0] / expected[1] ** 0.5)
    assert found.pvalue == pytest.approx(naive.pvalue(*expected, alternative))
    assert tuple(found) == (found.statistic, found.pvalue)
    assert found.difference == pytest.approx(found.distances[0] - found.distances[1])
    assert found.notes[-1].startswith(ASYMPTOTIC) and ASYMPTOTIC in found.summary()


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_interval_leaves_zero_out_where_the_test_rejects(alternative):
    for confidence in (0.5, 0.9, 0.99, 0.999):
        found = closer_test(X, Y, Z, alternative=alternative, confidence=confidence)
        low, high = found.interval
        assert (low <= 0.0 <= high) == (found.pvalue > 1.0 - confidence)
        assert (low == -np.inf, high == np.inf) == (alternative == "less", alternative == "greater")


@pytest.mark.parametrize("measure", ["distance", "dependence", "hsic"])
def test_exchanging_the_models_changes_the_sign(measure):
    a, b, c = (X[:20], Y[:20], Z[:20]) if measure != "distance" else (X, Y, Z)
    one, other = closer_test(a, b, c, measure=measure), closer_test(a, c, b, measure=measure)
    assert (other.difference, other.pvalue) == pytest.approx((-one.difference, one.pvalue))
    assert other.distances == pytest.approx(one.distances[::-1])
    less, greater = (closer_test(*three, measure=measure, alternative=alternative)
                     for three, alternative in (((a, b, c), "less"), ((a, c, b), "greater")))  # fmt: skip
    assert less.pvalue == pytest.approx(greater.pvalue)


@pytest.mark.parametrize("measure", ["dependence", "hsic"])
def test_more_dependence_is_below_zero(measure):
    rng = np.random.default_rng(20)
    x = rng.normal(size=(30, 1))
    y, z = x + 0.3 * rng.normal(size=(30, 1)), rng.normal(size=(30, 1))
    found = closer_test(
        x, y, z, measure=measure, bandwidth=[1.0, 0.5, 2.0], kernel=["gaussian", "laplacian", "gaussian"]
    )
    assert found.difference < 0.0 and found.distances[0] > found.distances[1]
    assert found.nearer == "Y" and found.answer.startswith("X depends more on Y than on Z (p = ")
    assert found.bandwidth == (1.0, 0.5, 2.0) and found.n_observations == (30,)
    assert [type(k).__name__ for k in found.kernel] == ["Gaussian", "Laplacian", "Gaussian"]


def test_a_factor_of_a_kernel_changes_hsic_and_not_the_correlation():
    rng = np.random.default_rng(21)
    x = rng.normal(size=(30, 1))
    y, z = x + rng.normal(size=(30, 1)), x + rng.normal(size=(30, 1))
    plain, wide = (closer_test(x, y, z, measure="dependence", kernel=[Gaussian(1.0), Gaussian(1.0), f * Gaussian(1.0)])
                   for f in (1.0, 3.0))  # fmt: skip
    assert wide.pvalue == pytest.approx(plain.pvalue) and wide.distances == pytest.approx(plain.distances)
    raw, triple = (closer_test(x, y, z, measure="hsic", kernel=[Gaussian(1.0), Gaussian(1.0), f * Gaussian(1.0)])
                   for f in (1.0, 3.0))  # fmt: skip
    assert triple.distances[1] == pytest.approx(3.0 * raw.distances[1])


def test_answers_in_words():
    names = ("seen", "a", "b")
    assert closer_test(X, Y, Z, names=names).answer.startswith("seen is nearer to a than to b (p = ")
    assert closer_test(X, Z, Y, names=names).answer.startswith("seen is nearer to b than to a (p = ")
    assert closer_test(X, Z, Y, names=names).nearer == "b"
    unclear = closer_test(X, Y, Y[::-1] + 0.01, names=names)
    assert unclear.nearer is None and unclear.answer.startswith("It is not clear whether seen is nearer to a or to b (")
    less = closer_test(X, Z, Y, alternative="less", names=names)
    assert less.answer == "It is not clear that seen is nearer to a than to b (p = 1.00)."
    greater = closer_test(X, Y, Z, alternative="greater", names=names)
    assert greater.answer == "It is not clear that seen is nearer to b than to a (p = 1.00)."
    assert "seen is nearer to a than to b" in closer_test(X, Y, Z, names=names).summary()
    for confidence, said in ((0.95, "95% interval"), (0.975, "97.5% interval"), (0.999, "99.9% interval")):
        assert said in closer_test(X, Y, Z, confidence=confidence).summary()
        assert said in closer_matrix(X, {"a": Y, "b": Z}, confidence=confidence).summary()


# --------------------------------------------------------------------------------------------- kinds of data


def test_rows_that_belong_together():
    rng = np.random.default_rng(22)
    shared = rng.normal(size=(25, 1)) * 3.0
    x, y, z = (shared + shift + 0.3 * rng.normal(size=(25, 1)) for shift in (0.0, 0.5, 1.0))
    free, paired = closer_test(x, y, z), closer_test(x, y, z, paired=True)
    by_labels = closer_test(x, y, z, groups=np.tile(np.arange(25), 3))
    listed = closer_test(x, y, z, groups=[list("abcdefghijklmnopqrstuvwxy")] * 3)
    assert paired.error < 0.5 * free.error and paired.units == "matched rows" and by_labels.units == "groups"
    for other in (by_labels, listed):
        assert (other.difference, other.pvalue) == pytest.approx((paired.difference, paired.pvalue))


def test_groups_within_samples_say_less_than_as_many_rows():
    rng = np.random.default_rng(23)
    batches = rng.normal(size=(3, 8, 1)) * 2.0
    x, y, z = (np.repeat(one, 5, axis=0) + 0.1 * rng.normal(size=(40, 1)) for one in batches)
    labels = np.arange(120) // 5
    by_rows, by_groups = closer_test(x, y, z), closer_test(x, y, z, groups=labels)
    assert by_groups.error > 1.5 * by_rows.error and by_groups.freedom < 22.0


def test_missing_values():
    gaps = X.copy()
    gaps[[3, 7], 0] = np.nan
    with pytest.raises(ValueError, match="X has 2 missing values"):
        closer_test(gaps, Y, Z)
    found = closer_test(gaps, Y, Z, nan_policy="omit")
    kept = np.delete(X, [3, 7], axis=0)
    assert (
        found.pvalue == closer_test(kept, Y, Z).pvalue
        and "Left out for missing values: 2 of 24 rows of X" in found.notes[0]
    )
    y, z = Y[:20], Z[:20]
    x, without = gaps[:20], np.delete(np.arange(20), [3, 7])
    for measure in ("distance", "dependence"):
        more = {"paired": True} if measure == "distance" else {}
        found = closer_test(x, y, z, measure=measure, nan_policy="omit", **more)
        assert found.pvalue == closer_test(x[without], y[without], z[without], measure=measure, **more).pvalue
    labels = np.arange(73) // 2
    found = closer_test(gaps, Y, Z, groups=labels, nan_policy="omit")
    assert found.pvalue == closer_test(kept, Y, Z, groups=np.delete(labels, [3, 7])).pvalue
    assert closer_test(gaps, Y, Z, nan_policy="indicator").n_observations == (24, 22, 27)


def test_tables_are_matched_by_name_and_mixed():
    def table(rows, shift, seed):
        rng = np.random.default_rng(seed)
        return pd.DataFrame({"weight": rng.normal(shift, 1.0, rows) * 1000.0, "place": rng.choice(["n", "s"], rows)})

    x, y, z = (table(40, shift, seed) for seed, shift in enumerate((0.0, 0.2, 2.0)))
    found = closer_test(x, y[["place", "weight"]], z)
    assert found.nearer == "Y" and found.columns[0][0] == "weight"
    assert found.pvalue == closer_test(x, y, z).pvalue
    assert any("standard deviation" in note for note in found.notes)
    widths = closer_test(x, y, z, bandwidth={"weight": 1.0, "place": 2.0})
    assert widths.bandwidth != found.bandwidth
    with pytest.raises(ValueError, match="column"):
        closer_test(x, y.rename(columns={"weight": "mass"}), z)
    with pytest.raises(ValueError, match="names of columns"):
        closer_test(X, Y, Z, bandwidth={"a": 1.0})


def test_tables_of_other_libraries_and_rows_that_are_not_matched():
    x, y, z = (pd.DataFrame(one[:20], columns=["a", "b"]) for one in (X, Y, Z))
    expected = closer_test(x, y, z, paired=True).pvalue
    assert closer_test(*(pl.from_pandas(one) for one in (x, y, z)), paired=True).pvalue == expected
    with pytest.raises(ValueError, match="X and Z have different row labels"):
        closer_test(x, y, z[::-1], paired=True)
    with pytest.raises(ValueError, match="Z have different row labels"):
        closer_test(x["a"], y["a"], z["a"][::-1], measure="dependence")


def test_the_number_of_workers_changes_nothing():
    assert closer_test(X, Y, Z, rng=0, workers=1) == closer_test(X, Y, Z, rng=0, workers=2)
    models = {"a": Y, "b": Z}
    assert closer_matrix(X, models, gram="rff", rank=20, rng=1, workers=2) == closer_matrix(
        X, models, gram="rff", rank=20, rng=1, workers=1
    )


def test_units_and_transformations():
    wide = [one * [1.0, 1000.0] for one in (X, Y, Z)]
    assert closer_test(*wide, scale="sd").pvalue == pytest.approx(closer_test(X, Y, Z, scale="sd").pvalue)
    assert any("unit" in note or "scale" in note for note in closer_test(*wide).notes)
    moved = closer_test(X, Y, Z, transform=lambda rows: 2.0 * rows)
    assert moved.pvalue == pytest.approx(closer_test(X, Y, Z).pvalue)


@pytest.mark.parametrize("measure", ["distance", "dependence"])
def test_ways_to_evaluate_the_kernel(measure):
    x, y, z = (one[:20, :1] for one in (X, Y, Z))
    dense, factor, all_landmarks = (
        closer_test(x, y, z, measure=measure, gram=gram, rng=0, **more)
        for gram, more in (("dense", {}), ("factor", {}), ("nystrom", {"rank": 60}))
    )
    assert factor.pvalue == pytest.approx(dense.pvalue, rel=1e-5) and factor.route == "factor"
    assert all_landmarks.pvalue == pytest.approx(dense.pvalue, rel=1e-3)
    assert "permutation" not in " ".join(all_landmarks.notes) and "Nystrom approximation" in " ".join(
        all_landmarks.notes
    )
    random = [closer_test(x, y, z, measure=measure, gram="rff", rank=300, rng=seed).pvalue for seed in (1, 1, 2)]
    assert random[0] == random[1] != random[2]


def test_many_rows_take_no_gram_matrix():
    rng = np.random.default_rng(0)
    x, y, z = (rng.normal(shift, 1.0, size=(20000, 5)) for shift in (0.0, 0.05, 0.1))
    found = closer_test(x, y, z, gram="rff", rank=50, rng=0, max_memory=2e8)
    assert found.nearer == "Y" and found.n_observations == (20000,) * 3
    with pytest.raises(MemoryError, match="use gram="):
        closer_test(x, y, z, gram="dense", max_memory=2e8)


def test_other_kernels():
    for kernel in ("laplacian", "linear", "energy", "whitened"):
        found = closer_test(X, Y, Z, kernel=kernel)
        assert found.nearer == "Y" and found.difference < 0.0
    # the difference of squared distances of means, by the linear kernel
    squares = [np.square(X.mean(axis=0) - one.mean(axis=0)).sum() for one in (Y, Z)]
    chance = [np.trace(np.cov(one.T)) / len(one) for one in (Y, Z)]
    expected = (squares[0] - chance[0]) - (squares[1] - chance[1])
    assert closer_test(X, Y, Z, kernel="linear").difference == pytest.approx(expected)


# ---------------------------------------------------------------------------------------- what says nothing


def test_the_same_rows_twice_say_nothing():
    for measure in ("distance", "dependence"):
        for alternative in ALTERNATIVES:
            found = closer_test(X[:20], Y[:20], Y[:20], measure=measure, alternative=alternative)
            assert found.pvalue == 1.0 and np.isnan(found.statistic) and found.nearer is None
            assert "Y and Z hold the same rows" in found.notes[-1]
        with pytest.raises(ValueError, match=r"X and Z hold the same rows, and a .* itself"):
            closer_test(X[:20], Y[:20], X[:20], measure=measure)


def test_no_variance_says_nothing():
    found = closer_test(np.zeros(30), np.ones(30), np.full(30, 3.0))
    assert (found.pvalue, found.error) == (1.0, 0.0) and "standard error of the difference is zero" in found.notes[-1]
    assert "none" in found.summary()


def test_a_p_value_is_never_zero():
    rng = np.random.default_rng(24)
    x, y, z = rng.normal(size=(3, 2000))
    found = closer_test(x, y, z + 50.0)
    assert 0.0 < found.pvalue < 1e-200


def test_few_rows_have_a_note():
    assert not any("only" in note for note in closer_test(X, Y, Z).notes)
    found = closer_test(X[:8], Y, Z)
    assert any(note.startswith("There are 8 rows only") for note in found.notes)
    found = closer_test(X, Y, Z, groups=np.arange(73) // 6)
    assert any(note.startswith("There are 4 groups only") for note in found.notes)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_one_sided_tests_of_samples_of_very_different_sizes_have_a_note(alternative):
    rng = np.random.default_rng(3)
    few, more, many = rng.normal(size=30), rng.normal(size=61), rng.normal(size=801)
    for y, z, noted in ((few, more, True), (more, few, True), (more, many, True), (few, few + 1.0, False)):
        notes = closer_test(rng.normal(size=25), y, z, alternative=alternative).notes
        assert any("very different sizes" in note for note in notes) == (noted and alternative != "two-sided")
    notes = closer_test(few, rng.normal(size=200), many, alternative=alternative).notes
    assert not any("very different sizes" in note for note in notes)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: closer_test(X[:2], Y, Z), ValueError, r"X: 2 rows; the standard error comes from leaving out one"),
        (lambda: closer_test(X[:1], Y, Z), ValueError, "X has 1 row"),
        (lambda: closer_test(X[:4], Y[:4], Z[:4], measure="hsic"), ValueError, "X, Y and Z: 4 rows; .* at least 5"),
        (lambda: closer_test(X, Y, Z, groups=np.repeat([0, 1, 2], [24, 22, 27])), ValueError, "X: 1 group;"),
        (lambda: closer_test(X, Y, Z, groups=[0, 1]), ValueError, "groups has 2 labels"),
        (lambda: closer_test(X, Y, Z, paired=True), ValueError, "paired=True needs as many rows in X as in Y"),
        (lambda: closer_test(X, Y[:, :1], Z), ValueError, "column"),
        (lambda: closer_test(X[:20], Y[:20], Z, measure="dependence"), ValueError, "Z has 27 rows"),
        (lambda: closer_test(X, Y, Z, measure="mmd"), ValueError, "measure must be one of 'distance', 'dependence'"),
        (lambda: closer_test(X, Y, Z, alternative="smaller"), ValueError, "alternative must be one of"),
        (lambda: closer_test(X, Y, Z, nan_policy="propagate"), ValueError, "nan_policy must be one of 'raise', 'omit'"),
        (lambda: closer_test(np.where(X > 1, np.nan, X), Y, Z), ValueError, r"drop their rows \([^,]*are missing\)$"),
        (lambda: closer_test(X, Y, Z, alpha=5), ValueError, "alpha must lie strictly between 0 and 1"),
        (lambda: closer_test(X, Y, Z, confidence=95), ValueError, "confidence must lie strictly"),
        (lambda: closer_test(X, Y, Z, names=("a", "b")), TypeError, "names must be three texts"),
        (lambda: closer_test(X, Y, Z, names=("a", "b", "b")), ValueError, "names must differ"),
        (lambda: closer_test(X, Y, Z, names=("a", "b", 1)), TypeError, "names must be three texts"),
        (lambda: closer_test(X, Y, Z, seed=1), TypeError, "closer_test has no argument seed=; it is rng= here"),
        (lambda: closer_test(X, Y, Z, estimator="kme"), TypeError, "estimator"),
        (lambda: closer_test(np.ones(9), np.ones(9), np.ones(8)), ValueError, "the same values in every row"),
        (
            lambda: closer_test(X[:9], np.ones(9), Z[:9], measure="hsic"),
            ValueError,
            "Y has the same value in every row",
        ),
        (
            lambda: closer_test(X[:9, 0], np.r_[1.0, np.zeros(8)], Z[:9, 0], measure="dependence"),
            ValueError,
            "Y hardly varies: without one of its rows",
        ),
        (
            lambda: closer_test(X[:9], Y[:9], Z[:9], measure="dependence", paired=True),
            ValueError,
            "paired= and groups= are for measure='distance'",
        ),
        (
            lambda: closer_test(X[:9], Y[:9], Z[:9], paired=True, groups=np.arange(27)),
            ValueError,
            "leave out groups=, or paired=",
        ),
        (
            lambda: closer_test(X[:9], Y[:9], Z[:9], measure="hsic", bandwidth=[1.0, 2.0]),
            ValueError,
            "bandwidth has 2 entries for 3 variables",
        ),
        (lambda: closer_test(X, Y, Z, kernel="rbf"), ValueError, "is called 'gaussian' here"),
        (lambda: closer_matrix(X, [Y, Z]), TypeError, "models must be a mapping from names to samples"),
        (lambda: closer_matrix(X, {"a": Y}), ValueError, "models has one entry"),
        (lambda: closer_matrix(X, {"": Y, "b": Z}), ValueError, "models has an empty name"),
        (lambda: closer_matrix(X, {"X": Y, "b": Z}), ValueError, "the names of X .* must differ"),
        (lambda: closer_matrix(X, {"a": Y, "b": Z}, name=3), TypeError, "name must be a text"),
        (lambda: closer_matrix(X, {"a": Y, "b": Z}, method="westfall-young"), ValueError, "method must be one of"),
        (lambda: closer_matrix(X, {"a": Y, "b": Z[:1]}), ValueError, "b has 1 row"),
    ],
)
def test_what_cannot_be_compared(call, error, said):
    with pytest.raises(error, match=said):
        call()


@pytest.mark.parametrize("kernel", ["energy", "linear"])
def test_values_whose_squares_are_no_numbers(kernel):
    plain, large = (closer_test(f * X, f * Y, f * Z, kernel=kernel) for f in (1.0, 1e140))
    assert large.pvalue == pytest.approx(plain.pvalue)
    for factor in (1e154, 1e300):
        with pytest.raises(ValueError, match="beyond the range of numbers; multiply the data by a constant, or use"):
            closer_test(factor * X, factor * Y, factor * Z, kernel=kernel)
    if kernel == "linear":
        assert closer_test(1e-140 * X, 1e-140 * Y, 1e-140 * Z, kernel=kernel).pvalue == pytest.approx(plain.pvalue)
        with pytest.raises(ValueError, match="beyond the range of numbers; multiply the data by a constant, or use"):
            closer_test(1e-170 * X, 1e-170 * Y, 1e-170 * Z, kernel=kernel)


# ------------------------------------------------------------------------------------------- several models

MODELS = {"far": Z, "near": Y, "nearer": RNG.normal(0.05, 1.0, size=(30, 2)), "farthest": Z + 1.0}


@pytest.mark.parametrize("method", ["holm", "fdr_bh"])
def test_every_two_models_are_compared(method):
    found = closer_matrix(X, MODELS, method=method, bandwidth=1.5, name="seen")
    for test, (one, other) in zip(found.tests, itertools.combinations(MODELS, 2), strict=True):
        alone = closer_test(X, MODELS[one], MODELS[other], bandwidth=1.5)
        assert test.names == ("seen", one, other) and test.pvalue == pytest.approx(alone.pvalue)
        assert test.n_observations == alone.n_observations
    expected = multipletests([test.pvalue for test in found.tests], method=method)[1]
    np.testing.assert_allclose(found.adjusted, expected)
    assert found.ranked[-2:] == ("far", "farthest") and set(found.best) == {"near", "nearer"}
    assert found.pvalue == found.adjusted.min() and len(found) == 6
    table = found.table
    assert list(table.columns) == [
        *("first", "second", "difference", "low", "high", "statistic", "pvalue", "adjusted", "reject", "nearer"),
    ]
    assert (np.diff(table["adjusted"]) >= 0.0).all() and table["reject"].sum() == found.reject().sum()
    beaten = {row.first if row.nearer == row.second else row.second for row in table[table["reject"]].itertuples()}
    assert set(found.best) == set(MODELS) - beaten
    assert set(found.best) <= set(closer_matrix(X, MODELS, method=method, bandwidth=1.5, alpha=1e-9).best)


def test_one_kernel_for_all_models():
    found = closer_matrix(X, MODELS)
    assert len({test.bandwidth for test in found.tests}) == 1
    pooled = np.vstack([X, *MODELS.values()])
    assert found.tests[0].bandwidth == Gaussian("median").resolve(pooled).bandwidth


def test_answers_about_several_models():
    rng = np.random.default_rng(26)
    found = closer_matrix(X, {"near": Y, "far": Z}, name="seen")
    assert found.answer == "seen is nearest to near; the other is clearly further away."
    found = closer_matrix(X, {"near": Y, "far": Z, "farthest": Z + 1.0}, name="seen")
    assert found.answer == "seen is nearest to near; all others are clearly further away."
    twins = {"a": Y, "b": Y[::-1] + 0.01, "c": Y[::-1] - 0.01}
    open_ = closer_matrix(X, twins)
    assert (
        len(open_.best) == 3
        and " by the estimates; " in open_.answer
        and "are not clearly further away." in open_.answer
    )
    assert open_.answer in " ".join(open_.summary().split())
    x = rng.normal(size=40)
    variables = {"other": rng.normal(size=40), "same": x + 0.1 * rng.normal(size=40)}
    found = closer_matrix(x, variables, measure="dependence")
    assert found.answer == "X depends most on same, and clearly less on the other."
    assert found.ranked == ("same", "other")
    found = closer_matrix(x, {**variables, "third": rng.normal(size=40)}, measure="hsic")
    assert found.answer == "X depends most on same, and clearly less on all others."
    found = closer_matrix(x, dict(zip("ab", rng.normal(size=(2, 40)), strict=True)), measure="hsic")
    assert "by the estimates, and not clearly less on " in found.answer


def test_groups_of_other_models_change_nothing():
    rng = np.random.default_rng(31)
    labels, models = np.arange(40) // 5, dict(zip("abc", rng.normal(size=(3, 40)), strict=True))
    x, alone, mixed = rng.normal(size=40), rng.permutation(8), np.repeat([0, 1, 8, 9], 10)
    for c, of_c in ((models["c"][:8], alone % 4), (models["c"], mixed)):
        found = closer_matrix(x, {**models, "c": c}, kernel=Gaussian(1.2), groups=[labels, labels, labels, of_c])
        of_models = {"a": (models["a"], labels), "b": (models["b"], labels), "c": (c, of_c)}
        for test in found.tests:
            (y, of_y), (z, of_z) = (of_models[name] for name in test.names[1:])
            pair = closer_test(x, y, z, kernel=Gaussian(1.2), groups=[labels, of_y, of_z])
            np.testing.assert_allclose(
                (test.pvalue, test.error, test.freedom), (pair.pvalue, pair.error, pair.freedom), rtol=1e-9
            )


def test_matched_rows_of_several_models():
    rng = np.random.default_rng(27)
    shared = rng.normal(size=(25, 1)) * 3.0
    x, *others = (shared + shift + 0.3 * rng.normal(size=(25, 1)) for shift in (0.0, 0.5, 2.0, 4.0))
    models = dict(zip("abc", others, strict=True))
    found = closer_matrix(x, models, paired=True)
    assert found.best == ("a",) and found.tests[0].freedom == pytest.approx(24.0)
    alone = closer_test(x, others[0], others[1], paired=True, bandwidth=found.tests[0].bandwidth)
    assert found.tests[0].pvalue == pytest.approx(alone.pvalue)


def test_pictures():
    from matplotlib.figure import Figure

    test, matrix = closer_test(X, Y, Z), closer_matrix(X, MODELS)
    for result in (test, closer_test(X, Y, Z, alternative="less"), closer_test(X, Y, Y.copy()), matrix):
        ax = result.plot(Figure().subplots())
        assert ax.get_title().replace("\n", " ") == result.answer and ax.get_xlabel()
    drawn = [tuple(line.get_xdata()) for line in test.plot(Figure().subplots()).lines]
    assert any(line == pytest.approx(test.interval) for line in drawn if len(line) == 2)
    for alternative, side in (("less", 0), ("greater", 1)):  # a limit that is infinite ends at the border
        one = closer_test(X, Y, Z, alternative=alternative)
        ax = one.plot(Figure().subplots())
        ends = next(line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 2)
        assert np.isinf(one.interval[side]) and ends[side] == ax.get_xlim()[side]
        assert ends[1 - side] == one.interval[1 - side]
    ax = matrix.plot(Figure().subplots())
    assert [label.get_text() for label in ax.get_yticklabels()] == list(matrix.ranked)
    for line in ax.lines:  # nothing is nearer than the nearest
        assert len(line.get_xdata()) != 1 or line.get_xdata()[0] >= 0.0


# --------------------------------------------------------------------------------------------------- the level


def test_the_level_of_models_at_the_same_distance():
    """On both sides of X; 500 data sets, bound for a level of .05 with probability 99.99 %."""
    rng = np.random.default_rng(11)
    rejected = sum(
        closer_test(rng.normal(size=30), rng.normal(0.8, 1.0, 30), rng.normal(-0.8, 1.0, 30), workers=1).reject()
        for _ in range(500)
    )
    low, high = stats.binom(500, 0.05).ppf([0.00005, 0.99995])
    assert low <= rejected <= high


def test_it_is_conservative_where_all_are_the_same():
    rng = np.random.default_rng(12)
    rejected = sum(closer_test(*rng.normal(size=(3, 25)), workers=1).reject() for _ in range(300))
    assert rejected <= stats.binom(300, 0.05).ppf(0.5)


def test_two_distributions_of_the_study_are_at_one_distance():
    deviation, bandwidth = closer_levels.as_far_as(1.0), closer_levels.BANDWIDTH
    rng = np.random.default_rng(13)
    x, y, z = rng.normal(size=4000), rng.normal(1.0, 1.0, 4000), rng.normal(0.0, deviation, 4000)
    found = closer_test(x, y, z, bandwidth=bandwidth)
    assert abs(found.statistic) < 4.0 and found.error < 0.01 < found.distances[0]


def test_the_published_levels_are_what_the_notes_say():
    rates = pd.read_csv(ROOT / "docs" / "data" / "closer_levels.csv")
    levels = rates[~rates["cell"].str.startswith("power: ")]
    assert set(levels["n"]) == {20, 50, 200, 1000} and levels["trials"].min() >= 2000
    above = levels["rejected"] * levels["trials"] > stats.binom(levels["trials"], 0.05).ppf(0.9995)
    assert not above[levels["alternative"] == "two-sided"].any()
    for row in levels[above].itertuples():  # where the result has a note
        _, y, z = closer_levels.SHAPES[row.sizes]
        assert uneven(y * row.n, z * row.n)
    low, high = proportion_confint(levels["rejected"] * levels["trials"], levels["trials"], method="beta")
    np.testing.assert_allclose(levels[["low", "high"]].to_numpy().T, (low, high))
