"""The dependence of two variables on a scale from 0 to 1, with what its interval takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shrinktest.effects.hsic import Groups, hsic
from shrinktest.effects.inner_products import ROUNDING, InnerProducts
from shrinktest.effects.interval import Estimate, by_leaving_out
from shrinktest.statistics.sums import PairSums, centred_sums

OF_DIFFERENT = 4  # groups, without which there is no estimate from pairs of different ones
_IN_GROUPS = 2.0**-12  # as `ROUNDING`, of features that were made whole numbers, with room for larger ones


def dependence(x: InnerProducts, y: InnerProducts, groups: np.ndarray | None = None) -> Estimate:
    """The kernel correlation HSIC(X, Y) / sqrt(HSIC(X, X) HSIC(Y, Y)), every part of it estimated without bias.

    Also known as centred kernel alignment; with kernels of a distance it is the squared distance correlation with its
    bias removed.  The variance is that of the jackknife over pairs, or ``groups`` (n,) of them (codes 0, 1, ...).  Its
    part of second order is what is left under independence, where the variance of the numerator is 2 HSIC(X, X)
    HSIC(Y, Y) / (n (n - 3)), so that it is that of the ratio for every kernel.  With groups, where features must be
    less their mean, only pairs of different ones are compared, and that part is estimated: it lies between that of n
    pairs and that of as many as there are groups, by how much pairs of a group resemble each other.  NaN where a
    variable has no HSIC with itself, as where all its rows but one are the same, and with fewer than four groups; there
    is no variance where that is so without one unit.

    Sources: C. Cortes et al., Journal of Machine Learning Research 13 (2012), 795-828; L. Song et al., Journal of
    Machine Learning Research 13 (2012), theorem 2; G. J. Szekely and M. L. Rizzo, Annals of Statistics 42 (2014).
    """
    n = len(x)
    if groups is None or int(groups.max()) + 1 == n:
        both, left, right = hsic(x, y), hsic(x, x), hsic(y, y)
        units, second = n, _second(n)
    else:
        of = Groups.of(x, y, groups)
        both, left, right = of.hsic(), replace(of, y=of.x).hsic(), replace(of, x=of.y).hsic()
        units, second = int(groups.max()) + 1, np.nan
        if left[0] > 0.0 and right[0] > 0.0:
            second = max(of.noise() / (left[0] * right[0]), _second(n))
    least = [ROUNDING * one.squares() / n**2 for one in (x, y)]
    value, without = (_relative(both[k], left[k], right[k], least) for k in (0, 1))
    return Estimate(float(value), by_leaving_out(without), second, units)


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
