"""risk_study: paired exact losses, means and intervals, stores, designs, reports, paths, and errors."""

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
from shrinktest.risk.risk_result import improvement

LAW = [0.4, 0.6], [[0.0, 1.0], [2.0, -1.0]], [np.eye(2), [[1.0, 0.5], [0.5, 2.0]]]
FEW = {"n_trials": 6, "workers": 1, "rng": 0}


def run(design="mixture", estimators="skmse", kernels="gaussian", n=6, d=2, **options):
    """A study of a second or less."""
    return risk_study(design, estimators, kernels, n, d, **{**FEW, **options})


def losses(result, **where):
    """Losses of the estimates with these entries."""
    frame = result.losses
    for name, value in where.items():
        frame = frame[frame[name] == value]
    return frame["loss"].tolist()


def made(table):
    """A result of given losses: {label: losses}, the first that of the plain average."""
    kernel = repr(Gaussian())
    rows = [
        (5, 2, i, kernel, label, x, 0.5)
        for label, values in table.items()
        for i, x in enumerate(values)
    ]
    study = {"design": RandomMixture(), "kernels": {"gaussian": Gaussian()}, "seed": 0}
    return RiskStudyResult.from_rows(rows, estimators={label: KME() for label in table}, **study)


def streams(n, d, trial, seed=0):
    return [
        np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(n, d, trial, s)))
        for s in range(2)
    ]


def test_a_loss_is_that_of_the_estimate_on_the_streams_of_its_trial():
    estimators = [KME(), SKMSE(), FKMSE(loo="paper"), MKME(), MMKME(), Landweber()]
    labeled = {repr(estimator): estimator for estimator in estimators}
    result = run(estimators=labeled, n=7, d=3, rng=5, n_trials=range(2, 4))
    for trial in (2, 3):
        first, second = streams(7, 3, trial, seed=5)
        mixture = RandomMixture().draw(first, 3)
        points = mixture.sample(second, 7)
        for estimator in estimators:
            fitted = estimator.fit(points)
            truth = true_embedding(mixture, fitted.kernel)
            assert losses(result, trial=trial, estimator=repr(estimator)) == [loss(fitted, truth)]
        best = loss(SKMSE(alpha=oracle_shrinkage(truth, 7).alpha).fit(points), truth)
        assert losses(result, trial=trial, estimator="oracle") == [pytest.approx(best, rel=1e-12)]


@pytest.mark.ci
def test_what_else_is_in_a_study_and_workers_change_nothing():
    options = {
        "estimators": ["fkmse", "skmse"],
        "kernels": ["linear", "gaussian"],
        "n": [6, 9],
        "d": [3, 2],
    }
    many, two = run(**options, oracle=False), run(**options, oracle=False, workers=2)
    assert many.to_csv() == two.to_csv() and list(many.estimators) == ["kme", "fkmse", "skmse"]
    alone = run()
    assert losses(many, estimator="skmse", kernel="gaussian", n=6, d=2) == losses(
        alone, estimator="skmse"
    )
    assert len(set(losses(many, estimator="kme"))) == 6 * 2 * 4
    assert not set(losses(run(rng=1))) & set(losses(alone)) and list(alone.estimators) == [
        "kme",
        "skmse",
        "oracle",
    ]
    large = {**FEW, "n": 2050, "d": 1, "n_trials": 1, "oracle": False}  # medians of random pairs
    alone, both = (
        risk_study(RandomMixture(diagonal=True), "kme", kernels, **large).losses.set_index(
            "kernel"
        )["loss"]
        for kernels in ("laplacian", ["gaussian", "laplacian"])
    )
    assert alone.tolist() == both.loc[alone.index].tolist()


class Counted:
    """A design that counts its mixtures."""

    def __init__(self, stop=np.inf):
        self.calls, self.stop = 0, stop
        self.__qualname__ = "counted"

    def __call__(self, rng, d):
        self.calls += 1
        if self.calls > self.stop:
            raise KeyboardInterrupt
        return LAW


def test_stores_resume_extend_and_refuse_other_studies(tmp_path):
    path = tmp_path / "study.sqlite"
    with pytest.raises(KeyboardInterrupt):
        run(Counted(stop=5), n_trials=8, store=path)
    again = Counted()
    assert (
        run(again, n_trials=8, store=path).to_csv() == run(Counted(), n_trials=8).to_csv()
        and again.calls == 1 + 4
    )
    for extension, new in (
        ({"n_trials": 9}, 1),
        ({"estimators": ["skmse", "fkmse"]}, 6),
        ({"kernels": ["gaussian", "linear"]}, 6),
        ({"n": [6, 8]}, 6),
        ({"kernels": {"another name": "gaussian"}}, 0),
    ):
        design = Counted()
        result = run(design, store=path, **extension)
        assert design.calls == 1 + new and result.to_csv() == run(Counted(), **extension).to_csv()
    assert run(Counted(), rng=None, store=path).seed == 0 != run(rng=None).seed
    fixed = tmp_path / "fixed.sqlite"
    run(LAW, store=fixed)
    other = LAW[0], LAW[1], [np.eye(2)] * 2
    for arguments, difference in (
        ({"rng": 4}, "seed: stored 0, got 4"),
        (
            {"design": RandomMixture()},
            r"design: stored NormalMixture\(2 .*\), got RandomMixture\(\)",
        ),
        ({"design": other}, "design has other values"),
        (
            {"estimators": {"skmse": SKMSE(rule="plugin")}},
            r"estimator 'skmse': stored SKMSE\(\), got SKMSE\(rule=",
        ),
    ):
        with pytest.raises(ValueError, match=f"fixed.sqlite is of another study: {difference}"):
            run(store=fixed, **{"design": LAW, **arguments})
    with pytest.raises(ValueError, match="is not the store of a power study"):
        power_study("mean-shift", "kme", 8, n_resamples=19, store=path, **FEW)


def test_merged_shards_are_the_whole_study(tmp_path):
    shards, path = [tmp_path / f"{i}.sqlite" for i in range(2)], tmp_path / "all.sqlite"
    for shard, trials in zip(shards, (range(4), range(3, 6)), strict=True):
        run(store=shard, n_trials=trials)
    merge(path, *shards)
    assert run(store=path).to_csv() == run().to_csv()
    with closing(sqlite3.connect(shards[1])) as connection, connection:
        connection.execute("UPDATE trials SET loss = 0.25 WHERE trial = 3 AND estimator = 'kme'")
    with pytest.raises(
        ValueError,
        match=r"loss 0.25, stored .*, for n=6, d=2, trial=3, kernel=Gaussian\(.*\), estimator=kme",
    ):
        merge(path, *shards)


rng = np.random.default_rng(3)
BASE = rng.gamma(3.0, size=40)
CLOSER = 0.8 * BASE + rng.gamma(1.0, size=40) * 0.1
RESULT = made({"kme": BASE, "closer": CLOSER, "same": BASE})


def test_means_improvements_and_their_intervals():
    row = RESULT.table.set_index("estimator").loc["closer"]
    assert row["loss"] == pytest.approx(CLOSER.mean()) and (row["trials"], row["seconds"]) == (
        40,
        0.5,
    )
    assert (row["low"], row["high"]) == pytest.approx(
        tuple(ttest_1samp(CLOSER, 0.0).confidence_interval(0.95))
    )
    saved, error = naive.improvement(CLOSER, BASE)  # by the jackknife, up to terms of order 1/n
    assert row["improvement"] == pytest.approx(saved)
    reach = t.ppf(0.975, 39) * error
    assert (row["improvement_low"], row["improvement_high"]) == pytest.approx(
        (saved - reach, saved + reach), rel=0.02
    )
    for label in ("kme", "same"):
        row = RESULT.table.set_index("estimator").loc[label]
        np.testing.assert_allclose(
            row[["improvement", "improvement_low", "improvement_high"]].astype(float),
            0.0,
            atol=1e-12,
        )
        compared = RESULT.difference(label, "kme").iloc[0]
        assert (compared["difference"], compared["pvalue"], compared["better"]) == (0.0, 1.0, 0.0)
    assert np.isnan(improvement(np.ones(3), np.zeros(3))).all()
    single = run(n_trials=1)
    assert (
        single.table[["error", "low", "improvement_high"]].isna().to_numpy().all()
        and "nan" not in single.summary()
    )


@pytest.mark.ci
def test_the_interval_of_an_improvement_covers():
    rng, covered = np.random.default_rng(8), 0
    for _ in range(2000):
        base = rng.gamma(2.0, size=60)
        _, low, high = improvement(0.5 * base + rng.gamma(2.0, 0.2, size=60), base)
        covered += low <= 30.0 <= high  # the means are 1 + .4 and 2
    assert 0.92 < covered / 2000 < 0.97


def test_comparisons_are_paired_t_tests():
    many = run(estimators=["skmse", "fkmse"], n=[5, 8], n_trials=12)
    table = many.difference("fkmse", "skmse")
    for row in table.itertuples():
        a, b = (
            np.array(losses(many, estimator=label, n=row.n, d=row.d))
            for label in ("fkmse", "skmse")
        )
        paired = ttest_rel(a, b)
        assert row.pvalue == pytest.approx(paired.pvalue)
        assert (row.low, row.high) == pytest.approx(tuple(paired.confidence_interval(0.95)))
        assert (row.loss_a, row.loss_b, row.better) == pytest.approx(
            (a.mean(), b.mean(), (a < b).mean())
        )
        assert row.improvement == pytest.approx(naive.improvement(a, b)[0])
    np.testing.assert_allclose(table["p_holm"], multipletests(table["pvalue"], method="holm")[1])


def test_the_oracle_saves_most_among_simple_shrinkage():
    fixed = {f"alpha {a}": SKMSE(alpha=a) for a in (0.05, 0.2)}
    table = run(LAW, fixed, Gaussian(2.0), n=8, n_trials=300).table.set_index("estimator")
    risk = oracle_shrinkage(true_embedding(LAW, Gaussian(2.0)), 8).risk
    assert abs(table.loc["oracle", "loss"] - risk) < 4 * table.loc["oracle", "error"]
    assert table.loc["oracle", "improvement"] > max(0.0, *table.loc[list(fixed), "improvement_low"])


def test_designs():
    drawn = [
        RandomMixture(wishart_scale=3.0).draw(np.random.default_rng(i), 30) for i in range(200)
    ]
    np.testing.assert_array_equal(drawn[0].weights, [0.05, 0.3, 0.4, 0.25])
    traces = [np.trace(covariance) for mixture in drawn for covariance in mixture.covariances]
    assert np.mean(traces) / 30 == pytest.approx(21.2, rel=0.01)
    means = np.concatenate([mixture.means.ravel() for mixture in drawn])
    assert np.abs(means).max() < 10.0 and means.var() == pytest.approx(100.0 / 3.0, rel=0.02)
    whole, diagonal = (
        RandomMixture(diagonal=flag).draw(np.random.default_rng(1), 4) for flag in (False, True)
    )
    np.testing.assert_array_equal(diagonal.covariances, whole.covariances * np.eye(4))
    first, second = (
        RandomMixture(mixture_seed=4).draw(np.random.default_rng(i), 3) for i in range(2)
    )
    np.testing.assert_array_equal(first.covariances, second.covariances)
    value = NormalMixture(*LAW)
    same = [run(design).to_csv() for design in (LAW, list(LAW), value, lambda rng, d: LAW)]
    assert len(set(same)) == 1
    other = NormalMixture(LAW[0], LAW[1], [np.eye(2), np.eye(2)])
    assert other.identity() != value.identity() == NormalMixture(*LAW).identity()
    assert repr(FromFunction(run)) == "FromFunction(run)" and len(
        run(RandomMixture(diagonal=True), kernels="laplacian").table
    )


def test_reports_hold_the_same_numbers(tmp_path):
    result = run(estimators={"a|b": SKMSE()}, kernels=["gaussian", "linear"], n=[5, 6])
    assert (
        result.to_csv(tmp_path / "t.csv") is None
        and (tmp_path / "t.csv").read_text() == result.to_csv()
    )
    summary = result.summary()
    assert all(
        f"{row.loss:.4g}" in summary and f"[{row.low:.4g}, {row.high:.4g}]" in summary
        for row in result.table.itertuples()
    )
    assert (
        "Design:        RandomMixture()" in summary and "6 per n and d, paired; seed 0" in summary
    )
    assert repr(result).startswith(
        "RiskStudyResult(RandomMixture(), estimators=['kme', 'a|b', 'oracle'], kernels=['g"
    )
    ax = run(estimators=["skmse", "fkmse"], n=[5, 8], d=[2, 3]).plot(Figure().subplots(), d=3)
    assert ax.get_title() == "gaussian kernel, d = 3, 6 data sets; bands: 95% intervals"
    assert {line.get_label() for line in ax.get_lines()} >= {"skmse", "fkmse", "oracle"}
    assert run(d=[2, 3]).plot(Figure().subplots()).get_xlabel() == "dimension d"


def test_a_path_is_a_study_of_fixed_amounts():
    for name, amounts, parameter, kind in (
        ("skmse", [0.0, 0.2], "alpha", SKMSE),
        ("fkmse", [0.1, np.float64(1.0)], "lam", FKMSE),
        ("iterated_tikhonov", [0.1, 1], "lam", None),
        ("landweber", [1, 5], "t", Landweber),
        ("nu", [1, 5], "t", None),
        ("tsvd", [1, 2], "m", None),
        ("mkme", [0.5, 2.0], "variance", MKME),
    ):
        path = loss_path(name, amounts, n=6, d=2, **FEW)
        assert path.parameter == parameter and path.table["amount"].tolist() == amounts
        if kind is not None:
            alone = run(estimators={"it": kind(**{parameter: amounts[1]})}).table.set_index(
                "estimator"
            )
            assert path.table["loss"][1] == alone.loc["it", "loss"]
        assert path.best == amounts[int(np.argmin(path.table["loss"]))]
        assert list(path.references.index) == ["kme", "oracle"]


def test_noise_by_coordinate_goes_by_multiples():
    amounts = [0.0, 0.3, 5.0]
    path = loss_path(MMKME(variances=(2.0, 0.5)), amounts, n=6, d=2, **FEW)
    expected = np.zeros(len(amounts))
    for trial in range(6):
        first, second = streams(6, 2, trial)
        mixture = RandomMixture().draw(first, 2)
        points, law = (
            mixture.sample(second, 6),
            (mixture.weights, mixture.means, mixture.covariances),
        )
        width = naive.median_width(points)
        expected += [
            naive.smoothed_loss(points, (2.0 * a, 0.5 * a), width, law) / 6 for a in amounts
        ]
    np.testing.assert_allclose(path.table["loss"], expected, rtol=1e-9)
    assert path.parameter == "multiple" and np.ptp(expected) > 1e-3 * expected[0]


@pytest.mark.parametrize(
    ("arguments", "error", "named"),
    [
        ({"design": "mixtures"}, ValueError, "Did you mean 'mixture'"),
        ({"design": ([0.5, 0.6], *LAW[1:])}, ValueError, "weights"),
        ({"design": LAW, "d": 3}, ValueError, "d=3"),
        ({"design": lambda rng, d: LAW, "d": 3}, ValueError, "d=3"),
        ({"design": lambda rng: LAW}, TypeError, r"\(rng, d\)"),
        ({"estimators": "skmes"}, ValueError, "Did you mean 'skmse'"),
        ({"estimators": {"kme": SKMSE()}}, ValueError, "'kme'"),
        ({"estimators": {"oracle": SKMSE()}}, ValueError, "'oracle'"),
        ({"estimators": "mkme", "kernels": "linear"}, ValueError, "Gaussian kernels only"),
        ({"kernels": "triangle"}, ValueError, "kernels"),
        ({"kernels": Polynomial(4)}, ValueError, "no closed form"),
        ({"kernels": Laplacian()}, ValueError, "diagonal"),
        ({"n": 1}, ValueError, "2 rows"),
    ],
)
def test_errors_name_the_argument_before_anything_is_stored(arguments, error, named, tmp_path):
    with pytest.raises(error, match=named):
        run(**arguments, store=tmp_path / "study.sqlite")
    assert not list(tmp_path.iterdir())


def test_no_amount_beats_hindsight():
    path = loss_path("skmse", [0.1, 0.5], n=6, d=2, **FEW)
    best = path.hindsight()
    each = path.study.losses.pivot(index="trial", columns="estimator", values="loss")
    least = each[[label for label in each if "alpha" in label]].min(axis=1)
    assert best["loss"] == pytest.approx(least.mean()) and best["trials"] == FEW["n_trials"]
    assert best["loss"] <= path.table["loss"].min()
    assert best["improvement_low"] <= best["improvement"] <= best["improvement_high"]
