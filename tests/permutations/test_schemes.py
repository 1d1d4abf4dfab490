"""Schemes of permutations: every one once, uniform draws, those of a user."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from itertools import combinations
from math import factorial, inf

import numpy as np
import pytest
from hypothesis import given as drawn_from
from hypothesis import settings
from hypothesis import strategies as st
from scipy import stats

import naive_permutations
from shrinktest import Permutations, joint_independence_test, permutation_test, two_sample_test
from shrinktest.permutations import base
from shrinktest.permutations.base import Draws, random_orders, random_subsets
from shrinktest.permutations.design import (
    CircularShifts,
    ExchangeableUnits,
    ShiftedLabels,
    UnitLabels,
    UnitPairings,
)
from shrinktest.permutations.schemes import (
    GroupShifts,
    Labels,
    Pairings,
    RelativeOrders,
    Shuffles,
    Signs,
)

# (m, n, blocks, groups) and (n, blocks, groups)
SPLITS = {
    "blocks": (4, 5, [0, 0, 1, 1, 0, 0, 1, 1, 1], None),
    "balanced blocks": (4, 4, [0, 1, 0, 1, 1, 0, 1, 0], None),
    "equal sizes, blocks that are not": (4, 4, [0, 0, 0, 1, 1, 1, 1, 0], None),
    "pairs": (5, 5, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4], None),
    "a block in one sample": (3, 5, [0, 0, 1, 2, 2, 0, 0, 1], None),
    "groups": (4, 6, None, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]),
    "equal sizes, groups": (4, 4, None, [3, 3, 0, 0, 1, 2, 1, 2]),
    "groups of two sizes": (5, 5, None, [0, 1, 1, 2, 2, 3, 4, 4, 5, 5]),
    "equal sizes, groups that are not": (5, 5, None, [0, 0, 0, 1, 2, 3, 3, 4, 4, 5]),
    "groups in blocks": (6, 4, [0, 0, 1, 1, 1, 1, 0, 0, 1, 1], [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]),
}
PAIRINGS = {
    "blocks": (7, [0, 1, 0, 1, 1, 0, 2], None),
    "groups": (8, None, [0, 1, 0, 1, 2, 2, 3, 3]),
    "groups of two sizes": (8, None, [0, 0, 1, 1, 1, 2, 2, 2]),
    "groups in blocks": (8, [0, 0, 1, 1, 0, 0, 1, 1], [0, 0, 1, 1, 2, 2, 3, 3]),
}
SHIFTS = {"one series": (6, None), "two series": (8, [0, 1, 0, 1, 1, 0, 0, 0])}


def units(size, blocks, groups):
    return ExchangeableUnits.of(
        np.zeros(size, dtype=int) if blocks is None else np.array(blocks),
        np.arange(size) if groups is None else np.array(groups),
    )


def unit_labels(case, symmetric=True):
    m, n, *labels = SPLITS[case]
    return UnitLabels(units(m + n, *labels), "", (m, n), symmetric)


def unit_pairings(case):
    if case in SHIFTS:
        n, blocks = SHIFTS[case]
        return CircularShifts(units(n, blocks, None), "")
    n, *labels = PAIRINGS[case]
    return UnitPairings(units(n, *labels), "")


SCHEMES = {
    "splits": Labels((3, 2)),
    "halves": Labels((3, 3), symmetric=True),
    "ordered halves": Labels((3, 3)),
    "three samples": Labels((2, 1, 2)),
    "pairings": Pairings(4),
    "shuffles": Shuffles(3, 3),
    "relative orders": RelativeOrders(3, 3, 1, 2),
    "signs": Signs(np.array([0, 1, 2, 3, 3]), symmetric=True),
    "all signs": Signs(np.array([0, 1, 2, 3, 3])),
    "shifts of groups": GroupShifts(2, 3),
    "shifted labels": ShiftedLabels(units(8, None, None), "", (4, 4), symmetric=True),
    "ordered shifted labels": ShiftedLabels(units(8, None, None), "", (4, 4)),
    **{f"labels, {case}": unit_labels(case) for case in SPLITS},
    **{f"pairings, {case}": unit_pairings(case) for case in [*PAIRINGS, *SHIFTS]},
}


def rows_of(scheme):
    return [tuple(np.asarray(row).ravel().tolist()) for row in scheme.all()]


@pytest.mark.parametrize("name", SCHEMES)
def test_every_permutation_once_and_the_data_first(name):
    rows = rows_of(SCHEMES[name])
    assert rows[0] == tuple(
        Draws.of(SCHEMES[name], 1, np.random.default_rng(0)).rows(0, 1).ravel().tolist()
    )
    if name == "relative orders":  # several shuffles move the two variables alike
        assert len(set(rows)) == 6
        return
    assert len(rows) == len(set(rows)) == SCHEMES[name].distinct


@pytest.mark.parametrize("case", SPLITS)
def test_restricted_splits_are_those_of_the_naive_twin(case):
    m, n, *labels = SPLITS[case]
    rows = np.array(list(unit_labels(case).all())) == 0
    expected = set(naive_permutations.all_splits(m, n, *labels))
    splits = {tuple(np.flatnonzero(row).tolist()) for row in rows}
    mirrors = {tuple(np.flatnonzero(~row).tolist()) for row in rows} if m == n else set()
    assert splits == expected or (splits | mirrors == expected and not splits & mirrors)
    ordered = np.array(list(unit_labels(case, symmetric=False).all())) == 0
    assert {tuple(np.flatnonzero(row).tolist()) for row in ordered} == expected
    assert len(ordered) == len(expected)


@pytest.mark.parametrize("case", [*PAIRINGS, *SHIFTS])
def test_restricted_pairings_are_those_of_the_naive_twin(case):
    twin = naive_permutations.all_shifts if case in SHIFTS else naive_permutations.all_pairings
    assert set(rows_of(unit_pairings(case))) == set(twin(*{**PAIRINGS, **SHIFTS}[case]))


@st.composite
def labeled(draw, smallest, largest):
    """Blocks and groups of a few observations, every group in one block; the observations in any order."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=5))
    groups = np.repeat(np.arange(len(sizes)), sizes)[:largest]
    groups = np.concatenate([groups, 10 + np.arange(max(0, smallest - groups.size))])
    blocks = {group: draw(st.integers(0, 1)) for group in np.unique(groups).tolist()}
    order = draw(st.permutations(groups.tolist()))
    return [blocks[group] for group in order], order


@settings(max_examples=40, deadline=None)
@drawn_from(labeled(2, 4), labeled(2, 4))
def test_splits_and_pairings_by_any_labels(x_units, y_units):
    blocks, groups = x_units[0] + y_units[0], x_units[1] + [100 + group for group in y_units[1]]
    m, n = len(x_units[0]), len(y_units[0])
    scheme = UnitLabels(units(m + n, blocks, groups), "", (m, n), symmetric=True)
    rows = np.array(list(scheme.all())) == 0
    splits = {tuple(np.flatnonzero(row).tolist()) for row in rows}
    assert len(splits) == len(rows) == scheme.distinct
    mirrors = {tuple(np.flatnonzero(~row).tolist()) for row in rows} if m == n else set()
    expected = set(naive_permutations.all_splits(m, n, blocks, groups))
    assert splits == expected or (splits | mirrors == expected and not splits & mirrors)
    pairings = UnitPairings(units(m, *x_units), "")
    assert set(rows_of(pairings)) == set(naive_permutations.all_pairings(m, *x_units))


@pytest.mark.parametrize("name", SCHEMES)
def test_draws_are_uniform_and_independent(name):
    scheme = SCHEMES[name]
    kinds = set(rows_of(scheme))
    if name == "halves" or name.startswith("labels"):  # drawn with their mirror images
        sizes = scheme.sizes
        mirrored = {tuple(1 - label for label in row) for row in kinds}
        drawn_kinds = {
            tuple(row.tolist()) for row in scheme.draw(np.random.default_rng(1), 400 * len(kinds))
        }
        kinds = (
            kinds | mirrored if sizes[0] == sizes[1] and drawn_kinds & mirrored - kinds else kinds
        )
    elif name == "three samples":
        kinds = set(itertools.permutations((0, 0, 1, 2, 2)))
    elif name == "shifted labels":
        kinds = {tuple(np.roll(np.repeat([0, 1], 4), k)) for k in range(8)}
    elif name == "signs":
        kinds = kinds | {tuple(-sign for sign in row) for row in kinds}
    rows = scheme.draw(np.random.default_rng(0), 200 * len(kinds))
    rows = rows.reshape(len(rows), -1)
    seen, counts = np.unique(rows, axis=0, return_counts=True)
    assert {tuple(row) for row in seen.tolist()} == kinds
    assert stats.chisquare(counts).pvalue > 1e-4
    repeats = (rows[1:] == rows[:-1]).all(axis=1).mean()
    assert repeats == pytest.approx(1 / len(kinds), abs=4.5 * np.sqrt(1 / len(kinds) / len(rows)))


@pytest.mark.parametrize(
    ("m", "n"), [(65, 65), (40, 90), (1, 129), (129, 1), (63, 1), (64, 64), (3, 190)]
)
def test_in_large_samples_every_observation_is_as_likely(m, n):
    mask = random_subsets(np.random.default_rng(0), 8000, m + n, m)
    assert (mask.sum(axis=1) == m).all()
    chance = m / (m + n)
    spread = chance * (1 - chance) / len(mask)
    chi2 = ((mask.mean(axis=0) - chance) ** 2).sum() / spread * (m + n - 1) / (m + n)
    assert stats.chi2.sf(chi2, m + n - 1) > 1e-3
    both = chance * (m - 1) / (m + n - 1)
    assert (mask[:, 0] & mask[:, -1]).mean() == pytest.approx(
        both, abs=4 * np.sqrt(both * (1 - both) / len(mask))
    )


def test_in_large_samples_every_place_is_as_likely_within_segments():
    starts = np.array([0, 50, 51, 180])
    rows = random_orders(np.random.default_rng(0), 8000, starts)
    for first, end in itertools.pairwise(starts):
        for place in (first, end - 1):
            counts = np.bincount(rows[:, place] - first, minlength=end - first)
            assert counts.size == 1 or stats.chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize("name", ["splits", "pairings", "shuffles", "pairings, groups in blocks"])
@pytest.mark.parametrize("n_resamples", [5, inf])
def test_rows_do_not_depend_on_how_they_are_asked_for(name, n_resamples, monkeypatch):
    def drawn():
        return Draws.of(SCHEMES[name], n_resamples, np.random.default_rng(7))

    whole = drawn().rows()
    assert len(whole) == drawn().count
    pieces = [drawn().rows(start, start + 2) for start in range(0, len(whole), 2)]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)
    monkeypatch.setattr(base, "_KEPT", 0)  # as permutations that are too large to keep
    again = drawn()
    np.testing.assert_array_equal(
        np.concatenate([again.rows(i, i + 3) for i in range(0, len(whole), 3)]), whole
    )


def test_all_pairs_of_variables_share_their_shuffles():
    seed = np.random.SeedSequence(5)
    whole = Draws(Shuffles(6, 4), 20, seed).rows()
    for i, j in itertools.combinations(range(4), 2):
        pair = Draws(RelativeOrders(6, 4, i, j), 20, seed).rows()
        places = np.concatenate([np.tile(np.arange(6), (21, 1, 1)), whole], axis=1)
        for row, moved in zip(pair, places, strict=True):
            assert (row[moved[i]] == moved[j]).all()


@pytest.mark.parametrize(
    ("scheme", "distinct"),
    [
        (Labels((5, 3)), 56),
        (Labels((5, 5), symmetric=True), 126),
        (Labels((5, 5)), 252),
        (Pairings(5), factorial(5)),
    ],
)
def test_all_permutations_are_used_if_they_are_no_more_than_asked_for(scheme, distinct):
    def drawn(n_resamples):
        draws = Draws.of(scheme, n_resamples, np.random.default_rng(0))
        return draws.exact, draws.count

    assert drawn(distinct) == drawn(10 * distinct) == drawn(inf) == (True, distinct)
    assert drawn(distinct - 1) == (False, distinct)  # the data come on top
    assert drawn(0) == (False, 1)


RNG = np.random.default_rng(0)
ALL = np.array(
    [np.isin(np.arange(8), chosen, invert=True) for chosen in combinations(range(8), 4)], dtype=int
)
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
    yield (
        lambda: (
            two_sample_test(VALUES[:4], VALUES[4:], estimator=["kme", "skmse"], **options).pvalue
        )
    )


def test_they_take_the_place_of_those_of_the_test():
    naive = np.array([(VALUES[row == 0].mean() - VALUES[row == 1].mean()) ** 2 for row in ALL])
    expected = (naive >= naive[0] * (1.0 - 1e-10)).mean()
    result = two_sample_test(
        VALUES[:4], VALUES[4:], kernel="linear", permutations=Splits(), alpha=0.3
    )
    assert result.pvalue == expected and result.n_resamples == 70


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
        ({"listed": lambda: iter(ALL[1:]), "distinct": 69}, 999, "begin with the identity"),
        ({"listed": lambda: iter(ALL[:5])}, 999, "yields 5 permutations, but distinct is"),
        ({"distinct": 10}, 999, "more permutations than distinct"),
        ({"listed": lambda: iter([ALL[0], np.zeros(8, int)]), "distinct": 2}, 999, "every label"),
        ({"drawn": lambda rows: ALL[:3]}, 30, "must return shape"),
        ({"drawn": lambda rows: ALL[:rows, :7]}, 30, "must return shape"),
        ({"drawn": lambda rows: np.full((rows, 8), 2)}, 30, "every label"),
        ({"size": 9}, 30, "9 observations"),
        ({"distinct": 0}, 30, "distinct of Splits must be an integer >= 1"),
    ],
)
def test_what_are_not_permutations_of_the_data_is_an_error(changed, n_resamples, message):
    permutations = replace(Splits(), **changed)
    with pytest.raises((ValueError, TypeError), match=f"permutations.*{message}"):
        two_sample_test(
            VALUES[:4], VALUES[4:], permutations=permutations, n_resamples=n_resamples, alpha=0.6
        )


def test_schemes_of_the_package_are_for_data_of_their_sizes_and_kind():
    own = Labels((4, 4))
    result = two_sample_test(VALUES[:4], VALUES[4:], permutations=own, alpha=0.6)
    assert result.exact and result.n_resamples == 70
    for other in (Labels((5, 3)), Labels((3, 2)), Pairings(8)):
        with pytest.raises(ValueError, match=r"permutations: .* is not for these data"):
            two_sample_test(VALUES[:4], VALUES[4:], permutations=other, alpha=0.6)


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
        return joint_independence_test(
            X, Y, Z, permutations=Shuffled(change), n_resamples=99, rng=0
        )

    result = run(lambda rows: rows)
    assert result.null_distribution.size == 99
    assert np.array_equal(
        run(lambda rows: rows.astype(float)).null_distribution, result.null_distribution
    )
    for change in (
        lambda r: r[:, :1],
        lambda r: np.swapaxes(r, 1, 2),
        lambda r: r[:, 0],
        lambda r: r + 5,
    ):
        with pytest.raises(ValueError, match="permutations: Shuffled must"):
            run(change)


def test_and_all_partitions_of_several():
    values = np.arange(9.0)

    def ordered(labels):  # Jonckheere and Terpstra
        parts = [values[labels == k] for k in range(3)]
        return float(
            sum((parts[i][:, None] < parts[j]).sum() for i in range(3) for j in range(i + 1, 3))
        )

    result = permutation_test(ordered, (3, 3, 3), n_resamples=np.inf)
    assert result.pvalue == 1 / 1680 and result.n_resamples == 1680
