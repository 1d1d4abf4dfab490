"""TrueEmbedding: the kernel mean of a known distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._check import Array, complete_points, counted
from shrinktest.embedding import MeanEmbedding
from shrinktest.kernels import Kernel, as_kernel
from shrinktest.risk.closed_form import closed_form
from shrinktest.risk.mixture import NormalMixture, as_mixture


@dataclass(frozen=True, eq=False)
class TrueEmbedding:
    """The kernel mean mu_P = E k(X, .) of a mixture of Gaussians; :func:`true_embedding` makes it.

    Parameters
    ----------
    mixture : NormalMixture
        The distribution P of X.
    kernel : Kernel
        With its bandwidth resolved.
    squared_norm : float
        |mu_P|^2 = E k(X, X'), X' an independent copy of X.
    expected_diagonal : float
        E k(X, X).

    Examples
    --------
    >>> from shrinktest import KME, Linear
    >>> truth = true_embedding(([1.0], [[3.0, 0.0]], [[[1.0, 0.0], [0.0, 4.0]]]), Linear())
    >>> truth.squared_norm, truth.expected_diagonal
    (9.0, 14.0)
    >>> truth.inner(KME().fit([[2.0, 1.0]], Linear()))
    6.0
    """

    mixture: NormalMixture
    kernel: Kernel
    squared_norm: float
    expected_diagonal: float

    def evaluate(self, points: Any) -> Array:
        """mu_P(x) = E k(x, X) at the rows x of ``points`` (n, d), shape (n,)."""
        x = complete_points(points, "points").values
        if x.shape[1] != self.mixture.dimension:
            raise ValueError(
                f"points has {counted(x.shape[1], 'column')}, the mixture has dimension {self.mixture.dimension}"
            )
        return closed_form(self.kernel, self.mixture).at(x) @ self.mixture.weights

    def inner(self, embedding: MeanEmbedding) -> float:
        """<mu, mu_P> for an estimate mu, also a marginalised one.

        Raises
        ------
        ValueError
            If the two do not live in the same RKHS.

        Notes
        -----
        A marginalised estimate is the mean of E k(x_i + e, .), e ~ N(0, V), and not a finite combination of the
        k(x_i, .) (erratum E28).  With a kernel of x - y its inner product with mu_P is that of the plain points with
        the kernel mean of X - e.
        """
        if not isinstance(embedding, MeanEmbedding):
            raise TypeError(f"embedding must be a MeanEmbedding, as fit() returns it; got {type(embedding).__name__}")
        if embedding.kernel != self.kernel:
            raise ValueError(
                f"embedding: its kernel {embedding.kernel!r} is not that of the true mean, {self.kernel!r}; make the "
                "true mean with the resolved kernel, true_embedding(mixture, embedding.kernel)"
            )
        truth = self
        if embedding.smoothing is not None:
            blurred = self.mixture.blurred(np.asarray(embedding.smoothing))
            truth = TrueEmbedding(blurred, self.kernel, self.squared_norm, self.expected_diagonal)
        return float(embedding.weights @ truth.evaluate(embedding.points))


def true_embedding(mixture: Any, kernel: Any) -> TrueEmbedding:
    """The exact kernel mean of a mixture of Gaussians.

    Parameters
    ----------
    mixture : NormalMixture or (weights, means, covariances)
        Weights (k,), means (k, d) and covariances (k, d, d).
    kernel : Kernel
        Linear, polynomial of degree 1 to 3 with any offset, Gaussian, or, for diagonal covariances, Laplacian (of the
        1-norm), with numbers for bandwidths; or sums and positive multiples of these.

    Returns
    -------
    TrueEmbedding
        With ``evaluate(points)``, ``squared_norm`` and ``expected_diagonal``.

    Raises
    ------
    TypeError, ValueError
        For a mixture that is none, and for a kernel without a closed form; the message lists those with one.

    See Also
    --------
    loss : How far an estimate is from the true kernel mean.
    risk_study : The mean of such losses over many samples.

    Examples
    --------
    >>> from shrinktest import Gaussian
    >>> mixture = [0.5, 0.5], [[0.0], [4.0]], [[[1.0]], [[2.0]]]
    >>> truth = true_embedding(mixture, Gaussian(bandwidth=1.0))
    >>> truth.evaluate([0.0, 4.0]).round(4)
    array([0.3736, 0.2952])
    >>> round(truth.squared_norm, 4), truth.expected_diagonal
    (0.29, 1.0)
    """
    mixture, kernel = as_mixture(mixture), as_kernel(kernel)
    form, pi = closed_form(kernel, mixture), mixture.weights
    return TrueEmbedding(mixture, kernel, float(pi @ form.pairs() @ pi), float(pi @ form.diagonal()))
