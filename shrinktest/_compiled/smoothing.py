"""Marginalised estimators: leave-one-out score with analytic gradient, its minimiser, and the statistic over splits.

The kernel is Gaussian with squared bandwidths th2 (d,); the noise has variances e (d,).  With a = th2 + e and
b = th2 + 2e, L_ij = prod_j sqrt(th2_j / a_j) exp(-r_j^2 / (2 a_j)) and Q_ij the same with b.

A sample is given by its coordinates (d, n), so that the loops over points run along rows.  Bandwidths and noise of
shape (1,) stand for the same in all coordinates, whose squared differences are then added up first.
"""

from __future__ import annotations

import numpy as np

from shrinktest._compiled.vectors import added
from shrinktest._jit import compiled

# Admissible noise, relative to th2: from indistinguishable from none to a blur that leaves only a constant.
LOWEST, HIGHEST = -12.0, 6.0

_PER_LOG2 = 1.0 / np.log(2.0)
_LOG2_HIGH, _LOG2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # of log 2; k times the first is exact
_SHIFT = 1.5 * 2.0**52
_BIAS, _MANTISSA = np.int64(1023), np.int64(52)


@compiled(fused=True)
def exponentials(x):
    """Overwrite numbers x <= 0 by exp(x), to the last bit but one; below -700 they count as that.

    With x = k log 2 + r, |r| <= log(2) / 2, it is 2^k times the Taylor polynomial of exp at r.  Adding ``_SHIFT``
    rounds to the whole number k and leaves it in the lowest bits, which are then moved to where the exponent of 2^k
    stands: vector instructions throughout, where numba would call the C library for every number.
    """
    for i in range(x.size):
        number = -700.0 if x[i] < -700.0 else x[i]
        shifted = np.float64(number * _PER_LOG2 + _SHIFT)
        k = shifted - _SHIFT
        r = (number - k * _LOG2_HIGH) - k * _LOG2_LOW
        series = 1.0 / 6227020800.0
        series = series * r + 1.0 / 479001600.0
        series = series * r + 1.0 / 39916800.0
        series = series * r + 1.0 / 3628800.0
        series = series * r + 1.0 / 362880.0
        series = series * r + 1.0 / 40320.0
        series = series * r + 1.0 / 5040.0
        series = series * r + 1.0 / 720.0
        series = series * r + 1.0 / 120.0
        series = series * r + 1.0 / 24.0
        series = series * r + 1.0 / 6.0
        series = series * r + 0.5
        series = series * r + 1.0
        series = series * r + 1.0
        power = np.int64((shifted.view(np.int64) + _BIAS) << _MANTISSA)
        x[i] = series * power.view(np.float64)


@compiled()
def differences(x, i, y, count, squares):
    """Squared differences of point i of x and the first points of y: by coordinate, or their sum if it has one row."""
    row = squares[0]
    for j in range(x.shape[0]):
        here, there = x[j, i], y[j]
        if j == 0 or squares.shape[0] > 1:
            row = squares[j]
            for k in range(count):
                r = here - there[k]
                row[k] = r * r
        else:
            for k in range(count):
                r = here - there[k]
                row[k] += r * r


@compiled()
def smoothed(squares, widths, log_factor, values):
    """The smoothed kernel at such differences, exp(log_factor - sum of squares times widths / 2)."""
    for k in range(values.size):
        values[k] = log_factor
    for j in range(widths.size):
        row, half = squares[j], 0.5 * widths[j]
        for k in range(values.size):
            values[k] -= row[k] * half
    exponentials(values)


@compiled()
def sums(squares, values, slopes):
    """The sum of the values; adds to ``slopes`` those of the values times the squares."""
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
    """Score of [X20] (25)-(27) for one sample; adds d score / d log e_j to ``gradient`` (d,)."""
    n, d = x.shape[1], th2.size
    alike = x.shape[0] // d  # coordinates of one noise
    wide, wider = np.empty(d), np.empty(d)
    log_l = log_q = 0.0
    for j in range(d):
        wide[j] = 1.0 / (th2[j] + noise[j])
        wider[j] = 1.0 / (th2[j] + 2.0 * noise[j])
        log_l += 0.5 * alike * np.log(th2[j] * wide[j])
        log_q += 0.5 * alike * np.log(th2[j] * wider[j])
    sum_l = sum_q = 0.0
    slope_l, slope_q = np.zeros(d), np.zeros(d)
    squares, space = np.empty((d, n)), np.empty(n)
    for i in range(1, n):
        values = space[:i]
        differences(x, i, x, i, squares)
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
    if y.shape[1] > 0:
        value += loocv(y, th2, noise, gradient)
    return value


@compiled()
def tune_one(x, y, th2):
    """The log variance common to all coordinates: best of a grid over the range, then a root of the derivative."""
    d = th2.size
    centre = np.log(added(th2) / d)
    same = True
    for j in range(d):
        same = same and th2[j] == th2[0]
    if same:
        d, th2 = 1, th2[:1]
    gradient, logs = np.empty(d), np.empty(d)
    points = int(HIGHEST - LOWEST) + 1
    best, best_value = 0, np.inf
    slopes = np.empty(points)
    for g in range(points):
        logs[:] = centre + LOWEST + g
        value = objective(x, y, th2, logs, gradient)
        slopes[g] = added(gradient)
        if value < best_value:
            best, best_value = g, value
    other = best - 1 if slopes[best] > 0.0 else best + 1
    if other < 0 or other >= points or slopes[best] * slopes[other] >= 0.0:
        return centre + LOWEST + best
    low, high = centre + LOWEST + min(best, other), centre + LOWEST + max(best, other)
    slope_low, slope_high = slopes[min(best, other)], slopes[max(best, other)]
    middle = low
    side = 0
    for _ in range(100):  # regula falsi, Illinois variant: bracketed, and superlinear
        previous = middle
        middle = (low * slope_high - high * slope_low) / (slope_high - slope_low)
        if abs(middle - previous) < 1e-13 * max(1.0, abs(middle)):
            break
        logs[:] = middle
        objective(x, y, th2, logs, gradient)
        slope = added(gradient)
        if slope == 0.0:
            break
        if slope * slope_high > 0.0:
            high, slope_high = middle, slope
            if side == 1:
                slope_low *= 0.5
            side = 1
        else:
            low, slope_low = middle, slope
            if side == -1:
                slope_high *= 0.5
            side = -1
    return middle


@compiled()
def clip(logs, th2):
    for j in range(th2.size):
        logs[j] = min(max(logs[j], np.log(th2[j]) + LOWEST), np.log(th2[j]) + HIGHEST)


@compiled(inline=True)
def identity(matrix):
    matrix[:] = 0.0
    for j in range(matrix.shape[0]):
        matrix[j, j] = 1.0


@compiled()
def update(inverse, step, change):
    """BFGS update of the inverse Hessian, skipped where the curvature is not positive."""
    d = step.size
    curvature = 0.0
    for j in range(d):
        curvature += step[j] * change[j]
    if not curvature > 0.0:
        return
    image = np.zeros(d)
    stretch = 0.0
    for i in range(d):
        for j in range(d):
            image[i] += inverse[i, j] * change[j]
        stretch += change[i] * image[i]
    for i in range(d):
        for j in range(d):
            inverse[i, j] += (1.0 + stretch / curvature) * step[i] * step[j] / curvature
            inverse[i, j] -= (image[i] * step[j] + step[i] * image[j]) / curvature


@compiled()
def descend(x, y, th2, logs):
    """Minimise over ``logs`` (d,) within the admissible box by projected BFGS; returns the score reached."""
    d = th2.size
    gradient, trial_gradient = np.empty(d), np.empty(d)
    trial, step, change = np.empty(d), np.empty(d), np.empty(d)
    free, inverse = np.empty(d), np.empty((d, d))
    free[:] = 1.0
    identity(inverse)
    clip(logs, th2)
    value = objective(x, y, th2, logs, gradient)
    for _ in range(200):
        steepest = 0.0
        moved = False
        for j in range(d):  # at a bound, a coordinate that wants to leave the box stays
            low, high = np.log(th2[j]) + LOWEST, np.log(th2[j]) + HIGHEST
            blocked = (logs[j] <= low and gradient[j] > 0.0) or (logs[j] >= high and gradient[j] < 0.0)
            now = 0.0 if blocked else 1.0
            moved = moved or now != free[j]
            free[j] = now
            steepest = max(steepest, now * abs(gradient[j]))
        if steepest < 1e-10:
            break
        if moved:
            identity(inverse)
        descent = longest = 0.0
        for i in range(d):
            total = 0.0
            for j in range(d):
                total -= inverse[i, j] * free[j] * gradient[j]
            step[i] = free[i] * total
            descent += step[i] * gradient[i]
            longest = max(longest, abs(step[i]))
        if not descent < 0.0:
            break
        length = min(1.0, 2.0 / longest)  # never more than a factor e^2 in one step
        for _ in range(40):
            for j in range(d):
                trial[j] = logs[j] + length * step[j]
            clip(trial, th2)
            trial_value = objective(x, y, th2, trial, trial_gradient)
            if trial_value <= value + 1e-4 * length * descent:
                break
            length *= 0.5
        gain = value - trial_value
        if not gain > 1e-15 * abs(value):
            break
        for j in range(d):
            step[j] = trial[j] - logs[j]
            logs[j] = trial[j]
            change[j] = trial_gradient[j] - gradient[j]
            gradient[j] = trial_gradient[j]
        update(inverse, step, change)
        value = trial_value
    return value


@compiled()
def tune(x, y, th2, tied, noise):
    """Variances (d,) into ``noise``: one for all coordinates if ``tied``, else each its own, from several starts."""
    d = th2.size
    common = tune_one(x, y, th2)
    noise[:] = np.exp(common)
    if tied or d == 1:
        return
    best = np.inf
    logs = np.empty(d)
    for start in range(3):  # the isotropic optimum, next to no noise, and much noise
        for j in range(d):
            logs[j] = common if start == 0 else np.log(th2[j]) + (-6.0 if start == 1 else 1.0)
        value = descend(x, y, th2, logs)
        if value < best - 1e-12:
            best = value
            for j in range(d):
                noise[j] = np.exp(logs[j])


@compiled()
def smoothed_sum(x, y, th2, noise, same):
    """Sum over pairs of <E phi(x + N), E phi(y + N')>, ``noise`` the two variances together; (all pairs, own pairs)."""
    d = th2.size
    inverse = np.empty(d)
    log_factor = 0.0
    for j in range(d):
        inverse[j] = 1.0 / (th2[j] + noise[j])
        log_factor += 0.5 * np.log(th2[j] * inverse[j])
    total = 0.0
    squares, space = np.empty((d, y.shape[1])), np.empty(y.shape[1])
    for i in range(x.shape[1]):
        values = space[: i if same else y.shape[1]]
        differences(x, i, y, values.size, squares)
        smoothed(squares, inverse, log_factor, values)
        for k in range(values.size):
            total += values[k]
    own = x.shape[1] * np.exp(log_factor)
    return (2.0 * total + own, own) if same else (total, 0.0)


@compiled()
def smoothed_splits(pooled, masks, th2, tied, joint, unbiased, out):
    """Statistic of the marginalised estimators, retuned in every split: ``out`` (B, 2) = statistic, cancelling size.

    ``pooled`` (d, m + n) are the coordinates of all points.
    """
    d, total = pooled.shape
    m = 0
    for i in range(total):
        m += 1 if masks[0, i] else 0
    n = total - m
    x, y = np.empty((d, m)), np.empty((d, n))
    nothing = np.empty((d, 0))
    noise_x, noise_y, noise = np.empty(d), np.empty(d), np.empty(d)
    for r in range(masks.shape[0]):
        i = j = 0
        for k in range(total):
            if masks[r, k]:
                for c in range(d):
                    x[c, i] = pooled[c, k]
                i += 1
            else:
                for c in range(d):
                    y[c, j] = pooled[c, k]
                j += 1
        if joint:
            tune(x, y, th2, tied, noise_x)
            for c in range(d):
                noise_y[c] = noise_x[c]
        else:
            tune(x, nothing, th2, tied, noise_x)
            tune(y, nothing, th2, tied, noise_y)
        for c in range(d):
            noise[c] = noise_x[c] + noise_y[c]
            noise_x[c] *= 2.0
            noise_y[c] *= 2.0
        sum_x, own_x = smoothed_sum(x, x, th2, noise_x, True)
        sum_y, own_y = smoothed_sum(y, y, th2, noise_y, True)
        cross = 2.0 * smoothed_sum(x, y, th2, noise, False)[0] / (m * n)
        if unbiased:
            within = (sum_x - own_x) / (m * (m - 1.0)) + (sum_y - own_y) / (n * (n - 1.0))
        else:
            within = sum_x / (m * m) + sum_y / (n * n)
        out[r, 0] = within - cross
        out[r, 1] = within + cross
