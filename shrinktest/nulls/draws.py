"""Random subsets and permutations from seeds: one 64-bit seed, a stream of its own, for every relabelling.

Small ones are drawn here, all relabellings in step, unless the compiled loops are there anyway or loading them would
have paid by now; larger ones by these, one relabelling after the other.  Both follow the same stream and give the same
numbers: the choice shows nowhere.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from time import perf_counter
from typing import TypeVar

import numpy as np

_SUBSETS, _PERMUTATIONS = 256, 150  # observations up to which drawing in step takes less than loading a compiler
_COMPILED = "shrinktest._compiled.draws"
_LOADING = 0.4  # seconds: about what loading a compiler takes
_ROUNDS = 16  # bits to which subsets come close to the right size at once

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_1, _11, _27, _30, _31, _32, _64 = (np.uint64(number) for number in (1, 11, 27, 30, 31, 32, 64))
_LOW = np.uint64(2**32 - 1)

_T = TypeVar("_T")


class _Patience:
    """How long this process has drawn in step: many small tests take as much time as one large one."""

    def __init__(self) -> None:
        self.spent = 0.0

    @property
    def ended(self) -> bool:
        """Whether to draw by compiled loops from now on."""
        return _COMPILED in sys.modules or self.spent > _LOADING

    def with_patience(self, draw: Callable[..., _T], *given: object) -> _T:
        """What a function draws in step."""
        start = perf_counter()
        drawn = draw(*given)
        self.spent += perf_counter() - start
        return drawn


_PATIENCE = _Patience()


def subsets(seeds: np.ndarray, size: int, first: int) -> np.ndarray:
    """Uniform subsets of ``first`` out of ``size`` observations, one for every seed, as masks (B, size)."""
    chance, rounds = min(max(round(2**_ROUNDS * first / size), 1), 2**_ROUNDS - 1), _ROUNDS
    while chance % 2 == 0:
        chance, rounds = chance // 2, rounds - 1
    words = np.empty((len(seeds), -(-size // 64)), dtype=np.uint64)
    if size <= _SUBSETS and not _PATIENCE.ended:
        _PATIENCE.with_patience(_subsets_in_step, seeds, size, first, chance, rounds, words)
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
    if n <= _PERMUTATIONS and not _PATIENCE.ended:
        return _PATIENCE.with_patience(_permutations_in_step, seeds, starts.tolist())
    from shrinktest._compiled.draws import permutations

    out = np.empty((len(seeds), n), dtype=np.int64)
    permutations(np.ascontiguousarray(seeds), np.asarray(starts, dtype=np.int64), out)
    return out


def numbers(seeds: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Uniform whole numbers (B, k), the s-th of a row below ``places[s]``."""
    return np.ascontiguousarray(_all_below(seeds, places).T)


def coins(seeds: np.ndarray, count: int) -> np.ndarray:
    """Zeros and ones (B, count), both as likely, one stream for every seed, sixty-four from each of its numbers."""
    counters = seeds[:, None] + _STEP * np.arange(1, -(-count // 64) + 1, dtype=np.uint64)
    return np.unpackbits(_mixed(counters).astype("<u8").view(np.uint8), axis=1, count=count, bitorder="little")


def uniforms(seeds: np.ndarray, count: int, skipped: int = 0) -> np.ndarray:
    """Uniform numbers (B, count) from 0 to 1, one stream for every seed, of which so many are skipped."""
    counters = seeds[:, None] + _STEP * np.arange(1 + skipped, 1 + skipped + count, dtype=np.uint64)
    return np.asarray((_mixed(counters) >> _11) * 2.0**-53)


def _mixed(counters: np.ndarray) -> np.ndarray:
    """Sixty-four random bits for every counter (splitmix64)."""
    z = (counters ^ (counters >> _30)) * _MIX1
    z = (z ^ (z >> _27)) * _MIX2
    return z ^ (z >> _31)


def _all_below(seeds: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Uniform whole numbers (k, B), row s below ``limits[s]``, by Lemire's (2019) unbiased multiplication."""
    places = limits.astype(np.uint64)[:, None]
    biased = (np.uint64(2**32) - places) % places
    counters = seeds + _STEP * np.arange(1, len(limits) + 1, dtype=np.uint64)[:, None]
    product = (_mixed(counters) >> _32) * places
    # A number that is refused, one of millions for small limits, moves all that follow in its stream.
    for b in np.flatnonzero(((product & _LOW) < biased).any(axis=0)):
        counter = seeds[b : b + 1]
        for s in range(len(limits)):
            counter = counter + _STEP
            drawn = (_mixed(counter) >> _32) * places[s]
            while drawn & _LOW < biased[s]:
                counter = counter + _STEP
                drawn = (_mixed(counter) >> _32) * places[s]
            product[s, b] = drawn[0]
    return (product >> _32).astype(np.int64)


def _permutations_in_step(seeds: np.ndarray, starts: list[int]) -> np.ndarray:
    """Fisher and Yates's shuffle, the same step of all permutations at a time."""
    count = len(seeds)
    steps = [(first, i) for first, end in pairwise(starts) for i in range(end - 1, first, -1)]
    first, last = np.array(steps, dtype=np.int64).reshape(-1, 2).T
    out = np.repeat(np.arange(starts[-1]), count)
    partners = (first[:, None] + _all_below(seeds, last - first + 1)) * count + np.arange(count)
    for i, partner in zip(last.tolist(), partners, strict=True):
        here = out[i * count : (i + 1) * count]
        moved = out[partner]
        out[partner] = here
        here[:] = moved
    return np.ascontiguousarray(out.reshape(starts[-1], count).T)


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
