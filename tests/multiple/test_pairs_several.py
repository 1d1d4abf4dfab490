"""Several statistics of pairs in batches on shared shifts, and effects from sums."""

import numpy as np
import pytest

from shrinktest import Batches, Candidate, Ensemble, Whitened, independence_test
from shrinktest.batches.blocks import Multiplying

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1603, 2))
Y = 0.15 * X[:, :1] + RNG.normal(size=(1603, 1))
NYSTROM = {"gram": "nystrom", "rank": 8, "rng": 0, "n_resamples": 99}
LINEAR = {"kernel_x": "linear", "kernel_y": "linear", "scale": None, "rng": 0, "n_resamples": 19}


def alike(found, expected):
    assert found.statistic == expected.statistic and found.pvalue == expected.pvalue
    assert np.array_equal(found.null_distribution, expected.null_distribution)


def test_statistic_is_the_same_whatever_it_is_combined_with():
    """Also on the same shifts."""
    kernels = ["gaussian", "laplacian", Whitened()]
    found = independence_test(Batches(X), Y, kernel_x=kernels, estimator=["kme", "skmse"], **NYSTROM)
    assert len(found.members) == 6
    for i, member in enumerate(found.members):
        one = {"kernel_x": kernels[i // 2], "estimator": member.estimator}
        alike(member, independence_test(Batches(X), Y, **one, **NYSTROM))


def test_auto_is_the_same_however_rows_are_cut(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for i in range(3):
        np.save(f"p{i}.npy", np.hstack([X, Y])[535 * i : 535 * (i + 1)])
    readings, add = [], Multiplying.add

    def counting(reading, found, sample, first, values):
        readings.append(len(values))
        add(reading, found, sample, first, values)

    monkeypatch.setattr(Multiplying, "add", counting)
    expected = independence_test(Batches(X), Y, estimator="auto", **NYSTROM)
    assert sum(readings) == 1603  # once, for twelve statistics
    assert len(expected.members) == 11 and expected.pvalue <= 0.02 and expected.n_observations == (1600,)
    files = Batches("p*.npy", columns=[0, 1]), Batches("p*.npy", columns=[2])
    found = independence_test(*files, estimator="auto", workers=2, **NYSTROM)
    alike(found, expected)
    assert np.array_equal(found.adjusted, expected.adjusted) and found.table.equals(expected.table)
    assert found.effect() == expected.effect()


def test_members_for_which_there_is_no_memory():
    found = independence_test(Batches(X), Y, estimator="auto", max_memory=5e6, **NYSTROM)
    assert 1 < len(found.members) < 12
    assert any("is left out of the combination: sums of 8 x" in note for note in found.notes)
    several = Ensemble([Candidate("kme", "gaussian"), Candidate("kme", "laplacian")])
    with pytest.raises(MemoryError, match=r"beside those of 1 other statistic, take .* give a smaller rank="):
        independence_test(Batches(X), Y, estimator=several, max_memory=4e6, **NYSTROM)


def test_bandwidths_of_a_grid_and_columns():
    found = independence_test(Batches(X), Y, bandwidth_x="grid", gram="rff", rank=8, rng=0, n_resamples=99)
    assert len({member.bandwidth[0] for member in found.members}) == len(found.members) == 5


def test_effect_is_that_in_memory():
    found = independence_test(Batches(X), Y, **LINEAR).effect()
    expected = independence_test(X[:1600], Y[:1600], gram="factor", **LINEAR).effect()
    assert found.dependence == pytest.approx(expected.dependence, rel=1e-3)
    for one, other in zip(found.dependence_interval, expected.dependence_interval, strict=True):
        assert one == pytest.approx(other, abs=0.2 * expected.dependence)
    assert "jackknife over 100 groups of pairs" in found.notes[0]
    few = independence_test(Batches(X[:100]), Y[:100], **LINEAR).effect()
    assert "only 12 groups of pairs" in few.notes[0]
    with pytest.raises(ValueError, match="columns=True and folds= are for two samples"):
        independence_test(Batches(X), Y, **LINEAR).effect(columns=True)


def test_effect_of_a_combination_is_that_of_the_largest_weight():
    one = Ensemble(
        [Candidate("kme", "linear", 2.0), Candidate("kme", ("linear", Whitened())), Candidate("skmse", "linear")]
    )
    options = {**LINEAR, "gram": "auto"}
    del options["kernel_x"], options["kernel_y"]
    with pytest.raises(ValueError, match="give gram='rff'"):
        independence_test(Batches(X), Y, estimator=one, **{**options, "gram": "factor"})
    one = Ensemble([Candidate("kme", "linear", 2.0), Candidate("skmse", "linear")])
    found = independence_test(Batches(X), Y, estimator=one, **options).effect()
    assert found.dependence == independence_test(Batches(X), Y, **LINEAR).effect().dependence
    assert "The dependence is computed for the member with the largest weight" in found.notes[-1]
