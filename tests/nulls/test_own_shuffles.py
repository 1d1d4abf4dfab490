"""Permutations of one's own of several variables are looked at before compiled code meets them."""

from dataclasses import dataclass

import numpy as np
import pytest

from shrinktest import Relabellings, joint_independence_test

N, OTHERS = 12, 2
X, Y, Z = np.random.default_rng(0).normal(size=(OTHERS + 1, N))


@dataclass(frozen=True, eq=False)
class Shuffled(Relabellings):
    """Places of the rows of all variables but the first."""

    size, distinct, magnitude = N, 10**9, np.log(1e9)

    def draw(self, rows):
        return np.array([[self.rng.permutation(N) for _ in range(OTHERS)] for _ in range(rows)])

    def every(self):
        yield np.tile(np.arange(N), (OTHERS, 1))


class AsFloats(Shuffled):
    def draw(self, rows):
        return super().draw(rows).astype(np.float64)


class Single(Shuffled):
    def draw(self, rows):
        return super().draw(rows)[:, :1]


class Turned(Shuffled):
    def draw(self, rows):
        return np.swapaxes(super().draw(rows), 1, 2)


class Plain(Shuffled):
    def draw(self, rows):
        return super().draw(rows)[:, 0]


class Beyond(Shuffled):
    def draw(self, rows):
        return super().draw(rows) + 5


class Begun(Shuffled):
    def every(self):
        yield np.tile(np.arange(N)[::-1], (OTHERS, 1))


def run(kind):
    return joint_independence_test(X, Y, Z, permutations=kind(99, None), n_resamples=99, rng=0)


def test_those_that_are_right_are_used():
    found, plain = run(Shuffled), joint_independence_test(X, Y, Z, n_resamples=99, rng=0)
    assert found.statistic == plain.statistic and found.null_distribution.size == 99
    assert np.array_equal(run(AsFloats).null_distribution, found.null_distribution)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Single, r"with the places of each of 2 variables: shape \(1, 2, 12\); got shape \(1, 1, 12\)|got shape"),
        (Turned, "got shape"),
        (Plain, "got shape"),
        (Beyond, "every place once"),
        (Begun, "the first of every"),
    ],
)
def test_those_that_are_not_are_errors(kind, said):
    with pytest.raises(ValueError, match=f"permutations.*({said})"):
        run(kind)
