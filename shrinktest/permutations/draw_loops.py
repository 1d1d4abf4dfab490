"""Compiled shuffles: one 64-bit seed gives one permutation, however many observations it moves."""

from __future__ import annotations

import numpy as np

from shrinktest._jit import compiled

_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
# SplitMix64 (Steele, Lea and Flood 2014): hashes of a counter that moves in steps of the golden
# ratio.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_27 = np.uint64(27)
_30 = np.uint64(30)
_31 = np.uint64(31)


@compiled()
def random_bits(counter):
    """Sixty-four random bits from a counter."""
    z = (counter ^ (counter >> _30)) * _MIX1
    z = (z ^ (z >> _27)) * _MIX2
    return z ^ (z >> _31)


@compiled()
def shuffle(seeds, starts, out):
    """Fill ``out`` (B, n) with uniform permutations of 0 to n - 1 within segments.

    Uses the Fisher-Yates shuffle.

    Segment s holds the places from ``starts[s]`` to before ``starts[s + 1]``.  Whole numbers below
    a limit come from Lemire's (2019) unbiased multiplication.
    """
    for r in range(out.shape[0]):
        counter = seeds[r]
        for i in range(out.shape[1]):
            out[r, i] = i
        for s in range(starts.size - 1):
            segment = out[r, starts[s] : starts[s + 1]]
            for i in range(segment.size - 1, 0, -1):
                limit = np.uint64(i + 1)
                counter += _STEP
                product = (random_bits(counter) >> _32) * limit
                if (product & _LOW) < limit:
                    biased = ((_LOW - limit) + np.uint64(1)) % limit
                    while (product & _LOW) < biased:
                        counter += _STEP
                        product = (random_bits(counter) >> _32) * limit
                j = np.int64(product >> _32)
                segment[i], segment[j] = segment[j], segment[i]
