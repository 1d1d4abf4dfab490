"""Which columns depend on which?  ``independence_matrix``."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from shrinktest._several import labelled, require_variation
from shrinktest._validate import (
    Array,
    Columns,
    as_points,
    as_rng,
    choice,
    level,
    n_workers,
    resamples,
    rng_provenance,
)
from shrinktest.columns import one_width_each
from shrinktest.estimators import as_estimator
from shrinktest.kernels import Kernel, as_kernel
from shrinktest.multiple.collection import refuse_several
from shrinktest.multiple.many import conclude_many, same_state, setup_generator, warn_if_hopeless
from shrinktest.nulls.relabellings import Relabellings
from shrinktest.nulls.restriction import Restriction, read_pairs
from shrinktest.nulls.shuffles import OneAgainstAnother
from shrinktest.results.multiple import METHODS, WESTFALL_YOUNG, MultipleTestsResult
from shrinktest.statistics.configuration import FORMS, Configuration, form_of, resolve
from shrinktest.statistics.hsic import configure, tuning_of
from shrinktest.statistics.route import memory_limit


def independence_matrix(
    X: Any,
    Y: Any = None,
    *,
    method: str = WESTFALL_YOUNG,
    estimator: Any = "kme",
    kernel_x: Any = "gaussian",
    kernel_y: Any = None,
    bandwidth_x: Any = "median",
    bandwidth_y: Any = None,
    statistic: str = "auto",
    n_resamples: float = 999,
    alpha: float = 0.05,
    blocks: Any = None,
    groups: Any = None,
    shift: str | None = None,
    nan_policy: str = "raise",
    rng: Any = None,
    workers: int | None = None,
    progress: bool = False,
    gram: str = "auto",
    rank: int | None = None,
    max_memory: float | None = None,
) -> MultipleTestsResult:
    """A kernel independence test for every pair of columns, on shared relabellings, adjusted for their number.

    Parameters
    ----------
    X : array_like, shape (n, p)
        Observations in rows.
    Y : array_like, shape (n, q), optional
        Other variables of the same observations: every column of X is tested against every column of Y.  Without it,
        every two columns of X are tested against each other.
    method : str, default "westfall-young"
        How p-values are adjusted, as in :func:`two_sample_test_columns`.
    estimator, statistic
        As in :func:`independence_test`, for every pair.
    kernel_x, kernel_y : str, Kernel or callable, default "gaussian"
        For the columns of X and of Y; ``kernel_y`` is ``kernel_x`` if not given.
    bandwidth_x, bandwidth_y : float, sequence of float or "median"
        One for every column, or one for all; ``bandwidth_y`` is "median" if not given.
    n_resamples, alpha, nan_policy, rng, workers, progress, gram, rank, max_memory
        As in :func:`independence_test`; "omit" drops rows that miss a value in any column.

    blocks, groups, shift
        Which relabellings of the rows of Y the design of the data allows, as in :func:`independence_test`.

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
    With Y, a relabelling permutes whole rows of Y: every p-value is that of :func:`independence_test` on the pair with
    the same ``rng``.  Without Y, every column but the first is permuted by itself, as in
    :func:`joint_independence_test`; the permutation of one column relative to another is then uniform, so that every
    p-value is still that of a permutation test of the pair.

    What the adjustment controls.  Single p-values are exact for every independent pair, whatever the others do, so that
    "holm" keeps the chance of any false rejection, and "fdr_by" the false discovery rate, at ``alpha`` always (but
    "holm" needs n_resamples >= (number of pairs) / alpha to reject anything).  "westfall-young" is exact if no column
    of X depends on Y, or if all columns of X are mutually independent.  When some pairs are dependent it also needs
    the true null hypotheses to have, jointly, the distribution that the relabellings give them (subset pivotality,
    [WY93]).  That holds if the columns of X and Y that
    they are about are independent as two groups (with Y), or mutually independent (without).  It fails, for example,
    for columns 1 and 2 dependent and 3 independent of both: the tests of (1, 3) and (2, 3) depend on each other, and
    the relabellings, which break the tie of 1 and 2, do not know.  What that costs or gains is usually small, because
    only the dependence between the statistics is affected and not their distributions, but it is not guaranteed.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import independence_matrix
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=(50, 3))
    >>> Z[:, 2] = np.abs(Z[:, 0]) + 0.3 * rng.normal(size=50)
    >>> independence_matrix(Z, rng=0).table[["x", "y", "pvalue", "adjusted", "reject"]]
        x   y  pvalue  adjusted  reject
    0  x0  x1   0.059     0.108   False
    1  x0  x2   0.001     0.001    True
    2  x1  x2   0.201     0.201   False
    """
    for kernel, bandwidth in ((kernel_x, bandwidth_x), (kernel_y, bandwidth_y)):
        refuse_several("independence_matrix", estimator, kernel, bandwidth if isinstance(bandwidth, str) else "median")
    est = as_estimator(estimator)
    alpha = level(alpha)
    choice(method, METHODS, "method")
    choice(statistic, FORMS, "statistic")
    threads = n_workers(workers)
    n_resamples = resamples(n_resamples)
    if Y is None and (kernel_y is not None or bandwidth_y is not None):
        raise ValueError("kernel_y and bandwidth_y are for the columns of Y, which was not given; use kernel_x")
    design = {"blocks": blocks, "groups": groups, "shift": shift}
    if Y is None and any(value is not None for value in design.values()):
        raise ValueError(
            "blocks=, groups= and shift= restrict how the rows of Y are relabelled, which was not given (without it, "
            "every column is permuted by itself): test columns against others, independence_matrix(X, Y)"
        )
    tables, restriction = _read(X, Y, nan_policy, design)
    generator = as_rng(rng)
    provenance = rng_provenance(generator)
    n = len(tables[0][0])
    form = form_of(est, statistic, (n,))
    if form == "unbiased" and n < 4:
        raise ValueError(f"statistic='unbiased' needs at least 4 rows; found {n}")
    tuning = tuning_of(est, n)
    setup = setup_generator(generator)
    specified = (
        (kernel_x, bandwidth_x),
        (
            kernel_x if kernel_y is None else kernel_y,
            "median" if bandwidth_y is None else bandwidth_y,
        ),
    )
    sides = [
        _resolved(values, labels, kernel, bandwidth, name, setup)
        for (values, labels), (kernel, bandwidth), name in zip(tables, specified, "XY", strict=False)
    ]
    right = sides[-1]
    pairs = (
        list(itertools.combinations(range(len(right)), 2))
        if Y is None
        else list(itertools.product(range(len(sides[0])), range(len(right))))
    )
    relabellings = (
        _shuffles(n_resamples, generator, n, len(right))
        if Y is None
        else _pairings(lambda draws: restriction.pairings(n_resamples, draws, n, alpha), generator)
    )
    options: dict[str, Any] = {"gram": gram, "rank": rank, "memory": memory_limit(max_memory), "rng": setup}
    options |= {"series": restriction.series(n), "workers": threads}

    def tests() -> Iterator[tuple[Configuration, Relabellings]]:
        for i, j in pairs:
            (_, x, k), (_, y, q) = sides[0][i], right[j]
            yield configure(est, (k, q), x, y, form=form, **options), relabellings(i, j)

    warn_if_hopeless(relabellings(*pairs[0]), method, len(pairs), alpha)
    return conclude_many(
        tests(),
        method=method,
        workers=threads,
        progress=progress,
        test="independence",
        keys=("x", "y"),
        labels=tuple((sides[0][i][0], right[j][0]) for i, j in pairs),
        estimator=est,
        n_observations=(n,),
        alpha=alpha,
        rng=provenance,
        restriction=relabellings(*pairs[0]).restriction,
        form=form,
        tuning=tuning,
    )


def _read(
    X: Any, Y: Any, nan_policy: str, design: dict[str, Any]
) -> tuple[list[tuple[Array, tuple[str, ...]]], Restriction]:
    """Values and column names of X, or of X and Y, and the restriction of their pairings."""
    given = [("X", X)] if Y is None else [("X", X), ("Y", Y)]
    columns: list[Columns] = [as_points(table, name).columns for name, table in given]
    x, y, missing, restriction = read_pairs(X, X if Y is None else Y, nan_policy, **design)
    if missing:
        raise ValueError(
            "nan_policy='propagate' is for a single p-value: use nan_policy='omit' to drop rows with missing values, "
            "or test the columns that are complete"
        )
    if Y is None and x.shape[1] < 2:
        raise ValueError("X has 1 column; without Y two columns or more are tested against each other")
    tables = []
    for (name, _), values, names in zip(given, (x, y), columns, strict=False):
        labels = labelled(names, values.shape[1], name.lower())
        require_variation(values, labels, name)
        tables.append((values, labels))
    return tables, restriction


def _resolved(
    values: Array, labels: tuple[str, ...], kernel: Any, bandwidth: Any, name: str, rng: np.random.Generator
) -> list[tuple[str, Array, Kernel]]:
    """Name, values (n, 1) and kernel of every column."""
    found = []
    for j, width in enumerate(one_width_each(bandwidth, len(labels), f"bandwidth_{name.lower()}")):
        column = np.ascontiguousarray(values[:, [j]])
        chosen = as_kernel(kernel, width, f"kernel_{name.lower()}")
        found.append((labels[j], column, resolve(chosen, column, rng, f"column {labels[j]!r} of {name}")))
    return found


def _pairings(
    pairings: Callable[[np.random.Generator], Relabellings], generator: np.random.Generator
) -> Callable[[int, int], Relabellings]:
    """A function from the numbers of two columns to their relabellings, which are those of the rows of Y."""
    again = same_state(generator)
    return lambda i, j: pairings(again())


def _shuffles(
    n_resamples: float, generator: np.random.Generator, n: int, columns: int
) -> Callable[[int, int], Relabellings]:
    """A function from the numbers of two columns of one table to their relabellings."""
    again = same_state(generator)
    return lambda i, j: OneAgainstAnother(n_resamples, again(), n, columns, i, j)
