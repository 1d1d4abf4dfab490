"""Mixed tables in batches: the same numbers as in memory, whoever cut them."""

import datetime
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pandas as pd
import pytest

from shrinktest import Batches, independence_test, k_sample_test, two_sample_test, two_sample_test_columns
from shrinktest.batches import crew as crews
from shrinktest.batches.crew import Crew
from shrinktest.batches.sights import MOST_LEVELS
from shrinktest.data.observed import pooled_tables
from shrinktest.hypotheses.binned import TwoBinned
from shrinktest.kernels import Linear

pytest.importorskip("pyarrow")


def table(n, seed):
    rng = np.random.default_rng(seed)
    days = np.datetime64("2020-01-01", "us") + rng.integers(0, 10**14, size=n).astype("timedelta64[us]")
    return pd.DataFrame(
        {
            "number": rng.normal(seed, 3.0, size=n),
            "whole": rng.integers(0, 9, size=n),
            "truth": rng.random(n) < 0.3,
            "day": days,
            "wait": rng.integers(0, 10**9, size=n).astype("timedelta64[us]"),
            "grade": pd.Categorical(rng.choice(["low", "mid", "high"], size=n), ["low", "mid", "high"], ordered=True),
            "city": rng.choice(["Ulm", "Aachen", "Bern", "Zug"][: 3 + seed], size=n),
            "row": np.arange(n),
            "key": [f"k{seed}-{i}" for i in range(n)],
        }
    )


X, Y = table(230, 0), table(170, 1)


def cut(frame, ends):
    return [frame.iloc[part] for part in np.split(np.arange(len(frame)), ends)]


def files(folder, name, frame, ends):
    for i, part in enumerate(cut(frame, ends)):
        part.to_parquet(folder / f"{name}{i}.parquet", index=False, row_group_size=40)
    return str(folder / f"{name}*.parquet")


def hypothesis(samples, **options):
    options = {"scale": "auto", "nan_policy": "raise", "drawn": 0, "rng": np.random.default_rng(0), **options}
    return TwoBinned.in_batches(samples, ("X", "Y"), **options)


def sorted_rows(points):
    return points[np.lexsort(points.T)]


def same_as_in_memory(samples, frames, **options):
    types = options.get("column_types", {})
    pooled = pooled_tables(frames, ("X", "Y"), types)
    indicate = options.get("nan_policy") == "indicator"
    keep = ~pooled.missing().any(axis=1) | indicate
    values, encoding = pooled.encoded(keep, options.get("scale", "auto"), indicate=indicate)
    found = hypothesis(samples, **options)
    assert found.encoding.features == encoding.features
    moved = found.variables[0].compared() if found.variables[0].scale else found.variables[0].points
    if len(values) <= 2000:  # more are drawn from
        assert np.allclose(sorted_rows(moved), sorted_rows(values), rtol=1e-12, atol=1e-12)
    assert set(pooled.notes) <= set(found.remarks)
    return found


def test_files_become_the_numbers_of_tables_in_memory(tmp_path):
    paths = files(tmp_path, "x", X, [77]), files(tmp_path, "y", Y, [1])
    found = same_as_in_memory(paths, (X, Y))
    assert "city = Zug" in found.encoding.features and "key" not in found.encoding.names
    assert sum("is not tested" in note for note in found.remarks) == 2
    types = {"whole": "category", "number": "drop", "city": ["Ulm", "Bern", "Aachen", "Zug"], "row": "number"}
    same_as_in_memory(paths, (X, Y), column_types=types)
    same_as_in_memory(paths, (X, Y), scale="rank")
    same_as_in_memory(paths, (X, Y), scale={"number": 2.0, "wait": None})


def test_frames_become_the_numbers_of_tables_in_memory():
    samples = Batches(cut(X, [3, 100])), Batches(cut(Y, [50]))
    same_as_in_memory(samples, (X, Y))
    pieces = [cut(X, [3, 100])[0], *(part[part.columns[::-1]] for part in cut(X, [3, 100])[1:])]
    one, other = (hypothesis((Batches(parts), samples[1])).survey.sample for parts in (cut(X, [3, 100]), pieces))
    assert np.array_equal(one, other)  # columns are found by their names


def test_csv_files_become_the_numbers_of_tables_in_memory(tmp_path):
    frames = [one.drop(columns=["wait", "grade"]) for one in (X, Y)]
    for name, frame in zip("xy", frames, strict=True):
        for i, part in enumerate(cut(frame, [60])):
            part.to_csv(tmp_path / f"{name}{i}.csv", index=False)
    same_as_in_memory([str(tmp_path / f"{name}*.csv") for name in "xy"], frames)


def test_rows_with_missing_values_are_left_out_or_an_error(tmp_path):
    frames = [one.copy() for one in (X, Y)]
    for frame, seed in zip(frames, (2, 3), strict=True):
        rng = np.random.default_rng(seed)
        for name in ("number", "city", "grade", "day", "key"):
            frame.loc[rng.random(len(frame)) < 0.05, name] = None
    frames[0].loc[5, ["city", "number"]] = ["Nowhere", None]  # a level of a row that is left out
    paths = files(tmp_path, "x", frames[0], [100]), files(tmp_path, "y", frames[1], [100])
    found = same_as_in_memory(paths, frames, nan_policy="omit")
    assert "city = Nowhere" not in found.encoding.features
    with pytest.raises(ValueError, match=r"x0\.parquet has a missing value in row \d+, column '\w+' .*omit"):
        hypothesis(paths)
    frames[0].loc[:99, "city"] = None  # a file without any value
    paths = files(tmp_path, "x", frames[0], [100]), paths[1]
    same_as_in_memory(paths, frames, nan_policy="omit")


def with_gaps(frame, seed):
    rng, out = np.random.default_rng(seed), frame.copy()
    for name in ("number", "whole", "city", "truth", "grade", "day", "wait"):
        out[name] = out[name].astype(object) if name == "truth" else out[name]
        out.loc[rng.random(len(out)) < 0.1, name] = None
    return out


def test_missing_values_have_the_indicators_of_tables_in_memory(tmp_path):
    frames = with_gaps(X, 2), with_gaps(Y, 3)
    frames[0]["none"], frames[1]["none"] = np.nan, np.nan
    frames[0].loc[3, "none"] = 2.0  # the only value there is
    paths = files(tmp_path, "x", frames[0], [100]), files(tmp_path, "y", frames[1], [1])
    for options in ({}, {"scale": None}, {"scale": "rank"}, {"scale": {"number": 2.0, "day": 30.0, "none": 3.0}},
                    {"scale": {"number": "rank"}}):  # fmt: skip
        found = same_as_in_memory(paths, frames, nan_policy="indicator", **options)
        assert "city is missing" in found.encoding.features and "day is missing" in found.encoding.features
    batches = Batches(cut(frames[0], [7, 90])), Batches(cut(frames[1], [33]))
    same_as_in_memory(batches, frames, nan_policy="indicator")
    arrays = [frame[["number", "whole"]].to_numpy(dtype=np.float64) for frame in frames]
    for scale in ("auto", "sd", [1.0, 1.0], [8.0, 0.25]):
        found = same_as_in_memory(tuple(map(Batches, arrays)), arrays, nan_policy="indicator", scale=scale)
        assert found.encoding.features == ("0", "0 is missing", "1", "1 is missing")
    with pytest.raises(ValueError, match=r"nan_policy='propagate' is not for what is read in batches"):
        hypothesis(paths, nan_policy="propagate")


def test_tests_with_indicators_do_not_depend_on_how_rows_are_cut(tmp_path):
    frames = [
        pd.concat([with_gaps(one.drop(columns="key"), 20 * k + i) for i in range(12)]) for k, one in enumerate((X, Y))
    ]
    options = {"gram": "rff", "rank": 20, "n_resamples": 99, "rng": 0, "nan_policy": "indicator"}
    paths = files(tmp_path, "x", frames[0], []), files(tmp_path, "y", frames[1], [1000])
    one = two_sample_test(Batches(paths[0], bins=60), Batches(paths[1], bins=60), **options)
    other = two_sample_test(
        Batches(cut(frames[0], [7, 900]), bins=60), Batches(cut(frames[1], [33]), bins=60), workers=2, **options
    )
    assert one.statistic == other.statistic and np.array_equal(one.null_distribution, other.null_distribution)
    assert "The median that replaces missing numbers comes from a random sample of 2000 rows." in one.notes
    assert any("that a value is missing counts as information" in note for note in one.notes)
    columns = two_sample_test_columns(*paths, gram="rff", rank=8, rng=0, n_resamples=19, nan_policy="indicator")
    assert {"number", "city", "day"} <= set(columns.table["column"])


def test_nothing_depends_on_how_rows_are_cut(tmp_path):
    options = {"gram": "rff", "rank": 20, "n_resamples": 99, "rng": 0}
    one = Batches(files(tmp_path, "x", X, []), bins=40), Batches(files(tmp_path, "y", Y, []), bins=40)
    other = Batches(cut(X, [1, 2, 150]), bins=40), Batches(files(tmp_path, "z", Y, [20, 21]), size=7, bins=40)
    first = two_sample_test(*one, **options)
    for workers in (1, 3):
        second = two_sample_test(*other, workers=workers, **options)
        assert (first.statistic, first.pvalue, first.notes) == (second.statistic, second.pvalue, second.notes)
    several = [k_sample_test(*pair, **options).statistic for pair in (one, other)]
    assert several[0] == several[1]
    columns = [two_sample_test_columns(*pair, **options).table for pair in (one, other)]
    assert columns[0].equals(columns[1]) and list(columns[0]["column"]) == list(X.columns[:9])


def test_statistics_are_those_of_tables_in_memory(tmp_path):
    pair = [Batches(cut(frame, [30]), bins=400) for frame in (X, Y)]  # bins of a row each
    found = two_sample_test(*pair, kernel=Linear(), n_resamples=19, rng=0, form="biased")
    whole = two_sample_test(X, Y, kernel=Linear(), n_resamples=19, rng=0, form="biased")
    assert found.statistic == pytest.approx(whole.statistic, rel=1e-9)
    at = X.head(4)
    assert found.witness(at) == pytest.approx(whole.witness(at), rel=1e-6)
    assert found.encodings[0].features == whole.encodings[0].features
    for_columns = two_sample_test_columns(*pair, kernel=Linear(), n_resamples=19, rng=0, form="biased").table
    in_memory = two_sample_test_columns(X, Y, kernel=Linear(), n_resamples=19, rng=0, form="biased").table
    assert np.allclose(for_columns["statistic"], in_memory["statistic"], rtol=1e-9, equal_nan=True)


def test_bandwidths_by_name_are_those_of_the_columns(tmp_path):
    how = {"gram": "rff", "rank": 8, "rng": 1, "n_resamples": 19}
    for names in (["number", "wait"], ["number", "city"]):
        a, b = (files(tmp_path, name, frame[names], [60]) for name, frame in (("a", X), ("b", Y)))
        found = two_sample_test(a, b, bandwidth=dict(zip(names, (0.5, 2.0), strict=True)), **how)
        same = two_sample_test(Batches(a), Batches(b), bandwidth=(0.5, 2.0), **how)
        assert (same.statistic, same.pvalue) == (found.statistic, found.pvalue)
        several = two_sample_test(a, b, bandwidth=[dict(zip(names, (0.5, 2.0), strict=True)), 1.0], **how)
        assert len(several.table) == 2
        x, y = Batches(a, columns=names[:1]), Batches(a, columns=names[1:])
        pair = independence_test(x, y, bandwidth_x={"number": 0.5}, bandwidth_y={names[1]: 2.0}, **how)
        assert pair.pvalue == independence_test(x, y, bandwidth_x=0.5, bandwidth_y=2.0, **how).pvalue
    with pytest.raises(ValueError, match="bandwidth has no entry for 'city'"):
        two_sample_test(a, b, bandwidth={"number": 1.0}, **how)
    with pytest.raises(ValueError, match="which arrays do not have"):
        two_sample_test(Batches([np.eye(30)]), Batches([np.eye(30)]), bandwidth={"a": 1.0}, **how)


def test_other_types_in_other_files_are_an_error_that_names_file_and_column(tmp_path):
    other = X.assign(number=["a", "b"] * 115)
    X.to_parquet(tmp_path / "a.parquet")
    other.to_parquet(tmp_path / "b.parquet")
    said = r"column 'number' holds numbers in X, .*a\.parquet and categories in X, .*b\.parquet"
    with pytest.raises(ValueError, match=said):
        hypothesis((str(tmp_path / "*.parquet"), Batches([Y])))
    path = str(tmp_path / "late.csv")
    pd.DataFrame({"a": [*(["1.5"] * 250_000), "x"], "city": "Ulm"}).to_csv(path, index=False)
    with pytest.raises(
        ValueError, match=r"late\.csv, line 250002, column 'a': .*'x'.*\(column_types=\{'a': 'category'"
    ):
        hypothesis((path, path))
    found = hypothesis((path, path), column_types={"a": "category", "city": "drop"})
    assert found.encoding.features == ("a = 1.5", "a = x")
    with pytest.raises(ValueError, match=r"a column in column_types .*'typo'"):
        hypothesis((Batches([X]), Batches([Y])), column_types={"typo": "category"})


def test_every_library_and_every_kind_of_file_gives_the_same(tmp_path):
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")

    def other(n, seed):
        rng = np.random.default_rng(seed)
        hours = rng.integers(0, 1000, size=n)
        return pd.DataFrame(
            {
                "clock": [datetime.time(int(hour), 30) for hour in hours % 24],
                "date": [datetime.date(2020, 1, 1) + datetime.timedelta(int(hour)) for hour in hours],
                "zone": pd.Timestamp("2020-01-01", tz="Europe/Berlin") + pd.to_timedelta(hours, unit="h"),
                "kind": pd.Categorical(rng.choice(["b", "a", "c"], size=n)),
                "gap": np.where(rng.random(n) < 0.1, None, "x"),
                "whole": pd.array(rng.integers(0, 5, size=n), "Int64"),
                "truth": rng.random(n) < 0.5,
            }
        )

    frames = other(90, 0), other(70, 1)
    paths = [tmp_path / name for name in ("x.parquet", "y.parquet", "x.csv", "y.csv")]
    for path, frame in zip(paths, frames * 2, strict=True):
        (frame.to_csv if path.suffix == ".csv" else frame.to_parquet)(path, index=False)
    pairs = [
        paths[:2],
        paths[2:],
        [Batches([frame]) for frame in frames],
        [Batches([polars.from_pandas(frame)]) for frame in frames],
        [Batches([pyarrow.Table.from_pandas(frame, preserve_index=False)]) for frame in frames],
    ]
    samples = [hypothesis(pair, nan_policy="omit").survey.sample for pair in pairs]
    assert all(np.array_equal(one, samples[0]) for one in samples)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        there = hypothesis(pairs[1], nan_policy="omit", crew=Crew(processes))
    assert np.array_equal(there.survey.sample, samples[0])


def test_too_many_levels_are_an_error_with_the_remedy():
    rng = np.random.default_rng(0)
    for many, said in ((150, "150"), (2 * MOST_LEVELS, f"more than {MOST_LEVELS}")):
        frame = pd.DataFrame({"a": rng.normal(size=9000), "text": [f"{k}x" for k in rng.integers(many, size=9000)]})
        pair = Batches(cut(frame, [10])), Batches([frame])
        with pytest.raises(ValueError, match=rf"'text' holds text with {said} different .* 'drop'"):
            hypothesis(pair)
    assert len(hypothesis(pair, column_types={"text": "drop"}).encoding.names) == 1
    with pytest.raises(ValueError, match=f"more than {MOST_LEVELS}"):
        hypothesis(pair, column_types={"text": "category"})


def test_texts_that_are_all_different_are_left_out_however_many_there_are():
    frame = pd.DataFrame(
        {"a": np.arange(5000) % 7, "b": np.arange(5000) % 2 == 0, "key": [f"k{i}" for i in range(5000)]}
    )
    found = hypothesis((Batches(cut(frame.head(3000), [1000])), Batches([frame.tail(2000)])))
    assert found.encoding.names == ("a", "b")


def test_arrays_take_types_by_number():
    values = np.random.default_rng(1).integers(0, 3, size=(60, 2)).astype(float)
    pair = Batches(np.array_split(values, 3)), Batches([values])
    found = hypothesis(pair, column_types={"0": "category"})
    assert found.encoding.features == ("0 = 0", "0 = 1", "0 = 2", "1") and found.columns is None
    with pytest.raises(ValueError, match="'drop' takes columns with names"):
        hypothesis(pair, column_types={"0": "drop"})
    with pytest.raises(ValueError, match="transform= takes all rows at once"):
        two_sample_test(*pair, gram="rff", transform=np.log)


class Killed(Exception):
    """Stands for the end of a process."""


def test_the_first_look_goes_on_where_it_was(tmp_path, monkeypatch):
    """Also the second, where rows miss values in a column that is not tested."""
    gaps = X.copy()
    gaps.loc[5, "key"] = None
    paths = files(tmp_path, "x", gaps, [60, 120]), files(tmp_path, "y", Y, [90])
    options = {"gram": "rff", "rank": 10, "n_resamples": 49, "rng": 0, "nan_policy": "omit", "workers": 1}
    expected = two_sample_test(*paths, **options)
    run, names, fatal = crews.run, [], [3, 12]

    def dying(reading, task, *rest):
        names.append(reading.name)
        if len(names) in fatal:
            raise Killed
        return run(reading, task, *rest)

    monkeypatch.setattr(crews, "run", dying)
    monkeypatch.setattr("shrinktest.batches.sights.Looking.least", 1)
    told = {**options, "store": tmp_path / "s.npz"}
    for _ in fatal:
        with pytest.raises(Killed):
            two_sample_test(*paths, **told)
    found = two_sample_test(*paths, **told)
    assert found.statistic == expected.statistic and found.notes == expected.notes
    looks = names.count("columns")
    assert looks == 2 * 7 + len(fatal)  # 7 tasks in each look, and those in which it was killed
    assert two_sample_test(*paths, **told).statistic == expected.statistic
    assert names.count("columns") == looks
    with pytest.raises(ValueError, match="was begun with other data"):
        two_sample_test(*paths, **told, column_types={"city": "drop"})


SLOWLY = """
import sys, time
from importlib.abc import MetaPathFinder

class Slow(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.startswith("pandas.") and name.count(".") == 1:
            time.sleep(0.02)

sys.meta_path.insert(0, Slow())
from shrinktest import two_sample_test
assert "pandas" not in sys.modules
print(two_sample_test(*sys.argv[1:], gram="rff", rank=20, n_resamples=19, workers=4, rng=0).pvalue)
"""


def test_threads_do_not_meet_half_of_pandas(tmp_path):
    """pyarrow imports pandas in the midst of a conversion, while other threads ask whose tables they have."""
    both = [files(tmp_path, name, frame, [40, 80, 120]) for name, frame in (("x", X), ("y", Y))]
    ran = subprocess.run([sys.executable, "-c", SLOWLY, *both], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    one = two_sample_test(*both, gram="rff", rank=20, n_resamples=19, workers=1, rng=0)
    assert float(ran.stdout) == one.pvalue


def test_identifiers_and_dates_of_several_samples_are_as_in_memory(tmp_path):
    """The same patients before and after: texts that identify rows, and dates that do not overlap."""
    starts = ("2024-01-01", "2025-01-01")
    frames = [
        pd.DataFrame(
            {"name": [f"p{i}" for i in range(90)], "day": pd.date_range(s, periods=90), "x": np.arange(90) % 7.0}
        )
        for s in starts
    ]
    paths = [files(tmp_path, name, frame, [40]) for name, frame in zip("xy", frames, strict=True)]
    found = same_as_in_memory(paths, frames)
    assert found.encoding.names == ("day", "x") and any("alone tells X and Y apart" in one for one in found.remarks)
    same_as_in_memory(paths, frames, column_types={"name": "drop", "day": "date"})


def test_numbers_that_come_one_after_the_other_are_noted_as_in_memory(tmp_path):
    """Numbers of orders tell an old log from a new one; a few may do so by chance."""
    rng = np.random.default_rng(4)
    said = "those of one sample come after those of the other"
    for first, rows, noted in ((5000, 1900, True), (900, 90, True), (50, 90, False), (900, 8, False)):
        frames = [
            pd.DataFrame(
                {
                    "order": rng.permutation(rows) + start,
                    "x": rng.normal(size=rows),
                    "city": rng.choice(["Ulm", "Zug"], rows),
                }
            )
            for start in (0, first)
        ]
        paths = [files(tmp_path, name, frame, [rows // 2]) for name, frame in zip("xy", frames, strict=True)]
        assert sum(said in one for one in same_as_in_memory(paths, frames).remarks) == noted
