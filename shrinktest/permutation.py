"""Is a statistic of your own larger than permutations make it?  ``permutation_test``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from shrinktest._check import (
    MAX_SIZE,
    check_signature,
    count,
    flag,
    level,
    real_values,
    resample_count,
)
from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest._parallel import free_memory, n_workers
from shrinktest._random import as_rng, rng_provenance
from shrinktest.data.labels import label_codes, numbered, pooled_labels
from shrinktest.permutations.base import Draws, Permutations, as_permutations
from shrinktest.permutations.design import PermutationDesign, UnitLabels, design_of
from shrinktest.permutations.multiplicity import warn_too_few
from shrinktest.permutations.null import TIE, null_distribution
from shrinktest.permutations.schemes import Labels
from shrinktest.permutations.stopping import as_stopping
from shrinktest.results.base import TestData
from shrinktest.results.info import KINDS
from shrinktest.results.result import TestResult, make_result


@hinted
@documented
def permutation_test(
    statistic: Callable[[np.ndarray], Any],
    permutations: Any,
    *,
    blocks: Any = None,
    paired: bool = False,
    vectorized: bool = False,
    n_resamples: float = 999,
    stopping: Any = None,
    alpha: float = 0.05,
    rng: Any = None,
    workers: int | None = 1,
    progress: bool = False,
    name: str = "permutation",
) -> TestResult:
    """Run a permutation test with your own statistic.

    Parameters
    ----------
    statistic : callable
        Function from a permutation (N,) to a number that is large if the null hypothesis is
        doubtful.  The function itself holds the data.  With ``vectorized`` it maps permutations (B,
        N) to numbers (B,).
    permutations : int, tuple of int, or Permutations
        A number n stands for permutations of 0, ..., n - 1, which pair the rows of two variables.
        Sizes (m, n, ...) of samples stand for sample labels 0, 1, ..., one for every pooled row.
        For other designs, pass your own :class:`~shrinktest.Permutations`, or
        :class:`~shrinktest.Copies` that are drawn from a model, for a null distribution by
        simulation.
    blocks : array_like, optional
        Block label of every row, or one vector per sample; rows are permuted only within blocks.
    paired : bool, default False
        Whether row i of one sample and row i of the other are a pair, so that permutations exchange
        the two rows of a pair.
    vectorized : bool, default False
        True if ``statistic`` accepts many permutations at a time.
    workers : int, optional
        Number of threads; default 1, because ``statistic`` may not be thread-safe.
    name : str, default "permutation"
        Name of the test in the result.

    Returns
    -------
    TestResult
        A result without kernel, estimator and estimates.

    See Also
    --------
    two_sample_test, independence_test : Kernel tests, which need no statistic of your own.
    Permutations : Your own permutations, for designs that no option describes.
    Copies : Copies of the data that are drawn from a model, instead of permutations.
    check_level : Type I error rate of your own test.
    power_study : Its power, compared with other tests.

    Notes
    -----
    The p-value is (1 + number of permutations whose statistic is at least the observed one) / (1 +
    number of permutations).  Values within 1e-10 of the observed one count as equal,
    relative to its size or, without ``stopping``, to the median size of all if that is larger.
    The test is exact if, under the null hypothesis, the data have the same distribution after every
    permutation, and if ``statistic`` computes nothing beforehand that depends on the labels
    (:doc:`/validity`).

    Examples
    --------
    The difference of two medians:

    >>> import numpy as np
    >>> from shrinktest import permutation_test
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=30), rng.normal(0.8, 1.0, size=25)
    >>> pooled = np.concatenate([x, y])
    >>> def difference(labels):
    ...     return abs(np.median(pooled[labels == 0]) - np.median(pooled[labels == 1]))
    >>> result = permutation_test(difference, (30, 25), rng=0)
    >>> result.pvalue
    0.001

    The same for pairs, and within blocks:

    >>> x = x[:25]
    >>> pooled = np.concatenate([x, y])
    >>> permutation_test(difference, (25, 25), paired=True, rng=0).pvalue
    0.003
    >>> site = np.resize(["north", "south"], 25)
    >>> permutation_test(difference, (25, 25), blocks=[site, site], rng=0).pvalue
    0.001

    Rank correlation, all permutations at a time:

    >>> ranks = np.argsort(np.argsort(x)), np.argsort(np.argsort(y))
    >>> def correlation(rows):
    ...     return np.abs(np.corrcoef(ranks[0], ranks[1][rows])[0, 1:])
    >>> permutation_test(correlation, 25, vectorized=True, rng=0).pvalue
    0.154
    """
    if not isinstance(name, str) or not name or name in KINDS:
        raise ValueError(
            f"name must be a text that is not the name of a test of this package; got {name!r}"
        )
    vectorized = flag(vectorized, "vectorized")
    what = "permutations (B, n) -> numbers (B,)" if vectorized else "permutation (n,) -> number"
    if not callable(statistic):
        raise TypeError(f"statistic must be a function {what}; got {statistic!r}")
    check_signature(
        statistic, ("rows" if vectorized else "row",), f"statistic must be a function {what}"
    )
    alpha = level(alpha)
    generator = as_rng(rng)
    threads = n_workers(workers)
    number = resample_count(n_resamples)
    progress = flag(progress, "progress")
    rule = as_stopping(stopping, alpha)
    provenance = rng_provenance(generator)
    scheme = _permutations(permutations, blocks, flag(paired, "paired"), alpha if number else 1.0)
    if 8.0 * scheme.size > (free := free_memory()):
        raise MemoryError(
            f"permutations of {scheme.size} observations do not fit in {free / 1e9:.3g} GB of "
            "memory"
        )

    def evaluate(rows: np.ndarray) -> np.ndarray:
        values = statistic(rows) if vectorized else [statistic(row) for row in rows]
        try:
            numbers = real_values(values)
        except TypeError as error:
            raise TypeError(f"statistic must return numbers: {error}") from None
        if numbers.shape != (len(rows),) or not np.isfinite(numbers).all():
            odd = numbers[~np.isfinite(numbers)][:1].tolist() or f"shape {numbers.shape}"
            raise ValueError(
                f"statistic must return one finite number for every permutation; it returned {odd}"
            )
        return np.stack([numbers, np.abs(numbers)], axis=1)

    draws = Draws.of(scheme, number, generator)
    null = null_distribution(evaluate, draws, stopping=rule, workers=threads, progress=progress)
    if (
        rule is None
    ):  # the terms of which a statistic is a sum are not known, which may cancel on the data
        usual = float(np.median(np.abs(null.values))) if null.values.size else 0.0
        null = replace(null, tolerance=max(null.tolerance, TIE * usual))
    warn_too_few(null.n_planned + (not null.exact), alpha, exact=null.exact)
    sizes = scheme.sizes if isinstance(scheme, Labels | UnitLabels) else (scheme.size,)
    data = TestData(name, sizes, restriction=scheme.restriction, simulated=scheme.simulated)
    return make_result(null, data, alpha=alpha, rng=provenance)


def _permutations(permutations: Any, blocks: Any, paired: bool, alpha: float) -> Permutations:
    """Return permutations of a number of rows, or of the rows of samples, or a user's."""
    if isinstance(permutations, Permutations):
        if paired or blocks is not None:
            raise ValueError("permutations= replaces blocks= and paired=; leave these out")
        return as_permutations(permutations, None)
    sizes = permutations if isinstance(permutations, tuple | list) else (permutations,)
    whole = all(
        isinstance(n, int | np.integer) and not isinstance(n, bool) and n >= 1 for n in sizes
    )
    if not whole or sum(sizes) < 2 or (len(sizes) < 2 and sizes is permutations):
        raise TypeError(
            "permutations must be a number of rows, sizes such as (30, 25), or Permutations; got "
            f"{permutations!r}"
        )
    total = count(sum(map(int, sizes)), "permutations", minimum=2, maximum=MAX_SIZE)
    design = _design(tuple(map(int, sizes)), blocks, paired)
    if len(sizes) == 1:
        return design.pairings(total, alpha)
    return design.labels(tuple(map(int, sizes)), alpha, symmetric=False)


def _design(sizes: tuple[int, ...], blocks: Any, paired: bool) -> PermutationDesign:
    """Return which rows may change places, by labels of their blocks or as pairs."""
    if paired:
        if len(sizes) != 2 or sizes[0] != sizes[1]:
            raise ValueError(f"paired=True needs two samples of the same size; got {sizes}")
        if blocks is not None:
            raise ValueError("blocks= does not apply to paired=True; leave out one of them")
        return PermutationDesign(paired=True)
    if blocks is None:
        return PermutationDesign()
    names = numbered("samples", len(sizes))
    labels = pooled_labels(blocks, "blocks", sizes, names, sizes, "the data")
    return design_of(label_codes(labels, "blocks", np.ones(sum(sizes), dtype=bool)), None)
