"""Squared distances, or dependences, of several samples from one, and what each becomes without one unit of the data.

A unit is what varies independently: a row, or rows that belong together.  Every estimate is a U-statistic, which takes
no two rows of one unit, so that it has no bias and its values without a unit follow from sums that are there already:
nothing is computed again.  The differences of two estimates have the covariance of both in their own values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shrinktest.effects.dependence import hsic
from shrinktest.effects.inner_products import InnerProducts
from shrinktest.effects.jackknife import jackknife
from shrinktest.statistics.features import Centred, Features

_ROUNDING = 1e-12  # of the size of what cancels in an estimate

#: Units in every sample, and rows of variables, of which one can be left out.
FEWEST, FEWEST_ROWS = 3, 5


@dataclass(frozen=True, eq=False)
class JackknifeEstimates:
    """Estimates, and what they become without one unit at a time."""

    estimates: np.ndarray  # (k,)
    without: np.ndarray  # (units, k)
    present: np.ndarray  # (units, 1 + k): whether a unit has rows in the first sample, and in each of the others
    rounding: float  # what rounding may have made of an estimate

    def difference(self, first: int, second: int) -> tuple[float, float, float]:
        """The first estimate less the second, its standard error and the degrees of freedom of that.

        The jackknife of R. G. Miller, The jackknife, Biometrika 61 (1974), 1-15, for several samples: their variances
        add up, with the degrees of freedom of B. L. Welch, Biometrika 34 (1947), 28-35.  It counts what is not linear
        in the data twice (B. Efron and C. Stein, Annals of Statistics 9 (1981), 586-596), so that it is too large and
        not too small where all distributions are nearly the same.
        """
        value = float(self.estimates[first] - self.estimates[second])
        moved = self.without[:, first] - self.without[:, second] - value
        unit = 2.0 ** int(np.frexp(np.abs(moved).max())[1])  # squares of squares neither overflow nor underflow
        kinds = self.kinds(first, second)
        counts = np.bincount(kinds)
        each, counts = jackknife((1.0 - 1.0 / counts[kinds]) * moved / unit, kinds)
        each, counts = each[1:][counts[1:] > 0.0], counts[1:][counts[1:] > 0.0]
        variance = float(each.sum())
        if unit * variance**0.5 <= self.rounding:
            return value, 0.0, float("nan")
        return value, unit * variance**0.5, variance**2 / float((each**2 / (counts - 1.0)).sum())

    def kinds(self, first: int, second: int) -> np.ndarray:
        """A number for every unit: 0 without rows in any of the three samples, else by those in which it has some.

        A kind of one joins the largest.
        """
        kinds = self.present[:, [0, 1 + first, 1 + second]] @ np.array([4, 2, 1])
        counts = np.bincount(kinds)
        counts[0] = 0
        return np.where(counts[kinds] == 1, counts.argmax(), kinds)


# --- distances ----------------------------------------------------------------------------------------------


def distances(gram: Features, sizes: Sequence[int], units: np.ndarray, workers: int = 1) -> JackknifeEstimates:
    """Unbiased squared distances (MMD^2) of the first sample to each of the others.

    ``gram`` is the kernel at the pooled observations, sample after sample; ``units`` (N,) are whole numbers from 0,
    of every observation the unit that it belongs to.
    """
    samples = [slice(end - size, end) for end, size in zip(np.cumsum(sizes).tolist(), sizes, strict=True)]
    sums = _Sums(gram, samples, units, workers)
    own = [sums.mean(s, s) for s in range(len(sizes))]
    crossed = [sums.mean(0, s) for s in range(1, len(sizes))]
    found = np.stack([own[0] + one - 2.0 * across for one, across in zip(own[1:], crossed, strict=True)], axis=1)
    return JackknifeEstimates(found[0], found[1:], sums.present(), _ROUNDING * gram.size(workers))


class _Sums:
    """Mean kernel values of rows in different units, of all of them and without each unit."""

    def __init__(self, gram: Features, samples: list[slice], units: np.ndarray, workers: int) -> None:
        self.samples, self.units = samples, units
        self.count = int(units.max()) + 1
        self.alone = self.count == len(units)
        self.z = gram.coordinates()
        self.matrix = gram.matrix(workers) if self.z is None else None
        self.rows = np.stack([np.bincount(units[s], minlength=self.count) for s in samples], axis=1).astype(np.float64)

    def mean(self, a: int, b: int) -> np.ndarray:
        """The mean over pairs of a row of sample a and one of b, and those without each unit, shape (1 + units,)."""
        here, pairs = self._of(a, b)
        there, back = (here, pairs) if a == b else self._of(b, a)
        values, counts = (np.concatenate([[one.sum()], one.sum() - one - two])
                          for one, two in ((here, there), (pairs, back)))  # fmt: skip
        return np.asarray(values / counts)

    def _of(self, a: int, b: int) -> tuple[np.ndarray, np.ndarray]:
        """For every unit, kernel values of its rows of a with rows of b in other units: their sum and their number."""
        rows, others = self.samples[a], self.samples[b]
        sums = self._with_all(rows, others)
        if not self.alone:
            sums = sums - self._within(rows, others)
        elif a == b:
            sums = sums - self._squares(rows)
        each, many = self.rows[:, a], self.rows[:, b]
        return np.bincount(self.units[rows], weights=sums, minlength=self.count), each * (many.sum() - many)

    def _with_all(self, rows: slice, others: slice) -> np.ndarray:
        if self.matrix is not None:
            return np.asarray(self.matrix[rows, others].sum(axis=1))
        assert self.z is not None
        return np.asarray(self.z[rows] @ self.z[others].sum(axis=0))

    def _within(self, rows: slice, others: slice) -> np.ndarray:
        """Sums of the kernel values of every row with the others in its unit."""
        mine, theirs = self.units[rows], self.units[others]
        if self.matrix is not None:
            return np.asarray(np.where(mine[:, None] == theirs, self.matrix[rows, others], 0.0).sum(axis=1))
        assert self.z is not None
        of_units = np.zeros((self.count, self.z.shape[1]))
        np.add.at(of_units, theirs, self.z[others])
        return np.asarray((self.z[rows] * of_units[mine]).sum(axis=1))

    def _squares(self, rows: slice) -> np.ndarray:
        if self.matrix is not None:
            return np.diagonal(self.matrix)[rows]
        assert self.z is not None
        return np.asarray(np.square(self.z[rows]).sum(axis=1))

    def present(self) -> np.ndarray:
        """Whether a unit has rows in a sample, shape (units, samples)."""
        return self.rows > 0.0


# --- dependences --------------------------------------------------------------------------------------------


def dependences(grams: Sequence[Features], *, normalised: bool, workers: int = 1) -> JackknifeEstimates:
    """Unbiased HSIC of the first variable with each of the others; its correlation, with the bias removed, on request.

    The U-statistic of [Song12]; divided, where ``normalised``, by the root of the product of those of both variables
    with themselves.
    """
    variables = centred(grams, workers)
    first, *others = (InnerProducts(one.values, one.by_coordinates) for one in variables)
    found = np.stack([_both(first, one) for one in others], axis=1)
    sizes = np.array([variables[0].norm * one.norm for one in variables[1:]])
    if normalised:
        scale = np.sqrt(np.stack([_both(first, first) * _both(one, one) for one in others], axis=1))
        found, sizes = found / scale, sizes / scale[0]
    everywhere = np.ones((len(found) - 1, len(variables)), dtype=bool)
    return JackknifeEstimates(found[0], found[1:], everywhere, _ROUNDING * float(sizes.max()))


def _both(x: InnerProducts, y: InnerProducts) -> np.ndarray:
    """HSIC of two variables, and those without each row, shape (1 + n,)."""
    whole, without = hsic(x, y)
    return np.concatenate([[whole], without])


def centred(grams: Sequence[Features], workers: int = 1) -> list[Centred]:
    """The centred features of every variable, all by coordinates or all by their Gram matrices."""
    found = [one.centred(workers) for one in grams]
    return found if all(one.by_coordinates for one in found) else [one.dense() for one in found]
