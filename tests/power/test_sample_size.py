"""solve_sample_size: the answer, its interval, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq
from scipy.special import stdtr
from scipy.stats import nct, norm, t
from statsmodels.stats.proportion import proportion_confint

from shrinktest import solve_sample_size
from shrinktest.power import power_study
from shrinktest.power.curve import PowerCurve
from shrinktest.power.designs import Confounded, FromData, Linear, MeanShift

QUICK = {"n_trials": 240, "n_resamples": 99, "workers": 1, "rng": 1}


@pytest.fixture(scope="module")
def found():
    return solve_sample_size(MeanShift(dimension=2, shift=1.0), **QUICK)


def test_interval_holds_the_answer_and_the_trials_are_shown(found):
    assert found.low < found.n < found.high
    assert found.table["trials"].sum() >= QUICK["n_trials"]
    assert found.table["n"].is_monotonic_increasing
    assert ((found.table["low"] <= found.table["power"]) & (found.table["power"] <= found.table["high"])).all()
    assert found.fitted_power(found.n) >= 0.8 > found.fitted_power(found.n - 1)


def test_fresh_trials_check_power_and_level(found):
    power, level = (found.check[found.check["null"] == null].iloc[0] for null in (False, True))
    assert power["n"] == level["n"] == found.n
    assert power["low"] <= 0.8 <= power["high"]
    assert level["low"] <= 0.05 <= level["high"]


def test_direct_powers_agree(found):
    """At the ends of the interval the power is on either side of the one asked for, as far as 300 trials can tell."""
    ends = [int(np.floor(found.low)), int(np.ceil(found.high))]
    study = power_study(found.design, "kme", ends, n_trials=300, n_resamples=99, rng=1, workers=1, progress=False)
    below, above = study.table.sort_values("n").itertuples()
    assert below.low < 0.8 < above.high


def test_the_same_call_gives_the_same_answer_and_a_store_keeps_the_trials(found, tmp_path):
    store = tmp_path / "trials.sqlite"
    again = solve_sample_size(MeanShift(dimension=2, shift=1.0), store=store, **QUICK)
    assert again.n == found.n and (again.low, again.high) == (found.low, found.high)
    assert store.stat().st_size > 0
    assert solve_sample_size(MeanShift(dimension=2, shift=1.0), store=store, **QUICK).table.equals(found.table)


def test_any_seed_and_numbers_of_numpy():
    design = MeanShift(dimension=1, shift=1.0)
    given = {"n_trials": np.int64(100), "n_resamples": np.int64(39), "power": np.float64(0.8), "largest": np.int64(99)}
    one, two = (solve_sample_size(design, **given, workers=1, rng=np.random.default_rng(3)) for _ in range(2))
    assert one.table.equals(two.table)


def test_pilot_data_and_ratio():
    rng = np.random.default_rng(0)
    pilot = FromData(rng.normal(size=(30, 2)), rng.normal(0.9, 1.0, size=(30, 2)))
    found = solve_sample_size(pilot, ratio=2.0, **QUICK)
    assert found.design.ratio == 2.0 and found.sizes == (found.n, 2 * found.n)
    assert f"With {found.n} + {2 * found.n} observations the kme test" in found.summary()


def test_sizes_are_those_that_the_design_draws():
    def twice_as_many(rng, n):
        return rng.normal(size=n), rng.normal(1.0, 1.0, size=2 * n + 1)

    found = solve_sample_size(twice_as_many, estimator="ttest_ind", **QUICK)
    assert found.sizes == (found.n, 2 * found.n + 1)


# ------------------------------------------------------------------------------------- statement and check


class Counted:
    """In place of a study: rejections by a power curve that is known."""

    def __init__(self, power, seed=0, check=None):
        self.power, self.check, self.rng, self.checked = power, check, np.random.default_rng(seed), []

    def __call__(self, design, tests, sizes, *, n_trials, with_null, **_):
        (n,), trials, rows = sizes, len(n_trials), []
        rate = self.power(n)
        if with_null:
            rate = rate if self.check is None else self.check(len(self.checked), rate)
            self.checked.append(n)
        for null in (False, True)[: 1 + with_null]:
            rejected = self.rng.binomial(trials, 0.05 if null else rate)
            low, high = proportion_confint(rejected, trials, method="beta")
            rows.append({"n": n, "null": null, "power": rejected / trials, "low": low, "high": high, "trials": trials})
        frame = pd.DataFrame(rows)
        return SimpleNamespace(table=frame[~frame["null"]], frame=lambda: frame)


def student(n, shift=0.5):
    """Power of the two-sided t test with n observations in each sample, at level 0.05."""
    critical, centre = t.ppf(0.975, 2 * n - 2), shift * np.sqrt(n / 2)
    return float(nct.sf(critical, 2 * n - 2, centre) + nct.cdf(-critical, 2 * n - 2, centre))


def search(monkeypatch, counted, **options):
    monkeypatch.setattr("shrinktest.power.sample_size.power_study", counted)
    return solve_sample_size(MeanShift(dimension=1), **{"n_trials": 2000, **options})


def test_answers_where_the_power_is_known(monkeypatch):
    """Of 25 searches nearly all are within 0.03 of the power, and their intervals hold the crossing."""
    crossing = brentq(lambda n: student(n) - 0.8, 10, 200)
    counted = Counted(student)
    answers = [search(monkeypatch, counted) for _ in range(25)]
    assert sum(abs(student(one.n) - 0.8) <= 0.03 for one in answers) >= 24
    assert sum(one.low <= crossing <= one.high for one in answers) >= 20
    bands = [one.curve.band(one.n, 0.95) for one in answers]
    assert sum(low <= student(one.n) <= high for one, (low, high) in zip(answers, bands, strict=True)) >= 20
    assert all(one.agrees for one in answers)


@pytest.mark.parametrize(("power", "within", "held"), [(0.99, 0.005, 12), (0.999, 0.0015, 9)])
def test_high_powers(monkeypatch, power, within, held):
    """Nearly all trials reject where the answer is, and sizes beyond it say nothing about it."""
    crossing = brentq(lambda n: student(n, 1.0) - power, 10, 100)
    counted = Counted(lambda n: student(n, 1.0) if n < 110 else 1.0)
    answers = [search(monkeypatch, counted, power=power) for _ in range(15)]
    assert sum(abs(student(one.n, 1.0) - power) <= within for one in answers) >= 12
    assert sum(one.low <= crossing <= one.high for one in answers) >= held
    assert np.median([one.n for one in answers]) < 1.25 * crossing and all(one.high < 1000 for one in answers)


def test_no_size_beyond_the_largest_is_tried(monkeypatch):
    found = search(monkeypatch, Counted(lambda n: 0.99), largest=3, estimator="ttest_ind")
    assert found.table["n"].max() <= 3


def pooled_t(X, Y):
    """The p-value of the t test, in a fraction of scipy's time."""
    n, m = len(X), len(Y)
    variance = (((X - X.mean()) ** 2).sum() + ((Y - Y.mean()) ** 2).sum()) / (n + m - 2)
    return 2 * stdtr(n + m - 2, -abs(X.mean() - Y.mean()) / np.sqrt(variance * (1 / n + 1 / m)))


@pytest.mark.slow
def test_how_far_off_a_size_is_as_the_page_says():
    crossing, design = brentq(lambda n: student(n) - 0.8, 10, 200), MeanShift(dimension=1, shift=0.5)
    answers = [solve_sample_size(design, estimator=pooled_t, rng=seed, workers=1) for seed in range(120)]
    assert sum(abs(student(one.n) - 0.8) <= 0.03 for one in answers) == 120
    assert sum(one.low <= crossing <= one.high for one in answers) == 112


def test_a_check_that_does_not_agree_is_added_and_the_new_answer_checked(monkeypatch):
    plain = search(monkeypatch, Counted(student, seed=4))
    counted = Counted(student, seed=4, check=lambda number, rate: rate - 0.2 if number == 0 else rate)
    found = search(monkeypatch, counted)
    first, last = counted.checked
    assert (found.checks, found.agrees, plain.checks) == (2, True, 1)
    assert first == plain.n < last == found.n
    trials = [one.table.set_index("n")["trials"] for one in (plain, found)]
    assert trials[1].sub(trials[0], fill_value=0).loc[lambda more: more > 0].to_dict() == {first: 500}
    assert found.check["trials"].tolist() == [500, 500] and set(found.check["n"]) == {last}
    words = " ".join(found.summary().split())
    assert "This agrees; one check before did not, and the answer takes those data sets into account." in words
    assert "check before" not in plain.summary()


def test_checks_that_never_agree_are_told(monkeypatch):
    found = search(monkeypatch, Counted(student, check=lambda number, rate: 0.02 * number), n_trials=600)
    assert (found.checks, found.agrees) == (5, False)
    words = " ".join(found.summary().split())
    assert "This does not agree with the" in words and "nor did the 4 checks before" in words
    assert "do not rely on this size" in words


def test_the_answer_in_words(monkeypatch):
    found = search(monkeypatch, Counted(student), estimator="ttest_ind")
    low, high = found.curve.band(found.n, 0.95)
    words = " ".join(found.summary().split())
    assert words.startswith(
        f"With {found.n} observations in each sample the ttest_ind test finds the difference, at level 0.05, in about "
        f"{100 * float(found.fitted_power(found.n)):.0f} of 100 studies (95% interval {100 * low:.0f} to "
        f"{100 * high:.0f}). The least size with power 0.8 is {found.n} (95% interval {np.ceil(found.low):.0f} to "
        f"{np.ceil(found.high):.0f}), by {found.table['trials'].sum()} simulated data sets of MeanShift(dimension=1)."
    )
    assert "(95% interval 60 or more)" in " ".join(replace(found, low=59.5, high=np.inf).summary().split())


class Late(MeanShift):
    """A design of 25 observations or more."""

    def smallest(self):
        return 25


@pytest.mark.parametrize("shift", [0.9, 8.0])
def test_a_smallest_size_that_has_the_power_is_the_whole_interval(monkeypatch, shift):
    """It was one from 25 to 23, or from 2 on though nothing is uncertain."""
    monkeypatch.setattr("shrinktest.power.sample_size.power_study", Counted(lambda n: student(n, shift)))
    found = solve_sample_size(Late(dimension=1, shift=shift), estimator="ttest_ind", n_trials=2000)
    assert (found.n, found.low, found.high) == (25, 25, 25)
    low, high = found.curve.band(25, 0.95)
    assert low >= 0.8
    words = " ".join(found.summary().split())
    assert (
        f"of 100 studies (95% interval {100 * low:.0f} to {100 * high:.0f}). This is the smallest size that can be "
        f"tested, and it has power 0.8 already, by {found.table['trials'].sum()} simulated data sets of Late(" in words
    )
    assert "least size" not in words
    legend = [text.get_text() for text in found.plot().get_legend().get_texts()]
    assert "n = 25" in legend and "95% interval" not in legend


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shift", [0.81, 0.85])
def test_intervals_never_end_before_they_start(monkeypatch, shift, seed):
    """The curve reaches the power near the smallest size, before or after it."""
    monkeypatch.setattr("shrinktest.power.sample_size.power_study", Counted(lambda n: student(n, shift), seed))
    found = solve_sample_size(Late(dimension=1, shift=shift), estimator="ttest_ind", n_trials=400)
    assert 25 <= found.low <= found.n <= np.ceil(found.high)
    sure = found.n == 25 and found.curve.band(25, 0.95)[0] >= 0.8
    words = " ".join(found.summary().split())
    assert (found.low == found.high) == sure == ("smallest size that can be tested" in words)


def test_workers_and_stores_change_nothing_where_checks_are_repeated(tmp_path):
    given = {"estimator": "ttest_ind", "n_trials": 240, "rng": 1}
    one = solve_sample_size(MeanShift(dimension=1, shift=1.0), workers=1, store=tmp_path / "trials.sqlite", **given)
    assert one.checks > 1
    two = solve_sample_size(MeanShift(dimension=1, shift=1.0), workers=2, **given)
    again = solve_sample_size(MeanShift(dimension=1, shift=1.0), workers=1, store=tmp_path / "trials.sqlite", **given)
    for other in (two, again):
        assert (one.n, one.low, one.high, one.checks) == (other.n, other.low, other.high, other.checks)
        pd.testing.assert_frame_equal(one.table, other.table)
        pd.testing.assert_frame_equal(one.check, other.check)


def test_independence_counts_pairs():
    summary = solve_sample_size(Linear(noise=1.0), estimator="skmse", **QUICK).summary()
    assert " pairs the skmse test finds the dependence, at level 0.05, in about" in " ".join(summary.split())


def test_plot_marks_the_answer(found):
    ax = found.plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"n = {found.n}" in labels and "95% interval" in labels
    assert ax.get_xlabel() == "sample size n"
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("estimator", ["kme", "FKMSE(lam_cov=0.3), of a laboratory with a long name, " * 3])
def test_plot_has_its_title_within_the_figure_and_its_legend_beside_the_line(found, estimator):
    ax = replace(found, estimator=estimator).plot()
    figure = ax.figure
    figure.canvas.draw()
    title, legend = ax.title.get_window_extent(), ax.get_legend().get_window_extent()
    within = figure.bbox
    for box in (title, legend):
        assert within.x0 <= box.x0 and box.x1 <= within.x1 and within.y0 <= box.y0 and box.y1 <= within.y1
    assert ax.get_title() == f"{estimator}, {found.design!r}"
    assert legend.x0 >= ax.get_window_extent().x1 and title.y0 >= ax.get_window_extent().y1
    matplotlib.pyplot.close(figure)


def test_plot_on_given_axes_keeps_its_legend_within_them(found):
    figure, axes = matplotlib.pyplot.subplots(1, 2, figsize=(12, 4))  # nothing makes room beside them
    assert found.plot(axes[0]) is axes[0]
    figure.canvas.draw()
    legend, box = axes[0].get_legend().get_window_extent(), axes[0].get_window_extent()
    assert box.x0 <= legend.x0 and legend.x1 <= box.x1
    matplotlib.pyplot.close(figure)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"power": 0.05}, "above the level"),
        ({"power": 1.0}, "power must lie strictly between 0 and 1"),
        ({"alpha": 0.0}, "alpha must lie strictly between 0 and 1"),
        ({"n_trials": 10}, "n_trials"),
        ({"ratio": -1.0}, "ratio"),
        ({"largest": 8}, "no effect was found at n = 8: power there is"),
        ({"estimator": "fkmsee"}, "Did you mean 'fkmse'"),
    ],
)
def test_refusals(arguments, words):
    with pytest.raises(ValueError, match=words):
        solve_sample_size(MeanShift(dimension=5, shift=0.1), **{**QUICK, **arguments})


def test_a_size_beyond_the_largest_is_no_answer():
    """The t test needs 64 and has a power of .70 with 50: too near to .8 for the search to end at once."""
    found = r"at n = 50, the largest size allowed, it is \d\d% by the curve .* the least size lies from \d\d to \d+ \("
    with pytest.raises(ValueError, match=found):
        solve_sample_size(
            MeanShift(dimension=1, shift=0.5), estimator="ttest_ind", largest=50, rng=1, n_trials=100, workers=1
        )


def test_options_are_a_dict():
    with pytest.raises(TypeError, match="test_options must be a dict of arguments"):
        solve_sample_size(MeanShift(), test_options=["a"])


def test_a_ratio_needs_two_samples():
    with pytest.raises(ValueError, match="one sample of pairs"):
        solve_sample_size(Linear(), ratio=2.0, **QUICK)
    with pytest.raises(ValueError, match="a conditional-independence test has one sample of rows"):
        solve_sample_size(Confounded(), ratio=2.0, **QUICK)


def test_sizes_with_too_few_permutations_to_reject_are_not_tried(recwarn):
    """Two samples of 2 or 3 can be split in 3 or 10 ways; a size that cannot have a power says nothing of the curve."""
    found = solve_sample_size(MeanShift(dimension=1, shift=3.0), **{**QUICK, "n_trials": 100, "n_resamples": 199})
    assert found.table["n"].min() == found.n == 4 and found.table["power"][0] > 0.8
    assert not [one for one in recwarn if "can never reject" in str(one.message)]
    with pytest.raises(ValueError, match=r"no effect was found at n = 3: power there is 0\.00 \[0\.00, 0\.06\]"):
        solve_sample_size(MeanShift(dimension=1, shift=50.0), **{**QUICK, "largest": 3})


def test_the_size_solves_the_fitted_curve():
    n = PowerCurve(np.array([-2.0, 0.35]), np.eye(2)).size(0.8, 0.0, 2, 10_000)
    assert norm.cdf(-2.0 + 0.35 * np.sqrt(n)) >= 0.8 > norm.cdf(-2.0 + 0.35 * np.sqrt(n - 1))
    assert PowerCurve(np.array([0.0, -1.0]), np.eye(2)).size(0.8, 0.0, 2, 500) == 500
    assert PowerCurve(np.array([2.0, 0.1]), np.eye(2)).size(0.8, 0.0, 2, 500) == 2
    assert PowerCurve(np.array([-2.0, 1e-200]), np.eye(2)).size(0.8, 0.0, 2, 500) == 500


@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_the_curve_of_a_test_of_means_is_a_line_in_the_root_of_the_size(power):
    """Fitted to its power over a wide range of sizes, it is reached where the t test has it, to half a percent."""
    crossing = brentq(lambda n: student(n) - power, 10, 300)
    sizes = (crossing * np.array([0.6, 0.8, 1.0, 1.2, 1.4])).astype(int)
    counts = {int(n): (10**7, round(10**7 * student(int(n)))) for n in sizes}
    low, high = PowerCurve.of(counts, power).interval(power, 0.5)
    assert 0.5 * (low + high) == pytest.approx(crossing, rel=5e-3)


def test_fieller_against_simulation():
    """The interval covers the crossing of the true curve in about 95 % of draws from the estimates' law."""
    truth, covariance = np.array([-2.0, 0.35]), np.array([[0.02, -0.003], [-0.003, 0.0005]])
    crossing = ((norm.ppf(0.8) + 2.0) / 0.35) ** 2
    draws = np.random.default_rng(0).multivariate_normal(truth, covariance, size=4000)
    intervals = [PowerCurve(draw, covariance).interval(0.8, 0.95) for draw in draws]
    covered = sum(low <= crossing <= high for low, high in intervals)
    assert 3720 <= covered <= 3875  # 95 % of 4000 within 5 standard errors


def test_fieller_without_a_slope_has_no_end():
    assert PowerCurve(np.array([0.0, 0.01]), np.diag([0.01, 0.01])).interval(0.8, 0.95) == (0.0, float("inf"))
