"""KSampleResult: whether several samples differ, and which pairs of them do."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

from shrinktest.results.aggregate_result import AggregateResult
from shrinktest.results.pairwise_result import SHAFFER, PairwiseResult
from shrinktest.results.result import NO_DATA, TestResult


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class KSampleResult(TestResult):
    """Result of :func:`k_sample_test`, which can compare every pair of samples, too.

    Attributes
    ----------
    pairs : SamplePairs, str or None
        The data for tests of pairs or, in a pickle, the reason why they are missing.
    null, data, setup, alpha, estimates, rng, notes, context
        As in a :class:`TestResult`, whose methods it has.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import k_sample_test
    >>> rng = np.random.default_rng(1)
    >>> samples = {
    ...     "a": rng.normal(size=40),
    ...     "b": rng.normal(size=40),
    ...     "c": rng.normal(1.0, 1.0, size=40),
    ... }
    >>> result = k_sample_test(samples, rng=0)
    >>> pairs = result.pairwise(rng=0)
    >>> pairs.table[["first", "second", "pvalue", "adjusted", "auc"]].round(3)
      first second  pvalue  adjusted    auc
    0     a      b   0.454     0.454  0.538
    1     a      c   0.001     0.003  0.784
    2     b      c   0.001     0.003  0.822
    """

    pairs: Any = field(default=None, compare=False)

    def pairwise(
        self,
        *,
        method: str = SHAFFER,
        effects: bool = True,
        confidence: float = 0.95,
        rng: Any = None,
    ) -> PairwiseResult:
        """Test every pair of samples on permutations of the rows of these two.

        Parameters
        ----------
        method : str, default "shaffer"
            Adjustment of the p-values: by Shaffer's procedure, which controls the family-wise error
            rate regardless of which samples are equal, or by a method of statsmodels'
            ``multipletests``.
        effects : bool, default True
            Whether to estimate how different every pair is, which needs more time than the tests.
        confidence : float, default 0.95
            Confidence level of every interval of the AUC, which is not adjusted for their number.
        rng : None, int, SeedSequence, BitGenerator or Generator
            Seed or generator of the permutations.

        Returns
        -------
        PairwiseResult
            Its ``table`` has a row for every pair, and ``effects`` has all of each effect.

        Raises
        ------
        ValueError
            If the data were read in batches, the permutations were your own, or the result does not
            hold its data.

        Notes
        -----
        Estimator, kernel, blocks and groups are those of the test.  Bandwidths are computed from
        the rows of the pair, so that the p-values are those of :func:`two_sample_test`, but the AUC
        may therefore differ from :meth:`effect`, which has one kernel for all pairs.  Permutations
        of all rows would be valid only if all samples were equal.  The adjusted p-values do not
        depend on the test of all samples together, and the two may disagree.

        A pair that is not rejected is not shown to be equal, and samples that are both not rejected
        against a third may differ from each other (:func:`equivalence_test` shows equivalence).
        """
        if self.pairs is None or isinstance(self.pairs, str):
            raise ValueError(self.pairs or NO_DATA)
        return self.pairs.pairwise(method, effects, confidence, rng)  # type: ignore[no-any-return]

    def with_data(self) -> Self:
        """Return this result with its data, which it then has after pickling, too."""
        kept = super().with_data()
        if self.pairs is None or isinstance(self.pairs, str):
            return kept
        return replace(kept, pairs=replace(self.pairs, keep=True))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class AggregateKSampleResult(KSampleResult, AggregateResult):
    """Result of :func:`k_sample_test` by several statistics: an :class:`AggregateResult`.

    Attributes
    ----------
    pairs
        As in a :class:`KSampleResult`.
    members, adjusted, decided, null, data, setup, alpha, estimates, rng, notes, context
        As in an :class:`AggregateResult`.
    """
