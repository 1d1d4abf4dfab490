"""The dependence of two variables on a scale from 0 to 1, with what its interval takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shrinktest.effects.features import ROUNDING, Features
from shrinktest.effects.interval import Estimate, by_leaving_out
from shrinktest.statistics.pair_sums import PairSums, centred_sums

MOST = 2**26  # sums by row and group, beyond which there is no variance
_IN_GROUPS = 2.0**-12  # as `ROUNDING`, of features that were made whole numbers, with room for larger ones


def dependence(x: Features, y: Features, groups: np.ndarray | None = None) -> Estimate:
    """The kernel correlation HSIC(X, Y) / sqrt(HSIC(X, X) HSIC(Y, Y)), every part of it estimated without bias.

    Also known as centred kernel alignment; with kernels of a distance it is the squared distance correlation with its
    bias removed.  The variance is that of the jackknife over pairs, or ``groups`` (n,) of them (codes 0, 1, ...).  Its
    part of second order is what is left under independence, where the variance of the numerator is 2 HSIC(X, X)
    HSIC(Y, Y) / (n (n - 3)), so that it is that of the ratio for every kernel.  NaN where a variable has no HSIC with
    itself, as where all its rows but one are the same; there is no variance where that is so without one unit.

    Sources: C. Cortes et al., Journal of Machine Learning Research 13 (2012), 795-828; L. Song et al., Journal of
    Machine Learning Research 13 (2012), theorem 2; G. J. Szekely and M. L. Rizzo, Annals of Statistics 42 (2014).
    """
    both, left, right = (hsic(one, other, groups) for one, other in ((x, y), (x, x), (y, y)))
    units = len(x) if groups is None else int(groups.max()) + 1
    least = [ROUNDING * one.squares() / len(one) ** 2 for one in (x, y)]
    value, without = (_relative(both[k], left[k], right[k], least) for k in (0, 1))
    return Estimate(float(value), by_leaving_out(without), _second(units), units)


def dependence_in_groups(sums: PairSums) -> Estimate:
    """The same from sums over groups of pairs, chosen at random: the variance is that of the jackknife over groups.

    The part of second order is that of pairs, for they are independent, and groups are but what is left out of them.
    """
    whole = sums.whole
    covariances = (centred_sums(xx, x, x, whole.n)[0] for xx, x in ((whole.xx, whole.x), (whole.yy, whole.y)))
    least = [_IN_GROUPS * float(np.square(one).sum()) / float(whole.n[0]) ** 2 for one in covariances]
    value, without = (_relative(*one.unbiased(), least) for one in (whole, sums.without))
    return Estimate(float(value[0]), by_leaving_out(without), _second(int(sums.n.sum())), len(sums.n))


def _relative(both: Any, left: Any, right: Any, least: Sequence[float]) -> np.ndarray:
    """HSIC relative to that of each variable with itself; NaN where one of these is no more than rounding leaves."""
    varies = (left > least[0]) & (right > least[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(varies, both / np.sqrt(np.maximum(left * right, 0.0)), np.nan)


def _second(units: int) -> float:
    """The variance of the ratio under independence."""
    return 2.0 / (units * (units - 3.0)) if units > 3 else np.nan


def hsic(x: Features, y: Features, groups: np.ndarray | None = None) -> tuple[float, np.ndarray]:
    """The unbiased HSIC of [Song12], and the same without each pair (or group) in turn."""
    n = len(x)
    dx, dy = x.diagonal(), y.diagonal()
    a, b = (one.applied(np.ones(n)) - d for one, d in ((x, dx), (y, dy)))  # rows off the diagonal
    products = _products(x, y) - dx * dy
    sums = np.array([products.sum(), a.sum(), b.sum(), a @ b])
    if groups is None:
        ay, bx = y.applied(a) - dy * a, x.applied(b) - dx * b
        without = sums[:, None] - np.stack([2.0 * products, 2.0 * a, 2.0 * b, a * b + ay + bx - products])
        return float(_unbiased(sums, n)), _unbiased(without, n - 1.0)
    without = _without_groups(x, y, groups, products, a, b, sums)
    return float(_unbiased(sums, n)), _unbiased(without, n - np.bincount(groups).astype(np.float64))


def _unbiased(sums: np.ndarray, n: float | np.ndarray) -> np.ndarray:
    """HSIC from tr(K L), 1'K1, 1'L1 and 1'KL1 of matrices without their diagonals."""
    products, a, b, ab = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = products + a * b / ((n - 1.0) * (n - 2.0)) - 2.0 * ab / (n - 2.0)
        return np.asarray(whole / (n * (n - 3.0)))


def _products(x: Features, y: Features) -> np.ndarray:
    """sum_j K_ij L_ij for every i."""
    if x.by_coordinates:
        return np.asarray(np.einsum("ir,ir->i", x.values @ (x.values.T @ y.values), y.values))
    return np.asarray(np.einsum("ij,ij->i", x.values, y.values))


def _without_groups(
    x: Features, y: Features, groups: np.ndarray, products: np.ndarray, a: np.ndarray, b: np.ndarray, sums: np.ndarray
) -> np.ndarray:
    """The sums without the rows of each group in turn, (4, groups)."""
    n, count = len(groups), int(groups.max()) + 1
    if n * count > MOST:
        return np.full((4, count), np.nan)
    member = np.zeros((n, count))
    member[np.arange(n), groups] = 1.0
    # sums of every row over the rows of each group, but for the row itself
    into_x = x.applied(member) - x.diagonal()[:, None] * member
    into_y = y.applied(member) - y.diagonal()[:, None] * member
    own = np.arange(n), groups
    inside = np.zeros(n)
    order = np.argsort(groups, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
        part = [one.values[rows] @ one.values[rows].T if one.by_coordinates else one.values[np.ix_(rows, rows)]
                for one in (x, y)]  # fmt: skip
        both = part[0] * part[1]
        inside[rows] = both.sum(axis=1) - np.diagonal(both)
    by_group = lambda values: np.bincount(groups, weights=values, minlength=count)  # noqa: E731
    outside = (a[:, None] - into_x) * (b[:, None] - into_y) * (1.0 - member)
    return np.stack(
        [
            sums[0] - 2.0 * by_group(products) + by_group(inside),
            sums[1] - 2.0 * by_group(a) + by_group(into_x[own]),
            sums[2] - 2.0 * by_group(b) + by_group(into_y[own]),
            outside.sum(axis=0),
        ]
    )
