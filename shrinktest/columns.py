"""In which columns do two samples differ?  ``two_sample_test_columns``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from shrinktest._several import labelled, require_variation
from shrinktest._validate import as_points, as_rng, choice, level, n_workers, resamples, rng_provenance
from shrinktest.estimators import as_estimator
from shrinktest.estimators.base import Tuned
from shrinktest.kernels import as_kernel
from shrinktest.multiple.collection import refuse_several
from shrinktest.multiple.many import conclude_many, same_state, setup_generator, warn_if_hopeless
from shrinktest.nulls.relabellings import Relabellings
from shrinktest.nulls.restriction import read_samples
from shrinktest.results.multiple import METHODS, WESTFALL_YOUNG, MultipleTestsResult
from shrinktest.statistics.configuration import FORMS, Configuration, form_of, resolve
from shrinktest.statistics.mmd import configure
from shrinktest.statistics.route import memory_limit


def two_sample_test_columns(
    X: Any,
    Y: Any,
    *,
    method: str = WESTFALL_YOUNG,
    estimator: Any = "kme",
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    statistic: str = "auto",
    n_resamples: float = 999,
    alpha: float = 0.05,
    blocks: Any = None,
    paired: bool = False,
    groups: Any = None,
    nan_policy: str = "raise",
    rng: Any = None,
    workers: int | None = None,
    progress: bool = False,
    gram: str = "auto",
    rank: int | None = None,
    max_memory: float | None = None,
) -> MultipleTestsResult:
    """A kernel two-sample permutation test for every column, on shared relabellings, adjusted for their number.

    Parameters
    ----------
    X, Y : array_like, shape (m, d) and (n, d)
        The samples, one row an observation; data frames are matched by column name.
    method : str, default "westfall-young"
        How p-values are adjusted: "westfall-young" (step-down on the shared relabellings), or a method of statsmodels'
        ``multipletests``: "bonferroni", "sidak", "holm-sidak", "holm", "simes-hochberg", "hommel" (the chance of any
        false rejection), "fdr_bh", "fdr_by", "fdr_tsbh", "fdr_tsbky" (the false discovery rate).
    estimator, kernel, statistic
        As in :func:`two_sample_test`, for every column.
    bandwidth : float, sequence of float or "median"
        One for every column, or one for all; "median" is the median distance of that column.
    n_resamples, nan_policy, rng, workers, progress, gram, rank, max_memory
        As in :func:`two_sample_test`; "omit" drops rows that miss a value in any column, because the relabellings are
        of whole rows.
    alpha : float, default 0.05
        Level at which the result decides.
    blocks, paired, groups
        Which relabellings of the rows the design of the data allows, as in :func:`two_sample_test`.

    Returns
    -------
    MultipleTestsResult
        ``result.table``, ``result.reject()``, ``result.summary()``, ``result.plot()``.

    Raises
    ------
    ValueError, TypeError
        For input that cannot be tested, columns with one value only among them; the message names them.

    Warns
    -----
    UserWarning
        When there are too few relabellings to reject any of the tests at ``alpha``.

    Notes
    -----
    The p-value of a column is that of :func:`two_sample_test` on that column with the same ``rng``.  All columns see
    the same splits of the rows, which keep the dependence between columns: the step-down procedure of Westfall and
    Young [WY93] then does not pay for tests that say the same.  Its
    adjusted p-values are exact when the two samples have one distribution.  When they differ in some columns, the
    chance of a false rejection among the others is at most ``alpha`` if those columns have the same *joint*
    distribution in both samples; if each of them has the same distribution but they depend on each other differently,
    use "holm", which needs n_resamples >= d / alpha to reject anything.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import two_sample_test_columns
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(30, 4)), rng.normal(size=(30, 4)) * [1.0, 1.0, 3.0, 1.0]
    >>> two_sample_test_columns(X, Y, rng=0).table[["column", "pvalue", "adjusted", "reject"]]
      column  pvalue  adjusted  reject
    0     x0   0.864     0.972   False
    1     x1   0.854     0.972   False
    2     x2   0.001     0.001    True
    3     x3   0.496     0.867   False
    """
    refuse_several("two_sample_test_columns", estimator, kernel, bandwidth if isinstance(bandwidth, str) else "median")
    est = as_estimator(estimator)
    alpha = level(alpha)
    choice(method, METHODS, "method")
    choice(statistic, FORMS, "statistic")
    threads = n_workers(workers)
    n_resamples = resamples(n_resamples)
    names = next((found for z, name in ((X, "X"), (Y, "Y")) if (found := as_points(z, name).columns)), None)
    x, y, missing, restriction = read_samples(X, Y, nan_policy, blocks=blocks, paired=paired, groups=groups)
    if missing:
        raise ValueError(
            "nan_policy='propagate' is for a single p-value: use nan_policy='omit' to drop rows with missing values, "
            "or test the columns that are complete"
        )
    generator = as_rng(rng)
    provenance = rng_provenance(generator)
    pooled = np.vstack([x, y])
    labels = labelled(names, pooled.shape[1], "x")
    require_variation(pooled, labels, "X and Y")
    sizes = (len(x), len(y))
    widths = one_width_each(bandwidth, len(labels), "bandwidth")
    options: dict[str, Any] = {
        "form": form_of(est, statistic, sizes),
        "tuning": est.tuning_for(sizes) if isinstance(est, Tuned) else "fixed",
        "gram": gram,
        "rank": rank,
        "memory": memory_limit(max_memory),
        "rng": setup_generator(generator),
    }
    again = same_state(generator)

    def splits(draws: np.random.Generator) -> Relabellings:
        return restriction.splits(n_resamples, draws, *sizes, alpha)

    def tests() -> Iterator[tuple[Configuration, Relabellings]]:
        for j, label in enumerate(labels):
            column = np.ascontiguousarray(pooled[:, [j]])
            chosen = resolve(as_kernel(kernel, widths[j]), column, options["rng"], f"column {label!r} of X and Y")
            yield configure(est, chosen, column, len(x), **options), splits(again())

    warn_if_hopeless(splits(generator), method, len(labels), alpha)
    return conclude_many(
        tests(),
        method=method,
        workers=threads,
        progress=progress,
        test="two-sample",
        keys=("column",),
        labels=tuple((label,) for label in labels),
        estimator=est,
        n_observations=sizes,
        alpha=alpha,
        rng=provenance,
        restriction=splits(generator).restriction,
        form=options["form"],
        tuning=options["tuning"],
    )


def one_width_each(bandwidth: Any, count: int, name: str) -> list[Any]:
    """A bandwidth for every column: one for all, or one each."""
    if isinstance(bandwidth, str) or np.ndim(bandwidth) == 0:
        return [bandwidth] * count
    if len(bandwidth) != count:
        raise ValueError(f"{name} has {len(bandwidth)} entries for {count} columns; give one for each, or one for all")
    return list(bandwidth)
