"""When two results are the same answer."""

import numpy as np


def same(one, other):
    """Whether statistic, p-value and null distribution have the same bits."""
    return (one.statistic, one.pvalue) == (other.statistic, other.pvalue) and np.array_equal(
        one.null_distribution, other.null_distribution
    )
