"""Compiled loops of marginalized means: leave-one-out score with gradient, its minimum, and the statistic of splits.

The kernel is Gaussian with squared bandwidths th2 (d,); the noise has variances e (d,).  With a = th2 + e and
b = th2 + 2e, L_ij = prod_j sqrt(th2_j / a_j) exp(-r_j^2 / (2 a_j)) and Q_ij the same with b.  A sample is given by its
coordinates (d, n), so that loops over points run along rows.  Bandwidths and noise of shape (1,) are shared by all
coordinates, whose squared differences are then added up first.
"""

from __future__ import annotations

import numpy as np

from shrinktest._jit import compiled

# Logarithms of admissible noise, relative to th2: from next to none to a blur that leaves only a constant.
LOWEST, HIGHEST = -12.0, 6.0

_PER_LOG2 = 1.0 / np.log(2.0)
_LOG2_HIGH, _LOG2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # of log 2; k times the first is exact
_SHIFT = 1.5 * 2.0**52
_BIAS, _MANTISSA = np.int64(1023), np.int64(52)
_C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12, _C13 = (1.0 / np.cumprod(np.arange(1.0, 14.0)))[1:]


@compiled(fused=True)
def exponentials(x):
    """Overwrite numbers x <= 0 by exp(x), to the last bit but one; those below -700 count as -700.

    With x = k log 2 + r, |r| <= log(2) / 2, it is 2^k times the Taylor polynomial of exp at r.  Adding ``_SHIFT``
    rounds to the whole number k, whose bits are then moved to the exponent: vector instructions throughout, while
    numba would call the C library for every number.
    """
    for i in range(x.size):
        number = -700.0 if x[i] < -700.0 else x[i]
        shifted = np.float64(number * _PER_LOG2 + _SHIFT)
        k = shifted - _SHIFT
        r = (number - k * _LOG2_HIGH) - k * _LOG2_LOW
        tail = _C7 + r * (_C8 + r * (_C9 + r * (_C10 + r * (_C11 + r * (_C12 + r * _C13)))))
        series = 1.0 + r * (1.0 + r * (_C2 + r * (_C3 + r * (_C4 + r * (_C5 + r * (_C6 + r * tail))))))
        power = np.int64((shifted.view(np.int64) + _BIAS) << _MANTISSA)
        x[i] = series * power.view(np.float64)


@compiled()
def differences(x, i, y, squares, count):
    """Squared differences of point i of x and the first points of y: by coordinate, or their sum if it has one row."""
    for j in range(x.shape[0]):
        here, others, row = x[j, i], y[j], squares[min(j, squares.shape[0] - 1)]
        if j < squares.shape[0]:
            row[:count] = 0.0
        for k in range(count):
            row[k] += (here - others[k]) ** 2


@compiled()
def smoothed(squares, widths, log_factor, values):
    """Write the smoothed kernel at such differences, exp(log_factor - sum of squares times widths / 2)."""
    for k in range(values.size):
        values[k] = log_factor
    for j in range(widths.size):
        row, half = squares[j], 0.5 * widths[j]
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
        row, slope = squares[j], 0.0
        for k in range(values.size):
            slope += values[k] * row[k]
        slopes[j] += slope
    return total


@compiled()
def loocv(x, th2, noise, gradient):
    """Score of [X20] (25)-(27) for one sample; add d score / d log e_j to ``gradient`` (d,)."""
    n, d = x.shape[1], th2.size
    alike = x.shape[0] // d  # coordinates of one noise
    wide, wider = np.empty(d), np.empty(d)
    log_l = log_q = sum_l = sum_q = 0.0
    for j in range(d):
        wide[j], wider[j] = 1.0 / (th2[j] + noise[j]), 1.0 / (th2[j] + 2.0 * noise[j])
        log_l += 0.5 * alike * np.log(th2[j] * wide[j])
        log_q += 0.5 * alike * np.log(th2[j] * wider[j])
    slope_l, slope_q = np.zeros(d), np.zeros(d)
    squares, space = np.empty((d, n)), np.empty(n)
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
    factor_own = 1.0 / (n - 1.0)  # ((n - 2) n + n) / (n (n - 1)^2): the diagonal of Q, all n entries
    for j in range(d):
        slope = factor_l * 0.5 * wide[j] * (slope_l[j] * wide[j] - alike * sum_l)
        slope += factor_q * wider[j] * (slope_q[j] * wider[j] - alike * sum_q) - factor_own * alike * own * wider[j]
        gradient[j] += noise[j] * slope
    return 1.0 + factor_l * sum_l + factor_q * sum_q + factor_own * own


@compiled()
def objective(x, y, th2, logs, gradient):
    """Summed score of one sample (``y`` empty) or two, at log variances ``logs``; ``gradient`` with respect to them."""
    noise = np.exp(logs)
    gradient[:] = 0.0
    value = loocv(x, th2, noise, gradient)
    return value + loocv(y, th2, noise, gradient) if y.shape[1] > 0 else value


@compiled()
def tune_common(x, y, th2):
    """Log variance common to all coordinates: the best of a grid over the range, then a root of the derivative."""
    centre = np.log(np.sum(th2) / th2.size)
    if (th2 == th2[0]).all():
        th2 = th2[:1]
    gradient, points = np.empty(th2.size), int(HIGHEST - LOWEST) + 1
    best, best_value, slopes = 0, np.inf, np.empty(points)
    for g in range(points):
        value = objective(x, y, th2, np.full(th2.size, centre + LOWEST + g), gradient)
        slopes[g] = np.sum(gradient)
        if value < best_value:
            best, best_value = g, value
    other = best - 1 if slopes[best] > 0.0 else best + 1
    if other < 0 or other >= points or slopes[best] * slopes[other] >= 0.0:
        return centre + LOWEST + best
    first = min(best, other)
    ends, slopes, middle, side = centre + LOWEST + np.arange(first, first + 2), slopes[first : first + 2], 0.0, -1
    for _ in range(100):  # regula falsi, Illinois variant: bracketed, and superlinear
        previous = middle
        middle = (ends[0] * slopes[1] - ends[1] * slopes[0]) / (slopes[1] - slopes[0])
        if abs(middle - previous) < 1e-13 * max(1.0, abs(middle)):
            break
        objective(x, y, th2, np.full(th2.size, middle), gradient)
        slope, moved = np.sum(gradient), side
        side = 1 if slope * slopes[1] > 0.0 else 0
        ends[side], slopes[side] = middle, slope
        if side == moved:
            slopes[1 - side] *= 0.5
    return middle


@compiled()
def descend(x, y, th2, logs):
    """Minimize over ``logs`` (d,) within the admissible box by projected BFGS; return the score reached."""
    d = th2.size
    gradient, trial_gradient, free, inverse = np.empty(d), np.empty(d), np.zeros(d), np.empty((d, d))
    trial, step, change, image = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    for j in range(d):
        logs[j] = min(max(logs[j], np.log(th2[j]) + LOWEST), np.log(th2[j]) + HIGHEST)
    value = objective(x, y, th2, logs, gradient)
    for _ in range(200):
        steepest, moved = 0.0, False
        for j in range(d):  # at a bound, a coordinate that wants to leave the box stays
            low, high = np.log(th2[j]) + LOWEST, np.log(th2[j]) + HIGHEST
            blocked = (logs[j] <= low and gradient[j] > 0.0) or (logs[j] >= high and gradient[j] < 0.0)
            now = 0.0 if blocked else 1.0
            moved, free[j] = moved or now != free[j], now
            steepest = max(steepest, now * abs(gradient[j]))
        if steepest < 1e-10:
            break
        descent = longest = 0.0
        for i in range(d):
            step[i] = 0.0
            for j in range(d):
                if moved:
                    inverse[i, j] = 1.0 if i == j else 0.0
                step[i] -= free[i] * inverse[i, j] * free[j] * gradient[j]
            descent += step[i] * gradient[i]
            longest = max(longest, abs(step[i]))
        if not descent < 0.0:
            break
        length = min(1.0, 2.0 / longest)  # never more than a factor e^2 in one step
        for _ in range(40):
            for j in range(d):
                low, high = np.log(th2[j]) + LOWEST, np.log(th2[j]) + HIGHEST
                trial[j] = min(max(logs[j] + length * step[j], low), high)
            trial_value = objective(x, y, th2, trial, trial_gradient)
            if trial_value <= value + 1e-4 * length * descent:
                break
            length *= 0.5
        gain, value = value - trial_value, min(value, trial_value)
        if not gain > 1e-15 * abs(value):
            break
        curvature = stretch = 0.0
        for j in range(d):
            step[j], change[j] = trial[j] - logs[j], trial_gradient[j] - gradient[j]
            logs[j], gradient[j] = trial[j], trial_gradient[j]
            curvature += step[j] * change[j]
        if curvature > 0.0:
            for i in range(d):
                image[i] = 0.0
                for j in range(d):
                    image[i] += inverse[i, j] * change[j]
                stretch += change[i] * image[i]
            for i in range(d):
                for j in range(d):
                    inverse[i, j] += (1.0 + stretch / curvature) * step[i] * step[j] / curvature
                    inverse[i, j] -= (image[i] * step[j] + step[i] * image[j]) / curvature
    return value


@compiled()
def tune(x, y, th2, tied, noise):
    """Write variances (d,) into ``noise``: one for all coordinates if ``tied``, else one each, from several starts."""
    common, best = tune_common(x, y, th2), np.inf
    noise[:] = np.exp(common)
    for start in range(0 if tied or th2.size == 1 else 3):  # the common optimum, next to no noise, and much noise
        logs = np.full(th2.size, common) if start == 0 else np.log(th2) + (-6.0 if start == 1 else 1.0)
        value = descend(x, y, th2, logs)
        if value < best - 1e-12:
            best = value
            noise[:] = np.exp(logs)


@compiled()
def smoothed_sum(x, y, th2, noise, same):
    """Sum over pairs of <E phi(x + N), E phi(y + N')> with the summed variances ``noise``: (all pairs, own pairs)."""
    widths, log_factor, total = 1.0 / (th2 + noise), 0.0, 0.0
    for j in range(th2.size):
        log_factor += 0.5 * np.log(th2[j] * widths[j])
    squares, space, slopes = np.empty((th2.size, y.shape[1])), np.empty(y.shape[1]), np.empty(0)
    for i in range(x.shape[1]):
        values = space[: i if same else y.shape[1]]
        differences(x, i, y, squares, values.size)
        smoothed(squares, widths, log_factor, values)
        total += sums(squares, values, slopes)
    own = x.shape[1] * np.exp(log_factor)
    return (2.0 * total + own, own) if same else (total, 0.0)


@compiled()
def smoothed_splits(pooled, masks, th2, tied, joint, unbiased, out):
    """Statistic of marginalized means, tuned again in every split: ``out`` (B, 2) = statistic, size of its terms.

    ``pooled`` (d, m + n) are the coordinates of all points, and ``masks`` (B, m + n) say which are of the first sample.
    """
    m, empty, noise_x, noise_y = masks[0].sum(), np.empty((th2.size, 0)), np.empty(th2.size), np.empty(th2.size)
    n = masks.shape[1] - m
    for r in range(masks.shape[0]):
        x, y = np.ascontiguousarray(pooled[:, masks[r]]), np.ascontiguousarray(pooled[:, ~masks[r]])
        tune(x, y if joint else empty, th2, tied, noise_x)
        if joint:
            noise_y[:] = noise_x
        else:
            tune(y, empty, th2, tied, noise_y)
        sum_x, own_x = smoothed_sum(x, x, th2, 2.0 * noise_x, True)
        sum_y, own_y = smoothed_sum(y, y, th2, 2.0 * noise_y, True)
        cross = 2.0 * smoothed_sum(x, y, th2, noise_x + noise_y, False)[0] / (m * n)
        if unbiased:
            within = (sum_x - own_x) / (m * (m - 1.0)) + (sum_y - own_y) / (n * (n - 1.0))
        else:
            within = sum_x / (m * m) + sum_y / (n * n)
        out[r, 0], out[r, 1] = within - cross, within + cross
