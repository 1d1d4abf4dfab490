"""Machine code on disk: as new as every file of loops, found by other environments, and not needed."""

import gc
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numba
import pytest

import shrinktest
from shrinktest import _jit

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
        [sys.executable, "-c", code], env=where, capture_output=True, text=True, check=True, cwd=Path(cache).anchor
    )
    return done.stdout.strip(), done.stderr


@compiled
def test_machine_code_is_found_by_other_environments_and_not_after_a_change(tmp_path):
    answers = []
    for name in ("one", "two", "changed"):
        shutil.copytree(Path(shrinktest.__file__).parent, tmp_path / name / "shrinktest")
        if name == "changed":
            with open(tmp_path / name / "shrinktest" / "permutations" / "draw_loops.py", "a") as file:
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
