"""Several statistics, auto, kernels of the pooled sample and tests of columns on samples in batches."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import naive_multiplicity
import naive_on_disk
from answers import close, same
from shrinktest import (
    Batches,
    Candidate,
    Depth,
    Energy,
    Ensemble,
    Gaussian,
    SecondOrder,
    Whitened,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.data.on_disk.bins import Bijection, Bins
from shrinktest.kernels import Linear

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(1201, 2)), RNG.normal([0.1, 0.0], [1.0, 1.2], size=(900, 2))
RFF = {"gram": "rff", "rank": 20, "rng": 0, "n_resamples": 99}


class Counted:
    """Batches, and how often they were read to their end."""

    def __init__(self, values, parts=3):
        self.values, self.parts, self.readings = values, parts, 0

    def __iter__(self):
        yield from np.array_split(self.values, self.parts)
        self.readings += 1


# --- several statistics -------------------------------------------------------------------------------------


def test_members_are_the_single_tests_from_one_reading():
    x = Counted(X)
    kernels = [Gaussian(), Gaussian("0.5 * median"), Whitened()]
    result = two_sample_test(
        Batches(x, bins=100), Y, estimator=["kme", "skmse"], kernel=kernels, **RFF
    )
    assert x.readings == 2  # to count, and for all features
    for member in result.members:
        alone = two_sample_test(
            Batches(X, bins=100), Y, estimator=member.estimator, kernel=member.kernel, **RFF
        )
        assert close(member, alone) and member.bandwidth == pytest.approx(alone.bandwidth)
    assert list(result.table["kernel"]) == ["Gaussian"] * 4 + ["Whitened(Gaussian, lam=0.1)"] * 2
    weights = np.ones(len(result.members))
    null = np.stack(
        [np.append(member.statistic, member.null_distribution) for member in result.members], axis=1
    )
    ranks = (
        np.array([[np.sum(column >= v - 1e-12 * abs(v)) for v in column] for column in null.T]).T
        / weights
    )
    assert result.pvalue == pytest.approx(np.mean(ranks.min(axis=1) <= ranks[0].min()))


@pytest.mark.parametrize("estimator", ["auto", ["kme", "fkmse"]])
def test_cuts_change_rounding_only(estimator):
    whole = two_sample_test(Batches(X, bins=100), Y, estimator=estimator, **RFF)
    other = two_sample_test(
        Batches(Counted(X, 7), bins=100),
        Batches(Counted(Y, 11), bins=100),
        estimator=estimator,
        **RFF,
    )
    assert all(map(close, whole.members, other.members)) and whole.pvalue == other.pvalue


def test_grids_and_collections():
    grid = two_sample_test(Batches(X, bins=100), Y, bandwidth="grid", **RFF)
    assert len(grid.members) == 5 and len({member.bandwidth for member in grid.members}) == 5
    weighted = Ensemble([Candidate("kme", Energy(), weight=2.0), Candidate("skmse", Depth())])
    result = two_sample_test(
        Batches(X, bins=100), Y, estimator=weighted, **{**RFF, "gram": "nystrom"}
    )
    assert (
        result.estimator is not None
        and [member.route for member in result.members] == ["nystrom"] * 2
    )
    three = k_sample_test(Batches(X, bins=100), Y, X[::2] + 1.0, estimator="auto", **RFF)
    assert three.pvalue == 0.01 and len(three.members) == 6


def test_with_all_rows_for_landmarks_and_bins_auto_is_that_in_memory():
    """With few rows the features are exact, and over all splits the p-value is the same to the last bit."""
    x, y = X[:6], Y[:4] + 1.0
    binned = two_sample_test(
        Batches(x), y, estimator="auto", gram="nystrom", rank=10, n_resamples=np.inf
    )
    memory = two_sample_test(x, y, estimator="auto", n_resamples=np.inf)
    assert binned.pvalue == memory.pvalue and binned.exact
    for member, other in zip(binned.members, memory.members, strict=True):
        assert member.statistic == pytest.approx(other.statistic, rel=1e-6)
        assert member.pvalue == other.pvalue and member.bandwidth == pytest.approx(other.bandwidth)


def test_members_of_auto_without_room_are_left_out():
    result = two_sample_test(Batches(X, bins=100), Y, estimator="auto", max_memory=2.5e5, **RFF)
    assert 0 < len(result.members) < 6 and len(result.table) == len(result.members)
    assert any(
        "is left out of the combination:" in note and "max_memory=250000 bytes" in note
        for note in result.notes
    )
    with pytest.raises(MemoryError, match=r"features in .* bins need .* use a smaller rank="):
        two_sample_test(Batches(X, bins=100), Y, estimator="auto", max_memory=1e4, **RFF)
    with pytest.raises(MemoryError, match="features in 94 bins"):
        two_sample_test(
            Batches(X, bins=100), Y, kernel=["gaussian", "laplacian"], max_memory=5.5e4, **RFF
        )


def test_the_effect_is_that_of_the_largest_weight():
    result = two_sample_test(Batches(X, bins=100), Y, estimator="auto", **RFF)
    plain = two_sample_test(Batches(X, bins=100), Y, bandwidth="2 * median", **RFF)
    assert result.effect().distance == plain.effect().distance
    assert any(
        "the component with the largest predefined weight: Gaussian" in n
        for n in result.effect().notes
    )
    assert result.witness([[0.0, 0.0]]).shape == (1,)


# --- kernels of the pooled sample ---------------------------------------------------------------------------


@pytest.fixture
def few_bins(monkeypatch):
    """A test of few bins of four rows, by all splits, and the bins."""
    drawn = []

    def four(rows, bins, rng):
        drawn.append(Bins(rows, 4, tuple(Bijection.drawn(n, rng) for n in rows)))
        return drawn[-1]

    def run(kernel, form="biased", scale=None):
        monkeypatch.setattr(Bins, "drawn", four)
        options = {
            "form": form,
            "scale": scale,
            "gram": "rff",
            "rank": 6,
            "n_resamples": np.inf,
            "rng": 0,
        }
        result = two_sample_test(Batches(X[:21]), Y[:18], kernel=kernel, **options)
        monkeypatch.undo()
        return result, drawn[-1]

    return run


@pytest.mark.parametrize("form", ["biased", "unbiased"])
@pytest.mark.parametrize(
    ("kernel", "twin"),
    [
        (Whitened(Gaussian(1.0)), lambda z, s: naive_on_disk.whitened(z, s, 0.1)),
        (Whitened(Gaussian(0.5), 0.01), lambda z, s: naive_on_disk.whitened(z, s, 0.01)),
        (Depth(Gaussian(1.0)), naive_on_disk.depth),
        (SecondOrder(Gaussian(1.0)), naive_on_disk.second_order),
    ],
    ids=["whitened", "whitened .01", "depth", "second order"],
)
def test_kernels_of_the_pooled_sample_against_all_splits_of_explicit_bin_means(
    few_bins, kernel, twin, form
):
    result, bins = few_bins(kernel, form)
    base = result.estimates[0].features.features  # of the Gaussian kernel
    sample = base.coordinates(result.context.hypothesis.source.survey.pooled[0].rows)
    means = []
    for values, shuffled in zip((X[:21], Y[:18]), bins.shuffles, strict=True):
        places = shuffled(np.arange(len(values))) // 4
        means.append(naive_on_disk.bin_means(twin(base.coordinates(values), sample), places, 4))
    null = naive_on_disk.distances(np.vstack(means), 5, form == "unbiased")
    assert result.statistic == pytest.approx(null[0], rel=1e-8, abs=1e-13)
    assert np.allclose(np.sort(result.null_distribution), np.sort(null), rtol=1e-7, atol=1e-12)
    assert result.pvalue == pytest.approx(np.mean(null >= null[0] - 1e-12))


def test_ranks_are_those_among_the_sample_of_rows(few_bins):
    result, bins = few_bins(Gaussian(0.3), scale="rank")
    features, sample = (
        result.estimates[0].features,
        result.context.hypothesis.source.survey.pooled[0].rows,
    )
    means = []
    for values, shuffled in zip((X[:21], Y[:18]), bins.shuffles, strict=True):
        z = features.features.coordinates(naive_on_disk.mid_ranks(values, sample))
        means.append(naive_on_disk.bin_means(z, shuffled(np.arange(len(values))) // 4, 4))
    null = naive_on_disk.distances(np.vstack(means), 5, unbiased=False)
    assert np.allclose(np.sort(result.null_distribution), np.sort(null), rtol=1e-8, atol=1e-13)
    moved = two_sample_test(Batches(np.exp(X), bins=100), np.exp(Y), scale="rank", **RFF)
    plain = two_sample_test(Batches(X, bins=100), Y, scale="rank", **RFF)
    assert same(moved, plain)  # a monotone function changes nothing
    assert any("random sample" in note for note in plain.notes)


@pytest.mark.parametrize("scale", ["mad", "deviation", "sd", (1.0, 2.0)])
def test_units_and_whitening_together(scale):
    """Whitened features share the features of the plain kernel, in the same units."""

    memory = two_sample_test(
        X,
        Y,
        kernel=[Gaussian(), Whitened()],
        scale=scale,
        gram="nystrom",
        rank=300,
        rng=0,
        n_resamples=19,
    )

    near = two_sample_test(
        Batches(X, bins=3000),
        Y,
        kernel=[Gaussian(), Whitened()],
        scale=scale,
        **{**RFF, "gram": "nystrom", "rank": 300},
    )
    for member, other in zip(near.members, memory.members, strict=True):
        assert member.statistic == pytest.approx(other.statistic, rel=0.15)


def test_whitening_of_linear_features_is_the_mahalanobis_distance_of_bins():
    result = two_sample_test(
        Batches(X, bins=3000), Y, kernel=Whitened(Linear(), 1e-9), rng=0, n_resamples=19
    )
    pooled = np.vstack([X, Y])  # all of them are in the sample of rows, or nearly
    away = X.mean(axis=0) - Y.mean(axis=0)
    expected = away @ np.linalg.solve(np.cov(pooled.T, ddof=0), away) / 2.0
    biased = two_sample_test(
        Batches(X, bins=3000),
        Y,
        kernel=Whitened(Linear(), 1e-9),
        form="biased",
        rng=0,
        n_resamples=19,
    )
    assert biased.statistic == pytest.approx(expected, rel=0.05) and result.route == "factor"


# --- columns ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{}, {"estimator": "auto"}, {"scale": "sd", "estimator": ["kme", "skmse"]}]
)
def test_columns_are_the_tests_of_each_from_one_reading(options):
    x = Counted(X)
    result = two_sample_test_columns(Batches(x, bins=100), Y, **RFF, **options)
    assert x.readings == 2 and list(result.table["column"]) == ["x0", "x1"]
    assert result.n_observations == (1188, 880)
    for j in range(2):
        alone = two_sample_test(
            Batches(X, bins=100, columns=[j]), Batches(Y, bins=100, columns=[j]), **RFF, **options
        )
        assert result.pvalues[j] == alone.pvalue
        assert result.statistics[j] == pytest.approx(
            alone.statistic, rel=1e-12
        )  # units of a column round otherwise
    assert any("bins of" in note for note in result.notes)


def test_columns_are_adjusted_on_shared_permutations_of_bins():
    wide = (
        np.column_stack([X, X[:, 0] + 0.1 * RNG.normal(size=1201)]),
        np.column_stack([Y, Y[:, 0]]),
    )
    result = two_sample_test_columns(Batches(wide[0], bins=100), wide[1], **RFF)
    rows = np.vstack([result.statistics, result.null_distributions])
    assert np.allclose(result.adjusted, naive_multiplicity.step_down(rows))


def test_columns_with_one_value_only_are_not_tested():
    result = two_sample_test_columns(
        Batches(X * [0.0, 1.0]), Y * [0.0, 1.0], bandwidth=[1.0, 2.0], **RFF
    )
    assert result.labels == (("x1",),) and result.pvalues[0] == 0.01
    assert result.notes[-1] == "Column 'x0' is not tested: it has the same value in every row."


def test_columns_that_cannot_be_tested():
    with pytest.raises(
        ValueError, match="X and Y: columns 'x0', 'x1' have the same value in every row"
    ):
        two_sample_test_columns(Batches(X * 0.0), Y * 0.0, **RFF)
    with pytest.raises(ValueError, match="paired= is not available"):
        two_sample_test_columns(Batches(X), Y, paired=True, **RFF)
    with pytest.raises(ValueError, match="use gram='rff'"):
        two_sample_test_columns(Batches(X, bins=500), Y)


@pytest.mark.ci
@pytest.mark.parametrize("kind", ["auto", "whitened", "columns"])
def test_level(kind):
    """The number of rejections fits an exact test."""
    rng, rejected, trials = np.random.default_rng(8), 0, 60 if kind == "auto" else 200
    for _ in range(trials):
        x, y = (Batches(np.exp(rng.normal(size=(n, 2))), bins=20) for n in (45, 100))
        options = {"gram": "rff", "rank": 6, "n_resamples": 9, "alpha": 0.1, "rng": rng}
        if kind == "columns":
            rejected += two_sample_test_columns(x, y, **options).reject().any()
        else:
            chosen = {"estimator": "auto"} if kind == "auto" else {"kernel": "whitened"}
            rejected += two_sample_test(x, y, **chosen, **options).reject()
    low, high = stats.binom(trials, 0.1).interval(0.999)
    assert rejected <= high and (kind == "columns" or low <= rejected)


def test_the_note_on_power_says_what_the_study_found():
    """Numbers of the note, of kme and whitened kernels with about as many bins as is usual."""
    table = pd.read_csv(Path(__file__).parents[2] / "docs" / "data" / "large_power.csv")
    main = table[table["estimator"].isin(["kme", "whitened"])]
    lost = main[main["bins"] == 2000].groupby("rank")["lost"].mean()
    to_bins = main[main["bins"] == 400].groupby("rank")["lost_to_bins"].mean()
    (message,) = (
        note for note in two_sample_test(Batches(X), Y, **RFF).notes if note.code == "bins-cost"
    )
    points = re.search(
        r"100 random features cost about (\d+) percentage points .* 400 features about (\d+)",
        message,
    ).groups()
    assert np.allclose(100.0 * lost.loc[[100, 400]], np.array(points, dtype=float), atol=0.5)
    assert abs(100.0 * to_bins[400]) < 1.5 and "bins cost very little" in message
