"""Settings: the arguments that all tests share, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._check import choice, flag, level, resample_count
from shrinktest._parallel import memory_limit, n_workers
from shrinktest.permutations.stopping import Stopping, as_stopping
from shrinktest.statistics.kernel_cache import GRAMS, KernelCache


@dataclass(frozen=True)
class Settings:
    """Options of every test: form, permutations, level, threads and memory."""

    form: str  # "auto", or the name of a statistic of the test, which checks it
    n_resamples: float
    alpha: float
    stopping: Stopping | None
    workers: int
    progress: bool
    gram: str
    rank: int | None
    memory: float  # bytes that kernel values may take
    readers: Any  # readers of samples in batches: a number of threads, or an executor
    store: Any = None  # file that keeps the sums of these

    def kernels(self, rng: np.random.Generator) -> KernelCache:
        """Return a cache of kernels, with a generator for random coordinates."""
        return KernelCache(self.gram, self.rank, self.memory, rng, self.workers)

    @classmethod
    def read(
        cls,
        *,
        n_resamples: Any,
        alpha: Any,
        workers: Any,
        progress: bool,
        form: str = "auto",
        stopping: Any = None,
        gram: str = "dense",
        rank: int | None = None,
        max_memory: Any = None,
        store: Any = None,
        batched: bool = False,
    ) -> Settings:
        """Check the arguments of a test.

        Raises ValueError or TypeError naming the one that is wrong.
        """
        alpha = level(alpha)
        if store is not None and not batched:
            raise ValueError(
                f"store={store!r} keeps sums of data in batches; leave it out for data in memory"
            )
        others = batched and (hasattr(workers, "submit") or hasattr(workers, "map"))
        threads = n_workers(None if others else workers)
        return cls(
            form=form,
            n_resamples=resample_count(n_resamples),
            alpha=alpha,
            stopping=None if stopping is None else as_stopping(stopping, alpha),
            workers=threads,
            progress=flag(progress, "progress"),
            gram=choice(gram, GRAMS, "gram"),
            rank=rank,
            memory=memory_limit(max_memory),
            readers=workers if others else threads,
            store=store,
        )
