"""Marginalized means: leave-one-out score with gradient, its minimum, and the statistic of splits.

The kernel is Gaussian with squared bandwidths th2 (d,); the noise has variances e (d,).  With a =
th2 + e and b = th2 + 2e, L_ij = prod_j sqrt(th2_j / a_j) exp(-r_j^2 / (2 a_j)) and Q_ij the same
with b.  A sample is given by its coordinates (d, n), so that loops over points run along rows.
Bandwidths and noise of shape (1,) are shared by all coordinates, whose squared differences are then
added up first.  All functions but `loocv` and `smoothed_sum`, which have twins in `noise_loops`,
are compiled as they are.
"""

from __future__ import annotations

import numpy as np

# Logarithms of admissible noise, relative to th2: from next to none to a blur that leaves only a
# constant.
LOWEST = -12.0
HIGHEST = 6.0


def loocv(x, th2, noise, gradient):
    """Score of [X20] (25)-(27) for one sample; add d score / d log e_j to ``gradient`` (d,)."""
    n = x.shape[1]
    alike = len(x) // th2.size  # coordinates of one noise
    wide = 1.0 / (th2 + noise)
    wider = 1.0 / (th2 + 2.0 * noise)
    first, second = np.triu_indices(n, 1)
    squares = [
        np.square(rows[:, first] - rows[:, second]).sum(axis=0) for rows in np.split(x, th2.size)
    ]
    values_l = np.exp(
        0.5 * alike * np.log(th2 * wide).sum() - 0.5 * sum(map(np.multiply, wide, squares))
    )
    own = np.exp(0.5 * alike * np.log(th2 * wider).sum())
    values_q = own * np.exp(-0.5 * sum(map(np.multiply, wider, squares)))
    factor_l = -4.0 / (n * (n - 1.0))  # every pair stands for two ordered ones
    factor_q = 2.0 * (n - 2.0) / (n * (n - 1.0) ** 2)
    factor_own = 1.0 / (
        n - 1.0
    )  # ((n - 2) n + n) / (n (n - 1)^2): the diagonal of Q, all n entries
    for j, square in enumerate(squares):
        slope = factor_l * 0.5 * wide[j] * (values_l @ square * wide[j] - alike * values_l.sum())
        slope += factor_q * wider[j] * (values_q @ square * wider[j] - alike * values_q.sum())
        gradient[j] += noise[j] * (slope - factor_own * alike * own * wider[j])
    return 1.0 + factor_l * values_l.sum() + factor_q * values_q.sum() + factor_own * own


def smoothed_sum(x, y, th2, noise, same):
    """Sums of <E phi(x + N), E phi(y + N')> over all pairs and own pairs.

    ``noise`` holds the summed variances.
    """
    widths = 1.0 / (th2 + noise)
    squares = np.square(x[:, :, None] - y[:, None, :])
    values = np.exp(
        0.5 * np.log(th2 * widths).sum() - 0.5 * np.einsum("jik,j->ik", squares, widths)
    )
    return values.sum(), np.trace(values) if same else 0.0


def objective(x, y, th2, logs, gradient):
    """Summed score of one sample (``y`` empty) or two, at log variances ``logs``.

    ``gradient`` with respect to them.
    """
    noise = np.exp(logs)
    gradient[:] = 0.0
    value = loocv(x, th2, noise, gradient)
    return value + loocv(y, th2, noise, gradient) if y.shape[1] > 0 else value


def tune_common(x, y, th2):
    """Log variance common to all coordinates, by a grid search and root finding.

    It is the best of a grid over the range, then a root of the derivative.
    """
    center = np.log(np.sum(th2) / th2.size)
    if (th2 == th2[0]).all():
        th2 = th2[:1]
    gradient = np.empty(th2.size)
    points = int(HIGHEST - LOWEST) + 1
    best = 0
    best_value = np.inf
    slopes = np.empty(points)
    for g in range(points):
        value = objective(x, y, th2, np.full(th2.size, center + LOWEST + g), gradient)
        slopes[g] = np.sum(gradient)
        if value < best_value:
            best = g
            best_value = value
    other = best - 1 if slopes[best] > 0.0 else best + 1
    if other < 0 or other >= points or slopes[best] * slopes[other] >= 0.0:
        return center + LOWEST + best
    first = min(best, other)
    ends = center + LOWEST + np.arange(first, first + 2)
    slopes = slopes[first : first + 2]
    middle = 0.0
    side = -1
    for _ in range(100):  # regula falsi, Illinois variant: bracketed, and superlinear
        previous = middle
        middle = (ends[0] * slopes[1] - ends[1] * slopes[0]) / (slopes[1] - slopes[0])
        if abs(middle - previous) < 1e-13 * max(1.0, abs(middle)):
            break
        objective(x, y, th2, np.full(th2.size, middle), gradient)
        slope = np.sum(gradient)
        moved = side
        side = 1 if slope * slopes[1] > 0.0 else 0
        ends[side], slopes[side] = middle, slope
        if side == moved:
            slopes[1 - side] *= 0.5
    return middle


def clip(log_variance, th2):
    """Move the log variance of a coordinate into the admissible box."""
    return min(max(log_variance, np.log(th2) + LOWEST), np.log(th2) + HIGHEST)


def release(th2, logs, gradient, free):
    """Write which coordinates are ``free``, 1 or 0; the others are at a bound and would leave it.

    Return the steepest slope of those that are free, and whether any has changed.
    """
    steepest = 0.0
    changed = False
    for j in range(th2.size):
        low = np.log(th2[j]) + LOWEST
        high = np.log(th2[j]) + HIGHEST
        blocked = (logs[j] <= low and gradient[j] > 0.0) or (logs[j] >= high and gradient[j] < 0.0)
        now = 0.0 if blocked else 1.0
        changed = changed or now != free[j]
        free[j] = now
        steepest = max(steepest, now * abs(gradient[j]))
    return steepest, changed


def step_by(inverse, gradient, free, step):
    """Write the quasi-Newton ``step`` of the free coordinates.

    Return the slope along it, and its longest coordinate.
    """
    descent = 0.0
    longest = 0.0
    for i in range(step.size):
        step[i] = 0.0
        for j in range(step.size):
            step[i] -= free[i] * inverse[i, j] * free[j] * gradient[j]
        descent += step[i] * gradient[i]
        longest = max(longest, abs(step[i]))
    return descent, longest


def update(inverse, step, change, image, curvature):
    """Update the inverse Hessian (BFGS); write its product with the change to ``image``."""
    stretch = 0.0
    for i in range(step.size):
        image[i] = 0.0
        for j in range(step.size):
            image[i] += inverse[i, j] * change[j]
        stretch += change[i] * image[i]
    for i in range(step.size):
        for j in range(step.size):
            inverse[i, j] += (1.0 + stretch / curvature) * step[i] * step[j] / curvature
            inverse[i, j] -= (image[i] * step[j] + step[i] * image[j]) / curvature


def descend(x, y, th2, logs):
    """Minimize over ``logs`` (d,) within the admissible box by projected BFGS.

    Return the score reached.
    """
    d = th2.size
    gradient = np.empty(d)
    trial_gradient = np.empty(d)
    free = np.zeros(d)
    inverse = np.empty((d, d))
    trial = np.empty(d)
    step = np.empty(d)
    change = np.empty(d)
    image = np.empty(d)
    for j in range(d):
        logs[j] = clip(logs[j], th2[j])
    value = objective(x, y, th2, logs, gradient)
    for _ in range(200):
        steepest, changed = release(th2, logs, gradient, free)
        if steepest < 1e-10:
            break
        if changed:
            inverse[:] = np.eye(d)
        descent, longest = step_by(inverse, gradient, free, step)
        if not descent < 0.0:
            break
        length = min(1.0, 2.0 / longest)  # never more than a factor e^2 in one step
        for _ in range(40):
            for j in range(d):
                trial[j] = clip(logs[j] + length * step[j], th2[j])
            trial_value = objective(x, y, th2, trial, trial_gradient)
            if trial_value <= value + 1e-4 * length * descent:
                break
            length *= 0.5
        gain = value - trial_value
        value = min(value, trial_value)
        if not gain > 1e-15 * abs(value):
            break
        curvature = 0.0
        for j in range(d):
            step[j] = trial[j] - logs[j]
            change[j] = trial_gradient[j] - gradient[j]
            logs[j] = trial[j]
            gradient[j] = trial_gradient[j]
            curvature += step[j] * change[j]
        if curvature > 0.0:
            update(inverse, step, change, image, curvature)
    return value


def tune(x, y, th2, tied, noise):
    """Write variances (d,) into ``noise``: one if ``tied``, else one per coordinate.

    The latter are found from several starts.
    """
    common = tune_common(x, y, th2)
    best = np.inf
    noise[:] = np.exp(common)
    for start in range(
        0 if tied or th2.size == 1 else 3
    ):  # the common optimum, next to no noise, and much noise
        logs = (
            np.full(th2.size, common) if start == 0 else np.log(th2) + (-6.0 if start == 1 else 1.0)
        )
        value = descend(x, y, th2, logs)
        if value < best - 1e-12:
            best = value
            noise[:] = np.exp(logs)


def smoothed_splits(pooled, masks, th2, tied, joint, unbiased, out):
    """Statistic of marginalized means, tuned again in every split.

    Writes ``out`` (B, 2) = statistic, size of its terms.

    ``pooled`` (d, m + n) are the coordinates of all points, and ``masks`` (B, m + n) say which are
    of the first sample.
    """
    m = masks[0].sum()
    empty = np.empty((th2.size, 0))
    noise_x = np.empty(th2.size)
    noise_y = np.empty(th2.size)
    n = masks.shape[1] - m
    for r in range(masks.shape[0]):
        x = np.ascontiguousarray(pooled[:, masks[r]])
        y = np.ascontiguousarray(pooled[:, ~masks[r]])
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
