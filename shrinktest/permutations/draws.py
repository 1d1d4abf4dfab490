"""Random permutations, subsets, whole numbers and signs, many at a time from one generator."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

# Number of observations up to which numpy's own shuffle is fast enough; beyond it, a compiled loop pays for its start.
_SMALL = 120
_CACHED = 2**13  # random numbers that are compared at a time, in the cache
_ROUNDS = 16  # random words by which a subset comes close to its size


def seeds(rng: np.random.Generator, rows: int) -> np.ndarray:
    """Draw 64-bit seeds (rows,), one for each permutation."""
    return rng.integers(2**64 - 1, size=rows, dtype=np.uint64, endpoint=True)


def permutations(rng: np.random.Generator, rows: int, starts: np.ndarray) -> np.ndarray:
    """Draw uniform permutations (rows, n) of 0 to n - 1 within segments.

    Segment s holds the places from ``starts[s]`` to before ``starts[s + 1]``, the last of which is n.
    """
    n = int(starts[-1])
    if n > _SMALL:
        from shrinktest.permutations.draw_loops import shuffle

        out = np.empty((rows, n), dtype=np.int64)
        shuffle(seeds(rng, rows), np.asarray(starts, dtype=np.int64), out)
        return out
    out = np.tile(np.arange(n), (rows, 1))
    for first, end in pairwise(starts.tolist()):
        if end - first > 1:
            rng.permuted(out[:, first:end], axis=1, out=out[:, first:end])
    return out


def subsets(rng: np.random.Generator, rows: int, size: int, members: int) -> np.ndarray:
    """Draw uniform subsets of ``members`` of ``size`` observations, as a mask of bool (rows, size).

    In small samples the members have the smallest of random numbers.  In large ones every observation first joins with
    probability near members / size, 64 at a time: random words are combined by AND and OR along the binary expansion of
    that probability.  Random members then leave, or others join, until the size is right.  No step depends on which
    observation is which, so all subsets are equally likely.
    """
    if size <= _SMALL:
        mask = np.empty((rows, size), dtype=bool)
        for start in range(0, rows, step := max(1, _CACHED // size)):
            keys = rng.random((min(step, rows - start), size))
            np.less_equal(
                keys, np.partition(keys, members - 1, axis=1)[:, members - 1 : members], mask[start : start + step]
            )
        tied = np.flatnonzero(mask.sum(axis=1) != members)  # hardly ever
        if tied.size:
            mask[tied] = subsets(rng, tied.size, size, members)
        return mask
    chance = min(max(round(2**_ROUNDS * members / size), 1), 2**_ROUNDS - 1)
    words = np.zeros((rows, -(-size // 64)), dtype=np.uint64)
    for b in range((chance & -chance).bit_length() - 1, _ROUNDS):
        drawn = rng.integers(2**64 - 1, size=words.shape, dtype=np.uint64, endpoint=True)
        words = words | drawn if (chance >> b) & 1 else words & drawn
    octets = words.astype("<u8", copy=False).view(np.uint8)
    mask = np.unpackbits(octets, axis=1, count=size, bitorder="little").view(bool)
    excess = mask.sum(axis=1) - members
    wrong = np.flatnonzero(excess)
    while wrong.size:
        # Places in random order: each row flips those of the kind it has too many of, until its size is right.
        many = excess[wrong] > 0
        places = rng.integers(size, size=(wrong.size, 2 * int(np.abs(excess[wrong]).max()) + 8))
        flips = mask[wrong[:, None], places] == many[:, None]
        flips &= np.cumsum(flips, axis=1) <= np.abs(excess[wrong])[:, None]
        row, column = np.nonzero(flips)  # a place drawn twice flips once; the next round makes up for it
        mask[wrong[row], places[row, column]] = ~many[row]
        excess[wrong] = mask[wrong].sum(axis=1) - members
        wrong = wrong[excess[wrong] != 0]
    return mask


def signs(rng: np.random.Generator, rows: int, size: int) -> np.ndarray:
    """Draw signs 1.0 and -1.0 (rows, size), both equally likely."""
    return 1.0 - 2.0 * rng.integers(2, size=(rows, size), dtype=np.int8)
