"""Means of the cells of a design, as points in a plane."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class CellMeans:
    """Principal coordinates of the kernel means of cells, along the levels of one factor."""

    points: np.ndarray  # (c, 2)
    shares: tuple[float, float]  # of the squared distances of the cells, along each axis
    along: str  # the factor whose levels are joined
    levels: tuple[str, ...]  # its level in each cell
    lines: tuple[tuple[str, np.ndarray], ...]  # levels of the others, and cells in order

    @classmethod
    def of(
        cls, gram: np.ndarray, along: str, levels: np.ndarray, others: np.ndarray, names: list[str]
    ) -> CellMeans:
        """Return coordinates from inner products (c, c) of the means of cells.

        ``levels`` (c,) are numbers of the levels of the factor ``along`` with these ``names``,
        and ``others`` (c,) say in words which levels of the other factors a cell has.
        """
        centered = gram - gram.mean(axis=0)
        centered = centered - centered.mean(axis=1, keepdims=True)
        sizes, turns = np.linalg.eigh((centered + centered.T) / 2.0)
        sizes = np.maximum(np.append(sizes[::-1], 0.0), 0.0)
        turns = np.hstack([turns[:, ::-1], np.zeros((len(turns), 1))])[:, :2]
        # the sign of an axis says nothing; the cell that is furthest out is on its right
        outermost = turns[np.abs(turns).argmax(axis=0), [0, 1]]
        points = turns * np.sqrt(sizes[:2]) * np.where(outermost < 0.0, -1.0, 1.0)
        total = sizes.sum() or 1.0
        lines = []
        for name in dict.fromkeys(others.tolist()):
            cells = np.flatnonzero(others == name)
            lines.append((name, cells[np.argsort(levels[cells], kind="stable")]))
        shown = tuple(names[level] for level in levels)
        shares = (float(sizes[0] / total), float(sizes[1] / total))
        return cls(points, shares, along, shown, tuple(lines))
