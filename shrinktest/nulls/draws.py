"""Random subsets and permutations from seeds: one 64-bit seed, a stream of its own, for every relabelling.

Small ones are drawn here, all relabellings in step; larger ones by compiled loops, one relabelling after the other.
Both follow the same stream and give the same numbers: the choice, which depends on the size only, shows nowhere.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

_SUBSETS, _PERMUTATIONS = 256, 150  # observations up to which drawing in step takes less than loading a compiler
_ROUNDS = 16  # bits to which subsets come close to the right size at once

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_1, _27, _30, _31, _32, _64 = (np.uint64(number) for number in (1, 27, 30, 31, 32, 64))
_LOW = np.uint64(2**32 - 1)


def subsets(seeds: np.ndarray, size: int, first: int) -> np.ndarray:
    """Uniform subsets of ``first`` out of ``size`` observations, one for every seed, as masks (B, size)."""
    chance, rounds = min(max(round(2**_ROUNDS * first / size), 1), 2**_ROUNDS - 1), _ROUNDS
    while chance % 2 == 0:
        chance, rounds = chance // 2, rounds - 1
    words = np.empty((len(seeds), -(-size // 64)), dtype=np.uint64)
    if size <= _SUBSETS:
        _subsets_in_step(seeds, size, first, chance, rounds, words)
    else:
        from shrinktest._compiled.draws import splits

        splits(seeds, size, first, chance, rounds, words)
    octets = words.astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(octets, axis=1, count=size, bitorder="little").view(bool)


def permutations(seeds: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Uniform permutations (B, n) of 0 to n - 1 within segments, one for every seed.

    Segment s holds the places from ``starts[s]`` to before ``starts[s + 1]``, the last of which is n.
    """
    n = int(starts[-1])
    if n <= _PERMUTATIONS:
        return _permutations_in_step(seeds, starts.tolist())
    from shrinktest._compiled.draws import permutations

    out = np.empty((len(seeds), n), dtype=np.int64)
    permutations(np.ascontiguousarray(seeds), np.asarray(starts, dtype=np.int64), out)
    return out


def numbers(seeds: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Uniform whole numbers (B, k), the s-th of a row below ``places[s]``."""
    counters, out = seeds.copy(), np.empty((len(seeds), len(places)), dtype=np.int64)
    for s, limit in enumerate(places.tolist()):
        out[:, s] = _below(counters, limit)
    return out


def _mixed(counters: np.ndarray) -> np.ndarray:
    """Sixty-four random bits for every counter (splitmix64)."""
    z = (counters ^ (counters >> _30)) * _MIX1
    z = (z ^ (z >> _27)) * _MIX2
    return z ^ (z >> _31)


def _below(counters: np.ndarray, limit: int) -> np.ndarray:
    """A uniform whole number below ``limit`` for every counter, by Lemire's (2019) unbiased multiplication."""
    places, biased = np.uint64(limit), np.uint64((2**32 - limit) % limit)
    counters += _STEP
    product = (_mixed(counters) >> _32) * places
    again = np.flatnonzero((product & _LOW) < biased)
    while again.size:
        counters[again] += _STEP
        product[again] = (_mixed(counters[again]) >> _32) * places
        again = again[(product[again] & _LOW) < biased]
    return (product >> _32).astype(np.int64)


def _permutations_in_step(seeds: np.ndarray, starts: list[int]) -> np.ndarray:
    """Fisher and Yates's shuffle, the same step of all permutations at a time."""
    counters, rows = seeds.copy(), np.arange(len(seeds))
    out = np.repeat(np.arange(starts[-1])[:, None], len(seeds), axis=1)
    for first, end in pairwise(starts):
        for i in range(end - 1, first, -1):
            j = first + _below(counters, i - first + 1)
            moved = out[j, rows]
            out[j, rows] = out[i]
            out[i] = moved
    return np.ascontiguousarray(out.T)


def _subsets_in_step(seeds: np.ndarray, size: int, first: int, chance: int, rounds: int, out: np.ndarray) -> None:
    """The compiled loop of ``_compiled.draws.splits``, which says how and why, for all subsets at once."""
    counters, last = seeds.copy(), out.shape[1] - 1
    out[:] = 0
    for w in range(out.shape[1]):
        for b in range(rounds):
            counters += _STEP
            out[:, w] = out[:, w] | _mixed(counters) if (chance >> b) & 1 else out[:, w] & _mixed(counters)
    if size % 64:
        out[:, last] &= (_1 << np.uint64(size % 64)) - _1
    members = np.unpackbits(out.view(np.uint8), axis=1).sum(axis=1, dtype=np.int64)
    range_of_bits = np.uint64((1 << (size - 1).bit_length()) - 1)
    rows = np.flatnonzero(members != first)
    while rows.size:
        counters[rows] += _STEP
        places = _mixed(counters[rows]) & range_of_bits
        inside = places < size
        at, places = rows[inside], places[inside]
        words, bits = (places // _64).astype(np.intp), _1 << (places % _64)
        many = members[at] > first
        wrong = ((out[at, words] & bits) != 0) == many
        at, many = at[wrong], many[wrong]
        out[at, words[wrong]] ^= bits[wrong]
        members[at] += np.where(many, -1, 1)
        rows = rows[members[rows] != first]
