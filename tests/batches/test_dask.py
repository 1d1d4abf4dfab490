"""Samples that dask computes: by its own schedulers, and on a cluster of which a worker is killed in the middle."""

import os
import signal
import threading
import time
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest

from answers import close as same
from answers import pids, two_workers
from shrinktest import Batches, independence_test, two_sample_test

pytest.importorskip("distributed")
import dask
import dask.array as da
import dask.dataframe as dd

pytestmark = pytest.mark.ci

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(6001, 3)), RNG.normal(0.05, 1.0, size=(5000, 3))
NAMES = ["a", "b", "c"]
FAST = {"gram": "rff", "rank": 20, "rng": 0, "n_resamples": 99, "scale": "sd"}


def array(values, partitions):
    rows = -(-len(values) // partitions)
    return da.from_array(values, chunks=(rows, 2))


def frame(values, partitions):
    return dd.from_pandas(pd.DataFrame(values, columns=NAMES), npartitions=partitions)


def expected(**options):
    return two_sample_test(Batches(X), Y, workers=1, **{**FAST, **options})


@pytest.fixture(scope="module")
def client():
    with two_workers() as client:
        yield client


# --- the same whatever the partitions -----------------------------------------------------------------------


@pytest.mark.parametrize("partitions", [1, 7, 64])
@pytest.mark.parametrize("kind", [array, frame])
def test_partitions_change_nothing(kind, partitions):
    for scheduler in ("threads", "synchronous"):
        with dask.config.set(scheduler=scheduler):
            assert same(
                two_sample_test(kind(X, partitions), kind(Y, partitions), **FAST), expected()
            )


@pytest.mark.parametrize("partitions", [1, 7])
def test_pairs_are_columns_of_one_collection(partitions):
    sides = (Batches(X, columns=[0, 2]), Batches(X, columns=[1]))
    plain = independence_test(*sides, workers=1, **FAST)
    whole = array(X, partitions)
    assert same(
        independence_test(Batches(whole, columns=[0, 2]), Batches(whole, columns=[1]), **FAST),
        plain,
    )
    table = frame(X, partitions)  # of unknown length, and in blocks that partitions cut
    assert same(
        independence_test(
            Batches(table, columns=["a", "c"]), Batches(table, columns=["b"]), **FAST
        ),
        plain,
    )
    with pytest.raises(ValueError, match="are two sources, one of dask"):
        independence_test(whole, Batches(X[:, :1]), **FAST)


def test_partitions_of_unknown_length_are_counted():
    whole = array(np.vstack([X, X + 100.0]), 9)
    some = whole[whole[:, 0] < 50.0]
    assert np.isnan(some.shape[0])
    assert same(two_sample_test(some, Y, **FAST), expected())
    assert same(two_sample_test(Batches(some, size=100), Y, **FAST), expected())


@pytest.mark.parametrize("on_cluster", [False, True])
def test_what_is_persisted_is_computed_once(request, tmp_path, on_cluster):
    client = request.getfixturevalue("client") if on_cluster else None

    def mark(values):
        (tmp_path / f"{os.getpid()} {threading.get_ident()} {time.monotonic_ns()}").touch()
        return values

    whole = array(X, 7).rechunk({1: -1}).map_blocks(mark, dtype=float, meta=np.empty((0, 0)))
    workers = {} if client is None else {"workers": client}
    with dask.config.set(scheduler="threads") if client is None else nullcontext():
        assert same(two_sample_test(whole, Y, **workers, **FAST), expected())
        assert len(list(tmp_path.iterdir())) == 14  # it is read twice
        persisted = whole.persist() if client is None else client.persist(whole)
        assert same(two_sample_test(persisted, frame(Y, 3), **workers, **FAST), expected())
        assert len(list(tmp_path.iterdir())) == 14 + 7
        table = dd.from_dask_array(persisted, columns=NAMES)
        assert same(two_sample_test(table[table.a > -100.0], Y, **workers, **FAST), expected())
        assert len(list(tmp_path.iterdir())) == 14 + 7


def test_missing_values_and_empty_partitions():
    holes = pd.DataFrame(X.copy(), columns=NAMES)
    holes.iloc[[3, 4000], [0, 2]] = np.nan
    given = dd.from_pandas(holes, npartitions=6)
    with pytest.raises(
        ValueError, match=r"X, partition (0 .* row 3|3 .* row 999), column 'a'.*omit"
    ):
        two_sample_test(given, Y, **FAST)
    complete = np.delete(X, [3, 4000], axis=0)
    fixed = {**FAST, "bandwidth": 1.0}
    complete_rows = two_sample_test(Batches(complete), Y, **fixed)
    assert same(two_sample_test(given, Y, nan_policy="omit", **fixed), complete_rows)
    assert same(two_sample_test(given[given.a > -100.0], Y, **fixed), complete_rows)
    sorted_rows = frame(X[np.argsort(X[:, 0])], 8)
    some = sorted_rows[sorted_rows.a > 0.0]  # half of the partitions are empty
    assert same(
        two_sample_test(some, Y, **FAST),
        two_sample_test(Batches(some.compute().to_numpy()), Y, **FAST),
    )


# --- clusters -----------------------------------------------------------------------------------------------


def test_a_cluster_finds_the_same(client, tmp_path):
    pd.DataFrame(X, columns=NAMES).to_parquet(tmp_path / "x.parquet", row_group_size=500)
    pd.DataFrame(X, columns=NAMES).to_csv(tmp_path / "x.csv", index=False)
    for x in (
        array(X, 7),
        frame(X, 3),
        tmp_path / "x.parquet",
        tmp_path / "x.csv",
        Batches(np.array_split(X, 3)),
    ):
        assert same(two_sample_test(x, Y, workers=client, **FAST), expected())
    nystrom = {**FAST, "gram": "nystrom", "estimator": "fkmse"}
    plain = two_sample_test(Batches(X), Y, **nystrom)
    assert same(two_sample_test(array(X, 7), frame(Y, 2), workers=client, **nystrom), plain)


def test_mixed_pairs_of_one_collection(client):
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {"city": rng.choice(["Ulm", "Bern"], size=len(X)), "number": X[:, 0], "dose": X[:, 1]}
    )
    table.loc[rng.random(len(X)) < 0.1, ["city", "dose"]] = None

    def tested(data, **how):
        pair = Batches(data, columns=["city", "number"]), Batches(data, columns=["dose"])
        options = {
            "gram": "nystrom",
            "rank": 6,
            "n_resamples": 49,
            "rng": 0,
            "nan_policy": "indicator",
        }
        return independence_test(*pair, estimator="auto", **options, **how)

    whole = tested([table])
    for n, how in ((1, {}), (7, {}), (7, {"workers": client})):
        split = tested(dd.from_pandas(table, npartitions=n), **how)
        assert same(split, whole) and split.effect().dependence == pytest.approx(
            whole.effect().dependence
        )


def test_a_worker_that_is_killed_changes_nothing(client, tmp_path):
    before, done = pids(client), []
    victim = max(before)

    def mark(values):
        time.sleep(0.05)
        (tmp_path / f"{os.getpid()} {time.monotonic_ns()}").touch()
        return values

    x = array(X, 30).rechunk({1: -1}).map_blocks(mark, dtype=float, meta=np.empty((0, 0)))

    def kill():
        end = time.monotonic() + 60.0
        while time.monotonic() < end:
            readers = [path.name.split()[0] for path in tmp_path.iterdir()]
            if readers.count(str(victim)) > 20:  # it has read once, and begun to add up
                os.kill(victim, signal.SIGKILL)
                done.append(len(readers))
                return
            time.sleep(0.01)

    killer = threading.Thread(target=kill)
    killer.start()
    result = two_sample_test(Batches(x), Batches(array(Y, 10)), workers=client, **FAST)
    killer.join()
    assert done and len(list(tmp_path.iterdir())) > done[0]  # in the middle
    assert victim not in pids(client)
    assert same(result, expected())
