"""Slow twin of kernel PCA: with coordinates for the features, it is linear PCA, done by explicit matrices.

Nothing here comes from the package.

References
----------
[M14] Muandet et al., Kernel mean estimation and Stein effect, ICML 2014.
"""

from __future__ import annotations

import numpy as np


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
    kept = [k for k in np.argsort(-values) if values[k] > 1e-9 * values.max()]
    return values[kept], vectors[:, kept]


def centred_squares(features, mean):
    """Gram matrix of the operators (f_i - m)(f_i - m)': squared inner products."""
    return np.array([[((f - mean) @ (g - mean)) ** 2 for g in features] for f in features])


def centred_error(feature, mean, vectors):
    """|(I - P)(f - m)|^2."""
    rest = feature - mean
    for vector in vectors.T:
        rest = rest - ((feature - mean) @ vector) * vector
    return rest @ rest


def uncentred_error(feature, vectors):
    """|(I - P) f|^2."""
    rest = feature.copy()
    for vector in vectors.T:
        rest = rest - (feature @ vector) * vector
    return rest @ rest
