"""When two results are the same answer."""

import numpy as np
import pytest


def same(one, other):
    """Whether statistic, p-value and null distribution have the same bits."""
    return (one.statistic, one.pvalue) == (other.statistic, other.pvalue) and np.array_equal(
        one.null_distribution, other.null_distribution
    )


def close(one, other):
    """Whether they differ by rounding only, as those of the same rows in other chunks do."""
    scale = np.abs(other.null_distribution).max()
    return (
        one.pvalue == other.pvalue
        and one.statistic == pytest.approx(other.statistic, rel=1e-9, abs=1e-9 * scale)
        and np.allclose(one.null_distribution, other.null_distribution, rtol=1e-9, atol=1e-9 * scale)
    )
