"""Slow, literal twins of the exact risk: integrals by quadrature, by simulation and by loops over points.

Nothing here comes from the package. A mixture is (weights, means, covariances); a kernel is a function of two rows of
numbers, or of two stacks of them. Gauss-Hermite sums of order 4 are exact for the moments that polynomial kernels up to
degree 3 need, and those of the Gaussian kernel converge fast; the Laplacian kernel has a kink and is integrated
adaptively, coordinate by coordinate.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import scipy.integrate

# ------------------------------------------------------------------------------------------- kernels of rows


def linear(x, y):
    return (x * y).sum(axis=-1)


def polynomial(degree, offset):
    return lambda x, y: (offset + (x * y).sum(axis=-1)) ** degree


def gaussian(width):
    return lambda x, y: np.exp(-(((x - y) / width) ** 2).sum(axis=-1) / 2)


def laplacian(width):
    return lambda x, y: np.exp(-(np.abs(x - y) / width).sum(axis=-1))


# ------------------------------------------------------------------------------------------------ quadrature


def nodes(mean, covariance, order):
    """Points and weights whose weighted sums are expectations under N(mean, covariance)."""
    z, w = np.polynomial.hermite_e.hermegauss(order)
    root = np.linalg.cholesky(covariance)
    grid = list(itertools.product(range(order), repeat=len(mean)))
    points = [mean + root @ [z[i] for i in index] for index in grid]
    return np.array(points), np.array(
        [math.prod(w[i] / math.sqrt(2 * math.pi) for i in index) for index in grid]
    )


def mixture_nodes(mixture, order):
    """Points and weights for expectations under a mixture."""
    parts = [nodes(m, s, order) for m, s in zip(mixture[1], mixture[2], strict=True)]
    weights = [pi * w for pi, (_, w) in zip(mixture[0], parts, strict=True)]
    return np.concatenate([points for points, _ in parts]), np.concatenate(weights)


def mean_at(kernel, x, mixture, order):
    """E k(x, Y)."""
    points, weights = mixture_nodes(mixture, order)
    return float(weights @ kernel(x[None, :], points))


def squared_norm(kernel, mixture, order):
    """E k(X, Y), X and Y independent."""
    points, weights = mixture_nodes(mixture, order)
    return sum(
        w * weights @ kernel(x[None, :], points) for x, w in zip(points, weights, strict=True)
    )


def expected_diagonal(kernel, mixture, order):
    """E k(X, X)."""
    points, weights = mixture_nodes(mixture, order)
    return float(weights @ kernel(points, points))


def laplacian_line(delta, variance, width):
    """E exp(-|delta + N(0, variance)| / width), by adaptive integration on both sides of the kink."""
    sd = math.sqrt(variance)

    def integrand(u):
        return math.exp(-abs(u) / width - (u - delta) ** 2 / (2 * variance)) / (
            sd * math.sqrt(2 * math.pi)
        )

    low, high = delta - 40 * sd, delta + 40 * sd
    cuts = sorted(
        {low, high, *(c for c in (0.0, delta, delta - 5 * sd, delta + 5 * sd) if low < c < high)}
    )
    pieces = itertools.pairwise(cuts)
    return sum(
        scipy.integrate.quad(integrand, a, b, epsabs=0, epsrel=1e-12, limit=200)[0]
        for a, b in pieces
    )


def laplacian_mean_at(width, x, mixture):
    """E k(x, Y) for diagonal covariances."""
    return sum(
        pi * math.prod(laplacian_line(x[j] - m[j], s[j][j], width[j]) for j in range(len(x)))
        for pi, m, s in zip(*mixture, strict=True)
    )


def laplacian_squared_norm(width, mixture):
    """E k(X, Y) for diagonal covariances."""
    return sum(
        pi * laplacian_mean_at(width, m, (mixture[0], mixture[1], [s + t for t in mixture[2]]))
        for pi, m, s in zip(*mixture, strict=True)
    )


# ------------------------------------------------------------------------------------------------ simulation


def draws(rng, mixture, n):
    """A sample (n, d)."""
    component = rng.choice(len(mixture[0]), size=n, p=mixture[0])
    out = np.empty((n, len(mixture[1][0])))
    for c, (m, s) in enumerate(zip(mixture[1], mixture[2], strict=True)):
        out[component == c] = rng.multivariate_normal(m, s, size=int((component == c).sum()))
    return out


def simulated(rng, mixture, functions, n, chunk=200_000):
    """Means and standard errors of functions (X, Y) -> numbers over n independent pairs from the mixture."""
    sums = np.zeros((2, len(functions)))
    for start in range(0, n, chunk):
        X, Y = (draws(rng, mixture, min(chunk, n - start)) for _ in range(2))
        values = [f(X, Y) for f in functions]
        sums += [[v.sum() for v in values], [(v**2).sum() for v in values]]
    means = sums[0] / n
    return means, np.sqrt(np.maximum(sums[1] / n - means**2, 0) / n)


# ---------------------------------------------------------------------------------------------------- losses


def loss(kernel, points, weights, mean_at_point, norm2):
    """|sum_i b_i phi_i - mu_P|^2, term by term."""
    pairs = itertools.product(range(len(points)), repeat=2)
    own = sum(weights[i] * weights[j] * kernel(points[i], points[j]) for i, j in pairs)
    cross = sum(b * mean_at_point(x) for b, x in zip(weights, points, strict=True))
    return own - 2 * cross + norm2


def noisy(points, weights, variances, order):
    """Points and weights of sum_i b_i E k(x_i + N(0, diag(variances)), .) as a finite sum over quadrature nodes."""
    parts = [nodes(x, np.diag(variances), order) for x in points]
    spread = [b * w for b, (_, w) in zip(weights, parts, strict=True)]
    return np.concatenate([z for z, _ in parts]), np.concatenate(spread)


def _bell(delta, width2, covariance):
    """E exp(-|delta + N(0, covariance)|^2 / (2 width2))."""
    whole = width2 * np.eye(len(delta)) + covariance
    return math.sqrt(width2 ** len(delta) / np.linalg.det(whole)) * math.exp(
        -delta @ np.linalg.inv(whole) @ delta / 2
    )


def smoothed_loss(points, variances, width, mixture):
    """|(1/n) sum_i E k(x_i + N(0, diag(variances)), .) - mu_P|^2 for the Gaussian kernel, a loop for every sum."""
    n, noise = len(points), np.diag(variances)
    own = cross = norm = 0.0
    for x in points:
        for y in points:
            own += _bell(x - y, width**2, 2 * noise) / n**2
        for pi, m, s in zip(*mixture, strict=True):
            cross += pi * _bell(x - m, width**2, noise + s) / n
    for pi, m, s in zip(*mixture, strict=True):
        for rho, o, t in zip(*mixture, strict=True):
            norm += pi * rho * _bell(m - o, width**2, s + t)
    return own - 2 * cross + norm


def median_width(points):
    """The square root of the median squared distance over pairs."""
    return math.sqrt(
        np.median([((x - y) ** 2).sum() for x, y in itertools.combinations(points, 2)])
    )


# --------------------------------------------------------------------------------------------------- studies


def improvement(losses, baseline):
    """100 (1 - ratio of mean losses) and its jackknife standard error over paired trials."""
    T = len(losses)
    whole = 100 * (1 - sum(losses) / sum(baseline))
    left = []
    for t in range(T):
        rest = [i for i in range(T) if i != t]
        left.append(100 * (1 - sum(losses[i] for i in rest) / sum(baseline[i] for i in rest)))
    center = sum(left) / T
    return whole, math.sqrt((T - 1) / T * sum((estimate - center) ** 2 for estimate in left))
