"""power_study: paired trials, rates, intervals, comparisons, reports, and errors."""

from __future__ import annotations

import io
import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import xlogy
from scipy.stats import binom, multinomial
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from shrinktest import (
    KME,
    BesagClifford,
    Curtailed,
    Laplacian,
    independence_test,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
)
from shrinktest.power import PowerStudyResult, designs, power_study
from shrinktest.power.study_result import paired_difference

SHIFT, LINE = designs.MeanShift(dimension=2, shift=1.0), designs.Linear()


def run(design=SHIFT, estimators="kme", sizes=8, **options):
    """A study of a second or less."""
    few = {"alphas": 0.1, "n_trials": 10, "n_resamples": 39, "workers": 1, "rng": 0}
    return power_study(design, estimators, sizes, **{**few, **options})


def values(result, **where):
    """p-values of the tests with these entries."""
    frame = result.pvalues
    for name, value in where.items():
        frame = frame[frame[name] == value]
    return frame["pvalue"].tolist()


def made(pvalues, alphas=(0.05,), interval="beta", null=()):
    """A result of given p-values: {label: {n: p-values}}, and those of the null twin."""
    rows = [
        (n, which, trial, label, p, 0.5)
        for which, table in ((False, pvalues), (True, dict(null)))
        for label, sizes in table.items()
        for n, ps in sizes.items()
        for trial, p in enumerate(ps)
    ]
    study = {
        "design": SHIFT,
        "estimators": dict.fromkeys(pvalues, KME()),
        "n_resamples": 99,
        "seed": 0,
    }
    return PowerStudyResult.from_rows(rows, alphas=alphas, **study)


def before_and_after(rng, n):
    before = rng.normal(scale=4.0, size=n)
    return before, before + rng.normal(1.0, 1.0, size=n)


PAIRED = designs.FromFunction(before_and_after, restriction=lambda n, m: {"paired": True})


@pytest.mark.parametrize(
    ("design", "test", "options"),
    [
        (SHIFT, two_sample_test, {"kernel": Laplacian(0.3), "form": "unbiased"}),
        (SHIFT, two_sample_test, {"stopping": BesagClifford(h=6)}),
        (PAIRED, two_sample_test, {}),
        (LINE, independence_test, {"bandwidth_x": 1.0}),
        (designs.EckerleSubsample(), independence_test, {}),
        (designs.OneApart(samples=4, ratio=0.5), k_sample_test, {"comparison": "pooled"}),
        (designs.Parity(variables=4), joint_independence_test, {"bandwidths": 1.5}),
    ],
)
def test_a_p_value_is_that_of_the_test_on_the_streams_of_its_trial(design, test, options):
    stops = {name: options[name] for name in ("stopping",) if name in options}
    test_options = {name: value for name, value in options.items() if name not in stops}
    result = run(
        design,
        ["kme", "skmse"],
        [9],
        rng=5,
        n_trials=range(1, 4),
        test_options=test_options,
        **stops,
    )
    for null, trial, label in itertools.product((False, True), (1, 3), ("kme", "skmse")):
        data, permutations = (
            np.random.SeedSequence(5, spawn_key=(9, int(null), trial, i)) for i in (0, 1)
        )
        samples, labels = (design.null() if null else design).trial(np.random.default_rng(data), 9)
        arguments = {**design.options(), **labels, **options}
        alone = test(
            *samples, estimator=label, n_resamples=39, rng=permutations, alpha=0.1, **arguments
        ).pvalue
        assert values(result, null=null, trial=trial, estimator=label) == [alone]


@pytest.mark.ci
def test_studies_are_paired_and_do_not_depend_on_what_else_is_in_them():
    result = run(
        SHIFT,
        {"one": "kme", "two": KME(), "auto": "auto"},
        [6, 8],
        n_trials=range(12),
        alphas=[0.2, 0.1],
    )
    assert values(result, estimator="one") == values(result, estimator="two")
    assert len(set(values(result, estimator="one", null=False))) > 5
    alone = run(estimators="kme", sizes=8, n_trials=4)
    assert (
        values(alone)
        == result.pvalues.query("n == 8 and trial < 4 and estimator == 'one'")["pvalue"].tolist()
    )
    assert len(set(result.design.sample(0, 8)[0].ravel())) == 16


@pytest.mark.ci
def test_early_decisions_give_the_same_powers():
    levels = {"alphas": (0.05, 0.2), "n_resamples": 199, "n_trials": 12}
    for design in (SHIFT, designs.Linear(noise=1.0)):
        full, stopped = (
            run(design, ["kme", "skmse"], **levels),
            run(design, ["kme", "skmse"], stopping="curtailed", **levels),
        )
        assert stopped.stopping == Curtailed((0.05, 0.2)) and stopped.to_frame().equals(
            full.to_frame()
        )
        assert stopped.difference("kme", "skmse").equals(full.difference("kme", "skmse"))
        assert (
            values(stopped) != values(full)
            and "Curtailed(alphas=(0.05, 0.2)); seed 0" in stopped.summary()
        )
    for call in (
        stopped.plot,
        lambda alpha: stopped.difference("kme", "skmse", alpha=alpha),
        stopped.paragraph,
    ):
        with pytest.raises(ValueError, match=r"decisions at alpha=0.1 are not known"):
            call(alpha=0.1)
    full.difference("kme", "skmse", alpha=0.1)


@pytest.mark.ci
def test_level_of_restricted_and_free_twins():
    for design, size in ((SHIFT, 8), (PAIRED, 12)):
        result = run(
            design, "skmse", size, n_trials=100, n_resamples=19, alphas=0.1, stopping="curtailed"
        )
        low, high = binom.ppf([1e-4, 1 - 1e-4], 100, 0.1)
        assert (
            low
            <= round(100 * result.size_table["level"].item())
            <= high
            < 100 * result.table["power"].item()
        )


def test_rates_and_their_intervals():
    result = made(
        {"kme": {10: [0.05, 0.01, 0.06, 0.1, 0.5]}},
        alphas=(0.05, 0.1),
        null={"kme": {10: [0.05, 0.9]}},
    )
    assert result.table["power"].tolist() == [0.4, 0.8]  # rejecting when p <= alpha
    assert result.size_table["level"].tolist() == [0.5, 0.5] and result.table[
        "seconds"
    ].tolist() == [0.5, 0.5]
    for rejected in (0, 3, 20):
        row = made({"kme": {10: [0.01] * rejected + [0.5] * (20 - rejected)}}).table.iloc[0]
        assert (row["low"], row["high"]) == proportion_confint(
            rejected, 20, alpha=0.05, method="beta"
        )


RNG = np.random.default_rng(3)


def skewed(power):
    """p-values of tests with 19 permutations, some of which equal a level."""
    return np.ceil(20 * RNG.random(60) ** power) / 20


COMPARED = made(
    {"a": {10: skewed(4), 20: skewed(4)}, "b": {10: skewed(1), 20: skewed(3)}},
    alphas=(0.05, 0.1),
    null={"a": {10: [1e-3] * 60}, "b": {10: [0.9] * 60}},
)


@pytest.mark.ci
def test_comparisons_are_mcnemars_over_the_trials_of_the_design():
    table = COMPARED.difference("a", "b")
    assert list(zip(table["n"], table["alpha"], strict=True)) == list(
        itertools.product((10, 20), (0.05, 0.1))
    )
    for _, row in table.iterrows():
        a, b = (
            np.array(values(COMPARED, n=row["n"], estimator=e, null=False)) <= row["alpha"]
            for e in "ab"
        )
        counts = np.array([[(a & b).sum(), (a & ~b).sum()], [(~a & b).sum(), (~a & ~b).sum()]])
        assert [
            row["both"],
            row["only_a"],
            row["only_b"],
            row["neither"],
        ] == counts.ravel().tolist()
        assert row["difference"] == pytest.approx(a.mean() - b.mean())
        assert (
            row["pvalue"] == mcnemar(counts, exact=True).pvalue
            and row["low"] < row["difference"] < row["high"]
        )
    assert table["p_holm"].tolist() == multipletests(table["pvalue"], method="holm")[1].tolist()
    turned = COMPARED.difference("b", "a", alpha=0.1)
    rows = table[table["alpha"] == 0.1]
    np.testing.assert_allclose(
        rows[["difference", "low", "high"]], -turned[["difference", "high", "low"]]
    )
    assert COMPARED.difference("a", "a")["pvalue"].tolist() == [1.0] * 4


@pytest.mark.ci
@pytest.mark.parametrize(
    "shares", [(0.3, 0.1, 0.05, 0.55), (0.1, 0.02, 0.01, 0.87), (0.5, 0.1, 0.0, 0.4)]
)
def test_the_interval_of_a_difference_covers(shares):
    """Exact coverage, over all tables of 25 trials; of course more if next to no trial is discordant."""
    trials, covered = 25, 0.0
    for only_a, only_b in itertools.product(range(trials + 1), repeat=2):
        rest = trials - only_a - only_b
        if rest >= 0:
            _, low, high = paired_difference(rest, only_a, only_b, 0)
            counts = (only_a, only_b, rest), trials, (shares[1], shares[2], shares[0] + shares[3])
            covered += multinomial.pmf(*counts) if low <= shares[1] - shares[2] <= high else 0.0
    assert covered > 0.935 and (covered < 0.98 or min(shares[1:3]) < 0.05)


def score(only_a, only_b, trials, difference):
    """The efficient score of a difference over its standard deviation, at the likeliest nuisance parameter."""

    def unlikely(share):  # of trials in which b alone rejects
        shares = np.array([difference + share, share, 1.0 - difference - 2.0 * share])
        return -(
            xlogy([only_a, only_b, trials - only_a - only_b], np.clip(shares, 1e-300, None))
        ).sum()

    span = max(0.0, -difference), (1.0 - difference) / 2.0
    share = minimize_scalar(unlikely, bounds=span, method="bounded", options={"xatol": 1e-12}).x
    return (only_a - only_b - trials * difference) / np.sqrt(
        trials * (2.0 * share + difference - difference**2)
    )


def test_the_interval_of_a_difference_inverts_the_score_test():
    for counts in ((3, 9, 4, 4), (0, 5, 1, 44), (794, 150, 86, 570), (10, 10, 5, 0)):
        difference, low, high = paired_difference(*counts)
        assert difference == (counts[1] - counts[2]) / sum(counts)
        for end, expected in ((low, 1.96), (high, -1.96)):
            assert score(*counts[1:3], sum(counts), end) == pytest.approx(expected, abs=2e-3)
    reach = 1.959964**2 / (50 + 1.959964**2)
    assert paired_difference(20, 0, 0, 30) == pytest.approx((0.0, -reach, reach), abs=1e-6)
    assert paired_difference(0, 30, 0, 0) == pytest.approx(
        (1.0, (30 - 1.959964**2) / (30 + 1.959964**2), 1.0), abs=1e-6
    )


REPORTED = made(
    {
        "kme": {10: [0.01] * 8 + [0.5] * 2, 20: [0.01] * 10},
        "x_1|2": {10: [0.5] * 10, 20: [0.01] * 5 + [0.5] * 5},
    },
    null={
        "kme": {10: [0.5] * 9 + [0.01], 20: [0.5] * 10},
        "x_1|2": {10: [0.5] * 10, 20: [0.5] * 10},
    },
)
SUMMARY = """
Power of the kernel two-sample test
Design:        MeanShift(dimension=2)
Trials:        10 per sample size, paired
Permutations:  99; seed 0
Intervals:     95% Clopper-Pearson
======================================================================
        n  alpha  power    95% interval  level    95% interval  trials
----------------------------------------------------------------------
kme    10   0.05  0.800  [0.444, 0.975]  0.100  [0.003, 0.445]      10
kme    20   0.05  1.000  [0.692, 1.000]  0.000  [0.000, 0.308]      10
x_1|2  10   0.05  0.000  [0.000, 0.308]  0.000  [0.000, 0.308]      10
x_1|2  20   0.05  0.500  [0.187, 0.813]  0.000  [0.000, 0.308]      10
======================================================================
"""


def test_reports_hold_the_same_numbers(tmp_path):
    assert str(REPORTED.summary()).strip() == SUMMARY.strip()
    assert (
        repr(REPORTED)
        == f"PowerStudyResult({SHIFT!r}, estimators=['kme', 'x_1|2'], n=[10, 20], trials=10)"
    )
    assert (
        REPORTED.to_csv(tmp_path / "a.csv") is None
        and REPORTED.to_csv(opened := io.StringIO()) is None
    )
    assert (tmp_path / "a.csv").read_text() == opened.getvalue() == REPORTED.to_csv()
    table = pd.read_csv(tmp_path / "a.csv")
    assert ",".join(table.columns) == "design,estimator,n,alpha,null,power,low,high,trials"
    assert table["null"].tolist() == [False] * 4 + [True] * 4
    assert REPORTED.paragraph() == (
        "Power was estimated by simulation: 10 data sets at each sample size (n = 10, 20 observations in X) from "
        "MeanShift(dimension=2) were tested at level 0.05 by a two-sample test with 99 permutations each. Power with "
        "95% intervals: kme 80.0% [44.4%, 97.5%] at n = 10 and 100.0% [69.2%, 100.0%] at n = 20; x_1|2 0.0% [0.0%, "
        "30.8%] at n = 10 and 50.0% [18.7%, 81.3%] at n = 20. Without an effect, the tests rejected in 0.0% to 10.0% "
        "of data sets. "
        f"Software: shrinktest {REPORTED.versions['shrinktest']}, seed 0."
    )


def fails_late(calls):
    def draw(rng, n):
        calls.append(n)
        x = rng.normal(size=n)
        return np.where(len(calls) > 8, np.nan, x), x

    return draw


@pytest.mark.parametrize(
    ("arguments", "error", "named"),
    [
        ({"design": "mean-shft"}, ValueError, "Did you mean 'mean-shift'"),
        ({"estimators": "fkme"}, ValueError, "Did you mean 'fkmse'"),
        ({"estimators": ["kme", "skmse", "kme"]}, ValueError, "'kme' more than once"),
        ({"sizes": []}, ValueError, "sample_sizes"),
        ({"sizes": [1, 20]}, ValueError, "sample_sizes"),
        ({"sizes": [10.5]}, TypeError, "sample_sizes"),
        ({"alphas": (0.1, 1.0)}, ValueError, "alphas"),
        ({"n_resamples": 18, "alphas": (0.05, 0.1)}, ValueError, "n_resamples >= 19"),
        ({"n_trials": 0}, ValueError, "n_trials"),
        ({"test_options": {"kernel_x": "gaussian"}}, ValueError, "test_options"),
        ({"test_options": {"kernel": "gausian"}}, ValueError, "Did you mean 'gaussian'"),
        (
            {"estimators": "auto", "test_options": {"bandwidth": 1.0}},
            ValueError,
            "test_options has 'bandwidth'",
        ),
        ({"stopping": Curtailed((0.05,))}, ValueError, "stopping"),
        ({"estimators": "auto", "stopping": "curtailed"}, ValueError, "combined"),
        ({"design": PAIRED, "sizes": [4, 20], "alphas": 0.05}, ValueError, "within 4 pairs"),
        ({"sizes": [10, 12], "test_options": {"blocks": np.arange(20) % 5}}, ValueError, "blocks"),
        ({"design": fails_late([None] * 9)}, ValueError, "nan_policy='omit'"),
    ],
)
def test_errors_name_the_argument_before_anything_is_stored(arguments, error, named, tmp_path):
    with pytest.raises(error, match=named):
        run(**{"store": tmp_path / "study.sqlite", **arguments})
    assert not list(tmp_path.iterdir())


def test_errors_say_in_which_trial_and_without_values_there_is_no_power():
    with pytest.raises(ValueError, match="NaN") as caught:
        run(fails_late([]), with_null=False)
    assert "in trial " in caught.value.__notes__[0] and "n=8" in caught.value.__notes__[0]
    gaps = fails_late([None] * 9)
    for named, call in (
        ("has no p-value", lambda: run(gaps, test_options={"nan_policy": "propagate"})),
        ("a must be one of", lambda: COMPARED.difference("c", "a")),
        ("strictly between", lambda: COMPARED.plot(alpha=0.0)),
    ):
        with pytest.raises(ValueError, match=named):
            call()
