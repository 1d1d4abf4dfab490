"""Bandwidths that are found on the data: the median distance, that to near neighbours, and a grid of them."""

from __future__ import annotations

import re
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from shrinktest._validate import Array, as_rng, choice, complete_points, count, positive
from shrinktest._warn import warn_user
from shrinktest.kernels.metric import magnitude, pairs
from shrinktest.kernels.strata import drawn_rows

Metric = Literal["euclidean", "cityblock"]

# With more rows the median is over a part of them: all pairs would cost more than the test.
_ALL_PAIRS_UP_TO = 2000
_ROWS_DRAWN = 1000

_MANY, _SOME = 2**14, 2**12  # values from which looking at some of them first pays, and how many


def bandwidth_grid(Z: ArrayLike, number: int = 5, rng: Any = None, distance: Metric = "euclidean") -> tuple[float, ...]:
    """Bandwidths in a geometric sequence from half the 5 % quantile of the distances to twice the 95 % quantile.

    What ``bandwidth="grid"`` stands for in a test: narrow enough to detect differences between neighbours, wide enough
    to detect differences of means, in any number of columns ([S23] section 5.2).

    Parameters
    ----------
    Z : array_like of shape (n, d) or (n,)
        At least two rows; as for `median_bandwidth`.
    number : int, default 5
        How many; at least 2.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Draws 1000 of more than 2000 rows, unless more than a tenth of the pairs of rows are equal; then 1000 rows
        in which every value has its share, rare values included, are the same for every ``rng``.
    distance : {"euclidean", "cityblock"}
        |x - y| in the 2-norm (`Gaussian`) or the 1-norm (`Laplacian`).

    Raises
    ------
    ValueError
        All rows are equal, there is only one row, or values are missing.

    See Also
    --------
    median_bandwidth : The default of tests.
    neighbour_bandwidth : One bandwidth for fine structure.

    Notes
    -----
    Quantiles are of the positive distances over pairs i < j.

    Examples
    --------
    >>> [round(width, 2) for width in bandwidth_grid([0.0, 1.0, 3.0, 3.5], number=3)]
    [0.31, 1.45, 6.75]
    """
    number = count(number, "number", minimum=2)
    squared, unit = _squared_distances(Z, rng, distance)
    low, high = np.quantile(np.sqrt(squared[squared > 0]), (0.05, 0.95))
    return tuple(float(unit * width) for width in np.geomspace(0.5 * low, 2.0 * high, number))


def median_bandwidth(Z: ArrayLike, rng: Any = None, distance: Metric = "euclidean") -> float:
    """The square root of the median of the squared distances between the rows of Z, over pairs i < j.

    For two samples Z is the pooled sample, for independence one variable: then the result does not depend on
    the permutation and the test stays exact. It scales with the units of the data.

    Parameters
    ----------
    Z : array_like of shape (n, d) or (n,)
        At least two rows.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Draws 1000 of more than 2000 rows, unless more than a tenth of the pairs of rows are equal; then 1000 rows
        in which every value has its share, rare values included, are the same for every ``rng``.
    distance : {"euclidean", "cityblock"}
        |x - y| in the 2-norm (`Gaussian`) or the 1-norm (`Laplacian`).

    Warns
    -----
    UserWarning
        More than half of the distances are zero, and the others differ: the median is then over the positive ones.

    Raises
    ------
    ValueError
        All rows are equal, there is only one row, or values are missing.

    See Also
    --------
    neighbour_bandwidth : A narrower one, for clusters and other fine structure.
    bandwidth_grid : Several from narrow to wide, to combine in one test.

    Examples
    --------
    >>> median_bandwidth([0.0, 1.0, 3.0])
    2.0
    """
    squared, unit = _squared_distances(Z, rng, distance)
    apart = squared > 0
    if 2 * np.count_nonzero(apart) < len(squared):
        squared = squared[apart]
        if squared.min() < squared.max():  # categories have one distance, and none to choose from
            warn_user(
                "more than half of the distances between observations are zero (ties): "
                "the bandwidth is the median of the positive ones"
            )
    width = float(np.sqrt(_median(squared))) * float(unit)
    if np.isinf(width):
        raise ValueError(
            "the median distance between observations is beyond the range of numbers; divide columns by a constant, or "
            "use scale='rank'"
        )
    return width


def neighbour_bandwidth(Z: ArrayLike, rng: Any = None, distance: Metric = "euclidean") -> float:
    """The median, over the rows of Z, of the distance to the farthest of the nearest tenth of the other rows.

    It follows clusters and other fine structure, where the median of all distances measures only how far these are
    apart; in many columns, where all distances are alike, the two are nearly the same.

    Parameters
    ----------
    Z : array_like of shape (n, d) or (n,)
        At least two rows.
    rng : None, int, SeedSequence, BitGenerator or Generator
        As for `median_bandwidth`.
    distance : {"euclidean", "cityblock"}
        |x - y| in the 2-norm (`Gaussian`) or the 1-norm (`Laplacian`).

    Raises
    ------
    ValueError
        All rows are equal, there is only one row, or values are missing.

    See Also
    --------
    median_bandwidth : The default of tests.
    bandwidth_grid : Several from narrow to wide, to combine in one test.

    Notes
    -----
    Rows that equal more than a tenth of the others count with the distance to the nearest row that differs.  Of the two
    distances in the middle of an even number it is the squares that are averaged, as for `median_bandwidth`.

    Examples
    --------
    >>> neighbour_bandwidth([0.0, 1.0, 3.0, 100.0, 101.0])
    1.0
    """
    squared, unit = _squared_distances(Z, rng, distance)
    size = round(0.5 + (0.25 + 2.0 * squared.size) ** 0.5)  # rows with so many pairs
    table, ends = np.full((size, size), np.inf), np.cumsum(np.arange(size - 1, -1, -1))
    for i, end in enumerate(ends):
        table[i, i + 1 :] = squared[end - (size - 1 - i) : end]
    np.minimum(table, table.T, out=table)
    nearest = -(-(size - 1) // 10)
    table.partition(nearest - 1, axis=1)
    found = table[:, nearest - 1].copy()
    tied = found == 0.0
    if tied.any():
        some = table[tied]
        some[some == 0.0] = np.inf
        found[tied] = some.min(axis=1)
    return float(np.sqrt(_median(found)) * unit)


def _squared_distances(Z: ArrayLike, rng: Any, distance: Metric) -> tuple[Array, float]:
    """Squared distances over pairs of (some of) the rows, in squares of a unit that keeps them from overflowing."""
    choice(distance, ("euclidean", "cityblock"), "distance")
    rows = complete_points(Z, "Z").values
    if len(rows) < 2:
        raise ValueError("the median distance needs at least 2 rows; give a bandwidth that is a number")
    if len(rows) > _ALL_PAIRS_UP_TO:
        rows = drawn_rows(rows, _ROWS_DRAWN, as_rng(rng))
    unit = magnitude(rows)
    squared = pairs(rows / unit, distance == "cityblock")
    np.square(squared, out=squared)
    if not (squared > 0).any():
        raise ValueError(
            "all observations are equal, so that the median distance is 0 and there is nothing to find; take other "
            "data, or give a bandwidth that is a number"
        )
    return squared, unit


def _median(values: Array) -> float:
    """The median; of many values only those between two quantiles of every k-th value are sorted."""
    size = values.size
    if size > _MANY:
        some = np.sort(values[:: size // _SOME])
        middle, reach = some.size // 2, int(2.0 * np.sqrt(some.size))  # four standard deviations of a rank
        low, high = some[middle - reach], some[middle + reach]
        within = values >= low
        rank = (size - 1) // 2 - (size - np.count_nonzero(within))
        within &= values <= high
        near = values[within]
        if 0 <= rank < near.size - 1:
            both = np.partition(near, (rank, rank + 1))[rank : rank + 2]
            return float(both[0] if size % 2 else both.mean())
    return float(np.median(values))


#: What stands in place of a number, and the function that finds it.
RULES = {"median": median_bandwidth, "neighbours": neighbour_bandwidth}


def parsed(bandwidth: str) -> tuple[float, str]:
    """The factor and the name of the rule in such as "median", "0.5 * median" or "neighbours / 2"."""
    number, rule = r"(\d+\.?\d*(?:e[-+]?\d+)?|\.\d+)", f"({'|'.join(RULES)})"
    for pattern, power, factor, name in (
        (rf"(?:{number}\s*\*?\s*)?{rule}", 1, 1, 2),
        (rf"{rule}\s*\*\s*{number}", 1, 2, 1),
        (rf"{rule}\s*/\s*{number}", -1, 2, 1),
    ):
        found = re.fullmatch(pattern, bandwidth.strip().lower())
        if found:
            value = float(found[factor] or 1.0)
            checked = positive(value**power if value else value, f"the factor in bandwidth={bandwidth!r}")
            return checked, found[name]
    raise ValueError(
        "bandwidth must be a positive number, one per column, 'median', 'neighbours', or such as '0.5 * median' "
        f"('grid' is for tests that combine several, such as two_sample_test); got {bandwidth!r}"
    )
