"""Shifts within blocks of pairs and the sums of a statistic, by loops over rows."""

import numpy as np


def shifted(y, length, groups, shifts):
    """Rows of y, shifted within blocks of ``length`` by what the group of each block says; the rest is left out."""
    out = []
    for block, group in enumerate(groups):
        rows = y[block * length : (block + 1) * length]
        out += [rows[(i + shifts[group]) % length] for i in range(length)]
    return np.array(out)


def sum_and_trace(phi, psi):
    """Sum and trace of Kc o Lc, by Gram matrices."""
    centre = np.eye(len(phi)) - 1.0 / len(phi)
    product = (centre @ (phi @ phi.T) @ centre) * (centre @ (psi @ psi.T) @ centre)
    return product.sum(), np.trace(product)
