"""Sums over pairings of matrices that are taken whole, and of those that are taken in blocks."""

import numpy as np
import pytest

from shrinktest.statistics.sum_loops import pairing_sums


@pytest.mark.parametrize("n", [1, 2, 3, 256, 257, 300, 400, 700])
@pytest.mark.parametrize("integers", [np.uint16, np.uint32])
def test_pairing_sums(n, integers):
    rng = np.random.default_rng(n)
    x, y = (z @ z.T for z in rng.normal(size=(2, n, 5)))
    permutations = rng.permuted(np.tile(np.arange(n, dtype=integers), (5, 1)), axis=1)
    out = np.empty((5, 2))
    pairing_sums(x, y, permutations, out)
    products = [x * y[np.ix_(pi, pi)] for pi in permutations]
    expected = [(product.sum(), np.trace(product)) for product in products]
    size = np.linalg.norm(x) * np.linalg.norm(y)
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-14 * size)
    cut = np.empty((5, 2))
    for some in (slice(0, 1), slice(1, 5)):
        pairing_sums(x, y, permutations[some], cut[some])
    np.testing.assert_array_equal(cut, out)
