"""Compile loops with numba and cache the machine code on disk across environments."""

from __future__ import annotations

import gc
import sys
from contextlib import suppress
from ctypes import CFUNCTYPE, c_void_p
from threading import Timer
from time import perf_counter
from types import FunctionType

from llvmlite.binding import add_symbol
from numba import config, njit, types
from numba.core import caching, event
from numba.extending import get_cython_function_address

from shrinktest._machine_code import folder, stamp

#: Seconds of compiling after which the user is told what takes so long.
PATIENCE = 2.0
# Reordered sums become vector instructions.  NaN and infinity keep their meaning: NaN is how a loop
# reports failure.
_RELAXED = {"reassoc", "contract", "arcp", "nsz"}


class _Locator(caching._CacheLocator):
    """Find machine code by the text of all loops."""

    def __init__(self, py_func, py_file):
        self._py_file = py_file
        self._line = py_func.__code__.co_firstlineno

    @classmethod
    def from_function(cls, py_func, py_file):
        with suppress(OSError):  # the folder cannot be written
            locator = cls(py_func, py_file)
            locator.ensure_cache_path()
            return locator if stamp() else None

    def get_cache_path(self):
        return str(folder())

    def get_source_stamp(self):
        return stamp()

    def get_disambiguator(self):
        return str(self._line)


class _Kept(caching.CompileResultCacheImpl):
    _locator_classes = (_Locator,)


class _Cache(caching.FunctionCache):
    _impl_class = _Kept


class _Waiting(event.Listener):
    """Tell the user once why the program waits, and pause the garbage collector.

    Garbage collection takes an eighth of the time.
    """

    depth = 0
    spent = 0.0
    message = "shrinktest: compiling once for this machine, in ten seconds to a minute\n"

    def on_start(self, event):
        self.depth += 1
        if self.depth == 1:
            gc.disable()
            self.since = perf_counter()
            self.timer = Timer(max(0.0, PATIENCE - self.spent), self.tell)
            self.timer.daemon = True
            self.timer.start()

    def on_end(self, event):
        self.depth -= 1
        if self.depth == 0:
            gc.enable()
            self.timer.cancel()
            self.spent += perf_counter() - self.since

    def tell(self):
        print(self.message, end="", file=sys.stderr, flush=True)
        self.message = ""


event.register("numba:compile", _Waiting())


def scipy_lapack(name, arguments):
    """Return a LAPACK routine for compiled loops that may be cached on disk.

    The loops know the routine by name.
    """
    address = get_cython_function_address("scipy.linalg.cython_lapack", name)
    if config.DISABLE_JIT:
        return CFUNCTYPE(None, *[c_void_p] * arguments)(address)
    add_symbol(f"shrinktest_{name}", address)
    return types.ExternalFunction(f"shrinktest_{name}", types.void(*[types.voidptr] * arguments))


def compiled(*signature, ordered=False, fused=False, inline=False, inner=False):
    """Compile lazily (or for ``signature``) without the interpreter lock, cached on disk.

    ``ordered``: sums in the written order, products rounded, as in numpy.  ``fused``: the same, but
    a product need not be rounded before it is added.  ``inline``: paste the source into its
    callers, if these are few.  ``inner``: paste the machine code.
    """

    def decorate(function):
        fastmath = {"contract"} if fused else False if ordered else _RELAXED
        pasted = "always" if inline else "never"
        loop = njit(
            nogil=True, error_model="numpy", fastmath=fastmath, inline=pasted, forceinline=inner
        )(function)
        if hasattr(loop, "enable_caching"):  # else NUMBA_DISABLE_JIT=1
            with suppress(
                RuntimeError
            ):  # no folder can be written: every process compiles for itself
                loop._cache = _Cache(function)
            for types in signature:
                loop.compile(types)
            if signature:
                loop.disable_compile()
        return loop

    return decorate


def compiled_with(function, module, **loops):
    """Compile a plain Python function for a module of loops.

    It is compiled as if it called these loops by their names.
    """
    names = {**function.__globals__, **loops, "__name__": module}
    return compiled()(FunctionType(function.__code__, names, function.__name__))
