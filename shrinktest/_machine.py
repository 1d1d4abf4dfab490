"""What the machine has for this process: cores and free memory, within the limits of a container."""

from __future__ import annotations

import math
import os
from numbers import Integral
from typing import Any

from shrinktest._validate import count

_MOST_WORKERS = 2**16  # more than any machine runs at a time


def n_workers(workers: Any) -> int:
    """How many threads to run: None or -1 mean every core this process may use."""
    if workers is None or (isinstance(workers, Integral) and workers == -1):
        return usable_cores()
    if hasattr(workers, "submit") or hasattr(workers, "map"):
        raise TypeError(
            f"workers={workers!r} can read samples in batches, as two_sample_test and k_sample_test take them: give "
            "these paths of files, dask collections or Batches(...); what is in memory is tested by threads, workers=4 "
            "say"
        )
    try:
        return count(workers, "workers", minimum=1, maximum=_MOST_WORKERS)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{error}; None or -1 use all cores") from None


def usable_cores(cgroup: str | os.PathLike[str] = "/sys/fs/cgroup") -> int:
    """The cores this process may run on, no more than the container's CPU quota."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows have no affinity call
        cores = os.cpu_count() or 1
    return max(1, math.ceil(min(cores, _cpu_quota(cgroup))))


def _cpu_quota(cgroup: str | os.PathLike[str]) -> float:
    """Cores' worth of CPU time granted by the control group (v2, then v1); inf without a limit."""
    for files in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            quota, period = " ".join(_text(cgroup, file) for file in files).split()
            if int(quota) > 0:  # v1 writes -1 and v2 "max" for no limit
                return int(quota) / int(period)
        except (OSError, ValueError):
            continue
    return math.inf


_NO_LIMIT = 1e18  # bytes: as good as none


def memory_limit(max_memory: Any) -> float:
    """Bytes that a test may use: as given, or a quarter of what is free."""
    if max_memory is None:
        return free_memory() / 4.0
    if isinstance(max_memory, bool) or not isinstance(max_memory, int | float) or not max_memory > 0:
        raise ValueError(f"max_memory must be a positive number of bytes, such as 2e9; got {max_memory!r}")
    return min(float(max_memory), _NO_LIMIT)


def free_memory(root: str | os.PathLike[str] = "/") -> float:
    """Bytes that can be allocated now, limits of a container and of the process (``ulimit -v``) included."""
    return max(0.0, min([_available(root), *_container(root), *_process(root)]))


def _available(root: str | os.PathLike[str]) -> float:
    try:
        lines = _text(root, "proc/meminfo").splitlines()
        return 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        pass
    try:
        return 0.5 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 4e9


def _container(root: str | os.PathLike[str]) -> list[float]:
    try:
        return [float(_text(root, "sys/fs/cgroup/memory.max")) - float(_text(root, "sys/fs/cgroup/memory.current"))]
    except (OSError, ValueError):
        return []


def _process(root: str | os.PathLike[str]) -> list[float]:
    """What is left of the addresses that this process may have, where there is a limit."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return []
        return [float(limit) - int(_text(root, "proc/self/statm").split()[0]) * resource.getpagesize()]
    except (ImportError, AttributeError, OSError, ValueError):  # Windows has no limits, macOS no such file
        return []


def _text(folder: str | os.PathLike[str], name: str) -> str:
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()
