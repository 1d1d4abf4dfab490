"""Results read back from their JSON."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest

import shrinktest
from shrinktest import (
    FKMSE,
    AggregateResult,
    Gaussian,
    MultipleTestsResult,
    TestResult,
    TwoSampleResult,
    calibrate,
    change_points,
    compare,
    independence_matrix,
    independence_test,
    joint_independence_test,
    k_sample_test,
    permutation_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.estimators import ESTIMATORS
from shrinktest.permutations.null import Null
from shrinktest.results.conclude import conclude
from shrinktest.results.reading import SCHEMA

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(12, 2)), RNG.normal((0.9, 0.0), size=(9, 2))
PAIR = X[:, 0] ** 2 + 0.2 * RNG.normal(size=12)
TABLE = pd.DataFrame({"weight <kg>": np.concatenate([X, Y])[:, 0], "colour": list("abc") * 7})
FEW = {"n_resamples": 59, "rng": 0, "workers": 1}


def of_labels(labels):
    return float(labels[:3].sum())


MERSENNE = np.random.Generator(np.random.MT19937(5))  # whose state holds an array

SINGLE = {
    **{name: lambda name=name: two_sample_test(X, Y, estimator=name, **FEW) for name in ESTIMATORS},
    "k-sample": lambda: k_sample_test(X, Y, X + 1.0, estimator="skmse", **FEW),
    "independence": lambda: independence_test(X, PAIR, estimator="fkmse", **FEW),
    "joint": lambda: joint_independence_test(X[:, 0], X[:, 1], PAIR, **FEW),
    "own": lambda: permutation_test(of_labels, (10, 9), **{**FEW, "rng": MERSENNE}),
    "several bandwidths": lambda: two_sample_test(X, Y, kernel=Gaussian((0.5, 2.0)), **FEW),
    "no bandwidth": lambda: two_sample_test(X, Y, kernel="linear", **FEW),
    "pooled": lambda: two_sample_test(X, Y, kernel="whitened", scale="rank", **FEW),
    "tables": lambda: two_sample_test(TABLE[:12], TABLE[12:], **FEW),
    "named": lambda: independence_test(TABLE["weight <kg>"], TABLE["colour"], **FEW),
    "all": lambda: two_sample_test(X[:4], Y[:4], n_resamples=np.inf, alpha=0.1),
    "stopped": lambda: two_sample_test(X, X[:9] + 0.01, stopping="besag-clifford", n_resamples=199, rng=0),
    "curtailed": lambda: independence_test(X, PAIR, stopping="curtailed", n_resamples=199, rng=0),
    "restricted": lambda: two_sample_test(X[:9], Y, paired=True, **FEW),
    "none drawn": lambda: two_sample_test(X, Y, n_resamples=0),
    "missing": lambda: two_sample_test([1.0, np.nan], [2.0, 3.0], nan_policy="propagate"),
    "infinite amount": lambda: two_sample_test(X, Y, estimator=FKMSE(lam=np.inf), **FEW),
}
COMBINED = {
    "auto": lambda: two_sample_test(X, Y, estimator="auto", **FEW),
    "two kernels": lambda: independence_test(X, PAIR, bandwidth_x=["median", 2.0], **FEW),
    "all splits": lambda: two_sample_test(X[:4], Y[:4], estimator=["kme", "skmse"], n_resamples=np.inf, alpha=0.1),
    "none": lambda: two_sample_test(X, Y, estimator=["kme", "skmse"], n_resamples=0),
}
SEVERAL = {
    "columns": lambda: two_sample_test_columns(X, Y, **FEW),
    "auto": lambda: independence_matrix(X, PAIR, estimator="auto", **FEW),
    "two-stage": lambda: independence_matrix(X, PAIR, method="fdr_tsbh", **FEW),
    "none": lambda: two_sample_test_columns(X, Y, n_resamples=0),
}


def back(result, **options):
    """The result from its JSON, after the laws that hold for all."""
    text = result.to_json(**options)
    found = TestResult.from_json(text)
    assert type(found) is type(result) and found.to_json(**options) == text
    assert str(found.summary()) == str(result.summary()) and repr(found) == repr(result)
    assert found._repr_html_() == result._repr_html_()
    assert found == TestResult.from_json(text) == type(result).from_json(text.encode())
    assert pickle.loads(pickle.dumps(found)) == found
    return found


@pytest.mark.parametrize("name", SINGLE)
def test_a_result_comes_back_with_all_that_json_holds(name):
    result = SINGLE[name]()
    found = back(result)
    for one in ("statistic", "pvalue", "alpha", "tolerance"):
        np.testing.assert_array_equal(getattr(found, one), getattr(result, one))
    np.testing.assert_array_equal(found.null_distribution, result.null_distribution)
    same = ("test", "form", "tuning", "route", "restriction", "notes", "rng", "versions", "n_observations", "bandwidth")
    same += ("exact", "n_resamples", "n_planned", "stopped", "kind", "names", "columns")
    for one in same:
        assert getattr(found, one) == getattr(result, one), one
    assert [repr(found.estimator), repr(found.kernel)] == [repr(result.estimator), repr(result.kernel)]
    for alpha in (None, 0.01, 0.3):
        assert found.reject(alpha) == result.reject(alpha)
        np.testing.assert_array_equal(found.critical_value(alpha), result.critical_value(alpha))
    np.testing.assert_array_equal(found.pvalue_interval(0.9), result.pvalue_interval(0.9))
    for one, other in zip(found.estimates, result.estimates, strict=True):
        assert (one.n, one.shrinkage, one.norm2()) == (len(other.points), other.shrinkage, other.norm2())
    assert found.to_frame().equals(result.to_frame())


KINDS = pd.DataFrame(
    {
        "age": [31.0, np.nan, 45.0, 52.5, 28.0, 39.0, 61.0],
        "city": ["Rome", "Oslo", "Oslo", "Bonn", None, "Rome", "Oslo"],
        "size": list("SMLSMLM"),
        "seen": pd.date_range("2024-03-05", periods=7, freq="36h"),
        "active": [True, False, False, True, True, False, True],
    }
)


def test_json_says_how_every_column_was_read():
    types = {"size": ["S", "M", "L"]}
    result = two_sample_test(
        KINDS, KINDS[::-1], column_types=types, scale={"age": 10.0}, nan_policy="indicator", n_resamples=19, alpha=0.1
    )
    (read,) = json.loads(result.to_json())["encodings"]
    age, city, size, seen, active = read["columns"]
    assert [one["name"] for one in read["columns"]] == list(KINDS) and read["named"] is True
    assert [one["kind"] for one in read["columns"]] == ["number", "category", "ordered", "date", "boolean"]
    assert age["indicated"] is True and age["fill"] == 42.0 and age["units"][0] == 10.0
    assert age["features"] == ["age", "age is missing"]
    assert sorted(city["levels"]) == ["Bonn", "Oslo", "Rome"] and len(city["units"]) == 4
    assert size["levels"] == ["S", "M", "L"] and size["units"] == [KINDS["size"].map("SML".index).std(ddof=0)]
    assert seen["origin"].startswith("2024-03-05") and active["units"] == [1.0, 1.0]
    (encoding,), (known,) = back(result).encodings, result.encodings
    assert encoding == known and encoding.columns == known.columns
    np.testing.assert_array_equal(encoding.read(KINDS, "KINDS"), known.read(KINDS, "KINDS"))


def test_encodings_of_variables_of_arrays_and_of_ranks_come_back():
    named = back(SINGLE["named"]())
    assert named.encodings == SINGLE["named"]().encodings and len(named.encodings) == 2
    assert back(SINGLE["kme"]()).encodings == (None,)
    ranked = back(two_sample_test(TABLE[:12], TABLE[12:], scale="rank", **FEW))
    assert ranked.to_dict()["encodings"][0]["columns"][0]["units"] == ["rank"]
    with pytest.raises(ValueError, match="taken in the pooled sample, which the JSON"):
        ranked.encodings[0].read(TABLE, "TABLE")
    combined = back(two_sample_test(TABLE[:12], TABLE[12:], estimator=["kme", "skmse"], **FEW))
    assert [one.encodings for one in combined.members] == [combined.encodings] * 2
    old = json.loads(SINGLE["tables"]().to_json())
    del old["encodings"]  # as it was written before
    assert TestResult.from_json(json.dumps(old)).encodings == ()


def test_the_null_distribution_is_drawn_as_before():
    for result in (SINGLE["kme"](), SINGLE["curtailed"](), COMBINED["auto"]()):
        first, second = (one.plot_null() for one in (result, back(result)))
        assert [patch.get_height() for patch in first.patches] == [patch.get_height() for patch in second.patches]
        assert [text.get_text() for text in first.get_legend().get_texts()] == [
            text.get_text() for text in second.get_legend().get_texts()
        ]
        assert (first.get_title(), first.get_xlabel()) == (second.get_title(), second.get_xlabel())
        matplotlib.pyplot.close("all")


@pytest.mark.parametrize("name", COMBINED)
def test_a_combined_test_comes_back_with_its_members(name):
    result = COMBINED[name]()
    found = back(result)
    assert isinstance(found, AggregateResult) and found.decided == result.decided
    np.testing.assert_array_equal(found.adjusted, result.adjusted)
    assert found.table.equals(result.table)
    assert [member.weight for member in found.estimator.members] == [one.weight for one in result.estimator.members]
    for one, other in zip(found.members, result.members, strict=True):
        assert type(one) is type(other) and repr(one) == repr(other) and one.rng == other.rng
        np.testing.assert_array_equal(one.pvalue_interval(), other.pvalue_interval())  # from the p-value
        assert len(one.null_distribution) == len(other.null_distribution) and np.isnan(one.null_distribution).all()
        assert one.n_resamples == 0 or np.isnan(one.critical_value())
        assert one.n_resamples == 0 or "not known" in str(one.summary())
    if result.n_resamples:
        assert [one.exceedances for one in found.members] == [one.exceedances for one in result.members]
        with pytest.raises(ValueError, match="does not hold the null distributions of its members"):
            found.best.plot_null()
        assert len(found.plot().get_yticklabels()) == len(result.members)
        matplotlib.pyplot.close("all")


@pytest.mark.parametrize("name", SEVERAL)
def test_several_tests_come_back_without_their_null_distributions(name):
    result = SEVERAL[name]()
    found = back(result)
    assert isinstance(found, MultipleTestsResult) and found.table.equals(result.table)
    assert (found.keys, found.labels, found.rng, found.versions) == (
        result.keys,
        result.labels,
        result.rng,
        result.versions,
    )
    assert found.null_distributions.shape == result.null_distributions.shape
    for alpha in (None, 0.01, 0.4):
        np.testing.assert_array_equal(found.reject(alpha), result.reject(alpha))
    assert found.with_method("holm").table.equals(result.with_method("holm").table)
    if name != "none":
        with pytest.raises(ValueError, match="does not hold them"):
            found.with_method("westfall-young")
        assert found.plot().get_title() == result.plot().get_title()
        matplotlib.pyplot.close("all")


def test_numbers_that_json_does_not_know_come_back():
    null = Null(np.inf, np.array([0.5, -np.inf, np.inf, np.nan]), 0.0, False)
    with pytest.warns(UserWarning, match="above alpha"):
        result = conclude(null, test="own", alpha=0.05, n_observations=(4,))
    found = TestResult.from_json(result.to_json())
    assert found.statistic == np.inf and found.to_json() == result.to_json()
    np.testing.assert_array_equal(found.null_distribution, result.null_distribution)
    assert back(SINGLE["infinite amount"]()).estimates[0].shrinkage == np.inf


def test_options_of_json_do_not_matter():
    back(SINGLE["fkmse"](), indent=2, sort_keys=True)


def test_what_needs_the_data_says_why_it_cannot_be_had():
    found = back(SINGLE["fkmse"]())
    calls = (lambda: found.witness_band(X), found.contributions, found.plot_witness)
    for call in calls:
        with pytest.raises(ValueError, match="read from JSON, which does not hold the data"):
            call()
    combined = back(COMBINED["auto"]())
    for call in (lambda: found.witness(X), lambda: combined.witness(X), lambda: found.estimates[0].points):
        with pytest.raises(ValueError, match="read from JSON, which holds the size and the norm"):
            call()
    with pytest.raises(AttributeError, match=r"FKMSE\(\) was read from JSON, which holds its text and no 'fit'"):
        found.estimator.fit(X)
    with pytest.raises(ValueError, match="missing values"):
        back(SINGLE["missing"]()).witness(X)
    again = pickle.loads(pickle.dumps(found))
    with pytest.raises(ValueError, match="read from JSON"):  # and not: pickled without its data
        again.contributions()


def test_nothing_is_evaluated():
    entries = json.loads(SINGLE["fkmse"]().to_json())
    entries["estimator"] = "__import__('os').abort()"
    assert repr(TestResult.from_json(json.dumps(entries)).estimator) == entries["estimator"]


def test_the_class_that_reads_is_the_class_that_comes():
    text, combined, several = (made().to_json() for made in (SINGLE["kme"], COMBINED["auto"], SEVERAL["columns"]))
    assert type(TwoSampleResult.from_json(text)) is TwoSampleResult
    for kind, other, found in (
        (AggregateResult, text, "class TwoSampleResult, which is no AggregateResult"),
        (TwoSampleResult, combined, "class AggregateResult, which is no TwoSampleResult"),
        (MultipleTestsResult, text, "class TwoSampleResult, which is no MultipleTestsResult"),
        (TwoSampleResult, several, "class MultipleTestsResult, which is no TwoSampleResult"),
    ):
        with pytest.raises(ValueError, match=f"{found}; TestResult.from_json reads all"):
            kind.from_json(other)


def changed(**entries):
    return json.dumps({**json.loads(SINGLE["fkmse"]().to_json()), **entries})


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (None, TypeError, r"text must be what to_json\(\) returned; got None"),
        ({"pvalue": 0.5}, TypeError, r"\(dict\)"),
        ("result.json", ValueError, r"is no JSON .*read_text\(\)"),
        ("", ValueError, "is no JSON"),
        ("[1, 2]", ValueError, "no entries 'result' and 'schema'"),
        ('{"pvalue": 0.5}', ValueError, "no entries 'result' and 'schema'"),
        (changed(schema="1"), ValueError, "no entries 'result' and 'schema'"),
        (
            changed(schema=SCHEMA + 1, versions={"shrinktest": "9.1"}),
            ValueError,
            rf"later version of shrinktest \(9.1, layout {SCHEMA + 1}\); this is {shrinktest.__version__}",
        ),
        (changed(schema=SCHEMA + 1, versions=None), ValueError, "a later version of shrinktest"),
        (
            changed(result="WitnessBand"),
            ValueError,
            "the JSON of 'WitnessBand', and from_json reads AggregateChange",
        ),
        (changed(result=["TestResult"]), ValueError, "from_json reads"),
        (changed(n_resamples=58), ValueError, "incomplete or changed: .*59 entries for n_resamples=58"),
        (changed(statistic="large"), ValueError, "incomplete or changed: the entry 'statistic' must be of type float"),
        (changed(pvalue="abc"), ValueError, "the entry 'pvalue' must be of type float; got 'abc'"),
        (changed(pvalue=7), ValueError, "the entry 'pvalue' must lie between 0 and 1; got 7"),
        (changed(pvalue=True), ValueError, "the entry 'pvalue' must be of type float; got True"),
        (changed(alpha=None), ValueError, "the entry 'alpha' must be of type float; got None"),
        (changed(alpha=-0.1), ValueError, "the entry 'alpha' must lie between 0 and 1; got -0.1"),
        (changed(exact=1), ValueError, "the entry 'exact' must be of type bool; got 1"),
        (changed(test={"a": 1}), ValueError, "the entry 'test' must be of type str"),
        (
            changed(n_observations=[12, "9"]),
            ValueError,
            r"the entry 'n_observations' must be of type tuple\[int, ...\]",
        ),
        (changed(null_distribution=["x"] * 59), ValueError, "the entry 'null_distribution' must be of type np.ndarray"),
        (changed(columns=[["a", 3]]), ValueError, r"the entry 'columns' must be of type tuple\[tuple\[str"),
        (changed(rng=3), ValueError, "the entry 'rng' must be of type dict"),
        (changed(estimator=7), ValueError, "7 is no text that shows a kernel, an estimator or a rule"),
        (changed().replace('"pvalue"', '"value"'), ValueError, "there is no entry 'pvalue'"),
        (changed(estimates=None), ValueError, "incomplete or changed"),
        (changed(kernel=["a", "b"]), ValueError, "incomplete or changed"),
        (changed().replace('"form"', '"from"'), ValueError, "incomplete or changed: .*form"),
    ],
)
def test_what_is_no_result_is_refused(text, error, message):
    with pytest.raises(error, match=message):
        TestResult.from_json(text)


@pytest.mark.parametrize(
    ("made", "entries", "message"),
    [
        (COMBINED["auto"], {"decided": "1"}, "the entry 'decided' must be of type int"),
        (lambda: SINGLE["kme"]().effect(), {"auc_interval": 3}, "the entry 'auc_interval' must be of type Interval"),
        (lambda: shrinktest.change_point_test(X, **FEW), {"location": 0.5}, r"the entry 'location' .*int \| None"),
    ],
    ids=["combined", "effect", "change"],
)
def test_entries_of_other_results_are_looked_at(made, entries, message):
    text = json.dumps({**json.loads(made().to_json()), **entries})
    with pytest.raises(ValueError, match=message):
        TestResult.from_json(text)


def test_rows_of_several_tests_are_looked_at():
    read = json.loads(SEVERAL["columns"]().to_json())
    for pvalue, message in ((7, "'pvalues' must lie between 0 and 1; got 7"), ("a", "'a' is no number")):
        read["tests"][0]["pvalue"] = pvalue
        with pytest.raises(ValueError, match=message):
            TestResult.from_json(json.dumps(read))


def test_json_is_read_in_another_process():
    x = np.random.default_rng(0).normal(size=20)
    texts = [
        two_sample_test(x[:10], x[10:], rng=0, n_resamples=19).to_json(effect=True),
        shrinktest.change_point_test(x, rng=0, n_resamples=19).to_json(),
    ]
    code = "import sys, shrinktest; print(shrinktest.TestResult.from_json(sys.argv[1]).pvalue)"
    for text in texts:
        done = subprocess.run([sys.executable, "-c", code, text], capture_output=True, text=True, check=True)
        assert float(done.stdout) == TestResult.from_json(text).pvalue


def test_json_is_written_to_a_path(tmp_path):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 30, 2))
    few = {"n_resamples": 19, "alpha": 0.1, "rng": 0}
    found = {
        "test": two_sample_test(x, y, **few),
        "columns": two_sample_test_columns(x, y, **few),
        "changes": change_points(x, **few),
        "comparison": compare(x, y, **few),
        "effect": two_sample_test(x, y, **few).effect(),
        "calibration": calibrate(lambda x, y: 0.5, x, y, n_trials=20, workers=1),
    }
    for name, result in found.items():
        path = tmp_path / f"{name}.json"
        assert result.to_json(path, indent=1) == path.read_text(encoding="utf-8") == result.to_json(indent=1)
    again = TestResult.from_json((tmp_path / "columns.json").read_text(encoding="utf-8"))
    for result in (again, found["changes"], found["effect"]):
        pd.testing.assert_frame_equal(result.to_frame(), result.table)


def test_names_are_texts_whatever_they_spell():
    """ "inf" stands for a number where numbers are, and for itself where names are."""
    a, b, c = np.random.default_rng(0).normal(size=(3, 12))
    few = {"n_resamples": 19, "rng": 0}
    groups = shrinktest.k_sample_test({"inf": a, "-inf": b, "c": c}, **few)
    read = shrinktest.TestResult.from_json(groups.to_json())
    assert read.names == groups.names == ("inf", "-inf", "c") and str(read.summary()) == str(groups.summary())
    table = pd.DataFrame({"inf": a, "y": b})
    test = shrinktest.two_sample_test(table, table + 1.0, **few)
    assert shrinktest.TestResult.from_json(test.to_json()).columns == test.columns == (("inf", "y"),)
    infinite = shrinktest.two_sample_test(a, b, estimator=shrinktest.FKMSE(lam=np.inf), **few)
    assert shrinktest.TestResult.from_json(infinite.to_json()).estimates[0].shrinkage == infinite.estimates[0].shrinkage
