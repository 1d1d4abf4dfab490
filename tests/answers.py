"""What tests of rows on disk share: when two results are the same, and a cluster of two processes."""

from __future__ import annotations

import os
from contextlib import contextmanager

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
        and np.allclose(
            first.null_distribution, second.null_distribution, rtol=1e-9, atol=1e-9 * scale
        )
    )


# --- a cluster of two processes, for tests that kill one of them ---


@contextmanager
def two_workers():
    """The client of a cluster of this machine."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs="CRITICAL",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def pids(client):
    """The processes of its workers."""
    return set(client.run(os.getpid).values())
