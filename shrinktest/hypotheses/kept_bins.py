"""What is kept of samples in batches once they are tested: mean features of bins, and no rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._check import Array, complete_points, counted
from shrinktest.embedding import MeanEmbedding
from shrinktest.hypotheses.context import FittedStatistic, TestContext
from shrinktest.kernels.inner import FeatureMap
from shrinktest.statistics.statistic import Prepared

WITHOUT = "the samples were read in batches, of which mean features are kept, and no rows: "


@dataclass(frozen=True, eq=False)
class BinnedEmbedding(MeanEmbedding):
    """The estimated kernel mean of a sample in batches, whose points are the mean features of bins.

    ``kernel`` is the inner product of these features.
    """

    features: FeatureMap | None = None  # of the rows
    columns: int = 0
    rows: int = 0  # that are in bins
    names: tuple[str, ...] | None = None  # of the columns

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.rows

    def read(self, x: object, name: str) -> np.ndarray:
        """Rows (m, d) at which the estimate can be evaluated; ``name`` is what messages call them."""
        at, names, _ = complete_points(x, name)
        if names and self.names and names != self.names:
            raise ValueError(
                f"{name} has the columns {', '.join(names)}; give those of the samples, {', '.join(self.names)}"
            )
        if at.shape[1] != self.columns:
            raise ValueError(f"{name} has {counted(at.shape[1], 'column')}, the samples have {self.columns}")
        return at

    def embedding(self, x: object) -> np.ndarray:
        """Evaluate the estimate at the rows of ``x`` (m, d), shape (m,)."""
        assert self.features is not None
        at = self.read(x, "x")
        return np.asarray(self.features.coordinates(at) @ (self.weights @ self.points))


@dataclass(frozen=True, eq=False)
class BinMember(FittedStatistic):
    """A statistic of bins, with their mean features ``means`` (M, rank)."""

    means: Array | None = None


@dataclass(frozen=True, eq=False)
class BinnedPrepared(Prepared):
    """A statistic of bins, with their mean features ``means`` (M, rank)."""

    means: Array | None = None


@dataclass(frozen=True, eq=False)
class OfBins(TestContext):
    """What is left of samples in batches once they are tested: the mean features of their bins."""

    @property
    def means(self) -> Array:
        """Those (M, rank) of the statistic with the largest weight."""
        assert isinstance(self.leading, BinMember) and self.leading.means is not None
        return self.leading.means

    @property
    def pooled(self) -> np.ndarray:
        """The rows, which are not kept."""
        raise ValueError(WITHOUT + "there is no picture; result.witness(points) has the function itself")

    def band(self, *given: Any, **options: Any) -> Any:
        """A band takes rows, which are not kept."""
        raise ValueError(WITHOUT + "there is no band; result.witness(points) has the function itself")

    def contributions(self, **options: Any) -> Any:
        """Contributions of columns take rows, which are not kept."""
        raise ValueError(WITHOUT + "there are no contributions of columns; test some columns by themselves (columns=)")
