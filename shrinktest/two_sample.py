"""Do two samples come from one distribution?  ``two_sample_test``."""

from __future__ import annotations

from typing import Any

from shrinktest._check import NAN_POLICIES, choice
from shrinktest._hints import hinted
from shrinktest._names import two_names
from shrinktest._read import XY
from shrinktest.batches.recognized import in_batches
from shrinktest.hypotheses.base import Hypothesis, require_values
from shrinktest.hypotheses.equality import TwoEqualDistributions
from shrinktest.hypotheses.settings import Settings
from shrinktest.multiple.collection import Asked, asks_for_none
from shrinktest.multiple.run import run
from shrinktest.results.result import TestResult


@hinted
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
    shift: Any = None,
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
    """p-value for the hypothesis that two samples have the same distribution: a kernel permutation test (MMD).

    Parameters
    ----------
    X, Y : array_like, shape (m, d) and (n, d), or (m,) and (n,)
        The samples, one row an observation.  Tables (pandas, polars, pyarrow) are matched by column name and may hold
        numbers, True and False, text and categories, dates and times (see the notes).  With more rows than memory:
        paths of files, such as ``"before/*.parquet"``, collections of dask, lazy frames of polars, datasets of pyarrow,
        or :class:`~shrinktest.Batches`.
    names : tuple of str, optional
        What results, pictures, notes and errors call the samples, such as ``("before", "after")``; default X and Y.
    covariates : pair of array_like, (m, p) and (n, p), optional
        Other variables of the rows of X and of Y, which are not tested: is there a difference that these do not
        explain?  The result says how they were taken into account (``result.method``) and what must be true for that
        (``result.assumption``).
        ``nan_policy`` is for their missing values, too ("indicator" only beside probabilities that are known), and
        ``column_types`` for their columns; a column that X and Y have as well must be dropped there, and is still
        taken into account.
    covariate_method : {"auto", "strata", "residuals", "propensity"}
        "strata": only rows with the same covariates (and the same block) are permuted, which is exact; "auto" takes
        this if all columns are text, categories, or True and False.  "residuals": the label of the sample and the
        values are tested for independence given the covariates, as by :func:`independence_test` with ``given``; "auto"
        takes this for numbers.  "propensity": rows change samples at random, with the probabilities in ``propensity``.
    propensity : array_like, optional
        The known probability of every row to be in Y, given as ``blocks`` are, with which the test is exact.
    estimator : str, MeanEstimator or callable, list of these, Collection or "auto", default "kme"
        How the kernel means are estimated: a name (``shrinktest estimators`` lists them), an estimator such as
        ``FKMSE(lam_cov=0.3)``, or a function from a Gram matrix to weights.  Several are combined into one test; "auto"
        is the recommended combination, with kernels of its own (see the notes).
    kernel : str, Kernel or callable, or list of these, default "gaussian"
        A name (see :func:`~shrinktest.kernels.as_kernel`), such as "gaussian", "whitened" or "energy", a kernel object,
        or a function ``(X, Y) -> Gram matrix``.
    bandwidth : float, "median", "neighbours", multiple of these, tuple, array or dict, list of these, or "grid"
        For kernels given by name; "median": its square is the median squared distance of the pooled sample;
        "neighbours": the median distance to the nearest tenth; "0.5 * median": half of that length.  A tuple or an
        array holds one number per column, a dict or a series has them by the names of columns, a list holds candidates
        to combine, and "grid" stands for five from narrow to wide (:func:`~shrinktest.kernels.bandwidth_grid`).
    scale : {"auto", None, "sd", "mad", "rank", "deviation"}, sequence or dict
        Units of the columns: their standard deviation, or median absolute deviation, in the pooled sample; "rank"
        replaces every column by its mid-ranks over their number, "deviation" by its distances from the median over
        their mean: in samples of one size with symmetric data a shift is then not seen, otherwise it is; a sequence has
        a number or a name for every column, a dict for columns by name ("sd" for others), and names beside other names
        or numbers are units in which a typical column has standard deviation 1, as with "sd".  Units are found without
        labels, so that the level stays exact.  "auto" is "sd" for tables and None (columns as they are) for arrays.  A
        column with one value only has no weight, and a note says so.
    column_types : dict, optional
        How to read columns, by their names (of arrays, by their numbers), where their type in a table does not tell:
        "number", "category", "boolean", "ordered", "date", a list of levels in their order, or "drop".
    transform : transformer or callable, optional
        A scikit-learn transformer, or a function, which turns all rows together into numbers before anything else; it
        is given no labels, so that the level stays exact.
    form : {"auto", "biased", "unbiased"}
        "biased": the squared distance of the two estimates (V form).  "unbiased" (U form): the same with the bias of
        the squared norms removed.  "auto": unbiased when the sizes differ, where the V form favours one direction of a
        change of scale; biased otherwise.
    n_resamples : int or inf, default 999
        Number of random permutations.  All splits are enumerated instead where there are no more than this.
    alpha : float, default 0.05
        Level at which the result decides; the p-value does not depend on it.
    stopping : {None, "besag-clifford", "curtailed"} or Stopping
        When to draw fewer than ``n_resamples``.  "besag-clifford": stop after 20 exceedances (``BesagClifford(h=...)``
        for another number); the p-value is still exact, and takes few draws where it is large.  "curtailed": stop as
        soon as it is certain whether all of them would reject at ``alpha``; the decision is the same, and the p-value
        of the draws so far is valid (:class:`Curtailed`).  No effect where all splits are enumerated.
    blocks : array_like, optional
        A label for every observation, as one vector for X and then Y or as a pair ``(those of X, those of Y)``.
        Observations are permuted within their block only, so that differences between blocks do not count.
    paired : bool, default False
        Row i of X and row i of Y are a pair; only the two rows of a pair are exchanged.
    groups : array_like, optional
        A label for every observation, as ``blocks``.  The observations of a group (a cluster), which must all be in one
        sample, are permuted together; groups change places with groups of as many observations, and with
        ``blocks`` within their block.
    shift : {None, "stretches", "circular"} or int
        For two stretches of one series, X before Y and rows in order of time, that depend on each other.  A number:
        stretches of so many successive rows change samples.  "stretches": their length is chosen from the correlation
        of successive rows, so that the variance of the mean, computed from shuffled stretches, is at least 95 % of what
        it is in the series, where that is long enough.  "circular": the labels are shifted along the series, whose end
        is joined to its start.  With ``blocks`` each block is a series.
    permutations : Permutations, optional
        Permutations of your own, a subclass of :class:`~shrinktest.Permutations`, instead of those that the test draws:
        for data whose distribution is unchanged by other permutations.  Not beside blocks, pairs, groups and shifts.
    nan_policy : {"raise", "omit", "indicator", "propagate"}
        What to do with missing values: an error; drop their rows (with their labels; both rows of a pair), and say how
        many; use as information that they are missing (an indicator, with the pooled median in their place; of a pair
        with a missing value, the other value is not compared either); or a result of NaN.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Seed or source of the permutations.
    workers : int or executor, optional
        Threads; default all usable cores.  The result is the same for any number.  For samples in batches also
        whatever has ``submit`` or ``map``, such as an executor of ``concurrent.futures`` or a
        ``dask.distributed.Client``, which then reads them.
    progress : bool, default False
        Show a progress bar.
    gram : {"auto", "dense", "factor", "nystrom", "rff"}
        How the kernel is evaluated.  "dense": the Gram matrix, or tiles of it that are never stored if it does not fit
        ``max_memory``.  "factor": a pivoted Cholesky factor that reproduces it up to rounding; time and memory are then
        linear in the sizes.  "auto": one of these, which give the same p-value.  "nystrom", "rff": ``rank`` coordinates
        from random landmarks or random Fourier features; the permutation test of that approximate statistic is still
        exact.  All but "dense" need an estimator that works without the Gram matrix: not your own, nor a marginalised
        one that tunes its noise in every permutation.
    rank : int, optional
        Coordinates of the approximation at most (default 1000): landmarks that add nothing are left out, and "rff"
        takes an even number, 2 at least.  For "factor", the rank at which it is truncated.
    max_memory : float, optional
        Bytes that the kernel's values may take; default a quarter of what is free.
    store : path, optional
        For samples in batches: a file that keeps what has been found so far.  A run that was killed goes on from there
        when it is started again, with the same data, seed and arguments, and has the same result.

    Returns
    -------
    TestResult
        ``statistic, pvalue = result`` works; ``print(result.summary())`` shows all.  An
        :class:`~shrinktest.AggregateResult` for several estimators, kernels or bandwidths: ``result.table`` has a row
        for each, with its p-value adjusted for there being several.

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
    compare : Which columns of two tables changed, and by how much.
    TestResult.effect : How large the difference is, with an interval.
    two_sample_test_columns : In which columns the samples differ.
    k_sample_test : Whether three samples or more differ.
    equivalence_test : Whether the samples are practically the same, which a large p-value does not show.
    change_point_test : When a series changes, where the time of the change is not known.
    closer_test : Which of two samples is nearer to a third.
    solve_sample_size : How many observations a test needs.

    Notes
    -----
    The level is exact for every estimator: what is computed once does not depend on the labels, everything else is
    computed again for every permutation, ties count as exceedances, and the observed data are one of the permutations.
    Statistic: [M14] section 2 with the weights of the estimator; for the marginalised means [X20] (30).

    The U form replaces the squared norm w'Kw of an estimate with weights w by w'Kw - sum_i w_i^2 (K_ii - A), with A the
    mean of the off-diagonal entries of K: the difference estimates sum_i w_i^2 (E k(x, x) - |mu|^2), the bias for
    independent points.  For equal weights this is the unbiased statistic of [G12].

    With ``blocks``, ``paired`` or ``groups`` the statistic is the same and there are fewer permutations: those under
    which the data have the same distribution if the samples do not differ.  The level is exact where, under the null
    hypothesis, the observations of a block are exchangeable; the two of every pair; or the groups of one size (and
    block), given their sizes, whatever the dependence within them.  It is an error if the permutations left are too few
    to reject at ``alpha``: .05 takes 20, such as those of 6 pairs.

    ``shift`` is for stationary series.  Stretches of them are nearly exchangeable when they are long compared with the
    range of the dependence; a note says where they are too short, and where rows that are permuted one by one look as
    if they depended on each other.  Circular shifts keep the dependence but for the place where the end of the series
    meets its start, and are exact for periodic series; they reject too often in series that are short for their memory,
    of which there is a note, too, and detect large differences only, because labels that are shifted a little are
    nearly the same.  The page on changes has the levels.

    With ``covariates`` that are numbers the result is that of :func:`independence_test` of the pooled rows and the
    label of their sample, given the covariates: it has no witness function and no effect.  With ``propensity``, sets of
    n rows are drawn as the second sample with probability proportional to the product of the odds of their rows
    ([R84]).  Kernels then compare the residuals of X and Y after a kernel ridge regression on the covariates, which is
    given no labels; the level does not depend on how well it fits.

    Samples in batches (paths of files, or :class:`~shrinktest.Batches`) that fit in memory, with a sixteenth of
    ``max_memory`` for their rows, are read whole, and tested as they would be there. With ``gram="rff"`` or "nystrom",
    or a kernel of finite rank, they are of any size, and take estimators that work on features, lists of them, of
    kernels and of bandwidths, and "auto", all from one reading; one ``scale`` for all columns, or numbers, and for
    tables with other columns than numbers also a dict; ``nan_policy`` "raise", "omit" or "indicator"; and no
    restrictions. Bins of their rows are permuted. What kernels and units take
    from the data is computed from a random sample of the rows, except for standard deviations.  If more than a tenth of
    the pairs of rows in that sample are equal, another reading gives every value its share, rare values included.

    Several estimators, kernels or bandwidths: every statistic becomes a p-value, that of a gamma distribution with the
    moments of the statistic over the same permutations; the smallest one (over the weight of the member) is taken in
    every permutation, and that of the data ranked among them, so that the overall p-value is exact however many there
    are, and however near the gamma distributions.  Of fewer than a hundred permutations, ranks take their place.

    Columns of tables become numbers by their type, from all rows and without labels.  Numbers, dates (in days), times
    of day (in hours) and ordered categories (their position) are one column each, in units of their standard deviation
    unless ``scale`` says otherwise.  A category, or True and False, has an indicator for every level: the squared
    distance of two levels is 2, which is that of two numbers in these units on average.  Columns that identify rows
    are not tested, and a note says so: whole numbers that have no name, count the rows, or differ in every row and are
    the same in all samples; text that differs in every row of every sample, one of which has more than 10 rows, or in
    all rows together.  So are they where some of their values are missing: at least half of each sample must be known
    (nine in ten rows where numbers are the same in all samples).  Text with too many different values is an error, also
    text with blanks that differs in every row, and text of which at least 90% looks like numbers or ISO dates.

    Values of a column that agree up to rounding, such as 0.1 + 0.2 and 0.3, are equal.  If one sample has float32
    numbers, the numbers of the other are rounded to float32.

    ``estimator="auto"`` combines, whatever the data, eight statistics of the standard mean.  With bandwidths from
    the median: of the Gaussian kernel with twice the median (weight 25), whitened (10), of ranks (9), of
    :class:`SecondOrder` with twice the median (2.5), and of deviations from the median of a column (2).  With the
    bandwidth of near neighbours: of :class:`Depth` (2), of the Gaussian kernel (4), and whitened, with half of it (4);
    the last two weights grow with the rows, from 100 of both samples to 24 at 600.  Members whose Gram matrix does
    not fit into ``max_memory`` are left out, and a note says so.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import two_sample_test
    >>> rng = np.random.default_rng(1)
    >>> X, Y = rng.normal(size=(30, 5)), 1.5 * rng.normal(size=(30, 5))
    >>> result = two_sample_test(X, Y, rng=0)
    >>> result.pvalue
    0.007

    With shrinkage, and with several kernels combined:

    >>> two_sample_test(X, Y, estimator="fkmse", rng=0).pvalue
    0.006
    >>> two_sample_test(X, Y, estimator="auto", rng=0).pvalue
    0.001

    Before and after, in the same 30 patients:

    >>> before = 5.0 * rng.normal(size=(30, 1)) + rng.normal(size=(30, 2))
    >>> after = before + rng.normal(0.6, 1.0, size=(30, 2))
    >>> two_sample_test(before, after, rng=0).pvalue, two_sample_test(before, after, paired=True, rng=0).pvalue
    (0.944, 0.044)
    """
    called = () if names is None else two_names(names)
    batched = in_batches(X, Y)
    settings = Settings.read(
        form=form, n_resamples=n_resamples, alpha=alpha, stopping=stopping, workers=workers,
        progress=progress, gram=gram, rank=rank, max_memory=max_memory, store=store, batched=batched,
    )  # fmt: skip
    require_values(shift, kernel)
    if batched:
        from shrinktest.multiple.whole import in_memory

        X, Y = in_memory((X, Y), called or XY, estimator, [Asked(kernel, bandwidth)], settings, column_types)
        batched = in_batches(X, Y)
    design = {"blocks": blocks, "paired": paired, "groups": groups, "shift": shift, "own": permutations}
    told = {"scale": scale, "column_types": column_types, "transform": transform, "called": called}
    choice(covariate_method, ("auto", "strata", "residuals", "propensity"), "covariate_method")
    if covariates is None and (covariate_method != "auto" or propensity is not None):
        from shrinktest.hypotheses.given import refuse_without

        refuse_without("covariates", covariate_method=covariate_method, propensity=propensity)
    if batched and covariates is not None:
        raise ValueError("covariates= takes all rows at once, and is not for samples in batches; leave it out")
    if batched:
        from shrinktest.multiple.binned import run_binned

        return run_binned(
            (X, Y), called or XY, estimator, Asked(kernel, bandwidth), settings, rng,
            two=True, called=called, scale=scale, nan_policy=nan_policy, column_types=column_types,
            refused={"blocks": blocks, "paired": paired, "groups": groups, "shift": shift, "permutations": permutations,
                     "transform": transform},
        )  # fmt: skip
    choice(nan_policy, NAN_POLICIES, "nan_policy")
    asked = [Asked(kernel, bandwidth)]
    hypothesis: Hypothesis
    if covariates is not None:
        from shrinktest.hypotheses.given import read_covariates

        hypothesis = read_covariates(
            X, Y, covariates, covariate_method=covariate_method, propensity=propensity, nan_policy=nan_policy,
            combined=asks_for_none(estimator, asked), **told, **design,
        )  # fmt: skip
        if len(hypothesis.variables) > 1:  # the second is the label of the sample
            asked.append(Asked("linear" if asked[0].given() else "gaussian", "median"))
    else:
        hypothesis = TwoEqualDistributions.read(X, Y, nan_policy=nan_policy, **told, **design)
    return run(hypothesis, estimator, asked, settings, rng)
