"""PowerCurve: power as a function of the sample size, fitted to trials at a few sizes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np


@dataclass(frozen=True, eq=False)
class PowerCurve:
    """Phi(a + b sqrt(n)) with its uncertainty: the power of tests whose statistic is a mean grows like this."""

    coefficients: np.ndarray  # (2,): (a, b)
    covariance: np.ndarray  # (2, 2): of their estimates

    @classmethod
    def of(cls, counts: Mapping[int, tuple[int, int]], power: float = 0.5) -> Self:
        """Fit a probit regression on sqrt(n) to (trials, rejections) at each size (statsmodels).

        One more trial at each size, which rejects with the target ``power``, keeps the fit finite if all trials agree,
        and does not move the size at which that power is reached.
        """
        import statsmodels.api as sm
        from statsmodels.tools.sm_exceptions import PerfectSeparationWarning

        sizes = np.array(sorted(counts), dtype=np.float64)
        trials, rejected = np.array([counts[int(n)] for n in sizes], dtype=np.float64).T
        outcomes = np.column_stack([rejected + power, trials - rejected + 1.0 - power])
        family = sm.families.Binomial(link=sm.families.links.Probit())
        # sizes may agree exactly, as when every test rejects; two sizes leave no degree of freedom
        with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
            warnings.simplefilter("ignore", PerfectSeparationWarning)
            model = sm.GLM(outcomes, sm.add_constant(np.sqrt(sizes), has_constant="add"), family=family).fit()
        return cls(np.asarray(model.params), np.asarray(model.cov_params()))

    def power(self, n: Any) -> np.ndarray:
        """Power at sizes ``n``."""
        from scipy.stats import norm

        a, b = self.coefficients
        return np.asarray(norm.cdf(a + b * np.sqrt(np.asarray(n, dtype=np.float64))))

    def band(self, n: int, confidence: float) -> tuple[float, float]:
        """Interval for the power at one size."""
        from scipy.stats import norm

        row = np.array([1.0, np.sqrt(n)])
        reach = norm.ppf(0.5 + confidence / 2.0) * np.sqrt(row @ self.covariance @ row)
        centre = row @ self.coefficients
        return float(norm.cdf(centre - reach)), float(norm.cdf(centre + reach))

    def goes_up(self) -> bool:
        """Return True if the power grows with the size by more than chance (three standard errors)."""
        return bool(self.coefficients[1] > 3.0 * np.sqrt(self.covariance[1, 1]))

    def size(self, power: float, shift: float, smallest: int, largest: int) -> int:
        """Return the smallest n at which the curve is ``shift`` standard normal units past the power."""
        from scipy.stats import norm

        a, b = self.coefficients
        if not b > 0.0:  # flat: reached everywhere or nowhere
            return smallest if a + b * np.sqrt(smallest) >= norm.ppf(power) + shift else largest
        root = float(np.clip((norm.ppf(power) + shift - a) / b, 0.0, 2.0 * largest))
        return int(np.clip(np.ceil(root**2 - 1e-9), smallest, largest))

    def interval(self, power: float, confidence: float) -> tuple[float, float]:
        """Fieller's interval for ((z - a) / b)^2: the sizes whose fitted probit is not significantly off z."""
        from scipy.stats import norm

        (a, b), covariance = self.coefficients, self.covariance
        z, q = norm.ppf(power), norm.ppf(0.5 + confidence / 2.0) ** 2
        # (z - a - b x)^2 <= q (V_aa + 2 x V_ab + x^2 V_bb), a quadratic in x = sqrt(n)
        square = b * b - q * covariance[1, 1]
        linear = b * (z - a) + q * covariance[0, 1]
        constant = (z - a) ** 2 - q * covariance[0, 0]
        if square <= 0.0:  # the slope itself is uncertain: no bound above
            return 0.0, float("inf")
        root = np.sqrt(max(linear * linear - square * constant, 0.0))
        ends = np.maximum([linear - root, linear + root], 0.0) / square
        return float(ends[0] ** 2), float(ends[1] ** 2)
