"""How every loop is compiled, and the one signature that estimators share."""

from __future__ import annotations

from numba import njit, types
from numba.types import FunctionType

# Sums may be reordered (that is what makes them vector instructions); NaN and infinity keep their meaning, because NaN
# is how a loop reports failure.  The order is fixed at compile time, so results do not depend on threads or chunks.
_RELAXED = {"reassoc", "contract", "arcp", "nsz"}


def compiled(*signature):
    """Compile lazily (or for ``signature``), without the interpreter lock, cached on disk.

    No ``parallel=True``: its thread pools die in forked children and abort when two Python threads meet.
    """
    return njit(*signature, nogil=True, cache=True, error_model="numpy", fastmath=_RELAXED)


VECTOR = types.float64[::1]
MATRIX = types.float64[:, ::1]

#: ``score(gram, theta, amounts, work, scores)``: factorise the Gram matrix into ``work`` and score every amount.
SCORE = FunctionType(types.void(MATRIX, VECTOR, VECTOR, MATRIX, VECTOR))
#: ``weigh(gram, theta, amount, work, out)``: the weights at one amount, from what ``score`` left in ``work``.
WEIGH = FunctionType(types.void(MATRIX, VECTOR, types.float64, MATRIX, VECTOR))
