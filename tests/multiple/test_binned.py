"""Tests of samples in batches: the same bits however rows are cut, exact level, and what is refused."""

import pickle
import tracemalloc
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from answers import close
from shrinktest import Batches, k_sample_test, two_sample_test
from shrinktest.data.on_disk.bins import Bijection, Bins
from shrinktest.kernels import Linear, Rescaled

RNG = np.random.default_rng(0)
X, Y, Z = (
    RNG.normal(size=(3001, 2)),
    RNG.normal(0.1, 1.0, size=(2500, 2)),
    RNG.normal(size=(2000, 2)),
)
RFF = {"gram": "rff", "rank": 20, "rng": 0, "n_resamples": 99}


def cut(values, *sizes):
    """Batches of odd sizes, over and over."""
    ends = np.cumsum(np.resize(sizes, len(values)))
    return Batches(np.split(values, ends[ends < len(values)]), bins=100)


# --- the same whatever the cut ------------------------------------------------------------------------------


def test_columns_of_files_are_matched_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(X, columns=["a", "b"]).to_parquet("x.parquet")
    pd.DataFrame(Y[:, ::-1], columns=["b", "a"]).to_csv("y.csv", index=False)
    result = two_sample_test(
        "x.parquet", "y.csv", **RFF
    )  # in units of standard deviations, as columns of tables are
    assert close(result, two_sample_test(Batches(X), Y, scale="sd", **RFF))
    assert close(
        two_sample_test("x.parquet", "y.csv", scale=None, **RFF),
        two_sample_test(Batches(X), Y, **RFF),
    )
    pd.DataFrame(Y, columns=["a", "c"]).to_csv("z.csv", index=False)
    with pytest.raises(
        ValueError, match=r"^z\.csv has the columns a, c, and another sample a, b; choose common"
    ):
        two_sample_test("x.parquet", "z.csv", **RFF)


def test_rows_with_missing_values_are_left_out_and_counted():
    holes = X.copy()
    holes[[5, 700, 2999], [0, 1, 1]] = np.nan
    fixed = {**RFF, "bandwidth": 1.0}
    result = two_sample_test(cut(holes, 600), Batches(Y, bins=100), nan_policy="omit", **fixed)
    dropped = two_sample_test(Batches(np.delete(X, [5, 700, 2999], axis=0), bins=100), Y, **fixed)
    assert close(result, dropped)
    assert "Left out because of missing values: 3 of 3001 rows of X." in result.notes
    with pytest.raises(
        ValueError, match=r"X, batch 1 .* missing value \(NaN\) in row 700, column 1"
    ):
        two_sample_test(Batches([X[:600], holes[600:]]), Y, **RFF)


# --- what is computed ---------------------------------------------------------------------------------------


def test_the_statistic_is_the_distance_of_the_means_of_rows():
    x, y = X[:2400], Y  # bins of 49 rows would leave some over, those of 50 none
    result = two_sample_test(
        Batches(x, bins=98), y, kernel="linear", form="biased", rng=0, n_resamples=19
    )
    assert result.n_observations == (2400, 2500)
    assert result.statistic == pytest.approx(
        np.square(x.mean(axis=0) - y.mean(axis=0)).sum(), rel=1e-10
    )


def test_with_few_rows_bins_are_rows():
    """Then it is the test of the features of the rows, and by all splits the same p-value to the last bit."""
    x, y = X[:5], Y[:4]
    for form in ("biased", "unbiased"):
        result = two_sample_test(Batches(x), y, kernel="linear", form=form, n_resamples=np.inf)
        plain = two_sample_test(x, y, kernel="linear", form=form, n_resamples=np.inf)
        assert result.exact and result.pvalue == plain.pvalue
        assert result.statistic == pytest.approx(plain.statistic, rel=1e-12)
        assert np.allclose(
            np.sort(result.null_distribution), np.sort(plain.null_distribution), rtol=1e-10
        )


@pytest.fixture
def bins_of_four(monkeypatch):
    """Let bins have four rows, and return those that were drawn."""
    drawn = []

    def four(rows, bins, rng):
        drawn.append(Bins(rows, 4, tuple(Bijection.drawn(n, rng) for n in rows)))
        return drawn[-1]

    monkeypatch.setattr(Bins, "drawn", four)
    return drawn


FEW = {"bandwidth": 1.0, "rank": 6, "n_resamples": np.inf, "rng": 0}


@pytest.mark.parametrize("form", ["biased", "unbiased"])
@pytest.mark.parametrize("gram", ["rff", "nystrom"])
def test_few_bins_against_all_splits_of_their_means(bins_of_four, form, gram):
    result = two_sample_test(Batches(X[:21]), Y[:18], form=form, gram=gram, **FEW)
    (bins,) = bins_of_four
    features, means = result.estimates[0].features, []
    for values, shuffled in zip((X[:21], Y[:18]), bins.shuffles, strict=True):
        z, places = features.coordinates(values), shuffled(np.arange(len(values))) // 4
        means += [z[places == j].mean(axis=0) for j in range(len(values) // 4)]
    gram = np.array(means) @ np.array(means).T

    def statistic(first):
        second = [i for i in range(9) if i not in first]
        a, b, c = (
            gram[np.ix_(first, first)],
            gram[np.ix_(second, second)],
            gram[np.ix_(first, second)],
        )
        if form == "biased":
            return a.mean() + b.mean() - 2.0 * c.mean()
        off = [
            (block.sum() - np.trace(block)) / (len(block) * (len(block) - 1)) for block in (a, b)
        ]
        return sum(off) - 2.0 * c.mean()

    null = [statistic(list(first)) for first in combinations(range(9), 5)]
    assert result.exact and result.n_observations == (20, 16)
    assert result.statistic == pytest.approx(null[0], rel=1e-9, abs=1e-14)
    assert np.allclose(np.sort(result.null_distribution), np.sort(null), rtol=1e-8, atol=1e-13)
    assert result.pvalue == pytest.approx(np.mean(np.array(null) >= null[0] - 1e-12))


def test_few_bins_against_scipy(bins_of_four):
    result = two_sample_test(Batches(X[:21]), Y[:18], form="biased", gram="rff", **FEW)
    (means,) = result.context.hypothesis.means

    def statistic(i, j):
        return np.square(
            means[i.astype(int)].mean(axis=0) - means[j.astype(int)].mean(axis=0)
        ).sum()

    other = stats.permutation_test(
        (np.arange(5.0), np.arange(5.0, 9.0)),
        statistic,
        n_resamples=np.inf,
        vectorized=False,
        alternative="greater",
    )
    assert result.pvalue == pytest.approx(other.pvalue) and result.statistic == pytest.approx(
        other.statistic
    )


@pytest.mark.parametrize("bins", [800, 200])
def test_permutations_of_bins_spread_as_much_as_those_of_rows(bins):
    """Hundreds of bins have the power of rows, and about the same shrinkage."""
    options = {**RFF, "n_resamples": 499, "bandwidth": 1.0, "estimator": "skmse"}
    spreads = []
    for seed in range(
        8
    ):  # which rows share a bin moves the spread by an eighth or so, with 200 bins
        rows = two_sample_test(Batches(X, bins=10_000), Y, **options | {"rng": seed})
        binned = two_sample_test(Batches(X, bins=bins), Y, **options | {"rng": seed})
        assert rows.n_observations == (3001, 2500) and len(binned.estimates[0].points) < bins
        spreads.append(binned.null_distribution.std() / rows.null_distribution.std())
        for estimate, other in zip(binned.estimates, rows.estimates, strict=True):
            assert estimate.shrinkage == pytest.approx(other.shrinkage, rel=0.25)
    assert np.mean(spreads) == pytest.approx(1.0, abs=0.15)


def test_several_samples_and_their_names():
    named = k_sample_test({"a": Batches(X), "b": Y, "c": Z}, **RFF)
    assert named.names == ("a", "b", "c") and named.pvalue == 0.01
    two = k_sample_test(Batches(X), Y, **RFF)
    assert two.statistic == two_sample_test(Batches(X), Y, **RFF).statistic
    pooled = k_sample_test(
        Batches(X), Y, Z, comparison="pooled", weights="equal", stopping="curtailed", **RFF
    )
    assert pooled.form == "biased" and pooled.pvalue <= 0.05


@pytest.mark.ci
@pytest.mark.parametrize(("sizes", "seed"), [((60, 60), 1), ((45, 130), 2)])
def test_level(sizes, seed):
    """The number of rejections fits an exact test, for bins of several rows, some left over, and landmarks."""
    rng, rejected, trials = np.random.default_rng(seed), 0, 400
    for i in range(trials):
        x, y = (np.exp(rng.normal(size=(n, 2))) for n in sizes)
        gram = "rff" if i % 2 else "nystrom"
        result = two_sample_test(
            Batches(x, bins=20), y, gram=gram, rank=8, n_resamples=9, alpha=0.1, rng=rng
        )
        assert result.n_observations != sizes or sizes == (60, 60)
        rejected += result.reject()
    low, high = stats.binom(trials, 0.1).interval(0.999)
    assert low <= rejected <= high


# --- what a result says -------------------------------------------------------------------------------------


def test_notes_say_what_was_permuted_and_what_was_left_out():
    result = two_sample_test(Batches(X, bins=100), Y, **RFF)
    assert result.route == "rff" and result.n_observations == (2968, 2464)
    notes = "\n".join(result.notes)
    assert "The statistic is computed from an approximation by 20 random Fourier features" in notes
    assert "53 + 44 randomly formed bins of 56 rows were permuted instead of single rows." in notes
    assert "33 + 36 rows, which fill no bin, are left out." in notes
    assert "from a random sample of 2000 rows." in notes
    every = two_sample_test(Batches(X[:1000], bins=100), Y[:1000], **RFF)
    assert not any("random sample" in note for note in every.notes)
    assert "No. observations:" in str(result.summary()) and "2968 + 2464" in str(result.summary())


def test_units_are_those_of_all_rows():
    wide = X * [1.0, 1000.0]
    result = two_sample_test(Batches(wide), Y * [1.0, 1000.0], scale="sd", bandwidth=1.0, **RFF)
    pooled = np.vstack([wide, Y * [1.0, 1000.0]]).std(axis=0)
    assert result.bandwidth == pytest.approx(tuple(pooled), rel=1e-12)
    given = two_sample_test(
        Batches(wide), Y * [1.0, 1000.0], scale=tuple(pooled), bandwidth=1.0, **RFF
    )
    assert given.bandwidth == pytest.approx(result.bandwidth)
    far = two_sample_test(Batches(wide), Y * [1.0, 1000.0], **RFF)
    assert any("scale" in note for note in far.notes) and not any(
        "units" in note for note in given.notes
    )
    alike = two_sample_test(
        Batches(np.column_stack([X, np.ones(3001)])), np.column_stack([Y, np.ones(2500)]), **RFF
    )
    assert any("columns 2 have only one value" in note for note in alike.notes)


def test_the_witness_function_is_that_of_the_means():
    result = two_sample_test(Batches(X, bins=100), Y, **RFF)
    plain = two_sample_test(
        X, Y, bandwidth=result.bandwidth, gram="rff", rank=400, rng=1, n_resamples=19
    )
    points = np.array([[0.0, 0.0], [1.0, 1.0], [-1.0, -1.0]])
    assert np.allclose(result.witness(points), plain.witness(points), atol=0.05)
    assert result.witness(points)[2] > 0.0 > result.witness(points)[1]
    with pytest.raises(ValueError, match="points has 3 columns, the embedding's points have 2"):
        result.witness(np.zeros((1, 3)))


def test_the_witness_function_of_files_knows_their_columns(tmp_path):
    pd.DataFrame(X, columns=["a", "b"]).to_parquet(tmp_path / "x.parquet")
    result = two_sample_test(tmp_path / "x.parquet", Y, **RFF)
    at = pd.DataFrame([[0.5, -1.0]], columns=["a", "b"])
    assert result.witness(at) == result.witness([[0.5, -1.0]])
    assert result.witness(at[["b", "a"]]) == result.witness(at)


def test_progress_is_shown_while_features_are_added_up(capsys):
    two_sample_test(Batches(X), Y, progress=True, **RFF)
    assert "blocks" in capsys.readouterr().err


def test_the_effect_is_the_distance_with_bins_for_units():
    result = two_sample_test(Batches(X, bins=400), Y, **{**RFF, "rank": 600})
    effect = result.effect()
    plain = two_sample_test(X, Y, bandwidth=result.bandwidth, rng=0, n_resamples=19).effect()
    assert effect.distance == pytest.approx(plain.distance, abs=5e-4)
    assert np.allclose(effect.distance_interval, plain.distance_interval, atol=2e-3)
    assert np.isnan(effect.auc) and any(note.code == "no-separability" for note in effect.notes)
    several = k_sample_test(Batches(X), Y, Z, **RFF).effect()
    assert (
        several.distance.loc["sample 0", "sample 1"] > several.distance.loc["sample 0", "sample 2"]
    )
    assert repr(several) == "KSampleEffect(3 samples)"


def test_what_takes_rows_is_refused_with_the_reason():
    result = two_sample_test(Batches(X), Y, **RFF)
    for ask in (
        result.witness_band,
        result.plot_witness,
        result.contributions,
        lambda: result.effect(columns=True),
    ):
        with pytest.raises(ValueError, match=" in batches"):
            ask()
    with pytest.raises(ValueError, match="not available for data in batches"):
        two_sample_test(Batches(X), Y, kernel="linear", rng=0, n_resamples=99).effect()


def test_results_are_kept_in_files():
    result = two_sample_test(Batches(X), Y, **RFF)
    assert pickle.loads(pickle.dumps(result)).pvalue == result.pvalue
    loaded = pickle.loads(pickle.dumps(result.with_data()))
    assert loaded.effect().distance == result.effect().distance


# --- what is refused before any row is read -----------------------------------------------------------------


class Untouched:
    """Batches that must not be read."""

    def __iter__(self):
        return self._rows()

    def _rows(self):
        raise AssertionError("was read")
        yield


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rank": 5}, "gram='auto' with Gaussian.* use gram='rff' .* or gram='nystrom'"),
        ({"gram": "dense"}, "gram='dense' with Gaussian"),
        ({"gram": "rff", "blocks": [0]}, "blocks= is not available for data in batches"),
        ({"gram": "rff", "covariates": (X, Y)}, "covariates= is not available for data in batches"),
        ({"gram": "rff", "paired": True}, "paired= is not available for data in batches"),
        ({"gram": "rff", "groups": [0]}, "groups= is not available for data in batches"),
        (
            {"gram": "rff", "permutations": [[0, 1]]},
            "permutations= is not available for data in batches",
        ),
        ({"gram": "rff", "transform": np.log}, "transform= is not available for data in batches"),
        ({"gram": "rff", "column_types": "number"}, "column_types must be a dict"),
        ({"estimator": "auto", "rank": 5}, "gram='auto' with Gaussian.* use gram='rff'"),
        ({"gram": "rff", "estimator": ["kme", "mkme"]}, "MKME.* is not available"),
        ({"gram": "rff", "estimator": "auto", "kernel": "laplacian"}, "has its own kernels"),
        ({"gram": "rff", "rank": 0}, "rank must be"),
        ({"gram": "rff", "estimator": "mkme"}, "is not available"),
        ({"gram": "rff", "estimator": lambda gram: gram.mean(axis=0)}, "is not available"),
        ({"kernel": "whitened", "rank": 5}, "Whitened.* use gram='rff'"),
        ({"kernel": "linear", "rank": 5}, "rank=5 is for gram='nystrom' or 'rff'"),
        ({"gram": "rff", "scale": "ranks"}, "scale must be one of"),
    ],
)
def test_refused(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        two_sample_test(Batches(Untouched()), Batches(Untouched()), **options)
    if not {"paired", "covariates"} & options.keys():
        with pytest.raises((ValueError, TypeError), match=message):
            k_sample_test(Batches(Untouched()), Batches(Untouched()), **options)


@pytest.mark.parametrize("scale", [{"a": 1.0}, ("sd", "rank")])
def test_arrays_have_one_name_of_units(scale):
    with pytest.raises(ValueError, match="scale: numbers on disk have one name for all columns"):
        two_sample_test(Batches(X), Y, gram="rff", scale=scale)


def test_one_sample_is_none_to_compare_with():
    with pytest.raises(ValueError, match="a test requires two or more samples, got 1"):
        k_sample_test(Batches(Untouched()), gram="rff")


def test_kernels_that_are_not_for_random_fourier_features():
    with pytest.raises(ValueError, match="gram='rff' draws from the spectral distribution"):
        two_sample_test(Batches(X), Y, kernel="energy", **RFF)
    assert (
        two_sample_test(Batches(X), Y, kernel="energy", **{**RFF, "gram": "nystrom"}).pvalue == 0.01
    )
    scaled = two_sample_test(
        Batches(X), Y, kernel=Rescaled(Linear(), (1.0, 2.0)), rng=0, n_resamples=99
    )
    assert scaled.route == "factor" and scaled.pvalue == 0.01


# --- memory -------------------------------------------------------------------------------------------------


class Simulated:
    """A million rows, which are never in memory all at once."""

    def __init__(self, seed):
        self.seed = seed

    def __iter__(self):
        rng = np.random.default_rng(self.seed)
        return (rng.normal(size=(20_000, 4)) for _ in range(50))


@pytest.mark.ci
def test_memory_is_that_of_a_batch():
    two_sample_test(Batches(X), Y, **RFF)  # what is imported and compiled
    tracemalloc.start()
    try:
        result = two_sample_test(Batches(Simulated(1)), Batches(Simulated(2)), bandwidth=2.0, **RFF)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result.n_observations == (1_000_000, 1_000_000)
    assert peak < 64e6 / 4.0  # the samples take 64 MB
