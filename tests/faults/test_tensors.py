"""Tensors of torch that numpy cannot read are converted; sparse ones get the sentence of sparse matrices."""

import numpy as np
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
)

RUN = {"n_resamples": 39, "rng": 0}


class Tensor:
    """A stand-in for a tensor of torch: numpy reads neither gradients nor bfloat16 nor what is sparse."""

    def __init__(self, values, dtype="float32", requires_grad=False, layout="torch.strided"):
        self.values, self.dtype = np.asarray(values, dtype=np.float32), dtype
        self.requires_grad, self.layout, self.is_sparse = requires_grad, layout, layout == "torch.sparse_coo"
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
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
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
    "equivalence": lambda of: equivalence_test(of(X), of(Y), margin=0.2, measure="distance"),
    "compare": lambda of: compare(of(X), of(Y), **RUN),
    "transform": lambda of: two_sample_test(of(X), of(Y), transform=lambda rows: of(rows), **RUN),
    "kernel": lambda of: two_sample_test(X, Y, kernel=lambda x, y: of(x @ y.T), **RUN),
    "matrix": lambda of: two_sample_test(
        np.arange(40), np.arange(40, 80), kernel=Precomputed(of(np.vstack([X, Y]) @ np.vstack([X, Y]).T)), **RUN
    ),
}
KINDS = {"gradient": {"requires_grad": True}, "bfloat16": {"dtype": "bfloat16"}}


@pytest.mark.parametrize("name", TESTS)
def test_tensors_are_converted(name):
    expected = TESTS[name](lambda values: values.astype(np.float32))
    for fields in (*KINDS.values(), {"requires_grad": True, "dtype": "bfloat16"}):
        assert TESTS[name](lambda values, fields=fields: Tensor(values, **fields)).pvalue == expected.pvalue


def test_lists_of_tensors_are_converted():
    rows = [Tensor(row, requires_grad=True) for row in X]
    assert two_sample_test(rows, Y, **RUN).pvalue == two_sample_test(X, Y, **RUN).pvalue


@pytest.mark.parametrize("layout", ["torch.sparse_coo", "torch.sparse_csr"])
@pytest.mark.parametrize("name", TESTS)
def test_sparse_tensors_are_refused(name, layout):
    with pytest.raises(TypeError, match=r"is a sparse matrix of shape \(\d+, \d+\); .*\(.to_dense\(\)\)"):
        TESTS[name](lambda values: Tensor(values, layout=layout))
