"""What is given is adjusted for as it was given: columns that count the rows, labels, and models of a user's."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from shrinktest import SKMSE, XGivenZ, independence_matrix, independence_test, two_sample_test

RNG = np.random.default_rng(0)
N = 60
YEAR = np.arange(1960, 1960 + N)
TABLE = pd.DataFrame({"year": YEAR, "z": RNG.normal(size=N)})
X, Y = (YEAR / 20 + RNG.normal(size=N) for _ in range(2))
FEW = {"n_resamples": 199, "rng": 0}


def test_years_that_count_the_rows_are_taken_as_given():
    found = independence_test(X, Y, given=TABLE, **FEW)
    assert found.pvalue == independence_test(X, Y, given=TABLE.to_numpy(), **FEW).pvalue
    assert not any("year" in note for note in found.notes)
    unnamed = independence_test(X, Y, given=TABLE.assign(**{"Unnamed: 0": np.arange(N)}), **FEW)
    assert unnamed.pvalue == found.pvalue
    assert any("'Unnamed: 0' of given is left out: it has no name" in note for note in unnamed.notes)


def test_and_beside_the_others_of_a_table():
    table = TABLE.assign(x=X, y=Y)
    found = independence_matrix(table, given="others", **FEW).table.set_index(["x", "y"])
    alone = independence_test(X, Y, given=TABLE[["z", "year"]], **FEW)
    assert found.loc[("x", "y")].statistic == pytest.approx(alone.statistic)
    assert not any("year" in str(pair) for pair in found.dropna(subset="pvalue").index)


def test_covariates_that_count_the_rows_are_adjusted_for():
    days = [pd.DataFrame({"day": np.arange(N) + start, "z": RNG.normal(size=N)}) for start in (0, 30)]
    a, b = (one.day / 20 + RNG.normal(size=N) for one in days)
    tables = two_sample_test(a, b, covariates=days, **FEW)
    assert tables.pvalue == two_sample_test(a, b, covariates=[one.to_numpy() for one in days], **FEW).pvalue
    named = [one.assign(name=[f"k{i}" for i in range(N)]) for one in days]
    assert any("'name' of covariates of X" in note for note in two_sample_test(a, b, covariates=named, **FEW).notes)


def test_types_of_columns_are_for_covariates_too():
    code = pd.DataFrame({"code": YEAR % 3})
    found = two_sample_test(X, Y, covariates=(code, code), column_types={"code": "category"}, **FEW)
    assert found.method == "permutations within strata"
    strata = two_sample_test(X, Y, covariates=(YEAR % 3, YEAR % 3), covariate_method="strata", **FEW)
    assert found.statistic == pytest.approx(strata.statistic)
    both = pd.DataFrame({"x": X}), pd.DataFrame({"x": Y})
    beside = [one.assign(code=code.code) for one in both]  # dropped from the samples, and adjusted for
    dropped = two_sample_test(*beside, covariates=(code, code), column_types={"code": "drop"}, **FEW)
    assert dropped.pvalue == two_sample_test(*both, covariates=(code, code), **FEW).pvalue
    with pytest.raises(ValueError, match="a column in column_types"):
        two_sample_test(*both, covariates=(code, code), column_types={"co": "drop"})


@pytest.mark.parametrize("labels", [np.array(["a", "b"])[YEAR % 2], (YEAR % 2 == 0), list("ab" * (N // 2))])
def test_a_model_gets_labels_as_they_were_given(labels):
    seen = []

    def draw(z, rng):
        seen.append(z)
        return rng.normal(size=len(z))

    independence_test(X, Y, given=labels, x_given_z=draw, **FEW)
    assert isinstance(seen[0], np.ndarray) and seen[0].shape == (N, 1)
    assert (seen[0][:, 0] == np.asarray(labels)).all()


def test_a_model_is_of_x_as_it_is_given():
    def draw(z, rng):
        return rng.normal(size=len(z))

    with pytest.raises(ValueError, match=r"transform X before, and give transform=\[None"):
        independence_test(X, Y, given=YEAR, x_given_z=draw, transform=[np.exp, None], **FEW)
    independence_test(X, Y, given=YEAR, x_given_z=draw, transform=[None, np.exp], **FEW)
    some = np.where(np.arange(N) == 3, np.nan, X)
    with pytest.raises(ValueError, match="X misses values, of which a model of X given Z knows nothing"):
        independence_test(some, Y, given=YEAR, x_given_z=draw, nan_policy="indicator", **FEW)


def test_a_model_gets_the_rows_of_x_that_are_left():
    some, other, given = (np.where(np.arange(N) == row, np.nan, values) for row, values in ((3, X), (7, Y), (11, YEAR)))

    class Model:
        def predict(self, z):
            return np.asarray(z).reshape(-1) / 20

    for model in (lambda z, rng: z / 20 + rng.normal(size=z.shape), Model()):
        told = {"given": given, "x_given_z": model, "nan_policy": "omit", **FEW}
        found = independence_test(some, other, **told)
        assert found.n_observations == (N - 3,)
        for table in (pd.Series(some), pd.DataFrame({"x": some}), pl.DataFrame({"x": some})):
            assert independence_test(table, other, **told).pvalue == found.pvalue


def test_messages_name_the_columns_of_a_matrix():
    table = np.column_stack([X, Y, TABLE.z])
    with pytest.raises(ValueError, match="given determines column 'x1' of X"):
        independence_matrix(table[:, 1:][:, ::-1], given=2.0 * Y, **FEW)
    notes = independence_matrix(table, given=RNG.normal(size=N), **FEW).notes
    assert any("Four statistics are combined" in note and "is shared 80 %, 6 %, 8 %, 6 %:" in note for note in notes)
    assert not any("stands out most" in note for note in notes)


class Unfitted:
    def predict(self, z):
        raise ValueError("not fitted")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"x_given_z": lambda z: z}, TypeError, r"draw of a model of X given Z is a function \(Z, rng\)"),
        ({"x_given_z": lambda z, rng: ["a"] * N}, TypeError, "x_given_z must draw numbers"),
        ({"x_given_z": lambda z, rng: 1j * np.ones(N)}, TypeError, "x_given_z must draw numbers"),
        ({"x_given_z": Unfitted()}, ValueError, "does not predict X from given: not fitted"),
        ({"lags": [0, 1]}, ValueError, "lags= shifts series as a whole, and given= says which rows"),
        ({"scale": ["sd", "sd", "sd"]}, ValueError, "scale has 3 entries; beside given=.*one for X and one for Y"),
        ({"transform": [None]}, ValueError, "transform has 1 entries; beside given="),
        (
            {"x_given_z": lambda z, rng: rng.normal(size=N), "bandwidth_x": {"a": 1.0}},
            ValueError,
            "which arrays do not have, nor what x_given_z= leaves of a table",
        ),
    ],
)
def test_what_does_not_go_with_given(options, error, message):
    with pytest.raises(error, match=message):
        independence_test(pd.DataFrame({"a": X}), pd.DataFrame({"b": Y}), given=YEAR, **FEW, **options)


SCALES = ["rank", "deviation", "mad", None, [[2.0], [1.0, 3.0]]]


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("labels", [False, True])
def test_units_of_arrays_are_those_of_tables(scale, labels):
    """Whatever is computed before kernels compare the numbers is computed in the units that were asked for."""
    rng, n = np.random.default_rng(0), 40
    x, y = rng.normal(size=(n, 1)), rng.normal(size=(n, 2))
    given = pd.Series(rng.choice(["a", "b"], n)) if labels else rng.normal(size=n)
    tables = pd.DataFrame(x, columns=["a"]), pd.DataFrame(y, columns=["b", "c"])
    few = {"rng": 0, "n_resamples": 99, "scale": scale}
    for method in ("auto",) if labels else ("auto", "local"):
        arrays, named = (independence_test(*xy, given=given, given_method=method, **few) for xy in ((x, y), tables))
        assert arrays.pvalue == named.pvalue and arrays.statistic == pytest.approx(named.statistic)
    few["scale"] = [1.0, 3.0] if isinstance(scale, list) else scale
    first = given[:20]
    others = given[20:].reset_index(drop=True) if labels else given[20:]
    both = (pd.DataFrame(y[:20]), pd.DataFrame(y[20:])), (y[:20], y[20:])
    named, arrays = (two_sample_test(*xy, covariates=(first, others), **few) for xy in both)
    assert arrays.pvalue == named.pvalue and arrays.statistic == pytest.approx(named.statistic)


def test_constant_columns_have_no_weight_beside_given():
    rng = np.random.default_rng(1)
    x = np.column_stack([rng.normal(size=30), np.ones(30)])
    found = independence_test(x, rng.normal(size=30), given=rng.normal(size=30), scale="sd", n_resamples=19)
    assert "X: column 1 has one value only, and no weight (scale='sd')." in found.notes


def test_columns_of_tables_keep_their_names():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"u": rng.normal(size=N), "city": rng.choice(list("abc"), N)})
    first, second, few = table[:30], table[30:], {"n_resamples": 99, "rng": 0}
    for covariates in (TABLE[["z"]], TABLE[["z"]] > 0.0):
        found = two_sample_test(first, second, covariates=(covariates[:30], covariates[30:]), **few)
        assert found.columns == (("u", "city"),)
        assert list(found.contributions(n_repeats=2)["coordinate"]) == ["u", "city"]
        assert independence_test(table, Y, given=covariates, **few).columns[0] == ("u", "city")
    wide = {"covariates": (TABLE[["z"]][:30], TABLE[["z"]][30:]), **few}
    named = two_sample_test(first, second, bandwidth={"u": 0.5, "city": 2.0}, **wide)
    assert named.statistic == two_sample_test(first, second, bandwidth=(0.5, 2.0), **wide).statistic


@pytest.mark.parametrize("labels", [False, True])
def test_units_are_not_why_little_is_left_of_what_given_determines(labels):
    rng = np.random.default_rng(3)
    z = np.repeat([0.0, 1.0], 20)[rng.permutation(40)] if labels else rng.normal(size=40)
    both = np.column_stack([3 * z + 0.003 * rng.normal(size=40), rng.normal(size=40)])
    z = z > 0.0 if labels else z
    few = {"n_resamples": 99, "rng": 0}
    for data in (both, pd.DataFrame(both, columns=["u", "v"])):
        found = two_sample_test(data[:20], data[20:], covariates=(z[:20], z[20:]), **few)
        notes = (*found.notes, *independence_test(data, rng.normal(size=40), given=z, **few).notes)
        assert not any("nearly all of the distances" in note for note in notes)
    tons = both * [1.0, 1000.0]  # the units, too
    found = two_sample_test(tons[:20], tons[20:], covariates=(z[:20], z[20:]), **few)
    assert any("column 1 makes nearly all of the distances" in note for note in found.notes)


# --- tables beside a model of X ------------------------------------------------------------------------------

TWO = np.random.default_rng(5)
SEEN = TWO.normal(size=60)
PAIR = np.column_stack([1000.0 * (SEEN + TWO.standard_t(2, size=60)), SEEN + TWO.normal(size=60)])
ABOUT = PAIR[:, 1] + 0.1 * TWO.normal(size=60)


def both(z, rng):
    z = np.asarray(z).reshape(len(z), -1)[:, 0]
    return np.column_stack([1000.0 * (z + rng.standard_t(2, size=len(z))), z + rng.normal(size=len(z))])


@pytest.mark.parametrize("scale", [None, "sd", "rank", "deviation", [[1000.0, 1.0], None]], ids=str)
def test_copies_are_compared_in_the_units_that_are_asked_for(scale):
    told = {"given": SEEN, "x_given_z": both, "scale": scale, "rng": 0, "n_resamples": 39}
    array, table = (independence_test(x, ABOUT, **told) for x in (PAIR, pd.DataFrame(PAIR, columns=["a", "b"])))
    assert table.statistic == pytest.approx(array.statistic, rel=1e-9) and table.pvalue == array.pvalue


def density(x, z):
    return -0.5 * ((x - z) ** 2).sum(axis=1)


@pytest.mark.parametrize(
    "model", [lambda z, rng: z[:, 0] + rng.normal(size=len(z)), XGivenZ(log_density=density)], ids=["copies", "density"]
)
@pytest.mark.parametrize(("other", "told"), [(PAIR[:, 1], {"column_types": {"b": "drop"}}), (np.arange(60), {})])
def test_columns_that_are_not_tested_are_none_of_the_model(model, other, told):
    alone, table = pd.DataFrame({"a": PAIR[:, 0]}), pd.DataFrame({"a": PAIR[:, 0], "b": other})
    few = {"given": SEEN, "x_given_z": model, "rng": 0, "n_resamples": 39}
    assert independence_test(table, ABOUT, **told, **few).pvalue == independence_test(alone, ABOUT, **few).pvalue


@pytest.mark.parametrize(
    ("column", "kind"), [(list("ab") * 30, "category"), (pd.date_range("2020", periods=60), "date")]
)
def test_a_model_is_of_numbers(column, kind):
    with pytest.raises(ValueError, match=f"column 'a' of X is of type '{kind}'; give numbers, or leave it out"):
        independence_test(pd.DataFrame({"a": column}), ABOUT, given=SEEN, x_given_z=both, rng=0)


def test_notes_and_routes_of_copies():
    told = {"given": SEEN, "x_given_z": both, "rng": 0, "n_resamples": 39}
    found = independence_test(PAIR, ABOUT, estimator=SKMSE(alpha=0.3), gram="nystrom", rank=5, **told)
    assert found.route == "nystrom" and any(note.startswith("One shrinkage amount") for note in found.notes)


def test_more_than_two_thousand_rows_give_the_same_twice():
    z = np.random.default_rng(0).normal(size=2001)
    x, y = z + np.sin(7 * z), np.cos(z) + np.random.default_rng(1).normal(size=2001)
    one, two = (
        independence_test(x, y, given=z, kernel_x="laplacian", rng=0, n_resamples=19).statistic for _ in range(2)
    )
    assert one == two
