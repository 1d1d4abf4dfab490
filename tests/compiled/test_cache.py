"""Compiled loops on disk: current after any change, found from everywhere, and not needed where nothing is written."""

import gc
import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numba
import pytest

import shrinktest
from shrinktest._compiled import deletion, jit, sums, tridiagonal

LINE = "shrinktest: compiling for this machine, once; this takes some seconds"

compiled = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled here")


@compiled
def test_machine_code_is_as_new_as_every_compiled_file(monkeypatch, tmp_path):
    for loop in (sums.split_sums, deletion.tabulate, tridiagonal.tridiagonalize):
        assert loop._cache._cache_file._source_stamp == jit._STAMP
        assert jit._STAMP[:16] in loop._cache.cache_path
    monkeypatch.setattr(jit, "__file__", str(tmp_path / "jit.py"))
    assert jit._stamp() == ""
    stamps = set()
    for name, text in (("a", "x"), ("b", "y"), ("a", "xx"), ("a", "zz")):
        (tmp_path / f"{name}.py").write_text(text)
        stamps.add(jit._stamp())
    assert len(stamps) == 4
    (tmp_path / "a.py").write_text("xx")
    os.utime(tmp_path / "a.py", (0, 0))
    assert jit._stamp() in stamps, "the same text, at another time"


PROGRAM = """
import sys
from shrinktest._compiled import jit
jit.PATIENCE = 0.01
import numpy as np
from shrinktest._compiled.draws import mixed, population
mixed(np.uint64(3)), population(np.uint64(3))
print(sum(mixed.stats.cache_hits.values()), sum(mixed.stats.cache_misses.values()))
"""


@compiled
def test_machine_code_is_found_by_other_environments(tmp_path):
    package, answers = Path(shrinktest.__file__).parent, []
    for name in ("one", "two"):
        shutil.copytree(package, tmp_path / name / "shrinktest", ignore=shutil.ignore_patterns("__pycache__"))
        os.utime(tmp_path / name / "shrinktest" / "_compiled" / "draws.py", (1e9, 1e9 + len(answers)))
        where = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path / name)}
        done = subprocess.run([sys.executable, "-c", PROGRAM], env=where, capture_output=True, text=True, check=True)
        answers.append((done.stdout.strip(), done.stderr.splitlines()))
    assert answers == [("0 1", [LINE]), ("1 0", [])]


STATISTICS = """
import sys
import numpy as np
from shrinktest import two_sample_test
X, Y = np.random.default_rng(0).normal(size=(2, 12, 2))
for estimator in sys.argv[1:]:
    print(estimator, *(value.hex() for value in two_sample_test(X, Y, estimator=estimator, rng=0).null_distribution))
"""


@compiled
def test_digits_do_not_depend_on_what_is_compiled_or_loaded_first(tmp_path):
    where, found = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}, []
    for order in (["landweber", "tsvd"], ["landweber", "tsvd"], ["tsvd", "landweber"]):
        done = subprocess.run(
            [sys.executable, "-c", STATISTICS, *order], env=where, capture_output=True, text=True, check=True
        )
        found.append(sorted(done.stdout.splitlines()))
    assert len(found[0]) == 2 and found[0] == found[1] == found[2]


def test_whoever_waits_is_told_while_waiting(monkeypatch, capsys):
    monkeypatch.setattr(jit, "PATIENCE", 0.02)
    waiting = jit.Waiting()

    def of(module):
        return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=SimpleNamespace(__module__=module))})

    ours = of("shrinktest._compiled.sums")

    waiting.on_start(of("elsewhere"))  # other people's functions
    waiting.on_start(ours)
    assert not gc.isenabled()
    waiting.on_start(ours)  # a function that it calls
    waiting.on_end(ours)
    told = ""
    for _ in range(500):
        time.sleep(0.01)
        told += capsys.readouterr().err
        if told:
            break
    assert told == LINE + "\n"
    waiting.on_end(ours)
    assert gc.isenabled() and waiting.spent > 0.0
    waiting.on_start(ours)
    time.sleep(0.1)
    waiting.on_end(ours)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys, "stderr", None)
    waiting.tell()
    assert capsys.readouterr().out == ""


def test_nothing_need_be_written(tmp_path):
    (tmp_path / "file").touch()
    code = (
        "import shrinktest._compiled.jit, shrinktest; print(shrinktest.two_sample_test([0, 1, 2.5], [4, 5, 7]).pvalue)"
    )
    nowhere = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "file" / "folder")}
    done = subprocess.run([sys.executable, "-c", code], env=nowhere, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "0.1", done.stderr


def double(x):
    return 2 * x


def kept(folder, monkeypatch):
    """Doubling with a cache of its own, which may have been filled: how often it was found there, and the answer."""
    monkeypatch.setattr(jit.config, "CACHE_DIR", str(folder))
    loop = jit.compiled()(double)
    answer = loop(3)
    return sum(loop.stats.cache_hits.values()), answer


@compiled
def test_without_files_of_python_nothing_is_kept(tmp_path):
    package, packed = Path(shrinktest.__file__).parent, tmp_path / "packed.zip"
    with zipfile.ZipFile(packed, "w") as file:
        for path in package.rglob("*.py"):
            file.write(path, path.relative_to(package.parent))
    where = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(packed)}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=where, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert (done.stdout.strip(), done.stderr.splitlines()) == ("0 1", [LINE])
    assert list(tmp_path.rglob("*.nb?")) == []


@compiled
@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize("left", [lambda whole: b"", lambda whole: whole[: len(whole) // 2], lambda whole: bytes(999)])
def test_files_that_were_cut_off_are_compiled_anew(ending, left, monkeypatch, tmp_path):
    assert [kept(tmp_path, monkeypatch) for _ in range(2)] == [(0, 6), (1, 6)]
    for path in tmp_path.rglob(f"*{ending}"):
        path.write_bytes(left(path.read_bytes()))
    assert [kept(tmp_path, monkeypatch) for _ in range(2)] == [(0, 6), (1, 6)]


@compiled
@pytest.mark.parametrize("damaged", [False, True])
def test_a_full_disk_keeps_nothing(damaged, monkeypatch, tmp_path):
    kept(tmp_path, monkeypatch)
    (index,) = tmp_path.rglob("*.nbi")
    index.write_bytes(b"") if damaged else index.unlink()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(jit.caching.IndexDataCacheFile, "_save_index", full)
    monkeypatch.setattr(Path, "unlink", full)
    assert [kept(tmp_path, monkeypatch) for _ in range(2)] == [(0, 6)] * 2
