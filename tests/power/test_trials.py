"""The store and the runner of studies: killed and resumed, extended, merged; and files that must be left alone."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import joblib
import numpy as np
import pytest

import shrinktest
from shrinktest import FKMSE, SKMSE
from shrinktest.power import designs, merge, power_study, solve_sample_size
from shrinktest.power.trials import POWER, Store

SHIFT = designs.MeanShift(dimension=2, shift=1.0)
ROOT = Path(shrinktest.__file__).parents[1]
FEW = {"alphas": 0.1, "n_trials": 6, "n_resamples": 19, "workers": 1, "rng": 0}


def run(store=None, design=SHIFT, estimators="kme", sizes=8, **options):
    """A study of a moment."""
    return power_study(design, estimators, sizes, store=store, **{**FEW, **options})


def query(path, statement):
    """Run SQL on the file, as another program would."""
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(statement).fetchall()


def count(path):
    return query(path, "SELECT count(*) FROM trials")[0][0]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.sqlite"


class Counted:
    """A design function that counts its data sets, less those of the rehearsals."""

    calls = 0

    def __call__(self, rng, n):
        self.calls += 1
        return rng.normal(size=n), rng.normal(size=n)

    def __repr__(self):
        return "counted"

    def work(self, *arguments, **options):
        before, sizes = self.calls, options.get("sizes", 8)
        result = run(*arguments, design=self, **options)
        rehearsals = (
            1 + options.get("with_null", True) + (len(sizes) if isinstance(sizes, list) else 1)
        )
        return result, self.calls - before - rehearsals


SLOW = """
import sys, time
from shrinktest.power import power_study

def slow(rng, n):
    time.sleep({pause})
    return rng.normal(size=(n, 2)), rng.normal(size=(n, 2)) + 0.7

if __name__ == "__main__":
    result = power_study(slow, ["kme", "skmse"], [6, 9], alphas=(0.05, 0.1), n_trials={trials}, n_resamples=39,
                         store=sys.argv[1], workers={workers}, rng=0)
    sys.stdout.write(result.to_csv())
"""


def started(script, *arguments):
    """A Python process in a session of its own."""
    return subprocess.Popen(
        [sys.executable, script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def killed(process, path, signal_number, pause):
    """Kill the process once it has stored something; then what it started, as a machine would that goes down."""
    end = time.monotonic() + 120
    while not (path.exists() and path.stat().st_size and count(path)):
        assert process.poll() is None, process.stderr.read().decode()
        assert time.monotonic() < end
        time.sleep(0.02)
    time.sleep(pause)
    process.send_signal(signal_number)
    code = process.wait(60)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.stdout.close()
    process.stderr.close()
    return code


@pytest.mark.ci
def test_a_study_killed_twice_ends_with_the_same_bytes(tmp_path, path):
    slow, fast = tmp_path / "slow.py", tmp_path / "fast.py"
    slow.write_text(SLOW.format(pause=0.02, trials=40, workers=2))
    fast.write_text(SLOW.format(pause=0, trials=40, workers=1))
    moments, stored = random.Random(1), [0]
    for _ in range(2):
        assert (
            killed(started(slow, path), path, signal.SIGKILL, moments.uniform(0.0, 0.5))
            == -signal.SIGKILL
        )
        stored.append(count(path))
    assert 0 < stored[1] <= stored[2] < 40 * 8
    ends = []
    for store in (path, tmp_path / "other.sqlite"):
        process = started(fast, store)
        ends.append(process.communicate(timeout=120)[0])
        assert process.returncode == 0
    assert ends[0] == ends[1] and len(ends[0].splitlines()) == 1 + 16
    everything = "SELECT n, is_null, trial, estimator, pvalue FROM trials"
    assert query(path, everything) == query(tmp_path / "other.sqlite", everything)


def test_errors_and_ctrl_c_keep_what_is_done(path, tmp_path):
    for error in (RuntimeError, KeyboardInterrupt):
        calls, store = [], tmp_path / error.__name__

        def fails_late(rng, n, calls=calls, error=error):
            calls.append(n)
            if len(calls) > 8:
                raise error
            return rng.normal(size=n), rng.normal(size=n)

        with pytest.raises(error):
            run(store, fails_late)
        assert count(store) == 8 - 3


@pytest.mark.parametrize(
    ("extension", "new"),
    [
        ({}, 0),
        ({"n_trials": 9}, 3 * 2),
        ({"sizes": [6, 8]}, 6 * 2),
        ({"estimators": {"kme": "kme", "mine": FKMSE(lam_cov=1.0)}}, 6 * 2),
        ({"alphas": [0.1, 0.2], "with_null": False}, 0),
    ],
)
def test_nothing_is_done_twice_and_more_of_anything_extends_a_study(path, extension, new):
    counted = Counted()
    assert counted.work(path)[1] == 12
    result, calls = counted.work(path, **extension)
    assert calls == new and result.to_csv() == counted.work(**extension)[0].to_csv()
    assert (
        counted.work(path)[0].to_csv() == counted.work()[0].to_csv()
    )  # without what else is stored


@pytest.mark.parametrize(
    ("arguments", "difference"),
    [
        ({"rng": 4}, "seed: stored 0, got 4"),
        (
            {"design": designs.MeanShift(dimension=2, shift=2.0)},
            r"design: stored MeanShift\(dimension=2\), got Mean",
        ),
        (
            {"test_options": {"kernel": "laplacian"}},
            "kernel: stored the default, got 'laplacian'",
        ),
        ({"estimators": {"kme": SKMSE()}}, r"estimator 'kme': stored KME\(\), got SKMSE\(\)"),
        ({"stopping": "curtailed"}, "stopping: stored the default"),
    ],
)
def test_other_arguments_are_refused_and_shown(arguments, difference, path):
    run(path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=f"study.sqlite is of another study: {difference}"):
        run(path, **{"n_trials": 9, **arguments})
    assert path.read_bytes() == before


def test_stores_tell_data_and_arrays_apart_without_showing_digests(path, tmp_path):
    pilot = [designs.FromData([1.0, 2.0, last], [2.0, 3.0, 5.0]) for last in (4.0, 5.0)]
    run(path, pilot[0])
    blocks = np.arange(1200) % 4
    others = np.r_[
        blocks[:100], np.random.default_rng(0).permutation(blocks[100:1100]), blocks[1100:]
    ]
    wide = {
        "design": designs.MeanShift(dimension=1),
        "sizes": 600,
        "n_trials": 1,
        "with_null": False,
    }
    run(tmp_path / "blocks", estimators={"a": {"blocks": blocks}}, **wide)
    run(tmp_path / "blocks", estimators={"a": {"blocks": blocks.tolist()}}, **wide)
    for call in (
        lambda: run(path, pilot[1]),
        lambda: run(tmp_path / "blocks", estimators={"a": {"blocks": others}}, **wide),
    ):
        with pytest.raises(ValueError, match="has other values; name another store") as raised:
            call()
        assert "sha256" not in str(raised.value)
    run(tmp_path / "numbers", test_options={"bandwidth": 2.0})
    run(tmp_path / "numbers", test_options={"bandwidth": np.float64(2.0)}, rng=np.int32(0))


def someone_elses(path):
    query(path, "CREATE TABLE trials (n, is_null, trial, estimator, pvalue, seconds)")


def from_the_future(path):
    run(path)
    query(path, "PRAGMA user_version = 99")


def cut(path):
    run(path, n_trials=300, with_null=False)
    path.write_bytes(path.read_bytes()[: path.stat().st_size - 5000])


def write_protected(path):
    run(path)
    path.chmod(0o444)


FILES = {
    "text": (
        lambda path: path.write_text("n,power\n20,0.8\n"),
        ValueError,
        "is not the store of a power study",
    ),
    "someone else's": (someone_elses, ValueError, "is not the store of a power study"),
    "future": (from_the_future, ValueError, "another version"),
    "cut": (cut, ValueError, "is damaged"),
    "write-protected": (write_protected, OSError, "cannot be written to"),
    "folder": (Path.mkdir, IsADirectoryError, "study.sqlite"),
}


@pytest.mark.parametrize("case", FILES)
def test_a_file_that_cannot_be_used_is_left_as_it_is(case, path, tmp_path):
    make, kind, message = FILES[case]
    make(path)
    before, files = path.read_bytes() if path.is_file() else b"", sorted(tmp_path.iterdir())
    with pytest.raises(kind, match=message) as caught:
        run(path, n_trials=9)
    assert "study.sqlite" in str(caught.value)
    assert (path.read_bytes() if path.is_file() else b"") == before and sorted(
        tmp_path.iterdir()
    ) == files


def test_a_place_where_no_store_can_be_is_named_before_any_work(tmp_path):
    design = Counted()
    for place in (tmp_path / "nowhere" / "a", tmp_path):
        for study in (power_study, solve_sample_size):
            with pytest.raises(OSError, match=place.name):
                study(design, n_trials=100, store=place, workers=1, progress=False)
    assert design.calls == 0 and not list(tmp_path.iterdir())


@pytest.mark.ci
def test_two_processes_may_write_to_one_store(path, monkeypatch):
    about = {"design": "d", "seed": 1}
    monkeypatch.setattr(
        "shrinktest.power.trials._SECONDS", 1e9
    )  # so that a slow machine commits where the test does
    with Store(path, POWER) as first, Store(path, POWER) as second:
        first.claim({**about, "estimator 'kme'": "KME()"})
        second.claim({**about, "estimator 'kme'": "KME()", "estimator 'skmse'": "SKMSE()"})
        for i in range(5):
            first.add([(8, False, i, "kme", 0.5, 0.1)])
            second.add([(8, False, i, "kme", 0.5, 0.2), (8, False, i, "skmse", 0.25, 0.1)])
            first.commit()
            second.commit()
        assert first.rows() == second.rows() and len(first.rows()) == 10
        assert first.rows()[0] == (8, False, 0, "kme", 0.5, 0.1)  # the first to come stays
    both, settings, new = threading.Barrier(2), Store.settings, path.with_name("new")

    def read_together(store):
        with suppress(threading.BrokenBarrierError):
            both.wait(timeout=0.5)
        return settings(store)

    def start(label):
        with Store(new, POWER) as store:
            store.claim({**about, f"estimator {label!r}": "KME()"})

    monkeypatch.setattr(Store, "settings", read_together)
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(start, ["a", "b"])) == [None, None]
    with Store(new, POWER) as store:
        stored = store.settings()
    assert stored == {
        **about,
        "estimator 'a'": "KME()",
        "estimator 'b'": "KME()",
        "version": shrinktest.__version__,
    }


def shards(folder, *options):
    paths = [folder / f"shard {i}.sqlite" for i in range(len(options))]
    for shard, option in zip(paths, options, strict=True):
        run(shard, **option)
    return paths


def test_merged_shards_are_the_whole_study(tmp_path):
    for i, (whole, *options) in enumerate(
        (
            ({}, {"n_trials": range(3)}, {"n_trials": range(2, 6)}),  # also trials that both did
            ({}, {"n_trials": range(0, 6, 2)}, {"n_trials": range(5, 0, -2)}),
            ({"estimators": ["kme", "skmse"]}, {"estimators": "kme"}, {"estimators": "skmse"}),
            ({"sizes": [6, 8]}, {"sizes": 6}, {"sizes": 8}, {"n_trials": 2, "sizes": [6, 8]}),
        )
    ):
        (folder := tmp_path / str(i)).mkdir()
        sources, path = shards(folder, *options), folder / "all.sqlite"
        before = [source.read_bytes() for source in sources]
        sources[-1].chmod(0o444)
        merge(path, *sources)
        assert [source.read_bytes() for source in sources] == before
        merged = count(path)
        assert run(path, **whole).to_csv() == run(**whole).to_csv() and count(path) == merged
        merge(*sources)  # into one that exists
        assert count(sources[0]) == merged


def test_what_cannot_be_merged_leaves_the_target_alone(path, tmp_path):
    first, reseeded, altered = shards(tmp_path, {}, {"rng": 1}, {})
    query(altered, "UPDATE trials SET pvalue = 0.123 WHERE trial = 2 AND is_null = 0")
    (empty := tmp_path / "empty").touch()
    before = first.read_bytes()
    for sources, error, message in (
        ((), ValueError, "at least one store"),
        ((first, reseeded), ValueError, "seed: stored 0, got 1; nothing was merged"),
        (
            (first, altered),
            ValueError,
            "p-value 0.123, stored .*, for n=8, is_null=0, trial=2.*nothing was merged",
        ),
        ((first, empty), ValueError, "empty"),
        ((first, tmp_path / "missing"), FileNotFoundError, "missing"),
    ):
        with pytest.raises(error, match=message):
            merge(path, *sources)
    with pytest.raises(ValueError, match="nothing was merged"):
        merge(first, reseeded)
    assert not path.exists() and first.read_bytes() == before


@pytest.mark.ci
def test_the_number_and_kind_of_workers_change_nothing():
    tests = {
        "kme": "kme",
        "mine": FKMSE(lam_cov=0.3),
        "closure": lambda X, Y, rng: rng.random(),
        "KS": "ks_2samp",
    }
    options = {"estimators": tests, "sizes": [6, 8], "n_trials": 10}
    results = [run(**options), run(**options, workers=2)]
    with joblib.parallel_config("threading", n_jobs=3):
        results.append(run(**options, workers=None))
    first, *others = [result.pvalues.drop(columns="seconds") for result in results]
    assert all(first.equals(other) for other in others) and len(set(first["pvalue"])) > 10
