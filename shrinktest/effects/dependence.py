"""Dependence of two variables from 0 to 1: unbiased HSIC over the HSIC of each with itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shrinktest.effects.jackknife import (
    ROUNDING,
    Estimate,
    JackknifeEstimates,
    variance_from_deleted,
)
from shrinktest.statistics.features import Features, summing
from shrinktest.statistics.sums import PairSums, centered_sums

#: Groups that an estimate from pairs of different groups takes.
FEWEST_GROUPS = 4

_SAME = (
    1e-9  # difference of two inner products, relative to the largest, up to which rows are the same
)
_ROUNDING_OF_SUMS = 2.0**-12  # as `ROUNDING`, for features that were made whole numbers
_MOST_PRODUCTS = (
    2**25
)  # numbers in the products of groups at a time; more groups are thinned out evenly
_ENOUGH_GROUPS = 2**11  # their two million pairs determine the variance


def dependence(x: Features, y: Features, groups: np.ndarray | None = None) -> Estimate:
    """Return the unbiased kernel correlation HSIC(X, Y) / sqrt(HSIC(X, X) HSIC(Y, Y)).

    Every part is unbiased.

    It is the centered kernel alignment of C. Cortes et al., Journal of Machine Learning Research 13
    (2012), 795-828; with kernels of a distance, the squared distance correlation with its bias
    removed (G. J. Szekely and M. L. Rizzo, Annals of Statistics 42 (2014)).  The variance is the
    jackknife variance over pairs, or over ``groups`` (n,) of them (codes 0, 1, ...).  Its part of
    second order is the variance under independence, which is 2 / (n (n - 3)); with groups, which
    take features less their mean, only pairs of different groups are compared, and it is estimated.
    NaN for a variable without HSIC with itself and with fewer than four groups.
    """
    n = len(x)
    second = _second_order(len(x))
    if groups is not None and groups.max() + 1 < n:
        order = np.argsort(groups, kind="stable")
        x = x[order]
        y = y[order]
        groups = groups[order]
    else:
        groups = None
    parts = [hsic(*pair, groups) for pair in ((x, y), (x, x), (y, y))]
    if groups is not None:
        own = parts[1][0], parts[2][0]
        second = (
            max(noise_of_groups(x, y, groups) / (own[0] * own[1]), second)
            if min(own) > 0.0
            else np.nan
        )
    least = [ROUNDING * features.squares() / n**2 for features in (x, y)]
    both, left, right = parts
    value, without = (_correlation(both[i], left[i], right[i], least) for i in (0, 1))
    weight = 1.0 / n if groups is None else float(np.square(np.bincount(groups) / n).sum())
    differ = min(_share_of_different_pairs(features) for features in (x, y))
    event = 2.0 * weight / differ if differ > 0.0 else 0.0
    return Estimate(float(value), variance_from_deleted(without), second, len(without), event)


def _share_of_different_pairs(features: Features) -> float:
    """Return the share of pairs of rows that differ.

    It is found from their inner products with a weighted sum of all rows.

    Variables that determine each other have a dependence of 1.  If a share e of their pairs is
    exchanged at random, it is (1 - e)^2, but only pairs of rows that differ show.
    """
    n = len(features)
    places = np.sort(features.inner(np.cos(np.arange(n, dtype=np.float64))))
    begins = np.diff(places, prepend=-np.inf) > _SAME * np.abs(places).max()
    counts = np.bincount(np.cumsum(begins) - 1)
    return 1.0 - float(np.square(counts / n).sum())


def dependence_in_groups(sums: PairSums) -> Estimate:
    """Return the same from sums over random groups of pairs, with the jackknife over groups.

    The second-order part is computed from pairs, because these are independent.
    """
    whole = sums.whole
    covariances = (
        centered_sums(xx, x, x, whole.n)[0] for xx, x in ((whole.xx, whole.x), (whole.yy, whole.y))
    )
    least = [
        _ROUNDING_OF_SUMS * float(np.square(products).sum()) / float(whole.n[0]) ** 2
        for products in covariances
    ]
    value, without = (_correlation(*part.unbiased(), least) for part in (whole, sums.without))
    return Estimate(
        float(value[0]),
        variance_from_deleted(without),
        _second_order(int(sums.n.sum())),
        len(sums.n),
    )


def dependences(variables: Sequence[Features], *, normalized: bool) -> JackknifeEstimates:
    """Return the unbiased HSIC of the first variable with each other, or the correlations.

    The latter are unbiased kernel correlations.
    """
    centered = [features.residuals() for features in variables]
    norms = np.array([features.norm for features in centered])
    if not all(features.by_coordinates for features in centered):
        centered = [features.dense() for features in centered]
    x, *others = centered

    def with_and_without(pairs: list[tuple[Features, Features]]) -> np.ndarray:
        return np.stack([np.append(*hsic(*pair)) for pair in pairs], axis=1)

    values = with_and_without([(x, y) for y in others])
    sizes = norms[0] * norms[1:]
    if normalized:
        scale = np.sqrt(with_and_without([(x, x)]) * with_and_without([(y, y) for y in others]))
        values = values / scale
        sizes = sizes / scale[0]
    present = np.ones((len(values) - 1, len(centered)), dtype=bool)
    return JackknifeEstimates(values[0], values[1:], present, ROUNDING * float(sizes.max()))


def _correlation(both: Any, left: Any, right: Any, least: Sequence[float]) -> np.ndarray:
    """Return HSIC divided by the HSIC of each variable with itself.

    NaN if one of these is rounding error.
    """
    varies = (left > least[0]) & (right > least[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(varies, both / np.sqrt(np.maximum(left * right, 0.0)), np.nan)


def _second_order(pairs: int) -> float:
    """Return the variance of the ratio under independence."""
    return 2.0 / (pairs * (pairs - 3.0)) if pairs > 3 else np.nan


# --- HSIC of pairs, or of groups of pairs in order of their codes ---------------------------------


def hsic(x: Features, y: Features, codes: np.ndarray | None = None) -> tuple[float, np.ndarray]:
    """Return the unbiased HSIC [Song12] from pairs of different groups.

    Return also the same without each group.

    The mean of K_ij L_ij + K_ij L_qr - 2 K_ij L_iq over pairs i, j, q, r of four different groups:
    similar pairs of one group would make independent variables seem dependent.  Without codes,
    every pair is a group.  NaN with fewer than four groups.
    """
    groups = np.arange(len(x)) if codes is None else codes
    ones = np.ones(len(x))

    def by_group(values: np.ndarray) -> np.ndarray:
        return values if codes is None else np.bincount(codes, weights=values)

    own_x, own_y = (
        features.within(ones[:, None], groups)[:, 0] for features in (x, y)
    )  # sums over the group of a pair
    a = x.inner(ones) - own_x
    b = y.inner(ones) - own_y  # and over all others
    if codes is None:
        group_x = x
        group_y = y
        both = rows = columns = across = _row_products(x, y) - own_x * own_y
    else:
        group_x = x.sums(codes)
        group_y = y.sums(codes)
        across = _row_products(group_x, group_y) - group_x.diagonal() * group_y.diagonal()
        both = by_group(_row_products(x, y))
        both -= np.array([_row_products(x[part], y[part]).sum() for part in _slices(codes)])
        if x.by_coordinates:
            z = x.values
            w = y.values
            rows = np.einsum("ir,ir->i", z @ (group_x.values.T @ group_y.values), w)
            columns = np.einsum("gr,gr->g", group_x.values @ (z.T @ w), group_y.values)
        else:
            products = (summing(codes) @ x.values) * (summing(codes) @ y.values)
            rows = products.sum(axis=0)
            columns = products.sum(axis=1)
        rows = rows - own_x * own_y
        columns = columns - by_group(own_x * own_y)
    whole_a = by_group(a)
    whole_b = by_group(b)
    same = by_group(a * b - rows)
    ay = by_group(y.inner(a) - a * own_y)
    bx = by_group(x.inner(b) - b * own_x)
    others = group_y.inner(whole_a) - group_y.diagonal() * whole_a
    others += group_x.inner(whole_b) - group_x.diagonal() * whole_b
    sums = np.array(
        [both.sum(), same.sum(), whole_a.sum(), whole_b.sum(), whole_a @ whole_b, across.sum()]
    )
    shared = same + ay + bx - 2.0 * columns
    removed = [
        2.0 * both,
        shared,
        2.0 * whole_a,
        2.0 * whole_b,
        whole_a * whole_b + others - across,
        2.0 * across,
    ]
    powers = np.bincount(groups) ** np.arange(1.0, 5.0)[:, None]
    counts = powers.sum(axis=1)
    without = _mean_of_four(sums[:, None] - np.stack(removed), counts[:, None] - powers)
    return float(_mean_of_four(sums, counts)), without


def _mean_of_four(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return HSIC from sums over pairs of different groups, and sums of powers of group sizes.

    The latter are the sums of the first four powers.

    The sums are of K_ij L_ij; of K_ij L_iq; of K and of L; and of products of the sums of K and L
    over one group, and over two.
    """
    products, same, a, b, by_one, by_two = sums
    n, two, three, four = counts
    pairs = n**2 - two
    triples = n**3 - 3.0 * n * two + 2.0 * three
    fours = n**4 - 6.0 * n**2 * two + 8.0 * n * three + 3.0 * two**2 - 6.0 * four
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (
            products / pairs + (a * b - 4.0 * by_one + 2.0 * by_two) / fours - 2.0 * same / triples
        )
        return np.where(fours > 0.5, mean, np.nan)


def _row_products(x: Features, y: Features) -> np.ndarray:
    """Return sum_j K_ij L_ij for every i."""
    left = x.values @ (x.values.T @ y.values) if x.by_coordinates else x.values
    return np.asarray(np.einsum("ij,ij->i", left, y.values))


def noise_of_groups(x: Features, y: Features, codes: np.ndarray) -> float:
    """Return the variance of HSIC under independence, however similar the rows of a group are.

    It is estimated by the squares of the sums of K_ij L_ij over the pairs of two groups, for
    centered features: these sums are uncorrelated.
    """
    count = int(codes[-1]) + 1
    n = len(codes)
    if count < FEWEST_GROUPS:
        return np.nan
    # groups whose products, of rows or of coordinates, fit in memory
    by_rows = int(_MOST_PRODUCTS**0.5 * count / n)
    by_rank = _MOST_PRODUCTS // (x.values.shape[1] * y.values.shape[1]) if x.by_coordinates else 0
    few = min(count, _ENOUGH_GROUPS, max(4, by_rows, by_rank))
    chosen = np.linspace(0, count - 1, few).round().astype(np.intp)
    if by_rank > by_rows:
        slices = np.array(_slices(codes), dtype=object)[chosen]
        products = np.stack([(x.values[part].T @ y.values[part]).ravel() for part in slices])
        sums = products @ products.T
    else:
        rows = np.isin(codes, chosen)
        gram_x, gram_y = (features[np.flatnonzero(rows)].gram for features in (x, y))
        sums = Features(gram_x * gram_y).sums(np.searchsorted(chosen, codes[rows])).values
    np.fill_diagonal(sums, 0.0)
    pairs = count * (count - 1.0) / (few * (few - 1.0))
    return float(2.0 * pairs * np.square(sums).sum() / float(n) ** 4 * count / (count - 3.0))


def _slices(codes: np.ndarray) -> list[slice]:
    """Return the rows of every group."""
    edges = np.flatnonzero(np.diff(codes, prepend=-1, append=-1)).tolist()
    return list(map(slice, edges[:-1], edges[1:]))
