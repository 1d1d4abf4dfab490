"""Compiled loops on disk: current after any change, and not needed where nothing can be written."""

import os
import subprocess
import sys

import numba
import pytest

from shrinktest._compiled import deletion, jit, sums, tridiagonal


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled here")
def test_machine_code_is_as_new_as_every_compiled_file(monkeypatch, tmp_path):
    for loop in (sums.split_sums, deletion.residuals, tridiagonal.tridiagonalize):
        assert loop._cache._cache_file._source_stamp == jit._STAMP
    monkeypatch.setattr(jit, "__file__", str(tmp_path / "jit.py"))
    stamps = set()
    for name, text in (("a", "x"), ("b", "y"), ("a", "xx")):
        (tmp_path / f"{name}.py").write_text(text)
        stamps.add(jit._stamp())
    assert len(stamps) == 3


def test_nothing_need_be_written(tmp_path):
    (tmp_path / "file").touch()
    code = (
        "import shrinktest._compiled.jit, shrinktest; print(shrinktest.two_sample_test([0, 1, 2.5], [4, 5, 7]).pvalue)"
    )
    nowhere = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "file" / "folder")}
    done = subprocess.run([sys.executable, "-c", code], env=nowhere, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "0.1", done.stderr
