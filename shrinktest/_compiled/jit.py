"""How every loop is compiled and kept on disk, and the one signature that estimators share."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from glob import escape
from hashlib import sha256
from pathlib import Path
from pickle import UnpicklingError
from threading import Timer
from time import perf_counter

import numba
from numba import config, njit, types
from numba.core import caching, event
from numba.misc.appdirs import AppDirs
from numba.types import FunctionType

# Sums may be reordered (that is what makes them vector instructions); NaN and infinity keep their meaning, because NaN
# is how a loop reports failure.  The order is fixed at compile time, so results do not depend on threads or chunks.
_RELAXED = {"reassoc", "contract", "arcp", "nsz"}

#: Seconds of compiling after which a process is told why it waits.
PATIENCE = 2.0


def _stamp() -> str:
    """Changes with any compiled file: machine code holds that of the functions it calls, wherever they are written.

    Empty where these are not files, as in a zip archive: nothing is kept then, for it would be used by other versions.
    """
    files = sorted(Path(__file__).parent.glob("*.py"))
    return sha256(b"".join(path.name.encode() + path.read_bytes() for path in files)).hexdigest() if files else ""


_STAMP = _stamp()


class Locator(caching._CacheLocator):
    """Where machine code is kept: found by the text of all compiled files, Python and numba, wherever these are.

    That is ``NUMBA_CACHE_DIR`` or the user's folder of caches.  That it was made for this processor, numba sees to.
    """

    def __init__(self, py_func, py_file):
        self._py_file = py_file  # numba names it in warnings
        self._lineno = py_func.__code__.co_firstlineno

    @classmethod
    def from_function(cls, py_func, py_file):
        if not _STAMP:
            return None
        found = cls(py_func, py_file)
        try:
            found.ensure_cache_path()
        except OSError:  # nothing can be written
            return None
        return found

    def get_cache_path(self):
        folder = config.CACHE_DIR or AppDirs(appname="shrinktest", appauthor=False).user_cache_dir
        python = f"{sys.implementation.name}{sys.version_info[0]}{sys.version_info[1]}"
        return os.path.join(folder, f"shrinktest-{python}-numba{numba.__version__}-{_STAMP[:16]}")

    def get_source_stamp(self):
        return _STAMP

    def get_disambiguator(self):
        return str(self._lineno)


class _Kept(caching.CompileResultCacheImpl):
    _locator_classes = (Locator,)


class _Cache(caching.FunctionCache):
    """That of a function: what cannot be read is thrown away and compiled anew, what cannot be written is done without.

    Files are cut off where a disk is full, or a machine stops before it has written them.
    """

    _impl_class = _Kept

    def load_overload(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged pickle can raise anything
            for file in Path(self.cache_path).glob(f"{escape(self._impl.filename_base)}.*"):
                with suppress(OSError):
                    file.unlink()
            return None

    def save_overload(self, sig, data):
        with suppress(OSError, EOFError, UnpicklingError):  # the disk is full, or an index cannot be thrown away
            super().save_overload(sig, data)


class Waiting(event.Listener):
    """Tells, once, whoever waits for the compiler for more than ``PATIENCE`` seconds in all.

    Nothing that a compiler makes is garbage before it ends, so the collector of garbage, which would look through all
    of it again and again, rests meanwhile: an eighth of the time.
    """

    def __init__(self):
        self.running, self.spent, self.since, self.told, self.collecting = 0, 0.0, 0.0, False, False

    def _ours(self, given):
        return given.data["dispatcher"].py_func.__module__.startswith("shrinktest.")

    def on_start(self, given):
        if not self._ours(given):
            return
        self.running += 1
        if self.running > 1:  # a function that the first one calls
            return
        self.collecting, self.since = gc.isenabled(), perf_counter()
        gc.disable()
        self.timer = Timer(max(0.0, PATIENCE - self.spent), self.tell)
        self.timer.daemon = True
        if not self.told:
            self.timer.start()

    def on_end(self, given):
        if not self._ours(given):
            return
        self.running -= 1
        if self.running == 0:
            self.timer.cancel()
            self.spent += perf_counter() - self.since
            if self.collecting:
                gc.enable()

    def tell(self):
        self.told = True
        if sys.stderr is not None:  # print would write to the standard output
            print("shrinktest: compiling for this machine, once; this takes some seconds", file=sys.stderr, flush=True)


event.register("numba:compile", Waiting())


def compiled(*signature, ordered=False, fused=False, inline=False, inner=False):
    """Compile lazily (or for ``signature``), without the interpreter lock, cached on disk.

    ``ordered``: sums are taken in the order they are written in, and products rounded, as numpy would.  ``fused``: the
    same, but a product need not be rounded before it is added.  ``inline``: the text of the function is put into its
    callers, by whose rules it is then compiled, for a compiled function is optimised once by itself and again within
    every one that calls it: for those that have few callers.  ``inner``: the same is done with its machine code, for
    what only other compiled functions call.  Each of these holds a copy that is optimised with it and may round sums
    otherwise; a process would use the first one that it loads for all of them, and so give other digits than the next.

    No ``parallel=True``: its thread pools die in forked children and abort when two Python threads meet.  Where nothing
    can be written, or the package has no files of Python, every process compiles for itself.
    """

    def decorate(function):
        liberties = {"contract"} if fused else False if ordered else _RELAXED
        into = "always" if inline else "never"
        loop = njit(nogil=True, error_model="numpy", fastmath=liberties, inline=into, forceinline=inner)(function)
        if not hasattr(loop, "enable_caching"):  # NUMBA_DISABLE_JIT=1
            return loop
        with suppress(RuntimeError):  # no place to keep it
            loop._cache = _Cache(function)
        for one in signature:
            loop.compile(one)
        if signature:
            loop.disable_compile()
        return loop

    return decorate


VECTOR = types.float64[::1]
MATRIX = types.float64[:, ::1]

INDICES = types.int64[::1]

#: ``score(matrix, start, z, members, theta, amounts, work, scores)``: factorise a sample into ``work`` and score every
#: amount.  A sample is either its Gram matrix K (n, n), with the vector e of ones for ``start`` and a ``z`` that has no
#: columns, or the rows ``members`` of coordinates ``z`` (N, r): Z'Z (r, r), with ``start`` Z'e.  In both cases
#: ``members`` has as many entries as the sample has points.
SCORE = FunctionType(types.void(MATRIX, VECTOR, MATRIX, INDICES, VECTOR, VECTOR, MATRIX, VECTOR))
#: ``weigh(matrix, start, z, members, theta, amount, work, out)``: the weights (n,) of the points of the sample at one
#: amount, from what ``score`` left in ``work``.
WEIGH = FunctionType(types.void(MATRIX, VECTOR, MATRIX, INDICES, VECTOR, types.float64, MATRIX, VECTOR))
