"""Standard streams that are closed or broken, as of services: neither the result nor the exit code suffers from it."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from functools import wraps

import numpy as np
import pytest

import shrinktest
from shrinktest.cli import main

FEW = ["--seed", "0", "--resamples", "19", "--workers", "1"]
FULL = "/dev/full"
FULL_DISK = pytest.mark.skipif(
    not os.path.exists(FULL), reason="the system has no device that is always full"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a.csv, d.csv, which is like it, and b.csv, which differs."""
    rng = np.random.default_rng(0)
    for name, values in (
        ("a", rng.normal(size=20)),
        ("d", rng.normal(size=20)),
        ("b", rng.normal(3.0, size=20)),
    ):
        (tmp_path / f"{name}.csv").write_text("\n".join(["u", *map(str, values)]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def shell(folder):
    """Run shrinktest by the shell, with these redirections: (exit code, standard output, standard error)."""

    def run(line):
        command = f"{shlex.quote(sys.executable)} -m shrinktest {line}"
        environment = {
            name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"
        }
        done = subprocess.run(
            ["bash", "-c", command],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    return run


# --- as processes: the interpreter itself must not fail on its last flush -----------------------------------


@pytest.mark.ci
def test_no_output_is_not_a_rejection(shell):
    assert shell(f"two-sample a.csv d.csv --exit-code {shlex.join(FEW)} >&-") == (0, "", "")


@pytest.mark.ci
@FULL_DISK
def test_errors_that_cannot_be_written_keep_their_code(shell):
    assert shell("two-sample a.csv nope.csv --exit-code 2>/dev/full")[0] == 2
    for printed in ("estimators", "--help"):
        code, _, err = shell(f"{printed} >/dev/full")
        assert (code, err) == (2, "shrinktest: error: output: No space left on device\n")


@pytest.mark.ci
def test_who_reads_the_errors_may_go(shell):
    code, out, _ = shell(
        "two-sample a.csv d.csv --resamples 9 --seed 0 --workers 1 --json 2> >(true)"
    )
    assert code == 0 and json.loads(out)["n_resamples"] == 9


# --- within one process -------------------------------------------------------------------------------------


def test_without_standard_output(folder, monkeypatch, capsys):
    for closed in (None, io.StringIO()):
        if closed is not None:
            closed.close()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", closed)
            assert main(["two-sample", "a.csv", "d.csv", "--exit-code", *FEW]) == 0
            assert main(["two-sample", "a.csv", "b.csv", "--exit-code", *FEW]) == 1
            assert sys.stdout is closed
    assert capsys.readouterr().err == ""


def test_without_standard_error(folder, monkeypatch, capsys):
    """Messages do not go to standard output instead."""
    monkeypatch.setattr(sys, "stderr", None)
    assert (
        main(
            [
                "two-sample",
                "a.csv",
                "d.csv",
                "--resamples",
                "9",
                "--seed",
                "0",
                "--form",
                "biased",
                "--json",
            ]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out)["n_resamples"] == 9
    assert main(["two-sample", "a.csv", "nope.csv"]) == 2
    assert main(["two-sample", "a.csv", "--alpha"]) == 2
    assert (
        main(
            [
                "power",
                "mean-shift",
                "--n",
                "8",
                "--trials",
                "3",
                "--resamples",
                "19",
                "--workers",
                "1",
            ]
        )
        == 0
    )
    assert capsys.readouterr().out.startswith("Power")
    assert sys.stderr is None


@FULL_DISK
def test_a_warning_that_cannot_be_written_costs_no_result(folder, monkeypatch, capsys):
    with open(FULL, "w", buffering=1) as full:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stderr", full)
            assert (
                main(
                    [
                        "two-sample",
                        "a.csv",
                        "d.csv",
                        "--resamples",
                        "9",
                        "--seed",
                        "0",
                        "--progress",
                        "--json",
                    ]
                )
                == 0
            )
        os.dup2(1, full.fileno())  # so that it can be closed
    assert json.loads(capsys.readouterr().out)["n_resamples"] == 9


def test_without_standard_input(folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["two-sample", "-", "b.csv"]) == 2
    assert capsys.readouterr().err == (
        "shrinktest: error: standard input (-) is closed; pass a file, or let something write to it\n"
    )


def test_an_error_of_the_package_is_no_rejection(folder, monkeypatch, capsys):
    @wraps(shrinktest.two_sample_test)
    def broken(*args, **options):
        raise ZeroDivisionError

    monkeypatch.setattr(shrinktest, "two_sample_test", broken)
    assert main(["two-sample", "a.csv", "b.csv", "--exit-code", *FEW]) == 70
    err = capsys.readouterr().err
    assert err.startswith("Traceback") and err.endswith(
        "error: ZeroDivisionError, an internal error of shrinktest; please report it\n"
    )


@pytest.mark.parametrize(
    ("error", "message"), [(MemoryError, "not enough memory"), (ValueError, "ValueError")]
)
def test_an_error_without_a_text_has_one(folder, monkeypatch, capsys, error, message):
    @wraps(shrinktest.two_sample_test)
    def broken(*args, **options):
        raise error

    monkeypatch.setattr(shrinktest, "two_sample_test", broken)
    assert main(["two-sample", "a.csv", "b.csv", *FEW]) == 2
    assert capsys.readouterr().err == f"shrinktest: error: {message}\n"


def test_a_stream_of_ones_own_needs_only_to_be_written_to(folder, monkeypatch):
    class Own:
        def __init__(self):
            self.texts = []

        def write(self, text):
            self.texts.append(text)

        def flush(self):
            pass

    own = Own()
    monkeypatch.setattr(sys, "stdout", own)
    monkeypatch.setattr(sys, "stderr", own)
    assert (
        main(["two-sample", "a.csv", "d.csv", "--resamples", "9", "--seed", "0", "--workers", "1"])
        == 0
    )
    printed = "".join(own.texts)
    assert printed.startswith("shrinktest: warning: ") and "Kernel two-sample test" in printed
    assert (
        main(
            [
                "power",
                "mean-shift",
                "--n",
                "8",
                "--trials",
                "3",
                "--resamples",
                "19",
                "--workers",
                "1",
            ]
        )
        == 0
    )


def test_streams_are_put_back(folder, monkeypatch):
    with (
        io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="strict") as out,
        monkeypatch.context() as patch,
    ):
        patch.setattr(sys, "stdout", out)
        assert main(["two-sample", "a.csv", "d.csv", *FEW]) == 0
        assert sys.stdout is out and out.errors == "strict"
        assert out.buffer.getvalue().strip().startswith(b"Kernel two-sample test")
