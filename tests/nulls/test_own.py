"""Permutations and statistics of a user's: what they must be, and that all of them are met."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from shrinktest import Relabellings, independence_test, permutation_test, two_sample_test
from shrinktest.nulls.own import Own
from shrinktest.nulls.relabellings import Partitions

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(8, 2)), RNG.normal(0.7, 1.0, size=(8, 2))
FIRST = np.repeat([0, 1], 8)
ROWS = np.array([FIRST] + [RNG.permutation(FIRST) for _ in range(99)])


@dataclass(frozen=True, eq=False)
class Listed(Relabellings):
    all_of_them: np.ndarray
    said: int | None = None

    @property
    def size(self):
        return self.all_of_them.shape[1]

    @property
    def distinct(self):
        return self.said or len(self.all_of_them)

    @property
    def magnitude(self):
        return np.log(self.distinct)

    def draw(self, rows):
        return self.all_of_them[: rows if self.said is None else 2]

    def every(self):
        return iter(self.all_of_them)


def result_of(rows, said=None, **options):
    return two_sample_test(X, Y, permutations=Listed(999, RNG, np.asarray(rows), said), rng=0, **options)


def test_those_that_are_permutations_of_the_data_are_used():
    naive = np.array([np.square(X.T @ (row[:8] == 0) / 8 + Y.T @ (row[8:] == 0) / 8 - X.T @ (row[:8] == 1) / 8
                                - Y.T @ (row[8:] == 1) / 8).sum() for row in ROWS])  # fmt: skip
    assert result_of(ROWS, kernel="linear").pvalue == (naive >= naive[0] * (1.0 - 1e-10)).mean()
    assert result_of(ROWS.astype(float)).pvalue == result_of(ROWS).pvalue == result_of(ROWS.astype(bool)).pvalue


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROWS[1:], r"first of every\(\) must be the data as they are, \(0, 0, 0, 0, 0, 0, 0, 0, ...\)"),
        (np.vstack([ROWS[:5], np.repeat([0, 1], (9, 7))]), "every label as often as the data do"),
        (np.vstack([ROWS[:5], np.repeat([0, 1, 2], (8, 7, 1))]), "every label as often as the data do"),
    ],
    ids=["another first", "other sizes", "another label"],
)
def test_others_are_errors(rows, message):
    with pytest.raises(ValueError, match=message):
        result_of(rows, alpha=0.5)


def test_places_are_each_taken_once():
    n = np.arange(8)
    with pytest.raises(ValueError, match="every place once; got \\(0, 0, 2"):
        independence_test(X, Y, permutations=Listed(99, RNG, np.array([n, np.r_[0, 0, 2:8]])), alpha=0.5)


def test_there_are_as_many_as_were_asked_for():
    with pytest.raises(ValueError, match=r"must be of 16 observations, 50 of them .*got shape \(5, 16\)"):
        result_of(ROWS[:5], said=50)
    with pytest.raises(ValueError, match="1 more were asked for, and 2 came"):
        drawn = Listed(30, RNG, ROWS, 10**6)
        permutation_test(lambda labels: float(labels[:8].sum()), drawn, n_resamples=30, vectorized=False)


@pytest.mark.parametrize("beside", [{"blocks": [0, 1] * 8}, {"paired": True}, {"groups": np.arange(16) // 2}])
def test_they_stand_alone(beside):
    with pytest.raises(ValueError, match="permutations= says which rows change places, and so do blocks="):
        result_of(ROWS, **beside)


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 1, 0, 2], [2, 3, 1, 0]])
def test_a_statistic_that_has_a_direction_meets_all_splits_of_two_samples_of_one_size(order):
    x, y = np.array([5.1, 0.2, 6.3, 4.4])[order], np.array([1.0, 2.5, 3.3, 0.7])
    pooled = np.r_[x, y]
    found = permutation_test(lambda labels: pooled[labels == 0].mean() - pooled[labels == 1].mean(), (4, 4))
    expected = stats.permutation_test((x, y), lambda a, b: a.mean() - b.mean(), alternative="greater").pvalue
    assert found.pvalue == expected == 0.1 and found.n_resamples == 70


def test_and_all_partitions_of_several():
    values = np.arange(9.0)

    def ordered(labels):  # Jonckheere and Terpstra
        parts = [values[labels == k] for k in range(3)]
        return float(sum((parts[i][:, None] < parts[j]).sum() for i in range(3) for j in range(i + 1, 3)))

    found = permutation_test(ordered, (3, 3, 3), n_resamples=np.inf)
    assert found.pvalue == 1 / 1680 and found.n_resamples == 1680


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        (np.nan, ValueError, "finite number for every permutation; it returned nan"),
        (None, ValueError, "finite number for every permutation; it returned None"),
        ("a", TypeError, "statistic must return numbers"),
        (10**400, TypeError, "statistic must return numbers"),
        (1j, TypeError, "statistic must return numbers"),
    ],
)
def test_a_statistic_is_a_finite_number(returned, error, message):
    with pytest.raises(error, match=message):
        permutation_test(lambda labels: returned, (4, 4))


class OneMore(Listed):
    def draw(self, rows):
        return np.array([self.all_of_them[self.rng.integers(self.distinct)] for _ in range(rows)])


def test_no_permutation_is_drawn_beside_the_first():
    assert np.array_equal(OneMore(9, np.random.default_rng(0), ROWS).rows()(1), ROWS[:1])


@pytest.mark.parametrize(
    ("permutations", "options", "error", "message"),
    [
        (10**14, {}, MemoryError, "permutations: one of 100000000000000 observations takes 8e\\+05 GB"),
        ((True, 15), {}, TypeError, "permutations must be a number of observations"),
        ((4, 4), {"progress": "no"}, TypeError, "progress must be True or False"),
        ((4, 4), {"name": "two-sample"}, ValueError, "name='two-sample' is a test of this package"),
    ],
)
def test_what_cannot_be_permuted(permutations, options, error, message):
    with pytest.raises(error, match=message):
        permutation_test(lambda labels: 1.0, permutations, **options)


# --- classes of a user's that say, or give, what is none --------------------------------------------------------------

ALL = np.array([np.isin(np.arange(8), chosen, invert=True) for chosen in combinations(range(8), 4)], dtype=int)
FOUR = RNG.normal(size=8) + ALL[0]


@dataclass(frozen=True)
class Splits(Relabellings):
    """All splits of eight into four and four, or as a test changes it."""

    size, distinct, magnitude = 8, 70, np.log(70.0)

    def every(self):
        return iter(ALL)

    def draw(self, rows):
        return ALL[self.rng.integers(70, size=rows)]


def changed(**parts):
    return dataclass(frozen=True)(type("Changed", (Splits,), parts))(0, RNG)


def results_of(permutations, n_resamples):
    """The p-values of a statistic of one's own, of a test, and of two statistics together."""
    told = {"n_resamples": n_resamples, "rng": 0, "alpha": 0.3}
    yield lambda: permutation_test(lambda row: float(FOUR @ row), permutations, **told).pvalue
    yield lambda: two_sample_test(FOUR[:4], FOUR[4:], permutations=permutations, **told).pvalue
    both = ["kme", "skmse"]
    yield lambda: two_sample_test(FOUR[:4], FOUR[4:], permutations=permutations, estimator=both, **told).pvalue


def changing(self):
    row = ALL[0].copy()
    for one in ALL:
        row[:] = one
        yield row


@pytest.mark.parametrize(
    "every", [lambda self: ALL.tolist(), lambda self: ALL, changing], ids=["list", "array", "same"]
)
@pytest.mark.parametrize("n_resamples", [999, 30])
def test_every_may_be_a_list_an_array_or_give_one_array_that_changes(every, n_resamples):
    pairs = zip(results_of(changed(every=every), n_resamples), results_of(Splits(0, RNG), n_resamples), strict=True)
    for found, expected in pairs:
        assert found() == expected()


def test_an_array_may_be_filled_anew_at_every_draw():
    out = np.empty((3, 8), dtype=int)

    def draw(self, rows):
        out[:] = Splits.draw(self, 3)
        return out[:rows]

    take = Own.of(changed(draw=draw).drawn(9, np.random.default_rng(0)), (4, 4)).rows()
    first, second = take(4), take(3)  # the data as they are among them
    kept = second.copy()
    third = take(3)
    assert np.array_equal(second, kept) and not np.array_equal(second, third) and len(first) == 4


@pytest.mark.parametrize(
    ("parts", "error", "message"),
    [
        (
            {"distinct": 10, "magnitude": 2.3},
            ValueError,
            r"every\(\) of Changed gives more than 10, which distinct says",
        ),
        ({"distinct": 71}, ValueError, r"every\(\) as many as distinct says"),
        ({"distinct": 70.0}, TypeError, r"distinct of Changed must be an integer >= 1, got 70.0 \(float\)"),
        ({"distinct": 0}, ValueError, "distinct of Changed must be an integer >= 1, got 0"),
        ({"distinct": lambda self: 70}, TypeError, "distinct of Changed must be an integer >= 1, got <bound method"),
        ({"magnitude": None}, TypeError, "magnitude of Changed must be a number, got None"),
        ({"every": lambda self: None}, TypeError, r"every\(\) of Changed must give all permutations.*it returned None"),
        ({"every": lambda self: iter(())}, ValueError, r"every\(\) of Changed gives none"),
    ],
    ids=["too few", "too many", "float", "zero", "method", "no magnitude", "nothing", "none"],
)
def test_what_they_say_is_looked_at(parts, error, message):
    for result in results_of(changed(**parts), 999):
        with pytest.raises(error, match=f"permutations.*{message}"):
            result()


@pytest.mark.parametrize(
    ("draw", "shape"),
    [
        (lambda self, rows: None, r"\(\)"),
        (lambda self, rows: ALL[1], r"\(8,\)"),
        (lambda self, rows: ALL[:, :7], ".*7"),
    ],
    ids=["nothing", "one", "short"],
)
def test_what_they_draw_is_looked_at(draw, shape):
    for result in results_of(changed(draw=draw), 30):
        with pytest.raises(ValueError, match=rf"draw\(rows\) of Changed must return .* \(rows, 8\); got shape {shape}"):
            result()


def test_entries_are_as_many_as_size_says():
    with pytest.raises(ValueError, match=r"of as many entries as size says, 9; the first has shape \(8,\)"):
        permutation_test(np.sum, changed(size=9))


class Initialised(Splits):
    def __init__(self, n_resamples, rng, shift=0):
        super().__init__(n_resamples, rng)
        object.__setattr__(self, "shift", shift)  # which a copy by n_resamples and rng would lose


def test_classes_that_cannot_be_copied_are_errors():
    for result in results_of(Initialised(0, RNG, 3), 30):
        with pytest.raises(TypeError, match=r"Initialised must be a frozen dataclass.*it has an __init__ of its own"):
            result()


class Simple(Splits):
    def __init__(self, n_resamples=999, rng=None):
        super().__init__(n_resamples, rng)


def test_an_init_that_takes_what_every_one_does_will_do():
    expected = [result() for result in results_of(Splits(0, RNG), 30)]
    assert [result() for result in results_of(Simple(0, RNG), 30)] == expected


def test_every_is_not_asked_for_more_than_is_needed():
    def first_only(self):
        yield ALL[0]
        raise NotImplementedError

    for result in results_of(changed(every=first_only, distinct=10**9, magnitude=20.0), 30):
        assert 0.0 < result() <= 1.0


def test_sizes_of_samples_are_those_of_a_class_of_ones_own():
    @dataclass(frozen=True)
    class Mine(Partitions):
        pass

    found = permutation_test(lambda row: float(FOUR @ row), Mine(0, RNG, (4, 4), alike=False), rng=0)
    assert found.n_observations == (4, 4) and found.n_resamples == 70
