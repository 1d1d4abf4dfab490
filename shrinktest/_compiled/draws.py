"""Seeds to relabellings: one word from the caller's generator makes one relabelling, however many observations."""

from __future__ import annotations

import numpy as np

from shrinktest._jit import compiled

_0, _1, _32, _64 = np.uint64(0), np.uint64(1), np.uint64(32), np.uint64(64)
_LOW = np.uint64(0xFFFFFFFF)
# SplitMix64 (Steele, Lea and Flood 2014): hashes of a counter that moves in steps of the golden ratio.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_27, _30, _31 = np.uint64(27), np.uint64(30), np.uint64(31)
_ODD, _PAIRS, _NIBBLES = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
_ONES, _2, _4, _56 = np.uint64(0x0101010101010101), np.uint64(2), np.uint64(4), np.uint64(56)


@compiled()
def mixed(counter):
    """Sixty-four random bits."""
    z = (counter ^ (counter >> _30)) * _MIX1
    z = (z ^ (z >> _27)) * _MIX2
    return z ^ (z >> _31)


@compiled()
def population(word):
    """How many bits are set."""
    word -= (word >> _1) & _ODD
    word = (word & _PAIRS) + ((word >> _2) & _PAIRS)
    return np.int64((((word + (word >> _4)) & _NIBBLES) * _ONES) >> _56)


@compiled()
def splits(seeds, size, first, chance, rounds, out):
    """Uniform subsets of ``first`` out of ``size`` observations, as the bits of ``out`` (B, ceil(size / 64)).

    Every observation joins with probability ``chance`` / 2^``rounds``, 64 of them at a time: the binary expansion of
    the chance, lowest bit first, ANDs (0) or ORs (1) one random word after the other.  Then random members leave, or
    others join, until the size is right.  Nothing in this depends on who an observation is, so all subsets of the
    right size are equally likely.
    """
    span = _1
    while span < size:
        span += span
    inside = ~_0 if size % 64 == 0 else (_1 << np.uint64(size % 64)) - _1
    for r in range(out.shape[0]):
        counter = seeds[r]
        members = 0
        for w in range(out.shape[1]):
            bits = _0
            for b in range(rounds):
                counter += _STEP
                bits = (bits | mixed(counter)) if (chance >> b) & 1 else (bits & mixed(counter))
            if w == out.shape[1] - 1:
                bits &= inside
            out[r, w] = bits
            members += population(bits)
        while members != first:
            counter += _STEP
            i = mixed(counter) & (span - _1)
            if i < size:
                place, bit = np.int64(i // _64), _1 << (i % _64)
                if ((out[r, place] & bit) != _0) == (members > first):
                    members += 1 if members < first else -1
                    out[r, place] ^= bit


@compiled()
def below(counter, places):
    """A uniform whole number below ``places``, by Lemire's (2019) unbiased multiplication, and the counter after it."""
    counter += _STEP
    product = (mixed(counter) >> _32) * places
    if (product & _LOW) < places:
        biased = ((_LOW - places) + _1) % places
        while (product & _LOW) < biased:
            counter += _STEP
            product = (mixed(counter) >> _32) * places
    return np.int64(product >> _32), counter


@compiled()
def permutations(seeds, starts, out):
    """Uniform permutations (B, n) of 0 to n - 1 within segments, by Fisher and Yates's shuffle.

    Segment s holds the places from ``starts[s]`` to before ``starts[s + 1]``.
    """
    for r in range(out.shape[0]):
        counter = seeds[r]
        for i in range(out.shape[1]):
            out[r, i] = i
        for s in range(starts.size - 1):
            segment = out[r, starts[s] : starts[s + 1]]
            for i in range(segment.size - 1, 0, -1):
                j, counter = below(counter, np.uint64(i + 1))
                segment[i], segment[j] = segment[j], segment[i]
