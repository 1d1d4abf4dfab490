"""Landweber iteration and the nu-method on K/n: early-stopping scores and weights from the tridiagonal form.

An amount is the number of iterations; ``amounts`` is 1..T when tuning.  ``theta = (accelerated, nu, eta)``, eta 0
meaning 1 / max K_ii.
"""

from __future__ import annotations

import numpy as np

from shrinktest._compiled.tikhonov import filter_score
from shrinktest._compiled.tridiagonal import in_basis, spectrum, tridiagonalize, weights_at
from shrinktest._compiled.vectors import squared_length, squared_norm
from shrinktest._jit import compiled

_LANES = 64
_ZERO, _L, _S = np.uint64(0), np.uint64(_LANES), np.uint64(4 * _LANES)
# A row of the buffer holds one coordinate of the points, and of their residuals x, x_before and K x.
_X, _BEFORE, _IMAGE = np.uint64(_LANES), np.uint64(2 * _LANES), np.uint64(3 * _LANES)


@compiled(inner=True)
def coefficients(theta, t):
    """Momentum and step of iteration t (1, 2, ...); the nu-method's from normalised Jacobi polynomials."""
    if theta[0] == 0.0:
        return 0.0, 1.0
    nu = theta[1]
    step = 4.0 * (2 * t + 2 * nu - 1) * (t + nu - 1) / ((t + 2 * nu - 1) * (2 * t + 4 * nu - 1))
    if t == 1:
        return 0.0, (4 * nu + 2) / (4 * nu + 1)
    momentum = (t - 1.0) * (2 * t - 3) * (2 * t + 2 * nu - 1)
    return momentum / ((t + 2 * nu - 1) * (2 * t + 4 * nu - 1) * (2 * t + 2 * nu - 3)), step


@compiled(inner=True)
def step_size(matrix, z, members, theta):
    """The given step, or 1 / max K_ii."""
    if theta[2] > 0.0:
        return theta[2]
    largest = 0.0
    for i in range(members.size):
        if z.shape[1] == 0:
            square = matrix[i, i]
        else:
            square = 0.0
            for j in range(z.shape[1]):
                square += z[members[i], j] * z[members[i], j]
        largest = max(largest, square)
    return 1.0 / largest if largest > 0.0 else 0.0


@compiled(fused=True, inner=True)
def advance(buffer, n, momentum, step, at_i):
    """One gradient step of every deleted problem: x <- x + mom (x - x_before) - step (T x - q_i (T x)_i)."""
    o = _S
    for _ in range(n):
        for b in range(_ZERO, _L):
            now = buffer[o + _X + b]
            move = momentum * (now - buffer[o + _BEFORE + b])
            buffer[o + _BEFORE + b] = now
            buffer[o + _X + b] = now + move - step * (buffer[o + _IMAGE + b] - at_i[b] * buffer[o + b])
        o += _S


@compiled(fused=True, inner=True)
def multiply(buffer, work, n, images, at_i, along_x):
    """The images T x, and the products of the deleted points and of x with the images, or else with x itself."""
    o = _ZERO
    for b in range(_ZERO, _L):
        at_i[b] = along_x[b] = 0.0
    for k in range(n):
        middle = work[0, k]
        left = work[1, k - 1] if k > 0 else 0.0
        right = work[1, k] if k < n - 1 else 0.0
        for b in range(_ZERO, _L):  # a row of zeros stands before the first and after the last
            x = buffer[o + _S + _X + b]
            image = middle * x + left * buffer[o + _X + b] + right * buffer[o + _S + _S + _X + b]
            buffer[o + _S + _IMAGE + b] = image
            other = image if images else x
            at_i[b] += buffer[o + _S + b] * other
            along_x[b] += x * other
        o += _S


@compiled()
def score_by_deletion(matrix, start, z, members, theta, amounts, work, scores):
    """Scores of t = 1..T, every point really left out: in the basis a deletion is a change of rank one, O(n) a step.

    x = (n - 1) (u - b) is the residual of the deleted problem, started at e - e_i; its step size is eta / (n - 1).  By
    coordinates it is x = (n - 1) (m - mu), with z_i in the place of e_i, and its image is (T - z_i z_i') x.
    64 points go in step through one flat buffer, as in ``deletion``.
    """
    r, n = start.size, members.size
    tridiagonalize(matrix, start, work)
    points, diagonal, rows = in_basis(matrix, start, z, members, work)
    total, length = squared_length(matrix, start, z), np.sqrt(squared_norm(start))
    scale = 1.0 / (n - 1.0)
    h = step_size(matrix, z, members, theta) * scale
    images = z.shape[1] == 0
    other = _IMAGE if images else _X
    buffer = np.zeros((r + 2) * 4 * _LANES)
    at_i, along_x = np.empty(_LANES), np.empty(_LANES)
    for t in range(scores.size):
        scores[t] = 0.0
    for first in range(0, n, _LANES):
        lanes = min(_LANES, n - first)
        for place in range(buffer.size):
            buffer[place] = 0.0
        for k in range(r):
            for b in range(lanes):
                q = points[k, first + b]
                x = (length if k == 0 else 0.0) - q
                place = 4 * _LANES * (k + 1) + b
                buffer[place] = q
                buffer[place + _LANES] = buffer[place + 2 * _LANES] = x
        multiply(buffer, work, r, images, at_i, along_x)
        for t in range(1, scores.size + 1):
            momentum, step = coefficients(theta, t)
            advance(buffer, r, momentum, step * h, at_i)
            multiply(buffer, work, r, images, at_i, along_x)
            for b in range(lanes):
                kii, row = diagonal[first + b], rows[first + b]
                predicted = (row - kii - at_i[b]) * scale
                along_start = length * buffer[4 * _LANES + np.int64(other) + b] - at_i[b]
                square = total - 2.0 * row + kii - 2.0 * along_start + along_x[b]
                scores[t - 1] += (kii - 2.0 * predicted + square * scale * scale) / n


@compiled(inner=True)
def paper_path(values, along, eta, n, theta, scores):
    """LOO_filter of t = 1..T."""
    factors, before = np.zeros(values.size), np.zeros(values.size)
    for t in range(1, scores.size + 1):
        momentum, step = coefficients(theta, t)
        for k in range(values.size):
            now = factors[k]
            factors[k] += momentum * (now - before[k]) + step * eta * values[k] / n * (1.0 - now)
            before[k] = now
        scores[t - 1] = filter_score(values, along, factors, n)


@compiled(inner=True)
def direct(amount, n):
    """Whether so few iterations are cheaper on the Gram matrix itself than after the reduction to tridiagonal form."""
    return 4.0 * amount <= n


@compiled()
def score_by_paper(matrix, start, z, members, theta, amounts, work, scores):
    r, n, scale = start.size, members.size, squared_norm(start) / members.size
    tridiagonalize(matrix, start, work)
    values, shares = spectrum(work, r)
    for k in range(r):
        shares[k] *= values[k] if z.shape[1] == 0 else scale
    paper_path(values, shares, step_size(matrix, z, members, theta), n, theta, scores)


@compiled()
def reduce_only(matrix, start, z, members, theta, amounts, work, scores):
    """For a fixed number of iterations there is nothing to score."""
    if z.shape[1] == 0 and direct(amounts[0], members.size):
        work[0, 0] = np.nan  # which no diagonal is: tells gradient_weigh that there is no tridiagonal form
    else:
        tridiagonalize(matrix, start, work)


@compiled()
def gradient_weigh(matrix, start, z, members, theta, amount, work, out):
    r, n = start.size, members.size
    h = step_size(matrix, z, members, theta) / n
    b, before, image = np.zeros(r), np.zeros(r), np.empty(r)
    reduced = not np.isnan(work[0, 0])
    length = np.sqrt(squared_norm(start)) / n
    # b <- b + (eta / n) T (u - b), or, by coordinates, b <- b + (eta / n) (m - T b)
    own, given = (length, 0.0) if z.shape[1] == 0 else (0.0, length)
    for t in range(1, int(amount) + 1):
        momentum, step = coefficients(theta, t)
        for k in range(r):
            if reduced:
                left = work[1, k - 1] * ((own if k == 1 else 0.0) - b[k - 1]) if k > 0 else 0.0
                right = -work[1, k] * b[k + 1] if k < r - 1 else 0.0
                image[k] = work[0, k] * ((own if k == 0 else 0.0) - b[k]) + left + right
            else:
                total = 0.0
                for j in range(n):
                    total += matrix[k, j] * (1.0 / n - b[j])
                image[k] = total
        image[0] += given
        for k in range(r):
            now = b[k]
            b[k] += momentum * (now - before[k]) + step * h * image[k]
            before[k] = now
    if reduced:
        weights_at(work, b, z, members, out)
    else:
        for i in range(n):
            out[i] = b[i]
