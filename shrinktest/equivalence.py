"""Practical equivalence of two samples, or independence of variables: ``equivalence_test``."""

from __future__ import annotations

import math
import re
from copy import deepcopy
from dataclasses import replace
from datetime import timedelta
from numbers import Real
from typing import Any

import numpy as np

from shrinktest._check import check_signature, choice, count, level, real, real_values
from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest._parallel import memory_limit
from shrinktest._random import as_rng
from shrinktest.data.labels import two_names
from shrinktest.data.variable import Variable
from shrinktest.estimators import as_estimator
from shrinktest.fitted import TestContext
from shrinktest.independence import independence_test
from shrinktest.kernel_spec import KernelSpec, is_several
from shrinktest.kernels import Linear, Precomputed
from shrinktest.kernels.bandwidths import largest_distance
from shrinktest.kernels.base import Scaled
from shrinktest.kernels.pooled import PooledKernel, Rescaled
from shrinktest.measured_differences import mean_difference, only_column
from shrinktest.notes import has_code, note, without_level
from shrinktest.permutations.design import PermutationDesign
from shrinktest.permutations.serial_correlation import BY_GROUPS, BY_THINNING, WRONG_ERRORS
from shrinktest.results.columns import ColumnEffects
from shrinktest.results.effect import Effect
from shrinktest.results.equivalence_result import (
    AUC,
    DEPENDENCE,
    DISTANCE,
    MEAN_DIFFERENCE,
    MEASURES,
    EquivalenceResult,
)
from shrinktest.results.result import FOLDS, TestResult
from shrinktest.two_sample import two_sample_test

_GAPS = 1.0 / 3.0
_ROWS = 2000  # share of a column missing in both samples; rows that are changed, at most


@hinted
@documented
def equivalence_test(
    X: Any,
    Y: Any,
    *,
    margin: Any,
    measure: str,
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    scale: Any = "auto",
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
    rng: Any = None,
    workers: int | None = None,
    gram: str = "auto",
    rank: int | None = None,
    max_memory: float | None = None,
) -> EquivalenceResult:
    """Test whether two samples are equivalent within a margin.

    The null hypothesis is that the samples differ by the margin or more, and therefore a small
    p-value shows equivalence.  With ``measure="dependence"``, it shows that two variables are
    nearly independent.

    Parameters
    ----------
    X, Y : array_like, shape (m, d) and (n, d)
        The samples or, with ``measure="dependence"``, two variables observed together.
    margin : float, str or callable
        Smallest difference that matters, chosen before you see the data.  A number is on the scale
        of the measure; for "mean_difference" it is in the unit of the column (days, or a Timedelta,
        for dates and durations; hours for times of day).  A change sets the margin to its effect on
        the pooled rows: "shift 0.2" moves every column by 0.2 standard deviations, whereas a
        function is called with rows (N, d), in the units in which they are compared, and returns
        the new rows.
    measure : {"distance", "auc", "dependence", "mean_difference"}
        The effect that must be below the margin; see :meth:`TwoSampleResult.effect`.  "distance" is
        the relative squared distance (MMD^2), from 0 to 1; "auc" is the probability that the
        cross-fitted witness function ranks a row of X above one of Y, from 0.5 to 1; "dependence"
        is the kernel correlation, from 0 to 1; "mean_difference" is the mean of Y minus that of X,
        in samples of one column, by two one-sided tests (TOST) with a jackknife standard error,
        within blocks if there are any.
    kernel : str, Kernel or callable, or list of these, default "gaussian"
        One kernel, as in :func:`two_sample_test`, or with "dependence" a list with one for each
        variable.
    bandwidth : float, str, tuple, array or dict, or list of these, default "median"
        One bandwidth, as in :func:`two_sample_test`, or with "dependence" a list with one for each
        variable.
    estimator : str, MeanEstimator or callable, default "kme"
        Estimator of the witness function, for "auc".
    folds : int, default 5
        Number of folds of the cross-fitting, for "auc".
    alpha : float, default 0.05
        Significance level, below 0.5.  ``upper`` is a one-sided confidence limit with confidence
        1 - alpha, and the asymptotic p-value is the smallest alpha at which it is below the margin.
    names : tuple of str, default ("X", "Y")
        Names of the samples in the answer.
    blocks : array_like, optional
        Block label of every row: one vector for all rows, or one vector per sample.  Rows are
        compared within blocks only, so that differences between blocks do not count.
    paired : bool, default False
        Whether row i of one sample and row i of the other are a pair; standard errors then regard
        pairs as independent units.
    groups : array_like, optional
        Label of the group of every row (elsewhere called ``clusters``), in the layout of
        ``blocks``; standard errors then regard groups as independent units.
    nan_policy : {"raise", "omit", "indicator"}, default "raise"
        As in :func:`two_sample_test`, but "indicator" is not available for pairs.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Seed or generator that assigns rows to folds and draws random coordinates.

    Returns
    -------
    EquivalenceResult
        ``result.answer`` is the conclusion in one sentence, ``result.upper`` the upper limit of the
        effect, and ``result.equivalent`` whether it is below the margin.

    See Also
    --------
    two_sample_test : Test of a difference, whose large p-value does not show equivalence.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import equivalence_test
    >>> rng = np.random.default_rng(0)
    >>> before, after = rng.normal(size=(2, 500, 2))
    >>> result = equivalence_test(
    ...     before, after, margin=0.02, measure="distance", names=("before", "after"), rng=0
    ... )
    >>> print(f"{result.estimate:.4f}, below {result.upper:.4f}: p = {result.pvalue:.2g}")
    0.0010, below 0.0060: p = 0.00024
    """
    measure = check_margin(margin, measure, alpha)
    names = two_names(names)
    generator = as_rng(rng)
    choice(nan_policy, ("raise", "omit", "indicator"), "nan_policy")
    _check_options(measure, estimator, folds, paired, nan_policy)
    estimator = as_estimator("kme" if estimator is None else estimator)
    pair = measure == DEPENDENCE
    by_variable = _one_for_each_variable(kernel, bandwidth, estimator, pair)
    shared: dict[str, Any] = dict(
        scale=scale,
        blocks=blocks,
        groups=groups,
        column_types=column_types,
        transform=transform,
        gram=gram,
        rank=rank,
        nan_policy=nan_policy,
        rng=deepcopy(generator),
        workers=workers,
        max_memory=max_memory,
        n_resamples=0,
    )
    if pair:
        test = independence_test(X, Y, **by_variable, **shared)
    else:
        own = dict(names=names, paired=paired, estimator=estimator)
        test = two_sample_test(X, Y, kernel=kernel, bandwidth=bandwidth, **own, **shared)
        _check_differ(test.context, names)
    if measure == MEAN_DIFFERENCE:
        return _of_means(test, margin, float(alpha), names)
    options = _effect_options(measure, alpha, folds, generator, names)
    effect: Effect = test.context.effect(**options)
    notes = [*_data_notes(test, names), *_notes(effect, measure)]
    value, words, about_margin = _margin(
        margin, measure, test.context, options, memory_limit(max_memory)
    )
    notes += about_margin
    _check_reachable(value, measure, test.context)
    notes.append(note("asymptotic", interval="upper limit"))
    estimate = effect.estimates[measure]
    lower, upper = getattr(effect, f"{measure}_interval")
    statistic, pvalue = estimate.below(value)
    if math.isnan(pvalue):
        pvalue = 1.0
        notes.append(note("no-variance"))
    return EquivalenceResult(
        statistic=statistic,
        pvalue=min(1.0, max(pvalue, float(np.finfo(float).tiny))),
        estimate=float(estimate.value),
        upper=upper,
        margin=value,
        measure=measure,
        alpha=float(alpha),
        names=names,
        test=test,
        margin_words=words,
        folds=min(options["folds"], *estimate.units) if measure == AUC else None,
        notes=tuple(dict.fromkeys(notes)),
        lower=lower,
    )


def _of_means(
    test: TestResult, margin: Any, alpha: float, names: tuple[str, str]
) -> EquivalenceResult:
    """Return whether the difference of means of one column is within the margin on both sides."""
    context = test.context
    column = only_column(context)
    if column is None:
        raise ValueError(
            "measure='mean_difference' compares samples of one column of numbers or dates; pass one"
        )
    unit = ColumnEffects(column.name, column.kind, ()).unit
    limit = _as_number(margin, unit)
    estimate = mean_difference(column, context, context.hypothesis.restriction)
    low, high = estimate.interval(1.0 - 2.0 * alpha)
    statistic, pvalue = estimate.below(limit)
    notes = [text for text in _data_notes(test, names) if not has_code(text, "units")]
    notes.append(note("asymptotic-means"))
    if math.isnan(pvalue):
        pvalue = 1.0
        notes.append(note("no-variance"))
    return EquivalenceResult(
        statistic=statistic,
        pvalue=min(1.0, max(pvalue, float(np.finfo(float).tiny))),
        estimate=estimate.value,
        upper=max(abs(low), abs(high)),
        margin=limit,
        measure=MEAN_DIFFERENCE,
        alpha=alpha,
        names=names,
        test=test,
        notes=tuple(dict.fromkeys(notes)),
        lower=max(low, -high, 0.0),
        unit=unit,
    )


def _as_number(margin: Any, unit: str) -> float:
    """Return a margin in the unit of a column; one in time has a unit of its own."""
    if isinstance(margin, Real):
        return float(margin)
    if not unit:
        raise ValueError("margin is a time, but the column has numbers; use a number")
    return float(margin / np.timedelta64(1, "D" if unit == "days" else "h"))


def _check_options(
    measure: str, estimator: Any, folds: int | None, paired: bool, nan_policy: str
) -> None:
    """Raise ValueError for arguments that the measure does not have."""
    if measure != AUC and (estimator is not None or folds is not None):
        raise ValueError(
            f"estimator= and folds= are for measure='auc', not for {measure!r}; leave them out"
        )
    if paired and (measure == DEPENDENCE or nan_policy == "indicator"):
        raise ValueError(
            "paired=True cannot be combined with measure='dependence' or nan_policy='indicator'"
        )


def _check_differ(context: TestContext, names: tuple[str, str]) -> None:
    """Raise ValueError for two samples with the same rows."""
    first, second = np.split(context.pooled, [context.sizes[0]])
    if np.array_equal(first, second):
        raise ValueError(
            f"{names[0]} and {names[1]} hold the same rows; pass data that were observed separately"
        )


def _margin(
    margin: Any, measure: str, context: TestContext, options: dict[str, Any], memory: float
) -> tuple[float, str, list[str]]:
    """Return the margin as a number, the change that it is the effect of, and notes on that.

    ``options`` are those of the effect.
    """
    if isinstance(margin, Real):
        return float(margin), "", []
    words = margin if isinstance(margin, str) else getattr(margin, "__name__", str(margin))
    changed = _with_change(margin, words, context, options["rng"], memory)
    value = float(getattr(changed.effect(**options), measure))
    return value, words, [note("margin-by-change", margin=f"{value:.3g}", change=repr(words))]


def _effect_options(
    measure: str,
    alpha: float,
    folds: int | None,
    rng: np.random.Generator,
    names: tuple[str, str],
) -> dict[str, Any]:
    """Return the arguments of the effect; it has folds if its witness function is fitted."""
    if measure == AUC:
        folds = count(FOLDS if folds is None else folds, "folds", minimum=2)
    return dict(
        z=math.nan,
        confidence=1.0 - 2.0 * alpha,
        folds=folds,
        rng=rng,
        columns=False,
        names=names,
        scored=measure == AUC,
    )


def _one_for_each_variable(
    kernel: Any, bandwidth: Any, estimator: Any, pair: bool
) -> dict[str, Any]:
    """Return two kernels and two bandwidths, by argument.

    Lists hold one for each of a ``pair`` of variables.
    """
    kernels = kernel if pair and isinstance(kernel, list) else [kernel, kernel]
    widths = bandwidth if pair and isinstance(bandwidth, list) else [bandwidth, bandwidth]
    candidates = not pair and is_several(estimator, [KernelSpec(kernel, bandwidth)])
    if len(kernels) != 2 or len(widths) != 2 or candidates:
        raise ValueError(
            "kernel and bandwidth must be one each, or for measure='dependence' a list of two"
        )
    return dict(
        kernel_x=kernels[0], kernel_y=kernels[1], bandwidth_x=widths[0], bandwidth_y=widths[1]
    )


def _check_reachable(margin: float, measure: str, context: TestContext) -> None:
    """Raise ValueError for a margin outside of what the measure can be."""
    least = MEASURES[measure][1]
    leading = context.leading.kernel
    largest = 1.0
    if measure == DISTANCE and leading.never_negative:
        largest = largest_distance(leading, context.pooled)
    if not (least < margin <= largest and margin < 1.0):
        raise ValueError(
            f"margin={margin:.3g} must lie between {least:g} and {largest:.3g} with this kernel "
            "and bandwidth; use another margin"
        )


def check_margin(margin: Any, measure: Any, alpha: Any) -> str:
    """Return the measure.

    Raise an error for a margin, a measure or a level that no equivalence test takes.
    """
    measure = choice(measure, MEASURES, "measure")
    least = MEASURES[measure][1]
    if level(alpha) >= 0.5:
        raise ValueError(f"alpha must lie below .5 in an equivalence test; got {alpha}")
    if callable(margin):
        check_signature(
            margin, ("rows",), "margin as a function must map the pooled rows to changed rows"
        )
    changes = callable(margin) or (
        isinstance(margin, str) and re.fullmatch(r"shift -?(\d+\.?\d*|\.\d+)", margin)
    )
    if measure == MEAN_DIFFERENCE:
        return _with_positive(margin, measure)
    number = (
        not isinstance(margin, str)
        and not callable(margin)
        and least < real(margin, "margin") < 1.0
    )
    if not (number or (changes and measure != DEPENDENCE)):
        others = "" if measure == DEPENDENCE else ", 'shift 0.2', or a function of the rows"
        raise ValueError(
            f"margin={margin!r}: with measure={measure!r} use a number from {least:g} to 1{others}"
        )
    return measure


def _with_positive(margin: Any, measure: str) -> str:
    """Return the measure if the margin is a number or a time above 0."""
    a_time = isinstance(margin, timedelta | np.timedelta64) and not np.isnat(np.timedelta64(margin))
    if isinstance(margin, str) or callable(margin):
        raise ValueError(
            f"margin={margin!r}: with measure={measure!r} use a number in the unit of the column"
        )
    above = margin > np.timedelta64(0, "s") if a_time else real(margin, "margin") > 0.0
    if not above:
        raise ValueError(f"margin={margin!r} must lie above 0, the unit is that of the column")
    return measure


def _with_change(
    change: Any, words: str, context: TestContext, rng: np.random.Generator, memory: float
) -> TestContext:
    """Return the pooled rows and their changed copy as pairs.

    A function takes rows in their units.
    """
    variable = context.hypothesis.variables[0]
    kernel = context.leading.kernel
    unit = np.ones(1)
    pooled = variable.points
    if callable(change) and variable.scale is not None:
        if isinstance(kernel, Rescaled):
            kernel = kernel.kernel
        else:  # the bandwidths have the units
            unit = Rescaled(Linear(), variable.scale, pooled).units()
        pooled = variable.compared()
    rows = pooled
    most = min(_ROWS, int((memory / 64.0) ** 0.5))
    if len(pooled) > most:
        rows = pooled[np.sort(rng.choice(len(pooled), most, replace=False))]
    if callable(change):
        changed = real_values(change(rows.copy()))
        changed = changed[:, None] if changed.ndim == 1 else changed
    else:
        if variable.encoding and any(
            code.categorical or code.indicated for code in variable.encoding.codes
        ):
            raise ValueError(
                f"margin={words!r}: categories and missing values cannot be shifted; use a number"
            )
        changed = rows + float(change.split()[1]) * pooled.std(axis=0, ddof=1)
    if changed.shape != rows.shape or not np.isfinite(changed).all():
        raise ValueError(
            f"margin: the function must return finite numbers of shape {rows.shape}; got "
            f"{changed.shape}"
        )
    both = unit * np.vstack([rows, changed])
    inner = kernel
    while isinstance(inner, Rescaled | Scaled):
        inner = inner.kernel
    if isinstance(
        inner, PooledKernel
    ):  # has a Gram matrix of the pooled rows only, and values everywhere
        kernel = Precomputed(kernel(both))
        both = np.arange(float(len(both)))[:, None]
    hypothesis: Any = context.hypothesis
    pairs = PermutationDesign(paired=True)
    sizes = (len(rows), len(rows))
    hypothesis = replace(
        hypothesis, variables=(Variable(both, words),), sizes=sizes, restriction=pairs
    )
    return TestContext(hypothesis, (replace(context.leading, kernel=kernel, features=(kernel,)),))


def _notes(effect: Effect, measure: str) -> list[str]:
    """Return the notes of an effect that are about a measure."""
    if measure == AUC:
        others = ("rare-rows", "no-area-interval", "long-area-interval")
        return [
            *(text for text in effect.notes if not has_code(text, *others)),
            note("fitted-witness"),
        ]
    is_variance_share = getattr(effect, "relative_to", "") == "variance"
    return [*effect.notes, note("share-of-variance")] if is_variance_share else [*effect.notes]


def _data_notes(test: TestResult, names: tuple[str, str]) -> list[str]:
    """Return notes on data, serial correlation, kernel approximation, and shared gaps.

    Shared gaps are gaps in both samples.
    """
    hypothesis = test.context.hypothesis
    notes = [*hypothesis.notes(test.kernel)]
    notes += [without_level(text) for text in test.notes if has_code(text, "approximation")]
    if serial := hypothesis.serial_correlation():
        advice = BY_THINNING if hypothesis.restriction.paired else BY_GROUPS
        notes.append(serial.note(advice, WRONG_ERRORS))
    encoding = hypothesis.variables[0].encoding if len(test.context.sizes) == 2 else None
    for code, group in zip(encoding.codes, encoding.groups, strict=True) if encoding else ():
        missing = np.split(test.context.pooled[:, group.stop - 1] != 0.0, [test.context.sizes[0]])
        shares = [float(part.mean()) for part in missing]
        if code.indicated and min(shares) >= _GAPS:
            each = " and ".join(
                f"{share:.0%} of {name}" for share, name in zip(shares, names, strict=True)
            )
            notes.append(note("missing-in-both", column=code.name, shares=each))
    return notes
