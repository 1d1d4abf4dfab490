"""At which rows does a series change?  ``change_points``."""

from __future__ import annotations

from typing import Any

from shrinktest._check import count
from shrinktest._hints import hinted
from shrinktest.hypotheses.base import require_values
from shrinktest.hypotheses.change import NoChange
from shrinktest.hypotheses.place import of_place
from shrinktest.hypotheses.settings import Settings
from shrinktest.multiple.collection import Asked
from shrinktest.multiple.segmentation import segmented
from shrinktest.results.change import ChangesResult


@hinted
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
    """All rows at which the distribution of a series changes, with intervals and adjusted p-values.

    Parameters
    ----------
    X : array_like, shape (n, d) or (n,)
        The rows in order of time, as in :func:`change_point_test`.
    n_changes : int, optional
        Stop after so many changes; default all that are found.
    trim, confidence, times
        As in :func:`change_point_test`; the share is of the stretch that is tested.
    estimator, kernel, bandwidth, scale, column_types, transform
        As there; bandwidths are found in every stretch anew.
    n_resamples, alpha, stopping, rng, workers, progress
        As there, for every test; ``alpha`` is the level of all tests together.
    blocks, shift, nan_policy
        As there.
    gram, rank, max_memory
        As there.

    Returns
    -------
    ChangesResult
        ``result.locations``, ``result.adjusted``, ``result.intervals``, ``result.table``, ``result.plot()``.

    Raises
    ------
    ValueError, TypeError
        For input that cannot be tested; the message names the argument and says what to do.

    See Also
    --------
    change_point_test : One change, or an epidemic one, with an exact p-value.
    k_sample_test : Whether stretches that are known beforehand differ.
    two_sample_test : Whether two of them differ, and how large the difference is.

    Notes
    -----
    The whole series is tested.  If the test rejects, the series is cut at the place of the change, and both sides are
    tested in the same way.  Each test scans all cuts of its rows, as :func:`change_point_test` does, and also scans
    seeded intervals of a half, a quarter, and so on, of the rows, at least 8 (Kovacs et al. 2023, Biometrika 110,
    249-256), because changes that cancel leave the rows before and after any cut alike.  For intervals of the same
    length the scans are combined by their root mean square, and the smallest p-value over lengths is the statistic; the
    scan of all rows has nine tenths of the level.  ``shift="circular"`` of one series scans no intervals, which it
    would carry along.

    After each cut all places are found again, each among the rows between the changes beside it (Bai 1997, Econometric
    Theory 13, 315-352), and stretches with new ends are tested: a cut that misses its change leaves rows of another
    distribution at an end, which would be taken for a change of their own.  The adjusted p-value of a
    stretch is its own times n over its rows, and no less than those of the changes at its ends (Meinshausen 2008,
    Biometrika 95, 265-278).  The chance that any stretch without a change is cut is then at most ``alpha``, if p-values
    of stretches are valid where the earlier cuts are right.  The p-value of the whole series is exact, so that in a
    series without a change one is found in a share ``alpha`` of cases at most.  The ends of shorter stretches were
    chosen by the data; the page on changes shows how often there are too many.

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
