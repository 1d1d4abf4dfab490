"""Whether circular shifts of a time series can be trusted: how much one observation says of the next."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shrinktest.kernels import Kernel

_LOOKED_AT = 1000  # observations of a series, from its start: enough to see its memory
_EXCESS = 0.01  # of the statistic; from here on too many independent series give p <= .05


def shift_notes(
    kernels: tuple[Kernel, Kernel], x: np.ndarray, y: np.ndarray, series: Sequence[np.ndarray]
) -> tuple[str, ...]:
    """What a reader should know of the shifts of y within ``series``, each the rows (n,) of one in order of time.

    Each series is examined alone and circularly, so every shift gives the same note.
    """
    if not series or junction_excess(kernels, x, y, series) < _EXCESS:
        return ()
    return (
        "Shifts join the end of a series to its start, and these series are short for how slowly they change. Unless y "
        "is periodic, the p-value may be too small: of slow series that are independent, 6 to 14 % gave p <= .05. "
        "Observe longer, or test differences from one observation to the next.",
    )


def junction_excess(
    kernels: tuple[Kernel, Kernel], x: np.ndarray, y: np.ndarray, series: Sequence[np.ndarray]
) -> float:
    """About how much larger HSIC of independent series is as they are than shifted, as a part of it.

    Under independence its mean is the sum over pairs i, j of E Kc_ij E Lc_ij.  A shift of y parts the pairs across
    the place where its end meets its start, h (n - h) / n of those h apart.  Memory is taken to fade by the same
    factor g from one step to the next, in both series together.
    """
    length = round(float(np.mean([len(rows) for rows in series])))
    g = _carried(kernels[0], x, series) * _carried(kernels[1], y, series)
    h = np.arange(1, length)
    pairs = 2.0 * (length - h) * g**h
    return float(np.sum(pairs * h / length) / (length + np.sum(pairs)))


def _carried(kernel: Kernel, points: np.ndarray, series: Sequence[np.ndarray]) -> float:
    """The mean of Kc_ij over successive i, j, relative to that of Kc_ii, between 0 and 1."""
    same = successive = 0.0
    for rows in series:
        z = points[rows[:_LOOKED_AT]]
        gram = kernel(z)
        mean = gram.mean()
        same += float(np.trace(gram) - len(z) * mean)
        successive += float(np.trace(gram, 1) + gram[-1, 0] - len(z) * mean)
    return min(max(successive / same, 0.0), 1.0) if same > 0.0 else 0.0
