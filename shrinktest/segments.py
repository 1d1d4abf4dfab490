"""At which rows does a series change?  ``change_points``."""

from __future__ import annotations

from typing import Any

from shrinktest._check import count
from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest.hypotheses.base import require_values
from shrinktest.hypotheses.change import NoChange
from shrinktest.hypotheses.place import of_place
from shrinktest.hypotheses.settings import Settings
from shrinktest.multiple.collection import Asked
from shrinktest.multiple.segmentation import segmented
from shrinktest.results.change import ChangesResult


@hinted
@documented
def change_points(
    X: Any,
    *,
    n_changes: int | None = None,
    trim: float = 0.05,
    confidence: float | None = 0.95,
    times: Any = None,
    estimator: Any = "kme",
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    scale: Any = "auto",
    n_resamples: float = 999,
    alpha: float = 0.05,
    stopping: Any = None,
    blocks: Any = None,
    shift: Any = None,
    column_types: Any = None,
    transform: Any = None,
    nan_policy: str = "raise",
    rng: Any = None,
    workers: int | None = None,
    progress: bool = False,
    gram: str = "auto",
    rank: int | None = None,
    max_memory: float | None = None,
) -> ChangesResult:
    """Find all change points of a series, with confidence intervals and adjusted p-values.

    Parameters
    ----------
    X : array_like, shape (n, d) or (n,)
        Rows in order of time, as in :func:`change_point_test`.
    n_changes : int, optional
        Largest number of changes; default all that are found.
    estimator : str or MeanEstimator, list of these, Collection or "auto", default "kme"
        As in :func:`change_point_test`.
    alpha : float, default 0.05
        Significance level of all tests together.

    Returns
    -------
    ChangesResult
        ``result.locations``, ``result.adjusted``, ``result.intervals``, ``result.table``, ``result.plot()``.

    See Also
    --------
    change_point_test : One change, or an epidemic one, with an exact p-value.
    k_sample_test : Whether segments that are known beforehand differ.
    two_sample_test : Whether two of them differ, and by how much.

    Notes
    -----
    The series is tested as by :func:`change_point_test`, also within seeded intervals, in which changes that cancel
    show.  If the test rejects, the series is cut, and both segments are tested in the same way.  The p-value of the
    whole series is exact; those of segments, whose ends were chosen by the data, are adjusted for all tests but
    approximate (:doc:`/change`).

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import change_points
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 2)) + np.repeat([0.0, 3.0, 0.0], 50)[:, None]
    >>> result = change_points(X, rng=0)
    >>> result.table[["location", "low", "high", "adjusted"]]
       location  low  high  adjusted
    0        50   50    50    0.0010
    1       100  100   100    0.0015
    """
    settings = Settings.read(
        form="auto", n_resamples=n_resamples, alpha=alpha, stopping=stopping, workers=workers,
        progress=progress, gram=gram, rank=rank, max_memory=max_memory,
    )  # fmt: skip
    told = {"nan_policy": nan_policy, "scale": scale, "column_types": column_types, "transform": transform}
    require_values(shift, kernel)
    hypothesis = NoChange.read(
        X, trim=trim, blocks=blocks, shift=shift, times=times,
        confidence=of_place(confidence), **told,
    )  # fmt: skip
    most = None if n_changes is None else count(n_changes, "n_changes", minimum=1)
    return segmented(hypothesis, estimator, Asked(kernel, bandwidth), settings, rng, most)
