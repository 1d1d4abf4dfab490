"""Joint independence over shuffles of the variables: sums of products of Gram matrices."""

from __future__ import annotations

import numpy as np

from shrinktest._jit import compiled


@compiled()
def product_sums(grams, shuffles, out):
    """Do the same as `dhsic_arrays.product_sums`."""
    d, n = grams.shape[:2]
    line = np.empty(n)
    for r in range(shuffles.shape[0]):
        shuffle = shuffles[r]
        total = diagonal = 0.0
        for i in range(n):
            own = grams[0, i, i]
            source = grams[0, i]
            for j in range(i):
                line[j] = source[j]
            for v in range(1, d):
                places = shuffle[v - 1]
                source = grams[v, places[i]]
                own *= source[places[i]]
                for j in range(i):
                    line[j] *= source[places[j]]
            value = 0.0
            for j in range(i):
                value += line[j]
            total += value
            diagonal += own
        out[r] = 2.0 * total + diagonal
