"""Marginalised estimators: leave-one-out score with analytic gradient, its minimiser, and the statistic over splits.

The kernel is Gaussian with squared bandwidths th2 (d,); the noise has variances e (d,).  With a = th2 + e and
b = th2 + 2e, L_ij = prod_j sqrt(th2_j / a_j) exp(-r_j^2 / (2 a_j)) and Q_ij the same with b.
"""

from __future__ import annotations

import numpy as np

from shrinktest._compiled.jit import compiled

# Admissible noise, relative to th2: from indistinguishable from none to a blur that leaves only a constant.
LOWEST, HIGHEST = -12.0, 6.0


@compiled()
def loocv(points, th2, noise, gradient):
    """Score of [X20] (25)-(27) for one sample; adds d score / d log e_j to ``gradient`` (d,)."""
    n, d = points.shape
    wide, wider = np.empty(d), np.empty(d)
    log_l = log_q = 0.0
    for j in range(d):
        wide[j] = 1.0 / (th2[j] + noise[j])
        wider[j] = 1.0 / (th2[j] + 2.0 * noise[j])
        log_l += 0.5 * np.log(th2[j] * wide[j])
        log_q += 0.5 * np.log(th2[j] * wider[j])
    sum_l = sum_q = 0.0
    slope_l, slope_q = np.zeros(d), np.zeros(d)
    squares = np.empty(d)
    for i in range(n):
        for k in range(i):
            exponent_l = exponent_q = 0.0
            for j in range(d):
                r = points[i, j] - points[k, j]
                squares[j] = r * r
                exponent_l += squares[j] * wide[j]
                exponent_q += squares[j] * wider[j]
            value_l = np.exp(log_l - 0.5 * exponent_l)
            value_q = np.exp(log_q - 0.5 * exponent_q)
            sum_l += value_l
            sum_q += value_q
            for j in range(d):
                slope_l[j] += value_l * squares[j]
                slope_q[j] += value_q * squares[j]
    own = np.exp(log_q)
    factor_l = -4.0 / (n * (n - 1.0))  # every pair stands for two ordered ones
    factor_q = 2.0 * (n - 2.0) / (n * (n - 1.0) ** 2)
    factor_own = 1.0 / (n - 1.0)  # ((n - 2) n + n) / (n (n - 1)^2): the diagonal of Q, all n entries
    for j in range(d):
        slope = factor_l * 0.5 * wide[j] * (slope_l[j] * wide[j] - sum_l)
        slope += factor_q * wider[j] * (slope_q[j] * wider[j] - sum_q) - factor_own * own * wider[j]
        gradient[j] += noise[j] * slope
    return 1.0 + factor_l * sum_l + factor_q * sum_q + factor_own * own


@compiled()
def objective(x, y, th2, logs, gradient):
    """Summed score of one sample (``y`` empty) or two, at log variances ``logs``; ``gradient`` with respect to them."""
    noise = np.exp(logs)
    gradient[:] = 0.0
    value = loocv(x, th2, noise, gradient)
    if y.shape[0] > 0:
        value += loocv(y, th2, noise, gradient)
    return value


@compiled()
def tune_one(x, y, th2):
    """The log variance common to all coordinates: best of a grid over the range, then a root of the derivative."""
    d = th2.size
    centre = np.log(np.sum(th2) / d)
    gradient, logs = np.empty(d), np.empty(d)
    points = int(HIGHEST - LOWEST) + 1
    best, best_value = 0, np.inf
    slopes = np.empty(points)
    for g in range(points):
        logs[:] = centre + LOWEST + g
        value = objective(x, y, th2, logs, gradient)
        slopes[g] = np.sum(gradient)
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
        slope = np.sum(gradient)
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
    trial, step = np.empty(d), np.empty(d)
    free = np.ones(d)
    inverse = np.eye(d)
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
            inverse = np.eye(d)
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
        update(inverse, step, trial_gradient - gradient)
        gradient[:] = trial_gradient
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
    for i in range(x.shape[0]):
        for k in range(i if same else y.shape[0]):
            exponent = 0.0
            for j in range(d):
                r = x[i, j] - y[k, j]
                exponent += r * r * inverse[j]
            total += np.exp(log_factor - 0.5 * exponent)
    own = x.shape[0] * np.exp(log_factor)
    return (2.0 * total + own, own) if same else (total, 0.0)


@compiled()
def smoothed_splits(points, masks, th2, tied, joint, unbiased, out):
    """Statistic of the marginalised estimators, retuned in every split: ``out`` (B, 2) = statistic, cancelling size."""
    total, d = points.shape
    m = 0
    for i in range(total):
        m += 1 if masks[0, i] else 0
    n = total - m
    x, y = np.empty((m, d)), np.empty((n, d))
    nothing = np.empty((0, d))
    noise_x, noise_y = np.empty(d), np.empty(d)
    for r in range(masks.shape[0]):
        i = j = 0
        for k in range(total):
            if masks[r, k]:
                x[i] = points[k]
                i += 1
            else:
                y[j] = points[k]
                j += 1
        if joint:
            tune(x, y, th2, tied, noise_x)
            noise_y[:] = noise_x
        else:
            tune(x, nothing, th2, tied, noise_x)
            tune(y, nothing, th2, tied, noise_y)
        sum_x, own_x = smoothed_sum(x, x, th2, 2.0 * noise_x, True)
        sum_y, own_y = smoothed_sum(y, y, th2, 2.0 * noise_y, True)
        cross = 2.0 * smoothed_sum(x, y, th2, noise_x + noise_y, False)[0] / (m * n)
        if unbiased:
            within = (sum_x - own_x) / (m * (m - 1.0)) + (sum_y - own_y) / (n * (n - 1.0))
        else:
            within = sum_x / (m * m) + sum_y / (n * n)
        out[r, 0] = within - cross
        out[r, 1] = within + cross
