"""Squared MMD of two samples for every estimator, as a function of splits of the pooled sample."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from shrinktest._loops import loops
from shrinktest._plain.sums import octets_of
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import MeanEstimator
from shrinktest.estimators.base import Tuned
from shrinktest.estimators.marginalized import Marginalized
from shrinktest.estimators.spectral import SpectralEstimator
from shrinktest.estimators.standard import SKMSE, ScaledMean
from shrinktest.kernels import Kernel
from shrinktest.kernels.base import FiniteRank
from shrinktest.nulls.permutation import Shared, Statistic
from shrinktest.statistics.configuration import Configuration, runs_compiled
from shrinktest.statistics.route import Route, Routes

_DEAR = 150  # observations from which spectral estimators are worth some search for few coordinates


def configure(
    estimator: MeanEstimator,
    kernel: Kernel,
    pooled: np.ndarray,
    m: int,
    *,
    form: str,
    tuning: str,
    routes: Routes | None = None,
    workers: int = 1,
    **route: Any,
) -> Configuration:
    """The statistic of an estimator and a kernel on pooled observations (N, d), of which the first m are X.

    ``workers`` threads may make the Gram matrix.  ``routes`` is given to all statistics of an aggregate, and ``route``
    holds the arguments ``gram``, ``rank``, ``memory`` and ``rng`` of
    :func:`shrinktest.statistics.route.choose_route`.
    """
    pooled_tuning, spectral = tuning == "pooled", isinstance(estimator, SpectralEstimator)
    used = estimator
    if isinstance(estimator, Tuned) and pooled_tuning and not spectral:
        used = estimator.tuned(kernel, pooled)
    choose = routes or Routes()
    chosen = choose(_features(used, kernel, pooled), pooled, **_lean(used, pooled), **route)
    low = chosen.kernel if isinstance(chosen.kernel, FiniteRank) and not isinstance(used, Marginalized) else kernel
    if isinstance(estimator, SpectralEstimator) and pooled_tuning:
        used = estimator.tuned(low, pooled)
    notes = _notes(estimator, used, tuning, form, (m, len(pooled) - m)) + ((chosen.note,) if chosen.note else ())
    return Configuration(
        statistic=split_statistic(used, kernel, chosen, pooled, m, tuning, form, workers),
        estimates=lambda: estimates_of(used, low, pooled[:m], pooled[m:], tuning),
        kernel=kernel,
        route=chosen.name,
        notes=notes,
        threads=runs_compiled(used),
        shared=_cost(used, chosen, pooled),
    )


def _lean(estimator: MeanEstimator, pooled: np.ndarray) -> dict[str, Any]:
    """Whether the estimator can do without the Gram matrix, and from when on that is worth trying."""
    if isinstance(estimator, SpectralEstimator):
        return {
            "by_coordinates": estimator.by_coordinates,
            "unasked": estimator.any_rank,
            "large": _DEAR,
            "columns": pooled.shape[1],
        }
    retuned = isinstance(estimator, Marginalized) and not estimator.fixed  # on the points of every relabelled sample
    return {"by_coordinates": isinstance(estimator, ScaledMean) and not retuned}


def _cost(estimator: MeanEstimator, route: Route, pooled: np.ndarray) -> Shared | None:
    """What a relabelling costs among many that share tables: an addition for every four observations and column."""
    z = route.coordinates(pooled[:1]) if _lean(estimator, pooled)["by_coordinates"] else None
    quarter = len(pooled) / 4.0 * 6e-11
    if isinstance(estimator, SpectralEstimator):
        if z is None:
            return None
        rank = z.shape[1]
        work = 3e-9 * rank**3 + 2e-7 * rank  # two reductions to tridiagonal form, and the least that a score takes
        return Shared(seconds=quarter * rank**2 / 2.0 + work, rows=min(512, max(16, 2**25 // (4 * (rank + 1) ** 2))))
    if not isinstance(estimator, ScaledMean) or (isinstance(estimator, Marginalized) and not estimator.fixed):
        return None
    columns = len(pooled) / 2.0 if z is None else z.shape[1]  # half by symmetry
    return Shared(seconds=1e-7 + quarter * columns)


def _features(estimator: MeanEstimator, kernel: Kernel, pooled: np.ndarray) -> Kernel:
    """The kernel of the features, which does not depend on labels unless noise is tuned in every relabelling."""
    tuned = isinstance(estimator, Marginalized) and not estimator.fixed
    return kernel if tuned else estimator.features(kernel, pooled)


def split_statistic(
    estimator: MeanEstimator,
    kernel: Kernel,
    route: Route,
    pooled: np.ndarray,
    m: int,
    tuning: str,
    form: str,
    workers: int = 1,
) -> Statistic:
    """The statistic as a function of splits, (B, N) masks to (B, 2); what it closes over does not depend on labels."""
    n = len(pooled) - m
    if isinstance(estimator, Marginalized) and not estimator.fixed:
        return _smoothed(estimator, kernel, pooled, tuning, form)
    if isinstance(estimator, ScaledMean):
        return _scaled(estimator, route, pooled, m, n, tuning, form, workers)
    if isinstance(estimator, SpectralEstimator) and estimator.by_coordinates:
        z = route.coordinates(pooled)
        if z is not None:
            return _spectral(estimator, np.empty((0, 0)), m, n, tuning, form, np.ascontiguousarray(z))
    gram = route.matrix(pooled, workers)
    if isinstance(estimator, SpectralEstimator):
        return _spectral(estimator, gram, m, n, tuning, form)
    return _by_function(estimator, gram, form)


def _sums_of(route: Route, pooled: np.ndarray, workers: int) -> tuple[Statistic, float, float]:
    """A function from masks S to (B, 3), K summed over S x S, over S x everything, and its trace; K's sum and trace."""
    z = route.coordinates(pooled)
    if z is not None:
        features, rank, whole = z, z.shape[1], z.sum(axis=0)
        diagonal = route.kernel.diagonal(pooled)
        constant = float(diagonal[0]) if np.ptp(diagonal) == 0.0 else None
        if constant is None:
            features = np.hstack([z, diagonal[:, None]])

        def by_coordinates(masks: np.ndarray) -> np.ndarray:
            sums = np.empty((len(masks), features.shape[1]))
            _loops(masks, features.shape[1]).feature_sums(features, octets_of(masks), sums)
            inside = sums[:, :rank]
            trace = sums[:, -1] if constant is None else constant * np.count_nonzero(masks, axis=1)
            return np.stack([np.square(inside).sum(axis=1), (inside * whole).sum(axis=1), trace], axis=1)

        return by_coordinates, float(whole @ whole), float(diagonal.sum())
    gram = route.matrix(pooled, workers)
    rows = gram.sum(axis=1)

    def by_blocks(masks: np.ndarray) -> np.ndarray:
        out = np.empty((len(masks), 3))
        _loops(masks, len(gram)).split_sums(gram, rows, octets_of(masks), out)
        return out

    return by_blocks, float(rows.sum()), float(np.trace(gram))


def _loops(masks: np.ndarray, columns: int) -> ModuleType:
    return loops("sums", seconds=1e-10 * masks.size * columns)


def _scaled(
    estimator: ScaledMean, route: Route, pooled: np.ndarray, m: int, n: int, tuning: str, form: str, workers: int
) -> Statistic:
    sums_of, everything, whole_trace = _sums_of(route, pooled, workers)

    def statistic(masks: np.ndarray) -> np.ndarray:
        xx, along, trace_x = sums_of(masks).T
        xy = along - xx
        yy, trace_y = everything - xx - 2.0 * xy, whole_trace - trace_x
        x, y = (xx, trace_x, m), (yy, trace_y, n)
        scale_x, scale_y = (estimator.scale(x, y),) * 2 if tuning == "joint" else map(estimator.scale, (x, y))
        within = size = scale_x**2 * xx / m**2 + scale_y**2 * yy / n**2
        cross = 2.0 * scale_x * scale_y * xy / (m * n)
        if form == "unbiased":
            within = scale_x**2 * (xx - trace_x) / (m * (m - 1)) + scale_y**2 * (yy - trace_y) / (n * (n - 1))
        return np.stack([within - cross, size + np.abs(cross)], axis=1)

    return statistic


def _spectral(
    estimator: SpectralEstimator, gram: np.ndarray, m: int, n: int, tuning: str, form: str, z: np.ndarray | None = None
) -> Statistic:
    from shrinktest._compiled.partitions import part_products, part_weights
    from shrinktest._compiled.sums import product_sums

    for size in (m, n):
        estimator.check_size(size)
    joint, total = tuning == "joint", m + n
    amounts = [estimator.amounts(max(m, n) if joint else size) for size in (m, n)]
    starts = np.array([0, len(amounts[0]), len(amounts[0]) + len(amounts[1])])
    fit = (np.array([m, n]), estimator.theta(), np.concatenate(amounts), starts, joint, *estimator.loops())
    if z is not None:
        # all products of coordinates, and the coordinates themselves as their products with 1
        rank = z.shape[1]
        with_one = np.hstack([z, np.ones((len(z), 1))])
        left, right = (index[:-1].astype(np.uint64) for index in np.tril_indices(rank + 1))
        whole = np.concatenate([(z.T @ z)[np.tril_indices(rank)], z.sum(axis=0)])

    def dense(masks: np.ndarray) -> np.ndarray:
        labels, weights = (~masks).astype(np.uint16), np.empty(masks.shape)
        part_weights(gram, np.empty((total, 0)), np.empty((1, len(masks), 0)), np.empty(0), labels, *fit, weights)
        inner, excess = np.empty((len(masks), 2, 2)), np.empty((len(masks), 2))
        part_products(gram, labels, np.array([m, n]), weights, form == "unbiased", inner, excess)
        within, cross = inner[:, 0, 0] + inner[:, 1, 1], inner[:, 0, 1]
        return np.stack([within - 2.0 * cross - excess.sum(axis=1), within + 2.0 * np.abs(cross)], axis=1)

    def by_coordinates(masks: np.ndarray) -> np.ndarray:
        packed, weights = np.empty((1, len(masks), left.size)), np.empty(masks.shape)
        product_sums(with_one, left, right, octets_of(masks), packed[0])
        part_weights(np.empty((0, 0)), z, packed, whole, (~masks).astype(np.uint16), *fit, weights)
        own = [weights * masks, weights * ~masks]
        mu = [w @ z for w in own]
        squares = np.square(z).sum(axis=1)
        within, cross = sum((mean * mean).sum(axis=1) for mean in mu), (mu[0] * mu[1]).sum(axis=1)
        value = within - 2.0 * cross
        if form == "unbiased":
            for w, part, size in zip(own, (masks, ~masks), (m, n), strict=True):
                means = part @ z
                between = (np.square(means).sum(axis=1) - part @ squares) / (size * (size - 1.0))
                value -= np.square(w) @ squares - np.square(w).sum(axis=1) * between
        return np.stack([value, within + 2.0 * np.abs(cross)], axis=1)

    return dense if z is None else by_coordinates


def _smoothed(estimator: Marginalized, kernel: Kernel, pooled: np.ndarray, tuning: str, form: str) -> Statistic:
    from shrinktest._compiled.smoothing import smoothed_splits

    columns = pooled.shape[1]
    coordinates, th2 = np.ascontiguousarray(pooled.T), estimator.th2(kernel, columns)
    # several variances are found by a descent, which ends near the optimum: tied splits differ by up to about 1e-8
    slack = 1.0 if estimator.tied or columns == 1 else 1e3

    def statistic(masks: np.ndarray) -> np.ndarray:
        out = np.empty((len(masks), 2))
        smoothed_splits(coordinates, masks, th2, estimator.tied, tuning == "joint", form == "unbiased", out)
        out[:, 1] *= slack
        return out

    return statistic


def _by_function(estimator: MeanEstimator, gram: np.ndarray, form: str) -> Statistic:
    def excess(w: np.ndarray, own: np.ndarray) -> float:
        n, diagonal = len(w), np.diag(own)
        between = (own.sum() - diagonal.sum()) / (n * (n - 1))
        return float(np.square(w) @ (diagonal - between)) if form == "unbiased" else 0.0

    def one(mask: np.ndarray) -> tuple[float, float]:
        x, y = np.flatnonzero(mask), np.flatnonzero(~mask)
        xx, yy, xy = gram[np.ix_(x, x)], gram[np.ix_(y, y)], gram[np.ix_(x, y)]
        w, v = estimator.weights(xx), estimator.weights(yy)
        within, cross = w @ xx @ w + v @ yy @ v, 2.0 * (w @ xy @ v)
        return within - cross - excess(w, xx) - excess(v, yy), within + abs(cross)

    return lambda masks: np.array([one(mask) for mask in masks])


def estimates_of(
    estimator: MeanEstimator, kernel: Kernel, x: np.ndarray, y: np.ndarray, tuning: str
) -> tuple[MeanEmbedding, MeanEmbedding]:
    """The embeddings of both samples, tuned together if need be."""
    if isinstance(estimator, Tuned) and tuning == "joint":
        estimator = estimator.tuned(kernel, x, y)
    return estimator.embed(x, kernel), estimator.embed(y, kernel)


def _notes(
    given: MeanEstimator, used: MeanEstimator, tuning: str, form: str, sizes: tuple[int, int]
) -> tuple[str, ...]:
    """What is provably the same as another test, or easily misread."""
    notes = []
    equal = sizes[0] == sizes[1]
    if isinstance(used, SKMSE) and used.fixed and (used.decay is None or equal):
        notes.append(
            "One shrinkage amount that relabelling does not change multiplies the statistic by a constant: the p-value "
            f"is that of estimator='kme'{' with statistic=' + repr(form) if form == 'biased' and not equal else ''}."
        )
    if isinstance(used, Marginalized) and used.fixed:
        notes.append(
            "With one noise variance for both samples this is the test of estimator='kme' with a wider kernel, "
            "bandwidth^2 + 2 variance."
        )
    if isinstance(given, Marginalized) and tuning == "sample":
        notes.append(
            "Samples that are tuned apart carry unequal noise, which makes the statistic non-zero under equal "
            "distributions; the p-value stays exact, but prefer tuning='pooled' or 'joint'."
        )
    if not equal and not isinstance(used, Marginalized):
        if form == "biased":
            notes.append(
                "With unequal sizes this form favours one direction of a change of scale; "
                "statistic='unbiased' does not."
            )
        if tuning == "sample":
            notes.append(
                "Of samples of unequal sizes that are tuned apart, the smaller one is shrunk more, which favours one "
                "direction of a change of scale; tuning='joint' has one amount for both."
            )
    return tuple(notes)
