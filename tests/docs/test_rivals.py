"""The tests of others that powers are compared with: their statistics, their levels, and what a store keeps of them."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

import _real
import _rivals
import _study
import leaderboard
import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from scipy.stats import binom

from shrinktest.power import designs


def gram(values, diagonal=1.0):
    found = np.exp(-squareform(pdist(values)))
    np.fill_diagonal(found, diagonal)
    return found


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
    known = np.trace(k @ m) + k.sum() * m.sum() / ((n - 1) * (n - 2)) - 2 / (n - 2) * (ones @ k @ m @ ones)
    full = m + np.eye(n)  # the diagonal does not count
    assert (_rivals._u_centred(k + np.eye(n)) * full).sum() == pytest.approx(known, abs=1e-12)


@pytest.mark.parametrize("test", ["two-sample", "independence"])
def test_levels(test):
    """Within the region of an exact level in 999 of 1000 cases; the aggregated ones approach theirs, too."""
    rng, trials = np.random.default_rng(1), 300
    rivals = {k: rival for k, (rival, package) in _rivals.KNOWN[test].items() if package == "numpy"}
    rejected = np.zeros(len(rivals))
    for _ in range(trials):
        x, y = rng.normal(size=(2, 14, 2))
        rejected += [rival(x, y, 0.05, rng, 99) for rival in rivals.values()]
    assert (rejected <= binom(trials, 0.05).isf(0.0005)).all(), dict(zip(rivals, rejected, strict=True))


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
        agree += abs(theirs - 0.05) < 0.02 or _rivals.energy(x, y, 0.05, rng, 999) == (theirs <= 0.05)
    assert agree == 20


def test_a_stopped_study_goes_on(tmp_path):
    """Decisions that a store has are not made again, a line that was cut off is, and the end is the same."""
    args = Namespace(store=tmp_path, workers=1, quick=True)
    cell = leaderboard.Cell("two-sample", "small samples", "shift", designs.MeanShift(dimension=2, shift=1.0), 10)

    def run(trials):
        found = leaderboard.theirs(args, cell, cell.design, 10, trials, "cell").drop(columns="seconds")
        return found.sort_values(["trial", "label"]).to_numpy().tolist()

    whole = run(6)
    path = tmp_path / "cell.txt"
    kept = path.read_text()
    path.write_text(kept[: len(kept) // 2])
    assert run(6) == whole
    assert sorted(line.split("\t")[:3] for line in path.read_text().splitlines()) == sorted(
        line.split("\t")[:3] for line in kept.splitlines()
    )
    assert run(2) == whole[: 2 * len(whole) // 6]


def test_all_tests_see_the_data_of_the_power_study():
    seen = []

    class Watched(designs.MeanShift):
        def draw(self, rng, n, m):
            seen.append(super().draw(rng, n, m))
            return seen[-1]

    design = Watched(dimension=2, shift=1.0)
    leaderboard.power_study(design, "kme", 8, n_trials=2, n_resamples=19, with_null=False, workers=1, progress=False)
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


def test_names_of_cells_are_their_own():
    keys = [(c.test, c.group, c.name, leaderboard.columns(c), c.n) for c in leaderboard.CELLS]
    assert len(set(keys)) == len(keys)
    names = {(c.name, leaderboard.columns(c)) for c in leaderboard.CELLS}
    assert set(leaderboard.LEVELS) <= names
    assert {row[:2] for row in leaderboard.PUBLISHED} <= names


def test_the_picture_of_a_study_comes_first():
    class Study:
        @staticmethod
        def opening(tables):
            return "what came out"

        @staticmethod
        def chart(tables):
            """What is drawn."""

    told = "a", "A", ["one", "two"], {"": 0}, "python a.py", Study
    page = _study.section(*told).split("\n\n")
    assert page[:5] == ["## A", "what came out", "![What is drawn](figures/a.png)", "one", "two"]
    Study.alt = staticmethod(lambda tables: f"{tables['']} seen")
    assert _study.section(*told).split("\n\n")[2] == "![0 seen](figures/a.png)"
