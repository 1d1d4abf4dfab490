"""Does a series change, and where?  ``change_point_test``."""

from __future__ import annotations

from typing import Any

from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest.hypotheses.base import require_values
from shrinktest.hypotheses.change import NoChange
from shrinktest.hypotheses.place import of_place
from shrinktest.hypotheses.settings import Settings
from shrinktest.multiple.collection import Asked
from shrinktest.multiple.run import run
from shrinktest.results.change import AggregateChangeResult, ChangeResult


@hinted
@documented
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
    """Test whether a series changes, and locate the change with a confidence interval.

    Parameters
    ----------
    X : array_like, shape (n, d) or (n,)
        Rows in order of time: an array, or a table, whose columns that tell the time are not tested (:doc:`/change`).
    change : {"single", "epidemic"}, default "single"
        "single" is one change point.  "epidemic" is an interval whose rows differ from those before and after it.
    estimator : str or MeanEstimator, list of these, Collection or "auto", default "kme"
        "kme", or a marginalized mean whose noise is fixed or pooled, whose distances are known for every change point
        from sums of kernel values.  Several are combined, as in :func:`two_sample_test`.
    form : {"auto", "unbiased"}, default "auto"
        Always unbiased.

    Returns
    -------
    ChangeResult
        ``result.location`` is the first row after the change, ``result.interval`` its confidence interval;
        ``result.plot()`` shows both.  An :class:`~shrinktest.AggregateChangeResult` for several estimators, kernels or
        bandwidths.

    See Also
    --------
    change_points : Several changes.
    two_sample_test : Whether the rows before and after a known time differ, and by how much.
    equivalence_test : Whether they are practically the same.
    independence_test : Whether one series depends on another, at several lags.
    solve_sample_size : Number of rows that a test needs.

    Notes
    -----
    The statistic is the largest unbiased squared distance between the rows before and after a change point,
    standardized by its exact standard deviation over all orders of the rows: the statistic of Song and Chen (2022,
    arXiv:2206.01853) with weights of least variance.  The test is exact if, without a change, rows are exchangeable
    (within blocks).  For autocorrelated rows use ``shift``, which is approximate (:doc:`/change`).

    The interval contains the locations that a test of "the change is here" does not reject.  With ``shift="circular"``
    intervals and epidemic changes need ``blocks`` whose rows alternate.

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
