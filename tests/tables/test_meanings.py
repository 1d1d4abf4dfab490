"""Values of one meaning and several types, and columns that alone tell samples apart."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pytest

from shrinktest import compare, independence_test, k_sample_test, two_sample_test
from shrinktest.data.tables import read_table

RNG = np.random.default_rng(0)
N = 40
K = RNG.integers(1, 4, size=N)
NOISE = RNG.normal(size=N)
FEW = {"n_resamples": 99, "rng": 0}


def levels(values, **types):
    return read_table(pd.DataFrame({"k": values, "x": NOISE}), "X", types).columns[0].levels


@pytest.mark.parametrize(
    "values",
    [
        pd.Categorical(K),
        pd.Categorical(K.astype(float)),
        pd.Categorical(K, ordered=True),
        pd.Categorical(K.astype(float), ordered=True),
        pd.Series([decimal.Decimal(int(k)) for k in K], dtype=object),
        pd.Series([str(k) if k == 2 else int(k) for k in K], dtype=object),
    ],
    ids=["whole", "float", "ordered", "ordered float", "decimal", "mixed"],
)
def test_numbers_that_stand_for_categories_have_one_name(values):
    kind = {} if isinstance(values, pd.Categorical) else {"k": "category"}
    assert levels(values, **kind) == ("1", "2", "3")


def test_whole_numbers_of_many_digits_stay_apart():
    many = 2**60 + K
    assert levels(pd.Categorical(many)) == tuple(str(2**60 + k) for k in (1, 2, 3))
    frame = pd.DataFrame({"k": many, "x": NOISE})
    with pytest.raises(ValueError, match="column 'k', holds whole numbers with too many digits"):
        two_sample_test(frame, frame, **FEW)
    assert two_sample_test(frame, frame, column_types={"k": "category"}, **FEW).pvalue == 1.0
    objects = frame.assign(k=pd.Series([10**25 + int(k) for k in K], dtype=object))
    with pytest.raises(ValueError, match=r"such as 10+1 and 10+2; leave it out: column_types=\{'k': 'drop'\}"):
        two_sample_test(objects, objects, **FEW)
    even = frame.assign(k=2**56 + 16 * K)  # which floating-point numbers hold
    assert two_sample_test(even, even, **FEW).pvalue == 1.0


def test_zero_has_no_sign():
    a, b = (pd.DataFrame({"k": np.where(K > 1, 1.0, zero), "x": NOISE}) for zero in (0.0, -0.0))
    assert two_sample_test(a, b, column_types={"k": "category"}, **FEW).pvalue == 1.0


def test_objects_have_their_time_zones():
    def frame(zone):
        days = [datetime.datetime(2024, 1, 1 + i % 28, tzinfo=zone) for i in range(N)]
        return pd.DataFrame({"t": pd.Series(days, dtype=object), "x": NOISE})

    east = frame(datetime.timezone(datetime.timedelta(hours=5)))
    column = read_table(east, "X").columns[0]
    assert column.zoned and column.values[0] == np.datetime64("2023-12-31T19:00")
    assert two_sample_test(east, east.assign(t=pd.to_datetime(east.t)), **FEW).pvalue == 1.0
    with pytest.raises(ValueError, match="with a time zone in X and without a time zone in Y"):
        two_sample_test(east, frame(None), **FEW)
    some = east.assign(t=[t if i % 2 else t.replace(tzinfo=None) for i, t in enumerate(east.t)]).astype({"t": object})
    with pytest.raises(ValueError, match="some have a time zone and some have none"):
        read_table(some, "X")


def test_a_column_that_alone_tells_samples_apart_has_a_note():
    X = pd.DataFrame({"site": "A", "year": 2023, "smokes": K > 1, "x": NOISE})
    Y = pd.DataFrame({"site": "B", "year": 2024, "smokes": np.where(K > 2, "true", "false"), "x": NOISE[::-1]})

    def apart(result):
        return [note for note in result.notes if "alone tells" in note]

    found = apart(two_sample_test(X, Y, **FEW))
    assert [one.split("'")[1] for one in found] == ["site", "year", "smokes"]
    assert "such as 'A' in X and 'B' in Y" in found[0] and "it is 2023 in X and 2024 in Y" in found[1]
    assert len(apart(compare(X, Y, estimator="kme", **FEW))) == 3
    assert len(apart(k_sample_test(X, Y, X.assign(site="C", year=2025, smokes="no"), **FEW))) == 3
    assert len(apart(k_sample_test(X, Y, X, **FEW))) == 0  # two of them have the same
    assert len(apart(two_sample_test(X, Y.assign(site="A", year=2023, smokes=K > 2), **FEW))) == 0
    dropped = {"site": "drop", "year": "drop", "smokes": "drop"}
    assert len(apart(two_sample_test(X, Y, column_types=dropped, **FEW))) == 0
    assert not any("Successive rows" in note for note in two_sample_test(X, Y, **FEW).notes)  # of what is constant


def test_what_only_one_table_has_may_be_anything():
    A = pd.DataFrame({"x": NOISE, "list": [[1]] * N, "far": np.inf, "part": 1j})
    result = compare(A, pd.DataFrame({"x": NOISE}), estimator="kme", **FEW)
    assert result.pvalue == 1.0 and result.answer.startswith("Only A has the columns list, far, part. ")
    with pytest.raises(ValueError, match=r"must be one of 'x', 'list', 'far', 'part'; got 'X'"):
        compare(A, pd.DataFrame({"x": NOISE}), column_types={"X": "category"})


def test_points_of_a_witness_are_of_the_kinds_that_were_tested():
    X = pd.DataFrame({"t": pd.to_timedelta(K, unit="h"), "c": [datetime.time(int(k)) for k in K], "x": NOISE})
    result = two_sample_test(X, X[::-1], kernel="linear", **FEW)
    for wrong, kinds in ((X.t.astype(str), "categories"), (pd.Timestamp("2024-01-01"), "dates"), (1.0, "numbers")):
        for name, tested in (("t", "durations"), ("c", "times of day")):
            with pytest.raises(TypeError, match=f"column '{name}', holds {kinds}; .* have {tested} there"):
                result.witness(X.assign(**{name: wrong}))
    with pytest.raises(ValueError, match=r"points has 2 missing values in column 'x', the first in row 1"):
        result.witness(X.assign(x=np.where(np.isin(np.arange(N), (1, 5)), np.nan, NOISE)))


def test_rows_are_not_matched_by_position_against_their_labels():
    names = [f"p{i}" for i in range(N)]
    X = pd.DataFrame({"x": NOISE}, index=names)
    shuffled = X.sample(frac=1.0, random_state=1)
    with pytest.raises(ValueError, match=r"different row labels.*reorder: B.loc\[A.index\]"):
        compare(X, shuffled, paired=True)
    with pytest.raises(ValueError, match=r"to match them by position: \w+\.set_axis\("):
        compare(X, X.set_axis(range(N)), paired=True)
    assert compare(X, shuffled.loc[X.index], paired=True, estimator="kme", **FEW).pvalue == 1.0
    Y = X.set_axis([f"q{i}" for i in range(N)])
    block = pd.Series(K, index=X.index), pd.Series(K, index=Y.index)
    together = pd.concat(block)
    told = two_sample_test(X, Y, blocks=together, **FEW)
    assert told.pvalue == two_sample_test(X, Y, blocks=block, **FEW).pvalue
    with pytest.raises(ValueError, match="blocks has the row labels of X and Y in another order"):
        two_sample_test(X, Y, blocks=together.sample(frac=1.0, random_state=2), **FEW)
    for options in ({}, {"propensity": None}):
        with pytest.raises(ValueError, match=r"Y and covariates\[1\] have different row labels"):
            two_sample_test(X, Y, covariates=(block[0], block[1][::-1]), **options)
    chances = pd.Series(0.5, index=X.index), pd.Series(0.5, index=Y.index[::-1])
    with pytest.raises(ValueError, match=r"Y and propensity\[1\] have different row labels"):
        two_sample_test(X, Y, covariates=(NOISE, NOISE), propensity=chances)


def test_labels_are_compared_by_what_they_mean():
    days = np.datetime64("2020-01-01") + K
    both = two_sample_test(NOISE, NOISE[::-1], blocks=(days, days.astype("datetime64[ns]")), **FEW)
    assert both.pvalue == two_sample_test(NOISE, NOISE[::-1], blocks=(K, K), **FEW).pvalue
    dates, plain = [day.item() for day in days], {"blocks": (K, K)}
    mixed = two_sample_test(NOISE, NOISE[::-1], blocks=(days, dates), **FEW)
    assert mixed.pvalue == two_sample_test(NOISE, NOISE[::-1], **plain, **FEW).pvalue
    with pytest.raises(ValueError, match="two samples have the name '1' as text"):
        k_sample_test({1: NOISE, "1": NOISE})


def test_a_transform_keeps_the_order_of_rows():
    X = pd.DataFrame({"x": NOISE})
    with pytest.raises(ValueError, match=r"in the order in which it gets them.*reset_index"):
        two_sample_test(X, X, transform=lambda rows: rows.sort_values("x"), **FEW)
    same = two_sample_test(X, X, transform=lambda rows: rows.set_axis([f"r{i}" for i in range(2 * N)]), **FEW)
    assert same.pvalue == 1.0
    shuffled = X.sample(frac=1.0, random_state=0)  # of which a table that is made anew has no index
    made = independence_test(shuffled, NOISE, transform=[lambda rows: pd.DataFrame(rows.to_numpy()), None], **FEW)
    assert made.statistic == pytest.approx(independence_test(shuffled, NOISE, **FEW).statistic)


def test_levels_that_only_rounding_tells_apart_are_one():
    ordered = pd.Categorical(np.array([0.1, 0.1 + 0.2, 0.3])[K - 1], [0.1, 0.3, 0.1 + 0.2], ordered=True)
    assert levels(ordered) == ("0.1", "0.3")


def test_levels_may_be_given_as_numbers():
    values = pd.Categorical(K.astype(float))
    assert levels(values, k=[3.0, 2.0, 1.0]) == levels(values, k=["3", "2", "1"]) == ("3", "2", "1")


def test_indices_of_other_kinds_are_other_labels():
    X = pd.DataFrame({"x": NOISE})
    Y = X.set_axis(pd.MultiIndex.from_product([range(N // 2), list("ab")]))
    with pytest.raises(ValueError, match=r"to match them by position: \w+\.set_axis\("):
        two_sample_test(X, Y, paired=True)
