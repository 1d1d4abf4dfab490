"""Cosines, distances of scipy and Hellinger's transform, each as one call that a newcomer types."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist, pdist, squareform

from shrinktest import (
    Batches,
    Cosine,
    Distances,
    Precomputed,
    closer_test,
    factor_test,
    independence_test,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.data.hellinger import hellinger
from shrinktest.kernels import Gaussian, MetricKernel, Rescaled, compares_as_given
from shrinktest.kernels.metric_kernel import METRICS

RNG = np.random.default_rng(0)
COUNTS = (
    RNG.poisson([3.0, 8.0, 1.0, 20.0], size=(24, 4)).astype(float) + (np.arange(24) == 3)[:, None]
)
A, B = COUNTS[:11], COUNTS[11:] + np.array([0.0, 2.0, 1.0, 0.0])
BOTH = np.vstack([A, B])
ROWS = np.arange(24)
FEW = {"n_resamples": 39, "rng": 0}
NAMES = [*"pqrs"]


def frames():
    return pd.DataFrame(A, columns=NAMES), pd.DataFrame(B, columns=NAMES)


# --- cosine ---------------------------------------------------------------------------------------


def test_cosines_are_those_of_scipy():
    np.testing.assert_allclose(Cosine()(A, B), 1.0 - cdist(A, B, "cosine"), atol=1e-12)
    np.testing.assert_allclose(Cosine()(A * 1e-300, B * 1e300), Cosine()(A, B), rtol=1e-12)


def test_cosine_is_the_linear_kernel_of_rows_of_length_one():
    lengths = np.linalg.norm(BOTH, axis=1, keepdims=True)
    units = np.split(BOTH / lengths, [11])
    result = two_sample_test(A, B, kernel="cosine", **FEW)
    expected = two_sample_test(*units, kernel="linear", **FEW)
    assert result.statistic == pytest.approx(expected.statistic)
    assert result.pvalue == expected.pvalue


def test_rows_of_zeros_have_no_direction():
    with pytest.raises(ValueError, match="kernel='cosine': 1 row of zeros") as raised:
        two_sample_test(np.vstack([A, np.zeros(4)]), B, kernel="cosine")
    assert len(str(raised.value).split()) <= 20


# --- distances of scipy ---------------------------------------------------------------------------


@pytest.mark.parametrize("metric", METRICS)
def test_any_distance_of_scipy_is_that_of_a_matrix(metric):
    presence = metric in ("dice", "jaccard", "rogerstanimoto", "sokalsneath", "yule")
    rows = BOTH % 3 if presence else BOTH
    apart = squareform(pdist(rows != 0.0 if presence else rows, metric))
    X, Y = rows[:11], rows[11:]
    result = two_sample_test(X, Y, kernel=Distances.of(metric), **FEW)
    expected = two_sample_test(ROWS[:11], ROWS[11:], kernel=Distances(apart), **FEW)
    assert result.statistic == pytest.approx(expected.statistic, abs=1e-9)
    assert result.pvalue == expected.pvalue
    width = np.median(apart[apart > 0.0])
    result = two_sample_test(X, Y, kernel=Distances.of(metric, bandwidth="median"), **FEW)
    gram = Precomputed(np.exp(-apart / width))
    expected = two_sample_test(ROWS[:11], ROWS[11:], kernel=gram, **FEW)
    assert result.statistic == pytest.approx(expected.statistic, abs=1e-9)
    assert result.pvalue == expected.pvalue


#: Tests of Bray-Curtis distances by a call with rows of numbers, and with row numbers.
CALLS = {
    "samples": lambda X, Y, k: k_sample_test(X, Y, kernel=k, comparison="pooled", **FEW),
    "shrunken": lambda X, Y, k: two_sample_test(X, Y, kernel=k, estimator="fkmse", **FEW),
    "closer": lambda X, Y, k: closer_test(X, Y[:6], Y[6:], kernel=k),
    "independent": lambda X, Y, k: independence_test(
        np.concatenate([X, Y]), ROWS % 5, kernel_x=k, scale=None, **FEW
    ),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("bandwidth", [None, "median"])
def test_tests_take_distances_of_scipy(name, bandwidth):
    if name == "shrunken" and bandwidth is None:
        with pytest.raises(ValueError, match=r"use Distances\.of bandwidth='median'"):
            CALLS[name](A, B, Distances.of("braycurtis"))
        return
    apart = squareform(pdist(BOTH, "braycurtis"))
    width = np.median(apart[apart > 0.0])
    matrix = Distances(apart)
    if bandwidth:
        matrix = Precomputed(np.exp(-apart / width))
    result = CALLS[name](A, B, Distances.of("braycurtis", bandwidth=bandwidth))
    expected = CALLS[name](ROWS[:11], ROWS[11:], matrix)
    assert result.pvalue == pytest.approx(expected.pvalue)


@pytest.mark.parametrize(
    "kernel", ["cosine", Distances.of("bray"), Rescaled(Cosine(), "sd")], ids=repr
)
def test_tables_are_compared_as_they_are_unless_units_are_given(kernel):
    plain = two_sample_test(A, B, kernel=kernel, **FEW)
    table = two_sample_test(*frames(), kernel=kernel, **FEW)
    assert (table.statistic, table.pvalue) == pytest.approx((plain.statistic, plain.pvalue))
    tables, arrays = [
        two_sample_test(*(Batches([part]) for part in pair), kernel=kernel, **FEW)
        for pair in (frames(), (A, B))
    ]
    assert (tables.statistic, tables.pvalue) == pytest.approx((arrays.statistic, arrays.pvalue))
    if not isinstance(kernel, Rescaled):
        scaled = two_sample_test(*frames(), kernel=kernel, scale="sd", **FEW)
        assert scaled.statistic != pytest.approx(plain.statistic, rel=1e-3)


def test_kernels_in_units_do_not_stand_beside_those_without():
    closer = [closer_test(*pair, pair[1][::-1], kernel="cosine") for pair in (frames(), (A, B))]
    assert closer[0].statistic == pytest.approx(closer[1].statistic)
    with pytest.raises(ValueError, match="compares unscaled numbers, the others scaled ones"):
        two_sample_test(*frames(), kernel=["cosine", "gaussian"])
    assert not compares_as_given(Gaussian())
    assert compares_as_given(Gaussian() + Cosine())


def test_columns_of_tables_have_distances_of_their_own():
    result = two_sample_test_columns(*frames(), kernel=Distances.of("canberra"), **FEW)
    single = two_sample_test(A[:, 1], B[:, 1], kernel=Distances.of("canberra"), **FEW)
    assert dict(zip(NAMES, result.statistics, strict=True))["q"] == pytest.approx(single.statistic)


def test_factors_of_communities_as_in_adonis():
    data = {"site": np.resize(["a", "b", "c"], 24)}
    result = factor_test("site", data, response=COUNTS, kernel=Distances.of("braycurtis"), **FEW)
    matrix = Distances(squareform(pdist(COUNTS, "braycurtis")))
    expected = factor_test("site", data, response=matrix, **FEW)
    assert result.table.pvalue.tolist() == expected.table.pvalue.tolist()
    assert result.table.share.tolist() == pytest.approx(expected.table.share.tolist())
    frame = pd.DataFrame(COUNTS, columns=NAMES).assign(site=data["site"])
    table = factor_test("site", frame, response=NAMES, kernel=Distances.of("bray"), **FEW)
    assert table.table.share.tolist() == pytest.approx(expected.table.share.tolist())
    cosine = [
        factor_test("site", data, response=given, kernel="cosine", location=None, **FEW)
        for given in (COUNTS, frame[NAMES])
    ]
    assert cosine[0]["site"].statistic == pytest.approx(cosine[1]["site"].statistic)


def test_joint_independence_takes_a_bandwidth():
    variables = COUNTS[:, :2], COUNTS[:, 2:], ROWS
    kernels = [Distances.of("bray", bandwidth=0.3), Distances.of("bray", bandwidth=0.5), "gaussian"]
    assert 0.0 < joint_independence_test(*variables, kernels=kernels, **FEW).pvalue <= 1.0


def test_metric_kernels_are_values():
    kernel = Distances.of("minkowski", p=3)
    assert repr(kernel) == "Distances.of('minkowski', p=3)"
    assert kernel.label == "Distances of minkowski"
    assert eval(repr(kernel)) == kernel != Distances.of("minkowski", p=2)
    resolved = kernel.resolve(A)
    assert resolved == kernel.resolve(A.copy()) != kernel.resolve(B) and resolved != kernel
    assert hash(resolved) == hash(kernel) and resolved.resolve(A) is resolved
    np.testing.assert_allclose(resolved.diagonal(A), np.diag(resolved(A)), atol=1e-12)
    np.testing.assert_allclose(resolved(A, B), resolved(B, A).T, atol=1e-12)
    assert resolved(A).mean() == pytest.approx(
        0.0, abs=1e-12
    )  # about the mean of the pooled sample
    assert Distances.of("euclidean").is_definite and not resolved.is_definite


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Distances.of("braycurtiss"), "metric must be one of.*Did you mean 'braycurtis'"),
        (lambda: Distances.of(3), "metric must be one of"),
        (lambda: Distances.of("bray", bandwidth=-1.0), "bandwidth must be a finite number > 0"),
        (lambda: Distances.of("bray", bandwidth="median")(A), "has no number yet"),
        (lambda: MetricKernel("bray")(A), "has no pooled sample yet"),
        (
            lambda: two_sample_test(A * 0.0, B * 0.0, kernel=Distances.of("bray")),
            "kernel: some rows have no braycurtis distance; leave out rows of zeros",
        ),
        (
            lambda: two_sample_test(
                A * 0, B * 0, kernel=Distances.of("hamming", bandwidth="median")
            ),
            "all rows are equal",
        ),
        (
            lambda: two_sample_test(A, B, kernel="braycurtis"),
            "kernel 'braycurtis' is called Distances.of\\('braycurtis'\\) here",
        ),
    ],
)
def test_what_has_no_distance_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# --- Hellinger's transform ------------------------------------------------------------------------


def test_hellinger_is_the_root_of_shares():
    shares = BOTH / BOTH.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(hellinger(BOTH), np.sqrt(shares))
    for X, Y in ((A, B), frames()):
        result = two_sample_test(X, Y, transform="hellinger", **FEW)
        expected = two_sample_test(*np.split(np.sqrt(shares), [11]), **FEW)
        assert (result.statistic, result.pvalue) == (expected.statistic, expected.pvalue)
    data = {"site": np.resize(["a", "b", "c"], 24)}
    root = np.sqrt(COUNTS / COUNTS.sum(axis=1, keepdims=True))
    result = factor_test("site", data, response=COUNTS, transform="hellinger", **FEW)
    expected = factor_test("site", data, response=root, **FEW)
    assert result["site"].statistic == expected["site"].statistic


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (np.vstack([A, -A]), ValueError, "requires abundances of at least 0; found -"),
        (np.vstack([A, 0.0 * A[:2]]), ValueError, "4 rows without any abundance"),
        (pd.DataFrame({"a": ["x", "y"]}), TypeError, "requires numbers; leave other columns out"),
    ],
)
def test_what_is_no_abundance_is_refused(rows, error, message):
    with pytest.raises(error, match=f"transform='hellinger'.*{message}") as raised:
        two_sample_test(rows, rows, transform="hellinger")
    assert len(str(raised.value).split()) <= 20


def test_only_hellinger_is_a_named_transform():
    with pytest.raises(TypeError, match=r"transform must be .*, or 'hellinger'; got 'helinger'"):
        two_sample_test(A, B, transform="helinger")
    with pytest.raises(ValueError, match="transform= has no effect on a matrix"):
        factor_test("a", {"a": [1, 2]}, response=Distances(np.zeros((2, 2))), transform="hellinger")
