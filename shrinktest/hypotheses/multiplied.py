"""Sums of products of features of pairs that were read, in the units of the features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shrinktest.batches.blocks import Blocks, Products, Whole
from shrinktest.statistics.sums import PairSums, ShiftedSums


@dataclass(frozen=True, eq=False)
class Multiplied:
    """Sums of products of whole numbers, and what makes them sums of products of features."""

    blocks: Blocks  # of the pairs
    products: Products
    maps: tuple[Whole, ...]  # of which whole numbers features were made, those of x and then those of y
    meets: tuple[tuple[int, int], ...]  # which of x were multiplied with which of y, by their places among all maps

    def shifted(self, place: int) -> ShiftedSums:
        """The sums of two maps, by the place of their meeting, for every shift."""
        (i, j), found = self.meets[place], self.products
        u, v = self.maps[i].units, self.maps[j].units
        return ShiftedSums(
            self.blocks.used,
            found.xy[place] * u[:, None, None] * v,
            found.own[i].astype(np.float64).sum(axis=0) * np.outer(u, u),
            found.own[j].astype(np.float64).sum(axis=0) * np.outer(v, v),
            found.sums[i].astype(np.float64).sum(axis=0) * u,
            found.sums[j].astype(np.float64).sum(axis=0) * v,
        )

    def observed(self, place: int) -> PairSums:
        """The same of the pairs as they were observed, by groups."""
        (i, j), found = self.meets[place], self.products
        u, v = self.maps[i].units, self.maps[j].units
        return PairSums(
            self.blocks.pairs,
            found.xy[place][:, :, 0] * u[:, None] * v,
            found.own[i] * u[:, None] * u,
            found.own[j] * v[:, None] * v,
            found.sums[i] * u,
            found.sums[j] * v,
        )
