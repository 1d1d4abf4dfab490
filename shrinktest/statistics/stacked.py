"""Distances of two samples' means in many single columns, by stacked kernel values."""

from __future__ import annotations

import numpy as np

from shrinktest._check import Array
from shrinktest._parallel import parallel_for, single_blas_thread
from shrinktest.estimators.scaled import ScaledMean
from shrinktest.kernels.distance_kernel import DistanceKernel
from shrinktest.permutations.base import Draws
from shrinktest.permutations.null import TIE, Null
from shrinktest.statistics.features import alike
from shrinktest.statistics.mmd import Contrast, scaled_products
from shrinktest.statistics.statistic import Form
from shrinktest.statistics.sums import PLAIN

_PAIRS = 2**22  # kernel values, or products of memberships, in memory at a time
_STATISTICS = 2**15  # of a piece, few enough that their sums stay in the cache
_LOOKED_AT = 40
_NEAR = 1.0
_APART = 0.02  # successive rows, and squared distances in bandwidths of an ordinary column


def stacked_nulls(
    estimator: ScaledMean,
    kernel: DistanceKernel,
    widths: Array,
    by_median: Array,
    columns: Array,
    contrast: Contrast,
    draws: Draws,
    *,
    form: Form,
    tuning: str,
    workers: int,
) -> list[Null | None]:
    """Null distributions of single columns (c, N) on shared permutations.

    Kernels differ by bandwidth.

    Bandwidths are ``widths`` (c,), in units of the median distance if ``by_median`` (c,) says so.
    None for columns with many ties, features that hardly differ, or a bandwidth to be warned of.
    """
    size = columns.shape[1]
    nulls: list[Null | None] = []
    first, second = np.triu_indices(size, 1)
    step = max(1, _PAIRS // len(first))
    middle = (len(first) - 1) // 2, len(first) // 2
    with single_blas_thread(PLAIN):
        for start in range(0, len(columns), step):
            part = slice(start, start + step)
            some = columns[part]
            unit = np.ldexp(
                1.0, np.frexp(np.abs(some).max(axis=1))[1] - 1
            )  # so that squares are within range
            some = some / unit[:, None]
            distances = some[:, first]
            distances -= some[:, second]
            np.abs(distances, out=distances)
            in_range = np.isfinite(distances.max(axis=1) * unit)
            medians = np.sqrt(
                np.square(np.partition(distances, middle, axis=1)[:, middle]).mean(axis=1)
            )
            medians[2 * np.count_nonzero(distances, axis=1) < len(first)] = (
                np.nan
            )  # most pairs are ties
            scaled = widths[part] * np.where(by_median[part], medians, 1.0 / unit)
            with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
                successive = np.square(np.diff(some[:, :_LOOKED_AT], axis=1) / scaled[:, None])
                distances /= scaled[:, None]
                values = kernel.decay(distances)
            sums = values.sum(axis=1)
            squares = np.einsum("cp,cp->c", values, values)
            ordinary = (successive < _NEAR).any(axis=1) & (successive > _APART).any(axis=1)
            ordinary &= np.isfinite(scaled) & in_range
            ordinary &= [not alike(size, size + 2.0 * total, size) for total in sums]
            places = np.flatnonzero(ordinary)
            norms = np.sqrt(size + 2.0 * squares[places]) / size
            part_nulls: list[Null | None] = [None] * len(some)
            rows, ties = _statistics(
                estimator,
                values[places],
                norms,
                contrast,
                draws,
                form=form,
                tuning=tuning,
                workers=workers,
            )
            for place, row, tie in zip(places, rows, ties, strict=True):
                part_nulls[place] = Null(
                    float(row[0]), row[0 if draws.exact else 1 :], TIE * float(tie), draws.exact
                )
            nulls += part_nulls
    return nulls


def _statistics(
    estimator: ScaledMean,
    values: Array,
    norms: Array,
    contrast: Contrast,
    draws: Draws,
    *,
    form: Form,
    tuning: str,
    workers: int,
) -> tuple[Array, Array]:
    """Statistics (c, permutations) from kernel values (c, pairs); sizes (c,) for the data.

    The kernel values have ones on the diagonal.

    A sum over pairs within a sample is a product of the values with the products of memberships,
    for all columns.
    """
    count, (n, m), size = len(values), contrast.sizes, sum(contrast.sizes)
    combine = form.combine
    assert combine is not None
    first, second = np.triu_indices(size, 1)
    rows = np.ones((count, size))
    for i in range(size):
        rows[:, i] += values[:, (first == i) | (second == i)].sum(axis=1)
    everything = rows.sum(axis=1)[:, None]
    out = np.empty((count, draws.count))
    terms = np.empty(count)
    step = max(1, _PAIRS // (4 * len(first)))

    def evaluate(start: int) -> None:
        members = draws.rows(start, start + step) == 0
        both = (members[:, first] & members[:, second]).astype(np.float64).T
        memberships = members.astype(np.float64).T
        wide = max(1, _STATISTICS // len(members))

        def compute(low: int) -> None:
            part = slice(low, low + wide)
            inside = n + 2.0 * (values[part] @ both)
            cross = rows[part] @ memberships - inside
            sums = np.stack([inside, cross, cross, everything[part] - inside - 2.0 * cross], axis=2)
            traces = np.broadcast_to([float(n), float(m)], (inside.size, 2))
            sizes = np.repeat(norms[part], len(members))
            products = scaled_products(
                estimator, sums.reshape(-1, 2, 2), traces, contrast.sizes, tuning, form, sizes
            )
            part_values = combine(contrast, *products, 0.0).reshape(*inside.shape, 2)
            out[part, start : start + len(members)] = part_values[:, :, 0]
            if start == 0:
                terms[part] = part_values[:, 0, 1]

        parallel_for(compute, range(0, count, wide), workers)

    for start in range(0, draws.count, step):
        evaluate(start)
    return out, terms
