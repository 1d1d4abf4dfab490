"""Tikhonov filters (F-KMSE, and iterated): leave-one-out scores and weights from the tridiagonal form.

An amount is lam on the covariance scale relative to the mean of K_ii, lam = n * amount * mean(K_ii), unless
``theta[1]`` says that it is lam itself: ``theta = (iterations t, absolute)``.  Throughout
R = lam (K + lam I)^-1 is the residual smoother, so that b = u - R^t u.
"""

from __future__ import annotations

import numpy as np

from shrinktest._compiled.deletion import along_eigenvectors, deletion_scores, eigenvectors
from shrinktest._compiled.resolvent import factorize, factorize_all, moments_of_mean, on_points, smoothed_mean, traces
from shrinktest._compiled.tridiagonal import spectrum, tridiagonalize, weights_at
from shrinktest._compiled.vectors import squared_length, squared_norm, trace
from shrinktest._jit import compiled


@compiled(inline=True)
def penalty(gram, amount, absolute):
    if absolute != 0.0:
        return amount
    return amount * trace(gram)


@compiled(fused=True, inner=True)
def solve(multipliers, pivots, x):
    """Overwrite ``x`` by (T + lam I)^-1 x."""
    n = x.size
    for k in range(1, n):
        x[k] -= multipliers[k] * x[k - 1]
    x[n - 1] /= pivots[n - 1]
    for k in range(n - 2, -1, -1):
        x[k] = x[k] / pivots[k] - multipliers[k + 1] * x[k + 1]


@compiled(fused=True, inner=True)
def power_sums(work, start, z, n, t, lams):
    """Sums tr R^k (2t + 1, g) and e'R^k e (2t + 3, g) on a grid of lam; NaN if K + lam I is not positive definite.

    For t = 1 from the pivots, without eigenvalues; there are no such recurrences for higher powers of R.
    """
    size, order, norm = lams.size, start.size, squared_norm(start)
    of_r, of_mean = np.zeros((2 * t + 1, size)), np.zeros((2 * t + 3, size))
    if t == 1:
        multipliers, pivots, powers = np.empty((order, size)), np.empty((order, size)), np.empty((3, order, size))
        positive = factorize_all(work, order, lams, multipliers, pivots)
        smoothed_mean(order, 2, multipliers, pivots, powers)
        moments_of_mean(powers, order, 2, norm, of_mean)
        for g in range(size):
            of_r[0, g] = order if positive else np.nan
        traces(multipliers, pivots, of_r)
    else:
        values, shares = spectrum(work, order)
        for g in range(size):
            for k in range(order):
                r = lams[g] / (values[k] + lams[g])
                power = 1.0
                for j in range(2 * t + 3):
                    if j < 2 * t + 1:
                        of_r[j, g] += power
                    of_mean[j, g] += norm * shares[k] * power
                    power *= r
    if z.shape[1] > 0:
        on_points(of_mean, n, lams)
        for j in range(of_r.shape[0]):
            for g in range(size):
                of_r[j, g] += n - order  # directions that no coordinate has, where R = I
    return of_r, of_mean


@compiled(fused=True, inner=True)
def averaged_scores(of_r, of_mean, n, norm, trace, lams, scores):
    """The deletion score of F-KMSE with every leverage replaced by the mean one; ``norm`` is e'Ke."""
    for g in range(lams.size):
        lam = lams[g]
        first, second = of_r[1, g] / of_r[0, g], of_r[2, g] / of_r[0, g]
        e1, e2, e3 = of_mean[1, g], of_mean[2, g], of_mean[3, g]
        # sums over i of the deletion algebra with beta_i = -(Re)_i / first
        beta_sum, beta_square = -e1 / first, e2 / (first * first)
        beta_one, beta_two = -e2 / first, -e3 / first
        at_i = lam * (n + beta_sum)
        along_e = lam * (n * (n - e1) + beta_sum - beta_one)
        along_x = lam * (n * (e1 - e2) + 2.0 * (beta_one - beta_two) + beta_square * (first - second))
        cross = norm - trace - at_i
        quad = n * norm - 2.0 * norm + trace - 2.0 * (along_e - at_i) + along_x
        scores[g] = (trace - 2.0 * cross / (n - 1.0) + quad / (n - 1.0) ** 2) / n


@compiled(fused=True, inner=True)
def paper_scores(of_r, of_mean, n, t, norm, trace, shifted, scores):
    """LOO_filter at lam n / (n - 1), which for t = 1 is Theorem 4 of [M14]; from D R = lam (1 - R)."""
    for g in range(shifted.size):
        c = shifted[g]
        once, twice = c * (of_r[t - 1, g] - of_r[t, g]), c * (of_r[2 * t - 1, g] - of_r[2 * t, g])
        s1, s2 = trace - once, trace - 2.0 * once + twice  # tr K q, tr K q^2
        once = c * (of_mean[t - 1, g] - of_mean[t, g])
        twice = c * (of_mean[2 * t - 1, g] - of_mean[2 * t, g])
        p1, p2 = norm - once, norm - 2.0 * once + twice  # e'K q e, e'K q^2 e
        a = 1.0 / (n - 1.0)
        scores[g] = (trace + 2.0 * a * (s1 - p1) + a * a * (s2 - 2.0 * p2 + n * p2)) / n


@compiled(inner=True)
def filter_score(values, along, factors, n):
    """LOO_filter: mean |phi_i - A mu^(-i)|^2 for the smoother A with ``factors`` fixed from the full sample.

    ``along`` is n times the square of the mean along each eigenvector.
    """
    total = 0.0
    for k in range(values.size):
        a = factors[k] / (n - 1.0)
        total += values[k] * (1.0 + a) ** 2 + n * a * along[k] * (n * a - 2.0 * (1.0 + a))
    return total / n


@compiled(inline=True)
def prepared(matrix, start, n, norm, theta, amounts, work, scores):
    """Factorise, and score the plain mean and the zero estimate; the position of the first lam, and all lams.

    ``norm`` is e'Ke.
    """
    tridiagonalize(matrix, start, work)
    zero = trace(matrix) / n
    plain = (n / (n - 1.0)) ** 2 * (zero - norm / (n * n))
    first, last = 0, amounts.size
    while first < last and amounts[first] == 0.0:
        scores[first] = plain
        first += 1
    while last > first and np.isinf(amounts[last - 1]):
        last -= 1
        scores[last] = zero
    lams = np.empty(last - first)
    for g in range(lams.size):
        lams[g] = penalty(matrix, amounts[first + g], theta[1])
    return first, lams


# One function a score, so that only the one in use is compiled.


@compiled()
def score_by_deletion(matrix, start, z, members, theta, amounts, work, scores):
    r, n = start.size, members.size
    norm = squared_length(matrix, start, z)
    first, lams = prepared(matrix, start, n, norm, theta, amounts, work, scores)
    if not factorize(work, r, lams[0], np.empty(r), np.empty(r)):
        for g in range(scores.size):
            scores[g] = np.nan
        return
    values, vectors, along = eigenvectors(work, start)
    points, diagonal, rows = np.empty((n, r)), np.empty(n), np.empty(n)
    along_eigenvectors(matrix, z, members, vectors, along, points, diagonal, rows)
    deletion_scores(points, diagonal, rows, values, along, int(theta[0]), z, lams, scores[first:])


@compiled()
def score_by_paper(matrix, start, z, members, theta, amounts, work, scores):
    n, t, norm = members.size, int(theta[0]), squared_length(matrix, start, z)
    first, lams = prepared(matrix, start, n, norm, theta, amounts, work, scores)
    for g in range(lams.size):
        lams[g] *= n / (n - 1.0)
    of_r, of_mean = power_sums(work, start, z, n, t, lams)
    paper_scores(of_r, of_mean, n, t, norm, trace(matrix), lams, scores[first : first + lams.size])


@compiled()
def score_by_average(matrix, start, z, members, theta, amounts, work, scores):
    n, norm = members.size, squared_length(matrix, start, z)
    first, lams = prepared(matrix, start, n, norm, theta, amounts, work, scores)
    of_r, of_mean = power_sums(work, start, z, n, 1, lams)
    averaged_scores(of_r, of_mean, n, norm, trace(matrix), lams, scores[first : first + lams.size])


@compiled()
def factorize_only(matrix, start, z, members, theta, amounts, work, scores):
    """For a fixed amount there is nothing to score."""
    tridiagonalize(matrix, start, work)


@compiled()
def tikhonov_weigh(matrix, start, z, members, theta, amount, work, out):
    r, n = start.size, members.size
    lam = 0.0
    if amount != 0.0 and not np.isinf(amount):
        lam = penalty(matrix, amount, theta[1])
    if lam == 0.0:  # also a relative amount of a zero Gram matrix
        for i in range(n):
            out[i] = 0.0 if np.isinf(amount) else 1.0 / n
        return
    multipliers, pivots = np.empty(r), np.empty(r)
    if not factorize(work, r, lam, multipliers, pivots):
        for i in range(n):
            out[i] = np.nan
        return
    b = np.empty(r)
    for k in range(r):
        b[k] = 0.0
    mean, before = np.sqrt(squared_norm(start)) / n, 0.0
    if z.shape[1] == 0:  # T times the mean, u: (T + lam) b_j = T u + lam b_{j-1}, no cancellation for large lam
        mean, before = work[0, 0] * mean, work[1, 0] * mean
    for _ in range(int(theta[0])):
        for k in range(r):
            b[k] *= lam
        b[0] += mean
        if r > 1:
            b[1] += before
        solve(multipliers, pivots, b)
    weights_at(work, b, z, members, out)
