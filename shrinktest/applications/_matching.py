"""The distance of a Gaussian mixture from an embedding, and its minimization."""

from __future__ import annotations

import numpy as np

from shrinktest._check import Array
from shrinktest.applications._mixtures import Mixture, mixture_means
from shrinktest.embedding import MeanEmbedding

# Variances stay below this multiple of the variance of the points: far above any data, far below
# overflow.
_WIDEST = 1e6


class Matching:
    """J(Q) = |mu_b - mu_Q|^2 = b'Kb - 2 pi'f + pi'A pi for mixtures Q.

    See `_mixtures` for f and A.
    """

    def __init__(self, embedding: MeanEmbedding) -> None:
        self.embedding = embedding
        self.closed = mixture_means(
            embedding.kernel, embedding.points.shape[1], embedding.smoothing
        )
        self.norm2 = embedding.norm2()

    def evaluate(self, mixture: Mixture) -> tuple[float, Mixture]:
        """Return the squared distance J and its derivatives in the weights, means and variances."""
        pi = mixture.weights
        f = self.closed.against(self.embedding.points, self.embedding.weights, mixture)
        pairs = self.closed.among(mixture)
        through = pairs.values @ pi
        value = self.norm2 - 2.0 * pi @ f.values + pi @ through
        return float(value), Mixture(
            2.0 * (through - f.values),
            2.0 * pi[:, None] * (pairs.means - f.means),
            2.0 * pi * (pairs.variances - f.variances),
        )

    def minimize(
        self, start: Mixture, floor: float, steps: int, tol: float
    ) -> tuple[Mixture, int, bool]:
        """The best mixture near the start, the iterations it took, and whether they were enough.

        Weights are a softmax, means in units of the width of the data, variances exponentials, at
        least ``floor``. Where the kernel does not see variances they are left out, and keep their
        values exactly.
        """
        from scipy.optimize import minimize

        k, d = start.means.shape
        # J at the optimum is a small part of |mu|^2: progress is measured by the start, unless that
        # is perfect but for rounding (the linear kernel, whose mean is the mean of the clusters).
        size = max(self.norm2, float(np.abs(self.closed.among(start).values).max()))
        scale = max(self.evaluate(start)[0], 1e-9 * size) or 1.0
        unit = float(np.sqrt(np.mean(start.variances) + start.means.var(axis=0).mean()))
        widest = _WIDEST * max(1e3 * floor, float(self.embedding.points.var(axis=0).mean()))
        seen = self.closed.sees_variances

        def unpacked(x: Array) -> Mixture:
            pi = np.exp(x[:k] - x[:k].max())
            means = unit * x[k : k + k * d].reshape(k, d)
            return Mixture(
                pi / pi.sum(), means, np.exp(x[k + k * d :]) if seen else start.variances
            )

        def objective(x: Array) -> tuple[float, Array]:
            mixture = unpacked(x)
            value, by = self.evaluate(mixture)
            pi = mixture.weights
            parts = [pi * (by.weights - pi @ by.weights), unit * by.means.ravel()]
            if seen:
                parts.append(mixture.variances * by.variances)
            return value / scale, np.concatenate(parts) / scale

        free = [(None, None)] * (k + k * d)
        x = [
            np.log(start.weights),
            start.means.ravel() / unit,
            *([np.log(start.variances)] if seen else []),
        ]
        solution = minimize(
            objective,
            np.concatenate(x),
            jac=True,
            method="L-BFGS-B",
            bounds=free + [(np.log(floor), np.log(widest))] * (k if seen else 0),
            # where J is flat to rounding a line search may give up: that is an end like any other
            options={
                "maxiter": steps,
                "maxfun": 20 * steps,
                "ftol": tol,
                "gtol": 1e-9,
                "maxcor": 30,
            },
        )
        return unpacked(solution.x), int(solution.nit), solution.status != 1


def kmeans_start(
    points: Array, k: int, floor: float, n_init: int, rng: np.random.Generator
) -> Mixture:
    """K-means clusters as a mixture: shares, centers, and mean squared deviations.

    The deviations are per coordinate.
    """
    from sklearn.cluster import KMeans

    clusters = KMeans(k, n_init=n_init, random_state=int(rng.integers(2**31 - 1))).fit(points)
    sizes = np.bincount(clusters.labels_, minlength=k)
    if not sizes.all():
        raise ValueError(
            f"n_components={k} exceeds the {np.count_nonzero(sizes)} distinct rows of X; use fewer "
            "components"
        )
    squares = np.square(points - clusters.cluster_centers_[clusters.labels_]).mean(axis=1)
    within = np.bincount(clusters.labels_, weights=squares, minlength=k) / sizes
    within[sizes == 1] = squares.mean()  # one point has no spread of its own
    return Mixture(
        sizes / len(points), clusters.cluster_centers_.astype(np.float64), np.maximum(within, floor)
    )
