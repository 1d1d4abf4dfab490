"""Checks of data for test suites: ``assert_same_distribution``."""

from __future__ import annotations

import math
from typing import Any

from shrinktest._check import choice
from shrinktest.equivalence import equivalence_test
from shrinktest.results.equivalence_result import AUC, DISTANCE, EquivalenceResult

__all__ = ["assert_same_distribution"]

NO_DIFFERENCE = "no difference"
EQUIVALENCE = "equivalence"


def assert_same_distribution(
    reference: Any,
    current: Any,
    *,
    margin: Any,
    measure: str,
    require: str = NO_DIFFERENCE,
    alpha: float = 0.05,
    names: tuple[str, str] | list[str] = ("reference", "current"),
    rng: Any = 0,
    **options: Any,
) -> EquivalenceResult:
    """Raise an AssertionError if two samples differ by more than a margin.

    Use it to check data in a test suite, such as pytest in continuous integration
    (:doc:`/testing`).

    Parameters
    ----------
    reference, current : array_like or table, shape (m, d) and (n, d)
        The samples, as in :func:`two_sample_test`.
    margin : float, str or callable
        Largest difference that does not matter, as in :func:`equivalence_test`: a number on the
        scale of ``measure``, or a change such as "shift 0.2".
    measure : {"auc", "distance"}
        Scale of the difference.  "auc" is the probability that a function fitted to other rows
        ranks a row of one sample above one of the other, from 0.5 to 1, whereas "distance" is the
        relative squared distance of the kernel means, from 0 to 1.
    require : {"no difference", "equivalence"}, default "no difference"
        Condition that must hold.  "no difference" means that no difference beyond the margin is
        shown (small samples pass), whereas "equivalence" means that a difference below the margin
        is shown (small samples fail).
    alpha : float, default 0.05
        Significance level of the one-sided test.  If the difference is exactly the margin, it
        bounds the probability of a false alarm ("no difference") or of a miss ("equivalence").
    names : tuple of str, default ("reference", "current")
        Names of the samples in the message.
    rng : None, int, SeedSequence, BitGenerator or Generator, default 0
        Seed or generator that assigns rows to folds.  If it is a number, identical data always give
        identical answers.
    **options : Any
        Further arguments of :func:`equivalence_test`, such as ``bandwidth`` or ``groups``.

    Returns
    -------
    EquivalenceResult
        Estimate, limits and notes, if the check passes.

    Raises
    ------
    AssertionError
        If the check fails, with the summary of the result, or if there are too few rows, or too few
        different ones, for any limit.
    ValueError, TypeError
        If an argument cannot be used; the message names the argument.

    See Also
    --------
    equivalence_test : The test on which the check is based.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest.testing import assert_same_distribution
    >>> rng = np.random.default_rng(0)
    >>> reference, current = rng.normal(size=(2, 200, 3))
    >>> result = assert_same_distribution(reference, current, margin=0.6, measure="auc")
    >>> result.lower < 0.6
    True
    >>> try:
    ...     assert_same_distribution(reference, current + 1.0, margin=0.6, measure="auc")
    ... except AssertionError as error:
    ...     print(str(error).splitlines()[0])
    current differs from reference by more than the margin .6: separability .886, above .854 with confidence 0.95.
    """  # noqa: E501  # a printed line
    __tracebackhide__ = True  # pytest shows the line that asserts
    require = choice(require, (NO_DIFFERENCE, EQUIVALENCE), "require")
    measure = choice(measure, (AUC, DISTANCE), "measure")
    result = equivalence_test(
        reference,
        current,
        margin=margin,
        measure=measure,
        alpha=alpha,
        names=names,
        rng=rng,
        **options,
    )
    if math.isnan(result.lower):
        fault = f"{result.names[1]} has too few different rows to be checked."
        raise AssertionError(f"{fault}\n{result.summary()}")
    if require == EQUIVALENCE and not result.equivalent:
        raise AssertionError(str(result.summary()))
    if require == NO_DIFFERENCE and result.differs:
        raise AssertionError(f"{result.difference}\n{result.summary()}")
    return result
