"""HSIC and dHSIC for every estimator, as functions of pairings or shuffles of variables.

Pairings are of two variables, shuffles of several.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shrinktest._machine_code import compiled_loop
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import KME, MeanEstimator
from shrinktest.kernels import Kernel
from shrinktest.kernels.inner import CenteredProduct, centered_product
from shrinktest.notes import note
from shrinktest.permutations.null import TIE, CostHint, Statistic
from shrinktest.statistics import dhsic_arrays
from shrinktest.statistics.features import LAST_BITS, Features, KernelFeatures
from shrinktest.statistics.kernel_cache import KernelCache, Request, check_memory
from shrinktest.statistics.statistic import (
    Computation,
    Form,
    Moments,
    Prepared,
    estimated_norm,
    margins,
)
from shrinktest.statistics.sums import CenteredStrips, pairing_sums_by_tiles, unbiased, weighted

#: Pairings (B, n) to the sums and the traces (B, 2) of Kc o Lc.
PairingSums = Callable[[np.ndarray], np.ndarray]

_PLAIN = 64  # pairs up to which gathered products take less time than loading a compiler
_TOGETHER = 32  # pairings whose coordinates are in memory
_LOOKED_AT = 1000  # rows of a series, from its start: enough to see its autocorrelation
_EXCESS = 0.01  # of the statistic; from here on too many independent series give p <= .05


# --- two variables --------------------------------------------------------------------------------


def prepare(
    estimator: MeanEstimator,
    kernels: tuple[Kernel, Kernel],
    x: np.ndarray,
    y: np.ndarray,
    *,
    form: Form,
    cache: KernelCache,
    series: Sequence[np.ndarray] = (),
) -> Prepared:
    """Prepare the statistic of an estimator and a kernel for each of x (n, p) and y (n, q).

    ``series`` are the rows of those that are shifted in time.
    """
    tuned = margins(estimator, kernels, (x, y), cache.workers)
    n = len(x)
    by_sums = tuned[0].needs == "sums"
    smoothed = [
        (mean.features(kernel, z), z)
        for mean, kernel, z in zip(tuned, kernels, (x, y), strict=True)
    ]
    features = _features_of_both(smoothed, by_sums, cache)
    route = features[0].route
    plain = (
        n <= _PLAIN and estimator.needs == "sums" and features[0].columns is None
    )  # gathered by numpy, all at once
    scaled = estimator.needs in ("sums", "noise")
    if scaled:
        sums, traces, size = _pairing_sums(features)
        assert form.combine is not None
        statistic = form.combine(estimator, sums, traces, size, n)
    elif form.squared_norm:
        left, right = (margin.residuals() for margin in features)
        statistic = refitted(estimator, left, right)
    else:
        raise ValueError(
            f"form={form.name!r} is not available with {estimator!r}; use estimator='kme'"
        )

    def estimate() -> tuple[MeanEmbedding]:
        if scaled:
            weights, amount = estimator._scaled((*sums(np.arange(n)[None])[0], n))  # type: ignore[attr-defined]
        else:
            weights, amount = estimator._solve(left.values * right.values)
        if estimator.smooths:  # the features are smoothed already; their weights are equal
            amount = _noise_of_each(tuned, (x, y), kernels)
        points = np.hstack([x, y])
        pair = centered_product(features[0].kernel, features[1].kernel, points, x.shape[1])
        return (MeanEmbedding(points, weights, pair, amount),)

    computation = Computation(
        route=route,
        features=(features[0].kernel, features[1].kernel),
        threads=estimator.needs != "function" and not plain and route != "tiles",
        cost=_cost(n, plain, route),
    )
    return Prepared(
        statistic=statistic,
        kernel=kernels,
        estimates=estimate,
        notes=(
            *notes_on(estimator, n),
            *dict.fromkeys([margin.note for margin in features if margin.note]),
            *shift_notes(kernels, x, y, series),
        ),
        computation=computation,
    )


def _features_of_both(
    smoothed: Sequence[tuple[Kernel, np.ndarray]], by_sums: bool, cache: KernelCache
) -> list[KernelFeatures]:
    """Return the features of two variables, by coordinates only if products of these are cheap."""
    request = Request(by_coordinates=by_sums, tiled=by_sums, kernels=2, large=300, rank=100)
    features = [cache(kernel, z, request) for kernel, z in smoothed]
    columns = [margin.columns for margin in features if margin.columns is not None]
    n = len(smoothed[0][1])
    # a gathered product costs as much as eight others
    low = len(columns) == 2 and columns[0] * columns[1] <= 4 * n
    if columns and not low and cache.gram == "auto":
        request = replace(request, by_coordinates=False)
        features = [cache(kernel, z, request) for kernel, z in smoothed]
    return features


def _cost(n: int, plain: bool, route: str) -> CostHint | None:
    """Return the cost of a pairing, if it is cheap in large batches only."""
    if route == "tiles":
        return CostHint(seconds=0.0, whole=True)  # tiles have threads of their own
    return CostHint(seconds=4e-9 * n**2, rows=4096) if plain else None


def _noise_of_each(
    tuned: Sequence[MeanEstimator], variables: Sequence[np.ndarray], kernels: Sequence[Kernel]
) -> tuple[Any, ...]:
    """Return the shrinkage of every variable's own mean, whose features are smoothed."""
    return tuple(
        mean.embed(z, kernel).shrinkage
        for mean, z, kernel in zip(tuned, variables, kernels, strict=True)
    )


def tuning_of(estimator: MeanEstimator, n: int) -> str:
    """Return when an estimator is tuned on n pairs.

    Raises ValueError if that makes no sense for pairs.
    """
    estimator.check_pairs()
    tuning = estimator.tuning_for((n,))
    if tuning == "joint":
        raise ValueError(
            "tuning='joint' is for several samples, not for the pairs of one; use tuning='sample'"
        )
    if tuning == "pooled" and not estimator.smooths:
        raise ValueError(
            "tuning='pooled' tunes once on all n^2 pairs, whose mean is zero; use tuning='sample', "
            "or fix the amount"
        )
    return tuning


def squared_norm(
    estimator: MeanEstimator, sums: PairingSums, traces: tuple[float, float], size: float, n: int
) -> Statistic:
    """Return the squared norm of a scaled mean of n pairs, as a function of permutations.

    ``traces`` belong to the centered Gram matrices, and ``size`` is the size of the terms that
    cancel.
    """

    def moments(permuted: np.ndarray) -> Moments:
        return (*sums(permuted).T, size)

    return estimated_norm(estimator, n, moments)


def _without_bias(
    estimator: MeanEstimator, sums: PairingSums, traces: tuple[float, float], size: float, n: int
) -> Statistic:
    """Return the unbiased squared norm of the plain mean of n pairs.

    It is a function of permutations.
    """

    def statistic(permuted: np.ndarray) -> np.ndarray:
        total, trace = sums(permuted).T
        return np.stack([unbiased(total, trace, traces, n), np.full(len(total), size)], axis=1)

    return statistic


def _check_unbiased(estimator: MeanEstimator, sizes: tuple[int, ...]) -> None:
    """Raise ValueError for an estimator that shrinks, or too few pairs."""
    if not estimator.unbiased_pairs:
        raise ValueError(
            "form='unbiased' of an independence test exists only for the standard and "
            f"marginalized means; use form='biased' with {estimator!r}"
        )
    if sizes[0] < 4:
        raise ValueError(f"form='unbiased' needs at least 4 pairs; found {sizes[0]}")


BIASED = Form(name="biased", combine=squared_norm, squared_norm=True, symmetric=True)
UNBIASED = Form(name="unbiased", combine=_without_bias, check=_check_unbiased, symmetric=True)


def refitted(estimator: MeanEstimator, x: Features, y: Features) -> Statistic:
    """Return the statistic of an estimator that is fitted to every pairing anew."""
    size = x.size * y.size

    def grams(rows: np.ndarray) -> np.ndarray:
        gathered = y.values[rows[:, :, None], rows[:, None, :]]
        gathered *= x.values
        return gathered

    return estimated_norm(estimator, len(x.values), None, grams, TIE * size, size - x.norm * y.norm)


def _pairing_sums(
    features: Sequence[KernelFeatures],
) -> tuple[PairingSums, tuple[float, float], float]:
    """Return sums and traces, by pairing, the traces of Kc and Lc, and cancellation size.

    The size is that of what cancels.
    """
    if features[0].route == "tiles":
        left, right = map(CenteredStrips, features)
        return pairing_sums_by_tiles(left, right), (left.trace, right.trace), left.size * right.size
    x, y = (margin.residuals() for margin in features)
    size = x.size * y.size
    n = len(x.values)
    if x.by_coordinates and y.by_coordinates:
        traces = float(np.square(x.values).sum()), float(np.square(y.values).sum())
        name = "cross_sums"
        plain: Any = _crossed
        seconds = 1e-5 + 3e-10 * n * (x.values.shape[1] + 10.0) * y.values.shape[1]
        integers: type = np.int64
    else:
        x = x.dense()
        y = y.dense()
        traces = float(np.trace(x.values)), float(np.trace(y.values))
        name = "pairing_sums"
        plain = _gathered
        seconds = 3e-9 * n**2
        integers = np.uint16 if n <= 2**16 else np.uint32  # the shorter, the more stay in the cache

    def sums(pairings: np.ndarray) -> np.ndarray:
        out = np.empty((len(pairings), 2))
        loop = (
            None
            if plain is _gathered and n <= _PLAIN
            else compiled_loop(name, len(pairings), seconds)
        )
        if loop is None:
            plain(x.values, y.values, pairings.astype(np.int64, copy=False), out)
        else:
            loop(x.values, y.values, pairings.astype(integers, copy=False), out)
        return out

    return sums, traces, size


def _crossed(u: np.ndarray, v: np.ndarray, pairings: np.ndarray, out: np.ndarray) -> None:
    """Do the same as `_gathered` for K = u u' and L = v v' of few columns.

    It is |u' v_pi|^2, and its diagonal part.
    """
    out[:, 1] = weighted(np.square(v).sum(axis=1)[pairings], np.square(u).sum(axis=1))
    turned = np.ascontiguousarray(u.T)
    for start in range(0, len(pairings), _TOGETHER):
        rows = slice(start, start + _TOGETHER)
        out[rows, 0] = np.square(turned @ v[pairings[rows]]).sum(axis=(1, 2))


def _gathered(x: np.ndarray, y: np.ndarray, pairings: np.ndarray, out: np.ndarray) -> None:
    """Write the sums and the traces (B, 2) of Kc o Lc.

    Row after row, the entries right of the diagonal are used.
    """
    flat = y.ravel()
    n = len(x)
    out[:, 1] = weighted(np.diagonal(y)[pairings], np.diagonal(x))
    out[:, 0] = out[:, 1]
    rows = pairings * n
    for i in range(n - 1):
        out[:, 0] += weighted(flat[rows[:, i, None] + pairings[:, i + 1 :]], 2.0 * x[i, i + 1 :])


# --- several variables ----------------------------------------------------------------------------


def prepare_joint(
    estimator: MeanEstimator,
    kernels: tuple[Kernel, ...],
    variables: list[np.ndarray],
    cache: KernelCache,
) -> Prepared:
    """Prepare the statistic of an estimator and a kernel per variable, of shuffles.

    Variables are (n, p_l), and shuffles (B, d - 1, n).
    """
    tuned = margins(estimator, kernels, variables)
    n = len(variables[0])
    smoothed = tuple(
        mean.features(kernel, z) for mean, kernel, z in zip(tuned, kernels, variables, strict=True)
    )
    check_memory(n, len(variables), cache.memory)
    request = Request(by_coordinates=False, kernels=len(variables))
    features = [cache(kernel, z, request) for kernel, z in zip(smoothed, variables, strict=True)]
    if (
        len(features) == 2
    ):  # without main effects, they do not depend on where the features of the variables lie
        features = [margin.about_mean(cache.memory) for margin in features]
    grams = np.ascontiguousarray(np.stack([margin.values for margin in features]))
    rows = np.ascontiguousarray(grams.mean(axis=1))
    center = grams, rows, rows.mean(axis=1)
    size = float(
        np.prod([np.linalg.norm(gram) / n for gram in grams])
    )  # of the products of kernel values that cancel

    def moments(shuffles: np.ndarray) -> Moments:
        sums = np.empty(len(shuffles))
        seconds = 3e-5 + 3e-9 * grams.size
        loop = compiled_loop("product_sums", len(shuffles), seconds) or dhsic_arrays.product_sums
        loop(grams, shuffles, sums)
        value, trace, terms = dhsic_arrays.moments(*center, shuffles, sums)
        return value, trace, terms / n**2

    def joint_grams(shuffles: np.ndarray) -> np.ndarray:
        """Gram matrices (B, n, n) of the features without main effects."""
        return np.stack([dhsic_arrays.feature_gram(*center, shuffle) for shuffle in shuffles])

    def estimate() -> tuple[MeanEmbedding]:
        points = np.hstack(variables)
        joint = CenteredProduct(smoothed, points, tuple(z.shape[1] for z in variables))
        if estimator.smooths:  # the features are smoothed already; their weights are equal
            amounts = _noise_of_each(tuned, variables, kernels)
            return (replace(KME().embed(points, joint), shrinkage=amounts),)
        if estimator.weighs_all_alike((n,)):
            return (estimator.embed(points, joint),)
        weights, amount = estimator._solve(
            joint_grams(np.tile(np.arange(n), (1, len(variables) - 1, 1)))[0]
        )
        return (MeanEmbedding(points, weights, joint, amount),)

    return Prepared(
        statistic=estimated_norm(estimator, n, moments, joint_grams, TIE * size, LAST_BITS * size),
        kernel=kernels,
        estimates=estimate,
        notes=notes_on(estimator, n, "HSIC" if len(variables) == 2 else "dHSIC"),
        computation=Computation(route="dense", threads=estimator.needs != "function"),
    )


# --- notes ----------------------------------------------------------------------------------------


def notes_on(estimator: MeanEstimator, n: int, plain: str = "HSIC") -> tuple[str, ...]:
    """Return notes on an estimator whose test of n observations is a test of the standard mean."""
    if estimator.scales_all_alike((n,)):
        return (note("same-as-kme", amount="shrinkage amount", plain=plain),)
    if estimator.smooths:
        return (
            note(
                "same-as-kme",
                amount="noise variance",
                plain="with wider kernels: add 2 * variance to bandwidth^2",
            ),
        )
    return ()


def shift_notes(
    kernels: tuple[Kernel, Kernel], x: np.ndarray, y: np.ndarray, series: Sequence[np.ndarray]
) -> tuple[str, ...]:
    """Return a note if ``series`` are short for how slow they are.

    These are rows (n,) within which y is shifted.
    """
    if not series or junction_excess(kernels, x, y, series) < _EXCESS:
        return ()
    return (note("short-series", what="The series are", name="X and Y"),)


def junction_excess(
    kernels: tuple[Kernel, Kernel], x: np.ndarray, y: np.ndarray, series: Sequence[np.ndarray]
) -> float:
    """Return the approximate relative excess of HSIC of independent series over shifted ones.

    It is how much larger HSIC is as the series are than shifted, as a share of it.

    Under independence its mean is the sum over pairs i, j of E Kc_ij E Lc_ij.  A shift of y parts h
    (n - h) / n of the pairs h apart.  The autocorrelation is assumed to fall by the same factor g
    at every step, in both series together.  Each series is examined circularly, so every shift
    gives the same result.
    """
    length = round(float(np.mean([len(rows) for rows in series])))
    g = _autocorrelation(kernels[0], x, series) * _autocorrelation(kernels[1], y, series)
    h = np.arange(1, length)
    pairs = 2.0 * (length - h) * g**h
    return float(np.sum(pairs * h / length) / (length + np.sum(pairs)))


def _autocorrelation(kernel: Kernel, points: np.ndarray, series: Sequence[np.ndarray]) -> float:
    """Return the mean of Kc_ij over successive i, j, over the mean of Kc_ii.

    The ratio is between 0 and 1.
    """
    same = successive = 0.0
    for rows in series:
        z = points[rows[:_LOOKED_AT]]
        gram = kernel(z)
        mean = gram.mean()
        same += float(np.trace(gram) - len(z) * mean)
        successive += float(np.trace(gram, 1) + gram[-1, 0] - len(z) * mean)
    return min(max(successive / same, 0.0), 1.0) if same > 0.0 else 0.0
