"""HSIC and its shrinkage relatives for every estimator, as a function of copies of the first variable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shrinktest.estimators import MeanEstimator
from shrinktest.kernels import Kernel
from shrinktest.nulls.permutation import Statistic
from shrinktest.statistics.centred import Centred
from shrinktest.statistics.gram import Gram, Grams
from shrinktest.statistics.outlook import check_memory
from shrinktest.statistics.pairings import pairing_statistic


@dataclass(frozen=True)
class Still(Gram):
    """A kernel at observations that no copy changes, whose features are centred once.

    Parameters
    ----------
    already : Centred
    """

    already: Centred | None = None

    def centred(self, workers: int = 1) -> Centred:
        """The features less their mean."""
        assert self.already is not None
        return self.already


def copies_statistic(
    estimator: MeanEstimator,
    features: tuple[Kernel, ...],
    copy: Callable[[int], np.ndarray],
    y: np.ndarray,
    grams: Grams,
) -> Statistic:
    """The statistic as a function of seeds (B, 1), from which ``copy`` makes x (n, p)."""
    check_memory(len(y), 3, grams.options["memory"])
    right = Still("dense", features[1], y, already=Gram("dense", features[1], y).centred())
    as_it_is = np.arange(len(y))[None]

    def one(seed: int) -> np.ndarray:
        left = Gram("dense", features[0], copy(seed))
        return np.asarray(pairing_statistic(estimator, (left, right), "biased", 1)[0](as_it_is)[0])

    return lambda seeds: np.array([one(int(seed)) for seed in seeds[:, 0]]).reshape(len(seeds), 2)
