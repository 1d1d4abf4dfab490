"""Do several samples come from one distribution?  ``k_sample_test``."""

from __future__ import annotations

from typing import Any

from shrinktest._check import choice
from shrinktest._hints import hinted
from shrinktest._names import named_samples, numbered
from shrinktest.batches.recognized import in_batches
from shrinktest.hypotheses.equality import EqualDistributions
from shrinktest.hypotheses.settings import Settings
from shrinktest.multiple.collection import Asked
from shrinktest.multiple.run import run
from shrinktest.results.result import TestResult
from shrinktest.statistics.mmd import COMPARISONS, WEIGHTS


@hinted
def k_sample_test(
    *samples: Any,
    comparison: str = "pairs",
    weights: str = "sizes",
    estimator: Any = "kme",
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    scale: Any = "auto",
    form: str = "auto",
    n_resamples: float = 999,
    stopping: Any = None,
    alpha: float = 0.05,
    blocks: Any = None,
    groups: Any = None,
    permutations: Any = None,
    column_types: Any = None,
    transform: Any = None,
    nan_policy: str = "raise",
    rng: Any = None,
    workers: Any = None,
    progress: bool = False,
    gram: str = "auto",
    rank: int | None = None,
    max_memory: float | None = None,
    store: Any = None,
) -> TestResult:
    """p-value for the hypothesis that several samples have the same distribution: a kernel permutation test.

    Parameters
    ----------
    *samples : array_like, shape (n_i, d) or (n_i,)
        Two samples or more, one row an observation, or one mapping from their names to them; tables, and
        samples in batches, as in :func:`two_sample_test`.
    comparison : {"pairs", "pooled"}
        "pairs": |mu_i - mu_j|^2 over all pairs of samples.  "pooled": |mu_i - mu|^2 over the samples, with mu the
        estimate from all observations, which permutation does not change.
    weights : {"sizes", "equal"}
        "sizes": pairs are averaged in proportion to n_i n_j, samples to n_i, so that large samples count more. "equal":
        every distance counts the same, so that small samples count as much as large ones.
    estimator, kernel, bandwidth, scale, column_types, transform
        As in :func:`two_sample_test`, also lists and "auto"; the median is over all samples.
    form : {"auto", "biased", "unbiased"}
        The form of the squared norms, as in :func:`two_sample_test`.  "unbiased" exists for pairs; "auto" is biased for
        "pooled".
    n_resamples, stopping, alpha, nan_policy, rng, workers, progress
        As in :func:`two_sample_test`; all partitions into samples of these sizes are enumerated where there are no more
        than ``n_resamples``; those that differ only by exchanging samples of one size count once.
    blocks, groups : array_like, optional
        A label for every observation, as in :func:`two_sample_test`: as one vector for all samples one after the other,
        or as a list of vectors.  Observations are permuted within their block only, groups as a whole.
    permutations : Permutations, optional
        Permutations of your own, a subclass of :class:`~shrinktest.Permutations`, instead of those that the test draws:
        for data whose distribution is unchanged by other permutations.
    gram, rank, max_memory, store
        As in :func:`two_sample_test`.

    Returns
    -------
    TestResult
        With one estimate for every sample.

    Raises
    ------
    ValueError, TypeError
        For input that cannot be tested; the message names the argument and says what to do.
    MemoryError
        If the kernel's values would not fit ``max_memory``; says how much they take, and what fits.

    Warns
    -----
    UserWarning
        When there are too few permutations to reject at ``alpha``.

    See Also
    --------
    TestResult.effect : How different every two of the samples are, with intervals.
    two_sample_test : Whether two samples differ.
    closer_test : Which of several samples is nearest to another one.
    change_points : When a series changes, where the samples are not known beforehand.
    solve_sample_size : How many observations a test needs.

    Notes
    -----
    The weights of the distances add up to 1, so that with two samples "pairs" is :func:`two_sample_test`: the same
    statistic and, with the same ``rng``, the same p-value.  For the standard mean, sizes as weights make "pairs" and
    "pooled" one test, the between-sample part of the DISCO decomposition of M. L. Rizzo and G. J. Szekely, DISCO
    analysis: a nonparametric extension of analysis of variance, Annals of Applied Statistics 4 (2010), 1034-1055, with
    a kernel for the distance: sum_i n_i |mu_i - mu|^2 = sum_{i<j} n_i n_j |mu_i - mu_j|^2 / N.  A shrinkage estimator
    shrinks the pooled sample less than its parts, so that with it the two tests differ.

    Estimators are fitted again, and tuned again where they are tuned, in every permutation; the level is exact.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import k_sample_test
    >>> rng = np.random.default_rng(0)
    >>> samples = [rng.normal(size=(20, 3)), rng.normal(size=(15, 3)), rng.normal(0.7, 1.0, size=(25, 3))]
    >>> result = k_sample_test(*samples, rng=0)
    >>> result.pvalue
    0.011
    >>> k_sample_test(*samples, estimator="fkmse", comparison="pooled", rng=0, n_resamples=99).pvalue
    0.02
    """
    given, called = named_samples(samples)
    batched = in_batches(*given)
    settings = Settings.read(
        form=form, n_resamples=n_resamples, alpha=alpha, stopping=stopping, workers=workers,
        progress=progress, gram=gram, rank=rank, max_memory=max_memory, store=store, batched=batched,
    )  # fmt: skip
    choice(comparison, COMPARISONS, "comparison")
    choice(weights, WEIGHTS, "weights")
    if batched:
        from shrinktest.multiple.whole import in_memory

        names = called or numbered("samples", len(given))
        given = in_memory(given, names, estimator, [Asked(kernel, bandwidth)], settings, column_types)
        samples = (dict(zip(called, given, strict=True)),) if called else tuple(given)
        batched = in_batches(*given)
    if batched:
        from shrinktest.multiple.binned import run_binned

        return run_binned(
            given, called or numbered("samples", len(given)), estimator, Asked(kernel, bandwidth), settings, rng,
            two=False, scale=scale, nan_policy=nan_policy, column_types=column_types, called=called,
            comparison=comparison, weights=weights,
            refused={"blocks": blocks, "groups": groups, "permutations": permutations,
                     "transform": transform},
        )  # fmt: skip
    design = {"blocks": blocks, "groups": groups, "own": permutations}
    how = {"comparison": comparison, "weights": weights}
    told = {"nan_policy": nan_policy, "scale": scale, "column_types": column_types, "transform": transform}
    hypothesis = EqualDistributions.read(*samples, **told, **design, **how)
    return run(hypothesis, estimator, [Asked(kernel, bandwidth)], settings, rng)
