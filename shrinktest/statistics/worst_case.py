"""The standard mean's statistic of two samples with unknown rows: how large it may be relative to the observed one."""

from __future__ import annotations

import numpy as np

from shrinktest.kernels.finite_rank import TOLERANCE
from shrinktest.nulls.permutation import Statistic
from shrinktest.statistics.gram import Gram
from shrinktest.statistics.products import along, times, weighted

_TERMS = 4.0  # |mu_X|^2 + |mu_Y|^2 + 2 |mu_X'mu_Y|, the terms that cancel in the statistic, at most
_ROUNDED = 1e-14  # of the terms of a squared norm


def pair_weights(sizes: tuple[int, int], form: str) -> np.ndarray:
    """Weights (2, 2) of a pair of different observations in the statistic, by the samples that they are in."""
    m, n = map(float, sizes)
    within = (m * m, n * n) if form == "biased" else (m * (m - 1.0), n * (n - 1.0))
    return np.array([[1.0 / within[0], -1.0 / (m * n)], [-1.0 / (m * n), 1.0 / within[1]]])


def worst_case_statistic(
    gram: Gram, known: np.ndarray, sizes: tuple[int, int], form: str, workers: int = 1
) -> Statistic:
    """The most that the statistic of a permutation may be, relative to what the unknown rows add to the observed one.

    ``gram`` is of the ``known`` ones of the pooled rows (N,), sample after sample, for a kernel with 0 <= k(x, y) <=
    k(x, x) = 1; ``sizes`` count the unknown rows, too.

    With labels l the statistic is T(l) = c + sum_{i != j} W[l_i, l_j] k(x_i, x_j), where W are the weights of pairs
    and c = 1/m + 1/n the diagonal in the V form, which k(x, x) = 1 makes the same for all labels; c = 0 in the U form.
    Let a_ij = W[l'_i, l'_j] - W[l_i, l_j] for observed labels l and permuted ones l'.  Then T(l') - T(l) is the sum of

    - a_ij k(x_i, x_j) over pairs of known rows, which is known,
    - 2 h_i(x_i) over unknown rows i, with h_i = sum_{j known} a_ij k(x_j, .), which is at most |h_i| (Cauchy and
      Schwarz, as k(x, x) = 1), and at most sum_j max(a_ij, 0) as 0 <= k <= 1,
    - a_ij k(x_i, x_j) over pairs of unknown rows, at most max(a_ij, 0).

    The value for l' is the known part of T(l) and the bound of this sum: the known part of T(l') and what unknown rows
    may add.  For the observed labels it is the known part alone.  It is reached wherever T(l') >= T(l) for some
    values of the unknown rows, and therefore at least as often as in the complete data, whatever these are.
    """
    z = gram.coordinates()
    matrix = gram.matrix(workers) if z is None else np.ascontiguousarray(z)
    weights, observed = pair_weights(sizes, form), np.repeat([0, 1], sizes)
    lacking = 0.0 if z is None else TOLERANCE * len(matrix)  # the trace of what coordinates leave out, at most
    constant = 1.0 / sizes[0] + 1.0 / sizes[1] if form == "biased" else 0.0
    fixed = np.stack([np.ones(len(matrix)), (observed[known] == 1).astype(np.float64)])
    images = times(fixed, matrix)
    towards = fixed if z is None else images  # inner products of features, with the images of other weights
    # W[q, t] - W[p, r] for rows that move from p to q, and from r to t
    change = weights[None, :, None, :] - weights[:, None, :, None]
    rising = np.maximum(change, 0.0)
    # h of a row that moves from p to q, in the sums of all known features, of those observed in Y, and permuted to Y
    combination = np.stack(
        [
            weights[None, :, 0] - weights[:, None, 0],
            np.broadcast_to((weights[:, 0] - weights[:, 1])[:, None], (2, 2)),
            np.broadcast_to((weights[:, 1] - weights[:, 0])[None, :], (2, 2)),
        ],
        axis=-1,
    )

    def statistic(labels: np.ndarray) -> np.ndarray:
        second = labels == 1
        inside = second[:, known].astype(np.float64, order="C")
        image = times(inside, matrix)
        inner = np.empty((len(labels), 3, 3))
        inner[:, :2, :2] = images @ towards.T
        for a in range(2):
            inner[:, a, 2] = inner[:, 2, a] = weighted(image, towards[a])
        inner[:, 2, 2] = along(image, inside if z is None else image)
        moved, unknown = _moves(second[:, known], observed[known]), _moves(second[:, ~known], observed[~known])

        in_second, of_all = inside.sum(axis=1), float(inside.shape[1])
        within, between, whole = inner[:, 2, 2], inner[:, 0, 2] - inner[:, 2, 2], inner[:, 0, 0]
        out = np.empty((len(labels), 2))
        out[:, 0] = constant + weights[1, 1] * (within - in_second) + 2.0 * weights[0, 1] * between
        out[:, 0] += weights[0, 0] * (whole - inner[:, 0, 2] - between - (of_all - in_second))

        for p, q in np.ndindex(2, 2):
            h = combination[p, q]
            squared, slack, rise, pairs = np.zeros((4, len(labels)))
            for a, c in np.ndindex(3, 3):
                part = h[a] * h[c] * inner[:, a, c]
                squared += part
                slack += _ROUNDED * np.abs(part)
            for r, t in np.ndindex(2, 2):
                slack += lacking * np.square(change[p, q, r, t]) * moved[:, r, t]
                rise += rising[p, q, r, t] * moved[:, r, t]
                pairs += rising[p, q, r, t] * (unknown[:, r, t] - ((p, q) == (r, t)))  # none of a row with itself
            length = np.sqrt(np.maximum(squared, 0.0) + slack)
            out[:, 0] += unknown[:, p, q] * (2.0 * np.minimum(length, rise) + pairs)
        out[:, 1] = _TERMS
        return out

    return statistic


def _moves(second: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """How many rows move from sample p to sample q, shape (B, 2, 2), by where permutations put them."""
    out = np.empty((len(second), 2, 2))
    for p in range(2):
        rows = second[:, observed == p]
        out[:, p, 1] = rows.sum(axis=1)
        out[:, p, 0] = rows.shape[1] - out[:, p, 1]
    return out
