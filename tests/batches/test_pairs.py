"""Pairs on disk: sums for every shift against loops over rows, level, the same answer from files, what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import naive_on_disk
from answers import close, same
from shrinktest import (
    Batches,
    Candidate,
    Ensemble,
    Gaussian,
    Linear,
    Whitened,
    independence_test,
    two_sample_test,
)
from shrinktest.data.on_disk.on_disk import OnDisk
from shrinktest.data.on_disk.pairs import LENGTH, Blocks, pairs_of, products_of
from shrinktest.data.on_disk.survey import survey
from shrinktest.data.scale import ScaleOption
from shrinktest.kernels.feature_maps import nystrom, random_fourier
from shrinktest.statistics.sums import ShiftedSums

pytest.importorskip("pyarrow")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(1603, 2))
Y = 0.3 * X[:, :1] + RNG.normal(size=(1603, 1))
RFF = {"gram": "rff", "rank": 10, "rng": 0, "n_resamples": 99}
NYSTROM = {"gram": "nystrom", "rank": 8, "rng": 0, "n_resamples": 99}
LINEAR = {"kernel_x": "linear", "kernel_y": "linear", "scale": None, "rng": 0, "n_resamples": 19}


def cut(values, *sizes):
    """Batches of odd sizes, over and over."""
    ends = np.cumsum(np.resize(sizes, len(values)))
    return Batches(np.split(values, ends[ends < len(values)]))


def summed(x, y, features, workers=1):
    """Blocks of pairs, and the sums of products of their features."""
    rows, parts = pairs_of(x, y, ("X", "Y"), nan_policy="raise", types={})
    options = {
        "nan_policy": "raise",
        "drawn": 50,
        "rng": np.random.default_rng(0),
        "workers": workers,
    }
    source = OnDisk.read([rows], parts, [ScaleOption()] * 2, **options)
    blocks = Blocks.drawn(source.survey.sizes[0], np.random.default_rng(1))
    return blocks, products_of(source, blocks, [features])


@pytest.mark.parametrize("kind", ["rff", "nystrom", "linear"])
@pytest.mark.parametrize("sizes", [(1000,), (1, 3, 30), (13,)])
def test_sums_are_those_of_loops_over_rows(kind, sizes):
    x, y = X[:101], np.hstack([Y, X + 100.0])[:101]
    features = {
        "rff": (random_fourier(Gaussian(1.0), 2, 6, 0), random_fourier(Gaussian(2.0), 3, 4, 1)),
        "nystrom": (nystrom(Gaussian(1.0), x, 5, 0), nystrom(Gaussian(2.0), y, 4, 0)),
        "linear": (Linear(), Linear()),
    }[kind]
    blocks, totals = summed(cut(x, *sizes), cut(y, 7), features)
    assert (blocks.count, blocks.used, blocks.groups, len(totals.tail)) == (12, 96, 12, 0)
    own, total = ([each.sum(axis=0) for each in several] for several in (totals.own, totals.sums))
    sums = ShiftedSums(96, totals.xy[0], own[0], own[1], total[0], total[1])
    groups = blocks.group_of(np.arange(12)).tolist()
    shifts = np.vstack([np.zeros((1, 12), dtype=int), RNG.integers(LENGTH, size=(3, 12))])
    for values, here in zip(sums(shifts), shifts, strict=True):
        phi, psi = (
            features[0].coordinates(x[:96]),
            features[1].coordinates(naive_on_disk.shifted(y, LENGTH, groups, here)),
        )
        assert values == pytest.approx(naive_on_disk.sum_and_trace(phi, psi), rel=1e-9)
    sides = features[0].coordinates(x[:96]), features[1].coordinates(y[:96])
    assert sums.traces == pytest.approx([len(z) * z.var(axis=0).sum() for z in sides], rel=1e-9)


def test_groups_have_as_many_pairs_as_they_say():
    for rows in (101, 880, 3999):
        blocks = Blocks.drawn(rows, np.random.default_rng(rows))
        counts = np.bincount(blocks.group_of(np.arange(blocks.count)), minlength=blocks.groups)
        assert blocks.pairs.tolist() == (LENGTH * counts).tolist()


def test_samples_of_variables_are_drawn_apart():
    """Whether a y is sampled does not depend on whether its x is."""
    numbers, rng, together = np.arange(40.0), np.random.default_rng(3), 0
    for _ in range(300):
        rows, _ = pairs_of(
            Batches(numbers), Batches(1.0 * numbers), ("X", "Y"), nan_policy="raise", types={}
        )
        summary = survey([rows], 10, rng, groups=(slice(0, 1), slice(1, 2)), holes=((), ()))
        x, y = (side.rows.ravel() for side in summary.pooled)
        together += len(set(x) & set(y))
    assert (
        abs(together / 300 - 2.5) < 4 * (10 * 0.25 * 0.75 * 30 / 39 / 300) ** 0.5
    )  # hypergeometric


@pytest.mark.ci
@pytest.mark.parametrize("heavy", [False, True])
def test_level(heavy):
    """300 tests of independent variables reject about as often as they should."""
    rng, level = np.random.default_rng(5 + heavy), 0.1
    draw = rng.standard_cauchy if heavy else rng.standard_normal
    options = {"n_resamples": 19, "gram": "rff", "rank": 4, "workers": 1}
    rejected = sum(
        independence_test(
            Batches(draw((100, 1))), Batches(draw((100, 1))), rng=rng, **options
        ).pvalue
        <= level
        for _ in range(300)
    )
    low, high = stats.binom.ppf([0.0005, 0.9995], 300, level)
    assert low <= rejected <= high


def test_statistic_and_effect_are_those_in_memory():
    for more in ({}, {"estimator": "skmse"}, {"form": "unbiased"}):
        for far in (0.0, 1e6):
            result = independence_test(Batches(far + X), Batches(far + Y), **LINEAR, **more)
            expected = independence_test(
                far + X[:1600], far + Y[:1600], gram="factor", **LINEAR, **more
            )
            assert result.statistic == pytest.approx(expected.statistic, rel=1e-6)
    effect, expected = result.effect(), expected.effect()
    assert effect.dependence == pytest.approx(expected.dependence, rel=1e-3)
    for bound, other in zip(effect.dependence_interval, expected.dependence_interval, strict=True):
        assert bound == pytest.approx(other, abs=0.2 * expected.dependence)
    assert "jackknife over 100 groups of pairs" in effect.notes[0]
    assert (
        "only 12 groups" in independence_test(Batches(X[:100]), Y[:100], **LINEAR).effect().notes[0]
    )


@pytest.mark.ci
def test_files_of_one_source_or_two_give_the_same(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame(np.hstack([X, Y]), columns=["a", "b", "c"])
    for i in range(3):
        table[600 * i : 600 * (i + 1)].to_parquet(f"t{i}.parquet", index=False)
    table.to_csv("t.csv", index=False)
    np.save("y.npy", Y)
    expected = independence_test(Batches(X), Batches(Y), scale="sd", **RFF)
    for x, y in (
        (Batches(X, size=77), cut(Y, 1, 500)),
        (Batches("t*.parquet", columns=["a", "b"]), Batches("t*.parquet", columns=["c"])),
        (Batches("t.csv", columns=["a", "b"], size=100), Batches("t.csv", columns=["c"], size=100)),
        (Batches("t.csv", columns=["a", "b"]), Batches("t*.parquet", columns=["c"])),
        (Batches("t*.parquet", columns=["a", "b"]), "y.npy"),
    ):
        result = independence_test(x, y, scale="sd", workers=1, **RFF)
        assert close(result, expected)
        assert same(independence_test(x, y, scale="sd", workers=3, **RFF), result)
    holes = table.copy()
    holes.loc[[3, 50, 51], ["a", "c", "b"]] = np.nan
    pair = Batches([holes], columns=["a", "b"]), Batches([holes], columns=["c"])
    complete = independence_test(*(Batches(values) for values in (X, Y)), **RFF)
    result = independence_test(
        Batches([holes[["a", "b"]]]), Batches([holes[["c"]]]), nan_policy="omit", **RFF
    )
    assert result.n_observations == complete.n_observations and any(
        "missing values: 3 of" in n for n in result.notes
    )
    with pytest.raises(ValueError, match="missing value in row 3, column 'a'"):
        independence_test(*(Batches([side]) for side in (holes[["a", "b"]], holes[["c"]])), **RFF)
    assert pair[0].columns == ["a", "b"]


@pytest.mark.ci
def test_several_statistics_are_those_alone():
    kernels = ["gaussian", "laplacian", Whitened()]
    result = independence_test(
        Batches(X), Y, kernel_x=kernels, estimator=["kme", "skmse"], **NYSTROM
    )
    assert len(result.members) == 6
    for i, member in enumerate(result.members):
        alone = {"kernel_x": kernels[i // 2], "estimator": member.estimator}
        assert close(member, independence_test(Batches(X), Y, **alone, **NYSTROM))
    auto = [independence_test(x, Y, estimator="auto", **NYSTROM) for x in (Batches(X), cut(X, 77))]
    assert len(auto[0].members) == 11 and auto[0].pvalue <= 0.02 and close(auto[1], auto[0])
    grid = independence_test(Batches(X), Y, bandwidth_x="grid", **RFF)
    assert len({member.bandwidth[0] for member in grid.members}) == 5
    weighted = Ensemble([Candidate("kme", "linear", 2.0), Candidate("skmse", "linear")])
    options = {"scale": None, "rng": 0, "n_resamples": 19}
    effect = independence_test(Batches(X), Y, estimator=weighted, **options).effect()
    assert effect.dependence == independence_test(Batches(X), Y, **LINEAR).effect().dependence


def test_members_for_which_there_is_no_memory():
    result = independence_test(Batches(X), Y, estimator="auto", max_memory=5e6, **NYSTROM)
    assert 1 < len(result.members) < 12
    assert any("is left out of the combination: sums of products" in note for note in result.notes)
    several = Ensemble([Candidate("kme", "gaussian"), Candidate("kme", "laplacian")])
    with pytest.raises(MemoryError, match=r"sums of products need .* use a smaller rank="):
        independence_test(Batches(X), Y, estimator=several, max_memory=4e6, **NYSTROM)


def test_result_says_what_was_done():
    result = independence_test(Batches(X), Y, **RFF)
    assert result.pvalue == 0.01 and result.n_observations == (1600,) and result.estimates == ()
    assert result.restriction == "within 8 successive pairs" and result.route == "rff"
    notes = " ".join(result.notes)
    assert "10 random Fourier features" in notes and "200 blocks in 100 groups" in notes
    assert "3 pairs at the end are left out" in notes
    x, rare = np.hstack([np.tile(X, (5, 1)), np.full((8015, 1), 3.0)]), np.zeros((8015, 1))
    rare[1234] = 1.0  # which is not in the sample
    options = {**RFF, "scale": ["sd", "sd"], "bandwidth_y": 1.0}
    notes = " ".join(
        independence_test(Batches(x), np.hstack([np.tile(Y, (5, 1)), rare]), **options).notes
    )
    assert "X: columns 2 have only one value" in notes and "Y: columns" not in notes


@pytest.mark.ci
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_of_numbers_have_the_notes_of_tables_in_memory(kind, tmp_path):
    table = pd.DataFrame(
        np.random.default_rng(3).normal(size=(160, 3)), columns=["a", "b", "c"]
    ).assign(same=2019)
    path = tmp_path / f"pairs.{kind}"
    table.to_csv(path, index=False) if kind == "csv" else table.to_parquet(path, index=False)
    x, y = (Batches(path, columns=names) for names in (["a"], ["b", "c", "same"]))
    read = independence_test(x, y, gram="nystrom", rank=20, n_resamples=19, rng=0).notes
    whole = independence_test(table[["a"]], table[["b", "c", "same"]], n_resamples=19, rng=0).notes
    assert (
        whole
        and read[: len(whole)] == whole
        and "Y: column same has only one value and thus no weight." in read
    )
    both = two_sample_test(path, path, gram="nystrom", rank=20, n_resamples=19, rng=0).notes
    assert [note for note in both if "only one value" in note] == [
        "X and Y: column same has only one value and thus no weight."
    ]


BOTH = np.hstack([X, Y])


@pytest.mark.parametrize(
    ("x", "y", "options", "words"),
    [
        (X, Y, {"blocks": np.zeros(1603)}, "blocks= is not available for data in batches"),
        (X, Y, {"block_length": "whole"}, "block_length= is not available for data in batches"),
        (X, Y, {"estimator": "fkmse"}, "use estimator='kme' or 'skmse'"),
        (X, Y, {"estimator": ["kme", "mkme"]}, "use estimator='kme' or 'skmse'"),
        (X, Y, {"estimator": "auto"}, r"not .*Energy.*; use gram='nystrom'"),
        (X, Y, {"gram": "auto"}, "use gram='rff'"),
        (X, Y, {"nan_policy": "propagate"}, "use 'raise', 'omit' or 'indicator'"),
        (X, Y, {"scale": 2.0}, "or a list with one entry for each of 2 variables"),
        (Batches(BOTH, columns=[0]), Batches(BOTH), {}, r"are one source; pass Batches\(..., columns="),
        (Batches(BOTH, columns=[0, 1]), Batches(BOTH, columns=[1]), {}, "have the same column '1'"),
        (Batches(X, bins=500), Batches(Y, bins=500), {}, "bins=500 is for tests of samples"),
        (X[:15], Y[:15], {}, "have 15 pairs"),
        (X, Y[:-1], {}, "Y has 1602 rows, and X has more"),
        (cut(X[:-1], 9), cut(Y, 13), {}, "X has 1602 rows, and Y has more"),
    ],
)  # fmt: skip
def test_bad_input(x, y, options, words):
    pair = [each if isinstance(each, Batches) else Batches(each) for each in (x, y)]
    with pytest.raises(ValueError, match=words):
        independence_test(*pair, **{**RFF, **options})
