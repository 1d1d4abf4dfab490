"""Do several samples come from one distribution?  ``k_sample_test``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from shrinktest._check import choice, counted
from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest._parallel import memory_limit
from shrinktest.data.labels import named_samples, numbered
from shrinktest.data.on_disk.sources import in_batches
from shrinktest.data.segments import Segments, taken_labels
from shrinktest.equal_distributions import EqualDistributions
from shrinktest.kernel_spec import KernelSpec
from shrinktest.notes import note
from shrinktest.results.k_sample_result import KSampleResult
from shrinktest.run import run
from shrinktest.sample_pairs import SamplePairs
from shrinktest.settings import Settings
from shrinktest.statistics.mmd import COMPARISONS, WEIGHTS

_IN_BATCHES = "pairwise: rows are in batches or bins; use bins=0, or test pairs by two_sample_test"


@hinted
@documented
def k_sample_test(
    *samples: Any,
    by: Any = None,
    comparison: str = "pairs",
    weights: str = "sizes",
    estimator: Any = "kme",
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    scale: Any = "auto",
    form: str = "auto",
    n_resamples: float = 999,
    stopping: Any = None,
    alpha: float = 0.05,
    blocks: Any = None,
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
    bins: int | None = None,
    max_memory: float | None = None,
    store: Any = None,
) -> KSampleResult:
    """Test whether several samples have the same distribution.

    The test is a kernel permutation test for k samples.

    Parameters
    ----------
    *samples : array_like, shape (n_i, d) or (n_i,)
        Two or more samples, or one dict from names to samples: arrays, tables or batches, as in
        :func:`two_sample_test`.  With ``by``, one table with the rows of all samples, or its file.
    by : str or array_like, shape (n,), optional
        Column of the table that says which sample a row is in, such as "week"; or labels of the
        rows.  Rows without a label are left out, with a note.
    comparison : {"pairs", "pooled"}, default "pairs"
        "pairs" averages the squared distances of all pairs of samples, whereas "pooled" averages
        the squared distances of each sample from the pooled sample.
    weights : {"sizes", "equal"}, default "sizes"
        "sizes" weights pairs by n_i n_j and samples by n_i, whereas "equal" gives all distances
        equal weight.
    form : {"auto", "biased", "unbiased"}, default "auto"
        As in :func:`two_sample_test`, but "pooled" has only the biased form.
    groups
        A group must lie in one sample.
    workers
        For data in batches it may be an executor or a dask client.
    bins : int, optional
        As in :func:`two_sample_test`; ``result.pairwise()`` is only available if ``bins=0``.

    Returns
    -------
    KSampleResult
        A result with one estimate per sample; ``result.pairwise()`` tests every pair of samples.

    See Also
    --------
    TestResult.effect : Effect size of every pair of samples, with intervals.
    two_sample_test : Two samples.
    closer_test : Which of several samples is closest to another.
    change_points : Times at which a series changes, if the samples are not known beforehand.
    solve_sample_size : Number of observations that a test needs.

    Notes
    -----
    The weights of the distances sum to 1, and therefore "pairs" with two samples is
    :func:`two_sample_test`.  If the plain mean and weights "sizes" are used, "pairs" and "pooled"
    are the same: the between-sample part of the DISCO decomposition (:doc:`/theory`).  The test is
    exact, because estimators are tuned and fitted anew for every permutation.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import k_sample_test
    >>> rng = np.random.default_rng(0)
    >>> samples = [
    ...     rng.normal(size=(20, 3)),
    ...     rng.normal(size=(15, 3)),
    ...     rng.normal(0.7, 1.0, size=(25, 3)),
    ... ]
    >>> result = k_sample_test(*samples, rng=0)
    >>> result.pvalue
    0.011

    The same from one table with a column of labels:

    >>> import pandas as pd
    >>> table = pd.DataFrame(np.concatenate(samples), columns=["a", "b", "c"])
    >>> table["week"] = np.repeat([1, 2, 3], [20, 15, 25])
    >>> by_week = k_sample_test(table, by="week", scale=None, rng=0)
    >>> by_week.pvalue, by_week.names
    (0.011, ('1', '2', '3'))
    >>> k_sample_test(
    ...     *samples, estimator="fkmse", comparison="pooled", rng=0, n_resamples=99
    ... ).pvalue
    0.02
    """
    labels = {"blocks": blocks, "groups": groups}
    left_out: tuple[str, ...] = ()
    if by is not None:
        samples, labels, left_out = _split(samples, by, labels, column_types, max_memory)
    given, called = named_samples(samples)
    design = {**labels, "transform": transform}
    refused = {**design, "permutations": permutations}
    if bins is not None or (isinstance(gram, str) and gram in ("rff", "nystrom")):
        from shrinktest.on_disk.in_bins import in_bins

        given = in_bins(
            given,
            called or numbered("samples", len(given)),
            bins,
            gram=gram,
            estimator=estimator,
            nan_policy=nan_policy,
            refused=refused,
        )
    settings = Settings.read(
        form=form,
        n_resamples=n_resamples,
        alpha=alpha,
        stopping=stopping,
        workers=workers,
        progress=progress,
        gram=gram,
        rank=rank,
        max_memory=max_memory,
        store=store,
        batched=in_batches(*given),
    )
    choice(comparison, COMPARISONS, "comparison")
    choice(weights, WEIGHTS, "weights")
    spec = KernelSpec(kernel, bandwidth)
    reading = {"scale": scale, "nan_policy": nan_policy, "column_types": column_types}
    pooling = {"comparison": comparison, "weights": weights}
    if in_batches(*given):
        from shrinktest.on_disk.hypotheses import Binned
        from shrinktest.on_disk.two_passes import OnDiskTest

        names = called or numbered("samples", len(given))
        on_disk = OnDiskTest(estimator, [spec], settings, rng, refused, **reading)
        given = on_disk.in_memory(given, names)
        if in_batches(*given):
            binned = on_disk.run_samples(Binned, given, names, called=called, **pooling)
            return _noted(cast(KSampleResult, binned), _IN_BATCHES, left_out)
        samples = (dict(zip(called, given, strict=True)),) if called else given
    hypothesis = EqualDistributions.read(*samples, own=permutations, **reading, **design, **pooling)
    result = cast(KSampleResult, run(hypothesis, estimator, [spec], settings, rng))
    return _noted(result, SamplePairs(hypothesis, estimator, spec, settings), left_out)


def _noted(result: KSampleResult, pairs: SamplePairs | str, notes: Sequence[str]) -> KSampleResult:
    """Return a result with its pairs of samples, and further notes first."""
    if not notes:
        return replace(result, pairs=pairs)
    return replace(result, pairs=pairs, notes=lambda: (*notes, *result.notes))


def _split(
    samples: tuple[Any, ...],
    by: Any,
    labels: dict[str, Any],
    column_types: Any,
    max_memory: float | None,
) -> tuple[tuple[dict[str, Any]], dict[str, Any], tuple[str, ...]]:
    """Return one table as named samples, the labels of their rows, and a note on other rows."""
    if len(samples) != 1 or isinstance(samples[0], Mapping):
        raise TypeError("by= splits one table into samples; pass the table alone")
    (table,) = samples
    if in_batches(table) or isinstance(table, str):
        from shrinktest.data.on_disk.whole import read_if_file

        table = read_if_file(table, "the table", column_types, memory_limit(max_memory))
    segments = Segments.of([table], by, ["the table"])
    if len(segments.names) < 2:
        raise ValueError(f"by={by!r} has one value only; a test needs two samples")
    order = range(len(segments.names))
    split = {segments.names[k]: segments.taken(0, k) for k in order}
    size = len(segments.codes[0])
    own = {
        name: given
        if given is None
        else [taken_labels(given, segments.rows(0, k), name, size, "the table") for k in order]
        for name, given in labels.items()
    }
    missing = counted(segments.missing[0], "row")
    named = by if isinstance(by, str) else "the label"
    notes = (note("no-segment", by=named, rows=missing),) if segments.missing[0] else ()
    return (split,), own, notes
