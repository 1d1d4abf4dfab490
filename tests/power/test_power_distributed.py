"""Trials on a dask cluster, one of whose workers is killed in mid-run: nothing is lost, nothing changes."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
import time
from contextlib import closing

import joblib
import pytest

from answers import pids, two_workers
from shrinktest.power import power_study

pytest.importorskip("distributed")

pytestmark = pytest.mark.ci

TRIALS = 90
CELLS = 2 * TRIALS  # of the design and of its null twin


@pytest.fixture(scope="module")
def client():
    with two_workers() as client:
        yield client


def study(design, **options):
    return power_study(
        design, ["kme", "skmse"], 8, alphas=0.1, n_trials=TRIALS, n_resamples=39, rng=0, **options
    )


def quick(rng, n):
    return rng.normal(size=(n, 2)), rng.normal(size=(n, 2)) + 0.7


def test_a_study_on_a_cluster_survives_the_death_of_a_worker(client, tmp_path):
    store, places = tmp_path / "study.sqlite", tmp_path / "places"
    places.mkdir()

    def slow(rng, n):
        (places / str(os.getpid())).touch()
        time.sleep(0.03)
        return rng.normal(size=(n, 2)), rng.normal(size=(n, 2)) + 0.7

    def rows():
        with closing(sqlite3.connect(store)) as connection:
            return connection.execute("SELECT count(*) FROM trials").fetchone()[0]

    workers = pids(client)
    victim = max(workers)
    rows_then = []

    def kill():
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if (
                store.exists()
                and store.stat().st_size
                and (places / str(victim)).exists()
                and (done := rows())
            ):
                os.kill(victim, signal.SIGKILL)
                rows_then.append(done)
                return
            time.sleep(0.02)

    killer = threading.Thread(target=kill)
    killer.start()
    with joblib.parallel_config("dask", wait_for_workers_timeout=30):
        result = study(slow, store=store)
    killer.join()

    assert 0 < rows_then[0] < 2 * CELLS  # in mid-run
    assert victim not in pids(client)
    worked = {int(place.name) for place in places.iterdir()}
    assert workers <= worked  # both of the first two, and here only the rehearsal
    assert rows() == 2 * CELLS
    alone = study(quick, workers=1)
    assert result.pvalues.drop(columns="seconds").equals(alone.pvalues.drop(columns="seconds"))
    assert result.to_csv().replace(
        "test_a_study_on_a_cluster_survives_the_death_of_a_worker.<locals>.slow", "quick"
    ) == (alone.to_csv())
