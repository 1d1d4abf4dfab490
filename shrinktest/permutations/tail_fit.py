"""TailFit: the tail of a null distribution, fitted to its values and continued beyond them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from shrinktest._random import as_rng

#: Values that a Pareto tail is fitted to: the first number of largest ones that it fits.
EXCEEDANCES = (250, 200, 160, 125, 100, 80, 60, 50, 40, 30)

_SHARE = 4  # the tail begins in the largest quarter of the values
_REPLICATES = 99  # of the check of fit
_LEVEL = 0.05
_STEP = 1e-4  # of numerical derivatives
_LEAST_SKEWNESS = 1e-3  # below it the normal distribution is the same


class TailFit(ABC):
    """Tail of a null distribution, fitted to its values."""

    @abstractmethod
    def at(self, observed: float) -> tuple[float, float]:
        """Return the log probability to reach a value, and its standard error."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, float]:
        """Parameters of the fit, by their names."""


# --- Pearson III ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Pearson3Tail(TailFit):
    """Pearson III distribution, a shifted gamma, with the mean, variance and skewness of values.

    Skewness below zero, whose tail would end, is taken as zero.  P. W. Mielke and K. J. Berry,
    Permutation Methods (2007), section 2.3.
    """

    values: np.ndarray

    @cached_property
    def _moments(self) -> tuple[float, float, np.ndarray]:
        """Mean, standard deviation, and standardized values."""
        mean = float(self.values.mean())
        spread = float(self.values.std())
        return mean, spread, (self.values - mean) / spread

    @property
    def parameters(self) -> dict[str, float]:
        mean, spread, heights = self._moments
        return {"mean": mean, "sd": spread, "skewness": float((heights**3).mean())}

    def at(self, observed: float) -> tuple[float, float]:
        """Return the log probability, and its standard error by the delta method.

        It comes from the influence of every value on the three moments.
        """
        mean, spread, heights = self._moments
        skewness = float((heights**3).mean())
        used = max(skewness, 0.0)
        height = (observed - mean) / spread
        by_height = _log_pearson3(height + _STEP, used) - _log_pearson3(height - _STEP, used)
        by_skewness = _log_pearson3(height, used + _STEP) - _log_pearson3(height, used)
        second = (heights**2 - 1.0) / 2.0  # influence on the standard deviation
        third = heights**3 - skewness - 3.0 * heights - 3.0 * skewness * second
        influence = -by_height / (2.0 * _STEP) * (heights + height * second)
        influence += by_skewness / _STEP * third
        error = float(influence.std()) / math.sqrt(self.values.size)
        return _log_pearson3(height, used), error


def _log_pearson3(height: float, skewness: float) -> float:
    """Return the log tail probability of a standardized Pearson III distribution."""
    from scipy.special import gammaincc, log_ndtr

    if skewness < _LEAST_SKEWNESS:
        return float(log_ndtr(-height))
    shape = 4.0 / skewness**2
    place = max(shape + height * math.sqrt(shape), 0.0)
    return math.log(max(float(gammaincc(shape, place)), np.finfo(float).tiny))


# --- generalized Pareto ---------------------------------------------------------------------------


@dataclass(frozen=True)
class ParetoTail(TailFit):
    """Generalized Pareto distribution of the excesses over a threshold, of a share of the values.

    With shape 0, the exponential distribution; a tail with a shape below 0 ends.
    """

    exceedances: int
    share: float
    threshold: float
    scale: float
    shape: float
    fixed: bool  # whether the shape was given

    @classmethod
    def fitted(cls, values: np.ndarray, shape: float | None = None) -> ParetoTail | None:
        """Fit the largest 250 values, and fewer until they fit; None if none do.

        An Anderson-Darling test, whose null distribution is simulated, must not reject at .05
        (T. A. Knijnenburg et al., Fewer permutations, more accurate P-values, Bioinformatics 25
        (2009), i161-i168, section 2).
        """
        ordered = np.sort(values)[::-1]
        for count in EXCEEDANCES:
            if _SHARE * count > ordered.size:
                continue
            threshold = float(ordered[count - 1] + ordered[count]) / 2.0
            excesses = (ordered[:count] - threshold)[::-1]
            if excesses[0] <= 0.0:  # ties
                continue
            scale, estimate = (float(part[0]) for part in _pareto(excesses[None], shape))
            if _fit_pvalue(excesses, scale, estimate, shape) > _LEVEL:
                share = count / ordered.size
                return cls(count, share, threshold, scale, estimate, shape is not None)
        return None

    @property
    def parameters(self) -> dict[str, float]:
        names = ("exceedances", "threshold", "scale", "shape")
        return {name: getattr(self, name) for name in names}

    def at(self, observed: float) -> tuple[float, float]:
        """Return the log probability, and its standard error by the delta method.

        The covariance is that of maximum likelihood (R. L. Smith, Maximum likelihood estimation in
        a class of nonregular cases, Biometrika 72 (1985), 67-90); the number of exceedances is
        binomial.  Beyond the end of the tail they are minus infinity and infinity.
        """
        ratio = (observed - self.threshold) / self.scale
        shape = self.shape
        if 1.0 + shape * ratio <= 0.0:
            return -math.inf, math.inf
        value = math.log(self.share) + float(_log_pareto(ratio, 1.0, shape))
        by_scale = ratio / (1.0 + shape * ratio)  # times the scale
        if self.fixed:
            return value, math.sqrt((1.0 + by_scale**2) / self.exceedances)
        by_shape = ratio**2 / 2.0
        if abs(shape) > _STEP:
            by_shape = math.log1p(shape * ratio) / shape**2 - by_scale / shape
        form = (1.0 + shape) * by_shape**2 - 2.0 * by_shape * by_scale + 2.0 * by_scale**2
        variance = max((1.0 + shape) * form, 0.0)
        return value, math.sqrt((1.0 + variance) / self.exceedances)


def _pareto(samples: np.ndarray, shape: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Estimate scales and shapes (R,) from sorted samples (R, n).

    J. Zhang and M. A. Stephens, A new and efficient estimation method for the generalized Pareto
    distribution, Technometrics 51 (2009), 316-325, equations (7) to (9): a posterior mean of
    b = -shape / scale over a grid.
    """
    exponential = samples.mean(axis=1)
    if shape is not None:
        return exponential, np.full(len(samples), shape)
    count = samples.shape[1]
    size = 20 + math.isqrt(count)
    quartile = samples[:, math.floor(count / 4 + 0.5) - 1]
    steps = 1.0 - np.sqrt(size / (np.arange(1, size + 1) - 0.5))
    grid = 1.0 / samples[:, -1:] + steps / (3.0 * quartile[:, None])
    minus_shapes = -np.log1p(-grid[:, :, None] * samples[:, None, :]).mean(axis=2)
    likelihood = count * (np.log(grid / minus_shapes) + minus_shapes - 1.0)
    weights = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
    rate = (weights * grid).sum(axis=1) / weights.sum(axis=1)
    shapes = np.log1p(-rate[:, None] * samples).mean(axis=1)
    return -shapes / rate, shapes


def _log_pareto(beyond: Any, scale: Any, shape: float) -> Any:
    """Return the log probability to exceed the threshold by more than ``beyond``."""
    if shape == 0.0:
        return -beyond / scale
    return -np.log1p(shape * beyond / scale) / shape


def _fit_pvalue(excesses: np.ndarray, scale: float, fitted: float, shape: float | None) -> float:
    """Return the p-value of an Anderson-Darling test by a parametric bootstrap."""
    uniform = as_rng(0).random((_REPLICATES, excesses.size))
    simulated = -scale * np.log(uniform)
    if fitted != 0.0:
        simulated = scale * np.expm1(-fitted * np.log(uniform)) / fitted
    simulated.sort(axis=1)
    distances = _anderson_darling(simulated, *_pareto(simulated, shape))
    (distance,) = _anderson_darling(excesses[None], np.array([scale]), np.array([fitted]))
    return float(1 + (distances >= distance).sum()) / (1 + _REPLICATES)


def _anderson_darling(samples: np.ndarray, scales: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """Return the Anderson-Darling distances (R,) of sorted samples (R, n) from their fits."""
    count = samples.shape[1]
    logs = np.stack(
        [
            _log_pareto(sample, scale, shape)
            for sample, scale, shape in zip(samples, scales, shapes, strict=True)
        ]
    )
    below = np.log(np.maximum(-np.expm1(logs), np.finfo(float).tiny))
    weights = 2 * np.arange(1, count + 1) - 1
    return -count - (weights * (below + logs[:, ::-1])).sum(axis=1) / count  # type: ignore[no-any-return]
