"""Distances between rows, the bandwidths that they give, and rows that stand for many."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from shrinktest._check import Array, choice, complete_points, count, positive
from shrinktest._machine_code import compiled_loop
from shrinktest._random import as_rng
from shrinktest._warn import warn_user
from shrinktest.kernels.base import Kernel
from shrinktest.notes import note

Metric = Literal["euclidean", "cityblock"]

_FEW = 2**19  # differences of coordinates that numpy takes at once; more are left to compiled loops
_KEPT = 2**15  # of them that stay in the cache
_DIFFERENCE = 3e-9  # seconds of numpy for one
_ALL_PAIRS_UP_TO = 2000
_ROWS_DRAWN = 1000  # with more rows, all pairs would cost more than the test
_MANY = 2**14
_SOME = 2**12  # values from which looking at some of them first pays, and how many
# share of pairs of equal rows above which distances may be about rows that a random part misses
_REPEATED = 0.1
_RARE = 10  # at least one of so many rows is a rare one, if the data have as many

_LOOKED_AT = 40  # observations, enough for what holds for nearly all pairs
_NOTHING = 1e-15
_SAME = 1e-12  # kernel values as small as this are 0, and as near to 1 are 1, up to rounding
# a Gaussian kernel so near to 1 is linear: with 30 sd, tests find spread as often as by chance
_LINEAR = 0.01
_LEAST = 1e-60  # of kernel values that are multiplied by others, and squared


def bandwidth_grid(
    Z: ArrayLike, number: int = 5, rng: Any = None, distance: Metric = "euclidean"
) -> tuple[float, ...]:
    """Return bandwidths in a geometric sequence over the range of the distances.

    The sequence runs from half the 5% quantile of the distances to twice the 95% quantile.
    ``bandwidth="grid"`` of a test stands for these ([S23] section 5.2).

    Parameters
    ----------
    Z : array_like of shape (n, d) or (n,)
        At least two rows, not all equal.  Quantiles are of the positive distances over pairs i < j.
    number : int, default 5
        Number of bandwidths, at least 2.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Seed or generator that draws rows from large samples, as in :func:`median_bandwidth`.
    distance : {"euclidean", "cityblock"}, default "euclidean"
        |x - y| in the 2-norm (`Gaussian`) or the 1-norm (`Laplacian`).

    Returns
    -------
    tuple of float
        The bandwidths in ascending order.

    Raises
    ------
    ValueError
        If all rows are equal, or ``number`` is below 2.

    References
    ----------
    .. [S23] Schrab et al., "MMD aggregated two-sample test", JMLR 24, 2023.

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
    """Return the square root of the median squared distance between rows of Z, i < j.

    Z is the pooled sample of two, or one variable of a test of independence, so that no permutation
    changes the result.

    Parameters
    ----------
    Z : array_like of shape (n, d) or (n,)
        At least two rows, not all equal.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Seed or generator that draws 1000 of more than 2000 rows.  If more than a tenth of the pairs
        of rows are equal, however, these are 1000 rows in which every value is represented in
        proportion, regardless of ``rng``.
    distance : {"euclidean", "cityblock"}, default "euclidean"
        |x - y| in the 2-norm (`Gaussian`) or the 1-norm (`Laplacian`).

    Returns
    -------
    float
        The bandwidth, in the units of the data.

    Raises
    ------
    ValueError
        If all rows are equal, or there are fewer than two.

    Warns
    -----
    UserWarning
        If more than half of the distances are zero but the others differ, so that the median is
        over the positive ones.

    Examples
    --------
    >>> median_bandwidth([0.0, 1.0, 3.0])
    2.0
    """
    squared, unit = _squared_distances(Z, rng, distance)
    apart = squared > 0
    if 2 * np.count_nonzero(apart) < len(squared):
        squared = squared[apart]
        if squared.min() < squared.max():  # categories have one distance only
            warn_user(
                "more than half of the distances are zero (ties); the bandwidth is the median of "
                "the others"
            )
    width = float(np.sqrt(_median(squared))) * unit
    if np.isinf(width):
        raise ValueError(
            "the median distance is beyond the range of numbers; divide by a constant or use "
            "scale='rank'"
        )
    return width


def neighbor_bandwidth(Z: ArrayLike, rng: Any = None, distance: Metric = "euclidean") -> float:
    """Return the median distance to the k-th nearest neighbor.

    k is one tenth of the other rows, and therefore the bandwidth follows clusters and other fine
    structure.  If a row equals more than a tenth of the others, its distance is that to the nearest
    row that differs.

    Parameters
    ----------
    Z : array_like of shape (n, d) or (n,)
        At least two rows, not all equal.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Seed or generator that draws rows from large samples, as in :func:`median_bandwidth`.
    distance : {"euclidean", "cityblock"}, default "euclidean"
        |x - y| in the 2-norm (`Gaussian`) or the 1-norm (`Laplacian`).

    Returns
    -------
    float
        The bandwidth, in the units of the data.

    Raises
    ------
    ValueError
        If all rows are equal, or there are fewer than two.

    Examples
    --------
    >>> neighbor_bandwidth([0.0, 1.0, 3.0, 100.0, 101.0])
    1.0
    """
    squared, unit = _squared_distances(Z, rng, distance)
    size = round(0.5 + (0.25 + 2.0 * squared.size) ** 0.5)  # rows with so many pairs
    table = np.full((size, size), np.inf)
    table[~np.tri(size, dtype=bool)] = squared
    np.minimum(table, table.T, out=table)
    nearest = -(-(size - 1) // 10)
    table.partition(nearest - 1, axis=1)
    radii = table[:, nearest - 1].copy()
    tied = radii == 0.0
    radii[tied] = np.where(table[tied] == 0.0, np.inf, table[tied]).min(axis=1)
    return float(np.sqrt(_median(radii)) * unit)


#: Names in place of a bandwidth, and the functions that compute it.
RULES: dict[str, Callable[..., float]] = {
    "median": median_bandwidth,
    "neighbors": neighbor_bandwidth,
}


def parsed(bandwidth: str) -> tuple[float, str]:
    """Return the factor and name of a rule, as in "0.5 * median" or "neighbors / 2".

    The factor may be missing, as in "median".
    """
    number = r"(\d+\.?\d*(?:e[-+]?\d+)?|\.\d+)"
    pattern = rf"(?:{number}\s*\*?\s*)?({'|'.join(RULES)})(?:\s*([*/])\s*{number})?"
    if not (match := re.fullmatch(pattern, bandwidth.strip().lower())):
        raise ValueError(
            "bandwidth must be a positive number, one per column, 'median', 'neighbors' or, for "
            "example, "
            f"'0.5 * median'; got {bandwidth!r}"
        )
    before, rule, sign, after = match.groups()
    first, second = (
        positive(float(text or 1.0), f"the factor in bandwidth={bandwidth!r}")
        for text in (before, after)
    )
    return first / second if sign == "/" else first * second, rule


def write_distances(x: Array, columns: Array, city: bool, out: Array, differences: int) -> None:
    """Write distances of rows x (n, d) and the first m of ``columns`` (d, ..) to out (n, m).

    Many distances are computed by loops.
    """
    if differences > _FEW:
        if between := compiled_loop("between", 1, _DIFFERENCE * differences):
            between(x, columns, city, out)
            return
        step = max(1, _KEPT // max(1, out.shape[1] * len(columns)))
        for start in range(0, len(x), step):
            rows = slice(start, start + step)
            write_distances(x[rows], columns, city, out[rows], 0)
        return
    apart = np.subtract(x.T[:, :, None], columns[:, None, : out.shape[1]], order="C")  # (d, n, m)
    (np.abs if city else np.square)(apart, out=apart).sum(
        axis=0, out=out
    )  # in the order of the columns
    if not city:
        np.sqrt(out, out=out)


def pair_distances(x: Array, city: bool) -> Array:
    """Return the distances of all pairs of rows i < j, one after the other."""
    n = len(x)
    columns = np.ascontiguousarray(x.T)
    if n * x.size <= _FEW:
        square = np.empty((n, n))
        write_distances(x, columns, city, square, n * x.size)
        return square[~np.tri(n, dtype=bool)]
    out = np.empty(n * (n - 1) // 2)
    if among := compiled_loop("among", 1, _DIFFERENCE * out.size * x.shape[1]):
        among(x, columns, city, out)
        return out
    start = 0
    for i in range(n - 1):
        stop = start + n - 1 - i
        write_distances(x[i : i + 1], columns[:, i + 1 :], city, out[None, start:stop], 0)
        start = stop
    return out


def magnitude(rows: Array) -> float:
    """Return a power of two near the largest entry.

    Dividing by it is exact and keeps squares within range.
    """
    largest = max(
        rows.max(initial=0.0), -rows.min(initial=0.0)
    )  # of both signs, without a copy of the rows
    return float(np.ldexp(1.0, int(np.frexp(largest)[1]) - 1)) if largest > 0 else 1.0


def _squared_distances(Z: ArrayLike, rng: Any, distance: Metric) -> tuple[Array, float]:
    """Return squared distances over pairs of (some) rows, and a unit that avoids overflow."""
    choice(distance, ("euclidean", "cityblock"), "distance")
    rows: Array
    if isinstance(Z, np.ndarray) and Z.dtype == np.float64 and Z.ndim == 2 and np.isfinite(Z).all():
        rows = Z
    else:
        rows = complete_points(Z, "Z").values
    if len(rows) > _ALL_PAIRS_UP_TO:
        rows = drawn_rows(rows, _ROWS_DRAWN, as_rng(rng))
    unit = magnitude(rows)
    squared = pair_distances(rows / unit, distance == "cityblock")
    squared *= squared
    if not squared.any():
        problem = "needs at least 2 rows" if len(rows) < 2 else "is 0: all observations are equal"
        raise ValueError(f"the median distance {problem}; use a bandwidth that is a number")
    return squared, unit


def _median(values: Array) -> float:
    """Return the median.

    Of many values, only those between two quantiles of every k-th value are sorted.
    """
    size = values.size
    if size > _MANY:
        some = np.sort(values[:: size // _SOME])
        middle = some.size // 2
        margin = int(2.0 * np.sqrt(some.size))  # four standard deviations of a rank
        near = values[(values >= some[middle - margin]) & (values <= some[middle + margin])]
        rank = (size - 1) // 2 - np.count_nonzero(values < some[middle - margin])
        if 0 <= rank < near.size - 1:
            two = np.partition(near, (rank, rank + 1))[rank : rank + 2]
            return float(two[0] if size % 2 else two.mean())
    return float(np.median(values))


def drawn_rows(rows: Array, number: int, rng: np.random.Generator) -> Array:
    """Draw rows without replacement.

    If many of these are equal, return a stratified part of all rows instead.
    """
    drawn = rows[rng.choice(len(rows), number, replace=False)]
    return stratified(*distinct(rows), number) if repeats(drawn) else drawn


def repeats(rows: Array) -> bool:
    """Return True if more than a tenth of the pairs of rows (n, d) are equal."""
    _, counts = distinct(rows)
    return bool(counts @ (counts - 1.0) > _REPEATED * len(rows) * (len(rows) - 1.0))


def distinct(rows: Array) -> tuple[Array, Array]:
    """Return the distinct rows (m, d) in ascending order, and how often each occurs (m,)."""
    ordered = rows[np.lexsort(rows.T[::-1])]
    first = np.flatnonzero(np.r_[True, (ordered[1:] != ordered[:-1]).any(axis=1)])
    return ordered[first], np.diff(np.r_[first, len(rows)]).astype(np.float64)


def stratified(values: Array, counts: Array, number: int) -> Array:
    """Return about ``number`` rows in proportion to the counts (m,) of distinct rows.

    A tenth or more are rare ones.
    """
    share = counts * (number / counts.sum())
    rare = share <= 1.0
    ends = np.cumsum(counts[rare])
    total = float(counts[rare].sum())
    size = max(round(share[rare].sum()), min(int(total), number // _RARE))
    places = np.searchsorted(ends, (np.arange(size) + 0.5) * (total / max(size, 1)), side="right")
    copies = np.rint(share[~rare]).astype(np.int64)
    return np.vstack([np.repeat(values[~rare], copies, axis=0), values[rare][places]])


def spread_rows(size: int, number: int) -> Array:
    """Return so many row numbers below ``size``, or all of them, evenly spread."""
    return np.linspace(0, size - 1, min(size, number)).round().astype(np.intp)


def reach_notes(kernel: Kernel, points: Array, name: str) -> tuple[str, ...]:
    """Return notes on a resolved kernel whose values are all 0, or all nearly 1.

    The values are those between different observations.
    """
    for some in (points[:_LOOKED_AT], points[spread_rows(len(points), _LOOKED_AT)]):
        compared = kernel.compared(some[~np.isnan(some).any(axis=1)])
        if compared is None:
            return ()
        inner, rows = compared
        with np.errstate(over="ignore"):
            away = np.square(np.diff(rows, axis=0) / np.asarray(inner.bandwidth)).sum(axis=1)
        if (away < 1.0).any() and (
            away > 2.0 * _LINEAR
        ).any():  # neither far too small nor far too large
            return ()
    different = (rows[:, None, :] != rows[None, :, :]).any(axis=2)
    if not different.any():
        return ()
    values = inner.block(rows, rows)[different]
    if values.max() <= _NOTHING:
        problem = (
            "small that the kernel is 0 between nearly all observations, and nothing can be "
            "detected; use a larger"
        )
    elif values.min() >= 1.0 - _SAME:
        problem = (
            "large that the kernel is 1, up to rounding, and nothing can be detected; use a smaller"
        )
    elif values.min() >= 1.0 - _LINEAR and inner.metric == "euclidean":
        problem = (
            "large that the kernel is nearly linear: it detects differences in means and "
            "correlations only; use a "
            "smaller"
        )
    else:
        return ()
    width = f"{inner.bandwidth:.3g}" if np.ndim(inner.bandwidth) == 0 else str(inner.bandwidth)
    return (note("bandwidth", name=name, width=width, problem=problem),)


def largest_distance(kernel: Kernel, points: Array) -> float:
    """Return the largest squared distance of two kernel means of the points.

    It is relative to their norms.

    For a kernel without negative values this is 1 less the smallest value, found in three sweeps
    from a row to the least similar one, over the largest k(x, x).
    """
    row = 0
    smallest = np.inf
    for _ in range(3):
        values = kernel.block(points, points[row : row + 1])[:, 0]
        row = int(values.argmin())
        smallest = min(smallest, float(values.min()))
    return 1.0 - smallest / float(kernel.diagonal(points).max())


def require_in_range(kernel: Kernel, points: Array, name: str, least: float = _LEAST) -> None:
    """Raise ValueError if k(x, x) is outside ``least`` and its inverse.

    Its products would leave the range of numbers.
    """
    if kernel.bounded:
        return
    with np.errstate(all="ignore"):
        largest = float(np.abs(kernel.diagonal(points)).max())
    if (largest and not least < largest < 1.0 / least) or (
        not largest and (points != points[0]).any()
    ):
        raise ValueError(
            f"{name}: {kernel!r} reaches {largest:.3g}, products beyond the range of numbers; "
            "multiply the data by a constant, or use scale='sd'"
        )
