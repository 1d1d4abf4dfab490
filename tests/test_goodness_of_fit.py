"""Tests of simulated models: a naive twin, calibration, fitted parameters, columns, witness functions, faults."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, kstest

import naive_simulators as naive
from shrinktest import Candidate, Ensemble, Precomputed, goodness_of_fit_test, power_study
from shrinktest.cli import main

RNG = np.random.default_rng(11)
FEW = {"n_simulations": 19, "alpha": 0.2}


def normal(rng, n):
    return rng.normal(size=(n, 2))


def with_params(rng, n, params):
    mean, deviation = params
    return rng.normal(mean, deviation, size=(n, 2))


def moments(rows):
    return rows.mean(axis=0), rows.std(axis=0)


class Recorded:
    """A model that keeps what it has drawn."""

    def __init__(self, model):
        self.model = model
        self.drawn = []

    def __call__(self, rng, n, *params):
        rows = self.model(rng, n, *params)
        self.drawn.append(rows)
        return rows


def name_of(value):
    """Name of a case, the same in every process."""
    return value if isinstance(value, str) else ",".join(value)


@pytest.mark.parametrize("form", ["biased", "unbiased"])
def test_pvalues_agree_with_the_naive_twin(form):
    model = Recorded(normal)
    data = RNG.normal(0.6, 1.0, size=(7, 2))
    result = goodness_of_fit_test(data, model, n_reference=9, form=form, rng=0, **FEW)
    reference, _, *copies = model.drawn  # the second is drawn to see that they differ
    assert len(copies) == 19 and all(len(rows) == 7 for rows in copies)
    width = naive.median_distance(reference)
    assert result.bandwidth == pytest.approx(width)
    statistics = [
        naive.distance(rows, reference, width, unbiased=form == "unbiased")
        for rows in (data, *copies)
    ]
    assert result.statistic == pytest.approx(statistics[0])
    np.testing.assert_allclose(np.sort(result.null_distribution), np.sort(statistics[1:]))
    assert result.pvalue == naive.pvalue(statistics)


def test_fitted_models_agree_with_the_naive_twin():
    model = Recorded(with_params)
    data = RNG.normal(3.0, 2.0, size=(6, 2))
    options = {"fit": moments, "n_reference": 8, "form": "biased", "rng": 0}
    result = goodness_of_fit_test(data, model, **options, **FEW)
    reference, _, *others = model.drawn
    width = naive.median_distance(reference)
    statistics = [naive.distance(data, reference, width, unbiased=False)]
    for copy, own in zip(others[::2], others[1::2], strict=True):
        assert (len(copy), len(own)) == (6, 8)
        # the same random numbers, in units of another fit
        mean, deviation = moments(copy)
        expected = (reference - moments(data)[0]) / moments(data)[1] * deviation + mean
        np.testing.assert_allclose(own, expected)
        statistics.append(naive.distance(copy, own, width, unbiased=False))
    assert result.pvalue == naive.pvalue(statistics)
    np.testing.assert_allclose(np.sort(result.null_distribution), np.sort(statistics[1:]))
    assert "parametric-bootstrap" in [text.code for text in result.notes]


def walks(rng, n):
    """Rows that depend on each other."""
    return rng.standard_cauchy(size=(n, 2)).cumsum(axis=0)


CALIBRATED = [
    {},
    {"estimator": "skmse", "form": "biased"},
    {"estimator": "fkmse"},
    {"estimator": "mmkme"},
    {"bandwidth": ["median", "0.3 * median"]},
    {"gram": "rff", "rank": 6},
    {"kernel": "whitened", "n_reference": 12},
]


@pytest.mark.parametrize("model", [normal, walks])
@pytest.mark.parametrize("options", CALIBRATED, ids=name_of)
def test_pvalues_are_uniform_if_the_model_is_true(options, model):
    trials = 60
    options = {"n_reference": 20, "n_simulations": 4, "alpha": 0.2, **options}
    if options.get("kernel") == "whitened" and model is walks:
        options["scale"] = "rank"
    hits = 0
    for trial in range(trials):
        rng = np.random.default_rng([7, trial])
        hits += goodness_of_fit_test(model(rng, 8), model, rng=rng, **options).pvalue <= 0.2
    low, high = binom.ppf([5e-4, 1.0 - 5e-4], trials, 0.2)
    assert low <= hits <= high


@pytest.mark.ci
@pytest.mark.parametrize("estimator", ["kme", "fkmse", "tsvd", "mmkme"])
def test_level_is_exact(estimator):
    pvalues = []
    for trial in range(800):
        rng = np.random.default_rng([3, trial])
        data = walks(rng, 6)
        options = {"n_simulations": 9, "n_reference": 15, "alpha": 0.1}
        result = goodness_of_fit_test(data, walks, estimator=estimator, rng=rng, **options)
        pvalues.append(result.pvalue - 0.1 * rng.random())
    assert kstest(pvalues, "uniform").pvalue > 1e-3


def test_data_change_neither_the_reference_sample_nor_the_copies():
    first, second = (
        goodness_of_fit_test(rows, normal, estimator=["kme", "skmse"], rng=5, **FEW)
        for rows in (RNG.normal(size=(9, 2)), RNG.normal(4.0, 3.0, size=(9, 2)))
    )
    assert first.members[0].bandwidth == second.members[0].bandwidth
    for member, other in zip(first.members, second.members, strict=True):
        np.testing.assert_array_equal(member.null_distribution, other.null_distribution)


@pytest.mark.parametrize(
    "options",
    [
        {"estimator": "auto"},
        {"estimator": lambda gram: np.full(len(gram), 1.0 / len(gram))},
        {"estimator": ["kme", "tsvd"], "kernel": "laplacian"},
        {"estimator": Ensemble([Candidate("kme"), Candidate("skmse", "energy")])},
        {"estimator": "landweber", "bandwidth": 1.5},
        {"kernel": "linear"},
        {"kernel": "linear", "gram": "dense"},
        {"gram": "nystrom", "rank": 8, "scale": "sd"},
        {"scale": "rank"},
    ],
    ids=name_of,
)
def test_a_wrong_scale_is_found_by_every_statistic(options):
    data = np.random.default_rng(0).normal(1.5, 4.0, size=(30, 2))
    result = goodness_of_fit_test(data, normal, n_reference=60, rng=0, **options, **FEW)
    assert result.pvalue == 0.05
    again = goodness_of_fit_test(data, normal, n_reference=60, rng=0, workers=2, **options, **FEW)
    np.testing.assert_array_equal(result.null_distribution, again.null_distribution)


def test_routes_agree():
    data = RNG.normal(size=(12, 2))
    for estimator in ("kme", "skmse", "fkmse"):
        options = {"kernel": "linear", "estimator": estimator, "rng": 1, **FEW}
        dense, by_coordinates = (
            goodness_of_fit_test(data, normal, gram=gram, **options) for gram in ("dense", "auto")
        )
        assert (dense.route, by_coordinates.route) == ("dense", "factor")
        np.testing.assert_allclose(
            dense.null_distribution, by_coordinates.null_distribution, rtol=1e-6, atol=1e-9
        )


def test_stopping_keeps_the_pvalue_of_its_rule():
    data = RNG.normal(size=(10, 1))
    model = Recorded(lambda rng, n: rng.normal(size=n))
    result = goodness_of_fit_test(data, model, stopping="besag-clifford", rng=0)
    assert result.stopped and len(model.drawn) < 500 and result.exceedances == 20


def test_a_copy_is_drawn_once_for_all_statistics():
    model = Recorded(normal)
    data = RNG.normal(size=(10, 2))
    result = goodness_of_fit_test(data, model, estimator=["kme", "skmse", "tsvd"], rng=0, **FEW)
    assert len(model.drawn) == 2 + 19
    result.best.witness_band()
    assert len(model.drawn) == 2 + 19


def test_every_column_is_a_test_by_itself():
    data = np.column_stack([RNG.normal(size=25), RNG.normal(0.0, 3.0, size=25)])
    result = goodness_of_fit_test(data, normal, rng=4, **FEW)
    columns = result.columns(rng=4)
    assert columns.labels == (("x0",), ("x1",)) and columns.pvalues[1] == 0.05
    for j, model in enumerate(
        (lambda rng, n: normal(rng, n)[:, 0], lambda rng, n: normal(rng, n)[:, 1])
    ):
        alone = goodness_of_fit_test(data[:, j], model, rng=4, **FEW)
        assert alone.pvalue == columns.pvalues[j]
    combined = goodness_of_fit_test(data, normal, estimator="auto", rng=4, **FEW)
    assert len(combined.columns(method="holm", rng=4)) == 2
    with pytest.raises(ValueError, match="pickled without its model"):
        pickle.loads(pickle.dumps(result)).columns()


def test_tables_names_and_missing_values():
    frame = pd.DataFrame({"a": RNG.normal(size=20), "b": 50.0 * RNG.normal(size=20)})

    def model(rng, n):
        return pd.DataFrame({"b": 50.0 * rng.normal(size=n), "a": rng.normal(size=n), "c": 1.0})

    result = goodness_of_fit_test(frame, model, rng=0, **FEW)
    plain = goodness_of_fit_test(
        frame.to_numpy(), lambda rng, n: model(rng, n)[["a", "b"]].to_numpy(), scale="sd", rng=0, **FEW
    )  # fmt: skip
    assert result.pvalue == plain.pvalue
    assert [text.code for text in result.notes] == ["units-of-reference"]
    assert result.columns(rng=0).labels == (("a",), ("b",))
    assert result.contributions(n_repeats=2)["coordinate"].tolist() == ["a", "b"]
    fitted = goodness_of_fit_test(
        frame,
        lambda rng, n, deviations: rng.normal(size=(n, 2)) * deviations.to_numpy(),
        fit=lambda table: table.std(),
        rng=0,
        **FEW,
    )
    assert fitted.pvalue > 0.05
    gaps = frame.mask(frame["a"] > 1.0)
    omitted = goodness_of_fit_test(gaps, model, nan_policy="omit", rng=0, **FEW)
    assert omitted.n_observations == (len(gaps.dropna()),)
    with pytest.raises(ValueError, match="missing"):
        goodness_of_fit_test(gaps, model, rng=0, **FEW)


@pytest.mark.parametrize(
    ("estimator", "rows"),
    [
        ("kme", 200),
        ("auto", 200),
        (["kme", "skmse"], 200),
        ("fkmse", 12),
        (["kme", "tsvd"], 12),
        (Ensemble([Candidate("fkmse"), Candidate("kme", "energy")]), 12),
    ],
)
def test_reference_samples_are_large_unless_they_are_fitted_again(estimator, rows):
    data = RNG.normal(size=(12, 2))
    result = goodness_of_fit_test(data, normal, estimator=estimator, rng=0, **FEW)
    assert result.context.sizes == (12, rows)


def test_one_dimensional_data_stay_so_for_fits():
    shapes = []

    def fit(rows):
        shapes.append(rows.shape)
        return rows.mean()

    data = RNG.exponential(size=12)
    goodness_of_fit_test(data, lambda rng, n, m: rng.exponential(m, n), fit=fit, rng=0, **FEW)
    assert {*shapes} == {(12,)} and len(shapes) == 20


def test_the_witness_function_shows_where():
    data = np.abs(np.random.default_rng(1).normal(size=80))
    result = goodness_of_fit_test(data, lambda rng, n: rng.normal(size=n), n_simulations=99, rng=0)
    band = result.witness_band([[-1.0], [1.0]])
    assert band.outside.all() and band.values[0] < 0.0 < band.values[1]
    assert result.witness_band().points.shape == (256, 1)
    assert 0.6 < result.effect().auc < 1.0
    assert "Simulations:   99 (random)" in result.columns(rng=0).summary()
    ax = result.plot_witness()
    assert "X and model" in ax.get_title()
    combined = goodness_of_fit_test(
        data, lambda rng, n: rng.normal(size=n), estimator=["kme", "mmkme"], n_simulations=99, rng=0
    )
    assert combined.witness_band([[-1.0], [1.0]]).outside.all()


def test_bands_keep_their_level():
    outside = 0
    for trial in range(40):
        rng = np.random.default_rng([5, trial])
        options = {"n_simulations": 9, "alpha": 0.2, "n_reference": 20, "rng": rng}
        result = goodness_of_fit_test(normal(rng, 8), normal, **options)
        outside += result.witness_band(confidence=0.8).outside.any()
    assert binom.ppf(5e-4, 40, 0.2) <= outside <= binom.ppf(1.0 - 5e-4, 40, 0.2)


def test_power_studies_take_a_model():
    def design(rng, n):
        return rng.normal(0.5, 1.0, size=(n, 2)), normal(rng, 2)

    def fits(X, Y):
        return goodness_of_fit_test(X, normal, n_simulations=19, n_reference=30, rng=0).pvalue

    study = power_study(design, {"fits": fits}, 20, n_trials=10, workers=1, rng=0)
    assert 0.2 < study.table["power"].iloc[0] <= 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"simulate": 3}, "simulate must be a function"),
        ({"simulate": lambda rng: 0}, "simulate must be a function"),
        ({"simulate": normal, "fit": 3}, "simulate must be a function"),
        ({"simulate": with_params, "fit": 3}, "fit must be a function"),
        ({"simulate": lambda rng, n: np.zeros((n, 2))}, "drew the same rows twice"),
        ({"simulate": lambda rng, n: rng.normal(size=(n, 3))}, "finite numbers in 2 columns"),
        ({"simulate": lambda rng, n: rng.normal(size=(n, 2)) * np.inf}, "finite numbers"),
        ({"simulate": lambda rng, n: [["a", "b"]] * n}, "simulate must return rows of numbers"),
        ({"kernel": Precomputed(np.eye(9))}, "a Gram matrix has no values for simulated rows"),
        ({"gram": "factor"}, "gram='factor' holds for given rows only"),
        ({"nan_policy": "indicator"}, "nan_policy must be"),
        ({"n_simulations": -1}, "n_simulations must be"),
        ({"n_reference": 1}, "n_reference must be"),
        ({"estimator": "mmkme:tuning=joint"}, "estimator"),
    ],
    ids=name_of,
)
def test_faults_are_named(options, message):
    arguments = {"simulate": normal, **options}
    with pytest.raises((ValueError, TypeError), match=message):
        goodness_of_fit_test(RNG.normal(size=(9, 2)), **arguments)


# ------------------------------------------------------------------------------------------------ categories


def visits(rng, n):
    """A number that depends on the site, the site, and True or False."""
    site = rng.choice(["a", "b", "c"], n)
    x = rng.normal(size=n) + 4.0 * (site == "a")
    return pd.DataFrame({"x": x, "site": site, "new": rng.random(n) < 0.5})


def as_numbers(table, reference):
    """Numbers in standard deviations, and levels as corners that are the root of 2 apart."""
    levels = [*sorted(set(reference["site"])), None]
    site = [value if value in levels else None for value in table["site"]]
    columns = [table["x"] / reference["x"].std(ddof=0)]
    columns += [[float(value == level) for value in site] for level in levels]
    columns += [table["new"], ~table["new"]]
    return np.column_stack(columns).astype(float)


def test_mixed_tables_agree_with_the_naive_twin():
    model = Recorded(visits)
    data = visits(np.random.default_rng(0), 8)
    data.loc[:2, "site"] = ["zz", "yy", "zz"]  # that the model does not have
    result = goodness_of_fit_test(data, model, n_reference=9, form="biased", rng=0, **FEW)
    reference, _, *copies = model.drawn
    width = naive.median_distance(as_numbers(reference, reference))
    assert result.bandwidth == pytest.approx(width)
    statistics = [
        naive.distance(
            as_numbers(rows, reference), as_numbers(reference, reference), width, unbiased=False
        )
        for rows in (data, *copies)
    ]
    np.testing.assert_allclose(np.sort(result.null_distribution), np.sort(statistics[1:]))
    assert result.pvalue == naive.pvalue(statistics)


@pytest.mark.ci
def test_pvalues_of_mixed_tables_are_uniform_if_the_model_is_true():
    hits = 0
    for trial in range(60):
        rng = np.random.default_rng([8, trial])
        options = {"n_reference": 20, "n_simulations": 4, "alpha": 0.2, "rng": rng}
        hits += goodness_of_fit_test(visits(rng, 8), visits, **options).pvalue <= 0.2
    assert binom.ppf(5e-4, 60, 0.2) <= hits <= binom.ppf(1.0 - 5e-4, 60, 0.2)


def test_a_wrong_dependence_of_a_number_and_a_category_is_found_in_no_column():
    rng = np.random.default_rng(1)
    data = visits(rng, 100)
    data["site"] = rng.permutation(data["site"].to_numpy())
    result = goodness_of_fit_test(data, visits, n_simulations=99, rng=0)
    assert result.pvalue <= 0.05
    columns = result.columns(rng=0)
    assert columns.labels == (("x",), ("site",), ("new",)) and columns.pvalues.min() > 0.05
    assert result.contributions(n_repeats=2)["coordinate"].tolist() == ["x", "site", "new"]
    combined = goodness_of_fit_test(data, visits, estimator="auto", rng=0, **FEW)
    assert combined.pvalue <= 0.1


def test_the_order_of_rows_and_the_type_of_text_do_not_matter():
    data = visits(np.random.default_rng(2), 20)
    data.loc[:1, "site"] = "zz"
    expected = goodness_of_fit_test(data, visits, rng=0, **FEW)

    def categorical(rng, n):
        return visits(rng, n).astype({"site": "category"}).assign(more=1.0)

    for same in (data[::-1], data.astype({"site": "category"})):
        result = goodness_of_fit_test(same, categorical, rng=0, **FEW)
        np.testing.assert_allclose(result.null_distribution, expected.null_distribution)
        assert result.statistic == pytest.approx(expected.statistic)


def test_fits_get_tables_with_text():
    given = []

    def fit(table):
        given.append(table)
        return table["site"].value_counts(normalize=True)

    def drawn(rng, n, shares):
        return visits(rng, n).assign(site=rng.choice(shares.index, n, p=shares.to_numpy()))

    data = visits(np.random.default_rng(3), 30)
    result = goodness_of_fit_test(data, drawn, fit=fit, rng=0, **FEW)
    pd.testing.assert_frame_equal(given[0], data, check_dtype=False)
    assert given[0]["new"].dtype == bool and len(given) == 20 and result.pvalue > 0.05


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="site"), "a column of simulate must be"),
        (lambda t: t.assign(x=t["site"]), "column 'x' has categories, and numbers in X"),
        (lambda t: t.assign(site=t["site"].mask(t["x"] > 0.0)), "simulate drew .* missing value"),
        (lambda t: t.to_numpy(), "simulate must return a table with the columns of X"),
    ],
)
def test_faults_of_mixed_tables_are_named(change, message):
    data = visits(np.random.default_rng(4), 10)
    with pytest.raises((TypeError, ValueError), match=message):
        goodness_of_fit_test(data, lambda rng, n: change(visits(rng, n)), **FEW)


def test_dates_have_no_model():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": pd.date_range("2020-01-01", periods=3)})
    with pytest.raises(TypeError, match=r"column 'b' has dates.*drop it by column_types="):
        goodness_of_fit_test(frame, normal)


MODEL = """
def simulate(rng, n):
    return rng.normal(size=(n, 2))

def shifted(rng, n, mean):
    return mean + rng.normal(size=(n, 2))

def fit(table):
    return table.to_numpy().mean(axis=0)

def broken(rng, n):
    raise RuntimeError("no such thing")
"""


def test_the_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mymodel.py").write_text(MODEL)
    rows = np.random.default_rng(2).normal(1.0, 1.0, size=(30, 2))
    pd.DataFrame(rows, columns=["a", "b"]).to_csv("data.csv", index=False)
    words = ["fits", "data.csv", "mymodel:simulate", "--seed", "0", "--simulations", "19"]
    assert main([*words, "--json", "--scale", "none"]) == 0
    shown = json.loads(capsys.readouterr().out)
    expected = goodness_of_fit_test(rows, normal, n_simulations=19, rng=0)
    assert shown["pvalue"] == expected.pvalue and shown["test"] == "goodness-of-fit"
    assert main([*words, "--by-column", "--plot", "p.png", "--exit-code"]) == 1
    assert "2 columns" in capsys.readouterr().out
    assert main([*words, "--effect", "--witness", "w.png"]) == 0
    capsys.readouterr()
    fitted = ["fits", "data.csv", "mymodel:shifted", "--fit", "mymodel:fit", "--simulations", "19"]
    assert main([*fitted, "--seed", "0", "--fail-if", "pvalue < 0.06"]) == 0
    assert "parametric bootstrap" in " ".join(capsys.readouterr().out.split())
    for model, message in (
        ("mymodel", "must look like module:function"),
        ("mymodel:broken", "RuntimeError: no such thing"),
        ("nomodel:simulate", "ModuleNotFoundError"),
    ):
        assert main(["fits", "data.csv", model]) == 2
        assert message in capsys.readouterr().err
