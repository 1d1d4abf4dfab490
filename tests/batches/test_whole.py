"""Samples in batches that fit in memory are tested there, with the same result for all sources."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from _ci import some_wait
from shrinktest import (
    Batches,
    independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.cli.entry import main

pytest.importorskip("pyarrow")


def table(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "number": rng.normal(0.3 * seed, 1.0, size=n),
            "whole": rng.integers(0, 5, size=n),
            "truth": rng.random(n) < 0.4,
            "city": rng.choice(["Ulm", "Bern", "Zug"][: 2 + seed % 2], size=n),
        }
    )


X, Y = table(90, 0), table(70, 1)
FAST = {"n_resamples": 99, "rng": 0}


def files(folder, name, frame, end):
    for i, part in enumerate(np.array_split(np.arange(len(frame)), 3)):
        getattr(frame.iloc[part], f"to_{end}")(folder / f"{name}{i}.{end}", index=False)
    return str(folder / f"{name}*.{end}")


@pytest.fixture(params=some_wait(["parquet", "csv", "polars", "frames"], ["csv", "polars"]))
def both(request, tmp_path):
    """Both samples in files, in lazy frames, and in batches of data frames."""
    if request.param == "frames":
        return tuple(Batches([frame.iloc[:20], frame.iloc[20:]]) for frame in (X, Y))
    if request.param == "polars":
        polars = pytest.importorskip("polars")
        return tuple(polars.from_pandas(frame).lazy() for frame in (X, Y))
    return tuple(
        files(tmp_path, name, frame, request.param) for name, frame in (("x", X), ("y", Y))
    )


def alike(result, expected):
    assert (result.statistic, result.pvalue, result.notes) == (
        expected.statistic,
        expected.pvalue,
        expected.notes,
    )
    assert result.columns == expected.columns and np.array_equal(
        result.null_distribution, expected.null_distribution
    )


@pytest.mark.parametrize(
    "options",
    [{}, {"estimator": "fkmse"}, {"kernel": "whitened"}, {"blocks": np.arange(160) // 40}],
)
def test_two_samples_are_as_in_memory(both, options):
    alike(two_sample_test(*both, **options, **FAST), two_sample_test(X, Y, **options, **FAST))


def test_other_tests_are_as_in_memory(both):
    x, y = both
    auto, expected = (two_sample_test(*some, estimator="auto", **FAST) for some in (both, (X, Y)))
    assert auto.pvalue == expected.pvalue and auto.notes == expected.notes
    alike(k_sample_test(x, y, x, **FAST), k_sample_test(X, Y, X, **FAST))
    named = k_sample_test({"before": x, "after": y}, **FAST)
    alike(named, k_sample_test({"before": X, "after": Y}, **FAST))
    by_column, expected = (
        two_sample_test_columns(x, y, **FAST),
        two_sample_test_columns(X, Y, **FAST),
    )
    pd.testing.assert_frame_equal(by_column.table, expected.table)


def test_pairs_are_as_in_memory(tmp_path):
    path = files(tmp_path, "x", X, "parquet")
    x, y = (Batches(path, columns=columns) for columns in (["number"], ["whole", "city"]))
    alike(
        independence_test(x, y, **FAST),
        independence_test(X[["number"]], X[["whole", "city"]], **FAST),
    )


@pytest.mark.parametrize(
    "types", [{"city": "drop"}, {"whole": "category", "truth": "drop"}, {"whole": "ordered"}]
)
def test_types_are_as_in_memory(both, types):
    options = {**FAST, "column_types": types}
    alike(two_sample_test(*both, **options), two_sample_test(X, Y, **options))
    with pytest.raises(
        ValueError,
        match=r"a column in column_types must be one of .*; got 'citi'\. Did you mean 'city'",
    ):
        two_sample_test(*both, column_types={"citi": "drop"}, **FAST)
    with pytest.raises(ValueError, match="column_types drops every column of X; keep one to test"):
        two_sample_test(*both, column_types=dict.fromkeys(X, "drop"), **FAST)


@pytest.mark.parametrize("end", ["parquet", "csv"])
def test_columns_that_count_rows_are_as_in_memory(tmp_path, end):
    tables = [pd.DataFrame({"id": np.arange(80) + 80 * i, "x": frame["number"][:70].sum() + np.arange(80) % 7.0})
              for i, frame in enumerate((X, Y))]  # fmt: skip
    both = [files(tmp_path, f"t{i}", frame, end) for i, frame in enumerate(tables)]
    result = two_sample_test(*both, **FAST)
    alike(result, two_sample_test(*tables, **FAST))
    assert "Column 'id' is not tested" in " ".join(result.notes)


def test_arrays_are_as_in_memory(tmp_path):
    x, y = X[["number", "whole"]].to_numpy(float), Y[["number", "whole"]].to_numpy(float)
    np.save(tmp_path / "x.npy", x)
    alike(two_sample_test(str(tmp_path / "x.npy"), y, **FAST), two_sample_test(x, y, **FAST))
    alike(
        two_sample_test(Batches(x, columns=[1]), y[:, 1], **FAST),
        two_sample_test(x[:, 1], y[:, 1], **FAST),
    )
    dask = pytest.importorskip("dask.array")
    alike(
        two_sample_test(dask.from_array(x, chunks=(31, 2)), y, **FAST),
        two_sample_test(x, y, **FAST),
    )


def test_missing_values_are_treated_as_in_memory(tmp_path):
    x = X.assign(number=X["number"].where(X["number"] > -1.0))
    path = files(tmp_path, "x", x, "parquet")
    for policy in ("omit", "indicator"):
        alike(two_sample_test(path, Batches([Y]), nan_policy=policy, **FAST),
              two_sample_test(x, Y, nan_policy=policy, **FAST))  # fmt: skip
    with pytest.raises(ValueError, match=r"X has .* missing value.* in .*'number'"):
        two_sample_test(path, Batches([Y]), **FAST)


def test_the_command_line_takes_them(tmp_path, capsys):
    x, y = (files(tmp_path, name, frame, "parquet") for name, frame in (("x", X), ("y", Y)))
    assert main(["two-sample", x, y, "--seed", "0", "--resamples", "99"]) == 0
    assert f"{two_sample_test(X, Y, **FAST).statistic:.6g}" in capsys.readouterr().out


def test_other_commands_read_them_whole(tmp_path, capsys):
    x, y = (files(tmp_path, name, frame, "parquet") for name, frame in (("x", X), ("y", Y)))
    assert (
        main(["compare", x, y, "--seed", "0", "--resamples", "19", "--alpha", "0.1", "--json"]) == 0
    )
    assert capsys.readouterr().out.startswith("{")


class Endless:
    """Batches without an end."""

    def __iter__(self):
        return (np.zeros((1000, 5)) for _ in iter(int, 1))


@pytest.mark.ci
def test_what_does_not_fit_says_so():
    text = r"X and Y have \d+000 observations or more, which need more than 1 MB.*; use gram='rff', rank=1000, or raise"
    with pytest.raises(MemoryError, match=text):
        two_sample_test(Batches(Endless()), Batches(Endless()), max_memory=16e6)
    with pytest.raises(MemoryError, match="X and Y have 50000 observations or more"):
        independence_test(Batches(np.zeros((25_000, 5))), np.zeros((25_000, 5)), max_memory=16e6)
    with pytest.raises(
        MemoryError, match=r"3000 observations: the Gram matrix needs .* use gram='"
    ):
        x, y = np.random.default_rng(0).normal(size=(2, 1500, 9))
        two_sample_test(Batches(x), y, estimator="fkmse", max_memory=16e6)


@pytest.mark.parametrize(
    "options", [{"bins": 40}, {"store": "sums.npz"}, {"workers": True}, {"rank": 5}]
)
def test_batches_are_read_as_such_where_they_are_asked_for(options, tmp_path):
    """Rows on disk need features."""
    x = Batches([X], bins=options.pop("bins", 2000))
    if "store" in options:
        options["store"] = tmp_path / options["store"]
    with ThreadPoolExecutor(1) as pool, pytest.raises(ValueError, match="use gram='rff'"):
        two_sample_test(
            x,
            Batches([Y], bins=x.bins),
            **({"workers": pool} if "workers" in options else options),
            **FAST,
        )


def test_kernels_of_few_features_need_no_whole():
    x = Batches([X[["number"]]])
    assert "bins" in " ".join(
        two_sample_test(x, Batches([Y[["number"]]]), kernel="linear", **FAST).notes
    )
