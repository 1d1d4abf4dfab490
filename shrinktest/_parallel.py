"""Threads, BLAS thread limit, progress bar of kernels, and cores and memory of the process."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import lru_cache
from numbers import Integral
from pathlib import Path
from threading import Lock
from typing import Any

from shrinktest._check import count

Folder = str | os.PathLike[str]

_BLAS_USERS = ("scipy.linalg", "scipy.special")  # modules that load a BLAS library of their own
_SHORT_PRODUCTS = range(
    80, 2001
)  # observations at which waking BLAS threads costs more than they save
_LIMITING = Lock()
_LIMITS: _BlasLimits | None = None  # of the block that holds the lock
_BARS: ContextVar[list[Any] | None] = ContextVar("bars", default=None)  # at most one bar


def parallel_for(work: Callable[[Any], object], parts: Sequence[Any], workers: int) -> None:
    """Run ``work`` on each part in at most ``workers`` threads; re-raise the first error.

    Thread k of w takes the parts k, k + w, ...: parts that grow or shrink in order are shared about
    equally.
    """
    threads = max(1, min(workers, len(parts)))
    advance = progress_steps(len(parts))

    def run(first: int) -> None:
        for part in parts[first::threads]:
            work(part)
            advance()

    if threads == 1:
        run(0)
        return
    from concurrent.futures import ThreadPoolExecutor

    context = copy_context()  # what holds here holds in the threads
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(lambda first: context.copy().run(run, first), range(threads)):
            pass


@contextmanager
def single_blas_thread(observations: int, decomposed: bool = False) -> Iterator[None]:
    """Limit BLAS to one thread inside the block if the matrices gain nothing from more.

    That depends on the number of observations.

    Waking threads made products of 100 to 1000 observations 1.2 to 4 times slower, and also
    eigenvectors of fewer (``decomposed``).  The limit holds for the whole process: the first block
    sets it and restores it, concurrent blocks share it.
    """
    global _LIMITS
    if decomposed:
        observations = max(observations, _SHORT_PRODUCTS.start)
    if observations not in _SHORT_PRODUCTS or not _LIMITING.acquire(blocking=False):
        yield
        return
    try:
        with ExitStack() as limits:
            _LIMITS = _BlasLimits(limits)
            limit_new_blas()
            yield
    finally:
        _LIMITS = None
        _LIMITING.release()


def limit_new_blas() -> None:
    """Extend the limit that holds to BLAS libraries that were loaded since."""
    limits = _LIMITS
    if limits is not None:
        limits.extend(tuple(module in sys.modules for module in _BLAS_USERS))


class _BlasLimits:
    """The limits of one block; the last is undone first."""

    def __init__(self, stack: ExitStack) -> None:
        self.stack = stack
        self.imported: tuple[bool, ...] = ()
        self.extending = Lock()

    def extend(self, imported: tuple[bool, ...]) -> None:
        if imported == self.imported:
            return
        with self.extending:
            if imported != self.imported:
                self.stack.enter_context(_blas_libraries(imported).limit(limits=1))
                self.imported = imported


@lru_cache(maxsize=1)
def _blas_libraries(imported: tuple[bool, ...]) -> Any:
    """BLAS libraries of the process.

    They are searched again after a module that brings its own has been imported.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


@contextmanager
def kernel_progress(show: bool) -> Iterator[None]:
    """Show a progress bar for kernels computed inside the block, if any takes several steps."""
    if not show or sys.stderr is None:  # a program without a console has no stderr
        yield
        return
    bars: list[Any] = []
    token = _BARS.set(bars)
    try:
        yield
    finally:
        _BARS.reset(token)
        for bar in bars:
            bar.close()


def progress_steps(steps: int) -> Callable[..., object]:
    """Add steps to the progress bar; return the function that advances it by one or several."""
    bars = _BARS.get()
    if bars is None:
        return lambda steps=1: None
    if not bars:
        from tqdm.auto import tqdm

        bars.append(tqdm(total=0, desc="kernels", unit=" blocks"))
    bars[0].total += steps
    bars[0].refresh()
    return bars[0].update  # type: ignore[no-any-return]


# --- cores and memory -----------------------------------------------------------------------------


def n_workers(workers: Any) -> int:
    """Return a number of threads; None and -1 mean every core this process may use."""
    if workers is None or (isinstance(workers, Integral) and workers == -1):
        return usable_cores()
    if hasattr(workers, "submit") or hasattr(workers, "map"):
        raise TypeError(
            f"workers={workers!r} applies to batches only; for data in memory use a number of "
            "threads"
        )
    return count(workers, "workers", minimum=1, maximum=2**16, hint="; None or -1 use all cores")


def usable_cores(cgroup: Folder = "/sys/fs/cgroup") -> int:
    """Number of cores this process may run on, within the CPU quota of a container."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows
        cores = os.cpu_count() or 1
    return max(1, math.ceil(min(cores, _cpu_quota(os.fspath(cgroup)))))


@lru_cache(maxsize=8)  # a small test takes no longer than reading it
def _cpu_quota(cgroup: str) -> float:
    """Number of cores granted by the control group (v2, then v1); inf without a limit."""
    for files in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        with suppress(OSError, ValueError):  # v2 writes "max" for no limit
            quota, period = (
                int(number) for file in files for number in Path(cgroup, file).read_text().split()
            )
            if quota > 0:  # v1 writes -1 for no limit
                return quota / period
    return math.inf


def memory_limit(max_memory: Any) -> float:
    """Bytes that a test may use: as given, or a quarter of the free memory."""
    if max_memory is None:
        return _free_at(int(time.monotonic())) / 4.0
    if (
        isinstance(max_memory, bool)
        or not isinstance(max_memory, int | float)
        or not max_memory > 0
    ):
        raise ValueError(
            f"max_memory must be a positive number of bytes, such as 2e9; got {max_memory!r}"
        )
    return min(float(max_memory), 1e18)


@lru_cache(maxsize=1)
def _free_at(second: int) -> float:
    return free_memory()  # reads several files, which takes longer than a small test


def free_memory(root: Folder = "/") -> float:
    """Bytes that can be allocated now, within the limits of a container and of ``ulimit -v``."""
    limits = [_available_memory(root)]
    with suppress(OSError, ValueError):
        most, used = (
            float(Path(root, f"sys/fs/cgroup/memory.{file}").read_text())
            for file in ("max", "current")
        )
        limits.append(most - used)
    with suppress(
        ImportError, AttributeError, OSError, ValueError
    ):  # Windows has no limits, macOS no such file
        import resource

        addresses = resource.getrlimit(resource.RLIMIT_AS)[0]
        if addresses != resource.RLIM_INFINITY:
            limits.append(
                addresses
                - int(Path(root, "proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            )
    return max(0.0, min(limits))


def _available_memory(root: Folder) -> float:
    with suppress(OSError, StopIteration, ValueError):
        lines = Path(root, "proc/meminfo").read_text().splitlines()
        return 1024.0 * next(
            int(line.split()[1]) for line in lines if line.startswith("MemAvailable")
        )
    with suppress(AttributeError, OSError, ValueError):
        return 0.5 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 4e9
