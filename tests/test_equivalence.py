"""equivalence_test: its p-value against slow twins and recorded answers, margins as changes, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.optimize import brentq
from statsmodels.stats.weightstats import ttost_ind, ttost_paired

import naive_effects as naive
from shrinktest import equivalence_test, independence_test, two_sample_test
from shrinktest.kernels import Gaussian, Precomputed

ROOT = Path(__file__).resolve().parent.parent
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 2)), RNG.normal(0.1, 1.0, size=(70, 2))
PAIR = 0.3 * X + RNG.normal(size=(60, 2))
MEASURES = ("distance", "auc", "dependence")
MARGINS = {"distance": 0.04, "auc": 0.63, "dependence": 0.2}


def other_of(measure):
    return PAIR if measure == "dependence" else Y


def distance_of(gram, n):
    """The relative squared distance of n pairs, in Gram matrices of both."""
    apart = ~np.eye(n, dtype=bool)
    a, b, c = (part[apart].mean() for part in (gram[:n, :n], gram[n:, n:], gram[:n, n:]))
    return a, b, c


def test_it_is_its_slow_twin():
    x, y = RNG.normal(size=(6, 2)), RNG.normal(0.5, 1.0, size=(7, 2))
    gram = Gaussian(1.3)(np.vstack([x, y]))
    for margin in (0.02, 0.3, 0.7):
        result = equivalence_test(
            x, y, margin=margin, measure="distance", bandwidth=1.3, gram="dense", rng=0
        )
        np.testing.assert_allclose(
            (result.estimate, *result), naive.distance_test(gram, 6, margin), rtol=1e-6
        )
    x, y = RNG.normal(size=(2, 7))
    grams = Gaussian(0.8)(x[:, None]), Gaussian(1.1)((x + y)[:, None])
    for margin in (0.05, 0.6):
        result = equivalence_test(
            x, x + y, margin=margin, measure="dependence", bandwidth=[0.8, 1.1], gram="dense", rng=0
        )
        np.testing.assert_allclose(
            (result.estimate, *result), naive.dependence_test(*grams, margin), rtol=1e-6
        )


def test_differences_of_means_are_two_one_sided_tests():
    x, y = RNG.normal(10.0, 2.0, size=40), RNG.normal(10.3, 3.0, size=60)
    for margin in (0.3, 1.5):
        result = equivalence_test(x, y, margin=margin, measure="mean_difference")
        expected = ttost_ind(y, x, -margin, margin, usevar="unequal")[0]
        assert result.pvalue == pytest.approx(expected)
        assert result.estimate == pytest.approx(y.mean() - x.mean())
        assert result.equivalent == (result.upper <= margin)
    paired = equivalence_test(x, y[:40], margin=1.5, measure="mean_difference", paired=True)
    assert paired.pvalue == pytest.approx(ttost_paired(y[:40], x, -1.5, 1.5)[0])
    blocks = np.arange(40) % 4, np.arange(60) % 4
    within = equivalence_test(x, y, margin=1.5, measure="mean_difference", blocks=blocks)
    expected = naive.sample_coefficient(
        np.concatenate([x, y]),
        np.repeat([0, 1], [40, 60]),
        np.arange(100),
        np.concatenate(blocks),
        np.empty((100, 0)),
        0.9,
    )
    assert within.estimate == pytest.approx(expected[0])
    assert within.upper == pytest.approx(max(map(abs, expected[1:])))


def test_margins_of_dates_are_times():
    days = pd.to_datetime("2024-03-01") + pd.to_timedelta(RNG.normal(size=80), unit="D")
    first, second = (pd.DataFrame({"visit": part}) for part in (days[:40], days[40:]))
    result = equivalence_test(
        first, second, margin=pd.Timedelta("36h"), measure="mean_difference", names=("old", "new")
    )
    assert result.margin == 1.5 and result.unit == "days" and result.equivalent
    assert result.answer.startswith("The difference of means of old and new is below 1.5 days")
    assert "kernel" not in result.summary() and "margin               1.5 days" in result.summary()
    larger = second + pd.Timedelta("9D")
    result = equivalence_test(first, larger, margin=2.0, measure="mean_difference")
    assert result.differs and not result.equivalent and result.pvalue > 0.99
    ax = result.plot()
    assert ax.get_xlabel() == "difference of means"


@pytest.mark.parametrize(
    ("margin", "data", "fault"),
    [
        ("shift 0.2", X[:, 0], "in the unit of the column"),
        (-1.0, X[:, 0], "above 0"),
        (0.0, X[:, 0], "above 0"),
        (pd.Timedelta("1D"), X[:, 0], "margin is a time"),
        (1.0, X, "one column"),
        (1.0, pd.DataFrame({"c": list("ab") * 30}), "one column"),
    ],
)
def test_what_has_no_difference_of_means(margin, data, fault):
    other = data[::-1][:50]
    with pytest.raises(ValueError, match=fault):
        equivalence_test(data, other, margin=margin, measure="mean_difference")


def limits(measure, confidence, **options):
    """The estimate and the upper limit by the effect of the ordinary test."""
    test = independence_test if measure == "dependence" else two_sample_test
    effect = test(X, other_of(measure), n_resamples=0, **options).effect(confidence=confidence)
    return getattr(effect, measure), getattr(effect, f"{measure}_interval")[1]


@pytest.mark.parametrize("measure", MEASURES)
def test_it_inverts_the_interval_of_the_effect(measure):
    other, margin = other_of(measure), MARGINS[measure]
    result = equivalence_test(X, other, margin=margin, measure=measure, rng=0)
    estimate, upper = limits(measure, 0.9)
    assert (result.estimate, result.upper) == pytest.approx((estimate, upper), rel=1e-9)
    confidence = brentq(lambda c: limits(measure, c)[1] - margin, 1e-6, 1.0 - 1e-9)
    assert result.pvalue == pytest.approx((1.0 - confidence) / 2.0, rel=1e-6)
    assert result.reject() == (result.upper <= margin) == result.equivalent
    wide = equivalence_test(X, other, margin=margin, measure=measure, alpha=0.2, rng=0)
    assert wide.pvalue == result.pvalue and wide.upper < result.upper


TEAMS = np.r_[np.arange(60) // 3, 100 + np.arange(70) // 3]
#: Measure, arguments, and the p-value, upper limit and margin of the test when it was not yet one of the effect.
ANSWERS = [
    ("distance", {"kernel": "gaussian"}, (0.01886314043, 0.02109779228, 0.04)),
    ("distance", {"kernel": "whitened"}, (0.004004575505, 0.01243145024, 0.04)),
    ("distance", {"scale": "rank"}, (0.01985206339, 0.02105563491, 0.04)),
    ("auc", {"kernel": "gaussian"}, (0.0002056330619, 0.4986539577, 0.63)),
    ("auc", {"kernel": "whitened"}, (0.003628258118, 0.5588363405, 0.63)),
    ("auc", {"scale": "rank"}, (5.586535791e-05, 0.4758802896, 0.63)),
    ("dependence", {"kernel": "gaussian"}, (0.1366550257, 0.2568743153, 0.2)),
    ("dependence", {"kernel": "energy"}, (0.1203853758, 0.2522989795, 0.2)),
    ("dependence", {"kernel": "whitened"}, (0.03840298963, 0.1881299823, 0.2)),
    ("dependence", {"scale": "rank"}, (0.09842189091, 0.2378327673, 0.2)),
    ("distance", {"margin": "shift 0.5"}, (0.01341158045, 0.02109779228, 0.04697797637)),
    (
        "distance",
        {"margin": "shift 0.5", "scale": "rank"},
        (0.01269608551, 0.02105563491, 0.04968220897),
    ),
    ("distance", {"paired": True, "margin": 0.1}, (2.382388333e-17, 0.002514818687, 0.1)),
    ("distance", {"groups": TEAMS}, (0.02906535558, 0.02651304313, 0.04)),
    ("auc", {"margin": "shift 0.5"}, (1.309321947e-05, 0.4986539577, 0.6695384615)),
    ("auc", {"margin": "shift 0.5", "scale": "rank"}, (3.068831457e-06, 0.4758802896, 0.668)),
    ("auc", {"paired": True, "margin": 0.63}, (9.662029449e-06, 0.5599660297, 0.63)),
    ("auc", {"groups": TEAMS}, (0.002185493065, 0.5362685727, 0.63)),
    ("auc", {"estimator": "fkmse", "folds": 3}, (0.05703733297, 0.6343530588, 0.63)),
    ("auc", {"estimator": "skmse", "folds": 3}, (0.05918965665, 0.6355932263, 0.63)),
    ("dependence", {"groups": TEAMS[:60]}, (0.1457361372, 0.2618388571, 0.2)),
]


@pytest.mark.parametrize(("measure", "given", "answer"), ANSWERS)
def test_answers_are_those_of_the_earlier_test(measure, given, answer):
    other = X + 0.3 * Y[:60] if "paired" in given else other_of(measure)
    result = equivalence_test(
        X, other, **{"margin": MARGINS[measure], "rng": 0, **given}, measure=measure
    )
    assert (result.pvalue, result.upper, result.margin) == pytest.approx(answer, rel=1e-6)


def test_a_p_value_is_never_zero_nor_above_one():
    x, y = RNG.normal(size=(2, 3000))
    near = equivalence_test(x, y, margin=0.9, measure="distance", rng=0)
    far = equivalence_test(x[:50], y[:50] + 50.0, margin=0.001, measure="distance", rng=0)
    assert 0.0 < near.pvalue < 1e-100 and 0.99 < far.pvalue <= 1.0 and not far.equivalent


def test_a_shift_is_a_margin_as_the_slow_twin_has_it():
    result = equivalence_test(X, Y, margin="shift 0.5", measure="distance", bandwidth=1.5, rng=0)
    pooled = np.vstack([X, Y])
    moved = pooled + 0.5 * pooled.std(axis=0, ddof=1)
    a, b, c = distance_of(Gaussian(1.5)(np.vstack([pooled, moved])), 130)
    assert result.margin == pytest.approx(
        1.0 - 2.0 * c / (a + b), rel=1e-9
    ) and "'shift 0.5'" in str(result.notes)

    def shifted(rows):
        rows += 0.5 * rows.std(axis=0, ddof=1)  # which must not reach the data
        return rows

    for margin in (shifted, result.margin):
        same = equivalence_test(X, Y, margin=margin, measure="distance", bandwidth=1.5, rng=0)
        assert (same.margin, same.pvalue) == pytest.approx((result.margin, result.pvalue))
    mixed = np.random.default_rng(1).permutation(pooled)  # it sees no labels
    other = equivalence_test(
        mixed[:60], mixed[60:], margin=shifted, measure="distance", bandwidth=1.5, rng=0
    )
    assert other.margin == pytest.approx(result.margin, rel=1e-9)
    many = RNG.normal(size=(2, 1500))
    first, second = (
        equivalence_test(*many, margin="shift 0.3", measure="distance", rng=0).margin
        for _ in range(2)
    )
    assert first == second > 0.0


def test_tables_and_missing_values():
    table = pd.DataFrame({"dose": X[:, 0], "team": np.where(X[:, 1] > 0, "a", "b")})
    other = table.sample(frac=1.0, random_state=1)[["team", "dose"]].reset_index(drop=True)
    other["dose"] += 0.01
    given = {"margin": 0.1, "measure": "distance"}
    assert equivalence_test(table, other, **given, rng=0).equivalent
    other.loc[3, "dose"] = np.nan
    assert equivalence_test(
        table, other, **given, rng=0, nan_policy="omit"
    ).test.n_observations == (60, 59)
    with pytest.raises(ValueError, match="categories and missing values cannot be shifted"):
        equivalence_test(table, other.dropna(), margin="shift 0.2", measure="distance", rng=0)
    x, y = (
        pd.DataFrame(np.random.default_rng(seed).normal(size=(60, 2)), columns=list("ab"))
        for seed in (0, 1)
    )
    for first, second, noted in ((24, 42, True), (19, 42, False)):
        gaps = [
            table.assign(a=table["a"].where(np.arange(60) >= gone))
            for table, gone in ((x, first), (y, second))
        ]
        notes = str(equivalence_test(*gaps, **given, rng=0, nan_policy="indicator").notes)
        assert ("Values of column 'a' are missing in 40% of X and 70% of Y" in notes) == noted


FLAT = np.eye(40)[0]


@pytest.mark.parametrize(
    ("data", "given"),
    [
        ((np.zeros(30), np.ones(30)), {"measure": "distance", "bandwidth": 1.0}),
        ((FLAT, np.zeros(40)), {"measure": "distance", "bandwidth": 1.0}),
        (
            (FLAT, np.zeros(40)),
            {"measure": "distance", "kernel": "laplacian", "bandwidth": 1.0, "paired": True},
        ),
        ((X[:, 0], X[:, 0] + 1.0), {"measure": "distance", "paired": True, "kernel": "linear"}),
        (
            (np.r_[np.zeros(7), 1.0], np.r_[0.0, 1.0, np.zeros(6)]),
            {"measure": "dependence", "bandwidth": 1.0},
        ),
        ((FLAT, X[:40, 0]), {"measure": "dependence"}),
        ((X[:4], Y), {"measure": "distance"}),
        ((X[:4], Y[:4]), {"measure": "auc"}),
        ((X[:4], PAIR[:4]), {"measure": "dependence"}),
        ((X, Y), {"measure": "distance", "groups": np.r_[np.arange(60) // 20, 5 + np.arange(70)]}),
    ],
)
def test_where_there_is_no_variance_nothing_is_shown(data, given):
    result = equivalence_test(
        *data, margin=0.3 if given["measure"] != "auc" else 0.99, **{"rng": 0, **given}
    )
    assert (
        (result.pvalue, result.equivalent) == (1.0, False)
        and np.isnan(result.upper)
        and np.isnan(result.statistic)
    )
    assert "no evidence either way" in result.notes[-1] and "(no upper limit)" in result.answer


def test_messages():
    for data, given, error, words in (
        ((X, Y), {"measure": "mmd"}, ValueError, "measure"),
        ((X, Y), {"margin": 0.5, "measure": "auc"}, ValueError, "margin=0.5"),
        ((X, Y), {"margin": [0.1]}, TypeError, "margin must be a number"),
        ((X, Y), {"margin": "move 3"}, ValueError, "margin='move 3'"),
        ((X, Y), {"margin": lambda: 1}, TypeError, "margin as a function"),
        ((X, Y), {"margin": lambda rows: rows * np.nan}, ValueError, "margin"),
        ((X, Y), {"margin": "shift 0"}, ValueError, "margin=0 "),
        ((X, PAIR), {"margin": "shift 1", "measure": "dependence"}, ValueError, "margin='shift 1'"),
        ((X, X.copy()), {}, ValueError, "hold the same rows"),
        ((X, Y), {"folds": 5}, ValueError, "folds="),
        ((X, PAIR), {"measure": "dependence", "paired": True}, ValueError, "paired=True"),
        ((X, Y), {"kernel": ["gaussian", "energy"]}, ValueError, "kernel and bandwidth"),
        ((X, Y), {"alpha": 0.5}, ValueError, "alpha"),
        ((X, Y), {"nan_policy": "propagate"}, ValueError, "nan_policy"),
        ((X, Y), {"seed": 1}, TypeError, "rng= here"),
    ):
        with pytest.raises(error, match=words):
            equivalence_test(*data, **{"margin": 0.1, "measure": "distance", "rng": 0, **given})


@pytest.mark.parametrize("measure", MEASURES)
def test_summary(measure):
    result = equivalence_test(
        X,
        other_of(measure),
        margin=MARGINS[measure],
        measure=measure,
        names=("before", "after"),
        rng=0,
    )
    text = " ".join(result.summary().split())
    assert result.answer in text and "before" in result.answer and f"{result.pvalue:.4g}" in text
    assert result.to_dict()["kernel"] and result.to_dict()["reject"] is result.equivalent
    same = equivalence_test(
        X, other_of(measure), margin=MARGINS[measure], measure=measure, workers=1, rng=0
    )
    assert same.pvalue == result.pvalue


@pytest.mark.ci
def test_the_level_at_the_margin_is_held():
    """N(0, 1) and N(1, 1) with bandwidth 1, whose distance is known: of 200 data sets, 99.99 % bound for .05."""
    margin, rng = 1.0 - np.exp(-1.0 / 6.0), np.random.default_rng(11)
    given = {"margin": margin, "measure": "distance", "bandwidth": 1.0, "workers": 1}
    results = [
        equivalence_test(rng.normal(size=50), rng.normal(1.0, 1.0, 50), **given) for _ in range(200)
    ]
    rejected = sum(result.reject() for result in results)
    assert stats.binom(200, 0.05).ppf(0.00005) <= rejected <= stats.binom(200, 0.05).ppf(0.99995)
    assert np.mean([result.estimate for result in results]) == pytest.approx(margin, abs=0.02)
    gram = Precomputed(Gaussian(1.0)(RNG.normal(size=(40, 1))))
    assert equivalence_test(
        np.arange(20), np.arange(20, 40), margin=0.9, measure="distance", kernel=gram, rng=0
    ).equivalent
