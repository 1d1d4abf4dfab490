"""What is read in batches, recognized by its type: samples in memory need no more than this file of the folder."""

from __future__ import annotations

import os
import sys
from typing import Any

#: How files are read, by the end of their name.
KINDS = {".npy": "array", ".csv": "csv", ".parquet": "parquet"}


def in_batches(*samples: Any) -> bool:
    """Whether the samples of a test are read in batches: those of files are, and all beside ``Batches``."""
    return any(is_batches(one) or ends_as_files(one) or is_dask(one) or is_lazy(one) for one in samples)


def is_batches(data: Any) -> bool:
    """Whether this is a ``Batches``; whoever passes one has imported it."""
    source = sys.modules.get("shrinktest.batches.source")
    return source is not None and isinstance(data, source.Batches)


def is_paths(data: Any) -> bool:
    """Whether these are paths of files: text or a path object, or a list of these."""
    if isinstance(data, list | tuple):
        return bool(data) and all(isinstance(one, str | os.PathLike) for one in data)
    return isinstance(data, str | os.PathLike)


def ends_as_files(data: Any) -> bool:
    """Whether these are paths, all of which end as the names of files that can be read do."""
    if not is_paths(data):
        return False
    several = data if isinstance(data, list | tuple) else [data]
    return all(not isinstance(one, str) or one.lower().endswith(tuple(KINDS)) for one in several)


def is_dask(data: Any) -> bool:
    """Whether this is an array or a data frame of dask."""
    return type(data).__module__.split(".")[0] == "dask" and hasattr(data, "to_delayed")


def is_lazy(data: Any) -> bool:
    """Whether this is a lazy frame of polars or a dataset of pyarrow."""
    return is_lazy_frame(data) or (type(data).__module__ == "pyarrow._dataset" and hasattr(data, "to_batches"))


def is_lazy_frame(data: Any) -> bool:
    """Whether this is a lazy frame of polars, which has a plan and no rows."""
    return type(data).__module__.split(".")[0] == "polars" and hasattr(data, "explain")


def is_crew(workers: Any) -> bool:
    """Whether ``workers`` are no number of threads, but something that runs functions."""
    return hasattr(workers, "submit") or hasattr(workers, "map")
