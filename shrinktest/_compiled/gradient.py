"""Landweber iteration and the nu-method on K/n: early-stopping scores and weights from the tridiagonal form.

An amount is the number of iterations; ``amounts`` is 1..T when tuning.  ``theta = (accelerated, nu, eta)``, eta 0
meaning 1 / max K_ii.
"""

from __future__ import annotations

import numpy as np

from shrinktest._compiled.jit import compiled
from shrinktest._compiled.tikhonov import filter_score
from shrinktest._compiled.tridiagonal import basis, expand, points_inside, rotate, spectrum, tridiagonalize
from shrinktest._compiled.vectors import added, constant, row_sums, squared_norm

_LANES = 64
_ZERO, _L, _S = np.uint64(0), np.uint64(_LANES), np.uint64(4 * _LANES)
# A row of the buffer holds one coordinate of the points, and of their residuals x, x_before and K x.
_X, _BEFORE, _IMAGE = np.uint64(_LANES), np.uint64(2 * _LANES), np.uint64(3 * _LANES)


@compiled()
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


@compiled()
def step_size(gram, theta):
    if theta[2] > 0.0:
        return theta[2]
    largest = 0.0
    for i in range(gram.shape[0]):
        largest = max(largest, gram[i, i])
    return 1.0 / largest if largest > 0.0 else 0.0


@compiled()
def advance(buffer, n, momentum, step, at_i):
    """One gradient step of every deleted problem: x <- x + mom (x - x_before) - step (K x - e_i (K x)_i)."""
    o = _ZERO
    for _ in range(n):
        for b in range(_ZERO, _L):
            now = buffer[o + _X + b]
            move = momentum * (now - buffer[o + _BEFORE + b])
            buffer[o + _BEFORE + b] = now
            buffer[o + _X + b] = now + move - step * (buffer[o + _IMAGE + b] - at_i[b] * buffer[o + b])
        o += _S


@compiled()
def multiply(buffer, work, n, at_i, along_x):
    """The images K x, their values at the deleted point, and x'Kx."""
    o = _ZERO
    at_i[:] = 0.0
    along_x[:] = 0.0
    for k in range(n):
        middle = work[0, k]
        left = work[1, k - 1] if k > 0 else 0.0
        right = work[1, k] if k < n - 1 else 0.0
        for b in range(_ZERO, _L):  # a row of zeros stands before the first and after the last
            image = middle * buffer[o + _S + _X + b] + left * buffer[o + _X + b] + right * buffer[o + _S + _S + _X + b]
            buffer[o + _S + _IMAGE + b] = image
            at_i[b] += buffer[o + _S + b] * image
            along_x[b] += buffer[o + _S + _X + b] * image
        o += _S


@compiled()
def score_by_deletion(gram, theta, amounts, work, scores):
    """Scores of t = 1..T, every point really left out: in the basis a deletion is a change of rank one, O(n) a step.

    x = (n - 1) (u - b) is the residual of the deleted problem, started at e - e_i; its step size is eta / (n - 1).
    64 points go in step through one flat buffer, as in ``deletion``.
    """
    n = gram.shape[0]
    tridiagonalize(gram, constant(n), work)
    rows = row_sums(gram)
    total = added(rows)
    h = step_size(gram, theta) / (n - 1.0)
    root = np.sqrt(n)
    scale = 1.0 / (n - 1.0)
    buffer = np.zeros((n + 2) * 4 * _LANES)
    inner = buffer[4 * _LANES : (n + 1) * 4 * _LANES]
    at_i, along_x = np.empty(_LANES), np.empty(_LANES)
    coordinates = basis(work, n)
    scores[:] = 0.0
    for first in range(0, n, _LANES):
        lanes = min(_LANES, n - first)
        buffer[:] = 0.0
        for k in range(n):
            for b in range(lanes):
                q = coordinates[k, first + b]
                x = (root if k == 0 else 0.0) - q
                place = 4 * _LANES * k + b
                inner[place], inner[place + _LANES], inner[place + 2 * _LANES] = q, x, x
        multiply(buffer, work, n, at_i, along_x)
        for t in range(1, scores.size + 1):
            momentum, step = coefficients(theta, t)
            advance(inner, n, momentum, step * h, at_i)
            multiply(buffer, work, n, at_i, along_x)
            for b in range(lanes):
                i = first + b
                kii = gram[i, i]
                predicted = (rows[i] - kii - at_i[b]) * scale
                along_start = root * inner[3 * _LANES + b] - at_i[b]
                norm = total - 2.0 * rows[i] + kii - 2.0 * along_start + along_x[b]
                scores[t - 1] += (kii - 2.0 * predicted + norm * scale * scale) / n


@compiled()
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


@compiled()
def direct(amount, n):
    """Whether so few iterations are cheaper on the Gram matrix itself than after the reduction to tridiagonal form."""
    return 4.0 * amount <= n


@compiled()
def score_by_paper(gram, theta, amounts, work, scores):
    n = gram.shape[0]
    tridiagonalize(gram, constant(n), work)
    values, shares = spectrum(work, n)
    for k in range(n):
        shares[k] *= values[k]
    paper_path(values, shares, step_size(gram, theta), n, theta, scores)


@compiled()
def reduce_only(gram, theta, amounts, work, scores):
    """For a fixed number of iterations there is nothing to score."""
    n = gram.shape[0]
    if direct(amounts[0], n):
        work[0, 0] = np.nan  # which no diagonal is: tells gradient_weigh that there is no tridiagonal form
    else:
        tridiagonalize(gram, constant(n), work)


@compiled()
def gradient_weigh(gram, theta, amount, work, out):
    n = gram.shape[0]
    h = step_size(gram, theta) / n
    diagonal, off = work[0], work[1]
    b, before, image = np.zeros(n), np.zeros(n), np.empty(n)
    if np.isnan(diagonal[0]):
        out[:] = 0.0
        for t in range(1, int(amount) + 1):
            momentum, step = coefficients(theta, t)
            for i in range(n):
                image[i] = 0.0
                for j in range(n):
                    image[i] += gram[i, j] * (1.0 / n - out[j])
            for i in range(n):
                now = out[i]
                out[i] += momentum * (now - before[i]) + step * h * image[i]
                before[i] = now
        return
    for t in range(1, int(amount) + 1):
        momentum, step = coefficients(theta, t)
        for k in range(n):
            left = off[k - 1] * ((1.0 if k == 1 else 0.0) - b[k - 1]) if k > 0 else 0.0
            right = -off[k] * b[k + 1] if k < n - 1 else 0.0
            image[k] = diagonal[k] * ((1.0 if k == 0 else 0.0) - b[k]) + left + right
        for k in range(n):
            now = b[k]
            b[k] += momentum * (now - before[k]) + step * h * image[k]
            before[k] = now
    expand(work, b, out)


@compiled()
def step_size_inside(z, members, theta):
    if theta[2] > 0.0:
        return theta[2]
    largest = 0.0
    for i in members:
        square = 0.0
        for j in range(z.shape[1]):
            square += z[i, j] * z[i, j]
        largest = max(largest, square)
    return 1.0 / largest if largest > 0.0 else 0.0


@compiled()
def inside_by_deletion(moments, mean, z, members, theta, amounts, work, scores):
    """`score_by_deletion` from coordinates: the residual is x = (n - 1) (m - mu), its image (T - z_i z_i') x.

    The buffer holds z_i, x, the x before, and T x.
    """
    tridiagonalize(moments, mean, work)
    points, diagonal, rows = points_inside(mean, z, members, work)
    r, n = points.shape
    h, norm = step_size_inside(z, members, theta) / (n - 1.0), squared_norm(mean)
    scale, length = 1.0 / (n - 1.0), np.sqrt(norm)
    buffer = np.zeros((r + 2) * 4 * _LANES)
    inner = buffer[4 * _LANES : (r + 1) * 4 * _LANES]
    unused, along_x, at_i, squares = np.empty(_LANES), np.empty(_LANES), np.empty(_LANES), np.empty(_LANES)
    scores[:] = 0.0
    for first in range(0, n, _LANES):
        lanes = min(_LANES, n - first)
        buffer[:] = 0.0
        for k in range(r):
            for b in range(lanes):
                z = points[k, first + b]
                x = (length if k == 0 else 0.0) - z
                place = 4 * _LANES * k + b
                inner[place], inner[place + _LANES], inner[place + 2 * _LANES] = z, x, x
        for t in range(scores.size + 1):
            if t > 0:
                momentum, step = coefficients(theta, t)
                multiply(buffer, work, r, unused, along_x)
                advance(inner, r, momentum, step * h, at_i)
            at_i[:] = 0.0
            squares[:] = 0.0
            o = _ZERO
            for _ in range(r):
                for b in range(_ZERO, _L):
                    x = inner[o + _X + b]
                    at_i[b] += inner[o + b] * x
                    squares[b] += x * x
                o += _S
            if t > 0:
                for b in range(lanes):
                    kii, row = diagonal[first + b], rows[first + b]
                    predicted = (row - kii - at_i[b]) * scale
                    along_start = length * inner[_LANES + b] - at_i[b]
                    square = norm - 2.0 * row + kii - 2.0 * along_start + squares[b]
                    scores[t - 1] += (kii - 2.0 * predicted + square * scale * scale) / n


@compiled()
def inside_by_paper(moments, mean, z, members, theta, amounts, work, scores):
    n, scale = members.size, squared_norm(mean) / members.size
    tridiagonalize(moments, mean, work)
    values, shares = spectrum(work, mean.size)
    for k in range(mean.size):
        shares[k] *= scale
    paper_path(values, shares, step_size_inside(z, members, theta), n, theta, scores)


@compiled()
def reduce_inside(moments, mean, z, members, theta, amounts, work, scores):
    tridiagonalize(moments, mean, work)


@compiled()
def gradient_weigh_inside(moments, mean, z, members, theta, amount, work, out):
    r, n = mean.size, members.size
    eta = step_size_inside(z, members, theta)
    length = np.sqrt(squared_norm(mean)) / n
    diagonal, off = work[0], work[1]
    out[:] = 0.0
    v, before, image = out[:r], np.zeros(r), np.empty(r)
    for t in range(1, int(amount) + 1):  # v <- v + (eta / n) (m - T v)
        momentum, step = coefficients(theta, t)
        for k in range(r):
            left = off[k - 1] * v[k - 1] if k > 0 else 0.0
            right = off[k] * v[k + 1] if k < r - 1 else 0.0
            image[k] = (length if k == 0 else 0.0) - (diagonal[k] * v[k] + left + right)
        for k in range(r):
            now = v[k]
            v[k] += momentum * (now - before[k]) + step * eta / n * image[k]
            before[k] = now
    rotate(work, v)
