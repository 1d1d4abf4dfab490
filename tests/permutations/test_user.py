"""Permutations of a user's own: what they must be, and that all of them are used."""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pytest

from shrinktest import Permutations, joint_independence_test, permutation_test, two_sample_test

RNG = np.random.default_rng(0)
ALL = np.array([np.isin(np.arange(8), chosen, invert=True) for chosen in combinations(range(8), 4)], dtype=int)
VALUES = RNG.normal(size=8) + ALL[0]
X, Y, Z = RNG.normal(size=(3, 12))


@dataclass(frozen=True, eq=False)
class Splits(Permutations):
    """All splits of eight into four and four, or as a test changes it."""

    listed: object = None
    drawn: object = None
    size: int = 8
    distinct: float = 70

    def all(self):
        return iter(ALL) if self.listed is None else self.listed()

    def draw(self, rng, rows):
        return ALL[rng.integers(70, size=rows)] if self.drawn is None else self.drawn(rows)


def results_of(permutations, n_resamples):
    """p-values of a user's statistic, of a test, and of two statistics together."""
    options = {"n_resamples": n_resamples, "rng": 0, "alpha": 0.3}
    yield lambda: permutation_test(lambda row: float(VALUES @ row), permutations, **options).pvalue
    options["permutations"] = permutations
    yield lambda: two_sample_test(VALUES[:4], VALUES[4:], **options).pvalue
    yield lambda: two_sample_test(VALUES[:4], VALUES[4:], estimator=["kme", "skmse"], **options).pvalue


def test_they_take_the_place_of_those_of_the_test():
    naive = np.array([(VALUES[row == 0].mean() - VALUES[row == 1].mean()) ** 2 for row in ALL])
    expected = (naive >= naive[0] * (1.0 - 1e-10)).mean()
    found = two_sample_test(VALUES[:4], VALUES[4:], kernel="linear", permutations=Splits(), alpha=0.3)
    assert found.pvalue == expected and found.n_resamples == 70


def changing():
    row = ALL[0].copy()
    for other in ALL:
        row[:] = other
        yield row


@pytest.mark.parametrize("n_resamples", [999, 30])
def test_all_may_give_lists_floats_or_an_array_that_changes(n_resamples):
    expected = [result() for result in results_of(Splits(), n_resamples)]
    for listed in (lambda: iter(ALL.tolist()), lambda: iter(ALL.astype(float)), changing):
        assert [result() for result in results_of(Splits(listed=listed), n_resamples)] == expected


@pytest.mark.parametrize(
    ("changed", "n_resamples", "message"),
    [
        ({"listed": lambda: iter(ALL[1:]), "distinct": 69}, 999, "begin with the data"),
        ({"listed": lambda: iter(ALL[:5])}, 999, "fewer than distinct says"),
        ({"distinct": 10}, 999, "more than distinct says"),
        ({"listed": lambda: iter([ALL[0], np.zeros(8, int)]), "distinct": 2}, 999, "every label"),
        ({"drawn": lambda rows: ALL[:3]}, 30, "must give shape"),
        ({"drawn": lambda rows: ALL[:rows, :7]}, 30, "must give shape"),
        ({"drawn": lambda rows: np.full((rows, 8), 2)}, 30, "every label"),
        ({"size": 9}, 30, "9 observations"),
        ({"distinct": 0}, 30, "distinct of Splits must be an integer >= 1"),
    ],
)
def test_what_are_not_permutations_of_the_data_is_an_error(changed, n_resamples, message):
    permutations = replace(Splits(), **changed)
    with pytest.raises((ValueError, TypeError), match=f"permutations.*{message}"):
        two_sample_test(VALUES[:4], VALUES[4:], permutations=permutations, n_resamples=n_resamples, alpha=0.6)


@dataclass(frozen=True)
class Shuffled(Permutations):
    """Places of the rows of all variables but the first, two of them."""

    change: object = staticmethod(lambda rows: rows)
    size, distinct = 12, 10**9

    def draw(self, rng, rows):
        return self.change(np.array([[rng.permutation(12) for _ in range(2)] for _ in range(rows)]))

    def all(self):
        yield np.tile(np.arange(12), (2, 1))


def test_of_several_variables():
    def run(change):
        return joint_independence_test(X, Y, Z, permutations=Shuffled(change), n_resamples=99, rng=0)

    found = run(lambda rows: rows)
    assert found.null_distribution.size == 99
    assert np.array_equal(run(lambda rows: rows.astype(float)).null_distribution, found.null_distribution)
    for change in (lambda r: r[:, :1], lambda r: np.swapaxes(r, 1, 2), lambda r: r[:, 0], lambda r: r + 5):
        with pytest.raises(ValueError, match="permutations: Shuffled must"):
            run(change)


def test_and_all_partitions_of_several():
    values = np.arange(9.0)

    def ordered(labels):  # Jonckheere and Terpstra
        parts = [values[labels == k] for k in range(3)]
        return float(sum((parts[i][:, None] < parts[j]).sum() for i in range(3) for j in range(i + 1, 3)))

    found = permutation_test(ordered, (3, 3, 3), n_resamples=np.inf)
    assert found.pvalue == 1 / 1680 and found.n_resamples == 1680
