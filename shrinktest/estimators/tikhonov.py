"""Penalize the weights: flexible shrinkage (Tikhonov), and its iterated form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from shrinktest._check import choice, count
from shrinktest.estimators.filters import MOST_STEPS, SMALLEST, Filter, check_amount
from shrinktest.estimators.spectrum import Spectra

#: Steps at most if the amount is tuned by deletion, in time proportional to t^2.
MOST_TUNED = 1000

# Amounts that tuning compares, relative to the mean of K_ii and on the covariance scale, so that one grid serves every
# sample size and unit.  The endpoints are the plain mean and the zero estimate.
LAM_COV_GRID = np.concatenate([[0.0], np.logspace(-6.0, 3.0, 64), [np.inf]])


@dataclass(frozen=True, repr=False)
class _Tikhonov(Filter):
    lam: float | None = None
    lam_cov: float | None = None
    loo: str = "deletion"

    amount: ClassVar[str] = "lam"
    _rules: ClassVar[tuple[str, ...]] = ("deletion", "paper")
    _iterations: ClassVar[int] = 1

    def _check(self) -> None:
        choice(self.loo, self._rules, "loo")
        if self.lam is not None and self.lam_cov is not None:
            raise ValueError("lam (scale of the Gram matrix) and lam_cov (covariance scale): give one of them")
        check_amount(self.lam, "lam")
        check_amount(self.lam_cov, "lam_cov")
        if self.fixed and self.loo != "deletion":
            raise ValueError(f"loo={self.loo!r} is not used when lam or lam_cov is given; drop one of them")

    @property
    def fixed(self) -> bool:
        return self.lam is not None or self.lam_cov is not None

    @property
    def any_rank(self) -> bool:
        return self.lam is None and (self.lam_cov is None or self.lam_cov > SMALLEST)

    def amounts(self, n: int) -> np.ndarray:
        if self.fixed:
            return np.array([self.lam if self.lam is not None else self.lam_cov], dtype=np.float64)
        return LAM_COV_GRID

    def _penalty(self, amounts: np.ndarray, trace: np.ndarray) -> np.ndarray:
        """Return lam on the scale of the Gram matrix."""
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(amounts) | (self.lam is not None), amounts, amounts * trace)

    def _scores(self, spectra: Spectra, amounts: np.ndarray) -> np.ndarray:
        inner = (amounts > 0.0) & np.isfinite(amounts)
        lams = amounts[inner] * spectra.trace
        scores = np.where(amounts == 0.0, spectra.plain_score(), spectra.trace / spectra.n)
        if self.loo == "deletion":
            scores[:, inner] = spectra.deletion_scores(lams, self._iterations)
        elif self.loo == "averaged":
            scores[:, inner] = spectra.averaged_scores(lams)
        else:
            residuals = spectra.residuals(lams * (spectra.n / (spectra.n - 1.0)))
            scores[:, inner] = spectra.filter_scores(1.0 - residuals**self._iterations)
        scores[spectra.values[:, 0] + lams[:, 0] <= 0.0] = np.nan  # not positive definite
        return scores

    def _gains(self, spectra: Spectra, amounts: np.ndarray) -> np.ndarray:
        lam, values = self._penalty(amounts, spectra.trace), spectra.values
        gains = 1.0 / (values + lam)
        if self._iterations > 1:  # (1 - r^t) / D, which is t / lam for D = 0
            log = self._iterations * np.log1p(-values * gains)
            gains = np.where(values > 1e-12 * lam, -np.expm1(log) / values, self._iterations * gains)
        gains = np.where(np.isinf(lam), 0.0, gains)
        gains[values[:, 0] + lam[:, 0] <= 0.0] = np.nan
        gains[lam[:, 0] == 0.0] = np.inf
        return gains

    def _directly(self, grams: np.ndarray) -> np.ndarray | None:
        trace = np.trace(grams, axis1=1, axis2=2)[:, None, None]
        lam = self._penalty(self.amounts(0), trace)
        if self._iterations > 1 or not ((lam > 0.0) & np.isfinite(lam)).all():
            return None
        matrices = grams + lam * np.eye(grams.shape[1])
        try:
            np.linalg.cholesky(matrices)
        except np.linalg.LinAlgError:  # one is not positive definite
            return None
        return np.linalg.solve(matrices, grams.mean(axis=2, keepdims=True))[:, :, 0]

    def _unit(self, amount: float, matrix: np.ndarray) -> float:
        return float(self._penalty(np.array(amount), np.trace(matrix)))

    def _at(self, amount: float) -> Self:
        return self.at(lam_cov=amount, loo="deletion")


@dataclass(frozen=True, repr=False)
class FKMSE(_Tikhonov):
    """Kernel mean with flexible shrinkage, one factor per eigenvector (Tikhonov): weights (K + lam I)^-1 K 1/n.

    Parameters
    ----------
    lam : float, optional
        Fixed amount on the scale of the Gram matrix ([M14] eq. (8)).
    lam_cov : float, optional
        Fixed amount on the covariance scale, relative to the mean of K_ii: lam = n * lam_cov * mean(K_ii).  A common
        amount for samples of any size.
    loo : {"deletion", "averaged", "paper"}
        Leave-one-out score if neither is given.  "deletion": each point is left out in turn, exactly.  "averaged": the
        same with mean leverages.  "paper": the closed form of [M14] Theorem 4, which keeps the left-out point in the
        basis and shrinks too much (erratum E1).
    tuning : {"auto", "sample", "joint", "pooled"}
        "sample" chooses an amount for each sample and "joint" one for all, again in every permutation; "pooled"
        chooses once, on all observations.  "auto" is "sample", or "joint" for samples of unequal sizes.

    Notes
    -----
    The score may have two minima, so tuning evaluates it on a fixed grid of lam_cov, 1e-6 to 1e3, with the plain mean
    and the zero estimate as endpoints.

    Examples
    --------
    >>> import numpy as np
    >>> FKMSE(lam=1.0).weights(np.eye(2))
    array([0.25, 0.25])
    """

    summary: ClassVar[str] = "flexible shrinkage (Tikhonov), one factor per eigenvector"
    _rules: ClassVar[tuple[str, ...]] = ("deletion", "averaged", "paper")


@dataclass(frozen=True, repr=False)
class IteratedTikhonov(_Tikhonov):
    """Kernel mean by iterated Tikhonov: t steps of (K + lam I) b <- K 1/n + lam b; factors 1 - (lam / (D + lam))^t.

    Parameters
    ----------
    lam, lam_cov : float, optional
        Fixed amount, as for :class:`FKMSE`, which is the case t = 1.
    t : int, default 3
        Number of steps, 10 million at most, or 1000 if the amount is tuned by "deletion", in time proportional to t^2.
    loo : {"deletion", "paper"}
        Leave-one-out score if neither amount is given; "paper" is the analogue of [M14] Theorem 4.
    tuning : {"auto", "sample", "joint", "pooled"}
        "sample" chooses an amount for each sample and "joint" one for all, again in every permutation; "pooled"
        chooses once, on all observations.  "auto" is "sample", or "joint" for samples of unequal sizes.

    Notes
    -----
    [S14] Table 1 with erratum E21: the update needs K 1/n, and the printed filter has lambda and gamma exchanged.

    Examples
    --------
    >>> import numpy as np
    >>> IteratedTikhonov(lam=1.0, t=2).weights(np.eye(2))
    array([0.375, 0.375])
    """

    summary: ClassVar[str] = "iterated Tikhonov, t steps of flexible shrinkage"

    t: int = 3

    def _check(self) -> None:
        super()._check()
        count(self.t, "t", 1, MOST_STEPS)
        if self.t > MOST_TUNED and not self.fixed and self.loo == "deletion":
            raise ValueError(f"t must be at most {MOST_TUNED} to tune by deletion, got {self.t}; use loo='paper'")

    @property
    def _iterations(self) -> int:  # type: ignore[override]
        return self.t
