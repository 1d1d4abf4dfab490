"""Power studies of more than two samples or variables."""

from __future__ import annotations

from dataclasses import dataclass

import matplotlib
import numpy as np
import pytest

from shrinktest import joint_independence_test, k_sample_test, power_study, solve_sample_size
from shrinktest.power import designs

FEW = {"n_trials": 6, "n_resamples": 39, "workers": 1, "progress": False}


@pytest.mark.parametrize(
    ("design", "test", "options"),
    [
        (designs.OneApart(samples=4, ratio=0.5), k_sample_test, {"comparison": "pooled"}),
        (designs.OneApart(samples=3), k_sample_test, {"blocks": np.arange(24) % 3}),
        (designs.Parity(variables=4), joint_independence_test, {"bandwidths": 1.5}),
    ],
)
def test_studies_run_the_test_on_the_design(design, test, options):
    result = power_study(design, ["kme", "skmse"], [8], test_options=options, **FEW)
    for row in result.pvalues.itertuples():
        twin = design.null() if row.null else design
        streams = [np.random.SeedSequence(0, spawn_key=(8, int(row.null), row.trial, s)) for s in (0, 1)]
        data = twin.sample(np.random.default_rng(streams[0]), 8)
        assert row.pvalue == test(*data, estimator=row.estimator, rng=streams[1], n_resamples=39, **options).pvalue
    assert design.test in result.summary()
    ax = result.plot()
    assert ax.get_xlabel() in ("n, observations in the first sample", "n, rows")
    matplotlib.pyplot.close(ax.figure)


def test_samples_of_one_apart_have_their_sizes_and_the_last_is_moved():
    samples = designs.OneApart(samples=3, dimension=2, shift=3.0, ratio=2.0).sample(0, 500)
    assert [len(sample) for sample in samples] == [500, 500, 1000]
    means = np.array([sample.mean(axis=0) for sample in samples])
    assert np.allclose(means, [[0, 0], [0, 0], [3, 0]], atol=0.2)


@pytest.mark.parametrize("strength", [0.0, 0.5, 1.0])
def test_signs_of_parity_multiply_to_one_as_often_as_they_should(strength):
    variables = np.hstack(designs.Parity(variables=3, strength=strength).sample(1, 4000))
    share = (variables.prod(axis=1) > 0).mean()
    assert abs(share - (0.5 + strength / 2)) < 0.03
    assert np.abs(np.corrcoef(np.sign(variables).T) - np.eye(3)).max() < 0.06  # any two are independent
    assert np.allclose(variables.std(axis=0), 1.0, atol=0.05)


def test_null_twins_and_names():
    assert designs.as_design("one-apart").null() == designs.OneApart(shift=0.0)
    assert designs.as_design("parity").null() == designs.Parity(strength=0.0)
    assert designs.Parity(strength=0.0).null() == designs.Parity(strength=0.0)
    assert {"one-apart", "parity"} <= set(designs.DESIGNS)
    with pytest.warns(DeprecationWarning, match="part of designs.DESIGNS"):
        assert set(designs.SEVERAL) == {"one-apart", "parity"}
    with pytest.raises(ValueError, match="Did you mean 'parity'"):
        designs.as_design("paritty")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: designs.Parity(strength=2.0), "strength must be a number from 0 to 1"),
        (lambda: designs.OneApart(samples=1), "samples must be an integer >= 2"),
        (lambda: designs.Parity().sample(0, 1), "needs n >= 2"),
        (lambda: designs.Parity().sample(0, 5, 6), "leave out m"),
        (lambda: power_study("one-apart", "kme", 5, test_options={"blocks": range(15)}, **FEW), "leaves 1 different"),
        (lambda: power_study("parity", "kme", 5, test_options={"bandwidth": 1.0}, **FEW), "must be one of 'kernels'"),
    ],
)
def test_bad_input_says_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_too_few_shuffles_are_warned_of():
    with pytest.warns(UserWarning, match="n=3 has only 6 different permutations"):
        power_study(designs.Parity(variables=2), "kme", 3, **{**FEW, "n_resamples": 999})
    with pytest.warns(UserWarning, match="n=2 has only 15 different permutations"):
        power_study(designs.OneApart(), "kme", 2, **{**FEW, "n_resamples": 999})


def test_sample_size_of_more_than_two_samples():
    found = solve_sample_size(
        designs.OneApart(shift=2.0, dimension=2), n_trials=100, n_resamples=39, workers=1, progress=False, largest=200
    )
    assert 3 <= found.n <= 30 and f"With {found.n} observations in each sample" in found.summary()


@dataclass(frozen=True, repr=False)
class Apart(designs.Design):
    """A design of one's own: its test, and how its data are drawn."""

    test = "k-sample"
    ratio = 0.5
    shift: float = 1.0

    def draw(self, rng, n, m):
        return rng.normal(size=(n, 1)), rng.normal(size=(n, 1)), self.shift + rng.normal(size=(m, 1))


def test_a_design_of_ones_own_is_one_class():
    design = Apart(shift=50.0)
    assert repr(design) == "Apart(shift=50.0)"
    assert [len(sample) for sample in design.sample(0, 20)] == [20, 20, 10]
    twin = design.null()
    assert twin == designs.Relabelled(design) and twin.null() is twin and twin.test == "k-sample"
    relabelled = twin.sample(0, 20)
    assert [len(sample) for sample in relabelled] == [20, 20, 10]
    np.testing.assert_array_equal(
        np.sort(np.vstack(relabelled), axis=0), np.sort(np.vstack(design.sample(0, 20)), axis=0)
    )
    assert (np.vstack(relabelled[:2]) > 25).any() and (relabelled[2] < 25).any()


def test_variables_relabelled_keep_their_values_and_lose_their_ties():
    design = designs.Parity(strength=1.0)
    x, y, z = designs.Relabelled(design).sample(3, 200)
    data = design.sample(3, 200)
    np.testing.assert_array_equal(x, data[0])
    for moved, values in ((y, data[1]), (z, data[2])):
        np.testing.assert_array_equal(np.sort(moved, axis=0), np.sort(values, axis=0))
    assert 60 < (x * y * z > 0).sum() < 140
