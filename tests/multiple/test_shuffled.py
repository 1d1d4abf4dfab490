"""Tests of samples in batches whose rows are permuted one by one: a slow twin, the same bits, level, refusals."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import naive_shuffles
from shrinktest import SKMSE, Batches, Gaussian, k_sample_test, two_sample_test, two_sample_test_columns
from shrinktest.batches.labels import Labelling
from shrinktest.kernels import FeatureMap

RNG = np.random.default_rng(0)
X, Y, Z = RNG.normal(size=(61, 2)), RNG.normal(0.3, 1.0, size=(40, 2)), RNG.normal(size=(25, 2))
LONG = RNG.normal(size=(5003, 2)), RNG.normal(0.03, 1.0, size=(4000, 2))
RFF = {"gram": "rff", "rank": 12, "rng": 0, "n_resamples": 19, "alpha": 0.2}


def free(values, *sizes, **options):
    """Batches of odd sizes, over and over, or an array as it is."""
    if not sizes:
        return Batches(values, bins=None, **options)
    ends = np.cumsum(np.resize(sizes, len(values)))
    return Batches(np.split(values, ends[ends < len(values)]), bins=None)


def same(one, other):
    return (one.statistic, one.pvalue) == (other.statistic, other.pvalue) and np.array_equal(
        one.null_distribution, other.null_distribution
    )


def twin(result, samples, **options):
    """All statistics by loops over permutations, with the features and the keys of the result."""
    features = result.estimates[0].features.coordinates(np.vstack(samples))
    shuffles = result.again.hypothesis.shuffles
    every = naive_shuffles.labels(tuple(map(len, samples)), shuffles.start.keys, shuffles.keys)
    return np.array([naive_shuffles.distance(features, own, **options) for own in every])


def agrees(result, expected):
    found = np.append(result.statistic, result.null_distribution)
    scale = np.abs(expected).max()
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-9 * scale)
    assert result.pvalue == pytest.approx((1 + (expected[1:] >= expected[0] - 1e-10 * scale).sum()) / len(expected))


# --- what is computed ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["biased", "unbiased"])
@pytest.mark.parametrize(
    "options",
    [RFF, {**RFF, "gram": "nystrom"}, {**RFF, "gram": "auto", "rank": None, "kernel": "linear"}],
    ids=["rff", "nystrom", "linear"],
)
def test_against_the_slow_twin(options, form):
    result = two_sample_test(free(X), Y, form=form, **options)
    agrees(result, twin(result, (X, Y), unbiased=form == "unbiased"))
    assert result.n_observations == (61, 40)
    tuned = two_sample_test(free(X), Y, estimator=SKMSE(tuning="sample"), form=form, **options)
    agrees(tuned, twin(tuned, (X, Y), unbiased=form == "unbiased", shrink=naive_shuffles.apart))


@pytest.mark.parametrize("kernel", ["whitened", "second-order"])
def test_kernels_that_are_made_of_others(kernel):
    if kernel == "second-order":
        from shrinktest.kernels import SecondOrder

        kernel = SecondOrder(Gaussian(1.0))
    result = two_sample_test(free(X), Y, kernel=kernel, form="biased", **{**RFF, "rank": 6})
    agrees(result, twin(result, (X, Y)))


def test_three_samples():
    result = k_sample_test(free(X), Y, Z, form="unbiased", **RFF)
    agrees(result, twin(result, (X, Y, Z), unbiased=True))
    pooled = k_sample_test(free(X), Y, Z, comparison="pooled", estimator="skmse", **RFF)
    assert pooled.form == "biased" and np.unique(pooled.null_distribution).size == 19


def test_joint_tuning_of_unequal_sizes_and_the_estimates():
    result = two_sample_test(free(X), Y, estimator="skmse", **RFF)
    binned = two_sample_test(Batches(X, bins=20_000), Y, estimator="skmse", **RFF)  # bins of one row
    assert result.tuning == "joint" and result.statistic == pytest.approx(binned.statistic, rel=1e-9)
    for one, other in zip(result.estimates, binned.estimates, strict=True):
        assert one.n == other.n and one.shrinkage == pytest.approx(other.shrinkage, rel=1e-9)
    points = np.array([[0.0, 0.0], [1.0, -1.0]])
    assert np.allclose(result.witness(points), binned.witness(points), rtol=1e-9)


def test_the_null_distribution_is_that_of_random_permutations():
    result = two_sample_test(free(X), Y, form="biased", bandwidth=1.0, **{**RFF, "n_resamples": 1999})
    binned = two_sample_test(Batches(X, bins=20_000), Y, form="biased", bandwidth=1.0, **{**RFF, "n_resamples": 1999})
    assert stats.ks_2samp(result.null_distribution, binned.null_distribution).pvalue > 1e-3


class Counted:
    """Rows that count how often they are read."""

    def __init__(self, values):
        self.values, self.times = values, 0

    def __iter__(self):
        self.times += 1
        return iter([self.values])


class Growing(FeatureMap):
    """One feature, which is larger where nobody looks before all rows are read."""

    def __init__(self, most):
        self.most = most

    def coordinates(self, X):
        return np.where((X[:, 1:] < -100.0) & (np.abs(X[:, :1]) < 1.0), self.most, X[:, :1])


def test_features_that_turn_out_larger_are_read_again_with_more_room():
    given = Counted(np.vstack([np.resize(X, (3000, 2)), [[0.5, -200.0]]]))
    options = {"form": "biased", "n_resamples": 9, "alpha": 0.5, "rng": 2}  # by which it is not among the 2000 rows
    result = two_sample_test(free(given), Y, kernel=Growing(1e4), **options)
    agrees(result, twin(result, (given.values, Y)))
    assert given.times == 4  # to look whether it is a table, to count, and to add up twice
    with pytest.raises(ValueError, match="are no finite numbers for some rows"):
        two_sample_test(free(given), Y, kernel=Growing(1e308), **options)
    with pytest.raises(ValueError, match="so much larger than others that whole numbers of 43 bits hold not both"):
        two_sample_test(free(given), Y, kernel=Growing(1e15), **options)


def test_another_seed_has_other_permutations_and_a_generator_goes_on():
    one = two_sample_test(free(X), Y, kernel="linear", n_resamples=19, alpha=0.2, rng=0)
    other = two_sample_test(free(X), Y, kernel="linear", n_resamples=19, alpha=0.2, rng=1)
    assert not np.array_equal(one.null_distribution, other.null_distribution)
    rng = np.random.default_rng(0)
    again = [two_sample_test(free(X), Y, kernel="linear", n_resamples=19, alpha=0.2, rng=rng) for _ in range(2)]
    assert same(again[0], one) and not same(again[1], one)


def test_ties_count():
    alike = np.ones((12, 1))
    assert two_sample_test(free(alike), alike, kernel="linear", n_resamples=19, alpha=0.2, rng=0).pvalue == 1.0
    x, y = np.tile([[0.0], [1.0]], (4, 1)), np.tile([[0.0], [1.0]], (3, 1))
    assert (
        two_sample_test(free(x), y, form="biased", **{**RFF, "bandwidth": 1.0}).pvalue == 1.0
    )  # there is no difference


@pytest.mark.parametrize(("sizes", "seed"), [((60, 40), 1), ((20, 15, 10), 2)])
def test_level(sizes, seed):
    rng, rejected, trials = np.random.default_rng(seed), 0, 300
    for _ in range(trials):
        samples = [rng.normal(size=(n, 1)) for n in sizes]
        result = k_sample_test(
            free(samples[0]), *samples[1:], gram="rff", rank=6, bandwidth=1.0, n_resamples=99, alpha=0.1, rng=rng
        )
        rejected += result.reject()
    low, high = stats.binom(trials, 0.1).interval(0.999)
    assert low <= rejected <= high


def test_level_of_so_few_rows_that_networks_are_not_random():
    """Of five rows networks are far from all permutations; ranks are exact all the same."""
    rng, trials = np.random.default_rng(3), 300
    rejected = 0
    for _ in range(trials):
        x, y = rng.normal(size=(3, 1)), rng.normal(size=(2, 1))
        result = two_sample_test(free(x), y, kernel="linear", n_resamples=9, alpha=0.3, rng=rng)
        rejected += result.reject()
    assert rejected <= stats.binom(trials, 0.3).ppf(0.9995)  # ties make it fewer


@pytest.mark.parametrize(("estimator", "far"), [("kme", 1e7), ("skmse", 1e3)])  # what is shrunken is seen from zero
@pytest.mark.parametrize("form", ["biased", "unbiased"])
def test_far_data_are_as_in_memory(form, estimator, far):
    """Rows as far from zero as dates in seconds: what all share would take the digits of whole numbers."""
    x, y, z = far + X, far + Y, far + Z
    options = {"kernel": "linear", "form": form, "estimator": estimator, "rng": 0, "n_resamples": 19}
    found, expected = two_sample_test(free(x), y, **options), two_sample_test(x, y, **options)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-6)
    near = two_sample_test(free(X), Y, **{**options, "estimator": "kme"})
    assert found.null_distribution == pytest.approx(near.null_distribution, rel=1e-3, abs=1e-4)
    for one, other in zip(found.estimates, expected.estimates, strict=True):
        assert one.norm2() == pytest.approx(other.norm2())
    several, whole = (k_sample_test(*some, **options) for some in ([free(x), y, z], [x, y, z]))
    assert several.statistic == pytest.approx(whole.statistic, rel=1e-6)


# --- the same whoever reads ---------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [RFF, {**RFF, "gram": "nystrom", "estimator": "skmse"}], ids=["rff", "nystrom"])
def test_bits_do_not_depend_on_who_reads_what(options, tmp_path):
    x, y = LONG
    whole = two_sample_test(free(x), y, workers=1, **options)
    for first, second in (((1, 700, 13), (4000,)), ((1025,), (333, 1)), ((5000,), (64,))):
        assert same(two_sample_test(free(x, *first), free(y, *second), workers=2, **options), whole)
    for i, part in enumerate(np.array_split(x, 3)):
        pd.DataFrame(part, columns=["a", "b"]).to_csv(tmp_path / f"x{i}.csv", index=False)
    files = Batches(str(tmp_path / "x*.csv"), bins=None, size=501)
    with ThreadPoolExecutor(3) as pool:
        found = two_sample_test(files, free(y, size=77), workers=pool, scale=None, **options)
    assert same(found, whole)


def test_a_store_keeps_the_sums(tmp_path, monkeypatch):
    x, y = LONG
    store = tmp_path / "sums.npz"
    first = two_sample_test(free(x), y, store=store, **RFF)
    with monkeypatch.context() as patched:
        patched.delattr(Labelling, "add")  # nothing is added up any more
        assert same(two_sample_test(free(x), y, store=store, **RFF), first)
    with pytest.raises(ValueError, match="store="):
        two_sample_test(free(x), y, store=store, **{**RFF, "rng": 1})


def test_far_data_are_the_same_whoever_reads_and_in_a_store(tmp_path, monkeypatch):
    x, y = (1e9 + one for one in LONG)
    options = {"kernel": "linear", "n_resamples": 19, "rng": 0}
    whole = two_sample_test(free(x), y, store=tmp_path / "sums.npz", **options)
    assert same(two_sample_test(free(x, 1, 700, 13), free(y, 333), workers=2, **options), whole)
    monkeypatch.delattr(Labelling, "add")
    assert same(two_sample_test(free(x), y, store=tmp_path / "sums.npz", **options), whole)


# --- what a result says, and what is refused ----------------------------------------------------------------


def test_notes_and_what_there_is_not():
    result = two_sample_test(free(X), Y, **RFF)
    notes = "\n".join(result.notes)
    assert "Rows were permuted one by one, by shuffles of their numbers with random keys: the level is exact" in notes
    assert "bins" not in notes.split("What rank and bins cost")[0]
    with pytest.raises(ValueError, match=r"bins=None.* nothing was kept .* run the test with bins=2000"):
        result.effect()
    for ask in (result.witness_band, result.plot_witness, result.contributions):
        with pytest.raises(ValueError, match="were read in batches"):
            ask()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"estimator": "fkmse"}, "takes more than the sum of the features .* use estimator='kme' or 'skmse'"),
        ({"estimator": ["kme", "skmse"]}, "bins=None .* one estimator, one kernel and one bandwidth"),
        ({"estimator": "auto"}, "bins=None .* one estimator, one kernel and one bandwidth"),
        ({"bandwidth": [0.5, 1.0]}, "bins=None .* one estimator, one kernel and one bandwidth"),
        ({"estimator": SKMSE(tuning="pooled")}, "tuning='pooled' takes rows.* use tuning='joint'"),
        ({"stopping": "curtailed"}, "stopping= ends the drawing .* leave out stopping="),
        ({"n_resamples": np.inf}, "n_resamples=inf asks for all .* such as 999"),
    ],
)
def test_refused_before_a_row_is_read(options, said):
    given = Counted(X)
    with pytest.raises(ValueError, match=said):
        two_sample_test(free(given), Y, **{"gram": "rff", **options})
    assert given.times == 0


def test_bins_are_for_all_samples_or_none():
    with pytest.raises(ValueError, match=r"bins= is the same for all samples .* found \[2000, None\]"):
        two_sample_test(free(X), Batches(Y), **RFF)
    with pytest.raises(ValueError, match="bins=None is for one test, of all columns"):
        two_sample_test_columns(free(X), Y, gram="rff")


def test_sums_that_take_too_much_memory():
    with pytest.raises(MemoryError, match=r"sums of 12 features for 19 permutations take .* smaller rank=, fewer n_"):
        two_sample_test(free(X), Y, max_memory=1e4, **RFF)


def test_other_rows_the_second_time():
    class Shrinking(Counted):
        def __iter__(self):  # the first time shows whether it is a table, the next one counts
            return iter([batch for batch in super().__iter__() for _ in range(max(1, 4 - self.times))])

    with pytest.raises(ValueError, match="X had 122 rows when it was read first, and 61 the second time"):
        two_sample_test(free(Shrinking(X)), Y, **RFF)
