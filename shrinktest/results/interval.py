"""The Clopper-Pearson interval for a proportion."""

from __future__ import annotations


def clopper_pearson(count: int, trials: int, confidence: float) -> tuple[float, float]:
    """Limits that cover the probability behind ``count`` of ``trials`` with at least this confidence.

    C. J. Clopper and E. S. Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial,
    Biometrika 26 (1934), 404-413, as quantiles of beta distributions.

    Examples
    --------
    >>> low, high = clopper_pearson(5, 100, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.0164, 0.1128)
    """
    from scipy.special import betaincinv  # statsmodels has the interval too, and takes a second to import

    tail = (1.0 - confidence) / 2.0
    low = betaincinv(count, trials - count + 1, tail) if count else 0.0
    high = 1.0 - betaincinv(trials - count, count + 1, tail) if count < trials else 1.0
    return float(low), float(high)
