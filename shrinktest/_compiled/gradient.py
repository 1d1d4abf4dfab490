"""Landweber iteration and the nu-method on K/n: early-stopping scores and weights from the tridiagonal form.

An amount is the number of iterations; ``amounts`` is 1..T when tuning.  ``theta = (accelerated, nu, eta, score)``,
eta 0 meaning 1 / max K_ii, score 0 = deletion, 1 = paper.
"""

from __future__ import annotations

import numpy as np

from shrinktest._compiled.jit import compiled
from shrinktest._compiled.tikhonov import filter_score, row_sums
from shrinktest._compiled.tridiagonal import expand, spectrum, tridiagonalize

_BLOCK = 16


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
def multiply(work, n, x, out):
    """``out`` = T x for a block of columns x (n, _BLOCK)."""
    diagonal, off = work[0], work[1]
    for k in range(n):
        d = diagonal[k]
        for b in range(_BLOCK):
            out[k, b] = d * x[k, b]
        if k > 0:
            o = off[k - 1]
            for b in range(_BLOCK):
                out[k, b] += o * x[k - 1, b]
        if k < n - 1:
            o = off[k]
            for b in range(_BLOCK):
                out[k, b] += o * x[k + 1, b]


@compiled()
def deletion_path(gram, work, theta, scores):
    """Scores of t = 1..T, every point really left out: in the basis a deletion is a change of rank one, O(n) a step.

    x = (n - 1) (u - b) is the residual of the deleted problem, started at e - e_i; the gradient step on the others is
    x <- x + mom (x - x_before) - step h (K x - e_i (K x)_i), h = eta / (n - 1).
    """
    n = gram.shape[0]
    rows = row_sums(gram)
    total_gram = np.sum(rows)
    h = step_size(gram, theta) / (n - 1.0)
    root = np.sqrt(n)
    scale = 1.0 / (n - 1.0)
    q, x, before, image = np.empty((n, _BLOCK)), np.empty((n, _BLOCK)), np.empty((n, _BLOCK)), np.empty((n, _BLOCK))
    at_i, along_x = np.empty(_BLOCK), np.empty(_BLOCK)
    scores[:] = 0.0
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        for k in range(n):
            for b in range(_BLOCK):
                q[k, b] = work[k + 2, start + b] if b < size else 0.0
                x[k, b] = -q[k, b]
                before[k, b] = x[k, b]
        for b in range(_BLOCK):
            x[0, b] += root
            before[0, b] += root
        multiply(work, n, x, image)
        at_i[:] = 0.0
        for k in range(n):
            for b in range(_BLOCK):
                at_i[b] += q[k, b] * image[k, b]
        for t in range(1, scores.size + 1):
            momentum, step = coefficients(theta, t)
            step *= h
            for k in range(n):
                for b in range(_BLOCK):
                    now = x[k, b]
                    x[k, b] += momentum * (now - before[k, b]) - step * (image[k, b] - at_i[b] * q[k, b])
                    before[k, b] = now
            multiply(work, n, x, image)
            at_i[:] = 0.0
            along_x[:] = 0.0
            for k in range(n):
                for b in range(_BLOCK):
                    at_i[b] += q[k, b] * image[k, b]
                    along_x[b] += x[k, b] * image[k, b]
            for b in range(size):
                i = start + b
                cross = (rows[i] - gram[i, i] - at_i[b]) * scale
                along_start = root * image[0, b] - at_i[b]
                quad = total_gram - 2.0 * rows[i] + gram[i, i] - 2.0 * along_start + along_x[b]
                scores[t - 1] += (gram[i, i] - 2.0 * cross + quad * scale * scale) / n


@compiled()
def gradient_score(gram, theta, amounts, work, scores):
    n = gram.shape[0]
    tridiagonalize(gram, work)
    if amounts.size == 1:
        return
    if theta[3] == 0.0:
        deletion_path(gram, work, theta, scores)
        return
    values, shares = spectrum(work, n)
    eta = step_size(gram, theta)
    factors = np.zeros(n)
    before = np.zeros(n)
    for t in range(1, scores.size + 1):
        momentum, step = coefficients(theta, t)
        for k in range(n):
            now = factors[k]
            factors[k] += momentum * (now - before[k]) + step * eta * values[k] / n * (1.0 - now)
            before[k] = now
        scores[t - 1] = filter_score(values, shares, factors)


@compiled()
def gradient_weigh(gram, theta, amount, work, out):
    n = gram.shape[0]
    h = step_size(gram, theta) / n
    diagonal, off = work[0], work[1]
    b, before, image = np.zeros(n), np.zeros(n), np.empty(n)
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
