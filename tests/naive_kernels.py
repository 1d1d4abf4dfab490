"""Slow, literal twins of the kernels, and of what Gaussian noise on the points does to the Gaussian one.

Nothing here comes from the package: every function is one formula, applied pair by pair.

References
----------
[X20] Xia et al., Kernel mean estimation by marginalized corrupted distributions, 2020.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import scipy.optimize

# ------------------------------------------------------------------------------------------------- kernels


def gram(function, X, Y):
    """Matrix of function(x, y) over all pairs of rows."""
    return np.array([[function(x, y) for y in Y] for x in X], dtype=float)


def gaussian(X, Y, bandwidth):
    """exp(-sum_j (x_j - y_j)^2 / (2 b_j^2)); `bandwidth` is a number or one per coordinate."""
    return gram(lambda x, y: math.exp(-np.sum(((x - y) / bandwidth) ** 2) / 2), X, Y)


def laplacian(X, Y, bandwidth):
    """exp(-sum_j |x_j - y_j| / b_j); `bandwidth` is a number or one per coordinate."""
    return gram(lambda x, y: math.exp(-np.sum(np.abs(x - y) / bandwidth)), X, Y)


def linear(X, Y):
    """x'y."""
    return gram(lambda x, y: np.sum(x * y), X, Y)


def cosine(X, Y):
    """x'y / (|x| |y|)."""
    return gram(lambda x, y: np.sum(x * y) / math.sqrt(np.sum(x * x) * np.sum(y * y)), X, Y)


def polynomial(X, Y, degree, offset):
    """(x'y + offset)^degree."""
    return gram(lambda x, y: (np.sum(x * y) + offset) ** degree, X, Y)


def centered(K, row_means, column_means, mean):
    """k(x, y) less the means of x and of y with all points of the pooled sample, plus the mean of all pairs of it."""
    return np.array(
        [
            [K[i, j] - row_means[i] - column_means[j] + mean for j in range(K.shape[1])]
            for i in range(K.shape[0])
        ]
    )


def whitened(function, X, Y, Z, lam):
    """1 + w(x, y) / D, w = phi(x)'(C + lam tr(C))^-1 phi(y), phi about the mean of Z, D the mean of w(z, z) over Z."""
    n, of_z = len(Z), gram(function, Z, Z)
    middle = of_z.mean()
    at_x, at_y, at_z = (gram(function, P, Z).mean(axis=1) for P in (X, Y, Z))
    Kc = centered(of_z, at_z, at_z, middle)
    ridge = lam * np.trace(Kc) / n
    inverse = np.linalg.inv(Kc + n * ridge * np.eye(n))
    from_x, to_y = (
        centered(gram(function, X, Z), at_x, at_z, middle),
        centered(gram(function, Z, Y), at_z, at_y, middle),
    )
    w = (centered(gram(function, X, Y), at_x, at_y, middle) - from_x @ inverse @ to_y) / ridge
    return 1 + w / np.trace(Kc @ inverse)


def second_order(function, X, Y, Z):
    """The square of the kernel about the mean of Z."""
    middle = gram(function, Z, Z).mean()
    at_x, at_y = (gram(function, P, Z).mean(axis=1) for P in (X, Y))
    return centered(gram(function, X, Y), at_x, at_y, middle) ** 2


def depth(function, X, Y, Z):
    """1 + u(x) u(y), u the mean of function(., z) over Z, less its mean over Z, in standard deviations over Z."""

    def depths(P):
        return np.array([sum(function(p, z) for z in Z) / len(Z) for p in P])

    of_z = depths(Z)
    mean = sum(of_z) / len(Z)
    sd = math.sqrt(sum((value - mean) ** 2 for value in of_z) / len(Z))
    return np.array([[1 + (x - mean) / sd * (y - mean) / sd for y in depths(Y)] for x in depths(X)])


def energy(X, Y, origin):
    """|x - o| + |y - o| - |x - y|."""
    return gram(lambda x, y: math.dist(x, origin) + math.dist(y, origin) - math.dist(x, y), X, Y)


def energy_distance(X, Y):
    """2 E|X - Y| - E|X - X'| - E|Y - Y'|, means over all pairs, those of a point with itself included."""
    between, in_x, in_y = (
        sum(math.dist(a, b) for a in A for b in B) / (len(A) * len(B))
        for A, B in ((X, Y), (X, X), (Y, Y))
    )
    return 2 * between - in_x - in_y


def distance_covariance(X, Y):
    """The squared one: the mean of the products of the doubly centered distances."""
    n, centered_ones = len(X), []
    for Z in (X, Y):
        D = gram(math.dist, Z, Z)
        centered_ones.append(
            [
                [
                    D[i, j] - sum(D[i]) / n - sum(D[j]) / n + sum(map(sum, D)) / n**2
                    for j in range(n)
                ]
                for i in range(n)
            ]
        )
    A, B = centered_ones
    return sum(A[i][j] * B[i][j] for i in range(n) for j in range(n)) / n**2


def deviation(Z):
    """Distances from the median of the column, over their mean."""
    out = np.empty(Z.shape)
    for j in range(Z.shape[1]):
        column = sorted(Z[:, j])
        n = len(column)
        middle = (column[(n - 1) // 2] + column[n // 2]) / 2
        away = [abs(value - middle) for value in Z[:, j]]
        out[:, j] = [value / (sum(away) / n) for value in away]
    return out


def neighbor_bandwidth(Z, distance=math.dist):
    """Root of the median over the rows of the squared distance to the k-th nearest of the n - 1 others.

    k is a tenth of n - 1, rounded up. Where that is zero it is the distance to the nearest row that differs.
    """
    radii = []
    for i in range(len(Z)):
        away = sorted(distance(Z[i], Z[j]) for j in range(len(Z)) if j != i)
        reach = away[math.ceil((len(Z) - 1) / 10) - 1]
        radii.append(reach if reach > 0 else min(value for value in away if value > 0))
    return math.sqrt(np.median(np.square(radii)))


def median_bandwidth(Z):
    """Square root of the median squared distance over pairs i < j (erratum E16).

    When more than half of the distances are zero, the median is over the positive ones.
    """
    squares = [float(np.sum((x - y) ** 2)) for x, y in itertools.combinations(Z, 2)]
    if sum(square == 0 for square in squares) > len(squares) / 2:
        squares = [square for square in squares if square > 0]
    return math.sqrt(np.median(squares))


# ------------------------------------------------------------------------------------ marginalized corruption


def corrupted(X, Y, th2, added):
    """G(x - y; th2 + added) over all pairs, G(delta; A) = |th2|^(1/2) |A|^(-1/2) exp(-delta' A^-1 delta / 2).

    The squared bandwidth `th2` and the variance `added` are numbers or vectors (diagonals). Sig makes L,
    2 Sig makes Q ([X20] (26), (27); erratum E27), Sig_X + Sig_Y the cross terms of (30). Q_ii is not 1.
    """
    th2, added = (np.broadcast_to(np.asarray(value, float), X.shape[1]) for value in (th2, added))
    height = math.sqrt(math.prod(th2) / math.prod(th2 + added))
    return gram(lambda x, y: height * math.exp(-np.sum((x - y) ** 2 / (th2 + added)) / 2), X, Y)


def marginalized_loocv(X, th2, variances):
    """(1/n) sum_i |phi_i - (1/(n-1)) sum_{j != i} E phi(x_j + noise)|^2 ([X20] (25); erratum E27)."""
    n, score = len(X), 0.0
    L, Q = corrupted(X, X, th2, variances), corrupted(X, X, th2, 2 * np.asarray(variances, float))
    for i in range(n):
        others = [j for j in range(n) if j != i]
        cross = sum(L[i, j] for j in others) / (n - 1)
        square = np.sum(Q[np.ix_(others, others)]) / (n - 1) ** 2
        score += (1 - 2 * cross + square) / n
    return score


def marginalized_gradient(X, th2, variances, step=1e-5):
    """Slopes d LOOCV / d e_j by central differences of relative size `step`; a number for one variance."""
    e = np.atleast_1d(np.asarray(variances, float))
    slopes = []
    for j in range(len(e)):
        up, down = e.copy(), e.copy()
        up[j], down[j] = e[j] * (1 + step), e[j] * (1 - step)
        rise = marginalized_loocv(X, th2, up) - marginalized_loocv(X, th2, down)
        slopes.append(rise / (2 * step * e[j]))
    return np.array(slopes) if np.ndim(variances) else slopes[0]


def mkme_tuned(X, th2):
    """(variance, score): the best common variance in th2 [e^-12, e^6], by Brent in every dip of a grid."""
    grid = np.linspace(math.log(np.min(th2)) - 12, math.log(np.max(th2)) + 6, 73)

    def score(log_variance):
        return marginalized_loocv(X, th2, math.exp(log_variance))

    values = [score(point) for point in grid]
    best = min(zip(values, grid, strict=True))
    for k in range(1, 72):
        if values[k] <= min(values[k - 1], values[k + 1]):
            bounds, options = (grid[k - 1], grid[k + 1]), {"xatol": 1e-10}
            dip = scipy.optimize.minimize_scalar(
                score, bounds=bounds, method="bounded", options=options
            )
            best = min(best, (dip.fun, dip.x))
    return math.exp(best[1]), best[0]


def mmkme_tuned(X, th2, starts=4, seed=0):
    """(variances, score): the best diagonal covariance in th2 [e^-12, e^6], from MKME's and random starts."""
    scale = np.log(np.broadcast_to(np.asarray(th2, float), X.shape[1]))
    bounds = list(zip(scale - 12, scale + 6, strict=True))
    first = np.clip(math.log(mkme_tuned(X, th2)[0]), scale - 12, scale + 6)
    random = scale + np.random.default_rng(seed).uniform(-6, 3, size=(starts, len(scale)))
    runs = []
    for start in [first, *random]:
        run = scipy.optimize.minimize(
            lambda e: marginalized_loocv(X, th2, np.exp(e)),
            start,
            jac=lambda e: np.exp(e) * marginalized_gradient(X, th2, np.exp(e)),
            method="L-BFGS-B",
            bounds=bounds,
            options={"ftol": 1e-14, "gtol": 1e-9},
        )
        runs.append((run.fun, *np.exp(run.x)))
    score, *variances = min(runs)
    return np.array(variances), score


def linear_surrogate(X, th2, variances):
    """K^+ L u: the weights on k(x_i, .) closest to the marginalized mean (erratum E26)."""
    K, L = corrupted(X, X, th2, 0.0), corrupted(X, X, th2, variances)
    return np.linalg.pinv(K, hermitian=True) @ np.mean(L, axis=1)


def linear_surrogate_second_order(X, th2, variances):
    """(1 - tr Sig/(2 th2)) u + K^+ K' u/(2 th2^2), K'_ij = K_ij (x_i-x_j)' Sig (x_i-x_j) (erratum E26)."""
    th2, e = (np.broadcast_to(np.asarray(value, float), X.shape[1]) for value in (th2, variances))
    K = corrupted(X, X, th2, 0.0)
    bent = K * gram(lambda x, y: np.sum(e / (2 * th2**2) * (x - y) ** 2), X, X)
    return (1 - np.sum(e / (2 * th2))) / len(X) + np.linalg.pinv(K, hermitian=True) @ np.mean(
        bent, axis=1
    )


def smoothed_inner(X, w_x, var_x, Y, w_y, var_y, th2):
    """<sum_i w_i E phi(x_i + noise), sum_j v_j E phi(y_j + noise)>, noises N(0, var_x) and N(0, var_y)."""
    G = corrupted(X, Y, th2, np.asarray(var_x, float) + np.asarray(var_y, float))
    return sum(w_x[i] * G[i, j] * w_y[j] for i in range(len(X)) for j in range(len(Y)))


def smoothed_mean(x, X, variances, th2):
    """The marginalized mean at one point: (1/n) sum_j G(x - x_j; diag(th2 + Sig))."""
    return np.mean(corrupted(x[None, :], X, th2, variances))
