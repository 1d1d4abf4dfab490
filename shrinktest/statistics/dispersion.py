"""Dispersion of several samples' kernel means for every estimator, as a function of partitions of the pooled sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

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
from shrinktest.statistics.route import Route, choose_route

COMPARISONS = ("pairs", "pooled")
WEIGHTS = ("sizes", "equal")

#: Labels (B, N) to the inner products of the estimates (B, k, k), what chance adds to their squared norms (B, k), and
#: their inner products with the estimate of the pooled sample (B, k).
Products = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Contrast:
    """How the distances of k estimates add up to one number.

    Parameters
    ----------
    sizes : tuple of int
    comparison : {"pairs", "pooled"}
        Distances of every two estimates, or of each to the estimate of the pooled sample.
    weights : {"sizes", "equal"}
        Of the distances, which are averaged: n_i n_j or n_i, or one for all.
    """

    sizes: tuple[int, ...]
    comparison: str
    weights: str

    def pairs(self) -> np.ndarray:
        """Weights (k, k) of the pairs, zero on the diagonal; those above it add up to 1."""
        n = np.asarray(self.sizes, dtype=np.float64) if self.weights == "sizes" else np.ones(len(self.sizes))
        both = np.outer(n, n)
        np.fill_diagonal(both, 0.0)
        return 2.0 * both / both.sum()

    def samples(self) -> np.ndarray:
        """Weights (k,) of the samples, which add up to 1."""
        n = np.asarray(self.sizes, dtype=np.float64) if self.weights == "sizes" else np.ones(len(self.sizes))
        return n / n.sum()

    def __call__(self, inner: np.ndarray, excess: np.ndarray, along: np.ndarray, norm2: float) -> np.ndarray:
        """The statistic and the size of what cancels in it, (B, 2); ``norm2`` is of the pooled sample's estimate."""
        squared = np.einsum("bii->bi", inner)
        if self.comparison == "pairs":
            w = self.pairs()
            reach, crossed = w.sum(axis=1), np.einsum("bij,ij->b", inner, w)
            value = (squared - excess) @ reach - crossed
            return np.stack([value, squared @ reach + np.einsum("bij,ij->b", np.abs(inner), w)], axis=1)
        w = self.samples()
        return np.stack([(squared - 2.0 * along) @ w + norm2, (squared + 2.0 * np.abs(along)) @ w + norm2], axis=1)


def configure(
    estimator: MeanEstimator,
    kernel: Kernel,
    pooled: np.ndarray,
    contrast: Contrast,
    *,
    form: str,
    tuning: str,
    **route: Any,
) -> Configuration:
    """The statistic of an estimator and a kernel on pooled observations (N, d), one sample after the other.

    ``route`` holds the arguments ``gram``, ``rank``, ``memory`` and ``rng`` of
    :func:`~shrinktest.statistics.route.choose_route`.
    """
    used = estimator.tuned(kernel, pooled) if isinstance(estimator, Tuned) and tuning == "pooled" else estimator
    chosen = choose_route(used.features(kernel, pooled), pooled, by_coordinates=isinstance(used, ScaledMean), **route)
    low = chosen.kernel if isinstance(chosen.kernel, FiniteRank) and not isinstance(used, Marginalized) else kernel
    edges = np.cumsum(contrast.sizes)[:-1]
    return Configuration(
        statistic=partition_statistic(used, chosen, pooled, contrast, tuning, form),
        estimates=lambda: _estimates(used, low, np.split(pooled, edges), tuning),
        kernel=kernel,
        route=chosen.name,
        notes=_notes(used, contrast, tuning, form) + ((chosen.note,) if chosen.note else ()),
        threads=runs_compiled(used),
        shared=_cost(used, chosen, pooled, len(contrast.sizes)),
    )


def tuning_of(estimator: MeanEstimator, sizes: tuple[int, ...]) -> str:
    """What the estimator tunes when, for samples of these sizes; raises ValueError for what makes no sense."""
    tuning = estimator.tuning_for(sizes) if isinstance(estimator, Tuned) else "fixed"
    if isinstance(estimator, Marginalized) and tuning not in ("pooled", "fixed"):
        raise ValueError(
            f"tuning={tuning!r}: noise that is tuned again in every partition would have to be the same in all samples "
            "for equal distributions to have equal estimates; use tuning='pooled', or fix the variance"
        )
    return tuning


def _cost(estimator: MeanEstimator, route: Route, pooled: np.ndarray, k: int) -> Shared | None:
    """As for splits: an addition for every four observations and column, half by symmetry, for all parts but one."""
    if not isinstance(estimator, ScaledMean):
        return None
    z = route.coordinates(pooled[:1])
    columns = len(pooled) / 2.0 if z is None else z.shape[1]
    return Shared(seconds=1e-7 + len(pooled) / 4.0 * columns * (k - 1) * 6e-11)


def partition_statistic(
    estimator: MeanEstimator, route: Route, pooled: np.ndarray, contrast: Contrast, tuning: str, form: str
) -> Statistic:
    """The statistic as a function of partitions, (B, N) labels to (B, 2)."""
    if isinstance(estimator, ScaledMean):
        products, norm2 = _scaled(estimator, route, pooled, contrast.sizes, tuning, form)
    else:
        gram = np.ascontiguousarray(route.kernel(pooled))
        weigh = weights_of(estimator, gram, contrast.sizes, tuning)
        reference, _ = estimator._solve(gram) if contrast.comparison == "pooled" else (np.zeros(len(gram)), None)
        products = _weighted(weigh, gram, contrast.sizes, gram @ reference, form)
        norm2 = float(reference @ gram @ reference)
    return lambda labels: contrast(*products(labels), norm2)


def _members(labels: np.ndarray, parts: int) -> np.ndarray:
    """Membership bits of all parts but the last by eights, as the compiled sums take them."""
    return np.stack([octets_of(labels == p) for p in range(parts - 1)])


def _sums_of(route: Route, pooled: np.ndarray, parts: int) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """A function from labels to the sums (B, k, k) of K over pairs of parts and its traces (B, k)."""
    from shrinktest._compiled.partitions import block_sums
    from shrinktest._compiled.sums import feature_sums

    z = route.coordinates(pooled)
    if z is not None:
        features = np.hstack([z, route.kernel.diagonal(pooled)[:, None]])
        whole = features.sum(axis=0)

        def by_coordinates(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            sums = np.empty((parts, len(labels), features.shape[1]))
            for part, octets in zip(sums, _members(labels, parts), strict=False):
                feature_sums(features, octets, part)
            sums[-1] = whole - sums[:-1].sum(axis=0)
            inside = np.ascontiguousarray(sums[:, :, :-1].transpose(1, 0, 2))
            return inside @ inside.transpose(0, 2, 1), sums[:, :, -1].T

        return by_coordinates
    gram = np.ascontiguousarray(route.kernel(pooled))

    def by_blocks(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        out, traces = np.empty((len(labels), parts, parts)), np.empty((len(labels), parts))
        block_sums(gram, _members(labels, parts), labels, out, traces)
        return out, traces

    return by_blocks


def _scaled(
    estimator: ScaledMean, route: Route, pooled: np.ndarray, sizes: tuple[int, ...], tuning: str, form: str
) -> tuple[Products, float]:
    n = np.asarray(sizes, dtype=np.float64)
    sums_of = _sums_of(route, pooled, len(sizes))
    blocks, diagonals = sums_of(np.repeat(np.arange(len(sizes), dtype=np.uint16), sizes)[None])
    whole = float(blocks.sum())
    reference = float(estimator.scale((whole, float(diagonals.sum()), len(pooled)))) / len(pooled)

    def products(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        sums, traces = sums_of(labels)
        scales = _scales(estimator, sums, traces, sizes, tuning)
        w = scales / n
        excess = np.zeros_like(w)
        if form == "unbiased":
            squared = np.einsum("bii->bi", sums)
            excess = np.square(w) * (traces - (squared - traces) / (n - 1.0))
        along = w * sums.sum(axis=2) * reference
        return w[:, :, None] * sums * w[:, None, :], excess, along

    return products, float(reference**2 * whole)


def _scales(
    estimator: ScaledMean, sums: np.ndarray, traces: np.ndarray, sizes: tuple[int, ...], tuning: str
) -> np.ndarray:
    own = [(sums[:, p, p], traces[:, p], size) for p, size in enumerate(sizes)]
    joint = estimator.scale(*own) if tuning == "joint" else None
    return np.stack([estimator.scale(one) if joint is None else joint for one in own], axis=1)


def scales_of(
    estimator: ScaledMean, kernel: Kernel, pooled: np.ndarray, sizes: tuple[int, ...], tuning: str, labels: np.ndarray
) -> np.ndarray:
    """The factors (B, k) by which the estimator scales the means of the parts of every partition."""
    if estimator.unbiased:  # the standard and the marginalised means, which scale nothing
        return np.ones((len(labels), len(sizes)))
    route = Route("factor" if isinstance(kernel, FiniteRank) else "dense", kernel)
    return _scales(estimator, *_sums_of(route, pooled, len(sizes))(labels), sizes, tuning)


def weights_of(
    estimator: MeanEstimator, gram: np.ndarray, sizes: tuple[int, ...], tuning: str
) -> Callable[[np.ndarray], np.ndarray]:
    """A function from labels (B, N) to the weights (B, N) of the estimates of all parts, each fitted to its own."""
    if not isinstance(estimator, SpectralEstimator):

        def by_function(labels: np.ndarray) -> np.ndarray:
            out = np.empty(labels.shape)
            for row, found in zip(labels, out, strict=True):
                for p in range(len(sizes)):
                    members = np.flatnonzero(row == p)
                    found[members] = estimator.weights(gram[np.ix_(members, members)])
            return out

        return by_function
    from shrinktest._compiled.partitions import part_weights

    for size in sizes:
        estimator.check_size(size)
    joint = tuning == "joint"
    each = [estimator.amounts(size) for size in ((max(sizes),) if joint else sizes)]
    starts = np.concatenate([[0], np.cumsum([len(amounts) for amounts in each])]).astype(np.int64)
    amounts, theta, loops = np.concatenate(each), estimator.theta(), estimator.loops()

    def compiled(labels: np.ndarray) -> np.ndarray:
        out = np.empty(labels.shape)
        part_weights(
            gram, np.empty((len(gram), 0)), np.empty((0, len(labels), 0)), np.empty(0), labels, np.array(sizes),
            theta, amounts, starts, joint, *loops, out,
        )  # fmt: skip
        return out

    return compiled


def _weighted(
    weigh: Callable[[np.ndarray], np.ndarray],
    gram: np.ndarray,
    sizes: tuple[int, ...],
    towards: np.ndarray,
    form: str,
) -> Products:
    from shrinktest._compiled.partitions import part_products

    def products(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        weights = weigh(labels)
        inner, excess = np.empty((len(labels), len(sizes), len(sizes))), np.empty((len(labels), len(sizes)))
        part_products(gram, labels, np.array(sizes), weights, form == "unbiased", inner, excess)
        pull = weights * towards
        along = np.stack([(pull * (labels == p)).sum(axis=1) for p in range(len(sizes))], axis=1)
        return inner, excess, along

    return products


def _estimates(
    estimator: MeanEstimator, kernel: Kernel, samples: list[np.ndarray], tuning: str
) -> tuple[MeanEmbedding, ...]:
    if isinstance(estimator, Tuned) and tuning == "joint":
        estimator = estimator.tuned(kernel, *samples)
    return tuple(estimator.embed(x, kernel) for x in samples)


def _notes(used: MeanEstimator, contrast: Contrast, tuning: str, form: str) -> tuple[str, ...]:
    """What is provably the same as another test, or easily misread."""
    notes = []
    equal = len(set(contrast.sizes)) == 1
    if isinstance(used, SKMSE) and used.fixed and (used.decay is None or equal) and contrast.comparison == "pairs":
        notes.append(
            "One shrinkage amount that relabelling does not change multiplies the statistic by a constant: the p-value "
            "is that of estimator='kme'."
        )
    if isinstance(used, Marginalized):
        notes.append(
            "With one noise variance for all samples this is the test of estimator='kme' with a wider kernel, "
            "bandwidth^2 + 2 variance."
        )
    if not equal and form == "biased" and not isinstance(used, Marginalized):
        notes.append(
            "With unequal sizes this form favours one direction of a change of scale"
            + (
                "; statistic='unbiased' does not."
                if contrast.comparison == "pairs"
                else "; comparison='pairs' has one that does not."
            )
        )
    if not equal and tuning == "sample":
        notes.append(
            "Of samples of unequal sizes that are tuned apart, the smaller ones are shrunk more, which favours one "
            "direction of a change of scale; tuning='joint' has one amount for all."
        )
    return tuple(notes)
