"""Tables as people have them: what columns of every type become, and what is not tested."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from _ci import some_wait
from shrinktest import (
    compare,
    independence_matrix,
    independence_test,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.data.read import XY, read_samples
from shrinktest.data.tables import read_table

NAN = float("nan")
SPAN = pd.Timedelta(days=1)


def says(*parts):
    return ".*".join(map(re.escape, parts))


def mixed(n, seed=0, moved=0.0):
    """Numbers of very different sizes, a flag, categories, ordered ones, dates."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": rng.normal(1e6, 1e5, n),
            "rate": rng.normal(moved, 1.0, n),
            "flag": rng.random(n) < 0.5,
            "color": rng.choice(["red", "green", "blue"], n),
            "size": pd.Categorical(rng.choice(["S", "M", "L"], n), ["S", "M", "L"], ordered=True),
            "day": pd.Timestamp("2020-01-01") + SPAN * rng.integers(0, 100, n),
        }
    )


def numbers(*tables, policy="raise", names=XY, **options):
    """All rows as the numbers that kernels compare, and their encoding."""
    read = read_samples(tables, names, policy, **{"scale": "auto", **options})
    return np.vstack(read.values), read.encodings[0], read.notes


# ------------------------------------------------------------------------------------------------ encoding


def test_units_of_tables_and_arrays():
    A, B = (mixed(15, seed)[["income", "rate"]] for seed in (0, 1))
    table = two_sample_test(A, B, rng=0)
    assert table.pvalue == two_sample_test(A.to_numpy(), B.to_numpy(), scale="sd", rng=0).pvalue
    assert any("scale='sd', the default for tables" in note for note in table.notes)
    plain = two_sample_test(A, B, scale=None, rng=0)
    arrays = two_sample_test(A.to_numpy(), B.to_numpy(), rng=0)
    assert plain.pvalue == arrays.pvalue and not plain.notes
    assert any("column 0 accounts for nearly all of each distance" in note for note in arrays.notes)
    assert not two_sample_test(A.to_numpy(), B.to_numpy(), bandwidth=(1e5, 1.0), rng=0).notes
    assert not two_sample_test(A.to_numpy(), B.to_numpy(), scale="rank", rng=0).notes
    for scale, same in (({"rate": "rank"}, ["sd", "rank"]), (["mad", 2.0], ["mad", 2.0])):
        by_name = two_sample_test(A, B, scale=scale, rng=0)
        assert (
            by_name.pvalue == two_sample_test(A.to_numpy(), B.to_numpy(), scale=same, rng=0).pvalue
        )
    with pytest.raises(
        ValueError, match=says("a column in scale must be one of", "Did you mean 'rate'")
    ):
        two_sample_test(A, B, scale={"rates": "sd"})


def test_types_may_be_overridden():
    A = pd.DataFrame(
        {
            "zip": [1010, 2020, 1010, 3030],
            "n": ["1", "2.5", "3", "7"],
            "day": ["2020-01-01"] * 2 + ["2020-01-03"] * 2,
        }
    )
    types = {"zip": "category", "n": "number", "day": "date"}
    values, encoding, _ = numbers(A, A, column_types=types, scale=None)
    assert [code.kind for code in encoding.codes] == ["category", "number", "date"]
    np.testing.assert_array_equal(
        values[:4], [[1, 0, 0, 1, 0], [0, 1, 0, 2.5, 0], [1, 0, 0, 3, 2], [0, 0, 1, 7, 2]]
    )
    values, encoding, _ = numbers(
        A, A, column_types={"n": ["1", "2.5", "3", "7"], "day": "drop", "zip": "drop"}, scale=None
    )
    np.testing.assert_array_equal(values[:4, 0], [0, 1, 2, 3])
    array = np.array([[1.0, 5.0], [2.0, 6.0], [1.0, 7.0]])
    values, encoding, _ = numbers(array, array, column_types={0: "category"})
    assert encoding.features == ("0 = 1", "0 = 2", "1") and not encoding.named


@pytest.mark.parametrize(
    ("kind", "texts", "numbers"),
    [
        ("number", ("2", "10"), (2.0, 10.0)),
        ("boolean", ("FALSE", "true"), (0.0, 1.0)),
        ("date", ("1970-01-02", "1970-01-04"), (1.0, 3.0)),
        ("duration", ("1 days", "3 days"), (1.0, 3.0)),
        (["low", "high"], ("low", "high"), (0.0, 1.0)),
    ],
)
def test_missing_text_is_missing_whatever_it_is_read_as(kind, texts, numbers):
    values, expected = np.array(texts * 3, dtype=object), np.array(numbers * 3)
    values[[1, 4]], expected[[1, 4]] = None, np.nan
    column = read_table(pd.DataFrame({"c": values, "x": np.arange(6.0)}), "X", {"c": kind}).columns[
        0
    ]
    assert column.kind == ("ordered" if isinstance(kind, list) else kind)
    np.testing.assert_array_equal(column.numbers(), expected)


@pytest.mark.parametrize(
    ("types", "message"),
    [
        (
            {"colors": "category"},
            ("a column in column_types must be one of", "Did you mean 'color'"),
        ),
        ({"color": "text"}, ("column_types['color'] must be one of", "'category'")),
        ({"color": "number"}, ("X, column 'color', has", "correct it")),
        ({"color": "date"}, ("correct it", "'drop'")),
        ({"color": "ordered"}, ("pass the levels in their order as a list",)),
        ({"color": ["red", "green"]}, ("lacks levels", "'blue'")),
        ({"income": "date"}, ("holds numbers, which are not dates",)),
        ({"income": 3}, ("must be one of", "got 3")),
        (["income"], ("column_types must be a dict",)),
        (dict.fromkeys(mixed(2), "drop"), ("column_types drops every column of X",)),
    ],
)
def test_types_that_make_no_sense(types, message):
    with pytest.raises((ValueError, TypeError), match=says(*message)):
        two_sample_test(mixed(12), mixed(12, 1), column_types=types)


# --------------------------------------------------------------------------------------------- identifiers


@pytest.mark.parametrize(
    ("name", "column", "why"),
    [
        ("id", range(100, 108), "it numbers the rows"),
        ("code", [f"k{i}" for i in (5, 2, 7, 1, 4, 8, 3, 6)], "its text is different in every row"),
    ],
)
def test_identifiers_are_not_tested(name, column, why):
    rng = np.random.default_rng(0)
    A, B = (pd.DataFrame({"u": rng.normal(size=8)}) for _ in range(2))
    with_it = [table.assign(**{name: list(column)}) for table in (A, B)]
    if name == "code":
        with_it[1][name] += "'"
    result = two_sample_test(*with_it, rng=0)
    assert result.pvalue == two_sample_test(A, B, rng=0).pvalue and result.columns == (("u",),)
    assert any(f"Column {name!r} is not tested: {why}" in note for note in result.notes)
    kind = "category" if name == "code" else "number"
    tested = two_sample_test(*with_it, rng=0, column_types={name: kind})
    assert tested.columns == (("u", name),) and tested.statistic != result.statistic


def test_a_column_by_itself_is_what_the_user_means():
    time = pd.DataFrame({"t": range(12)})
    assert independence_test(time, np.arange(12.0) ** 2, rng=0, n_resamples=99).pvalue == 0.01


def test_text_is_an_error_with_a_remedy():
    rng = np.random.default_rng(0)
    words = [" ".join(rng.choice(["a", "b", "c", "d"], 6)) for _ in range(30)]
    table = pd.DataFrame({"comment": words, "n": rng.normal(size=30)})
    for remedy in ("{'comment': 'drop'}", "'category'", "transform="):
        with pytest.raises(ValueError, match=says("column 'comment' holds text with", remedy)):
            two_sample_test(table[:15], table[15:])
    zips = pd.DataFrame(
        {
            "zip": np.char.add("z", rng.integers(0, 150, 2000).astype(str)),
            "n": rng.normal(size=2000),
        }
    )
    with pytest.raises(
        ValueError, match=says("column 'zip' holds text with 150 different values in 2000 rows")
    ):
        two_sample_test(zips[:1000], zips[1000:])
    assert two_sample_test(
        zips[:40], zips[40:80], column_types={"zip": "drop"}, rng=0, n_resamples=19
    ).columns == (("n",),)


# ----------------------------------------------------------------------------------------------- transform


def test_transform_sees_all_rows_and_no_labels():
    from sklearn.preprocessing import StandardScaler

    A, B = (mixed(10, seed)[["income", "rate"]] for seed in (0, 1))
    seen = []

    def keep(rows):
        seen.append(rows)
        return np.asarray(rows)[:, [1]]

    result = two_sample_test(A, B, transform=keep, rng=0)
    pd.testing.assert_frame_equal(
        seen[0].reset_index(drop=True), pd.concat([A, B], ignore_index=True)
    )
    assert (
        result.pvalue == two_sample_test(A["rate"].to_numpy(), B["rate"].to_numpy(), rng=0).pvalue
    )
    scaled = two_sample_test(A, B, transform=StandardScaler(), rng=0)
    assert scaled.pvalue == two_sample_test(A, B, rng=0).pvalue
    pair = independence_test(A, B, transform=[StandardScaler(), keep], rng=0)
    assert pair.pvalue == independence_test(A, B[["rate"]], rng=0).pvalue


def test_transform_gets_a_table_of_the_library_that_was_given():
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    A, B = (mixed(10, seed)[["income", "rate"]] for seed in (0, 1))
    expected = two_sample_test(A[["rate"]], B[["rate"]], rng=0).pvalue
    for library, keep in (
        (polars.from_pandas, lambda rows: rows.select("rate")),
        (pyarrow.Table.from_pandas, lambda rows: rows.select(["rate"])),
    ):
        given = library(A), library(B[["rate", "income"]])  # columns are matched by name
        assert two_sample_test(*given, transform=keep, rng=0).pvalue == expected
    single = [polars.from_pandas(table["rate"]) for table in (A, B)]
    assert two_sample_test(*single, transform=lambda rows: rows * 2.0, rng=0).pvalue == expected
    with pytest.raises(ValueError, match="have different columns"):
        two_sample_test(
            polars.from_pandas(A), polars.from_pandas(B[["rate"]]), transform=len, rng=0
        )
    with pytest.raises(TypeError, match="cannot be stacked"):
        two_sample_test(
            polars.from_pandas(A), polars.from_pandas(B).cast(str), transform=len, rng=0
        )


def test_types_of_polars_are_those_of_pandas():
    polars = pytest.importorskip("polars")
    levels = ["S", "M", "L"]
    for seed, size in ((0, 12), (1, 15)):
        table = mixed(size, seed)[["size", "day"]].assign(
            day=lambda rows: rows["day"].dt.tz_localize("UTC")
        )
        other = polars.DataFrame(
            {
                "size": polars.Series(
                    table["size"].astype(str).tolist(), dtype=polars.Enum(levels)
                ),
                "day": polars.Series(table["day"].tolist(), dtype=polars.Datetime("us", "UTC")),
            }
        )
        for mine, theirs in zip(
            read_table(table, "X").columns, read_table(other, "X").columns, strict=True
        ):
            assert (mine.name, mine.kind, mine.levels) == (theirs.name, theirs.kind, theirs.levels)
            np.testing.assert_array_equal(mine.values, theirs.values)


@pytest.mark.parametrize(
    ("transform", "message"),
    [
        ("pca", ("transform must be a scikit-learn transformer or a function", "'pca'")),
        (
            lambda rows: rows[:3],
            ("transform must return as many rows as it gets, 8; it gave 3 rows",),
        ),
        (dict, ("an object, not a class: write it with parentheses",)),
    ],
)
def test_transforms_that_make_no_sense(transform, message):
    with pytest.raises((ValueError, TypeError), match=says(*message)):
        two_sample_test(np.eye(4), np.eye(4), transform=transform)


# ------------------------------------------------------------------------------------------ missing values


def gaps(table, seed, share=0.2):
    rng = np.random.default_rng(seed)
    return table.mask(rng.random(table.shape) < share)


def test_omitted_rows_are_counted():
    A = pd.DataFrame({"u": [1.0, NAN, 3, 4], "v": ["a", "b", None, "a"]})
    B = pd.DataFrame({"u": [2.0, 3, NAN], "v": ["a", "b", "a"]})
    result = two_sample_test(A, B, nan_policy="omit", alpha=0.5)
    assert result.n_observations == (2, 2)
    message = "Left out because of missing values: 2 of 4 rows of X and 1 of 3 rows of Y; missing in u (2), v (1)."
    assert message in result.notes
    array = two_sample_test([[1.0], [NAN], [2.0]], [[1.0], [3.0]], nan_policy="omit", alpha=0.5)
    assert (
        "Left out because of missing values: 1 of 3 rows of X; missing in column 0 (1)."
        in array.notes
    )
    many = two_sample_test_columns(A[["u"]], B[["u"]], nan_policy="omit", alpha=0.5)
    assert any("missing in u (2)" in note for note in many.notes)


def test_missing_as_information():
    A, B = mixed(40), mixed(40, seed=1)
    B.loc[:25, "rate"] = NAN
    A["color"] = A["color"].where(A.index > 30)
    raised = pytest.raises(
        ValueError, match=says("X has 31 missing values", "nan_policy='indicator' uses missingness")
    )
    with raised:
        two_sample_test(A, B)
    values, encoding, notes = numbers(A, B, policy="indicator")
    assert "rate is missing" in encoding.features and "color is missing" in encoding.features
    rate = encoding.features.index("rate")
    pooled = pd.concat([A, B])
    filled = pooled["rate"].fillna(pooled["rate"].median()).to_numpy()
    np.testing.assert_allclose(values[:, rate], filled / filled.std())
    np.testing.assert_allclose(values[:, rate + 1], np.sqrt(2.0) * pooled["rate"].isna())
    assert any("missing values in rate, color are compared as well" in note for note in notes)
    assert two_sample_test(A, B, nan_policy="indicator", rng=0).pvalue == 0.001
    assert (
        two_sample_test(
            A[["income", "rate"]], B[["income", "rate"]], nan_policy="omit", rng=0
        ).pvalue
        > 0.05
    )
    array = two_sample_test(
        A[["rate"]].to_numpy(), B[["rate"]].to_numpy(), nan_policy="indicator", rng=0
    )
    assert array.pvalue == 0.001
    table = two_sample_test_columns(A, B, nan_policy="indicator", rng=0).table
    assert table.loc[table["adjusted"] <= 0.05, "column"].tolist() == ["rate", "color"]


def test_nothing_missing_needs_no_indicator():
    A, B = mixed(9), mixed(9, seed=1)
    same = two_sample_test(A, B, rng=0)
    assert two_sample_test(A, B, nan_policy="indicator", rng=0).statistic == same.statistic


# ------------------------------------------------------------------------------------------------- every test


@pytest.mark.parametrize(
    "estimator", some_wait(["kme", "fkmse", "mmkme", "auto", "tsvd"], ["mmkme", "auto", "tsvd"])
)
def test_every_test_takes_mixed_tables(estimator):
    A, B, C = mixed(11), mixed(9, seed=1), mixed(11, seed=2)
    given = {"estimator": estimator, "rng": 0, "n_resamples": 19, "nan_policy": "indicator"}
    A, B, C = gaps(A, 0), gaps(B, 1), gaps(C, 2)
    tests = [
        two_sample_test(A, B, **given),
        two_sample_test(A, C, paired=True, **given),
        k_sample_test(A, B, C, **given),
        independence_test(A[["income", "color"]], C[["flag", "day"]], **given),
        independence_test(
            A[["income", "color"]], C[["flag", "day"]], blocks=[0, 1] * 5 + [1], **given
        ),
    ]
    if estimator != "mmkme":
        tests.append(joint_independence_test(A["income"], A["color"], A[["day"]], **given))
    for result in tests:
        assert 0.0 < result.pvalue <= 1.0
        assert result.columns
    for many in (two_sample_test_columns(A, B, **given), independence_matrix(A, **given)):
        assert (many.pvalues > 0.0).all()
    assert many.labels[0] == ("income", "rate")


def test_relabeled_rows_have_the_same_encoding():
    A, B = gaps(mixed(12), 0), gaps(mixed(10, seed=1), 1)
    values, *_ = numbers(A, B, policy="indicator")
    pooled = pd.concat([A, B], ignore_index=True)
    order = np.random.default_rng(3).permutation(22)
    moved = pooled.iloc[order]
    moved_values, *_ = numbers(moved[:12], moved[12:], policy="indicator")
    np.testing.assert_allclose(moved_values, values[order], rtol=1e-12)


def test_names_are_kept():
    A, B = mixed(20), mixed(20, seed=1, moved=3.0)
    result = two_sample_test(A, B, rng=0, n_resamples=19)
    shares = result.contributions(n_repeats=3)
    assert shares["coordinate"].tolist() == list(A)
    assert shares.loc[shares["drop"].idxmax(), "coordinate"] == "rate"
    np.testing.assert_allclose(
        result.witness(A[A.columns[::-1]].iloc[:5]), result.witness(A.iloc[:5])
    )
    assert result.witness(A).mean() > result.witness(B).mean()
    with pytest.raises(
        TypeError, match=says("points must be a table with the columns that were tested", "color")
    ):
        result.witness(np.zeros((2, 6)))
    with pytest.raises(ValueError, match=says("points lacks columns that were tested: 'rate'")):
        result.witness(A.drop(columns="rate"))
    with pytest.raises(
        ValueError,
        match=says("column 'color' has the level 'gray', which the tested data lack"),
    ):
        result.witness(A.assign(color="gray"))
    unused = pd.Categorical(A["color"], ["blue", "green", "gray", "red"])
    np.testing.assert_array_equal(result.witness(A.assign(color=unused)), result.witness(A))
    plain = two_sample_test(A[["income", "rate"]], B[["income", "rate"]], rng=0, n_resamples=19)
    np.testing.assert_allclose(
        plain.witness(A[["income", "rate"]].to_numpy()), plain.witness(A[["rate", "income"]])
    )
    assert len(plain.witness_band(A[["rate", "income"]].iloc[:4]).values) == 4
    several = k_sample_test(
        {"north": A, "south": B, "east": mixed(15, seed=2)}, rng=0, n_resamples=19
    )
    assert several.names == ("north", "south", "east")
    assert all(name in str(several.summary()) for name in several.names)
    joint = joint_independence_test(
        A["income"], A[["color"]], A["rate"].to_numpy(), rng=0, n_resamples=19
    )
    assert joint.names == ("income", "color", None)
    assert "Kernel income:" in str(joint.summary()) and "Kernel 2:" in str(joint.summary())
    assert result.to_dict()["columns"] == [list(A)]


def test_bandwidths_by_name():
    A, B = (mixed(12, seed)[["income", "rate", "color"]] for seed in (0, 1))
    widths = {"rate": 0.5, "income": 2.0, "color": 1.0}
    by_name = two_sample_test(A, B, bandwidth=widths, rng=0)
    assert by_name.bandwidth == (2.0, 0.5, 1.0, 1.0, 1.0)
    for given in (pd.Series(widths), (2.0, 0.5, 1.0)):
        assert two_sample_test(A, B, bandwidth=given, rng=0).statistic == by_name.statistic
    table = two_sample_test(A, B, bandwidth=[widths, "median"], rng=0).table
    assert len(table) == 2
    columns = two_sample_test_columns(A, B, bandwidth={"rate": 0.5}, rng=0)
    assert columns.table["column"].tolist() == list(A)
    with pytest.raises(ValueError, match=says("bandwidth has no entry for 'rate'")):
        two_sample_test(A, B, bandwidth={"income": 1.0, "color": 1.0})
    with pytest.raises(ValueError, match=says("scale['rate'] must be one of 'sd'")):
        two_sample_test(A, B, scale={"rate": "x"})
    with pytest.raises(ValueError, match=says("scale['rate'] must be a finite number > 0")):
        two_sample_test(A, B, scale={"rate": -1.0})
    with pytest.raises(
        ValueError, match=says("bandwidth has names of columns, but the data are arrays")
    ):
        two_sample_test([1.0, 2], [3.0, 4], bandwidth={"a": 1.0})


@pytest.mark.parametrize("scale", ["sd", "mad", "rank", "deviation"])
def test_levels_are_as_far_apart_as_numbers_in_all_units(scale):
    A, B = mixed(300), mixed(300, seed=1)
    values, encoding, _ = numbers(A, B, scale=scale)
    size = values[:, encoding.features.index("rate")].std()
    assert values[:, encoding.features.index("color = red")].max() == pytest.approx(size, rel=0.1)
    gone, encoding, _ = numbers(gaps(A, 0), gaps(B, 1), policy="indicator", scale=scale)
    assert gone[:, encoding.features.index("rate is missing")].max() == pytest.approx(
        np.sqrt(2.0) * size, rel=0.15
    )
    table = two_sample_test(
        A[:20], B[:20], estimator="auto", n_resamples=19, alpha=0.5, rng=0
    ).table
    assert "Gaussian of ranks" in set(table["kernel"])


@pytest.mark.parametrize("scale", ["mad", "rank", "deviation"])
def test_columns_with_other_units_than_their_neighbors_weigh_as_much(scale):
    A, B = mixed(300), mixed(300, seed=1)
    for values, encoding, _ in (
        numbers(A, B, scale={"rate": scale}),
        numbers(A, B, scale={"rate": scale, "size": None}),
    ):
        spread = dict(zip(encoding.features, values.std(axis=0), strict=True))
        assert spread["rate"] == pytest.approx(1.0, rel=0.1) and spread["income"] == pytest.approx(
            1.0
        )
        assert values[:, encoding.features.index("color = red")].max() == 1.0
    gone, encoding, _ = numbers(gaps(A, 0), gaps(B, 1), policy="indicator", scale={"rate": scale})
    assert gone[:, encoding.features.index("rate is missing")].max() == pytest.approx(np.sqrt(2.0))
    every = dict.fromkeys(A, scale)
    assert np.array_equal(numbers(A, B, scale=every)[0], numbers(A, B, scale=scale)[0])


def test_dates_that_tell_samples_apart_are_noted():
    def during(*starts, **more):
        return [
            pd.DataFrame({"day": pd.date_range(s, periods=20), "x": np.arange(20) % 7.0, **more})
            for s in starts
        ]

    january, february, march = during("2024-01-01", "2024-02-01", "2024-03-01")
    message = "Column 'day' alone tells X and Y apart, because their dates do not overlap (column_types={'day': 'drop'}"
    quick = {"n_resamples": 19, "alpha": 0.5, "rng": 0}
    assert any(
        note.startswith(message) for note in two_sample_test(february, january, **quick).notes
    )
    result = k_sample_test(january, march, february, **quick)
    assert any(
        "alone tells samples[0] and samples[1] and samples[2] apart" in note
        for note in result.notes
    )
    near = during("2024-01-01", "2024-01-15")
    for samples, options in (
        (near, {}),
        ((january, february), {"column_types": {"day": "date"}}),  # meant
        ((january, february), {"column_types": {"day": "drop"}}),
        ((january[["day"]], february[["day"]]), {}),
    ):
        notes = two_sample_test(*samples, **quick, **options).notes
        assert not any("alone" in note for note in notes)
    assert not any("alone" in note for note in independence_test(january, february, **quick).notes)


def patients(n, shift=0.0, seed=0):
    """Patients whose levels are much further apart than the added effect."""
    level = 3.0 * np.random.default_rng(1).normal(size=n)
    noise = np.random.default_rng([2, seed]).normal(size=(2, n))
    return pd.DataFrame(
        {
            "patient": [f"p{i}" for i in range(n)],
            "bp": level + 0.5 * noise[0] + shift,
            "hr": noise[1],
        }
    )


@pytest.mark.parametrize("n", [30, 150])
def test_units_that_are_in_both_tables_are_noted_and_identify_rows(n):
    before, after = patients(n), patients(n, 0.5, 1)
    options = {"n_resamples": 199, "rng": 0}
    apart = two_sample_test(before, after, **options)
    assert apart.columns == (("bp", "hr"),)
    message = says(
        f"{n} values of column 'patient' are in both X and Y.",
        "paired=True with rows in the same order, or blocks=",
    )
    assert sum(bool(re.match(message, note)) for note in apart.notes) == 1
    pairs = two_sample_test(before, after, paired=True, **options)
    assert pairs.pvalue < min(0.05, apart.pvalue) and not any(
        "are in both" in note for note in pairs.notes
    )
    for labels in ("blocks", "groups"):
        given = {
            labels: (before["patient"], after["patient"] + ("" if labels == "blocks" else "'"))
        }
        assert not any(
            "are in both" in note
            for note in two_sample_test(before, after, **given, **options).notes
        )
    reported = compare(before, after, names=("then", "now"), **options)
    assert sum("are in both then and now" in note for note in reported.notes) == 1
    three = k_sample_test(before, after, patients(n, 0.0, 2), **options)
    assert any(
        "are in each of samples[0] and samples[1] and samples[2]" in note for note in three.notes
    )


def test_pairs_of_different_units_are_an_error():
    before, after = patients(30), patients(30, seed=1)
    for test in (two_sample_test, two_sample_test_columns, compare):
        with pytest.raises(
            ValueError,
            match=says("column 'patient' is 'p0' in row 0", "'p29'", "sort both"),
        ):
            test(before, after[::-1].reset_index(drop=True), paired=True)
        with pytest.raises(ValueError, match=r". has 30 rows and . has 28 rows; with paired=True"):
            test(before, after.iloc[:28], paired=True)
    others = after.assign(
        patient=[f"q{i}" for i in range(30)]
    )  # of another naming, which says nothing of pairs
    assert two_sample_test(before, others, paired=True, n_resamples=199, rng=0).pvalue > 0.05
    for last, noted in (
        (24, False),
        (25, True),
    ):  # less than half of the smaller table, and half of it
        result = two_sample_test(patients(30).iloc[20:], after.iloc[:last], n_resamples=19, rng=0)
        assert any("are in both" in note for note in result.notes) == noted


#: Every test, as a function of tables A, B and of options.
VERBS = {
    "two samples": two_sample_test,
    "k samples": lambda A, B, **o: k_sample_test(A, B, A[::-1], **o),
    "columns": two_sample_test_columns,
    "independence": independence_test,
    "joint": lambda A, B, **o: joint_independence_test(A, B, A[::-1].reset_index(drop=True), **o),
    "matrix": independence_matrix,
    "matrix of one": lambda A, B, **o: independence_matrix(A, **o),
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_test_takes_every_way_to_read(verb):
    A, B = (mixed(12, seed)[["income", "rate", "color"]] for seed in (0, 1))
    options = {"n_resamples": 19, "rng": 0}

    def pvalues(*tables, **reading):
        result = VERBS[verb](*tables, **options, **reading)
        return (
            result.pvalues.tolist()
            if hasattr(result, "pvalues")
            else [result.pvalue, result.statistic]
        )

    plain = pvalues(A.drop(columns="color"), B.drop(columns="color"))
    assert pvalues(A, B, column_types={"color": "drop"}) == plain
    assert pvalues(A, B, column_types={"color": ["red", "blue", "green"]}) != pvalues(A, B)
    numbers_only = pvalues(A, B, transform=lambda rows: rows[["income", "rate"]])
    assert numbers_only == plain
    holes = A.assign(rate=A["rate"].where(A.index > 2))
    with pytest.raises(ValueError, match="missing values"):
        pvalues(holes, B)
    assert pvalues(holes, B, nan_policy="indicator") != pvalues(A, B)
    assert pvalues(A, B, scale={"rate": "rank"}) != pvalues(A, B)


SPARSE = pd.get_dummies(pd.Series(list("abca") * 10), sparse=True).assign(v=np.arange(40.0) % 7)


@pytest.mark.parametrize("column", [slice(None), "a"], ids=["table", "series"])
def test_sparse_columns_of_pandas_are_those_that_they_stand_for(column):
    dense = SPARSE.astype({name: bool for name in "abc"})
    for test in (two_sample_test, two_sample_test_columns, compare):
        result, expected = (
            test(table[column][:25], table[column][25:], n_resamples=99, rng=0).to_dict()
            for table in (SPARSE.loc[:], dense.loc[:])
        )
        assert result == expected


# --- columns with few values --------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["omit", "indicator"])
@pytest.mark.parametrize("missing", [11, 15, 18])
def test_fewer_than_half_of_the_rows_may_have_a_value(missing, policy):
    rng = np.random.default_rng(0)
    X, Y = (pd.DataFrame({"x": rng.normal(size=20), "y": rng.normal(size=20)}) for _ in range(2))
    X.loc[: missing - 1, "x"] = NAN
    result = two_sample_test(X, Y, nan_policy=policy, n_resamples=99, rng=0, bandwidth=1.0)
    assert result.n_observations == ((20 - missing, 20) if policy == "omit" else (20, 20))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: independence_test([1.0], [2.0]), "X and Y have 1 row; a test needs"),
        (lambda: independence_matrix([[1.0, 2.0]]), "X and Y have 1 row; a test needs"),
        (lambda: two_sample_test([1.0], [2.0, 3.0]), "X has 1 row; a test needs"),
        (
            lambda: joint_independence_test([1.0], [2.0], [3.0]),
            "every variable has 1 row; a test needs",
        ),
    ],
    ids=["independence", "matrix", "samples", "joint"],
)
def test_one_row(call, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        call()
