"""The QR iteration: eigenvalues, eigenvectors, and the rotations kept instead of them, on matrices that strain it."""

import numpy as np
import pytest

from shrinktest._compiled.tridiagonal import diagonalize, iterate, longest, spectrum, undo, workspace


def alternating(n):
    return np.where(np.arange(n) % 2 == 0, 1.0, -1.0)


#: Diagonal and off-diagonal (the last entry unused) of positive semi-definite matrices of n rows.
MATRICES = {
    "second differences": lambda n: (np.full(n, 2.0), -np.ones(n)),
    "small at the end": lambda n: (4.0 * 10.0 ** -np.arange(n), 10.0 ** -np.arange(1.0, n + 1)),
    "small at the start": lambda n: (4.0 * 10.0 ** (np.arange(n) - n), 10.0 ** (np.arange(n) - n)),
    "in two parts": lambda n: (np.full(n, 3.0), np.where(np.arange(n) == n // 2, 0.0, 1.0)),
    "equal but for rounding": lambda n: (np.ones(n), 1e-15 * alternating(n)),
    "pairs of neighbours": lambda n: (np.abs(np.arange(n) - n // 2) + 2.0, np.ones(n)),
    "diagonal": lambda n: (np.arange(float(n)), np.zeros(n)),
    "zero": lambda n: (np.zeros(n), np.zeros(n)),
    "tiny": lambda n: (np.full(n, 2e-300), 1e-300 * alternating(n)),
    "huge": lambda n: (np.full(n, 2e300), 1e300 * alternating(n)),
}


def dense(diagonal, off):
    return np.diag(diagonal) + np.diag(off[:-1], 1) + np.diag(off[:-1], -1)


def column(n):
    return np.eye(n)[:, :1].copy()


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 30, 101])
@pytest.mark.parametrize("kind", MATRICES)
def test_decomposition(kind, n):
    diagonal, off = MATRICES[kind](n)
    T, scale = dense(diagonal, off), np.abs(diagonal).max() or 1.0
    values, vectors = diagonal.copy(), np.eye(n)
    diagonalize(values, off.copy(), vectors)
    np.testing.assert_allclose(np.sort(values) / scale, np.linalg.eigvalsh(T / scale), rtol=0, atol=1e-14 * n)
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(n), rtol=0, atol=1e-14 * n)
    np.testing.assert_allclose((vectors.T * (values / scale)) @ vectors, T / scale, rtol=0, atol=1e-14 * n)

    work = workspace(n)
    work[0], work[1] = diagonal, off
    again, shares = spectrum(work, n)
    np.testing.assert_array_equal(again, values)
    np.testing.assert_allclose(shares, vectors[:, 0] ** 2, rtol=0, atol=1e-14)

    first, tape = column(n), np.full((longest(n) + 1, 2), np.nan)
    iterate(values := diagonal.copy(), off.copy(), first, tape)
    np.testing.assert_array_equal(values, again)
    np.testing.assert_allclose(first[:, 0], vectors[:, 0], rtol=0, atol=1e-14)
    x = np.linspace(-1.0, 1.0, n)
    undo(tape, kept := x.copy())
    np.testing.assert_allclose(kept, vectors.T @ x, rtol=0, atol=1e-13)
    assert tape[0, 0] <= 0.7 * longest(n)


def test_iteration_that_cannot_end_is_nan():
    first, tape = column(4), np.full((longest(4) + 1, 2), np.nan)
    values = np.array([1.0, 2.0, np.nan, 1.0])
    iterate(values, np.ones(4), first, tape)
    assert np.isnan(values).all() and np.isnan(first).all()
    undo(tape, x := np.ones(4))  # nothing is on the tape
    np.testing.assert_array_equal(x, np.ones(4))
