"""Seeds to relabellings, all of them at once; the compiled twin, of the same name, says how and why."""

from __future__ import annotations

import numpy as np

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_1, _27, _30, _31, _64 = (np.uint64(number) for number in (1, 27, 30, 31, 64))


def mixed(counters: np.ndarray) -> np.ndarray:
    """Sixty-four random bits for every counter."""
    z = (counters ^ (counters >> _30)) * _MIX1
    z = (z ^ (z >> _27)) * _MIX2
    return z ^ (z >> _31)


def splits(seeds: np.ndarray, size: int, first: int, chance: int, rounds: int, out: np.ndarray) -> None:
    """Uniform subsets of ``first`` out of ``size`` observations, as the bits of ``out`` (B, ceil(size / 64))."""
    counters, last = seeds.copy(), out.shape[1] - 1
    out[:] = 0
    for w in range(out.shape[1]):
        for b in range(rounds):
            counters += _STEP
            out[:, w] = out[:, w] | mixed(counters) if (chance >> b) & 1 else out[:, w] & mixed(counters)
    if size % 64:
        out[:, last] &= (_1 << np.uint64(size % 64)) - _1
    members = np.unpackbits(out.view(np.uint8), axis=1).sum(axis=1, dtype=np.int64)
    range_of_bits = np.uint64((1 << (size - 1).bit_length()) - 1)
    rows = np.flatnonzero(members != first)
    while rows.size:
        counters[rows] += _STEP
        places = mixed(counters[rows]) & range_of_bits
        inside = places < size
        at, places = rows[inside], places[inside]
        words, bits = (places // _64).astype(np.intp), _1 << (places % _64)
        many = members[at] > first
        wrong = ((out[at, words] & bits) != 0) == many
        at, many = at[wrong], many[wrong]
        out[at, words[wrong]] ^= bits[wrong]
        members[at] += np.where(many, -1, 1)
        rows = rows[members[rows] != first]
