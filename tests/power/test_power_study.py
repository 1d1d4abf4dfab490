"""power_study: paired trials, rates and intervals, comparisons, reports, workers, and arguments that make no study."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import threading
import warnings
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import xlogy
from scipy.stats import beta, binom, multinomial
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from shrinktest import FKMSE, KME, MKME, SKMSE, Laplacian, independence_test, two_sample_test
from shrinktest.power import PowerStudyResult, designs, power_study
from shrinktest.power.result import _difference
from shrinktest.power.work import finish

SHIFT = designs.MeanShift(dimension=2, shift=1.0)
LINE = designs.Linear()


def run(design=SHIFT, estimators="kme", sizes=8, **options):
    """A study of a second or less."""
    return power_study(
        design,
        estimators,
        sizes,
        **{"alphas": 0.1, "n_trials": 10, "n_resamples": 39, "workers": 1, "progress": False, **options},
    )


def values(result, **where):
    """The p-values of a study as a list, of some of its tests."""
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
    return PowerStudyResult.from_rows(
        rows,
        design=SHIFT,
        estimators=dict.fromkeys(pvalues, KME()),
        alphas=alphas,
        n_resamples=99,
        seed=0,
        interval=interval,
    )


# ------------------------------------------------------------------------------------------------ trials


@pytest.mark.parametrize(("design", "test"), [(SHIFT, two_sample_test), (LINE, independence_test)])
@pytest.mark.parametrize("null", [False, True])
def test_a_p_value_is_that_of_the_test_on_the_streams_of_its_trial(design, test, null):
    result = run(design, ["kme", "skmse"], [8, 11], rng=5)
    twin = design.null() if null else design
    for n, trial, label in itertools.product((8, 11), (0, 7), ("kme", "skmse")):
        data, relabellings = (np.random.SeedSequence(5, spawn_key=(n, int(null), trial, i)) for i in (0, 1))
        x, y = twin.sample(np.random.default_rng(data), n)
        alone = test(x, y, estimator=label, n_resamples=39, rng=relabellings, alpha=0.1).pvalue
        assert values(result, n=n, null=null, trial=trial, estimator=label) == [alone]


@pytest.mark.parametrize("design", [SHIFT, LINE])
def test_every_estimator_sees_the_same_data_and_the_same_relabellings(design):
    result = run(design, {"one": "kme", "two": KME()}, n_trials=30)
    one, two = (values(result, estimator=label) for label in ("one", "two"))
    assert one == two
    assert len(set(one)) > 5


def test_what_else_is_in_a_study_does_not_change_a_p_value():
    alone = run(estimators="skmse", sizes=8, n_trials=4)
    among = run(estimators=["kme", "skmse"], sizes=[6, 8], n_trials=range(9), alphas=[0.2, 0.1])
    shared = among.pvalues.query("n == 8 and trial < 4 and estimator == 'skmse'")
    assert values(alone) == shared["pvalue"].tolist()


def test_trials_sizes_twins_and_seeds_have_streams_of_their_own():
    seen = []

    def recorded(rng, n):
        x = rng.normal(size=n)
        seen.append(x[0])
        return x, x + rng.normal(size=n)

    for seed in (1, 2):
        run(recorded, sizes=[6, 7], n_trials=3, rng=seed)
    # the rehearsals before a study have a seed of their own, and repeat
    assert len(set(seen)) == 2 * (2 * 2 * 3) + len(set(seen[:4]))


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (7, 7, True),
        (7, 8, False),
        (7, np.int64(7), True),
        (np.random.SeedSequence(7), np.random.SeedSequence(7), True),
        (np.random.default_rng(7), np.random.default_rng(7), True),
        (np.random.default_rng(7), np.random.default_rng(8), False),
        (None, None, False),
    ],
)
def test_a_seed_of_any_kind_makes_the_study(first, second, same):
    one, two = (run(rng=rng, n_trials=20) for rng in (first, second))
    assert (values(one) == values(two)) == same
    assert values(run(rng=one.seed, n_trials=20)) == values(one)


def test_options_of_the_study_and_of_the_design_reach_the_test():
    x, y = SHIFT.sample(np.random.default_rng(np.random.SeedSequence(0, spawn_key=(9, 0, 0, 0))), 9)
    relabellings = np.random.SeedSequence(0, spawn_key=(9, 0, 0, 1))
    told = {"kernel": Laplacian(0.3), "form": "unbiased"}
    expected = two_sample_test(x, y, n_resamples=39, rng=relabellings, alpha=0.1, **told).pvalue
    assert values(run(sizes=9, test_options=told, n_trials=1, with_null=False)) == [expected]

    eckerle = designs.EckerleSubsample()
    assert eckerle.options()
    default, other = (run(eckerle, test_options=told, sizes=9) for told in (None, {"bandwidth_x": 1.0}))
    stated = run(eckerle, test_options=eckerle.options(), sizes=9)
    assert values(default) == values(stated) != values(other)


def test_designs_with_a_ratio_give_unequal_samples():
    result = run(designs.MeanShift(dimension=2, shift=3.0, ratio=3.0), sizes=6, n_trials=40)
    assert result.table["power"].item() > run(designs.MeanShift(dimension=2, shift=3.0), sizes=3).table["power"].item()


def test_an_error_says_in_which_trial_it_happened():
    def fails_late(rng, n):
        x = rng.normal(size=n)
        if len(calls) > 8:
            x[2] = np.nan
        calls.append(n)
        return x, rng.normal(size=n)

    calls = []
    with pytest.raises(ValueError, match="NaN") as caught:
        run(fails_late, with_null=False)
    assert "in trial " in caught.value.__notes__[0]
    assert "n=8" in caught.value.__notes__[0]


# ------------------------------------------------------------------------------------------------ workers


def test_the_number_and_kind_of_workers_change_nothing():
    expected = run(estimators=["kme", FKMSE(lam_cov=0.3)], sizes=[6, 8], n_trials=20)
    assert len(set(values(expected))) > 10
    two = run(estimators=["kme", FKMSE(lam_cov=0.3)], sizes=[6, 8], n_trials=20, workers=2)
    with joblib.parallel_config("threading", n_jobs=3):
        threads = run(estimators=["kme", FKMSE(lam_cov=0.3)], sizes=[6, 8], n_trials=20, workers=None)
    for result in (two, threads):
        pd.testing.assert_frame_equal(
            result.pvalues.drop(columns="seconds"), expected.pvalues.drop(columns="seconds"), check_exact=True
        )
        assert result.to_csv() == expected.to_csv()


def test_joblib_decides_where_trials_run_once_it_is_configured():
    threads = set()

    def recorded(rng, n):
        threads.add(threading.current_thread())
        return rng.normal(size=n), rng.normal(size=n)

    run(recorded)
    assert threads == {threading.main_thread()}
    with joblib.parallel_config("threading", n_jobs=2):
        run(recorded, workers=None)
    assert len(threads) > 1


def test_processes_have_one_thread_each(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")

    def recorded(rng, n):
        about = {"threads": os.environ["OMP_NUM_THREADS"], "python": threading.active_count()}
        (tmp_path / f"{os.getpid()}.json").write_text(json.dumps(about))
        return rng.normal(size=n), rng.normal(size=n)

    idle = threading.active_count()
    run(recorded, workers=2, n_trials=40)
    here = tmp_path / f"{os.getpid()}.json"
    elsewhere = [json.loads(file.read_text()) for file in tmp_path.iterdir() if file != here]
    assert json.loads(here.read_text())["python"] <= idle  # the rehearsal
    assert {about["threads"] for about in elsewhere} == {"1"}


def test_where_joblib_may_start_no_processes_trials_run_in_threads():
    said = """
from shrinktest.power import designs, power_study
if __name__ == "__main__":
    told = {"n_trials": 4, "n_resamples": 19, "progress": False}
    found = power_study(designs.MeanShift(), "kme", 8, workers=2, **told)
    print(found.pvalues.drop(columns="seconds").equals(
        power_study(designs.MeanShift(), "kme", 8, workers=1, **told).pvalues.drop(columns="seconds")))
"""
    alone = {**os.environ, "JOBLIB_MULTIPROCESSING": "0"}
    run = subprocess.run([sys.executable, "-c", said], env=alone, capture_output=True, text=True, check=False)
    assert (run.stdout.strip(), run.returncode) == ("True", 0), run.stderr


def touched(folder, number):
    (folder / str(number)).touch()
    return [number]


@pytest.mark.parametrize(("configured", "workers"), [(2, None), (1, None), (2, 1)])
def test_where_joblib_gives_rows_back_together_they_are_kept_as_they_come(configured, workers, tmp_path):
    rows, then = [], []

    def add(found):
        rows.extend(found)
        then.append(len(list(tmp_path.iterdir())))

    with joblib.parallel_config("multiprocessing", n_jobs=configured):
        finish(SimpleNamespace(add=add), touched, [(tmp_path, i) for i in range(40)], 40, workers, False)
        found = run(workers=workers)
    assert rows == list(range(40))
    assert then[0] < 40
    assert values(found) == values(run())


def test_a_bar_counts_trials(capsys, tmp_path):
    store = tmp_path / "study.sqlite"
    run(n_trials=3, store=store)
    run(n_trials=7, progress=True, store=store)
    shown = capsys.readouterr().err
    assert " 6/14" in shown  # where the study goes on
    assert "14/14" in shown
    run(n_trials=7)
    assert capsys.readouterr().err == ""


def test_no_bar_where_there_is_nothing_to_write_to(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert values(run(progress=True)) == values(run())


# ------------------------------------------------------------------------------------------------ rates


def test_a_test_rejects_when_p_is_at_most_alpha():
    result = made({"kme": {10: [0.05, 0.01, 0.06, 0.1, 0.5]}}, alphas=(0.05, 0.1), null={"kme": {10: [0.05, 0.9]}})
    assert result.table["power"].tolist() == [0.4, 0.8]
    assert result.size_table["level"].tolist() == [0.5, 0.5]
    assert result.table["trials"].tolist() == [5, 5]
    assert result.table["seconds"].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("interval", ["beta", "wilson"])
@pytest.mark.parametrize("rejected", [0, 3, 20])
def test_intervals_are_those_of_statsmodels(interval, rejected):
    pvalues = [0.01] * rejected + [0.5] * (20 - rejected)
    row = made({"kme": {10: pvalues}}, interval=interval).table.iloc[0]
    assert (row["low"], row["high"]) == proportion_confint(rejected, 20, alpha=0.05, method=interval)
    if interval == "beta":
        low = beta.ppf(0.025, rejected, 21 - rejected) if rejected else 0.0
        high = beta.ppf(0.975, rejected + 1, 20 - rejected) if rejected < 20 else 1.0
        assert (row["low"], row["high"]) == pytest.approx((low, high), abs=1e-12)


def test_every_alpha_is_read_off_one_study():
    result = run(alphas=[0.3, 0.1, 0.3], sizes=[8, 6], n_trials=30, with_null=False)
    assert list(zip(result.table["n"], result.table["alpha"], strict=True)) == [
        (6, 0.1),
        (6, 0.3),
        (8, 0.1),
        (8, 0.3),
    ]
    for _, row in result.table.iterrows():
        assert row["power"] == np.mean(np.array(values(result, n=row["n"])) <= row["alpha"])
    assert result.size_table.empty


def test_the_null_twin_shows_the_level():
    result = run(SHIFT, "skmse", 10, n_trials=300, n_resamples=19, alphas=0.1)
    rejections = int((np.array(values(result, null=True)) <= 0.1).sum())
    assert binom.ppf(0.0005, 300, 0.1) <= rejections <= binom.ppf(0.9995, 300, 0.1)
    power = int((np.array(values(result, null=False)) <= 0.1).sum())
    assert power > binom.ppf(0.9995, 300, 0.1)


# ------------------------------------------------------------------------------------------------ comparisons

RNG = np.random.default_rng(3)


def skewed(power):
    """p-values of tests with 19 relabellings, some of which equal a level."""
    return np.ceil(20 * RNG.random(60) ** power) / 20


PAIRED = made(
    {"a": {10: skewed(4), 20: skewed(4)}, "b": {10: skewed(1), 20: skewed(3)}},
    alphas=(0.05, 0.1),
    null={"a": {10: [1e-3] * 60}, "b": {10: [0.9] * 60}},
)


def test_comparisons_are_mcnemars_over_the_trials_of_the_design():
    table = PAIRED.compare("a", "b")
    assert list(zip(table["n"], table["alpha"], strict=True)) == list(itertools.product((10, 20), (0.05, 0.1)))
    for _, row in table.iterrows():
        a, b = (
            np.array(values(PAIRED, n=row["n"], estimator=label, null=False)) <= row["alpha"] for label in ("a", "b")
        )
        counts = np.array([[(a & b).sum(), (a & ~b).sum()], [(~a & b).sum(), (~a & ~b).sum()]])
        assert [row["both"], row["only_a"], row["only_b"], row["neither"]] == counts.ravel().tolist()
        assert row["difference"] == pytest.approx(a.mean() - b.mean())
        assert row["pvalue"] == mcnemar(counts, exact=True).pvalue
        assert row["pvalue"] == pytest.approx(
            min(1.0, 2.0 * binom.cdf(min(counts[0, 1], counts[1, 0]), counts[0, 1] + counts[1, 0], 0.5))
        )
        assert row["low"] < row["difference"] < row["high"]
    assert table["p_holm"].tolist() == multipletests(table["pvalue"], method="holm")[1].tolist()
    assert (table["p_holm"] > table["pvalue"]).any()


def test_a_comparison_turned_round_changes_its_sign():
    one, two = PAIRED.compare("a", "b", alpha=0.1), PAIRED.compare("b", "a", alpha=0.1)
    assert one["alpha"].tolist() == [0.1, 0.1]
    np.testing.assert_allclose(one[["difference", "low", "high"]], -two[["difference", "high", "low"]])
    assert one["pvalue"].tolist() == two["pvalue"].tolist()


def test_equal_estimators_do_not_differ():
    row = PAIRED.compare("a", "a").iloc[0]
    assert (row["difference"], row["pvalue"]) == (0.0, 1.0)
    assert -0.061 < row["low"] < 0.0 < row["high"] < 0.061


@pytest.mark.parametrize(
    "shares", [(0.3, 0.1, 0.05, 0.55), (0.1, 0.02, 0.01, 0.87), (0.2, 0.4, 0.1, 0.3), (0.5, 0.1, 0.0, 0.4)]
)
def test_the_interval_of_a_difference_covers(shares):
    """Exact coverage, over all tables of 25 trials; of course more where next to no trial is discordant."""
    trials, covered = 25, 0.0
    for only_a, only_b in itertools.product(range(trials + 1), repeat=2):
        rest = trials - only_a - only_b
        if rest >= 0:
            _, low, high = _difference(rest, only_a, only_b, 0)
            inside = low <= shares[1] - shares[2] <= high
            counts = (only_a, only_b, rest), trials, (shares[1], shares[2], shares[0] + shares[3])
            covered += multinomial.pmf(*counts) if inside else 0.0
    assert covered > 0.935 and (covered < 0.98 or min(shares[1:3]) < 0.05)


def score(only_a, only_b, trials, difference):
    """The efficient score of a difference over its standard deviation, at the likeliest nuisance parameter."""

    def unlikely(share):  # of trials in which b alone rejects
        shares = np.array([difference + share, share, 1.0 - difference - 2.0 * share])
        return -(xlogy([only_a, only_b, trials - only_a - only_b], np.clip(shares, 1e-300, None))).sum()

    span = max(0.0, -difference), (1.0 - difference) / 2.0
    share = minimize_scalar(unlikely, bounds=span, method="bounded", options={"xatol": 1e-12}).x
    return (only_a - only_b - trials * difference) / np.sqrt(trials * (2.0 * share + difference - difference**2))


@pytest.mark.parametrize("counts", [(3, 9, 4, 4), (0, 5, 1, 44), (794, 150, 86, 570), (2, 1, 8, 9), (10, 10, 5, 0)])
def test_the_interval_of_a_difference_inverts_the_score_test(counts):
    _, only_a, only_b, _ = counts
    difference, low, high = _difference(*counts)
    assert difference == (only_a - only_b) / sum(counts)
    for end, expected in ((low, 1.96), (high, -1.96)):
        assert score(only_a, only_b, sum(counts), end) == pytest.approx(expected, abs=2e-3)


def test_intervals_of_differences_at_the_ends():
    """Without discordant trials z^2 / (n + z^2) to both sides; with nothing else up to 1."""
    reach = 1.959964**2 / (50 + 1.959964**2)
    assert _difference(20, 0, 0, 30) == pytest.approx((0.0, -reach, reach), abs=1e-6)
    assert _difference(0, 30, 0, 0) == pytest.approx((1.0, (30 - 1.959964**2) / (30 + 1.959964**2), 1.0), abs=1e-6)
    assert _difference(0, 0, 30, 0) == tuple(-v for v in np.array(_difference(0, 30, 0, 0))[[0, 2, 1]])


# ------------------------------------------------------------------------------------------------ reports


def test_rows_come_in_one_order_whatever_the_order_of_the_work():
    result = run(estimators=["skmse", "kme"], sizes=[8, 6], n_trials=3)
    rows = list(result.pvalues.itertuples(index=False, name=None))
    shuffled = [rows[i] for i in np.random.default_rng(0).permutation(len(rows))]
    study = {name: getattr(result, name) for name in ("design", "estimators", "alphas", "n_resamples", "seed")}
    again = PowerStudyResult.from_rows(shuffled, **study)
    pd.testing.assert_frame_equal(again.pvalues, result.pvalues)
    assert [row[:4] for row in rows[:3]] == [(6, False, 0, "skmse"), (6, False, 0, "kme"), (6, False, 1, "skmse")]
    assert result.table["estimator"].tolist() == ["skmse", "skmse", "kme", "kme"]


def test_csv_is_the_tidy_table(tmp_path):
    result = run(estimators=["kme", "skmse"], sizes=[6, 8], alphas=[0.1, 0.2])
    path = tmp_path / "table.csv"
    assert result.to_csv(path) is None
    assert path.read_bytes().decode() == result.to_csv()
    table = pd.read_csv(path)
    assert ",".join(table.columns) == "design,estimator,n,alpha,null,power,low,high,trials"
    assert table["null"].tolist() == [False] * 8 + [True] * 8
    np.testing.assert_array_equal(table[~table["null"]]["power"], result.table["power"])
    np.testing.assert_array_equal(table[table["null"]]["power"], result.size_table["level"])
    assert set(table["design"]) == {repr(SHIFT)}


REPORTED = made(
    {"kme": {10: [0.01] * 8 + [0.5] * 2, 20: [0.01] * 10}, "x_1|2": {10: [0.5] * 10, 20: [0.01] * 5 + [0.5] * 5}},
    null={"kme": {10: [0.5] * 9 + [0.01], 20: [0.5] * 10}, "x_1|2": {10: [0.5] * 10, 20: [0.5] * 10}},
)


def test_the_summary_shows_the_level_beside_the_power():
    text = REPORTED.summary()
    line = next(line for line in text.splitlines() if line.startswith("kme") and "0.800" in line)
    low, high = proportion_confint(8, 10, method="beta")
    assert f"[{low:.3f}, {high:.3f}]" in line
    assert line.split()[-4:] == ["0.100", "[0.003,", "0.445]", "10"]
    for shown in (repr(SHIFT), "two-sample", "Clopper-Pearson", "10 per sample size", "99", "seed 0"):
        assert shown in text
    assert " - " in run(with_null=False, n_trials=2).summary()


def test_markdown_and_latex_hold_the_same_table():
    markdown, latex = REPORTED.to_markdown().splitlines(), REPORTED.to_latex()
    assert len(markdown) == 2 + 4
    assert all(line.count("|") - line.count("\\|") == 9 for line in markdown)
    assert "| x_1\\|2 | 20 | 0.05 | 0.500 |" in markdown[-1]
    assert "x\\_1" in latex
    assert latex.count("\\\\") == 1 + 4
    for number in ("0.800", "0.445"):
        assert number in "".join(markdown)
        assert number in latex


def test_reprs_are_short():
    assert repr(REPORTED) == f"PowerStudyResult({SHIFT!r}, estimators=['kme', 'x_1|2'], n=[10, 20], trials=10)"


def test_the_plot_shows_powers_intervals_and_levels():
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure

    ax = REPORTED.plot(Figure().subplots())
    curves = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    np.testing.assert_array_equal(curves["kme"], [0.8, 1.0])
    np.testing.assert_array_equal(curves["x_1|2"], [0.0, 0.5])
    dashed = [line for line in ax.get_lines() if line.get_linestyle() == "--"]
    np.testing.assert_array_equal(dashed[0].get_ydata(), [0.1, 0.0])
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert {band.min(), band.max()} == {proportion_confint(8, 10, method="beta")[0], 1.0}
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["kme", "x_1|2", "α = 0.05"]
    assert ax.get_xlabel().startswith("n, ")
    assert "level 0.05" in ax.get_ylabel()
    assert ax.get_title() == repr(SHIFT)
    other = REPORTED.plot(Figure().subplots(), alpha=0.6)
    assert other.get_lines()[0].get_ydata().tolist() == [1.0, 1.0]
    assert "level 0.6" in other.get_ylabel()
    plt.close(REPORTED.plot().figure)


def test_no_two_of_many_curves_look_alike():
    from matplotlib.figure import Figure

    tests = {f"test {i}": (lambda X, Y: 0.5) for i in range(12)}
    lines = (
        power_study(SHIFT, tests, [5, 6], n_trials=2, workers=1, progress=False).plot(Figure().subplots()).get_lines()
    )
    solid = [line for line in lines if line.get_label().startswith("test ")]
    assert len({(line.get_color(), line.get_marker()) for line in solid}) == len(solid) == 12


# ------------------------------------------------------------------------------------------------ refusals

REFUSED = {
    "unknown design": ({"design": "mean-shft"}, ValueError, "Did you mean 'mean-shift'"),
    "design class": ({"design": designs.MeanShift}, TypeError, r"write MeanShift\(\)"),
    "no design": ({"design": 3}, TypeError, "design must be"),
    "unknown estimator": ({"estimators": "fkme"}, ValueError, "Did you mean 'fkmse'"),
    "no estimator": ({"estimators": []}, ValueError, "estimators is empty"),
    "empty dict": ({"estimators": {}}, ValueError, "estimators is empty"),
    "estimator of no kind": ({"estimators": 3}, TypeError, "estimators must be a sequence"),
    "twice": ({"estimators": ["kme", "skmse", "kme"]}, ValueError, "'kme' more than once"),
    "twice by repr": ({"estimators": [SKMSE(), SKMSE()]}, ValueError, "label of its own"),
    "label": ({"estimators": {1: "kme"}}, TypeError, "labels of estimators must be text, got 1"),
    "no sizes": ({"sizes": []}, ValueError, "sample_sizes is empty"),
    "text": ({"sizes": "10"}, TypeError, "sample_sizes must be a sequence of values, or one, got '10'"),
    "size below the design's": ({"sizes": [1, 20]}, ValueError, r"has 1, and MeanShift\(.*\) needs n >= 2"),
    "fractional size": ({"sizes": [10.5]}, TypeError, "sample_sizes must be an integer"),
    "alpha 0": ({"alphas": 0.0}, ValueError, "alphas must lie strictly between 0 and 1, got 0.0"),
    "alpha 1": ({"alphas": (0.1, 1.0)}, ValueError, "alphas must lie strictly between 0 and 1, got 1.0"),
    "alpha of text": ({"alphas": ["0.1"]}, TypeError, "alphas must be a number"),
    "B too small": ({"n_resamples": 18, "alphas": (0.05, 0.1)}, ValueError, "use n_resamples >= 19"),
    "B zero": ({"n_resamples": 0}, ValueError, "too small"),
    "no trials": ({"n_trials": 0}, ValueError, "n_trials must be an integer >= 1"),
    "empty range": ({"n_trials": range(3, 3)}, ValueError, "n_trials"),
    "negative trials": ({"n_trials": range(-2, 3)}, ValueError, "from 0 on"),
    "kernel option": ({"test_options": {"kernel_x": "gaussian"}}, ValueError, "of test_options, for a two-sample test"),
    "option of pairs": (
        {"design": "linear", "test_options": {"kernel": "gaussian"}},
        ValueError,
        "of test_options, for an independence test",
    ),
    "kernel": ({"test_options": {"kernel": "gausian"}}, ValueError, "Did you mean 'gaussian'"),
    "interval": ({"interval": "wald"}, ValueError, "interval must be one of 'beta', 'wilson'"),
    "workers": ({"workers": 0}, ValueError, "workers"),
    "rng": ({"rng": "seed"}, TypeError, "rng must be"),
    "form": ({"test_options": {"form": "u"}}, ValueError, "form must be one of"),
    "route": (
        {"estimators": MKME(tuning="sample"), "test_options": {"gram": "factor"}},
        ValueError,
        "gram='factor': this estimator is fitted",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_makes_no_study_is_refused_before_anything_is_stored(case, tmp_path):
    arguments, kind, message = REFUSED[case]
    with pytest.raises(kind, match=message):
        run(**arguments, store=tmp_path / "study.sqlite")
    assert not list(tmp_path.iterdir())


def test_the_smallest_sufficient_number_of_relabellings_is_enough():
    assert min(values(run(designs.MeanShift(dimension=1, shift=9.0), n_resamples=19, alphas=0.05))) == 0.05


def test_comparisons_and_plots_refuse_what_they_do_not_have():
    with pytest.raises(ValueError, match="a must be one of 'a', 'b'"):
        PAIRED.compare("c", "a")
    with pytest.raises(ValueError, match="strictly between"):
        PAIRED.compare("a", "b", alpha=1.5)
    with pytest.raises(ValueError, match="strictly between"):
        PAIRED.plot(alpha=0.0)


def test_a_size_with_too_few_relabellings_is_said_to_be_hopeless():
    with pytest.warns(UserWarning, match=r"n=3 has only 10 different permutations.*never reject at alpha=0.05"):
        run(sizes=[3, 8], alphas=[0.05, 0.2])
    with pytest.warns(UserWarning, match="n=3 has only 6 different permutations"):
        run(LINE, sizes=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(sizes=3, alphas=0.1)  # 1/10 is enough
