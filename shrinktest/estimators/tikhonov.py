"""Tikhonov filters: flexible shrinkage, and its iterated form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from shrinktest._validate import choice
from shrinktest.estimators.spectral import SMALLEST, Loops, SpectralEstimator, check_amount, check_steps

#: Steps at most where the amount is tuned by deletion, which takes all powers of the residual up to twice as many.
MOST_TUNED = 1000

# The amounts that tuning compares.  They are relative to the mean of K_ii and on the covariance scale, so that one grid
# serves every sample size and unit.  Below the grid an estimate cannot be told from the plain mean (its squared
# distance is at most amount/4 of the mean of K_ii), above it nothing is left; the two endpoints stand for both.
LAM_COV_GRID = np.concatenate([[0.0], np.logspace(-6.0, 3.0, 64), [np.inf]])


@dataclass(frozen=True, repr=False)
class _Tikhonov(SpectralEstimator):
    lam: float | None = None
    lam_cov: float | None = None
    loo: str = "deletion"

    amount: ClassVar[str] = "lam"
    _loo: ClassVar[tuple[str, ...]] = ("deletion", "paper")
    _iterations: ClassVar[int] = 1

    def _check(self) -> None:
        choice(self.loo, self._loo, "loo")
        if self.lam is not None and self.lam_cov is not None:
            raise ValueError(
                "lam (scale of the Gram matrix) and lam_cov (covariance scale, lam = n lam_cov mean K_ii) "
                "are two ways to say the same; give one of them"
            )
        check_amount(self.lam, "lam")
        check_amount(self.lam_cov, "lam_cov")
        if self.fixed and self.loo != "deletion":
            raise ValueError(f"loo={self.loo!r} is not used when lam or lam_cov is given; drop one of them")

    @property
    def fixed(self) -> bool:
        return self.lam is not None or self.lam_cov is not None

    def loops(self) -> Loops:
        from shrinktest._compiled import tikhonov as compiled

        scores = {
            "deletion": compiled.score_by_deletion,
            "paper": compiled.score_by_paper,
            "averaged": compiled.score_by_average,
        }
        return compiled.factorize_only if self.fixed else scores[self.loo], compiled.tikhonov_weigh

    @property
    def any_rank(self) -> bool:
        return self.lam is None and (self.lam_cov is None or self.lam_cov > SMALLEST)

    def theta(self) -> np.ndarray:
        return np.array([self._iterations, self.lam is not None], dtype=np.float64)

    def amounts(self, n: int) -> np.ndarray:
        if self.fixed:
            return np.array([self.lam if self.lam is not None else self.lam_cov], dtype=np.float64)
        return LAM_COV_GRID

    def _unit(self, amount: float, matrix: np.ndarray) -> float:
        return amount if self.lam is not None or amount == 0.0 else amount * float(np.trace(matrix))

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
        Leave-one-out score when neither is given.  "deletion": each point is left out in turn, exactly.  "averaged":
        the same with mean leverages, cheaper.  "paper": the closed form of [M14] Theorem 4, which keeps the left-out
        point in the basis and over-shrinks (erratum E1).
    tuning : {"auto", "sample", "joint", "pooled"}
        What the amount is chosen for, again in every permutation: "sample", each sample by itself; "joint", one amount
        for both.  "pooled": once, for both together.  "auto" is "sample", or "joint" for samples of unequal sizes.

    Notes
    -----
    The score is not unimodal, so tuning evaluates it on a fixed grid of lam_cov, 1e-6 to 1e3, with the plain mean and
    the zero estimate as endpoints; the same grid in every permutation.

    Examples
    --------
    >>> import numpy as np
    >>> FKMSE(lam=1.0).weights(np.eye(2))
    array([0.25, 0.25])
    """

    summary: ClassVar[str] = "flexible shrinkage (Tikhonov), one factor per eigenvector"
    _loo: ClassVar[tuple[str, ...]] = ("deletion", "averaged", "paper")


@dataclass(frozen=True, repr=False)
class IteratedTikhonov(_Tikhonov):
    """Kernel mean by iterated Tikhonov: t steps of (K + lam I) b <- K 1/n + lam b; factors 1 - (lam / (D + lam))^t.

    Parameters
    ----------
    lam, lam_cov : float, optional
        Fixed amount, as for :class:`FKMSE`, which is the case t = 1.
    t : int, default 3
        Number of steps, 10 million at most; 1000 where the amount is tuned by "deletion", in time proportional to t^2.
    loo : {"deletion", "paper"}
        Leave-one-out score when neither amount is given; "paper" is the analogue of [M14] Theorem 4.
    tuning : {"auto", "sample", "joint", "pooled"}
        What the amount is chosen for, again in every permutation: "sample", each sample by itself; "joint", one amount
        for both.  "pooled": once, for both together.  "auto" is "sample", or "joint" for samples of unequal sizes.

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
        check_steps(self.t, "t")
        if self.t > MOST_TUNED and not self.fixed and self.loo == "deletion":
            raise ValueError(
                f"t={self.t} steps, with an amount to be tuned by leaving points out, would take time in proportion to "
                f"t^2, and {MOST_TUNED} are the most; give lam or lam_cov, or tune with loo='paper'"
            )

    @property
    def _iterations(self) -> int:  # type: ignore[override]
        return self.t
