"""Prepared: one statistic of the data at hand, with everything that does not depend on the labels done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._parallel import kernel_progress, parallel_for
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import MeanEstimator
from shrinktest.kernels import Kernel
from shrinktest.permutations.base import Draws
from shrinktest.permutations.null import CostHint, Null, Statistic, null_distribution
from shrinktest.permutations.stopping import Stopping

WORTH_THREADS = 300  # observations of a variable from which starting a thread takes less time than it saves

FORMS = ("auto", "biased", "unbiased")


@dataclass(frozen=True, eq=False)
class Prepared:
    """A statistic as a function of relabellings, and what a result says of it."""

    statistic: Statistic  # relabellings (B, N) to (B, 2); what it closes over does not depend on the labels
    estimates: Callable[[], tuple[MeanEmbedding, ...]]  # the embeddings of the data as they are labelled
    kernel: Any  # with the bandwidths that are used
    route: str  # how the kernel is evaluated
    notes: tuple[str, ...]  # what a reader should know about this combination
    threads: bool  # whether threads pay
    cost: CostHint | None = None  # for statistics that are cheap per row only in large batches
    # of the features that the estimator works with, one for every variable; of finite rank where coordinates are used
    features: tuple[Kernel, ...] = ()
    approximated: bool = False  # whether these stand for other features, so that they give another statistic

    def null(self, draws: Draws, *, stopping: Stopping | None = None, workers: int, progress: bool = False) -> Null:
        """The statistic on the data and over the permutations."""
        tiled = self.route == "tiles"  # which show their own progress
        with kernel_progress(progress and tiled):
            return null_distribution(
                self.statistic,
                draws,
                stopping=stopping,
                workers=workers if self.threads else 1,
                progress=progress and not tiled,
                cost=self.cost,
            )

    def about(self, notes: tuple[str, ...] = ()) -> dict[str, Any]:
        """Return the fields of a result, with ``notes`` on the data."""
        return {"kernel": self.kernel, "estimates": self.estimates(), "notes": notes + self.notes, "route": self.route}


def margins(
    estimator: MeanEstimator, kernels: Sequence[Kernel], variables: Sequence[np.ndarray], workers: int = 1
) -> tuple[MeanEstimator, ...]:
    """One estimator per variable.

    Those that smooth the features are tuned here, once, because relabelling leaves the margins as they are.
    """
    found = [estimator] * len(kernels)
    if estimator.smooths:

        def tune(v: int) -> None:
            found[v] = estimator.tuned(kernels[v], variables[v])

        parallel_for(tune, range(len(kernels)), workers if len(variables[0]) >= WORTH_THREADS else 1)
    return tuple(found)


def runs_compiled(estimator: MeanEstimator) -> bool:
    """Tell if threads pay: Python functions of the user hold the interpreter lock and need not be thread-safe."""
    return estimator.needs != "function"
