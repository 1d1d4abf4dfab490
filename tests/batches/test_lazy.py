"""Lazy tables, datasets, and files as other programs write them, read in batches."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from answers import close as same
from shrinktest import Batches, independence_test, two_sample_test

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
ds = pytest.importorskip("pyarrow.dataset")
parquet = pytest.importorskip("pyarrow.parquet")

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2003, 3)), RNG.normal(0.1, 1.0, size=(1500, 3))
NAMES = ["a", "b", "c"]
FAST = {"gram": "rff", "rank": 10, "rng": 0, "n_resamples": 49, "scale": "sd"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("lazy")
    for i, part in enumerate(np.array_split(X, 4)):
        parquet.write_table(
            pa.table(dict(zip(NAMES, part.T, strict=True))),
            path / f"x{i}.parquet",
            row_group_size=170,
        )
    return path


@pytest.fixture(scope="module")
def expected():
    return two_sample_test(Batches(X), Y, **FAST)


@pytest.mark.parametrize("size", [100, 501, 10_000])
def test_lazy_frames_are_their_rows(folder, expected, size):
    scanned = pl.scan_parquet(folder / "*.parquet")
    result = two_sample_test(
        Batches(scanned, size=size), pl.DataFrame(Y, schema=NAMES).lazy(), **FAST
    )
    assert same(result, expected) and result.columns == (tuple(NAMES),)


def test_plans_are_followed(folder):
    plan = (
        pl.scan_parquet(folder / "*.parquet")
        .filter(pl.col("a") > 0)
        .select("c", twice=2 * pl.col("b"))
    )
    x = X[X[:, 0] > 0][:, [2, 1]] * [1.0, 2.0]
    result = two_sample_test(Batches(plan, size=300), Y[:, :2], **FAST)
    assert same(result, two_sample_test(Batches(x), Y[:, :2], **FAST))


@pytest.mark.parametrize("size", [100, 501, 10_000])
def test_datasets_are_their_rows(folder, expected, size):
    assert same(two_sample_test(Batches(ds.dataset(folder), size=size), Y, **FAST), expected)
    memory = ds.dataset(pa.table(dict(zip(NAMES, X.T, strict=True))))
    assert same(two_sample_test(Batches(memory, size=size), Y, **FAST), expected)


def test_filters_and_folders_that_are_columns(tmp_path):
    table = pa.table({**dict(zip(NAMES, X.T, strict=True)), "year": np.arange(len(X)) // 1000})
    ds.write_dataset(
        table, tmp_path, format="parquet", partitioning=["year"], partitioning_flavor="hive"
    )
    years = ds.dataset(tmp_path, partitioning="hive")
    result = two_sample_test(
        Batches(years.filter(ds.field("b") > 0), columns=["a", "year"], size=77), Y[:, :2], **FAST
    )
    x = np.column_stack([X[:, 0], np.arange(len(X)) // 1000])[X[:, 1] > 0]
    assert same(result, two_sample_test(Batches(x), Y[:, :2], **FAST))


def mixed(n, seed):
    rng = np.random.default_rng(seed)
    days = np.datetime64("2020-01-01") + rng.integers(0, 900, size=n)
    number = np.where(rng.random(n) < 0.05, np.nan, rng.normal(seed, 2.0, size=n))
    return pl.DataFrame(
        {
            "number": pl.Series(number).fill_nan(None),
            "whole": rng.integers(0, 9, size=n),
            "truth": rng.random(n) < 0.3,
            "day": days,
            "grade": pl.Series(
                rng.choice(["low", "mid", "high"], size=n), dtype=pl.Enum(["low", "mid", "high"])
            ),
            "city": rng.choice(["Ulm", "Aachen", "Bern", "Zug"][: 3 + seed], size=n),
        }
    )


@pytest.mark.ci
@pytest.mark.parametrize("size", [50, 10_000])
def test_datasets_are_mixed_as_files_are(tmp_path, size):
    for name, frame in (("x", mixed(900, 0)), ("y", mixed(700, 1))):
        (tmp_path / name).mkdir()
        for i, part in enumerate(frame.iter_slices(257)):
            parquet.write_table(part.to_arrow(), tmp_path / name / f"{i}.parquet")
    options = {**FAST, "scale": "auto", "nan_policy": "omit"}
    expected = two_sample_test(
        str(tmp_path / "x/*.parquet"), str(tmp_path / "y/*.parquet"), **options
    )
    x, y = (Batches(ds.dataset(tmp_path / name), size=size) for name in "xy")
    assert same(two_sample_test(x, y, **options), expected)
    assert expected.n_observations != (900, 700)


# --- files as people have them: brackets in names, months without values, files cut off, data that changed ---

arrow = pytest.importorskip("pyarrow")
files_parquet = pytest.importorskip("pyarrow.parquet")

rng = np.random.default_rng(0)
FILES_X, FILES_Y = rng.normal(size=(200, 2)), rng.normal(size=(150, 2))
HOW = {"gram": "rff", "rank": 20, "rng": 3, "n_resamples": 19}


def test_a_name_with_brackets_is_that_file(tmp_path):
    """A name with brackets is not read as a pattern."""
    for name, values in (("x[1]", FILES_X), ("x1", FILES_X + 5.0)):
        np.save(tmp_path / f"{name}.npy", values)
    path, expected = (
        tmp_path / "x[1].npy",
        two_sample_test(Batches([FILES_X]), Batches([FILES_Y]), **HOW).statistic,
    )
    for given in (path, str(path), [path]):
        assert two_sample_test(Batches(given), Batches([FILES_Y]), **HOW).statistic == expected
    path.unlink()
    assert two_sample_test(Batches(path), Batches([FILES_Y]), **HOW).statistic > 10 * abs(
        expected
    )  # a pattern again


def test_a_column_without_values_in_one_file(tmp_path):
    """Arrow writes such a column without a numeric type."""
    files_parquet.write_table(
        arrow.table({"a": arrow.nulls(20), "b": FILES_X[:20, 1]}), tmp_path / "m1.parquet"
    )
    pd.DataFrame(FILES_X, columns=["a", "b"]).to_parquet(tmp_path / "m2.parquet")
    pd.DataFrame(FILES_Y, columns=["a", "b"]).to_parquet(tmp_path / "y.parquet")
    paths = str(tmp_path / "m*.parquet"), str(tmp_path / "y.parquet")
    result = two_sample_test(*paths, nan_policy="omit", **HOW)
    assert result.n_observations == (200, 150) and any("20 rows" in note for note in result.notes)


@pytest.mark.parametrize("what", ["array", "cut off", "flipped"])
def test_what_is_no_store_says_so(tmp_path, what):
    store = tmp_path / "s.npz"
    np.save(tmp_path / "x.npy", FILES_X)
    run = {"store": store, **HOW}
    two_sample_test(tmp_path / "x.npy", tmp_path / "x.npy", **run)
    whole = bytearray(store.read_bytes())
    whole[len(whole) // 2] ^= 255
    content = {
        "array": (tmp_path / "x.npy").read_bytes(),
        "cut off": whole[: len(whole) // 2],
        "flipped": whole,
    }
    store.write_bytes(content[what])
    with pytest.raises(ValueError, match="does not keep the sums of a test"):
        two_sample_test(tmp_path / "x.npy", tmp_path / "x.npy", **run)


@pytest.mark.parametrize("source", ["memory", "file and memory", "pairs"])
def test_a_store_of_other_data_is_an_error(tmp_path, source):
    """One number that changed in 6000 rows in memory is enough."""
    many = np.random.default_rng(1).normal(size=(6000, 1))
    changed, store = many.copy(), tmp_path / "s.npz"
    changed[np.argsort(many[:, 0])[3000]] += 1e-9

    def run(values):
        if source == "pairs":
            return independence_test(Batches([values]), Batches([many[::-1]]), store=store, **HOW)
        if source == "file and memory":
            np.save(tmp_path / "x.npy", values)
            return two_sample_test(tmp_path / "x.npy", Batches([many[::-1]]), store=store, **HOW)
        return two_sample_test(Batches([values]), Batches([many[::-1]]), store=store, **HOW)

    first = run(many)
    assert run(many).pvalue == first.pvalue
    with pytest.raises(ValueError, match="was begun with other data"):
        run(changed)
