"""Tikhonov filters (F-KMSE, and iterated): leave-one-out scores and weights from the tridiagonal form.

An amount is lam on the covariance scale relative to the mean of K_ii, lam = n * amount * mean(K_ii), unless
``theta[2]`` says that it is lam itself.  ``theta = (iterations t, score, absolute)``, score 0 = deletion, 1 = paper,
2 = averaged.  Throughout R = lam (K + lam I)^-1 is the residual smoother, which is stable for every lam: b = u - R^t u.
"""

from __future__ import annotations

import numpy as np

from shrinktest._compiled.deletion import deletion_scores
from shrinktest._compiled.jit import compiled
from shrinktest._compiled.tridiagonal import expand, spectrum, tridiagonalize


@compiled()
def penalty(gram, amount, absolute):
    if absolute != 0.0:
        return amount
    return amount * np.trace(gram)


@compiled()
def factorize(work, n, lam, multipliers, pivots):
    """LDL' of T + lam I; False if it is not positive definite."""
    pivots[0] = work[0, 0] + lam
    for k in range(1, n):
        if not pivots[k - 1] > 0.0:
            return False
        multipliers[k] = work[1, k - 1] / pivots[k - 1]
        pivots[k] = work[0, k] + lam - multipliers[k] * work[1, k - 1]
    return pivots[n - 1] > 0.0


@compiled()
def solve(multipliers, pivots, x):
    """Overwrite ``x`` by (T + lam I)^-1 x."""
    n = x.size
    for k in range(1, n):
        x[k] -= multipliers[k] * x[k - 1]
    x[n - 1] /= pivots[n - 1]
    for k in range(n - 2, -1, -1):
        x[k] = x[k] / pivots[k] - multipliers[k + 1] * x[k + 1]


@compiled()
def averaged_score(values, shares, trace, lam):
    """The deletion score of F-KMSE with every leverage replaced by the mean one: O(n), rotation invariant."""
    n = values.size
    first = second = 0.0  # mean of R_ii and of (R^2)_ii
    e1 = e2 = e3 = norm = 0.0  # e'R^k e, e'Ke
    for k in range(n):
        r = lam / (values[k] + lam)
        first += r / n
        second += r * r / n
        weight = n * shares[k]
        e1 += weight * r
        e2 += weight * r * r
        e3 += weight * r * r * r
        norm += weight * values[k]
    # sums over i of the deletion algebra with beta_i = -(Re)_i / first
    beta_sum, beta_square = -e1 / first, e2 / (first * first)
    beta_one, beta_two = -e2 / first, -e3 / first
    at_i = lam * (n + beta_sum)
    along_e = lam * (n * (n - e1) + beta_sum - beta_one)
    along_x = lam * (n * (e1 - e2) + 2.0 * (beta_one - beta_two) + beta_square * (first - second))
    cross = norm - trace - at_i
    quad = n * norm - 2.0 * norm + trace - 2.0 * (along_e - at_i) + along_x
    return (trace - 2.0 * cross / (n - 1.0) + quad / (n - 1.0) ** 2) / n


@compiled()
def filter_score(values, shares, factors):
    """LOO_filter: mean |phi_i - A mu^(-i)|^2 for the smoother A with ``factors`` fixed from the full sample."""
    n = values.size
    total = 0.0
    for k in range(n):
        a = factors[k] / (n - 1.0)
        total += values[k] * ((1.0 + a) ** 2 - 2.0 * n * a * (1.0 + a) * shares[k] + n * n * a * a * shares[k])
    return total / n


@compiled()
def endpoint_scores(gram, rows):
    """The leave-one-out scores of the plain mean and of the zero estimate."""
    n = gram.shape[0]
    diagonal = np.trace(gram) / n
    return (n / (n - 1.0)) ** 2 * (diagonal - np.sum(rows) / (n * n)), diagonal


@compiled()
def row_sums(gram):
    n = gram.shape[0]
    rows = np.empty(n)
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += gram[i, j]
        rows[i] = total
    return rows


@compiled()
def deletion_grid(gram, rows, work, t, absolute, amounts, scores):
    """Deletion scores of the amounts that are neither 0 nor infinite, which are the ends of the grid."""
    first, last = 0, amounts.size
    while first < last and amounts[first] == 0.0:
        first += 1
    while last > first and np.isinf(amounts[last - 1]):
        last -= 1
    lams = np.empty(last - first)
    for g in range(lams.size):
        lams[g] = penalty(gram, amounts[first + g], absolute)
    deletion_scores(gram, rows, work, t, lams, scores[first:last])


@compiled()
def tikhonov_score(gram, theta, amounts, work, scores):
    n = gram.shape[0]
    tridiagonalize(gram, work)
    if amounts.size == 1:
        return
    t, kind = int(theta[0]), int(theta[1])
    rows = row_sums(gram)
    trace = np.trace(gram)
    plain, zero = endpoint_scores(gram, rows)
    values, shares = work[0], work[0]
    if kind != 0:
        values, shares = spectrum(work, n)
    factors = np.empty(n)
    if kind == 0:
        deletion_grid(gram, rows, work, t, theta[2], amounts, scores)
    for g in range(amounts.size):
        if amounts[g] == 0.0:
            scores[g] = plain
            continue
        if np.isinf(amounts[g]):
            scores[g] = zero
            continue
        lam = penalty(gram, amounts[g], theta[2])
        if kind == 0:
            continue
        if kind == 2:
            scores[g] = averaged_score(values, shares, trace, lam)
        else:  # Theorem 4 is LOO_filter at lam n / (n - 1)
            shifted = lam * n / (n - 1.0)
            for k in range(n):
                factors[k] = 1.0 - (shifted / (values[k] + shifted)) ** t
            scores[g] = filter_score(values, shares, factors)


@compiled()
def tikhonov_weigh(gram, theta, amount, work, out):
    n = gram.shape[0]
    if amount == 0.0:
        out[:] = 1.0 / n
        return
    if np.isinf(amount):
        out[:] = 0.0
        return
    lam = penalty(gram, amount, theta[2])
    if lam == 0.0:  # a relative amount of a zero Gram matrix
        out[:] = 1.0 / n
        return
    multipliers, pivots = np.empty(n), np.empty(n)
    if not factorize(work, n, lam, multipliers, pivots):
        out[:] = np.nan
        return
    b = np.zeros(n)
    for _ in range(int(theta[0])):  # (T + lam) b_j = T e_1 + lam b_{j-1}: no cancellation for large lam
        for k in range(n):
            b[k] *= lam
        b[0] += work[0, 0]
        if n > 1:
            b[1] += work[1, 0]
        solve(multipliers, pivots, b)
    expand(work, b, out)
