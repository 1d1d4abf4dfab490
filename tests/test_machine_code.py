"""Loops in numpy and their compiled twins: the same answers, one rule that chooses, and no compiler before it pays."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numba
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import shrinktest
from shrinktest import _machine_code, two_sample_test
from shrinktest._machine_code import LOOPS, always, compiled_loop, one_run
from shrinktest._parallel import limit_new_blas, single_blas_thread
from shrinktest.cli.warmup import WORKLOADS
from shrinktest.permutations.base import Draws
from shrinktest.permutations.null import _Pace, null_distribution
from shrinktest.permutations.schemes import Labels

NAMES = {name for loops in LOOPS.values() for name in loops}
#: Minima in several variables are found to the root of the rounding of their score, and ties allow for it.
ROUNDED = {"noise of each coordinate": 1e-6}
compiled = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled here")


@compiled
@pytest.mark.parametrize("name", WORKLOADS)
def test_twins_give_the_same_answers(name):
    with always(compiled=False):
        plain = WORKLOADS[name]()
    with always(compiled=True):
        fast = WORKLOADS[name]()
    assert plain.pvalue == fast.pvalue
    if name in ("changes", "monitor"):  # several tests, or none
        assert plain.summary() == fast.summary()
        return
    close = {"rtol": ROUNDED.get(name, 1e-10), "atol": 1e-12}
    np.testing.assert_allclose(plain.statistic, fast.statistic, **close)
    np.testing.assert_allclose(plain.null_distribution, fast.null_distribution, **close)


@compiled
def test_warmup_uses_every_loop(monkeypatch):
    used = set()

    def choose(name, seconds):
        used.add(name)

    monkeypatch.setattr(_machine_code, "_choose", choose)
    for workload in WORKLOADS.values():
        workload()
    assert used == NAMES


def test_rule(monkeypatch):
    monkeypatch.setattr(_machine_code, "_on_disk", lambda name: False)
    monkeypatch.setattr(_machine_code, "_IN_USE", set())
    dear = LOOPS["permutations.draw_loops"]["shuffle"]
    assert (
        compiled_loop("shuffle", 1, 0.9 * dear) is None
    )  # numpy takes less time than the compiler
    assert compiled_loop("shuffle", 2, 0.9 * dear) is not None
    with one_run(1000):  # all permutations count, and the first choice holds for the others
        assert compiled_loop("shuffle", 10, 1e-4 * dear) is None
        assert compiled_loop("shuffle", 10, dear) is None
    with one_run(1000):
        assert compiled_loop("shuffle", 1, 0.002 * dear) is not None
    monkeypatch.setattr(_machine_code, "_on_disk", lambda name: True)
    assert compiled_loop("shuffle", 1, 0.0) is not None
    with always(compiled=False):
        assert compiled_loop("shuffle", 1, 100.0 * dear) is None


FIRST = """
import sys
import numpy as np
import shrinktest as st
from shrinktest.estimators import ESTIMATORS
x, y = np.random.default_rng(0).normal(size=(2, 20, 2))
few = dict(n_resamples=99, rng=0)
for estimator in ESTIMATORS:
    st.two_sample_test(x, y, estimator=estimator, **few)
    st.independence_test(x, y, estimator=estimator, **few)
    if estimator in ("kme", "fkmse"):
        st.joint_independence_test(x[:, :1], x[:, 1:], y, estimator=estimator, **few)
        st.k_sample_test(x, y, x[:9], estimator=estimator, **few)
st.two_sample_test(x, y, estimator="auto", **few)
st.change_point_test(np.vstack([x, y]), **few)
st.change_points(np.vstack([x, y]), **few)
st.symmetry_test(x, **few)
st.independence_test(x, y[:, 0], given=y[:, 1], **few)
assert "numba" not in sys.modules
"""


def fresh(code, folder, **environment):
    where = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(folder),
        "PYTHONPATH": str(Path(shrinktest.__file__).parents[1]),
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=where | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_first_tests_do_not_import_the_compiler(tmp_path):
    fresh(FIRST, tmp_path)


ON_DISK = """
from shrinktest._machine_code import LOOPS, compiled_loop
for loops in LOOPS.values():
    for name in loops:
        assert compiled_loop(name, 1, 0.0) is not None, name
"""


@pytest.mark.slow
@compiled
def test_after_warmup_nothing_is_compiled(tmp_path):
    fresh("from shrinktest.cli.entry import main; main(['warmup'])", tmp_path)
    files = sorted(tmp_path.rglob("*"))
    fresh(ON_DISK, tmp_path)
    fresh(FIRST.replace("assert", "assert not"), tmp_path)
    assert sorted(tmp_path.rglob("*")) == files


LATE = """
from threadpoolctl import threadpool_info
from shrinktest._parallel import limit_new_blas, single_blas_thread
with single_blas_thread(100):
    import scipy.linalg
    limit_new_blas()
    inside = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
after = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
assert len(inside) > 1 and set(inside) == {1}, inside
assert set(after) == {2}, after
"""


def test_blas_that_is_loaded_later_is_limited_too(tmp_path):
    fresh(LATE, tmp_path, OPENBLAS_NUM_THREADS="2")


def test_pieces_see_the_limit_that_holds():
    seen = set()

    def statistic(labels):
        seen.update(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
        return np.zeros((len(labels), 2))

    draws = Draws.of(Labels((5, 5)), 50, np.random.default_rng(0))
    with threadpool_limits(2, user_api="blas"), single_blas_thread(100):
        null_distribution(statistic, draws)
        limit_new_blas()
    assert seen == {1}


def pieces(pace, seconds, number):
    """The rows of so many pieces of a run, ``seconds(rows)`` long."""
    chosen = []
    for piece in range(number):
        chosen.append(pace.rows)
        pace.took(pace.rows, seconds(pace.rows, piece))
    return chosen


def test_pieces_grow_while_they_are_short():
    assert pieces(_Pace(4096), lambda rows, _: 1e-5 * rows, 8) == [
        1,
        8,
        64,
        512,
        4096,
        4096,
        4096,
        4096,
    ]


def test_pieces_grow_while_that_makes_rows_faster():
    assert pieces(_Pace(4096), lambda rows, _: 1.0 + 1e-3 * rows, 7)[-1] == 4096
    slow = pieces(_Pace(4096), lambda rows, _: 0.3 * rows, 20)
    assert max(slow) == 8 and np.mean(slow) < 3.0


def test_no_single_early_measurement_decides():
    def noisy(rows, piece):
        return 5.0 if piece < 3 else 1e-4 * rows

    assert pieces(_Pace(4096), noisy, 30)[-1] >= 64


def test_pieces_do_not_change_the_answer():
    x, y = np.random.default_rng(0).normal(size=(2, 12, 2))

    def slow(labels):
        time.sleep(0.001)
        sums = (labels[:, :, None] * np.vstack([x, y])).sum(axis=(1, 2))
        return np.stack([np.abs(sums), np.ones(len(labels))], axis=1)

    draws = Draws.of(Labels((12, 12)), 200, np.random.default_rng(0))
    expected = null_distribution(
        lambda labels: np.concatenate([slow(labels[i : i + 1]) for i in range(len(labels))]), draws
    )
    for workers in (1, 3):
        assert np.array_equal(
            null_distribution(slow, draws, workers=workers).values, expected.values
        )
    assert (
        two_sample_test(x, y, rng=0, workers=1).pvalue
        == two_sample_test(x, y, rng=0, workers=3).pvalue
    )
