"""Truncated SVD: the mean in the basis of kernel PCA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from shrinktest._validate import choice, count
from shrinktest.estimators.spectral import SMALLEST, Loops, SpectralEstimator, check_amount

# Thresholds that tuning compares; the endpoints keep everything and nothing.
THRESHOLD_GRID = np.concatenate([[0.0], np.logspace(-6.0, 0.0, 64), [np.inf]])


@dataclass(frozen=True, repr=False)
class TSVD(SpectralEstimator):
    """Kernel mean projected on the leading eigenvectors of the Gram matrix (truncated SVD, the kernel-PCA basis).

    Parameters
    ----------
    m : int, optional
        Number of components kept (those in the null space of K carry nothing and are not counted).
    threshold : float, optional
        Keep the eigenvalues of K/n that are at least threshold * mean(K_ii).
    rule : {"loo", "gcv"}
        How the threshold is tuned when neither is given: the leave-one-out score of the filter, or generalised
        cross-validation, which is for replication only: there is no noise to trade off, so that it hardly ever
        truncates (erratum E24).
    tuning : {"auto", "sample", "joint", "pooled"}
        What the amount is chosen for, again in every permutation: "sample", each sample by itself; "joint", one amount
        for both.  "pooled": once, for both together.  "auto" is "sample", or "joint" for samples of unequal sizes.

    Notes
    -----
    [S14] Table 1.  Tuning compares thresholds rather than numbers of components, so that equal eigenvalues stay
    together and samples of different sizes can share one.

    Examples
    --------
    >>> import numpy as np
    >>> TSVD(m=1).weights(np.array([[1.0, 0.5], [0.5, 1.0]]))
    array([0.5, 0.5])
    """

    projects: ClassVar[bool] = True
    summary: ClassVar[str] = "truncated SVD (projection on leading eigenvectors)"
    amount: ClassVar[str] = "components"

    m: int | None = None
    threshold: float | None = None
    rule: str = "loo"

    def _check(self) -> None:
        choice(self.rule, ("loo", "gcv"), "rule")
        if self.m is not None and self.threshold is not None:
            raise ValueError("m and threshold both fix what is kept; give one of them")
        if self.m is not None:
            count(self.m, "m", 1)
        check_amount(self.threshold, "threshold")
        if self.fixed and self.rule != "loo":
            raise ValueError(f"rule={self.rule!r} is not used when m or threshold is given; drop one of them")

    @property
    def fixed(self) -> bool:
        return self.m is not None or self.threshold is not None

    def check_size(self, n: int) -> None:
        if self.m is not None and self.m > n:
            raise ValueError(f"m={self.m} components cannot be kept from a sample of {n} points; use m <= {n}")

    def loops(self) -> Loops:
        from shrinktest._compiled.truncation import truncation_score, truncation_weigh

        return truncation_score, truncation_weigh

    @property
    def any_rank(self) -> bool:
        return self.m is None and (self.threshold is None or self.threshold > SMALLEST)

    def theta(self) -> np.ndarray:
        return np.array([self.m or 0, self.rule == "gcv"], dtype=np.float64)

    def amounts(self, n: int) -> np.ndarray:
        if self.m is not None:
            return np.array([self.m], dtype=np.float64)
        return THRESHOLD_GRID if self.threshold is None else np.array([self.threshold], dtype=np.float64)

    def _unit(self, amount: float, matrix: np.ndarray) -> int:
        if self.m is not None:
            return self.m
        values = np.linalg.eigvalsh(matrix)
        floor = max(amount * (1.0 - 1e-9) * float(np.trace(matrix)), 1e-12 * values[-1])
        return int((values >= floor).sum())

    def _at(self, amount: float) -> Self:
        return self.at(threshold=amount, rule="loo")
