"""Tests of all pairs of samples: they are tests of two samples, adjusted; designs; results; commands."""

from __future__ import annotations

import json
import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from shrinktest import Batches, Distances, Precomputed, factor_test, k_sample_test, two_sample_test
from shrinktest.cli import main
from shrinktest.permutations.equal_pairs import shaffer


def samples(seed=0, sizes=(14, 10, 12, 8)):
    """The third sample is shifted."""
    rng = np.random.default_rng(seed)
    shifts = [0.0, 0.0, 1.5, 0.0]
    return {
        name: rng.normal(shift, 1.0, size=(size, 2))
        for name, shift, size in zip("abcd", shifts, sizes, strict=True)
    }


OPTIONS = [
    {},
    {"estimator": "fkmse"},
    {"estimator": "mmkme", "form": "biased"},
    {"estimator": "auto"},
    {"kernel": "laplacian", "bandwidth": "0.5 * median", "form": "biased"},
    {"bandwidth": ["median", "2 * median"]},
    {"scale": "rank"},
    {"stopping": "besag-clifford"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_pair_is_a_test_of_two_samples(options):
    data = samples()
    options = {**options, "n_resamples": 39}
    result = k_sample_test(data, rng=0, **options).pairwise(rng=3)
    generator = np.random.default_rng(3)
    expected = [
        two_sample_test(data[first], data[second], rng=generator, **options)
        for first, second in combinations(data, 2)
    ]
    assert result.labels == tuple(combinations(data, 2))
    assert result.pvalues.tolist() == [test.pvalue for test in expected]
    np.testing.assert_allclose(result.statistics, [test.statistic for test in expected])
    np.testing.assert_array_equal(result.adjusted, shaffer(result.pvalues, result.labels))
    areas = [test.effect().auc for test in expected]
    np.testing.assert_allclose([effect.auc for effect in result.effects.values()], areas)


def test_other_samples_change_nothing():
    data = samples()
    moved = {**data, "c": data["c"] + 50.0, "d": data["d"] * 9.0}
    before, after = (
        k_sample_test(each, n_resamples=99, rng=0).pairwise(rng=0) for each in (data, moved)
    )
    first, second = before.nulls["a", "b"], after.nulls["a", "b"]
    assert first.observed == second.observed
    np.testing.assert_array_equal(first.values, second.values)


def test_all_permutations_of_small_samples_are_counted():
    rng = np.random.default_rng(4)
    data = [rng.normal(size=4), rng.normal(size=4), rng.normal(2.0, 1.0, size=4)]
    result = k_sample_test(*data, alpha=0.2, rng=0).pairwise()
    assert result.n_resamples == 35 and result.exact
    for (first, second), pvalue in zip(combinations(range(3), 2), result.pvalues, strict=True):
        pooled = np.concatenate([data[first], data[second]])
        distances = np.abs(pooled[:, None] - pooled)
        width = np.median(distances[np.triu_indices(8, 1)])
        gram = np.exp(-(distances**2) / (2.0 * width**2))
        values = []
        for chosen in combinations(range(8), 4):
            signs = np.where(np.isin(np.arange(8), chosen), 0.25, -0.25)
            values.append(signs @ gram @ signs)
        assert pvalue == pytest.approx(np.mean(np.array(values) >= values[0] * (1.0 - 1e-9)))


def test_blocks_and_groups_are_those_of_the_test():
    rng = np.random.default_rng(5)
    sites = [np.arange(12) % 3, np.arange(15) % 3, np.arange(9) % 3]
    data = [site[:, None] * 4.0 + rng.normal(size=(len(site), 2)) for site in sites]
    options = {"n_resamples": 99}
    result = k_sample_test(*data, blocks=sites, rng=0, **options).pairwise(rng=1)
    generator = np.random.default_rng(1)
    for (i, j), pvalue in zip(combinations(range(3), 2), result.pvalues, strict=True):
        pair = two_sample_test(
            data[i], data[j], blocks=(sites[i], sites[j]), rng=generator, **options
        )
        assert pair.pvalue == pvalue
    assert result.restriction == "within 3 blocks"
    homes = [[f"{sample}{row // 3}" for row in range(12)] for sample in "xyz"]
    data = [rng.normal(size=(12, 2)) for _ in homes]
    result = k_sample_test(*data, groups=homes, alpha=0.1, rng=0, **options).pairwise(rng=1)
    assert result.restriction == "12 whole groups" and result.exact and result.n_resamples == 35


def test_a_pair_that_cannot_be_tested_has_a_reason():
    rng = np.random.default_rng(6)
    data = {"a": np.zeros(9), "b": np.zeros(9), "c": rng.normal(size=9)}
    result = k_sample_test(data, n_resamples=99, rng=0).pairwise(rng=0)
    assert list(result.untested) == [("a", "b")] and "a" in result.untested["a", "b"]
    last = result.rows()[-1]
    assert (last["first"], last["second"]) == ("a", "b") and np.isnan(last["auc"])
    # both others can be equal to c, as nothing says that a and b differ
    np.testing.assert_allclose(result.adjusted, shaffer(result.pvalues, result.labels))
    data = rng.normal(size=(3, 3))
    result = k_sample_test(*data, blocks=[[0, 1, 2]] * 3, n_resamples=99, rng=0)
    with pytest.raises(ValueError, match="can never reject"):  # 6^3 permutations, but 2^3 of two
        result.pairwise()


def test_tables_and_matrices():
    rng = np.random.default_rng(7)
    tables = {
        name: pd.DataFrame({"x": rng.normal(size=12), "kind": rng.choice(["u", "v"], 12)})
        for name in "abc"
    }
    result = k_sample_test(tables, n_resamples=19, alpha=0.2, rng=0).pairwise(rng=0)
    assert result.table[["first", "second"]].to_numpy().tolist() == [*map(list, ("ab", "ac", "bc"))]
    points = rng.normal(size=(30, 2))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    rows = np.split(np.arange(30.0), 3)
    for kernel in (Distances(distances), Precomputed(np.exp(-distances))):
        pairs = k_sample_test(*rows, kernel=kernel, n_resamples=19, alpha=0.2, rng=0).pairwise(
            rng=2
        )
        first = two_sample_test(rows[0], rows[1], kernel=kernel, n_resamples=19, alpha=0.2, rng=2)
        assert pairs.pvalues[0] == first.pvalue


def test_results_are_shown_kept_and_drawn():
    result = k_sample_test(samples(), n_resamples=199, rng=0)
    pairs = result.pairwise(confidence=0.9, rng=0)
    assert type(result).__name__ == "KSampleResult" and pairs.method == "shaffer"
    text = str(pairs.summary())
    assert "AUC, with 90% interval" in text and "tests of 6 pairs" in text
    assert pairs.reject().tolist() == [pair.count("c") == 1 for pair in pairs.labels]
    assert pickle.loads(pickle.dumps(pairs)) == pairs
    kept = pickle.loads(pickle.dumps(result.with_data()))
    assert kept.pairwise(confidence=0.9, rng=0) == pairs
    with pytest.raises(ValueError, match="pickled without its data"):
        pickle.loads(pickle.dumps(result)).pairwise()
    assert {"auc", "low", "high"} < json.loads(pairs.to_json())["tests"][0].keys()
    ax = pairs.plot()
    assert "shaffer" in ax.get_title() and len(ax.get_yticklabels()) == 6
    several = k_sample_test(samples(), estimator="auto", n_resamples=19, alpha=0.4, rng=0)
    assert type(several).__name__ == "AggregateKSampleResult" and len(several.pairwise()) == 6


def test_effects_can_be_left_out():
    pairs = k_sample_test(samples(), n_resamples=199, rng=0).pairwise(effects=False, rng=0)
    assert not pairs.effects and "auc" not in pairs.table and "AUC" not in pairs.summary()
    assert len(pairs.plot().get_yticklabels()) == 6


def test_methods():
    pairs = k_sample_test(samples(), n_resamples=199, rng=0).pairwise(method="holm", rng=0)
    assert pairs.method == "holm"
    assert (pairs.with_method("shaffer").adjusted <= pairs.adjusted).all()
    with pytest.raises(ValueError, match="permutations that all tests share"):
        pairs.with_method("westfall-young")
    few = k_sample_test(samples(), n_resamples=39, rng=0).pairwise(rng=0)
    assert [note.code for note in few.notes].count("too-few-permutations") == 1


def test_pairs_of_levels_take_the_method_too():
    data = samples()
    table = {"arm": [name for name, rows in data.items() for _ in rows]}
    tested = factor_test("arm", table, response=np.vstack([*data.values()]), rng=0)
    pairs = tested.pairwise("arm", rng=0)
    assert (pairs.with_method("shaffer").adjusted <= pairs.adjusted).all()
    assert len(pairs.plot().get_yticklabels()) == 6


def test_what_has_no_pairs(tmp_path):
    data = [*samples().values()][:3]
    with pytest.raises(ValueError, match="method must be"):
        k_sample_test(*data, rng=0).pairwise(method="shafer")
    with pytest.raises(ValueError, match="confidence"):
        k_sample_test(*data, rng=0).pairwise(confidence=2.0)
    batches = [Batches([rows]) for rows in data]
    store = tmp_path / "sums.sqlite"
    options = {"gram": "rff", "rank": 4, "bandwidth": 1.0, "store": store, "n_resamples": 39}
    with pytest.raises(ValueError, match="in batches"):
        k_sample_test(*batches, rng=0, **options).pairwise()


def test_the_command(tmp_path, capsys):
    files = []
    for name, rows in samples().items():
        files.append(str(tmp_path / f"{name}.csv"))
        pd.DataFrame(rows, columns=["u", "v"]).to_csv(files[-1], index=False)
    assert main(["k-sample", *files, "--pairwise", "--seed", "0", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["method"] == "shaffer" and len(shown["tests"]) == 6
    words = ["k-sample", *files, "--pairwise", "--exit-code", "--plot", str(tmp_path / "p.png")]
    assert main([*words, "--seed", "0"]) == 1 and (tmp_path / "p.png").exists()
    capsys.readouterr()
    assert main(["k-sample", *files, "--pairwise", "--effect"]) == 2
    assert "leave it out" in capsys.readouterr().err
