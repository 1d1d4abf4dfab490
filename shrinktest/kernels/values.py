"""Kernel values, checked: real, finite, one for every two rows, and within a sample exactly symmetric."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shrinktest._validate import Array, counted, real_values

if TYPE_CHECKING:
    from shrinktest.kernels.base import Kernel

#: What to do with distances, which are not a kernel.
INSTEAD_OF_DISTANCES = "turn distances D into exp(-D**2 / (2 * s**2))"

_ROUNDING = 1e-6  # of the largest value, so that kernels in single precision are accepted


def checked_values(found: object, kernel: Kernel, X: Array, Y: Array) -> Array:
    """What a kernel returned for rows X (n, d) and Y (m, d), as (n, m) float64 in C order.

    Raises TypeError or ValueError for what is no matrix of kernel values.
    """
    try:
        gram = np.require(real_values(found), requirements=["C", "W"])
    except TypeError as error:
        raise TypeError(f"{kernel!r} must return real numbers, a matrix of k(X[i], Y[j]): {error}") from None
    if gram.shape != (len(X), len(Y)):
        raise ValueError(
            f"{kernel!r} returned shape {gram.shape} for {counted(len(X), 'row')} against {len(Y)}; a kernel must "
            f"return k(X[i], Y[j]) for all of them, shape ({len(X)}, {len(Y)})"
        )
    if not np.isfinite(gram).all():
        i, j = np.argwhere(~np.isfinite(gram))[0]
        which = f"row {i} of X and row {j} of Y"
        if X is Y:  # of tests, whose rows are some of those of all samples: their numbers would say nothing
            which = f"a row and itself, {_shown(X[i])}" if i == j else f"the rows {_shown(X[i])} and {_shown(X[j])}"
        raise ValueError(
            f"{kernel!r} is {gram[i, j]} for {which}; a kernel must be finite (rescale the data if they are very large)"
        )
    if X is not Y:
        return gram
    gram = symmetric(gram, kernel)
    if kernel.from_user:
        require_products(gram, kernel)
    return gram


def _shown(row: Array) -> str:
    """A row in messages: its first values."""
    return f"[{', '.join(f'{one:.5g}' for one in row[:4])}{', ...' if len(row) > 4 else ''}]"


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


def require_products(gram: Array, name: object, tile: int = 256) -> None:
    """Raise ValueError for a symmetric matrix with K_ij^2 > K_ii K_jj beyond rounding, or with a negative diagonal.

    Every kernel satisfies the Cauchy-Schwarz inequality; distances and their negatives do not.
    """
    diagonal = np.diagonal(gram) + 0.0  # of -0, too
    largest = max(float(gram.max()), -float(gram.min()))
    norms = np.sqrt(np.maximum(diagonal, 0.0))
    for start in range(0, len(gram), tile):
        rows = slice(start, start + tile)
        excess = np.abs(gram[rows]) - norms[rows, None] * norms
        if excess.max() <= _ROUNDING * largest:
            continue
        i, j = np.unravel_index(excess.argmax(), excess.shape)
        i += start
        shown = f"k(x, y) = {gram[i, j]:.3g}, k(x, x) = {diagonal[i]:.3g}"
        shown += "" if i == j else f" and k(y, y) = {diagonal[j]:.3g}"
        raise ValueError(f"{name} is not a kernel: {shown}; {INSTEAD_OF_DISTANCES}")


def _equal_to_transpose(gram: Array, tile: int = 256) -> bool:
    """Whether the matrix is exactly symmetric; compared in tiles, because reading a whole transpose is slow."""
    starts = range(0, len(gram), tile)
    return all(
        np.array_equal(gram[i : i + tile, j : j + tile], gram[j : j + tile, i : i + tile].T)
        for i in starts
        for j in starts[: i // tile + 1]
    )
