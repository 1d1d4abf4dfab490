"""How every loop is compiled, and the one signature that estimators share."""

from __future__ import annotations

from pathlib import Path

from numba import njit, types
from numba.types import FunctionType

# Sums may be reordered (that is what makes them vector instructions); NaN and infinity keep their meaning, because NaN
# is how a loop reports failure.  The order is fixed at compile time, so results do not depend on threads or chunks.
_RELAXED = {"reassoc", "contract", "arcp", "nsz"}


def _stamp() -> tuple[float, int]:
    """Changes with any compiled file: machine code holds that of the functions it calls, wherever they are written."""
    found = [path.stat() for path in Path(__file__).parent.glob("*.py")]
    return max(status.st_mtime for status in found), sum(status.st_size for status in found)


_STAMP = _stamp()


def compiled(*signature, ordered=False, fused=False, inline=False):
    """Compile lazily (or for ``signature``), without the interpreter lock, cached on disk.

    ``ordered``: sums are taken in the order they are written in, and products rounded, as numpy would.  ``fused``: the
    same, but a product need not be rounded before it is added.  ``inline``: the text of the function is put into its
    callers, by whose rules it is then compiled, for a compiled function is optimised once by itself and again within
    every one that calls it: for those that call others, and have few callers.

    No ``parallel=True``: its thread pools die in forked children and abort when two Python threads meet.  Where neither
    the folder of the package nor that of the user can be written, every process compiles for itself.
    """

    def decorate(function):
        liberties = {"contract"} if fused else False if ordered else _RELAXED
        into = "always" if inline else "never"
        loop = njit(nogil=True, error_model="numpy", fastmath=liberties, inline=into)(function)
        if not hasattr(loop, "enable_caching"):  # NUMBA_DISABLE_JIT=1
            return loop
        try:
            loop.enable_caching()
        except RuntimeError:
            pass
        else:
            # numba's own stamp is of the one file that a function is in; without this attribute it stays that
            file = getattr(loop._cache, "_cache_file", None)
            if file is not None and hasattr(file, "_source_stamp"):
                file._source_stamp = _STAMP
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
