"""Loaders of torch as batches: tensors, and several that come together, are the arrays they hold."""

from __future__ import annotations

import numpy as np
import pytest

from shrinktest import Batches, independence_test, two_sample_test

ROWS = np.random.default_rng(0).normal(size=(60, 3))
LABEL = np.arange(60.0) % 2


class Tensor:
    """What numpy takes from a tensor of torch."""

    def __init__(self, values):
        self.values = np.asarray(values)
        self.shape = self.values.shape

    def __len__(self):
        return len(self.values)

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.values


class RandomSampler:
    """The sampler of a loader with shuffle=True."""


class DataLoader:
    """Batches of 25 rows of some arrays, each a tensor: alone, or in a list as torch collates them."""

    def __init__(self, *arrays, alone=False, sampler=None):
        self.arrays = arrays
        self.alone = alone
        self.sampler = sampler

    def __len__(self):
        return 3

    def __iter__(self):
        for first in range(0, 60, 25):
            parts = [Tensor(array[first : first + 25]) for array in self.arrays]
            yield parts[0] if self.alone else parts


@pytest.mark.parametrize("options", [{"bins": 2000}, {"bins": 20}], ids=["whole", "binned"])
@pytest.mark.parametrize(
    ("loader", "array"),
    [
        (DataLoader(ROWS, alone=True), ROWS),
        (DataLoader(LABEL, alone=True), LABEL[:, None]),
        (DataLoader(ROWS), ROWS),
        (DataLoader(ROWS, LABEL), np.column_stack([ROWS, LABEL])),
    ],
    ids=["tensor", "one column", "list of one", "with labels"],
)
def test_a_loader_is_the_array_that_it_holds(loader, array, options):
    other = np.random.default_rng(1).normal(0.5, 1.0, size=array.shape)
    given = {"gram": "rff", "rank": 20} if options["bins"] == 20 else {}
    results = [
        two_sample_test(Batches(X, **options), other, n_resamples=19, rng=0, **given)
        for X in (loader, array)
    ]
    assert results[0].statistic == pytest.approx(results[1].statistic, rel=1e-10)
    assert results[0].pvalue == results[1].pvalue


def test_columns_leave_the_label_out():
    X = Batches(DataLoader(ROWS, LABEL), columns=[0, 1, 2])
    Y = Batches(DataLoader(ROWS, LABEL), columns=[3])
    batched = independence_test(X, Y, n_resamples=19, rng=0)
    assert batched.pvalue == independence_test(ROWS, LABEL, n_resamples=19, rng=0).pvalue


def test_loaders_that_cannot_be_read_twice_or_side_by_side_are_refused():
    with pytest.raises(ValueError, match="make the loader with shuffle=False"):
        Batches(DataLoader(ROWS, sampler=RandomSampler()))
    images = np.zeros((60, 2, 2))
    with pytest.raises(ValueError, match=r"batch 0 .* two-dimensional .*; found"):
        two_sample_test(Batches(DataLoader(images)), ROWS, n_resamples=19)
