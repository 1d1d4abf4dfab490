"""Who reads samples in batches: threads, processes, executors; and what a store keeps of a run that ended early."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from answers import same
from shrinktest import Batches, Gaussian, k_sample_test, two_sample_test, two_sample_test_columns
from shrinktest.batches import store as stores
from shrinktest.batches.crew import Crew
from shrinktest.batches.pieces import Held
from shrinktest.batches.rows import Rows
from shrinktest.batches.survey import Counting
from shrinktest.batches.tasks import tasks_of

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30_001, 3)), RNG.normal(0.02, 1.0, size=(25_000, 3))
FAST = {"gram": "rff", "rank": 20, "rng": 0, "n_resamples": 99}


@pytest.fixture(scope="module")
def expected():
    return two_sample_test(Batches(X, bins=100), Y, scale="sd", workers=1, **FAST)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("files")
    for name, values in (("x", X), ("y", Y)):
        for i, part in enumerate(np.array_split(values, 5)):
            np.save(found / f"{name}{i}.npy", part)
            pd.DataFrame(part, columns=["a", "b", "c"]).to_csv(found / f"{name}{i}.csv", index=False)
            pd.DataFrame(part, columns=["a", "b", "c"]).to_parquet(found / f"{name}{i}.parquet", row_group_size=1700)
    return found


def files(folder, kind, **options):
    return (Batches(str(folder / f"{name}*.{kind}"), bins=100, size=900, **options) for name in "xy")


# --- the same whoever reads ---------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2, 5, None])
@pytest.mark.parametrize("kind", ["npy", "csv", "parquet"])
def test_threads_find_the_same(folder, kind, workers, expected):
    assert same(two_sample_test(*files(folder, kind), scale="sd", workers=workers, **FAST), expected)


@pytest.mark.parametrize("kind", ["npy", "csv", "parquet"])
def test_an_executor_finds_the_same(folder, kind, expected):
    with ThreadPoolExecutor(3) as pool:
        assert same(two_sample_test(*files(folder, kind), scale="sd", workers=pool, **FAST), expected)


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


def test_processes_find_the_same(folder, processes, expected):
    def found(*samples, **options):
        return two_sample_test(*samples, scale="sd", workers=processes, **{**FAST, **options})

    assert same(found(*files(folder, "csv")), expected)  # whose rows must be counted first
    assert same(found(Batches(np.array_split(X, 9), bins=100), Y), expected)
    nystrom = {**FAST, "gram": "nystrom", "scale": "sd"}
    assert same(
        two_sample_test(*files(folder, "parquet"), workers=processes, **nystrom),
        two_sample_test(*files(folder, "npy"), workers=1, **nystrom),
    )
    holes = X.copy()
    holes[[7, 20_000], [0, 1]] = np.nan
    assert same(
        found(Batches(holes, bins=100, size=999), Y, nan_policy="omit"),
        found(Batches(np.delete(X, [7, 20_000], axis=0), bins=100), Y),
    )


class OnlyMap:
    def __init__(self):
        self.calls = 0

    def map(self, function, tasks):
        self.calls += 1
        return [function(task) for task in tasks]


def test_what_has_only_map_reads_too(folder, expected):
    workers = OnlyMap()
    assert same(two_sample_test(*files(folder, "parquet"), scale="sd", workers=workers, **FAST), expected)
    assert workers.calls > 1


class Watched(ThreadPoolExecutor):
    """Notes how many tasks that add up were under way at most: given, and not asked for what was found."""

    now = most = 0

    def submit(self, function, task):
        future = super().submit(function, task)
        if function.args[0].name == "sums":
            self.now += 1
            self.most, given = max(self.now, self.most), future.result
            future.result = lambda: (setattr(self, "now", self.now - 1), given())[1]
        return future


@pytest.mark.parametrize(("fit", "most"), [(4, 4), (6, 6), (1000, 8)])
def test_as_many_tasks_are_under_way_as_fit_into_memory(folder, fit, most, expected):
    bins, width = [n // 551 for n in (len(X), len(Y))], 20  # 551 rows in each of about 100 bins
    memory = 8.0 * width * (sum(bins) + 2 + (fit + 0.5) * (max(bins) + 1))
    with Watched(4) as pool:
        found = two_sample_test(*files(folder, "npy"), scale="sd", workers=pool, max_memory=memory, **FAST)
    assert pool.most == most and same(found, expected)
    one = Crew(7).within(-1.0, 8.0)
    assert one.most == 1.0 and one.size == 7
    with pytest.raises(MemoryError, match=r"99 bins of 20 features take 47.*max_memory=40"):
        two_sample_test(*files(folder, "npy"), workers=1, max_memory=4e4, **FAST)


def test_columns_take_executors_and_stores(folder, tmp_path, processes, monkeypatch):
    def found(**options):
        return two_sample_test_columns(*files(folder, "parquet"), **{**FAST, "rank": 8}, **options)

    def equal(one, other):
        return one.pvalues.tolist() == other.pvalues.tolist() and one.table.equals(other.table)

    expected, path = found(workers=1), tmp_path / "sums.npz"
    assert equal(found(workers=3), expected) and equal(found(workers=processes), expected)
    monkeypatch.setattr(stores, "_EVERY", 0.0)
    with pytest.raises(Interrupted):
        found(workers=Failing(30), store=path)
    counting = Counted()
    assert equal(found(workers=counting, store=path), expected) and 0 < counting.tasks < 30
    before = counting.tasks
    assert equal(found(workers=counting, store=path), expected) and counting.tasks == before
    with pytest.raises(ValueError, match="was begun with other features"):
        two_sample_test_columns(*files(folder, "parquet"), **{**FAST, "rank": 12}, store=path)


def test_several_samples(folder):
    given = {"x": Batches(X, bins=100), "y": Y, "z": X[:9000]}
    with ThreadPoolExecutor(2) as pool:
        assert same(k_sample_test(given, workers=pool, **FAST), k_sample_test(given, workers=1, **FAST))


def test_executors_and_stores_are_for_batches():
    with (
        ThreadPoolExecutor(1) as pool,
        pytest.raises(TypeError, match=r"workers=.* reads batches only; for data in memory"),
    ):
        two_sample_test(X[:9], Y[:9], workers=pool)
    with pytest.raises(ValueError, match="store='a' keeps sums of data in batches"):
        two_sample_test(X[:9], Y[:9], store="a")
    with pytest.raises(ValueError, match="store='a' keeps sums of data in batches"):
        k_sample_test(X[:9], Y[:9], store="a")


@pytest.mark.parametrize("workers", [1, 3])
def test_errors_of_any_worker_are_told(folder, workers):
    holes = X.copy()
    holes[20_007, 2] = np.nan
    with pytest.raises(ValueError, match=r"X has a missing value \(NaN\) in row 20007, column 2"):
        two_sample_test(Batches(holes, size=500), Y, workers=workers, **FAST)
    with pytest.raises(ValueError, match=r"batch 1 .* has 2 columns, and X had 3 before"):
        two_sample_test(Batches([X, X[:, :2]]), Y, workers=workers, **FAST)


def test_empty_pieces_do_no_harm(expected):
    empty = np.empty((0, 3))
    given = Batches([empty, X[:5], empty, empty, X[5:], empty], bins=100)
    assert same(two_sample_test(given, Y, scale="sd", workers=2, **FAST), expected)


# --- numbers in single precision -----------------------------------------------------------------------------


@pytest.mark.parametrize("gram", ["rff", "nystrom"])
def test_single_precision_is_that_of_the_same_numbers(gram):
    x, y = X.astype(np.float32), Y.astype(np.float32)
    options = {**FAST, "gram": gram, "scale": "sd"}
    double = two_sample_test(Batches(x.astype(np.float64)), y.astype(np.float64), **options)
    assert same(two_sample_test(Batches(x), y, **options), double)


# --- tasks --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [{}, {0: 10}, {3: 10, 4: 10}, {9: 10}, dict.fromkeys(range(10), 10)])
@pytest.mark.parametrize("least", [1, 25, 1000])
def test_tasks_have_all_pieces_that_were_not_read(before, least):
    rows = Rows(Batches([X[10 * i : 10 * i + 10] for i in range(10)]), "X", None, False)
    places = []
    for task in tasks_of(rows, 0, None, before, 1, least):
        assert task.firsts == tuple(10 * (task.place + i) for i in range(len(task.pieces)))
        for i, piece in enumerate(task.pieces, start=task.place):
            assert isinstance(piece, Held) and np.array_equal(piece.values, X[10 * i : 10 * i + 10])
            places.append(i)
    assert places == [i for i in range(10) if i not in before]


class Endless:
    """Batches that somebody counts."""

    def __init__(self):
        self.made = 0

    def __iter__(self):
        while True:
            self.made += 1
            yield X[:100]


@pytest.mark.parametrize("workers", [1, 4])
def test_only_so_many_batches_are_read_ahead(workers):
    endless = Endless()
    reading = Counting()
    object.__setattr__(reading, "least", 1)
    found = Crew(workers).read([Rows(Batches(endless), "X", None, False)], reading)
    for _ in range(10):
        next(found)
    found.close()
    assert endless.made <= 10 + 2 * workers


# --- interrupted, killed, and started again -----------------------------------------------------------------


class Interrupted(Exception):
    pass


class Failing:
    """An executor that breaks after so many tasks."""

    def __init__(self, tasks):
        self.left = tasks

    def map(self, function, tasks):
        for task in tasks:
            if self.left == 0:
                raise Interrupted
            self.left -= 1
            yield function(task)


@pytest.mark.parametrize("kind", ["npy", "csv", "parquet"])
@pytest.mark.parametrize("tasks", [3, 12, 20])
def test_a_run_that_broke_goes_on(folder, tmp_path, monkeypatch, kind, tasks, expected):
    monkeypatch.setattr(stores, "_EVERY", 0.0)
    path = tmp_path / "sums.npz"
    with pytest.raises(Interrupted):
        two_sample_test(*files(folder, kind), scale="sd", workers=Failing(tasks), store=path, **FAST)
    assert path.exists() and [one.name for one in tmp_path.iterdir()] == ["sums.npz"]
    counting = Counted()
    assert same(two_sample_test(*files(folder, kind), scale="sd", workers=counting, store=path, **FAST), expected)
    first = counting.tasks
    assert same(two_sample_test(*files(folder, kind), scale="sd", workers=counting, store=path, **FAST), expected)
    again = counting.tasks - first
    assert first > 0 and again == 0
    assert same(two_sample_test(*files(folder, kind), scale="sd", workers=2, store=path, **FAST), expected)


class Counted(OnlyMap):
    tasks = 0

    def map(self, function, tasks):
        self.tasks += len(tasks)
        return super().map(function, tasks)


def test_a_store_is_of_one_test(folder, tmp_path):
    path, given = tmp_path / "sums.npz", {**FAST, "store": tmp_path / "sums.npz"}
    two_sample_test(*files(folder, "npy"), **given)
    with pytest.raises(ValueError, match=r"was begun with other random numbers \(rng=\); remove the file"):
        two_sample_test(*files(folder, "npy"), **{**given, "rng": 1})
    with pytest.raises(ValueError, match="was begun with other features"):
        two_sample_test(*files(folder, "npy"), **{**given, "rank": 40})
    with pytest.raises(ValueError, match="was begun with other features"):
        two_sample_test(*files(folder, "npy"), bandwidth=2.0, **given)
    with pytest.raises(ValueError, match="was begun with other data"):
        two_sample_test(Batches(X[::-1], bins=100), Y, **given)
    with pytest.raises(ValueError, match="was begun with other data"):  # cut in another way
        two_sample_test(*(Batches(one.data, bins=100, size=500) for one in files(folder, "npy")), **given)
    with pytest.raises(ValueError, match="store= takes a seed"):
        two_sample_test(*files(folder, "npy"), **{**given, "rng": None})
    path.write_bytes(b"something else")
    with pytest.raises(ValueError, match="is no file that keeps the sums"):
        two_sample_test(*files(folder, "npy"), **given)
    one = {"of": {}, "read": [], "arrays": []}
    for readings in ([], {"sums": []}, {"sums": {**one, "of": 1}}, {"sums": {**one, "read": [1]}}, {"sums": {}}, None):
        np.savez(path, about=np.array(json.dumps({"format": 4, "readings": readings})))
        with pytest.raises(ValueError, match="is no file that keeps the sums"):
            two_sample_test(*files(folder, "npy"), **given)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        two_sample_test(*files(folder, "npy"), **{**given, "store": tmp_path / "nowhere" / "a"})


@pytest.mark.parametrize("every", [np.inf, 0.0])
def test_a_full_disk_takes_nothing_from_a_test_that_was_read(every, folder, tmp_path, monkeypatch):
    given = {**FAST, "workers": 1}
    expected = two_sample_test(*files(folder, "npy"), **given)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(stores.np, "savez", full)
    monkeypatch.setattr(stores, "_EVERY", every)
    path = tmp_path / "sums.npz"
    if every:  # it is kept at the end only
        with pytest.warns(UserWarning, match=r"No space left on device.*sums\.npz"):
            assert same(two_sample_test(*files(folder, "npy"), store=path, **given), expected)
    else:
        with pytest.warns(UserWarning), pytest.raises(OSError, match=r"No space left on device.*sums\.npz"):
            two_sample_test(*files(folder, "npy"), store=path, **given)
    assert list(tmp_path.iterdir()) == []


def test_data_that_changed_are_an_error(tmp_path):
    given = {**FAST, "store": tmp_path / "sums.npz"}
    np.save(tmp_path / "x.npy", X)
    two_sample_test(tmp_path / "x.npy", Y, **given)
    changed = X.copy()
    changed[::7] += 1.0
    np.save(tmp_path / "x.npy", changed)
    with pytest.raises(ValueError, match="was begun with other data"):
        two_sample_test(tmp_path / "x.npy", Y, **given)


SCRIPT = """
    import sys, time
    import numpy as np
    from shrinktest import Batches, two_sample_test
    from shrinktest.batches import store

    class Slow:
        def __init__(self, seed):
            self.seed = seed

        def __iter__(self):
            rng = np.random.default_rng(self.seed)
            for _ in range(60):
                time.sleep(float(sys.argv[2]))
                print("batch", file=sys.stderr, flush=True)
                yield rng.normal(size=(1000, 2))

    store._EVERY = 0.0
    x, y = (Batches(Slow(seed), bins=100) for seed in (1, 2))
    path = None if sys.argv[1] == "none" else sys.argv[1]
    print("reading", flush=True)
    result = two_sample_test(x, y, gram="rff", rank=20, bandwidth=1.0, rng=0, n_resamples=99, store=path, workers=2)
    print(result.statistic.hex(), result.pvalue)
"""


def script(*arguments):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), *map(str, arguments)], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_a_run_that_was_killed_goes_on_with_the_same_bits(tmp_path):
    path = tmp_path / "sums.npz"
    killed = script(path, 0.02)
    end = time.monotonic() + 60.0
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.02)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    with np.load(path) as file:
        assert "sums" in str(file["about"])
    assert killed.returncode == -signal.SIGKILL
    results = [script(where, 0.0).communicate()[0] for where in (path, "none")]
    assert results[0] == results[1] and "0x" in results[0]


def test_an_interrupt_ends_it_after_a_few_more_batches():
    running = script("none", 0.2)
    assert running.stdout.readline() == "reading\n"
    assert running.stderr.readline() == "batch\n"
    timer = threading.Timer(90.0, running.kill)
    timer.start()
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate()
    timer.cancel()
    assert "KeyboardInterrupt" in errors
    assert errors.count("batch\n") < 60, "of 120 in each pass over both samples"


POOL = """
    import multiprocessing, sys, time
    from concurrent.futures import ProcessPoolExecutor
    import numpy as np
    from shrinktest import Batches, two_sample_test

    def slowly(function, task):
        print("reading\\n", end="", flush=True)  # in one piece: two processes print
        time.sleep(0.5)
        return function(task)

    class Slow(ProcessPoolExecutor):
        def submit(self, function, task):
            return super().submit(slowly, function, task)

    if __name__ == "__main__":
        x = [np.random.default_rng(i).normal(size=(100, 2)) for i in range(2000)]
        with Slow(2, mp_context=multiprocessing.get_context("spawn")) as pool:
            two_sample_test(Batches(x), Batches(x), gram="rff", rank=20, rng=0, workers=pool)
"""


@pytest.mark.skipif(os.name != "posix", reason="process groups")
@pytest.mark.parametrize("all_of_them", [True, False], ids=["as a terminal does", "one process"])
def test_an_interrupt_ends_a_pool_of_processes(tmp_path, all_of_them):
    (tmp_path / "run.py").write_text(textwrap.dedent(POOL), encoding="utf-8")
    running = subprocess.Popen(
        [sys.executable, tmp_path / "run.py"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    timer = threading.Timer(90.0, os.killpg, (running.pid, signal.SIGKILL))
    timer.start()
    assert running.stdout.readline() == "reading\n"
    (os.killpg if all_of_them else os.kill)(running.pid, signal.SIGINT)
    _, errors = running.communicate()  # its pipes are closed once the last of its processes has ended
    timer.cancel()
    assert running.returncode not in (0, -signal.SIGKILL) and "KeyboardInterrupt" in errors


def test_kernels_are_told_apart():
    one, other = Gaussian(1.0), Gaussian(2.0)
    assert stores.digest(one, X) == stores.digest(Gaussian(1.0), X.copy()) != stores.digest(other, X)
    assert stores.digest([X]) != stores.digest([X[:-1]]) and stores.digest("a", "b") != stores.digest("ab")
