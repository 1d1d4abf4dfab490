"""Sums over pairs of parts, by coordinates row by row and as a factor leaves them, column by column."""

from __future__ import annotations

import numpy as np
import pytest

from shrinktest.statistics import sums as block_sums


@pytest.mark.parametrize("constant", [True, False])
def test_large_coordinates_are_not_copied_and_have_the_same_sums(monkeypatch, constant):
    rng = np.random.default_rng(0)
    sizes = 300, 200, 201
    z = np.asfortranarray(rng.normal(size=(sum(sizes), 100)))
    if constant:
        z /= np.linalg.norm(z, axis=1, keepdims=True)
    diagonal = np.ones(len(z)) if constant else np.square(z).sum(axis=1)
    labels = np.stack([rng.permutation(np.repeat(np.arange(3), sizes)) for _ in range(20)]).astype(np.uint16)
    expected = block_sums._by_coordinates(z, diagonal, sizes)(labels)
    monkeypatch.setattr(block_sums, "_COPIED", 0)
    if constant:  # they are read as they lie
        monkeypatch.delattr(np, "ascontiguousarray")
    found = block_sums._by_coordinates(z, diagonal, sizes)
    monkeypatch.undo()
    for one, other, size in zip(found(labels), expected, (1.0, 0.0), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-9 * size)
    member = np.stack([labels == part for part in range(3)], axis=1).astype(float)
    np.testing.assert_allclose(expected[0], member @ (z @ z.T) @ member.transpose(0, 2, 1), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(expected[1], member @ diagonal, rtol=1e-12)
