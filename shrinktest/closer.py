"""Is X closer to Y or to Z, or to which of several models?  ``closer_test`` and its result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, starmap
from typing import Any

import numpy as np

from shrinktest._check import choice, counted, flag, level
from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest._parallel import memory_limit, n_workers
from shrinktest._random import as_rng, rng_provenance
from shrinktest.data.labels import label_codes, named_samples, pooled_labels
from shrinktest.data.read import read_samples, read_variables
from shrinktest.data.variable import Variable
from shrinktest.effects.dependence import dependences
from shrinktest.effects.distance import distances
from shrinktest.effects.jackknife import FEWEST, JackknifeEstimates
from shrinktest.hypothesis import resolve
from shrinktest.kernel_spec import KernelSpec
from shrinktest.kernels import Kernel, as_kernel
from shrinktest.kernels.bandwidths import reach_notes, require_in_range
from shrinktest.notes import note, without_level
from shrinktest.permutations.serial_correlation import (
    BY_GROUPS,
    BY_ROWS_APART,
    BY_THINNING,
    WRONG_ERRORS,
    OrderedRows,
    SerialCorrelation,
    joint_correlation,
    strongest,
)
from shrinktest.results.closer_result import (
    DEPENDENCE,
    DISTANCE,
    MEASURES,
    CloserPair,
    CloserResult,
)
from shrinktest.results.multiple_tests_result import METHODS, WESTFALL_YOUNG
from shrinktest.statistics.features import KernelFeatures
from shrinktest.statistics.kernel_cache import KernelCache, Request

ALTERNATIVES = ("two-sided", "less", "greater")
#: Adjustments by p-values alone; two-stage methods also need the level.
ADJUSTMENTS = tuple(
    name for name in METHODS if name != WESTFALL_YOUNG and not name.startswith("fdr_ts")
)

FEW = 20  # units in a sample: with fewer the level was not measured
FEW_UNEVEN = 200
TIMES = (
    2.0  # one-sided levels were too high where one candidate has fewer, the other so often as many
)
_LEAST = 1e-290  # kernel values below lose digits


@hinted
@documented
def closer_test(
    X: Any,
    *candidates: Any,
    names: str | Sequence[str] | None = None,
    measure: str = DISTANCE,
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    scale: Any = "auto",
    alternative: str = "two-sided",
    method: str = "holm",
    alpha: float = 0.05,
    confidence: float = 0.95,
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
) -> CloserResult:
    """Test which of several samples is closest to X (relative MMD test).

    Dependences of X on several variables are compared in the same way (relative HSIC test).

    Parameters
    ----------
    X : array_like, shape (m, d)
        The observed data, one row per observation.
    *candidates : array_like, shape (n_i, d)
        Two or more samples, such as the output of models or simulators; or one list of them, or one
        mapping from names to them.  With a ``measure`` other than "distance", variables observed
        together with X.
    names : str or sequence of str, optional
        Names of X and the candidates, or of X alone; default "X", "Y", "Z", or the keys of the
        mapping.
    measure : {"distance", "dependence", "hsic"}, default "distance"
        "distance" is the squared distance (MMD^2) of X and the candidate, and "dependence" the
        kernel correlation (normalized HSIC).  "hsic" is HSIC itself, which depends on the spread of
        each variable.
    kernel
        For "dependence" and "hsic", a list has one kernel for X and one for each candidate.
    bandwidth
        It is computed from all samples together but, for "dependence" and "hsic", from each
        variable separately.
    alternative : {"two-sided", "less", "greater"}, default "two-sided"
        For two candidates, "less" means that X is closer to the first, and "greater" to the second.
    method : str, default "holm"
        Adjustment of the p-values of several pairs: "holm" controls the probability of any false
        rejection at ``alpha``, whereas "fdr_bh" controls the expected proportion of false ones
        among all rejections.  Other methods of statsmodels' ``multipletests`` are accepted.
    alpha : float, default 0.05
        Significance level of the decision.
    confidence : float, default 0.95
        Confidence level of the interval of each difference, not adjusted for the number of pairs;
        it is one-sided if the alternative is.
    paired : bool, default False
        Whether row i of X and of every candidate belong together, such as forecasts of several
        models for one day.
    groups : array_like, optional
        Labels for the rows of X and then of every candidate, as one vector or as a list of
        vectors: rows with equal labels belong together, within a sample or across samples.
    nan_policy : {"raise", "omit", "indicator"}, default "raise"
        Whether to raise an error for missing values, drop their rows, or use missingness as
        information.

    Returns
    -------
    CloserResult
        ``result.answer`` is the conclusion in one sentence, ``result.best`` are the candidates that
        are not beaten, and ``result.table`` has a row for every pair.  If there are two candidates,
        ``statistic, pvalue = result`` unpacks it, and ``result.difference`` and ``result.interval``
        show by how much one is closer.

    See Also
    --------
    two_sample_test : Whether X and one model differ at all.
    equivalence_test : Whether X and one model are practically equivalent.

    Notes
    -----
    The statistic is the difference of two unbiased estimates over its standard error ([B16]; for
    HSIC [B15]), which comes from a jackknife over rows, pairs or groups.  The p-value is based on
    Student's t distribution with Welch's degrees of freedom.  It is asymptotic, because no
    permutation leaves the distribution of the data unchanged when X is as far from Y as from Z.  In
    simulations the two-sided test controlled the Type I error rate at 20 or more rows; see the page
    "Which model is closer?".

    A small p-value shows that one candidate is closer, but not that it is close.  There is no
    ``estimator=``, because shrinkage shortens distances by amounts that depend on sizes and
    spreads, and would therefore favor the candidate with fewer rows.

    References
    ----------
    .. [B15] Bounliphone et al., "A low variance consistent test of relative dependency", ICML,
       2015.
    .. [B16] Bounliphone et al., "A test of relative similarity for model selection in generative
       models", ICLR, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import closer_test
    >>> rng = np.random.default_rng(0)
    >>> observed = rng.gamma(2.0, 1.0, size=400)
    >>> models = {
    ...     "lognormal": rng.lognormal(0.5, 0.65, size=500),
    ...     "normal": rng.normal(2.0, 1.4, size=500),
    ... }
    >>> result = closer_test(observed, models, names="observed")
    >>> result.answer
    'observed is closer to lognormal than to normal (p = .0078).'
    >>> print(f"{result.difference:.4f} [{result.interval[0]:.4f}, {result.interval[1]:.4f}]")
    -0.0338 [-0.0586, -0.0089]

    One of three models:

    >>> result = closer_test(
    ...     observed, {**models, "exponential": rng.exponential(2.0, size=500)}, names="observed"
    ... )
    >>> result.best
    ('lognormal',)
    >>> result.table[["first", "second", "difference", "adjusted", "closer"]].round(4)
           first       second  difference  adjusted     closer
    0  lognormal  exponential     -0.0278    0.0176  lognormal
    1  lognormal       normal     -0.0319    0.0176  lognormal
    2     normal  exponential      0.0041    0.7994
    """
    samples, names = _candidates(candidates, names)
    measure = choice(measure, MEASURES, "measure")
    method = choice(method, ADJUSTMENTS, "method")
    alternative = choice(
        alternative, ALTERNATIVES if len(samples) == 2 else ALTERNATIVES[:1], "alternative"
    )
    choice(nan_policy, ("raise", "omit", "indicator"), "nan_policy")
    alpha = level(alpha)
    confidence = level(confidence, "confidence")
    generator = as_rng(rng)
    provenance = rng_provenance(generator)
    reading = {"scale": scale, "column_types": column_types, "transform": transform}
    arguments = (X, *samples), names, nan_policy, reading, kernel, bandwidth
    cache = KernelCache(gram, rank, memory_limit(max_memory), generator, n_workers(workers))
    if flag(paired, "paired") + (groups is not None) + (measure != DISTANCE) > 1:
        raise ValueError(
            "paired=, groups= and measures other than 'distance' cannot be combined; leave one out"
        )
    if measure == DISTANCE:
        data = _read_distances(*arguments, paired, groups, cache)
    else:
        data = _read_dependences(*arguments, measure, cache)
    notes = [*data.notes, note("asymptotic", interval="interval")]
    notes += _notes_on_sizes(data, names, alternative)
    pairs = []
    for first, second in combinations(range(1, len(names)), 2):
        order = (first - 1, second - 1) if measure == DISTANCE else (second - 1, first - 1)
        pair = _compared(
            data.jackknife.difference(*order), names[first], names[second], alternative, confidence
        )
        if np.array_equal(data.values[first], data.values[second]):
            pair = replace(pair, statistic=np.nan, pvalue=1.0, low=np.nan, high=np.nan)
            notes.append(note("same-values", first=pair.first, second=pair.second))
        elif not pair.error:
            notes.append(note("no-variance"))
        pairs.append(pair)
    return CloserResult(
        names=names,
        estimates=tuple(map(float, data.jackknife.estimates)),
        pairs=_adjusted(pairs, method),
        measure=measure,
        alternative=alternative,
        method=method,
        alpha=alpha,
        confidence=confidence,
        n_observations=data.sizes,
        units=data.units,
        kernel=data.kernel,
        route=data.route,
        columns=data.columns,
        rng=provenance,
        notes=tuple(dict.fromkeys(notes)),
    )


def _notes_on_sizes(data: _Data, names: tuple[str, ...], alternative: str) -> list[str]:
    """Return notes on samples that are small, or of very different sizes."""
    notes: list[str] = []
    least = min(data.counts)
    if least < FEW:
        few = {"where": "A sample has", "count": least, "units": data.units, "least": FEW}
        notes.append(note("few-units", what="the Type I error rate", **few))
    if alternative != "two-sided" and uneven(*sorted(data.counts[1:3])):
        notes.append(note("uneven-candidates", first=names[1], second=names[2]))
    return notes


def uneven(few: int, many: int) -> bool:
    """Return True if one-sided levels may be exceeded for two candidates of these sizes."""
    return few < FEW_UNEVEN and many > TIMES * few


def _candidates(candidates: tuple[Any, ...], names: Any) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """Return the candidates, and the names of X and of each of them."""
    if len(candidates) == 1 and isinstance(candidates[0], list | tuple):
        candidates = tuple(candidates[0])
    samples, own = named_samples(candidates, "candidates")
    if len(samples) < 2:
        raise ValueError(
            "candidates: pass two or more, each as an argument or all in a mapping; got "
            f"{len(samples)}"
        )
    own = own or (
        ("Y", "Z") if len(samples) == 2 else tuple(f"Y{i}" for i in range(1, len(samples) + 1))
    )
    names = (
        ("X", *own) if names is None else (names, *own) if isinstance(names, str) else tuple(names)
    )
    texts = [name for name in names if isinstance(name, str) and name]
    if not len(set(texts)) == len(names) == 1 + len(samples):
        raise ValueError(
            f"names must be {1 + len(samples)} different texts, for X and the candidates; got "
            f"{names!r}"
        )
    return samples, names


def _compared(
    jackknife: tuple[float, float, float],
    first: str,
    second: str,
    alternative: str,
    confidence: float,
) -> CloserPair:
    """Test a difference with its standard error and degrees of freedom."""
    from scipy.special import stdtr, stdtrit

    difference, error, freedom = jackknife
    if not error:
        return CloserPair(first, second, difference, error, freedom, np.nan, 1.0, np.nan, np.nan)
    statistic = difference / error
    below = float(stdtr(freedom, statistic))
    above = float(stdtr(freedom, -statistic))
    pvalue = {"less": below, "greater": above}.get(alternative, 2.0 * min(below, above))
    pvalue = min(1.0, max(pvalue, float(np.finfo(float).tiny)))
    share = 0.5 + confidence / 2.0 if alternative == "two-sided" else confidence
    margin = float(stdtrit(freedom, share)) * error
    low = -np.inf if alternative == "less" else difference - margin
    high = np.inf if alternative == "greater" else difference + margin
    return CloserPair(first, second, difference, error, freedom, statistic, pvalue, low, high)


def _adjusted(pairs: Sequence[CloserPair], method: str) -> tuple[CloserPair, ...]:
    """Adjust p-values for the number of pairs."""
    adjusted = [pair.pvalue for pair in pairs]
    if len(pairs) > 1:
        from statsmodels.stats.multitest import multipletests

        adjusted = multipletests(adjusted, method=method)[1].tolist()
    return tuple(
        replace(pair, adjusted=pvalue) for pair, pvalue in zip(pairs, adjusted, strict=True)
    )


# --- data -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Data:
    """Estimates for every candidate, and what results say of the data."""

    jackknife: JackknifeEstimates
    values: Sequence[np.ndarray]  # the rows of every sample
    counts: tuple[int, ...]  # units in every sample
    kernel: Any
    route: str
    units: str
    sizes: tuple[int, ...]
    columns: tuple[Any, ...]
    notes: tuple[str, ...]


def _read_distances(
    samples: Sequence[Any],
    names: tuple[str, ...],
    nan_policy: str,
    reading: dict[str, Any],
    kernel: Any,
    bandwidth: Any,
    paired: bool,
    groups: Any,
    cache: KernelCache,
) -> _Data:
    """Read samples, and estimate the distance of the first to each of the others."""
    read = read_samples(samples, names, nan_policy, paired=paired, same_units=False, **reading)
    variable = read.variables[0].compared_by(kernel)
    pooled = variable.points
    sizes = read.sizes
    together = " and ".join(names)
    series = np.split(np.arange(len(pooled)), np.cumsum(sizes)[:-1])
    retained = np.concatenate(read.kept)
    units = np.arange(len(pooled))
    unit = "rows"
    if paired:
        units = np.concatenate([np.arange(size) for size in sizes])
        unit = "matched rows"
    elif groups is not None:
        labels = pooled_labels(
            groups, "groups", samples, names, tuple(map(len, read.kept)), together
        )
        units = label_codes(labels, "groups", retained)
        unit = "groups"
    counts = tuple(np.unique(units[rows]).size for rows in series)
    _require_comparable(read.values, names, pooled, together)
    for name, count in zip(names, counts, strict=True):
        _require_units(name, count, unit, 3)
    resolved = _resolved(kernel, bandwidth, variable, cache)
    require_in_range(resolved, pooled, together, _LEAST)
    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # an infinite rounding error is refused below
        features = cache(resolved, pooled).about_mean(cache.memory)
        jackknife = distances(features, sizes, units)
    if not np.isfinite(jackknife.rounding):
        raise ValueError(
            f"{together}: squares of kernel values are beyond the range of numbers; use scale='sd'"
        )
    serial = None
    if paired and not variable.numbers:
        serial = strongest(
            OrderedRows.of([read.values[0] - values], variable.encoding).correlated(
                f"differences between {names[0]} and {name}"
            )
            for values, name in zip(read.values[1:], names[1:], strict=True)
        )
    elif not paired and groups is None:
        serial = variable.rows_of(*series).correlated("a sample")
    advice = BY_THINNING if paired else BY_GROUPS
    columns = (read.all_rows[0].columns,)
    notes = (
        *read.notes,
        *_kernel_notes(variable, resolved, features),
        *_serial_notes(serial, advice),
    )
    return _Data(
        jackknife, read.values, counts, resolved, features.route, unit, sizes, columns, notes
    )


def _read_dependences(
    samples: Sequence[Any],
    names: tuple[str, ...],
    nan_policy: str,
    reading: dict[str, Any],
    kernel: Any,
    bandwidth: Any,
    measure: str,
    cache: KernelCache,
) -> _Data:
    """Read variables, and estimate the dependence of the first on each of the others."""
    read = read_variables(samples, names, nan_policy, **reading)
    n = len(read.values[0])
    k = len(names)
    _require_units(" and ".join(names), n, "rows", FEWEST)
    kernels, widths = (
        each if isinstance(each, list) else [each] * k for each in (kernel, bandwidth)
    )
    if not len(kernels) == len(widths) == k:
        raise ValueError(
            f"kernel and bandwidth: a list must have one entry for each of {k} variables"
        )
    variables = [
        variable.compared_by(kernel)
        for variable, kernel in zip(read.variables, kernels, strict=True)
    ]
    resolved = tuple(
        _resolved(*each, cache) for each in zip(kernels, widths, variables, strict=True)
    )
    values = [
        kernel(v.points) if v.numbers else v.points
        for kernel, v in zip(resolved, variables, strict=True)
    ]
    for variable in variables:
        _require_comparable(values, names, variable.points, variable.name)
    request = Request(kernels=k, large=300, rank=100)
    features = [
        cache(kernel, v.points, request) for kernel, v in zip(resolved, variables, strict=True)
    ]
    with np.errstate(divide="ignore", invalid="ignore"):
        jackknife = dependences(features, normalized=measure == DEPENDENCE)
    lost = ~np.isfinite(np.vstack([jackknife.estimates, jackknife.without])).all(axis=0)
    if lost.any():
        name = names[0] if lost.all() else names[1 + int(lost.argmax())]
        raise ValueError(f"{name} has no variance without one of its rows; use measure='hsic'")
    first, *others = (variable.rows_of() for variable in variables)
    serial = strongest(
        joint_correlation([first, other], [names[0], name])
        for other, name in zip(others, names[1:], strict=True)
    )
    each = zip(variables, resolved, features, strict=True)
    notes = (
        *read.notes,
        *chain(*starmap(_kernel_notes, each)),
        *_serial_notes(serial, BY_ROWS_APART),
    )
    return _Data(
        jackknife, values, (n,) * k, resolved, features[0].route, "rows", (n,), read.columns, notes
    )


def _resolved(kernel: Any, bandwidth: Any, variable: Variable, cache: KernelCache) -> Kernel:
    spec = KernelSpec(kernel, bandwidth).by_feature(variable.encoding)
    return resolve(as_kernel(spec.kernel, spec.bandwidth, "kernel"), variable, cache.rng)


def _require_units(name: str, count: int, unit: str, fewest: int) -> None:
    if count < fewest:
        raise ValueError(
            f"{name}: {counted(count, unit[:-1])}; the standard error needs at least {fewest}"
        )


def _require_comparable(
    values: Sequence[np.ndarray], names: Sequence[str], points: np.ndarray, name: str
) -> None:
    """Raise ValueError if points do not vary, or if a candidate has the rows of X."""
    if np.ptp(points, axis=0).max() == 0.0:
        raise ValueError(f"{name}: the same values in every row; there is nothing to compare")
    for other, candidate in zip(values[1:], names[1:], strict=True):
        if np.array_equal(values[0], other):
            raise ValueError(
                f"{names[0]} and {candidate} hold the same rows; pass data observed separately"
            )


def _kernel_notes(variable: Variable, kernel: Kernel, features: KernelFeatures) -> tuple[str, ...]:
    """Notes on units, on a bandwidth that is too wide, and on an approximation of the kernel."""
    route = () if features.note is None else (without_level(features.note),)
    return (*variable.notes(kernel), *reach_notes(kernel, variable.points, variable.name), *route)


def _serial_notes(serial: SerialCorrelation | None, advice: str) -> tuple[str, ...]:
    return () if serial is None else (serial.note(advice, WRONG_ERRORS),)
