"""The loss of an estimate, and the risks that are known without simulation."""

from __future__ import annotations

from typing import Any, NamedTuple

from shrinktest._check import count, positive
from shrinktest.embedding import MeanEmbedding
from shrinktest.risk.truth import TrueEmbedding


class Oracle(NamedTuple):
    """The best amount of simple shrinkage, alpha, and its risk.

    Parameters
    ----------
    alpha : float
        Between 0 and 1.
    risk : float
        The expected squared RKHS distance from the true kernel mean with this amount.

    Examples
    --------
    >>> from shrinktest import Gaussian
    >>> from shrinktest.risk import oracle_shrinkage, true_embedding
    >>> truth = true_embedding(([1.0], [[0.0]], [[[1.0]]]), Gaussian(bandwidth=1.0))
    >>> oracle_shrinkage(truth, n=10).alpha.__round__(4)
    0.0682
    """

    alpha: float
    risk: float


def loss(embedding: MeanEmbedding, truth: TrueEmbedding) -> float:
    """The exact squared RKHS distance |mu - mu_P|^2 of an estimate from the true kernel mean.

    Parameters
    ----------
    embedding : MeanEmbedding
        What an estimator's ``fit`` returns: w' K w - 2 w' (mu_P(x_i))_i + |mu_P|^2, and for the marginalised ones the
        closed form for smoothed features (the loss printed in [X20] does not apply to them: erratum E28).
    truth : TrueEmbedding
        Made with the same resolved kernel.

    Raises
    ------
    ValueError
        If the two do not live in the same RKHS.

    See Also
    --------
    true_embedding : The true kernel mean of a mixture of Gaussians.
    risk_study : The mean of such losses over many samples.

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
    crossed = _true(truth).inner(embedding)
    return max(embedding.norm2() - 2.0 * crossed + truth.squared_norm, 0.0)


def kme_risk(truth: TrueEmbedding, n: int) -> float:
    """The exact risk E |mu_hat - mu_P|^2 = (E k(X, X) - |mu_P|^2) / n of the plain average of n points.

    Parameters
    ----------
    truth : TrueEmbedding
    n : int
        Number of points.

    See Also
    --------
    shrinkage_risk : The risk once the average is shrunken.
    oracle_shrinkage : The smallest risk by simple shrinkage.

    Examples
    --------
    >>> from shrinktest import Linear
    >>> from shrinktest.risk import true_embedding
    >>> kme_risk(true_embedding(([1.0], [[3.0]], [[[4.0]]]), Linear()), n=10)  # variance over n
    0.4
    """
    return max(_true(truth).expected_diagonal - truth.squared_norm, 0.0) / count(n, "n", minimum=1)


def shrinkage_risk(truth: TrueEmbedding, n: int, alpha: float, target: MeanEmbedding | None = None) -> float:
    """The exact risk of simple shrinkage (1 - alpha) mu_hat + alpha f* by a fixed amount.

    Parameters
    ----------
    truth : TrueEmbedding
    n : int
        Number of points.
    alpha : float
        At least 0; above 1 the estimate changes its sign.  lam = c n^-beta ([S14] Theorem 1) is lam / (1 + lam).
    target : MeanEmbedding, optional
        f*, fixed beforehand; by default 0.

    See Also
    --------
    oracle_shrinkage : The amount for which this risk is smallest.
    kme_risk : The risk without shrinkage.

    Notes
    -----
    (1 - alpha)^2 Delta + alpha^2 |mu_P - f*|^2 with Delta the risk of the plain average ([M14] Theorem 1).

    Examples
    --------
    >>> from shrinktest import Linear
    >>> from shrinktest.risk import true_embedding
    >>> truth = true_embedding(([1.0], [[3.0]], [[[4.0]]]), Linear())
    >>> round(shrinkage_risk(truth, n=10, alpha=0.5), 4)
    2.35
    """
    alpha = positive(alpha, "alpha", allow_zero=True)
    return (1.0 - alpha) ** 2 * kme_risk(truth, n) + alpha**2 * _bias(truth, target)


def oracle_shrinkage(truth: TrueEmbedding, n: int, target: MeanEmbedding | None = None) -> Oracle:
    """The amount of simple shrinkage with the smallest risk, and that risk, for a known distribution.

    Parameters
    ----------
    truth, n, target
        As for :func:`shrinkage_risk`.

    Returns
    -------
    Oracle
        ``alpha`` = Delta / (Delta + |mu_P - f*|^2) and ``risk`` = alpha |mu_P - f*|^2 ([M14] Theorem 1; where Delta is
        0 nothing can be gained, erratum E2, and alpha is 0).

    See Also
    --------
    shrinkage_risk : The risk of any other amount.
    shrinktest.SKMSE : The estimator, which finds its amount from the data.

    Examples
    --------
    >>> from shrinktest import Linear
    >>> from shrinktest.risk import true_embedding
    >>> oracle = oracle_shrinkage(true_embedding(([1.0], [[3.0]], [[[4.0]]]), Linear()), n=10)
    >>> round(oracle.alpha, 4), round(oracle.risk, 4)
    (0.0426, 0.383)
    """
    variance, bias = kme_risk(truth, n), _bias(truth, target)
    alpha = variance / (variance + bias) if variance > 0.0 else 0.0
    return Oracle(alpha, alpha * bias)


def _bias(truth: TrueEmbedding, target: MeanEmbedding | None) -> float:
    return truth.squared_norm if target is None else loss(target, truth)


def _true(truth: Any) -> TrueEmbedding:
    if not isinstance(truth, TrueEmbedding):
        raise TypeError(f"truth must be what true_embedding() returns; got {type(truth).__name__}")
    return truth
