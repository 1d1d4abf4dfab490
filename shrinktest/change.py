"""Does a series change, and where?  ``change_point_test``."""

from __future__ import annotations

from typing import Any

from shrinktest._hints import hinted
from shrinktest.hypotheses.base import require_values
from shrinktest.hypotheses.change import NoChange
from shrinktest.hypotheses.place import of_place
from shrinktest.hypotheses.settings import Settings
from shrinktest.multiple.collection import Asked
from shrinktest.multiple.run import run
from shrinktest.results.change import AggregateChangeResult, ChangeResult


@hinted
def change_point_test(
    X: Any,
    *,
    change: str = "single",
    trim: float = 0.05,
    confidence: float | None = 0.95,
    times: Any = None,
    estimator: Any = "kme",
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    scale: Any = "auto",
    form: str = "auto",
    n_resamples: float = 999,
    alpha: float = 0.05,
    stopping: Any = None,
    blocks: Any = None,
    shift: Any = None,
    permutations: Any = None,
    column_types: Any = None,
    transform: Any = None,
    nan_policy: str = "raise",
    rng: Any = None,
    workers: int | None = None,
    progress: bool = False,
    gram: str = "auto",
    rank: int | None = None,
    max_memory: float | None = None,
) -> ChangeResult | AggregateChangeResult:
    """p-value for the hypothesis that a series does not change, and the row of the change with an interval.

    Parameters
    ----------
    X : array_like, shape (n, d) or (n,)
        The rows in order of time; arrays and tables as in :func:`two_sample_test`.  Columns of a table that tell the
        time are not tested, unless ``column_types`` or ``scale`` name them: dates, which must be in order, and numbers
        that count up or down, such as years, row numbers or Unix seconds.
    change : {"single", "epidemic"}
        "single": one cut, with another distribution after it than before.  "epidemic": an interval, with another
        distribution within than outside.
    trim : float, default 0.05
        No cut is made nearer to either end than this share of the rows (and two rows); an interval, and what is outside
        it, holds at least this share.
    confidence : float or None, default 0.95
        Confidence of the interval for the place.  None: it is not computed, which saves time.
    times : array_like, shape (n,), optional
        When the rows were observed: numbers, dates or texts, which must increase.  They name the place and change
        nothing else; default the dates in the index of a pandas table.
    estimator : str or MeanEstimator, list of these, Collection or "auto", default "kme"
        "kme", or a marginalised mean whose noise is fixed or pooled: estimators whose distances are sums of kernel
        values for every cut.  Several are combined; "auto" is the combination of :func:`two_sample_test`.
    kernel, bandwidth, scale, column_types, transform
        As in :func:`two_sample_test`.
    form : {"auto", "unbiased"}
        The distance at every cut is the unbiased one.
    n_resamples, alpha, stopping, rng, workers, progress
        As in :func:`two_sample_test`; all n! orders are enumerated where there are no more than ``n_resamples``.
    blocks : array_like, shape (n,), optional
        A label for every row (its weekday, its instrument): rows change places within their block only.
    shift : {None, "stretches", "circular"} or int
        For rows that depend on each other.  A number: stretches of so many successive rows change places.  "stretches":
        their length is chosen from the correlation of successive rows, so that the variance of the mean, computed from
        shuffled stretches, is at least 95 % of what it is in the series, where that is long enough.
        "circular": the series is shifted as a whole, and its end is joined to its start.  With ``blocks``
        each block is a series, and is shifted by itself.  There is no interval for the place, and no epidemic change
        of one series, which would move along with the rows: these take ``blocks`` whose rows take turns.
    permutations : Permutations, optional
        Permutations of your own, orders of the rows.
    nan_policy : {"raise", "omit", "indicator", "propagate"}
        As in :func:`two_sample_test`.
    gram, rank, max_memory
        As in :func:`two_sample_test`.

    Returns
    -------
    ChangeResult
        ``statistic, pvalue = result`` works; ``result.location`` is the first row after the change, ``result.interval``
        its confidence interval, ``result.plot()`` shows both.  An :class:`~shrinktest.AggregateChangeResult` for
        several estimators, kernels or bandwidths.

    Raises
    ------
    ValueError, TypeError
        For input that cannot be tested; the message names the argument and says what to do.
    MemoryError
        If the kernel's values would not fit ``max_memory``.

    Warns
    -----
    UserWarning
        When there are too few orders to reject at ``alpha``.

    See Also
    --------
    change_points : All changes of a series, where there may be several.
    two_sample_test : Whether the rows before and after a known time differ; how large the difference is.
    equivalence_test : Whether they are practically the same.
    independence_test : Whether one series depends on another, at several lags.
    solve_sample_size : How many rows a test needs.

    Notes
    -----
    The statistic is the largest unbiased squared distance of the kernel means before and after a cut, in units of its
    exact standard deviation over all orders of the rows, so that cuts near the ends are not favoured.  It is the same
    as the within-sample statistic with weights of least variance of Song and Chen (2022, arXiv:2206.01853; for graphs
    Chen and Zhang 2015, Annals of Statistics 43, 139-176).  With the Gram matrix a permutation takes one pass over it
    for all cuts, by coordinates time linear in n; intervals take a pass that is ten times slower.

    The p-value is exact where, if nothing changes, the rows are exchangeable (within blocks): independent, for example.
    It is not for rows that depend on each other.  Stretches of a stationary series are nearly exchangeable when they
    are long compared with the range of its dependence, and there are enough of them when the series is much longer
    still; a note says where they are too short.  "circular" shifts keep the dependence but for the place where the end
    meets the start; they are exact for periodic series, detect large changes only, and reject too often in series that
    are short for their memory, of which there is a note, too.

    The interval holds every place that a test of "the change is here" does not reject at level 1 - ``confidence``, and
    those between them.  If there is one change, and the rows on both sides of it are exchangeable, that test is exact,
    and the interval covers the place with at least this probability, if it is no nearer to the ends than ``trim``; in
    long series only some places, evenly spaced, are tried at first.  Where the data choose one of several statistics,
    the tests are at two thirds of that level, which was measured to be enough.  The tests permute rows within both
    sides of the place (with ``blocks`` and ``shift`` as these say).

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import change_point_test
    >>> rng = np.random.default_rng(1)
    >>> X = np.concatenate([rng.normal(size=(60, 2)), 2.0 * rng.normal(size=(60, 2))])
    >>> result = change_point_test(X, rng=0)
    >>> result.pvalue, result.location, result.interval
    (0.001, 60, (56, 61))

    A change that ends again (epidemic):

    >>> X[60:] = rng.normal(size=(60, 2))
    >>> X[40:70] += 1.0
    >>> spell = change_point_test(X, change="epidemic", rng=0)
    >>> spell.pvalue, spell.location, spell.until
    (0.001, 40, 70)
    """
    settings = Settings.read(
        form=form, n_resamples=n_resamples, alpha=alpha, stopping=stopping, workers=workers,
        progress=progress, gram=gram, rank=rank, max_memory=max_memory,
    )  # fmt: skip
    told = {"nan_policy": nan_policy, "scale": scale, "column_types": column_types, "transform": transform}
    require_values(shift, kernel)
    hypothesis = NoChange.read(
        X, change=change, trim=trim, blocks=blocks, shift=shift, times=times, own=permutations,
        confidence=of_place(confidence), **told,
    )  # fmt: skip
    return run(hypothesis, estimator, [Asked(kernel, bandwidth)], settings, rng)  # type: ignore[return-value]
