"""Compiled loops of marginalized means: replacements of numpy in `noise` and their callers."""

from __future__ import annotations

import numpy as np

from shrinktest._jit import compiled, compiled_with
from shrinktest.estimators import noise

_PER_LOG2 = 1.0 / np.log(2.0)
_LOG2_HIGH = 6.93147180369123816490e-01
_LOG2_LOW = 1.90821492927058770002e-10  # of log 2; k times the first is exact
_SHIFT = 1.5 * 2.0**52
_BIAS = np.int64(1023)
_MANTISSA = np.int64(52)
_C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12, _C13 = (
    1.0 / np.cumprod(np.arange(1.0, 14.0))
)[1:]


@compiled(fused=True)
def exponentials(x):
    """Overwrite numbers x <= 0 by exp(x), to the last bit but one; those below -700 count as -700.

    With x = k log 2 + r, |r| <= log(2) / 2, it is 2^k times the Taylor polynomial of exp at r.
    Adding ``_SHIFT`` rounds to the whole number k, whose bits are then moved to the exponent:
    vector instructions throughout, while numba would call the C library for every number.
    """
    for i in range(x.size):
        number = -700.0 if x[i] < -700.0 else x[i]
        shifted = np.float64(number * _PER_LOG2 + _SHIFT)
        k = shifted - _SHIFT
        r = (number - k * _LOG2_HIGH) - k * _LOG2_LOW
        tail = _C7 + r * (_C8 + r * (_C9 + r * (_C10 + r * (_C11 + r * (_C12 + r * _C13)))))
        series = 1.0 + r * (
            1.0 + r * (_C2 + r * (_C3 + r * (_C4 + r * (_C5 + r * (_C6 + r * tail)))))
        )
        power = np.int64((shifted.view(np.int64) + _BIAS) << _MANTISSA)
        x[i] = series * power.view(np.float64)


@compiled()
def differences(x, i, y, squares, count):
    """Squared differences of point i of x and the first points of y, by coordinate.

    They are summed over coordinates if the array has one row.
    """
    for j in range(x.shape[0]):
        here = x[j, i]
        others = y[j]
        row = squares[min(j, squares.shape[0] - 1)]
        if j < squares.shape[0]:
            row[:count] = 0.0
        for k in range(count):
            row[k] += (here - others[k]) ** 2


@compiled()
def smoothed(squares, widths, log_factor, values):
    """Write the smoothed kernel at such differences.

    It is exp(log_factor - sum of squares times widths / 2).
    """
    for k in range(values.size):
        values[k] = log_factor
    for j in range(widths.size):
        row = squares[j]
        half = 0.5 * widths[j]
        for k in range(values.size):
            values[k] -= row[k] * half
    exponentials(values)


@compiled()
def sums(squares, values, slopes):
    """Return the sum of the values; add to ``slopes`` the sums of the values times the squares."""
    total = 0.0
    for k in range(values.size):
        total += values[k]
    for j in range(slopes.size):
        row = squares[j]
        slope = 0.0
        for k in range(values.size):
            slope += values[k] * row[k]
        slopes[j] += slope
    return total


@compiled()
def loocv(x, th2, noise, gradient):
    """Do the same as `noise.loocv`."""
    n = x.shape[1]
    d = th2.size
    alike = x.shape[0] // d  # coordinates of one noise
    wide = np.empty(d)
    wider = np.empty(d)
    log_l = log_q = sum_l = sum_q = 0.0
    for j in range(d):
        wide[j], wider[j] = 1.0 / (th2[j] + noise[j]), 1.0 / (th2[j] + 2.0 * noise[j])
        log_l += 0.5 * alike * np.log(th2[j] * wide[j])
        log_q += 0.5 * alike * np.log(th2[j] * wider[j])
    slope_l = np.zeros(d)
    slope_q = np.zeros(d)
    squares = np.empty((d, n))
    space = np.empty(n)
    for i in range(1, n):
        values = space[:i]
        differences(x, i, x, squares, i)
        smoothed(squares, wide, log_l, values)
        sum_l += sums(squares, values, slope_l)
        smoothed(squares, wider, log_q, values)
        sum_q += sums(squares, values, slope_q)
    own = np.exp(log_q)
    factor_l = -4.0 / (n * (n - 1.0))  # every pair stands for two ordered ones
    factor_q = 2.0 * (n - 2.0) / (n * (n - 1.0) ** 2)
    factor_own = 1.0 / (
        n - 1.0
    )  # ((n - 2) n + n) / (n (n - 1)^2): the diagonal of Q, all n entries
    for j in range(d):
        slope = factor_l * 0.5 * wide[j] * (slope_l[j] * wide[j] - alike * sum_l)
        slope += (
            factor_q * wider[j] * (slope_q[j] * wider[j] - alike * sum_q)
            - factor_own * alike * own * wider[j]
        )
        gradient[j] += noise[j] * slope
    return 1.0 + factor_l * sum_l + factor_q * sum_q + factor_own * own


@compiled()
def smoothed_sum(x, y, th2, noise, same):
    """Do the same as `noise.smoothed_sum`."""
    widths = 1.0 / (th2 + noise)
    log_factor = 0.0
    total = 0.0
    for j in range(th2.size):
        log_factor += 0.5 * np.log(th2[j] * widths[j])
    squares = np.empty((th2.size, y.shape[1]))
    space = np.empty(y.shape[1])
    slopes = np.empty(0)
    for i in range(x.shape[1]):
        values = space[: i if same else y.shape[1]]
        differences(x, i, y, squares, values.size)
        smoothed(squares, widths, log_factor, values)
        total += sums(squares, values, slopes)
    own = x.shape[1] * np.exp(log_factor)
    return (2.0 * total + own, own) if same else (total, 0.0)


objective = compiled_with(noise.objective, __name__, loocv=loocv)
tune_common = compiled_with(noise.tune_common, __name__, objective=objective)
clip = compiled(inline=True)(noise.clip)
release = compiled(inline=True)(noise.release)
step_by = compiled(inline=True)(noise.step_by)
update = compiled(inline=True)(noise.update)
descend = compiled_with(
    noise.descend,
    __name__,
    objective=objective,
    clip=clip,
    release=release,
    step_by=step_by,
    update=update,
)
tune = compiled_with(noise.tune, __name__, tune_common=tune_common, descend=descend)
smoothed_splits = compiled_with(
    noise.smoothed_splits, __name__, tune=tune, smoothed_sum=smoothed_sum
)
