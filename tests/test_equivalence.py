"""equivalence_test: its p-value against slow twins, margins as numbers and as changes, designs, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import equivalence_levels
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.optimize import brentq
from statsmodels.stats.proportion import proportion_confint

import naive_equivalence as naive
from shrinktest import EquivalenceResult, equivalence_test, independence_test, two_sample_test
from shrinktest.effects.jackknife import Estimate
from shrinktest.effects.separability import Area, roc_area
from shrinktest.kernels import Gaussian, Linear, Precomputed, Rescaled

ROOT = Path(__file__).resolve().parent.parent
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 2)), RNG.normal(0.1, 1.0, size=(70, 2))
PAIR = 0.3 * X + RNG.normal(size=(60, 2))


# ------------------------------------------------------------------------------------------------- the p-value


@pytest.mark.parametrize("margin", [0.02, 0.3, 0.7])
def test_the_distance_is_that_of_its_slow_twin(margin):
    x, y = RNG.normal(size=(6, 2)), RNG.normal(0.5, 1.0, size=(7, 2))
    found = equivalence_test(x, y, margin=margin, scale="distance", bandwidth=1.3, gram="dense")
    gram = Gaussian(1.3)(np.vstack([x, y]))
    np.testing.assert_allclose((found.estimate, *found), naive.distance_test(gram, 6, margin), rtol=1e-6)


@pytest.mark.parametrize("margin", [0.05, 0.6])
def test_the_dependence_is_that_of_its_slow_twin(margin):
    x, y = RNG.normal(size=(2, 7))
    found = equivalence_test(x, x + y, margin=margin, scale="dependence", bandwidth=[0.8, 1.1], gram="dense")
    grams = Gaussian(0.8)(x[:, None]), Gaussian(1.1)((x + y)[:, None])
    np.testing.assert_allclose((found.estimate, *found), naive.dependence_test(*grams, margin), rtol=1e-6)


def limits(scale, confidence, **options):
    """The estimate and the upper limit by the effect of a test."""
    if scale == "dependence":
        effect = independence_test(X, PAIR, n_resamples=0, **options).effect(confidence=confidence)
        return effect.dependence, effect.dependence_interval[1]
    effect = two_sample_test(X, Y, n_resamples=0, **options).effect(confidence=confidence)
    return (effect.auc, effect.auc_interval[1]) if scale == "auc" else (effect.distance, effect.distance_interval[1])


@pytest.mark.parametrize(("scale", "margin"), [("distance", 0.04), ("auc", 0.63), ("dependence", 0.2)])
def test_it_inverts_the_interval_of_the_effect(scale, margin):
    other = PAIR if scale == "dependence" else Y
    found = equivalence_test(X, other, margin=margin, scale=scale)
    estimate, upper = limits(scale, 0.9)
    assert (found.estimate, found.upper) == pytest.approx((estimate, upper), rel=1e-9)
    confidence = brentq(lambda c: limits(scale, c)[1] - margin, 1e-6, 1.0 - 1e-9)
    assert found.pvalue == pytest.approx((1.0 - confidence) / 2.0, rel=1e-6)
    assert found.reject() == (found.upper <= margin) == found.equivalent
    wide = equivalence_test(X, other, margin=margin, scale=scale, alpha=0.2)
    assert wide.pvalue == found.pvalue and wide.upper < found.upper
    # a margin below the estimate is never shown
    low = (estimate + 0.5) / 2.0 if scale == "auc" else estimate / 2.0
    assert low >= estimate or equivalence_test(X, other, margin=low, scale=scale).pvalue > 0.5


@pytest.mark.parametrize("value", [-0.2, -0.05, -0.01, 0.0, 0.02, 0.2])
@pytest.mark.parametrize("jackknife", [1e-3, 4e-3, 5e-2])
def test_p_values_and_upper_limits_agree_wherever_the_estimate_is(value, jackknife):
    estimate, area = Estimate(value, jackknife, 1e-3, 30), Area(0.5 + value, jackknife, (20, 30), 0.7)
    for alpha in (0.01, 0.05, 0.2):
        for one, margins in ((estimate, np.linspace(0.001, 0.999, 300)), (area, np.linspace(0.501, 0.999, 300))):
            upper = one.interval(1.0 - 2.0 * alpha)[1]
            pvalues = np.array([one.below(margin)[1] for margin in margins])
            np.testing.assert_array_equal(pvalues <= alpha, upper <= margins)
            assert (np.diff(pvalues) <= 1e-15).all()


def test_a_p_value_is_never_zero_nor_above_one():
    x, y = RNG.normal(size=(2, 3000))
    near = equivalence_test(x, y, margin=0.9, scale="distance")
    far = equivalence_test(x[:50], y[:50] + 50.0, margin=0.001, scale="distance")
    assert 0.0 < near.pvalue < 1e-100 and 0.99 < far.pvalue <= 1.0 and not far.equivalent


# -------------------------------------------------------------------------------------------------- the margin


def test_a_shift_is_a_margin_as_the_slow_twin_has_it():
    found = equivalence_test(X, Y, margin="shift 0.5", scale="distance", bandwidth=1.5)
    pooled = np.vstack([X, Y])
    moved = pooled + 0.5 * pooled.std(axis=0, ddof=1)
    gram, n = Gaussian(1.5)(np.vstack([pooled, moved])), len(pooled)
    apart = ~np.eye(n, dtype=bool)
    a, b, c = (part[apart].mean() for part in (gram[:n, :n], gram[n:, n:], gram[:n, n:]))
    assert found.margin == pytest.approx(1.0 - 2.0 * c / (a + b), rel=1e-9) and found.margin_words == "shift 0.5"
    assert any(f"The margin {found.margin:.3g} is the difference that 'shift 0.5' makes" in one for one in found.notes)
    number = equivalence_test(X, Y, margin=found.margin, scale="distance", bandwidth=1.5)
    assert number.pvalue == found.pvalue and number.margin_words == ""

    def shifted(rows):
        rows += 0.5 * rows.std(axis=0, ddof=1)  # which must not reach the data
        return rows

    same = equivalence_test(X, Y, margin=shifted, scale="distance", bandwidth=1.5)
    assert (same.margin, same.pvalue) == pytest.approx((found.margin, found.pvalue))
    assert same.margin_words == "shifted"


def test_the_margin_of_a_change_sees_no_labels():
    pooled, order = np.vstack([X, Y]), np.random.default_rng(1).permutation(130)
    mixed = pooled[order]
    one, other = (
        equivalence_test(rows[:60], rows[60:], margin=lambda rows: 1.3 * rows, scale="distance").margin
        for rows in (pooled, mixed)
    )
    assert one == pytest.approx(other, rel=1e-9)


@pytest.mark.parametrize("scale", ["distance", "auc"])
def test_larger_changes_are_larger_margins(scale):
    margins = [equivalence_test(X, Y, margin=f"shift {size}", scale=scale).margin for size in (0.4, 0.8, -1.5)]
    assert margins == sorted(margins) and margins[0] > {"distance": 0.0, "auc": 0.5}[scale]


def test_a_shift_has_the_units_of_the_columns():
    one = equivalence_test(X, Y, margin="shift 0.5", scale="distance", units="sd")
    other = equivalence_test(X * [1, 1000], Y * [1, 1000], margin="shift 0.5", scale="distance", units="sd")
    assert one.margin == pytest.approx(other.margin) and one.pvalue == pytest.approx(other.pvalue)


def test_many_rows_are_changed_in_part():
    x, y = RNG.normal(size=(2, 1500))
    found = equivalence_test(x, y, margin="shift 0.3", scale="distance")
    assert any("2000 rows of it, at random" in note for note in found.notes)
    assert found.margin == equivalence_test(x, y, margin="shift 0.3", scale="distance").margin
    small = equivalence_test(x, y, margin="shift 0.3", scale="distance", max_memory=1e6, gram="rff", rank=9)
    assert any("125 rows of it, at random" in note for note in small.notes)


@pytest.mark.parametrize("kernel", ["whitened", "second-order"])
@pytest.mark.parametrize("scale", ["distance", "auc"])
def test_changes_under_kernels_of_the_pooled_sample(kernel, scale):
    found = equivalence_test(X, Y, margin=lambda rows: 2.0 * rows, scale=scale, kernel=kernel)
    assert {"distance": 0.0, "auc": 0.5}[scale] < found.margin < 1.0
    if scale == "distance":
        pooled, n = np.vstack([X, Y]), 130
        gram = found.kernel(np.vstack([pooled, 2.0 * pooled]))
        apart, diagonal = ~np.eye(n, dtype=bool), np.diag(gram).mean()
        a, b, c = (part[apart].mean() for part in (gram[:n, :n], gram[n:, n:], gram[:n, n:]))
        assert found.margin == pytest.approx((a + b - 2.0 * c) / (4.0 * diagonal - a - b - 2.0 * c), rel=1e-6)


def test_rows_far_out_that_make_the_margin_large_have_a_note():
    wild = np.r_[Y[:, 0], 500.0]
    said = "Few rows far out make the standard deviation of column 0"
    assert any(said in note for note in equivalence_test(X[:, 0], wild, margin="shift 0.2", scale="distance").notes)
    assert not any("far out" in note for note in equivalence_test(X, Y, margin="shift 0.5", scale="distance").notes)


# ------------------------------------------------------------------------------------------- results and designs


def test_what_it_says():
    x, y = np.random.default_rng(3).normal(size=(2, 300))
    found = equivalence_test(x, y, margin=0.05, scale="distance", names=("before", "after"))
    assert isinstance(found, EquivalenceResult) and found.equivalent
    assert found.answer.startswith("The distance of before and after is below .05 (upper limit .0")
    assert "they are practically the same on this scale, p = " in found.answer
    assert found.answer in " ".join(found.summary().split()) and "300 + 300" in found.summary()
    found = equivalence_test(x, y + 1.0, margin=0.01, scale="distance")
    assert found.answer.startswith("It was not shown that the distance of X and Y is below .01 (upper limit .")
    found = equivalence_test(x, y, margin=0.65, scale="auc")
    assert "such a witness function hardly tells them apart" in found.answer
    assert any(
        "fitted to 240 + 240 rows" in note and "not that no function does better" in note for note in found.notes
    )
    assert (found.folds, repr(found.estimator)) == (5, "KME()") and "on 5 folds" in found.summary()
    found = equivalence_test(x, y, margin=0.05, scale="dependence")
    assert "practically independent" in found.answer and found.n_observations == (300,)
    statistic, pvalue = found
    assert pvalue == pytest.approx(stats.t(299).cdf(statistic))


def test_margin_and_limit_are_told_apart_in_words():
    found = equivalence_test(X, Y, margin=0.5, scale="distance")
    near = equivalence_test(X, Y, margin=found.upper * (1.0 + 1e-7), scale="distance")
    shown = near.answer.split("below ")[1].split("):")[0].split(" (upper limit ")
    assert float(shown[0]) > float(shown[1])


def test_pairs_groups_and_blocks():
    shared = 3.0 * RNG.normal(size=(40, 1))
    x, y = (shared + 0.3 * RNG.normal(size=(40, 1)) for _ in range(2))
    alone, paired = (equivalence_test(x, y, margin=0.05, scale="distance", paired=p) for p in (False, True))
    assert paired.upper < alone.upper and paired.pvalue < alone.pvalue
    patients = np.repeat(np.arange(40), 3)
    rows = [shared[np.r_[:20] + start].repeat(3, axis=0) + RNG.normal(size=(60, 1)) for start in (0, 20)]
    given = {"margin": 0.2, "scale": "distance"}
    assert (
        equivalence_test(*rows, groups=patients, **given).upper > equivalence_test(*rows, **given).upper
    )  # which do not vary by themselves
    days = np.repeat([0, 1, 0, 1], 20)
    blocked = equivalence_test(x + days[:40, None], y + days[40:, None], blocks=days, **given)
    assert any("within blocks" in note for note in blocked.notes)
    effect = independence_test(x, y, groups=patients[::3] // 2, n_resamples=0).effect(confidence=0.9)
    grouped = equivalence_test(x, y, margin=0.2, scale="dependence", groups=patients[::3] // 2)
    assert grouped.upper == pytest.approx(effect.dependence_interval[1])


def test_tables_and_missing_values():
    table = pd.DataFrame({"dose": X[:, 0], "team": np.where(X[:, 1] > 0, "a", "b")})
    other = table.sample(frac=1.0, random_state=1)[["team", "dose"]].reset_index(drop=True)
    other["dose"] += 0.01
    found = equivalence_test(table, other, margin=0.1, scale="distance")
    assert found.columns == (("dose", "team"),) and found.equivalent
    other.loc[3, "dose"] = np.nan
    with pytest.raises(ValueError, match="missing"):
        equivalence_test(table, other, margin=0.1, scale="distance")
    assert equivalence_test(table, other, margin=0.1, scale="distance", nan_policy="omit").n_observations == (60, 59)
    with pytest.raises(ValueError, match="cannot be shifted, and column 'team'"):
        equivalence_test(table, other.dropna(), margin="shift 0.2", scale="distance")


@pytest.mark.parametrize("scale", ["distance", "auc", "dependence"])
def test_ways_to_evaluate_the_kernel_and_workers(scale):
    margin, other = (0.65 if scale == "auc" else 0.1), PAIR if scale == "dependence" else Y
    given = {"margin": margin, "scale": scale}
    dense, factor, one = (
        equivalence_test(X, other, **given, **more)
        for more in ({"gram": "dense"}, {"gram": "factor"}, {"gram": "dense", "workers": 1})
    )
    assert factor.pvalue == pytest.approx(dense.pvalue, rel=1e-4) and factor.route == "factor"
    assert one == dense
    random = [equivalence_test(X, other, **given, gram="rff", rank=40, rng=seed).pvalue for seed in (1, 1, 2)]
    assert random[0] == random[1] != random[2]
    noted = equivalence_test(X, other, **given, gram="rff", rank=40).notes
    assert any("random Fourier features" in note for note in noted)
    assert "permutation" not in " ".join(noted)


@pytest.mark.parametrize("estimator", ["fkmse", "mkme", "landweber"])
def test_the_witness_function_of_other_estimators(estimator):
    found = equivalence_test(X, Y, margin=0.7, scale="auc", estimator=estimator, folds=3)
    effect = two_sample_test(X, Y, estimator=estimator, n_resamples=0).effect(confidence=0.9, folds=3)
    assert (found.estimate, found.upper) == pytest.approx((effect.auc, effect.auc_interval[1]))
    assert 0.5 < equivalence_test(X, Y, margin="shift 1", scale="auc", estimator=estimator).margin < 1.0


def test_kernels_with_values_below_zero():
    found = equivalence_test(X, Y, margin=0.2, scale="distance", kernel="linear")
    assert any("relative to the variance" in note for note in found.notes)
    assert found.estimate == pytest.approx(
        two_sample_test(X, Y, kernel="linear", n_resamples=0).effect().distance, rel=1e-9
    )


# ------------------------------------------------------------------------------------------ what says nothing


def test_few_rows_have_a_note_and_fewer_an_error():
    assert any("measured from 20" in note for note in equivalence_test(X[:8], Y, margin=0.5, scale="distance").notes)
    assert equivalence_test(X[:5], Y[:5], margin=0.5, scale="distance").upper > 0.0


@pytest.mark.parametrize(
    ("data", "given"),
    [
        ((np.zeros(30), np.ones(30)), {"scale": "distance"}),
        ((np.r_[np.zeros(29), 1.0], np.zeros(30)), {"scale": "distance"}),
        ((X[:, 0], X[:, 0] + 1.0), {"scale": "distance", "paired": True, "kernel": "linear"}),
        ((np.r_[np.zeros(7), 1.0], np.r_[0.0, 1.0, np.zeros(6)]), {"scale": "dependence"}),
        ((np.zeros(30), np.ones(30)), {"scale": "auc", "kernel": lambda x, y: np.ones((len(x), len(y)))}),
    ],
)
def test_where_there_is_no_variance_nothing_is_shown(data, given):
    found = equivalence_test(
        *data,
        margin=0.3 if given["scale"] != "auc" else 0.99,
        **({"bandwidth": 1.0} if "kernel" not in given else {}),
        **given,
    )
    assert (found.pvalue, found.equivalent) == (1.0, False) and np.isnan(found.upper) and np.isnan(found.statistic)
    assert "nothing was shown, and the p-value is 1" in " ".join(found.notes)
    assert found.answer.startswith("It was not shown") and "(no upper limit)" in found.answer
    assert "upper limit" in found.summary() and "none" in found.summary()


@pytest.mark.parametrize("n", [40, 60, 120])
@pytest.mark.parametrize("given", [{}, {"gram": "factor"}, {"kernel": "laplacian"}, {"paired": True}], ids=str)
def test_rounding_is_no_variance(n, given):
    """One row that differs from all others: estimate and variance are zero, but for their last bits."""
    one, none, other = np.r_[np.zeros(n - 1), 1.0], np.zeros(n), np.random.default_rng(n).normal(size=n)
    found = equivalence_test(one, none, margin=0.01, scale="distance", bandwidth=1.0, **given)
    assert found.pvalue == 1.0 and np.isnan(found.upper) and abs(found.estimate) < 1e-14
    found = two_sample_test(one, none, bandwidth=1.0, n_resamples=0, **given).effect()
    assert np.isnan(found.distance_interval).all()
    if "paired" not in given:
        found = equivalence_test(one, other, margin=0.3, scale="dependence", **given)
        assert found.pvalue == 1.0 and np.isnan(found.upper) and np.isnan(found.estimate)
        assert "no two of its rows differ from the others" in found.notes[0] and "block" not in " ".join(found.notes)


def test_the_variance_of_an_area_counts_ties():
    rng, second = np.random.default_rng(5), np.repeat([False, True], [15, 20])
    found = []
    for _ in range(2000):
        scores = (rng.random(35) < 0.3).astype(float)
        if np.ptp(scores) > 0.0:
            one = roc_area(scores, second, np.zeros(35, dtype=int), np.arange(35), 0.0)
            found.append((one.value, one.variance))
    values, variances = np.array(found).T
    assert variances.mean() == pytest.approx(values.var(), rel=0.05)


def refused(*data, **given):
    return lambda: equivalence_test(*data, **{"margin": 0.1, "scale": "distance", **given})


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: equivalence_test(X, Y, margin=0.1), ValueError, r"scale says on which scale .* 'auc': the margin is"),
        (refused(X, Y, scale="mmd"), ValueError, "got 'mmd'"),
        (lambda: equivalence_test(X, Y, scale="auc"), ValueError, r"margin says how large .* between .5 and 1"),
        (refused(X, Y, margin=0), ValueError, "a margin of 0 or below is below what chance alone gives"),
        (refused(X, Y, margin=-0.1), ValueError, "a margin of 0 or below"),
        (refused(X, Y, margin=1), ValueError, "a margin of 1 or above denies nothing"),
        (refused(X, Y, margin=np.nan), ValueError, "NaN"),
        (refused(X, Y, margin=0.5, scale="auc"), ValueError, r"a margin of 0.5 or below .* between .5 and 1"),
        (refused(X, Y, margin=True), TypeError, "margin must be a number, 'shift 0.2'"),
        (refused(X, Y, margin=[0.1]), TypeError, "margin must be a number"),
        (refused(X, Y, margin="move 3"), ValueError, "margin='move 3' is neither a number nor 'shift 0.2'"),
        (refused(X, Y, margin="shift 0"), ValueError, "is neither a number nor"),
        (refused(X, Y, margin=lambda: 1), TypeError, "margin as a function takes the pooled rows"),
        (refused(X, Y, margin=lambda rows: rows[:3]), ValueError, r"returned shape \(3, 2\)"),
        (refused(X, Y, margin=lambda rows: rows * np.nan), ValueError, "finite numbers"),
        (refused(X, Y, margin=lambda rows: rows + 1j), ValueError, "failed on the pooled rows: .*dtype complex128"),
        (refused(X, Y, margin=lambda rows: rows), ValueError, "makes a difference of 0 .* give a larger change"),
        (refused(X, Y, margin="shift 1e6"), ValueError, "makes a difference of 1 .* give a smaller change"),
        (refused(X, PAIR, margin="shift 1", scale="dependence"), ValueError, "must be a number where variables are"),
        (refused(X[:4], Y), ValueError, r"a sample with 4 rows; an upper limit takes at least 5"),
        (refused(X[:4], PAIR[:4], scale="dependence"), ValueError, "4 rows; an upper limit takes at least 5"),
        (refused(X[:4], Y[:4], margin=0.7, scale="auc"), ValueError, "4 rows"),
        (refused(X[:4], Y[:4], paired=True), ValueError, "4 pairs"),
        (refused(X, Y, groups=np.r_[np.arange(60) // 20, 5 + np.arange(70)]), ValueError, "3 groups"),
        (refused(np.ones(9), np.ones(8)), ValueError, "X and Y have the same values in every row"),
        (refused(np.ones(60), PAIR, scale="dependence"), ValueError, "X has the same value in every row"),
        (refused(X, X.copy()), ValueError, "hold the same rows, which are equivalent whatever"),
        (refused(X, Y, estimator="kme"), ValueError, "estimator= is for scale='auc'"),
        (refused(X, PAIR, scale="dependence", paired=True), ValueError, "paired= is for samples"),
        (refused(X, Y, kernel=["gaussian", "energy"]), ValueError, "kernel must be one, because a margin"),
        (refused(X, PAIR, scale="dependence", bandwidth=[1.0]), ValueError, "bandwidth has 1 entries for 2 variables"),
        (refused(X, Y, alpha=0.5), ValueError, "alpha must lie below .5"),
        (refused(X, Y, alpha=5), ValueError, "alpha must lie strictly between"),
        (refused(X, Y, folds=1), ValueError, "folds must be an integer >= 2"),
        (refused(X, Y, folds=4), ValueError, "folds= is for scale='auc'"),
        (refused(X, Y, folds=5), ValueError, "folds= is for scale='auc'"),  # as many as there are where nobody says
        (
            refused(pd.DataFrame({"a": X[:, 0]}), pd.DataFrame({"a": Y[:, 0]}), units={"a": "metres"}),
            ValueError,
            r"units\['a'\] must be one of",
        ),
        (refused(X, Y, units="metres"), ValueError, "units must be one of"),
        (refused(X, Y, nan_policy="propagate"), ValueError, "nan_policy must be one of 'raise', 'omit'"),
        (refused(X, Y, names=("a", "a")), ValueError, "names must differ"),
        (refused(X, Y, names="ab"), TypeError, "names must be two texts"),
        (refused(X, Y, seed=1), TypeError, "it is rng= here"),
        (refused(X, Y[:, :1]), ValueError, "column"),
    ],
)
def test_what_it_refuses(call, error, said):
    with pytest.raises(error, match=said):
        call()


def test_notes_call_the_units_by_their_name_here():
    wide = [one * [1.0, 1000.0] for one in (X, Y)]
    said = " ".join(equivalence_test(*wide, margin=0.1, scale="distance").notes)
    assert "units='sd'" in said and "scale=" not in said


# ------------------------------------------------------------------------------------------------- the level


def test_the_level_at_the_margin_is_held():
    """N(0, 1) and N(1, 1) with bandwidth 1, whose distance is known: of 400 data sets, 99.99 % bound for .05."""
    margin = 1.0 - np.exp(-1.0 / 6.0)
    rng = np.random.default_rng(11)
    found = [
        equivalence_test(rng.normal(size=50), rng.normal(1.0, 1.0, 50), margin=margin, scale="distance", bandwidth=1.0)
        for _ in range(400)
    ]
    rejected = sum(one.reject() for one in found)
    assert stats.binom(400, 0.05).ppf(0.00005) <= rejected <= stats.binom(400, 0.05).ppf(0.99995)
    assert np.mean([one.estimate for one in found]) == pytest.approx(margin, abs=0.02)
    gram = Precomputed(Gaussian(1.0)(RNG.normal(size=(40, 1))))
    assert equivalence_test(np.arange(20), np.arange(20, 40), margin=0.9, scale="distance", kernel=gram).equivalent


def test_the_published_levels_are_what_the_page_says():
    rates = pd.read_csv(ROOT / "docs" / "data" / "equivalence_levels.csv").fillna({"reading": ""})
    assert set(rates["n"]) == {20, 50, 200, 1000} and set(rates["scale"]) == {"distance", "auc", "dependence"}
    assert rates.loc[rates["n"] < 1000, "trials"].min() >= 2000 and rates["trials"].min() >= 1000
    low, high = proportion_confint((rates["rejected"] * rates["trials"]).round(), rates["trials"], method="beta")
    np.testing.assert_allclose(rates[["low", "high"]].to_numpy().T, (low, high))
    level = rates[(rates["what"] == "at the margin") & (rates["reading"] != equivalence_levels.BEST)]
    assert level["rejected"].max() < 0.08
    best = rates[(rates["what"] == "at the margin") & (rates["reading"] == equivalence_levels.BEST)]
    assert best["rejected"].max() > 0.9  # of this nothing is claimed


@pytest.mark.parametrize("kernel", ["gaussian", "linear", "whitened"])
@pytest.mark.parametrize("units", ["sd", "mad", "rank", "deviation", None, (100.0, 50.0)])
def test_a_margin_by_a_function_is_in_the_units_of_the_kernel(units, kernel):
    """It takes rows as they are compared, whether they come in an array or in these units already."""
    rows = np.random.default_rng(0).normal(size=(60, 2)) * [100.0, 50.0]
    seen = []

    def moved(points):
        seen.append(points)
        return points + 0.2

    told = {"margin": moved, "scale": "distance", "kernel": kernel}
    found = equivalence_test(rows[:30], rows[30:], units=units, **told)
    pooled = rows if units is None else Rescaled(Linear(), units, rows).moved(rows)
    plain = equivalence_test(pooled[:30], pooled[30:], units=None, **told)
    np.testing.assert_allclose(seen[0], seen[1], rtol=1e-12, atol=1e-12)
    assert found.margin == pytest.approx(plain.margin, rel=1e-9)
