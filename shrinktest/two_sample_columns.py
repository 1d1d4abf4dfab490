"""In which columns do two samples differ?  ``two_sample_test_columns``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shrinktest._check import choice
from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest._random import as_rng
from shrinktest.data.on_disk.sources import in_batches
from shrinktest.data.read import XY
from shrinktest.data.untestable import without_untestable
from shrinktest.equal_distributions import TwoEqualDistributions
from shrinktest.hypothesis import Hypothesis
from shrinktest.kernel_spec import KernelSpec, refuse_candidates
from shrinktest.many import ColumnsToTest, dropping, listwise_note, refuse_missing, run_many
from shrinktest.permutations.serial_correlation import BY_GROUPS, BY_PAIRS
from shrinktest.results.multiple_tests_result import METHODS, WESTFALL_YOUNG, MultipleTestsResult
from shrinktest.settings import Settings

_LABEL = KernelSpec("gaussian", "median")  # of the sample, as a variable


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
    """Test in every column whether two samples have the same distribution.

    The p-values are adjusted for multiple comparisons.

    Parameters
    ----------
    X, Y : array_like, shape (m, d) and (n, d)
        The samples: arrays, tables or batches, as in :func:`two_sample_test`.
    bandwidth : float, sequence or dict of float, or "median", default "median"
        One for all columns, or one per column; "median" is the median distance in that column.
    groups
        A group must lie in one sample.
    nan_policy : {"raise", "omit", "indicator"}, default "raise"
        "raise" raises an error, whereas "omit" drops rows with a missing value in any column, with
        a note.  "indicator" uses missingness as information (:doc:`/tables`).
    rank
        For data in batches the default is 100 per column.
    workers
        For data in batches it may be an executor or a dask client.

    Returns
    -------
    MultipleTestsResult
        ``result.table``, ``result.reject()``, ``result.summary()``, ``result.plot()``.  A column
        that cannot be tested has a ``reason`` in the table, but no p-value.

    See Also
    --------
    compare : These tests with effect sizes, an overall test and a report.
    two_sample_test : Whether the samples differ in all columns together.
    independence_matrix : Columns of one sample that depend on each other.

    Notes
    -----
    The p-value of a column equals the p-value of :func:`two_sample_test` on this column with the
    same ``rng``.  Because all columns share the permutations of rows, the step-down procedure of
    Westfall and Young [WY93] accounts for their dependence and loses little power if they are
    correlated; :doc:`/validity` lists the error rate that each method controls.

    References
    ----------
    .. [WY93] Westfall and Young, "Resampling-based multiple testing: examples and methods for
       p-value adjustment", Wiley, 1993.

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
    refuse_candidates(
        "two_sample_test_columns", kernel, bandwidth if isinstance(bandwidth, str) else "median"
    )
    method = choice(method, METHODS, "method")
    spec = KernelSpec(kernel, bandwidth)
    settings = Settings.read(
        form=form,
        n_resamples=n_resamples,
        alpha=alpha,
        workers=workers,
        progress=progress,
        gram=gram,
        rank=rank,
        max_memory=max_memory,
        store=store,
        batched=in_batches(X, Y),
    )
    reading = {"scale": scale, "nan_policy": nan_policy, "column_types": column_types}
    design = {"blocks": blocks, "paired": paired, "groups": groups, "transform": transform}
    if in_batches(X, Y):
        from shrinktest.on_disk.two_passes import OnDiskTest

        refused = {**design, "permutations": permutations}
        on_disk = OnDiskTest(
            estimator, [KernelSpec(kernel, "median")], settings, rng, refused, **reading
        )
        X, Y = on_disk.in_memory((X, Y), XY)
        if in_batches(X, Y):
            binned, columns, hypotheses = on_disk.read_columns((X, Y), spec)
            rows = sum(binned.source.survey.sizes)
            generator = on_disk.generator
            return column_tests(
                binned, columns, estimator, settings, generator, method, hypotheses, rows
            )
    whole, unread = without_untestable(
        lambda reasons: TwoEqualDistributions.read(
            X,
            Y,
            own=permutations,
            **design,
            **{**reading, "column_types": dropping(column_types, reasons)},
        )
    )
    refuse_missing(whole.missing)
    columns = ColumnsToTest.read(
        whole.variables[0], spec, "x", unread=unread, left_out=whole.untested
    )
    return column_tests(whole, columns, estimator, settings, as_rng(rng), method)


def column_tests(
    whole: TwoEqualDistributions,
    columns: ColumnsToTest,
    estimator: Any,
    settings: Settings,
    generator: np.random.Generator,
    method: str,
    hypotheses: Sequence[Hypothesis] | None = None,
    rows: int | None = None,
) -> MultipleTestsResult:
    """Test columns of two samples, by the permutations of ``whole``.

    Of batches, and with covariates, ``hypotheses`` are given.
    """
    if hypotheses is None:
        hypotheses = [replace(whole, variables=(column.values,)) for column in columns.tested]
    lost = listwise_note(whole.listwise, sum(whole.sizes) if rows is None else rows)
    return run_many(
        hypotheses,
        [(column.label,) for column in columns.tested],
        ("column",),
        [
            [column.spec, *[_LABEL] * (len(hypothesis.variables) - 1)]
            for column, hypothesis in zip(columns.tested, hypotheses, strict=True)
        ],
        estimator,
        settings,
        generator,
        method,
        untested={(label,): reason for label, reason in columns.untested.items()},
        notes=(*lost, *serial_note(whole), *columns.notes),
        without=("no-weight",),
    )


def serial_note(whole: TwoEqualDistributions) -> tuple[str, ...]:
    """Note on serial correlation in samples.

    The advice holds for tests without ``block_length``.
    """
    correlation = whole.serial_correlation() if whole.own is None else None
    if correlation is None:
        return ()
    return (correlation.note(BY_PAIRS if whole.restriction.paired else BY_GROUPS),)
