"""Users' compiled estimators, brought to the signature of the built-in ones."""

from __future__ import annotations

from functools import lru_cache

from numba import config, njit
from numba.core.dispatcher import Dispatcher

from shrinktest._jit import compiled


@compiled()
def nothing(matrix, start, z, members, theta, amounts, work, scores):
    pass


def is_compiled(function):
    """Whether ``function`` may be called from a compiled loop."""
    return isinstance(function, Dispatcher) or bool(config.DISABLE_JIT)


@lru_cache(maxsize=64)
def adapt(function):
    """``(score, weigh)`` around ``function(gram, theta, out)``; compiled once per function, not cached on disk."""

    @njit(nogil=True)
    def weigh(matrix, start, z, members, theta, amount, work, out):
        function(matrix, theta, out)

    return nothing, weigh
