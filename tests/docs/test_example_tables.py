"""What the studies of the applications share: data, splits, and paired comparisons."""

from __future__ import annotations

import re
from argparse import Namespace

import _tables
import density_nll
import filter_rates
import numpy as np
import pandas as pd
import paper_figures
import pytest
from matplotlib.figure import Figure
from scipy import stats

SHAPES = {
    **{"glass": (214, 9), "wine": (178, 13), "ionosphere": (351, 33), "wdbc": (569, 30), "sonar": (208, 60)},
    **{"australian": (690, 14), "specft": (267, 44), "satimage": (6435, 36), "segment": (2310, 18)},
    **{"vehicle": (846, 18), "vowel": (990, 10), "abalone": (4177, 7), "australian, continuous": (690, 6)},
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_data_are_those_of_the_papers(name):
    values = _tables.load(name)
    assert values.shape == SHAPES[name] and np.isfinite(values).all()
    if name == "australian, continuous":
        whole = _tables.load("australian")
        assert all(len(np.unique(column)) > 20 for column in values.T)
        assert {tuple(column) for column in values.T} < {tuple(column) for column in whole.T}


def test_every_data_set_of_the_densities_has_its_source():
    sources = (_tables.DATA / "SOURCES.md").read_text(encoding="utf-8")
    assert {*density_nll.DATA} == {name for name in SHAPES if "," not in name} | {*_tables.ELSEWHERE}
    here = {path.name for path in _tables.DATA.glob("*.csv*")}
    assert here == {name for name in re.findall(r"(?m)^\| `([\w.]+)` \|", sources)} - {
        f"{name}.csv" for name in _tables.ELSEWHERE
    }
    assert all(f"`{name}.csv`" in sources for name in _tables.ELSEWHERE)


def test_data_that_are_elsewhere(tmp_path):
    """Without their folder it is said what is missing and how to get it; with it they are read."""
    absent = _tables.missing(density_nll.DATA, None)
    assert list(absent) == [name for name in density_nll.DATA if name in _tables.ELSEWHERE]
    assert "--data" in absent["bodyfat"] and "StatLib" in absent["bodyfat"] and "bodyfat.csv" in absent["bodyfat"]
    with pytest.raises(FileNotFoundError, match=r"housing is not part of the project.*--data"):
        _tables.load("housing", tmp_path)
    (tmp_path / "bodyfat.csv").write_text("1,5,2,9\n2,5,2.5,8\n4,5,7,7\n", encoding="utf-8")
    assert list(_tables.missing(["glass", "bodyfat", "housing"], tmp_path)) == ["housing"]
    np.testing.assert_array_equal(_tables.load("bodyfat", tmp_path), [[1.0, 2.0], [2.0, 2.5], [4.0, 7.0]])


def test_splits_are_in_units_of_the_first_part():
    values = np.column_stack([np.arange(10.0), np.r_[np.zeros(9), 1.0]])
    rng = np.random.default_rng(3)
    first, second = _tables.split(values, 6, rng)
    assert len(first) == 6 and len(second) == 4
    np.testing.assert_allclose(first.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(first.std(axis=0), 1.0)
    # all rows are there, on one line
    both = np.concatenate([first[:, 0], second[:, 0]])
    np.testing.assert_allclose(np.diff(np.sort(both)), np.ptp(both) / 9)


def test_paired_differences():
    rng = np.random.default_rng(0)
    base, other = rng.normal(size=12), rng.normal(size=12) + 0.8
    frame = pd.DataFrame(
        {"data": "a", "estimator": label, "repetition": r, "value": values[r]}
        for label, values in {"kme": base, "other": other, "same": base * (1 + 1e-14)}.items()
        for r in range(12)
    )
    table = _tables.paired(frame, ["data"], "value").set_index("estimator")
    test = stats.ttest_1samp(other - base, 0.0)
    interval = test.confidence_interval(0.95)
    row = table.loc["other"]
    assert row["difference"] == pytest.approx(np.mean(other - base))
    assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high))
    assert row["pvalue"] == pytest.approx(stats.binomtest(int(np.sum(other > base)), 12).pvalue)
    assert (row["lower"], row["higher"]) == (np.sum(other < base), np.sum(other > base))
    assert tuple(table.loc["same", ["difference", "lower", "higher", "pvalue"]]) == (0.0, 0, 0, 1.0)
    both = pd.concat([table.reset_index().assign(data=name) for name in ("z", "a")])
    assert _tables.cells(both, ["data"])["data"].tolist() == ["z", "a"]  # in the order given
    cell = _tables.cells(table.reset_index(), ["data"], places=2)["other"][0]
    assert cell.startswith(f"{row['difference']:+.2f} [{row['low']:+.2f}, {row['high']:+.2f}]")
    assert cell.endswith("*") == (row["pvalue"] < 0.05)


def test_a_tally_counts_intervals_on_either_side():
    cells = {"low": [-3.0, -1.0, 0.5], "difference": [-2.0, 0.0, 1.0], "high": [-1.0, 1.0, 1.5]}
    frame = pd.concat([pd.DataFrame(cells).assign(estimator="a"), pd.DataFrame(cells)[:1].assign(estimator="b")])
    down, up = (_tables.tally(frame, better).set_index("estimator") for better in (-1, 1))
    names = ["comparisons", "better", "worse", "undecided"]
    assert down.loc["a", names].tolist() == up.loc["a", names].tolist() == [3, 1, 1, 1]
    assert down.loc["b", names].tolist() == [1, 1, 0, 0] and up.loc["b", names].tolist() == [1, 0, 1, 0]
    assert down.loc["a", "differences"] == "-2.00 to +1.00"


def test_dots_show_differences_where_they_belong():
    frame = pd.DataFrame(
        {"estimator": estimator, "data": data, "difference": d, "low": d - 0.1, "high": d + 0.1}
        for estimator, data, d in [("a", "x", 1.0), ("a", "y", 2.0), ("b", "y", -2.0), ("b", "x", -1.0)]
    )
    ax = Figure().subplots()
    _tables.dots(ax, frame, "data", pd.Series({"x": "10 %", "y": "20 %"}))
    first, second = (container.lines[0] for container in ax.containers)
    assert first.get_ydata().tolist() == [1.0, 2.0] and second.get_ydata().tolist() == [-1.0, -2.0]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["x\n(kme: 10 %)", "y\n(kme: 20 %)"]
    assert (np.round(first.get_xdata()) == np.round(second.get_xdata())).all()


def test_agreement_with_what_is_published():
    """A printed sign is found again, or its opposite, where our interval excludes 0; so for the sign test."""
    rows = [  # low, high, lower, higher, p, printed
        (-0.9, -0.4, 9, 1, 0.02, -0.5),
        (-2.0, -1.0, 9, 1, 0.02, +0.2),
        (0.1, 0.3, 4, 6, 0.75, -1.0),
        (-0.5, 0.5, 1, 9, 0.02, -0.1),
    ]
    frame = pd.DataFrame(rows, columns=["low", "high", "lower", "higher", "pvalue", "there"])
    frame = frame.assign(difference=(frame["low"] + frame["high"]) / 2, estimator="a")
    (row,) = density_nll.agreement(frame, ["estimator"]).to_dict("records")
    assert row == {
        **{"estimator": "a", "compared": 4, "printed as better": 3, "agree": 1, "oppose": 2, "undecided": 1},
        **{"sign test agrees": 1, "sign test opposes": 2},
    }


def test_printed_tables_have_our_names():
    paper = density_nll.printed("M14_table1_density_nll").set_index(["kernel", "data", "estimator"])["there"]
    assert paper["gaussian", "glass", "fkmse"] == paper["gaussian", "glass", "fkmse, paper"]
    assert paper["poly3", "abalone", "skmse"] == pytest.approx(23.2487 - 20.6071)
    assert set(paper.index.get_level_values("data")) == set(density_nll.DATA)
    assert set(density_nll.printed("S14_table2_density_nll")["data"]) < set(density_nll.DATA)
    other = set(density_nll.printed("X20_table3_density_nll")["data"])
    assert density_nll.CONTINUOUS in other and len(other & {*density_nll.DATA}) == 9


def test_a_split_is_the_same_for_all(tmp_path):
    """Kernels and estimators see the same rows and the same start, together or one by one."""
    args = {**density_nll.CONSTANTS, "rows": 60, "components": 2}
    whole = density_nll.trial(args, ["linear", "gaussian"], density_nll.BOTH, "glass", None, 1)
    assert [row["estimator"] for row in whole] == 2 * list(density_nll.BOTH)
    alone = density_nll.trial(args, ["gaussian"], {"skmse": "skmse", "mkme": "mkme"}, "glass", None, 1)
    assert alone[0] == whole[5]
    parts = {**args, "units": "training part"}
    rows = density_nll.trial(parts, ["linear"], density_nll.BOTH, "glass", None, 1)
    assert np.ptp([row["nll"] for row in rows]) < 1e-6  # the mean is 0: there is nothing to shrink


def _trial(factor, repetition):
    return [{"repetition": repetition, "value": factor * repetition}]


def test_repetitions_are_kept(tmp_path):
    args = Namespace(trials=3, workers=1, store=tmp_path / "store")
    for _ in range(2):
        assert _tables.repeat(args, _trial, 2.0)["value"].tolist() == [0.0, 2.0, 4.0]
    assert len(list(args.store.rglob("output.pkl"))) == 3


def test_slopes_of_rates():
    """Of powers of n they are the powers, and the interval is that of the errors."""
    sizes = np.array([10, 20, 40, 80, 160])
    frame = pd.concat(
        pd.DataFrame({"kernel": "gaussian", "n": sizes, "estimator": name, "loss": 3.0 * sizes**power})
        for name, power in (("kme", -1.0), ("fkmse, 0.25", -0.5), ("fkmse, tuned", -1.0))
    )
    found = filter_rates.slopes(frame.assign(error=0.1 * frame["loss"])).set_index("filter")
    np.testing.assert_allclose(found["slope"], [-1.0, -0.5, -1.0])
    np.testing.assert_allclose(found["bound"], [-1.0, -0.5, -1.0])
    x = np.log(sizes[1:])
    np.testing.assert_allclose(found["half"], 1.96 * 0.1 / np.sqrt(np.sum((x - x.mean()) ** 2)))


@pytest.mark.parametrize("a", filter_rates.POWERS)
def test_bounds_are_those_of_smoothness_and_qualification(a):
    gaussian, quadratic = filter_rates.SETTINGS.values()
    assert gaussian.bound("iterated", a) == gaussian.bound("tsvd", a) == min(1.0, 2.0 * a)
    assert quadratic.bound("fkmse", a) == quadratic.bound("nu", a) == min(1.0, 2.0 * a)
    assert quadratic.bound("iterated", a) == quadratic.bound("landweber", a) == 1.0


def test_the_gaussian_mean_is_as_smooth_as_is_said():
    """Squared coefficients of the constant function fall as fast as the eigenvalues of C: by quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    kept = weights > 1e-200
    nodes, weights = nodes[kept], weights[kept] / weights.sum()
    root = np.sqrt(weights)
    matrix = root[:, None] * np.exp(-0.5 * (nodes[:, None] - nodes) ** 2) * root
    values, vectors = np.linalg.eigh(matrix)
    values, ones = values[::-1][:9:2], (root @ vectors)[::-1][:9:2] ** 2  # the constant has even parts only
    ratio = values[1:] / values[:-1]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)
    k = np.arange(1, 5)
    np.testing.assert_allclose(ones[1:] / ones[:-1], ratio * (2 * k - 1) / (2 * k), rtol=1e-6)


def test_the_filters_that_are_shown_are_those_of_the_theory():
    table = pd.DataFrame(paper_figures.filters())
    found = table.pivot(index="x", columns="curve", values="value")
    s, lam = found.index.to_numpy(), paper_figures.LAM
    expected = {
        "fkmse": s / (s + lam),
        "iterated_tikhonov": 1.0 - (lam / (s + lam)) ** 3,
        "landweber": 1.0 - (1.0 - s) ** round(1.0 / lam),
        "tsvd": np.where(s >= lam, 1.0, 0.0),
    }
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, atol=1e-9, err_msg=name)
    assert found["nu"].max() > 1.0
