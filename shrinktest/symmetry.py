"""Is a distribution symmetric about a point?  ``symmetry_test``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import complete_points, listed, n_dimensions
from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest._rounding import merged
from shrinktest.data.all_rows import (
    at_least_two_rows,
    check_column_types,
    read_rows,
)
from shrinktest.data.read import check_nan_policy
from shrinktest.data.scale import AUTO, ScaleOption
from shrinktest.data.tables import names_for
from shrinktest.equal_distributions import TwoEqualDistributions
from shrinktest.kernel_spec import KernelSpec
from shrinktest.kernels.user import takes_row_numbers
from shrinktest.permutations.serial_correlation import BY_ROWS_APART
from shrinktest.results.base import TestData
from shrinktest.results.info import SYMMETRY, TestInfo
from shrinktest.results.result import TestResult
from shrinktest.run import run
from shrinktest.settings import Settings


@dataclass(frozen=True, eq=False, kw_only=True)
class Symmetry(TwoEqualDistributions):
    """Hypothesis that the rows of X - c and of c - X have the same distribution.

    The sign of each row can then be flipped.

    A flip exchanges a row with its reflection, so this is a test of pairs (x - c, c - x).
    """

    kind: ClassVar[TestInfo] = SYMMETRY

    @property
    def n_observations(self) -> tuple[int, ...]:
        """Number of rows; their reflections are not observations."""
        return self.sizes[:1]

    @property
    def paired(self) -> bool:
        """False, because a row and its reflection differ by twice the row."""
        return False

    def serial_notes(self) -> tuple[str, ...]:
        """Note on serial correlation of the rows."""
        correlation = self.variables[0].rows_of(np.arange(self.sizes[0])).correlated("X")
        wrong = "flipping single rows makes p-values too small"
        return () if correlation is None else (correlation.note(BY_ROWS_APART, wrong),)

    def data(self) -> TestData:
        """Return what was tested; the reflections have no name in the data."""
        return replace(super().data(), names=())


@hinted
@documented
def symmetry_test(
    X: Any,
    *,
    about: Any = 0.0,
    estimator: Any = "kme",
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    scale: Any = "auto",
    form: str = "auto",
    n_resamples: float = 999,
    alpha: float = 0.05,
    stopping: Any = None,
    column_types: Any = None,
    nan_policy: str = "raise",
    rng: Any = None,
    workers: Any = None,
    progress: bool = False,
    gram: str = "auto",
    rank: int | None = None,
    max_memory: float | None = None,
) -> TestResult:
    """Test whether a distribution is symmetric about a point.

    The kernel test flips the signs of rows at random.

    Parameters
    ----------
    X : array_like, shape (n, d) or (n,)
        Numbers, with one row per observation.
    about : float or array_like, shape (d,), default 0
        Point c of symmetry: one number for all columns, or one per column.  It must not be computed
        from ``X``.
    bandwidth
        It is computed from the rows of X - c and c - X together.
    scale
        Units are computed from the rows of X - c and c - X together.
    n_resamples : int or inf, default 999
        Number of random sign patterns.  If there are no more than this in total, all are
        enumerated.
    column_types : dict, optional
        As in :func:`two_sample_test`, but every column that is tested must hold numbers.
    nan_policy : {"raise", "omit", "propagate"}, default "raise"
        Whether to raise an error for missing values, drop their rows, or return a result of NaN.

    Returns
    -------
    TestResult
        Several estimators, kernels or bandwidths give an :class:`~shrinktest.AggregateResult`.

    See Also
    --------
    two_sample_test : Test of two samples; exchangeable pairs (``paired=True``) have symmetric
        differences.

    Notes
    -----
    The statistic is the squared distance between the estimated kernel means of X - c and c - X.  If
    the distribution is symmetric about c in the sense that X - c and c - X have the same
    distribution, independent rows have the same joint distribution when their signs are flipped,
    and therefore the Type I error rate is exact for every estimator.  All columns of a row are
    flipped together.  Because a sign pattern and its opposite have equal statistics, n rows have at
    most 2**(n - 1) different values.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import symmetry_test
    >>> rng = np.random.default_rng(0)
    >>> symmetric, skewed = rng.normal(size=60), rng.exponential(size=60)
    >>> (
    ...     symmetry_test(symmetric, rng=0).pvalue,
    ...     symmetry_test(skewed, about=np.log(2.0), rng=0).pvalue,
    ... )
    (0.692, 0.019)
    """
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
    )
    if takes_row_numbers(kernel):
        raise ValueError("kernel: row numbers of a matrix have no reflection; pass a kernel of X")
    hypothesis = read(X, about=about, scale=scale, column_types=column_types, nan_policy=nan_policy)
    return run(hypothesis, estimator, [KernelSpec(kernel, bandwidth)], settings, rng)


def read(
    X: Any,
    *,
    about: Any = 0.0,
    scale: Any = AUTO,
    column_types: Any = None,
    nan_policy: str = "raise",
) -> Symmetry:
    """Read one sample and its reflection.

    Raises TypeError or ValueError for what cannot be tested.
    """
    check_nan_policy(nan_policy)
    if nan_policy == "indicator":
        raise ValueError("nan_policy='indicator': a missing value has no reflection; use 'omit'")
    (name,) = names_for([X], ["X"])
    data = read_rows([X], [name], nan_policy, column_types)
    check_column_types(column_types, [data])
    columns = data.as_columns()
    if labels := [column.name for column in columns if column.kind != "number"]:
        raise TypeError(
            f"{name}: columns {listed(labels)} are not numeric; drop them with column_types="
        )
    (complete,) = data.complete(nan_policy)
    keep = complete if nan_policy == "omit" else np.ones_like(complete)
    at_least_two_rows(name, keep, data.missing_in(0) if nan_policy == "omit" else None)
    rows = np.stack([column.numbers()[keep] for column in columns], axis=1)
    if n_dimensions(about, "about") > 1 or np.size(about) not in (1, rows.shape[1]):
        entries = f"about has {np.size(about)} entries for {rows.shape[1]} columns"
        raise ValueError(f"{entries}; use one number, or one for each")
    center = np.broadcast_to(
        complete_points(np.atleast_1d(about), "about").values[:, 0], rows.shape[1:]
    )
    together = merged(np.vstack([rows, center]))
    rows = together[:-1] - together[-1]
    rows, reflected = np.split(merged(np.vstack([rows, -rows])), 2)
    units = ScaleOption.of(scale).settled(table=data.columns is not None)
    hypothesis = Symmetry.read(rows, reflected, paired=True, nan_policy="propagate", scale=units)
    return replace(hypothesis, remarks=(*data.notes, *data.omitted([keep]), *hypothesis.remarks))
