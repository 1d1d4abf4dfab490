"""Threads, processes, interrupts and machine code on disk: the answer never depends on who computes it."""

from __future__ import annotations

import gc
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest
import scipy.linalg  # noqa: F401  # before threads are set, for those of its own library
from threadpoolctl import threadpool_info, threadpool_limits

import shrinktest
from shrinktest import (
    FKMSE,
    MKME,
    MMKME,
    Gaussian,
    Kernel,
    Laplacian,
    _jit,
    independence_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest._parallel import parallel_for, single_blas_thread
from shrinktest.estimators import ESTIMATORS
from shrinktest.kernels import distance_kernel

TIMEOUT = 120  # seconds; a pool that hangs must not hang the tests
ENVIRONMENT = dict(os.environ)  # as it was before any test ran here
X, Y = (
    np.random.default_rng(0).normal(size=(12, 3)),
    np.random.default_rng(1).normal(0.5, size=(9, 3)),
)


def likeness(gram):
    """A user's estimator, in Python."""
    return gram.mean(axis=1) / len(gram)


CASES = [
    *(
        (two_sample_test, X, Y, name)
        for name in (*ESTIMATORS, MKME(tuning="sample"), MMKME(tuning="joint"))
    ),
    *((independence_test, X[:, :1], X[:, 1:], name) for name in ESTIMATORS),
    (two_sample_test, X, Y, likeness),
    (two_sample_test, X[:9], Y, FKMSE(lam_cov=0.2)),
]


def answer(case, workers, n_resamples=70):
    """Everything that a test computes."""
    test, x, y, estimator = case
    result = test(x, y, estimator=estimator, n_resamples=n_resamples, rng=0, workers=workers)
    return [np.array([result.pvalue]), np.array([result.statistic]), result.null_distribution] + [
        e.weights for e in result.estimates
    ]


def same(actual, expected):
    """To the last bit."""
    return all(np.array_equal(a, b) for a, b in zip(actual, expected, strict=True))


def python(code):
    """Run a program, which must succeed in time, and return its standard output."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        env=ENVIRONMENT,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.ci
def test_any_number_of_workers_gives_the_same_bits():
    for case in CASES:
        expected = answer(case, workers=1)
        for workers in (7, 2):
            assert same(answer(case, workers), expected), case[3]


@pytest.mark.ci
def test_four_threads_at_once_get_the_answers_of_one():
    expected = [answer(case, workers=1) for case in CASES]
    assert len({result[2].tobytes() for result in expected}) == len(CASES)
    together = threading.Barrier(4)

    def work(thread):
        order = np.roll(np.arange(len(CASES)), 3 * thread)  # every thread at another estimator
        together.wait(TIMEOUT)
        results = {k: answer(CASES[k], workers=1 + thread % 3) for k in order}
        return [
            CASES[k][0].__name__ + f" {CASES[k][3]}"
            for k in order
            if not same(results[k], expected[k])
        ]

    with ThreadPoolExecutor(4) as pool:
        assert [differ for differ in pool.map(work, range(4), timeout=TIMEOUT) if differ] == []


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


class Watched(Kernel):
    """A kernel that sees how many threads linear algebra has."""

    def __init__(self):
        self.seen = set()

    def evaluate(self, X, Y):
        if len(X) > 32:  # not while the kernel is tried at some rows, before the test
            self.seen.update(blas_threads())
        return X @ Y.T


@pytest.mark.parametrize(
    ("observations", "held"), [(78, False), (80, True), (2000, True), (2002, False)]
)
def test_matrices_of_few_observations_are_for_one_thread(observations, held):
    x, half = np.random.default_rng(0).normal(size=(observations, 1)), observations // 2
    with threadpool_limits(3, user_api="blas"):
        for test in (
            lambda kernel: two_sample_test(
                x[:half], x[half:], kernel=kernel, n_resamples=19, rng=0
            ),
            lambda kernel: independence_test(x, x**2, kernel_x=kernel, n_resamples=19, rng=0),
            lambda kernel: two_sample_test_columns(
                x[:half], x[half:], kernel=kernel, n_resamples=19, rng=0
            ),
        ):
            kernel = Watched()
            test(kernel)
            assert kernel.seen == {1 if held else 3} and set(blas_threads()) == {3}
        with pytest.raises(ZeroDivisionError), single_blas_thread(100):
            raise ZeroDivisionError
        assert set(blas_threads()) == {3}  # after an error, too


@pytest.mark.ci
def test_thread_settings_of_others_stay_as_they_are():
    shown = python(
        """
        import os
        import numba
        import numpy as np
        import scipy.linalg
        from threadpoolctl import threadpool_info
        from shrinktest import independence_test, two_sample_test
        from shrinktest.estimators import ESTIMATORS

        def settings():
            blas = sorted((pool["filepath"], pool["num_threads"]) for pool in threadpool_info())
            own = numba.config.NUMBA_NUM_THREADS, numba.config.THREADING_LAYER
            return blas, own, dict(os.environ), np.geterr()

        before = settings()
        x, more = (np.random.default_rng(0).normal(size=(n, 2)) for n in (8, 100))
        for name in ESTIMATORS:
            two_sample_test(x, x + 1.0, estimator=name, n_resamples=19, rng=0, workers=3)
            independence_test(x, x**2, estimator=name, n_resamples=19, rng=0, workers=3)
        two_sample_test(more[:60], more[60:], kernel="whitened", n_resamples=19, rng=0, workers=3)
        independence_test(more[:, 0], more[:, 1], given=more[:, 0] ** 2, n_resamples=19, rng=0, workers=3)
        assert len(before[0]) > 0
        print(settings() == before)
        try:
            print(numba.threading_layer())
        except ValueError:
            print("none")  # no thread pool of numba's was ever started
        """
    )
    assert shown.split() == ["True", "none"]


POOL = """
import multiprocessing
import sys
import threading

from shrinktest import independence_test, two_sample_test

X, Y = [0.1, 0.5, 0.2, 0.9, 0.4, 0.3, 0.7, 0.8, 1.5], [1.1, 0.6, 1.2, 1.9, 0.8, 1.4, 1.3, 2.0, 0.0]


def both(estimator):
    options = dict(estimator=estimator, n_resamples=99, rng=0, workers=2)
    return [tuple(test(X, Y, **options)) for test in (two_sample_test, independence_test)]


if __name__ == "__main__":
    names = ["kme", "fkmse", "landweber", "mmkme"]
    expected = [both(name) for name in names]
    assert threading.active_count() == 1
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        assert pool.map_async(both, names).get(100) == expected
    assert both("kme") == expected[0]
    print("same")
"""


@pytest.mark.ci
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pool_after_a_test_has_run_in_the_parent(method, tmp_path):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} on this system")
    script = tmp_path / "pool.py"
    script.write_text(POOL)
    package = os.path.dirname(os.path.dirname(sys.modules["shrinktest"].__file__))
    done = subprocess.run(
        [sys.executable, script, method],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        env={**ENVIRONMENT, "PYTHONPATH": package},
    )
    assert (done.returncode, done.stdout) == (0, "same\n"), done.stderr


INTERRUPTED = """
import signal, threading, time
import numpy as np
from shrinktest import MMKME, independence_test, two_sample_test
from shrinktest.permutations import draw_loops  # which long tests import: an interrupt of an import is another story
from shrinktest.permutations.null import null_distribution
from shrinktest.permutations.base import Draws
from shrinktest.permutations.schemes import Labels

signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent may have ignored it
x = np.random.default_rng(0).normal(size=(40, 3))

def slow(labels):  # a compiled loop that nobody can stop, 0.3 s per relabeling
    time.sleep(0.3 * len(labels))
    return np.zeros((len(labels), 2))

def run(n_resamples):
    {call}

run(2)
print("ready", flush=True)
try:
    run(10_000_000)
except KeyboardInterrupt:
    print("interrupted", threading.active_count(), flush=True)
"""
CALLS = {
    "two-sample, fkmse": "two_sample_test(x, x, estimator='fkmse', n_resamples=n_resamples, alpha=0.5)",
    "slow relabelings": "null_distribution(slow, "
    "Draws.of(Labels((40, 40)), n_resamples, np.random.default_rng(0)), workers=2)",
}


@pytest.mark.ci
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for a child process on Windows")
@pytest.mark.parametrize("call", CALLS)
def test_interrupt_ends_a_long_test_at_once(call):
    """The run would take from minutes to weeks."""
    code = INTERRUPTED.format(call=CALLS[call])
    program = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    timer = threading.Timer(30.0, program.kill)
    try:
        assert program.stdout.readline() == "ready\n"
        time.sleep(0.7)
        timer.start()
        program.send_signal(signal.SIGINT)
        assert program.stdout.readline() == "interrupted 1\n", "it went on until it was killed"
        assert program.wait(TIMEOUT) == 0
    finally:
        timer.cancel()
        program.kill()
        program.stdout.close()
        program.wait()


def test_threads_share_the_rows_of_a_gram_matrix(monkeypatch):
    """Every entry below the diagonal is that of the rows against all others, and those above are its mirror image."""
    for n, fewest in ((1, 1), (2, 1), (7, 3), (64, 64), (130, 64), (131, 9)):
        X = np.random.default_rng(n).normal(size=(n, 2))
        for kernel in (Gaussian(0.7), Laplacian([0.5, 2.0]), 3.0 * Gaussian([0.5, 2.0])):
            full = kernel(X, X.copy())
            for block, worth in ((1, np.inf), (1, -1.0), (2**20, -1.0)):
                monkeypatch.setattr(distance_kernel, "_BLOCK", block)
                monkeypatch.setattr(distance_kernel, "_FEWEST", fewest)
                monkeypatch.setattr(distance_kernel, "_WORTH_THREADS", worth)
                for workers in (1, 2, 5):
                    gram = kernel.gram_matrix(X, workers)
                    np.testing.assert_array_equal(gram, gram.T)
                    np.testing.assert_array_equal(np.tril(gram), np.tril(full))
                    np.testing.assert_array_equal(gram, kernel(X))


def test_a_failing_part_is_reported_by_every_number_of_threads():
    def work(part):
        done.append(part)
        if part == 3:
            raise ValueError("part 3")

    for workers in (1, 2, 4):
        done = []
        with pytest.raises(ValueError, match="part 3"):
            parallel_for(work, range(5), workers)
        assert 3 in done
        for parts in (range(3), range(1), range(0)):
            done = []
            parallel_for(work, parts, workers)
            assert sorted(done) == list(parts)


compiled = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled here")
PROGRAM = """
from shrinktest import _jit
_jit.PATIENCE = 0.01
import numpy as np
from shrinktest.estimators.noise_loops import exponentials as loop
loop(-np.ones(3))
print(sum(loop.stats.cache_hits.values()), sum(loop.stats.cache_misses.values()))
"""


def run(folder, cache, code=PROGRAM):
    where = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=where,
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(cache).anchor,
    )
    return done.stdout.strip(), done.stderr


@pytest.mark.ci
@compiled
def test_machine_code_is_found_by_other_environments_and_not_after_a_change(tmp_path):
    answers = []
    for name in ("one", "two", "changed"):
        shutil.copytree(Path(shrinktest.__file__).parent, tmp_path / name / "shrinktest")
        if name == "changed":
            with open(
                tmp_path / name / "shrinktest" / "permutations" / "draw_loops.py", "a"
            ) as file:
                file.write("# changed\n")
        answers.append(run(tmp_path / name, tmp_path / "cache"))
    line = _jit._Waiting.message
    assert answers == [("0 1", line), ("1 0", ""), ("0 1", line)]


def test_nothing_need_be_written(tmp_path):
    (tmp_path / "file").touch()
    code = "import shrinktest; print(shrinktest.two_sample_test([0, 1, 2.5], [4, 5, 7], estimator='mkme').pvalue)"
    assert run(Path(shrinktest.__file__).parents[1], tmp_path / "file" / "folder", code)[0] == "0.1"


def test_the_user_is_told_once_while_waiting(monkeypatch, capsys):
    monkeypatch.setattr(_jit, "PATIENCE", 0.02)
    waiting, ours = _jit._Waiting(), SimpleNamespace(data={})
    for message in (_jit._Waiting.message, ""):
        waiting.on_start(ours)
        waiting.on_start(ours)  # a function that it calls
        waiting.on_end(ours)
        assert not gc.isenabled()
        time.sleep(0.3)
        waiting.on_end(ours)
        assert gc.isenabled() and capsys.readouterr().err == message
