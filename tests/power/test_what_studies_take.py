"""What power studies take for data, tests and stored results: NaN, sizes, ratios, long arrays."""

import io
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from shrinktest import Precomputed
from shrinktest.power import KNOWN_TESTS, designs, power_study, solve_sample_size
from shrinktest.power.designs import Design

FEW = {"n_trials": 6, "n_resamples": 19, "alphas": 0.1, "workers": 1, "progress": False}


def with_gaps(rng, n):
    x = rng.normal(size=(n, 2))
    x[rng.random(n) < 0.2, 0] = np.nan
    return x, rng.normal(1.0, 1.0, size=(n, 2))


def test_missing_values_are_for_the_test():
    with pytest.raises(ValueError, match="pass nan_policy='omit'"):
        power_study(with_gaps, "kme", 20, **FEW)
    assert power_study(with_gaps, "kme", 20, test_options={"nan_policy": "omit"}, **FEW).table.trials.tolist() == [6]
    with pytest.raises(ValueError, match="test 'kme' has no p-value, because values are missing"):
        power_study(with_gaps, "kme", 20, test_options={"nan_policy": "propagate"}, **FEW)
    with pytest.raises(ValueError, match="pilot data must have no missing values"):
        designs.FromData([1.0, np.nan, 2.0], [1.0, 2.0, 3.0])


@pytest.mark.filterwarnings("ignore:An input array is constant", "ignore:Precision loss")
def test_a_column_without_a_p_value_hides_no_other():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 1))
    beside = [np.c_[np.zeros(30), x], np.c_[np.zeros(30), x + 5.0]]
    alone = KNOWN_TESTS["ttest_ind"].pvalue([x, x + 5.0], rng, 99)
    assert KNOWN_TESTS["ttest_ind"].pvalue(beside, rng, 99) == pytest.approx(2.0 * alone)
    assert KNOWN_TESTS["pearsonr"].pvalue([x, np.c_[x + 0.3 * rng.normal(size=(30, 1)), np.zeros(30)]], rng, 99) < 0.01
    assert KNOWN_TESTS["ttest_ind"].pvalue([np.zeros((9, 1)), np.zeros((9, 1))], rng, 99) == 1.0


def drawn(rng, n):
    return rng.normal(size=n), rng.normal(size=n)


@dataclass(frozen=True, repr=False)
class Odd(Design):
    test = "two-sample"
    neutral = {"shift": 0.0}  # noqa: RUF012 - as the page on extending has it
    shift: float = 1.0
    more: int = 0

    def draw(self, rng, n, m):
        return rng.normal(size=(n, 1)), rng.normal(self.shift, 1.0, size=(m + self.more, 1))


class Misspelt(Odd):
    test = "two_sample"


class Nothing(Odd):
    def null(self):
        return None


class Unknown(Odd):
    neutral = {"shft": 0.0}  # noqa: RUF012


class Array(Odd):
    test = "change-point"

    def draw(self, rng, n, m):
        return rng.normal(size=n)


class Bare(Design):  # without the decorator
    test = "two-sample"
    neutral = {"shift": 0.0}  # noqa: RUF012
    shift: float = 1.0

    def draw(self, rng, n, m):
        return rng.normal(size=(n, 1)), rng.normal(self.shift, 1.0, size=(m, 1))


@pytest.mark.parametrize(
    ("design", "error", "message"),
    [
        (Bare(), TypeError, r"Bare has neutral=.* and no parameters: decorate the class with @dataclass"),
        (Odd(more=3), ValueError, r"must return 10 \+ 10 rows when asked for n=10 and m=10; found 10 \+ 13"),
        (Misspelt(), ValueError, "Did you mean 'two-sample'"),
        (Nothing(), TypeError, "must return a design; found None"),
        (Unknown(), ValueError, r"Unknown.neutral must be one of 'shift', 'more'; got 'shft'"),
        (Array(), TypeError, r"must return a tuple of arrays, \(X, Y\), or \(X,\) of one series"),
    ],
)
def test_a_design_of_ones_own_draws_what_was_asked_for(design, error, message):
    with pytest.raises(error, match=message):
        power_study(design, "kme", 10, **FEW)


class Given(Odd):
    test = "conditional-independence"
    neutral = {}  # noqa: RUF012

    def draw(self, rng, n, m):
        x, y, z = rng.normal(size=(3, n, 1))
        return x + z, y + z, z


def test_permuting_makes_no_null_twin_of_conditional_independence():
    """X and Y would not depend on Z, so that the level would be that of an easier problem."""
    with pytest.raises(ValueError, match=r"no permutation leaves X and Y .*: name in neutral"):
        power_study(Given(), "kme", 20, **FEW)
    assert len(power_study(Given(), "kme", 20, with_null=False, **FEW).table) == 1


def test_a_search_for_a_sample_size_asks_for_the_null_twin_first():
    """Not at its end, when the level is checked."""

    class NeverDrawn(Given):
        def draw(self, rng, n, m):
            raise AssertionError("there is nothing to draw for")

    with pytest.raises(ValueError, match=r"no permutation leaves X and Y of NeverDrawn\(\)"):
        solve_sample_size(NeverDrawn(), workers=1, progress=False)


@dataclass(frozen=True, repr=False)
class Correlated(Design):
    test = "two-sample"
    neutral = {"factor": np.eye(2)}  # noqa: RUF012
    factor: np.ndarray

    def draw(self, rng, n, m):
        return rng.normal(size=(n, 2)), rng.normal(size=(m, len(self.factor))) @ self.factor[:, :2]


def test_parameters_of_a_design_may_be_arrays(tmp_path):
    design, path = Correlated(np.array([[1.0, 0.0], [2.0, 1.0]])), tmp_path / "study.sqlite"
    assert repr(design) == "Correlated(factor=[[1.0, 0.0], [2.0, 1.0]])"
    twin = design.null()
    assert repr(twin) == "Correlated(factor=[[1.0, 0.0], [0.0, 1.0]])" and twin.null() is twin
    result = power_study(design, "kme", 10, store=path, **FEW)
    assert power_study(design, "kme", 10, store=path, **FEW) == result
    large = np.eye(50)
    assert "<50 x 50, sha256 " in repr(Correlated(large))
    other = large.copy()
    other[25, 25] = 2.0
    assert repr(Correlated(other)) != repr(Correlated(large)) == repr(Correlated(large.copy()))


@dataclass(frozen=True, repr=False)
class Stacked(Odd):
    def draw(self, rng, n, m):
        return rng.normal(size=(2, n, 1))


@dataclass(frozen=True, repr=False)
class Units(Odd):
    """Of two rows each, which stay together."""

    def draw(self, rng, n, m):
        return rng.normal(size=(2 * n, 1)), rng.normal(size=(2 * m, 1))

    def options_for(self, n, m):
        return {"groups": np.arange(n + m) // 2}  # of n and m rows


@pytest.mark.parametrize("design", [Stacked(), Units()], ids=["array", "units"])
def test_samples_in_one_array_and_units_of_several_rows(design):
    assert power_study(design, "kme", 10, **FEW).table.trials.tolist() == [6]


def test_the_twin_of_tables_whose_columns_have_numbers():
    def tables(rng, n):
        return pd.DataFrame(rng.normal(size=(n, 2))), pd.DataFrame(rng.normal(size=(n, 2)))

    assert len(power_study(tables, "kme", 10, **FEW).size_table) == 1


def test_numbers_of_numpy_are_numbers(tmp_path):
    design, store = designs.MeanShift(dimension=1), tmp_path / "study.sqlite"
    how = {"n_resamples": np.int64(39), "n_trials": np.int64(3), "alphas": np.float64(0.05)}
    first, again = (
        power_study(design, "kme", 10, **{**FEW, **given}, store=store)
        for given in (how, {name: number.item() for name, number in how.items()})
    )
    assert again.table.equals(first.table) and isinstance(first.n_resamples, int)
    with pytest.raises(TypeError, match="test_options must be a dict of arguments"):
        power_study(design, "kme", 10, test_options=["a"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"store": b"x"}, "store must be a path"),
        ({"with_null": "no"}, "with_null must be True or False"),
        ({"progress": "no"}, "progress must be True or False"),
    ],
)
def test_arguments_of_the_wrong_kind(options, message):
    with pytest.raises(TypeError, match=message):
        power_study(designs.MeanShift(dimension=1), "kme", 10, **{**FEW, **options})


def test_what_functions_are_called_with():
    with pytest.raises(TypeError, match=r"function must be \(rng, n\) -> \(X, Y\), and is called with 2 arguments"):
        power_study(lambda n: None, "kme", 10, **FEW)
    with pytest.raises(TypeError, match=r"restriction must be \(n, m\) -> dict, and is called with 2 arguments"):
        designs.FromFunction(with_gaps, restriction=lambda n: {})


def test_a_table_goes_to_a_folder_that_is_there_or_to_what_is_open(tmp_path, monkeypatch):
    found = power_study(designs.MeanShift(dimension=1), "kme", 10, **FEW)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert found.to_csv("~/a.csv") is None and found.to_csv(opened := io.StringIO()) is None
    assert (tmp_path / "a.csv").read_text() == opened.getvalue() == found.to_csv()
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*missing"):
        found.to_csv(tmp_path / "missing" / "a.csv")


def test_a_ratio_needs_a_size_of_y():
    with pytest.raises(TypeError, match=r"function must be \(rng, n, m\) -> \(X, Y\) where ratio is not 1"):
        solve_sample_size(drawn, ratio=2.0)
    with pytest.raises(ValueError, match=r"Odd.* has no ratio of its own; give its class, a dataclass, a field ratio"):
        solve_sample_size(Odd(), ratio=2.0)


@dataclass(frozen=True, repr=False)
class Jump(Odd):
    test = "change-point"

    def draw(self, rng, n, m):
        return (rng.normal(size=(n, 1)) + 9.0 * self.shift * (np.arange(n) >= n // 2)[:, None],)


def test_a_sample_size_of_series_is_for_a_change():
    found = solve_sample_size(Jump(), n_trials=100, n_resamples=19, alpha=0.1, workers=1)
    assert "finds the change" in str(found.summary())


def test_stores_tell_long_arrays_and_matrices_apart(tmp_path):
    rng = np.random.default_rng(0)
    blocks = rng.integers(0, 4, size=1200)
    others = blocks.copy()
    others[100:1100] = rng.permutation(others[100:1100])
    shift = designs.MeanShift(dimension=1)
    wide = {**FEW, "n_trials": 1, "with_null": False, "store": tmp_path / "a.sqlite"}
    power_study(shift, {"a": {"estimator": "kme", "blocks": blocks}}, 600, **wide)
    power_study(shift, {"a": {"estimator": "kme", "blocks": blocks.tolist()}}, 600, **wide)
    with pytest.raises(ValueError, match="is of another study: estimator 'a'") as raised:
        power_study(shift, {"a": {"estimator": "kme", "blocks": others}}, 600, **wide)
    assert len(str(raised.value)) < 800
    grams = [z @ z.T for z in rng.normal(size=(2, 20, 3))]
    rows = {**FEW, "store": tmp_path / "b.sqlite"}

    def numbers(rng, n):
        return np.arange(10.0), np.arange(10.0, 20.0)

    power_study(numbers, "kme", 10, test_options={"kernel": Precomputed(grams[0])}, with_null=False, **rows)
    with pytest.raises(ValueError, match="is of another study: kernel"):
        power_study(numbers, "kme", 10, test_options={"kernel": Precomputed(grams[1])}, with_null=False, **rows)
