"""Sums over relabellings, added in the order of the compiled twin of the same name, which says how and why."""

from __future__ import annotations

import numpy as np

COLUMNS = 64  # of a tile; also the rows that one column of a tile meets on the diagonal
OCTETS = COLUMNS // 8


def octets_of(masks: np.ndarray) -> np.ndarray:
    """Membership bits (B, N) by eights, first bit lowest, as (8 ceil(N / 64), B) bytes."""
    packed = np.packbits(masks, axis=1, bitorder="little")
    out = np.zeros((-(-masks.shape[1] // COLUMNS) * OCTETS, len(masks)), dtype=np.uint8)
    out[: packed.shape[1]] = packed.T
    return out


def split_sums(gram: np.ndarray, rows: np.ndarray, octets: np.ndarray, out: np.ndarray) -> None:
    """For every split S: ``out`` (B, 3) = sum of K over S x S, sum of K over S x everything, trace over S."""
    count, padding = octets.shape[1], 8 * len(octets) - len(gram)
    members = np.unpackbits(octets, axis=0, bitorder="little").reshape(len(octets), 8, count)
    gram, rows = np.pad(gram, ((0, 0), (0, padding))), np.pad(rows, (0, padding))
    along, trace = (
        np.reshape(values, (len(octets), 8, 1)) for values in (rows, np.pad(np.diagonal(gram), (0, padding)))
    )
    out[:] = 0.0
    for here in range(0, len(octets), OCTETS):
        columns, sums = slice(8 * here, 8 * here + COLUMNS), np.zeros((count, COLUMNS))
        for g in range(here + OCTETS, len(octets), 2):
            _add_subsets(gram[8 * g : 8 * g + 16, columns], octets[g], octets[g + 1], sums)
        sums *= 2.0
        for g in range(here, here + OCTETS, 2):
            _add_subsets(gram[8 * g : 8 * g + 16, columns], octets[g], octets[g + 1], sums)
        within = sums.T.reshape(OCTETS, 8, count)
        lanes = np.zeros((3, 8, count))
        for g in range(OCTETS):  # one lane for each place in an octet
            lanes[0] += members[here + g] * within[g]
            lanes[1] += members[here + g] * along[here + g]
            lanes[2] += members[here + g] * trace[here + g]
        for _ in range(3):
            lanes = lanes[:, ::2] + lanes[:, 1::2]
        out += lanes[:, 0].T


def feature_sums(features: np.ndarray, octets: np.ndarray, out: np.ndarray) -> None:
    """For every subset: the sum (B, r) of the rows of ``features`` (N, r) in it."""
    out[:] = 0.0
    for g in range(0, len(octets), 2):
        _add_subsets(features[8 * g : 8 * g + 16], octets[g], octets[g + 1], out)


def _add_subsets(matrix: np.ndarray, first: np.ndarray, second: np.ndarray, sums: np.ndarray) -> None:
    """Add to every relabelling's row of ``sums`` those rows of ``matrix``, of at most 16, that its two octets name."""
    block = np.zeros((16, matrix.shape[1]))
    block[: len(matrix)] = matrix
    sums += _table(block[:8])[first] + _table(block[8:])[second]


def _table(block: np.ndarray) -> np.ndarray:
    """Sums over all 256 subsets of eight rows: those of the first four, plus those of the last four."""
    low, high = _subsets(block[:4]), _subsets(block[4:])
    return (low[None, :, :] + high[:, None, :]).reshape(256, -1)


def _subsets(block: np.ndarray) -> np.ndarray:
    table = np.zeros((1, block.shape[1]))
    for row in block:
        table = np.concatenate([table, table + row])
    return table
