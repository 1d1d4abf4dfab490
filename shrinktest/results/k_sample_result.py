"""KSampleResult: whether several samples differ, and which pairs of them do."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

from shrinktest.results.aggregate_result import AggregateResult
from shrinktest.results.pairwise_result import SHAFFER, PairwiseResult
from shrinktest.results.result import NO_DATA, TestResult


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class KSampleResult(TestResult):
    """Result of :func:`k_sample_test`: all of a :class:`TestResult`, and which samples differ.

    Attributes
    ----------
    pairs : SamplePairs, str or None
        The data for tests of pairs; in a pickle, why they are missing.
    null, data, setup, alpha, estimates, rng, notes, context
        As in a :class:`TestResult`.

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
            How p-values are adjusted: by Shaffer's procedure, which controls the familywise error
            whichever samples are equal, or by a method of statsmodels' ``multipletests``.
        effects : bool, default True
            Whether to estimate how different every pair is, which takes longer than the tests.
        confidence : float, default 0.95
            Confidence of every interval of the AUC by itself.
        rng : None, int, SeedSequence, BitGenerator or Generator
            Source of the permutations.

        Returns
        -------
        PairwiseResult
            Its ``table`` has a row for every pair.  ``effects`` has all of each effect.

        Notes
        -----
        Estimator, kernel, blocks and groups are those of the test; bandwidths are found on the rows
        of the pair, so that the p-values are those of :func:`two_sample_test` and the AUC may
        differ from :meth:`effect`, which has one kernel for all pairs.  Permutations of all rows
        would be valid only if all samples were equal.  The adjusted p-values do not depend on the
        test of all samples together, and the two may disagree.

        A pair that is not rejected is not shown to be equal, and samples that are both not rejected
        against a third may differ from each other (:func:`equivalence_test` shows equivalence).

        Raises
        ------
        ValueError
            For data in batches, permutations of your own, and without the data.
        """
        if self.pairs is None or isinstance(self.pairs, str):
            raise ValueError(self.pairs or NO_DATA)
        return self.pairs.pairwise(method, effects, confidence, rng)  # type: ignore[no-any-return]

    def with_data(self) -> Self:
        """Return the same result, which keeps its data when it is pickled."""
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
