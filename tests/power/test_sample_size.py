"""solve_sample_size: the answer, its interval, its check, its words, no effect, and errors."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq
from scipy.special import stdtr
from scipy.stats import binom, nct, norm, t
from statsmodels.stats.proportion import proportion_confint

from shrinktest import equivalence_test, solve_sample_size
from shrinktest.power import designs as d
from shrinktest.power.designs import FromData, FromFunction, MeanShift
from shrinktest.power.sample_size_result import PowerCurve
from shrinktest.power.solve_sample_size import Alike, as_equivalence

QUICK = {"n_trials": 120, "n_resamples": 39, "workers": 1, "rng": 1}
SHIFT = MeanShift(dimension=1, shift=1.0)


def student(n, shift=0.5):
    """Power of the two-sided t test with n observations in each sample, at level 0.05."""
    critical, center = t.ppf(0.975, 2 * n - 2), shift * np.sqrt(n / 2)
    return float(nct.sf(critical, 2 * n - 2, center) + nct.cdf(-critical, 2 * n - 2, center))


class Counted:
    """In place of a study: rejections by a power curve that is known."""

    def __init__(self, power, seed=0, check=None):
        self.power, self.check, self.rng, self.checked = (
            power,
            check,
            np.random.default_rng(seed),
            [],
        )

    def __call__(self, design, tests, sizes, *, n_trials, with_null, **_):
        (n,), trials, rows = sizes, len(n_trials), []
        rate = self.power(n)
        if with_null:
            rate = rate if self.check is None else self.check(len(self.checked), rate)
            self.checked.append(n)
        for null in (False, True)[: 1 + with_null]:
            rejected = self.rng.binomial(trials, 0.05 if null else rate)
            low, high = proportion_confint(rejected, trials, method="beta")
            rows.append(
                {
                    "n": n,
                    "null": null,
                    "power": rejected / trials,
                    "low": low,
                    "high": high,
                    "trials": trials,
                }
            )
        frame = pd.DataFrame(rows)
        return SimpleNamespace(table=frame[~frame["null"]], to_frame=lambda: frame, seed=0)


def search(monkeypatch, counted, design=MeanShift(dimension=1), **options):  # noqa: B008
    monkeypatch.setattr(sys.modules["shrinktest.power.solve_sample_size"], "power_study", counted)
    return solve_sample_size(design, **{"n_trials": 2000, "rng": 0, **options})


@pytest.mark.ci
def test_answers_where_the_power_is_known(monkeypatch):
    """Of 12 searches nearly all are within 0.03 of the power, and their intervals hold the crossing."""
    crossing = brentq(lambda n: student(n) - 0.8, 10, 200)
    counted = Counted(student)
    answers = [search(monkeypatch, counted) for _ in range(12)]
    assert sum(abs(student(answer.n) - 0.8) <= 0.03 for answer in answers) >= 11
    assert sum(answer.low <= crossing <= answer.high for answer in answers) >= 9
    bands = [answer.curve.band(answer.n, 0.95) for answer in answers]
    assert (
        sum(
            low <= student(answer.n) <= high
            for answer, (low, high) in zip(answers, bands, strict=True)
        )
        >= 9
    )
    assert all(answer.agrees for answer in answers)


@pytest.mark.ci
def test_high_powers(monkeypatch):
    """Nearly all trials reject at the answer, and sizes beyond it say nothing about it."""
    crossing = brentq(lambda n: student(n, 1.0) - 0.99, 10, 100)
    counted = Counted(lambda n: student(n, 1.0) if n < 110 else 1.0)
    answers = [search(monkeypatch, counted, power=0.99) for _ in range(6)]
    assert sum(abs(student(answer.n, 1.0) - 0.99) <= 0.005 for answer in answers) >= 4
    assert sum(answer.low <= crossing <= answer.high for answer in answers) >= 4


def pooled_t(X, Y):
    """The p-value of the t test, in a fraction of scipy's time."""
    n, m = len(X), len(Y)
    variance = (((X - X.mean()) ** 2).sum() + ((Y - Y.mean()) ** 2).sum()) / (n + m - 2)
    return 2 * stdtr(n + m - 2, -abs(X.mean() - Y.mean()) / np.sqrt(variance * (1 / n + 1 / m)))


@pytest.mark.slow
def test_sizes_are_close_and_their_intervals_cover():
    """Of 120 searches all are within 0.03 of the power; 95% intervals hold the crossing."""
    crossing = brentq(lambda n: student(n) - 0.8, 10, 200)
    design = MeanShift(dimension=1, shift=0.5)
    answers = [
        solve_sample_size(design, estimator=pooled_t, rng=seed, workers=1) for seed in range(120)
    ]
    assert sum(abs(student(answer.n) - 0.8) <= 0.03 for answer in answers) == 120
    covered = sum(answer.low <= crossing <= answer.high for answer in answers)
    assert covered >= binom(120, 0.95).ppf(0.001)


def test_a_check_that_does_not_agree_is_added_and_the_new_answer_checked(monkeypatch):
    plain = search(monkeypatch, Counted(student, seed=4))
    counted = Counted(
        student, seed=4, check=lambda number, rate: rate - 0.2 if number == 0 else rate
    )
    answer = search(monkeypatch, counted)
    first, last = counted.checked
    assert (answer.checks, answer.agrees, plain.checks) == (
        2,
        True,
        1,
    ) and first == plain.n < last == answer.n
    trials = [result.table.set_index("n")["trials"] for result in (plain, answer)]
    assert trials[1].sub(trials[0], fill_value=0).loc[lambda more: more > 0].to_dict() == {
        first: 500
    }
    assert answer.check["trials"].tolist() == [500, 500]
    assert "An earlier check did not; its data were added" in " ".join(answer.summary().split())
    doubtful = search(
        monkeypatch, Counted(student, check=lambda number, rate: 0.02 * number), n_trials=600
    )
    assert (doubtful.checks, doubtful.agrees) == (5, False)
    assert "nor did the 4 checks before. Do not rely on this size" in " ".join(
        doubtful.summary().split()
    )


class Late(MeanShift):
    """A design of 25 observations or more."""

    def smallest(self):
        return 25


@pytest.mark.parametrize(("shift", "seed"), [(0.9, 0), (8.0, 0), (0.81, 1), (0.85, 2)])
def test_intervals_begin_at_the_smallest_size(monkeypatch, shift, seed):
    design = Late(dimension=1, shift=shift)
    answer = search(
        monkeypatch, Counted(lambda n: student(n, shift), seed), design, estimator="ttest_ind"
    )
    assert 25 <= answer.low <= answer.n <= np.ceil(answer.high)
    sure = answer.n == 25 and answer.curve.band(25, 0.95)[0] >= 0.8
    words = " ".join(answer.summary().split())
    assert (answer.low == answer.high) == sure == ("smallest size that can be tested" in words)
    assert (
        "95% interval" in [text.get_text() for text in answer.plot().get_legend().get_texts()]
    ) != sure
    matplotlib.pyplot.close("all")
    assert (
        search(monkeypatch, Counted(lambda n: 0.99), largest=3, estimator="ttest_ind")
        .table["n"]
        .max()
        <= 3
    )


one_search = pytest.mark.xdist_group("one search")  # in one process


@pytest.fixture(scope="module")
def answer(tmp_path_factory):
    return solve_sample_size(
        SHIFT,
        store=tmp_path_factory.mktemp("search") / "trials.sqlite",
        estimator="ttest_ind",
        **QUICK,
    )


@one_search
def test_the_answer_and_its_check(answer):
    assert (
        answer.low < answer.n < answer.high and 14 <= answer.n <= 21
    )  # 17 by the noncentral t distribution
    assert (
        answer.table["trials"].sum() >= QUICK["n_trials"]
        and answer.table["n"].is_monotonic_increasing
    )
    assert answer.fitted_power(answer.n) >= 0.8 > answer.fitted_power(answer.n - 1)
    power, level = (answer.check[answer.check["null"] == null].iloc[0] for null in (False, True))
    assert power["n"] == level["n"] == answer.n
    assert power["low"] <= 0.8 <= power["high"] and level["low"] <= 0.05 <= level["high"]


@pytest.mark.ci
@one_search
def test_workers_stores_and_seeds_change_nothing(answer, tmp_path):
    store = tmp_path / "trials.sqlite"
    given = {**QUICK, "n_trials": np.int64(120), "rng": np.int64(1), "estimator": "ttest_ind"}
    for other in (
        solve_sample_size(SHIFT, store=store, **{**given, "workers": workers}) for workers in (2, 1)
    ):
        assert (other.n, other.low, other.high, other.checks) == (
            answer.n,
            answer.low,
            answer.high,
            answer.checks,
        )
        pd.testing.assert_frame_equal(answer.table, other.table)
        pd.testing.assert_frame_equal(answer.check, other.check)


@one_search
def test_words(answer):
    low, high = answer.curve.band(answer.n, 0.95)
    words, trials = " ".join(answer.summary().split()), answer.table["trials"].sum()
    power = f"{100 * float(answer.fitted_power(answer.n)):.0f}% of studies [{100 * low:.0f}%, {100 * high:.0f}%]"
    assert words.startswith(
        f"The smallest sample size with 80% power is {answer.n} ({trials} data sets drawn from MeanShift(dimension=1))"
        f". Its 95% interval is {np.ceil(answer.low):.0f} to {np.ceil(answer.high):.0f}. With {answer.n} observations "
        f"in each sample the ttest_ind test finds the difference, at level 0.05, in about {power}. Check with 200 "
    )
    text = answer.paragraph()
    assert text.startswith(
        f"The sample size was determined by simulation: {trials} data sets drawn from MeanShift("
    )
    assert (
        "two-sample test (ttest_ind, level 0.05)" in text
        and text.endswith(", seed 1.")
        and text.count(". ") == 3
    )
    assert (
        f"with 80% power is {answer.n} observations in each sample (95% interval {np.ceil(answer.low):.0f} to "
        in text
    )
    assert "60 or more." in " ".join(replace(answer, low=59.5, high=np.inf).summary().split())


@pytest.mark.ci
def test_pilot_data_ratios_and_other_units():
    rng = np.random.default_rng(0)
    pilot = FromData(rng.normal(size=(30, 2)), rng.normal(0.9, 1.0, size=(20, 2)))
    answer = solve_sample_size(pilot, ratio=2.0, estimator="ttest_ind", **QUICK)
    assert answer.design.ratio == 2.0 and answer.sizes == (answer.n, 2 * answer.n)
    words = " ".join(answer.summary().split())
    assert "data sets resampled from your pilot data)." in words and "sha256" not in words
    assert f"With {answer.n} + {2 * answer.n} observations the ttest_ind test" in words
    assert (
        "true effect." in words
        and "resampled from pilot data (30 and 20 rows) were tested" in answer.paragraph()
    )
    groups = FromData(
        np.repeat(rng.normal(size=9), 2),
        np.repeat(rng.normal(4, 1, size=9), 2),
        groups=np.arange(36) // 2,
    )
    answer = solve_sample_size(groups, **{**QUICK, "n_trials": 100, "n_resamples": 19})
    assert (
        answer.sizes == (answer.n, answer.n)
        and f"is {answer.n} groups in each sample" in answer.paragraph()
    )
    answer = solve_sample_size(
        d.Changed(MeanShift(dimension=1, shift=4.0)),
        **{**QUICK, "n_trials": 100, "n_resamples": 19},
    )
    words = " ".join(answer.summary().split())
    assert "finds the change" in words and f" {answer.n} rows" in words


@pytest.mark.ci
def test_searches_begin_where_a_test_can_reject(recwarn):
    """Two samples of 2 or 3 can be split in 3 or 10 ways; a size that cannot have a power says nothing of the curve."""
    given = {**QUICK, "n_trials": 100, "n_resamples": 99}
    assert solve_sample_size(MeanShift(dimension=1, shift=3.0), **given).table["n"].min() == 4
    assert (
        solve_sample_size(MeanShift(2), test_options={"paired": True}, **given).table["n"].min()
        >= 6
    )
    assert not [warning for warning in recwarn if "can never reject" in str(warning.message)]


MARGIN = {
    "margin": 0.15,
    "measure": "distance",
    "bandwidth": 1.0,
}  # 1 - exp(-1 / 6) is the distance of the design


def before_and_after(rng, n):
    before = rng.normal(scale=3.0, size=n)
    return before, before + rng.normal(size=n)


@pytest.mark.ci
def test_sample_size_of_an_equivalence_test():
    twin = Alike(SHIFT)
    for first, second in ((twin, SHIFT.null()), (twin.null(), SHIFT)):
        assert all(map(np.array_equal, first.sample(3, 9), second.sample(3, 9)))
    answer = solve_sample_size(SHIFT, test="equivalence", test_options=MARGIN, **QUICK)
    level = answer.check[answer.check["null"]].iloc[0]
    assert level["low"] <= 0.05 and answer.n > 20
    words = " ".join(answer.summary().split())
    assert (
        "the equivalence test shows that the difference (distance) is below the margin 0.15 if there is no"
        in words
    )
    assert (
        "the null twin of MeanShift(dimension=1, shift=0.0)" not in words
        and "in the design itself" in words
    )
    design = FromFunction(before_and_after, restriction=lambda n, m: {"paired": True})
    test, data = as_equivalence(MARGIN, design, 0.05), design.sample(3, 20)
    expected = equivalence_test(*data, paired=True, rng=np.random.default_rng(1), **MARGIN).pvalue
    assert test.pvalue(data, np.random.default_rng(1), 99) == expected


@pytest.mark.ci
def test_the_curve_is_solved_and_fits_the_power_of_a_test_of_means():
    n = PowerCurve(np.array([-2.0, 0.35]), np.eye(2)).size(0.8, 0.0, 2, 10_000)
    assert norm.cdf(-2.0 + 0.35 * np.sqrt(n)) >= 0.8 > norm.cdf(-2.0 + 0.35 * np.sqrt(n - 1))
    for coefficients, size in (([0.0, -1.0], 500), ([2.0, 0.1], 2), ([-2.0, 1e-200], 500)):
        assert PowerCurve(np.array(coefficients), np.eye(2)).size(0.8, 0.0, 2, 500) == size
    for power in (0.5, 0.8, 0.95):
        crossing = brentq(lambda n, power=power: student(n) - power, 10, 300)
        sizes = (crossing * np.array([0.6, 0.8, 1.0, 1.2, 1.4])).astype(int)
        counts = {int(n): (10**7, round(10**7 * student(int(n)))) for n in sizes}
        low, high = PowerCurve.of(counts, power).interval(power, 0.5)
        assert 0.5 * (low + high) == pytest.approx(crossing, rel=5e-3)


@pytest.mark.ci
def test_fieller_against_simulation():
    """The interval covers the crossing of the true curve in about 95% of draws from the estimates' law."""
    truth, covariance = np.array([-2.0, 0.35]), np.array([[0.02, -0.003], [-0.003, 0.0005]])
    crossing = ((norm.ppf(0.8) + 2.0) / 0.35) ** 2
    draws = np.random.default_rng(0).multivariate_normal(truth, covariance, size=4000)
    intervals = [PowerCurve(draw, covariance).interval(0.8, 0.95) for draw in draws]
    assert (
        3720 <= sum(low <= crossing <= high for low, high in intervals) <= 3875
    )  # within 5 standard errors
    assert PowerCurve(np.array([0.0, 0.01]), np.diag([0.01, 0.01])).interval(0.8, 0.95) == (
        0.0,
        float("inf"),
    )


@pytest.mark.filterwarnings("ignore:n=3 has only 10 different permutations")
@pytest.mark.parametrize(
    ("design", "options", "error", "named"),
    [
        (SHIFT, {"power": 0.05}, ValueError, "power"),
        (SHIFT, {"n_trials": 10}, ValueError, "n_trials"),
        (SHIFT, {"estimator": "fkmsee"}, ValueError, "Did you mean 'fkmse'"),
        (
            MeanShift(5, 0.1),
            {"largest": 8},
            ValueError,
            "no effect was found at n = 8: power there is",
        ),
        (
            MeanShift(1, 50.0),
            {"largest": 3, "n_resamples": 199},
            ValueError,
            r"no effect was found at n = 3: .* 0\.00",
        ),
        (
            MeanShift(1, 0.5),
            {"largest": 50, "estimator": "ttest_ind"},
            ValueError,
            "not reached: at n = 50.* raise largest=",
        ),
        (
            MeanShift(2),
            {"test_options": {"paired": True}, "largest": 5},
            ValueError,
            "collect 6 pairs or more",
        ),
        (d.Linear(), {"ratio": 2.0}, ValueError, "ratio"),
        (before_and_after, {"ratio": 2.0}, TypeError, "ratio"),
        (SHIFT, {"test": "equivalence", "test_options": {}}, ValueError, "measure"),
        (
            SHIFT,
            {"test": "equivalence", "test_options": {**MARGIN, "measure": "dependence"}},
            ValueError,
            "measure",
        ),
        (
            SHIFT,
            {"test": "equivalence", "test_options": MARGIN, "estimator": "fkmse"},
            ValueError,
            "estimator",
        ),
        (SHIFT, {"test": "equivalence", "test_options": MARGIN, "alpha": 0.5}, ValueError, "alpha"),
    ],
)
def test_errors_name_the_argument(design, options, error, named):
    with pytest.raises(error, match=named):
        solve_sample_size(design, **{**QUICK, **options})


# --- no effect -----------------------------------------------------------------------------------------------------
SHORT = {"n_resamples": 39, "workers": 1, "rng": 0, "largest": 100}
pilot = np.random.default_rng(0).normal(size=60)


def apart(rng, n):
    return rng.normal(size=n), rng.normal(size=n)


@pytest.mark.ci
@pytest.mark.parametrize(
    "design", [FromData(pilot, pilot[::-1]), FromFunction(apart, test="independence")]
)
def test_no_effect_is_the_answer(design):
    message = r"^no effect was found at n = 100: power there is 0\.\d\d \[0\.0\d, 0\.\d\d\]; check that the design"
    with pytest.raises(ValueError, match=message):
        solve_sample_size(design, **SHORT)


@pytest.mark.ci
@pytest.mark.parametrize("measure", ["distance", "auc"])
def test_a_margin_that_is_too_narrow(measure):
    options = {"margin": {"distance": 1e-6, "auc": 0.5001}[measure], "measure": measure}
    message = r"^equivalence was not shown at n = 100: power there is 0\.\d\d \[0\.0\d, 0\.\d\d\]; use a wider margin"
    with pytest.raises(ValueError, match=message):
        solve_sample_size(MeanShift(dimension=1), test="equivalence", test_options=options, **SHORT)


def z_test(X, Y):
    return math.erfc(abs(X.mean() - Y.mean()) * math.sqrt(len(X)) / 2.0)


def sizes_drawn(law, **options):
    drawn = []

    def design(rng, n):
        drawn.append(n)
        return law(rng, n)

    with pytest.raises(ValueError, match="no effect was found at n = 5000"):
        solve_sample_size(design, estimator=z_test, workers=1, progress=False, **options)
    return drawn


@pytest.mark.ci
def test_one_look_at_the_largest_size_is_enough():
    for seed in range(2):
        drawn = sizes_drawn(apart, rng=seed)
        assert drawn.count(5000) <= 20 and max(n for n in drawn if n < 5000) < 500


@pytest.mark.ci
def test_a_look_at_the_largest_size_does_not_change_the_answer():
    """The effect is too small for the first sizes, where nothing is seen of it."""
    drawn = []

    def slightly_apart(rng, n):
        drawn.append(n)
        return rng.normal(size=n), rng.normal(0.2, 1.0, size=n)

    given = {"estimator": z_test, "power": 0.7, "n_trials": 100, "workers": 1, "rng": 0}
    near, far = (
        solve_sample_size(slightly_apart, largest=largest, **given) for largest in (512, 5000)
    )
    assert 512 in drawn[: drawn.index(64)] and 5000 not in drawn
    assert near.n == far.n and near.table.equals(far.table)


@pytest.mark.parametrize("largest", [700, 5000])
@pytest.mark.parametrize("equivalence", [False, True], ids=["difference", "equivalence"])
def test_a_search_without_an_effect_says_early_how_far_it_goes(
    equivalence, largest, monkeypatch, capsys
):
    options = {"largest": largest, "progress": True}
    start = "No effect is visible"
    if equivalence:
        start = "Equivalence is not shown"
        options |= {"test": "equivalence", "test_options": {"margin": 0.01, "measure": "distance"}}
    with pytest.raises(ValueError, match=f"at n = {largest}"):
        search(monkeypatch, Counted(lambda n: 0.02), **options)
    line = f"{start} up to n = 32. The search goes on to n = {largest} at most"
    assert capsys.readouterr().err.count(line) == 1
    with pytest.raises(ValueError, match=f"at n = {largest}"):
        search(monkeypatch, Counted(lambda n: 0.02), **{**options, "progress": False})
    assert capsys.readouterr().err.startswith(line)


def test_a_search_with_an_effect_says_nothing_of_it(monkeypatch, capsys):
    search(monkeypatch, Counted(lambda n: student(n, 1.0)), progress=True)
    assert "No effect" not in capsys.readouterr().err


PILOT_X = np.where(np.arange(40) % 5 == 0, np.nan, pilot[:40])
PILOT_Y = np.where(np.arange(40) % 10 == 1, np.nan, pilot[:40] + pilot[20:])
LINKED = (np.arange(40) // 2, 20 + np.arange(40) // 2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "in each sample are recruited, of which about 20% (X) and 10% (Y) are expected to be incomplete, as in the "
             "pilot data, and left out of the test."),
        ({"paired": True}, " pairs are recruited, of which about 30% are expected to be incomplete, as in"),
        ({"test": "independence"}, " pairs are recruited, of which about 30% are expected to be incomplete, as in"),
        ({"groups": LINKED}, " groups in each sample are recruited, and about 20% (X) and 10% (Y) of their rows are"),
    ],
    ids=["samples", "pairs", "variables", "groups"],
)  # fmt: skip
def test_sizes_of_pilot_data_with_gaps_are_rows_to_recruit(options, words, monkeypatch):
    design = FromData(PILOT_X, PILOT_Y, nan_policy="omit", **options)
    answer = search(monkeypatch, Counted(student), design)
    assert words in " ".join(str(answer.summary()).split())
    assert words in answer.paragraph()


@pytest.mark.parametrize(
    "design",
    [
        FromData(PILOT_X, PILOT_Y, nan_policy="indicator"),
        FromData(pilot, pilot**2, nan_policy="omit"),
        SHIFT,
    ],
    ids=["indicator", "no gaps", "no pilot data"],
)
def test_sizes_that_leave_out_no_rows_have_no_such_sentence(design, monkeypatch):
    answer = search(monkeypatch, Counted(student), design)
    assert "to recruit" not in answer.paragraph()


def test_equivalence_of_pilot_data_with_gaps_counts_rows_to_recruit_too(monkeypatch):
    options = {"test": "equivalence", "test_options": {"margin": 0.1, "measure": "distance"}}
    answer = search(
        monkeypatch, Counted(student), FromData(PILOT_X, PILOT_Y, nan_policy="omit"), **options
    )
    assert "about 20% (X) and 10% (Y) are expected to be incomplete" in answer.paragraph()
