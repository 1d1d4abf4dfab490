"""Dates and durations in nanoseconds, which differ in less than a microsecond."""

import json

import numpy as np
import pandas as pd
import pytest

from shrinktest import change_point_test, two_sample_test, two_sample_test_columns
from shrinktest.cli.entry import main
from shrinktest.data.column import from_times
from shrinktest.data.tables import pooled, read_table

FEW = {"n_resamples": 99, "rng": 0, "workers": 1}
STEPS = np.arange(1, 41).astype("timedelta64[ns]") * 7
DATES = np.datetime64("2024-01-01T12:00:00.000000000", "ns") + STEPS
VALUES = np.random.default_rng(0).normal(size=40) + 6.0 * (np.arange(40) >= 25)


def objects(values):
    return pd.Series(list(pd.Series(values)), dtype=object)


def of_polars(values):
    return pytest.importorskip("polars").Series("t", values)


def of_arrow(values):
    arrow = pytest.importorskip("pyarrow")
    return arrow.chunked_array([arrow.array(values[:7]), arrow.array(values[7:])])


SERIES = pytest.mark.parametrize("series", [pd.Series, objects, of_polars, of_arrow])


@SERIES
@pytest.mark.parametrize("values", [DATES, STEPS], ids=["dates", "durations"])
def test_nanoseconds_are_kept(series, values):
    column = read_table(series(values), "X").columns[0]
    assert (column.values == values).all()
    assert np.unique(column.numbers(values[0])).size == 40


@SERIES
def test_times_keep_their_nanoseconds(series):
    result = change_point_test(VALUES, times=series(DATES), **FEW)
    assert result.location == 25 and "00.000000182" in result.to_dict()["times"][25]


def test_times_that_python_can_hold_keep_their_zone_and_their_kind():
    zoned = pd.date_range("2020", periods=40, tz="America/New_York").as_unit("ns")
    hours = pd.timedelta_range("1h", periods=40, freq="h").as_unit("ns")
    arrow = pytest.importorskip("pyarrow")
    for times in (of_polars(zoned), arrow.chunked_array([arrow.array(zoned.as_unit("us"))])):
        found = change_point_test(VALUES, times=times, **FEW)
        assert found.location == 25 and found.to_dict()["times"][25] == "2020-01-26 00:00:00-05:00"
    assert change_point_test(VALUES, times=of_polars(hours), **FEW).to_dict()["times"][25] == "1 day, 2:00:00"


def test_levels_may_be_given_as_values_of_pandas():
    table = pd.DataFrame({"t": DATES, "a": VALUES})
    found = two_sample_test(table[:20], table[20:], column_types={"t": sorted(table["t"])}, **FEW)
    assert 0.0 < found.pvalue <= 1.0


def test_times_of_a_file_keep_their_nanoseconds(tmp_path, capsys):
    path = tmp_path / "fast.csv"
    pd.DataFrame({"date": DATES, "value": VALUES}).iloc[::-1].to_csv(path, index=False)
    words = ["change", str(path), "--time", "date", "--sort", "--resamples", "99", "--seed", "0", "--json"]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["location"], found["times"][25]) == (25, "2024-01-01T12:00:00.000000182")


def test_a_column_of_nanoseconds_tells_the_time():
    notes = change_point_test(pd.DataFrame({"value": VALUES, "t": DATES}), **FEW).notes
    assert any("Column 't' is not tested: it counts rows or tells the time" in note for note in notes)


def test_equal_times_are_equal_numbers_whatever_their_unit():
    fine = from_times("t", np.append(DATES, np.datetime64("2024-05-01T00:00:00.123456", "ns")))
    coarse = from_times("t", np.array(["2024-05-01T00:00:00.123456"], dtype="datetime64[us]"))
    both = pooled([fine, coarse], ["X", "Y"])
    assert both.values.dtype == "datetime64[ns]" and both.values[-1] == both.values[-2]
    for origin in (None, DATES[0], coarse.values[0]):
        assert fine.numbers(origin)[-1] == coarse.numbers(origin)[0]
    far = from_times("t", np.array(["2900-01-01"], dtype="datetime64[us]"))
    assert pooled([fine, far], ["X", "Y"]).values.tolist()[-1].year == 2900


def test_nanoseconds_are_tested_alike_in_memory_in_text_and_in_batches(tmp_path):
    pytest.importorskip("pyarrow")
    tables = [pd.DataFrame({"t": part, "v": VALUES[:20]}) for part in (DATES[:20], DATES[20:])]
    for i, table in enumerate(tables):
        table.to_parquet(tmp_path / f"p{i}.parquet", row_group_size=8)
        table.to_csv(tmp_path / f"c{i}.csv", index=False)
    expected = two_sample_test(*tables, **FEW)
    assert expected.pvalue == 0.01
    for name in ("p{}.parquet", "c{}.csv"):
        found = two_sample_test(*(str(tmp_path / name.format(i)) for i in (0, 1)), **FEW)
        assert (found.statistic, found.pvalue) == (pytest.approx(expected.statistic), expected.pvalue)


def test_dates_as_categories_are_called_alike_in_every_unit():
    x = pd.DataFrame(
        {"t": np.repeat(DATES[:2].astype("datetime64[us]").astype("datetime64[ns]"), 10), "v": VALUES[:20]}
    )
    y = x.assign(t=x["t"].astype("datetime64[us]")).copy()
    y.loc[0, "t"] = x.loc[0, "t"]
    x.loc[0, "t"] = DATES[0]
    result = two_sample_test_columns(x, y, column_types={"t": "category"}, **FEW)
    assert dict(zip(result.table["column"], result.table["pvalue"], strict=True))["t"] > 0.5


def test_text_of_durations_is_told_how_to_be_read(tmp_path, capsys):
    x = pd.DataFrame({"wait": pd.to_timedelta(np.arange(40) * 97 % 80, unit="min"), "v": VALUES})
    text = x.astype({"wait": str})
    with pytest.raises(
        ValueError, match=r"too many for categories; read durations \(column_types={'wait': 'duration'}"
    ):
        two_sample_test(text[:20], text[20:])
    expected = two_sample_test(x[:20], x[20:], **FEW)
    found = two_sample_test(text[:20], text[20:], column_types={"wait": "duration"}, **FEW)
    assert (found.statistic, found.pvalue) == (expected.statistic, expected.pvalue)
    for name, part in (("a", text[:20]), ("b", text[20:])):
        part.to_csv(tmp_path / f"{name}.csv", index=False)
    words = [
        "two-sample",
        *(str(tmp_path / f"{name}.csv") for name in "ab"),
        "--resamples",
        "99",
        "--seed",
        "0",
        "--json",
    ]
    assert main(words) == 2 and "--types wait=duration" in capsys.readouterr().err
    assert main([*words, "--types", "wait=duration"]) == 0
    assert json.loads(capsys.readouterr().out)["pvalue"] == expected.pvalue
