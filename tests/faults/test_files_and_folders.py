"""Paths in the place of tables, folders in the place of files, and estimators that write into what they are given."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shrinktest import (
    Batches,
    MeanEstimator,
    compare,
    equivalence_test,
    independence_test,
    k_sample_test,
    two_sample_test,
)

rng = np.random.default_rng(0)
RUN = {"n_resamples": 39, "rng": 0}


def customers(n, income):
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n), unit="D")
    amounts = np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(income, 0.4, n).round(2))
    return pd.DataFrame({"income": amounts, "region": rng.choice(["north", "south"], n), "since": days})


A, B = customers(60, 8.0), customers(70, 8.4).assign(points=1.5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("tables")
    for name, table in {"a": A, "b": B}.items():
        table.to_csv(where / f"{name}.csv", index=False)
        table.to_parquet(where / f"{name}.parquet")
    (where / "a.xlsx").write_text("")
    return where


@pytest.mark.parametrize("kinds", [("parquet", "parquet"), ("csv", "csv"), ("csv", "parquet")])
@pytest.mark.parametrize("called", [str, Path, Batches, lambda path: [path]])
def test_files_are_compared_as_tables_are(folder, kinds, called):
    expected = compare(A, B, **RUN)
    found = compare(called(folder / f"a.{kinds[0]}"), called(folder / f"b.{kinds[1]}"), **RUN)
    assert found.table.equals(expected.table) and found.answer == expected.answer


def test_one_file_and_one_table(folder):
    assert compare(str(folder / "a.parquet"), B, **RUN).pvalue == compare(A, B, **RUN).pvalue
    found = compare(str(folder / "a.csv"), B, column_types={"since": "drop"}, **RUN)
    assert list(found.table["column"]) == list(compare(A, B, column_types={"since": "drop"}, **RUN).table["column"])


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("none.csv", FileNotFoundError, "A: there is no file '.*none.csv'"),
        ("none.parquet", FileNotFoundError, "A: there is no file '.*none.parquet'"),
        ("none", FileNotFoundError, "A: there is no file '.*none'"),
        ("a.xlsx", ValueError, "A must be files of one kind of '.npy', '.csv', '.parquet'; found '.xlsx'"),
        ("", ValueError, "A: '.*' is a folder; name its files"),
    ],
)
@pytest.mark.parametrize("kind", [str, Path])
def test_paths_that_cannot_be_read(folder, name, error, message, kind):
    for other in (str(folder / "b.csv"), B):
        with pytest.raises(error, match=message):
            compare(kind(folder / name), other, **RUN)


def test_json_is_not_written_to_a_folder(tmp_path):
    x, y = rng.normal(size=(2, 30))
    for result in (
        two_sample_test(x, y, **RUN),
        compare(A, B, **RUN),
        equivalence_test(x, y, margin=0.2, measure="distance"),
    ):
        for path in (tmp_path, str(tmp_path)):
            with pytest.raises(IsADirectoryError, match=r"path='.*' is a folder; give the name of a file in it"):
                result.to_json(path)
        with pytest.raises(FileNotFoundError, match="there is no folder"):
            result.to_json(tmp_path / "none" / "result.json")
        assert (tmp_path / "result.json").write_text(result.to_json(tmp_path / "result.json"))


def centred(gram):
    gram -= gram.mean()
    return np.full(len(gram), 1 / len(gram))


def without_diagonal(gram):
    np.fill_diagonal(gram, 0.0)
    return np.full(len(gram), 1 / len(gram))


class Ordered(MeanEstimator):
    """An estimator that sorts its Gram matrix in place."""

    def weights(self, gram):
        gram.sort()
        return np.full(len(gram), 1 / len(gram))


@pytest.mark.parametrize("estimator", [centred, without_diagonal, Ordered()])
def test_an_estimator_that_writes_into_its_gram_matrix(estimator):
    x, y = rng.normal(size=(2, 12))
    for test in (two_sample_test, k_sample_test, independence_test):
        with pytest.raises(ValueError, match=r"modified its Gram matrix, which is read-only; copy it first, gram.copy"):
            test(x, y, estimator=estimator, **RUN)
