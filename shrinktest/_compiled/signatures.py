"""Signatures that the loops of estimators share."""

from __future__ import annotations

from numba import types
from numba.types import FunctionType

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
