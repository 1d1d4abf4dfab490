"""Are two variables independent?  ``independence_test``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, overload

from shrinktest._hints import hinted
from shrinktest.batches.recognized import in_batches
from shrinktest.hypotheses.given import read_given, refuse_without
from shrinktest.hypotheses.independence import Independence
from shrinktest.hypotheses.settings import Settings
from shrinktest.multiple.collection import Asked, asks_for_none
from shrinktest.multiple.run import run
from shrinktest.results.lags import LagsResult
from shrinktest.results.result import TestResult


@overload
def independence_test(
    X: Any, Y: Any, *, given: Any = ..., given_method: str = ..., x_given_z: Any = ..., regressor: Any = ...,
    estimator: Any = ..., kernel_x: Any = ..., kernel_y: Any = ..., bandwidth_x: Any = ..., bandwidth_y: Any = ...,
    scale: Any = ..., form: str = ..., n_resamples: float = ..., alpha: float = ..., stopping: Any = ...,
    blocks: Any = ..., groups: Any = ..., shift: str | None = ..., lags: None = ..., permutations: Any = ...,
    column_types: Any = ..., transform: Any = ..., nan_policy: str = ..., rng: Any = ..., workers: Any = ...,
    progress: bool = ..., gram: str = ..., rank: int | None = ..., max_memory: float | None = ..., store: Any = ...,
) -> TestResult: ...  # fmt: skip
@overload
def independence_test(
    X: Any, Y: Any, *, given: Any = ..., given_method: str = ..., x_given_z: Any = ..., regressor: Any = ...,
    estimator: Any = ..., kernel_x: Any = ..., kernel_y: Any = ..., bandwidth_x: Any = ..., bandwidth_y: Any = ...,
    scale: Any = ..., form: str = ..., n_resamples: float = ..., alpha: float = ..., stopping: Any = ...,
    blocks: Any = ..., groups: Any = ..., shift: str | None = ..., lags: Iterable[int], permutations: Any = ...,
    column_types: Any = ..., transform: Any = ..., nan_policy: str = ..., rng: Any = ..., workers: Any = ...,
    progress: bool = ..., gram: str = ..., rank: int | None = ..., max_memory: float | None = ..., store: Any = ...,
) -> LagsResult: ...  # fmt: skip
@hinted
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
    shift: str | None = None,
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
) -> TestResult | LagsResult:
    """p-value for the hypothesis that two variables are independent: a kernel permutation test (HSIC).

    Parameters
    ----------
    X, Y : array_like, shape (n, p) and (n, q), or (n,)
        The variables, row i of both belonging together.
    given : array_like, shape (n,) or (n, d), optional
        Other variables of the same rows, none of them in X or Y: are X and Y still dependent given these?  The result
        says how they were taken into account (``result.method``) and what must be true for the p-value to be valid
        (``result.assumption``).
    given_method : {"auto", "strata", "residuals", "local"}
        "strata": Y is permuted among rows with the same value of ``given`` (and the same block), which is exact; "auto"
        takes this where all columns are text, categories, or True and False.  "residuals": regressions on ``given``
        leave residuals of X and of Y, and the products of these get random signs; "auto" takes this for numbers.
        "local": the residuals of Y are permuted among neighbouring rows.
    x_given_z : callable, optional
        A function ``(Z, rng) -> X`` that draws row i of X given row i of Z, all randomness from the numpy Generator
        ``rng``: the test is exact if that is the distribution of X given Z (the conditional randomisation test).
    regressor : regressor, optional
        For the regressions: a regressor of scikit-learn's kind, not fitted, which gets arrays, without names of
        columns; default kernel ridge regression.
    estimator : str, MeanEstimator or callable, list of these, Collection or "auto", default "kme"
        How the mean of the centred pair features is estimated: "kme" is HSIC, "skmse" and "fkmse" are the shrinkage
        estimators of the covariance operator S-COSE and F-COSE; see :func:`two_sample_test`.  Several are combined into
        one test; "auto" is the recommended combination, with kernels of its own (see the notes).
    kernel_x, kernel_y : str, Kernel or callable, or list of these, default "gaussian"
        One kernel per variable; every candidate of a list for x is combined with every one for y.
    bandwidth_x, bandwidth_y : float, "median", multiple of it, tuple or array, list of these, or "grid"
        One bandwidth per variable, so that the test does not depend on units; as in :func:`two_sample_test`, a list
        holds candidates.
    scale : {"auto", None, "sd", "mad", "rank", "deviation"}, list or dict
        Units of the columns, as in :func:`two_sample_test`: a name for both variables, a list with one entry for each
        (a name, None, or one number for every column), or a dict by the names of columns.
    column_types, transform
        As in :func:`two_sample_test`; each variable is transformed by itself, and ``transform`` may be a list of two.
    form : {"auto", "biased", "unbiased"}
        "biased" ("auto"): the squared norm of the estimate.  "unbiased": for the standard and the marginalised means.
    blocks : array_like, shape (n,), optional
        A label for every pair; the rows of Y are permuted within their block only, so that differences between blocks,
        in both variables, do not count as dependence.
    groups : array_like, shape (n,), optional
        A label for every pair; the rows of Y of one group (a cluster, a short series) move together, in their order, to
        another group of as many pairs, with ``blocks`` in the same block.  Where ``nan_policy="omit"`` left out rows of
        groups, these move only to groups of their size that kept the same rows (the first and the third, say).
    shift : {None, "circular"}
        For time series, rows in order of time: Y is shifted by 0 to n - 1 steps, and what leaves at the end comes back
        at the start.  With ``blocks``, every block is a series that is shifted by itself.
    lags : sequence of int, optional
        For time series, with ``shift="circular"``: a test at every lag, such as ``range(-5, 6)``.  At lag k, row t of X
        meets row t + k of Y.  The result has one p-value for all lags together, and one for each lag, adjusted for
        their number.
    permutations : Permutations, optional
        Permutations of your own, a subclass of :class:`~shrinktest.Permutations`, instead of those that the test draws:
        for data whose distribution is unchanged by other permutations.
    n_resamples, alpha, stopping, nan_policy, rng, workers, progress, store
        As in :func:`two_sample_test`; all n! permutations (or those that are allowed) are enumerated where there are no
        more than ``n_resamples``.  ``nan_policy="indicator"`` is for missing values of X and Y, and not of ``given``;
        rows that miss values of both are then a dependence, also if chance alone says which rows these are.
    gram, rank, max_memory
        As in :func:`two_sample_test`, for both kernels; an approximation has 100 coordinates unless ``rank`` says more.

    Returns
    -------
    TestResult
        Its one estimate is the embedding of the centred pairs, points (n, p + q).  An
        :class:`~shrinktest.AggregateResult` for several estimators, kernels or bandwidths.  A
        :class:`~shrinktest.LagsResult` with ``lags``.

    Raises
    ------
    ValueError, TypeError
        For input that cannot be tested; the message names the argument and says what to do.
    MemoryError
        If the kernels' values would not fit ``max_memory``; says how much they take, and what fits.

    Warns
    -----
    UserWarning
        When there are too few permutations to reject at ``alpha``.

    See Also
    --------
    TestResult.effect : How strong the dependence is, with an interval.
    independence_matrix : Which columns of a table depend on each other, also given the other columns.
    joint_independence_test : Whether three variables or more are independent all together.
    equivalence_test : Whether two variables are practically independent.
    closer_test : On which of two variables a third depends more.
    solve_sample_size : How many observations a test needs.

    Notes
    -----
    HSIC = tr(Kc Lc) / n^2 with centred Gram matrices is the V form ([X20] (32), (33), which the paper calls unbiased:
    erratum E25); the unbiased one is that of [Song12].  Other estimators are applied to the Gram matrix Kc o Lc of the
    centred pairs ([M14] section 4.4, COSE) and fitted again for every permutation.

    With ``blocks`` or ``groups`` the level is exact where, if the variables are independent (within blocks), the rows
    of Y of a block are exchangeable, or the groups of one size, each as a whole.  With ``shift`` it is exact where Y is
    independent of X and a circular shift does not change the distribution of Y, whatever that of X: a stationary
    periodic series observed over whole periods, or independent observations.  For any other stationary series the level
    is approximate, because the end does not join the start; the error is small when the series is long compared with
    the range of its dependence, and a note in the result says when it may not be.  A trend, or another lack of
    stationarity, is not covered.  It is an error if so few permutations are allowed that the test could never reject at
    ``alpha``.

    With ``lags``, the rows of Y are rolled, so that at lag k the last k rows of one series meet the first of the other.
    All lags then have the same null distribution over shifts, so that the test of the largest statistic, and the
    p-values adjusted by the step-down method of Westfall and Young, are as exact as the test of one lag.

    With ``given``, no test holds its level for all distributions, unless Z has few values or a model of X given Z is
    known ([SP20]).  What each method assumes is in the result, and the levels that were measured are on the page on
    levels given Z.  "residuals": kernel ridge regressions, tuned by leaving one row out in closed form, leave residuals
    of X and Y, on which the kernels work; the features of these are regressed on Z in the same way.  The statistic is
    the squared norm of the mean of the products of both residuals, as in [ZPJS11] and [SP20]; its null distribution
    comes from random signs of the products, with ``groups`` one sign for every group.  Residuals share the noise of the
    regressions, so that the statistic is larger by a factor that is known for white noise; statistics with other signs
    are multiplied by it.

    Unless kernels or bandwidths are given, or a collection that has its own, four statistics are combined: "means", of
    products of the residuals, each bent to a bound (share of the level 20); "turning", of these times the columns of Z,
    bent as well (1.5); "squares", of the residuals of one and the squares of the other, less what Z says of these (2);
    and "shapes", of features of Gaussian kernels (1.5).  The test takes the smallest of their chances, each over its
    share, where a chance is that of a gamma distribution with the mean and the variance that the squared norm has over
    all signs.  The p-value comes from random signs of all four at once, and does not rely on that distribution.  With
    kernels that are given there is one statistic, of products of their features and of features of Z (those of a
    Gaussian kernel, and a constant with the same weight).
    "local" is the test of [KNBW22] with residuals in place of the variables.  With ``x_given_z``, Y less its kernel
    ridge regression on Z is compared with X, which is as exact as Y itself.

    Variables in batches (:class:`~shrinktest.Batches` with ``columns`` of one source, or two sources whose rows belong
    together) that fit in memory are read whole, as in :func:`two_sample_test`. They are of any size, and of as many
    rows each, with ``gram="rff"`` or "nystrom" (50 features of each variable unless ``rank`` says more), or kernels of
    finite rank; "kme" and "skmse", also several and "auto" (with "nystrom"); ``nan_policy`` "raise", "omit" or
    "indicator". In place of all permutations, Y is shifted within blocks of 8 successive pairs, alike in all blocks of
    each of 100 random groups: the level is exact where successive pairs are exchangeable. Sorting the data costs power.
    Do not use this for time series.

    Several estimators, kernels or bandwidths make one exact test, as in :func:`two_sample_test`.  ``estimator="auto"``
    combines, whatever the data, twelve statistics of the standard mean.  Six have one kernel for both variables:
    :class:`Energy` and Gaussian with four times the median bandwidth (weight 9 each), whitened (5), Gaussian with the
    bandwidth of near neighbours (1), :class:`Depth` (1), and :class:`SecondOrder` (0.75).  Six have a narrow kernel for
    one variable and a wide one for the other, which detects curves (1 to 1.5 each).  Where only a linear relation is
    expected, one wide kernel alone has more power: ``kernel_x`` and ``kernel_y`` "energy".

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
        form=form, n_resamples=n_resamples, alpha=alpha, stopping=stopping, workers=workers,
        progress=progress, gram=gram, rank=rank, max_memory=max_memory, store=store, batched=in_batches(X, Y),
    )  # fmt: skip
    asked = [Asked(kernel_x, bandwidth_x, "kernel_x"), Asked(kernel_y, bandwidth_y, "kernel_y")]
    if in_batches(X, Y):
        from shrinktest.multiple.whole import in_memory

        X, Y = in_memory((X, Y), ("X", "Y"), estimator, asked, settings, column_types, work="pairs")
    design = {"blocks": blocks, "groups": groups, "shift": shift, "own": permutations}
    told = {"nan_policy": nan_policy, "scale": scale, "column_types": column_types, "transform": transform}
    if given is None:
        refuse_without("given", given_method=given_method, x_given_z=x_given_z, regressor=regressor)
    if in_batches(X, Y):
        from shrinktest.multiple.pairs import run_pairs

        return run_pairs(
            X, Y, estimator, asked, settings, rng, scale=scale, nan_policy=nan_policy, column_types=column_types,
            refused={"given": given, "blocks": blocks, "groups": groups, "shift": shift, "lags": lags,
                     "permutations": permutations, "transform": transform},
        )  # fmt: skip
    hypothesis: Independence
    if given is not None:
        asked_of_z = {"given_method": given_method, "x_given_z": x_given_z, "regressor": regressor}
        combined = asks_for_none(estimator, asked)
        hypothesis = read_given(X, Y, given, combined=combined, **asked_of_z, **told, **design)
    else:
        hypothesis = Independence.read(X, Y, **told, **design)
    if lags is not None:
        from shrinktest.multiple.lags import run_lags

        return run_lags(hypothesis, lags, estimator, asked, settings, rng)
    return run(hypothesis, estimator, asked, settings, rng)
