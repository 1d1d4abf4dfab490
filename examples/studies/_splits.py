"""All splits of small samples, and the squared distances of the means in each of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain, combinations
from math import comb

import numpy as np

PIECE = 2**17  # splits at a time


@cache
def splits(first: int, second: int) -> np.ndarray:
    """Return all members of the first sample (S, first); for equal sizes those that hold the first row."""
    rows = range(first + second)
    if first == second:
        count = comb(first + second - 1, first - 1)
        some: Iterator = ((0, *rest) for rest in combinations(rows[1:], first - 1))
    else:
        count = comb(first + second, first)
        some = combinations(rows, first)
    flat = np.fromiter(chain.from_iterable(some), dtype=np.int8, count=count * first)
    return flat.reshape(count, first)


def distances(gram: np.ndarray, first: int) -> np.ndarray:
    """Return the squared distance of the means for all splits, unbiased for unequal sizes, as in the tests."""
    members = splits(first, len(gram) - first)
    second = len(gram) - first
    gram = gram.astype(np.float32)
    sums = gram.sum(axis=0)
    diagonal = float(np.trace(gram)) if first != second else 0.0
    out = np.empty(len(members))
    for start in range(0, len(members), PIECE):
        piece = members[start : start + PIECE]
        chosen = np.zeros((len(piece), len(gram)), dtype=np.float32)
        np.put_along_axis(chosen, piece.astype(np.int64), 1.0, axis=1)
        within = np.einsum("ij,ij->i", chosen @ gram, chosen).astype(np.float64)
        across = chosen @ sums - within
        others = float(sums.sum()) - 2.0 * across - within
        if first == second:
            out[start : start + PIECE] = (within + others - 2.0 * across) / first**2
            continue
        share = diagonal / len(gram)  # one for each row
        out[start : start + PIECE] = (
            (within - first * share) / (first * (first - 1))
            + (others - second * share) / (second * (second - 1))
            - 2.0 * across / (first * second)
        )
    return out
