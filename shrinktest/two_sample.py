"""Do two samples come from one distribution?  ``two_sample_test``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from shrinktest._check import choice
from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest.data.labels import two_names
from shrinktest.data.on_disk.sources import in_batches
from shrinktest.data.read import XY
from shrinktest.data.sample_ratio import SampleRatio
from shrinktest.equal_distributions import TwoEqualDistributions
from shrinktest.hypothesis import Hypothesis, require_values
from shrinktest.kernel_spec import KernelSpec, asks_for_none, kernels_for
from shrinktest.results.result import TestResult
from shrinktest.run import run
from shrinktest.settings import Settings


@hinted
@documented
def two_sample_test(
    X: Any,
    Y: Any,
    *,
    names: tuple[str, str] | list[str] | None = None,
    covariates: Any = None,
    covariate_method: str = "auto",
    propensity: Any = None,
    estimator: Any = "kme",
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    scale: Any = "auto",
    form: str = "auto",
    n_resamples: float = 999,
    alpha: float = 0.05,
    stopping: Any = None,
    blocks: Any = None,
    paired: bool = False,
    groups: Any = None,
    block_length: Any = None,
    permutations: Any = None,
    sample_ratio: Any = None,
    column_types: Any = None,
    transform: Any = None,
    nan_policy: str = "raise",
    rng: Any = None,
    workers: Any = None,
    progress: bool = False,
    gram: str = "auto",
    rank: int | None = None,
    bins: int | None = None,
    max_memory: float | None = None,
    store: Any = None,
) -> TestResult:
    """Test whether two samples have the same distribution (kernel MMD test).

    Parameters
    ----------
    X, Y : array_like, shape (m, d) and (n, d), or (m,) and (n,)
        The samples, one row per observation: arrays, or tables (pandas, polars, pyarrow), whose
        columns are matched by name and may hold numbers, text, categories, dates and missing values
        (:doc:`/tables`).  Data larger than memory are passed as file names such as
        ``"before/*.parquet"``, dask collections, lazy tables, or :class:`~shrinktest.Batches`.
    covariates : pair of array_like, shape (m, p) and (n, p), optional
        Variables to adjust for: the test then asks whether X and Y differ in a way that these do
        not explain.  ``result.method`` and ``result.assumption`` name the method and its assumption
        (:doc:`/given`).
    covariate_method : {"auto", "strata", "residuals", "propensity"}, default "auto"
        "strata" permutes rows with equal covariates, which is exact; "auto" uses it for text,
        categories and booleans.  "residuals" tests whether the sample label of a row is independent
        of its values conditionally on the covariates, as :func:`independence_test` does with
        ``given``; "auto" uses it for numbers.  "propensity" reassigns rows with the probabilities
        in ``propensity``.
    propensity : float or array_like, optional
        Known probability that a row belongs to Y: one number, such as 0.5, or one for every row, in
        the layout of ``blocks``; the test is then exact.
    groups
        A group must lie in one sample.
    workers
        For data in batches it may be an executor or a dask client.
    bins : int, optional
        With ``gram="rff"`` or "nystrom": approximate number of bins, each the sum of several rows,
        as in :class:`~shrinktest.Batches`; bins are permuted instead of rows, and the test remains
        exact.  The default is 2000 if the arrays have 100,000 rows or more in total, permutations
        are unrestricted, and the estimator is "kme" or "skmse".  Otherwise, or if ``bins=0``, rows
        are permuted.

    Returns
    -------
    TestResult
        ``statistic, pvalue = result`` unpacks it, and ``print(result.summary())`` shows all of it.
        Several estimators, kernels or bandwidths give an :class:`~shrinktest.AggregateResult`,
        whose ``table`` has an adjusted p-value for each.

    See Also
    --------
    compare : Columns of two tables that changed, and by how much.
    TestResult.effect : Effect size with an interval.
    two_sample_test_columns : Columns in which the samples differ.
    k_sample_test : Three or more samples.
    equivalence_test : Practical equivalence, which a large p-value does not show.
    change_point_test : Time at which a series changes, if it is not known.
    closer_test : Which of several samples is closest to another.
    solve_sample_size : Number of observations that a test needs.

    Notes
    -----
    The test is exact for every estimator if the rows are exchangeable under the null hypothesis
    (within blocks or pairs, or as whole groups), because everything that depends on the labels is
    recomputed for every permutation, ties count as exceedances, and the observed data are one of
    the permutations (:doc:`/validity`).  If ``block_length`` is used, the test is exact for shifted
    periodic series, but approximate for others (:doc:`/change`).  The statistic is defined in [M14]
    section 2 with the weights of the estimator, and in [X20] (30) for marginalized means, whereas
    the unbiased form for equal weights is due to [G12] (:doc:`/theory`).

    Several statistics share their permutations and give one exact p-value; :doc:`/estimators`
    lists the statistics of "auto".  If ``paired=True``, half of the weight of "auto" is on the
    differences within pairs.  Data in batches are read whole if they fit in memory, but otherwise
    require ``gram="rff"`` or "nystrom" (:doc:`/large`).

    References
    ----------
    .. [G12] Gretton et al., "A kernel two-sample test", JMLR 13, 2012.
    .. [M14] Muandet et al., "Kernel mean estimation and Stein effect", ICML, 2014.
    .. [X20] Xia et al., "Kernel mean estimation by marginalized corrupted distributions",
       arXiv:2107.04855, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import two_sample_test
    >>> rng = np.random.default_rng(1)
    >>> X, Y = rng.normal(size=(30, 5)), 1.5 * rng.normal(size=(30, 5))
    >>> result = two_sample_test(X, Y, rng=0)
    >>> result.pvalue
    0.007
    >>> two_sample_test(X, Y, estimator="auto", rng=0).pvalue
    0.001

    Before and after, in the same 30 patients:

    >>> before = 5.0 * rng.normal(size=(30, 1)) + rng.normal(size=(30, 2))
    >>> after = before + rng.normal(0.6, 1.0, size=(30, 2))
    >>> (
    ...     two_sample_test(before, after, rng=0).pvalue,
    ...     two_sample_test(before, after, paired=True, rng=0).pvalue,
    ... )
    (0.944, 0.044)
    """
    called = () if names is None else two_names(names)
    ratio = SampleRatio.of(sample_ratio, paired=paired)
    design = {"blocks": blocks, "paired": paired, "groups": groups, "block_length": block_length}
    rows_alone = {
        **design,
        "permutations": permutations,
        "transform": transform,
        "covariates": covariates,
    }
    if bins is not None or (isinstance(gram, str) and gram in ("rff", "nystrom")):
        from shrinktest.on_disk.in_bins import in_bins

        X, Y = in_bins(
            (X, Y),
            XY,
            bins,
            gram=gram,
            estimator=estimator,
            nan_policy=nan_policy,
            refused=rows_alone,
        )
    settings = Settings.read(
        form=form,
        n_resamples=n_resamples,
        alpha=alpha,
        stopping=stopping,
        workers=workers,
        progress=progress,
        gram=gram,
        rank=rank,
        max_memory=max_memory,
        store=store,
        batched=in_batches(X, Y),
    )
    require_values(block_length, kernel)
    specs = [KernelSpec(kernel, bandwidth)]
    reading = {"scale": scale, "nan_policy": nan_policy, "column_types": column_types}
    choice(covariate_method, ("auto", "strata", "residuals", "propensity"), "covariate_method")
    if covariates is None and (covariate_method != "auto" or propensity is not None):
        from shrinktest.conditional.given import refuse_without

        refuse_without("covariates", covariate_method=covariate_method, propensity=propensity)
    if in_batches(X, Y):
        from shrinktest.on_disk.hypotheses import TwoBinned
        from shrinktest.on_disk.two_passes import OnDiskTest

        on_disk = OnDiskTest(estimator, specs, settings, rng, rows_alone, **reading)
        X, Y = on_disk.in_memory((X, Y), called or XY)
        if in_batches(X, Y):
            result = on_disk.run_samples(TwoBinned, (X, Y), called or XY, called=called)
            sizes = result.n_observations
            return _noted(result, ratio.notes(sizes, called or XY, "rows") if ratio else ())
    options = {**reading, **design, "transform": transform, "called": called, "own": permutations}
    hypothesis: Hypothesis
    if covariates is None:
        hypothesis = TwoEqualDistributions.read(X, Y, **options)
    else:
        by = {"covariate_method": covariate_method, "propensity": propensity}
        hypothesis = _given_covariates(X, Y, covariates, estimator, specs, **by, **options)
    result = run(hypothesis, estimator, specs, settings, rng)
    return _noted(result, ratio.notes_on((X, Y), called or XY, groups) if ratio else ())


def _given_covariates(
    X: Any, Y: Any, covariates: Any, estimator: Any, specs: list[KernelSpec], **options: Any
) -> Hypothesis:
    """Return the hypothesis given covariates; ``specs`` get a kernel of the label if it has one."""
    from shrinktest.conditional.given_samples import GivenSamples

    hypothesis = GivenSamples.read(
        X,
        Y,
        covariates,
        combined=asks_for_none(estimator, specs),
        kernel=kernels_for(estimator, specs)[0],
        **options,
    ).hypothesis()
    if len(hypothesis.variables) > 1:  # the second is the label of the sample
        specs.append(KernelSpec("linear" if specs[0].given() else "gaussian", "median"))
    return hypothesis


def _noted(result: TestResult, notes: tuple[str, ...]) -> TestResult:
    """Return the result with further notes at the beginning."""
    return replace(result, notes=lambda: (*notes, *result.notes)) if notes else result
