"""Are two samples practically the same?  ``equivalence_test``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from shrinktest._check import level
from shrinktest._hints import hinted
from shrinktest._names import two_names
from shrinktest.hypotheses.equivalence import Equivalence
from shrinktest.results.equivalence import EquivalenceResult


@hinted
def equivalence_test(
    X: Any,
    Y: Any,
    *,
    margin: Any = None,
    scale: Any = None,
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    units: Any = "auto",
    estimator: Any = None,
    folds: int | None = None,
    alpha: float = 0.05,
    names: tuple[str, str] | list[str] = ("X", "Y"),
    blocks: Any = None,
    paired: bool = False,
    groups: Any = None,
    column_types: Any = None,
    transform: Any = None,
    nan_policy: str = "raise",
    rng: Any = 0,
    workers: int | None = None,
    gram: str = "auto",
    rank: int | None = None,
    max_memory: float | None = None,
) -> EquivalenceResult:
    """p-value for the hypothesis that two samples differ by a margin or more; a small one shows equivalence.

    Parameters
    ----------
    X, Y : array_like, shape (m, d) and (n, d), or (m,) and (n,)
        The samples, one row an observation; tables are matched by column name, as in :func:`two_sample_test`.  With
        ``scale="dependence"`` two variables observed together, with as many rows.
    margin : float, str or callable
        How large a difference does not matter: a number on the scale, above 0 (above .5 for "auc") and below 1.  Or a
        change whose effect is the margin: "shift 0.2" moves every column by 0.2 standard deviations, and a function
        takes the pooled rows (N, d) and returns changed ones.  It must be given, before the data are seen.
    scale : {"distance", "auc", "dependence"}
        On which scale the margin is; it must be given.  "distance": the squared distance (MMD^2) of the kernel means
        relative to their norms, from 0 to 1, as ``two_sample_test(X, Y).effect().distance``.  "auc": the probability
        with which the cross-fitted witness function ranks an observation of X above one of Y, from .5 to 1.
        "dependence": the kernel correlation of X and Y, from 0 to 1; are they practically independent?
    kernel : str, Kernel or callable, default "gaussian"
        As in :func:`two_sample_test`; one, because a margin is about one kernel.  With "dependence" a list may have one
        for each of X and Y.
    bandwidth : float, "median", "neighbours", multiple of these, tuple, array or dict, default "median"
        As in :func:`two_sample_test`, of the pooled sample; of each variable by itself with "dependence".
    units : {"auto", None, "sd", "mad", "rank", "deviation"}, sequence or dict
        Units of the columns; what ``scale`` is in :func:`two_sample_test`.
    estimator : str, MeanEstimator or callable, optional
        With "auc": estimator of the kernel means that make the witness function (default "kme").  The estimates on the
        other scales are ratios of unbiased parts, and take none.
    folds : int, optional
        With "auc", and with nothing else: the witness function is fitted to all folds but one, and scores that one;
        default 5.
    alpha : float, default 0.05
        Level at which the result decides, below .5; ``upper`` has the confidence 1 - alpha.
    names : tuple of str, default ("X", "Y")
        What the answer calls X and Y.
    blocks, groups : array_like, optional
        Labels as in :func:`two_sample_test`: rows are compared within blocks; whole groups vary independently.
    paired : bool, default False
        Row i of X and row i of Y are a pair.
    column_types, transform
        As in :func:`two_sample_test`.
    nan_policy : {"raise", "omit", "indicator"}
        Missing values are an error; their rows are left out (with those they are paired with); or it is used as
        information that they are missing.  Rows that miss a value are then alike in its column: the more are missing
        in both samples, the smaller is their difference, which is that of the columns with their gaps.
    rng : None, int, SeedSequence, BitGenerator or Generator, default 0
        Assigns rows to folds, and draws random coordinates.
    workers : int, optional
        Threads; the result is the same for any number.
    gram, rank, max_memory
        How the kernel is evaluated, as in :func:`two_sample_test`.

    Returns
    -------
    EquivalenceResult
        ``result.answer`` is the sentence, ``result.upper`` the upper limit of the difference, ``result.equivalent``
        whether it is below the margin; ``print(result.summary())`` shows all.

    Raises
    ------
    ValueError, TypeError
        For margins outside the scale, margins that no two distributions on these rows could reach with this bandwidth
        ("distance"), fewer than 5 rows (pairs, groups) in a sample, rows that are all the same, or other input that
        cannot be compared; the message names the argument and says what to do.
    MemoryError
        If the kernel's values would not fit ``max_memory``; says how much they take, and what fits.

    See Also
    --------
    two_sample_test : Whether two samples differ; a large p-value of it does not show equivalence.
    TwoSampleResult.effect : How large the difference is, with an interval on both sides.
    closer_test : Which of two samples is nearer to a third.
    solve_sample_size : How many observations are needed to show equivalence (``test="equivalence"``).

    Notes
    -----
    The null hypothesis is that the difference is the margin or more.  A large p-value of :func:`two_sample_test` does
    not show equivalence: with few data p-values are large even if the distributions are very different.

    The p-value is that of a score test, asymptotic and not exact: the estimate less the margin over the standard
    deviation that it has if the margin is true.  It is at most alpha where the upper limit of the one-sided score
    interval is at most the margin; see :meth:`TwoSampleResult.effect` for the intervals, and the page "Practically the
    same?" for the level that was measured.  It is too small where nearly all rows are the same, and a note says so.

    On the scale "auc" the statement is about the function that was fitted.  The best function there is separates the
    distributions at least as well, and better than one that was fitted to few rows: an upper limit for the fitted
    function is not an upper limit for the best one.  A note in the result says so.  Where a bound for the distributions
    is wanted take "distance", whose parts are estimated without bias.

    The kernel, its bandwidth and the units of the columns are found on all rows together and then regarded as fixed.
    Differences to which the kernel is insensitive count little: a wide kernel is sensitive to differences of location,
    a narrow one also to those of details.

    A margin from a change is the difference between the pooled sample (2000 rows of it at most, at random) and its
    changed copy, by the same kernel and estimated as the difference of the samples is; no label goes into it.  Where X
    and Y differ the pooled sample is wider than each of them, so that a shift by so many of its standard deviations is
    more than by as many of theirs: for normal samples d standard deviations apart by the factor
    sqrt(1 + p (1 - p) d^2) with p the share of one sample; for samples of one size sqrt(1 + d^2 / 4), which is 1.005
    for d = .2 and 1.12 for d = 1.  Outlying rows in one sample make it larger too; a note says so.  On
    "auc" the function that separates rows from changed rows is fitted to the pooled sample, which has more rows than X
    or Y, and attains a little more than one fitted to these, so that the margin is a little larger.  The p-value takes
    the number as given, as it does with the bandwidth.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import equivalence_test
    >>> rng = np.random.default_rng(0)
    >>> before, after = rng.normal(size=(2, 500, 2))
    >>> result = equivalence_test(before, after, margin=0.02, scale="distance", names=("before", "after"))
    >>> print(f"{result.estimate:.4f}, below {result.upper:.4f}: p = {result.pvalue:.2g}")
    0.0010, below 0.0060: p = 0.00024
    >>> result.equivalent
    True
    """
    called, alpha = two_names(names), below_half(alpha)
    told = {"scale": units, "column_types": column_types, "transform": transform, "blocks": blocks, "groups": groups}
    with _units_by_name():
        found = Equivalence.read(
            X, Y, called, on=scale, margin=margin, kernel=kernel, bandwidth=bandwidth, estimator=estimator, folds=folds,
            paired=paired, nan_policy=nan_policy, rng=rng, workers=workers, gram=gram, rank=rank, max_memory=max_memory,
            **told,
        )  # fmt: skip
        result = found.test(alpha)
    return replace(result, notes=tuple(_of_units(note) for note in result.notes))


def below_half(alpha: Any) -> float:
    """The level of an equivalence test; raises ValueError for one that it cannot have."""
    if level(alpha) >= 0.5:
        raise ValueError(f"alpha must lie below .5, or the upper limit lies below the estimate; got {alpha}")
    return float(alpha)


@contextmanager
def _units_by_name() -> Iterator[None]:
    """Call the units of columns in errors what they are called here."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if len(error.args) == 1 and isinstance(error.args[0], str):
            error.args = (_of_units(error.args[0]),)
        raise


def _of_units(said: str) -> str:
    """What other tests say of ``scale=``, in the words of this one."""
    said = re.sub(r"\bscale=(?!'(distance|auc|dependence)')", "units=", said)
    return re.sub(r"^scale(?=(\[.*?\])? (must|has)\b)", "units", said)
