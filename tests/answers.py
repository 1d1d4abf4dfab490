"""When two results are the same answer."""

import numpy as np
import pytest


def same(first, second):
    """Compare statistic, p-value and null distribution bit by bit."""
    return (first.statistic, first.pvalue) == (second.statistic, second.pvalue) and np.array_equal(
        first.null_distribution, second.null_distribution
    )


def close(first, second):
    """Compare two results up to rounding, as for the same rows in other chunks."""
    scale = np.abs(second.null_distribution).max()
    return (
        first.pvalue == second.pvalue
        and first.statistic == pytest.approx(second.statistic, rel=1e-9, abs=1e-9 * scale)
        and np.allclose(first.null_distribution, second.null_distribution, rtol=1e-9, atol=1e-9 * scale)
    )
