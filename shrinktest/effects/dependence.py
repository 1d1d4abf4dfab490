"""Dependence of two variables, on a scale from 0 to 1: HSIC without bias, relative to that of each with itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shrinktest.effects.inner_products import ROUNDING, InnerProducts, summing
from shrinktest.effects.jackknife import Estimate, variance_from_deleted
from shrinktest.statistics.sums import PairSums, centred_sums

#: Groups that an estimate from pairs of different groups takes.
FEWEST_GROUPS = 4

_ROUNDING_OF_SUMS = 2.0**-12  # as `ROUNDING`, for features that were made whole numbers
_MOST_PRODUCTS = 2**25  # numbers in the products of groups at a time; more groups are thinned out evenly
_ENOUGH_GROUPS = 2**11  # their two million pairs determine the variance


def dependence(x: InnerProducts, y: InnerProducts, groups: np.ndarray | None = None) -> Estimate:
    """Return the kernel correlation HSIC(X, Y) / sqrt(HSIC(X, X) HSIC(Y, Y)), with every part unbiased.

    Also known as centred kernel alignment; with kernels of a distance it is the squared distance correlation with its
    bias removed.  The variance is that of the jackknife over pairs, or ``groups`` (n,) of them (codes 0, 1, ...).  Its
    part of second order is the variance under independence, which is 2 HSIC(X, X) HSIC(Y, Y) / (n (n - 3)) for the
    numerator, and so does not depend on the kernel for the ratio.  With groups, which take features less their mean,
    only pairs of different groups are compared, and that part is estimated: it lies between that of n pairs and that of
    as many as there are groups, depending on how similar the pairs of a group are.  NaN for a variable without HSIC
    with itself, as one whose rows but one are all the same, and with fewer than four groups; the variance is NaN if
    that holds without one unit.

    Sources: C. Cortes et al., Journal of Machine Learning Research 13 (2012), 795-828; L. Song et al., Journal of
    Machine Learning Research 13 (2012), theorem 2; G. J. Szekely and M. L. Rizzo, Annals of Statistics 42 (2014).
    """
    n = len(x)
    units = n if groups is None else int(groups.max()) + 1
    second = _second_order(n)
    if groups is None or units == n:
        parts = hsic(x, y), hsic(x, x), hsic(y, y)
    else:
        order = np.argsort(groups, kind="stable")
        x, y, groups = x[order], y[order], groups[order]
        parts = hsic_of_groups(x, y, groups), hsic_of_groups(x, x, groups), hsic_of_groups(y, y, groups)
        scale = parts[1][0] * parts[2][0]
        second = max(noise_of_groups(x, y, groups) / scale, second) if min(parts[1][0], parts[2][0]) > 0.0 else np.nan
    least = [ROUNDING * one.squares() / n**2 for one in (x, y)]
    value, without = (_correlation(*each, least) for each in zip(*parts, strict=True))
    return Estimate(float(value), variance_from_deleted(without), second, units)


def dependence_in_groups(sums: PairSums) -> Estimate:
    """Return the same from sums over groups of pairs chosen at random, with the jackknife over groups.

    The part of second order is that of pairs, because these are independent.
    """
    whole = sums.whole
    covariances = (centred_sums(xx, x, x, whole.n)[0] for xx, x in ((whole.xx, whole.x), (whole.yy, whole.y)))
    least = [_ROUNDING_OF_SUMS * float(np.square(one).sum()) / float(whole.n[0]) ** 2 for one in covariances]
    value, without = (_correlation(*one.unbiased(), least) for one in (whole, sums.without))
    return Estimate(float(value[0]), variance_from_deleted(without), _second_order(int(sums.n.sum())), len(sums.n))


def _correlation(both: Any, left: Any, right: Any, least: Sequence[float]) -> np.ndarray:
    """HSIC relative to that of each variable with itself; NaN if one of these is rounding error."""
    varies = (left > least[0]) & (right > least[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(varies, both / np.sqrt(np.maximum(left * right, 0.0)), np.nan)


def _second_order(pairs: int) -> float:
    """Variance of the ratio under independence."""
    return 2.0 / (pairs * (pairs - 3.0)) if pairs > 3 else np.nan


# --- HSIC -----------------------------------------------------------------------------------------------------------


def hsic(x: InnerProducts, y: InnerProducts) -> tuple[float, np.ndarray]:
    """Return the unbiased HSIC of [Song12], and the same without each pair."""
    n = len(x)
    dx, dy = x.diagonal(), y.diagonal()
    a, b = (one.applied(np.ones(n)) - d for one, d in ((x, dx), (y, dy)))  # rows off the diagonal
    products = _row_products(x, y) - dx * dy
    sums = np.array([products.sum(), a.sum(), b.sum(), a @ b])
    ay, bx = y.applied(a) - dy * a, x.applied(b) - dx * b
    without = sums[:, None] - np.stack([2.0 * products, 2.0 * a, 2.0 * b, a * b + ay + bx - products])
    return float(_unbiased(sums, n)), _unbiased(without, n - 1.0)


def _unbiased(sums: np.ndarray, n: float) -> np.ndarray:
    """HSIC from tr(K L), 1'K1, 1'L1 and 1'KL1 of matrices without their diagonals."""
    products, a, b, ab = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = products + a * b / ((n - 1.0) * (n - 2.0)) - 2.0 * ab / (n - 2.0)
        return np.asarray(whole / (n * (n - 3.0)))


def _row_products(x: InnerProducts, y: InnerProducts) -> np.ndarray:
    """sum_j K_ij L_ij for every i."""
    if x.by_coordinates:
        return np.asarray(np.einsum("ir,ir->i", x.values @ (x.values.T @ y.values), y.values))
    return np.asarray(np.einsum("ij,ij->i", x.values, y.values))


# --- HSIC of groups of pairs, in order of the groups, both variables by coordinates or both by Gram matrices ---------


def hsic_of_groups(x: InnerProducts, y: InnerProducts, codes: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the unbiased HSIC from pairs of different groups, and the same without each group.

    The mean of K_ij L_ij + K_ij L_qr - 2 K_ij L_iq over pairs i, j, q, r of four different groups: similar pairs of one
    group would make independent variables seem dependent.  NaN with fewer than four groups.
    """
    ones, size = np.ones(len(codes)), np.bincount(codes).astype(np.float64)

    def by_group(values: np.ndarray) -> np.ndarray:
        return np.bincount(codes, weights=values)

    own_x, own_y = (one.within(ones[:, None], codes)[:, 0] for one in (x, y))  # sums over the group of a pair
    a, b = x.applied(ones) - own_x, y.applied(ones) - own_y  # and over all others
    group_x, group_y = x.sums(codes), y.sums(codes)
    across = _row_products(group_x, group_y) - group_x.diagonal() * group_y.diagonal()
    if x.by_coordinates:
        z, w = x.values, y.values
        rows = np.einsum("ir,ir->i", z @ (group_x.values.T @ group_y.values), w)
        columns = np.einsum("gr,gr->g", group_x.values @ (z.T @ w), group_y.values)
        inside = np.array([float(np.square(z[part].T @ w[part]).sum()) for part in _slices(codes)])
    else:
        add = summing(codes)
        products = (add @ x.values) * (add @ y.values)
        rows, columns = products.sum(axis=0), products.sum(axis=1)
        blocks = ((x.values[part, part], y.values[part, part]) for part in _slices(codes))
        inside = np.array([float(np.einsum("ij,ij->", *block)) for block in blocks])
    rows, columns = rows - own_x * own_y, columns - by_group(own_x * own_y)
    both = by_group(_row_products(x, y)) - inside
    whole_a, whole_b, same = by_group(a), by_group(b), by_group(a * b - rows)
    ay, bx = by_group(y.applied(a) - a * own_y), by_group(x.applied(b) - b * own_x)
    others = group_y.applied(whole_a) - group_y.diagonal() * whole_a
    others += group_x.applied(whole_b) - group_x.diagonal() * whole_b
    sums = np.array([both.sum(), same.sum(), whole_a.sum(), whole_b.sum(), whole_a @ whole_b, across.sum()])
    shared = same + ay + bx - 2.0 * columns
    removed = [2.0 * both, shared, 2.0 * whole_a, 2.0 * whole_b, whole_a * whole_b + others - across, 2.0 * across]
    powers = size ** np.arange(1, 5)[:, None]
    counts = powers.sum(axis=1)
    return float(_mean_of_four(sums, counts)), _mean_of_four(
        sums[:, None] - np.stack(removed), counts[:, None] - powers
    )


def _mean_of_four(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """HSIC from sums over pairs of different groups, and sums of the first four powers of group sizes.

    The sums are of K_ij L_ij; of K_ij L_iq; of K and of L; and of products of the sums of K and L over one group, and
    over two.
    """
    products, same, a, b, by_one, by_two = sums
    one, two, three, four = counts
    pairs = one**2 - two
    triples = one**3 - 3.0 * one * two + 2.0 * three
    fours = one**4 - 6.0 * one**2 * two + 8.0 * one * three + 3.0 * two**2 - 6.0 * four
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = products / pairs + (a * b - 4.0 * by_one + 2.0 * by_two) / fours - 2.0 * same / triples
        return np.where(fours > 0.5, whole, np.nan)


def noise_of_groups(x: InnerProducts, y: InnerProducts, codes: np.ndarray) -> float:
    """Return the variance of HSIC if the variables are independent, however similar the rows of a group are.

    It is estimated by the squares of the sums of K_ij L_ij over the pairs of two groups, for centred features: these
    sums are uncorrelated.
    """
    count, n = int(codes[-1]) + 1, len(codes)
    if count < FEWEST_GROUPS:
        return np.nan
    # groups for whose products there is room: those of rows, or those of coordinates
    by_rows = int(_MOST_PRODUCTS**0.5 * count / n)
    by_rank = _MOST_PRODUCTS // (x.values.shape[1] * y.values.shape[1]) if x.by_coordinates else 0
    few = min(count, _ENOUGH_GROUPS, max(4, by_rows, by_rank))
    chosen = np.linspace(0, count - 1, few).round().astype(np.intp)
    if by_rank > by_rows:
        slices = _slices(codes)
        each = np.stack([(x.values[slices[g]].T @ y.values[slices[g]]).ravel() for g in chosen])
        sums = each @ each.T
    else:
        rows = np.isin(codes, chosen)
        gram_x, gram_y = (one[np.flatnonzero(rows)].dense().values for one in (x, y))
        sums = InnerProducts(gram_x * gram_y, False).sums(np.searchsorted(chosen, codes[rows])).values
    np.fill_diagonal(sums, 0.0)
    pairs = count * (count - 1.0) / (few * (few - 1.0))
    return float(2.0 * pairs * np.square(sums).sum() / float(n) ** 4 * count / (count - 3.0))


def _slices(codes: np.ndarray) -> list[slice]:
    """Rows of every group."""
    edges = np.flatnonzero(np.diff(codes, prepend=-1, append=-1)).tolist()
    return list(map(slice, edges[:-1], edges[1:]))
