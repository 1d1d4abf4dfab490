"""risk_study: paired exact losses, means and intervals, stores, designs, reports, paths; what makes no study."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.stats import t, ttest_1samp, ttest_rel
from statsmodels.stats.multitest import multipletests

import naive_risk as naive
from shrinktest import FKMSE, KME, MKME, MMKME, SKMSE, Gaussian, Landweber, Laplacian, Polynomial
from shrinktest.power import merge, power_study
from shrinktest.risk import (
    FixedMixture,
    FromFunction,
    NormalMixture,
    RandomMixture,
    RiskStudyResult,
    loss,
    loss_path,
    oracle_shrinkage,
    risk_study,
    true_embedding,
)
from shrinktest.risk.result import improvement

LAW = [0.4, 0.6], [[0.0, 1.0], [2.0, -1.0]], [np.eye(2), [[1.0, 0.5], [0.5, 2.0]]]


def run(design="mixture", estimators="skmse", kernels="gaussian", n=6, d=2, **options):
    """A study of a second or less."""
    return risk_study(design, estimators, kernels, n, d, **{"n_trials": 6, "workers": 1, "progress": False, **options})


def losses(result, **where):
    """The losses of a study as a list, of some of its estimates."""
    frame = result.losses
    for name, value in where.items():
        frame = frame[frame[name] == value]
    return frame["loss"].tolist()


def made(table):
    """A result of given losses: {label: losses}, the first that of the plain average."""
    rows = [("gaussian", 5, 2, i, label, x, 0.5) for label, values in table.items() for i, x in enumerate(values)]
    estimators = {label: KME() for label in table}
    return RiskStudyResult.from_rows(
        rows, design=RandomMixture(), estimators=estimators, kernels={"gaussian": Gaussian()}, seed=0
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.sqlite"


def count(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT count(*) FROM trials").fetchone()[0]


# --- trials -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [KME(), SKMSE(), FKMSE(), FKMSE(loo="paper"), MKME(), MMKME(), Landweber()])
def test_a_loss_is_that_of_the_estimate_on_the_streams_of_its_trial(estimator):
    result = run(estimators={"one": estimator}, n=7, d=3, rng=5, n_trials=range(2, 4))
    for trial in (2, 3):
        streams = [np.random.SeedSequence(5, spawn_key=(7, 3, trial, stream)) for stream in range(2)]
        mixture = RandomMixture().draw(np.random.default_rng(streams[0]), 3)
        points = mixture.sample(np.random.default_rng(streams[1]), 7)
        fitted = estimator.fit(points)
        expected = loss(fitted, true_embedding(mixture, fitted.kernel))
        assert losses(result, trial=trial, estimator="one") == [expected]
        truth = true_embedding(mixture, fitted.kernel)
        alpha = oracle_shrinkage(truth, 7).alpha
        assert losses(result, trial=trial, estimator="oracle") == [
            pytest.approx(loss(SKMSE(alpha=alpha).fit(points), truth), rel=1e-12)
        ]


def test_what_else_is_in_a_study_does_not_change_a_loss():
    alone = losses(run(n=6, d=2), estimator="skmse")
    many = run(estimators=["fkmse", "skmse"], kernels=["linear", "gaussian"], n=[6, 9], d=[3, 2], oracle=False)
    assert losses(many, estimator="skmse", kernel="gaussian", n=6, d=2) == alone
    assert list(many.estimators) == ["kme", "fkmse", "skmse"]
    assert len(many.losses) == 3 * 2 * 4 * 6
    assert list(many.losses["kernel"].unique()) == ["linear", "gaussian"]


def test_trials_sizes_dimensions_and_seeds_have_streams_of_their_own():
    result = run(n=[6, 7], d=[2, 3])
    assert len(set(losses(result, estimator="kme"))) == 24
    assert not set(losses(run(rng=1))) & set(losses(run(rng=0)))


def test_the_number_of_workers_changes_nothing():
    one, two = (run(kernels=["gaussian", "polynomial"], workers=workers).to_csv() for workers in (1, 2))
    assert one == two


def test_the_plain_average_comes_along_once():
    assert list(run(estimators=["skmse", "kme"]).estimators) == ["kme", "skmse", "oracle"]
    assert list(run(estimators={"kme": KME(), "a": FKMSE(lam=1.0)}, oracle=False).estimators) == ["kme", "a"]


def test_an_error_says_in_which_trial_it_happened():
    def fails(rng, d):
        if fails.calls == 4:
            raise RuntimeError("no more")
        fails.calls += 1
        return LAW

    fails.calls = 0
    with pytest.raises(RuntimeError, match="no more") as caught:
        run(fails)
    (note,) = caught.value.__notes__
    assert note.startswith("in trial 3 of FromFunction(") and note.endswith("with n=6, d=2 and seed 0")


# --- stores -------------------------------------------------------------------------------------------------


class Counted:
    """A design that counts how often it is asked."""

    def __init__(self, stop=np.inf):
        self.calls, self.stop = 0, stop
        self.__qualname__ = "counted"

    def __call__(self, rng, d):
        self.calls += 1
        if self.calls > self.stop:
            raise KeyboardInterrupt
        return LAW


def test_a_stopped_study_goes_on_and_ends_as_if_it_was_not(path):
    whole = run(Counted(), n_trials=8)
    with pytest.raises(KeyboardInterrupt):
        run(Counted(stop=5), n_trials=8, store=path)
    assert count(path) == 4 * 3  # one call is the rehearsal's
    again = Counted()
    assert run(again, n_trials=8, store=path).to_csv() == whole.to_csv()
    assert again.calls == 1 + 4


@pytest.mark.parametrize(
    ("extension", "new"),
    [
        ({"n_trials": 9}, 3),
        ({"estimators": ["skmse", "fkmse"]}, 6),
        ({"kernels": ["gaussian", "linear"]}, 6),
        ({"n": [6, 8]}, 6),
        ({"kernels": {"another name": "gaussian"}}, 0),
    ],
)
def test_more_of_anything_extends_a_study(path, extension, new):
    run(Counted(), store=path)
    design = Counted()
    result = run(design, store=path, **extension)
    assert design.calls == 1 + new
    assert result.to_csv() == run(Counted(), **extension).to_csv()


def test_a_result_holds_what_was_asked_for_and_not_what_else_is_stored(path):
    run(estimators=["skmse", "fkmse"], kernels=["gaussian", "linear"], n=[6, 8], store=path, n_trials=9)
    assert run(store=path).to_csv() == run().to_csv()


def test_a_study_without_a_seed_takes_that_of_its_store(path):
    first = run(rng=None, store=path)
    assert run(rng=None, store=path).to_csv() == first.to_csv()
    assert first.seed != run(rng=None).seed


@pytest.mark.parametrize(
    ("arguments", "difference"),
    [
        ({"rng": 4}, "seed: stored 0, asked 4"),
        ({"design": RandomMixture(wishart_scale=3.0)}, r"design: stored RandomMixture\(\), asked RandomMixture\(wis"),
        ({"estimators": {"skmse": SKMSE(rule="plugin")}}, r"estimator 'skmse': stored SKMSE\(\), asked SKMSE\(rule="),
        (
            {"design": LAW},
            r"design: stored .*, asked FixedMixture\(NormalMixture\(2 components in 2 dimensions\), [0-9a-f]{8}\)",
        ),
    ],
)
def test_other_arguments_are_refused_and_shown(arguments, difference, path):
    run(store=path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=f"study.sqlite is of another study: {difference}"):
        run(store=path, **arguments)
    assert path.read_bytes() == before


def test_stores_of_power_studies_and_of_risk_studies_are_not_mixed_up(path, tmp_path):
    run(store=path)
    power = tmp_path / "power.sqlite"
    tests = {"n_trials": 2, "n_resamples": 19, "workers": 1, "progress": False}
    power_study("mean-shift", "kme", 8, store=power, **tests)
    with pytest.raises(ValueError, match="is not the store of a risk study"):
        run(store=power)
    with pytest.raises(ValueError, match="is not the store of a power study"):
        power_study("mean-shift", "kme", 8, store=path, **tests)
    with pytest.raises(ValueError, match="is not the store of a risk study"):
        merge(tmp_path / "both.sqlite", path, power)


def test_merged_shards_are_the_whole_study(path, tmp_path):
    shards = [tmp_path / f"{i}.sqlite" for i in range(2)]
    for shard, trials in zip(shards, (range(4), range(3, 6)), strict=True):
        run(store=shard, n_trials=trials)
    merge(path, *shards)
    assert run(store=path).to_csv() == run().to_csv()
    with closing(sqlite3.connect(shards[1])) as connection, connection:
        connection.execute("UPDATE trials SET loss = 0.25 WHERE trial = 3 AND estimator = 'kme'")
    with pytest.raises(ValueError, match=r"has loss 0.25 for kme, kernel=Gaussian\(.*\), n=6, d=2, trial=3, another"):
        merge(path, *shards)


# --- means and intervals ------------------------------------------------------------------------------------

rng = np.random.default_rng(3)
BASE = rng.gamma(3.0, size=40)
CLOSER = 0.8 * BASE + rng.gamma(1.0, size=40) * 0.1
RESULT = made({"kme": BASE, "closer": CLOSER, "same": BASE})


def test_means_have_students_intervals():
    row = RESULT.table.set_index("estimator").loc["closer"]
    interval = ttest_1samp(CLOSER, 0.0).confidence_interval(0.95)
    assert row["loss"] == pytest.approx(CLOSER.mean())
    assert row["error"] == pytest.approx(np.sqrt(((CLOSER - CLOSER.mean()) ** 2).sum() / (39 * 40)))
    assert (row["low"], row["high"]) == pytest.approx(tuple(interval))
    assert (row["trials"], row["seconds"]) == (40, 0.5)


def test_improvements_are_those_of_the_jackknife():
    row = RESULT.table.set_index("estimator").loc["closer"]
    saved, error = naive.improvement(CLOSER, BASE)
    assert row["improvement"] == pytest.approx(saved)
    reach = t.ppf(0.975, 39) * error
    ends = row["improvement_low"], row["improvement_high"]
    assert ends == pytest.approx((saved - reach, saved + reach), rel=0.02)  # they agree up to terms of order 1/n


@pytest.mark.parametrize("label", ["kme", "same"])
def test_equal_losses_improve_nothing(label):
    row = RESULT.table.set_index("estimator").loc[label]
    ends = row["improvement"], row["improvement_low"], row["improvement_high"]
    np.testing.assert_allclose(ends, 0.0, atol=1e-12)
    compared = RESULT.compare(label, "kme").iloc[0]
    assert (compared["difference"], compared["pvalue"], compared["better"]) == (0.0, 1.0, 0.0)


def test_the_interval_of_an_improvement_covers():
    rng = np.random.default_rng(8)
    covered, repetitions = 0, 2000
    for _ in range(repetitions):
        base = rng.gamma(2.0, size=60)
        _, low, high = improvement(0.5 * base + rng.gamma(2.0, 0.2, size=60), base)
        covered += low <= 30.0 <= high  # the means are 1 + .4 and 2
    assert 0.92 < covered / repetitions < 0.97


def test_comparisons_are_paired_t_tests():
    many = run(estimators=["skmse", "fkmse"], n=[5, 8], d=[2, 3], n_trials=12)
    table = many.compare("fkmse", "skmse")
    for row in table.itertuples():
        a, b = (np.array(losses(many, estimator=label, n=row.n, d=row.d)) for label in ("fkmse", "skmse"))
        paired = ttest_rel(a, b)
        assert row.pvalue == pytest.approx(paired.pvalue)
        assert (row.low, row.high) == pytest.approx(tuple(paired.confidence_interval(0.95)))
        assert (row.loss_a, row.loss_b, row.better) == pytest.approx((a.mean(), b.mean(), (a < b).mean()))
        assert row.improvement == pytest.approx(naive.improvement(a, b)[0])
    np.testing.assert_allclose(table["p_holm"], multipletests(table["pvalue"], method="holm")[1])
    turned = many.compare("skmse", "fkmse")
    np.testing.assert_allclose(turned["difference"], -table["difference"])


def test_one_data_set_has_no_intervals():
    one = run(n_trials=1)
    assert one.table[["error", "low", "improvement_high"]].isna().to_numpy().all()
    assert one.table["loss"].notna().all() and "nan" not in one.summary()
    assert one.compare("skmse", "kme")[["pvalue", "p_holm"]].isna().to_numpy().all()


def test_a_loss_of_nothing_has_no_percentage():
    assert np.isnan(improvement(np.ones(3), np.zeros(3))).all()


def test_the_oracle_saves_most_among_simple_shrinkage():
    fixed = {f"alpha {a}": SKMSE(alpha=a) for a in (0.05, 0.1, 0.2)}
    result = run(LAW, fixed, Gaussian(2.0), n=8, n_trials=400)
    table = result.table.set_index("estimator")
    truth = true_embedding(LAW, Gaussian(2.0))
    assert abs(table.loc["oracle", "loss"] - oracle_shrinkage(truth, 8).risk) < 4 * table.loc["oracle", "error"]
    best = table.loc["oracle", "improvement"]
    assert best > 0.0 and (best > table.loc[list(fixed), "improvement_low"]).all()


# --- designs ------------------------------------------------------------------------------------------------


def test_the_papers_mixture():
    drawn = [RandomMixture(wishart_scale=3.0).draw(np.random.default_rng(i), 30) for i in range(200)]
    assert all(np.linalg.eigvalsh(one.covariances).min() > 0.199 for one in drawn)
    np.testing.assert_array_equal(drawn[0].weights, [0.05, 0.3, 0.4, 0.25])
    spread = np.mean([np.trace(s) for one in drawn for s in one.covariances]) / 30
    assert spread == pytest.approx(7 * 3.0 + 0.2, rel=0.01)
    means = np.concatenate([one.means.ravel() for one in drawn])
    assert np.abs(means).max() < 10.0 and means.var() == pytest.approx(100.0 / 3.0, rel=0.02)
    whole, diagonal = (RandomMixture(diagonal=one).draw(np.random.default_rng(1), 4) for one in (False, True))
    np.testing.assert_array_equal(diagonal.covariances, whole.covariances * np.eye(4))
    np.testing.assert_array_equal(diagonal.means, whole.means)


def test_a_mixture_seed_fixes_the_mixture():
    design = RandomMixture(mixture_seed=4)
    first, second = (design.draw(np.random.default_rng(i), 3) for i in range(2))
    np.testing.assert_array_equal(first.covariances, second.covariances)
    assert repr(design) == "RandomMixture(mixture_seed=4)"


def test_mixtures_triples_and_functions_are_designs():
    value = NormalMixture(*LAW)
    same = [run(design).to_csv() for design in (LAW, list(LAW), value, FixedMixture(value), lambda rng, d: LAW)]
    assert len(set(same)) == 1
    other = NormalMixture(LAW[0], LAW[1], [np.eye(2), np.eye(2)])
    assert repr(FixedMixture(other)) != repr(FixedMixture(value)) == repr(FixedMixture(NormalMixture(*LAW)))
    assert repr(FromFunction(run)) == "FromFunction(run)"


def test_laplacian_kernels_take_diagonal_mixtures():
    assert len(run(RandomMixture(diagonal=True), kernels=["laplacian", Laplacian(3.0)]).table) == 6
    with pytest.raises(ValueError, match="diagonal covariances only") as caught:
        run(kernels="laplacian")
    assert "in trial 0 of RandomMixture()" in caught.value.__notes__[0]


# --- reports ------------------------------------------------------------------------------------------------


def test_reports_hold_the_same_numbers(tmp_path):
    result = run(estimators={"a|b": SKMSE()}, kernels=["gaussian", "linear"], n=[5, 6])
    assert len(result.table) == 12
    text = result.to_csv()
    assert result.to_csv(tmp_path / "t.csv") is None
    assert (tmp_path / "t.csv").read_text() == text
    assert text.splitlines()[0].startswith("kernel,n,d,estimator,loss,error,low,high,improvement,improvement_low")
    assert "seconds" not in text
    lines = result.to_markdown().splitlines()
    assert len(lines) == 2 + 12 and lines[3].startswith("| gaussian | a\\|b | 5 | 2 |")
    summary = result.summary()
    for row in result.table.itertuples():
        assert f"{row.loss:.4g}" in summary and f"[{row.low:.4g}, {row.high:.4g}]" in summary
    assert "Design:        RandomMixture()" in summary and "6 per n and d, paired; seed 0" in summary
    assert repr(result) == (
        "RiskStudyResult(RandomMixture(), estimators=['kme', 'a|b', 'oracle'], kernels=['gaussian', 'linear'], "
        "n=[5, 6], d=[2], trials=6)"
    )


def test_the_plot_shows_improvements_and_their_intervals():
    result = run(estimators=["skmse", "fkmse"], kernels=["gaussian", "linear"], n=[5, 8], d=[2, 3])
    ax = result.plot(Figure().subplots(), kernel="linear", d=3)
    rows = result.table.query("kernel == 'linear' and d == 3 and estimator == 'fkmse'")
    curves = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    np.testing.assert_array_equal(curves["fkmse"], rows["improvement"])
    band = ax.collections[1].get_paths()[0].vertices[:, 1]
    assert band.min() == rows["improvement_low"].min() and band.max() == rows["improvement_high"].max()
    assert ax.get_title() == "linear kernel, d = 3, 6 data sets; bands: 95% intervals"
    assert ax.get_xlabel() == "sample size n" and "kme" in ax.get_ylabel()
    along_d = run(d=[2, 3]).plot(Figure().subplots())
    assert along_d.get_xlabel() == "dimension d" and "n = 6" in along_d.get_title()
    with pytest.raises(ValueError, match="kernel must be one of 'gaussian', 'linear'"):
        result.plot(kernel="rbf")
    with pytest.raises(ValueError, match="d=7 is not in the study, which has d = 2, 3"):
        result.plot(d=7)


# --- paths --------------------------------------------------------------------------------------------------

PATHS = {
    "skmse": ([0.0, 0.2], "alpha", SKMSE),
    "fkmse": ([0.1, np.float64(1.0)], "lam", FKMSE),
    "iterated_tikhonov": ([0.1, 1], "lam", None),
    "landweber": ([1, 5], "t", Landweber),
    "nu": ([1, 5], "t", None),
    "tsvd": ([1, 2], "m", None),
    "mkme": ([0.5, 2.0], "variance", MKME),
}


@pytest.mark.parametrize("name", PATHS)
def test_a_path_is_a_study_of_fixed_amounts(name):
    amounts, parameter, kind = PATHS[name]
    path = loss_path(name, amounts, n=6, d=2, n_trials=5, workers=1, progress=False)
    assert path.parameter == parameter and path.table["amount"].tolist() == amounts
    if kind is not None:
        alone = run(estimators={"it": kind(**{parameter: amounts[1]})}, n_trials=5)
        assert path.table["loss"][1] == alone.table.set_index("estimator").loc["it", "loss"]
    assert path.best == amounts[int(np.argmin(path.table["loss"]))]
    assert list(path.references.index) == ["kme", "oracle"]


@pytest.mark.parametrize(
    ("parameter", "amounts", "variances"),
    [
        (None, [0.0, 0.3, 5.0], lambda amount: (2.0 * amount, 0.5 * amount)),
        ("variances[0]", [0.0, 9.0], lambda amount: (amount, 0.5)),
        ("variances[1]", [0.0, 0.1, 30.0], lambda amount: (2.0, amount)),
    ],
)
def test_noise_by_coordinate_goes_by_multiples_or_one_by_one(parameter, amounts, variances):
    base = MMKME(variances=(2.0, 0.5))
    path = loss_path(base, amounts, parameter, n=6, d=2, n_trials=5, workers=1, progress=False)
    assert path.parameter == (parameter or "multiple")
    expected = np.zeros(len(amounts))
    for trial in range(5):
        streams = [np.random.default_rng(np.random.SeedSequence(0, spawn_key=(6, 2, trial, s))) for s in range(2)]
        mixture = RandomMixture().draw(streams[0], 2)
        points = mixture.sample(streams[1], 6)
        law = mixture.weights, mixture.means, mixture.covariances
        width = naive.median_width(points)
        expected += [naive.smoothed_loss(points, variances(a), width, law) / 5 for a in amounts]
    np.testing.assert_allclose(path.table["loss"], expected, rtol=1e-9)
    assert np.ptp(expected) > 1e-3 * expected[0]


def test_a_path_of_equal_variances_is_that_of_one_variance():
    run = {"n": 6, "d": 3, "n_trials": 5, "workers": 1, "progress": False}
    one = loss_path("mkme", [0.5, 4.0], **run)
    each = loss_path(MMKME(variances=(2.0, 2.0, 2.0)), [0.25, 2.0], **run)
    np.testing.assert_allclose(each.table["loss"], one.table["loss"], rtol=1e-12)
    ax = each.plot(Figure().subplots())
    assert ax.get_xlabel() == "multiple"
    assert ax.get_legend().get_texts()[0].get_text() == "MMKME(variances=(2.0, 2.0, 2.0)) at this multiple"


def test_the_best_amount_in_hindsight_is_that_of_every_data_set():
    path = loss_path("fkmse", [0.01, 0.1, 1.0, 10.0], n=6, d=2, n_trials=8, workers=1, progress=False)
    least = [min(rows["loss"]) for _, rows in path.study.losses[amount_rows(path)].groupby("trial")]
    found = path.hindsight()
    assert found["loss"] == pytest.approx(np.mean(least))
    assert found["improvement"] == pytest.approx(naive.improvement(least, losses(path.study, estimator="kme"))[0])
    assert found["loss"] <= path.table["loss"].min()
    assert repr(path) == "LossPath(FKMSE(), lam = 0.01 to 10, 4 amounts)"
    first, _, heads, _, *rows = path.summary().splitlines()
    assert first == repr(path) and heads.split() == ["lam", "loss", "low", "high", "improvement", "%"]
    assert [row.split()[:2] for row in rows[:4]] == [
        [f"{row.amount:.6g}", f"{row.loss:.4g}"] for row in path.table.itertuples()
    ]


def amount_rows(path):
    return path.study.losses["estimator"].str.startswith("lam = ")


def test_the_amount_of_the_plain_average_is_nothing():
    path = loss_path("skmse", [0.0, 0.5], n=6, d=2, n_trials=4, workers=1, progress=False)
    np.testing.assert_allclose(path.table["improvement"][0], 0.0, atol=1e-10)


def test_the_picture_of_a_path():
    amounts = [0.001, 0.1, 10.0, 1000.0]
    path = loss_path("fkmse", amounts, n=6, d=2, n_trials=4, workers=1, progress=False)
    ax = path.plot(Figure().subplots())
    np.testing.assert_array_equal(ax.get_lines()[0].get_ydata(), path.table["loss"])
    assert (ax.get_xscale(), ax.get_xlabel(), ax.get_ylabel()) == ("log", "lam", "mean loss")
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[0] == "FKMSE() at this lam" and labels[1].startswith("kme: ") and labels[-1].startswith("best: ")
    saved = path.plot(Figure().subplots(), relative=True)
    np.testing.assert_array_equal(saved.get_lines()[0].get_ydata(), path.table["improvement"])
    assert saved.get_yscale() == "linear" and saved.get_ylabel() == "risk saved, % of that of kme"
    steps = loss_path("landweber", [3, 1, 2], n=6, d=2, n_trials=4, workers=1, progress=False, oracle=False)
    curve = (ax := steps.plot(Figure().subplots())).get_lines()[0]
    assert ax.get_xscale() == "linear" and curve.get_xdata().tolist() == [1, 2, 3]  # whatever their order
    assert curve.get_ydata()[0] == steps.table["loss"][1]


# --- refusals -----------------------------------------------------------------------------------------------

REFUSED = {
    "design name": ({"design": "mixtures"}, ValueError, "Did you mean 'mixture'"),
    "design class": ({"design": RandomMixture}, TypeError, "must be a value, not the class"),
    "no design": ({"design": 3}, TypeError, "design must be 'mixture'"),
    "weights": ({"design": ([0.5, 0.6], *LAW[1:])}, ValueError, "weights must have sum 1"),
    "dimension": ({"design": LAW, "d": 3}, ValueError, "d=3 is not the dimension of the mixture, 2"),
    "function": ({"design": lambda rng, d: LAW, "d": 3}, ValueError, "was asked for d=3 and gave dimension 2"),
    "estimator": ({"estimators": "skmes"}, ValueError, "Did you mean 'skmse'"),
    "no estimator": ({"estimators": []}, ValueError, "estimators is empty"),
    "baseline": ({"estimators": {"kme": SKMSE()}}, ValueError, "the label 'kme' is that of the plain average"),
    "oracle": ({"estimators": {"oracle": SKMSE()}}, ValueError, "the label 'oracle' is that of the reference"),
    "kernel": ({"kernels": "cosine"}, ValueError, "kernels must be one of"),
    "no kernel": ({"kernels": []}, ValueError, "kernels is empty"),
    "empty dict": ({"kernels": {}}, ValueError, "kernels is empty"),
    "twice": ({"kernels": ["gaussian", Gaussian()]}, ValueError, "more than once"),
    "closed form": ({"kernels": Polynomial(4)}, ValueError, "has no closed form"),
    "function kernel": ({"kernels": lambda X, Y: X @ Y.T}, ValueError, "has no closed form"),
    "marginalised": ({"estimators": "mkme", "kernels": "linear"}, ValueError, "closed form for Gaussian kernels only"),
    "no n": ({"n": []}, ValueError, "n is empty"),
    "fractional": ({"n": [5.5]}, TypeError, "n must be an integer"),
    "d": ({"d": 0}, ValueError, "d must be an integer >= 1"),
    "trials": ({"n_trials": range(-2, 3)}, ValueError, "from 0 on"),
    "workers": ({"workers": 0}, ValueError, "workers"),
    "rng": ({"rng": "seed"}, TypeError, "rng must be"),
    "whether oracle": ({"oracle": "no"}, TypeError, "oracle must be True or False, got 'no'"),
    "one point": ({"n": 1}, ValueError, "at least 2 rows"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_makes_no_study_is_refused_before_anything_is_stored(case, tmp_path):
    arguments, kind, message = REFUSED[case]
    with pytest.raises(kind, match=message):
        run(**arguments, store=tmp_path / "study.sqlite")
    assert not list(tmp_path.iterdir())


def test_parameters_of_designs_are_checked():
    with pytest.raises(ValueError, match="wishart_scale must be a finite number > 0"):
        RandomMixture(wishart_scale=0.0)
    with pytest.raises(TypeError, match="diagonal must be True or False"):
        RandomMixture(diagonal=1)
    with pytest.raises(ValueError, match="mixture_seed must be an integer >= 0"):
        RandomMixture(mixture_seed=-1)
    assert repr(FixedMixture(LAW)) == repr(FixedMixture(NormalMixture(*LAW)))
    with pytest.raises(TypeError, match="mixture must be a NormalMixture or a triple"):
        FixedMixture(5)
    with pytest.raises(TypeError, match=r"function must be \(rng, d\) -> .*; found 5"):
        FromFunction(5)
    with pytest.raises(TypeError, match=r"is called with 2 arguments, \(rng, d\); found <lambda>\(rng\)"):
        FromFunction(lambda rng: LAW)


def test_comparisons_refuse_what_they_do_not_have():
    with pytest.raises(ValueError, match="a must be one of 'kme', 'closer', 'same'"):
        RESULT.compare("fkmse", "kme")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("kme", [1.0]), "has no single amount to follow; those with one: SKMSE, FKMSE"),
        ((lambda gram: np.full(len(gram), 0.1), [1.0]), "those with one: .*TSVD, MKME, MMKME"),
        (("mmkme", [1.0]), r"MMKME\(\) has no variances to follow; fix those that the path goes through"),
        ((MMKME(variances=(0.0, 0.0)), [1.0]), "not all 0"),
        (
            (MMKME(variances=(1.0, 2.0)), [1.0], "variances[2]"),
            r"one of 'multiple', 'variances\[0\]', 'variances\[1\]'",
        ),
        ((MMKME(variances=(1.0, 0.0)), [-1.0]), "amounts must be a finite number >= 0"),
        ((MMKME(variances=(1.0, 2.0)), [1.0]), "variances needs one value per coordinate: 30 expected, found 2"),
        (("fkmse", [0.1, 0.1]), "more than once"),
        (("fkmse", []), "amounts is empty"),
        (("fkmse", [0.1], "alpha"), "parameter must be one of 'lam', 'lam_cov'"),
        (("fkmse", [-1.0]), "lam must be"),
    ],
)
def test_what_makes_no_path_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        loss_path(*arguments, n_trials=1, workers=1, progress=False)


def test_bandwidths_of_many_points_do_not_depend_on_other_kernels():
    """From more than 2000 points the median is that of pairs drawn at random."""
    told = {"n": 2050, "d": 1, "n_trials": 1, "oracle": False, "workers": 1, "progress": False}
    design, kernels = RandomMixture(diagonal=True), ["gaussian", "laplacian"]
    alone, beside = (risk_study(design, "kme", some, **told).losses for some in ("laplacian", kernels))
    assert set(alone["kernel"]) < set(beside["kernel"])
    same = beside[beside["kernel"].isin(alone["kernel"])]
    assert alone["loss"].tolist() == same["loss"].tolist()


@pytest.mark.parametrize("more", [{"n": [5, 10]}, {"d": (2, 3)}, {"kernel": ["gaussian", "laplacian"]}], ids=str)
def test_a_path_is_of_one_setting(more):
    with pytest.raises(ValueError, match=f"{next(iter(more))} must be one, as a path is of one setting"):
        loss_path("skmse", [0.0, 0.5], **{"n": 5, "d": 2, **more}, n_trials=4, workers=1, progress=False)
