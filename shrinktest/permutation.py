"""Is a statistic of your own larger than permutations make it?  ``permutation_test``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from shrinktest._check import (
    MAX_SIZE,
    as_rng,
    check_signature,
    count,
    flag,
    level,
    real_values,
    resample_count,
    rng_provenance,
)
from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest._parallel import free_memory, n_workers
from shrinktest.permutations.base import Draws, Permutations, as_permutations
from shrinktest.permutations.null import TIE, null_distribution
from shrinktest.permutations.schemes import Labels, Pairings
from shrinktest.permutations.stopping import as_stopping
from shrinktest.results.base import TestData
from shrinktest.results.conclude import make_result, warn_too_few
from shrinktest.results.info import KINDS
from shrinktest.results.result import TestResult


@hinted
@documented
def permutation_test(
    statistic: Callable[[np.ndarray], Any],
    permutations: Any,
    *,
    vectorized: bool = False,
    n_resamples: float = 999,
    stopping: Any = None,
    alpha: float = 0.05,
    rng: Any = None,
    workers: int | None = 1,
    progress: bool = False,
    name: str = "permutation",
) -> TestResult:
    """Test with your own statistic by permutations, with its null distribution and early stopping.

    Parameters
    ----------
    statistic : callable
        From a permutation (N,) to a number that is large if the null hypothesis is doubtful.  The function holds the
        data itself.  With ``vectorized`` it maps permutations (B, N) to numbers (B,).
    permutations : int, tuple of int, or Permutations
        A number n: permutations of 0, ..., n - 1, which pair the rows of two variables.  Sizes (m, n, ...) of samples:
        the sample, 0, 1, ..., of every pooled row.  Or your own :class:`~shrinktest.Permutations`.
    vectorized : bool, default False
        True if ``statistic`` takes many permutations at a time.
    workers : int, optional
        Number of threads; default 1, because ``statistic`` may not be thread-safe.
    name : str, default "permutation"
        Name of the test in the result.

    Returns
    -------
    TestResult
        Without kernel, estimator and estimates.

    See Also
    --------
    two_sample_test, independence_test : Kernel tests, which need no statistic of your own.
    Permutations : Your own permutations, for designs that no option describes.
    calibrate : Level of your own test.
    power_study : Its power, compared with other tests.

    Notes
    -----
    The p-value is (1 + number of permutations whose statistic is at least the observed one) / (1 + number of
    permutations).  Values within a relative 1e-10 of the observed one count as equal; without ``stopping`` the median
    size of the others counts, if it is larger.  The test is exact if, under the null hypothesis, the data have the same
    distribution after every permutation, and if ``statistic`` computes nothing beforehand that depends on the labels
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

    Rank correlation, all permutations at a time:

    >>> ranks = np.argsort(np.argsort(x[:25])), np.argsort(np.argsort(y))
    >>> def correlation(rows):
    ...     return np.abs(np.corrcoef(ranks[0], ranks[1][rows])[0, 1:])
    >>> permutation_test(correlation, 25, vectorized=True, rng=0).pvalue
    0.154
    """
    if not callable(statistic):
        raise TypeError(f"statistic must be a function from a permutation to a number; got {statistic!r}")
    vectorized = flag(vectorized, "vectorized")
    if not isinstance(name, str) or not name:
        raise TypeError(f"name must be a text, which is what the result calls the test; got {name!r}")
    if name in KINDS:
        raise ValueError(f"name={name!r} is a test of this package, of another statistic; call yours something else")
    what = "permutations (B, n) -> numbers (B,)" if vectorized else "permutation (n,) -> number"
    check_signature(statistic, ("rows" if vectorized else "row",), f"statistic must be a function {what}")
    alpha = level(alpha)
    threads, number, progress = n_workers(workers), resample_count(n_resamples), flag(progress, "progress")
    rule = as_stopping(stopping, alpha)
    generator = as_rng(rng)
    provenance = rng_provenance(generator)
    scheme = _permutations(permutations)
    if 8.0 * scheme.size > (free := free_memory()):
        raise MemoryError(
            f"permutations: one of {scheme.size} observations takes {8e-9 * scheme.size:.3g} GB, and "
            f"{free / 1e9:.3g} GB are free; take fewer observations"
        )

    def rows(these: np.ndarray) -> np.ndarray:
        found = statistic(these) if vectorized else [statistic(row) for row in these]
        try:
            values = real_values(found)
        except TypeError as error:
            raise TypeError(f"statistic must return numbers; it returned what is none: {error}") from None
        if values.shape != (len(these),):
            asked = f"{len(these)} numbers for as many permutations" if vectorized else "one number for a permutation"
            raise ValueError(f"statistic must return {asked}; it returned shape {values.shape[not vectorized :]}")
        if not np.isfinite(values).all():
            odd = int(np.flatnonzero(~np.isfinite(values))[0])
            what = found[odd] if isinstance(found, list) else values[odd]  # None is no NaN
            raise ValueError(f"statistic must return a finite number for every permutation; it returned {what}")
        return np.stack([values, np.abs(values)], axis=1)

    drawn = Draws.of(scheme, number, generator)
    null = null_distribution(rows, drawn, stopping=rule, workers=threads, progress=progress)
    if rule is None:  # the terms of which a statistic is a sum are not known, which may cancel on the data
        usual = float(np.median(np.abs(null.values))) if null.values.size else 0.0
        null = replace(null, tolerance=max(null.tolerance, TIE * usual))
    warn_too_few(null.n_planned + (not null.exact), alpha, exact=null.exact)
    sizes = scheme.sizes if isinstance(scheme, Labels) else (scheme.size,)
    return make_result(null, TestData(name, sizes, restriction=scheme.restriction), alpha=alpha, rng=provenance)


def _permutations(given: Any) -> Permutations:
    if isinstance(given, Permutations):
        return as_permutations(given, None)
    if isinstance(given, int | np.integer) and not isinstance(given, bool) and given >= 2:
        return Pairings(count(given, "permutations", minimum=2, maximum=MAX_SIZE))
    sizes = tuple(given) if isinstance(given, tuple | list) else ()
    if len(sizes) >= 2 and all(isinstance(n, int | np.integer) and n >= 1 and n is not True for n in sizes):
        count(sum(map(int, sizes)), "the sum of the sizes in permutations", minimum=2, maximum=MAX_SIZE)
        return Labels(tuple(map(int, sizes)), symmetric=False)
    raise TypeError(
        "permutations must be a number of observations (at least 2), the sizes of samples such as (30, 25), or a "
        f"Permutations object; got {given!r}"
    )
