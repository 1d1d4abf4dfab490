"""One trial of a risk study: a mixture and a sample of it, and the exact loss of every estimate.  What workers run."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import Array
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import MeanEstimator
from shrinktest.kernels import Kernel
from shrinktest.power.store_file import Row
from shrinktest.risk.design import MixtureDesign
from shrinktest.risk.loss import loss, oracle_shrinkage
from shrinktest.risk.truth import TrueEmbedding, true_embedding


@dataclass(frozen=True)
class OracleShrinkage:
    """Simple shrinkage by the amount with the smallest risk, computed from the known distribution."""

    summary: ClassVar[str] = "best simple shrinkage, knowing the distribution"

    def embed(self, points: Array, truth: TrueEmbedding) -> MeanEmbedding:
        """(1 - alpha) mu_hat with the oracle's alpha."""
        n = len(points)
        alpha = oracle_shrinkage(truth, n).alpha
        return MeanEmbedding(points, np.full(n, (1.0 - alpha) / n), truth.kernel, alpha)


#: What a study compares.
Compared = MeanEstimator | OracleShrinkage


def run_trial(
    design: MixtureDesign,
    n: int,
    d: int,
    trial: int,
    missing: Mapping[str, tuple[Kernel, Mapping[str, Any]]],
    seed: int,
) -> list[Row]:
    """Losses on one data set, one for every kernel and estimator; the same on any machine and in any order of trials.

    (seed, n, d, trial) has streams of random numbers for the mixture, for the sample and for the bandwidths: every
    kernel and every estimator sees the same points.  ``missing`` has by the repr of a kernel the kernel and its
    estimators by their labels.

    The rows are (kernel, n, d, trial, label, loss, seconds); the seconds are those of the estimate.
    """
    for_mixture, for_sample, for_bandwidth = (
        np.random.SeedSequence(seed, spawn_key=(n, d, trial, stream)) for stream in range(3)
    )
    rows: list[Row] = []
    try:
        mixture = design.draw(np.random.default_rng(for_mixture), d)
        points = mixture.sample(np.random.default_rng(for_sample), n)
        for name, (kernel, estimators) in missing.items():
            resolved = kernel.resolve(points, np.random.default_rng(for_bandwidth))  # as if it were alone
            truth = true_embedding(mixture, resolved)
            for label, estimator in estimators.items():
                start = time.perf_counter()
                knows = truth if isinstance(estimator, OracleShrinkage) else truth.kernel
                estimate = estimator.embed(points, knows)
                seconds = time.perf_counter() - start
                rows.append((name, n, d, trial, label, loss(estimate, truth), seconds))
    except Exception as error:
        error.add_note(f"in trial {trial} of {design!r} with n={n}, d={d} and seed {seed}")
        raise
    return rows
