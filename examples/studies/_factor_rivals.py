"""Tests of a term that other packages have: each returns a p-value, for all columns of a response.

``adonis2`` permutes all rows freely.  Analysis of variance, Pillai's trace and aligned ranks have parametric p-values,
and the truncated kernel Hotelling-Lawley statistic [OAPM24] an asymptotic one.
"""

from __future__ import annotations

import numpy as np
from _factors import free_rows, holm
from scipy import stats
from scipy.spatial.distance import pdist, squareform

from shrinktest import Gaussian, Linear
from shrinktest.data.formula import Projection
from shrinktest.kernels import Energy

DIRECTIONS = (5, 10)  # eigenfunctions of the truncated statistic


def adonis(distance: str):
    """Return the test of ``adonis2`` with a distance."""

    def test(
        points: np.ndarray, part: Projection, rng: np.random.Generator, resamples: int
    ) -> float:
        if distance == "Euclidean":
            gram = Linear()(points)
        elif distance == "energy":
            gram = Energy().resolve(points)(points)
        else:  # for counts; other numbers from the least of their column
            shifted = points - np.minimum(points.min(axis=0), 0.0)
            gram = -0.5 * np.square(squareform(pdist(shifted, "braycurtis")))
        return free_rows(gram, part, rng, resamples)

    return test


def column_pvalues(points: np.ndarray, part: Projection) -> np.ndarray:
    """Return p-values of F tests of every column."""
    added = np.square(part.added.T @ points).sum(axis=0)
    residuals = points - part.model @ (part.model.T @ points)
    left = np.square(residuals).sum(axis=0)
    f = added / part.df / (left / part.residual_df)
    return stats.f.sf(f, part.df, part.residual_df)


def anova(points: np.ndarray, part: Projection, rng, resamples: int) -> float:
    """Test every column by F, with Holm's adjustment."""
    return float(holm(column_pvalues(points, part)).min())


def aligned_ranks(points: np.ndarray, part: Projection, rng, resamples: int) -> float:
    """Test ranks of every column less the estimated effects of the other terms [WFGH11]."""
    aligned = points - part.rest @ (part.rest.T @ points)
    ranks = stats.rankdata(aligned.round(9), axis=0)
    return float(holm(column_pvalues(ranks, part)).min())


def pillai(points: np.ndarray, part: Projection, rng, resamples: int) -> float:
    """Test by Pillai's trace, with its F approximation."""
    columns = points.shape[1]
    residuals = points - part.model @ (part.model.T @ points)
    fitted = part.added.T @ points
    between = fitted.T @ fitted
    trace = np.trace(np.linalg.pinv(between + residuals.T @ residuals) @ between)
    s = min(columns, part.df)
    m = 2.0 * (abs(columns - part.df) - 1.0) / 2.0 + s + 1.0
    left = part.residual_df - columns - 1.0 + s + 1.0
    if left <= 0.0:
        return 1.0
    return float(stats.f.sf(left / m * trace / (s - trace), s * m, s * left))


def hotelling_lawley(directions: int):
    """Return the truncated kernel Hotelling-Lawley test, with a Gaussian kernel and chi-square."""

    def test(points: np.ndarray, part: Projection, rng, resamples: int) -> float:
        kernel = Gaussian().resolve(points)
        gram = kernel(points)
        left = gram - part.model @ (part.model.T @ gram)
        left = left - (left @ part.model) @ part.model.T
        sizes, vectors = np.linalg.eigh(left)
        sizes = sizes[::-1][:directions]
        vectors = vectors[:, ::-1][:, :directions]
        scores = (part.added.T @ gram @ vectors) / np.sqrt(sizes)
        statistic = (np.square(scores).sum(axis=0) / (sizes / len(points))).sum()
        return float(stats.chi2.sf(statistic, directions * part.df))

    return test


RIVALS = {
    "adonis2, Euclidean": adonis("Euclidean"),
    "adonis2, energy": adonis("energy"),
    "adonis2, Bray-Curtis": adonis("Bray-Curtis"),
    "ANOVA, Holm": anova,
    "Pillai": pillai,
    "aligned ranks, Holm": aligned_ranks,
    **{f"Hotelling-Lawley, T = {count}": hotelling_lawley(count) for count in DIRECTIONS},
}
