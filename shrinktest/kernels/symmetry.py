"""Symmetric matrices, exactly."""

from __future__ import annotations

import numpy as np

from shrinktest._validate import Array


def symmetric(gram: Array, name: object) -> Array:
    """The matrix made exactly symmetric, if it was so up to rounding; ``name`` is shown only in the error."""
    if _equal_to_transpose(gram):
        return gram
    difference = np.abs(gram - gram.T)
    if difference.max() > 1e-8 * np.abs(gram).max():
        i, j = np.unravel_index(difference.argmax(), gram.shape)
        raise ValueError(
            f"{name} is not symmetric: {gram[i, j]:g} at ({i}, {j}) but {gram[j, i]:g} at ({j}, {i}); "
            "a kernel has k(x, y) = k(y, x)"
        )
    return np.ascontiguousarray(gram / 2 + gram.T / 2)


def _equal_to_transpose(gram: Array, tile: int = 256) -> bool:
    """Whether the matrix is exactly symmetric; compared in tiles, because reading a whole transpose is slow."""
    starts = range(0, len(gram), tile)
    return all(
        np.array_equal(gram[i : i + tile, j : j + tile], gram[j : j + tile, i : i + tile].T)
        for i in starts
        for j in starts[: i // tile + 1]
    )
