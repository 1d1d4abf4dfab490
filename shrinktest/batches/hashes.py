"""Hashes: random bits for whole numbers, that are the same wherever they are made."""

from __future__ import annotations

import numpy as np

_FIRST, _SECOND = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)  # the mixing constants of MurmurHash3
_SHIFT = np.uint64(32)


_KEYS = np.array([1, 2], dtype=np.uint64)


def checksum(rows: np.ndarray, first: int) -> np.ndarray:
    """What tells numbers (n, d) from others, shape (1,): that of rows in several pieces is the sum of theirs.

    ``first`` is the number of the first row.
    """
    values = np.asarray(rows, dtype=np.float64) + 0.0  # -0 is 0
    values[np.isnan(values)] = np.nan
    bits = np.ascontiguousarray(values).view(np.uint64)
    places = hashed(np.arange(first, first + len(bits), dtype=np.uint64), _KEYS)
    of_columns = hashed(np.arange(bits.shape[1], dtype=np.uint64), _KEYS) | np.uint64(1)
    return hashed(places + bits @ of_columns, _KEYS).sum(keepdims=True)


def hashed(numbers: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Random bits (k,) by numbers and keys, both uint64; different ones for different numbers."""
    for key in keys:
        numbers = _mixed(numbers, key)
    return numbers


def _mixed(numbers: np.ndarray, key: np.uint64) -> np.ndarray:
    """Numbers and a key, every bit of which changes about half of the bits of what comes out."""
    mixed = (numbers ^ key) * _FIRST
    mixed ^= mixed >> _SHIFT
    mixed *= _SECOND
    mixed ^= mixed >> _SHIFT
    return mixed
