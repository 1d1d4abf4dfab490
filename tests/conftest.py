"""What all tests share: few threads, and several processes that compile every loop only once between them."""

import gc
import os
import sys
import tempfile
from pathlib import Path

import pytest

# Matrices here are small: threads of the linear algebra library would only wait for one another, for minutes on a
# busy machine. It reads these when numpy is first imported.
for library in ("OPENBLAS", "MKL", "OMP"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

os.environ.setdefault("MPLBACKEND", "Agg")  # pictures that no window shows


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Collect test modules once: they have no doctests."""
    collectors = yield
    return [collector for collector in collectors if type(collector).__name__ != "DoctestModule"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Code of pages and examples of studies are for CI, which is said here because texts cannot be marked."""
    for item in items:
        if isinstance(item, pytest.DoctestItem) and (
            item.path.suffix == ".md" or item.path.parent.name == "power"
        ):
            item.add_marker("ci")


def pytest_collection_finish():
    """What has been collected stays to the end: going through it again and again would take a quarter of the time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def no_pictures_left():
    """matplotlib keeps every picture until it is closed, and warns of many."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(autouse=True, scope="session")
def no_word_of_compiling():
    """Which test waits for the compiler is a matter of chance, and some look at all that is on standard error."""
    from shrinktest import _jit

    _jit.PATIENCE = 1e6


@pytest.fixture(autouse=True)
def compiled_loops(request):
    """Compile loops once for all tests, but for those of the choice: each test by itself would take numpy."""
    from shrinktest._machine_code import always

    if request.path.name == "test_machine_code.py":
        yield
        return
    with always(compiled=True):
        yield


def pytest_xdist_auto_num_workers(config):
    """``-n auto``: one process a core, up to eight, because each imports everything before its first test."""
    from shrinktest._parallel import usable_cores

    return min(usable_cores(), 8) if config.option.numprocesses == "auto" else None


def pytest_configure_node(node):
    """In the process that starts the workers of pytest-xdist: where they keep their locks."""
    if not hasattr(node.config, "locks"):
        node.config.locks = tempfile.TemporaryDirectory()
    node.workerinput["locks"] = node.config.locks.name


def pytest_configure(config):
    """In a worker of pytest-xdist: do not compile what another worker is compiling, but wait for it."""
    if hasattr(config, "workerinput"):
        from numba.core.dispatcher import Dispatcher

        Dispatcher.compile = one_at_a_time(Dispatcher.compile, Path(config.workerinput["locks"]))


def one_at_a_time(compile, folder):
    """numba's method ``compile``, run by one process at a time for every loop of the package.

    It begins with a look at the cache on disk, so who has waited finds machine code there. A loop is compiled with
    those that it calls, and none calls itself: so processes never wait for each other in a circle. Threads of one
    process cannot either, because numba lets them compile one after another.
    """
    try:
        from fcntl import LOCK_EX, flock
    except ImportError:  # on Windows some loops are compiled twice
        return compile
    from numba.core.compiler_lock import global_compiler_lock

    held = set()

    def alone(self, signature):
        name = f"{self.__module__}.{self.__qualname__}"
        with global_compiler_lock:
            if name in held or not name.startswith("shrinktest."):
                return compile(self, signature)
            with open(folder / name, "w") as file:
                flock(file, LOCK_EX)
                held.add(name)
                try:
                    return compile(self, signature)
                finally:
                    held.remove(name)

    return alone
