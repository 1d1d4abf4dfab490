"""In which columns do two samples differ?  ``two_sample_test_columns``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np

from shrinktest._check import as_rng, choice, counted, n_dimensions, rng_provenance
from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest._parallel import kernel_progress
from shrinktest._read import XY
from shrinktest.batches.recognized import in_batches
from shrinktest.hypotheses.base import Variable
from shrinktest.hypotheses.equality import TwoEqualDistributions
from shrinktest.hypotheses.settings import Settings
from shrinktest.multiple.collection import Asked, refuse_candidates
from shrinktest.multiple.many import adjusted_tests
from shrinktest.multiple.run import beside, run_side_by_side
from shrinktest.multiple.untested import (
    constant_note,
    constant_reasons,
    dropping,
    listwise_note,
    reason_in,
    relabelled,
    untested_notes,
)
from shrinktest.notes import has_code
from shrinktest.permutations.serial_correlation import BY_GROUPS, BY_PAIRS
from shrinktest.results.multiple import METHODS, WESTFALL_YOUNG, MultipleTestsResult
from shrinktest.tables.by_column import by_name
from shrinktest.tables.reading import shown_names
from shrinktest.tables.untestable import Reasons, without_untestable
from shrinktest.units import Scale, constant_columns


@hinted
@documented
def two_sample_test_columns(
    X: Any,
    Y: Any,
    *,
    method: str = WESTFALL_YOUNG,
    estimator: Any = "kme",
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    scale: Any = "auto",
    form: str = "auto",
    n_resamples: float = 999,
    alpha: float = 0.05,
    blocks: Any = None,
    paired: bool = False,
    groups: Any = None,
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
) -> MultipleTestsResult:
    """Test in every column whether two samples have the same distribution, adjusted for multiple testing.

    Parameters
    ----------
    X, Y : array_like, shape (m, d) and (n, d)
        The samples: arrays, tables or batches, as in :func:`two_sample_test`.
    bandwidth : float, sequence or dict of float, or "median", default "median"
        One for all columns, or one per column; "median" is the median distance in that column.
    groups
        A group must lie in one sample.
    nan_policy : {"raise", "omit", "indicator"}, default "raise"
        "raise" is an error.  "omit" drops rows that miss a value in any column, with a note.  "indicator" counts
        missingness as information (:doc:`/tables`).
    rank
        For data in batches the default is 100 per column.
    workers
        For data in batches also an executor or a dask client.

    Returns
    -------
    MultipleTestsResult
        ``result.table``, ``result.reject()``, ``result.summary()``, ``result.plot()``.  A column that cannot be tested
        has a ``reason`` in the table and no p-value.

    See Also
    --------
    compare : The same with effect sizes, an overall test and a report.
    two_sample_test : Whether the samples differ in all columns together.
    independence_matrix : Which columns of one sample depend on each other.

    Notes
    -----
    The p-value of a column is that of :func:`two_sample_test` on this column with the same ``rng``.  All columns share
    the permutations of rows, so the step-down procedure of Westfall and Young [WY93] takes their dependence into
    account and loses little power if they are correlated; :doc:`/validity` says which error rate each method controls.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import two_sample_test_columns
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(30, 4)), rng.normal(size=(30, 4)) * [1.0, 1.0, 3.0, 1.0]
    >>> result = two_sample_test_columns(X, Y, rng=0)
    >>> result.table[["column", "pvalue", "adjusted", "reject"]]
      column  pvalue  adjusted  reject
    0     x0   0.864     0.975   False
    1     x1   0.848     0.975   False
    2     x2   0.001     0.001    True
    3     x3   0.501     0.881   False
    """
    refuse_candidates("two_sample_test_columns", kernel, bandwidth if isinstance(bandwidth, str) else "median")
    method = choice(method, METHODS, "method")
    batched = in_batches(X, Y)
    settings = Settings.read(
        form=form, n_resamples=n_resamples, alpha=alpha, workers=workers, progress=progress, gram=gram,
        rank=rank, max_memory=max_memory, store=store, batched=batched,
    )  # fmt: skip
    if batched:
        from shrinktest.multiple.whole import in_memory

        X, Y = in_memory((X, Y), XY, estimator, [Asked(kernel, "median")], settings, column_types)
        batched = in_batches(X, Y)
    design = {"blocks": blocks, "paired": paired, "groups": groups, "own": permutations}
    told = {"nan_policy": nan_policy, "scale": scale, "transform": transform}
    if batched:
        from shrinktest.multiple.binned import refuse

        refuse({"blocks": blocks, "paired": paired, "groups": groups, "permutations": permutations,
                "transform": transform})  # fmt: skip
        options = {"scale": scale, "nan_policy": nan_policy, "column_types": column_types}
        return _in_batches((X, Y), estimator, Asked(kernel, bandwidth), settings, rng, method, **options)
    whole, unread = without_untestable(
        lambda reasons: TwoEqualDistributions.read(X, Y, column_types=dropping(column_types, reasons), **told, **design)
    )
    refuse_missing(whole.missing)
    variable = whole.variables[0]
    parts = one_by_one(variable)
    labels = labelled(variable, len(parts), "x")
    varied = [not constant_columns(points).all() for points, _ in parts]
    left_out = relabelled(unread, variable, "x")
    notes = (*untested_notes(left_out), *constant_note(labels, varied, variable.name))
    found = column_tests(
        whole,
        dict(compress(zip(labels, parts, strict=True), varied)),
        method=method,
        estimator=estimator,
        kernel=kernel,
        widths=list(compress(one_width_each(bandwidth, labels, "bandwidth"), varied)),
        settings=settings,
        generator=as_rng(rng),
        untested={**constant_reasons(labels, varied), **left_out, **whole.untested},
    )
    return noted(found, notes)


def column_tests(
    whole: TwoEqualDistributions,
    parts: Mapping[str, tuple[np.ndarray, Scale | None]],
    *,
    method: str,
    estimator: Any,
    kernel: Any,
    widths: Sequence[Any],
    settings: Settings,
    generator: np.random.Generator,
    untested: Mapping[str, str],
) -> MultipleTestsResult:
    """The tests of columns, some or all of those of a hypothesis about two samples.

    ``parts`` has the numbers and the units of columns by their names, see :func:`one_by_one`, and none is constant;
    ``widths`` has a bandwidth for each.  ``untested`` has the reasons for other columns.
    """
    hypotheses = [replace(whole, variables=(column,)) for column in _named(whole.variables[0].name, parts)]
    asked = [Asked(kernel, width) for width in widths]
    found = _side_by_side(hypotheses, tuple(parts), asked, estimator, settings, generator, method, untested)
    remembered = whole.memory() if whole.own is None else None
    advice = BY_PAIRS if whole.restriction.paired else BY_GROUPS
    notes = (*listwise_note(whole.listwise, sum(whole.sizes)), *((remembered.note(advice),) if remembered else ()))
    return replace(found, notes=(*found.notes, *notes)) if notes else found


def _in_batches(
    samples: Sequence[Any],
    estimator: Any,
    asked: Asked,
    settings: Settings,
    rng: Any,
    method: str,
    **options: Any,
) -> MultipleTestsResult:
    """The tests of the columns of two samples in batches; ``asked`` has the bandwidths of all of them."""
    from shrinktest.batches.source import as_batches
    from shrinktest.hypotheses.binned import TwoBinned
    from shrinktest.hypotheses.supported import checked_estimator
    from shrinktest.multiple.binned import RANK_OF_COLUMN, by_whom, check, columns_in_bins

    check(estimator, [replace(asked, bandwidth="median")], settings, TwoBinned.kind.name, checked_estimator)
    samples = as_batches(samples, XY)
    generator = as_rng(rng)
    with kernel_progress(settings.progress):
        who, types = by_whom(settings, rng), options.pop("column_types")

        def read(reasons: Reasons) -> TwoBinned:
            how = {"drawn": settings.rank or RANK_OF_COLUMN, "rng": beside(generator, 2), **who, **options}
            return TwoBinned.in_batches(samples, XY, column_types=dropping(types, reasons), **how)

        whole, unread = without_untestable(read)
    variable, name = whole.variables[0], whole.variables[0].name
    left_out = relabelled(unread, variable, "x")
    labels = whole.columns or tuple(f"x{j}" for j in range(len(whole.groups)))
    varied = [not whole.survey.constant[one].all() for one in whole.groups]
    untested = {**constant_reasons(labels, varied), **left_out, **whole.untested}
    notes = (*listwise_note(whole.listwise, sum(whole.survey.sizes)), *untested_notes(left_out))
    notes += constant_note(labels, varied, name)
    widths = compress(one_width_each(asked.bandwidth, labels, "bandwidth"), varied)
    each = [replace(asked, bandwidth=width) for width in widths]
    groups = list(compress(whole.groups, varied))
    with kernel_progress(settings.progress):
        points = whole.representative(groups)
    parts = zip(points, (_unit_of(variable.scale, group) for group in groups), strict=True)
    kept = dict(zip(compress(labels, varied), parts, strict=True))
    columns = _named(name, kept)
    hypotheses = columns_in_bins(whole, groups, columns, estimator, each, settings, generator)
    failed = {
        label: reason_in(str(one), column)
        for label, column, one in zip(kept, columns, hypotheses, strict=True)
        if isinstance(one, ValueError)
    }
    each = [one for label, one in zip(kept, each, strict=True) if label not in failed]
    tested = [label for label in kept if label not in failed]
    made = [one for one in hypotheses if not isinstance(one, ValueError)]
    found = _side_by_side(made, tested, each, estimator, settings, generator, method, {**untested, **failed})
    return noted(found, (*notes, *untested_notes(failed)))


def noted(found: MultipleTestsResult, notes: Sequence[str]) -> MultipleTestsResult:
    """The result with these notes, and none that constant columns have no weight: they are not tested, unless given."""
    kept = (one for one in found.notes if not has_code(one, "no-weight") or one.startswith("given:"))
    return replace(found, notes=(*kept, *notes))


def _named(name: str, parts: Mapping[str, tuple[np.ndarray, Scale | None]]) -> list[Variable]:
    """Columns with what messages call them."""
    return [Variable(points, f"column {label!r} of {name}", unit) for label, (points, unit) in parts.items()]


def _side_by_side(
    hypotheses: Sequence[TwoEqualDistributions],
    labels: Sequence[str],
    asked: Sequence[Asked],
    estimator: Any,
    settings: Settings,
    generator: np.random.Generator,
    method: str,
    untested: Mapping[str, str],
) -> MultipleTestsResult:
    """The tests of hypotheses about columns of these names, with a kernel and a bandwidth for each.

    ``untested`` has the reasons for columns that are not tested.
    """
    provenance = rng_provenance(generator)
    nulls, about = run_side_by_side(hypotheses, estimator, [[one] for one in asked], settings, generator, method)
    failed = {}
    for i, (label, hypothesis) in enumerate(zip(labels, hypotheses, strict=True)):
        if isinstance(null := nulls[i], str):
            nulls[i] = failed[label] = reason_in(null, hypothesis.variables[0])
    about["notes"] = (*about["notes"], *untested_notes(failed))
    return adjusted_tests(
        nulls,
        method,
        test=hypotheses[0].kind.name,
        keys=("column",),
        labels=[(label,) for label in labels],
        untested={(label,): reason for label, reason in untested.items()},
        n_observations=hypotheses[0].n_observations,
        alpha=settings.alpha,
        rng=provenance,
        **about,
    )


def one_by_one(variable: Variable) -> list[tuple[np.ndarray, Scale | None]]:
    """The columns of a variable, each with its unit: (n, 1), or the several numbers that a column of a table became."""
    if variable.encoding is not None:
        return [(np.ascontiguousarray(variable.points[:, group]), None) for group in variable.encoding.groups]
    each = [slice(j, j + 1) for j in range(variable.points.shape[1])]
    return [(np.ascontiguousarray(variable.points[:, one]), _unit_of(variable.scale, one)) for one in each]


def _unit_of(scale: Scale | None, columns: slice) -> Scale | None:
    """The units of some columns."""
    return scale[columns] if isinstance(scale, tuple) else scale


def refuse_missing(missing: bool) -> None:
    """Raise ValueError where missing values remain."""
    if missing:
        raise ValueError(
            "nan_policy='propagate' is for a single p-value: use nan_policy='omit' to drop rows with missing values, "
            "or test the columns that are complete"
        )


def one_width_each(bandwidth: Any, labels: Sequence[str], name: str) -> list[Any]:
    """A bandwidth for every column: one for all, or one each, in their order or by name."""
    if hasattr(bandwidth, "keys"):
        return by_name(bandwidth, labels, name, rest="median")
    if isinstance(bandwidth, str) or n_dimensions(bandwidth, name) == 0:
        return [bandwidth] * len(labels)
    if len(bandwidth) != len(labels):
        raise ValueError(
            f"{name} has {len(bandwidth)} entries for {counted(len(labels), 'column')}; give one for each, or one for "
            "all"
        )
    return list(bandwidth)


def labelled(variable: Variable, count: int, prefix: str) -> tuple[str, ...]:
    """Names of columns: those of a table or a series, or ``prefix`` and their number from 0."""
    encoding = variable.encoding
    if encoding is None:
        return tuple(f"{prefix}{j}" for j in range(count))
    shown = shown_names(encoding.names, named=encoding.named)
    return shown or tuple(f"{prefix}{name}" for name in encoding.names)
