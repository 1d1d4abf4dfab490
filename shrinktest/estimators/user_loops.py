"""Run a user's compiled estimator over many samples."""

from __future__ import annotations

from functools import lru_cache

from numba import config, njit
from numba.core.dispatcher import Dispatcher


def is_compiled(function):
    """Return whether ``function`` may be called from a compiled loop."""
    return isinstance(function, Dispatcher) or bool(config.DISABLE_JIT)


@lru_cache(maxsize=64)
def over_samples(weigh):
    """Return a loop ``(grams, theta, out)`` around ``weigh``, compiled once in a process."""

    @njit(nogil=True)
    def loop(grams, theta, out):
        for b in range(grams.shape[0]):
            weigh(grams[b], theta, out[b])

    return loop
