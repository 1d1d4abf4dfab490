"""True kernel means of mixtures, losses of their estimates, and exactly known risks.

The risks are known without simulation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from shrinktest._check import Array, complete_points, count, positive
from shrinktest.embedding import MeanEmbedding
from shrinktest.kernels import Kernel, as_kernel
from shrinktest.risk.closed_form import closed_form
from shrinktest.risk.mixtures import NormalMixture, as_mixture


@dataclass(frozen=True, eq=False)
class TrueEmbedding:
    """The kernel mean mu_P = E k(X, .) of a mixture of Gaussians.

    The function :func:`true_embedding` makes it.

    Attributes
    ----------
    mixture : NormalMixture
        The distribution of which it is the kernel mean.
    kernel : Kernel
        The kernel, with its bandwidth resolved.
    squared_norm, expected_diagonal : float
        |mu_P|^2 = E k(X, X') for independent copies, and E k(X, X).

    Examples
    --------
    >>> from shrinktest import KME, Linear
    >>> truth = true_embedding(([1.0], [[3.0, 0.0]], [[[1.0, 0.0], [0.0, 4.0]]]), Linear())
    >>> truth.squared_norm, truth.expected_diagonal, truth.inner(KME().fit([[2.0, 1.0]], Linear()))
    (9.0, 14.0, 6.0)
    """

    mixture: NormalMixture
    kernel: Kernel
    squared_norm: float
    expected_diagonal: float

    def evaluate(self, points: Any) -> Array:
        """Return mu_P(x) = E k(x, X) at the rows x of ``points`` (n, d), shape (n,)."""
        x = complete_points(points, "points").values
        return closed_form(self.kernel, self.mixture).at(x) @ self.mixture.weights

    def inner(self, embedding: MeanEmbedding) -> float:
        """Return <mu, mu_P> for an estimate mu with the same kernel.

        A marginalized estimate is the mean of E k(x_i + e, .), e ~ N(0, V) (erratum E28 in
        :doc:`/errata`).  If the kernel depends on x - y only, its inner product with mu_P is that
        of the plain points with the kernel mean of X - e.
        """
        if embedding.kernel != self.kernel:
            raise ValueError(
                "embedding and truth have different kernels; use true_embedding(mixture, "
                "embedding.kernel)"
            )
        noise = embedding.smoothing
        mixture = self.mixture if noise is None else self.mixture.blurred(noise)
        means = closed_form(self.kernel, mixture).at(embedding.points) @ mixture.weights
        return float(embedding.weights @ means)


def true_embedding(mixture: Any, kernel: Any) -> TrueEmbedding:
    """Return the exact kernel mean of a mixture of Gaussians.

    Parameters
    ----------
    mixture : NormalMixture or (weights, means, covariances)
        Weights (k,), means (k, d) and covariances (k, d, d).
    kernel : Kernel
        Linear, polynomial of degree 1 to 3 with any offset, Gaussian, or, for diagonal covariances,
        Laplacian (of the 1-norm), with numbers for bandwidths; or sums and positive multiples of
        these.

    Returns
    -------
    TrueEmbedding
        The kernel mean, which can be evaluated and has inner products with estimates.

    Raises
    ------
    ValueError
        If the kernel has no closed form, or the mixture is not a distribution.

    Examples
    --------
    >>> from shrinktest import Gaussian
    >>> mixture = [0.5, 0.5], [[0.0], [4.0]], [[[1.0]], [[2.0]]]
    >>> truth = true_embedding(mixture, Gaussian(bandwidth=1.0))
    >>> truth.evaluate([0.0, 4.0]).round(4), round(truth.squared_norm, 4), truth.expected_diagonal
    (array([0.3736, 0.2952]), 0.29, 1.0)
    """
    mixture = as_mixture(mixture)
    kernel = as_kernel(kernel)
    form = closed_form(kernel, mixture)
    weights = mixture.weights
    return TrueEmbedding(
        mixture, kernel, float(weights @ form.pairs() @ weights), float(weights @ form.diagonal())
    )


def loss(embedding: MeanEmbedding, truth: TrueEmbedding) -> float:
    """Return the exact squared RKHS distance |mu - mu_P|^2 from the truth.

    Parameters
    ----------
    embedding : MeanEmbedding
        The result of an estimator's ``fit``.  For marginalized estimators, the loss is computed in
        closed form from smoothed features; the loss printed in [X20] does not apply to these
        (erratum E28 in :doc:`/errata`).
    truth : TrueEmbedding
        True kernel mean, made with the same resolved kernel.

    Returns
    -------
    float
        The squared distance, which is never negative.

    Raises
    ------
    ValueError
        If the two kernels or the dimensions differ.

    References
    ----------
    .. [X20] Xia et al., "Kernel mean estimation by marginalized corrupted distributions",
       arXiv:2107.04855, 2021.

    Examples
    --------
    >>> from shrinktest import KME, SKMSE, Gaussian
    >>> from shrinktest.risk import true_embedding
    >>> mixture = [1.0], [[0.0, 0.0]], [[[1.0, 0.5], [0.5, 1.0]]]
    >>> truth = true_embedding(mixture, Gaussian(bandwidth=1.0))
    >>> X = truth.mixture.sample(0, 10)
    >>> [round(loss(estimator.fit(X, truth.kernel), truth), 4) for estimator in (KME(), SKMSE())]
    [0.0617, 0.047]
    """
    return max(embedding.norm2() - 2.0 * truth.inner(embedding) + truth.squared_norm, 0.0)


def kme_risk(truth: TrueEmbedding, n: int) -> float:
    """Return the exact risk E |mu_hat - mu_P|^2 of the plain average of n points.

    The risk is (E k(X, X) - |mu_P|^2) / n.

    Parameters
    ----------
    truth : TrueEmbedding
        True kernel mean of the distribution.
    n : int
        Number of points in the sample.

    Returns
    -------
    float
        The risk, which is the variance of the plain average.

    Raises
    ------
    ValueError
        If ``n`` is not a positive integer.

    Examples
    --------
    >>> from shrinktest import Linear
    >>> from shrinktest.risk import true_embedding
    >>> kme_risk(true_embedding(([1.0], [[3.0]], [[[4.0]]]), Linear()), n=10)  # variance over n
    0.4
    """
    return max(truth.expected_diagonal - truth.squared_norm, 0.0) / count(n, "n", minimum=1)


def shrinkage_risk(
    truth: TrueEmbedding, n: int, alpha: float, target: MeanEmbedding | None = None
) -> float:
    """Return the exact risk of simple shrinkage by a fixed amount.

    The risk of (1 - alpha) mu_hat + alpha f* is (1 - alpha)^2 Delta + alpha^2 |mu_P - f*|^2, where
    Delta is the risk of the plain average ([M14] Theorem 1).

    Parameters
    ----------
    truth : TrueEmbedding
        True kernel mean of the distribution.
    n : int
        Number of points in the sample.
    alpha : float
        Amount of shrinkage, at least 0; above 1 the estimate changes its sign.  The amount lam =
        c n^-beta ([S14] Theorem 1) corresponds to lam / (1 + lam).
    target : MeanEmbedding, optional
        Target f* of the shrinkage, which must not depend on the sample; by default 0.

    Returns
    -------
    float
        The expected squared distance from the true kernel mean.

    Raises
    ------
    ValueError
        If ``n`` or ``alpha`` is out of range, or the target has another kernel.

    References
    ----------
    .. [M14] Muandet et al., "Kernel mean estimation and Stein effect", ICML, 2014.
    .. [S14] Muandet et al., "Kernel mean estimation via spectral filtering", NeurIPS, 2014.

    Examples
    --------
    >>> from shrinktest import Linear
    >>> from shrinktest.risk import true_embedding
    >>> round(
    ...     shrinkage_risk(true_embedding(([1.0], [[3.0]], [[[4.0]]]), Linear()), n=10, alpha=0.5),
    ...     4,
    ... )
    2.35
    """
    alpha = positive(alpha, "alpha", allow_zero=True)
    return (1.0 - alpha) ** 2 * kme_risk(truth, n) + alpha**2 * _bias(truth, target)


class Oracle(NamedTuple):
    """The best amount of simple shrinkage, between 0 and 1, and its risk.

    Attributes
    ----------
    alpha : float
        Amount of shrinkage with the smallest risk.
    risk : float
        The risk at that amount.
    """

    alpha: float
    risk: float


def oracle_shrinkage(truth: TrueEmbedding, n: int, target: MeanEmbedding | None = None) -> Oracle:
    """Return the amount of simple shrinkage with the smallest risk, and that risk.

    This requires a known distribution.  ``alpha`` is Delta / (Delta + |mu_P - f*|^2) and ``risk``
    is alpha |mu_P - f*|^2, where Delta is the risk of the plain average ([M14] Theorem 1).  If
    Delta is 0, nothing can be gained (erratum E2 in :doc:`/errata`) and alpha is 0.

    Parameters
    ----------
    truth : TrueEmbedding
        True kernel mean of the distribution.
    n : int
        Number of points in the sample.
    target : MeanEmbedding, optional
        Target f* of the shrinkage, which must not depend on the sample; by default 0.

    Returns
    -------
    Oracle
        The named tuple ``(alpha, risk)``.

    Raises
    ------
    ValueError
        If ``n`` is not a positive integer, or the target has another kernel.

    References
    ----------
    .. [M14] Muandet et al., "Kernel mean estimation and Stein effect", ICML, 2014.

    Examples
    --------
    >>> from shrinktest import Linear
    >>> from shrinktest.risk import true_embedding
    >>> oracle = oracle_shrinkage(true_embedding(([1.0], [[3.0]], [[[4.0]]]), Linear()), n=10)
    >>> round(oracle.alpha, 4), round(oracle.risk, 4)
    (0.0426, 0.383)
    """
    variance = kme_risk(truth, n)
    bias = _bias(truth, target)
    alpha = variance / (variance + bias) if variance > 0.0 else 0.0
    return Oracle(alpha, alpha * bias)


def _bias(truth: TrueEmbedding, target: MeanEmbedding | None) -> float:
    return truth.squared_norm if target is None else loss(target, truth)
