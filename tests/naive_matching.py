"""Slow twin of kernel mean matching: expectations under Gaussians by Gauss-Hermite quadrature, not in closed form.

Nothing here comes from the package.

References
----------
[S14] Muandet, Sriperumbudur, Schoelkopf, Kernel mean estimation via spectral filtering, NIPS 2014.
"""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np


@functools.cache
def nodes(dimension, order):
    """Points and weights with sum_q w_q g(z_q) = E g(Z), Z ~ N(0, I), for polynomials g of degree < 2 order."""
    z, w = np.polynomial.hermite_e.hermegauss(order)
    points = np.array(list(itertools.product(z, repeat=dimension)))
    weights = np.array([math.prod(part) for part in itertools.product(w / w.sum(), repeat=dimension)])
    return points, weights


def inner(k, one, other, order=14):
    """E k(X, Y), X and Y independent, each given as (mean, variances)."""
    d = len(one[0])
    z, w = nodes(2 * d, order)
    return w @ k(one[0] + np.sqrt(one[1]) * z[:, :d], other[0] + np.sqrt(other[1]) * z[:, d:])


def distance2(k, target, mixture, order=14):
    """|mu - mu_Q|^2 for a target sum_i b_i E k(x_i + N(0, diag(v)), .), given as (points, b, v)."""
    points, b, v = target
    n, pi = len(points), mixture[0]
    gaussians = [(m, np.full(len(m), s)) for m, s in zip(mixture[1], mixture[2], strict=True)]
    corrupted = [(x, np.asarray(v, float)) for x in points]
    total = sum(b[i] * b[j] * inner(k, corrupted[i], corrupted[j], order) for i in range(n) for j in range(n))
    for p, gaussian in zip(pi, gaussians, strict=True):
        total -= 2 * p * sum(b[i] * inner(k, corrupted[i], gaussian, order) for i in range(n))
    return total + sum(
        p * q * inner(k, one, other, order)
        for p, one in zip(pi, gaussians, strict=True)
        for q, other in zip(pi, gaussians, strict=True)
    )
