"""TailPvalue: an approximate p-value below one over the number of permutations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import choice, level, percent
from shrinktest.notes import note
from shrinktest.permutations.null import Null
from shrinktest.permutations.tail_fit import ParetoTail, Pearson3Tail, TailFit
from shrinktest.results.printing import without_zero

if TYPE_CHECKING:
    from shrinktest.results.result import TestResult

METHODS = ("pearson3", "pareto")
LEAST = 200  # permutations that a tail is fitted to

_ENOUGH = 10  # permutations that reach the statistic: the tail was observed
_IN_WORDS = {
    "pearson3": "Pearson III fitted to",
    "pareto": "Pareto tail fitted to",
    "counted": "counted in",
    "enumerated": "all",
}


@dataclass(frozen=True)
class TailPvalue:
    """Approximate p-value in the tail of a null distribution.

    The method ``result.tail_pvalue()`` returns it.

    Attributes
    ----------
    pvalue : float
        Estimate of the p-value that all permutations would give.
    interval : tuple of float
        Confidence interval of the p-value.
    sigma : float
        The quantile of the standard normal distribution that is exceeded with this probability
        (one-sided).
    method : str
        "pearson3" or "pareto", as requested, but "counted" if ten permutations or more reach the
        statistic, and "enumerated" if all permutations were used.
    fitted : mapping of str to float
        Parameters of the fit: "mean", "sd" and "skewness", or "exceedances", "threshold", "scale"
        and "shape"; empty without one.
    n_resamples : int
        Number of permutations.
    confidence : float
        Confidence level of the interval.
    resamples : str
        "permutations", or "simulations" of a model.
    note : str
        Note that the p-value is approximate; empty if it is not.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import two_sample_test
    >>> rng = np.random.default_rng(0)
    >>> result = two_sample_test(rng.normal(size=(60, 2)), rng.normal(0.8, 1.0, (60, 2)), rng=0)
    >>> print(result.tail_pvalue())
    p = .0001, 95% interval [2.9e-05, .00047], 3.7 sigma (Pearson III fitted to 999 permutations; approximate)
    """  # noqa: E501  # printed lines

    pvalue: float
    interval: tuple[float, float]
    sigma: float
    method: str
    fitted: Mapping[str, float] = field(default_factory=dict)
    n_resamples: int = 0
    confidence: float = 0.95
    resamples: str = "permutations"
    note: str = ""

    def __str__(self) -> str:
        shown = [without_zero(f"{limit:.2g}") for limit in (self.pvalue, *self.interval)]
        how = f"{_IN_WORDS[self.method]} {self.n_resamples} {self.resamples}"
        approximate = "; approximate" if self.note else ""
        return (
            f"p = {shown[0]}, {percent(self.confidence)} interval [{shown[1]}, {shown[2]}], "
            f"{self.sigma:.1f} sigma ({how}{approximate})"
        )


def tail_pvalue(
    result: TestResult, *, method: str = "pearson3", confidence: float = 0.95
) -> TailPvalue:
    """Approximate a p-value that is too small for the number of permutations.

    ``pvalue`` cannot be below 1 / (B + 1), where B is the number of permutations.  This method fits
    the tail of the null distribution to its B values and extrapolates it to the statistic.  Because
    the result is approximate, rely on ``pvalue``, which is exact, and report this as an order of
    magnitude.

    Parameters
    ----------
    method : {"pearson3", "pareto"}, default "pearson3"
        "pearson3" fits a Pearson III distribution by the mean, variance and skewness of all values;
        its interval covers an exponential tail, too.  "pareto" fits a generalized Pareto
        distribution to the largest values, fewer and fewer until a test of fit does not
        reject it [KWRS09].  :doc:`/validity` has the errors of both.
    confidence : float, default 0.95
        Confidence level of the interval.

    Returns
    -------
    TailPvalue
        ``pvalue``, ``interval``, ``sigma``, and the parameters of the fit.  If ten values reach the
        statistic, or all permutations were used, it is the p-value by counting.

    Raises
    ------
    ValueError
        If there are fewer than 200 values, or a stopping rule ended the drawing.

    References
    ----------
    .. [KWRS09] Knijnenburg et al., "Fewer permutations, more accurate P-values", Bioinformatics 25,
       2009.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import two_sample_test
    >>> rng = np.random.default_rng(0)
    >>> result = two_sample_test(rng.normal(size=60), rng.normal(0.9, 1.0, size=60), rng=0)
    >>> tail = result.tail_pvalue()
    >>> result.pvalue, float(f"{tail.pvalue:.1g}"), round(tail.sigma, 1)
    (0.001, 7e-06, 4.3)
    """
    limits = result.pvalue_interval(confidence)
    return tail_of(result.null, method, confidence, limits, result.kind.resamples)


def tail_of(
    null: Null,
    method: str,
    confidence: float,
    limits: tuple[float, float],
    resamples: str = "permutations",
    fits: Sequence[TailFit] | None = None,
) -> TailPvalue:
    """Return the p-value in the tail of a null distribution.

    ``limits`` are those of the p-value by counting, which a fit does not exceed; ``fits`` are those
    of the values, if they are known.
    """
    choice(method, METHODS, "method")
    level(confidence, "confidence")
    _require_values(null, resamples)
    shared: dict[str, Any] = {
        "n_resamples": null.values.size,
        "confidence": confidence,
        "resamples": resamples,
    }
    if null.exact or null.exceedances >= _ENOUGH or null.constant:
        counted = "enumerated" if null.exact else "counted"
        return TailPvalue(null.pvalue, limits, _sigma(null.pvalue), counted, **shared)
    fits = fits_of(null.values, method) if fits is None else fits
    log_pvalue, low, high = _estimated(fits, null.observed, confidence)
    if math.isinf(log_pvalue):
        raise ValueError(
            "method='pareto': the tail that fits ends below the statistic; use method='pearson3'"
        )
    pvalue = _probability(log_pvalue)
    return TailPvalue(
        pvalue,
        (_probability(low), max(pvalue, min(_probability(high), limits[1]))),
        _sigma(pvalue),
        method,
        fits[0].parameters,
        **shared,
        note=note("tail", resamples=resamples),
    )


def fits_of(values: np.ndarray, method: str) -> list[TailFit]:
    """Return the fit by the method, and after it others that the interval covers.

    The tail of a weighted sum of chi squares, which most statistics tend to, is exponential; that
    of few permutations ends.
    """
    pareto = ParetoTail.fitted(values)
    if method == "pearson3":
        others = [ParetoTail.fitted(values, shape=0.0), pareto]
        return [Pearson3Tail(values), *(fit for fit in others if fit is not None)]
    if pareto is None:
        raise ValueError(
            "method='pareto' fits no number of the largest values; use method='pearson3'"
        )
    return [pareto]


def _estimated(
    fits: Sequence[TailFit], observed: float, confidence: float
) -> tuple[float, float, float]:
    """Return the logarithm of the first p-value, and limits that cover what all fits say.

    A tail with a shape of its own, whose error is largest, counts by its estimate.
    """
    from scipy.special import ndtri

    quantile = float(ndtri((1.0 + confidence) / 2.0))
    lows = []
    highs = []
    for fit in fits:
        estimate, error = fit.at(observed)
        free = isinstance(fit, ParetoTail) and not fit.fixed and len(fits) > 1
        if math.isinf(estimate):
            continue
        margin = 0.0 if free else quantile * error
        lows.append(estimate - margin)
        highs.append(estimate + margin)
    return fits[0].at(observed)[0], min(lows, default=-math.inf), max(highs, default=-math.inf)


def _require_values(null: Null, resamples: str) -> None:
    """Raise ValueError for a null distribution that has no tail to fit."""
    if not null.values.size:
        raise ValueError(
            f"n_resamples: this result keeps no {resamples}; run the test with n_resamples=999"
        )
    if null.stopped:
        raise ValueError(
            "stopping: the rule ended the drawing, and the values left are a biased sample; run "
            "the test without it"
        )
    if not null.exact and null.values.size < LEAST:
        raise ValueError(
            f"n_resamples: {null.values.size} {resamples} are too few for a tail; use "
            f"{LEAST} or more, such as 999"
        )


def _probability(log_pvalue: float) -> float:
    return math.exp(min(0.0, max(log_pvalue, math.log(np.finfo(float).tiny))))


def _sigma(pvalue: float) -> float:
    from scipy.special import ndtri

    return float(-ndtri(pvalue))
