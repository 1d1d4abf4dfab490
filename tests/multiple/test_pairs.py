"""Tests of independence in batches: level, power, the same bits from files, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from shrinktest import Batches, independence_test, two_sample_test
from shrinktest.batches.blocks import Multiplying
from shrinktest.kernels import FeatureMap

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1603, 2))
Y = 0.3 * X[:, :1] + RNG.normal(size=(1603, 1))
RFF = {"gram": "rff", "rank": 10, "rng": 0, "n_resamples": 99}


def test_result_says_what_was_done():
    found = independence_test(Batches(X), Y, **RFF)
    assert found.pvalue == 0.01 and found.n_observations == (1600,) and found.estimates == ()
    assert found.restriction == "within 8 successive pairs" and found.route == "rff"
    notes = " ".join(found.notes)
    assert "10 random Fourier features" in notes and "200 blocks and 100 groups" in notes
    assert "3 pairs at the end left out" in notes
    assert "successive pairs" in str(found.summary())


def test_constant_columns_are_those_of_all_rows():
    x, rare = np.hstack([np.tile(X, (5, 1)), np.full((8015, 1), 3.0)]), np.zeros((8015, 1))
    rare[1234] = 1.0  # which is not in the sample
    options = {**RFF, "scale": ["sd", "sd"], "bandwidth_y": 1.0}
    notes = " ".join(independence_test(Batches(x), np.hstack([np.tile(Y, (5, 1)), rare]), **options).notes)
    assert "X: columns 2 have one value only" in notes and "Y: columns" not in notes


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_of_numbers_have_the_notes_of_tables_in_memory(kind, tmp_path):
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.normal(size=(160, 3)), columns=["a", "b", "c"]).assign(same=2019)
    path = tmp_path / f"pairs.{kind}"
    table.to_csv(path, index=False) if kind == "csv" else table.to_parquet(path, index=False)
    x, y = (Batches(path, columns=names) for names in (["a"], ["b", "c", "same"]))
    read = independence_test(x, y, gram="nystrom", rank=20, n_resamples=19, rng=0).notes
    whole = independence_test(table[["a"]], table[["b", "c", "same"]], n_resamples=19, rng=0).notes
    assert whole and read[: len(whole)] == whole and "Y: column same has one value only, and no weight." in read
    assert sum("one value only" in note for note in read) == 1
    both = two_sample_test(path, path, gram="nystrom", rank=20, n_resamples=19, rng=0).notes
    assert [note for note in both if "one value only" in note] == [
        "X and Y: column same has one value only, and no weight."
    ]


@pytest.mark.parametrize(
    "options",
    [{"estimator": "skmse"}, {"form": "unbiased"}, {"kernel_x": "whitened"}, {"gram": "nystrom"},
     {"scale": "rank"}, {"kernel_x": "linear", "kernel_y": "linear", "gram": "auto", "rank": None}],
    ids=["skmse", "unbiased", "whitened", "nystrom", "ranks", "linear"],
)  # fmt: skip
def test_dependence_is_found_by_all_that_is_supported(options):
    assert independence_test(Batches(X), Y, **{**RFF, **options}).pvalue <= 0.02


def test_statistic_is_that_in_memory_for_the_same_features():
    options = {"kernel_x": "linear", "kernel_y": "linear", "scale": None, "rng": 0, "n_resamples": 19}
    for more in ({}, {"estimator": "skmse"}, {"form": "unbiased"}):
        found = independence_test(Batches(X), Batches(Y), **options, **more)
        expected = independence_test(X[:1600], Y[:1600], gram="factor", **options, **more)
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-3)


def test_far_data_are_as_in_memory():
    options = {"kernel_x": "linear", "kernel_y": "linear", "scale": None, "rng": 0, "n_resamples": 19}
    for form in ("biased", "unbiased"):
        found = independence_test(Batches(1e6 + X, size=77), Batches(1e3 + Y), form=form, **options)
        expected = independence_test(X[:1600], Y[:1600], gram="factor", form=form, **options)
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-3)
    again = independence_test(Batches(1e6 + X), Batches(1e3 + Y, size=500), workers=2, form="unbiased", **options)
    assert again.statistic == found.statistic and again.effect().dependence > 0.02


def test_files_of_one_source_or_two_give_the_same(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame(np.hstack([X, Y]), columns=["a", "b", "c"])
    for i in range(3):
        table[600 * i : 600 * (i + 1)].to_parquet(f"t{i}.parquet", index=False)
    table.to_csv("t.csv", index=False)
    np.save("y.npy", Y)
    expected = independence_test(Batches(X), Batches(Y), scale="sd", **RFF)
    for x, y in (
        (Batches("t*.parquet", columns=["a", "b"]), Batches("t*.parquet", columns=["c"])),
        (Batches("t.csv", columns=["a", "b"]), Batches("t.csv", columns=["c"])),
        (Batches("t.csv", columns=["a", "b"]), Batches("t*.parquet", columns=["c"])),
        (Batches("t*.parquet", columns=["a", "b"]), "y.npy"),
    ):
        found = independence_test(x, y, scale="sd", workers=2, **RFF)
        assert found.statistic == expected.statistic
        assert np.array_equal(found.null_distribution, expected.null_distribution)
    assert independence_test(x, Batches("t.csv", columns=["c"]), **RFF).columns == (("a", "b"), ("c",))


@pytest.mark.parametrize("heavy", [False, True])
def test_level(heavy):
    """300 tests of independent variables reject about as often as they should."""
    rng, level = np.random.default_rng(5 + heavy), 0.1
    draw = rng.standard_cauchy if heavy else rng.standard_normal
    options = {"n_resamples": 19, "gram": "rff", "rank": 4, "workers": 1}
    rejected = sum(
        independence_test(Batches(draw((100, 1))), Batches(draw((100, 1))), rng=rng, **options).pvalue <= level
        for _ in range(300)
    )
    low, high = stats.binom.ppf([0.0005, 0.9995], 300, level)
    assert low <= rejected <= high


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"blocks": np.zeros(1603)}, "blocks= takes all rows at once"),
        ({"shift": "circular"}, "shift= takes all rows at once"),
        ({"estimator": "fkmse"}, "use estimator='kme' or 'skmse'"),
        ({"estimator": "mkme"}, "use estimator='kme' or 'skmse'"),
        ({"estimator": "auto"}, r"not .*Energy.*; use gram='nystrom'"),
        ({"estimator": ["kme", "fkmse"]}, "use estimator='kme' or 'skmse'"),
        ({"kernel_x": ["gaussian", "energy"]}, "use gram='nystrom'"),
        ({"gram": "auto"}, "give gram='rff'"),
        ({"nan_policy": "propagate"}, "use 'raise', 'omit' or 'indicator'"),
        ({"scale": 2.0}, "scale must be a name for all variables, or a list with one entry for each of 2"),
        ({"kernel_x": "linear", "gram": "auto", "kernel_y": "linear"}, "rank=10 is for gram='nystrom' or 'rff'"),
    ],
)
def test_what_is_not_for_batches_says_so(options, said):
    with pytest.raises(ValueError, match=said):
        independence_test(Batches(X), Y, **{**RFF, **options})


def test_sources_that_make_no_pairs():
    both = np.hstack([X, Y])
    for x, y, said in (
        (Batches(both, columns=[0]), Batches(both), "are one source: say which columns"),
        (Batches(both, columns=[0, 1]), Batches(both, columns=[1]), "have the same column '1'"),
        (Batches(X, bins=500), Y, "bins=500 is for tests of samples"),
        (Batches(X[:15]), Y[:15], "have 15 pairs, and what is read in batches is permuted in blocks"),
        (Batches(X), Y[:-1], "Y has 1602 rows, and X has more"),
    ):
        with pytest.raises(ValueError, match=said):
            independence_test(x, y, **RFF)
    with pytest.raises(MemoryError, match=r"sums of 10 x 10 products, for 8 shifts in 100 groups, take"):
        independence_test(Batches(X), Y, max_memory=1000, **RFF)
    x, wild = (np.tile(one, (5, 1)) for one in (X, Y))
    wild[1234] = 1e9  # which is not in the sample
    with pytest.raises(ValueError, match=r"kernel_y: features of Linear.* so much larger than others"):
        independence_test(Batches(x), wild, kernel_x="linear", kernel_y="linear", rng=0)


class Killed(Exception):
    """Stands for the end of a process."""


def test_a_run_that_was_killed_goes_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for i in range(6):
        np.save(f"p{i}.npy", np.hstack([X, Y])[267 * i : 267 * (i + 1)])  # 1602 rows, of blocks that are cut
    monkeypatch.setattr(Multiplying, "least", 100)
    given = Batches("p*.npy", columns=[0, 1]), Batches("p*.npy", columns=[2])
    expected = independence_test(*given, **RFF)
    add, calls = Multiplying.add, []

    def dying(reading, found, sample, first, values):
        calls.append(first)
        if len(calls) == 4:
            raise Killed
        add(reading, found, sample, first, values)

    monkeypatch.setattr(Multiplying, "add", dying)
    with pytest.raises(Killed):
        independence_test(*given, store="sums.npz", workers=1, **RFF)
    found = independence_test(*given, store="sums.npz", workers=1, **RFF)
    assert calls == [0, 267, 534, 801, 534, 801, 1068, 1335]  # two pieces are a task
    assert found.statistic == expected.statistic
    assert np.array_equal(found.null_distribution, expected.null_distribution)
    with pytest.raises(ValueError, match="was begun with other random numbers"):
        independence_test(*given, store="sums.npz", **{**RFF, "rng": 1})
    with pytest.raises(ValueError, match="store= takes a seed"):
        independence_test(*given, store="sums.npz", **{**RFF, "rng": None})


def test_a_store_knows_how_much_room_features_took(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x, y = np.tile(X, (3, 1)), np.tile(Y, (3, 1))
    x[4321, 0] = y[4321] = 0.0  # which is not in the samples
    np.save("p.npy", np.hstack([x, y]))
    given = Batches("p.npy", columns=[0, 1]), Batches("p.npy", columns=[2])
    options = {"kernel_x": Wild(), "kernel_y": Wild(), "rng": 0, "n_resamples": 99}
    expected = independence_test(*given, **options)
    readings, multiply = [], Multiplying.multiply

    def counting(reading, found, blocks, rows):
        readings.append(len(blocks))
        multiply(reading, found, blocks, rows)

    monkeypatch.setattr(Multiplying, "multiply", counting)
    assert independence_test(*given, store="s.npz", **options).statistic == expected.statistic
    assert sum(readings) == 2 * 601  # all of them twice
    assert independence_test(*given, store="s.npz", **options).statistic == expected.statistic
    assert sum(readings) == 2 * 601


class Wild(FeatureMap):
    """Features that are larger in the middle than the rows that are looked at foresee."""

    def coordinates(self, X):
        return np.where(X[:, :1] == 0.0, 3000.0, X[:, :1])
