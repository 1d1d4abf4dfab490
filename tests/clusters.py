"""A cluster of two processes, for tests that kill one of them."""

import os
from contextlib import contextmanager


@contextmanager
def two_workers():
    """The client of a cluster of this machine."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def pids(client):
    """The processes of its workers."""
    return set(client.run(os.getpid).values())
