"""Shuffles in numpy, which give the permutations of `draw_loops`: all rows take a step at once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_27 = np.uint64(27)
_30 = np.uint64(30)
_31 = np.uint64(31)


def shuffle(seeds: np.ndarray, starts: np.ndarray, out: np.ndarray) -> None:
    """Fill ``out`` (B, n) with uniform permutations of 0 to n - 1 within segments."""
    out[:] = np.arange(out.shape[1])
    counters = seeds.copy()
    rows = np.arange(len(out))
    for first, end in pairwise(starts):
        for last in range(end - 1, first, -1):
            limit = np.uint64(last - first + 1)
            biased = (_LOW - limit + np.uint64(1)) % limit
            product = np.empty_like(counters)
            again = rows
            while again.size:
                counters[again] += _STEP
                product[again] = (_random_bits(counters[again]) >> _32) * limit
                again = again[(product[again] & _LOW) < biased]
            place = first + (product >> _32).astype(np.int64)
            moved = out[:, last].copy()
            out[:, last] = out[rows, place]
            out[rows, place] = moved


def _random_bits(counters: np.ndarray) -> np.ndarray:
    z = (counters ^ (counters >> _30)) * _MIX1
    z = (z ^ (z >> _27)) * _MIX2
    return np.asarray(z ^ (z >> _31))
