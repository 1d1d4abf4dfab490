"""estimator="auto" in every test: level by enumeration, value, invariance, small and tied data."""

from __future__ import annotations

import itertools
import json
import pickle

import matplotlib
import numpy as np
import pytest

import naive_kernels as naive
import naive_multiplicity
from cases import values
from shrinktest import (
    Candidate,
    Energy,
    Ensemble,
    Gaussian,
    Laplacian,
    Whitened,
    independence_matrix,
    independence_test,
    joint_independence_test,
    k_sample_test,
    symmetry_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.auto import recommended
from shrinktest.kernels import Rescaled
from shrinktest.kernels.pooled import Differences

rng = np.random.default_rng(1)
X, Y, THIRD = rng.normal(size=(9, 2)), 2.0 * rng.normal(size=(7, 2)), rng.normal(size=(6, 2))
PARTNER = np.column_stack([X[:, 0] ** 2, rng.normal(size=9)])
FEW = {"n_resamples": 59, "rng": 3, "workers": 1, "estimator": "auto"}
ALL = {**FEW, "n_resamples": np.inf, "alpha": 0.5}
EVERY = {
    "two samples": lambda **more: two_sample_test(X, Y, **{**FEW, **more}),
    "three samples": lambda **more: k_sample_test(X, Y, THIRD, **{**FEW, **more}),
    "pooled": lambda **more: k_sample_test(X, Y, THIRD, comparison="pooled", **{**FEW, **more}),
    "pairs": lambda **more: independence_test(X, PARTNER, **{**FEW, **more}),
    "several": lambda **more: joint_independence_test(X[:, 0], X[:, 1], PARTNER, **{**FEW, **more}),
}


def assert_never_too_often(pvalues):
    """At most k of N equally likely data have p <= k / N, and some p-values are small."""
    number = len(pvalues)
    counts = [sum(p <= k / number + 1e-12 for p in pvalues) for k in range(1, number + 1)]
    assert all(count <= k for k, count in enumerate(counts, start=1))
    assert min(pvalues) <= 2 / number + 1e-12 and len(set(pvalues)) > number / 10


DRAWS = np.random.default_rng(3)
EIGHT = {
    "normal": DRAWS.normal(size=(8, 2)),
    "lattice": DRAWS.integers(0, 4, size=(8, 2)).astype(float),
}


@pytest.mark.parametrize("points", ["normal", pytest.param("lattice", marks=pytest.mark.ci)])
def test_every_split_of_eight_points(points):
    pvalues = []
    for chosen in itertools.combinations(range(8), 4):
        if 0 not in chosen:  # the same two samples in another order
            continue
        rest = [i for i in range(8) if i not in chosen]
        pvalues.append(
            two_sample_test(EIGHT[points][list(chosen)], EIGHT[points][rest], **ALL).pvalue
        )
    assert_never_too_often(pvalues)


@pytest.mark.ci
def test_every_pairing_of_five():
    x, y = np.random.default_rng(4).normal(size=(2, 5))
    assert_never_too_often(
        [independence_test(x, y[list(pi)], **ALL).pvalue for pi in itertools.permutations(range(5))]
    )


def test_every_partition_into_three():
    points, pvalues = np.random.default_rng(5).normal(size=(6, 1)), []
    for order in itertools.permutations(range(6)):
        if all(order[i] < order[i + 1] for i in (0, 2, 4)):
            pvalues.append(k_sample_test(*np.split(points[list(order)], [2, 4]), **ALL).pvalue)
    assert len(pvalues) == 90 and all(
        sum(p <= k / 90 + 1e-12 for p in pvalues) <= k for k in range(1, 91)
    )
    assert min(pvalues) <= 6 / 90 + 1e-12  # the names of three equal samples


def test_samples_that_do_not_overlap_have_the_smallest_pvalue():
    """Also with few splits: the largest of few values of another statistic is no evidence."""
    for size, rows in ((3, 10), (4, 35), (5, 126)):
        sample = np.arange(float(size))
        result = two_sample_test(sample, sample + size + 2, estimator="auto", alpha=0.2)
        assert result.exact and result.pvalue == pytest.approx(1 / rows)


def mid_ranks(Z):
    """Mid-ranks over their number."""
    return np.array(
        [
            [(sum(Z[:, j] < v) + sum(Z[:, j] <= v)) / (2 * len(Z)) for j, v in enumerate(row)]
            for row in Z
        ]
    )


def with_width(width):
    return lambda x, y: np.exp(-np.sum((x - y) ** 2) / (2 * width**2))


def test_two_samples_are_the_literal_combination_of_literal_kernels():
    pooled = np.vstack([X, Y])[:8]
    width, near = naive.median_bandwidth(pooled), naive.neighbor_bandwidth(pooled)
    ranked = mid_ranks(pooled)
    grams = [
        naive.gaussian(pooled, pooled, 2.0 * width),
        naive.gaussian(ranked, ranked, naive.median_bandwidth(ranked)),
        naive.whitened(with_width(width), pooled, pooled, pooled, 0.03),
        naive.whitened(with_width(0.5 * near), pooled, pooled, pooled, 0.01),
        naive.second_order(with_width(2.0 * width), pooled, pooled, pooled),
        naive.depth(with_width(near), pooled, pooled, pooled),
    ]
    weights = [25, 9, 10, 6, 3, 3]
    rows = []
    for chosen in itertools.combinations(range(8), 4):
        signs = np.array([0.25 if i in chosen else -0.25 for i in range(8)])
        rows.append([signs @ K @ signs for K in grams])
    result = two_sample_test(pooled[:4], pooled[4:], form="biased", **ALL)
    for member, statistic in zip(result.members, rows[0], strict=True):
        assert member.statistic == pytest.approx(statistic, rel=1e-6, abs=1e-9)
    rows, tolerance = np.array(rows), [1e-9] * 6
    assert result.pvalue == pytest.approx(
        naive_multiplicity.overall_weighted(rows, weights, tolerance)
    )


def test_pairs_are_the_literal_combination_of_literal_kernels():
    x, y = X[:5], PARTNER[:5]

    def kernels(Z):
        width, near = naive.median_bandwidth(Z), naive.neighbor_bandwidth(Z)
        city = np.median([np.abs(a - b).sum() ** 2 for a, b in itertools.combinations(Z, 2)]) ** 0.5
        ranked, center = mid_ranks(Z), Z.mean(axis=0)
        return {
            "wide": naive.gaussian(Z, Z, 4 * width),
            "whitened": naive.whitened(with_width(width), Z, Z, Z, 0.1),
            "near": naive.gaussian(Z, Z, near),
            "depth": naive.depth(with_width(near), Z, Z, Z),
            "second": naive.second_order(with_width(2.0 * width), Z, Z, Z),
            "ranks": naive.energy(ranked, ranked, ranked.mean(axis=0)),
            "corners": naive.whitened(
                lambda a, b: np.exp(-np.abs(a - b).sum() / city), Z, Z, Z, 0.1
            ),
            "fine": naive.whitened(with_width(0.5 * width), Z, Z, Z, 0.03),
            "fast": naive.whitened(
                lambda a, b: naive.energy([a], [b], center)[0, 0], Z, Z, Z, 0.001
            ),
        }

    together = [(name, name) for name in ("wide", "whitened", "near", "depth", "second")]
    for first, second in (("corners", "ranks"), ("fine", "wide"), ("fast", "wide")):
        together += [(first, second), (second, first)]
    left, right, H = kernels(x), kernels(y), np.eye(5) - 0.2
    rows = [
        [np.trace(H @ left[a] @ H @ right[b][np.ix_(pi, pi)]) / 25 for a, b in together]
        for pi in itertools.permutations(range(5))
    ]
    result = independence_test(x, y, form="biased", **ALL)
    for member, statistic in zip(result.members, rows[0], strict=True):
        assert member.statistic == pytest.approx(statistic, rel=1e-6, abs=1e-9)
    weights = [9, 5, 1, 1, 0.75, 1.5, 1.5, 1.25, 1.25, 1, 1]
    expected = naive_multiplicity.overall_weighted(np.array(rows), weights, [1e-9] * 11)
    assert result.pvalue == pytest.approx(expected)


def test_members_of_auto_for_several_samples_and_variables():
    assert recommended("k-sample") == recommended("two-sample")
    assert recommended("joint-independence") == Ensemble(
        [
            Candidate("kme", Gaussian("2 * median"), weight=5),
            Candidate("kme", Whitened(Gaussian(), 0.1), weight=4),
            Candidate("kme", Rescaled(Energy(), "rank"), weight=2),
            Candidate("kme", Whitened(Gaussian("median / 2"), 0.1)),
            Candidate("kme", Whitened(Laplacian(), 0.1)),
        ]
    )


def test_auto_is_the_collection_that_is_recommended():
    for run in EVERY.values():
        auto = run()
        given = run(estimator=recommended(auto.test))
        assert (
            values(auto).tolist() == values(given).tolist()
            and auto.adjusted.tolist() == given.adjusted.tolist()
        )
        assert auto.estimator == given.estimator and len(auto.members) == len(
            recommended(auto.test).members
        )
        assert auto.estimator.weights.tolist() == recommended(auto.test).weights.tolist()


def test_two_of_several_are_two():
    two, several = (
        two_sample_test(X, Y, form="biased", **FEW),
        k_sample_test(X, Y, form="biased", **FEW),
    )
    assert several.pvalue == two.pvalue and several.adjusted.tolist() == two.adjusted.tolist()
    members = [
        Candidate(m.estimator, (m.kernel, m.kernel), m.weight)
        for m in recommended("joint-independence").members
    ]
    joint = joint_independence_test(X[:5], PARTNER[:5], **ALL)
    pair = independence_test(
        X[:5], PARTNER[:5], form="biased", **{**ALL, "estimator": Ensemble(members)}
    )
    assert joint.exact and joint.pvalue == pair.pvalue
    assert [m.statistic for m in joint.members] == pytest.approx(
        [m.statistic for m in pair.members], rel=1e-7
    )


def test_columns_and_pairs_of_columns_are_the_tests_of_each():
    columns = two_sample_test_columns(X, Y, **FEW)
    assert columns.pvalues.tolist() == [
        two_sample_test(X[:, j], Y[:, j], **FEW).pvalue for j in range(2)
    ]
    members = [member.on(1, len(X) + len(Y)) for member in recommended("two-sample").members]
    assert columns.estimator == Ensemble(members)
    matrix = independence_matrix(X, PARTNER, **FEW)
    pairs = [
        independence_test(X[:, i], PARTNER[:, j], **FEW).pvalue for i in range(2) for j in range(2)
    ]
    assert matrix.pvalues.tolist() == pairs


BEFORE = 5.0 * rng.normal(size=(9, 1)) + rng.normal(size=(9, 2))
AFTER = BEFORE + rng.normal(size=(9, 2)) + [0.5, 0.0]


def test_differences_within_pairs_are_a_member_with_the_most_weight():
    result = two_sample_test(BEFORE, AFTER, paired=True, **FEW)
    given = two_sample_test(
        BEFORE, AFTER, paired=True, **{**FEW, "estimator": recommended("two-sample")}
    )
    assert (
        result.pvalue == given.pvalue
        and result.members[-1].kernel.label == "Gaussian of differences"
    )
    assert (
        result.estimator.weights[-1]
        == result.estimator.weights.max()
        < result.estimator.weights[:-1].sum()
    )
    apart = BEFORE - AFTER
    alone = symmetry_test(apart, **{**FEW, "estimator": "kme", "bandwidth": "2 * median"})
    assert result.members[-1].pvalue == alone.pvalue and result.members[
        -1
    ].statistic == pytest.approx(alone.statistic)
    first, second = alone.estimates
    assert np.allclose(
        result.members[-1].witness(apart), first.embedding(apart) - second.embedding(apart)
    )
    assert result.context.leading.kernel == result.members[0].kernel  # effects are of values
    unpaired = two_sample_test(BEFORE, AFTER, **FEW)
    assert unpaired.estimator == Ensemble(
        [member.on(1, 18) for member in recommended("two-sample").members]
    )


def test_every_exchange_within_pairs():
    for pairs in (
        np.stack([BEFORE, AFTER])[:, :6],
        np.random.default_rng(2).integers(0, 3, size=(2, 6, 1)) / 1.0,
    ):
        swaps = itertools.product((0, 1), repeat=6)
        chosen = [(pairs[np.array(s), range(6)], pairs[1 - np.array(s), range(6)]) for s in swaps]
        options = {**ALL, "n_resamples": np.inf, "paired": True}
        assert_level = [two_sample_test(x, y, **options).pvalue for x, y in chosen]
        for level in set(assert_level):
            assert np.mean(np.array(assert_level) <= level + 1e-12) <= level + 1e-12


def test_pairs_that_agree_and_columns_with_gaps():
    assert two_sample_test(BEFORE, BEFORE, paired=True, **FEW).pvalue == 1.0
    assert two_sample_test(BEFORE, BEFORE + 3.0, paired=True, **FEW).pvalue <= 0.05
    gap = BEFORE.copy()
    gap[2, 0] = np.nan
    rest = np.arange(9) != 2
    result = two_sample_test(gap, AFTER, paired=True, nan_policy="omit", **FEW)
    assert result.pvalue == two_sample_test(BEFORE[rest], AFTER[rest], paired=True, **FEW).pvalue
    assert (
        two_sample_test(gap, AFTER, paired=True, nan_policy="indicator", **FEW).members[-1].pvalue
        < 1.0
    )


def test_differences_need_pairs():
    with pytest.raises(ValueError, match="paired=True"):
        two_sample_test(X, Y, estimator=Ensemble([Candidate("kme", Differences(Gaussian()))]))


def test_a_note_says_that_differences_alone_would_reject():
    draws = np.random.default_rng(2)
    before = 5.0 * draws.normal(size=(30, 1))
    after = before + draws.normal(size=(30, 1)) + 0.45
    result = two_sample_test(before, after, paired=True, rng=0)
    (note,) = result.notes
    assert not result.reject() and note.code == "differences-alone" and "estimator='auto'" in note
    assert two_sample_test(before, after, paired=True, rng=0, estimator="auto").reject()
    for quiet in (two_sample_test(before, after, rng=0), two_sample_test(before, after + 9.0, paired=True, rng=0),
                  two_sample_test(before, draws.permutation(after), paired=True, rng=0)):  # fmt: skip
        assert not [note for note in quiet.notes if note.code == "differences-alone"]


def test_units():
    for name, run in {
        "samples": lambda a, b: two_sample_test(a * X, a * Y, **FEW),
        "three samples": lambda a, b: k_sample_test(a * X, a * Y, a * THIRD, **FEW),
        "pairs": lambda a, b: independence_test(a * X, b * PARTNER, **FEW),
        "several": lambda a, b: joint_independence_test(
            a * X[:, 0], b * X[:, 1], a * PARTNER, **FEW
        ),
    }.items():
        plain = run(1.0, 1.0)
        for unit in (1e-6, 1e9):
            other = run(unit, 1.0 / unit)
            assert plain.pvalue == other.pvalue, name
            np.testing.assert_allclose(values(plain), values(other), rtol=1e-6)


@pytest.mark.parametrize("name", EVERY)
def test_the_result_says_who_is_who_with_any_number_of_workers(name):
    result, in_parallel = (EVERY[name](workers=workers) for workers in (1, 2))
    assert np.array_equal(values(result), values(in_parallel)) and np.array_equal(
        result.adjusted, in_parallel.adjusted
    )
    members = recommended(result.test).members
    assert len(result.members) == len(members) == len(result.adjusted)
    assert result.notes == tuple(
        dict.fromkeys(note for member in result.members for note in member.notes)
    )
    assert 0.0 < result.pvalue <= 1.0 and result.pvalue == result.adjusted.min()
    text, table, read = str(result.summary()), result.table, json.loads(result.to_json())
    assert "combined" in text and text.count("KME()") == len(members)
    assert table["pvalue"].tolist() == [member.pvalue for member in result.members]
    variables = {"pairs": ["_x", "_y"], "several": ["_0", "_1", "_2"]}.get(name, [""])
    assert [key for key in table if "kernel" in key] == [f"kernel{v}" for v in variables]
    assert [key for key in table if "bandwidth" in key] == [f"bandwidth{v}" for v in variables]
    assert len(read["members"]) == len(members) and result.to_frame()["pvalue"].tolist() == [
        result.pvalue
    ]
    assert len(result.plot().get_yticklabels()) == len(members)
    matplotlib.pyplot.close("all")
    again = pickle.loads(pickle.dumps(result))
    assert str(again.summary()) == text and np.array_equal(values(again), values(result))


def test_members_that_do_not_fit_are_left_out_with_a_note():
    x, y = np.random.default_rng(0).normal(size=(2, 400, 5))
    options = {**FEW, "n_resamples": 19, "max_memory": 1.5e7}
    result = two_sample_test(x, y, **options)
    left_out = [note for note in result.notes if "is left out of the combination" in note]
    assert 0 < len(left_out) < 6 and len(result.members) == 6 - len(left_out) == len(
        result.estimator.members
    )
    assert any("Whitened" in note and "max_memory" in note for note in left_out)
    given = Ensemble(result.estimator.members)
    assert two_sample_test(x, y, **{**options, "estimator": given}).pvalue == result.pvalue
    named = two_sample_test(
        x, y, **{**options, "estimator": recommended("two-sample")}
    )  # as in power studies
    assert named.pvalue == result.pvalue
    with_landweber = Ensemble([*recommended("two-sample").members, Candidate("landweber")])
    with pytest.raises(MemoryError, match="max_memory"):
        two_sample_test(x, y, **{**options, "estimator": with_landweber})
    columns = two_sample_test_columns(x[:, :1], y[:, :1], **{**options, "max_memory": 1e10})
    assert not any("left out" in note for note in columns.notes)


SMALL = {
    "two and two, tied": lambda o: two_sample_test([0.0, 0.0], [1.0, 1.0], **o),
    "one that differs": lambda o: two_sample_test([0.0] * 12, [0.0] * 11 + [1.0], **o),
    "constant column": lambda o: two_sample_test(np.c_[X, np.ones(9)], np.c_[Y, np.ones(7)], **o),
    "counts": lambda o: two_sample_test(rng.poisson(1.0, (15, 2)), rng.poisson(2.0, (12, 2)), **o),
    "two pairs": lambda o: independence_test([0.0, 1.0], [2.0, 5.0], **o),
    "words": lambda o: independence_test([0.0, 1.0] * 6, [0.0, 0.0, 1.0, 1.0] * 3, **o),
    "bits": lambda o: joint_independence_test(
        [0.0, 1.0] * 6, [0.0, 0.0, 1.0, 1.0] * 3, [1.0] * 6 + [0.0] * 6, **o
    ),
    "two rows": lambda o: joint_independence_test([0.0, 1.0], [2.0, 5.0], [1.0, 9.0], **o),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_smallest_and_tied_data():
    for name, run in SMALL.items():
        result = run({**FEW, "alpha": 0.5})
        assert 0.0 < result.pvalue <= 1.0 and np.isfinite(values(result)).all(), name
        assert all(
            0.0 < member.pvalue <= 1.0 and np.isfinite(member.statistic)
            for member in result.members
        )
    bits = rng.integers(0, 2, size=(20, 3)).astype(float)
    for result in (
        two_sample_test_columns(bits[:9], bits[9:], **FEW),
        independence_matrix(bits, **FEW),
    ):
        assert ((result.pvalues > 0.0) & (result.pvalues <= 1.0)).all() and np.isfinite(
            result.statistics
        ).all()
