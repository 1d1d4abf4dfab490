"""Distances to, or dependences on, several samples, their values without each unit of the data, and differences of two.

A unit varies independently: a row, or a pair or group of rows.  The estimates are U-statistics, which compare no two
rows of one unit, so that they are unbiased and their values without a unit follow from sums that are known already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shrinktest.effects.dependence import hsic
from shrinktest.effects.inner_products import InnerProducts
from shrinktest.effects.jackknife import jackknife
from shrinktest.statistics.features import Features

_ROUNDING = 1e-12  # of the size of the terms that cancel

#: Fewest units in a sample, and fewest rows of variables, of which one can be left out.
FEWEST, FEWEST_ROWS = 3, 5


@dataclass(frozen=True, eq=False)
class JackknifeEstimates:
    """Estimates for k candidates, and the same without each unit."""

    estimates: np.ndarray  # (k,)
    without: np.ndarray  # (units, k)
    present: np.ndarray  # (units, 1 + k): whether a unit has rows in X, and in each of the candidates
    rounding: float  # possible rounding error of an estimate

    def difference(self, first: int, second: int) -> tuple[float, float, float]:
        """Return the difference of two estimates, its standard error and the degrees of freedom.

        The stratified jackknife (R. G. Miller, Biometrika 61 (1974), 1-15) with the degrees of freedom of B. L. Welch,
        Biometrika 34 (1947), 28-35.  It counts the second-order part of the variance twice (B. Efron and C. Stein,
        Annals of Statistics 9 (1981), 586-596), and is conservative if all distributions are nearly the same.
        """
        value = float(self.estimates[first] - self.estimates[second])
        influence = self.without[:, first] - self.without[:, second] - value
        unit = 2.0 ** int(np.frexp(np.abs(influence).max())[1])  # keeps fourth powers in the range of numbers
        strata = self.strata(first, second)
        counts = np.bincount(strata)
        variances, counts = jackknife((1.0 - 1.0 / counts[strata]) * influence / unit, strata)
        variances, counts = variances[1:][counts[1:] > 0.0], counts[1:][counts[1:] > 0.0]
        variance = float(variances.sum())
        error = unit * variance**0.5
        if error <= self.rounding:
            return value, 0.0, float("nan")
        return value, error, variance**2 / float((variances**2 / (counts - 1.0)).sum())

    def strata(self, first: int, second: int) -> np.ndarray:
        """Return the stratum of every unit: which of the three samples it has rows in, 0 for none.

        A unit that is alone in its stratum joins the largest one.
        """
        strata = self.present[:, [0, 1 + first, 1 + second]] @ np.array([4, 2, 1])
        counts = np.bincount(strata)
        counts[0] = 0
        return np.where(counts[strata] == 1, counts.argmax(), strata)


def distances(gram: Features, sizes: Sequence[int], units: np.ndarray, workers: int = 1) -> JackknifeEstimates:
    """Unbiased squared distances (MMD^2) of the first sample to each of the others.

    ``gram`` is the kernel at the pooled rows, sample after sample; ``units`` (N,) are codes 0, 1, ... of their units.
    """
    z = gram.coordinates()
    products = InnerProducts(gram.matrix(workers), False) if z is None else InnerProducts(z, True)
    k, count = len(sizes), int(units.max()) + 1
    sample = np.repeat(np.arange(k), sizes)
    members = np.eye(k)[sample]  # (N, k)
    same_unit = products.within(members, units)
    sums, rows = np.zeros((count, k, k)), np.zeros((count, k))
    np.add.at(sums, (units, sample), products.applied(members) - same_unit)
    np.add.at(rows, (units, sample), 1.0)
    pairs = rows[:, :, None] * (rows.sum(axis=0) - rows)[:, None, :]
    means = _with_and_without(sums) / _with_and_without(pairs)
    own = np.einsum("uss->us", means)
    values = own[:, :1] + own[:, 1:] - 2.0 * means[:, 0, 1:]
    return JackknifeEstimates(values[0], values[1:], rows > 0.0, _ROUNDING * gram.size(workers))


def _with_and_without(sums: np.ndarray) -> np.ndarray:
    """Total of the sums (units, k, k) of rows of a unit with all others, and the same without each unit."""
    total = sums.sum(axis=0)
    return np.concatenate([total[None], total - sums - sums.transpose(0, 2, 1)])


def dependences(grams: Sequence[Features], *, normalised: bool, workers: int = 1) -> JackknifeEstimates:
    """Unbiased HSIC [Song12] of the first variable with each of the others, or their unbiased kernel correlations."""
    centred = [gram.centred(workers) for gram in grams]
    if not all(one.by_coordinates for one in centred):
        centred = [one.dense() for one in centred]
    x, *others = (InnerProducts(one.values, one.by_coordinates) for one in centred)
    values = np.stack([_hsic(x, y) for y in others], axis=1)
    sizes = np.array([centred[0].norm * one.norm for one in centred[1:]])
    if normalised:
        scale = np.sqrt(np.stack([_hsic(x, x) * _hsic(y, y) for y in others], axis=1))
        values, sizes = values / scale, sizes / scale[0]
    present = np.ones((len(values) - 1, len(centred)), dtype=bool)
    return JackknifeEstimates(values[0], values[1:], present, _ROUNDING * float(sizes.max()))


def _hsic(x: InnerProducts, y: InnerProducts) -> np.ndarray:
    """HSIC with all rows, and without each of them, (1 + n,)."""
    whole, without = hsic(x, y)
    return np.concatenate([[whole], without])
