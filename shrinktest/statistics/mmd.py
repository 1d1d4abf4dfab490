"""Distances of kernel means of samples, for every estimator, as functions of partitions.

The partitions are those of the pooled sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from shrinktest._machine_code import compiled_loop
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import MeanEstimator, noise
from shrinktest.estimators.marginalized import Marginalized
from shrinktest.estimators.scaled import ScaledMean
from shrinktest.kernels import Kernel
from shrinktest.notes import note
from shrinktest.permutations.null import TIE, CostHint, Statistic
from shrinktest.permutations.schemes import sample_labels
from shrinktest.statistics.features import KernelFeatures, few_coordinates
from shrinktest.statistics.kernel_cache import KernelCache, Request
from shrinktest.statistics.statistic import Computation, Form, Prepared, part_weights, scales
from shrinktest.statistics.sums import PLAIN, block_sums, left_over, members_of, times, weighted
from shrinktest.units import near_one

POOLED = "pooled"
COMPARISONS = ("pairs", POOLED)
WEIGHTS = ("sizes", "equal")

_FEW = 16  # rows of a product of weights, which take so long to find that few come at a time
_DEAR = 150  # observations from which filters are worth some search for few coordinates

#: Labels (B, N) to the inner products of the estimates (B, k, k), what chance adds to their squared
#: norms (B, k), their inner products with the estimate of the pooled sample (B, k), and the size of
#: the terms that cancel (B,).
Products = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Contrast:
    """Weighted mean of the squared distances of k estimates."""

    sizes: tuple[int, ...]
    # "pairs": distances of every two estimates; "pooled": of each to that of the pooled sample
    comparison: str
    weights: str  # of the distances; "sizes": n_i n_j or n_i; "equal": one for all

    def __call__(
        self,
        inner: np.ndarray,
        excess: np.ndarray,
        pull: np.ndarray,
        terms: np.ndarray,
        norm2: float,
    ) -> np.ndarray:
        """The statistic and the size of what cancels in it, (B, 2).

        ``norm2`` is of the pooled sample's estimate.
        """
        squared = np.einsum("bii->bi", inner)
        n = (
            np.asarray(self.sizes, dtype=np.float64)
            if self.weights == "sizes"
            else np.ones(len(self.sizes))
        )
        if self.comparison == "pairs":  # those above the diagonal have weights that add up to 1
            w = np.outer(n, n)
            np.fill_diagonal(w, 0.0)
            w = 2.0 * w / w.sum()
            row_weights = w.sum(axis=1)
            value = weighted(squared - excess, row_weights) - np.einsum("bij,ij->b", inner, w)
            size = weighted(squared, row_weights) + np.einsum("bij,ij->b", np.abs(inner), w)
        else:
            w = n / n.sum()
            value = weighted(squared - 2.0 * pull, w) + norm2
            size = weighted(squared + 2.0 * np.abs(pull), w) + norm2
        return np.stack([value, np.maximum(size, terms)], axis=1)


BIASED = Form(name="biased", combine=Contrast.__call__, squared_norm=True, symmetric=True)
UNBIASED = Form(name="unbiased", combine=Contrast.__call__, excess=True, symmetric=True)


def prepare(
    estimator: MeanEstimator,
    kernel: Kernel,
    pooled: np.ndarray,
    contrast: Contrast,
    *,
    form: Form,
    tuning: str,
    cache: KernelCache,
    bins: bool = False,
) -> Prepared:
    """Prepare the statistic of an estimator and kernel on pooled observations (N, d).

    One sample comes after the other; ``bins`` says whether bins of rows could be permuted, too.
    """
    filters = estimator.needs == "filter"
    used = estimator
    if tuning == "pooled" and not filters:
        used = estimator.tuned(kernel, pooled)
    request = Request(used.by_coordinates, used.any_rank, tiled=used.needs == "sums", bins=bins)
    if filters:
        request = replace(request, large=_DEAR, columns=pooled.shape[1])
    gram = cache(
        kernel if used.needs == "noise" else used.features(kernel, pooled), pooled, request
    )
    low = kernel if used.changes_features else gram.kernel
    if tuning == "pooled" and filters:
        used = estimator.tuned(low, pooled)
    sizes = (
        contrast.sizes if contrast.comparison == "pairs" else (*contrast.sizes, len(pooled))
    )  # of all estimates
    if used.needs == "sums" and used.weighs_all_alike(sizes):
        gram = gram.about_mean(cache.memory)
    if used.needs == "noise":
        if form not in (BIASED, UNBIASED):
            raise ValueError(
                f"form={form.name!r} is not available with {estimator!r}; use tuning='pooled'"
            )
        statistic = _noise_statistic(
            cast(Marginalized, used), kernel, pooled, contrast.sizes, tuning == "joint", form.excess
        )
    else:
        combine = form.combine
        assert combine is not None
        products_of_means = _scaled_products if used.needs == "sums" else weighted_products
        products, norm2 = products_of_means(used, gram, contrast, tuning, form)

        def statistic(labels: np.ndarray) -> np.ndarray:
            parts = products(np.ascontiguousarray(labels, dtype=np.uint16))
            return np.asarray(combine(contrast, *parts, norm2))

    computation = Computation(
        route=gram.route,
        features=(gram.kernel,),
        approximated=gram.note is not None,
        threads=used.needs != "function" and gram.route != "tiles",
        cost=_cost(used, gram, len(contrast.sizes)),
    )
    return Prepared(
        statistic=statistic,
        kernel=kernel,
        estimates=lambda: estimates_of(
            used, low, np.split(pooled, np.cumsum(contrast.sizes)[:-1]), tuning
        ),
        notes=estimator_notes(estimator, used, contrast, tuning, form)
        + ((gram.note,) if gram.note else ()),
        computation=computation,
    )


def _cost(estimator: MeanEstimator, gram: KernelFeatures, k: int) -> CostHint | None:
    """Return the cost of a permutation.

    It is an addition for every four observations and column of each part.
    """
    n = len(gram.points)
    rank = gram.columns
    quarter = n / 4.0 * 6e-11
    if estimator.needs == "filter" and rank is not None:
        work = (
            3e-9 * rank**3 + 2e-7 * rank
        )  # reductions to tridiagonal form, and the least that a score takes
        rows = min(512, max(16, 2**25 // (4 * (rank + 1) ** 2)))
        return CostHint(seconds=(k - 1) * quarter * rank**2 / 2.0 + k / 2.0 * work, rows=rows)
    if estimator.needs != "sums":
        return None
    if gram.route == "tiles":
        return CostHint(seconds=0.0, whole=True)  # tiles have threads of their own
    if rank is None and n <= PLAIN:  # whose rows are drawn in step, best all at once
        return CostHint(seconds=1e-7 + (k - 1) * 5e-11 * n**2, rows=4096)
    columns = n / 2.0 if rank is None else rank  # half by symmetry
    return CostHint(seconds=1e-7 + (k - 1) * quarter * columns)


def _scaled_products(
    estimator: MeanEstimator, gram: KernelFeatures, contrast: Contrast, tuning: str, form: Form
) -> tuple[Products, float]:
    """Products of scaled means, for which sums of blocks of the Gram matrix are enough."""
    mean = cast(ScaledMean, estimator)
    sizes = contrast.sizes
    size = gram.size
    sums_and_traces = block_sums(gram, sizes)
    total = sum(sizes)
    reference = 0.0
    norm2 = 0.0
    if contrast.comparison == "pooled":
        blocks, diagonals = sums_and_traces(sample_labels(sizes)[None])
        whole = float(blocks.sum())
        reference = float(mean.scale((whole, float(diagonals.sum()), total))) / total
        norm2 = float(reference**2 * whole)

    def products(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return scaled_products(mean, *sums_and_traces(labels), sizes, tuning, form, size, reference)

    return products, norm2


def scaled_products(
    mean: ScaledMean,
    sums: np.ndarray,
    traces: np.ndarray,
    sizes: tuple[int, ...],
    tuning: str,
    form: Form,
    size: float | np.ndarray,
    reference: float = 0.0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Products of scaled means from the sums (B, k, k) and traces (B, k).

    These are those of the Gram matrix over the parts.

    ``size`` is the root mean square of the kernel values, and ``reference`` the weight of a row in
    the pooled estimate.
    """
    n = np.asarray(sizes, dtype=np.float64)
    factors = scales(mean, sums, traces, sizes, tuning)
    w = factors / n
    excess = np.zeros_like(w)
    if form.excess:
        squared = np.einsum("bii->bi", sums)
        excess = np.square(w) * (traces - (squared - traces) / (n - 1.0))
    pull = w * sums.sum(axis=2) * reference
    terms = np.maximum(np.square(factors).max(axis=1), TIE) * size
    return w[:, :, None] * sums * w[:, None, :], excess, pull, terms


def weighted_products(
    estimator: MeanEstimator, gram: KernelFeatures, contrast: Contrast, tuning: str, form: Form
) -> tuple[Products, float]:
    """Products of the estimates of filters and user functions.

    The estimates are weights of the observations.
    """
    sizes = contrast.sizes
    z = few_coordinates(gram) if estimator.by_coordinates else None
    n = np.asarray(sizes, dtype=np.float64)
    matrix = gram.gram if z is None else np.ascontiguousarray(z)
    weigh = part_weights(estimator, gram, sizes, tuning)
    size = gram.size
    signed = z is not None or bool(
        matrix.min(initial=0.0) < 0.0
    )  # else no mean of features is zero
    sums_and_traces = block_sums(gram, sizes) if form.excess or signed else None
    diagonal = np.diagonal(matrix) if z is None else np.square(matrix).sum(axis=1)
    towards = None
    norm2 = 0.0
    if contrast.comparison == "pooled":
        reference = (
            estimator._solve(matrix)[0]
            if z is None
            else estimator.embed(gram.points, gram.kernel).weights
        )
        towards = matrix @ (reference if z is None else matrix.T @ reference)
        norm2 = float(reference @ towards)

    def products(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        weights = weigh(labels)
        members = [members_of(labels, p) for p in range(len(sizes))]
        parts = [weights * member for member in members]
        inner = _inner_products(parts, matrix, by_coordinates=z is not None)
        excess, pull, plain = np.zeros((3, len(labels), len(sizes)))
        terms = (
            np.square(np.stack([np.abs(part).sum(axis=1) for part in parts], axis=1)).max(axis=1)
            * size
        )
        if sums_and_traces is not None:
            sums, traces = sums_and_traces(labels)
            plain = np.einsum("bii->bi", sums)
        if form.excess:
            if z is not None:  # of the coordinates, which leave out next to nothing of the kernel
                traces = np.stack([weighted(member, diagonal) for member in members], axis=1)
            between = (plain - traces) / (n * (n - 1.0))
            for p, part in enumerate(parts):
                squares = np.square(part)
                excess[:, p] = weighted(squares, diagonal) - squares.sum(axis=1) * between[:, p]
        if towards is not None:
            pull = np.stack([weighted(part, towards) for part in parts], axis=1)
        # if the plain mean of a part is zero except for rounding errors, so is what becomes of it
        if signed:
            least = TIE * size
            plain = np.abs(plain) / n**2
            terms *= left_over(plain, least).max(axis=1)
            nonzero = _nonzero(inner, plain, least, estimator.projects)
            inner *= nonzero[:, :, None] * nonzero[:, None, :]
            excess *= nonzero
            pull *= nonzero
        return inner, excess, pull, terms

    return products, norm2


def _inner_products(
    parts: list[np.ndarray], matrix: np.ndarray, *, by_coordinates: bool
) -> np.ndarray:
    """Return the inner products (B, k, k) of estimates with weights (B, N) for every part.

    ``matrix`` are coordinates of the observations or their Gram matrix.
    """
    images = [times(part, matrix, _FEW) for part in parts]
    others = images if by_coordinates else parts
    inner = np.empty((len(parts[0]), len(parts), len(parts)))
    for p, image in enumerate(images):
        for q in range(p + 1):
            products = np.einsum("bi,bi->b", image, others[q])
            inner[:, p, q] = products
            inner[:, q, p] = products
    return inner


def _nonzero(inner: np.ndarray, plain: np.ndarray, least: float, projects: bool) -> np.ndarray:
    """Return 0 for estimates (B, k) that are zero except for rounding errors, and 1 for others.

    ``plain`` are the squared norms of the plain means.
    """
    norms = np.abs(np.einsum("bii->bi", inner))
    zero = (plain <= least) & (norms <= least)
    if projects:
        zero |= norms <= TIE * least
    return np.where(zero, 0.0, 1.0)


def _noise_statistic(
    estimator: Marginalized,
    kernel: Kernel,
    points: np.ndarray,
    sizes: tuple[int, ...],
    joint: bool,
    unbiased: bool,
) -> Statistic:
    """Statistic of two samples whose noise is tuned in every permutation.

    Tuning changes the features.
    """
    columns = points.shape[1]
    coordinates = np.ascontiguousarray(points.T)
    th2 = estimator.th2(kernel, columns)
    # several variances are found by a descent, which ends near the optimum: tied splits differ by
    # up to about 1e-8
    slack = 1.0 if estimator.one_noise or columns == 1 else 1e3
    seconds = estimator.tuning_seconds(columns, *sizes)

    def statistic(labels: np.ndarray) -> np.ndarray:
        out = np.empty((len(labels), 2))
        loop = compiled_loop("smoothed_splits", len(labels), seconds) or noise.smoothed_splits
        loop(coordinates, labels == 0, th2, estimator.one_noise, joint, unbiased, out)
        out[:, 1] *= slack
        return out

    return statistic


def mean_difference(x: np.ndarray, y: np.ndarray) -> Statistic:
    """Squared mean difference within pairs (n, d), by labels.

    It is in units of the root mean square of each column.
    """
    apart = near_one(x - y)
    units = np.sqrt(np.square(apart).mean(axis=0))
    apart = np.ascontiguousarray(apart[:, units > 0.0] / units[units > 0.0])

    def statistic(labels: np.ndarray) -> np.ndarray:
        means = times(1.0 - 2.0 * (labels[:, : len(apart)] != 0), apart) / len(apart)
        return np.stack(
            [np.square(means).sum(axis=1), np.full(len(labels), float(apart.shape[1]))], axis=1
        )

    return statistic


def estimates_of(
    estimator: MeanEstimator, kernel: Kernel, samples: list[np.ndarray], tuning: str
) -> tuple[MeanEmbedding, ...]:
    """The embeddings of the samples, tuned together if need be."""
    if tuning == "joint":
        estimator = estimator.tuned(kernel, *samples)
    return tuple([estimator.embed(x, kernel) for x in samples])


def estimator_notes(
    given: MeanEstimator, used: MeanEstimator, contrast: Contrast, tuning: str, form: Form
) -> tuple[str, ...]:
    """Return notes on tests that are provably the same as others, or easily misread."""
    notes = []
    equal = len(set(contrast.sizes)) == 1
    pairs = contrast.comparison == "pairs"
    if used.scales_all_alike(contrast.sizes) and pairs:
        same = "with the same form="
        plain = f"form={form.name!r}" if form.squared_norm and not equal else same
        notes.append(note("same-as-kme", amount="shrinkage amount", plain=plain))
    if used.smooths and used.fixed:
        notes.append(
            note(
                "same-as-kme",
                amount="noise variance",
                plain="with a wider kernel: add 2 * variance to bandwidth^2",
            )
        )
    if given.smooths and tuning == "sample":
        notes.append(note("tuned-apart"))
    if not equal and not used.smooths and form.squared_norm:
        other = "form='unbiased'" if pairs else "comparison='pairs'"
        notes.append(note("unequal-sizes", what="this form of the statistic", remedy=other))
    if not equal and not used.smooths and tuning == "sample":
        notes.append(
            note(
                "unequal-sizes",
                what="a test that shrinks each sample by itself",
                remedy="tuning='joint'",
            )
        )
    return tuple(notes)
