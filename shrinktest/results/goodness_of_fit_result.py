"""GoodnessOfFitResult: whether data fit a model, where they do not, and in which columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from shrinktest.results.aggregate_result import AggregateResult
from shrinktest.results.multiple_tests_result import WESTFALL_YOUNG, MultipleTestsResult
from shrinktest.results.result import NO_DATA
from shrinktest.results.witness import TwoSampleResult


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class GoodnessOfFitResult(TwoSampleResult):
    """Result of :func:`goodness_of_fit_test`: all of a :class:`TwoSampleResult`.

    The second sample is the reference sample of the model.  Therefore, the witness function is
    positive at values that are more frequent in the data than in the model.

    Attributes
    ----------
    fitted : FittedModel, str or None
        The data and the model for tests of columns or, in a pickle, the reason why they are
        missing.
    null, data, setup, alpha, estimates, rng, notes, context
        As in a :class:`TestResult`, whose methods it has.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import goodness_of_fit_test
    >>> rng = np.random.default_rng(1)
    >>> def model(rng, n):
    ...     return rng.normal(size=(n, 2))
    >>> data = np.column_stack([rng.normal(size=80), rng.exponential(size=80) - 1.0])
    >>> result = goodness_of_fit_test(data, model, rng=0)
    >>> result.columns(rng=0).table[["column", "pvalue", "adjusted"]]
      column  pvalue  adjusted
    0     x0   0.136     0.136
    1     x1   0.009     0.017
    """

    fitted: Any = field(default=None, compare=False)

    def columns(self, *, method: str = WESTFALL_YOUNG, rng: Any = None) -> MultipleTestsResult:
        """Test every column separately, on shared data sets of the model.

        Parameters
        ----------
        method : str, default "westfall-young"
            Adjustment of the p-values for the number of columns, as in
            :func:`two_sample_test_columns`.
        rng : None, int, SeedSequence, BitGenerator or Generator
            Seed or generator that draws the data sets.

        Returns
        -------
        MultipleTestsResult
            Its ``table`` has a row for every column, but a wrong dependence between columns shows
            in none.

        Raises
        ------
        ValueError
            If the result does not hold its data, or bandwidths are not one rule for all columns.
        """
        if self.fitted is None or isinstance(self.fitted, str):
            raise ValueError(self.fitted or NO_DATA)
        return self.fitted.columns(method, rng)  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class AggregateGoodnessOfFitResult(AggregateResult):
    """Result of :func:`goodness_of_fit_test` by several statistics: an :class:`AggregateResult`.

    Attributes
    ----------
    fitted
        As in a :class:`GoodnessOfFitResult`.
    members, adjusted, decided, null, data, setup, alpha, estimates, rng, notes, context
        As in an :class:`AggregateResult`.
    """

    fitted: Any = field(default=None, compare=False)

    columns = GoodnessOfFitResult.columns
