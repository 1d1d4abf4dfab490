"""What the studies of the applications share: data, splits, and paired comparisons."""

from __future__ import annotations

from argparse import Namespace

import _tables
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy import stats

SHAPES = {"glass": (214, 9), "wine": (178, 13), "ionosphere": (351, 33), "wdbc": (569, 30), "sonar": (208, 60)}


@pytest.mark.parametrize("name", _tables.NAMES)
def test_the_data_are_those_of_the_papers(name):
    assert _tables.load(name).shape == SHAPES[name]


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
    import density_nll

    published = pd.DataFrame({"kme": [10.0, 20.0], "a": [9.5, 19.0], "b": [10.2, 19.9]}, index=["x", "y"])
    rows = [("x", "a", -0.9, -0.4), ("x", "b", -2.0, -1.0), ("y", "a", 0.1, 0.3), ("y", "b", -0.5, 0.5)]
    rows += [("z", "a", -1.0, -0.5), ("x", "c", -1.0, -0.5)]  # another data set, another estimator
    frame = pd.DataFrame(rows, columns=["data", "estimator", "low", "high"])
    frame["difference"] = (frame["low"] + frame["high"]) / 2
    text = density_nll.agreement(frame, published, ["x", "y"])
    assert "Of the 4 that can be compared, 3 are published as improvements, by 1.000 at most." in text
    assert (
        "Here 1 have the published sign with an interval that excludes 0, 2 the opposite one; 2 intervals hold" in text
    )


def _trial(factor, repetition):
    return [{"repetition": repetition, "value": factor * repetition}]


def test_repetitions_are_kept(tmp_path):
    args = Namespace(trials=3, workers=1, store=tmp_path / "store")
    for _ in range(2):
        assert _tables.repeat(args, _trial, 2.0)["value"].tolist() == [0.0, 2.0, 4.0]
    assert len(list(args.store.rglob("output.pkl"))) == 3
