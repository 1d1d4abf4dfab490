"""Child processes: what a fresh interpreter costs, in time and in memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import shrinktest

HERE = Path(__file__).resolve().parent
#: Where a child finds the modules of the benchmarks and of the examples.
PATH = [str(HERE), str(HERE.parent)]
_PACKAGE = str(Path(shrinktest.__file__).resolve().parent.parent)
_THREADS = [f"{library}_NUM_THREADS" for library in ("OPENBLAS", "MKL", "OMP", "NUMBA")]

#: A small process in between: a child's peak starts at what the process that made it held, and pytest is large.
_BETWEEN = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', sys.argv[1]]))"
#: Last lines of a program that prints the largest memory it ever held, in bytes; macOS counts bytes, Linux kilobytes.
PEAK = """
import resource, sys
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024))
"""


def run(code, *, threads=None, cache=None, between=False):
    """Return the output of the program; with ``threads`` everywhere, and compiled code kept in the folder ``cache``.

    Bytecode is kept beside the sources, as pip does when it installs a package.
    """
    environment = {
        key: value
        for key, value in os.environ.items()
        if key not in (*_THREADS, "PYTHONDONTWRITEBYTECODE")
    }
    if threads is not None:
        environment |= dict.fromkeys(_THREADS, str(threads))
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    environment["PYTHONPATH"] = os.pathsep.join(
        [_PACKAGE, *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    program = ["-S", "-c", _BETWEEN, code] if between else ["-c", code]
    done = subprocess.run(
        [sys.executable, *program], capture_output=True, text=True, env=environment, check=False
    )
    if done.returncode:
        raise RuntimeError(f"a child process failed ({done.returncode}):\n{done.stderr}")
    return done.stdout.strip()


def peak(code, **options):
    """(what the program prints before the last line, its peak memory in GB)."""
    *printed, most = run(code + PEAK, between=True, **options).splitlines()
    return "\n".join(printed), int(most) / 1e9
