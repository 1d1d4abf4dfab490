"""Are two variables independent?  ``independence_test``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, overload

from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest.conditional.given import read_given, refuse_without
from shrinktest.data.on_disk.sources import in_batches
from shrinktest.hypothesis import require_values
from shrinktest.independent_variables import Independence
from shrinktest.kernel_spec import KernelSpec, asks_for_none, kernels_for
from shrinktest.results.multiple_tests_result import MultipleTestsResult
from shrinktest.results.result import TestResult
from shrinktest.run import run
from shrinktest.settings import Settings


@overload
def independence_test(
    X: Any,
    Y: Any,
    *,
    given: Any = ...,
    given_method: str = ...,
    x_given_z: Any = ...,
    regressor: Any = ...,
    estimator: Any = ...,
    kernel_x: Any = ...,
    kernel_y: Any = ...,
    bandwidth_x: Any = ...,
    bandwidth_y: Any = ...,
    scale: Any = ...,
    form: str = ...,
    n_resamples: float = ...,
    alpha: float = ...,
    stopping: Any = ...,
    blocks: Any = ...,
    groups: Any = ...,
    block_length: Any = ...,
    lags: None = ...,
    permutations: Any = ...,
    column_types: Any = ...,
    transform: Any = ...,
    nan_policy: str = ...,
    rng: Any = ...,
    workers: Any = ...,
    progress: bool = ...,
    gram: str = ...,
    rank: int | None = ...,
    max_memory: float | None = ...,
    store: Any = ...,
) -> TestResult: ...
@overload
def independence_test(
    X: Any,
    Y: Any,
    *,
    given: Any = ...,
    given_method: str = ...,
    x_given_z: Any = ...,
    regressor: Any = ...,
    estimator: Any = ...,
    kernel_x: Any = ...,
    kernel_y: Any = ...,
    bandwidth_x: Any = ...,
    bandwidth_y: Any = ...,
    scale: Any = ...,
    form: str = ...,
    n_resamples: float = ...,
    alpha: float = ...,
    stopping: Any = ...,
    blocks: Any = ...,
    groups: Any = ...,
    block_length: Any = ...,
    lags: Iterable[int],
    permutations: Any = ...,
    column_types: Any = ...,
    transform: Any = ...,
    nan_policy: str = ...,
    rng: Any = ...,
    workers: Any = ...,
    progress: bool = ...,
    gram: str = ...,
    rank: int | None = ...,
    max_memory: float | None = ...,
    store: Any = ...,
) -> MultipleTestsResult: ...
@hinted
@documented
def independence_test(
    X: Any,
    Y: Any,
    *,
    given: Any = None,
    given_method: str = "auto",
    x_given_z: Any = None,
    regressor: Any = None,
    estimator: Any = "kme",
    kernel_x: Any = "gaussian",
    kernel_y: Any = "gaussian",
    bandwidth_x: Any = "median",
    bandwidth_y: Any = "median",
    scale: Any = "auto",
    form: str = "auto",
    n_resamples: float = 999,
    alpha: float = 0.05,
    stopping: Any = None,
    blocks: Any = None,
    groups: Any = None,
    block_length: Any = None,
    lags: Any = None,
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
) -> TestResult | MultipleTestsResult:
    """Test whether two variables are independent (kernel HSIC test).

    Parameters
    ----------
    X, Y : array_like, shape (n, p) and (n, q), or (n,)
        The variables, observed together in every row: arrays, tables or batches, as in
        :func:`two_sample_test`.
    given : array_like, shape (n,) or (n, d), optional
        Conditioning variables: the test then asks whether X and Y are conditionally independent.
        ``result.method`` and ``result.assumption`` name the method and its assumption
        (:doc:`/given`).
    x_given_z : callable, optional
        A function ``(Z, rng) -> X`` that draws X from the conditioning variables, row by row, with
        all randomness from ``rng``.  The test is exact if it draws from the conditional
        distribution.
    estimator
        Here it estimates the mean of the products of the centered features of X and Y: "kme" gives
        HSIC, whereas "scose" and "fcose" (or "skmse" and "fkmse") are the shrinkage estimators
        S-COSE and F-COSE of the cross-covariance operator.
    kernel_x, kernel_y : str, Kernel or callable, or list of these, default "gaussian"
        One kernel per variable, as ``kernel`` in :func:`two_sample_test`.  Every candidate for X is
        combined with every candidate for Y.
    bandwidth_x, bandwidth_y : float, str, tuple, array or dict, or list of these, default "median"
        One bandwidth per variable, as ``bandwidth`` in :func:`two_sample_test`.
    form : {"auto", "biased", "unbiased"}, default "auto"
        "biased" ("auto") is the squared norm of the estimate, whereas "unbiased" is available only
        for the plain and marginalized means.
    block_length
        "whole" shifts Y in time relative to X.
    lags : iterable of int, optional
        For time series with ``block_length="whole"``: test every lag, such as ``range(-5, 6)``.  At
        lag k, row t of X is paired with row t + k of Y.
    nan_policy
        "indicator" applies to X and Y, but not to ``given``.
    rank
        The default is 100 per variable, but 50 for data in batches.
    workers
        For data in batches it may be an executor or a dask client.

    Returns
    -------
    TestResult
        As in :func:`two_sample_test`, but with a single estimate, that of the mean described under
        ``estimator``.  If ``lags`` are passed, it is a :class:`~shrinktest.MultipleTestsResult`,
        with a p-value for all lags together and one per lag.

    See Also
    --------
    TestResult.effect : Strength of the dependence, with an interval.
    independence_matrix : Columns that depend on each other, possibly given all others.
    joint_independence_test : Joint independence of three or more variables.
    equivalence_test : Whether two variables are practically independent.
    closer_test : On which of two variables a third depends more.
    solve_sample_size : Number of observations that a test needs.

    Notes
    -----
    HSIC = tr(Kc Lc) / n^2, with centered Gram matrices, is the biased form ([X20] (32), (33),
    erratum E25 in :doc:`/errata`), whereas the unbiased form is due to [Song12].  Other estimators
    are fitted to the Gram matrix Kc o Lc of the centered pairs ([M14] section 4.4), anew for every
    permutation (:doc:`/theory`).

    The test is exact if the rows of Y are exchangeable under the null hypothesis (within blocks, or
    as whole groups).  If ``block_length`` is used, it is exact for shifted periodic series, but
    approximate for other stationary ones (:doc:`/change`); if ``given`` is used, it is exact for
    strata or a true model of X, and otherwise approximate (:doc:`/given`).  :doc:`/estimators`
    lists the statistics of "auto", and :doc:`/large` describes tests of data in batches.

    References
    ----------
    .. [M14] Muandet et al., "Kernel mean estimation and Stein effect", ICML, 2014.
    .. [Song12] Song et al., "Feature selection via dependence maximization", JMLR 13, 2012.
    .. [X20] Xia et al., "Kernel mean estimation by marginalized corrupted distributions",
       arXiv:2107.04855, 2021.

    Examples
    --------
    >>> from shrinktest import independence_test
    >>> from shrinktest.datasets import load_eckerle4
    >>> data = load_eckerle4()
    >>> result = independence_test(data.wavelength, data.transmittance, rng=0)
    >>> result.pvalue
    0.006

    Two variables that depend on each other only through a third:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=100)
    >>> X, Y = Z + rng.normal(size=(2, 100))
    >>> independence_test(X, Y, rng=0).pvalue, independence_test(X, Y, given=Z, rng=0).pvalue > 0.05
    (0.001, True)
    """
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
    require_values(block_length, kernel_x, kernel_y)
    specs = [
        KernelSpec(kernel_x, bandwidth_x, "kernel_x"),
        KernelSpec(kernel_y, bandwidth_y, "kernel_y"),
    ]
    reading = {"scale": scale, "nan_policy": nan_policy, "column_types": column_types}
    design = {
        "blocks": blocks,
        "groups": groups,
        "block_length": block_length,
        "transform": transform,
    }
    method = {"given_method": given_method, "x_given_z": x_given_z, "regressor": regressor}
    if given is None:
        refuse_without("given", **method)
    if in_batches(X, Y):
        from shrinktest.on_disk.two_passes import OnDiskTest

        refused = {**design, "given": given, "lags": lags, "permutations": permutations}
        on_disk = OnDiskTest(estimator, specs, settings, rng, refused, **reading)
        X, Y = on_disk.in_memory((X, Y), ("X", "Y"))
        if in_batches(X, Y):
            return on_disk.run_pairs(X, Y)
    hypothesis: Independence
    if given is not None:
        hypothesis = read_given(
            X,
            Y,
            given,
            own=permutations,
            combined=asks_for_none(estimator, specs),
            kernels=kernels_for(estimator, specs),
            **method,
            **reading,
            **design,
        )
    else:
        hypothesis = Independence.read(X, Y, own=permutations, **reading, **design)
    if lags is not None:
        from shrinktest.lags import run_lags

        return run_lags(hypothesis, lags, estimator, specs, settings, rng)
    return run(hypothesis, estimator, specs, settings, rng)
