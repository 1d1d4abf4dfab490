"""Slow twins of the applications: kernels on distributions by sums, kernel PCA by matrices, matching by quadrature.

Nothing here comes from the package.

References
----------
[M14] Muandet et al., Kernel mean estimation and Stein effect, ICML 2014, section 4.2.
[S14] Muandet, Sriperumbudur, Schoelkopf, Kernel mean estimation via spectral filtering, NIPS 2014.
"""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np

# --- kernels on distributions --------------------------------------------------------------------------------------


def weighted_sum(x, b, y, g, k):
    """sum_ij b_i k(x_i, y_j) g_j."""
    return sum(b[i] * k(x[i], y[j]) * g[j] for i in range(len(x)) for j in range(len(y)))


def linear(rows, columns, k):
    """Inner products of embeddings, given as pairs (points, weights)."""
    return np.array([[weighted_sum(x, b, y, g, k) for y, g in columns] for x, b in rows])


def embedding_distance2(first, second, k):
    """|mu_b - mu_g|^2, from the signed weights on all points."""
    points, weights = np.vstack([first[0], second[0]]), np.concatenate([first[1], -second[1]])
    return weighted_sum(points, weights, points, weights, k)


def median_bandwidth(embeddings, k):
    """Square root of the median squared distance of two embeddings."""
    return math.sqrt(
        np.median(
            [
                embedding_distance2(first, second, k)
                for first, second in itertools.combinations(embeddings, 2)
            ]
        )
    )


def gaussian(rows, columns, k, bandwidth):
    """exp(-|mu_b - mu_g|^2 / (2 bandwidth^2)): with the minus sign (erratum E15)."""
    return np.array(
        [
            [math.exp(-embedding_distance2(r, c, k) / (2 * bandwidth**2)) for c in columns]
            for r in rows
        ]
    )


# --- kernel PCA ----------------------------------------------------------------------------------------------------


def coordinates(gram):
    """Vectors (rows) whose inner products are the entries of a Gram matrix."""
    values, vectors = np.linalg.eigh(gram)
    return vectors * np.sqrt(np.clip(values, 0, None))


def components(features, mean, weights):
    """Positive eigenvalues, in descending order, and eigenvectors (columns) of sum_i w_i (f_i - m)(f_i - m)'."""
    operator = np.zeros((features.shape[1],) * 2)
    for feature, weight in zip(features, weights, strict=True):
        operator += weight * np.outer(feature - mean, feature - mean)
    values, vectors = np.linalg.eigh(operator)
    positive = [k for k in np.argsort(-values) if values[k] > 1e-9 * values.max()]
    return values[positive], vectors[:, positive]


def centered_squares(features, mean):
    """Gram matrix of the operators (f_i - m)(f_i - m)': squared inner products."""
    return np.array([[((f - mean) @ (g - mean)) ** 2 for g in features] for f in features])


def centered_error(feature, mean, vectors):
    """|(I - P)(f - m)|^2."""
    rest = feature - mean
    for vector in vectors.T:
        rest = rest - ((feature - mean) @ vector) * vector
    return rest @ rest


def uncentered_error(feature, vectors):
    """|(I - P) f|^2."""
    rest = feature.copy()
    for vector in vectors.T:
        rest = rest - (feature @ vector) * vector
    return rest @ rest


# --- matching of mixtures ------------------------------------------------------------------------------------------


@functools.cache
def nodes(dimension, order):
    """Points and weights with sum_q w_q g(z_q) = E g(Z), Z ~ N(0, I), for polynomials g of degree < 2 order."""
    z, w = np.polynomial.hermite_e.hermegauss(order)
    points = np.array(list(itertools.product(z, repeat=dimension)))
    weights = np.array(
        [math.prod(part) for part in itertools.product(w / w.sum(), repeat=dimension)]
    )
    return points, weights


def expected_kernel(k, first, second, order=14):
    """E k(X, Y), X and Y independent, each given as (mean, variances)."""
    d = len(first[0])
    z, w = nodes(2 * d, order)
    return w @ k(first[0] + np.sqrt(first[1]) * z[:, :d], second[0] + np.sqrt(second[1]) * z[:, d:])


def mixture_distance2(k, target, mixture, order=14):
    """|mu - mu_Q|^2 for a target sum_i b_i E k(x_i + N(0, diag(v)), .), given as (points, b, v)."""
    points, b, v = target
    n, pi = len(points), mixture[0]
    gaussians = [(m, np.full(len(m), s)) for m, s in zip(mixture[1], mixture[2], strict=True)]
    corrupted = [(x, np.asarray(v, float)) for x in points]
    total = sum(
        b[i] * b[j] * expected_kernel(k, corrupted[i], corrupted[j], order)
        for i in range(n)
        for j in range(n)
    )
    for p, gaussian in zip(pi, gaussians, strict=True):
        total -= (
            2 * p * sum(b[i] * expected_kernel(k, corrupted[i], gaussian, order) for i in range(n))
        )
    return total + sum(
        p * q * expected_kernel(k, gaussian, other, order)
        for p, gaussian in zip(pi, gaussians, strict=True)
        for q, other in zip(pi, gaussians, strict=True)
    )
