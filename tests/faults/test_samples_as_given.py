"""Samples as people have them: rounded, labels, pairs with gaps, tensors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from shrinktest import (
    Precomputed,
    change_point_test,
    closer_test,
    compare,
    equivalence_test,
    independence_test,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)

RNG = np.random.default_rng(0)
K1, K2 = RNG.integers(1, 5, (2, 300))
QUICK = {"n_resamples": 199, "rng": 0, "workers": 1}


def D(**columns):
    return pd.DataFrame(columns)


@pytest.mark.parametrize(("dtype", "divisor"), [("float32", 10), ("float16", 3), ("Float32", 7)])
def test_shorter_numbers_are_compared_as_long_ones_are(dtype, divisor):
    short, long = pd.Series(K1 / divisor).astype(dtype), pd.Series(K2 / divisor)
    result = compare(D(rating=short), D(rating=long), **QUICK)
    assert result.overall.pvalue > 0.3 and not result.notes
    for estimator, scale in (("kme", "rank"), ("auto", "auto")):
        rounded = two_sample_test(short, long, estimator=estimator, scale=scale, **QUICK)
        exact = two_sample_test(
            K1 / divisor, K2 / divisor, estimator=estimator, scale=scale, **QUICK
        )
        assert rounded.pvalue == pytest.approx(exact.pvalue, abs=0.02)


def test_ranks_are_the_same_whatever_the_type_of_the_numbers():
    short, long = (K1 / 10).astype(np.float32), K2 / 10
    exact = two_sample_test(K1, K2, scale="rank", **QUICK).pvalue
    masked = np.ma.array(short, mask=np.zeros(300, dtype=bool))
    for x, y in (
        (short, long),
        (short[:, None], long[:, None]),
        (masked, long),
        (pl.Series(short), pl.Series(long)),
    ):
        assert two_sample_test(x, y, scale="rank", **QUICK).pvalue == exact
    assert two_sample_test_columns(D(a=short), D(a=long), scale="rank", **QUICK).pvalues == [exact]
    three = k_sample_test(short, long, (K2[::-1] / 10).astype(np.float32), scale="rank", **QUICK)
    assert three.pvalue == k_sample_test(K1, K2, K2[::-1], scale="rank", **QUICK).pvalue


def test_sums_of_decimals_are_the_decimals_that_they_stand_for():
    noisy, plain = np.full(30, 0.1 + 0.2), np.full(30, 0.3)
    x = RNG.normal(size=60)
    result = compare(D(a=noisy, x=x[:30]), D(a=plain, x=x[30:]), **QUICK)
    assert result.overall.pvalue > 0.05 and not any("alone tells" in note for note in result.notes)
    assert "'a'" not in result.answer
    with pytest.raises(ValueError, match="all observations are equal"):
        two_sample_test(noisy, plain, scale="rank", **QUICK)
    some = np.where(K1 > 2, 0.3, K1 / 10), np.where(K1 > 2, 0.1 + 0.2, K1 / 10)
    assert two_sample_test(*some, scale="rank", **QUICK).statistic == pytest.approx(0.0, abs=1e-12)
    other = 3 * (K1 / 10), K1 * 3 / 10
    assert two_sample_test(*other, paired=True, scale="rank", **QUICK).pvalue == 1.0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (2.0**50 + np.arange(30), 2.0**50 + np.arange(30) + 30),  # whole numbers are exact
        (
            np.float32(2**24) + np.arange(0, 60, 2, dtype=np.float32),
            np.float32(2**24) + np.arange(60, 120, 2),
        ),
        (
            1e6 + np.arange(30, dtype=np.float32) / 16,
            1e6 + np.arange(30, 60, dtype=np.float32) / 16,
        ),  # dense
        (1.0 + np.arange(30) * 1e-15, 1.0 + np.arange(30, 60) * 1e-15),
        (np.full(30, 0.3), np.full(30, 0.3 + 1e-12)),
    ],
)
def test_numbers_that_differ_are_not_chained_into_one(first, second):
    first, second = np.asarray(first, dtype=second.dtype), np.asarray(second)
    assert two_sample_test(first, second, scale="rank", **QUICK).pvalue == 0.005


LABELS_RNG = np.random.default_rng(0)
VALUES = LABELS_RNG.normal(size=60)
THREE = np.repeat([1, 2, 3], 20)
FEW = {"n_resamples": 99, "rng": 0, "workers": 1}
GROUPS = "type two_sample_test(X[Y == {}], X[Y == {}])."


def notes_on_labels(result):
    return [note for note in result.notes if "looks like labels" in note]


@pytest.mark.parametrize(
    ("labels", "call"),
    [
        ((VALUES > 0) * 1, GROUPS.format(0, 1)),
        (VALUES > 0, GROUPS.format(0, 1)),
        (pd.Series(VALUES > 0), GROUPS.format(0, 1)),
        (np.where(VALUES > 0, 2.5, -1.0), GROUPS.format(-1, 2.5)),
        (THREE, "type k_sample_test(*[X[Y == label] for label in numpy.unique(Y)])."),
        (
            LABELS_RNG.integers(0, 6, 60),
            "type k_sample_test(*[X[Y == label] for label in numpy.unique(Y)]).",
        ),
    ],
)
def test_labels_beside_values_are_noticed(labels, call):
    values = pd.Series(VALUES) if isinstance(labels, pd.Series) else VALUES
    (note,) = notes_on_labels(two_sample_test(values, labels, **FEW))
    assert (
        note.startswith("Y looks like labels: it has ")
        and note.endswith(call)
        and len(note.split()) <= 40
    )
    (note,) = notes_on_labels(two_sample_test(labels, values, **FEW))
    assert note.startswith("X looks like labels")


def test_every_test_of_samples_notices_them():
    (note,) = notes_on_labels(k_sample_test(VALUES, THREE, **FEW))
    assert (
        "k_sample_test(*[samples[0][samples[1] == label] for label in numpy.unique(samples[1])])"
        in note
    )
    (note,) = notes_on_labels(k_sample_test({"income": VALUES, "group": (VALUES > 0) * 1}, **FEW))
    assert note.endswith("type two_sample_test(income[group == 0], income[group == 1]).")
    (note,) = notes_on_labels(
        two_sample_test(VALUES, THREE, names=("the values", "the labels"), **FEW)
    )
    assert note.endswith("pass the rows with each label as a sample.")
    assert notes_on_labels(compare(pd.Series(VALUES), pd.Series(THREE), **FEW))
    assert notes_on_labels(equivalence_test(VALUES, THREE, measure="auc", margin=0.6, rng=0))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (VALUES[:30], VALUES[30:]),
        (LABELS_RNG.integers(0, 2, 60), LABELS_RNG.integers(0, 2, 60)),
        (LABELS_RNG.poisson(2.0, 60), LABELS_RNG.poisson(5.0, 60)),
        (VALUES, THREE[:50]),
        (VALUES, np.round(2.0 * LABELS_RNG.normal(size=60)) / 2.0),
        (np.column_stack([VALUES, VALUES]), np.column_stack([THREE, THREE])),
    ],
)
def test_data_are_not_taken_for_labels(first, second):
    assert not notes_on_labels(two_sample_test(first, second, **FEW))


N = 30
GAPS = {"nan_policy": "indicator", "paired": True, "n_resamples": 199, "workers": 1, "rng": 0}


def pairs(seed, shift=1.0, between=10.0, gaps=(2, 2), kind="number"):
    """Tables before and after, with gaps in rows of each; pairs differ by noise with standard deviation 1."""
    rng = np.random.default_rng(seed)
    levels = rng.normal(0.0, between, N)
    tables = []
    for change, count in zip((0.0, shift), gaps, strict=True):
        values = levels + change + rng.normal(0.0, 0.5**0.5, N)
        values[rng.choice(N, count, replace=False)] = np.nan
        if kind == "date":
            values = pd.Timestamp("2024-01-01") + pd.to_timedelta(values, unit="D")
        tables.append(pd.DataFrame({"v": values}))
    return tables


@pytest.mark.parametrize("kind", ["number", "date"])
@pytest.mark.parametrize("between", [3.0, 10.0, 300.0])
def test_a_shift_is_found_although_pairs_have_gaps(kind, between):
    rejects = [
        two_sample_test(*pairs(i, 1.3, between, kind=kind), estimator="auto", **GAPS).reject()
        for i in range(6)
    ]
    assert sum(rejects) >= 5


def test_a_report_finds_the_shift_and_names_the_gaps():
    a, b = pairs(0)
    result = compare(a, b, **GAPS)
    assert result.reject() and result.changed() == ("v",)
    assert any(
        note.startswith("In v, values are compared in complete pairs") for note in result.notes
    )
    assert two_sample_test_columns(a, b, estimator="auto", **GAPS).adjusted[0] <= 0.05


@pytest.mark.parametrize("estimator", ["kme", "auto"])
@pytest.mark.parametrize("between", [0.0, 10.0])
def test_more_missing_values_are_found_without_a_change_of_values(estimator, between):
    rejects = [
        two_sample_test(*pairs(i, 0.0, between, (0, 9)), estimator=estimator, **GAPS).reject()
        for i in range(5)
    ]
    assert sum(rejects) >= 4


@pytest.mark.parametrize("categories", [False, True])
def test_exchanging_the_rows_of_pairs_changes_no_set_of_results(categories):
    """The statistics of all exchanges are the same, whichever of them was observed."""
    rng = np.random.default_rng(3)
    a, b = (table.iloc[:7].copy() for table in pairs(2))
    a.loc[2, "v"] = b.loc[4, "v"] = np.nan
    if categories:
        a["c"], b["c"] = (
            pd.Series(rng.choice(["p", "q", None], 7), dtype=object) for _ in range(2)
        )
    swapped = rng.random(7) < 0.5
    c, d = (
        table.where(np.tile(~swapped, (len(table.columns), 1)).T, other)
        for table, other in ((a, b), (b, a))
    )
    options = GAPS | {"n_resamples": np.inf}
    nulls = [
        np.sort(two_sample_test(*two, **options).null_distribution) for two in ((a, b), (c, d))
    ]
    assert len(nulls[0]) >= 64
    np.testing.assert_allclose(*nulls, rtol=1e-9)


RUN = {"n_resamples": 39, "rng": 0}


class Tensor:
    """A stand-in for a tensor of torch: numpy reads neither gradients nor bfloat16 nor what is sparse."""

    def __init__(self, values, dtype="float32", requires_grad=False, layout="torch.strided"):
        self.values, self.dtype = np.asarray(values, dtype=np.float32), dtype
        self.requires_grad, self.layout, self.is_sparse = (
            requires_grad,
            layout,
            layout == "torch.sparse_coo",
        )
        self.shape, self.ndim, self.device = self.values.shape, self.values.ndim, "cuda"

    def with_changes(self, **changes):
        fields = {name: getattr(self, name) for name in ("dtype", "requires_grad", "layout")}
        changed = Tensor(self.values, **{**fields, **changes})
        changed.device = self.device
        return changed

    def detach(self):
        return self.with_changes(requires_grad=False)

    def float(self):
        return self.with_changes(dtype="float32")

    def cpu(self):
        moved = self.with_changes()
        moved.device = "cpu"
        return moved

    def numpy(self):
        if self.requires_grad:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
            )
        if self.dtype == "bfloat16" or self.layout != "torch.strided" or self.device != "cpu":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.values

    def __array__(self, dtype=None, copy=None):
        return self.numpy()

    def __len__(self):
        return len(self.values)

    def __getitem__(self, places):
        return Tensor(self.values[places], self.dtype, self.requires_grad, self.layout)

    def tolist(self):
        return self.values.tolist()


X, Y, Z = np.random.default_rng(0).normal(size=(3, 40, 2)).astype(np.float32)
TESTS = {
    "two samples": lambda of: two_sample_test(of(X), of(Y), **RUN),
    "k samples": lambda of: k_sample_test(of(X), of(Y), of(Z), **RUN),
    "independence": lambda of: independence_test(of(X), of(Y), **RUN),
    "given": lambda of: independence_test(X, Y, given=of(Z), **RUN),
    "joint": lambda of: joint_independence_test(of(X), of(Y), of(Z), **RUN),
    "change": lambda of: change_point_test(of(X), **RUN),
    "closer": lambda of: closer_test(of(X), of(Y), of(Z)),
    "equivalence": lambda of: equivalence_test(of(X), of(Y), margin=0.2, measure="distance", rng=0),
    "compare": lambda of: compare(of(X), of(Y), **RUN),
    "transform": lambda of: two_sample_test(of(X), of(Y), transform=lambda rows: of(rows), **RUN),
    "kernel": lambda of: two_sample_test(X, Y, kernel=lambda x, y: of(x @ y.T), **RUN),
    "matrix": lambda of: two_sample_test(
        np.arange(40),
        np.arange(40, 80),
        kernel=Precomputed(of(np.vstack([X, Y]) @ np.vstack([X, Y]).T)),
        **RUN,
    ),
}
KINDS = {"gradient": {"requires_grad": True}, "bfloat16": {"dtype": "bfloat16"}}


@pytest.mark.parametrize("name", TESTS)
def test_tensors_are_converted(name):
    expected = TESTS[name](lambda values: values.astype(np.float32))
    for fields in (*KINDS.values(), {"requires_grad": True, "dtype": "bfloat16"}):
        assert (
            TESTS[name](lambda values, fields=fields: Tensor(values, **fields)).pvalue
            == expected.pvalue
        )
