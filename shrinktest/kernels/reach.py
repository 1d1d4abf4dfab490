"""Whether a kernel sees anything between different observations: a bandwidth may be far too small, or too large."""

from __future__ import annotations

import numpy as np

from shrinktest._validate import Array
from shrinktest.kernels.base import Kernel
from shrinktest.kernels.distance import DistanceKernel, Gaussian
from shrinktest.kernels.finite_rank import spread_rows
from shrinktest.kernels.pooled import PooledKernel
from shrinktest.kernels.rescaled import Rescaled

_LOOKED_AT = 40  # observations, enough for what holds for nearly all pairs
_NOTHING = 1e-15  # a kernel value so much smaller than k(x, x) is 0 to rounding,
_SAME = 1e-12  # and one so near to it is the same
_LINEAR = 0.01  # a Gaussian kernel so near to 1 is linear: with 30 sd, tests find spread as often as by chance
_LEAST = 1e-60  # of kernel values that are multiplied by others, and squared
_FAR_FROM_SAME = 2.0 * _LINEAR  # squared distance over squared bandwidth from which it is not
_SWEEPS = 3  # from the farthest row to the one farthest from it, and so on


def reach_notes(kernel: Kernel, points: Array, name: str) -> tuple[str, ...]:
    """Notes on a resolved kernel whose values are all 0, or all nearly 1, between different observations.

    Some of the points are looked at, evenly spread; those with missing values are left out.
    """
    inner = kernel.kernel if isinstance(kernel, Rescaled | PooledKernel) else kernel
    inner = inner.kernel if isinstance(inner, PooledKernel) else inner
    if not isinstance(inner, DistanceKernel):
        return ()
    widths = np.asarray(inner.bandwidth, dtype=np.float64)
    if not isinstance(kernel, Rescaled) and _sees(points[:_LOOKED_AT], widths):
        return ()
    some = points[spread_rows(len(points), _LOOKED_AT)]
    some = some[~np.isnan(some).any(axis=1)]
    compared = kernel.moved(some) if isinstance(kernel, Rescaled) else some
    if _sees(compared, widths):
        return ()
    different = (compared[:, None, :] != compared[None, :, :]).any(axis=2)
    if not different.any():
        return ()
    values = inner(compared)[different]
    if values.max() <= _NOTHING:
        problem, advice = "so small that the kernel is 0 between nearly all observations: it compares nothing", "larger"
    elif values.min() >= 1.0 - _SAME:
        problem, advice = "so large that the kernel is 1, up to rounding: it compares nothing", "smaller"
    elif values.min() >= 1.0 - _LINEAR and isinstance(inner, Gaussian):
        problem = "so large that the kernel is nearly linear: it sees means and correlations only"
        advice = "smaller"
    else:
        return ()
    width = f"{inner.bandwidth:.3g}" if np.ndim(inner.bandwidth) == 0 else str(inner.bandwidth)
    return (f"{name}: the bandwidth {width} is {problem}; give a {advice} one, or bandwidth='median'.",)


def largest_distance(kernel: Kernel, points: Array) -> float:
    """Largest squared distance of two kernel means of the points, relative to their norms.

    For a kernel without negative values, 1 - 2 C / (A + B) is at most 1 less the smallest value over the largest
    k(x, x), and two single rows attain it.  The smallest value is found by sweeps: from one row to the least similar
    row, and on from there.
    """
    row, smallest = 0, np.inf
    for _ in range(_SWEEPS):
        values = kernel(points, points[row : row + 1])[:, 0]
        row, smallest = int(values.argmin()), min(smallest, float(values.min()))
    return 1.0 - smallest / float(kernel.diagonal(points).max())


def require_in_range(kernel: Kernel, points: Array, name: str, least: float = _LEAST) -> None:
    """Raise ValueError for a kernel of values below ``least``, or above one over it, so that products are no numbers.

    By default these are squares of their products.
    """
    inner = kernel.kernel if isinstance(kernel, Rescaled) else kernel
    if isinstance(inner, DistanceKernel | PooledKernel):  # whose values do not depend on the units of the data
        return
    with np.errstate(all="ignore"):
        largest = float(np.abs(kernel.diagonal(points)).max())
    lost = not largest and (points != points[0]).any()
    if lost or (largest and not least < largest < 1.0 / least):
        raise ValueError(
            f"{name}: the largest value of {kernel!r} is {largest:.3g}, so that products of such values are beyond the "
            "range of numbers; multiply the data by a constant, or use scale='sd'"
        )


def _sees(points: Array, widths: Array) -> bool:
    """Whether one row and the next are enough to know that a bandwidth is neither far too small nor far too large."""
    with np.errstate(over="ignore"):
        away = np.square(np.diff(points, axis=0) / widths).sum(axis=1)
    return bool((away < 1.0).any() and (away > _FAR_FROM_SAME).any())
