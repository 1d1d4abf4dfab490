"""Parts of the studies: data, splits, paired comparisons; shortcuts; tests of other packages."""

from __future__ import annotations

import re
from argparse import Namespace
from dataclasses import replace

import _levels
import _real
import _rivals
import _tables
import density_nll
import filter_rates
import leaderboard
import numpy as np
import pandas as pd
import pytest
import shortcuts
from scipy import stats
from scipy.spatial.distance import pdist, squareform
from scipy.stats import binom

from shrinktest.power import designs

SHAPES = {
    **{
        "glass": (214, 9),
        "wine": (178, 13),
        "ionosphere": (351, 33),
        "wdbc": (569, 30),
        "sonar": (208, 60),
    },
    **{"australian": (690, 14), "specft": (267, 44), "satimage": (6435, 36), "segment": (2310, 18)},
    **{
        "vehicle": (846, 18),
        "vowel": (990, 10),
        "abalone": (4177, 7),
        "australian, continuous": (690, 6),
    },
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
    assert {*density_nll.DATA} == {name for name in SHAPES if "," not in name} | {
        *_tables.ELSEWHERE
    }
    here = {path.name for path in _tables.DATA.glob("*.csv*")}
    assert here == {name for name in re.findall(r"(?m)^\| `([\w.]+)` \|", sources)} - {
        f"{name}.csv" for name in _tables.ELSEWHERE
    }
    assert all(f"`{name}.csv`" in sources for name in _tables.ELSEWHERE)


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


def test_agreement_with_what_is_published():
    """A printed sign is reproduced, or its opposite, if our interval excludes 0; likewise for the sign test."""
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
        **{
            "estimator": "a",
            "compared": 4,
            "printed as better": 3,
            "agree": 1,
            "oppose": 2,
            "undecided": 1,
        },
        **{"sign test agrees": 1, "sign test opposes": 2},
    }


def test_printed_tables_have_our_names():
    paper = density_nll.printed("M14_table1_density_nll").set_index(
        ["kernel", "data", "estimator"]
    )["there"]
    assert paper["gaussian", "glass", "fkmse"] == paper["gaussian", "glass", "fkmse, paper"]
    assert paper["poly3", "abalone", "skmse"] == pytest.approx(23.2487 - 20.6071)
    assert set(paper.index.get_level_values("data")) == set(density_nll.DATA)
    assert set(density_nll.printed("S14_table2_density_nll")["data"]) < set(density_nll.DATA)
    other = set(density_nll.printed("X20_table3_density_nll")["data"])
    assert density_nll.CONTINUOUS in other and len(other & {*density_nll.DATA}) == 9


def test_a_split_is_the_same_for_all(tmp_path):
    """Kernels and estimators see the same rows and the same start, together or separately."""
    args = {**density_nll.CONSTANTS, "rows": 60, "components": 2}
    whole = density_nll.trial(args, ["linear", "gaussian"], density_nll.BOTH, "glass", None, 1)
    assert [row["estimator"] for row in whole] == 2 * list(density_nll.BOTH)
    alone = density_nll.trial(
        args, ["gaussian"], {"skmse": "skmse", "mkme": "mkme"}, "glass", None, 1
    )
    assert alone[0] == whole[5]
    parts = {**args, "units": "training part"}
    rows = density_nll.trial(parts, ["linear"], density_nll.BOTH, "glass", None, 1)
    assert np.ptp([row["nll"] for row in rows]) < 1e-6  # the mean is 0: there is nothing to shrink


def test_slopes_of_rates():
    """For powers of n the slopes are the exponents, with the interval of the errors."""
    sizes = np.array([10, 20, 40, 80, 160])
    frame = pd.concat(
        pd.DataFrame(
            {"kernel": "gaussian", "n": sizes, "estimator": name, "loss": 3.0 * sizes**power}
        )
        for name, power in (("kme", -1.0), ("fkmse, 0.25", -0.5), ("fkmse, tuned", -1.0))
    )
    slopes = filter_rates.slopes(frame.assign(error=0.1 * frame["loss"])).set_index("filter")
    np.testing.assert_allclose(slopes["slope"], [-1.0, -0.5, -1.0])
    np.testing.assert_allclose(slopes["bound"], [-1.0, -0.5, -1.0])
    x = np.log(sizes[1:])
    np.testing.assert_allclose(slopes["half"], 1.96 * 0.1 / np.sqrt(np.sum((x - x.mean()) ** 2)))


@pytest.mark.parametrize("a", filter_rates.POWERS)
def test_bounds_are_those_of_smoothness_and_qualification(a):
    gaussian, quadratic = filter_rates.SETTINGS.values()
    assert gaussian.bound("iterated", a) == gaussian.bound("tsvd", a) == min(1.0, 2.0 * a)
    assert quadratic.bound("fkmse", a) == quadratic.bound("nu", a) == min(1.0, 2.0 * a)
    assert quadratic.bound("iterated", a) == quadratic.bound("landweber", a) == 1.0


def test_the_gaussian_mean_is_as_smooth_as_is_said():
    """Squared coefficients of the constant function fall as fast as the eigenvalues of C: by quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    positive = weights > 1e-200
    nodes, weights = nodes[positive], weights[positive] / weights.sum()
    root = np.sqrt(weights)
    matrix = root[:, None] * np.exp(-0.5 * (nodes[:, None] - nodes) ** 2) * root
    values, vectors = np.linalg.eigh(matrix)
    values, ones = (
        values[::-1][:9:2],
        (root @ vectors)[::-1][:9:2] ** 2,
    )  # the constant has even parts only
    ratio = values[1:] / values[:-1]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)
    k = np.arange(1, 5)
    np.testing.assert_allclose(ones[1:] / ones[:-1], ratio * (2 * k - 1) / (2 * k), rtol=1e-6)


def test_levels_are_shares_of_rejections():
    """Half of the data sets are heavy-tailed; intervals are those of Clopper and Pearson."""
    settings = [
        ("half", "a", lambda rng, heavy: 0.01 if heavy else 0.9, {}),
        ("none", "a", lambda rng, heavy: 0.06, {}),
    ]
    args = Namespace(trials=220, store=None, workers=1)
    table = _levels.measured_levels(args, settings, "estimator", "study")
    assert table["level"].tolist() == [0.5, 0.0] and table["inside"].tolist() == [False, False]
    rate = _levels.rate(7, 220)
    known = stats.binomtest(7, 220).proportion_ci(0.95, "exact")
    assert (rate["low"], rate["high"]) == pytest.approx((known.low, known.high))


def test_a_shortcut_differs_from_the_valid_test_in_one_thing():
    """Row 0 is the observed split, p-values count it and ties, and block means agree with the Gram matrix."""
    rng = np.random.default_rng(0)
    x, y = shortcuts.two(rng, 6, 5, 2)
    gram, bandwidth = shortcuts.pooled_gram(x, y)
    masks = shortcuts.labels(rng, 6, 5, rows=30)
    assert masks.shape == (31, 11) and (masks.sum(axis=1) == 6).all()
    np.testing.assert_array_equal(masks[0], np.arange(11) < 6)
    for mask, *means in zip(masks.astype(bool), *shortcuts.means(gram, masks), strict=True):
        expected = [
            gram[np.ix_(a, b)].mean() for a, b in ((mask, mask), (~mask, ~mask), (mask, ~mask))
        ]
        assert means == pytest.approx(expected, rel=1e-12)
    ours = shortcuts.two_sample_test(x, y, bandwidth=bandwidth, form="biased", n_resamples=0)
    assert shortcuts.mmd(gram, masks)[0] == pytest.approx(ours.statistic, rel=1e-10)
    assert shortcuts.p_value(np.array([1.0, 1.0, 0.5, 2.0])) == 0.75


def gram(values, diagonal=1.0):
    matrix = np.exp(-squareform(pdist(values)))
    np.fill_diagonal(matrix, diagonal)
    return matrix


def test_the_mmd_of_every_split_is_unbiased():
    rng = np.random.default_rng(0)
    matrix, masks = gram(rng.normal(size=(11, 2)), 0.0), _rivals.splits(6, 5, 20, rng)
    assert (masks[0] == (np.arange(11) < 6)).all() and (masks.sum(axis=1) == 6).all()
    for mask, value in zip(masks.astype(bool), _rivals.unbiased_mmd(matrix, masks), strict=True):
        xx, yy, xy = matrix[mask][:, mask], matrix[~mask][:, ~mask], matrix[mask][:, ~mask]
        assert value == pytest.approx(xx.sum() / 30 + yy.sum() / 20 - 2 * xy.mean(), abs=1e-12)


def test_the_hsic_is_the_unbiased_one():
    """Song et al. (2012), equation 5."""
    rng = np.random.default_rng(0)
    n, ones = 9, np.ones(9)
    k, m = (gram(rng.normal(size=(n, 2)), 0.0) for _ in range(2))
    known = (
        np.trace(k @ m)
        + k.sum() * m.sum() / ((n - 1) * (n - 2))
        - 2 / (n - 2) * (ones @ k @ m @ ones)
    )
    full = m + np.eye(n)  # the diagonal does not count
    assert (_rivals._u_centered(k + np.eye(n)) * full).sum() == pytest.approx(known, abs=1e-12)


@pytest.mark.parametrize("test", ["two-sample", "independence"])
def test_levels(test):
    """Within the region of an exact level in 999 of 1000 cases; the aggregated ones approach theirs, too."""
    rng, trials = np.random.default_rng(1), 150
    rivals = {k: rival for k, (rival, package) in _rivals.KNOWN[test].items() if package == "numpy"}
    rejected = np.zeros(len(rivals))
    for _ in range(trials):
        x, y = rng.normal(size=(2, 14, 2))
        rejected += [rival(x, y, 0.05, rng, 99) for rival in rivals.values()]
    assert (rejected <= binom(trials, 0.05).isf(0.0005)).all(), dict(
        zip(rivals, rejected, strict=True)
    )


def test_what_differs_is_found():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(30, 2)), rng.normal(2.0, size=(30, 2))
    for label in ("MMDAgg", "MMD-FUSE", "energy"):
        assert _rivals.TWO_SAMPLES[label][0](x, y, 0.05, rng, 299)
    assert _rivals.hsicagg(x, x + 0.1 * y, 0.05, rng, 500)


def test_the_energy_test_and_dcor():
    dcor = pytest.importorskip("dcor")
    rng = np.random.default_rng(3)
    agree = 0
    for _ in range(20):
        x, y = rng.normal(size=(15, 2)), rng.normal(0.7, size=(12, 2))
        theirs = dcor.homogeneity.energy_test(x, y, num_resamples=999, random_state=0).pvalue
        agree += abs(theirs - 0.05) < 0.02 or _rivals.energy(x, y, 0.05, rng, 999) == (
            theirs <= 0.05
        )
    assert agree == 20


def test_a_stopped_study_goes_on(tmp_path):
    """Decisions that a store has are not made again, a line that was cut off is, and the end is the same."""
    args = Namespace(store=tmp_path, workers=1, quick=True)
    cell = leaderboard.Cell(
        "two-sample", "small samples", "shift", designs.MeanShift(dimension=2, shift=1.0), 10
    )

    def run(trials):
        decisions = leaderboard.theirs(args, cell, cell.design, 10, trials, "cell").drop(
            columns="seconds"
        )
        return decisions.sort_values(["trial", "label"]).to_numpy().tolist()

    whole = run(6)
    path = tmp_path / "cell.txt"
    stored = path.read_text()
    path.write_text(stored[: len(stored) // 2])
    assert run(6) == whole
    assert sorted(line.split("\t")[:3] for line in path.read_text().splitlines()) == sorted(
        line.split("\t")[:3] for line in stored.splitlines()
    )
    assert run(2) == whole[: 2 * len(whole) // 6]


def test_all_tests_see_the_data_of_the_power_study():
    seen = []

    class Watched(designs.MeanShift):
        def draw(self, rng, n, m):
            seen.append(super().draw(rng, n, m))
            return seen[-1]

    design = Watched(dimension=2, shift=1.0)
    leaderboard.power_study(
        design, "kme", 8, n_trials=2, n_resamples=19, with_null=False, workers=1, rng=0
    )
    ours = [x.tobytes() + y.tobytes() for x, y in seen]
    seen.clear()
    for number in range(2):
        leaderboard.trial("two-sample", design, 8, number, [])
    assert {x.tobytes() + y.tobytes() for x, y in seen} <= set(ours) and len(seen) == 2


@pytest.mark.parametrize("name", [*_real.GROUPS, *_real.PAIRS])
def test_rows_are_drawn_without_replacement(name):
    pairs = name in _real.PAIRS
    design = _real.Pairs(name) if pairs else _real.Groups(name)
    size = len(_real.PAIRS[name]()[0]) if pairs else min(map(len, _real.GROUPS[name]()))
    for chosen in (design, design.null()):
        x, y = chosen.sample(0, 20)
        assert len(x) == len(y) == 20 and np.isfinite(x).all() and np.isfinite(y).all()
    assert design != replace(design, table="another") and size >= 20
    whole, known = design.sample(0, size)[0], (_real.PAIRS if pairs else _real.GROUPS)[name]()[0]
    if len(known) == size:
        np.testing.assert_allclose(np.sort(whole, axis=0), np.sort(known, axis=0))
