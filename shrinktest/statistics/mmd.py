"""Distances of the kernel means of samples, for every estimator, as a function of partitions of the pooled sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import MeanEstimator
from shrinktest.estimators.marginalized import Marginalized
from shrinktest.estimators.scaled import ScaledMean
from shrinktest.kernels import Kernel
from shrinktest.permutations.null import TIE, CostHint, Statistic
from shrinktest.statistics import tiles
from shrinktest.statistics.features import Features
from shrinktest.statistics.kernel_cache import KernelCache, Request
from shrinktest.statistics.refit import part_weights, scales
from shrinktest.statistics.statistic import Prepared, runs_compiled
from shrinktest.statistics.sums import PLAIN, along, left_over, members_of, sums_of, times, weighted

COMPARISONS = ("pairs", "pooled")
WEIGHTS = ("sizes", "equal")

_FEW = 16  # rows of a product of weights, which take so long to find that few come at a time
_DEAR = 150  # observations from which filters are worth some search for few coordinates

#: Labels (B, N) to the inner products of the estimates (B, k, k), what chance adds to their squared norms (B, k),
#: their inner products with the estimate of the pooled sample (B, k), and the size of the terms of which they are sums,
#: however these cancel (B,).
Products = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Contrast:
    """Weighted mean of the squared distances of k estimates."""

    sizes: tuple[int, ...]
    # "pairs" or "pooled": distances of every two estimates, or of each to the estimate of the pooled sample
    comparison: str
    weights: str  # "sizes" or "equal": of the distances, which are averaged: n_i n_j or n_i, or one for all

    @property
    def estimated(self) -> tuple[int, ...]:
        """Numbers of observations of which means are estimated."""
        return self.sizes if self.comparison == "pairs" else (*self.sizes, sum(self.sizes))

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

    def __call__(
        self, inner: np.ndarray, excess: np.ndarray, pull: np.ndarray, terms: np.ndarray, norm2: float
    ) -> np.ndarray:
        """The statistic and the size of what cancels in it, (B, 2); ``norm2`` is of the pooled sample's estimate."""
        value, size = self._of(inner, excess, pull, norm2)
        return np.stack([value, np.maximum(size, terms)], axis=1)

    def _of(
        self, inner: np.ndarray, excess: np.ndarray, pull: np.ndarray, norm2: float
    ) -> tuple[np.ndarray, np.ndarray]:
        squared = np.einsum("bii->bi", inner)
        if self.comparison == "pairs":
            w = self.pairs()
            reach, crossed = w.sum(axis=1), np.einsum("bij,ij->b", inner, w)
            value = weighted(squared - excess, reach) - crossed
            return value, weighted(squared, reach) + np.einsum("bij,ij->b", np.abs(inner), w)
        w = self.samples()
        return weighted(squared - 2.0 * pull, w) + norm2, weighted(squared + 2.0 * np.abs(pull), w) + norm2


def prepare(
    estimator: MeanEstimator,
    kernel: Kernel,
    pooled: np.ndarray,
    contrast: Contrast,
    *,
    form: str,
    tuning: str,
    cache: KernelCache,
    workers: int = 1,
) -> Prepared:
    """Prepare the statistic of an estimator and a kernel on pooled observations (N, d), one sample after the other.

    ``workers`` threads may make the Gram matrix.
    """
    filters, used = estimator.needs == "filter", estimator
    if tuning == "pooled" and not filters:
        used = estimator.tuned(kernel, pooled)
    features = kernel if used.needs == "noise" else used.features(kernel, pooled)
    gram = cache(features, pooled, _request(used, pooled))
    low = kernel if used.changes_features else gram.feature_map or kernel
    if tuning == "pooled" and filters:
        used = estimator.tuned(low, pooled)
    edges = np.cumsum(contrast.sizes)[:-1]
    if used.needs == "sums" and used.weighs_all_alike(contrast.estimated):
        gram = gram.about_mean(cache.limits.memory, workers)
    else:
        gram = gram.evaluated()
    return Prepared(
        statistic=partition_statistic(used, kernel, gram, contrast, tuning, form, workers),
        estimates=lambda: estimates_of(used, low, np.split(pooled, edges), tuning),
        kernel=kernel,
        route=gram.name,
        notes=notes_of(estimator, used, contrast, tuning, form) + ((gram.note,) if gram.note else ()),
        threads=runs_compiled(used) and gram.name != "tiles",
        cost=_cost(used, gram, len(contrast.sizes)),
        features=(gram.kernel,),
        approximated=gram.note is not None,
    )


def _request(estimator: MeanEstimator, pooled: np.ndarray) -> Request:
    """Return the representations that an estimator takes, and the size from which a search for coordinates pays."""
    request = Request(by_coordinates=estimator.by_coordinates, any_rank=estimator.any_rank)
    if estimator.needs != "filter":
        return replace(request, tiled=estimator.needs == "sums")
    return replace(request, large=_DEAR, columns=pooled.shape[1], work="filter")


def _cost(estimator: MeanEstimator, gram: Features, k: int) -> CostHint | None:
    """Return the cost of a permutation: an addition for every four observations and column of each part."""
    quarter, rank = len(gram.points) / 4.0 * 6e-11, gram.columns
    if estimator.needs == "filter" and rank is not None:
        work = 3e-9 * rank**3 + 2e-7 * rank  # reductions to tridiagonal form, and the least that a score takes
        rows = min(512, max(16, 2**25 // (4 * (rank + 1) ** 2)))
        return CostHint(seconds=(k - 1) * quarter * rank**2 / 2.0 + k / 2.0 * work, rows=rows)
    if estimator.needs != "sums":
        return None
    if gram.name == "tiles":
        return CostHint(seconds=tiles.seconds(len(gram.points), 1, pairings=False), whole=True)
    if rank is None and len(gram.points) <= PLAIN:  # whose rows are drawn in step, best all at once
        return CostHint(seconds=1e-7 + (k - 1) * 1e-10 * len(gram.points) ** 2, rows=4096)
    columns = len(gram.points) / 2.0 if rank is None else rank  # half by symmetry
    return CostHint(seconds=1e-7 + (k - 1) * quarter * columns)


def partition_statistic(
    estimator: MeanEstimator,
    kernel: Kernel,
    gram: Features,
    contrast: Contrast,
    tuning: str,
    form: str,
    workers: int = 1,
) -> Statistic:
    """Return the statistic as a function of labels (B, N); it closes over nothing that depends on labels.

    ``kernel`` is that of the observations, ``gram`` that of the features that the estimator works with.
    """
    if estimator.needs == "noise":
        return _of_noise(cast(Marginalized, estimator), kernel, gram.points, tuning == "joint", form == "unbiased")
    found, norm2 = _PRODUCTS[estimator.needs](estimator, gram, contrast, tuning, form, workers)
    return lambda labels: contrast(*found(np.ascontiguousarray(labels, dtype=np.uint16)), norm2)


def _of_sums(
    estimator: ScaledMean, gram: Features, contrast: Contrast, tuning: str, form: str, workers: int
) -> tuple[Products, float]:
    """Products of scaled means, for which sums of blocks of the Gram matrix are enough."""
    sizes, blocks_of, size = contrast.sizes, sums_of(gram, contrast.sizes, workers), gram.size(workers)
    n, total = np.asarray(sizes, dtype=np.float64), sum(sizes)
    reference = norm2 = 0.0
    if contrast.comparison == "pooled":
        blocks, diagonals = blocks_of(np.repeat(np.arange(len(sizes), dtype=np.uint16), sizes)[None])
        whole = float(blocks.sum())
        reference = float(estimator.scale((whole, float(diagonals.sum()), total))) / total
        norm2 = float(reference**2 * whole)

    def products(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        sums, traces = blocks_of(labels)
        factors = scales(estimator, sums, traces, sizes, tuning)
        w = factors / n
        excess = np.zeros_like(w)
        if form == "unbiased":
            squared = np.einsum("bii->bi", sums)
            excess = np.square(w) * (traces - (squared - traces) / (n - 1.0))
        pull = w * sums.sum(axis=2) * reference
        terms = np.maximum(np.square(factors).max(axis=1), TIE) * size
        return w[:, :, None] * sums * w[:, None, :], excess, pull, terms

    return products, norm2


def _of_weights(
    estimator: MeanEstimator, gram: Features, contrast: Contrast, tuning: str, form: str, workers: int
) -> tuple[Products, float]:
    """Products of the estimates of filters and of users' functions, which are weights of the observations."""
    sizes, z = contrast.sizes, gram.few_coordinates() if estimator.by_coordinates else None
    n, matrix = np.asarray(sizes, dtype=np.float64), gram.matrix(workers) if z is None else np.ascontiguousarray(z)
    weigh = part_weights(estimator, gram, sizes, tuning, workers)
    size = gram.size(workers)
    signed = z is not None or bool(matrix.min(initial=0.0) < 0.0)  # else no mean of features is zero
    blocks_of = sums_of(gram, sizes, workers) if form == "unbiased" or signed else None
    diagonal = np.diagonal(matrix) if z is None else np.square(matrix).sum(axis=1)
    reference = towards = None
    if contrast.comparison == "pooled":
        reference = estimator._solve(matrix)[0] if z is None else estimator.embed(gram.points, gram.kernel).weights
        towards = matrix @ (reference if z is None else matrix.T @ reference)

    def products(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        weights = weigh(labels)
        parts = [weights * members_of(labels, p) for p in range(len(sizes))]
        images = [times(part, matrix, _FEW) for part in parts]
        inner = np.empty((len(labels), len(sizes), len(sizes)))
        for p, image in enumerate(images):
            for q in range(p + 1):
                inner[:, p, q] = inner[:, q, p] = along(image, parts[q] if z is None else images[q])
        excess, pull = np.zeros((2, len(labels), len(sizes)))
        lengths = np.stack([np.abs(part).sum(axis=1) for part in parts], axis=1)
        plain, traces = np.empty((2, len(labels), len(sizes)))
        if blocks_of is not None:
            sums, traces = blocks_of(labels)
            plain = np.einsum("bii->bi", sums)
        if form == "unbiased":
            if z is not None:  # of the coordinates, which leave out next to nothing of the kernel
                traces = np.stack([weighted(members_of(labels, p), diagonal) for p in range(len(sizes))], axis=1)
            between = (plain - traces) / (n * (n - 1.0))
            for p, part in enumerate(parts):
                squares = np.square(part)
                excess[:, p] = weighted(squares, diagonal) - squares.sum(axis=1) * between[:, p]
        if towards is not None:
            pull = np.stack([weighted(part, towards) for part in parts], axis=1)
        terms = np.square(lengths).max(axis=1) * size
        if signed:  # where the plain mean of a part is zero but for rounding errors, so is what becomes of it
            least, own, plain = TIE * size, np.einsum("bii->bi", inner), np.abs(plain) / n**2
            terms *= left_over(plain, least).max(axis=1)
            zero = (plain <= least) & (np.abs(own) <= least)
            if estimator.projects:
                zero |= np.abs(own) <= TIE * least
            there = np.where(zero, 0.0, 1.0)
            inner *= there[:, :, None] * there[:, None, :]
            excess *= there
            pull *= there
        return inner, excess, pull, terms

    return products, 0.0 if reference is None or towards is None else float(reference @ towards)


#: The products of the parts' estimates, by what a fit needs of a sample.
_PRODUCTS: dict[str, Callable[..., tuple[Products, float]]] = {
    "sums": _of_sums,
    "filter": _of_weights,
    "function": _of_weights,
}


def estimates_of(
    estimator: MeanEstimator, kernel: Kernel, samples: list[np.ndarray], tuning: str
) -> tuple[MeanEmbedding, ...]:
    """The embeddings of the samples, tuned together if need be."""
    if tuning == "joint":
        estimator = estimator.tuned(kernel, *samples)
    return tuple(estimator.embed(x, kernel) for x in samples)


def _of_noise(estimator: Marginalized, kernel: Kernel, points: np.ndarray, joint: bool, unbiased: bool) -> Statistic:
    """The statistic of two samples whose noise is tuned in every relabelling, which changes the features."""
    from shrinktest.estimators.noise_loops import smoothed_splits

    columns = points.shape[1]
    coordinates, th2 = np.ascontiguousarray(points.T), estimator.th2(kernel, columns)
    # several variances are found by a descent, which ends near the optimum: tied splits differ by up to about 1e-8
    slack = 1.0 if estimator.one_noise or columns == 1 else 1e3

    def statistic(labels: np.ndarray) -> np.ndarray:
        out = np.empty((len(labels), 2))
        smoothed_splits(coordinates, labels == 0, th2, estimator.one_noise, joint, unbiased, out)
        out[:, 1] *= slack
        return out

    return statistic


def notes_of(given: MeanEstimator, used: MeanEstimator, contrast: Contrast, tuning: str, form: str) -> tuple[str, ...]:
    """Return notes on tests that are provably the same as others, or easily misread."""
    notes, two = [], len(contrast.sizes) == 2
    equal, pairs = len(set(contrast.sizes)) == 1, contrast.comparison == "pairs"
    if used.scales_all_alike(contrast.sizes) and pairs:
        otherwise = f" with form={form!r}" if form == "biased" and not equal else ""
        notes.append(
            "One shrinkage amount that permuting does not change multiplies the statistic by a constant: the p-value "
            f"is that of estimator='kme'{otherwise}."
        )
    if used.smooths and used.fixed:
        notes.append(
            f"With one noise variance for {'both' if two else 'all'} samples this is the test of estimator='kme' with "
            "a wider kernel, bandwidth^2 + 2 variance."
        )
    if given.smooths and tuning == "sample":
        notes.append(
            "Samples that are tuned apart carry unequal noise, which makes the statistic non-zero under equal "
            "distributions; the p-value stays exact, but prefer tuning='pooled' or 'joint'."
        )
    if not equal and not used.smooths:
        if form == "biased":
            other = "form='unbiased' does not." if pairs else "comparison='pairs' has one that does not."
            notes.append(f"With unequal sizes this form favours one direction of a change of scale; {other}")
        if tuning == "sample":
            smaller, all_ = ("one is", "both") if two else ("ones are", "all")
            notes.append(
                f"Of samples of unequal sizes that are tuned apart, the smaller {smaller} shrunk more, which favours "
                f"one direction of a change of scale; tuning='joint' has one amount for {all_}."
            )
    return tuple(notes)
