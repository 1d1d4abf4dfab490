"""The store of a power study: killed and resumed, extended, merged; and files that must be left alone."""

from __future__ import annotations

import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest

import shrinktest
from shrinktest import FKMSE, SKMSE
from shrinktest.power import designs, merge, power_study, solve_sample_size
from shrinktest.power.store import Store

SHIFT = designs.MeanShift(dimension=2, shift=1.0)
ROOT = Path(shrinktest.__file__).parents[1]


def run(store=None, design=SHIFT, estimators="kme", sizes=8, **options):
    """A study of a moment."""
    return power_study(
        design,
        estimators,
        sizes,
        store=store,
        **{"alphas": 0.1, "n_trials": 6, "n_resamples": 19, "workers": 1, "progress": False, **options},
    )


def query(path, statement, *parameters):
    """What a program of its own would do with the file."""
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(statement, parameters).fetchall()


def count(path):
    return query(path, "SELECT count(*) FROM trials")[0][0]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.sqlite"


class Counted:
    """A design function that counts the data sets it made, less those of the rehearsals."""

    def __init__(self):
        self.calls = 0

    def __call__(self, rng, n):
        self.calls += 1
        return rng.normal(size=n), rng.normal(size=n)

    def __repr__(self):
        return "counted"

    def work(self, *arguments, **options):
        before = self.calls
        result = run(*arguments, design=self, **options)
        with_null = options.get("with_null", True)
        sizes = options.get("sizes", 8)
        return result, self.calls - before - 1 - with_null - (len(sizes) if isinstance(sizes, list) else 1)


# ------------------------------------------------------------------------------------------------ interruptions

SLOW = """
import sys, time
from shrinktest.power import power_study

def slow(rng, n):
    time.sleep({pause})
    return rng.normal(size=(n, 2)), rng.normal(size=(n, 2)) + 0.7

if __name__ == "__main__":
    result = power_study(slow, ["kme", "skmse"], [6, 9], alphas=(0.05, 0.1), n_trials={trials}, n_resamples=39,
                         store=sys.argv[1], workers={workers}, progress=False)
    sys.stdout.write(result.to_csv())
"""


def started(script, *arguments):
    """A Python process of its own, in a session of its own."""
    return subprocess.Popen(
        [sys.executable, script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def wait_for(condition, process, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.stderr.read().decode()
        assert time.monotonic() < end
        time.sleep(0.01)


def killed(process, signal_number):
    """Kill the process alone; then, as a machine would that goes down, what it started."""
    process.send_signal(signal_number)
    code = process.wait(60)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.stdout.close()
    process.stderr.close()
    return code


@pytest.mark.parametrize("workers", [1, 2])
def test_a_study_killed_at_three_random_moments_ends_as_if_it_was_not(workers, tmp_path, path):
    moments = random.Random(workers)
    slow, fast = tmp_path / "slow.py", tmp_path / "fast.py"
    slow.write_text(SLOW.format(pause=0.008 * workers, trials=120, workers=workers))
    fast.write_text(SLOW.format(pause=0, trials=120, workers=1))
    uninterrupted = started(fast, tmp_path / "other.sqlite")
    kept = [0]
    for _ in range(3):
        process = started(slow, path)
        wait_for(lambda: path.exists() and path.stat().st_size > 0, process)
        if kept[-1] == 0:  # at least one kill finds something to lose
            wait_for(lambda: count(path) > 0, process)
        time.sleep(moments.uniform(0.0, 0.8))
        assert killed(process, signal.SIGKILL) == -signal.SIGKILL
        kept.append(count(path))
    assert 0 < kept[1] <= kept[2] <= kept[3] < 120 * 8
    resumed = started(fast, path)
    (end, _), (expected, _) = resumed.communicate(timeout=60), uninterrupted.communicate(timeout=60)
    assert resumed.returncode == uninterrupted.returncode == 0
    assert len(expected.splitlines()) == 1 + 16
    assert end == expected
    everything = "SELECT n, is_null, trial, estimator, pvalue FROM trials"
    assert query(path, everything) == query(tmp_path / "other.sqlite", everything)


def test_ctrl_c_keeps_what_is_done(tmp_path, path):
    script = tmp_path / "slow.py"
    script.write_text(SLOW.format(pause=0.02, trials=5000, workers=1))
    process = started(script, path)
    wait_for(lambda: path.exists() and path.stat().st_size > 0, process)
    time.sleep(2.5)  # some trials, on a slow machine too
    assert killed(process, signal.SIGINT) == -signal.SIGINT
    assert 0 < count(path) < 5000 * 8


def test_what_is_done_is_not_done_again(path):
    counted = Counted()
    first, calls = counted.work(path)
    assert calls == 12
    again, calls = counted.work(path)
    assert calls == 0
    assert again.to_csv() == first.to_csv()


def test_an_error_keeps_what_is_done(path):
    def fails_late(rng, n):
        calls.append(n)
        if len(calls) > 8:
            raise RuntimeError("the licence server is down")
        return rng.normal(size=n), rng.normal(size=n)

    calls = []
    with pytest.raises(RuntimeError, match="licence"):
        run(path, fails_late)
    assert count(path) == 8 - 3


# ------------------------------------------------------------------------------------------------ extensions


@pytest.mark.parametrize(
    ("extension", "new"),
    [
        ({"n_trials": 9}, 3 * 2),
        ({"n_trials": range(4, 8)}, 2 * 2),
        ({"sizes": [6, 8]}, 6 * 2),
        ({"estimators": ["kme", "skmse"]}, 6 * 2),
        ({"estimators": {"kme": "kme", "mine": FKMSE(lam_cov=1.0)}}, 6 * 2),
        ({"alphas": [0.1, 0.2], "interval": "wilson"}, 0),
        ({"with_null": False}, 0),
    ],
)
def test_more_of_anything_extends_a_study(path, extension, new):
    counted = Counted()
    counted.work(path)
    result, calls = counted.work(path, **extension)
    assert calls == new
    assert result.to_csv() == counted.work(**extension)[0].to_csv()
    if "skmse" in result.estimators:  # the rows that were there stay
        assert count(path) == 12 * 2


def test_a_result_holds_what_was_asked_for_and_not_what_else_is_stored(path):
    run(path, estimators=["kme", "skmse"], sizes=[6, 8], n_trials=9)
    assert run(path).to_csv() == run().to_csv()


def test_a_study_without_a_seed_takes_that_of_its_store(path):
    first = run(path, rng=None)
    assert run(path, rng=None).seed == first.seed
    assert run(rng=None).seed != first.seed


# ------------------------------------------------------------------------------------------------ other studies

OTHER = {
    "n_resamples": ({"n_resamples": 29}, "n_resamples: stored 19, asked 29"),
    "seed": ({"rng": 4}, "seed: stored 0, asked 4"),
    "design": (
        {"design": designs.MeanShift(dimension=2, shift=2.0)},
        r"design: stored MeanShift\(dimension=2\), asked MeanShift\(dimension=2, shift=2.0\)",
    ),
    "test": ({"design": designs.Linear()}, "design: .*; test: stored two-sample, asked independence"),
    "kernel": ({"test_options": {"kernel": "laplacian"}}, "kernel: stored the default, asked 'laplacian'"),
    "estimator": ({"estimators": {"kme": SKMSE()}}, r"estimator 'kme': stored KME\(\), asked SKMSE\(\)"),
    "two": ({"rng": 4, "n_resamples": 29}, "n_resamples: stored 19, asked 29; seed: stored 0, asked 4"),
}


@pytest.mark.parametrize("case", OTHER)
def test_other_arguments_are_refused_and_shown(case, path):
    arguments, difference = OTHER[case]
    run(path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=f"study.sqlite is of another study: {difference}; ask for"):
        run(path, **{"n_trials": 9, **arguments})
    assert path.read_bytes() == before


def test_numbers_of_numpy_are_the_same_arguments(path):
    run(path, test_options={"bandwidth": 2.0})
    run(path, test_options={"bandwidth": np.float64(2.0)}, rng=np.int32(0))


def test_another_version_of_the_package_is_a_warning(path):
    run(path)
    query(path, "UPDATE meta SET value = '\"0.0.1\"' WHERE key = 'version'")
    with pytest.warns(UserWarning, match=r"written by shrinktest 0\.0\.1") as caught:
        run(path)
    assert len(caught) == 1


# ------------------------------------------------------------------------------------------------ other files


def text_file(path):
    path.write_text("n,power\n20,0.8\n")


def someone_elses(path):
    query(path, "CREATE TABLE trials (n, is_null, trial, estimator, pvalue, seconds)")


def someone_elses_open(path):
    query(path, "CREATE TABLE t (x)")
    query(path, "PRAGMA journal_mode=WAL")


def of_the_future(path):
    run(path)
    query(path, "PRAGMA user_version = 99")


def cut(path):
    run(path, n_trials=300, with_null=False)
    path.write_bytes(path.read_bytes()[: path.stat().st_size - 5000])


def overwritten(path):
    run(path, n_trials=300, with_null=False)
    content = bytearray(path.read_bytes())
    content[-9000:-1000] = b"\xa5" * 8000
    path.write_bytes(content)


def changed(path, old, new):
    run(path, n_trials=300, with_null=False)
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))


def renumbered(path):
    changed(path, b"\x08\x00\xc8kme", b"\x08\x00\x01kme")  # trial 200 of n = 8 as trial 1, so that it is out of order


def unreadable(path):
    changed(path, b"\x08\x00\xc8kme", b"\x08\x00\xc8\xff\xfe\xfd")


def impossible(path):
    run(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = on")
        connection.execute("UPDATE trials SET pvalue = 2.0 WHERE trial = 3")


def garbled(path):
    run(path)
    query(path, "UPDATE meta SET value = 'MeanShift(' WHERE key = 'design'")


def write_protected(path):
    run(path)
    path.chmod(0o444)


FILES = {
    text_file: (ValueError, "is not the store of a power study"),
    someone_elses: (ValueError, "is not the store of a power study"),
    someone_elses_open: (ValueError, "is not the store of a power study"),
    of_the_future: (ValueError, "newer version"),
    cut: (ValueError, "is damaged"),
    overwritten: (ValueError, "is damaged"),
    renumbered: (ValueError, "is damaged"),
    unreadable: (ValueError, "is damaged"),
    impossible: (ValueError, "is damaged"),
    garbled: (ValueError, "is damaged"),
    write_protected: (PermissionError, "is read-only"),
}


@pytest.mark.parametrize("make", FILES)
def test_a_file_that_cannot_be_used_is_left_as_it_is(make, path, tmp_path):
    make(path)
    before, files = path.read_bytes(), sorted(tmp_path.iterdir())
    kind, message = FILES[make]
    for n_trials in (6, 9):
        with pytest.raises(kind, match=message) as caught:
            run(path, n_trials=n_trials)
        assert "study.sqlite" in str(caught.value)
    assert path.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == files


def test_places_where_no_store_can_be_are_named(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a directory"):
        run(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere for the store; make it first") as caught:
        run(tmp_path / "nowhere" / "study.sqlite")
    assert str(tmp_path / "nowhere") in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("make", [None, text_file, write_protected, Path.mkdir])
@pytest.mark.parametrize("study", [power_study, solve_sample_size])
def test_a_place_where_no_store_can_be_is_named_before_any_work(make, study, path):
    where = path / "study.sqlite" if make is None else path
    if make is not None:
        make(path)
    design = Counted()
    with pytest.raises((OSError, ValueError), match=r"there is no folder|not the store|read-only|is a directory"):
        study(design, n_trials=100, store=where, workers=1, progress=False)
    assert design.calls == 0


def test_a_folder_that_cannot_be_written_to_is_named_before_any_work(path, monkeypatch):
    design = Counted()
    monkeypatch.setattr(os, "access", lambda where, mode: Path(where) != path.parent)
    with pytest.raises(PermissionError, match=r"nothing can be written to its folder, .*; allow it, or name another"):
        run(path, design)
    assert design.calls == 0 and not path.exists()


def test_names_are_taken_literally_and_an_empty_file_will_do(tmp_path):
    odd = tmp_path / "50%?mode=ro#a b.sqlite"
    odd.touch()
    run(str(odd))
    assert list(tmp_path.iterdir()) == [odd]
    assert count(odd) == 12


def test_two_processes_may_write_to_one_store(path):
    about = {"design": "d", "seed": 1}
    with Store(path) as one, Store(path) as two:
        one.claim(about, {"kme": "KME()"})
        two.claim(about, {"kme": "KME()", "skmse": "SKMSE()"})
        for i in range(5):
            one.add([(8, False, i, "kme", 0.5, 0.1)])
            two.add([(8, False, i, "kme", 0.5, 0.2), (8, False, i, "skmse", 0.25, 0.1)])
            one.commit()
            two.commit()
        assert one.rows() == two.rows()
        assert [row[:5] for row in one.rows()[:2]] == [(8, False, 0, "kme", 0.5), (8, False, 0, "skmse", 0.25)]
        assert len(one.rows()) == 10
        assert one.rows()[0][5] == 0.1  # the first to come stays


def test_two_that_start_together_on_a_new_store_both_go_on(path, monkeypatch):
    """Each finds the store new before the other has claimed it, if nothing keeps them apart."""
    both, arguments = threading.Barrier(2), Store.arguments

    def read_together(store):
        found = arguments(store)
        with suppress(threading.BrokenBarrierError):
            both.wait(timeout=0.5)
        return found

    def start(label):
        with Store(path) as store:
            store.claim({"design": "d", "seed": 1}, {label: "KME()"})

    monkeypatch.setattr(Store, "arguments", read_together)
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(start, ["a", "b"])) == [None, None]
    with Store(path) as store:
        assert store.estimators() == {"a": "KME()", "b": "KME()"}


# ------------------------------------------------------------------------------------------------ merging


def shards(folder, *options):
    paths = [folder / f"shard {i}.sqlite" for i in range(len(options))]
    for shard, option in zip(paths, options, strict=True):
        run(shard, **option)
    return paths


@pytest.mark.parametrize(
    "options",
    [
        ({"n_trials": range(3)}, {"n_trials": range(3, 6)}),
        ({"n_trials": range(0, 6, 2)}, {"n_trials": range(5, 0, -2)}),
        ({"n_trials": range(4)}, {"n_trials": range(2, 6)}),  # trials that both did
        ({"estimators": "kme"}, {"estimators": "skmse"}),
        ({"sizes": 6}, {"sizes": 8}, {"n_trials": 2, "sizes": [6, 8]}),
    ],
)
def test_merged_shards_are_the_whole_study(options, path, tmp_path):
    sources = shards(tmp_path, *options)
    before = [source.read_bytes() for source in sources]
    merge(path, *sources)
    assert [source.read_bytes() for source in sources] == before
    whole = {
        "estimators": ["kme", "skmse"] if "estimators" in options[0] else "kme",
        "sizes": [6, 8] if "sizes" in options[0] else 8,
    }
    merged = count(path)
    assert run(path, **whole).to_csv() == run(**whole).to_csv()
    assert count(path) == merged  # nothing was left to do


def test_shards_can_join_a_store_that_exists(path, tmp_path):
    one, two, three = shards(tmp_path, *({"n_trials": range(2 * i, 2 * i + 2)} for i in range(3)))
    three.chmod(0o444)
    merge(one, two, str(three))
    assert count(one) == 12
    assert run(one).to_csv() == run().to_csv()


@pytest.mark.parametrize("foreign", [0, 1])
def test_merged_rows_of_another_version_are_still_warned_of(foreign, path, tmp_path):
    sources = shards(tmp_path, {"n_trials": range(3)}, {"n_trials": range(3, 6)})
    query(sources[foreign], "UPDATE meta SET value = '\"0.0.1\"' WHERE key = 'version'")
    said = rf"written by shrinktest 0\.0\.1 and {re.escape(shrinktest.__version__)}, and this is"
    with pytest.warns(UserWarning, match=r"written by shrinktest 0\.0\.1, and this is") as caught:
        merge(path, *sources)
    assert len(caught) == 1
    with pytest.warns(UserWarning, match=said):
        assert run(path).to_csv() == run().to_csv()
    with pytest.warns(UserWarning, match="written by"):
        merge(*sources)  # into one that exists
    with pytest.warns(UserWarning, match=said) as caught:
        run(sources[0])
    assert len(caught) == 1
    with pytest.warns(UserWarning, match=said) as caught:
        merge(tmp_path / "again.sqlite", path)
    assert len(caught) == 1
    with pytest.warns(UserWarning, match=said):
        run(tmp_path / "again.sqlite")


def test_a_study_that_goes_on_with_another_version_is_of_both(path):
    run(path, n_trials=3)
    query(path, "UPDATE meta SET value = '\"0.0.1\"' WHERE key = 'version'")
    with pytest.warns(UserWarning, match=r"written by shrinktest 0\.0\.1, and this is"):
        run(path, n_trials=3)  # finds everything, and adds nothing
    for _ in range(2):
        with pytest.warns(UserWarning, match="written by") as caught:
            run(path, n_trials=6)
    assert f"written by shrinktest 0.0.1 and {shrinktest.__version__}, and this is" in str(caught[0].message)


def test_a_shard_that_was_killed_can_be_merged(path, tmp_path):
    (source,) = shards(tmp_path, {})
    other = source.read_bytes()
    with closing(sqlite3.connect(source)) as connection:
        connection.execute("PRAGMA cache_size = 1")  # so that the file itself changes before the commit
        connection.execute("BEGIN")
        filler = [(9, 0, i, "kme", 0.5, 0.1) for i in range(5000)]
        connection.executemany("INSERT INTO trials VALUES (?, ?, ?, ?, ?, ?)", filler)
        journal = source.with_name(source.name + "-journal")
        broken, undo = source.read_bytes(), journal.read_bytes()
    assert broken != other
    source.write_bytes(broken)
    journal.write_bytes(undo)
    merge(path, source)
    assert count(path) == 12
    assert run(path).to_csv() == run().to_csv()


def test_shards_of_different_studies_are_not_merged(path, tmp_path):
    one, two = shards(tmp_path, {}, {"rng": 1})
    with pytest.raises(ValueError, match=r"seed: .*shard 0.sqlite 0, .*shard 1.sqlite 1; nothing was merged"):
        merge(path, one, two)
    before = one.read_bytes()
    with pytest.raises(ValueError, match="nothing was merged"):
        merge(one, two)
    assert one.read_bytes() == before
    assert not path.exists()


def test_shards_that_disagree_are_not_merged(path, tmp_path):
    one, two = shards(tmp_path, {}, {})
    query(two, "UPDATE trials SET pvalue = 0.123 WHERE trial = 2 AND is_null = 0")
    with pytest.raises(ValueError, match=r"p-value 0.123 for kme, n=8, null=False, trial=2.*nothing was merged"):
        merge(path, one, two)
    assert not path.exists()


def test_merging_needs_stores(path, tmp_path):
    (one,) = shards(tmp_path, {})
    empty, text = tmp_path / "empty", tmp_path / "text"
    empty.touch()
    text.write_text("text")
    with pytest.raises(ValueError, match="at least one store"):
        merge(path)
    with pytest.raises(TypeError, match="target must be a path"):
        merge(5, one)
    with pytest.raises(TypeError, match="every store to join must be a path"):
        merge(path, one, True)
    with pytest.raises(FileNotFoundError, match="no such store"):
        merge(path, one, tmp_path / "missing")
    with pytest.raises(ValueError, match="empty is empty"):
        merge(path, one, empty)
    with pytest.raises(ValueError, match="not the store"):
        merge(path, one, text)
    assert not path.exists()
